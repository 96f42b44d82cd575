"""Which column is which variable, where the user has not said it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from correspondence._util.labels import to_object_array
from correspondence._util.text import list_names
from correspondence.data.encoders.choosing import encoder_for
from correspondence.data.encoders.text import Text
from correspondence.data.file_formats import plain_values

__all__ = ["Roles", "array_roles", "frame_roles", "image_roles"]

ID_COLUMN_NAMES = ("", "id")  # names of columns that number the rows, in lower case


class Roles(NamedTuple):
    """Columns of x and y."""

    x: list[str]
    y: list[str]
    notes: tuple[str, ...] = ()


def frame_roles(frame: nw.DataFrame, x: Sequence[str], y: Sequence[str], named: Sequence[str], path: Any) -> Roles:
    """Roles of the columns of a table; of two columns the first is x."""
    x, y = list(dict.fromkeys(x)), list(dict.fromkeys(y))
    both = [name for name in x if name in y]
    if both:
        raise ValueError(f"x and y must be different columns, {both[0]!r} is in both.")
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
    """Columns that can be used for so many variables, and why others are not."""
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
    """Why a column is no variable beside others: "id", "dates" or "texts"; "" if it is one."""
    if name.lower() in ID_COLUMN_NAMES:
        return "id"
    if column.dtype.is_temporal():
        return "dates"
    if column.dtype != nw.String:
        return ""
    values = [value for value in plain_values(column) if value]
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
    """Roles of arrays: X and Y, x and y, or the only two."""
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
    """The column that names image files is x, the other one y."""
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
    """Share of the values that name a file."""
    values = [str(value) for value in plain_values(column) if value is not None]
    return float(np.mean([value in files for value in values])) if values else 0.0
