"""What pictures show of a classifier: its classes, boundaries and closest calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import as_frame, count_observations
from correspondence._util.labels import as_labels, name_missing_labels
from correspondence.results.matches import Confusing
from correspondence.scene.colours import choose_class_colours, choose_scene_colours
from correspondence.scene.points import ScenePoints, choose_pictures

__all__ = [
    "MAX_CLASSES",
    "PointClasses",
    "Scene",
    "check_classes",
    "choose_boundary_pairs",
    "code_ranges",
    "describe_faithfulness",
    "find_classes",
    "make_scene",
]

MAX_BOUNDARIES = 10
MAX_CONFUSING = 12


@dataclass(frozen=True, eq=False)
class Scene:
    """What is drawn; a classifier is asked once, and everything is in beliefs from here on."""

    est: Any
    X: Any
    classes: Any
    confusing: Confusing | None
    images: np.ndarray | None
    """A picture of each confusing input."""
    names: tuple[str, str]
    """What a legend calls the two variables."""
    colours: dict[Any, str]
    """The colour of each class."""
    notes: tuple[str, ...] = ()
    """What a caption says of the inputs."""


def make_scene(est: Any, X: Any, classes: Any, confusing: Any, thumbnails: Any) -> Scene:
    """Ask a classifier for what is to be drawn; anything else is left as it is."""
    if not hasattr(est, "on_beliefs"):
        for name, value in (("confusing needs", confusing), ("thumbnails need", thumbnails)):
            if value is not None and value is not False:
                raise TypeError(f"{name} a fitted ClassifierCA, got {type(est).__name__}.")
        colours = choose_scene_colours(np.empty(0, object), classes)
        return Scene(est, X, classes, None, None, ("rows", "columns"), colours)
    if not hasattr(est, "decomposition_"):
        raise TypeError("This ClassifierCA is not fitted: call fit first.")
    is_found = confusing is None or isinstance(confusing, Confusing)
    inputs = confusing if X is None and not is_found else X
    of_beliefs = est.on_beliefs(members_only=True)
    P = None if inputs is None else est.beliefs(inputs, whole=True)
    found = confusing
    if not is_found:
        asked = P if inputs is confusing else est.beliefs(confusing, whole=True)
        found = of_beliefs.confusing(asked, MAX_CONFUSING)
    images = choose_pictures(thumbnails, confusing, found)
    if P is not None and classes is None:
        classes = of_beliefs.predict(P)
    colours = choose_scene_colours(est.classes_, classes)
    notes = () if P is None else tuple(_note_outsiders(of_beliefs, P))
    return Scene(of_beliefs, P, classes, found, images, ("inputs", "classes"), colours, notes)


def _note_outsiders(est: Any, P: np.ndarray) -> list[str]:
    """Say how many inputs are not drawn because the model believes them to be of classes outside of a group."""
    n = int((~est.find_members(P)).sum())
    return [f"not drawn: {n:,} of {len(P):,} inputs, half or more of whose belief is in other classes"] if n else []


def describe_faithfulness(seen: Scene, planes: list[list[int]]) -> list[str]:
    """Say how much of a classifier some planes preserve; "" for planes of all axes, and where nothing is known.

    Parameters
    ----------
    seen : Scene
        The analysis, and the inputs that are drawn.
    planes : list of list of int
        The axes of each plane, counted from 0.
    """
    if seen.X is None or not hasattr(seen.est, "faithfulness"):
        return [""] * len(planes)
    n_axes = np.count_nonzero(seen.est.prior_) - 1  # of the beliefs, though the analysis may keep fewer
    if len(planes[0]) >= n_axes or not seen.est.find_members(seen.X).any():
        return [""] * len(planes)
    found = seen.est._measure_planes(seen.X, [tuple(i + 1 for i in index) for index in planes])
    return [plane.sentence for plane in found]


def choose_boundary_pairs(est: Any, boundaries: Any) -> list[tuple[Any, Any]]:
    """Choose all pairs of classes if there are few, the most confused if there are many, or those asked for."""
    if not hasattr(est, "boundary"):
        raise TypeError(f"boundaries need a fitted ClassifierCA, got {type(est).__name__}.")
    if boundaries is not True:
        pairs = [boundaries] if np.ndim(boundaries) == 1 and len(boundaries) == 2 else boundaries
        is_list = isinstance(pairs, Sequence | np.ndarray) and not isinstance(pairs, str)
        if not is_list or not all(not isinstance(pair, str) and np.size(pair) == 2 for pair in pairs):
            raise ValueError("boundaries must be True or a list of pairs of classes, such as [('a', 'b')].")
        return [(a, b) for a, b in pairs]
    used = np.flatnonzero(est.prior_ > 0)
    rows, columns = (used[index] for index in np.triu_indices(len(used), 1))
    order = np.argsort(-est.overlap_[rows, columns], kind="stable")[:MAX_BOUNDARIES]
    names = est.classes_.tolist()
    return [(names[rows[i]], names[columns[i]]) for i in order]


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
    known = set(getattr(seen.est, "classes_", np.empty(0)).tolist())  # of a classifier; None is outside of its group
    is_known = distinct - {None} <= known
    ranges = None if is_known else code_ranges(values)
    if ranges is None and len(distinct) > MAX_CLASSES:
        if seen.classes is None:
            return None
        way_out = (
            " By default they are the classes that the model predicts. Pass groups of these, such as superclasses, or "
            "analyse the hardest of them alone: focus(X, n=...)."
        )
        raise ValueError(
            f"classes must have at most {MAX_CLASSES} different values, got {len(distinct)}.{way_out if known else ''}"
        )
    return ranges or _code_distinct_values(values, seen.colours)


def _find_paired_classes(x: ScenePoints, y: ScenePoints, Y: Any) -> Any:
    """Return what Y says of each x, if these are pairs: its label, or its number."""
    if Y is None or x.mass is not None or count_observations(Y, "Y") != x.given:
        return None
    if y.mass is not None:
        return as_labels(name_missing_labels(Y, "Y"), "Y")
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
    is_whole = all(isinstance(name, float) and name.is_integer() for name in known)
    names = (
        [int(name) for name in known] if is_whole else list(known)
    )  # as they were before a gap made decimals of them
    return PointClasses(codes, names, list(known.values()))


def code_ranges(values: np.ndarray) -> PointClasses | None:
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
