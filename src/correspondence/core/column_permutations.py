"""Are the axes of many columns more than chance? Each column is permuted on its own.

If columns are independent, their values can be exchanged between rows, each column on its own, so for the first axis
the largest eigenvalue is compared with those of permuted columns: an exact test. Gaps stay where they are, because rows
that skip one question skip others too.

Axis i + 1 is compared with a model of i axes. Scores contain each column itself, so what they leave of the columns is
negatively correlated and smaller than it should be, and permuting just that would reject too often with few columns.
So the model is fitted to pairs of different columns only: C_kl = L_k L_l' for k != l (as in the joint analysis). What
the columns have of their own, with the covariance C_kk - L_k L_k', is permuted and added to what they have in common.
Eigenvalue i + 1 is then compared with that of such columns, whitened again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.linalg

from correspondence._util.threads import limit_blas_threads
from correspondence.core.dependence_views import InTurn

__all__ = ["PermutableColumns", "run_axes_in_turn"]

MIN_VARIANCE_SHARE = 1e-9  # of the largest; directions that vary less are rounding errors
MAX_COMMON_STEPS = 300
COMMON_TOLERANCE = 1e-4  # change of the largest entry of L_k L_k' in a step; whitened features have the variance 1
ROUNDING_TOLERANCE = 1e-9  # eigenvalues that differ by less are equal


@dataclass(frozen=True, eq=False)
class PermutableColumns:
    """Whitened features of columns, and where their values are known.

    Attributes
    ----------
    rows : ndarray of shape (n, r)
        The features, with mean 0; those of a column are uncorrelated.
    parts : list of slice
        The features of each column.
    given : ndarray of bool of shape (n, k)
        Whether the value of a column is known; only those are permuted.
    """

    rows: np.ndarray
    parts: list[slice]
    given: np.ndarray

    @classmethod
    def from_features(cls, features: list[np.ndarray], given: np.ndarray) -> PermutableColumns:
        """Centre the whitened features of each column, and leave out directions in which they do not vary."""
        reduced = []
        for own in features:
            centred = own - own.mean(axis=0)
            values, vectors = np.linalg.eigh(centred.T @ centred / len(own))
            reduced.append(centred @ vectors[:, values > MIN_VARIANCE_SHARE * max(values.max(initial=0), 1e-300)])
        edges = np.cumsum([0, *(own.shape[1] for own in reduced)]).tolist()
        return cls(np.hstack(reduced), [slice(a, b) for a, b in pairwise(edges)], given)

    @cached_property
    def known(self) -> list[np.ndarray]:
        """The positions of the known values of each column."""
        return [np.flatnonzero(own) for own in self.given.T]

    @cached_property
    def blocks(self) -> list[np.ndarray]:
        """The features of each column in an array of their own, from which rows are taken faster."""
        return [np.ascontiguousarray(self.rows[:, part]) for part in self.parts]

    @cached_property
    def is_own(self) -> np.ndarray:
        """Which pairs of features belong to the same column."""
        owner = np.repeat(np.arange(len(self.parts)), [part.stop - part.start for part in self.parts])
        return np.asarray(owner[:, None] == owner)

    def compute_covariance(self) -> np.ndarray:
        """Compute the covariances of all features."""
        return np.asarray(self.rows.T @ self.rows / len(self.rows))

    def permute(self, rng: np.random.Generator) -> np.ndarray:
        """Return the features after a permutation of the known values of each column."""
        permuted = np.empty_like(self.rows)
        for part, block, known in zip(self.parts, self.blocks, self.known, strict=True):
            order = np.arange(len(block))
            order[known] = rng.permutation(known)
            permuted[:, part] = block.take(order, axis=0)
        return permuted


def run_axes_in_turn(columns: PermutableColumns, d: int, n_draws: int, seed: int, stop_above: float) -> InTurn:
    """Test d axes one after the other, until one is not more than chance.

    Parameters
    ----------
    columns : PermutableColumns
        The whitened features of the columns.
    d : int
        Test at most this many axes.
    n_draws : int
        Compare with this many permutations.
    seed : int
        The permutations depend on this seed.
    stop_above : float
        After a larger p-value later axes are not tested; theirs is 1.

    Returns
    -------
    InTurn
        P-values, and eigenvalues divided by the number of columns beside those of the permutations.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(200, 1))
    >>> features = [z + rng.normal(size=(200, 1)) for _ in range(5)]
    >>> features = [own / own.std() for own in features]
    >>> columns = PermutableColumns.from_features(features, np.ones((200, 5), dtype=bool))
    >>> run_axes_in_turn(columns, 2, 199, 0, 0.5).pvalues <= 0.05
    array([ True, False])
    """
    k, r = len(columns.parts), columns.rows.shape[1]
    pvalues, observed, null = np.ones(d), np.zeros(d), np.zeros((n_draws, d))
    cov = columns.compute_covariance()
    values = scipy.linalg.eigvalsh(cov)[::-1]
    for i in range(min(d, r)):
        with limit_blas_threads(True):  # hundreds of small matrices
            null[:, i] = [_find_eigenvalue(own, i) for own in _draw_covariances(columns, cov, i, n_draws, seed)]
        observed[i] = values[i]
        pvalues[i] = (1 + (null[:, i] >= values[i] - ROUNDING_TOLERANCE).sum()) / (1 + n_draws)
        if pvalues[: i + 1].max() > stop_above:
            break
    return InTurn(np.maximum.accumulate(pvalues), observed / k, null / k)


def _find_eigenvalue(cov: np.ndarray, i: int) -> float:
    """Find the eigenvalue at position i, from the largest on."""
    at = len(cov) - 1 - i
    return float(scipy.linalg.eigh(cov, eigvals_only=True, subset_by_index=[at, at], check_finite=False)[0])


def _draw_covariances(
    columns: PermutableColumns, cov: np.ndarray, i: int, n_draws: int, seed: int
) -> Iterator[np.ndarray]:
    """Draw covariances of columns that have i axes in common, and nothing else."""
    rng, n = np.random.default_rng([seed, 11, i]), len(columns.rows)
    if not i:
        for _ in range(n_draws):
            permuted = columns.permute(rng)
            yield permuted.T @ permuted / n
        return
    L = _fit_common_axes(columns, cov, i)
    scores = columns.rows @ (np.linalg.pinv(cov, rcond=MIN_VARIANCE_SHARE, hermitian=True) @ L)
    scores = scores @ _compute_root(scores.T @ scores / n, inverse=True)
    own = _find_own_parts(columns, cov, scores, L)
    for _ in range(n_draws):
        drawn = own.permute(rng) + scores @ L.T
        yield _whiten_again(drawn.T @ drawn / n, cov, columns.is_own)


def _fit_common_axes(columns: PermutableColumns, cov: np.ndarray, i: int) -> np.ndarray:
    """Find L of shape (r, i) such that L_k L_l' fits the covariances of different columns."""
    is_own = columns.is_own
    common = np.where(is_own, 0, cov)
    before = np.full(cov.shape, np.inf)
    for _ in range(MAX_COMMON_STEPS):
        values, vectors = np.linalg.eigh(common)
        L = vectors[:, -i:] * np.sqrt(np.maximum(values[-i:], 0))
        predicted = L @ L.T
        if np.abs(predicted - before)[is_own].max() < COMMON_TOLERANCE:
            break
        before, common = predicted, np.where(is_own, predicted, cov)
    return L


def _find_own_parts(
    columns: PermutableColumns, cov: np.ndarray, scores: np.ndarray, L: np.ndarray
) -> PermutableColumns:
    """Return what columns have of their own: what the scores leave, scaled to the covariances C_kk - L_k L_k'."""
    left = columns.rows - scores @ (scores.T @ columns.rows / len(scores))
    for part in columns.parts:
        own, wanted = left[:, part], cov[part, part] - L[part] @ L[part].T
        left[:, part] = own @ (_compute_root(own.T @ own / len(own), inverse=True) @ _compute_root(wanted))
    return PermutableColumns(left, columns.parts, columns.given)


def _whiten_again(drawn: np.ndarray, cov: np.ndarray, is_own: np.ndarray) -> np.ndarray:
    """Give each column the variances that it has among the given rows."""
    scale = np.sqrt(np.diag(cov))
    own = np.where(is_own, drawn, 0) + np.diag(MIN_VARIANCE_SHARE * scale**2)
    root = scipy.linalg.cholesky(own, lower=True, check_finite=False)
    W = scipy.linalg.solve_triangular(root, np.diag(scale), lower=True, trans="T", check_finite=False)
    return np.asarray(W.T @ drawn @ W)


def _compute_root(matrix: np.ndarray, *, inverse: bool = False) -> np.ndarray:
    """Compute the symmetric root of a covariance matrix, or of its inverse; directions without variance stay so."""
    values, vectors = np.linalg.eigh(matrix)
    varies = values > MIN_VARIANCE_SHARE * max(values.max(initial=0), 1e-300)
    scale = np.where(varies, np.where(varies, values, 1) ** (-0.5 if inverse else 0.5), 0)
    return np.asarray((vectors * scale) @ vectors.T)
