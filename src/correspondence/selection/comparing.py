"""Several methods on the same pairs, judged by held-out pairs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from correspondence._util.arguments import check_whole, find_user_stacklevel
from correspondence._util.labels import find_labels
from correspondence._util.text import short_repr
from correspondence._util.user_warnings import LeftOut
from correspondence.core.estimator import check_missing_policy, treat_missing
from correspondence.data.counting import list_counted_pairs
from correspondence.data.splits import Split, encode_groups, make_splits
from correspondence.results.comparison import Comparison
from correspondence.results.evidence import CrossFit
from correspondence.selection.method_registry import PairsProfile, list_sensible_methods, make_estimator
from correspondence.selection.race import choose_folds
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
    groups: Any = None,
    missing: str = "indicator",
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
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
    groups : array-like of shape (n,), optional
        Pairs of the same group are never on both sides of a split.
    missing : {"indicator", "drop", "error"}
        "indicator" keeps pairs with missing values: a missing number is the middle of the others, with an indicator
        beside it, and a missing label is a level of its own. "drop" leaves them out, "error" refuses them.
    random_state : int
        The seed of folds and methods.
    n_jobs : int, optional
        Number of fits to run in parallel.
    progress : bool or None
        Show a progress bar; by default after two seconds.

    Returns
    -------
    Comparison
        The comparison with `results`, `best` and `to_frame()`; print it for a table, and see `plot.comparison`.

    Warns
    -----
    LeftOut
        If a method that was not asked for by name cannot be fitted to a part of the pairs, or if a table counts so
        many pairs that a sample of them is compared.

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
    if Y is None:
        X, Y = list_counted_pairs(X, groups)
    check_missing_policy(missing)
    X, Y, groups = treat_missing(missing, X, Y, groups)
    pairs = PairsProfile.from_data(X, Y)
    X, Y = pairs.name_missing_labels(X, Y)
    check_whole(random_state, "random_state", 0, 2**32 - 1)
    together = None if groups is None else encode_groups(groups, pairs.n, "groups")
    chosen = choose_estimators(methods, pairs, n_components, random_state)
    folds = choose_folds(pairs, together, random_state) if cv is None else cv
    parts = make_splits(folds, pairs.n, labels=find_labels(Y), groups=together, random_state=random_state)
    options: dict[str, Any] = {"groups": together, "n_jobs": n_jobs, "progress": progress}
    if methods is not None:
        return Comparison({name: crossfit(est, X, Y, parts, **options) for name, est in chosen.items()}, chosen)
    results, failed = crossfit_possible_methods(chosen, X, Y, parts, options)
    for name, error in failed.items():
        warnings.warn(
            f"Left out, because it cannot be compared: {name}. {error}", LeftOut, stacklevel=find_user_stacklevel()
        )
    return Comparison(results, {name: chosen[name] for name in results})


def crossfit_possible_methods(
    chosen: dict[str, Any], X: Any, Y: Any, parts: list[Split], options: dict[str, Any]
) -> tuple[dict[str, CrossFit], dict[str, ValueError]]:
    """Cross-fit the methods that can be fitted to every part, and keep what is wrong with the others."""
    results, failed = {}, {}
    for name, est in chosen.items():
        try:
            results[name] = crossfit(est, X, Y, parts, **options)
        except ValueError as error:
            failed[name] = error
    if not results:
        raise next(iter(failed.values()))
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
