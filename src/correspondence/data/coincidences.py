"""How often rows of columns are equal by nature, which says which repetitions are copies; `copies` has the rules."""

from __future__ import annotations

import numpy as np
from scipy.stats import poisson

__all__ = [
    "MIN_TIMES_EXPECTED",
    "count_explained",
    "estimate_chance",
    "find_least_chance",
    "has_copies_among",
    "is_improbable",
]

MAX_CHANCE = 0.01  # probability with which a row that is no copy may be taken for one
MAX_EXPECTED_ROWS = 1.0  # expected by chance; a row that is expected more often is repeated by nature
MIN_TIMES_EXPECTED = 3.0  # repetitions must be this many times those that rows differing in one column explain
MIN_STANDARD_ERRORS = 1.0  # by which rows that occur twice must be too many for independent draws
SURE_STANDARD_ERRORS, MIN_TIMES_EXPECTED_OF_SURE = 3.0, 1.6  # the same beyond doubt, when fewer repetitions will do
MAX_DECIMALS, MAX_ROUNDING = 4, 1e-3  # of numbers that are taken for rounded, and how exactly they are it then
MAX_EXACT_FLOAT = 2.0**53  # up to which all whole numbers are floats


def estimate_chance(blocks: list[np.ndarray], are_numbers: list[bool], d: int) -> np.ndarray:
    """Estimate how probable each of d different rows is, if columns are independent."""
    chance = np.ones(d)
    for values, is_number in zip(blocks, are_numbers, strict=True):
        inverse, counts = np.unique(values, return_inverse=True, return_counts=True)[1:]
        others = counts[inverse] - 1
        # A number that no other row has is as probable as others of its column; a label may be one of many rare ones.
        unseen = _estimate_collisions(counts) + 1 / d**2 if is_number else 0.5 / d
        chance *= np.where(others > 0, others / (d - 1), unseen)
    return chance


def _estimate_collisions(counts: np.ndarray) -> float:
    """Estimate the probability with which two rows have the same value, from how often each value occurs."""
    d = counts.sum()
    return float((counts * (counts - 1.0)).sum() / (d * (d - 1)))


def is_improbable(times: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Tell whether rows are repeated more often than chance explains."""
    return (expected <= MAX_EXPECTED_ROWS) & (poisson.sf(times - 2, expected) <= MAX_CHANCE)


def has_copies_among(times: np.ndarray, pairs: float, explained: float) -> bool:
    """Tell whether rows occur t times too often for independent draws, given how many occur t - 1 and t + 1 times.

    If a row occurs a Poisson number of times with its own mean m, t! E[f_t] is the sum of m^t exp(-m) over all rows,
    whose logarithm is convex in t by the inequality of Cauchy and Schwarz, whatever the means are. Where that is broken
    beyond doubt, it is enough that there are more pairs of equal rows than explained.
    """
    counts = np.bincount(times, minlength=3)
    t = np.arange(2, len(counts))
    own, less, more = (part + 0.5 for part in (counts[2:], counts[1:-1], np.r_[counts[3:], 0]))  # 1/2 avoids log 0
    excess = np.log(t / (t + 1) * own**2 / (less * more)) / np.sqrt(4 / own + 1 / less + 1 / more)
    if pairs > MIN_TIMES_EXPECTED * explained and excess[0] > MIN_STANDARD_ERRORS:
        return True
    return bool(pairs > MIN_TIMES_EXPECTED_OF_SURE * explained and excess.max() > SURE_STANDARD_ERRORS)


def count_explained(keys: np.ndarray, blocks: list[np.ndarray], times: np.ndarray, least_chances: list[float]) -> float:
    """Count the pairs of equal rows that those differing in one block explain, or rounding of one that decides all."""
    explained = 0.0
    for values, least_chance in zip(blocks, least_chances, strict=True):
        inverse = np.unique(keys - values, return_inverse=True)[1]
        alike = np.bincount(inverse, times)
        differing = ((alike**2).sum() - (times.astype(float) ** 2).sum()) / 2
        counts = np.unique(values, return_counts=True)[1]
        equal = _estimate_collisions(counts)
        if counts.max() == 1:
            explained = max(explained, times.sum() * (times.sum() - 1) / 2 * least_chance)
        if differing > 0 and equal < 1:
            explained = max(explained, differing * equal / (1 - equal))
    return explained


def find_least_chance(values: np.ndarray) -> float:
    """Find how probable two equal numbers are at least, from their range and the step to which they are rounded.

    Parameters
    ----------
    values : ndarray of float or int
        The numbers; NaN and, among whole numbers, NaT are missing.

    Examples
    --------
    >>> find_least_chance(np.array([170.2, 170.4, 171.0]))
    0.2
    """
    if values.dtype.kind == "f":
        values = np.unique(values[np.isfinite(values)])
        if (np.abs(values) > MAX_EXACT_FLOAT / 10.0**MAX_DECIMALS).any():
            return 0.0
        scaled = values * 10.0**MAX_DECIMALS
        if (np.abs(scaled - scaled.round()) > MAX_ROUNDING).any():
            return 0.0
        values = scaled.round().astype(np.int64)
    known = np.unique(values[values != np.iinfo(np.int64).min])
    if len(known) < 2:
        return 1.0
    span = float(known[-1]) - float(known[0])
    step = float(np.gcd.reduce(np.diff(known)))
    return step / (span + step) if span < np.iinfo(np.int64).max else 0.0
