"""Associations of columns as a heatmap: which figures in which order, how dark, and which of them may be chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.text import short_repr
from correspondence.results.associations import Associations

__all__ = ["HEAT_COLOURS", "HEAT_VALUES", "Heatmap", "find_limit", "make_heatmap"]

HEAT_VALUES = {
    "correlations": "correlation on held-out rows",
    "captured": "captured dependence, held out",
    "predicted": "share predicted on held-out rows",
}
HEAT_COLOURS = ("#eef4f9", "#a9cde4", "#4795c9", "#0067a5", "#00305a")  # from 0 to the limit


@dataclass(frozen=True, eq=False)
class Heatmap:
    """A matrix of figures of pairs of columns, in an order that shows blocks.

    Attributes
    ----------
    names : list of str
        The names of the columns, in this order.
    figures : ndarray of shape (k, k)
        The figures; NaN on the diagonal and for pairs that were not tested.
    found : ndarray of bool of shape (k, k)
        Which pairs go together more than chance.
    limit : float
        The figure that has the darkest colour.
    title : str
        What the figures are.
    """

    names: list[str]
    figures: np.ndarray
    found: np.ndarray
    limit: float
    title: str


def make_heatmap(a: Associations, values: str) -> Heatmap:
    """Make the heatmap of one kind of figures, such as "correlations"."""
    if not isinstance(a, Associations):
        raise TypeError(f"a must be what co.associations returned, got {type(a).__name__}.")
    if values not in HEAT_VALUES:
        raise ValueError(f"values must be one of {', '.join(HEAT_VALUES)}, got {short_repr(values)}.")
    order = np.ix_(a.order, a.order)
    figures = np.array(getattr(a, values), dtype=float)[order]
    np.fill_diagonal(figures, np.nan)
    names = [str(name) for name in np.asarray(a.columns, dtype=object)[a.order]]
    return Heatmap(names, figures, np.asarray(a.found)[order], find_limit(figures), HEAT_VALUES[values])


def find_limit(figures: Any) -> float:
    """Return the figure of the darkest colour: 1, or the largest one if captured dependence exceeds that."""
    return max(1.0, float(np.nanmax(figures, initial=0.0)))
