"""The triplot of a constrained analysis: sites, species, and what the constraints say of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from correspondence._util.arguments import check_flag, check_whole
from correspondence._util.labels import to_object_array
from correspondence._util.text import list_names
from correspondence.plot.column_marks import annotate_caption, draw_number, sample_lines
from correspondence.plot.drawn_clouds import DrawnCloud, add_zero_height, choose_areas
from correspondence.plot.group_names import share_names, tell_unnamed
from correspondence.plot.groups import (
    check_ellipses,
    draw_group_shapes,
    fit_ellipses,
    list_group_handles,
    make_drawn_groups,
    note_large_ellipses,
    split_ellipses,
)
from correspondence.plot.labels import write_labels
from correspondence.plot.plane_parts import add_legend, draw_cloud, draw_cross, label_axes
from correspondence.plot.style import make_axes
from correspondence.scene.colours import COLUMNS, GREY, ROWS
from correspondence.scene.groups import Grouping, read_groups
from correspondence.scene.points import (
    Scaling,
    ScenePoints,
    check_map,
    check_names,
    find_scale_factor,
    needs_mass,
)
from correspondence.scene.triplot import (
    SCALING_WORDS,
    SITES,
    TRIPLOT_MAP,
    Triplot,
    check_sites,
    choose_arrow_factor,
    make_triplot,
)

__all__ = ["draw_triplot"]

SITE_AREA_POINTS, CENTROID_AREA_POINTS = 14.0, 46.0
MAX_NAMED_SITES = 60
SITE_NAME_POINTS, CONSTRAINT_NAME_POINTS = 7.0, 9.0
TIP_WEIGHT, CENTROID_WEIGHT, SITE_WEIGHT = 1e9, 1e8, 1e-6  # names are written in this order, species in between
LABEL_REACH_POINTS = 44.0
N_ARROW_POINTS = 48  # points of an arrow that labels keep clear of


@dataclass(frozen=True, eq=False)
class DrawnTriplot:
    """A triplot in one plane, ready to be drawn.

    Attributes
    ----------
    sites, species, tips : DrawnCloud
        The points, and the ends of the arrows, where their names are written.
    centroids : list of DrawnCloud
        The categories at the mean of their sites, if there are some.
    lines : list of ndarray of shape (k, 2)
        The centroids of ordered categories, in their order.
    arrows : list of ndarray of shape (2, 2)
        The arrows, from the centre.
    paths : list of ndarray of shape (k, 2)
        Where the constraints put sites by numbers that bend, from low to high.
    factor : float
        What all biplot scores are multiplied by.
    """

    sites: DrawnCloud
    species: DrawnCloud
    centroids: list[DrawnCloud]
    lines: list[np.ndarray]
    tips: DrawnCloud
    arrows: list[np.ndarray]
    paths: list[np.ndarray]
    factor: float

    @property
    def clouds(self) -> list[DrawnCloud]:
        """All points, in the order in which they are drawn."""
        return [self.sites, self.species, *self.centroids]

    def choose_written(self, labels: Any) -> list[DrawnCloud]:
        """Choose whose labels are written; sites by default only if they are few."""
        few = [self.sites] if len(self.sites.xy) <= MAX_NAMED_SITES else []
        of_constraints = [*self.centroids, self.tips]
        chosen = {
            "both": [self.species, *few, *of_constraints],
            "rows": [self.sites, *of_constraints],
            "columns": [self.species, *of_constraints],
            "none": [],
        }
        if not isinstance(labels, str) or labels not in chosen:
            raise ValueError(f'labels must be "both", "rows", "columns" or "none", got {labels!r}.')
        return chosen[labels]


def draw_triplot(
    ca: Any,
    axes: tuple[int | str, int | str],
    map: str | None,
    ax: Axes | None,
    *,
    sites: str,
    size_by_mass: bool,
    ellipses: Any,
    hulls: bool | float,
    level: float,
    labels: str,
    max_labels: int,
    names: Sequence[str] | None,
    groups: Any,
    classes: Any,
    columns: bool | None,
) -> Axes:
    """Draw the triplot of a constrained analysis; the parameters are those of `plane`."""
    scene = make_triplot(ca)
    index = scene.check_axes(axes)
    check_whole(max_labels, "max_labels", 0)
    if columns is not None:
        check_flag(columns, "columns")
    map = TRIPLOT_MAP if map is None else map
    called = check_names(("sites", "species") if names is None else names)
    grouping = read_site_groups(ca, scene, groups, classes)
    if split_ellipses(ellipses)[0] is not None:
        raise ValueError("ellipses must be those of groups for an analysis with constraints, not of a bootstrap.")
    share = check_ellipses(ellipses, hulls, len(index), grouping is not None)
    drawn = place_triplot(scene, index, map, check_sites(sites), called, size_by_mass, columns is not False)
    drawn = colour_sites(drawn, grouping)
    told = []
    if grouping is not None and (groups is not None or ellipses is not None or share):
        is_named = groups is not None
        told = [make_drawn_groups(drawn.sites, grouping, ellipses, level, share, is_named=is_named)]
    means = [marks for own in told for marks in own.marks]
    n_names = sum(len(marks.xy) for marks in means)
    if means and drawn.centroids:  # a category at the mean of the group of the same name is named once
        left, shared = share_names(means[0], drawn.centroids, [scene.answers])
        drawn, means = replace(drawn, centroids=shared), [left] if len(left.xy) else []
    written = drawn.choose_written(labels)
    if drawn.sites not in written:
        drawn = replace(drawn, sites=replace(drawn.sites, points=replace(drawn.sites.points, labels=None)))
    ax = make_axes(ax, choose_triplot_size(drawn, len(index)))
    draw_cross(ax)
    for own in told:
        draw_group_shapes(ax, own)
    for cloud in [*drawn.clouds, *means]:
        draw_cloud(ax, cloud, alpha=0.45 if size_by_mass else 0.9, is_above=cloud is not drawn.sites)
    for line in drawn.lines:
        ax.plot(line[:, 0], line[:, 1], color=ROWS, lw=1.1, alpha=0.65, zorder=2.2, gid="ordered")
    for line in drawn.arrows + drawn.paths:
        draw_number(ax, line, ROWS)
    large = [name for own in told for name in fit_ellipses(ax, own)]
    label_axes(ax, [scene.write_axis_title(i) for i in index])
    add_legend(ax, list_triplot_handles(drawn, grouping))
    clouds = [*drawn.clouds, drawn.tips, *means]
    lines = np.vstack([sample_lines(drawn.arrows, N_ARROW_POINTS), sample_lines(drawn.paths)])
    placing = write_labels(ax, clouds, [*written, *means], max_labels, [], lines, LABEL_REACH_POINTS)
    notes = [note for own in told for note in own.notes] + note_large_ellipses(large)
    annotate_caption(ax, write_triplot_caption(scene, drawn, map, sites, index, notes))
    tell_unnamed(placing, ax, n_names)
    return ax


def colour_sites(drawn: DrawnTriplot, grouping: Grouping | None) -> DrawnTriplot:
    """Give the sites the colours of their groups, in which they are not faint."""
    if grouping is None:
        return drawn
    colours = grouping.take(drawn.sites.points.rows).point_colours
    return replace(drawn, sites=replace(drawn.sites, colours=colours, is_faint=False))


def read_site_groups(ca: Any, scene: Triplot, groups: Any, classes: Any) -> Grouping | None:
    """Read the groups, or classes, of the sites; None if there are none of both."""
    given, name = (classes, "classes") if groups is None else (groups, "groups")
    return None if given is None else read_groups(given, scene.sites["wa"].given, ca, name)


def place_triplot(
    scene: Triplot, index: list[int], map: str, kind: str, names: Sequence[str], by_mass: bool, with_constraints: bool
) -> DrawnTriplot:
    """Place everything that a triplot shows.

    Parameters
    ----------
    scene : Triplot
        What is shown.
    index : list of int
        The axes drawn, counted from 0.
    map : str
        How sites and species are scaled.
    kind : {"wa", "lc"}
        Which scores of the sites are drawn.
    names : sequence of str
        What sites and species are called.
    by_mass : bool
        Whether the areas of points are proportional to their masses.
    with_constraints : bool
        Whether arrows and centroids are drawn.
    """
    of_sites, of_species = check_map(map)
    s = scene.correlations[index]
    # Arrows and centroids have no mass: in maps with masses of sites they are drawn as for principal coordinates.
    plain: Scaling = "principal" if needs_mass(of_sites) else of_sites
    scale = find_scale_factor(plain, s)[0]
    sites = _place_cloud(scene.sites[kind], index, of_sites, s, by_mass, name=names[0], colour=GREY, marker="o")
    species = _place_cloud(scene.species, index, of_species, s, by_mass, name=names[1], colour=COLUMNS, marker="^")
    area = sites.area if by_mass else np.minimum(sites.area, SITE_AREA_POINTS)
    weight = SITE_WEIGHT * (sites.xy**2).sum(axis=1)
    sites = replace(sites, is_faint=True, area=area, weight=weight, font_size=SITE_NAME_POINTS)
    k, m = (len(scene.categories), len(scene.numbers)) if with_constraints else (0, 0)
    means, tips = (values[:n, index] * scale for values, n in ((scene.centroids, k), (scene.arrows, m)))
    curves = scene.curves if with_constraints else {}
    paths = [add_zero_height(path[:, index] * scale) for path in curves.values()]
    points = np.vstack([cloud.xy[:, : len(index)] for cloud in (sites, species)])
    factor = choose_arrow_factor(np.vstack([points, means]), tips, np.broadcast_to(scale, len(index)))
    is_arrow = np.linalg.norm(factor * tips, axis=1) > 1e-9 * max(np.abs(points).max(initial=0.0), 1e-300)
    ends, means = add_zero_height(factor * tips[is_arrow]), add_zero_height(means)
    named = to_object_array([*scene.numbers[:m][is_arrow], *curves])
    centroids = _name_constraints(scene.categories[:k], means, CENTROID_WEIGHT, CENTROID_AREA_POINTS, "X")
    return DrawnTriplot(
        sites,
        species,
        [centroids] if k else [],
        [means[line] for line in scene.lines] if k else [],
        _name_constraints(named, np.vstack([ends, *(path[-1:] for path in paths)]), TIP_WEIGHT, 4.0, "."),
        [np.vstack([np.zeros(2), end]) for end in ends],
        paths,
        factor,
    )


def _place_cloud(
    points: ScenePoints, index: list[int], scaling: Scaling, s: np.ndarray, by_mass: bool, **style: Any
) -> DrawnCloud:
    """Place the points of one side, which are named by their contributions to the plane."""
    standard, mass = points.places[:, index], points.mass
    assert mass is not None
    xy = add_zero_height(standard * find_scale_factor(scaling, s, mass))
    weight = mass * ((standard * s) ** 2).sum(axis=1)
    return DrawnCloud(points, xy=xy, area=choose_areas(mass, by_mass), weight=weight, is_principal=False, **style)


def _name_constraints(names: np.ndarray, xy: np.ndarray, weight: float, area: float, marker: str) -> DrawnCloud:
    """Make points with the names of constraints, in bold."""
    n = len(names)
    points = ScenePoints(xy, names, None, np.arange(n), n, n)
    rank = weight + np.linalg.norm(xy, axis=1)
    style: dict[str, Any] = {"colours": np.full(n, ROWS, dtype=object)}
    return DrawnCloud(
        points, "_", xy, np.full(n, area), rank, False, ROWS, marker, font_size=CONSTRAINT_NAME_POINTS, **style
    )


def choose_triplot_size(drawn: DrawnTriplot, n_axes: int) -> tuple[float, float]:
    """Choose the size of a figure, in inches, such that a plane with equal scales fills it."""
    if n_axes < 2:
        return 9.0, 3.0
    xy = np.vstack([*drawn.arrows, *drawn.paths, *(cloud.xy for cloud in drawn.clouds)])
    wide, high = np.maximum(np.ptp(xy, axis=0), 1e-9)
    return float(np.clip(5.8 * wide / high, 5.6, 8.4)) + 0.9, 6.5


def list_triplot_handles(drawn: DrawnTriplot, grouping: Grouping | None) -> list[Any]:
    """List what the legend shows besides sites and species."""
    style: dict[str, Any] = {"color": ROWS, "ls": "none"}
    handles = []
    if drawn.centroids:
        handles.append(Line2D([], [], marker="X", ms=6.5, label="categories", **style))
    if drawn.arrows or drawn.paths:
        handles.append(Line2D([], [], marker=r"$\rightarrow$", ms=11, label="numbers", **style))
    return handles + ([] if grouping is None else list_group_handles(grouping.legend))


def write_triplot_caption(
    scene: Triplot, drawn: DrawnTriplot, map: str, kind: str, index: list[int], notes: Sequence[str]
) -> str:
    """Write what the marks are, how they are scaled, and more."""
    parts = [f"{drawn.sites.name} at {SITES[kind].format(species=drawn.species.name)}"]
    if scene.given:
        parts.append(f"without what {list_names(scene.given, 3)} explains")
    if map in SCALING_WORDS:
        parts.append(SCALING_WORDS[map])
    if drawn.arrows:
        parts.append(f"arrows are biplot scores times {drawn.factor:g}, and point to where numbers are high")
    if drawn.paths:
        parts.append("paths go from low to high numbers")
    if drawn.centroids:
        joined = ", joined in their order" if drawn.lines else ""
        parts.append(f"categories at the mean of their {drawn.sites.name}{joined}")
    free = [scene.axes[i] for i in index if i >= scene.n_constrained]
    if free and scene.n_constrained:
        parts.append(f"the constraints say nothing about {' and '.join(free)}")
    text = "; ".join([*parts, *notes])
    return text[:1].upper() + text[1:]
