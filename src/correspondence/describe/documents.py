"""Documents in any form: texts, lists of words, or counts of words, as a table of counts."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from correspondence._util.arguments import as_frame
from correspondence._util.labels import find_missing_labels, to_object_array
from correspondence.data.answers import split_columns
from correspondence.data.column_kinds import decide_column_kind
from correspondence.data.column_reading import read_array_column, read_series
from correspondence.data.column_summary import summarise_column
from correspondence.data.table import Table, as_table

__all__ = ["count_words", "find_documents"]


def find_documents(values: Any) -> Any:
    """Return documents as an array of texts or of lists of words, or as counts; None if values are a table of columns.

    Lists of words are of different lengths, because those of one length are the rows of a table. The only column of a
    table is documents if it has texts or names of rows.
    """
    if isinstance(values, Table) or sp.issparse(values):
        return values
    column = _find_only_column(values)
    if column is None:
        return None
    cells = column.to_list() if isinstance(column, nw.Series) else column.tolist()
    array = to_object_array([list(cell) if _is_listing(cell) else cell for cell in cells])
    array[find_missing_labels(array)] = None
    present = [cell for cell in array.tolist() if cell is not None]
    are_lists = all(isinstance(cell, list) and all(isinstance(word, str) for word in cell) for cell in present)
    return array if present and (are_lists or all(isinstance(cell, str) for cell in present)) else None


def _find_only_column(values: Any) -> nw.Series | np.ndarray | None:
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series
    if isinstance(values, list | tuple):
        lengths = {len(cell) if _is_listing(cell) else -1 for cell in values}
        return to_object_array(list(values)) if lengths == {-1} or len(lengths) > 1 else None
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return values
    if as_frame(values, "frame") is None and not (isinstance(values, np.ndarray) and values.ndim == 2):
        return None
    columns = list(split_columns(values, "frame").items())
    return columns[0][1] if len(columns) == 1 and _has_texts(*columns[0]) else None


def _is_listing(cell: Any) -> bool:
    return isinstance(cell, list | tuple | nw.Series) or (isinstance(cell, np.ndarray) and cell.ndim == 1)


def _has_texts(key: Any, column: Any) -> bool:
    """Tell whether the only column of a table has texts, or names of rows that are words."""
    is_series = isinstance(column, nw.Series)
    values = read_series(column, "frame", key) if is_series else read_array_column(column, "frame")
    if values.dtype != object:
        return False
    return decide_column_kind(key, summarise_column(values), len(values), is_alone=False).kind in ("text", "id")


def count_words(documents: Any) -> Table:
    """Return the counts of words in documents: a table as it is, and the words of texts counted."""
    if not isinstance(documents, np.ndarray):
        return as_table(documents, "frame")
    cells = [[] if cell is None else cell for cell in documents.tolist()]
    are_lists = all(isinstance(cell, list) for cell in cells)
    counter = CountVectorizer(dtype=np.float64, **({"analyzer": list} if are_lists else {}))
    try:
        counts = counter.fit_transform(cells if are_lists else [cell or "" for cell in cells])
    except ValueError:
        raise ValueError("frame must have texts with words of two letters or more, got none.") from None
    return Table(sp.csr_array(counts), np.arange(len(cells)), counter.get_feature_names_out(), named=False)
