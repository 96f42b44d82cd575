"""The race of methods on held-out pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit

from correspondence._util.interrupts import OutOfTimeError
from correspondence._util.progress import ProgressArgument, StageLine
from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.data.beside_given import put_beside_given
from correspondence.data.splits import Split, deal_out_rare, make_splits
from correspondence.results.comparison import MIN_STANDARD_ERRORS_AHEAD, MethodResult, pick_simplest
from correspondence.results.evidence import CrossFit, compute_gain
from correspondence.selection.interactions import leaves_dependence
from correspondence.selection.method_registry import METHODS, MIN_PAIRS_FOR_NET, PairsProfile, make_estimator
from correspondence.selection.time_budget import RACE_SHARE, TimeBudget, count_rounds, estimate_fit_seconds
from correspondence.validation.crossfit import pool_fits
from correspondence.validation.fitting import Fit, fit_and_apply, run_tasks

__all__ = [
    "Contest",
    "Race",
    "choose_folds",
    "decide_by_more",
    "find_cross_fit",
    "limit_components",
    "run_race",
]

MAX_STANDARD_ERRORS_BEHIND = 3.0  # after the first fold, a method further behind the leader is dropped
FEW_FOLDS, MIN_PAIRS_FOR_FEW_FOLDS = 3, 400  # so many folds are judged first, from so many pairs on
MIN_ROWS_IN_FOLD = 10  # of a label on average; those of a label with fewer are dealt out to the folds
N_REPEATS = 1  # further splits into folds, where few pairs decide
MIN_STANDARD_ERRORS_SETTLED = 2.0  # by which simpler methods are behind, if more folds would hardly change the choice
MIN_DECIDING_PAIRS = 10  # of equal weight; with fewer, a standard error says little
MAX_NUMBERS_FOR_LOGISTIC = 5e6  # in all columns, up to which a logistic regression is quick
MAX_NUMBERS_FOR_CLASSIFIERS = 2e6  # up to which forests and nets are tried because a logistic regression leads
MAX_NUMBERS_FOR_FOLDS = 3e5  # in all columns, up to which a forest takes about two seconds for a fold


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


@dataclass(frozen=True, eq=False)
class Contest:
    """The pairs on which methods race, and how they are judged.

    Attributes
    ----------
    X, Y : array-like, frame, ...
        The pairs.
    pairs : PairsProfile
        What the pairs are like.
    given : array-like or frame, optional
        Methods race for what is left once these variables are known.
    groups : ndarray of shape (n,), optional
        The number of each pair's group; groups are never on both sides of a split.
    random_state, n_jobs, progress : int, int, bool or StageLine
        These are the parameters of `decompose`, or the line that tells the stages.
    budget : TimeBudget
        The time that is left for methods.
    """

    X: Any
    Y: Any
    pairs: PairsProfile
    groups: np.ndarray | None = None
    given: Any = None
    random_state: int = 0
    n_jobs: int | None = None
    progress: ProgressArgument = None
    budget: TimeBudget = field(default_factory=TimeBudget)
    fits: dict[tuple[str, int, bytes], Fit] = field(default_factory=dict, init=False)
    """The fits to parts of these pairs, by method, number of components and held-out pairs."""

    @property
    def data(self) -> tuple[Any, Any]:
        """The pairs as estimators take them, with the given variables beside them."""
        return put_beside_given(self.X, self.Y, self.given)

    def split_pairs(self, repeat: int = 0) -> list[Split]:
        """Split the pairs into folds, otherwise for each repeat; pairs of rare labels are dealt out to all folds."""
        seeds = np.random.SeedSequence(self.random_state).generate_state(repeat)
        seed = int(seeds[-1]) if repeat else self.random_state
        folds = choose_folds(self.pairs, self.groups, seed)
        labels = self._find_rare_labels(folds) if isinstance(folds, int) else None
        if labels is not None:
            return deal_out_rare(labels, folds, MIN_ROWS_IN_FOLD * folds, self.groups, seed)
        return make_splits(folds, self.pairs.n, groups=self.groups, random_state=seed)

    def _find_rare_labels(self, n_folds: int) -> np.ndarray | None:
        """Number the labels of the variable that is one column of them, if some are rare in a fold but not unique."""
        if self.pairs.are_labels:  # a table, most of whose labels may be rare
            return None
        sides = ((self.Y, self.pairs.y, "Y"), (self.X, self.pairs.x, "X"))
        labels = next(
            (side.encoder(v, name).argmax(axis=1) for v, side, name in sides if side.labels is not None), None
        )
        if labels is None:
            return None
        labels = np.asarray(labels).ravel()
        counts = np.bincount(labels)
        return labels if ((counts > 1) & (counts < MIN_ROWS_IN_FOLD * n_folds)).any() else None

    def cross_fit(self, name: str, n_components: int, parts: list[Split]) -> CrossFit:
        """Cross-fit a method to parts of the pairs; to each part it is fitted once only."""
        est = make_estimator(name, self.pairs, n_components, self.random_state)
        keys = [(name, n_components, test.tobytes()) for _, test in parts]
        new = [(key, part) for key, part in zip(keys, parts, strict=True) if key not in self.fits]
        X, Y = self.data
        tasks = [(est, X, Y, *part, self.groups) for _, part in new]
        fits = run_tasks(fit_and_apply, tasks, self.n_jobs, "cross-fit", self.progress)
        self.fits.update(zip([key for key, _ in new], fits, strict=True))
        result = pool_fits(X, Y, parts, [self.fits[key] for key in keys], self.groups)
        self.budget.record_fit(name, result.seconds)
        return result

    def has_time_for(self, name: str, n_components: int, n_fits: int) -> bool:
        """Tell the stage, and whether there is time to fit a method to so many parts and then to all pairs."""
        rounds, line = (
            count_rounds(n_fits, self.n_jobs),
            self.progress if isinstance(self.progress, StageLine) else None,
        )
        seconds = self.budget.seconds_per_fit.get(name)
        is_known = seconds is not None
        if line is not None:
            line.tell(f"trying {name}", None if seconds is None else seconds * rounds)
        if seconds is None and self.budget.skips(name):
            return False
        is_watched = line is not None and line.is_shown and METHODS[name].is_costly
        if seconds is None and (is_watched or (self.budget.limit is not None and self.budget.seconds_per_fit)):
            est = make_estimator(name, self.pairs, n_components, self.random_state)
            seconds = estimate_fit_seconds(est, *self.data, self.groups, self.budget.left)
            if line is not None:
                line.tell(f"trying {name}", seconds * rounds)
        return is_known or seconds is None or not self.budget.skips(name, seconds * (rounds + 1))

    def judge_all(
        self, names: Sequence[str], parts: list[Split], n_components: int | None, limit: int
    ) -> list[MethodResult]:
        """Judge the methods that can be fitted by a number of components, or by what suits each up to a limit."""
        results = []
        for name in names:
            # A rare label may be missing in a part; the fit to all pairs reports what else is wrong.
            with suppress(ValueError):
                if (result := self.judge_in_time(name, n_components or limit, parts)) is not None:
                    results.append(MethodResult.from_cross_fit(name, result, n_components))
        return results

    def judge_in_time(self, name: str, n_components: int, parts: list[Split]) -> CrossFit | None:
        """Cross-fit a method if there is time for it, and until there is none."""
        try:
            with self.budget.interrupt(RACE_SHARE):
                has_time = self.has_time_for(name, n_components, len(parts))
                return self.cross_fit(name, n_components, parts) if has_time else None
        except OutOfTimeError:
            self.budget.note_cut(f"The trial of {name}")
            return None


def run_race(
    contest: Contest, names: Sequence[str], n_components: int | None = None, *, is_short: bool = False
) -> Race | None:
    """Find the simplest method that is not clearly behind the best, without giving all of them all the folds.

    Return None if no method can be fitted to a part of the pairs, for example if only one pair has a label.

    Parameters
    ----------
    contest : Contest
        The pairs, and how methods are judged by them.
    names : sequence of str
        These methods may take part, from simple to flexible.
    n_components : int, optional
        Methods are judged by this many components; by default by the number that suits each.
    is_short : bool
        Let one fold decide, because a test has found nothing that methods could differ in.
    """
    pairs, folds = contest.pairs, contest.split_pairs()
    judge = partial(contest.judge_all, n_components=n_components, limit=pairs.max_components_compared)
    survivors = _judge_first_fold(contest, judge, names, folds[:1])
    if not survivors:
        return None
    if n_components is not None:
        most = max(len(result.crossfit.correlations) for result in survivors)
        survivors = [r for r in survivors if len(r.crossfit.correlations) >= min(n_components, most)]
    race = crown_simplest(survivors)
    if len(folds) == 1 or is_short or not _suits_several_folds(race.winner.method, pairs):
        return race
    # A method that is too slow for more folds would have to be clearly ahead on the first. A single survivor too is
    # judged by more, so that what is said of it is not that fold's luck.
    survivors = [result for result in survivors if _suits_several_folds(result.method, pairs)]
    n_done = 1
    for parts in _list_rounds(contest, folds):
        names = [result.method for result in survivors]
        if not contest.budget.affords_fits(names, count_rounds(len(parts) - n_done, contest.n_jobs) + 1):
            break
        survivors, n_done = judge(names, parts) or survivors, len(parts)
        close = _find_close(survivors)
        if _is_settled(survivors, close, is_last_fold=n_done >= len(folds)):
            break
        last = (close[0], crown_simplest(survivors).winner, _find_leader(survivors))
        survivors = [result for result in survivors if result in last]
    return crown_simplest(survivors)


def find_cross_fit(contest: Contest, race: Race | None, method: str, n_components: int) -> CrossFit | None:
    """Find out-of-fold functions of the method that was taken: those of the race, or of a few folds if it is quick.

    Parameters
    ----------
    contest : Contest
        The pairs.
    race : Race or None
        The race, if there was one.
    method : str
        The method that was taken.
    n_components : int
        It was fitted with this many components.

    Returns
    -------
    CrossFit or None
        None if that would take long, or a part of the pairs cannot be fitted.
    """
    if race is not None and race.winner.method == method:
        return race.winner.crossfit
    folds = contest.split_pairs()[:FEW_FOLDS]
    if not (_suits_several_folds(method, contest.pairs) and contest.budget.affords_fits([method], len(folds))):
        return None
    with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning), suppress(ValueError):
        return contest.cross_fit(method, n_components, folds)
    return None


def _judge_first_fold(
    contest: Contest, judge: Callable[..., list[MethodResult]], names: Sequence[str], parts: list[Split]
) -> list[MethodResult]:
    """Judge the quick methods, and the others if something is left for them; keep those that are not far behind."""
    first, others = _part_by_cost(names, contest.pairs)
    survivors = _drop_slow(judge(first, parts))
    if not survivors:
        return []
    # Where a classifier is ahead of functions of columns, other classifiers may be further ahead.
    leads = _find_leader(survivors).method == "logistic"
    # A kernel that keeps up sees the interactions that nets would see, at a fraction of their cost; so do classifiers.
    if contest.pairs.n < MIN_PAIRS_FOR_NET or leads or "kernel" in {result.method for result in survivors}:
        others = [name for name in others if name != "pice"]
    is_small = _count_numbers(contest.pairs) <= MAX_NUMBERS_FOR_CLASSIFIERS
    looks_further = partial(leaves_dependence, contest.X, contest.Y, contest.pairs, contest.random_state)
    what = "The search for interactions"
    if others and ((leads and is_small) or contest.budget.attempt(what, RACE_SHARE, looks_further, otherwise=False)):
        survivors = _drop_slow([*survivors, *judge(others, parts)])
    return survivors


def _list_rounds(contest: Contest, folds: list[Split]) -> list[list[Split]]:
    """List the folds of each round of the race: a few of them, all, and all of other splits as well."""
    few = folds if contest.pairs.n < MIN_PAIRS_FOR_FEW_FOLDS else folds[:FEW_FOLDS]
    rounds = [few] if len(few) == len(folds) else [few, folds]
    for repeat in range(1, N_REPEATS + 1):
        rounds.append([*rounds[-1], *contest.split_pairs(repeat)])
    return rounds


def _find_close(results: Sequence[MethodResult]) -> list[MethodResult]:
    """Find the methods that are simpler than the leader, and not so far behind that more folds would change nothing."""
    leader = _find_leader(results)
    simpler = results[: next(i for i, result in enumerate(results) if result is leader)]
    return [r for r in simpler if compute_gain(r.terms, leader.terms) < MIN_STANDARD_ERRORS_SETTLED]


def _is_settled(results: Sequence[MethodResult], close: Sequence[MethodResult], *, is_last_fold: bool) -> bool:
    """Tell whether more folds would hardly change the choice.

    Other splits than the first are worth their time only where a few pairs decide, such as those of a rare label: which
    of them are held out together is then the luck of the split.
    """
    leader = _find_leader(results)
    return not any(not is_last_fold or _is_decided_by_few(r.terms, leader.terms) for r in close)


def _is_decided_by_few(first: np.ndarray, second: np.ndarray) -> bool:
    """Tell whether the difference of two methods depends on a few pairs."""
    squares = (second - first - (second - first).mean()) ** 2
    return bool(squares.sum() ** 2 < MIN_DECIDING_PAIRS * (squares**2).sum())


def _find_leader(results: Sequence[MethodResult]) -> MethodResult:
    return max(results, key=lambda result: result.captured)


def _drop_slow(results: list[MethodResult]) -> list[MethodResult]:
    """Drop the methods that are clearly behind the leader."""
    if not results:
        return []
    terms = _find_leader(results).terms
    return [result for result in results if compute_gain(result.terms, terms) <= MAX_STANDARD_ERRORS_BEHIND]


def crown_simplest(results: Sequence[MethodResult]) -> Race:
    """Let the simplest method win that is not clearly behind the best."""
    by_name = {result.method: result for result in results}
    winner = by_name.pop(pick_simplest(by_name))
    return Race(winner, list(by_name.values()))


def _suits_several_folds(name: str, pairs: PairsProfile) -> bool:
    """Tell whether a method is quick enough, or the pairs few enough, for more than the first fold."""
    if not METHODS[name].is_costly:
        return True
    most = {"logistic": MAX_NUMBERS_FOR_LOGISTIC, "pice": 0}.get(name, MAX_NUMBERS_FOR_FOLDS)
    return _count_numbers(pairs) <= most


def _count_numbers(pairs: PairsProfile) -> float:
    """Count the numbers in all columns; without end for images and texts."""
    return pairs.n * sum(side.columns or np.inf for side in (pairs.x, pairs.y))


def _part_by_cost(names: Sequence[str], pairs: PairsProfile) -> tuple[list[str], list[str]]:
    """Part methods into those that always take part, and those that wait until the others leave something to find."""
    is_small = _count_numbers(pairs) <= MAX_NUMBERS_FOR_LOGISTIC
    quick = {name for name in names if not METHODS[name].is_costly or (name == "logistic" and is_small)}
    first = [name for name in names if name in quick] or list(names)
    return first, [name for name in names if name not in first]


def race_again(contest: Contest, names: Sequence[str]) -> Race | None:
    """Compare methods, from simple to flexible, by all components to look for; `run_race` judges the first three."""
    if not contest.budget.affords_fits(list(names), count_rounds(FEW_FOLDS, contest.n_jobs) + 1):
        return None
    results = contest.judge_all(names, contest.split_pairs()[:FEW_FOLDS], None, contest.pairs.max_components)
    return crown_simplest(results) if results else None


def decide_by_more(contest: Contest, race: Race, other: str) -> Race:
    """Let a method that sees more components win, if with all of them it captures more."""
    if race.winner.crossfit.correlations.size < contest.pairs.max_components_compared:
        return race.lead_by_captured()
    with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):
        return race_again(contest, [race.winner.method, other]) or race


def limit_components(contest: Contest, result: MethodResult, found: int) -> int:
    """Return the number of components, at most those that a test has found, that held-out pairs do not contradict.

    A component may exist and yet be fitted so badly that it does harm: it is kept only if the components up to it do
    not capture clearly less than the best number of them.

    Parameters
    ----------
    contest : Contest
        The pairs, and how methods are judged by them.
    result : MethodResult
        The result of the method in the race.
    found : int
        The number of components that are more than chance.
    """
    judged = result.crossfit
    has_time = contest.budget.affords_fits([result.method], 3)  # two folds, and all pairs
    if found > len(judged.correlations) and not METHODS[result.method].is_costly and has_time:
        judged = contest.cross_fit(result.method, found, contest.split_pairs()[:2])
    nested = {k: judged.captured_first(k) for k in range(1, min(found, len(judged.correlations)) + 1)}
    best = max(nested, key=lambda k: nested[k][0])
    keeps_up = [k for k in nested if compute_gain(nested[k][1], nested[best][1]) <= MIN_STANDARD_ERRORS_AHEAD]
    most = max([best, *keeps_up])
    return found if most == len(judged.correlations) < found else most


def choose_folds(pairs: PairsProfile, groups: np.ndarray | None, random_state: int) -> Any:
    """Choose five folds, three from 2000 pairs on, and from 20,000 on (of images 1000) a single quarter."""
    n = pairs.n
    if n < (MIN_PAIRS_FOR_NET if pairs.has_images else 20_000):
        most = n if groups is None else int(groups.max()) + 1
        return max(2, min(5 if n < 2000 else 3, most))
    kind = ShuffleSplit if groups is None else GroupShuffleSplit
    return kind(1, test_size=0.25, random_state=random_state)
