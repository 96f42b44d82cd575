"""Parts that planes share: points, lines through the centre, titles of axes, the legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb

from correspondence.core.decomposition import as_decomposition
from correspondence.plot.drawn_clouds import DrawnCloud
from correspondence.scene.colours import GREY
from correspondence.scene.many_columns import has_many_columns, write_axis_title

__all__ = ["add_legend", "draw_cloud", "draw_cross", "label_axes", "list_axis_titles"]

FAINT_ALPHAS = ((500, 0.3), (3000, 0.2), (20_000, 0.12), (np.inf, 0.06))  # of rows behind their columns, up to a number
COLOURED_ALPHA = 2.0  # times as opaque, so that faint rows show their colours
MAX_LARGE_HANDLES = 9  # in a legend
HANDLE_LETTERS, GAP_LETTERS = 7.6, 3.6  # the width of a mark with the gap after it, and of the gap alone, in letters
PADDING_LETTERS = 2.4  # around a legend
LETTER_WIDTH = 0.55  # of a letter, by its height
MAX_WIDENING = 1.13  # of a plane that is alone in its figure, when the layout gives it all room


def draw_cross(ax: Axes) -> None:
    """Draw dashed lines through the centre."""
    ax.axhline(0, color="0.75", lw=0.8, ls="--", zorder=0)
    ax.axvline(0, color="0.75", lw=0.8, ls="--", zorder=0)


def draw_cloud(ax: Axes, cloud: DrawnCloud, alpha: float, is_above: bool = False) -> None:
    """Draw the points of a cloud, above arrows and paths if need be."""
    many = len(cloud.xy) > 200
    xy, area = cloud.xy, cloud.area
    if many and cloud.colours is not None:
        alpha = 0.45
    if cloud.is_faint:
        alpha = next(share for most, share in FAINT_ALPHAS if len(cloud.xy) <= most)
        if cloud.colours is not None:
            alpha *= COLOURED_ALPHA
        elif cloud.alphas is None:  # rows with the same values are drawn once, and stay faint
            xy, first = np.unique(xy.round(9), axis=0, return_index=True)
            area = area[first]
    colour: Any = cloud.colour if cloud.colours is None else cloud.colours
    if cloud.alphas is not None:
        colour = np.column_stack([np.tile(to_rgb(cloud.colour), (len(xy), 1)), cloud.alphas])
    ax.scatter(
        xy[:, 0],
        xy[:, 1],
        s=area,
        marker=cloud.marker,
        facecolors="none" if cloud.is_hollow else colour,
        edgecolors=colour,
        alpha=alpha if cloud.alphas is None else None,
        linewidths=1.1 if cloud.is_hollow else 0,
        zorder=2.8 if is_above else 1,
        label=cloud.name,
        rasterized=len(cloud.xy) > 5000,
    )


def list_axis_titles(d_or_est: Any, index: list[int]) -> list[str]:
    """List the titles of some axes, counted from 0."""
    if has_many_columns(d_or_est):
        return [write_axis_title(d_or_est, i) for i in index]
    d = as_decomposition(d_or_est)
    return [f"Axis {i + 1}: PIC {d.pics[i]:.4f}, {100 * d.inertia_ratios[i]:.1f} % of inertia" for i in index]


def label_axes(ax: Axes, texts: list[str]) -> None:
    """Write the axes' titles, and give both axes the same scale."""
    ax.set_xlabel(texts[0])
    if len(texts) == 2:
        ax.set_ylabel(texts[1])
    else:
        ax.set_yticks([])
    width, height = ax.dataLim.size
    ax.update_datalim(ax.dataLim.padded(0.1 * width, 0.1 * height).corners())  # equal scales may eat up margins
    ax.margins(0.02)
    shared = all(len(group.get_siblings(ax)) > 1 for group in (ax.get_shared_x_axes(), ax.get_shared_y_axes()))
    ax.set_aspect("equal", adjustable="box" if shared else "datalim")


def count_legend_columns(lengths: list[float], room: float, most: int) -> int:
    """Count the columns of a legend, read from left to right, that fit into a width."""
    for columns in range(min(most, len(lengths)), 1, -1):
        if sum(max(lengths[start::columns]) for start in range(columns)) - GAP_LETTERS <= room:
            return columns
    return 1


def order_by_lines(handles: Sequence[Any], columns: int) -> list[Any]:
    """Order what a legend shows such that it reads from left to right, though matplotlib fills columns downwards.

    Examples
    --------
    >>> order_by_lines("abcdefg", 3)
    ['a', 'd', 'g', 'b', 'e', 'c', 'f']
    """
    return [handle for start in range(columns) for handle in handles[start::columns]]


def add_legend(ax: Axes, more: Sequence[Any], is_beside: bool = False) -> None:
    """Add a legend of all kinds of points, and of more handles, above the plane or beside it."""
    handles = [*ax.get_legend_handles_labels()[0], *more]
    size = 8.5 if len(handles) > MAX_LARGE_HANDLES else 10.0
    lengths = [len(str(handle.get_label())) + HANDLE_LETTERS for handle in handles]
    widening = MAX_WIDENING if len(ax.figure.axes) == 1 else 1.0
    # In letters; a wider legend would be cut off.
    room = widening * 72 * ax.bbox.width / ax.figure.dpi / (LETTER_WIDTH * size) - PADDING_LETTERS
    columns = count_legend_columns(lengths, room, 6 if more else 4)
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "ncols": columns, "fontsize": size}
    if is_beside:
        place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "fontsize": 8.5, "labelspacing": 0.6}
    if not is_beside:
        handles = order_by_lines(handles, columns)
    legend = ax.legend(handles=handles, frameon=False, handletextpad=0.2, **place)
    for text in legend.get_texts():
        text.set_parse_math(False)
    for handle in legend.legend_handles:
        if isinstance(handle, PathCollection):
            handle.set_sizes([36])
            handle.set_alpha(0.9)
            if len(handle.get_facecolor()) > 1:
                handle.set_facecolor(GREY)  # each point has its own
