"""Tables of pyarrow, from any engine."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import narwhals as nw

from correspondence.data.pairs.on_spark import deserialise_table, map_in_arrow, serialise_batches, take_universal_time
from correspondence.data.pairs.opening import import_pyarrow, is_spark

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ROWS_PER_BATCH", "cut_batches", "read_tables", "select_side", "to_arrow"]

ROWS_PER_BATCH = 65_536


def read_tables(frame: nw.LazyFrame) -> Generator[pa.Table, None, None]:
    """Read non-empty tables of `ROWS_PER_BATCH` rows; only the last one of a partition may be shorter."""
    native = frame.to_native()
    if frame.implementation.is_dask():
        for i in range(native.npartitions):
            yield from cut_batches([to_arrow(native.get_partition(i).compute())])
    elif is_spark(frame):
        for row in map_in_arrow(native, serialise_batches, "batch binary").toLocalIterator():
            yield from cut_batches([deserialise_table(row["batch"])])
    elif frame.implementation.is_duckdb():
        read = native.to_arrow_reader if hasattr(native, "to_arrow_reader") else native.fetch_record_batch
        with read(ROWS_PER_BATCH) as batches:
            tables = (import_pyarrow().Table.from_batches([take_universal_time(batch)]) for batch in batches)
            yield from cut_batches(tables)
    elif frame.implementation.is_polars():
        yield from cut_batches(batch.to_arrow() for batch in _collect_polars_batches(native))
    else:
        eager = frame.collect()
        for start in range(0, len(eager), ROWS_PER_BATCH):
            yield to_arrow(eager[start : start + ROWS_PER_BATCH].to_native())


def _collect_polars_batches(frame: Any) -> Iterable[Any]:
    if hasattr(frame, "collect_batches"):
        return frame.collect_batches(chunk_size=ROWS_PER_BATCH, maintain_order=True, engine="streaming")
    return frame.collect().iter_slices(ROWS_PER_BATCH)


def cut_batches(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Cut rows into tables of `ROWS_PER_BATCH` rows; only the last one may be shorter."""
    waiting: list[pa.Table] = []
    rows = 0
    for table in tables:
        waiting.append(table)
        rows += table.num_rows
        if rows < ROWS_PER_BATCH:
            continue
        table = import_pyarrow().concat_tables(waiting)
        full = rows - rows % ROWS_PER_BATCH
        yield from (table.slice(start, ROWS_PER_BATCH) for start in range(0, full, ROWS_PER_BATCH))
        waiting, rows = [table.slice(full)], rows - full
    if rows:
        yield import_pyarrow().concat_tables(waiting)


def to_arrow(frame: Any) -> pa.Table:
    """Convert a frame in memory to a table."""
    pa = import_pyarrow()
    if isinstance(frame, pa.Table):
        return frame
    if hasattr(frame, "to_arrow"):
        return frame.to_arrow()
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except pa.ArrowException as error:
        raise ValueError(f"source has a column whose values are of several kinds: {error}.") from None


def select_side(table: pa.Table, names: Any) -> pa.Table | pa.ChunkedArray:
    """Select a column by its name, or several as a table."""
    return table[names] if isinstance(names, str) else table.select(list(names))
