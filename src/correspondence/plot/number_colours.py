"""Points coloured by a number, from dark to light, with a colour bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize, to_hex

from correspondence._util.arguments import count_observations, to_floats
from correspondence._util.text import one_line, short_repr
from correspondence.plot.drawn_clouds import DrawnCloud
from correspondence.plot.style import scale_letters
from correspondence.scene.colours import PLASMA, pick_colour
from correspondence.scene.groups import MISSING_COLOUR
from correspondence.scene.measures import MEASURES

__all__ = ["NumberColours", "colour_sides_by_numbers", "draw_colour_bar", "note_numbers", "read_colour"]

LIGHTEST_SHARE, N_SHADES = 0.9, 128  # the lightest colours of the scale are lost on paper
BAR_SIZE_POINTS = 8.0
MAX_HALF_RANGE = 5e307  # of numbers whose differences can be computed


@dataclass(frozen=True, eq=False)
class NumberColours:
    """The numbers that colour points, for each side: what each of the data given has, or a measure by its name.

    Attributes
    ----------
    sides : tuple of (str or ndarray of shape (n,) or None)
        For rows and for columns.
    title : str
        What the colour bar says.
    """

    sides: tuple[Any, Any]
    title: str

    def colour(
        self, rows: Sequence[DrawnCloud], columns: Sequence[DrawnCloud]
    ) -> tuple[list[DrawnCloud], list[DrawnCloud], ScalarMappable]:
        """Colour the clouds of both sides by one scale, and return it too; points without a number are grey."""
        x = [_find_numbers(cloud, self.sides[0]) for cloud in rows]
        y = [_find_numbers(cloud, self.sides[1]) for cloud in columns]
        known = np.concatenate([np.empty(0), *(own[np.isfinite(own)] for own in (*x, *y) if own is not None)])
        if not len(known):
            raise ValueError("colour must have numbers for points that are drawn, got none.")
        low, high = float(known.min()), float(known.max())
        if high / 2 - low / 2 > MAX_HALF_RANGE:
            raise ValueError(f"colour must have numbers nearer to each other than 1e308, got {low:g} and {high:g}.")
        scale = ScalarMappable(Normalize(low, high), make_colour_map())
        return _colour_clouds(rows, x, scale), _colour_clouds(columns, y, scale), scale


def read_colour(colour: Any, shown: tuple[bool, bool], groups: Any = None, classes: Any = None) -> NumberColours | None:
    """Read by which numbers the points of the sides shown are coloured; None if by none."""
    if colour is None:
        return None
    if groups is not None or classes is not None:
        raise ValueError("colour must be left out where groups or classes colour the points.")
    if isinstance(colour, str):
        if colour not in MEASURES:
            raise ValueError(f"colour must be {', '.join(map(repr, MEASURES))}, or numbers, got {short_repr(colour)}.")
        named_sides = [colour if is_shown else None for is_shown in shown]
        return NumberColours((named_sides[0], named_sides[1]), MEASURES[colour])
    is_pair = isinstance(colour, tuple) and len(colour) == 2 and all(own is None or np.ndim(own) == 1 for own in colour)
    sides = colour if is_pair else (colour, None)
    values = [None if own is None else to_floats(own, "colour").astype(float) for own in sides]
    found = [getattr(own, "name", None) for own in sides]
    named = [one_line(name) for name in found if name is not None]
    if any(own is not None and own.ndim != 1 for own in values):
        raise ValueError("colour must be one number for each row, or a pair of such lists, for rows and columns.")
    x, y = (own if is_shown else None for own, is_shown in zip(values, shown, strict=True))
    return NumberColours((x, y), named[0] if named else "")


def make_colour_map() -> ListedColormap:
    """Make the colours of numbers, from low to high."""
    return ListedColormap([pick_colour(PLASMA, LIGHTEST_SHARE * i / (N_SHADES - 1)) for i in range(N_SHADES)])


def _find_numbers(cloud: DrawnCloud, own: Any) -> np.ndarray | None:
    """Find the number of each point of a cloud."""
    if own is None:
        return None
    if isinstance(own, str):
        if own not in cloud.measures:
            raise ValueError(f"colour must not be {own!r}, because points have no {own}.")
        return cloud.measures[own]
    if count_observations(own, "colour") != cloud.points.given:
        raise ValueError(f"colour must have one number for each of the {cloud.points.given} points, got {len(own)}.")
    return np.asarray(own[cloud.points.rows])


def _colour_clouds(
    clouds: Sequence[DrawnCloud], numbers: Sequence[np.ndarray | None], scale: ScalarMappable
) -> list[DrawnCloud]:
    """Give points the colours of their numbers, and grey to those without; clouds without numbers stay as they are."""
    coloured = []
    for cloud, own in zip(clouds, numbers, strict=True):
        if own is None:
            coloured.append(cloud)
            continue
        is_known = np.isfinite(own)
        colours = np.full(len(own), MISSING_COLOUR, dtype=object)
        colours[is_known] = [to_hex(shade) for shade in scale.to_rgba(own[is_known])]
        coloured.append(replace(cloud, colours=colours, has_scale=True, is_faint=False))
    return coloured


def colour_sides_by_numbers(
    sides: tuple[DrawnCloud, DrawnCloud], numbers: NumberColours | None
) -> tuple[tuple[DrawnCloud, DrawnCloud], ScalarMappable | None]:
    """Colour the points of two sides by numbers, if there are some; return the scale too."""
    if numbers is None:
        return sides, None
    (x,), (y,), scale = numbers.colour(sides[:1], sides[1:])
    return (x, y), scale


def note_numbers(numbers: NumberColours | None, clouds: Sequence[DrawnCloud]) -> list[str]:
    """Count the points that are grey because they have no number."""
    if numbers is None:
        return []
    n = sum(np.count_nonzero(cloud.colours == MISSING_COLOUR) for cloud in clouds if cloud.has_scale)
    return [f"{n:,} without a number are grey"] if n else []


def draw_colour_bar(ax: Axes, scale: ScalarMappable | None, numbers: NumberColours | None) -> None:
    """Draw what the colours of numbers, if there are some, mean beside the plane."""
    if scale is None or numbers is None:
        return
    bar = ax.figure.colorbar(scale, ax=ax, shrink=0.75, aspect=30, pad=0.02)
    size = scale_letters(BAR_SIZE_POINTS)
    bar.ax.tick_params(labelsize=size)
    bar.outline.set_visible(False)
    if numbers.title:
        bar.set_label(numbers.title, fontsize=size, parse_math=False)
