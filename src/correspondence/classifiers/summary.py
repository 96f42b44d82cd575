"""The analysis of a classifier in some lines."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["format_summary"]

MOST_COMPONENTS = 10
MOST_CONFUSED_PAIRS = 5


def format_summary(est: Any) -> str:
    """Format the components and the most confused pairs of a fitted `ClassifierCA`."""
    names, G, held = est.classes_, est.decomposition_.g.values, est.held_out_
    n = est.decomposition_.n
    counted = f"beliefs of {n:,.10g} inputs" if est.group is None else f"which are believed of {n:,.1f} inputs in all"
    lines = [
        f"{len(names)} classes{'' if est.group is None else ' of a group'}, {counted}",
        "  component   correlation claimed" + ("   on labels" if held is not None else "") + "   tells apart",
    ]
    for i, r in enumerate(est.correlations_[:MOST_COMPONENTS]):
        on_labels = "" if held is None else f"   {held.correlations[i]:9.4f}"
        low, high = names[np.nanargmin(G[:, i])], names[np.nanargmax(G[:, i])]
        lines.append(f"  {i + 1:9d}   {r:19.4f}{on_labels}   {low} and {high}")
    if len(est.correlations_) > MOST_COMPONENTS:
        lines.append(f"  ... and {len(est.correlations_) - MOST_COMPONENTS} more components")
    overlaps = np.triu(est.overlap_, 1)
    order = np.argsort(-overlaps, axis=None, kind="stable")[: min(MOST_CONFUSED_PAIRS, int((overlaps > 0).sum()))]
    for a, b in zip(*np.unravel_index(order, overlaps.shape), strict=True):
        lines.append(f"  confused: {names[a]} and {names[b]}, overlap {overlaps[a, b]:.3f}")
    return "\n".join(lines)
