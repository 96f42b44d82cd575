"""Cross-fitting: functions of all pairs, each by a fit to other pairs.

Everything in this room takes an unfitted estimator and pairs, fits copies of it, and judges them on pairs not used in
the fit. Nothing depends on which estimator it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from correspondence._util.arguments import count_observations, take_rows
from correspondence._util.labels import find_labels
from correspondence.core.pair_summary import (
    Spread,
    compute_correlations,
    compute_jackknife_terms,
    find_correlation_intervals,
    warn_of_few,
)
from correspondence.core.scoring import score_pairs
from correspondence.data.beside_given import strip_given
from correspondence.data.copies import DUPLICATES, is_duplicates
from correspondence.data.splits import Split, make_splits
from correspondence.results.evidence import CrossFit, HeldOut
from correspondence.validation.fitting import (
    Fit,
    check_pairs,
    check_takes_given,
    fit_and_apply,
    pad_columns,
    read_pairs,
    run_tasks,
)
from correspondence.validation.many_columns import crossfit_columns, takes_columns
from correspondence.validation.site_folds import crossfit_rows, takes_rows

__all__ = ["crossfit", "pool_fits"]

MIN_CLUSTERS_FOR_MOMENTS = 10  # second moments need at least this many pairs or groups


def crossfit(
    est: Any,
    X: Any,
    Y: Any = None,
    cv: Any = 5,
    *,
    groups: Any = DUPLICATES,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    constraints: Any = None,
    given: Any = None,
) -> Any:
    """Fit to all folds of the pairs but one and judge on the held-out pairs, in turn.

    Parameters
    ----------
    est : estimator
        Fit copies of this estimator, which is not changed.
    X, Y : array-like, frame, ...
        Fit to and judge on these pairs, of any kind that ``est.fit`` takes. For `CA`, X alone may be a
        table of whole counts in any form that it takes: the pairs that it counts are used, about 200,000 of them,
        drawn at random, if there are more. For `MCA`, X is the table of all columns: each is predicted from
        the others on held-out rows, and all folds cost one pass over the rows.
    cv : int, splitter or iterable
        The number of shuffled folds, one of scikit-learn's splitters, or pairs of arrays of positions.
    groups : array-like of shape (n,), "duplicates" or None
        Pairs of the same group, such as repeated measurements, are never on both sides of a split. By default
        copies are groups, unless `cv` lists positions: rows that repeat another row where chance would hardly have
        made them equal. A warning says how many there are. None splits all pairs one by one.
    random_state : int
        The seed of the folds.
    n_jobs : int, optional
        Run this many fits in parallel.
    progress : bool or None
        Whether to show a progress bar; by default after two seconds.
    constraints : frame or array with the rows of the table, optional
        For `CA` with a table: its rows (sites) are held out with all their counts, and predicted from these variables.
    given : array-like or frame, optional
        The given variables, as in `fit`: one row for each pair, or for a table and constraints one for each of its
        rows. What is expected given them is learned from the pairs of each fit alone.

    Returns
    -------
    CrossFit or ColumnsHeldOut
        The held-out correlations with intervals, beside those of the training; for many columns, the shares of
        each that the others predict.

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
    if takes_rows(est, Y, constraints, given):
        return crossfit_rows(est, X, constraints, given, cv, groups, random_state, n_jobs, progress)
    if takes_columns(est, Y):
        if given is not None:
            check_takes_given(est)
        return crossfit_columns(est, X, cv, groups, random_state)
    X, Y = read_pairs(est, X, Y, groups, given)
    if is_duplicates(groups) and not (isinstance(cv, int) or hasattr(cv, "split")):
        groups = None  # positions are the user's own choice
    n, together = check_pairs(est, X, Y, groups, random_state, cv if isinstance(cv, int) else 2)
    parts = make_splits(cv, n, labels=find_labels(strip_given(Y)), groups=together, random_state=random_state)
    fits = run_tasks(
        fit_and_apply, [(est, X, Y, train, test, together) for train, test in parts], n_jobs, "cross-fit", progress
    )
    return pool_fits(X, Y, parts, fits, together)


def pool_fits(X: Any, Y: Any, parts: Sequence[Split], fits: Sequence[Fit], groups: np.ndarray | None) -> CrossFit:
    """Judge all held-out pairs by the fits to the other pairs.

    Parameters
    ----------
    X, Y : array-like, frame, ...
        All pairs.
    parts : sequence of splits
        The positions of the pairs of each fit, and of those that it is applied to.
    fits : sequence of Fit
        One fit for each split.
    groups : ndarray of shape (n,) or None
        The number of each pair's group.
    """
    n = count_observations(X, "X")
    d = max(fit.d.n_components for fit in fits)
    fits, agreement = _align_with_first(fits, X, Y, d)
    F, G = np.full((n, d), np.nan), np.full((n, d), np.nan)
    for (_, test), fit in zip(parts, fits, strict=True):
        F[test], G[test] = pad_columns(fit.F, d), pad_columns(fit.G, d)
    shared = _find_variance_inflation(agreement, [train for train, _ in parts])
    groups_of_pairs = np.arange(n) if groups is None else groups
    pooled, nested, spread = pool_splits([test for _, test in parts], fits, groups_of_pairs, shared)
    warn_of_few(spread, fewest=0.5)  # splits are small, and their terms spread more
    training = np.mean([pad_columns(fit.d.correlations[None], d)[0] for fit in fits], axis=0)
    each = [score_pairs(fit.F, fit.G, fit.d.correlations) for fit in fits]
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


def _align_with_first(fits: Sequence[Fit], X: Any, Y: Any, d: int) -> tuple[list[Fit], np.ndarray]:
    """Give functions the signs of the first fit, and measure from 0 to 1 how far each fit agrees with the first."""
    if len(fits) == 1:
        return list(fits), np.ones((1, d))
    some = np.arange(min(2000, count_observations(X, "X")))
    x, y = take_rows(X, some), take_rows(Y, some)
    of_x = _correlate_with_first([fit.d.f for fit in fits], x, d)
    of_y = _correlate_with_first([fit.d.g for fit in fits], y, d)
    signs = [row[: fit.d.n_components] for row, fit in zip(np.where(of_x < 0, -1.0, 1.0), fits, strict=True)]
    aligned = [replace(fit, F=fit.F * sign, G=fit.G * sign) for fit, sign in zip(fits, signs, strict=True)]
    return aligned, np.clip(of_x * of_y, 0, 1)


def _correlate_with_first(functions: Sequence[Any], values: Any, d: int) -> np.ndarray:
    """Correlate functions component by component with the first; 0 where one of them is constant or missing."""
    columns = [
        pad_columns(_standardise_columns(np.nan_to_num(function.accept_unknown()(values))), d) for function in functions
    ]
    return np.array([(columns[0] * own).mean(axis=0) for own in columns])


def _find_variance_inflation(agreement: np.ndarray, trains: list[np.ndarray]) -> np.ndarray:
    """Find how many times larger the variance of each correlation is because fits see each other's held-out pairs.

    If there is nothing to find, a fit to fold 1 judged on fold 2 and one to fold 2 judged on fold 1 give nearly the
    same number, and the variance is twice that of independent splits. The fits then agree only as far as they have
    pairs in common. If they agree fully, their functions are those of the population, and the splits are independent.
    """
    if len(trains) < 2:
        return np.ones(agreement.shape[1])
    common = np.mean([np.isin(trains[0], train).mean() for train in trains[1:]])
    return 1 + np.clip((1 - agreement[1:].mean(axis=0)) / max(1 - common, 1e-9), 0, 1)


def pool_splits(
    tests: list[np.ndarray], fits: Sequence[Fit], groups: np.ndarray, shared: np.ndarray
) -> tuple[HeldOut, np.ndarray, Spread]:
    """Pool all splits; also return the terms of what the first 1, 2, ... components capture, and their spread.

    A pair that is held out several times weighs no more than others. Errors are those of sums over groups, so that
    pairs of a group count as one where they repeat each other.
    """
    rows, d = np.concatenate(tests), len(shared)
    weights = 1 / np.bincount(rows, minlength=len(groups))[rows]
    cluster = np.unique(groups[rows], return_inverse=True)[1]
    F, G = (
        np.vstack([pad_columns(values, d) for values in side]) for side in zip(*((f.F, f.G) for f in fits), strict=True)
    )
    claims = np.vstack([np.tile(pad_columns(fit.d.correlations[None], d), (len(fit.F), 1)) for fit in fits])
    held = score_pairs(F, G, np.zeros(d), weights)
    is_defined = np.diff(held.intervals, axis=1)[:, 0] < 2  # a constant has no correlation
    terms = leave_out_clusters(F, G, held.correlations, weights, cluster)
    spread = Spread.from_terms(terms).scale_variance(shared)
    intervals = find_correlation_intervals(held.correlations, spread, is_defined, held.level)
    split = join_small_splits(np.repeat(np.arange(len(tests)), [len(test) for test in tests]), cluster)
    nested = compute_nested_terms(F, G, claims, weights, cluster, split)
    # Components count by the squares of their claims, as they do in `captured`.
    claimed = (claims**2).mean(axis=0)
    factor = 1 + (claimed @ (shared - 1)) / claimed.sum() if claimed.any() else 1.0
    of_all = nested[-1] if d else np.zeros(nested.shape[1])  # no component captures nothing
    captured, spread = float(of_all.mean()), Spread.from_terms(of_all).scale_variance(factor)
    pooled = HeldOut(
        held.correlations, intervals, captured, captured + spread.compute_reach(held.level), held.n, held.level
    )
    return pooled, nested, spread


def leave_out_clusters(
    F: np.ndarray, G: np.ndarray, r: np.ndarray, weights: np.ndarray, cluster: np.ndarray
) -> np.ndarray:
    """Compute jackknife terms of the correlations on Fisher's z scale, a row for each cluster."""
    f, g = (_standardise_columns(values, weights / weights.sum()) for values in (F, G))

    def sum_rest(values: np.ndarray) -> np.ndarray:
        """Sum over the pairs outside of each cluster."""
        return (weights @ values) - _sum_clusters(weights[:, None] * values, cluster)

    w, f_sum, g_sum = sum_rest(np.ones((len(f), 1))), sum_rest(f), sum_rest(g)
    w = np.where(w > 0, w, 1.0)
    var_f, var_g = sum_rest(f**2) - f_sum**2 / w, sum_rest(g**2) - g_sum**2 / w
    without = compute_correlations(var_f, var_g, sum_rest(f * g) - f_sum * g_sum / w, 1e-9 * weights.sum())
    return compute_jackknife_terms(r, without, len(w))


def _sum_clusters(values: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Sum rows over the pairs of each cluster."""
    sums = np.zeros((int(cluster.max()) + 1, *values.shape[1:]))
    np.add.at(sums, cluster, values)
    return sums


def join_small_splits(split: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Return the number of the split of each pair, after joining small splits to the next.

    A second moment of few pairs is too uncertain to be multiplied by another, and a single pair has none without
    itself. Fits of splits so small hardly differ, so that their functions may be taken for the same.
    """
    joined, number, seen = np.empty_like(split), 0, np.empty(0, dtype=cluster.dtype)
    for k in range(int(split.max()) + 1):
        joined[split == k] = number
        seen = np.union1d(seen, cluster[split == k])
        if len(seen) >= MIN_CLUSTERS_FOR_MOMENTS:
            number, seen = number + 1, seen[:0]
    joined[joined == number] = max(number - 1, 0)  # what is left at the end is too small as well
    return joined


def compute_nested_terms(
    F: np.ndarray, G: np.ndarray, claims: np.ndarray, weights: np.ndarray, cluster: np.ndarray, split: np.ndarray
) -> np.ndarray:
    """Compute terms of each cluster (columns) whose mean is what the first 1, 2, ... components (rows) capture.

    What is captured is the mean over the splits, each of which has its own functions, margins and claims.
    """
    # With the constant f_0 = g_0 = 1 in front, r(x, y) = sum_i sqrt(lambda_i) f_i(x) g_i(y) is f @ g of these columns.
    root = np.sqrt(np.column_stack([np.ones(len(F)), claims]))
    f, g = (np.column_stack([np.ones(len(F)), values]) * root for values in (F, G))
    terms = np.empty((len(F), F.shape[1]))
    for k in range(int(split.max()) + 1):
        rows = split == k
        part = np.unique(cluster[rows], return_inverse=True)[1]
        terms[rows] = compute_split_terms(f[rows], g[rows], weights[rows], part)
    captured = np.average(terms, axis=0, weights=weights)
    sums = _sum_clusters(weights[:, None] * (terms - captured), cluster)
    return (captured + sums * len(sums) / weights.sum()).T


def compute_split_terms(f: np.ndarray, g: np.ndarray, weights: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Compute terms of each pair (rows) whose weighted mean is what the first 1, 2, ... components (columns) capture.

    Captured is 2 E[r(X, Y)] - E[r(X, Y')^2] - 1. The mean of r(x_k, y_l)^2 is taken over k and l of different clusters,
    because x and y of the same one are dependent.
    """
    ratio = np.cumsum(f * g, axis=1)[:, 1:]
    own = _sum_clusters(weights, cluster)
    alone = len(own) == 1  # a single cluster has no others, so that nothing can be left out
    of_x, of_y = (sum_over_others(*sides, weights, None if alone else cluster) for sides in ((f, g), (g, f)))
    others = weights.sum() - (0 if alone else own[cluster])
    influence = 2 * ratio - (of_x + of_y) / np.reshape(others, (-1, 1))
    captured = 2 * np.average(ratio, axis=0, weights=weights) - weights @ of_x / np.sum(weights * others) - 1
    inflation = (len(own) - 1) / max(len(own) - 2, 1)  # of a jackknife
    return captured + inflation * (influence - np.average(influence, axis=0, weights=weights))


def sum_over_others(f: np.ndarray, g: np.ndarray, weights: np.ndarray, cluster: np.ndarray | None) -> np.ndarray:
    """Sum weights times r(x_k, y_l)^2 over all l of other clusters, for each k and the first 1, 2, ... components.

    r(x_k, y_l)^2 summed over l is a quadratic form in f(x_k), whose matrix is the sum of g g^T. A running sum over its
    columns gives all leading blocks at once.
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
    """Compute quadratic forms of each row of f in the first 2, 3, ... rows and columns of a symmetric matrix."""
    return np.cumsum(f * (2 * f @ np.triu(matrix, 1) + np.diag(matrix) * f), axis=1)[:, 1:]


def _standardise_columns(F: np.ndarray, share: np.ndarray | None = None) -> np.ndarray:
    """Scale columns to mean 0 and variance 1, under the shares of the pairs."""
    share = np.full(len(F), 1 / len(F)) if share is None else share
    centred = F - share @ F
    scale = np.sqrt(share @ centred**2)
    return np.where(scale > 1e-12, centred / np.where(scale > 1e-12, scale, 1), 0)
