"""Analyses of many columns, judged: what columns say of each other on held-out rows, and how many axes are chance.

These are the parts of `crossfit`, `permutation_test` and `latent_dimension` for estimators of one table. All folds cost
one pass over the rows: moments are kept for each fold, and those of the others are summed.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from correspondence._util.arguments import check_whole, count_observations, take_rows
from correspondence._util.labels import to_object_array
from correspondence._util.user_warnings import LeftOut
from correspondence.core.column_permutations import run_axes_in_turn
from correspondence.core.dependence_views import HOPELESS_PVALUE
from correspondence.core.feature_moments import compute_feature_moments
from correspondence.core.left_out_columns import ColumnErrors
from correspondence.core.moments import Moments
from correspondence.data.copies import Copies, is_duplicates
from correspondence.data.pairs.pairs import is_source
from correspondence.data.splits import Split, make_splits
from correspondence.results.column_evidence import ColumnsDimension, ColumnsHeldOut
from correspondence.results.component_tests import PermutationTest
from correspondence.validation.fitting import EXPECTED_WARNINGS, check_estimator, read_groups

__all__ = ["count_axes", "crossfit_columns", "run_columns_test", "takes_columns"]

MAX_ROWS_FOR_TEST = 20_000
MIN_DRAWS = 199  # permutations, unless fewer are asked for
MAX_PRODUCTS = 5e10  # multiplications of all permutations; beyond it there are fewer of them, and then fewer rows
MIN_ROWS_FOR_TEST = 1000  # however many features there are
MIN_DIFFERENT_ROWS = 15  # copies are not put together if fewer rows remain


def takes_columns(est: Any, Y: Any) -> bool:
    """Tell whether an estimator analyses the columns of one table; Y must be None then.

    Parameters
    ----------
    est : estimator
        The estimator.
    Y : None
        There is no second variable.
    """
    if isinstance(est, type) or not getattr(est, "_takes_columns", False):
        return False
    if Y is not None:
        raise ValueError(f"Y must be None for {type(est).__name__}, which analyses the columns of X. Leave Y out.")
    return True


def crossfit_columns(est: Any, X: Any, cv: Any, groups: Any, random_state: int) -> ColumnsHeldOut:
    """Leave out rows and columns in turn; see `crossfit`.

    Parameters
    ----------
    est, X, cv, groups, random_state
        These are parameters of `crossfit`.

    Returns
    -------
    ColumnsHeldOut
        The shares of each column that the others predict.
    """
    n = _check_rows(est, X, random_state)
    is_number = isinstance(cv, int)
    if is_duplicates(groups) and not (is_number or hasattr(cv, "split")):
        groups = None  # positions are the user's own choice
    together = read_groups(groups, X, None, cv if is_number else 2)
    parts = make_splits(cv, n, groups=together, random_state=random_state)
    table = est._read_table(X)
    place = np.full(n, -1)
    place[table.rows] = np.arange(len(table.rows))
    parts = [(place[train][place[train] >= 0], place[test][place[test] >= 0]) for train, test in parts]
    held, training = [], []
    for (train, _), (moments, others) in zip(parts, _sum_moments(table, parts), strict=True):
        fit = _fit_quietly(est, table, train, moments)
        held.append(fit._measure_left_out(others))
        training.append(fit._measure_left_out(None))
    names = to_object_array([column.name for column in table.features.columns])
    pooled, own = ColumnErrors.pool(held), ColumnErrors.pool(training)
    return ColumnsHeldOut(names, pooled.r2, own.r2, pooled.n, len(parts))


def _check_rows(est: Any, X: Any, random_state: Any) -> int:
    check_estimator(est)
    if is_source(X):
        raise ValueError("X must be in memory to hold rows out, got a source. Read some rows of it.")
    check_whole(random_state, "random_state", 0, 2**32 - 1)
    n = count_observations(X, "X")
    if n < 4:
        raise ValueError(f"X must have at least four rows, got {n}.")
    return n


def _fit_quietly(est: Any, table: Any, rows: np.ndarray | slice, moments: Moments) -> Any:
    """Fit a copy to rows and their moments, without warnings about a part of the rows."""
    fit = clone(est)
    with warnings.catch_warnings():
        for category in EXPECTED_WARNINGS:
            warnings.simplefilter("ignore", category)
        fit._choose_smoothness(table.features, [values[rows] for values in table.arrays], None)
        return fit._fit_moments(table.features, moments)


def _compute_moments(table: Any, rows: np.ndarray | slice) -> Moments:
    arrays = [values[rows] for values in table.arrays]
    return compute_feature_moments(table.features, arrays, table.features.weigh_rows(arrays, None))


def _sum_moments(table: Any, parts: Sequence[Split]) -> list[tuple[Moments, Moments]]:
    """Compute the moments of the rows to fit and to judge on, for each split; in one pass if folds divide the rows."""
    n = len(table.rows)
    tests = np.concatenate([test for _, test in parts])
    if any(not len(rows) for part in parts for rows in part):
        raise ValueError("cv must give splits whose rows are not all dropped because of missing values.")
    if len(tests) == n == len(np.unique(tests)) and all(len(train) + len(test) == n for train, test in parts):
        folds = [_compute_moments(table, test) for _, test in parts]
        return [(sum((m for m in folds if m is not own), Moments()), own) for own in folds]
    return [(_compute_moments(table, train), _compute_moments(table, test)) for train, test in parts]


def run_columns_test(
    est: Any, X: Any, n_permutations: int, refit: Any, groups: Any, random_state: int
) -> PermutationTest:
    """Test each axis against columns that are permuted on their own; see `permutation_test`.

    Parameters
    ----------
    est, X, n_permutations, refit, groups, random_state
        These are parameters of `permutation_test`.

    Returns
    -------
    PermutationTest
        A p-value for each axis.
    """
    if refit is not None:
        raise ValueError(
            f"refit must be None for {type(est).__name__}: its axes are tested on all rows, got {refit!r}."
        )
    copies = _find_row_copies(est, X, groups, random_state)
    return _permute_columns(est, X, n_permutations, copies, random_state, HOPELESS_PVALUE)


def _find_row_copies(est: Any, X: Any, groups: Any, random_state: Any) -> np.ndarray | None:
    _check_rows(est, X, random_state)
    if groups is not None and not is_duplicates(groups):
        raise ValueError("groups must be None for a test of columns, because their rows are exchanged one by one.")
    return read_groups(groups, X, None, MIN_DIFFERENT_ROWS)


def _permute_columns(
    est: Any, X: Any, n_permutations: int, copies: np.ndarray | None, seed: int, stop_above: float
) -> PermutationTest:
    """Test the axes of a table, of whose copies one is taken; stop after the first p-value above `stop_above`."""
    table = est._read_table(X if copies is None else take_rows(X, Copies(copies).firsts))
    everything = slice(None)
    fit = _fit_quietly(est, table, everything, _compute_moments(table, everything))
    r, n = table.features.width, len(table.rows)
    n_draws = max(min(n_permutations, MIN_DRAWS), min(n_permutations, int(MAX_PRODUCTS / (n * r**2))))
    most = min(MAX_ROWS_FOR_TEST, max(MIN_ROWS_FOR_TEST, int(MAX_PRODUCTS / (n_draws * r**2))))
    rows = np.random.default_rng([seed, 10]).permutation(n)[:most] if n > most else everything
    columns = fit._view_columns([values[rows] for values in table.arrays])
    found = run_axes_in_turn(columns, len(fit.correlations_), n_draws, seed, stop_above)
    return PermutationTest(found.pvalues, fit.correlations_, found.statistics, found.null, n_draws, "all rows")


def count_axes(est: Any, X: Any, alpha: float, n_permutations: int, groups: Any, random_state: int) -> ColumnsDimension:
    """Count the axes that are more than chance; see `latent_dimension`.

    Parameters
    ----------
    est, X, alpha, n_permutations, groups, random_state
        These are parameters of `latent_dimension`.

    Returns
    -------
    ColumnsDimension
        The number of axes, the test, and what they predict on held-out rows.
    """
    copies = _find_row_copies(est, X, groups, random_state)
    test = _permute_columns(est, X, n_permutations, copies, random_state, alpha)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOut)  # the test has said so
        n_different = count_observations(X, "X") if copies is None else int(copies.max()) + 1
        held = crossfit_columns(est, X, min(5, n_different), copies, random_state)
    found = int((test.pvalues <= alpha).sum())
    pvalues = np.where(np.arange(len(test.pvalues)) > found, 1.0, test.pvalues)
    can_be_more = est.n_components is not None and len(pvalues) >= est.n_components
    return ColumnsDimension(found, pvalues, alpha, test, held, can_be_more)
