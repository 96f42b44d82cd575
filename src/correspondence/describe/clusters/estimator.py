"""Clusters of the points of an analysis, with the evidence that they would be found again."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_is_fitted

from correspondence._util.arguments import check_seed, count_observations, find_user_stacklevel
from correspondence._util.constraints import FLAG, Constraints, Whole, check_parameters
from correspondence._util.summaries import WithSummary
from correspondence._util.user_warnings import LeftOut, NothingFound
from correspondence.data.table import Backend, to_frame
from correspondence.describe.clusters.evidence import (
    assess_numbers,
    find_best_number,
    measure_chance,
    measure_stability,
)
from correspondence.describe.clusters.members import find_paragons, find_specific_members, measure_distances
from correspondence.describe.clusters.partition import DistinctPoints, Hierarchy
from correspondence.describe.clusters.reading import SIDES, LabelledPoints, find_side, place_values, read_points
from correspondence.describe.clusters.references import Reference, choose_reference
from correspondence.describe.clusters.resampling import Sample
from correspondence.describe.clusters.sentences import (
    NO_CLUSTERS,
    explain_no_clusters,
    explain_number,
    say_too_few_rows,
)
from correspondence.describe.groups import describe_groups
from correspondence.results.descriptions import GroupsDescription

__all__ = ["Clusters"]

MIN_GAIN_CLUSTERS, MAX_GAIN_CLUSTERS = 3, 10  # HCPC's choice of a number is among these
MAX_SIZES_SHOWN = 10
MIN_ROWS_TO_CONFIRM = 20  # in halves of fewer rows clusters have too few members


class Clusters(WithSummary, ClusterMixin, BaseEstimator):
    """Cluster the rows or columns of any analysis, by Ward's method and k-means on its axes.

    Parameters
    ----------
    n_clusters : "auto", "gain" or int
        The number of clusters. "auto" takes the number from 2 to 10 whose clusters in one half of the rows predict
        those of the other half best; of about equally good ones the largest. If none is predicted better than in a
        cloud without clusters, that is said, and the number is that of "gain": the rule of FactoMineR's HCPC, by which
        the inertia within clusters falls most in proportion at the last division.
    of : {"rows", "columns", "x", "y"}, optional
        What to cluster: the rows or columns of a table, or the values of x or y; by default the rows, or x.
    n_axes : int, optional
        The number of leading axes to use; by default all that the estimator kept.
    consolidate : bool
        Let k-means move points between the clusters of the tree. As in HCPC it starts at the unweighted means of the
        clusters and counts all rows alike, whatever their weights, while the tree has the weights.
    max_rows_for_tree : int
        The tree is exact for so many different points. For more, k-means finds 200 centres first, or twice as many as
        clusters (of 10,000 of the points if there are more), and the tree is grown of these; all points take part in
        the consolidation.
    n_resamples : int
        The number of resamples of the rows (of 1000 of them, if there are more) for ``stability_``. With 0 nothing is
        resampled, and there is no evidence.
    random_state : int, Generator or None
        Give a number to get the same result again.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        The cluster of each row, from 0, by increasing mean on axis 1; -1 for rows without a place.
    n_clusters_ : int
        The number of clusters.
    centers_ : ndarray of shape (k, d)
        The means of the rows of each cluster, in principal coordinates.
    sizes_ : ndarray of shape (k,)
        The number of rows of each cluster.
    linkage_ : ndarray of shape (m - 1, 4)
        The tree as SciPy's linkage matrix, whose heights are losses of inertia. Its leaves are the rows, or if there
        are more than `max_rows_for_tree`, the different points or the centres.
    leaf_clusters_ : ndarray of shape (m,)
        The cluster of each leaf when the tree is cut, before k-means moves points.
    leaf_names_ : ndarray of shape (m,) or None
        What the leaves are called; None if they are not the rows.
    inertia_gains_ : ndarray of shape (m - 1,)
        The inertia that is gained between clusters by dividing 1, 2, ... clusters once more.
    within_ : ndarray of shape (m - 1,)
        The inertia within 1, 2, ... clusters of the tree.
    quotients_ : ndarray
        within_[k] / within_[k - 1] of the numbers that "gain" chooses from, with the numbers in ``gain_numbers_``.
    total_inertia_ : float
        The weighted inertia of the points on the axes used.
    between_ : ndarray of shape (2,)
        The inertia between the clusters of the tree with the weights of the points, and between the final clusters
        with equal weights. These are the figures of HCPC; they can be compared if all weights are equal.
    has_clusters_ : bool or None
        Whether any number of clusters is predicted by held-out rows, clearly better than in a cloud without clusters;
        None without resamples.
    stability_ : ndarray of shape (k,)
        The mean Jaccard index of each cluster with the likest one of each resample, among the rows drawn.
    chance_ : float
        The mean stability of as many clusters of clouds without clusters, which have the covariance of the data.
    agreement_ : ClusterAgreement or None
        For 2 to 10 clusters, how well half of the rows predicts the clusters of the other half, corrected for chance.
    paragons_ : ClusterMembers
        The five members closest to the centre of each cluster.
    specific_ : ClusterMembers
        The five members farthest from the centres of the other clusters.
    axes : list of int
        The axes used, counted from 1.

    Notes
    -----
    A cloud without clusters has independent axes, each with the distribution of the data smoothed until it has one mode
    (Silverman's critical bandwidth). For the rows of analyses of answers, it consists of answers that are independent
    given a Gaussian position, on which they depend as much as those of the data on the axes. A number of clusters
    is found if its prediction strength (Tibshirani and Walther, 2005) is at least 0.8 and nearer to 1 than to the mean
    of 20 such clouds, and if at most one of these has as large a one, or as much of its inertia between its clusters.
    More than 1000 rows are compared in samples of 1000.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA(n_components=3).fit(co.datasets.load_housetasks())
    >>> clusters = co.Clusters("gain", n_resamples=0).fit(ca)
    >>> clusters.labels_
    array([0, 0, 0, 0, 1, 1, 1, 2, 2, 1, 1, 2, 1])
    >>> clusters.inertia_gains_[:3].round(3)
    array([0.414, 0.377, 0.139])

    Are there clusters at all?

    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(300, 3))
    >>> y = x + np.random.default_rng(1).normal(size=(300, 3))
    >>> cca = co.CCA(n_components=2).fit(x, y)
    >>> co.Clusters(4, n_resamples=50).fit(cca, x).has_clusters_
    False
    >>> x[:150] += 6
    >>> co.Clusters("auto", n_resamples=50).fit(co.CCA(n_components=2).fit(x, x + y), x).n_clusters_
    2
    """

    _constraints: ClassVar[Constraints] = {
        "n_clusters": ("auto", "gain", Whole(2)),
        "of": (None, *SIDES),
        "n_axes": (None, Whole(1)),
        "consolidate": FLAG,
        "max_rows_for_tree": Whole(10),
        "n_resamples": Whole(0),
    }

    def __init__(
        self,
        n_clusters: str | int = "auto",
        *,
        of: str | None = None,
        n_axes: int | None = None,
        consolidate: bool = True,
        max_rows_for_tree: int = 3000,
        n_resamples: int = 100,
        random_state: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.of = of
        self.n_axes = n_axes
        self.consolidate = consolidate
        self.max_rows_for_tree = max_rows_for_tree
        self.n_resamples = n_resamples
        self.random_state = random_state

    def fit(self, est: Any, X: Any = None, *, sample_weight: Any = None) -> Self:
        """Cluster the points of an estimator.

        Parameters
        ----------
        est : fitted estimator or Decomposition
            The analysis whose principal coordinates are clustered.
        X : array-like or frame, optional
            Cluster these values, in the form that the analysis takes. It is needed if the analysis keeps no points,
            as of two variables that are not labels; otherwise its own rows or columns are clustered.
        sample_weight : array-like of shape (n,), optional
            The weights of the points; by default their masses in the analysis, or 1.

        Returns
        -------
        Self
            The estimator itself.

        Warns
        -----
        LeftOut
            If rows have no mass, or no place because they have no counts or unknown labels.
        """
        before = self.__dict__.copy()
        try:
            check_parameters(self)
            self._fit_points(est, X, sample_weight)
        except BaseException:  # a fit that fails leaves everything as it was
            self.__dict__ = before
            raise
        return self

    def _fit_points(self, est: Any, X: Any, sample_weight: Any) -> None:
        if self.n_clusters == "auto" and not self.n_resamples:
            raise ValueError('n_resamples must be at least 1 for n_clusters="auto", got 0. Choose "gain" or a number.')
        points = read_points(est, self.of, X, self.n_axes, sample_weight)
        usable = points.find_usable()
        data = _gather_points(points, usable)
        self._est, self._side = est, find_side(self.of)
        random_state = check_seed(self.random_state)
        n_wanted = 2 if isinstance(self.n_clusters, str) else self.n_clusters
        hierarchy = Hierarchy.from_points(data, self.max_rows_for_tree, random_state, n_wanted)
        self._set_tree(hierarchy, len(usable))
        kept, self._n_compared = points.take_points(usable), int(usable.sum())
        sample = Sample(kept.coordinates, kept.weights, self.consolidate)
        reference = choose_reference(est, self._side, points, usable) if self.n_resamples else None
        self.agreement_ = None if reference is None else assess_numbers(sample, reference, random_state)
        best = None if self.agreement_ is None else find_best_number(self.agreement_)
        self.has_clusters_ = None if self.agreement_ is None else best is not None
        self.n_clusters_ = self._choose_number(best, hierarchy)
        self._set_clusters(hierarchy, points, usable)
        self._set_stability(sample, reference, self.labels_[usable], random_state)

    def _choose_number(self, best: int | None, hierarchy: Hierarchy) -> int:
        if not isinstance(self.n_clusters, str):
            most, n_points = hierarchy.n_leaves, len(hierarchy.data.points)
            if self.n_clusters > n_points:
                raise ValueError(f"n_clusters must be at most the {n_points} different points, got {self.n_clusters}.")
            if self.n_clusters > most:
                text = f"n_clusters must be at most the {most} leaves of the tree, got {self.n_clusters}."
                raise ValueError(f"{text} Make max_rows_for_tree larger.")
            return int(self.n_clusters)
        if self.n_clusters == "auto" and best is not None:
            return best
        if self.n_clusters == "auto":
            n = self._n_compared
            why = NO_CLUSTERS if n >= MIN_ROWS_TO_CONFIRM else say_too_few_rows(n)
            message = f"{why} Their number is that of the rule of gains."
            warnings.warn(message, NothingFound, stacklevel=find_user_stacklevel())
        return int(self.gain_numbers_[self.quotients_.argmin()]) if len(self.quotients_) else 2

    def _set_stability(
        self, sample: Sample, reference: Reference | None, labels: np.ndarray, random_state: np.random.Generator
    ) -> None:
        self.stability_, self.chance_ = np.full(self.n_clusters_, np.nan), np.nan
        if reference is not None:
            self.stability_ = measure_stability(sample, labels, self.n_resamples, random_state)
            self.chance_ = measure_chance(sample, reference, self.n_clusters_, random_state)

    def _set_tree(self, hierarchy: Hierarchy, n: int) -> None:
        data, tree = hierarchy.data, hierarchy.tree
        self._leaves_are_rows = hierarchy.centres is None and n <= self.max_rows_for_tree
        if self._leaves_are_rows:
            tree = tree.repeat_leaves(data.owner)
        self.linkage_ = tree.make_linkage()
        self.total_inertia_ = data.total_inertia
        self.inertia_gains_ = tree.losses[::-1]
        within = self.total_inertia_ - np.r_[0.0, np.cumsum(self.inertia_gains_)]
        self.within_ = within[:-1]
        most = min(MAX_GAIN_CLUSTERS, round(len(data.owner) / 2), len(data.points), len(within))
        self.gain_numbers_ = np.arange(MIN_GAIN_CLUSTERS, most + 1)
        self.quotients_ = within[self.gain_numbers_ - 1] / within[self.gain_numbers_ - 2]

    def _set_clusters(self, hierarchy: Hierarchy, points: LabelledPoints, usable: np.ndarray) -> None:
        cut = hierarchy.cut_clusters(self.n_clusters_, self.consolidate)
        self.centers_ = cut.centres
        self.labels_ = np.full(len(usable), -1)
        self.labels_[usable] = cut.labels[hierarchy.data.owner]
        weightless = ~usable
        weightless[weightless] = np.isfinite(points.coordinates[weightless]).all(axis=1)
        if weightless.any():
            self.labels_[weightless] = pairwise_distances_argmin(points.coordinates[weightless], self.centers_)
        self.sizes_ = np.bincount(self.labels_[self.labels_ >= 0], minlength=self.n_clusters_)
        self.axes = list(range(1, points.coordinates.shape[1] + 1))
        of_tree = self.inertia_gains_[: self.n_clusters_ - 1].sum()
        self.between_ = np.array([of_tree, cut.measure_between(hierarchy.data)])
        self.leaf_clusters_ = cut.leaf_labels[hierarchy.data.owner] if self._leaves_are_rows else cut.leaf_labels
        self.leaf_names_ = points.labels[usable] if self._leaves_are_rows else None
        self._distances = measure_distances(points.coordinates, self.labels_, self.centers_)
        self.paragons_ = find_paragons(points, self.labels_, self._distances, self.n_clusters_)
        self.specific_ = find_specific_members(points, self.labels_, self.centers_)
        self._labels = points.labels

    def fit_predict(self, est: Any, X: Any = None, *, sample_weight: Any = None) -> np.ndarray:
        """Cluster the points of an estimator and return their clusters.

        Parameters
        ----------
        est, X, sample_weight
            See `fit`.

        Returns
        -------
        ndarray of shape (n,)
            The attribute ``labels_``.
        """
        return self.fit(est, X, sample_weight=sample_weight).labels_

    def predict(self, X: Any) -> np.ndarray:
        """Find the cluster of new rows, which are placed by the analysis, by their nearest centre.

        Parameters
        ----------
        X : array-like or frame
            The rows, in the form that the analysis takes.

        Returns
        -------
        ndarray of shape (n,)
            The clusters, from 0; -1 for rows without a place.
        """
        check_is_fitted(self)
        places = place_values(self._est, self._side, X)[:, : len(self.axes)]
        has_place = np.isfinite(places).all(axis=1)
        if not has_place.all():
            _warn_of_no_place(int((~has_place).sum()), len(places))
        labels = np.full(len(places), -1)
        if has_place.any():
            labels[has_place] = pairwise_distances_argmin(places[has_place], self.centers_)
        return labels

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the members as a data frame with the columns label, cluster and distance (from the centre).

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Make a frame of this library; by default it is the first of these that is installed.

        Returns
        -------
        frame
            A native frame of that library, with a row for each point.
        """
        check_is_fitted(self)
        return to_frame({"label": self._labels, "cluster": self.labels_, "distance": self._distances}, backend)

    def describe(self, frame: Any, **options: Any) -> GroupsDescription:
        """Tell what characterises each cluster, by `describe_groups`.

        The clusters were made from the same rows, so that they differ in the columns of the analysis by construction:
        the p-values rank what is special, but do not prove that there are clusters.

        Parameters
        ----------
        frame : frame or array-like of shape (n, k)
            The rows that were clustered, or those given to the fit of the analysis, with any columns.
        **options
            Options of `describe_groups`, such as ``alpha``.

        Returns
        -------
        GroupsDescription
            Tables and sentences. The clusters are called 1, 2, ...: one more than their number in ``labels_``.
        """
        check_is_fitted(self)
        n, rows = count_observations(frame, "frame"), getattr(self._est, "_row_positions", None)
        labels = self.labels_
        if rows is not None and n != len(labels) == len(rows) and n == self._est._n_rows_given:
            labels = np.full(n, -1)
            labels[rows] = self.labels_
        if n != len(labels):
            raise ValueError(f"frame must have the {len(labels)} rows that were clustered, got {n}.")
        names = np.array([*(f"cluster {i + 1}" for i in range(self.n_clusters_)), None], dtype=object)
        return cast(GroupsDescription, describe_groups(frame, names[labels], **options))

    def write_summary(self) -> str:
        """Say in sentences what was found.

        Returns
        -------
        str
            The number and the sizes of the clusters, and the share of the inertia between them.
        """
        check_is_fitted(self)
        return " ".join(filter(None, self._list_sentences()))

    def _list_sentences(self) -> list[str]:
        sizes = ", ".join(f"{size:,}" for size in self.sizes_[:MAX_SIZES_SHOWN])
        more = ", ..." if len(self.sizes_) > MAX_SIZES_SHOWN else ""
        share = self.between_[0] / self.total_inertia_
        between = f"{100 * share:.0f} % of the inertia lies between them."
        found = [f"{self.n_clusters_} clusters of {sizes}{more} rows; {between}"]
        if self.agreement_ is None:
            return found
        stability = "Resamples have too few different rows for so many clusters."
        if np.isfinite(self.stability_).any():
            least, most = f"{np.nanmin(self.stability_):.2f}", f"{np.nanmax(self.stability_):.2f}"
            spread = least if least == most else f"{least} to {most}"
            stability = f"Resamples find them again with a stability of {spread}, "
            stability += f"where a cloud without clusters has {self.chance_:.2f} on average."
        if self.has_clusters_:
            return [*found, stability, explain_number(self.agreement_, self.n_clusters_)]
        if self._n_compared < MIN_ROWS_TO_CONFIRM:
            return [*found, say_too_few_rows(self._n_compared), stability]
        return [*found, NO_CLUSTERS, explain_no_clusters(self.agreement_), stability]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:  # scikit-learn calls it by this name
        text = super().__repr__(N_CHAR_MAX)
        return f"{text}: {self.n_clusters_} clusters" if hasattr(self, "n_clusters_") else text


def _gather_points(points: LabelledPoints, usable: np.ndarray) -> DistinctPoints:
    """Gather the points that can be clustered, and say how many cannot."""
    n, kept = len(usable), points.take_points(usable)
    n_placeless = int((~np.isfinite(points.coordinates[~usable]).all(axis=1)).sum())
    if n_placeless:
        _warn_of_no_place(n_placeless, n)
    if usable.sum() < 2:
        raise ValueError(f"est must have at least two points with a place and a mass, got {int(usable.sum())}.")
    data = DistinctPoints.from_rows(kept.coordinates, kept.weights)
    if len(data.points) < 2:
        raise ValueError(
            f"est must have points at two different places at least, but all {int(usable.sum())} are equal."
        )
    return data


def _warn_of_no_place(n: int, total: int) -> None:
    warnings.warn(
        f"{n:,} of {total:,} points are in no cluster (label -1): they have no place, because they have no counts "
        "or an unknown label.",
        LeftOut,
        stacklevel=find_user_stacklevel(),
    )
