"""Cross-fitting of a constrained analysis: rows of a table, such as sites, are held out with all their counts."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from correspondence._util.arguments import take_rows
from correspondence._util.progress import ProgressArgument
from correspondence.core.pair_summary import Spread
from correspondence.core.row_matching import align_row_variables
from correspondence.core.site_scores import HeldOutRows, compute_row_terms, correlate_rows, score_rows, sum_groups
from correspondence.data.copies import is_duplicates
from correspondence.data.splits import Split, encode_groups, make_splits
from correspondence.data.table import Table, as_table
from correspondence.results.evidence import LEVEL, CrossFit
from correspondence.validation.fitting import EXPECTED_WARNINGS, check_estimator, pad_columns, run_tasks

__all__ = ["crossfit_rows", "takes_rows"]

MIN_GROUPS_FOR_MOMENTS = 10  # of rows in each fold; with fewer, all folds are judged together


class RowFit(NamedTuple):
    """A fit to some rows: its functions at all rows and columns, what it claims, and its duration."""

    F: np.ndarray
    G: np.ndarray
    correlations: np.ndarray
    seconds: float


def takes_rows(est: Any, Y: Any, constraints: Any, given: Any) -> bool:
    """Tell whether rows of a table are to be held out."""
    is_table = Y is None and getattr(est, "_takes_tables", False)
    if constraints is not None and not is_table:
        raise ValueError("constraints must be None, unless est is a CA and X a table without Y.")
    if is_table and given is not None and constraints is None:
        raise ValueError("constraints must be given to hold out rows: without them nothing is said of new rows.")
    return constraints is not None


def crossfit_rows(
    est: Any,
    X: Any,
    constraints: Any,
    given: Any,
    cv: Any,
    groups: Any,
    random_state: int,
    n_jobs: int | None,
    progress: ProgressArgument,
) -> CrossFit:
    """Hold out rows of a table in turn; see `crossfit`."""
    check_estimator(est)
    table = as_table(X)
    env, z = (
        None if values is None else align_row_variables(values, name, table.rows)
        for name, values in (("constraints", constraints), ("given", given))
    )
    counts = table.toarray()
    n = len(counts)
    together = None if groups is None or is_duplicates(groups) else encode_groups(groups, n, "groups")
    parts = make_splits(cv, n, groups=together, random_state=random_state)
    fits = run_tasks(_fit_rows, [(est, counts, env, z, train) for train, _ in parts], n_jobs, "cross-fit", progress)
    return pool_rows(counts, parts, fits, np.arange(n) if together is None else together)


def _fit_rows(est: Any, counts: np.ndarray, env: Any, z: Any, train: np.ndarray) -> RowFit:
    """Fit to some rows and evaluate the functions at all of them; levels that were not in the fit count as missing."""
    start = time.perf_counter()
    m = counts.shape[1]
    table = Table(counts[train], np.arange(len(train)), np.arange(m), named=False)
    conditions = {} if z is None else {"given": take_rows(z, train)}
    with warnings.catch_warnings():
        for category in EXPECTED_WARNINGS:
            warnings.simplefilter("ignore", category)
        d = clone(est).fit(table, constraints=take_rows(env, train), **conditions).decomposition_
    seconds = time.perf_counter() - start
    f: Any = d.f.accept_unknown()
    F = f(env) if z is None else f(env, given=z)
    return RowFit(F, np.nan_to_num(d.g.accept_unknown()(np.arange(m))), d.correlations, seconds)


def pool_rows(counts: np.ndarray, parts: Sequence[Split], fits: Sequence[RowFit], groups: np.ndarray) -> CrossFit:
    """Judge all held-out rows by the fits to the others.

    Parameters
    ----------
    counts : ndarray of shape (n, m)
        The table.
    parts : sequence of splits
        The positions of the rows of each fit, and of those held out.
    fits : sequence of RowFit
        One fit for each split.
    groups : ndarray of int of shape (n,)
        The groups of the rows.
    """
    d = max(len(fit.correlations) for fit in fits)
    padded = [RowFit(pad_columns(F, d), pad_columns(G, d), np.pad(s, (0, d - len(s))), t) for F, G, s, t in fits]
    signs, shared = _compare_fits(padded, counts, [train for train, _ in parts])
    padded = [fit._replace(F=fit.F * sign, G=fit.G * sign) for fit, sign in zip(padded, signs, strict=True)]
    held = [
        HeldOutRows(fit.F[test], fit.G, fit.correlations, counts[test])
        for (_, test), fit in zip(parts, padded, strict=True)
    ]
    tests = [test for _, test in parts]
    r, intervals = correlate_rows(held, [groups[test] for test in tests], shared)
    nested = _compute_nested_terms(held, tests, groups)
    claims = np.array([fit.correlations for fit in padded])
    claimed = (claims**2).mean(axis=0)
    factor = 1 + (claimed @ (shared - 1)) / claimed.sum() if claimed.any() else 1.0
    last = nested[-1] if d else np.zeros(nested.shape[1])
    reach = Spread.from_terms(last).scale_variance(factor).compute_reach(LEVEL)
    F, G = np.full((len(counts), d), np.nan), np.full((len(counts), d), np.nan)
    for part, test in zip(held, tests, strict=True):
        totals = part.weights[:, None]
        F[test], G[test] = part.F, part.counts @ part.G / np.where(totals > 0, totals, np.nan)
    return CrossFit(
        r,
        intervals,
        float(last.mean()),
        last.mean() + reach,
        claims.mean(axis=0),
        F,
        G,
        [
            score_rows(part, np.unique(groups[test], return_inverse=True)[1])
            for part, test in zip(held, tests, strict=True)
        ],
        float(np.mean([fit.seconds for fit in fits])),
        last,
        nested,
        unit="rows",
    )


def _compare_fits(
    fits: Sequence[RowFit], counts: np.ndarray, trains: list[np.ndarray]
) -> tuple[list[np.ndarray], np.ndarray]:
    """Find signs that agree with the first fit, and how much larger the variances are because fits share rows."""
    first, rows, columns = fits[0], counts.sum(axis=1), counts.sum(axis=0)
    of_g = [_correlate(columns, fit.G, first.G) for fit in fits]
    of_f = [_correlate(rows, fit.F, first.F) for fit in fits]
    signs = [np.where(own < 0, -1.0, 1.0) for own in of_g]
    if len(fits) < 2:
        return signs, np.ones(len(first.correlations))
    agreement = np.mean([np.clip(f * g, 0, 1) for f, g in zip(of_f[1:], of_g[1:], strict=True)], axis=0)
    common = np.mean([np.isin(trains[0], train).mean() for train in trains[1:]])
    return signs, 1 + np.clip((1 - agreement) / max(1 - common, 1e-9), 0, 1)


def _correlate(weights: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Correlate columns of two arrays; 0 where one is constant."""
    w = weights / weights.sum()
    a, b = a - w @ a, b - w @ b
    scale = np.sqrt((w @ a**2) * (w @ b**2))
    return np.asarray(w @ (a * b) / np.where(scale > 0, scale, np.inf))


def _compute_nested_terms(held: Sequence[HeldOutRows], tests: list[np.ndarray], groups: np.ndarray) -> np.ndarray:
    """Compute terms of each group (columns) whose mean is what the first 1, 2, ... components (rows) capture.

    Second moments of a few rows are too uncertain to be multiplied: such folds are judged together.
    """
    rows = np.concatenate(tests)
    cluster = np.unique(groups[rows], return_inverse=True)[1]
    weights = np.concatenate([part.weights for part in held])
    if min(len(np.unique(groups[test])) for test in tests) < MIN_GROUPS_FOR_MOMENTS:
        together = map(np.vstack, zip(*(part.iterate_ratios() for part in held), strict=True))
        terms = [compute_row_terms(np.vstack([part.counts for part in held]), together, groups[rows])]
    else:
        terms = [
            compute_row_terms(part.counts, part.iterate_ratios(), groups[test])
            for part, test in zip(held, tests, strict=True)
        ]
    sums = sum_groups(np.vstack(terms), cluster)
    return np.asarray(sums * len(sums) / weights.sum()).T
