"""Smooth functions of numbers in an analysis of many columns, as smooth as held-out rows want them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from correspondence.core.column_blocks import (
    BlockAxes,
    ColumnBlock,
    FeatureMoments,
    find_block_axes,
    whiten_block,
    whiten_blocks,
)
from correspondence.core.column_features import (
    CurveColumn,
    FeatureColumn,
    ManyColumns,
    NumberColumn,
    compute_feature_moments,
    freeze_moments,
)
from correspondence.core.moments import Moments
from correspondence.core.splines import SplineBasis
from correspondence.core.whitening import compute_whitening
from correspondence.estimators.many.reading import ReadTable

__all__ = ["add_curves", "choose_smoothing", "penalise_blocks"]

SMOOTHING_STRENGTHS = (10.0 ** np.arange(1, -6, -1)).tolist()  # from nearly straight lines to wavy functions
N_FOLDS = 5
DEFAULT_AXES = 2  # axes by which smoothness is chosen, if the user does not say how many there are
MAX_CURVE_FEATURES = 400  # features of all curves together
MAX_CURVE_KNOTS = 12
ROWS_PER_FEATURE = 10


def add_curves(table: ReadTable) -> ReadTable:
    """Replace columns of numbers by splines of them; those with few different values stay as they are.

    Parameters
    ----------
    table : ReadTable
        The columns and rows.

    Returns
    -------
    ReadTable
        The same rows with curves.
    """
    n_numbers = sum(isinstance(column, NumberColumn) for column in table.features.columns)
    n_knots = min(MAX_CURVE_KNOTS, MAX_CURVE_FEATURES // max(n_numbers, 1), len(table.rows) // ROWS_PER_FEATURE)
    columns: list[FeatureColumn] = []
    for column, values in zip(table.features.columns, table.arrays, strict=True):
        is_number = isinstance(column, NumberColumn) and n_knots >= 4
        columns.append(_make_curve(column, values, n_knots) if is_number else column)  # type: ignore[arg-type]
    return replace(table, features=replace(table.features, columns=tuple(columns)))


def _make_curve(column: NumberColumn, values: np.ndarray, n_knots: int) -> FeatureColumn:
    scale = float(np.nanstd(values))
    known = values[~np.isnan(values)]
    basis = SplineBasis.for_columns(((known - column.mean) / scale)[:, None], np.array([True]), n_knots)
    if len(basis.knots[0]) < 3:
        return column
    return CurveColumn(column.name, column.mean, column.reader, scale, basis)


def penalise_blocks(
    features: ManyColumns, blocks: Sequence[ColumnBlock], moments: FeatureMoments, strength: float
) -> list[ColumnBlock]:
    """Give each curve its penalty: the mean squared third derivative over its intervals, times the strength.

    Parameters
    ----------
    features : ManyColumns
        The columns.
    blocks : sequence of ColumnBlock
        Their places among the features.
    moments : FeatureMoments
        The moments of the features.
    strength : float
        The strength of the penalty.

    Returns
    -------
    list of ColumnBlock
        The same places, with penalties.
    """
    penalised = []
    for column, block in zip(features.columns, blocks, strict=True):
        if isinstance(column, CurveColumn):
            D = column.basis.third_derivatives
            block = replace(block, penalty=strength * D.T @ D / len(D))
        penalised.append(block)
    return penalised


def choose_smoothing(
    features: ManyColumns,
    arrays: Sequence[np.ndarray],
    weights: np.ndarray | None,
    n_components: int | None,
    random_state: int,
) -> float:
    """Choose the strength of the penalty by which each column goes best with the others on held-out rows.

    Parameters
    ----------
    features : ManyColumns
        The columns.
    arrays : sequence of ndarray
        The rows.
    weights : ndarray of shape (n,), optional
        Their weights.
    n_components : int, optional
        The number of axes.
    random_state : int
        The seed of the folds.

    Returns
    -------
    float
        The strength that captures most; of equally good ones the strongest.
    """
    n = len(arrays[0])
    fold = np.random.default_rng(random_state).permutation(n) % min(N_FOLDS, n)
    folds = []
    for number in range(fold.max() + 1):
        rows = np.flatnonzero(fold == number)
        own = None if weights is None else weights[rows]
        folds.append(compute_feature_moments(features, [values[rows] for values in arrays], own))
    captured = [
        sum(
            _score_strength(features, strength, n_components or DEFAULT_AXES, folds, number)
            for number in range(len(folds))
        )
        for strength in SMOOTHING_STRENGTHS
    ]
    return SMOOTHING_STRENGTHS[int(np.argmax(captured))]


def _score_strength(features: ManyColumns, strength: float, d: int, folds: list[Moments], number: int) -> float:
    """Sum what the scores of the other columns capture of each column, on the rows of one fold."""
    train = freeze_moments(sum((fold for i, fold in enumerate(folds) if i != number), start=Moments()))
    test = freeze_moments(folds[number])
    blocks = penalise_blocks(features, features.blocks, train, strength)
    axes = find_block_axes(train, whiten_blocks(train, blocks), d)
    return sum(capture_column(axes, block.features, whiten_block(train, block), train, test) for block in blocks)


def capture_column(
    axes: BlockAxes, own: slice, whitening: np.ndarray, train: FeatureMoments, test: FeatureMoments
) -> float:
    """Compute what the scores of the other columns capture of one column, on held-out rows.

    The functions of the scores and of the column that go best together on the training rows are scored by the
    lower bound on dependence that `Decomposition.evaluate` uses.

    Parameters
    ----------
    axes : BlockAxes
        The axes of the training rows.
    own : slice
        The features of the column.
    whitening : ndarray of shape (p_k, r)
        The directions of the column's own features.
    train, test : FeatureMoments
        The moments of both parts of the rows.

    Returns
    -------
    float
        In the population at most the chi-square dependence between them; negative if they go together by chance.
    """
    others = axes.weights.copy()
    others[own] = 0
    z = others @ compute_whitening(others.T @ train.cov @ others, np.zeros(others.shape[1]))
    U, s, Vt = np.linalg.svd(z.T @ train.cov[:, own] @ whitening, full_matrices=False)
    s = np.minimum(s, 1)
    f, g = z @ U, whitening @ Vt.T
    shift = test.mean - train.mean
    second = test.cov + np.outer(shift, shift)  # about the training means
    gain = 2 * s @ np.einsum("ij,ij->j", f, test.cov[:, own] @ g)
    return float(gain - s @ ((f.T @ second @ f) * (g.T @ second[own, own] @ g)) @ s)
