"""Associations of columns: a heatmap that shows blocks, or bars for one target."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Patch, Rectangle

from correspondence._util.arguments import check_whole
from correspondence._util.text import one_line
from correspondence.plot.layout import arrange_plane
from correspondence.plot.legends import LegendParts
from correspondence.plot.style import make_axes, simplify_frame
from correspondence.results.associations import Associations
from correspondence.scene.associations import HEAT_COLOURS, Heatmap, make_heatmap
from correspondence.scene.colours import COLUMNS, GREY, ROWS

__all__ = ["associations"]

MAX_WRITTEN, MAX_NAMED = 20, 80  # columns whose figures, and whose names, are written
MAX_HOLLOW = 60  # columns of a heatmap with hollow cells; in larger ones these are only paler
MAX_STRONGEST_NAMED, NAME_SIZE_POINTS = 20, 5.5  # columns that are named if not all are
MAX_NAME_LETTERS, MAX_TITLE_LETTERS = 28, 60
CELL_INCHES, MARGIN_INCHES, MAX_INCHES = 0.46, 2.6, 11.0
LETTER_HEIGHT = 0.9  # of a name, by its size
POINTS_OF_CELLS = 72 * (MAX_INCHES - MARGIN_INCHES)  # about the side of a large heatmap
BAR_INCHES = 0.28
HOLLOW_SIDES, HOLLOW_COLOUR = (0.72, 0.34), "0.72"  # of cells with and without figures
PALE_SHARE = 0.2  # of its colour, that a cell keeps which may be chance
DARK_SHARE = 0.55  # of the limit, from which on figures are written in white

HEAT = LinearSegmentedColormap.from_list("associations", HEAT_COLOURS)


def associations(a: Associations, values: str = "correlations", ax: Axes | None = None, *, max_bars: int = 40) -> Axes:
    """Draw which columns go together: a heatmap in an order that shows blocks, or bars if there is a target.

    Pairs that are not more than chance, at the false discovery rate of the associations, are hollow (in a heatmap of
    more than 60 columns: pale). Figures are written for up to 20 columns, and names for up to 80; of more
    columns, up to 20 of those in the strongest pairs are named.

    Parameters
    ----------
    a : Associations
        What `correspondence.associations` returned.
    values : {"correlations", "captured", "predicted"}
        Draw these figures, all of held-out rows. "predicted" is not symmetric: a cell tells how much of the column
        below is predicted by the column at its left.
    ax : Axes, optional
        Draw on these axes instead of new ones.
    max_bars : int
        Draw at most this many bars, the longest.

    Returns
    -------
    Axes
        The axes with the heatmap or the bars.

    Examples
    --------
    >>> import correspondence as co
    >>> a = co.associations(co.datasets.load_poison())
    >>> ax = co.plot.associations(a)
    """
    heatmap = make_heatmap(a, values)
    check_whole(max_bars, "max_bars", 1)
    if a.target is not None:
        return draw_target_bars(a, values, heatmap, ax, max_bars)
    k = len(heatmap.names)
    side = float(np.clip(CELL_INCHES * k, 2.5, MAX_INCHES - MARGIN_INCHES))
    ax = make_axes(ax, (side + MARGIN_INCHES + 0.6, side + MARGIN_INCHES))
    image = draw_cells(ax, heatmap)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, pad=0.02)
    bar.set_label(heatmap.title[:1].upper() + heatmap.title[1:])
    bar.outline.set_visible(False)
    write_names(ax, heatmap)
    if values == "predicted":
        ax.set_ylabel("known column")
        ax.set_xlabel("predicted column")
    if k <= MAX_WRITTEN:
        write_figures(ax, heatmap)
    write_note(ax, "; ".join(_list_notes(a, k, len(choose_named(heatmap)))))
    write_condition(ax, a, 20)
    return ax


def write_note(ax: Axes, text: str) -> None:
    """Write a text above the cells."""
    style: dict[str, Any] = {"fontsize": 7.5, "color": "0.4", "va": "bottom", "gid": "caption"}
    offset: dict[str, Any] = {"xytext": (0, 5), "textcoords": "offset points", "xycoords": "axes fraction"}
    ax.annotate(text, (0, 1), **style, **offset)


def write_condition(ax: Axes, a: Associations, pad_points: float) -> None:
    """Write what is given above the axes, so far from them."""
    if a.given:
        text = one_line(f"Given {a.condition.removeprefix('given ')}", MAX_TITLE_LETTERS)
        ax.set_title(text, loc="left", fontsize=10, pad=pad_points, parse_math=False)


def draw_cells(ax: Axes, heatmap: Heatmap) -> Any:
    """Draw the cells: of pairs that may be chance outlines, or if there are many, pale ones."""
    k = len(heatmap.names)
    is_hollow = k <= MAX_HOLLOW
    shares = np.clip(heatmap.figures / heatmap.limit, 0, 1)
    colours = HEAT(np.nan_to_num(shares))
    pale = 1 - PALE_SHARE * (1 - colours)
    colours = np.where(heatmap.found[..., None], colours, 1.0 if is_hollow else pale)
    colours[np.isnan(heatmap.figures)] = (0.9, 0.9, 0.9, 1)  # the diagonal, and what was not tested
    image = ax.imshow(colours, interpolation="nearest" if k <= 200 else "auto", aspect="equal")
    image.set_cmap(HEAT)
    image.set_clim(0, heatmap.limit)
    if is_hollow:
        side = HOLLOW_SIDES[0] if k <= MAX_WRITTEN else HOLLOW_SIDES[1]
        for i, j in np.argwhere(~heatmap.found & ~np.isnan(heatmap.figures)).tolist():
            style: dict[str, Any] = {"fc": "none", "ec": HOLLOW_COLOUR, "lw": 0.7, "gid": "hollow"}
            ax.add_patch(Rectangle((j - side / 2, i - side / 2), side, side, **style))
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return image


def write_names(ax: Axes, heatmap: Heatmap, most: int = MAX_NAMED) -> None:
    """Write the names of the columns below and beside, of more than `most` columns those of the strongest pairs."""
    k = len(heatmap.names)
    chosen = choose_named(heatmap, most)
    texts = [one_line(heatmap.names[j], MAX_NAME_LETTERS) for j in chosen]
    size = float(np.clip(380 / k, 4.5, 9)) if k <= most else NAME_SIZE_POINTS
    ax.set_xticks(chosen, texts, rotation=90, fontsize=size, parse_math=False)
    ax.set_yticks(chosen, texts, fontsize=size, parse_math=False)
    ax.tick_params(length=0 if k <= most else 3)


def choose_named(heatmap: Heatmap, most: int = MAX_NAMED) -> list[int]:
    """Choose the columns that are named: all, or of many those of the strongest pairs that are more than chance.

    Those so near to one that is named that their names would overlap are left out.
    """
    k = len(heatmap.names)
    if k <= most:
        return list(range(k))
    strength = np.where(heatmap.found, np.nan_to_num(heatmap.figures), 0)
    best = np.fmax(strength, strength.T).max(axis=0)
    apart, chosen = k * LETTER_HEIGHT * NAME_SIZE_POINTS / POINTS_OF_CELLS, list[int]()
    for j in np.argsort(-best, kind="stable").tolist():
        if best[j] > 0 and len(chosen) < MAX_STRONGEST_NAMED and all(abs(j - i) >= apart for i in chosen):
            chosen.append(j)
    return sorted(chosen)


def write_figures(ax: Axes, heatmap: Heatmap) -> None:
    """Write the figure of each pair in its cell."""
    for i, j in np.argwhere(~np.isnan(heatmap.figures)).tolist():
        value = float(heatmap.figures[i, j])
        is_dark = heatmap.found[i, j] and value > DARK_SHARE * heatmap.limit
        colour = "white" if is_dark else "0.1" if heatmap.found[i, j] else "0.5"
        ax.text(j, i, write_share(value), ha="center", va="center", fontsize=7, color=colour, gid="figure")


def write_share(value: float) -> str:
    """Write a figure with two digits, and without the zero before the point."""
    text = f"{value:.2f}".replace("0.", ".", 1).replace("-", "\N{MINUS SIGN}")
    return "0" if text.endswith(".00") and abs(value) < 0.5 else text


def draw_target_bars(a: Associations, values: str, heatmap: Heatmap, ax: Axes | None, most: int) -> Axes:
    """Draw how strongly each column goes with the target, the strongest above."""
    target = int(np.flatnonzero([str(name) == str(a.target) for name in np.asarray(a.columns)[a.order]])[0])
    others = np.delete(np.arange(len(heatmap.names)), target)
    lengths = heatmap.figures[:, target]
    chosen = others[np.argsort(-np.nan_to_num(lengths[others], nan=-np.inf), kind="stable")][:most][::-1]
    found, shown = heatmap.found[chosen, target], lengths[chosen]
    ax = make_axes(ax, (7, 1.5 + BAR_INCHES * len(chosen)))
    faces = [ROWS if is_found else "none" for is_found in found.tolist()]
    edges = [ROWS if is_found else GREY for is_found in found.tolist()]
    ax.barh(range(len(chosen)), shown, color=faces, edgecolor=edges, linewidth=0.9, height=0.7)
    back = heatmap.figures[target, chosen] if values == "predicted" else shown
    right = np.maximum(np.fmax(shown, back), 0)
    for i, value in enumerate(shown.tolist()):
        offset: dict[str, Any] = {
            "xytext": (6, 0),
            "textcoords": "offset points",
            "va": "center",
            "fontsize": 8,
            "gid": "figure",
        }
        ax.annotate(write_share(value), (right[i], i), **offset)
    names = [one_line(heatmap.names[i], MAX_NAME_LETTERS) for i in chosen]
    ax.set_yticks(range(len(chosen)), names, fontsize=9, parse_math=False)
    low, high = np.nanmin([*shown, *back], initial=0.0), np.nanmax([*right], initial=0.1)
    ax.set_xlim(float(1.1 * low), float(1.12 * high))
    ax.axvline(0, color="0.6", lw=0.8, zorder=0)
    title = f"{heatmap.title[:1].upper()}{heatmap.title[1:]}"
    name = one_line(a.target, MAX_NAME_LETTERS)
    ax.set_xlabel(f"{title}: {name}" if values == "predicted" else f"{title}, with {name}", parse_math=False)
    if values == "predicted":
        ax.plot(back, range(len(chosen)), "D", ms=4.5, color=COLUMNS, zorder=3)
        handles = [Patch(color=ROWS, label="of the target, by the column"), ax.lines[-1]]
        handles[1].set_label("of the column, by the target")
        ax.legend(handles=handles, frameon=False, fontsize=8.5, loc="lower right")
    simplify_frame(ax)
    left = len(others) - len(chosen)
    notes = [*_list_notes(a, 0), *([f"not drawn: {left:,} shorter bars"] if left else [])]
    arrange_plane(ax, LegendParts([], 1, is_beside=False), notes)
    write_condition(ax, a, 6)
    return ax


def _list_notes(a: Associations, k: int, n_named: int = 0) -> list[str]:
    """List what the looks of cells or bars mean, and what is not written."""
    looks = "Pale" if k > MAX_HOLLOW else "Hollow"
    notes = [f"{looks}: may be chance (false discovery rate {100 * a.alpha:g} %)"]
    strongest = f"names of {n_named:,} of {k:,} columns, those of the strongest pairs"
    return notes + ([strongest if n_named else f"without the names of {k:,} columns"] if k > MAX_NAMED else [])
