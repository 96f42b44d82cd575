"""Moments of the features of columns on training and held-out rows; for pairs with gaps those of rows that have both.

A column without gaps has the same moments beside all others without gaps. Where a column has gaps, the rows in which
both of a pair are given may be unlike the others: shares are then of what varies among these rows, and levels that do
not occur there say nothing. So arrays have an axis for the columns of x and one for those of y, of length 1 where all
of them agree.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from correspondence.association.fold_products import CELLS_PER_BATCH, CodedRows, EqualWidths

__all__ = ["RowSums", "WhitenedBlock", "sum_known_rows", "whiten_block", "whiten_halves", "whiten_sums"]

RIDGE = 1e-4  # variance added to each whitened feature: one that no training row has does not vary


class RowSums(NamedTuple):
    """Sums of features over rows, with an axis for the columns of x and one for those of y.

    Attributes
    ----------
    n : ndarray of shape (..., k, l)
        The weight of the rows.
    sums : ndarray of shape (..., k, l, width)
        The sums of the features.
    products : ndarray of shape (..., k, l, width, width)
        The sums of their products.
    """

    n: np.ndarray
    sums: np.ndarray
    products: np.ndarray

    @classmethod
    def from_rows(cls, X: np.ndarray, own: np.ndarray, known: np.ndarray, weights: np.ndarray | None = None) -> RowSums:
        """Sum the features of columns over the rows in which they and others are given.

        Parameters
        ----------
        X : ndarray of shape (n, k, width)
            The features of the columns, which are 0 in gaps.
        own, known : ndarray of bool of shape (n, k) and (n, l)
            Where the columns are given, and where the others are; a single column of True for those without gaps.
        weights : ndarray of shape (n,), optional
            The weights of the rows.
        """
        weighted = own.astype(float) if weights is None else own * weights[:, None]
        return cls(weighted.T @ known.astype(float), *sum_known_rows(X, known, weights))

    @classmethod
    def stack(cls, parts: Sequence[RowSums]) -> RowSums:
        """Put sums over several parts of the rows into arrays, along a first axis."""
        return cls(*(np.array(own) for own in zip(*parts, strict=True)))

    def add(self, other: RowSums) -> RowSums:
        """Add the sums over other rows."""
        return RowSums(*(own + more for own, more in zip(self, other, strict=True)))

    def swap_sides(self) -> RowSums:
        """Exchange the axis of the columns of x with that of the columns of y."""
        return RowSums(self.n.swapaxes(-1, -2), self.sums.swapaxes(-2, -3), self.products.swapaxes(-3, -4))


@dataclass(frozen=True, eq=False)
class WhitenedBlock:
    """The columns of a block, with the whitening of each fold, beside those of another; k or l may be 1.

    Attributes
    ----------
    widths : ndarray of shape (folds, k, l)
        The number of features of each column that vary on the training rows, without those that are filled up.
    target : ndarray of shape (k, l, width)
        1 for the features that have to be predicted.
    n : ndarray of shape (folds, 2, k, l)
        The weight of the held-out rows, in both halves.
    train_mean, test_mean : ndarray of shape (folds, k, l, width)
        The means of the features on the training rows, and on the held-out rows.
    whitening : ndarray of shape (folds, k, l, width, width)
        The matrices that whiten the features on the training rows.
    means : ndarray of shape (folds, 2, k, l, width)
        The means of the whitened features on both halves of the held-out rows.
    seconds : ndarray of shape (folds, 2, k, l, width, width)
        Their second moments.
    """

    widths: np.ndarray
    target: np.ndarray
    n: np.ndarray
    train_mean: np.ndarray
    test_mean: np.ndarray
    whitening: np.ndarray
    means: np.ndarray
    seconds: np.ndarray

    def pool_halves(self, fold: int) -> np.ndarray:
        """Return the second moments on all held-out rows of a fold, an array of shape (k, l, width, width)."""
        share = self.n[fold] / at_least_one_row(self.n[fold].sum(axis=0))
        return np.asarray((share[..., None, None] * self.seconds[fold]).sum(axis=0))

    def swap_sides(self) -> WhitenedBlock:
        """Exchange the axis of the columns of x with that of the columns of y."""
        return WhitenedBlock(
            self.widths.swapaxes(-1, -2),
            self.target.swapaxes(-2, -3),
            self.n.swapaxes(-1, -2),
            self.train_mean.swapaxes(-2, -3),
            self.test_mean.swapaxes(-2, -3),
            self.whitening.swapaxes(-3, -4),
            self.means.swapaxes(-2, -3),
            self.seconds.swapaxes(-3, -4),
        )


def at_least_one_row(n: np.ndarray) -> np.ndarray:
    """Return weights of rows by which one can divide: 1 where there are none."""
    return np.where(n > 0, n, 1.0)


def sum_known_rows(X: np.ndarray, known: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
    """Sum the features of columns, and their products, over the rows in which others are given.

    Parameters
    ----------
    X : ndarray of shape (n, k, width)
        The features, which are 0 in gaps.
    known : ndarray of bool of shape (n, l)
        Where the other columns are given.
    weights : ndarray of shape (n,), optional
        The weights of the rows.

    Returns
    -------
    sums, products : ndarray of shape (k, l, width) and (k, l, width, width)
        The sums.

    Examples
    --------
    >>> X = np.array([[[1.0]], [[2.0]], [[4.0]]])
    >>> sums, products = sum_known_rows(X, np.array([[True], [False], [True]]))
    >>> sums.ravel().tolist(), products.ravel().tolist()
    ([5.0], [17.0])
    """
    n, k, p = X.shape
    first, second = np.triu_indices(p)
    place = np.empty((p, p), dtype=int)
    place[first, second] = place[second, first] = np.arange(len(first))
    sums, products = np.zeros((k * p, known.shape[1])), np.zeros((k * len(first), known.shape[1]))
    step = max(64, CELLS_PER_BATCH // (k * len(first) + 1))
    for start in range(0, n, step):
        some = slice(start, start + step)
        F, own = X[some], known[some].astype(X.dtype)
        own = own if weights is None else own * weights[some, None].astype(X.dtype)
        sums += F.reshape(len(F), -1).T @ own
        products += (F[..., first] * F[..., second]).reshape(len(F), -1).T @ own
    full = products.reshape(k, len(first), -1)[:, place.ravel()].reshape(k, p, p, -1)
    return sums.reshape(k, p, -1).transpose(0, 2, 1), full.transpose(0, 3, 1, 2)


def sum_pairs(
    rows: CodedRows, x: EqualWidths, y: EqualWidths, known: tuple[np.ndarray, np.ndarray], dtype: type
) -> tuple[RowSums, RowSums]:
    """Sum the features of columns, of x and of y, in each half of a fold over the rows in which both are given.

    Parameters
    ----------
    rows : CodedRows
        The rows.
    x, y : EqualWidths
        The columns.
    known : tuple of ndarray of bool
        In which rows each column of x is given, and each of y; a single column of True for those without gaps.
    dtype : type
        The type of the features.
    """
    step = max(64, CELLS_PER_BATCH // (sum(len(own.columns) * own.width for own in (x, y))))
    found: tuple[list[RowSums], list[RowSums]] = ([], [])
    for begin, end in itertools.pairwise(rows.bounds.tolist()):
        total: list[RowSums] = []
        for start in range(begin, max(end, begin + 1), step):
            some = slice(start, min(start + step, end))
            weights = None if rows.weights is None else rows.weights[some]
            one, other = known[0][some], known[1][some]
            X, Y = (rows.expand(own, some, dtype).reshape(-1, len(own.columns), own.width) for own in (x, y))
            parts = RowSums.from_rows(X, one, other, weights), RowSums.from_rows(Y, other, one, weights).swap_sides()
            total = [own.add(more) for own, more in zip(total, parts, strict=True)] if total else list(parts)
        found[0].append(total[0])
        found[1].append(total[1])
    return RowSums.stack(found[0]), RowSums.stack(found[1])


def whiten_block(block: EqualWidths) -> WhitenedBlock:
    """Whiten the features of columns of x, on all training rows of each fold."""
    sums, products = block.moments
    n = block.counts[0].sum(axis=1)[:, None, None]
    return whiten_sums(RowSums(n, sums[:, :, None], products[:, :, None]), block.widths, block.target, has_gaps=False)


def whiten_sums(sums: RowSums, widths: np.ndarray, target: np.ndarray, *, has_gaps: bool) -> WhitenedBlock:
    """Whiten the features of columns of x on the training rows of each fold.

    Parameters
    ----------
    sums : RowSums
        The sums over the rows of each half of a fold.
    widths, target, has_gaps
        See `whiten_halves`.
    """
    halves = RowSums(*(own.reshape(-1, 2, *own.shape[1:]) for own in sums))
    train = RowSums(*(own.sum(axis=(0, 1)) - own.sum(axis=1) for own in halves))
    return whiten_halves(train, halves, widths, target, has_gaps=has_gaps)


def whiten_halves(
    train: RowSums, halves: RowSums, widths: np.ndarray, target: np.ndarray, *, has_gaps: bool
) -> WhitenedBlock:
    """Whiten the features of columns of x on training rows.

    Parameters
    ----------
    train, halves : RowSums
        The sums over the training rows of each fold, and over both halves of the held-out rows.
    widths : ndarray of shape (columns,)
        The number of features of each column, without those that are filled up.
    target : ndarray of shape (columns, width)
        1 for the features that have to be predicted.
    has_gaps : bool
        Whether the rows are only those in which other columns are given: features that then do not vary say nothing.
    """
    n, n_test = at_least_one_row(train.n), halves.n.sum(axis=1)
    mu = train.sums / n[..., None]
    cov = train.products / n[..., None, None] - mu[..., :, None] * mu[..., None, :]
    W, widths = find_whitening(cov, widths[:, None], has_gaps=has_gaps)
    # On each half: the mean and the second moments about the mean of the training rows, whitened.
    safe = at_least_one_row(halves.n)
    half_mean, centre = halves.sums / safe[..., None], mu[:, None] * (halves.n > 0)[..., None]
    cross = half_mean[..., :, None] * centre[..., None, :]
    about = halves.products / safe[..., None, None] - cross - cross.swapaxes(-1, -2)
    about += centre[..., :, None] * centre[..., None, :]
    seconds = W[:, None].swapaxes(-1, -2) @ about @ W[:, None]
    means = ((half_mean - centre)[..., None, :] @ W[:, None])[..., 0, :]
    test_mean = halves.sums.sum(axis=1) / at_least_one_row(n_test)[..., None]
    return WhitenedBlock(widths, target[:, None], halves.n, mu, test_mean, W, means, seconds)


def find_whitening(cov: np.ndarray, widths: np.ndarray, *, has_gaps: bool) -> tuple[np.ndarray, np.ndarray]:
    """Find the matrices that whiten features of given covariances; there is one for each fold and column, or pair.

    Parameters
    ----------
    cov : ndarray of shape (folds, k, l, width, width)
        The covariances.
    widths : ndarray of shape (k, l)
        The number of features of each column, without those that are filled up.
    has_gaps : bool
        Whether features that do not vary say nothing.

    Returns
    -------
    whitening : ndarray of shape (folds, k, l, width, width)
        The matrices.
    widths : ndarray of shape (folds, k, l)
        The number of features that say something.
    """
    width = cov.shape[-1]
    is_filler = np.arange(width) >= widths[..., None]
    root = np.linalg.cholesky(cov + RIDGE * np.eye(width) + is_filler[..., None] * np.eye(width))
    whitening, varies = np.linalg.inv(root).swapaxes(-1, -2), np.broadcast_to(~is_filler, cov.shape[:-1])
    if has_gaps:
        varies = varies & (np.einsum("...aa->...a", root) ** 2 > 2 * RIDGE)
        whitening = whitening * varies[..., None, :]
    return whitening, varies.sum(axis=-1)
