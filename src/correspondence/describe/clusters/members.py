"""Paragons and the most specific members of clusters."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from correspondence.describe.clusters.reading import LabelledPoints
from correspondence.results.clusters import ClusterMembers

__all__ = ["find_paragons", "find_specific_members", "measure_distances"]

N_MEMBERS = 5


def find_paragons(points: LabelledPoints, labels: np.ndarray, distance: np.ndarray, k: int) -> ClusterMembers:
    """List the members that are closest to the centre of their cluster.

    Parameters
    ----------
    points : LabelledPoints
        The points.
    labels : ndarray of shape (n,)
        Their clusters; -1 for points left out.
    distance : ndarray of shape (n,)
        Their distances from the centre of their cluster.
    k : int
        The number of clusters.
    """
    return _list_first(points, labels, distance, distance, k)


def find_specific_members(points: LabelledPoints, labels: np.ndarray, centres: np.ndarray) -> ClusterMembers:
    """List the members that are farthest from the centres of all other clusters.

    Parameters
    ----------
    points, labels
        See `find_paragons`.
    centres : ndarray of shape (k, d)
        The centres.
    """
    distance = np.full(len(labels), np.nan)
    for j in range(len(centres)):
        own = labels == j
        others = np.delete(centres, j, axis=0)
        distance[own] = cdist(points.coordinates[own], others).min(axis=1) if len(others) else np.nan
    return _list_first(points, labels, -distance, distance, len(centres))


def measure_distances(coordinates: np.ndarray, labels: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Compute the distance of each point from the centre of its cluster; NaN for points left out."""
    distance = np.linalg.norm(coordinates - centres[np.maximum(labels, 0)], axis=1)
    return np.where(labels < 0, np.nan, distance)


def _list_first(
    points: LabelledPoints, labels: np.ndarray, keys: np.ndarray, distance: np.ndarray, k: int
) -> ClusterMembers:
    positions = []
    for j in range(k):
        own = np.flatnonzero(labels == j)
        if len(own) > N_MEMBERS:  # sort few of a million
            own = own[keys[own] <= np.partition(keys[own], N_MEMBERS - 1)[N_MEMBERS - 1]]
        positions.append(own[np.argsort(keys[own], kind="stable")][:N_MEMBERS])
    position = np.concatenate(positions)
    rank = np.concatenate([1 + np.arange(len(own)) for own in positions])
    return ClusterMembers(labels[position], rank, points.labels[position], position, distance[position])
