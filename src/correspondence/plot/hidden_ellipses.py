"""Ellipses so small that the marks at their centres cover them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.patches import Ellipse

__all__ = ["ELLIPSE_LINE", "SPREAD", "note_hidden_ellipses"]

ELLIPSE_LINE, SPREAD = "ellipse line", "spread"  # what ellipses of groups, and of labels, are called in the figure


def note_hidden_ellipses(panels: Sequence[Axes], size_points: np.ndarray) -> str:
    """Say how many ellipses are covered by marks, on axes of a width and height in points."""
    n, of = np.sum([count_hidden_ellipses(ax, size_points) for ax in panels], axis=0).tolist()
    noun, verb = "ellipse" + "s" * (of > 1), "is smaller than its mark"
    return f"{n:,} of {of:,} {noun} {verb if n == 1 else 'are smaller than their marks'}" if n else ""


def count_hidden_ellipses(ax: Axes, size_points: np.ndarray) -> tuple[int, int]:
    """Count the ellipses that marks cover, and all ellipses of groups and labels."""
    shapes = [own for own in ax.patches if isinstance(own, Ellipse) and own.get_gid() in (ELLIPSE_LINE, SPREAD)]
    if not shapes:
        return 0, 0
    scale: Any = np.asarray(size_points) / [np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())]
    scale = scale if ax.get_aspect() == "auto" else np.full(2, scale.min())
    centres = np.array([own.get_center() for own in shapes], dtype=float) * scale
    reach = np.array([max(own.width, own.height) for own in shapes]) / 2 * scale.max()
    marks, radius = list_marks(ax)
    is_large = radius > reach.min()
    marks, radius = marks[is_large] * scale, radius[is_large]
    distance = np.linalg.norm(centres[:, None] - marks, axis=2)
    return int((distance + reach[:, None] <= radius).any(axis=1).sum()), len(shapes)


def list_marks(ax: Axes) -> tuple[np.ndarray, np.ndarray]:
    """List the places of filled marks, and their radii in points."""
    filled = [own for own in ax.collections if isinstance(own, PathCollection) and len(own.get_facecolor())]
    places = [np.asarray(own.get_offsets(), dtype=float) for own in filled]
    radius = [np.resize(np.sqrt(own.get_sizes()) / 2, len(xy)) for own, xy in zip(filled, places, strict=True)]
    lines = [own for own in ax.lines if own.get_marker() not in ("", "None", None)]
    on_lines = [np.asarray(own.get_xydata(), dtype=float) for own in lines]
    places += on_lines
    radius += [np.full(len(xy), own.get_markersize() / 2) for own, xy in zip(lines, on_lines, strict=True)]
    return np.vstack([np.empty((0, 2)), *places]), np.concatenate([np.empty(0), *radius])
