"""The tree of things that are more or less similar, whose leaves stand in an order that shows groups."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

__all__ = ["link_similar"]

MAX_LEAVES_ORDERED_WELL = 300  # for more, the best order of the branches of a tree takes too long


def link_similar(similarity: np.ndarray) -> np.ndarray:
    """Join things by their average similarity, the most similar first.

    Parameters
    ----------
    similarity : ndarray of shape (k, k)
        The similarities are from 0 to 1; the diagonal is ignored. There are at least two things.

    Returns
    -------
    ndarray of shape (k - 1, 4)
        SciPy's linkage matrix, with heights of 1 minus the similarity. Its branches are ordered so that neighbouring
        leaves are similar.

    Examples
    --------
    >>> link_similar(np.array([[1, 0.1, 0.9], [0.1, 1, 0.3], [0.9, 0.3, 1]])).round(1)[:, :3].tolist()
    [[2.0, 0.0, 0.1], [1.0, 3.0, 0.8]]
    """
    distance = 1 - np.clip(similarity, 0, 1)
    np.fill_diagonal(distance, 0)
    condensed = squareform((distance + distance.T) / 2, checks=False)
    return linkage(condensed, "average", optimal_ordering=len(similarity) <= MAX_LEAVES_ORDERED_WELL)
