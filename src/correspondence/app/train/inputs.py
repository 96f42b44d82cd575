"""Read pairs to train on: into memory, or in blocks, with the same rows held out at every reading."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.arguments import count_observations, take_rows
from correspondence.app.analyze.inputs import Request, read_data
from correspondence.app.analyze.variables import Variable, frame_roles, frame_values, make_variable
from correspondence.app.train.options import Job
from correspondence.data.file_formats import as_label_texts, check_columns, find_complete_rows
from correspondence.data.pairs.opening import open_source, translate_engine_errors
from correspondence.data.pairs.pairs import Pairs
from correspondence.data.text_columns import AS_SUGGESTED, Readings
from correspondence.estimators.pice.data import Blocks

__all__ = ["Input", "read_input"]

HEAD_ROWS = 20_000  # rows that show what the columns hold
MAX_HELD_OUT_ROWS = 20_000  # rows, enough for precise figures


@dataclass(frozen=True, eq=False)
class Input:
    """What `PICE.fit` is given, and a description of it."""

    x: Variable
    y: Variable
    X: Any
    Y: Any
    validation: tuple[Any, Any] | None
    lines: list[str]
    n_missing: int | None
    readings: Readings = AS_SUGGESTED


def read_input(job: Job) -> Input:
    """Read what a job asks for."""
    if job.is_streamed:
        return read_blocks(job)
    data = read_data(
        Request(job.paths[0], job.x, job.y, job.labels, decimal=job.decimal, dates=job.dates), progress=False
    )
    return Input(data.x, data.y, data.x.values, data.y.values, None, data.lines, data.n_missing, data.readings)


def read_blocks(job: Job) -> Input:
    """Open files that are read in blocks, and find out from the first rows what their columns hold."""
    name = ", ".join(job.files)
    with translate_engine_errors(name):
        lazy = open_source([str(path) for path in job.paths], name)
        columns = lazy.collect_schema().names()
        check_columns([*job.x, *job.y, *job.labels], columns, name)
        head = lazy.head(HEAD_ROWS).collect()
    if not len(head):
        raise ValueError(f"{name} has no rows.")
    roles = frame_roles(head, job.x, job.y, (), name)
    head = head.filter(find_complete_rows(head.select([*roles.x, *roles.y])).tolist())
    if len(head) < 2:
        raise ValueError(
            f"{name}: fewer than two of the first {HEAD_ROWS:,} rows have all values in the columns asked for."
        )
    head = as_label_texts(head, job.labels)
    x, x_notes = make_variable("x", frame_values(head.select(roles.x)), roles.x)
    y, y_notes = make_variable("y", frame_values(head.select(roles.y)), roles.y)
    split = Split(
        Pairs(drop_incomplete_rows(lazy, job, x, y).to_native(), _choose_columns(x), _choose_columns(y)),
        job.held_out,
        job.seed,
    )
    told = (
        f"Read in blocks, from {len(job.paths)} file(s), {split.n:,} rows; what the columns hold is that of the first."
    )
    lines = [f"x: {x.text}", f"y: {y.text}", *roles.notes, *x_notes, *y_notes, told]
    return Input(x, y, split, None, split.held_out(), lines, None)


def _choose_columns(variable: Variable) -> str | list[str]:
    """Return one column of labels or texts as such, anything else as a table."""
    is_array = isinstance(variable.values, np.ndarray)
    return variable.columns[0] if is_array else list(variable.columns)


def drop_incomplete_rows(lazy: nw.LazyFrame, job: Job, x: Variable, y: Variable) -> nw.LazyFrame:
    """Drop rows with missing values and make texts of labels, as `find_complete_rows` and `as_label_texts` do."""
    names = list(dict.fromkeys([*x.columns, *y.columns]))
    lazy = lazy.select(names)
    schema = lazy.collect_schema()
    labels = [name for name in job.labels if name in names]
    for name in names:
        there = ~nw.col(name).is_null()
        if schema[name].is_float():
            there = there & ~nw.col(name).is_nan()
        elif schema[name] == nw.String:
            there = there & (nw.col(name) != "")
        lazy = lazy.filter(there)
    floats = [name for name in labels if schema[name].is_float()]
    if floats:
        whole = lazy.select((nw.col(name) == nw.col(name).round(0)).all() for name in floats).collect()
        lazy = lazy.with_columns(nw.col(name).cast(nw.Int64) for name in floats if whole[name][0])
    return lazy.with_columns(nw.col(name).cast(nw.String) for name in labels) if labels else lazy


class Split(Blocks):
    """Blocks of pairs to train on, and held-out pairs from all blocks: the same ones at every reading."""

    def __init__(self, pairs: Pairs, fraction: float, seed: int) -> None:
        self.pairs, self.seed, self.n = pairs, seed, pairs.layout.n
        self.fraction = min(fraction, MAX_HELD_OUT_ROWS / max(1, self.n))

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for x, y, is_held in self._iterate_blocks():
            yield _keep_rows(x, ~is_held), _keep_rows(y, ~is_held)

    def held_out(self) -> tuple[Any, Any] | None:
        """Return the pairs that are not used in the training."""
        if not self.fraction:
            return None
        parts = [(_keep_rows(x, is_held), _keep_rows(y, is_held)) for x, y, is_held in self._iterate_blocks()]
        xs, ys = zip(*parts, strict=True)
        return _join_parts(xs), _join_parts(ys)

    def _iterate_blocks(self) -> Iterator[tuple[Any, Any, np.ndarray]]:
        for number, (x, y) in enumerate(self.pairs):
            drawn = np.random.default_rng([self.seed, number]).random(count_observations(x, "X"))
            yield x, y, drawn < self.fraction


def _keep_rows(values: Any, keep: np.ndarray) -> Any:
    return values if keep.all() else take_rows(values, np.flatnonzero(keep))


def _join_parts(parts: Any) -> Any:
    import pyarrow as pa

    if isinstance(parts[0], pa.Table):
        return pa.concat_tables(parts)
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type)
