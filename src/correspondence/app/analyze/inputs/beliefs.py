"""Beliefs of a model: for each row the probabilities of all classes, and perhaps the true label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.labels import to_object_array
from correspondence._util.text import list_names
from correspondence.app.analyze.inputs.pairs import find_only_array
from correspondence.app.analyze.inputs.request import Data, Request, find_complete_frame_rows
from correspondence.app.analyze.variables import Variable
from correspondence.data.file_formats import as_label_texts, check_columns, convert_for_numpy, read_arrays, read_file

__all__ = ["SUM_ERROR", "read_array_beliefs", "read_frame_beliefs"]

SUM_ERROR = 0.01  # by which sums of beliefs may differ from 1, as those of rounded ones do


def read_frame_beliefs(request: Request) -> Data:
    """Read beliefs from the columns of a file, which have the names of the classes."""
    file = read_file(request.file, request.readings)
    frame = nw.from_native(file.frame)
    request.check_columns(frame.columns, request.file)
    taken = {*request.y, *request.other_columns, ""}
    numeric = [name for name in frame.columns if frame[name].dtype.is_numeric()]
    classes = list(request.x) or [name for name in numeric if name not in taken]
    text = next((name for name in classes if name not in numeric), None)
    if text is not None:
        raise ValueError(f"--beliefs: column {text!r} of {request.file} must hold probabilities.")
    unused = [name for name in frame.columns if name not in (*classes, *taken)]
    complete = find_complete_frame_rows(frame, [*classes, *request.y], request.file)
    rows = as_label_texts(frame.filter(complete.tolist()), request.y)
    numbers = (np.flatnonzero(complete) + 1).tolist()
    data = make_beliefs_data(
        request,
        convert_for_numpy(rows.select(classes)).to_numpy(),
        to_object_array(classes),
        to_object_array(rows[request.y[0]].to_list()) if request.y else None,
        request.choose_ids(rows, numbers),
        numbers,
    )
    hint = [f"Not used: {', '.join(unused)} (--y names the column of true labels)."]
    notes = (*file.list_notes([*classes, *request.y]), *(hint if unused and not request.y else []))
    return replace(data, notes=notes, readings=file.readings, n_missing=int((~complete).sum()))


def read_array_beliefs(request: Request) -> Data:
    """Read beliefs from an array; another one, "classes", may name its columns."""
    arrays = read_arrays(request.file)
    check_columns([*request.x, *request.y, *request.other_columns], list(arrays), request.file)
    P = arrays[find_only_array(arrays, request, "--beliefs")]
    if sp.issparse(P) or P.ndim != 2 or P.dtype.kind not in "fiu":
        raise ValueError(f"--beliefs: {request.file} must hold an array of probabilities with a column for each class.")
    given = arrays.get("classes")
    classes = to_object_array([str(c) for c in (range(P.shape[1]) if given is None else given.tolist())])
    if len(classes) != P.shape[1]:
        raise ValueError(f"--beliefs: {request.file} has {len(classes)} classes for {P.shape[1]} columns of beliefs.")
    labels = to_object_array([str(v) for v in arrays[request.y[0]].tolist()]) if request.y else None
    numbers = list(range(1, len(P) + 1))
    ids = arrays[request.id].tolist() if request.id is not None else numbers
    return make_beliefs_data(request, P, classes, labels, ids, numbers)


def make_beliefs_data(
    request: Request,
    P: np.ndarray,
    classes: np.ndarray,
    labels: np.ndarray | None,
    ids: list[Any],
    numbers: Sequence[int],
) -> Data:
    """Check beliefs and labels, and describe the two variables."""
    if len(request.y) > 1:
        raise ValueError("--beliefs: --y must name one column, that of the true labels.")
    if len(classes) < 2:
        raise ValueError(f"--beliefs: {request.file} must have a column for each of at least two classes.")
    P = normalise_beliefs(P, numbers, request.file)
    if labels is not None:
        _check_labels(labels, classes, len(P), request)
    name = request.y[0] if request.y else "class"
    x_text = f"beliefs in {len(classes)} classes, {len(P)} rows"
    y_text = (
        f"labels ({name})" if labels is not None else "no labels, so nothing can be held out (--y names their column)"
    )
    x = Variable("x", "input", "beliefs", P, tuple(classes.tolist()), x_text)
    y = Variable("y", name, "labels", labels, tuple(request.y), y_text)
    return Data("beliefs", x, y, ids, request.id or "row")


def normalise_beliefs(P: np.ndarray, numbers: Sequence[int], path: Path) -> np.ndarray:
    """Divide each row by its sum, which must be 1 but for rounding; errors name rows by their numbers in the file."""
    P = np.asarray(P, dtype=np.float64)
    sums = P.sum(axis=1)
    bad = np.flatnonzero(~(np.abs(sums - 1) <= SUM_ERROR) | (P < 0).any(axis=1))
    if len(bad):
        i = int(bad[0])
        what = "has negative numbers" if (P[i] < 0).any() else f"sums to {sums[i]:.4g}, not to 1"
        raise ValueError(
            f"--beliefs: row {numbers[i]} of {path} {what}: give probabilities, and name their columns with --x."
        )
    return P / sums[:, None]


def _check_labels(labels: np.ndarray, classes: np.ndarray, n: int, request: Request) -> None:
    if len(labels) != n:
        raise ValueError(f"--y: {request.y[0]} must have one label for each of the {n} rows, got {len(labels)}.")
    known = set(classes.tolist())
    unknown = next((label for label in labels.tolist() if label not in known), None)
    if unknown is not None:
        raise ValueError(
            f"--y: the label {unknown!r} is not among the classes, which are the columns {list_names(classes)}."
        )
