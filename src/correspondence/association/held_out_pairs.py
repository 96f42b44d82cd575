"""What the functions of two columns, fitted on the training rows, say of held-out rows; for many pairs at once.

Features of each column are whitened on the training rows, x to f and y to g, with the covariances K = E[f g']. The
singular vectors of K are the maximally correlated functions. As estimates, singular values are too large: the first is
shrunk as is best for noise of variance 1 / n in each covariance (Gavish and Donoho 2017), the rest by a common factor
(James and Stein). The model of the joint distribution is 1 + f' S g with the shrunk S, and on held-out rows

    captured = 2 E[f' S g] - E'[(1 + f' S g)^2] + 1,

where E' is the expectation with x and y drawn independently. It is computed with x from one half of the held-out rows
and y from the other, and the other way round, so that no row counts together with itself: it has no bias.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from correspondence.association.fold_products import EqualWidths

__all__ = ["FoldCovariances", "PairScores", "WhitenedBlock", "judge_pairs", "split_covariances", "whiten_block"]

MAX_WIDTH_FOR_POWERS = 8  # of matrices whose first vectors are found by powers, for all pairs at once
POWER_SQUARES = 7
MATRICES_PER_BATCH = 2048  # that stay in a core's cache
RIDGE = 1e-4  # variance added to each whitened feature: one that no training row has does not vary


class PairScores(NamedTuple):
    """Figures of all pairs of columns of two blocks, arrays of shape (columns of x, columns of y)."""

    correlations: np.ndarray
    captured: np.ndarray
    training: np.ndarray
    y_from_x: np.ndarray
    x_from_y: np.ndarray


class FoldCovariances(NamedTuple):
    """Covariances of the features of two blocks, arrays of shape (columns of x, width of x, columns of y, width of y).

    Attributes
    ----------
    train : ndarray
        Those of the training rows of a fold.
    test : ndarray
        Those of the held-out rows, about the means of the training rows.
    """

    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class WhitenedBlock:
    """The columns of a block, with the whitening of each fold.

    Attributes
    ----------
    widths : ndarray of shape (columns,)
        The number of features of each column, without those that are filled up.
    target : ndarray of shape (columns, width)
        1 for the features that have to be predicted.
    n : ndarray of shape (folds, 2)
        The weight of the held-out rows, in both halves.
    train_mean, test_mean : ndarray of shape (folds, columns, width)
        The means of the features on the training rows, and on the held-out rows.
    whitening : ndarray of shape (folds, columns, width, width)
        The matrices that whiten the features on the training rows.
    means : ndarray of shape (folds, 2, columns, width)
        The means of the whitened features on both halves of the held-out rows.
    seconds : ndarray of shape (folds, 2, columns, width, width)
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
        """Return the second moments on all held-out rows of a fold, an array of shape (columns, width, width)."""
        share = self.n[fold] / self.n[fold].sum()
        return share[0] * self.seconds[fold, 0] + share[1] * self.seconds[fold, 1]


def whiten_block(block: EqualWidths) -> WhitenedBlock:
    """Whiten the features of a block on the training rows of each fold."""
    sums, products = block.moments
    n = block.counts[0].sum(axis=1)
    folds = len(n) // 2
    halves = n.reshape(folds, 2)
    n_test, test_sums = halves.sum(axis=1), sums.reshape(folds, 2, *sums.shape[1:])
    n_train = n.sum() - n_test
    train_mean = (sums.sum(axis=0) - test_sums.sum(axis=1)) / n_train[:, None, None]
    own_products = products.reshape(folds, 2, *products.shape[1:])
    second = (products.sum(axis=0) - own_products.sum(axis=1)) / n_train[:, None, None, None]
    whitening = find_whitening(second - train_mean[..., :, None] * train_mean[..., None, :], block.widths)
    # On each half: the mean and the second moments about the mean of the training rows, whitened.
    safe = np.maximum(halves, 1e-300)
    mean = test_sums / safe[..., None, None] - train_mean[:, None]
    raw = own_products / safe[..., None, None, None]
    half_mean = test_sums / safe[..., None, None]
    mu = np.broadcast_to(train_mean[:, None], half_mean.shape)
    cross = half_mean[..., :, None] * mu[..., None, :]
    about = raw - cross - cross.swapaxes(-1, -2) + mu[..., :, None] * mu[..., None, :]
    W = whitening[:, None]
    seconds = W.swapaxes(-1, -2) @ about @ W
    means = np.einsum("fhka,fkab->fhkb", mean, whitening)
    test_mean = test_sums.sum(axis=1) / n_test[:, None, None]
    return WhitenedBlock(block.widths, block.target, halves, train_mean, test_mean, whitening, means, seconds)


def find_whitening(cov: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Find the matrices that whiten features of given covariances; there is one for each fold and column.

    Parameters
    ----------
    cov : ndarray of shape (..., columns, width, width)
        The covariances.
    widths : ndarray of shape (columns,)
        The number of features of each column, without those that are filled up.
    """
    width = cov.shape[-1]
    is_filler = np.arange(width) >= widths[:, None]
    cov = cov + RIDGE * np.eye(width) + is_filler[:, :, None] * np.eye(width)
    return np.linalg.inv(np.linalg.cholesky(cov)).swapaxes(-1, -2)


def split_covariances(products: np.ndarray, x: WhitenedBlock, y: WhitenedBlock) -> Iterator[FoldCovariances]:
    """Compute the covariances of training rows and of held-out rows in each fold.

    Parameters
    ----------
    products : ndarray of shape (folds, columns of x, width of x, columns of y, width of y)
        The sums of the products of the features.
    x, y : WhitenedBlock
        The columns.
    """
    dtype, total, n_test = products.dtype, products.sum(axis=0), x.n.sum(axis=1)
    for fold, own in enumerate(products):
        mu, nu = x.train_mean[fold], y.train_mean[fold]
        train = (total - own) / (n_test.sum() - n_test[fold]) - np.einsum("ia,jb->iajb", mu, nu).astype(dtype)
        test = own / n_test[fold] + np.einsum("ia,jb->iajb", mu - x.test_mean[fold], nu).astype(dtype)
        test -= np.einsum("ia,jb->iajb", mu, y.test_mean[fold]).astype(dtype)
        yield FoldCovariances(train, test)


def judge_pairs(folds: Iterable[FoldCovariances], x: WhitenedBlock, y: WhitenedBlock) -> PairScores:
    """Fit the functions of all pairs of columns in each fold, and judge them on the held-out rows.

    Parameters
    ----------
    folds : iterable of FoldCovariances
        The covariances of the features in each fold.
    x, y : WhitenedBlock
        The columns.
    """
    n_test = x.n.sum(axis=1)
    shape = (len(x.widths), len(y.widths))
    sums: dict[str, np.ndarray] = {key: np.zeros(shape) for key in ("cross", "f2", "g2", "captured", "training")}
    explained_y, explained_x = np.zeros(shape), np.zeros(shape)
    spread_y, spread_x = np.zeros(shape[1]), np.zeros(shape[0])
    for fold, (train, test) in enumerate(folds):
        n, n_train, dtype = n_test[fold], n_test.sum() - n_test[fold], train.dtype
        W, V = x.whitening[fold].astype(dtype), y.whitening[fold].astype(dtype)
        K, M = (_multiply_sides(W.swapaxes(1, 2), part, V) for part in (train, test))
        u, s, v = find_leading(K)
        S = shrink(K, u, s, v, n_train, x.widths, y.widths)
        A, B = x.pool_halves(fold), y.pool_halves(fold)
        # The first pair of functions.
        sums["cross"] += n * np.einsum("ija,iajb,ijb->ij", u, M, v, optimize=True)
        sums["f2"] += n * _measure_squares(u, A)
        sums["g2"] += n * _measure_squares(v.swapaxes(0, 1), B).T
        sums["training"] += n_train * s
        # captured, whose square is over pairs of different rows
        SM = np.einsum("iajb,iajb->ijb", S, M)
        squares = np.zeros(shape)
        for one, other in ((0, 1), (1, 0)):
            a, b = x.means[fold, one].astype(dtype), y.means[fold, other].astype(dtype)
            squares += np.einsum("ijb,jb->ij", np.einsum("ia,iajb->ijb", a, S), b)
            squares += _sum_products_of(_multiply_sides(x.seconds[fold, one], S, y.seconds[fold, other]), S) / 2
        sums["captured"] += n * (2 * SM.sum(axis=2) - squares)
        # what the regression on one column explains of the features of the other that have to be predicted
        AS = _multiply_left(A, S)
        explained_y += n * ((2 * SM - np.einsum("iajb,iajb->ijb", AS, S)) * y.target).sum(axis=2)
        SB, MS = _multiply_right(S, B), np.einsum("iajb,iajb->ija", S, M)
        explained_x += n * ((2 * MS - np.einsum("iajb,iajb->ija", SB, S)) * x.target[:, None]).sum(axis=2)
        spread_y += n * (np.einsum("jbb->jb", B) * y.target).sum(axis=1)
        spread_x += n * (np.einsum("iaa->ia", A) * x.target).sum(axis=1)
    scale = np.sqrt(sums["f2"] * sums["g2"])
    correlations = np.divide(sums["cross"], scale, out=np.zeros(shape), where=scale > 0)
    n_all = n_test.sum()
    return PairScores(
        np.clip(correlations, -1, 1),
        sums["captured"] / n_all,
        sums["training"] / (n_all * (len(n_test) - 1)),
        divide_spread(explained_y, spread_y),
        divide_spread(explained_x, spread_x[:, None]),
    )


def divide_spread(explained: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Divide what is explained by the spread there is; where there is none, nothing is explained."""
    shown = np.broadcast_to(spread, explained.shape)
    return np.divide(explained, shown, out=np.zeros_like(explained), where=shown > 0)


def find_leading(K: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the first singular triple of the covariances of each pair.

    Parameters
    ----------
    K : ndarray of shape (k, p, l, q)
        The covariances of k columns with l others.

    Returns
    -------
    u, s, v : ndarray of shape (k, l, p), (k, l), (k, l, q)
        The vectors, and the values.
    """
    if K.shape[1] > K.shape[3]:
        v, s, u = find_leading(K.transpose(2, 3, 0, 1))
        return u.swapaxes(0, 1), s.T, v.swapaxes(0, 1)
    k, p, m, q = K.shape
    C = np.ascontiguousarray(K.transpose(1, 3, 0, 2)).reshape(p, q, k * m)
    u = _iterate_powers(C) if p <= MAX_WIDTH_FOR_POWERS else _find_eigenvectors(C)
    v = np.einsum("an,aqn->qn", u, C)
    s = np.sqrt((v**2).sum(axis=0))
    v /= np.maximum(s, np.finfo(K.dtype).tiny)
    return u.T.reshape(k, m, p), s.reshape(k, m), v.T.reshape(k, m, q)


def _find_eigenvectors(C: np.ndarray) -> np.ndarray:
    wide = C.transpose(2, 0, 1).astype(np.float64)
    return np.linalg.eigh(wide @ wide.swapaxes(1, 2))[1][..., -1].T.astype(C.dtype)


def _iterate_powers(C: np.ndarray) -> np.ndarray:
    """Find the first left singular vectors of small matrices C, of which there may be millions, along the last axis.

    The power 2^k of C C' takes k squares, and its columns turn to the first vector. Where the first two values nearly
    agree they may be mixed, and the mixture is correlated as strongly.
    """
    parts = [C[..., start : start + MATRICES_PER_BATCH] for start in range(0, C.shape[2], MATRICES_PER_BATCH)]
    G = np.concatenate([_square_repeatedly(part, POWER_SQUARES) for part in parts], axis=2)
    best = np.einsum("aan->an", G).argmax(axis=0)
    u = np.take_along_axis(G, best[None, None], axis=1)[:, 0]
    length = np.sqrt((u**2).sum(axis=0))
    is_zero = length < 0.5 / len(C)  # the trace is 1, or 0 if there is no covariance: then any vector will do
    u[0, is_zero], length[is_zero] = 1, 1
    return np.asarray(u / length)


def _square_repeatedly(C: np.ndarray, times: int) -> np.ndarray:
    """Compute the power 2^times of C C', with the trace 1."""
    G = C
    for _ in range(1 + times):
        G = np.einsum("aqn,bqn->abn", G, G)
        G /= np.maximum(np.einsum("aan->n", G), np.finfo(C.dtype).tiny)
    return G


def shrink(
    K: np.ndarray, u: np.ndarray, s: np.ndarray, v: np.ndarray, n: float, p: np.ndarray, q: np.ndarray
) -> np.ndarray:
    """Shrink the singular values of covariances that are known to a variance of 1 / n each.

    Parameters
    ----------
    K, u, s, v
        The covariances, and their first singular triples; see `find_leading`.
    n : float
        The number of training rows.
    p, q : ndarray
        The numbers of features of the columns.
    """
    norm = (K**2).sum(axis=(1, 3))
    low, high = np.minimum(p[:, None], q), np.maximum(p[:, None], q)
    # Gavish and Donoho: with y = s in units of the noise and beta = low / high, values up to 1 + sqrt(beta) are noise.
    y, beta = s * np.sqrt(n / high), low / high
    stands_out = y > 1 + np.sqrt(beta)
    inner = np.maximum((y**2 - beta - 1) ** 2 - 4 * beta, 0)
    first = np.divide(np.sqrt(inner), y, out=np.zeros_like(y), where=stands_out) * np.sqrt(high / n)
    rest = norm - np.where(stands_out, s**2, 0)
    noise = np.where(stands_out, (low - 1) * (high - 1), low * high) / n
    factor = np.clip(1 - noise / np.maximum(rest, 1e-30), 0, 1)
    weight = np.where(stands_out, first - factor * s, 0).astype(K.dtype)
    shrunk = K * factor[:, None, :, None].astype(K.dtype)
    shrunk += np.einsum("ij,ija,ijb->iajb", weight, u, v, optimize=True)
    return shrunk


def _multiply_left(A: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Multiply the features of x of each pair by a matrix for each column of x."""
    k, p, rest, q = K.shape
    return (A.astype(K.dtype) @ K.reshape(k, p, rest * q)).reshape(k, A.shape[1], rest, q)


def _multiply_right(K: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Multiply the features of y of each pair by a matrix for each column of y."""
    return _multiply_left(B.swapaxes(1, 2), K.transpose(2, 3, 0, 1)).transpose(2, 3, 0, 1)


def _multiply_sides(A: np.ndarray, K: np.ndarray, B: np.ndarray) -> np.ndarray:
    return _multiply_right(_multiply_left(A, K), B)


def _sum_products_of(K: np.ndarray, S: np.ndarray) -> np.ndarray:
    return np.einsum("iajb,iajb->ij", K, S)


def _measure_squares(u: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Compute u' A u for each pair, with a matrix for each column of x."""
    return np.einsum("ija,iab,ijb->ij", u, A.astype(u.dtype), u, optimize=True)
