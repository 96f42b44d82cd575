"""Sums over the rows of a source in which two columns are given, where one of them has gaps.

A column with features f has the functions e = (1, f) of its levels, both 0 in gaps, and all that is needed of it where
another column is given is the sum of e e' over these rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from correspondence.association.coded_columns import CodedColumn
from correspondence.association.fold_products import EqualWidths
from correspondence.association.pair_moments import RowSums

__all__ = ["SumsBeside", "add_constant", "sum_beside_gaps"]

ROWS_PER_STEP = 4096  # whose functions stay in a core's cache


def add_constant(table: np.ndarray, column: CodedColumn, has_gaps: bool) -> np.ndarray:
    """Put 1 in front of the features of the levels of a column, 0 for that of missing values if they say nothing."""
    given = ~column.is_missing if has_gaps else np.ones(len(table), dtype=bool)
    return np.column_stack([given.astype(float), table])


def sum_beside_gaps(
    codes: Sequence[np.ndarray], tables: Sequence[np.ndarray], known: np.ndarray, halves: Sequence[slice]
) -> list[np.ndarray]:
    """Sum e e' of each column over the rows in which each column with gaps is given.

    Parameters
    ----------
    codes : sequence of ndarray of shape (n,)
        The level of each row in each column.
    tables : sequence of ndarray of shape (levels, 1 + width)
        The functions of the levels; see `add_constant`.
    known : ndarray of shape (n, g)
        1 where each column with gaps is given, and 0 elsewhere.
    halves : sequence of slice
        The rows of each half of a fold.

    Returns
    -------
    list of ndarray of shape (halves, g, 1 + width, 1 + width)
        The sums of each column.
    """
    found = []
    for own, table in zip(codes, tables, strict=True):
        size = table.shape[1]
        squares = (table[:, :, None] * table[:, None]).reshape(len(table), -1).astype(known.dtype)
        total = np.zeros((len(halves), known.shape[1], size * size))
        for rows, part in zip(halves, total, strict=True):
            for begin in range(rows.start, rows.stop, ROWS_PER_STEP):
                some = slice(begin, min(begin + ROWS_PER_STEP, rows.stop))
                part += known[some].T @ squares[own[some]]
        found.append(total.reshape(len(halves), -1, size, size))
    return found


@dataclass(frozen=True, eq=False)
class SumsBeside:
    """The sums of each column over the rows in which another is given.

    Attributes
    ----------
    sums : list of ndarray of shape (halves, g + 1, 1 + width, 1 + width)
        The sums of e e' of each column beside each column with gaps, and over all rows.
    places : ndarray of int of shape (k,)
        The place of each column among those with gaps; g for columns without.
    """

    sums: list[np.ndarray]
    places: np.ndarray

    @classmethod
    def from_sums(
        cls, beside: list[np.ndarray], tables: list[np.ndarray], counts: list[np.ndarray], has_gaps: list[bool]
    ) -> SumsBeside:
        """Add the sums over all rows, which follow from the counts of the levels in each half of a fold."""
        whole = [np.einsum("hl,la,lb->hab", c, e, e, optimize=True) for c, e in zip(counts, tables, strict=True)]
        sums = [np.concatenate([own, all_[:, None]], axis=1) for own, all_ in zip(beside, whole, strict=True)]
        gaps = np.array(has_gaps)
        return cls(sums, np.where(gaps, np.cumsum(gaps) - 1, gaps.sum()))

    def change_features(self, means: Sequence[np.ndarray], turns: Sequence[np.ndarray]) -> SumsBeside:
        """Return the sums of (f - mean) turn in the place of the features f of each column."""
        found = []
        for own, mean, turn in zip(self.sums, means, turns, strict=True):
            change = np.block([[np.ones((1, 1)), -(mean @ turn)[None]], [np.zeros((len(mean), 1)), turn]])
            found.append(change.T @ own @ change)
        return SumsBeside(found, self.places)

    def centre_products(self, products: np.ndarray, means: Sequence[np.ndarray]) -> np.ndarray:
        """Turn sums of products of the features of all columns in each fold into those about given means.

        Parameters
        ----------
        products : ndarray of shape (folds, p, p)
            The sums of products of features that are 0 in gaps.
        means : sequence of ndarray of shape (width,)
            The means of each column, which are taken away where both columns are given.
        """
        widths = [len(mean) for mean in means]
        places, mean = np.repeat(self.places, widths), np.concatenate(means)
        halves = [own[:, :, 0].reshape(len(products), 2, *own.shape[1:3]) for own in self.sums]
        folds = [own.sum(axis=1)[:, places].swapaxes(1, 2) for own in halves]
        shift = np.concatenate([own[:, 1:] for own in folds], axis=1) * mean
        n = np.concatenate([np.repeat(own[:, :1], p, axis=1) for own, p in zip(folds, widths, strict=True)], axis=1)
        return products - shift - shift.swapaxes(1, 2) + n * np.outer(mean, mean)

    def sum_pairs(self, x: EqualWidths, y: EqualWidths) -> tuple[RowSums, RowSums]:
        """Return the sums of two blocks over the rows in which both columns are given; see `pair_moments.sum_pairs`."""
        return self._sum_block(x, y), self._sum_block(y, x).swap_sides()

    def _sum_block(self, x: EqualWidths, y: EqualWidths) -> RowSums:
        """Sum the features of the columns of x where those of y are given."""
        beside = self.places[y.columns if y.has_gaps else y.columns[:1]]
        found = []
        for j in x.columns.tolist():
            own = self.sums[j][:, beside]
            more = x.width + 1 - own.shape[-1]
            found.append(np.pad(own, ((0, 0), (0, 0), (0, more), (0, more))))
        total = np.stack(found, axis=1)
        n = total[..., 0, 0] if x.has_gaps else total[:, :1, :, 0, 0]
        return RowSums(n, total[..., 0, 1:], total[..., 1:, 1:])
