"""Labels and thumbnails beside the points of a plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.text import Annotation

from correspondence._util.text import one_line
from correspondence.plot.drawn_clouds import DrawnCloud
from correspondence.plot.label_choice import LabelChoice
from correspondence.plot.label_placement import MAX_REACH_POINTS, LabelPlacing, Obstacles
from correspondence.plot.label_wordings import list_wordings
from correspondence.plot.overlays import Thumbnail
from correspondence.plot.style import choose_ink, find_font_scale, make_outline, scale_letters

__all__ = ["GROUP_NAME", "LEADERS", "MAX_DOTS_HEEDED", "write_labels"]

GROUP_NAME, LEADERS = "name of a group", "lines to labels"
MAX_DOTS_HEEDED = 100  # points without names; of more, which are a background, labels may cover any
PICTURE_RADIUS_POINTS, LINE_RADIUS_POINTS = 3.2, 0.5
MAX_GROUPS_NAMED = 12  # whose names are written in any case


def write_labels(
    ax: Axes,
    clouds: list[DrawnCloud],
    written: list[DrawnCloud],
    most: int,
    choice: LabelChoice,
    lines: np.ndarray,
    pictures: Sequence[tuple[Thumbnail, np.ndarray]] = (),
    reach: float = MAX_REACH_POINTS,
) -> LabelPlacing | None:
    """Write labels beside their points, clear of each other and of points on lines, as far as there is room nearby.

    Parameters
    ----------
    ax : Axes
        Write on these axes.
    clouds, written : list of DrawnCloud
        All points, and those whose labels may be written.
    most : int
        Write at most this many labels.
    choice : LabelChoice
        Which labels are asked for, and in which order they find room.
    lines : ndarray of shape (m, 2)
        Points of lines that no label may cover.
    pictures : sequence of (Thumbnail, ndarray of shape (1, 2))
        Images, with the points beside which they belong.
    reach : float
        How many points labels are at most from their markers, unless they are listed. The names of groups are written
        in any case, if there are not many of them.

    Returns
    -------
    LabelPlacing or None
        What places the labels whenever the picture is drawn; None if there is nothing to place.
    """
    is_named = [any(label is not None for label in cloud.labels) for cloud in clouds]
    outline = [] if all(is_named) else [make_outline(ax, 2, 0.8)]  # of labels over dots
    heeded = [cloud for cloud, named in zip(clouds, is_named, strict=True) if named or len(cloud.xy) <= MAX_DOTS_HEEDED]
    if not any(is_named) and not pictures:
        return None
    points = [(cloud, i) for cloud in heeded for i in range(len(cloud.xy))]
    weight, n_unnamed = choice.weigh(heeded, written)
    wanted = np.argsort(-weight, kind="stable")[: np.count_nonzero(~np.isnan(weight))]
    chosen = wanted[:most]
    labels: list[Any] = [write_label(ax, points[i][0], points[i][1], outline) for i in chosen]
    of_groups = np.array([points[i][0].names_groups for i in chosen] + [False] * len(pictures), dtype=bool)
    must = of_groups & (of_groups.sum() <= MAX_GROUPS_NAMED)
    leaders = LineCollection([], colors="0.5", linewidths=0.5, zorder=0.5, gid=LEADERS)
    ax.add_collection(leaders, autolim=False)
    index = np.concatenate([chosen, len(points) + np.arange(len(pictures))])
    placing = LabelPlacing(
        labels + [thumbnail for thumbnail, _ in pictures],
        leaders,
        index,
        collect_obstacles(heeded, [at for _, at in pictures], lines),
        reach if choice.listed is None else MAX_REACH_POINTS,
        must,
        list_wordings([points[i][0].labels[points[i][1]] for i in chosen], [points[i][0].names_groups for i in chosen]),
    )
    placing.unnamed = choice.describe_unnamed(n_unnamed + (len(wanted) - len(chosen) if most else 0))
    ax.add_artist(placing)
    return placing


def collect_obstacles(clouds: Sequence[DrawnCloud], pictures: Sequence[np.ndarray], lines: np.ndarray) -> Obstacles:
    """Collect what labels must avoid: markers (those without names may be covered), images and lines."""
    scale = find_font_scale()
    sizes = [len(cloud.xy) for cloud in clouds]
    is_named = [any(label is not None for label in cloud.labels) for cloud in clouds]
    radius = [scale * np.sqrt(cloud.area) / 2 for cloud in clouds]
    n, m = len(pictures), len(lines)
    return Obstacles(
        np.vstack([np.empty((0, 2)), *(cloud.xy for cloud in clouds), *pictures, lines]),
        np.concatenate([*radius, np.full(n, PICTURE_RADIUS_POINTS), np.full(m, LINE_RADIUS_POINTS)]),
        np.concatenate([np.repeat(np.array(is_named, dtype=bool), sizes), np.ones(n + m, bool)]),
        np.concatenate([np.ones(sum(sizes) + n, bool), np.zeros(m, bool)]),
    )


def write_label(ax: Axes, cloud: DrawnCloud, i: int, outline: list[Any]) -> Annotation:
    """Write the label of a point, to be placed later."""
    assert cloud.points.labels is not None
    colours = None if cloud.has_scale else cloud.colours
    label = ax.annotate(
        one_line(cloud.points.labels[i]),
        cloud.xy[i],
        (0, 0),
        textcoords="offset points",
        fontsize=scale_letters(cloud.font_size),
        color=choose_ink(ax, cloud.colour if colours is None else colours[i]),
        fontweight="normal" if colours is None else "bold",
        multialignment="center",
        linespacing=1.0,
        va="bottom",  # the place is that of the lower left corner, not of the baseline
        parse_math=False,
        path_effects=outline,
    )
    label.set_in_layout(False)
    label.set_gid(GROUP_NAME if cloud.names_groups else None)
    return label
