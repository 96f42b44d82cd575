"""The factoring plane."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.patches import Ellipse, Patch
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation

from correspondence._util.arguments import check_whole
from correspondence._util.labels import encode_labels, find_labels
from correspondence._util.text import one_line
from correspondence.core.decomposition import Decomposition, as_decomposition
from correspondence.core.functions import LabelFunctions
from correspondence.plot.label_placement import LabelPlacing
from correspondence.results.bootstrap import Bootstrap, Ellipses
from correspondence.results.confusing import Confusing
from correspondence.results.points import Points
from correspondence.scene.maps import MAPS, Scaling
from correspondence.scene.overlay import Scene, Thumbnail, draw_boundaries, make_scene, thumbnails_of
from correspondence.scene.style import COLUMNS, GREY, ROWS, check_axes, new_axes

__all__ = ["plane"]


@dataclass(frozen=True, eq=False)
class _DrawnCloud:
    """Points of one side, ready to be drawn."""

    name: str
    known: np.ndarray
    """Which labels of the table are here: those that occur in it."""
    labels: np.ndarray
    xy: np.ndarray
    area: np.ndarray
    """Of the markers, in square points."""
    weight: np.ndarray
    """How much each label deserves to be written out: its contribution to the plane."""
    is_principal: bool
    colour: str
    marker: str
    colours: np.ndarray | None = None
    """One for each point, if they differ."""


def plane(
    d_or_est: Any,
    axes: tuple[int, int] = (1, 2),
    map: str = "symmetric",
    ax: Axes | None = None,
    *,
    size_by_mass: bool = False,
    ellipses: Bootstrap | None = None,
    level: float = 0.95,
    supplementary: Points | list[Points] | tuple[Points, ...] = (),
    labels: str = "both",
    max_labels: int = 80,
    names: Sequence[str] | None = None,
    X: Any = None,
    Y: Any = None,
    classes: Any = None,
    marks: tuple[Sequence[Any], Any] | None = None,
    boundaries: bool | Sequence[tuple[Any, Any]] = False,
    confusing: Any = None,
    thumbnails: Any = False,
) -> Axes:
    """Draw the factoring plane: x and y, or rows and columns, as points of the same picture.

    Parameters
    ----------
    d_or_est : Decomposition or fitted estimator
        What to draw, as it is for two discrete variables. For other variables, pass the values to draw as X (and Y,
        unless Y is a column of labels).
    axes : (int, int)
        Which components, counted from 1. If there is only one, the points lie on a line.
    map : str
        How the two sides are scaled. "symmetric" has both in principal coordinates: rows may be compared with
        rows and columns with columns, but the distance of a row from a column means nothing. "rowprincipal" and
        "colprincipal" have one side in standard coordinates; "rowgab", "colgab", "rowgreen" and "colgreen" have it
        multiplied by the mass or its root, and "symbiplot" shares the singular values out: in these, the projection
        of a row on the direction of a column shows how far the cell is above or below independence.
    ax : Axes, optional
        Where to draw. The legend stands above its left end, so a title is best set with ``loc="right"``.
    size_by_mass : bool
        Make the area of a point proportional to its mass, on each side for itself.
    ellipses : Bootstrap, optional
        What ``CA.bootstrap`` returned: confidence ellipses of the points in principal coordinates.
    level : float
        Of the ellipses.
    supplementary : Points or list of Points
        What ``CA.supplementary`` returned: drawn in principal coordinates.
    labels : {"both", "rows", "columns", "none"}
        Whose labels are written, besides those of supplementary points.
    max_labels : int
        At most so many labels are written, those that contribute most first, and none over another. They find
        their places when the picture is drawn, and again when it is zoomed or gets another size.
    names : (str, str) or (str, str, str), optional
        What the legend calls the two sides, and marks: by default rows and columns, of a `ClassifierCA` inputs and
        classes.
    X, Y : array-like, optional
        Values to draw at f(x) and g(y), as small points where they are no labels. Needed for functions of anything but
        labels.
    classes : array-like, optional
        One for each of X, by which the points are coloured, and the labels of Y that they are. For a `ClassifierCA`
        by default the class that it predicts.
    marks : (labels, X), optional
        More values of x, each with a label that is written.
    boundaries : bool or list of (label, label)
        Of a `ClassifierCA`: lines on which two classes are equally likely and no other is more likely, for these pairs
        of classes, or for all (of many classes, the ten pairs most confused). With up to three classes they are
        exact; with more they are projections of `ClassifierCA.boundary`, dashed in the colours of both classes, and
        inputs may lie on the other side.
    confusing : array-like or Confusing, optional
        Of a `ClassifierCA`: inputs of which the twelve most ambiguous are ringed, or what ``ClassifierCA.confusing``
        returned (then X is needed as well). Without X, the inputs given here are drawn.
    thumbnails : bool or array-like
        Whether the confusing inputs, which then must be images, are shown beside their points; or images of these
        inputs, one for each.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA().fit(co.datasets.load_smoke())
    >>> ax = co.plot.plane(ca, map="rowprincipal")
    >>> ax.get_xlabel()
    'Axis 1: PIC 0.0748, 87.8 % of chi2'
    """
    seen = make_scene(d_or_est, X, classes, confusing, thumbnails)
    X, classes = seen.X, seen.classes
    names = seen.names if names is None else names
    d = as_decomposition(seen.est)
    index = check_axes(d, axes)
    sides = make_clouds(d, index, map, names, size_by_mass, X, Y)
    if classes is not None:
        sides = colour_by_class(sides, classes, seen.colours)
    spreads = [] if ellipses is None else pair_with_ellipses(sides, ellipses, axes[: len(index)], level)
    groups = supplementary if isinstance(supplementary, list | tuple) else [supplementary]
    placed = [place_supplementary(points, index, is_first=i == 0) for i, points in enumerate(groups)]
    if marks is not None:
        known = as_decomposition(d_or_est)  # that takes inputs, not beliefs
        placed.append(make_marks(known, marks, index, map, names[2] if len(names) > 2 else "marked"))
    ringed = None if seen.confusing is None else _locate_confusing(d, seen.confusing, index, map)
    written = _choose_labelled_sides(sides, labels) + placed
    check_whole(max_labels, "max_labels", 0)
    clouds = [*sides, *placed]
    ax = new_axes(ax, (8, 6.5) if len(index) == 2 else (8, 2.5))
    ax.axhline(0, color="0.75", lw=0.8, ls="--", zorder=0)
    ax.axvline(0, color="0.75", lw=0.8, ls="--", zorder=0)
    for cloud in clouds:
        draw_cloud(ax, cloud, alpha=0.45 if size_by_mass else 0.9)
    for cloud, spread in spreads:
        _add_ellipses(ax, cloud, spread)
    lines = np.empty((0, 2))
    if boundaries is not False:
        lines = draw_boundaries(ax, seen.est, boundaries, index, find_scale_factor(MAPS[map][0], d.correlations[index]))
    pictures = draw_confusing(ax, ringed, seen)
    label_axes(ax, d, index)
    add_legend(ax, _make_class_handles(sides, seen.colours))
    write_labels(ax, clouds, written, max_labels, pictures, lines)
    return ax


def _locate_confusing(d: Decomposition, found: Confusing, index: list[int], map: str) -> np.ndarray:
    """Where the confusing inputs are drawn."""
    xy = found.position[:, index] * find_scale_factor(MAPS[map][0], d.correlations[index])
    return xy if len(index) == 2 else np.column_stack([xy, np.zeros(len(xy))])


def draw_confusing(ax: Axes, xy: np.ndarray | None, seen: Scene) -> list[tuple[Thumbnail, np.ndarray]]:
    """Rings around the confusing inputs, and their pictures."""
    if xy is None or seen.confusing is None:
        return []
    ax.scatter(
        xy[:, 0], xy[:, 1], s=40, facecolors="none", edgecolors="0.1", linewidths=1.1, zorder=3, label="confusing"
    )
    if seen.images is None:
        return []
    frames = [seen.colours.get(first, "0.1") for first in seen.confusing.pairs[:, 0].tolist()]
    return list(zip(thumbnails_of(ax, seen.images, xy, frames), xy, strict=True))


def make_clouds(
    d: Decomposition, index: list[int], map: str, names: Sequence[str], by_mass: bool, X: Any = None, Y: Any = None
) -> tuple[_DrawnCloud, _DrawnCloud]:
    if isinstance(names, str) or not isinstance(names, Sequence) or len(names) not in (2, 3):
        raise ValueError(f"names must be two texts, for rows and columns, or three, got {names!r}.")
    if not isinstance(map, str) or map not in MAPS:
        raise ValueError(f"map must be one of {', '.join(MAPS)}, got {map!r}.")
    s = d.correlations[index]
    of_rows, of_columns = MAPS[map]
    rows = make_cloud(make_side(d.f, X, "X"), s, index, of_rows, by_mass, name=names[0], colour=ROWS, marker="o")
    columns = make_cloud(
        make_side(d.g, Y, "Y"), s, index, of_columns, by_mass, name=names[1], colour=COLUMNS, marker="^"
    )
    return rows, columns


@dataclass(frozen=True, eq=False)
class _DrawnSide:
    """What is drawn of one variable."""

    labels: np.ndarray
    """None where nothing is to be written."""
    values: np.ndarray
    mass: np.ndarray | None


def make_side(functions: Any, values: Any, name: str) -> _DrawnSide:
    if values is None and isinstance(functions, LabelFunctions):
        return _DrawnSide(functions.labels, functions.values, functions.mass)
    if values is None:
        sample = getattr(functions, "sample", None)
        column = None if sample is None else find_labels(sample)
        if column is None:
            raise TypeError(f"{name} is needed: give the values to draw, {name}=...")
        codes, labels = encode_labels(column, name)
        return _DrawnSide(labels, functions(labels), np.bincount(codes) / len(codes))
    points = functions(values)
    array = np.asarray(values) if not hasattr(values, "tocsr") else np.empty((0, 0))
    are_labels = array.ndim == 1 and array.dtype.kind in "OU"
    return _DrawnSide(array if are_labels else np.full(len(points), None), points, None)


def make_cloud(
    side: _DrawnSide, s: np.ndarray, index: list[int], scaling: Scaling, by_mass: bool, **style: Any
) -> _DrawnCloud:
    known = np.isfinite(side.values).all(axis=1)
    standard = side.values[known][:, index]
    if side.mass is None and (by_mass or scaling in ("mass", "root_mass")):
        raise ValueError("These points have no mass: choose another map, and leave out size_by_mass.")
    mass = np.full(len(standard), 1 / max(1, len(standard))) if side.mass is None else side.mass[known]
    xy = standard * find_scale_factor(scaling, s, mass)
    if len(index) == 1:
        xy = np.column_stack([xy, np.zeros(len(xy))])
    labels = side.labels[known]
    weight = mass * ((standard * s) ** 2).sum(axis=1)
    return _DrawnCloud(
        known=known,
        labels=labels,
        xy=xy,
        area=_choose_areas(mass, by_mass),
        weight=np.where([label is None for label in labels], np.nan, weight),
        is_principal=scaling == "principal",
        **style,
    )


def find_scale_factor(scaling: Scaling, s: np.ndarray, mass: np.ndarray | None = None) -> np.ndarray:
    """By which standard coordinates are multiplied."""
    if scaling == "principal":
        return s[None, :]
    if scaling == "symmetric":
        return np.sqrt(s)[None, :]
    if scaling == "standard":
        return np.ones((1, 1))
    if mass is None:
        raise ValueError("These points have no mass: choose another map, and leave out size_by_mass.")
    return (mass if scaling == "mass" else np.sqrt(mass))[:, None]


def colour_by_class(
    sides: tuple[_DrawnCloud, _DrawnCloud], classes: Any, colour: dict[Any, str]
) -> tuple[_DrawnCloud, _DrawnCloud]:
    """The points of x in the colours of their classes, and the labels of y that are classes in the same."""
    values = np.asarray(classes, dtype=object)
    if values.shape != sides[0].known.shape:
        raise ValueError(f"classes must have one value for each of the {len(sides[0].known)} points of X.")
    x = np.array([colour[value] for value in values[sides[0].known].tolist()])
    y = np.array([colour.get(label, COLUMNS) for label in sides[1].labels.tolist()])
    return replace(sides[0], colours=x), replace(sides[1], colours=y)


def _make_class_handles(sides: tuple[_DrawnCloud, _DrawnCloud], colour: dict[Any, str]) -> list[Patch]:
    """Legend of the classes, unless they are written in the picture."""
    if set(colour) <= set(sides[1].labels.tolist()) or len(colour) > 20:
        return []
    return [Patch(color=value, label=one_line(name)) for name, value in colour.items()]


def make_marks(d: Decomposition, marks: Any, index: list[int], map: str, name: str) -> _DrawnCloud:
    if not isinstance(marks, tuple | list) or len(marks) != 2 or not isinstance(marks[0], Iterable):
        raise ValueError("marks must be a pair: labels, and as many values of x.")
    labels, values = marks
    side = _DrawnSide(np.array(list(labels), dtype=object), d.f(values), None)
    if len(side.labels) != len(side.values):
        raise ValueError(
            f"marks has {len(side.labels)} labels for {len(side.values)} values; give one label per value."
        )
    cloud = make_cloud(side, d.correlations[index], index, MAPS[map][0], False, name=name, colour="0.25", marker="D")
    return replace(cloud, area=np.full(len(cloud.xy), 12.0), weight=1e-9 * cloud.weight)  # written after all others


def _choose_areas(mass: np.ndarray, by_mass: bool) -> np.ndarray:
    if by_mass:
        largest = max(60, 500 * min(1, 20 / len(mass)))
        return np.maximum(largest * mass / mass.max(), 2)  # 2 can just be seen
    return np.full(len(mass), 28.0 if len(mass) < 200 else 12.0 if len(mass) < 1000 else 6.0)


def draw_cloud(ax: Axes, cloud: _DrawnCloud, alpha: float) -> None:
    many = len(cloud.xy) > 200
    ax.scatter(
        cloud.xy[:, 0],
        cloud.xy[:, 1],
        s=cloud.area,
        marker=cloud.marker,
        color=cloud.colour if cloud.colours is None else cloud.colours,
        alpha=0.45 if many and cloud.colours is not None else alpha,
        linewidths=0,
        label=cloud.name,
        rasterized=len(cloud.xy) > 5000,
    )


def pair_with_ellipses(
    clouds: tuple[_DrawnCloud, _DrawnCloud], bootstrap: Bootstrap, axes: tuple[int, ...], level: float
) -> list[tuple[_DrawnCloud, Ellipses]]:
    """Clouds in principal coordinates with the ellipses of their points."""
    if len(axes) < 2:
        raise ValueError("ellipses need a plane: there is only one axis here.")
    if not isinstance(bootstrap, Bootstrap):
        raise TypeError(f"ellipses must be what CA.bootstrap returns, got {type(bootstrap).__name__}.")
    sides = zip(clouds, (bootstrap.row_ellipses, bootstrap.column_ellipses), strict=True)
    spreads = [(cloud, of_side((axes[0], axes[1]), level)) for cloud, of_side in sides if cloud.is_principal]
    if not spreads:
        raise ValueError('ellipses are in principal coordinates: choose a map that has some, such as "symmetric".')
    if any(len(cloud.known) != len(ellipses.width) for cloud, ellipses in spreads):
        raise ValueError("ellipses are those of another table: their number is not that of the points.")
    return spreads


def _add_ellipses(ax: Axes, cloud: _DrawnCloud, ellipses: Ellipses) -> None:
    shapes = np.column_stack([ellipses.width, ellipses.height, ellipses.angle])[cloud.known]
    for xy, (width, height, angle) in zip(cloud.xy, shapes, strict=True):
        if np.isfinite(width):
            patch = Ellipse(xy, width, height, angle=angle, fc=cloud.colour, ec=cloud.colour, alpha=0.12, lw=0.8)
            ax.add_patch(patch)
    ax.autoscale_view()


def label_axes(ax: Axes, d: Decomposition, index: list[int]) -> None:
    texts = [f"Axis {i + 1}: PIC {d.pics[i]:.4f}, {100 * d.inertia_ratios[i]:.1f} % of chi2" for i in index]
    ax.set_xlabel(texts[0])
    if len(texts) == 2:
        ax.set_ylabel(texts[1])
    else:
        ax.set_yticks([])
    width, height = ax.dataLim.size
    ax.update_datalim(ax.dataLim.padded(0.1 * width, 0.1 * height).corners())  # equal scales may eat up margins
    ax.margins(0.02)
    shared = all(len(group.get_siblings(ax)) > 1 for group in (ax.get_shared_x_axes(), ax.get_shared_y_axes()))
    ax.set_aspect("equal", adjustable="box" if shared else "datalim")


def add_legend(ax: Axes, more: list[Patch]) -> None:
    handles = [*ax.get_legend_handles_labels()[0], *more]
    columns = 4 if not more else 6
    legend = ax.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=columns, frameon=False, handletextpad=0.2
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    for handle in legend.legend_handles:
        if isinstance(handle, PathCollection):
            handle.set_sizes([36])
            handle.set_alpha(0.9)
            if len(handle.get_facecolor()) > 1:
                handle.set_facecolor(GREY)  # each point has its own


def place_supplementary(points: Points, index: list[int], is_first: bool) -> _DrawnCloud:
    """Supplementary points; they come before all others when labels are written."""
    if not isinstance(points, Points):
        raise TypeError(f"supplementary must be Points, as CA.supplementary returns them, got {type(points).__name__}.")
    known = np.isfinite(points.principal).all(axis=1)
    xy = points.principal[known][:, index]
    if len(index) == 1:
        xy = np.column_stack([xy, np.zeros(len(xy))])
    area, weight = np.full(len(xy), 28.0), np.full(len(xy), np.inf)
    name = "supplementary" if is_first else "_"  # once is enough for the legend
    return _DrawnCloud(name, known, points.labels[known], xy, area, weight, True, "0.25", "D")


def _choose_labelled_sides(sides: tuple[_DrawnCloud, _DrawnCloud], labels: str) -> list[_DrawnCloud]:
    chosen = {"both": list(sides), "rows": [sides[0]], "columns": [sides[1]], "none": []}
    if not isinstance(labels, str) or labels not in chosen:
        raise ValueError(f'labels must be "both", "rows", "columns" or "none", got {labels!r}.')
    return chosen[labels]


def write_labels(
    ax: Axes,
    clouds: list[_DrawnCloud],
    written: list[_DrawnCloud],
    most: int,
    pictures: Sequence[tuple[Thumbnail, np.ndarray]],
    lines: np.ndarray,
) -> None:
    """Labels beside their points, clear of each other and of points on lines; those without room are left out."""
    named = [cloud for cloud in clouds if not all(label is None for label in cloud.labels)]  # labels may cover dots
    outline = [withStroke(linewidth=2, foreground="white", alpha=0.8)] if len(named) < len(clouds) else []
    clouds = named
    if not clouds:
        return
    xy, area = np.vstack([cloud.xy for cloud in clouds]), np.concatenate([cloud.area for cloud in clouds])
    points = [(cloud, i) for cloud in clouds for i in range(len(cloud.xy))]
    weight = np.concatenate([cloud.weight if cloud in written else np.full(len(cloud.xy), np.nan) for cloud in clouds])
    chosen = np.argsort(-weight, kind="stable")[: min(most, np.count_nonzero(~np.isnan(weight)))]
    labels: list[Any] = [write_label(ax, points[i][0], points[i][1], outline) for i in chosen]
    labels += [thumbnail for thumbnail, _ in pictures]
    chosen = np.concatenate([chosen, len(xy) + np.arange(len(pictures))])
    xy = np.vstack([xy, *(at for _, at in pictures), lines])
    area = np.concatenate([area, np.full(len(pictures), 40.0), np.full(len(lines), 1.0)])
    leaders = LineCollection([], colors="0.6", linewidths=0.5, zorder=0.5)
    ax.add_collection(leaders, autolim=False)
    ax.add_artist(LabelPlacing(labels, leaders, chosen, xy, np.sqrt(area) / 2))


def write_label(ax: Axes, cloud: _DrawnCloud, i: int, outline: list[Any]) -> Annotation:
    label = ax.annotate(
        one_line(cloud.labels[i]),
        cloud.xy[i],
        (0, 0),
        textcoords="offset points",
        fontsize=8,
        color=cloud.colour if cloud.colours is None else cloud.colours[i],
        fontweight="normal" if cloud.colours is None else "bold",
        parse_math=False,
        path_effects=outline,
    )
    label.set_in_layout(False)
    return label
