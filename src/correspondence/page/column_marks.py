"""What a page shows of the columns of its variables: clouds of categories, arrows and paths, a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from correspondence.core.column_structure import ColumnStructure, adjust_for_chance, summarise_columns
from correspondence.core.decomposition import Decomposition
from correspondence.describe.structure import align_with_functions
from correspondence.page.clouds import Cloud
from correspondence.page.data_columns import Column, to_texts
from correspondence.page.packing import shorten_mantissas
from correspondence.results.evidence import CrossFit
from correspondence.scene.column_marks import ARROW_DEVIATIONS, ColumnMarks, NumberMark, find_column_marks
from correspondence.scene.points import ScenePoints

__all__ = [
    "MAX_AXES_LISTED",
    "MAX_NUMBERS",
    "StructureRow",
    "add_column_clouds",
    "list_structure",
    "pack_number_marks",
    "pack_numbers",
]

MAX_CATEGORIES, MAX_NUMBERS = 120, 40  # of each side
MAX_AXES_LISTED, MAX_COLUMNS_LISTED = 6, 40  # in the table below the plane


def add_column_clouds(
    clouds: list[Cloud], d: Decomposition, X: Any, Y: Any, has_index: bool
) -> tuple[list[Cloud], dict[str, ColumnMarks]]:
    """Add a cloud of categories for each side that has some, and make the rows of such sides a background.

    Parameters
    ----------
    clouds : list of Cloud
        The points of x, of y and perhaps marks.
    d : Decomposition
        The page shows this decomposition.
    X, Y : array-like, frame, ... or None
        The data that were given; where there are none, the functions may keep those of the fit.
    has_index : bool
        Whether y are the items of an index.

    Returns
    -------
    clouds : list of Cloud
        The same, and the categories.
    marks : dict of ColumnMarks
        What is shown of the columns of "x" and of "y".
    """
    if not d.n_components:
        return clouds, {}
    if Y is None:
        Y = getattr(d.g, "sample", None)
    data = (X, None if has_index else Y)
    marks = {}
    for cloud, functions, values in zip(clouds[:2], (d.f, d.g), data, strict=True):
        mark = find_column_marks(functions, cloud.points, values, cloud.role.upper())
        if mark is not None:
            marks[cloud.role] = mark
    rows = [replace(c, is_faint=not c.is_named) if c.role in marks else c for c in clouds]
    more = [make_category_cloud(c, marks[c.role], d.correlations) for c in clouds[:2] if c.role in marks]
    return [*rows, *(cloud for cloud in more if len(cloud))], marks


def make_category_cloud(rows: Cloud, marks: ColumnMarks, correlations: np.ndarray) -> Cloud:
    """Make the cloud of the categories that matter on some axis."""
    chosen = marks.categories.choose(marks.n_rows, range(len(correlations)), correlations, MAX_CATEGORIES)
    kept = marks.categories.take(chosen)
    names, codes = np.unique(np.array(kept.columns, dtype=object).astype(str), return_inverse=True)
    total = len(marks.categories)
    points = ScenePoints(kept.places, kept.labels, None, np.arange(len(kept)), total, total)
    columns = [
        Column("column", codes.astype(np.uint32), to_texts(names)),
        Column("rows", kept.counts.astype(np.float32)),
    ]
    name, shares = f"{marks.category_noun[1]} of {rows.name}", kept.counts / max(1, marks.n_rows)
    return Cloud(f"{rows.role}c", name, points, to_texts(kept.labels), True, columns, shares=shares)


def pack_numbers(marks: dict[str, ColumnMarks], kept: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Pack arrows and paths of numbers for the script.

    Parameters
    ----------
    marks : dict of ColumnMarks
        What is shown of the columns of x and y.
    kept : int
        Number of axes that the page knows.
    """
    return pack_number_marks([(role, one) for role, mark in marks.items() for one in _choose_numbers(mark, kept)], kept)


def pack_number_marks(numbers: list[tuple[str, NumberMark]], kept: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Pack the marks of numbers, each with the role of its side."""
    if not numbers:
        return {}, {}
    said = [
        {"role": role, "name": number.name, "bins": len(number.path), "bends": number.bends[:kept].tolist()}
        for role, number in numbers
    ]
    arrays = {
        "numbers.correlations": np.vstack([number.correlations[:kept] for _, number in numbers]),
        "numbers.explained": np.vstack([number.explained[:kept] for _, number in numbers]),
        "numbers.paths": np.vstack([number.path[:, :kept] for _, number in numbers]),
    }
    content = {"numbers": said, "arrow_deviations": ARROW_DEVIATIONS}
    return content, {name: shorten_mantissas(values) for name, values in arrays.items()}


def _choose_numbers(marks: ColumnMarks, kept: int) -> list[NumberMark]:
    """Choose the numbers that matter on some axis, and are the most telling."""
    mattering = [n for n in marks.numbers if any(n.matters([axis], len(marks.numbers)) for axis in range(kept))]
    return sorted(mattering, key=lambda number: -float(number.explained[:kept].sum()))[:MAX_NUMBERS]


@dataclass(frozen=True)
class StructureRow:
    """A row of the table of columns: texts."""

    side: str
    column: str
    kind: str
    n: str
    cells: list[str]


def list_structure(
    marks: dict[str, ColumnMarks], names: tuple[str, ...], clouds: list[Cloud], held_out: Any = None
) -> list[StructureRow]:
    """List how strongly each column goes with the first axes, the strongest of each side first.

    Parameters
    ----------
    marks : dict of ColumnMarks
        What is shown of the columns of "x" and of "y".
    names : tuple of str
        What x and y are called.
    clouds : list of Cloud
        The rows of x and y, before other clouds.
    held_out : CrossFit, optional
        Out-of-fold functions of the same pairs; anything else is left alone.
    """
    rows = []
    for i, role in enumerate("xy"):
        if role not in marks:
            continue
        columns = marks[role].columns
        beside: list[ColumnStructure | None] = [None] * len(columns)
        if isinstance(held_out, CrossFit) and len(held_out.F) == clouds[i].points.given:
            points = clouds[i].points
            folds = align_with_functions((held_out.F, held_out.G)[i][points.rows], points.places)
            beside = [adjust_for_chance(one) for one in summarise_columns([one.column for one in columns], folds)]
        told = [pair for pair in zip(columns, beside, strict=True) if np.isfinite(pair[0].explained).all()]
        told.sort(key=lambda pair: -float(pair[0].explained[:MAX_AXES_LISTED].max(initial=0)))
        rows += [
            StructureRow(names[i], one.column.name, one.column.kind, f"{one.n:,}", format_cells(one, other))
            for one, other in told[:MAX_COLUMNS_LISTED]
        ]
    return rows


def format_cells(one: ColumnStructure, held_out: ColumnStructure | None) -> list[str]:
    """Format the correlations of a column with the first axes, and in brackets those on held-out pairs."""
    texts = format_correlations(one)
    beside = [] if held_out is None else format_correlations(replace(held_out, bends=one.bends[: len(held_out.bends)]))
    return [f"{text} ({beside[i]})" if i < len(beside) else text for i, text in enumerate(texts)]


def format_correlations(one: ColumnStructure) -> list[str]:
    """Format the correlations of a column with the first axes; after ~ the root of what quantile bins explain."""
    texts = []
    for r, explained, bends in list(zip(one.correlations, one.explained, one.bends, strict=True))[:MAX_AXES_LISTED]:
        is_signed = one.column.is_number
        text = f"~ {np.sqrt(explained):.2f}" if bends else f"{r:.2f}" if is_signed else f"{abs(r):.2f}"
        texts.append("0.00" if text == "-0.00" else text.replace("-", "\N{MINUS SIGN}"))
    return texts
