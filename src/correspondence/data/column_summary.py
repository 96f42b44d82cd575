"""What encoders need of whole columns: extremes, labels, and a sample of rows, which do not depend on partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from correspondence._util.text import short_repr
from correspondence.data.column_reading import WholeNumbers, find_missing, to_numbers

__all__ = ["MAX_FEW_VALUES", "ROWS_TO_SAMPLE", "Extent", "Survey"]

ROWS_TO_SAMPLE = 100_000  # about this many rows give the quantiles, or all rows if there are fewer
SPLITMIX64_GAMMA = np.uint64(0x9E3779B97F4A7C15)
ROWS_PER_BLOCK = 1 << 20
MAX_FEW_VALUES = 20  # different whole numbers that are counted, because they may be labels


class Extent(NamedTuple):
    """A summary of a column of numbers, dates or durations.

    Attributes
    ----------
    low, high : float
        The least and the greatest value, dates in days and durations in seconds; NaN if all are missing.
    n_missing : int
        The number of missing values.
    dtype : {"i", "f", "M", "m"}
        Whole numbers, other numbers, dates or durations.
    counts : dict, optional
        How often each value occurs, if they are whole numbers and at most `MAX_FEW_VALUES` differ.
    """

    low: float
    high: float
    n_missing: int = 0
    dtype: str = "f"
    counts: dict[int, int] | None = None


Summary = Extent | dict[Any, int]
"""The extent of numbers, or how often each label occurs, None for missing ones included."""


@dataclass(frozen=True, eq=False)
class Survey:
    """A summary of columns, which can be merged from those of parts of the rows.

    Attributes
    ----------
    n : int
        There are n rows.
    columns : dict
        The key of a column leads to the extent of its numbers, or to how often each label occurs.
    sample : dict
        The key of a column leads to its values in the sampled rows.
    """

    n: int
    columns: dict[Any, Summary]
    sample: dict[Any, np.ndarray]

    @classmethod
    def from_columns(cls, columns: dict[Any, np.ndarray], first: int = 0, total: int | None = None) -> Survey:
        """Survey some rows.

        Parameters
        ----------
        columns : dict
            The columns are arrays as `columns_of` reads them.
        first : int
            The first of these rows has this number among all rows.
        total : int, optional
            There are this many rows in all; by default these are all.
        """
        n = len(next(iter(columns.values())))
        drawn = draw_rows(first, n, n if total is None else total)
        return cls(
            n,
            {key: summarise_column(values) for key, values in columns.items()},
            {key: values if len(drawn) == n else values[drawn] for key, values in columns.items()},
        )

    @classmethod
    def merge_parts(cls, parts: Sequence[Survey], name: str) -> Survey:
        """Merge the surveys of all parts, in their order; errors call the table `name`."""
        first = parts[0]
        if len(parts) == 1:
            return first
        columns = {
            key: merge_column_summaries([part.columns[key] for part in parts], key, name) for key in first.columns
        }
        sample = {key: np.concatenate([part.sample[key] for part in parts]) for key in first.columns}
        return cls(sum(part.n for part in parts), columns, sample)

    @property
    def rows(self) -> dict[Any, np.ndarray]:
        """The sample, with two rows added for the least and the greatest numbers if it is not all rows."""
        if len(next(iter(self.sample.values()))) == self.n:
            return self.sample
        return {key: _add_extremes(values, self.columns[key]) for key, values in self.sample.items()}


def _add_extremes(values: np.ndarray, summary: Summary) -> np.ndarray:
    """Add the least and the greatest of all numbers to those of the sample, or two of its labels again."""
    if isinstance(summary, dict) or np.isnan(summary.low):
        return np.concatenate([values, values[:1].repeat(2)])
    ordered = values[np.argsort(to_numbers(values))] if values.dtype.kind in "mM" else None
    ends = np.array([summary.low, summary.high]) if ordered is None else ordered[[0, -1]]
    return np.concatenate([values, ends])


def draw_rows(first: int, n: int, total: int) -> np.ndarray:
    """Draw some of n rows: those whose scrambled number is small, whichever partition they are in."""
    if total <= ROWS_TO_SAMPLE:
        return np.arange(n)
    limit = np.uint64(ROWS_TO_SAMPLE * 2**64 // total)
    blocks = (np.arange(start, min(start + ROWS_PER_BLOCK, n)) for start in range(0, n, ROWS_PER_BLOCK))
    return np.concatenate(
        [rows[_scramble_numbers(rows.astype(np.uint64) + np.uint64(first)) < limit] for rows in blocks]
    )


def _scramble_numbers(numbers: np.ndarray) -> np.ndarray:
    """Spread numbers evenly over 64 bits, by the finalizer of SplitMix64."""
    z = (numbers + np.uint64(1)) * SPLITMIX64_GAMMA
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def summarise_column(values: np.ndarray) -> Summary:
    """Summarise one column, as `columns_of` reads it."""
    if values.dtype != object:
        return measure_extent(values)
    try:
        return dict(Counter(values.tolist()))
    except TypeError as error:
        raise TypeError(f"A column has a label that cannot be hashed ({error}): use strings or numbers.") from None


def measure_extent(values: np.ndarray) -> Extent:
    """Measure the extent of a column of numbers, dates or durations."""
    missing = find_missing(values)
    present = to_numbers(values[~missing] if missing.any() else values)
    n_missing, kind = int(missing.sum()), "i" if isinstance(values, WholeNumbers) else values.dtype.kind
    if not len(present):
        return Extent(np.nan, np.nan, n_missing, kind)
    low, high = float(present.min()), float(present.max())
    return Extent(low, high, n_missing, kind, _count_few(present) if kind == "i" else None)


def _count_few(numbers: np.ndarray) -> dict[int, int] | None:
    """Count the numbers if they are whole and few differ."""
    head = numbers[: 50 * MAX_FEW_VALUES]  # nearly always enough to see that there are many
    if len(np.unique(head)) > MAX_FEW_VALUES or (head != np.rint(head)).any():
        return None
    values, counts = np.unique(numbers, return_counts=True)
    if len(values) > MAX_FEW_VALUES or (values != np.rint(values)).any() or np.abs(values).max() > 2**53:
        return None
    return dict(zip(values.astype(np.int64).tolist(), counts.tolist(), strict=True))


def merge_column_summaries(parts: list[Summary], key: Any, name: str) -> Summary:
    """Merge the summaries of one column in all parts."""
    counts = [part for part in parts if isinstance(part, dict) and set(part) != {None}]
    extents = [part for part in parts if isinstance(part, Extent)]
    if counts and any(extent.low == extent.low for extent in extents):
        raise ValueError(
            f"Column {short_repr(key)} of {name} holds numbers in some rows and labels in others: cast it to one."
        )
    n_missing = sum(part[None] for part in parts if isinstance(part, dict) and set(part) == {None})
    if extents and not counts:
        return merge_extents(extents, n_missing)
    total: Counter[Any] = Counter()
    for part in parts:
        total.update(part if isinstance(part, dict) else {None: part.n_missing})
    return dict(total)


def merge_extents(extents: Sequence[Extent], n_missing: int) -> Extent:
    """Merge the extents of a column in all parts; n_missing values more are missing."""
    present = [extent for extent in extents if extent.low == extent.low] or list(extents)
    kinds = {extent.dtype for extent in present}
    total: Counter[int] = Counter()
    for extent in present:
        total.update(extent.counts or {})
    is_counted = all(extent.counts is not None for extent in present) and len(total) <= MAX_FEW_VALUES
    return Extent(
        min(extent.low for extent in present),
        max(extent.high for extent in present),
        n_missing + sum(extent.n_missing for extent in extents),
        kinds.pop() if len(kinds) == 1 else "f",
        dict(total) if is_counted else None,
    )
