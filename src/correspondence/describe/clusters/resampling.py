"""Whether clusters would be found again: in resamples of the rows, and by the other half of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from correspondence.describe.clusters.partition import Cut, DistinctPoints, Hierarchy

__all__ = ["Sample", "compare_halves", "measure_jaccard", "measure_separation"]

MAX_SAMPLE_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with their weights, which are clustered as the data are.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        The coordinates.
    weights : ndarray of shape (n,)
        The weights.
    consolidate : bool
        Whether k-means follows the tree.
    """

    points: np.ndarray
    weights: np.ndarray
    consolidate: bool

    def take_rows(self, rows: np.ndarray) -> Sample:
        """Return some of the rows."""
        return Sample(self.points[rows], self.weights[rows], self.consolidate)

    def cluster_rows(self, numbers: np.ndarray) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Return the labels and the centres of each number of clusters that there can be."""
        data = DistinctPoints.from_rows(self.points, self.weights)
        hierarchy = Hierarchy.from_points(data, len(data.points), np.random.default_rng(0))
        cuts: dict[int, Cut] = {
            int(k): hierarchy.cut_clusters(int(k), self.consolidate) for k in numbers if k <= len(data.points)
        }
        return {k: (cut.labels[data.owner], cut.centres) for k, cut in cuts.items()}

    def draw_rows(self, random_state: np.random.Generator) -> np.ndarray:
        """Draw rows with replacement, as many as there are but not more than 1000."""
        n = len(self.points)
        return random_state.integers(n, size=min(n, MAX_SAMPLE_ROWS))


def measure_jaccard(
    sample: Sample, labels: np.ndarray, n_resamples: int, random_state: np.random.Generator
) -> np.ndarray:
    """Measure how well resamples find each cluster again.

    Parameters
    ----------
    sample : Sample
        The rows.
    labels : ndarray of shape (n,)
        Their clusters.
    n_resamples : int
        The number of resamples.
    random_state : Generator
        The source of random numbers.

    Returns
    -------
    ndarray of shape (n_resamples, k)
        The largest Jaccard index of each cluster with one of the resample, among the rows drawn; NaN if none of its
        rows was drawn.
    """
    k = int(labels.max()) + 1
    found = np.full((n_resamples, k), np.nan)
    for i in range(n_resamples):
        drawn = sample.draw_rows(random_state)
        cuts = sample.take_rows(drawn).cluster_rows(np.array([k]))
        if not cuts:
            continue
        rows, first = np.unique(drawn, return_index=True)
        both = _count_together(labels[rows], cuts[k][0][first], k)
        union = both.sum(axis=1, keepdims=True) + both.sum(axis=0) - both
        with np.errstate(invalid="ignore", divide="ignore"):
            found[i] = np.where(both.sum(axis=1) > 0, (both / union).max(axis=1, initial=0, where=union > 0), np.nan)
    return found


def compare_halves(sample: Sample, numbers: np.ndarray, n_splits: int, random_state: np.random.Generator) -> np.ndarray:
    """Measure how well one half of the rows predicts the clusters of the other, for each number of clusters.

    The rows of one half are assigned to the nearest centres of the other half and clustered on their own too. In the
    cluster of their own that fares worst, this is the share of the pairs of rows that are assigned to one centre
    (prediction strength); a cluster of one row counts 0.

    Parameters
    ----------
    sample : Sample
        The rows.
    numbers : ndarray of int
        The numbers of clusters.
    n_splits : int
        The number of divisions into halves.
    random_state : Generator
        The source of random numbers.

    Returns
    -------
    ndarray of shape (n_splits, len(numbers))
        The mean of both directions; 0 if a half cannot be divided into so many clusters.
    """
    found = np.zeros((n_splits, len(numbers)))
    for i in range(n_splits):
        n = len(sample.points)
        order = random_state.choice(n, min(n, MAX_SAMPLE_ROWS), replace=False)
        halves = [sample.take_rows(rows) for rows in np.array_split(order, 2)]
        cuts = [half.cluster_rows(numbers) for half in halves]
        for j, k in enumerate(numbers):
            if all(k in own for own in cuts):
                found[i, j] = np.mean(
                    [_predict_pairs(halves[own].points, cuts[own][k][0], cuts[1 - own][k][1]) for own in (0, 1)]
                )
    return found


def measure_separation(sample: Sample, numbers: np.ndarray) -> np.ndarray:
    """Return the share of the inertia that lies between so many clusters of the rows; 0 if there cannot be so many."""
    cuts, found = sample.cluster_rows(numbers), np.zeros(len(numbers))
    total = ((sample.points - sample.points.mean(axis=0)) ** 2).sum()
    for j, k in enumerate(numbers):
        if k in cuts:
            labels, centres = cuts[k]
            found[j] = 1 - ((sample.points - centres[labels]) ** 2).sum() / total
    return found


def _predict_pairs(points: np.ndarray, labels: np.ndarray, centres: np.ndarray) -> float:
    """Return the prediction strength of the least well predicted cluster."""
    both = _count_together(labels, cdist(points, centres, "sqeuclidean").argmin(axis=1), len(centres))
    sizes = both.sum(axis=1)
    pairs = (both * (both - 1)).sum(axis=1)
    return float(np.where(sizes > 1, pairs / np.maximum(sizes * (sizes - 1), 1), 0).min())


def _count_together(a: np.ndarray, b: np.ndarray, k: int) -> np.ndarray:
    return np.bincount(k * a + b, minlength=k * k).reshape(k, k).astype(float)
