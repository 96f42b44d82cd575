"""Scores of functions on pairs: correlations, what is captured, and their intervals by leaving pairs out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import check_weights
from correspondence.core.pair_summary import (
    PairSummary,
    Spread,
    find_correlation_intervals,
    prepend_constant,
    sum_influence_powers,
    summarise_pairs,
    warn_of_few,
)
from correspondence.results.evidence import HeldOut

__all__ = ["compute_captured_terms", "score_moments", "score_pairs", "score_parts"]


def score_pairs(
    F: np.ndarray,
    G: np.ndarray,
    correlations: np.ndarray,
    pairs: Any = None,
    level: float = 0.95,
    *,
    warn: bool = False,
) -> HeldOut:
    """Evaluate functions on held-out pairs.

    Parameters
    ----------
    F, G : ndarray of shape (n, d) and (m, d)
        These are the values of f and g at some x and y.
    correlations : ndarray of shape (d,)
        The fit promised these correlations sqrt(lambda_i).
    pairs : ndarray of shape (n,), or array or scipy sparse array of shape (n, m), optional
        The pairs (x_k, y_k) have these weights, 1 each by default; or each x with each y has. A weight w stands for w
        identical pairs. Weights that add up to 1 at most are the shares of a population.
    level : float
        The confidence level of the intervals must be between 0 and 1.
    warn : bool
        If true, warn with `UncertainInterval` where a few pairs decide an interval.

    Returns
    -------
    HeldOut
        Correlations and `captured`, with intervals.

    Examples
    --------
    >>> import numpy as np

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 1)); y = 0.6 * x + 0.8 * rng.normal(size=(200, 1))
    >>> score_pairs(x, y, np.array([0.6]))                            # the exact value of captured is 0.36
    HeldOut on n 200: captured 0.2923 [0.1913, 0.3933] (95 %)
      correlation 1: 0.5388 [0.4425, 0.6228]
    """
    if len(F) == 0:
        raise ValueError("There must be pairs to evaluate on, got none.")
    if pairs is None or np.ndim(pairs) == 1:
        pairs = sp.diags_array(np.ones(len(F)) if pairs is None else check_weights(pairs, len(F), "The weights"))
    weights = sp.csr_array(pairs)
    return score_parts(lambda function: [function(F, G, weights)], correlations, level, warn=warn)


def score_parts(
    each: Callable[[Callable[..., Any]], list[Any]],
    correlations: np.ndarray,
    level: float = 0.95,
    *,
    warn: bool = False,
) -> HeldOut:
    """Evaluate functions on held-out pairs that come in several parts, in two passes over them.

    Parameters
    ----------
    each : callable
        It calls a function with F and G of each part, and perhaps with weights as an array of shape (n, m), and returns
        the list of the results.
    correlations, level, warn
        These are the arguments of `score_pairs`.

    Returns
    -------
    HeldOut
        The same figures as for all pairs together.

    Examples
    --------
    >>> import numpy as np

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 1)); y = 0.6 * x + 0.8 * rng.normal(size=(200, 1))
    >>> parts = score_parts(lambda f: [f(x[:50], y[:50]), f(x[50:], y[50:])], np.array([0.6]))
    >>> bool(np.isclose(parts.captured, score_pairs(x, y, np.array([0.6])).captured))
    True
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}.")
    parts = each(partial(summarise_pairs, correlations))
    if not parts:
        raise ValueError("There must be pairs to evaluate on, got none.")
    summary = PairSummary.merge_parts(parts)
    n, r = summary.n, summary.correlations
    powers = zip(*each(partial(sum_influence_powers, correlations, summary)), strict=True)
    of_r, of_captured = (Spread.from_moments(n, sum(sums) / n) for sums in powers)
    intervals = find_correlation_intervals(r, of_r, summary.is_defined, level)
    if warn:
        warn_of_few(of_captured, summary.least_variance)
    return HeldOut(r, intervals, summary.captured, summary.captured + of_captured.compute_reach(level), n, level)


def score_moments(
    moments: Any, mean_f: np.ndarray, A: np.ndarray, mean_g: np.ndarray, B: np.ndarray, correlations: np.ndarray
) -> float:
    """Compute `captured` of the functions (F - mean_f) @ A and (G - mean_g) @ B from moments of the features F and G.

    Moments do not say what each pair contributes together with itself. Unlike in `score_pairs` it is therefore not left
    out, and the result is too low by the order of 1 / n, much the same for functions compared on the same pairs.
    """
    # With f_i and g_i scaled by the fourth root of their PICs, captured is 2 E[sum f_i g_i] less the product of the
    # second moments of (1, f) and (1, g), less 1; a and b are the means that f and g have on these pairs.
    root = np.sqrt(correlations)
    A, B = A * root, B * root
    a, b = (moments.mean_f - mean_f) @ A, (moments.mean_g - mean_g) @ B
    cross = np.einsum("pi,pi->", A, moments.cov_fg @ B) + a @ b
    second_f = A.T @ moments.cov_f @ A + np.outer(a, a)
    second_g = B.T @ moments.cov_g @ B + np.outer(b, b)
    return float(2 * cross - 2 * a @ b - np.sum(second_f * second_g))


def compute_captured_terms(F: np.ndarray, G: np.ndarray, correlations: np.ndarray) -> np.ndarray:
    """Compute one term of `captured` for each pair.

    Parameters
    ----------
    F, G : ndarray of shape (n, d)
        These are the values of f and g for the pairs.
    correlations : ndarray of shape (d,)
        The fit promised these correlations.

    Returns
    -------
    ndarray of shape (n,)
        Terms whose mean is `captured` and whose variance is that of n times its estimate.

    Examples
    --------
    >>> import numpy as np

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 1)); y = 0.6 * x + 0.8 * rng.normal(size=(200, 1))
    >>> captured = score_pairs(x, y, np.array([0.6])).captured
    >>> bool(np.isclose(compute_captured_terms(x, y, np.array([0.6])).mean(), captured))
    True
    """
    summary = summarise_pairs(correlations, F, G)
    f, g = prepend_constant(F, correlations), prepend_constant(G, correlations)
    return summary.captured + summary.compute_influence((f * g).sum(axis=1), *summary.expect_squares(f, g))
