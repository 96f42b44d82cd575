"""CSV files: which separator they have, what their columns hold, and why one cannot be read."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl

from correspondence._util.text import one_line

__all__ = ["NOT_UTF8", "read_csv", "read_header"]

CSV_SEPARATORS = ",;\t|"
MISSING_VALUE_TEXTS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]
MAX_DIGITS = 38  # of a whole number that polars can hold for certain
N_TEXTS_TRIED_AS_DATES = 100
PANDAS_INDEX = "Unnamed: 0"  # how pandas calls an index without a name that was written and read again
NOT_UTF8 = "it is not UTF-8 text; save it as UTF-8"
REASONS_BY_FIRST_BYTES = {
    b"\x1f\x8b": "it is packed, so unpack it first",
    b"PK\x03\x04": "it is packed, or a spreadsheet: unpack it, or save it as CSV, first",
    b"\xff\xfe": NOT_UTF8,
    b"\xfe\xff": NOT_UTF8,
}
# With decimal commas; the second pattern has points between the thousands.
DECIMAL_COMMA_PATTERNS = (r"^\s*[-+]?[0-9]+(,[0-9]+)?\s*$", r"^\s*[-+]?[0-9]{1,3}(\.[0-9]{3})*(,[0-9]+)?\s*$")


def read_csv(path: Path) -> pl.DataFrame:
    """Read a .csv or .tsv file; the type of a column follows from all of its rows, and blank lines are not rows."""
    _check_first_bytes(path)
    separator = _find_separator(path)
    named_twice = [name for name, times in Counter(read_header(path)).items() if name and times > 1]
    if named_twice:  # polars would rename one of them
        raise ValueError(f"two columns have the name {one_line(named_twice[0])!r}, so rename one")
    try:
        frame = pl.read_csv(
            path, separator=separator, infer_schema_length=None, null_values=MISSING_VALUE_TEXTS, glob=False
        )
    except pl.exceptions.ComputeError:
        _raise_fault(path, separator)
        raise
    texts = frame.select(pl.col(pl.String)).get_columns()
    if separator != ",":
        texts = [_parse_decimal_commas(column) for column in texts]
    frame = frame.with_columns(_parse_dates(column) if column.dtype == pl.String else column for column in texts)
    if frame.columns[0] == PANDAS_INDEX:
        frame = frame.rename({PANDAS_INDEX: ""})
    return frame if frame.width < 2 else frame.filter(~pl.all_horizontal(pl.all().is_null()))


def read_header(path: Path) -> list[str]:
    """Read the names of the columns."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return next(csv.reader(file, delimiter=_find_separator(path)), [])


def _check_first_bytes(path: Path) -> None:
    """Refuse a file that is not text with lines: polars makes columns of anything."""
    with path.open("rb") as file:
        head = file.read(4096)
    for begin, reason in REASONS_BY_FIRST_BYTES.items():
        if head.startswith(begin):
            raise ValueError(reason)
    if b"\0" in head:
        raise ValueError(NOT_UTF8)
    if b"\r" in head[:-1] and b"\n" not in head:  # LF may be the first byte that was not read
        raise ValueError("its lines end in CR alone, so save it with LF, or CR and LF, at their ends")


def _find_separator(path: Path) -> str:
    if path.suffix.lower() == ".tsv":
        return "\t"
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        start = "".join(line for _, line in zip(range(20), file, strict=False))
    try:
        return csv.Sniffer().sniff(start, CSV_SEPARATORS).delimiter
    except csv.Error:
        return ","  # a single column


def _raise_fault(path: Path, separator: str) -> None:
    """Look for what polars could not read: slow, so only done after it has failed."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=separator, strict=True)
        width = len(next(rows))
        for row in rows:
            if len(row) > width:
                raise ValueError(f"line {rows.line_num} has {len(row)} cells, more than the first line ({width})")
            huge = next((cell for cell in row if len(cell) > MAX_DIGITS and cell.lstrip("+-").isdecimal()), None)
            if huge:
                raise ValueError(
                    f"line {rows.line_num} has the whole number {one_line(huge)}, which is too large: "
                    "write it with a decimal point"
                )


def _parse_decimal_commas(column: pl.Series) -> pl.Series:
    """Parse a column of texts as numbers if all have decimal commas, and perhaps points between the thousands."""
    texts = column.filter(column != "")
    if not len(texts) or not any(texts.str.contains(pattern).all() for pattern in DECIMAL_COMMA_PATTERNS):
        return column
    plain = column.str.strip_chars().str.replace_all(".", "", literal=True)
    return plain.str.replace_all(",", ".", literal=True).cast(pl.Float64)


def _parse_dates(column: pl.Series) -> pl.Series:
    """Parse a column of texts as dates or times if all are.

    The first texts decide whether it is tried, because polars would try every format on every text of the file.
    """
    first = column.drop_nulls().head(N_TEXTS_TRIED_AS_DATES).to_frame().write_csv().encode()
    try:
        kind: Any = pl.read_csv(first, try_parse_dates=True, infer_schema_length=None).dtypes[0]
        return column.str.strptime(kind) if kind.is_temporal() else column
    except pl.exceptions.PolarsError:  # a later text is not one, or is one in another format
        return column
