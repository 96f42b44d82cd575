"""Limits on time: estimates, what is skipped, and that there is always a result.

No test asserts seconds: fake clocks tell what is skipped, and what is cut off would never end by itself.
"""

import time
from typing import ClassVar

import numpy as np
import pytest

import correspondence as co
from correspondence._util.interrupts import OutOfTimeError
from correspondence._util.progress import StageLine
from correspondence.selection import comparing, race, time_budget
from correspondence.selection.time_budget import (
    N_DRAWS_IN_HASTE,
    TimeBudget,
    check_time_limit,
    count_rounds,
    estimate_fit_seconds,
)

SECONDS = {"CCA": 1.0, "ACE": 10.0, "KernelCCA": 1000.0}


@pytest.fixture
def estimates(monkeypatch):
    """Estimate by the kind of the estimator, and keep who was asked."""
    asked = []

    def estimate(est, X, Y, groups=None, left=np.inf):
        asked.append(type(est).__name__)
        return SECONDS.get(asked[-1], 1000.0)

    monkeypatch.setattr(race, "estimate_fit_seconds", estimate)
    monkeypatch.setattr(comparing, "estimate_fit_seconds", estimate)
    return asked


def smooth_pairs(rng, n=400):
    x = rng.normal(size=(n, 1))
    return x, x**2 + rng.normal(size=(n, 1))


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, "10", True, [1]])
def test_bad_limits(value):
    with pytest.raises(ValueError, match=r"time_limit must .*number"):
        check_time_limit(value)


def test_without_a_limit_nothing_is_skipped():
    budget = TimeBudget()
    budget.record_fit("cca", 1.0)
    assert not budget.skips("forest", 1e9)
    assert not budget.is_hasty
    assert budget.affords_fits(["cca"], 1e9)
    assert budget.limit_draws(499) == 499


def test_the_time_that_has_passed_counts():
    now = [0.0]
    budget = TimeBudget(100, clock=lambda: now[0])
    budget.record_fit("cca", 5.0)
    assert not budget.skips("ace", 90)
    now[0] = 60.0
    assert budget.skips("ace", 90)
    assert budget.is_hasty
    assert budget.limit_draws(499) == N_DRAWS_IN_HASTE
    assert budget.affords_fits(["cca"], 8)
    assert not budget.affords_fits(["cca"], 9)
    now[0] = 500.0
    assert budget.left == 0


def test_the_sentence_names_the_method_its_time_and_what_is_left():
    budget = TimeBudget(20, clock=lambda: 0.0)
    budget.record_fit("cca", 1.0)
    budget.skips("forest", 180)
    assert all(part in budget.notes[0] for part in ("forest", "3 min", "20 s"))


def test_what_has_no_estimate_is_skipped_only_when_no_time_is_left():
    now = [0.0]
    budget = TimeBudget(20, clock=lambda: now[0])
    budget.record_fit("cca", 1.0)
    assert not budget.skips("forest")
    now[0] = 20.0
    assert budget.skips("forest")
    assert "nothing is left" in budget.notes[0]


class Steps(co.CCA):
    """An estimator that trains in steps, and keeps how many it was asked for."""

    asked: ClassVar[list] = []

    def __init__(self, n_components=1, max_steps=1000):
        super().__init__(n_components)
        self.max_steps = max_steps

    def fit(self, X, Y=None, groups=None):
        self.asked.append(self.max_steps)
        return super().fit(X, Y)


def test_nets_make_few_steps_in_a_probe(rng):
    clock = iter([0, 1, 0, 1])
    assert estimate_fit_seconds(Steps(), *smooth_pairs(rng, 8000), clock=lambda: next(clock)) == 20
    assert Steps.asked == [50, 50]


def test_fits_in_parallel_count_once():
    assert count_rounds(5, None) == 5
    assert count_rounds(5, 2) == 3


@pytest.mark.parametrize(
    ("times", "expected"), [((1, 2), 20), ((1, 1), 1), ((1, 4), 400), ((1, 100), 10000), ((2, 1), 1)]
)
def test_estimates_grow_with_the_pairs(rng, times, expected):
    """Fits to 400 and 800 of 8000 pairs: the time is constant, linear, or at most quadratic."""
    x, y = smooth_pairs(rng, 8000)
    clock = iter([0, times[0], 0, times[1]])
    assert estimate_fit_seconds(co.CCA(1), x, y, clock=lambda: next(clock)) == pytest.approx(expected)


def test_a_probe_that_takes_too_long_is_the_last(rng):
    x, y = smooth_pairs(rng, 8000)
    clock = iter([0, 50])
    assert estimate_fit_seconds(co.CCA(1), x, y, left=10, clock=lambda: next(clock)) == 50 * 20


def test_parts_that_cannot_be_fitted_have_no_estimate():
    labels = ["a"] * 99 + ["b"]
    assert estimate_fit_seconds(co.CCA(1), labels, labels) == 0


def test_decompose_skips_what_cannot_finish(rng, estimates):
    x, y = smooth_pairs(rng)
    with pytest.warns(co.LeftOut, match="kernel was skipped") as caught:
        d = co.decompose(x, y, n_components=1, time_limit=500, verbose=False)
    assert d.origin.startswith("ace")
    assert sum("skipped" in str(warning.message) for warning in caught) == len(set(estimates) - {"ACE"})
    assert "CCA" not in estimates  # the simplest always runs


def test_the_simplest_method_always_runs(rng, estimates):
    x = rng.normal(size=(400, 1))
    y = x + rng.normal(size=(400, 1))
    with pytest.warns(co.LeftOut, match="time limit") as caught:
        d = co.decompose(x, y, time_limit=1e-6, verbose=False)
    assert d.origin.startswith("cca")
    assert d.n_components == 1
    assert any("test of dependence" in str(warning.message) for warning in caught)  # that of other methods was cut


def test_a_method_that_was_asked_for_is_not_skipped(rng, estimates):
    x, y = smooth_pairs(rng)
    assert co.decompose(x, y, 1, "kernel", time_limit=1e-6, verbose=False).origin.startswith("kernel")
    assert not estimates


@pytest.mark.slow
def test_enough_time_changes_nothing(rng, monkeypatch):
    monkeypatch.setattr(race, "estimate_fit_seconds", lambda *a: 0.0)
    x, y = smooth_pairs(rng)
    limited, free = (co.decompose(x, y, verbose=False, time_limit=limit) for limit in (1e6, None))
    assert limited.origin == free.origin
    np.testing.assert_array_equal(limited.pics, free.pics)


def test_without_a_limit_nothing_is_estimated(rng, estimates):
    co.decompose(*smooth_pairs(rng), n_components=1, verbose=False)
    assert not estimates


def test_compare_skips_what_cannot_finish(rng, estimates):
    x, y = smooth_pairs(rng)
    with pytest.warns(co.LeftOut, match="kernel was skipped"):
        comparison = co.compare(x, y, ["cca", "ace", "kernel"], 1, time_limit=500)
    assert list(comparison.results) == ["cca", "ace"]


@pytest.mark.slow
def test_compare_always_has_a_result(rng, estimates):
    x, y = smooth_pairs(rng)
    with pytest.warns(co.LeftOut, match="skipped"):
        comparison = co.compare(x, y, ["kernel", "cca"], 1, time_limit=1e-6)
    assert list(comparison.results) == ["kernel"]


# --- what has begun and takes too long


def run_forever(*args, **kwargs):
    while True:
        time.sleep(0.01)


def test_one_budget_may_be_shared():
    budget = TimeBudget(10)
    assert TimeBudget.from_limit(budget) is budget
    assert TimeBudget.from_limit(3).limit == 3


def test_shares_of_the_limit_count_from_the_beginning(monkeypatch):
    now, asked = [0.0], []
    monkeypatch.setattr(time_budget, "interrupt_after", asked.append)
    budget = TimeBudget(100, clock=lambda: now[0])
    now[0] = 30.0
    budget.interrupt(0.5)
    budget.interrupt(0.2, at_least=4)
    assert asked == pytest.approx([20, 4])
    with TimeBudget().interrupt():  # without a limit there is nobody to interrupt
        pass


def test_what_is_cut_off_is_replaced_and_told():
    budget = TimeBudget(0.1)
    assert budget.attempt("The search", 1.0, run_forever, "something else") == "something else"
    assert "The search was cut off" in budget.notes[0]
    assert TimeBudget(1e6).attempt("The search", 1.0, lambda: "found", "something else") == "found"


@pytest.mark.slow
def test_decompose_cuts_off_a_method_that_does_not_end(rng, monkeypatch):
    monkeypatch.setattr(co.KernelCCA, "fit", run_forever)
    x, y = smooth_pairs(rng)
    with pytest.warns(co.LeftOut, match="time limit") as caught:
        d = co.decompose(x, y, n_components=1, time_limit=6, verbose=False)
    assert any("kernel was cut off" in str(warning.message) for warning in caught)
    assert d.n_components == 1
    assert d.origin.startswith(("cca", "ace"))


@pytest.mark.slow
def test_a_test_that_does_not_end_claims_nothing(rng, monkeypatch):
    monkeypatch.setattr("correspondence.selection.decompose.find_dependence", run_forever)
    with pytest.warns(co.LeftOut, match="time limit") as caught:
        d = co.decompose(*smooth_pairs(rng), time_limit=2, verbose=False)
    assert any("test of dependence" in str(warning.message) for warning in caught)
    assert "not tested" in d.origin
    assert "significant" not in d.origin


def test_a_fit_that_does_not_end_is_one_sentence(rng, monkeypatch):
    monkeypatch.setattr(time_budget, "MIN_SECONDS_FOR_RESULT", 0.1)
    monkeypatch.setattr(co.KernelCCA, "fit", run_forever)
    with pytest.raises(ValueError, match=r"time_limit must .* kernel"):
        co.decompose(*smooth_pairs(rng), n_components=1, method="kernel", time_limit=0.1, verbose=False)


def test_the_quickest_method_stands_in_for_a_last_fit_that_does_not_end():
    budget = TimeBudget(0.1)
    budget.record_fit("cca", 0.1)
    budget.record_fit("mlp", 9.0)

    def fit(name):
        if name == "mlp":
            raise OutOfTimeError
        return "fitted"

    assert time_budget.fit_in_time(budget, "mlp", fit) == ("fitted", "cca")
    assert "mlp" in budget.notes[0]


@pytest.mark.slow
def test_compare_cuts_off_a_method_that_does_not_end(rng, monkeypatch):
    monkeypatch.setattr(co.KernelCCA, "fit", run_forever)
    with pytest.warns(co.LeftOut, match="kernel was cut off"):
        comparison = co.compare(*smooth_pairs(rng), ["cca", "kernel"], 1, time_limit=5)
    assert list(comparison.results) == ["cca"]


def test_compare_says_that_nothing_could_finish(rng, monkeypatch):
    monkeypatch.setattr(comparing, "MIN_SECONDS_FOR_RESULT", 0.1)
    monkeypatch.setattr(co.KernelCCA, "fit", run_forever)
    with pytest.raises(ValueError, match="time_limit must"):
        co.compare(*smooth_pairs(rng), ["kernel"], 1, time_limit=0.1)


@pytest.mark.slow
def test_stages_of_decompose_are_told(rng, monkeypatch):
    line, told = StageLine(False), []
    monkeypatch.setattr(line, "tell", lambda text, seconds=None: told.append(text))
    co.decompose(*smooth_pairs(rng), progress=line, verbose=False)
    assert told[:2] == ["looking at the columns and for copies", "testing for dependence"]
    assert "trying ace" in told
    assert told[-1].startswith("fitting")
