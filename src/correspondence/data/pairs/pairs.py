"""Pairs (x, y) that are not in memory: files, or frames of an engine, and which of their columns are x and y."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from correspondence._util.progress import make_progress_bar
from correspondence._util.text import list_names
from correspondence.data.pairs.arrow_tables import ROWS_PER_BATCH, apply_to_sides, read_tables, select_side
from correspondence.data.pairs.on_dask import map_dask
from correspondence.data.pairs.on_spark import map_spark
from correspondence.data.pairs.opening import (
    are_files,
    is_spark,
    list_files,
    open_source,
    select_column,
    translate_engine_errors,
)

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Layout", "Memory", "Pairs", "Parts", "check_source", "is_source"]

Function = Callable[[Any, Any, int], Any]
Merge = Callable[[list[Any]], Any]


def check_source(pairs: Pairs, Y: Any = None, sample_weight: Any = None) -> None:
    """Pairs as anything but a table of counts takes them: alone, and without weights."""
    if Y is not None:
        raise ValueError("Y cannot be given with Pairs, which have both variables: leave it out.")
    if sample_weight is not None or pairs.weights is not None:
        raise ValueError("Weights of Pairs are for CA only: leave them out, or repeat rows.")


@dataclass(frozen=True)
class Layout:
    """How rows are parted.

    Attributes
    ----------
    n : int
        Number of all rows.
    starts : dict, optional
        Number of the first row, and how many rows, of each partition by its number; None if all but the last have
        `BATCH` rows.
    """

    n: int
    starts: dict[int, tuple[int, int]] | None = None

    def find_first_row(self, number: int, rows: int) -> int:
        """Number of the first row of a partition, which must have as many rows as at the first reading."""
        before = min(number * ROWS_PER_BATCH, self.n)
        start, expected = (before, min(ROWS_PER_BATCH, self.n - before)) if self.starts is None else self.starts[number]
        _check_same_rows(rows == expected)
        return start


def _check_same_rows(is_same: bool) -> None:
    if not is_same:
        raise ValueError(
            "source gave other rows when it was read again: write it to files, or persist it, and give those."
        )


class Parts(ABC):
    """Pairs (x, y) in partitions, to each of which a function can be applied where it is."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """How many rows there are, and where each partition begins."""

    @abstractmethod
    def map(self, function: Function, text: str = "pairs") -> list[Any]:
        """What a function returns for x, y and the number of each partition.

        Parameters
        ----------
        function : callable
            Called with them.
        text : str
            What is being done, for the bar.

        Returns
        -------
        list
            In the order of the partitions.
        """

    @abstractmethod
    def sums(self, function: Function, merge: Merge, text: str = "pairs", numbered: bool = True) -> Any:
        """What a function returns for all rows, put together from what it returns for some at a time.

        Parameters
        ----------
        function : callable
            Called with x and y of some rows, and with the number of the first of them.
        merge : callable
            Makes one result of a list of results.
        text : str
            What is being done, for the bar.
        numbered : bool
            Whether the numbers matter: counting the rows of partitions on workers takes a pass over them.

        Returns
        -------
        object
            What `merge` makes of all.
        """

    @abstractmethod
    def through(self, x_function: Callable[[Any], Any], y_function: Callable[[Any], Any]) -> Parts:
        """The same pairs, each side passed through a function.

        Parameters
        ----------
        x_function, y_function : callable
            Called with x, or y, of some rows.

        Returns
        -------
        Parts
            Nothing is computed yet, unless they are in memory.
        """

    def each(self, function: Callable[[Any, Any], Any]) -> list[Any]:
        """What a function returns for x and y of some rows at a time.

        Parameters
        ----------
        function : callable
            Called with x and y.

        Returns
        -------
        list
            In the order of the rows.
        """
        return self.sums(partial(_call_without_number, function), _join_lists, numbered=False)


def _call_without_number(function: Callable[[Any, Any], Any], x: Any, y: Any, first: int) -> list[Any]:
    return [function(x, y)]


def _join_lists(parts: list[list[Any]]) -> list[Any]:
    return [result for part in parts for result in part]


class Memory(Parts):
    """Pairs in memory: a single partition."""

    def __init__(self, x: Any, y: Any, n: int) -> None:
        self.x, self.y, self._layout = x, y, Layout(n, {0: (0, n)})

    @property
    def layout(self) -> Layout:  # noqa: D102
        return self._layout

    def map(self, function: Function, text: str = "pairs") -> list[Any]:  # noqa: D102
        return [function(self.x, self.y, 0)]

    def sums(self, function: Function, merge: Merge, text: str = "pairs", numbered: bool = True) -> Any:  # noqa: D102
        return merge(self.map(function))

    def through(self, x_function: Callable[[Any], Any], y_function: Callable[[Any], Any]) -> Memory:
        """The same pairs, each side passed through a function, once."""
        return Memory(x_function(self.x), y_function(self.y), self.layout.n)


class _Through(Parts):
    """Pairs whose sides are passed through functions each time they are read, some rows at a time."""

    def __init__(self, parts: Parts, x_function: Callable[[Any], Any], y_function: Callable[[Any], Any]) -> None:
        self.parts, self.functions = parts, (x_function, y_function)

    @property
    def layout(self) -> Layout:
        return self.parts.layout

    def map(self, function: Function, text: str = "pairs") -> list[Any]:
        return self.parts.map(partial(_call_composed, function, *self.functions), text)

    def sums(self, function: Function, merge: Merge, text: str = "pairs", numbered: bool = True) -> Any:
        return self.parts.sums(partial(_call_composed, function, *self.functions), merge, text, numbered)

    def through(self, x_function: Callable[[Any], Any], y_function: Callable[[Any], Any]) -> Parts:
        return _Through(self, x_function, y_function)


def _call_composed(
    function: Function, x_function: Callable[[Any], Any], y_function: Callable[[Any], Any], x: Any, y: Any, number: int
) -> Any:
    return function(x_function(x), y_function(y), number)


class Pairs(Parts):
    """Pairs (x, y) in files or in a frame of any engine: every estimator's `fit` takes them in place of X and Y.

    Parameters
    ----------
    source : path, glob, list of paths, or frame
        Parquet or CSV files, which DuckDB reads out of core; a relation of DuckDB; a lazy frame of polars; a frame of
        Dask or of Spark; a frame in memory.
    x, y : str or list of str
        Columns of the two variables: a name for a single column (of labels or numbers), a list for a table.
    weights : str, optional
        Column with the weight of each pair, such as the counts of pairs that are counted already; for `CA` only.

    Notes
    -----
    Pairs are read anew each time they are needed, so a source must give the same rows in the same order every time: a
    query of DuckDB without an order that does not (a sample, a join on several threads) is best written to a file.
    Workers of Dask and executors of Spark need this package too (``PYSPARK_PYTHON`` is the Python of the latter).

    Examples
    --------
    >>> import polars as pl
    >>> import correspondence as co
    >>> frame = pl.LazyFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0], "label": ["u", "v", "u"]})
    >>> pairs = co.Pairs(frame, x=["a", "b"], y="label")
    >>> for x, y in pairs:
    ...     print(x.num_rows, y.to_pylist())
    3 ['u', 'v', 'u']
    >>> pairs.map(lambda x, y, number: len(y))
    [3]
    """

    def __init__(self, source: Any, x: str | Sequence[str], y: str | Sequence[str], weights: str | None = None) -> None:
        self.source, self.x, self.y, self.weights = source, x, y, weights
        self._reading: Generator[pa.Table, None, None] | None = None
        self.frame.collect_schema()  # so that a wrong path or name is told here

    def __repr__(self) -> str:
        weights = "" if self.weights is None else f", weights={self.weights!r}"
        source = repr(self.source) if are_files(self.source) else self.frame.implementation.value
        return f"Pairs({source}, x={self.x!r}, y={self.y!r}{weights})"

    @property
    def has_partitions(self) -> bool:
        """Whether the source has partitions of its own, on workers."""
        return _has_partitions(self.frame)

    def __iter__(self) -> Iterator[tuple[pa.Table | pa.ChunkedArray, pa.Table | pa.ChunkedArray]]:
        """Batches (x, y) of at most 65,536 rows, in order, read in this process: columns, or tables, of pyarrow."""
        for table in self.tables():
            yield select_side(table, self.x), select_side(table, self.y)

    def map(self, function: Function, text: str = "pairs") -> list[Any]:
        """Apply a function to each partition, where it is.

        Parameters
        ----------
        function : callable
            Called with x and y of a partition, columns or tables of pyarrow, and with its number 0, 1, ...; on the
            workers of Dask or Spark, which it is pickled for, or else in this process for each batch of 65,536 rows.
        text : str
            What is being done, for the bar.

        Returns
        -------
        list
            Of what it returned, in the order of the partitions. Those without rows are left out.
        """
        return self.map_tables(partial(apply_to_sides, function, self.x, self.y), text)

    def sums(self, function: Function, merge: Merge, text: str = "pairs", numbered: bool = True) -> Any:  # noqa: D102
        if self.has_partitions:
            return merge(self.map(partial(_reduce_partition, function, merge, self.layout if numbered else None), text))
        parts: list[Any] = []
        rows = 0
        with make_progress_bar(0, text) as done:
            for x, y in self:
                parts = [merge([*parts, function(x, y, rows)])]  # one at a time: there may be very many
                rows += len(x)
                done.update(len(x))
        if numbered:
            _check_same_rows(rows == self.layout.n)
        return merge(parts)

    def through(self, x_function: Callable[[Any], Any], y_function: Callable[[Any], Any]) -> Parts:  # noqa: D102
        return _Through(self, x_function, y_function)

    def map_tables(
        self, function: Callable[[pa.Table, int], Any], text: str = "pairs", keep: Sequence[str] = ()
    ) -> list[Any]:
        """As `map`, of a function of one table with all columns that are needed, and some more, and the number.

        Parameters
        ----------
        function : callable
            Called with a table of pyarrow and the number of the partition.
        text : str
            What is being done, for the bar.
        keep : list of str
            Columns beside x, y and weights.

        Returns
        -------
        list
            In the order of the partitions.
        """
        frame = self._open_columns(keep)
        if frame.implementation.is_dask():
            return map_dask(frame.to_native(), function, text)
        if _has_partitions(frame):
            return map_spark(frame.to_native(), function)
        results = []
        with make_progress_bar(0, text) as done:
            for number, table in enumerate(self.tables(keep)):
                results.append(function(table, number))
                done.update(table.num_rows)
        return results

    @cached_property
    def layout(self) -> Layout:
        """How many rows there are, and where each partition begins."""
        frame = self._open_columns()
        if not _has_partitions(frame):
            with translate_engine_errors("source"):
                return Layout(int(frame.select(nw.len()).collect().item()))
        lengths = dict(self.map_tables(_count_table_rows, "rows"))
        starts = np.cumsum([0, *lengths.values()]).tolist()
        return Layout(starts[-1], {k: (first, n) for (k, n), first in zip(lengths.items(), starts, strict=False)})

    @cached_property
    def frame(self) -> nw.LazyFrame:
        """The columns that are needed, not yet read."""
        return self._open_columns()

    @property
    def files(self) -> list[Path]:
        """Files that are read, if the source is files."""
        return [Path(file) for file in list_files(self.source, "source")] if are_files(self.source) else []

    def check_columns(self, keep: Sequence[str]) -> None:
        """Complain about columns that are not there.

        Parameters
        ----------
        keep : list of str
            Columns beside x, y and weights.
        """
        self._open_columns(keep)

    def _open_columns(self, keep: Sequence[str] = ()) -> nw.LazyFrame:
        """The columns that are needed, and some more; of files opened anew, so that several loops can read them."""
        names = [name for part in (self.x, self.y, self.weights or [], keep) for name in _as_list(part)]
        for argument, side in (("x", self.x), ("y", self.y)):
            if not _as_list(side):
                raise ValueError(f"{argument} must have at least one column, got {side!r}.")
        with translate_engine_errors("source"):
            frame = open_source(self.source)
            known = frame.collect_schema().names()
        for name in names:
            if not isinstance(name, str):
                raise ValueError(f"x, y and weights must be names of columns, or lists of names, got {name!r}.")
            if name not in known:
                shown = name if len(name) <= 60 else name[:59] + "…"
                raise ValueError(f"There is no column {shown!r} in source: it has {list_names(known, 20)}.")
        with translate_engine_errors("source"):
            return frame.select([select_column(frame, name).alias(name) for name in dict.fromkeys(names)])

    def tables(self, keep: Sequence[str] = ()) -> Iterator[pa.Table]:
        """Batches as tables with all columns that are needed, and some more.

        A relation of DuckDB can be read by one loop at a time: a new one ends those before.

        Parameters
        ----------
        keep : list of str
            Columns beside x, y and weights.

        Yields
        ------
        pyarrow.Table
            Of at most 65,536 rows.
        """
        frame = self._open_columns(keep)
        if not frame.implementation.is_duckdb():
            yield from read_tables(frame)
            return
        if self._reading is not None and not are_files(self.source):
            self._reading.close()
        mine = self._reading = read_tables(frame)
        while (table := _read_next_table(mine)) is not None:
            yield table
            if self._reading is not mine and not are_files(self.source):
                raise RuntimeError(
                    "source is a relation of DuckDB, which can be read by one loop at a time, and another began."
                )


def _read_next_table(tables: Iterator[pa.Table]) -> pa.Table | None:
    with translate_engine_errors("source"):
        return next(tables, None)


def _reduce_partition(function: Function, merge: Merge, layout: Layout | None, x: Any, y: Any, number: int) -> Any:
    """Sums over a partition, `BATCH` rows at a time: their features may take much more memory than they do."""
    first = 0 if layout is None else layout.find_first_row(number, len(x))
    total = function(x.slice(0, ROWS_PER_BATCH), y.slice(0, ROWS_PER_BATCH), first)
    for start in range(ROWS_PER_BATCH, len(x), ROWS_PER_BATCH):
        total = merge([total, function(x.slice(start, ROWS_PER_BATCH), y.slice(start, ROWS_PER_BATCH), first + start)])
    return total


def _has_partitions(frame: nw.LazyFrame) -> bool:
    return frame.implementation.is_dask() or is_spark(frame)


def _count_table_rows(table: pa.Table, number: int) -> tuple[int, int]:
    return number, table.num_rows


def is_source(values: Any) -> bool:
    """Whether pairs have yet to be read from it: `Pairs`, a path, a glob, or a frame that is lazy."""
    if isinstance(values, Pairs | str | Path):
        return True
    try:
        return isinstance(nw.from_native(values, pass_through=True), nw.LazyFrame)
    except DuplicateError:  # a frame in memory
        return False


def _as_list(names: Any) -> list[Any]:
    return list(names) if isinstance(names, list | tuple) else [names]
