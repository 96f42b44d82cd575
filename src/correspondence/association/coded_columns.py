"""Columns of a table as whole numbers: the place of each row's label, or of the bin that its number is in."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.text import list_names, short_repr
from correspondence._util.user_warnings import LeftOut
from correspondence.association.level_features import (
    LevelFeatures,
    choose_degree,
    make_label_features,
    make_number_features,
)
from correspondence.data.answers import list_answers, split_columns
from correspondence.data.column_kinds import MAX_LEVELS, decide_column_kind
from correspondence.data.column_reading import read_array_column, read_series, to_numbers
from correspondence.data.column_summary import summarise_column

__all__ = ["CodedColumn", "code_columns", "find_bin_edges", "merge_rare_levels", "warn_of_left_out"]

KINDS_OF_LABELS = ("label", "boolean")
KINDS_OF_NUMBERS = ("number", "date", "time", "duration")
REASONS = {
    "id": "nearly every row has its own label",
    "constant": "they have one value only",
    "empty": "they have no value",
    "text": "they are texts",
    "list": "they are lists",
    "many": "they have too many labels for a table that is not in memory",
    "given": "they follow from what is given",
}
MAX_BINS = 256  # of numbers: ranks are then known to 0.2 % of the rows
MIN_ROWS_PER_LEVEL = 5  # labels with fewer rows share a level; if that has fewer too, it counts as the average
ROWS_PER_LEVEL = 10  # labels have at most one level for so many rows, on average


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """One column as codes.

    Attributes
    ----------
    name : object
        The name of the column.
    kind : str
        What it is: "label", "boolean", "number", "date", "time" or "duration".
    codes : ndarray of int of shape (n,)
        The level of each row.
    n_levels : int
        The number of levels; those of numbers are in increasing order.
    missing : int
        The level of missing values; -1 if there are none.
    is_number : bool
        Whether the levels have an order.
    """

    name: Any
    kind: str
    codes: np.ndarray
    n_levels: int
    missing: int = -1
    is_number: bool = False

    @property
    def is_missing(self) -> np.ndarray:
        """Which level is that of missing values."""
        return np.arange(self.n_levels) == self.missing

    def count_levels(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Sum the weights of the rows at each level."""
        return np.bincount(self.codes, weights, self.n_levels).astype(np.float64)

    def has_gap_answer(self, missing: str) -> bool:
        """Tell whether missing values are an answer: if that is wanted, or if there is only one other."""
        return missing == "indicator" or (self.missing >= 0 and self.n_levels < 3)

    def has_silent_gaps(self, missing: str) -> bool:
        """Tell whether it has missing values that say nothing."""
        return self.missing >= 0 and not self.has_gap_answer(missing)

    def make_features(self, counts: np.ndarray, missing: str) -> LevelFeatures:
        """Make the features of its levels, given the weight of the rows at each; very rare levels say nothing."""
        is_rare = counts < MIN_ROWS_PER_LEVEL
        is_average = not self.has_gap_answer(missing)
        if self.is_number:
            degree = choose_degree(counts[~self.is_missing].sum())
            has_indicator = not is_average and not is_rare[self.is_missing].any()
            return make_number_features(counts, degree, self.is_missing, has_indicator=has_indicator)
        says_nothing = self.is_missing & (is_average | is_rare)
        if (~says_nothing & ~is_rare).sum() > 1:
            says_nothing |= is_rare
        return make_label_features(counts, says_nothing)

    def take_rows(self, rows: np.ndarray) -> CodedColumn:
        """Keep some of the rows, or repeat them."""
        return replace(self, codes=self.codes[rows])


def code_columns(
    frame: Any, repetitions: np.ndarray | None = None, without: Collection[Any] = ()
) -> tuple[list[CodedColumn], dict[Any, str]]:
    """Read the columns of a table in memory; say which are left out, and which labels share a level.

    Parameters
    ----------
    frame : frame or array-like of shape (n, k)
        The table.
    repetitions : ndarray of shape (n,), optional
        How often each row occurs, for the decision which labels are rare.
    without : collection
        Columns with these names are not read.

    Returns
    -------
    columns : list of CodedColumn
        The columns that can be compared.
    left_out : dict
        The name of each other column leads to its kind.
    """
    columns = {key: column for key, column in split_columns(frame, "frame").items() if key not in without}
    coded: list[CodedColumn] = []
    left_out: dict[Any, str] = {}
    merged: dict[Any, int] = {}
    for key, column in columns.items():
        kind, made, n_merged = code_column(key, column, repetitions)
        if made is None:
            left_out[key] = kind
            continue
        coded.append(made)
        if n_merged:
            merged[key] = n_merged
    warn_of_left_out({kind: [key for key, own in left_out.items() if own == kind] for kind in REASONS})
    warn_of_merged(merged)
    return coded, left_out


def code_column(key: Any, column: Any, repetitions: np.ndarray | None = None) -> tuple[str, CodedColumn | None, int]:
    """Return what a column is, its codes (None if it takes no part) and how many rare labels share a level."""
    where = f"Column {short_repr(key)} of frame"
    is_series = isinstance(column, nw.Series)
    values = read_series(column, where, key) if is_series else read_array_column(column, where)
    n = len(values)
    kind = decide_column_kind(key, summarise_column(values), n, is_alone=False, linear=True)
    if kind.kind in KINDS_OF_NUMBERS:
        numbers = to_numbers(values if kind.reader is None else kind.reader(values))
        return kind.kind, code_numbers(key, kind.kind, numbers), 0
    if kind.kind not in KINDS_OF_LABELS:
        return kind.kind, None, 0
    if values.dtype != object:  # numbers of which there is one only, and missing ones
        return kind.kind, code_numbers(key, kind.kind, to_numbers(values)), 0
    codes = list_answers(column, str(key)).codes
    n_missing = int((codes < 0).sum())
    counts = np.bincount(codes + 1, repetitions)[1:]
    places, n_levels, n_merged = merge_rare_levels(counts, n if repetitions is None else int(repetitions.sum()))
    found = np.append(places, n_levels)[codes].astype(np.int16)  # the last place is that of -1
    made = CodedColumn(key, kind.kind, found, n_levels + (n_missing > 0), n_levels if n_missing else -1)
    return (kind.kind, made, n_merged) if made.n_levels > 1 else ("constant", None, 0)


def code_numbers(key: Any, kind: str, numbers: np.ndarray, edges: np.ndarray | None = None) -> CodedColumn:
    """Put numbers into bins."""
    is_missing = np.isnan(numbers)
    edges = find_bin_edges(numbers[~is_missing]) if edges is None else edges
    codes = np.searchsorted(edges, numbers, side="right").astype(np.int16)
    n_levels = len(edges) + 1
    if not is_missing.any():
        return CodedColumn(key, kind, codes, n_levels, is_number=True)
    codes[is_missing] = n_levels
    return CodedColumn(key, kind, codes, n_levels + 1, n_levels, is_number=True)


def find_bin_edges(numbers: np.ndarray) -> np.ndarray:
    """Find the least number of each bin but the first: each different number has its own, or all have as many rows.

    Examples
    --------
    >>> find_bin_edges(np.array([3.0, 1.0, 2.0, 1.0])).tolist()
    [2.0, 3.0]
    """
    ordered = np.sort(numbers)
    starts = np.flatnonzero(np.diff(ordered) > 0) + 1
    if len(starts) >= MAX_BINS:
        places = np.linspace(0, len(ordered), MAX_BINS + 1)[1:-1].astype(int)
        starts = np.unique(np.concatenate([starts[np.searchsorted(starts, places) - 1]]))
    return ordered[starts]


def merge_rare_levels(counts: np.ndarray, n: int) -> tuple[np.ndarray, int, int]:
    """Let rare labels share a level.

    Parameters
    ----------
    counts : ndarray of int
        How many rows have each label.
    n : int
        The number of rows.

    Returns
    -------
    places : ndarray of int
        The level of each label.
    n_levels : int
        The number of levels.
    n_merged : int
        How many labels share a level, or are a level of few rows; 0 if none are.

    Examples
    --------
    >>> places, n_levels, n_merged = merge_rare_levels(np.array([50, 2, 45, 3]), 100)
    >>> places.tolist(), n_levels, n_merged
    ([0, 2, 1, 2], 3, 2)
    """
    most = int(np.clip(n // ROWS_PER_LEVEL, 2, MAX_LEVELS))
    is_rare = counts < MIN_ROWS_PER_LEVEL
    if len(counts) - is_rare.sum() + is_rare.any() > most:
        is_rare[np.argsort(-counts, kind="stable")[most - 1 :]] = True
    if is_rare.sum() < 2 or len(counts) <= 2:
        return np.arange(len(counts)), len(counts), int(is_rare.sum() if len(counts) > 2 else 0)
    places = np.where(is_rare, (~is_rare).sum(), np.cumsum(~is_rare) - 1)
    return places, int((~is_rare).sum()) + 1, int(is_rare.sum())


def warn_of_left_out(columns: dict[str, Sequence[Any]]) -> None:
    """Say which columns take no part, by the reason."""
    for kind, names in columns.items():
        if not names:
            continue
        message = f"Left out, because {REASONS[kind]}: column(s) {list_names(list(names), 5, show=repr)}."
        warnings.warn(message, LeftOut, stacklevel=find_user_stacklevel())


def warn_of_merged(columns: dict[Any, int]) -> None:
    """Say in which columns rare labels share a level."""
    if columns:
        names = [f"{short_repr(key)} ({number:,})" for key, number in columns.items()]
        message = f"Rare labels share a level, or say nothing, in column(s) {list_names(names, 5)}."
        warnings.warn(message, LeftOut, stacklevel=find_user_stacklevel())
