"""Checks and conversions of arguments; each error is one sentence that names the argument."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Set
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from narwhals.exceptions import DuplicateError

from correspondence._util.text import short_repr

__all__ = [
    "as_frame",
    "check_flag",
    "check_index",
    "check_seed",
    "check_total",
    "check_weights",
    "check_whole",
    "count_observations",
    "find_user_stacklevel",
    "is_number",
    "read_only",
    "series_to_array",
    "take_rows",
    "to_array",
    "to_floats",
]


def check_whole(value: Any, name: str, low: int, high: int | None = None) -> int:
    """Return a whole number from `low` to `high`, or raise an error."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < low or (high is not None and value > high):
        limits = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be a whole number {limits}, got {short_repr(value)}.")
    return int(value)


def check_seed(seed: Any, name: str = "random_state") -> np.random.Generator:
    """Return a generator of random numbers from a whole number, a generator, or None for a new one each time."""
    if seed is None or isinstance(seed, np.random.Generator):
        return np.random.default_rng(seed)
    return np.random.default_rng(check_whole(seed, name, 0))


def check_flag(value: Any, name: str) -> bool:
    """Return True or False; a value that merely counts as one of them is an error."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {short_repr(value)}.")
    return bool(value)


def is_number(value: Any) -> bool:
    """Say whether a value is a finite real number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False


def check_weights(weights: Any, n: int, name: str, *, allow_zero: bool = False) -> np.ndarray:
    """Return an array of n weights, which must be finite, at least 0, and not all 0 unless that is allowed."""
    values = to_floats(weights, name)
    if values.shape != (n,):
        raise ValueError(f"{name} must have {n} numbers, got an array of shape {values.shape}.")
    if not np.isfinite(values).all() or (values < 0).any() or not (allow_zero or values.any()):
        raise ValueError(f"{name} must be finite, at least 0, and not all zero.")
    if values.any():
        with np.errstate(over="ignore"):
            check_total(float(values.sum()), name)
    return values


def check_total(total: float, name: str) -> None:
    """Check that a sum of non-negative numbers can be divided by."""
    if not 1e-280 < total < 1e280:
        raise ValueError(f"{name} has a total of {total:g}, too far from 1 to compute with: divide it by a constant.")


def find_user_stacklevel() -> int:
    """Find the stack level at which a warning of the caller points to the user's own line."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
        frame, level = frame.f_back, level + 1
    return level


def read_only(result: Any, *names: str) -> None:
    """Make arrays of a frozen result read-only; arrays that they are views of stay writable."""
    for name in names:
        view = np.asarray(getattr(result, name)).view()
        view.flags.writeable = False
        object.__setattr__(result, name, view)


def to_floats(values: Any, name: str) -> np.ndarray:
    """Return an array of float64; text, dates and masked entries are errors."""
    _check_mask(values, name)
    try:
        array = as_numpy_array(values, name)
        has_text = array.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in array.flat)
        if has_text or array.dtype.kind not in "biufO":
            raise TypeError
        with np.errstate(over="raise"):  # a long double may be too large
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, ArithmeticError):
        raise ValueError(f"{name} must be an array of numbers, got {_describe_values(values)}.") from None


def series_to_array(series: nw.Series) -> np.ndarray:
    """Return a series as an array, of objects where NumPy lacks the type (integers of 128 bits)."""
    try:
        return series.to_numpy()
    except Exception:
        return np.fromiter(series.to_list(), dtype=object, count=len(series))


def to_array(values: Any, name: str) -> np.ndarray:
    """Return a list, a frame or a torch tensor as an array; in rows of numbers and strings, each keeps its type."""
    _check_mask(values, name)
    if isinstance(values, list | tuple) and values and all(type(value) is str for value in values):
        return np.array(values, dtype=object)  # in NumPy's own type each text takes as much room as the longest
    array = as_numpy_array(values, name)
    is_mixed = array.dtype.kind in "US" and not isinstance(values, np.ndarray)
    return np.array(values, dtype=object) if is_mixed else array


def _check_mask(values: Any, name: str) -> None:
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries: fill them in or leave those rows out.")


def as_numpy_array(values: Any, name: str) -> np.ndarray:
    if hasattr(values, "detach"):
        return _tensor_to_array(values, name)
    if sp.issparse(values):
        raise TypeError(f"{name} is a sparse matrix, which is not supported here: give {name}.toarray().")
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} has rows of different lengths.") from None
    except Exception as error:  # raised by whichever library made the object
        raise TypeError(f"{name} cannot be converted to an array ({short_repr(str(error))}).") from None


def _tensor_to_array(tensor: Any, name: str) -> np.ndarray:
    """Return a torch tensor as an array, without importing torch."""
    if str(tensor.layout) != "torch.strided":
        raise TypeError(f"{name} is a sparse tensor, which is not supported: give {name}.to_dense().")
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()


def as_frame(values: Any, name: str) -> nw.DataFrame | None:
    """Return the values as an eager narwhals frame, or None if they are not a frame."""
    try:
        frame = nw.from_native(values, pass_through=True)
    except DuplicateError as error:
        raise ValueError(
            f"{name} has a column more than once: rename one of them ({short_repr(str(error), 100)})."
        ) from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(
            f"{name} is a lazy frame: collect it first, or say what x and y are by Pairs(frame, x=..., y=...)."
        )
    return frame if isinstance(frame, nw.DataFrame) else None


def check_index(x: Any, y: Any, names: tuple[str, str] = ("X", "Y")) -> None:
    """Refuse two pandas columns with different indexes, which were hardly meant to be paired by position."""
    x_index, y_index = (_get_pandas_index(column) for column in (x, y))
    if x_index is not None and y_index is not None and len(x) == len(y) and not x_index.equals(y_index):
        a, b = names
        raise ValueError(
            f"{a} and {b} have different indexes: align them first, or give {a}.to_numpy() and {b}.to_numpy()."
        )


def _get_pandas_index(column: Any) -> Any:
    try:
        native = nw.from_native(column, allow_series=True, pass_through=True)
    except DuplicateError:  # reported where the columns are read
        return None
    return nw.maybe_get_index(native) if isinstance(native, nw.Series | nw.DataFrame) else None


def count_observations(values: Any, name: str) -> int:
    """Count the observations."""
    as_frame(values, name)  # a lazy frame is an error of its own
    if sp.issparse(values):
        return values.shape[0]
    try:
        if not isinstance(values, str | bytes | Mapping | Set):
            return len(values) if hasattr(values, "__len__") else len(to_array(values, name))
    except TypeError:  # an array without dimensions
        pass
    raise ValueError(f"{name} must hold one value for each observation, got {type(values).__name__}.")


def take_rows(values: Any, rows: np.ndarray) -> Any:
    """Take rows of data of any kind, by position; objects of ours take their own."""
    if hasattr(values, "take_rows"):
        return values.take_rows(rows)
    frame = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(frame, nw.DataFrame | nw.Series):
        return frame[rows.tolist()].to_native()
    if isinstance(values, list | tuple):
        return [values[i] for i in rows.tolist()]
    if sp.issparse(values):
        return sp.csr_array(values)[rows]
    is_tensor = str(getattr(values, "layout", "")) == "torch.strided"
    array = values if is_tensor or isinstance(values, np.ndarray) else to_array(values, "X or Y")
    if not array.ndim:
        raise ValueError(f"X or Y must hold one value for each observation, got {type(values).__name__}.")
    return array[np.array(rows)]  # torch needs writable positions


def _describe_values(values: Any) -> str:
    kind = getattr(values, "dtype", None)
    if kind is not None:
        return f"values of type {kind}" if isinstance(values, np.ndarray) else f"{type(values).__name__} of {kind}"
    return f"{type(values).__name__} {short_repr(values, 40)}"
