"""``correspondence associations``: read a file, compare its columns, write tables and a heatmap."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.files import csv_text
from correspondence._util.text import list_names, to_valid_text
from correspondence.app.analyze.files import REPORT_FILE, SUMMARY_FILE, new_files, to_csv, to_json
from correspondence.app.analyze.variables import name_empty_texts
from correspondence.app.messages import collect_warnings, make_safe
from correspondence.association.associate import associations
from correspondence.data.file_formats import check_columns, convert_for_numpy, read_file
from correspondence.data.text_columns import Readings
from correspondence.page import explore
from correspondence.results.associations import Associations

__all__ = ["FileAssociations", "compare_file", "format_associations", "write_associations"]

ASSOCIATIONS_FORMAT = "correspondence.associations 1"
PAIRS_FILE, MATRIX_FILE, PICTURE_FILE = "associations.csv", "correlations.csv", "associations.png"
MAX_PAIRS_IN_SUMMARY = 20
DOTS_PER_INCH = 120


@dataclass(frozen=True, eq=False)
class FileAssociations:
    """What was found in a file.

    Attributes
    ----------
    file : Path
        The file.
    result : Associations
        The associations of its columns.
    notes : tuple of str
        Remarks for the user.
    seed : int
        The seed of the folds.
    seconds : float
        The time that it took.
    table : frame
        The columns that were compared.
    """

    file: Path
    result: Associations
    notes: tuple[str, ...]
    seed: int
    seconds: float
    table: Any


def compare_file(
    file: Path,
    readings: Readings,
    line: Any = None,
    *,
    target: str | None = None,
    x: Sequence[str] = (),
    given: Sequence[str] = (),
    weights: str | None = None,
    groups: str | None = None,
    missing: str = "indicator",
    alpha: float = 0.05,
    seed: int = 0,
) -> FileAssociations:
    """Compare the columns of a file.

    Parameters
    ----------
    file : Path
        The file.
    readings : Readings
        How texts with two readings are read.
    line : StageLine, optional
        The line that tells the stages.
    target : str, optional
        The other columns are compared with this one.
    x : sequence of str
        Only these columns are compared, and the target; by default all.
    given : sequence of str
        The columns that are known, which are not compared.
    weights, groups : str, optional
        The columns of the weights and of the groups of rows.
    missing, alpha, seed
        See `associations`.
    """
    begin = time.perf_counter()
    read = read_file(file, readings)
    frame = nw.from_native(read.frame)
    others = [name for name in (weights, groups) if name is not None]
    check_columns([*x, *others, *given, *([] if target is None else [target])], frame.columns, file)
    if target in [*others, *given]:
        raise ValueError(f"--target must be a column to compare, got {target!r}, which is another option as well.")
    if set(given) & {*others, *x}:
        raise ValueError(
            f"--given must be columns that are not --x, --weights or --groups, got {list_names(given, 5)}."
        )
    wanted = {*(x or frame.columns), *given, target} - set(others)
    names = [name for name in frame.columns if name in wanted]
    options: dict[str, Any] = {"missing": missing, "alpha": alpha, "random_state": seed, "progress": False}
    if weights is not None:
        options["sample_weight"] = read_weights(frame[weights])
    if given:
        options["given"] = list(given)
    if groups is not None:
        options["groups"] = frame[groups].to_list()
    if line is not None:
        line.tell("comparing all pairs of columns" if target is None else f"comparing with {make_safe(target)}")
    with collect_warnings() as notes:
        table = convert_for_numpy(name_empty_texts(frame.select(names))).to_native()
        result = associations(table, target, **options)
    unique = tuple(dict.fromkeys([*read.list_notes(names), *notes]))
    return FileAssociations(file, result, unique, seed, time.perf_counter() - begin, table)


def read_weights(column: nw.Series) -> np.ndarray:
    """Read a column of weights."""
    weights = column.cast(nw.Float64).to_numpy() if column.dtype.is_numeric() else np.array([np.nan])
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"--weights must be a column of numbers that are at least 0, got {column.name!r}.")
    return np.asarray(weights)


def write_associations(found: FileAssociations, folder: Path, title: str) -> dict[str, Any]:
    """Write all files, and return the summary.

    Parameters
    ----------
    found : FileAssociations
        The result to write.
    folder : Path
        Write to this folder, which is made if it does not exist.
    title : str
        The heading of the page.
    """
    from correspondence.plot import associations as draw_associations

    a = found.result
    content = summarise_associations(found, folder, title)
    with new_files(folder) as temporary:
        (temporary / PAIRS_FILE).write_text(to_csv(list_pairs(a)), encoding="utf-8")
        names = [str(name) for name in a.columns]
        rows = [["column", *names], *([name, *own] for name, own in zip(names, a.correlations.tolist(), strict=True))]
        (temporary / MATRIX_FILE).write_text(csv_text(rows, floats=".10g"), encoding="utf-8")
        figure: Any = draw_associations(a).figure
        figure.savefig(temporary / PICTURE_FILE, dpi=DOTS_PER_INCH, bbox_inches="tight")
        notes = [note for note in found.notes if note not in a.notes]  # the page has these
        explore(
            a, found.table, path=temporary / REPORT_FILE, title=title, about=[*a.write_summary().split("\n"), *notes]
        )
        (temporary / SUMMARY_FILE).write_text(to_json(content) + "\n", encoding="utf-8")
    return content


def list_pairs(a: Associations) -> dict[str, list[Any]]:
    """List all pairs as columns of plain values."""
    frame = nw.from_native(a.to_frame(), eager_only=True)
    return {
        name: [str(value) for value in frame[name].to_list()] if name in ("x", "y") else frame[name].to_list()
        for name in frame.columns
    }


def summarise_associations(found: FileAssociations, folder: Path, title: str) -> dict[str, Any]:
    """Return everything that is said, as plain values."""
    a, pairs = found.result, list_pairs(found.result)
    strongest = [dict(zip(pairs, row, strict=True)) for row in zip(*pairs.values(), strict=True)]
    return {
        "format": ASSOCIATIONS_FORMAT,
        "title": title,
        "file": to_valid_text(found.file),
        "folder": to_valid_text(folder.resolve()),
        "files": [REPORT_FILE, PAIRS_FILE, MATRIX_FILE, PICTURE_FILE, SUMMARY_FILE],
        "n": a.n,
        "columns": [{"column": str(name), "kind": str(kind)} for name, kind in zip(a.columns, a.kinds, strict=True)],
        "target": None if a.target is None else str(a.target),
        "given": list(a.given),
        "alpha": a.alpha,
        "seed": found.seed,
        "seconds": round(found.seconds, 2),
        "pairs": len(strongest),
        "significant": sum(row["adjusted_pvalue"] <= a.alpha for row in strongest),
        "strongest": [row for row in strongest if row["adjusted_pvalue"] <= a.alpha][:MAX_PAIRS_IN_SUMMARY],
        "sentences": a.write_summary().split("\n"),
        "notes": list(found.notes),
    }


def format_associations(summary: dict[str, Any]) -> str:
    """Format the sentences and paths of a summary."""
    head = f"{make_safe(summary['title'])}, {summary['n']:,.0f} rows, {len(summary['columns'])} columns"
    head += f", given {make_safe(', '.join(summary['given']))}" if summary["given"] else ""
    lines = [f"{head}, {summary['seconds']:.1f} s.", "", *(make_safe(own) for own in summary["sentences"]), ""]
    return "\n".join(
        [*lines, f"Written to {make_safe(summary['folder'])}: {list_names(summary['files'], 9, show=str)}"]
    )
