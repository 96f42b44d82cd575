"""Functions applied to partitions by Dask."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from correspondence._util.progress import make_progress_bar
from correspondence.data.pairs.arrow_tables import to_arrow

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["map_dask"]


def map_dask(frame: Any, function: Callable[[pa.Table, int], Any], text: str) -> list[Any]:
    """Apply a function to each partition, on the workers that hold them, and collect what it returns."""
    import cloudpickle
    import dask

    shared = dask.delayed(cloudpickle.dumps(function))  # sent once, not with every partition
    run = dask.delayed(_run_on_partition)
    tasks = [run(shared, part, number) for number, part in enumerate(frame.to_delayed())]
    client = _find_dask_client()
    if client is None:
        results = dask.compute(*tasks)
    else:
        from distributed import as_completed

        futures = client.compute(tasks)
        with make_progress_bar(len(futures), text) as done:
            for _ in as_completed(futures):
                done.update()
        results = client.gather(futures)
    return [result for (result,) in filter(None, results)]


def _run_on_partition(function: bytes, frame: Any, number: int) -> tuple[Any] | None:
    import cloudpickle

    return (cloudpickle.loads(function)(to_arrow(frame), number),) if len(frame) else None


def _find_dask_client() -> Any:
    """Find the client of a cluster, if there is one; otherwise Dask computes in threads of this process."""
    try:
        from distributed import default_client

        return default_client()
    except (ImportError, ValueError):
        return None
