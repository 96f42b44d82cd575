"""How faithful a plane is to the space of all axes: which nearest neighbours stay together."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

__all__ = ["MAX_POINTS_COMPARED", "measure_kept_neighbours"]

MAX_POINTS_COMPARED = 2000  # more are drawn at random
MAX_SHARE_OF_NEIGHBOURS = 4  # of few points, at most every fourth counts as a neighbour
MAX_AXES_OF_KD_TREE = 4  # a tree of 2,000 points is faster than all distances up to here
TIE = 1e-9  # relative difference of distances that are equal but for rounding


def measure_kept_neighbours(
    places: np.ndarray, planes: list[list[int]], n_neighbors: int, random_state: int = 0
) -> tuple[list[float], int]:
    """Measure which share of the nearest neighbours in each plane are nearest neighbours in the space of all axes.

    Parameters
    ----------
    places : ndarray of shape (n, d)
        Principal coordinates on all axes. At most 2,000 points, drawn at random, are compared.
    planes : list of list of int
        The positions of the axes of each plane.
    n_neighbors : int
        Each point has this many neighbours, but not more than a fourth of the other points. A neighbour in the plane
        counts if it is no farther in all axes than the last of the true neighbours, so that equal points count.
    random_state : int
        The seed of the sample.

    Returns
    -------
    shares : list of float
        The mean share over the points for each plane; NaN if there are fewer than three points.
    n_neighbors : int
        The number of neighbours that were compared.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> flat = rng.normal(size=(200, 4)) * [3, 2, 0.01, 0.01]
    >>> [round(share, 2) for share in measure_kept_neighbours(flat, [[0, 1], [0], [2, 3]], 10)[0]]
    [1.0, 0.31, 0.06]
    """
    order = np.random.default_rng(random_state).permutation(len(places))[:MAX_POINTS_COMPARED]
    chosen = places[order]  # in random order, so that equal distances in the plane favour no point
    if len(chosen) < 3:
        return [np.nan] * len(planes), 0
    k = min(n_neighbors, max(1, (len(chosen) - 1) // MAX_SHARE_OF_NEIGHBOURS))
    reach = _measure_distances(chosen, _find_neighbours(chosen, k)).max(axis=1, keepdims=True) * (1 + TIE)
    found = [_measure_distances(chosen, _find_neighbours(chosen[:, index], k)) for index in planes]
    return [float((distances <= reach).mean()) for distances in found], k


def _find_neighbours(points: np.ndarray, k: int) -> np.ndarray:
    algorithm = "kd_tree" if points.shape[1] <= MAX_AXES_OF_KD_TREE else "brute"
    return NearestNeighbors(n_neighbors=k, algorithm=algorithm).fit(points).kneighbors(return_distance=False)


def _measure_distances(points: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Return the squared distance of each point from each of its neighbours."""
    return np.stack([((points - points[column]) ** 2).sum(axis=1) for column in neighbours.T], axis=1)
