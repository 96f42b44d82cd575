"""Tests of components on all pairs, by every method that can do so without a fit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.core.dependence_views import View, run_in_turn
from correspondence.results.component_tests import PermutationTest
from correspondence.selection.method_registry import METHODS, PairsProfile, make_estimator
from correspondence.selection.race import Race
from correspondence.selection.time_budget import TimeBudget

__all__ = ["N_DRAWS", "SIGNIFICANCE_LEVEL", "DependenceTest", "find_dependence", "list_views", "run_component_tests"]

SIGNIFICANCE_LEVEL = 0.05
N_DRAWS = 499  # of each test


@dataclass(frozen=True, eq=False)
class DependenceTest:
    """The test of the first component by all methods that can look for it on all pairs."""

    pvalue: float = 1.0
    """The p-value by all methods together; 1 without methods."""
    views: dict[str, list[View]] = field(default_factory=dict)
    seed: int = 0
    is_cut: bool = False
    """Whether the time limit has ended the test before there was a p-value."""

    @property
    def is_absent(self) -> bool:
        """Whether dependence was looked for, and not found."""
        return bool(self.views) and self.pvalue > SIGNIFICANCE_LEVEL

    def find_method(self, winner: str) -> str:
        """Name the winner of the race or, if it does not see the dependence found, the method that sees it best."""
        if self.pvalue > SIGNIFICANCE_LEVEL or len(self.views) < 2 or winner not in self.views:
            return winner
        if _test_first_component(self.views[winner], self.seed) <= SIGNIFICANCE_LEVEL:
            return winner
        seen = {name: _test_first_component(own, self.seed) for name, own in self.views.items()}
        best = min(seen, key=lambda name: seen[name])
        return best if seen[best] <= SIGNIFICANCE_LEVEL else winner

    def find_more(self, race: Race, pairs: PairsProfile) -> str | None:
        """Name the best of the methods that see a component which the winner, such as a line, cannot have."""
        rank = race.winner.crossfit.correlations.size
        others = [result for result in race.others if result.method in self.views]
        if rank < pairs.max_components_compared:  # the race has judged that many
            others = [result for result in others if result.captured > race.winner.captured]
        elif race.winner.method == "cca":
            rank = pairs.n_linear
        else:
            return None
        if self.pvalue > SIGNIFICANCE_LEVEL or not others or rank >= pairs.max_components:
            return None
        other = max(others, key=lambda result: result.captured).method
        tested = run_in_turn(self.views[other], rank + 1, N_DRAWS, self.seed, stop_above=SIGNIFICANCE_LEVEL)
        return other if tested.pvalues[-1] <= SIGNIFICANCE_LEVEL else None


def find_dependence(
    X: Any,
    Y: Any,
    groups: np.ndarray | None,
    names: Sequence[str],
    pairs: PairsProfile,
    seed: int,
    budget: TimeBudget | None = None,
) -> DependenceTest:
    """Test whether there is any dependence, by all of these methods that can do so on all pairs.

    A weak one may well be seen by another method than the winner of the race, which is then taken. If a budget of time
    is half used up, the methods that are left do not take part, and there are fewer draws.
    """
    budget = TimeBudget() if budget is None else budget
    names = names[:1] if pairs.are_labels else [name for name in names if not METHODS[name].is_costly]
    views: dict[str, list[View]] = {}
    for name in names:
        if views and budget.is_hasty:
            budget.notes.append(f"{name} took no part in the test of dependence, because of the time limit.")
        elif own := list_views(X, Y, name, pairs, groups):
            views[name] = own
    together = [view for own in views.values() for view in own]
    n_draws = budget.limit_draws(N_DRAWS)
    return DependenceTest(_test_first_component(together, seed, n_draws) if together else 1.0, views, seed)


def _test_first_component(views: list[View], seed: int, n_draws: int = N_DRAWS) -> float:
    return float(run_in_turn(views, 1, n_draws, seed).pvalues[0])


def run_component_tests(
    views: list[View], first: float, limit: int, seed: int, n_draws: int = N_DRAWS
) -> PermutationTest:
    """Test the components of a method one after the other, given the p-value of the first.

    Parameters
    ----------
    views : list of View
        Views of all pairs by the method.
    first : float
        The p-value of the first component.
    limit : int
        Test at most this many components.
    seed : int
        The seed of the permutations.
    n_draws : int
        The number of draws of each test.
    """
    d = limit if first <= SIGNIFICANCE_LEVEL else 1
    later = run_in_turn(views, d, n_draws, seed, stop_above=SIGNIFICANCE_LEVEL, start=1)
    pvalues = np.maximum.accumulate([first, *later.pvalues[1:], *np.ones(limit - d)])
    statistics, null = np.zeros(limit), np.zeros((len(later.null), limit))
    statistics[:d], null[:, :d] = later.statistics, later.null
    return PermutationTest(pvalues, np.full(limit, np.nan), statistics, null, len(null), views[0].kind)


def list_views(X: Any, Y: Any, name: str, pairs: PairsProfile, groups: np.ndarray | None = None) -> list[View]:
    """List the views of all pairs by which a method can test its components; none if it cannot."""
    with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):
        return make_estimator(name, pairs, 1)._make_test_views(X, Y, groups)
