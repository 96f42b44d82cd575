"""Values of a variable beside the given variables of the same rows, so that whatever splits pairs splits both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import check_index, count_observations, take_rows
from correspondence._util.text import short_repr
from correspondence.data.table import to_frame

__all__ = ["BesideGiven", "has_given", "list_parts", "match_given", "put_beside_given", "separate_given", "strip_given"]


@dataclass(frozen=True, eq=False)
class BesideGiven:
    """Values of x or y, and what is given in the same rows.

    Attributes
    ----------
    values : array-like, frame, ...
        The values of the variable.
    given : array-like or frame
        The given variables, with as many rows.

    Examples
    --------
    >>> BesideGiven(["a", "b", "c"], np.arange(3)).take_rows(np.array([2, 0]))
    BesideGiven(values=['c', 'a'], given=array([2, 0]))
    """

    values: Any
    given: Any

    @classmethod
    def from_rows(cls, values: Any, given: Any, name: str) -> BesideGiven:
        """Put values and given variables side by side, after checking that they have the same rows."""
        if isinstance(given, Mapping):
            given = _make_frame(given)
        n, m = count_observations(values, name), count_observations(given, "given")
        if n != m:
            raise ValueError(f"given must have one row for each of the {n} rows of {name}, got {m}.")
        check_index(values, given, (name, "given"))
        return cls(values, given)

    def __len__(self) -> int:
        return count_observations(self.values, "X")

    def take_rows(self, rows: np.ndarray) -> BesideGiven:
        """Take some of the rows, by positions."""
        return BesideGiven(take_rows(self.values, rows), take_rows(self.given, rows))


def _make_frame(columns: Mapping[Any, Any]) -> Any:
    """Make a frame of given columns, after checking that all are columns of the same length."""
    sizes = {}
    for key, column in columns.items():
        if np.ndim(column) != 1:
            raise ValueError(
                f"given must hold columns of one value for each pair, got {np.ndim(column)} dimensions of "
                f"{short_repr(key)}. Give one entry for each column."
            )
        sizes[key] = count_observations(column, "given")
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{n} of {short_repr(key)}" for key, n in sizes.items())
        raise ValueError(f"given must hold columns of the same length, got {found}. Give one value for each pair.")
    return to_frame({str(key): column for key, column in columns.items()})


def put_beside_given(X: Any, Y: Any, given: Any) -> tuple[Any, Any]:
    """Put the given variables beside both variables of pairs; return the pairs as they are if nothing is given.

    Parameters
    ----------
    X, Y : array-like, frame, ...
        The pairs.
    given : array-like, frame, dictionary of columns or None
        The given variables, one row for each pair.

    Examples
    --------
    >>> put_beside_given([1.0, 2.0], ["a", "b"], None)
    ([1.0, 2.0], ['a', 'b'])
    >>> put_beside_given([1.0, 2.0], ["a", "b"], [5.0])
    Traceback (most recent call last):
    ValueError: given must have one row for each of the 2 rows of X, got 1.
    """
    if given is None:
        return X, Y
    return BesideGiven.from_rows(X, given, "X"), BesideGiven.from_rows(Y, given, "Y")


def match_given(X: Any, Y: Any, given: Any, *, is_needed: bool) -> tuple[Any, Any]:
    """Put given variables beside pairs if the functions of a fit need them, and refuse them otherwise.

    Parameters
    ----------
    X, Y : array-like, frame, ...
        Values of both variables, with or without given variables beside them; Y may be None.
    given : array-like, frame, dictionary of columns or None
        The given variables of the same rows.
    is_needed : bool
        Whether there were given variables in the fit.
    """
    if not is_needed:
        if given is not None:
            raise ValueError(f"given must be None, as in the fit, got {type(given).__name__}. Fit with given=, too.")
        return X, Y
    if isinstance(X, BesideGiven):
        return X, Y
    if given is None:
        raise ValueError("given must hold the given variables of the same rows, as in the fit, got None.")
    beside = BesideGiven.from_rows(X, given, "X")
    return beside, None if Y is None else BesideGiven.from_rows(Y, given, "Y")


def strip_given(values: Any) -> Any:
    """Return the values alone, if they are beside given variables."""
    return values.values if isinstance(values, BesideGiven) else values


def separate_given(X: Any, Y: Any) -> tuple[Any, Any, Any]:
    """Return the values of both variables, and the given variables beside them, None if there are none."""
    return strip_given(X), strip_given(Y), X.given if isinstance(X, BesideGiven) else None


def list_parts(values: Any, name: str) -> list[tuple[Any, str]]:
    """List the values with their name, and the variables given beside them, if there are any."""
    return [(values.values, name), (values.given, "given")] if isinstance(values, BesideGiven) else [(values, name)]


def has_given(X: Any, given: Any = None) -> bool:
    """Tell whether there are given variables, as an argument or beside X."""
    return given is not None or isinstance(X, BesideGiven)
