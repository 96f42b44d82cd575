"""The results folder of a study: NAME.csv, NAME.png, NAME.md and others, each of them whole or not there."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

import correspondence as co
from correspondence._util.files import csv_text, new_file
from correspondence.data.table import to_frame
from correspondence.studies.runs import Runs, Settings

__all__ = [
    "Exhibit",
    "Line",
    "Report",
    "correlation_lines",
    "correlation_rows",
    "describe_provenance",
    "list_versions",
    "markdown_table",
    "to_frame_or_array",
    "write_report",
]

Value = float | int | str | None
NUMBER_PATTERN = re.compile(r"[-+]?\.?[0-9]")


@dataclass(frozen=True)
class Line:
    """A quantity as the paper has it and as we do; what there is not is None."""

    quantity: str
    paper: Value = None
    training: Value = None
    """Ours, on the data of the fit."""
    held_out: Value = None
    """Ours, on data that the fit has not seen."""
    exact: Value = None


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of the paper, or a passage of its text, and what became of it."""

    name: str
    lines: list[Line]
    sentence: str
    picture: str | None = None
    """The figure of the report that shows it, by what is added to the name of its file."""


@dataclass(frozen=True, eq=False)
class Report:
    """What a study found."""

    title: str
    rows: list[dict[str, Any]]
    """Lines of the CSV file, from column to value; None is left empty."""
    text: str
    """Markdown below the title."""
    figures: dict[str, Figure]
    """Figures by what is added to the name of the file: "" for NAME.png, "-more" for NAME-more.png."""
    others: Mapping[str, Callable[[Path], object]] = field(default_factory=dict)
    """Writers of other files, such as movies, by what is added to the name: ".html" for NAME.html."""
    exhibits: list[Exhibit] = field(default_factory=list)
    """What of the paper it computes again, for the page of all results."""


def write_report(report: Report, name: str, folder: Path, origin: str) -> list[Path]:
    """Write the files of a report; those of an earlier run are replaced one by one, and only by complete ones.

    Parameters
    ----------
    report : Report
        What to write.
    name : str
        Of the study, and of its files.
    folder : Path
        Must exist.
    origin : str
        How the results were made: the last section of the text.

    Returns
    -------
    list of Path
        Table, figures, other files, text.
    """
    table, text = folder / f"{name}.csv", folder / f"{name}.md"
    pictures = {folder / f"{name}{suffix}.png": figure for suffix, figure in report.figures.items()}
    _write_csv(table, report.rows)
    for path, figure in pictures.items():
        with new_file(path) as temporary:
            figure.savefig(temporary, dpi=130)
    others = {folder / f"{name}{suffix}": save for suffix, save in report.others.items()}
    for path, save in others.items():
        save(path)
    with new_file(text) as temporary:
        temporary.write_text(f"# {report.title}\n\n{report.text}\n\n{origin}\n", encoding="utf-8")
    return [table, *pictures, *others, text]


def _write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    text = csv_text([columns, *([row.get(column) for column in columns] for row in rows)], floats=".6f")
    with new_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Table in Markdown; numbers with four decimals and on the right, None as an empty cell."""
    rows = [list(row) for row in rows]
    marks = ["---" if any(_is_text(row[i]) for row in rows) else "---:" for i in range(len(header))]
    lines = [header, marks, *rows]
    return "\n".join("| " + " | ".join(_format_cell(value) for value in line) + " |" for line in lines)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value) and not NUMBER_PATTERN.match(value)


def _format_cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def to_frame_or_array(X: np.ndarray, names: Sequence[str]) -> Any:
    """Array with names of its columns, for a page; as it is where no library of frames is installed."""
    try:
        return to_frame(dict(zip(names, X.T, strict=True)))
    except ImportError:
        return X


def correlation_rows(runs: Runs, **printed: Sequence[float]) -> list[dict[str, Any]]:
    """Lines of the CSV file for one problem: one for each component, and one for their mean error.

    Parameters
    ----------
    runs : Runs
        What was measured.
    **printed : sequences of float
        Columns with the numbers that the paper prints for the first components.
    """
    rows = [make_component_row(runs, i, printed) for i in range(len(runs.problem.correlations))]
    mean = dict.fromkeys(rows[0]) | {"component": "mean", "error": float(runs.errors.mean())}
    return [{"problem": runs.problem.name, **row} for row in [*rows, mean]]


def make_component_row(runs: Runs, i: int, printed: dict[str, Sequence[float]]) -> dict[str, Any]:
    exact = float(runs.problem.correlations[i])
    return {
        "component": i + 1,
        **{column: values[i] if i < len(values) else None for column, values in printed.items()},
        "exact": exact,
        "exact_pic": exact**2,
        **_summarise_values("held_out", runs.held_out[:, i]),
        **_summarise_values("training", runs.training[:, i]),
        "error": float(runs.errors[i]),
    }


def _summarise_values(name: str, values: np.ndarray) -> dict[str, float]:
    return {name: float(values.mean()), f"{name}_low": float(values.min()), f"{name}_high": float(values.max())}


def correlation_lines(held_out: ArrayLike, **others: ArrayLike) -> list[Line]:
    """Lines for the first, second, ... correlation; `others` are columns of a `Line`, which may be shorter.

    Examples
    --------
    >>> correlation_lines([0.5, 0.2], paper=[0.6])[0]
    Line(quantity='correlation 1', paper=0.6, training=None, held_out=0.5, exact=None)
    """
    columns = {name: np.asarray(values).tolist() for name, values in {"held_out": held_out, **others}.items()}
    return [
        Line(f"correlation {i + 1}", **{name: values[i] for name, values in columns.items() if i < len(values)})
        for i in range(len(columns["held_out"]))
    ]


def describe_provenance(name: str, settings: Settings, seconds: float, use_of_seeds: str) -> str:
    """Last section of the text: command, seeds, versions and time."""
    quick = " --quick" if settings.quick else ""
    command = f"correspondence reproduce {name} --seeds {settings.seeds}{quick}"
    seeds = "Seed 0," if settings.seeds == 1 else f"Seeds 0 to {settings.seeds - 1}, each"
    drawn = f"{seeds} {use_of_seeds}; " if use_of_seeds else ""
    lines = [
        "## How this was made",
        f"```\n{command}\n```",
        f"{drawn}{', '.join(f'{package} {number}' for package, number in list_versions().items())}; "
        f"{seconds:.1f} seconds in all.",
    ]
    if settings.quick:
        lines.append(
            "This was a quick run on fewer pairs: it shows that the study works, its numbers are not to be quoted."
        )
    return "\n\n".join(lines)


def list_versions() -> dict[str, str]:
    """Versions of this package and of those that its numbers may depend on."""
    found = {"correspondence": co.__version__, "Python": platform.python_version()}
    for package in ("numpy", "scipy", "scikit-learn", "torch"):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
