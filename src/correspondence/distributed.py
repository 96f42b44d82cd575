"""Moments and values of functions over pairs of any size, computed where the pairs are and merged exactly.

The estimators' `fit` and `evaluate` do the same by themselves when they are given `Pairs`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from correspondence._util.files import as_path, new_file
from correspondence.core.decomposition import as_decomposition
from correspondence.core.functions import PrincipalFunctions
from correspondence.core.moments import check_is_pairs, moments
from correspondence.data.pairs.arrow_tables import ROWS_PER_BATCH
from correspondence.data.pairs.pairs import Pairs

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["moments", "transform"]

BATCHES_PER_FILE = 16  # about a million rows in a file, if the source has no partitions of its own
SUCCESS_FILE = "_SUCCESS"


def transform(
    d_or_est: Any, pairs: Pairs, folder: str | Path, *, keep: Sequence[str] = (), overwrite: bool = False
) -> list[Path]:
    """Write f(x) and g(y) of pairs to Parquet files, one for each partition, where the partition is.

    A file appears under its name when it is complete. A partition that is computed again, because its worker was lost,
    replaces its own file and no other; at the end a file ``_SUCCESS`` is written.

    Parameters
    ----------
    d_or_est : Decomposition or fitted estimator
        Evaluate the functions of this decomposition.
    pairs : Pairs
        Evaluate them on these pairs.
    folder : str or Path
        Write ``part-00000.parquet``, ... with columns f1, f2, ..., g1, g2, ... to this folder, which all workers must
        see. Without partitions (files, DuckDB, polars, frames in memory) there is a file for about each million rows.
    keep : sequence of str
        Copy these columns of the source too, such as ids.
    overwrite : bool
        Whether to replace files of an earlier run.

    Returns
    -------
    list of Path
        The files, in the order of the rows.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> import correspondence as co
    >>> frame = pl.LazyFrame({"id": [7, 8, 9], "x": ["a", "b", "b"], "y": ["u", "v", "u"]})
    >>> pairs = co.Pairs(frame, x="x", y="y")
    >>> ca = co.CA().fit(["a", "b", "b"], ["u", "v", "u"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = co.distributed.transform(ca, pairs, folder, keep=["id"])
    ...     print([file.name for file in files], pl.read_parquet(files[0]).columns)
    ['part-00000.parquet'] ['id', 'f1', 'g1']
    """
    check_is_pairs(pairs)
    d = as_decomposition(d_or_est)
    names = [f"{side}{i + 1}" for side in "fg" for i in range(d.n_components)]
    if not isinstance(keep or (), Iterable):
        raise TypeError(f"keep must be a list of column names, got {type(keep).__name__}.")
    keep = [keep] if isinstance(keep, str) else list(dict.fromkeys(keep or ()))
    taken = next((name for name in keep if name in names), None)
    if taken is not None:
        raise ValueError(f"keep must not contain {taken!r}, which is the name of a function. Rename the column.")
    pairs.check_columns(keep)
    target = _empty_folder(folder, overwrite, pairs.files)
    evaluate = partial(_evaluate_functions, d.f.without_sample(), d.g.without_sample(), pairs.x, pairs.y, keep)
    if pairs.has_partitions:
        files = pairs.map_tables(partial(_write_partition, target, evaluate), "functions", keep)
    else:
        tables = pairs.tables(keep)
        files = [  # each file takes its first table here, and the others while it is written
            _write_file(target, number, evaluate, chain([first], islice(tables, BATCHES_PER_FILE - 1)))
            for number, first in enumerate(tables)
        ]
    for unfinished in target.glob(".*.parquet"):  # left by lost workers
        unfinished.unlink(missing_ok=True)
    (target / SUCCESS_FILE).touch()
    return files


# --- files


def _empty_folder(folder: str | Path, overwrite: bool, source: Sequence[Path]) -> Path:
    """Remove the files of an earlier run; those of others, such as Spark's part-00000-3f2a.parquet, stay."""
    target = as_path(folder, "folder").absolute()
    if any(file.resolve().is_relative_to(target.resolve()) for file in source):
        raise ValueError(f"folder must not contain files of the source, got {target}. Choose another one.")
    if target.exists() and not target.is_dir():
        raise ValueError(f"folder must be a folder, got the file {target}.")
    target.mkdir(parents=True, exist_ok=True)
    if not overwrite and any(target.iterdir()):
        raise ValueError(f"folder must be empty, got {target}. Choose another one, or pass overwrite=True.")
    (target / SUCCESS_FILE).unlink(missing_ok=True)
    for file in target.glob("part-*.parquet"):
        if re.fullmatch(r"part-\d{5,}\.parquet", file.name):
            file.unlink(missing_ok=True)
    return target


def _write_partition(target: Path, evaluate: Callable[[pa.Table], pa.Table], table: pa.Table, number: int) -> Path:
    batches = (table.slice(i, ROWS_PER_BATCH) for i in range(0, table.num_rows, ROWS_PER_BATCH))
    return _write_file(target, number, evaluate, batches)


def _write_file(
    target: Path, number: int, evaluate: Callable[[pa.Table], pa.Table], tables: Iterable[pa.Table]
) -> Path:
    """Write one file, under a temporary name until it is complete."""
    from pyarrow import parquet

    path = target / f"part-{number:05d}.parquet"
    with new_file(path) as temporary:
        writer = None
        try:
            for table in tables:
                values = evaluate(table)
                writer = writer or parquet.ParquetWriter(temporary, values.schema)
                writer.write_table(values)
        finally:
            if writer is not None:
                writer.close()
    return path


def _evaluate_functions(
    f: PrincipalFunctions, g: PrincipalFunctions, x: Any, y: Any, keep: list[str], table: pa.Table
) -> pa.Table:
    """Return the columns to keep and the values of the functions."""
    sides = [table[names] if isinstance(names, str) else table.select(names) for names in (x, y)]
    result = table.select(keep)
    for name, functions, side in zip("fg", (f, g), sides, strict=True):
        for i, values in enumerate(functions(side).T):
            result = result.append_column(f"{name}{i + 1}", [values])
    return result
