"""The plane of an analysis of many columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from correspondence._util.arguments import check_whole
from correspondence.core.decomposition import as_decomposition
from correspondence.plot.drawn_clouds import list_supplementary, note_unplaced, size_clouds
from correspondence.plot.group_names import share_names
from correspondence.plot.groups import (
    DrawnGroups,
    check_ellipses,
    draw_group_shapes,
    fit_ellipses,
    list_group_notes,
    make_drawn_groups,
    split_ellipses,
)
from correspondence.plot.label_choice import check_sides, read_labels
from correspondence.plot.labels import write_labels
from correspondence.plot.layout import arrange_plane
from correspondence.plot.legends import collect_legend
from correspondence.plot.many_columns import (
    LABEL_REACH_POINTS,
    DrawnColumns,
    choose_figure_size,
    draw_answer_ellipses,
    draw_column_lines,
    is_long_legend,
    list_column_handles,
    list_columns_notes,
    make_drawn_columns,
)
from correspondence.plot.number_colours import NumberColours, draw_colour_bar, note_numbers, read_colour
from correspondence.plot.plane_parts import choose_opacity, draw_cloud, draw_cross, label_axes, list_axis_titles
from correspondence.plot.style import make_axes
from correspondence.scene.groups import find_row_weights, read_row_groups
from correspondence.scene.many_columns import ManyColumnsScene, make_columns_scene
from correspondence.scene.measures import measure_recorded_points
from correspondence.scene.points import check_axes, check_names

__all__ = ["draw_columns_plane"]


def draw_columns_plane(
    est: Any,
    axes: Any,
    map: str | None,
    ax: Axes | None,
    *,
    rows: bool,
    columns: bool,
    size: str | None,
    colour: Any,
    ellipses: Any,
    ellipses_of: Sequence[Any] | None,
    hulls: bool | float,
    level: float,
    supplementary: Any,
    labels: Any,
    max_labels: int,
    names: Sequence[str] | None,
    X: Any,
    groups: Any,
    classes: Any,
) -> Axes:
    """Draw the plane of an analysis of many columns; the parameters are those of `plane`."""
    map = "symmetric" if map is None else map
    index = check_axes(as_decomposition(est), axes)
    check_whole(max_labels, "max_labels", 0)
    check_sides(rows, columns)
    choice, numbers = read_labels(labels), read_colour(colour, (rows, columns), groups, classes)
    scene = make_columns_scene(est, X)
    passive = list_supplementary(supplementary)
    grouping = read_row_groups(est, scene, groups, classes)
    bootstrap, kind = split_ellipses(ellipses)
    if bootstrap is not None and not columns:
        raise ValueError("ellipses must be left out where columns are not drawn: they are those of the answers.")
    share = check_ellipses(ellipses, hulls, len(index), grouping is not None)
    drawn = make_drawn_columns(scene, est.inertias_, index, map, grouping, passive, is_thinned=numbers is None)
    drawn = replace(measure_rows(est, drawn, index, X), answers=size_clouds(drawn.answers, size))
    drawn_groups = None
    if grouping is not None and (groups is not None or kind is not None or share):
        weights = find_row_weights(est, scene)
        is_named = groups is not None
        drawn_groups = make_drawn_groups(
            drawn.rows[0], grouping, kind, level, share, weights, is_named, ellipses_of=ellipses_of
        )
    drawn, scale = colour_columns(drawn, numbers)
    drawn = drawn.hide_sides(rows, columns)
    if names is not None:
        drawn = drawn.rename_rows(check_names(names)[0])
    written = drawn.choose_written(choice, scene.has_row_names)
    if drawn.rows and drawn.rows[0] not in written:
        drawn = drawn.leave_rows_nameless()
    drawn, written, means = name_groups_once(scene, drawn, written, drawn_groups)
    is_own_figure, ax = ax is None, make_axes(ax, choose_figure_size(drawn, len(index)))
    draw_cross(ax)
    draw_group_shapes(ax, drawn_groups)
    for cloud in [*drawn.clouds, *means]:
        draw_cloud(ax, cloud, choose_opacity(size, numbers is not None), is_above=not cloud.is_faint)
    large = fit_ellipses(ax, drawn_groups)
    if bootstrap is not None:
        draw_answer_ellipses(ax, drawn, bootstrap, axes[: len(index)], level, len(est.columns_), ellipses_of)
    lines = draw_column_lines(ax, drawn)
    label_axes(ax, list_axis_titles(est, index))
    draw_colour_bar(ax, scale, numbers)
    clouds = [*drawn.clouds, drawn.tips, *means]
    written = [*written, *means]
    placing = write_labels(ax, clouds, written, max_labels, choice, lines, (), LABEL_REACH_POINTS)
    notes = [*list_columns_notes(scene, drawn), *list_group_notes(drawn_groups, large)]
    notes += [*note_numbers(numbers, drawn.clouds), *note_unplaced(drawn.supplementary)]
    legend = collect_legend(ax, list_column_handles(drawn), is_beside=is_long_legend(drawn, len(index)))
    arrange_plane(ax, legend, notes, placing, is_own_figure)
    return ax


def measure_rows(est: Any, drawn: DrawnColumns, index: list[int], X: Any) -> DrawnColumns:
    """Measure how much the rows of the fit matter in the plane."""
    if X is not None or not drawn.rows or drawn.rows[0].alphas is not None:
        return drawn
    first = drawn.rows[0]
    measures = {name: own[first.points.rows] for name, own in measure_recorded_points(est.rows_, index).items()}
    return replace(drawn, rows=[replace(first, measures=measures), *drawn.rows[1:]])


def colour_columns(drawn: DrawnColumns, numbers: NumberColours | None) -> tuple[DrawnColumns, Any]:
    """Colour rows or answers by numbers; return the scale too."""
    if numbers is None:
        return drawn, None
    own = drawn.rows[:1] if not isinstance(numbers.sides[0], str) else []  # measures are those of the answers
    rows, answers, scale = numbers.colour(own, drawn.answers)
    return replace(drawn, rows=[*rows, *drawn.rows[len(rows) :]], answers=answers), scale


def name_groups_once(
    scene: ManyColumnsScene, drawn: DrawnColumns, written: list[Any], drawn_groups: DrawnGroups | None
) -> tuple[DrawnColumns, list[Any], list[Any]]:
    """Let answers that are groups too carry the names of these; return the clouds written, and the means left."""
    means = [] if drawn_groups is None else drawn_groups.marks
    passive = [] if scene.supplementary is None else drawn.supplementary[:1]
    for name, points, clouds in (
        ("answers", scene.answers, drawn.answers),
        ("supplementary", scene.supplementary, passive),
    ):
        if not means or points is None or not clouds or clouds[0] not in written:
            continue
        answers = np.array(points.answers, dtype=object)
        left, shared = share_names(means[0], clouds, [answers[cloud.points.rows] for cloud in clouds])
        means = [left] if len(left.xy) else []
        written = [*(cloud for cloud in written if cloud not in clouds), *shared]
        others = [cloud for cloud in getattr(drawn, name) if cloud not in clouds]
        changed: dict[str, Any] = {name: [*shared, *others]}
        drawn = replace(drawn, **changed)
    return drawn, written, means
