"""The factoring plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from correspondence._util.arguments import check_flag, check_whole
from correspondence._util.text import one_line
from correspondence.core.asymmetric import find_asymmetric
from correspondence.core.decomposition import Decomposition, as_decomposition
from correspondence.data.beside_given import match_given
from correspondence.plot.column_marks import SideColumns, draw_numbers, find_side_columns, write_caption
from correspondence.plot.drawn_clouds import (
    DrawnCloud,
    colour_by_class,
    colour_by_group,
    make_marks,
    make_sides,
    place_supplementary,
)
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
from correspondence.plot.many_columns import (
    LABEL_REACH_POINTS,
    choose_figure_size,
    draw_answer_ellipses,
    draw_column_lines,
    is_long_legend,
    list_column_handles,
    make_drawn_columns,
    write_columns_caption,
)
from correspondence.plot.overlays import draw_boundaries, draw_confusing, draw_orders
from correspondence.plot.plane_parts import add_legend, draw_cloud, draw_cross, label_axes, list_axis_titles
from correspondence.plot.response_planes import draw_response_plane
from correspondence.plot.spreads import add_ellipses, pair_with_ellipses
from correspondence.plot.style import make_axes
from correspondence.plot.triplots import draw_triplot
from correspondence.results.points import Bootstrap, Points
from correspondence.scene.classes import Scene, describe_faithfulness, make_scene
from correspondence.scene.groups import Grouping, find_row_weights, read_groups, read_row_groups
from correspondence.scene.many_columns import check_unused, has_many_columns, make_columns_scene
from correspondence.scene.points import check_axes, check_map, check_names, find_scale_factor
from correspondence.scene.triplot import is_constrained

__all__ = ["plane"]


def plane(
    d_or_est: Any,
    axes: tuple[Any, Any] = (1, 2),
    map: str | None = None,
    ax: Axes | None = None,
    *,
    sites: str = "wa",
    size_by_mass: bool = False,
    ellipses: Bootstrap | str | None = None,
    hulls: bool | float = False,
    level: float = 0.95,
    supplementary: Points | list[Points] | tuple[Points, ...] = (),
    labels: str = "both",
    max_labels: int = 80,
    names: Sequence[str] | None = None,
    X: Any = None,
    Y: Any = None,
    groups: Any = None,
    classes: Any = None,
    columns: bool | None = None,
    marks: tuple[Sequence[Any], Any] | None = None,
    boundaries: bool | Sequence[tuple[Any, Any]] = False,
    confusing: Any = None,
    thumbnails: Any = False,
    given: Any = None,
) -> Axes:
    """Draw the factoring plane: x and y, or rows and columns, as points of the same picture.

    The columns of a frame X or Y are drawn over its rows, which become a faint cloud: each category, or word of a text,
    at the mean of its rows, and each number as an arrow, or as a path where it bends. An arrow has the direction of
    the correlations of the column's ranks with the axes, and ends where rows two standard deviations above the mean
    lie on average. A path goes through the means of the rows of ten quantile bins, from the lowest to the highest.

    Of an analysis of many columns, such as `MCA`, the answers of each variable have a colour and a marker, and a line
    joins those of an ordered one; rows are faint dots, of very many a density; numbers are arrows as above, or the
    paths of smooth functions; hollow markers and dashed arrows took no part in the fit. With groups, thin lines lead
    from up to 40 rows to where each group sees them.

    Of a `CA` with a response, it is the biplot: predictors in principal coordinates, and arrows of the response, all
    multiplied by one number that the caption tells. The projection of a predictor on an arrow shows how far the
    probability of that response is above or below the overall one.

    Of a `CA` with constraints, it is the triplot: faint sites, species, arrows of numbers (biplot scores, all
    multiplied by one number that the caption tells) and categories at the mean of their sites. Its axes are the
    constrained ones, CCA1, ..., and after them the unconstrained ones, CA1, ....

    Parameters
    ----------
    d_or_est : Decomposition or fitted estimator
        A decomposition of two discrete variables is drawn as it is. For other variables, pass the values to draw as X
        (and Y, unless Y is a column of labels).
    axes : (int, int)
        Draw these components, counted from 1. If there is only one, the points lie on a line. Axes of a triplot may be
        given by their names, such as ("CCA1", "CA1").
    map : str, optional
        How the two sides are scaled. "symmetric", the default, has both in principal coordinates: rows may be compared
        with rows and columns with columns, but the distance of a row from a column means nothing. "rowprincipal" and
        "colprincipal" have one side in standard coordinates; "rowgab", "colgab", "rowgreen" and "colgreen" have it
        multiplied by the mass or its root, and "symbiplot" shares the singular values out: in these, the projection
        of a row on the direction of a column shows how far the cell is above or below independence. With a response the
        maps with masses have no meaning, and the default has the predictor in principal coordinates. For a triplot the
        default is "colprincipal"; "rowprincipal", "colprincipal" and "symbiplot" are what ``CA.scores`` calls the
        scalings "sites", "species" and "symmetric".
    ax : Axes, optional
        Draw on these axes instead of new ones. The legend stands above their left end, so a title is best set with
        ``loc="right"``.
    sites : {"wa", "lc"}
        Draw the sites of a triplot as weighted averages of their species, or as linear combinations of the constraints.
    size_by_mass : bool
        Make the area of a point proportional to its mass, on each side for itself.
    ellipses : {"confidence", "concentration"} or Bootstrap, optional
        Draw an ellipse of each group that holds its mean ("confidence", by Hotelling's test) or its members
        ("concentration", if they are normal); groups of one or two have none. Or draw the confidence ellipses, which
        `bootstrap` of the estimator returned, of labels in principal coordinates.
    hulls : bool or float
        Draw the convex hull of each group, or of this share of its members, those nearest to its mean.
    level : float
        Draw ellipses at this level.
    supplementary : Points or list of Points
        Draw what ``CA.supplementary`` returned, in principal coordinates.
    labels : {"both", "rows", "columns", "none"}
        Write the labels of these sides, besides those of supplementary points and marks.
    max_labels : int
        Write at most this many labels, those that contribute most first, and none over another. They find
        their places when the picture is drawn, and again when it is zoomed or resized.
    names : (str, str) or (str, str, str), optional
        The legend calls the two sides, and marks, by these names; by default rows and columns, and for a
        `ClassifierCA` inputs and classes.
    X, Y : array-like, optional
        Draw these values at f(x) and g(y), as small points unless they are labels. They are needed for functions of
        anything but labels. Of many columns, X are other rows than those of the fit.
    groups : array-like, series or fitted Clusters, optional
        Colour the points of X (rows) by these groups, one label for each, and name each group at its mean. Many
        different numbers are put into ranges; points without a group are grey and counted. Of many columns, labels
        for all rows that were given to the fit will do. Rows count by their masses, or by their weights in the fit.
    classes : array-like, optional
        The same as `groups`, an earlier name for colours alone: means are not named. By default a `ClassifierCA` gives
        the class that it predicts.
    columns : bool, optional
        Draw the columns of X and Y, or the constraints of a triplot; by default those that have names. The caption
        counts those that lie near the centre or have few rows, and are not drawn.
    marks : (labels, X), optional
        Draw more values of x, each with a label that is written.
    boundaries : bool or list of (label, label)
        For a `ClassifierCA`, draw lines on which two classes are equally likely and no other is more likely, for these
        pairs of classes, or for all (of many classes, the ten pairs most confused). With up to three classes they are
        exact; with more they are projections of `ClassifierCA.boundary`, dashed in the colours of both classes, and
        inputs may lie on the other side.
    confusing : array-like or Confusing, optional
        For a `ClassifierCA`, ring the twelve most ambiguous of these inputs, or those that ``ClassifierCA.confusing``
        returned (then X is needed as well). Without X, the inputs given here are drawn.
    thumbnails : bool or array-like
        Show the confusing inputs, which then must be images, beside their points; or show these images, one for each
        input.
    given : array-like or frame, optional
        The given variables of the rows of X and Y, if there were some in the fit: what is left of x and y is drawn.

    Returns
    -------
    Axes
        The axes with the plane.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA().fit(co.datasets.load_smoke())
    >>> ax = co.plot.plane(ca, map="rowprincipal")
    >>> ax.get_xlabel()
    'Axis 1: PIC 0.0748, 87.8 % of inertia'
    >>> survey = co.datasets.load_poison()
    >>> mca = co.MCA().fit(survey, supplementary=["Age", "Time", "Sick", "Sex"])
    >>> ax = co.plot.plane(mca, groups=survey["Sick"], ellipses="confidence")
    """
    if groups is not None and classes is not None:
        raise ValueError("classes must be left out where groups are given: both colour the points of X.")
    options: dict[str, Any] = {"sites": sites, "size_by_mass": size_by_mass, "ellipses": ellipses, "hulls": hulls}
    options |= {"level": level, "supplementary": supplementary, "labels": labels, "max_labels": max_labels}
    options |= {"names": names, "X": X, "Y": Y, "groups": groups, "classes": classes, "columns": columns}
    options |= {"marks": marks, "boundaries": boundaries, "confusing": confusing, "thumbnails": thumbnails}
    options["given"] = given
    draw, shown = choose_drawing(d_or_est)
    return draw(d_or_est, axes, map, ax, **choose_options(draw, shown, options))


def choose_drawing(d_or_est: Any) -> tuple[Callable[..., Axes], str]:
    """Choose the function that draws the plane of an analysis, and say what kind of analysis that is."""
    if is_constrained(d_or_est):
        return draw_triplot, "an analysis with constraints"
    if find_asymmetric(d_or_est) is not None:
        return draw_response_plane, "an analysis with a response"
    if has_many_columns(d_or_est):
        return draw_columns_plane, "an analysis of many columns"
    return draw_pairs_plane, "an analysis without constraints"


def choose_options(draw: Callable[..., Axes], shown: str, options: dict[str, Any]) -> dict[str, Any]:
    """Choose the options of `plane` that a drawing takes; others must be as by default, or empty."""
    taken, defaults = signature(draw).parameters, plane.__kwdefaults__ or {}
    unused = {name: value for name, value in options.items() if name not in taken}
    check_unused({name: None if _is_unset(value, defaults[name]) else value for name, value in unused.items()}, shown)
    return {name: value for name, value in options.items() if name in taken}


def _is_unset(value: Any, default: Any) -> bool:
    is_empty = isinstance(value, list | tuple) and not value
    return value is default or is_empty or (isinstance(value, str | bool) and value == default)


def draw_pairs_plane(
    d_or_est: Any,
    axes: tuple[int, int],
    map: str | None,
    ax: Axes | None,
    *,
    size_by_mass: bool,
    ellipses: Bootstrap | str | None,
    hulls: bool | float,
    level: float,
    supplementary: Any,
    labels: str,
    max_labels: int,
    names: Sequence[str] | None,
    X: Any,
    Y: Any,
    groups: Any,
    classes: Any,
    columns: bool | None,
    marks: tuple[Sequence[Any], Any] | None,
    boundaries: bool | Sequence[tuple[Any, Any]],
    confusing: Any,
    thumbnails: Any,
    given: Any,
) -> Axes:
    """Draw the plane of two variables; the parameters are those of `plane`."""
    map = "symmetric" if map is None else map
    seen = make_scene(d_or_est, X, classes, confusing, thumbnails)
    d = as_decomposition(seen.est)
    index = check_axes(d, axes)
    called = check_names(seen.names if names is None else names)
    sides = make_sides(d, index, map, called, size_by_mass, *_put_given(d, seen.X, Y, given))
    bootstrap, kind = split_ellipses(ellipses)
    sides, grouping, handles = colour_sides(sides, seen, groups, has_shapes=kind is not None or bool(hulls))
    share = check_ellipses(ellipses, hulls, len(index), grouping is not None)
    told = []
    if grouping is not None:
        is_named = groups is not None and not set(grouping.names) <= {str(label) for label in sides[1].labels}
        told = [make_drawn_groups(sides[0], grouping, kind, level, share, is_named=is_named)]
    sides, described = add_columns(d, sides, (X, Y), map, index, columns)
    if described and names is None and seen.names == ("rows", "columns"):
        sides = (replace(sides[0], name="X"), replace(sides[1], name="Y"))
    spreads = [] if bootstrap is None else pair_with_ellipses(sides, bootstrap, axes[: len(index)], level)
    passive = supplementary if isinstance(supplementary, list | tuple) else [supplementary]
    placed = [place_supplementary(points, index, is_first=i == 0) for i, points in enumerate(passive)]
    if marks is not None:  # which are inputs, not beliefs
        placed.append(make_marks(as_decomposition(d_or_est), marks, index, map, called[2]))
    means = [marks for own in told for marks in own.marks]
    written = [*means, *_choose_labelled_sides(sides, described, labels), *placed]
    check_whole(max_labels, "max_labels", 0)
    clouds = [*sides, *(side.categories for side in described), *placed, *means]
    ax = make_axes(ax, (8, 6.5) if len(index) == 2 else (8, 2.5))
    draw_cross(ax)
    for own in told:
        draw_group_shapes(ax, own)
    for cloud in clouds:
        is_above = (bool(described) and not cloud.is_faint) or cloud in means
        draw_cloud(ax, cloud, alpha=0.45 if size_by_mass else 0.9, is_above=is_above)
    large = [name for own in told for name in fit_ellipses(ax, own)]
    for cloud, spread in spreads:
        add_ellipses(ax, cloud, spread)
    numbers = [draw_numbers(ax, side) for side in described]
    edges, pictures = _draw_classifier_parts(ax, seen, boundaries, index, map)
    lines = np.vstack([np.empty((0, 2)), *numbers, *edges])
    label_axes(ax, list_axis_titles(d_or_est, index))
    add_legend(ax, handles)
    named = [*clouds, *(side.tips for side in described)]
    placing = write_labels(ax, named, written, max_labels, pictures, lines)
    notes = [note for own in told for note in own.notes] + note_large_ellipses(large) + draw_orders(ax, d_or_est, sides)
    faithfulness = describe_faithfulness(seen, index)
    write_caption(ax, described, [*([faithfulness] if faithfulness else []), *notes, *seen.notes])
    tell_unnamed(placing, ax, sum(len(marks.xy) for marks in means))
    return ax


def _draw_classifier_parts(
    ax: Axes, seen: Scene, boundaries: Any, index: list[int], map: str
) -> tuple[list[np.ndarray], list[Any]]:
    """Draw boundaries and confusing inputs; return points of the lines, and the pictures that lie beside points."""
    if boundaries is False and seen.confusing is None:
        return [], []
    # They are lines and points of inputs, which have no masses.
    factor = find_scale_factor(check_map(map)[0], as_decomposition(seen.est).correlations[index])
    edges = [] if boundaries is False else [draw_boundaries(ax, seen.est, boundaries, index, factor)]
    return edges, draw_confusing(ax, seen, index, factor)


def _put_given(d: Decomposition, X: Any, Y: Any, given: Any) -> tuple[Any, Any]:
    """Put given variables beside the values to draw."""
    if d.f.needs_given and (X is None or Y is None):
        raise ValueError("X and Y must both be given, with the given variables of the same rows.")
    return match_given(X, Y, given, is_needed=d.f.needs_given)


def colour_sides(
    sides: tuple[DrawnCloud, DrawnCloud], seen: Scene, groups: Any, has_shapes: bool
) -> tuple[tuple[DrawnCloud, DrawnCloud], Grouping | None, list[Any]]:
    """Colour the points of x by groups or classes; return the groups, and what the legend shows of them."""
    n = sides[0].points.given
    if groups is not None:
        grouping = read_groups(groups, n, seen.est)
        is_written = set(grouping.legend) <= {str(label) for label in sides[1].labels}
        return colour_by_group(sides, grouping), grouping, [] if is_written else list_group_handles(grouping.legend)
    if seen.classes is None:
        return sides, None, []
    sides = colour_by_class(sides, seen.classes, seen.colours)
    of_classes = read_groups(seen.classes, n, seen.est, "classes") if has_shapes else None
    return sides, of_classes, _make_class_handles(sides, seen.colours)


def draw_columns_plane(
    est: Any,
    axes: Any,
    map: str | None,
    ax: Axes | None,
    *,
    size_by_mass: bool,
    ellipses: Any,
    hulls: bool | float,
    level: float,
    supplementary: Any,
    labels: str,
    max_labels: int,
    names: Sequence[str] | None,
    X: Any,
    groups: Any,
    classes: Any,
) -> Axes:
    """Draw the plane of an analysis of many columns; the parameters are those of `plane`."""
    map = "symmetric" if map is None else map
    index = check_axes(as_decomposition(est), axes)
    check_whole(max_labels, "max_labels", 0)
    scene = make_columns_scene(est, X)
    passive = list(supplementary) if isinstance(supplementary, list | tuple) else [supplementary]
    grouping = read_row_groups(est, scene, groups, classes)
    bootstrap, kind = split_ellipses(ellipses)
    share = check_ellipses(ellipses, hulls, len(index), grouping is not None)
    drawn = make_drawn_columns(scene, est.inertias_, index, map, size_by_mass, grouping, passive)
    if names is not None:
        drawn = drawn.rename_rows(check_names(names)[0])
    written = drawn.choose_written(labels, scene.has_row_names)
    if drawn.rows and drawn.rows[0] not in written:
        drawn = drawn.leave_rows_nameless()
    told = []
    if grouping is not None and (groups is not None or kind is not None or share):
        weights = find_row_weights(est, scene)
        told = [make_drawn_groups(drawn.rows[0], grouping, kind, level, share, weights, is_named=groups is not None)]
    means = [marks for own in told for marks in own.marks]
    n_names = sum(len(marks.xy) for marks in means)
    if means and drawn.answers and drawn.answers[0] in written:
        answers = np.array(scene.answers.answers, dtype=object) if scene.answers else np.empty(0, object)
        left, shared = share_names(means[0], drawn.answers, [answers[cloud.points.rows] for cloud in drawn.answers])
        written = [*(cloud for cloud in written if cloud not in drawn.answers), *shared]
        drawn, means = replace(drawn, answers=shared), [left] if len(left.xy) else []
    ax = make_axes(ax, choose_figure_size(drawn, len(index)))
    draw_cross(ax)
    for own in told:
        draw_group_shapes(ax, own)
    for cloud in [*drawn.clouds, *means]:
        draw_cloud(ax, cloud, alpha=0.45 if size_by_mass else 0.9, is_above=not cloud.is_faint)
    large = [name for own in told for name in fit_ellipses(ax, own)]
    if bootstrap is not None:
        draw_answer_ellipses(ax, drawn, bootstrap, axes[: len(index)], level, len(est.columns_))
    lines = draw_column_lines(ax, drawn)
    label_axes(ax, list_axis_titles(est, index))
    add_legend(ax, list_column_handles(drawn), is_beside=is_long_legend(drawn, len(index)))
    clouds = [*drawn.clouds, drawn.tips, *means]
    placing = write_labels(ax, clouds, [*written, *means], max_labels, [], lines, LABEL_REACH_POINTS)
    notes = [note for own in told for note in own.notes] + note_large_ellipses(large)
    write_columns_caption(ax, scene, drawn, notes)
    tell_unnamed(placing, ax, n_names)
    return ax


def add_columns(
    d: Decomposition,
    sides: tuple[DrawnCloud, DrawnCloud],
    data: tuple[Any, Any],
    map: str,
    index: list[int],
    columns: bool | None,
) -> tuple[tuple[DrawnCloud, DrawnCloud], list[SideColumns]]:
    """Find what is drawn of the columns of both sides, and make the rows of sides that have some a background."""
    if columns is not None:
        check_flag(columns, "columns")
    if columns is False:
        return sides, []
    found = [
        find_side_columns(functions, rows, values, scaling, d.correlations[index], index, bool(columns))
        for functions, rows, values, scaling in zip((d.f, d.g), sides, data, check_map(map), strict=True)
    ]
    x, y = (rows if side is None else side.rows for rows, side in zip(sides, found, strict=True))
    return (x, y), [side for side in found if side is not None]


def _make_class_handles(sides: tuple[DrawnCloud, DrawnCloud], colour: dict[Any, str]) -> list[Patch]:
    """Make a legend of the classes, unless they are written in the picture."""
    if set(colour) <= set(sides[1].labels) or len(colour) > 20:
        return []
    return [Patch(color=value, label=one_line(name)) for name, value in colour.items()]


def _choose_labelled_sides(
    sides: tuple[DrawnCloud, DrawnCloud], described: list[SideColumns], labels: str
) -> list[DrawnCloud]:
    x, y = ([rows, *_list_column_clouds(rows, described)] for rows in sides)
    chosen: dict[str, list[DrawnCloud]] = {"both": [*x, *y], "rows": x, "columns": y, "none": []}
    if not isinstance(labels, str) or labels not in chosen:
        raise ValueError(f'labels must be "both", "rows", "columns" or "none", got {labels!r}.')
    return chosen[labels]


def _list_column_clouds(rows: DrawnCloud, described: list[SideColumns]) -> list[DrawnCloud]:
    """List the marks of the columns of a side, which has its marker."""
    return [cloud for side in described if side.rows.marker == rows.marker for cloud in (side.categories, side.tips)]
