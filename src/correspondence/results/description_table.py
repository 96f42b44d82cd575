"""A table of tests that describe groups or axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.text import one_line
from correspondence.results.effect_texts import format_category
from correspondence.results.points import FrameResult

__all__ = ["PARTS", "DescriptionTable", "list_rows", "name_category"]

MAX_ROWS_SHOWN = 10
NAME_WIDTH = 24  # characters of a name in a printed table
PARTS = ("variables", "categories", "numbers")


@dataclass(frozen=True, eq=False, repr=False)
class DescriptionTable(FrameResult):
    """A table of tests, sorted; `to_frame` has its columns.

    Attributes
    ----------
    columns : dict of ndarray
        The columns by name. ``table["pvalue"]`` is one of them.

    Examples
    --------
    >>> import correspondence as co
    >>> found = co.describe_groups(co.datasets.load_poison(), "Sick")
    >>> found.variables["column"][:3].tolist()
    ['Time', 'Abdominals', 'Fever']
    """

    columns: Mapping[str, np.ndarray]

    def __post_init__(self) -> None:
        for values in self.columns.values():
            values.flags.writeable = False

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def take_rows(self, rows: np.ndarray) -> DescriptionTable:
        """Return some of the rows, given by positions or a mask.

        Parameters
        ----------
        rows : ndarray of int or bool
            The rows to keep.

        Returns
        -------
        DescriptionTable
            The same columns.
        """
        return DescriptionTable({name: values[rows] for name, values in self.columns.items()})

    def _collect_columns(self) -> dict[str, Any]:
        return dict(self.columns)

    def __repr__(self) -> str:
        shown = self.take_rows(np.arange(min(len(self), MAX_ROWS_SHOWN))).columns
        cells = [[name, *map(_format_cell, values.tolist())] for name, values in shown.items()]
        widths = [max(map(len, column)) for column in cells]
        lines = [
            "  ".join(f"{text:>{w}}" for text, w in zip(row, widths, strict=True)) for row in zip(*cells, strict=True)
        ]
        return "\n".join([f"{len(self)} rows", *lines, *(["..."] if len(self) > MAX_ROWS_SHOWN else [])])


def _format_cell(value: Any) -> str:
    return one_line(value, NAME_WIDTH) if isinstance(value, str) else f"{value:.4g}"


def list_rows(
    table: DescriptionTable, by: str, name: Any, tell: Callable[[Mapping[str, Any]], str]
) -> list[dict[str, Any]]:
    """List the rows of a group, or of an axis, as dictionaries with a text."""
    rows = table.take_rows(np.flatnonzero(table[by] == name)).columns
    listed = [dict(zip(rows, values, strict=True)) for values in zip(*(v.tolist() for v in rows.values()), strict=True)]
    return [one | {"text": tell(one)} for one in listed]


def name_category(one: Mapping[str, Any]) -> str:
    """Name the category of a row of a table."""
    return format_category(one["column"], one["kind"], one["category"])
