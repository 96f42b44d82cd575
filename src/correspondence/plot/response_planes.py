"""The biplot of a non-symmetric analysis: predictors as points, labels of the response as arrows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from correspondence._util.arguments import check_whole
from correspondence._util.text import short_repr
from correspondence.core.asymmetric import find_asymmetric
from correspondence.core.decomposition import Decomposition
from correspondence.plot.column_marks import draw_number, sample_lines
from correspondence.plot.drawn_clouds import (
    DrawnCloud,
    list_supplementary,
    make_sides,
    note_unplaced,
    place_supplementary,
    size_sides,
)
from correspondence.plot.groups import split_ellipses
from correspondence.plot.label_choice import check_sides, read_labels
from correspondence.plot.labels import write_labels
from correspondence.plot.layout import arrange_plane
from correspondence.plot.legends import collect_legend
from correspondence.plot.number_colours import colour_sides_by_numbers, draw_colour_bar, note_numbers, read_colour
from correspondence.plot.plane_parts import choose_opacity, draw_cloud, draw_cross, label_axes
from correspondence.plot.spreads import draw_spreads, pair_with_ellipses
from correspondence.plot.style import make_axes
from correspondence.results.asymmetric import AsymmetricPoints
from correspondence.results.points import Bootstrap, Points
from correspondence.scene.points import check_axes, check_map, check_names, needs_mass
from correspondence.scene.triplot import choose_arrow_factor

__all__ = ["draw_response_plane"]

TIP_AREA_POINTS = 4.0
TIP_WEIGHT = 1e9  # names of arrows are written first
N_ARROW_POINTS = 48  # points of an arrow that labels keep clear of


def draw_response_plane(
    d_or_est: Any,
    axes: tuple[int, int],
    map: str | None,
    ax: Axes | None,
    *,
    rows: bool,
    columns: bool,
    size: str | None,
    colour: Any,
    ellipses: Bootstrap | str | None,
    ellipses_of: Sequence[Any] | None,
    level: float,
    supplementary: Points | Sequence[Points],
    labels: Any,
    max_labels: int,
    names: Sequence[str] | None,
) -> Axes:
    """Draw the plane of an analysis with a response; the parameters are those of `plane`."""
    d = find_asymmetric(d_or_est)
    assert d is not None
    response = int(d.response == "columns")  # its position among the sides
    map = ("colprincipal", "rowprincipal")[response] if map is None else map
    scalings = check_map(map)
    if any(needs_mass(scaling) for scaling in scalings):
        raise ValueError(f'map must be without masses with a response, such as "rowprincipal", got {map!r}.')
    # For what draws points this is a decomposition like any other: the roots of its inertias are the scale.
    drawn: Any = Decomposition(d.pics, d.f, d.g, d.total, d.n)
    index = check_axes(drawn, axes)
    check_whole(max_labels, "max_labels", 0)
    called = check_names(("rows", "columns") if names is None else names)
    check_sides(rows, columns)
    choice, numbers = read_labels(labels), read_colour(colour, (rows, columns))
    pair = size_sides(make_sides(d_or_est, drawn, index, map, called, None, None), size)
    pair, scale = colour_sides_by_numbers(pair, numbers)
    bootstrap = read_bootstrap(ellipses)
    spreads = [] if bootstrap is None else pair_with_ellipses(pair, bootstrap, axes[: len(index)], level)
    placed = [place_predictor(points, index) for points in list_supplementary(supplementary)]
    sides, lines, factor = list(pair), list[np.ndarray](), 1.0
    of_predictor = sides[1 - response]
    if scalings[response] == "standard":
        factor = choose_arrow_factor(np.vstack([cloud.xy for cloud in (of_predictor, *placed)]), sides[response].xy)
        sides[response], lines = shrink_to_arrows(sides[response], factor)
    shown = [side for side, is_shown in zip(sides, (rows, columns), strict=True) if is_shown]
    lines = lines if sides[response] in shown else []
    is_own_figure, ax = ax is None, make_axes(ax, (8, 6.5) if len(index) == 2 else (8, 2.5))
    draw_cross(ax)
    for cloud in (*shown, *placed):
        draw_cloud(ax, cloud, choose_opacity(size, numbers is not None))
    for line, own in zip(lines, sides[response].list_colours(), strict=False):
        draw_number(ax, line, own)
    draw_spreads(ax, [pair for pair in spreads if pair[0] in shown], ellipses_of)
    label_axes(ax, [f"Axis {i + 1}: inertia {d.pics[i]:.4f}, {100 * d.inertia_ratios[i]:.1f} % of tau" for i in index])
    draw_colour_bar(ax, scale, numbers)
    written = [*(side for side in choice.take(sides[:1], sides[1:]) if side in shown), *placed]
    taken = sample_lines(lines, N_ARROW_POINTS)
    placing = write_labels(ax, [*shown, *placed], written, max_labels, choice, taken)
    notes = [write_response_caption(sides, response, factor, has_arrows=bool(lines)), *note_numbers(numbers, shown)]
    notes += note_unplaced(placed)
    arrange_plane(ax, collect_legend(ax), notes, placing, is_own_figure)
    return ax


def read_bootstrap(ellipses: Bootstrap | str | None) -> Bootstrap | None:
    """Return the bootstrap whose ellipses are drawn; there are no groups with a response."""
    bootstrap, kind = split_ellipses(ellipses)
    if kind is not None:
        raise ValueError(f"ellipses must be those of a bootstrap with a response, got {ellipses!r}.")
    return bootstrap


def place_predictor(points: Points, index: list[int], is_first: bool = True) -> DrawnCloud:
    """Place supplementary points of the predictor."""
    if not isinstance(points, AsymmetricPoints):
        raise TypeError(
            f"supplementary must be what CA.supplementary returned with a response, got {short_repr(points)}."
        )
    return place_supplementary(points, index, is_first=is_first)


def shrink_to_arrows(cloud: DrawnCloud, factor: float) -> tuple[DrawnCloud, list[np.ndarray]]:
    """Turn points into the tips of arrows, all multiplied by a factor."""
    xy = factor * cloud.xy
    weight = np.where(np.isfinite(cloud.weight), TIP_WEIGHT + cloud.weight, np.nan)
    tips = replace(cloud, xy=xy, area=np.full(len(xy), TIP_AREA_POINTS), weight=weight)
    return tips, [np.vstack([np.zeros(2), end]) for end in xy]


def write_response_caption(sides: Sequence[DrawnCloud], response: int, factor: float, has_arrows: bool) -> str:
    """Write what the distances and arrows mean."""
    of, by = sides[response].name, sides[1 - response].name
    if not has_arrows:
        return f"{by} predict {of}; distances are between probabilities of {of}".capitalize()
    text = (
        f"{by} predict {of}; on the arrow of one of the {of}, {by} further along it have a larger probability of it; "
        f"arrows are standard coordinates times {factor:g}"
    )
    return text[:1].upper() + text[1:]
