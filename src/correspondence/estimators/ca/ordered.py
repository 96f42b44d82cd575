"""Ordered rows and columns of a table: which labels have a place, and points at functions that keep the order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.text import short_repr
from correspondence.core.order.monotone import OrderedSide
from correspondence.data.label_order import find_declared_levels, find_orders, place_levels
from correspondence.estimators.ca.table_side import TableSide
from correspondence.results.ordered_points import OrderedPoints
from correspondence.results.points import Points

__all__ = [
    "TableOrder",
    "check_no_order",
    "declares_order",
    "drop_order_for_ridge",
    "read_table_order",
    "spread_averages",
]


@dataclass(frozen=True, eq=False)
class TableOrder:
    """The orders of both sides of a table.

    Attributes
    ----------
    levels : dict
        The labels with a place in the order, lowest first, for "rows" and "columns" if they are ordered.
    rows, columns : ndarray of int or None
        The positions of these labels among those that take part.
    """

    levels: dict[str, list[Any]]
    rows: np.ndarray | None
    columns: np.ndarray | None

    def make_sides(self, row_root: np.ndarray, column_root: np.ndarray) -> tuple[OrderedSide, OrderedSide]:
        """Make the sides of a matrix of residuals from the roots of the masses."""
        return OrderedSide(row_root, self.rows), OrderedSide(column_root, self.columns)


def read_table_order(ordered: Any, X: Any, Y: Any, sides: tuple[TableSide, TableSide], table: Any) -> TableOrder | None:
    """Read which labels are in order; see `CA`.

    Parameters
    ----------
    ordered : "auto", None, list of names or dict
        The parameter of the estimator.
    X, Y : table, or columns of labels
        The data as the user gave them.
    sides : (TableSide, TableSide)
        The rows and columns that take part.
    table : (Table, bool)
        The table that was read, and whether it counts pairs.

    Returns
    -------
    TableOrder or None
        None if no side is ordered.

    Warns
    -----
    LeftOut
        If levels given by the user do not occur.
    """
    counts, are_pairs = table
    orders = find_orders(ordered, X, Y, counts, are_pairs=are_pairs)
    levels: dict[str, list[Any]] = {}
    found: list[np.ndarray | None] = []
    for side, order in zip(sides, orders, strict=True):
        labels = side.labels[side.kept].tolist()
        is_given = isinstance(ordered, Mapping)
        places = None if order is None else place_levels(labels, order, f"the {side.name}", is_given=is_given)
        places = None if places is None or len(places) < 2 else places  # a single label has any order
        found.append(places)
        if places is not None:
            levels[side.name] = [labels[place] for place in places]
    return TableOrder(levels, found[0], found[1]) if levels else None


def drop_order_for_ridge(order: TableOrder | None, ordered: Any, regularization: Any) -> TableOrder | None:
    """Return the order, or none where a ridge is chosen for the unordered axes; asking for both is an error.

    Parameters
    ----------
    order : TableOrder or None
        The order that was read.
    ordered : "auto", None, list of names or dict
        The parameter of the estimator.
    regularization : None, "auto" or float
        The ridge of the estimator.
    """
    if order is None or not isinstance(regularization, str):
        return order
    if not isinstance(ordered, str):
        raise ValueError(
            'regularization must be None or a number for labels in order, got "auto". Pass a number, or ordered=None.'
        )
    return None


def check_no_order(ordered: Any, what: str) -> None:
    """Raise an error if the user asked for an order where none can be kept; "auto" then stands for none.

    Parameters
    ----------
    ordered : "auto", None, list of names or dict
        The parameter of the estimator.
    what : str
        What cannot be combined with an order.
    """
    if ordered is not None and not isinstance(ordered, str):
        raise ValueError(f"ordered must be None with {what}, got {short_repr(ordered)}. Leave one of them out.")


def declares_order(ordered: Any, X: Any, Y: Any) -> bool:
    """Say whether a fit to two columns of labels would keep an order.

    Parameters
    ----------
    ordered : "auto", None, list of names or dict
        The parameter of the estimator.
    X, Y : columns of labels
        The pairs.
    """
    if not isinstance(ordered, str):
        return bool(ordered)
    return any(find_declared_levels(column) for column in (X, Y))


def spread_averages(points: Points, side: TableSide, averages: np.ndarray | None) -> Points:
    """Add to points what the functions of the other side average to over their profiles; None for those as usual."""
    if averages is None:
        return points
    everywhere = np.full(points.standard.shape, np.nan)
    everywhere[np.searchsorted(side.shown, side.kept)] = averages
    return OrderedPoints(
        points.labels,
        points.mass,
        points.chi2_distance,
        points.inertia,
        points.standard,
        points.correlations,
        everywhere,
    )
