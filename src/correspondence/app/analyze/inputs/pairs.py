"""Pairs and tables of counts, from the columns of a frame or from arrays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import take_rows
from correspondence._util.labels import to_object_array
from correspondence.app.analyze.inputs.orders import declare_orders, list_orders, order_labels, order_sides
from correspondence.app.analyze.inputs.request import Data, Request, check_rows
from correspondence.app.analyze.variables import (
    Variable,
    array_roles,
    array_values,
    frame_roles,
    frame_values,
    labels_variable,
    make_variable,
    name_empty_texts,
    select_columns_beside,
)
from correspondence.data.counting import count_columns
from correspondence.data.file_formats import (
    as_label_texts,
    check_columns,
    convert_for_numpy,
    list_values,
    read_arrays,
    read_file,
)
from correspondence.data.table import Table, as_table
from correspondence.describe.columns import describe_columns
from correspondence.results.column_table import ColumnTable

__all__ = [
    "describe_frame",
    "find_only_array",
    "read_array_pairs",
    "read_array_table",
    "read_frame_pairs",
    "read_frame_table",
]

COUNT_COLUMN_NAMES = ("count", "counts", "freq", "frequency", "n", "weight", "weights")  # what counted pairs are called

# What columns of whole numbers that name the rows of a table are called.
ORDER_NAMES = (
    "age",
    "code",
    "day",
    "decade",
    "group",
    "hour",
    "id",
    "index",
    "month",
    "nr",
    "number",
    "row",
    "week",
    "year",
)
MIN_ORDERED_ROWS = 5  # rows in equal steps that are hardly counts


def read_frame_pairs(request: Request) -> Data:
    """Read pairs from the columns of a file."""
    file = read_file(request.file, request.readings)
    frame = nw.from_native(file.frame)
    request.check_columns(frame.columns, request.file)
    roles = frame_roles(frame, request.x, request.y, request.other_columns, request.file)
    complete = request.find_rows(frame, [*roles.x, *roles.y])
    rows = convert_columns(frame.filter(complete.tolist()), request)
    x, x_notes = make_variable("x", frame_values(rows.select(roles.x)), roles.x)
    y, y_notes = make_variable("y", frame_values(rows.select(roles.y)), roles.y)
    x, y = (order_labels(variable, rows) for variable in (x, y))
    ordered = list_orders(rows, request, [*x.columns, *y.columns])
    notes = (
        *file.list_notes([*roles.x, *roles.y, *request.other_columns]),
        *roles.notes,
        *x_notes,
        *y_notes,
        *_suggest_weights(frame, x, y, request),
    )
    n_missing = int((~complete).sum())
    if request.weights is not None:
        weights = convert_for_numpy(rows.select(request.weights))[:, 0]
        counted = count_weighted_pairs(request, x, y, weights, notes, n_missing)
        return replace(counted, unused=roles.unused, readings=file.readings, ordered=ordered)
    return Data(
        "pairs",
        x,
        y,
        request.choose_ids(rows, (np.flatnonzero(complete) + 1).tolist()),
        request.id or "row",
        rows[request.groups].to_list() if request.groups is not None else None,
        notes=notes,
        n_missing=n_missing,
        unused=roles.unused,
        readings=file.readings,
        ordered=ordered,
        beside=select_columns_beside(name_empty_texts(rows), [*roles.x, *roles.y, request.id]),
    )


def convert_columns(frame: nw.DataFrame, request: Request) -> nw.DataFrame:
    """Convert columns to labels, to numbers or to labels in order, as --labels, --numbers and --ordered say."""
    text = next((name for name in request.numbers if not frame[name].dtype.is_numeric()), None)
    if text is not None:
        raise ValueError(f"--numbers: column {text!r} of {request.file} must hold numbers, but it holds texts.")
    rows = as_label_texts(frame, [name for name in request.labels if name not in request.ordered])
    rows = rows.with_columns(nw.col(name).cast(nw.Float64) for name in request.numbers)
    return declare_orders(rows, request)


def describe_frame(request: Request) -> tuple[ColumnTable, list[str]]:
    """Say what each column of a file is taken for, whichever variable it may belong to."""
    file = read_file(request.file, request.readings)
    frame = nw.from_native(file.frame)
    request.check_columns(frame.columns, request.file)
    return describe_columns(name_empty_texts(convert_columns(frame, request)).to_native()), file.list_notes()


def _suggest_weights(frame: nw.DataFrame, x: Variable, y: Variable, request: Request) -> list[str]:
    """Return a hint if pairs of labels look as if they were counted already."""
    used = (*x.columns, *y.columns, *request.other_columns)
    names = [
        name
        for name in frame.columns
        if name.lower() in COUNT_COLUMN_NAMES and name not in used and frame[name].dtype.is_numeric()
    ]
    if request.weights is not None or not names or (x.kind, y.kind) != ("labels", "labels"):
        return []
    return [f"{names[0]} is not used: --weights {names[0]}, if it says how often each pair was counted."]


def count_weighted_pairs(
    request: Request, x: Variable, y: Variable, weights: nw.Series, notes: tuple[str, ...], n_missing: int
) -> Data:
    """Count pairs of labels, each as often as its weight says."""
    if x.kind != "labels" or y.kind != "labels":
        raise ValueError(f"--weights is for two columns of labels: x are {x.text}, y are {y.text}.")
    if not weights.dtype.is_numeric():
        raise ValueError(f"--weights: column {request.weights!r} of {request.file} must hold numbers.")
    table = count_columns(x.values, y.values, weights.to_numpy())
    levels = x.levels, y.levels
    x, y = labels_variable("x", table.rows, x.columns), labels_variable("y", table.columns, y.columns)
    x, y = (replace(side, levels=own) for side, own in zip((x, y), levels, strict=True))
    return Data("counts", x, y, [], "row", table=table, notes=notes, n_missing=n_missing)


def read_array_pairs(request: Request) -> Data:
    """Read pairs from two arrays of a file."""
    arrays = read_arrays(request.file)
    request.check_columns(list(arrays), request.file)
    if request.weights is not None:
        raise ValueError("--weights is for tables with columns, such as a CSV file.")
    roles = array_roles(arrays, request.x, request.y, request.other_columns, request.file)
    values = [array_values(arrays[name], name, name in request.labels) for name in (*roles.x, *roles.y)]
    others = {name: np.asarray(arrays[name]) for name in request.other_columns}
    lengths = {len(value) for value in (*values, *others.values())}
    if len(lengths) != 1:
        sizes = " and ".join(map(str, sorted(lengths)))
        raise ValueError(f"The arrays of {request.file} must have the same length, got {sizes}.")
    complete = np.logical_and.reduce([_find_complete_rows(value, request.missing) for value in values])
    check_rows(complete, request.file)
    kept = np.flatnonzero(complete)
    x, x_notes = make_variable("x", take_rows(values[0], kept), roles.x)
    y, y_notes = make_variable("y", take_rows(values[1], kept), roles.y)
    return Data(
        "pairs",
        x,
        y,
        (kept + 1 if request.id is None else others[request.id][kept]).tolist(),
        request.id or "row",
        others[request.groups][kept].tolist() if request.groups is not None else None,
        notes=(*roles.notes, *x_notes, *y_notes),
        n_missing=int((~complete).sum()),
    )


def _find_complete_rows(values: Any, missing: str) -> np.ndarray:
    """Find the rows of an array that take part: images must be complete, tables as --missing says."""
    if not len(values):
        return np.zeros(0, dtype=bool)
    if sp.issparse(values) or (missing == "indicator" and values.ndim <= 2):
        return np.ones(values.shape[0], dtype=bool)
    flat = values.reshape(len(values), -1)
    if values.dtype.kind == "f":
        return ~np.isnan(flat).any(axis=1)
    return (flat != "").all(axis=1) if values.dtype == object else np.ones(len(values), dtype=bool)


def read_frame_table(request: Request) -> Data:
    """Read a table whose first column may name the rows."""
    file = read_file(request.file, request.readings)
    frame = nw.from_native(file.frame)
    check_columns([*request.x, *([request.id] if request.id is not None else [])], frame.columns, request.file)
    name, has_labels, note = find_row_names(frame, request)
    counts = frame.select(request.x or [column for column in frame.columns if column != name or not has_labels])
    for column in counts.iter_columns():
        check_counts(column, frame[name], has_labels, request.file)
    if not len(frame):
        raise ValueError(f"{request.file} has no row.")
    names = as_label_texts(frame.select(nw.col(name).alias("row")), ["row"])["row"].to_list()
    rows = to_object_array(names) if has_labels else _number_labels(len(frame))
    table = Table(convert_for_numpy(counts).to_numpy(), rows, to_object_array(counts.columns))
    data = make_table_data(table, request, name if has_labels else "")
    data = replace(data, notes=(*file.list_notes(), *note, *data.notes), readings=file.readings)
    return order_sides(data, request)


def find_row_names(frame: nw.DataFrame, request: Request) -> tuple[str, bool, list[str]]:
    """Find the column that may name the rows of a table; say whether it does, and why if it holds numbers.

    A first column of numbers names the rows if these are whole numbers in order, such as years, or it has no
    name; otherwise it is counted. What --x names is counted, and --id names the rows.
    """
    name = frame.columns[0] if request.id is None else request.id
    if request.id is not None or not frame[name].dtype.is_numeric() or name == "":
        return name, len(frame.columns) > 1, []
    if request.x:
        return name, name not in request.x, []
    if len(frame.columns) > 2 and _is_in_order(frame[name]):
        others = ",".join(frame.columns)
        return name, True, [f"{name} names the rows: its whole numbers are in order; --x {others} would count them."]
    return name, False, [f"{name} holds counts; --id {name} would take it as the names of the rows."]


def _is_in_order(column: nw.Series) -> bool:
    """Say whether a column holds whole numbers that rise or fall: by equal steps, unless its name says what it is."""
    values = convert_for_numpy(column.to_frame()).to_numpy()[:, 0].astype(np.float64)
    steps = np.diff(values)
    if not len(steps) or not (values == np.round(values)).all() or not ((steps > 0).all() or (steps < 0).all()):
        return False
    return column.name.strip().lower() in ORDER_NAMES or (len(values) >= MIN_ORDERED_ROWS and bool(np.ptp(steps) == 0))


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
    return order_sides(make_table_data(Table(counts, rows, columns), request, ""), request)


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
