"""A race of methods on held-out pairs: costly ones take part only where cheap ones leave something to find."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit

from correspondence.data.splits import Split, make_splits
from correspondence.results.comparison import MIN_STANDARD_ERRORS_AHEAD, MethodResult, pick_simplest
from correspondence.results.held_out import compute_gain
from correspondence.selection.interactions import leaves_dependence
from correspondence.selection.method_registry import METHODS, MIN_PAIRS_FOR_NET, PairsProfile, make_estimator
from correspondence.validation.crossfit import crossfit

__all__ = ["Race", "choose_folds", "limit_components", "race_again", "run_race"]

MAX_STANDARD_ERRORS_BEHIND = 3.0  # after the first fold, a method further behind the leader is dropped
FEW_FOLDS, MIN_PAIRS_FOR_FEW_FOLDS = 3, 400  # so many folds are judged first, from so many pairs on
MAX_NUMBERS_FOR_LOGISTIC = 2e6  # in all columns, up to which a logistic regression is quick


@dataclass(frozen=True, eq=False)
class Race:
    """The winner and the methods that kept up with it, each with its result on the last folds it was judged by."""

    winner: MethodResult
    others: list[MethodResult]

    def lead_by_captured(self) -> Race:
        """Return the same race, won by the method that captures most, however simple the others are."""
        results = sorted([self.winner, *self.others], key=lambda result: -result.captured)
        return Race(results[0], results[1:])

    def describe_winner(self, n_components: int | None = None) -> str:
        """Say what the winner and the others capture, and of how many pairs.

        Parameters
        ----------
        n_components : int, optional
            The winner is described with this many components; by default with the number that suits it best.
        """
        winner, judged = self.winner, self.winner.crossfit
        if n_components is not None and n_components <= len(judged.correlations):
            winner = replace(winner, captured=judged.captured_first(n_components)[0])
        mine = f"captures {winner.format_captured()} on {judged.n_held_out:,} held-out pairs"
        others = sorted(self.others, key=lambda result: -result.captured)
        theirs = ", ".join(f"{result.method} {result.format_captured()}" for result in others)
        return f"{mine} ({theirs})" if theirs else mine


def run_race(
    X: Any,
    Y: Any,
    names: Sequence[str],
    n_components: int | None,
    pairs: PairsProfile,
    *,
    is_short: bool = False,
    groups: np.ndarray | None,
    random_state: int,
    n_jobs: int | None,
    progress: bool | None,
) -> Race | None:
    """Find the simplest method that is not clearly behind the best, without giving all of them all the folds.

    Return None if no method can be fitted to a part of the pairs, for example if only one pair has a label.

    Parameters
    ----------
    X, Y : array-like, frame, ...
        The pairs.
    names : sequence of str
        These methods may take part, from simple to flexible.
    n_components : int, optional
        Methods are judged by this many components; by default by the number that suits each.
    pairs : PairsProfile
        What the pairs are like.
    is_short : bool
        Let one fold decide, because a test has found nothing that methods could differ in.
    groups : ndarray of shape (n,), optional
        The number of each pair's group; groups are never on both sides of a split.
    random_state, n_jobs, progress : int, int, bool
        These are the parameters of `decompose`.
    """
    folds = _split_pairs(pairs, groups, random_state)
    options = {"groups": groups, "n_jobs": n_jobs, "progress": progress}
    judge = _RaceJudge(X, Y, n_components, pairs, random_state, options, pairs.max_components_compared)
    first, others = _part_by_cost(names, pairs)
    survivors = judge.run_heat(first, [], folds[:1])
    if not survivors:
        return None
    # A kernel that keeps up sees the interactions that nets would see, at a fraction of their cost.
    if pairs.n < MIN_PAIRS_FOR_NET or "kernel" in {result.method for result in survivors}:
        others = [name for name in others if name != "pice"]
    # Where a classifier is ahead of functions of columns, other classifiers may be further ahead.
    leads = max(survivors, key=lambda result: result.captured).method == "logistic"
    if others and (leads or leaves_dependence(X, Y, pairs, random_state)):
        survivors = judge.run_heat(others, survivors, folds[:1])
    if n_components is not None:
        most = max(len(result.crossfit.correlations) for result in survivors)
        survivors = [r for r in survivors if len(r.crossfit.correlations) >= min(n_components, most)]
    # A single survivor too is judged by more than the first fold, so that what is said of it is not that fold's luck.
    if len(folds) > 1 and not is_short and not any(METHODS[r.method].is_costly for r in survivors):
        few = folds if pairs.n < MIN_PAIRS_FOR_FEW_FOLDS else folds[:FEW_FOLDS]
        survivors = judge.judge_all([result.method for result in survivors], few) or survivors
        if len(few) < len(folds):
            survivors = judge.judge_leaders(survivors, folds)
    return crown_simplest(survivors)


def crown_simplest(results: Sequence[MethodResult]) -> Race:
    """Let the simplest method win that is not clearly behind the best."""
    winner = pick_simplest({result.method: result for result in results})
    return Race(
        next(result for result in results if result.method == winner),
        [result for result in results if result.method != winner],
    )


def _part_by_cost(names: Sequence[str], pairs: PairsProfile) -> tuple[list[str], list[str]]:
    """Part methods into those that always take part, and those that wait until the others leave something to find."""
    is_small = pairs.n * sum(side.columns or np.inf for side in (pairs.x, pairs.y)) <= MAX_NUMBERS_FOR_LOGISTIC
    quick = {name for name in names if not METHODS[name].is_costly or (name == "logistic" and is_small)}
    first = [name for name in names if name in quick] or list(names)
    return first, [name for name in names if name not in first]


@dataclass(frozen=True, eq=False)
class _RaceJudge:
    """The judge of a race, who cross-fits methods to its pairs."""

    X: Any
    Y: Any
    n_components: int | None
    pairs: PairsProfile
    random_state: int
    options: dict[str, Any]
    most: int
    """Number of components that methods get if `n_components` is None."""

    def judge_one(self, name: str, parts: list[Split]) -> MethodResult:
        """Judge one method."""
        est = make_estimator(name, self.pairs, self.n_components or self.most, self.random_state)
        result = crossfit(est, self.X, self.Y, parts, **self.options)
        return MethodResult.from_cross_fit(name, result, self.n_components)

    def judge_all(self, names: Sequence[str], parts: list[Split]) -> list[MethodResult]:
        """Judge the methods that can be fitted: a rare label may be missing in a part of the pairs."""
        results = []
        for name in names:
            with suppress(ValueError):  # what is wrong with all pairs is reported by the fit to them
                results.append(self.judge_one(name, parts))
        return results

    def run_heat(self, names: Sequence[str], ahead: list[MethodResult], parts: list[Split]) -> list[MethodResult]:
        """Judge methods, and return the results of them and of those ahead that are not clearly behind the leader."""
        ahead = [*ahead, *self.judge_all(names, parts)]
        if not ahead:
            return []
        leader = max(ahead, key=lambda result: result.captured)
        return [result for result in ahead if compute_gain(result.terms, leader.terms) <= MAX_STANDARD_ERRORS_BEHIND]

    def judge_leaders(self, results: list[MethodResult], parts: list[Split]) -> list[MethodResult]:
        """Judge the simplest method that keeps up and the leader by all parts, if they are not the same."""
        simplest = pick_simplest({result.method: result for result in results})
        leader = max(results, key=lambda result: result.captured).method
        names = [result.method for result in results if result.method in (simplest, leader)]
        return results if simplest == leader else self.judge_all(names, parts) or results


def race_again(
    X: Any,
    Y: Any,
    names: Sequence[str],
    pairs: PairsProfile,
    *,
    groups: np.ndarray | None,
    random_state: int,
    n_jobs: int | None,
    progress: bool | None,
) -> Race | None:
    """Compare methods by all components to look for, where `run_race` judges the first three.

    Parameters
    ----------
    X, Y, pairs, groups, random_state, n_jobs, progress
        These are the parameters of `run_race`.
    names : sequence of str
        Compare these methods, from simple to flexible.
    """
    folds = _split_pairs(pairs, groups, random_state)[:FEW_FOLDS]
    options = {"groups": groups, "n_jobs": n_jobs, "progress": progress}
    results = _RaceJudge(X, Y, None, pairs, random_state, options, pairs.max_components).judge_all(names, folds)
    return crown_simplest(results) if results else None


def limit_components(
    X: Any,
    Y: Any,
    result: MethodResult,
    found: int,
    pairs: PairsProfile,
    *,
    groups: np.ndarray | None,
    random_state: int,
    n_jobs: int | None,
    progress: bool | None,
) -> int:
    """Return the number of components, at most those that a test has found, that held-out pairs do not contradict.

    A component may exist and yet be fitted so badly that it does harm: it is kept only if the components up to it do
    not capture clearly less than the best number of them.

    Parameters
    ----------
    X, Y, pairs, groups, random_state, n_jobs, progress
        These are the parameters of `run_race`.
    result : MethodResult
        The result of the method in the race.
    found : int
        The number of components that are more than chance.
    """
    judged = result.crossfit
    if found > len(judged.correlations) and not METHODS[result.method].is_costly:
        folds = _split_pairs(pairs, groups, random_state)
        est = make_estimator(result.method, pairs, found, random_state)
        judged = crossfit(est, X, Y, folds[:2], groups=groups, n_jobs=n_jobs, progress=progress)
    nested = {k: judged.captured_first(k) for k in range(1, min(found, len(judged.correlations)) + 1)}
    best = max(nested, key=lambda k: nested[k][0])
    keeps_up = [k for k in nested if compute_gain(nested[k][1], nested[best][1]) <= MIN_STANDARD_ERRORS_AHEAD]
    most = max([best, *keeps_up])
    return found if most == len(judged.correlations) < found else most


def _split_pairs(pairs: PairsProfile, groups: np.ndarray | None, random_state: int) -> list[Split]:
    """Split the pairs into the folds of a race."""
    return make_splits(choose_folds(pairs, groups, random_state), pairs.n, groups=groups, random_state=random_state)


def choose_folds(pairs: PairsProfile, groups: np.ndarray | None, random_state: int) -> Any:
    """Choose five folds, three from 2000 pairs on, and from 20,000 on (of images 1000) a single quarter."""
    n = pairs.n
    if n < (MIN_PAIRS_FOR_NET if pairs.has_images else 20_000):
        most = n if groups is None else int(groups.max()) + 1
        return max(2, min(5 if n < 2000 else 3, most))
    kind = ShuffleSplit if groups is None else GroupShuffleSplit
    return kind(1, test_size=0.25, random_state=random_state)
