"""The columns of a variable as people read them: numbers, categories, words; missing values are allowed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from correspondence._util.arguments import as_frame, to_array
from correspondence._util.labels import MISSING, encode_labels
from correspondence._util.text import one_line
from correspondence.data.column_kinds import ColumnKind, decide_column_kind
from correspondence.data.column_reading import columns_of, find_missing, to_numbers
from correspondence.data.column_summary import Survey
from correspondence.data.encoders.text import MAX_WORDS, WORD_PATTERN, are_texts

__all__ = ["NUMBER_KINDS", "ReadableColumn", "find_telling_words", "is_bare_number", "is_hash", "read_columns"]

NUMBER_KINDS = ("number", "date", "time", "duration")
LABEL_KINDS = ("label", "boolean")
MAX_NAMELESS_COLUMNS = 50  # more are pixels or embeddings, which say nothing one by one
MAX_FUNCTION_WORD_LETTERS = 5  # longer ones in scikit-learn's list may be what a text is about ("system", "computer")
CONTENT_WORDS = {  # of those in the list that are not longer
    *("bill", "call", "cry", "fill", "fire", "front", "mill", "mine", "side", "thick", "thin", "top", "well"),
    *("two", "three", "third", "four", "five", "six", "eight", "nine", "ten", "fifty", "sixty"),
    *("no", "none", "nor", "not", "never"),
}


@dataclass(frozen=True, eq=False)
class ReadableColumn:
    """One column of a variable.

    Attributes
    ----------
    name : str
        What the column is called; a column of an array is called by its position.
    kind : str
        One of `KIND_TEXTS`: of texts and lists, the categories are the words and the items.
    is_named : bool
        Whether the name is the user's.
    numbers : ndarray of shape (n,) or None
        The numbers, NaN where one is missing; dates in days since 1970, times and durations in seconds.
    categories : tuple of str
        What the rows may have, in sorted order.
    has : sparse array of shape (n, number of categories) or None
        1 where a row has a category. A missing label is a category of its own.
    """

    name: str
    kind: str
    is_named: bool = True
    numbers: np.ndarray | None = None
    categories: tuple[str, ...] = ()
    has: Any = None

    @property
    def is_number(self) -> bool:
        """Whether the column has an order and distances."""
        return self.kind in NUMBER_KINDS

    @property
    def is_told(self) -> bool:
        """Whether anything can be said about the column: ids, constants and empty columns say nothing."""
        return self.numbers is not None or self.has is not None

    def take_rows(self, rows: np.ndarray) -> ReadableColumn:
        """Return the column of some rows."""
        numbers, has = (None if part is None else part[rows] for part in (self.numbers, self.has))
        return replace(self, numbers=numbers, has=has)


def read_columns(values: Any, name: str, kinds: Mapping[Any, ColumnKind] | None = None) -> list[ReadableColumn]:
    """Read all columns of a variable.

    Parameters
    ----------
    values : array-like, frame or sparse matrix
        The variable. Of images, and of arrays with more than 50 columns, nothing is read.
    name : str
        The name of the variable, which its only column has if it has none of its own.
    kinds : mapping, optional
        What the columns are, as a fit has decided, by name, or by position if there are as many without these names;
        for other columns it is decided here.

    Returns
    -------
    list of ReadableColumn
        All columns, in the order of the data.

    Examples
    --------
    >>> import pandas as pd
    >>> columns = read_columns(pd.DataFrame({"a": [1.5, None, 3.0], "b": ["u", "v", None]}), "X")
    >>> [(column.name, column.kind, column.categories) for column in columns]
    [('a', 'number', ()), ('b', 'label', ('(missing)', 'u', 'v'))]
    """
    if not _has_columns(values, name):
        return []
    data = columns_of(values, name)
    survey, is_alone = Survey.from_columns(data), len(data) == 1
    series = nw.from_native(values, series_only=True, pass_through=True)
    own_name = series.name if isinstance(series, nw.Series) else None
    known = _match_kinds(kinds or {}, list(data))
    columns = []
    for key, summary in survey.columns.items():
        kind = known.get(key) or decide_column_kind(key, summary, survey.n, is_alone=is_alone)
        if is_alone and key not in known and isinstance(summary, dict):
            is_text = are_texts({k: v for k, v in summary.items() if k is not None})
            kind = ColumnKind("text") if is_text else kind
        called = own_name if isinstance(own_name, str) and own_name else key
        is_named = isinstance(called, str)
        text = one_line(called) if is_named else name if is_alone else f"column {called}"
        columns.append(make_column(text, is_named, kind, data[key]))
    return columns


def _match_kinds(kinds: Mapping[Any, ColumnKind], keys: list[Any]) -> Mapping[Any, ColumnKind]:
    """Match what columns are to those of the data: by name, or by position."""
    is_by_position = len(kinds) == len(keys) and not any(key in kinds for key in keys)
    return dict(zip(keys, kinds.values(), strict=True)) if is_by_position else kinds


def find_telling_words(words: Sequence[str]) -> list[int]:
    """Find the words that say something on a map or at an axis: not "of", "the", a single letter or a hash.

    Parameters
    ----------
    words : sequence of str
        The words of texts, or the labels of a column.

    Returns
    -------
    list of int
        The positions of the words that tell; all if there are no others.

    Examples
    --------
    >>> find_telling_words(["of", "fire", "s", "the"])
    [1]
    """
    telling = [i for i, word in enumerate(words) if not (_is_function_word(word.lower()) or is_hash(word))]
    return telling or list(range(len(words)))


def is_hash(text: str) -> bool:
    """Tell whether a text is a long hexadecimal number, which nobody reads."""
    return bool(re.fullmatch(r"(?=.*\d)[0-9a-fA-F]{16,}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text))


def _is_function_word(word: str) -> bool:
    is_letter = len(word) == 1 and word.isascii()
    return is_letter or (
        word in ENGLISH_STOP_WORDS and len(word) <= MAX_FUNCTION_WORD_LETTERS and word not in CONTENT_WORDS
    )


def is_bare_number(text: str) -> bool:
    """Tell whether a label is a number, which says nothing without the name of its column."""
    return bool(re.fullmatch(r"-?\d+(\.\d+)?", text))


def _has_columns(values: Any, name: str) -> bool:
    """Tell whether there are columns that can be read one by one."""
    if sp.issparse(values):
        return 0 < values.shape[1] <= MAX_NAMELESS_COLUMNS
    frame = as_frame(values, name)
    if frame is not None:
        return frame.shape[1] > 0 and sum(not isinstance(key, str) for key in frame.columns) <= MAX_NAMELESS_COLUMNS
    if isinstance(nw.from_native(values, series_only=True, pass_through=True), nw.Series):
        return True
    array = to_array(values, name)
    return array.ndim == 1 or (array.ndim == 2 and 0 < array.shape[1] <= MAX_NAMELESS_COLUMNS)


def make_column(name: str, is_named: bool, kind: ColumnKind, values: np.ndarray) -> ReadableColumn:
    """Make a column of an array as `columns_of` reads it, given what it is."""
    column = ReadableColumn(name, kind.kind, is_named)
    if kind.kind in LABEL_KINDS:
        return _add_labels(column, values)
    if kind.kind == "text":
        return _add_members(column, ["" if text is None else str(text) for text in values.tolist()])
    if not kind.is_used:
        return column
    if kind.reader is not None:
        values = kind.reader(values)
    if kind.kind == "list":
        return _add_members(column, [() if items is None else items for items in values.tolist()])
    return replace(column, numbers=to_numbers(values))


def _add_labels(column: ReadableColumn, values: np.ndarray) -> ReadableColumn:
    missing = find_missing(values).tolist()
    is_whole = values.dtype.kind == "f" and np.nansum(np.abs(values % 1)) == 0
    cells = (values.astype(object) if not is_whole else np.nan_to_num(values).astype(np.int64)).tolist()
    texts = [MISSING if gone else str(value) for value, gone in zip(cells, missing, strict=True)]
    codes, labels = encode_labels(texts, column.name)
    has = sp.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)), shape=(len(codes), len(labels)))
    return replace(column, categories=tuple(labels.tolist()), has=has)


def _add_members(column: ReadableColumn, rows: list[Any]) -> ReadableColumn:
    """Add the words of texts, or the items of lists; a column without any says nothing."""
    is_text = column.kind == "text"
    how: dict[str, Any] = {"token_pattern": WORD_PATTERN} if is_text else {"analyzer": list}
    counter = CountVectorizer(binary=True, max_features=MAX_WORDS, **how)
    try:
        has = sp.csr_array(counter.fit_transform(rows), dtype=np.float64)
    except ValueError:  # not a single word or item
        return column
    return replace(column, categories=tuple(counter.get_feature_names_out().tolist()), has=has)
