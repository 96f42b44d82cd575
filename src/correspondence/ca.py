"""Correspondence analysis of contingency tables and of pairs of labels: exact, dense or sparse."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from scipy.stats import chi2 as chi2_distribution
from sklearn.utils.validation import check_is_fitted

from correspondence.bootstrap import Bootstrap, bootstrap
from correspondence.decomposition import Decomposition
from correspondence.estimator import Estimator
from correspondence.functions import LabelFunctions
from correspondence.pairs import count_with_codes
from correspondence.points import Points
from correspondence.signs import signs
from correspondence.spectral import Residuals, leading_axes
from correspondence.table import Table, as_table

__all__ = ["CA", "Chi2Test"]

ALL_UP_TO = 1000  # rows or columns on the shorter side up to which None means all components
OTHERWISE = 10


class Chi2Test(NamedTuple):
    """Pearson's test of independence."""

    statistic: float
    dof: int
    pvalue: float


@dataclass(frozen=True)
class _Side:
    """Rows or columns of the table of the fit."""

    labels: np.ndarray
    mass: np.ndarray
    weights: np.ndarray | None
    kept: np.ndarray
    """Positions that take part: of positive mass and, in a subset analysis, in the subset."""
    shown: np.ndarray
    """Positions in the output: the same and those without mass."""

    @property
    def is_whole(self) -> bool:
        return len(self.kept) == np.count_nonzero(self.mass > 0)


class CA(Estimator):
    """Correspondence analysis: principal functions of two discrete variables, exact.

    Parameters
    ----------
    n_components : int, optional
        Number of components. By default all, or the 10 leading ones if the table has more than 1000 rows and
        columns.
    subset_rows, subset_columns : sequence of labels, optional
        Analyse only these, with the margins of the whole table (subset correspondence analysis).
    handle_unknown : {"error", "nan"}
        What `transform` does with a label that the fit has not seen. In `evaluate` such a label counts as
        average (f = 0).

    Attributes
    ----------
    rows_, columns_ : Points
        Coordinates, masses, contributions, qualities of rows and columns.
    chi2_test_ : Chi2Test
        Test of independence of the whole table: statistic, dof, pvalue.
    table_ : Table
        The counts that were analysed.
    decomposition_ : Decomposition
        The result; also as ``pics_`` and ``correlations_``.

    Notes
    -----
    The sign of each axis is such that the column that contributes most to it lies on its positive side; among
    equal ones the first in sorted order decides. So the same table gives the same picture as array, sparse
    matrix, frame or pairs, and with its rows or columns shuffled.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA(n_components=2).fit(co.datasets.load_housetasks())
    >>> ca.pics_.round(4)
    array([0.5429, 0.445 ])
    >>> ca.columns_.labels[ca.columns_.contributions.argmax(axis=0)].tolist()
    ['Husband', 'Jointly']

    From two columns of labels:

    >>> co.CA().fit(["tea", "tea", "beer", "beer"], ["am", "am", "pm", "am"]).correlations_.round(3)
    array([0.577])
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        subset_rows: Iterable[Any] | None = None,
        subset_columns: Iterable[Any] | None = None,
        handle_unknown: str = "error",
    ) -> None:
        self.n_components = n_components
        self.subset_rows = subset_rows
        self.subset_columns = subset_columns
        self.handle_unknown = handle_unknown

    def fit(
        self,
        X: Any,
        Y: Any = None,
        *,
        sample_weight: Any = None,
        row_weights: Any = None,
        column_weights: Any = None,
    ) -> Self:
        """Analyse a table, or pairs of labels.

        Parameters
        ----------
        X : table or column of labels
            Contingency table (array, scipy sparse, pandas, polars or pyarrow frame, `Table`), or, together with
            Y, one label for each observation.
        Y : column of labels, optional
            The other label of each observation. Ignored with a warning if X is a table.
        sample_weight : array-like of shape (n,), optional
            Weights of the observations, for labels.
        row_weights, column_weights : array-like, optional
            Numbers by which the rows and columns of the table are multiplied before everything else.

        Returns
        -------
        CA
            Itself.
        """
        self._check_parameters()
        table, codes = self._read(X, Y, sample_weight)
        self.n_features_in_ = table.shape[1]
        if table.named and all(isinstance(label, str) for label in table.columns):
            self.feature_names_in_ = table.columns
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._from_pairs = codes is not None
        row_weights = _check_weights(row_weights, table.shape[0], "row_weights")
        column_weights = _check_weights(column_weights, table.shape[1], "column_weights")
        self.table_ = _weighted(table, row_weights, column_weights)
        rows, columns = self._sides(row_weights, column_weights)
        self._decompose(rows, columns, codes)
        return self

    def _check_parameters(self) -> None:
        if self.n_components is not None and (
            not isinstance(self.n_components, int | np.integer) or self.n_components < 0
        ):
            raise ValueError(f"n_components must be a whole number of at least 0 or None, got {self.n_components!r}.")
        if self.handle_unknown not in ("error", "nan"):
            raise ValueError(f'handle_unknown must be "error" or "nan", got {self.handle_unknown!r}.')

    def _read(self, X: Any, Y: Any, sample_weight: Any) -> tuple[Table, Any]:
        if Y is not None and not _is_table(X):
            return count_with_codes(X, Y, sample_weight)
        if Y is not None:
            warnings.warn("Y is ignored: X is a table of counts. For pairs give one column of labels each.", stacklevel=3)
        if sample_weight is not None:
            raise ValueError("sample_weight is for pairs of labels: use row_weights or column_weights for a table.")
        return as_table(X), None

    def _sides(self, row_weights: np.ndarray | None, column_weights: np.ndarray | None) -> tuple[_Side, _Side]:
        table = self.table_
        total = table.total
        masses = [np.asarray(table.counts.sum(axis=axis)).ravel() / total for axis in (1, 0)]
        rows = _side(table.rows, masses[0], row_weights, self.subset_rows, "rows")
        columns = _side(table.columns, masses[1], column_weights, self.subset_columns, "columns")
        _warn_dropped(rows, columns)
        return rows, columns

    def _decompose(self, rows: _Side, columns: _Side, codes: tuple[np.ndarray, np.ndarray] | None) -> None:
        total = self.table_.total
        counts = self.table_.counts
        if len(rows.kept) < len(rows.labels) or len(columns.kept) < len(columns.labels):
            counts = counts[rows.kept][:, columns.kept]
        Q = Residuals.of(counts, rows.mass[rows.kept], columns.mass[columns.kept], total)
        is_whole = rows.is_whole and columns.is_whole
        limit = min(len(rows.kept) - rows.is_whole, len(columns.kept) - columns.is_whole)
        U, s, V = leading_axes(Q, self._count(limit), centred=is_whole)
        s = np.minimum(s, 1.0)
        sign = signs(V, columns.labels[columns.kept])
        F, G = U * (sign / Q.row_root[:, None]), V * (sign / Q.column_root[:, None])
        self._row_side, self._column_side = rows, columns
        self.rows_ = _points(rows, Q.row_inertia, F, s)
        self.columns_ = _points(columns, Q.column_inertia, G, s)
        f, g = (_functions(points, self.handle_unknown) for points in (self.rows_, self.columns_))
        if codes is not None and is_whole:
            f, g = replace(f, codes=codes[0]), replace(g, codes=codes[1])
        inertia = float(Q.row_inertia.sum())
        self.decomposition_ = Decomposition(s**2, f, g, chi2=inertia, n=total)
        self.chi2_test_ = _chi2_test(inertia if is_whole else self._whole_inertia(), rows, columns, total)

    def _whole_inertia(self) -> float:
        rows, columns = (np.flatnonzero(side.mass > 0) for side in (self._row_side, self._column_side))
        counts = self.table_.counts[rows][:, columns]
        masses = self._row_side.mass[rows], self._column_side.mass[columns]
        return float(Residuals.of(counts, *masses, self.table_.total).row_inertia.sum())

    def _count(self, limit: int) -> int:
        """How many components to compute of the `limit` that there are."""
        if limit == 0:
            warnings.warn("The table has one row or one column: there are no components.", stacklevel=5)
        if self.n_components is None:
            return limit if limit <= ALL_UP_TO else OTHERWISE
        if self.n_components > limit > 0:
            warnings.warn(
                f"n_components={self.n_components} is more than the table has: {limit} are kept.", stacklevel=5
            )
        return min(int(self.n_components), limit)

    def _f(self, X: Any) -> np.ndarray:
        if self._are_labels(X):
            return self.decomposition_.f(X)
        return self._project(X, self._column_side, self.columns_, "X", "columns")[0].standard

    def _g(self, Y: Any) -> np.ndarray:
        if self._are_labels(Y):
            return self.decomposition_.g(Y)
        return self._project(Y, self._row_side, self.rows_, "Y", "rows")[0].standard

    def _are_labels(self, values: Any) -> bool:
        return self._from_pairs and not sp.issparse(values) and not _is_table(values) or _is_column(values)

    def transform(self, X: Any, Y: Any = None) -> Any:
        """Principal functions at labels, or of new rows (and columns) of the table.

        Parameters
        ----------
        X : column of labels, or table with the columns of the fit
            New rows are placed by their profiles. A frame's columns are matched by name.
        Y : column of labels, or table with the rows of the fit, optional
            The same for y: new columns stand side by side.

        Returns
        -------
        ndarray of shape (n, d), or a pair of them
            Standard coordinates f(X), or (f(X), g(Y)). `supplementary` has principal ones.
        """
        return super().transform(X, Y)

    def supplementary(self, rows: Any = None, columns: Any = None) -> Any:
        """Place rows or columns that took no part in the fit.

        Parameters
        ----------
        rows : table with the columns of the fit, optional
            New rows.
        columns : table with the rows of the fit, optional
            New columns, side by side.

        Returns
        -------
        Points, or a pair of them if both are given
            Mass, inertia and contributions are NaN. A row or column of zeros lies at NaN, with a warning.

        Examples
        --------
        >>> import correspondence as co
        >>> ca = co.CA(n_components=2).fit([[20, 5, 1], [8, 9, 7], [2, 6, 21]])
        >>> ca.supplementary(rows=[[1, 1, 1]]).principal.round(2)
        array([[0.03, 0.06]])
        """
        check_is_fitted(self)
        if rows is None and columns is None:
            raise ValueError("Give rows or columns, or both: there is nothing to place.")
        placed = []
        if rows is not None:
            placed.append(self._place(rows, self._column_side, self.columns_, "rows", "columns"))
        if columns is not None:
            placed.append(self._place(columns, self._row_side, self.rows_, "columns", "rows"))
        return placed[0] if len(placed) == 1 else tuple(placed)

    def _place(self, counts: Any, side: _Side, others: Points, name: str, along: str) -> Points:
        points, empty = self._project(counts, side, others, name, along)
        if empty:
            warnings.warn(f"{name} without any count lie at NaN: {_listed(empty)}.", stacklevel=3)
        return points

    def _project(
        self, counts: Any, side: _Side, others: Points, name: str, along: str
    ) -> tuple[Points, list[Any]]:
        """Points of new rows given over all columns of the fit (or the other way round) by the transition formula."""
        table = as_table(counts, name)
        if along == "rows":
            table = Table(table.counts.T, table.columns, table.rows, table.named)
        profiles, total = self._profiles(_aligned(table, side.labels, name, along), side)
        mass = side.mass[side.kept]
        standard = others.standard[np.isin(side.shown, side.kept)]
        correlations = others.correlations
        principal = profiles @ standard - mass @ standard
        inverse = np.where(correlations > 0, 1 / np.where(correlations > 0, correlations, 1), 0)
        distance = _distances(profiles, mass)
        empty = total == 0
        principal[empty], distance[empty] = np.nan, np.nan
        unknown = np.full(len(total), np.nan)
        points = Points(table.rows, unknown, distance, unknown, principal * inverse, correlations)
        return points, table.rows[empty].tolist()

    def _profiles(self, counts: Any, side: _Side) -> tuple[Any, np.ndarray]:
        if side.weights is not None:
            counts = _weighted_columns(counts, side.weights)
        if (side.mass == 0).any():
            counts = counts * (side.mass > 0)
        total = np.asarray(counts.sum(axis=1)).ravel()
        scale = 1 / np.where(total > 0, total, 1)
        profiles = sp.csr_array(sp.diags_array(scale) @ counts) if sp.issparse(counts) else counts * scale[:, None]
        return profiles[:, side.kept] if len(side.kept) < len(side.labels) else profiles, total

    def _pairs(self, X: Any, Y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        if Y is None:
            F, G, sample_weight = self._cells(X)
        else:
            F, G, sample_weight = super()._pairs(X, Y, sample_weight)
        return np.nan_to_num(F, nan=0.0), np.nan_to_num(G, nan=0.0), sample_weight

    def _cells(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """f, g and counts of the cells of another table with the same rows and columns."""
        table = as_table(X)
        counts = _aligned(table, self._column_side.labels, "X", "columns")
        turned = Table(counts.T, self._column_side.labels, table.rows, table.named)
        cells = sp.coo_array(_aligned(turned, self._row_side.labels, "X", "rows").T)
        f, g = self.decomposition_.f, self.decomposition_.g
        return f(self._row_side.labels[cells.row]), g(self._column_side.labels[cells.col]), cells.data

    def bootstrap(
        self,
        n_resamples: int = 200,
        *,
        n_components: int = 2,
        n: int | None = None,
        random_state: Any = None,
        progress: bool | None = None,
    ) -> Bootstrap:
        """How much the points would move if the data were collected again.

        Tables are drawn from a multinomial distribution with the observed proportions, analysed, and turned
        (Procrustes) on to the original points.

        Parameters
        ----------
        n_resamples : int
            Number of tables.
        n_components : int
            Number of leading axes to keep.
        n : int, optional
            Number of observations in each table; the total of the table by default. Needed for a table of
            proportions.
        random_state : int, Generator or None
            For the same result again.
        progress : bool, optional
            Show a progress bar; by default if it takes longer than two seconds.

        Returns
        -------
        Bootstrap
            Covariances of all points, and confidence ellipses that `plot.plane` can draw.
        """
        check_is_fitted(self)
        return bootstrap(
            self, n_resamples, n_components=n_components, n=n, random_state=random_state, progress=progress
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags


def _is_table(X: Any) -> bool:
    """Whether X has more than one column."""
    if sp.issparse(X) or isinstance(X, Table):
        return True
    shape = getattr(X, "shape", None)
    if shape is None or isinstance(X, nw.Series):
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        return isinstance(frame, nw.DataFrame) and frame.shape[1] > 1 or _is_nested(X)
    return len(shape) == 2 and shape[1] > 1


def _is_nested(X: Any) -> bool:
    return isinstance(X, list) and bool(X) and isinstance(X[0], list | np.ndarray) and len(X[0]) > 1


def _is_column(values: Any) -> bool:
    shape = getattr(values, "shape", None)
    if shape is not None:
        return len(shape) == 1
    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame | nw.Series):
        return isinstance(native, nw.Series)
    return isinstance(values, list | tuple) and not (values and isinstance(values[0], list | tuple | np.ndarray))


def _check_weights(weights: Any, size: int, name: str) -> np.ndarray | None:
    if weights is None:
        return None
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (size,):
        raise ValueError(f"{name} must have {size} numbers, got shape {values.shape}.")
    if not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise ValueError(f"{name} must be finite, at least 0, and not all zero.")
    return values


def _weighted(table: Table, row_weights: np.ndarray | None, column_weights: np.ndarray | None) -> Table:
    counts = table.counts
    if column_weights is not None:
        counts = _weighted_columns(counts, column_weights)
    if row_weights is not None:
        counts = _weighted_columns(counts.T, row_weights).T
    if counts is table.counts:
        return table
    return as_table(Table(counts, table.rows, table.columns, table.named))


def _weighted_columns(counts: Any, weights: np.ndarray) -> Any:
    return counts @ sp.diags_array(weights) if sp.issparse(counts) else counts * weights


def _side(labels: np.ndarray, mass: np.ndarray, weights: Any, subset: Any, name: str) -> _Side:
    shown = np.arange(len(labels)) if subset is None else _positions(labels, subset, name)
    kept = shown[mass[shown] > 0]
    if not len(kept):
        raise ValueError(f"subset_{name} has no label with a count.")
    return _Side(labels, mass, weights, kept, shown)


def _positions(labels: np.ndarray, subset: Iterable[Any], name: str) -> np.ndarray:
    """Where the labels of a subset stand, in the order of the table."""
    known = {label: i for i, label in enumerate(labels.tolist())}
    try:
        return np.unique([known[label] for label in subset])
    except KeyError as error:
        raise ValueError(f"subset_{name}: there is no label {error} among the {name}.") from None


def _warn_dropped(rows: _Side, columns: _Side) -> None:
    dropped = [
        f"{name} {_listed(side.labels[side.mass == 0].tolist())}"
        for name, side in (("rows", rows), ("columns", columns))
        if (side.mass == 0).any()
    ]
    if dropped:
        warnings.warn(f"Left out, because all their counts are zero: {'; '.join(dropped)}.", stacklevel=4)


def _listed(labels: list[Any], most: int = 10) -> str:
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return ", ".join(map(str, labels[:most])) + more


def _points(side: _Side, inertia: np.ndarray, standard: np.ndarray, s: np.ndarray) -> Points:
    """Points of all labels shown, those without mass at NaN."""
    mass = side.mass[side.shown]
    if len(side.kept) == len(side.shown):
        return Points(side.labels[side.shown], mass, np.sqrt(inertia / mass), inertia, standard, s)
    position = np.searchsorted(side.shown, side.kept)
    all_inertia = np.zeros(len(mass))
    all_inertia[position] = inertia
    distance = np.full(len(mass), np.nan)
    distance[position] = np.sqrt(inertia / mass[position])
    coordinates = np.full((len(mass), len(s)), np.nan)
    coordinates[position] = standard
    return Points(side.labels[side.shown], mass, distance, all_inertia, coordinates, s)


def _functions(points: Points, unknown: str) -> LabelFunctions:
    return LabelFunctions(points.labels, points.standard, points.mass, unknown=unknown)


def _chi2_test(inertia: float, rows: _Side, columns: _Side, total: float) -> Chi2Test:
    dof = (np.count_nonzero(rows.mass) - 1) * (np.count_nonzero(columns.mass) - 1)
    statistic = inertia * total
    return Chi2Test(statistic, dof, float(chi2_distribution.sf(statistic, dof)) if dof else 1.0)


def _aligned(table: Table, labels: np.ndarray, name: str, along: str) -> Any:
    """Counts of a table with its columns in the order of the labels of the fit."""
    if not table.named or labels.dtype.kind in "iu":
        if table.shape[1] != len(labels):
            raise ValueError(
                f"{name} has {table.shape[1]} {along}, but CA was fitted to {len(labels)}: X has {table.shape[1]} "
                f"features, but CA is expecting {len(labels)} features as input."
                if name == "X" and along == "columns"
                else f"{name} must have the {len(labels)} {along} of the fit, got {table.shape[1]}."
            )
        return table.counts
    positions = {label: i for i, label in enumerate(table.columns.tolist())}
    missing = [label for label in labels.tolist() if label not in positions]
    if missing:
        raise ValueError(f"{name} lacks the {along} {_listed(missing)} of the fit.")
    extra = set(positions) - set(labels.tolist())
    if extra:
        raise ValueError(f"{name} has {along} that were not in the fit: {_listed(sorted(extra, key=str))}.")
    return table.counts[:, [positions[label] for label in labels.tolist()]]


def _distances(profiles: Any, mass: np.ndarray) -> np.ndarray:
    """Chi-square distances of profiles from the average one."""
    if not sp.issparse(profiles):
        return np.sqrt(((profiles - mass) ** 2 / mass).sum(axis=1))
    expected = mass[profiles.indices]
    squares = (profiles.data - expected) ** 2 / expected - expected
    row = np.repeat(np.arange(profiles.shape[0]), np.diff(profiles.indptr))
    return np.sqrt(np.maximum(np.bincount(row, squares, profiles.shape[0]) + mass.sum(), 0))
