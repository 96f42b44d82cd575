"""Tables of other programs: spreadsheets, files of SPSS, Stata and SAS, and ARFF files of Weka."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from correspondence._util.extras import explain_missing_extra
from correspondence._util.text import list_names, one_line
from correspondence.data.text_columns import FileTable, Readings, parse_text_columns
from correspondence.data.text_files import decode_other_text, open_text_file
from correspondence.data.title_rows import N_ROWS_LOOKED_AT, count_title_rows, describe_title_rows

__all__ = ["read_arff", "read_excel", "read_statistics_file"]

DAMAGED_WORKBOOK = "it is damaged, protected, or not a spreadsheet"
NAMELESS = "__UNNAMED__"  # how fastexcel calls columns without a name
MAX_LABELLED_SHOWN = 3  # values with labels that are named in a remark


# --- spreadsheets


def read_excel(path: Path, readings: Readings) -> FileTable:
    """Read the first sheet of a spreadsheet that is not empty; the types of its columns follow from all rows."""
    try:
        fastexcel = import_module("fastexcel")
    except ImportError as error:
        raise ImportError(explain_missing_extra("A spreadsheet needs fastexcel", "excel", "save it as CSV")) from error
    try:
        sheets = fastexcel.read_excel(path.read_bytes()).sheet_names
        tables = ((sheet, *_read_sheet(path, sheet)) for sheet in sheets)
        name, frame, n = next((table for table in tables if table[1].width), ("", pl.DataFrame(), 0))
    except fastexcel.FastExcelError:
        raise ValueError(DAMAGED_WORKBOOK) from None
    others = [sheet for sheet in sheets if sheet != name]
    left = f": {list_names(others, 5)} is not" if len(others) == 1 else f": {list_names(others, 5)} are not"
    notes = [f"Sheet {one_line(name)!r} is read{left}."] if others else []
    notes += describe_title_rows(n)
    return parse_text_columns(frame, readings, notes)


def _read_sheet(path: Path, sheet: str) -> tuple[pl.DataFrame, int]:
    """Read a sheet, and count the rows above that which names the columns."""
    content = path.read_bytes()
    options: Any = {"sheet_name": sheet, "engine": "calamine", "raise_if_empty": False}
    as_texts = {"n_rows": N_ROWS_LOOKED_AT, "dtypes": "string", "skip_rows": 0}  # or blank rows above are not counted
    first = pl.read_excel(content, has_header=False, read_options=as_texts, drop_empty_rows=False, **options)
    n = count_title_rows(first.rows())
    names = [str(name) for name in (first.row(n) if len(first) else ()) if name is not None]
    twice = next((name for name, times in Counter(names).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"two columns have the name {one_line(twice)!r}, so rename one")
    below: Any = {"header_row": n} if n else {}
    frame = pl.read_excel(content, infer_schema_length=None, read_options=below, **options)
    return _name_columns(frame), n


def _name_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """Drop columns without a name and without a value; only the first may have values, the names of the rows."""
    empty = [c.name for c in frame.iter_columns() if c.name.startswith(NAMELESS) and c.null_count() == len(c)]
    frame = frame.drop(empty)
    nameless = [i for i, name in enumerate(frame.columns) if name.startswith(NAMELESS)]
    if nameless and nameless[-1] > 0:
        why = "the first row must name the columns, so remove what stands above their names"
        raise ValueError(f"column {nameless[-1] + 1} has values but no name: {why}, or name it")
    return frame.rename({frame.columns[0]: ""}) if nameless else frame


# --- statistics programs


def read_statistics_file(path: Path, readings: Readings) -> FileTable:
    """Read a file of SPSS, Stata or SAS; values that have labels become labels."""
    try:
        pyreadstat = import_module("pyreadstat")
    except ImportError as error:
        raise ImportError(explain_missing_extra(f"A {path.suffix} file needs pyreadstat", "spss")) from error
    kind = {".zsav": "sav"}.get(path.suffix.lower(), path.suffix.lower()[1:])
    try:
        columns, about = getattr(pyreadstat, f"read_{kind}")(str(path), output_format="dict")
    except pyreadstat.ReadstatError as error:
        raise ValueError(str(error).strip() or "it is damaged") from None
    frame = pl.DataFrame({name: _make_column(values) for name, values in columns.items()})
    notes: dict[str, list[str]] = {}
    for name, labels in about.variable_value_labels.items():
        column, note = _apply_labels(frame[name], labels)
        frame = frame.with_columns(column)
        notes |= {name: [note]} if note else {}
    return FileTable(frame, (), notes)


def _make_column(values: list[Any]) -> pl.Series:
    """Make a column of values; empty texts are missing, and floats that are all whole are whole numbers."""
    column = pl.Series([None if value == "" else value for value in values], strict=False)
    if column.dtype == pl.Float64 and bool((column.drop_nulls() == column.drop_nulls().round()).all()):
        return column.cast(pl.Int64, strict=False) if column.abs().max() is not None else column
    return column


def _apply_labels(column: pl.Series, labels: dict[Any, str]) -> tuple[pl.Series, str]:
    """Replace values by their labels if all have one; else keep the numbers, and say which have labels."""
    values = column.drop_nulls().unique()
    used = {value: labels[value] for value in values.to_list() if value in labels}
    if not used:
        return column, ""
    if len(used) == len(values):
        return column.replace_strict(used, default=None, return_dtype=pl.String), ""
    shown = list_names([f"{value} ({label})" for value, label in used.items()], MAX_LABELLED_SHOWN)
    return column, f"{column.name}: values with a label are read as numbers, because others have none: {shown}."


# --- ARFF


class _Attribute(NamedTuple):
    name: str
    kind: str
    """One of "numeric", "nominal", "string" and "date"."""
    default: str
    """What a sparse row has if it does not say."""


QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
ATTRIBUTE_PATTERN = re.compile(rf"@attribute\s+({QUOTED}|\S+?)\s*(\{{.*|(?<=\s)\S.*)", re.IGNORECASE)
CELL_PATTERN = re.compile(rf"""\s*({QUOTED}|(?!['"])[^,]*)\s*(,|$)""")
SPARSE_CELL_PATTERN = re.compile(rf"(\d+)\s+({QUOTED}|[^,\s]+)\s*(?:,|$)")
NUMERIC_KINDS = ("numeric", "real", "integer")


def read_arff(path: Path, readings: Readings) -> FileTable:
    """Read an ARFF file of Weka; "?" is missing, and nominal values are labels."""
    file = open_text_file(path)
    file = decode_other_text(file) or file
    with file.open_text() as text:
        lines = [(number, line.strip()) for number, line in enumerate(text, 1)]
    kept = iter([(number, line) for number, line in lines if line and not line.startswith("%")])
    attributes = _read_attributes(kept)
    rows = [_read_row(line, number, attributes) for number, line in kept]
    columns = [_type_column(a, [row[i] for row in rows]) for i, a in enumerate(attributes)]
    return FileTable(pl.DataFrame(columns), file.notes)


def _read_attributes(lines: Iterator[tuple[int, str]]) -> list[_Attribute]:
    """Read the names and types up to the line @data."""
    attributes: list[_Attribute] = []
    for number, line in lines:
        word = line.split(None, 1)[0].lower()
        if word == "@data":
            twice = next((name for name, times in Counter(a.name for a in attributes).items() if times > 1), None)
            if twice is not None:
                raise ValueError(f"two attributes have the name {one_line(twice)!r}, so rename one")
            return attributes
        match = ATTRIBUTE_PATTERN.match(line)
        if match:
            attributes.append(_read_type(_unquote(match[1]), match[2].strip(), number))
        elif word != "@relation":
            raise ValueError(f"line {number} must be @relation, @attribute or @data, got {one_line(line)}")
    raise ValueError("it has no line @data")


def _read_type(name: str, kind: str, number: int) -> _Attribute:
    if kind.startswith("{"):
        return _Attribute(name, "nominal", _split_cells(kind.strip("{}"), number)[0] or "")
    word = kind.split(None, 1)[0].lower() if kind else ""
    if word in NUMERIC_KINDS:
        return _Attribute(name, "numeric", "0")
    if word in ("string", "date"):
        return _Attribute(name, word, "")
    raise ValueError(f"line {number}: the type {one_line(kind)} of {one_line(name)!r} cannot be read")


def _read_row(line: str, number: int, attributes: list[_Attribute]) -> list[str | None]:
    """Read one row; a sparse one, in braces, has pairs of a position and a value."""
    if not line.startswith("{"):
        cells = _split_cells(line, number)
        if len(cells) != len(attributes):
            raise ValueError(f"line {number} has {len(cells)} values for {len(attributes)} attributes")
        return cells
    row: list[str | None] = [attribute.default for attribute in attributes]
    for position, value in SPARSE_CELL_PATTERN.findall(line.strip("{} ")):
        if int(position) >= len(row):
            raise ValueError(f"line {number} has no attribute {position}: there are {len(row)}, counted from 0")
        row[int(position)] = None if value == "?" else _unquote(value)
    return row


def _split_cells(text: str, number: int) -> list[str | None]:
    """Split a line at commas that are not in quotes, of either kind; a bare ? is missing."""
    cells: list[str | None] = []
    at = 0
    while True:
        match = CELL_PATTERN.match(text, at)
        if match is None:
            raise ValueError(f"line {number} has a quote that is never closed")
        cells.append(None if match[1].strip() == "?" else _unquote(match[1].strip()))
        at = match.end()
        if not match[2]:
            return cells


def _unquote(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _type_column(attribute: _Attribute, values: list[str | None]) -> pl.Series:
    texts = pl.Series(attribute.name, values, dtype=pl.String)
    if attribute.kind == "date":
        return parse_text_columns(texts.to_frame()).frame.to_series()
    if attribute.kind != "numeric":
        return texts
    numbers = texts.str.strip_chars().cast(pl.Float64, strict=False)
    if numbers.null_count() > texts.null_count():
        odd = texts.filter(numbers.is_null() & texts.is_not_null())[0]
        raise ValueError(f"the attribute {one_line(attribute.name)!r} is numeric, but has {one_line(odd)!r}")
    whole = texts.str.strip_chars().cast(pl.Int64, strict=False)
    return whole if whole.null_count() == numbers.null_count() else numbers
