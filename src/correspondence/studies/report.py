"""The results folder of a study: NAME.csv, NAME.png, NAME.md and others; each file is complete or missing."""

from __future__ import annotations

import platform
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
from correspondence.studies import markdown as md
from correspondence.studies.runs import Settings

__all__ = [
    "Exhibit",
    "Line",
    "Report",
    "describe_provenance",
    "draw_alone",
    "list_versions",
    "make_claim_lines",
    "make_component_rows",
    "make_correlation_lines",
    "make_panels",
    "to_frame_or_array",
    "write_report",
    "write_table",
]

Value = float | int | str | None


@dataclass(frozen=True)
class Line:
    """A quantity in the paper and here; None where there is no value."""

    quantity: str
    paper: Value = None
    training: Value = None
    """Our value on the data of the fit."""
    held_out: Value = None
    """Our value on held-out data."""
    exact: Value = None


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of the paper, or a passage of its text, and what became of it."""

    name: str
    lines: list[Line]
    sentence: str
    picture: str | None = None
    """The suffix of the figure of the report that shows it."""


@dataclass(frozen=True, eq=False)
class Report:
    """What a study found."""

    rows: list[dict[str, Any]]
    """Lines of the CSV file, from column to value; None is left empty."""
    sections: list[str]
    """Markdown paragraphs and sections below the title."""
    figures: dict[str, Figure]
    """Figures by the suffix of their file: "" for NAME.png, "-more" for NAME-more.png."""
    others: Mapping[str, Callable[[Path], object]] = field(default_factory=dict)
    """Writers of other files, such as movies, by suffix: ".html" for NAME.html."""
    exhibits: list[Exhibit] = field(default_factory=list)
    """The parts of the paper that it computes again, for the page of all results."""


def write_report(report: Report, name: str, title: str, folder: Path, origin: str) -> list[Path]:
    """Write the files of a report; a file of an earlier run is replaced only by a complete one.

    Parameters
    ----------
    report : Report
        The report holds what is written.
    name : str
        The study and its files have this name.
    title : str
        The text has this title.
    folder : Path
        The folder must exist.
    origin : str
        The last section of the text says how the results were made.

    Returns
    -------
    list of Path
        Table, figures, other files, text.
    """
    table, text = folder / f"{name}.csv", folder / f"{name}.md"
    pictures = {folder / f"{name}{suffix}.png": figure for suffix, figure in report.figures.items()}
    columns = list(dict.fromkeys(column for row in report.rows for column in row))
    write_table(table, [columns, *([row.get(column) for column in columns] for row in report.rows)], ".6f")
    for path, figure in pictures.items():
        with new_file(path) as temporary:
            figure.savefig(temporary, dpi=130)
    others = {folder / f"{name}{suffix}": save for suffix, save in report.others.items()}
    for path, save in others.items():
        save(path)
    with new_file(text) as temporary:
        temporary.write_text("\n\n".join([f"# {title}", *report.sections, origin]) + "\n", encoding="utf-8")
    return [table, *pictures, *others, text]


def write_table(path: Path, rows: Iterable[Iterable[Any]], floats: str) -> None:
    """Write a CSV file whose numbers have this format; it replaces another one when it is complete."""
    with new_file(path) as temporary:
        temporary.write_text(csv_text(rows, floats), encoding="utf-8", newline="\n")


def make_panels(size: tuple[float, float], *shape: int, **options: Any) -> tuple[Figure, Any]:
    """Make a figure with one panel, or with as many rows and columns of panels as `shape` says."""
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(*shape, **options)


def draw_alone(draw: Callable[..., Any], size: tuple[float, float], *values: Any, **options: Any) -> Figure:
    """Let a function of `co.plot` draw in a figure of its own."""
    figure, ax = make_panels(size)
    draw(*values, ax=ax, **options)
    return figure


def to_frame_or_array(X: np.ndarray, names: Sequence[str]) -> Any:
    """Return an array as a frame with named columns; unchanged if no library of frames is installed."""
    try:
        return to_frame(dict(zip(names, X.T, strict=True)))
    except ImportError:
        return X


def make_component_rows(
    first: Mapping[str, Any], columns: Mapping[str, Sequence[Any] | np.ndarray], last: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return a line of the CSV file for each component.

    Parameters
    ----------
    first, last : mapping
        All lines begin and end with these values.
    columns : mapping
        Each column has a value for each component; the shortest column ends the table.

    Examples
    --------
    >>> make_component_rows({"seed": 0}, {"training": [0.5]}, {"seconds": 1.0})
    [{'seed': 0, 'component': 1, 'training': 0.5, 'seconds': 1.0}]
    """
    return [
        {**first, "component": i, **dict(zip(columns, values, strict=True)), **last}
        for i, values in enumerate(zip(*columns.values(), strict=False), start=1)
    ]


def make_correlation_lines(held_out: ArrayLike, quantity: str = "correlation {}", **others: ArrayLike) -> list[Line]:
    """Return lines for the first, second, ... correlation; `others` are columns of a `Line`, which may be shorter.

    Examples
    --------
    >>> make_correlation_lines([0.5, 0.2], paper=[0.6])[0]
    Line(quantity='correlation 1', paper=0.6, training=None, held_out=0.5, exact=None)
    """
    columns = {name: np.asarray(values).tolist() for name, values in {"held_out": held_out, **others}.items()}
    return [
        Line(quantity.format(i + 1), **{name: values[i] for name, values in columns.items() if i < len(values)})
        for i in range(len(columns["held_out"]))
    ]


def make_claim_lines(quantity: str, claimed: ArrayLike, shown: ArrayLike) -> list[Line]:
    """Return lines for the correlations that a classifier claims and those that labels show."""
    pairs = zip(np.asarray(claimed), np.asarray(shown), strict=True)
    return make_correlation_lines([f"{a:.3f} claimed, {b:.3f} shown" for a, b in pairs], quantity)


def describe_provenance(name: str, settings: Settings, seconds: float, use_of_seeds: str) -> str:
    """Return the last section of the text: command, seeds, versions and time."""
    quick = " --quick" if settings.quick else ""
    seeds = "Seed 0," if settings.seeds == 1 else f"Seeds 0 to {settings.seeds - 1}, each"
    drawn = f"{seeds} {use_of_seeds}; " if use_of_seeds else ""
    parts = [
        f"```\ncorrespondence reproduce {name} --seeds {settings.seeds}{quick}\n```",
        f"{drawn}{', '.join(f'{package} {number}' for package, number in list_versions().items())}; "
        f"{seconds:.1f} seconds in all.",
    ]
    if settings.quick:
        parts.append(
            "This was a quick run on fewer pairs: it shows that the study works, its numbers are not to be quoted."
        )
    return md.make_section("How this was made", *parts)


def list_versions() -> dict[str, str]:
    """Return the versions of this package and of those that its numbers may depend on."""
    found = {"correspondence": co.__version__, "Python": platform.python_version()}
    for package in ("numpy", "scipy", "scikit-learn", "torch"):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
