"""Labels beside their points, clear of each other: their places are found whenever a picture is drawn.

Libraries that place labels do it once, before the layout of the figure is final; in a grid of pictures, after a
resize or at another resolution their labels overlap again.

A label that touches its marker must be nearer to it than to any other marker; farther off, a line leads from the
marker to the label, and crosses no label and no other such line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backend_bases import RendererBase
from matplotlib.collections import LineCollection

from correspondence.plot.label_geometry import (
    DISTANCES_IN_POINTS,
    N_DIRECTIONS,
    find_crossed_boxes,
    find_crossings,
    find_distinct_points,
    find_overlaps,
    list_places,
    measure_gaps,
)

__all__ = ["MAX_REACH_POINTS", "LabelPlacing", "Obstacles"]

_ELBOW_ROOM_IN_POINTS = np.array([-5, -3, 5, 3])
_STAGES = [slice(N_DIRECTIONS * a, N_DIRECTIONS * b) for a, b in ((0, 1), (1, 3), (3, 6), (6, 11), (11, 14))]
SAME_PLACE_POINTS = 0.5
MAX_REACH_POINTS = 56.0  # from a marker to its label, unless that must be written
TOUCH_POINTS = 2.0  # a label at most so far from its marker needs no line
_MIN_LEAD_POINTS = 0.5  # by which its own marker must be nearer than any other
_CROWDED, _BESIDE_OTHERS, _OVER_MARKER, _COVERING = 8.0, 5.0, 7.0, 6.0  # costs, in points farther off
_FRAME_MARGIN_POINTS = 2.0


@dataclass(frozen=True, eq=False)
class Obstacles:
    """What labels must avoid, in the coordinates of the data, with radii in points.

    Attributes
    ----------
    xy : ndarray of shape (n, 2)
        Markers, and points of lines.
    radius : ndarray of shape (n,)
        The radii of the markers.
    is_solid : ndarray of bool of shape (n,)
        Whether no label may cover it.
    is_marker : ndarray of bool of shape (n,)
        Whether a label could be taken for its name.
    """

    xy: np.ndarray
    radius: np.ndarray
    is_solid: np.ndarray
    is_marker: np.ndarray


class LabelPlacing(Artist):
    """Search for room for labels whenever the picture is drawn, because only then layout and size are known.

    It is drawn first on its axes, and is itself invisible. All lengths are in points. Labels for which there is no room
    within `reach` are not written; some may be farther off, and over points. Of the ways to write a label, with their
    costs in points, the one is chosen that has the best place.

    Attributes
    ----------
    report : callable or None
        A function that is called after each search with the labels whose points are in view, some of them invisible.
    unnamed : str
        What the caption says of points whose labels are not even tried.
    """

    def __init__(
        self,
        labels: list[Any],
        leaders: LineCollection,
        index: np.ndarray,
        obstacles: Obstacles,
        reach: float = MAX_REACH_POINTS,
        must: np.ndarray | None = None,
        wordings: Sequence[Sequence[tuple[str, float]]] = (),
    ) -> None:
        super().__init__()
        self.wordings = [*wordings, *([("", 0.0)] for _ in labels[len(wordings) :])]
        self.must = np.zeros(len(labels), bool) if must is None else must
        self.report: Callable[[list[Any]], None] | None = None
        self.unnamed = ""
        self.labels, self.leaders, self.index, self.obstacles = labels, leaders, index, obstacles
        self.reach = reach
        self.seen = np.empty(0)
        self.set_zorder(-1)
        self.set_in_layout(False)

    def draw(self, renderer: RendererBase) -> None:
        """Place the labels, unless everything is where it was last time."""
        assert self.axes is not None
        pixels: Any = renderer.points_to_pixels(1)  # in a point
        centres = self.axes.transData.transform(self.obstacles.xy) / pixels
        frame = np.array(self.axes.bbox.extents) / pixels
        seen = np.concatenate([centres.ravel(), frame, [pixels]])
        if len(seen) != len(self.seen) or np.abs(seen - self.seen).max() > 0.1:
            self.seen = seen
            lines = self._place_labels(renderer, centres, frame)
            self.leaders.set_segments([self.axes.transData.inverted().transform(line * pixels) for line in lines])
        if self.report is not None:
            in_view = find_points_in_view(centres[self.index], frame)
            self.report([self.labels[i] for i in np.flatnonzero(in_view)])
        self.stale = False

    def _place_labels(self, renderer: RendererBase, centres: np.ndarray, frame: np.ndarray) -> list[np.ndarray]:
        """Set the offsets of the labels, and return the lines that lead to those far off."""
        page = Page(centres, self.obstacles, frame)
        in_view = find_points_in_view(centres[self.index], frame)
        for k, (label, i) in enumerate(zip(self.labels, self.index, strict=True)):
            label.set_visible(bool(in_view[k]))  # an invisible text has no size
            if not in_view[k]:
                continue
            text, room = self._choose_wording(page, k, renderer, np.inf if self.must[k] else self.reach)
            if room is None and self.must[k]:
                text, room = self._choose_wording(page, k, renderer, np.inf, is_urgent=True)
            label.set_visible(room is not None)
            if room is not None:
                if text:
                    label.set_text(text)
                page.take(room)
                label.set_position(tuple(room.box[:2] - centres[i]))
        return [leader.reshape(2, 2) for leader in page.leaders]

    def _choose_wording(
        self, page: Page, k: int, renderer: RendererBase, reach: float, is_urgent: bool = False
    ) -> tuple[str, Room | None]:
        """Choose how the k-th label is written, and where."""
        best: tuple[str, Room | None] = ("", None)
        least, pixels = np.inf, renderer.points_to_pixels(1)
        for text, cost in self.wordings[k]:
            if least <= cost:
                break
            if text:
                self.labels[k].set_text(text)
            size = np.array(self.labels[k].get_window_extent(renderer).size) / pixels
            room = page.find_room(self.index[k], size, reach, is_urgent)
            if room is not None and room.cost + cost < least:
                best, least = (text, room), room.cost + cost
        return best


def find_points_in_view(centres: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """Find the points within the frame of the axes."""
    return np.asarray(((centres >= frame[:2] - 0.5) & (centres <= frame[2:] + 0.5)).all(axis=1))


@dataclass(frozen=True, eq=False)
class Room:
    """A place for a label: its box, the line that leads there if it needs one, and how bad it is in points."""

    box: np.ndarray
    leader: np.ndarray | None
    cost: float


class Page:
    """What is in a picture while its labels are placed: markers, labels written, and the lines that lead to them."""

    def __init__(self, centres: np.ndarray, obstacles: Obstacles, frame: np.ndarray) -> None:
        solid = np.flatnonzero(obstacles.is_solid)
        self.solid = solid[find_distinct_points(centres[solid])]
        self.centres, self.radius, self.frame = centres, obstacles.radius, frame
        squares = np.hstack([centres - self.radius[:, None], centres + self.radius[:, None]])
        self.squares, self.markers = squares[self.solid], np.flatnonzero(obstacles.is_marker)
        soft = np.flatnonzero(obstacles.is_marker & ~obstacles.is_solid)
        self.soft_squares = squares[soft]
        self.written, self.leaders = np.empty((0, 4)), np.empty((0, 4))

    def find_room(self, i: int, size: np.ndarray, reach: float, is_urgent: bool = False) -> Room | None:
        """Find the best place for a label of the i-th marker.

        An urgent label may cover markers, and its line may cross other lines.
        """
        lines = self.leaders[:0] if is_urgent else self.leaders
        boxes, leaders = list_places(self.centres[i], self.radius[i], size)
        taken = self.squares[:0] if is_urgent else self.squares[self.solid != i]
        best, least = -1, np.inf
        for stage in _STAGES:
            distances = DISTANCES_IN_POINTS[stage]
            if least <= distances[0] or distances[0] > reach:
                break
            cost = self._judge_places(i, boxes[stage], leaders[stage], distances, taken, lines)
            cost[distances > reach] = np.inf
            if cost.min() < least:
                least, best = float(cost.min()), stage.start + int(np.argmin(cost))
        if best < 0:
            return None
        return Room(boxes[best], leaders[best] if DISTANCES_IN_POINTS[best] > TOUCH_POINTS else None, least)

    def take(self, room: Room) -> None:
        """Take a place, where no other label may be."""
        self.written = np.vstack([self.written, room.box])
        if room.leader is not None:
            self.leaders = np.vstack([self.leaders, room.leader])

    def _judge_places(
        self,
        i: int,
        boxes: np.ndarray,
        leaders: np.ndarray,
        distances: np.ndarray,
        taken: np.ndarray,
        lines: np.ndarray,
    ) -> np.ndarray:
        """Return how bad places are; infinitely if they are not free, or if the label could be taken for another's."""
        cost = np.full(len(boxes), np.inf)
        free = np.flatnonzero(self._find_free(boxes, taken))
        if not len(free):
            return cost
        boxes, leaders, is_led = boxes[free], leaders[free], distances[free] > TOUCH_POINTS
        is_beside = self._find_beside_others(i, boxes)
        crosses = find_crossed_boxes(leaders, self.written) | find_crossings(leaders, lines)
        is_bad = np.where(is_led, crosses, is_beside)
        low, high = np.minimum(leaders[:, :2], leaders[:, 2:]), np.maximum(leaders[:, :2], leaders[:, 2:])
        near = taken[find_overlaps(taken, np.hstack([low, high]))] if len(taken) else taken
        roomy = boxes + _ELBOW_ROOM_IN_POINTS
        more = _CROWDED * (find_overlaps(roomy, taken) | find_overlaps(roomy, self.written))
        more = more + _BESIDE_OTHERS * is_beside + _OVER_MARKER * (is_led & find_crossed_boxes(leaders, near))
        more = more + _COVERING * find_overlaps(boxes, self.soft_squares)
        cost[free] = distances[free] + np.where(is_bad, np.inf, more)
        return cost

    def _find_free(self, boxes: np.ndarray, taken: np.ndarray) -> np.ndarray:
        """Find the boxes within the frame that overlap no marker, no label and no line to one."""
        low, high = self.frame[:2] + _FRAME_MARGIN_POINTS, self.frame[2:] - _FRAME_MARGIN_POINTS
        is_free = ((boxes[:, :2] >= low) & (boxes[:, 2:] <= high)).all(axis=1)
        is_free &= ~find_overlaps(boxes, taken) & ~find_overlaps(boxes, self.written)
        for j in np.flatnonzero(is_free) if len(self.leaders) else ():
            is_free[j] = not find_crossed_boxes(self.leaders, boxes[j : j + 1]).any()
        return is_free

    def _find_beside_others(self, i: int, boxes: np.ndarray) -> np.ndarray:
        """Find the boxes that are as near to another marker as to their own."""
        own = measure_gaps(boxes, self.centres[[i]], self.radius[[i]]) + _MIN_LEAD_POINTS
        reach = own.max() + self.radius.max()
        low, high = boxes[:, :2].min(axis=0) - reach, boxes[:, 2:].max(axis=0) + reach
        others = self.centres[self.markers]
        near = self.markers[((others > low) & (others < high)).all(axis=1)]
        # Nothing tells apart markers in the same place.
        near = near[np.abs(self.centres[near] - self.centres[i]).max(axis=1, initial=0) > SAME_PLACE_POINTS]
        return np.asarray((measure_gaps(boxes, self.centres[near], self.radius[near]) < own).any(axis=1))
