"""Readers of texts that stand for something else: dates, times of day, durations and lists."""

from __future__ import annotations

import ast
import datetime
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from correspondence._util.labels import to_object_array
from correspondence.data.column_reading import ItemList, find_missing

__all__ = ["TextReader", "find_number_reader", "find_text_reader", "is_missing_marker"]

# Formats of dates, the usual ones first. Month before day where both readings fit all texts, as in files.
DATE_FORMATS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y", "%d.%m.%Y", "%d.%m.%y"),
    *("%m-%d-%Y", "%d-%m-%Y", "%b %d %Y", "%b %d, %Y", "%d %b %Y", "%d %b, %Y", "%d-%b-%Y", "%d-%b-%y", "%d/%b/%Y"),
    *("%a %b %d %Y", "%a, %d %b %Y", "%A, %b %d, %Y", "%a %d %b %Y", "%d %b %y"),
)
TIME_FORMATS = ("%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p", "%I:%M%p", "%H:%M:%S%.f")
MONTH_FORMATS = ("%Y-%m-%d", "%b %Y %d", "%b-%Y %d", "%m/%Y %d", "%b-%y %d")  # after " 1" or "-1" is added
MONTHS_FIRST = ("%m/%d/%Y", "%m/%d/%y", "%m-%d-%Y")  # the day might come first
# A zone after a time, without which the text is the local time.
ZONE = re.compile(r"(:\d\d(?:\.\d+)?(?:\s*[AaPp][Mm])?)\s*(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)$")
MONTH = re.compile(r"\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*", re.IGNORECASE)
FIRST_YEAR = 1000  # before it, the two digits of a year were read as four
TIME_OF_DAY = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.\d+)?)?\s?([AaPp]\.?[Mm]\.?)?")
CLOCK_DURATION = re.compile(r"(\d+):([0-5]\d):([0-5]\d)(?:\.\d+)?")
UNIT_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
DURATION_PART = re.compile(r"(\d+(?:[.,]\d+)?)\s*(d|h|m|s)[a-z]*\.?\s*,?\s*(?:and\s+)?", re.IGNORECASE)
DURATION = re.compile(
    r"(?:\d+(?:[.,]\d+)?\s*(?:d|days?|h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?)\.?\s*,?\s*(?:and\s+)?)+",
    re.IGNORECASE,
)
LETTER_UNIT = re.compile(r"[\d.,]+\s*[dhms]", re.IGNORECASE)
ISO_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
# Different texts in which an item of lists stands, on average. Commas also stand in names and prose.
MIN_TEXTS_PER_ITEM = {"|": 2, ";": 2, ",": 4}
NEGATIVE_IN_BRACKETS = re.compile(r"\s*\((.*\d.*)\)\s*")
ENDS_LIKE_NUMBER = re.compile(r"\d\W*[A-Za-z]{0,3}\W*$")
MAX_TEXTS_GLANCED_AT = 20  # texts one of which must end like a number, perhaps with its unit, if they are numbers
MIN_SHARE_OF_LISTS = 0.1  # of the texts have a separator, if they are lists


@dataclass(frozen=True)
class TextReader:
    """A way to read texts, which the texts of a whole column have decided.

    Attributes
    ----------
    kind : {"number", "date", "time", "duration", "list"}
        What the texts stand for.
    format : str
        The separator of decimals ("point", "comma" or ""), the format of dates, or the separator of lists; "" for lists
        that are written as in Python or JSON.
    """

    kind: str
    format: str = ""
    is_proven: bool = field(default=True, compare=False, repr=False)
    """Whether no other reading fits all texts."""

    def __call__(self, column: np.ndarray) -> np.ndarray:
        """Read a column of texts; what cannot be read is missing."""
        if column.dtype != object:
            kinds = {"date": "M", "number": "if", "list": "", "time": "m", "duration": "m"}[self.kind]
            if column.dtype.kind not in kinds and not find_missing(column).all():
                raise ValueError(f"must hold texts that are read as a {self.kind}, as in the fit.")
            return column if column.dtype.kind in kinds else self(to_object_array([None] * len(column)))
        texts = sorted({text for text in column.tolist() if isinstance(text, str)})
        read = dict(zip(texts, _READERS[self.kind](texts, self.format), strict=True))
        values = [
            value if value is None or isinstance(value, ItemList) else read.get(value) for value in column.tolist()
        ]
        if self.kind == "list":
            return to_object_array(values)
        if self.kind == "number":
            return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        return np.array(values, dtype="M8[us]" if self.kind == "date" else "m8[us]")

    @property
    def note(self) -> str:
        """What should be said about the reading, because another one may be meant."""
        if self.kind == "number" and not self.is_proven:
            return f"taken as numbers with a decimal {self.format}"
        is_doubtful = self.kind == "date" and self.format.startswith(MONTHS_FIRST) and not self.is_proven
        return "taken as dates with the month first" if is_doubtful else ""


def find_text_reader(texts: Iterable[str]) -> TextReader | None:
    """Find what all texts of a column stand for, if it is not the texts themselves.

    Parameters
    ----------
    texts : iterable of str
        These are the different texts of the whole column.

    Examples
    --------
    >>> find_text_reader(["Jun 12 1998", "Aug 7 1998"])
    TextReader(kind='date', format='%b %d %Y')
    >>> find_text_reader(["Comedy|Drama", "Drama", "Comedy", "Drama|War", "Comedy|War"])
    TextReader(kind='list', format='|')
    >>> find_text_reader(["red", "blue"]) is None
    True
    """
    texts = [text.strip() for text in texts]
    if len(texts) < 2:
        return None
    reader = find_number_reader(texts)
    if reader is not None:
        return reader
    if all(any(map(str.isdigit, text)) for text in texts):
        return _find_temporal_reader(texts)
    return _find_list_reader(texts)


def find_number_reader(texts: Sequence[str], *, with_plain: bool = False) -> TextReader | None:
    """Find out whether all texts are numbers: money, percentages, with separators or with gaps.

    Parameters
    ----------
    texts : sequence of str
        These are the different texts of the whole column.
    with_plain : bool
        Whether plain digits are numbers too. By default they are labels, because numbers are made labels by writing
        them as texts.
    """
    if not any(map(ENDS_LIKE_NUMBER.search, texts[:MAX_TEXTS_GLANCED_AT])):
        return None
    found = _parse_number_texts(texts, None)
    if found is None or not (with_plain or found.example or found.n_markers):
        return None
    opposite = {"point": "comma", "comma": "point", "": found.decimal or "point"}
    return TextReader("number", opposite[found.other_decimal], not found.other_reading)


def _parse_number_texts(texts: Sequence[str], decimal: Any) -> Any:
    import polars as pl  # not needed for most tables

    from correspondence.data.number_texts import parse_number_texts

    return parse_number_texts(pl.Series(texts, dtype=pl.String), decimal)


def _parse_numbers(texts: Sequence[str], decimal: str) -> list[Any]:
    found = _parse_number_texts(texts, decimal or None) if texts else None
    if found is not None:
        return found.numbers.to_list()
    if len(texts) > 1:
        return [_parse_numbers([text], decimal)[0] for text in texts]
    bracketed = NEGATIVE_IN_BRACKETS.fullmatch(texts[0]) if texts else None  # alone, brackets prove nothing
    number = _parse_numbers([bracketed[1]], decimal)[0] if bracketed else None
    return [None if number is None else -number] * len(texts)


def is_missing_marker(text: Any) -> bool:
    """Say whether people write this for a missing value."""
    from correspondence.data.number_texts import MISSING_MARKERS

    return isinstance(text, str) and text.strip().lower() in MISSING_MARKERS


def _find_temporal_reader(texts: Sequence[str]) -> TextReader | None:
    if all(map(TIME_OF_DAY.fullmatch, texts)):
        return TextReader("time")
    if all(
        CLOCK_DURATION.fullmatch(text) or ISO_DURATION.fullmatch(text) or DURATION.fullmatch(text) for text in texts
    ):
        # 1970s and 120 m are no durations
        return None if all(LETTER_UNIT.fullmatch(text) for text in texts) else TextReader("duration")
    found = find_date_format(texts)
    if not found:
        return _find_list_reader(texts)
    swapped = found.replace("%d", "%-").replace("%m", "%d").replace("%-", "%m")
    return TextReader("date", found, swapped == found or None in _parse_dates(texts, swapped))


def find_date_format(texts: Sequence[str]) -> str | None:
    """Find the format of dates in which all texts are written."""
    if any(len(text) < 6 or len(text) > 40 for text in texts):
        return None
    for form in _list_date_formats():
        # The first text rules nearly every format out; the whole column decides about the others.
        if _parse_dates(texts[:1], form)[0] is not None and None not in _parse_dates(texts, form):
            return form
    return None


def _list_date_formats() -> list[str]:
    times = [f"{mark}{time}" for time in TIME_FORMATS for mark in (" ", "T")]
    with_times = [f"{day}{time}" for time in times for day in DATE_FORMATS]
    return [*DATE_FORMATS, *with_times, *(f"1 {form}" for form in MONTH_FORMATS)]


def _parse_dates(texts: Sequence[str], form: str) -> list[Any]:
    import polars as pl  # not needed for most tables

    plain = [MONTH.sub(r"\1", ZONE.sub(r"\1", text.strip())) for text in texts]
    if form.startswith("1 "):
        form = form[2:]
        plain = [text + ("-1" if form == "%Y-%m-%d" else " 1") for text in plain]
    try:
        dates = pl.Series(plain, dtype=pl.String).str.to_datetime(form, strict=False, time_unit="us")
        # before they become Python's dates, which have no year -2018, as "%b %Y" reads Mar-2018
        is_usual = dates.dt.year().is_between(FIRST_YEAR, datetime.MAXYEAR)
        return pl.select(pl.when(is_usual).then(dates)).to_series().to_list()
    except pl.exceptions.PolarsError:
        return [None] * len(texts)


def _parse_times(texts: Sequence[str], form: str) -> list[Any]:
    return [_make_timedelta(_parse_time(text)) for text in texts]


def _parse_time(text: str) -> float | None:
    match = TIME_OF_DAY.fullmatch(text.strip())
    if not match:
        return None
    hours, minutes, seconds, half = match.groups()
    hour = int(hours) % 12 + 12 * (half[0] in "pP") if half else int(hours)
    return 3600 * hour + 60 * int(minutes) + int(seconds or 0)


def _parse_durations(texts: Sequence[str], form: str) -> list[Any]:
    return [_make_timedelta(_parse_duration(text.strip())) for text in texts]


def _parse_duration(text: str) -> float | None:
    if match := CLOCK_DURATION.fullmatch(text):
        hours, minutes, seconds = map(int, match.groups())
        return 3600 * hours + 60 * minutes + seconds
    if text.startswith("P") and (match := ISO_DURATION.fullmatch(text)):
        return sum(float(part or 0) * unit for part, unit in zip(match.groups(), UNIT_SECONDS.values(), strict=True))
    if not DURATION.fullmatch(text):
        return None
    parts = DURATION_PART.findall(text)
    return sum(float(number.replace(",", ".")) * UNIT_SECONDS[unit.lower()] for number, unit in parts)


def _make_timedelta(seconds: float | None) -> np.timedelta64 | None:
    return None if seconds is None else np.timedelta64(round(seconds * 1e6), "us")


def _find_list_reader(texts: Sequence[str]) -> TextReader | None:
    """Find the separator of lists whose items recur; prose and single labels have none."""
    if all(text.startswith(("[", "(", "{")) and text.endswith(("]", ")", "}")) for text in texts):
        return TextReader("list") if None not in _parse_lists(texts, "") else None
    for separator, least in MIN_TEXTS_PER_ITEM.items():
        with_several = [text for text in texts if separator in text]
        if len(with_several) < max(2, MIN_SHARE_OF_LISTS * len(texts)):
            continue
        lists = _parse_lists(texts, separator)
        n_items, n_different = sum(map(len, lists)), len({item for items in lists for item in items})
        if n_items >= least * n_different:
            return TextReader("list", separator)
    return None


def _parse_lists(texts: Sequence[str], separator: str) -> list[Any]:
    if separator:
        return [ItemList(item.strip() for item in text.split(separator) if item.strip()) for text in texts]
    return [_parse_literal(text) for text in texts]


def _parse_literal(text: str) -> ItemList | None:
    try:
        items = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if not isinstance(items, list | tuple | set) or any(isinstance(item, list | tuple | dict | set) for item in items):
        return None
    return ItemList(str(item) for item in items)


_READERS: dict[str, Callable[[Sequence[str], str], list[Any]]] = {
    "number": _parse_numbers,
    "date": _parse_dates,
    "time": _parse_times,
    "duration": _parse_durations,
    "list": _parse_lists,
}
