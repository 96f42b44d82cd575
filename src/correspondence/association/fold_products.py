"""Sums of products of the features of many columns, for each fold: all that is needed of the rows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from correspondence.association.level_features import LevelFeatures

__all__ = ["CodedRows", "EqualWidths", "deal_rows", "group_by_width", "make_blocks", "sum_products"]

MAX_BLOCK_FEATURES = 1024  # features of a block of columns, whose products with another block are held at once
MAX_GAP_BLOCK_FEATURES = 256  # the same of columns with gaps, whose pairs have moments of their own
CELLS_PER_BATCH = 1 << 21
MAX_KEPT_CELLS = 1 << 26  # of features that are kept: 256 MB in single precision
BLOCK_WIDTHS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64)  # features of a column, filled up by zeros


@dataclass(frozen=True, eq=False)
class EqualWidths:
    """Columns that have about as many features, which are filled up by zeros to be equally many.

    Attributes
    ----------
    columns : ndarray of int
        The positions of the columns.
    features : list of LevelFeatures
        Their features.
    counts : list of ndarray of shape (parts, levels)
        The weight of the rows at each level, in each half of each fold.
    width : int
        The number of features of each column, with zeros.
    has_gaps : bool
        Whether the columns have missing values that say nothing.
    """

    columns: np.ndarray
    features: list[LevelFeatures]
    counts: list[np.ndarray]
    width: int
    has_gaps: bool = False

    @cached_property
    def tables(self) -> list[np.ndarray]:
        """The features of each column, filled up."""
        pads = [(own.table, self.width - own.width) for own in self.features]
        return [np.pad(table, ((0, 0), (0, more))) for table, more in pads]

    @cached_property
    def widths(self) -> np.ndarray:
        """The number of features of each column, without zeros."""
        return np.array([own.width for own in self.features])

    @cached_property
    def smoothness(self) -> np.ndarray:
        """The weights of the features in the test, an array of shape (columns, width)."""
        return np.array([np.pad(own.smoothness, (0, self.width - own.width)) for own in self.features])

    @cached_property
    def target(self) -> np.ndarray:
        """Which features have to be predicted, an array of shape (columns, width)."""
        return np.array([np.pad(own.target, (0, self.width - own.width)) for own in self.features])

    @cached_property
    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """The sums of features, of shape (parts, columns, width), and of their products, with one axis more."""
        sums = [counts @ table for counts, table in zip(self.counts, self.tables, strict=True)]
        products = [
            np.einsum("pl,la,lb->pab", counts, table, table, optimize=True)
            for counts, table in zip(self.counts, self.tables, strict=True)
        ]
        return np.stack(sums, axis=1), np.stack(products, axis=1)


def group_by_width(widths: Sequence[int], has_gaps: Sequence[bool]) -> list[tuple[np.ndarray, int]]:
    """Group columns by how many features they have, those with gaps apart.

    Parameters
    ----------
    widths : sequence of int
        The number of features of each column.
    has_gaps : sequence of bool
        Which columns have missing values that say nothing: each pair of them has moments of its own.

    Returns
    -------
    list of tuple
        The positions of some columns, and the least number of features that all of them have if they are filled up.

    Examples
    --------
    >>> [(columns.tolist(), width) for columns, width in group_by_width([1, 6, 7, 1], [False, False, False, True])]
    [([0], 1), ([1], 6), ([2], 8), ([3], 1)]
    """
    sizes = np.array([next(w for w in BLOCK_WIDTHS if w >= own) for own in widths])
    groups = []
    for gaps, most in ((False, MAX_BLOCK_FEATURES), (True, MAX_GAP_BLOCK_FEATURES)):
        for width in np.unique(sizes).tolist():
            places = np.flatnonzero((sizes == width) & (np.asarray(has_gaps) == gaps))
            parts = np.array_split(places, max(1, -(-len(places) * width // most)))
            groups += [(part, width) for part in parts if len(part)]
    return groups


def make_blocks(
    features: Sequence[LevelFeatures], counts: Sequence[np.ndarray], has_gaps: Sequence[bool]
) -> list[EqualWidths]:
    """Put columns of similar widths into blocks, those with gaps apart."""
    return [
        EqualWidths(part, [features[j] for j in part], [counts[j] for j in part], width, bool(has_gaps[part[0]]))
        for part, width in group_by_width([own.width for own in features], has_gaps)
    ]


@dataclass(frozen=True, eq=False)
class CodedRows:
    """The rows of a table as codes, in the order of the parts that they are dealt to.

    Attributes
    ----------
    codes : list of ndarray
        The codes of each column.
    bounds : ndarray of shape (2 * folds + 1,)
        Where each half of a fold begins and ends.
    weights : ndarray of shape (n,), optional
        The weights of the rows; 1 each by default.
    kept : dict
        The features of blocks that were computed before.
    """

    codes: list[np.ndarray]
    bounds: np.ndarray
    weights: np.ndarray | None = None
    kept: dict[Any, np.ndarray] = field(default_factory=dict)

    def expand(self, block: EqualWidths, rows: slice, dtype: type) -> np.ndarray:
        """Compute the features of some rows; those of small tables are kept for the next block."""
        key = (block.columns.tobytes(), dtype)
        if key in self.kept:
            return self.kept[key][rows]
        size = int(self.bounds[-1]) * len(block.columns) * block.width
        if size + sum(own.size for own in self.kept.values()) > MAX_KEPT_CELLS:
            return self._compute_features(block, rows, dtype)
        self.kept[key] = self._compute_features(block, slice(0, int(self.bounds[-1])), dtype)
        return self.kept[key][rows]

    def _compute_features(self, block: EqualWidths, rows: slice, dtype: type) -> np.ndarray:
        features = np.empty((rows.stop - rows.start, len(block.columns), block.width), dtype)
        for i, (j, table) in enumerate(zip(block.columns.tolist(), block.tables, strict=True)):
            features[:, i] = table.astype(dtype)[self.codes[j][rows]]
        return features.reshape(len(features), -1)


def sum_products(rows: CodedRows, x: EqualWidths, y: EqualWidths, dtype: type = np.float64) -> np.ndarray:
    """Sum the products of the features of two blocks over the rows of each fold.

    Parameters
    ----------
    rows : CodedRows
        The rows.
    x, y : EqualWidths
        The columns; they may be the same.
    dtype : type
        The type of the features.

    Returns
    -------
    ndarray of shape (folds, columns of x, width of x, columns of y, width of y)
        The sums.
    """
    p, q = (len(own.columns) * own.width for own in (x, y))
    step = max(64, CELLS_PER_BATCH // (p + q))
    bounds = rows.bounds[::2].tolist()
    total: np.ndarray = np.zeros((len(bounds) - 1, p, q), dtype)
    for own, (begin, end) in zip(total, itertools.pairwise(bounds), strict=True):
        for start in range(begin, end, step):
            some = slice(start, min(start + step, end))
            F = rows.expand(x, some, dtype)
            weighted = F if rows.weights is None else F * rows.weights[some, None].astype(dtype)
            own += weighted.T @ (F if y is x else rows.expand(y, some, dtype))
    return total.reshape(-1, len(x.columns), x.width, len(y.columns), y.width)


def deal_rows(n: int, n_folds: int, groups: np.ndarray | None, random_state: int) -> np.ndarray:
    """Deal rows out to two halves of each fold, and return the number of each row's half.

    Parameters
    ----------
    n : int
        The number of rows.
    n_folds : int
        The number of folds; halves 2 k and 2 k + 1 are those of fold k.
    groups : ndarray of int of shape (n,), optional
        Rows of the same group stay together.
    random_state : int
        The seed.

    Examples
    --------
    >>> np.bincount(deal_rows(100, 5, None, 0)).tolist()
    [10, 10, 10, 10, 10, 10, 10, 10, 10, 10]
    """
    units = n if groups is None else int(groups.max()) + 1
    dealt = np.random.default_rng([random_state, 23]).permutation(units) % (2 * n_folds)
    return dealt if groups is None else dealt[groups]
