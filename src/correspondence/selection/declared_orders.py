"""Which columns declare an order, and whether the method that `decompose` takes keeps it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from correspondence._util.arguments import as_frame
from correspondence._util.text import list_names
from correspondence.data.encoders.columns import Columns
from correspondence.data.encoders.single_column import Category
from correspondence.data.label_order import SIDES, find_declared_levels, find_orders
from correspondence.data.table import Table
from correspondence.selection.method_registry import PairsProfile
from correspondence.selection.race import Contest

__all__ = ["describe_orders", "list_declared_orders", "list_kept_orders", "list_table_orders"]

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
            found |= {(i, own): str(own) for j, own in enumerate(frame.columns) if find_declared_levels(frame[:, j])}
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


def list_kept_orders(method: str, contest: Contest) -> list[tuple[int, Any]]:
    """List the places of the columns whose order a method keeps, as `list_declared_orders` has them.

    Parameters
    ----------
    method : str
        The method that was taken.
    contest : Contest
        The pairs that it is fitted to.
    """
    if method not in ORDERING_METHODS or contest.given is not None:
        return []
    places = list(list_declared_orders(contest.X, contest.Y))
    return places if method == "ca" else [place for place in places if not _has_rare_level(contest.pairs, *place)]


def _has_rare_level(pairs: PairsProfile, i: int, key: Any) -> bool:
    """Tell whether rare labels of a column share a level, which has no place in an order."""
    encoder = (pairs.x, pairs.y)[i].encoder
    columns = encoder.columns if isinstance(encoder, Columns) else {}
    column = columns.get(key, next(iter(columns.values()), None) if key is None else None)
    return isinstance(column, Category) and bool(column.merged)


def describe_orders(declared: Mapping[Any, str], kept: Collection[Any]) -> str:
    """Say which declared orders are kept and which are not; nothing if none is declared.

    Parameters
    ----------
    declared : dict
        The names of the columns that declare an order, by their places.
    kept : collection
        The places of those whose order is kept.

    Examples
    --------
    >>> describe_orders({0: "income", 1: "grade"}, [0])
    '; in order: income; the order of grade is not used'
    """
    orders, lost = ([name for place, name in declared.items() if (place in kept) == wanted] for wanted in (True, False))
    text = f"; in order: {list_names(orders, 5, show=str)}" if orders else ""
    return text + (f"; the order of {list_names(lost, 5, show=str)} is not used" if lost else "")
