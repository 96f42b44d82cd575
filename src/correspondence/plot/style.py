"""What all charts share: markers, axes and frames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib.pyplot as plt
from matplotlib import rcParams, rcParamsDefault
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgba
from matplotlib.patheffects import withStroke

from correspondence.scene.colours import VARIABLES, is_dark, lighten_colour

__all__ = [
    "STYLES",
    "choose_ink",
    "discard_new_figures",
    "find_font_scale",
    "fit_size",
    "make_axes",
    "make_outline",
    "scale_letters",
    "simplify_frame",
]

FONT_SIZE_POINTS = 10.0  # for which all sizes are chosen
MIN_LETTER_POINTS = 6.0
STYLES = list(  # colour-blind readers see the difference, by colour and by marker
    zip(
        list(VARIABLES) * 3,
        "o^sDvPX*" * 3,
        strict=True,
    )
)


def make_axes(ax: Axes | None, size: tuple[float, float], is_list: bool = False) -> Axes:
    """Return the axes given, or those of a new figure; the height of a list follows the size of letters."""
    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax must be matplotlib Axes, got {type(ax).__name__}.")
    if ax is not None and ax.name != "rectilinear":
        raise ValueError(f"ax must have straight axes, got those of a {ax.name} projection.")
    if ax is not None:
        return ax
    width, height = fit_size(size)
    height = size[1] * find_font_scale() if is_list else height
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


@contextmanager
def discard_new_figures() -> Iterator[None]:
    """Close the figures that were made where an error ends the drawing."""
    before = plt.get_fignums()
    try:
        yield
    except BaseException:
        for number in set(plt.get_fignums()) - set(before):
            plt.close(number)
        raise


def fit_size(size: tuple[float, float]) -> tuple[float, float]:
    """Fit the size of a figure, in inches, into the width that a style sheet of matplotlib asks for."""
    wanted = rcParams["figure.figsize"]
    if list(wanted) == list(rcParamsDefault["figure.figsize"]):
        return size
    share = wanted[0] / size[0]
    return wanted[0], share * size[1]


def find_font_scale() -> float:
    """Return by how much texts and markers are larger than on a screen, where letters have ten points."""
    return float(rcParams["font.size"]) / FONT_SIZE_POINTS


def scale_letters(size: float) -> float:
    """Scale the size of letters, in points, which remain large enough to be read in print."""
    return max(find_font_scale() * size, min(size, MIN_LETTER_POINTS))


def find_paper(ax: Axes) -> str:
    """Return the colour behind what is drawn on axes; where nothing is, that of paper."""
    papers = [to_rgba(ax.get_facecolor()), to_rgba(ax.figure.get_facecolor())]
    return next((to_hex(paper) for paper in papers if paper[3] > 0), "#ffffff")


def make_outline(ax: Axes, width_points: float, alpha: float = 1.0) -> withStroke:
    """Make an outline that sets texts and lines apart from what they cover."""
    return withStroke(linewidth=width_points, foreground=find_paper(ax), alpha=alpha)


def choose_ink(ax: Axes, colour: Any) -> Any:
    """Return a colour, light enough if axes are dark."""
    return lighten_colour(to_hex(colour)) if is_dark(find_paper(ax)) else colour


def simplify_frame(ax: Axes) -> None:
    """Take away the upper and the right line of the frame."""
    ax.spines[["top", "right"]].set_visible(False)
