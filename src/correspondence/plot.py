"""Pictures of a decomposition: the factoring plane, the scree and the contributions. They only read, never estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
import textalloc
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.patches import Ellipse

from correspondence.bootstrap import Bootstrap, Ellipses
from correspondence.decomposition import Decomposition, as_decomposition
from correspondence.functions import LabelFunctions

__all__ = ["MAPS", "contributions", "plane", "scree"]

ROWS, COLUMNS = "#0067A5", "#C1440E"  # told apart by colour-blind readers, and by marker
GREY = "0.45"

Scaling = Literal["principal", "standard", "symmetric", "mass", "root_mass"]

MAPS: dict[str, tuple[Scaling, Scaling]] = {
    "symmetric": ("principal", "principal"),
    "rowprincipal": ("principal", "standard"),
    "colprincipal": ("standard", "principal"),
    "symbiplot": ("symmetric", "symmetric"),
    "rowgab": ("principal", "mass"),
    "colgab": ("mass", "principal"),
    "rowgreen": ("principal", "root_mass"),
    "colgreen": ("root_mass", "principal"),
}


@dataclass(frozen=True)
class _Cloud:
    """Points of one side, ready to be drawn."""

    name: str
    labels: np.ndarray
    xy: np.ndarray
    mass: np.ndarray
    weight: np.ndarray
    """How much each label deserves to be written out: its contribution to the plane."""
    is_principal: bool
    colour: str
    marker: str


def plane(
    d_or_est: Any,
    axes: tuple[int, int] = (1, 2),
    map: str = "symmetric",
    ax: Axes | None = None,
    *,
    size_by_mass: bool = False,
    ellipses: Bootstrap | None = None,
    level: float = 0.95,
    max_labels: int = 80,
    names: tuple[str, str] = ("rows", "columns"),
) -> Axes:
    """Draw the factoring plane: rows and columns as points of the same picture.

    Parameters
    ----------
    d_or_est : Decomposition or fitted estimator
        Of two discrete variables.
    axes : (int, int)
        Which components, counted from 1.
    map : str
        How the two sides are scaled. "symmetric" has both in principal coordinates: rows may be compared with
        rows and columns with columns, but the distance of a row from a column means nothing. "rowprincipal" and
        "colprincipal" have one side in standard coordinates; "rowgab", "colgab", "rowgreen" and "colgreen" have it
        multiplied by the mass or its root, and "symbiplot" shares the singular values out: in these, the projection
        of a row on the direction of a column shows how far the cell is above or below independence.
    ax : Axes, optional
        Where to draw.
    size_by_mass : bool
        Make the area of a point proportional to its mass.
    ellipses : Bootstrap, optional
        What ``CA.bootstrap`` returned: confidence ellipses of the points in principal coordinates.
    level : float
        Of the ellipses.
    max_labels : int
        At most so many labels are written, those that contribute most first, and none over another.
    names : (str, str)
        What the legend calls rows and columns.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA().fit(co.datasets.load_smoke())
    >>> ax = co.plot.plane(ca, map="rowprincipal")
    >>> ax.get_xlabel()
    'Axis 1: PIC 0.0748, 87.8 % of chi2'
    """
    d = as_decomposition(d_or_est)
    index = _check_axes(d, axes)
    rows, columns = _clouds(d, index, map, names)
    ax = _new_axes(ax, (8, 6.5) if len(index) == 2 else (8, 2.5))
    ax.axhline(0, color="0.75", lw=0.8, ls="--", zorder=0)
    ax.axvline(0, color="0.75", lw=0.8, ls="--", zorder=0)
    for cloud in (rows, columns):
        _scatter(ax, cloud, size_by_mass)
    if ellipses is not None:
        _draw_ellipses(ax, rows, columns, ellipses, axes, level)
    _label_axes(ax, d, index)
    _add_legend(ax)
    _write_labels(ax, rows, columns, max_labels)
    return ax


def scree(d_or_est: Any, ax: Axes | None = None, *, n_components: int = 20) -> Axes:
    """Draw the PICs as bars, with the share of each in chi2.

    Parameters
    ----------
    d_or_est : Decomposition or fitted estimator
        What to draw.
    ax : Axes, optional
        Where to draw.
    n_components : int
        At most so many bars.

    Returns
    -------
    Axes
    """
    d = as_decomposition(d_or_est)
    shown = min(d.n_components, n_components)
    ax = _new_axes(ax, (max(4.0, 1.5 + 0.55 * shown), 4))
    bars = ax.bar(np.arange(1, shown + 1), d.pics[:shown], color=ROWS, width=0.7)
    shares = [f"{100 * ratio:.1f} %" for ratio in d.inertia_ratios[:shown]]
    ax.bar_label(bars, shares, fontsize=8 if shown <= 8 else 7, padding=2)
    ax.set_xticks(np.arange(1, shown + 1))
    ax.margins(y=0.1)
    ax.set_xlabel("Component")
    ax.set_ylabel("Principal inertia component (PIC)")
    _plain(ax)
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
        Bars to the right stand for labels on the positive side of the axis; the dashed line is what each
        would contribute if all did alike.
    """
    d = as_decomposition(d_or_est)
    (index,) = _check_axes(d, (axis,))
    if side not in ("rows", "columns"):
        raise ValueError(f'side must be "rows" or "columns", got {side!r}.')
    functions = _points(d.f if side == "rows" else d.g)
    value = functions.mass * functions.values[:, index] ** 2
    order = np.argsort(-np.nan_to_num(value), kind="stable")[:most][::-1]
    positive = functions.values[order, index] >= 0
    ax = _new_axes(ax, (7, 1.2 + 0.3 * len(order)))
    ax.barh(range(len(order)), 100 * value[order], color=np.where(positive, ROWS, COLUMNS))
    ax.set_yticks(range(len(order)), [_text(functions.labels[i]) for i in order])
    ax.axvline(100 / np.count_nonzero(functions.mass), color=GREY, lw=1, ls="--")
    ax.set_xlabel(f"Contribution of {side} to axis {axis} (%)")
    ax.legend(
        handles=[plt.Rectangle((0, 0), 1, 1, color=ROWS), plt.Rectangle((0, 0), 1, 1, color=COLUMNS)],
        labels=["positive side", "negative side"],
        loc="lower right",
        frameon=False,
    )
    _plain(ax)
    return ax


def _points(functions: Any) -> LabelFunctions:
    if not isinstance(functions, LabelFunctions):
        raise TypeError("This picture needs a decomposition of two discrete variables, such as that of a fitted CA.")
    return functions


def _check_axes(d: Decomposition, axes: tuple[int, ...]) -> list[int]:
    """Indices of the components; a missing second one is left out if there is only one in all."""
    if d.n_components == 0:
        raise ValueError("There are no components to draw.")
    wanted = axes[:1] if len(axes) == 2 and d.n_components == 1 and axes[0] == 1 else axes
    for axis in wanted:
        if not 1 <= axis <= d.n_components:
            raise ValueError(f"There is no axis {axis}: the decomposition has {d.n_components}, counted from 1.")
    return [axis - 1 for axis in wanted]


def _clouds(d: Decomposition, index: list[int], map: str, names: tuple[str, str]) -> tuple[_Cloud, _Cloud]:
    if map not in MAPS:
        raise ValueError(f"map must be one of {', '.join(MAPS)}, got {map!r}.")
    s = d.correlations[index]
    of_rows, of_columns = MAPS[map]
    rows = _cloud(_points(d.f), s, index, of_rows, names[0], ROWS, "o")
    columns = _cloud(_points(d.g), s, index, of_columns, names[1], COLUMNS, "^")
    return rows, columns


def _cloud(
    functions: LabelFunctions, s: np.ndarray, index: list[int], scaling: Scaling, name: str, colour: str, marker: str
) -> _Cloud:
    known = np.isfinite(functions.values).all(axis=1)
    standard, mass = functions.values[known][:, index], functions.mass[known]
    factor = {
        "principal": s[None, :],
        "standard": np.ones((1, 1)),
        "symmetric": np.sqrt(s)[None, :],
        "mass": mass[:, None],
        "root_mass": np.sqrt(mass)[:, None],
    }[scaling]
    xy = standard * factor
    if len(index) == 1:
        xy = np.column_stack([xy, np.zeros(len(xy))])
    weight = mass * ((standard * s) ** 2).sum(axis=1)
    return _Cloud(name, functions.labels[known], xy, mass, weight, scaling == "principal", colour, marker)


def _new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def _scatter(ax: Axes, cloud: _Cloud, size_by_mass: bool) -> None:
    ax.scatter(
        cloud.xy[:, 0],
        cloud.xy[:, 1],
        s=_sizes(cloud, size_by_mass),
        marker=cloud.marker,
        color=cloud.colour,
        alpha=0.45 if size_by_mass else 0.9,
        linewidths=0,
        label=cloud.name,
        rasterized=len(cloud.xy) > 5000,
    )


def _sizes(cloud: _Cloud, by_mass: bool) -> np.ndarray:
    """Areas of the markers in square points."""
    if by_mass:
        return 12 + 500 * cloud.mass / cloud.mass.max()
    return np.full(len(cloud.mass), 28.0 if len(cloud.mass) < 500 else 6.0)


def _draw_ellipses(
    ax: Axes, rows: _Cloud, columns: _Cloud, spread: Bootstrap, axes: tuple[int, int], level: float
) -> None:
    if not (rows.is_principal or columns.is_principal):
        raise ValueError('ellipses are in principal coordinates: choose a map that has some, such as "symmetric".')
    for cloud, of_side in ((rows, spread.row_ellipses), (columns, spread.column_ellipses)):
        if cloud.is_principal:
            _add_ellipses(ax, cloud, of_side(axes, level))


def _add_ellipses(ax: Axes, cloud: _Cloud, ellipses: Ellipses) -> None:
    for xy, width, height, angle in zip(cloud.xy, ellipses.width, ellipses.height, ellipses.angle, strict=True):
        if np.isfinite(width):
            patch = Ellipse(xy, width, height, angle=angle, fc=cloud.colour, ec=cloud.colour, alpha=0.12, lw=0.8)
            ax.add_patch(patch)
    ax.autoscale_view()


def _label_axes(ax: Axes, d: Decomposition, index: list[int]) -> None:
    texts = [f"Axis {i + 1}: PIC {d.pics[i]:.4f}, {100 * d.inertia_ratios[i]:.1f} % of chi2" for i in index]
    ax.set_xlabel(texts[0])
    if len(texts) == 2:
        ax.set_ylabel(texts[1])
    else:
        ax.set_yticks([])
    ax.margins(0.12)
    ax.set_aspect("equal", adjustable="datalim")


def _add_legend(ax: Axes) -> None:
    legend = ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False, handletextpad=0.2)
    for handle in legend.legend_handles:
        if isinstance(handle, PathCollection):
            handle.set_sizes([36])


def _write_labels(ax: Axes, rows: _Cloud, columns: _Cloud, most: int) -> None:
    """Labels beside their points and clear of each other; the least important and those without room are left out."""
    xy = np.vstack([rows.xy, columns.xy])
    weight = np.concatenate([rows.weight, columns.weight])
    colours = [rows.colour] * len(rows.xy) + [columns.colour] * len(columns.xy)
    labels = np.concatenate([rows.labels.astype(object), columns.labels.astype(object)])
    chosen = np.argsort(-weight, kind="stable")[:most]
    if not len(chosen):
        return
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # places depend on the final limits
    textalloc.allocate(
        ax,
        xy[chosen, 0],
        xy[chosen, 1],
        [_text(labels[i]) for i in chosen],
        x_scatter=xy[:5000, 0],
        y_scatter=xy[:5000, 1],
        textsize=8,
        textcolor=[colours[i] for i in chosen],
        linecolor="0.6",
        linewidth=0.5,
        min_distance=0.008,
        max_distance=0.25,
        draw_all=False,
    )
    for text in ax.texts:
        text.set_in_layout(False)


def _text(label: Any, most: int = 40) -> str:
    """Label as text that matplotlib does not take for mathematics."""
    text = " ".join(str(label).split()) or "''"
    return (text if len(text) <= most else text[: most - 1] + "…").replace("$", r"\$")


def _plain(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
