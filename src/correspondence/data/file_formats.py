"""Files of pairs: CSV, Excel, Parquet, JSON and files of other programs as frames of polars, and arrays of NumPy."""

from __future__ import annotations

import csv
import difflib
import gzip
import json
import lzma
import math
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import scipy.sparse as sp

from correspondence._util.text import list_names, one_line
from correspondence.data.csv_files import read_csv, read_header
from correspondence.data.other_formats import read_arff, read_excel, read_statistics_file
from correspondence.data.text_columns import AS_SUGGESTED, FileTable, Readings
from correspondence.data.text_files import NOT_UTF8, PACKED_ENDINGS, find_ending

__all__ = [
    "ARRAY_ENDINGS",
    "FRAME_ENDINGS",
    "as_label_texts",
    "check_columns",
    "check_plain",
    "column_names",
    "convert_for_numpy",
    "find_complete_rows",
    "list_values",
    "read_arrays",
    "read_file",
    "read_frame",
]

MAX_EXACT_INTEGER = 2**53  # float64 holds all whole numbers up to here
ARRAY_ENDINGS = (".npz", ".npy")
DAMAGED = "it is damaged, cut short, or something else"
ODD_OFFSET = "it has times with an offset such as +05:30, so write them in a zone with a name, or without a zone"
REASONS_BY_ERROR: dict[type[Exception] | tuple[type[Exception], ...], str] = {
    UnicodeError: NOT_UTF8,
    csv.Error: "a quote is never closed, or is not doubled inside a cell",
    RecursionError: "its values are nested too deep",
    MemoryError: "it says that it holds more than there is memory for",
    pl.exceptions.DuplicateError: "two columns have the same name, so rename one",
    (zipfile.BadZipFile, zlib.error, EOFError, lzma.LZMAError, gzip.BadGzipFile): DAMAGED,
}


def check_columns(names: Iterable[str], columns: Sequence[str], path: Any) -> None:
    """Raise an error if a column is missing, and say which may have been meant."""
    for name in names:
        if name not in columns:
            near = difflib.get_close_matches(name, columns, 3, 0.6)
            hint = (
                f": perhaps {list_names(near, separator=' or ')} is meant"
                if near
                else f", which has {list_names(columns, 20)}"
            )
            raise ValueError(f"There is no column {one_line(repr(name), 60)} in {path}{hint}.")


def find_complete_rows(frame: nw.DataFrame) -> np.ndarray:
    """Find the rows without a missing value: null, NaN or an empty text."""
    complete = np.ones(len(frame), dtype=bool)
    for column in frame.iter_columns():
        missing = column.is_null()
        if column.dtype.is_float():
            missing = missing | column.is_nan().fill_null(True)
        elif column.dtype == nw.String:
            missing = missing | (column.fill_null("") == "")
        complete &= ~missing.to_numpy().astype(bool)
    return complete


def list_values(column: nw.Series) -> list[Any]:
    """List the values of a column, with None for missing ones and empty texts."""
    return [None if value == "" else value for value in column.to_list()]


def check_plain(columns: Iterable[nw.Series]) -> None:
    """Raise an error if a column holds lists, objects or bytes."""
    for column in columns:
        if column.dtype.is_nested() or column.dtype == nw.Binary:
            what = one_line(column.dtype)
            raise ValueError(f"Column {column.name!r} holds {what}, which cannot be labels: use texts or numbers.")


def as_label_texts(frame: nw.DataFrame, names: Iterable[str]) -> nw.DataFrame:
    """Convert columns to texts; whole numbers have no decimal point, however they were read."""
    columns = {name: frame[name] for name in names if name in frame.columns}
    check_plain(columns.values())
    for name, column in columns.items():
        if column.dtype.is_float() and bool(((column == column.round(0)) & (column.abs() < MAX_EXACT_INTEGER)).all()):
            columns[name] = column.cast(nw.Int64)
    return frame.with_columns(column.cast(nw.String) for column in columns.values())


def read_frame(path: str | Path) -> nw.DataFrame:
    """Read a table as `read_file` does, without the remarks."""
    return nw.from_native(read_file(path).frame)


def read_file(path: str | Path, readings: Readings = AS_SUGGESTED) -> FileTable:
    """Read a table of any format, and say what was not read literally.

    A first column without a name is called "". Every error is a sentence that names the file.

    Parameters
    ----------
    path : str or Path
        The ending says what it is: .csv (whose separator is detected), .tsv, either of them packed (.csv.gz), .xlsx,
        .parquet, .json, .jsonl, .sav, .dta, .arff or another one of `FRAME_ENDINGS`.
    readings : Readings
        The choices where a text has two readings.
    """
    path = Path(path)
    check_file(path, FRAME_ENDINGS)
    try:
        table = _READERS_BY_ENDING[find_ending(path)](path, readings)
    except ImportError:  # it says which extra is missing
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not _is_panic(error):
            raise
        raise explain_read_error(path, error) from error
    if not table.frame.columns:
        raise ValueError(f"{path} has no columns.")
    return table._replace(frame=restore_whole_numbers(table.frame))


def restore_whole_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn whole numbers that were written as decimals because of gaps, as pandas does, into whole numbers again."""
    gaps = [column.fill_nan(None) for column in frame.iter_columns() if column.dtype.is_float()]
    whole = [
        column.cast(pl.Int64)
        for column in gaps
        if 0 < column.null_count() < len(column)
        and bool(((column == column.round()) & (column.abs() < MAX_EXACT_INTEGER)).all())
    ]
    return frame.with_columns(whole)


def convert_for_numpy(frame: nw.DataFrame) -> nw.DataFrame:
    """Convert whole numbers of 128 bits, which NumPy does not have, to floats."""
    huge = [name for name in frame.columns if frame[name].dtype in (nw.Int128, nw.UInt128)]
    return frame.with_columns(frame[name].cast(nw.Float64) for name in huge) if huge else frame


def column_names(path: str | Path) -> list[str]:
    """Read the names of the columns or arrays of a file, and as little else as possible."""
    path = Path(path)
    ending = find_ending(path)
    if ending.startswith((".csv", ".tsv")):
        return read_header(path)
    if ending in (".jsonl", ".ndjson"):
        with path.open(encoding="utf-8-sig") as file:
            return list(_parse_json_line(file.readline(), 1))
    if ending == ".npz":
        with np.load(path) as arrays:
            return list(arrays.files)
    return list(pl.read_parquet_schema(path)) if ending == ".parquet" else read_frame(path).columns


def read_arrays(path: str | Path) -> dict[str, Any]:
    """Read the arrays of a .npz file by name; that of a .npy file, or a sparse matrix saved by SciPy, is called ""."""
    path = Path(path)
    check_file(path, ARRAY_ENDINGS)
    try:
        if path.suffix.lower() == ".npy":
            return {"": np.load(path, mmap_mode="r")}
        with path.open("rb") as opened:  # NumPy would leave a damaged file open
            file = np.load(opened)
            if not isinstance(file, np.ndarray):
                is_sparse = {"format", "shape", "data"} <= set(file.files)
                return {"": sp.csr_array(sp.load_npz(path))} if is_sparse else {name: file[name] for name in file.files}
    except ValueError:  # pickled objects, or fewer bytes than the header promises
        raise explain_read_error(path, ValueError(f"{DAMAGED} than arrays of numbers and texts")) from None
    except Exception as error:  # from zipfile or zlib
        raise explain_read_error(path, error) from None
    raise explain_read_error(path, ValueError("it is a single array, so let its name end in .npy"))


def check_file(path: Path, endings: Sequence[str]) -> None:
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a file. For a folder of images, --images names the file of labels.")
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    if find_ending(path) not in endings:
        hint = " It is packed: unpack it first." if path.suffix.lower() in PACKED_ENDINGS else ""
        main = [ending for ending in endings if ending.count(".") == 1]
        raise ValueError(f"{path} must end in {', '.join(main[:-1])} or {main[-1]}, which says how to read it.{hint}")
    if not path.stat().st_size:
        raise ValueError(f"{path} cannot be read as {path.suffix}: it is empty.")


def _is_panic(error: BaseException) -> bool:
    """Say whether a library in Rust panicked, as some do on damaged files; each has a class of its own for that."""
    return type(error).__name__ == "PanicException"


def explain_read_error(path: Path, error: BaseException) -> ValueError:
    if _is_panic(error):
        error = ValueError(ODD_OFFSET if "time zone" in str(error) else DAMAGED)
    reason = next((reason for kinds, reason in REASONS_BY_ERROR.items() if isinstance(error, kinds)), None)
    if reason is None:
        said = (isinstance(error, OSError) and error.strerror) or str(error).partition("\n")[0]
        reason = one_line((said or type(error).__name__).rstrip("."), 200)
    return ValueError(f"{path} cannot be read as {find_ending(path)}: {reason}.")


def _read_parquet(path: Path, readings: Readings) -> FileTable:
    try:
        with path.open("rb") as file:  # the name may not be text, or look like a pattern
            return FileTable(pl.read_parquet(file))
    except pl.exceptions.ComputeError:
        raise ValueError(DAMAGED) from None


def _read_json_lines(path: Path, readings: Readings) -> FileTable:
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    rows = [_parse_json_line(line, number) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise ValueError('there must be a line such as {"a": 1}')
    return _join_records(rows)


def _read_json(path: Path, readings: Readings) -> FileTable:
    rows = json.loads(path.read_text(encoding="utf-8-sig"))
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise ValueError('it must be a list of objects such as [{"a": 1}, {"a": 2}]')
    return _join_records(rows)


def _join_records(rows: list[dict[str, Any]]) -> FileTable:
    """Make a table of objects; a column of texts and numbers becomes texts, with a remark."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns, notes = {}, {}
    for name in names:
        values = [row.get(name) for row in rows]
        columns[name] = unify_types(values, name)
        if any(type(a) is not type(b) for a, b in zip(values, columns[name], strict=True) if isinstance(b, str)):
            notes[name] = [_describe_mixture(values, name)] if str in map(type, values) else []
    return FileTable(pl.DataFrame(columns, strict=True), (), notes)


def _describe_mixture(values: list[Any], name: str) -> str:
    odd = [value for value in values if value is not None and not isinstance(value, str)]
    return f"{one_line(name)}: {len(odd)} value(s) such as {one_line(odd[0])} are read as texts, as all others are."


def _parse_json_line(line: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise ValueError(f'line {number} must be an object such as {{"a": 1}}, got {one_line(line)}')
    return row


def unify_types(values: list[Any], name: str) -> list[Any]:
    """Convert numbers to one type; lists and numbers among texts become texts, and other mixtures are an error."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {list}:
        return [None if value is None else ", ".join(map(str, value)) for value in values]
    if kinds == {int, float} or (kinds == {int} and any(abs(value or 0) >= 2**63 for value in values)):
        return [None if value is None else _to_float(value) for value in values]
    if str in kinds and kinds <= {str, int, float, bool}:
        return [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    if len(kinds) > 1:
        what = " and ".join(sorted({_TYPE_NAMES[kind] for kind in kinds}))
        raise ValueError(f"{one_line(name)!r} has {what}: write all of them in one way")
    return values


def _to_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # infinity, as in a CSV file
        return math.inf if value > 0 else -math.inf


_TYPE_NAMES = {str: "texts", int: "numbers", float: "numbers", bool: "true or false", list: "lists", dict: "objects"}
_READERS_BY_ENDING: dict[str, Callable[[Path, Readings], FileTable]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".parquet": _read_parquet,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".json": _read_json,
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"), read_excel),
    **dict.fromkeys((".sav", ".zsav", ".por", ".dta", ".sas7bdat"), read_statistics_file),
    ".arff": read_arff,
    **{start + packed: read_csv for start in (".csv", ".tsv") for packed in PACKED_ENDINGS},
}
FRAME_ENDINGS = tuple(_READERS_BY_ENDING)
