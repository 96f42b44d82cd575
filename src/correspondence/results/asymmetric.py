"""What a non-symmetric correspondence analysis returns: points of predictor and response, the test, held-out tau."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from correspondence._util.arguments import read_only
from correspondence._util.html_tables import HtmlTable, render_record
from correspondence.results.evidence import number_components
from correspondence.results.points import MIN_CHI2_DISTANCE, Points

__all__ = ["AsymmetricPoints", "HeldOutTau", "TauTest"]


@dataclass(frozen=True, eq=False, repr=False)
class AsymmetricPoints(Points):
    """Points of one side of a table of which one side is the response, and the other predicts it.

    Distances are between the probabilities of the response, in the usual Euclidean metric: `distance`, from the
    average. `chi2_distance` remains the chi-square distance of the profile. `to_frame` has both.

    Attributes
    ----------
    labels, mass, chi2_distance, side
        See `Points`.
    inertia : ndarray of shape (m,)
        The part of each label in the numerator of Goodman and Kruskal's tau: distance ** 2, times the mass for labels
        of the predictor.
    standard : ndarray of shape (m, d)
        The standard coordinates: of the predictor, functions of mean 0 and variance 1; of the response, the directions
        of a biplot, whose squares sum to 1 on each axis, each label counting once.
    correlations : ndarray of shape (d,)
        The roots of the inertias of the axes, by which `principal` multiplies; they are covariances, not correlations.
    distance : ndarray of shape (m,)
        Of a label of the predictor: how far its probabilities of the response are from the average ones. Of a label of
        the response: the standard deviation of its probability over the predictor.
    averages : ndarray of shape (m, d)
        The mean of the other side's functions, standardised, over the pairs of each label.
    is_response : bool
        Whether the labels are those of the response.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA(response="columns").fit(co.datasets.load_smoke())
    >>> ca.columns_
    AsymmetricPoints of the response: 4 labels, 3 components (none, light, medium, heavy)
    >>> ca.columns_.contributions[:, 0].round(3), bool(abs(ca.columns_.cos2.sum(axis=1) - 1).max() < 1e-12)
    (array([0.723, 0.029, 0.186, 0.062]), True)
    """

    distance: np.ndarray
    averages: np.ndarray
    is_response: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        read_only(self, "distance", "averages")

    @property
    def weights(self) -> np.ndarray:
        """How much each label counts on the axes: its mass, or 1 for labels of the response that occur."""
        return (self.mass > 0).astype(float) if self.is_response else self.mass

    @property
    def contributions(self) -> np.ndarray:
        """Shares of the labels in the inertia of each axis, which sum to 1; NaN for supplementary points."""
        return np.asarray((1.0 if self.is_response else self.mass[:, None]) * self.standard**2)

    @property
    def cos2(self) -> np.ndarray:
        """Share of each axis in a label's squared distance from the centre, both Euclidean."""
        squares = self.distance[:, None] ** 2
        is_centre = squares < MIN_CHI2_DISTANCE**2
        return np.where(is_centre, 0.0, self.principal**2 / np.where(is_centre, 1.0, squares))

    def _collect_columns(self) -> dict[str, np.ndarray]:
        columns = super()._collect_columns()
        first = {name: columns.pop(name) for name in ("label", "mass", "chi2_distance")}
        return first | {"distance": self.distance} | columns

    def __repr__(self) -> str:
        side = "response" if self.is_response else "predictor"
        return super().__repr__().replace("Points", f"AsymmetricPoints of the {side}", 1)


class TauTest(NamedTuple):
    """Light and Margolin's test that Goodman and Kruskal's tau is 0, as a tuple of statistic, dof and pvalue.

    Attributes
    ----------
    statistic : float
        C = (n - 1) (J - 1) tau, with J labels of the response.
    dof : int
        There are (rows - 1) (columns - 1) degrees of freedom.
    pvalue : float
        The probability of a statistic at least as large by the chi-square distribution. C has that distribution, for
        many pairs, only if all labels of the response are equally frequent; if not, the test rejects somewhat too
        often, however many pairs there are. Trust ``chi2_test_.pvalue`` beside it: tau is 0 where rows and columns are
        independent, and only there.

    Examples
    --------
    >>> import correspondence as co
    >>> test = co.CA(response="columns").fit(co.datasets.load_smoke()).tau_test_
    >>> round(test.statistic, 2), test.dof, round(test.pvalue, 3)
    (18.54, 12, 0.1)
    """

    statistic: float
    dof: int
    pvalue: float

    def _repr_html_(self) -> str:
        return render_record(self)


@dataclass(frozen=True, eq=False, repr=False)
class HeldOutTau(HtmlTable):
    """How well a non-symmetric analysis predicts the response of pairs that were not used in the fit.

    Attributes
    ----------
    correlations : ndarray of shape (d,)
        Pearson correlation of f_i and g_i over the pairs.
    intervals : ndarray of shape (d, 2)
        Confidence intervals of the correlations, as in `HeldOut`.
    tau : float
        The share of the Brier score of the overall probabilities of the fit that its predictions save. On the pairs of
        the fit, with all components, it is Goodman and Kruskal's tau; on others it is smaller, and below 0 if the
        overall probabilities predict better.
    tau_interval : ndarray of shape (2,)
        Confidence interval of `tau`, for the functions as they are.
    n : float
        Number of pairs, or the total of their weights.
    level : float
        Confidence level of the intervals.

    Examples
    --------
    >>> import correspondence as co
    >>> table = co.datasets.load_housetasks()
    >>> ca = co.CA(response="columns").fit(table)
    >>> bool(abs(ca.evaluate(table).tau - ca.tau_) < 1e-12)
    True
    """

    correlations: np.ndarray
    intervals: np.ndarray
    tau: float
    tau_interval: np.ndarray
    n: float
    level: float

    def _collect_columns(self) -> dict[str, np.ndarray]:
        low, high = self.intervals.T
        return number_components({"held_out": self.correlations, "low": low, "high": high})

    def __repr__(self) -> str:
        low, high = self.tau_interval
        lines = [f"HeldOutTau on n {self.n:g}: tau {self.tau:.4f} [{low:.4f}, {high:.4f}] ({100 * self.level:g} %)"]
        for i, (value, (low, high)) in enumerate(zip(self.correlations, self.intervals, strict=True), start=1):
            lines.append(f"  correlation {i}: {value:.4f} [{low:.4f}, {high:.4f}]")
        return "\n".join(lines)
