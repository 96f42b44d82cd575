"""Columns of texts, as files have them, turned into numbers, dates, times or truth values: the whole column decides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import polars as pl

from correspondence._util.text import list_names
from correspondence.data.number_texts import MISSING_MARKERS, parse_number_texts

__all__ = ["AS_SUGGESTED", "FileTable", "Readings", "parse_text_columns"]

DECIMAL_OPTION, DATES_OPTION = "--decimal", "--dates"
MAX_NOTES_SHOWN = 8  # remarks on columns; a file may have hundreds of columns with decimal commas
N_TEXTS_TRIED_FIRST = 100  # texts that can rule out a format before all are tried
MAX_TRUTH_SPELLINGS = 6  # true and false, each in lower, upper and title case
# Looks like a date with perhaps a time, or a time alone; other texts are not tried.
DATE_PATTERN = (
    r"^(?:[0-9]{4}([-/.])[0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}[-/.][0-9]{4})"
    r"(?:[ T][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[-+][0-9]{2}(?::?[0-9]{2})?)?)?$"
)
TIME_PATTERN = r"^[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?$"
ZONE_PATTERN = r"(:[0-9.]+)(Z|[-+][0-9:]+)$"
DATE_FORMATS = {
    **dict.fromkeys(("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d"), "year-first"),
    **dict.fromkeys(("%m/%d/%Y", "%m-%d-%Y"), "month-first"),  # if both fit, as `text_readers` reads them
    **dict.fromkeys(("%d/%m/%Y", "%d-%m-%Y", "%d.%m.%Y"), "day-first"),
}
TIME_FORMATS = ("%H:%M:%S%.f", "%H:%M")


class Readings(NamedTuple):
    """Choices where a text has two readings."""

    decimal: Literal["point", "comma"] | None = None
    """The separator of decimals; by default what the column and the other columns of the file suggest."""
    dates: Literal["day-first", "month-first"] | None = None
    """What comes first in a date such as 01/02/2020."""


AS_SUGGESTED = Readings()  # by the columns of a file


class FileTable(NamedTuple):
    """A table that was read from a file, and what was not read literally."""

    frame: pl.DataFrame
    notes: tuple[str, ...] = ()
    """Remarks on the whole file."""
    column_notes: dict[str, list[str]] = {}  # noqa: RUF012
    """Remarks on single columns."""
    readings: Readings = AS_SUGGESTED
    """How texts with two readings were read."""

    def list_notes(self, columns: Iterable[str | None] | None = None) -> list[str]:
        """List the remarks on the file and on these columns, by default on all."""
        wanted = set(self.column_notes if columns is None else columns)
        told = [note for name, notes in self.column_notes.items() if name in wanted for note in notes]
        left = len(told) - MAX_NOTES_SHOWN
        more = [f"{left} more such remarks on other columns."] if left > 0 else []
        return [*self.notes, *told[:MAX_NOTES_SHOWN], *more]


class _Reading(NamedTuple):
    """A column as it was read, with remarks, and what it proves about the spelling of others."""

    column: pl.Series
    notes: list[str]
    decimal: str = ""
    dates: str = ""
    is_open: bool = False
    """Whether another column may change the reading."""


def parse_text_columns(frame: pl.DataFrame, readings: Readings = AS_SUGGESTED, notes: Iterable[str] = ()) -> FileTable:
    """Turn the columns of texts that hold numbers, dates, times or truth values into these.

    A column in which a text has two readings follows the other columns, if these agree on a separator of decimals or
    on the order of days and months.

    Parameters
    ----------
    frame : polars DataFrame
        The table; columns that are not texts are left as they are.
    readings : Readings
        The choices of the user, which come before those of other columns.
    notes : iterable of str
        Remarks on the file that are already known.

    Examples
    --------
    >>> import polars as pl
    >>> table = parse_text_columns(pl.DataFrame({"a": ["1,5", "2"], "b": ["1.234", "999"], "c": ["x", "01"]}))
    >>> table.frame.rows()
    [(1.5, 1234, 'x'), (2.0, 999, '01')]
    >>> table.list_notes(["a"])
    ["a: '1,5' is read as 1.5 (a decimal comma)."]
    """
    texts = [column for column in frame.iter_columns() if column.dtype == pl.String]
    found = {column.name: _parse_column(column, readings, readings) for column in texts}
    shared = Readings(
        readings.decimal or _find_agreement(reading.decimal for reading in found.values()),  # type: ignore[arg-type]
        readings.dates or _find_agreement(reading.dates for reading in found.values()),  # type: ignore[arg-type]
    )
    if shared != readings:
        found |= {
            name: _parse_column(frame[name], shared, readings) for name, reading in found.items() if reading.is_open
        }
    told = {name: reading.notes for name, reading in found.items() if reading.notes}
    return FileTable(frame.with_columns(reading.column for reading in found.values()), tuple(notes), told, shared)


def _find_agreement(proofs: Iterable[str]) -> str | None:
    """Return the only spelling that columns prove, if there is one."""
    different = set(proofs) - {""}
    return different.pop() if len(different) == 1 else None


def _parse_column(column: pl.Series, readings: Readings, chosen: Readings) -> _Reading:
    """Parse one column; what the user has chosen is not told."""
    numbers = parse_number_texts(column, readings.decimal)
    if numbers is not None:
        told = numbers._replace(other_reading="") if chosen.decimal else numbers
        is_open = not numbers.decimal and (bool(numbers.example) or numbers.numbers.dtype.is_float())
        notes = told.list_notes(column.name or "the first column", DECIMAL_OPTION)
        return _Reading(numbers.numbers, notes, numbers.decimal, is_open=is_open)
    found = _parse_truth(column) or _parse_dates(column, readings)
    if found is None:
        return _Reading(column, [], is_open=True)
    return found._replace(notes=[]) if chosen.dates and found.is_open else found


def _parse_truth(column: pl.Series) -> _Reading | None:
    """Parse a column of true and false, in lower or upper case."""
    words = column.drop_nulls().unique()
    if not 0 < len(words) <= MAX_TRUTH_SPELLINGS or not words.str.contains("^(?i:true|false)$").all():
        return None
    return _Reading(column.str.to_lowercase() == "true", [])


def _parse_dates(column: pl.Series, readings: Readings) -> _Reading | None:
    """Parse a column of dates, or of times, if all of its different texts have one format."""
    first = column.drop_nulls().head(N_TEXTS_TRIED_FIRST).str.strip_chars()
    could_be = first.str.contains(f"{DATE_PATTERN}|{TIME_PATTERN}") | first.str.to_lowercase().is_in(
        list(MISSING_MARKERS)
    )
    if not could_be.all():
        return None
    distinct = column.drop_nulls().unique(maintain_order=True)
    is_marker = distinct.str.strip_chars().str.to_lowercase().is_in(list(MISSING_MARKERS))
    texts = distinct.filter(~is_marker)
    written = texts.str.strip_chars().str.replace("T", " ", literal=True)
    fitting = _find_formats(written)
    offsets = written.str.extract(ZONE_PATTERN, 2).unique(maintain_order=True).to_list()
    if not fitting:
        return None
    form, values = next(
        ((f, v) for f, v in fitting.items() if _get_order(f) == readings.dates), next(iter(fitting.items()))
    )
    parsed = column.replace_strict(texts, values, default=None, return_dtype=values.dtype).alias(column.name)
    others = [other for f, other in fitting.items() if _get_order(f) != _get_order(form) and (other != values).any()]
    notes = [_describe_dates(column.name, texts, values, others[0], form)] if others else []
    markers = distinct.filter(is_marker & (distinct.str.strip_chars() != "")).to_list()
    if markers:
        shown, n = list_names(markers, 5, show=repr), int(column.is_in(markers).sum())
        notes.append(f"{column.name}: {n} cell(s) with {shown} are read as missing: all others are dates.")
    if len(offsets) > 1:
        shown = list_names(["none" if offset is None else offset for offset in offsets], 5)
        notes.append(f"{column.name}: times have several offsets ({shown}); each is read as the local time written.")
    proof = _get_order(form) if len({_get_order(f) for f in fitting}) == 1 else ""
    return _Reading(parsed, notes, dates=proof, is_open=bool(others))


def _describe_dates(name: str, texts: pl.Series, values: pl.Series, others: pl.Series, form: str) -> str:
    """Say how the first date with two readings was read."""
    i = int((values != others).arg_max() or 0)
    option = f"{DATES_OPTION} {'month-first' if _get_order(form) == 'day-first' else 'day-first'}"
    return (
        f"{name}: {texts[i]!r} is read as {values[i]}, {_get_order(form)}; it may be {others[i]}, which {option} reads."
    )


def _get_order(form: str) -> str:
    order = DATE_FORMATS.get(form.partition(" ")[0], "")
    return "" if order == "year-first" else order


def _find_formats(texts: pl.Series) -> dict[str, pl.Series]:
    """Return the formats that fit all texts, with the values that they give."""
    if not len(texts) or not (texts.str.contains(DATE_PATTERN).all() or texts.str.contains(TIME_PATTERN).all()):
        return {}
    kind, formats = _list_formats(texts)
    texts = texts.str.replace(ZONE_PATTERN, "$1")  # what is left is the local time
    found: dict[str, pl.Series] = {}
    for form in formats:
        if not texts.head(N_TEXTS_TRIED_FIRST).str.strptime(kind, form, strict=False).null_count():
            values = texts.str.strptime(kind, form, strict=False)
            found |= {} if values.null_count() else {form: values}
    return found


def _list_formats(texts: pl.Series) -> tuple[Any, list[str]]:
    """Return the type of dates or times that look like this, and the formats to be tried."""
    if ":" not in texts[0]:
        return pl.Date, list(DATE_FORMATS)
    if texts[0].find(":") <= 2:
        return pl.Time, list(TIME_FORMATS)
    return pl.Datetime("us"), [f"{date} {time}" for date in DATE_FORMATS for time in TIME_FORMATS]
