"""The points of a page: what is known of each, as the script needs it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from correspondence._util.arguments import count_observations, take_rows
from correspondence._util.labels import as_labels
from correspondence._util.text import list_names
from correspondence.core.decomposition import as_decomposition
from correspondence.core.functions import PrincipalFunctions, find_label_shares
from correspondence.page.data_columns import (
    Column,
    choose_columns,
    iterate_columns,
    list_data_rows,
    read_data_columns,
    to_texts,
)
from correspondence.page.packing import Sprites, make_sprites
from correspondence.scene.classes import PointClasses, Scene, find_classes
from correspondence.scene.groups import Grouping, read_groups
from correspondence.scene.points import ScenePoints, choose_values, locate_labels, locate_marks, locate_values
from correspondence.search.cross_modal import CrossModalIndex

__all__ = [
    "Cloud",
    "add_data",
    "colour_clouds",
    "limit_columns",
    "list_class_items",
    "make_clouds",
]

MAX_IMAGES = 3000
MAX_NAMES, MAX_MEAN_NAME_CHARACTERS = 300, 30  # labels that are written in the plane


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points of one kind.

    Attributes
    ----------
    role : {"x", "y", "mark", "xc", "yc", "xs", "ys"}
        A mark is a named value of x; xc and yc are the categories of the columns of x and y; xs and ys are points that
        took no part in the fit.
    name : str
        What the variable is called.
    points : ScenePoints
        Which values are shown, and where they lie.
    labels : list of str or None
        A text for each point; None if they are known by the positions of their rows only.
    is_named : bool
        Whether the labels are short names, to be written in the plane.
    columns : list of Column
        The values of the points, if the data are a table.
    classes : ndarray of shape (n,) or None
        Positions among the classes, -1 for none.
    images : Sprites or None
        Thumbnails of the points.
    image : ndarray of shape (n,) or None
        Which thumbnail is whose, -1 for none.
    shares : ndarray of shape (n,) or None
        The share of the rows that each category has; they overlap.
    is_faint : bool
        Whether the points are rows behind what is drawn of their columns.
    correlations : ndarray of shape (d,) or None
        What makes principal coordinates of standard ones, if that is not the same for all clouds.
    row_shares : ndarray of shape (n,) or None
        The share of the rows that gave each answer, if the masses say something else.
    contributions, cos2 : ndarray of shape (n, d) or None
        What is known of the points on each axis.
    short_labels : list of str or None
        What is written in the plane, if it is shorter than the labels.
    positions : ndarray of shape (n,) or None
        Positions in the data that the user gave, if the fit left some of these out.
    left_out : tuple of str
        Columns of the points for which the page has no room.
    """

    role: str
    name: str
    points: ScenePoints
    labels: list[str] | None
    is_named: bool
    columns: list[Column] = field(default_factory=list)
    classes: np.ndarray | None = None
    images: Sprites | None = None
    image: np.ndarray | None = None
    shares: np.ndarray | None = None
    is_faint: bool = False
    correlations: np.ndarray | None = None
    row_shares: np.ndarray | None = None
    contributions: np.ndarray | None = None
    cos2: np.ndarray | None = None
    short_labels: list[str] | None = None
    positions: np.ndarray | None = None
    left_out: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.points)

    def count(self) -> tuple[str, str]:
        """Count the points, as a name and a text that says how many of them are drawn, and which."""
        if len(self) == self.points.total:
            is_part = self.points.mass is None and self.shares is None and len(self) < self.points.given
            return self.name, f"{len(self):,} of {self.points.given:,}" if is_part else f"{len(self):,}"
        is_random = self.is_faint or (self.points.mass is None and self.shares is None)
        which = "drawn at random" if is_random else "drawn, which matter most"
        return f"{self.name} {which}", f"{len(self):,} of {self.points.total:,}"

    @property
    def has_mass(self) -> bool:
        """Whether the priors say something: those of labels do."""
        return self.points.mass is not None

    @property
    def prior(self) -> np.ndarray:
        """The probability of each point."""
        if self.shares is not None:
            return self.shares
        if self.points.mass is not None:
            return self.points.mass
        return np.full(len(self), 1 / max(1, self.points.given))


def make_clouds(
    seen: Scene,
    d_or_est: Any,
    X: Any,
    Y: Any,
    names: tuple[str, str, str],
    most: int,
    labels: tuple[Any, Any],
    images: tuple[Any, Any],
    marks: Any,
    index: Any,
) -> list[Cloud]:
    """Make the points of x, of y, and marks if there are any; the parameters are those of `explore`."""
    d = as_decomposition(seen.est)
    if seen.X is not None and hasattr(seen.est, "find_members") and not seen.est.find_members(seen.X).any():
        group = list_names(seen.est.classes_, 5)
        raise ValueError(
            f"X must have an input with more than half of its belief in a class of the group ({group}), got none. "
            "Give other inputs, or analyse a larger group."
        )
    x = _make_cloud(d.f, seen.X, labels[0], "x", names[0], most, shown=X)
    if index is None:
        y = _make_cloud(d.g, Y, labels[1], "y", names[1], most)
    elif isinstance(index, CrossModalIndex) and index.g.shape[1] == d.n_components:
        n = len(index.items_y)
        points = ScenePoints(np.array(index.g), index.items_y, np.array(index.prior), np.arange(n), n, n)
        y, Y = Cloud("y", names[1], points, to_texts(index.items_y), True), None
    else:
        raise TypeError(f"index must be a CrossModalIndex of this decomposition, got {index!r}.")
    clouds = []
    for cloud, values, image in zip((x, y), (X, Y), images, strict=True):
        if image is None and getattr(values, "ndim", 0) in (3, 4):
            image = values
        clouds.append(cloud if image is None else add_images(cloud, image))
    if marks is None:
        return clouds
    marked = locate_marks(as_decomposition(d_or_est), marks)
    assert marked.labels is not None
    return [*clouds, Cloud("mark", names[2], marked, to_texts(marked.labels), True)]


def _make_cloud(
    functions: PrincipalFunctions, values: Any, own_labels: Any, role: str, name: str, most: int, shown: Any = None
) -> Cloud:
    """Make the points of a variable.

    Parameters
    ----------
    functions : PrincipalFunctions
        The f or g of the variable.
    values : array-like, frame, ... or None
        What is shown; labels are shown once each. By default the labels of the fit, or its sample.
    own_labels : array-like or None
        The user's text for each value.
    role, name : str
        The role and name of the cloud.
    most : int
        If there are more points than this, labels of the largest inertia, or values at random, are taken.
    shown : array-like, frame, ... or None
        The data that people know, if the functions take something else, such as beliefs.
    """
    side = role.upper()
    values = choose_values(functions, values, side)
    shares = find_label_shares(functions)
    if shares is None:
        points = locate_values(functions, values, side, most, shown)
    else:
        points = locate_labels(functions, values, shares, side, most)
    if not len(points):
        advice = "Give labels of the fit, or inputs that a classifier takes for one of its group."
        raise ValueError(f"{side} must have a value with a place, got none. {advice}")
    labels = points.labels
    if own_labels is not None:
        labels = as_labels(own_labels, f"{role}_labels")
        if len(labels) != points.given:
            raise ValueError(
                f"{role}_labels must be one for each of the {points.given} values of {side}, got {len(labels)}."
            )
        labels = labels[points.rows]
    texts = None if labels is None else to_texts(labels)
    is_named = points.mass is not None or (own_labels is not None and _are_names(texts or []))
    columns: list[Column] = []
    if points.mass is None and (points.labels is None or own_labels is not None):  # texts say all themselves
        columns = list(iterate_columns(take_rows(values if shown is None else shown, points.rows), name))
    return Cloud(role, name, points, texts, is_named, columns)


def add_data(clouds: list[Cloud], data: Any, est: Any = None) -> list[Cloud]:
    """Return the clouds with further columns of the user, if there are some, in the first."""
    if data is None:
        return clouds
    x, *others = clouds
    if x.has_mass and x.points.given > x.points.total and est is None:
        raise ValueError(
            f"data must have one row for each of the {x.points.total:,} labels of X, which are shown once each: "
            "leave X out, and give the rows in the order of the labels."
        )
    rows = list_data_rows(data, x.points.given, x.points.rows, est)
    more = read_data_columns(data, rows, [column.name for column in x.columns])
    return [replace(x, columns=[*x.columns, *more]), *others]


def limit_columns(clouds: list[Cloud]) -> list[Cloud]:
    """Return the clouds with as many columns as a page has room for, which name those that are left out."""
    kept, left_out = choose_columns([column for cloud in clouds for column in cloud.columns])
    if not left_out:
        return clouds
    chosen = {id(column) for column in kept}
    return [
        replace(
            cloud,
            columns=[column for column in cloud.columns if id(column) in chosen],
            left_out=tuple(column.name for column in cloud.columns if id(column) not in chosen),
        )
        for cloud in clouds
    ]


def colour_clouds(
    clouds: list[Cloud], seen: Scene, Y: Any, groups: Any = None
) -> tuple[list[Cloud], dict[str, Any] | None]:
    """Return the clouds with classes, and the names and colours of these; labels of y that are classes have theirs.

    Groups are classes that the page draws ellipses of at first.
    """
    x, y, *marks = clouds
    found: PointClasses | Grouping | None = None
    if groups is not None:
        found = read_groups(groups, x.points.given, seen.est)
    else:
        found = find_classes(x.points, y.points, seen, Y)
    if found is None:
        return clouds, None
    names = to_texts(found.names)
    x = replace(x, classes=found.codes[x.points.rows].astype(np.int16))
    if y.labels is not None:
        position = {name: i for i, name in enumerate(names)}
        y = replace(y, classes=np.array([position.get(label, -1) for label in y.labels], dtype=np.int16))
    name = "group" if groups is not None else y.name if seen.classes is None else "class"
    described = {"names": names, "colours": found.colours, "grouped": groups is not None, "name": name}
    return [x, y, *marks], described


def list_class_items(cloud: Cloud, names: list[str]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """List classes as items, for words: names, means of the points of each, and their shares."""
    assert cloud.classes is not None
    known = np.flatnonzero(cloud.classes >= 0)
    used, codes = np.unique(cloud.classes[known], return_inverse=True)
    count = np.bincount(codes)
    sums = np.stack([np.bincount(codes, column) for column in cloud.points.places[known].T], axis=1)
    return [names[i] for i in used], sums / count[:, None], count / count.sum()


def add_images(cloud: Cloud, images: Any) -> Cloud:
    """Return the same points with thumbnails, of many points some at random."""
    n = count_observations(images, f"{cloud.role}_images")
    if n != cloud.points.given:
        raise ValueError(f"{cloud.role}_images must be one for each of the {cloud.points.given} values, got {n}.")
    chosen = np.arange(len(cloud))
    if len(cloud) > MAX_IMAGES:
        chosen = np.sort(np.random.default_rng(0).choice(len(cloud), MAX_IMAGES, replace=False))
    image = np.full(len(cloud), -1, dtype=np.int32)
    image[chosen] = np.arange(len(chosen))
    return replace(cloud, images=make_sprites(images, cloud.points.rows[chosen], f"{cloud.role}_images"), image=image)


def _are_names(labels: list[str]) -> bool:
    """Tell whether labels are few and short enough to be written in a plane, and not mere numbers of things."""
    are_ids = all(any(letter.isdecimal() for letter in label) for label in labels)
    return len(labels) <= MAX_NAMES and sum(map(len, labels)) <= MAX_MEAN_NAME_CHARACTERS * len(labels) and not are_ids
