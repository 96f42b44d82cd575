"""The rows of an analysis of many columns, as its axes are tested on them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupShuffleSplit

from correspondence._util.arguments import check_whole, is_number
from correspondence._util.text import one_line, short_repr
from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.core.column_features import FeatureColumn, LabelColumn
from correspondence.core.feature_moments import compute_feature_moments
from correspondence.data.answers import split_columns
from correspondence.data.column_kinds import ColumnKind
from correspondence.data.copies import find_copies
from correspondence.data.splits import Split, make_splits
from correspondence.describe.structure import match_axes
from correspondence.describe.tested_columns import (
    TestedColumn,
    leave_out_useless,
    read_tested_column,
    read_tested_columns,
)

__all__ = ["ScoredRows", "make_held_out_splits", "read_fit_rows", "read_new_rows", "score_held_out"]


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows of a table with their scores.

    Attributes
    ----------
    columns : list of TestedColumn
        The active columns, and after them the supplementary ones.
    n_active : int
        The number of active columns.
    scores : ndarray of shape (n, d)
        The principal coordinates of the rows.
    weights : ndarray of shape (n,)
        The weights of the rows.
    score_column : callable, optional
        It returns what an active column, given by its position, adds to the scores.
    """

    columns: list[TestedColumn]
    n_active: int
    scores: np.ndarray
    weights: np.ndarray
    score_column: Callable[[int], np.ndarray] | None = None

    @property
    def roles(self) -> dict[str, list[bool]]:
        """Which columns took part in the fit."""
        return {"active": [i < self.n_active for i in range(len(self.columns))]}

    def score_without(self, i: int) -> np.ndarray:
        """Return the scores from all columns but number i: a column is not told by itself."""
        is_part = i < self.n_active and self.score_column is not None
        return self.scores - self.score_column(i) if is_part else self.scores  # type: ignore[misc]


def read_fit_rows(est: Any, X: Any) -> ScoredRows:
    """Read the rows of a fit from what it keeps, or from X, whose other columns are supplementary."""
    analysis = est._analysis
    if X is None and analysis.arrays is None:
        raise ValueError("X must be given, because the fit keeps no rows of a source. Pass some rows of it.")
    if X is not None:
        arrays, others = analysis.features.read(X), _find_other_columns(est, X)
        weights = None
    else:
        arrays, others, weights = analysis.arrays, getattr(est, "_supplementary_data", {}), analysis.weights
    return _make_rows(est, analysis, arrays, leave_out_useless(read_supplementary(others)), weights)


def _find_other_columns(est: Any, X: Any) -> dict[Any, Any]:
    given, names = split_columns(X, "X"), [column.name for column in est._analysis.features.columns]
    return {key: column for key, column in given.items() if key not in names} if set(names) <= set(given) else {}


def read_supplementary(columns: dict[Any, Any]) -> list[TestedColumn]:
    """Read columns that took no part in the fit."""
    return [read_tested_column(key, column, "X") for key, column in columns.items()]


def read_new_rows(est: Any, fitted: ScoredRows, X: Any) -> ScoredRows:
    """Read rows that were not used in the fit, with the same columns and categories."""
    features = est._analysis.features.accept_unknown()
    passive = fitted.columns[fitted.n_active :]
    kinds = {column.name: column.kind for column in passive}
    read = {column.name: column for column in read_tested_columns(X, "held_out", None, kinds)} if kinds else {}
    followed = [read[column.name].follow_categories(column.categories) for column in passive]
    return _make_rows(est, est._analysis, features.read(X, "held_out"), followed, None)


def _make_rows(
    est: Any, analysis: Any, arrays: Sequence[np.ndarray], others: list[TestedColumn], weights: np.ndarray | None
) -> ScoredRows:
    active = [_convert_column(column, own) for column, own in zip(analysis.features.columns, arrays, strict=True)]
    scale = est._row_correlations
    d = len(scale)
    scores = analysis.describe_rows(arrays)[0][:, :d] * scale
    score = partial(score_one_column, analysis, arrays)
    own_weights = np.ones(len(scores)) if weights is None else weights
    return ScoredRows([*active, *others], len(active), scores, own_weights, lambda i: score(i)[:, :d] * scale)


def _convert_column(column: FeatureColumn, values: np.ndarray) -> TestedColumn:
    name = one_line(column.name)
    if not isinstance(column, LabelColumn):
        return TestedColumn(name, ColumnKind("number"), numbers=values)
    texts = [one_line(answer) for answer in column.answers.tolist()]
    different = texts if len(set(texts)) == len(texts) else [repr(answer) for answer in column.answers.tolist()]
    return TestedColumn(name, ColumnKind("label"), categories=different, codes=np.maximum(values, -1).astype(np.int64))


def score_one_column(analysis: Any, arrays: Sequence[np.ndarray], i: int) -> np.ndarray:
    """Return what column i adds to the scores of rows: (phi_i - mean_i) B_i, for the weights B of the axes."""
    features, at = analysis.features, analysis.features.blocks[i].features
    mean, weights, column = analysis.axes.mean[at], analysis.axes.weights[at], analysis.features.columns[i]
    if features.filler is not None:
        own = features.expand(arrays)[:, at] @ weights
    else:
        is_label = isinstance(column, LabelColumn)
        own = (column.expand_sparsely(arrays[i]) if is_label else column.expand(arrays[i])) @ weights
        own = features.compute_row_factors(arrays)[:, None] * own
    return np.asarray(own - mean @ weights)


class _FoldScores(NamedTuple):
    """The held-out rows of a fold, and how its axes become those of the fit."""

    analysis: Any
    rows: np.ndarray
    arrays: list[np.ndarray]
    order: np.ndarray
    factors: np.ndarray

    def fill_scores(self, whole: np.ndarray, own: np.ndarray) -> None:
        """Write scores of these rows, in the order and with the signs of the fit."""
        whole[self.rows, : len(self.order)] = own[:, self.order] * self.factors


def make_held_out_splits(held_out: Any, n: int, groups: np.ndarray | None, seed: int) -> tuple[list[Split], np.ndarray]:
    """Split rows into folds, or draw a share of them; copies of rows stay together.

    Parameters
    ----------
    held_out : int or float
        The number of folds, or the share of the rows that is held out once.
    n : int
        There are n rows.
    groups : ndarray of shape (n,) or None
        Rows of the same group stay together.
    seed : int
        Draw the rows with this seed.

    Returns
    -------
    splits : list of (ndarray, ndarray)
        The rows to fit to and those that are held out.
    tested : ndarray
        The rows that are held out by any split, in their order.
    """
    if is_number(held_out) and 0 < held_out < 1:
        together = np.arange(n) if groups is None else groups
        m = len(np.unique(together))
        if not 1 <= held_out * m <= m - 2:
            raise ValueError(f"held_out must leave rows on both sides, got {held_out:g} of {n}. Choose another share.")
        splits = make_splits(GroupShuffleSplit(1, test_size=held_out, random_state=seed), n, groups=together)
    elif is_number(held_out) and held_out >= 2 and float(held_out).is_integer():
        splits = make_splits(check_whole(int(held_out), "held_out", 2, n), n, groups=groups, random_state=seed)
    else:
        raise ValueError(
            "held_out must be a whole number of folds, 2 or more, a share of the rows between 0 and 1, or other rows, "
            f"got {short_repr(held_out)}."
        )
    return splits, np.sort(np.concatenate([test for _, test in splits]))


def score_held_out(est: Any, fitted: ScoredRows, arrays: Sequence[np.ndarray], held_out: Any, seed: int) -> ScoredRows:
    """Score rows by a fit to the others: all of them in folds, or a share of them."""
    copies = find_copies(np.column_stack(arrays))
    splits, tested = make_held_out_splits(held_out, len(fitted.scores), copies.groups, seed)
    folds = []
    for train, test in splits:
        rows = [values[train] for values in arrays]
        fold = _fit_fold(est, est._analysis, rows, fitted.weights[train])
        order, signs = match_axes(fold.describe_rows(rows)[0], fitted.scores[train])
        factors = signs * est._row_correlations[: len(order)]
        folds.append(_FoldScores(fold, test, [values[test] for values in arrays], order, factors))

    def collect(compute: Callable[[_FoldScores], np.ndarray]) -> np.ndarray:
        whole = np.zeros_like(fitted.scores)
        for fold in folds:
            fold.fill_scores(whole, compute(fold))
        return whole[tested]

    return ScoredRows(
        [column.take_rows(tested) for column in fitted.columns],
        fitted.n_active,
        collect(lambda fold: fold.analysis.describe_rows(fold.arrays)[0]),
        fitted.weights[tested],
        lambda i: collect(lambda fold: score_one_column(fold.analysis, fold.arrays, i)),
    )


def _fit_fold(est: Any, analysis: Any, arrays: list[np.ndarray], weights: np.ndarray) -> Any:
    """Fit a copy to the moments of some rows; return its analysis."""
    fit, features = clone(est), analysis.features
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorrespondenceWarning)
        fit._choose_smoothness(features, arrays, weights)
        fit._fit_moments(features, compute_feature_moments(features, arrays, weights))
    return fit._analysis
