"""What all charts share: markers, axes and frames."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from correspondence.scene.colours import VARIABLES

__all__ = ["STYLES", "make_axes", "simplify_frame"]

STYLES = list(  # colour-blind readers see the difference, by colour and by marker
    zip(
        list(VARIABLES) * 3,
        "o^sDvPX*" * 3,
        strict=True,
    )
)


def make_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axes given, or those of a new figure."""
    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax must be matplotlib Axes, got {type(ax).__name__}.")
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def simplify_frame(ax: Axes) -> None:
    """Take away the upper and the right line of the frame."""
    ax.spines[["top", "right"]].set_visible(False)
