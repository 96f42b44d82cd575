"""Tests of what is more frequent, or larger, in a group than elsewhere: hypergeometric mid-p-values and v-tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln, log_ndtr, ndtri_exp, xlogy
from scipy.stats import chi2, f, false_discovery_control, t

__all__ = [
    "adjust_pvalues",
    "compute_anova",
    "compute_chi_square",
    "compute_correlation_pvalues",
    "compute_log_pvalues",
    "compute_normal_pvalues",
    "compute_vtests",
]

MIN_RELATIVE_TERM = 1e-18  # of a tail that is summed; smaller terms change nothing
MIN_N_FOR_STIRLING = 16


def compute_log_pvalues(k: Any, group: Any, category: Any, n: Any, *, mid: bool = True) -> np.ndarray:
    """Compute logarithms of two-sided p-values of hypergeometric counts.

    The p-value is the smaller of 2 P(X < k) + P(X = k) and 2 P(X > k) + P(X = k), where X members of a category are
    among a group that is drawn at random. Logarithms do not underflow, however clear a difference is.

    Parameters
    ----------
    k : array-like of whole numbers
        So many members of the category are in the group.
    group, category, n : array-like of whole numbers
        The sizes of the group, of the category and of everything; all arguments are broadcast.
    mid : bool
        False counts the probability of k itself twice, not once: the classical p-value, which is conservative.

    Examples
    --------
    >>> log_p = compute_log_pvalues([17, 5], 17, 18, 55)  # all 17 who are healthy, of 18 without pain among 55
    >>> [f"{p:.2g}" for p in np.exp(log_p)]
    ['2.6e-13', '0.8']
    """
    k, group, category, n = (np.asarray(part, dtype=np.float64) for part in np.broadcast_arrays(k, group, category, n))
    shape = k.shape
    k, group, category, n = (part.ravel() for part in (k, group, category, n))
    # Below its mean, a count of the category is a count above its mean of all other members: only upper tails are left.
    is_low = k * n < group * category
    k, category = np.where(is_low, group - k, k), np.where(is_low, n - category, category)
    log_pmf = compute_log_pmf(k, group, category, n)
    tail = sum_upper_ratios(k, group, category, n)
    own = 1 if mid else 2
    upper = log_pmf + np.log(own + 2 * tail)
    # Of the other tail: 2 (1 - P(X = k) - P(X > k)) + own P(X = k).
    lower = np.log(np.maximum(2 - np.exp(log_pmf) * (2 - own + 2 * tail), np.finfo(float).tiny))
    return np.minimum(np.minimum(upper, lower), 0.0).reshape(shape)


def compute_log_pmf(k: np.ndarray, group: np.ndarray, category: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Compute logarithms of hypergeometric probabilities."""
    # P(X = k) = b(k; K, p) b(m - k; N - K, p) / b(m; N, p) for binomial probabilities b with p = m / N; with log-gamma
    # functions of the totals, all digits of those of millions would be lost.
    p = np.where(n > 0, group / np.maximum(n, 1), 0)
    parts = ((k, category), (group - k, n - category), (group, n))
    inside, outside, whole = (compute_log_binomial(x, size, p) for x, size in parts)
    is_free = (group > 0) & (group < n) & (category > 0) & (category < n)
    return np.where(is_free, inside + outside - whole, 0.0)


def compute_log_binomial(x: np.ndarray, size: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Compute logarithms of binomial probabilities by Loader's expansion about their mean."""
    with np.errstate(divide="ignore", invalid="ignore"):
        at_end = xlogy(x, p) + xlogy(size - x, 1 - p)
        middle = find_stirling_error(size) - find_stirling_error(x) - find_stirling_error(size - x)
        middle -= measure_deviance(x, size * p) + measure_deviance(size - x, size * (1 - p))
        middle += 0.5 * np.log(size / (2 * np.pi * x * (size - x)))
    return np.where((x <= 0) | (x >= size), at_end, middle)


def find_stirling_error(n: np.ndarray) -> np.ndarray:
    """Return log n! minus Stirling's approximation of it."""
    large = np.maximum(n, MIN_N_FOR_STIRLING)
    series = (
        1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / large**2) / large**2) / large**2) / large**2
    ) / large
    direct = gammaln(n + 1) - (n + 0.5) * np.log(n) + n - 0.5 * np.log(2 * np.pi)
    return np.where(n >= MIN_N_FOR_STIRLING, series, direct)


def measure_deviance(x: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return x log(x / mean) - x + mean without cancellation where x is close to the mean."""
    return x * np.log1p((x - mean) / mean) - (x - mean)


def sum_upper_ratios(k: np.ndarray, group: np.ndarray, category: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Sum P(X = j) / P(X = k) over all j above k."""
    total, term, at = np.zeros(len(k)), np.ones(len(k)), k.copy()
    own = np.arange(len(k))
    while len(own):
        # Ratios of successive probabilities fall below 1 above the mean, so that the sum converges fast.
        above = (category[own] - at) * (group[own] - at)
        term = term * above / ((at + 1) * (n[own] - category[own] - group[own] + at + 1))
        total[own] += term
        goes_on = term > MIN_RELATIVE_TERM * np.maximum(total[own], 1)
        own, term, at = own[goes_on], term[goes_on], at[goes_on] + 1
    return total


def compute_vtests(log_pvalues: np.ndarray, is_positive: np.ndarray) -> np.ndarray:
    """Return the normal quantiles that have these two-sided p-values, negative where a figure is below what is usual.

    Examples
    --------
    >>> compute_vtests(np.log([0.05, 0.05, 1.0]), np.array([True, False, True])).round(2).tolist()
    [1.96, -1.96, 0.0]
    """
    size = np.abs(ndtri_exp(np.minimum(log_pvalues, 0) - np.log(2)))
    return np.where(is_positive, size, -size)


def compute_normal_pvalues(vtests: np.ndarray) -> np.ndarray:
    """Return two-sided p-values of the normal distribution."""
    return np.exp(np.minimum(np.log(2) + log_ndtr(-np.abs(vtests)), 0))


def compute_chi_square(counts: np.ndarray) -> tuple[float, int, float, float]:
    """Test whether rows and columns of a table are independent, by Pearson's chi-square without correction.

    Returns
    -------
    statistic, dof, pvalue, cramers_v : float
        NaN for a table with one row or column.
    """
    counts = counts[np.ix_(counts.sum(axis=1) > 0, counts.sum(axis=0) > 0)]
    dof = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    if dof < 1:
        return np.nan, 0, np.nan, np.nan
    n = counts.sum()
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    statistic = float(((counts - expected) ** 2 / expected).sum())
    effect = float(np.sqrt(statistic / n / (min(counts.shape) - 1)))
    return statistic, dof, float(chi2.sf(statistic, dof)), effect


def compute_anova(eta2: np.ndarray, n_groups: Any, n_rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """Test correlation ratios: return F and its p-value; NaN where there are no degrees of freedom."""
    between, rest = np.asarray(n_groups - 1.0), np.asarray(n_rows - n_groups, dtype=float)
    can_test = (between > 0) & (rest > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(can_test, eta2 / between / ((1 - eta2) / rest), np.nan)
    return statistic, np.where(can_test, f.sf(statistic, np.maximum(between, 1), np.maximum(rest, 1)), np.nan)


def compute_correlation_pvalues(r: np.ndarray, n_rows: Any) -> np.ndarray:
    """Return the two-sided p-values of correlations; NaN for fewer than three rows."""
    dof = np.asarray(n_rows, dtype=float) - 2
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.abs(r) * np.sqrt(np.maximum(dof, 0) / (1 - np.minimum(r**2, 1)))
    return np.where((dof > 0) & np.isfinite(r), 2 * t.sf(statistic, np.maximum(dof, 1)), np.nan)


def adjust_pvalues(pvalues: np.ndarray, method: str = "fdr") -> np.ndarray:
    """Adjust p-values for their number; those that are NaN stay so and do not count.

    Parameters
    ----------
    pvalues : ndarray
        The p-values of a family of tests.
    method : {"fdr", "holm"}
        Control the share of false discoveries (Benjamini and Hochberg), or the probability of a single one (Holm).

    Examples
    --------
    >>> adjust_pvalues(np.array([0.01, np.nan, 0.04])).tolist(), adjust_pvalues(np.array([0.01, 0.04]), "holm").tolist()
    ([0.02, nan, 0.04], [0.02, 0.04])
    """
    adjusted = np.full(pvalues.shape, np.nan)
    known = np.isfinite(pvalues)
    if known.any():
        own = np.clip(pvalues[known], 0, 1)
        adjusted[known] = false_discovery_control(own) if method == "fdr" else _adjust_by_holm(own)
    return adjusted


def _adjust_by_holm(pvalues: np.ndarray) -> np.ndarray:
    order = np.argsort(pvalues)
    factors = len(pvalues) - np.arange(len(pvalues))
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.minimum(np.maximum.accumulate(pvalues[order] * factors), 1)
    return adjusted
