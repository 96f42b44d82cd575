"""Confidence ellipses of the labels of a table, by the bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse

from correspondence.plot.drawn_clouds import DrawnCloud
from correspondence.plot.hidden_ellipses import SPREAD
from correspondence.plot.label_choice import find_labelled
from correspondence.results.points import Bootstrap, Ellipses

__all__ = ["draw_spreads", "pair_with_ellipses"]


def pair_with_ellipses(
    clouds: tuple[DrawnCloud, DrawnCloud], bootstrap: Bootstrap, axes: tuple[int, ...], level: float
) -> list[tuple[DrawnCloud, Ellipses]]:
    """Pair the clouds in principal coordinates with the ellipses of their points."""
    if len(axes) < 2:
        raise ValueError("ellipses must be None on only one axis, because they need a plane.")
    sides = zip(clouds, (bootstrap.row_ellipses, bootstrap.column_ellipses), strict=True)
    spreads = [(cloud, of_side((axes[0], axes[1]), level)) for cloud, of_side in sides if cloud.is_principal]
    if not spreads:
        raise ValueError('map must have points in principal coordinates for ellipses, such as "symmetric".')
    if any(cloud.points.given != len(ellipses.width) for cloud, ellipses in spreads):
        raise ValueError("ellipses must be those of the points drawn, got those of another table.")
    return spreads


def draw_spreads(ax: Axes, spreads: Sequence[tuple[DrawnCloud, Ellipses]], chosen: Sequence[Any] | None) -> None:
    """Draw the ellipses of the points of some clouds, or of those with some labels."""
    found = None if chosen is None else find_labelled([cloud for cloud, _ in spreads], chosen, "ellipses_of")
    for j, (cloud, ellipses) in enumerate(spreads):
        shapes = np.column_stack([ellipses.width, ellipses.height, ellipses.angle])[cloud.points.rows]
        is_chosen = np.ones(len(shapes), bool) if found is None else found[j] >= 0
        for xy, (width, height, angle) in zip(cloud.xy[is_chosen], shapes[is_chosen], strict=True):
            if np.isfinite(width):
                style: dict[str, Any] = {"fc": cloud.colour, "ec": cloud.colour, "alpha": 0.12, "lw": 0.8}
                ax.add_patch(Ellipse(xy, width, height, angle=angle, gid=SPREAD, **style))
    if spreads:
        ax.autoscale_view()
