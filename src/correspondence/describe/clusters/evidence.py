"""The evidence for clusters: data beside clouds without clusters, clustered in the same way."""

from __future__ import annotations

import numpy as np

from correspondence._util.progress import ProgressArgument, make_progress_bar
from correspondence.describe.clusters.partition import DistinctPoints, Hierarchy
from correspondence.describe.clusters.references import Reference
from correspondence.describe.clusters.resampling import (
    MAX_SAMPLE_ROWS,
    Sample,
    compare_halves,
    measure_jaccard,
    measure_separation,
)
from correspondence.results.clusters import ClusterAgreement

__all__ = ["assess_numbers", "find_best_number", "measure_chance", "measure_stability"]

MAX_CLUSTERS = 10
N_SPLITS, N_REFERENCES, N_SPLITS_PER_REFERENCE, N_RESAMPLES_PER_REFERENCE = 20, 20, 2, 5
MAX_REFERENCE_ROWS = 1000
# Tibshirani and Walther (2005) ask for a prediction strength of 0.8 to 0.9; a long cloud has as much in two halves, so
# that half of what is left above chance is asked for too.
MIN_HELD_OUT, MIN_AGREEMENT = 0.8, 0.5
MAX_PVALUE = 0.1  # at most one of the clouds comes up to the data
AGREEMENT_TOLERANCE = 0.1  # a division of a true cluster costs several times as much


def assess_numbers(
    sample: Sample, reference: Reference, random_state: np.random.Generator, progress: ProgressArgument = None
) -> ClusterAgreement:
    """Compare halves of the rows for 2 to 10 clusters, and halves of clouds without clusters.

    Parameters
    ----------
    sample : Sample
        The rows.
    reference : Reference
        The cloud without clusters.
    random_state : Generator
        The source of random numbers.
    progress : bool, optional
        Show a progress bar.
    """
    numbers = np.arange(2, MAX_CLUSTERS + 1)
    n = min(len(sample.points), MAX_SAMPLE_ROWS)
    by_chance = np.empty((2, N_REFERENCES, len(numbers)))
    with make_progress_bar(N_REFERENCES, "clouds without clusters", progress) as bar:
        for i in range(N_REFERENCES):
            cloud = Sample(reference.draw_points(n, random_state), np.ones(n), sample.consolidate)
            by_chance[0, i] = compare_halves(cloud, numbers, N_SPLITS_PER_REFERENCE, random_state).mean(axis=0)
            by_chance[1, i] = measure_separation(cloud, numbers)
            bar.update(1)
    halves = compare_halves(sample, numbers, N_SPLITS, random_state)
    rows = random_state.choice(len(sample.points), n, replace=False)
    own = np.stack([halves.mean(axis=0), measure_separation(sample.take_rows(rows), numbers)])
    # Two ways to be more than chance: a prediction that is perfect for a long cloud too says nothing, but then clusters
    # are tighter than its pieces; a few rows far away are no tighter than a tail, but are found again.
    pvalues = ((1 + (by_chance >= own[:, None]).sum(axis=1)) / (1 + N_REFERENCES)).min(axis=0)
    error = halves.std(axis=0, ddof=1) / np.sqrt(N_SPLITS)
    return ClusterAgreement(numbers, own[0], by_chance[0].mean(axis=0), error, pvalues)


def find_best_number(found: ClusterAgreement) -> int | None:
    """Return the number of clusters that held-out rows agree with best, or None if they agree with none.

    Of numbers that do about equally well it is the largest: fewer clusters are then unions of these, while a division
    of a true cluster would not be found again.

    Examples
    --------
    >>> chance, few, none = np.array([0.6, 0.5, 0.4]), np.array([0.01, 0.01, 0.01]), np.array([0.05, 0.05, 1.0])
    >>> find_best_number(ClusterAgreement(np.array([2, 3, 4]), np.array([1.0, 0.99, 0.5]), chance, few, none))
    3
    """
    is_found = (found.held_out >= MIN_HELD_OUT) & (found.agreement >= MIN_AGREEMENT)
    is_found &= found.pvalues <= MAX_PVALUE
    if not is_found.any():
        return None
    best = int(np.where(is_found, found.agreement, -np.inf).argmax())
    is_as_good = is_found & (found.agreement >= found.agreement[best] - max(AGREEMENT_TOLERANCE, found.error[best]))
    return int(found.n_clusters[is_as_good].max())


def measure_stability(
    sample: Sample, labels: np.ndarray, n_resamples: int, random_state: np.random.Generator
) -> np.ndarray:
    """Return the mean Jaccard index with which each cluster is found again in resamples of the rows."""
    found = measure_jaccard(sample, labels, n_resamples, random_state)
    n_drawn = np.isfinite(found).sum(axis=0)
    return np.where(n_drawn > 0, np.nansum(found, axis=0) / np.maximum(n_drawn, 1), np.nan)


def measure_chance(
    sample: Sample, reference: Reference, k: int, random_state: np.random.Generator, progress: ProgressArgument = None
) -> float:
    """Return the mean stability of as many clusters of clouds without clusters."""
    n = min(len(sample.points), MAX_REFERENCE_ROWS)
    found = []
    with make_progress_bar(N_REFERENCES, "stability by chance", progress) as bar:
        for _ in range(N_REFERENCES):
            cloud = Sample(reference.draw_points(n, random_state), np.ones(n), sample.consolidate)
            data = DistinctPoints.from_rows(cloud.points, cloud.weights)
            if len(data.points) >= k:
                cut = Hierarchy.from_points(data, n, random_state).cut_clusters(k, cloud.consolidate)
                labels = cut.labels[data.owner]
                found.append(measure_stability(cloud, labels, N_RESAMPLES_PER_REFERENCE, random_state))
            bar.update(1)
    values = np.concatenate([[], *found])
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")
