"""What is asked for, and what was read: the options of the command line, and two variables ready for a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.text import list_names
from correspondence.app.analyze.variables import Variable
from correspondence.data.file_formats import check_columns, find_complete_rows, list_values
from correspondence.data.table import Table
from correspondence.data.text_columns import AS_SUGGESTED, Readings
from correspondence.results.column_table import ColumnFacts

__all__ = ["Data", "Request", "check_rows", "find_complete_frame_rows"]

MIN_SHARE_OF_ROWS = 0.8  # with fewer, the first sentence says so


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
    numbers: Sequence[str] = ()
    missing: str = "indicator"
    decimal: Any = None
    dates: Any = None
    given: Sequence[str] = ()
    constraints: Path | None = None
    explained_by: Sequence[str] = ()
    smooth: bool = False
    ordered: Mapping[str, Sequence[str] | None] = field(default_factory=dict)

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
        named = [*self.x, *self.y, *self.labels, *self.numbers, *self.other_columns, *self.ordered]
        check_columns(named, columns, path)
        both = next((name for name in self.labels if name in self.numbers), None)
        if both is not None:
            raise ValueError(f"--labels and --numbers must name different columns, got {both!r} in both.")

    def find_rows(self, frame: nw.DataFrame, names: Sequence[str]) -> np.ndarray:
        """Find the rows that take part: all, or those without missing values in these columns, as --missing says.

        Rows without a group or a weight never do.
        """
        needed = [name for name in (self.groups, self.weights) if name is not None]
        if self.missing == "indicator":
            return find_complete_frame_rows(frame, needed, self.file)
        complete = find_complete_frame_rows(frame, [*names, *needed], self.file)
        if self.missing == "error" and not complete.all():
            n = int((~complete).sum())
            raise ValueError(f"{self.file} has {n:,} row(s) with missing values, and --missing is error.")
        return complete

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
    unused : tuple of ColumnFacts
        The columns of the file that look like ids and are in neither variable.
    readings : Readings
        How texts with two readings were read, for other files that are to be read in the same way.
    ordered : dict
        The levels of the columns, or sides of a table, that are in order, lowest first.
    beside : frame, optional
        Columns that take no part, by which the rows can be coloured.
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
    unused: tuple[ColumnFacts, ...] = ()
    readings: Readings = AS_SUGGESTED
    ordered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    beside: Any = None

    @property
    def lines(self) -> list[str]:
        """What was found, one line each; if many rows take no part, that comes first."""
        variables = [f"x: {self.x.text}", f"y: {self.y.text}", *self.notes]
        return [*self.coverage, *variables] if self.is_small_part else [*variables, *self.coverage]

    @property
    def n_rows(self) -> int:
        """The number of rows of the file."""
        return len(self.ids) + self.n_missing

    @property
    def is_small_part(self) -> bool:
        """Whether so few of the rows take part that it must be said first."""
        return len(self.ids) < MIN_SHARE_OF_ROWS * self.n_rows

    @property
    def facts(self) -> list[ColumnFacts]:
        """What each column of x and y is taken for, and those that are in neither because they look like ids."""
        return [*self.x.facts, *self.y.facts, *self.unused]

    @property
    def coverage(self) -> list[str]:
        """How many rows and columns take part, and what is done about missing values, one sentence each."""
        if self.form != "pairs":
            return [f"{self.n_missing:,} row(s) with missing values left out."] if self.n_missing else []
        sentences = []
        if self.n_missing:
            share = f"{len(self.ids) / self.n_rows:.0%}"
            why = "the others have missing values"
            sentences.append(f"Only {len(self.ids):,} of {self.n_rows:,} rows ({share}) take part: {why}.")
        left_out = [fact.column for fact in self.facts if not fact.is_used]
        if left_out:
            used = len(self.facts) - len(left_out)
            sentences.append(f"{used} of {len(self.facts)} columns take part, not {list_names(left_out, 5)}.")
        gaps = {fact.column: fact.n_missing for fact in self.facts if fact.n_missing and fact.is_used}
        if gaps:
            where = list_names([f"{name} {n:,}" for name, n in sorted(gaps.items(), key=lambda gap: -gap[1])], 5)
            sentences.append(f"All {len(self.ids):,} rows take part; missing values are marked as missing: {where}.")
        sentences += [
            f"{variable.facts[0].n_missing:,} row{'s have' if variable.facts[0].n_missing > 1 else ' has'} no "
            f"{variable.name}; an axis may show just that, because "
            "(missing) is one of its labels. --missing drop leaves rows with gaps out."
            for variable in (self.x, self.y)
            if variable.kind == "labels" and len(variable.facts) == 1 and variable.facts[0].n_missing
        ]
        return sentences


def find_complete_frame_rows(frame: nw.DataFrame, names: Sequence[str | None], path: Path) -> np.ndarray:
    """Return which rows have a value in all of these columns; there must be two of them."""
    wanted = list(dict.fromkeys(name for name in names if name is not None))
    complete = find_complete_rows(frame.select(wanted)) if wanted else np.ones(len(frame), dtype=bool)
    check_rows(complete, path)
    return complete


def check_rows(complete: np.ndarray, path: Path) -> None:
    """Raise an error if fewer than two rows are complete."""
    n = int(complete.sum())
    if not n:
        raise ValueError(f"{path} has no row without a missing value in the columns asked for.")
    if n < 2:
        raise ValueError(f"{path} has 1 row without missing values: nothing can be learnt from a single pair.")
