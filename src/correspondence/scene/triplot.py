"""What pictures show of a constrained correspondence analysis: sites, species, arrows of numbers, centroids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.labels import MISSING, to_object_array
from correspondence._util.text import short_repr
from correspondence.core.axis_numbers import check_axis_numbers
from correspondence.scene.many_columns import write_answers
from correspondence.scene.points import ScenePoints

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
MAX_UNIT_SHARE = 1.5  # of that extent for a correlation of 1, so that the arrows of weak correlations are short
MIN_ARROW_LENGTH = 1e-9
N_PATH_POINTS = 12  # of a number that bends


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
    curves : dict of ndarray of shape (bins, d)
        Where the constraints put a site by each number that bends, from low to high, in standard coordinates.
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
    curves: dict[str, np.ndarray]
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
    levels, centroids = _find_centroids(ca, d)
    design = ca._explained.constraints
    terms = [str(design.terms[t]) for t in design.term_of_level[levels]]
    answers = [str(answer) for answer in design.answers[levels]]
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
        np.asarray(ca._explained.row_mass @ design.indicators[:, levels]),
        [np.flatnonzero(codes == names.index(term)) for term in names if term in _list_ordered_terms(design)],
        _trace_curves(ca, d),
        _list_site_values(ca),
        [str(term) for term in ca._explained.given.terms],
    )


def _place_points(scores: Any, mass: np.ndarray) -> ScenePoints:
    """Place points by scores in standard coordinates; those that never occur have no place."""
    values, labels = np.asarray(scores.values, dtype=float), to_object_array(list(scores.labels))
    rows = np.flatnonzero(np.isfinite(values).all(axis=1) & (mass > 0))
    return ScenePoints(values[rows], labels[rows], np.asarray(mass)[rows], rows, len(rows), len(values))


def _find_number_arrows(ca: Any, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the arrows of numbers that are constraints as they are; those that are left out have none."""
    explained, scores = ca._explained, ca.scores("bp", scaling="none")
    columns = explained.basis.kept[explained.given_rank :] - explained.n_given
    terms = explained.constraints.term_of_column[columns]
    kept = [i for i, term in enumerate(terms) if explained.constraints.kinds[term] == "number"]
    values = np.nan_to_num(np.asarray(scores.values, dtype=float).reshape(-1, d)[kept])
    return to_object_array([str(explained.constraints.terms[terms[i]]) for i in kept]), values


def _trace_curves(ca: Any, d: int) -> dict[str, np.ndarray]:
    """Trace where the constraints put a site by a number that bends, from low to high, all others at their means."""
    explained, traced = ca._explained, {}
    design, mass = explained.constraints, explained.row_mass
    linear = ca.scores("lc", scaling="none").values[explained.rows][:, : len(ca.pics_)]
    coefficients = explained.basis.find_coefficients(np.sqrt(mass)[:, None] * linear)[explained.n_given :]
    for t in (t for t, kind in enumerate(design.kinds) if kind == "curve"):
        own = design.term_of_column == t
        columns = design.matrix[:, own]
        _, low_to_high = np.unique(columns[:, 0], return_index=True)  # the number itself
        chosen = np.unique(np.linspace(0, len(low_to_high) - 1, N_PATH_POINTS).round().astype(int))
        path = (columns - mass @ columns / mass.sum())[low_to_high[chosen]] @ coefficients[own]
        traced[str(design.terms[t])] = np.pad(path, ((0, 0), (0, d - path.shape[1])))
    return traced


def _find_centroids(ca: Any, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the positions of the levels that are shown, and their centroids; conditions may leave no difference."""
    values = np.asarray(ca.scores("cn", scaling="none").values, dtype=float).reshape(-1, d)
    term_of_level = ca._explained.constraints.term_of_level
    is_apart = np.abs(values).max(axis=1, initial=0.0) > MIN_ARROW_LENGTH
    levels = np.flatnonzero(np.isin(term_of_level, term_of_level[is_apart]))
    return levels, values[levels]


def _list_ordered_terms(design: Any) -> list[str]:
    """List the categories whose levels have an order; a level of missing values has no place in it."""
    labelled = [
        column for column, kind in zip(design.features.columns, design.kinds, strict=True) if kind == "category"
    ]
    return [str(column.name) for column in labelled if column.is_ordered and MISSING not in column.answers.tolist()]


def _list_site_values(ca: Any) -> dict[str, np.ndarray]:
    """List the values of the constraints at the sites, NaN or empty for sites that took no part."""
    explained, n, values = ca._explained, len(ca.rows_.labels), {}
    design = explained.constraints
    for t, (term, kind) in enumerate(zip(design.terms, design.kinds, strict=True)):
        if kind == "category":
            own, found = np.flatnonzero(design.term_of_level == t), np.full(n, "", dtype=object)
            answers = to_object_array([str(answer) for answer in design.answers[own]])
            found[explained.rows] = answers[design.indicators[:, own].argmax(axis=1)]
        else:
            block = design.features.blocks[t].features
            found = np.full(n, np.nan)
            found[explained.rows] = design.features.columns[t].restore(design.expanded[:, block])
        values[str(term)] = found
    return values


def choose_arrow_factor(points: np.ndarray, arrows: np.ndarray, units: np.ndarray | None = None) -> float:
    """Choose the number by which all arrows are multiplied so that the longest nearly reaches the outermost points.

    If none of the numbers goes with the axes, they stay shorter: the length of an arrow is read as its strength.

    Parameters
    ----------
    points, arrows : ndarray of shape (n, k), (m, k)
        The points of the picture, and the arrows before they are multiplied.
    units : ndarray of shape (k,), optional
        The length on each axis of the arrow of a correlation of 1, if the arrows are correlations.

    Examples
    --------
    >>> choose_arrow_factor(np.array([[2.0, 1.0], [-4.0, 0.5]]), np.array([[0.5, 0.1]]), np.ones(2))
    6.0
    """
    if not arrows.size or np.abs(arrows).max() < MIN_ARROW_LENGTH:
        return 1.0
    reach, longest = (np.abs(values).max(axis=0, initial=0.0) for values in (points, arrows))
    factor = ARROW_SHARE * min(a / b for a, b in zip(reach, longest, strict=True) if b >= MIN_ARROW_LENGTH)
    if units is not None:
        factor = min(factor, MAX_UNIT_SHARE * float((reach / np.maximum(units, MIN_ARROW_LENGTH)).max()))
    return float(f"{factor:.2g}") if factor > 0 else 1.0
