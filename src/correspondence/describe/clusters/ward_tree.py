"""The tree of Ward's method for points with weights, without a matrix of all distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

__all__ = ["WardTree", "grow_tree"]

MAX_DISTANCES_AT_ONCE = 1 << 22  # 32 MB of doubles


@dataclass(frozen=True, eq=False)
class WardTree:
    """The merges of a tree in the order of their losses of inertia.

    Attributes
    ----------
    pairs : ndarray of shape (m - 1, 2)
        The two clusters that each merge joins; point i is cluster i, and merge i makes cluster m + i.
    losses : ndarray of shape (m - 1,)
        The inertia between the two clusters, which each merge loses; never decreasing.
    """

    pairs: np.ndarray
    losses: np.ndarray

    @property
    def n_leaves(self) -> int:
        """Number of points."""
        return len(self.losses) + 1

    def cut_tree(self, k: int) -> np.ndarray:
        """Return the cluster of each point, from 0, when k clusters are left."""
        m = self.n_leaves
        owner = np.arange(2 * m - 1)
        # Each cluster below the cut belongs to the one that swallowed it, which came later.
        for i in range(m - k - 1, -1, -1):
            owner[self.pairs[i]] = owner[m + i]
        return np.unique(owner[:m], return_inverse=True)[1]

    def make_linkage(self) -> np.ndarray:
        """Return the tree as SciPy's linkage matrix; its heights are the losses of inertia."""
        m = self.n_leaves
        sizes = np.ones(2 * m - 1)
        for i, (a, b) in enumerate(self.pairs):
            sizes[m + i] = sizes[a] + sizes[b]
        return np.column_stack([self.pairs.astype(float), self.losses, sizes[m:]])

    def repeat_leaves(self, leaves: np.ndarray) -> WardTree:
        """Return the tree of the points that share its leaves: equal points are joined first, without a loss.

        Parameters
        ----------
        leaves : ndarray of shape (n,)
            The leaf of each point.
        """
        n, m = len(leaves), self.n_leaves
        order = np.argsort(leaves, kind="stable")
        is_first = np.r_[True, np.diff(leaves[order]) > 0]
        name = np.empty(2 * m - 1, dtype=np.intp)
        name[:m] = order[is_first]
        pairs = []
        for point in order[~is_first]:
            pairs.append((name[leaves[point]], point))
            name[leaves[point]] = n + len(pairs) - 1
        name[m:] = n + len(pairs) + np.arange(m - 1)
        joined = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        return WardTree(np.vstack([joined, name[self.pairs]]), np.r_[np.zeros(len(pairs)), self.losses])


def grow_tree(points: np.ndarray, weights: np.ndarray) -> WardTree:
    """Merge points by Ward's method, always the two clusters between which there is least inertia.

    Parameters
    ----------
    points : ndarray of shape (m, d)
        The coordinates.
    weights : ndarray of shape (m,)
        The weights, which are positive; the inertia of the whole is the weighted sum of squares about the mean.

    Examples
    --------
    >>> tree = grow_tree(np.array([[0.0], [1.0], [5.0]]), np.array([1, 1, 2]) / 4)
    >>> tree.pairs.tolist(), tree.losses.round(3).tolist()
    ([[0, 1], [2, 3]], [0.125, 5.062])
    """
    centres, weights, m = points.astype(float), weights.astype(float), len(points)
    names = np.arange(m)
    nearest, losses = _find_nearest(centres, weights, names)
    pairs, found = [], []
    n_names = m
    # Ward's losses are reducible: a merge elsewhere brings nobody closer than his nearest, so all clusters that are
    # nearest to each other can be merged in one round, in any order.
    while len(centres) > 1:
        a, b = _find_mutual_pairs(nearest, losses)
        pairs.append(np.column_stack([names[a], names[b]]))
        found.append(losses[a])
        total = weights[a] + weights[b]
        centres[a] += (weights[b] / total)[:, None] * (centres[b] - centres[a])
        weights[a], names[a] = total, n_names + np.arange(len(a))
        n_names += len(a)
        is_stale = np.isin(nearest, np.r_[a, b])
        is_stale[a] = True
        kept = np.delete(np.arange(len(centres)), b)
        place = np.zeros(len(centres), dtype=np.intp)
        place[kept] = np.arange(len(kept))
        centres, weights, names = centres[kept], weights[kept], names[kept]
        nearest, losses = place[nearest[kept]], losses[kept]
        stale = np.flatnonzero(is_stale[kept])
        nearest[stale], losses[stale] = _find_nearest(centres, weights, stale)
    return _order_merges(np.vstack([np.empty((0, 2), dtype=np.intp), *pairs]), np.concatenate([[], *found]))


def _find_mutual_pairs(nearest: np.ndarray, losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the clusters that are nearest to each other; at least the closest two, whatever rounding does."""
    own = np.arange(len(nearest))
    a = np.flatnonzero((nearest[nearest] == own) & (own < nearest))
    if not len(a):
        a = np.array([losses.argmin()])
        return np.minimum(a, nearest[a]), np.maximum(a, nearest[a])
    return a, nearest[a]


def _find_nearest(centres: np.ndarray, weights: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest other cluster of each of some clusters, and the loss of merging the two."""
    nearest, losses = np.zeros(len(rows), dtype=np.intp), np.zeros(len(rows))
    if len(centres) == 1:
        return nearest, losses
    step = max(1, MAX_DISTANCES_AT_ONCE // len(centres))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        # The inertia between a and b: w_a w_b / (w_a + w_b) times their squared distance.
        loss = cdist(centres[part], centres, "sqeuclidean")
        loss *= weights / (weights[part, None] + weights)
        loss *= weights[part, None]
        loss[np.arange(len(part)), part] = np.inf
        nearest[start : start + step] = best = loss.argmin(axis=1)
        losses[start : start + step] = loss[np.arange(len(part)), best]
    return nearest, losses


def _order_merges(pairs: np.ndarray, losses: np.ndarray) -> WardTree:
    """Sort merges by their losses, each after those that made its clusters, and name clusters by the new order."""
    m = len(losses) + 1
    below = np.zeros(2 * m - 1)
    for i, (a, b) in enumerate(pairs):  # a loss may be smaller than one below it by rounding alone
        below[m + i] = losses[i] = max(losses[i], below[a], below[b])
    order = np.argsort(losses, kind="stable")
    name = np.arange(2 * m - 1)
    name[m + order] = m + np.arange(m - 1)
    return WardTree(np.sort(name[pairs[order]], axis=1), losses[order])
