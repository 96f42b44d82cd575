"""Columns of labels of any hashable type, turned into integer codes."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.arguments import as_frame, series_to_array, to_array
from correspondence._util.text import short_repr

__all__ = [
    "MISSING",
    "as_labels",
    "encode_labels",
    "find_labels",
    "find_missing_labels",
    "label_from_json",
    "label_to_json",
    "make_sort_key",
    "name_missing_labels",
    "sort_labels",
    "to_object_array",
]


MISSING = "(missing)"  # the label of missing ones, where they have a level of their own


def encode_labels(column: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Find the distinct labels of a column, in sorted order, and the position of each entry among them.

    The order is that of the labels themselves, of an ordered categorical column's categories, or, for labels
    that cannot be compared with each other, of their types and texts: never that of their appearance.

    Parameters
    ----------
    column : array-like or series
        One label for each observation.
    name : str
        Errors call the column so.

    Returns
    -------
    codes, labels : ndarray
        ``labels[codes]`` is the column.

    Examples
    --------
    >>> codes, labels = encode_labels(["b", "a", "b"], "x")
    >>> codes.tolist(), labels.tolist()
    ([1, 0, 1], ['a', 'b'])
    """
    if type(column).__name__ == "Categorical" and hasattr(column, "categories"):
        column = sys.modules["pandas"].Series(column)
    series = nw.from_native(column, series_only=True, pass_through=True)
    if isinstance(series, nw.Series) and isinstance(series.dtype, nw.Enum):
        return _encode_categories(series, series.dtype.categories, name)
    values = as_labels(column, name)
    if values.dtype.kind in "biufmM":
        labels, codes = np.unique(values, return_inverse=True)
        return codes, as_labels(labels, name)
    return encode_objects(values.tolist(), name)


def as_labels(column: Any, name: str, *, allow_missing: bool = False) -> np.ndarray:
    """Return a one-dimensional array of labels; numbers keep their type, everything else becomes an object.

    Parameters
    ----------
    column : array-like or series
        One label for each observation.
    name : str
        Errors call the column so.
    allow_missing : bool
        Return None for a missing label, instead of raising an error.

    Raises
    ------
    ValueError
        If the column is not one-dimensional, or has missing entries that are not allowed.
    """
    if hasattr(column, "tocsr"):
        raise TypeError(f"{name} is a sparse matrix, which is not a list of labels: give {name}.toarray().")
    values = to_label_array(column, name)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 0:
        raise ValueError(
            f"{name} must be a list of labels, got {short_repr(column)}: write [{short_repr(column)}] for one."
        )
    if values.ndim != 1:
        raise ValueError(f"{name} must be one column of labels, got an array of shape {values.shape}.")
    if values.dtype == object and set(map(type, values.tolist())) == {str}:
        return values  # nothing is missing, nothing has to be converted: saves a pass over millions
    gone = find_missing_labels(values)
    if gone.any() and allow_missing:
        values = to_object_array([None if gone[i] else value for i, value in enumerate(values.tolist())])
    elif missing := int(gone.sum()):
        raise ValueError(f"{name} has {missing} missing label(s): drop those rows, or give them a label of their own.")
    if values.dtype.kind in "biuf":
        return values
    return to_object_array(
        [_to_python_value(value) for value in values.tolist()]
        if values.dtype == object
        else _round_to_microseconds(values).tolist()
    )


def name_missing_labels(column: Any, name: str) -> Any:
    """Give missing labels the label `MISSING`; a column without any is returned as it is.

    Parameters
    ----------
    column : array-like or series
        One label for each observation.
    name : str
        Errors call the column so.

    Examples
    --------
    >>> name_missing_labels(["a", None], "x").tolist()
    ['a', '(missing)']
    """
    labels = as_labels(column, name, allow_missing=True)
    if labels.dtype != object or all(label is not None for label in labels.tolist()):
        return column
    return to_object_array([MISSING if label is None else label for label in labels.tolist()])


def make_sort_key(label: Hashable) -> tuple[str, Any]:
    """Make a key by which labels of any types can be sorted, in an order that does not depend on the input's."""
    if isinstance(label, bool | int | float | np.number | np.bool_):
        return ("", label)
    if isinstance(label, frozenset):
        return ("frozenset", repr(sorted(map(make_sort_key, label))))
    return (type(label).__name__, label if isinstance(label, str) else repr(label))


def _encode_categories(series: nw.Series, categories: Sequence[str], name: str) -> tuple[np.ndarray, np.ndarray]:
    position = {label: i for i, label in enumerate(categories)}
    codes = np.array([position[v] for v in as_labels(series, name).tolist()], dtype=np.intp)
    used, codes = np.unique(codes, return_inverse=True)
    return codes, to_object_array([categories[i] for i in used])


def encode_objects(values: list[Hashable], name: str) -> tuple[np.ndarray, np.ndarray]:
    seen: dict[Hashable, int] = {}
    try:
        first = np.fromiter((seen.setdefault(v, len(seen)) for v in values), np.intp, len(values))
    except TypeError as error:
        raise TypeError(f"{name} has a label that cannot be hashed ({error}): use strings or numbers.") from None
    labels = sort_labels(seen)
    position = np.empty(len(labels), np.intp)
    position[[seen[label] for label in labels]] = np.arange(len(labels))
    return position[first], to_object_array(labels)


def sort_labels(labels: Iterable[Any]) -> list[Any]:
    """Sort labels in their own order if it is total, otherwise by type and text."""
    labels = list(labels)
    try:
        return sorted(labels, key=make_sort_key if any(isinstance(label, frozenset) for label in labels) else None)
    except TypeError:
        return sorted(labels, key=make_sort_key)


def to_label_array(column: Any, name: str) -> np.ndarray:
    frame = as_frame(column, name)
    if frame is not None:
        if frame.shape[1] != 1:
            return np.empty(frame.shape)
        column = frame[:, 0].to_native()
    series = nw.from_native(column, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        is_numeric = series.dtype.is_numeric() and not series.is_null().any()
        return series_to_array(series) if is_numeric else to_object_array(series.to_list())
    if hasattr(column, "detach"):  # a tensor of torch
        return to_array(column, name)
    if np.ma.is_masked(column):
        return to_object_array([None if value is np.ma.masked else value for value in column])
    if isinstance(column, np.ndarray):
        return column
    if hasattr(column, "to_pylist"):  # an unchunked pyarrow array
        return to_object_array(column.to_pylist())
    if isinstance(column, str | bytes) or not isinstance(column, Iterable):
        return np.asarray(column)
    values = list(column)
    return to_object_array(
        [v[0] for v in values] if all(isinstance(v, list) and len(v) == 1 for v in values) else values
    )


def to_object_array(values: Sequence[Any]) -> np.ndarray:
    """Make an array of the values as they are: ``np.array`` would turn ``[1, "a"]`` into two strings."""
    return np.fromiter(values, dtype=object, count=len(values))


def _to_python_value(value: Any) -> Any:
    """Return Python's own value for a NumPy scalar."""
    return _round_to_microseconds(np.asarray(value)).item() if isinstance(value, np.generic) else value


def _round_to_microseconds(values: np.ndarray) -> np.ndarray:
    """Round dates to the resolution of Python's; ``tolist`` would turn nanoseconds into bare integers."""
    return values.astype(f"{values.dtype.kind}8[us]") if values.dtype.kind in "mM" else values


def find_missing_labels(values: np.ndarray) -> np.ndarray:
    """Find the missing entries of an array: None, NaN, NaT and pandas.NA.

    Examples
    --------
    >>> find_missing_labels(np.array(["a", None, float("nan")], dtype=object)).tolist()
    [False, True, True]
    """
    if values.dtype.kind in "fmM":
        return np.asarray(values != values)  # NaN and NaT differ from themselves
    if values.dtype.kind == "O":
        return np.fromiter((v is None or _differs_from_itself(v) for v in values.tolist()), bool, len(values))
    return np.zeros(len(values), dtype=bool)


def _differs_from_itself(value: Any) -> bool:
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"  # pandas.NA refuses to be a truth value
    except ArithmeticError:
        return True  # a signalling NaN of decimal


_JSON_CODECS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "datetime": (datetime.datetime, datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    "date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "seconds": (datetime.timedelta, datetime.timedelta.total_seconds, lambda s: datetime.timedelta(seconds=s)),
    "tuple": (tuple, lambda t: [label_to_json(v) for v in t], lambda t: tuple(label_from_json(v) for v in t)),
}


def label_to_json(label: Any) -> Any:
    """Turn a label into something that JSON can hold."""
    if isinstance(label, str | bool | int | float):
        return label
    if isinstance(label, np.generic):
        return label.item()
    if getattr(label, "nanosecond", 0):
        raise TypeError(f"The label {short_repr(label)} cannot be saved: times are kept to microseconds.")
    for tag, (cls, encode, _) in _JSON_CODECS.items():
        if isinstance(label, cls):
            return {tag: encode(label)}
    raise TypeError(
        f"The label {short_repr(label)} of type {type(label).__name__} cannot be saved: use strings or numbers."
    )


def label_from_json(label: Any) -> Any:
    """Invert `label_to_json`."""
    if isinstance(label, dict):
        ((tag, value),) = label.items()
        return _JSON_CODECS[tag][2](value)
    return label


def find_labels(Y: Any) -> np.ndarray | None:
    """Return Y as one column of labels, if it is one.

    Parameters
    ----------
    Y : array-like or frame
        Y may be of any kind.

    Returns
    -------
    ndarray of shape (n,) or None
        None if Y holds numbers or several columns.

    Examples
    --------
    >>> find_labels(["no", "yes"]).tolist(), find_labels([0.5, 1.0])
    (['no', 'yes'], None)
    """
    frame = as_frame(Y, "Y")
    if frame is not None and frame.shape[1] != 1:
        return None
    if hasattr(Y, "tocsr"):
        return None
    values = series_to_array(frame[:, 0]) if frame is not None else to_array(Y, "Y")
    return values if values.ndim == 1 and values.dtype.kind in "OUSb" else None
