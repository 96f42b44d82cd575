"""The texts around a plane, fitted into the figure whenever it is laid out: titles of axes, legend and caption."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.ticker import AutoLocator
from matplotlib.transforms import Bbox

from correspondence.plot.captions import Caption, wrap_words
from correspondence.plot.hidden_ellipses import note_hidden_ellipses
from correspondence.plot.label_placement import LabelPlacing
from correspondence.plot.legends import LegendParts
from correspondence.plot.style import find_font_scale

__all__ = ["arrange_plane"]

CAPTION_GAP_POINTS, EDGE_POINTS = 4.0, 3.0
MAX_LAYOUTS = 4
TICK_LABEL_LETTERS, MAX_TICKS = 4.5, 9  # the room of the label of a tick, by the height of letters
NARROW_INCHES, LINE_INCHES = 6.0, 0.15  # of figures that are made higher for the lines of their texts
MIN_SHARE_OF_FIGURE = 0.2  # that a plane keeps, however large the texts around it are


def arrange_plane(
    ax: Axes,
    legend: LegendParts,
    parts: Sequence[str],
    placing: LabelPlacing | None = None,
    is_own_figure: bool = False,
) -> None:
    """Write the legend and the caption of a plane, and fit all texts whenever the figure is laid out.

    Parameters
    ----------
    ax : Axes
        The plane, with the titles of its axes.
    legend : LegendParts
        What the legend shows.
    parts : sequence of str
        What the caption says.
    placing : LabelPlacing, optional
        The caption counts its labels that find no room, and the points whose labels are not even tried.
    is_own_figure : bool
        Whether a narrow figure may be made higher, for the lines of its legend and caption.
    """
    caption = None
    if placing is not None:
        caption = Caption(ax, parts, placing.labels, placing.unnamed)
        placing.report = caption.count_labels
    elif parts:
        caption = Caption(ax, parts)
    legend.draw(ax, 72 * ax.bbox.width / ax.figure.dpi)
    layout = PlaneLayout(ax, legend, caption)
    ax.set_axes_locator(layout)
    width, height = (float(size) for size in np.divide(ax.figure.bbox.size, ax.figure.dpi))
    if is_own_figure and width < NARROW_INCHES and isinstance(ax.figure, Figure):
        layout(ax, None)
        ax.figure.set_size_inches(width, height + layout.count_more_lines() * LINE_INCHES * find_font_scale())
    engine = ax.figure.get_layout_engine()
    if type(engine) is ConstrainedLayoutEngine and isinstance(ax.figure, Figure):
        ax.figure.set_layout_engine(SettledLayout(**engine.get()))


class SettledLayout(ConstrainedLayoutEngine):
    """The constrained layout of matplotlib, repeated until texts that it breaks into lines have settled."""

    def execute(self, fig: Any) -> None:
        """Lay out the figure."""
        found = [(ax, ax.get_axes_locator()) for ax in fig.axes]
        planes = [(ax, own) for ax, own in found if isinstance(own, PlaneLayout)]
        for _, own in planes:
            own.room = np.full(2, np.inf)
        for _ in range(MAX_LAYOUTS):
            super().execute(fig)
            before = [own.texts for _, own in planes]
            for ax, own in planes:
                own(ax, None)
            if [own.texts for _, own in planes] == before and all(is_within(fig, ax) for ax, _ in planes):
                break


class PlaneLayout:
    """Fit the texts around a plane; matplotlib calls it for the place of the axes, before each layout and drawing.

    Text that the user changes is left alone.
    """

    def __init__(self, ax: Axes, legend: LegendParts, caption: Caption | None) -> None:
        before: Any = ax.get_axes_locator()
        self.before: Any = before.before if isinstance(before, PlaneLayout) and before.is_over else before
        self.ax, self.patch = ax, ax.patch
        self.legend, self.caption, self.is_busy = legend, caption, False
        self.titles = [(axis.label, axis.label.get_text()) for axis in (ax.xaxis, ax.yaxis)]
        self.shown = [text for _, text in self.titles]
        self.room = np.full(2, np.inf)
        self.widths: dict[tuple[str, float, float], float] = {}

    @property
    def texts(self) -> list[Any]:
        """What the layout depends on: the texts as they are broken into lines, and the columns of the legend."""
        return [*self.shown, self.legend.columns, "" if self.caption is None else self.caption.text.get_text()]

    @property
    def is_over(self) -> bool:
        """Whether the axes have been cleared, which gives them another patch."""
        return self.ax.patch is not self.patch

    def get_subplotspec(self) -> Any:
        """Return the place of the axes in a grid, which the tight layout of matplotlib asks for."""
        return self.ax.get_subplotspec()

    def count_more_lines(self) -> int:
        """Count the lines of legend and caption beyond the first."""
        n = 0 if self.caption is None else self.caption.text.get_text().count("\n") + 1
        return n + max(0, -(-len(self.legend.handles) // max(1, self.legend.columns)) - 1)

    def __call__(self, ax: Any, renderer: RendererBase | None) -> Any:
        """Fit the texts, and return the place of the axes in the figure."""
        place = ax.get_position(original=True) if self.before is None else self.before(ax, renderer)
        renderer = ax.figure._get_renderer() if renderer is None else renderer
        if self.is_over:
            ax.set_axes_locator(self.before)
        if self.is_busy or self.is_over:
            return place
        self.is_busy = True
        try:
            self._fit_texts(ax, place, renderer)
            if self.before is None and ax.figure.get_layout_engine() is None:
                place = find_room_in_figure(ax, place, renderer)
                self._fit_texts(ax, place, renderer)
        finally:
            self.is_busy = False
        return place

    def _fit_texts(self, ax: Axes, place: Bbox, renderer: Any) -> None:
        """Break lines of texts that are longer than the axes, and the legend into as many columns as there is room."""
        pixels = renderer.points_to_pixels(1)
        room = 72 * np.multiply(place.size, ax.figure.bbox.size) / ax.figure.dpi
        # Within one layout texts only get narrower: otherwise planes and texts could push each other to and fro.
        self.room = np.minimum(room, self.room) if isinstance(ax.figure.get_layout_engine(), SettledLayout) else room
        wide, high = self.room.tolist()
        for i, ((label, whole), most) in enumerate(zip(self.titles, (wide, high), strict=True)):
            if label.get_text() == self.shown[i] and whole:
                label.set_text(self._wrap(label, whole, most, renderer))
                self.shown[i] = label.get_text()
        self.legend.draw(ax, wide)
        thin_out_ticks(ax, wide)
        if self.caption is not None:
            text = self.caption.text
            self.caption.hidden = note_hidden_ellipses([ax], room)
            self.caption.wrap = lambda words: self._wrap(text, words, wide, renderer)
            self.caption.reserve()
            below = ax.xaxis.get_tightbbox(renderer)
            depth = 0.0 if below is None else max(0.0, (ax.bbox.y0 - below.y0) / pixels)
            text.set_position((0, -depth - CAPTION_GAP_POINTS))

    def _wrap(self, label: Text, words: str, width: float, renderer: Any) -> str:
        return wrap_words(words, width, lambda line: self._measure_line(label, line, renderer))

    def _measure_line(self, label: Text, line: str, renderer: Any) -> float:
        """Measure the width of letters, in points."""
        font: FontProperties = label.get_fontproperties()
        pixels = renderer.points_to_pixels(1)
        key = (line, font.get_size_in_points(), pixels)
        if key not in self.widths:
            self.widths[key] = renderer.get_text_width_height_descent(line, font, False)[0] / pixels
        return self.widths[key]


def thin_out_ticks(ax: Axes, width: float) -> None:
    """Let there be only as many ticks below a plane as have room in a width, unless the user chose them."""
    locator = ax.xaxis.get_major_locator()
    if isinstance(locator, AutoLocator):
        size = FontProperties(size=rcParams["xtick.labelsize"]).get_size_in_points()
        locator.set_params(nbins=int(np.clip(width / (TICK_LABEL_LETTERS * size), 2, MAX_TICKS)))


def is_within(figure: Any, ax: Any) -> bool:
    """Tell whether axes with all texts around them lie within the figure; other ticks may need more room."""
    box = ax.get_tightbbox(figure._get_renderer(), for_layout_only=True)
    return box is None or bool((box.min >= figure.bbox.min - 1).all() and (box.max <= figure.bbox.max + 1).all())


def find_room_in_figure(ax: Axes, place: Bbox, renderer: Any) -> Bbox:
    """Shrink axes whose texts would be cut off in a figure without a layout engine."""
    texts, figure = ax.get_tightbbox(renderer), ax.figure.bbox
    if texts is None:
        return place
    edge, own = EDGE_POINTS * renderer.points_to_pixels(1), ax.bbox
    x0 = max(place.x0, (own.x0 - texts.x0 + edge) / figure.width)
    y0 = max(place.y0, (own.y0 - texts.y0 + edge) / figure.height)
    x1 = min(place.x1, 1 - (texts.x1 - own.x1 + edge) / figure.width)
    y1 = min(place.y1, 1 - (texts.y1 - own.y1 + edge) / figure.height)
    return Bbox.from_extents(x0, y0, max(x1, x0 + MIN_SHARE_OF_FIGURE), max(y1, y0 + MIN_SHARE_OF_FIGURE))
