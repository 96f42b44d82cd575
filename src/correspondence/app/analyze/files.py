"""Write the files of an analysis: all of them or none."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from correspondence._util.extras import explain_missing_extra
from correspondence._util.files import csv_text
from correspondence._util.text import to_valid_text
from correspondence.app.analyze.inputs import Request
from correspondence.app.analyze.job import Analysis, list_structure_rows
from correspondence.app.analyze.variables import Variable
from correspondence.app.command_line import write_command_line
from correspondence.core.functions import LabelFunctions, PrincipalFunctions, find_label_shares
from correspondence.describe.candidates import Ends
from correspondence.page import explore
from correspondence.results.component_tests import LatentDimension
from correspondence.results.evidence import HeldOut

__all__ = [
    "CLUSTERS_FILE",
    "CONSTRAINTS_FILES",
    "CONSTRAINTS_FORMAT",
    "HISTORY_FILE",
    "MODEL_FILE",
    "OTHER_FORMATS",
    "REPORT_FILE",
    "SUMMARY_FILE",
    "SUMMARY_FORMAT",
    "SURVEY_FILES",
    "SURVEY_FORMAT",
    "check_folder",
    "check_format",
    "describe_variable",
    "make_coordinate_columns",
    "new_files",
    "summarise_analysis",
    "to_csv",
    "to_json",
    "to_parquet",
    "with_names",
    "write_analysis",
]

SUMMARY_FORMAT = "correspondence.analysis 1"
SURVEY_FORMAT = "correspondence.survey 1"  # of all columns
CONSTRAINTS_FORMAT = "correspondence.constraints 1"
OTHER_FORMATS = {SURVEY_FORMAT: ("of all columns", "frame"), CONSTRAINTS_FORMAT: ("with constraints", "constraints")}
REPORT_FILE, PICS_FILE, X_FILE, Y_FILE = "report.html", "pics.csv", "x.parquet", "y.parquet"
X_CSV_FILE, Y_CSV_FILE, EXCEL_FILE = "x.csv", "y.csv", "coordinates.xlsx"
MODEL_FILE, SUMMARY_FILE = "model.safetensors", "summary.json"
STRUCTURE_FILE = "structure.csv"
SIDE_FILES = (X_FILE, Y_FILE, X_CSV_FILE, Y_CSV_FILE)
RESULT_FILES = (REPORT_FILE, PICS_FILE, *SIDE_FILES, MODEL_FILE, SUMMARY_FILE, STRUCTURE_FILE)
HISTORY_FILE, CLUSTERS_FILE = "history.csv", "clusters.csv"
SURVEY_FILES = ("axes.csv", "columns.csv", "description.csv", "rows.parquet", "rows.csv")
CONSTRAINTS_FILES = ("partition.csv", "scores.csv", "anova.csv")
ASSOCIATIONS_FILES = ("associations.csv", "correlations.csv", "associations.png")
OWNED_FILES = (
    *RESULT_FILES,
    EXCEL_FILE,
    HISTORY_FILE,
    CLUSTERS_FILE,
    *SURVEY_FILES,
    *CONSTRAINTS_FILES,
    *ASSOCIATIONS_FILES,
)  # what one command writes to a folder, another removes
MAX_CSV_CELLS = 1_000_000  # cells of x and y that are also written as CSV without being asked for: about two seconds
MAX_SHEET_ROWS = 2**20 - 1  # rows of a spreadsheet below its heading


# --- what is written


def write_analysis(
    analysis: Analysis, request: Request, folder: Path, title: str, seed: int, format: str | None = None
) -> dict[str, Any]:
    """Write all files, and return the summary.

    Parameters
    ----------
    analysis : Analysis
        The result to write.
    request : Request
        The request that led to it.
    folder : Path
        Write to this folder, which is made if it does not exist; other files in it are left alone.
    title : str
        The heading of the page.
    seed : int
        The seed that was used.
    format : {"csv", "excel", "parquet"}, optional
        Write the coordinates in this format beside Parquet; by default as CSV if they have at most a million cells.
    """
    d, data, components = analysis.decomposition, analysis.data, [c.to_record() for c in analysis.components]
    sides = {
        letter: make_side_columns(functions, variable, {data.id_name: data.ids}, letter)
        for functions, variable, letter in ((d.f, data.x, "f"), (d.g, data.y, "g"))
    }
    clusters = analysis.clusters
    if clusters is not None:
        sides["f"]["cluster"] = clusters.numbers
    format = format or choose_format(sides)
    content = summarise_analysis(analysis, request, folder, title, seed)
    content["files"] = list_result_files(format, analysis.is_saved)
    if clusters is not None:
        content |= {"files": [*content["files"], CLUSTERS_FILE], "clusters": clusters.record}
    with new_files(folder) as temporary:
        write_report(analysis, temporary / REPORT_FILE, title)
        table = csv_text([list(components[0]), *(record.values() for record in components)], floats=".10g")
        (temporary / PICS_FILE).write_text(table, encoding="utf-8")
        write_sides(sides, components, temporary, format)
        (temporary / STRUCTURE_FILE).write_text(csv_text(list_structure_rows(analysis)), encoding="utf-8")
        if analysis.is_saved:
            d.save(temporary / MODEL_FILE)
        if clusters is not None:
            (temporary / CLUSTERS_FILE).write_text(to_csv(clusters.table), encoding="utf-8")
        (temporary / SUMMARY_FILE).write_text(to_json(content) + "\n", encoding="utf-8")
    return content


def write_report(analysis: Analysis, path: Path, title: str) -> None:
    data = analysis.data
    X, Y = (data.x.values, data.y.values) if data.form in ("pairs", "beliefs") else (None, None)
    is_beliefs = data.form == "beliefs"
    explore(
        analysis.est,
        X,
        None if is_beliefs else Y,
        path,
        held_out=analysis.held_out,
        crossfit=analysis.crossfit,
        classes=Y if is_beliefs else None,
        data=data.beside if find_label_shares(analysis.decomposition.f) is None else None,  # labels are shown once each
        names=analysis.names,
        x_labels=_make_x_labels(analysis),
        title=title,
        command=write_command_line(),
        about=list_remarks(analysis),
        words=None if is_beliefs else analysis.words,  # of beliefs, the page also has words for x
    )


def list_remarks(analysis: Analysis) -> list[str]:
    """List the sentences of the page: what was found, what took part, and why there is no model if there is none."""
    coverage, sentences = analysis.data.coverage, [*analysis.sentences, *analysis.guards]
    both = [*coverage, *sentences] if analysis.data.is_small_part else [*sentences, *coverage]
    return [*both, *([analysis.not_saved] if analysis.not_saved else [])]


def _make_x_labels(analysis: Analysis) -> list[str] | None:
    """Make a text for each x, unless x are labels or texts themselves."""
    data = analysis.data
    if data.form in ("counts", "table") or data.x.kind in ("labels", "texts"):
        return None
    return [f"row {i}" if data.id_name == "row" else str(i) for i in data.ids]


# --- coordinates


def make_coordinate_columns(values: np.ndarray, letter: str) -> dict[str, list[float | None]]:
    """Make the columns f_1, ... or g_1, ..., with None for rows that have no coordinates."""
    return {f"{letter}_{i + 1}": [None if np.isnan(v) else v for v in c.tolist()] for i, c in enumerate(values.T)}


def make_side_columns(
    functions: PrincipalFunctions, variable: Variable, named: dict[str, list[Any]], letter: str
) -> dict[str, list[Any]]:
    """Make one row for each label with its mass, or for each row of the file with its id."""
    if isinstance(functions, LabelFunctions):
        labels, mass = functions.labels, functions.mass
    elif variable.kind == "labels":
        labels, mass = variable.labels_with_shares
    else:
        return with_names(named, make_coordinate_columns(functions(variable.values), letter))
    return with_names(
        {variable.name: _unify_types(labels)},
        {"mass": mass.tolist()} | make_coordinate_columns(functions(labels), letter),
    )


def choose_format(sides: dict[str, dict[str, list[Any]]]) -> str:
    """Choose what is written beside Parquet: CSV, unless that would take long."""
    n_cells = sum(len(values) for columns in sides.values() for values in columns.values())
    return "csv" if n_cells <= MAX_CSV_CELLS else "parquet"


def list_result_files(format: str, is_saved: bool) -> list[str]:
    """List the files that are written, in the order in which they are told."""
    left_out = set() if is_saved else {MODEL_FILE}
    left_out |= set() if format == "csv" else {X_CSV_FILE, Y_CSV_FILE}
    files = [name for name in RESULT_FILES if name not in left_out]
    return files if format != "excel" else [*files[:4], EXCEL_FILE, *files[4:]]


def write_sides(
    sides: dict[str, dict[str, list[Any]]], components: list[dict[str, Any]], folder: Path, format: str
) -> None:
    """Write the coordinates of x and y to Parquet files, and in another format beside them."""
    names = {"f": (X_FILE, X_CSV_FILE), "g": (Y_FILE, Y_CSV_FILE)}
    for letter, columns in sides.items():
        parquet, text = names[letter]
        to_parquet(columns, folder / parquet)
        if format == "csv":
            (folder / text).write_text(to_csv(columns), encoding="utf-8")
    if format == "excel":
        records = {name: [record[name] for record in components] for name in components[0]}
        to_excel({"components": records, "x": sides["f"], "y": sides["g"]}, folder / EXCEL_FILE)


def with_names(named: dict[str, list[Any]], columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Put the column of names before the others, under another name if one of them has the same."""
    ((name, values),) = named.items()
    while name in columns:
        name += "_"
    return {name: _unify_types(values), **columns}


def _unify_types(values: Any) -> list[Any]:
    """Return the values as they are if all have one type, otherwise as texts."""
    values = list(values.tolist() if isinstance(values, np.ndarray) else values)
    kinds = {type(value) for value in values} - {type(None)}
    is_plain = len(kinds) <= 1 and kinds <= {str, int, float, bool}
    return values if is_plain else [None if value is None else str(value) for value in values]


def to_parquet(columns: dict[str, list[Any]], path: Path) -> None:
    """Write columns to a Parquet file."""
    with path.open("wb") as file:  # the name of the folder may not be text
        pl.DataFrame(columns).write_parquet(file)


def to_csv(columns: dict[str, list[Any]]) -> str:
    """Return columns as CSV."""
    return csv_text([list(columns), *zip(*columns.values(), strict=True)], floats=".10g")


def check_format(format: str | None) -> None:
    """Raise an error if a format cannot be written, before anything takes long."""
    if format == "excel" and find_spec("xlsxwriter") is None:
        raise ImportError(explain_missing_extra("--format excel needs xlsxwriter", "excel", "use --format csv"))


def to_excel(sheets: dict[str, dict[str, list[Any]]], path: Path) -> None:
    """Write columns to the sheets of a workbook; texts that look like formulas stay texts."""
    longest = max(len(values) for columns in sheets.values() for values in columns.values())
    if longest > MAX_SHEET_ROWS:
        raise ValueError(f"--format excel: {longest:,} rows are more than a sheet can hold: use --format csv.")
    options = {"strings_to_formulas": False, "strings_to_urls": False, "nan_inf_to_errors": True}
    content = io.BytesIO()
    with import_module("xlsxwriter").Workbook(content, options) as workbook:
        for name, columns in sheets.items():
            pl.DataFrame(columns).write_excel(workbook, name)
    path.write_bytes(content.getvalue())


# --- the summary


def summarise_analysis(analysis: Analysis, request: Request, folder: Path, title: str, seed: int) -> dict[str, Any]:
    """Return everything that is said, as plain values, and what `embed` needs."""
    data, d = analysis.data, analysis.decomposition
    n = d.n if data.table is not None else len(data.ids)
    return {
        "format": SUMMARY_FORMAT,
        "title": title,
        "file": to_valid_text(request.file),
        "folder": to_valid_text(folder.resolve()),
        "files": list_result_files("csv", analysis.is_saved),
        "form": data.form,
        "x": describe_variable(data.x),
        "y": describe_variable(data.y),
        "id": request.id,
        "size": data.size,
        "n": int(n) if float(n).is_integer() else float(n),
        "n_missing": data.n_missing,
        "rows": {"in_file": data.n_rows, "used": len(data.ids)} if data.form == "pairs" else None,
        "columns": [asdict(fact) for fact in data.facts],
        "readings": data.readings.to_json(),
        "ordered": {name: list(levels) for name, levels in data.ordered.items()},
        "method": analysis.method,
        "reason": analysis.reason,
        "seed": seed,
        "seconds": round(analysis.seconds, 2),
        "total_inertia": d.chi2,
        "significant": analysis.n_significant,
        "held_out": _describe_held_out(analysis.held_out),
        "not_held_out": analysis.not_held_out,
        "not_saved": analysis.not_saved,
        "points": analysis.points,
        "components": [component.to_record() for component in analysis.components],
        "axes": [
            {
                "axis": w.axis,
                "sentence": w.write_sentence(analysis.names),
                "x": _describe_ends(w.x),
                "y": _describe_ends(w.y),
            }
            for w in analysis.words
        ],
        "sentences": list(analysis.sentences),
        "notes": [*data.notes, *analysis.notes],
    }


def describe_variable(variable: Variable) -> dict[str, Any]:
    """Return the description of a variable as plain values."""
    names = {name: getattr(variable, name) for name in ("name", "kind", "text")}
    return names | {"columns": list(variable.columns)}


def _describe_held_out(held_out: Any) -> dict[str, Any] | None:
    """Say how the held-out figures were computed."""
    if isinstance(held_out, LatentDimension):
        numbers = {"alpha": held_out.alpha, "n_permutations": held_out.test.n_permutations}
        return {"by": "latent_dimension", "interval": list(held_out.interval), **numbers}
    if isinstance(held_out, HeldOut):
        numbers = {"n": held_out.n, "captured": held_out.captured, "level": held_out.level}
        return {"by": "labels", "captured_interval": list(held_out.captured_interval), **numbers}
    return None


def _describe_ends(ends: Ends | None) -> dict[str, Any] | None:
    if ends is None:
        return None
    return {name: [asdict(word) for word in getattr(ends, name)] for name in ("negative", "positive")}


def to_json(content: dict[str, Any]) -> str:
    """Return JSON that every reader takes: NaN and infinity become null."""
    return json.dumps(_to_json_value(content), indent=2, ensure_ascii=False, allow_nan=False)


def _to_json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _to_json_value(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json_value(v) for v in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


# --- all or nothing


def check_folder(folder: Path) -> None:
    """Raise an error if files could not be written, before anything takes long."""
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file")
    for place in {folder, _find_existing_parent(folder)}:
        if place.exists() and not os.access(place, os.W_OK | os.X_OK):
            raise PermissionError(f"{place} may not be written to")
    blocked = next((name for name in OWNED_FILES if (folder / name).is_dir()), None)
    if blocked:
        raise IsADirectoryError(f"{folder / blocked} is a folder")


def _find_existing_parent(folder: Path) -> Path:
    """Return the nearest folder above that exists."""
    return next(parent for parent in folder.absolute().parents if parent.exists())


@contextmanager
def new_files(folder: Path) -> Iterator[Path]:
    """Give a temporary folder whose files are moved to their place at the end; if anything goes wrong, none is."""
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=_find_existing_parent(folder)))
    try:
        (temporary / "new").mkdir()
        yield temporary / "new"
        with lock_folder(_find_existing_parent(folder)), ignore_interrupts():
            move_files(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def move_files(temporary: Path, folder: Path) -> None:
    """Replace the old files by the new ones, and remove old ones that have no successor."""
    is_new, placed = not folder.exists(), []
    folder.mkdir(parents=True, exist_ok=True)
    (temporary / "old").mkdir()
    try:
        for name in OWNED_FILES:
            if (folder / name).exists():
                os.replace(folder / name, temporary / "old" / name)
            if (temporary / "new" / name).exists():
                os.replace(temporary / "new" / name, folder / name)
                placed.append(folder / name)
    except BaseException:
        _restore_files(temporary / "old", folder, placed, is_new)
        raise


def _restore_files(old: Path, folder: Path, placed: list[Path], is_new: bool) -> None:
    for path in placed:
        path.unlink()
    for path in old.iterdir():
        os.replace(path, folder / path.name)
    if is_new:
        folder.rmdir()


@contextmanager
def lock_folder(place: Path) -> Iterator[None]:
    """Make other runs that move files below the same place wait, so that those of two runs are never mixed."""
    if not find_spec("fcntl"):  # on Windows
        yield
        return
    fcntl = import_module("fcntl")
    handle = os.open(place, os.O_RDONLY)
    try:
        with suppress(OSError):  # file systems without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C for the moment that it takes to move files."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
