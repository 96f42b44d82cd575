"""The axes of a picture or a figure, as people number them: from 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["check_axis_numbers"]


def check_axis_numbers(n: int, axes: Sequence[int], name: str = "axes") -> list[int]:
    """Return the indices, from 0, of some of n axes; if there is only one, the plane (1, 2) is a line."""
    if n == 0:
        raise ValueError("There are no components to draw.")
    if not isinstance(axes, tuple | list):
        raise ValueError(f"axes must be two components such as (1, 2), got {axes!r}.")
    wanted = [1] if n == 1 and list(axes) == [1, 2] else list(axes)
    for axis in wanted:
        if not isinstance(axis, int | float | np.number) or axis not in range(1, n + 1):
            raise ValueError(f"{name} must be components from 1 to {n}, got {axis!r}.")
    if len(wanted) not in (1, 2) or len(set(wanted)) < len(wanted):
        raise ValueError(f"axes must be two different components, got {axes}.")
    return [int(axis) - 1 for axis in wanted]
