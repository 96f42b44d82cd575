"""Labels beside their points, clear of each other: their places are found whenever a picture is drawn.

Libraries that place labels do it once, before the layout of the figure is final; in a grid of pictures, after a
resize or at another resolution their labels overlap again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backend_bases import RendererBase
from matplotlib.collections import LineCollection

__all__ = ["LabelPlacing"]

_ANGLES_IN_RADIANS = np.radians([45, -45, 135, -135, 0, 180, 90, -90, 22, -22, 158, -158, 68, 112, -68, -112])
_DISTANCES_IN_POINTS, _DIRECTIONS_IN_RADIANS = (
    grid.ravel() for grid in np.meshgrid([1, 4, 8, 13, 19, 26, 34, 44, 56, 70, 86.0], _ANGLES_IN_RADIANS, indexing="ij")
)
_ELBOW_ROOM = np.array([-5, -3, 5, 3])


class LabelPlacing(Artist):
    """Search for room for labels whenever the picture is drawn, because only then layout and size are known.

    It is drawn first on its axes, and is itself invisible. All lengths are in points. Labels for which there is no room
    within `reach` are not written, unless they must: these may be farther off, and over points or even other labels.

    Attributes
    ----------
    tell : callable or None
        Is called with the labels after each search, which shows those that have a place.
    """

    def __init__(
        self,
        labels: list[Any],
        leaders: LineCollection,
        index: np.ndarray,
        xy: np.ndarray,
        radius: np.ndarray,
        reach: float = np.inf,
        must: np.ndarray | None = None,
    ) -> None:
        super().__init__()
        self.must = np.zeros(len(labels), bool) if must is None else must
        self.tell: Callable[[list[Any]], None] | None = None
        self.labels, self.leaders, self.index, self.xy, self.radius = labels, leaders, index, xy, radius
        self.is_near = reach >= _DISTANCES_IN_POINTS
        self.seen = np.empty(0)
        self.set_zorder(-1)
        self.set_in_layout(False)

    def draw(self, renderer: RendererBase) -> None:
        """Place the labels, unless everything is where it was last time."""
        assert self.axes is not None
        pixels: Any = renderer.points_to_pixels(1)  # in a point
        centres = self.axes.transData.transform(self.xy) / pixels
        frame = np.array(self.axes.bbox.extents) / pixels
        seen = np.concatenate([centres.ravel(), frame, [pixels]])
        if len(seen) != len(self.seen) or np.abs(seen - self.seen).max() > 0.1:
            self.seen = seen
            for label in self.labels:
                label.set_visible(True)  # an invisible text has no size
            sizes = [np.array(label.get_window_extent(renderer).size) / pixels for label in self.labels]
            lines = self._place_labels(centres, frame, sizes)
            self.leaders.set_segments([self.axes.transData.inverted().transform(line * pixels) for line in lines])
            if self.tell is not None:
                self.tell(self.labels)
        self.stale = False

    def _place_labels(self, centres: np.ndarray, frame: np.ndarray, sizes: list[np.ndarray]) -> list[np.ndarray]:
        """Set the offsets of the labels, and return the lines that lead to those far off."""
        crowd = find_distinct_points(centres)
        markers = np.hstack([centres - self.radius[:, None], centres + self.radius[:, None]])[crowd]
        written, lines = np.empty((0, 4)), np.empty((0, 2))
        far = []
        for label, i, size, must in zip(self.labels, self.index, sizes, self.must, strict=True):
            boxes, leaders = list_places(centres[i], self.radius[i], size)
            if not must:
                boxes, leaders = boxes[self.is_near], leaders[self.is_near]
            taken = np.vstack([markers[crowd != i], written, np.hstack([lines, lines])])
            best = choose_place(boxes, leaders, taken, written, frame)
            if best is None and must:
                best = choose_place(boxes, leaders, written, written, frame)
                best = 0 if best is None else best
            label.set_visible(best is not None)
            if best is not None:
                label.set_position(tuple(boxes[best, :2] - centres[i]))
                written, lines = np.vstack([written, boxes[best]]), np.vstack([lines, leaders[best]])
                if _DISTANCES_IN_POINTS[best] > 2:
                    far.append(leaders[best, [0, -1]])
        return far


def find_distinct_points(centres: np.ndarray, most: int = 2000, grain: float = 3) -> np.ndarray:
    """Find points that the eye can distinguish: of many, one for each small square of the picture."""
    if len(centres) <= most:
        return np.arange(len(centres))
    return np.unique(np.round(centres / grain), axis=0, return_index=True)[1]


def choose_place(
    boxes: np.ndarray, leaders: np.ndarray, taken: np.ndarray, written: np.ndarray, frame: np.ndarray
) -> int | None:
    """Choose a place for a label that is free, near and, if possible, not crowded."""
    points = leaders.reshape(-1, 2)
    crossing = find_overlaps(np.hstack([points, points]), written).reshape(leaders.shape[:2]).any(axis=1)
    cost = _DISTANCES_IN_POINTS[: len(boxes)] + 8 * find_overlaps(boxes + _ELBOW_ROOM, taken)
    is_outside = np.any(np.hstack([boxes[:, :2] < frame[:2] + 2, boxes[:, 2:] > frame[2:] - 2]), axis=1)
    cost[find_overlaps(boxes, taken) | crossing | is_outside] = np.inf
    best = int(np.argmin(cost))
    return best if np.isfinite(cost[best]) else None


def list_places(centre: np.ndarray, radius: float, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List boxes (left, bottom, right, top) around a marker, the nearest first, and points on the lines to them."""
    towards = np.column_stack([np.cos(_DIRECTIONS_IN_RADIANS), np.sin(_DIRECTIONS_IN_RADIANS)])
    edge = centre + radius * towards
    corner = edge + _DISTANCES_IN_POINTS[:, None] * towards
    middle = corner + np.clip(np.sqrt(2) * towards, -1, 1) * size / 2
    leaders = edge[:, None] + np.linspace(0, 1, 8)[:, None] * (corner - edge)[:, None]
    return np.hstack([middle - size / 2, middle + size / 2]), leaders


def find_overlaps(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Find which boxes overlap any of the others."""
    low, high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    near = others[(others[:, :2] < high).all(axis=1) & (others[:, 2:] > low).all(axis=1)]
    return ((boxes[:, None, :2] < near[:, 2:]) & (boxes[:, None, 2:] > near[:, :2])).all(axis=2).any(axis=1)
