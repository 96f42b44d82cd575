"""How much of each column the scores from the other columns predict, from moments alone.

The score of a row without column k is z = sum over the other columns l of (phi_l - mean_l) B_l, where B are the weights
of the axes. The whitened features x of column k are regressed on the first j of these scores with the moments of the
training rows. With moments of other rows, about the means of the training rows, the mean squared error of that
prediction and the mean square of x are sums of entries of the same matrices; no row is needed a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from correspondence.core.column_blocks import BlockAxes, ColumnBlock, FeatureMoments

__all__ = ["ColumnErrors", "leave_out_unseen", "measure_left_out", "select_own_whitening"]

MIN_NEW_VARIANCE = 1e-9  # of a score, as a share of its variance; less is a repetition of the scores before it
MIN_SCORE_VARIANCE = 1e-18  # scores of all columns have 1; less is a rounding error of 0


@dataclass(frozen=True, eq=False)
class ColumnErrors:
    """Squares of each column, and what the first 1, 2, ..., d axes leave of them.

    Attributes
    ----------
    n : float
        The total weight of the rows.
    total : ndarray of shape (k,)
        The mean squared distance of the rows from the mean of the training rows.
    residual : ndarray of shape (k, d)
        The mean squared distance from the prediction by the first axes.
    """

    n: float
    total: np.ndarray
    residual: np.ndarray

    @property
    def r2(self) -> np.ndarray:
        """The shares that are predicted, of shape (k, d); NaN for a column in which nothing varies."""
        total = np.where(self.total > 0, self.total, np.nan)[:, None]
        return 1 - self.residual / total

    @classmethod
    def pool(cls, parts: Sequence[ColumnErrors]) -> ColumnErrors:
        """Average the errors of several parts of the rows; axes that a part lacks leave what there is."""
        n, d = sum(part.n for part in parts), max(part.residual.shape[1] for part in parts)
        residuals = [np.pad(p.residual, ((0, 0), (0, d - p.residual.shape[1])), mode="edge") for p in parts]
        total = sum(part.n / n * part.total for part in parts)
        return cls(n, np.asarray(total), np.sum([p.n / n * own for p, own in zip(parts, residuals, strict=True)], 0))


def leave_out_unseen(blocks: Sequence[ColumnBlock], moments: FeatureMoments) -> list[ColumnBlock]:
    """Leave out answers that none of the rows gave, such as a rare one in a part of the rows.

    Parameters
    ----------
    blocks : sequence of ColumnBlock
        The columns.
    moments : FeatureMoments
        The moments of the rows.

    Returns
    -------
    list of ColumnBlock
        The same columns, in which the other answers are kept.
    """
    found = []
    for block in blocks:
        occurs = moments.mean[block.features] > 0
        if block.kind == "labels" and not occurs.all():
            block = replace(block, kept=occurs if block.kept is None else block.kept & occurs)
        found.append(block)
    return found


def measure_left_out(
    training: FeatureMoments,
    test: FeatureMoments,
    whitening: sp.csr_array,
    blocks: Sequence[ColumnBlock],
    axes: BlockAxes,
) -> ColumnErrors:
    """Predict each column by the scores of the other columns, and measure the errors.

    Parameters
    ----------
    training : FeatureMoments
        The moments of the rows of the fit.
    test : FeatureMoments
        The moments of the rows that are predicted. An answer that no row of the fit gave counts as an average one.
    whitening : scipy.sparse array of shape (p, r)
        The matrix that whitens the features of each column.
    blocks : sequence of ColumnBlock
        The columns.
    axes : BlockAxes
        The axes of the fit.

    Returns
    -------
    ColumnErrors
        In the metric of the whitened features: for answers the chi-square metric of the training rows.

    Examples
    --------
    Two numbers with the correlation 0.8, each predicted by the other.

    >>> moments = FeatureMoments(100, np.zeros(2), np.array([[1.0, 0.8], [0.8, 1.0]]))
    >>> blocks = [ColumnBlock("a", "number", slice(0, 1)), ColumnBlock("b", "number", slice(1, 2))]
    >>> from correspondence.core.column_blocks import find_block_axes
    >>> white = sp.csr_array(np.eye(2))
    >>> measure_left_out(moments, moments, white, blocks, find_block_axes(moments, white, 1)).r2.round(2).tolist()
    [[0.64], [0.64]]
    """
    second = _centre_on_training(training, test, blocks)
    of_training, of_test = training.cov @ axes.weights, second @ axes.weights
    total, residual = np.empty(len(blocks)), np.empty((len(blocks), axes.weights.shape[1]))
    for k, block in enumerate(blocks):
        own, W = block.features, select_own_whitening(whitening, block)
        zz, xz = _leave_out(training.cov, of_training, axes.weights, own, W)
        new_zz, new_xz = _leave_out(second, of_test, axes.weights, own, W)
        U = _orthogonalise_in_turn(zz)
        slopes = xz @ U
        total[k] = np.einsum("ij,ij->", W, second[own, own] @ W)
        explained = 2 * np.einsum("ij,ij->j", slopes, new_xz @ U)
        residual[k] = total[k] - np.cumsum(explained) + _sum_leading_blocks((slopes.T @ slopes) * (U.T @ new_zz @ U))
    return ColumnErrors(test.n, total, residual)


def _centre_on_training(training: FeatureMoments, test: FeatureMoments, blocks: Sequence[ColumnBlock]) -> np.ndarray:
    """Compute second moments of rows about the training means; an unseen answer is replaced by the training shares."""
    mean, cov = test.mean, test.cov
    spread = np.eye(len(mean))
    for block in blocks:
        own = np.arange(block.features.start, block.features.stop)
        unseen = own[training.mean[own] <= 0] if block.kind == "labels" else own[:0]
        spread[unseen, unseen] = 0
        spread[np.ix_(unseen, own)] = training.mean[own]
    if not np.array_equal(spread.diagonal(), np.ones(len(mean))):
        mean, cov = mean @ spread, spread.T @ cov @ spread
    shift = mean - training.mean
    return cov + np.outer(shift, shift)


def select_own_whitening(whitening: sp.csr_array, block: ColumnBlock) -> np.ndarray:
    """Return the rows of the matrix that belong to a column, without the columns of others."""
    own = whitening[block.features]
    return np.asarray(own[:, np.unique(own.indices)].toarray())


def _leave_out(
    cov: np.ndarray, of_scores: np.ndarray, weights: np.ndarray, own: slice, W: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariances of the scores without a column, and those of its whitened features with them."""
    left = of_scores - cov[:, own] @ weights[own]
    return weights.T @ left - weights[own].T @ left[own], W.T @ left[own]


def _orthogonalise_in_turn(zz: np.ndarray) -> np.ndarray:
    """Find the triangular matrix U that makes scores with the covariance zz uncorrelated with those before.

    With few columns left the scores of many axes repeat each other; such a score has weights of 0 and adds nothing.
    """
    U = np.zeros_like(zz)
    for i, variance in enumerate(np.diag(zz)):
        if variance <= MIN_SCORE_VARIANCE:
            continue
        u = np.zeros(len(zz))
        u[i] = 1.0
        for _ in range(2):  # a second time for what rounding left
            u -= U[:, :i] @ (U[:, :i].T @ (zz @ u))
        left = u @ zz @ u
        if left > MIN_NEW_VARIANCE * variance:
            U[:, i] = u / np.sqrt(left)
    return U


def _sum_leading_blocks(matrix: np.ndarray) -> np.ndarray:
    """Sum the first 1, 2, ... rows and columns of a symmetric matrix."""
    return np.cumsum(2 * np.tril(matrix, -1).sum(axis=1) + np.diag(matrix))
