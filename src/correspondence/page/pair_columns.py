"""The data behind a page of associations: the columns of the pairs, so that a pair can be looked at."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from correspondence.data.answers import split_columns
from correspondence.page.data_columns import choose_columns, make_column, read_column, to_texts

__all__ = ["collect_pair_columns"]

MAX_PAIR_ROWS, MAX_PAIR_CELLS = 10_000, 2_000_000  # a picture of a pair needs no more; the file grows with the cells


def collect_pair_columns(X: Any, keys: list[Any], most: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Collect the columns of a table for the script, with at most this many of their rows.

    Parameters
    ----------
    X : frame or array-like of shape (n, k)
        The table that was given to `associations`.
    keys : list
        The names of the columns on the page, in its order.
    most : int
        If there are more rows than this, this many are taken at random.

    Returns
    -------
    said : dict
        What the page knows of the columns.
    arrays : dict of ndarray
        Their values.
    """
    columns = split_columns(X, "X")
    missing = [key for key in keys if key not in columns]
    if missing:
        raise ValueError(f"X must be the table of the associations, got one without the column {missing[0]!r}.")
    n = len(next(iter(columns.values())))
    rows = np.arange(n)
    if n > (kept := min(most, MAX_PAIR_ROWS, max(100, MAX_PAIR_CELLS // max(1, len(keys))))):
        rows = np.sort(np.random.default_rng(0).choice(n, kept, replace=False))
    read = []
    for key in keys:
        column = columns[key]
        taken = column[rows.tolist()] if isinstance(column, nw.Series) else np.asarray(column)[rows]
        try:
            read.append(read_column(key, taken, "X"))
        except (TypeError, ValueError):  # values of which no test can be made are shown as texts
            read.append(make_column(to_texts([key])[0], np.asarray(taken)))
    chosen, _ = choose_columns(read)
    kept_columns = [column if column in chosen else None for column in read]
    said = {"rows": len(rows), "given": n, "columns": [column and column.describe() for column in kept_columns]}
    arrays = {f"column.{i}": column.values for i, column in enumerate(kept_columns) if column is not None}
    return {"table": said}, arrays
