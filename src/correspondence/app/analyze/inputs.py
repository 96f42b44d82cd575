"""What a file holds: pairs, a table of counts, or the beliefs of a model, found out and put into words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import take_rows
from correspondence._util.labels import to_object_array
from correspondence._util.text import list_names
from correspondence.app.analyze.roles import Roles, array_roles, frame_roles, image_roles
from correspondence.app.analyze.variables import Variable, array_values, frame_values, labels_variable, make_variable
from correspondence.data.counting import count_columns
from correspondence.data.file_formats import (
    ARRAY_ENDINGS,
    as_label_texts,
    check_columns,
    complete_rows,
    for_numpy,
    plain_values,
    read_arrays,
    read_frame,
)
from correspondence.data.image_files import image_files, read_images
from correspondence.data.table import Table, as_table

__all__ = ["SUM_ERROR", "Data", "Request", "read_data"]

COUNT_COLUMN_NAMES = ("count", "counts", "freq", "frequency", "n", "weight", "weights")  # what counted pairs are called
SUM_ERROR = 0.01  # by which beliefs may be off, as rounded ones are


@dataclass(frozen=True)
class Request:
    """Which file, and which part of it is which variable: the options of the command line."""

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

    @property
    def other_columns(self) -> list[str]:
        """Columns that are neither x nor y."""
        return [name for name in (self.id, self.groups, self.weights) if name is not None]


@dataclass(frozen=True, eq=False)
class Data:
    """Two variables, ready for a method.

    Attributes
    ----------
    form : {"pairs", "counts", "table", "beliefs"}
        Whether x and y are given for each row, or `table` holds their counts, or was given itself, or x are beliefs in
        the labels y.
    x, y : Variable
        y has no values if beliefs come without labels.
    ids : list
        One for each row that was kept.
    id_name : str
        What they are called.
    notes : tuple of str
        What the user should know.
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
    """Of images."""

    @property
    def lines(self) -> list[str]:
        """What was found, one line each."""
        missing = f"{self.n_missing} row(s) with missing values left out." if self.n_missing else ""
        return [f"x: {self.x.text}", f"y: {self.y.text}", *self.notes, *filter(None, [missing])]


def read_data(request: Request, progress: bool | None = None) -> Data:
    """Read what is asked for; anything that is wrong with it is a ValueError of one sentence."""
    is_array = request.file.suffix.lower() in ARRAY_ENDINGS
    if request.images is not None:
        return read_image_pairs(request, progress)
    if request.table:
        return read_array_table(request) if is_array else read_frame_table(request)
    if request.beliefs:
        return read_array_beliefs(request) if is_array else read_frame_beliefs(request)
    return read_array_pairs(request) if is_array else read_frame_pairs(request, read_frame(request.file))


# --- pairs


def read_frame_pairs(request: Request, frame: nw.DataFrame) -> Data:
    check_columns([*request.x, *request.y, *request.labels, *request.other_columns], frame.columns, request.file)
    roles = frame_roles(frame, request.x, request.y, request.other_columns, request.file)
    used = [name for name in (*roles.x, *roles.y, request.groups, request.weights) if name is not None]
    complete = complete_rows(frame.select(list(dict.fromkeys(used))))
    _check_rows(complete, request.file)
    rows = as_label_texts(frame.filter(complete.tolist()), request.labels)
    x, x_notes = make_variable("x", frame_values(rows.select(roles.x)), roles.x)
    y, y_notes = make_variable("y", frame_values(rows.select(roles.y)), roles.y)
    notes = (*roles.notes, *x_notes, *y_notes, *_suggest_weights(frame, x, y, request))
    if request.weights is not None:
        return count_weighted_pairs(
            request, x, y, for_numpy(rows.select(request.weights))[:, 0], notes, int((~complete).sum())
        )
    return Data(
        "pairs",
        x,
        y,
        _number_rows(complete) if request.id is None else plain_values(rows[request.id]),
        request.id or "row",
        rows[request.groups].to_list() if request.groups is not None else None,
        notes=notes,
        n_missing=int((~complete).sum()),
    )


def _suggest_weights(frame: nw.DataFrame, x: Variable, y: Variable, request: Request) -> list[str]:
    """A hint where pairs of labels look as if they were counted already."""
    used = (*x.columns, *y.columns, *request.other_columns)
    names = [
        name
        for name in frame.columns
        if name.lower() in COUNT_COLUMN_NAMES and name not in used and _is_number(frame[name])
    ]
    if request.weights is not None or not names or (x.kind, y.kind) != ("labels", "labels"):
        return []
    return [f"{names[0]} is not used: --weights {names[0]}, if it says how often each pair was counted."]


def count_weighted_pairs(
    request: Request, x: Variable, y: Variable, weights: nw.Series, notes: Any, n_missing: int
) -> Data:
    """Pairs of labels that are counted already."""
    if x.kind != "labels" or y.kind != "labels":
        raise ValueError(f"--weights is for two columns of labels: x are {x.text}, y are {y.text}.")
    if not weights.dtype.is_numeric():
        raise ValueError(f"--weights: column {request.weights!r} of {request.file} must hold numbers.")
    table = count_columns(x.values, y.values, weights.to_numpy())
    x, y = labels_variable("x", table.rows, x.columns), labels_variable("y", table.columns, y.columns)
    return Data("counts", x, y, [], "row", table=table, notes=notes, n_missing=n_missing)


def read_array_pairs(request: Request) -> Data:
    arrays = read_arrays(request.file)
    check_columns([*request.x, *request.y, *request.labels, *request.other_columns], list(arrays), request.file)
    if request.weights is not None:
        raise ValueError("--weights is for tables with columns, such as a CSV file.")
    roles = array_roles(arrays, request.x, request.y, request.other_columns, request.file)
    values = [array_values(arrays[name], name, name in request.labels) for name in (*roles.x, *roles.y)]
    others = {name: np.asarray(arrays[name]) for name in request.other_columns}
    lengths = {len(value) for value in (*values, *others.values())}
    if len(lengths) != 1:
        raise ValueError(f"The arrays of {request.file} must have the same length, got {_sizes(lengths)}.")
    complete = np.logical_and.reduce([_find_complete_rows(value) for value in values])
    _check_rows(complete, request.file)
    kept = np.flatnonzero(complete)
    x, x_notes = make_variable("x", take_rows(values[0], kept), roles.x)
    y, y_notes = make_variable("y", take_rows(values[1], kept), roles.y)
    return Data(
        "pairs",
        x,
        y,
        _number_rows(complete) if request.id is None else others[request.id][kept].tolist(),
        request.id or "row",
        others[request.groups][kept].tolist() if request.groups is not None else None,
        notes=(*roles.notes, *x_notes, *y_notes),
        n_missing=int((~complete).sum()),
    )


def _sizes(lengths: Iterable[int]) -> str:
    return " and ".join(map(str, sorted(lengths)))


def _find_complete_rows(values: np.ndarray) -> np.ndarray:
    if not len(values):
        return np.zeros(0, dtype=bool)
    flat = values.reshape(len(values), -1)
    if values.dtype.kind == "f":
        return ~np.isnan(flat).any(axis=1)
    return (flat != "").all(axis=1) if values.dtype == object else np.ones(len(values), dtype=bool)


def _number_rows(complete: np.ndarray) -> list[Any]:
    """Numbers of the rows in the file, from 1."""
    return (np.flatnonzero(complete) + 1).tolist()


def _check_rows(complete: np.ndarray, path: Any) -> None:
    n = int(complete.sum())
    if not n:
        raise ValueError(f"{path} has no row without a missing value in the columns asked for.")
    if n < 2:
        raise ValueError(f"{path} has 1 row without missing values: nothing can be learnt from a single pair.")


# --- images with labels, captions or numbers


def read_image_pairs(request: Request, progress: bool | None) -> Data:
    assert request.images is not None
    if not request.images.exists():
        raise ValueError(f"--images: there is no folder or file {request.images}.")
    folder, listing = (request.images, request.file) if request.images.is_dir() else (request.file, request.images)
    files = image_files(folder)
    if not files:
        raise ValueError(f"There is no image in {folder}.")
    frame = read_frame(listing)
    check_columns([*request.x, *request.y, *request.labels, *request.other_columns], frame.columns, listing)
    roles = image_roles(frame, files, request.x, request.y, request.other_columns, folder, listing)
    used = [*roles.x, *roles.y, *([request.groups] if request.groups else [])]
    complete = complete_rows(frame.select(list(dict.fromkeys(used))))
    _check_rows(complete, listing)
    rows = join_captions(as_label_texts(frame.filter(complete.tolist()), request.labels), roles)
    names = as_label_texts(rows, roles.x)[roles.x[0]].to_list()
    found = read_listed_images(names, files, request.size, progress)
    _check_images(found.rows, names, folder, listing)
    rows = rows[found.rows.tolist()]
    x, _ = make_variable("x", found.pixels, roles.x)
    y, notes = make_variable("y", frame_values(rows.select(roles.y)), roles.y)
    groups, together = _group_images(rows, [str(files[names[i]]) for i in found.rows], request.groups)
    return Data(
        "pairs",
        replace(x, name="image"),
        y,
        [names[i] for i in found.rows] if request.id is None else plain_values(rows[request.id]),
        request.id or roles.x[0],
        groups,
        notes=(*roles.notes, *found.notes, *notes, *together),
        n_missing=int((~complete).sum()),
        size=request.size,
    )


def _group_images(rows: nw.DataFrame, paths: list[str], column: str | None) -> tuple[list[Any] | None, list[str]]:
    """Groups, and what is to be said: an image that several rows name would be learnt by heart and held out as well."""
    if column is not None:
        return rows[column].to_list(), []
    n = len(set(paths))
    if n == len(paths):
        return None, []
    return paths, [f"{len(paths)} rows name {n} images: those of the same image are held out together."]


@dataclass(frozen=True, eq=False)
class _FoundImages:
    pixels: np.ndarray
    rows: np.ndarray
    notes: list[str]


def read_listed_images(names: list[str], files: dict[str, Path], size: int, progress: bool | None) -> _FoundImages:
    """Image of each row, and which rows have one; a file that several rows name is read once."""
    paths = [files.get(name) for name in names]
    different = list(dict.fromkeys(path for path in paths if path is not None))
    images = read_images(different, size, progress=progress)
    position = {path: i for i, path in enumerate(np.array(different, dtype=object)[images.is_read])}
    rows = np.array([i for i, path in enumerate(paths) if path in position], dtype=np.intp)
    missing, broken = sum(path is None for path in paths), int((~images.is_read).sum())
    notes = [f"{missing} row(s) left out: there is no such image file."] if missing else []
    notes += [f"{broken} image file(s) cannot be read and are left out."] if broken else []
    return _FoundImages(images.pixels[[position[paths[i]] for i in rows]], rows, notes)


def _check_images(rows: np.ndarray, names: list[str], folder: Path, listing: Path) -> None:
    if len(rows) < 2:
        what = "none" if not len(rows) else "only one"
        raise ValueError(f"Of the {len(names)} images of {listing}, {what} in {folder} can be read.")


def join_captions(rows: nw.DataFrame, roles: Roles) -> nw.DataFrame:
    """One row for each image, if its rows are captions of it."""
    image, caption = roles.x[0], roles.y[0]
    texts = rows[caption].to_list() if len(roles.y) == 1 and rows[caption].dtype == nw.String else []
    is_caption = bool(texts) and np.mean([" " in text.strip() for text in texts]) > 0.5
    if not is_caption or len(set(rows[image].to_list())) == len(rows):
        return rows
    joined: dict[Any, list[str]] = {}
    first: dict[Any, int] = {}
    for i, (name, text) in enumerate(zip(rows[image].to_list(), texts, strict=True)):
        joined.setdefault(name, []).append(text.strip())
        first.setdefault(name, i)
    kept = rows[list(first.values())]
    values = nw.new_series(
        caption, [" ".join(parts) for parts in joined.values()], nw.String, backend=kept.implementation
    )
    return kept.with_columns(values)


# --- tables of counts


def read_frame_table(request: Request) -> Data:
    frame = read_frame(request.file)
    check_columns(request.x, frame.columns, request.file)
    first = frame[:, 0]
    has_labels = len(frame.columns) > 1 and (frame.columns[0] == "" or not _is_number(first))
    counts = frame.select(frame.columns[has_labels:])
    for name, column in zip(counts.columns, counts.iter_columns(), strict=True):
        check_counts(column, name, first, has_labels, request.file)
    if not len(frame):
        raise ValueError(f"{request.file} has no row.")
    names = as_label_texts(frame.select(frame.columns[0]).rename({frame.columns[0]: "row"}), ["row"])["row"].to_list()
    rows = to_object_array(names) if has_labels else to_object_array([str(i + 1) for i in range(len(frame))])
    table = Table(for_numpy(counts).to_numpy(), rows, to_object_array(counts.columns))
    return make_table_data(table, request, frame.columns[0] if has_labels else "")


def _is_number(column: nw.Series) -> bool:
    return column.dtype.is_numeric()


def check_counts(column: nw.Series, name: str, rows: nw.Series, has_labels: bool, path: Path) -> None:
    where = f"column {name!r} of {path}"
    if not _is_number(column):
        raise ValueError(f"--table: {where} must hold counts, but it holds {_first_text(column)!r}.")
    missing = column.is_null() | (column.is_nan() if column.dtype.is_float() else column.is_null())
    if bool(missing.any()):
        i = missing.to_list().index(True)
        row = f"row {rows.to_list()[i]!r}" if has_labels else f"row {i + 1}"
        raise ValueError(f"--table: {where} has an empty cell in {row}: write a count, or leave the row or column out.")


def _first_text(column: nw.Series) -> Any:
    return next((value for value in plain_values(column) if value is not None), "nothing")


def read_array_table(request: Request) -> Data:
    arrays = read_arrays(request.file)
    check_columns(request.x, list(arrays), request.file)
    tables = list(request.x) or [name for name, array in arrays.items() if array.ndim == 2]
    if len(tables) != 1:
        raise ValueError(
            f"--table: name the array of {request.file} with --x, which has {', '.join(arrays) or 'none'}."
        )
    counts = arrays[tables[0]]
    if counts.ndim != 2:
        raise ValueError(f"--table: the array {tables[0]!r} of {request.file} must have rows and columns.")
    rows, columns = (
        _make_axis_labels(arrays, name, size) for name, size in zip(("rows", "columns"), counts.shape, strict=True)
    )
    return make_table_data(Table(counts, rows, columns), request, "")


def _make_axis_labels(arrays: dict[str, Any], name: str, size: int) -> np.ndarray:
    """Labels, if the file has as many as are needed."""
    given = arrays.get(name)
    if given is not None and given.shape == (size,):
        return to_object_array([str(label) for label in given.tolist()])
    return to_object_array([str(i + 1) for i in range(size)])


def make_table_data(table: Table, request: Request, name: str) -> Data:
    table = as_table(table, f"The table {request.file}")
    if min(table.shape) < 2:
        rows, columns = table.shape
        raise ValueError(
            f"--table: {request.file} has {rows} row(s) and {columns} column(s), and two of each are needed."
        )
    x = labels_variable("x", table.rows, (name or "rows",))
    y = labels_variable("y", table.columns, ("columns",))
    total = f"Table of {table.shape[0]} x {table.shape[1]} cells, total {table.total:,.10g}."
    return Data("table", x, y, [], "row", table=table, notes=(total,))


# --- beliefs of a model


def read_frame_beliefs(request: Request) -> Data:
    frame = read_frame(request.file)
    check_columns([*request.x, *request.y, *request.labels, *request.other_columns], frame.columns, request.file)
    taken = {*request.y, *request.other_columns, ""}
    classes = list(request.x) or [n for n in frame.columns if n not in taken and _is_number(frame[n])]
    texts = [name for name in classes if not _is_number(frame[name])]
    if texts:
        raise ValueError(f"--beliefs: column {texts[0]!r} of {request.file} must hold probabilities.")
    unused = [name for name in frame.columns if name not in (*classes, *taken)]
    used = frame.select(list(dict.fromkeys([*classes, *request.y])))
    complete = complete_rows(used)
    _check_rows(complete, request.file)
    rows = as_label_texts(frame.filter(complete.tolist()), request.y)
    labels = to_object_array(rows[request.y[0]].to_list()) if request.y else None
    ids = _number_rows(complete) if request.id is None else plain_values(rows[request.id])
    data = make_beliefs_data(
        request,
        for_numpy(rows.select(classes)).to_numpy(),
        to_object_array(classes),
        labels,
        ids,
        _number_rows(complete),
    )
    hint = f"Not used: {', '.join(unused)} (--y names the column of true labels)." if unused and not request.y else ""
    return replace(data, notes=(*data.notes, *filter(None, [hint])), n_missing=int((~complete).sum()))


def read_array_beliefs(request: Request) -> Data:
    arrays = read_arrays(request.file)
    check_columns([*request.x, *request.y, *request.other_columns], list(arrays), request.file)
    tables = list(request.x) or [name for name, array in arrays.items() if array.ndim == 2]
    if len(tables) != 1:
        raise ValueError(
            f"--beliefs: name the array of {request.file} with --x, which has {', '.join(arrays) or 'none'}."
        )
    P = arrays[tables[0]]
    if sp.issparse(P) or P.ndim != 2 or P.dtype.kind not in "fiu":
        raise ValueError(f"--beliefs: {request.file} must hold an array of probabilities with a column for each class.")
    given = arrays.get("classes")
    classes = to_object_array([str(c) for c in (range(P.shape[1]) if given is None else given.tolist())])
    if len(classes) != P.shape[1]:
        raise ValueError(f"--beliefs: {request.file} has {len(classes)} classes for {P.shape[1]} columns of beliefs.")
    labels = to_object_array([str(v) for v in arrays[request.y[0]].tolist()]) if request.y else None
    ids = arrays[request.id].tolist() if request.id is not None else list(range(1, len(P) + 1))
    return make_beliefs_data(request, P, classes, labels, ids, range(1, len(P) + 1))


def make_beliefs_data(
    request: Request,
    P: np.ndarray,
    classes: np.ndarray,
    labels: np.ndarray | None,
    ids: list[Any],
    numbers: Sequence[int],
) -> Data:
    if len(request.y) > 1:
        raise ValueError("--beliefs: --y must name one column, that of the true labels.")
    if len(classes) < 2:
        raise ValueError(f"--beliefs: {request.file} must have a column for each of at least two classes.")
    P = normalise_beliefs(P, numbers, request.file)
    if labels is not None:
        _check_labels(labels, classes, len(P), request)
    name = request.y[0] if request.y else "class"
    x = Variable(
        "x", "input", "beliefs", P, tuple(classes.tolist()), f"beliefs in {len(classes)} classes, {len(P)} rows"
    )
    text = (
        f"labels ({name})" if labels is not None else "no labels, so nothing can be held out (--y names their column)"
    )
    return Data("beliefs", x, Variable("y", name, "labels", labels, tuple(request.y), text), ids, request.id or "row")


def normalise_beliefs(P: np.ndarray, numbers: Sequence[int], path: Path) -> np.ndarray:
    """Beliefs whose rows, which have these numbers in the file, sum to 1, but for rounding, which is taken off."""
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
