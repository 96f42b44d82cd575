"""The plane of two variables: x and y, or the rows and columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from correspondence._util.arguments import check_flag, check_whole
from correspondence._util.text import one_line, short_repr
from correspondence.core.decomposition import Decomposition, as_decomposition
from correspondence.data.beside_given import match_given
from correspondence.plot.column_marks import (
    SideColumns,
    draw_number,
    draw_numbers,
    find_side_columns,
    list_caption_parts,
    sample_lines,
)
from correspondence.plot.drawn_clouds import (
    DrawnCloud,
    colour_by_class,
    colour_by_group,
    make_marks,
    make_sides,
    note_unplaced,
    note_values_without_place,
    place_all_supplementary,
    size_sides,
)
from correspondence.plot.groups import (
    DrawnGroups,
    check_ellipses,
    draw_group_shapes,
    fit_ellipses,
    list_group_handles,
    list_group_notes,
    make_drawn_groups,
    split_ellipses,
)
from correspondence.plot.label_choice import LabelChoice, check_sides, read_labels
from correspondence.plot.labels import write_labels
from correspondence.plot.layout import arrange_plane
from correspondence.plot.legends import collect_legend
from correspondence.plot.number_colours import colour_sides_by_numbers, draw_colour_bar, note_numbers, read_colour
from correspondence.plot.overlays import draw_boundaries, draw_confusing, draw_orders
from correspondence.plot.plane_parts import choose_opacity, draw_cloud, draw_cross, label_axes, list_axis_titles
from correspondence.plot.spreads import draw_spreads, pair_with_ellipses
from correspondence.plot.style import make_axes
from correspondence.results.points import Bootstrap
from correspondence.scene.classes import Scene, describe_faithfulness, make_scene
from correspondence.scene.groups import Grouping, read_groups
from correspondence.scene.points import check_axes, check_map, check_names, find_scale_factor

__all__ = ["draw_pairs_plane"]

TIP_AREA_POINTS = 4.0  # of the marker where an arrow ends
N_ARROW_POINTS = 24  # of an arrow, which labels keep clear of
ARROWS = {"rows": (True, False), "columns": (False, True), "both": (True, True)}


def draw_pairs_plane(
    d_or_est: Any,
    axes: tuple[int, int],
    map: str | None,
    ax: Axes | None,
    *,
    rows: bool,
    columns: bool,
    size: str | None,
    colour: Any,
    arrows: str | None,
    ellipses: Bootstrap | str | None,
    ellipses_of: Sequence[Any] | None,
    hulls: bool | float,
    level: float,
    supplementary: Any,
    labels: Any,
    max_labels: int,
    names: Sequence[str] | None,
    X: Any,
    Y: Any,
    groups: Any,
    classes: Any,
    variables: bool | None,
    marks: tuple[Sequence[Any], Any] | None,
    boundaries: bool | Sequence[tuple[Any, Any]],
    confusing: Any,
    thumbnails: Any,
    given: Any,
) -> Axes:
    """Draw the plane of two variables; the parameters are those of `plane`."""
    map = "symmetric" if map is None else map
    check_whole(max_labels, "max_labels", 0)
    check_sides(rows, columns)
    choice, numbers = read_labels(labels), read_colour(colour, (rows, columns), groups, classes)
    seen = make_scene(d_or_est, X, classes, confusing, thumbnails)
    d = as_decomposition(seen.est)
    index = check_axes(d, axes)
    called = check_names(seen.names if names is None else names)
    sides = size_sides(make_sides(d_or_est, d, index, map, called, *_put_given(d, seen.X, Y, given)), size)
    bootstrap, kind = split_ellipses(ellipses)
    sides, grouping, handles = colour_sides(sides, seen, groups, has_shapes=kind is not None or bool(hulls))
    share = check_ellipses(ellipses, hulls, len(index), grouping is not None)
    drawn_groups = None
    if grouping is not None:
        is_named = groups is not None and not set(grouping.names) <= {str(label) for label in sides[1].labels}
        drawn_groups = make_drawn_groups(
            sides[0], grouping, kind, level, share, is_named=is_named, ellipses_of=ellipses_of
        )
    sides, scale = colour_sides_by_numbers(sides, numbers)
    sides, described = add_columns(d, sides, (X, Y), map, index, variables)
    if described and names is None and seen.names == ("rows", "columns"):
        sides = (replace(sides[0], name="X"), replace(sides[1], name="Y"))
    sides = make_tips(sides, arrows, (rows, columns), size)
    spreads = [] if bootstrap is None else pair_with_ellipses(sides, bootstrap, axes[: len(index)], level)
    placed = place_all_supplementary(supplementary, index)
    unplaced = note_unplaced(placed)
    if marks is not None:  # which are inputs, not beliefs
        placed.append(make_marks(as_decomposition(d_or_est), marks, index, map, called[2]))
    drawn = DrawnPairs(sides, (rows, columns), described, placed, drawn_groups)
    is_own_figure, ax = ax is None, make_axes(ax, (8, 6.5) if len(index) == 2 else (8, 2.5))
    lines, large = draw_points(ax, drawn, arrows, choose_opacity(size, numbers is not None))
    draw_spreads(ax, [pair for pair in spreads if pair[0] in drawn.shown], ellipses_of if kind is None else None)
    edges, pictures = _draw_classifier_parts(ax, seen, boundaries, index, map)
    label_axes(ax, list_axis_titles(d_or_est, index))
    draw_colour_bar(ax, scale, numbers)
    taken = np.vstack([np.empty((0, 2)), *lines, *edges])
    placing = write_labels(ax, drawn.clouds, drawn.choose_written(choice), max_labels, choice, taken, pictures)
    notes = [*list_caption_parts(drawn.described), *describe_faithfulness(seen, [index])]
    notes += [*list_group_notes(drawn_groups, large), *draw_orders(ax, d_or_est, sides, drawn.shown)]
    notes += [*note_arrows(arrows, map), *note_numbers(numbers, drawn.shown), *unplaced]
    notes += seen.notes or note_values_without_place(drawn.shown)
    legend = collect_legend(ax, handles if numbers is None else ())
    arrange_plane(ax, legend, [note for note in notes if note], placing, is_own_figure)
    return ax


@dataclass(frozen=True, eq=False)
class DrawnPairs:
    """Two variables in one plane, ready to be drawn.

    Attributes
    ----------
    sides : (DrawnCloud, DrawnCloud)
        The points of x and y.
    are_shown : (bool, bool)
        Whether these are drawn.
    all_described : list of SideColumns
        What is known of the columns of each side that has some.
    placed : list of DrawnCloud
        Supplementary points and marks.
    groups : DrawnGroups or None
        The groups of the points of x.
    """

    sides: tuple[DrawnCloud, DrawnCloud]
    are_shown: tuple[bool, bool]
    all_described: list[SideColumns]
    placed: list[DrawnCloud]
    groups: DrawnGroups | None

    @property
    def shown(self) -> list[DrawnCloud]:
        """The sides that are drawn."""
        return [side for side, is_shown in zip(self.sides, self.are_shown, strict=True) if is_shown]

    @property
    def described(self) -> list[SideColumns]:
        """The columns of the sides that are drawn, which have their markers."""
        markers = {side.marker for side in self.shown}
        return [own for own in self.all_described if own.rows.marker in markers]

    @property
    def means(self) -> list[DrawnCloud]:
        """The means of groups that are named there."""
        return [] if self.groups is None else self.groups.marks

    @property
    def clouds(self) -> list[DrawnCloud]:
        """All points."""
        of_columns = [cloud for own in self.described for cloud in (own.categories, own.tips)]
        return [*self.shown, *self.placed, *self.means, *of_columns]

    def choose_written(self, choice: LabelChoice) -> list[DrawnCloud]:
        """Choose the points whose labels are asked for: sides with the marks of their columns, and all others."""
        x, y = ([side, *self._list_column_clouds(side)] if side in self.shown else [] for side in self.sides)
        return [*self.means, *choice.take(x, y), *self.placed]

    def _list_column_clouds(self, side: DrawnCloud) -> list[DrawnCloud]:
        own = [columns for columns in self.described if columns.rows.marker == side.marker]
        return [cloud for columns in own for cloud in (columns.categories, columns.tips)]


def draw_points(ax: Axes, drawn: DrawnPairs, arrows: str | None, opacity: float) -> tuple[list[np.ndarray], list[str]]:
    """Draw all points, and the shapes and lines that belong to them.

    Returns
    -------
    lines : list of ndarray of shape (m, 2)
        Points of lines, which no label may cover.
    large : list of str
        The groups whose ellipses reach beyond the picture.
    """
    draw_cross(ax)
    draw_group_shapes(ax, drawn.groups)
    is_arrow = (False, False) if arrows is None else ARROWS[arrows]
    tips = [side for side, has_arrows in zip(drawn.sides, is_arrow, strict=True) if has_arrows and side in drawn.shown]
    lines = draw_biplot_arrows(ax, tips)
    for cloud in [*drawn.shown, *(own.categories for own in drawn.described), *drawn.placed, *drawn.means]:
        is_above = (bool(drawn.described) and not cloud.is_faint) or cloud in drawn.means
        draw_cloud(ax, cloud, opacity, is_above)
    large = fit_ellipses(ax, drawn.groups)
    return [*lines, *(draw_numbers(ax, own) for own in drawn.described)], large


def _draw_classifier_parts(
    ax: Axes, seen: Scene, boundaries: Any, index: list[int], map: str
) -> tuple[list[np.ndarray], list[Any]]:
    """Draw boundaries and confusing inputs; return points of the lines, and the pictures that lie beside points."""
    if boundaries is False and seen.confusing is None:
        return [], []
    # They are lines and points of inputs, which have no masses.
    factor = find_scale_factor(check_map(map)[0], as_decomposition(seen.est).correlations[index])
    edges = [] if boundaries is False else [draw_boundaries(ax, seen.est, boundaries, index, factor)]
    return edges, draw_confusing(ax, seen, index, factor)


def _put_given(d: Decomposition, X: Any, Y: Any, given: Any) -> tuple[Any, Any]:
    """Put given variables beside the values to draw."""
    if d.f.needs_given and (X is None or Y is None):
        raise ValueError("X and Y must both be given, with the given variables of the same rows.")
    return match_given(X, Y, given, is_needed=d.f.needs_given)


def colour_sides(
    sides: tuple[DrawnCloud, DrawnCloud], seen: Scene, groups: Any, has_shapes: bool
) -> tuple[tuple[DrawnCloud, DrawnCloud], Grouping | None, list[Any]]:
    """Colour the points of x by groups or classes; return the groups, and what the legend shows of them."""
    n = sides[0].points.given
    if groups is not None:
        grouping = read_groups(groups, n, seen.est)
        is_written = set(grouping.legend) <= {str(label) for label in sides[1].labels}
        return colour_by_group(sides, grouping), grouping, [] if is_written else list_group_handles(grouping.legend)
    if seen.classes is None:
        return sides, None, []
    sides = colour_by_class(sides, seen.classes, seen.colours)
    of_classes = read_groups(seen.classes, n, seen.est, "classes") if has_shapes else None
    return sides, of_classes, _make_class_handles(sides, seen.colours)


def add_columns(
    d: Decomposition,
    sides: tuple[DrawnCloud, DrawnCloud],
    data: tuple[Any, Any],
    map: str,
    index: list[int],
    variables: bool | None,
) -> tuple[tuple[DrawnCloud, DrawnCloud], list[SideColumns]]:
    """Find what is drawn of the columns of both sides, and make the rows of sides that have some a background."""
    if variables is not None:
        check_flag(variables, "variables")
    if variables is False:
        return sides, []
    found = [
        find_side_columns(functions, rows, values, scaling, d.correlations[index], index, bool(variables))
        for functions, rows, values, scaling in zip((d.f, d.g), sides, data, check_map(map), strict=True)
    ]
    x, y = (rows if side is None else side.rows for rows, side in zip(sides, found, strict=True))
    return (x, y), [side for side in found if side is not None]


def _make_class_handles(sides: tuple[DrawnCloud, DrawnCloud], colour: dict[Any, str]) -> list[Patch]:
    """Make a legend of the classes, unless they are written in the picture."""
    if set(colour) <= set(sides[1].labels) or len(colour) > 20:
        return []
    return [Patch(color=value, label=one_line(name)) for name, value in colour.items()]


def make_tips(
    sides: tuple[DrawnCloud, DrawnCloud], arrows: Any, shown: tuple[bool, bool], size: str | None
) -> tuple[DrawnCloud, DrawnCloud]:
    """Make the points of some sides the tips of arrows, which are small unless sizes mean something."""
    if arrows is not None and (not isinstance(arrows, str) or arrows not in ARROWS):
        raise ValueError(f'arrows must be "rows", "columns" or "both", got {short_repr(arrows)}.')
    is_arrow = (False, False) if arrows is None else ARROWS[arrows]
    if arrows is not None and not any(np.logical_and(is_arrow, shown)):
        raise ValueError(f"arrows must be of a side that is drawn, got {arrows!r}.")
    x, y = (
        replace(side, area=np.full(len(side.xy), TIP_AREA_POINTS)) if has_arrows and size is None else side
        for side, has_arrows in zip(sides, is_arrow, strict=True)
    )
    return x, y


def draw_biplot_arrows(ax: Axes, tips: Sequence[DrawnCloud]) -> list[np.ndarray]:
    """Draw arrows from the centre to points, and return points of them, which no label may cover."""
    ends = [end for side in tips for end in zip(side.xy, side.list_colours(), strict=True)]
    lines = [(np.vstack([np.zeros(2), xy]), colour) for xy, colour in ends]
    for line, colour in lines:
        draw_number(ax, line, colour)
    return [sample_lines([line for line, _ in lines], N_ARROW_POINTS)]


def note_arrows(arrows: str | None, map: str) -> list[str]:
    """Say how arrows are read in a map."""
    if arrows is None:
        return []
    if map == "symmetric":  # which is no biplot: the product of two principal coordinates counts correlations twice
        return ["arrows show directions; this map is not a biplot"]
    return ["the projection of a point of the other side on an arrow shows how far the cell is above independence"]
