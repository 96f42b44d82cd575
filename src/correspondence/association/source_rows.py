"""Columns of files and lazy frames, read in batches, twice: what they hold, then sums of products of their features.

Numbers are put into bins by a sample of rows that does not depend on how they are read; everything else is exact.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import narwhals as nw
import numpy as np
from scipy.linalg import block_diag

from correspondence._util.text import short_repr
from correspondence._util.threads import count_threads, limit_blas_threads, run_in_threads
from correspondence.association.coded_columns import (
    KINDS_OF_LABELS,
    KINDS_OF_NUMBERS,
    CodedColumn,
    find_bin_edges,
    merge_rare_levels,
    warn_of_left_out,
    warn_of_merged,
)
from correspondence.association.column_rows import MIN_ROWS, PairTest, check_column_number
from correspondence.association.fold_products import EqualWidths
from correspondence.association.level_features import LevelFeatures, orthonormalise
from correspondence.association.pair_moments import RowSums
from correspondence.association.source_gaps import SumsBeside, add_constant, sum_beside_gaps
from correspondence.data.answers import list_answers
from correspondence.data.column_kinds import decide_column_kind
from correspondence.data.column_reading import read_series, to_numbers
from correspondence.data.column_summary import Extent, Summary, draw_rows, measure_extent, merge_column_summaries
from correspondence.data.pairs.opening import open_source, translate_engine_errors
from correspondence.data.pairs.pairs import Pairs

__all__ = ["SourceRows", "read_source_rows"]

MAX_COUNTED_LABELS = 20_000  # different labels of a column, beyond which it is taken for ids
MAX_FEATURES = 3000  # of all columns, so that the sums of their products fit into memory
ROWS_PER_STEP = 4096  # whose features stay in a core's cache


@dataclass(frozen=True, eq=False)
class ColumnSketch:
    """What is known of a column after some batches.

    Attributes
    ----------
    summary : Extent or dict
        The extent of its numbers, or how often each label occurs.
    sample : ndarray, optional
        Some of its numbers.
    """

    summary: Summary
    sample: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class LevelReader:
    """How the values of a column become codes.

    Attributes
    ----------
    column : CodedColumn
        The column, without codes.
    edges : ndarray
        The edges of the bins of numbers.
    codes : dict, optional
        The code of each label.
    """

    column: CodedColumn
    edges: np.ndarray
    codes: Mapping[Any, int] | None = None

    def read(self, series: nw.Series) -> np.ndarray:
        """Read some rows."""
        column = self.column
        if self.codes is not None:
            found, different, _ = list_answers(series, str(column.name))
            places = np.array([*(self.codes[label] for label in different.tolist()), column.missing], dtype=np.int16)
            return places[found]
        numbers = to_numbers(read_series(series, f"Column {short_repr(column.name)} of frame", column.name))
        codes = np.searchsorted(self.edges, numbers, side="right").astype(np.int16)
        if column.missing >= 0:
            codes[np.isnan(numbers)] = column.missing
        return codes


@dataclass(frozen=True, eq=False)
class BatchSums:
    """What is kept of rows: counts of the levels of each column in each half of a fold, and sums of products."""

    counts: list[np.ndarray]
    products: np.ndarray
    given: np.ndarray
    beside: list[np.ndarray]

    def add(self, other: BatchSums) -> BatchSums:
        """Add those of other rows, in place."""
        for own, more in zip([*self.counts, *self.beside], [*other.counts, *other.beside], strict=True):
            own += more
        self.products[:] += other.products
        self.given[:] += other.given
        return self


@dataclass(frozen=True, eq=False)
class SourceRows:
    """The columns of a source, and all that is needed of its rows; see `MemoryRows`.

    Attributes
    ----------
    columns : list of CodedColumn
        The columns that take part, without codes.
    left_out : dict
        The name of each column that takes no part leads to the reason.
    features : list of LevelFeatures
        The features of the columns, orthonormal over all rows.
    counts : list of ndarray of shape (2 folds, levels)
        The number of rows at each level, in each half of each fold.
    products : ndarray of shape (folds, p, p)
        The sums of products of all features.
    pair_counts : ndarray of shape (k, k)
        The number of rows in which both columns of each pair have values.
    beside : SumsBeside
        The sums of each column where another is given.
    missing : {"average", "indicator"}
        See `associations`.
    notes : tuple of str
        What was decided about the rows.
    given : None
        Nothing can be given for a table that is not in memory.
    """

    columns: list[CodedColumn]
    left_out: Mapping[Any, str]
    features: list[LevelFeatures]
    counts: list[np.ndarray]
    products: np.ndarray
    pair_counts: np.ndarray
    beside: SumsBeside
    missing: str
    notes: tuple[str, ...] = ()
    given: None = None

    @property
    def n(self) -> float:
        """The number of rows."""
        return float(self.counts[0].sum())

    @property
    def total_weight(self) -> float:
        """The number of rows, which have no weights."""
        return self.n

    @cached_property
    def starts(self) -> np.ndarray:
        """The place of the first feature of each column."""
        return np.cumsum([0, *(own.width for own in self.features)])

    def sum_products(self, x: EqualWidths, y: EqualWidths) -> np.ndarray:
        """Return the sums of products of the features of two blocks; see `fold_products.sum_products`."""
        total = np.zeros((len(self.products), len(x.columns), x.width, len(y.columns), y.width))
        for i, j in enumerate(x.columns.tolist()):
            rows = slice(self.starts[j], self.starts[j + 1])
            for k, m in enumerate(y.columns.tolist()):
                own = self.products[:, rows, self.starts[m] : self.starts[m + 1]]
                total[:, i, : own.shape[1], k, : own.shape[2]] = own
        return total

    @property
    def has_gaps(self) -> list[bool]:
        """Which columns have missing values that say nothing."""
        return [own.has_silent_gaps(self.missing) for own in self.columns]

    def sum_pairs(self, x: EqualWidths, y: EqualWidths) -> tuple[RowSums, RowSums]:
        """Sum the features of two blocks over the rows in which both are given; see `pair_moments.sum_pairs`."""
        return self.beside.sum_pairs(x, y)

    @cached_property
    def test(self) -> PairTest:
        """The test of pairs of columns."""
        return PairTest(self.n, self.features, [own.sum(axis=0) for own in self.counts])

    def count_pairs(self) -> np.ndarray:
        """Count the rows in which both columns of each pair are given."""
        return self.pair_counts


def read_source_rows(X: Any, cv: int, missing: str, random_state: int) -> SourceRows:
    """Read a source in two passes; see `associations` for the parameters."""
    if missing not in ("indicator", "average"):
        raise ValueError(
            f'missing must be "indicator" or "average" for a table that is not in memory, got {missing!r}.'
        )
    source = X.source if isinstance(X, Pairs) else X
    with translate_engine_errors("frame"):
        names = list(open_source(source, "frame").collect_schema())
    if isinstance(X, Pairs):
        sides = [[side] if isinstance(side, str) else list(side) for side in (X.x, X.y)]
        names = list(dict.fromkeys(sides[0] + sides[1]))
    pairs = Pairs(source, x=names, y=names[0])
    with translate_engine_errors("frame"):
        n = pairs.layout.n
        if n < max(MIN_ROWS, 2 * cv):
            raise ValueError(f"frame must have at least {max(MIN_ROWS, 2 * cv)} rows for {cv} folds, got {n}.")
        sketches = pairs.sums(partial(_sketch_columns, n), _merge_sketches, "columns")
        readers, left_out = _make_readers(sketches[0], n)
        columns = [reader.column for reader in readers]
        check_column_number(columns, left_out)
        first = [reader.column.make_features(own, missing) for reader, own in _pair_up(readers, sketches[0])]
        width = sum(own.width for own in first)
        if width > MAX_FEATURES:
            raise ValueError(
                f"frame must have at most {MAX_FEATURES:,} features in all columns if it is not in memory, "
                f"got {width:,}. Leave columns out, or read it into memory."
            )
        add = partial(_sum_batch, readers, first, cv, random_state, missing)
        sums: BatchSums = pairs.sums(add, _merge_sums, "pairs of columns")[0]
    return _finish(columns, left_out, first, sums, missing)


def _sketch_columns(total: int, table: Any, y: Any, start: int) -> list[dict[str, ColumnSketch]]:
    """Summarise the columns of some rows, and keep a sample of numbers."""
    found = {}
    for series in nw.from_native(table, eager_only=True).iter_columns():
        dtype = series.dtype
        if dtype.is_numeric() or dtype.is_temporal():
            values = read_series(series, f"Column {short_repr(series.name)} of frame", series.name)
            if values.dtype != object:
                rows = draw_rows(start, len(values), total)
                found[series.name] = ColumnSketch(measure_extent(values), to_numbers(values[rows]))
                continue
        codes, different, _ = list_answers(series, series.name)
        counts = dict(
            zip(different.tolist(), np.bincount(codes[codes >= 0], minlength=len(different)).tolist(), strict=True)
        )
        if (codes < 0).any():
            counts[None] = int((codes < 0).sum())
        found[series.name] = ColumnSketch(counts)
    return [found]


def _merge_sketches(parts: Sequence[list[dict[str, ColumnSketch]]]) -> list[dict[str, ColumnSketch]]:
    found = [part for own in parts for part in own]
    if len(found) < 2:
        return found
    return [{name: _merge_column([part[name] for part in found], name) for name in found[0]}]


def _merge_column(parts: list[ColumnSketch], name: str) -> ColumnSketch:
    samples = [part.sample for part in parts if part.sample is not None]
    if all(isinstance(part.summary, dict) for part in parts):
        counts: Counter[Any] = Counter()
        for part in parts:
            counts.update(part.summary if isinstance(part.summary, dict) else {})
        if len(counts) > MAX_COUNTED_LABELS:  # one count stands for all of them
            counts = Counter(dict(counts.most_common(MAX_COUNTED_LABELS + 1)))
        return ColumnSketch(dict(counts))
    merged = merge_column_summaries([part.summary for part in parts], name, "frame")
    return ColumnSketch(merged, np.concatenate(samples) if samples else None)


def _make_readers(sketches: dict[str, ColumnSketch], n: int) -> tuple[list[LevelReader], dict[Any, str]]:
    """Decide what each column is; say which are left out, and which labels share a level."""
    readers: list[LevelReader] = []
    left_out: dict[Any, str] = {}
    merged: dict[Any, int] = {}
    for name, sketch in sketches.items():
        kind = _decide_kind(name, sketch.summary, n)
        if isinstance(sketch.summary, Extent) and sketch.sample is not None and kind in (*KINDS_OF_NUMBERS, "label"):
            readers.append(_read_numbers(name, kind, sketch.summary, sketch.sample))
        elif isinstance(sketch.summary, dict) and kind in KINDS_OF_LABELS:
            reader, n_merged = _read_labels(name, kind, sketch.summary, n)
            readers.append(reader)
            merged |= {name: n_merged} if n_merged else {}
        else:
            left_out[name] = "text" if kind in KINDS_OF_NUMBERS else kind  # numbers that are written as texts
    warn_of_left_out({kind: [name for name, own in left_out.items() if own == kind] for kind in left_out.values()})
    warn_of_merged(merged)
    return readers, left_out


def _decide_kind(name: str, summary: Summary, n: int) -> str:
    if isinstance(summary, dict) and len(summary) > MAX_COUNTED_LABELS:
        return "many"
    return decide_column_kind(name, summary, n, is_alone=False, linear=True).kind


def _read_numbers(name: str, kind: str, extent: Extent, sample: np.ndarray) -> LevelReader:
    """Make the bins of a column of numbers from a sample, and from the least and the greatest of all."""
    edges = find_bin_edges(np.append(sample[~np.isnan(sample)], [extent.low, extent.high]))
    return LevelReader(_make_column(name, kind, len(edges) + 1, extent.n_missing > 0, is_number=True), edges)


def _read_labels(name: str, kind: str, summary: dict[Any, int], n: int) -> tuple[LevelReader, int]:
    """Make the levels of a column of labels, and say how many labels share one."""
    counts = {label: count for label, count in summary.items() if label is not None}
    places, levels, n_merged = merge_rare_levels(np.array(list(counts.values())), n)
    column = _make_column(name, kind, levels, None in summary, is_number=False)
    return LevelReader(column, np.empty(0), dict(zip(counts, places.tolist(), strict=True))), n_merged


def _make_column(name: str, kind: str, levels: int, has_gaps: bool, is_number: bool) -> CodedColumn:
    no_codes = np.empty(0, dtype=np.int16)
    return CodedColumn(name, kind, no_codes, levels + has_gaps, levels if has_gaps else -1, is_number)


def _pair_up(readers: list[LevelReader], sketches: dict[str, ColumnSketch]) -> list[tuple[LevelReader, np.ndarray]]:
    """Return the counts of the levels of each column, of numbers those of the sample."""
    found = []
    for reader in readers:
        sketch, column = sketches[reader.column.name], reader.column
        counts = np.zeros(column.n_levels)
        if reader.codes is not None and isinstance(sketch.summary, dict):
            for label, count in sketch.summary.items():
                counts[column.missing if label is None else reader.codes[label]] += count
        elif sketch.sample is not None:
            is_missing = np.isnan(sketch.sample)
            counts += np.bincount(
                np.searchsorted(reader.edges, sketch.sample[~is_missing], side="right"), minlength=len(counts)
            )
            counts[column.missing] += is_missing.sum() if column.missing >= 0 else 0
        found.append((reader, np.maximum(counts, 0.5)))
    return found


def _sum_batch(
    readers: list[LevelReader],
    features: list[LevelFeatures],
    cv: int,
    seed: int,
    missing: str,
    table: Any,
    y: Any,
    start: int,
) -> list[BatchSums]:
    """Sum what is needed of some rows, dealt out at random to the halves of the folds."""
    frame = nw.from_native(table, eager_only=True)
    n = len(frame)
    parts = np.sort(np.random.default_rng([seed, 23, start]).integers(2 * cv, size=n))
    order = np.random.default_rng([seed, 24, start]).permutation(n)
    read = partial(_read_codes, frame, order)
    codes = [own for some in run_in_threads(read, _cut(readers)) for own in some]
    counts = [
        np.bincount(parts * r.column.n_levels + own, minlength=2 * cv * r.column.n_levels).reshape(2 * cv, -1) * 1.0
        for r, own in zip(readers, codes, strict=True)
    ]
    bounds = np.searchsorted(parts, 2 * np.arange(cv + 1))
    folds = [slice(*bounds[fold : fold + 2].tolist()) for fold in range(cv)]
    tables = [own.table.astype(np.float32) for own in features]
    with limit_blas_threads(True):
        found = run_in_threads(partial(_multiply_rows, codes, tables), _cut(folds))
    given = np.column_stack([own != r.column.missing for r, own in zip(readers, codes, strict=True)])
    both, has_gaps = given.astype(np.float32), [r.column.has_silent_gaps(missing) for r in readers]
    constant = [add_constant(f.table, r.column, g) for f, r, g in zip(features, readers, has_gaps, strict=True)]
    bounds = np.searchsorted(parts, np.arange(2 * cv + 1)).tolist()
    halves = [slice(*own) for own in itertools.pairwise(bounds)]
    beside = sum_beside_gaps(codes, constant, both[:, has_gaps], halves)
    return [BatchSums(counts, np.concatenate(found), (both.T @ both).astype(np.float64), beside)]


def _cut(items: list[Any]) -> list[list[Any]]:
    """Cut a list into one part for each thread."""
    bounds = np.linspace(0, len(items), min(count_threads(), len(items)) + 1).astype(int).tolist()
    return [items[start:stop] for start, stop in itertools.pairwise(bounds)]


def _read_codes(frame: nw.DataFrame, order: np.ndarray, readers: list[LevelReader]) -> list[np.ndarray]:
    return [reader.read(frame[reader.column.name])[order] for reader in readers]


def _multiply_rows(codes: list[np.ndarray], tables: list[np.ndarray], folds: list[slice]) -> np.ndarray:
    """Sum the products of the features over the rows of some folds."""
    starts = np.cumsum([0, *(table.shape[1] for table in tables)]).tolist()
    products = np.zeros((len(folds), starts[-1], starts[-1]))
    room = np.empty((ROWS_PER_STEP, starts[-1]), np.float32)
    for rows, total in zip(folds, products, strict=True):
        for begin in range(rows.start, rows.stop, ROWS_PER_STEP):
            some = slice(begin, min(begin + ROWS_PER_STEP, rows.stop))
            F = room[: some.stop - some.start]
            for own, levels, (first, last) in zip(codes, tables, itertools.pairwise(starts), strict=True):
                F[:, first:last] = levels[own[some]]
            total += F.T @ F
    return products


def _merge_sums(parts: Sequence[list[BatchSums]]) -> list[BatchSums]:
    total: list[BatchSums] = []
    for part in (own for parts_of in parts for own in parts_of):
        total = [total[0].add(part)] if total else [part]
    return total


def _finish(
    columns: list[CodedColumn],
    left_out: Mapping[Any, str],
    first: list[LevelFeatures],
    sums: BatchSums,
    missing: str,
) -> SourceRows:
    """Make features orthonormal over all rows, as those of a sample nearly are, and turn the sums into theirs."""
    features, turns, means = [], [], []
    has_gaps = [own.has_silent_gaps(missing) for own in columns]
    for own, counts, column, gaps in zip(first, sums.counts, columns, has_gaps, strict=True):
        share = counts.sum(axis=0) / counts.sum()
        given = ~column.is_missing if gaps else np.ones(len(share), dtype=bool)
        table = orthonormalise(own.table, share, given)
        width = table.shape[1]
        features.append(LevelFeatures(table, own.smoothness[:width], own.target[:width]))
        means.append((share * given) @ own.table / share[given].sum())
        root = np.sqrt(share * given)[:, None]
        turns.append(np.linalg.lstsq(root * (own.table - means[-1]), root * table, rcond=None)[0])
    # Sums of products of centred features, fold by fold, and then of the combinations that are orthonormal.
    constant = [add_constant(f.table, column, g) for f, column, g in zip(first, columns, has_gaps, strict=True)]
    beside = SumsBeside.from_sums(sums.beside, constant, sums.counts, has_gaps)
    turn = block_diag(*turns)
    products = turn.T @ beside.centre_products(sums.products, means) @ turn
    beside = beside.change_features(means, turns)
    return SourceRows(columns, left_out, features, sums.counts, products, sums.given, beside, missing)
