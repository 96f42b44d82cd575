"""What all pictures share: colours and axes."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from correspondence.core.decomposition import Decomposition

__all__ = [
    "COLUMNS",
    "GREY",
    "ROWS",
    "STYLES",
    "check_axes",
    "class_colours",
    "distinct_colours",
    "new_axes",
    "simplify_frame",
]

ROWS, COLUMNS = "#0067A5", "#C1440E"  # told apart by colour-blind readers, and by marker
GREY = "0.45"
STYLES = list(  # told apart by colour-blind readers, and by marker
    zip(
        ["#0067A5", "#C1440E", "#2A8B57", "#8E4B9E", "#B8860B", "#444444", "#00A0B0", "#D0508B"] * 3,
        "o^sDvPX*o^sDvPX*o^sDvPX*",
        strict=True,
    )
)


def class_colours(values: np.ndarray, nominal: bool = False) -> dict[Any, str]:
    """Colours that can be read as text: from dark to light where classes are numbers, otherwise far from each other.

    Parameters
    ----------
    values : ndarray
        Classes, of any number of things.
    nominal : bool
        Whether numbers are mere names, such as digits to be recognised.
    """
    distinct = sorted(set(values.tolist()), key=str)
    if all(map(_is_number, distinct)):
        distinct.sort(key=float)
        scale = plt.get_cmap("plasma")
        if not nominal:
            return {value: to_hex(scale(0.85 * i / max(1, len(distinct) - 1))) for i, value in enumerate(distinct)}
    return dict(zip(distinct, distinct_colours(len(distinct)), strict=True))


def _is_number(value: Any) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except (TypeError, ValueError):
        return False


def distinct_colours(n: int) -> list[str]:
    """Colours far from each other."""
    if n <= 30:
        return [_shade_colour(i) for i in range(n)]
    return [to_hex(plt.get_cmap("turbo")(i / (n - 1))) for i in range(n)]


def _shade_colour(i: int) -> str:
    """Ten colours, then the same darker."""
    red, green, blue, _ = plt.get_cmap("tab10")(i % 10)
    shade = (1.0, 0.55, 0.8)[min(i // 10, 2)]
    return to_hex((shade * red, shade * green, shade * blue))


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Axes given, or of a new figure."""
    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax must be matplotlib Axes, got {type(ax).__name__}.")
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def simplify_frame(ax: Axes) -> None:
    """Take away the frame's upper and right line."""
    ax.spines[["top", "right"]].set_visible(False)


def check_axes(d: Decomposition, axes: tuple[int, ...]) -> list[int]:
    """Indices of the components; a second one that there is not is left out of the first plane."""
    if d.n_components == 0:
        raise ValueError("There are no components to draw.")
    if not isinstance(axes, tuple | list):
        raise ValueError(f"axes must be two components such as (1, 2), got {axes!r}.")
    wanted = [1] if d.n_components == 1 and list(axes) == [1, 2] else list(axes)
    if len(wanted) not in (1, 2):
        raise ValueError(f"axes must be two different components, got {axes}.")
    for axis in wanted:
        if not isinstance(axis, int | float | np.number) or axis not in range(1, d.n_components + 1):
            raise ValueError(f"There is no axis {axis!r}: the decomposition has {d.n_components}, counted from 1.")
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"axes must be two different components, got {axes}.")
    return [int(axis) - 1 for axis in wanted]
