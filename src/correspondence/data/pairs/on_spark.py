"""Functions applied to partitions by Spark."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from correspondence.data.pairs.opening import import_pyarrow

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["deserialise_table", "map_in_arrow", "map_spark", "serialise_batches", "take_universal_time"]


def map_spark(frame: Any, function: Callable[[pa.Table, int], Any]) -> list[Any]:
    """Apply a function to each partition, on the workers that hold them, and collect what it returns."""
    from pyspark import cloudpickle

    rows = map_in_arrow(frame, partial(run_on_partition, function), "number int, result binary").collect()
    results = [cloudpickle.loads(row["result"]) for row in sorted(rows, key=lambda row: row["number"])]
    for result in results:
        if isinstance(result, _Failure):
            raise result.error
    return results


def map_in_arrow(frame: Any, function: Callable[[Any], Any], schema: str) -> Any:
    """Apply a function to the record batches of each partition, with the columns' own names."""
    names = frame.columns
    frame = frame.toDF(*(f"c{i}" for i in range(len(names))))  # PySpark fails on dots in names
    function = partial(_call_with_names, function, names)
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "PySpark does not yet fully support pandas", FutureWarning
        )  # pandas is not used
        return frame.mapInArrow(function, schema)


def _call_with_names(function: Callable[[Any], Any], names: list[str], batches: Iterable[pa.RecordBatch]) -> Any:
    import pyarrow as pa

    return function(take_universal_time(pa.RecordBatch.from_arrays(batch.columns, names)) for batch in batches)


def take_universal_time(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Give times the zone UTC: DuckDB and Spark keep none, and show them in that of the session."""
    import pyarrow as pa

    columns = [
        column.cast(pa.timestamp(column.type.unit, "UTC")) if getattr(column.type, "tz", None) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


class _Failure:
    """The error of a function on an executor, which Spark would bury in its own."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def run_on_partition(
    function: Callable[[pa.Table, int], Any], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
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


def serialise_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pack record batches into a column of bytes, which any schema can carry."""
    import pyarrow as pa

    for batch in batches:
        if batch.num_rows:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            yield pa.RecordBatch.from_pydict({"batch": pa.array([sink.getvalue().to_pybytes()], pa.binary())})


def deserialise_table(data: bytes) -> pa.Table:
    """Unpack what `serialise_batches` packed."""
    return import_pyarrow().ipc.open_stream(data).read_all()
