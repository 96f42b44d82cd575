"""Most correlated combinations of features under a quadratic penalty, as strong as the data ask for.

The covariance C_f of the features becomes C_f + strength * R_f (and C_g likewise), which chooses the shape of the
functions; they are then whitened without the penalty, which thus does not shrink them. The strength is chosen by what
the functions capture of folds that they have not seen, from the moments of the folds alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from correspondence.heldout import captured_by_moments
from correspondence.moments import Moments

__all__ = ["FOLDS", "PenalisedFit", "Penalty", "fit_penalised", "in_folds", "merged"]

FOLDS = 5
RANK = 1e-9  # variances of standardised features, of the largest, below which a direction is rounding
LARGE = 300  # features on the smaller side, from which on only the leading singular vectors are computed

Penalty = tuple[np.ndarray, np.ndarray]
"""R_f and R_g: matrices, or vectors for diagonal ones."""
Solution = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class PenalisedFit:
    """Weights of the features, one column for each function, with the correlations on the data of the fit."""

    moments: Moments
    A: np.ndarray
    B: np.ndarray
    correlations: np.ndarray
    strength: float


def in_folds(
    batches: Iterable[tuple[np.ndarray, np.ndarray]], groups: np.ndarray | None = None, first: int = 0
) -> list[Moments]:
    """Moments of features, the rows dealt out to the folds in turn, or by the numbers of their groups.

    Parameters
    ----------
    batches : iterable of pairs of ndarray
        Features of the two sides.
    groups : ndarray, optional
        Of all rows.
    first : int
        Number of the first row, if these are not all.
    """
    folds, seen = [Moments() for _ in range(FOLDS)], first
    for F, G in batches:
        rows = seen + np.arange(len(F))
        fold = (rows if groups is None else groups[rows]) % FOLDS
        for k, moments in enumerate(folds):
            moments.update(F[fold == k], G[fold == k])
        seen += len(F)
    return folds


def merged(parts: Iterable[Sequence[Moments]]) -> list[Moments]:
    """Folds of all rows, from those of parts of them."""
    return [sum(fold, start=Moments()) for fold in zip(*parts, strict=True)]


def fit_penalised(
    folds: Sequence[Moments], penalty: Penalty, n_components: int, strengths: Sequence[float]
) -> PenalisedFit:
    """Functions with the penalty that suits the data.

    Parameters
    ----------
    folds : sequence of Moments
        Of the features, each of other pairs.
    penalty : pair of ndarray
        R_f and R_g.
    n_components : int
        At most; the rank of the features may be smaller.
    strengths : sequence of float
        To choose from, ascending. The largest is taken that is within a standard error of the best.
    """
    total = sum(folds, start=Moments())
    strength = strengths[0]
    if len(strengths) > 1 and any(r.any() for r in penalty) and all(fold.n for fold in folds):
        strength = strengths[_strongest(_scores(folds, penalty, n_components, strengths))]
    A, B, s = _solution(total, penalty, n_components, strength)
    return PenalisedFit(total, A, B, s, float(strength))


def _scores(folds: Sequence[Moments], penalty: Penalty, d: int, strengths: Sequence[float]) -> np.ndarray:
    """What is captured of each fold, a row each, by functions fitted to the others with each strength."""
    scores = []
    for k, held_out in enumerate(folds):
        rest = sum([*folds[:k], *folds[k + 1 :]], start=Moments())
        solutions = _solutions(rest, penalty, d, strengths)
        scores.append([captured_by_moments(held_out, rest.mean_f, A, rest.mean_g, B, s) for A, B, s in solutions])
    return np.array(scores)


def _strongest(scores: np.ndarray) -> int:
    """Last column of scores that is within a standard error of the best column."""
    loss = scores[:, [int(np.argmax(scores.mean(axis=0)))]] - scores
    error = loss.std(axis=0, ddof=1) / np.sqrt(len(scores))
    return int(np.flatnonzero(loss.mean(axis=0) <= error).max())


def _solutions(moments: Moments, penalty: Penalty, d: int, strengths: Iterable[float]) -> Iterator[Solution]:
    """Weights of the functions of x and y and their correlations, for each strength."""
    (A, a), (B, b) = (_diagonal(c, r) for c, r in zip((moments.cov_f, moments.cov_g), penalty, strict=True))
    K = A.T @ moments.cov_fg @ B
    for strength in strengths:
        shrink_x, shrink_y = 1 / np.sqrt(1 + strength * a), 1 / np.sqrt(1 + strength * b)
        U, V = _leading(shrink_x[:, None] * K * shrink_y, d)
        U, V = _orthonormal(shrink_x[:, None] * U), _orthonormal(shrink_y[:, None] * V)
        P, s, Qt = np.linalg.svd(U.T @ K @ V)
        yield A @ U @ P, B @ V @ Qt.T, np.minimum(s, 1.0)


def _solution(moments: Moments, penalty: Penalty, d: int, strength: float) -> Solution:
    """The same for one strength, more exactly: no direction is ever divided by its variance without the penalty."""
    covs = moments.cov_f, moments.cov_g
    W, V = (_penalised_whitening(cov, r, strength) for cov, r in zip(covs, penalty, strict=True))
    U, T = _leading(W.T @ moments.cov_fg @ V, d)
    A, B = W @ U, V @ T
    A, B = A @ _whitening(A.T @ covs[0] @ A), B @ _whitening(B.T @ covs[1] @ B)
    P, s, Qt = np.linalg.svd(A.T @ moments.cov_fg @ B, full_matrices=False)
    return A @ P, B @ Qt.T, np.minimum(s, 1.0)


def _penalised_whitening(cov: np.ndarray, penalty: np.ndarray, strength: float) -> np.ndarray:
    """Directions in which the covariance with the penalty is 1.

    First the penalty is made diagonal: what is strongly penalised then does not blur what is not.
    """
    if penalty.ndim == 1:
        return _whitening(cov + strength * np.diag(penalty))
    rough, Q = np.linalg.eigh(penalty)
    rough = np.where(rough > 1e-13 * rough.max(initial=0), rough, 0)
    return Q @ _whitening(Q.T @ cov @ Q + strength * np.diag(rough))


def _whitening(cov: np.ndarray) -> np.ndarray:
    """Directions in which the covariance is 1, without those that have next to none."""
    scale = np.sqrt(np.maximum(np.diag(cov), 0))
    unit = np.where(scale > 0, scale, np.inf)  # rare labels and the tails of splines have a small variance
    values, vectors = np.linalg.eigh(cov / np.outer(unit, unit))
    keep = values > RANK * values.max(initial=0)
    return vectors[:, keep] / np.sqrt(values[keep]) / unit[:, None]


def _diagonal(cov: np.ndarray, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions in which the covariance is 1 and the penalty diagonal, and its values there."""
    values, vectors = np.linalg.eigh(cov)
    keep = values > RANK * values.max(initial=0)
    R = vectors[:, keep] / np.sqrt(values[keep])
    penalised = R.T @ (penalty[:, None] * R if penalty.ndim == 1 else penalty @ R)
    rough, Q = np.linalg.eigh(penalised)
    return R @ Q, np.maximum(rough, 0)


def _leading(K: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """The first d left and right singular vectors, as columns."""
    d = min(d, *K.shape)
    if min(K.shape) <= LARGE:
        U, _, Vt = np.linalg.svd(K, full_matrices=False)
        return U[:, :d], Vt[:d].T
    wide = K.shape[0] <= K.shape[1]
    short = K if wide else K.T
    m = len(short)
    _, U = eigh(short @ short.T, subset_by_index=[m - d, m - 1])
    U = U[:, ::-1]
    V = short.T @ U
    V /= np.maximum(np.linalg.norm(V, axis=0), np.finfo(float).tiny)
    return (U, V) if wide else (V, U)


def _orthonormal(U: np.ndarray) -> np.ndarray:
    """Orthonormal columns with the same span."""
    return np.linalg.qr(U)[0]
