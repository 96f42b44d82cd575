"""What encoders need of whole columns: extremes, labels, and a sample of rows, which do not depend on partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.text import short_repr

__all__ = ["ROWS_TO_SAMPLE", "Survey"]

ROWS_TO_SAMPLE = 100_000  # about this many rows give the quantiles, or all rows if there are fewer
SPLITMIX64_GAMMA = np.uint64(0x9E3779B97F4A7C15)
ROWS_PER_BLOCK = 1 << 20

Summary = tuple[float, float] | dict[Any, int]
"""The least and the greatest number, or how often each label occurs."""


@dataclass(frozen=True, eq=False)
class Survey:
    """A summary of columns, which can be merged from those of parts of the rows.

    Attributes
    ----------
    n : int
        There are n rows.
    columns : dict
        The key of a column leads to its least and greatest number, or to how often each label occurs.
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
            The columns are arrays of float64 for numbers and of objects for labels.
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
        extremes = {
            key: summary if isinstance(summary, tuple) else self.sample[key][:1].repeat(2)
            for key, summary in self.columns.items()
        }
        return {key: np.append(values, extremes[key]) for key, values in self.sample.items()}


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
    if values.dtype != object:
        return float(values.min()), float(values.max())
    try:
        return dict(Counter(values.tolist()))
    except TypeError as error:
        raise TypeError(f"A column has a label that cannot be hashed ({error}): use strings or numbers.") from None


def merge_column_summaries(parts: list[Summary], key: Any, name: str) -> Summary:
    counts = [part for part in parts if isinstance(part, dict)]
    extremes = [part for part in parts if isinstance(part, tuple)]
    if counts and extremes:
        raise ValueError(
            f"Column {short_repr(key)} of {name} holds numbers in some rows and labels in others: cast it to one."
        )
    if extremes:
        return min(low for low, _ in extremes), max(high for _, high in extremes)
    total: Counter[Any] = Counter()
    for part in counts:
        total.update(part)
    return dict(total)
