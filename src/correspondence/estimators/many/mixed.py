"""Columns of numbers and answers in one analysis: factor analysis of mixed data, and its relatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from correspondence._util.constraints import Constraints, Whole
from correspondence._util.labels import to_object_array
from correspondence.core.column_blocks import ColumnBlock, FeatureMoments
from correspondence.core.column_features import ManyColumns
from correspondence.core.feature_moments import compute_feature_moments, freeze_moments
from correspondence.estimators.many.analysis import ColumnAnalysis
from correspondence.estimators.many.base import ManyColumnsEstimator
from correspondence.estimators.many.conventions import compute_eta2, find_label_features
from correspondence.estimators.many.groups import GroupedColumns, find_group_axes, relate_groups
from correspondence.estimators.many.mixed_sources import read_mixed_source
from correspondence.estimators.many.reading import ReadTable, read_mixed
from correspondence.estimators.many.smoothing import add_curves, choose_smoothing, penalise_blocks
from correspondence.estimators.many.sources import ReadSource
from correspondence.results.points import ActiveNumbers, CategoryMeans, Points

__all__ = ["MixedCA"]


class MixedCA(ManyColumnsEstimator):
    """Analysis of many columns of numbers and answers: the scores that all of them explain best.

    Of numbers only it is principal component analysis, of numbers and answers factor analysis of mixed data (FAMD), and
    with groups of columns multiple factor analysis (MFA). `MCA` is for answers only.

    Parameters
    ----------
    n_components : int, optional
        The number of axes; by default all.
    numeric : {"linear", "smooth"}
        "linear" takes numbers as they are. "smooth" lets them bend: each is replaced by the smooth function of it that
        goes best with the other columns, and how smooth is chosen on held-out rows.
    groups : dict, optional
        The name of a group leads to the names of its columns. Each group counts as much as any other, however many
        columns it has: its columns are divided by the largest inertia of its own analysis. Every active column must be
        in one group; a group of supplementary columns is supplementary.
    standardize : bool or sequence of names
        Whether numbers are divided by their standard deviations, or the names of those that are.
    missing : {"indicator", "average", "impute", "drop", "error"}
        "indicator" makes missing answers of a column an answer of their own, "average" takes the average of the others;
        a missing number is the mean of the others by both. "impute" fills in both by an iterative analysis, "drop"
        leaves out the rows, and "error" refuses them.
    handle_unknown : {"error", "nan", "missing"}
        What `transform` does with an answer that was not in the fit.
    random_state : int
        The seed of the folds on which "smooth" chooses.

    Attributes
    ----------
    inertias_, shares_ : ndarray of shape (d,)
        The sums over the columns of their squared (multiple) correlations with each axis, times the weights of the
        columns, and their shares in the total.
    rows_ : Points
        The rows; their principal coordinates have the variances ``inertias_``.
    columns_ : CategoryMeans
        The answers, called ``column:answer``, at the mean of their rows.
    numbers_ : ActiveNumbers
        The correlations of the numbers with the axes, and their contributions.
    eta2_ : ndarray of shape (k, d)
        The squared correlation (ratio) of each column with each axis.
    variables_ : ndarray of shape (k,)
        The names of the columns.
    groups_ : GroupRelations
        With `groups`: how groups go with the axes and with each other.
    partial_rows_ : dict
        With `groups`: the name of a group leads to the principal coordinates of the rows as this group sees them.
    supplementary_rows_, supplementary_columns_, supplementary_numbers_, supplementary_vtests_
        What was named as supplementary in the fit, and the v-tests of its answers.
    smoothing_ : float
        With "smooth": the strength of the penalty that was chosen.

    Examples
    --------
    >>> import correspondence as co
    >>> from sklearn.datasets import load_iris
    >>> frame = load_iris(as_frame=True).frame
    >>> frame["target"] = frame["target"].map({0: "setosa", 1: "versicolor", 2: "virginica"})
    >>> mixed = co.MixedCA(n_components=2).fit(frame)
    >>> mixed.inertias_.round(3)
    array([3.87 , 1.342])
    >>> mixed.numbers_.labels.tolist()[2], mixed.numbers_.correlations[2].round(2)
    ('petal length (cm)', array([0.99, 0.04]))
    """

    _constraints: ClassVar[Constraints] = {
        "n_components": (None, Whole(1)),
        "numeric": ("linear", "smooth"),
        "missing": ("indicator", "average", "impute", "drop", "error"),
        "handle_unknown": ("error", "nan", "missing"),
        "random_state": Whole(0, 2**32 - 1),
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        numeric: str = "linear",
        groups: Mapping[str, Sequence[Any]] | None = None,
        standardize: bool | Sequence[Any] = True,
        missing: str = "indicator",
        handle_unknown: str = "error",
        random_state: int = 0,
    ) -> None:
        self.n_components = n_components
        self.numeric = numeric
        self.groups = groups
        self.standardize = standardize
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.random_state = random_state

    def _read_columns(self, columns: dict[Any, Any], weights: np.ndarray | None) -> ReadTable:
        table = read_mixed(columns, self.missing, self.handle_unknown, weights)
        return add_curves(table) if self.numeric == "smooth" else table

    def _read_source(self, X: Any, supplementary: Iterable[Any] | None) -> ReadSource:
        if self.numeric == "smooth":
            raise ValueError(
                'numeric must be "linear" for a table that is not in memory, got "smooth". Read some rows of it first.'
            )
        return read_mixed_source(X, supplementary, self.missing, self.handle_unknown)

    def _fit_source(self, X: Any, *more: Any) -> None:
        super()._fit_source(X, *more)
        if self.groups is not None:
            self._relate_groups({})

    @property
    def _row_divisor(self) -> float:
        return 1.0

    @property
    def _row_correlations(self) -> np.ndarray:
        return np.sqrt(self.inertias_)

    def _make_blocks(self, features: ManyColumns, moments: FeatureMoments) -> list[ColumnBlock]:
        blocks = [self._weigh_number(block, moments) for block in features.blocks]
        if self.numeric == "smooth":
            blocks = penalise_blocks(features, blocks, moments, self.smoothing_)
        if self.groups is None:
            return blocks
        return GroupedColumns.from_names(self.groups, [block.name for block in blocks]).balance(blocks, moments)

    def _weigh_number(self, block: ColumnBlock, moments: FeatureMoments) -> ColumnBlock:
        """Give a number that is not standardised its variance as a weight."""
        if block.kind != "number" or self._is_standardised(block.name):
            return block
        return replace(block, weight=float(moments.cov[block.features, block.features][0, 0]))

    def _is_standardised(self, name: Any) -> bool:
        return self.standardize if isinstance(self.standardize, bool) else name in set(self.standardize)

    def _choose_smoothness(self, features: ManyColumns, arrays: list[np.ndarray], weights: np.ndarray | None) -> None:
        if self.numeric == "smooth":
            self.smoothing_ = choose_smoothing(features, arrays, weights, self.n_components, self.random_state)

    def _set_results(self, analysis: ColumnAnalysis) -> None:
        available = len(analysis.axes.eigenvalues)
        self._warn_of_fewer(available)
        axes = analysis.axes.truncate(available if self.n_components is None else min(self.n_components, available))
        self._analysis = analysis = replace(analysis, axes=axes)
        moments, blocks = analysis.moments, analysis.blocks
        self.inertias_, self.total_inertia_ = axes.eigenvalues, axes.total
        self.shares_ = self.inertias_ / self.total_inertia_
        self.variables_ = to_object_array([block.name for block in blocks])
        self.eta2_ = compute_eta2(axes, moments, blocks)
        self.columns_ = self._make_category_means()
        self.numbers_ = self._make_numbers()
        total = sum(block.weight for block in blocks)
        points = self._list_all_columns(total)
        self.decomposition_ = self._make_decomposition(points, axes.eigenvalues / total, axes.total / total)

    def _make_category_means(self) -> CategoryMeans:
        moments, blocks, axes = self._analysis.moments, self._analysis.blocks, self._analysis.axes
        labels = find_label_features(blocks)
        owner = np.concatenate([np.full(block.width, block.weight) for block in blocks])[labels]
        share = moments.mean[labels]
        means = axes.covariance[labels] / share[:, None]
        # The mean of the whitened features over the rows with an answer is its covariance with them, by its share.
        squares = ((moments.cov[labels] @ self._analysis.whitening / share[:, None]) ** 2).sum(axis=1)
        names = self._analysis.features.list_labels()[labels]
        correlations = np.sqrt(axes.eigenvalues)
        return CategoryMeans(names, owner * share, np.sqrt(squares), owner * (1 - share), means, correlations)

    def _make_numbers(self) -> ActiveNumbers:
        moments, axes = self._analysis.moments, self._analysis.axes
        numbers = [(j, block) for j, block in enumerate(self._analysis.blocks) if block.kind != "labels"]
        weights = np.array([block.weight for _, block in numbers])
        positions = [j for j, _ in numbers]
        deviations, covariance = np.empty(len(numbers)), np.empty((len(numbers), len(axes.eigenvalues)))
        for i, (j, block) in enumerate(numbers):
            own = self._analysis.features.columns[j].number_weights  # type: ignore[attr-defined]
            deviations[i] = np.sqrt(own @ moments.cov[block.features, block.features] @ own)
            covariance[i] = own @ axes.covariance[block.features]
        correlations = covariance / deviations[:, None]
        contributions = weights[:, None] * self.eta2_[positions] / axes.eigenvalues
        is_standardised = np.array([self._is_standardised(block.name) for _, block in numbers], dtype=bool)
        scales = np.where(is_standardised, 1.0, deviations)
        names = to_object_array([block.name for _, block in numbers])
        return ActiveNumbers(names, correlations, contributions, scales)

    def _list_all_columns(self, total: float) -> Points:
        """List answers and numbers as points whose contributions sum to 1, for the decomposition."""
        pics = self.inertias_ / total
        answers, numbers = self.columns_, self.numbers_
        weights = np.array([block.weight for block in self._analysis.blocks if block.kind != "labels"])
        standard = np.vstack([answers.standard, numbers.correlations]) / np.sqrt(pics)
        mass = np.concatenate([answers.mass, weights]) / total
        labels = to_object_array([*answers.labels, *(str(label) for label in numbers.labels)])
        distance = np.concatenate([answers.chi2_distance, np.ones(len(weights))])
        return Points(labels, mass, distance, mass * distance**2, standard, np.sqrt(pics))

    def _make_supplementary_points(self, labels: np.ndarray, membership: np.ndarray) -> Points:
        share = membership.sum(axis=1)
        means = membership @ self.rows_.standard / share[:, None]
        distance = np.sqrt(self._analysis.measure_means(membership))
        unknown = np.full(len(labels), np.nan)
        return CategoryMeans(labels, unknown, distance, unknown, means, np.sqrt(self.inertias_))

    def _place_supplementary(self, X: Any, others: dict[Any, Any], names: np.ndarray, kept: np.ndarray) -> None:
        super()._place_supplementary(X, others, names, kept)
        if self.groups is not None:
            self._relate_groups(others)

    def _relate_groups(self, others: dict[Any, Any]) -> None:
        """Relate active groups, and those of supplementary columns, to the axes and to each other."""
        analysis = self._analysis
        members = {name for own in (self.groups or {}).values() for name in ([own] if isinstance(own, str) else own)}
        wanted = {name: column for name, column in others.items() if name in members}
        features, moments, blocks = analysis.features, analysis.moments, analysis.blocks
        if wanted:
            assert analysis.arrays is not None
            table = read_mixed(wanted, "average", "missing", analysis.weights, min_columns=1)
            features = replace(features, columns=(*features.columns, *table.features.columns))
            arrays = [*analysis.arrays, *table.arrays]
            moments = freeze_moments(compute_feature_moments(features, arrays, analysis.weights))
            passive = [self._weigh_number(block, moments) for block in features.blocks[len(blocks) :]]
            own = [block.name for block in passive]
            blocks = [*blocks, *GroupedColumns.from_names(self.groups, own).balance(passive, moments)]
        grouped = GroupedColumns.from_names(self.groups, [block.name for block in blocks])
        active = [
            _is_active(own, len(analysis.blocks), name) for name, own in zip(*vars(grouped).values(), strict=True)
        ]
        weights = np.vstack(
            [analysis.axes.weights, np.zeros((features.width - len(analysis.axes.mean), len(self.pics_)))]
        )
        self.groups_ = relate_groups(grouped, active, blocks, moments, weights, self.inertias_)

    @cached_property
    def partial_rows_(self) -> dict[str, np.ndarray]:
        """The principal coordinates of the rows as each active group sees them; their mean is the row itself."""
        check_is_fitted(self)
        analysis = self._analysis
        if self.groups is None or analysis.arrays is None:
            raise AttributeError("partial_rows_ is there only for groups of columns of a table in memory.")
        grouped = GroupedColumns.from_names(self.groups, [block.name for block in analysis.blocks])
        covariance, found = analysis.axes.covariance, {}
        for name, own in zip(grouped.names, grouped.positions, strict=True):
            _, W = find_group_axes([analysis.blocks[j] for j in own], analysis.moments)
            direction = len(grouped.names) * (W @ (W.T @ covariance)) / np.sqrt(self.inertias_)
            parts = [
                (block - analysis.axes.mean) @ direction
                for _, block in analysis.features.iterate_features(analysis.arrays)
            ]
            found[name] = np.vstack(parts)
        return found


def _is_active(columns: np.ndarray, n_active: int, name: str) -> bool:
    """Say whether the columns of a group are active; all of them must be, or none."""
    is_active = columns < n_active
    if is_active.any() and not is_active.all():
        raise ValueError(f"groups must be active or supplementary as a whole, but {name!r} has columns of both kinds.")
    return bool(is_active.all())
