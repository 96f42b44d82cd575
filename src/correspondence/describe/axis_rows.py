"""The rows of an analysis of many columns, as its axes are tested on them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from correspondence._util.arguments import check_whole
from correspondence._util.text import one_line
from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.core.column_features import FeatureColumn, LabelColumn
from correspondence.core.feature_moments import compute_feature_moments
from correspondence.data.answers import split_columns
from correspondence.data.column_kinds import ColumnKind
from correspondence.data.copies import find_copies
from correspondence.data.splits import make_splits
from correspondence.describe.structure import match_axes
from correspondence.describe.tested_columns import (
    TestedColumn,
    leave_out_useless,
    read_tested_column,
    read_tested_columns,
)

__all__ = ["ColumnRows", "read_fit_rows", "read_new_rows", "score_folds"]


@dataclass(frozen=True, eq=False)
class ColumnRows:
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
    parts : list of ndarray of shape (n, d)
        What each active column adds to the scores.
    """

    columns: list[TestedColumn]
    n_active: int
    scores: np.ndarray
    weights: np.ndarray
    parts: Sequence[np.ndarray] = ()

    @property
    def roles(self) -> dict[str, list[bool]]:
        """Which columns took part in the fit."""
        return {"active": [i < self.n_active for i in range(len(self.columns))]}

    def score_without(self, i: int) -> np.ndarray:
        """Return the scores from all columns but number i: a column is not told by itself."""
        return self.scores - self.parts[i] if i < self.n_active else self.scores


def read_fit_rows(est: Any, X: Any) -> ColumnRows:
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


def read_new_rows(est: Any, fitted: ColumnRows, X: Any) -> ColumnRows:
    """Read rows that were not used in the fit, with the same columns and categories."""
    features = est._analysis.features.accept_unknown()
    passive = fitted.columns[fitted.n_active :]
    kinds = {column.name: column.kind for column in passive}
    read = {column.name: column for column in read_tested_columns(X, "held_out", None, kinds)} if kinds else {}
    followed = [read[column.name].follow_categories(column.categories) for column in passive]
    return _make_rows(est, est._analysis, features.read(X, "held_out"), followed, None, with_parts=True)


def _make_rows(
    est: Any,
    analysis: Any,
    arrays: Sequence[np.ndarray],
    others: list[TestedColumn],
    weights: np.ndarray | None,
    *,
    with_parts: bool = False,
) -> ColumnRows:
    active = [_convert_column(column, own) for column, own in zip(analysis.features.columns, arrays, strict=True)]
    scale = est._row_correlations
    scores = analysis.describe_rows(arrays)[0][:, : len(scale)] * scale
    n = len(scores)
    parts = [part * scale for part in split_scores(analysis, arrays, len(scale))] if with_parts else []
    return ColumnRows([*active, *others], len(active), scores, np.ones(n) if weights is None else weights, parts)


def _convert_column(column: FeatureColumn, values: np.ndarray) -> TestedColumn:
    name = one_line(column.name)
    if not isinstance(column, LabelColumn):
        return TestedColumn(name, ColumnKind("number"), numbers=values)
    texts = [one_line(answer) for answer in column.answers.tolist()]
    different = texts if len(set(texts)) == len(texts) else [repr(answer) for answer in column.answers.tolist()]
    return TestedColumn(name, ColumnKind("label"), categories=different, codes=np.maximum(values, -1).astype(np.int64))


def split_scores(analysis: Any, arrays: Sequence[np.ndarray], d: int) -> list[np.ndarray]:
    """Split the scores of rows into what each column adds: (phi_k - mean_k) B_k, for the weights B of the axes."""
    features, mean, weights = analysis.features, analysis.axes.mean, analysis.axes.weights[:, :d]
    whole = features.expand(arrays) if features.filler is not None else None
    factors = features.compute_row_factors(arrays)[:, None]
    parts = []
    for column, block, values in zip(features.columns, features.blocks, arrays, strict=True):
        at = block.features
        if whole is not None:
            own = whole[:, at] @ weights[at]
        elif isinstance(column, LabelColumn):
            own = factors * (column.expand_sparsely(values) @ weights[at])
        else:
            own = factors * (column.expand(values) @ weights[at])
        parts.append(own - mean[at] @ weights[at])
    return parts


def score_folds(est: Any, fitted: ColumnRows, arrays: Sequence[np.ndarray], cv: Any, seed: int) -> ColumnRows:
    """Score each row by a fit to the other folds; copies of rows stay together."""
    analysis, n = est._analysis, len(fitted.scores)
    copies = find_copies(np.column_stack(arrays))
    splits = make_splits(check_whole(cv, "held_out", 2, n), n, groups=copies.groups, random_state=seed)
    d, scale = fitted.scores.shape[1], est._row_correlations
    scores, parts = np.zeros((n, d)), [np.zeros((n, d)) for _ in range(fitted.n_active)]
    for train, test in splits:
        fold = _fit_fold(est, analysis, [values[train] for values in arrays], fitted.weights[train])
        order, signs = match_axes(fold.describe_rows([values[train] for values in arrays])[0], fitted.scores[train])
        rows = [values[test] for values in arrays]
        k = len(order)
        signs = signs * scale[:k]
        scores[test, :k] = fold.describe_rows(rows)[0][:, order] * signs
        for whole, own in zip(parts, split_scores(fold, rows, fold.axes.weights.shape[1]), strict=True):
            whole[test, :k] = own[:, order] * signs
    return ColumnRows(fitted.columns, fitted.n_active, scores, fitted.weights, parts)


def _fit_fold(est: Any, analysis: Any, arrays: list[np.ndarray], weights: np.ndarray) -> Any:
    """Fit a copy to the moments of some rows; return its analysis."""
    fit, features = clone(est), analysis.features
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorrespondenceWarning)
        fit._choose_smoothness(features, arrays, weights)
        fit._fit_moments(features, compute_feature_moments(features, arrays, weights))
    return fit._analysis
