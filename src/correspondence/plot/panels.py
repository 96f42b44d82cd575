"""Small multiples: the same plane once for each group, the others grey behind."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from correspondence._util.arguments import check_whole
from correspondence._util.text import one_line, short_repr
from correspondence.core.decomposition import as_decomposition
from correspondence.plot.captions import CAPTION_SIZE_POINTS
from correspondence.plot.drawn_clouds import DrawnCloud, make_row_cloud
from correspondence.plot.groups import (
    DrawnGroups,
    check_ellipses,
    draw_group_shapes,
    fit_ellipses,
    list_group_notes,
    make_drawn_groups,
)
from correspondence.plot.hidden_ellipses import note_hidden_ellipses
from correspondence.plot.legends import LETTER_WIDTH
from correspondence.plot.many_columns import MAX_DOTS, draw_rows, thin_out_rows
from correspondence.plot.plane_parts import draw_cloud, draw_cross, list_axis_titles
from correspondence.plot.style import find_font_scale, fit_size, scale_letters
from correspondence.scene.classes import make_scene
from correspondence.scene.colours import darken_colour
from correspondence.scene.groups import find_row_weights, read_groups
from correspondence.scene.many_columns import has_many_columns, make_columns_scene
from correspondence.scene.points import check_axes, check_map

__all__ = ["multiples"]

PANEL_INCHES, MARGIN_INCHES, NOTE_LINE_INCHES = 2.6, 0.7, 0.13
TITLE_INCHES, TOP_INCHES = 0.24, 0.1
CAPTION_LETTER_POINTS = 3.4  # the width of a letter
MIN_WIDTH_INCHES, MIN_PANEL_INCHES = 5.2, 1.2
MAX_ASPECT = 1.6  # of a panel, in either direction
MIN_TITLE_LETTERS, MAX_TITLE_LETTERS, TITLE_SIZE_POINTS = 8, 28, 10.0
OTHERS_COLOUR, OTHERS_ALPHA = "0.75", 0.6


def multiples(
    d_or_est: Any,
    groups: Any,
    axes: tuple[int, int] = (1, 2),
    map: str = "symmetric",
    figure: Figure | None = None,
    *,
    X: Any = None,
    ellipses: str | None = None,
    hulls: bool | float = False,
    level: float = 0.95,
    max_panels: int = 12,
) -> Figure:
    """Draw the plane of the individuals once for each group, with the others grey behind.

    All panels have the same limits. The title of a panel tells the group and how many points it has; a cross marks
    its mean.

    Parameters
    ----------
    d_or_est : Decomposition or fitted estimator
        Draw the rows, or the values X, of this decomposition.
    groups : array-like, series or fitted Clusters
        One label for each individual, as `plane` takes them. Points without a group are in no panel but behind all.
    axes : (int, int)
        Draw these two components, counted from 1.
    map : str
        How points are scaled, as in `plane`.
    figure : Figure, optional
        Draw on this figure instead of a new one.
    X : array-like, optional
        Draw these values. They are needed for functions of anything but labels; of many columns, X are other rows than
        those of the fit.
    ellipses : {"confidence", "concentration"}, optional
        Draw an ellipse of each group, as in `plane`.
    hulls : bool or float
        Draw the hull of each group, as in `plane`.
    level : float
        Draw ellipses at this level.
    max_panels : int
        Draw at most this many groups, those with the most points; the others are counted below the panels.

    Returns
    -------
    Figure
        The figure with a panel for each group.

    Examples
    --------
    >>> import correspondence as co
    >>> survey = co.datasets.load_poison()
    >>> mca = co.MCA().fit(survey, supplementary=["Age", "Time", "Sick", "Sex"])
    >>> figure = co.plot.multiples(mca, survey["Sick"], ellipses="concentration")
    >>> [ax.get_title() for ax in figure.axes]
    ['no (17)', 'yes (38)']
    """
    check_whole(max_panels, "max_panels", 1)
    index = check_axes(as_decomposition(d_or_est), axes)
    if len(index) < 2:
        raise ValueError(f"axes must be two components, got {axes}. For one, plot.plane draws groups on a line.")
    cloud, weights = place_individuals(d_or_est, index, map, X)
    grouping = read_groups(groups, cloud.points.given, d_or_est)
    share = check_ellipses(ellipses, hulls, 2, has_groups=True)
    if ellipses is not None and not isinstance(ellipses, str):
        raise TypeError(f'ellipses must be "confidence" or "concentration", got {short_repr(ellipses)}.')
    drawn = make_drawn_groups(cloud, grouping, ellipses, level, share, weights)
    sizes = drawn.shapes.n_members
    largest = np.argsort(-sizes, kind="stable")[: min(max_panels, np.count_nonzero(sizes))]
    if not len(largest):
        raise ValueError("groups must have a member with a place in the plane, got none.")
    figure, panels = make_panels(figure, len(largest), cloud.xy)
    behind = replace(_thin_out(cloud), colour=OTHERS_COLOUR)
    large: list[str] = []
    for ax, j in zip(panels, np.sort(largest).tolist(), strict=True):
        shown = replace(drawn, chosen=[j])
        draw_panel(ax, cloud, behind, shown, j)
        large += fit_ellipses(ax, shown)
    notes = list_group_notes(drawn, large) + _note_groups_left_out(sizes, largest)
    hidden = note_hidden_ellipses(panels, 72 * np.asarray(panels[0].bbox.size) / figure.dpi)
    notes += [hidden] if hidden else []
    write_below(figure, list_axis_titles(d_or_est, index), notes)
    return figure


def place_individuals(d_or_est: Any, index: list[int], map: str, X: Any) -> tuple[DrawnCloud, np.ndarray | None]:
    """Place the individuals of any analysis, and find how many times each counts, if that is known."""
    scaling = check_map(map)[0]
    if not has_many_columns(d_or_est):
        seen = make_scene(d_or_est, X, None, None, False)
        return make_row_cloud(as_decomposition(seen.est), index, map, seen.X), None
    scene = make_columns_scene(d_or_est, X)
    if scene.rows is None:
        raise ValueError("X must be given, because the rows of the fit are not in memory.")
    weights = find_row_weights(d_or_est, scene)
    return replace(draw_rows(scene, scaling, index), is_faint=False), weights


def make_panels(figure: Figure | None, n: int, xy: np.ndarray) -> tuple[Figure, Sequence[Axes]]:
    """Make n panels with common limits, of the shape of the cloud."""
    width, columns = choose_width(n)
    rows = -(-n // columns)
    wide, high = np.maximum(np.ptp(xy, axis=0), 1e-9)
    aspect = float(np.clip(high / wide, 1 / MAX_ASPECT, MAX_ASPECT))
    if figure is None:
        panel = (width - MARGIN_INCHES) / columns
        height = (min(panel, PANEL_INCHES) * aspect + 0.3) * rows + MARGIN_INCHES
        figure = plt.figure(figsize=(width, height), layout="constrained")
    elif not isinstance(figure, Figure):
        raise TypeError(f"figure must be a matplotlib Figure, got {type(figure).__name__}.")
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel().tolist()
    for ax in panels[n:]:
        ax.remove()
    for ax in panels[max(0, n - columns) : n]:  # the lowest of each column
        ax.xaxis.set_tick_params(labelbottom=True)
    return figure, panels[:n]


def choose_width(n: int) -> tuple[float, int]:
    """Choose the width of a figure of n panels, in inches, and how many stand side by side."""
    columns = n if n <= 3 else int(np.ceil(np.sqrt(n)))
    width = max(PANEL_INCHES * columns + MARGIN_INCHES, MIN_WIDTH_INCHES)
    asked = fit_size((width, width))[0]  # by a style sheet
    return asked, min(columns, max(1, int((asked - MARGIN_INCHES) / MIN_PANEL_INCHES)))


def draw_panel(ax: Axes, cloud: DrawnCloud, behind: DrawnCloud, drawn: DrawnGroups, j: int) -> None:
    """Draw one group before all points."""
    grouping, shapes = drawn.grouping, drawn.shapes
    own = np.flatnonzero(grouping.codes[cloud.points.rows] == j)
    draw_cross(ax)
    draw_cloud(ax, behind, alpha=OTHERS_ALPHA)
    draw_group_shapes(ax, drawn)
    members = replace(_thin_out(cloud.take(own).forget_labels()), colour=grouping.colours[j])
    draw_cloud(ax, members, alpha=0.9 if len(own) <= 500 else 0.5, is_above=True)
    ink = darken_colour(grouping.colours[j])
    ax.plot(*shapes.means[j], "P", color=ink, ms=9 * find_font_scale(), mec="white", mew=0.6, zorder=3)
    size = scale_letters(TITLE_SIZE_POINTS)
    room = int(72 * ax.bbox.width / ax.figure.dpi / (LETTER_WIDTH * size)) - len(f" ({len(own):,})")
    title = f"{one_line(grouping.names[j], max(MIN_TITLE_LETTERS, min(room, MAX_TITLE_LETTERS)))} ({len(own):,})"
    ax.set_title(title, color=ink, fontsize=size, parse_math=False)
    ax.set_aspect("equal", adjustable="box")


def _thin_out(cloud: DrawnCloud) -> DrawnCloud:
    return thin_out_rows(cloud) if len(cloud.xy) > MAX_DOTS else cloud


def write_below(figure: Figure, titles: list[str], notes: list[str]) -> None:
    """Write the titles of the axes, and a small text below all panels, where the layout leaves room for them."""
    width, height = figure.get_size_inches()
    size, letters = scale_letters(CAPTION_SIZE_POINTS), scale_letters(TITLE_SIZE_POINTS)
    scale = size / CAPTION_SIZE_POINTS
    lines = textwrap.wrap("; ".join(notes), max(30, int(72 * width / (scale * CAPTION_LETTER_POINTS)) - 6))
    room = scale * NOTE_LINE_INCHES * len(lines) + 0.08
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        below = (room + TITLE_INCHES) / height
        engine.set(rect=(0, below, 1, 1 - below - TOP_INCHES / height))
    figure.supxlabel(titles[0], y=room / height, va="bottom", fontsize=letters)
    figure.supylabel(titles[1], fontsize=letters)
    if lines:
        text = "\n".join([lines[0][:1].upper() + lines[0][1:], *lines[1:]])
        figure.text(0.12 / width, 0.05 / height, text, fontsize=size, color="0.4", va="bottom", gid="caption")


def _note_groups_left_out(sizes: np.ndarray, largest: np.ndarray) -> list[str]:
    """Say how many groups and points have no panel."""
    left = np.setdiff1d(np.flatnonzero(sizes), largest)
    if not len(left):
        return []
    noun = "group" if len(left) == 1 else "groups"
    return [f"not drawn: {len(left):,} smaller {noun} with {int(sizes[left].sum()):,} points"]
