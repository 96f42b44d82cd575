"""Colours of the points: by class, or by the size of a number."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import as_frame, count_observations
from correspondence._util.labels import as_labels
from correspondence.page.clouds import Cloud, to_texts
from correspondence.scene.overlay import Scene
from correspondence.scene.style import class_colours

__all__ = ["class_items", "colour_clouds"]

MOST_NUMBERS = 30  # different ones that are classes; more are put into ranges
MOST_CLASSES = 500
MOST_SHADES = 7
N_RANGES = 7


def colour_clouds(clouds: list[Cloud], seen: Scene, Y: Any) -> tuple[list[Cloud], dict[str, list[str]] | None]:
    """Clouds with classes, and the names and colours of these.

    The classes are those of the scene, or else the labels or numbers Y of the pairs; many different numbers are
    put into ranges. Labels of y that are classes have their colours.
    """
    x, y, *marks = clouds
    classes = find_paired_classes(x, y, Y) if seen.classes is None else seen.classes
    if classes is None:
        return clouds, None
    values = np.asarray(classes, dtype=object)
    if values.shape != (x.given,):
        raise ValueError(f"classes must be one for each of the {x.given} values of X, got shape {values.shape}.")
    are_names = set(values.tolist()) <= set(getattr(seen.est, "classes_", np.empty(0)).tolist())  # of a classifier
    ranges = None if are_names else code_ranges(values)
    if ranges is None and len(set(values.tolist())) > MOST_CLASSES:
        if seen.classes is None:
            return clouds, None
        raise ValueError(f"classes has more than {MOST_CLASSES} different values: no reader can tell them apart.")
    codes, names, colours = ranges or code_distinct_values(values, seen.colours)
    x = replace(x, classes=codes[x.rows])
    if y.labels is not None:
        position = {name: i for i, name in enumerate(names)}
        y = replace(y, classes=np.array([position.get(label, -1) for label in y.labels], dtype=np.int16))
    return [x, y, *marks], {"names": names, "colours": colours}


def class_items(cloud: Cloud, names: list[str]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Classes as items, for words: names, means of the points of each, and their shares."""
    assert cloud.classes is not None
    known = np.flatnonzero(cloud.classes >= 0)
    used, codes = np.unique(cloud.classes[known], return_inverse=True)
    count = np.bincount(codes)
    sums = np.stack([np.bincount(codes, column) for column in cloud.places[known].T], axis=1)
    return [names[i] for i in used], sums / count[:, None], count / count.sum()


def find_paired_classes(x: Cloud, y: Cloud, Y: Any) -> Any:
    """What Y says of each x, if these are pairs: its label, or its number."""
    if Y is None or x.has_mass or count_observations(Y, "Y") != x.given:
        return None
    if y.has_mass:
        return as_labels(Y, "Y")
    frame = as_frame(Y, "Y")
    array = np.empty((0, 2)) if sp.issparse(Y) else np.asarray(Y if frame is None else frame.to_numpy())
    is_column = array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)
    return array.ravel() if is_column and array.dtype.kind in "iuf" else None


Classes = tuple[np.ndarray, list[str], list[str]]  # positions, names, colours


def code_distinct_values(values: np.ndarray, colours: dict[Any, str]) -> Classes:
    """Each value for itself; colours from dark to light, which numbers have, are told apart if they are few."""
    if not colours or len(colours) > MOST_SHADES:
        colours = class_colours(values, nominal=len(set(values.tolist())) > MOST_SHADES)
    known = {name: colour for name, colour in colours.items() if not _is_missing(name)}
    position = {name: i for i, name in enumerate(known)}
    codes = np.array([position.get(value, -1) for value in values.tolist()], dtype=np.int16)
    return codes, to_texts(known), list(known.values())


def _is_missing(value: Any) -> bool:
    return value is None or value != value


def code_ranges(values: np.ndarray) -> Classes | None:
    """Ranges of numbers with about as many in each, if they are many different numbers."""
    is_number = [(isinstance(v, int | float) and not isinstance(v, bool)) or v is None for v in values.tolist()]
    if not all(is_number):
        return None
    numbers = values.astype(float)
    finite = np.isfinite(numbers)
    if len(np.unique(numbers[finite])) <= MOST_NUMBERS:
        return None
    edges = np.unique(np.quantile(numbers[finite], np.linspace(0, 1, N_RANGES + 1)))
    codes = np.where(finite, np.searchsorted(edges[1:-1], numbers, side="right"), -1).astype(np.int16)
    names = [f"{low} to {high}" for low, high in pairwise(_format_distinctly(edges))]
    return codes, names, list(class_colours(np.arange(len(names))).values())


def _format_distinctly(edges: np.ndarray) -> list[str]:
    """Numbers with as few digits as tell them apart, three at least."""
    for digits in range(3, 17):
        shown = [np.format_float_positional(float(f"{edge:.{digits}g}"), trim="-") for edge in edges]
        if len(set(shown)) == len(shown):
            break
    return shown
