"""Pairs from a file: CSV, TSV, Parquet or JSON lines, read by whichever data frame library there is."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw

__all__ = ["PairsFile", "read_pairs"]

BACKENDS = ("polars", "pandas", "pyarrow")
SEPARATORS = ",;\t|"
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]
_CSV: dict[str, dict[str, Any]] = {  # the type of a column from all of its rows, and no column as an index
    "polars": {"infer_schema_length": None, "null_values": MISSING},
    "pandas": {"index_col": False, "low_memory": False, "na_values": MISSING},
    "pyarrow": {},
}


class PairsFile(NamedTuple):
    """Two variables, and perhaps groups, of the rows of a file."""

    X: Any
    Y: Any
    groups: list[Any] | None
    n_missing: int
    """Rows left out because a value is missing."""


def read_pairs(
    path: str | Path,
    x: Sequence[str],
    y: Sequence[str],
    labels: Sequence[str] = (),
    groups: str | None = None,
) -> PairsFile:
    """Read the columns of two variables.

    Parameters
    ----------
    path : str or Path
        Its ending says what it is: .csv, .tsv, .parquet, .jsonl or .ndjson. The separator of a .csv file is found out.
    x, y : sequence of str
        Columns; without x all others.
    labels : sequence of str
        Columns of numbers that are labels all the same, such as grades or codes.
    groups : str, optional
        Column of the groups that pairs belong to.

    Returns
    -------
    PairsFile
        Frames with the columns; rows with a missing value are left out.
    """
    frame = _read(Path(path))
    if not y:
        raise ValueError(f"y must name at least one column of {path}, which has {_listed(frame.columns)}.")
    named = [groups] if groups else []
    x, y = list(dict.fromkeys(x)), list(dict.fromkeys(y))
    wanted = x or [name for name in frame.columns if name not in (*y, *named)]
    missing = [name for name in (*wanted, *y, *labels, *named) if name not in frame.columns]
    if missing:
        raise ValueError(f"There is no column {missing[0]!r} in {path}, which has {_listed(frame.columns)}.")
    both = [name for name in wanted if name in y]
    if both or not wanted:
        raise ValueError(f"x and y must be different columns, {both[0]!r} is in both." if both else "x has no column.")
    whole = _without_missing(frame.select(list(dict.fromkeys([*wanted, *y, *named]))))
    whole = whole.with_columns(nw.col(name).cast(nw.String) for name in labels if name in whole.columns)
    if not len(whole):
        raise ValueError(f"{path} has no row without a missing value in the columns asked for.")
    return PairsFile(
        whole.select(wanted).to_native(),
        whole.select(list(y)).to_native(),
        whole[groups].to_list() if groups else None,
        len(frame) - len(whole),
    )


def _without_missing(frame: nw.DataFrame) -> nw.DataFrame:
    """Rows whose values are all there: neither null nor NaN nor an empty text."""
    for name in frame.columns:
        column = frame[name]
        if column.dtype.is_float():
            frame = frame.filter(~(column.is_null() | column.is_nan()))
        elif column.dtype == nw.String:
            frame = frame.filter(~(column.is_null() | (column.fill_null("") == "")))
    return frame.drop_nulls()


def _read(path: Path) -> nw.DataFrame:
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    readers = {
        ".csv": _read_csv,
        ".tsv": _read_csv,
        ".parquet": lambda p, backend: nw.read_parquet(str(p), backend=backend),
        ".jsonl": _read_json_lines,
        ".ndjson": _read_json_lines,
    }
    if path.suffix.lower() not in readers:
        raise ValueError(f"{path} must end in {', '.join(readers)}, to say what it is.")
    backend = next((name for name in BACKENDS if importlib.util.find_spec(name)), None)
    if backend is None:
        raise ImportError("Reading files needs polars, pandas or pyarrow: pip install polars")
    try:
        return readers[path.suffix.lower()](path, backend)
    except Exception as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise ValueError(f"{path} cannot be read as {path.suffix}: {reason}.") from error


def _read_csv(path: Path, backend: Any) -> nw.DataFrame:
    separator = "\t" if path.suffix.lower() == ".tsv" else _separator(path)
    frame = nw.read_csv(str(path), backend=backend, separator=separator, **_CSV[backend])
    if separator != ",":
        frame = frame.with_columns(_with_points(frame[name]) for name in frame.columns)
    if len(frame.columns) < 2:
        return frame
    return frame.filter(~nw.all_horizontal(nw.all().is_null(), ignore_nulls=True))  # a blank line is no row


def _with_points(column: nw.Series) -> nw.Series:
    """Numbers of a column that is written with decimal commas."""
    if column.dtype != nw.String:
        return column
    texts = [text for text in column.to_list() if text]
    if not texts or not all(re.fullmatch(r"\s*[-+]?\d+(,\d+)?\s*", text) for text in texts):
        return column
    return column.str.replace_all(",", ".", literal=True).cast(nw.Float64)


def _separator(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        start = "".join(line for _, line in zip(range(20), file, strict=False))
    try:
        return csv.Sniffer().sniff(start, SEPARATORS).delimiter
    except csv.Error:
        return ","  # a single column


def _read_json_lines(path: Path, backend: Any) -> nw.DataFrame:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8-sig").split("\n") if line.strip()]
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise ValueError('each line must be an object such as {"a": 1}, and there must be one')
    names = list(dict.fromkeys(name for row in rows for name in row))
    return nw.from_dict({name: _alike([row.get(name) for row in rows]) for name in names}, backend=backend)


def _alike(values: list[Any]) -> list[Any]:
    """Whole numbers as floats in a column that has both."""
    kinds = {type(value) for value in values} - {type(None)}
    return [float(value) if type(value) is int else value for value in values] if kinds == {int, float} else values


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
