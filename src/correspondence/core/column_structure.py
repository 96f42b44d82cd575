"""How the functions of a variable depend on each of its columns: correlations, means of categories, paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import f as f_distribution

from correspondence.core.functions import LabelFunctions, PrincipalFunctions
from correspondence.data.column_kinds import ColumnKind
from correspondence.data.encoders.text import Text
from correspondence.data.readable_columns import ReadableColumn

__all__ = ["ColumnStructure", "adjust_for_chance", "find_column_kinds", "summarise_column", "summarise_columns"]

N_BINS = 10  # quantile bins that tell how much a column explains
MIN_ROWS_OF_BIN = 5
MIN_BENT_SHARE = 0.1  # of the variance of a function, which bins explain and a straight line does not
MAX_BENT_PVALUE = 0.001
MIN_STANDARD_DEVIATION = 1e-12


@dataclass(frozen=True, eq=False)
class ColumnStructure:
    """What is known of one column and d functions.

    Attributes
    ----------
    column : ReadableColumn
        The column.
    n : int
        Number of rows that have a value, and a place.
    correlations : ndarray of shape (d,)
        Correlation of a number with each function; for labels the correlation ratio, which has no sign; for words and
        members of lists, which overlap, NaN.
    rank_correlations : ndarray of shape (d,)
        The same with the ranks of a number, so that units and outliers do not matter; NaN for anything else.
    explained : ndarray of shape (d,)
        Share of the variance of each function that the column explains: by its labels, or by ten quantile bins.
    bends : ndarray of bool of shape (d,)
        Whether the bins of a number explain clearly more than a straight line through its values or its ranks.
    path, edges : ndarray of shape (bins, d) and (bins + 1,)
        Means of the functions in the bins, from the lowest to the highest, and where the bins begin and end.
    counts, means, category_correlations : ndarray of shape (m,), (m, d), (m, d)
        For each category the number of its rows, the mean of the functions over them, and the correlation of its
        indicator with the functions.
    """

    column: ReadableColumn
    n: int
    correlations: np.ndarray
    rank_correlations: np.ndarray
    explained: np.ndarray
    bends: np.ndarray
    path: np.ndarray
    edges: np.ndarray
    counts: np.ndarray
    means: np.ndarray
    category_correlations: np.ndarray


def summarise_columns(columns: Sequence[ReadableColumn], F: np.ndarray) -> list[ColumnStructure]:
    """Summarise all columns about which anything can be said.

    Parameters
    ----------
    columns : sequence of ReadableColumn
        The columns of a variable, with n rows each.
    F : ndarray of shape (n, d)
        The functions at the rows; rows at NaN are left out.
    """
    known = np.flatnonzero(np.isfinite(F).all(axis=1))
    told = [column for column in columns if column.is_told]
    return [summarise_column(column if len(known) == len(F) else column.take_rows(known), F[known]) for column in told]


def adjust_for_chance(one: ColumnStructure) -> ColumnStructure:
    """Take from what a column explains the share that as many categories, or bins, explain by chance alone.

    Means of few rows each explain much of anything, so figures of fewer rows would be larger than those of all rows.

    Parameters
    ----------
    one : ColumnStructure
        The column, and functions that were not fitted to its rows.
    """
    groups = len(one.path) if one.column.is_number else int((one.counts > 0).sum())
    rest = max(1, one.n - groups)
    explained = np.clip(1 - (1 - one.explained) * (one.n - 1) / rest, 0, 1) if one.n > 1 else one.explained
    is_label = one.column.kind in ("label", "boolean")
    return replace(one, explained=explained, correlations=np.sqrt(explained) if is_label else one.correlations)


def find_column_kinds(functions: PrincipalFunctions) -> dict[Any, ColumnKind]:
    """Return what the columns of a variable are, as its encoder has decided; empty if that is not known."""
    if isinstance(functions, LabelFunctions):
        return {0: ColumnKind("label")}
    encoder = getattr(getattr(functions, "features", None), "encoder", None)
    return {0: ColumnKind("text")} if isinstance(encoder, Text) else getattr(encoder, "kinds", {})


def summarise_column(column: ReadableColumn, F: np.ndarray) -> ColumnStructure:
    """Summarise one column, given the functions at its rows."""
    d = F.shape[1]
    if column.is_number:
        assert column.numbers is not None
        there = np.isfinite(column.numbers)
        return _summarise_numbers(column, column.numbers[there], F[there])
    counts = column.has.sum(axis=0)
    means = (column.has.T @ F) / np.maximum(counts, 1)[:, None]
    means[counts == 0] = np.nan
    correlations, explained = np.full(d, np.nan), np.full(d, np.nan)
    if column.kind in ("label", "boolean"):  # categories that do not overlap: variance between them
        centred = np.nan_to_num(means) - F.mean(axis=0)
        explained = np.clip(counts @ centred**2 / np.maximum(len(F) * F.var(axis=0), MIN_STANDARD_DEVIATION), 0, 1)
        correlations = np.sqrt(explained)
    return ColumnStructure(
        *(column, len(F), correlations, np.full(d, np.nan), explained, np.zeros(d, bool)),
        *(np.empty((0, d)), np.empty(0), counts.astype(int), means, _correlate_indicators(counts, means, F)),
    )


def _correlate_indicators(counts: np.ndarray, means: np.ndarray, F: np.ndarray) -> np.ndarray:
    """Correlate indicators with the functions, given the means over their rows."""
    # cov(1_A, f) = p (E[f | A] - E[f]), var(1_A) = p (1 - p).
    p = counts / max(1, len(F))
    odds = np.sqrt(p / np.where(p < 1, 1 - p, np.inf))
    scale = F.std(axis=0)
    return odds[:, None] * (means - F.mean(axis=0)) / np.where(scale > MIN_STANDARD_DEVIATION, scale, np.inf)


def _summarise_numbers(column: ReadableColumn, numbers: np.ndarray, F: np.ndarray) -> ColumnStructure:
    n, d = F.shape
    distinct, position, times = np.unique(numbers, return_inverse=True, return_counts=True)  # sorted once
    ranks = (np.cumsum(times) - (times - 1) / 2)[position]
    straight, by_rank = correlate_with_functions(numbers, F), correlate_with_functions(ranks, F)
    bin_of_value, edges = cut_at_quantiles(distinct, times)
    codes = bin_of_value[position]
    bins = len(edges) - 1
    counts = np.bincount(codes, minlength=bins)
    path = np.stack([np.bincount(codes, f, bins) for f in F.T], axis=1) / np.maximum(counts, 1)[:, None]
    variance = np.maximum(n * F.var(axis=0), MIN_STANDARD_DEVIATION)
    explained = np.clip(counts @ (path - F.mean(axis=0)) ** 2 / variance, 0, 1) if n else np.zeros(d)
    bends = find_bends(explained, np.maximum(straight**2, by_rank**2), n, bins)
    nothing = np.empty((0, d))
    return ColumnStructure(
        column, n, straight, by_rank, explained, bends, path, edges, np.empty(0, int), nothing, nothing
    )


def correlate_with_functions(values: Any, F: np.ndarray) -> np.ndarray:
    """Correlate a column with each function; 0 where one of them is constant."""
    if len(F) < 2:
        return np.zeros(F.shape[1])
    scale = max(1e-300, float(np.abs(values).max()))  # so that squares neither overflow nor vanish
    centred, F = values / scale - (values / scale).mean(), F - F.mean(axis=0)
    norm = np.sqrt((F**2).sum(axis=0) * (centred**2).sum())
    return np.clip(centred @ F / np.where(norm > MIN_STANDARD_DEVIATION, norm, np.inf), -1, 1)


def cut_at_quantiles(distinct: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cut numbers into at most ten bins with about as many in each.

    Parameters
    ----------
    distinct, times : ndarray
        The different numbers, in increasing order, and how often each occurs.

    Returns
    -------
    codes, edges : ndarray
        The bin of each of the different numbers, and where the bins begin and end.
    """
    n, up_to = int(times.sum()), np.cumsum(times)
    if not n:
        return np.empty(0, int), np.zeros(2)
    if len(distinct) <= N_BINS:  # each value is a bin of its own
        return np.arange(len(distinct)), np.append(distinct, distinct[-1])
    bins = int(np.clip(n // MIN_ROWS_OF_BIN, 1, N_BINS))
    ranks = np.rint(np.linspace(0, n - 1, bins + 1))
    edges = np.unique(distinct[np.searchsorted(up_to, ranks, side="right")])
    codes = np.searchsorted(edges[1:-1], distinct, side="right")
    used, codes = np.unique(codes, return_inverse=True)  # ties may leave a bin empty
    return codes, np.append(edges[used], edges[-1])


def find_bends(explained: np.ndarray, straight: np.ndarray, n: int, bins: int) -> np.ndarray:
    """Tell where bins explain clearly and significantly more of a function than a straight line does."""
    extra, rest = bins - 2, n - bins
    if extra < 1 or rest < 1:
        return np.zeros(len(explained), bool)
    statistic = (explained - straight) / extra / np.maximum((1 - explained) / rest, MIN_STANDARD_DEVIATION)
    # Bins explain extra / n by chance alone.
    is_much = explained - straight - extra / n > MIN_BENT_SHARE
    return is_much & (f_distribution.sf(np.maximum(statistic, 0), extra, rest) < MAX_BENT_PVALUE)
