"""Counted cells of pairs that an engine holds: it groups and counts, and only codes of labels and counts come back."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.labels import as_labels, encode_labels, to_object_array
from correspondence._util.threads import RowBlocks
from correspondence.data.pairs.opening import select_column
from correspondence.data.table import Table

__all__ = ["check_missing", "count_in_engine"]

CELLS_PER_BATCH = 1 << 20  # cells that come back at a time


@dataclass(frozen=True)
class _Cells:
    """Labels of both sides, and row, column and count of each cell that is not zero."""

    rows: np.ndarray
    columns: np.ndarray
    row: np.ndarray
    column: np.ndarray
    count: np.ndarray
    is_once: bool = True
    """Whether every cell is there only once."""

    def to_table(self) -> Table:
        """Sparse table."""
        shape = len(self.rows), len(self.columns)
        cells = sp.coo_array((self.count, (self.row, self.column)), shape=shape)
        cells.has_canonical_format = self.is_once
        counts = cells.tocsr()  # of small integers in half of the time
        RowBlocks(counts).sort_cells()
        counts.has_canonical_format = True
        return Table(counts, self.rows, self.columns)


def count_in_engine(frame: nw.LazyFrame, x: str, y: str, weights: str | None = None) -> Table:
    """Table of pairs that are counted by the engine of a lazy frame.

    Parameters
    ----------
    frame : narwhals.LazyFrame
        Of any engine.
    x, y, weights : str
        Columns of labels, and of what each pair counts.
    """
    if weights is not None:
        check_weight_column(frame, weights)
    cells = read_duckdb_cells if frame.implementation.is_duckdb() else read_engine_cells
    table = cells(frame, x, y, weights).to_table()
    if not table.counts.data.any():
        raise ValueError("There are no pairs to count: the source is empty, or all weights are zero.")
    return table


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


def read_engine_cells(frame: nw.LazyFrame, x: str, y: str, weights: str | None) -> _Cells:
    cells = group_pairs(frame, x, y, weights)
    coded, is_once = [], True
    for side, name in (("x", x), ("y", y)):
        labels = cells[side]
        unknown = labels.is_null() | labels.is_nan() if labels.dtype.is_float() else labels.is_null()
        check_missing(int(cells["rows"].filter(unknown).sum()), name)
        codes, known = encode_series(labels, name)
        coded.append((codes, known))
        # Python knows no nanoseconds: several times of polars become one.
        is_once &= labels.dtype == nw.String or labels.n_unique() == len(known)
    (row, rows), (col, columns) = coded
    return _Cells(rows, columns, row, col, cells["rows" if weights is None else "weight"].to_numpy(), is_once)


def group_pairs(frame: nw.LazyFrame, x: str, y: str, weights: str | None) -> nw.DataFrame:
    """Frame of the cells: labels x and y, how many rows they have, and their weight if there is such a column."""
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
    """Codes and sorted labels, as `encode`; text is looked up by arrow, which makes no Python object for each cell."""
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
    """Complain about n missing labels, if there are any."""
    if n:
        raise ValueError(
            f"column {name!r} has {n} missing label(s): leave them out, or give them a label of their own."
        )


# --- DuckDB: cells come back as codes of the labels, a batch at a time


def read_duckdb_cells(frame: nw.LazyFrame, x: str, y: str, weights: str | None) -> _Cells:
    sql = _Sql(frame.to_native())
    try:
        a, b = (_Codes.create_table(sql, f"{sql.pairs}_{side}", name) for side, name in (("x", x), ("y", y)))
        count = "count(*)" if weights is None else f"sum({_quote_name(weights)}::DOUBLE)"
        grouped = f"SELECT {a.key} AS x, {b.key} AS y, {count} AS n FROM {sql.pairs} GROUP BY ALL"
        codes = f"JOIN {a.table} a ON a.key = x JOIN {b.table} b ON b.key = y"
        cells = sql(f"SELECT a.code, b.code, cells.n FROM ({grouped}) cells {codes}")
        most = min(a.n, len(a.labels) * len(b.labels))
        found = gather_cells(cells, most, np.float64 if weights or a.n >= 2**31 else np.int32)
        _check_same_rows(weights is not None or found[-1].sum() == a.n)
        row, col, n = found
        return _Cells(a.labels, b.labels, row, col, n)
    finally:
        for side in "xy":
            sql(f"DROP TABLE IF EXISTS {sql.pairs}_{side}")


class _Sql:
    """Runs SQL in the connection of a relation, which is called ``pairs`` there, by a name that nobody else has."""

    def __init__(self, relation: Any) -> None:
        self.relation, self.pairs = relation, f"correspondence_{uuid.uuid4().hex}"

    def __call__(self, command: str) -> Any:
        return self.relation.query(self.pairs, command)


@dataclass(frozen=True)
class _Codes:
    """Table in DuckDB with key and code of each label of a column; the key of a text is its hash, which is short."""

    table: str
    key: str
    labels: np.ndarray
    n: int

    @classmethod
    def create_table(cls, sql: _Sql, table: str, name: str) -> _Codes:
        """Make the table, of the labels in sorted order."""
        column = _quote_name(name)
        kind = str(sql(f"SELECT {column} FROM {sql.pairs}").types[0])
        column, label = (f"{name} COLLATE C" if kind == "VARCHAR" else name for name in (column, "label"))  # "a" != "A"
        key = "hash({})" if kind == "VARCHAR" else "{}"
        sql(
            f"CREATE TEMP TABLE {table} AS SELECT label, {key.format('label')} AS key, n, "
            f"(row_number() OVER (ORDER BY {label} ASC) - 1)::INTEGER AS code "
            f"FROM (SELECT {column} AS label, count(*) AS n FROM {sql.pairs} GROUP BY 1)"
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


def _check_same_rows(is_same: bool) -> None:
    if not is_same:
        raise ValueError("The source gave other rows when it was read again: write it to files, and give those.")


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def gather_cells(cells: Any, most: int, kind: type) -> tuple[np.ndarray, ...]:
    """Rows, columns and counts of at most so many cells, batch by batch: memory is taken up only where it is filled."""
    filled = 0
    arrays: list[np.ndarray] = [np.empty(most, dtype) for dtype in (np.int32, np.int32, kind)]
    for batch in cells.to_arrow_reader(CELLS_PER_BATCH):
        _check_same_rows(filled + len(batch) <= most)
        for array, values in zip(arrays, batch.columns, strict=True):
            array[filled : filled + len(batch)] = values.to_numpy(zero_copy_only=False)
        filled += len(batch)
    return tuple(array[:filled] for array in arrays)
