"""Pairs (x, y) that are not in memory: files, or frames of an engine, and which of their columns are x and y."""

from __future__ import annotations

import glob
import os
import tempfile
import uuid
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from correspondence._util.arguments import as_frame
from correspondence._util.progress import bar
from correspondence._util.threads import n_threads

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "BATCH",
    "Layout",
    "Memory",
    "Pairs",
    "Parts",
    "are_files",
    "check_source",
    "column",
    "floats",
    "in_words",
    "is_source",
    "names_listed",
    "open_source",
]

Function = Callable[[Any, Any, int], Any]
Merge = Callable[[list[Any]], Any]

BATCH = 65_536  # rows that are read at a time
ENDS = 1 << 22  # bytes in which the names of columns are looked for
LEAST_MEMORY = 2e9  # bytes that DuckDB may take
SHARE = 1 / 8  # of the memory, if that is more
FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}
ENGINES = ("_duckdb", "duckdb", "narwhals", "polars", "pyspark", "py4j")  # modules whose errors are put into words


@contextmanager
def in_words(name: str) -> Iterator[None]:
    """One sentence for what an engine says of a source that it cannot read."""
    try:
        yield
    except Exception as error:
        is_arrow = type(error) is OSError and error.errno is None  # what DuckDB says while arrow reads from it
        if type(error).__module__.split(".")[0] not in ENGINES and not is_arrow:
            raise
        said = " ".join(str(error).partition("\n\n")[0].split())[:300].rstrip(".")
        raise ValueError(
            f"{name} cannot be read ({said}): mend the files or the query, or open them yourself, with other settings."
        ) from error


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

    def first(self, number: int, rows: int) -> int:
        """Number of the first row of a partition, which must have as many rows as at the first reading."""
        before = min(number * BATCH, self.n)
        start, expected = (before, min(BATCH, self.n - before)) if self.starts is None else self.starts[number]
        _check_same(rows == expected)
        return start


def _check_same(is_same: bool) -> None:
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
        return self.sums(partial(_alone, function), _joined, numbered=False)


def _alone(function: Callable[[Any, Any], Any], x: Any, y: Any, first: int) -> list[Any]:
    return [function(x, y)]


def _joined(parts: list[list[Any]]) -> list[Any]:
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
        return self.parts.map(partial(_composed, function, *self.functions), text)

    def sums(self, function: Function, merge: Merge, text: str = "pairs", numbered: bool = True) -> Any:
        return self.parts.sums(partial(_composed, function, *self.functions), merge, text, numbered)

    def through(self, x_function: Callable[[Any], Any], y_function: Callable[[Any], Any]) -> Parts:
        return _Through(self, x_function, y_function)


def _composed(
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
            yield _side(table, self.x), _side(table, self.y)

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
        return self.map_tables(partial(_on_sides, function, self.x, self.y), text)

    def sums(self, function: Function, merge: Merge, text: str = "pairs", numbered: bool = True) -> Any:  # noqa: D102
        if self.has_partitions:
            return merge(self.map(partial(_sums, function, merge, self.layout if numbered else None), text))
        parts: list[Any] = []
        rows = 0
        with bar(0, text) as done:
            for x, y in self:
                parts = [merge([*parts, function(x, y, rows)])]  # one at a time: there may be very many
                rows += len(x)
                done.update(len(x))
        if numbered:
            _check_same(rows == self.layout.n)
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
        frame = self._frame(keep)
        if frame.implementation.is_dask():
            return _map_dask(frame.to_native(), function, text)
        if _has_partitions(frame):
            return _map_spark(frame.to_native(), function)
        results = []
        with bar(0, text) as done:
            for number, table in enumerate(self.tables(keep)):
                results.append(function(table, number))
                done.update(table.num_rows)
        return results

    @cached_property
    def layout(self) -> Layout:
        """How many rows there are, and where each partition begins."""
        frame = self._frame()
        if not _has_partitions(frame):
            with in_words("source"):
                return Layout(int(frame.select(nw.len()).collect().item()))
        lengths = dict(self.map_tables(_length, "rows"))
        starts = np.cumsum([0, *lengths.values()]).tolist()
        return Layout(starts[-1], {k: (first, n) for (k, n), first in zip(lengths.items(), starts, strict=False)})

    @cached_property
    def frame(self) -> nw.LazyFrame:
        """The columns that are needed, not yet read."""
        return self._frame()

    @property
    def files(self) -> list[Path]:
        """Files that are read, if the source is files."""
        return [Path(file) for file in _files(self.source, "source")] if are_files(self.source) else []

    def check_columns(self, keep: Sequence[str]) -> None:
        """Complain about columns that are not there.

        Parameters
        ----------
        keep : list of str
            Columns beside x, y and weights.
        """
        self._frame(keep)

    def _frame(self, keep: Sequence[str] = ()) -> nw.LazyFrame:
        """The columns that are needed, and some more; of files opened anew, so that several loops can read them."""
        names = [name for part in (self.x, self.y, self.weights or [], keep) for name in _listed(part)]
        for argument, side in (("x", self.x), ("y", self.y)):
            if not _listed(side):
                raise ValueError(f"{argument} must have at least one column, got {side!r}.")
        with in_words("source"):
            frame = open_source(self.source)
            known = frame.collect_schema().names()
        for name in names:
            if not isinstance(name, str):
                raise ValueError(f"x, y and weights must be names of columns, or lists of names, got {name!r}.")
            if name not in known:
                shown = name if len(name) <= 60 else name[:59] + "…"
                raise ValueError(f"There is no column {shown!r} in source: it has {names_listed(known)}.")
        with in_words("source"):
            return frame.select([column(frame, name).alias(name) for name in dict.fromkeys(names)])

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
        frame = self._frame(keep)
        if not frame.implementation.is_duckdb():
            yield from _tables(frame)
            return
        if self._reading is not None and not are_files(self.source):
            self._reading.close()
        mine = self._reading = _tables(frame)
        while (table := _next(mine)) is not None:
            yield table
            if self._reading is not mine and not are_files(self.source):
                raise RuntimeError(
                    "source is a relation of DuckDB, which can be read by one loop at a time, and another began."
                )


def _next(tables: Iterator[pa.Table]) -> pa.Table | None:
    with in_words("source"):
        return next(tables, None)


def _sums(function: Function, merge: Merge, layout: Layout | None, x: Any, y: Any, number: int) -> Any:
    """Sums over a partition, `BATCH` rows at a time: their features may take much more memory than they do."""
    first = 0 if layout is None else layout.first(number, len(x))
    total = function(x.slice(0, BATCH), y.slice(0, BATCH), first)
    for start in range(BATCH, len(x), BATCH):
        total = merge([total, function(x.slice(start, BATCH), y.slice(start, BATCH), first + start)])
    return total


def _has_partitions(frame: nw.LazyFrame) -> bool:
    return frame.implementation.is_dask() or _is_spark(frame)


def _is_spark(frame: nw.LazyFrame) -> bool:
    return frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect()


def _length(table: pa.Table, number: int) -> tuple[int, int]:
    return number, table.num_rows


def is_source(values: Any) -> bool:
    """Whether pairs have yet to be read from it: `Pairs`, a path, a glob, or a frame that is lazy."""
    if isinstance(values, Pairs | str | Path):
        return True
    try:
        return isinstance(nw.from_native(values, pass_through=True), nw.LazyFrame)
    except DuplicateError:  # a frame in memory
        return False


def column(frame: nw.LazyFrame, name: str) -> nw.Expr:
    """A column by its name, which Spark reads as an expression: dots in it are quoted."""
    if _is_spark(frame):
        name = "`" + name.replace("`", "``") + "`"
    return nw.col(name)


def floats(series: nw.Series) -> np.ndarray:
    """Numbers of a column; whole ones beyond 2**53 are rounded, which pyarrow refuses to do."""
    if series.implementation.is_pyarrow() and series.dtype.is_integer():
        return series.to_numpy().astype(np.float64)
    return series.cast(nw.Float64).to_numpy()


def are_files(source: Any) -> bool:
    """Whether it is a path, a glob or a list of them (or of texts, which this function cannot tell from paths)."""
    listed = source if isinstance(source, list) else [source]
    return bool(listed) and all(isinstance(path, str | Path) for path in listed)


def open_source(source: Any, name: str = "source") -> nw.LazyFrame:
    """Frame of any engine, or of files, without reading it."""
    if are_files(source):
        return nw.from_native(_open_files(source, name))
    frame = nw.from_native(source, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        return frame
    eager = as_frame(source, name)
    if eager is None:
        raise TypeError(
            f"{name} must be a path, a glob, or a frame (DuckDB, polars, Dask, Spark, pandas, pyarrow), "
            f"got {type(source).__name__}."
        )
    return eager.lazy()


def _open_files(source: Any, name: str) -> Any:
    """Relation of DuckDB over files."""
    files = _files(source, name)
    kinds = {FORMATS.get(Path(file).suffix.lower()) for file in files}
    if len(kinds) > 1 or None in kinds:
        raise ValueError(f"{name} must be Parquet or CSV files, all of one kind, got {', '.join(files[:3])}.")
    connection, names = _connect(), [glob.escape(file) for file in files]  # DuckDB knows globs as well
    with in_words(name):
        if kinds == {"parquet"}:
            relation = connection.read_parquet(names)
        else:
            relation = connection.read_csv(names, union_by_name=len(names) > 1)  # else by the order of the columns
    _check_renamed(relation.columns, files, name)
    return relation


def _check_renamed(columns: Sequence[str], files: Sequence[str], name: str) -> None:
    """Complain if DuckDB has given a new name, such as a_1, to the second of two columns of the same name."""
    known = {column.lower() for column in columns}
    numbered = [column.rpartition("_") for column in columns]
    odd = ["".join(parts) for parts in numbered if parts[2].isdecimal() and parts[0].lower() in known]
    for file in files:
        if not odd:
            return
        ends = _ends(file)
        odd = [column for column in odd if column.encode() not in ends]
    if odd:
        where = files[0] if len(files) == 1 else f"one of the {len(files)} files"
        raise ValueError(f"{name}: two columns of {where} have the name {odd[0].rpartition('_')[0]!r}, so rename one.")


def _ends(file: str) -> bytes:
    """The begin of a file, where CSV files have the names of their columns, and the end, where Parquet files do."""
    with open(file, "rb") as stream:
        head = stream.read(ENDS)
        stream.seek(max(0, os.path.getsize(file) - ENDS))
        return head + stream.read()


def _files(source: Any, name: str) -> list[str]:
    """Files of a path, a glob, or a list of them: a path that is there is no glob."""
    patterns = [str(path) for path in (source if isinstance(source, list) else [source])]
    found = {text: [text] if os.path.exists(text) else sorted(glob.glob(text, recursive=True)) for text in patterns}
    for text in patterns:
        if not found[text]:
            raise FileNotFoundError(f"{name}: there is no file {text!r}.")
    files = [file for text in patterns for file in found[text]]
    twice = next((file for file, times in Counter(map(os.path.realpath, files)).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"{name} names the file {twice!r} twice, so its pairs would count twice: leave one out.")
    return files


def _connect() -> Any:
    """Connection of DuckDB that leaves room for others and goes to the disk beyond that."""
    try:
        import duckdb
    except ImportError as error:
        raise ImportError('Files are read by duckdb: pip install "correspondence[scale]".') from error
    folder = Path(tempfile.gettempdir()) / f"correspondence-duckdb-{uuid.uuid4().hex}"
    memory = max(LEAST_MEMORY, SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    config: Any = {"temp_directory": str(folder), "memory_limit": f"{memory / 1e9:.2f}GB", "threads": n_threads()}
    return duckdb.connect(config=config)


def names_listed(names: Sequence[Any], separator: str = ", ", most: int = 20) -> str:
    """The first of some names for a sentence; those that cannot be seen, or have odd characters, as Python has them."""
    shown = [text if text.strip() and text.isprintable() else repr(text) for text in map(str, names[:most])]
    short = [text if len(text) <= 40 else text[:39] + "…" for text in shown]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return separator.join(short) + more if short else "no columns"


def _listed(names: Any) -> list[Any]:
    return list(names) if isinstance(names, list | tuple) else [names]


# --- tables of pyarrow, from any engine


def _tables(frame: nw.LazyFrame) -> Generator[pa.Table, None, None]:
    """Tables of at most `BATCH` rows, none of them empty; of exactly so many but the last, if there are no parts."""
    native = frame.to_native()
    if frame.implementation.is_dask():
        for i in range(native.npartitions):
            yield from _batches([_to_arrow(native.get_partition(i).compute())])
    elif _is_spark(frame):
        for row in _map_in_arrow(native, _serialised, "batch binary").toLocalIterator():
            yield from _batches([_deserialised(row["batch"])])
    elif frame.implementation.is_duckdb():
        read = native.to_arrow_reader if hasattr(native, "to_arrow_reader") else native.fetch_record_batch
        with read(BATCH) as batches:
            yield from _batches(_pyarrow().Table.from_batches([batch]) for batch in batches)
    elif frame.implementation.is_polars():
        yield from _batches(batch.to_arrow() for batch in _polars_batches(native))
    else:
        eager = frame.collect()
        for start in range(0, len(eager), BATCH):
            yield _to_arrow(eager[start : start + BATCH].to_native())


def _polars_batches(frame: Any) -> Iterable[Any]:
    if hasattr(frame, "collect_batches"):
        return frame.collect_batches(chunk_size=BATCH, maintain_order=True, engine="streaming")
    return frame.collect().iter_slices(BATCH)


def _batches(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The same rows in tables of exactly `BATCH` rows, but for the last."""
    waiting: list[pa.Table] = []
    rows = 0
    for table in tables:
        waiting.append(table)
        rows += table.num_rows
        if rows < BATCH:
            continue
        table = _pyarrow().concat_tables(waiting)
        full = rows - rows % BATCH
        yield from (table.slice(start, BATCH) for start in range(0, full, BATCH))
        waiting, rows = [table.slice(full)], rows - full
    if rows:
        yield _pyarrow().concat_tables(waiting)


def _to_arrow(frame: Any) -> pa.Table:
    """Table of a frame in memory."""
    pa = _pyarrow()
    if isinstance(frame, pa.Table):
        return frame
    if hasattr(frame, "to_arrow"):
        return frame.to_arrow()
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except pa.ArrowException as error:
        raise ValueError(f"source has a column whose values are of several kinds: {error}.") from None


def _on_sides(function: Callable[[Any, Any, int], Any], x: Any, y: Any, table: pa.Table, number: int) -> Any:
    return function(_side(table, x), _side(table, y), number)


def _side(table: pa.Table, names: Any) -> pa.Table | pa.ChunkedArray:
    return table[names] if isinstance(names, str) else table.select(list(names))


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError('Pairs need pyarrow: pip install "correspondence[scale]".') from error
    return pyarrow


# --- Dask


def _map_dask(frame: Any, function: Callable[[pa.Table, int], Any], text: str) -> list[Any]:
    import cloudpickle
    import dask

    shared = dask.delayed(cloudpickle.dumps(function))  # once, not with every partition; a lost copy is made again
    run = dask.delayed(_run_dask)
    tasks = [run(shared, part, number) for number, part in enumerate(frame.to_delayed())]
    client = _dask_client()
    if client is None:
        results = dask.compute(*tasks)
    else:
        from distributed import as_completed

        futures = client.compute(tasks)
        with bar(len(futures), text) as done:
            for _ in as_completed(futures):
                done.update()
        results = client.gather(futures)
    return [result for (result,) in filter(None, results)]


def _run_dask(function: bytes, frame: Any, number: int) -> tuple[Any] | None:
    import cloudpickle

    return (cloudpickle.loads(function)(_to_arrow(frame), number),) if len(frame) else None


def _dask_client() -> Any:
    """The client of a cluster, if one was made: without it, Dask computes on the threads of this process."""
    try:
        from distributed import default_client

        return default_client()
    except (ImportError, ValueError):
        return None


# --- Spark


def _map_spark(frame: Any, function: Callable[[pa.Table, int], Any]) -> list[Any]:
    from pyspark import cloudpickle

    rows = _map_in_arrow(frame, partial(_run_spark, function), "number int, result binary").collect()
    results = [cloudpickle.loads(row["result"]) for row in sorted(rows, key=lambda row: row["number"])]
    for result in results:
        if isinstance(result, _Failure):
            raise result.error
    return results


def _map_in_arrow(frame: Any, function: Callable[[Any], Any], schema: str) -> Any:
    names = frame.columns
    frame = frame.toDF(*(f"c{i}" for i in range(len(names))))  # PySpark itself stumbles over dots in names
    function = partial(_with_names, function, names)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)  # none is used
        return frame.mapInArrow(function, schema)


def _with_names(function: Callable[[Any], Any], names: list[str], batches: Iterable[pa.RecordBatch]) -> Any:
    import pyarrow as pa

    return function(pa.RecordBatch.from_arrays(batch.columns, names) for batch in batches)


class _Failure:
    """Error of a function on an executor, which Spark would bury in its own."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def _run_spark(function: Callable[[pa.Table, int], Any], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    from pyspark import TaskContext, cloudpickle

    parts = [batch for batch in batches if batch.num_rows]
    if not parts:
        return
    context = TaskContext.get()
    assert context is not None
    number, result = context.partitionId(), None
    try:
        result = function(pa.Table.from_batches(parts), number)
    except (TypeError, ValueError) as error:
        result = _Failure(error)
    yield pa.RecordBatch.from_pydict(
        {"number": pa.array([number], pa.int32()), "result": pa.array([cloudpickle.dumps(result)], pa.binary())}
    )


def _serialised(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in batches:
        if batch.num_rows:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            yield pa.RecordBatch.from_pydict({"batch": pa.array([sink.getvalue().to_pybytes()], pa.binary())})


def _deserialised(data: bytes) -> pa.Table:
    return _pyarrow().ipc.open_stream(data).read_all()
