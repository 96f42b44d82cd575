"""How strong each component is, on the training pairs and on others: a table, and the drawing of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from correspondence.core.decomposition import Decomposition

__all__ = ["components", "scree"]

MOST = 20  # components that are drawn
HELD_OUT = "held-out pairs"  # kind of PermutationTest whose correlations are not those of the training


def components(d: Decomposition, held_out: Any = None) -> list[dict[str, float | int | None]]:
    """One row for each component; None for what is not known.

    Parameters
    ----------
    d : Decomposition
        With the values on the training pairs.
    held_out : HeldOut, CrossFit, LatentDimension or PermutationTest, optional
        What is known of other pairs.

    Returns
    -------
    list of dict
        component, pic, share (of chi2), training and held_out (correlations), low and high (interval), pvalue,
        chance_low and chance_high (where chance keeps the held-out correlation).
    """
    band = _chance(held_out)
    judged = held_out if getattr(held_out, "kind", HELD_OUT) == HELD_OUT else None
    columns = {
        "pic": d.pics,
        "share": d.inertia_ratios,
        "training": d.correlations,
        "held_out": getattr(judged, "correlations", ()),
        "low": _column(getattr(held_out, "intervals", None), 0),
        "high": _column(getattr(held_out, "intervals", None), 1),
        "pvalue": getattr(held_out, "pvalues", ()),
        "chance_low": band[0],
        "chance_high": band[1],
    }
    return [
        {"component": i + 1} | {name: _value(values, i) for name, values in columns.items()}
        for i in range(d.n_components)
    ]


def _column(array: Any, i: int) -> Any:
    return () if array is None else np.asarray(array)[:, i]


def _value(values: Any, i: int) -> float | None:
    return float(values[i]) if i < len(values) and np.isfinite(values[i]) else None


def _chance(held_out: Any) -> tuple[Any, Any]:
    """Lower and upper end of what chance does to the held-out correlations of a LatentDimension or PermutationTest."""
    is_of_held_out = hasattr(held_out, "test") or getattr(held_out, "kind", None) == HELD_OUT
    return (-held_out.band, held_out.band) if is_of_held_out else ((), ())


def scree(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Lengths of a drawing of correlations, in units of a box of given size.

    Parameters
    ----------
    rows : list of dict
        What `components` returned.

    Returns
    -------
    dict
        Size of the box, height of the zero line, ticks, and for each component its place and heights.
    """
    shown = rows[:MOST]
    lowest = min(
        [0.0] + [row[key] for row in shown for key in ("low", "held_out", "chance_low") if row[key] is not None]
    )
    lowest = max(-1.0, np.floor(10 * lowest) / 10)
    left, top, height, step = 34, 12, 190, min(56, max(26, 520 // max(1, len(shown))))

    def y(value: float) -> float:
        return round(top + height * (1 - value) / (1 - lowest), 1)

    keys = ("training", "held_out", "low", "high", "chance_low", "chance_high")
    bars = [
        {"component": row["component"], "at": left + step * (i + 0.5), "row": row}
        | {key: None if row[key] is None else y(max(row[key], lowest)) for key in keys}
        for i, row in enumerate(shown)
    ]
    ticks = [(y(value), f"{value:g}") for value in (-0.5, 0, 0.25, 0.5, 0.75, 1) if value >= lowest]
    size = (left + step * max(3, len(shown)) + 8, top + height + 34)
    return {"size": size, "zero": y(0), "left": left, "step": step, "ticks": ticks, "bars": bars, "base": top + height}
