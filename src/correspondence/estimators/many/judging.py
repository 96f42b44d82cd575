"""How far an analysis of many columns can be trusted: prediction of held-out rows, and ellipses of answers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from correspondence._util.arguments import check_seed, check_weights, check_whole
from correspondence._util.constraints import check_parameter, check_parameters
from correspondence._util.labels import to_object_array
from correspondence._util.progress import make_progress_bar
from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.core.column_features import LabelColumn, ManyColumns
from correspondence.core.column_permutations import PermutableColumns
from correspondence.core.feature_moments import compute_feature_moments, freeze_moments
from correspondence.core.left_out_columns import ColumnErrors, measure_left_out, select_own_whitening
from correspondence.core.moments import Moments
from correspondence.data.pairs.pairs import is_source
from correspondence.estimators.ca.bootstrap import ALIGNMENT_FUNCTIONS, PointSpread
from correspondence.estimators.many.reading import ReadTable, select_columns, warn_of_left_out
from correspondence.results.column_evidence import ColumnsHeldOut
from correspondence.results.points import Bootstrap

__all__ = ["JudgedColumns"]

MAX_FEATURES = 3000  # of which the matrix of moments is computed again and again


class JudgedColumns:
    """What analyses of many columns offer to judge them; `validation` uses the methods with an underscore."""

    _takes_columns: ClassVar[bool] = True
    _analysis: Any
    _read_columns: Any
    _find_axes: Any
    _finish_fit: Any
    _remember_names: Any
    columns_: Any
    pics_: Any
    missing: str

    def evaluate(self, X: Any, *, sample_weight: Any = None) -> ColumnsHeldOut:
        """Measure how much of each column the other columns predict, ideally on rows not used in the fit.

        Each column is left out in turn: the scores of a row are computed from its other answers, and the column is
        predicted from the first 1, 2, ... of them, by a regression on the rows of the fit.

        Parameters
        ----------
        X : frame or array-like of shape (n, k)
            The rows, in memory, with the active columns of the fit. Rows with missing answers are left out if
            ``missing="drop"``, and refused if it is "error"; rows with unknown answers are left out if
            ``handle_unknown="nan"``. Otherwise such answers count as they do in `transform`, except that imputed ones
            are averages: filled in by the other columns, they would be predicted by them.
        sample_weight : array-like of shape (n,), optional
            The weights of the rows.

        Returns
        -------
        ColumnsHeldOut
            The shares that are predicted, beside those of the training rows; print it for a table.

        Examples
        --------
        >>> import numpy as np
        >>> import correspondence as co
        >>> rng = np.random.default_rng(0)
        >>> hidden = rng.integers(2, size=(500, 1))
        >>> X = np.where(rng.random((500, 5)) < 0.8, hidden, 1 - hidden).astype(str)
        >>> co.MCA(n_components=1).fit(X[:400]).evaluate(X[400:]).mean.round(2)
        array([0.22])
        """
        check_is_fitted(self)
        if is_source(X):
            raise ValueError("X must be in memory to be evaluated, got a source. Read some rows of it.")
        _check_width(self._analysis.features)
        arrays = self._analysis.features.read(X)
        weights = None if sample_weight is None else check_weights(sample_weight, len(arrays[0]), "sample_weight")
        kept = self._find_judged_rows(arrays)
        if len(kept) < len(arrays[0]):
            arrays = [values[kept] for values in arrays]
            weights = None if weights is None else weights[kept]
        features = _leave_gaps(self._analysis.features)
        moments = compute_feature_moments(features, arrays, features.weigh_rows(arrays, weights))
        names = to_object_array([block.name for block in self._analysis.blocks])
        training = self._measure_left_out(None)
        return ColumnsHeldOut(names, self._measure_left_out(moments).r2, training.r2, moments.n)

    def _find_judged_rows(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Return the positions of the rows that can be judged; say how many cannot."""
        is_unknown = self._analysis.features.find_unknown(arrays)
        is_missing = ~self._analysis.features.find_given(arrays).all(axis=1) & ~is_unknown
        if self.missing == "error" and is_missing.any():
            raise ValueError(
                f'X must have no missing values if missing="error", got some in {int(is_missing.sum())} row(s).'
            )
        gone = is_unknown | is_missing if self.missing == "drop" else is_unknown
        if gone.all():
            raise ValueError("X must have rows without missing or unknown values to be evaluated, got none.")
        if gone.any():
            warn_of_left_out(f"{int(gone.sum()):,} of {len(gone):,} rows are left out: missing or unknown values.")
        return np.flatnonzero(~gone)

    def _measure_left_out(self, moments: Moments | None) -> ColumnErrors:
        """Measure the errors on rows with these moments, or on the rows of the fit."""
        fit, training = self._analysis, self._analysis.moments
        if fit.features.filler is not None:
            training = freeze_moments(compute_feature_moments(_leave_gaps(fit.features), fit.arrays, fit.weights))
        test = training if moments is None else freeze_moments(moments)
        return measure_left_out(training, test, fit.whitening, fit.blocks, fit.axes.truncate(len(self.pics_)))

    def _read_table(self, X: Any) -> ReadTable:
        """Read the columns of a table in memory, without a fit."""
        check_parameters(self)
        table = self._read_columns(select_columns(X, None)[0], None)
        _check_width(table.features)
        return table

    def _view_columns(self, arrays: Sequence[np.ndarray]) -> PermutableColumns:
        """Compute whitened features of rows in which each column can be permuted: a gap has features of 0."""
        columns = [
            replace(column, is_passive=False) if isinstance(column, LabelColumn) else column
            for column in self._analysis.features.columns
        ]
        features = ManyColumns(tuple(columns)).expand(arrays) - self._analysis.moments.mean
        given = self._analysis.features.find_given(arrays)
        whitened = [
            features[:, b.features] @ select_own_whitening(self._analysis.whitening, b) for b in self._analysis.blocks
        ]
        return PermutableColumns.from_features(
            [own * known[:, None] for own, known in zip(whitened, given.T, strict=True)], given
        )

    def _choose_smoothness(self, features: ManyColumns, arrays: list[np.ndarray], weights: np.ndarray | None) -> None:
        """Set what is chosen by rows, before a fit to their moments; by default nothing."""

    def _fit_moments(self, features: ManyColumns, moments: Moments) -> Self:
        """Fit to the moments of rows, which have no places then."""
        self._remember_names([column.name for column in features.columns])
        self._finish_fit(self._find_axes(features, freeze_moments(moments)))
        return self

    def bootstrap(
        self,
        n_resamples: int = 100,
        *,
        n_components: int = 2,
        align: str = "signs",
        random_state: Any = None,
        progress: bool | None = None,
    ) -> Bootstrap:
        """Estimate how much the answers would move if other people had been asked.

        Rows are drawn again, with replacement, each with its weight; the table is analysed and laid on to the original
        points.

        Parameters
        ----------
        n_resamples : int
            The number of tables to draw.
        n_components : int
            The number of leading axes to keep.
        align : {"signs", "rotation"}
            How resamples are laid on to the original points: by reflecting the axes, or by turning the whole space
            of the `n_components` axes; see ``CA.bootstrap``.
        random_state : int, Generator or None
            Give a number to get the same result again.
        progress : bool, optional
            Show a progress bar; by default if it takes longer than two seconds.

        Returns
        -------
        Bootstrap
            The covariances of the answers, and confidence ellipses that `plot.plane` can draw; rows have none.

        Examples
        --------
        >>> import numpy as np
        >>> import correspondence as co
        >>> rng = np.random.default_rng(0)
        >>> hidden = rng.integers(3, size=(300, 1))
        >>> X = np.where(rng.random((300, 4)) < 0.7, hidden, rng.integers(3, size=(300, 4))).astype(str)
        >>> co.MCA(n_components=2).fit(X).bootstrap(50, random_state=0)
        Bootstrap of 0 rows and 12 columns on 2 axes, 50 resamples
        """
        check_is_fitted(self)
        check_whole(n_resamples, "n_resamples", 3)
        check_parameter(align, "align", tuple(ALIGNMENT_FUNCTIONS))
        arrays, features, rng = self._analysis.arrays, self._analysis.features, check_seed(random_state)
        _check_width(features)
        if self._analysis.is_subpopulation:
            raise ValueError("bootstrap must have a fit to all rows, got one to a subpopulation.")
        if arrays is None:
            raise ValueError("bootstrap must have the rows in memory, but X is a source. Fit to some rows of it.")
        k = min(check_whole(n_components, "n_components", 1), self.columns_.principal.shape[1])
        spread, n = PointSpread(self.columns_.principal[:, :k]), len(arrays[0])
        weights = np.ones(n) if self._analysis.weights is None else self._analysis.weights
        with make_progress_bar(n_resamples, "bootstrap", progress) as done:
            for _ in range(n_resamples):
                drawn = weights * np.bincount(rng.integers(n, size=n), minlength=n)
                moments = compute_feature_moments(features, arrays, drawn)
                spread.add_points(
                    ALIGNMENT_FUNCTIONS[align](self._refit_points(moments, k), spread.target, self.columns_.mass)
                )
                done.update()
        none = np.empty((0, k, k))
        return Bootstrap(none, spread.compute_covariance(), n_resamples, np.empty(0), spread.count, align)

    def _refit_points(self, moments: Moments, k: int) -> np.ndarray:
        """Return the principal coordinates of the answers in a fit to other moments; NaN for those that it lacks."""
        refit = copy(self)  # with what was chosen by rows
        points = np.full((len(self.columns_), k), np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CorrespondenceWarning)  # fewer axes, or answers that were not drawn
            try:
                refit._fit_moments(self._analysis.features, moments)
            except ValueError:  # the rare answers of the analysis were not drawn
                return points
        place = {label: i for i, label in enumerate(self.columns_.labels)}
        found = refit.columns_.principal[:, :k]
        for label, own in zip(refit.columns_.labels, found, strict=True):
            if label in place:
                points[place[label]] = np.pad(own, (0, k - len(own)))
        return points


def _leave_gaps(features: ManyColumns) -> ManyColumns:
    """Return features in which gaps are averages: filled in by the other columns, they would be predicted by them."""
    return replace(features, filler=None)


def _check_width(features: ManyColumns) -> None:
    if features.width > MAX_FEATURES:
        raise ValueError(
            f"X must have at most {MAX_FEATURES:,} answers in all columns to be judged by moments, "
            f"got {features.width:,}. Leave out the columns with most answers."
        )
