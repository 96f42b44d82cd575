"""Rare labels: those that occur a few times only, merged into one level.

Counts of x labels, or of y labels, alone decide which labels are merged, never how they go together. So merging before
pairs are split tells the fit nothing about held-out pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import as_frame, to_array
from correspondence._util.labels import MISSING, as_labels, name_missing_labels, to_object_array
from correspondence._util.text import list_names
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.columns import Columns
from correspondence.data.encoders.single_column import OTHER, Category
from correspondence.data.table import Table

__all__ = ["RareLabels", "describe_merged", "find_rare_labels", "list_rare", "merge_labels", "merge_table"]


@dataclass(frozen=True, eq=False)
class RareLabels:
    """The rare labels of one column.

    Attributes
    ----------
    labels : list
        The labels that are merged.
    n_rows : int
        The number of rows that have one of them.
    n_levels : int
        The number of levels that are left, the one of the rare labels included.
    """

    labels: list[Any]
    n_rows: int
    n_levels: int

    @property
    def other(self) -> str:
        """The level that stands for all of them."""
        return f"other ({len(self.labels):,} label{'' if len(self.labels) == 1 else 's'})"


def list_rare(counts: Mapping[Any, float], min_count: int) -> RareLabels | None:
    """List the labels that occur fewer than `min_count` times; None if there are none.

    Parameters
    ----------
    counts : dict
        Each label leads to the number of its rows.
    min_count : int
        Labels that occur as often are not rare.

    Examples
    --------
    >>> rare = list_rare({"tea": 30, "milk": 20, "beer": 1, "wine": 2}, 5)
    >>> rare.labels, rare.n_rows, rare.n_levels, rare.other
    (['beer', 'wine'], 3, 3, 'other (2 labels)')
    """
    rare = [label for label, count in counts.items() if 0 < count < min_count and label != MISSING]
    if not rare:
        return None
    n_levels = sum(count > 0 for count in counts.values()) - len(rare) + 1
    return RareLabels(rare, round(sum(counts[label] for label in rare)), n_levels)


def find_rare_labels(encoder: Encoder, values: Any, n: int, min_count: int) -> dict[Any, RareLabels]:
    """Find the rare labels of each column of labels that an encoder knows.

    Parameters
    ----------
    encoder : Encoder
        The encoder of one variable, fitted to n rows.
    values : array-like, series or frame
        The rows themselves.
    n : int
        The number of rows.
    min_count : int
        Labels that occur fewer times are rare.

    Returns
    -------
    dict
        The rare labels by the name of the column; without those that have none.
    """
    if not isinstance(encoder, Columns):
        return {}
    found = {}
    for key, column in encoder.columns.items():
        if isinstance(column, Category):
            counts = {label: round(n * share) for label, share in zip(column.labels, column.shares, strict=True)}
            if OTHER in counts:  # the encoder has merged the rarest of very many labels
                counts = _count_labels(values, key)
            found[key] = list_rare(counts, min_count)
    return {key: rare for key, rare in found.items() if rare is not None}


def _count_labels(values: Any, key: Any) -> dict[Any, int]:
    """Count the labels of one of several columns."""
    frame = as_frame(values, "the data")
    column = to_array(values, "the data")[:, key].tolist() if frame is None else frame[key].to_list()
    return Counter(label for label in column if isinstance(label, str))


def merge_labels(values: Any, rare: Mapping[Any, RareLabels], name: str) -> Any:
    """Replace rare labels by the level that stands for them.

    Parameters
    ----------
    values : array-like, series or frame
        The values of one variable.
    rare : dict of RareLabels
        The rare labels by column.
    name : str
        Errors call the values by this name.

    Examples
    --------
    >>> merge_labels(["tea", "beer", "wine"], {0: list_rare({"tea": 9, "beer": 1, "wine": 1}, 2)}, "X").tolist()
    ['tea', 'other (2 labels)', 'other (2 labels)']
    """
    if not rare:
        return values
    frame = as_frame(values, name)
    if frame is not None and frame.shape[1] > 1:
        columns = [
            nw.new_series(key, _replace_labels(frame[key].to_list(), own), nw.String, backend=frame.implementation)
            for key, own in rare.items()
        ]
        return frame.with_columns(*columns).to_native()
    if getattr(values, "ndim", 1) == 2 and values.shape[1] > 1:
        merged = values.astype(object)
        for key, own in rare.items():
            merged[:, key] = to_object_array(_replace_labels(merged[:, key].tolist(), own))
        return merged
    labels = as_labels(name_missing_labels(values, name), name)
    return to_object_array(_replace_labels(labels.tolist(), next(iter(rare.values()))))


def _replace_labels(values: list[Any], rare: RareLabels) -> list[Any]:
    merged = set(rare.labels)
    return [rare.other if value in merged else value for value in values]


def merge_table(table: Table, rows: RareLabels | None, columns: RareLabels | None) -> Table:
    """Add up the rare rows, and the rare columns, of a table of counts.

    Parameters
    ----------
    table : Table
        The table of counts.
    rows, columns : RareLabels, optional
        The labels to merge.

    Examples
    --------
    >>> table = Table([[5, 4], [1, 0], [0, 1]], rows=["a", "b", "c"], columns=["no", "yes"])
    >>> merge_table(table, list_rare({"a": 9, "b": 1, "c": 1}, 2), None).toarray().tolist()
    [[5.0, 4.0], [1.0, 1.0]]
    """
    left, new_rows = _make_sums(table.rows, rows)
    right, new_columns = _make_sums(table.columns, columns)
    return Table(left @ sp.csr_array(table.counts) @ right.T, new_rows, new_columns)


def _make_sums(labels: np.ndarray, rare: RareLabels | None) -> tuple[sp.csr_array, np.ndarray]:
    """Make the matrix that adds up what belongs to rare labels, and the labels that are left."""
    listed = labels.tolist()
    merged = set() if rare is None else set(rare.labels)
    kept = [label for label in listed if label not in merged]
    position = {label: i for i, label in enumerate(kept)}
    places = [position.get(label, len(kept)) for label in listed]
    names = kept if rare is None else [*kept, rare.other]
    shape = (len(names), len(listed))
    return sp.csr_array((np.ones(len(listed)), (places, range(len(listed)))), shape=shape), to_object_array(names)


def describe_merged(rare: Mapping[Any, RareLabels], min_count: int, side: str) -> str:
    """Say how many labels and rows of one variable were merged.

    Parameters
    ----------
    rare : dict of RareLabels
        The rare labels by column.
    min_count : int
        Labels that occur fewer times are rare.
    side : str
        The variable is called by this name.

    Examples
    --------
    >>> describe_merged({0: list_rare({"tea": 9, "beer": 1, "wine": 1}, 2)}, 2, "x")
    '2 labels of x that occur once (2 rows) are merged into one level'
    """
    n_labels, n_rows = sum(len(own.labels) for own in rare.values()), sum(own.n_rows for own in rare.values())
    where = side if len(rare) == 1 else f"{side} (columns {list_names([str(key) for key in rare], 3)})"
    times = "once" if min_count == 2 else f"fewer than {min_count} times"
    occurs, are, into = ("occurs", "is", "") if n_labels == 1 else ("occur", "are", "one level")
    level = into if len(rare) == 1 else "one level of each column"
    return (
        f"{n_labels:,} label{'' if n_labels == 1 else 's'} of {where} that {occurs} {times} ({n_rows:,} "
        f"row{'' if n_rows == 1 else 's'}) {are} merged into {level or 'a level of its own'}"
    )
