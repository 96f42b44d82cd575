"""Counting pairs inside an engine: it groups and counts, and only codes of labels and counts come back."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.labels import as_labels, encode_labels, to_object_array
from correspondence._util.threads import RowBlocks
from correspondence.data.pairs.opening import check_same_rows, select_column
from correspondence.data.table import Table

__all__ = ["check_missing", "count_in_engine"]

CELLS_PER_BATCH = 1 << 20
TEXT_KEY = "hash({})"  # what stands for a text where cells are grouped


def count_in_engine(frame: nw.LazyFrame, x: str, y: str, weights: str | None = None) -> Table:
    """Count the pairs of a lazy frame by its own engine.

    Parameters
    ----------
    frame : narwhals.LazyFrame
        The frame may belong to any engine.
    x, y : str
        These columns hold the labels.
    weights : str, optional
        This column holds the weight of each pair.
    """
    if weights is not None:
        check_weight_column(frame, weights)
    count = count_in_duckdb if frame.implementation.is_duckdb() else count_in_other_engine
    table = count(frame, x, y, weights)
    if not table.counts.data.any():
        raise ValueError("There are no pairs to count: the source is empty, or all weights are zero.")
    return table


def make_table(
    labels: tuple[np.ndarray, np.ndarray], cells: tuple[np.ndarray, np.ndarray], counts: np.ndarray, is_once: bool
) -> Table:
    """Make a table from the row, column and count of each cell; `is_once` if every cell is there only once."""
    table = sp.coo_array((counts, cells), shape=(len(labels[0]), len(labels[1])))
    table.has_canonical_format = is_once
    rows = table.tocsr()  # small integers take half of the time
    RowBlocks(rows).sort_cells()
    rows.has_canonical_format = True
    return Table(rows, *labels)


def check_weight_column(frame: nw.LazyFrame, weights: str) -> None:
    kind = frame.collect_schema()[weights]
    if not kind.is_numeric() and kind != nw.Boolean:
        raise ValueError(f"weights must be a column of numbers, but column {weights!r} is not.")
    numbers = frame.select(w=select_column(frame, weights).cast(nw.Float64))
    facts = numbers.select(low=nw.col("w").min(), total=nw.col("w").sum(), n=nw.len(), known=nw.col("w").count())
    low, total, n, known = facts.collect().row(0)
    if n and (known < n or low < 0 or not np.isfinite(total)):
        raise ValueError(f"weights: column {weights!r} must be finite and at least 0 in every row.")


# --- any engine: cells come back with their labels


def count_in_other_engine(frame: nw.LazyFrame, x: str, y: str, weights: str | None) -> Table:
    cells = group_pairs(frame, x, y, weights)
    coded, is_once = [], True
    for side, name in (("x", x), ("y", y)):
        labels = cells[side]
        unknown = labels.is_null() | labels.is_nan() if labels.dtype.is_float() else labels.is_null()
        check_missing(int(cells["rows"].filter(unknown).sum()), name)
        codes, known = encode_series(labels, name)
        coded.append((codes, known))
        # Python has no nanoseconds, so several times of polars may become one label.
        is_once &= labels.dtype == nw.String or labels.n_unique() == len(known)
    (row, rows), (col, columns) = coded
    return make_table((rows, columns), (row, col), cells["rows" if weights is None else "weight"].to_numpy(), is_once)


def group_pairs(frame: nw.LazyFrame, x: str, y: str, weights: str | None) -> nw.DataFrame:
    """Group pairs into cells: labels x and y, how many rows they have, and their weight if there is such a column."""
    pairs = frame.select(
        x=select_column(frame, x), y=select_column(frame, y), weight=select_column(frame, weights or x)
    )
    sums = [nw.len().alias("rows")]
    if weights is not None:
        pairs = pairs.with_columns(nw.col("weight").cast(nw.Float64))
        sums.append(nw.col("weight").sum())
    cells = pairs.group_by("x", "y").agg(*sums)
    if frame.implementation.is_polars():
        return nw.from_native(cells.to_native().collect(engine="streaming"))
    return cells.collect()


def encode_series(labels: nw.Series, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Find codes and sorted labels; arrow looks up text, without a Python object for each cell."""
    if labels.dtype != nw.String:
        codes, known = encode_labels(labels, f"column {name!r}")
        return codes.astype(np.int32), known
    dictionary = labels.to_arrow().dictionary_encode()
    dictionary = dictionary.unify_dictionaries() if hasattr(dictionary, "unify_dictionaries") else dictionary
    chunks = getattr(dictionary, "chunks", [dictionary])
    known = to_object_array(chunks[0].dictionary.to_pylist()) if chunks else to_object_array([])
    position, ordered = encode_labels(known, f"column {name!r}")
    found = [position.astype(np.int32)[chunk.indices.to_numpy(zero_copy_only=False)] for chunk in chunks]
    return np.concatenate(found) if found else np.empty(0, np.int32), ordered


def check_missing(n: int, name: Any) -> None:
    """Raise an error if n labels are missing."""
    if n:
        raise ValueError(
            f"column {name!r} has {n} missing label(s): leave them out, or give them a label of their own."
        )


# --- DuckDB: cells come back as codes of the labels, a batch at a time


def count_in_duckdb(frame: nw.LazyFrame, x: str, y: str, weights: str | None) -> Table:
    pairs = f"correspondence_{uuid.uuid4().hex}"  # what the relation is called in SQL
    sql = partial(frame.to_native().query, pairs)
    try:
        a, b = (_Codes.create_table(sql, pairs, f"{pairs}_{side}", name) for side, name in (("x", x), ("y", y)))
        count = "count(*)" if weights is None else f"sum({_quote_name(weights)}::DOUBLE)"
        grouped = f"SELECT {a.key} AS x, {b.key} AS y, {count} AS n FROM {pairs} GROUP BY ALL"
        codes = f"JOIN {a.table} a ON a.key = x JOIN {b.table} b ON b.key = y"
        cells = sql(f"SELECT a.code, b.code, cells.n FROM ({grouped}) cells {codes}")
        most = min(a.n, len(a.labels) * len(b.labels))
        row, col, n = gather_cells(cells, most, np.float64 if weights or a.n >= 2**31 else np.int32)
        check_same_rows(weights is not None or n.sum() == a.n)
        return make_table((a.labels, b.labels), (row, col), n, is_once=True)
    finally:
        for side in "xy":
            sql(f"DROP TABLE IF EXISTS {pairs}_{side}")


@dataclass(frozen=True)
class _Codes:
    """A table in DuckDB with key and code of each label of a column; the key of a text is its hash, which is short."""

    table: str
    key: str
    labels: np.ndarray
    n: int

    @classmethod
    def create_table(cls, sql: Callable[[str], Any], pairs: str, table: str, name: str) -> _Codes:
        """Make the table, with the labels in sorted order."""
        column = _quote_name(name)
        kind = str(sql(f"SELECT {column} FROM {pairs}").types[0])
        column, label = (f"{name} COLLATE C" if kind == "VARCHAR" else name for name in (column, "label"))  # "a" != "A"
        key = TEXT_KEY if kind == "VARCHAR" else "{}"
        sql(
            f"CREATE TEMP TABLE {table} AS SELECT label, {key.format('label')} AS key, n, "
            f"(row_number() OVER (ORDER BY {label} ASC) - 1)::INTEGER AS code "
            f"FROM (SELECT {column} AS label, count(*) AS n FROM {pairs} GROUP BY 1)"
        )
        missing = "label IS NULL OR isnan(label)" if kind in ("FLOAT", "DOUBLE") else "label IS NULL"
        n, n_missing, is_unique = sql(
            f"SELECT sum(n), sum(n) FILTER ({missing}), count(DISTINCT key) = count(*) FROM {table}"
        ).fetchall()[0]
        check_missing(n_missing or 0, name)
        if not is_unique:  # two labels with the same hash
            key = "{}"
            sql(f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT label, {label} AS key, code FROM {table}")
        labels = sql(f"SELECT label FROM {table} ORDER BY code ASC").to_arrow_table()["label"]
        return cls(table, key.format(column), as_labels(labels, f"column {name!r}"), int(n or 0))


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def gather_cells(cells: Any, most: int, kind: type) -> tuple[np.ndarray, ...]:
    """Gather rows, columns and counts of at most `most` cells; the system provides memory only where it is filled."""
    filled = 0
    arrays: list[np.ndarray] = [np.empty(most, dtype) for dtype in (np.int32, np.int32, kind)]
    for batch in cells.to_arrow_reader(CELLS_PER_BATCH):
        check_same_rows(filled + len(batch) <= most)
        for array, values in zip(arrays, batch.columns, strict=True):
            array[filled : filled + len(batch)] = values.to_numpy(zero_copy_only=False)
        filled += len(batch)
    return tuple(array[:filled] for array in arrays)
