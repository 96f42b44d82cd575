"""The columns of the data that a page knows of its points: to read, to colour by, to filter and to compare."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import as_frame, count_observations, take_rows
from correspondence._util.labels import MISSING
from correspondence._util.text import short_repr
from correspondence.data.answers import split_columns
from correspondence.describe.tested_columns import read_tested_column

__all__ = [
    "MAX_COLUMNS_SHOWN",
    "MAX_NAMELESS_COLUMNS",
    "Column",
    "choose_columns",
    "iterate_columns",
    "list_data_rows",
    "make_column",
    "read_column",
    "read_data_columns",
    "to_texts",
    "write_access",
]

MAX_COLUMNS_SHOWN = 200  # of a frame
MAX_NAMELESS_COLUMNS = 30  # of an array: more are pixels and the like
MAX_LABEL_CHARACTERS = 300
MAX_COLUMN_BYTES = 2_850_000  # of all columns in the file, so that a page with 100,000 points has at most 5 MB
MAX_BYTE_CODES = 255  # labels that one byte tells apart


@dataclass(frozen=True, eq=False)
class Column:
    """Values of the points in one column of the data.

    Attributes
    ----------
    name : str
        What the column is called.
    values : ndarray of shape (n,)
        Numbers, NaN where one is missing (dates in days since 1970, times and durations in seconds), or positions
        among the labels.
    labels : list of str or None
        The different labels; None for numbers.
    kind : str
        What the column is, as `decide_column_kind` says; names of rows, texts and lists are shown, but are not groups.
    is_beside : bool
        Whether it took no part in the fit.
    at : str or None
        Python writes this after the name of the table to take the column out; None stands for the name in brackets.
    """

    name: str
    values: np.ndarray
    labels: list[str] | None = None
    kind: str = "label"
    is_beside: bool = False
    at: str | None = None

    @property
    def packed_bytes(self) -> int:
        """Roughly the bytes that the column takes in a page."""
        packed = len(zlib.compress(np.ascontiguousarray(self.values).tobytes(), 1))
        texts = "\n".join(self.labels or []).encode("utf-8", "replace")
        return (packed + len(zlib.compress(texts, 1))) * 4 // 3

    def describe(self) -> dict[str, Any]:
        """Describe the column for the script, apart from its values."""
        said = {"name": self.name, "labels": self.labels, "kind": self.kind, "beside": self.is_beside}
        return said if self.at is None else said | {"at": self.at}


def to_texts(labels: Any) -> list[str]:
    """Return labels as texts of bounded length that can be written to a file, which lone surrogates cannot."""
    texts = (str(label) for label in labels)
    short = (t if len(t) <= MAX_LABEL_CHARACTERS else t[: MAX_LABEL_CHARACTERS - 1] + "…" for t in texts)
    return [text.encode("utf-8", "replace").decode() for text in short]


def write_access(key: Any) -> str | None:
    """Write what takes a column out of a frame, as `Column.at` says."""
    plain = key.item() if isinstance(key, np.generic) else key
    return None if isinstance(plain, str) and plain == to_texts([plain])[0] else f"[{plain!r}]"


def make_column(name: str, values: np.ndarray) -> Column:
    """Make a column of an array: of numbers as they are, of anything else as labels."""
    if values.dtype.kind in "iuf" and not np.isinf(values).any():
        return Column(name, shorten_numbers(values), kind="number")
    labels, codes = np.unique(np.array([str(value) for value in values.tolist()]), return_inverse=True)
    return Column(name, codes.astype(np.uint32), to_texts(labels))


def shorten_numbers(values: np.ndarray) -> np.ndarray:
    """Return numbers as float32 if that is enough for them, otherwise as float64."""
    with np.errstate(over="ignore"):
        short = values.astype(np.float32)
    is_close = np.allclose(short, values, rtol=1e-6, atol=0, equal_nan=True)
    is_enough = is_close and (values.dtype.kind == "f" or (short == values).all())
    return short if is_enough else values.astype(np.float64)


def read_column(key: Any, column: Any, where: str) -> Column:
    """Read a column as the tests of groups do, so that both have the same numbers and categories.

    Parameters
    ----------
    key : hashable
        The name of the column.
    column : narwhals.Series or ndarray
        Its values.
    where : str
        Errors call the table so.
    """
    name = to_texts([key])[0]
    tested = read_tested_column(key, column, where)
    kind = tested.kind.kind
    if tested.numbers is not None:
        is_exact = kind in ("date", "time")  # which are written to the second
        return Column(name, tested.numbers if is_exact else shorten_numbers(tested.numbers), kind=kind)
    if tested.codes is not None:
        width = np.uint8 if len(tested.categories) <= MAX_BYTE_CODES else np.uint32
        return Column(name, tested.codes.astype(width), to_texts(tested.categories), kind)
    array = column.to_numpy() if isinstance(column, nw.Series) else np.asarray(column)
    if array.dtype.kind in "iuf":  # names of rows that are numbers, or a constant
        return replace(make_column(name, array), kind=kind)
    values = column.to_list() if isinstance(column, nw.Series) else array.tolist()
    texts = np.array([MISSING if value is None or value != value else str(value) for value in values], dtype=object)
    return replace(make_column(name, texts), kind=kind)


def iterate_columns(values: Any, name: str) -> Iterator[Column]:
    """Make the columns of a table, or of a single column; images and sparse matrices have none."""
    frame = as_frame(values, "X")
    columns: list[tuple[Any, str | None, Any]] = []
    if frame is not None:
        columns = [(key, write_access(key), own) for key, own in zip(frame.columns, frame.iter_columns(), strict=True)]
    else:
        array = np.empty(0) if sp.issparse(values) else np.asarray(values)
        if array.ndim not in (1, 2) or not array.size:
            return
        columns = [(f"column {i}", f"[:, {i}]", own) for i, own in enumerate(array.T)] if array.ndim == 2 else []
        columns = columns or [(name, "", array)]
    if len(columns) > (MAX_NAMELESS_COLUMNS if frame is None else MAX_COLUMNS_SHOWN):
        return
    for key, at, column in columns:
        try:
            read = read_column(key, column, "X")
        except (TypeError, ValueError):  # values that a method can take and no test can: they are shown as texts
            read = make_column(to_texts([key])[0], column.to_numpy() if frame is not None else column)
        yield replace(read, at=at)


def list_data_rows(data: Any, given: int, rows: np.ndarray, est: Any = None) -> np.ndarray:
    """Return which rows of `data` belong to the points.

    Parameters
    ----------
    data : frame
        What the user gave.
    given : int
        The number of values that the points were made of.
    rows : ndarray of int
        The positions of the points among these.
    est : estimator, optional
        An analysis of many columns, which may have left rows out: `data` may have all that were given to its fit.
    """
    if as_frame(data, "data") is None:
        raise TypeError(f"data must be a frame with one row for each value of X, got {short_repr(data)}.")
    n = count_observations(data, "data")
    positions = getattr(est, "_row_positions", None)
    if n != given and positions is not None and (n, given) == (est._n_rows_given, len(positions)):
        return np.asarray(positions[rows])
    if n != given:
        raise ValueError(f"data must have one row for each of the {given:,} values of X, got {n:,}.")
    return rows


def read_data_columns(data: Any, rows: np.ndarray, known: Sequence[str] = ()) -> list[Column]:
    """Read further columns of the points.

    Parameters
    ----------
    data : frame
        Further columns, which took no part in the fit.
    rows : ndarray of int
        These rows are those of the points.
    known : sequence of str
        Columns with these names are passed over: the points have them already.
    """
    columns = split_columns(take_rows(data, rows), "data")
    return [
        replace(read_column(key, column, "data"), is_beside=True, at=write_access(key))
        for key, column in columns.items()
        if str(key) not in known
    ]


def choose_columns(columns: Sequence[Column], most_bytes: int = MAX_COLUMN_BYTES) -> tuple[list[Column], list[str]]:
    """Choose the columns for which a page has room, and name the others.

    Parameters
    ----------
    columns : sequence of Column
        The columns, those that matter most first.
    most_bytes : int
        The room that there is for all of them.
    """
    if sum(column.values.nbytes for column in columns) * 4 // 3 <= most_bytes:
        return list(columns), []
    # Of the columns beside the fit those that take least room come first: more of them can be had.
    sizes = {id(column): column.packed_bytes for column in columns}
    left_out = set()
    for column in sorted(columns, key=lambda column: (column.is_beside, column.is_beside * sizes[id(column)])):
        if sizes[id(column)] <= most_bytes:
            most_bytes -= sizes[id(column)]
        else:
            left_out.add(id(column))
    kept = [column for column in columns if id(column) not in left_out]
    return kept, [column.name for column in columns if id(column) in left_out]
