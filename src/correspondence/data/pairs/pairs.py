"""Pairs (x, y) in files or in frames of an engine, and pairs in memory, behind one interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from correspondence._util.html_tables import HtmlTable
from correspondence._util.progress import make_progress_bar
from correspondence._util.text import list_names
from correspondence.data.pairs.arrow_tables import ROWS_PER_BATCH, read_tables, select_side
from correspondence.data.pairs.on_dask import map_dask
from correspondence.data.pairs.on_spark import map_spark
from correspondence.data.pairs.opening import (
    are_files,
    check_same_rows,
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
    """Check that Pairs are given without Y and without weights, as every method but `CA` takes them."""
    if Y is not None:
        raise ValueError("Y cannot be given with Pairs, which have both variables: leave it out.")
    if sample_weight is not None or pairs.weights is not None:
        raise ValueError("Weights of Pairs are for CA only: leave them out, or repeat rows.")


@dataclass(frozen=True)
class Layout:
    """The rows of each partition.

    Attributes
    ----------
    n : int
        There are n rows in all.
    starts : dict, optional
        The number of each partition leads to the number of its first row and how many rows it has; None if all
        partitions but the last have `ROWS_PER_BATCH` rows.
    """

    n: int
    starts: dict[int, tuple[int, int]] | None = None

    def find_first_row(self, number: int, rows: int) -> int:
        """Find the first row of a partition, which must have as many rows as at the first reading."""
        before = min(number * ROWS_PER_BATCH, self.n)
        start, expected = (before, min(ROWS_PER_BATCH, self.n - before)) if self.starts is None else self.starts[number]
        check_same_rows(rows == expected)
        return start


class Parts(ABC):
    """Pairs (x, y) in partitions; a function can be applied to each partition where it is."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """How many rows there are, and where each partition begins."""

    @abstractmethod
    def map(self, function: Function, text: str = "pairs") -> list[Any]:
        """Apply a function to each partition.

        Parameters
        ----------
        function : callable
            It is called with x, y and the number of the partition.
        text : str
            The progress bar shows this text.

        Returns
        -------
        list
            The results are in the order of the partitions.
        """

    @abstractmethod
    def sums(self, function: Function, merge: Merge, text: str = "pairs", numbered: bool = True) -> Any:
        """Apply a function to some rows at a time, and merge the results.

        Parameters
        ----------
        function : callable
            It is called with x and y of some rows, and with the number of the first of them.
        merge : callable
            It makes one result of a list of results.
        text : str
            The progress bar shows this text.
        numbered : bool
            If the row numbers do not matter, False saves a pass that counts the rows of partitions on workers.

        Returns
        -------
        object
            The merged result for all rows.
        """

    def through(self, x_function: Callable[[Any], Any], y_function: Callable[[Any], Any]) -> Parts:
        """Pass each side through a function.

        Parameters
        ----------
        x_function, y_function : callable
            They are called with x and y of some rows.

        Returns
        -------
        Parts
            The new pairs; nothing is computed yet, unless they are in memory.
        """
        return _Through(self, x_function, y_function)

    def each(self, function: Callable[[Any, Any], Any]) -> list[Any]:
        """Apply a function to x and y of some rows at a time.

        Parameters
        ----------
        function : callable
            It is called with x and y.

        Returns
        -------
        list
            The results are in the order of the rows.
        """
        return self.sums(lambda x, y, first: [function(x, y)], lambda parts: [*chain(*parts)], numbered=False)


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
        """Pass each side through a function, once."""
        return Memory(x_function(self.x), y_function(self.y), self.layout.n)


class _Through(Parts):
    """Pairs whose sides are passed through functions each time they are read, some rows at a time."""

    def __init__(self, parts: Parts, x_function: Callable[[Any], Any], y_function: Callable[[Any], Any]) -> None:
        self.parts, self.functions = parts, (x_function, y_function)

    @property
    def layout(self) -> Layout:
        return self.parts.layout

    def map(self, function: Function, text: str = "pairs") -> list[Any]:
        return self.parts.map(self._compose(function), text)

    def sums(self, function: Function, merge: Merge, text: str = "pairs", numbered: bool = True) -> Any:
        return self.parts.sums(self._compose(function), merge, text, numbered)

    def _compose(self, function: Function) -> Function:
        x_function, y_function = self.functions  # without self, which would be sent to workers too
        return lambda x, y, number: function(x_function(x), y_function(y), number)


class Pairs(Parts, HtmlTable):
    """Pairs (x, y) in files or in a frame of any engine: every estimator's `fit` takes them in place of X and Y.

    Parameters
    ----------
    source : path, glob, list of paths, or frame
        The pairs are in Parquet or CSV files, which DuckDB reads out of core; in a relation of DuckDB; in a lazy frame
        of polars; in a frame of Dask or Spark; or in a frame in memory.
    x, y : str or list of str
        These are the columns of the two variables: a name means one column (of labels or numbers), a list a table.
    weights : str, optional
        This column holds the weight of each pair, such as how often it was counted; for `CA` only.

    Notes
    -----
    Pairs are read each time they are needed, so a source must give the same rows in the same order every time. Write
    a DuckDB query that does not (a sample, a join on several threads, without an order) to a file first.
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
        self.frame.collect_schema()  # so that a wrong path or name is reported here

    def _collect_columns(self) -> dict[str, list[str]]:
        sides = {"x": self.x, "y": self.y, "weights": self.weights}
        parts = {side: [names] if isinstance(names, str) else list(names or ()) for side, names in sides.items()}
        kinds = self.frame.collect_schema()
        listed = [(side, name) for side, names in parts.items() for name in names]
        columns = {"side": [side for side, _ in listed], "column": [name for _, name in listed]}
        return columns | {"type": [str(kinds[name]) for name in columns["column"]]}

    def __repr__(self) -> str:
        weights = "" if self.weights is None else f", weights={self.weights!r}"
        source = repr(self.source) if are_files(self.source) else self.frame.implementation.value
        return f"Pairs({source}, x={self.x!r}, y={self.y!r}{weights})"

    @property
    def has_partitions(self) -> bool:
        """Whether the source has its own partitions, on workers."""
        return _has_partitions(self.frame)

    def __iter__(self) -> Iterator[tuple[pa.Table | pa.ChunkedArray, pa.Table | pa.ChunkedArray]]:
        """Read batches (x, y) of at most 65,536 rows in this process, in order, as columns or tables of pyarrow."""
        for table in self.tables():
            yield select_side(table, self.x), select_side(table, self.y)

    def map(self, function: Function, text: str = "pairs") -> list[Any]:
        """Apply a function to each partition, where it is.

        Parameters
        ----------
        function : callable
            It is called with x and y of a partition, columns or tables of pyarrow, and with its number 0, 1, ...:
            pickled, on the workers of Dask or Spark; otherwise in this process, for each batch of 65,536 rows.
        text : str
            The progress bar shows this text.

        Returns
        -------
        list
            The results are in the order of the partitions; those without rows are left out.
        """
        names_x, names_y = self.x, self.y  # without self, which would be sent to workers too
        return self.map_tables(
            lambda table, number: function(select_side(table, names_x), select_side(table, names_y), number), text
        )

    def sums(self, function: Function, merge: Merge, text: str = "pairs", numbered: bool = True) -> Any:  # noqa: D102
        if self.has_partitions:
            return merge(self.map(partial(_reduce_partition, function, merge, self.layout if numbered else None), text))
        parts: list[Any] = []
        rows = 0
        with make_progress_bar(0, text) as done:
            for x, y in self:
                parts = [merge([*parts, function(x, y, rows)])]  # merged at once: there may be very many
                rows += len(x)
                done.update(len(x))
        if numbered:
            check_same_rows(rows == self.layout.n)
        return merge(parts)

    def map_tables(
        self, function: Callable[[pa.Table, int], Any], text: str = "pairs", keep: Sequence[str] = ()
    ) -> list[Any]:
        """Apply a function to each partition as one table with all columns that are needed, and some more.

        Parameters
        ----------
        function : callable
            It is called with a table of pyarrow and the number of the partition.
        text : str
            The progress bar shows this text.
        keep : list of str
            The tables have these columns beside x, y and weights.

        Returns
        -------
        list
            The results are in the order of the partitions.
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
        lengths = dict(self.map_tables(lambda table, number: (number, table.num_rows), "rows"))
        starts = np.cumsum([0, *lengths.values()]).tolist()
        return Layout(starts[-1], {k: (first, n) for (k, n), first in zip(lengths.items(), starts, strict=False)})

    @cached_property
    def frame(self) -> nw.LazyFrame:
        """The columns that are needed, not yet read."""
        return self._open_columns()

    @property
    def files(self) -> list[Path]:
        """The files, if the source is files."""
        return [Path(file) for file in list_files(self.source, "source")] if are_files(self.source) else []

    def check_columns(self, keep: Sequence[str]) -> None:
        """Raise an error if a column is missing.

        Parameters
        ----------
        keep : list of str
            These columns are needed beside x, y and weights.
        """
        self._open_columns(keep)

    def _open_columns(self, keep: Sequence[str] = ()) -> nw.LazyFrame:
        """Open the columns that are needed, and some more; files are opened again, so several loops can read them."""
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
        """Read batches as tables with all columns that are needed, and some more.

        A relation of DuckDB can be read by one loop at a time: a new loop ends those before it.

        Parameters
        ----------
        keep : list of str
            The tables have these columns beside x, y and weights.

        Yields
        ------
        pyarrow.Table
            Each table has at most 65,536 rows.
        """
        frame = self._open_columns(keep)
        if not frame.implementation.is_duckdb():
            yield from read_tables(frame)
            return
        if self._reading is not None and not are_files(self.source):
            self._reading.close()
        mine = self._reading = read_tables(frame)
        while True:
            with translate_engine_errors("source"):
                table = next(mine, None)
            if table is None:
                return
            yield table
            if self._reading is not mine and not are_files(self.source):
                raise RuntimeError(
                    "source is a relation of DuckDB, which can be read by one loop at a time, and another began."
                )


def _reduce_partition(function: Function, merge: Merge, layout: Layout | None, x: Any, y: Any, number: int) -> Any:
    """Merge the results over a partition, batch by batch: features may take much more memory than the rows."""
    first = 0 if layout is None else layout.find_first_row(number, len(x))
    total = function(x.slice(0, ROWS_PER_BATCH), y.slice(0, ROWS_PER_BATCH), first)
    for start in range(ROWS_PER_BATCH, len(x), ROWS_PER_BATCH):
        total = merge([total, function(x.slice(start, ROWS_PER_BATCH), y.slice(start, ROWS_PER_BATCH), first + start)])
    return total


def _has_partitions(frame: nw.LazyFrame) -> bool:
    return frame.implementation.is_dask() or is_spark(frame)


def is_source(values: Any) -> bool:
    """Say whether pairs have yet to be read from the values: `Pairs`, a path, a glob, or a lazy frame."""
    if isinstance(values, Pairs | str | Path):
        return True
    try:
        return isinstance(nw.from_native(values, pass_through=True), nw.LazyFrame)
    except DuplicateError:  # a frame in memory
        return False


def _as_list(names: Any) -> list[Any]:
    return list(names) if isinstance(names, list | tuple) else [names]
