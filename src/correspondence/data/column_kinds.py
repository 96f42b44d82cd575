"""What a column is: a number, a label, a date, a text, ...: the one place that decides it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from correspondence.data.column_reading import CategoryLabel, ItemList
from correspondence.data.column_summary import MAX_FEW_VALUES, Extent
from correspondence.data.encoders.text import are_texts
from correspondence.data.text_readers import TextReader, find_number_reader, find_text_reader

__all__ = ["KIND_TEXTS", "MAX_LEVELS", "ColumnKind", "decide_column_kind", "find_row_names"]

MAX_FEW_BESIDE_OTHERS = 10  # different whole numbers that are labels in one of several columns
MIN_ROWS_PER_VALUE = 10  # rows for each of them, on average; with fewer they are numbers
MIN_ROWS_FOR_IDS = 20  # with fewer rows, labels that all differ may still be labels
MAX_LEVELS = 60  # labels with a level each, in one of several columns
MIN_ID_SHARE = 0.5  # of the rows have a label of their own, if a column names the rows
MIN_ALONE_ID_SHARE = 0.9  # the same of a column that is all there is of a variable
ROW_NUMBER_NAMES = ("", "id", "index", "row", "rownames", "row_number", "unnamed: 0")  # in lower case
KIND_TEXTS = {
    "number": "numbers",
    "label": "labels",
    "boolean": "yes or no",
    "date": "dates, as trend, season, weekday and time of day",
    "time": "times of day",
    "duration": "durations",
    "text": "texts, as their words",
    "list": "lists, as their items",
    "id": "names of the rows",
    "constant": "one value only",
    "empty": "no value",
}


@dataclass(frozen=True)
class ColumnKind:
    """What a column is.

    Attributes
    ----------
    kind : str
        One of the keys of `KIND_TEXTS`.
    reader : TextReader, optional
        How its texts are read, if they stand for something else.
    note : str
        What should be said about the decision, because others were possible.
    """

    kind: str
    reader: TextReader | None = None
    note: str = ""

    @property
    def is_used(self) -> bool:
        """Whether a column of this kind can be correlated with anything."""
        return self.kind not in ("id", "constant", "empty")


def decide_column_kind(
    key: Any, summary: Extent | dict[Any, int], n: int, *, is_alone: bool = True, linear: bool = False
) -> ColumnKind:
    """Decide what a column is, from a summary of all of its rows.

    Parameters
    ----------
    key : hashable
        The name of the column, or its number in an array.
    summary : Extent or dict
        The extent of its numbers, or how often each label occurs, None for missing ones included.
    n : int
        The number of rows.
    is_alone : bool
        Whether it is the only column of its variable: texts and ids are labels then, and whole numbers class labels.
    linear : bool
        Whether few whole numbers in one of several columns stay numbers, as linear methods promise.

    Examples
    --------
    >>> decide_column_kind("grade", Extent(1, 3, 0, "i", {1: 40, 2: 50, 3: 10}), 100).kind
    'label'
    >>> decide_column_kind("when", {"Jun 12 1998": 3, "Aug 7 1998": 2}, 5).kind
    'date'
    """
    if isinstance(summary, Extent):
        return _decide_for_numbers(key, summary, n, is_alone, linear)
    counts = {label: count for label, count in summary.items() if label is not None}
    n_present = sum(counts.values())
    if not counts:
        return ColumnKind("empty")
    if len(counts) == 1 and n_present == n:
        return ColumnKind("constant")
    if all(isinstance(label, ItemList) for label in counts):
        return ColumnKind("list")
    if all(isinstance(label, bool) for label in counts):
        return ColumnKind("boolean")
    return _decide_for_labels(counts, n_present, is_alone)


def find_row_names(shares: Sequence[float], n: int) -> str:
    """Say why labels that are all there is of a variable cannot be analysed: nearly every row has its own.

    Parameters
    ----------
    shares : sequence of float
        The share of the rows that each label has.
    n : int
        The number of rows.

    Returns
    -------
    str
        What was found; empty if enough labels occur several times.

    Examples
    --------
    >>> find_row_names([1 / 30] * 30, 30)
    '30 of 30 rows have a label of their own'
    >>> find_row_names([1 / 3] * 3, 30)
    ''
    """
    n_single = sum(share * n < 1.5 for share in shares)
    if n < MIN_ROWS_FOR_IDS or n_single < MIN_ALONE_ID_SHARE * n:
        return ""
    return f"{n_single:,} of {n:,} rows have a label of their own"


def _decide_for_numbers(key: Any, extent: Extent, n: int, is_alone: bool, linear: bool) -> ColumnKind:
    if extent.low != extent.low:
        return ColumnKind("empty")
    if not abs(extent.high / 2 - extent.low / 2) > 1e-15 * max(abs(extent.low), abs(extent.high)):
        is_present = extent.n_missing and extent.dtype in "if"
        return ColumnKind("label", note="taken as present or missing") if is_present else ColumnKind("constant")
    if extent.dtype in "mM":
        return ColumnKind("date" if extent.dtype == "M" else "duration")
    is_numbering = extent.dtype == "i" and extent.high - extent.low == n - 1 >= MIN_ROWS_FOR_IDS
    if is_numbering and isinstance(key, str) and key.lower() in ROW_NUMBER_NAMES and not is_alone:
        return ColumnKind("id")
    n_values, n_present = len(extent.counts or ()), n - extent.n_missing
    if n_values and are_few(n_values, n_present, is_alone, linear, isinstance(key, str)):
        return ColumnKind("label", note=f"taken as labels: {n_values} different whole numbers")
    return ColumnKind("number")


def are_few(n_values: int, n: int, is_alone: bool, linear: bool, is_named: bool) -> bool:
    """Say whether whole numbers are so few that they are labels: classes of one column, or codes in a frame."""
    if is_alone:
        return n_values <= min(MAX_FEW_VALUES, n / 5)
    is_code = is_named and 2 < n_values <= MAX_FEW_BESIDE_OTHERS and n >= MIN_ROWS_PER_VALUE * n_values
    return is_code and not linear


def _decide_for_labels(counts: dict[Any, int], n_present: int, is_alone: bool) -> ColumnKind:
    """Decide about a column of labels that are neither lists nor booleans."""
    if all(isinstance(label, str) and not isinstance(label, CategoryLabel) for label in counts):
        reader = find_text_reader(counts)
        if reader is not None and not (reader.kind == "list" and is_alone and len(counts) <= MAX_LEVELS):
            return ColumnKind(reader.kind, reader, reader.note)
        if are_texts(counts):
            return ColumnKind("text")
    if n_present >= MIN_ROWS_FOR_IDS and len(counts) > MIN_ID_SHARE * n_present:
        reader = _find_reader_of_ids(counts, is_alone)
        return ColumnKind("number", reader) if reader is not None else ColumnKind("label" if is_alone else "id")
    n_rare = len(counts) - MAX_LEVELS + 1
    has_many = not is_alone and len(counts) > MAX_LEVELS
    return ColumnKind("label", note=f"taken with {n_rare:,} rare labels in one level" if has_many else "")


def _find_reader_of_ids(counts: dict[Any, int], is_alone: bool) -> TextReader | None:
    """Find out whether texts that nearly all differ are numbers; whole ones in a single column are labels."""
    if not all(isinstance(label, str) for label in counts) or (is_alone and all(map(str.isdigit, counts))):
        return None
    return find_number_reader(list(counts), with_plain=True)
