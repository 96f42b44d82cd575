"""What analyses of many columns share: axes from moments, scores of rows, supplementary rows and columns."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from correspondence._util.arguments import check_weights, find_user_stacklevel
from correspondence._util.constraints import Constraints, check_parameters
from correspondence._util.text import list_names
from correspondence._util.user_warnings import FewerComponents
from correspondence.core.column_blocks import (
    ColumnBlock,
    FeatureMoments,
    find_block_axes,
    whiten_blocks,
)
from correspondence.core.column_features import ManyColumns
from correspondence.core.decomposition import Decomposition
from correspondence.core.feature_moments import compute_feature_moments, freeze_moments
from correspondence.core.functions import LabelFunctions, LinearFunctions
from correspondence.core.left_out_columns import leave_out_unseen
from correspondence.core.order.ordered_axes import order_axes
from correspondence.core.sparse_moments import SparseCovariance, compute_sparse_moments, find_sparse_block_axes
from correspondence.data.answers import split_columns
from correspondence.data.pairs.pairs import Pairs, is_source
from correspondence.estimators.many.analysis import ColumnAnalysis
from correspondence.estimators.many.completing import complete_table
from correspondence.estimators.many.conventions import find_label_features
from correspondence.estimators.many.imputing import fit_gap_filler
from correspondence.estimators.many.judging import JudgedColumns
from correspondence.estimators.many.reading import ReadTable, find_active_rows, find_rows, name_rows, select_columns
from correspondence.estimators.many.sources import ReadSource
from correspondence.estimators.many.supplementary import (
    SupplementaryVariables,
    compute_vtests,
    divide_by_share,
    place_variables,
)
from correspondence.results.points import CategoryMeans, Points

__all__ = ["ManyColumnsEstimator"]

MAX_MOMENTS = 3000  # features of which the matrix of moments is computed; more are decomposed as sparse rows
DEFAULT_COMPONENTS = 10  # axes of so many features, if the user does not say


class ManyColumnsEstimator(JudgedColumns, TransformerMixin, BaseEstimator):
    """Base of the analyses of many columns: `fit` sets ``decomposition_`` and the points of rows and columns."""

    _constraints: ClassVar[Constraints]
    n_components: int | None
    missing: str
    handle_unknown: str
    decomposition_: Decomposition
    supplementary_rows_: Points | None
    _analysis: ColumnAnalysis

    @abstractmethod
    def _read_columns(self, columns: dict[Any, Any], weights: np.ndarray | None) -> ReadTable:
        """Read the active columns."""

    @abstractmethod
    def _read_source(self, X: Any, supplementary: Iterable[Any] | None) -> ReadSource:
        """Read the active columns of a table that is not in memory."""

    @abstractmethod
    def _set_results(self, analysis: ColumnAnalysis) -> None:
        """Set everything that users read, except for the rows."""

    @abstractmethod
    def _make_blocks(self, features: ManyColumns, moments: FeatureMoments) -> list[ColumnBlock]:
        """Return the columns with their weights, and the answers that are kept."""

    @abstractmethod
    def _make_supplementary_points(self, labels: np.ndarray, membership: np.ndarray) -> Points:
        """Make points of groups of rows, whose masses are in the rows of `membership`."""

    @property
    @abstractmethod
    def _row_divisor(self) -> float:
        """The number by which squared distances of rows are divided: that of the columns, or 1."""

    @property
    def pics_(self) -> np.ndarray:
        """The weighted mean over the columns of their squared multiple correlations with each axis."""
        check_is_fitted(self)
        return self.decomposition_.pics

    @property
    def correlations_(self) -> np.ndarray:
        """The roots of ``pics_``."""
        check_is_fitted(self)
        return self.decomposition_.correlations

    def fit(
        self,
        X: Any,
        Y: None = None,
        *,
        sample_weight: Any = None,
        supplementary: Iterable[Any] | None = None,
        supplementary_rows: Any = None,
        subpopulation: Any = None,
    ) -> Self:
        """Analyse the columns of a table.

        Parameters
        ----------
        X : frame, array-like of shape (n, k), path, glob or lazy frame
            The table has one row for each observation, such as a person, and one column for each variable. Tables in
            files, or of an engine, are read where they are.
        Y : None
            It is ignored; scikit-learn gives it.
        sample_weight : array-like of shape (n,), optional
            The weights of the rows; a row of weight 0 takes no part, but has a place.
        supplementary : sequence of names, optional
            These columns take no part in the fit; they are placed afterwards.
        supplementary_rows : array-like of int or bool, optional
            The positions of rows that take no part in the fit, or a mask; they are placed afterwards.
        subpopulation : array-like of int or bool, optional
            The positions of rows, or a mask: only these are analysed, in the space of all rows (class-specific
            analysis), that is with the distances that the shares of all rows give.

        Returns
        -------
        Self
            The estimator itself.
        """
        before = self.__dict__.copy()
        try:
            check_parameters(self)
            self.__dict__ = {name: value for name, value in before.items() if not name.endswith("_")}
            if is_source(X):
                self._fit_source(X, sample_weight, supplementary, supplementary_rows, subpopulation)
            else:
                self._fit_memory(X, sample_weight, supplementary, supplementary_rows, subpopulation)
        except BaseException:  # a fit that fails leaves everything as it was
            self.__dict__ = before
            raise
        return self

    def _fit_memory(
        self, X: Any, sample_weight: Any, supplementary: Any, supplementary_rows: Any, subpopulation: Any
    ) -> None:
        active, others = select_columns(X, supplementary)
        names = name_rows(X)
        n = len(names)
        if n < 2:
            raise ValueError(f"X must have at least two rows, got {n}.")
        weights = None if sample_weight is None else check_weights(sample_weight, n, "sample_weight")
        kept = find_active_rows(supplementary_rows, n)
        if len(kept) < n:
            active = {key: column[kept] for key, column in active.items()}
        table = self._read_columns(active, None if weights is None else weights[kept])
        rows = kept[table.rows]
        self._row_names = names[rows]
        self._remember_names(list(active))
        own = table.features.weigh_rows(table.arrays, None if weights is None else weights[rows])
        features = self._learn_gaps(table.features, table.arrays, own) if self.missing == "impute" else table.features
        analysis = self._analyse_rows(features, table.arrays, own)
        if subpopulation is not None:
            chosen = np.flatnonzero(np.isin(rows, find_rows(subpopulation, n, "subpopulation")))
            if len(chosen) < 2:
                raise ValueError(f"subpopulation must have at least two rows of the fit, got {len(chosen)}.")
            analysis, rows = analysis.take_subpopulation(chosen), rows[chosen]
            self._row_names = names[rows]
        self._row_positions, self._n_rows_given = rows, n
        self._finish_fit(analysis)
        self._place_supplementary(X, {key: column[rows] for key, column in others.items()}, names, kept)

    def _learn_gaps(self, features: ManyColumns, arrays: list[np.ndarray], weights: np.ndarray | None) -> ManyColumns:
        """Return features that fill in missing values."""
        if features.width > MAX_MOMENTS:
            raise ValueError(
                f'missing must not be "impute" for more than {MAX_MOMENTS} answers, got {features.width}. '
                'Choose "indicator", "average" or "passive".'
            )
        found = fit_gap_filler(features, arrays, weights)
        self.n_axes_imputed_, self.imputing_errors_ = found.filler.n_axes, found.errors
        return replace(features, filler=found.filler)

    def _place_supplementary(self, X: Any, others: dict[Any, Any], names: np.ndarray, kept: np.ndarray) -> None:
        self._supplementary_data = others  # `describe_axes` tests them
        self._keep_placed(self._place_variables(others) if others else SupplementaryVariables())
        if len(kept) < len(names):
            rest = np.setdiff1d(np.arange(len(names)), kept)
            columns = split_columns(X, "X")
            arrays = [
                column.read(columns[column.name][rest], self.handle_unknown)
                for column in self._analysis.features.columns
            ]
            self.supplementary_rows_ = self._make_row_points(arrays, names[rest])

    def _keep_placed(self, placed: SupplementaryVariables) -> None:
        self.supplementary_columns_, self.supplementary_numbers_ = placed.columns, placed.numbers
        self.supplementary_eta2_, self.supplementary_vtests_ = placed.eta2, placed.vtests
        self.supplementary_rows_ = None

    def _place_variables(self, columns: dict[Any, Any]) -> SupplementaryVariables:
        return place_variables(columns, self.rows_, self._make_supplementary_points, self._n_rows)

    def _fit_source(
        self, X: Any, sample_weight: Any, supplementary: Any, supplementary_rows: Any, subpopulation: Any
    ) -> None:
        given = {
            "sample_weight": sample_weight,
            "supplementary_rows": supplementary_rows,
            "subpopulation": subpopulation,
        }
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"{name} must be None for a table that is not in memory. Read the table first.")
        self._supplementary_data = {}
        read = self._read_source(X, supplementary)
        self._fit_moments(read.features, read.moments)
        self._keep_placed(SupplementaryVariables())

    def _remember_names(self, names: list[Any]) -> None:
        self.n_features_in_ = len(names)
        if all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)

    def _analyse_rows(
        self, features: ManyColumns, arrays: list[np.ndarray], weights: np.ndarray | None
    ) -> ColumnAnalysis:
        self._choose_smoothness(features, arrays, weights)
        if features.width > MAX_MOMENTS:
            moments = compute_sparse_moments(features.expand_sparsely(arrays), weights)
        else:
            moments = freeze_moments(compute_feature_moments(features, arrays, weights))
        return replace(self._find_axes(features, moments), arrays=arrays, weights=weights)

    def _find_axes(self, features: ManyColumns, moments: FeatureMoments) -> ColumnAnalysis:
        blocks = leave_out_unseen(self._make_blocks(features, moments), moments)
        whitening = whiten_blocks(moments, blocks)
        if isinstance(moments.cov, SparseCovariance):
            axes = find_sparse_block_axes(moments, whitening, self.n_components or DEFAULT_COMPONENTS)
        else:
            axes = order_axes(moments, whitening, blocks, find_block_axes(moments, whitening, None))
        return ColumnAnalysis(features, blocks, moments, whitening, axes)

    def _finish_fit(self, analysis: ColumnAnalysis) -> None:
        """Choose signs, keep the axes asked for, and set the results."""
        axes, features = analysis.axes, analysis.features
        scale = np.sqrt(np.maximum(analysis.moments.cov.diagonal(), 1e-300))
        loadings = axes.covariance / np.sqrt(np.maximum(analysis.moments.mean, 0) + 1e-300)[:, None]
        is_label = np.concatenate([np.full(block.width, block.kind == "labels") for block in analysis.blocks])
        loadings = np.where(is_label[:, None], loadings, axes.covariance / scale[:, None])
        axes = axes.fix_signs(loadings, features.list_labels())
        self._analysis = replace(analysis, axes=axes)
        self._set_results(self._analysis)
        self.__dict__.pop("rows_", None)

    def _warn_of_fewer(self, available: int) -> None:
        if self.n_components is not None and self.n_components > available:
            warnings.warn(
                f"There are only {available} axes, fewer than n_components = {self.n_components}.",
                FewerComponents,
                stacklevel=find_user_stacklevel(),
            )

    def _make_decomposition(self, columns: Points, eigenvalues: np.ndarray, total: float) -> Decomposition:
        """Make the decomposition whose f are the scores of rows, and g the standard coordinates of the columns."""
        analysis, d = self._analysis, len(eigenvalues)
        f = LinearFunctions(analysis.axes.mean, analysis.axes.weights[:, :d], analysis.features)
        g = LabelFunctions(columns.labels, columns.standard[:, :d], columns.mass)
        return Decomposition(eigenvalues, f, g, chi2=total, n=analysis.moments.n)

    @cached_property
    def rows_(self) -> Points:
        """The rows as points: their standard coordinates are the scores, with variance 1."""
        check_is_fitted(self)
        if self._analysis.arrays is None:
            raise ValueError("rows_ must be computed in memory, but X is a source. Call transform with some rows.")
        points = self._make_row_points(self._analysis.arrays, self._row_names)
        n = len(points.labels)
        weights = np.ones(n) if self._analysis.weights is None else self._analysis.weights
        mass = weights / weights.sum()
        return replace(points, mass=mass, inertia=mass * points.chi2_distance**2)

    def _make_row_points(self, arrays: list[np.ndarray], names: np.ndarray) -> Points:
        scores, squares = self._analysis.describe_rows(arrays)
        unknown = np.full(len(names), np.nan)
        return Points(names, unknown, np.sqrt(squares / self._row_divisor), unknown, scores, self._row_correlations)

    @property
    def _row_correlations(self) -> np.ndarray:
        return self.correlations_

    @property
    def vtests_(self) -> np.ndarray:
        """How many standard deviations the mean score of each answer lies from 0, if its rows were drawn at random."""
        check_is_fitted(self)
        points: Points = self.columns_
        means = points.standard if isinstance(points, CategoryMeans) else points.standard * self.correlations_
        own = find_label_features(self._analysis.blocks)
        share = self._analysis.moments.mean[own]
        is_ordered = self._analysis.axes.quantified is not None  # and the values of answers are not their means
        if self._analysis.is_subpopulation or is_ordered:  # whose answers lie at their mean times their share in all
            share = self._analysis.axes.mean[own]
            means = divide_by_share(self._analysis.axes.covariance[own], share)
        return compute_vtests(means, share, self._n_rows)

    @property
    def _n_rows(self) -> float:
        """The total weight of the rows; if weights sum to 1, which does not say how many there are, their number."""
        analysis = self._analysis
        n = analysis.moments.n
        return len(analysis.arrays[0]) if n <= 1 and analysis.arrays is not None else n

    def transform(self, X: Any) -> np.ndarray:
        """Compute the scores of rows.

        Parameters
        ----------
        X : frame, array-like of shape (n, k), path, glob or lazy frame
            The table has the active columns of the fit; a frame may have others.

        Returns
        -------
        ndarray of shape (n, d)
            The scores have variance 1 on the rows of the fit. `supplementary` returns principal coordinates too.
        """
        check_is_fitted(self)
        features = self._analysis.features
        if not is_source(X):
            return self._analysis.describe_rows(features.read(X))[0]
        names, f = [column.name for column in features.columns], self.decomposition_.f
        pairs = Pairs(X.source if isinstance(X, Pairs) else X, x=names, y=names[0])
        return np.vstack(pairs.each(lambda x, y: f(x)))

    def supplementary(self, rows: Any = None, *, columns: Any = None) -> Any:
        """Place rows or columns that took no part in the fit.

        Parameters
        ----------
        rows : frame or array-like of shape (m, k), optional
            New rows with the active columns of the fit.
        columns : frame or array-like with the rows of the fit, optional
            Answers and numbers of the rows: answers are placed at the mean of their rows, numbers by their
            correlations with the axes.

        Returns
        -------
        Points, or SupplementaryVariables for `columns`; both, in this order, if both are given
            Mass, inertia and contributions are NaN.
        """
        check_is_fitted(self)
        placed: list[Any] = []
        if rows is not None:
            placed.append(self._make_row_points(self._analysis.features.read(rows, "rows"), name_rows(rows)))
        if columns is not None:
            given = split_columns(columns, "columns")
            active = [column.name for column in self._analysis.features.columns if column.name in given]
            if active and all(isinstance(name, str) for name in active):
                raise ValueError(f"columns must not be active already, got {list_names(active, 5)}. Leave them out.")
            n, m = len(next(iter(given.values()))), len(self.rows_)
            if n != m:
                raise ValueError(f"columns must have the {m} rows of the fit, got {n}.")
            placed.append(self._place_variables(given))
        if not placed:
            raise ValueError("rows or columns must be given, got neither.")
        return placed[0] if len(placed) == 1 else tuple(placed)

    def impute(self, X: Any) -> Any:
        """Fill in the missing values of a table, after a fit with ``missing="impute"``.

        Parameters
        ----------
        X : frame or array-like of shape (n, k)
            The rows of the fit, or new ones. Other columns stay as they are.

        Returns
        -------
        frame or ndarray
            A table of the same library and with the same types, in which the most probable answers and the expected
            numbers stand in the gaps. In a column of whole numbers they are rounded.

        Warns
        -----
        LeftOut
            If gaps stay: in columns that took no part in the fit, and in dates and numbers written as text.

        Examples
        --------
        >>> import polars as pl
        >>> import correspondence as co
        >>> drinks, times = ["tea", "tea", "beer", "beer", None] * 5, ["am", "am", "pm", "pm", "pm"] * 5
        >>> frame = pl.DataFrame({"drink": drinks, "time": times, "with": ["milk", "milk", "nuts", "nuts", "nuts"] * 5})
        >>> co.MCA(missing="impute").fit(frame).impute(frame)["drink"][:5].to_list()
        ['tea', 'tea', 'beer', 'beer', 'beer']
        """
        check_is_fitted(self)
        if self._analysis.features.filler is None:
            raise ValueError(f'missing must be "impute" in the fit, got {self.missing!r}. Fit again with it.')
        return complete_table(self._analysis.features, X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the columns of ``transform``: z1, z2, ...

        Parameters
        ----------
        input_features : None
            It is ignored; scikit-learn gives it.

        Returns
        -------
        ndarray of str
            One name for each axis.
        """
        check_is_fitted(self)
        return np.array([f"z{i + 1}" for i in range(len(self.pics_))], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "decomposition_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing not in ("error", "drop")
        return tags
