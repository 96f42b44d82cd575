"""Summaries of pairs: moments by blocks and fold, and the uncertainty of what is computed from them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import t as t_distribution

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.user_warnings import UncertainInterval

__all__ = [
    "MAX_PAIRS_WITHOUT_ERROR",
    "PairSummary",
    "Spread",
    "compute_correlations",
    "compute_jackknife_terms",
    "count_deciding",
    "find_correlation_intervals",
    "prepend_constant",
    "sum_four_powers",
    "sum_influence_powers",
    "summarise_pairs",
    "warn_of_few",
]

MAX_PAIRS_WITHOUT_ERROR = 3  # with no more pairs errors cannot be estimated: without one of them, two lie on a line
MIN_PAIRS_FOR_WARNING = 100  # from here on intervals keep their level, and a warning is due where they may not
MIN_INTERVAL_WIDTH = 1e-6  # a narrower interval of a correlation near 1 means pairs on a line, but for rounding
MIN_LINE_CORRELATION = 0.999
MIN_FUNCTION_VARIANCE = 0.5  # with less variance (1 on the pairs of the fit), many values of the fit are missing


@dataclass(frozen=True, eq=False)
class Spread:
    """Uncertainty of a mean of n terms: its standard error, and the degrees of freedom of that.

    The error of few, or of heavy-tailed, terms is itself uncertain. Its square is taken as a chi-square with the
    degrees of freedom that match its variance (Satterthwaite), 2 n / (kurtosis - 1), so that a quantile of Student's
    t allows for it: n - 1 of them for normal terms, 1 or 2 if a single term decides.
    """

    n: float
    error: np.ndarray
    freedom: np.ndarray

    @classmethod
    def from_moments(cls, n: float, powers: np.ndarray) -> Spread:
        """Take it from the means of the terms and of their second, third and fourth powers, the rows of an array."""
        m1, m2, m3, m4 = powers
        if n <= MAX_PAIRS_WITHOUT_ERROR:
            return cls(n, np.full(np.shape(m1), np.inf), np.ones(np.shape(m1)))
        # Central moments from raw ones; terms that overflow leave a kurtosis of n, and with it one degree of freedom.
        with np.errstate(over="ignore", invalid="ignore"):
            variance = np.maximum(m2 - m1**2, 0)
            fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
            kurtosis = np.nan_to_num(fourth / np.where(variance > 0, variance, 1) ** 2, nan=n)
        freedom = 2 * n / np.maximum(kurtosis - 1 + 2 / n, 2 / n)
        return cls(n, np.sqrt(variance / (n - 1)), np.clip(freedom, 1, n - 1))

    @classmethod
    def from_terms(cls, terms: np.ndarray) -> Spread:
        """Take it from the terms themselves, the rows of an array."""
        terms = terms - terms.mean(axis=0)
        with np.errstate(over="ignore"):
            return cls.from_moments(len(terms), np.array(sum_four_powers(np.full(len(terms), 1 / len(terms)), terms)))

    def scale_variance(self, factor: Any) -> Spread:
        """Multiply the variance by a factor."""
        return replace(self, error=self.error * np.sqrt(factor))

    def compute_reach(self, level: float) -> np.ndarray:
        """Compute how far the interval reaches down and up, in the last axis."""
        half = np.asarray(t_distribution.ppf((1 + level) / 2, self.freedom) * self.error)
        return half[..., None] * np.array([-1.0, 1.0])


def warn_of_few(captured: Spread, variance: float = 1.0, *, fewest: float = 1.0) -> None:
    """Warn if intervals from many pairs may still be too narrow.

    The error is taken from the variance of the terms, and its reliability from their fourth moment. A kurtosis above
    2 sqrt(n) is more than n terms can determine: with tails so heavy the rarest pairs, which matter most, are missing
    from many samples. That they are missing also shows in functions that vary less than in the fit.

    Parameters
    ----------
    captured : Spread
        This is the spread of the terms of `captured`.
    variance : float
        This is the smallest variance of the functions, which was 1 on the pairs of the fit.
    fewest : float
        Warn below this many degrees of freedom, in units of sqrt(n).
    """
    if captured.n >= MIN_PAIRS_FOR_WARNING and (
        captured.freedom < fewest * np.sqrt(captured.n) or variance < MIN_FUNCTION_VARIANCE
    ):
        warnings.warn(
            f"The intervals may be too narrow: a few of the {captured.n:g} pairs decide, or rare values of the fit are "
            "missing among them. Evaluate on more pairs, or use a method that bounds the influence of outliers.",
            UncertainInterval,
            stacklevel=find_user_stacklevel(),
        )


def find_correlation_intervals(r: np.ndarray, spread: Spread, is_defined: np.ndarray, level: float) -> np.ndarray:
    """Find intervals of correlations, from terms whose mean has the error of r / (1 - r^2), that is, of Fisher's z.

    If all n pairs lie on a line, all that is known is that pairs off the line are rare. If a share q of the pairs were
    exchanged at random, the correlation would be 1 - q, and all n would be on the line with probability (1 - q)^n: the
    interval goes down to the q for which that is (1 - level) / 2.

    Parameters
    ----------
    r : ndarray of shape (d,)
        These are the correlations.
    spread : Spread
        This is the spread of the terms.
    is_defined : ndarray of bool, of shape (d,)
        It says whether both functions vary.
    level : float
        The confidence level must be between 0 and 1.
    """
    inside = np.abs(r) < 1 - 1e-12
    ends = np.tanh(np.arctanh(np.where(inside, r, 0))[:, None] + spread.compute_reach(level))
    inside &= ~((ends[:, 1] - ends[:, 0] < MIN_INTERVAL_WIDTH) & (np.abs(r) > MIN_LINE_CORRELATION))
    exact = r[:, None] * np.array([((1 - level) / 2) ** (1 / spread.n), 1.0])
    is_defined = is_defined & (spread.n > MAX_PAIRS_WITHOUT_ERROR)
    return np.where(is_defined[:, None], np.where(inside[:, None], ends, np.sort(exact, axis=1)), [-1.0, 1.0])


def count_deciding(products: np.ndarray) -> float:
    """Count the pairs that decide a sum of products: all if they contribute alike, 1 if one makes up the sum."""
    return float(np.abs(products).sum() ** 2 / max((products**2).sum(), np.finfo(float).tiny))


def compute_correlations(f: np.ndarray, g: np.ndarray, cross: np.ndarray, least: Any) -> np.ndarray:
    """Compute correlations from sums of squares and products; 0 where a function does not vary."""
    varies = (f > least) & (g > least)
    return np.where(varies, cross / np.sqrt(np.where(varies, f * g, 1)), 0.0)


def compute_jackknife_terms(r: np.ndarray, without: np.ndarray, n: float) -> np.ndarray:
    """Compute jackknife terms of arctanh(r), from the correlations without each unit in turn.

    The slope of arctanh at r serves for all: arctanh itself is infinite where the only pair off a line is left out.
    """
    inside = np.abs(r) < 1 - 1e-12
    return np.where(inside, (n - 1) * (r - without) / np.where(inside, 1 - r**2, 1), 0.0)


def sum_four_powers(weights: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    """Sum the first four powers with weights; ** would take ten times as long as products."""
    squares = values * values
    return [weights @ values, weights @ squares, weights @ (squares * values), weights @ (squares * squares)]


MAX_CACHED_VALUES = 1 << 18  # values of functions computed at a time: few enough to stay in a core's cache


@dataclass(frozen=True, eq=False)
class MarginSums:
    """Moments of the functions of one side: mean, sum of squared deviations, largest value, and raw second moments.

    The second moments are those of 1, f_1, f_2, ..., each times the fourth root of its PIC.
    """

    n: float
    mean: np.ndarray
    scatter: np.ndarray
    largest: np.ndarray
    second: np.ndarray

    @classmethod
    def from_values(cls, F: np.ndarray, weights: np.ndarray, correlations: np.ndarray) -> MarginSums:
        n, f = float(weights.sum()), prepend_constant(F, correlations)
        mean = weights @ F / n
        return cls(n, mean, weights @ (F - mean) ** 2, np.abs(F).max(axis=0, initial=0), (f.T * weights) @ f / n)

    @classmethod
    def merge_parts(cls, parts: Sequence[MarginSums]) -> MarginSums:
        n = sum(part.n for part in parts)
        mean, second = (sum(part.n / n * getattr(part, name) for part in parts) for name in ("mean", "second"))
        scatter = sum(part.scatter + part.n * (part.mean - mean) ** 2 for part in parts)
        return cls(n, mean, scatter, np.max([part.largest for part in parts], axis=0), second)

    @property
    def varies(self) -> np.ndarray:
        """Which functions vary by more than rounding errors."""
        return np.sqrt(self.scatter / self.n) > 1e-12 * self.largest

    def standardise_values(self, F: np.ndarray) -> np.ndarray:
        """Give the functions mean 0 and variance 1; a constant becomes 0."""
        scale = np.sqrt(self.scatter / self.n)
        return np.where(self.varies, (F - self.mean) / np.where(self.varies, scale, 1), 0)


@dataclass(frozen=True, eq=False)
class PairSummary:
    """What is known of pairs after the first pass."""

    x: MarginSums
    y: MarginSums
    cross: np.ndarray
    """Sums of products of the deviations of f_i and g_i from their means."""
    ratio: float
    """Mean of r."""
    square: float
    """Mean of r squared."""

    @classmethod
    def merge_parts(cls, parts: Sequence[PairSummary]) -> PairSummary:
        """Merge summaries of parts of the pairs."""
        x, y = MarginSums.merge_parts([part.x for part in parts]), MarginSums.merge_parts([part.y for part in parts])
        cross = sum(part.cross + part.n * (part.x.mean - x.mean) * (part.y.mean - y.mean) for part in parts)
        ratio, square = (sum(part.n / x.n * getattr(part, name) for part in parts) for name in ("ratio", "square"))
        return cls(x, y, np.asarray(cross), ratio, square)

    @property
    def n(self) -> float:
        """Number (total weight) of the pairs."""
        return self.x.n

    @property
    def is_defined(self) -> np.ndarray:
        """Whether both functions of a component vary."""
        return self.x.varies & self.y.varies

    @property
    def correlations(self) -> np.ndarray:
        """Pearson correlations, 0 where one of the functions is constant."""
        scale = np.sqrt(self.x.scatter) * np.sqrt(self.y.scatter)
        return np.where(self.is_defined, np.clip(self.cross / np.where(self.is_defined, scale, 1), -1, 1), 0.0)

    @property
    def least_variance(self) -> float:
        """Smallest variance of a function."""
        return float(min(np.min(side.scatter, initial=np.inf) for side in (self.x, self.y)) / self.n)

    @property
    def own(self) -> float:
        """Share of the double sum over x and y that pairs each x with its own y: 0 for a population."""
        return 1 / self.n if self.n > 1 + 1e-9 else 0.0

    @property
    def second(self) -> float:
        """Unbiased estimate of the mean of r(x, y)^2 over independent x and y.

        The product of second moments is the mean over all x_k and all y_l. It contains each pair with itself, whose x
        and y are dependent, and is therefore biased. Without these n of n^2 terms it is a U-statistic, without bias.
        """
        return (float(np.sum(self.x.second * self.y.second)) - self.own * self.square) / (1 - self.own)

    @property
    def captured(self) -> float:
        """2 E[sum_i s_i f_i g_i] - sum_ij s_i s_j E[f_i f_j] E[g_i g_j] - 1, with f_0 = g_0 = s_0 = 1."""
        return 2 * self.ratio - self.second - 1

    def expect_squares(self, f: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute E[r(x, Y)^2] for each x and E[r(X, y)^2] for each y, where X and Y are independent."""
        return ((f @ self.y.second) * f).sum(axis=1), ((g @ self.x.second) * g).sum(axis=1)

    def compute_influence(self, ratio: np.ndarray, of_x: np.ndarray, of_y: np.ndarray) -> np.ndarray:
        """Compute the influence of pairs on `captured`: n - 1 times its loss when one is left out; the mean is 0."""
        others = (of_x + of_y - 2 * self.own * ratio**2) / (1 - self.own)
        inflation = (self.n - 1) / (self.n - 2) if self.n > MAX_PAIRS_WITHOUT_ERROR else 1.0
        return inflation * (2 * (ratio - self.ratio) - (others - 2 * self.second))

    def leave_out(self, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Compute the influence of pairs on the correlations, on Fisher's z scale, from standardised values."""
        n, r = self.n, self.correlations
        times = n / (n - 1)
        f_left, g_left, cross_left = n - times * f**2, n - times * g**2, n * r - times * f * g
        return compute_jackknife_terms(r, compute_correlations(f_left, g_left, cross_left, 1e-9 * n), n)


def summarise_pairs(
    correlations: np.ndarray, F: np.ndarray, G: np.ndarray, joint: sp.csr_array | None = None
) -> PairSummary:
    """Summarise some pairs in the first pass."""
    joint = _fill_weights(F, joint)
    x = MarginSums.from_values(F, joint.sum(axis=1), correlations)
    y = MarginSums.from_values(G, joint.sum(axis=0), correlations)
    f, g = prepend_constant(F, correlations), prepend_constant(G, correlations)
    sums = np.zeros(2)
    for rows, columns, weights in _iterate_cells(joint, f.shape[1]):
        ratio = np.einsum("ki,ki->k", f[rows], g[columns])
        sums += weights @ ratio, weights @ ratio**2
    cross = np.einsum("ij,ij->j", F - x.mean, joint @ (G - y.mean))
    return PairSummary(x, y, cross, *(sums / x.n).tolist())


def sum_influence_powers(
    correlations: np.ndarray, summary: PairSummary, F: np.ndarray, G: np.ndarray, joint: sp.csr_array | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Sum the first four powers of the influences on the correlations and on `captured`, in the second pass."""
    joint = _fill_weights(F, joint)
    of_r, of_captured = np.zeros((4, F.shape[1])), np.zeros(4)
    if summary.n <= MAX_PAIRS_WITHOUT_ERROR:
        return of_r, of_captured
    unit_f, unit_g = summary.x.standardise_values(F), summary.y.standardise_values(G)
    f, g = prepend_constant(F, correlations), prepend_constant(G, correlations)
    of_x, of_y = summary.expect_squares(f, g)
    for rows, columns, weights in _iterate_cells(joint, f.shape[1]):
        terms = summary.leave_out(unit_f[rows], unit_g[columns])
        ratio = np.einsum("ki,ki->k", f[rows], g[columns])
        influence = summary.compute_influence(ratio, of_x[rows], of_y[columns])
        with np.errstate(over="ignore"):  # values so far out leave no interval, see `Spread`
            of_r += sum_four_powers(weights, terms)
            of_captured += sum_four_powers(weights, influence)
    return of_r, of_captured


def _fill_weights(F: np.ndarray, joint: sp.csr_array | None) -> sp.csr_array:
    return sp.csr_array(sp.diags_array(np.ones(len(F)))) if joint is None else joint


def prepend_constant(F: np.ndarray, correlations: np.ndarray) -> np.ndarray:
    """Return 1, f_1, f_2, ..., each times the fourth root of its PIC."""
    return np.column_stack([np.ones(len(F)), F]) * np.sqrt(np.concatenate([[1.0], correlations]))


def _iterate_cells(joint: sp.csr_array, width: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield rows, columns and weights of the pairs that occur, in blocks whose functions fit into the cache."""
    block = max(1, MAX_CACHED_VALUES // width)
    rows = np.repeat(np.arange(joint.shape[0]), np.diff(joint.indptr))
    for start in range(0, joint.nnz, block):
        cells = slice(start, start + block)
        yield rows[cells], joint.indices[cells], joint.data[cells]
