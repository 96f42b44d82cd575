"""The rows of a table, ready to be compared column by column: codes, folds, features, and sums of products."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from correspondence._util.arguments import check_weights, count_observations, find_user_stacklevel
from correspondence._util.text import list_names, short_repr
from correspondence._util.user_warnings import CorrespondenceWarning, LeftOut
from correspondence.association.coded_columns import CodedColumn, code_columns, warn_of_left_out
from correspondence.association.fold_products import CodedRows, EqualWidths, deal_rows, sum_products
from correspondence.association.given_columns import GivenColumns, read_given
from correspondence.association.level_features import LevelFeatures
from correspondence.association.pair_moments import RowSums, sum_pairs
from correspondence.association.permutation_moments import ColumnSums
from correspondence.data.copies import Copies, is_duplicates, resolve_groups

__all__ = ["MemoryRows", "PairTest", "check_column_number", "read_rows"]

MIN_ROWS = 10
MIN_DIFFERENT_ROWS = 15  # copies are not put together if fewer rows remain
MAX_TOTAL_WEIGHT = 1e15  # rows; more cannot be counted exactly
MAX_REPEATED_ROWS = 20_000_000  # up to which whole weights are repetitions
MAX_EXACT_WORK = 2e8  # multiplications up to which products are computed in double precision


@dataclass(frozen=True, eq=False)
class MemoryRows:
    """The columns of a table in memory, and its rows as codes, dealt out to the halves of folds.

    Attributes
    ----------
    columns : list of CodedColumn
        The columns that take part, with the codes of the rows that do.
    left_out : dict
        The name of each column that takes no part leads to the reason.
    parts : ndarray of int of shape (n,)
        The half of a fold that each row is dealt to.
    n_folds : int
        The number of folds.
    missing : str
        See `associations`.
    weights : ndarray of shape (n,), optional
        The weights of the rows, which sum to as many rows as say as much without weights; 1 each by default.
    weight_unit : float
        The given weight of one of these rows.
    groups : ndarray of int of shape (n,), optional
        Rows of the same group are held out together, and one of them counts in tests; each row is one by default.
    given : GivenColumns, optional
        What is given in these rows.
    notes : tuple of str
        What was decided about the rows.
    originals : ndarray of int, optional
        One of each row, if whole weights repeat some.
    """

    columns: list[CodedColumn]
    left_out: Mapping[Any, str]
    parts: np.ndarray
    n_folds: int
    missing: str
    weights: np.ndarray | None = None
    weight_unit: float = 1.0
    groups: np.ndarray | None = None
    given: GivenColumns | None = None
    notes: tuple[str, ...] = ()
    originals: np.ndarray | None = None

    @property
    def different(self) -> np.ndarray | None:
        """One of each row that whole weights or copies repeat, or of each group; None for all rows."""
        return self.originals if self.firsts is None else self.firsts

    @cached_property
    def firsts(self) -> np.ndarray | None:
        """The rows that count in tests, one of each group; None if all do."""
        return None if self.groups is None else Copies(self.groups).firsts

    @property
    def n(self) -> float:
        """The number of rows, or how many rows without weights say as much."""
        return float(len(self.parts) if self.weights is None else self.weights.sum())

    @property
    def total_weight(self) -> float:
        """The number of rows, or their weight."""
        return self.n * self.weight_unit

    @cached_property
    def counts(self) -> list[np.ndarray]:
        """The weight of the rows at each level of each column, in each half of each fold."""
        return [self._count_levels(own) for own in self.columns]

    def _count_levels(self, column: CodedColumn) -> np.ndarray:
        size = column.n_levels
        cells = np.bincount(self.parts * size + column.codes, self.weights, 2 * self.n_folds * size)
        return cells.reshape(-1, size).astype(np.float64)

    @cached_property
    def has_gaps(self) -> list[bool]:
        """Which columns have missing values that say nothing."""
        pairs = zip(self.columns, self.counts, strict=True)
        return [own.has_silent_gaps(self.missing) and bool(counts[:, own.missing].any()) for own, counts in pairs]

    @cached_property
    def features(self) -> list[LevelFeatures]:
        """The features of the columns."""
        pairs = zip(self.columns, self.counts, strict=True)
        return [column.make_features(counts.sum(axis=0), self.missing) for column, counts in pairs]

    @cached_property
    def cells(self) -> CodedRows:
        """The codes in the order of the folds."""
        order = np.argsort(self.parts, kind="stable")
        bounds = np.searchsorted(self.parts[order], np.arange(2 * self.n_folds + 1))
        weights = None if self.weights is None else self.weights[order]
        return CodedRows([own.codes[order] for own in self.columns], bounds, weights)

    @cached_property
    def dtype(self) -> type:
        """The type of numbers in which products are summed."""
        width = sum(own.width for own in self.features)
        return np.float64 if len(self.parts) * width**2 <= MAX_EXACT_WORK else np.float32

    def sum_products(self, x: EqualWidths, y: EqualWidths) -> np.ndarray:
        """Sum the products of the features of two blocks in each fold; see `fold_products.sum_products`."""
        return sum_products(self.cells, x, y, self.dtype)

    def sum_pairs(self, x: EqualWidths, y: EqualWidths) -> tuple[RowSums, RowSums]:
        """Sum the features of two blocks over the rows in which both are given; see `pair_moments.sum_pairs`."""
        return sum_pairs(self.cells, x, y, (self._find_known(x), self._find_known(y)), self.dtype)

    def _find_known(self, block: EqualWidths) -> np.ndarray:
        if not block.has_gaps:
            return np.ones((len(self.parts), 1), dtype=bool)
        return np.column_stack([self.cells.codes[j] != self.columns[j].missing for j in block.columns.tolist()])

    @cached_property
    def test(self) -> PairTest:
        """The test of pairs of columns, on one row of each group."""
        if self.firsts is None:
            return PairTest(self.n, self.features, [own.sum(axis=0) for own in self.counts])
        rows = self.take_firsts()
        return PairTest(rows.n, rows.features, [own.sum(axis=0) for own in rows.counts], rows)

    def take_firsts(self) -> MemoryRows:
        """Keep one row of each group, all in one fold."""
        kept = np.arange(len(self.parts)) if self.firsts is None else self.firsts
        columns = [own.take_rows(kept) for own in self.columns]
        weights = None if self.weights is None else scale_weights(self.weights[kept])
        parts = np.zeros(len(kept), dtype=int)
        return replace(self, columns=columns, parts=parts, n_folds=1, weights=weights, groups=None, originals=None)

    def count_pairs(self) -> np.ndarray:
        """Count the rows in which both columns of each pair are given."""
        if all(own.missing < 0 for own in self.columns):
            return np.full((len(self.columns), len(self.columns)), self.total_weight)
        given = np.column_stack([own.codes != own.missing for own in self.columns]).astype(np.float32)
        weighted = given if self.weights is None else given * (self.weights * self.weight_unit)[:, None]
        return np.asarray(weighted.T @ given, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class PairTest:
    """What a test of pairs of columns needs.

    Attributes
    ----------
    n : float
        The number of rows, or how many rows without weights say as much.
    features : list of LevelFeatures
        The features of all columns, orthonormal over these rows.
    counts : list of ndarray of shape (levels,)
        The weights of the levels, n in all.
    rows : MemoryRows, optional
        The rows, if they are not all rows of the table.
    """

    n: float
    features: list[LevelFeatures]
    counts: list[np.ndarray]
    rows: MemoryRows | None = None

    @cached_property
    def sums(self) -> ColumnSums:
        """The sums of all columns, from which the moments of the statistics follow."""
        pairs = zip(self.features, self.counts, strict=True)
        return ColumnSums.stack([ColumnSums.from_features(f.table, c, f.smoothness) for f, c in pairs])

    def choose_block(self, block: EqualWidths) -> EqualWidths:
        """Return the same columns with the features of these rows."""
        if self.rows is None:
            return block
        features = [self.features[j] for j in block.columns.tolist()]
        width = max(block.width, *(own.width for own in features))
        return EqualWidths(block.columns, features, [self.counts[j][None] for j in block.columns.tolist()], width)

    def compute_covariances(self, products: np.ndarray, total: float, x: EqualWidths, y: EqualWidths) -> np.ndarray:
        """Compute the covariances of the features of two blocks that `choose_block` returned.

        Parameters
        ----------
        products : ndarray
            The products of the features of all rows, in each fold.
        total : float
            The weight of all rows.
        x, y : EqualWidths
            The columns.
        """
        if self.rows is not None:
            products, total = self.rows.sum_products(x, y), self.n
        return products.sum(axis=0, dtype=np.float64) / total

    def find_two_answers(self, block: EqualWidths) -> tuple[np.ndarray, np.ndarray]:
        """Return how many rows gave the rarer of two answers, 0 where there are not two, and its sign."""
        rows, signs = np.zeros(len(block.columns), dtype=np.int64), np.ones(len(block.columns))
        for i, (j, features) in enumerate(zip(block.columns.tolist(), block.features, strict=True)):
            given = np.flatnonzero(self.counts[j] > 0)
            if len(given) == 2 and features.width == 1:
                rarer = given[np.argmin(self.counts[j][given])]
                rows[i], signs[i] = np.rint(self.counts[j][rarer]), np.sign(features.table[rarer, 0])
        return rows, signs


def read_rows(
    frame: Any, given: Any, sample_weight: Any, cv: int, groups: Any, missing: str, random_state: int
) -> MemoryRows:
    """Read a table in memory; see `associations` for the parameters."""
    n = count_observations(frame, "frame")
    if sample_weight is None and n < max(MIN_ROWS, 2 * cv):
        raise ValueError(f"frame must have at least {max(MIN_ROWS, 2 * cv)} rows for {cv} folds, got {n}.")
    weights = None if sample_weight is None else check_weights(sample_weight, n, "sample_weight")
    known = None if given is None else read_given(given, frame)
    inside: frozenset[Any] = frozenset() if known is None else known.inside
    columns, left_out = code_columns(frame, weights if weights is not None and are_whole(weights) else None, inside)
    together, notes = read_groups(groups, frame, None if known is None or inside else known.data, sample_weight)
    kept, more = select_rows(columns, missing, n)
    if known is not None:
        kept, of_given = known.select_rows(kept, missing)
        more = (*more, *of_given)
    kept, weights = select_weighted(kept, weights)
    columns = [own.take_rows(kept) for own in columns]
    columns, left_out = leave_out_constants(columns, left_out)
    check_column_number(columns, {**left_out, **dict.fromkeys(inside, "given")})
    if len(kept) < max(MIN_ROWS, 2 * cv):
        raise ValueError(
            f"frame must have at least {max(MIN_ROWS, 2 * cv)} rows for {cv} folds that take part, got {len(kept)}. "
            "Choose another value of missing, or other weights."
        )
    own_groups = None if together is None else np.unique(together[kept], return_inverse=True)[1]
    if own_groups is not None and own_groups.max() + 1 < 2 * cv:
        raise ValueError(
            f"groups must have at least {2 * cv} different values for {cv} folds, got {own_groups.max() + 1}."
        )
    parts = deal_rows(len(kept), cv, own_groups, random_state)
    scaled, unit = (None, 1.0) if weights is None else share_weights(weights)
    known = None if known is None else known.take_rows(kept)
    told, firsts = (*notes, *more), np.unique(kept, return_index=True)[1]
    originals = firsts if len(firsts) < len(kept) else None
    return MemoryRows(columns, left_out, parts, cv, missing, scaled, unit, own_groups, known, told, originals)


def select_weighted(kept: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Repeat rows as often as whole weights say; return the weights of the rows if they are others."""
    if weights is None:
        return kept, None
    if weights.sum() > MAX_TOTAL_WEIGHT:
        raise ValueError(
            f"sample_weight must sum to at most {MAX_TOTAL_WEIGHT:.0e}, got {weights.sum():.3g}. Divide it by a "
            "constant."
        )
    kept = repeat_rows(kept[weights[kept] > 0], weights)
    is_repeated = len(kept) and are_whole(weights[kept]) and weights.sum() <= MAX_REPEATED_ROWS
    return kept, None if is_repeated else weights[kept]


def share_weights(weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Scale weights to as many rows as say as much, and return the weight of one of these."""
    scaled = scale_weights(weights)
    if scaled.sum() < MIN_ROWS:
        raise ValueError(
            f"sample_weight must say as much as at least {MIN_ROWS} rows, got {scaled.sum():.3g}. Choose weights that "
            "are spread over more rows."
        )
    return scaled, float(weights.sum() / scaled.sum())


def check_column_number(columns: list[Any], left_out: Mapping[Any, str]) -> None:
    """Check that there are two columns to be compared."""
    if len(columns) < 2:
        names = [f"{short_repr(name)} ({kind})" for name, kind in left_out.items()]
        more = f"; not used: {list_names(names, 5, show=str)}" if names else ""
        raise ValueError(f"frame must have at least two columns that vary, got {len(columns)}{more}.")


def read_groups(groups: Any, frame: Any, given: Any, sample_weight: Any) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Read groups of rows, and warn of copies; rows with weights that were counted together are no copies."""
    if is_duplicates(groups) and sample_weight is not None:
        return None, ()
    together, copies = resolve_groups(groups, frame, given)
    if copies is None or not copies.n_copies:
        return together, ()
    text = f"{copies.describe()}."
    if copies.n_different < MIN_DIFFERENT_ROWS:
        together, text = None, f"{copies.describe_number()}, too few different ones to keep copies together."
    warnings.warn(text, CorrespondenceWarning, stacklevel=find_user_stacklevel())
    return together, (text,)


def select_rows(columns: list[CodedColumn], missing: str, n: int) -> tuple[np.ndarray, tuple[str, ...]]:
    """Find the rows that take part."""
    gaps = [own.codes == own.missing for own in columns if own.missing >= 0]
    if not gaps or missing in ("indicator", "average"):
        return np.arange(n), ()
    gone = np.logical_or.reduce(gaps)
    names = [own.name for own in columns if own.missing >= 0]
    if missing == "error":
        raise ValueError(
            f'frame must have no missing values if missing="error", got some in {int(gone.sum())} row(s), column(s) '
            f"{list_names(names, 5)}. Choose another value of missing."
        )
    if gone.all():
        raise ValueError('frame must have rows without missing values if missing="drop", got none.')
    text = f"{int(gone.sum()):,} of {n:,} rows are left out: they have missing values."
    warnings.warn(text, LeftOut, stacklevel=find_user_stacklevel())
    return np.flatnonzero(~gone), (text,)


def are_whole(weights: np.ndarray) -> bool:
    """Tell whether weights are numbers of rows."""
    return bool((weights == np.rint(weights)).all())


def repeat_rows(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Repeat rows as often as whole weights say; other weights stay weights."""
    own = weights[rows]
    if not are_whole(own) or own.sum() > MAX_REPEATED_ROWS:
        return rows
    return np.repeat(rows, own.astype(np.int64))


def scale_weights(weights: np.ndarray) -> np.ndarray:
    """Scale weights so that they sum to the number of rows without weights that say as much (Kish).

    Examples
    --------
    >>> scale_weights(np.array([0.5, 0.5, 0.5])).tolist(), float(scale_weights(np.array([1.0, 3.0])).sum())
    ([1.0, 1.0, 1.0], 1.6)
    """
    return weights * float(weights.sum() / (weights**2).sum())


def leave_out_constants(
    columns: list[CodedColumn], left_out: Mapping[Any, str]
) -> tuple[list[CodedColumn], dict[Any, str]]:
    """Leave out columns that do not vary among the rows that take part."""
    gone = {own.name: "constant" for own in columns if np.ptp(own.codes) == 0}
    if gone:
        warn_of_left_out({"constant": list(gone)})
    return [own for own in columns if own.name not in gone], {**left_out, **gone}
