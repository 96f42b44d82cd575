"""How much of a decomposition is real: cross-fitting, intervals and tests.

Everything here takes an unfitted estimator and pairs, fits copies of it, and judges them on pairs that they have not
seen. Nothing depends on which estimator it is.
"""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import norm
from sklearn.base import clone

from correspondence._util.arguments import (
    as_frame,
    brief,
    check_flag,
    check_index,
    check_whole,
    is_number,
    length,
    of_series,
    read_only,
    take,
    to_array,
)
from correspondence._util.labels import unknown_labels_as_mean
from correspondence._util.progress import bar
from correspondence._util.user_warnings import FewerComponents, LeftOut, NotHeldOut, NothingFound, UncertainInterval
from correspondence.core.decomposition import Decomposition
from correspondence.core.dependence_views import HOPELESS, run_in_turn
from correspondence.data.pairs import Pairs
from correspondence.data.splits import group_codes, select_groups, splits
from correspondence.results.held_out import (
    HeldOut,
    Spread,
    correlation_intervals,
    correlations_of,
    held_out,
    scaled_differences,
    warn_of_few,
)
from correspondence.validation.held_out_blocks import Block, Exchanges, run_on_blocks

__all__ = [
    "CrossFit",
    "Fit",
    "PermutationTest",
    "PicIntervals",
    "check_in_memory",
    "check_pairs",
    "crossfit",
    "fitted",
    "labels_of",
    "permutation_test",
    "pic_intervals",
    "sequential",
    "with_chosen_settings",
]

GROUPS = 10  # at least, to be drawn in halves
# Warnings that say nothing new when they are of a part of the data.
EXPECTED = (FewerComponents, LeftOut, NotHeldOut, NothingFound, UncertainInterval)
CLUSTERS = 10  # pairs or groups, at least, that second moments are taken of
CHOSEN = ("regularization", "smoothing")  # settings that estimators choose for themselves unless they are given
TIED = 2.0  # standard errors of their difference, up to which two PICs may be equal
BLOCKS = (0.4, 0.6, 0.8, 1.0)  # where the judged blocks of the sequential test begin and end
BLOCK_OF_MANY = (0.6, 1.0)  # from MANY pairs or groups on: one fit, and still thousands of pairs to judge it by
MANY = 10_000
MIN_FOR_BLOCKS = 15  # pairs, or groups: from here on each block has at least three


# --- cross-fitting


@dataclass(frozen=True, eq=False, repr=False)
class CrossFit:
    """Functions of all pairs, each by a fit that has not seen the pair.

    Attributes
    ----------
    correlations : ndarray of shape (d,)
        Of f_i and g_i over all held-out pairs.
    intervals : ndarray of shape (d, 2)
        Their confidence intervals, for the functions found. Whether a component is there is for `permutation_test`.
    captured, captured_interval : float, ndarray of shape (2,)
        What the functions capture of the pairs held out, on average over the splits, and its confidence interval: that
        of the mean over the fits of what they capture in the population.
    training : ndarray of shape (d,)
        Correlations that the fits had on their own pairs, averaged over the splits.
    F, G : ndarray of shape (n, d)
        Out-of-fold values of f and g, the signs of each fit as those of the first; NaN for pairs that no split holds
        out, and the value of the last split for those held out several times.
    splits : list of HeldOut
        Each split for itself.
    seconds : float
        Of a fit, on average.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)); Y = X + rng.normal(size=(300, 2))
    >>> result = co.crossfit(co.CCA(n_components=2), X, Y)
    >>> result.correlations.round(2)                    # the exact ones are 0.71
    array([0.74, 0.74])
    >>> result.F.shape, len(result.splits)
    ((300, 2), 5)
    """

    correlations: np.ndarray
    intervals: np.ndarray
    captured: float
    captured_interval: np.ndarray
    training: np.ndarray
    F: np.ndarray
    G: np.ndarray
    splits: list[HeldOut]
    seconds: float
    terms: np.ndarray
    """What is captured of each pair, or group, held out; their mean is `captured`."""
    nested_terms: np.ndarray | None = None
    """The same for the first 1, 2, ..., d components alone, a row each; see `captured_first`."""

    def __post_init__(self) -> None:
        read_only(self, "correlations", "intervals", "captured_interval", "training", "F", "G", "terms")
        if self.nested_terms is not None:
            read_only(self, "nested_terms")

    @property
    def n_held_out(self) -> int:
        """Number of pairs that a split holds out."""
        return int(np.isfinite(self.F).all(axis=1).sum())

    def captured_first(self, n_components: int) -> tuple[float, np.ndarray]:
        """Say what the first components capture without the others.

        Parameters
        ----------
        n_components : int
            How many of the components to judge, from 1 to those that there are.

        Returns
        -------
        captured : float
            What they capture of the held-out pairs, on average over the splits.
        terms : ndarray of shape (n,)
            Terms of each pair, or group, whose mean is `captured`, to compare with those of another cross-fit.

        Examples
        --------
        >>> import numpy as np
        >>> import correspondence as co
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(300, 3)); Y = rng.normal(size=(300, 3)); Y[:, 0] += X[:, 0]      # one component
        >>> result = co.crossfit(co.CCA(n_components=3), X, Y)
        >>> [round(result.captured_first(k)[0], 2) for k in (1, 2, 3)]
        [0.49, 0.45, 0.45]
        """
        check_whole(n_components, "n_components", 1, len(self.correlations))
        if self.nested_terms is None:
            raise ValueError("nested_terms must be given to judge the first components alone. Use crossfit.")
        terms = self.nested_terms[n_components - 1]
        return float(terms.mean()), terms

    def __repr__(self) -> str:
        low, high = self.captured_interval
        lines = [
            f"CrossFit with {len(self.splits)} splits, {self.n_held_out} pairs held out: "
            f"captured {self.captured:.4g} [{low:.4g}, {high:.4g}] (95 %)",
            "  component  training  held out",
        ]
        rows = zip(self.training, self.correlations, self.intervals, strict=True)
        lines += [f"  {i:>9}  {t:>8.4f}  {r:>8.4f} [{a:.4f}, {b:.4f}]" for i, (t, r, (a, b)) in enumerate(rows, 1)]
        return "\n".join(lines)


def crossfit(
    est: Any,
    X: Any,
    Y: Any = None,
    cv: Any = 5,
    *,
    groups: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> CrossFit:
    """Fit on a part of the pairs and judge on the others, in turn.

    Parameters
    ----------
    est : estimator
        Unfitted; copies are fitted.
    X, Y : array-like, frame, ...
        Pairs, as for its `fit`.
    cv : int, splitter or iterable
        Number of folds, shuffled; or one of scikit-learn's splitters; or pairs of positions.
    groups : array-like of shape (n,), optional
        Pairs of the same group, such as duplicates or repeated measurements, are never on both sides of a split.
    random_state : int
        Seed of the folds.
    n_jobs : int, optional
        Fits at the same time, as in scikit-learn.
    progress : bool or None
        Show a bar, by default from two seconds on.

    Returns
    -------
    CrossFit
        Held-out correlations, with intervals, beside those of the training.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(1000, 1)); y = x**2 + rng.normal(size=(1000, 1))
    >>> co.crossfit(co.ACE(n_components=1), x, y)
    CrossFit with 5 splits, 1000 pairs held out: captured 0.7331 [0.6066, 0.8597] (95 %)
      component  training  held out
              1    0.8839    0.8791 [0.8392, 0.9096]
    """
    n, together = check_pairs(est, X, Y, groups, random_state)
    parts = splits(cv, n, labels=labels_of(Y), groups=together, random_state=random_state)
    fits = _run(
        _fit_and_apply, [(est, X, Y, train, test, together) for train, test in parts], n_jobs, "cross-fit", progress
    )
    d = max(fit.d.n_components for fit in fits)
    fits, agreement = zip(*(_turn(fit, fits[0], X, Y, d) for fit in fits), strict=True)
    F, G = np.full((n, d), np.nan), np.full((n, d), np.nan)
    for (_, test), fit in zip(parts, fits, strict=True):
        F[test], G[test] = _padded(fit.F, d), _padded(fit.G, d)
    shared = _share_noise(np.array(agreement), [train for train, _ in parts])
    groups_of_pairs = np.arange(n) if together is None else together
    pooled, nested, spread = _pooled([test for _, test in parts], fits, groups_of_pairs, shared)
    warn_of_few(spread, fewest=0.5, stacklevel=3)  # splits are small, and their terms spread more
    training = np.mean([_padded(fit.d.correlations[None], d)[0] for fit in fits], axis=0)
    each = [held_out(fit.F, fit.G, fit.d.correlations) for fit in fits]
    return CrossFit(
        pooled.correlations,
        pooled.intervals,
        pooled.captured,
        pooled.captured_interval,
        training,
        F,
        G,
        each,
        float(np.mean([fit.seconds for fit in fits])),
        nested[-1] if d else np.zeros(nested.shape[1]),
        nested,
    )


@dataclass(frozen=True, eq=False)
class Fit:
    """Decomposition fitted to some pairs, and its functions on others.

    Attributes
    ----------
    d : Decomposition
        Of the pairs of the fit.
    F, G : ndarray of shape (m, k)
        f and g on the other pairs.
    seconds : float
        What the fit took.
    """

    d: Decomposition
    F: np.ndarray
    G: np.ndarray
    seconds: float


def _fit_and_apply(est: Any, X: Any, Y: Any, train: np.ndarray, test: np.ndarray, groups: np.ndarray | None) -> Fit:
    start = time.perf_counter()
    d = fitted(est, take(X, train), take(Y, train), select_groups(groups, train)).decomposition_
    seconds = time.perf_counter() - start
    with unknown_labels_as_mean():
        F, G = np.nan_to_num(d.f(take(X, test))), np.nan_to_num(d.g(take(Y, test)))
    return Fit(d, F, G, seconds)


def fitted(est: Any, X: Any, Y: Any, groups: Any = None) -> Any:
    """Fit a copy; it is told of groups if it can use them.

    Parameters
    ----------
    est : estimator
        Is not changed.
    X, Y : array-like, frame, ...
        Pairs, as for its `fit`.
    groups : array-like of shape (n,), optional
        Which pairs belong together.

    Returns
    -------
    estimator
        Fitted, without warnings of components that are not there.

    Examples
    --------
    >>> import correspondence as co
    >>> est = co.CA(n_components=1)
    >>> co.validation.fitted(est, ["tea", "tea", "beer"], ["am", "am", "pm"]).pics_.round(3)
    array([1.])
    >>> hasattr(est, "decomposition_")
    False
    """
    model = clone(est)
    with warnings.catch_warnings():
        for category in EXPECTED:
            warnings.simplefilter("ignore", category)
        if groups is not None and "groups" in inspect.signature(model.fit).parameters:
            return model.fit(X, Y, groups=groups)
        return model.fit(X, Y)


def _run(
    task: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], n_jobs: int | None, text: str, progress: bool | None
) -> list[Any]:
    """Results of a task for all arguments, several at a time, with a bar."""
    arguments = list(arguments)
    results = []
    with warnings.catch_warnings(), bar(len(arguments), text, progress) as done:
        # Of joblib, when a process has grown and another takes its place; as an error it would leave all waiting.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        for result in _in_parallel(task, arguments, n_jobs):
            results.append(result)
            done.update()
    return results


def _in_parallel(task: Callable[..., Any], arguments: list[tuple[Any, ...]], n_jobs: int | None) -> Iterator[Any]:
    if n_jobs is not None and (not is_number(n_jobs) or n_jobs != int(n_jobs) or not n_jobs):
        raise ValueError(f"n_jobs must be a whole number other than 0, or None, got {brief(n_jobs)}.")
    if n_jobs in (None, 1):
        return (task(*a) for a in arguments)
    return Parallel(n_jobs=n_jobs, return_as="generator")(delayed(task)(*a) for a in arguments)


def check_pairs(est: Any, X: Any, Y: Any, groups: Any, random_state: Any) -> tuple[int, np.ndarray | None]:
    """Number of pairs and numbers of the groups, after checking that there is something to fit.

    Parameters
    ----------
    est : estimator
        Of this package.
    X, Y : array-like, frame, ...
        Pairs.
    groups : array-like of shape (n,) or None
        Which pairs belong together.
    random_state : int
        Seed.

    Returns
    -------
    n : int
        How many pairs there are.
    groups : ndarray of int or None
        From 0 on.

    Examples
    --------
    >>> import correspondence as co
    >>> co.validation.check_pairs(co.CA(), ["a", "b", "a"], ["u", "v", "v"], ["Ann", "Bob", "Ann"], random_state=0)
    (3, array([0, 1, 0]))
    """
    if isinstance(est, type) or not all(hasattr(est, name) for name in ("fit", "get_params", "evaluate")):
        raise TypeError(f"est must be an estimator of this package, such as co.CCA(), got {brief(est)}.")
    check_in_memory(X)
    if Y is None:
        raise ValueError("Y is missing: give pairs (x, y). Count tables have no pairs to hold out.")
    n, m = length(X, "X"), length(Y, "Y")
    if n != m:
        raise ValueError(f"X and Y must have the same length, got {n} and {m}.")
    if n < 2:
        raise ValueError(f"X and Y must be at least two pairs, or there is nothing to hold out, got {n}.")
    check_index(X, Y)
    check_whole(random_state, "random_state", 0, 2**32 - 1)
    together = None if groups is None else group_codes(groups, n, "groups")
    if together is not None and together.max() < 1:
        raise ValueError("groups must be at least two different ones, or there is nothing to hold out.")
    return n, together


def check_in_memory(X: Any) -> None:
    """Pairs elsewhere can be fitted to and evaluated on as a whole, but not be parted."""
    if isinstance(X, Pairs):
        raise ValueError(
            "X are Pairs, of which no part can be held out: read them, or some of them, and give X and Y; "
            "or fit to these and evaluate on others."
        )


def labels_of(Y: Any) -> np.ndarray | None:
    """Y as one column of labels, if that is what it is.

    Parameters
    ----------
    Y : array-like or frame
        Of any kind.

    Returns
    -------
    ndarray of shape (n,) or None
        None for numbers and for several columns.

    Examples
    --------
    >>> import correspondence as co
    >>> co.validation.labels_of(["no", "yes"]).tolist(), co.validation.labels_of([0.5, 1.0])
    (['no', 'yes'], None)
    """
    frame = as_frame(Y, "Y")
    if frame is not None and frame.shape[1] != 1:
        return None
    values = (
        of_series(frame[:, 0]) if frame is not None else np.empty((0, 0)) if hasattr(Y, "tocsr") else to_array(Y, "Y")
    )
    return values if values.ndim == 1 and values.dtype.kind in "OUSb" else None


def _turn(fit: Fit, first: Fit, X: Any, Y: Any, d: int) -> tuple[Fit, np.ndarray]:
    """Give functions the signs of the first fit, and say how far they agree with its functions, from 0 to 1."""
    some = np.arange(min(2000, length(X, "X")))
    of_x = _correlate_functions(fit.d.f, first.d.f, take(X, some), d)
    of_y = _correlate_functions(fit.d.g, first.d.g, take(Y, some), d)
    sign = np.where(of_x < 0, -1.0, 1.0)[: fit.d.n_components]
    return replace(fit, F=fit.F * sign, G=fit.G * sign), np.clip(of_x * of_y, 0, 1)


def _correlate_functions(one: Any, other: Any, values: Any, d: int) -> np.ndarray:
    """Correlations of functions, a component each; 0 where one of them is constant or not there."""
    with unknown_labels_as_mean():
        a, b = (_padded(_standardised(np.nan_to_num(function(values))), d) for function in (one, other))
    return (a * b).mean(axis=0)


def _share_noise(agreement: np.ndarray, trains: list[np.ndarray]) -> np.ndarray:
    """By what the variance of each component's correlation is larger because the fits see each other's held-out pairs.

    If there is nothing to find, a fit to fold 1 judged by fold 2 and one to fold 2 judged by fold 1 are nearly the same
    number, and the variance is twice that of independent splits. The fits then agree only as far as they have pairs in
    common. If they agree fully, their functions are those of the population, and the splits are independent.
    """
    if len(trains) < 2:
        return np.ones(agreement.shape[1])
    common = np.mean([np.isin(trains[0], train).mean() for train in trains[1:]])
    return 1 + np.clip((1 - agreement[1:].mean(axis=0)) / max(1 - common, 1e-9), 0, 1)


def _padded(values: np.ndarray, d: int) -> np.ndarray:
    """The first d columns, with zeros where there are fewer."""
    return np.pad(values[:, :d], ((0, 0), (0, max(0, d - values.shape[1]))))


def _pooled(
    tests: list[np.ndarray], fits: Sequence[Fit], groups: np.ndarray, shared: np.ndarray
) -> tuple[HeldOut, np.ndarray, Spread]:
    """All splits together, the terms of what is captured by the first 1, 2, ... components, and their spread.

    A pair that is held out several times weighs no more than others. Errors are those of sums over groups, so that
    pairs of a group count as one where they repeat each other.
    """
    rows, d = np.concatenate(tests), len(shared)
    weights = 1 / np.bincount(rows, minlength=len(groups))[rows]
    cluster = np.unique(groups[rows], return_inverse=True)[1]
    F, G = (
        np.vstack([_padded(values, d) for values in side]) for side in zip(*((f.F, f.G) for f in fits), strict=True)
    )
    claims = np.vstack([np.tile(_padded(fit.d.correlations[None], d), (len(fit.F), 1)) for fit in fits])
    held = held_out(F, G, np.zeros(d), weights)
    is_defined = np.diff(held.intervals, axis=1)[:, 0] < 2  # a constant has no correlation
    terms = _leave_out_clusters(F, G, held.correlations, weights, cluster)
    spread = Spread.of_terms(terms).widened(shared)
    intervals = correlation_intervals(held.correlations, spread, is_defined, held.level)
    split = _join_small_splits(np.repeat(np.arange(len(tests)), [len(test) for test in tests]), cluster)
    nested = _nested_terms(F, G, claims, weights, cluster, split)
    # Components count by the squares of their claims, as they do in `captured`.
    claimed = (claims**2).mean(axis=0)
    factor = 1 + (claimed @ (shared - 1)) / claimed.sum() if claimed.any() else 1.0
    of_all = nested[-1] if d else np.zeros(nested.shape[1])  # no component captures nothing
    captured, spread = float(of_all.mean()), Spread.of_terms(of_all).widened(factor)
    pooled = HeldOut(held.correlations, intervals, captured, captured + spread.reach(held.level), held.n, held.level)
    return pooled, nested, spread


def _leave_out_clusters(
    F: np.ndarray, G: np.ndarray, r: np.ndarray, weights: np.ndarray, cluster: np.ndarray
) -> np.ndarray:
    """Jackknife terms of the correlations on Fisher's z scale, a row for each cluster."""
    f, g = (_standardised(values, weights / weights.sum()) for values in (F, G))

    def left(values: np.ndarray) -> np.ndarray:
        return (weights @ values) - _sum_clusters(weights[:, None] * values, cluster)

    w, f_mean, g_mean = left(np.ones((len(f), 1))), left(f), left(g)
    w = np.where(w > 0, w, 1.0)
    without = correlations_of(
        left(f**2) - f_mean**2 / w, left(g**2) - g_mean**2 / w, left(f * g) - f_mean * g_mean / w, 1e-9 * weights.sum()
    )
    return scaled_differences(r, without, len(w))


def _sum_clusters(values: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Sums of rows over the pairs of each cluster."""
    sums = np.zeros((int(cluster.max()) + 1, *values.shape[1:]))
    np.add.at(sums, cluster, values)
    return sums


def _join_small_splits(split: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Number of the split of each pair, small ones joined to the next.

    A second moment of few pairs is too uncertain to be multiplied with another, and of one there is none without the
    pair itself. Fits of splits so small hardly differ, so that their functions may be taken for the same.
    """
    joined, number, seen = np.empty_like(split), 0, np.empty(0, dtype=cluster.dtype)
    for k in range(int(split.max()) + 1):
        joined[split == k] = number
        seen = np.union1d(seen, cluster[split == k])
        if len(seen) >= CLUSTERS:
            number, seen = number + 1, seen[:0]
    joined[joined == number] = max(number - 1, 0)  # what is left at the end is too small as well
    return joined


def _nested_terms(
    F: np.ndarray, G: np.ndarray, claims: np.ndarray, weights: np.ndarray, cluster: np.ndarray, split: np.ndarray
) -> np.ndarray:
    """Terms of each cluster (columns) whose mean is what the first 1, 2, ... components (rows) capture.

    What is captured is the mean over the splits, each of which has functions, margins and claims of its own.
    """
    root = np.sqrt(np.column_stack([np.ones(len(F)), claims]))
    f, g = (np.column_stack([np.ones(len(F)), values]) * root for values in (F, G))
    terms = np.empty((len(F), F.shape[1]))
    for k in range(int(split.max()) + 1):
        rows = split == k
        part = np.unique(cluster[rows], return_inverse=True)[1]
        terms[rows] = _terms_of_split(f[rows], g[rows], weights[rows], part)
    captured = np.average(terms, axis=0, weights=weights)
    sums = _sum_clusters(weights[:, None] * (terms - captured), cluster)
    return (captured + sums * len(sums) / weights.sum()).T


def _terms_of_split(f: np.ndarray, g: np.ndarray, weights: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Terms of each pair (rows) whose weighted mean is what the first 1, 2, ... components (columns) capture.

    The mean of r(x_k, y_l)^2 is taken over k and l of different clusters: x and y of the same one are dependent.
    """
    ratio = np.cumsum(f * g, axis=1)[:, 1:]
    own = _sum_clusters(weights, cluster)
    alone = len(own) == 1  # a single cluster has no others, so that nothing can be left out
    of_x, of_y = (_sum_over_others(*sides, weights, None if alone else cluster) for sides in ((f, g), (g, f)))
    others = weights.sum() - (0 if alone else own[cluster])
    influence = 2 * ratio - (of_x + of_y) / np.reshape(others, (-1, 1))
    captured = 2 * np.average(ratio, axis=0, weights=weights) - weights @ of_x / np.sum(weights * others) - 1
    inflation = (len(own) - 1) / max(len(own) - 2, 1)  # of a jackknife
    return captured + inflation * (influence - np.average(influence, axis=0, weights=weights))


def _sum_over_others(f: np.ndarray, g: np.ndarray, weights: np.ndarray, cluster: np.ndarray | None) -> np.ndarray:
    """Sum weights times r(x_k, y_l)^2 over all l of other clusters, for each k, by the first 1, 2, ... components.

    r(x_k, y_l)^2 summed over l is a quadratic form in f(x_k), whose matrix is the sum of g g^T. Summing up its columns
    one after the other gives all leading blocks at once.
    """
    sums = _sum_leading_blocks(f, (g.T * weights) @ g)
    if cluster is None:
        return sums
    order = np.argsort(cluster, kind="stable")
    clusters = np.split(order, np.flatnonzero(np.diff(cluster[order])) + 1)
    single = np.array([rows[0] for rows in clusters if len(rows) == 1], dtype=int)
    sums[single] -= weights[single, None] * np.cumsum(f[single] * g[single], axis=1)[:, 1:] ** 2
    for rows in (rows for rows in clusters if len(rows) > 1):
        sums[rows] -= _sum_leading_blocks(f[rows], (g[rows].T * weights[rows]) @ g[rows])
    return sums


def _sum_leading_blocks(f: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Quadratic forms of each row of f in the first 2, 3, ... rows and columns of a symmetric matrix."""
    return np.cumsum(f * (2 * f @ np.triu(matrix, 1) + np.diag(matrix) * f), axis=1)[:, 1:]


def _standardised(F: np.ndarray, share: np.ndarray | None = None) -> np.ndarray:
    """Mean 0 and variance 1, under the shares of the pairs."""
    share = np.full(len(F), 1 / len(F)) if share is None else share
    centred = F - share @ F
    scale = np.sqrt(share @ centred**2)
    return np.where(scale > 1e-12, centred / np.where(scale > 1e-12, scale, 1), 0)


# --- permutation test


@dataclass(frozen=True, eq=False, repr=False)
class PermutationTest:
    """Whether each component is more than chance.

    Attributes
    ----------
    pvalues : ndarray of shape (d,)
        P-value of each component, never smaller than that of the one before.
    correlations : ndarray of shape (d,)
        Correlations on the held-out pairs, without what a component has in common with those before it; for a test on
        all pairs, those of the training.
    statistics : ndarray of shape (d,)
        What is compared with chance: the held-out correlation, or for a test on all pairs singular value i of the
        covariances of its first kind of features, for the first component each in units of its standard error. It is
        0 for components that were not tested because one before failed.
    null : ndarray of shape (n_permutations, d)
        The same by chance: for permuted pairs, or for later components on all pairs for variables without them.
    n_permutations : int
        Number of permutations that were drawn.
    kind : {"all pairs", "held-out pairs", "refitted"}
        Which test it is.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)); Y = X + rng.normal(size=(300, 2))
    >>> test = co.permutation_test(co.CCA(n_components=2), X, Y, 99)
    >>> test.pvalues                                    # none of 99 exchanges does as well
    array([0.01, 0.01])
    >>> bool((test.statistics > test.band).all())
    True
    """

    pvalues: np.ndarray
    correlations: np.ndarray
    statistics: np.ndarray
    null: np.ndarray
    n_permutations: int
    kind: str

    def __post_init__(self) -> None:
        read_only(self, "pvalues", "correlations", "statistics", "null")

    @property
    def band(self) -> np.ndarray:
        """Statistic of each component that chance exceeds in 5 % of the permutations."""
        return np.quantile(self.null, 0.95, axis=0)

    def take_first(self, d: int) -> PermutationTest:
        """Return the test of the first components.

        Parameters
        ----------
        d : int
            Number of components.

        Returns
        -------
        PermutationTest
            The same test without the others.
        """
        return PermutationTest(
            self.pvalues[:d],
            self.correlations[:d],
            self.statistics[:d],
            self.null[:, :d],
            self.n_permutations,
            self.kind,
        )

    def __repr__(self) -> str:
        figure = "held out" if self.kind == "held-out pairs" else "training"
        lines = [
            f"PermutationTest on {self.kind}, {self.n_permutations} permutations"
            if self.kind != "refitted"
            else f"PermutationTest of training correlations, refitted {self.n_permutations} times",
            f"  component  {figure:>11}  p-value",
        ]
        rows = zip(self.correlations, self.pvalues, strict=True)
        return "\n".join(lines + [f"  {i:>9}  {r:>11.4f}  {p:>7.4f}" for i, (r, p) in enumerate(rows, 1)])


def permutation_test(
    est: Any,
    X: Any,
    Y: Any = None,
    n_permutations: int = 999,
    *,
    refit: bool | None = None,
    groups: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> PermutationTest:
    """Test each component against pairs whose partners are exchanged at random.

    By default `CA`, `CCA`, `KernelCCA` and `ACE` without regressors are tested on all pairs: their features stay the
    same when partners are exchanged, so the test costs little and loses no power. For the first component it is exact.
    Component k + 1 is tested by singular value k + 1 of the covariances of the features, against that of the best fit
    of rank k plus noise, and for labels against tables drawn from the model of k components.

    Other estimators, and pairs in groups, are tested on held-out pairs, by three fits: the pairs are shuffled, the
    blocks from 40 to 60, to 80 and to 100 % are judged by a fit to all pairs before the block, and within each block
    partners are exchanged. (Ordinary k-fold values would not do: each fold's fit has seen the noise of all others, and
    such a test rejects too often.) What a component has in common with those before is taken off first.

    Sums of products are in units of their own standard error, so that variables that merely share a scale do not count
    as correlated.

    Parameters
    ----------
    est : estimator
        Unfitted; its n_components are tested.
    X, Y : array-like, frame, ...
        Pairs, as for its `fit`.
    n_permutations : int
        The smallest possible p-value is 1 / (n_permutations + 1). For many pairs fewer may be drawn, at least 199.
    refit : bool, optional
        False holds pairs out for every estimator. True fits again to each permutation and compares training
        correlations with the largest of each: slow, and no use for estimators that can fit anything.
    groups : array-like of shape (n,), optional
        Pairs of the same group stay together, and only one of them is judged. Not with ``refit=True``.
    random_state : int
        Seed of the permutations and the blocks.
    n_jobs : int, optional
        Number of fits to run in parallel.
    progress : bool or None
        Show a bar, by default from two seconds on.

    Returns
    -------
    PermutationTest
        A p-value for each component; print it for a summary.

    Warns
    -----
    FewerComponents
        If a fit to a block has fewer components than asked for; those that cannot be tested have the p-value 1.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3)); Y = np.column_stack([X[:, 0] + rng.normal(size=500), rng.normal(size=500)])
    >>> test = co.permutation_test(co.CCA(n_components=2), X, Y)
    >>> (test.pvalues < 0.05).tolist()
    [True, False]
    """
    check_whole(n_permutations, "n_permutations", 19)
    if refit is not None:
        check_flag(refit, "refit")
    _, together = check_pairs(est, X, Y, groups, random_state)
    if refit:
        return _refitted(est, X, Y, n_permutations, groups, random_state, n_jobs, progress)
    on_all = run_on_all_pairs(est, X, Y, n_permutations, random_state) if refit is None and groups is None else None
    if on_all is not None:
        return on_all
    blocks = held_out_blocks(sequential(est, X, Y, together, random_state, n_jobs, progress, later=True), est)
    return run_test_on_blocks(blocks, n_permutations, random_state)[0]


def run_on_all_pairs(
    est: Any, X: Any, Y: Any, n_permutations: int, seed: int, alpha: float | None = None
) -> PermutationTest | None:
    """Test components without holding pairs out; None if the estimator has no features for that.

    Parameters
    ----------
    est, X, Y, n_permutations, seed : as for `permutation_test`
        The seed is its `random_state`.
    alpha : float, optional
        Level above which a component ends the tests, if only their number matters.
    """
    views = est._test_views(X, Y)
    if not views:
        return None
    d = fitted(est, X, Y).decomposition_
    if not d.n_components:
        return None
    found = run_in_turn(views, d.n_components, n_permutations, seed, HOPELESS if alpha is None else alpha)
    return PermutationTest(found.pvalues, d.correlations, found.statistics, found.null, len(found.null), "all pairs")


def held_out_blocks(fits: list[tuple[Fit, int]], est: Any, *, are_tested: bool = True) -> list[Block]:
    """Functions of the fits of `sequential` on their blocks; components that a fit does not have are 0.

    Parameters
    ----------
    fits : list of (Fit, int)
        From `sequential`.
    est : estimator
        The estimator that was asked for.
    are_tested : bool
        Whether p-values are taken from the blocks, so that a warning is due where there is none.
    """
    size, d = min(size for _, size in fits), min(fit.d.n_components for fit, _ in fits)
    asked = getattr(est, "n_components", None) or max(1, max(fit.d.n_components for fit, _ in fits))
    if are_tested and d < max(1, min(asked, max(fit.d.n_components for fit, _ in fits))):
        warnings.warn(
            f"A fit to a part of the pairs has only {d} components, so later ones cannot be tested on held-out pairs: "
            "their p-value is 1.",
            FewerComponents,
            stacklevel=3,
        )
    most = max(1, *(fit.d.n_components for fit, _ in fits))
    return [
        Block.of(_padded(fit.F, d), _padded(fit.G, d), size, _padded(fit.d.correlations[None], d)[0]).pad(most)
        for fit, _ in fits
    ]


def run_test_on_blocks(
    blocks: list[Block], n_permutations: int, seed: int, alpha: float = 0.05, found: int | None = None
) -> tuple[PermutationTest, np.ndarray]:
    """Test components on held-out blocks; return the test, and the intervals of the correlations.

    Parameters
    ----------
    blocks : list of Block
        From `held_out_blocks`.
    n_permutations, seed : int
        As for `permutation_test`.
    alpha, found : float, int
        As for `run_on_blocks`.
    """
    exchanges = Exchanges(len(blocks), blocks[0].size, n_permutations, np.random.default_rng([seed, 1]))
    tests = run_on_blocks(blocks, exchanges, alpha, found)
    correlations = np.array([test.correlation for test in tests])
    test = PermutationTest(
        _running(np.array([test.pvalue for test in tests])),
        correlations,
        correlations,
        np.array([test.null for test in tests]).reshape(-1, n_permutations).T,
        n_permutations,
        "held-out pairs",
    )
    return test, np.array([test.interval for test in tests]).reshape(-1, 2)


def sequential(
    est: Any,
    X: Any,
    Y: Any,
    groups: np.ndarray | None,
    seed: int,
    n_jobs: int | None,
    progress: bool | None,
    *,
    later: bool = False,
) -> list[tuple[Fit, int]]:
    """Blocks of pairs, each judged by a fit to the pairs before it: three, or one where there are very many pairs.

    Parameters
    ----------
    est, X, Y, groups, seed, n_jobs, progress : as for `permutation_test`
        But groups are numbers from 0, and the seed is its `random_state`.
    later : bool
        Apply the fit to the pairs after its block as well.

    Returns
    -------
    list of (Fit, int)
        The fits, and how many of the pairs that each is applied to are its block; they come first.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(100, 1)); y = x + rng.normal(size=(100, 1))
    >>> blocks = co.validation.sequential(co.CCA(n_components=1), x, y, None, 0, None, False)
    >>> [(fit.d.n, size) for fit, size in blocks]           # pairs of each fit, and of the block that it is judged by
    [(40.0, 20), (60.0, 20), (80.0, 20)]
    """
    n = length(X, "X")
    order, is_first = _in_groups(n, groups, np.random.default_rng(seed))
    firsts = np.flatnonzero(is_first)
    _check_enough_for_blocks(len(firsts), groups is not None)
    # Blocks begin where a group does and have as many groups each, however large some groups are.
    shares = np.array(BLOCKS if len(firsts) < MANY else BLOCK_OF_MANY)
    ends = np.r_[firsts, n][np.round(shares * len(firsts)).astype(int)]
    tasks, sizes = [], []
    for begin, end in pairwise(ends):
        rows = np.arange(begin, n if later else end)
        rows = rows[is_first[rows]]
        sizes.append(int((rows < end).sum()))
        tasks.append((est, X, Y, order[:begin], order[rows], groups))
    return list(zip(_run(_fit_and_apply, tasks, n_jobs, "test", progress), sizes, strict=True))


def _check_enough_for_blocks(n: int, are_groups: bool) -> None:
    if n >= MIN_FOR_BLOCKS:
        return
    if are_groups:
        raise ValueError(
            f"groups must have at least {MIN_FOR_BLOCKS} different values for a test on held-out pairs, got {n}. "
            "Give smaller groups, or use crossfit, which does not test."
        )
    raise ValueError(
        f"X must have at least {MIN_FOR_BLOCKS} pairs for a test on held-out ones, got {n}. "
        "Use permutation_test with refit=True, which holds none out."
    )


def _in_groups(n: int, groups: np.ndarray | None, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random order in which pairs of a group follow each other, and which of them is the first of its group."""
    if groups is None:
        return rng.permutation(n), np.ones(n, dtype=bool)
    rank = rng.permutation(groups.max() + 1)[groups]
    order = np.lexsort((rng.random(n), rank))
    return order, np.r_[True, np.diff(rank[order]) != 0]


def _running(pvalues: np.ndarray) -> np.ndarray:
    return np.maximum.accumulate(pvalues)


def _refitted(
    est: Any, X: Any, Y: Any, n_permutations: int, groups: Any, seed: int, n_jobs: Any, progress: Any
) -> PermutationTest:
    if groups is not None:
        raise ValueError("groups cannot be kept together when partners are exchanged: use refit=False.")
    observed = fitted(est, X, Y).decomposition_.correlations
    rng, n = np.random.default_rng(seed), length(X, "X")
    tasks = ((est, X, Y, rng.permutation(n)) for _ in range(n_permutations))
    largest = np.array(_run(_largest, tasks, n_jobs, "permutations", progress))
    exceeded = (largest[:, None] >= observed - 1e-12).sum(axis=0)
    null = np.tile(largest[:, None], (1, len(observed)))
    pvalues = _running((1 + exceeded) / (1 + n_permutations))
    return PermutationTest(pvalues, observed, observed, null, n_permutations, "refitted")


def _largest(est: Any, X: Any, Y: Any, order: np.ndarray) -> float:
    return fitted(est, X, take(Y, order)).decomposition_.maximal_correlation


# --- intervals of PICs


@dataclass(frozen=True, eq=False, repr=False)
class PicIntervals:
    """PICs of the population, with confidence intervals.

    Attributes
    ----------
    pics : ndarray of shape (d,)
        Without the bias of the training values.
    intervals : ndarray of shape (d, 2)
        Of the PICs; their roots are those of the correlations.
    training : ndarray of shape (d,)
        PICs of the fit to all pairs.
    level : float
        Of confidence.
    n_resamples : int
        How many half-samples were drawn.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 1)); y = x + rng.normal(size=(300, 1))            # the exact PIC is 0.5
    >>> result = co.pic_intervals(co.CCA(n_components=1), x, y)
    >>> bool(result.intervals[0, 0] < 0.5 < result.intervals[0, 1])
    True
    """

    pics: np.ndarray
    intervals: np.ndarray
    training: np.ndarray
    level: float
    n_resamples: int

    def __post_init__(self) -> None:
        read_only(self, "pics", "intervals", "training")

    def __repr__(self) -> str:
        lines = [
            f"PICs with {100 * self.level:g} % intervals from {self.n_resamples} half-samples",
            "  component  training     PIC",
        ]
        rows = zip(self.training, self.pics, self.intervals, strict=True)
        lines += [f"  {i:>9}  {t:>8.4f}  {v:.4f} [{a:.4f}, {b:.4f}]" for i, (t, v, (a, b)) in enumerate(rows, 1)]
        return "\n".join(lines)


def pic_intervals(
    est: Any,
    X: Any,
    Y: Any = None,
    n_resamples: int = 50,
    *,
    level: float = 0.95,
    groups: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> PicIntervals:
    """Confidence intervals of the PICs of the population, by resampling.

    The estimator is fitted to random halves of the pairs, with the settings that it has chosen for the whole. How much
    their PICs differ shows the spread, and how much they lie above that of the whole shows the bias, which is taken
    off. The intervals of PICs that may be equal, within two standard errors, contain that of their mean. (Halves, not
    samples with replacement: a repeated pair would be on both sides of the splits that many estimators make.) The
    intervals are meant for components that are there; around a component that is not, they do not reach down to 0
    as often as they should, so ask `permutation_test` first. For `KernelCCA`, whose functions depend on how many pairs
    there are, they are too narrow.

    Parameters
    ----------
    est : estimator
        Unfitted; copies are fitted.
    X, Y : array-like, frame, ...
        Pairs, as for its `fit`.
    n_resamples : int
        Number of halves.
    level : float
        Of the intervals.
    groups : array-like of shape (n,), optional
        Pairs of the same group are drawn together.
    random_state : int
        Seed.
    n_jobs : int, optional
        Fits at the same time.
    progress : bool or None
        Show a bar, by default from two seconds on.

    Returns
    -------
    PicIntervals

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3)); Y = X[:, 0] + rng.normal(size=500)       # the exact PIC is 0.5
    >>> co.pic_intervals(co.CCA(n_components=1), X, Y)
    PICs with 95 % intervals from 50 half-samples
      component  training     PIC
              1    0.4961  0.4980 [0.4318, 0.5602]
    """
    check_whole(n_resamples, "n_resamples", 5)
    if not is_number(level) or not 0 < level < 1:
        raise ValueError(f"level must be a number between 0 and 1, got {brief(level)}.")
    n, together = check_pairs(est, X, Y, groups, random_state)
    if together is not None and together.max() < GROUPS - 1:
        raise ValueError(f"groups are only {int(together.max()) + 1}: halves need at least {GROUPS}.")
    whole = fitted(est, X, Y, together)
    d, same = whole.decomposition_, with_chosen_settings(est, whole)
    rng = np.random.default_rng(random_state)
    tasks = ((same, X, Y, _half(n, together, rng), together) for _ in range(n_resamples))
    halves = np.array([_padded(r[None], d.n_components)[0] for r in _run(_of_rows, tasks, n_jobs, "halves", progress)])
    # Noise columns on both sides make a canonical correlation larger by as much as there are columns for each pair (Bao
    # and others, 2019), so that the line through whole and halves leads to no noise; the spread is that of Fisher's z.
    centre = np.arctanh(np.clip(2 * d.correlations - halves.mean(axis=0), 0, 1 - 1e-12))
    of_halves = np.arctanh(np.minimum(halves, 1 - 1e-12))
    error = np.maximum(of_halves.std(axis=0, ddof=1), _error(d, X, Y))
    # Taking off the bias magnifies the error: noise moves a correlation that it has made larger by less.
    error *= np.clip(d.correlations / np.maximum(np.tanh(centre), 1e-12), 1, 2)
    reach = float(norm.ppf((1 + level) / 2))
    low, high = _reach_of_ties(centre, error, of_halves, reach)
    values = np.tanh(np.maximum(np.column_stack([centre, low, high]), 0)) ** 2
    return PicIntervals(values[:, 0], values[:, 1:], d.pics, level, n_resamples)


def with_chosen_settings(est: Any, fit: Any) -> Any:
    """Copy an estimator with what a fit of it has chosen, so that another fit does not choose otherwise.

    A fit to half of the pairs would choose a stronger penalty, and thus be another estimator.

    Parameters
    ----------
    est : estimator
        Unfitted estimator, which is not changed.
    fit : estimator
        Fitted copy of it, with its choices in attributes that end in an underscore.

    Returns
    -------
    estimator
        Unfitted estimator.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)); Y = X + rng.normal(size=(300, 2))
    >>> est = co.CCA(n_components=1)
    >>> co.validation.with_chosen_settings(est, co.CCA(n_components=1).fit(X, Y))
    CCA(n_components=1, regularization=array([0.]))
    """
    same, parameters = clone(est), est.get_params(deep=False)
    chosen = {name: getattr(fit, f"{name}_") for name in CHOSEN if name in parameters and hasattr(fit, f"{name}_")}
    return same.set_params(**chosen)


def _reach_of_ties(
    centre: np.ndarray, error: np.ndarray, of_halves: np.ndarray, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the intervals on Fisher's z scale, which of PICs that may be equal contain that of their mean.

    Of equal PICs the largest is estimated too high and the smallest too low, by as much as they vary, and halves take
    off only a part of it. Their mean is free of that.
    """
    low, high = centre - reach * error, centre + reach * error
    apart = -np.diff(centre) > TIED * np.sqrt(error[1:] ** 2 + error[:-1] ** 2)
    for tied in np.split(np.arange(len(centre)), np.flatnonzero(apart) + 1):
        half = reach * max(of_halves[:, tied].mean(axis=1).std(ddof=1), np.sqrt((error[tied] ** 2).sum()) / len(tied))
        low[tied] = np.minimum(low[tied], centre[tied].mean() - half)
        high[tied] = np.maximum(high[tied], centre[tied].mean() + half)
    return low, high


def _half(n: int, groups: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    order, _ = _in_groups(n, groups, rng)
    return np.sort(order[: n // 2])


def _of_rows(est: Any, X: Any, Y: Any, rows: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    return fitted(est, take(X, rows), take(Y, rows), select_groups(groups, rows)).decomposition_.correlations


def _error(d: Decomposition, X: Any, Y: Any) -> np.ndarray:
    """Standard error of arctanh of the correlations, for given functions."""
    F, G = np.nan_to_num(d.f(X)), np.nan_to_num(d.g(Y))
    intervals = held_out(F, G, d.correlations, level=0.6826894921370859).intervals  # one standard error to each side
    return np.arctanh(np.clip(intervals, -1 + 1e-12, 1 - 1e-12)) @ np.array([-0.5, 0.5])
