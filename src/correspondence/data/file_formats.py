"""Files: CSV, TSV, Parquet and JSON lines by whichever data frame library there is, arrays of NumPy, and images."""

from __future__ import annotations

import csv
import difflib
import importlib.util
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.text import list_names, one_line

__all__ = [
    "ARRAY_ENDINGS",
    "FRAME_ENDINGS",
    "PairsFile",
    "as_label_texts",
    "check_columns",
    "check_plain",
    "column_names",
    "complete_rows",
    "for_numpy",
    "parquet_backend",
    "plain_values",
    "read_arrays",
    "read_frame",
    "read_pairs",
]

FRAME_BACKENDS = ("polars", "pandas", "pyarrow")
MAX_EXACT_INTEGER = 2**53  # below which whole numbers are the same as float64
FRAME_ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
ARRAY_ENDINGS = (".npz", ".npy")
CSV_SEPARATORS = ",;\t|"
PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zip", ".zst")
NO_TEXT = {  # how files begin that are no text in UTF-8, and what is wrong with them
    b"\x1f\x8b": "it is packed, so unpack it first",
    b"PK\x03\x04": "it is packed, or a spreadsheet: unpack it, or save it as CSV, first",
    b"\xff\xfe": "it is not UTF-8 text; save it as UTF-8",
    b"\xfe\xff": "it is not UTF-8 text; save it as UTF-8",
}
REASONS_BY_PATTERN = {  # what libraries say, and what it means
    r"utf-?8|surrogates not allowed": "it is not UTF-8 text; save it as UTF-8",
    r"EOF inside string": "a quote is opened and never closed",
    r"more fields than defined|Error tokenizing data|Expected \d+ columns, got": (
        "a row has more cells than the first one"
    ),
    r"could not parse `(?P<cell>.*?)` as dtype .* at column '(?P<column>.*?)'": (
        "column '{column}' has the cell {cell}, which is not like the others: look at its digits and quotes"
    ),
    r"(?i)file out of specification|not a parquet|magic bytes|thrift|is not a zip file|Bad CRC|^EOF|reading array": (
        "it is damaged, cut short, or something else"
    ),
    r"Unable to allocate|too (big|large) for": "it says that it holds more than there is memory for",
    r"contains pickled": "it is something else",
    r"allow_pickle=False": "it holds Python objects, which may do harm: save arrays of numbers and texts",
    r"more than one occurrence|unique column names|[Dd]uplicate": "two columns have the same name, so rename one",
    r"recursion depth": "its values are nested too deep",
}
MISSING_VALUE_TEXTS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]
_CSV_OPTIONS: dict[str, dict[str, Any]] = {  # the type of a column from all of its rows, and no column as an index
    "polars": {"infer_schema_length": None, "null_values": MISSING_VALUE_TEXTS, "try_parse_dates": True},
    "pandas": {"index_col": False, "low_memory": False, "na_values": MISSING_VALUE_TEXTS},
    "pyarrow": {},
}


class PairsFile(NamedTuple):
    """Two variables, and perhaps groups, of the rows of a file."""

    X: Any
    Y: Any
    groups: list[Any] | None
    n_missing: int
    """Rows left out because a value is missing."""


def read_pairs(
    path: str | Path,
    x: Sequence[str],
    y: Sequence[str],
    labels: Sequence[str] = (),
    groups: str | None = None,
) -> PairsFile:
    """Read the columns of two variables.

    Parameters
    ----------
    path : str or Path
        Its ending says what it is: .csv, .tsv, .parquet, .jsonl or .ndjson. The separator of a .csv file is found out.
    x, y : sequence of str
        Columns; without x all others.
    labels : sequence of str
        Columns of numbers that are labels all the same, such as grades or codes.
    groups : str, optional
        Column of the groups that pairs belong to.

    Returns
    -------
    PairsFile
        Frames with the columns; rows with a missing value are left out.
    """
    frame = read_frame(path)
    if not y:
        raise ValueError(f"y must name at least one column of {path}, which has {list_names(frame.columns, 20)}.")
    named = [groups] if groups else []
    x, y = list(dict.fromkeys(x)), list(dict.fromkeys(y))
    wanted = x or [name for name in frame.columns if name not in (*y, *named)]
    check_columns([*wanted, *y, *labels, *named], frame.columns, path)
    both = [name for name in wanted if name in y]
    if both or not wanted:
        raise ValueError(f"x and y must be different columns, {both[0]!r} is in both." if both else "x has no column.")
    chosen = frame.select(list(dict.fromkeys([*wanted, *y, *named])))
    check_plain(chosen.iter_columns())
    complete = complete_rows(chosen)
    if not complete.any():
        raise ValueError(f"{path} has no row without a missing value in the columns asked for.")
    whole = as_label_texts(chosen.filter(complete.tolist()), labels)
    return PairsFile(
        whole.select(wanted).to_native(),
        whole.select(list(y)).to_native(),
        whole[groups].to_list() if groups else None,
        len(frame) - len(whole),
    )


def check_columns(names: Iterable[str], columns: Sequence[str], path: Any) -> None:
    """Say which column is not there, and which it may have been."""
    for name in names:
        if name not in columns:
            near = difflib.get_close_matches(name, columns, 3, 0.6)
            hint = (
                f": perhaps {list_names(near, separator=' or ')} is meant"
                if near
                else f", which has {list_names(columns, 20)}"
            )
            raise ValueError(f"There is no column {one_line(repr(name), 60)} in {path}{hint}.")


def complete_rows(frame: nw.DataFrame) -> np.ndarray:
    """Whether all values of a row are there: neither null nor NaN nor an empty text."""
    complete = np.ones(len(frame), dtype=bool)
    for column in frame.iter_columns():
        missing = column.is_null()
        if column.dtype.is_float():
            missing = missing | column.is_nan().fill_null(True)
        elif column.dtype == nw.String:
            missing = missing | (column.fill_null("") == "")
        complete &= ~missing.to_numpy().astype(bool)
    return complete


def plain_values(column: nw.Series) -> list[Any]:
    """Values of a column, None where one is missing, in whichever way the library writes that."""
    missing = column.is_null().to_list()
    return [None if gone or value == "" else value for value, gone in zip(column.to_list(), missing, strict=True)]


def check_plain(columns: Iterable[nw.Series]) -> None:
    """Complain about columns of lists, objects or bytes."""
    for column in columns:
        if column.dtype.is_nested() or column.dtype == nw.Binary:
            what = one_line(column.dtype)
            raise ValueError(f"Column {column.name!r} holds {what}, which cannot be labels: use texts or numbers.")


def as_label_texts(frame: nw.DataFrame, names: Iterable[str]) -> nw.DataFrame:
    """Frame whose columns of these names are texts; whole numbers have no decimal point, however they were read."""
    columns = {name: frame[name] for name in names if name in frame.columns}
    check_plain(columns.values())
    for name, column in columns.items():
        if column.dtype.is_float() and bool(((column == column.round(0)) & (column.abs() < MAX_EXACT_INTEGER)).all()):
            columns[name] = column.cast(nw.Int64)
    return frame.with_columns(column.cast(nw.String) for column in columns.values())


def read_frame(path: str | Path) -> nw.DataFrame:
    """Read a table: .csv (whose separator is found out), .tsv, .parquet, .jsonl or .ndjson.

    A first column without a name is called "". Any error is a sentence that names the file.
    """
    path = Path(path)
    check_file(path, FRAME_ENDINGS)
    backend = next((name for name in FRAME_BACKENDS if importlib.util.find_spec(name)), None)
    if backend is None:
        raise ImportError("Reading files needs polars, pandas or pyarrow: pip install polars")
    try:
        frame = _READERS_BY_ENDING[path.suffix.lower()](path, backend)
    except Exception as error:
        raise explain_read_error(path, error) from error
    if not frame.columns:
        raise ValueError(f"{path} has no columns.")
    return frame


def for_numpy(frame: nw.DataFrame) -> nw.DataFrame:
    """Frame whose whole numbers of 128 bits, which NumPy does not have, are floats."""
    huge = [name for name in frame.columns if frame[name].dtype in (nw.Int128, nw.UInt128)]
    return frame.with_columns(frame[name].cast(nw.Float64) for name in huge) if huge else frame


def column_names(path: str | Path) -> list[str]:
    """Names of the columns or arrays of a file, from as little of it as possible."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending in (".csv", ".tsv"):
        return _read_header(path, "\t" if ending == ".tsv" else find_separator(path))
    if ending in (".jsonl", ".ndjson"):
        with path.open(encoding="utf-8-sig") as file:
            return list(_parse_json_line(file.readline(), 1))
    if ending == ".npz":
        with np.load(path) as arrays:
            return list(arrays.files)
    return list(read_frame(path).columns)


def parquet_backend() -> str:
    """Library that writes Parquet files."""
    for name in ("polars", "pyarrow"):
        if importlib.util.find_spec(name):
            return name
    raise ImportError("Writing Parquet files needs polars or pyarrow: pip install polars")


def read_arrays(path: str | Path) -> dict[str, Any]:
    """Arrays of a .npz file by name; that of a .npy file, or a sparse matrix saved by SciPy, is called ""."""
    path = Path(path)
    check_file(path, ARRAY_ENDINGS)
    try:
        if path.suffix.lower() == ".npy":
            return {"": np.load(path, mmap_mode="r")}
        with path.open("rb") as opened:  # NumPy leaves a damaged one open
            file = np.load(opened)
            if isinstance(file, np.ndarray):
                raise ValueError("it is a single array, so let its name end in .npy")
            if {"format", "shape", "data"} <= set(file.files):
                return {"": sp.csr_array(sp.load_npz(path))}
            return {name: file[name] for name in file.files}
    except Exception as error:  # of NumPy, zipfile and zlib
        raise explain_read_error(path, error) from None


def check_file(path: Path, endings: Sequence[str]) -> None:
    if path.is_dir():
        raise ValueError(f"There is no file {path}: it is a folder. For one of images, --images names their labels.")
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    if path.suffix.lower() not in endings:
        hint = " A spreadsheet can be saved as CSV." if path.suffix.lower().startswith(".xls") else ""
        hint = " It is packed: unpack it first." if path.suffix.lower() in PACKED_ENDINGS else hint
        raise ValueError(f"{path} must end in {', '.join(endings)}, to say what it is.{hint}")
    if not path.stat().st_size:
        raise ValueError(f"{path} cannot be read as {path.suffix}: it is empty.")


def explain_read_error(path: Path, error: Exception) -> ValueError:
    said = " ".join(str(error).replace(str(path), "it").split())  # a path may look like one of the patterns
    reason = one_line(said.rstrip(".") or type(error).__name__, 200)
    for pattern, clear in REASONS_BY_PATTERN.items():
        match = re.search(pattern, said)
        if match:
            reason = clear.format(**{name: one_line(part) for name, part in match.groupdict().items()})
            break
    return ValueError(f"{path} cannot be read as {path.suffix}: {reason}.")


def read_parquet_frame(path: Path, backend: Any) -> nw.DataFrame:
    return nw.read_parquet(str(path), backend=backend)


def read_csv_frame(path: Path, backend: Any) -> nw.DataFrame:
    check_text_file(path)
    separator = "\t" if path.suffix.lower() == ".tsv" else find_separator(path)
    _check_names(_read_header(path, separator))
    frame = nw.read_csv(str(path), backend=backend, separator=separator, **_CSV_OPTIONS[backend])
    if separator != ",":
        frame = frame.with_columns(parse_decimal_commas(frame[name]) for name in frame.columns)
    if frame.columns[:1] == ["Unnamed: 0"]:  # as pandas calls it
        frame = frame.rename({"Unnamed: 0": ""})
    if len(frame.columns) < 2:
        return frame
    return frame.filter(~nw.all_horizontal(nw.all().is_null(), ignore_nulls=True))  # a blank line is no row


def check_text_file(path: Path) -> None:
    """Say what a file is that is no text with lines: libraries make columns of anything."""
    with path.open("rb") as file:
        head = file.read(4096)
    for begin, what in NO_TEXT.items():
        if head.startswith(begin):
            raise ValueError(what)
    if b"\0" in head:
        raise ValueError("it is not UTF-8 text; save it as UTF-8")
    if b"\r" in head[:-1] and b"\n" not in head:  # LF may be the first byte that was not read
        raise ValueError("its lines end in CR alone, so save it with LF, or CR and LF, at their ends")


def _read_header(path: Path, separator: str) -> list[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return next(csv.reader(file, delimiter=separator), [])


def _check_names(names: Sequence[str]) -> None:
    """Complain about a name that two columns have: libraries rename one of them, or refuse."""
    twice = [name for name, times in Counter(names).items() if name and times > 1]
    if twice:
        raise ValueError(f"two columns have the name {one_line(twice[0])!r}, so rename one")


def parse_decimal_commas(column: nw.Series) -> nw.Series:
    """Numbers of a column that is written with decimal commas, and perhaps with points between the thousands."""
    if column.dtype != nw.String:
        return column
    texts = [text for text in column.to_list() if text]
    for pattern in (r"\s*[-+]?\d+(,\d+)?\s*", r"\s*[-+]?\d{1,3}(\.\d{3})*(,\d+)?\s*"):
        if texts and all(re.fullmatch(pattern, text) for text in texts):
            without = column.str.replace_all(".", "", literal=True)
            return without.str.replace_all(",", ".", literal=True).cast(nw.Float64)
    return column


def find_separator(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        start = "".join(line for _, line in zip(range(20), file, strict=False))
    try:
        return csv.Sniffer().sniff(start, CSV_SEPARATORS).delimiter
    except csv.Error:
        return ","  # a single column


def read_json_lines_frame(path: Path, backend: Any) -> nw.DataFrame:
    lines = path.read_text(encoding="utf-8-sig").split("\n")
    rows = [_parse_json_line(line, number) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise ValueError('there must be a line such as {"a": 1}')
    names = list(dict.fromkeys(name for row in rows for name in row))
    return nw.from_dict({name: unify_types([row.get(name) for row in rows], name) for name in names}, backend=backend)


def _parse_json_line(line: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise ValueError(f'line {number} must be an object such as {{"a": 1}}, got {one_line(line)}')
    return row


def unify_types(values: list[Any], name: str) -> list[Any]:
    """Numbers of one kind, and lists, such as those of ingredients, as texts; a column of both has no meaning."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {list}:
        return [None if value is None else ", ".join(map(str, value)) for value in values]
    if kinds == {int, float} or (kinds == {int} and any(abs(value or 0) >= 2**63 for value in values)):
        return [None if value is None else _to_float(value) for value in values]
    if len(kinds) > 1:
        what = " and ".join(sorted({_TYPE_NAMES[kind] for kind in kinds}))
        raise ValueError(f"{one_line(name)!r} has {what}: write all of them in one way")
    return values


def _to_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # which a CSV file has as infinity
        return math.inf if value > 0 else -math.inf


_TYPE_NAMES = {str: "texts", int: "numbers", float: "numbers", bool: "true or false", list: "lists", dict: "objects"}
_READERS_BY_ENDING: dict[str, Callable[[Path, Any], nw.DataFrame]] = {
    ".csv": read_csv_frame,
    ".tsv": read_csv_frame,
    ".parquet": read_parquet_frame,
    ".jsonl": read_json_lines_frame,
    ".ndjson": read_json_lines_frame,
}
