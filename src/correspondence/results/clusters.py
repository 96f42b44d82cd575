"""What clusters are made of, and how well held-out rows agree with each number of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import read_only
from correspondence._util.text import list_names
from correspondence.results.points import FrameResult

__all__ = ["ClusterAgreement", "ClusterMembers"]

MAX_MEMBERS_SHOWN, MAX_CLUSTERS_SHOWN = 5, 20
MIN_ROOM_ABOVE_CHANCE = 1e-3  # where chance is perfect there is nothing to divide by


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
    >>> co.Clusters(3, n_resamples=0).fit(ca).paragons_
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


@dataclass(frozen=True, eq=False, repr=False)
class ClusterAgreement(FrameResult):
    """How well the clusters of one half of the rows predict those of the other half, for each number of clusters.

    `to_frame` has one row for each number and the columns n_clusters, agreement, held_out, chance, error, pvalue.

    Attributes
    ----------
    n_clusters : ndarray of shape (m,)
        The numbers of clusters.
    held_out : ndarray of shape (m,)
        The prediction strength: in the cluster that fares worst, the share of pairs of rows that the centres of the
        other half also put together.
    chance : ndarray of shape (m,)
        The same of rows without clusters.
    error : ndarray of shape (m,)
        The standard error of `held_out` over the divisions into halves.
    pvalues : ndarray of shape (m,)
        The share of clouds without clusters whose prediction strength is as large, counting the data among them; or
        whose clusters have as large a share of the inertia between them, if that is less.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> values = np.array([0.9, 0.4])
    >>> co.ClusterAgreement(np.array([2, 3]), values, np.array([0.6, 0.4]), 0 * values, values).agreement.round(2)
    array([0.75, 0.  ])
    """

    n_clusters: np.ndarray
    held_out: np.ndarray
    chance: np.ndarray
    error: np.ndarray
    pvalues: np.ndarray

    def __post_init__(self) -> None:
        read_only(self, "n_clusters", "held_out", "chance", "error", "pvalues")

    @property
    def agreement(self) -> np.ndarray:
        """Prediction strength corrected for chance: 0 where it is that of rows without clusters, 1 at most."""
        return (self.held_out - self.chance) / np.maximum(1 - self.chance, MIN_ROOM_ABOVE_CHANCE)

    def _collect_columns(self) -> dict[str, Any]:
        return {
            "n_clusters": self.n_clusters,
            "agreement": self.agreement,
            "held_out": self.held_out,
            "chance": self.chance,
            "error": self.error,
            "pvalue": self.pvalues,
        }

    def __len__(self) -> int:
        return len(self.n_clusters)

    def __repr__(self) -> str:
        lines = ["ClusterAgreement: how well half of the rows predicts the clusters of the other half"]
        lines += ["  clusters  agreement  held out    chance"]
        rows = zip(self.n_clusters, self.agreement, self.held_out, self.chance, strict=True)
        return "\n".join([*lines, *(f"  {k:>8}  {a:>9.3f}  {h:>8.3f}  {c:>8.3f}" for k, a, h, c in rows)])
