"""Tables of counts: the columns of a frame, or an array with two axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.labels import to_object_array
from correspondence.app.analyze.inputs.request import Data, Request
from correspondence.app.analyze.variables import labels_variable
from correspondence.data.file_formats import (
    as_label_texts,
    check_columns,
    convert_for_numpy,
    list_values,
    read_arrays,
    read_frame,
)
from correspondence.data.table import Table, as_table

__all__ = ["find_only_array", "read_array_table", "read_frame_table"]


def read_frame_table(request: Request) -> Data:
    """Read a table whose first column may name the rows."""
    frame = read_frame(request.file)
    check_columns(request.x, frame.columns, request.file)
    name = frame.columns[0]
    has_labels = len(frame.columns) > 1 and (name == "" or not frame[name].dtype.is_numeric())
    counts = frame.select(frame.columns[has_labels:])
    for column in counts.iter_columns():
        check_counts(column, frame[name], has_labels, request.file)
    if not len(frame):
        raise ValueError(f"{request.file} has no row.")
    names = as_label_texts(frame.select(nw.col(name).alias("row")), ["row"])["row"].to_list()
    rows = to_object_array(names) if has_labels else _number_labels(len(frame))
    table = Table(convert_for_numpy(counts).to_numpy(), rows, to_object_array(counts.columns))
    return make_table_data(table, request, name if has_labels else "")


def check_counts(column: nw.Series, rows: nw.Series, has_labels: bool, path: Path) -> None:
    """Raise an error for a column that holds texts, or an empty cell."""
    where = f"column {column.name!r} of {path}"
    if not column.dtype.is_numeric():
        found = next((value for value in list_values(column) if value is not None), "nothing")
        raise ValueError(f"--table: {where} must hold counts, but it holds {found!r}.")
    missing = column.is_null() | (column.is_nan() if column.dtype.is_float() else column.is_null())
    if bool(missing.any()):
        i = missing.to_list().index(True)
        row = f"row {rows.to_list()[i]!r}" if has_labels else f"row {i + 1}"
        raise ValueError(f"--table: {where} has an empty cell in {row}: write a count, or leave the row or column out.")


def read_array_table(request: Request) -> Data:
    """Read a table from an array; other arrays, "rows" and "columns", may hold the labels."""
    arrays = read_arrays(request.file)
    check_columns(request.x, list(arrays), request.file)
    name = find_only_array(arrays, request, "--table")
    counts = arrays[name]
    if counts.ndim != 2:
        raise ValueError(f"--table: the array {name!r} of {request.file} must have rows and columns.")
    rows, columns = (
        to_object_array([str(label) for label in arrays[axis].tolist()])
        if axis in arrays and arrays[axis].shape == (size,)
        else _number_labels(size)
        for axis, size in zip(("rows", "columns"), counts.shape, strict=True)
    )
    return make_table_data(Table(counts, rows, columns), request, "")


def find_only_array(arrays: dict[str, Any], request: Request, option: str) -> str:
    """Return the name of the array that --x names, or of the only one with two axes."""
    names = list(request.x) or [name for name, array in arrays.items() if array.ndim == 2]
    if len(names) != 1:
        known = ", ".join(arrays) or "none"
        raise ValueError(f"{option}: name the array of {request.file} with --x, which has {known}.")
    return names[0]


def _number_labels(size: int) -> np.ndarray:
    return to_object_array([str(i + 1) for i in range(size)])


def make_table_data(table: Table, request: Request, name: str) -> Data:
    """Check a table, and describe its two variables."""
    table = as_table(table, f"The table {request.file}")
    n_rows, n_columns = table.shape
    if min(table.shape) < 2:
        raise ValueError(
            f"--table: {request.file} has {n_rows} row(s) and {n_columns} column(s), and two of each are needed."
        )
    x = labels_variable("x", table.rows, (name or "rows",))
    y = labels_variable("y", table.columns, ("columns",))
    total = f"Table of {n_rows} x {n_columns} cells, total {table.total:,.10g}."
    return Data("table", x, y, [], "row", table=table, notes=(total,))
