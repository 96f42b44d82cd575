"""The points of a plane, ready to be drawn: where they lie in a map, how large they are, in which colours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from correspondence._util.arguments import count_observations
from correspondence.core.decomposition import Decomposition
from correspondence.core.functions import PrincipalFunctions, find_label_shares
from correspondence.results.points import Points
from correspondence.scene.classes import check_classes
from correspondence.scene.colours import COLUMNS, ROWS
from correspondence.scene.groups import Grouping
from correspondence.scene.points import (
    Scaling,
    ScenePoints,
    check_map,
    find_scale_factor,
    locate_fit_labels,
    locate_labels,
    locate_marks,
    locate_values,
)

__all__ = [
    "DrawnCloud",
    "add_zero_height",
    "choose_areas",
    "colour_by_class",
    "colour_by_group",
    "make_marks",
    "make_row_cloud",
    "make_sides",
    "place_supplementary",
]


@dataclass(frozen=True, eq=False)
class DrawnCloud:
    """Points of one kind with their place and look.

    Attributes
    ----------
    points : ScenePoints
        What is drawn.
    name : str
        What the legend calls them.
    xy : ndarray of shape (n, 2)
        Where they lie in the map.
    area : ndarray of shape (n,)
        Areas of the markers, in square points.
    weight : ndarray of shape (n,)
        How much each label deserves to be written: its contribution to the plane; NaN where there is none.
    is_principal : bool
        Whether the map has them in principal coordinates.
    colour, marker : str
        How they look.
    colours : ndarray of shape (n,) or None
        A colour for each point, if they differ.
    is_faint : bool
        Whether they are only a background of what is drawn of their columns.
    is_hollow : bool
        Whether their markers are outlines.
    alphas : ndarray of shape (n,) or None
        How opaque each point is, if they stand for numbers of points.
    font_size : float
        The size of their labels, in points.
    names_groups : bool
        Whether their labels are the names of groups.
    """

    points: ScenePoints
    name: str
    xy: np.ndarray
    area: np.ndarray
    weight: np.ndarray
    is_principal: bool
    colour: str
    marker: str
    colours: np.ndarray | None = None
    is_faint: bool = False
    is_hollow: bool = False
    alphas: np.ndarray | None = None
    font_size: float = 8.0
    names_groups: bool = False

    @property
    def labels(self) -> list[Any]:
        """Labels of the points, empty if they have none."""
        return [] if self.points.labels is None else self.points.labels.tolist()

    def take(self, index: np.ndarray) -> DrawnCloud:
        """Return some of the points."""
        chosen: dict[str, Any] = {"xy": self.xy[index], "area": self.area[index], "weight": self.weight[index]}
        for name in ("colours", "alphas"):
            values = getattr(self, name)
            chosen[name] = None if values is None else values[index]
        labels, mass = (None if v is None else v[index] for v in (self.points.labels, self.points.mass))
        places, rows = self.points.places[index], self.points.rows[index]
        points = replace(self.points, labels=labels, mass=mass, places=places, rows=rows)
        return replace(self, points=points, **chosen)


def make_sides(
    d: Decomposition, index: list[int], map: str, names: tuple[str, ...], by_mass: bool, X: Any, Y: Any
) -> tuple[DrawnCloud, DrawnCloud]:
    """Make the points of x and y; by default all labels of the fit."""
    scalings = check_map(map)
    sides = [_locate_side(*parts) for parts in ((d.f, X, "X"), (d.g, Y, "Y"))]
    s = d.correlations[index]
    x = _make_cloud(sides[0], s, index, scalings[0], by_mass, name=names[0], colour=ROWS, marker="o")
    y = _make_cloud(sides[1], s, index, scalings[1], by_mass, name=names[1], colour=COLUMNS, marker="^")
    return x, y


def make_row_cloud(d: Decomposition, index: list[int], map: str, X: Any) -> DrawnCloud:
    """Make the points of x alone; by default all labels of the fit."""
    points, scaling = _locate_side(d.f, X, "X"), check_map(map)[0]
    return _make_cloud(points, d.correlations[index], index, scaling, False, name="rows", colour=ROWS, marker="o")


def _locate_side(functions: PrincipalFunctions, values: Any, name: str) -> ScenePoints:
    """Find the places of the values given; of the labels of many rows, each once."""
    if values is None:
        return locate_fit_labels(functions, name)
    shares = find_label_shares(functions)
    if shares is not None and count_observations(values, name) > len(shares):
        return locate_labels(functions, values, shares, name)
    return locate_values(functions, values, name)


def _make_cloud(
    points: ScenePoints, s: np.ndarray, index: list[int], scaling: Scaling, by_mass: bool, **style: Any
) -> DrawnCloud:
    if points.mass is None and by_mass:
        raise ValueError("size_by_mass must be False, because points have no mass.")
    standard, n = points.places[:, index], len(points)
    mass = np.full(n, 1 / max(1, n)) if points.mass is None else points.mass
    # Contribution to the plane: mass times squared principal coordinates.
    weight = mass * ((standard * s) ** 2).sum(axis=1)
    is_written = [label is not None for label in points.labels] if points.labels is not None else np.zeros(n, bool)
    return DrawnCloud(
        points,
        xy=add_zero_height(standard * find_scale_factor(scaling, s, points.mass)),
        area=choose_areas(mass, by_mass),
        weight=np.where(is_written, weight, np.nan),
        is_principal=scaling == "principal",
        **style,
    )


def add_zero_height(xy: np.ndarray) -> np.ndarray:
    """Return points of a line as points of a plane."""
    return xy if xy.shape[1] == 2 else np.column_stack([xy, np.zeros(len(xy))])


def choose_areas(mass: np.ndarray, by_mass: bool) -> np.ndarray:
    """Choose the areas of markers: proportional to masses, or smaller the more there are."""
    if by_mass:
        largest = max(60, 500 * min(1, 20 / len(mass)))
        return np.maximum(largest * mass / mass.max(), 2)  # 2 can just be seen
    return np.full(len(mass), 28.0 if len(mass) < 200 else 12.0 if len(mass) < 1000 else 6.0)


def colour_by_class(
    sides: tuple[DrawnCloud, DrawnCloud], classes: Any, colour: dict[Any, str]
) -> tuple[DrawnCloud, DrawnCloud]:
    """Give the points of x the colours of their classes, and labels of y that are classes the same."""
    values = check_classes(classes, sides[0].points)[sides[0].points.rows]
    x = np.array([colour[value] for value in values.tolist()])
    labels = sides[1].labels or [None] * len(sides[1].points)
    return replace(sides[0], colours=x), replace(sides[1], colours=np.array([colour.get(v, COLUMNS) for v in labels]))


def colour_by_group(sides: tuple[DrawnCloud, DrawnCloud], grouping: Grouping) -> tuple[DrawnCloud, DrawnCloud]:
    """Give the points of x the colours of their groups, and labels of y that are groups the same."""
    colour = dict(zip(grouping.names, grouping.colours, strict=True))
    labels = [str(label) for label in sides[1].labels] or [""] * len(sides[1].points)
    y = np.array([colour.get(label, COLUMNS) for label in labels])
    x = replace(sides[0], colours=grouping.take(sides[0].points.rows).point_colours)
    return x, replace(sides[1], colours=y) if set(colour) & set(labels) else sides[1]


def make_marks(d: Decomposition, marks: Any, index: list[int], map: str, name: str) -> DrawnCloud:
    """Make the points of named values of x, whose labels are written after all others."""
    s, scaling = d.correlations[index], check_map(map)[0]
    cloud = _make_cloud(locate_marks(d, marks), s, index, scaling, False, name=name, colour="0.25", marker="D")
    return replace(cloud, area=np.full(len(cloud.xy), 12.0), weight=1e-9 * cloud.weight)


def place_supplementary(points: Points, index: list[int], is_first: bool) -> DrawnCloud:
    """Place supplementary points, whose labels are written before all others."""
    if not isinstance(points, Points):
        raise TypeError(f"supplementary must be Points, as CA.supplementary returns them, got {type(points).__name__}.")
    drawn = ScenePoints.from_places(points.principal, points.labels)
    xy = add_zero_height(drawn.places[:, index])
    area, weight = np.full(len(xy), 28.0), np.full(len(xy), np.inf)
    name = "supplementary" if is_first else "_"  # once is enough for the legend
    return DrawnCloud(drawn, name, xy, area, weight, True, "0.25", "D")
