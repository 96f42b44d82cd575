"""A user's own table with its gaps filled in, in the library and the types that it came in."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.arguments import as_frame, to_array
from correspondence._util.text import list_names
from correspondence.core.column_features import FeatureColumn, LabelColumn, ManyColumns
from correspondence.data.answers import split_columns
from correspondence.estimators.many.reading import warn_of_left_out

__all__ = ["complete_table"]


def complete_table(features: ManyColumns, X: Any) -> Any:
    """Fill in the gaps of a table.

    Parameters
    ----------
    features : ManyColumns
        The columns, with a filler.
    X : frame or array-like of shape (n, k)
        Rows with these columns; others stay as they are.

    Returns
    -------
    frame or ndarray
        A table of the same library, with the same types.
    """
    completed = features(X)
    given = split_columns(X, "X")
    keys = list(given)
    by_name = all(column.name in given for column in features.columns)
    filled: dict[Any, Any] = {}
    for j, (column, block) in enumerate(zip(features.columns, features.blocks, strict=True)):
        key = column.name if by_name else keys[j]
        rows = _find_gaps(given[key])
        filled[key] = _fill_column(given[key], rows, _name_values(column, completed[rows, block.features]))
    open_keys = [key for key in keys if len(_find_gaps(filled.get(key, given[key])))]
    if open_keys:
        warn_of_left_out(f"Gaps stay in column(s) {list_names(open_keys, 5, show=repr)}, which cannot be filled in.")
    frame = as_frame(X, "X")
    if frame is not None:
        return frame.with_columns(*filled.values()).to_native()
    array = np.array(to_array(X, "X"))
    for key, values in filled.items():
        array[:, key] = values
    return array


def _name_values(column: FeatureColumn, features: np.ndarray) -> np.ndarray:
    """Return the most probable answers, or the expected numbers."""
    values = column.restore(features)
    return column.answers[values] if isinstance(column, LabelColumn) else values


def _fill_column(column: Any, rows: np.ndarray, values: np.ndarray) -> Any:
    if not len(rows):
        return column
    if not isinstance(column, nw.Series):
        filled = np.array(column)
        filled[rows] = values
        return filled
    if values.dtype != object and not column.dtype.is_numeric():
        return column  # dates, durations and numbers written as text: there is no way back from a number
    if values.dtype != object and column.dtype.is_integer():
        values = np.rint(values).astype(np.int64)
    return _put_values(column, rows, values)


def _put_values(column: nw.Series, rows: np.ndarray, values: np.ndarray) -> nw.Series:
    """Put values into a series without a change of its type."""
    if column.implementation.is_pyarrow() and column.dtype == nw.Categorical:  # pyarrow cannot replace these
        texts = column.cast(nw.String).scatter(rows.tolist(), values.tolist()).to_native()
        return nw.from_native(texts.cast(column.to_native().type), series_only=True).alias(column.name)
    return column.scatter(rows.tolist(), values.tolist())


def _find_gaps(column: Any) -> np.ndarray:
    """Return the positions of missing values."""
    if not isinstance(column, nw.Series):
        return np.flatnonzero([value is None or bool(value != value) for value in column.tolist()])
    is_gap = column.is_null()
    if column.dtype.is_float():
        is_gap = is_gap | column.is_nan()
    return np.flatnonzero(is_gap.to_numpy())
