"""The order of labels: the one place that reads which order data declare, and which one a user gives."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.arguments import as_frame, find_user_stacklevel
from correspondence._util.labels import MISSING, as_labels, sort_labels
from correspondence._util.text import list_names, short_repr
from correspondence._util.user_warnings import LeftOut
from correspondence.data.pairs.opening import open_source, translate_engine_errors
from correspondence.data.pairs.pairs import Pairs, is_source
from correspondence.data.table import Table, has_row_labels

__all__ = [
    "SIDES",
    "SideOrder",
    "check_levels",
    "check_ordered",
    "declare_order",
    "find_declared_levels",
    "find_orders",
    "find_source_levels",
    "keep_declared_order",
    "place_levels",
    "sort_natural_levels",
]

SIDES = ("rows", "columns")
SideOrder = list[Any] | None  # the labels of a side in order, lowest first; None without an order


def find_declared_levels(column: Any) -> SideOrder:
    """Find the levels of a column that declares their order: an ordered categorical of pandas, or an Enum of polars.

    Parameters
    ----------
    column : array-like, series or index
        One label for each observation.

    Returns
    -------
    list or None
        All levels that the column may have, lowest first, without "(missing)"; None if it declares no order.

    Examples
    --------
    >>> import polars as pl
    >>> find_declared_levels(pl.Series(["low", "high"], dtype=pl.Enum(["low", "medium", "high"])))
    ['low', 'medium', 'high']
    >>> find_declared_levels(["low", "high"]) is None
    True
    """
    if getattr(column, "ordered", False) is True and hasattr(column, "categories"):  # an index or array of pandas
        return [level for level in column.categories.tolist() if not _is_missing_label(level)]
    series = column if isinstance(column, nw.Series) else nw.from_native(column, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        frame = as_frame(column, "the column of labels")
        if frame is None or frame.shape[1] != 1:
            return None
        series = frame[:, 0]
    return _read_categories(series.dtype)


def _read_categories(dtype: Any) -> SideOrder:
    return [level for level in dtype.categories if level != MISSING] if isinstance(dtype, nw.Enum) else None


def keep_declared_order(labels: Any, column: Any) -> Any:
    """Return labels that were made of a column as one that declares the same order, if they are texts.

    Parameters
    ----------
    labels : array-like
        The labels of the column, with "(missing)" for what is missing.
    column : array-like or series
        The column.

    Examples
    --------
    >>> import polars as pl
    >>> grades = pl.Series("grade", ["low", None, "high"], dtype=pl.Enum(["low", "high"]))
    >>> find_declared_levels(keep_declared_order(["low", "(missing)", "high"], grades))
    ['low', 'high']
    """
    levels = None if labels is column else find_declared_levels(column)
    return labels if levels is None else _declare_levels(labels, levels, _find_name(column))


def _declare_levels(labels: Any, levels: list[Any], name: Any) -> Any:
    """Return labels as a column that declares its levels, if these are all there is, and texts."""
    import polars as pl

    known = [*levels, MISSING]
    if not all(isinstance(level, str) for level in levels) or not set(labels) <= set(known):
        return labels
    return pl.Series(str(name or ""), labels, dtype=pl.Enum(list(dict.fromkeys(known))))


def declare_order(pairs: tuple[np.ndarray, np.ndarray], X: Any, table: Table, ordered: Any) -> tuple[Any, Any]:
    """Turn the pairs that a table counts into columns that declare the order that the table has.

    Parameters
    ----------
    pairs : (ndarray, ndarray)
        A label of each side for each pair, or its position in the order of the labels as texts.
    X : table
        The table as the user gave it.
    table : Table
        The table that was read.
    ordered : "auto", None, list of names or dict
        See `CA`.

    Returns
    -------
    x, y : ndarray, or polars.Series where there is an order
        The same labels.

    Examples
    --------
    >>> table = Table(np.array([[1, 1], [0, 1]]), rows=["low", "high"], columns=["no", "yes"])
    >>> x, y = declare_order((np.array(["1", "1", "0"]), np.array(["0", "1", "1"])), table, table, ["rows"])
    >>> find_declared_levels(x), find_declared_levels(y)
    (['1', '0'], None)
    """
    orders = find_orders(ordered, X, None, table, are_pairs=False)
    names = _read_sides(X, None, are_pairs=False)[0]
    columns: list[Any] = []
    for own, order, name, labels in zip(pairs, orders, names, (table.rows, table.columns), strict=True):
        levels, found = order or [], own.tolist()
        if not set(found) <= set(levels):  # positions
            by_text = np.argsort([str(label) for label in labels], kind="stable").tolist()
            position = {labels[i]: str(rank) for rank, i in enumerate(by_text)}
            levels = [position[level] for level in levels if level in position]
        columns.append(own if order is None else _declare_levels(own, levels, name))
    return columns[0], columns[1]


def check_ordered(ordered: Any, name: str) -> None:
    """Check what may be given as `ordered`, as far as that is possible without data.

    Parameters
    ----------
    ordered : "auto", None, list of names or dict
        The value. An iterator is refused: the first fit would use it up, and the next one would find no names.
    name : str
        The name of the parameter.
    """
    is_text = isinstance(ordered, str | bytes)
    if not (ordered is None or (is_text and ordered == "auto") or (not is_text and isinstance(ordered, Collection))):
        raise ValueError(
            f'{name} must be "auto", None, a list of names such as ["income"] or a dict of levels, got '
            f"{short_repr(ordered)}."
        )


def check_levels(levels: Any, name: str) -> list[Any]:
    """Check that levels are a list of different labels, and return it.

    Parameters
    ----------
    levels : iterable
        The labels, lowest first.
    name : str
        The name of the column or side.

    Examples
    --------
    >>> check_levels(["low", "low"], "rows")
    Traceback (most recent call last):
    ValueError: ordered["rows"] must have each level once, got 'low' twice. Remove the repetition.
    """
    where = f'ordered["{name}"]'
    if isinstance(levels, str | bytes) or not isinstance(levels, Iterable):
        raise ValueError(f"{where} must be a list of levels, lowest first, got {short_repr(levels)}.")
    known = as_labels(list(levels), where).tolist()
    unhashable = [level for level in known if isinstance(level, list | dict | set | np.ndarray)]
    if unhashable:
        raise ValueError(f"{where} must have labels as levels, got {short_repr(unhashable[0])}.")
    if len(known) < 2:
        raise ValueError(f"{where} must have at least two levels, got {len(known)}.")
    seen: set[Any] = set()
    for level in known:
        if level in seen:
            raise ValueError(
                f"{where} must have each level once, got {short_repr(level)} twice. Remove the repetition."
            )
        seen.add(level)
    return known


def sort_natural_levels(labels: Iterable[Any], name: str) -> list[Any]:
    """Sort labels that have an order of their own: numbers and dates. Texts have none.

    Parameters
    ----------
    labels : iterable
        Different labels. A label for missing ones has no place in the order.
    name : str
        The name of the column or side.

    Examples
    --------
    >>> sort_natural_levels([3, 1, 2], "rows")
    [1, 2, 3]
    """
    known = [label for label in labels if not _is_missing_label(label)]
    has_order = {_find_natural_type(label) for label in known}
    if len(has_order) != 1 or None in has_order:
        raise ValueError(
            f"ordered must give the levels of {name}, whose labels have no order of their own. Pass "
            f'ordered={{"{name}": [lowest, ..., highest]}}.'
        )
    return sort_labels(known)


def place_levels(labels: list[Any], levels: list[Any], where: str, *, is_given: bool) -> np.ndarray:
    """Find the positions of levels among labels; a label for missing ones is free unless the levels have it.

    Parameters
    ----------
    labels : list
        The labels that occur.
    levels : list
        All levels, lowest first.
    where : str
        Errors and warnings call what has the labels so.
    is_given : bool
        Whether the user gave the levels, so that those that do not occur lead to a warning.

    Returns
    -------
    ndarray of int
        The positions of the levels that occur, lowest first.

    Warns
    -----
    LeftOut
        If levels given by the user do not occur.

    Examples
    --------
    >>> place_levels(["high", "low"], ["low", "medium", "high"], "the rows", is_given=False)
    array([1, 0])
    """
    position, known = {label: i for i, label in enumerate(labels)}, set(levels)
    unknown = [label for label in labels if label not in known and not _is_missing_label(label)]
    if unknown:
        raise ValueError(
            f"ordered must have all levels of {where}, but lacks {list_names(unknown, 5)}. Add them in order."
        )
    absent = [level for level in levels if level not in position]
    if absent and is_given:
        text = f"ordered: levels of {where} without a count take no part: {list_names(absent, 5)}."
        warnings.warn(text, LeftOut, stacklevel=find_user_stacklevel())
    return np.array([position[level] for level in levels if level in position], dtype=np.intp)


def _find_natural_type(label: Any) -> Any:
    if isinstance(label, bool | int | float | np.number | np.bool_):
        return "number"
    return type(label) if hasattr(label, "toordinal") or hasattr(label, "total_seconds") else None


def _is_missing_label(label: Any) -> bool:
    return isinstance(label, str) and label == MISSING


def find_orders(ordered: Any, X: Any, Y: Any, table: Table, *, are_pairs: bool) -> tuple[SideOrder, SideOrder]:
    """Find the orders of the rows and columns of a table that was read from X, or counted from X and Y.

    Parameters
    ----------
    ordered : "auto", None, list of names or dict
        See `CA`.
    X, Y : table, or columns of labels
        The data as the user gave them.
    table : Table
        The table that was read or counted.
    are_pairs : bool
        Whether it was counted.

    Returns
    -------
    rows, columns : list or None
        The levels, lowest first.

    Examples
    --------
    >>> table = Table(np.array([[3, 1], [0, 2]]), rows=["low", "high"], columns=["no", "yes"])
    >>> find_orders(["rows"], table, None, table, are_pairs=False)
    (['low', 'high'], None)
    """
    if ordered is None:
        return None, None
    names, declared = _read_sides(X, Y, are_pairs)
    if isinstance(ordered, str) and ordered == "auto":
        return declared
    asked = _read_asked(ordered, names)
    orders: list[SideOrder] = []
    for i, (side, labels) in enumerate(zip(SIDES, (table.rows, table.columns), strict=True)):
        if side not in asked:
            orders.append(None)
        elif asked[side] is not None:
            orders.append(asked[side])
        elif declared[i] is not None:
            orders.append(declared[i])
        else:
            orders.append(sort_natural_levels(labels.tolist(), side) if are_pairs else labels.tolist())
    return orders[0], orders[1]


def _read_asked(ordered: Any, names: tuple[Any, Any]) -> dict[str, SideOrder]:
    """Read the names that the user gave, as sides of the table, with levels if there are any."""
    asked: dict[str, SideOrder] = {}
    for name in ordered:
        sides = [side for side, own in zip(SIDES, names, strict=True) if name in (side, own)]
        if len(sides) == 2:
            raise ValueError(f'ordered must name one side, got {short_repr(name)} of both. Say "rows" or "columns".')
        if not sides:
            known = [*SIDES, *(own for own in names if own is not None)]
            raise ValueError(f"ordered must name {list_names(known)}, got {short_repr(name)}.")
        if sides[0] in asked:
            raise ValueError(f"ordered must name each side once, got the {sides[0]} twice.")
        asked[sides[0]] = check_levels(ordered[name], name) if isinstance(ordered, Mapping) else None
    return asked


def _read_sides(X: Any, Y: Any, are_pairs: bool) -> tuple[tuple[Any, Any], tuple[SideOrder, SideOrder]]:
    """Read what the data call rows and columns, and the orders that they declare."""
    if are_pairs and is_source(X):
        return _read_source(X)
    if are_pairs:
        names = tuple(_find_name(column) for column in (X, Y))
        return (names[0], names[1]), (find_declared_levels(X), find_declared_levels(Y))
    frame = as_frame(X, "X")
    if frame is None:
        return (None, None), (None, None)
    index, columns = nw.maybe_get_index(frame), getattr(frame.to_native(), "columns", None)
    names = getattr(index, "name", None), getattr(columns, "name", None)
    if has_row_labels(frame):
        return (frame.columns[0], names[1]), (find_declared_levels(frame[:, 0]), find_declared_levels(columns))
    return names, (find_declared_levels(index), find_declared_levels(columns))


def find_source_levels(pairs: Pairs, names: Iterable[str]) -> list[SideOrder]:
    """Find the levels that columns of a source declare, in order; None for those that declare none."""
    schema = pairs.frame.collect_schema()
    return [_read_categories(schema[name]) for name in names]


def _read_source(X: Any) -> tuple[tuple[Any, Any], tuple[SideOrder, SideOrder]]:
    if isinstance(X, Pairs):
        schema, names = X.frame.collect_schema(), [X.x, X.y]
    else:
        with translate_engine_errors("X"):
            schema = open_source(X, "X").collect_schema()
        names = list(schema.names())
    x, y = (_read_categories(schema[name]) for name in names if isinstance(name, str))
    return (names[0], names[1]), (x, y)


def _find_name(column: Any) -> Any:
    frame = as_frame(column, "the column of labels")
    if frame is not None:
        return frame.columns[0]
    name = getattr(column, "name", None)
    return name if isinstance(name, str) and name else None
