"""How far a decomposition holds on data that it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import norm

from correspondence.checks import check_weights

__all__ = ["HeldOut", "captured_by_moments", "captured_terms", "gain", "held_out", "held_out_parts"]


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

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(1000, 1)); y = x + rng.normal(size=(1000, 1))          # the exact correlation is 0.71
    >>> held = co.CCA(n_components=1).fit(x[:500], y[:500]).evaluate(x[500:], y[500:])
    >>> held
    HeldOut on n 500: captured 0.4947 [0.4305, 0.5588] (95 %)
      correlation 1: 0.7090 [0.6612, 0.7510]
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
    if len(F) == 0:
        raise ValueError("There are no pairs to evaluate on.")
    if pairs is None or np.ndim(pairs) == 1:
        pairs = sp.diags_array(np.ones(len(F)) if pairs is None else check_weights(pairs, len(F), "The weights"))
    weights = sp.csr_array(pairs)
    return held_out_parts(lambda function: [function(F, G, weights)], correlations, level)


def held_out_parts(
    each: Callable[[Callable[..., Any]], list[Any]], correlations: np.ndarray, level: float = 0.95
) -> HeldOut:
    """Evaluate functions on new pairs that are in several parts, in two passes over them.

    Parameters
    ----------
    each : callable
        Calls a function with F and G of each part, and perhaps with weights as an array of shape (n, m), and returns
        the list of the results.
    correlations : ndarray of shape (d,)
        What the fit promised: sqrt(lambda_i).
    level : float
        Of the confidence intervals.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}.")
    parts = each(partial(_means, correlations))
    if not parts:
        raise ValueError("There are no pairs to evaluate on.")
    means = _Means.merged(parts)
    powers, squares = (
        sum(sums) / means.n for sums in zip(*each(partial(_deviations, correlations, means)), strict=True)
    )
    quantile = float(norm.ppf((1 + level) / 2)) / np.sqrt(means.n)
    r, intervals = _correlations(dict(zip(POWERS, powers, strict=True)), quantile)
    interval = means.captured + quantile * float(np.sqrt(squares)) * np.array([-1.0, 1.0])
    return HeldOut(r, intervals, means.captured, interval, means.n, level)


@dataclass(frozen=True, eq=False)
class _Margin:
    """Moments of the functions of one side: mean, sum of squared deviations from it, largest, and raw second moments.

    The second moments are those of 1, f_1, f_2, ..., each times the fourth root of its PIC.
    """

    n: float
    mean: np.ndarray
    scatter: np.ndarray
    largest: np.ndarray
    second: np.ndarray

    @classmethod
    def of(cls, F: np.ndarray, weights: np.ndarray, correlations: np.ndarray) -> _Margin:
        n, f = float(weights.sum()), _with_constant(F, correlations)
        mean = weights @ F / n
        return cls(n, mean, weights @ (F - mean) ** 2, np.abs(F).max(axis=0, initial=0), (f.T * weights) @ f / n)

    @classmethod
    def merged(cls, parts: Sequence[_Margin]) -> _Margin:
        n = sum(part.n for part in parts)
        mean, second = (sum(part.n / n * getattr(part, name) for part in parts) for name in ("mean", "second"))
        scatter = sum(part.scatter + part.n * (part.mean - mean) ** 2 for part in parts)
        return cls(n, mean, scatter, np.max([part.largest for part in parts], axis=0), second)

    def standardised(self, F: np.ndarray) -> np.ndarray:
        """Mean 0 and variance 1; a constant, but for rounding errors, becomes 0."""
        scale = np.sqrt(self.scatter / self.n)
        varies = scale > 1e-12 * self.largest
        return np.where(varies, (F - self.mean) / np.where(varies, scale, 1), 0)


@dataclass(frozen=True, eq=False)
class _Means:
    """What is known of pairs after the first look at them."""

    x: _Margin
    y: _Margin
    ratio: float
    """Mean of sum_i s_i f_i g_i, from 0."""

    @classmethod
    def merged(cls, parts: Sequence[_Means]) -> _Means:
        x, y = _Margin.merged([part.x for part in parts]), _Margin.merged([part.y for part in parts])
        return cls(x, y, sum(part.n / x.n * part.ratio for part in parts))

    @property
    def n(self) -> float:
        return self.x.n

    @property
    def captured(self) -> float:
        """2 E[sum_i s_i f_i g_i] - sum_ij s_i s_j E[f_i f_j] E[g_i g_j] - 1, with f_0 = g_0 = s_0 = 1."""
        return 2 * self.ratio - float(np.sum(self.x.second * self.y.second)) - 1

    def influence(self, ratio: np.ndarray, f: np.ndarray, g: np.ndarray, joint: sp.csr_array) -> np.ndarray:
        """Influence of each pair on `captured`, whose mean is 0."""
        of_x, of_y = ((f @ self.y.second) * f).sum(axis=1), ((g @ self.x.second) * g).sum(axis=1)
        mean = 2 * self.ratio - 2 * float(np.sum(self.x.second * self.y.second))
        return 2 * ratio - of_x[_rows(joint)] - of_y[joint.indices] - mean


POWERS = ((1, 1), (2, 0), (0, 2), (2, 2), (3, 1), (1, 3), (4, 0), (0, 4))


def _weights(F: np.ndarray, joint: sp.csr_array | None) -> sp.csr_array:
    return sp.csr_array(sp.diags_array(np.ones(len(F)))) if joint is None else joint


def _means(correlations: np.ndarray, F: np.ndarray, G: np.ndarray, joint: sp.csr_array | None = None) -> _Means:
    """First look at some pairs."""
    joint = _weights(F, joint)
    p, q = joint.sum(axis=1), joint.sum(axis=0)
    ratio = _at_cells(_with_constant(F, correlations), _with_constant(G, correlations), joint)
    x, y = _Margin.of(F, p, correlations), _Margin.of(G, q, correlations)
    return _Means(x, y, float(joint.data @ ratio) / x.n)


def _deviations(
    correlations: np.ndarray, means: _Means, F: np.ndarray, G: np.ndarray, joint: sp.csr_array | None = None
) -> tuple[np.ndarray, float]:
    """Second look: sums of f^a g^b for each of `POWERS`, standardised, and of the squared influence on `captured`."""
    joint = _weights(F, joint)
    f, g = means.x.standardised(F), means.y.standardised(G)
    powers = np.array([np.einsum("ij,ij->j", f**a, joint @ g**b) for a, b in POWERS])
    f, g = _with_constant(F, correlations), _with_constant(G, correlations)
    influence = means.influence(_at_cells(f, g, joint), f, g, joint)
    return powers, float(joint.data @ influence**2)


def _correlations(mean: dict[tuple[int, int], np.ndarray], width: float) -> tuple[np.ndarray, np.ndarray]:
    """Pearson correlations and, by the delta method on Fisher's z scale, their intervals, from means of f^a g^b."""
    r = np.clip(mean[1, 1], -1, 1)
    # Variance of the influence f g - r (f^2 + g^2) / 2, whose mean is 0.
    fourth = mean[4, 0] + 2 * mean[2, 2] + mean[0, 4]
    variance = mean[2, 2] - r * (mean[3, 1] + mean[1, 3]) + r**2 / 4 * fourth
    is_defined = (mean[2, 0] > 0.5) & (mean[0, 2] > 0.5)  # neither function is constant on these pairs
    inside = np.abs(r) < 1 - 1e-12
    z = np.arctanh(np.where(inside, r, 0))
    half = width * np.sqrt(np.maximum(variance, 0)) / np.where(inside, 1 - r**2, 1)
    intervals = np.where(inside[:, None], np.tanh(np.column_stack([z - half, z + half])), r[:, None])
    return np.where(is_defined, r, 0.0), np.where(is_defined[:, None], intervals, [-1.0, 1.0])


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
    means, joint = _means(correlations, F, G), _weights(F, None)
    f, g = _with_constant(F, correlations), _with_constant(G, correlations)
    return means.captured + means.influence(_at_cells(f, g, joint), f, g, joint)


def _with_constant(F: np.ndarray, correlations: np.ndarray) -> np.ndarray:
    """1, f_1, f_2, ..., each times the fourth root of its PIC."""
    return np.column_stack([np.ones(len(F)), F]) * np.sqrt(np.concatenate([[1.0], correlations]))


def _rows(joint: sp.csr_array) -> np.ndarray:
    """Row of each cell."""
    return np.repeat(np.arange(joint.shape[0]), np.diff(joint.indptr))


def _at_cells(f: np.ndarray, g: np.ndarray, joint: sp.csr_array, block: int = 1 << 16) -> np.ndarray:
    """Sum over i of f_i(x) g_i(y) for each pair that occurs, some pairs at a time."""
    rows = _rows(joint)
    sums = np.empty(joint.nnz)
    for start in range(0, joint.nnz, block):
        cells = slice(start, start + block)
        sums[cells] = np.einsum("ki,ki->k", f[rows[cells]], g[joint.indices[cells]])
    return sums
