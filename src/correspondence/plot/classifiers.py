"""Several classifiers in their common plane."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from correspondence._util.arguments import check_whole
from correspondence._util.text import one_line
from correspondence.plot.planes import plane
from correspondence.results.comparison import ClassifierComparison
from correspondence.scene.colours import COLUMNS
from correspondence.scene.points import check_axes

__all__ = ["classifiers"]


def classifiers(comparison: ClassifierComparison, axes: tuple[int, int] = (1, 2), *, n: int = 30) -> Figure:
    """Draw the inputs as each classifier sees them, in one plane, and how far they move from one to another.

    Parameters
    ----------
    comparison : ClassifierComparison
        What `compare_classifiers` returned.
    axes : (int, int)
        Draw these components of the common space, counted from 1.
    n : int
        Follow this many of the inputs on which the models disagree most from the first model to the second.

    Returns
    -------
    Figure
        A plane for each model, coloured by what it predicts, with the boundaries. The last one has an arrow for each of
        the n inputs, from where the first model sees it to where the second does, red if it predicts another class.

    Examples
    --------
    >>> import correspondence as co
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> models = [LogisticRegression(max_iter=1000).fit(X[::2], y[::2]), GaussianNB().fit(X[::2], y[::2])]
    >>> figure = co.plot.classifiers(co.compare_classifiers(models, X[1::2]))
    >>> len(figure.axes)                            # one for each model, and one for what moves
    3
    """
    if not isinstance(comparison, ClassifierComparison):
        raise TypeError(f"comparison must be what compare_classifiers returns, got {type(comparison).__name__}.")
    index = check_axes(comparison.common.decomposition_, axes)
    if len(index) < 2:
        raise ValueError("There is only one component to draw. With two classes, compare the beliefs themselves.")
    check_whole(n, "n", 1)
    panels = len(comparison.names) + 1
    columns = 2 if panels == 4 else min(panels, 3)
    rows = -(-panels // columns)
    size = (5.2 * columns, 5.4 * rows)
    figure, grid = plt.subplots(
        rows, columns, figsize=size, layout="constrained", sharex=True, sharey=True, squeeze=False
    )
    places = grid.ravel()
    for ax, name, P in zip(places, comparison.names, comparison.beliefs, strict=False):
        _draw_plane(ax, comparison, axes, P)
        ax.set_title(one_line(name), loc="left", parse_math=False)
    draw_moves(places[panels - 1], comparison, axes, n)
    for ax in places[panels:]:
        ax.set_visible(False)
    return figure


def _draw_plane(ax: Axes, comparison: ClassifierComparison, axes: tuple[int, int], P: np.ndarray) -> None:
    plane(comparison.common, axes, "rowprincipal", ax, X=P, boundaries=True)
    ax.legend_ = None  # the classes are written beside their points


def draw_moves(ax: Axes, comparison: ClassifierComparison, axes: tuple[int, int], n: int) -> None:
    """Draw arrows from where the first model sees the inputs to where the second does."""
    rows = comparison.most_index(n)
    _draw_plane(ax, comparison, axes, comparison.beliefs[0, rows])
    index = [axis - 1 for axis in axes]
    scale = comparison.common.correlations_[index]
    start, end = (comparison.positions(name)[rows][:, index] * scale for name in comparison.names[:2])
    differs = comparison.predictions[0, rows] != comparison.predictions[1, rows]
    style: dict[str, Any] = {"arrowstyle": "-|>", "lw": 0.9, "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0}
    for a, b, colour in zip(start, end, np.where(differs, COLUMNS, "0.6").tolist(), strict=True):
        ax.annotate("", tuple(b), tuple(a), arrowprops=style | {"color": colour, "alpha": 0.8})
    first, second = (one_line(name) for name in comparison.names[:2])
    ax.set_title(
        f"from {first} to {second},\n{len(rows)} largest moves (red: other class)", loc="left", parse_math=False
    )
