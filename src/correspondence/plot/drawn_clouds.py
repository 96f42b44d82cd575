"""The points of a plane, ready to be drawn: where they lie in a map, how large they are, in which colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from correspondence._util.arguments import count_observations
from correspondence._util.text import short_repr
from correspondence.core.decomposition import Decomposition
from correspondence.core.functions import PrincipalFunctions, find_label_shares
from correspondence.results.points import Points
from correspondence.scene.classes import check_classes
from correspondence.scene.colours import COLUMNS, ROWS
from correspondence.scene.groups import Grouping
from correspondence.scene.measures import find_recorded, measure_points
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
    "NOT_IN_LEGEND",
    "DrawnCloud",
    "add_zero_height",
    "choose_areas",
    "colour_by_class",
    "colour_by_group",
    "list_supplementary",
    "make_marks",
    "make_row_cloud",
    "make_sides",
    "note_unplaced",
    "note_values_without_place",
    "place_all_supplementary",
    "place_supplementary",
    "size_clouds",
    "size_sides",
]

NOT_IN_LEGEND = "_"
SUPPLEMENTARY_STYLES = {"": ("0.25", "D"), "rows": (ROWS, "o"), "columns": (COLUMNS, "^")}


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
    has_scale : bool
        Whether `colours` stand for numbers, so that labels keep the colour of the cloud.
    measures : dict of ndarray of shape (n,)
        How much each point matters in the plane, by the names in `correspondence.scene.measures.MEASURES`.
    full_labels : ndarray of shape (n,) or None
        Other names by which points are known, such as those of answers with their variables.
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
    has_scale: bool = False
    measures: dict[str, np.ndarray] = field(default_factory=dict)
    full_labels: np.ndarray | None = None

    @property
    def labels(self) -> list[Any]:
        """Labels of the points, empty if they have none."""
        return [] if self.points.labels is None else self.points.labels.tolist()

    def list_colours(self) -> list[str]:
        """List the colours of the points."""
        return [self.colour] * len(self.xy) if self.colours is None else self.colours.tolist()

    def take(self, index: np.ndarray) -> DrawnCloud:
        """Return some of the points."""
        chosen: dict[str, Any] = {"xy": self.xy[index], "area": self.area[index], "weight": self.weight[index]}
        for name in ("colours", "alphas", "full_labels"):
            values = getattr(self, name)
            chosen[name] = None if values is None else values[index]
        chosen["measures"] = {name: values[index] for name, values in self.measures.items()}
        labels, mass = (None if v is None else v[index] for v in (self.points.labels, self.points.mass))
        places, rows = self.points.places[index], self.points.rows[index]
        points = replace(self.points, labels=labels, mass=mass, places=places, rows=rows)
        return replace(self, points=points, **chosen)

    def forget_labels(self) -> DrawnCloud:
        """Return the same points without names, so that labels may cover them."""
        return replace(self, points=replace(self.points, labels=None))


def make_sides(
    est: Any, d: Decomposition, index: list[int], map: str, names: Sequence[str], X: Any, Y: Any
) -> tuple[DrawnCloud, DrawnCloud]:
    """Make the points of x and y; by default all labels of the fit."""
    of_x, of_y = check_map(map)
    rows, columns = _locate_side(d.f, X, "X"), _locate_side(d.g, Y, "Y")
    s, of_rows, of_columns = d.correlations, find_recorded(est, "rows"), find_recorded(est, "columns")
    return (
        _make_cloud(rows, s, index, of_x, of_rows, name=names[0], colour=ROWS, marker="o"),
        _make_cloud(columns, s, index, of_y, of_columns, name=names[1], colour=COLUMNS, marker="^"),
    )


def make_row_cloud(d: Decomposition, index: list[int], map: str, X: Any) -> DrawnCloud:
    """Make the points of x alone; by default all labels of the fit."""
    points, scaling = _locate_side(d.f, X, "X"), check_map(map)[0]
    return _make_cloud(points, d.correlations, index, scaling, None, name="rows", colour=ROWS, marker="o")


def _locate_side(functions: PrincipalFunctions, values: Any, name: str) -> ScenePoints:
    """Find the places of the values given; of the labels of many rows, each once."""
    if values is None:
        return locate_fit_labels(functions, name)
    shares = find_label_shares(functions)
    if shares is not None and count_observations(values, name) > len(shares):
        return locate_labels(functions, values, shares, name)
    return locate_values(functions, values, name)


def _make_cloud(
    points: ScenePoints, s: np.ndarray, index: list[int], scaling: Scaling, recorded: Points | None, **style: Any
) -> DrawnCloud:
    standard, n = points.places[:, index], len(points)
    measures = measure_points(points, s, index, recorded)
    is_written = [label is not None for label in points.labels] if points.labels is not None else np.zeros(n, bool)
    return DrawnCloud(
        points,
        xy=add_zero_height(standard * find_scale_factor(scaling, s[index], points.mass)),
        area=choose_areas(n),
        weight=np.where(is_written, measures["contribution"], np.nan),
        is_principal=scaling == "principal",
        measures=measures,
        **style,
    )


def note_values_without_place(clouds: Sequence[DrawnCloud]) -> list[str]:
    """Say how many values are not drawn, such as inputs that are certainly of no class of a group."""
    lost = [(cloud, cloud.points.given - len(cloud.points)) for cloud in clouds if cloud.points.mass is None]
    return [f"not drawn: {n:,} of {cloud.points.given:,} {cloud.name}, without a place" for cloud, n in lost if n]


def add_zero_height(xy: np.ndarray) -> np.ndarray:
    """Return points of a line as points of a plane."""
    return xy if xy.shape[1] == 2 else np.column_stack([xy, np.zeros(len(xy))])


def choose_areas(n: int) -> np.ndarray:
    """Choose the areas of n markers: smaller the more there are."""
    return np.full(n, 28.0 if n < 200 else 12.0 if n < 1000 else 6.0)


def size_clouds(clouds: Sequence[DrawnCloud], size: str | None) -> list[DrawnCloud]:
    """Make the areas of the points of one side proportional to their masses or contributions."""
    if size not in (None, "mass", "contribution"):
        raise ValueError(f'size must be "mass", "contribution" or None, got {short_repr(size)}.')
    if size is None or not clouds:
        return list(clouds)
    if any(size not in cloud.measures for cloud in clouds):
        raise ValueError(f"size must not be {size!r}, because points have no {size}.")
    values = [cloud.measures[size] for cloud in clouds]
    n, most = sum(map(len, values)), max(float(own.max(initial=0)) for own in values)
    largest = max(60, 500 * min(1, 20 / max(1, n)))
    areas = [np.maximum(largest * own / max(most, 1e-300), 2) for own in values]  # 2 can just be seen
    return [replace(cloud, area=area) for cloud, area in zip(clouds, areas, strict=True)]


def size_sides(sides: tuple[DrawnCloud, DrawnCloud], size: str | None) -> tuple[DrawnCloud, DrawnCloud]:
    """Size the points of two sides, each by its own masses or contributions."""
    (x,), (y,) = (size_clouds([side], size) for side in sides)
    return x, y


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
    scaling = check_map(map)[0]
    style: dict[str, Any] = {"name": name, "colour": "0.25", "marker": "D"}
    cloud = _make_cloud(locate_marks(d, marks), d.correlations, index, scaling, None, **style)
    return replace(cloud, area=np.full(len(cloud.xy), 12.0), weight=1e-9 * cloud.weight)


def place_supplementary(points: Points, index: list[int], is_first: bool) -> DrawnCloud:
    """Place supplementary points, whose labels are written before all others."""
    if not isinstance(points, Points):
        raise TypeError(f"supplementary must be Points, as CA.supplementary returns them, got {type(points).__name__}.")
    drawn = ScenePoints.from_places(points.principal, points.labels)
    xy = add_zero_height(drawn.places[:, index])
    area, weight = np.full(len(xy), 28.0), np.full(len(xy), np.inf)
    colour, marker = SUPPLEMENTARY_STYLES[points.side]
    name = f"supplementary {points.side}".strip() if is_first else NOT_IN_LEGEND  # once is enough for the legend
    return DrawnCloud(drawn, name, xy, area, weight, True, colour, marker, is_hollow=bool(points.side))


def list_supplementary(given: Any) -> list[Any]:
    """List the supplementary points that the user gave, one or several."""
    return list(given) if isinstance(given, list | tuple) else [given]


def place_all_supplementary(given: Any, index: list[int]) -> list[DrawnCloud]:
    """Place supplementary points; the legend shows each kind once."""
    listed = list_supplementary(given)
    sides = [getattr(points, "side", "") for points in listed]
    return [place_supplementary(points, index, sides[i] not in sides[:i]) for i, points in enumerate(listed)]


def note_unplaced(supplementary: Sequence[DrawnCloud]) -> list[str]:
    """Count the supplementary points without a place, such as rows without any count."""
    n = sum(cloud.points.given - len(cloud.xy) for cloud in supplementary)
    return [f"{n:,} supplementary {'point has' if n == 1 else 'points have'} no place"] if n else []
