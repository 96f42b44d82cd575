"""Covariances of features that are too many for a matrix: products with them are computed from sparse rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from correspondence.core.column_blocks import MIN_EIGENVALUE_SHARE, BlockAxes, FeatureMoments
from correspondence.core.residual_svd import run_arpack

__all__ = ["SparseCovariance", "compute_sparse_moments", "find_sparse_block_axes"]

COVARIANCES_PER_BATCH = 1 << 22  # entries of the covariance that are computed at a time


@dataclass(frozen=True, eq=False)
class SparseCovariance:
    """The covariance of sparse features, which is never formed: it has products, blocks and a diagonal.

    Attributes
    ----------
    features : scipy.sparse.csr_array of shape (n, p)
        The features of the rows.
    share : ndarray of shape (n,)
        The weights of the rows, which are positive and sum to 1.
    mean : ndarray of shape (p,)
        The means of the features.

    Examples
    --------
    >>> cov = SparseCovariance(sp.csr_array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    >>> (cov @ np.eye(2)).tolist(), cov.diagonal().tolist()
    ([[0.25, -0.25], [-0.25, 0.25]], [0.25, 0.25])
    """

    features: sp.csr_array
    share: np.ndarray
    mean: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """The number of features, twice."""
        return len(self.mean), len(self.mean)

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        scores = self.features @ V - self.mean @ V
        return self.features.T @ (self.share[:, None] * scores) - np.outer(self.mean, self.share @ scores)

    def __getitem__(self, place: tuple[slice, slice]) -> np.ndarray:
        rows, columns = place
        own, other = self.features[:, rows], self.features[:, columns]
        products = own.T @ (sp.diags_array(self.share) @ other)
        return np.asarray(products.toarray() - np.outer(self.mean[rows], self.mean[columns]))

    def diagonal(self) -> np.ndarray:
        """Return the variances."""
        return np.asarray(self.features.power(2).T @ self.share - self.mean**2)

    def iterate_columns(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield some columns of the covariance at a time."""
        p = len(self.mean)
        step = max(1, COVARIANCES_PER_BATCH // p)
        for start in range(0, p, step):
            columns = slice(start, min(start + step, p))
            yield columns, self[slice(0, p), columns]


class _WhitenedFeatures:
    """The whitened features of the rows, centred and times the root of their weights, as `run_arpack` needs them."""

    def __init__(self, cov: SparseCovariance, whitening: sp.csr_array) -> None:
        self.root, self.centre = np.sqrt(cov.share), whitening.T @ cov.mean
        self.scaled = sp.csr_array(sp.diags_array(self.root) @ (cov.features @ whitening))
        self.shape = self.scaled.shape

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        return self.scaled @ V - np.multiply.outer(self.root, self.centre @ V)

    @property
    def T(self) -> _TransposedFeatures:  # noqa: N802 (as in NumPy)
        """The same with rows and columns exchanged."""
        return _TransposedFeatures(self)

    def multiply_gram(self, v: np.ndarray) -> np.ndarray:
        """Multiply a vector by the whitened covariance."""
        return self.T @ (self @ v.ravel())

    def toarray(self) -> np.ndarray:
        """Return the features as a dense array."""
        return self.scaled.toarray() - np.outer(self.root, self.centre)

    def sum_squares(self) -> float:
        """Compute the trace of the whitened covariance."""
        return float(self.scaled.power(2).sum() - self.centre @ self.centre)


class _TransposedFeatures:
    def __init__(self, features: _WhitenedFeatures) -> None:
        self.features = features

    def __matmul__(self, u: np.ndarray) -> np.ndarray:
        return self.features.scaled.T @ u - np.multiply.outer(self.features.centre, self.features.root @ u)


def compute_sparse_moments(features: sp.csr_array, weights: np.ndarray | None = None) -> FeatureMoments:
    """Return moments whose covariance is a `SparseCovariance`.

    Parameters
    ----------
    features : scipy.sparse.csr_array of shape (n, p)
        The features of the rows.
    weights : ndarray of shape (n,), optional
        The weights of the rows; each is 1 by default.

    Returns
    -------
    FeatureMoments
        The moments of the rows whose weight is not 0.

    Examples
    --------
    >>> moments = compute_sparse_moments(sp.csr_array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([1.0, 1.0, 0.0]))
    >>> moments.n, moments.mean.tolist(), moments.cov.features.shape
    (2.0, [0.5, 0.5], (2, 2))
    """
    own = np.ones(features.shape[0]) if weights is None else weights
    if not (own > 0).all():
        features, own = features[own > 0], own[own > 0]
    n = float(own.sum())
    share = own / n
    mean = np.asarray(features.T @ share)
    return FeatureMoments(n, mean, SparseCovariance(features, share, mean))


def find_sparse_block_axes(moments: FeatureMoments, whitening: sp.csr_array, n_components: int) -> BlockAxes:
    """Find the leading scores from sparse rows.

    Parameters
    ----------
    moments : FeatureMoments
        Those of `compute_sparse_moments`.
    whitening : scipy.sparse array of shape (p, r)
        The matrix of `whiten_blocks`.
    n_components : int
        The number of axes.

    Returns
    -------
    BlockAxes
        The same as of `find_block_axes`.

    Warns
    -----
    Inexact
        When the iteration stopped before the axes were exact to 1e-9.
    """
    used = np.flatnonzero(np.asarray(abs(whitening).sum(axis=0)).ravel() > 0)
    whitening = sp.csr_array(whitening[:, used])
    Q: Any = _WhitenedFeatures(moments.cov, whitening)  # it has what run_arpack needs of residuals
    k = min(n_components, *Q.shape)
    _, s, V = run_arpack(Q, k, None)
    rank = int((s**2 > MIN_EIGENVALUE_SHARE * s[0] ** 2).sum())
    weights = whitening @ V[:, :rank] / s[:rank]
    return BlockAxes(s[:rank] ** 2, moments.mean, weights, moments.cov @ weights, Q.sum_squares())
