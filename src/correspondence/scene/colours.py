"""Colours of all pictures: of the two sides, and of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from correspondence.scene.colour_scales import PLASMA, TAB10, TURBO, pick_colour

__all__ = ["COLUMNS", "GREY", "ROWS", "choose_class_colours", "choose_scene_colours", "list_distinct_colours"]

ROWS, COLUMNS = "#0067A5", "#C1440E"  # colour-blind readers see the difference
GREY = "0.45"


def choose_class_colours(values: np.ndarray, nominal: bool = False) -> dict[Any, str]:
    """Choose colours that can be read as text: from dark to light where classes are numbers, otherwise far apart.

    Parameters
    ----------
    values : ndarray
        The class of each of any number of things.
    nominal : bool
        Whether numbers are mere names, such as digits to be recognised.
    """
    distinct = sorted(set(values.tolist()), key=str)
    if all(map(_is_number, distinct)):
        distinct.sort(key=float)
        if not nominal:
            last = max(1, len(distinct) - 1)  # the lightest 15 % of the scale cannot be read
            return {value: pick_colour(PLASMA, 0.85 * i / last) for i, value in enumerate(distinct)}
    return dict(zip(distinct, list_distinct_colours(len(distinct)), strict=True))


def _is_number(value: Any) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except (TypeError, ValueError):
        return False


def choose_scene_colours(known: np.ndarray, classes: Any) -> dict[Any, str]:
    """Choose the same colours for the same known classes, whichever of them occur.

    Parameters
    ----------
    known : ndarray
        The classes of a classifier.
    classes : array-like or None
        What is shown; if that is something else than the known classes, it has colours of its own.
    """
    values = np.asarray(classes, dtype=object)
    if classes is None or values.ndim != 1:
        return {}
    is_known = set(values.tolist()) <= set(known.tolist())
    return choose_class_colours(known if is_known else values, nominal=is_known)


def list_distinct_colours(n: int) -> list[str]:
    """List colours far from each other: ten, the same in two other shades, or for more a rainbow."""
    if n > 30:
        return [pick_colour(TURBO, i / (n - 1)) for i in range(n)]
    colours = []
    for i in range(n):
        shade = (1.0, 0.55, 0.8)[i // 10]
        start = 6 * (i % 10)
        parts = (int(TAB10[at : at + 2], 16) / 255 for at in range(start, start + 6, 2))
        colours.append("#" + "".join(f"{round(255 * (shade * part)):02x}" for part in parts))
    return colours
