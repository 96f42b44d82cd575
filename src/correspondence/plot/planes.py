"""The factoring plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes

from correspondence.core.asymmetric import find_asymmetric
from correspondence.plot.columns_planes import draw_columns_plane
from correspondence.plot.pair_planes import draw_pairs_plane
from correspondence.plot.response_planes import draw_response_plane
from correspondence.plot.style import discard_new_figures
from correspondence.plot.triplots import draw_triplot
from correspondence.results.points import Bootstrap, Points
from correspondence.scene.many_columns import has_many_columns
from correspondence.scene.options import choose_options
from correspondence.scene.triplot import is_constrained

__all__ = ["plane"]


def plane(
    d_or_est: Any,
    axes: tuple[Any, Any] = (1, 2),
    map: str | None = None,
    ax: Axes | None = None,
    *,
    sites: str = "wa",
    rows: bool = True,
    columns: bool = True,
    variables: bool | None = None,
    labels: str | int | Sequence[Any] = "both",
    max_labels: int = 80,
    size: str | None = None,
    colour: Any = None,
    arrows: str | None = None,
    ellipses: Bootstrap | str | None = None,
    ellipses_of: Sequence[Any] | None = None,
    hulls: bool | float = False,
    level: float = 0.95,
    supplementary: Points | list[Points] | tuple[Points, ...] = (),
    names: Sequence[str] | None = None,
    X: Any = None,
    Y: Any = None,
    groups: Any = None,
    classes: Any = None,
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
    rows, columns : bool
        Draw the rows, or the points of X; draw the columns, or the points of Y. What is False is not drawn at all: of
        many columns, ``columns=False`` leaves out answers and numbers, and groups of rows keep their shapes and names
        without them; of a triplot these are sites and species.
    variables : bool, optional
        Draw the columns of the frames X and Y, or the constraints of a triplot; by default those that have names. The
        caption counts those that lie near the centre or have few rows, and are not drawn.
    labels : {"both", "rows", "columns", "none", "contribution", "quality"}, list of labels, or int
        Write the labels of these sides, besides those of supplementary points and marks. Which labels find room first
        is decided by their contributions to the plane, or with "quality" by their cos2 there. A list writes just these
        labels, the first of them first. A number writes that many labels in all, of points and arrows: those that
        contribute most, after those of supplementary points and of arrows without contributions. The names of
        `groups` are written besides.
    max_labels : int
        Write at most this many labels, and none over another. They find their places when the picture is drawn, and
        again when it is zoomed or resized. A long label may be broken into lines or shortened. A label that does not
        touch its marker has a line to it, and the caption counts the labels that find no room.
    size : {"mass", "contribution"}, optional
        Make the area of a point proportional to its mass, or to its contribution to the plane, on each side for itself.
    colour : {"contribution", "quality", "mass"}, array-like or (array-like, array-like), optional
        Colour points by numbers, from dark to light, with a colour bar: by how much they matter in the plane (of many
        columns: the answers), by one number for each row or value of X, or by a pair of such lists for rows and
        columns, of which one may be None. Points without a number are grey and counted.
    arrows : {"rows", "columns", "both"}, optional
        Draw the points of these sides as arrows from the centre. In all maps but "symmetric" the projection of a point
        of the other side on an arrow, times its length, shows how far the cell is above or below independence.
    ellipses : {"confidence", "concentration"} or Bootstrap, optional
        Draw an ellipse of each group that holds its mean ("confidence", by Hotelling's test) or its members
        ("concentration", if they are normal); groups of one or two have none. Or draw the confidence ellipses, which
        `bootstrap` of the estimator returned, of labels in principal coordinates.
    ellipses_of : list of labels, optional
        Draw the ellipses of these points, or groups, only.
    hulls : bool or float
        Draw the convex hull of each group, or of this share of its members, those nearest to its mean.
    level : float
        Draw ellipses at this level.
    supplementary : Points or list of Points
        Draw what ``CA.supplementary`` returned, in principal coordinates.
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
    if ellipses_of is not None and ellipses is None:
        raise ValueError("ellipses_of must be left out without ellipses: it says which of them are drawn.")
    if isinstance(ellipses_of, str):
        raise ValueError(f"ellipses_of must be a list of labels, got {ellipses_of!r}. Put it into brackets.")
    options: dict[str, Any] = {"sites": sites, "rows": rows, "columns": columns, "variables": variables}
    options |= {"labels": labels, "max_labels": max_labels, "size": size, "colour": colour, "arrows": arrows}
    options |= {"ellipses": ellipses, "ellipses_of": ellipses_of, "hulls": hulls, "level": level, "names": names}
    options |= {"supplementary": supplementary, "X": X, "Y": Y, "groups": groups, "classes": classes, "marks": marks}
    options |= {"boundaries": boundaries, "confusing": confusing, "thumbnails": thumbnails, "given": given}
    draw, shown = choose_drawing(d_or_est)
    chosen = choose_options(draw, shown, options, plane.__kwdefaults__ or {})
    with discard_new_figures():
        return draw(d_or_est, axes, map, ax, **chosen)


def choose_drawing(d_or_est: Any) -> tuple[Callable[..., Axes], str]:
    """Choose the function that draws the plane of an analysis, and say what kind of analysis that is."""
    if is_constrained(d_or_est):
        return draw_triplot, "an analysis with constraints"
    if find_asymmetric(d_or_est) is not None:
        return draw_response_plane, "an analysis with a response"
    if has_many_columns(d_or_est):
        return draw_columns_plane, "an analysis of many columns"
    return draw_pairs_plane, "an analysis without constraints"
