"""Columns of answers as whole numbers: fast for millions of rows, in the frame's own library."""

from __future__ import annotations

from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from correspondence._util.arguments import as_frame, to_array
from correspondence._util.labels import as_labels, encode_objects, sort_labels, to_object_array
from correspondence._util.text import list_names, short_repr

__all__ = [
    "MISSING_CODE",
    "UNKNOWN_CODE",
    "Answers",
    "arrange_answers",
    "find_answers",
    "list_answers",
    "split_columns",
]

MISSING_CODE = -1
UNKNOWN_CODE = -2


class Answers(NamedTuple):
    """A column of answers.

    Attributes
    ----------
    codes : ndarray of int32
        The position of each answer among the different ones; `MISSING_CODE` for missing ones.
    different : ndarray of object
        The different answers; those of an ordered categorical column in its own order.
    is_ordered : bool
        Whether the column is an ordered categorical one.
    """

    codes: np.ndarray
    different: np.ndarray
    is_ordered: bool


def split_columns(values: Any, name: str) -> dict[Any, Any]:
    """Split a table into its columns, by name; those of an array are called by their number.

    Parameters
    ----------
    values : frame or array-like of shape (n, k)
        The table has one row for each observation.
    name : str
        Errors call the table so.

    Returns
    -------
    dict
        The name of each column leads to a series of narwhals, or to an array.

    Examples
    --------
    >>> {key: column.tolist() for key, column in split_columns([["tea", "yes"], ["milk", "no"]], "X").items()}
    {0: ['tea', 'milk'], 1: ['yes', 'no']}
    """
    frame = as_frame(values, name)
    if frame is not None:
        columns: dict[Any, Any] = dict(zip(frame.columns, frame.iter_columns(), strict=True))
        n = len(frame)
    else:
        array = to_array(values, name)
        if array.ndim != 2:
            raise ValueError(
                f"{name} must have rows and columns, got an array of shape {array.shape}. Reshape your data."
            )
        columns, n = {j: array[:, j] for j in range(array.shape[1])}, len(array)
    if not columns or not n:
        raise ValueError(f"{name} is empty: it has {n} row(s) and {len(columns)} column(s).")
    return columns


def list_answers(column: Any, name: str) -> Answers:
    """Find the different answers of a column, in sorted order, and the number of each row's answer.

    Parameters
    ----------
    column : narwhals.Series or ndarray
        One answer for each row; None, NaN and the like are missing ones.
    name : str
        Errors call the column so.

    Returns
    -------
    Answers
        The codes of the rows, and the different answers.

    Examples
    --------
    >>> codes, different, is_ordered = list_answers(np.array(["b", None, "a"], dtype=object), "drink")
    >>> codes.tolist(), different.tolist(), is_ordered
    ([1, -1, 0], ['a', 'b'], False)
    """
    if not isinstance(column, nw.Series):
        return Answers(*_list_array_answers(column, name), False)
    is_ordered = isinstance(column.dtype, nw.Enum)
    try:
        raw, values = _encode_series(column)
        known = {value for value in values if value is not None and value == value}
        answers = [v for v in column.dtype.categories if v in known] if is_ordered else sort_labels(known)  # type: ignore[attr-defined]
    except Exception:  # values that the library cannot compare (lists, mixed objects): Python can, or says why not
        return Answers(*_list_array_answers(to_object_array(column.to_list()), name), is_ordered)
    place = {answer: i for i, answer in enumerate(answers)}
    places = np.array([*(place.get(value, MISSING_CODE) for value in values), MISSING_CODE], dtype=np.int32)
    return Answers(places[raw], to_object_array(answers), is_ordered)


def find_answers(column: Any, answers: np.ndarray, name: str) -> np.ndarray:
    """Find the number of each row's answer among those that are known.

    Parameters
    ----------
    column : narwhals.Series or ndarray
        One answer for each row.
    answers : ndarray of object
        The answers that are known.
    name : str
        Errors call the column so.

    Returns
    -------
    ndarray of int32
        `MISSING_CODE` stands for missing answers, `UNKNOWN_CODE` for unknown ones.

    Examples
    --------
    >>> find_answers(np.array(["b", None, "z"], dtype=object), np.array(["a", "b"], dtype=object), "drink").tolist()
    [1, -1, -2]
    """
    codes, own, _ = list_answers(column, name)
    position = {answer: i for i, answer in enumerate(answers.tolist())}
    places = np.array([*(position.get(answer, UNKNOWN_CODE) for answer in own.tolist()), MISSING_CODE], dtype=np.int32)
    return places[codes]


def arrange_answers(given: Answers, levels: list[Any] | None, name: Any) -> Answers:
    """Put the answers of a column in an order that a user names.

    Parameters
    ----------
    given : Answers
        The answers, in their own order or sorted.
    levels : list, optional
        All levels in order; without it the answers must have an order of their own, as numbers have.
    name : object
        Errors call the column so.

    Returns
    -------
    Answers
        The same answers in order, with other codes.

    Examples
    --------
    >>> given = Answers(np.array([0, 2, 1]), np.array(["high", "low", "mid"], dtype=object), False)
    >>> arranged = arrange_answers(given, ["low", "mid", "high", "extreme"], "income")
    >>> arranged.codes.tolist(), arranged.different.tolist(), arranged.is_ordered
    ([2, 1, 0], ['low', 'mid', 'high'], True)
    """
    answers = given.different.tolist()
    if levels is None:
        if not given.is_ordered and not {type(answer) for answer in answers} <= {int, float, bool}:
            raise ValueError(
                f"ordered must give the levels of column {short_repr(name)}, which declares no order. "
                "Use a dict from the column to a list of its levels, lowest first."
            )
        return given._replace(is_ordered=True)
    place = {level: i for i, level in enumerate(levels)}
    unknown = [answer for answer in answers if answer not in place]
    if unknown:
        raise ValueError(
            f"ordered must have all levels of column {short_repr(name)}, but lacks "
            f"{list_names(unknown, 5, show=short_repr)}. Add them where they belong."
        )
    turn = np.argsort([place[answer] for answer in answers])
    places = np.append(np.argsort(turn), MISSING_CODE).astype(np.int32)
    return Answers(places[given.codes], given.different[turn], True)


def _encode_series(series: nw.Series) -> tuple[np.ndarray, list[Any]]:
    """Encode a column by the fastest means of its library; -1 and values that are None or NaN are missing ones."""
    native = series.to_native()
    if series.implementation.is_pandas():
        codes, values = native.factorize()
        return codes, values.tolist()
    if series.implementation.is_pyarrow():
        encoded = native.combine_chunks()
        encoded = encoded if hasattr(encoded, "indices") else encoded.dictionary_encode()
        return encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()
    values = [value for value in series.unique().to_list() if value is not None]
    if series.implementation.is_polars() and series.dtype == nw.String and values:
        import polars as pl

        return native.cast(pl.Enum(values)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy(), values
    places = list(range(len(values)))
    codes = series.replace_strict(values, places, default=-1, return_dtype=nw.Int32) if values else None
    return np.full(len(series), -1) if codes is None else codes.to_numpy(), values


def _list_array_answers(values: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    labels = as_labels(values, name, allow_missing=True)
    if labels.dtype != object:
        answers, codes = np.unique(labels, return_inverse=True)
        return codes.astype(np.int32), to_object_array(answers.tolist())
    is_present = np.fromiter((label is not None for label in labels.tolist()), bool, len(labels))
    codes = np.full(len(labels), MISSING_CODE, dtype=np.int32)
    codes[is_present], answers = encode_objects(labels[is_present].tolist(), f"column {short_repr(name)}")
    return codes, answers
