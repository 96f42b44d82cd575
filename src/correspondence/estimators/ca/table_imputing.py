"""Missing cells of a contingency table filled in by correspondence analysis of the completed table.

Two steps alternate until nothing moves: the completed table is decomposed, and missing cells become what its margins
and its leading axes say, n r_i c_j (1 + sum_k s_k f_ik g_jk). The singular values s_k are shrunk by (s_k^2 - noise) /
s_k^2, where the noise is the mean square of those left out (Josse and Husson). Without axes the end is the table that
is independent but for the given cells (quasi-independence). The number of axes is chosen on masked cells.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.text import short_repr
from correspondence._util.user_warnings import Inexact
from correspondence.core.gap_filling import choose_axes, measure_axes
from correspondence.data.pairs.pairs import is_source
from correspondence.data.table import Table, as_table
from correspondence.estimators.ca.table_side import is_table_of_counts

__all__ = ["ImputedTable", "impute_table"]

N_FOLDS = 10  # parts into which the given cells are dealt out
MAX_STEPS = 5000
TOLERANCE = 1e-9  # change of a cell in a step, as a share of the largest expected one
CHOICE_TOLERANCE = 1e-5  # the same while the number of axes is being chosen


class ImputedTable(NamedTuple):
    """A completed table.

    Attributes
    ----------
    table : Table
        The table; given cells stay as they are.
    n_axes : int
        The number of axes that filled in the missing ones.
    errors : ndarray of shape (d + 1,)
        The squared errors of the roots of masked cells filled in by 0, 1, ... axes, relative to those of 0 axes. It is
        empty for a table without gaps.
    """

    table: Table
    n_axes: int
    errors: np.ndarray


def impute_table(X: Any, Y: Any = None, seed: int = 0) -> ImputedTable:
    """Fill in the missing cells of a table of counts.

    Parameters
    ----------
    X : Table, array-like, scipy sparse, or frame
        Missing cells are NaN or null. Each row and column must have a count.
    Y : object
        It is only there to refuse pairs of labels, which have no cells.
    seed : int
        It decides how cells are dealt out to choose the number of axes.

    Returns
    -------
    ImputedTable
        The completed table, the number of axes and the errors by which it was chosen.

    Warns
    -----
    Inexact
        If the cells still move after many steps.

    Examples
    --------
    >>> found = impute_table([[10.0, 20.0, 30.0], [20.0, 40.0, np.nan], [5.0, 10.0, 15.0]])
    >>> float(found.table.counts[1, 2].round(3)), found.n_axes
    (60.0, 0)
    """
    if is_source(X) or (Y is not None and not is_table_of_counts(X)):
        raise ValueError(
            'missing must be "indicator", "drop" or "error" for pairs, got "impute". Only cells of a table are imputed.'
        )
    table = as_table(X, allow_missing=True)
    counts = table.toarray()
    is_gap = np.isnan(counts)
    if not is_gap.any():
        return ImputedTable(table, 0, np.empty(0))
    _refuse_empty_sides(table, is_gap)
    errors = measure_cell_errors(counts, is_gap, np.random.default_rng(seed))
    n_axes = choose_axes(errors)
    start = fill_cells(np.where(is_gap, np.nanmean(counts), counts), is_gap, 0, TOLERANCE)
    found = fill_cells(start.counts, is_gap, n_axes, TOLERANCE) if n_axes else start
    if found.change > TOLERANCE:
        warnings.warn(
            f'missing="impute" moved a cell by {found.change:.1e} of the largest one in the last of {MAX_STEPS} steps, '
            f"more than {TOLERANCE:g}: the table may hold too little to fill its gaps.",
            Inexact,
            stacklevel=find_user_stacklevel(),
        )
    mean = errors.mean(axis=0)
    return ImputedTable(replace(table, counts=found.counts), n_axes, mean / (mean[0] or 1))


def _refuse_empty_sides(table: Table, is_gap: np.ndarray) -> None:
    for name, labels, empty in (("row", table.rows, is_gap.all(axis=1)), ("column", table.columns, is_gap.all(axis=0))):
        if empty.any():
            label = short_repr(labels[empty].tolist()[0])
            raise ValueError(
                f'X must have a count in each {name} if missing="impute", got none in {name} {label}. Leave it out.'
            )


class FilledCells(NamedTuple):
    """A completed array of counts, and how much the last step moved a cell, as a share of the largest one."""

    counts: np.ndarray
    change: float


def fill_cells(counts: np.ndarray, is_gap: np.ndarray, n_axes: int, tolerance: float) -> FilledCells:
    """Alternate between the axes of the completed table and its missing cells.

    Parameters
    ----------
    counts : ndarray of shape (r, c)
        The table, with a first guess in the gaps.
    is_gap : ndarray of bool of shape (r, c)
        The cells that are missing.
    n_axes : int
        The number of axes.
    tolerance : float
        The change at which the steps end.

    Returns
    -------
    FilledCells
        The completed table.
    """
    change = 0.0
    for _ in range(MAX_STEPS):
        completed = np.where(is_gap, predict_cells(counts, n_axes), counts)
        change = float(np.abs(completed - counts).max() / max(float(completed.max()), 1e-300))
        counts = completed
        if change <= tolerance:
            break
    return FilledCells(counts, change)


def predict_cells(counts: np.ndarray, n_axes: int) -> np.ndarray:
    """Compute the cells that the margins and the leading axes of a table expect; at least 0."""
    n = counts.sum()
    r, c = counts.sum(axis=1), counts.sum(axis=0)
    expected = np.outer(r, c) / n
    if n_axes == 0:
        return expected
    root = np.sqrt(np.where(expected > 0, expected, 1))
    U, s, Vt = scipy.linalg.svd((counts - expected) / root, full_matrices=False, check_finite=False)
    rest = s[n_axes : min((r > 0).sum(), (c > 0).sum()) - 1]  # the last singular value of all is 0
    noise = (rest**2).mean() if len(rest) else 0.0
    s = s[:n_axes]
    shrunk = np.divide(s**2 - noise, s, out=np.zeros(len(s)), where=s > 0)
    return np.maximum(expected + (U[:, :n_axes] * shrunk) @ Vt[:n_axes] * root, 0)


def measure_cell_errors(counts: np.ndarray, is_gap: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Measure how well 0, 1, ... axes fill in given cells that are masked.

    Returns
    -------
    ndarray of shape (m, d + 1)
        One row for each part of the given cells; the search ends when more axes only make it worse.
    """
    given = rng.permutation(np.flatnonzero(~is_gap))
    parts = [_MaskedCells(counts, is_gap, part) for part in np.array_split(given, min(N_FOLDS, len(given)))]
    parts = [part for part in parts if part.is_masked.any()]
    if not parts:
        return np.zeros((1, 1))
    return measure_axes([part.fill for part in parts], _limit_axes(counts.shape, max(part.n_gaps for part in parts)))


def _limit_axes(shape: tuple[int, ...], n_gaps: int) -> int:
    """Return the number of axes that leave more degrees of freedom than there are gaps: more could fit anything."""
    wanted = range(1, min(shape) - 1)
    return max((d for d in wanted if (shape[0] - 1 - d) * (shape[1] - 1 - d) > n_gaps), default=0)


class _MaskedCells:
    """A table of which some given cells are masked."""

    def __init__(self, counts: np.ndarray, is_gap: np.ndarray, part: np.ndarray) -> None:
        is_masked = np.zeros(counts.shape, dtype=bool)
        is_masked.flat[part] = True
        # What is left of a row or column must say how large it is.
        left = np.where(is_masked | is_gap, 0, counts)
        is_masked &= (left.sum(axis=1) > 0)[:, None] & (left.sum(axis=0) > 0)
        self.truth, self.is_masked, self.is_gap = counts, is_masked, is_gap | is_masked
        self.filled = np.where(self.is_gap, left.sum() / max((left > 0).sum(), 1), counts)

    @property
    def n_gaps(self) -> int:
        """The number of cells that are missing or masked."""
        return int(self.is_gap.sum())

    def fill(self, n_axes: int) -> float:
        """Fill in by so many axes, and return the mean squared error of the roots, relative to the mean count.

        The root of a count varies by chance as much whether the count is large or small.
        """
        self.filled = fill_cells(self.filled, self.is_gap, n_axes, CHOICE_TOLERANCE).counts
        error = (np.sqrt(self.filled) - np.sqrt(self.truth))[self.is_masked]
        return float((error**2).mean() / self.filled.mean())
