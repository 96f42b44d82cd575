"""What is asked for, and what was read: the options of the command line, and two variables ready for a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from correspondence.app.analyze.variables import Variable
from correspondence.data.file_formats import check_columns, find_complete_rows, list_values
from correspondence.data.table import Table
from correspondence.data.text_columns import AS_SUGGESTED, Readings

__all__ = ["Data", "Request", "check_rows", "find_complete_frame_rows"]


@dataclass(frozen=True)
class Request:
    """Which file to read, and which part of it is which variable: the options of the command line."""

    file: Path
    x: Sequence[str] = ()
    y: Sequence[str] = ()
    labels: Sequence[str] = ()
    id: str | None = None
    groups: str | None = None
    weights: str | None = None
    table: bool = False
    beliefs: bool = False
    images: Path | None = None
    size: int = 32
    decimal: Any = None
    dates: Any = None

    @property
    def readings(self) -> Readings:
        """The choices where a text of the file has two readings."""
        return Readings(self.decimal, self.dates)

    @property
    def other_columns(self) -> list[str]:
        """The columns that are neither x nor y."""
        return [name for name in (self.id, self.groups, self.weights) if name is not None]

    def check_columns(self, columns: Sequence[str], path: Path) -> None:
        """Raise an error for a column that is asked for and not in the file."""
        check_columns([*self.x, *self.y, *self.labels, *self.other_columns], columns, path)

    def choose_ids(self, rows: nw.DataFrame, default: list[Any]) -> list[Any]:
        """Return the values of the column of ids, or the default if none is asked for."""
        return default if self.id is None else list_values(rows[self.id])


@dataclass(frozen=True, eq=False)
class Data:
    """Two variables, ready for a method.

    Attributes
    ----------
    form : {"pairs", "counts", "table", "beliefs"}
        Each row gives x and y ("pairs"); or `table` holds their counts, which were counted here ("counts") or in the
        file ("table"); or x are beliefs in the labels y ("beliefs").
    x, y : Variable
        The variables; y has no values if beliefs come without labels.
    ids : list
        The id of each row that was kept.
    id_name : str
        The name of these ids.
    groups : list, optional
        The group of each row, if there are groups.
    table : Table, optional
        The counts, if the form is "counts" or "table".
    notes : tuple of str
        Remarks for the user.
    n_missing : int
        The number of rows left out because values are missing.
    size : int, optional
        The height and width of images.
    readings : Readings
        How texts with two readings were read, for other files that are to be read in the same way.
    """

    form: str
    x: Variable
    y: Variable
    ids: list[Any]
    id_name: str
    groups: list[Any] | None = None
    table: Table | None = None
    notes: tuple[str, ...] = ()
    n_missing: int = 0
    size: int | None = None
    readings: Readings = AS_SUGGESTED

    @property
    def lines(self) -> list[str]:
        """What was found, one line each."""
        missing = [f"{self.n_missing} row(s) with missing values left out."] if self.n_missing else []
        return [f"x: {self.x.text}", f"y: {self.y.text}", *self.notes, *missing]


def find_complete_frame_rows(frame: nw.DataFrame, names: Sequence[str | None], path: Path) -> np.ndarray:
    """Return which rows have a value in all of these columns; there must be two of them."""
    complete = find_complete_rows(frame.select(list(dict.fromkeys(name for name in names if name is not None))))
    check_rows(complete, path)
    return complete


def check_rows(complete: np.ndarray, path: Path) -> None:
    """Raise an error if fewer than two rows are complete."""
    n = int(complete.sum())
    if not n:
        raise ValueError(f"{path} has no row without a missing value in the columns asked for.")
    if n < 2:
        raise ValueError(f"{path} has 1 row without missing values: nothing can be learnt from a single pair.")
