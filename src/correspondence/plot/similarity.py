"""Which classes a classifier confuses: a tree of its classes beside a heatmap of their overlaps."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator
from scipy.cluster.hierarchy import dendrogram as lay_out_tree

from correspondence._util.text import one_line
from correspondence.plot.dendrograms import colour_branches
from correspondence.plot.heatmaps import (
    CELL_INCHES,
    MARGIN_INCHES,
    MAX_INCHES,
    MAX_NAME_LETTERS,
    MAX_WRITTEN,
    draw_cells,
    write_figures,
    write_names,
    write_note,
)
from correspondence.plot.style import make_axes, simplify_frame
from correspondence.results.class_similarity import ClassSimilarity
from correspondence.scene.associations import Heatmap
from correspondence.scene.colours import list_distinct_colours

__all__ = ["class_similarity"]

MAX_CLASSES_NAMED = 120
TREE_PLACE = (-0.42, 0.0, 0.41, 1.0)  # left, bottom, width and height as shares of the heatmap
TREE_REACH = 1.08  # the largest overlap that the tree shows, by that of the most confused pair
LETTER_INCHES = 0.09


def class_similarity(similarity: Any, ax: Axes | None = None, *, min_overlap: float | None = None) -> Axes:
    """Draw which classes a classifier confuses: a tree of the classes, and a heatmap in the same order.

    A cell is as dark as the overlap of two classes: the cosine between the beliefs in them, which is 0 if no input is
    possibly both. A branch of the tree joins classes at their average overlap. Groups that are confused among
    themselves have a colour in the tree and a frame in the heatmap.

    Parameters
    ----------
    similarity : ClassSimilarity or fitted ClassifierCA
        What `ClassifierCA.class_similarity` returned, or the analysis itself.
    ax : Axes, optional
        Draw the heatmap on these axes, and the tree at their left, instead of on new ones.
    min_overlap : float, optional
        Groups are branches with at least this average overlap; by default half the overlap of the most confused pair.

    Returns
    -------
    Axes
        The axes with the heatmap; the tree is in ``ax.child_axes[0]``.

    Examples
    --------
    >>> import correspondence as co
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LogisticRegression(C=0.001, max_iter=1000).fit(X[::2], y[::2])
    >>> ax = co.plot.class_similarity(co.ClassifierCA(model).fit(X[1::2]))
    """
    if hasattr(similarity, "class_similarity"):
        similarity = similarity.class_similarity()
    if not isinstance(similarity, ClassSimilarity):
        raise TypeError(
            "similarity must be a fitted ClassifierCA or what its class_similarity returned, got "
            f"{type(similarity).__name__}."
        )
    groups = _number_groups(similarity, min_overlap)
    heatmap = make_overlap_heatmap(similarity)
    k = len(heatmap.names)
    side = float(np.clip(CELL_INCHES * k, 2.5, MAX_INCHES - MARGIN_INCHES))
    room = LETTER_INCHES * min(MAX_NAME_LETTERS, max(map(len, heatmap.names)))
    is_new, ax = ax is None, make_axes(ax, (1.42 * side + room + 1.3, side + room + 0.4))
    image = draw_cells(ax, heatmap)
    ax.set_aspect("auto")  # or the tree, which is as high, would be cut off by the layout
    ax.yaxis.tick_right()
    write_names(ax, heatmap, MAX_CLASSES_NAMED)
    if k <= MAX_WRITTEN:
        write_figures(ax, heatmap)
    palette = list_distinct_colours(max(int(groups.max(initial=-1)) + 1, 1))
    draw_class_tree(ax, similarity, groups, palette)
    frame_groups(ax, groups[similarity.order], palette)
    if groups.max() >= 0:
        least = similarity.max_overlap / 2 if min_overlap is None else min_overlap
        write_note(ax, f"Framed: groups with an average overlap of {least:.2g} or more")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.6, pad=0.02)
    bar.set_label(heatmap.title.replace(" in two", "\nin two"), fontsize="small")  # which fits beside two classes
    bar.outline.set_visible(False)
    if is_new and isinstance(ax.figure, Figure):
        ax.figure.draw_without_rendering()  # the tree grows with the heatmap, so its room is found in two steps
    return ax


def make_overlap_heatmap(similarity: ClassSimilarity) -> Heatmap:
    """Make the heatmap of the overlaps, in the order of the tree; the darkest colour is that of the largest one."""
    figures = np.array(similarity.overlap[np.ix_(similarity.order, similarity.order)])
    np.fill_diagonal(figures, np.nan)
    names = [one_line(name, MAX_NAME_LETTERS) for name in similarity.classes[similarity.order].tolist()]
    found = np.ones(figures.shape, dtype=bool)
    return Heatmap(names, figures, found, similarity.max_overlap or 1.0, "overlap of the beliefs in two classes")


def _number_groups(similarity: ClassSimilarity, min_overlap: float | None) -> np.ndarray:
    """Return the number of the group of each class, -1 for classes without one."""
    position = {label: i for i, label in enumerate(similarity.classes.tolist())}
    numbers = np.full(len(position), -1)
    for number, group in enumerate(similarity.find_groups(min_overlap)):
        numbers[[position[label] for label in group]] = number
    return numbers


def draw_class_tree(ax: Axes, similarity: ClassSimilarity, groups: np.ndarray, palette: list[str]) -> None:
    """Draw the tree at the left of the heatmap, a leaf beside each row."""
    tree = ax.inset_axes(TREE_PLACE)
    colours = colour_branches(similarity.linkage, groups.tolist(), palette)
    lay_out_tree(similarity.linkage, orientation="left", no_labels=True, link_color_func=lambda i: colours[i], ax=tree)
    k = len(similarity.classes)
    tree.set_ylim(10 * k, 0)  # SciPy puts the leaves at 5, 15, 25, ...
    reach = TREE_REACH * similarity.max_overlap or 1.0
    tree.set_xlim(1.0 + 0.02 * reach, 1 - reach)
    tree.xaxis.set_major_locator(MaxNLocator(4))
    tree.xaxis.set_major_formatter(FuncFormatter(lambda height, _: f"{1 - height:.2g}" if height < 1 else "0"))
    tree.tick_params(labelsize="x-small")
    tree.set_xlabel("average overlap", fontsize="small")
    simplify_frame(tree)
    tree.spines["left"].set_visible(False)
    tree.set_yticks([])


def frame_groups(ax: Axes, numbers: np.ndarray, palette: list[str]) -> None:
    """Frame the cells of each group; the numbers are in the order of the rows."""
    for number in range(int(numbers.max(initial=-1)) + 1):
        rows = np.flatnonzero(numbers == number)
        place, side = rows[0] - 0.5, len(rows)
        style: dict[str, Any] = {"fc": "none", "ec": palette[number], "lw": 1.4, "gid": "group"}
        ax.add_patch(Rectangle((place, place), side, side, **style))
