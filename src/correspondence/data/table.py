"""The contingency table: counts of pairs, sparse or dense, with the labels of its rows and columns."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import (
    as_frame,
    check_total,
    find_user_stacklevel,
    series_to_array,
    to_array,
    to_floats,
)
from correspondence._util.html_tables import MAX_COLUMNS, HtmlTable
from correspondence._util.labels import as_labels, to_object_array
from correspondence._util.text import short_repr
from correspondence._util.user_warnings import CorrespondenceWarning

__all__ = ["NAMES_OF_NAMELESS", "Table", "as_table", "has_row_labels", "to_frame", "weight_columns"]

NAMES_OF_NAMELESS = ("", "Unnamed: 0")  # a first column without a heading, and what pandas makes of it

Backend = Literal["pandas", "polars", "pyarrow"]


@dataclass(frozen=True, eq=False)
class Table(HtmlTable):
    """A table of how often each x occurs with each y.

    Parameters
    ----------
    counts : ndarray or scipy sparse array of shape (r, c)
        The counts or weights are non-negative, but need not be whole numbers. They are not copied if they are float64.
    rows, columns : ndarray of shape (r,) and (c,)
        These are the labels, that is the values of x and of y, all different.
    named : bool
        False means that the labels are just positions.

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
        counts = to_float_csr(self.counts) if sp.issparse(self.counts) else to_array(self.counts, "counts")
        if counts.dtype.kind not in "biuf":
            counts = to_floats(counts, "counts")
        object.__setattr__(self, "counts", counts)
        if self.counts.ndim != 2:
            raise ValueError(f"counts must have rows and columns, got {self.counts.ndim} dimension(s).")
        for side, size in zip(("rows", "columns"), self.counts.shape, strict=True):
            labels = as_labels(getattr(self, side), side)
            if len(labels) != size:
                raise ValueError(f"{side} has {len(labels)} labels for {size} {side} of counts.")
            if self.named:
                check_unique_labels(labels.tolist(), side)
            object.__setattr__(self, side, labels)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.counts.shape

    @property
    def T(self) -> Table:  # noqa: N802 (as in NumPy)
        """The same table with rows and columns exchanged."""
        return Table(self.counts.T, self.columns, self.rows, self.named)

    @cached_property
    def total(self) -> float:
        """The sum of all counts."""
        with np.errstate(over="ignore"):
            return float(self.counts.sum(dtype=np.float64))

    def toarray(self) -> np.ndarray:
        """Return the counts as a dense array.

        Returns
        -------
        ndarray of shape (r, c)
            This is not a copy if the counts are dense.
        """
        return self.counts.toarray() if sp.issparse(self.counts) else np.asarray(self.counts)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a data frame with a first column ``label`` for the rows and a column for each y.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Use this library; by default the first of these that is installed. Labels that it has no type for, such as
            mixed ones in pyarrow, become text.

        Returns
        -------
        frame
            `CA.fit` takes it.
        """
        counts = self.toarray()
        columns = {str(name): counts[:, j] for j, name in enumerate(self.columns)}
        if len(columns) < counts.shape[1] or "label" in columns:
            raise ValueError('The names of the columns are not all different as text, or one is called "label".')
        return to_frame({"label": self.rows, **columns}, backend)

    def _collect_columns(self) -> dict[Any, Any]:
        return {None: self.rows} | dict(zip(self.columns.tolist(), self.toarray().T, strict=True))

    def _collect_preview(self, n: int) -> tuple[dict[Any, Any], int]:
        first = Table(self.counts[:n, :MAX_COLUMNS], self.rows[:n], self.columns[:MAX_COLUMNS], self.named)
        return dict.fromkeys([None, *self.columns.tolist()], ()) | first._collect_columns(), self.shape[0]

    def __repr__(self) -> str:
        nonzero = self.counts.nnz if sp.issparse(self.counts) else np.count_nonzero(self.counts)
        rows, columns = self.shape
        return f"Table of {rows} rows x {columns} columns, {nonzero} nonzero cells, total {self.total:g}"


def as_table(
    counts: Any, name: str = "X", *, positive: bool = True, advice: str = "", allow_missing: bool = False
) -> Table:
    """Read a table in any common form, check it, and convert it to float64.

    Parameters
    ----------
    counts : Table, array-like, scipy sparse, or pandas, polars or pyarrow frame
        The row labels of a frame are its index (pandas) or its first column if that is not numeric.
    name : str
        Errors call the argument so.
    positive : bool
        Raise an error if all counts are zero.
    advice : str
        Say this, after a space, if there are negative counts.
    allow_missing : bool
        Let missing counts be NaN.
    """
    table = read_counts(counts, name, allow_missing)
    table = replace(table, counts=to_float_counts(table.counts, name))
    known = replace(table, counts=np.nan_to_num(table.toarray(), posinf=np.inf)) if allow_missing else table
    check_cells(known, name, advice)
    if positive and known.total == 0:
        raise ValueError(f"{name} has only zeros: there is nothing to analyse.")
    if positive:
        check_total(known.total, name)
    return table


def to_float_csr(counts: Any) -> sp.csr_array:
    """Convert to a CSR array of float64, which shares the indices of the input where possible."""
    if counts.dtype.kind not in "biuf":
        raise ValueError(f"Complex data not supported: counts must hold real numbers, got {counts.dtype}.")
    if counts.ndim != 2:
        raise ValueError(f"counts must have rows and columns, got {counts.ndim} dimension(s).")
    if counts.format == "csr":
        data = counts.data.astype(np.float64, copy=False)
        return sp.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
    return sp.csr_array(counts.astype(np.float64, copy=False))  # first, or duplicates of small integers overflow


def weight_columns(counts: Any, weights: np.ndarray) -> Any:
    """Multiply each column of the counts by its weight."""
    return counts @ sp.diags_array(weights) if sp.issparse(counts) else counts * weights


def to_frame(columns: dict[str, Any], backend: Backend | None = None) -> Any:
    """Make a native data frame of the given library, or of the first that is installed."""
    if backend is not None and (not isinstance(backend, str) or backend not in ("pandas", "polars", "pyarrow")):
        raise ValueError(f'backend must be "pandas", "polars" or "pyarrow", got {short_repr(backend)}.')
    candidates: tuple[Backend, ...] = (backend,) if backend else ("pandas", "polars", "pyarrow")
    for candidate in candidates:
        try:
            return nw.from_dict(columns, backend=candidate).to_native()
        except ImportError:
            continue
        except Exception:  # labels that the library has no type for
            return nw.from_dict(_convert_labels_to_text(columns), backend=candidate).to_native()
    raise ImportError(f"A frame needs {backend or 'pandas, polars or pyarrow'}: pip install {backend or 'pandas'}")


def _convert_labels_to_text(columns: dict[str, Any]) -> dict[str, Any]:
    """Convert labels to text; columns of numbers stay as they are."""
    return {
        name: [str(label).encode(errors="backslashreplace").decode() for label in values]
        if np.asarray(values).dtype.kind == "O"
        else values
        for name, values in columns.items()
    }


def read_counts(counts: Any, name: str, allow_missing: bool = False) -> Table:
    if isinstance(counts, Table):
        return counts
    frame = as_frame(counts, name)
    if frame is not None:
        return read_count_frame(frame, name, allow_missing)
    if not sp.issparse(counts):
        counts = read_count_array(counts, name, allow_missing)
    if counts.ndim != 2:
        raise ValueError(
            f"{name} must be a two-dimensional table of counts, got {counts.ndim} dimension(s). Reshape your data: "
            "a single row is [[...]]; two columns of labels are counted by fit(x, y)."
        )
    if not sp.issparse(counts):
        counts = to_float_counts(counts, name)
    rows, columns = (np.arange(size) for size in counts.shape)
    return Table(counts, rows, columns, named=False)


def read_count_array(counts: Any, name: str, allow_missing: bool = False) -> np.ndarray:
    if counts is None or isinstance(counts, str | bytes | dict):
        raise ValueError(
            f"{name} must be a two-dimensional table of counts, got {type(counts).__name__}: "
            "read a file into a frame first, and make an array or a frame of anything else."
        )
    if np.ma.is_masked(counts) and allow_missing:
        return counts.astype(np.float64).filled(np.nan)
    if np.ma.is_masked(counts):
        raise ValueError(_explain_not_finite(f"{name} contains masked entries"))
    return to_array(counts, name)


def read_count_frame(frame: nw.DataFrame, name: str, allow_missing: bool = False) -> Table:
    index = nw.maybe_get_index(frame)
    first = int(has_row_labels(frame))
    if first:
        rows = as_labels(frame[:, 0], f"the first column of {name}")
    else:
        rows = np.arange(len(frame)) if index is None else as_labels(list(index), f"the index of {name}")
        warn_of_row_numbers(frame, name)
    places = range(first, frame.shape[1])
    counts = [read_count_column(frame[:, j], frame.columns[j], name, allow_missing) for j in places]
    table = np.column_stack(counts) if counts else np.empty((len(frame), 0))
    return Table(table, rows, to_object_array(frame.columns[first:]))


def warn_of_row_numbers(frame: nw.DataFrame, name: str) -> None:
    """Warn of a first column that counts as data, but is likely to name the rows: R and pandas write such files."""
    first = frame[:, 0] if frame.shape[1] > 1 else None
    if first is None or str(first.name) not in NAMES_OF_NAMELESS or not first.dtype.is_integer():
        return
    if first.n_unique() == len(first):
        warnings.warn(
            f"The first column {str(first.name)!r} of {name} is taken for counts, though it seems to name the rows. "
            "Make it the index, or texts.",
            CorrespondenceWarning,
            stacklevel=find_user_stacklevel(),
        )


def has_row_labels(frame: nw.DataFrame) -> bool:
    """Say whether the first column of a table names its rows: it holds labels, and no index does."""
    index = nw.maybe_get_index(frame)
    is_numbered = index is None or getattr(index, "dtype", np.dtype(object)).kind in "iu"
    return is_numbered and frame.shape[1] > 1 and _holds_labels(frame[:, 0])


def _holds_labels(series: nw.Series) -> bool:
    """Say whether a column holds text, categories or dates."""
    if series.dtype in (nw.Object, nw.Unknown):
        return any(isinstance(value, str) for value in series.to_list())
    return series.dtype in (nw.String, nw.Categorical, nw.Enum) or series.dtype.is_temporal()


def read_count_column(series: nw.Series, column: Any, name: str, allow_missing: bool = False) -> np.ndarray:
    if _holds_labels(series):
        raise ValueError(
            f"{name} must hold counts, but its column {short_repr(column)} is {series.dtype}. "
            "To count two columns of labels give them as fit(x, y)."
        )
    if series.is_null().any() and allow_missing:
        cells = zip(series.to_list(), series.is_null().to_list(), strict=True)
        return np.array([np.nan if is_gap else value for value, is_gap in cells], dtype=np.float64)
    if series.is_null().any():
        raise ValueError(_explain_not_finite(f"{name} contains NaN (column {short_repr(column)})"))
    return to_floats(series_to_array(series), f"column {short_repr(column)} of {name}")


def check_unique_labels(labels: list[Any], side: str) -> None:
    try:
        if len(set(labels)) == len(labels):
            return
    except TypeError as error:
        raise TypeError(f"The {side} have a label that cannot be hashed ({error}): use strings or numbers.") from None
    seen: set[Any] = set()
    repeated = next(label for label in labels if label in seen or seen.add(label))  # type: ignore[func-returns-value]
    raise ValueError(f"The {side} have the label {short_repr(repeated)} more than once: rename or add up those {side}.")


def to_float_counts(counts: Any, name: str) -> Any:
    """Convert counts to an array or a canonical CSR array of float64."""
    is_text = counts.dtype.kind in "US" or (
        counts.dtype.kind == "O" and any(isinstance(value, str) for value in counts.flat)
    )
    if is_text or counts.dtype.kind not in "biufO":
        complaint = "Complex data not supported: " if counts.dtype.kind == "c" else ""
        kind = "text" if is_text else f"values of type {counts.dtype}"
        raise ValueError(
            f"{complaint}{name} must hold counts, got {kind}. To count two columns of labels give them as fit(x, y)."
        )
    if 0 in counts.shape:
        missing = "0 sample(s)" if counts.shape[0] == 0 else "0 feature(s)"
        raise ValueError(f"{name} is empty: {missing} (shape={counts.shape}) while a minimum of 1 is required.")
    if not sp.issparse(counts):
        return np.ascontiguousarray(to_floats(counts, name))
    if not counts.has_canonical_format:
        counts = counts.copy()
        counts.sum_duplicates()
    return counts


def check_cells(table: Table, name: str, advice: str = "") -> None:
    counts = table.counts
    cells = counts.data if sp.issparse(counts) else counts
    low, high = (float(cells.min()), float(cells.max())) if cells.size else (0.0, 0.0)
    if math.isnan(low):
        raise ValueError(_explain_not_finite(f"{name} contains NaN{_locate_bad_cell(table, np.isnan)}"))
    if math.isinf(high) or math.isinf(low):
        raise ValueError(_explain_not_finite(f"{name} contains infinity{_locate_bad_cell(table, np.isinf)}"))
    if low < 0:
        where = _locate_bad_cell(table, lambda values: values < 0)
        raise ValueError(f"Negative values in data: {name} must hold counts of at least 0, got {low:g}{where}.{advice}")


def _locate_bad_cell(table: Table, is_bad: Callable[[np.ndarray], np.ndarray]) -> str:
    """Say which cell is the first bad one, by its labels."""
    cells = sp.coo_array(table.counts)
    first = int(np.argmax(is_bad(cells.data)))
    row, column = table.rows[cells.row[[first]]].tolist(), table.columns[cells.col[[first]]].tolist()
    return f" (row {short_repr(row[0])}, column {short_repr(column[0])})"


def _explain_not_finite(complaint: str) -> str:
    return f"{complaint}: replace it by a count, or give such rows or columns as supplementary."
