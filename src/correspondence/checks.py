"""Checks of arguments that several modules share; each error is one sentence that names the argument."""

from __future__ import annotations

import sys
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from narwhals.exceptions import DuplicateError

__all__ = [
    "as_frame",
    "check_index",
    "check_weights",
    "check_whole",
    "is_number",
    "length",
    "outside",
    "read_only",
    "take",
    "to_floats",
]


def check_whole(value: Any, name: str, low: int, high: int | None = None) -> int:
    """A whole number from `low` to `high`."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < low or (high is not None and value > high):
        limits = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be a whole number {limits}, got {value!r}.")
    return int(value)


def is_number(value: Any) -> bool:
    """Whether it is a finite real number."""
    return type(value) is not bool and isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def check_weights(weights: Any, n: int, name: str, *, allow_zero: bool = False) -> np.ndarray:
    """Array of n finite weights of at least 0, and not all of them 0 unless that is allowed."""
    values = to_floats(weights, name)
    if values.shape != (n,):
        raise ValueError(f"{name} must have {n} numbers, got an array of shape {values.shape}.")
    if not np.isfinite(values).all() or (values < 0).any() or not (allow_zero or values.any()):
        raise ValueError(f"{name} must be finite, at least 0, and not all zero.")
    return values


def outside() -> int:
    """Level of the stack, for a warning of the caller, of the line of the user that called this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
        frame, level = frame.f_back, level + 1
    return level


def read_only(result: Any, *names: str) -> None:
    """Make arrays of a frozen result read-only, without touching those that they are views of."""
    for name in names:
        view = np.asarray(getattr(result, name)).view()
        view.flags.writeable = False
        object.__setattr__(result, name, view)


def to_floats(values: Any, name: str) -> np.ndarray:
    """Array of float64; text, dates and masked entries are not numbers."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries: fill them in or leave them out.")
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in array.flat):
            raise TypeError
        if array.dtype.kind not in "biufO":
            raise TypeError
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be an array of numbers, got {_described(values)}.") from None


def as_frame(values: Any, name: str) -> nw.DataFrame | None:
    """Eager data frame of any library, or None if it is none."""
    try:
        frame = nw.from_native(values, pass_through=True)
    except DuplicateError as error:
        raise ValueError(f"{name} has a column more than once: rename one of them. {error}") from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"{name} is a lazy frame: call collect() on it first.")
    return frame if isinstance(frame, nw.DataFrame) else None


def check_index(x: Any, y: Any, names: tuple[str, str] = ("X", "Y")) -> None:
    """Two pandas columns whose rows are named differently were hardly meant to be paired by position."""
    x_index, y_index = (_index(column) for column in (x, y))
    if x_index is not None and y_index is not None and len(x) == len(y) and not x_index.equals(y_index):
        a, b = names
        raise ValueError(
            f"{a} and {b} have different indexes: align them first, or give {a}.to_numpy() and {b}.to_numpy()."
        )


def _index(column: Any) -> Any:
    native = nw.from_native(column, allow_series=True, pass_through=True)
    return nw.maybe_get_index(native) if isinstance(native, nw.Series | nw.DataFrame) else None


def length(values: Any, name: str) -> int:
    """Number of observations."""
    as_frame(values, name)  # a lazy frame has its own message
    if sp.issparse(values):
        return values.shape[0]
    try:
        return len(values)
    except TypeError:
        pass
    try:
        return len(np.asarray(values))
    except TypeError:
        raise ValueError(f"{name} must hold one value for each observation, got {type(values).__name__}.") from None


def take(values: Any, rows: np.ndarray) -> Any:
    """Some rows of data of any kind, by position."""
    frame = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(frame, nw.DataFrame | nw.Series):
        return frame[rows.tolist()].to_native()
    if isinstance(values, list | tuple):
        return [values[i] for i in rows.tolist()]
    return sp.csr_array(values)[rows] if sp.issparse(values) else values[np.array(rows)]  # torch wants them writable


def _described(values: Any) -> str:
    kind = getattr(values, "dtype", None)
    return f"values of type {kind}" if kind is not None else f"{type(values).__name__} {str(values)[:40]!r}"
