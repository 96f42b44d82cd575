"""Several methods on the same pairs, judged by held-out pairs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from correspondence._util.arguments import check_whole, find_user_stacklevel
from correspondence._util.interrupts import OutOfTimeError
from correspondence._util.labels import find_labels
from correspondence._util.progress import ProgressArgument, StageLine, open_stages
from correspondence._util.text import short_repr
from correspondence._util.user_warnings import LeftOut
from correspondence.core.estimator import check_missing_policy, treat_missing
from correspondence.data.beside_given import put_beside_given, separate_given
from correspondence.data.copies import DUPLICATES, is_duplicates, resolve_groups
from correspondence.data.counting import list_counted_pairs
from correspondence.data.splits import Split, make_splits
from correspondence.results.comparison import Comparison
from correspondence.results.evidence import CrossFit
from correspondence.selection.method_registry import (
    PairsProfile,
    list_methods_given,
    list_sensible_methods,
    make_estimator,
)
from correspondence.selection.preparing import check_min_count, merge_rare_labels
from correspondence.selection.race import Contest, choose_folds
from correspondence.selection.time_budget import (
    MIN_SECONDS_FOR_RESULT,
    TimeBudget,
    count_rounds,
    estimate_fit_seconds,
)
from correspondence.validation.crossfit import crossfit
from correspondence.validation.fitting import check_in_memory

__all__ = ["compare"]


def compare(
    X: Any,
    Y: Any = None,
    methods: Iterable[str] | Mapping[str, Any] | None = None,
    n_components: int | None = None,
    cv: Any = None,
    *,
    groups: Any = DUPLICATES,
    min_count: int | str = "auto",
    missing: str = "indicator",
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: ProgressArgument = None,
    time_limit: float | TimeBudget | None = None,
    given: Any = None,
) -> Comparison:
    """Try several methods on the same pairs.

    Parameters
    ----------
    X : table of counts, or with Y array-like, frame, list of labels, sparse matrix, list of texts or array of images
        One row for each pair. A table must have whole numbers, at least 40 in all: the pairs that it counts, or
        about 200,000 of them, are compared.
    Y : the same, optional
        The other variable of each pair.
    methods : list of str, or dict of str to estimator, optional
        Compare these methods: names among "ca", "ridge-ca", "cca", "ace", "kernel", "logistic", "forest", "mlp" and
        "pice", or your own estimators; by default those that are sensible for the data.
    n_components : int, optional
        Give each method this many components; by default as many as labels allow, at most ten, and three without
        labels. Components that do not exist lower what is captured. Your own estimators keep their number.
    cv : int, splitter or iterable, optional
        The folds, as `crossfit` takes them. By default there are five, three from 2000 pairs on, and from 20,000 on (of
        images 1000) a single quarter is held out.
    groups : array-like of shape (n,), "duplicates" or None
        Pairs of the same group are never on both sides of a split. By default copies are groups, as in `decompose`;
        None splits all pairs one by one.
    min_count : int or "auto"
        Merge labels that occur fewer times into one level; by default as in `decompose`.
    missing : {"indicator", "drop", "error"}
        "indicator" keeps pairs with missing values: a missing number is the middle of the others, with an indicator
        beside it, and a missing label is a level of its own. "drop" leaves them out, "error" refuses them.
    random_state : int
        The seed of folds and methods.
    n_jobs : int, optional
        Number of fits to run in parallel.
    progress : bool or None
        Show a progress bar; by default after two seconds.
    time_limit : float, optional
        Skip methods that would not finish in so many seconds, and cut off those that do not; by default there is no
        limit. The first method has a few seconds at least.
    given : array-like or frame, optional
        The given variables of the pairs: compare what methods find of what is left. "cca" and "ace" take some.

    Returns
    -------
    Comparison
        The comparison with `results`, `best` and `to_frame()`; print it for a table, and see `plot.comparison`.

    Warns
    -----
    LeftOut
        If a method that was not asked for by name cannot be fitted to a part of the pairs, if a method is skipped or
        cut off because of the time limit, or if a table counts so many pairs that a sample of them is compared.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-2, 2, size=(600, 1)); y = x**2 + 0.5 * rng.normal(size=(600, 1))
    >>> comparison = co.compare(x, y, ["cca", "ace"], n_components=1)
    >>> comparison.best
    'ace'
    >>> bool(comparison.results["cca"].captured < 0.1 < comparison.results["ace"].captured)
    True
    """
    check_in_memory(X)
    if isinstance(progress, StageLine):
        progress.tell("looking at the columns and for copies")
    budget = TimeBudget.from_limit(time_limit)
    if Y is None:
        X, Y = list_counted_pairs(X, groups)
    check_missing_policy(missing)
    X, Y, groups = treat_missing(missing, *put_beside_given(X, Y, given), groups)
    X, Y, given = separate_given(X, Y)
    pairs = PairsProfile.from_data(X, Y)
    if methods is None:
        pairs.check_labels_repeat()
    X, Y = pairs.name_missing_labels(X, Y)
    check_whole(random_state, "random_state", 0, 2**32 - 1)
    together, notes = _find_groups(groups, cv, *put_beside_given(X, Y, given))
    options: dict[str, Any] = {"groups": together, "n_jobs": n_jobs, "progress": progress}
    contest = Contest(X, Y, pairs, given=given, random_state=random_state, budget=budget, **options)
    prepared = merge_rare_labels(contest, check_min_count(min_count))
    if prepared.merges:
        X, Y = prepared.merge_pairs(X, Y)
        pairs, notes = PairsProfile.from_data(X, Y), (*notes, *prepared.notes)
    names = list_methods_given(pairs) if methods is None and given is not None else methods
    chosen = choose_estimators(names, pairs, n_components, random_state)
    folds = choose_folds(pairs, together, random_state) if cv is None else cv
    parts = make_splits(folds, pairs.n, labels=find_labels(Y), groups=together, random_state=random_state)
    with open_stages(progress) as line:
        options |= {"progress": line}
        X, Y = put_beside_given(X, Y, given)
        results, failed = crossfit_possible_methods(chosen, X, Y, parts, options, budget, is_strict=methods is not None)
    left_out = [f"Left out, because it cannot be compared: {name}. {error}" for name, error in failed.items()]
    for note in [*left_out, *dict.fromkeys(budget.notes)]:
        warnings.warn(note, LeftOut, stacklevel=find_user_stacklevel())
    return Comparison(results, {name: chosen[name] for name in results}, notes)


def _find_groups(groups: Any, cv: Any, X: Any, Y: Any) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Return the groups as numbers, and what is to be said of copies."""
    if is_duplicates(groups) and not (cv is None or isinstance(cv, int)):
        return None, ()  # splits of the user's own are taken as they are
    together, copies = resolve_groups(groups, X, Y)
    if copies is None or not copies.n_copies:
        return together, ()
    if cv is not None and cv > copies.n_different:
        return None, (f"{copies.describe_number()}, too few different ones to keep copies on one side of {cv} folds.",)
    return together, (f"{copies.describe()}.",)


def crossfit_possible_methods(
    chosen: dict[str, Any],
    X: Any,
    Y: Any,
    parts: list[Split],
    options: dict[str, Any],
    budget: TimeBudget,
    *,
    is_strict: bool = False,
) -> tuple[dict[str, CrossFit], dict[str, ValueError]]:
    """Cross-fit the methods that can be fitted to every part in time, and keep what is wrong with the others."""
    results: dict[str, CrossFit] = {}
    failed: dict[str, ValueError] = {}
    line, rounds = options["progress"], count_rounds(len(parts), options["n_jobs"])
    for number, (name, est) in enumerate(chosen.items(), start=1):
        text = f"trying {name}, method {number} of {len(chosen)}"
        line.tell(text)
        if results and budget.skips(name):
            continue
        try:
            with budget.interrupt(at_least=0.0 if results else MIN_SECONDS_FOR_RESULT):
                if results and budget.limit is not None:
                    seconds = rounds * estimate_fit_seconds(est, X, Y, options["groups"], budget.left)
                    if budget.skips(name, seconds):
                        continue
                    line.tell(text, seconds)
                results[name] = crossfit(est, X, Y, parts, **options)
                budget.record_fit(name, results[name].seconds)
        except OutOfTimeError:
            budget.note_cut(f"The trial of {name}")
            if not results and budget.left <= 0:
                break
        except ValueError as error:
            if is_strict:
                raise
            failed[name] = error
    if not results:
        raise next(iter(failed.values())) if failed else budget.explain_failure("one method")
    return results, failed


def choose_estimators(methods: Any, pairs: PairsProfile, n_components: int | None, random_state: int) -> dict[str, Any]:
    """Make the estimators that were asked for, or those that are sensible for the pairs."""
    if isinstance(methods, str) or not (methods is None or isinstance(methods, Iterable)):
        raise ValueError(f"methods must be a list of names or a dictionary, got {short_repr(methods)}.")
    if isinstance(methods, Mapping):
        if not methods or not all(isinstance(name, str) for name in methods):
            raise ValueError(
                f"methods must have at least one name, a text, with its estimator, got {short_repr(methods)}."
            )
        return dict(methods)
    d = pairs.max_components_compared if n_components is None else check_whole(n_components, "n_components", 1)
    names = list_sensible_methods(pairs) if methods is None else list(methods)
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"methods must be names; give estimators in a dictionary, got {short_repr(names)}.")
    if not names:
        raise ValueError("methods must have at least one name, got none.")
    return {name: make_estimator(name, pairs, d, random_state) for name in names}
