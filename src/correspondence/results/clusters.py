"""What clusters are made of: their members in an order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import read_only
from correspondence._util.text import list_names
from correspondence.results.points import FrameResult

__all__ = ["ClusterMembers"]

MAX_MEMBERS_SHOWN, MAX_CLUSTERS_SHOWN = 5, 20


@dataclass(frozen=True, eq=False, repr=False)
class ClusterMembers(FrameResult):
    """The first members of each cluster in some order, such as by their distances from its centre.

    `to_frame` has one row for each member and the columns cluster, rank, label, position, distance.

    Attributes
    ----------
    cluster : ndarray of shape (m,)
        The cluster of each member, from 0.
    rank : ndarray of shape (m,)
        Its rank in this cluster, from 1.
    label : ndarray of shape (m,)
        What it is called.
    position : ndarray of shape (m,)
        Its position among the rows.
    distance : ndarray of shape (m,)
        The distance by which members are sorted.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA(n_components=2).fit(co.datasets.load_housetasks())
    >>> co.Clusters(3).fit(ca).paragons_
    ClusterMembers: the first of 3 clusters
      0  Main_meal, Dinner, Laundry, Breakfeast
      1  Finances, Shopping, Dishes, Tidying, Insurance
      2  Driving, Official, Repairs
    """

    cluster: np.ndarray
    rank: np.ndarray
    label: np.ndarray
    position: np.ndarray
    distance: np.ndarray

    def __post_init__(self) -> None:
        read_only(self, "cluster", "rank", "position", "distance")

    def _collect_columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("cluster", "rank", "label", "position", "distance")}

    def __len__(self) -> int:
        return len(self.cluster)

    def __repr__(self) -> str:
        found = np.unique(self.cluster)
        lines = [f"ClusterMembers: the first of {len(found)} clusters"]
        for cluster in found[:MAX_CLUSTERS_SHOWN]:
            lines.append(f"  {cluster}  {list_names(self.label[self.cluster == cluster], MAX_MEMBERS_SHOWN)}")
        return "\n".join([*lines, *(["  ..."] if len(found) > MAX_CLUSTERS_SHOWN else [])])
