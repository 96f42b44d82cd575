"""Clusters of weighted points: Ward's tree, its cut, and k-means from there."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin

from correspondence.describe.clusters.ward_tree import WardTree, grow_tree

__all__ = ["Cut", "DistinctPoints", "Hierarchy", "average_points", "consolidate_clusters"]

EQUAL_DIGITS = 10  # coordinates that agree in so many digits of the largest are equal
MAX_CONSOLIDATING_ROUNDS = 300
MAX_POINTS_WITHOUT_KMEANS = 2000
N_CENTRES, MAX_ROWS_FOR_CENTRES, MAX_CENTRE_ROUNDS = 200, 10_000, 10


@dataclass(frozen=True, eq=False)
class DistinctPoints:
    """Different points, each with the weight and the number of all rows that lie there.

    Attributes
    ----------
    points : ndarray of shape (m, d)
        The coordinates.
    weights : ndarray of shape (m,)
        The weights, which sum to 1.
    counts : ndarray of shape (m,)
        The number of rows at each point.
    owner : ndarray of shape (n,)
        The point of each row.
    """

    points: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    owner: np.ndarray

    @classmethod
    def from_rows(cls, coordinates: np.ndarray, weights: np.ndarray) -> DistinctPoints:
        """Gather rows with equal coordinates."""
        n = len(coordinates)
        if n > MAX_ROWS_FOR_CENTRES and not _has_equal_rows(coordinates):
            return cls(coordinates, weights / weights.sum(), np.ones(n, dtype=np.intp), np.arange(n))
        first, owner = _find_equal_rows(coordinates)
        m = len(first)
        own = np.bincount(owner, weights, m)
        return cls(coordinates[first], own / own.sum(), np.bincount(owner, minlength=m), owner)

    @property
    def total_inertia(self) -> float:
        """Weighted sum of squared distances from the mean."""
        centred = self.points - self.weights @ self.points
        return float(np.einsum("i,ij,ij->", self.weights, centred, centred))


def _has_equal_rows(coordinates: np.ndarray) -> bool:
    """Say whether a sample of many rows has equal ones; few equal rows among a million make no difference."""
    rows = np.random.default_rng(0).choice(len(coordinates), MAX_ROWS_FOR_CENTRES, replace=False)
    return len(_find_equal_rows(coordinates[rows])[0]) < len(rows)


def _find_equal_rows(coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first of all equal rows, and which of these each row equals."""
    scale = max(np.abs(coordinates).max(), 1e-300)
    rounded = np.round(coordinates / scale, EQUAL_DIGITS) + 0.0  # no negative zeros
    # Sorting one random combination of the columns is much faster than sorting rows; the check makes it exact.
    key = np.zeros(len(rounded))
    for column, factor in zip(rounded.T, np.random.default_rng(0).normal(size=rounded.shape[1]), strict=True):
        key += factor * column
    _, first, owner = np.unique(key, return_index=True, return_inverse=True)
    if not np.array_equal(rounded[first][owner], rounded):
        _, first, owner = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    return first, owner


@dataclass(frozen=True, eq=False)
class Cut:
    """A partition of the distinct points.

    Attributes
    ----------
    labels : ndarray of shape (m,)
        The clusters, from 0, by increasing mean on the first axis.
    centres : ndarray of shape (k, d)
        The means of the rows of each cluster, all with the same weight.
    leaf_labels : ndarray of shape (number of leaves,)
        The clusters of the leaves of the tree before k-means moved points, with the same numbers.
    """

    labels: np.ndarray
    centres: np.ndarray
    leaf_labels: np.ndarray

    def measure_between(self, data: DistinctPoints) -> float:
        """Measure the inertia between the clusters when all rows count alike."""
        shares = np.bincount(self.labels, data.counts, len(self.centres)) / data.counts.sum()
        return float(shares @ ((self.centres - shares @ self.centres) ** 2).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree of the distinct points, or of centres of them where they are too many.

    Attributes
    ----------
    data : DistinctPoints
        The points.
    tree : WardTree
        The tree.
    centres : ndarray of shape (c, d), optional
        The leaves, if they are centres.
    leaf_weights : ndarray of shape (c,), optional
        Their weights.
    """

    data: DistinctPoints
    tree: WardTree
    centres: np.ndarray | None = None
    leaf_weights: np.ndarray | None = None

    @classmethod
    def from_points(
        cls, data: DistinctPoints, max_points: int, random_state: np.random.Generator, n_clusters: int = 2
    ) -> Hierarchy:
        """Grow the tree of at most so many points, or of centres of them, of which there are more than clusters."""
        if len(data.points) <= max_points:
            return cls(data, grow_tree(data.points, data.weights))
        centres, weights = _find_centres(data, min(max_points, max(N_CENTRES, 2 * n_clusters)), random_state)
        return cls(data, grow_tree(centres, weights), centres, weights)

    @property
    def n_leaves(self) -> int:
        """The number of leaves of the tree, which has at most as many clusters."""
        return len(self.data.points if self.centres is None else self.centres)

    def cut_clusters(self, k: int, consolidate: bool) -> Cut:
        """Cut the tree into k clusters, and let k-means move points between them if that is wanted."""
        leaf_labels = labels = self.tree.cut_tree(k)
        if self.centres is not None and consolidate:  # the rows need not be assigned to leaves before
            labels = consolidate_clusters(self.data, _average_leaves(self.centres, self.leaf_weights, leaf_labels))
        elif self.centres is not None:
            labels = labels[pairwise_distances_argmin(self.data.points, self.centres)]
        elif consolidate:
            labels = consolidate_clusters(self.data, average_points(self.data, labels))
        centres = average_points(self.data, labels)
        order = np.argsort(centres[:, 0], kind="stable")
        number = np.argsort(order)
        return Cut(number[labels], centres[order], number[leaf_labels])


def _find_centres(
    data: DistinctPoints, n_centres: int, random_state: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Find centres of the points by k-means, on a sample of them if they are many, and the weights of the centres."""
    m = len(data.points)
    own = np.arange(m) if m <= MAX_ROWS_FOR_CENTRES else random_state.choice(m, MAX_ROWS_FOR_CENTRES, replace=False)
    seed = int(random_state.integers(1 << 31))
    model = KMeans(n_centres, n_init=1, max_iter=MAX_CENTRE_ROUNDS, random_state=seed)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        labels = model.fit(data.points[own], sample_weight=data.weights[own]).labels_
    weights = np.bincount(labels, data.weights[own], n_centres)
    kept = weights > 0
    return model.cluster_centers_[kept], weights[kept] / weights.sum()


def average_points(data: DistinctPoints, labels: np.ndarray) -> np.ndarray:
    """Return the mean of the rows of each cluster, in which all rows count alike, as in HCPC."""
    k = int(labels.max()) + 1
    sums = np.column_stack([np.bincount(labels, data.counts * column, k) for column in data.points.T])
    return sums / np.bincount(labels, data.counts, k)[:, None]


def _average_leaves(centres: np.ndarray, weights: np.ndarray | None, labels: np.ndarray) -> np.ndarray:
    """Return the mean of the leaves of each cluster."""
    own = np.ones(len(labels)) if weights is None else weights
    sums = np.column_stack([np.bincount(labels, own * column) for column in centres.T])
    return sums / np.bincount(labels, own)[:, None]


def consolidate_clusters(data: DistinctPoints, centres: np.ndarray) -> np.ndarray:
    """Assign points to the nearest centre and move the centres, until nothing changes.

    With more than 10,000 points a sample of these goes first, and the end is scikit-learn's: when the centres move by
    less than a ten-thousandth of the variance.
    """
    m = len(data.points)
    if m <= MAX_POINTS_WITHOUT_KMEANS:
        return _consolidate_few(data, centres)
    if m > MAX_ROWS_FOR_CENTRES:
        rows = np.random.default_rng(0).choice(m, MAX_ROWS_FOR_CENTRES, replace=False)
        centres = _run_kmeans(data.points[rows], data.counts[rows], centres, 0.0).cluster_centers_
    return _run_kmeans(data.points, data.counts, centres, 1e-4 if m > MAX_ROWS_FOR_CENTRES else 0.0).labels_


def _run_kmeans(points: np.ndarray, counts: np.ndarray, centres: np.ndarray, tol: float) -> KMeans:
    model = KMeans(len(centres), init=centres, n_init=1, max_iter=MAX_CONSOLIDATING_ROUNDS, tol=tol)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return model.fit(points, sample_weight=None if (counts == 1).all() else counts)


def _consolidate_few(data: DistinctPoints, centres: np.ndarray) -> np.ndarray:
    """Do what `KMeans` does, without its checks, which take longer than the work on few points."""
    labels = np.full(len(data.points), -1)
    for _ in range(MAX_CONSOLIDATING_ROUNDS):
        squares = cdist(data.points, centres, "sqeuclidean")
        nearest = squares.argmin(axis=1)
        empty = np.flatnonzero(np.bincount(nearest, minlength=len(centres)) == 0)
        if len(empty):  # an empty cluster begins again at a point far from its centre
            nearest[np.argsort(squares.min(axis=1))[-len(empty) :]] = empty
        if np.array_equal(nearest, labels):
            break
        labels, centres = nearest, average_points(data, nearest)
    return labels
