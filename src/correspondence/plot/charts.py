"""Bars and points: PICs, a comparison of methods, a number of components."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from correspondence._util.arguments import check_whole
from correspondence._util.text import one_line
from correspondence.core.asymmetric import find_asymmetric
from correspondence.core.decomposition import as_decomposition
from correspondence.plot.style import STYLES, make_axes, simplify_frame
from correspondence.results.comparison import Comparison
from correspondence.results.component_tests import LatentDimension
from correspondence.results.evidence import find_judged
from correspondence.scene.colours import COLUMNS, GREY, ROWS
from correspondence.scene.many_columns import find_shares, has_many_columns, name_share
from correspondence.scene.points import check_axes
from correspondence.scene.triplot import is_constrained, make_triplot

__all__ = ["comparison", "dimension", "scree"]


def scree(d_or_est: Any, ax: Axes | None = None, *, n_components: int = 20) -> Axes:
    """Draw the PICs as bars, with the share of each in the total inertia.

    Of an analysis of many columns, the inertias are drawn with their shares, by the convention of the analysis; of a
    `CA` with constraints, the constrained axes stand apart from the unconstrained ones; of one with a response, the
    inertias are drawn with their shares of tau.

    Parameters
    ----------
    d_or_est : Decomposition or fitted estimator
        Draw the PICs of this decomposition.
    ax : Axes, optional
        Draw on these axes instead of new ones.
    n_components : int
        Draw at most this many bars.

    Returns
    -------
    Axes
        The axes with the bars.

    Examples
    --------
    >>> import correspondence as co
    >>> ax = co.plot.scree(co.CA().fit(co.datasets.load_smoke()))
    >>> [text.get_text() for text in ax.texts]
    ['87.8 %', '11.8 %', '0.5 %']
    """
    if find_asymmetric(d_or_est) is not None:
        return draw_response_scree(find_asymmetric(d_or_est), ax, check_whole(n_components, "n_components", 1))
    if is_constrained(d_or_est):
        return draw_constrained_scree(d_or_est, ax, check_whole(n_components, "n_components", 1))
    d = as_decomposition(d_or_est)
    check_axes(d, (1,))
    is_many = has_many_columns(d_or_est)
    pics = d_or_est.inertias_ if is_many else d.pics
    shares = find_shares(d_or_est) if is_many else d.inertia_ratios
    shown = min(d.n_components, check_whole(n_components, "n_components", 1))
    ax = make_axes(ax, (min(8.0, max(4.0, 2.2 + 0.6 * shown)), 4))
    bars = ax.bar(np.arange(1, shown + 1), pics[:shown], color=ROWS, width=0.7)
    if shares is not None:
        texts = [f"{100 * share:.1f} %" for share in shares[:shown]]
        ax.bar_label(bars, texts, fontsize=8, padding=3, rotation=0 if shown <= 8 else 90)
    ax.set_xticks(np.arange(1, shown + 1))
    ax.set_xlim(0.4, max(shown, 3) + 0.6)
    ax.set_ylim(0, 1.2 * pics[0] if pics[0] > 1e-12 else 1)
    whole = name_share(d_or_est) if is_many else "inertia"
    ax.set_xlabel("Component" if shares is None else f"Component, with its share of {whole}")
    ax.set_ylabel(f"Principal {whole}" if is_many else "Principal inertia component (PIC)")
    simplify_frame(ax)
    return ax


def draw_response_scree(d: Any, ax: Axes | None, most: int) -> Axes:
    """Draw the inertias of an analysis with a response, with their shares of tau."""
    check_axes(d, (1,))
    shown = min(d.n_components, most)
    ax = make_axes(ax, (min(8.0, max(4.0, 2.2 + 0.6 * shown)), 4))
    bars = ax.bar(np.arange(1, shown + 1), d.pics[:shown], color=ROWS, width=0.7)
    texts = [f"{100 * share:.1f} %" for share in d.inertia_ratios[:shown]]
    ax.bar_label(bars, texts, fontsize=8, padding=3, rotation=0 if shown <= 8 else 90)
    ax.set_xticks(np.arange(1, shown + 1))
    ax.set_xlim(0.4, max(shown, 3) + 0.6)
    ax.set_ylim(0, 1.2 * d.pics[0] if d.pics[0] > 1e-12 else 1)
    ax.set_xlabel(f"Component, with its share of tau = {d.tau:.3g}")
    ax.set_ylabel("Inertia: part of the numerator of tau")
    simplify_frame(ax)
    return ax


def draw_constrained_scree(ca: Any, ax: Axes | None, most: int) -> Axes:
    """Draw the inertias of constrained and of unconstrained axes apart, with their shares of all inertia."""
    scene = make_triplot(ca)
    shown = min(len(scene.axes), most)
    n = min(scene.n_constrained, shown)
    pics, shares = scene.pics[:shown], 100 * scene.pics[:shown] / scene.total
    at = np.arange(1, shown + 1) + 0.6 * (np.arange(shown) >= n)  # a gap between the two kinds
    ax = make_axes(ax, (min(9.0, max(4.5, 2.2 + 0.6 * shown)), 4))
    for part, colour, word in ((slice(0, n), ROWS, "constrained"), (slice(n, shown), GREY, "unconstrained")):
        whole = scene.constrained if word == "constrained" else float(scene.pics[scene.n_constrained :].sum())
        label = f"{word}: {100 * whole / scene.total:.1f} % of inertia"
        bars = ax.bar(at[part], pics[part], color=colour, width=0.7, label=label)
        texts = [f"{share:.1f} %" for share in shares[part]]
        ax.bar_label(bars, texts, fontsize=8, padding=3, rotation=0 if shown <= 8 else 90)
    ax.set_xticks(at, scene.axes[:shown], rotation=0 if shown <= 8 else 90)
    ax.set_xlim(0.4, max(at[-1], 3) + 0.6)
    ax.set_ylim(0, 1.25 * max(pics.max(), 1e-12))
    ax.set_xlabel("Axis, with its share of all inertia")
    ax.set_ylabel("Inertia")
    ax.legend(frameon=False, fontsize=8.5)
    simplify_frame(ax)
    return ax


def comparison(results: Comparison, ax: Axes | None = None, *, n_components: int = 10) -> Axes:
    """Draw the held-out correlations of several methods, with intervals, and their training values.

    Parameters
    ----------
    results : Comparison
        What `compare` returned.
    ax : Axes, optional
        Draw on these axes instead of new ones.
    n_components : int
        Draw at most this many components.

    Returns
    -------
    Axes
        Filled markers are held-out correlations with 95 % intervals, hollow ones those of the training: the distance
        between the two is overfitting.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 1)); y = x + rng.normal(size=(200, 1))
    >>> ax = co.plot.comparison(co.compare(x, y, ["cca"], n_components=1))
    >>> ax.get_xlabel()
    'Component'
    """
    if not isinstance(results, Comparison):
        raise TypeError(f"results must be what compare returns, got {type(results).__name__}.")
    check_whole(n_components, "n_components", 1)
    shown = min(n_components, max(len(result.correlations) for result in results.results.values()))
    ax = make_axes(ax, (max(6.0, 2.5 + 0.8 * shown), 5))
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
    style: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "frameon": False, "fontsize": 8}
    legend = ax.legend(handles, names, ncols=3, handletextpad=0.2, **style)
    for text in legend.get_texts():
        text.set_parse_math(False)
    simplify_frame(ax)
    return ax


def dimension(result: LatentDimension, ax: Axes | None = None, *, n_components: int = 20) -> Axes:
    """Draw the correlations that decided how many components there are.

    Parameters
    ----------
    result : LatentDimension
        What `latent_dimension` returned.
    ax : Axes, optional
        Draw on these axes instead of new ones.
    n_components : int
        Draw at most this many components.

    Returns
    -------
    Axes
        Filled markers are held-out correlations with intervals, hollow ones those of the training. The grey band is
        where chance keeps them, the dashed line is the cut, and the shaded strip is the interval of the number of
        components.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3)); Y = rng.normal(size=(300, 3)); Y[:, 0] += X[:, 0]
    >>> ax = co.plot.dimension(co.latent_dimension(co.CCA(n_components=3), X, Y))
    >>> ax.get_title(loc="left")
    '1 component (what a shared variable with 2 classes would give)'
    """
    if not isinstance(result, LatentDimension):
        raise TypeError(f"result must be what latent_dimension returns, got {type(result).__name__}.")
    shown = min(len(result.pvalues), check_whole(n_components, "n_components", 1))
    if not shown:
        raise ValueError("There are no components to draw.")
    ax = make_axes(ax, (max(7.5, 2.5 + 0.45 * shown), 4.5))  # the legend needs the width, however few components
    at = np.arange(1, shown + 1)
    judged = find_judged(result.intervals[:shown])
    # Chance keeps a correlation within the band: correlations of exchanged pairs are as often below 0 as above.
    band = np.where(judged, result.band[:shown], 0)
    edges, high = np.arange(0.5, shown + 1), np.append(band, band[-1])
    ax.fill_between(edges, -high, high, step="post", color="0.86", lw=0, zorder=0.5, label="chance")
    ax.plot(at, result.training[:shown], "o", mfc="none", mec=GREY, ms=6, label="training")
    ax.vlines(at[judged], *result.intervals[:shown][judged].T, color=ROWS, lw=1.5)
    held_out = np.where(judged, result.correlations[:shown], np.nan)
    ax.plot(at, held_out, "o", color=ROWS, ms=6, label=f"held out, {100 * (1 - result.alpha):g} %")
    _draw_cut(ax, result, shown)
    ax.axhline(0, color="0.75", lw=0.8, zorder=0)
    ax.set_xticks(at if shown <= 20 else at[4::5])
    ax.set_xlim(0.4, shown + 0.6)
    ax.set_xlabel("Component")
    ax.set_ylabel("Correlation of $f_i$ and $g_i$")
    ax.set_title(result.write_summary(), fontsize=11, loc="left", pad=24)
    ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=5, frameon=False, fontsize=8, columnspacing=1)
    simplify_frame(ax)
    return ax


def _draw_cut(ax: Axes, result: LatentDimension, shown: int) -> None:
    low, high = (min(end, shown) + 0.5 for end in result.interval)
    if high > low:
        ax.axvspan(low, high, color=COLUMNS, alpha=0.08, lw=0, zorder=0, label="interval of the number")
    ax.axvline(min(result.n_components, shown) + 0.5, color=COLUMNS, lw=1.5, ls="--", label="cut")
