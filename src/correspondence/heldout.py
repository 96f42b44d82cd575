"""How far a decomposition holds on data that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import norm

from correspondence.checks import check_weights

__all__ = ["HeldOut", "captured_by_moments", "captured_terms", "gain", "held_out"]


@dataclass(frozen=True, eq=False, repr=False)
class HeldOut:
    """What is left of a decomposition on new pairs.

    Attributes
    ----------
    correlations : ndarray of shape (d,)
        Pearson correlation of f_i(x) and g_i(y) over the new pairs; 0, with the interval [-1, 1], where one of
        them is constant.
    intervals : ndarray of shape (d, 2)
        Confidence intervals of the correlations (large-sample, for any distribution).
    captured : float
        Lower bound on chi2(X; Y) that the functions prove: equal to it only for the true decomposition, and
        negative if they predict worse than no dependence at all.
    captured_interval : ndarray of shape (2,)
        Its confidence interval.
    n : float
        Number of the new pairs. Weights count as numbers of pairs: the intervals take their sum for the sample size.
    level : float
        Of the confidence intervals.
    """

    correlations: np.ndarray
    intervals: np.ndarray
    captured: float
    captured_interval: np.ndarray
    n: float
    level: float

    def __repr__(self) -> str:
        low, high = self.captured_interval
        lines = [
            f"HeldOut on n {self.n:g}: captured {self.captured:.4g} [{low:.4g}, {high:.4g}] ({100 * self.level:g} %)"
        ]
        for i, (value, (low, high)) in enumerate(zip(self.correlations, self.intervals, strict=True), start=1):
            lines.append(f"  correlation {i}: {value:.4f} [{low:.4f}, {high:.4f}]")
        return "\n".join(lines)


def held_out(F: np.ndarray, G: np.ndarray, correlations: np.ndarray, pairs: Any = None, level: float = 0.95) -> HeldOut:
    """Evaluate functions on new pairs.

    Parameters
    ----------
    F, G : ndarray of shape (n, d) and (m, d)
        Values of f and g at some x and y.
    correlations : ndarray of shape (d,)
        What the fit promised: sqrt(lambda_i).
    pairs : ndarray of shape (n,), or array or scipy sparse array of shape (n, m), optional
        Weights of the pairs (x_k, y_k), 1 each by default; or of each x with each y.
    level : float
        Of the confidence intervals.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}.")
    if len(F) == 0:
        raise ValueError("There are no pairs to evaluate on.")
    if pairs is None or np.ndim(pairs) == 1:
        pairs = sp.diags_array(np.ones(len(F)) if pairs is None else check_weights(pairs, len(F), "The weights"))
    n = float(pairs.sum())
    joint = sp.csr_array(pairs) / n
    quantile = float(norm.ppf((1 + level) / 2))
    r, intervals = _correlations(F, G, joint, quantile / np.sqrt(n))
    captured, influence = _captured(F, G, correlations, joint)
    deviation = float(np.sqrt(joint.data @ influence**2))
    interval = captured + quantile / np.sqrt(n) * deviation * np.array([-1.0, 1.0])
    return HeldOut(r, intervals, captured, interval, n, level)


def _margins(joint: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    return joint.sum(axis=1), joint.sum(axis=0)


def _correlations(F: np.ndarray, G: np.ndarray, joint: sp.csr_array, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Pearson correlations and, by the delta method on Fisher's z scale, their intervals."""
    p, q = _margins(joint)
    f, g = _standardised(F, p), _standardised(G, q)

    def mean(a: int, b: int) -> np.ndarray:
        """E[f^a g^b] for each component."""
        return np.einsum("ij,ij->j", f**a, joint @ g**b)

    r = np.clip(mean(1, 1), -1, 1)
    # Variance of the influence f g - r (f^2 + g^2) / 2, whose mean is 0.
    fourth = mean(4, 0) + 2 * mean(2, 2) + mean(0, 4)
    variance = mean(2, 2) - r * (mean(3, 1) + mean(1, 3)) + r**2 / 4 * fourth
    is_defined = (mean(2, 0) > 0.5) & (mean(0, 2) > 0.5)  # neither function is constant on these pairs
    inside = np.abs(r) < 1 - 1e-12
    z = np.arctanh(np.where(inside, r, 0))
    half = width * np.sqrt(np.maximum(variance, 0)) / np.where(inside, 1 - r**2, 1)
    intervals = np.where(inside[:, None], np.tanh(np.column_stack([z - half, z + half])), r[:, None])
    return np.where(is_defined, r, 0.0), np.where(is_defined[:, None], intervals, [-1.0, 1.0])


def _standardised(F: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Mean 0 and variance 1; a constant, but for rounding errors, becomes 0."""
    centred = F - p @ F
    scale = np.sqrt(p @ centred**2)
    varies = scale > 1e-12 * np.abs(F).max(axis=0, initial=0)
    return np.where(varies, centred / np.where(varies, scale, 1), 0)


def captured_by_moments(
    moments: Any, mean_f: np.ndarray, A: np.ndarray, mean_g: np.ndarray, B: np.ndarray, correlations: np.ndarray
) -> float:
    """`captured` of the functions (F - mean_f) @ A and (G - mean_g) @ B, from the moments of features F and G alone."""
    root = np.sqrt(correlations)
    A, B = A * root, B * root
    a, b = (moments.mean_f - mean_f) @ A, (moments.mean_g - mean_g) @ B
    cross = np.einsum("pi,pq,qi->", A, moments.cov_fg, B, optimize=True) + a @ b
    second_f = A.T @ moments.cov_f @ A + np.outer(a, a)
    second_g = B.T @ moments.cov_g @ B + np.outer(b, b)
    return float(2 * cross - 2 * a @ b - np.sum(second_f * second_g))


def gain(first: np.ndarray, second: np.ndarray) -> float:
    """How many standard errors the second of two `captured` values is above the first, from their terms."""
    difference = second - first
    if np.abs(difference).max(initial=0) <= 1e-9 * np.abs(first).max(initial=0):
        return 0.0  # the same functions but for rounding, whose errors may all have one sign
    error = difference.std() / np.sqrt(len(difference))
    return (
        float(difference.mean() / error)
        if error > 0
        else float(np.sign(difference.mean()) * np.inf if difference.any() else 0)
    )


def captured_terms(F: np.ndarray, G: np.ndarray, correlations: np.ndarray) -> np.ndarray:
    """One term for each pair, whose mean is `captured` and whose variance is that of n times its estimate."""
    joint = sp.csr_array(sp.diags_array(np.full(len(F), 1 / len(F))))
    captured, influence = _captured(F, G, correlations, joint)
    return captured + influence


def _captured(F: np.ndarray, G: np.ndarray, correlations: np.ndarray, joint: sp.csr_array) -> tuple[float, np.ndarray]:
    """2 E[sum_i s_i f_i g_i] - sum_ij s_i s_j E[f_i f_j] E[g_i g_j] - 1, and its influence function at each pair.

    The sums are from 0, with the constants f_0 = g_0 = s_0 = 1.
    """
    root = np.sqrt(np.concatenate([[1.0], correlations]))
    f = np.column_stack([np.ones(len(F)), F]) * root
    g = np.column_stack([np.ones(len(G)), G]) * root
    p, q = _margins(joint)
    second_f, second_g = (f.T * p) @ f, (g.T * q) @ g
    ratio = _at_cells(f, g, joint)
    captured = 2 * float(joint.data @ ratio) - float(np.sum(second_f * second_g)) - 1
    of_x, of_y = ((f @ second_g) * f).sum(axis=1), ((g @ second_f) * g).sum(axis=1)
    rows = np.repeat(np.arange(len(f)), np.diff(joint.indptr))
    influence = 2 * ratio - of_x[rows] - of_y[joint.indices]
    influence -= joint.data @ influence
    return captured, influence


def _at_cells(f: np.ndarray, g: np.ndarray, joint: sp.csr_array, block: int = 1 << 16) -> np.ndarray:
    """Sum over i of f_i(x) g_i(y) for each pair that occurs, some pairs at a time."""
    rows = np.repeat(np.arange(len(f)), np.diff(joint.indptr))
    sums = np.empty(joint.nnz)
    for start in range(0, joint.nnz, block):
        cells = slice(start, start + block)
        sums[cells] = np.einsum("ki,ki->k", f[rows[cells]], g[joint.indices[cells]])
    return sums
