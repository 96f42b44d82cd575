"""Counted cells of pairs that an engine holds: it groups and counts, and only codes of labels and counts come back."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence.labels import as_labels, encode, objects
from correspondence.table import Table
from correspondence.threads import RowBlocks

__all__ = ["check_missing", "count_in_engine"]

BATCH = 1 << 20  # cells that come back at a time


@dataclass(frozen=True)
class _Cells:
    """Labels of both sides, and row, column and count of each cell that is not zero."""

    rows: np.ndarray
    columns: np.ndarray
    row: np.ndarray
    column: np.ndarray
    count: np.ndarray

    def table(self) -> Table:
        """Sparse table; every cell is there only once."""
        shape = len(self.rows), len(self.columns)
        cells = sp.coo_array((self.count.astype(np.float64, copy=False), (self.row, self.column)), shape=shape)
        cells.has_canonical_format = True
        counts = sp.csr_array(cells)
        RowBlocks(counts).sort()
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
        _check_weights(frame, weights)
    cells = _from_duckdb if frame.implementation.is_duckdb() else _from_engine
    table = cells(frame, x, y, weights).table()
    if not table.counts.data.any():
        raise ValueError("There are no pairs to count: the source is empty, or all weights are zero.")
    return table


def _check_weights(frame: nw.LazyFrame, weights: str) -> None:
    column = nw.col(weights)
    if not frame.collect_schema()[weights].is_numeric():
        raise ValueError(f"weights must be a column of numbers, but column {weights!r} is not.")
    facts = frame.select(low=column.min(), high=column.max(), n=nw.len(), known=column.count()).collect()
    low, high, n, known = facts.row(0)
    if n and (known < n or not low >= 0 or not high < float("inf")):
        raise ValueError(f"weights: column {weights!r} must be finite and at least 0 in every row.")


# --- any engine: cells come back with their labels


def _from_engine(frame: nw.LazyFrame, x: str, y: str, weights: str | None) -> _Cells:
    cells = _grouped(frame, x, y, weights)
    coded = []
    for side, name in (("x", x), ("y", y)):
        labels = cells[side]
        unknown = labels.is_null() | labels.is_nan() if labels.dtype.is_float() else labels.is_null()
        check_missing(int(cells["n"].filter(unknown).sum()), name)
        coded.append(_coded(labels, name))
    (row, rows), (column, columns) = coded
    return _Cells(rows, columns, row, column, cells["n"].to_numpy())


def _grouped(frame: nw.LazyFrame, x: str, y: str, weights: str | None) -> nw.DataFrame:
    """Frame of the cells, with columns x, y and n."""
    pairs = frame.select(x=nw.col(x), y=nw.col(y), n=nw.lit(1) if weights is None else nw.col(weights).cast(nw.Float64))
    cells = pairs.group_by("x", "y").agg(n=nw.len() if weights is None else nw.col("n").sum())
    if frame.implementation.is_polars():
        return nw.from_native(cells.to_native().collect(engine="streaming"))
    return cells.collect()


def _coded(labels: nw.Series, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Codes and sorted labels, as `encode`; text is looked up by arrow, which makes no Python object for each cell."""
    if labels.dtype != nw.String:
        codes, known = encode(labels, f"column {name!r}")
        return codes.astype(np.int32), known
    dictionary = labels.to_arrow().dictionary_encode()
    dictionary = dictionary.unify_dictionaries() if hasattr(dictionary, "unify_dictionaries") else dictionary
    chunks = getattr(dictionary, "chunks", [dictionary])
    known = objects(chunks[0].dictionary.to_pylist()) if chunks else objects([])
    position, ordered = encode(known, f"column {name!r}")
    found = [position.astype(np.int32)[chunk.indices.to_numpy(zero_copy_only=False)] for chunk in chunks]
    return np.concatenate(found) if found else np.empty(0, np.int32), ordered


def check_missing(n: int, name: Any) -> None:
    """Complain about n missing labels, if there are any."""
    if n:
        raise ValueError(
            f"column {name!r} has {n} missing label(s): leave them out, or give them a label of their own."
        )


# --- DuckDB: labels become codes before anything is counted, and cells come back a batch at a time


def _from_duckdb(frame: nw.LazyFrame, x: str, y: str, weights: str | None) -> _Cells:
    sql = _Sql(frame.to_native())
    tables = f"{sql.pairs}_x", f"{sql.pairs}_y"
    try:
        rows, columns = (_make_codes(sql, table, name) for table, name in zip(tables, (x, y), strict=True))
        count = "count(*)" if weights is None else f"sum({_quoted(weights)}::DOUBLE)"
        cells = sql(
            f"SELECT a.code AS i, b.code AS j, {count} AS n FROM {sql.pairs} p "
            f"JOIN {tables[0]} a ON a.label = p.{_quoted(x)} JOIN {tables[1]} b ON b.label = p.{_quoted(y)} "
            "GROUP BY ALL"
        )
        return _Cells(rows, columns, *_gathered(_batches(cells)))
    finally:
        for table in tables:
            sql(f"DROP TABLE IF EXISTS {table}")


class _Sql:
    """Runs SQL in the connection of a relation, which is called ``pairs`` there, by a name that nobody else has."""

    def __init__(self, relation: Any) -> None:
        self.relation, self.pairs = relation, f"correspondence_{uuid.uuid4().hex}"

    def __call__(self, command: str) -> Any:
        return self.relation.query(self.pairs, command)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _make_codes(sql: _Sql, table: str, name: str) -> np.ndarray:
    """Make a table of the labels of a column with their positions in sorted order, and return the labels."""
    sql(
        f"CREATE TEMP TABLE {table} AS SELECT label, (row_number() OVER (ORDER BY label) - 1)::INTEGER AS code, n "
        f"FROM (SELECT {_quoted(name)} AS label, count(*) AS n FROM {sql.pairs} GROUP BY label)"
    )
    check_missing(sum(n for (n,) in sql(f"SELECT n FROM {table} WHERE {_is_missing(sql, table)}").fetchall()), name)
    labels = sql(f"SELECT label FROM {table} ORDER BY code").to_arrow_table()["label"]
    return as_labels(labels, f"column {name!r}")


def _is_missing(sql: _Sql, table: str) -> str:
    kind = str(sql(f"SELECT label FROM {table}").types[0])
    return "label IS NULL OR isnan(label)" if kind in ("FLOAT", "DOUBLE") else "label IS NULL"


def _batches(cells: Any) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    for batch in cells.to_arrow_reader(BATCH):
        i, j, n = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
        is_small = n.dtype.kind == "i" and n.max(initial=0) < 2**31
        yield i, j, n.astype(np.int32) if is_small else n.astype(np.float64)


def _gathered(batches: Iterator[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """Batches joined, side by side."""
    parts = list(batches)
    if not parts:
        return [np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)]
    return [np.concatenate(part) for part in zip(*parts, strict=True)]
