"""From tables, label columns and sources of pairs to a table of counts."""

from __future__ import annotations

import warnings
from collections.abc import Sized
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.arguments import as_frame, find_user_stacklevel
from correspondence._util.text import list_names
from correspondence._util.user_warnings import LeftOut
from correspondence.data.counting import count_pairs, count_with_codes
from correspondence.data.pairs.opening import open_source, translate_engine_errors
from correspondence.data.pairs.pairs import Pairs, is_source
from correspondence.data.table import Table, as_table, weighted_columns

__all__ = ["is_column_of_labels", "is_table_of_counts", "read_table", "weigh_table"]


def read_table(X: Any, Y: Any, sample_weight: Any) -> tuple[Table, tuple[np.ndarray, np.ndarray] | None]:
    """The table, and for pairs of labels in memory the row and column of each."""
    if is_source(X):
        return count_source_pairs(X, Y, sample_weight), None
    if Y is not None and not is_table_of_counts(X):
        return count_with_codes(X, Y, sample_weight, "sample_weight")
    if Y is not None:
        warnings.warn(
            "Y is ignored: X is a table of counts. For pairs give one column of labels each.",
            LeftOut,
            stacklevel=find_user_stacklevel(),
        )
    return as_table(X), None


def count_source_pairs(X: Any, Y: Any, sample_weight: Any) -> Table:
    """Table of pairs that are in files or in an engine."""
    if Y is not None or sample_weight is not None:
        raise ValueError("X is a source of pairs: name its columns, X = Pairs(source, x=..., y=..., weights=...).")
    if not isinstance(X, Pairs):
        with translate_engine_errors("X"):
            names = open_source(X, "X").collect_schema().names()
        if len(names) != 2:
            raise ValueError(
                f"X has the columns {list_names(names)}: say which are the pair, fit(Pairs(source, x=..., y=...))."
            )
        X = Pairs(X, *names)
    return count_pairs(X.source, X.x, X.y, X.weights)


def is_table_of_counts(X: Any) -> bool:
    """Whether X has rows and columns, and not just one column."""
    shape = find_shape(X)
    return len(shape) == 2 and shape[1] != 1


def is_column_of_labels(values: Any) -> bool:
    """Whether it is one column."""
    return len(find_shape(values)) == 1


def find_shape(values: Any) -> tuple[int, ...]:
    """Shape of anything that holds a table or labels; a list of lists has two dimensions, one of tuples only one."""
    frame = as_frame(values, "X")
    native = frame if frame is not None else nw.from_native(values, series_only=True, pass_through=True)
    if hasattr(native, "shape"):
        return native.shape
    if hasattr(values, "__array__"):
        return np.asarray(values).shape
    if not isinstance(values, Sized) or isinstance(values, str):
        return ()
    if isinstance(values, list) and values and isinstance(values[0], list | np.ndarray):
        return (len(values), len(values[0]))
    return (len(values),)


def weigh_table(table: Table, row_weights: np.ndarray | None, column_weights: np.ndarray | None) -> Table:
    """Multiply the counts of rows and columns by their weights."""
    counts = table.counts
    if column_weights is not None:
        counts = weighted_columns(counts, column_weights)
    if row_weights is not None:
        counts = weighted_columns(counts.T, row_weights).T
    return table if counts is table.counts else as_table(replace(table, counts=counts))
