"""Columns in a plane: categories at the mean of their rows, numbers as arrows, or as paths of their quantiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from correspondence.core.functions import PrincipalFunctions
from correspondence.plot.drawn_clouds import DrawnCloud, add_zero_height
from correspondence.plot.style import choose_ink, find_font_scale, make_outline
from correspondence.scene.column_marks import ARROW_DEVIATIONS, ColumnMarks, NumberMark, find_column_marks
from correspondence.scene.points import Scaling, ScenePoints, find_scale_factor

__all__ = [
    "FAINT_AREA_POINTS",
    "SideColumns",
    "draw_number",
    "draw_numbers",
    "find_side_columns",
    "list_caption_parts",
    "sample_lines",
]

MAX_CATEGORIES = 25  # of each side
MAX_NUMBERS = 12
CATEGORY_AREA_POINTS, FAINT_AREA_POINTS = 36.0, 10.0
N_LINE_POINTS = 12  # points of an arrow or a segment that labels keep clear of


@dataclass(frozen=True, eq=False)
class SideColumns:
    """The columns of one side, ready to be drawn.

    Attributes
    ----------
    rows : DrawnCloud
        The rows, as a faint cloud.
    categories : DrawnCloud
        The categories that matter in the plane.
    tips : DrawnCloud
        The ends of arrows and paths, where the names of the numbers are written.
    lines : list of ndarray of shape (m, 2)
        The arrows, of two points, and paths, of more.
    n_hidden : tuple of int
        How many categories, and how many numbers, are not drawn.
    noun : (str, str)
        What one category, and several of them, are called.
    """

    rows: DrawnCloud
    categories: DrawnCloud
    tips: DrawnCloud
    lines: list[np.ndarray]
    n_hidden: tuple[int, int]
    noun: tuple[str, str]


def find_side_columns(
    functions: PrincipalFunctions,
    rows: DrawnCloud,
    values: Any,
    scaling: Scaling,
    s: np.ndarray,
    index: list[int],
    with_nameless: bool,
) -> SideColumns | None:
    """Find what is drawn of the columns of one side; None if it has none.

    Parameters
    ----------
    functions : PrincipalFunctions
        The f or g of the side.
    rows : DrawnCloud
        The rows of the side.
    values : array-like, frame, ...
        The data of the side.
    scaling : str
        How the map scales this side.
    s : ndarray of shape (k,)
        Correlations of the axes drawn.
    index : list of int
        The axes drawn, counted from 0.
    with_nameless : bool
        Whether columns of arrays are drawn too.
    """
    marks = find_column_marks(functions, rows.points, values, rows.name, with_nameless)
    if marks is None:
        return None
    scale = find_scale_factor(scaling, s)[0]
    numbers = marks.choose_numbers(index, scale, MAX_NUMBERS)
    lines = [add_zero_height(trace_number(number, index, scale)) for number in numbers]
    categories = _place_categories(rows, marks, scale, index)
    hidden = (len(marks.categories) - len(categories.xy), len(marks.numbers) - len(numbers))
    area, weight = np.minimum(rows.area, FAINT_AREA_POINTS), np.full(len(rows.xy), np.nan)
    faint = replace(rows.forget_labels(), is_faint=True, area=area, weight=weight)
    return SideColumns(faint, categories, _place_tips(rows, numbers, lines), lines, hidden, marks.category_noun)


def trace_number(number: NumberMark, index: list[int], scale: np.ndarray) -> np.ndarray:
    """Return the points of an arrow or of a path, in the coordinates of the map."""
    if number.is_path(index):
        return number.path[:, index] * scale
    # Where rows lie on average that are so many standard deviations above the mean, if the relation is straight.
    tip = ARROW_DEVIATIONS * number.correlations[index] * scale
    return np.vstack([np.zeros(len(index)), tip])


def _place_categories(rows: DrawnCloud, marks: ColumnMarks, scale: np.ndarray, index: list[int]) -> DrawnCloud:
    chosen = marks.categories.choose(marks.n_rows, index, scale, MAX_CATEGORIES)
    drawn = marks.categories.take(chosen)
    xy = add_zero_height(drawn.places[:, index] * scale)
    weight = drawn.counts / max(1, marks.n_rows) * (xy**2).sum(axis=1)
    return _make_named_cloud(rows, drawn.places, drawn.labels, xy, weight, CATEGORY_AREA_POINTS)


def _place_tips(rows: DrawnCloud, numbers: Sequence[NumberMark], lines: list[np.ndarray]) -> DrawnCloud:
    """Place the names of numbers, which are written before those of categories."""
    d = rows.points.places.shape[1]
    labels = np.array([number.name for number in numbers], dtype=object)
    xy = np.vstack([np.empty((0, 2)), *(line[-1:] for line in lines)])
    return _make_named_cloud(rows, np.zeros((len(numbers), d)), labels, xy, np.full(len(numbers), 1e9), 4.0)


def _make_named_cloud(
    rows: DrawnCloud, places: np.ndarray, labels: np.ndarray, xy: np.ndarray, weight: np.ndarray, area: float
) -> DrawnCloud:
    points = ScenePoints.from_places(places, labels)
    areas = np.full(len(xy), area)
    return replace(rows, points=points, name="_", xy=xy, area=areas, weight=weight, colours=None, measures={})


def draw_numbers(ax: Axes, side: SideColumns) -> np.ndarray:
    """Draw arrows and paths, and return points of them, which no label should cover."""
    for line in side.lines:
        draw_number(ax, line, side.tips.colour)
    return sample_lines(side.lines)


def draw_number(ax: Axes, line: np.ndarray, colour: str, is_dashed: bool = False) -> None:
    """Draw an arrow, or a path that ends in one."""
    colour = choose_ink(ax, colour)
    if len(line) > 2:
        outline = [make_outline(ax, 2.6, 0.8)]
        style: dict[str, Any] = {"color": colour, "lw": 1.0, "marker": ".", "ms": 3, "zorder": 2.6}
        ax.plot(line[:-1, 0], line[:-1, 1], path_effects=outline, **style)
    scale = find_font_scale()
    arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.1 * scale, "shrinkA": 0, "shrinkB": 0}
    arrow["mutation_scale"] = 9 * scale
    if is_dashed:
        arrow["linestyle"] = "--"
    # It lies within the axes, and layouts would measure each of thousands of arrows several times.
    ax.annotate("", line[-1], line[-2], arrowprops=arrow, zorder=2.7).set_in_layout(False)
    ax.update_datalim(line)


def sample_lines(lines: Sequence[np.ndarray], n: int = N_LINE_POINTS) -> np.ndarray:
    """Return n points on each piece of lines, which no label should cover."""
    share = np.linspace(0, 1, n)[:, None]
    pieces = [a + share * (b - a) for line in lines for a, b in pairwise(line)]
    return np.vstack([np.empty((0, 2)), *pieces])


def list_caption_parts(sides: Sequence[SideColumns]) -> list[str]:
    """Say what the marks are, and how many are not drawn."""
    has_arrows = any(len(line) == 2 for side in sides for line in side.lines)
    has_paths = any(len(line) > 2 for side in sides for line in side.lines)
    drawn = dict.fromkeys(side.noun[1] for side in sides if len(side.categories.xy))
    parts = [f"{' and '.join(drawn)} at the mean of their rows"] if drawn else []
    parts += ["arrows to where high numbers lie"] if has_arrows else []
    parts += ["paths from low to high numbers"] if has_paths else []
    hidden = count_hidden(sides)
    return [*parts, f"not drawn, near the centre or rare: {' and '.join(hidden)}"] if hidden else parts


def count_hidden(sides: Sequence[SideColumns]) -> list[str]:
    """Count what is not drawn, by what it is called."""
    counts: Counter[tuple[str, str]] = Counter()
    for side in sides:
        counts[side.noun] += side.n_hidden[0]
        counts["number", "numbers"] += side.n_hidden[1]
    return [f"{n:,} {noun[n > 1]}" for noun, n in counts.items() if n]
