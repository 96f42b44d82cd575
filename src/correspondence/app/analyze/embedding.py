"""New data in the space of an analysis that was saved."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.files import csv_text, new_file
from correspondence._util.text import list_names
from correspondence.app.analyze.files import (
    MODEL_FILE,
    SUMMARY_FILE,
    SUMMARY_FORMAT,
    make_coordinate_columns,
    to_parquet,
    with_names,
)
from correspondence.app.analyze.inputs import SUM_ERROR
from correspondence.app.analyze.variables import array_values, frame_values
from correspondence.core.decomposition import Decomposition, load
from correspondence.core.functions import LabelFunctions, PrincipalFunctions
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.columns import Category, Columns
from correspondence.data.encoders.images import Images
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

__all__ = ["Embedding", "LoadedModel", "embed_file", "load_model", "write_columns"]


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """Functions, and the names of the columns that they take, as far as they are known."""

    decomposition: Decomposition
    form: str = "pairs"
    columns: dict[str, list[str]] = field(default_factory=lambda: {"x": [], "y": []})
    id: str | None = None

    def get_functions(self, role: str) -> PrincipalFunctions:
        """Return f or g."""
        return self.decomposition.f if role == "x" else self.decomposition.g


@dataclass(frozen=True, eq=False)
class Embedding:
    """Columns to be written, and what is to be said about them."""

    columns: dict[str, list[Any]]
    notes: list[str]


def load_model(path: Path) -> LoadedModel:
    """Read the folder of an analysis, or a model alone."""
    file = path / MODEL_FILE if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        raise ValueError(
            f"There is no {MODEL_FILE} in {path}: give a folder written by analyze, or the file of a model."
        )
    if file.suffix != ".safetensors":
        raise ValueError(f"MODEL must be a folder written by analyze, or its {MODEL_FILE}, got {path}.")
    d = load(file)
    summary = file.with_name(SUMMARY_FILE)
    return attach_summary(d, summary) if file.name == MODEL_FILE and summary.is_file() else LoadedModel(d)


def attach_summary(d: Decomposition, path: Path) -> LoadedModel:
    """Model with what analyze has written beside it."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        if known["format"] != SUMMARY_FORMAT:
            return LoadedModel(d)
        if known["form"] == "table" and not isinstance(d.g, LabelFunctions):
            raise ValueError("This is not the model of a table.")
        return LoadedModel(d, known["form"], {role: known[role]["columns"] for role in "xy"}, known["id"])
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} is damaged: give the file of the model, with --x or --y.") from None


def embed_file(
    model: LoadedModel,
    file: Path,
    x: Sequence[str] = (),
    y: Sequence[str] = (),
    id: str | None = None,
    images: Path | None = None,
    progress: bool | None = None,
) -> Embedding:
    """Place new data.

    Parameters
    ----------
    model : Model
        From `load_model`.
    file : Path
        New rows, in any of the formats of `read`; a folder of images if x are images.
    x, y : sequence of str
        Their columns, if they are called otherwise than in the fit.
    id : str, optional
        Column of names; by default that of the analysis, or the number of the row.
    images : Path, optional
        Folder of the images that the file lists.
    progress : bool, optional
        Show a bar while images are read.

    Returns
    -------
    Embedding
        f_1, ... if the columns of x are there, g_1, ... if those of y are, and the density ratio if both are.
    """
    rows = read_rows(model, file, x, images, progress)
    if model.form == "table":
        return embed_table_rows(model, rows)
    return embed_rows(model, rows, {"x": list(x), "y": list(y)}, id)


def read_rows(model: LoadedModel, file: Path, x: Sequence[str], images: Path | None, progress: bool | None) -> _Rows:
    if images is not None or file.is_dir():
        return read_image_rows(model, file, images, x, progress)
    if file.suffix.lower() in ARRAY_ENDINGS:
        return _ArrayRows(read_arrays(file), file)
    return _Frame(read_frame(file), file)


# --- rows of a file, by the names of their columns


class _Rows(ABC):
    """Rows of a file."""

    names: list[str]
    path: Path
    id_name = "row"

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def select_values(self, names: list[str], functions: PrincipalFunctions) -> tuple[Any, np.ndarray]:
        """Values of the rows that are complete, in the form in which functions take them, and which rows these are."""

    @abstractmethod
    def get_ids(self, name: str | None) -> list[Any]:
        """Values of a column, or the numbers of the rows."""


class _Frame(_Rows):
    def __init__(self, frame: nw.DataFrame, path: Path) -> None:
        self.frame, self.path, self.names = frame, path, list(frame.columns)

    def __len__(self) -> int:
        return len(self.frame)

    def get_ids(self, name: str | None) -> list[Any]:
        return list(range(1, len(self) + 1)) if name is None else plain_values(self.frame[name])

    def select_values(self, names: list[str], functions: PrincipalFunctions) -> tuple[Any, np.ndarray]:
        part = self.frame.select(names)
        complete = complete_rows(part)
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
            return _remove_rounding(for_numpy(part).to_numpy()), complete
        return frame_values(part), complete


class _ArrayRows(_Rows):
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
        is_float = values.dtype.kind == "f"
        complete = (
            np.isfinite(values).all(axis=tuple(range(1, values.ndim))) if is_float else np.ones(len(values), bool)
        )
        return values[complete], complete

    def _check_length(self, array: np.ndarray) -> None:
        n = array.shape[0] if array.ndim else 0
        if n != len(self):
            raise ValueError(f"The arrays of {self.path} must have the same length, got {n} and {len(self)}.")


def _remove_rounding(P: np.ndarray) -> np.ndarray:
    """Beliefs without rounding errors; others are left for the functions to refuse."""
    sums = P.sum(axis=1, keepdims=True)
    return P / sums if (np.abs(sums - 1) <= SUM_ERROR).all() else P


class _ImageRows(_Frame):
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


def read_image_rows(
    model: LoadedModel, file: Path, images: Path | None, x: Sequence[str], progress: bool | None
) -> _ImageRows:
    folder, listing = (file, images) if file.is_dir() else (images, file)
    encoder = _get_encoder(model.decomposition.f)
    if folder is None or not isinstance(encoder, Images):
        raise ValueError(f"{folder} is a folder, but x of the model are no images: give a file.")
    files = image_files(folder)
    column = next(iter([*x, *model.columns["x"]]), "image")
    if listing is None:
        names = sorted({path.relative_to(folder).as_posix() for path in files.values()})
        frame = nw.from_dict({column: names}, backend="polars")
    else:
        frame = read_frame(listing)
        check_columns([column], frame.columns, listing)
    channels, size, _ = encoder.shape
    paths = [files.get(str(name)) for name in frame[column].to_list()]
    found = read_images(paths, size, channels == 3, progress)
    return _ImageRows(frame, listing or folder, column, found.pixels, found.is_read)


# --- what functions take


def _get_encoder(functions: PrincipalFunctions) -> Encoder | None:
    return getattr(getattr(functions, "features", None), "encoder", None)


def _is_beliefs(functions: PrincipalFunctions) -> bool:
    return getattr(getattr(functions, "features", None), "kind", "") == "beliefs"


def find_known_labels(functions: PrincipalFunctions) -> dict[Any, list[Any]]:
    """Labels that the fit has seen, by column; a variable of one column is None."""
    if isinstance(functions, LabelFunctions):
        return {None: functions.labels.tolist()}
    encoder = _get_encoder(functions)
    if not isinstance(encoder, Columns):
        return {}
    is_single = len(encoder.names) == 1
    categories = {key: column.labels for key, column in encoder.columns.items() if isinstance(column, Category)}
    return {None if is_single else key: labels for key, labels in categories.items()}


def _are_texts(functions: PrincipalFunctions, name: str, width: int) -> bool:
    """Whether the labels of a column are texts, so that numbers have to become texts as well."""
    labels = find_known_labels(functions).get(None if width == 1 else name, [])
    return bool(labels) and all(isinstance(label, str) for label in labels)


def find_known_rows(functions: PrincipalFunctions, values: Any) -> np.ndarray:
    """Whether all labels of a row are among those of the fit."""
    n = len(values)
    known = np.ones(n, dtype=bool)
    for key, labels in find_known_labels(functions).items():
        seen = set(labels)
        column = values if key is None else nw.from_native(values, eager_only=True)[str(key)].to_list()
        column = column.tolist() if isinstance(column, np.ndarray) else _as_list(column)
        known &= np.fromiter((value in seen for value in column), bool, n)
    return known


def _as_list(column: Any) -> list[Any]:
    """Values of a list, or of a frame with one column."""
    return column if isinstance(column, list) else nw.from_native(column, eager_only=True)[:, 0].to_list()


# --- coordinates


def embed_rows(model: LoadedModel, rows: _Rows, given: dict[str, list[str]], id_column: str | None) -> Embedding:
    check_columns([*given["x"], *given["y"], *([id_column] if id_column else [])], rows.names, rows.path)
    notes: list[str] = []
    placed = {}
    for role, letter in (("x", "f"), ("y", "g")):
        names = find_role_columns(model, rows, role, given[role])
        if names:
            placed[letter] = place_rows(model.get_functions(role), rows, names, role, notes)
    if not placed:
        raise ValueError(_explain_missing_columns(model, rows))
    name = id_column if id_column is not None else model.id if model.id in rows.names else None
    columns: dict[str, list[Any]] = {}
    for letter, values in placed.items():
        columns |= make_coordinate_columns(values, letter)
    if len(placed) == 2:
        ratio = 1 + (placed["f"] * model.decomposition.correlations * placed["g"]).sum(axis=1)
        columns["density_ratio"] = [None if np.isnan(v) else v for v in ratio.tolist()]
    return Embedding(with_names({name or rows.id_name: rows.get_ids(name)}, columns), notes)


def find_role_columns(model: LoadedModel, rows: _Rows, role: str, given: list[str]) -> list[str]:
    """Columns of a variable, if the file has all of them."""
    wanted = model.columns[role]
    if isinstance(rows, _ArrayRows) and _is_beliefs(model.get_functions(role)):
        return given or [name for name, array in rows.arrays.items() if array.ndim == 2][:1]
    if given and wanted and len(given) != len(wanted):
        raise ValueError(f"--{role} must name {len(wanted)} column(s), as in the fit ({', '.join(wanted)}).")
    names = given or wanted
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"--{role} must name different columns, {twice!r} is there twice.")
    return names if all(name in rows.names for name in names) else []


def _explain_missing_columns(model: LoadedModel, rows: _Rows) -> str:
    if not model.columns["x"]:
        return f"--x or --y is needed: which columns the model takes is not known without {SUMMARY_FILE}."
    missing = {role: [name for name in model.columns[role] if name not in rows.names] for role in "xy"}
    has = list_names(rows.names, 20, show=repr)
    return (
        f"{rows.path} has neither all columns of x nor of y: {(missing['x'] or missing['y'])[0]!r} is not among {has}."
    )


def place_rows(functions: PrincipalFunctions, rows: _Rows, names: list[str], role: str, notes: list[str]) -> np.ndarray:
    """Coordinates of all rows, NaN for those that cannot be placed."""
    values, complete = rows.select_values(names, functions)
    places = np.full((len(rows), functions.width), np.nan)
    missing = int((~complete).sum())
    if missing:
        notes.append(f"{role}: {missing} row(s) without a value, or whose image cannot be read, have no coordinates.")
    if not complete.any():
        return places
    known = find_known_rows(functions, values)
    if not known.all():
        notes.append(
            f"{role}: {int((~known).sum())} row(s) with a label that the fit has not seen have no coordinates."
        )
    if known.any():
        places[np.flatnonzero(complete)[known]] = functions(_filter_values(values, known))
    return places


def _filter_values(values: Any, known: np.ndarray) -> Any:
    if known.all() or isinstance(values, np.ndarray):
        return values[known] if isinstance(values, np.ndarray) else values
    return nw.from_native(values, eager_only=True).filter(known.tolist()).to_native()


def embed_table_rows(model: LoadedModel, rows: _Rows) -> Embedding:
    """Rows of counts, placed among the columns of the table: f(x) = E[g(Y) | x] / correlation."""
    g = model.decomposition.g
    assert isinstance(g, LabelFunctions)
    columns = [str(label) for label in g.labels]
    check_columns(columns, rows.names, rows.path)
    if not isinstance(rows, _Frame):
        raise ValueError(f"{rows.path} must be a table with names, as the model is of a table: .csv, .tsv or .parquet.")
    part = rows.frame.select(columns)
    text = next((name for name in columns if not part[name].dtype.is_numeric()), None)
    if text is not None:
        raise ValueError(f"Column {text!r} of {rows.path} must hold counts.")
    counts = for_numpy(part).to_numpy().astype(np.float64)
    bad = np.argwhere(np.isinf(counts) | (counts < 0))
    if len(bad):
        i, j = bad[0]
        raise ValueError(f"{rows.path} must hold counts of at least 0, got {counts[i, j]:g} in row {i + 1}.")
    counts = np.nan_to_num(counts)
    total = counts.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        F = counts @ np.nan_to_num(g.values) / np.where(total > 0, total, np.nan) / model.decomposition.correlations
    first = rows.names[0]
    ids = rows.get_ids(first) if first not in columns else rows.get_ids(None)
    empty = int((total == 0).sum())
    notes = [f"{empty} row(s) without any count have no coordinates."] if empty else []
    return Embedding(
        with_names({(first if first not in columns else "") or "row": ids}, make_coordinate_columns(F, "f")), notes
    )


def write_columns(columns: dict[str, list[Any]], path: Path) -> None:
    """Write a .parquet or .csv file, replaced only once the new one is complete."""
    with new_file(path) as temporary:
        if path.suffix.lower() == ".csv":
            rows = zip(*columns.values(), strict=True)
            temporary.write_text(csv_text([list(columns), *rows], floats=".10g"), encoding="utf-8")
        else:
            to_parquet(columns, temporary)
