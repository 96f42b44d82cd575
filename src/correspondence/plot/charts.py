"""Bars and points: PICs, contributions, a comparison of methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from correspondence.checks import check_whole
from correspondence.compare import Comparison
from correspondence.decomposition import as_decomposition
from correspondence.functions import LabelFunctions
from correspondence.plot.style import COLUMNS, GREY, ROWS, STYLES, check_axes, new_axes, one_line, plain

__all__ = ["comparison", "contributions", "scree"]


def scree(d_or_est: Any, ax: Axes | None = None, *, n_components: int = 20) -> Axes:
    """Draw the PICs as bars, with the share of each in chi2.

    Parameters
    ----------
    d_or_est : Decomposition or fitted estimator
        Of any two variables.
    ax : Axes, optional
        Where to draw.
    n_components : int
        At most so many bars.

    Returns
    -------
    Axes
    """
    d = as_decomposition(d_or_est)
    check_axes(d, (1,))
    shown = min(d.n_components, check_whole(n_components, "n_components", 1))
    ax = new_axes(ax, (min(8.0, max(4.0, 2.2 + 0.6 * shown)), 4))
    bars = ax.bar(np.arange(1, shown + 1), d.pics[:shown], color=ROWS, width=0.7)
    shares = [f"{100 * ratio:.1f} %" for ratio in d.inertia_ratios[:shown]]
    ax.bar_label(bars, shares, fontsize=8, padding=3, rotation=0 if shown <= 8 else 90)
    ax.set_xticks(np.arange(1, shown + 1))
    ax.set_xlim(0.4, max(shown, 3) + 0.6)
    ax.set_ylim(0, 1.2 * d.pics[0] if d.pics[0] > 1e-12 else 1)
    ax.set_xlabel("Component, with its share of chi2")
    ax.set_ylabel("Principal inertia component (PIC)")
    plain(ax)
    return ax


def contributions(
    d_or_est: Any, axis: int = 1, side: str = "columns", ax: Axes | None = None, *, most: int = 20
) -> Axes:
    """Draw which labels make up an axis.

    Parameters
    ----------
    d_or_est : Decomposition or fitted estimator
        Of two discrete variables.
    axis : int
        Counted from 1.
    side : {"rows", "columns"}
        Whose contributions.
    ax : Axes, optional
        Where to draw.
    most : int
        At most so many labels, the largest first.

    Returns
    -------
    Axes
        The colour of a bar tells on which side of the axis the label lies; the dashed line is what each label
        would contribute if all contributed the same.
    """
    d = as_decomposition(d_or_est)
    (index,) = check_axes(d, (axis,))
    if side not in ("rows", "columns"):
        raise ValueError(f'side must be "rows" or "columns", got {side!r}.')
    functions = _points(d.f if side == "rows" else d.g)
    known = np.flatnonzero(functions.mass > 0)
    value = 100 * functions.mass * functions.values[:, index] ** 2
    order = known[np.argsort(-value[known], kind="stable")][: check_whole(most, "most", 1)][::-1]
    positive = functions.values[order, index] >= 0
    ax = new_axes(ax, (7, 1.4 + 0.3 * len(order)))
    ax.barh(range(len(order)), value[order], color=np.where(positive, ROWS, COLUMNS))
    ax.set_yticks(range(len(order)), [one_line(functions.labels[i]) for i in order], parse_math=False)
    alike = ax.axvline(100 / len(known), color=GREY, lw=1, ls="--", label="equal shares")
    ax.set_xlabel(f"Contribution of {side} to axis {axis} (%)")
    sides = [Patch(color=ROWS, label="positive side"), Patch(color=COLUMNS, label="negative side")]
    ax.legend(handles=[*sides, alike], loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False, fontsize=8)
    plain(ax)
    return ax


def comparison(results: Comparison, ax: Axes | None = None, *, n_components: int = 10) -> Axes:
    """Draw the held-out correlations of several methods, with intervals, and their training values.

    Parameters
    ----------
    results : Comparison
        What `compare` returned.
    ax : Axes, optional
        Where to draw.
    n_components : int
        At most so many.

    Returns
    -------
    Axes
        Filled markers are held-out correlations with 95 % intervals, hollow ones those of the training: the distance
        between the two is what was learned by heart.
    """
    if not isinstance(results, Comparison):
        raise TypeError(f"results must be what compare returns, got {type(results).__name__}.")
    check_whole(n_components, "n_components", 1)
    shown = min(n_components, max(len(result.correlations) for result in results.results.values()))
    ax = new_axes(ax, (max(6.0, 2.5 + 0.8 * shown), 5))
    places = np.linspace(-0.36, 0.36, len(results.results)) if len(results.results) > 1 else np.zeros(1)
    handles, names = [], []
    for place, (name, result), (colour, marker) in zip(places, results.results.items(), STYLES, strict=False):
        k = min(shown, len(result.correlations))
        at, r = np.arange(1, k + 1) + place, result.correlations[:k]
        ax.vlines(at, *result.intervals[:k].T, color=colour, lw=1.2, alpha=0.7)
        ax.plot(at, result.training[:k], marker, mfc="none", mec=colour, ms=6, alpha=0.7)
        handles += ax.plot(at, r, marker, color=colour, ms=6)
        names.append(f"{one_line(name)}: captured {result.captured:.3g}")
    ax.axhline(0, color="0.75", lw=0.8, ls="--", zorder=0)
    for boundary in np.arange(1.5, shown):
        ax.axvline(boundary, color="0.9", lw=0.8, zorder=0)
    ax.set_xticks(np.arange(1, shown + 1))
    ax.set_xlim(0.5, shown + 0.5)
    ax.set_xlabel("Component")
    ax.set_ylabel("Correlation: held out (filled, 95 %), training (hollow)")
    legend = ax.legend(
        handles,
        names,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=3,
        frameon=False,
        fontsize=8,
        handletextpad=0.2,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    plain(ax)
    return ax


def _points(functions: Any) -> LabelFunctions:
    if not isinstance(functions, LabelFunctions):
        raise TypeError("This picture needs a decomposition of two discrete variables, such as that of a fitted CA.")
    return functions
