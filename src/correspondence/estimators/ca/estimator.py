"""Correspondence analysis of contingency tables and of pairs of labels: exact, dense or sparse."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from correspondence._util.arguments import check_weights, check_whole, find_user_stacklevel, is_number
from correspondence._util.labels import encode_labels
from correspondence._util.text import list_names, short_repr
from correspondence._util.user_warnings import FewerComponents, LeftOut
from correspondence.core.decomposition import Decomposition
from correspondence.core.dependence_views import View, label_view
from correspondence.core.estimator import Estimator
from correspondence.core.functions import LabelFunctions
from correspondence.core.residual_svd import Residuals, leading_axes
from correspondence.core.scoring import score_pairs
from correspondence.core.signs import choose_signs
from correspondence.data.pairs.pairs import is_source
from correspondence.data.table import Table, as_table
from correspondence.data.thinning import are_whole
from correspondence.estimators.ca.bootstrap import bootstrap_points
from correspondence.estimators.ca.independence import Chi2Test, assess_independence
from correspondence.estimators.ca.inputs import is_column_of_labels, is_table_of_counts, read_table, weigh_table
from correspondence.estimators.ca.ridge import Ridge, RidgeResiduals, choose_ridge, shrink_labels
from correspondence.estimators.ca.table_side import TableSide, TransitionFormula
from correspondence.results.bootstrap import Bootstrap
from correspondence.results.held_out import HeldOut
from correspondence.results.points import Points

__all__ = ["CA", "Chi2Test"]

ALL_UP_TO = 1000  # components that there may be for None to mean all of them
N_COMPONENTS_IF_LARGE = 10
JUDGED_UP_TO = 50  # components that the search for a ridge looks at, if there may be all of them


class CA(Estimator):
    """Correspondence analysis: principal functions of two discrete variables, exact.

    Parameters
    ----------
    n_components : int, optional
        Number of components. By default all, or the 10 leading ones if there are more than 1000.
    subset_rows, subset_columns : sequence of labels, optional
        Analyse only these, with the margins of the whole table (subset correspondence analysis).
    handle_unknown : {"error", "nan"}
        What `transform` does with a label that the fit has not seen. In `evaluate`, "nan" counts it as
        average (f = 0).
    regularization : float or "auto", optional
        The strength of a ridge on the margins that holds rare labels back, in observations: a label that was seen as
        often counts half. None, the default, is exact correspondence analysis. "auto" deals the counts out to folds,
        takes the strength that captures most of the counts left out, and claims only the correlations that these
        support; it needs whole counts, and without `n_components` it keeps the components that they support, at
        least one and at most 50.

    Attributes
    ----------
    rows_, columns_ : Points
        Coordinates, masses, contributions, qualities of rows and columns.
    chi2_test_ : Chi2Test
        Test of independence of the whole table: statistic, dof, pvalue, classical_pvalue.
    table_ : Table
        The counts that were analysed.
    regularization_ : float
        The strength of the ridge; 0 without one.
    decomposition_ : Decomposition
        The result; also as ``pics_`` and ``correlations_``.

    Notes
    -----
    The sign of each axis is such that the column that contributes most to it lies on its positive side; among
    equal ones the first in sorted order decides. So the same table gives the same picture as array, sparse
    matrix, frame or pairs, and with its rows or columns shuffled.

    With a ridge f and g still have mean 0 and variance 1 and are uncorrelated under the margins of the table, and
    contributions sum to 1. ``correlations_`` are the singular values that the ridge leaves, or with "auto" what the
    counts left out support; never more than the correlations on the table itself. Masses, distances and inertias of
    the points stay those of the table, so cos2 compares a shrunk coordinate with the whole distance. New rows and
    columns are held back like those of the fit: give their counts, not their shares. A strength is for the
    functions: it does not choose the number of components.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA(n_components=2).fit(co.datasets.load_housetasks())
    >>> ca.pics_.round(4)
    array([0.5429, 0.445 ])
    >>> ca.columns_.labels[ca.columns_.contributions.argmax(axis=0)].tolist()
    ['Husband', 'Jointly']

    With rare labels the exact analysis describes noise; here there is nothing else:

    >>> import numpy as np
    >>> counts = np.random.default_rng(0).multinomial(1000, np.full(600, 1 / 600)).reshape(30, 20)
    >>> co.CA(n_components=1).fit(counts).correlations_.round(2)
    array([0.29])
    >>> co.CA(n_components=1, regularization="auto").fit(counts).correlations_.round(2)
    array([0.])

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
        regularization: float | str | None = None,
    ) -> None:
        self.n_components = n_components
        self.subset_rows = subset_rows
        self.subset_columns = subset_columns
        self.handle_unknown = handle_unknown
        self.regularization = regularization

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
            Y, one label for each observation. The rows of a frame are named by its first column, if that holds
            text, categories or dates, or else by its index (pandas); all other columns are counts. Or pairs that are
            not in memory: `Pairs`, or a path, a glob or a lazy frame with two columns.
        Y : column of labels, optional
            The other label of each observation. Ignored with a warning if X is a table.
        sample_weight : array-like of shape (n,), optional
            Weights of the observations; for a table the same as `row_weights`.
        row_weights, column_weights : array-like, optional
            Numbers by which the rows and columns of the table are multiplied before everything else.

        Returns
        -------
        CA
            Itself.
        """
        before = self.__dict__.copy()
        try:
            self._fit_table(X, Y, sample_weight, row_weights, column_weights)
        except BaseException:  # a fit that fails leaves everything as it was
            self.__dict__ = before
            raise
        return self

    def _fit_table(self, X: Any, Y: Any, sample_weight: Any, row_weights: Any, column_weights: Any) -> None:
        self._check_parameters()
        table, codes = read_table(X, Y, sample_weight)
        self._from_pairs = codes is not None or is_source(X)
        self._remember_features(table)
        if sample_weight is not None and not self._from_pairs:
            if row_weights is not None:
                raise ValueError("For a table sample_weight and row_weights are the same: give one of them.")
            row_weights, sample_weight = sample_weight, None
        if row_weights is not None:
            row_weights = check_weights(row_weights, table.shape[0], "row_weights")
        if column_weights is not None:
            column_weights = check_weights(column_weights, table.shape[1], "column_weights")
        self._unweighted = table
        self.table_ = weigh_table(table, row_weights, column_weights)
        self._rows = TableSide.from_table(self.table_, "rows", row_weights, self.subset_rows)
        self._columns = TableSide.from_table(self.table_, "columns", column_weights, self.subset_columns)
        warn_of_dropped_labels(self._rows, self._columns)
        self._decompose_table(codes, sample_weight)

    def _check_parameters(self) -> None:
        if self.n_components is not None:
            check_whole(self.n_components, "n_components", 0)
        if not isinstance(self.handle_unknown, str) or self.handle_unknown not in ("error", "nan"):
            raise ValueError(f'handle_unknown must be "error" or "nan", got {short_repr(self.handle_unknown)}.')
        c = self.regularization
        if not (c is None or c == "auto" if isinstance(c, str | None) else is_number(c) and c >= 0):
            raise ValueError(f'regularization must be None, "auto" or a number of at least 0, got {short_repr(c)}.')

    def _remember_features(self, table: Table) -> None:
        self.n_features_in_ = 1 if self._from_pairs else table.shape[1]
        if not self._from_pairs and table.named and all(isinstance(label, str) for label in table.columns):
            self.feature_names_in_ = table.columns
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _decompose_table(self, codes: tuple[np.ndarray, np.ndarray] | None, sample_weight: Any) -> None:
        rows, columns, total = self._rows, self._columns, self.table_.total
        Q = self._compute_residuals(rows.kept, columns.kept)
        whole = (rows.is_whole, columns.is_whole)
        limit = min(len(rows.kept) - rows.is_whole, len(columns.kept) - columns.is_whole)
        k, ridge = self._count_components(limit), self._find_ridge(limit)
        if ridge.claims is not None and self.n_components is None:
            k = min(limit, max(1, ridge.n_supported))
        matrix = self._regularize_residuals(Q, ridge.strength)
        U, s, V = leading_axes(matrix, k, centred=whole)
        s = np.minimum(s, 1.0)
        sign = choose_signs(V, columns.labels[columns.kept])
        for vectors in (U, V):
            vectors *= sign
        claims = self._remember_transitions(Q, matrix, ridge, (U, s, V))
        for vectors, root in ((U, Q.row_root), (V, Q.column_root)):
            vectors /= root[:, None]
        self.rows_ = rows.make_points(Q.row_inertia, U, claims)
        self.columns_ = columns.make_points(Q.column_inertia, V, claims)
        f, g = self._make_functions(self.rows_), self._make_functions(self.columns_)
        if codes is not None and all(whole):
            weights = self._compute_observation_weights(codes, sample_weight)
            f, g = (replace(side, codes=own, code_weights=weights) for side, own in ((f, codes[0]), (g, codes[1])))
        inertia = float(Q.row_inertia.sum())
        self.decomposition_ = Decomposition(claims**2, f, g, chi2=_sum_pics(matrix, ridge, inertia), n=total)
        self._remember_statistic(inertia, is_whole=all(whole))

    def _remember_statistic(self, inertia: float, is_whole: bool) -> None:
        """Keep chi-square of the whole table, also of a subset, for the test."""
        if not is_whole:
            inertia = float(
                self._compute_residuals(
                    self._rows.occurring_positions, self._columns.occurring_positions
                ).row_inertia.sum()
            )
        self._statistic = inertia * self.table_.total
        self.__dict__.pop("chi2_test_", None)  # of an earlier fit

    def _find_ridge(self, limit: int) -> Ridge:
        """Strength of the ridge, and for "auto" what the thinned counts support."""
        if self.regularization != "auto":
            return Ridge(float(self.regularization or 0.0))
        if not (self._rows.is_whole and self._columns.is_whole):
            raise ValueError(
                'regularization must be None or a number for a subset, got "auto". Fit the whole table to choose one.'
            )
        if not self._are_counts():
            raise ValueError(
                'regularization must be None or a number for a table that does not hold whole counts, got "auto". '
                "Give the counts themselves, without weights."
            )
        if limit == 0:
            return Ridge(0.0)
        k = max(self.n_components or 0, JUDGED_UP_TO if limit <= ALL_UP_TO else N_COMPONENTS_IF_LARGE)
        return choose_ridge(self._select_counts(self._rows.kept, self._columns.kept), min(k, limit))

    def _regularize_residuals(self, Q: Residuals, strength: float) -> Any:
        """Matrix to be decomposed: the residuals themselves without a ridge."""
        if not strength:
            return Q
        rows, columns = (shrink_labels(root**2 * self.table_.total, strength) for root in (Q.row_root, Q.column_root))
        return RidgeResiduals(Q, strength, rows, columns, (self._rows.is_whole, self._columns.is_whole))

    def _remember_transitions(
        self, Q: Residuals, matrix: Any, ridge: Ridge, axes: tuple[np.ndarray, np.ndarray, np.ndarray]
    ) -> np.ndarray:
        """Correlations to claim for singular triples; keeps what new points and the bootstrap need."""
        U, s, V = axes
        self.regularization_ = ridge.strength
        self._to_rows, self._to_columns, trained = TransitionFormula(s), TransitionFormula(s), s
        if ridge.strength:
            self._to_rows = _make_transition(matrix, s, V)
            self._to_columns = _make_transition(matrix.T, s, U)
            # No claim is larger than the correlation of the functions on the table itself.
            trained = np.minimum.accumulate(np.clip(np.einsum("ij,ij->j", U, Q @ V), 0, 1))
        shrunk = np.minimum(s, trained)
        claims = shrunk if ridge.claims is None else np.minimum(ridge.claims[: len(s)], trained)
        self._claimed_share = np.divide(claims, shrunk, out=np.zeros(len(s)), where=shrunk > 0)
        return claims

    def _are_counts(self) -> bool:
        """Whether the cells count observations, which can be permuted and dealt out."""
        return are_whole(self.table_.counts) and not (self._rows.is_weighted or self._columns.is_weighted)

    @cached_property
    def chi2_test_(self) -> Chi2Test:
        """Test of independence of the whole table; computed when asked for, within some tenths of a second."""
        check_is_fitted(self)
        sides = (self._rows, self._columns)
        r, c = (side.mass[side.occurring_positions] * self.table_.total for side in sides)
        return assess_independence(self._statistic, r, c, are_counts=self._are_counts())

    def _compute_observation_weights(
        self, codes: tuple[np.ndarray, np.ndarray], sample_weight: Any
    ) -> np.ndarray | None:
        """What each pair of labels counts, with the weights of its row and column."""
        factors = [
            side.weights[own]
            for side, own in zip((self._rows, self._columns), codes, strict=True)
            if side.weights is not None
        ]
        if sample_weight is not None:
            factors.append(np.asarray(sample_weight, dtype=np.float64))
        return np.prod(factors, axis=0) if factors else None

    def _compute_residuals(self, rows: np.ndarray, columns: np.ndarray) -> Residuals:
        counts = self._select_counts(rows, columns)
        return Residuals.from_counts(counts, self._rows.mass[rows], self._columns.mass[columns], self.table_.total)

    def _select_counts(self, rows: np.ndarray, columns: np.ndarray) -> Any:
        counts = self.table_.counts
        return counts if (len(rows), len(columns)) == counts.shape else counts[rows][:, columns]

    def _make_functions(self, points: Points) -> LabelFunctions:
        return LabelFunctions(points.labels, points.standard, points.mass, unknown=self.handle_unknown)

    def _count_components(self, limit: int) -> int:
        """How many components to compute of the `max_components` that there are."""
        if limit == 0:
            warnings.warn(
                "The table has one row or one column: there are no components.",
                FewerComponents,
                stacklevel=find_user_stacklevel(),
            )
        if self.n_components is None:
            return limit if limit <= ALL_UP_TO else N_COMPONENTS_IF_LARGE
        if self.n_components > limit > 0:
            warnings.warn(
                f"n_components={self.n_components} is more than the table has: {limit} are kept.",
                FewerComponents,
                stacklevel=find_user_stacklevel(),
            )
        return min(int(self.n_components), limit)

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

    def _make_test_views(self, X: Any, Y: Any) -> list[View]:
        if self.subset_rows is not None or self.subset_columns is not None:
            return []
        view = label_view(encode_labels(X, "X")[0], encode_labels(Y, "Y")[0])
        return [] if view is None else [view]

    def _evaluate_f(self, X: Any) -> np.ndarray:
        return self.decomposition_.f(X) if self._are_labels(X) else self._place_rows(X, "X").standard

    def _evaluate_g(self, Y: Any) -> np.ndarray:
        return self.decomposition_.g(Y) if self._are_labels(Y) else self._place_columns(Y, "Y").standard

    def _are_labels(self, values: Any) -> bool:
        return is_column_of_labels(values) or (self._from_pairs and not is_table_of_counts(values))

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
        array([[0.02, 0.18]])
        """
        check_is_fitted(self)
        placed = []
        if rows is not None:
            placed.append(self._place_rows(rows, "rows"))
        if columns is not None:
            placed.append(self._place_columns(columns, "columns"))
        if not placed:
            raise ValueError("Give rows or columns, or both: there is nothing to place.")
        return placed[0] if len(placed) == 1 else tuple(placed)

    def _place_rows(self, rows: Any, name: str) -> Points:
        table = as_table(rows, name, positive=False)
        return warn_of_empty_points(self._columns.place_labels(table, self.columns_, name, self._to_rows), name)

    def _place_columns(self, columns: Any, name: str) -> Points:
        table = as_table(columns, name, positive=False).T
        return warn_of_empty_points(self._rows.place_labels(table, self.rows_, name, self._to_columns), name)

    def evaluate(self, X: Any, Y: Any = None, sample_weight: Any = None) -> HeldOut:
        """Evaluate the functions on pairs, ideally pairs that were not used in the fit.

        Parameters
        ----------
        X : column of labels, or table
            One label for each pair; or, without Y, another table: with labels of its own, or of the shape of the
            fit. (Other rows of the same table are no pairs; so cross-validation is for pairs of labels.)
        Y : column of labels, optional
            The other label of each pair.
        sample_weight : array-like, optional
            Weights of the pairs, or of the rows of the table.

        Returns
        -------
        HeldOut
            ``.correlations`` of each component, ``.captured``, their intervals and ``.n``.
        """
        check_is_fitted(self)
        if not (self._rows.is_whole and self._columns.is_whole):
            raise ValueError(
                "A subset cannot be evaluated: its functions do not describe all pairs. Fit the whole table."
            )
        table = self._read_evaluation_table(X, Y, sample_weight)
        d = self.decomposition_
        F, G = np.nan_to_num(d.f(table.rows), nan=0.0), np.nan_to_num(d.g(table.columns), nan=0.0)
        return score_pairs(F, G, d.correlations, table.counts, warn=True)

    def _read_evaluation_table(self, X: Any, Y: Any, sample_weight: Any) -> Table:
        """Counts of pairs to be evaluated, with labels of the fit."""
        if Y is None and self._from_pairs and not is_source(X) and not is_table_of_counts(X):
            raise ValueError("Y is missing: give the other label of each pair.")
        table, codes = read_table(X, Y, sample_weight)
        if codes is not None or is_source(X):
            return table
        if sample_weight is not None:
            table = weigh_table(table, check_weights(sample_weight, table.shape[0], "sample_weight"), None)
        if table.named and self.table_.named:
            return table
        if table.shape != self.table_.shape:
            raise ValueError(f"X must have the shape {self.table_.shape} of the fit, got {table.shape}.")
        return replace(table, rows=self.table_.rows, columns=self.table_.columns)

    def bootstrap(
        self,
        n_resamples: int = 200,
        *,
        n_components: int = 2,
        n: int | None = None,
        align: str = "signs",
        random_state: Any = None,
        progress: bool | None = None,
    ) -> Bootstrap:
        """How much the points would move if the data were collected again.

        Tables are drawn from a multinomial distribution with the observed proportions, analysed, and laid on to the
        original points.

        Parameters
        ----------
        n_resamples : int
            The number of tables to draw.
        n_components : int
            The number of leading axes to keep.
        n : int, optional
            The number of observations in each table; the total of the table by default. Needed for a table of
            proportions.
        align : {"signs", "rotation"}
            How resamples are laid on to the original points. "signs" only reflects the axes: the ellipses are for
            the points on the axes as drawn, and two axes of about the same inertia make them large, since
            new data would mix or exchange these axes. "rotation" (Procrustes) turns the whole space of the
            `n_components` axes: the ellipses are for the places of the points relative to each other, whatever the
            directions of the axes, and do not hold for coordinates on single axes.
        random_state : int, Generator or None
            For the same result again.
        progress : bool, optional
            Show a progress bar; by default if it takes longer than two seconds.

        Returns
        -------
        Bootstrap
            Covariances of all points, and confidence ellipses that `plot.plane` can draw.

        Notes
        -----
        Coverage of the points of the population on the axes as drawn at a level of 95 %, 60 tables each with 100
        resamples: .96 for the distribution of the housetasks table with n = 1744 and .91 with n = 300, .97 for
        that of the smoke table with n = 2000 and .94 with n = 193; .87 for the worst point. With
        ``align="rotation"`` it is .60, .51, .95 and .88 (``python benchmarks/tables.py --only ellipses``).

        Examples
        --------
        >>> import correspondence as co
        >>> ca = co.CA().fit(co.datasets.load_housetasks())
        >>> ca.bootstrap(50, random_state=0)
        Bootstrap of 13 rows and 4 columns on 2 axes, 50 resamples
        """
        check_is_fitted(self)
        return bootstrap_points(
            self,
            n_resamples,
            n_components=n_components,
            n=n,
            align=align,
            random_state=random_state,
            progress=progress,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags


def warn_of_dropped_labels(rows: TableSide, columns: TableSide) -> None:
    dropped = [
        f"{side.name} {list_names(side.labels[side.mass == 0])}"
        for side in (rows, columns)
        if len(side.occurring_positions) < len(side.labels)
    ]
    if dropped:
        warnings.warn(
            f"Left out, because all their counts are zero: {'; '.join(dropped)}.",
            LeftOut,
            stacklevel=find_user_stacklevel(),
        )


def warn_of_empty_points(points: Points, name: str) -> Points:
    empty = points.labels[np.isnan(points.chi2_distance)].tolist()
    if empty:
        warnings.warn(
            f"{name}: without any count, so placed at NaN: {list_names(empty)}.",
            LeftOut,
            stacklevel=find_user_stacklevel(),
        )
    return points


def _sum_pics(matrix: Any, ridge: Ridge, inertia: float) -> float:
    """All PICs, those not kept included: of the table, what a ridge leaves of them, or what the folds support."""
    if ridge.claims is not None:
        return float((ridge.claims**2).sum())
    return matrix.inertia if ridge.strength else inertia


def _make_transition(matrix: RidgeResiduals, s: np.ndarray, V: np.ndarray) -> TransitionFormula:
    """From the functions of the columns to those of the rows."""
    offset = matrix.row_root @ matrix.shrunk_times(V) if matrix.centred[0] else np.zeros(len(s))
    return TransitionFormula(s, matrix.strength, matrix.column_shrink, offset)
