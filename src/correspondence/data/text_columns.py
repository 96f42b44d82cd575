"""Columns of texts, as files have them, turned into numbers, dates, times or truth values: the whole column decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import polars as pl

from correspondence._util.text import list_names
from correspondence.data.number_texts import MISSING_MARKERS, parse_number_texts

__all__ = ["AS_SUGGESTED", "ColumnReading", "FileTable", "Readings", "parse_text_columns"]

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


class ColumnReading(NamedTuple):
    """How a column of texts was read."""

    kind: Literal["number", "boolean", "time", "text"]
    """What the texts were taken for: numbers, true or false, dates or times, or themselves."""
    decimal: str | None = None
    """The separator of decimals, "point" or "comma", if there was one."""
    dates: str | None = None
    """What came first in dates, "day-first" or "month-first", if it was not the year."""

    def list_contradictions(self, name: str, found: ColumnReading) -> list[str]:
        """Say where another file writes the column in another way."""
        notes = []
        if self.decimal and found.decimal and found.decimal != self.decimal:
            notes.append(f"{name}: decimals have a {found.decimal} here and a {self.decimal} in the analysis")
        if self.dates and found.dates and found.dates != self.dates:
            notes.append(f"{name}: dates are {found.dates} here and {self.dates} in the analysis")
        return [f"{note}; they are read as they are written here." for note in notes]


class Readings(NamedTuple):
    """Choices where a text has two readings."""

    decimal: Literal["point", "comma"] | None = None
    """The separator of decimals; by default what the column and the other columns of the file suggest."""
    dates: Literal["day-first", "month-first"] | None = None
    """What comes first in a date such as 01/02/2020."""
    columns: dict[str, ColumnReading] = {}  # noqa: RUF012
    """How columns of these names were read in another file, which comes before what is chosen for all."""

    def of_column(self, name: str) -> Readings:
        """Return the choices for one column."""
        known = self.columns.get(name)
        if known is None:
            return Readings(self.decimal, self.dates)
        return Readings(known.decimal or self.decimal, known.dates or self.dates)  # type: ignore[arg-type]

    def choose(self, decimal: Any, dates: Any) -> Readings:
        """Return other readings, in which what is given comes before everything else."""
        columns = {
            name: one._replace(decimal=decimal or one.decimal, dates=dates or one.dates)
            for name, one in self.columns.items()
        }
        return Readings(decimal or self.decimal, dates or self.dates, columns)

    def rename(self, names: Mapping[str, str]) -> Readings:
        """Return the same readings for columns that have other names; the old name leads to the new one."""
        columns = {names.get(name, name): one for name, one in self.columns.items()}
        return self._replace(columns=columns)

    def to_json(self) -> dict[str, Any]:
        """Describe the readings as JSON can hold them."""
        return self._asdict() | {"columns": {name: one._asdict() for name, one in self.columns.items()}}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Readings:
        """Invert `to_json`; earlier versions did not write columns."""
        columns = {name: ColumnReading(**one) for name, one in state.get("columns", {}).items()}
        return cls(**state | {"columns": columns})


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
    how: ColumnReading
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
    chosen = {column.name: readings.of_column(column.name) for column in texts}
    found = {column.name: _parse_column(column, chosen[column.name], chosen[column.name], readings) for column in texts}
    shared = Readings(
        readings.decimal or _find_agreement(reading.decimal for reading in found.values()),  # type: ignore[arg-type]
        readings.dates or _find_agreement(reading.dates for reading in found.values()),  # type: ignore[arg-type]
    )
    for name, reading in found.items():
        own = Readings(chosen[name].decimal or shared.decimal, chosen[name].dates or shared.dates)
        if reading.is_open and own != chosen[name]:
            found[name] = _parse_column(frame[name], own, chosen[name], readings)
    told = {name: reading.notes for name, reading in found.items() if reading.notes}
    how = shared._replace(columns={name: reading.how for name, reading in found.items()})
    return FileTable(frame.with_columns(reading.column for reading in found.values()), tuple(notes), told, how)


def _find_agreement(proofs: Iterable[str]) -> str | None:
    """Return the only spelling that columns prove, if there is one."""
    different = set(proofs) - {""}
    return different.pop() if len(different) == 1 else None


def _parse_column(column: pl.Series, readings: Readings, chosen: Readings, known: Readings) -> _Reading:
    """Parse one column; what the user has chosen is not told, unless the column contradicts it."""
    before = known.columns.get(column.name)
    if before is not None and before.kind == "text":
        return _Reading(column, [], before)
    found = _parse_numbers(column, readings, chosen) or _parse_truth(column) or _parse_dates(column, readings)
    if found is None:
        return _Reading(column, [], ColumnReading("text"), is_open=True)
    if found.how.kind == "time" and chosen.dates and found.is_open:
        found = found._replace(notes=[])
    against = before.list_contradictions(column.name or "the first column", found.how) if before is not None else []
    return found._replace(notes=[*found.notes, *against])


def _parse_numbers(column: pl.Series, readings: Readings, chosen: Readings) -> _Reading | None:
    """Parse a column of numbers."""
    numbers = parse_number_texts(column, readings.decimal)
    if numbers is None:
        return None
    told = numbers._replace(other_reading="") if chosen.decimal else numbers
    is_open = not numbers.decimal and (bool(numbers.example) or numbers.numbers.dtype.is_float())
    notes = told.list_notes(column.name or "the first column", DECIMAL_OPTION)
    how = ColumnReading("number", numbers.taken or None)
    return _Reading(numbers.numbers, notes, how, numbers.decimal, is_open=is_open)


def _parse_truth(column: pl.Series) -> _Reading | None:
    """Parse a column of true and false, in lower or upper case."""
    words = column.drop_nulls().unique()
    if not 0 < len(words) <= MAX_TRUTH_SPELLINGS or not words.str.contains("^(?i:true|false)$").all():
        return None
    return _Reading(column.str.to_lowercase() == "true", [], ColumnReading("boolean"))


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
    how = ColumnReading("time", dates=_get_order(form) or None)
    return _Reading(parsed, notes, how, dates=proof, is_open=bool(others))


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
