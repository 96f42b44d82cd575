"""The legend of a plane, in as many columns as fit above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PathCollection

from correspondence.plot.style import find_font_scale, scale_letters
from correspondence.scene.colours import GREY

__all__ = ["LETTER_WIDTH", "LegendParts", "collect_legend", "count_legend_columns", "order_by_lines"]

MAX_LARGE_HANDLES = 9  # in a legend
HANDLE_LETTERS, GAP_LETTERS = 7.6, 3.6  # the width of a mark with the gap after it, and of the gap alone, in letters
PADDING_LETTERS = 2.4  # around a legend
LETTER_WIDTH = 0.55  # of a letter, by its height
LARGE_SIZE_POINTS, SMALL_SIZE_POINTS = 10.0, 8.5
HANDLE_AREA_POINTS = 36.0
MIN_WIDTH_BESIDE_INCHES = 5.5  # of a figure with a legend beside the plane


def count_legend_columns(lengths: list[float], room: float, most: int) -> int:
    """Count the columns of a legend, read from left to right, that fit into a width."""
    for columns in range(min(most, len(lengths)), 1, -1):
        if sum(max(lengths[start::columns]) for start in range(columns)) - GAP_LETTERS <= room:
            return columns
    return 1


def order_by_lines(handles: Sequence[Any], columns: int) -> list[Any]:
    """Order the entries of a legend so that it reads from left to right; matplotlib fills columns downwards.

    Examples
    --------
    >>> order_by_lines("abcdefg", 3)
    ['a', 'd', 'g', 'b', 'e', 'c', 'f']
    """
    return [handle for start in range(columns) for handle in handles[start::columns]]


def collect_legend(ax: Axes, more: Sequence[Any] = (), is_beside: bool = False) -> LegendParts:
    """Collect all kinds of points that are drawn, and more, for a legend above the plane or beside it."""
    width = ax.figure.bbox.width / ax.figure.dpi
    handles = [*ax.get_legend_handles_labels()[0], *more]
    return LegendParts(handles, 6 if more else 4, is_beside and width >= MIN_WIDTH_BESIDE_INCHES)


class LegendParts:
    """What a legend shows; it is drawn again when the width of the plane changes."""

    def __init__(self, handles: Sequence[Any], most_columns: int, is_beside: bool, gap_letters: float = 0.2) -> None:
        self.handles, self.most_columns, self.is_beside = list(handles), most_columns, is_beside
        self.gap_letters = gap_letters
        large = LARGE_SIZE_POINTS if len(handles) <= MAX_LARGE_HANDLES and not is_beside else SMALL_SIZE_POINTS
        self.size_points, self.columns = scale_letters(large), 0
        self.drawn: Any = None

    def draw(self, ax: Axes, width_points: float) -> None:
        """Draw the legend into a width, unless it is there already, or the user has changed it."""
        lengths = [len(str(handle.get_label())) + HANDLE_LETTERS for handle in self.handles]
        room = width_points / (LETTER_WIDTH * self.size_points) - PADDING_LETTERS
        columns = 1 if self.is_beside else count_legend_columns(lengths, room, self.most_columns)
        if not self.handles or columns == self.columns or ax.get_legend() is not self.drawn:
            return
        self.columns = columns
        place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "ncols": columns}
        if self.is_beside:
            place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "labelspacing": 0.6}
        handles = order_by_lines(self.handles, columns)
        style: dict[str, Any] = {"frameon": False, "handletextpad": self.gap_letters, "fontsize": self.size_points}
        self.drawn = ax.legend(handles=handles, **style, **place)
        for text in self.drawn.get_texts():
            text.set_parse_math(False)
        for handle in self.drawn.legend_handles:
            if isinstance(handle, PathCollection):
                handle.set_sizes([HANDLE_AREA_POINTS * find_font_scale() ** 2])
                handle.set_alpha(0.9)
                if len(handle.get_facecolor()) > 1:
                    handle.set_facecolor(GREY)  # each point has its own
                if len(handle.get_edgecolor()) > 1:
                    handle.set_edgecolor(GREY)
