"""Tests of components: on all pairs where the estimator has features, otherwise on held-out blocks."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np

from correspondence._util.arguments import (
    check_flag,
    check_whole,
    count_observations,
    find_user_stacklevel,
    take_rows,
)
from correspondence._util.user_warnings import FewerComponents
from correspondence.core.dependence_views import HOPELESS_PVALUE, run_in_turn
from correspondence.results.permutation_test import PermutationTest
from correspondence.validation.fitting import (
    Fit,
    check_pairs,
    fit_and_apply,
    fit_copy,
    order_by_groups,
    pad_columns,
    run_tasks,
)
from correspondence.validation.held_out_blocks import Block, Exchanges, run_on_blocks

__all__ = [
    "BLOCK_BOUNDS",
    "MIN_FOR_BLOCKS",
    "MIN_PAIRS_FOR_ONE_BLOCK",
    "SINGLE_BLOCK_BOUNDS",
    "fit_sequential_blocks",
    "held_out_blocks",
    "permutation_test",
    "run_on_all_pairs",
    "run_test_on_blocks",
]


BLOCK_BOUNDS = (0.4, 0.6, 0.8, 1.0)  # where the judged blocks of the sequential test begin and end
SINGLE_BLOCK_BOUNDS = (0.6, 1.0)  # from MANY pairs or groups on: one fit, and still thousands of pairs to judge it by
MIN_PAIRS_FOR_ONE_BLOCK = 10_000
MIN_FOR_BLOCKS = 15  # pairs, or groups: from here on each block has at least three


class UnfittablePartError(ValueError):
    """A part of the pairs cannot be fitted, though all of them may be: a rare label is missing in it, say."""


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
        return run_with_refits(est, X, Y, n_permutations, groups, random_state, n_jobs, progress)
    on_all = run_on_all_pairs(est, X, Y, n_permutations, random_state) if refit is None and groups is None else None
    if on_all is not None:
        return on_all
    blocks = held_out_blocks(
        fit_sequential_blocks(est, X, Y, together, random_state, n_jobs, progress, later=True), est
    )
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
    views = est._make_test_views(X, Y)
    if not views:
        return None
    d = fit_copy(est, X, Y).decomposition_
    if not d.n_components:
        return None
    found = run_in_turn(views, d.n_components, n_permutations, seed, HOPELESS_PVALUE if alpha is None else alpha)
    return PermutationTest(found.pvalues, d.correlations, found.statistics, found.null, len(found.null), "all pairs")


def held_out_blocks(fits: list[tuple[Fit, int]], est: Any, *, are_tested: bool = True) -> list[Block]:
    """Functions of the fits of `fit_sequential_blocks` on their blocks; components that a fit does not have are 0.

    Parameters
    ----------
    fits : list of (Fit, int)
        From `fit_sequential_blocks`.
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
            stacklevel=find_user_stacklevel(),
        )
    most = max(1, *(fit.d.n_components for fit, _ in fits))
    return [
        Block.from_functions(
            pad_columns(fit.F, d), pad_columns(fit.G, d), size, pad_columns(fit.d.correlations[None], d)[0]
        ).pad_components(most)
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
        _make_monotone(np.array([test.pvalue for test in tests])),
        correlations,
        correlations,
        np.array([test.null for test in tests]).reshape(-1, n_permutations).T,
        n_permutations,
        "held-out pairs",
    )
    return test, np.array([test.interval for test in tests]).reshape(-1, 2)


def fit_sequential_blocks(
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
    >>> blocks = fit_sequential_blocks(co.CCA(n_components=1), x, y, None, 0, None, False)
    >>> [(fit.d.n, size) for fit, size in blocks]           # pairs of each fit, and of the block that it is judged by
    [(40.0, 20), (60.0, 20), (80.0, 20)]
    """
    n = count_observations(X, "X")
    order, is_first = order_by_groups(n, groups, np.random.default_rng(seed))
    firsts = np.flatnonzero(is_first)
    check_enough_for_blocks(len(firsts), groups is not None)
    # Blocks begin where a group does and have as many groups each, however large some groups are.
    shares = np.array(BLOCK_BOUNDS if len(firsts) < MIN_PAIRS_FOR_ONE_BLOCK else SINGLE_BLOCK_BOUNDS)
    ends = np.r_[firsts, n][np.round(shares * len(firsts)).astype(int)]
    tasks, sizes = [], []
    for begin, end in pairwise(ends):
        rows = np.arange(begin, n if later else end)
        rows = rows[is_first[rows]]
        sizes.append(int((rows < end).sum()))
        tasks.append((est, X, Y, order[:begin], order[rows], groups))
    try:
        fits = run_tasks(fit_and_apply, tasks, n_jobs, "test", progress)
    except ValueError as error:
        raise UnfittablePartError(str(error)) from error
    return list(zip(fits, sizes, strict=True))


def check_enough_for_blocks(n: int, are_groups: bool) -> None:
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


def _make_monotone(pvalues: np.ndarray) -> np.ndarray:
    return np.maximum.accumulate(pvalues)


def run_with_refits(
    est: Any, X: Any, Y: Any, n_permutations: int, groups: Any, seed: int, n_jobs: Any, progress: Any
) -> PermutationTest:
    if groups is not None:
        raise ValueError("groups cannot be kept together when partners are exchanged: use refit=False.")
    observed = fit_copy(est, X, Y).decomposition_.correlations
    rng, n = np.random.default_rng(seed), count_observations(X, "X")
    tasks = ((est, X, Y, rng.permutation(n)) for _ in range(n_permutations))
    largest = np.array(run_tasks(_fit_permuted_pairs, tasks, n_jobs, "permutations", progress))
    exceeded = (largest[:, None] >= observed - 1e-12).sum(axis=0)
    null = np.tile(largest[:, None], (1, len(observed)))
    pvalues = _make_monotone((1 + exceeded) / (1 + n_permutations))
    return PermutationTest(pvalues, observed, observed, null, n_permutations, "refitted")


def _fit_permuted_pairs(est: Any, X: Any, Y: Any, order: np.ndarray) -> float:
    return fit_copy(est, X, take_rows(Y, order)).decomposition_.maximal_correlation
