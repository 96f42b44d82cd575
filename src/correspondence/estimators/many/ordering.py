"""Which columns of answers are analysed in order, and what their order is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from correspondence._util.labels import MISSING
from correspondence._util.text import list_names, short_repr
from correspondence.core.column_blocks import ColumnBlock
from correspondence.core.column_features import FeatureColumn, LabelColumn
from correspondence.data.label_order import check_levels
from correspondence.estimators.many.reading import list_given_names

__all__ = ["check_ordered", "find_orders", "mark_ordered_blocks"]


def check_ordered(value: Any, name: str) -> None:
    """Check what may be given as `ordered`, before there are any columns."""
    if isinstance(value, Mapping):
        for key, levels in value.items():
            check_levels(levels, key)
    elif not isinstance(value, str) or value != "auto":
        list_given_names(value, name, "columns")


def find_orders(ordered: Any, names: Sequence[Any]) -> dict[Any, list[Any] | None]:
    """Return the columns that are named as ordered, with their levels, or None if they have an order of their own.

    Parameters
    ----------
    ordered : "auto", None, list of names, or dict from names to levels
        What the user gave.
    names : sequence
        The names of the active columns.

    Returns
    -------
    dict
        It is empty if the columns themselves decide, or no order is used.
    """
    if isinstance(ordered, str) and ordered == "auto":
        return {}
    if isinstance(ordered, Mapping):
        found: dict[Any, list[Any] | None] = {key: list(levels) for key, levels in ordered.items()}
    else:
        found = dict.fromkeys(list_given_names(ordered, "ordered", "columns"))
    absent = [key for key in found if key not in set(names)]
    if absent:
        raise ValueError(
            f"ordered must name active columns of X, got {list_names(absent, 5, show=short_repr)}. "
            f"X has {list_names(list(names), 10)}."
        )
    return found


def mark_ordered_blocks(
    blocks: Sequence[ColumnBlock], columns: Sequence[FeatureColumn], ordered: Any
) -> list[ColumnBlock]:
    """Mark the columns that are monotone along the first axis; missing answers have no place in the order.

    Parameters
    ----------
    blocks : sequence of ColumnBlock
        The columns among the features.
    columns : sequence of FeatureColumn
        The columns themselves.
    ordered : "auto", None, list of names, or dict from names to levels
        What the user gave.

    Returns
    -------
    list of ColumnBlock
        The same columns, some with an order.
    """
    if ordered is None:
        return list(blocks)
    is_auto = isinstance(ordered, str) and ordered == "auto"
    named = set() if is_auto else set(list_given_names(ordered, "ordered", "columns"))
    marked = []
    for block, column in zip(blocks, columns, strict=True):
        if isinstance(column, LabelColumn) and (column.is_ordered if is_auto else column.name in named):
            is_level = np.array([not column.names_missing or answer != MISSING for answer in column.answers.tolist()])
            block = replace(block, order=np.flatnonzero(is_level))
        marked.append(block)
    return marked
