"""Opening files and frames of any engine; what is wrong with them is said in one sentence."""

from __future__ import annotations

import glob
import os
import re
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.arguments import as_frame
from correspondence._util.extras import explain_missing_extra
from correspondence._util.text import list_names
from correspondence._util.threads import count_threads

__all__ = [
    "are_files",
    "check_same_rows",
    "import_pyarrow",
    "is_spark",
    "list_files",
    "open_source",
    "select_column",
    "series_to_floats",
    "translate_engine_errors",
]

BYTES_READ_AT_ENDS = 1 << 22  # where the names of columns are looked for
MIN_MEMORY_BYTES = 2e9  # DuckDB may take this much,
MEMORY_SHARE = 1 / 8  # or this share of the memory if that is more
FORMATS_BY_ENDING = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}
WHOLE_NUMBER_PATTERN = "[-+]?(0|[1-9][0-9]*)"  # without leading zeros, which codes have
OFFSET_PATTERN = " *(Z|[-+][0-9]{2}(:?[0-9]{2})?)$"
AWARE_TYPE = "TIMESTAMP WITH TIME ZONE"
ENGINE_MODULES = ("_duckdb", "duckdb", "narwhals", "polars", "pyspark", "py4j")  # whose errors are translated


@contextmanager
def translate_engine_errors(name: str) -> Iterator[None]:
    """Turn an engine's error about a source that it cannot read into one sentence."""
    try:
        yield
    except Exception as error:
        is_arrow = type(error) is OSError and error.errno is None  # raised by DuckDB while arrow reads from it
        if type(error).__module__.split(".")[0] not in ENGINE_MODULES and not is_arrow:
            raise
        said = " ".join(str(error).partition("\n\n")[0].split())[:300].rstrip(".")
        raise ValueError(
            f"{name} cannot be read ({said}): fix the files or the query, or open them yourself and pass the frame."
        ) from error


def is_spark(frame: nw.LazyFrame) -> bool:
    """Say whether a frame belongs to Spark."""
    return frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect()


def select_column(frame: nw.LazyFrame, name: str) -> nw.Expr:
    """Select a column by its name; Spark would read an unquoted name as an expression."""
    if is_spark(frame):
        name = "`" + name.replace("`", "``") + "`"
    return nw.col(name)


def series_to_floats(series: nw.Series) -> np.ndarray:
    """Convert a column of numbers to float64; whole ones beyond 2**53 are rounded, which pyarrow refuses to do."""
    if series.implementation.is_pyarrow() and series.dtype.is_integer():
        return series.to_numpy().astype(np.float64)
    return series.cast(nw.Float64).to_numpy()


def are_files(source: Any) -> bool:
    """Say whether a source is a path, a glob or a list of them (or of texts, which look the same)."""
    listed = source if isinstance(source, list) else [source]
    return bool(listed) and all(isinstance(path, str | Path) for path in listed)


def open_source(source: Any, name: str = "source") -> nw.LazyFrame:
    """Open a frame of any engine, or files, without reading them."""
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
    """Open files as a relation of DuckDB."""
    files = list_files(source, name)
    kinds = {FORMATS_BY_ENDING.get(Path(file).suffix.lower()) for file in files}
    if len(kinds) > 1 or None in kinds:
        raise ValueError(f"{name} must be Parquet or CSV files, all of one kind, got {list_names(files, 3, show=str)}.")
    connection, names = connect_duckdb(), [glob.escape(file) for file in files]  # DuckDB expands globs too
    with translate_engine_errors(name):
        read = connection.read_parquet if kinds == {"parquet"} else partial(_read_csv_files, connection)
        options = {"hive_partitioning": False} if _do_folders_hide_columns(read, files, names) else {}
        # Columns of CSV files are joined by name, not by their order; those of Parquet files always are, and with the
        # option also get a type that holds the values of all files, where the first file would decide.
        is_joined = len(names) > 1 and (kinds == {"csv"} or _have_different_types(connection, names))
        relation = read(names, union_by_name=is_joined, **options)
        if kinds == {"parquet"}:
            relation = _take_local_times(relation, files)
    check_renamed_columns(relation.columns, files, name)
    return relation


def _read_csv_files(connection: Any, names: list[str], **options: Any) -> Any:
    """Read CSV files; the types of their columns follow from all rows.

    DuckDB decides by a sample, and rounds decimals that come later in a column of whole numbers. Looking for one in the
    texts of such columns takes a tenth of the time of letting it look at all rows, which is done only if there is one.
    """
    relation = connection.read_csv(names, **options)
    aware = _find_aware_columns(relation)
    if aware:
        options["dtype"] = dict.fromkeys(aware, "VARCHAR")
        return _strip_offsets(_read_csv_files(connection, names, **options), aware)
    whole = [name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == "BIGINT"]
    texts = connection.read_csv(names, all_varchar=True, **options)
    if not whole:
        return relation
    if texts.columns == relation.columns:
        quoted = [_quote_name(name) for name in whole]
        is_odd = " OR ".join(f"NOT regexp_full_match(trim({name}), '{WHOLE_NUMBER_PATTERN}')" for name in quoted)
        if not texts.filter(is_odd).limit(1).fetchall():
            return relation
    return connection.read_csv(names, sample_size=-1, **options)


def _find_aware_columns(relation: Any) -> list[str]:
    """Find the columns of times with a zone."""
    return [name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == AWARE_TYPE]


def _replace_columns(relation: Any, expressions: dict[str, str]) -> Any:
    """Replace columns by expressions of SQL."""
    parts = [(expressions.get(name, _quote_name(name)), _quote_name(name)) for name in relation.columns]
    return relation.project(", ".join(f"{expression} AS {name}" for expression, name in parts))


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _strip_offsets(relation: Any, names: list[str]) -> Any:
    """Turn texts of times with an offset into the local times that are written."""
    times = {name: f"regexp_replace({_quote_name(name)}, '{OFFSET_PATTERN}', '')::TIMESTAMP" for name in names}
    return _replace_columns(relation, times)


def _take_local_times(relation: Any, files: Sequence[str]) -> Any:
    """Turn times with a zone into the local times of that zone, which DuckDB does not look for in Parquet files.

    A zone is part of the schema that Arrow and pandas write; without one, or if files disagree, the times are UTC.
    """
    aware = _find_aware_columns(relation)
    if not aware:
        return relation
    import_pyarrow()
    from pyarrow.parquet import read_schema

    schemas = [read_schema(file) for file in files]
    found = {
        name: {getattr(schema.field(name).type, "tz", None) for schema in schemas if name in schema.names}
        for name in aware
    }
    zones = {name: (zones.pop() if len(zones) == 1 else None) or "UTC" for name, zones in found.items()}
    return _replace_columns(
        relation, {name: _write_local_time(_quote_name(name), zone) for name, zone in zones.items()}
    )


def _write_local_time(column: str, zone: str) -> str:
    """Write the local time of a column as SQL; DuckDB knows zones by their names, but no offsets such as +02:00."""
    offset = re.fullmatch(r"([-+])(\d\d):(\d\d)", zone)
    if offset is None:
        return f"timezone('{zone}', {column})"
    sign, hours, minutes = offset.groups()
    return f"timezone('UTC', {column}) {sign} INTERVAL '{hours} hours {minutes} minutes'"


def _have_different_types(connection: Any, names: list[str]) -> bool:
    """Say whether a column has one type in some of the Parquet files and another in others."""
    query = "SELECT name FROM parquet_schema(?) GROUP BY name HAVING count(DISTINCT duckdb_type) > 1 LIMIT 1"
    return bool(connection.execute(query, [names]).fetchall())


def _do_folders_hide_columns(read: Any, files: Sequence[str], names: list[str]) -> bool:
    """Say whether a folder such as label=train has the name of a column of the files, which it would replace."""
    folders = {part for file in files for part in Path(file).parts[:-1] if "=" in part}
    if not folders:
        return False
    known = {column.lower() for column in read(names, union_by_name=True, hive_partitioning=False).columns}
    return any(folder.partition("=")[0].lower() in known for folder in folders)


def check_renamed_columns(columns: Sequence[str], files: Sequence[str], name: str) -> None:
    """Raise an error if DuckDB renamed the second of two columns of the same name, to a_1, say."""
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
    """Read the beginning of a file, where CSV has the names of the columns, and the end, where Parquet has them."""
    with open(file, "rb") as stream:
        head = stream.read(BYTES_READ_AT_ENDS)
        stream.seek(max(0, os.path.getsize(file) - BYTES_READ_AT_ENDS))
        return head + stream.read()


def list_files(source: Any, name: str) -> list[str]:
    """List the files of a path, a glob, or a list of them; a path that exists is not taken as a glob."""
    patterns = [str(path) for path in (source if isinstance(source, list) else [source])]
    found = {text: [text] if os.path.exists(text) else sorted(glob.glob(text, recursive=True)) for text in patterns}
    missing = next((text for text in patterns if not found[text]), None)
    if missing is not None:
        raise FileNotFoundError(f"There is no file {missing!r}, which {name} names.")
    files = [file for text in patterns for file in found[text]]
    twice = next((file for file, times in Counter(map(os.path.realpath, files)).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"{name} names the file {twice!r} twice, so its pairs would count twice: leave one out.")
    return files


def connect_duckdb() -> Any:
    """Connect to DuckDB, with limited memory beyond which it uses the disk."""
    try:
        import duckdb
    except ImportError as error:
        raise ImportError(explain_missing_extra("Files are read by duckdb", "scale")) from error
    folder = Path(tempfile.gettempdir()) / f"correspondence-duckdb-{uuid.uuid4().hex}"
    memory = max(MIN_MEMORY_BYTES, MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    config: Any = {"temp_directory": str(folder), "memory_limit": f"{memory / 1e9:.2f}GB", "threads": count_threads()}
    return duckdb.connect(config=config)


def check_same_rows(is_same: bool) -> None:
    """Raise an error if a second reading of a source gave other rows."""
    if not is_same:
        raise ValueError(
            "source gave other rows when it was read again: write it to files, or persist it, and give those."
        )


def import_pyarrow() -> Any:
    """Import pyarrow, or say how to install it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(explain_missing_extra("Pairs need pyarrow", "scale")) from error
    return pyarrow
