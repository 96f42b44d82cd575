"""What all pictures show: points with their names and images, and the maps that place them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import as_frame, count_observations, take_rows
from correspondence._util.labels import (
    as_labels,
    encode_labels,
    find_labels,
    name_missing_labels,
    to_object_array,
)
from correspondence.core.axis_numbers import check_axis_numbers
from correspondence.core.decomposition import Decomposition
from correspondence.core.functions import LabelFunctions, PrincipalFunctions, find_label_shares
from correspondence.results.matches import Confusing

__all__ = [
    "MAPS",
    "Scaling",
    "ScenePoints",
    "check_axes",
    "check_map",
    "check_names",
    "choose_pictures",
    "choose_values",
    "find_scale_factor",
    "list_maps",
    "locate_fit_labels",
    "locate_labels",
    "locate_marks",
    "locate_values",
    "needs_mass",
    "normalise_images",
]


@dataclass(frozen=True, eq=False)
class ScenePoints:
    """Points of one kind, all of which have a place.

    Attributes
    ----------
    places : ndarray of shape (n, d)
        Standard coordinates: f or g at the values.
    labels : ndarray of shape (n,) or None
        What the points are called; None if they are known by their rows only.
    mass : ndarray of shape (n,) or None
        Shares of the labels in the fit; None for values that are not labels.
    rows : ndarray of shape (n,)
        Positions in the data given.
    total : int
        How many points there would be if none were left out for want of room.
    given : int
        Length of the data given.
    """

    places: np.ndarray
    labels: np.ndarray | None
    mass: np.ndarray | None
    rows: np.ndarray
    total: int
    given: int

    def __len__(self) -> int:
        return len(self.places)

    @classmethod
    def from_places(cls, places: np.ndarray, labels: np.ndarray) -> ScenePoints:
        """Make points of labels and their places; those at NaN are left out."""
        rows = np.flatnonzero(np.isfinite(places).all(axis=1))
        return cls(places[rows], labels[rows], None, rows, len(rows), len(places))


def choose_values(functions: PrincipalFunctions, values: Any, side: str) -> Any:
    """Return the values to show: those given, the labels of the fit, or its sample."""
    if isinstance(values, str):
        raise TypeError(f"{side} must be the values to show, got the text {values!r}. For a file, write path=...")
    if values is not None:
        return values
    if isinstance(functions, LabelFunctions):
        return functions.labels
    shares = find_label_shares(functions)
    values = list(shares) if shares is not None else getattr(functions, "sample", None)
    if values is None:
        raise _report_missing_values(side)
    return values


def _report_missing_values(side: str) -> TypeError:
    return TypeError(f"{side} is needed: give the values to show, {side}=..., in the form that fit takes.")


def locate_values(
    functions: PrincipalFunctions, values: Any, side: str, most: int | None = None, shown: Any = None
) -> ScenePoints:
    """Find the place of each value.

    Parameters
    ----------
    functions : PrincipalFunctions
        The f or g of the variable.
    values : array-like, frame, ...
        Values that the functions take.
    side : str
        Errors call the values by this name.
    most : int, optional
        If there are more values than this, so many are drawn at random.
    shown : array-like, frame, ..., optional
        The data that people know, if the functions take something else, such as beliefs. Texts are their own labels.
    """
    n = count_observations(values, side)
    rows = np.arange(n)
    if most is not None and n > most:
        rows = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
    places = functions(values if len(rows) == n else take_rows(values, rows))
    known = np.isfinite(places).all(axis=1)
    labels, rows = _find_texts(values if shown is None else shown), rows[known]
    total = n if most is not None and n > most else len(rows)
    return ScenePoints(places[known], None if labels is None else labels[rows], None, rows, total, n)


def _find_texts(values: Any) -> np.ndarray | None:
    """Return the values as an array if they are one column of texts or objects."""
    if sp.issparse(values) or as_frame(values, "X") is not None:
        return None
    array = np.asarray(values)
    return array if array.ndim == 1 and array.dtype.kind in "OU" else None


def locate_labels(
    functions: PrincipalFunctions, values: Any, shares: dict[Any, float], side: str, most: int | None = None
) -> ScenePoints:
    """Find the place of each label of a column, once, in the order in which they first occur.

    Parameters
    ----------
    functions : PrincipalFunctions
        The f or g of the variable.
    values : array-like
        The column. Labels that are not in the fit are left out.
    shares : dict
        The share of each label in the fit.
    side : str
        Errors call the column by this name.
    most : int, optional
        If there are more labels than this, those of the largest inertia are taken.
    """
    codes, labels = encode_labels(as_labels(name_missing_labels(values, side), side), side)
    first = np.empty(len(labels), dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of equal indices the last assignment counts
    mass = np.array([shares.get(label, 0.0) for label in labels.tolist()])
    known = np.flatnonzero(mass > 0)
    places = functions(labels[known])
    inertia = mass[known] * (places**2).sum(axis=1)
    chosen = np.argsort(-inertia, kind="stable")[:most]
    chosen = chosen[np.argsort(first[known[chosen]], kind="stable")]
    index = known[chosen]
    return ScenePoints(places[chosen], labels[index], mass[index], first[index], len(known), len(codes))


def locate_fit_labels(functions: PrincipalFunctions, side: str) -> ScenePoints:
    """Find the places of all labels of the fit."""
    shares = find_label_shares(functions)
    if shares is not None:
        return locate_labels(functions, choose_values(functions, None, side), shares, side)
    sample = getattr(functions, "sample", None)
    column = None if sample is None else find_labels(sample)
    if column is None:
        raise _report_missing_values(side)
    codes, labels = encode_labels(name_missing_labels(column, side), side)
    shares = dict(zip(labels.tolist(), (np.bincount(codes) / len(codes)).tolist(), strict=True))
    return locate_labels(functions, labels, shares, side)


def locate_marks(d: Decomposition, marks: Any) -> ScenePoints:
    """Find the places of named values of x."""
    if not isinstance(marks, tuple | list) or len(marks) != 2 or not isinstance(marks[0], Iterable):
        raise ValueError(f"marks must be a pair, labels and as many values of x, got {type(marks).__name__}.")
    labels, places = to_object_array(list(marks[0])), d.f(marks[1])
    if len(labels) != len(places):
        raise ValueError(f"marks has {len(labels)} labels for {len(places)} values; give one label per value.")
    return ScenePoints.from_places(places, labels)


def check_names(names: Any) -> tuple[str, str, str]:
    """Return what x, y and marks are called."""
    if isinstance(names, str) or not isinstance(names, Sequence) or len(names) not in (2, 3):
        raise ValueError(f"names must be two texts, for x and y, or three, got {names!r}.")
    x, y, *more = map(str, names)
    return x, y, more[0] if more else "marked"


Scaling = Literal["principal", "standard", "symmetric", "mass", "root_mass"]
MAPS: dict[str, tuple[Scaling, Scaling]] = {
    "symmetric": ("principal", "principal"),
    "rowprincipal": ("principal", "standard"),
    "colprincipal": ("standard", "principal"),
    "symbiplot": ("symmetric", "symmetric"),
    "rowgab": ("principal", "mass"),
    "colgab": ("mass", "principal"),
    "rowgreen": ("principal", "root_mass"),
    "colgreen": ("root_mass", "principal"),
}


def check_map(map: Any) -> tuple[Scaling, Scaling]:
    """Return the scalings of x and y in a map."""
    if not isinstance(map, str) or map not in MAPS:
        raise ValueError(f"map must be one of {', '.join(MAPS)}, got {map!r}.")
    return MAPS[map]


def needs_mass(scaling: Scaling) -> bool:
    """Tell whether a scaling multiplies points by their masses."""
    return scaling in ("mass", "root_mass")


def list_maps(has_mass: bool) -> dict[str, tuple[Scaling, Scaling]]:
    """List the maps that can be drawn of points with or without masses."""
    return {name: pair for name, pair in MAPS.items() if has_mass or not any(needs_mass(part) for part in pair)}


def find_scale_factor(scaling: Scaling, correlations: np.ndarray, mass: np.ndarray | None = None) -> np.ndarray:
    """Return what standard coordinates are multiplied by: an array that broadcasts to (points, axes).

    Parameters
    ----------
    scaling : str
        One of the two scalings of a map.
    correlations : ndarray of shape (k,)
        sqrt(lambda_i) of the axes drawn.
    mass : ndarray of shape (n,), optional
        Masses of the points, which the scalings "mass" and "root_mass" need.
    """
    if needs_mass(scaling):
        if mass is None:
            raise ValueError('map must be one that needs no masses, such as "symmetric", because points have no mass.')
        return (mass if scaling == "mass" else np.sqrt(mass))[:, None]
    powers = {"standard": 0.0, "symmetric": 0.5, "principal": 1.0}
    return correlations[None, :] ** powers[scaling]


def check_axes(d: Decomposition, axes: tuple[int, ...]) -> list[int]:
    """Return the indices of the components, counted from 0; of one component the plane (1, 2) is a line."""
    return check_axis_numbers(d.n_components, axes)


def choose_pictures(thumbnails: Any, confusing: Any, found: Confusing | None) -> np.ndarray | None:
    """Choose a picture for each confusing input: the input itself, or the one given for it."""
    if thumbnails is False or thumbnails is None:
        return None
    if found is None:
        raise ValueError("thumbnails need confusing: give the inputs, or what ClassifierCA.confusing returned.")
    if thumbnails is True:
        if isinstance(confusing, Confusing):
            raise ValueError("thumbnails must be the images themselves if confusing is a Confusing, got True.")
        thumbnails = confusing
    n = count_observations(thumbnails, "thumbnails")
    if n == len(found) and isinstance(confusing, Confusing):
        return normalise_images(np.asarray(thumbnails))
    if n <= found.index.max(initial=-1):
        raise ValueError(f"thumbnails must be one image for each input, got {n}.")
    return normalise_images(np.asarray(take_rows(thumbnails, found.index)))


def normalise_images(images: np.ndarray, name: str = "thumbnails") -> np.ndarray:
    """Return grey or coloured pictures, with channels last and values from 0 to 1."""
    if images.ndim == 4 and images.shape[-1] not in (1, 3, 4):
        images = np.moveaxis(images, 1, -1)
    if images.ndim == 4 and images.shape[-1] == 1:
        images = images[..., 0]
    if images.ndim not in (3, 4) or (images.ndim == 4 and images.shape[-1] not in (3, 4)):
        raise ValueError(
            f"{name} must be images of shape (n, height, width), with 1 or 3 channels before or after these two, "
            f"got shape {images.shape}."
        )
    if images.dtype == np.uint8:
        return images
    low, high = float(images.min(initial=0)), float(images.max(initial=1))
    return (images - low) / (high - low)
