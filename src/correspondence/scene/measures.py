"""How much points matter in a plane: their masses, contributions and quality."""

from __future__ import annotations

from typing import Any

import numpy as np

from correspondence.results.points import Points
from correspondence.scene.points import ScenePoints

__all__ = ["MEASURES", "find_recorded", "measure_points", "measure_recorded_points"]

MEASURES = {"mass": "mass", "contribution": "contribution to the plane", "quality": "quality in the plane (cos2)"}


def measure_points(
    points: ScenePoints, correlations: np.ndarray, index: list[int], recorded: Points | None = None
) -> dict[str, np.ndarray]:
    """Measure points by the axes drawn; quality is NaN, and mass is missing, where it is not known.

    Parameters
    ----------
    points : ScenePoints
        The points, in standard coordinates.
    correlations : ndarray of shape (d,)
        The correlations of all axes.
    index : list of int
        The axes drawn, counted from 0.
    recorded : Points, optional
        What the analysis says of the labels; without it, quality is what the axes drawn say of all that were fitted.
    """
    squares = (points.places * correlations) ** 2
    in_plane, whole = squares[:, index].sum(axis=1), squares.sum(axis=1)
    mass = np.full(len(points), 1 / max(1, len(points))) if points.mass is None else points.mass
    contribution = mass * in_plane
    quality = np.divide(in_plane, whole, out=np.zeros(len(points)), where=whole > 0)
    if recorded is not None and points.labels is not None:
        known = dict(zip(map(str, recorded.labels), recorded.cos2[:, index].sum(axis=1), strict=True))
        quality = np.array([known.get(str(label), own) for label, own in zip(points.labels, quality, strict=True)])
    measured = {"contribution": contribution / max(float(contribution.sum()), 1e-300), "quality": quality}
    return measured if points.mass is None else measured | {"mass": points.mass}


def measure_recorded_points(points: Points, index: list[int]) -> dict[str, np.ndarray]:
    """Measure the points that an analysis recorded, by the axes drawn."""
    inertias = points.correlations[index] ** 2
    weighed = np.nan_to_num(points.contributions[:, index]) @ inertias
    contribution = weighed / max(float(inertias.sum()), 1e-300)
    quality = np.nan_to_num(points.cos2[:, index].sum(axis=1))
    return {"contribution": contribution, "quality": quality, "mass": np.nan_to_num(points.mass)}


def find_recorded(est: Any, side: str) -> Points | None:
    """Find what an analysis of a table says of the labels of a side, "rows" or "columns"."""
    points = getattr(est, f"{side}_", None)
    return points if isinstance(points, Points) else None
