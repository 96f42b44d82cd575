"""Where a classifier is undecided: the beliefs on the boundary between two classes, and the inputs next to one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import to_floats
from correspondence._util.text import list_names, short_repr

__all__ = [
    "boundary_beliefs",
    "class_index",
    "find_smallest_margins",
    "given_shares",
    "is_column",
    "measure_overlap",
    "shares_of_others",
]


def boundary_beliefs(k: int, a: int, b: int, n: int, others: np.ndarray) -> np.ndarray:
    """Beliefs at which classes a and b are equally likely and no other class is more likely.

    They go in equal steps from an even choice between a and b to the point where a third class catches up: for three
    classes the paper's p, p, 1 - 2p with p from 1/2 to 1/3.

    Parameters
    ----------
    k : int
        Number of classes.
    a, b : int
        Positions of the two classes.
    n : int
        Number of points.
    others : ndarray of shape (k,)
        Relative weights by which the other classes share the remaining probability; ignored for a and b.

    Returns
    -------
    ndarray of shape (n, k)

    Examples
    --------
    >>> boundary_beliefs(3, 0, 1, 2, np.ones(3)).round(3)
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


def shares_of_others(second: np.ndarray, a: int, b: int) -> np.ndarray:
    """Mean beliefs of all classes where the classifier means a or b, each as often: what it mixes up with them.

    Parameters
    ----------
    second : ndarray of shape (k, k)
        E[P(y | X) P(z | X)].
    a, b : int
        Positions of the two classes.
    """
    return second[a] / second[a].sum() + second[b] / second[b].sum()  # rows sum to the prior of their class


def measure_overlap(second: np.ndarray) -> np.ndarray:
    """Cosine between the beliefs of any two classes, from E[P(y | X) P(z | X)]; 0 for a class never predicted."""
    norm = np.sqrt(np.diag(second))
    unit = second / np.where(norm > 0, norm, 1)
    return np.minimum(unit / np.where(norm > 0, norm, 1)[:, None], 1)


def given_shares(others: Any, classes: np.ndarray) -> np.ndarray:
    """Shares from a class, a mapping from class to share, or the shares themselves."""
    k = len(classes)
    position = {label: i for i, label in enumerate(classes.tolist())}
    shares = np.zeros(k)
    if isinstance(others, Mapping):
        values = to_floats(list(others.values()), "others")
        if values.ndim != 1:
            raise ValueError("others must be a class, or a share of at least 0 for each class.")
        for label, share in zip(others, values, strict=True):
            shares[class_index(position, label, "others")] = share
    elif is_column(others):
        shares = to_floats(others, "others")
    else:
        shares[class_index(position, others, "others")] = 1
    if shares.shape != (k,) or not np.isfinite(shares).all() or (shares < 0).any():
        raise ValueError(f"others must be a class, or a share of at least 0 for each of the {k} classes.")
    return shares


def is_column(values: Any) -> bool:
    """Whether it is a list, an array, a tensor or a series of any library, and not a class, which may be a tuple."""
    if isinstance(values, list) or (getattr(values, "ndim", 0) == 1 and not sp.issparse(values)):
        return True
    return isinstance(nw.from_native(values, series_only=True, pass_through=True), nw.Series)


def class_index(position: Mapping[Any, int], label: Any, name: str) -> int:
    """Position of a class."""
    try:
        return position[label.item() if hasattr(label, "detach") else label]
    except (KeyError, TypeError, ValueError, RuntimeError):  # a tensor of several labels, or what cannot be hashed
        shown = list_names(position, show=short_repr)
        raise ValueError(f"{name}: {short_repr(label)} is not a class, choose among {shown}.") from None


def find_smallest_margins(
    P: np.ndarray, n: int, first: int | None = None, second: int | None = None
) -> tuple[np.ndarray, ...]:
    """Rows of beliefs with the smallest margin: which, their two classes, and the margin.

    Parameters
    ----------
    P : ndarray of shape (m, k)
        Beliefs.
    n : int
        At most so many.
    first, second : int, optional
        The two classes that must be the likeliest.
    """
    every = np.arange(len(P))
    likeliest = P.argmax(axis=1)  # of equals the first, as a prediction has it
    others = P.copy()
    others[every, likeliest] = -np.inf
    top = np.column_stack([likeliest, others.argmax(axis=1)])
    margin = P[every, top[:, 0]] - P[every, top[:, 1]]
    wanted = np.arange(len(P))
    if first is not None:
        wanted = np.flatnonzero((np.sort(top, axis=1) == sorted((first, second))).all(axis=1))  # type: ignore[type-var]
    order = wanted[np.argsort(margin[wanted], kind="stable")][:n]
    return order, top[order], margin[order]
