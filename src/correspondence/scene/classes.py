"""Classes by which points are coloured and can be hidden: labels, or ranges of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import as_frame, count_observations
from correspondence._util.labels import as_labels
from correspondence.scene.classifier_scene import Scene
from correspondence.scene.colours import choose_class_colours
from correspondence.scene.points import ScenePoints

__all__ = ["PointClasses", "check_classes", "find_classes"]

MAX_NUMBERS_AS_CLASSES = 30  # different numbers; more are put into ranges
MAX_CLASSES = 500
MAX_SHADES = 7
N_RANGES = 7


@dataclass(frozen=True, eq=False)
class PointClasses:
    """The class of each value, and the colours of the classes."""

    codes: np.ndarray
    """Positions among the names, one for each of the values given, -1 for none."""
    names: list[Any]
    colours: list[str]


def check_classes(classes: Any, x: ScenePoints) -> np.ndarray:
    """Return the classes as an array with one for each of the values of x that were given."""
    values = np.asarray(classes, dtype=object)
    if values.shape != (x.given,):
        raise ValueError(f"classes must be one for each of the {x.given} values of X, got shape {values.shape}.")
    return values


def find_classes(x: ScenePoints, y: ScenePoints, seen: Scene, Y: Any) -> PointClasses | None:
    """Find the classes of x: those of the scene, or else the labels or numbers Y of the pairs."""
    classes = _find_paired_classes(x, y, Y) if seen.classes is None else seen.classes
    if classes is None:
        return None
    values = check_classes(classes, x)
    distinct = set(values.tolist())
    is_known = distinct <= set(getattr(seen.est, "classes_", np.empty(0)).tolist())  # of a classifier
    ranges = None if is_known else _code_ranges(values)
    if ranges is None and len(distinct) > MAX_CLASSES:
        if seen.classes is None:
            return None
        raise ValueError(f"classes must have at most {MAX_CLASSES} different values, got {len(distinct)}.")
    return ranges or _code_distinct_values(values, seen.colours)


def _find_paired_classes(x: ScenePoints, y: ScenePoints, Y: Any) -> Any:
    """Return what Y says of each x, if these are pairs: its label, or its number."""
    if Y is None or x.mass is not None or count_observations(Y, "Y") != x.given:
        return None
    if y.mass is not None:
        return as_labels(Y, "Y")
    frame = as_frame(Y, "Y")
    array = np.empty((0, 2)) if sp.issparse(Y) else np.asarray(Y if frame is None else frame.to_numpy())
    is_column = array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)
    return array.ravel() if is_column and array.dtype.kind in "iuf" else None


def _code_distinct_values(values: np.ndarray, colours: dict[Any, str]) -> PointClasses:
    """Make a class of each value; only a few numbers have colours from dark to light, which many would share."""
    if not colours or len(colours) > MAX_SHADES:
        colours = choose_class_colours(values, nominal=len(set(values.tolist())) > MAX_SHADES)
    known = {name: colour for name, colour in colours.items() if name is not None and name == name}  # not NaN
    position = {name: i for i, name in enumerate(known)}
    codes = np.array([position.get(value, -1) for value in values.tolist()], dtype=np.int16)
    return PointClasses(codes, list(known), list(known.values()))


def _code_ranges(values: np.ndarray) -> PointClasses | None:
    """Make classes of ranges with about as many values in each, if the values are many different numbers."""
    if not all(v is None or (isinstance(v, int | float) and not isinstance(v, bool)) for v in values.tolist()):
        return None
    numbers = values.astype(float)
    finite = np.isfinite(numbers)
    if len(np.unique(numbers[finite])) <= MAX_NUMBERS_AS_CLASSES:
        return None
    edges = np.unique(np.quantile(numbers[finite], np.linspace(0, 1, N_RANGES + 1)))
    codes = np.where(finite, np.searchsorted(edges[1:-1], numbers, side="right"), -1).astype(np.int16)
    names = [f"{low} to {high}" for low, high in pairwise(_format_distinctly(edges))]
    return PointClasses(codes, names, list(choose_class_colours(np.arange(len(names))).values()))


def _format_distinctly(edges: np.ndarray) -> list[str]:
    """Format numbers with as few digits as make them different, three at least."""
    for digits in range(3, 17):
        shown = [np.format_float_positional(float(f"{edge:.{digits}g}"), trim="-") for edge in edges]
        if len(set(shown)) == len(shown):
            break
    return shown
