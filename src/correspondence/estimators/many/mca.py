"""Multiple correspondence analysis: many columns of answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from correspondence._util.constraints import Constraints, Real, Whole
from correspondence._util.labels import to_object_array
from correspondence._util.text import list_names, short_repr
from correspondence.core.column_blocks import ColumnBlock, FeatureMoments
from correspondence.core.column_features import ManyColumns
from correspondence.core.sparse_moments import SparseCovariance
from correspondence.estimators.many.analysis import ColumnAnalysis
from correspondence.estimators.many.base import ManyColumnsEstimator
from correspondence.estimators.many.conventions import apply_convention, compute_eta2
from correspondence.estimators.many.ordering import check_ordered, find_orders, mark_ordered_blocks
from correspondence.estimators.many.reading import ReadTable, list_given_names, read_labels, warn_of_left_out
from correspondence.estimators.many.sources import ReadSource, read_source
from correspondence.results.points import Points

__all__ = ["MCA"]

MISSING_ANSWER_POLICIES = ("indicator", "average", "passive", "impute", "drop", "error")


class MCA(ManyColumnsEstimator):
    """Multiple correspondence analysis: the scores that many columns of answers explain best.

    Parameters
    ----------
    n_components : int, optional
        The number of axes; by default all, or ten of more than 3,000 answers, which are analysed as sparse rows.
    correction : {"indicator", "burt", "adjusted", "joint"}
        The convention by which inertias, and with them the principal coordinates of the columns, are given. "indicator"
        is the analysis of the indicator table. "burt" is that of the table of all pairs of columns, with squared
        inertias. "adjusted" leaves out what each column explains of itself (Greenacre); its shares need not add up to
        100 %. "joint" fits the tables of different columns only, with `n_components` axes (2 by default).
    exclude : sequence of str, optional
        Answers such as ``"drink:tea"`` that take no part (specific analysis); the others keep their masses.
    min_share : float
        Answers that fewer rows gave, as a share of all, are excluded too.
    missing : {"indicator", "average", "passive", "impute", "drop", "error"}
        "indicator" makes missing answers of a column an answer of their own, "average" takes the average of the others,
        "passive" lets only the answers of a row count that it gave, "impute" fills in answers by an iterative analysis,
        "drop" leaves out the rows, and "error" refuses them.
    ordered : "auto", None, list of names, or dict from names to levels
        Along the first axis the answers of these columns ascend or descend; later axes are free. "auto" means columns
        with a declared order (ordered categoricals of pandas, Enum of polars), None none. A dict gives the levels of
        each column, lowest first. Missing answers have no place in the order. A joint analysis takes no order, and with
        it "auto" does nothing.
    handle_unknown : {"error", "nan", "missing"}
        What `transform` does with an answer that was not in the fit: "nan" returns NaN for the row, "missing" takes
        it as a missing answer.

    Attributes
    ----------
    inertias_, shares_ : ndarray of shape (d,)
        The principal inertias and their shares in the total, by the convention of `correction`.
    total_inertia_, explained_share_ : float
        The total inertia by that convention, and the share of it that all axes explain together.
    rows_, columns_ : Points
        Coordinates, masses, contributions and qualities of the rows (by the indicator table) and of the answers, which
        are called ``column:answer``.
        Those of "joint" are `JointAnswers`, whose quality is that of all axes together.
    eta2_ : ndarray of shape (k, d)
        The squared correlation ratio of each column with each axis.
    variables_ : ndarray of shape (k,)
        The names of the columns.
    supplementary_rows_, supplementary_columns_, supplementary_numbers_ : Points or SupplementaryNumbers or None
        What was named as supplementary in the fit.
    supplementary_vtests_ : ndarray or None
        The v-tests of supplementary answers: how many standard deviations the mean score of each lies from 0.
    n_axes_imputed_, imputing_errors_ : int and ndarray
        With "impute": the number of axes that fill in missing answers, chosen by the errors of masked answers for
        0, 1, ... axes, where 1 is no better than the shares of the column. `impute` returns the completed table.
    decomposition_ : Decomposition
        The same as a correspondence analysis of the indicator table: f are the scores, g the answers.

    Examples
    --------
    >>> import correspondence as co
    >>> frame = {"drink": ["tea", "tea", "beer", "beer", "tea"], "time": ["am", "am", "pm", "pm", "pm"]}
    >>> import polars as pl
    >>> mca = co.MCA(n_components=1).fit(pl.DataFrame(frame))
    >>> mca.inertias_.round(3)
    array([0.833])
    >>> mca.columns_.labels.tolist()
    ['drink:beer', 'drink:tea', 'time:am', 'time:pm']
    """

    _constraints: ClassVar[Constraints] = {
        "n_components": (None, Whole(1)),
        "correction": ("indicator", "burt", "adjusted", "joint"),
        "min_share": Real(0, below=1),
        "missing": MISSING_ANSWER_POLICIES,
        "ordered": (None, "auto", check_ordered),
        "handle_unknown": ("error", "nan", "missing"),
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        correction: str = "indicator",
        exclude: Iterable[str] | None = None,
        min_share: float = 0.0,
        missing: str = "indicator",
        ordered: Any = "auto",
        handle_unknown: str = "error",
    ) -> None:
        self.n_components = n_components
        self.correction = correction
        self.exclude = exclude
        self.min_share = min_share
        self.missing = missing
        self.ordered = ordered
        self.handle_unknown = handle_unknown

    def _read_columns(self, columns: dict[Any, Any], weights: np.ndarray | None) -> ReadTable:
        orders = find_orders(self.ordered, list(columns))
        return read_labels(columns, self.missing, self.handle_unknown, weights, orders)

    def _read_source(self, X: Any, supplementary: Iterable[Any] | None) -> ReadSource:
        return read_source(X, supplementary, self.missing, self.handle_unknown, self.ordered)

    @property
    def _row_divisor(self) -> float:
        return len(self._analysis.blocks)

    def _make_blocks(self, features: ManyColumns, moments: FeatureMoments) -> list[ColumnBlock]:
        labels = features.list_labels()
        wanted = list_given_names(self.exclude, "exclude", "answers")
        unknown = [label for label in wanted if label not in set(labels)]
        if unknown:
            raise ValueError(
                f"exclude must name answers such as {short_repr(labels[0])}, "
                f"got {list_names(unknown, 5, show=short_repr)}. Leave out the others."
            )
        blocks = []
        for block in features.blocks:
            kept = np.array([label not in wanted for label in labels[block.features]])
            kept &= moments.mean[block.features] >= self.min_share
            blocks.append(block if kept.all() else replace(block, kept=kept))
        if sum(block.width if block.kept is None else int(block.kept.sum()) for block in blocks) < 2:
            raise ValueError("exclude and min_share must leave at least two answers, got fewer. Exclude less.")
        return self._order_blocks(blocks, features, isinstance(moments.cov, SparseCovariance))

    def _order_blocks(self, blocks: list[ColumnBlock], features: ManyColumns, is_sparse: bool) -> list[ColumnBlock]:
        """Mark ordered columns; an order that cannot be used is an error, or left out if nobody asked for it."""
        marked = mark_ordered_blocks(blocks, features.columns, self.ordered)
        if all(block.order is None for block in marked):
            return blocks
        reason = ""
        if self.correction == "joint":
            reason = 'with correction="joint"'
        elif self.correction == "adjusted" and (self.exclude is not None or self.min_share > 0):
            reason = 'with correction="adjusted" and excluded answers'
        elif is_sparse:
            reason = f"for as many as {features.width:,} answers"
        if reason and self.ordered != "auto":
            raise ValueError(f"ordered must be None {reason}, got {short_repr(self.ordered)}.")
        if reason and self.correction != "joint":  # whose docs say so
            names = [block.name for block in marked if block.order is not None]
            warn_of_left_out(f"The order of column(s) {list_names(names, 5, show=repr)} is not used {reason}.")
        return blocks if reason else marked

    def _set_results(self, analysis: ColumnAnalysis) -> None:
        moments, blocks, k = analysis.moments, analysis.blocks, len(analysis.blocks)
        labels = analysis.features.list_labels()
        if analysis.is_subpopulation and self.correction != "indicator":
            raise ValueError(f'correction must be "indicator" for a subpopulation, got {self.correction!r}.')
        found = apply_convention(self.correction, analysis.axes, moments, blocks, labels, self.n_components)
        self._warn_of_fewer(len(found.columns.correlations))
        self._analysis = replace(analysis, axes=found.axes)
        self.columns_, self.shares_, self.total_inertia_ = found.columns, found.shares, found.total
        self.inertias_ = found.columns.correlations**2
        self.explained_share_ = found.explained
        self.variables_ = to_object_array([block.name for block in blocks])
        self.eta2_ = compute_eta2(found.axes, moments, blocks)
        self.decomposition_ = self._make_decomposition(self.columns_, found.axes.eigenvalues / k, found.axes.total / k)

    def _make_supplementary_points(self, labels: np.ndarray, membership: np.ndarray) -> Points:
        share = membership.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            barycentres = membership @ self.rows_.standard / share[:, None]
            distance = np.sqrt(1 / share - 1)
        if self.correction != "indicator":
            distance = np.sqrt(self._analysis.measure_means(membership) / len(self._analysis.blocks))
        unknown = np.full(len(labels), np.nan)
        # In tables of pairs of columns the profile of an answer is the mean of the standard coordinates of the active
        # answers, which is its barycentre times the correlation: nothing of it is of the answer itself.
        is_indicator = self.correction == "indicator"
        standard = barycentres * self.correlations_ / (self.pics_ if is_indicator else np.sqrt(self.inertias_))
        return Points(labels, unknown, distance, unknown, standard, np.sqrt(self.inertias_))
