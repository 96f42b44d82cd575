"""Why clusters are said to be confirmed by held-out rows, or not, in words that need no other page."""

from __future__ import annotations

import numpy as np

from correspondence.describe.clusters.evidence import MIN_AGREEMENT, MIN_HELD_OUT
from correspondence.results.clusters import ClusterAgreement

__all__ = ["NO_CLUSTERS", "explain_no_clusters", "explain_number", "say_too_few_rows"]

NO_CLUSTERS = "There are no clusters that held-out rows confirm: the rows are one cloud, cut in pieces."
HALVES = "If each half of the rows is clustered on its own,"
PAIRS = "of the pairs of rows that one half puts in the same cluster are in the same cluster of the other half"


def say_too_few_rows(n: int) -> str:
    """Say that so few rows cannot tell whether there are clusters."""
    return f"So few rows ({n}) cannot be divided into halves that would confirm clusters."


def explain_number(found: ClusterAgreement, n_clusters: int) -> str:
    """Say how well one half of the rows predicts so many clusters of the other; nothing if that was not measured.

    Examples
    --------
    >>> one = np.array([0.1])
    >>> print(explain_number(ClusterAgreement(np.array([2]), np.array([1.0]), np.array([0.8]), one, one), 2))
    If each half of the rows is clustered on its own, 100 % of the pairs of rows that one half puts in the same cluster
    are in the same cluster of the other half, and 80 % in a cloud without clusters.
    """
    own = np.flatnonzero(found.n_clusters == n_clusters)
    if not len(own):
        return ""
    held_out, chance = (_name_percent(part[own[0]]) for part in (found.held_out, found.chance))
    return f"{HALVES} {held_out} {PAIRS}, and {chance} in a cloud without clusters."


def explain_no_clusters(found: ClusterAgreement) -> str:
    """Say which figure decided that there are no clusters: what is needed for some, beside what was found at best.

    Examples
    --------
    >>> numbers, held_out, none = np.array([2, 3]), np.array([0.61, 0.3]), np.zeros(2)
    >>> print(explain_no_clusters(ClusterAgreement(numbers, held_out, held_out, none, none)))
    If each half of the rows is clustered on its own, at best 61 % (with 2 clusters) of the pairs of rows that one half
    puts in the same cluster are in the same cluster of the other half, and 80 % are needed.
    """
    is_enough = found.held_out >= MIN_HELD_OUT
    best = int(np.where(is_enough, found.agreement, found.held_out - 1000).argmax())  # agreements are above -1000
    held_out, chance = _name_percent(found.held_out[best]), _name_percent(found.chance[best])
    told = f"{HALVES} at best {held_out} (with {found.n_clusters[best]} clusters) {PAIRS}"
    if not is_enough.any():
        return f"{told}, and {_name_percent(MIN_HELD_OUT)} are needed."
    if found.agreement[best] < MIN_AGREEMENT:
        return f"{told}, but {chance} are in a cloud without clusters, too."
    return f"{told}, but some clouds without clusters come up to that."


def _name_percent(share: float) -> str:
    return f"{int(100 * share + 1e-9)} %"  # 79.9 % is not yet 80 %
