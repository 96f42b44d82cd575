"""Colours of the points: by class, or by the size of a number."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from correspondence.checks import as_frame, length
from correspondence.explore.clouds import Cloud, texts
from correspondence.labels import as_labels
from correspondence.plot.overlay import Scene
from correspondence.plot.style import class_colours

__all__ = ["class_items", "coloured"]

MOST_NUMBERS = 30  # different ones that are classes; more are put into ranges
RANGES = 7


def coloured(clouds: list[Cloud], seen: Scene, Y: Any) -> tuple[list[Cloud], dict[str, list[str]] | None]:
    """Clouds with classes, and the names and colours of these.

    The classes are those of the scene, or else the labels or numbers Y of the pairs; many different numbers are
    put into ranges. Labels of y that are classes have their colours.
    """
    x, y, *marks = clouds
    classes = _paired(x, y, Y) if seen.classes is None else seen.classes
    if classes is None:
        return clouds, None
    values = np.asarray(classes, dtype=object)
    if values.shape != (x.given,):
        raise ValueError(f"classes must be one for each of the {x.given} values of X, got shape {values.shape}.")
    are_names = set(values.tolist()) <= set(getattr(seen.est, "classes_", np.empty(0)).tolist())  # of a classifier
    ranges = None if are_names else _in_ranges(values)
    codes, names, colours = ranges or _distinct(values, seen.colours or class_colours(values))
    x = replace(x, classes=codes[x.rows])
    if y.labels is not None:
        position = {name: i for i, name in enumerate(names)}
        y = replace(y, classes=np.array([position.get(label, -1) for label in y.labels], dtype=np.int16))
    return [x, y, *marks], {"names": names, "colours": colours}


def class_items(cloud: Cloud, names: list[str]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Classes as items, for words: names, means of the points of each, and their shares."""
    assert cloud.classes is not None
    members = np.eye(len(names))[cloud.classes]
    count = members.sum(axis=0)
    used = np.flatnonzero(count)
    means = (members.T @ cloud.places)[used] / count[used, None]
    return [names[i] for i in used], means, count[used] / count.sum()


def _paired(x: Cloud, y: Cloud, Y: Any) -> Any:
    """What Y says of each x, if these are pairs: its label, or its number."""
    if Y is None or x.has_mass or length(Y, "Y") != x.given:
        return None
    if y.has_mass:
        return as_labels(Y, "Y")
    frame = as_frame(Y, "Y")
    array = np.empty((0, 2)) if sp.issparse(Y) else np.asarray(Y if frame is None else frame.to_numpy())
    is_column = array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)
    return array.ravel() if is_column and array.dtype.kind in "iuf" else None


Classes = tuple[np.ndarray, list[str], list[str]]  # positions, names, colours


def _distinct(values: np.ndarray, colours: dict[Any, str]) -> Classes:
    position = {name: i for i, name in enumerate(colours)}
    codes = np.array([position[value] for value in values.tolist()], dtype=np.int16)
    return codes, texts(colours), list(colours.values())


def _in_ranges(values: np.ndarray) -> Classes | None:
    """Ranges of numbers with about as many in each, if they are many different numbers."""
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values.tolist()):
        return None
    numbers = values.astype(float)
    if not np.isfinite(numbers).all() or len(np.unique(numbers)) <= MOST_NUMBERS:
        return None
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, RANGES + 1)))
    codes = np.searchsorted(edges[1:-1], numbers, side="right").astype(np.int16)
    names = [f"{low:.3g} to {high:.3g}" for low, high in pairwise(edges)]
    return codes, names, list(class_colours(np.arange(len(names))).values())
