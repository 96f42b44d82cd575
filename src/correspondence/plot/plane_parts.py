"""Parts that planes share: points, lines through the centre, titles of axes, the legend."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from correspondence.core.decomposition import as_decomposition
from correspondence.plot.drawn_clouds import NOT_IN_LEGEND, DrawnCloud
from correspondence.plot.style import choose_ink, find_font_scale
from correspondence.scene.many_columns import has_many_columns, write_axis_title

__all__ = ["choose_opacity", "draw_cloud", "draw_cross", "label_axes", "list_axis_titles"]

FAINT_ALPHAS = ((500, 0.3), (3000, 0.2), (20_000, 0.12), (np.inf, 0.06))  # of rows behind their columns, up to a number
COLOURED_ALPHA = 2.0  # times as opaque, so that faint rows show their colours


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
    colour: Any = choose_ink(ax, cloud.colour) if cloud.colours is None else cloud.colours
    if cloud.alphas is not None:
        colour = np.column_stack([np.tile(to_rgb(choose_ink(ax, cloud.colour)), (len(xy), 1)), cloud.alphas])
    is_named = cloud.name != NOT_IN_LEGEND
    ax.scatter(
        xy[:, 0],
        xy[:, 1],
        s=area * find_font_scale() ** 2,
        marker=cloud.marker,
        facecolors="none" if cloud.is_hollow else colour,
        edgecolors=colour,
        alpha=alpha if cloud.alphas is None else None,
        linewidths=1.1 * find_font_scale() if cloud.is_hollow else 0,
        zorder=2.8 if is_above else 1,
        label=f" {cloud.name}" if is_named and cloud.name.startswith("_") else cloud.name,  # matplotlib leaves out _
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


def choose_opacity(size: str | None, has_scale: bool = False) -> float:
    """Choose how opaque points are: large ones cover each other, unless their shades must be those of a colour bar."""
    return 0.9 if size is None else 0.7 if has_scale else 0.45
