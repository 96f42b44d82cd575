"""Place new data in the space of a saved analysis."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.arguments import take_rows
from correspondence._util.files import new_file
from correspondence._util.progress import ProgressArgument
from correspondence._util.text import list_names, one_line
from correspondence.app.analyze.files import (
    MODEL_FILE,
    OTHER_FORMATS,
    SUMMARY_FILE,
    SUMMARY_FORMAT,
    make_coordinate_columns,
    to_csv,
    to_parquet,
    with_names,
)
from correspondence.app.analyze.inputs import SUM_ERROR
from correspondence.app.analyze.pace import Pace
from correspondence.app.analyze.variables import array_values, frame_values
from correspondence.core.decomposition import Decomposition, load
from correspondence.core.functions import LabelFunctions, PrincipalFunctions
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.columns import Columns
from correspondence.data.encoders.images import Images
from correspondence.data.encoders.single_column import OTHER, Category
from correspondence.data.encoders.text import Text
from correspondence.data.file_formats import (
    ARRAY_ENDINGS,
    as_label_texts,
    check_columns,
    convert_for_numpy,
    find_complete_rows,
    list_values,
    read_arrays,
    read_file,
)
from correspondence.data.image_files import image_files, read_images
from correspondence.data.text_columns import AS_SUGGESTED, Readings
from correspondence.selection.time_budget import FIT_SHARE, TimeBudget

__all__ = ["Embedding", "LoadedModel", "embed_file", "load_model", "write_columns"]

X_SHARE = 0.6  # of a time limit, for x if y is placed too


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """Functions, and the names of the columns that they take, as far as these are known."""

    decomposition: Decomposition
    form: str = "pairs"
    columns: dict[str, list[str]] = field(default_factory=lambda: {"x": [], "y": []})
    id: str | None = None
    readings: Readings = AS_SUGGESTED

    def get_functions(self, role: str) -> PrincipalFunctions:
        """Return f or g."""
        return self.decomposition.f if role == "x" else self.decomposition.g


@dataclass(frozen=True, eq=False)
class Embedding:
    """Columns to write, and remarks on them."""

    columns: dict[str, list[Any]]
    notes: list[str]


def load_model(path: Path) -> LoadedModel:
    """Read the folder of an analysis, or a model alone."""
    file = path / MODEL_FILE if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        why = f"There is no {MODEL_FILE} in {path}"
        raise ValueError(f"{why}: give a folder written by analyze, or the file of a model.")
    if file.suffix != ".safetensors":
        raise ValueError(f"MODEL must be a folder written by analyze, or its {MODEL_FILE}, got {path}.")
    d = load(file)
    summary = file.with_name(SUMMARY_FILE)
    return attach_summary(d, summary) if file.name == MODEL_FILE and summary.is_file() else LoadedModel(d)


def attach_summary(d: Decomposition, path: Path) -> LoadedModel:
    """Return a model with what analyze wrote beside it."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        if known["format"] == SUMMARY_FORMAT:
            readings = Readings.from_json(known.get("readings", {}))  # which earlier versions did not write
            if known["form"] == "table" and not isinstance(d.g, LabelFunctions):
                raise ValueError("This is not the model of a table.")
            columns = {role: known[role]["columns"] for role in "xy"}
            return LoadedModel(d, known["form"], columns, known["id"], readings)
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} is damaged: give the file of the model, with --x or --y.") from None
    if known["format"] in OTHER_FORMATS:
        kind, values = OTHER_FORMATS[known["format"]]
        why = f"MODEL must be an analysis of two variables, but {path.parent} is one {kind}. "
        raise ValueError(f"{why}In Python, co.load(the model).f({values}) gives the scores of rows.")
    return LoadedModel(d)


def embed_file(
    model: LoadedModel,
    file: Path,
    x: Sequence[str] = (),
    y: Sequence[str] = (),
    id: str | None = None,
    images: Path | None = None,
    progress: ProgressArgument = None,
    time_limit: float | TimeBudget | None = None,
) -> Embedding:
    """Place new data.

    Parameters
    ----------
    model : LoadedModel
        The model that `load_model` returned.
    file : Path
        Read new rows from this file, in any of the formats of `read_data`; or a folder of images, if x are images.
    x, y : sequence of str
        The names of their columns, if these differ from those in the fit.
    id : str, optional
        The column of names; by default that of the analysis, or the number of the row.
    images : Path, optional
        The folder of the images that the file lists.
    progress : bool or StageLine, optional
        Show progress bars, or tell the stages on a line.
    time_limit : float or TimeBudget, optional
        Place no more rows after so many seconds; those that are left have no coordinates, and that is said.

    Returns
    -------
    Embedding
        Columns f_1, ... if the file has the columns of x, g_1, ... if it has those of y, and the density ratio if both.
    """
    rows: _Rows
    told: list[str] = []
    pace = Pace(progress, TimeBudget.from_limit(time_limit))
    pace.tell(f"reading {one_line(file.name)}")
    if images is not None or file.is_dir():
        rows = read_image_rows(model, file, images, x, progress)
    elif file.suffix.lower() in ARRAY_ENDINGS:
        rows = _ArrayRows(read_arrays(file), file)
    else:
        given = zip([*model.columns["x"], *model.columns["y"]], [*(x or model.columns["x"]), *y], strict=False)
        table = read_file(file, model.readings.rename(dict(given)))
        rows = _FrameRows(nw.from_native(table.frame), file)
        told = table.list_notes([*x, *y, *model.columns["x"], *model.columns["y"]])
    if model.form == "table":
        found = embed_table_rows(model, rows)
    else:
        found = embed_rows(model, rows, {"x": list(x), "y": list(y)}, id, pace)
    return Embedding(found.columns, [*told, *found.notes])


# --- rows of a file, by the names of their columns
#
# `select_values` returns the values of the complete rows in the form that functions take, and which rows these are;
# `get_ids` returns the values of a column, or the numbers of the rows.


class _FrameRows:
    id_name = "row"

    def __init__(self, frame: nw.DataFrame, path: Path) -> None:
        self.frame, self.path, self.names = frame, path, list(frame.columns)

    def __len__(self) -> int:
        return len(self.frame)

    def get_ids(self, name: str | None) -> list[Any]:
        return list(range(1, len(self) + 1)) if name is None else list_values(self.frame[name])

    def select_values(self, names: list[str], functions: PrincipalFunctions) -> tuple[Any, np.ndarray]:
        part = self.frame.select(names)
        complete = np.ones(len(part), dtype=bool) if _takes_gaps(functions) else find_complete_rows(part)
        if not complete.any():
            return None, complete
        part = part.filter(complete.tolist())
        encoder = _get_encoder(functions)
        if isinstance(encoder, Images):
            raise ValueError(f"{names[0]!r} must be images: --images names the folder of those that {self.path} lists.")
        if isinstance(encoder, Columns) and len(encoder.names) == len(names) and len(names) > 1:
            part = part.rename(dict(zip(names, map(str, encoder.names), strict=True)))
        part = as_label_texts(part, [name for name in part.columns if _are_texts(functions, name, len(names))])
        if _is_beliefs(functions):
            return _remove_rounding(convert_for_numpy(part).to_numpy()), complete
        return frame_values(part), complete


class _ArrayRows:
    id_name = "row"

    def __init__(self, arrays: dict[str, Any], path: Path) -> None:
        self.arrays, self.path, self.names = arrays, path, list(arrays)

    def __len__(self) -> int:
        return next(iter(self.arrays.values())).shape[0]

    def get_ids(self, name: str | None) -> list[Any]:
        if name is None:
            return list(range(1, len(self) + 1))
        self._check_length(self.arrays[name])
        return self.arrays[name].tolist()

    def select_values(self, names: list[str], functions: PrincipalFunctions) -> tuple[Any, np.ndarray]:
        values = array_values(self.arrays[names[0]], names[0], _are_texts(functions, names[0], 1))
        if values.ndim > 1 and find_known_labels(functions).keys() == {None}:
            raise ValueError(f"The array {names[0]!r} of {self.path} must hold one label for each row.")
        self._check_length(values)
        values = _remove_rounding(values) if _is_beliefs(functions) else values
        complete = np.ones(len(values), bool)
        if values.dtype.kind == "f" and not (_takes_gaps(functions) and values.ndim <= 2):
            complete = np.isfinite(values).all(axis=tuple(range(1, values.ndim)))
        return values[complete], complete

    def _check_length(self, array: np.ndarray) -> None:
        n = array.shape[0] if array.ndim else 0
        if n != len(self):
            raise ValueError(f"The arrays of {self.path} must have the same length, got {n} and {len(self)}.")


def _remove_rounding(P: np.ndarray) -> np.ndarray:
    """Remove rounding errors from beliefs; other values are left for the functions to refuse."""
    sums = P.sum(axis=1, keepdims=True)
    return P / sums if (np.abs(sums - 1) <= SUM_ERROR).all() else P


class _ImageRows(_FrameRows):
    """Images of a folder, and perhaps a table that lists them."""

    def __init__(self, frame: nw.DataFrame, path: Path, column: str, pixels: np.ndarray, is_read: np.ndarray) -> None:
        super().__init__(frame, path)
        self.id_name, self.pixels, self.is_read = column, pixels, is_read

    def get_ids(self, name: str | None) -> list[Any]:
        return super().get_ids(self.id_name if name is None else name)

    def select_values(self, names: list[str], functions: PrincipalFunctions) -> tuple[Any, np.ndarray]:
        if names == [self.id_name]:
            return self.pixels, self.is_read
        return super().select_values(names, functions)


_Rows = _FrameRows | _ArrayRows


def read_image_rows(
    model: LoadedModel, file: Path, images: Path | None, x: Sequence[str], progress: ProgressArgument
) -> _ImageRows:
    """Read the images of a folder, or those of them that a file lists."""
    folder, listing = (file, images) if file.is_dir() else (images, file)
    encoder = _get_encoder(model.decomposition.f)
    if folder is None or not isinstance(encoder, Images):
        raise ValueError(f"{folder} is a folder, but x of the model are not images: give a file.")
    files = image_files(folder)
    column = next(iter([*x, *model.columns["x"]]), "image")
    if listing is None:
        names = sorted({path.relative_to(folder).as_posix() for path in files.values()})
        frame = nw.from_dict({column: names}, backend="polars")
    else:
        frame = nw.from_native(read_file(listing, model.readings).frame)
        check_columns([column], frame.columns, listing)
    channels, size, _ = encoder.shape
    paths = [files.get(str(name)) for name in frame[column].to_list()]
    found = read_images(paths, size, channels == 3, progress)
    return _ImageRows(frame, listing or folder, column, found.pixels, found.is_read)


# --- what functions take


def _get_encoder(functions: PrincipalFunctions) -> Encoder | None:
    return getattr(getattr(functions, "features", None), "encoder", None)


def _takes_gaps(functions: PrincipalFunctions) -> bool:
    """Say whether functions take missing values, and labels that are not in the fit as such."""
    is_tolerant = isinstance(functions, LabelFunctions) and functions.unknown == "missing"
    return is_tolerant or isinstance(_get_encoder(functions), Columns | Text)


def _is_beliefs(functions: PrincipalFunctions) -> bool:
    return getattr(getattr(functions, "features", None), "kind", "") == "beliefs"


def find_known_labels(functions: PrincipalFunctions) -> dict[Any, list[Any]]:
    """Return the labels of the fit by column; the only column of a variable is None."""
    if isinstance(functions, LabelFunctions):
        return {None: [*functions.labels.tolist(), *functions.merged]}
    encoder = _get_encoder(functions)
    if not isinstance(encoder, Columns):
        return {}
    is_single = len(encoder.names) == 1
    return {
        None if is_single else key: [*column.labels, *column.merged]
        for key, column in encoder.columns.items()
        if isinstance(column, Category) and OTHER not in column.labels
    }


def _are_texts(functions: PrincipalFunctions, name: str, width: int) -> bool:
    """Say whether the labels of a column are texts, so that numbers must become texts as well."""
    labels = find_known_labels(functions).get(None if width == 1 else name, [])
    return bool(labels) and all(isinstance(label, str) for label in labels)


def find_known_rows(functions: PrincipalFunctions, values: Any) -> np.ndarray:
    """Find the rows whose labels are all among those of the fit."""
    n = len(values)
    known = np.ones(n, dtype=bool)
    for key, labels in find_known_labels(functions).items():
        seen = set(labels)
        if isinstance(values, np.ndarray):
            column = values.tolist()
        else:
            frame = nw.from_native(values, eager_only=True)
            column = frame[frame.columns[0] if key is None else str(key)].to_list()
        known &= np.fromiter((value is None or value != value or value in seen for value in column), bool, n)
    return known


# --- coordinates


def embed_rows(
    model: LoadedModel, rows: _Rows, given: dict[str, list[str]], id_column: str | None, pace: Pace
) -> Embedding:
    """Place rows by the columns of x, of y, or both."""
    check_columns([*given["x"], *given["y"], *([id_column] if id_column else [])], rows.names, rows.path)
    notes: list[str] = []
    placed = {}
    for role, letter in (("x", "f"), ("y", "g")):
        names = find_role_columns(model, rows, role, given[role])
        lacking = [name for name in model.columns[role] if name not in rows.names]
        if not names and len(lacking) < len(model.columns[role]):
            notes.append(
                f"{role} is not placed, because {rows.path} has no column {list_names(lacking, 5, show=repr)}."
            )
        if names:
            placed[letter] = place_rows(model.get_functions(role), rows, names, role, notes, pace)
    if not placed:
        raise ValueError(_explain_missing_columns(model, rows))
    name = id_column if id_column is not None else model.id if model.id in rows.names else None
    columns: dict[str, list[Any]] = {}
    for letter, values in placed.items():
        columns |= make_coordinate_columns(values, letter)
    if len(placed) == 2:  # p(x, y) / (p(x) p(y)) = 1 + sum of correlation_i f_i(x) g_i(y)
        ratio = 1 + (placed["f"] * model.decomposition.correlations * placed["g"]).sum(axis=1)
        columns["density_ratio"] = [None if np.isnan(v) else v for v in ratio.tolist()]
    return Embedding(with_names({name or rows.id_name: rows.get_ids(name)}, columns), notes)


def find_role_columns(model: LoadedModel, rows: _Rows, role: str, given: list[str]) -> list[str]:
    """Return the columns of a variable if the file has all of them, otherwise none."""
    wanted = model.columns[role]
    if isinstance(rows, _ArrayRows) and _is_beliefs(model.get_functions(role)):
        return given or [name for name, array in rows.arrays.items() if array.ndim == 2][:1]
    if given and wanted and len(given) != len(wanted):
        raise ValueError(f"--{role} must name {len(wanted)} column(s), as in the fit ({', '.join(wanted)}).")
    names = given or wanted
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"--{role} must name different columns, got {twice!r} twice.")
    return names if all(name in rows.names for name in names) else []


def _explain_missing_columns(model: LoadedModel, rows: _Rows) -> str:
    if not model.columns["x"]:
        return f"--x or --y is needed: which columns the model takes is not known without {SUMMARY_FILE}."
    missing = {role: [name for name in model.columns[role] if name not in rows.names] for role in "xy"}
    has = list_names(rows.names, 20, show=repr)
    return (
        f"{rows.path} has neither all columns of x nor of y: {(missing['x'] or missing['y'])[0]!r} is not among {has}."
    )


def place_rows(
    functions: PrincipalFunctions, rows: _Rows, names: list[str], role: str, notes: list[str], pace: Pace
) -> np.ndarray:
    """Compute the coordinates of all rows, NaN for those that cannot be placed."""
    pace.tell(f"placing the rows by {role}")
    values, complete = rows.select_values(names, functions)
    places = np.full((len(rows), functions.width), np.nan)
    missing = int((~complete).sum())
    if missing:
        notes.append(f"{role}: {missing} row(s) without a value, or whose image cannot be read, have no coordinates.")
    if not complete.any():
        return places
    known = find_known_rows(functions, values)
    if not known.all() and _takes_gaps(functions):
        notes.append(f"{role}: {int((~known).sum())} row(s) have a label that is not in the fit, taken as missing.")
        functions, known = functions.accept_unknown(), np.ones(len(known), dtype=bool)
    elif not known.all():
        notes.append(f"{role}: {int((~known).sum())} row(s) with a label that is not in the fit have no coordinates.")
        values = take_rows(values, np.flatnonzero(known))
    if known.any():
        found, which = pace.evaluate(functions, values, X_SHARE if role == "x" else FIT_SHARE), np.flatnonzero(complete)
        places[which[known][: len(found)]] = found
        if len(found) < known.sum():
            late = int(known.sum()) - len(found)
            notes.append(f"{role}: the last {late:,} row(s) have no coordinates, because of the time limit.")
    return places


def embed_table_rows(model: LoadedModel, rows: _Rows) -> Embedding:
    """Place rows of counts among the columns of the table: f(x) = E[g(Y) | x] / correlation."""
    g = model.decomposition.g
    assert isinstance(g, LabelFunctions)
    columns = [str(label) for label in g.labels]
    check_columns(columns, rows.names, rows.path)
    if not isinstance(rows, _FrameRows):
        raise ValueError(f"{rows.path} must be a table with names, as the model is of a table: .csv, .tsv or .parquet.")
    part = rows.frame.select(columns)
    text = next((name for name in columns if not part[name].dtype.is_numeric()), None)
    if text is not None:
        raise ValueError(f"Column {text!r} of {rows.path} must hold counts.")
    counts = convert_for_numpy(part).to_numpy().astype(np.float64)
    bad = np.argwhere(np.isinf(counts) | (counts < 0))
    if len(bad):
        i, j = bad[0]
        raise ValueError(f"{rows.path} must hold counts of at least 0, got {counts[i, j]:g} in row {i + 1}.")
    counts = np.nan_to_num(counts)
    total = counts.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        F = counts @ np.nan_to_num(g.values) / np.where(total > 0, total, np.nan) / model.decomposition.correlations
    id_column = None if rows.names[0] in columns else rows.names[0]
    empty = int((total == 0).sum())
    notes = [f"{empty} row(s) without any count have no coordinates."] if empty else []
    named = {id_column or "row": rows.get_ids(id_column)}
    return Embedding(with_names(named, make_coordinate_columns(F, "f")), notes)


def write_columns(columns: dict[str, list[Any]], path: Path) -> None:
    """Write a .parquet or .csv file, replaced only once the new one is complete."""
    with new_file(path) as temporary:
        if path.suffix.lower() == ".csv":
            temporary.write_text(to_csv(columns), encoding="utf-8")
        else:
            to_parquet(columns, temporary)
