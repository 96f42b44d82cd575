"""How many components two variables share."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from correspondence._util.arguments import check_whole, find_user_stacklevel, is_number
from correspondence._util.text import short_repr
from correspondence._util.user_warnings import NotHeldOut
from correspondence.results.latent_dimension import LatentDimension
from correspondence.results.permutation_test import PermutationTest
from correspondence.validation.fitting import check_pairs
from correspondence.validation.held_out_blocks import Block
from correspondence.validation.permutation import (
    UnfittablePartError,
    fit_sequential_blocks,
    held_out_blocks,
    run_on_all_pairs,
    run_test_on_blocks,
)

__all__ = ["latent_dimension"]

PVALUE_STEPS_PER_ALPHA = 4  # so many times finer than alpha are p-values at least


def latent_dimension(
    est: Any,
    X: Any,
    Y: Any = None,
    alpha: float = 0.05,
    *,
    n_permutations: int = 999,
    negligible: float = 0.1,
    groups: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> LatentDimension:
    """Count the components that are more than chance.

    Two variables that share a class of M, and nothing else, share M - 1 components. Of a continuous latent variable,
    `CCA` finds as many components as it has dimensions; estimators of nonlinear functions rightly find more, since
    squares and products of it are shared as well.

    Components are tested one after the other, as `permutation_test` does, until one is not significant at the level
    `alpha`; so too many are found with a probability of about `alpha`. Correlations and intervals are those of held-out
    pairs, by three fits.

    Parameters
    ----------
    est : estimator
        Unfitted; its n_components are the most that can be found. Take some more than you expect.
    X, Y : array-like, frame, ...
        Pairs, as for its `fit`.
    alpha : float
        Level of each test, and about how often too many components may be found.
    n_permutations : int
        Least number of permutations; raised where p-values would be too coarse for `alpha`.
    negligible : float
        Correlation that would not matter. It decides the upper end of the interval only.
    groups, random_state, n_jobs, progress : array-like, int, int, bool
        As for `permutation_test`.

    Returns
    -------
    LatentDimension
        The number, an interval, and the test; `plot.dimension` draws it.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.normal(size=(1000, 2))
    >>> X, Y = (np.hstack([shared + rng.normal(size=(1000, 2)), rng.normal(size=(1000, 2))]) for _ in range(2))
    >>> result = co.latent_dimension(co.CCA(n_components=4), X, Y)
    >>> result.n_components
    2
    >>> result.summary()
    '2 components (what a shared variable with 3 classes would give)'
    """
    if not is_number(alpha) or not 1e-4 <= alpha < 1:
        raise ValueError(f"alpha must be a number from 0.0001 to below 1, got {short_repr(alpha)}.")
    if not is_number(negligible) or not 0 < negligible < 1:
        raise ValueError(f"negligible must be a number between 0 and 1, got {short_repr(negligible)}.")
    check_whole(n_permutations, "n_permutations", 19, 10**6)
    n_permutations = max(n_permutations, round(PVALUE_STEPS_PER_ALPHA / alpha) - 1)
    _, together = check_pairs(est, X, Y, groups, random_state)
    on_all = run_on_all_pairs(est, X, Y, n_permutations, random_state, alpha) if groups is None else None
    options = {"groups": groups, "random_state": random_state, "n_jobs": n_jobs, "progress": progress}
    if on_all is not None:
        return assess_components(est, X, Y, on_all, alpha, negligible=negligible, **options)
    blocks = held_out_blocks(
        fit_sequential_blocks(est, X, Y, together, random_state, n_jobs, progress, later=True), est
    )
    test, intervals = run_test_on_blocks(blocks, n_permutations, random_state, alpha)
    return summarise_held_out_test(test, test, intervals, est, alpha, negligible, blocks)


def assess_components(
    est: Any,
    X: Any,
    Y: Any,
    test: PermutationTest,
    alpha: float = 0.05,
    *,
    negligible: float = 0.1,
    groups: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> LatentDimension:
    """Judge components on held-out pairs whose number another test has decided.

    Parameters
    ----------
    est : estimator
        Unfitted estimator, with as many components as shall be judged.
    X, Y, alpha, negligible, groups, random_state, n_jobs, progress
        As for `latent_dimension`.
    test : PermutationTest
        The test on all pairs; it may have more components.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 1)); y = x + rng.normal(size=(300, 1))
    >>> test = co.permutation_test(co.CCA(n_components=1), x, y)
    >>> assess_components(co.CCA(n_components=1), x, y, test).n_components
    1
    """
    _, together = check_pairs(est, X, Y, groups, random_state)
    d = min(len(test.pvalues), getattr(est, "n_components", None) or len(test.pvalues))
    try:
        fits = fit_sequential_blocks(est, X, Y, together, random_state, n_jobs, progress, later=True)
    except UnfittablePartError as error:
        text = f"Held-out correlations are not judged, because a part of the pairs cannot be fitted: {error}"
        warnings.warn(text, NotHeldOut, stacklevel=find_user_stacklevel())
        return summarise_unjudged_test(test.take_first(d), est, alpha, negligible)
    blocks = [block.pad_components(d) for block in held_out_blocks(fits, est, are_tested=False)]
    found = min(d, _count_significant(test.pvalues, alpha))
    held, intervals = run_test_on_blocks(blocks, test.n_permutations, random_state, alpha, found)
    return summarise_held_out_test(test.take_first(d), held, intervals, est, alpha, negligible, blocks)


def _count_significant(pvalues: np.ndarray, alpha: float) -> int:
    return int((pvalues <= alpha).sum())


def summarise_unjudged_test(test: PermutationTest, est: Any, alpha: float, negligible: float) -> LatentDimension:
    """Result of a test on all pairs whose components no held-out pair can judge."""
    d = len(test.pvalues)
    pvalues = np.where(np.arange(d) > _count_significant(test.pvalues, alpha), 1.0, test.pvalues)
    return LatentDimension(
        _count_significant(test.pvalues, alpha),
        (_count_significant(pvalues, alpha / 2), d),
        pvalues,
        np.zeros(d),
        np.tile([-1.0, 1.0], (d, 1)),
        np.nan_to_num(test.correlations),
        np.ones(d),
        alpha,
        negligible,
        test,
        d >= (getattr(est, "n_components", None) or np.inf),
    )


def summarise_held_out_test(
    test: PermutationTest,
    held: PermutationTest,
    intervals: np.ndarray,
    est: Any,
    alpha: float,
    negligible: float,
    blocks: list[Block],
) -> LatentDimension:
    """Result of a test, with correlations and intervals of held-out pairs."""
    found, d = _count_significant(test.pvalues, alpha), len(test.pvalues)
    failed = np.arange(d) > found
    pvalues = np.where(failed, 1.0, test.pvalues)
    not_ruled_out = int((intervals[found:d, 1] >= negligible).sum())
    asked = getattr(est, "n_components", None)
    return LatentDimension(
        found,
        (_count_significant(pvalues, alpha / 2), found + not_ruled_out),
        pvalues,
        held.correlations[:d],
        intervals[:d],
        np.mean([block.training for block in blocks], axis=0)[:d],
        np.quantile(held.null, 1 - alpha, axis=0)[:d],
        alpha,
        negligible,
        test,
        asked is not None and d >= asked,
    )
