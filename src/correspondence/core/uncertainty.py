"""How uncertain what is measured on pairs is: spreads of means, intervals of correlations, and a warning."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import t as t_distribution

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.user_warnings import UncertainInterval

__all__ = [
    "MAX_PAIRS_WITHOUT_ERROR",
    "Spread",
    "compute_correlations",
    "compute_jackknife_terms",
    "find_correlation_intervals",
    "sum_four_powers",
    "warn_of_few",
]

MAX_PAIRS_WITHOUT_ERROR = 3  # with no more pairs errors cannot be estimated: without one of them, two lie on a line
MIN_PAIRS_FOR_WARNING = 100  # from here on intervals keep their level, and a warning is due where they may not
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
    exact = r[:, None] * np.array([((1 - level) / 2) ** (1 / spread.n), 1.0])
    is_defined = is_defined & (spread.n > MAX_PAIRS_WITHOUT_ERROR)
    return np.where(is_defined[:, None], np.where(inside[:, None], ends, np.sort(exact, axis=1)), [-1.0, 1.0])


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
