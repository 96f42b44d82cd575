"""Poolings of neighbouring labels: the exact search for the best monotone pair of a small table.

A monotone function is constant on blocks of neighbours and increases strictly from block to block. Between functions
that are constant on these blocks the constraint does nothing, so the best monotone pair is a stationary point of
u^T Q v there, and since all but the first singular pair are saddles, the first one of the pooled table. Every further
pooling lowers the first singular value: a pooling that is not better than the best pair known needs no further one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["MAX_POOLINGS", "MAX_WRONG_STEP", "find_pooled_pair", "search_poolings"]

MAX_POOLINGS = 4096  # poolings looked at, the number for 7 ordered rows and 7 ordered columns
MAX_CELLS = 1024  # of a table whose poolings are searched
MIN_GAIN = 1e-12  # of a correlation that is larger
MAX_WRONG_STEP = 1e-10  # steps of functions of variance 1 in the wrong direction that rounding may leave


def make_projectors(root: np.ndarray, order: np.ndarray | None, joined: np.ndarray) -> np.ndarray:
    """Make the projectors on sqrt(r) times functions that are constant on blocks.

    Parameters
    ----------
    root : ndarray of shape (m,)
        The square roots of the masses.
    order : ndarray of int or None
        The positions of the ordered labels, lowest first.
    joined : ndarray of bool, of shape (N, k - 1)
        For each pooling, which neighbours in the order are in the same block.

    Returns
    -------
    ndarray of shape (N, m, m)
        The projectors.

    Examples
    --------
    >>> make_projectors(np.sqrt([0.5, 0.5]), np.arange(2), np.array([[True], [False]])).round(1).tolist()
    [[[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]]
    """
    m = len(root)
    block = np.tile(np.arange(m) + m, (len(joined), 1))  # free labels are blocks of their own
    if order is not None and len(order):
        block[:, order[0]] = 0
        block[:, order[1:]] = np.cumsum(~joined, axis=1)
    together = block[:, :, None] == block[:, None, :]
    mass = together @ root**2
    return together * np.outer(root, root) / mass[:, :, None]


def find_pooled_pair(
    Q: np.ndarray, rows: Any, columns: Any, joined: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Find the first singular pair of the pooled table, if it is monotone.

    Parameters
    ----------
    Q : ndarray of shape (r, c)
        The standardised residuals.
    rows, columns : OrderedSide
        The masses and orders of both sides.
    joined : (ndarray of bool, ndarray of bool)
        Which neighbours in the order of each side are in the same block.

    Returns
    -------
    (u, v, s) or None
        The pair and its singular value.
    """
    left, right = (_make_pooled_basis(side, own) for side, own in zip((rows, columns), joined, strict=True))
    U, s, Vt = np.linalg.svd((right.T @ (left.T @ Q).T).T, full_matrices=False)
    u, v = left @ U[:, 0], right @ Vt[0]
    is_monotone = all(side.find_direction(w, MAX_WRONG_STEP) is not None for side, w in ((rows, u), (columns, v)))
    return (u, v, float(s[0])) if is_monotone else None


def _make_pooled_basis(side: Any, joined: np.ndarray) -> sp.csr_array:
    """Make an orthonormal basis of sqrt(r) times functions that are constant on blocks, one for each block."""
    m = len(side.root)
    block = np.arange(m) + m  # free labels are blocks of their own
    if side.is_ordered:
        block[side.order] = np.concatenate([[0], np.cumsum(~joined)])
    names, place = np.unique(block, return_inverse=True)
    mass = np.bincount(place, side.root**2)
    return sp.csr_array((side.root / np.sqrt(mass[place]), (np.arange(m), place)), shape=(m, len(names)))


def search_poolings(
    Q: np.ndarray, rows: Any, columns: Any, known: float, max_poolings: int = MAX_POOLINGS
) -> tuple[tuple[np.ndarray, np.ndarray] | None, bool]:
    """Search the poolings for a monotone pair that is better than the best one known.

    Parameters
    ----------
    Q : ndarray of shape (r, c)
        The standardised residuals.
    rows, columns : OrderedSide
        The masses and orders of both sides.
    known : float
        The correlation of the best pair known.
    max_poolings : int
        Give up after so many poolings.

    Returns
    -------
    pair : (u, v) or None
        The best pair, if it is better than the one known.
    is_proven : bool
        Whether all poolings that could be better were looked at.
    """
    n_rows, n_columns = ((len(side.order) - 1 if side.is_ordered else 0) for side in (rows, columns))
    frontier = np.zeros((1, n_rows + n_columns), dtype=bool)
    best, n_seen = None, 0
    while len(frontier):
        n_seen += len(frontier)
        if n_seen > max_poolings or Q.size > MAX_CELLS:
            return best, False
        P = make_projectors(rows.root, rows.order, frontier[:, :n_rows]) if n_rows else np.eye(len(Q))
        R = make_projectors(columns.root, columns.order, frontier[:, n_rows:]) if n_columns else np.eye(Q.shape[1])
        U, s, Vt = np.linalg.svd(P @ Q @ R, full_matrices=False)
        is_monotone = _find_monotone(rows, U[:, :, 0]) & _find_monotone(columns, Vt[:, 0])
        i = int(np.argmax(np.where(is_monotone, s[:, 0], -1.0)))
        if is_monotone[i] and s[i, 0] > known + MIN_GAIN:
            best, known = (U[i, :, 0], Vt[i, 0]), float(s[i, 0])
        frontier = _join_neighbours(frontier[s[:, 0] > known + MIN_GAIN])
    return best, True


def _find_monotone(side: Any, vectors: np.ndarray) -> np.ndarray:
    """Tell which of many functions of a side increase or decrease with its order."""
    if not side.is_ordered:
        return np.ones(len(vectors), dtype=bool)
    steps = np.diff((vectors / side.root)[:, side.order], axis=1)
    return np.asarray((steps >= -MAX_WRONG_STEP).all(axis=1) | (steps <= MAX_WRONG_STEP).all(axis=1))


def _join_neighbours(frontier: np.ndarray) -> np.ndarray:
    """List the poolings that join one more pair of neighbours, behind all that are joined: so each is listed once.

    None is lost: a pooling that could be better has only poolings that could be better on the way to it.
    """
    width = frontier.shape[1]
    last = np.where(frontier.any(axis=1), width - 1 - np.argmax(frontier[:, ::-1], axis=1), -1)
    place, neighbour = np.nonzero(np.arange(width) > last[:, None])
    children = frontier[place]
    children[np.arange(len(children)), neighbour] = True
    return children
