"""P-values of dependence from the exact moments that a statistic has if the rows of one column are permuted.

With features z (n rows, orthonormal, divided by sqrt(n)) and weights d of each column, and A = z diag(d) z', the
statistic of two columns is tr(A B): the sum of the squared covariances of their features, times both weights. Its mean,
variance and third moment over all permutations of one column are known from a few sums over each column on its own
(Kazi-Aoual, Hitier, Sabatier and Lebreton, Refined approximations to permutation tests for multivariate inference,
1995), so that no permutation need be drawn, and all pairs of thousands of columns cost little. The gamma distribution
with these three moments (Pearson's type III) gives the p-value.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from scipy.special import gammaincc, ndtr

__all__ = ["MIN_PVALUE", "ColumnSums", "approximate_tail", "compute_permutation_moments", "compute_pvalues"]

MIN_SKEWNESS = 1e-6  # below it the distribution is taken for normal
MIN_PVALUE = 1e-300
MAX_CAUTION = 3.0  # by which p-values below 0.01 are multiplied at most where answers are rare


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """What the moments need to know of the matrix A of each of some columns; h is its diagonal.

    Attributes
    ----------
    t, t2, t3 : ndarray
        The traces of A and its powers.
    s2, s3 : ndarray
        The sums of the squares and cubes of h.
    u : ndarray
        The sum of the cubes of all entries.
    r : ndarray
        The product of h and the diagonal of the square of A.
    b : ndarray
        The product h' A h.
    """

    t: np.ndarray
    t2: np.ndarray
    t3: np.ndarray
    s2: np.ndarray
    s3: np.ndarray
    u: np.ndarray
    r: np.ndarray
    b: np.ndarray

    @classmethod
    def from_features(cls, table: np.ndarray, counts: np.ndarray, weights: np.ndarray) -> ColumnSums:
        """Compute the sums of a column from the features of its levels, orthonormal over its rows."""
        z = table / np.sqrt(counts.sum())
        h, g = z**2 @ weights, z**2 @ weights**2
        # The entries of A are sums over a of d_a z_ia z_ja: their cubes are those of third moments of the features.
        third = np.einsum("l,la,lb,lc->abc", counts, z, z, z, optimize=True)
        u = np.einsum("abc,a,b,c->", third**2, weights, weights, weights, optimize=True)
        of_rows = ((counts * h**2).sum(), (counts * h**3).sum(), u, (counts * h * g).sum())
        b = weights @ ((counts * h) @ z) ** 2
        traces = weights.sum(), (weights**2).sum(), (weights**3).sum()
        return cls(*(np.asarray(value) for value in (*traces, *of_rows, b)))

    @classmethod
    def stack(cls, columns: list[ColumnSums]) -> ColumnSums:
        """Put columns into arrays."""
        return cls(*(np.array([getattr(own, f.name) for own in columns]) for f in fields(cls)))

    def take(self, columns: np.ndarray) -> ColumnSums:
        """Return those of some columns, as arrays of the shape of their positions."""
        return ColumnSums(*(getattr(self, f.name)[columns] for f in fields(self)))


def compute_permutation_moments(n: float, x: ColumnSums, y: ColumnSums) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the mean, the variance and the third central moment of tr(A B) over all permutations of n rows.

    Parameters
    ----------
    n : float
        The number of rows, at least 6.
    x, y : ColumnSums
        The sums of both columns, as arrays that can be broadcast.
    """
    mean = x.t * y.t / (n - 1)
    variance = 2 * _centre_square(n, x) * _centre_square(n, y) / ((n - 1) ** 2 * (n + 1) * (n - 2))
    spread_x, spread_y = (n * (n + 1) * own.s2 - (n - 1) * (own.t**2 + 2 * own.t2) for own in (x, y))
    variance = variance + spread_x * spread_y / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    third = _compute_third_moment(n, x, y) - 3 * mean * variance - mean**3
    return mean, variance, third


def _centre_square(n: float, own: ColumnSums) -> np.ndarray:
    return (n - 1) * own.t2 - own.t**2


def _compute_third_moment(n: float, x: ColumnSums, y: ColumnSums) -> np.ndarray:
    """Compute the mean of tr(A B)^3: the formula of the paper, term by term."""
    t, t2, t3, s2, s3, u, r, b = (getattr(x, f.name) for f in fields(x))
    T, T2, T3, S2, S3, U, R, B = (getattr(y, f.name) for f in fields(y))
    t_3, T_3, tt, TT, ts, TS = t**3, T**3, t * t2, T * T2, t * s2, T * S2
    total = n**2 * (n + 1) * (n**2 + 15 * n - 4) * s3 * S3
    total = total + 4 * (n**4 - 8 * n**3 + 19 * n**2 - 4 * n - 16) * u * U + 24 * (n**2 - n - 4) * (u * B + b * U)
    total += 6 * (n**4 - 8 * n**3 + 21 * n**2 - 6 * n - 24) * b * B
    total += 12 * (n**4 - n**3 - 8 * n**2 + 36 * n - 48) * r * R
    total += 12 * (n**3 - 2 * n**2 + 9 * n - 12) * (ts * R + r * TS)
    total += 3 * (n**4 - 4 * n**3 - 2 * n**2 + 9 * n - 12) * ts * TS
    total += 24 * (n**3 - 3 * n**2 - 2 * n + 8) * (r * U + u * R)
    total += 24 * (n**3 - 2 * n**2 - 3 * n + 12) * (r * B + b * R)
    total += 12 * (n**2 - n + 4) * (ts * U + u * TS) + 6 * (2 * n**3 - 7 * n**2 - 3 * n + 12) * (ts * B + b * TS)
    total -= 2 * n * (n - 1) * (n**2 - n + 4) * ((2 * u + 3 * b) * S3 + (2 * U + 3 * B) * s3)
    total -= 3 * n * (n - 1) ** 2 * (n + 4) * ((ts + 4 * r) * S3 + (TS + 4 * R) * s3)
    total += 2 * n * (n - 1) * (n - 2) * ((t_3 + 6 * tt + 8 * t3) * S3 + (T_3 + 6 * TT + 8 * T3) * s3)
    total += t_3 * ((n**3 - 9 * n**2 + 23 * n - 14) * T_3 + 6 * (n - 4) * TT + 8 * T3)
    total += 6 * tt * ((n - 4) * T_3 + (n**3 - 9 * n**2 + 24 * n - 14) * TT + 4 * (n - 3) * T3)
    total += 8 * t3 * (T_3 + 3 * (n - 3) * TT + (n**3 - 9 * n**2 + 26 * n - 22) * T3)
    total -= 16 * (t_3 * U + u * T_3) + 6 * (tt * U + u * TT) * (2 * n**2 - 10 * n + 16)
    total -= 8 * (t3 * U + u * T3) * (3 * n**2 - 15 * n + 16) + (t_3 * B + b * T_3) * (6 * n**2 - 30 * n + 24)
    total -= 6 * (tt * B + b * TT) * (4 * n**2 - 20 * n + 24) + 8 * (t3 * B + b * T3) * (3 * n**2 - 15 * n + 24)
    of_r = 24 * (t_3 * R + r * T_3) + 6 * (tt * R + r * TT) * (2 * n**2 - 10 * n + 24)
    of_r = of_r + 8 * (t3 * R + r * T3) * (3 * n**2 - 15 * n + 24)
    of_r += (3 * n**2 - 15 * n + 6) * (t_3 * TS + ts * T_3) + 6 * (tt * TS + ts * TT) * (n**2 - 5 * n + 6)
    of_r += 48 * (t3 * TS + ts * T3)
    return (total - (n - 2) * of_r) / (n * (n - 1) * (n - 2) * (n - 3) * (n - 4) * (n - 5))


def approximate_tail(score: np.ndarray, skewness: np.ndarray) -> np.ndarray:
    """Approximate the probability that a variable exceeds standardised values by a gamma distribution.

    Parameters
    ----------
    score : ndarray
        The values, with mean 0 and variance 1.
    skewness : ndarray
        The skewness of the variable; where there is none, it is taken for normal.

    Examples
    --------
    >>> approximate_tail(np.array([1.645, 1.645]), np.array([0.0, 1.0])).round(3)
    array([0.05 , 0.068])
    """
    is_skew = skewness > MIN_SKEWNESS
    half = np.where(is_skew, skewness, 1.0) / 2
    shape = 1 / half**2
    return np.where(is_skew, gammaincc(shape, np.maximum(shape + score / half, 0)), ndtr(-score))


def compute_pvalues(statistics: np.ndarray, n: float, x: ColumnSums, y: ColumnSums) -> np.ndarray:
    """Compute how probable it is that permuted rows reach the statistics of pairs of columns.

    Parameters
    ----------
    statistics : ndarray
        The sums of squared covariances.
    n, x, y
        See `compute_permutation_moments`.
    """
    mean, variance, third = compute_permutation_moments(n, x, y)
    deviation = np.sqrt(np.maximum(variance, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(deviation > 0, (statistics - mean) / deviation, 0.0)
        skewness = np.where(deviation > 0, third / deviation**3, 0.0)
    pvalues = approximate_tail(score, skewness)
    # Rare answers make the distribution more skewed than the limit for many rows, and lumpy: its tail is less certain.
    limit = 8 * x.t3 * y.t3 / (2 * x.t2 * y.t2) ** 1.5
    caution = np.clip(skewness / limit, 1.0, MAX_CAUTION)
    pvalues = pvalues * caution ** np.clip(-np.log10(np.maximum(pvalues, MIN_PVALUE)) / 2, 0.0, 1.0)
    return np.where(deviation > 0, np.clip(pvalues, MIN_PVALUE, 1.0), 1.0)
