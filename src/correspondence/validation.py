"""How far a decomposition holds on data that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

__all__ = ["HeldOut", "held_out"]


@dataclass(frozen=True, eq=False, repr=False)
class HeldOut:
    """What is left of a decomposition on new pairs.

    Attributes
    ----------
    correlations : ndarray of shape (d,)
        Pearson correlation of f_i(x) and g_i(y) over the new pairs.
    intervals : ndarray of shape (d, 2)
        Confidence intervals of the correlations (large-sample, for any distribution).
    captured : float
        Lower bound on chi2(X; Y) that the functions prove: equal to it only for the true decomposition, and
        negative if they predict worse than no dependence at all.
    captured_interval : ndarray of shape (2,)
        Its confidence interval.
    n : float
        Number (total weight) of the new pairs.
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
        lines = [f"HeldOut on n {self.n:g}: captured {self.captured:.4g} [{low:.4g}, {high:.4g}]"]
        for i, (value, (low, high)) in enumerate(zip(self.correlations, self.intervals, strict=True), start=1):
            lines.append(f"  correlation {i}: {value:.4f} [{low:.4f}, {high:.4f}]")
        return "\n".join(lines)


def held_out(
    F: np.ndarray, G: np.ndarray, correlations: np.ndarray, weights: np.ndarray | None = None, level: float = 0.95
) -> HeldOut:
    """Evaluate functions on new pairs.

    Parameters
    ----------
    F, G : ndarray of shape (n, d)
        f(x_k) and g(y_k) on the new pairs.
    correlations : ndarray of shape (d,)
        What the fit promised: sqrt(lambda_i).
    weights : ndarray of shape (n,), optional
        Of the pairs.
    level : float
        Of the confidence intervals.
    """
    w = np.ones(len(F)) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != (len(F),):
        raise ValueError(f"The weights must have one number for each of {len(F)} pairs, got shape {w.shape}.")
    if not np.isfinite(w).all() or (w < 0).any():
        raise ValueError("The weights must be finite and at least 0.")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}.")
    n = float(w.sum())
    if not n > 0:
        raise ValueError("There are no pairs to evaluate on.")
    p = w / n
    quantile = float(norm.ppf((1 + level) / 2))
    r, r_intervals = _correlations(F, G, p, n, quantile)
    captured, error = _captured(F, G, correlations, p, n)
    interval = captured + quantile * error * np.array([-1.0, 1.0])
    return HeldOut(r, r_intervals, captured, interval, n, level)


def _correlations(
    F: np.ndarray, G: np.ndarray, p: np.ndarray, n: float, quantile: float
) -> tuple[np.ndarray, np.ndarray]:
    """Pearson correlations and, by the delta method on Fisher's z scale, their intervals."""
    f, g = _standardised(F, p), _standardised(G, p)
    r = np.clip(p @ (f * g), -1, 1)
    influence = f * g - r * (f**2 + g**2) / 2
    error = np.sqrt(p @ influence**2 / n)
    inside = np.abs(r) < 1 - 1e-12
    z = np.arctanh(np.where(inside, r, 0))
    width = quantile * error / np.where(inside, 1 - r**2, 1)
    intervals = np.where(inside[:, None], np.tanh(np.column_stack([z - width, z + width])), r[:, None])
    return r, intervals


def _standardised(F: np.ndarray, p: np.ndarray) -> np.ndarray:
    centred = F - p @ F
    scale = np.sqrt(p @ centred**2)
    return centred / np.where(scale > 0, scale, 1)


def _captured(F: np.ndarray, G: np.ndarray, correlations: np.ndarray, p: np.ndarray, n: float) -> tuple[float, float]:
    """Score of NOTES.md and its standard error: 2 E[sum s f g] - sum_ij s_i s_j E[f_i f_j] E[g_i g_j] - 1."""
    root = np.sqrt(np.concatenate([[1.0], correlations]))
    f = np.column_stack([np.ones(len(F)), F]) * root
    g = np.column_stack([np.ones(len(G)), G]) * root
    joint = np.einsum("ki,ki->k", f, g)
    second_f, second_g = (f.T * p) @ f, (g.T * p) @ g
    product = float(np.sum(second_f * second_g))
    captured = 2 * float(p @ joint) - product - 1
    influence = 2 * joint - np.einsum("ki,ij,kj->k", f, second_g, f) - np.einsum("ki,ij,kj->k", g, second_f, g)
    influence -= p @ influence
    return captured, float(np.sqrt(p @ influence**2 / n))
