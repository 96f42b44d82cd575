"""Small p-values: what the gamma distribution with three moments misses in the tail, and exact ones of rare answers.

With many rows the statistic of a pair is a sum of independent squared normal variables with weights. Where the weights
differ, the gamma distribution with its three moments has a lighter tail: at 1e-8 by a factor of thirty. The factor
depends on the weights only, and is computed by the saddlepoint approximation of Lugannani and Rice, a few times for
each kind of pair. Two columns of two answers each have a table of one free cell, whose distribution is hypergeometric.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammainccinv, ndtr
from scipy.stats import hypergeom

__all__ = ["compute_two_answer_pvalues", "correct_tails"]

GRID_LOG10 = np.array([-1.5, -2, -3, -4, -6, -8, -12, -16, -24, -32, -48, -64, -100, -150, -200, -300])
MIN_DISTANCE_TO_POLE = 1e-9  # of the saddlepoint, as a share
MAX_EXPECTED_ROWS = 25.0  # in the rarest cell of two columns of two answers: with more, moments are enough
MAX_PVALUE_TO_CORRECT = 0.3
BISECTIONS = 60


def correct_tails(pvalues: np.ndarray, x_weights: np.ndarray, y_weights: np.ndarray) -> np.ndarray:
    """Multiply p-values by how much heavier the tail of a weighted sum is than that of the gamma distribution.

    Parameters
    ----------
    pvalues : ndarray of shape (k, l)
        P-values of pairs, by the gamma distribution with three moments.
    x_weights, y_weights : ndarray of shape (k, p) and (l, q)
        The weights of the features of both columns of each pair; 0 for features that are not there.

    Examples
    --------
    >>> correct_tails(np.array([[1e-4, 1e-4]]), np.array([[1.0, 0.5]]), np.array([[1.0, 0.5], [1.0, 0.0]])).round(6)
    array([[0.000155, 0.00013 ]])
    """
    corrected = pvalues.copy()
    kinds_x, of_x = np.unique(np.sort(x_weights, axis=1), axis=0, return_inverse=True)
    kinds_y, of_y = np.unique(np.sort(y_weights, axis=1), axis=0, return_inverse=True)
    for i, one in enumerate(kinds_x):
        for j, other in enumerate(kinds_y):
            weights = np.outer(one, other).ravel()
            weights = weights[weights > 0]
            if not len(weights) or np.ptp(weights) < 1e-12:
                continue  # all weights are equal: this is a gamma distribution
            place = np.ix_(of_x.ravel() == i, of_y.ravel() == j)
            own = pvalues[place]
            if (own < 10.0 ** GRID_LOG10[0]).any():
                factors = np.log(compare_tails(weights, 10.0**GRID_LOG10))
                corrected[place] = own * np.exp(np.interp(-np.log10(own), -GRID_LOG10, factors))
    return np.minimum(corrected, 1.0)


def compare_tails(weights: np.ndarray, pvalues: np.ndarray) -> np.ndarray:
    """Compute how much more probable a weighted sum of squares is beyond the quantiles of the gamma distribution."""
    mean, variance = weights.sum(), 2 * (weights**2).sum()
    half = 4 * (weights**3).sum() / variance**1.5  # of the skewness
    shape = 1 / half**2
    x = mean + np.sqrt(variance) * (gammainccinv(shape, pvalues) - shape) * half
    return np.maximum(approximate_upper_tail(x, weights) / pvalues, 1.0)


def approximate_upper_tail(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Approximate the probability that a weighted sum of squared normal variables exceeds x, above its mean.

    Examples
    --------
    >>> from scipy.stats import chi2
    >>> x = np.array([10.0, 40.0])
    >>> (approximate_upper_tail(x, np.ones(3)) / chi2.sf(x, 3)).round(3)
    array([1.005, 1.018])
    """
    # The saddlepoint t solves K'(t) = x with the cumulant function K(t) = -1/2 sum log(1 - 2 t weights).
    pole = 1 / (2 * weights.max())
    low, high = np.full(len(x), np.log(MIN_DISTANCE_TO_POLE)), np.zeros(len(x))
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        t = pole * -np.expm1(middle)
        is_below = (weights / (1 - 2 * t[:, None] * weights)).sum(axis=1) < x
        low, high = np.where(is_below, low, middle), np.where(is_below, middle, high)
    t = pole * -np.expm1((low + high) / 2)
    rest = 1 - 2 * t[:, None] * weights
    w = np.sqrt(2 * np.maximum(t * x + np.log(rest).sum(axis=1) / 2, 0))
    v = t * np.sqrt(2 * ((weights / rest) ** 2).sum(axis=1))
    density = np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(ndtr(-w) + density * (1 / v - 1 / w))


def compute_two_answer_pvalues(
    pvalues: np.ndarray, correlations: np.ndarray, n: int, x_rows: np.ndarray, y_rows: np.ndarray
) -> np.ndarray:
    """Replace the p-values of pairs of columns with two answers each by exact ones, where a cell is rare.

    Parameters
    ----------
    pvalues : ndarray of shape (k, l)
        P-values of all pairs.
    correlations : ndarray of shape (k, l)
        The correlations of the indicators of the rarer answers.
    n : int
        The number of rows.
    x_rows, y_rows : ndarray of int of shape (k,) and (l,)
        How many rows gave the rarer answer; 0 for columns that do not have two answers.

    Examples
    --------
    >>> compute_two_answer_pvalues(np.array([[0.01]]), np.array([[1.0]]), 20, np.array([2]), np.array([2])).round(5)
    array([[0.00526]])
    """
    expected = np.outer(x_rows, y_rows) / n
    i, j = np.nonzero((expected > 0) & (expected < MAX_EXPECTED_ROWS) & (pvalues <= MAX_PVALUE_TO_CORRECT))
    a, b = x_rows[i], y_rows[j]
    own = expected[i, j]
    scale = np.sqrt(a * (n - a) / n * (b * (n - b) / n))
    together = np.rint(own + correlations[i, j] * scale)
    distance = np.abs(together - own) - 1e-9
    upper = hypergeom.sf(np.ceil(own + distance) - 1, n, a, b)
    lower = hypergeom.cdf(np.floor(own - distance), n, a, b)
    exact = pvalues.copy()
    exact[i, j] = np.clip(upper + lower, 1e-300, 1.0)
    return exact
