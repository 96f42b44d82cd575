"""One call for any two variables: which estimator to use, how many components it has, and why."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any

from correspondence._util.arguments import check_whole, find_user_stacklevel
from correspondence._util.progress import open_stages
from correspondence._util.text import list_names, short_repr
from correspondence._util.user_warnings import CorrespondenceWarning, LeftOut, NothingFound
from correspondence.core.decomposition import Decomposition
from correspondence.core.estimator import check_missing_policy, treat_missing
from correspondence.core.given.regression import Given
from correspondence.data.beside_given import put_beside_given, separate_given
from correspondence.data.copies import DUPLICATES, is_duplicates, resolve_groups
from correspondence.data.counting import MIN_PAIRS, are_whole, as_counted, find_obstacle, take_apart
from correspondence.data.label_order import SIDES, declare_order
from correspondence.data.pairs import pairs as sources
from correspondence.data.table import Table
from correspondence.estimators.ca.estimator import CA
from correspondence.selection import declared_orders
from correspondence.selection.choice import NOTHING_FOUND_TEXT, Choice
from correspondence.selection.component_count import ComponentCount, count_components, describe_count
from correspondence.selection.dependence_test import DependenceTest, find_dependence
from correspondence.selection.method_registry import METHODS, METHODS_GIVEN, PairsProfile, make_estimator
from correspondence.selection.preparing import (
    PreparedLabels,
    check_min_count,
    merge_for_tests,
    merge_rare_of_table,
    prepare_contest,
)
from correspondence.selection.race import Contest, Race, decide_by_more, find_cross_fit, run_race
from correspondence.selection.time_budget import (
    COUNT_SHARE,
    NO_TIME_TEXT,
    TEST_SHARE,
    TimeBudget,
    fit_in_time,
)
from correspondence.selection.wanted import Wanted
from correspondence.validation.fitting import fit_copy

__all__ = ["MIN_PAIRS", "choose_decomposition", "decompose"]


def decompose(
    X: Any,
    Y: Any = None,
    n_components: int | None = None,
    method: str = "auto",
    *,
    groups: Any = DUPLICATES,
    min_count: int | str = "auto",
    missing: str = "indicator",
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    verbose: bool = True,
    time_limit: float | None = None,
    given: Any = None,
) -> Decomposition:
    """Decompose the dependence of two variables of any kind, by the method that suits them.

    The sensible methods race: they are compared by what they capture of pairs not used in the fit, those that are
    clearly behind after one fold are dropped, and costly ones take part only if trees find something that sums of
    functions of single columns leave. The simplest method that is not clearly behind the best is taken, unless the best
    sees components that the simplest cannot have. Where labels declare their order, "ca" and "ace" keep it, and the
    `origin` of the result says whether it is kept. Whether there is any dependence is tested before, and one fold
    decides where there is none. Components are then tested one after the other, and those that are more than chance are
    fitted to all pairs, but for those with which clearly less is captured. Two columns of labels and tables of whole
    counts are judged alike: there the methods are correspondence analysis as it is, and with a ridge for rare labels.

    With given variables, what is left of X and Y once these are known is decomposed. Lines and sums of smooth functions
    (`CCA` and `ACE`) race for that, and whether anything is left is tested by random signs, as in `permutation_test`.

    Parameters
    ----------
    X : table of counts, or with Y array-like, frame, list of labels, sparse matrix, list of texts or array of images
        One row for each pair.
    Y : the same, optional
        The other variable of each pair.
    n_components : int, optional
        Fit this many components. By default those of at most ten that are significant at 5 %, at least one; one if
        there are fewer than 40 pairs or 15 groups; all of a table whose counts are not whole numbers.
    method : str
        Use this method: "auto", or one of "ca", "ridge-ca", "cca", "ace", "kernel", "logistic", "forest", "mlp" and
        "pice".
    groups : array-like of shape (n,), "duplicates" or None
        Pairs of the same group are never on both sides of a split. By default copies are groups: rows that repeat
        another row where chance would hardly have made them equal. None splits all pairs one by one.
    min_count : int or "auto"
        Merge labels that occur fewer times into one level, "other (k labels)"; the result takes the labels themselves
        as well. By default 5, 2 or 1 (none) for tables and two columns of labels with ten rare ones or more, the
        largest that does not capture clearly less of held-out pairs; 2 for one column of labels and other variables,
        because what a label says that occurs once cannot be checked.
    missing : {"indicator", "drop", "error"}
        "indicator" keeps pairs with missing values: a missing number is the middle of the others, with an indicator
        beside it, and a missing label is a level of its own. "drop" leaves them out, "error" refuses them.
    random_state : int
        The seed of folds, tests and methods.
    n_jobs : int, optional
        Number of fits to run in parallel.
    progress : bool or None
        Show progress bars; by default after two seconds.
    verbose : bool
        Say in one line, on the error output, which method was taken and why. It is also the `origin` of the result.
    time_limit : float, optional
        Skip methods that would not finish in so many seconds, and shorten or cut off tests; by default there is no
        limit. The simplest method is always fitted, in a few seconds at least.
    given : array-like or frame, optional
        Leave out of X and Y what these variables explain, one row for each pair. The method is then "auto", "cca" or
        "ace", and the result needs ``given=`` for new pairs as well.

    Returns
    -------
    Decomposition
        The result, fitted to all pairs.

    Warns
    -----
    NothingFound
        If no component is more than chance.
    LeftOut
        If a method or a test is skipped or cut off because of the time limit.

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
        X,
        Y,
        n_components,
        method,
        groups=groups,
        min_count=min_count,
        missing=missing,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
        time_limit=time_limit,
        given=given,
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
    time_limit: float | TimeBudget | None = None,
    **options: Any,
) -> Choice:
    """Do the work of `decompose`, and keep what was learnt on the way.

    Parameters
    ----------
    X, Y, n_components, method, time_limit
        These are the parameters of `decompose`.
    among : collection of str
        Let "auto" choose among these methods.
    test : bool
        Test the components even if their number is given, and judge them on held-out pairs, from 40 pairs on.
    time_limit : float or TimeBudget, optional
        It is that of `decompose`, or a budget that has begun.
    **options
        groups, min_count, missing, random_state, n_jobs, progress and given are those of `decompose`.
    """
    check_method(method, has_given=options.get("given") is not None)
    if n_components is not None:
        check_whole(n_components, "n_components", 1)
    check_whole(options.get("random_state", 0), "random_state", 0, 2**32 - 1)
    check_missing_policy(options.get("missing", "indicator"))
    check_min_count(options.get("min_count", "auto"))
    budget = TimeBudget.from_limit(time_limit)
    with open_stages(options.get("progress")) as line:
        wanted = Wanted(n_components, method, among, test, **options | {"progress": line}, budget=budget)
        choice = choose_for_table(X, wanted) if Y is None else choose_for_pairs(X, Y, wanted)
    for note in dict.fromkeys(budget.notes):
        warnings.warn(note, LeftOut, stacklevel=find_user_stacklevel())
    return replace(choice, decomposition=replace(choice.decomposition, origin=choice.origin))


def check_method(method: Any, *, has_given: bool) -> None:
    """Check the name of a method, which must be one for given variables if there are some."""
    names = METHODS_GIVEN if has_given else tuple(METHODS)
    if not isinstance(method, str) or method not in ("auto", *names):
        when = " if there are given variables" if has_given else ""
        raise ValueError(f"method must be auto, {', '.join(names)}{when}, got {short_repr(method)}.")


# --- tables of counts


def choose_for_table(X: Any, wanted: Wanted) -> Choice:
    """Choose for a table of counts: as for the pairs that it counts, if it can be taken apart into them."""
    if wanted.method not in ("auto", "ca", "ridge-ca"):
        raise ValueError(f"Y is missing: method {short_repr(wanted.method)} needs pairs (x, y).")
    if wanted.given is not None:
        raise ValueError("Y is missing: what is left of pairs (x, y) given others needs both. Give the pairs.")
    if wanted.groups is not None and not is_duplicates(wanted.groups):
        raise ValueError("groups must be None for a table of counts. Give the pairs themselves as X and Y.")
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
        merged = merge_rare_of_table(table, None, wanted.min_count)
        est.fit(merged.merge_counts(table) if merged.merges else X)  # which may declare an order
        d = merged.teach_labels(est.decomposition_)
        orders = declared_orders.describe_orders(declared_orders.list_table_orders(X, table), est.ordered_)
        return Choice(name, "X is a table of counts", d, not_tested=why, prepared=merged, order_text=orders)
    x, y = declare_order(take_apart(table), X, table, "auto")
    return choose_for_pairs(x, y, replace(wanted, groups=None), table, X)  # equal pairs are counts, not copies


# --- pairs


def choose_for_pairs(X: Any, Y: Any, wanted: Wanted, table: Table | None = None, source: Any = None) -> Choice:
    """Choose for pairs: test whether they depend on each other, race, count components, and fit to all pairs."""
    declared = declared_orders.list_declared_orders(X, Y, ("x", "y") if table is None else SIDES)
    wanted.progress.tell("looking at the columns and for copies")
    original, wanted = open_contest(X, Y, wanted, is_counted=table is not None)
    prepared, contest, table = prepare_contest(original, table, wanted.min_count, wanted.method)
    pairs, dependence = contest.pairs, look_for_dependence(original, contest, wanted)
    is_short = dependence.is_absent and wanted.n_components is None
    race, method, reason = pick_method(contest, wanted, is_short=is_short)
    attempt = partial(wanted.budget.attempt, "The test of components", COUNT_SHARE)
    is_compared, seen_by, more = race is not None, method, None
    if dependence.views:
        seen_by = attempt(partial(dependence.find_method, method), method)
    if race is not None and dependence.views and wanted.n_components is None:
        more = attempt(partial(dependence.find_more, race, pairs), None)
    if race is not None and more:
        race = decide_by_more(contest, race, more)
        method = race.winner.method
    elif seen_by != method:
        reason = f"finds dependence that {method} misses" + (f", which {race.describe_winner()}" if race else "")
        race, method = None, seen_by
    wanted.progress.tell(f"testing components of {method}")
    unknown = wanted.n_components or 1, ComponentCount(not_tested=NO_TIME_TEXT)
    count = partial(count_components, contest, method, race, dependence, wanted)
    k, counted = attempt(count, unknown) if wanted.tests_components else count()
    if race is not None:
        reason = race.describe_winner(k)
    count_text = "" if counted.found is None else f"; {describe_count(counted.found, k)}"
    if counted.not_tested:
        count_text = f"; not tested, because {counted.not_tested}"
    reason += count_text
    d, fitted = fit_chosen(contest, source if declared and not prepared.merges else table, method, k, wanted)
    if fitted != method:
        reason, method = f"the quickest, because the time limit ended the fit of {method}, which {reason}", fitted
        counted = ComponentCount(not_tested=NO_TIME_TEXT)
    d = prepared.teach_labels(d)
    dimension = counted.dimension and counted.dimension.limit(d.n_components)
    reason = describe_data(reason, prepared, wanted)
    crossfit = find_cross_fit(contest, race, method, k) if wanted.test else None
    orders = declared_orders.describe_orders(declared, declared_orders.list_kept_orders(method, contest))
    guards = (count_text, wanted.copies, prepared, crossfit, orders)
    return Choice(method, reason, d, dimension, counted.found, is_compared, counted.not_tested, *guards)


def open_contest(X: Any, Y: Any, wanted: Wanted, *, is_counted: bool) -> tuple[Contest, Wanted]:
    """Look at the pairs: what they are like, which rows take part, and which belong together."""
    X, Y, groups = treat_missing(wanted.missing, *put_beside_given(X, Y, wanted.given), wanted.groups)
    X, Y, given = separate_given(X, Y)
    pairs = PairsProfile.from_data(X, Y)
    if wanted.method == "auto" and not is_counted:
        pairs.check_labels_repeat()
    X, Y = pairs.name_missing_labels(X, Y)
    groups, copies = resolve_groups(groups, *put_beside_given(X, Y, given))
    wanted = replace(wanted, groups=groups, copies=copies, given=given)
    return Contest(X, Y, pairs, given=given, **wanted.options, budget=wanted.budget), wanted


def look_for_dependence(original: Contest, contest: Contest, wanted: Wanted) -> DependenceTest:
    """Test whether the pairs depend on each other, if that is wanted and there are enough.

    Parameters
    ----------
    original, contest : Contest
        The pairs before and after labels were merged.
    wanted : Wanted
        What was asked for.
    """
    pairs = contest.pairs
    if not (wanted.can_test_all and wanted.tests_components and wanted.count_different(pairs) >= MIN_PAIRS):
        return DependenceTest()
    wanted.progress.tell("testing for dependence")
    merged = merge_for_tests(original, contest, wanted.min_count)
    tested = wanted.list_tested(*put_beside_given(*merged, wanted.given))
    look = partial(find_dependence, *tested, wanted.list_names(pairs), pairs, wanted.random_state, wanted.budget)
    return wanted.budget.attempt("The test of dependence", TEST_SHARE, look, DependenceTest(is_cut=True))


def describe_data(reason: str, prepared: PreparedLabels, wanted: Wanted) -> str:
    """Add to a reason what is given, which pairs are copies and which labels are merged."""
    if wanted.copies is not None and wanted.copies.n_copies:
        reason += f"; {wanted.copies.describe()}"
    if prepared.merges:
        reason += f"; labels that occur fewer than {prepared.min_count} times are merged"
    return reason if wanted.given is None else f"of what is left given {describe_given(wanted.given)}; {reason}"


def describe_given(given: Any) -> str:
    """Name the columns of the given variables, or count them if they have no names."""
    columns = Given.read(given).encoder.columns.columns
    if all(isinstance(name, str) for name in columns):
        return list_names(columns, 3)
    return f"{len(columns)} column{'' if len(columns) == 1 else 's'}"


def fit_chosen(contest: Contest, table: Any, method: str, k: int, wanted: Wanted) -> tuple[Decomposition, str]:
    """Fit a method, or in want of time the quickest, to all pairs or the table that counts them; also return which."""

    def fit_all(name: str) -> Decomposition:
        wanted.progress.tell(f"fitting {name} to all pairs", wanted.budget.seconds_per_fit.get(name))
        est = make_estimator(name, contest.pairs, k, wanted.random_state)
        fitted = est.fit(table) if table is not None else fit_copy(est, *contest.data, wanted.groups)
        return fitted.decomposition_

    return fit_in_time(wanted.budget, method, fit_all)


def pick_method(contest: Contest, wanted: Wanted, *, is_short: bool) -> tuple[Race | None, str, str]:
    """Return the race, if there was one, the method, and why it was taken if there was none."""
    names = wanted.list_names(contest.pairs)
    if len(names) == 1:
        return None, names[0], "asked for" if wanted.method != "auto" else "nothing else suits"
    with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):
        race = run_race(contest, names, wanted.n_components, is_short=is_short)
    if race is None:
        why = (
            "the time limit left no time to judge" if contest.budget.notes else "no part of the pairs can be judged by"
        )
        return None, names[0], f"the simplest, because {why} the others"
    return race, race.winner.method, ""
