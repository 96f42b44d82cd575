"""Groups of individuals in a plane: their names and colours, means, ellipses and hulls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.stats import chi2
from scipy.stats import f as f_distribution

from correspondence._util.arguments import is_number
from correspondence._util.labels import MISSING, as_labels, encode_labels, to_object_array
from correspondence._util.text import short_repr
from correspondence.results.points import Ellipses
from correspondence.scene.classes import MAX_CLASSES, code_ranges
from correspondence.scene.colours import choose_class_colours, choose_scene_colours, list_distinct_colours

__all__ = [
    "ELLIPSES",
    "MISSING_COLOUR",
    "GroupShapes",
    "Grouping",
    "check_hulls",
    "find_row_weights",
    "read_groups",
    "read_row_groups",
    "scale_to_members",
    "trace_groups",
]

ELLIPSES = ("confidence", "concentration")
MIN_MEMBERS = 3  # of a group that has an ellipse
MISSING_COLOUR = "#9a9a9a"
MIDDLE_GREY, NEARLY_BLACK = "#7f7f7f", "#262626"


@dataclass(frozen=True, eq=False)
class Grouping:
    """Which group each individual belongs to.

    Attributes
    ----------
    codes : ndarray of int of shape (n,)
        The position of the group of each individual among the names; -1 for those whose group is missing.
    names, colours : list of str
        The names of the groups, in their order, and their colours.
    """

    codes: np.ndarray
    names: list[str]
    colours: list[str]

    @property
    def n_missing(self) -> int:
        """How many individuals have no group."""
        return int((self.codes < 0).sum())

    @property
    def point_colours(self) -> np.ndarray:
        """The colour of each individual; those without a group are grey."""
        return np.array([*self.colours, MISSING_COLOUR])[self.codes]

    @property
    def legend(self) -> dict[str, str]:
        """The colour of each name that a legend shows, the missing group included."""
        shown = dict(zip(self.names, self.colours, strict=True))
        return shown | ({f"{MISSING}: {self.n_missing:,}": MISSING_COLOUR} if self.n_missing else {})

    def take(self, rows: np.ndarray) -> Grouping:
        """Return the groups of some individuals, with all names."""
        return Grouping(self.codes[rows], self.names, self.colours)


def read_groups(groups: Any, n: int, est: Any = None, name: str = "groups") -> Grouping:
    """Read which group each individual belongs to.

    Parameters
    ----------
    groups : array-like, series or fitted clusters
        One label for each individual, of which many different numbers are put into ranges; or an object whose
        ``labels_`` count clusters from 0.
    n : int
        The number of individuals drawn.
    est : estimator, optional
        The analysis that is drawn. Its known classes keep their colours; groups of all rows given to its fit are
        reduced to those of the rows that took part.
    name : str
        Errors call the groups so.
    """
    if isinstance(groups, str):
        raise TypeError(
            f"{name} must be one label for each individual, got the text {groups!r}. Give the column itself."
        )
    if hasattr(groups, "get_params") and not hasattr(groups, "labels_"):
        raise ValueError(f"{name} must be labels or fitted clusters, got {short_repr(groups)}. Call fit first.")
    if hasattr(groups, "labels_"):  # -1 is a row without a place
        codes = np.asarray(groups.labels_, dtype=int)
        names = [f"cluster {i + 1}" for i in range(int(codes.max(initial=-1)) + 1)]
        found = Grouping(codes, names, _avoid_grey(list_distinct_colours(len(names))))
    else:
        found = _encode_groups(groups, getattr(est, "classes_", np.empty(0, object)), name)
    given, positions = len(found.codes), getattr(est, "_row_positions", None)
    if given != n and positions is not None and (given, n) == (est._n_rows_given, len(positions)):
        return found.take(positions)
    if given != n:
        raise ValueError(f"{name} must have one label for each of the {n} individuals drawn, got {given}.")
    return found


def read_row_groups(est: Any, scene: Any, groups: Any, classes: Any) -> Grouping | None:
    """Read the groups, or classes, of the rows of an analysis of many columns; None if there are none of both."""
    given, name = (classes, "classes") if groups is None else (groups, "groups")
    if given is None:
        return None
    if scene.rows is None:
        raise ValueError(f"{name} must be left out if the rows are not in memory: give some rows as X.")
    return read_groups(given, scene.rows.given, est, name)


def find_row_weights(est: Any, scene: Any) -> np.ndarray | None:
    """Return how many times each row of an analysis of many columns counted in the fit; None if all counted once."""
    is_of_fit = scene.rows.labels is not None  # other rows have no names
    weights = est._analysis.weights if is_of_fit else None
    return None if weights is None else np.asarray(weights, dtype=float)


def _encode_groups(groups: Any, known: np.ndarray, name: str) -> Grouping:
    """Encode labels, missing ones as -1; many different numbers become ranges."""
    values = as_labels(groups, name, allow_missing=True)
    listed = values.tolist()
    is_there = np.array([value is not None for value in listed], dtype=bool)
    ranges = code_ranges(to_object_array(listed)) if is_there.any() else None
    if ranges is not None:
        return Grouping(ranges.codes.astype(int), [str(label) for label in ranges.names], ranges.colours)
    column = nw.from_native(groups, series_only=True, pass_through=True)
    rows = np.flatnonzero(is_there)
    kept = (
        column[rows.tolist()].to_native() if isinstance(column, nw.Series) else to_object_array(values[rows].tolist())
    )
    codes = np.full(len(values), -1)
    codes[rows], labels = encode_labels(kept, name) if len(rows) else (codes[rows], np.empty(0, object))
    if len(labels) > MAX_CLASSES:
        raise ValueError(f"{name} must have at most {MAX_CLASSES} different values, got {len(labels)}.")
    distinct = to_object_array(labels.tolist())
    colours = choose_scene_colours(known, distinct) if len(known) else choose_class_colours(distinct)
    chosen = [colours[value] for value in distinct.tolist()]
    names = [_name_group(label) for label in distinct.tolist()]
    if len(set(names)) < len(names):  # such as 1 and "1"
        names = [short_repr(label) for label in distinct.tolist()]
    return Grouping(codes, names, chosen if len(known) else _avoid_grey(chosen))


def _avoid_grey(colours: list[str]) -> list[str]:
    """Return the colours without the grey of those that belong to no group."""
    return [NEARLY_BLACK if colour == MIDDLE_GREY else colour for colour in colours]


def _name_group(label: Any) -> str:
    """Name a group; whole numbers are written as such, though a gap in the column made decimals of them."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


@dataclass(frozen=True, eq=False)
class GroupShapes:
    """Groups in a plane.

    Attributes
    ----------
    n_members : ndarray of int of shape (k,)
        How many points each group has.
    means : ndarray of shape (k, 2)
        The weighted means; NaN for a group without points.
    ellipses : Ellipses or None
        An ellipse for each group; NaN for those with fewer than three members.
    hulls : list of ndarray of shape (m, 2)
        The corners of the hull of each group, counter-clockwise; none for a group with fewer than two points.
    """

    n_members: np.ndarray
    means: np.ndarray
    ellipses: Ellipses | None
    hulls: list[np.ndarray]


def check_hulls(hulls: Any) -> float:
    """Return the share of the members that hulls are drawn around; 0 for no hulls."""
    if isinstance(hulls, bool | np.bool_):
        return float(hulls)
    if not is_number(hulls) or not 0 < hulls <= 1:
        raise ValueError(f"hulls must be True, False or the share of the members to keep, got {short_repr(hulls)}.")
    return float(hulls)


def scale_to_members(mass: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Scale masses such that those of a group sum to how many equally heavy members would say as much.

    Parameters
    ----------
    mass : ndarray of shape (n,)
        The masses of the points.
    codes : ndarray of int of shape (n,)
        The group of each point, -1 for none.
    """
    weights, k = np.array(mass, dtype=float), int(codes.max(initial=-1)) + 1
    own = codes >= 0
    total, squares = (np.bincount(codes[own], weights[own] ** power, k) for power in (1, 2))
    # Kish's effective number (sum w)^2 / sum w^2 is the sum of the scaled weights.
    factor = np.divide(total, squares, out=np.zeros(k), where=squares > 0)
    weights[own] *= factor[codes[own]]
    return weights


def trace_groups(
    xy: np.ndarray,
    codes: np.ndarray,
    n_groups: int,
    *,
    weights: np.ndarray | None = None,
    ellipses: str | None = None,
    level: float = 0.95,
    hull_share: float = 0.0,
) -> GroupShapes:
    """Find the means of groups in a plane, with ellipses and hulls.

    Parameters
    ----------
    xy : ndarray of shape (n, 2)
        The points.
    codes : ndarray of int of shape (n,)
        The group of each point, -1 for none.
    n_groups : int
        The number of groups.
    weights : ndarray of shape (n,), optional
        Each point counts as so many members; points of weight 0 are no members.
    ellipses : {"confidence", "concentration"}, optional
        An ellipse holds the mean of the population of a group, or its members, with the probability `level`.
    level : float
        The probability, if points are normal.
    hull_share : float
        A hull is drawn around this share of the members, those nearest to the mean; 0 for no hulls.

    Examples
    --------
    >>> square = np.array([[0, 0], [2, 0], [2, 2], [0, 2], [1.0, 1]])
    >>> shapes = trace_groups(square, np.zeros(5, int), 1, hull_share=1)
    >>> shapes.means.tolist(), len(shapes.hulls[0])
    ([[1.0, 1.0]], 4)
    """
    if not is_number(level) or not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {short_repr(level)}.")
    w = np.ones(len(xy)) if weights is None else weights
    own = (codes >= 0) & (w > 0)
    points, group, w = xy[own], codes[own], w[own]
    n_members, n = np.bincount(group, minlength=n_groups), np.bincount(group, w, n_groups)
    means, covariances = _compute_moments(points, group, w, n)
    shapes = None
    if ellipses is not None:
        covariances[n_members < MIN_MEMBERS] = np.nan
        shapes = _spread_ellipses(covariances, n, ellipses, level)
    hulls = [np.empty((0, 2))] * n_groups
    if hull_share:
        hulls = [_trace_hull(points[group == j], means[j], hull_share) for j in range(n_groups)]
    return GroupShapes(n_members, means, shapes, hulls)


def _compute_moments(points: np.ndarray, group: np.ndarray, w: np.ndarray, n: np.ndarray) -> tuple[Any, Any]:
    """Compute the weighted mean and the unbiased covariance of each group, of n members."""
    k = len(n)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.column_stack([np.bincount(group, w * column, k) for column in points.T]) / n[:, None]
        away = points - means[group]
        products = [[np.bincount(group, w * away[:, a] * away[:, b], k) for b in (0, 1)] for a in (0, 1)]
        covariances = np.moveaxis(np.array(products), 2, 0) / (n - 1)[:, None, None]
    covariances[n <= 1] = np.nan
    return means, covariances


def _spread_ellipses(covariances: np.ndarray, n: np.ndarray, kind: str, level: float) -> Ellipses:
    """Make ellipses of members, or of means of groups with n members."""
    if kind == "concentration":
        return Ellipses.from_covariances(covariances, np.full(1, chi2.ppf(level, 2)))
    # Hotelling: n (mean - mu)' S^-1 (mean - mu) is distributed as 2 (n - 1) / (n - 2) F(2, n - 2).
    dof = np.where(n > 2, n - 2, np.nan)
    quantiles = 2 * (n - 1) / dof * f_distribution.ppf(level, 2, dof) / np.maximum(n, 1)
    covariances[np.isnan(dof)] = np.nan
    return Ellipses.from_covariances(covariances, np.nan_to_num(quantiles))


def _trace_hull(points: np.ndarray, mean: np.ndarray, share: float) -> np.ndarray:
    """Find the corners of the hull of the points nearest to a mean; of points on a line, its two ends."""
    if len(points) < 2:
        return np.empty((0, 2))
    away = points - mean
    values, vectors = np.linalg.eigh(away.T @ away)
    if share < 1:
        # Distances are measured along the axes of the group's own ellipse, which all count the same.
        scores = away @ vectors / np.sqrt(np.where(values > 1e-12 * values[-1], values, np.inf))
        kept = np.argsort((scores**2).sum(axis=1), kind="stable")[: max(2, int(np.ceil(share * len(points))))]
        points = points[kept]
    try:
        return points[ConvexHull(points).vertices]
    except QhullError:  # fewer than three points, or all on a line
        along = points @ vectors[:, 1]
        return points[[int(along.argmin()), int(along.argmax())]]
