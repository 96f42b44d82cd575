"""Groups of individuals drawn in a plane: ellipses and hulls behind the points, names at the means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse, Patch, Polygon

from correspondence._util.text import list_names, one_line, short_repr
from correspondence.plot.drawn_clouds import DrawnCloud
from correspondence.plot.hidden_ellipses import ELLIPSE_LINE
from correspondence.results.points import Bootstrap, Ellipses
from correspondence.scene.colours import darken_colour
from correspondence.scene.groups import (
    ELLIPSES,
    MIN_MEMBERS,
    Grouping,
    GroupShapes,
    check_hulls,
    scale_to_members,
    trace_groups,
)
from correspondence.scene.points import ScenePoints

__all__ = [
    "DrawnGroups",
    "check_ellipses",
    "draw_group_shapes",
    "fit_ellipses",
    "list_group_handles",
    "list_group_notes",
    "make_drawn_groups",
    "split_ellipses",
]

MAX_GROUPS_IN_LEGEND = 20
MEAN_AREA_POINTS, NAME_SIZE_POINTS = 55.0, 10.5
MEAN_WEIGHT = 1e12  # names of groups find room before all others
MAX_ELLIPSE_MARGIN = 0.5  # of the extent of the points, that ellipses may add to the plane
FILL_ALPHAS = {"ellipse": 0.14, "hull": 0.07}


def split_ellipses(ellipses: Any) -> tuple[Any, str | None]:
    """Tell the ellipses of a bootstrap from those of groups; one of both is None."""
    if ellipses is not None and not isinstance(ellipses, str | Bootstrap):
        raise TypeError(
            f'ellipses must be "confidence", "concentration" or what bootstrap returned, got {short_repr(ellipses)}.'
        )
    return (None, ellipses) if isinstance(ellipses, str) else (ellipses, None)


def check_ellipses(ellipses: Any, hulls: Any, n_axes: int, has_groups: bool) -> float:
    """Check what is asked for around groups, and return the share of the members that hulls are drawn around.

    Ellipses that are no text are those of a bootstrap, which are checked elsewhere.
    """
    share = check_hulls(hulls)
    if isinstance(ellipses, str) and ellipses not in ELLIPSES:
        raise ValueError(
            f'ellipses must be "confidence", "concentration" or what bootstrap returned, got {ellipses!r}.'
        )
    for name, is_wanted in (("ellipses", isinstance(ellipses, str)), ("hulls", bool(share))):
        if is_wanted and n_axes < 2:
            raise ValueError(f"{name} must be left out on only one axis, because they need a plane.")
        if is_wanted and not has_groups:
            raise ValueError(f"{name} must be those of groups: give groups, a label for each individual.")
    return share


@dataclass(frozen=True, eq=False)
class DrawnGroups:
    """Groups of a cloud, ready to be drawn.

    Attributes
    ----------
    grouping : Grouping
        The group of each individual given.
    shapes : GroupShapes
        Where the groups are.
    marks : list of DrawnCloud
        The marks at the means of groups, which have their names; none if the picture names the groups otherwise.
    notes : list of str
        What the shapes are, and which groups have none.
    chosen : list of int
        The positions of the groups whose shapes are drawn.
    """

    grouping: Grouping
    shapes: GroupShapes
    marks: list[DrawnCloud]
    notes: list[str]
    chosen: list[int]


def make_drawn_groups(
    cloud: DrawnCloud,
    grouping: Grouping,
    kind: str | None,
    level: float,
    hull_share: float,
    weights: np.ndarray | None = None,
    is_named: bool = True,
    ellipses_of: Sequence[Any] | None = None,
) -> DrawnGroups:
    """Make what is drawn of the groups of a cloud.

    Parameters
    ----------
    cloud : DrawnCloud
        The individuals where they are drawn.
    grouping : Grouping
        The group of each individual given.
    kind, level, hull_share
        The ellipses and hulls, as `correspondence.scene.groups.trace_groups` takes them.
    weights : ndarray, optional
        How many times each individual given counts; by default they count by their masses, if they have some.
    is_named : bool
        Whether names are written at the means.
    ellipses_of : sequence of labels, optional
        The names of the groups whose ellipses are drawn.
    """
    codes = grouping.codes[cloud.points.rows]
    if weights is not None:
        weights = weights[cloud.points.rows]
    elif cloud.points.mass is not None:
        weights = scale_to_members(cloud.points.mass, codes)
    style: dict[str, Any] = {"ellipses": kind, "level": level, "hull_share": hull_share}
    shapes = trace_groups(cloud.xy, codes, len(grouping.names), weights=weights, **style)
    marks = [make_mean_marks(grouping, shapes)] if is_named else []
    notes = write_group_notes(grouping, shapes, kind, level, hull_share)
    chosen = list(range(len(grouping.names)))
    if ellipses_of is not None and shapes.ellipses is not None:
        chosen = find_group_positions(grouping.names, ellipses_of)
    return DrawnGroups(grouping, shapes, marks, notes, chosen)


def find_group_positions(names: Sequence[str], wanted: Sequence[Any]) -> list[int]:
    """Find the positions of the groups whose ellipses are wanted."""
    unknown = [name for name in wanted if str(name) not in names]
    if unknown:
        raise ValueError(f"ellipses_of must be names of groups, got {list_names(unknown, 5)}.")
    return [names.index(str(name)) for name in wanted]


def draw_group_shapes(ax: Axes, drawn: DrawnGroups | None) -> None:
    """Draw the ellipses and hulls of groups, if there are some, behind the points, which set the limits."""
    if drawn is None:
        return
    for j in drawn.chosen:
        colour, hull = drawn.grouping.colours[j], drawn.shapes.hulls[j]
        if len(hull):
            ax.add_artist(Polygon(hull, fc=colour, alpha=FILL_ALPHAS["hull"], lw=0, zorder=0.6, gid="hull"))
            ax.add_artist(Polygon(hull, fc="none", ec=colour, lw=1.0, alpha=0.8, zorder=2.1, gid="hull line"))
        if drawn.shapes.ellipses is not None:
            _draw_ellipse(ax, colour, drawn.shapes.means[j], drawn.shapes.ellipses, j)


def _draw_ellipse(ax: Axes, colour: str, mean: np.ndarray, ellipses: Ellipses, j: int) -> None:
    if not np.isfinite(ellipses.width[j]):
        return
    size: dict[str, Any] = {
        "xy": tuple(mean),
        "width": ellipses.width[j],
        "height": ellipses.height[j],
        "angle": ellipses.angle[j],
    }
    fill: dict[str, Any] = {"fc": colour, "alpha": FILL_ALPHAS["ellipse"], "lw": 0, "zorder": 0.7, "gid": "ellipse"}
    line: dict[str, Any] = {"fc": "none", "ec": darken_colour(colour), "lw": 1.4, "zorder": 2.6, "gid": ELLIPSE_LINE}
    for style in (fill, line):
        ax.add_artist(Ellipse(**size, **style))


def fit_ellipses(ax: Axes, drawn: DrawnGroups | None) -> list[str]:
    """Make room for ellipses around the points drawn, up to a margin; name the groups whose ellipses need more."""
    if drawn is None or drawn.shapes.ellipses is None:
        return []
    ellipses = drawn.shapes.ellipses
    own = np.array([j for j in drawn.chosen if np.isfinite(ellipses.width[j])], dtype=int)
    if not len(own):
        return []
    wide, high, turn = ellipses.width[own] / 2, ellipses.height[own] / 2, np.radians(ellipses.angle[own])
    # The box around an ellipse: the extreme values of a cos(t) cos(turn) - b sin(t) sin(turn), and of its counterpart.
    half = np.column_stack(
        [np.hypot(wide * np.cos(turn), high * np.sin(turn)), np.hypot(wide * np.sin(turn), high * np.cos(turn))]
    )
    low, top = drawn.shapes.means[own] - half, drawn.shapes.means[own] + half
    room = MAX_ELLIPSE_MARGIN * np.max(ax.dataLim.size)
    least, most = ax.dataLim.min - room, ax.dataLim.max + room
    ax.update_datalim(np.clip(np.vstack([low, top]), least, most))
    ax.autoscale_view()
    is_large = ((low < least) | (top > most)).any(axis=1)
    return [drawn.grouping.names[j] for j in own[is_large].tolist()]


def list_group_notes(drawn: DrawnGroups | None, large: Sequence[str]) -> list[str]:
    """List what the shapes of groups are, if there are some, and whose ellipses reach beyond the picture."""
    notes = [] if drawn is None else drawn.notes
    cut = [f"larger than the cloud of points, and may be cut off: ellipse of {list_names(large, 5)}"] if large else []
    return [*notes, *cut]


def make_mean_marks(grouping: Grouping, shapes: GroupShapes) -> DrawnCloud:
    """Make the marks at the means of groups, whose names are written before all others."""
    known = np.flatnonzero(np.isfinite(shapes.means).all(axis=1))
    names = np.array([one_line(grouping.names[j]) for j in known], dtype=object)
    n, xy = len(known), shapes.means[known]
    points = ScenePoints(xy, names, None, known, n, n)
    area, weight = np.full(n, MEAN_AREA_POINTS), MEAN_WEIGHT + np.asarray(shapes.n_members[known], dtype=float)
    colours = np.array([darken_colour(grouping.colours[j]) for j in known], dtype=object)
    return DrawnCloud(
        points, "_", xy, area, weight, False, "0.1", "P", colours=colours, font_size=NAME_SIZE_POINTS, names_groups=True
    )


def list_group_handles(legend: dict[str, str]) -> list[Any]:
    """List the groups for a legend; of very many, which are named at their means, none."""
    if len(legend) > MAX_GROUPS_IN_LEGEND:
        return []
    names = [(one_line(name), colour) for name, colour in legend.items()]
    # matplotlib leaves out names that begin with an underscore
    return [Patch(color=colour, label=f" {name}" if name[:1] == "_" else name) for name, colour in names]


def write_group_notes(
    grouping: Grouping, shapes: GroupShapes, kind: str | None, level: float, share: float
) -> list[str]:
    """Write what the shapes are, and which groups have none."""
    percent = f"{100 * level:g} %"
    meant = {"confidence": f"ellipses hold the means of groups at {percent} confidence"}
    meant["concentration"] = f"ellipses hold {percent} of the members of a group, if these are normal"
    parts = [] if kind is None else [meant[kind]]
    if share:
        parts.append("hulls around all members" if share == 1 else f"hulls around the innermost {100 * share:g} %")
    small = [name for name, n in zip(grouping.names, shapes.n_members.tolist(), strict=True) if n < MIN_MEMBERS]
    if small and kind is not None:
        parts.append(f"no ellipse with fewer than {MIN_MEMBERS} members: {list_names(small, 5)}")
    if grouping.n_missing:
        parts.append(f"{grouping.n_missing:,} without a group are grey")
    return parts
