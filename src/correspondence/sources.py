"""Pairs (x, y) that are not in memory: files, or frames of an engine, and which of their columns are x and y."""

from __future__ import annotations

import glob
import os
import tempfile
import uuid
from collections.abc import Hashable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw

from correspondence.checks import as_frame
from correspondence.threads import n_threads

__all__ = ["Pairs", "are_paths", "is_source", "open_source"]

LEAST_MEMORY = 2e9  # bytes that DuckDB may take
SHARE = 1 / 8  # of the memory, if that is more
FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}


class Pairs:
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
    """

    def __init__(self, source: Any, x: str | Sequence[str], y: str | Sequence[str], weights: str | None = None) -> None:
        self.source, self.x, self.y, self.weights = source, x, y, weights
        self.frame  # so that a wrong path or name is told here

    @cached_property
    def frame(self) -> nw.LazyFrame:
        """The columns that are needed, not yet read."""
        frame = open_source(self.source)
        names = [name for part in (self.x, self.y, self.weights or []) for name in _listed(part)]
        known = frame.collect_schema().names()
        for name in names:
            if not isinstance(name, Hashable) or name not in known:
                raise ValueError(f"There is no column {name!r} in source: it has {', '.join(map(str, known))}.")
        return frame.select(list(dict.fromkeys(names)))


def is_source(values: Any) -> bool:
    """Whether pairs have yet to be read from it: `Pairs`, a path, a glob, or a frame that is lazy."""
    return isinstance(values, Pairs | str | Path) or isinstance(nw.from_native(values, pass_through=True), nw.LazyFrame)


def are_paths(values: Any) -> bool:
    """Whether it is a list of paths (or of texts: where it may be either, that is not for this function to say)."""
    return isinstance(values, list) and bool(values) and all(isinstance(path, str | Path) for path in values)


def open_source(source: Any, name: str = "source") -> nw.LazyFrame:
    """Frame of any engine, or of files, without reading it."""
    if isinstance(source, str | Path) or are_paths(source):
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
    patterns = [str(path) for path in (source if isinstance(source, list) else [source])]
    files = [file for pattern in patterns for file in sorted(glob.glob(pattern, recursive=True))]
    if not files:
        raise FileNotFoundError(f"{name}: there is no file {' or '.join(map(repr, patterns))}.")
    kinds = {FORMATS.get(Path(file).suffix.lower()) for file in files}
    if len(kinds) > 1 or None in kinds:
        raise ValueError(f"{name} must be Parquet or CSV files, all of one kind, got {', '.join(files[:3])}.")
    connection = _connect()
    return connection.read_parquet(files) if kinds == {"parquet"} else connection.read_csv(files)


def _connect() -> Any:
    """Connection of DuckDB that leaves room for others and goes to the disk beyond that."""
    try:
        import duckdb
    except ImportError as error:
        raise ImportError('Files are counted by duckdb: pip install "correspondence[scale]".') from error
    folder = Path(tempfile.gettempdir()) / f"correspondence-duckdb-{uuid.uuid4().hex}"
    memory = max(LEAST_MEMORY, SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    config: Any = {"temp_directory": str(folder), "memory_limit": f"{memory / 1e9:.2f}GB", "threads": n_threads()}
    return duckdb.connect(config=config)


def _listed(names: Any) -> list[Any]:
    return [names] if isinstance(names, str) else list(names)
