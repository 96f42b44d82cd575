"""What all charts share: markers, axes and frames."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib import rcParams, rcParamsDefault
from matplotlib.axes import Axes

from correspondence.scene.colours import VARIABLES

__all__ = ["STYLES", "find_font_scale", "make_axes", "scale_letters", "simplify_frame"]

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
    if ax is not None:
        return ax
    width, height = fit_size(size)
    height = size[1] * find_font_scale() if is_list else height
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


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


def simplify_frame(ax: Axes) -> None:
    """Take away the upper and the right line of the frame."""
    ax.spines[["top", "right"]].set_visible(False)
