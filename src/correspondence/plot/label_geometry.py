"""Where labels could stand, and what is in their way: boxes, segments and distances, all in points."""

from __future__ import annotations

import numpy as np

__all__ = [
    "DISTANCES_IN_POINTS",
    "N_DIRECTIONS",
    "find_crossed_boxes",
    "find_crossings",
    "find_distinct_points",
    "find_overlaps",
    "list_places",
    "measure_gaps",
]

_DEGREES = [45, -45, 135, -135, 0, 180, 90, -90, 22, -22, 158, -158, 68, 112, -68, -112]
N_DIRECTIONS = len(_DEGREES)
_RINGS_IN_POINTS = [1, 4, 8, 13, 19, 26, 34, 44, 56, 70, 86, 105, 125, 150.0]
DISTANCES_IN_POINTS, _DIRECTIONS_IN_RADIANS = (
    grid.ravel() for grid in np.meshgrid(_RINGS_IN_POINTS, np.radians(_DEGREES), indexing="ij")
)
_MIN_STEP = 1e-9


def list_places(centre: np.ndarray, radius: float, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List boxes (left, bottom, right, top) around a marker, the nearest first, and the lines that lead to them."""
    towards = np.column_stack([np.cos(_DIRECTIONS_IN_RADIANS), np.sin(_DIRECTIONS_IN_RADIANS)])
    edge = centre + radius * towards
    corner = edge + DISTANCES_IN_POINTS[:, None] * towards
    middle = corner + np.clip(np.sqrt(2) * towards, -1, 1) * size / 2
    return np.hstack([middle - size / 2, middle + size / 2]), np.hstack([edge, corner])


def find_distinct_points(centres: np.ndarray, most: int = 2000, grain: float = 3) -> np.ndarray:
    """Find points that the eye can distinguish: of many, one for each small square of the picture."""
    if len(centres) <= most:
        return np.arange(len(centres))
    return np.unique(np.round(centres / grain), axis=0, return_index=True)[1]


def find_overlaps(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Find which boxes overlap any of the others."""
    low, high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    near = others[(others[:, :2] < high).all(axis=1) & (others[:, 2:] > low).all(axis=1)]
    return np.asarray(_compare(boxes, near).any(axis=1))


def _compare(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Compare each box with each other, side by side: arrays of two dimensions are faster than one of three."""
    meets = boxes[:, 0, None] < others[:, 2]
    meets &= boxes[:, 2, None] > others[:, 0]
    meets &= boxes[:, 1, None] < others[:, 3]
    meets &= boxes[:, 3, None] > others[:, 1]
    return meets


def find_crossed_boxes(segments: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """Find which segments (x1, y1, x2, y2) cross any box."""
    if not len(boxes):
        return np.zeros(len(segments), bool)
    step = segments[:, 2:] - segments[:, :2]
    step = np.where(np.abs(step) < _MIN_STEP, _MIN_STEP, step)[:, None]
    # The shares of a segment at which it passes the four sides: it is inside where it has entered both slabs.
    first, second = ((side - segments[:, None, :2]) / step for side in (boxes[:, :2], boxes[:, 2:]))
    enters, leaves = np.minimum(first, second).max(axis=2), np.maximum(first, second).min(axis=2)
    return ((enters < leaves) & (leaves > 0) & (enters < 1)).any(axis=1)


def find_crossings(segments: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Find which segments cross any other segment."""
    if not len(others):
        return np.zeros(len(segments), bool)
    a, b, c, d = segments[:, None, :2], segments[:, None, 2:], others[None, :, :2], others[None, :, 2:]
    is_apart = (_turn(a, b, c) * _turn(a, b, d) > 0) | (_turn(c, d, a) * _turn(c, d, b) > 0)
    return (~is_apart).any(axis=1)


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return a number above 0 where the way from a by b to c turns left, and below 0 where it turns right."""
    return (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])


def measure_gaps(boxes: np.ndarray, centres: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Measure the distance of each box from the edge of each marker, at least 0."""
    wide = np.maximum(boxes[:, 0, None] - centres[:, 0], centres[:, 0] - boxes[:, 2, None])
    high = np.maximum(boxes[:, 1, None] - centres[:, 1], centres[:, 1] - boxes[:, 3, None])
    return np.maximum(np.hypot(np.maximum(wide, 0), np.maximum(high, 0)) - radius, 0)
