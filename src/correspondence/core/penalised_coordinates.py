"""Coordinates in which covariance and penalty are both simple.

Names and symbols: the covariances of the features are C_f, C_g and C_fg, the penalties R_f and R_g; a pair of functions
has the coordinates u and v.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from functools import cached_property

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, svds

from correspondence.core.moments import Moments

__all__ = [
    "MAX_FEATURES_FOR_FULL_SVD",
    "RANK_TOLERANCE",
    "DiagonalPenalty",
    "Family",
    "PenalisedCoordinates",
    "Penalty",
    "WholePenalty",
    "diagonalise_penalty",
    "lead_pairs",
    "whiten_covariance",
    "whiten_with_penalty",
]

RANK_TOLERANCE = 1e-9  # a direction whose variance is a smaller share of the largest is rounding
MAX_FEATURES_FOR_FULL_SVD = 100  # features of the smaller side; with more, only leading singular vectors are computed
MAX_FEATURES_FOR_DENSE_EIGH = 600  # with more features of the smaller side, a Lanczos iteration is ten times as fast
Penalty = tuple[np.ndarray, np.ndarray]
"""R_f and R_g: matrices, or vectors for diagonal ones."""
Products = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Family = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Directions W and V of both sides in which covariance plus penalty is 1, and the diagonal of W^T C_fg V."""


class PenalisedCoordinates(ABC):
    """Coordinates in which the functions of given moments are found; solutions are kept for each strength."""

    def __init__(self, moments: Moments, penalty: Penalty, n_leading: int) -> None:
        self.moments, self.penalty, self.n_leading = moments, penalty, n_leading
        self._families: dict[float, Family] = {}

    def get_family(self, strength: float) -> Family:
        """Return the leading directions under a penalty of this strength."""
        if strength not in self._families:
            self._families[strength] = self.solve_family(strength)
        return self._families[strength]

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of coordinates of each side."""

    @abstractmethod
    def solve_family(self, strength: float) -> Family:
        """Find the leading directions under a penalty of this strength."""

    @abstractmethod
    def multiply_covariances(self, u: np.ndarray, v: np.ndarray) -> Products:
        """Compute C_f u, C_fg v, C_g v and C_gf u."""

    @abstractmethod
    def invert_covariances(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute C_f^-1 x and C_g^-1 y: the functions with these covariances with all features."""

    @abstractmethod
    def on_features(self, U: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights of the features."""


class DiagonalPenalty(PenalisedCoordinates):
    """Coordinates in which covariances are 1 and penalties diagonal: quick for many strengths."""

    def __init__(self, moments: Moments, penalty: Penalty, n_leading: int) -> None:
        super().__init__(moments, penalty, n_leading)
        (self.A, self.a), (self.B, self.b) = (
            diagonalise_penalty(c, r) for c, r in zip((moments.cov_f, moments.cov_g), penalty, strict=True)
        )
        self.K = self.A.T @ moments.cov_fg @ self.B

    @property
    def shape(self) -> tuple[int, int]:  # noqa: D102
        return self.K.shape[0], self.K.shape[1]

    def solve_family(self, strength: float) -> Family:  # noqa: D102
        x, y = 1 / np.sqrt(1 + strength * self.a), 1 / np.sqrt(1 + strength * self.b)
        P, s, Q = lead_pairs(x[:, None] * self.K * y, self.n_leading)
        return x[:, None] * P, s, y[:, None] * Q

    def multiply_covariances(self, u: np.ndarray, v: np.ndarray) -> Products:  # noqa: D102
        return u, self.K @ v, v, self.K.T @ u

    def invert_covariances(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # noqa: D102
        return x, y

    def on_features(self, U: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # noqa: D102
        return self.A @ U, self.B @ V


class WholePenalty(PenalisedCoordinates):
    """The features themselves: more exact, because no direction is divided by its variance without the penalty."""

    @property
    def shape(self) -> tuple[int, int]:  # noqa: D102
        return len(self.moments.mean_f), len(self.moments.mean_g)

    def solve_family(self, strength: float) -> Family:  # noqa: D102
        covs = self.moments.cov_f, self.moments.cov_g
        W, V = (whiten_with_penalty(cov, r, strength) for cov, r in zip(covs, self.penalty, strict=True))
        P, s, Q = lead_pairs(W.T @ self.moments.cov_fg @ V, self.n_leading)
        return W @ P, s, V @ Q

    def multiply_covariances(self, u: np.ndarray, v: np.ndarray) -> Products:  # noqa: D102
        moments = self.moments
        return moments.cov_f @ u, moments.cov_fg @ v, moments.cov_g @ v, moments.cov_fg.T @ u

    def invert_covariances(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # noqa: D102
        W, V = self._whitenings
        return W @ (W.T @ x), V @ (V.T @ y)

    @cached_property
    def _whitenings(self) -> tuple[np.ndarray, np.ndarray]:
        return whiten_covariance(self.moments.cov_f), whiten_covariance(self.moments.cov_g)

    def on_features(self, U: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # noqa: D102
        return U, V


def whiten_with_penalty(cov: np.ndarray, penalty: np.ndarray, strength: float) -> np.ndarray:
    """Find directions in which the covariance with the penalty is 1.

    The penalty is first made diagonal, so that strongly penalised directions do not blur the others.
    """
    if penalty.ndim == 1:
        return whiten_covariance(cov + strength * np.diag(penalty))
    rough, Q = np.linalg.eigh(penalty)
    rough = np.where(rough > 1e-13 * rough.max(initial=0), rough, 0)
    return Q @ whiten_covariance(Q.T @ cov @ Q + strength * np.diag(rough))


def whiten_covariance(cov: np.ndarray) -> np.ndarray:
    """Find directions in which the covariance is 1, without those that have hardly any variance."""
    # Standardise first: rare labels and the tails of splines have a small variance, but are not rounding.
    scale = np.sqrt(np.maximum(np.diag(cov), 0))
    unit = np.where(scale > 0, scale, np.inf)
    values, vectors = np.linalg.eigh(cov / np.outer(unit, unit))
    keep = values > RANK_TOLERANCE * values.max(initial=0)
    return vectors[:, keep] / np.sqrt(values[keep]) / unit[:, None]


def diagonalise_penalty(cov: np.ndarray, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find directions in which the covariance is 1 and the penalty diagonal, and the penalties there."""
    values, vectors = np.linalg.eigh(cov)
    keep = values > RANK_TOLERANCE * values.max(initial=0)
    R = vectors[:, keep] / np.sqrt(values[keep])
    if penalty.ndim == 1 and np.ptp(penalty) == 0:  # diagonal already, for the eigenvectors are orthogonal
        return R, penalty[0] / values[keep]
    penalised = R.T @ (penalty[:, None] * R if penalty.ndim == 1 else penalty @ R)
    rough, Q = np.linalg.eigh(penalised)
    return R @ Q, np.maximum(rough, 0)


def lead_pairs(K: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the first d left singular vectors (as columns), singular values, and right singular vectors (as columns)."""
    d = min(d, *K.shape)
    if min(K.shape) <= MAX_FEATURES_FOR_FULL_SVD:
        U, s, Vt = np.linalg.svd(K, full_matrices=False)
        return U[:, :d], s[:d], Vt[:d].T
    if min(K.shape) > max(MAX_FEATURES_FOR_DENSE_EIGH, 10 * d):
        with suppress(ArpackError):  # there is nothing to find, or too little for an iteration
            U, s, Vt = svds(K, d, v0=np.random.default_rng(0).standard_normal(min(K.shape)), solver="arpack")
            return U[:, ::-1], s[::-1], Vt[::-1].T
    # Eigenvectors of K K^T on the shorter side, from which those of the longer one follow.
    wide = K.shape[0] <= K.shape[1]
    short = K if wide else K.T
    m = len(short)
    U = eigh(short @ short.T, subset_by_index=[m - d, m - 1])[1][:, ::-1]
    V = short.T @ U
    s = np.linalg.norm(V, axis=0)
    V /= np.maximum(s, np.finfo(float).tiny)
    return (U, s, V) if wide else (V, s, U)
