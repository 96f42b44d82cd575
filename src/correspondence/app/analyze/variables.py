"""The variables of an analysis: which columns they are, and what these hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import as_frame
from correspondence._util.labels import encode_labels, to_object_array
from correspondence._util.text import list_names
from correspondence.app.messages import collect_warnings
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.choosing import encoder_for
from correspondence.data.encoders.columns import Columns, find_only_category
from correspondence.data.encoders.images import Images
from correspondence.data.encoders.single_column import Category
from correspondence.data.encoders.text import Bag, Text
from correspondence.data.file_formats import check_plain, convert_for_numpy, list_values

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
]

ID_COLUMN_NAMES = ("", "id")  # names of columns that number the rows, in lower case


class Roles(NamedTuple):
    """The columns of x and y, and remarks on those that are not used."""

    x: list[str]
    y: list[str]
    notes: tuple[str, ...] = ()


def frame_roles(frame: nw.DataFrame, x: Sequence[str], y: Sequence[str], named: Sequence[str], path: Any) -> Roles:
    """Find the roles of the columns of a frame; of two columns the first is x."""
    x, y = list(dict.fromkeys(x)), list(dict.fromkeys(y))
    both = [name for name in x if name in y]
    if both:
        raise ValueError(f"x and y must be different columns, got {both[0]!r} in both.")
    free = [name for name in frame.columns if name not in (*x, *y, *named)]
    if x and y:
        return Roles(x, y)
    is_choice = len(free) + bool(x) + bool(y) > 2  # if not, what looks like an id must be a variable
    useful, notes = find_useful_columns(frame, free, 1 if x or y else 2) if is_choice else (free, ())
    if not y:
        wanted = 1 if x else 2
        if len(useful) != wanted:
            raise ValueError(
                f"--y must name at least one column of {path}, which has {list_names(frame.columns, 20)}; "
                "for a table of counts write --table."
            )
        return Roles(x or useful[:1], useful[-1:], notes)
    if not useful:
        raise ValueError(f"--x must name at least one column of {path}, which has {list_names(frame.columns, 20)}.")
    return Roles(useful, y, notes)


def find_useful_columns(frame: nw.DataFrame, names: list[str], variables: int) -> tuple[list[str], tuple[str, ...]]:
    """Return the columns that can be used for this many variables, and remarks on the others."""
    reasons = {name: find_exclusion_reason(frame[name], name) for name in names}
    useful = [name for name in names if not reasons[name]]
    texts = [name for name in names if reasons[name] == "texts"]
    if len(useful) + len(texts) <= variables:  # each stands alone
        useful = [name for name in names if name in (*useful, *texts)]
    notes = []
    for reason, told in (
        ("id", "looks like an id"),
        ("dates", "holds dates"),
        ("texts", "holds texts, which --x can use alone"),
    ):
        left = [name or "the first column" for name in names if reasons[name] == reason and name not in useful]
        notes += [f"Not used: {name}, which {told}." for name in left[:5]]
    return useful, tuple(notes)


def find_exclusion_reason(column: nw.Series, name: str) -> str:
    """Say why a column is not used beside others: "id", "dates" or "texts"; "" if it is used."""
    if name.lower() in ID_COLUMN_NAMES:
        return "id"
    if column.dtype.is_temporal():
        return "dates"
    if column.dtype != nw.String:
        return ""
    values = [value for value in list_values(column) if value]
    if len(values) > 1 and _are_texts(values):
        return "texts"
    return "id" if len(values) > 1 and len(set(values)) == len(values) else ""


def _are_texts(values: list[str]) -> bool:
    try:
        return isinstance(encoder_for(to_object_array(values), "x"), Text)
    except ValueError:
        return False  # a constant, or without a word


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


MAX_DIFFERENT_CODES = 20  # different whole numbers that may be grades or codes
# Numbers as people write them, and as computers read them.
WRITTEN_NUMBER = re.compile(r"\s*[-+]?[€$£]?\s?(\d{1,3}([.,' ]\d{3})+|\d+)([.,]\d+)?\s?[%€$£]?\s*")
PLAIN_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")


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
    """

    role: str
    name: str
    kind: str
    values: Any
    columns: tuple[str, ...]
    text: str

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
    """Return a single column of text or labels as an array, anything else as a frame."""
    check_plain(frame.iter_columns())
    column = frame[:, 0]
    if len(frame.columns) > 1 or column.dtype.is_numeric() or column.dtype.is_temporal():
        return convert_for_numpy(frame).to_native()
    return to_object_array(column.to_list())


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
    if frame is not None and isinstance(encoder, Columns) and len(encoder.columns) < len(columns):
        columns = [str(name) for name in encoder.columns]  # without constants and names of rows
        values = frame_values(frame.select(columns))
        encoder = encoder_for(values, role)
    kind, text = describe_kind(encoder, values, columns)
    notes += find_kind_hints(encoder, values, columns)
    return Variable(role, _choose_name(role, columns), kind, values, tuple(columns), text), notes


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
    """Return the kind of a variable with columns of numbers and labels, and a text for the user."""
    n_labels = sum(isinstance(column, Category) for column in encoder.columns.values())
    n_numbers = len(encoder.columns) - n_labels
    used = [str(key) for key in encoder.columns] if len(columns) == len(encoder.names) else []
    called = f" ({list_names(used, 3)})" if used and len(columns) > 1 else called
    if len(encoder.names) == 1:
        return "numbers", f"numbers{called}"
    n, kind = (n_numbers, "numbers") if n_numbers else (n_labels, "labels")
    more = f", {n_labels} of labels" if n_numbers and n_labels else ""
    return "columns" if n_labels else "numbers", f"{n} column{'' if n == 1 else 's'} of {kind}{more}{called}"


def find_kind_hints(encoder: Encoder, values: Any, columns: Sequence[str]) -> list[str]:
    """Point out columns of numbers that may be meant as labels, and of labels that may be meant as numbers."""
    if not isinstance(encoder, Columns) or sp.issparse(values):
        return []
    frame = as_frame(values, "the data")
    data = {name: frame[name].to_numpy() for name in frame.columns} if frame is not None else {}
    if frame is None and values.ndim == 1:
        data = {columns[0]: values}
    codes = [name for name, column in data.items() if column.dtype.kind in "iuf" and _is_code(column)]
    written = {name: text for name, column in data.items() if (text := _find_odd_number(column)) is not None}
    hints = [
        f"{name} is taken as labels, though {text!r} looks like a number: write it with digits and a point only."
        for name, text in list(written.items())[:3]
    ]
    if codes:
        are = "is taken as numbers: it has" if len(codes) == 1 else "are taken as numbers: they have"
        hints.append(
            f"{list_names(codes, 3)} {are} few different whole numbers, "
            f"and --labels {','.join(codes[:3])} would take {'it' if len(codes) == 1 else 'them'} as labels."
        )
    return hints


def _find_odd_number(column: np.ndarray) -> str | None:
    """Return a text of a column whose texts all look like numbers, but not like plain ones: 1,234.5 or 20 %."""
    if column.dtype != object or not all(isinstance(text, str) and WRITTEN_NUMBER.fullmatch(text) for text in column):
        return None
    return next((text for text in column if not PLAIN_NUMBER.fullmatch(text)), None)


def _is_code(column: np.ndarray) -> bool:
    different = np.unique(column)
    return 2 < len(different) <= min(MAX_DIFFERENT_CODES, len(column) / 5) and bool(
        (different == np.round(different)).all()
    )
