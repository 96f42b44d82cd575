"""The columns of a table that are tested: numbers with gaps, answers as codes, words and items as indicators."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.labels import MISSING
from correspondence._util.text import distinct_lines, list_names, one_line, short_repr
from correspondence._util.user_warnings import LeftOut
from correspondence.data.answers import MISSING_CODE, list_answers, split_columns
from correspondence.data.column_kinds import ColumnKind, decide_column_kind
from correspondence.data.column_reading import read_array_column, read_series, to_numbers
from correspondence.data.column_summary import summarise_column
from correspondence.data.readable_columns import NUMBER_KINDS, make_column

__all__ = [
    "TestedColumn",
    "are_cluster_numbers",
    "leave_out_useless",
    "read_tested_column",
    "read_tested_columns",
    "warn_of_left_out",
]

LABEL_KINDS = ("label", "boolean")
TEXT_NAMES = "names of rows that may be texts"  # the note of such a column


@dataclass(frozen=True, eq=False)
class TestedColumn:
    """One column of a table.

    Attributes
    ----------
    name : str
        What the column is called; one of an array is called by its position.
    kind : ColumnKind
        What it is.
    numbers : ndarray of shape (n,) or None
        The numbers, NaN where one is missing; dates in days since 1970, times and durations in seconds.
    categories : list of str
        The different answers, words or items.
    codes : ndarray of shape (n,) or None
        The position of each answer among the categories; -1 stands for answers that are not among them.
    has : sparse array of shape (n, number of categories) or None
        1 where a row has a word or an item.
    """

    __test__ = False  # pytest takes classes whose names begin with Test for tests

    name: str
    kind: ColumnKind
    numbers: np.ndarray | None = None
    categories: Sequence[str] = ()
    codes: np.ndarray | None = None
    has: Any = None

    @property
    def varies(self) -> bool:
        """Whether two rows differ in it."""
        if self.numbers is not None:
            known = self.numbers[np.isfinite(self.numbers)]
            return len(known) > 0 and bool(known.min() < known.max())
        if self.codes is not None:
            return len(np.unique(self.codes)) > 1
        return self.has is not None

    def get_indicators(self) -> Any:
        """Return the indicators of the categories; rows without one of them are 0."""
        if self.codes is None:
            return self.has
        rows = np.flatnonzero(self.codes >= 0)
        return sp.csr_array(
            (np.ones(len(rows)), (rows, self.codes[rows])), shape=(len(self.codes), len(self.categories))
        )

    def take_rows(self, rows: np.ndarray) -> TestedColumn:
        """Return the column of some rows."""
        parts = {name: getattr(self, name) for name in ("numbers", "codes", "has")}
        return replace(self, **{name: part[rows] for name, part in parts.items() if part is not None})

    def follow_categories(self, categories: Sequence[str]) -> TestedColumn:
        """Return the column with the categories of another table; those that are not among them are left out."""
        place = {category: i for i, category in enumerate(categories)}
        own = np.array([place.get(category, -1) for category in self.categories], dtype=np.int64)
        if self.codes is not None:
            return replace(self, categories=categories, codes=np.append(own, -1)[self.codes])
        if self.has is None:
            return replace(self, categories=categories)
        kept = np.flatnonzero(own >= 0)
        ones = (np.ones(len(kept)), (kept, own[kept]))
        return replace(
            self,
            categories=categories,
            has=self.has @ sp.csr_array(ones, shape=(len(own), len(categories))),
        )


def read_tested_columns(
    frame: Any, name: str, leave: Any = None, kinds: Mapping[str, ColumnKind] | None = None
) -> list[TestedColumn]:
    """Read all columns of a table that can be tested.

    Parameters
    ----------
    frame : frame or array-like of shape (n, k)
        The table.
    name : str
        Errors call it so.
    leave : hashable, optional
        Leave this column out, because it is what the others are compared with.
    kinds : mapping, optional
        What the columns are, by name; by default it is decided by the columns, and those that say nothing are left
        out, with a warning.

    Returns
    -------
    list of TestedColumn
        A missing answer is an answer of its own.
    """
    columns = {key: column for key, column in split_columns(frame, name).items() if key is not leave and key != leave}
    if kinds is not None:
        absent = [key for key in kinds if key not in {str(key) for key in columns}]
        if absent:
            raise ValueError(f"{name} must have the columns of frame, got none called {list_names(absent, 5)}.")
        found = {key: column for key, column in columns.items() if str(key) in kinds}
        return [read_tested_column(key, column, name, kinds[str(key)]) for key, column in found.items()]
    read = [read_tested_column(key, column, name) for key, column in columns.items()]
    if not any(column.varies for column in read):
        raise ValueError(
            f"{name} must have a column that varies, beside that of the groups, got none of {len(columns)}."
            + _advise_on_texts(read)
        )
    return leave_out_useless(read)


def leave_out_useless(read: Sequence[TestedColumn]) -> list[TestedColumn]:
    """Leave out columns that say nothing, with a warning."""
    useless = [column for column in read if not column.varies]
    if useless:
        texts = [f"{column.name} ({_explain_useless(column)})" for column in useless]
        listed = list_names(texts, 5, show=str)
        warn_of_left_out(f"Left out, because they say nothing: column(s) {listed}.{_advise_on_texts(useless)}")
    return [column for column in read if column.varies]


def _explain_useless(column: TestedColumn) -> str:
    return {"id": "names of rows", "empty": "no value"}.get(column.kind.kind, "one value only")


def _advise_on_texts(columns: Sequence[TestedColumn]) -> str:
    """Say how the words of short texts are tested, which are taken for names of rows in a table."""
    names = [column.name for column in columns if column.kind.note == TEXT_NAMES]
    return (
        f" If {list_names(names, 3, show=str)} has texts, describe_groups(column, groups) tests words." if names else ""
    )


def are_cluster_numbers(values: np.ndarray) -> bool:
    """Say whether values are numbers of clusters: whole ones, of which all from 0 or 1 occur, and often."""
    if values.dtype.kind != "i" or not len(values):
        return False
    different = np.unique(values)
    low, high = int(different[0]), int(different[-1])
    return len(different) == high - low + 1 and low in (-1, 0, 1) and 2 * len(different) <= len(values)


def warn_of_left_out(message: str) -> None:
    """Warn that a part of the data is not used."""
    warnings.warn(message, LeftOut, stacklevel=find_user_stacklevel())


def read_tested_column(key: Any, column: Any, table: str, kind: ColumnKind | None = None) -> TestedColumn:
    """Read one column; whole numbers stay numbers, as in all linear methods."""
    where = f"Column {short_repr(key)} of {table}"
    is_series = isinstance(column, nw.Series)
    values = read_series(column, where, key) if is_series else read_array_column(column, where)
    if kind is None:
        kind = decide_column_kind(key, summarise_column(values), len(values), is_alone=False, linear=True)
    made = TestedColumn(one_line(key), kind)
    if kind.kind in LABEL_KINDS:
        return _add_codes(made, column, str(key))
    if kind.kind in NUMBER_KINDS:
        return replace(made, numbers=to_numbers(values if kind.reader is None else kind.reader(values)))
    if not kind.is_used:
        are_words = kind.kind == "id" and any(isinstance(name, str) and not name.isdigit() for name in values.tolist())
        return replace(made, kind=replace(kind, note=TEXT_NAMES)) if are_words else made
    words = make_column(made.name, True, kind, values)
    return replace(made, categories=words.categories, has=words.has)


def _add_codes(made: TestedColumn, column: Any, name: str) -> TestedColumn:
    answers = list_answers(column, name)
    texts = distinct_lines(answers.different.tolist())
    codes = answers.codes.astype(np.int64)
    if (codes == MISSING_CODE).any():
        codes = np.where(codes == MISSING_CODE, len(texts), codes)
        texts = [*texts, MISSING]
    # Answers of different types may read alike, such as 1 and "1": they are one category.
    place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    return replace(made, categories=list(place), codes=np.array([place[text] for text in texts])[codes])
