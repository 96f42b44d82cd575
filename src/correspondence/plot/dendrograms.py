"""The tree of clusters, with its cut and what each division gains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from scipy.cluster.hierarchy import dendrogram as lay_out_tree

from correspondence._util.arguments import check_flag, check_whole
from correspondence._util.text import one_line
from correspondence.plot.style import make_axes, simplify_frame
from correspondence.scene.colours import GREY
from correspondence.scene.groups import read_groups

__all__ = ["colour_branches", "dendrogram"]

MAX_NAMED_LEAVES = 60
N_GAINS_SHOWN = 12
SHARE_OF_TREE = 0.7  # of the width, if an inset stands beside it
INSET_PLACE = (0.74, 0.55, 0.26, 0.38)  # left, bottom, width and height as shares of the axes


def dendrogram(
    clusters: Any, ax: Axes | None = None, *, max_leaves: int = 40, labels: Any = None, gains: bool = True
) -> Axes:
    """Draw the tree of clusters with its cut, in the colours that the clusters have in a plane.

    A branch is as high as the inertia between the two clusters that it joins. Larger trees are drawn down to
    `max_leaves` branches, whose number of rows stands in brackets. The colours are those of the tree's own clusters;
    k-means may have moved single rows since.

    Parameters
    ----------
    clusters : Clusters
        The fitted clusters.
    ax : Axes, optional
        Draw on these axes instead of new ones.
    max_leaves : int
        Draw at most this many branches.
    labels : sequence of str, optional
        The names of the leaves; by default those of the points, if there are few.
    gains : bool
        Draw an inset with the inertia that is gained by 2, 3, ... clusters, those of the cut in black.

    Returns
    -------
    Axes
        The axes with the tree.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA(n_components=2).fit(co.datasets.load_housetasks())
    >>> ax = co.plot.dendrogram(co.Clusters(3, n_resamples=0).fit(ca))
    >>> ax.get_ylabel()
    'inertia between the clusters joined'
    """
    if not hasattr(clusters, "linkage_"):
        raise TypeError(f"clusters must be fitted Clusters, got {type(clusters).__name__}. Call fit first.")
    max_leaves, show_gains = check_whole(max_leaves, "max_leaves", 2), check_flag(gains, "gains")
    ax = make_axes(ax, (8, 5))
    Z, k = clusters.linkage_, clusters.n_clusters_
    names = _name_leaves(clusters, labels)
    palette = read_groups(clusters, len(clusters.labels_)).colours
    colours = colour_branches(Z, clusters.leaf_clusters_, palette)
    lay_out_tree(
        Z,
        p=max(max_leaves, k),
        truncate_mode="lastp",
        labels=names,
        link_color_func=lambda i: colours[i],
        leaf_rotation=90 if max(len(name) for name in names or [""]) > 3 or len(Z) > 20 else 0,
        ax=ax,
    )
    # Between the merge that leaves k clusters and the next one.
    ax.axhline((Z[-k, 2] + Z[1 - k, 2]) / 2 if len(Z) >= k else Z[0, 2] / 2, color=GREY, linestyle="--", linewidth=1)
    ax.set_ylabel("inertia between the clusters joined")
    if len(Z) >= max(max_leaves, k):
        ax.set_xlabel("in brackets: how many rows a branch holds")
    ax.set_title(f"{k} clusters", loc="left", fontsize="medium")
    simplify_frame(ax)
    if show_gains:
        ax.set_xlim(0, ax.get_xlim()[1] / SHARE_OF_TREE)
        _draw_gains(clusters, ax)
    return ax


def _name_leaves(clusters: Any, labels: Any) -> list[str] | None:
    """Return names of the leaves as texts; none if they are many, or no rows."""
    n = len(clusters.linkage_) + 1
    if labels is None:
        labels = clusters.leaf_names_
        return None if labels is None or n > MAX_NAMED_LEAVES else [one_line(label, 20) for label in labels]
    if len(labels) != n:
        raise ValueError(f"labels must be one for each of the {n} leaves, got {len(labels)}.")
    return [one_line(label, 20) for label in labels]


def colour_branches(linkage: np.ndarray, leaf_groups: Sequence[int], palette: Sequence[str]) -> list[str]:
    """Return the colour of each leaf and merge: that of its group below the cut, grey above it.

    Parameters
    ----------
    linkage : ndarray of shape (m - 1, 4)
        The tree as SciPy's linkage matrix.
    leaf_groups : sequence of int of length m
        The number of the group of each leaf; -1 for leaves without one.
    palette : sequence of str
        The colour of each group.
    """
    owner = [int(group) for group in leaf_groups]
    for a, b in linkage[:, :2].astype(int):
        owner.append(owner[a] if owner[a] == owner[b] else -1)
    return [GREY if group < 0 else palette[group] for group in owner]


def _draw_gains(clusters: Any, ax: Axes) -> None:
    """Draw the gains of the first divisions as bars into a corner."""
    gained = np.asarray(clusters.inertia_gains_[:N_GAINS_SHOWN])
    inset = ax.inset_axes(INSET_PLACE)
    numbers = np.arange(2, len(gained) + 2)
    inset.bar(numbers, gained, color=["black" if number <= clusters.n_clusters_ else "0.75" for number in numbers])
    inset.set_title("inertia gained by\nso many clusters", fontsize="x-small")
    inset.tick_params(labelsize="x-small")
    inset.xaxis.set_major_locator(MaxNLocator(integer=True))
    inset.set_yticks([])
    simplify_frame(inset)
