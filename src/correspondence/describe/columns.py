"""What each column of a table is taken for, before anything is fitted to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from correspondence.data.column_kinds import decide_column_kind
from correspondence.data.column_reading import columns_of, find_missing
from correspondence.data.column_summary import Survey
from correspondence.results.column_table import ColumnFacts, ColumnTable

__all__ = ["describe_columns"]


def describe_columns(data: Any) -> ColumnTable:
    """Say what each column of a table is taken for: numbers, labels, dates, texts, ids, ...

    Every estimator and `decompose` decide alike, by the whole column. To change a decision, change the type of the
    column: numbers that are labels become so as texts or categories, whole numbers that are few stay numbers as
    decimals (``frame["grade"].astype(float)``).

    Parameters
    ----------
    data : frame, array-like or series
        The table, with one row for each observation.

    Returns
    -------
    ColumnTable
        Print it, or see ``to_frame()``.

    Examples
    --------
    >>> import polars as pl
    >>> import correspondence as co
    >>> frame = pl.DataFrame({"when": ["Jun 12 1998", "Aug 7 1998"], "price": [1.5, None], "tags": ["a|b", "b"]})
    >>> co.describe_columns(frame)
    3 columns, 2 rows
    column  kind      missing  different
    when    date            0          2
    price   label           1          1  taken as present or missing
    tags    label           0          2
    """
    columns = columns_of(data, "data")
    survey = Survey.from_columns(columns)
    facts = []
    for key, values in columns.items():
        kind = decide_column_kind(key, survey.columns[key], survey.n, is_alone=len(columns) == 1)
        missing = find_missing(values)
        n_different = count_different(values[~missing])
        facts.append(ColumnFacts(str(key), kind.kind, kind.is_used, int(missing.sum()), n_different, kind.note))
    return ColumnTable(survey.n, facts)


def count_different(values: np.ndarray) -> int:
    """Count different values that are not missing."""
    return len(set(values.tolist())) if values.dtype == object else len(np.unique(values))
