"""How many components two variables share."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from correspondence._util.arguments import check_whole, find_user_stacklevel, is_number
from correspondence._util.text import short_repr
from correspondence._util.user_warnings import NotHeldOut
from correspondence.data.copies import DUPLICATES
from correspondence.results.component_tests import LatentDimension, PermutationTest
from correspondence.results.evidence import find_points
from correspondence.validation.fitting import check_pairs, check_takes_given, read_pairs
from correspondence.validation.held_out_blocks import Block
from correspondence.validation.many_columns import count_axes, takes_columns
from correspondence.validation.permutation import (
    MIN_FOR_BLOCKS,
    UnfittablePartError,
    can_test_all,
    fit_sequential_blocks,
    held_out_blocks,
    run_on_all_pairs,
    run_test_on_blocks,
)

__all__ = ["latent_dimension"]

PVALUE_STEPS_PER_ALPHA = 4  # p-values are at least this many times finer than alpha


def latent_dimension(
    est: Any,
    X: Any,
    Y: Any = None,
    alpha: float = 0.05,
    *,
    n_permutations: int = 999,
    negligible: float = 0.1,
    groups: Any = DUPLICATES,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    given: Any = None,
) -> Any:
    """Count the components that are more than chance.

    Two variables that share one of M classes, and nothing else, share M - 1 components. For a continuous latent
    variable, `CCA` finds as many components as it has dimensions; estimators of nonlinear functions rightly find more,
    since squares and products of it are shared as well.

    Components are tested one after the other, as `permutation_test` does, until one is not significant at the level
    `alpha`; so too many are found with a probability of about `alpha`. Correlations and intervals are those of held-out
    pairs, by three fits. For axes of many columns (`MCA`, without Y) the shares of the columns that are predicted on
    held-out rows, as by `crossfit`, take their place.

    Parameters
    ----------
    est : estimator
        Fit copies of this estimator. At most its n_components can be found, so take some more than you expect.
    X, Y : array-like, frame, ...
        Test these pairs, of any kind that ``est.fit`` takes. For `CA`, X alone may be a
        table of whole counts in any form that it takes: the pairs that it counts are used, about 200,000 of them,
        drawn at random, if there are more. For `MCA`, X is the table of all columns.
    alpha : float
        The level of each test, and about how often too many components may be found.
    n_permutations : int
        Draw at least this many permutations, and more where p-values would be too coarse for `alpha`.
    negligible : float
        A correlation that would not matter. It decides only the upper end of the interval.
    groups, random_state, n_jobs, progress : array-like, int, int, bool
        These are parameters of `permutation_test`.
    given : array-like or frame, optional
        Count the components of what is left once these variables are known, one row for each pair.

    Returns
    -------
    LatentDimension or ColumnsDimension
        The number, an interval, and the test; `plot.dimension` draws it. For many columns the number, the test, and
        what the axes predict.

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
    2 components (what a shared variable with 3 classes would give)
    """
    if not is_number(alpha) or not 1e-4 <= alpha < 1:
        raise ValueError(f"alpha must be a number from 0.0001 to below 1, got {short_repr(alpha)}.")
    if not is_number(negligible) or not 0 < negligible < 1:
        raise ValueError(f"negligible must be a number between 0 and 1, got {short_repr(negligible)}.")
    check_whole(n_permutations, "n_permutations", 19, 10**6)
    n_permutations = max(n_permutations, round(PVALUE_STEPS_PER_ALPHA / alpha) - 1)
    if takes_columns(est, Y):
        if given is not None:
            check_takes_given(est)
        return count_axes(est, X, alpha, n_permutations, groups, random_state)
    X, Y = read_pairs(est, X, Y, groups, given)
    _, together = check_pairs(est, X, Y, groups, random_state, MIN_FOR_BLOCKS)
    on_all = None
    if can_test_all(X, groups):
        on_all = run_on_all_pairs(est, X, Y, n_permutations, random_state, alpha, groups=groups, together=together)
    options: dict[str, Any] = {"groups": together, "random_state": random_state, "n_jobs": n_jobs, "progress": progress}
    if on_all is not None:
        return assess_components(est, X, Y, on_all, alpha, negligible=negligible, **options)
    blocks = held_out_blocks(fit_sequential_blocks(est, X, Y, together, random_state, n_jobs, progress), est)
    test, intervals = run_test_on_blocks(blocks, n_permutations, random_state, alpha)
    training, band = _summarise_blocks(blocks, test, alpha)
    return summarise_test(test, test.correlations, intervals, training, band, est, alpha, negligible)


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
    """Judge components on held-out pairs after another test has decided their number.

    Parameters
    ----------
    est : estimator
        The estimator has as many components as shall be judged.
    X, Y, alpha, negligible, groups, random_state, n_jobs, progress
        These are parameters of `latent_dimension`.
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
        fits = fit_sequential_blocks(est, X, Y, together, random_state, n_jobs, progress)
    except UnfittablePartError as error:
        text = f"Held-out correlations are not judged, because a part of the pairs cannot be fitted: {error}"
        warnings.warn(text, NotHeldOut, stacklevel=find_user_stacklevel())
        unknown = np.tile([-1.0, 1.0], (d, 1))
        training = np.nan_to_num(test.correlations)
        return summarise_test(test.take_first(d), np.zeros(d), unknown, training, np.ones(d), est, alpha, negligible)
    blocks = [block.pad_components(d) for block in held_out_blocks(fits, est, are_tested=False)]
    found = min(d, _count_significant(test.pvalues, alpha))
    held, intervals = run_test_on_blocks(blocks, test.n_permutations, random_state, alpha, found)
    training, band = _summarise_blocks(blocks, held, alpha)
    return summarise_test(test.take_first(d), held.correlations, intervals, training, band, est, alpha, negligible)


def _count_significant(pvalues: np.ndarray, alpha: float) -> int:
    return int((pvalues <= alpha).sum())


def _summarise_blocks(blocks: list[Block], held: PermutationTest, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean training correlations, and the held-out ones that chance exceeds with the probability alpha."""
    return np.mean([block.training for block in blocks], axis=0), np.quantile(held.null, 1 - alpha, axis=0)


def summarise_test(
    test: PermutationTest,
    correlations: np.ndarray,
    intervals: np.ndarray,
    training: np.ndarray,
    band: np.ndarray,
    est: Any,
    alpha: float,
    negligible: float,
) -> LatentDimension:
    """Make the result of a test, with correlations and intervals of held-out pairs."""
    d = len(test.pvalues)
    is_point = np.maximum.accumulate(find_points(intervals[:d]))  # which says nothing of new pairs
    test = replace(test, pvalues=np.where(is_point, 1.0, test.pvalues)) if is_point.any() else test
    found = _count_significant(test.pvalues, alpha)
    pvalues = np.where(np.arange(d) > found, 1.0, test.pvalues)
    not_ruled_out = int((intervals[found:d, 1] >= negligible).sum())
    asked = getattr(est, "n_components", None)
    return LatentDimension(
        found,
        (_count_significant(pvalues, alpha / 2), found + not_ruled_out),
        pvalues,
        correlations[:d],
        intervals[:d],
        training[:d],
        band[:d],
        alpha,
        negligible,
        test,
        asked is not None and d >= asked,
    )
