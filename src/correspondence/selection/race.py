"""A race of methods on held-out pairs: costly ones take part only where cheap ones leave something to find."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit

from correspondence._util.arguments import count_observations, take_rows
from correspondence.core.feature_maps import to_dense
from correspondence.core.splines import SplineBasis
from correspondence.data.encoders.choosing import encoder_for
from correspondence.data.encoders.columns import MAX_DENSE_COLUMNS, Columns
from correspondence.data.splits import Split, make_splits
from correspondence.results.comparison import MIN_STANDARD_ERRORS_AHEAD, MethodResult, pick_simplest
from correspondence.results.held_out import compute_gain
from correspondence.selection.method_registry import METHODS, MIN_PAIRS_FOR_NET, PairsProfile, make_estimator
from correspondence.validation.crossfit import crossfit

__all__ = ["Race", "default_folds", "leaves_dependence", "limit_components", "race_again", "run_race"]

MAX_STANDARD_ERRORS_BEHIND = (
    3.0  # standard errors behind the leader after the first fold, from which on a method is dropped
)
TRAINING_ROWS, TEST_ROWS = 2000, 1000  # at most, for the trees that look for what additive functions leave
MAX_TARGETS = 8
N_TREES = 50
FEW_FOLDS, ENOUGH_FOR_FEW_FOLDS = 3, 400  # folds that are judged first, from so many pairs on
MAX_NUMBERS_FOR_LOGISTIC = 2e6  # numbers in all columns, up to which a logistic regression is quick
OUTLIER_SHARE = 0.005  # share of the values at each end that may be outliers
STANDS_OUT = 3.5  # standard errors of a correlation with what additive functions leave


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
            How many components of the winner are kept; by default the number that suits it best.
        """
        winner, judged = self.winner, self.winner.crossfit
        if n_components is not None and n_components <= len(judged.correlations):
            winner = replace(winner, captured=judged.captured_first(n_components)[0])
        mine = f"captures {winner.format_captured()} on {judged.n_held_out:,} held-out pairs"
        others = sorted(self.others, key=lambda result: -result.captured)
        told = ", ".join(f"{result.method} {result.format_captured()}" for result in others)
        return f"{mine} ({told})" if told else mine


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

    None if no method can be fitted to a part of the pairs, such as those of a label that a single pair has.

    Parameters
    ----------
    X, Y : array-like, frame, ...
        Pairs.
    names : sequence of str
        Methods that may take part.
    n_components : int, optional
        Number of components that methods are judged by; by default the number that suits each.
    pairs : Pairs
        What the data are like.
    is_short : bool
        Whether one fold decides, because a test has found nothing that methods could differ in.
    groups : ndarray of shape (n,), optional
        Numbers of the groups that are never on both sides of a split.
    random_state, n_jobs, progress : int, int, bool
        As for `decompose`.
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
    if others and (leads or leaves_dependence(X, Y, random_state)):
        survivors = judge.run_heat(others, survivors, folds[:1])
    if n_components is not None:
        most = max(len(result.crossfit.correlations) for result in survivors)
        survivors = [r for r in survivors if len(r.crossfit.correlations) >= min(n_components, most)]
    # A single survivor too is judged by more than the first fold, so that what is said of it is not that fold's luck.
    if len(folds) > 1 and not is_short and not any(METHODS[r.method].is_costly for r in survivors):
        few = folds if pairs.n < ENOUGH_FOR_FEW_FOLDS else folds[:FEW_FOLDS]
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
    """Methods that always take part, and those that do only where the others leave something to find."""
    is_small = pairs.n * sum(side.columns or np.inf for side in (pairs.x, pairs.y)) <= MAX_NUMBERS_FOR_LOGISTIC
    quick = {name for name in names if not METHODS[name].is_costly or (name == "logistic" and is_small)}
    first = [name for name in names if name in quick] or list(names)
    return first, [name for name in names if name not in first]


@dataclass(frozen=True, eq=False)
class _RaceJudge:
    """Cross-fits methods to the pairs of a race."""

    X: Any
    Y: Any
    n_components: int | None
    pairs: PairsProfile
    random_state: int
    options: dict[str, Any]
    most: int
    """Components that a method is given where their number is open."""

    def judge_one(self, name: str, parts: list[Split]) -> MethodResult:
        """MethodResult of one method."""
        est = make_estimator(name, self.pairs, self.n_components or self.most, self.random_state)
        return MethodResult.from_cross_fit(
            name, crossfit(est, self.X, self.Y, parts, **self.options), self.n_components
        )

    def judge_all(self, names: Sequence[str], parts: list[Split]) -> list[MethodResult]:
        """Results of the methods that can be fitted: a rare label may be missing in a part of the pairs."""
        results = []
        for name in names:
            with suppress(ValueError):  # what is wrong with all pairs is told by the fit to them
                results.append(self.judge_one(name, parts))
        return results

    def run_heat(self, names: Sequence[str], ahead: list[MethodResult], parts: list[Split]) -> list[MethodResult]:
        """Results of these methods and those ahead, without the ones that are clearly behind the leader."""
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
    """Compare methods by all components that can be looked for, of which `run_race` judges the first three.

    Parameters
    ----------
    X, Y, pairs, groups, random_state, n_jobs, progress
        As for `run_race`.
    names : sequence of str
        Methods to compare, from simple to flexible.
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
    """Number of components, at most those that a test has found, that held-out pairs do not contradict.

    A component may be there and yet be fitted so badly that it does harm: it is kept only if the components up to it do
    not capture clearly less than the best number of them.

    Parameters
    ----------
    X, Y, pairs, groups, random_state, n_jobs, progress
        As for `run_race`.
    result : MethodResult
        What the method has reached in the race.
    found : int
        Number of components that are more than chance.
    """
    judged = result.crossfit
    if found > len(judged.correlations) and not METHODS[result.method].is_costly:
        folds = _split_pairs(pairs, groups, random_state)
        est = make_estimator(result.method, pairs, found, random_state)
        judged = crossfit(est, X, Y, folds[:2], groups=groups, n_jobs=n_jobs, progress=progress)
    nested = {k: judged.captured_first(k) for k in range(1, min(found, len(judged.correlations)) + 1)}
    best = max(nested, key=lambda k: nested[k][0])
    most = max(
        k for k in nested if k == best or compute_gain(nested[k][1], nested[best][1]) <= MIN_STANDARD_ERRORS_AHEAD
    )
    return found if most == len(judged.correlations) < found else most


def _split_pairs(pairs: PairsProfile, groups: np.ndarray | None, random_state: int) -> list[Split]:
    """Folds of a race."""
    return make_splits(default_folds(pairs, groups, random_state), pairs.n, groups=groups, random_state=random_state)


def default_folds(pairs: PairsProfile, groups: np.ndarray | None, random_state: int) -> Any:
    """Five folds, three from 2000 pairs on, and from 20,000 on (of images 1000) a single quarter."""
    n = pairs.n
    if n < (MIN_PAIRS_FOR_NET if pairs.has_images else 20_000):
        most = n if groups is None else int(groups.max()) + 1
        return max(2, min(5 if n < 2000 else 3, most))
    kind = ShuffleSplit if groups is None else GroupShuffleSplit
    return kind(1, test_size=0.25, random_state=random_state)


# --- is there anything for costly methods to find?


def leaves_dependence(X: Any, Y: Any, seed: int = 0) -> bool:
    """Look for dependence that sums of functions of single columns cannot see.

    Trees learn what an additive regression of one variable on the other leaves, and its square. If they predict that on
    other pairs, methods that can see interactions are worth their time. Two single columns have no interactions; of
    images, texts and very wide tables it is not known, so the answer is yes.

    Parameters
    ----------
    X, Y : array-like, frame, ...
        Pairs.
    seed : int
        Seed of the trees and of the pairs that they learn from.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> leaves_dependence(X, X[:, 0] * X[:, 1] + rng.normal(size=1000))
    True
    >>> leaves_dependence(X, X[:, 0] + X[:, 1] ** 2 + rng.normal(size=1000))
    False
    """
    x, y = (encoder_for(values, name) for values, name in ((X, "X"), (Y, "Y")))
    if not (isinstance(x, Columns) and isinstance(y, Columns) and max(x.width, y.width) <= MAX_DENSE_COLUMNS):
        return True
    order = np.random.default_rng(seed).permutation(count_observations(X, "X"))[: TRAINING_ROWS + TEST_ROWS]
    rows_x, rows_y = to_dense(x(take_rows(X, order), "X")), to_dense(y(take_rows(Y, order), "Y"))
    sides = ((x, rows_x, rows_y), (y, rows_y, rows_x))
    return any(
        _trees_find_more(own, encoder.coordinates, _list_targets(other), seed)
        for encoder, own, other in sides
        if len(encoder.columns) > 1
    )


def _list_targets(rows: np.ndarray) -> np.ndarray:
    """First columns of a variable that vary, without the outliers that would decide a regression on their own."""
    first = rows[:, :MAX_TARGETS]
    first = np.clip(first, *np.quantile(first, [OUTLIER_SHARE, 1 - OUTLIER_SHARE], axis=0))
    return first[:, first.std(axis=0) > 1e-9]


def _trees_find_more(x: np.ndarray, is_number: np.ndarray, targets: np.ndarray, seed: int) -> bool:
    """Whether trees predict, on a third of the rows, what additive regressions leave of the targets or their spread."""
    if not targets.size:
        return False
    train, test = slice(0, 2 * len(x) // 3), slice(2 * len(x) // 3, None)
    basis = SplineBasis.for_columns(x[train], is_number, 8)
    features = basis(basis.temper_extremes(x))
    scale = np.maximum(features[train].std(axis=0), 1e-9)

    def find_residuals(values: np.ndarray) -> np.ndarray:
        additive = RidgeCV(10.0 ** np.arange(-1, 5)).fit(features[train] / scale, values[train])
        return values - additive.predict(features / scale).reshape(values.shape)

    # Squares of what is left, not of the targets: the square of a sum is full of products that say nothing new.
    left = find_residuals(targets)
    left = np.hstack([left, find_residuals(left**2)])
    trees = ExtraTreesRegressor(N_TREES, min_samples_leaf=5, random_state=seed).fit(x[train], left[train])
    predicted = trees.predict(x).reshape(left.shape)
    # What the ridge has left of additive functions is found by trees too, but is no interaction: it is taken off.
    is_additive = Ridge(1.0).fit(features[train] / scale, predicted[train])
    predicted -= is_additive.predict(features / scale).reshape(left.shape)
    a, b = (values[test] - values[test].mean(axis=0) for values in (predicted, left))
    # Studentised, so that a single outlier among the targets does not decide.
    z = (a * b).sum(axis=0) / np.sqrt(np.maximum(((a * b) ** 2).sum(axis=0), 1e-300))
    return bool(z.max() > STANDS_OUT)
