"""Columns in order: the levels that --ordered names, or that numbers and dates have, declared for estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from correspondence._util.labels import MISSING
from correspondence._util.text import list_names
from correspondence.app.analyze.inputs.request import Data, Request
from correspondence.app.analyze.variables import Variable
from correspondence.data.column_kinds import MAX_LEVELS
from correspondence.data.counting import are_whole
from correspondence.data.file_formats import as_label_texts, check_columns
from correspondence.data.table import Table
from correspondence.results.column_table import ColumnFacts

__all__ = [
    "declare_orders",
    "list_orders",
    "order_answers",
    "order_labels",
    "order_sides",
    "pair_values",
    "say_orders",
]

MAX_PAIRS = 10_000_000  # of a table whose order is declared by listing its pairs
MAX_LEVELS_TOLD = 8


def declare_orders(frame: nw.DataFrame, request: Request) -> nw.DataFrame:
    """Give columns that are in order a type that says so.

    Parameters
    ----------
    frame : DataFrame
        The rows that take part.
    request : Request
        `ordered` names the columns, and the levels of texts.
    """
    check_columns(request.ordered, frame.columns, request.file)
    for name, levels in request.ordered.items():
        known = find_levels(frame[name], levels)
        texts = as_label_texts(frame.select(name), [name])[name].to_list()
        values = [None if value is None or value == "" else value for value in texts]
        check_levels(name, known, [value for value in values if value is not None])
        column = nw.from_native(pl.Series(name, values, dtype=pl.Enum(known)), series_only=True)
        frame = frame.with_columns(column)
    return frame


def find_levels(column: nw.Series, levels: Sequence[str] | None) -> list[str]:
    """Return the levels of a column as texts, lowest first: those of the user, or its own order."""
    if levels is not None:
        return list(levels)
    if isinstance(column.dtype, nw.Enum):
        return list(column.dtype.categories)
    if not (column.dtype.is_numeric() or column.dtype.is_temporal()):
        raise ValueError(
            f"--ordered: column {column.name!r} holds texts, so name its levels, lowest first: "
            f'--ordered "{column.name}=low|mid|high".'
        )
    different = column.drop_nulls().unique().sort()
    if len(different) > MAX_LEVELS:
        raise ValueError(
            f"--ordered must name columns of at most {MAX_LEVELS} different values, but {column.name!r} has "
            f"{len(different):,}. Put them into classes."
        )
    return [str(text) for text in as_label_texts(different.to_frame(), [column.name])[column.name].to_list()]


def check_levels(name: str, levels: Sequence[str], found: Sequence[str]) -> None:
    """Check that the levels of a column are different, and that no other label occurs."""
    if len(set(levels)) < max(2, len(levels)):
        raise ValueError(
            f"--ordered must name different levels of {name!r}, at least two, got {list_names(levels, 10)}."
        )
    others = sorted(set(found) - set(levels))
    if others:
        raise ValueError(
            f"--ordered must name all levels of {name!r}, but lacks {list_names(others, 5)}. Add them in order."
        )


def order_labels(variable: Variable, rows: nw.DataFrame) -> Variable:
    """Give a variable that is one column of labels the order that the column declares."""
    dtype = rows[variable.columns[0]].dtype if variable.columns[0] in rows.columns else None
    if variable.kind != "labels" or not isinstance(dtype, nw.Enum):
        return variable
    found = set(variable.values.tolist())
    return replace(variable, levels=tuple(level for level in dtype.categories if level in found))


def list_orders(rows: nw.DataFrame, request: Request, used: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """List the levels of the columns in order, all of which must be used."""
    idle = [name for name in request.ordered if name not in used]
    if idle:
        raise ValueError(f"--ordered must name columns of x and y, got {list_names(idle, 5)}.")
    return {name: tuple(rows[name].dtype.categories) for name in request.ordered}  # type: ignore[attr-defined]


def order_answers(
    rows: nw.DataFrame, request: Request, used: Sequence[str], facts: Sequence[ColumnFacts]
) -> dict[str, tuple[str, ...]]:
    """List the levels of the columns of a survey that are in order; there must be no numbers beside them."""
    ordered = list_orders(rows, request, used)
    if ordered and any(fact.is_used and fact.kind not in ("label", "boolean") for fact in facts):
        raise ValueError("--ordered needs columns of labels alone, but there are numbers. Choose columns by --x.")
    return ordered


def order_sides(data: Data, request: Request) -> Data:
    """Give the sides of a table the order that was asked for.

    Parameters
    ----------
    data : Data
        The table.
    request : Request
        `ordered` names "rows" or "columns", which are in order as they stand if it has no levels for them.
    """
    sides = {"x": data.x, "y": data.y}
    for role, position in (("x", "rows"), ("y", "columns")):
        variable = sides[role]
        name = next((own for own in (position, variable.name) if own in request.ordered), None)
        if name is None:
            continue
        labels = [str(label) for label in variable.values.tolist()]
        levels = list(request.ordered[name] or labels)
        check_levels(name, levels, labels)
        sides[role] = replace(variable, levels=tuple(level for level in levels if level in labels))
    known = list(dict.fromkeys(["rows", "columns", data.x.name, data.y.name]))
    check_columns(request.ordered, known, request.file)
    ordered = {side.name: side.levels for side in sides.values() if side.levels}
    return replace(data, x=sides["x"], y=sides["y"], ordered=ordered)


def say_orders(orders: Mapping[str, Sequence[str]]) -> list[str]:
    """Say what is in order, if anything is."""
    told = [f"{name} ({list_names(list(levels), MAX_LEVELS_TOLD, show=str)})" for name, levels in orders.items()]
    return [f"In order, with which the first function rises or falls: {list_names(told, 5, show=str)}."] if told else []


def pair_values(data: Data) -> tuple[Any, Any]:
    """Return both variables as estimators take them, with the order of their labels; a table as its pairs."""
    if data.table is None:
        return _declare(data.x, data.x.values), _declare(data.y, data.y.values)
    rows, columns = _list_pairs(data.table)
    return _declare(data.x, data.table.rows[rows]), _declare(data.y, data.table.columns[columns])


def _declare(variable: Variable, values: Any) -> Any:
    if not variable.levels:
        return values
    labels = [None if value == MISSING else str(value) for value in values.tolist()]
    return pl.Series(variable.name, labels, dtype=pl.Enum(list(variable.levels)))


def _list_pairs(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """List the row and the column of each pair that a table counts."""
    if not are_whole(table.counts) or table.total > MAX_PAIRS:
        raise ValueError(
            f"--ordered needs whole counts that sum to at most {MAX_PAIRS:,}, got {table.total:,.10g}. In Python, "
            "co.CA(ordered=...) takes others."
        )
    counts = table.toarray().astype(np.int64)
    rows, columns = np.nonzero(counts)
    times = counts[rows, columns]
    return np.repeat(rows, times), np.repeat(columns, times)
