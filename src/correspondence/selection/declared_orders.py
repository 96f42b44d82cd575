"""Which columns declare an order, and whether the method that `decompose` takes keeps it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from correspondence._util.arguments import as_frame
from correspondence._util.text import list_names
from correspondence.data.label_order import SIDES, find_declared_levels, find_orders
from correspondence.data.table import Table

__all__ = ["ORDERING_METHODS", "describe_orders", "list_declared_orders", "list_table_orders"]

ORDERING_METHODS = ("ca", "ace")  # their first pair of functions rises or falls with the order


def list_declared_orders(X: Any, Y: Any, names: tuple[str, str] = ("x", "y")) -> dict[tuple[int, Any], str]:
    """List the columns of two variables that declare an order.

    Parameters
    ----------
    X, Y : array-like, series or frame
        The variables.
    names : (str, str)
        A single column without a name is called so.

    Returns
    -------
    dict
        The names of the columns, by their places: the variable, and the column of a frame.

    Examples
    --------
    >>> import polars as pl
    >>> grades = pl.Series("grade", ["low", "high"], dtype=pl.Enum(["low", "high"]))
    >>> list_declared_orders(grades, pl.DataFrame({"first": [1, 2], "second": grades}))
    {(0, None): 'grade', (1, 'second'): 'second'}
    """
    found: dict[tuple[int, Any], str] = {}
    for i, (values, name) in enumerate(zip((X, Y), names, strict=True)):
        frame = as_frame(values, name)
        if frame is not None and frame.shape[1] > 1:
            found |= {(i, own): str(own) for own in frame.columns if find_declared_levels(frame[own])}
        elif find_declared_levels(values):
            found[i, None] = str(getattr(values, "name", None) or name) if frame is None else str(frame.columns[0])
    return found


def list_table_orders(X: Any, table: Table) -> dict[str, str]:
    """List the sides of a table that declare an order.

    Parameters
    ----------
    X : frame, array-like or Table
        The table as the user gave it.
    table : Table
        The table that was read.
    """
    orders = find_orders("auto", X, None, table, are_pairs=False)
    return {side: side for side, order in zip(SIDES, orders, strict=True) if order}


def describe_orders(method: str, declared: Mapping[Any, str], kept: Collection[Any]) -> str:
    """Say which declared orders a method keeps and which it does not; nothing if none is declared.

    Parameters
    ----------
    method : str
        The method that was taken.
    declared : dict
        The names of the columns that declare an order, by their places.
    kept : collection
        The places of those that still did when the method was fitted: merged labels have no order.

    Examples
    --------
    >>> describe_orders("ca", {0: "income", 1: "grade"}, [0])
    '; in order: income; the order of grade is not used'
    """
    is_kept = {place: method in ORDERING_METHODS and place in kept for place in declared}
    orders, lost = ([name for place, name in declared.items() if is_kept[place] == wanted] for wanted in (True, False))
    text = f"; in order: {list_names(orders, 5, show=str)}" if orders else ""
    return text + (f"; the order of {list_names(lost, 5, show=str)} is not used" if lost else "")
