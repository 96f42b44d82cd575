"""The variables of an analysis: which columns they are, and what these hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import as_frame
from correspondence._util.labels import as_labels, encode_labels, name_missing_labels, to_object_array
from correspondence._util.text import list_names
from correspondence.app.messages import collect_warnings
from correspondence.data.column_kinds import decide_column_kind
from correspondence.data.column_reading import ID_NAME
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.choosing import encoder_for
from correspondence.data.encoders.columns import Columns, find_only_category
from correspondence.data.encoders.images import Images
from correspondence.data.encoders.text import Bag, Text
from correspondence.data.file_formats import check_plain, convert_for_numpy, list_values
from correspondence.describe.columns import describe_columns
from correspondence.describe.tested_columns import read_tested_column
from correspondence.results.column_table import ColumnFacts

__all__ = [
    "Roles",
    "Variable",
    "array_roles",
    "array_values",
    "frame_roles",
    "frame_values",
    "image_roles",
    "labels_variable",
    "make_variable",
    "name_empty_texts",
    "read_counts",
    "select_columns_beside",
]

KINDS_TO_COLOUR = ("label", "boolean", "number", "date", "time", "duration")
MAX_COUNTED_ROWS = 10_000_000
MAX_HINTS = 5  # remarks on columns of one variable
PLURALS = {
    "number": "numbers",
    "label": "labels",
    "boolean": "labels",
    "date": "dates",
    "time": "times of day",
    "duration": "durations",
    "text": "texts",
    "list": "lists",
}  # what is said of several columns of a kind


class Roles(NamedTuple):
    """The columns of x and y, and remarks on those that are not used."""

    x: list[str]
    y: list[str]
    notes: tuple[str, ...] = ()
    unused: tuple[ColumnFacts, ...] = ()


def frame_roles(frame: nw.DataFrame, x: Sequence[str], y: Sequence[str], named: Sequence[str], path: Any) -> Roles:
    """Find the roles of the columns of a frame; of two columns the first is x."""
    x, y = list(dict.fromkeys(x)), list(dict.fromkeys(y))
    both = [name for name in x if name in y]
    if both:
        raise ValueError(f"x and y must be different columns, got {both[0]!r} in both.")
    if len(frame.columns) < 2:
        raise ValueError(f"{path} must have at least two columns, got {list_names(frame.columns, 20)}.")
    free = [name for name in frame.columns if name not in (*x, *y, *named)]
    if x and y:
        return Roles(x, y)
    is_choice = len(free) + bool(x) + bool(y) > 2  # if not, what looks like an id must be a variable
    useful, notes, unused = find_useful_columns(frame, free) if is_choice else (free, (), ())
    if not y:
        wanted = 1 if x else 2
        if len(useful) != wanted:
            raise ValueError(
                f"--y must name at least one column of {path}, which has {list_names(frame.columns, 20)}; "
                "for a table of counts write --table."
            )
        return Roles(x or useful[:1], useful[-1:], notes, unused)
    if not useful:
        raise ValueError(f"--x must name at least one column of {path}, which has {list_names(frame.columns, 20)}.")
    return Roles(useful, y, notes, unused)


def find_useful_columns(
    frame: nw.DataFrame, names: list[str]
) -> tuple[list[str], tuple[str, ...], tuple[ColumnFacts, ...]]:
    """Return the columns that can be used as variables, remarks on the others, and what those are."""
    ids = [name for name in names if _names_rows(frame[name], name)]
    notes = [f"Not used: {name or 'the first column'}, which looks like an id." for name in ids[:5]]
    return [name for name in names if name not in ids], tuple(notes), tuple(_describe_id(frame[name]) for name in ids)


def _describe_id(column: nw.Series) -> ColumnFacts:
    """Describe a column that names the rows."""
    values = [value for value in list_values(column) if value is not None and value != ""]
    return ColumnFacts(column.name, "id", False, len(column) - len(values), len(set(values)))


def _names_rows(column: nw.Series, name: str) -> bool:
    """Say whether a column names the rows: by its own name, or because its labels all differ."""
    if not name:
        return True
    if column.dtype != nw.String and not (column.dtype.is_integer() and ID_NAME.search(name)):
        return False
    counts = Counter(value for value in list_values(column) if value)
    kind = decide_column_kind(name, counts, counts.total(), is_alone=False).kind if len(counts) > 1 else ""
    return kind == "id" or (kind == "label" and len(counts) == counts.total())


def array_roles(
    arrays: Mapping[str, Any], x: Sequence[str], y: Sequence[str], named: Sequence[str], path: Any
) -> Roles:
    """Find the roles of arrays: X and Y, x and y, or the only two."""
    for option, names in (("--x", x), ("--y", y)):
        if len(names) > 1:
            raise ValueError(f"{option} must name one array of {path}, got {list_names(names, 20)}.")
    free = [name for name in arrays if name not in (*x, *y, *named)]
    pair = next(([a, b] for a, b in (("X", "Y"), ("x", "y"), ("X", "y")) if a in free and b in free), free)
    wanted = (not x) + (not y)
    found = free if wanted == 1 else pair
    if wanted and len(found) != wanted:
        raise ValueError(f"--x and --y must name two arrays of {path}, which has {list_names(arrays, 20)}.")
    return Roles(list(x) or found[:1], list(y) or found[-1:])


def image_roles(
    frame: nw.DataFrame,
    files: Mapping[str, Path],
    x: Sequence[str],
    y: Sequence[str],
    named: Sequence[str],
    folder: Path,
    listing: Path,
) -> Roles:
    """Find the roles of columns: x names image files, y is the other one."""
    shares = {name: _compute_file_share(frame[name], files) for name in (x or frame.columns) if name not in y}
    best = max(shares, key=lambda name: shares[name], default=None)
    if best is None or not shares[best]:
        raise ValueError(
            f"No column of {listing} names image files of {folder}: its columns are {list_names(frame.columns, 20)}."
        )
    others = list(y) or [name for name in frame.columns if name != best and name not in named and name != ""]
    if len(others) != 1 and not y:
        raise ValueError(
            f"--y must name the labels or captions in {listing}, which has {list_names(frame.columns, 20)}."
        )
    return Roles([best], others)


def _compute_file_share(column: nw.Series, files: Mapping[str, Path]) -> float:
    """Compute the share of the values that name a file."""
    values = [str(value) for value in list_values(column) if value is not None]
    return float(np.mean([value in files for value in values])) if values else 0.0


@dataclass(frozen=True, eq=False)
class Variable:
    """One variable.

    Attributes
    ----------
    role : {"x", "y"}
        Which of the two variables it is.
    name : str
        Its name in texts and pictures.
    kind : {"numbers", "labels", "columns", "texts", "images", "sparse", "beliefs"}
        What it holds; "columns" are some of numbers and some of labels.
    values : array, frame or None
        The values as an estimator takes them; of a table of counts, the different labels.
    columns : tuple of str
        The names of its columns in the file.
    text : str
        A description for the user.
    facts : tuple of ColumnFacts
        What each of its columns in the file is taken for, those that are not used included.
    levels : tuple of str
        The labels in order, lowest first, if they are labels in order.
    """

    role: str
    name: str
    kind: str
    values: Any
    columns: tuple[str, ...]
    text: str
    facts: tuple[ColumnFacts, ...] = ()
    levels: tuple[str, ...] = ()

    @property
    def labels_with_shares(self) -> tuple[np.ndarray, np.ndarray]:
        """The labels, and the share of rows that have each."""
        codes, labels = encode_labels(self.values, self.role)
        return labels, np.bincount(codes, minlength=len(labels)) / len(codes)


def labels_variable(role: str, labels: np.ndarray, columns: Sequence[str]) -> Variable:
    """Describe the labels of a table of counts."""
    name = _choose_name(role, columns)
    return Variable(role, name, "labels", labels, tuple(columns), f"labels, {len(labels)} different ({name})")


def frame_values(frame: nw.DataFrame) -> Any:
    """Return a single column of text or labels as an array, anything else as a frame; empty texts are missing."""
    check_plain(column for column in frame.iter_columns() if not isinstance(column.dtype, nw.List | nw.Array))
    frame = name_empty_texts(frame)
    column = frame[:, 0]
    if len(frame.columns) > 1 or column.dtype.is_numeric() or column.dtype.is_temporal() or column.dtype.is_nested():
        return convert_for_numpy(frame).to_native()
    return to_object_array(column.to_list())


def name_empty_texts(frame: nw.DataFrame) -> nw.DataFrame:
    """Take empty texts as missing ones."""
    texts = [name for name in frame.columns if frame[name].dtype == nw.String]
    return frame.with_columns(nw.when(nw.col(name) != "").then(nw.col(name)).alias(name) for name in texts)


def array_values(array: Any, name: str, as_labels: bool) -> Any:
    """Return an array as an estimator takes it: text as objects, images with their channels first."""
    if sp.issparse(array):
        return array
    if array.ndim == 0:
        raise ValueError(f"The array {name!r} is a single value: give one for each row.")
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    if as_labels and array.ndim == 1:
        is_whole = array.dtype.kind == "f" and bool((array == np.round(array)).all())
        return to_object_array([str(value) for value in (array.astype(np.int64) if is_whole else array).tolist()])
    if array.dtype.kind in "UO":
        return array.astype(object)
    if array.ndim == 3:
        return array[:, None]
    is_last = array.ndim == 4 and array.shape[3] in (1, 3, 4) and array.shape[1] not in (1, 3, 4)
    return np.moveaxis(array, 3, 1) if is_last else array


def make_variable(role: str, values: Any, columns: Sequence[str]) -> tuple[Variable, list[str]]:
    """Describe a variable as an estimator would see it, and add remarks."""
    with collect_warnings() as notes:
        encoder = encoder_for(values, role)
    frame = as_frame(values, role)
    facts = _list_facts(values, columns) if isinstance(encoder, Columns | Text) else ()
    if frame is not None and isinstance(encoder, Columns) and len(encoder.columns) < len(columns):
        columns = [str(name) for name in encoder.columns]  # without constants and names of rows
        values = frame_values(frame.select(columns))
        with collect_warnings():  # which are among the notes already
            encoder = encoder_for(values, role)
    kind, text = describe_kind(encoder, values, columns)
    if kind == "labels":
        labels = as_labels(name_missing_labels(values, role), role).tolist()
        values = to_object_array([label if isinstance(label, str) else str(label) for label in labels])
    notes += find_kind_hints(facts)
    return Variable(role, _choose_name(role, columns), kind, values, tuple(columns), text, facts), notes


def _list_facts(values: Any, columns: Sequence[str]) -> tuple[ColumnFacts, ...]:
    """List what the columns are taken for, under the names that they have in the file."""
    if sp.issparse(values) or (getattr(values, "ndim", 1) > 1 and as_frame(values, "x") is None):
        return ()
    facts = describe_columns(values).facts
    return tuple(replace(fact, column=name) for fact, name in zip(facts, columns, strict=False))


def _choose_name(role: str, columns: Sequence[str]) -> str:
    return columns[0] if len(columns) == 1 and columns[0] else role


def describe_kind(encoder: Encoder, values: Any, columns: Sequence[str]) -> tuple[str, str]:
    """Return the kind of a variable, and a text for the user."""
    called = f" ({list_names(columns, 3)})" if any(columns) else ""
    if isinstance(encoder, Text):
        return "texts", f"texts{called}"
    if isinstance(encoder, Images):
        channels, height, width = encoder.shape
        colour = {1: "grey", 3: "colour"}.get(channels, f"{channels} channels")
        return "images", f"{len(values)} images, {height} x {width}, {colour}"
    if isinstance(encoder, Bag):
        return "sparse", f"sparse matrix with {encoder.width} columns{called}"
    assert isinstance(encoder, Columns)
    labels = find_only_category(encoder)
    if labels is not None and len(encoder.names) == 1:
        return "labels", f"labels, {labels.width} different{called}"
    return describe_table_kind(encoder, columns, called)


def describe_table_kind(encoder: Columns, columns: Sequence[str], called: str) -> tuple[str, str]:
    """Return the kind of a variable with columns of several kinds, and a text for the user."""
    counts = Counter(PLURALS.get(encoder.kinds[key].kind, "labels") for key in encoder.columns)
    used = [str(key) for key in encoder.columns] if len(columns) == len(encoder.names) else []
    called = f" ({list_names(used, 3)})" if used and len(columns) > 1 else called
    if len(encoder.names) == 1:
        (what,) = counts
        return "numbers" if what == "numbers" else "columns", f"{what}{called}"
    parts = [f"{counts[what]} of {what}" for what in dict.fromkeys(PLURALS.values()) if what in counts]
    n, _, what = parts[0].partition(" ")
    text = ", ".join([f"{n} column{'' if n == '1' else 's'} {what}", *parts[1:]])
    return "numbers" if set(counts) == {"numbers"} else "columns", f"{text}{called}"


def find_kind_hints(facts: Sequence[ColumnFacts]) -> list[str]:
    """Say where a column may be taken for something else, and which option does it."""
    codes = [fact for fact in facts if "whole numbers" in fact.note]
    by_all = "" if len(facts) == 1 else " (by cca as numbers)"
    hints = [
        f"{fact.column} is {fact.note}{by_all}; --numbers {fact.column} takes it as numbers."
        for fact in codes[:MAX_HINTS]
    ]
    if len(codes) > MAX_HINTS:
        hints.append(f"So are {len(codes) - MAX_HINTS} more columns; summary.json lists them.")
    others = [fact for fact in facts if fact.note and fact not in codes and "rare labels" not in fact.note]
    return [*hints, *(f"{fact.column} is {fact.note}." for fact in others[:MAX_HINTS])]


def read_counts(rows: nw.DataFrame, name: str) -> np.ndarray:
    """Read how often each row was counted."""
    counts = rows[name].to_numpy() if rows[name].dtype.is_numeric() else np.array([np.nan])
    if not (np.isfinite(counts) & (counts >= 0) & (counts == np.rint(counts))).all() or counts.sum() > MAX_COUNTED_ROWS:
        raise ValueError(
            f"--weights must be a column of whole counts that sum to at most {MAX_COUNTED_ROWS:,}, got {name!r}."
        )
    return counts.astype(np.int64)


def select_columns_beside(rows: nw.DataFrame, used: Sequence[str | None]) -> Any:
    """Select the columns that take no part and have groups or numbers, by which a page can colour its points.

    Names of rows and texts are not selected: who passes the page on would pass them on too. None if nothing is left.
    """
    others = [name for name in rows.columns if name not in used]
    kept = [name for name in others if _find_kind(rows, name) in KINDS_TO_COLOUR]
    return rows.select(kept).to_native() if kept else None


def _find_kind(rows: nw.DataFrame, name: str) -> str:
    try:
        return read_tested_column(name, rows[name], "the file").kind.kind
    except (TypeError, ValueError):  # infinity, or values that are not one kind of thing
        return "unreadable"
