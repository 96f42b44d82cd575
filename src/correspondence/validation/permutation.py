"""Tests of components by permutations, on all pairs or on held-out ones."""

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
)
from correspondence._util.user_warnings import FewerComponents
from correspondence.core.dependence_views import HOPELESS_PVALUE, run_in_turn
from correspondence.data.beside_given import has_given
from correspondence.data.copies import DUPLICATES, is_duplicates, take_firsts
from correspondence.results.component_tests import PermutationTest
from correspondence.validation.fitting import (
    Fit,
    check_pairs,
    check_takes_given,
    fit_and_apply,
    fit_copy,
    order_by_groups,
    pad_columns,
    read_pairs,
    run_tasks,
)
from correspondence.validation.held_out_blocks import Block, Exchanges, run_on_blocks
from correspondence.validation.many_columns import run_columns_test, takes_columns
from correspondence.validation.refitting import run_with_refits

__all__ = [
    "MIN_FOR_BLOCKS",
    "UnfittablePartError",
    "can_test_all",
    "fit_sequential_blocks",
    "held_out_blocks",
    "permutation_test",
    "run_on_all_pairs",
    "run_test_on_blocks",
]


BLOCK_BOUNDS = (0.4, 0.6, 0.8, 1.0)  # where the judged blocks of the sequential test begin and end
SINGLE_BLOCK_BOUNDS = (0.6, 1.0)  # the same for very many pairs or groups: one fit, still judged on thousands of pairs
MIN_PAIRS_FOR_ONE_BLOCK = 10_000
MIN_FOR_BLOCKS = 15  # pairs or groups, so that each block has at least three


class UnfittablePartError(ValueError):
    """A part of the pairs cannot be fitted, though all of them may be: a rare label is missing in it, say."""


def permutation_test(
    est: Any,
    X: Any,
    Y: Any = None,
    n_permutations: int = 999,
    *,
    refit: bool | None = None,
    groups: Any = DUPLICATES,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    given: Any = None,
) -> PermutationTest:
    """Test each component against pairs whose partners are exchanged at random.

    By default `CA`, `CCA`, `KernelCCA` and `ACE` without regressors are tested on all pairs: their features stay the
    same when partners are exchanged, so the test costs little and loses no power. For the first component it is exact.
    Component k + 1 is tested by singular value k + 1 of the covariances of the features, against that of the best fit
    of rank k plus noise, and for labels against tables drawn from the model of k components.

    Other estimators, and pairs in groups, are tested on held-out pairs, by three fits: the pairs are shuffled, the
    blocks from 40 to 60, to 80 and to 100 % are judged by a fit to all pairs before the block, and within each block
    partners are exchanged. (Ordinary k-fold values would not do: the fit of each fold depends on the noise of all
    others, and such a test rejects too often.) What a component has in common with those before it is subtracted first.

    With given variables z, the test is one of conditional independence, for `CCA` and `ACE`: features of X and of Y are
    regressed on z, and the covariances of what is left are compared with those of pairs, or groups, that have random
    signs. If X and Y are independent given z, and the regressions follow z, that is right however the spread of what is
    left depends on z. No partners are exchanged.

    Axes of many columns (`MCA`, without Y) are tested on all rows, or on 20,000 of them drawn at random: each column is
    permuted on its own. Axis k + 1 is compared with columns that have k axes in common, and nothing else.

    Sums of products are in units of their own standard error, so that variables that merely share a scale do not count
    as correlated.

    Parameters
    ----------
    est : estimator
        Test the n_components of this estimator by fitting copies of it.
    X, Y : array-like, frame, ...
        Test these pairs, of any kind that ``est.fit`` takes. For `CA`, X alone may be a
        table of whole counts in any form that it takes: the pairs that it counts are used, about 200,000 of them,
        drawn at random, if there are more. For `MCA`, X is the table of all columns.
    n_permutations : int
        The smallest possible p-value is 1 / (n_permutations + 1). For many pairs fewer may be drawn, at least 199.
    refit : bool, optional
        False holds pairs out for every estimator. True fits again to each permutation and compares training
        correlations with the largest of each: slow, and useless for estimators that can fit anything.
    groups : array-like of shape (n,), "duplicates" or None
        Pairs of the same group stay together, and only one of them is judged. Groups of your own
        cannot be combined with ``refit=True``. By default copies are groups, as in `crossfit`, of which one is tested.
    random_state : int
        The seed of the permutations and the blocks.
    n_jobs : int, optional
        Run this many fits in parallel.
    progress : bool or None
        Whether to show a progress bar; by default after two seconds.
    given : array-like or frame, optional
        Test what is left of X and Y once these variables are known, one row for each pair. `refit` must then be None.

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

    Once the first column of X is known, nothing is left:

    >>> co.permutation_test(co.CCA(n_components=1), X[:, 1:], Y, given=X[:, 0]).pvalues > 0.05
    array([ True])
    """
    check_whole(n_permutations, "n_permutations", 19)
    if refit is not None:
        check_flag(refit, "refit")
    if takes_columns(est, Y):
        if given is not None:
            check_takes_given(est)
        return run_columns_test(est, X, n_permutations, refit, groups, random_state)
    X, Y = read_pairs(est, X, Y, groups, given)
    if has_given(X) and refit is not None:
        raise ValueError(
            f"refit must be None if there are given variables, got {refit}. What is left is tested on all pairs."
        )
    _, together = check_pairs(est, X, Y, groups, random_state, MIN_FOR_BLOCKS)
    if refit:
        if is_duplicates(groups):
            (X, Y), together = take_firsts(X, Y, together), None
        return run_with_refits(est, X, Y, n_permutations, together, random_state, n_jobs, progress)
    on_all = None
    if refit is None and can_test_all(X, groups):
        on_all = run_on_all_pairs(est, X, Y, n_permutations, random_state, groups=groups, together=together)
    if on_all is not None:
        return on_all
    blocks = held_out_blocks(fit_sequential_blocks(est, X, Y, together, random_state, n_jobs, progress), est)
    return run_test_on_blocks(blocks, n_permutations, random_state)[0]


def can_test_all(X: Any, groups: Any) -> bool:
    """Tell whether all pairs can be tested: exchanges cannot keep groups of the user's together, but signs can."""
    return groups is None or is_duplicates(groups) or has_given(X)


def run_on_all_pairs(
    est: Any,
    X: Any,
    Y: Any,
    n_permutations: int,
    seed: int,
    alpha: float | None = None,
    *,
    groups: Any = DUPLICATES,
    together: np.ndarray | None = None,
) -> PermutationTest | None:
    """Test components without holding pairs out; return None if the estimator has no features for that.

    Parameters
    ----------
    est, X, Y, n_permutations, seed, groups
        These are parameters of `permutation_test`; the seed is its `random_state`.
    alpha : float, optional
        Stop after the first component whose p-value is above this level, if only their number matters.
    together : ndarray of shape (n,), optional
        The number of each pair's group. Of copies, one is tested.
    """
    views = (
        est._make_test_views(*take_firsts(X, Y, together))
        if is_duplicates(groups)
        else est._make_test_views(X, Y, together)
    )
    if not (views or has_given(X)):
        return None
    d = fit_copy(est, X, Y, together).decomposition_
    if has_given(X) and not (views and d.n_components):
        raise ValueError("given must leave something of X and of Y, got variables that determine one. Give fewer.")
    if not d.n_components:
        return None
    found = run_in_turn(views, d.n_components, n_permutations, seed, HOPELESS_PVALUE if alpha is None else alpha)
    return PermutationTest(found.pvalues, d.correlations, found.statistics, found.null, len(found.null), views[0].kind)


def held_out_blocks(fits: list[tuple[Fit, int]], est: Any, *, are_tested: bool = True) -> list[Block]:
    """Make blocks of the fits of `fit_sequential_blocks`; components that a fit does not have are 0.

    Parameters
    ----------
    fits : list of (Fit, int)
        The fits, with the sizes of their blocks.
    est : estimator
        The estimator says how many components are wanted.
    are_tested : bool
        Whether p-values are taken from the blocks, so that a warning is due where there are none.
    """
    size, counts = min(size for _, size in fits), [fit.d.n_components for fit, _ in fits]
    d, most = min(counts), max(1, *counts)
    if are_tested and d < min(getattr(est, "n_components", None) or most, most):
        warnings.warn(
            f"A fit to a part of the pairs has only {d} components, so later ones cannot be tested on held-out pairs: "
            "their p-value is 1.",
            FewerComponents,
            stacklevel=find_user_stacklevel(),
        )
    return [
        Block.from_functions(
            pad_columns(fit.F, d), pad_columns(fit.G, d), size, pad_columns(fit.d.correlations[None], d)[0]
        ).pad_components(most)
        for fit, _ in fits
    ]


def run_test_on_blocks(
    blocks: list[Block], n_permutations: int, seed: int, alpha: float = 0.05, found: int | None = None
) -> tuple[PermutationTest, np.ndarray]:
    """Test components on held-out blocks, and return the test and the intervals of the correlations.

    Parameters
    ----------
    blocks : list of Block
        The blocks are those of `held_out_blocks`.
    n_permutations, seed : int
        These are parameters of `permutation_test`; the seed is its `random_state`.
    alpha, found : float, int
        These are parameters of `run_on_blocks`.
    """
    exchanges = Exchanges(len(blocks), blocks[0].size, n_permutations, np.random.default_rng([seed, 1]))
    tests = run_on_blocks(blocks, exchanges, alpha, found)
    correlations = np.array([test.correlation for test in tests])
    test = PermutationTest(
        np.maximum.accumulate([test.pvalue for test in tests]),
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
) -> list[tuple[Fit, int]]:
    """Fit to the pairs before each block, and apply to the block and later pairs: three blocks, or one of very many.

    Parameters
    ----------
    est, X, Y, groups, seed, n_jobs, progress
        These are parameters of `permutation_test`, but groups are numbers from 0, and the seed is its `random_state`.

    Returns
    -------
    list of (Fit, int)
        The fits, and how many of the pairs that each is applied to are its block; these come first.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(100, 1)); y = x + rng.normal(size=(100, 1))
    >>> blocks = fit_sequential_blocks(co.CCA(n_components=1), x, y, None, 0, None, False)
    >>> [(fit.d.n, size) for fit, size in blocks]           # pairs of each fit, and of the block that it is judged on
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
        rows = firsts[firsts >= begin]
        sizes.append(int((rows < end).sum()))
        tasks.append((est, X, Y, order[:begin], order[rows], groups))
    try:
        fits = run_tasks(fit_and_apply, tasks, n_jobs, "test", progress)
    except ValueError as error:
        raise UnfittablePartError(str(error)) from error
    return list(zip(fits, sizes, strict=True))


def check_enough_for_blocks(n: int, are_groups: bool) -> None:
    """Check that there are enough pairs or groups for a test on held-out pairs."""
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
