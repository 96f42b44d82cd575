"""The drawing of how strong each component is, on training and on held-out pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from correspondence.results.evidence import Component

__all__ = ["lay_out_scree"]

MAX_COMPONENTS_DRAWN = 20


def lay_out_scree(rows: list[Component]) -> dict[str, Any]:
    """Compute the lengths of a drawing of correlations, in units of its box.

    Parameters
    ----------
    rows : list of Component
        The components, as `list_components` returns them.

    Returns
    -------
    dict
        The size of the box, the height of the zero line, ticks, and for each component its place and heights.
    """
    shown = rows[:MAX_COMPONENTS_DRAWN]
    low_ends = [value for row in shown for value in (row.low, row.held_out, row.chance_low) if value is not None]
    lowest = max(-1.0, np.floor(10 * min([0.0, *low_ends])) / 10)
    left, top, height, step = 34, 12, 190, min(56, max(26, 520 // max(1, len(shown))))

    def y(value: float) -> float:
        return round(top + height * (1 - value) / (1 - lowest), 1)

    keys = ("training", "held_out", "low", "high", "chance_low", "chance_high")
    bars = [
        {"component": row.component, "at": left + step * (i + 0.5), "row": row}
        | {key: None if (value := getattr(row, key)) is None else y(max(value, lowest)) for key in keys}
        for i, row in enumerate(shown)
    ]
    ticks = [(y(value), f"{value:g}") for value in (-0.5, 0, 0.25, 0.5, 0.75, 1) if value >= lowest]
    size = (left + step * max(3, len(shown)) + 8, top + height + 34)
    return {"size": size, "zero": y(0), "left": left, "step": step, "ticks": ticks, "bars": bars, "base": top + height}
