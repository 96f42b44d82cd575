"""Pairs (x, y) from the columns of a frame or from two arrays, also pairs of labels that are counted already."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.arguments import take_rows
from correspondence.app.analyze.inputs.request import Data, Request, check_rows, find_complete_frame_rows
from correspondence.app.analyze.roles import array_roles, frame_roles
from correspondence.app.analyze.variables import Variable, array_values, frame_values, labels_variable, make_variable
from correspondence.data.counting import count_columns
from correspondence.data.file_formats import as_label_texts, convert_for_numpy, read_arrays, read_frame

__all__ = ["read_array_pairs", "read_frame_pairs"]

COUNT_COLUMN_NAMES = ("count", "counts", "freq", "frequency", "n", "weight", "weights")  # what counted pairs are called


def read_frame_pairs(request: Request) -> Data:
    """Read pairs from the columns of a file."""
    frame = read_frame(request.file)
    request.check_columns(frame.columns, request.file)
    roles = frame_roles(frame, request.x, request.y, request.other_columns, request.file)
    used = [*roles.x, *roles.y, request.groups, request.weights]
    complete = find_complete_frame_rows(frame, used, request.file)
    rows = as_label_texts(frame.filter(complete.tolist()), request.labels)
    x, x_notes = make_variable("x", frame_values(rows.select(roles.x)), roles.x)
    y, y_notes = make_variable("y", frame_values(rows.select(roles.y)), roles.y)
    notes = (*roles.notes, *x_notes, *y_notes, *_suggest_weights(frame, x, y, request))
    n_missing = int((~complete).sum())
    if request.weights is not None:
        weights = convert_for_numpy(rows.select(request.weights))[:, 0]
        return count_weighted_pairs(request, x, y, weights, notes, n_missing)
    return Data(
        "pairs",
        x,
        y,
        request.choose_ids(rows, (np.flatnonzero(complete) + 1).tolist()),
        request.id or "row",
        rows[request.groups].to_list() if request.groups is not None else None,
        notes=notes,
        n_missing=n_missing,
    )


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
    x, y = labels_variable("x", table.rows, x.columns), labels_variable("y", table.columns, y.columns)
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
    complete = np.logical_and.reduce([_find_complete_rows(value) for value in values])
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


def _find_complete_rows(values: Any) -> np.ndarray:
    if not len(values):
        return np.zeros(0, dtype=bool)
    flat = values.reshape(len(values), -1)
    if values.dtype.kind == "f":
        return ~np.isnan(flat).any(axis=1)
    return (flat != "").all(axis=1) if values.dtype == object else np.ones(len(values), dtype=bool)
