"""Bars of points: which labels make up some axes, and which are represented well."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Patch

from correspondence._util.arguments import check_whole
from correspondence._util.labels import to_object_array
from correspondence._util.text import one_line
from correspondence.core.asymmetric import find_asymmetric
from correspondence.core.axis_numbers import check_axis_numbers
from correspondence.core.decomposition import as_decomposition
from correspondence.core.functions import LabelFunctions
from correspondence.plot.layout import arrange_plane
from correspondence.plot.legends import LETTER_WIDTH, LegendParts
from correspondence.plot.style import make_axes, make_outline, simplify_frame
from correspondence.results.points import Points
from correspondence.scene.colours import COLUMNS, GREY, ROWS

__all__ = ["contributions", "quality"]

SIDES = {"rows": ("rows",), "columns": ("columns",), "both": ("rows", "columns")}
COLOURS = {"rows": ROWS, "columns": COLUMNS}
OUTLINE_POINTS = 2.4  # so that lines are seen on bars of their colour
BAR_INCHES, FRAME_INCHES, WIDTH_INCHES = 0.3, 1.4, 7.0
LABEL_SHARE_OF_WIDTH, MIN_LINE_LETTERS, LINE_SPACING = 0.5, 12, 0.95  # of labels of bars, in up to two lines


@dataclass(frozen=True, eq=False)
class BarSide:
    """The labels of one side, as bars show them.

    Attributes
    ----------
    name : str
        "rows" or "columns".
    labels : ndarray of shape (m,)
        The labels.
    values : ndarray of shape (m,)
        The length of each bar, in percent; NaN for labels without a place.
    is_positive : ndarray of bool of shape (m,)
        On which side of the first of the axes each label lies.
    """

    name: str
    labels: np.ndarray
    values: np.ndarray
    is_positive: np.ndarray


def contributions(
    d_or_est: Any, axis: int | Sequence[int] = 1, side: str = "columns", ax: Axes | None = None, *, most: int = 20
) -> Axes:
    """Draw which labels make up an axis, or several together.

    Parameters
    ----------
    d_or_est : Decomposition or fitted estimator
        The decomposition must be of two discrete variables, or the analysis one of many columns.
    axis : int or sequence of int
        Draw the contributions to this axis, counted from 1; or to several, each counting by its inertia.
    side : {"rows", "columns", "both"}
        Draw the contributions of this side, or of both. Those of each side sum to 100 %.
    ax : Axes, optional
        Draw on these axes instead of new ones.
    most : int
        Draw at most this many labels, those that contribute most.

    Returns
    -------
    Axes
        The colour of a bar shows on which side of the axis the label lies; for several axes, or both sides, whether
        it is a row or a column. The dashed line is what each label would contribute if all contributed the same.

    Examples
    --------
    >>> import correspondence as co
    >>> ax = co.plot.contributions(co.CA().fit(co.datasets.load_housetasks()), axis=1, side="rows", most=3)
    >>> [text.get_text() for text in ax.get_yticklabels()]          # from the bottom
    ['Main_meal', 'Laundry', 'Repairs']
    """
    index, sides = check_bars(d_or_est, axis, side)
    shown = [_measure_contributions(d_or_est, name, index) for name in sides]
    expected = [100 / max(1, int(np.isfinite(own.values).sum())) for own in shown]
    has_signs = len(index) == 1 and len(shown) == 1
    title = f"Contribution of {' and '.join(sides)} to {_name_axes(index)} (%)"
    return draw_bars(ax, shown, title, expected, "equal shares", check_whole(most, "most", 1), has_signs)


def quality(
    d_or_est: Any,
    axis: int | Sequence[int] = (1, 2),
    side: str = "columns",
    ax: Axes | None = None,
    *,
    most: int = 20,
) -> Axes:
    """Draw which labels some axes represent well: their share in the squared distance from the centre (cos2).

    A label with a short bar lies in directions that these axes do not show: do not interpret its place in their plane.

    Parameters
    ----------
    d_or_est : Decomposition or fitted estimator
        The decomposition must be of two discrete variables, or the analysis one of many columns. A bare decomposition
        knows of no more axes than it has.
    axis : int or sequence of int
        Draw the quality on these axes together, counted from 1.
    side : {"rows", "columns", "both"}
        Draw the quality of this side, or of both.
    ax : Axes, optional
        Draw on these axes instead of new ones.
    most : int
        Draw at most this many labels, those that are represented best.

    Returns
    -------
    Axes
        The axes with the bars; the dashed line is the average of all labels of a side.

    Examples
    --------
    >>> import correspondence as co
    >>> ax = co.plot.quality(co.CA().fit(co.datasets.load_housetasks()), side="rows", most=3)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['Tidying', 'Holidays', 'Finances']
    """
    index, sides = check_bars(d_or_est, axis, side)
    shown = [_measure_quality(d_or_est, name, index) for name in sides]
    expected = [float(np.nanmean(own.values)) for own in shown]
    title = f"Quality of {' and '.join(sides)} on {_name_axes(index)} (cos2, %)"
    return draw_bars(ax, shown, title, expected, "average", check_whole(most, "most", 1), has_signs=False)


def check_bars(d_or_est: Any, axis: Any, side: Any) -> tuple[list[int], tuple[str, ...]]:
    """Return the axes, counted from 0, and the sides whose bars are drawn."""
    d: Any = find_asymmetric(d_or_est) or as_decomposition(d_or_est)
    wanted = list(axis) if isinstance(axis, tuple | list) else [axis]
    wanted = [1] if d.n_components == 1 and wanted == [1, 2] else wanted  # as planes are lines then
    index = [check_axis_numbers(d.n_components, (own,), "axis")[0] for own in wanted]
    if not index or len(set(index)) < len(index):
        raise ValueError(f"axis must be one axis or different ones, got {axis}.")
    if not isinstance(side, str) or side not in SIDES:
        raise ValueError(f'side must be "rows", "columns" or "both", got {side!r}.')
    return index, SIDES[side]


def _measure_contributions(d_or_est: Any, side: str, index: list[int]) -> BarSide:
    """Measure the contributions of labels to some axes, which count by their inertias."""
    points, numbers = find_bar_points(d_or_est, side), _find_numbers(d_or_est, side)
    inertias = points.correlations[index] ** 2
    share = points.contributions[:, index] @ inertias
    if numbers is not None:  # they share the inertia with the answers
        share = np.append(share, numbers.contributions[:, index] @ inertias)
    return _make_bar_side(side, points, numbers, index[0], share / max(float(inertias.sum()), 1e-300))


def _measure_quality(d_or_est: Any, side: str, index: list[int]) -> BarSide:
    """Measure the quality of labels on some axes together."""
    points, numbers = find_bar_points(d_or_est, side), _find_numbers(d_or_est, side)
    share = np.where(np.isfinite(points.standard[:, index[0]]), points.cos2[:, index].sum(axis=1), np.nan)
    if numbers is not None:
        share = np.append(share, numbers.cos2[:, index].sum(axis=1))
    return _make_bar_side(side, points, numbers, index[0], share)


def _find_numbers(d_or_est: Any, side: str) -> Any:
    """Find the numbers among the columns of an analysis of many columns; None if there are none."""
    numbers = getattr(d_or_est, "numbers_", None) if side == "columns" else None
    return None if numbers is None or not len(numbers.labels) else numbers


def _make_bar_side(side: str, points: Points, numbers: Any, axis: int, shares: np.ndarray) -> BarSide:
    """Make the bars of points, and of the numbers after them."""
    signs, labels = points.standard[:, axis], points.labels
    if numbers is not None:
        signs = np.append(signs, numbers.correlations[:, axis])
        labels = to_object_array([*labels.tolist(), *map(str, numbers.labels.tolist())])
    return BarSide(side, labels, 100 * shares, signs >= 0)


def find_bar_points(d_or_est: Any, side: str) -> Points:
    """Find the points of a side: those that an analysis recorded, or those of the labels of a decomposition."""
    points = getattr(d_or_est, f"{side}_", None)
    if isinstance(points, Points):
        return points
    d: Any = find_asymmetric(d_or_est) or as_decomposition(d_or_est)
    functions = d.f if side == "rows" else d.g
    if not isinstance(functions, LabelFunctions):
        raise TypeError(
            "d_or_est must decompose two discrete variables, as CA does, or many columns, "
            f"got {type(d_or_est).__name__}."
        )
    mass, standard = functions.mass, np.where(functions.mass[:, None] > 0, functions.values, np.nan)
    squares = ((standard * d.correlations) ** 2).sum(axis=1)
    return Points(functions.labels, mass, np.sqrt(squares), mass * squares, standard, d.correlations)


def draw_bars(
    ax: Axes | None,
    sides: Sequence[BarSide],
    title: str,
    expected: Sequence[float],
    meaning: str,
    most: int,
    has_signs: bool,
) -> Axes:
    """Draw the longest bars of some sides, the longest above, and what is expected of each side."""
    is_own_figure = ax is None
    labels = [label for own in sides for label in own.labels.tolist()]
    values = np.concatenate([own.values for own in sides])
    signs = np.concatenate([own.is_positive for own in sides])
    names = [own.name for own in sides for _ in own.labels]
    colours = np.where(signs, ROWS, COLUMNS) if has_signs else np.array([COLOURS[name] for name in names])
    known = np.flatnonzero(np.isfinite(values))
    order = known[np.argsort(-values[known], kind="stable")][:most][::-1]
    ax = make_axes(ax, (WIDTH_INCHES, FRAME_INCHES + BAR_INCHES * len(order)), is_list=True)
    ax.barh(range(len(order)), values[order], color=colours[order])
    names_shown = fit_bar_labels(ax, [labels[i] for i in order])
    ax.set_yticks(range(len(order)), names_shown, parse_math=False, linespacing=LINE_SPACING)
    for own, value in zip(sides, expected, strict=True):
        colour, name = (GREY, meaning) if len(sides) == 1 else (COLOURS[own.name], f"{meaning} of {own.name}")
        ax.axvline(value, color=colour, lw=1, ls="--", label=name, path_effects=[make_outline(ax, OUTLINE_POINTS)])
    ax.set_xlabel(title)
    simplify_frame(ax)
    _explain_bars(ax, sides, len(known) - len(order), has_signs, is_own_figure)
    return ax


def fit_bar_labels(ax: Axes, labels: Sequence[Any]) -> list[str]:
    """Fit labels into a part of the width of axes, in up to two lines each, and shorten what is longer."""
    size = FontProperties(size=rcParams["ytick.labelsize"]).get_size_in_points()
    room = LABEL_SHARE_OF_WIDTH * 72 * ax.bbox.width / ax.figure.dpi
    most = max(MIN_LINE_LETTERS, int(room / (LETTER_WIDTH * size)))
    broken = [textwrap.wrap(one_line(label, 2 * most), most, max_lines=2, placeholder="…") for label in labels]
    return ["\n".join(lines) for lines in broken]


def _explain_bars(ax: Axes, sides: Sequence[BarSide], n_left: int, has_signs: bool, is_own_figure: bool) -> None:
    """Write what bars and lines mean, and how many bars are not drawn."""
    handles = [] if len(sides) == 1 else [Patch(color=COLOURS[own.name], label=own.name) for own in sides]
    if has_signs:
        handles = [Patch(color=ROWS, label="positive side"), Patch(color=COLUMNS, label="negative side")]
    notes = [f"not drawn: {n_left:,} shorter {'bar' if n_left == 1 else 'bars'}"] if n_left else []
    legend = LegendParts([*handles, *ax.lines], 4, is_beside=False, gap_letters=0.6)
    arrange_plane(ax, legend, notes, is_own_figure=is_own_figure)


def _name_axes(index: Sequence[int]) -> str:
    names = [str(i + 1) for i in index]
    return f"axis {names[0]}" if len(names) == 1 else f"axes {', '.join(names[:-1])} and {names[-1]}"
