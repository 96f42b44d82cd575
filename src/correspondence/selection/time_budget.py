"""A limit on time: what methods would take is estimated, and those that cannot finish are skipped with a sentence."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self, TypeVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from correspondence._util.arguments import count_observations, is_number, take_rows
from correspondence._util.interrupts import OutOfTimeError, interrupt_after
from correspondence._util.progress import describe_seconds
from correspondence._util.text import short_repr
from correspondence.data.splits import select_groups
from correspondence.validation.fitting import fit_copy

__all__ = [
    "COUNT_SHARE",
    "MIN_SECONDS_FOR_RESULT",
    "NO_TIME_TEXT",
    "RACE_SHARE",
    "TEST_SHARE",
    "TimeBudget",
    "check_time_limit",
    "count_rounds",
    "estimate_fit_seconds",
    "fit_in_time",
]

MAX_PROBE_PAIRS = 800  # pairs of the larger of the two fits that show how long a fit takes; the other has half of them
MAX_PROBE_SHARE = 0.5  # share of all pairs that a probe may have
MIN_PROBE_SECONDS = 0.05  # fits that are quicker say nothing about how their time grows
MAX_GROWTH = 2.0  # power of the number of pairs by which the time of a fit may grow
N_PROBE_STEPS = 50  # steps of nets in a probe
N_FITS_FOR_TEST = 3  # of a test on held-out pairs, each to a part of them
NO_TIME_TEXT = "the time limit leaves no time for fits to parts of the pairs"
N_DRAWS_IN_HASTE = 99  # of a test for which little time is left
# Shares of the limit after which what has begun is interrupted, so that time is left for what comes after it.
TEST_SHARE, RACE_SHARE, COUNT_SHARE, FIT_SHARE = 0.4, 0.65, 0.8, 0.95
MIN_SECONDS_FOR_RESULT = 4.0  # a first method and a last fit have at least this long, however short the limit is
Result = TypeVar("Result")


def check_time_limit(value: Any) -> float | None:
    """Check a limit in seconds: a positive number, or None."""
    if value is None or (is_number(value) and 0 < float(value) < math.inf):
        return None if value is None else float(value)
    raise ValueError(f"time_limit must be a positive number of seconds, or None, got {short_repr(value)}.")


class TimeBudget:
    """The time that is left for methods and tests, what each fit takes, and what was skipped.

    What would take too long is not begun, and what takes longer than expected is interrupted. The first method always
    runs, and the last fit has a few seconds at least, so that there is a result.

    Parameters
    ----------
    limit : float, optional
        The limit in seconds, from now on; by default there is none, and nothing is skipped.
    clock : callable
        It returns the time in seconds.

    Examples
    --------
    >>> budget = TimeBudget(30, clock=lambda: 0.0)
    >>> budget.skips("forest", 200)              # the first method always runs
    False
    >>> budget.record_fit("cca", 0.5)
    >>> budget.skips("forest", 200)
    True
    >>> budget.notes
    ['forest was skipped: it would take about 3 min, and 30 s are left of the time limit.']
    """

    def __init__(self, limit: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit, self.clock = check_time_limit(limit), clock
        self.begin = clock()
        self.seconds_per_fit: dict[str, float] = {}
        self.notes: list[str] = []

    @property
    def left(self) -> float:
        """Seconds that are left; infinity without a limit."""
        return math.inf if self.limit is None else max(0.0, self.limit - (self.clock() - self.begin))

    @property
    def is_hasty(self) -> bool:
        """Whether less than half of the time is left."""
        return self.limit is not None and self.left < self.limit / 2

    @classmethod
    def from_limit(cls, limit: Any) -> Self:
        """Begin a budget with a limit in seconds, or go on with one that has begun."""
        return limit if isinstance(limit, cls) else cls(limit)

    def interrupt(self, share: float = 1.0, at_least: float = 0.0) -> AbstractContextManager[None]:
        """Raise OutOfTimeError in the block when a share of the limit has passed since the beginning.

        Parameters
        ----------
        share : float
            The share of the limit.
        at_least : float
            The block has at least so many seconds.
        """
        if self.limit is None:
            return nullcontext()
        return interrupt_after(max(share * self.limit - (self.clock() - self.begin), at_least))

    def attempt(self, what: str, share: float, run: Callable[[], Result], otherwise: Result) -> Result:
        """Return the result of a call or, if a share of the limit passes before, another one, and keep a sentence."""
        try:
            with self.interrupt(share):
                return run()
        except OutOfTimeError:
            self.note_cut(what)
            return otherwise

    def note_cut(self, what: str) -> None:
        """Keep a sentence about what has not ended."""
        self.notes.append(f"{what} was cut off by the time limit.")

    def explain_failure(self, what: str) -> ValueError:
        """Make the error for a limit in which nothing could be fitted."""
        return ValueError(
            f"time_limit must leave time to fit {what}, got {self.limit:g} seconds. Allow more, or give fewer pairs."
        )

    def record_fit(self, name: str, seconds: float) -> None:
        """Keep what a fit of a method has taken, from which later ones are estimated."""
        self.seconds_per_fit[name] = seconds

    def skips(self, name: str, seconds: float = 0.0) -> bool:
        """Tell whether a method must be skipped, because it would take so many seconds, and keep a sentence.

        Without an estimate, it is skipped only if no time is left at all.
        """
        left = self.left
        if not self.seconds_per_fit or (left > 0 and seconds <= left):
            return False
        if left < 1:
            self.notes.append(f"{name} was skipped: nothing is left of the time limit.")
        else:
            need, rest = describe_seconds(max(seconds, 1)), describe_seconds(left)
            verb = "is" if left < 1.5 else "are"
            self.notes.append(
                f"{name} was skipped: it would take about {need}, and {rest} {verb} left of the time limit."
            )
        return True

    def affords_fits(self, names: list[str], n_fits: float) -> bool:
        """Tell whether there is time for so many more fits of each of some methods that were fitted before."""
        return n_fits * sum(self.seconds_per_fit.get(name, 0.0) for name in names) <= self.left

    def affords_test(self, name: str) -> bool:
        """Tell whether there is time for a test of a method on held-out pairs, and for a fit to all pairs."""
        return self.affords_fits([name], N_FITS_FOR_TEST + 1)

    def limit_draws(self, n_draws: int) -> int:
        """Return the number of draws of a test: fewer if little time is left."""
        return min(n_draws, N_DRAWS_IN_HASTE) if self.is_hasty else n_draws


def fit_in_time(budget: TimeBudget, name: str, fit: Callable[[str], Result]) -> tuple[Result, str]:
    """Fit a method to all pairs or, if the time limit ends that, the method that was quickest before.

    Parameters
    ----------
    budget : TimeBudget
        The time that is left, and what fits of methods have taken.
    name : str
        The method to fit.
    fit : callable
        It is called with the name of a method.

    Returns
    -------
    tuple
        What `fit` returned, and the name of the method.
    """
    taken = budget.seconds_per_fit
    quickest = min(taken, key=lambda other: taken[other], default=name)
    for each in dict.fromkeys((name, quickest)):
        try:
            with budget.interrupt(FIT_SHARE, MIN_SECONDS_FOR_RESULT):
                return fit(each), each
        except OutOfTimeError:
            budget.note_cut(f"The fit of {each} to all pairs")
    raise budget.explain_failure(name)


def count_rounds(n_fits: int, n_jobs: int | None) -> int:
    """Return how many fits follow each other if some run in parallel."""
    return math.ceil(n_fits / max(1, effective_n_jobs(n_jobs)))


def estimate_fit_seconds(
    est: Any, X: Any, Y: Any, groups: np.ndarray | None = None, left: float = math.inf, clock: Any = time.perf_counter
) -> float:
    """Estimate how long a fit to all pairs takes, from fits to two small parts.

    Parameters
    ----------
    est : estimator
        Fit copies of this estimator.
    X, Y : array-like, frame, ...
        Draw the parts from these pairs.
    groups : ndarray of shape (n,), optional
        Pass the groups of the pairs to the fits.
    left : float
        If the first fit takes more seconds than this, there is no second.
    clock : callable
        It returns the time in seconds.

    Returns
    -------
    float
        The seconds; 0 if a small part cannot be fitted, for example because labels are missing in it. Nets make only a
        few steps in the fits, and are taken to need all of theirs.

    Examples
    --------
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(2, 4000, 1))
    >>> seconds = iter([0.0, 1.0, 1.0, 3.0])         # 1 s for 400 pairs and 2 s for 800 are 10 s for 4000
    >>> estimate_fit_seconds(co.CCA(1), X, Y, clock=lambda: next(seconds))
    10.0
    """
    est, n_times = shorten_training(est)
    n = count_observations(X, "X")
    order = np.random.default_rng(0).permutation(n)
    large = max(2, int(min(MAX_PROBE_PAIRS, MAX_PROBE_SHARE * n)))
    sizes, took = (max(1, large // 2), large), []
    for size in sizes:
        rows = np.sort(order[:size])
        begin = clock()
        try:
            fit_copy(est, take_rows(X, rows), take_rows(Y, rows), select_groups(groups, rows))
        except ValueError:  # what is wrong with all pairs is reported by the fit to them
            return 0.0
        took.append(max(clock() - begin, 1e-6))
        if took[-1] > left:
            return n_times * took[-1] * n / size
    growth = np.clip(np.log2(took[1] / took[0]), 0.0, MAX_GROWTH) if took[1] > MIN_PROBE_SECONDS else 1.0
    return float(n_times * took[1] * (n / large) ** growth)


def shorten_training(est: Any) -> tuple[Any, float]:
    """Return an estimator that makes fewer steps, if it makes any, and how many times as many the given one makes."""
    steps = est.get_params().get("max_steps")
    if not isinstance(steps, int) or steps <= N_PROBE_STEPS:
        return est, 1.0
    return clone(est).set_params(max_steps=N_PROBE_STEPS), steps / N_PROBE_STEPS
