"""What is drawn over points: decision boundaries, rings around confusing inputs, thumbnails, and lines of orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

from correspondence.plot.drawn_clouds import DrawnCloud, add_zero_height
from correspondence.plot.style import make_outline
from correspondence.scene.classes import Scene, choose_boundary_pairs
from correspondence.scene.colours import choose_class_colours

__all__ = ["Thumbnail", "draw_boundaries", "draw_confusing", "draw_orders"]

THUMBNAIL_SIZE_POINTS = 34.0
BOUNDARY_COLOUR = "0.15"
BOUNDARY_DASHES = (0, (5, 2))


def draw_boundaries(ax: Axes, est: Any, boundaries: Any, index: list[int], factor: np.ndarray) -> np.ndarray:
    """Draw where two classes are equally likely, from where no other is possible to where a third is as likely.

    Parameters
    ----------
    ax : Axes
        Draw on these axes.
    est : ClassifierCA
        The classifier, as a function of beliefs.
    boundaries : True or list of (label, label)
        The pairs of classes, as `plane` takes them.
    index : list of int
        The components drawn, counted from 0.
    factor : ndarray
        What standard coordinates are multiplied by.

    Returns
    -------
    ndarray of shape (m, 2)
        Points of the lines, which nothing should cover.
    """
    outline = [make_outline(ax, 2.6, 0.7)]
    drawn = [np.empty((0, 2))]
    has_many = hasattr(est, "classes_") and len(est.classes_) > 3
    colours = choose_class_colours(est.classes_, nominal=True) if has_many else {}
    for i, (a, b) in enumerate(choose_boundary_pairs(est, boundaries)):
        points = est.boundary(a, b, 30)[:, index] * factor
        style: dict[str, Any] = {"lw": 1.2, "zorder": 2.5, "label": "_" if i else "boundary"}
        if len(index) == 1:
            ax.axvline(points[0, 0], color=BOUNDARY_COLOUR, ls=BOUNDARY_DASHES, **style)
            continue
        if colours:  # dashes in the colours of both classes show to which of many lines they belong
            below = style | {"label": "_", "zorder": 2.4}
            ax.plot(points[:, 0], points[:, 1], path_effects=outline, color=colours[b], **below)
        style |= {"color": colours.get(a, BOUNDARY_COLOUR), "path_effects": [] if colours else outline}
        ax.plot(points[:, 0], points[:, 1], ls=BOUNDARY_DASHES, **style)
        drawn.append(points)
    return np.vstack(drawn)


class Thumbnail(AnnotationBbox):
    """A small picture beside a point, placed like a label."""

    def __init__(self, image: np.ndarray, xy: Sequence[float], colour: Any) -> None:
        zoom = THUMBNAIL_SIZE_POINTS / max(image.shape[:2])
        shown = OffsetImage(image, zoom=zoom, cmap="gray", interpolation="nearest")
        frame = {"edgecolor": colour, "linewidth": 1.2}
        super().__init__(
            shown, (xy[0], xy[1]), (0, 0), boxcoords="offset points", box_alignment=(0, 0), pad=0, bboxprops=frame
        )
        self.set_zorder(3.5)
        self.set_in_layout(False)

    def set_position(self, xy: Sequence[float]) -> None:
        """Put the lower left corner at an offset, in points, from the marked point."""
        self.xybox = (float(xy[0]), float(xy[1]))


def draw_confusing(ax: Axes, seen: Scene, index: list[int], factor: np.ndarray) -> list[tuple[Thumbnail, np.ndarray]]:
    """Draw rings around the confusing inputs, and return their pictures with the points beside which they belong."""
    if seen.confusing is None:
        return []
    xy = add_zero_height(seen.confusing.position[:, index] * factor)
    ax.scatter(
        xy[:, 0], xy[:, 1], s=40, facecolors="none", edgecolors="0.1", linewidths=1.1, zorder=3, label="confusing"
    )
    if seen.images is None:
        return []
    frames = [seen.colours.get(first, "0.1") for first in seen.confusing.pairs[:, 0].tolist()]
    pictures = [(Thumbnail(*parts), parts[1]) for parts in zip(seen.images, xy, frames, strict=True)]
    for thumbnail, _ in pictures:
        ax.add_artist(thumbnail)
    return pictures


def draw_orders(ax: Axes, est: Any, sides: Sequence[DrawnCloud], shown: Sequence[DrawnCloud]) -> list[str]:
    """Join the labels of the sides shown that an analysis has in order; return what the caption says of that."""
    is_drawn = False
    for own, cloud in zip(("rows", "columns"), sides, strict=True):
        if cloud not in shown:
            continue
        levels = getattr(est, "ordered_", {}).get(own, [])
        place = {} if cloud.points.labels is None else {str(label): i for i, label in enumerate(cloud.points.labels)}
        line = [place[str(level)] for level in levels if str(level) in place]
        if len(line) > 2:
            ax.plot(*cloud.xy[line].T, color=cloud.colour, lw=1.1, alpha=0.65, zorder=2.2, gid="ordered")
            is_drawn = True
    return ["lines join labels in their order"] if is_drawn else []
