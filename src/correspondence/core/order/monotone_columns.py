"""Functions of ordered columns among the features of a side: when they are monotone, and what keeps them so.

A function of labels is monotone if its steps have one sign, one of a number if its derivative has one. Between two
knots the derivative of a cubic spline is quadratic: it has no sign change if none of its Bernstein coefficients has
another sign, on the interval or on parts of it. On parts, few functions are monotone that do not pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from correspondence.core.splines import SplineBasis

__all__ = ["ColumnOrder", "is_monotone", "list_cones", "straighten_discrete_columns"]

PARTS_OF_INTERVAL = 2  # on which the Bernstein coefficients keep the derivative from changing its sign
ORDER_TOLERANCE = 1e-9  # of a step or derivative against the order that is rounding, as a share of the largest one


@dataclass(frozen=True, eq=False)
class ColumnOrder:
    """A column whose function is to be monotone.

    Attributes
    ----------
    column : int
        The position of the number among the encoded columns of its side; of labels, that of any of them.
    levels : ndarray of int or None
        The positions of the indicators of the labels, lowest first; None for a number.
    """

    column: int
    levels: np.ndarray | None = None


def list_cones(basis: SplineBasis, orders: Sequence[ColumnOrder]) -> list[np.ndarray]:
    """List a matrix for each ordered column: its function rises if the product with the weights is not negative.

    Parameters
    ----------
    basis : SplineBasis
        The features of the side.
    orders : sequence of ColumnOrder
        The ordered columns.

    Returns
    -------
    list of ndarray of shape (m, width)
        Without rows for what has any order: a straight line, or a single label.

    Examples
    --------
    >>> basis = SplineBasis([np.empty(0)] * 3)                     # indicators of three labels
    >>> list_cones(basis, [ColumnOrder(0, np.array([2, 0, 1]))])[0].astype(int)
    array([[ 1,  0, -1],
           [-1,  1,  0]])
    """
    spread = basis.spread_combinations()
    return [_drop_repeated_rows(_make_cone(basis, order, PARTS_OF_INTERVAL)) @ spread for order in orders]


def _drop_repeated_rows(cone: np.ndarray) -> np.ndarray:
    """Keep one of equal rows: where one part of an interval ends, the next begins."""
    scale = np.abs(cone).max(initial=0) or 1.0
    first = np.unique(np.round(cone / scale, 12), axis=0, return_index=True)[1]
    return cone[np.sort(first)]


def is_monotone(basis: SplineBasis, orders: Sequence[ColumnOrder], weights: np.ndarray) -> bool:
    """Tell whether the function with these weights of the features is monotone in each ordered column.

    Parameters
    ----------
    basis : SplineBasis
        The features of the side, without linear combinations.
    orders : sequence of ColumnOrder
        The ordered columns.
    weights : ndarray of shape (width,)
        The weights.
    """
    for order in orders:
        steps = _make_cone(basis, order, 1) @ weights
        largest = np.abs(steps).max(initial=0)
        if largest > 0 and not any(_has_no_descent(sign * steps / largest, basis, order) for sign in (1, -1)):
            return False
    return True


def _has_no_descent(steps: np.ndarray, basis: SplineBasis, order: ColumnOrder) -> bool:
    """Tell whether steps, or the coefficients of quadratic derivatives, leave a function that does not descend."""
    if order.levels is not None or basis.straight[order.column]:
        return bool((steps >= -ORDER_TOLERANCE).all())
    rest, triples = np.split(steps, [len(steps) - 3 * int((~basis.find_gaps(order.column)).sum())])
    first, middle, last = triples.reshape(-1, 3).T
    # u (1 - t)^2 + 2 v t (1 - t) + w t^2 is nowhere negative if u, w >= 0 and v >= -sqrt(u w).
    lowest = -np.sqrt(np.maximum(first, 0) * np.maximum(last, 0))
    ends = min(rest.min(initial=0), first.min(initial=0), last.min(initial=0))
    return bool(ends >= -ORDER_TOLERANCE and (middle >= lowest - ORDER_TOLERANCE).all())


def _make_cone(basis: SplineBasis, order: ColumnOrder, parts: int) -> np.ndarray:
    """Make the matrix of one column, for the features without linear combinations.

    The rows of a spline are the steps over gaps and the slopes at both ends, and then three coefficients for each part
    of each interval.
    """
    places = basis.feature_slices
    width = places[-1].stop
    if order.levels is not None:
        at = np.array([places[j].start for j in order.levels], dtype=np.intp)
        return np.eye(width)[at[1:]] - np.eye(width)[at[:-1]]
    knots, own = basis.knots[order.column], places[order.column]
    if len(knots) < 3:
        return np.empty((0, width))
    if basis.straight[order.column]:
        rows = np.diff(np.eye(len(knots)), axis=0)
    else:
        rows = _differentiate_spline(basis, order.column, parts)
    cone = np.zeros((len(rows), width))
    cone[:, own] = rows
    return cone


def _differentiate_spline(basis: SplineBasis, column: int, parts: int) -> np.ndarray:
    """Compute steps over gaps, slopes at the ends, and Bernstein coefficients of the derivative in all intervals."""
    knots, spline, is_gap = basis.knots[column], basis.get_spline(column), basis.find_gaps(column)
    steps = np.diff(np.eye(len(knots)), axis=0)[is_gap]
    cuts = np.linspace(knots[:-1], knots[1:], parts + 1)[:, ~is_gap]
    start, end = cuts[:-1].T.ravel(), cuts[1:].T.ravel()
    first, middle, last = spline(start, 1), spline((start + end) / 2, 1), spline(end, 1)
    triples = np.stack([first, 2 * middle - (first + last) / 2, last], axis=1)
    return np.vstack([steps, spline(knots[[0, -1]], 1), triples.reshape(-1, len(knots))])


def straighten_discrete_columns(basis: SplineBasis, orders: Sequence[ColumnOrder]) -> SplineBasis:
    """Make functions of ordered numbers straight between the knots where all values are knots.

    There a function is monotone if its values at the knots are, however steep it is, and nothing is lost.

    Parameters
    ----------
    basis : SplineBasis
        The features of the side.
    orders : sequence of ColumnOrder
        The ordered columns.
    """
    numbers = [order.column for order in orders if order.levels is None]
    straight = basis.straight.copy()
    straight[numbers] = basis.is_discrete[numbers]
    return basis.straighten(straight)
