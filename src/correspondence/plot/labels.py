"""Labels and thumbnails beside the points of a plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation

from correspondence._util.text import one_line
from correspondence.plot.drawn_clouds import DrawnCloud
from correspondence.plot.label_placement import LabelPlacing
from correspondence.plot.overlays import Thumbnail

__all__ = ["GROUP_NAME", "MAX_GROUPS_NAMED", "write_labels"]

GROUP_NAME = "name of a group"
MAX_GROUPS_NAMED = 12  # whose names are written in any case


def write_labels(
    ax: Axes,
    clouds: list[DrawnCloud],
    written: list[DrawnCloud],
    most: int,
    pictures: Sequence[tuple[Thumbnail, np.ndarray]],
    lines: np.ndarray,
    reach: float = np.inf,
) -> LabelPlacing | None:
    """Write labels beside their points, clear of each other and of points on lines, as far as there is room nearby.

    The names of groups are written in any case, if there are not many of them.
    """
    named = [cloud for cloud in clouds if any(label is not None for label in cloud.labels)]  # labels may cover dots
    outline = [withStroke(linewidth=2, foreground="white", alpha=0.8)] if len(named) < len(clouds) else []
    clouds = named
    if not clouds:
        return None
    xy, area = np.vstack([cloud.xy for cloud in clouds]), np.concatenate([cloud.area for cloud in clouds])
    points = [(cloud, i) for cloud in clouds for i in range(len(cloud.xy))]
    weight = np.concatenate([cloud.weight if cloud in written else np.full(len(cloud.xy), np.nan) for cloud in clouds])
    chosen = np.argsort(-weight, kind="stable")[: min(most, np.count_nonzero(~np.isnan(weight)))]
    labels: list[Any] = [write_label(ax, points[i][0], points[i][1], outline) for i in chosen]
    of_groups = np.array([points[i][0].names_groups for i in chosen] + [False] * len(pictures), dtype=bool)
    labels += [thumbnail for thumbnail, _ in pictures]
    chosen = np.concatenate([chosen, len(xy) + np.arange(len(pictures))])
    xy = np.vstack([xy, *(at for _, at in pictures), lines])
    area = np.concatenate([area, np.full(len(pictures), 40.0), np.full(len(lines), 1.0)])
    leaders = LineCollection([], colors="0.6", linewidths=0.5, zorder=0.5)
    ax.add_collection(leaders, autolim=False)
    must = of_groups & (of_groups.sum() <= MAX_GROUPS_NAMED)
    placing = LabelPlacing(labels, leaders, chosen, xy, np.sqrt(area) / 2, reach, must)
    ax.add_artist(placing)
    return placing


def write_label(ax: Axes, cloud: DrawnCloud, i: int, outline: list[Any]) -> Annotation:
    """Write the label of a point, to be placed later."""
    assert cloud.points.labels is not None
    label = ax.annotate(
        one_line(cloud.points.labels[i]),
        cloud.xy[i],
        (0, 0),
        textcoords="offset points",
        fontsize=cloud.font_size,
        color=cloud.colour if cloud.colours is None else cloud.colours[i],
        fontweight="normal" if cloud.colours is None else "bold",
        va="bottom",  # the place is that of the lower left corner, not of the baseline
        parse_math=False,
        path_effects=outline,
    )
    label.set_in_layout(False)
    label.set_gid(GROUP_NAME if cloud.names_groups else None)
    return label
