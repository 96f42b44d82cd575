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
from typing import NamedTuple

import numpy as np

from correspondence.association.pair_moments import WhitenedBlock, at_least_one_row

__all__ = ["FoldCovariances", "PairScores", "centre_products", "judge_pairs", "split_covariances"]

MAX_WIDTH_FOR_POWERS = 8  # of matrices whose first vectors are found by powers, for all pairs at once
POWER_SQUARES = 7
MATRICES_PER_BATCH = 2048  # that stay in a core's cache


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


def split_covariances(products: np.ndarray, x: WhitenedBlock, y: WhitenedBlock) -> Iterator[FoldCovariances]:
    """Compute the covariances of training rows and of held-out rows in each fold.

    Parameters
    ----------
    products : ndarray of shape (folds, columns of x, width of x, columns of y, width of y)
        The sums of the products of the features.
    x, y : WhitenedBlock
        The columns.
    """
    total = products.sum(axis=0)
    for fold, own in enumerate(products):
        yield centre_products(total - own, own, fold, x, y)


def centre_products(
    train: np.ndarray, test: np.ndarray, fold: int, x: WhitenedBlock, y: WhitenedBlock
) -> FoldCovariances:
    """Turn sums of products in a fold into covariances.

    Parameters
    ----------
    train, test : ndarray of shape (columns of x, width of x, columns of y, width of y)
        The sums over the training rows, and over the held-out rows.
    fold : int
        The fold.
    x, y : WhitenedBlock
        The columns.
    """
    dtype, n_test = train.dtype, x.n.sum(axis=1)
    n_train, n = (at_least_one_row(m)[:, None, :, None] for m in (n_test.sum(axis=0) - n_test[fold], n_test[fold]))
    mu, nu = x.train_mean[fold], y.train_mean[fold]
    of_train = train / n_train.astype(dtype) - _multiply_means(mu, nu).astype(dtype)
    shift = (mu - x.test_mean[fold]) * (n_test[fold] > 0)[..., None]
    of_test = test / n.astype(dtype) + _multiply_means(shift, nu).astype(dtype)
    of_test -= _multiply_means(mu, y.test_mean[fold]).astype(dtype)
    return FoldCovariances(of_train, of_test)


def _multiply_means(mu: np.ndarray, nu: np.ndarray) -> np.ndarray:
    """Multiply the means of the features of x and of y, to an array of shape (k, width of x, l, width of y)."""
    return mu.swapaxes(1, 2)[..., None] * nu[:, None]


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
    shape = (x.target.shape[0], y.target.shape[1])
    keys = ("cross", "f2", "g2", "captured", "training", "explained_y", "explained_x", "spread_y", "spread_x", "judged")
    sums: dict[str, np.ndarray] = {key: np.zeros(shape) for key in keys}
    for fold, (train, test) in enumerate(folds):
        n, n_train, dtype = n_test[fold], n_test.sum(axis=0) - n_test[fold], train.dtype
        W, V = x.whitening[fold].astype(dtype), y.whitening[fold].astype(dtype)
        K, M = (_multiply_sides(W.swapaxes(2, 3), part, V) for part in (train, test))
        u, s, v = find_leading(K)
        S = shrink(K, u, s, v, n_train, x.widths[fold], y.widths[fold])
        A, B = x.pool_halves(fold), y.pool_halves(fold)
        # The first pair of functions.
        sums["cross"] += n * np.einsum("ija,iajb,ijb->ij", u, M, v, optimize=True)
        sums["f2"] += n * _measure_squares(u, A)
        sums["g2"] += n * _measure_squares(v, B)
        sums["training"] += n_train * s
        SM = np.einsum("iajb,iajb->ijb", S, M)
        judged = n * (x.n[fold] > 0).all(axis=0)  # squares need rows in both halves
        sums["captured"] += judged * (2 * SM.sum(axis=2) - _measure_model(S, x, y, fold))
        sums["judged"] += judged
        # what the regression on one column explains of the features of the other that have to be predicted
        AS, SB = _multiply_left(A, S), _multiply_right(S, B)
        MS = np.einsum("iajb,iajb->ija", S, M)
        sums["explained_y"] += n * ((2 * SM - np.einsum("iajb,iajb->ijb", AS, S)) * y.target).sum(axis=2)
        sums["explained_x"] += n * ((2 * MS - np.einsum("iajb,iajb->ija", SB, S)) * x.target).sum(axis=2)
        sums["spread_y"] += n * (np.einsum("ijbb->ijb", B) * y.target).sum(axis=2)
        sums["spread_x"] += n * (np.einsum("ijaa->ija", A) * x.target).sum(axis=2)
    n_all = at_least_one_row(n_test.sum(axis=0))
    return PairScores(
        np.clip(divide_known(sums["cross"], np.sqrt(sums["f2"] * sums["g2"])), -1, 1),
        divide_known(sums["captured"], sums["judged"]),
        sums["training"] / (n_all * (len(n_test) - 1)),
        divide_known(sums["explained_y"], sums["spread_y"]),
        divide_known(sums["explained_x"], sums["spread_x"]),
    )


def _measure_model(S: np.ndarray, x: WhitenedBlock, y: WhitenedBlock, fold: int) -> np.ndarray:
    """Compute the mean square of the model without its 1, over pairs of rows of different halves."""
    squares = np.zeros((S.shape[0], S.shape[2]))
    for one, other in ((0, 1), (1, 0)):
        (of_a, a), (of_b, b) = (_name_axes(own.astype(S.dtype)) for own in (x.means[fold, one], y.means[fold, other]))
        squares += np.einsum(f"ijb,{of_b}b->ij", np.einsum(f"{of_a}a,iajb->ijb", a, S), b)
        squares += _sum_products_of(_multiply_sides(x.seconds[fold, one], S, y.seconds[fold, other]), S) / 2
    return squares


def _name_axes(array: np.ndarray) -> tuple[str, np.ndarray]:
    """Name those of the axes of x and of y along which an array varies, for `einsum`, and drop the others."""
    sizes = array.shape[:2]
    names = "".join(name for name, size in zip("ij", sizes, strict=True) if size > 1)
    return names, array.reshape([size for size in sizes if size > 1] + list(array.shape[2:]))


def divide_known(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Divide by what there is; where there is nothing, the share is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


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
    K: np.ndarray, u: np.ndarray, s: np.ndarray, v: np.ndarray, n: np.ndarray, p: np.ndarray, q: np.ndarray
) -> np.ndarray:
    """Shrink the singular values of covariances that are known to a variance of 1 / n each.

    Parameters
    ----------
    K, u, s, v
        The covariances, and their first singular triples; see `find_leading`.
    n, p, q : ndarray that can be broadcast to shape (k, l)
        The number of training rows, and the numbers of features of the columns.
    """
    norm, n = (K**2).sum(axis=(1, 3)), at_least_one_row(n)
    low, high = np.minimum(p, q), np.maximum(np.maximum(p, q), 1)
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
    """Multiply the features of x of each pair by a matrix for each column of x, or for each pair."""
    k, p, rest, q = K.shape
    A = A.astype(K.dtype)
    if A.shape[1] > 1:
        return (A @ K.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
    return (A[:, 0] @ K.reshape(k, p, rest * q)).reshape(k, p, rest, q)


def _multiply_right(K: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Multiply the features of y of each pair by a matrix for each column of y, or for each pair."""
    return _multiply_left(B.transpose(1, 0, 3, 2), K.transpose(2, 3, 0, 1)).transpose(2, 3, 0, 1)


def _multiply_sides(A: np.ndarray, K: np.ndarray, B: np.ndarray) -> np.ndarray:
    return _multiply_right(_multiply_left(A, K), B)


def _sum_products_of(K: np.ndarray, S: np.ndarray) -> np.ndarray:
    return np.einsum("iajb,iajb->ij", K, S)


def _measure_squares(u: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Compute u' A u for each pair, with a matrix for each column, or for each pair."""
    names, matrices = _name_axes(A.astype(u.dtype))
    return np.einsum(f"ija,{names}ab,ijb->ij", u, matrices, u, optimize=True)
