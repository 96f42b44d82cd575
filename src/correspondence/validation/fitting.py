"""Fits of copies of an estimator to parts of the pairs, several at a time."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from correspondence._util.arguments import (
    check_index,
    check_whole,
    count_observations,
    find_user_stacklevel,
    is_number,
    take_rows,
)
from correspondence._util.progress import ProgressArgument, make_progress_bar
from correspondence._util.text import short_repr
from correspondence._util.user_warnings import (
    CorrespondenceWarning,
    FewerComponents,
    LeftOut,
    NotHeldOut,
    NothingFound,
    UncertainInterval,
)
from correspondence.core.decomposition import Decomposition
from correspondence.core.given.estimator_given import GivenEstimator
from correspondence.data.beside_given import has_given, put_beside_given
from correspondence.data.copies import is_duplicates, resolve_groups
from correspondence.data.counting import list_counted_pairs
from correspondence.data.pairs.pairs import Pairs
from correspondence.data.splits import select_groups

__all__ = [
    "EXPECTED_WARNINGS",
    "Fit",
    "check_estimator",
    "check_in_memory",
    "check_pairs",
    "check_takes_given",
    "fit_and_apply",
    "fit_copy",
    "order_by_groups",
    "pad_columns",
    "read_groups",
    "read_pairs",
    "run_tasks",
]

# Warnings that say nothing new when they are about a part of the data.
EXPECTED_WARNINGS = (FewerComponents, LeftOut, NotHeldOut, NothingFound, UncertainInterval)


@dataclass(frozen=True, eq=False)
class Fit:
    """Decomposition fitted to some pairs, and its functions on others.

    Attributes
    ----------
    d : Decomposition
        The decomposition of the pairs of the fit.
    F, G : ndarray of shape (m, k)
        The values of f and g on the other pairs.
    seconds : float
        The time of the fit.
    """

    d: Decomposition
    F: np.ndarray
    G: np.ndarray
    seconds: float


def fit_and_apply(est: Any, X: Any, Y: Any, train: np.ndarray, test: np.ndarray, groups: np.ndarray | None) -> Fit:
    """Fit a copy of an estimator to some pairs, and apply it to others; labels not in the fit have the value 0."""
    start = time.perf_counter()
    d = fit_copy(est, take_rows(X, train), take_rows(Y, train), select_groups(groups, train)).decomposition_
    seconds = time.perf_counter() - start
    f, g = d.f.accept_unknown(), d.g.accept_unknown()
    F, G = np.nan_to_num(f(take_rows(X, test))), np.nan_to_num(g(take_rows(Y, test)))
    return Fit(d, F, G, seconds)


def fit_copy(est: Any, X: Any, Y: Any, groups: Any = None) -> Any:
    """Fit a copy of an estimator, without warnings about a part of the data.

    Parameters
    ----------
    est : estimator
        The estimator is not changed.
    X, Y : array-like, frame, ...
        Fit to these pairs, of any kind that ``est.fit`` takes.
    groups : array-like of shape (n,), optional
        Pairs of the same group belong together; the groups are passed on if ``est.fit`` takes them.

    Returns
    -------
    estimator
        The fitted copy.

    Examples
    --------
    >>> import correspondence as co
    >>> est = co.CA(n_components=1)
    >>> fit_copy(est, ["tea", "tea", "beer"], ["am", "am", "pm"]).pics_.round(3)
    array([1.])
    >>> hasattr(est, "decomposition_")
    False
    """
    model = clone(est)
    with warnings.catch_warnings():
        for category in EXPECTED_WARNINGS:
            warnings.simplefilter("ignore", category)
        if groups is not None and "groups" in inspect.signature(model.fit).parameters:
            return model.fit(X, Y, groups=groups)
        return model.fit(X, Y)


def run_tasks(
    task: Callable[..., Any],
    arguments: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    text: str,
    progress: ProgressArgument,
) -> list[Any]:
    """Return the results of a task for all arguments, several at a time, with a progress bar."""
    if n_jobs is not None and (not is_number(n_jobs) or n_jobs != int(n_jobs) or not n_jobs):
        raise ValueError(f"n_jobs must be a whole number other than 0, or None, got {short_repr(n_jobs)}.")
    arguments, results = list(arguments), []
    with warnings.catch_warnings(), make_progress_bar(len(arguments), text, progress) as done:
        # joblib warns when a process has grown and another replaces it; turned into an error it would block all others.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        found: Iterable[Any] = (task(*a) for a in arguments)
        if n_jobs not in (None, 1):
            found = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(task)(*a) for a in arguments)
        for result in found:
            results.append(result)
            done.update()
    return results


def read_pairs(est: Any, X: Any, Y: Any, groups: Any = None, given: Any = None) -> tuple[Any, Any]:
    """Return X and Y, or without Y the pairs that X counts, which is a table then.

    Parameters
    ----------
    est : estimator
        The estimator must be one that can be fitted to a table, if there is no Y.
    X : array-like, frame, ...
        The first variable, or the table of whole counts.
    Y : array-like, frame, ... or None
        The second variable.
    groups : array-like of shape (n,) or None
        Groups are refused for a table.
    given : array-like or frame, optional
        The given variables of the pairs.

    Returns
    -------
    X, Y : array-like, frame, ...
        The pairs; the given variables are beside both, so that whatever splits pairs splits them too.

    Examples
    --------
    >>> import correspondence as co
    >>> x, y = read_pairs(co.CA(), co.datasets.load_smoke(), None)
    >>> len(x), len(y)
    (193, 193)
    """
    check_estimator(est)
    check_in_memory(X)
    if has_given(X, given):
        check_takes_given(est)
    if Y is not None:
        return put_beside_given(X, Y, given)
    if given is not None:
        raise ValueError(
            f"Y is missing: what is left of pairs (x, y) given others needs both, {type(est).__name__} too."
        )
    check_without_constraints(est)
    if not getattr(est, "_takes_tables", False):
        raise ValueError(
            f"Y is missing: {type(est).__name__} needs pairs (x, y). Only CA takes a table of counts alone."
        )
    # A subset and levels are named by the labels of the table; everything else depends on their positions only.
    ordered = getattr(est, "ordered", None)
    has_subset = any(getattr(est, f"subset_{side}", None) is not None for side in ("rows", "columns"))
    keep_labels = has_subset or isinstance(ordered, Mapping)
    return list_counted_pairs(X, groups, min_pairs=2, keep_labels=keep_labels, ordered=ordered)


def check_takes_given(est: Any) -> None:
    """Check that an estimator can be fitted to what is left of pairs once others are given."""
    if not isinstance(est, GivenEstimator):
        raise ValueError(f"est must be a CCA or ACE if there are given variables, got {short_repr(est)}.")


def check_estimator(est: Any) -> None:
    """Check that an estimator is one of this package, not its class, and without a response."""
    if isinstance(est, type) or not all(hasattr(est, name) for name in ("fit", "get_params", "evaluate")):
        raise TypeError(f"est must be an estimator of this package, such as co.CCA(), got {short_repr(est)}.")
    response = getattr(est, "response", None)
    if response is not None:
        raise ValueError(
            f"est must treat both variables alike, got response={response!r}. Fit it and evaluate it on other pairs, "
            "or leave the response out."
        )


def check_without_constraints(est: Any) -> None:
    """Raise an error for an estimator that was fitted with constraints, which a fit to pairs would forget."""
    if getattr(est, "_explained", None) is not None:
        raise ValueError(
            "est must be one without constraints, got a fit with some, which a fit to pairs would forget. "
            'Test it with est.anova(by="axis"), or hold rows out with co.crossfit(est, table, constraints=...).'
        )


def check_pairs(
    est: Any, X: Any, Y: Any, groups: Any, random_state: Any, min_different: int = 2
) -> tuple[int, np.ndarray | None]:
    """Check that there is something to fit, and return the number of pairs and the groups as numbers.

    Parameters
    ----------
    est : estimator
        The estimator must be one of this package.
    X, Y : array-like, frame, ...
        There must be at least two pairs, held in memory.
    groups : array-like of shape (n,), "duplicates" or None
        Pairs of the same group belong together. `CA` takes two columns of labels, which are counts and have no copies.
    random_state : int
        The seed must be a whole number.
    min_different : int
        Copies are not kept together if there are fewer different pairs.

    Returns
    -------
    n : int
        The number of pairs.
    groups : ndarray of int or None
        The groups, numbered from 0.

    Warns
    -----
    CorrespondenceWarning
        If there are copies.

    Examples
    --------
    >>> import correspondence as co
    >>> check_pairs(co.CA(), ["a", "b", "a"], ["u", "v", "v"], ["Ann", "Bob", "Ann"], random_state=0)
    (3, array([0, 1, 0]))
    """
    check_estimator(est)
    check_in_memory(X)
    n, m = count_observations(X, "X"), count_observations(Y, "Y")
    if n != m:
        raise ValueError(f"X and Y must have the same length, got {n} and {m}.")
    if n < 2:
        raise ValueError(f"X and Y must have at least two pairs, got {n}.")
    check_index(X, Y)
    check_whole(random_state, "random_state", 0, 2**32 - 1)
    if is_duplicates(groups) and getattr(est, "_takes_tables", False):
        return n, None
    together = read_groups(groups, X, Y, min_different)
    return n, together


def read_groups(groups: Any, X: Any, Y: Any, min_different: int) -> np.ndarray | None:
    """Read groups of pairs, or of the rows of X alone if Y is None, and warn of copies; see `check_pairs`."""
    together, copies = resolve_groups(groups, X, Y)
    if copies is not None and copies.n_copies:
        text = copies.describe()
        if copies.n_different < min_different:
            together, text = None, f"{copies.describe_number()}, too few different ones to keep copies together"
        warnings.warn(f"{text}.", CorrespondenceWarning, stacklevel=find_user_stacklevel())
    if together is not None and together.max() < 1:
        raise ValueError("groups must contain at least two different values.")
    return together


def check_in_memory(X: Any) -> None:
    """Check that pairs are in memory: pairs elsewhere can be fitted and evaluated only as a whole."""
    if isinstance(X, Pairs):
        raise ValueError(
            "X is a Pairs source, which cannot be split. Load the pairs (or a sample) and pass X and Y, or fit to "
            "these pairs and evaluate on others."
        )


def pad_columns(values: np.ndarray, d: int) -> np.ndarray:
    """Return the first d columns, with zeros where there are fewer."""
    return np.pad(values[:, :d], ((0, 0), (0, max(0, d - values.shape[1]))))


def order_by_groups(n: int, groups: np.ndarray | None, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw an order in which pairs of a group follow each other, and say which are the first of their group."""
    if groups is None:
        return rng.permutation(n), np.ones(n, dtype=bool)
    rank = rng.permutation(groups.max() + 1)[groups]
    order = np.lexsort((rng.random(n), rank))
    return order, np.r_[True, np.diff(rank[order]) != 0]
