"""The circle of correlations: numbers as arrows, by their correlations with two axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from correspondence._util.arguments import check_whole
from correspondence._util.labels import to_object_array
from correspondence._util.text import one_line
from correspondence.core.decomposition import as_decomposition
from correspondence.plot.column_marks import draw_number, sample_lines
from correspondence.plot.drawn_clouds import DrawnCloud
from correspondence.plot.label_choice import LabelChoice
from correspondence.plot.labels import write_labels
from correspondence.plot.layout import arrange_plane
from correspondence.plot.legends import collect_legend
from correspondence.plot.many_columns import choose_number_colours
from correspondence.plot.plane_parts import draw_cross
from correspondence.plot.style import make_axes
from correspondence.results.points import SupplementaryNumbers
from correspondence.scene.colours import GREY, list_variable_colours
from correspondence.scene.many_columns import NumberArrows, find_numbers, has_many_columns, write_axis_title
from correspondence.scene.points import ScenePoints, check_axes

__all__ = ["correlation_circle"]

MAX_ARROWS = 60


def correlation_circle(
    est: Any,
    axes: tuple[int, int] = (1, 2),
    ax: Axes | None = None,
    *,
    numbers: SupplementaryNumbers | None = None,
    max_labels: int = 80,
) -> Axes:
    """Draw numbers as arrows to their correlations with two axes, within the circle that they cannot leave.

    An arrow that reaches the circle belongs to a number that the plane shows wholly; two long arrows in the same
    direction belong to numbers that are correlated. Numbers that took no part in the fit are dashed.

    Parameters
    ----------
    est : fitted estimator
        An analysis of many columns, or a `CA` with `numbers`.
    axes : (int, int)
        Draw the correlations with these two axes, counted from 1.
    ax : Axes, optional
        Draw on these axes instead of new ones.
    numbers : SupplementaryNumbers, optional
        Draw these numbers too, as `supplementary` returned them.
    max_labels : int
        Write at most this many names, those of the longest arrows first.

    Returns
    -------
    Axes
        The axes with the circle.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA(n_components=2).fit(co.datasets.load_smoke())
    >>> ax = co.plot.correlation_circle(ca, numbers=ca.supplementary(numbers=[51, 38, 49, 33, 29]))
    >>> ax.get_xlabel()
    'Axis 1'
    """
    d = as_decomposition(est)
    index = check_axes(d, axes)
    if len(index) < 2:
        raise ValueError("axes must be two components for a circle, but there is only one. Fit more n_components.")
    check_whole(max_labels, "max_labels", 0)
    arrows = collect_arrows(est, numbers, d.n_components)
    drawn = arrows.choose(index, 0.0, MAX_ARROWS)
    ax = make_axes(ax, (6.2, 6.2))
    draw_cross(ax)
    ax.add_patch(Circle((0, 0), 1, fc="none", ec="0.6", lw=1))
    tips = drawn.correlations[:, index]
    colours = choose_number_colours(drawn, len(getattr(est, "groups", None) or ()))
    lines = [np.vstack([np.zeros(2), tip]) for tip in tips]
    for line, colour, passive in zip(lines, colours, drawn.is_supplementary.tolist(), strict=True):
        draw_number(ax, line, colour, is_dashed=passive)
    ax.set(xlim=(-1.12, 1.12), ylim=(-1.12, 1.12), aspect="equal")
    titles = [write_axis_title(est, i) if has_many_columns(est) else f"Axis {i + 1}" for i in index]
    ax.set(xlabel=titles[0], ylabel=titles[1])
    cloud = _make_tips(drawn, tips, colours)
    placing = write_labels(ax, [cloud], [cloud], max_labels, LabelChoice(), sample_lines(lines))
    n_hidden = len(arrows) - len(drawn)
    notes = [f"not drawn, with the smallest correlations or none: {n_hidden:,} numbers"] if n_hidden else []
    arrange_plane(ax, collect_legend(ax, list_arrow_handles(est, drawn)), notes, placing)
    return ax


def collect_arrows(est: Any, numbers: Any, d: int) -> NumberArrows:
    """Collect the numbers of an analysis, and those given."""
    own = find_numbers(est, d)
    if numbers is not None:
        if not isinstance(numbers, SupplementaryNumbers) or numbers.correlations.shape[1] != d:
            raise TypeError(f"numbers must be SupplementaryNumbers of this analysis, got {type(numbers).__name__}.")
        labels = to_object_array([*own.labels.tolist(), *map(str, numbers.labels.tolist())])
        n = len(numbers)
        own = NumberArrows(
            labels,
            np.vstack([own.correlations, numbers.correlations]),
            np.append(own.is_supplementary, np.ones(n, bool)),
            np.append(own.groups, np.full(n, -1)),
            [*own.curves, *[None] * n],
        )
    if not len(own):
        raise ValueError("numbers must be given, because this analysis has no columns of numbers.")
    return own


def list_arrow_handles(est: Any, arrows: NumberArrows) -> list[Line2D]:
    """List what the legend shows: groups of numbers, and which numbers took no part in the fit."""
    names = list(getattr(est, "groups", None) or {})
    palette = list_variable_colours(len(names))
    used = set(arrows.groups[~arrows.is_supplementary].tolist())
    handles = [Line2D([], [], color=palette[j], label=one_line(names[j])) for j in sorted(used - {-1})]
    if arrows.is_supplementary.any():
        handles.append(Line2D([], [], color=GREY, ls="--", label="supplementary"))
    return handles


def _make_tips(arrows: NumberArrows, tips: np.ndarray, colours: list[str]) -> DrawnCloud:
    n = len(arrows)
    points = ScenePoints(arrows.correlations, arrows.labels, None, np.arange(n), n, n)
    weight = np.nan_to_num((tips**2).sum(axis=1))
    return DrawnCloud(points, "_", tips, np.full(n, 4.0), weight, False, GREY, ".", colours=np.array(colours))
