"""The rows or columns of a fitted table, and what may be fitted."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import as_frame, check_weights, find_user_stacklevel
from correspondence._util.labels import as_labels, name_missing_labels
from correspondence._util.text import list_names, short_repr
from correspondence._util.user_warnings import LeftOut
from correspondence.core.estimator import treat_missing
from correspondence.core.residual_svd import sum_absent_mass
from correspondence.data.counting import count_pairs, count_with_codes
from correspondence.data.pairs.opening import are_files, open_source, translate_engine_errors
from correspondence.data.pairs.pairs import Pairs, is_source
from correspondence.data.table import Table, as_table, weight_columns
from correspondence.estimators.ca.ridge import shrink_labels
from correspondence.results.points import Points

__all__ = [
    "TableSide",
    "TransitionFormula",
    "is_column_of_labels",
    "is_table_of_counts",
    "open_table_source",
    "read_evaluation_table",
    "read_table",
    "warn_of_dropped_labels",
    "warn_of_empty_points",
    "weigh_table",
]


@dataclass(frozen=True)
class TransitionFormula:
    """How functions of one side give those of the other: averages over profiles, divided by singular values.

    Attributes
    ----------
    singular_values : ndarray of shape (d,)
        The singular values of the matrix that was decomposed; the correlations claimed may be smaller.
    strength : float
        The strength of the ridge in observations, 0 without one.
    shrinkage : ndarray of shape (m,) or None
        The factors by which the ridge multiplies the labels of the side that is averaged over.
    offset : ndarray of shape (d,) or None
        The mean of the averages of the fit, which is subtracted.
    """

    singular_values: np.ndarray
    strength: float = 0.0
    shrinkage: np.ndarray | None = None
    offset: np.ndarray | None = None

    def place_profiles(self, profiles: Any, totals: np.ndarray, mass: np.ndarray, standard: np.ndarray) -> np.ndarray:
        """Compute the standard coordinates of profiles of given totals; 0 on axes without inertia."""
        if self.shrinkage is not None:
            standard = standard * self.shrinkage[:, None]
        placed = profiles @ standard - mass @ standard
        if self.offset is not None:
            placed = placed * shrink_labels(totals, self.strength)[:, None] - self.offset
        s = self.singular_values
        return placed * np.divide(1, s, out=np.zeros(len(s)), where=s > 0)


@dataclass(frozen=True)
class TableSide:
    """One side of a table.

    Attributes
    ----------
    name : {"rows", "columns"}
    labels, mass : ndarray of shape (m,)
        All labels of the table, and their masses.
    named : bool
        Whether the labels mean something, or are just positions.
    weights : ndarray of shape (m,) or None
        The weights by which the counts were multiplied.
    shown : ndarray of int
        The positions of the labels in the output: all, or the subset that was asked for.
    kept : ndarray of int
        The positions of those that take part: the others have no mass and lie at NaN.
    """

    name: str
    labels: np.ndarray
    mass: np.ndarray
    named: bool
    weights: np.ndarray | None
    shown: np.ndarray
    kept: np.ndarray

    @classmethod
    def from_table(cls, table: Table, name: str, weights: np.ndarray | None, subset: Iterable[Any] | None) -> TableSide:
        """Take the rows or columns of a table, or a subset of them."""
        labels, axis = (table.rows, 1) if name == "rows" else (table.columns, 0)
        mass = np.asarray(table.counts.sum(axis=axis)).ravel() / table.total
        everything = np.arange(len(labels)) if table.named else labels  # which are positions then
        shown = everything if subset is None else find_positions(labels, subset, name)
        _check_mass(mass, labels, name)
        occurs = mass[shown] > 0
        kept = shown if occurs.all() else shown[occurs]  # the same array where it can be: there may be millions
        if not len(kept):
            raise ValueError(f"subset_{name} must contain a label with a count.")
        return cls(name, labels, mass, table.named, weights, shown, kept)

    @property
    def occurring_positions(self) -> np.ndarray:
        """Positions of all labels with a count."""
        return np.flatnonzero(self.mass > 0)

    @property
    def is_whole(self) -> bool:
        """Whether all labels with a count take part."""
        return len(self.kept) == len(self.occurring_positions)

    @property
    def is_weighted(self) -> bool:
        """Whether weights changed the counts: a weight of 0 only leaves a label out."""
        return self.weights is not None and not np.isin(self.weights, (0, 1)).all()

    def make_points(self, inertia: np.ndarray, standard: np.ndarray, correlations: np.ndarray) -> Points:
        """Make the points of all labels shown, from inertias and coordinates of those kept."""
        position = np.searchsorted(self.shown, self.kept)
        mass = self.mass[self.shown]
        distance = np.sqrt(inertia / mass[position])
        if len(self.kept) < len(self.shown):
            inertia, distance, standard = (
                _spread_values(values, position, len(mass), fill)
                for values, fill in ((inertia, 0.0), (distance, np.nan), (standard, np.nan))
            )
        return Points(self.labels[self.shown], mass, distance, inertia, standard, correlations)

    def place_labels(self, table: Table, own: Points, name: str, transition: TransitionFormula) -> Points:
        """Place new labels of the other side, given by a table whose columns are the labels of this one.

        By the transition formula, principal coordinates are averages of this side's standard ones.
        """
        profiles, totals = self.compute_profiles(self.align_counts(table, name))
        mass = self.mass[self.kept]
        standard = transition.place_profiles(
            profiles, totals, mass, own.standard[np.searchsorted(self.shown, self.kept)]
        )
        distance = compute_distances(profiles, mass)
        standard[totals == 0], distance[totals == 0] = np.nan, np.nan
        unknown = np.full(len(distance), np.nan)
        return Points(table.rows, unknown, distance, unknown, standard, own.correlations)

    def align_counts(self, table: Table, name: str) -> Any:
        """Take the counts of a table, with its columns in the order of the labels of this side."""
        if not (table.named and self.named):
            if table.shape[1] != len(self.labels):
                raise ValueError(
                    f"{name} must have the {len(self.labels)} {self.name} of the fit, got {table.shape[1]}."
                )
            return table.counts
        positions = {label: i for i, label in enumerate(table.columns.tolist())}
        missing = [label for label in self.labels.tolist() if label not in positions]
        if missing:
            raise ValueError(f"{name} must have all {self.name} of the fit, but lacks {list_names(missing)}.")
        extra = sorted(set(positions) - set(self.labels.tolist()), key=str)
        if extra:
            raise ValueError(f"{name} must have only {self.name} of the fit, got {list_names(extra)}.")
        return table.counts[:, [positions[label] for label in self.labels.tolist()]]

    def compute_profiles(self, counts: Any) -> tuple[Any, np.ndarray]:
        """Divide the rows by their sums, and take the labels kept; with these sums."""
        weights = np.ones(len(self.labels)) if self.weights is None else self.weights
        counts = weight_columns(counts, np.where(self.mass > 0, weights, 0))
        total = np.asarray(counts.sum(axis=1)).ravel()
        profiles = weight_columns(counts.T, 1 / np.where(total > 0, total, 1)).T
        return (profiles.tocsr() if sp.issparse(profiles) else profiles)[:, self.kept], total


def warn_of_dropped_labels(rows: TableSide, columns: TableSide, known_rows: np.ndarray | None = None) -> None:
    """Warn of labels without a count, which take no part, except for rows of which the user knows."""
    empty = {"rows": rows.mass == 0, "columns": columns.mass == 0}
    if known_rows is not None:
        empty["rows"] = empty["rows"] & ~known_rows
    dropped = [
        f"{side.name} {list_names(side.labels[empty[side.name]].tolist())}"
        for side in (rows, columns)
        if empty[side.name].any()
    ]
    if dropped:
        message = f"Left out, because all their counts are zero: {'; '.join(dropped)}."
        warnings.warn(message, LeftOut, stacklevel=find_user_stacklevel())


def warn_of_empty_points(points: Points, name: str) -> Points:
    """Warn of new labels without a count, and return the points."""
    empty = points.labels[np.isnan(points.chi2_distance)].tolist()
    if empty:
        message = f"{name}: without any count, so placed at NaN: {list_names(empty)}."
        warnings.warn(message, LeftOut, stacklevel=find_user_stacklevel())
    return points


def _check_mass(mass: np.ndarray, labels: np.ndarray, name: str) -> None:
    """Check that the fourth powers of the functions, which grow with the root of one over the mass, are finite."""
    tiny = np.flatnonzero((mass > 0) & (mass < 1e-100))
    if len(tiny):
        named = list_names([short_repr(label) for label in labels[tiny[:3]].tolist()])
        raise ValueError(
            f"The {name} {named} have next to no share of all counts, {mass[tiny[0]]:.1g}: leave them out, or place "
            "them as supplementary."
        )


def find_positions(labels: np.ndarray, subset: Iterable[Any], name: str) -> np.ndarray:
    """Find the positions of the labels of a subset, in the order of the table."""
    if isinstance(subset, str | bytes | Iterator) or not isinstance(subset, Iterable):
        raise ValueError(f"subset_{name} must be a list of labels, got {short_repr(subset)}.")
    known = {label: i for i, label in enumerate(labels.tolist())}
    wanted = as_labels(subset, f"subset_{name}").tolist()
    if any(isinstance(label, bool) for label in wanted) and not any(isinstance(label, bool) for label in known):
        raise ValueError(f"subset_{name} must be a list of labels, got a mask. Give the labels instead.")
    unknown = [label for label in wanted if not _is_among(label, known)]
    if unknown:
        raise ValueError(f"subset_{name} must be among the {name}, got {short_repr(unknown[0])}.")
    return np.unique(np.array([known[label] for label in wanted], dtype=np.intp))


def _is_among(label: Any, known: dict[Any, int]) -> bool:
    try:
        return label in known
    except TypeError:  # it cannot be hashed
        return False


def _spread_values(values: np.ndarray, position: np.ndarray, size: int, fill: float) -> np.ndarray:
    result = np.full((size, *values.shape[1:]), fill)
    result[position] = values
    return result


def compute_distances(profiles: Any, mass: np.ndarray) -> np.ndarray:
    """Compute the chi-square distances of profiles from the average one."""
    if not sp.issparse(profiles):
        return np.sqrt(((profiles - mass) ** 2 / mass).sum(axis=1))
    expected = mass[profiles.indices]
    squares = (profiles.data - expected) ** 2 / expected
    row = np.repeat(np.arange(profiles.shape[0]), np.diff(profiles.indptr))
    return np.sqrt(np.bincount(row, squares, profiles.shape[0]) + sum_absent_mass(profiles, mass))


def treat_missing_labels(policy: str, X: Any, Y: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Return pairs of labels, and their weights, as the parameter `missing` of `CA` wants them; tables as they are."""
    if Y is None or is_source(X) or is_table_of_counts(X):
        return X, Y, weights
    if policy == "indicator":
        return name_missing_labels(X, "X"), name_missing_labels(Y, "Y"), weights
    return treat_missing(policy, X, Y, weights)


def open_table_source(X: Any) -> Any:
    """Open files and frames of engines, so that whatever reads them does not open them again; return other data."""
    if isinstance(X, Pairs) or not is_source(X):
        return X
    with translate_engine_errors("X"):
        return open_source(X, "X")


def read_table(X: Any, Y: Any, sample_weight: Any) -> tuple[Table, tuple[np.ndarray, np.ndarray] | None]:
    """Read the table, and for pairs of labels in memory the row and column of each."""
    if is_source(X):
        return count_source_pairs(X, Y, sample_weight), None
    if Y is not None and not is_table_of_counts(X):
        return count_with_codes(X, Y, sample_weight, "sample_weight")
    if Y is not None:
        message = "Y is ignored, because X is a table of counts. For pairs, give one column of labels each."
        warnings.warn(message, LeftOut, stacklevel=find_user_stacklevel())
    return as_table(X), None


def read_evaluation_table(pairs: tuple[Any, Any, Any], fitted: Table, missing: str, *, from_pairs: bool) -> Table:
    """Read the counts of pairs to be evaluated, with labels of the fit.

    Parameters
    ----------
    pairs : (X, Y, sample_weight)
        The pairs, or a table of counts without Y.
    fitted : Table
        The table of the fit.
    missing : str
        The parameter of the estimator.
    from_pairs : bool
        Whether the fit was to pairs.
    """
    X, Y, _ = pairs
    if Y is None and from_pairs and not is_source(X) and not is_table_of_counts(X):
        raise ValueError("Y is missing: give the other label of each pair.")
    X, Y, sample_weight = treat_missing_labels(missing, *pairs)
    table, codes = read_table(X, Y, sample_weight)
    if codes is not None or is_source(X):
        return table
    if sample_weight is not None:
        table = weigh_table(table, check_weights(sample_weight, table.shape[0], "sample_weight"), None)
    if table.named and fitted.named:
        return table
    if table.shape != fitted.shape:
        raise ValueError(f"X must have the shape {fitted.shape} of the fit, got {table.shape}.")
    return replace(table, rows=fitted.rows, columns=fitted.columns)


def count_source_pairs(X: Any, Y: Any, sample_weight: Any) -> Table:
    """Count pairs that are in files or in an engine."""
    if Y is not None or sample_weight is not None:
        raise ValueError("X is a source of pairs: name its columns by X = Pairs(source, x=..., y=..., weights=...).")
    if isinstance(X, Pairs):
        # Count in the frame that is open already; data in memory are counted by their own library.
        is_open = is_source(X.source) or are_files(X.source)
        return count_pairs(X.frame if is_open else X.source, X.x, X.y, X.weights)
    with translate_engine_errors("X"):
        frame = open_source(X, "X")
        names = frame.collect_schema().names()
    if len(names) != 2:
        raise ValueError(
            f"X must have two columns, got {list_names(names)}. Name the pair by Pairs(source, x=..., y=...)."
        )
    return count_pairs(frame, *names)


def is_table_of_counts(X: Any) -> bool:
    """Whether X has rows and columns, and not just one column."""
    shape = find_shape(X)
    return len(shape) == 2 and shape[1] != 1


def is_column_of_labels(values: Any) -> bool:
    """Whether it is one column."""
    return len(find_shape(values)) == 1


def find_shape(values: Any) -> tuple[int, ...]:
    """Find the shape of a table or of labels; a list of lists has two dimensions, a list of tuples only one."""
    frame = as_frame(values, "X")
    native = frame if frame is not None else nw.from_native(values, series_only=True, pass_through=True)
    if hasattr(native, "shape"):
        return native.shape
    if hasattr(values, "__array__"):
        return np.asarray(values).shape
    if not isinstance(values, Sized) or isinstance(values, str):
        return ()
    if isinstance(values, list) and values and isinstance(values[0], list | np.ndarray):
        return (len(values), len(values[0]))
    return (len(values),)


def weigh_table(table: Table, row_weights: np.ndarray | None, column_weights: np.ndarray | None) -> Table:
    """Multiply the counts of rows and columns by their weights."""
    counts = table.counts
    if column_weights is not None:
        counts = weight_columns(counts, column_weights)
    if row_weights is not None:
        counts = weight_columns(counts.T, row_weights).T
    return table if counts is table.counts else as_table(replace(table, counts=counts))
