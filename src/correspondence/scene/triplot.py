"""What pictures show of a constrained correspondence analysis: sites, species, arrows of numbers, centroids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.labels import to_object_array
from correspondence._util.text import short_repr
from correspondence.scene.many_columns import write_answers
from correspondence.scene.points import ScenePoints, check_axis_numbers

__all__ = [
    "SCALING_WORDS",
    "SITES",
    "TRIPLOT_MAP",
    "Triplot",
    "check_sites",
    "choose_arrow_factor",
    "is_constrained",
    "make_triplot",
]

SITES = {"wa": "weighted averages of their {species}", "lc": "linear combinations of the constraints"}
TRIPLOT_MAP = "colprincipal"  # what `scores` calls the scaling "species", its default
SCALING_WORDS = {
    "rowprincipal": 'scaling "sites"',
    "colprincipal": 'scaling "species"',
    "symbiplot": 'scaling "symmetric"',
    "symmetric": "sites and species in principal coordinates, as no scaling of a biplot has them",
}
ARROW_SHARE = 0.75  # of the extent of the points that the longest arrow reaches
MIN_ARROW_LENGTH = 1e-9


@dataclass(frozen=True, eq=False)
class Triplot:
    """Everything that pictures show of a constrained analysis; axes are the constrained ones, then the others.

    Attributes
    ----------
    axes : tuple of str
        The names of the axes: CCA1, ..., then CA1, ...
    pics : ndarray of shape (d,)
        Their inertias.
    n_constrained : int
        How many of them are constrained.
    total, constrained : float
        The total inertia, and what the constraints explain of it.
    sites : dict of ScenePoints
        The sites in standard coordinates, as weighted averages ("wa") and as linear combinations ("lc").
    species : ScenePoints
        The species in standard coordinates.
    numbers : ndarray of shape (m,)
        The names of the numbers among the constraints.
    arrows : ndarray of shape (m, d)
        Their correlations with the axes, which are 0 with unconstrained ones.
    categories : ndarray of shape (k,)
        What is written of the categories among the constraints.
    answers, terms : list of str
        The category itself, and the name of its variable.
    centroids : ndarray of shape (k, d)
        The mean of the sites of each category, in standard coordinates.
    category_masses : ndarray of shape (k,)
        The shares of the sites of each category in the total.
    lines : list of ndarray of int
        The categories of each ordered variable, in their order.
    values : dict of ndarray
        The value of each constraint at each site, by name: numbers, or categories as texts.
    given : list of str
        The names of the variables that were partialled out.
    """

    axes: tuple[str, ...]
    pics: np.ndarray
    n_constrained: int
    total: float
    constrained: float
    sites: dict[str, ScenePoints]
    species: ScenePoints
    numbers: np.ndarray
    arrows: np.ndarray
    categories: np.ndarray
    answers: list[str]
    terms: list[str]
    centroids: np.ndarray
    category_masses: np.ndarray
    lines: list[np.ndarray]
    values: dict[str, np.ndarray]
    given: list[str]

    @property
    def correlations(self) -> np.ndarray:
        """The roots of the inertias, which make principal coordinates of standard ones."""
        return np.sqrt(self.pics)

    def check_axes(self, axes: Any) -> list[int]:
        """Return the positions of axes that are given by their numbers or names."""
        names = {name: i + 1 for i, name in enumerate(self.axes)}
        if not isinstance(axes, tuple | list):
            raise ValueError(f"axes must be two axes such as (1, 2) or ('CCA1', 'CA1'), got {short_repr(axes)}.")
        unknown = next((axis for axis in axes if isinstance(axis, str) and axis not in names), None)
        if unknown is not None:
            raise ValueError(f"axes must be among {self.axes[0]}, ..., {self.axes[-1]}, got {unknown!r}.")
        numbers = [names[axis] if isinstance(axis, str) else axis for axis in axes]
        return check_axis_numbers(len(self.axes), numbers)

    def write_axis_title(self, i: int) -> str:
        """Write the title of an axis, counted from 0: its shares of the whole inertia, and of its part of it."""
        is_free = i >= self.n_constrained
        part = float(self.pics[self.n_constrained :].sum()) if is_free else self.constrained
        share, own = (100 * self.pics[i] / whole if whole > 0 else 0.0 for whole in (self.total, part))
        word = "unconstrained" if is_free else "constrained"
        return f"{self.axes[i]} ({share:.1f} % of inertia, {own:.1f} % of the {word})"


def is_constrained(est: Any) -> bool:
    """Tell whether something is a fitted analysis with constraints, such as `CA` fitted with some."""
    return getattr(est, "partition_", None) is not None and hasattr(est, "unconstrained_")


def check_sites(sites: Any) -> str:
    """Return which scores of the sites are drawn."""
    if not isinstance(sites, str) or sites not in SITES:
        raise ValueError(f'sites must be "wa" or "lc", got {short_repr(sites)}.')
    return sites


def make_triplot(ca: Any) -> Triplot:
    """Collect what pictures show of a constrained analysis.

    Parameters
    ----------
    ca : estimator
        The analysis; its `scores` and its records are all that is read.
    """
    weighted, linear, species = (ca.scores(display, scaling="none") for display in ("wa", "lc", "species"))
    axes = tuple(str(axis) for axis in species.axes)
    d, n = len(axes), sum(axis.startswith("CCA") for axis in axes)
    numbers, arrows = _find_number_arrows(ca, d)
    terms, answers, centroids = _find_centroids(ca, d)
    names = list(dict.fromkeys(terms))
    codes = np.array([names.index(term) for term in terms], dtype=int)
    return Triplot(
        axes,
        np.concatenate([np.asarray(ca.pics_)[:n], np.asarray(ca.unconstrained_.pics)])[:d],
        n,
        float(ca.partition_.total),
        float(ca.partition_.constrained),
        {"wa": _place_points(weighted, ca.rows_.mass), "lc": _place_points(linear, ca.rows_.mass)},
        _place_points(species, ca.columns_.mass),
        numbers,
        arrows,
        write_answers(names, codes, answers, is_coloured=False),
        answers,
        terms,
        centroids,
        _weigh_categories(ca),
        [np.flatnonzero(codes == names.index(term)) for term in names if _is_ordered(ca, term)],
        _list_site_values(ca, terms, answers),
        [str(term) for term in ca._explained.given.terms],
    )


def _place_points(scores: Any, mass: np.ndarray) -> ScenePoints:
    """Place points by scores in standard coordinates; those that never occur have no place."""
    values, labels = np.asarray(scores.values, dtype=float), to_object_array(list(scores.labels))
    rows = np.flatnonzero(np.isfinite(values).all(axis=1) & (mass > 0))
    return ScenePoints(values[rows], labels[rows], np.asarray(mass)[rows], rows, len(rows), len(values))


def _list_columns_of_terms(ca: Any) -> dict[str, list[str]]:
    """List the columns of the design of each constraint, by the names that scores have."""
    return {str(term): [str(name) for name in names] for term, names in ca.constraint_terms_.items()}


def _is_ordered(ca: Any, term: str) -> bool:
    """Tell whether the levels of a category are ordered, which has polynomials of them in the design."""
    return f"{term}.L" in _list_columns_of_terms(ca).get(term, [])


def _find_number_arrows(ca: Any, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the arrows of numbers: columns of the design that are a constraint as it is, not a contrast of levels."""
    scores, terms = ca.scores("bp", scaling="none"), _list_columns_of_terms(ca)
    kept = [i for i, label in enumerate(map(str, scores.labels)) if terms.get(label) == [label]]
    values = np.nan_to_num(np.asarray(scores.values, dtype=float).reshape(-1, d)[kept])
    return to_object_array([str(scores.labels[i]) for i in kept]), values


def _find_centroids(ca: Any, d: int) -> tuple[list[str], list[str], np.ndarray]:
    """Find the variable, the category and the place of each centroid."""
    scores, known = ca.scores("cn", scaling="none"), _list_columns_of_terms(ca)
    terms, answers = [], []
    for label in map(str, scores.labels):
        own = [term for term, columns in known.items() if columns != [term] and label.startswith(term)]
        term = max(own, key=len, default="")
        terms.append(term)
        answers.append(label[len(term) :].lstrip(": ") or label)
    return terms, answers, np.asarray(scores.values, dtype=float).reshape(-1, d)


def _weigh_categories(ca: Any) -> np.ndarray:
    """Sum the masses of the sites of each category."""
    return np.asarray(ca.rows_.mass[ca._explained.rows] @ ca._explained.constraints.indicators)


def _list_site_values(ca: Any, terms: list[str], answers: list[str]) -> dict[str, np.ndarray]:
    """List the values of the constraints at the sites, NaN or empty for sites that took no part."""
    explained, n = ca._explained, len(ca.rows_.labels)
    design, values = explained.constraints, {}
    for j, label in enumerate(map(str, design.labels)):
        if _list_columns_of_terms(ca).get(str(design.terms[design.term_of_column[j]])) == [label]:
            values[label] = np.full(n, np.nan)
            values[label][explained.rows] = design.matrix[:, j]
    for term in dict.fromkeys(terms):
        own = [i for i, name in enumerate(terms) if name == term]
        values[term] = np.full(n, "", dtype=object)
        values[term][explained.rows] = np.array(answers, dtype=object)[own][design.indicators[:, own].argmax(axis=1)]
    return {name: values[name] for name in _list_columns_of_terms(ca) if name in values}


def choose_arrow_factor(points: np.ndarray, arrows: np.ndarray) -> float:
    """Choose the number by which all arrows are multiplied so that the longest nearly reaches the outermost points.

    Parameters
    ----------
    points, arrows : ndarray of shape (n, k), (m, k)
        The points of the picture, and the arrows before they are multiplied.

    Examples
    --------
    >>> choose_arrow_factor(np.array([[2.0, 1.0], [-4.0, 0.5]]), np.array([[0.5, 0.1]]))
    6.0
    """
    if not arrows.size or np.abs(arrows).max() < MIN_ARROW_LENGTH:
        return 1.0
    reach, longest = (np.abs(values).max(axis=0, initial=0.0) for values in (points, arrows))
    factor = ARROW_SHARE * min(a / b for a, b in zip(reach, longest, strict=True) if b >= MIN_ARROW_LENGTH)
    return float(f"{factor:.2g}") if factor > 0 else 1.0
