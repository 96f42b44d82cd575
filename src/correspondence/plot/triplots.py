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
from correspondence.plot.column_marks import draw_number, sample_lines
from correspondence.plot.drawn_clouds import DrawnCloud, add_zero_height, choose_areas, size_clouds
from correspondence.plot.group_names import share_names
from correspondence.plot.groups import (
    check_ellipses,
    draw_group_shapes,
    fit_ellipses,
    list_group_handles,
    list_group_notes,
    make_drawn_groups,
    split_ellipses,
)
from correspondence.plot.label_choice import LabelChoice, check_sides, read_labels
from correspondence.plot.labels import write_labels
from correspondence.plot.layout import arrange_plane
from correspondence.plot.legends import collect_legend
from correspondence.plot.number_colours import colour_sides_by_numbers, draw_colour_bar, note_numbers, read_colour
from correspondence.plot.plane_parts import choose_opacity, draw_cloud, draw_cross, label_axes
from correspondence.plot.style import make_axes
from correspondence.scene.colours import COLUMNS, GREY, ROWS
from correspondence.scene.groups import Grouping, read_groups
from correspondence.scene.measures import measure_points
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

    def list_shown(self, with_sites: bool, with_species: bool) -> list[DrawnCloud]:
        """List the points that are drawn, in their order."""
        sides = ((self.sites, with_sites), (self.species, with_species))
        return [*(cloud for cloud, is_shown in sides if is_shown), *self.centroids]

    def choose_written(self, choice: LabelChoice, shown: Sequence[DrawnCloud]) -> list[DrawnCloud]:
        """Choose whose labels are written; sites by default only if they are few, or listed."""
        wanted = set(map(str, choice.listed or []))
        is_named = (
            len(self.sites.xy) <= MAX_NAMED_SITES
            or choice.sides == "rows"
            or any(str(label) in wanted for label in self.sites.labels)
        )
        sites = [self.sites] if is_named and self.sites in shown else []
        of_sides = choice.take(sites, [self.species] if self.species in shown else [])
        return of_sides if choice.sides == "none" else [*of_sides, *self.centroids, self.tips]


def draw_triplot(
    ca: Any,
    axes: tuple[int | str, int | str],
    map: str | None,
    ax: Axes | None,
    *,
    sites: str,
    rows: bool,
    columns: bool,
    size: str | None,
    colour: Any,
    ellipses: Any,
    ellipses_of: Sequence[Any] | None,
    hulls: bool | float,
    level: float,
    labels: Any,
    max_labels: int,
    names: Sequence[str] | None,
    groups: Any,
    classes: Any,
    variables: bool | None,
) -> Axes:
    """Draw the triplot of a constrained analysis; the parameters are those of `plane`."""
    scene = make_triplot(ca)
    index = scene.check_axes(axes)
    check_whole(max_labels, "max_labels", 0)
    check_sides(rows, columns)
    if variables is not None:
        check_flag(variables, "variables")
    choice, numbers = read_labels(labels), read_colour(colour, (rows, columns), groups, classes)
    map = TRIPLOT_MAP if map is None else map
    called = check_names(("sites", "species") if names is None else names)
    grouping = read_site_groups(ca, scene, groups, classes)
    if split_ellipses(ellipses)[0] is not None:
        raise ValueError("ellipses must be those of groups for an analysis with constraints, not of a bootstrap.")
    share = check_ellipses(ellipses, hulls, len(index), grouping is not None)
    drawn = place_triplot(scene, index, map, check_sites(sites), called, size, variables is not False)
    drawn = colour_sites(drawn, grouping)
    (of_sites, of_species), scale = colour_sides_by_numbers((drawn.sites, drawn.species), numbers)
    drawn = replace(drawn, sites=of_sites, species=of_species)
    drawn_groups = None
    if grouping is not None and (groups is not None or ellipses is not None or share):
        is_named = groups is not None
        drawn_groups = make_drawn_groups(
            drawn.sites, grouping, ellipses, level, share, is_named=is_named, ellipses_of=ellipses_of
        )
    means = [] if drawn_groups is None else drawn_groups.marks
    if means and drawn.centroids:  # a category at the mean of the group of the same name is named once
        left, shared = share_names(means[0], drawn.centroids, [scene.answers])
        drawn, means = replace(drawn, centroids=shared), [left] if len(left.xy) else []
    shown = drawn.list_shown(rows, columns)
    written = drawn.choose_written(choice, shown)
    is_own_figure, ax = ax is None, make_axes(ax, choose_triplot_size(drawn, len(index)))
    draw_cross(ax)
    draw_group_shapes(ax, drawn_groups)
    for cloud in [*shown, *means]:
        draw_cloud(ax, cloud, choose_opacity(size, numbers is not None), is_above=cloud is not drawn.sites)
    large = fit_ellipses(ax, drawn_groups)
    lines = draw_constraints(ax, drawn)
    label_axes(ax, [scene.write_axis_title(i) for i in index])
    draw_colour_bar(ax, scale, numbers)
    clouds = [cloud if cloud in written else cloud.forget_labels() for cloud in shown]
    written = [*written, *means]
    clouds += [drawn.tips, *means]
    placing = write_labels(ax, clouds, written, max_labels, choice, lines, (), LABEL_REACH_POINTS)
    notes = [*list_triplot_notes(scene, drawn, map, sites, index), *list_group_notes(drawn_groups, large)]
    notes += note_numbers(numbers, shown)
    arrange_plane(ax, collect_legend(ax, list_triplot_handles(drawn, grouping)), notes, placing, is_own_figure)
    return ax


def draw_constraints(ax: Axes, drawn: DrawnTriplot) -> np.ndarray:
    """Draw what the constraints are, and return points of the lines, which no label may cover."""
    for line in drawn.lines:
        ax.plot(line[:, 0], line[:, 1], color=ROWS, lw=1.1, alpha=0.65, zorder=2.2, gid="ordered")
    for line in drawn.arrows + drawn.paths:
        draw_number(ax, line, ROWS)
    return np.vstack([sample_lines(drawn.arrows, N_ARROW_POINTS), sample_lines(drawn.paths)])


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
    scene: Triplot,
    index: list[int],
    map: str,
    kind: str,
    names: Sequence[str],
    size: str | None,
    with_constraints: bool,
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
    size : str or None
        What the areas of points are proportional to, on each side for itself.
    with_constraints : bool
        Whether arrows and centroids are drawn.
    """
    of_sites, of_species = check_map(map)
    s = scene.correlations[index]
    # Arrows and centroids have no mass: in maps with masses of sites they are drawn as for principal coordinates.
    plain: Scaling = "principal" if needs_mass(of_sites) else of_sites
    scale = find_scale_factor(plain, s)[0]
    whole = scene.correlations
    sites = _place_cloud(scene.sites[kind], index, of_sites, whole, name=names[0], colour=GREY, marker="o")
    species = _place_cloud(scene.species, index, of_species, whole, name=names[1], colour=COLUMNS, marker="^")
    weight = SITE_WEIGHT * (sites.xy**2).sum(axis=1)
    area = np.minimum(sites.area, SITE_AREA_POINTS)
    (sites,), (species,) = size_clouds([replace(sites, area=area)], size), size_clouds([species], size)
    sites = replace(sites, is_faint=True, weight=weight, font_size=SITE_NAME_POINTS)
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
    points: ScenePoints, index: list[int], scaling: Scaling, correlations: np.ndarray, **style: Any
) -> DrawnCloud:
    """Place the points of one side, which are named by their contributions to the plane."""
    xy = add_zero_height(points.places[:, index] * find_scale_factor(scaling, correlations[index], points.mass))
    measures = measure_points(points, correlations, index)
    area, weight = choose_areas(len(xy)), measures["contribution"]
    return DrawnCloud(points, xy=xy, area=area, weight=weight, is_principal=False, measures=measures, **style)


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


def list_triplot_notes(scene: Triplot, drawn: DrawnTriplot, map: str, kind: str, index: list[int]) -> list[str]:
    """Say what the marks are, and how they are scaled."""
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
    return parts
