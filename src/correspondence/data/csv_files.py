"""CSV files: which separator they have, what their columns are called, and why one cannot be read."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import polars as pl

from correspondence._util.text import list_names, one_line
from correspondence.data.text_columns import AS_SUGGESTED, FileTable, Readings, parse_text_columns
from correspondence.data.text_files import TextFile, decode_other_text, find_ending, open_text_file
from correspondence.data.title_rows import count_title_rows, describe_title_rows

__all__ = ["read_csv", "read_header"]

CSV_SEPARATORS = ",;\t|"
MISSING_VALUE_TEXTS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]
N_LINES_SNIFFED = 50  # lines from which the separator is found
PANDAS_INDEX = "Unnamed: 0"  # how pandas calls an index without a name that was written and read again
SPACES_NOTE = "The cells of the file are separated by spaces."
ROW_NAMES_NOTE = "The first line has one name less than the rows have cells: the first column names the rows."
PLAIN_NUMBER_PATTERN = re.compile(r"[-+]?[0-9]*[.,]?[0-9]+")


def read_csv(path: Path, readings: Readings = AS_SUGGESTED) -> FileTable:
    """Read a .csv or .tsv file; the type of a column follows from all of its rows, and blank lines are not rows."""
    file = open_text_file(path)
    try:
        frame, notes = _read_texts(file)
    except (UnicodeError, pl.exceptions.ComputeError):
        other = decode_other_text(file)
        if other is None:
            raise
        frame, notes = _read_texts(other)
    return parse_text_columns(frame, readings, notes)


def read_header(path: Path) -> list[str]:
    """Read the names of the columns."""
    file, separator = _find_table(open_text_file(path))
    with file.open_text("replace") as text:
        return strip_quotes(next(csv.reader(text, delimiter=separator), []))


def _read_texts(file: TextFile) -> tuple[pl.DataFrame, list[str]]:
    """Read all columns as texts, and remarks on separators and the names of the columns."""
    file, separator = _replace_spaces(*_find_table(file))
    with file.open_text() as text:
        names = strip_quotes(next(csv.reader(text, delimiter=separator, strict=True), []))
    _check_names(names)
    try:
        frame = _parse_lines(file, separator)
    except pl.exceptions.ComputeError:
        if _have_row_names(file, separator):
            named = TextFile(file.path, separator.encode() + file.read_bytes(), (*file.notes, ROW_NAMES_NOTE))
            return _read_texts(named)
        _check_rows(file, separator)
        frame = _parse_lines(file, separator, truncate_ragged_lines=True)  # what is cut off is empty
    frame = _name_columns(frame, names) if len(names) == frame.width else frame
    if frame.width and frame.columns[0] == PANDAS_INDEX:
        frame = frame.rename({PANDAS_INDEX: ""})
    frame = frame if frame.width < 2 else frame.filter(~pl.all_horizontal(pl.all().is_null()))
    return frame, [*file.notes, *_describe_names(names)]


def _find_table(file: TextFile) -> tuple[TextFile, str]:
    """Find the separator, and leave out blank lines, comments and a title above the names of the columns."""
    separator = _find_separator(file)
    with file.open_text("replace") as text:
        lines = list(islice(text, N_LINES_SNIFFED))
    widths = set(_count_cells(lines, separator))
    is_certain = find_ending(file.path).startswith(".tsv") or (len(widths) == 1 and widths != {1})
    titles = [_find_title(lines, one) for one in (separator if is_certain else CSV_SEPARATORS)]
    width, n_lines, separator_below = max(titles, default=(0, 0, ""))
    if not width:
        return file, separator
    content = b"".join(file.read_bytes().splitlines(keepends=True)[n_lines:])
    return TextFile(file.path, content, (*file.notes, *describe_title_rows(n_lines))), separator_below


def _find_title(lines: list[str], separator: str) -> tuple[int, int, str]:
    """Return the width of the table, how many lines stand above it, and the separator; zeros if there are none."""
    rows, ends = [], []
    reader = csv.reader(lines, delimiter=separator)
    try:
        for row in reader:
            rows.append(row)
            ends.append(reader.line_num)
    except csv.Error:
        return 0, 0, separator
    n = count_title_rows(rows)
    widths = {len(row) for row in (rows[n:-1] if len(lines) == N_LINES_SNIFFED else rows[n:]) if row}
    return (widths.pop(), ends[n - 1], separator) if n and len(widths) == 1 else (0, 0, separator)


def _replace_spaces(file: TextFile, separator: str) -> tuple[TextFile, str]:
    """Replace runs of spaces by tabs if they are what separates the cells of all lines, as in files of R."""
    with file.open_text("replace") as text:
        first = list(islice(text, N_LINES_SNIFFED))
    if any(mark in line for mark in CSV_SEPARATORS for line in first) or len(first) < 2:
        return file, separator
    names, *rows = _split_at_spaces(first) or [[]]
    widths = {len(row) for row in rows}
    if len(names) < 2 or widths not in ({len(names)}, {len(names) + 1}):
        return file, separator
    with file.open_text() as text:
        lines = _split_at_spaces(text.readlines())
    has_row_names = widths != {len(names)}
    lines[0] = [""] * has_row_names + lines[0]
    notes = (*file.notes, SPACES_NOTE, *[ROW_NAMES_NOTE] * has_row_names)
    return TextFile(file.path, _join_by_tabs(lines).encode(), notes), "\t"


def _split_at_spaces(lines: list[str]) -> list[list[str]]:
    rows = csv.reader((line.strip() for line in lines), delimiter=" ", skipinitialspace=True)
    return [row for row in rows if row]


def _join_by_tabs(rows: list[list[str]]) -> str:
    """Write rows as lines with tabs between their cells."""
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows(rows)
    return text.getvalue()


def _have_row_names(file: TextFile, separator: str) -> bool:
    """Say whether all rows begin with a name in quotes for which the first line has none, as R writes tables."""
    with file.open_text() as text:
        lines = [line for line in text if line.strip()]
    first, *rows = csv.reader(lines, delimiter=separator)
    is_quoted = all(line.startswith('"') for line in lines[1:])
    return is_quoted and all(len(row) == len(first) + 1 for row in rows) and len({row[0] for row in rows}) == len(rows)


def _parse_lines(file: TextFile, separator: str, truncate_ragged_lines: bool = False) -> pl.DataFrame:
    return pl.read_csv(
        file.source,
        separator=separator,
        infer_schema=False,
        null_values=MISSING_VALUE_TEXTS,
        truncate_ragged_lines=truncate_ragged_lines,
        glob=False,
    )


def strip_quotes(names: list[str]) -> list[str]:
    """Leave out quotes that are left around all names, single or doubled ones, as in ``'age'	'income'``."""
    quoted = [re.fullmatch(r"""\s*(['"])([^'"]*)\1\s*""", name) for name in names]
    inner = [found[2] for found in quoted if found]
    is_clear = len(inner) == len(names) > 1 and len(set(inner)) == len(inner)
    return inner if is_clear else names


def _check_names(names: list[str]) -> None:
    """Raise an error for two columns of one name, of which polars would rename one."""
    named_twice = [name for name, times in Counter(names).items() if name and times > 1]
    if named_twice:
        raise ValueError(f"two columns have the name {one_line(named_twice[0])!r}, so rename one")


def _name_columns(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """Name the columns, in which polars leaves doubled quotes.

    Columns without a name and without a value, which separators at the ends of lines make, are dropped; the first one
    may have values, the names of the rows.
    """
    nameless = [i for i, name in enumerate(names) if not name.strip() and i > 0]
    used = next((i for i in nameless if frame[:, i].null_count() < len(frame)), None)
    if used is not None:
        raise ValueError(f"column {used + 1} has values but no name: name it in the first line")
    return pl.DataFrame({name: frame[:, i] for i, name in enumerate(names) if i not in nameless})


def _describe_names(names: list[str]) -> list[str]:
    """Say what the columns are called if that looks like the first row of values."""
    if not names or not all(PLAIN_NUMBER_PATTERN.fullmatch(name.strip()) for name in names):
        return []
    return [f"The first line is read as the names of the columns, which are numbers: {list_names(names, 5)}."]


def _find_separator(file: TextFile) -> str:
    """Find the separator that gives all of the first lines the same number of cells, at least two."""
    if find_ending(file.path).startswith(".tsv"):
        return "\t"
    with file.open_text("replace") as text:
        lines = list(islice(text, N_LINES_SNIFFED))
    widths = {separator: _count_cells(lines, separator) for separator in CSV_SEPARATORS}
    even = [separator for separator, counts in widths.items() if len(set(counts)) == 1 and counts[0] > 1]
    if even:
        return max(even, key=lambda separator: widths[separator][0])
    try:
        return csv.Sniffer().sniff("".join(lines[:20]), CSV_SEPARATORS).delimiter
    except csv.Error:
        return ","  # a single column


def _count_cells(lines: list[str], separator: str) -> list[int]:
    """Count the cells of each line but blank ones, and the last, which may be cut."""
    try:
        widths = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        return []
    return widths[:-1] if len(lines) == N_LINES_SNIFFED else widths


def _check_rows(file: TextFile, separator: str) -> None:
    """Look for what polars could not read: slow, so only done after it has failed."""
    with file.open_text() as text:
        rows: Iterator[list[str]] = csv.reader(text, delimiter=separator, strict=True)
        first = next(rows)
        for row in rows:
            if any(cell.strip() for cell in row[len(first) :]):
                raise ValueError(_explain_long_row(first, row, rows.line_num))  # type: ignore[attr-defined]


def _explain_long_row(first: list[str], row: list[str], line: int) -> str:
    found = f"line {line} has {len(row)} cells, more than the first line ({len(first)})"
    if len(first) == 1 or first[0].startswith("#"):
        return f"{found}: the first line must name the columns, so remove what stands above their names"
    return f"{found}: the first line must name all columns"
