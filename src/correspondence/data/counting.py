"""Pairs counted into tables, taken apart again, and split by thinning."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import (
    as_frame,
    check_index,
    check_weights,
    check_whole,
    find_user_stacklevel,
    to_array,
)
from correspondence._util.labels import as_labels, encode_labels, to_object_array
from correspondence._util.text import list_names, short_repr
from correspondence._util.user_warnings import LeftOut
from correspondence.data.engine_counts import check_missing, count_in_engine
from correspondence.data.label_order import declare_order
from correspondence.data.pairs.opening import are_files, open_source, translate_engine_errors
from correspondence.data.pairs.pairs import is_source
from correspondence.data.table import Table, as_table

__all__ = [
    "MIN_PAIRS",
    "are_whole",
    "as_counted",
    "count_columns",
    "count_pairs",
    "count_with_codes",
    "find_obstacle",
    "indicator_table",
    "list_counted_pairs",
    "take_apart",
    "thin_counts",
]

ROUNDING_TOLERANCE = 1e-9  # relative distance from a whole number that sums and products of floats may leave
MAX_COUNT = 2.0**62  # limit of NumPy's binomial distribution


def are_whole(counts: Any) -> bool:
    """Say whether all counts are whole numbers, up to rounding.

    Parameters
    ----------
    counts : ndarray or scipy sparse array
        The counts of a table. A tiny proportion is not a whole number, although it is close to 0.

    Returns
    -------
    bool
        True if they are.

    Examples
    --------
    >>> are_whole(np.array([[3.0, 0.0], [1.0, 2.0]])), are_whole(np.array([[0.3, 1e-8]]))
    (True, False)
    """
    values = counts.data if sp.issparse(counts) else np.asarray(counts)
    if values.dtype.kind in "biu":
        return True
    return bool((np.abs(values - np.rint(values)) <= ROUNDING_TOLERANCE * values).all())


def thin_counts(counts: Any, n_folds: int, rng: np.random.Generator) -> list[Any]:
    """Deal every observation of a table out to one of several folds, each with the same probability.

    The folds add up to the table. Given the table's distribution they are what tables of as many separate
    observations would be: a fit to some folds can be checked on the others.

    Parameters
    ----------
    counts : ndarray or scipy sparse array of shape (r, c)
        Whole numbers of at least 0, such as 3.0.
    n_folds : int
        The number of folds, at least 1.
    rng : numpy.random.Generator
        The source of random numbers.

    Returns
    -------
    list of ndarray or of scipy sparse array
        One table of shape (r, c) for each fold, of the same kind and type as `counts`. Sparse ones do not store
        the zeros that arise.

    Examples
    --------
    >>> table = np.array([[10, 0], [4, 6]])
    >>> folds = thin_counts(table, 2, np.random.default_rng(0))
    >>> (folds[0] + folds[1]).tolist()
    [[10, 0], [4, 6]]
    """
    check_whole(n_folds, "n_folds", 1)
    if not are_whole(counts):
        raise ValueError("counts must be whole numbers, got others. Give the table of counts itself, not of shares.")
    if sp.issparse(counts):
        return thin_sparse(counts, n_folds, rng)
    cells = np.asarray(counts)
    return [part.reshape(cells.shape) for part in thin_cells(cells.ravel(), n_folds, rng)]


def thin_sparse(counts: Any, n_folds: int, rng: np.random.Generator) -> list[Any]:
    table = sp.csr_array(counts)
    folds = []
    for part in thin_cells(table.data, n_folds, rng):
        fold = sp.csr_array((part, table.indices.copy(), table.indptr.copy()), shape=table.shape)
        fold.eliminate_zeros()
        folds.append(fold.asformat(counts.format))
    return folds


def thin_cells(cells: np.ndarray, n_folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Deal each cell out as a multinomial over the folds: each takes a binomial share of what is left."""
    if cells.max(initial=0) > MAX_COUNT:
        raise ValueError(f"counts must be at most {MAX_COUNT:.0g}, got {cells.max():.3g}. Divide them first.")
    left = np.rint(cells).astype(np.int64)
    parts = []
    for remaining in range(n_folds, 1, -1):
        part = rng.binomial(left, 1 / remaining)
        left = left - part
        parts.append(part.astype(cells.dtype))
    return [*parts, left.astype(cells.dtype)]


MIN_PAIRS = 40  # components cannot be tested with fewer
MAX_TOTAL = 2.0**53  # floats count one by one up to here
MAX_COUNTS = 200_000  # a table of more counts is sampled before it is taken apart into pairs


def count_pairs(frame: Any, x: Any, y: Any, weights: Any = None) -> Table:
    """Count how often each label of column ``x`` occurs with each label of column ``y``.

    Pairs in files or in a lazy frame are counted where they are, by the engine: only the counted cells come back.

    Parameters
    ----------
    frame : frame, array, path, glob or list of paths
        The source has one row for each observation. It is a frame in memory (pandas, polars, pyarrow), a
        two-dimensional array, Parquet or CSV files, which DuckDB reads out of core, a relation of DuckDB, a lazy frame
        of polars, or a frame of Dask or Spark.
    x, y : str or int
        Give the names of the two columns, or their positions in an array.
    weights : str or int, optional
        This column holds the weight of each observation; by default each has the weight 1.

    Returns
    -------
    Table
        The counts are sparse, and the labels sorted (categories in their own order).

    Examples
    --------
    >>> import numpy as np
    >>> from correspondence import count_pairs
    >>> table = count_pairs(np.array([["tea", "yes"], ["tea", "no"], ["tea", "yes"]]), 0, 1)
    >>> table.columns.tolist(), table.toarray().tolist()
    (['no', 'yes'], [[1.0, 2.0]])
    """
    if is_source(frame) or are_files(frame):
        with translate_engine_errors("frame"):
            source = open_source(frame, "frame")
            _check_column_names(source.collect_schema().names(), x, y, weights)
            return count_in_engine(source, x, y, weights)
    native = as_frame(frame, "frame")
    if native is not None:
        _check_column_names(native.columns, x, y, weights)
        return count_frame(native, x, y, weights)
    array = to_array(frame, "frame")
    if array.ndim != 2:
        raise ValueError(f"frame must have rows and columns, got an array of shape {array.shape}.")
    x_labels, y_labels = (array[:, _check_position(column, array.shape[1])] for column in (x, y))
    return count_columns(
        x_labels, y_labels, None if weights is None else array[:, _check_position(weights, array.shape[1])]
    )


def indicator_table(frame: Any, columns: Iterable[str] | None = None) -> Table:
    """Make the indicator table of several columns of labels: a row for each observation, a column for each label.

    Its correspondence analysis is multiple correspondence analysis.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame
        Its columns hold labels.
    columns : sequence of str, optional
        Give the table these columns, in this order: those of an earlier table, to place new observations.

    Returns
    -------
    Table
        The table is sparse, and its columns are named ``column:label``.

    Examples
    --------
    >>> import polars as pl
    >>> from correspondence import indicator_table
    >>> table = indicator_table(pl.DataFrame({"drink": ["tea", "milk"], "sugar": ["no", "no"]}))
    >>> table.columns.tolist(), table.toarray().tolist()
    (['drink:milk', 'drink:tea', 'sugar:no'], [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    """
    native = as_frame(frame, "frame")
    if native is None:
        raise TypeError(f"frame must be a pandas, polars or pyarrow frame, got {type(frame).__name__}.")
    if 0 in native.shape:
        raise ValueError(f"frame is empty: it has {native.shape[0]} rows and {native.shape[1]} columns.")
    encoded = [encode_labels(native[:, j], f"column {short_repr(name)}") for j, name in enumerate(native.columns)]
    n = len(native)
    blocks = [sp.csr_array((np.ones(n), (range(n), codes)), shape=(n, len(labels))) for codes, labels in encoded]
    names = [f"{name}:{label}" for name, (_, labels) in zip(native.columns, encoded, strict=True) for label in labels]
    counts = sp.csr_array(sp.hstack(blocks))
    if columns is not None:
        wanted = as_labels(columns, "columns").tolist()
        if not all(isinstance(name, str) for name in wanted):
            raise ValueError(f"columns must be names such as those of an earlier table, got {short_repr(wanted)}.")
        unknown = [name for name in names if name not in set(wanted)]
        if unknown:
            raise ValueError(
                f"The label {short_repr(unknown[0])} is not among the columns asked for: add it to columns."
            )
        turn = sp.csr_array(
            (np.ones(len(names)), (range(len(names)), [wanted.index(name) for name in names])),
            shape=(len(names), len(wanted)),
        )
        counts, names = counts @ turn, wanted
    return Table(counts, np.arange(n), to_object_array(names))


def count_columns(x: Any, y: Any, weights: Any = None) -> Table:
    """Count the pairs of two columns of labels, with an entry for each observation."""
    return count_with_codes(x, y, weights)[0]


def count_with_codes(
    x: Any, y: Any, weights: Any = None, weights_name: str = "weights"
) -> tuple[Table, tuple[np.ndarray, np.ndarray]]:
    """Count pairs, and return also the row and column of the table for each observation."""
    check_index(x, y, ("x", "y"))
    (x_codes, rows), (y_codes, columns) = encode_labels(x, "x"), encode_labels(y, "y")
    if len(x_codes) != len(y_codes):
        raise ValueError(
            f"x and y must have the same length, got {len(x_codes)} and {len(y_codes)} labels: give one y for each x."
        )
    if not len(x_codes):
        raise ValueError("x and y are empty: give at least one pair of labels.")
    amounts = np.ones(len(x_codes)) if weights is None else check_weights(weights, len(x_codes), weights_name)
    counts = sp.csr_array(sp.coo_array((amounts, (x_codes, y_codes)), shape=(len(rows), len(columns))))
    return Table(counts, rows, columns), (x_codes, y_codes)


def _check_column_names(known: list[Any], x: Any, y: Any, weights: Any) -> None:
    for argument, column in (("x", x), ("y", y), *([] if weights is None else [("weights", weights)])):
        if not isinstance(column, Hashable):
            raise ValueError(f"{argument} must be the name of a column, got {type(column).__name__}.")
        if column not in known:
            raise ValueError(
                f"{argument} must be the name of a column ({list_names(known)}), got {short_repr(column)}."
            )


def count_frame(frame: nw.DataFrame, x: Any, y: Any, weights: Any) -> Table:
    """Count in the frame's own library, so that only the counted cells come out."""
    x_labels, y_labels = (frame[:, frame.columns.index(column)] for column in (x, y))
    for series, column in ((x_labels, x), (y_labels, y)):
        check_missing(_count_missing_labels(series), column)
    if weights is not None:
        return count_columns(x_labels, y_labels, frame[:, frame.columns.index(weights)].to_numpy())
    pairs = x_labels.alias("x").to_frame().with_columns(y_labels.alias("y"))
    try:
        cells = pairs.group_by(["x", "y"]).agg(nw.len().alias("n"))
    except Exception:  # the library cannot group such labels (lists, say): we can, or say why not
        return count_columns(x_labels, y_labels)
    return count_columns(cells["x"], cells["y"], cells["n"].to_numpy())


def _count_missing_labels(series: nw.Series) -> int:
    try:
        return int(series.is_null().sum())
    except Exception:  # the library cannot judge the values (a signalling NaN, say): counting finds them
        return 0


def _check_position(column: Any, width: int) -> int:
    if not isinstance(column, int | np.integer) or not -width <= column < width:
        raise ValueError(f"x, y and weights must be columns from 0 to {width - 1}, got {short_repr(column)}.")
    return int(column)


# --- from a table back to pairs


def as_counted(X: Any) -> Table:
    """Read the table of counts that X must be where there is no Y.

    Parameters
    ----------
    X : Table, frame, array-like or scipy sparse array
        The table of counts.

    Examples
    --------
    >>> as_counted([[3, 1], [0, 2]])
    Table of 2 rows x 2 columns, 3 nonzero cells, total 6
    """
    try:
        return as_table(X)
    except ValueError as error:
        raise ValueError(f"Y is missing, and without it X must be a table of counts: {error}") from None


def find_obstacle(table: Table, min_pairs: int = MIN_PAIRS) -> str:
    """Say why a table cannot be taken apart into pairs, some of which are held out; "" if it can.

    Parameters
    ----------
    table : Table
        The table of counts.
    min_pairs : int
        The table must count at least this many pairs.

    Examples
    --------
    >>> find_obstacle(Table([[30, 10], [0, 20]], rows=["a", "b"], columns=["no", "yes"]))
    ''
    >>> find_obstacle(Table([[3, 1], [0, 2]], rows=["a", "b"], columns=["no", "yes"]))
    'the table has only 6 counts, and 40 are needed'
    """
    if not are_whole(table.counts):
        return "the counts are not whole numbers, so there are no individual pairs to hold out"
    if table.total < min_pairs:
        return f"the table has only {table.total:g} counts, and {min_pairs} are needed"
    if min((np.asarray(table.counts.sum(axis=axis)) > 0).sum() for axis in (0, 1)) < 2:
        return "the table has only one row or column with counts"
    return (
        f"the table has {table.total:g} counts, more than can be counted one by one" if table.total > MAX_TOTAL else ""
    )


def list_counted_pairs(
    X: Any, groups: Any = None, *, min_pairs: int = MIN_PAIRS, keep_labels: bool = False, ordered: Any = "auto"
) -> tuple[Any, Any]:
    """List the pairs that X, a table of whole counts, counts.

    Parameters
    ----------
    X : Table, frame, array-like or scipy sparse array
        The table of counts.
    groups : None
        Groups of pairs are refused, because a table does not say which pair is which.
    min_pairs : int
        The table must count at least this many pairs.
    keep_labels : bool
        List the labels of the table instead of their positions.
    ordered : "auto", None, list of names or dict
        Which sides are in order; see `CA`.

    Returns
    -------
    x, y : ndarray, or polars.Series for labels in order
        The pairs of `take_apart`.

    Warns
    -----
    LeftOut
        If there are so many pairs that a sample of them is listed.

    Examples
    --------
    >>> x, y = list_counted_pairs([[2, 1], [0, 1]], min_pairs=2)
    >>> x.tolist(), y.tolist()
    (['0', '0', '0', '1'], ['0', '0', '1', '1'])
    """
    if groups is not None and not (isinstance(groups, str) and groups == "duplicates"):  # counts are not copies
        raise ValueError("groups must be None for a table of counts. Give the pairs themselves as X and Y.")
    table = as_counted(X)
    why = find_obstacle(table, min_pairs)
    if why:
        raise ValueError(f"X must be a table that can be taken apart into pairs, but {why}. Fit CA to it instead.")
    x, y = take_apart(table, keep_labels=keep_labels)
    if table.total > MAX_COUNTS:
        text = f"X counts {table.total:,.0f} pairs: {len(x):,} of them, drawn at random, are used."
        warnings.warn(text, LeftOut, stacklevel=find_user_stacklevel())
    return declare_order((x, y), X, table, ordered)


def take_apart(table: Table, *, keep_labels: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """List row and column of each pair that was counted, or of about 200,000 drawn at random if there are more.

    Parameters
    ----------
    table : Table
        The table of counts, which must be whole numbers.
    keep_labels : bool
        List the labels themselves instead of their positions.

    Returns
    -------
    x, y : ndarray of str, or with `keep_labels` of labels
        Positions of the labels of each pair, counted in the order of the labels as texts. So neither the order of
        rows and columns nor labels that are equal as texts change the pairs.

    Examples
    --------
    >>> [labels.tolist() for labels in take_apart(Table([[2, 1], [0, 1]], rows=["a", "b"], columns=["no", "yes"]))]
    [['0', '0', '0', '1'], ['0', '0', '1', '1']]
    """
    rows, columns = (np.argsort([str(label) for label in side], kind="stable") for side in (table.rows, table.columns))
    counts = sp.csr_array(table.counts)[rows][:, columns]
    counts.sort_indices()
    cells = counts.tocoo()
    times = np.rint(cells.data).astype(np.int64)
    if table.total > MAX_COUNTS:
        times = np.random.default_rng(0).binomial(times, MAX_COUNTS / table.total)
    x, y = np.repeat(cells.row, times), np.repeat(cells.col, times)
    return (table.rows[rows][x], table.columns[columns][y]) if keep_labels else (x.astype(str), y.astype(str))
