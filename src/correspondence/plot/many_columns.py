"""The plane of an analysis of many columns: answers by variable, rows behind them, numbers, partial points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from correspondence._util.text import list_names, one_line
from correspondence.plot.column_marks import FAINT_AREA_POINTS, draw_number, sample_lines
from correspondence.plot.drawn_clouds import DrawnCloud, add_zero_height, choose_areas, place_supplementary
from correspondence.plot.groups import list_group_handles
from correspondence.plot.label_choice import LabelChoice
from correspondence.plot.spreads import draw_spreads
from correspondence.plot.style import STYLES
from correspondence.results.points import Bootstrap, Points
from correspondence.scene.colours import GREY, list_variable_colours
from correspondence.scene.column_marks import ARROW_DEVIATIONS, MIN_ARROW_LENGTH
from correspondence.scene.groups import Grouping
from correspondence.scene.many_columns import AnswerPoints, ManyColumnsScene, NumberArrows
from correspondence.scene.measures import measure_recorded_points
from correspondence.scene.points import Scaling, ScenePoints, check_map, find_scale_factor, needs_mass

__all__ = [
    "LABEL_REACH_POINTS",
    "MAX_DOTS",
    "DrawnColumns",
    "choose_figure_size",
    "choose_number_colours",
    "draw_answer_ellipses",
    "draw_column_lines",
    "draw_rows",
    "is_long_legend",
    "list_column_handles",
    "list_columns_notes",
    "make_drawn_columns",
    "thin_out_rows",
]

MAX_ANSWERS = 300
MAX_NUMBERS = 12
MAX_PASSIVE_LABELS = 15
MIN_ANSWERS_NAMED, MIN_SHARE_NAMED = 30, 0.5  # others are named if they contribute this part of the average,
FAR_DISTANCES = 1.25  # or are so many times as far from the centre as the average, where a reader asks for their names
LABEL_REACH_POINTS = 34.0
MAX_VARIABLES_IN_LEGEND = 20
MAX_LEGEND_ABOVE = 8
MAX_DOTS = 20_000  # rows; of more, the density is drawn
N_SQUARES, DENSITY_AREA_POINTS, DENSITY_ALPHAS = 150, 6.0, (0.08, 0.4)
MAX_ROWS_WITH_PARTIAL = 40
SUPPLEMENTARY_COLOUR = "0.25"


@dataclass(frozen=True, eq=False)
class DrawnColumns:
    """An analysis of many columns in one plane, ready to be drawn.

    Attributes
    ----------
    rows : list of DrawnCloud
        The rows, as a faint cloud, and those that took no part in the fit.
    answers : list of DrawnCloud
        The answers of each variable.
    supplementary : list of DrawnCloud
        Answers that took no part in the fit, and what the user gave.
    lines : list of (ndarray of shape (m, 2), str)
        The answers of ordered variables, in their order, and the colour of the variable.
    numbers : NumberArrows
        The numbers that are drawn.
    arrows : list of ndarray of shape (m, 2)
        Their arrows, of two points, and paths, of more.
    tips : DrawnCloud
        The ends of these.
    partial : list of (str, str, ndarray of shape (n, 2, 2))
        The name and colour of each group, and lines from the rows to where the group sees them.
    classes : dict
        The colours of the groups of the rows, by name.
    n_hidden : tuple of int
        How many answers, and how many numbers, are not drawn.
    """

    rows: list[DrawnCloud]
    answers: list[DrawnCloud]
    supplementary: list[DrawnCloud]
    lines: list[tuple[np.ndarray, str]]
    numbers: NumberArrows
    arrows: list[np.ndarray]
    tips: DrawnCloud
    partial: list[tuple[str, str, np.ndarray]]
    classes: dict[Any, str]
    n_hidden: tuple[int, int]

    @property
    def clouds(self) -> list[DrawnCloud]:
        """All points, in the order in which they are drawn."""
        return [*self.rows, *self.answers, *self.supplementary]

    def rename_rows(self, name: str) -> DrawnColumns:
        """Return the same, with another name for the rows in the legend."""
        return replace(self, rows=[replace(cloud, name=name) for cloud in self.rows[:1]] + self.rows[1:])

    def leave_rows_nameless(self) -> DrawnColumns:
        """Return the same, with rows that labels may cover."""
        return replace(self, rows=[cloud.forget_labels() for cloud in self.rows[:1]] + self.rows[1:])

    def hide_sides(self, with_rows: bool, with_columns: bool) -> DrawnColumns:
        """Return the same without the rows, or without answers and numbers."""
        shown = self if with_rows else replace(self, rows=[], partial=[])
        if with_columns:
            return shown
        none = np.empty(0, dtype=int)
        hidden: dict[str, Any] = {"answers": [], "supplementary": [], "lines": [], "arrows": [], "n_hidden": (0, 0)}
        return replace(shown, numbers=self.numbers.take(none), tips=self.tips.take(none), **hidden)

    def choose_written(self, choice: LabelChoice, has_row_names: bool) -> list[DrawnCloud]:
        """Choose whose labels are written: rows by default only if they are few and have names, or are listed."""
        wanted = set(map(str, choice.listed or []))
        is_listed = any(str(label) in wanted for cloud in self.rows[:1] for label in cloud.labels) if wanted else False
        rows = self.rows[:1] if choice.sides == "rows" or has_row_names or is_listed else []
        return [*choice.take(rows, [*self.answers, self.tips]), *self.rows[1:], *self.supplementary]


def make_drawn_columns(
    scene: ManyColumnsScene,
    inertias: np.ndarray,
    index: list[int],
    map: str,
    grouping: Grouping | None,
    supplementary: list[Points],
    is_thinned: bool = True,
) -> DrawnColumns:
    """Place everything that a plane shows.

    Parameters
    ----------
    scene : ManyColumnsScene
        What is shown.
    inertias : ndarray of shape (d,)
        The inertias of all axes.
    index : list of int
        The axes drawn, counted from 0.
    map : str
        How rows and answers are scaled.
    grouping : Grouping or None
        The groups that colour the rows.
    supplementary : list of Points
        What the user gives to be drawn too.
    is_thinned : bool
        Whether very many rows are drawn as a density.
    """
    scaling, of_answers = check_map(map)
    if scene.is_barycentric:
        of_answers = scaling
    # Arrows and partial points have no mass: in maps with masses they are drawn as for rows in principal coordinates.
    plain: Scaling = "principal" if needs_mass(scaling) else scaling
    scale = find_scale_factor(plain, scene.row_correlations[index])[0]
    rows = [] if scene.rows is None else [draw_rows(scene, scaling, index)]
    if grouping is not None and rows:
        rows[0] = replace(rows[0], colours=grouping.take(rows[0].points.rows).point_colours)
    elif rows and len(rows[0].xy) > MAX_DOTS and len(index) == 2 and is_thinned:
        rows[0] = thin_out_rows(rows[0])
    if scene.supplementary_rows is not None:
        passive = place_supplementary(scene.supplementary_rows, index, is_first=True)
        rows.append(replace(passive, name="supplementary rows", marker="s", area=passive.area / 2))
    is_grouped = grouping is not None and bool(rows)
    answers, lines, hidden = _place_answers(scene.answers, inertias, index, of_answers, is_grouped)
    partial = _trace_partial_points(scene, index, scale)
    # Of groups, the plane shows how they see the rows; arrows of their numbers would hide it.
    numbers = scene.numbers.choose(index, MIN_ARROW_LENGTH, 0 if partial else MAX_NUMBERS)
    arrows = [add_zero_height(_trace_number(numbers, j, index, scale)) for j in range(len(numbers))]
    own = [] if scene.supplementary is None else [_place_passive_answers(scene.supplementary, index)]
    given = [place_supplementary(points, index, is_first=not own and i == 0) for i, points in enumerate(supplementary)]
    placed = [replace(cloud, is_hollow=True) for cloud in (*own, *given)]
    return DrawnColumns(
        rows,
        answers,
        placed,
        lines,
        numbers,
        arrows,
        _place_tips(numbers, index, arrows, 0 if scene.answers is None else len(scene.answers.variables)),
        partial,
        grouping.legend if grouping is not None and is_grouped else {},
        (hidden, len(scene.numbers) - len(numbers)),
    )


def draw_rows(scene: ManyColumnsScene, scaling: Scaling, index: list[int]) -> DrawnCloud:
    """Place the rows, as dots behind the answers; rows that are few and have names are points of their own."""
    assert scene.rows is not None
    n = len(scene.rows)
    mass = np.full(n, 1 / max(1, scene.rows.given))
    xy = scene.rows.places[:, index] * find_scale_factor(scaling, scene.row_correlations[index], mass)
    # Below the smallest contribution of answers, so that these are named first.
    weight = 1e-6 * (xy**2).sum(axis=1) if scene.rows.labels is not None else np.full(n, np.nan)
    area = choose_areas(n)
    if not scene.has_row_names:
        area = np.minimum(area, FAINT_AREA_POINTS if n > 100 else 2 * FAINT_AREA_POINTS)
    return DrawnCloud(
        scene.rows, "rows", add_zero_height(xy), area, weight, scaling == "principal", GREY, "o", is_faint=True
    )


def thin_out_rows(rows: DrawnCloud) -> DrawnCloud:
    """Draw many rows as a density: one dot for each square of a grid that has some, the darker the more it has."""
    low, high = rows.xy.min(axis=0), rows.xy.max(axis=0)
    squares = ((rows.xy - low) / max(float((high - low).max()), 1e-12) * N_SQUARES).astype(int)
    _, first, code, count = np.unique(squares, axis=0, return_index=True, return_inverse=True, return_counts=True)
    sums = np.column_stack([np.bincount(code.ravel(), column) for column in rows.xy.T])
    points = replace(rows.points, labels=None, places=rows.points.places[first], rows=rows.points.rows[first])
    faintest, darkest = DENSITY_ALPHAS
    return replace(
        rows,
        points=points,
        xy=sums / count[:, None],
        area=np.full(len(count), DENSITY_AREA_POINTS),
        weight=np.full(len(count), np.nan),
        measures={},
        alphas=faintest + (darkest - faintest) * np.sqrt(count / count.max()),
    )


def _place_answers(
    answers: AnswerPoints | None, inertias: np.ndarray, index: list[int], scaling: Scaling, is_grey: bool
) -> tuple[list[DrawnCloud], list[tuple[np.ndarray, str]], int]:
    """Place the answers, a cloud for each variable, and the lines of those in order; count those left out."""
    if answers is None:
        return [], [], 0
    points = answers.points
    weight = np.nan_to_num(points.contributions[:, index]) @ inertias[index]
    measures = measure_recorded_points(points, index) | {"contribution": weight / max(inertias[index].sum(), 1e-300)}
    factor = find_scale_factor(scaling, points.correlations[index], points.mass)
    xy = add_zero_height(points.standard[:, index] * factor)
    area = choose_areas(len(xy))
    is_drawn = np.isfinite(xy).all(axis=1)
    order = np.argsort(-weight, kind="stable")
    distance = np.nan_to_num(np.linalg.norm(xy, axis=1))
    is_named = (weight >= MIN_SHARE_NAMED * weight.mean()) | (distance >= FAR_DISTANCES * distance.mean())
    is_named[order[:MIN_ANSWERS_NAMED]] = True
    is_drawn[order[MAX_ANSWERS:]] = False
    rank = np.where(is_named, weight, np.nan)
    k = len(answers.variables)
    colours = [SUPPLEMENTARY_COLOUR] * k if is_grey else list_variable_colours(k)
    markers = [marker for _, marker in STYLES[:k]] if k <= 8 else ["^"] * k
    texts = answers.full_texts if is_grey else answers.texts
    clouds = []
    for j, name in enumerate(answers.variables):
        own = np.flatnonzero((answers.codes == j) & is_drawn)
        seen = ScenePoints(points.standard[own], texts[own], points.mass[own], own, len(own), len(answers))
        shown = f" {one_line(name)}" if name.startswith("_") else one_line(name)  # matplotlib hides names with _
        legend = shown if k <= MAX_VARIABLES_IN_LEGEND and not is_grey else "_"
        cloud = DrawnCloud(seen, legend, xy[own], area[own], rank[own], scaling == "principal", colours[j], markers[j])
        known = {name: values[own] for name, values in measures.items()}
        clouds.append(replace(cloud, measures=known, full_labels=points.labels[own]))
    lines = [(xy[line[is_drawn[line]]], colours[answers.codes[line[0]]]) for line in answers.lines]
    return [cloud for cloud in clouds if len(cloud.xy)], lines, int((~is_drawn).sum())


def _place_passive_answers(answers: AnswerPoints, index: list[int]) -> DrawnCloud:
    """Place answers that took no part in the fit; of many, those are named that would contribute most."""
    cloud = place_supplementary(answers.points, index, is_first=True)
    own = cloud.points.rows
    weight = np.nan_to_num(answers.shares[own], nan=1.0) / len(answers.variables) * (cloud.xy**2).sum(axis=1)
    weight[np.argsort(-weight, kind="stable")[MAX_PASSIVE_LABELS:]] = np.nan
    area = cloud.area if len(own) <= MAX_PASSIVE_LABELS else cloud.area / 2
    shown = replace(cloud.points, labels=answers.texts[own])
    return replace(cloud, points=shown, weight=weight, area=area, full_labels=answers.points.labels[own])


def _trace_number(numbers: NumberArrows, j: int, index: list[int], scale: np.ndarray) -> np.ndarray:
    """Return the points of a path, or of an arrow to where rows two standard deviations above the mean lie."""
    path = numbers.find_path(j, index)
    if path is not None:
        return path[:, index] * scale
    return np.vstack([np.zeros(len(index)), ARROW_DEVIATIONS * numbers.correlations[j, index] * scale])


def _place_tips(numbers: NumberArrows, index: list[int], arrows: list[np.ndarray], n_variables: int) -> DrawnCloud:
    """Place the ends of arrows and paths, which have the names of numbers; these weigh as answers do."""
    n = len(numbers)
    points = ScenePoints(numbers.correlations, numbers.labels, None, np.arange(n), n, n)
    xy = np.vstack([np.empty((0, 2)), *(line[-1:] for line in arrows)])
    colours = np.array(choose_number_colours(numbers, 0), dtype=object)
    if any(len(line) > 2 for line in arrows):  # paths cross, so that each needs a colour, other than those of answers
        colours = np.array(list_variable_colours(n_variables + n)[n_variables:], dtype=object)
    area, weight = np.full(n, 4.0), numbers.explained[:, index].sum(axis=1)  # a contribution times the inertia
    tips = DrawnCloud(points, "_", xy, area, weight, False, SUPPLEMENTARY_COLOUR, ".", colours=colours)
    return replace(tips, measures={"quality": weight})


def choose_number_colours(numbers: NumberArrows, n_groups: int) -> list[str]:
    """Choose the colours of numbers: those of their groups, or one for all."""
    palette = list_variable_colours(max(n_groups, int(numbers.groups.max(initial=-1)) + 1))
    own = [palette[group] if group >= 0 else "0.1" for group in numbers.groups.tolist()]
    return [GREY if passive else colour for colour, passive in zip(own, numbers.is_supplementary.tolist(), strict=True)]


def _trace_partial_points(
    scene: ManyColumnsScene, index: list[int], scale: np.ndarray
) -> list[tuple[str, str, np.ndarray]]:
    """Trace lines from each row to where each group sees it, if the rows are few."""
    if scene.rows is None or len(scene.rows) > MAX_ROWS_WITH_PARTIAL:
        return []
    start = add_zero_height(scene.rows.places[:, index] * scale)
    traced = []
    palette = list_variable_colours(max((group.position for group in scene.groups), default=-1) + 1)
    for group in scene.groups:
        end = add_zero_height(group.places[scene.rows.rows][:, index] * scale)
        traced.append((one_line(group.name), palette[group.position], np.stack([start, end], axis=1)))
    return traced


def draw_column_lines(ax: Axes, drawn: DrawnColumns) -> np.ndarray:
    """Draw lines of ordered answers, arrows and partial points; return points of arrows, which no label may cover."""
    for xy, colour in drawn.lines:
        ax.plot(xy[:, 0], xy[:, 1], color=colour, lw=1.1, alpha=0.65, zorder=2.2, gid="ordered")
    for _, colour, segments in drawn.partial:
        ax.add_collection(LineCollection(list(segments), colors=colour, linewidths=0.7, alpha=0.7, zorder=1.5))
        ax.scatter(segments[:, 1, 0], segments[:, 1, 1], s=7, color=colour, alpha=0.8, linewidths=0, zorder=1.6)
    assert drawn.tips.colours is not None
    for line, colour, passive in zip(drawn.arrows, drawn.tips.colours, drawn.numbers.is_supplementary, strict=True):
        draw_number(ax, line, colour, is_dashed=bool(passive))
    return sample_lines(drawn.arrows)


def draw_answer_ellipses(
    ax: Axes,
    drawn: DrawnColumns,
    bootstrap: Bootstrap,
    axes: tuple[int, ...],
    level: float,
    n_answers: int,
    chosen: Sequence[Any] | None,
) -> None:
    """Draw the confidence ellipses of the answers."""
    if len(axes) < 2:
        raise ValueError("ellipses must be None on only one axis, because they need a plane.")
    if len(bootstrap.column_covariance) != n_answers:
        raise ValueError("ellipses must be those of the answers drawn, got those of another table.")
    if not all(cloud.is_principal for cloud in drawn.answers):
        raise ValueError('map must have answers in principal coordinates for ellipses, such as "symmetric".')
    spread = bootstrap.column_ellipses((axes[0], axes[1]), level)
    draw_spreads(ax, [(cloud, spread) for cloud in drawn.answers], chosen)


def choose_figure_size(drawn: DrawnColumns, n_axes: int) -> tuple[float, float]:
    """Choose the size of a figure, in inches, such that a plane with equal scales fills it."""
    if n_axes < 2:
        return 9.0, 3.0
    ends = [segments[:, 1] for *_, segments in drawn.partial]
    xy = np.vstack([*drawn.arrows, *ends, *(cloud.xy for cloud in drawn.clouds)])
    wide, high = np.maximum(np.ptp(xy, axis=0), 1e-9)
    legend = 1.6 if is_long_legend(drawn, n_axes) else 0.0
    return float(np.clip(5.8 * wide / high, 5.2, 8.0)) + 0.9 + legend, 6.5


def is_long_legend(drawn: DrawnColumns, n_axes: int) -> bool:
    """Tell whether the legend is so long that it stands beside the plane; beside a line there is no room."""
    names = [cloud for cloud in drawn.clouds if cloud.name[:1] != "_"]
    return n_axes == 2 and len(names) + len(list_column_handles(drawn)) > MAX_LEGEND_ABOVE


def list_column_handles(drawn: DrawnColumns) -> list[Any]:
    """List what the legend shows besides the points: groups, and classes of the rows."""
    groups = [Line2D([], [], color=colour, lw=1.2, marker=".", label=name) for name, colour, _ in drawn.partial]
    return [*groups, *list_group_handles(drawn.classes)]


def list_columns_notes(scene: ManyColumnsScene, drawn: DrawnColumns) -> list[str]:
    """Say what the marks are, and what is not drawn."""
    parts = []
    if drawn.lines:
        parts.append("lines join the answers of a variable in their order")
    if len(drawn.numbers):
        dashed = ", dashed if they took no part in the fit" if drawn.numbers.is_supplementary.any() else ""
        parts.append(f"arrows to where high numbers lie{dashed}")
    if any(len(line) > 2 for line in drawn.arrows):
        parts.append("paths from low to high numbers")
    if drawn.partial:
        parts.append("thin lines lead to the row as each group sees it; numbers are in plot.correlation_circle")
    elif scene.groups:
        parts.append(f"points of groups are drawn up to {MAX_ROWS_WITH_PARTIAL} rows")
    is_coloured = not drawn.classes  # with groups, answers are grey
    if is_coloured and scene.answers is not None and len(scene.answers.variables) > MAX_VARIABLES_IN_LEGEND:
        parts.append("a colour for each variable, which the labels name")
    if drawn.rows and drawn.rows[0].alphas is not None:
        parts.append(f"the darker, the more of the {len(scene.rows or ()):,} rows")
    if scene.rows is not None and len(scene.rows) < scene.rows.given:
        parts.append(f"without {scene.rows.given - len(scene.rows):,} rows that have no place")
    counts = (drawn.n_hidden[0], 0 if drawn.partial else drawn.n_hidden[1])
    hidden = [f"{n:,} {noun}{'s' * (n > 1)}" for n, noun in zip(counts, ("answer", "number"), strict=True) if n]
    if hidden:
        parts.append(f"not drawn, because they say little about the plane: {list_names(hidden, separator=' and ')}")
    return parts
