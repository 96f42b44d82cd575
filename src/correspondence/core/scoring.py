"""Scores of functions on pairs: correlations, what is captured, and their intervals by leaving pairs out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import t as t_distribution

from correspondence._util.arguments import check_weights, find_user_stacklevel
from correspondence._util.user_warnings import UncertainInterval
from correspondence.results.held_out import HeldOut

__all__ = [
    "MAX_CACHED_VALUES",
    "MAX_PAIRS_WITHOUT_ERROR",
    "MIN_FUNCTION_VARIANCE",
    "MIN_PAIRS_FOR_WARNING",
    "Spread",
    "captured_by_moments",
    "captured_terms",
    "correlation_intervals",
    "correlations_of",
    "held_out",
    "held_out_parts",
    "scaled_differences",
    "warn_of_few",
]


MAX_CACHED_VALUES = 1 << 18  # values of a function of some pairs
MAX_PAIRS_WITHOUT_ERROR = 3  # pairs, up to which nothing can be said about errors: two that are left lie on a line
MIN_PAIRS_FOR_WARNING = 100  # pairs, from which on intervals keep their promise and a warning is due where they do not
MIN_FUNCTION_VARIANCE = 0.5  # variance, 1 on the pairs of the fit, below which much of what the fit has seen is missing


def held_out(
    F: np.ndarray,
    G: np.ndarray,
    correlations: np.ndarray,
    pairs: Any = None,
    level: float = 0.95,
    *,
    warn: bool = False,
) -> HeldOut:
    """Evaluate functions on new pairs.

    Parameters
    ----------
    F, G : ndarray of shape (n, d) and (m, d)
        Values of f and g at some x and y.
    correlations : ndarray of shape (d,)
        What the fit promised: sqrt(lambda_i).
    pairs : ndarray of shape (n,), or array or scipy sparse array of shape (n, m), optional
        Weights of the pairs (x_k, y_k), 1 each by default; or of each x with each y. A weight w stands for w identical
        pairs. Weights that add up to 1 at most are the shares of a population.
    level : float
        Level of the confidence intervals.
    warn : bool
        Whether an interval that few pairs decide gets a warning, `UncertainInterval`.

    Returns
    -------
    HeldOut
        Correlations and `captured`, with intervals.

    Examples
    --------
    >>> import numpy as np

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 1)); y = 0.6 * x + 0.8 * rng.normal(size=(200, 1))
    >>> held_out(x, y, np.array([0.6]))                            # the exact value of captured is 0.36
    HeldOut on n 200: captured 0.2923 [0.1913, 0.3933] (95 %)
      correlation 1: 0.5388 [0.4425, 0.6228]
    """
    if len(F) == 0:
        raise ValueError("There are no pairs to evaluate on.")
    if pairs is None or np.ndim(pairs) == 1:
        pairs = sp.diags_array(np.ones(len(F)) if pairs is None else check_weights(pairs, len(F), "The weights"))
    weights = sp.csr_array(pairs)
    return held_out_parts(lambda function: [function(F, G, weights)], correlations, level, warn=warn)


def held_out_parts(
    each: Callable[[Callable[..., Any]], list[Any]],
    correlations: np.ndarray,
    level: float = 0.95,
    *,
    warn: bool = False,
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
        Level of the confidence intervals.
    warn : bool
        Whether an interval that few pairs decide gets a warning, `UncertainInterval`.

    Returns
    -------
    HeldOut
        The same as of all pairs together.

    Examples
    --------
    >>> import numpy as np

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 1)); y = 0.6 * x + 0.8 * rng.normal(size=(200, 1))
    >>> parts = held_out_parts(lambda f: [f(x[:50], y[:50]), f(x[50:], y[50:])], np.array([0.6]))
    >>> bool(np.isclose(parts.captured, held_out(x, y, np.array([0.6])).captured))
    True
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}.")
    parts = each(partial(summarise_pairs, correlations))
    if not parts:
        raise ValueError("There are no pairs to evaluate on.")
    summary = _Summary.merge_parts(parts)
    n = summary.n
    of_r, of_captured = (
        sum(sums) / n for sums in zip(*each(partial(sum_influence_powers, correlations, summary)), strict=True)
    )
    r = summary.correlations
    spread = Spread.of_moments(n, of_r)
    intervals = correlation_intervals(r, spread, summary.is_defined, level)
    whole = Spread.of_moments(n, of_captured)
    if warn:
        warn_of_few(whole, summary.least_variance)
    return HeldOut(r, intervals, summary.captured, summary.captured + whole.compute_reach(level), n, level)


@dataclass(frozen=True, eq=False)
class Spread:
    """How uncertain a mean of terms is: its standard error, and how well the terms determine that.

    The error of few, or of heavy-tailed, terms is itself uncertain. Its square is taken as a chi-square with the
    degrees of freedom that its variance asks for (Satterthwaite), 2 n / (kurtosis - 1), so that a quantile of Student's
    t allows for it: n - 1 of them for normal terms, 1 or 2 if a single term decides.
    """

    n: float
    error: np.ndarray
    freedom: np.ndarray

    @classmethod
    def of_moments(cls, n: float, powers: np.ndarray) -> Spread:
        """From the means of the terms and of their second, third and fourth powers, the rows of an array."""
        m1, m2, m3, m4 = powers
        if n <= MAX_PAIRS_WITHOUT_ERROR:
            return cls(n, np.full(np.shape(m1), np.inf), np.ones(np.shape(m1)))
        with np.errstate(over="ignore", invalid="ignore"):
            variance = np.maximum(m2 - m1**2, 0)
            fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
            kurtosis = np.nan_to_num(fourth / np.where(variance > 0, variance, 1) ** 2, nan=n)
        freedom = 2 * n / np.maximum(kurtosis - 1 + 2 / n, 2 / n)
        return cls(n, np.sqrt(variance / (n - 1)), np.clip(freedom, 1, n - 1))

    @classmethod
    def of_terms(cls, terms: np.ndarray) -> Spread:
        """From the terms themselves, the rows of an array."""
        terms = terms - terms.mean(axis=0)
        with np.errstate(over="ignore"):
            return cls.of_moments(len(terms), np.array(_sum_four_powers(np.full(len(terms), 1 / len(terms)), terms)))

    def scale_variance(self, factor: Any) -> Spread:
        """The same with a variance that is larger by a factor."""
        return replace(self, error=self.error * np.sqrt(factor))

    def compute_reach(self, level: float) -> np.ndarray:
        """How far the interval reaches down and up, in the last axis."""
        half = np.asarray(t_distribution.ppf((1 + level) / 2, self.freedom) * self.error)
        return half[..., None] * np.array([-1.0, 1.0])


def warn_of_few(captured: Spread, variance: float = 1.0, *, fewest: float = 1.0) -> None:
    """Warn if intervals of many pairs may be too narrow all the same.

    The error is taken from the variance of the terms, and how far it can be trusted from their fourth moment. A
    kurtosis above 2 sqrt(n) is more than n terms can determine: with tails so heavy the rarest pairs, which matter
    most, are missing in many samples. That they are missing also shows in functions that vary less than in the fit.

    Parameters
    ----------
    captured : Spread
        Spread of the terms of `captured`.
    variance : float
        Smallest variance of the functions, which was 1 on the pairs of the fit.
    fewest : float
        Degrees of freedom, in units of sqrt(n), below which there is a warning.
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


def correlation_intervals(r: np.ndarray, spread: Spread, is_defined: np.ndarray, level: float) -> np.ndarray:
    """Intervals of correlations, from terms whose mean has the error of r / (1 - r^2), that is, of Fisher's z.

    If all n pairs lie on a line, all that is known is that pairs off the line are rare. Were a share q of the pairs
    exchanged at random, the correlation would be 1 - q, and all n would be on the line with probability (1 - q)^n: the
    interval goes down to the q for which that is (1 - level) / 2.

    Parameters
    ----------
    r : ndarray of shape (d,)
        Correlations.
    spread : Spread
        Of the terms.
    is_defined : ndarray of bool, of shape (d,)
        Whether both functions vary.
    level : float
        Level of confidence.
    """
    inside = np.abs(r) < 1 - 1e-12
    ends = np.tanh(np.arctanh(np.where(inside, r, 0))[:, None] + spread.compute_reach(level))
    exact = r[:, None] * np.array([((1 - level) / 2) ** (1 / spread.n), 1.0])
    is_defined = is_defined & (
        spread.n > MAX_PAIRS_WITHOUT_ERROR
    )  # so that more than two are left, which are always on a line
    return np.where(is_defined[:, None], np.where(inside[:, None], ends, np.sort(exact, axis=1)), [-1.0, 1.0])


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
    def from_values(cls, F: np.ndarray, weights: np.ndarray, correlations: np.ndarray) -> _Margin:
        n, f = float(weights.sum()), _prepend_constant(F, correlations)
        mean = weights @ F / n
        return cls(n, mean, weights @ (F - mean) ** 2, np.abs(F).max(axis=0, initial=0), (f.T * weights) @ f / n)

    @classmethod
    def merge_parts(cls, parts: Sequence[_Margin]) -> _Margin:
        n = sum(part.n for part in parts)
        mean, second = (sum(part.n / n * getattr(part, name) for part in parts) for name in ("mean", "second"))
        scatter = sum(part.scatter + part.n * (part.mean - mean) ** 2 for part in parts)
        return cls(n, mean, scatter, np.max([part.largest for part in parts], axis=0), second)

    @property
    def varies(self) -> np.ndarray:
        """Which functions are not constant but for rounding errors."""
        return np.sqrt(self.scatter / self.n) > 1e-12 * self.largest

    def standardise_values(self, F: np.ndarray) -> np.ndarray:
        """Mean 0 and variance 1; a constant becomes 0."""
        scale = np.sqrt(self.scatter / self.n)
        return np.where(self.varies, (F - self.mean) / np.where(self.varies, scale, 1), 0)


@dataclass(frozen=True, eq=False)
class _Summary:
    """What is known of pairs after the first look at them."""

    x: _Margin
    y: _Margin
    cross: np.ndarray
    """Sums of products of the deviations of f_i and g_i from their means."""
    ratio: float
    """Mean of r = sum_i s_i f_i g_i, from 0."""
    square: float
    """Mean of r squared."""

    @classmethod
    def merge_parts(cls, parts: Sequence[_Summary]) -> _Summary:
        x, y = _Margin.merge_parts([part.x for part in parts]), _Margin.merge_parts([part.y for part in parts])
        cross = sum(part.cross + part.n * (part.x.mean - x.mean) * (part.y.mean - y.mean) for part in parts)
        ratio, square = (sum(part.n / x.n * getattr(part, name) for part in parts) for name in ("ratio", "square"))
        return cls(x, y, np.asarray(cross), ratio, square)

    @property
    def n(self) -> float:
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
        """What share of the double sum over x and y is each pair with itself: none of a population."""
        return 1 / self.n if self.n > 1 + 1e-9 else 0.0

    @property
    def second(self) -> float:
        """Estimate the mean of r(x, y)^2 over independent x and y.

        The product of second moments is the mean over all x_k and all y_l. It contains each pair with itself, whose x
        and y are dependent, and is therefore biased. Without these n of n^2 terms it is a U-statistic, without bias.
        """
        return (float(np.sum(self.x.second * self.y.second)) - self.own * self.square) / (1 - self.own)

    @property
    def captured(self) -> float:
        """2 E[sum_i s_i f_i g_i] - sum_ij s_i s_j E[f_i f_j] E[g_i g_j] - 1, with f_0 = g_0 = s_0 = 1."""
        return 2 * self.ratio - self.second - 1

    def expect_squares(self, f: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """E[r(x, Y)^2] for each x, and E[r(X, y)^2] for each y, where X and Y are independent."""
        return ((f @ self.y.second) * f).sum(axis=1), ((g @ self.x.second) * g).sum(axis=1)

    def compute_influence(self, ratio: np.ndarray, of_x: np.ndarray, of_y: np.ndarray) -> np.ndarray:
        """Influence of pairs on `captured`, whose mean is 0: n - 1 times what leaving one out takes off."""
        others = (of_x + of_y - 2 * self.own * ratio**2) / (1 - self.own)
        inflation = (self.n - 1) / (self.n - 2) if self.n > MAX_PAIRS_WITHOUT_ERROR else 1.0
        return inflation * (2 * (ratio - self.ratio) - (others - 2 * self.second))

    def leave_out(self, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """The same of the correlations, on Fisher's z scale, from standardised values of pairs."""
        n, r = self.n, self.correlations
        times = n / (n - 1)
        f_left, g_left, cross_left = n - times * f**2, n - times * g**2, n * r - times * f * g
        return scaled_differences(r, correlations_of(f_left, g_left, cross_left, 1e-9 * n), n)


def correlations_of(f: np.ndarray, g: np.ndarray, cross: np.ndarray, least: Any) -> np.ndarray:
    """Correlations from sums of squares and products; 0 where a function without variance leaves none."""
    varies = (f > least) & (g > least)
    return np.where(varies, cross / np.sqrt(np.where(varies, f * g, 1)), 0.0)


def scaled_differences(r: np.ndarray, without: np.ndarray, n: float) -> np.ndarray:
    """Jackknife terms of arctanh(r), from the correlations without each unit in turn.

    The slope of arctanh is taken at r for all: arctanh itself is infinite where the one pair off a line is left out.
    """
    inside = np.abs(r) < 1 - 1e-12
    return np.where(inside, (n - 1) * (r - without) / np.where(inside, 1 - r**2, 1), 0.0)


def _fill_weights(F: np.ndarray, joint: sp.csr_array | None) -> sp.csr_array:
    return sp.csr_array(sp.diags_array(np.ones(len(F)))) if joint is None else joint


def summarise_pairs(
    correlations: np.ndarray, F: np.ndarray, G: np.ndarray, joint: sp.csr_array | None = None
) -> _Summary:
    """First look at some pairs."""
    joint = _fill_weights(F, joint)
    x = _Margin.from_values(F, joint.sum(axis=1), correlations)
    y = _Margin.from_values(G, joint.sum(axis=0), correlations)
    f, g = _prepend_constant(F, correlations), _prepend_constant(G, correlations)
    sums = np.zeros(2)
    for rows, columns, weights in _iterate_cells(joint, f.shape[1]):
        ratio = np.einsum("ki,ki->k", f[rows], g[columns])
        sums += weights @ ratio, weights @ ratio**2
    cross = np.einsum("ij,ij->j", F - x.mean, joint @ (G - y.mean))
    return _Summary(x, y, cross, *(sums / x.n).tolist())


def sum_influence_powers(
    correlations: np.ndarray, summary: _Summary, F: np.ndarray, G: np.ndarray, joint: sp.csr_array | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Second look: sums of the first four powers of the influences on the correlations and on `captured`."""
    joint = _fill_weights(F, joint)
    of_r, of_captured = np.zeros((4, F.shape[1])), np.zeros(4)
    if summary.n <= MAX_PAIRS_WITHOUT_ERROR:
        return of_r, of_captured
    unit_f, unit_g = summary.x.standardise_values(F), summary.y.standardise_values(G)
    f, g = _prepend_constant(F, correlations), _prepend_constant(G, correlations)
    of_x, of_y = summary.expect_squares(f, g)
    for rows, columns, weights in _iterate_cells(joint, f.shape[1]):
        terms = summary.leave_out(unit_f[rows], unit_g[columns])
        ratio = np.einsum("ki,ki->k", f[rows], g[columns])
        influence = summary.compute_influence(ratio, of_x[rows], of_y[columns])
        with np.errstate(over="ignore"):  # values that far out leave no interval, see `Spread`
            of_r += _sum_four_powers(weights, terms)
            of_captured += _sum_four_powers(weights, influence)
    return of_r, of_captured


def _sum_four_powers(weights: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    """Weighted sums of the first four powers; ** would take ten times as long as products."""
    squares = values * values
    return [weights @ values, weights @ squares, weights @ (squares * values), weights @ (squares * squares)]


def captured_by_moments(
    moments: Any, mean_f: np.ndarray, A: np.ndarray, mean_g: np.ndarray, B: np.ndarray, correlations: np.ndarray
) -> float:
    """Compute `captured` of the functions (F - mean_f) @ A and (G - mean_g) @ B from moments of features F and G alone.

    These do not say what each pair contributes together with itself, so that, unlike in `held_out`, it is not left out:
    the result is too low by the order of 1 / n, much the same for functions that are compared on the same pairs.
    """
    root = np.sqrt(correlations)
    A, B = A * root, B * root
    a, b = (moments.mean_f - mean_f) @ A, (moments.mean_g - mean_g) @ B
    cross = np.einsum("pi,pi->", A, moments.cov_fg @ B) + a @ b
    second_f = A.T @ moments.cov_f @ A + np.outer(a, a)
    second_g = B.T @ moments.cov_g @ B + np.outer(b, b)
    return float(2 * cross - 2 * a @ b - np.sum(second_f * second_g))


def captured_terms(F: np.ndarray, G: np.ndarray, correlations: np.ndarray) -> np.ndarray:
    """Split `captured` into one term for each pair.

    Parameters
    ----------
    F, G : ndarray of shape (n, d)
        Values of f and g of the pairs.
    correlations : ndarray of shape (d,)
        What the fit promised.

    Returns
    -------
    ndarray of shape (n,)
        Terms whose mean is `captured` and whose variance is that of n times its estimate.

    Examples
    --------
    >>> import numpy as np

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 1)); y = 0.6 * x + 0.8 * rng.normal(size=(200, 1))
    >>> bool(np.isclose(captured_terms(x, y, np.array([0.6])).mean(), held_out(x, y, np.array([0.6])).captured))
    True
    """
    summary = summarise_pairs(correlations, F, G)
    f, g = _prepend_constant(F, correlations), _prepend_constant(G, correlations)
    return summary.captured + summary.compute_influence((f * g).sum(axis=1), *summary.expect_squares(f, g))


def _prepend_constant(F: np.ndarray, correlations: np.ndarray) -> np.ndarray:
    """1, f_1, f_2, ..., each times the fourth root of its PIC."""
    return np.column_stack([np.ones(len(F)), F]) * np.sqrt(np.concatenate([[1.0], correlations]))


def _iterate_cells(joint: sp.csr_array, width: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Rows, columns and weights of the pairs that occur, so many at a time that their functions fit into the cache."""
    block = max(1, MAX_CACHED_VALUES // width)
    rows = np.repeat(np.arange(joint.shape[0]), np.diff(joint.indptr))
    for start in range(0, joint.nnz, block):
        cells = slice(start, start + block)
        yield rows[cells], joint.indices[cells], joint.data[cells]
