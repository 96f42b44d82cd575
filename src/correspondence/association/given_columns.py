"""The given columns of a table: which they are, where they are missing, and which other columns follow from them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from correspondence._util.arguments import as_frame, find_user_stacklevel, take_rows, to_array
from correspondence._util.labels import encode_objects
from correspondence._util.text import list_names, short_repr
from correspondence._util.user_warnings import LeftOut
from correspondence.association.coded_columns import CodedColumn
from correspondence.data.beside_given import BesideGiven
from correspondence.data.column_kinds import find_row_names
from correspondence.data.column_reading import columns_of, find_missing

__all__ = ["GivenColumns", "follows_from", "rank_values", "read_given"]

MIN_ROWS_PER_CELL = 2  # on average, for cells of several given columns to determine a label


@dataclass(frozen=True, eq=False)
class GivenColumns:
    """The columns that are given.

    Attributes
    ----------
    names : tuple of str
        What the columns are called.
    inside : frozenset
        The names of those that are columns of the table, which are not compared.
    data : frame or ndarray
        The values, one row for each row of the table.
    is_missing : ndarray of bool of shape (n,)
        The rows in which one of them is missing.
    """

    names: tuple[str, ...]
    inside: frozenset[Any]
    data: Any
    is_missing: np.ndarray

    def take_rows(self, rows: np.ndarray) -> GivenColumns:
        """Keep some of the rows, or repeat them."""
        return replace(self, data=take_rows(self.data, rows), is_missing=self.is_missing[rows])

    def select_rows(self, kept: np.ndarray, missing: str) -> tuple[np.ndarray, tuple[str, ...]]:
        """Leave out rows in which a given column is missing, unless that is an answer; say how many.

        Parameters
        ----------
        kept : ndarray of int
            The rows that take part for all that is known of the other columns.
        missing : str
            See `associations`.
        """
        gone = self.is_missing[kept]
        if missing == "indicator" or not gone.any():
            return kept, ()
        what = f"{int(gone.sum()):,} of {len(kept):,} rows"
        if missing == "error":
            raise ValueError(
                f'given must have no missing values if missing="error", got some in {what}. Choose another value of '
                "missing."
            )
        if gone.all():
            raise ValueError(
                f'given must have values in some rows, got none in {what}. Choose missing="indicator", or leave out '
                "the column without values."
            )
        text = f"{what} are left out, in which what is given ({list_names(list(self.names), 5, show=str)}) is missing."
        warnings.warn(text, LeftOut, stacklevel=find_user_stacklevel())
        return kept[~gone], (text,)


def read_given(given: Any, frame: Any) -> GivenColumns:
    """Read the argument `given`: names of columns of the table, or other variables of its rows.

    Parameters
    ----------
    given : name, list of names, frame, dictionary of columns or array-like with the rows of frame
        What is given.
    frame : frame or array-like of shape (n, k)
        The table.

    Examples
    --------
    >>> read_given([0], [[1.0, 2.0], [3.0, 4.0]]).inside
    frozenset({0})
    >>> read_given({"age": [31, 45]}, [[1.0, 2.0], [3.0, 4.0]]).names
    ('age',)
    """
    names = list_given_names(given)
    if names is not None:
        data = select_columns(frame, names)
        return GivenColumns(tuple(str(name) for name in names), frozenset(names), data, find_gaps(data))
    rows = BesideGiven.from_rows(frame, given, "frame").given
    if as_frame(rows, "given") is not None:
        called = tuple(str(name) for name in columns_of(rows, "given"))
    elif getattr(rows, "name", None) is not None:
        called = (str(rows.name),)
    else:
        width = len(columns_of(rows, "given"))
        called = ("z",) if width == 1 else tuple(f"z {j}" for j in range(width))
    return GivenColumns(called, frozenset(), rows, find_gaps(rows))


def list_given_names(given: Any) -> list[Any] | None:
    """Return the names of columns that are given; None if values are."""
    if isinstance(given, str | int) and not isinstance(given, bool):
        return [given]
    if not isinstance(given, list | tuple | set | frozenset):
        return None
    if not given:
        raise ValueError(f"given must name at least one column, got {short_repr(given)}. Leave it out.")
    are_names = all(isinstance(name, str | int | np.integer) and not isinstance(name, bool) for name in given)
    return list(dict.fromkeys(given)) if are_names else None


def select_columns(frame: Any, names: list[Any]) -> Any:
    """Select columns of the table by name, or of an array by number."""
    table = as_frame(frame, "frame")
    if table is not None:
        check_names(names, table.columns)
        return table.select(names).to_native()
    array = to_array(frame, "frame")
    check_names(names, range(array.shape[1] if array.ndim == 2 else 0))
    return array[:, names]


def check_names(names: list[Any], known: Sequence[Any]) -> None:
    """Check that names are those of columns of the table."""
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"given must be columns of frame, or variables of its rows, got {list_names(unknown, 5, show=short_repr)}. "
            f"Columns of frame are {list_names(known, 10)}."
        )


def find_gaps(data: Any) -> np.ndarray:
    """Find the rows in which a given column is missing."""
    return np.logical_or.reduce([find_missing(column) for column in columns_of(data, "given").values()])


def follows_from(column: CodedColumn, given: Mapping[Any, np.ndarray]) -> bool:
    """Tell whether given columns determine a column: it cuts one of them into pieces, or is fixed in each cell of all.

    Regressions on smooth functions leave something of such steps, which is no noise.

    Parameters
    ----------
    column : CodedColumn
        The column.
    given : mapping
        The ranks of the values of each given column.

    Examples
    --------
    >>> age = np.array([20, 31, 45, 52, 67, 70])
    >>> adult = CodedColumn("old", "label", np.array([0, 0, 0, 1, 1, 1]), 2)
    >>> follows_from(adult, {"age": age}), follows_from(adult, {"age": age % 3})
    (True, False)
    """
    known = column.codes != column.missing
    codes = column.codes[known].astype(np.int64)
    ranks = [values[known] for values in given.values()]
    if any(_is_cut(codes, own, column.is_number) for own in ranks):
        return True
    coarse = [own for own in ranks if own.max(initial=0) < len(own) / MIN_ROWS_PER_CELL]
    if not coarse:
        return False
    cells = np.unique(np.column_stack(coarse), axis=0, return_inverse=True)[1].ravel()
    return bool(cells.max() < len(cells) / MIN_ROWS_PER_CELL and _is_fixed(codes, cells))


def _is_fixed(codes: np.ndarray, cells: np.ndarray) -> bool:
    """Tell whether all rows of a cell have the same code."""
    first = np.empty(int(cells.max()) + 1, dtype=np.int64)
    first[cells] = codes
    return bool((first[cells] == codes).all())


def _is_cut(codes: np.ndarray, ranks: np.ndarray, is_number: bool) -> bool:
    """Tell whether codes only change, or for numbers grow or fall, from a rank to a higher one."""
    if not _is_fixed(codes, ranks):
        return False
    steps = np.diff(codes[np.argsort(ranks, kind="stable")])
    if is_number:
        return bool((steps >= 0).all() or (steps <= 0).all())
    return bool(np.count_nonzero(steps) == len(np.unique(codes)) - 1)


def rank_values(data: Any) -> dict[Any, np.ndarray]:
    """Rank the values of given columns: equal ones have the same rank, labels an arbitrary one."""
    ranks = {}
    for name, column in columns_of(data, "given").items():
        if column.dtype == object:
            ranks[name] = encode_objects(column.tolist(), "given")[0].astype(np.int64)
            found = find_row_names((np.bincount(ranks[name]) / len(column)).tolist(), len(column))
            if found:
                raise ValueError(
                    f"given must have labels that occur several times, got {short_repr(name)}, which names the rows: "
                    f"{found}. Leave it out."
                )
        else:
            ranks[name] = np.unique(column, return_inverse=True)[1].ravel()
    return ranks
