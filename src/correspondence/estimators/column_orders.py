"""Ordered columns of two variables: which of their encoded columns have an order, by name or as the data declare it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from correspondence._util.arguments import as_frame, find_user_stacklevel
from correspondence._util.text import list_names, short_repr
from correspondence._util.user_warnings import LeftOut
from correspondence.core.order.monotone_columns import ColumnOrder
from correspondence.data.encoders.columns import Columns
from correspondence.data.encoders.single_column import (
    Category,
    ColumnEncoder,
    Dates,
    Indicated,
    Linear,
    NormalScores,
    Number,
    Parsed,
)
from correspondence.data.label_order import (
    SideOrder,
    check_levels,
    find_declared_levels,
    find_source_levels,
    place_levels,
    sort_natural_levels,
)
from correspondence.data.pairs.pairs import Pairs

__all__ = ["declares_column_order", "read_column_orders"]

SIDES = ("X", "Y")
MIN_LEVELS = 3  # two have some order anyhow


@dataclass(frozen=True, eq=False)
class OrderedVariable:
    """One of the two variables, as far as its order is concerned.

    Attributes
    ----------
    side : {"X", "Y"}
        What errors call it, and its name if it has one column.
    names : dict
        The name of each column, as the user may call it, leads to its key in the encoder.
    declared : dict
        The key of each column that declares an order leads to its levels.
    is_frame : bool
        Whether the names are those of a frame, which come before the name that a single series may have inherited.
    """

    side: str
    names: dict[Any, Any]
    declared: dict[Any, list[Any]]
    is_frame: bool = True

    @classmethod
    def from_values(cls, values: Any, side: str, keys: list[Any]) -> OrderedVariable:
        """Read the names and levels of data in memory, whose encoder calls the columns by keys."""
        frame = as_frame(values, side)
        if frame is not None:
            found = {name: find_declared_levels(frame[:, j]) for j, name in enumerate(frame.columns)}
            return cls.from_levels(side, {name: name for name in frame.columns}, found)
        series = nw.from_native(values, series_only=True, pass_through=True)
        named = {series.name: keys[0]} if isinstance(series, nw.Series) and series.name not in (None, "") else {}
        levels = {keys[0]: find_declared_levels(values)} if len(keys) == 1 else {}
        return cls.from_levels(side, named or {key: key for key in keys}, levels, is_frame=False)

    @classmethod
    def from_pairs(cls, pairs: Pairs, side: str, keys: list[Any]) -> OrderedVariable:
        """Read the names and levels of a side of pairs that are not in memory."""
        own = pairs.x if side == "X" else pairs.y
        names = [own] if isinstance(own, str) else list(own)
        levels = find_source_levels(pairs, names)
        return cls.from_levels(side, dict(zip(names, keys, strict=True)), dict(zip(keys, levels, strict=True)))

    @classmethod
    def from_levels(
        cls, side: str, names: dict[Any, Any], levels: dict[Any, SideOrder], *, is_frame: bool = True
    ) -> OrderedVariable:
        """Take the columns that declare levels."""
        return cls(side, names, {key: own for key, own in levels.items() if own}, is_frame)

    def find_key(self, name: Any) -> list[Any]:
        """Return the key of a column with this name, or nothing."""
        return [key for own, key in self.names.items() if own == name]


def read_column_orders(
    ordered: Any, pairs: Any, encoders: tuple[Columns, Columns] | list[Columns]
) -> tuple[list[ColumnOrder], list[ColumnOrder]] | None:
    """Read which encoded columns are in order; see `ACE`.

    Parameters
    ----------
    ordered : "auto", None, list of names or dict
        The parameter of the estimator.
    pairs : Memory or Pairs
        The data as the user gave them.
    encoders : pair of Columns
        They encode both sides.

    Returns
    -------
    pair of list of ColumnOrder, or None
        None if no column is in order.

    Warns
    -----
    LeftOut
        If levels given by the user do not occur.
    """
    if ordered is None:
        return None
    if isinstance(pairs, Pairs):
        sides = [OrderedVariable.from_pairs(pairs, *own) for own in _pair_names(encoders)]
    else:
        values = (pairs.x, pairs.y)
        sides = [OrderedVariable.from_values(v, *own) for v, own in zip(values, _pair_names(encoders), strict=True)]
    asked = _find_asked(ordered, sides)
    found = [
        [
            order
            for key, (name, levels) in own.items()
            if (order := _order_column(encoder, key, (side, name), levels, ordered)) is not None
        ]
        for encoder, side, own in zip(encoders, sides, asked, strict=True)
    ]
    return (found[0], found[1]) if any(found) else None


def _pair_names(encoders: tuple[Columns, Columns] | list[Columns]) -> list[tuple[str, list[Any]]]:
    return [(side, list(encoder.names)) for side, encoder in zip(SIDES, encoders, strict=True)]


def _find_asked(ordered: Any, sides: list[OrderedVariable]) -> list[dict[Any, tuple[Any, SideOrder]]]:
    """Find the columns that are in order: for each side, keys with the names that the user knows, and levels given."""
    if isinstance(ordered, str):
        return [{key: (name, None) for name, key in side.names.items() if key in side.declared} for side in sides]
    asked: list[dict[Any, tuple[Any, SideOrder]]] = [{}, {}]
    for name in ordered:
        i, key = _find_column(name, sides)
        if key in asked[i]:
            raise ValueError(f"ordered must name each column once, got {short_repr(name)} twice.")
        asked[i][key] = name, check_levels(ordered[name], name) if isinstance(ordered, Mapping) else None
    return asked


def _find_column(name: Any, sides: list[OrderedVariable]) -> tuple[int, Any]:
    """Find the side and the key of a column with a name, or of the only column of X or Y."""
    found = [(i, key) for i, side in enumerate(sides) for key in side.find_key(name)]
    found = [own for own in found if sides[own[0]].is_frame] or found
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(
            f"ordered must name columns of one variable, got {short_repr(name)}, which X and Y both have. Rename one, "
            'or call the only column of a variable "X" or "Y".'
        )
    if name in SIDES:
        i = SIDES.index(name)
        if len(sides[i].names) == 1:
            return i, next(iter(sides[i].names.values()))
        raise ValueError(f"ordered must name columns of {name}, which has {len(sides[i].names)}, got {name!r}.")
    known = [*(own for side in sides for own in side.names if own != 0), *SIDES]
    raise ValueError(f"ordered must name columns such as {list_names(known, 8)}, got {short_repr(name)}.")


def _order_column(
    encoder: Columns, key: Any, where: tuple[OrderedVariable, Any], levels: SideOrder, ordered: Any
) -> ColumnOrder | None:
    """Find the order of one column; None for a column that is left out, or has so few levels that any order will do."""
    side, name = where
    if key not in encoder.columns:  # constant columns, of which the encoder warns
        return None
    widths = [column.width for column in encoder.columns.values()]
    first = int(sum(widths[: list(encoder.columns).index(key)]))
    column = _unwrap(encoder.columns[key])
    called = f"column {short_repr(name)}"
    if isinstance(column, Category):
        if column.merged and isinstance(ordered, str):
            text = f"The order of {called} is not used, because rare labels share a level."
            warnings.warn(text, LeftOut, stacklevel=find_user_stacklevel())
            return None
        if column.merged:
            raise ValueError(
                f"ordered must name columns of at most {column.width} labels, got {called} of more. Merge some labels."
            )
        levels = levels or side.declared.get(key) or sort_natural_levels(column.labels, name)
        places = place_levels(column.labels, levels, called, is_given=isinstance(ordered, Mapping))
        return ColumnOrder(first, first + places) if len(places) >= MIN_LEVELS else None
    is_number = isinstance(column, Number | NormalScores | Linear) or (isinstance(column, Dates) and not column.parts)
    if not is_number:
        what = "dates with seasons or times of day" if isinstance(column, Dates) else "texts or lists"
        raise ValueError(
            f"ordered must name columns of numbers or labels, got {called}, which holds {what}. Make numbers of it."
        )
    if levels is not None:
        raise ValueError(f"ordered must give levels of labels only, got {called} of numbers. Name it in a list.")
    return ColumnOrder(first)


def _unwrap(column: ColumnEncoder) -> ColumnEncoder:
    """Return the encoder of what is there of a column; indicators of missing values come after it."""
    while isinstance(column, Indicated | Parsed):
        column = column.inner
    return column


def declares_column_order(ordered: Any, X: Any, Y: Any) -> bool:
    """Say whether a fit to pairs in memory would keep an order.

    Parameters
    ----------
    ordered : "auto", None, list of names or dict
        The parameter of the estimator.
    X, Y : array-like or frame
        The pairs.
    """
    if not isinstance(ordered, str):
        return bool(ordered)
    for values, side in ((X, "X"), (Y, "Y")):
        frame = as_frame(values, side)
        columns = [values] if frame is None else [frame[:, j] for j in range(frame.shape[1])]
        if any(find_declared_levels(column) for column in columns):
            return True
    return False
