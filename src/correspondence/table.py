"""The contingency table: counts of pairs, sparse or dense, with the labels of its rows and columns."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from narwhals.exceptions import DuplicateError

from correspondence.labels import as_labels

__all__ = ["Table", "as_table", "listed", "to_frame", "weighted_columns"]

Backend = Literal["pandas", "polars", "pyarrow"]


@dataclass(frozen=True, eq=False)
class Table:
    """Counts of how often each x occurs with each y.

    Parameters
    ----------
    counts : ndarray or scipy sparse array of shape (r, c)
        Non-negative counts or weights; not necessarily whole numbers.
    rows, columns : ndarray of shape (r,) and (c,)
        The labels: values of x and of y, all different.
    named : bool
        Whether the labels mean something, or are just positions.

    Examples
    --------
    >>> import numpy as np
    >>> Table(np.array([[3, 1], [0, 2]]), rows=["a", "b"], columns=["no", "yes"])
    Table of 2 rows x 2 columns, 3 nonzero cells, total 6
    """

    counts: Any
    rows: np.ndarray
    columns: np.ndarray
    named: bool = True

    def __post_init__(self) -> None:
        if not sp.issparse(self.counts):
            object.__setattr__(self, "counts", np.asarray(self.counts))
        if self.counts.ndim != 2:
            raise ValueError(f"counts must have rows and columns, got {self.counts.ndim} dimension(s).")
        for side, size in zip(("rows", "columns"), self.counts.shape, strict=True):
            labels = as_labels(getattr(self, side), side)
            if len(labels) != size:
                raise ValueError(f"{side} has {len(labels)} labels for {size} {side} of counts.")
            if self.named:
                _check_unique(labels.tolist(), side)
            object.__setattr__(self, side, labels)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.counts.shape

    @property
    def T(self) -> Table:  # noqa: N802 (as in NumPy)
        """The same table with rows and columns exchanged."""
        return Table(self.counts.T, self.columns, self.rows, self.named)

    @cached_property
    def total(self) -> float:
        """Sum of all counts."""
        return float(self.counts.sum(dtype=np.float64))

    def toarray(self) -> np.ndarray:
        """Counts as a dense array."""
        return self.counts.toarray() if sp.issparse(self.counts) else np.asarray(self.counts)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Data frame with a first column ``label`` for the rows and a column for each y.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The first of these that is installed, unless told.
        """
        counts = self.toarray()
        return to_frame(
            {"label": self.rows} | {str(name): counts[:, j] for j, name in enumerate(self.columns)}, backend
        )

    def __repr__(self) -> str:
        nonzero = self.counts.nnz if sp.issparse(self.counts) else np.count_nonzero(self.counts)
        rows, columns = self.shape
        return f"Table of {rows} rows x {columns} columns, {nonzero} nonzero cells, total {self.total:g}"


def as_table(counts: Any, name: str = "X", *, positive: bool = True) -> Table:
    """Table from any of the ways in which people keep one, checked and in float64.

    Parameters
    ----------
    counts : Table, array-like, scipy sparse, or pandas, polars or pyarrow frame
        A frame's row labels are its index (pandas) or its first column, where that is not numeric.
    name : str
        How errors call the argument.
    positive : bool
        Whether a table without any count is an error.
    """
    table = _read(counts, name)
    return replace(table, counts=_checked(table.counts, name, positive))


def weighted_columns(counts: Any, weights: np.ndarray) -> Any:
    """Counts with each column multiplied by its weight."""
    return counts @ sp.diags_array(weights) if sp.issparse(counts) else counts * weights


def listed(labels: list[Any], most: int = 10) -> str:
    """The first few labels, for a message."""
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return ", ".join(map(str, labels[:most])) + more


def to_frame(columns: dict[str, Any], backend: Backend | None = None) -> Any:
    """Native data frame of the first library installed, or of the one asked for."""
    candidates: tuple[Backend, ...] = (backend,) if backend else ("pandas", "polars", "pyarrow")
    for candidate in candidates:
        try:
            return nw.from_dict(columns, backend=candidate).to_native()
        except ImportError:
            continue
    raise ImportError(f"A frame needs {backend or 'pandas, polars or pyarrow'}: pip install {backend or 'pandas'}")


def _read(counts: Any, name: str) -> Table:
    if isinstance(counts, Table):
        return counts
    try:
        frame = nw.from_native(counts, eager_only=True, pass_through=True)
    except DuplicateError as error:
        raise ValueError(f"{name} has a column more than once: rename one of them. {error}") from None
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame, name)
    if not sp.issparse(counts):
        counts = _to_array(counts, name)
    if counts.ndim != 2:
        raise ValueError(
            f"{name} must be a two-dimensional table of counts, got {counts.ndim} dimension(s). "
            "Reshape your data, or give two columns of labels: fit(x, y)."
        )
    rows, columns = (np.arange(size) for size in counts.shape)
    return Table(counts, rows, columns, named=False)


def _to_array(counts: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(counts)
    except ValueError as error:
        raise ValueError(f"{name} cannot be read as a table: {error}") from None


def _from_frame(frame: nw.DataFrame, name: str) -> Table:
    columns = frame.columns
    index = nw.maybe_get_index(frame)
    named_by_column = (
        (index is None or _is_default(index))
        and len(columns) > 1
        and not (frame[:, 0].dtype.is_numeric() or frame[:, 0].dtype == nw.Boolean)
    )
    if named_by_column:
        rows, columns = as_labels(frame[:, 0], f"the first column of {name}"), columns[1:]
    else:
        rows = np.arange(len(frame)) if index is None else as_labels(list(index), f"the index of {name}")
    counts = [
        _numbers(frame[:, j], frame.columns[j], name) for j in range(frame.shape[1] - len(columns), frame.shape[1])
    ]
    return Table(np.column_stack(counts) if counts else np.empty((len(frame), 0)), rows, np.array(columns, object))


def _is_default(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex"


def _numbers(series: nw.Series, column: Any, name: str) -> np.ndarray:
    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        try:
            return np.asarray(series.to_numpy(), dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"{name} must hold counts, but its column {column!r} is {series.dtype}. "
                "To count two columns of labels give them as fit(x, y)."
            ) from None
    if series.is_null().any():
        raise ValueError(_not_finite(name, "NaN"))
    return series.to_numpy()


def _check_unique(labels: list[Any], side: str) -> None:
    if len(set(labels)) < len(labels):
        seen: set[Any] = set()
        repeated = next(label for label in labels if label in seen or seen.add(label))  # type: ignore[func-returns-value]
        raise ValueError(f"The {side} have the label {repeated!r} more than once: rename or add up those {side}.")


def _checked(counts: Any, name: str, positive: bool) -> Any:
    """Counts as a float64 array or canonical CSR array, after all checks on their values."""
    if counts.dtype.kind not in "biufO":
        complaint = "Complex data not supported: " if counts.dtype.kind == "c" else ""
        raise ValueError(
            f"{complaint}{name} must hold counts, got values of type {counts.dtype}. "
            "To count two columns of labels give them as fit(x, y)."
        )
    if 0 in counts.shape:
        missing = "0 sample(s)" if counts.shape[0] == 0 else "0 feature(s)"
        raise ValueError(f"{name} is empty: {missing} (shape={counts.shape}) while a minimum of 1 is required.")
    counts = _as_float(counts, name)
    cells = counts.data if sp.issparse(counts) else counts
    if cells.size:
        _check_cells(float(cells.min()), float(cells.max()), name)
    if positive and not cells.any():
        raise ValueError(f"{name} has only zeros: there is nothing to analyse.")
    return counts


def _as_float(counts: Any, name: str) -> Any:
    if sp.issparse(counts):
        counts = sp.csr_array(counts, dtype=np.float64)
        if not counts.has_canonical_format:
            counts = counts.copy()
            counts.sum_duplicates()
        return counts
    try:
        return np.ascontiguousarray(counts, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must hold counts, but some of its values are not numbers. "
            "To count two columns of labels give them as fit(x, y)."
        ) from None


def _check_cells(low: float, high: float, name: str) -> None:
    if math.isnan(low) or math.isinf(high) or math.isinf(low):
        raise ValueError(_not_finite(name, "NaN" if math.isnan(low) else "infinity"))
    if low < 0:
        raise ValueError(f"Negative values in data: {name} must hold counts of at least 0, got {low:g}.")


def _not_finite(name: str, what: str) -> str:
    return f"{name} contains {what}: replace it by a count, or give those rows or columns as supplementary."
