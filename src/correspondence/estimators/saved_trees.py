"""Trees of forests and of boosting as a few arrays: small in a file, safe to read, and evaluated by NumPy alone.

The nodes of all trees are listed in preorder: a node, all of its left branch, all of its right branch. Which nodes are
leaves then says everything about the shape of the trees, so a file holds no positions that could lead astray.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from correspondence._util.files import State

__all__ = ["TreeNodes", "TreesStep", "join_trees", "list_preorder"]

LEAF = -1  # as the column by which a node splits
MAX_CELLS_AT_ONCE = 2_000_000  # rows times trees that are followed at the same time, about 60 MB


@dataclass(frozen=True, eq=False)
class TreeNodes:
    """Nodes of one tree, in any order from the root, as the library that grew it keeps them.

    Attributes
    ----------
    left, right : ndarray of shape (n,)
        The positions of the two children; those of a leaf do not matter.
    feature : ndarray of shape (n,)
        The column by which a node splits, -1 for a leaf.
    threshold : ndarray of shape (n,)
        Rows with at most this value go to the left.
    values : ndarray of shape (n, k)
        What the tree predicts at a leaf.
    missing_left : ndarray of shape (n,)
        Whether rows go to the left if the value is NaN.
    """

    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    values: np.ndarray
    missing_left: np.ndarray


def list_preorder(tree: TreeNodes) -> np.ndarray:
    """List the positions of the nodes in preorder."""
    is_inner = tree.feature != LEAF
    inner = np.flatnonzero(is_inner)
    # Most trees were grown in this order; only those grown leaf by leaf are walked through.
    if (tree.left[inner] == inner + 1).all() and (tree.right[inner] == find_right_children(is_inner)[inner]).all():
        return np.arange(len(is_inner))
    left, right, order, waiting = tree.left.tolist(), tree.right.tolist(), [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if is_inner[node]:
            waiting += [right[node], left[node]]
    return np.array(order)


def find_right_children(is_inner: np.ndarray) -> np.ndarray:
    """Find the right child of each inner node of trees in preorder; for leaves the answer means nothing.

    An inner node opens one more branch and a leaf closes one, so the branches that wait rise and fall by one. A right
    branch starts when for the first time as many wait as at its parent.
    """
    waiting = np.concatenate([[0], np.cumsum(np.where(is_inner, 1, -1))])[:-1]
    order = np.argsort(waiting, kind="stable")
    right = np.full(len(waiting), -1)
    right[order[:-1]] = order[1:]
    return right


def join_trees(
    trees: list[TreeNodes], n_features: int, n_outputs: int, factor: float, start: np.ndarray, *, is_single: bool
) -> TreesStep:
    """Put trees together to a step of a model.

    Parameters
    ----------
    trees : list of TreeNodes
        The trees, of boosting in the order of its stages.
    n_features, n_outputs : int
        The numbers of columns of the rows, and of the predictions.
    factor : float
        The sum over the trees is multiplied by this number.
    start : ndarray of shape (n_outputs,)
        These numbers are added to it.
    is_single : bool
        Whether the library compares rows in single precision.
    """
    orders = [list_preorder(tree) for tree in trees]
    feature, threshold, missing = (
        np.concatenate([getattr(tree, name)[order] for tree, order in zip(trees, orders, strict=True)])
        for name in ("feature", "threshold", "missing_left")
    )
    values = np.concatenate([tree.values[order] for tree, order in zip(trees, orders, strict=True)])
    inner = feature != LEAF
    leaves, leaf = share_equal_rows(np.asarray(values[~inner], dtype=np.float64))
    return TreesStep(
        n_features,
        n_outputs,
        len(trees),
        float(factor),
        np.asarray(start, dtype=np.float64),
        feature.astype(np.int16 if n_features <= np.iinfo(np.int16).max else np.int32),
        round_down(threshold[inner]) if is_single else threshold[inner].astype(np.float64),
        leaves,
        leaf,
        np.packbits(missing[inner] != 0) if missing[inner].any() else None,
    )


def round_down(threshold: np.ndarray) -> np.ndarray:
    """Return the largest numbers of single precision that are not above: these split single precision just the same."""
    single = threshold.astype(np.float32)
    return np.where(single > threshold, np.nextafter(single, np.float32(-np.inf)), single)


def share_equal_rows(values: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the different rows and the position of each among them, if that is less to keep than all rows."""
    rows = np.ascontiguousarray(values)
    # As bytes, which are sorted several times faster than rows; that equal rows are found is all that counts.
    _, first, position = np.unique(
        rows.view(f"V{rows.itemsize * rows.shape[1]}"), return_index=True, return_inverse=True
    )
    dtype = np.uint16 if len(first) <= np.iinfo(np.uint16).max else np.uint32
    if rows[first].nbytes + len(rows) * np.dtype(dtype).itemsize >= rows.nbytes:
        return rows, None
    return rows[first], position.reshape(-1).astype(dtype)


@dataclass(frozen=True, eq=False, repr=False)
class TreesStep:
    """Sum over trees of the values at the leaves that a row falls into.

    Attributes
    ----------
    n_features, n_outputs, n_trees : int
        The numbers of columns of the rows and of the predictions, and of trees.
    factor : float
        The sum over the trees is multiplied by it.
    start : ndarray of shape (n_outputs,)
        It is added to the sum.
    feature : ndarray of shape (nodes,)
        The column by which a node splits, -1 for a leaf, in preorder, one tree after the other.
    threshold : ndarray of shape (inner nodes,)
        Rows with at most this value go to the left; rows are compared in its precision.
    values : ndarray of shape (leaves, k), or fewer rows
        What leaves predict: all outputs, or one number for the outputs in turn, as in boosting.
    leaf : ndarray of shape (leaves,), optional
        The row of `values` that each leaf has; by default each leaf has its own.
    missing_left : ndarray of shape (inner nodes / 8,), optional
        Whether NaN goes to the left, eight nodes in a byte; by default it never does.
    """

    n_features: int
    n_outputs: int
    n_trees: int
    factor: float
    start: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    values: np.ndarray
    leaf: np.ndarray | None = None
    missing_left: np.ndarray | None = None
    kind: ClassVar[str] = "trees"

    def __call__(self, rows: Any) -> np.ndarray:
        """Predict from rows."""
        n, at_once = rows.shape[0], max(1, MAX_CELLS_AT_ONCE // max(1, self.n_trees))
        parts = [self._predict_block(rows[start : start + at_once]) for start in range(0, n, at_once)]
        return np.concatenate(parts) if parts else np.zeros((0, self.n_outputs))

    def _predict_block(self, rows: Any) -> np.ndarray:
        dense = np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=self.threshold.dtype)
        position = self._find_leaves(dense)
        position = position if self.leaf is None else self.leaf[position]
        width = self.values.shape[1]
        total = np.zeros((len(dense), self.n_outputs))
        for tree, at in enumerate(position):
            if width == self.n_outputs:
                total += self.values[at]
            else:
                total[:, tree % self.n_outputs] += self.values[at, 0]
        return self.start + self.factor * total

    def _find_leaves(self, rows: np.ndarray) -> np.ndarray:
        """Return the number of the leaf that each row falls into, for each tree."""
        n = len(rows)
        node = np.repeat(self._roots, n)
        at = np.tile(np.arange(n), self.n_trees)
        moving = np.flatnonzero(self._is_inner[node])
        while moving.size:
            here = node[moving]
            inner = self._rank[here]
            value = rows[at[moving], self.feature[here]]
            goes_left = value <= self.threshold[inner]
            if self.missing_left is not None:
                goes_left |= np.isnan(value) & self._takes_missing[inner]
            node[moving] = here = np.where(goes_left, here + 1, self._right[here])
            moving = moving[self._is_inner[here]]
        return self._rank[node].reshape(self.n_trees, n)

    @cached_property
    def _is_inner(self) -> np.ndarray:
        return self.feature != LEAF

    @cached_property
    def _right(self) -> np.ndarray:
        return find_right_children(self._is_inner)

    @cached_property
    def _takes_missing(self) -> np.ndarray:
        assert self.missing_left is not None
        return np.unpackbits(self.missing_left, count=len(self.threshold)).astype(bool)

    @cached_property
    def _rank(self) -> np.ndarray:
        """Number of each inner node among the inner nodes, and of each leaf among the leaves."""
        return np.where(self._is_inner, np.cumsum(self._is_inner), np.cumsum(~self._is_inner)) - 1

    @cached_property
    def _roots(self) -> np.ndarray:
        """Positions of the roots: a tree ends when one more leaf than inner nodes were listed."""
        balance = np.cumsum(np.where(self._is_inner, 1, -1))
        ends = np.flatnonzero(balance < np.minimum.accumulate(np.concatenate([[0], balance]))[:-1])
        return np.concatenate([[0], ends + 1])[:-1]

    def state(self) -> State:
        """Return the description and the arrays from which `from_state` makes the same trees."""
        sizes = {name: getattr(self, name) for name in ("kind", "n_features", "n_outputs", "n_trees", "factor")}
        names = ("start", "feature", "threshold", "values", "leaf", "missing_left")
        arrays = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return State(sizes | {"arrays": list(arrays)}, arrays)

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> TreesStep:
        """Put together what `state` took apart, if sizes and numbers agree with the description."""
        sizes: dict[str, Any] = {name: int(description[name]) for name in ("n_features", "n_outputs", "n_trees")}
        kept: dict[str, Any] = {name: arrays[name] for name in description["arrays"]}
        step = cls(factor=float(description["factor"]), **sizes, **kept)
        step._check()
        return step

    def _check(self) -> None:
        feature, threshold, values = self.feature, self.threshold, self.values
        if feature.ndim != 1 or feature.dtype.kind != "i" or not feature.size:
            raise TypeError("feature must be a list of whole numbers.")
        if feature.min() < LEAF or feature.max() >= self.n_features:
            raise TypeError("feature must be the number of a column.")
        n_inner, n_leaves = int(self._is_inner.sum()), int((~self._is_inner).sum())
        if len(self._roots) != self.n_trees or n_leaves - n_inner != self.n_trees or self._is_inner[-1]:
            raise TypeError("feature must have as many whole trees as the description says.")
        if (
            threshold.shape != (n_inner,)
            or threshold.dtype not in (np.float32, np.float64)
            or np.isnan(threshold).any()
        ):
            raise TypeError("threshold must be a number for each inner node.")
        if values.ndim != 2 or values.dtype != np.float64 or values.shape[1] not in (1, self.n_outputs):
            raise TypeError("values must be numbers for each output.")
        if self.start.shape != (self.n_outputs,) or not np.isfinite(self.start).all() or not np.isfinite(values).all():
            raise TypeError("start and values must be finite.")
        if self.missing_left is not None and (
            self.missing_left.shape != (-(-n_inner // 8),) or self.missing_left.dtype != np.uint8
        ):
            raise TypeError("missing_left must be a bit for each inner node.")
        if self.leaf is None and len(values) != n_leaves:
            raise TypeError("values must have a row for each leaf.")
        if self.leaf is not None and (
            self.leaf.shape != (n_leaves,) or self.leaf.dtype.kind != "u" or self.leaf.max() >= len(values)
        ):
            raise TypeError("leaf must be the number of a row of values for each leaf.")
