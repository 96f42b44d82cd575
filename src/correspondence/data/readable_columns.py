"""The columns of a variable as people read them: numbers, categories, words; missing values are allowed."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from correspondence._util.arguments import as_frame, to_array
from correspondence._util.labels import encode_labels, to_object_array
from correspondence._util.text import one_line
from correspondence.data.encoders.text import MAX_WORDS, WORD_PATTERN, are_texts
from correspondence.data.pairs.opening import series_to_floats

__all__ = ["MISSING", "NUMBER_KINDS", "ReadableColumn", "read_columns"]

Kind = Literal["number", "date", "label", "text", "list", "id", "constant"]
NUMBER_KINDS = ("number", "date")
MISSING = "(missing)"
MAX_NAMELESS_COLUMNS = 50  # more are pixels or embeddings, which say nothing one by one
MIN_ROWS_OF_IDS = 20  # fewer rows may have a label each by chance
SECONDS_OF_DAY = 86400.0


@dataclass(frozen=True, eq=False)
class ReadableColumn:
    """One column of a variable.

    Attributes
    ----------
    name : str
        What the column is called; a column of an array is called by its position.
    kind : {"number", "date", "label", "text", "list", "id", "constant"}
        A date is the number of days since 1970; of texts and lists, the categories are the words and the members.
        An id has a label of its own in nearly every row, and says nothing about others.
    is_named : bool
        Whether the name is the user's.
    numbers : ndarray of shape (n,) or None
        The numbers, NaN where one is missing.
    categories : list of str
        What the rows may have, in sorted order.
    has : sparse array of shape (n, number of categories) or None
        1 where a row has a category. A missing label is a category of its own.
    """

    name: str
    kind: Kind
    is_named: bool = True
    numbers: np.ndarray | None = None
    categories: tuple[str, ...] = ()
    has: Any = None

    def take_rows(self, rows: np.ndarray) -> ReadableColumn:
        """Return the column of some rows."""
        numbers, has = (None if part is None else part[rows] for part in (self.numbers, self.has))
        return ReadableColumn(self.name, self.kind, self.is_named, numbers, self.categories, has)


def read_columns(values: Any, name: str) -> list[ReadableColumn]:
    """Read all columns of a variable.

    Parameters
    ----------
    values : array-like, frame or sparse matrix
        The variable. Of images, and of arrays with more than 50 columns, nothing is read.
    name : str
        The name of the variable, which its only column has if it has none of its own.

    Returns
    -------
    list of ReadableColumn
        All columns, in the order of the data.

    Examples
    --------
    >>> columns = read_columns({"a": [1.0, None, 3.0], "b": ["u", "v", None]}, "X")
    Traceback (most recent call last):
    ...
    ValueError: X must be an array, a frame or a sparse matrix, got dict.
    >>> import pandas as pd
    >>> columns = read_columns(pd.DataFrame({"a": [1.0, None, 3.0], "b": ["u", "v", None]}), "X")
    >>> [(column.name, column.kind, column.categories) for column in columns]
    [('a', 'number', ()), ('b', 'label', ('(missing)', 'u', 'v'))]
    """
    if isinstance(values, dict | str | bytes):
        raise ValueError(f"{name} must be an array, a frame or a sparse matrix, got {type(values).__name__}.")
    return [make_column(*parts) for parts in _iterate_parts(values, name)]


def _iterate_parts(values: Any, name: str) -> Iterator[tuple[str, bool, Any]]:
    """Go through names, whether they are the user's, and the values of all columns."""
    frame = as_frame(values, name)
    series = nw.from_native(values, series_only=True, pass_through=True)
    if frame is not None:
        nameless = sum(not isinstance(key, str) for key in frame.columns)
        for key, column in zip(frame.columns, frame.iter_columns(), strict=True):
            if nameless <= MAX_NAMELESS_COLUMNS or isinstance(key, str):
                yield _name_column(key), isinstance(key, str), read_series(column)
    elif isinstance(series, nw.Series):
        has_name = isinstance(series.name, str) and bool(series.name)
        yield _name_column(series.name) if has_name else name, has_name, read_series(series)
    else:
        yield from _iterate_array_parts(values, name)


def _iterate_array_parts(values: Any, name: str) -> Iterator[tuple[str, bool, Any]]:
    if sp.issparse(values):
        if values.shape[1] <= MAX_NAMELESS_COLUMNS:
            yield from _iterate_array_parts(values.toarray(), name)
        return
    array = to_array(values, name)
    if array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1):
        yield name, False, array.ravel()
    elif array.ndim == 2 and array.shape[1] <= MAX_NAMELESS_COLUMNS:
        yield from ((_name_column(j), False, array[:, j]) for j in range(array.shape[1]))


def _name_column(key: Any) -> str:
    return one_line(key) if isinstance(key, str) else f"column {key}"


def read_series(series: nw.Series) -> np.ndarray:
    """Read a column of a frame: numbers, with NaN for missing ones, or objects, with None for missing ones."""
    if series.dtype.is_numeric():
        return series_to_floats(series)
    return to_object_array(series.to_list())


def make_column(name: str, is_named: bool, values: np.ndarray) -> ReadableColumn:
    """Decide what a column holds."""
    if values.dtype.kind in "iuf":
        return _make_number_column(name, "number", is_named, values.astype(np.float64))
    rows = [_normalise_value(value) for value in values.tolist()]
    known = [value for value in rows if value is not None]
    if known and all(isinstance(value, float) for value in known):
        numbers = np.array([np.nan if value is None else value for value in rows])
        is_date = not any(isinstance(value, int | float) for value in values.tolist() if value == value)
        return _make_number_column(name, "date" if is_date else "number", is_named, numbers)
    if known and all(isinstance(value, tuple) for value in known):
        return _make_set_column(name, "list", is_named, [() if value is None else value for value in rows])
    return _make_label_column(name, is_named, [MISSING if value is None else str(value) for value in rows])


def _normalise_value(value: Any) -> Any:
    """Return None for what is missing, floats for numbers and times, tuples for lists, and anything else as it is."""
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        return tuple(str(member) for member in value)
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, bool | np.bool_ | str):
        return value
    if isinstance(value, datetime.timedelta):
        return value.total_seconds() / SECONDS_OF_DAY
    if isinstance(value, datetime.datetime):
        return (value.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)).total_seconds() / SECONDS_OF_DAY
    if isinstance(value, datetime.date):
        return float((value - datetime.date(1970, 1, 1)).days)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return value
    return None if number != number else number


def _make_number_column(name: str, kind: Kind, is_named: bool, numbers: np.ndarray) -> ReadableColumn:
    numbers = np.where(np.isfinite(numbers), numbers, np.nan)
    known = numbers[np.isfinite(numbers)]
    is_constant = not len(known) or known.min() == known.max()
    return ReadableColumn(name, "constant" if is_constant else kind, is_named, numbers)


def _make_label_column(name: str, is_named: bool, texts: list[str]) -> ReadableColumn:
    codes, labels = encode_labels(texts, name)
    if len(labels) > len(texts) / 2 and len(texts) >= MIN_ROWS_OF_IDS:
        if are_texts(dict(zip(labels.tolist(), np.bincount(codes).tolist(), strict=True))):
            return _make_text_column(name, is_named, ["" if text == MISSING else text for text in texts])
        return ReadableColumn(name, "id", is_named)
    has = sp.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)), shape=(len(codes), len(labels)))
    return ReadableColumn(name, "label" if len(labels) > 1 else "constant", is_named, None, tuple(labels), has)


def _make_text_column(name: str, is_named: bool, texts: list[str]) -> ReadableColumn:
    counter = CountVectorizer(binary=True, max_features=MAX_WORDS, token_pattern=WORD_PATTERN)
    try:
        has = sp.csr_array(counter.fit_transform(texts), dtype=np.float64)
    except ValueError:  # not a single word
        return ReadableColumn(name, "id", is_named)
    return ReadableColumn(name, "text", is_named, None, tuple(counter.get_feature_names_out().tolist()), has)


def _make_set_column(name: str, kind: Kind, is_named: bool, rows: Iterable[tuple[str, ...]]) -> ReadableColumn:
    counter = CountVectorizer(binary=True, max_features=MAX_WORDS, analyzer=list)
    try:
        has = sp.csr_array(counter.fit_transform(rows), dtype=np.float64)
    except ValueError:  # all are empty
        return ReadableColumn(name, "constant", is_named)
    return ReadableColumn(name, kind, is_named, None, tuple(counter.get_feature_names_out().tolist()), has)
