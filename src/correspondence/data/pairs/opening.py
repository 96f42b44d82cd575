"""How files and frames of any engine are opened, and what is wrong with them, in a sentence."""

from __future__ import annotations

import glob
import os
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from correspondence._util.arguments import as_frame
from correspondence._util.text import list_names
from correspondence._util.threads import n_threads

if TYPE_CHECKING:
    pass

if TYPE_CHECKING:
    pass

__all__ = [
    "BYTES_READ_AT_ENDS",
    "ENGINE_MODULES",
    "FORMATS_BY_ENDING",
    "LEAST_MEMORY",
    "MEMORY_SHARE",
    "are_files",
    "import_pyarrow",
    "is_spark",
    "list_files",
    "open_source",
    "select_column",
    "series_to_floats",
    "translate_engine_errors",
]


BYTES_READ_AT_ENDS = 1 << 22  # bytes in which the names of columns are looked for
LEAST_MEMORY = 2e9  # bytes that DuckDB may take
MEMORY_SHARE = 1 / 8  # of the memory, if that is more
FORMATS_BY_ENDING = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}
ENGINE_MODULES = (
    "_duckdb",
    "duckdb",
    "narwhals",
    "polars",
    "pyspark",
    "py4j",
)  # modules whose errors are put into words


@contextmanager
def translate_engine_errors(name: str) -> Iterator[None]:
    """One sentence for what an engine says of a source that it cannot read."""
    try:
        yield
    except Exception as error:
        is_arrow = type(error) is OSError and error.errno is None  # what DuckDB says while arrow reads from it
        if type(error).__module__.split(".")[0] not in ENGINE_MODULES and not is_arrow:
            raise
        said = " ".join(str(error).partition("\n\n")[0].split())[:300].rstrip(".")
        raise ValueError(
            f"{name} cannot be read ({said}): fix the files or the query, or open them yourself and pass the frame."
        ) from error


def is_spark(frame: nw.LazyFrame) -> bool:
    """Whether a frame is one of Spark."""
    return frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect()


def select_column(frame: nw.LazyFrame, name: str) -> nw.Expr:
    """A column by its name, which Spark reads as an expression: dots in it are quoted."""
    if is_spark(frame):
        name = "`" + name.replace("`", "``") + "`"
    return nw.col(name)


def series_to_floats(series: nw.Series) -> np.ndarray:
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
        return nw.from_native(open_files(source, name))
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


def open_files(source: Any, name: str) -> Any:
    """Relation of DuckDB over files."""
    files = list_files(source, name)
    kinds = {FORMATS_BY_ENDING.get(Path(file).suffix.lower()) for file in files}
    if len(kinds) > 1 or None in kinds:
        raise ValueError(f"{name} must be Parquet or CSV files, all of one kind, got {list_names(files, 3, show=str)}.")
    connection, names = connect_duckdb(), [glob.escape(file) for file in files]  # DuckDB knows globs as well
    with translate_engine_errors(name):
        if kinds == {"parquet"}:
            relation = connection.read_parquet(names)
        else:
            relation = connection.read_csv(names, union_by_name=len(names) > 1)  # else by the order of the columns
    check_renamed_columns(relation.columns, files, name)
    return relation


def check_renamed_columns(columns: Sequence[str], files: Sequence[str], name: str) -> None:
    """Complain if DuckDB has given a new name, such as a_1, to the second of two columns of the same name."""
    known = {column.lower() for column in columns}
    numbered = [column.rpartition("_") for column in columns]
    odd = ["".join(parts) for parts in numbered if parts[2].isdecimal() and parts[0].lower() in known]
    for file in files:
        if not odd:
            return
        ends = _read_ends(file)
        odd = [column for column in odd if column.encode() not in ends]
    if odd:
        where = files[0] if len(files) == 1 else f"one of the {len(files)} files"
        raise ValueError(f"{name}: two columns of {where} have the name {odd[0].rpartition('_')[0]!r}, so rename one.")


def _read_ends(file: str) -> bytes:
    """The begin of a file, where CSV files have the names of their columns, and the end, where Parquet files do."""
    with open(file, "rb") as stream:
        head = stream.read(BYTES_READ_AT_ENDS)
        stream.seek(max(0, os.path.getsize(file) - BYTES_READ_AT_ENDS))
        return head + stream.read()


def list_files(source: Any, name: str) -> list[str]:
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


def connect_duckdb() -> Any:
    """Connection of DuckDB that leaves room for others and goes to the disk beyond that."""
    try:
        import duckdb
    except ImportError as error:
        raise ImportError('Files are read by duckdb: pip install "correspondence[scale]".') from error
    folder = Path(tempfile.gettempdir()) / f"correspondence-duckdb-{uuid.uuid4().hex}"
    memory = max(LEAST_MEMORY, MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    config: Any = {"temp_directory": str(folder), "memory_limit": f"{memory / 1e9:.2f}GB", "threads": n_threads()}
    return duckdb.connect(config=config)


def import_pyarrow() -> Any:
    """Import pyarrow, or say how to install it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError('Pairs need pyarrow: pip install "correspondence[scale]".') from error
    return pyarrow
