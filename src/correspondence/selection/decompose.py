"""One call for any two variables: which estimator to use, how many components it has, and why."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from correspondence._util.arguments import check_whole, find_user_stacklevel
from correspondence._util.text import short_repr
from correspondence._util.user_warnings import CorrespondenceWarning, NothingFound
from correspondence.core.decomposition import Decomposition
from correspondence.core.dependence_views import View, run_in_turn
from correspondence.data.counting import MIN_PAIRS, as_counted, find_obstacle, take_apart
from correspondence.data.pairs import pairs as sources
from correspondence.data.splits import group_codes
from correspondence.data.table import Table
from correspondence.data.thinning import are_whole
from correspondence.estimators.ca.estimator import CA
from correspondence.results.latent_dimension import LatentDimension
from correspondence.results.permutation_test import PermutationTest
from correspondence.selection.method_registry import METHODS, PairsProfile, list_sensible_methods, make_estimator
from correspondence.selection.race import Race, limit_components, race_again, run_race
from correspondence.validation.fitting import fit_copy
from correspondence.validation.latent_dimension import assess_components, latent_dimension
from correspondence.validation.permutation import MIN_FOR_BLOCKS

__all__ = ["MIN_PAIRS", "NOTHING_FOUND_TEXT", "Choice", "choose_decomposition", "decompose"]

SIGNIFICANCE_LEVEL = 0.05  # level of the tests of components
N_DRAWS = 499  # of each test
NOTHING_FOUND_TEXT = "Nothing was found: no component is clearly more than chance, and what is kept may be chance."


@dataclass(frozen=True, eq=False)
class Choice:
    """What `choose_decomposition` has decided, and found."""

    method: str
    reason: str
    """Why this method, and how many components are significant."""
    decomposition: Decomposition
    dimension: LatentDimension | None = None
    """Held-out correlations and p-values of the components, where they were asked for."""
    found: int | None = None
    """Number of components that are more than chance, where that was tested."""
    is_compared: bool = False
    """Whether the method was chosen by what it captures of the same pairs, which flatters held-out figures a little."""
    not_tested: str = ""
    """Why components were not tested, if they were not."""

    @property
    def origin(self) -> str:
        """Method and reason in a sentence."""
        return f"{self.method}: {self.reason}."

    @property
    def is_nothing(self) -> bool:
        """Whether components were tested and none is significant."""
        return self.found == 0


def decompose(
    X: Any,
    Y: Any = None,
    n_components: int | None = None,
    method: str = "auto",
    *,
    groups: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    verbose: bool = True,
) -> Decomposition:
    """Decompose the dependence of two variables of any kind, by the method that suits them.

    The sensible methods race: they are compared by what they capture of pairs not used in the fit, those that are
    clearly behind after one fold are dropped, and costly ones take part only if trees find something that sums of
    functions of single columns leave. The simplest method that is not clearly behind the best is taken, unless the best
    sees components that the simplest cannot have. Whether there is any dependence is tested before, and one fold
    decides where there is none. Components are then tested one after the other, and those that are more than chance are
    fitted to all pairs, but for those with which clearly less is captured. Two columns of labels
    and tables of whole counts are judged alike: there the methods are correspondence analysis as it is, and with a
    ridge for rare labels.

    Parameters
    ----------
    X : table of counts, or with Y array-like, frame, list of labels, sparse matrix, list of texts or array of images
        One row for each pair.
    Y : the same, optional
        The other variable.
    n_components : int, optional
        Number of components. By default those of at most ten that are significant at 5 %, at least one; one if there
        are fewer than 40 pairs or 15 groups; all of a table whose counts are not whole numbers.
    method : str
        "auto", or one of "ca", "ridge-ca", "cca", "ace", "kernel", "logistic", "forest", "mlp" and "pice".
    groups : array-like of shape (n,), optional
        Pairs of the same group, such as duplicates, are never on both sides of a split.
    random_state : int
        Seed of folds, tests and methods.
    n_jobs : int, optional
        Number of fits to run in parallel.
    progress : bool or None
        Show bars, by default from two seconds on.
    verbose : bool
        Say in one line, on the error output, which method was taken and why. It is also the `origin` of the result.

    Returns
    -------
    Decomposition
        The result, fitted to all pairs.

    Warns
    -----
    NothingFound
        If no component is more than chance.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2)); Y = X[:, 0] + rng.normal(size=400)
    >>> d = co.decompose(X, Y, method="cca", verbose=False)
    >>> d.n_components, d.origin
    (1, 'cca: asked for; 1 component significant.')
    """
    if isinstance(X, sources.Pairs):
        raise ValueError("X is a Pairs source, for which decompose() does not choose a method. Fit one: ACE(3).fit(X).")
    choice = choose_decomposition(
        X, Y, n_components, method, groups=groups, random_state=random_state, n_jobs=n_jobs, progress=progress
    )
    if choice.is_nothing:
        warnings.warn(NOTHING_FOUND_TEXT, NothingFound, stacklevel=find_user_stacklevel())
    if verbose:
        print(choice.origin, file=sys.stderr)
    return choice.decomposition


def choose_decomposition(
    X: Any,
    Y: Any = None,
    n_components: int | None = None,
    method: str = "auto",
    *,
    among: Collection[str] = tuple(METHODS),
    test: bool = False,
    **options: Any,
) -> Choice:
    """Do the work of `decompose`, and keep what it has learnt on the way.

    Parameters
    ----------
    X, Y, n_components, method
        As for `decompose`.
    among : collection of str
        Methods that "auto" may choose.
    test : bool
        Test the components even if their number is given, and judge them on held-out pairs, from 40 pairs on.
    **options
        groups, random_state, n_jobs and progress, as for `decompose`.
    """
    if not isinstance(method, str) or (method != "auto" and method not in METHODS):
        raise ValueError(f"method must be auto, {', '.join(METHODS)}, got {short_repr(method)}.")
    if n_components is not None:
        check_whole(n_components, "n_components", 1)
    check_whole(options.get("random_state", 0), "random_state", 0, 2**32 - 1)
    wanted = _Wanted(n_components, method, among, test, **options)
    choice = choose_for_table(X, wanted) if Y is None else choose_for_pairs(X, Y, wanted)
    return replace(choice, decomposition=replace(choice.decomposition, origin=choice.origin))


@dataclass(frozen=True, eq=False)
class _Wanted:
    """What `choose_decomposition` was asked for."""

    n_components: int | None
    method: str
    among: Collection[str]
    test: bool
    groups: Any = None
    random_state: int = 0
    n_jobs: int | None = None
    progress: bool | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Arguments that races and tests share."""
        return {name: getattr(self, name) for name in ("groups", "random_state", "n_jobs", "progress")}

    @property
    def tests_components(self) -> bool:
        """Whether components are tested."""
        return self.test or self.n_components is None

    def list_names(self, pairs: PairsProfile) -> list[str]:
        """Methods that may take part, from simple to flexible."""
        if self.method != "auto":
            return [self.method]
        return [name for name in list_sensible_methods(pairs) if name in self.among] or ["kernel"]


# --- tables of counts


def choose_for_table(X: Any, wanted: _Wanted) -> Choice:
    if wanted.method not in ("auto", "ca", "ridge-ca"):
        raise ValueError(f"Y is missing: method {short_repr(wanted.method)} needs pairs (x, y).")
    if wanted.groups is not None:
        raise ValueError("groups must be None for a table of counts, got others. Give the pairs themselves as X and Y.")
    table = as_counted(X)
    why = find_obstacle(table)
    if why:
        name = "ca" if wanted.method == "auto" else wanted.method
        if name != "ca" and not are_whole(table.counts):
            raise ValueError(
                f'method must be "ca" for a table whose counts are not whole numbers, got {short_repr(name)}. '
                "Give the counts themselves to choose a ridge."
            )
        est = CA(wanted.n_components, regularization=None if name == "ca" else "auto")
        return Choice(name, "X is a table of counts", est.fit(table).decomposition_, not_tested=why)
    x, y = take_apart(table)
    return choose_for_pairs(x, y, wanted, table)


# --- pairs


def choose_for_pairs(X: Any, Y: Any, wanted: _Wanted, table: Table | None = None) -> Choice:
    pairs = PairsProfile.from_data(X, Y)
    if wanted.groups is not None:
        wanted = replace(wanted, groups=group_codes(wanted.groups, pairs.n, "groups"))
    dependence = _test_dependence(X, Y, pairs, wanted)
    is_short = dependence.is_absent and wanted.n_components is None
    race, method, reason = pick_method(X, Y, pairs, wanted, is_short=is_short)
    is_compared, seen_by = race is not None, dependence.find_method(method)
    if race is not None and wanted.n_components is None and (more := dependence.find_more(race, pairs)):
        race = _decide_by_more(X, Y, race, more, pairs, wanted)
        method = race.winner.method
    elif seen_by != method:
        reason = f"finds dependence that {method} misses" + (f", which {race.describe_winner()}" if race else "")
        race, method = None, seen_by
    k, counted = count_components(X, Y, pairs, method, race, dependence.pvalue, wanted)
    if race is not None:
        reason = race.describe_winner(k)
    if counted.found is not None:
        reason += f"; {_describe_count(counted.found, k)}"
    elif counted.not_tested:
        reason += f"; not tested, because {counted.not_tested}"
    est = make_estimator(method, pairs, k, wanted.random_state)
    d = (est.fit(table) if table is not None else fit_copy(est, X, Y, wanted.groups)).decomposition_
    dimension = counted.dimension and counted.dimension.limit(d.n_components)
    return Choice(method, reason, d, dimension, counted.found, is_compared, counted.not_tested)


def pick_method(
    X: Any, Y: Any, pairs: PairsProfile, wanted: _Wanted, *, is_short: bool
) -> tuple[Race | None, str, str]:
    """The race, if there was one, the method, and why it was taken if there was none."""
    names = wanted.list_names(pairs)
    if len(names) == 1:
        return None, names[0], "asked for" if wanted.method != "auto" else "nothing else suits"
    with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):
        race = run_race(X, Y, names, wanted.n_components, pairs, is_short=is_short, **wanted.options)
    if race is None:
        return None, names[0], "the simplest, because no part of the pairs can be judged by the others"
    return race, race.winner.method, ""


@dataclass(frozen=True, eq=False)
class _Counted:
    """How many components are more than chance, and how far they hold on held-out pairs."""

    found: int | None = None
    dimension: LatentDimension | None = None
    not_tested: str = ""


def count_components(
    X: Any, Y: Any, pairs: PairsProfile, method: str, race: Race | None, first: float, wanted: _Wanted
) -> tuple[int, _Counted]:
    """Number of components to fit, and the test behind it, given the p-value of the first."""
    if pairs.n < MIN_PAIRS:
        why = f"there are only {pairs.n} pairs, and {MIN_PAIRS} are needed"
        return wanted.n_components or 1, _Counted(not_tested=why)
    n_groups = MIN_FOR_BLOCKS if wanted.groups is None else int(wanted.groups.max()) + 1
    if n_groups == 1:
        raise ValueError(
            "groups must contain at least two different values, got one. Leave them out to split all pairs."
        )
    if n_groups < MIN_FOR_BLOCKS:
        why = f"there are only {n_groups} groups, and {MIN_FOR_BLOCKS} are needed"
        return wanted.n_components or 1, _Counted(not_tested=why)
    if wanted.n_components is not None and not wanted.test:
        return wanted.n_components, _Counted()
    limit = wanted.n_components or pairs.max_components
    views = [] if wanted.groups is not None else list_views(X, Y, [method], pairs)
    if not views:
        est = make_estimator(method, pairs, limit, wanted.random_state)
        try:
            with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):
                dimension = latent_dimension(est, X, Y, SIGNIFICANCE_LEVEL, n_permutations=999, **wanted.options)
        except ValueError:  # a rare label may be missing in a part; what is wrong with all pairs is told by the fit
            is_tested = first < 1
            why = "" if is_tested else "a part of the pairs has too few labels to be fitted"
            return wanted.n_components or 1, _Counted(
                int(first <= SIGNIFICANCE_LEVEL) if is_tested else None, not_tested=why
            )
        found = max(dimension.n_components, int(first <= SIGNIFICANCE_LEVEL))
        k = wanted.n_components or max(1, found)
        return k, _Counted(found, replace(dimension, n_components=found).take_first(k))
    test = _test_components(views, first, limit, wanted.random_state)
    found = int((test.pvalues <= SIGNIFICANCE_LEVEL).sum())
    k = wanted.n_components or max(1, found)
    if wanted.n_components is None and found > 1 and race is not None:
        with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):
            k = limit_components(X, Y, race.winner, found, pairs, **wanted.options)
    if not wanted.test:
        return k, _Counted(found)
    est = make_estimator(method, pairs, min(k + 1, limit), wanted.random_state)
    return k, _Counted(found, assess_components(est, X, Y, test, SIGNIFICANCE_LEVEL, **wanted.options).take_first(k))


def _describe_count(found: int, kept: int) -> str:
    text = f"{found} component{'' if found == 1 else 's'} significant"
    if kept >= found:
        return text
    return f"{text}, the first {'' if kept == 1 else f'{kept} '}kept, because more capture less of held-out pairs"


@dataclass(frozen=True, eq=False)
class _Dependence:
    """Test of the first component by all methods that can look for it on all pairs."""

    pvalue: float = 1.0
    """By all of them together; 1 where there are none."""
    views: dict[str, list[View]] = field(default_factory=dict)
    seed: int = 0

    @property
    def is_absent(self) -> bool:
        """Whether it was looked for, and not found."""
        return bool(self.views) and self.pvalue > SIGNIFICANCE_LEVEL

    def find_method(self, winner: str) -> str:
        """Name the winner of the race, or where it does not see what is there, the method that sees it best."""
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
        if rank < pairs.max_components_compared:  # the race has seen it
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


def _decide_by_more(X: Any, Y: Any, race: Race, other: str, pairs: PairsProfile, wanted: _Wanted) -> Race:
    """Let a method that sees more components win, if with all of them it captures more."""
    if race.winner.crossfit.correlations.size < pairs.max_components_compared:
        return race.lead_by_captured()
    with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):
        return race_again(X, Y, [race.winner.method, other], pairs, **wanted.options) or race


def _test_dependence(X: Any, Y: Any, pairs: PairsProfile, wanted: _Wanted) -> _Dependence:
    """Test whether there is any dependence, by all methods that can do so on all pairs.

    A weak one may well be seen by another method than the winner of the race, which is then taken.
    """
    if wanted.groups is not None or pairs.n < MIN_PAIRS or not wanted.tests_components:
        return _Dependence()
    names = wanted.list_names(pairs)
    names = names[:1] if pairs.are_labels else [name for name in names if not METHODS[name].is_costly]
    views = {name: own for name in names if (own := list_views(X, Y, [name], pairs))}
    together = [view for own in views.values() for view in own]
    pvalue = _test_first_component(together, wanted.random_state) if together else 1.0
    return _Dependence(pvalue, views, wanted.random_state)


def _test_first_component(views: list[View], seed: int) -> float:
    return float(run_in_turn(views, 1, N_DRAWS, seed).pvalues[0])


def _test_components(views: list[View], first: float, limit: int, seed: int) -> PermutationTest:
    """Test of the components of a method, given the p-value of the first."""
    d = limit if first <= SIGNIFICANCE_LEVEL else 1
    later = run_in_turn(views, d, N_DRAWS, seed, stop_above=SIGNIFICANCE_LEVEL, start=1)
    pvalues = np.maximum.accumulate([first, *later.pvalues[1:], *np.ones(limit - d)])
    statistics, null = np.zeros(limit), np.zeros((len(later.null), limit))
    statistics[:d], null[:, :d] = later.statistics, later.null
    return PermutationTest(pvalues, np.full(limit, np.nan), statistics, null, len(null), "all pairs")


def list_views(X: Any, Y: Any, names: Sequence[str], pairs: PairsProfile) -> list[View]:
    with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):
        return [view for name in names for view in make_estimator(name, pairs, 1)._make_test_views(X, Y)]
