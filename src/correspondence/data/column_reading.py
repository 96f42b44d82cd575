"""Columns of a table as arrays, before anything is decided about them: numbers, dates, durations, labels and lists."""

from __future__ import annotations

import datetime
import numbers
import re
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import as_frame, to_array
from correspondence._util.labels import as_labels, find_missing_labels, to_object_array
from correspondence._util.text import short_repr
from correspondence.data.encoders.text import as_sparse
from correspondence.data.pairs.opening import series_to_floats

__all__ = [
    "ID_NAME",
    "ItemList",
    "WholeNumbers",
    "check_finite",
    "check_not_infinite",
    "columns_of",
    "find_missing",
    "find_missing_rows",
    "to_numbers",
]

# Names of columns whose whole numbers are labels: id, userId, user_id, MOVIE_ID, zip code; not "paid" or "Madrid".
ID_NAME = re.compile(
    r"(?:^|[\W_]|(?<=[a-z]))I[Dd]s?$|(?<![a-zA-Z])(?:ids?|uuid|guid|zip|zip[_ ]?code|post[_ ]?code|isbn|ssn|fips)$"
)
SECONDS = np.timedelta64(1, "s")


class ItemList(tuple[str, ...]):
    """The items of a list in a cell, in their order."""

    __slots__ = ()


class CategoryLabel(str):
    """A label of a categorical column, which stands for nothing but itself."""

    __slots__ = ()


class WholeNumbers(np.ndarray):
    """Whole numbers with gaps, as float64 with NaN."""


def columns_of(values: Any, name: str) -> dict[Any, np.ndarray]:
    """Read columns by name; a single column without a name is 0.

    Parameters
    ----------
    values : array-like, frame, series or sparse matrix
        The data have one row for each observation.
    name : str
        Errors call the data so.

    Returns
    -------
    dict
        The name of each column leads to an array: whole numbers are int64, or `WholeNumbers` if some are missing, other
        numbers float64 with NaN for missing ones, dates datetime64 and durations timedelta64 with NaT, everything else
        objects with None. Times with a zone are the local time there.
    """
    if sp.issparse(values):
        values = as_sparse(values, name).toarray()
    frame = as_frame(values, name)
    data: dict[Any, np.ndarray]
    if frame is not None:
        columns = zip(frame.columns, frame.iter_columns(), strict=True)
        data = {key: read_series(series, f"Column {short_repr(key)} of {name}", key) for key, series in columns}
    elif isinstance(nw.from_native(values, series_only=True, pass_through=True), nw.Series):
        series = nw.from_native(values, series_only=True)
        data = {0: read_series(series, name, series.name)}
    else:
        data = split_array_columns(values, name)
    n = len(next(iter(data.values()))) if data else len(values)
    if not data:
        raise ValueError(f"{name} is empty: it has 0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required.")
    if not n:
        raise ValueError(f"{name} is empty: it has 0 sample(s) while a minimum of 1 is required.")
    return data


def split_array_columns(values: Any, name: str) -> dict[Any, np.ndarray]:
    """Read the columns of an array, called by their number."""
    if isinstance(values, list | tuple) and any(isinstance(value, set | frozenset) for value in values):
        values = to_object_array(list(values))
    array = to_array(values, name)
    if array.ndim == 0:
        raise ValueError(f"{name} must have one row for each observation, got the single value {short_repr(values)}.")
    if array.ndim > 2:
        raise ValueError(f"{name} must have rows and columns, got an array of shape {array.shape}.")
    if array.ndim == 1:
        return {0: read_array_column(array, name)}
    return {j: read_array_column(array[:, j], f"Column {j} of {name}") for j in range(array.shape[1])}


def read_series(series: nw.Series, where: str, key: Any) -> np.ndarray:
    """Read a column of a frame."""
    dtype = series.dtype
    if isinstance(key, str) and ID_NAME.search(key) and _are_whole(series):
        return to_object_array([None if v is None or v != v else int(v) for v in series.to_list()])
    if dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128, nw.UInt64) and not series.is_null().any():
        return series.to_numpy().astype(np.int64)
    if dtype.is_numeric():
        numbers = check_not_infinite(series_to_floats(series), where)
        if _has_type_for_gaps(series):
            return numbers.view(WholeNumbers) if dtype.is_integer() else numbers
        return _mark_whole_numbers(numbers)
    if isinstance(dtype, nw.Datetime):
        local = series.dt.replace_time_zone(None) if dtype.time_zone is not None else series
        return local.to_numpy().astype("M8[us]")
    if dtype == nw.Date:
        return np.array(series.to_list(), dtype="M8[us]")
    if dtype == nw.Time:
        return np.array([_to_timedelta(value) for value in series.to_list()], dtype="m8[us]")
    if dtype.is_temporal():
        return series.to_numpy().astype("m8[us]")
    if isinstance(dtype, nw.List | nw.Array):
        return to_object_array([_to_items(value) for value in series.to_list()])
    if dtype in (nw.Categorical, nw.Enum):
        labels = _read_labels(series, where)
        return to_object_array([CategoryLabel(v) if isinstance(v, str) else v for v in labels.tolist()])
    if dtype in (nw.Object, nw.Unknown):  # such as dates in a zone that narwhals does not know
        return read_array_column(to_object_array(series.to_list()), where)
    return _read_labels(series, where)


def _are_whole(series: nw.Series) -> bool:
    """Say whether a column holds whole numbers, perhaps as decimals because of gaps."""
    if not series.dtype.is_float():
        return series.dtype.is_integer()
    return _are_whole_or_missing(series_to_floats(series))


def _are_whole_or_missing(values: np.ndarray) -> bool:
    return bool((np.isnan(values) | ((values == np.rint(values)) & (np.abs(values) < 2**53))).all())


def _has_type_for_gaps(series: nw.Series) -> bool:
    """Say whether whole numbers with gaps are a type of their own; NumPy's, which pandas takes, are decimals then."""
    return not isinstance(getattr(series.to_native(), "dtype", None), np.dtype)


def _mark_whole_numbers(values: np.ndarray) -> np.ndarray:
    """Mark decimals as whole numbers if they all are, and if they are decimals because of gaps."""
    return values.view(WholeNumbers) if np.isnan(values).any() and _are_whole_or_missing(values) else values


def read_array_column(values: np.ndarray, where: str) -> np.ndarray:
    """Read a column of an array."""
    kind = values.dtype.kind
    if kind == "i" or (kind == "u" and values.dtype.itemsize < 8):
        return values.astype(np.int64)
    if kind in "uf":
        return _mark_whole_numbers(check_not_infinite(values.astype(np.float64), where))
    if kind == "c":
        raise ValueError(f"Complex data not supported: give real and imaginary parts of {where} as two columns.")
    if kind == "V":
        raise ValueError(f"{where} is a structured array: give a frame, or a plain array.")
    if kind in "mM":
        return values.astype(f"{kind}8[us]")
    return _read_objects(values, where) if kind == "O" else _read_labels(values, where)


def _read_objects(values: np.ndarray, where: str) -> np.ndarray:
    """Read a column of Python objects, by the type that all of them have."""
    missing = find_missing_labels(values)
    cells = [None if gone else value for value, gone in zip(values.tolist(), missing, strict=True)]
    present = [value for value in cells if value is not None]
    if all(_is_number(value) for value in present):
        values = check_not_infinite(np.array([np.nan if v is None else _to_float(v) for v in cells]), where)
        is_whole = present and all(isinstance(value, numbers.Integral) for value in present)
        return values.view(WholeNumbers) if is_whole else _mark_whole_numbers(values)
    if all(isinstance(value, datetime.date) for value in present):
        return np.array([_to_naive(value) for value in cells], dtype="M8[us]")
    if all(isinstance(value, datetime.timedelta) for value in present):
        return np.array(cells, dtype="m8[us]")
    if all(isinstance(value, list | set | np.ndarray | ItemList) for value in present):
        return to_object_array([_to_items(value) for value in cells])
    return _read_labels(values, where)


def _read_labels(values: Any, where: str) -> np.ndarray:
    """Read a column of labels; None is a missing one."""
    labels = as_labels(values, where, allow_missing=True)
    return labels if labels.dtype == object else to_object_array(labels.tolist())


def _to_items(value: Any) -> ItemList | None:
    if value is None:
        return None
    items = sorted(value, key=str) if isinstance(value, set | frozenset) else list(value)
    return ItemList(str(item) for item in items if item is not None)


def _to_timedelta(value: datetime.time | None) -> datetime.timedelta | None:
    if value is None:
        return None
    return datetime.timedelta(
        hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond
    )


def _to_naive(value: datetime.date | None) -> datetime.date | None:
    """Return the local time as written, without its zone."""
    return value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Number) and not isinstance(value, bool | complex | np.bool_)


def _to_float(value: Any) -> float:
    try:
        return float(value)
    except (OverflowError, ValueError):  # 10**400, or a signalling NaN
        return np.inf


def check_not_infinite(values: np.ndarray, where: str) -> np.ndarray:
    """Return the numbers, none of which may be infinite; NaN is a missing one."""
    bad = int(np.count_nonzero(np.isinf(values)))
    if bad:
        raise ValueError(f"{where} contains infinity in {bad} row(s): fill them in or leave those rows out.")
    return values


def check_finite(values: np.ndarray, where: str) -> np.ndarray:
    """Return the numbers, which must be finite."""
    finite = np.isfinite(values)
    bad = int(np.count_nonzero(~finite.all(axis=tuple(range(1, finite.ndim)))))
    if bad:
        raise ValueError(f"{where} contains NaN or infinity in {bad} row(s): fill them in or leave those rows out.")
    return values


def find_missing(column: np.ndarray) -> np.ndarray:
    """Find the missing values of a column as `columns_of` reads it."""
    if column.dtype == object:
        return np.fromiter((value is None for value in column.tolist()), bool, len(column))
    if column.dtype.kind == "f":
        return np.isnan(column)
    return np.isnat(column) if column.dtype.kind in "mM" else np.zeros(len(column), dtype=bool)


def find_missing_rows(values: Any, name: str) -> np.ndarray:
    """Find the rows with a missing value in a table; data of other kinds have none.

    Examples
    --------
    >>> find_missing_rows([[1.0, np.nan], [2.0, 3.0]], "X").tolist()
    [True, False]
    """
    if sp.issparse(values) or (as_frame(values, name) is None and getattr(values, "ndim", 1) > 2):
        return np.zeros(values.shape[0], dtype=bool)
    return np.logical_or.reduce([find_missing(column) for column in columns_of(values, name).values()])


def to_numbers(column: np.ndarray) -> np.ndarray:
    """Convert a column of numbers, of dates (to days) or of durations (to seconds) to float64; missing ones are NaN.

    Raises
    ------
    ValueError
        If the column holds labels.
    """
    if column.dtype.kind in "mM":
        unit = SECONDS if column.dtype.kind == "m" else np.timedelta64(1, "D")
        times = column - np.datetime64(0, "us") if column.dtype.kind == "M" else column
        return times / unit
    if column.dtype != object:
        return np.asarray(column, dtype=np.float64)
    values = column.tolist()
    odd = next((value for value in values if value is not None and not _is_number(value)), None)
    if odd is not None:
        raise ValueError(f"must hold numbers, as in the fit, got {short_repr(odd)}.")
    return np.array([np.nan if value is None else _to_float(value) for value in values])
