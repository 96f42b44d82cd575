"""Moments of features of pairs, computed for each partition where it is, and merged."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.arguments import as_frame
from correspondence.core.moments import Moments
from correspondence.data.pairs.opening import series_to_floats
from correspondence.data.pairs.pairs import Pairs, check_source

__all__ = ["ROWS_PER_BATCH", "Features", "check_is_pairs", "moments"]


ROWS_PER_BATCH = 4096  # rows whose features are computed at a time
Features = Callable[[Any], Any]


def moments(pairs: Pairs, x_features: Features | None = None, y_features: Features | None = None) -> Moments:
    """Compute moments of any features of pairs, for each partition where it is, and merge them.

    Parameters
    ----------
    pairs : Pairs
        The pairs may be anywhere.
    x_features, y_features : callable, optional
        These turn a column or table of pyarrow with n rows into an array of shape (n, p), or (n, q); they are sent to
        the workers. By default the numbers are the features.

    Returns
    -------
    Moments
        The merged moments; their `decompose` gives the decomposition.

    Examples
    --------
    >>> import polars as pl
    >>> import correspondence as co
    >>> frame = pl.LazyFrame({"x": [0.0, 1.0, 2.0, 3.0], "y": [0.0, 1.0, 4.0, 9.0]})
    >>> pairs = co.Pairs(frame, x="x", y="y")
    >>> co.distributed.moments(pairs).decompose().correlations.round(3)
    array([0.958])
    >>> square = lambda column: column.to_numpy()[:, None] ** 2
    >>> co.distributed.moments(pairs, x_features=square).decompose().correlations.round(3)
    array([1.])
    """
    check_is_pairs(pairs)
    functions = (x_features or partial(read_numbers, "X")), (y_features or partial(read_numbers, "Y"))
    return pairs.through(*functions).sums(compute_moments, partial(sum, start=Moments()), "moments", numbered=False)


def check_is_pairs(pairs: Any) -> None:
    """Check that pairs are `Pairs` whose source can still be read."""
    if not isinstance(pairs, Pairs):
        raise TypeError(f"pairs must be Pairs, got {type(pairs).__name__}. Say what x and y are: Pairs(frame, x, y).")
    check_source(pairs)


def read_numbers(name: str, values: Any) -> np.ndarray:
    """Read the numbers of a column or table, as an array of shape (n, p)."""
    frame = as_frame(values, name)
    columns = list(frame.iter_columns()) if frame is not None else [nw.from_native(values, series_only=True)]
    for column in columns:
        if not column.dtype.is_numeric():
            where = f"Column {column.name!r} of {name}" if frame is not None else name
            raise ValueError(f"{where} must hold numbers, got {column.dtype}. Give {name.lower()}_features.")
    return np.column_stack([series_to_floats(column) for column in columns])


def compute_moments(F: Any, G: Any, first: int) -> Moments:
    result = Moments()
    for start in range(0, len(F), ROWS_PER_BATCH):
        result.update(F[start : start + ROWS_PER_BATCH], G[start : start + ROWS_PER_BATCH])
    return result
