"""Where a classifier is undecided: the beliefs on the boundary between two classes, and the inputs next to one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

__all__ = [
    "choose_confused_group",
    "find_close_calls",
    "find_smallest_margins",
    "make_boundary_beliefs",
    "measure_overlap",
    "measure_shares_of_others",
]


def make_boundary_beliefs(k: int, a: int, b: int, n: int, others: np.ndarray) -> np.ndarray:
    """Make beliefs in which classes a and b are equally likely and no other class is more likely.

    They go in equal steps from an even choice between a and b to the point where a third class catches up: for three
    classes the paper's p, p, 1 - 2p with p from 1/2 to 1/3.

    Parameters
    ----------
    k : int
        There are k classes.
    a, b : int
        The two classes have these positions.
    n : int
        Make n points.
    others : ndarray of shape (k,)
        The other classes share the remaining probability in proportion to these weights; those of a and b are ignored.

    Returns
    -------
    ndarray of shape (n, k)
        The beliefs at the points.

    Examples
    --------
    >>> make_boundary_beliefs(3, 0, 1, 2, np.ones(3)).round(3)
    array([[0.5  , 0.5  , 0.   ],
           [0.333, 0.333, 0.333]])
    """
    shares = np.delete(others, [a, b])
    rest = shares / shares.sum() if shares.sum() > 0 else shares
    most = 1 / (1 + 2 * rest.max()) if rest.any() else 0.0  # then the largest of the others is as likely as a and b
    outside = np.linspace(0, most, n)
    P = np.empty((n, k))
    P[:, [a, b]] = ((1 - outside) / 2)[:, None]
    P[:, np.delete(np.arange(k), [a, b])] = outside[:, None] * rest
    return P


def measure_shares_of_others(second: np.ndarray, a: int, b: int) -> np.ndarray:
    """Measure the mean beliefs in all classes where the classifier means a or b, each as often.

    Parameters
    ----------
    second : ndarray of shape (k, k)
        The second moments are E[P(y | X) P(z | X)].
    a, b : int
        The two classes have these positions.
    """
    return second[a] / second[a].sum() + second[b] / second[b].sum()  # rows sum to the prior of their class


def measure_overlap(second: np.ndarray) -> np.ndarray:
    """Measure the cosine between the beliefs in any two classes, from E[P(y | X) P(z | X)]; 0 if never predicted."""
    norm = np.sqrt(np.diag(second))
    norm = np.where(norm > 0, norm, 1)
    return np.minimum(second / norm / norm[:, None], 1)


def choose_confused_group(overlap: np.ndarray, n: int) -> np.ndarray:
    """Choose n classes that are confused among themselves: of groups that grow from each class, the best one.

    Parameters
    ----------
    overlap : ndarray of shape (k, k)
        The overlap of any two classes.
    n : int
        Choose this many classes, at least two.

    Examples
    --------
    >>> choose_confused_group(np.array([[1, 0.1, 0.4], [0.1, 1, 0.2], [0.4, 0.2, 1]]), 2)
    array([0, 2])
    """
    between = overlap - np.diag(np.diag(overlap))
    best, total = list[int](), -1.0
    for first in range(len(between)):
        group, sums, own = [first], between[first].copy(), 0.0
        while len(group) < n:
            sums[group] = -np.inf
            added = int(np.argmax(sums))
            own += sums[added]
            group.append(added)
            sums = sums + between[added]
        if own > total:
            best, total = group, own
    return np.sort(best)


def find_close_calls(
    batches: Iterable[np.ndarray], n: int, pair: tuple[int, int] | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Find the smallest margins of batches of beliefs: the rows, their two classes, their margins and beliefs."""
    index, best, seen = np.empty(0, np.intp), np.empty((0, 0)), 0
    for P in batches:
        rows = find_smallest_margins(P, n, pair)[0]
        best = np.concatenate([best.reshape(-1, P.shape[1]), P[rows].astype(np.float64)])
        index, seen = np.concatenate([index, rows + seen]), seen + len(P)
        order = find_smallest_margins(best, n, pair)[0]
        index, best = index[order], best[order]
    if not seen:
        raise ValueError("X is empty: beliefs need at least one input.")
    _, top, margin = find_smallest_margins(best, n, pair)
    return index, top, margin, best


def find_smallest_margins(P: np.ndarray, n: int, pair: tuple[int, int] | None = None) -> tuple[np.ndarray, ...]:
    """Find the rows of beliefs with the smallest margin: their positions, their two classes, and the margins.

    Parameters
    ----------
    P : ndarray of shape (m, k)
        The beliefs have a row for each input.
    n : int
        Find at most n rows.
    pair : (int, int), optional
        Find only rows whose two likeliest classes have these positions.
    """
    every = np.arange(len(P))
    likeliest = P.argmax(axis=1)  # of equals the first, as a prediction has it
    others = P.copy()
    others[every, likeliest] = -np.inf
    top = np.column_stack([likeliest, others.argmax(axis=1)])
    margin = P[every, top[:, 0]] - P[every, top[:, 1]]
    wanted = every if pair is None else np.flatnonzero((np.sort(top, axis=1) == sorted(pair)).all(axis=1))
    wanted = wanted[np.isfinite(margin[wanted])]  # beliefs are NaN where no class of a group is believed
    order = wanted[np.argsort(margin[wanted], kind="stable")][:n]
    return order, top[order], margin[order]
