"""Row or column points of a correspondence analysis, with everything a statistician asks about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from correspondence._util.arguments import read_only
from correspondence._util.text import list_names
from correspondence.results.frame_result import FrameResult, number_columns

__all__ = ["Points"]

MIN_CHI2_DISTANCE = 1e-13  # a distance below this is the rounding error of 0: such a point has no direction


@dataclass(frozen=True, eq=False, repr=False)
class Points(FrameResult):
    """Points of one side of a table.

    Labels that never occur have mass 0 and lie at NaN. Supplementary points were not used in the fit and have mass NaN.
    `to_frame` has one row for each label and the columns label, mass, chi2_distance, inertia, principal_1, ..., and
    so on for standard, contributions and cos2.

    Attributes
    ----------
    labels : ndarray of shape (m,)
        Labels of the rows, or of the columns.
    mass : ndarray of shape (m,)
        Share of each label in the total.
    chi2_distance : ndarray of shape (m,)
        Distance of the profile of each label from the average profile.
    inertia : ndarray of shape (m,)
        mass * chi2_distance ** 2, which sums to the total inertia.
    standard : ndarray of shape (m, d)
        Standard coordinates, which have variance 1: the principal functions at the labels.
    correlations : ndarray of shape (d,)
        sqrt(lambda_i), the same for rows and columns.

    Examples
    --------
    >>> import correspondence as co
    >>> rows = co.CA(n_components=2).fit(co.datasets.load_smoke()).rows_
    >>> rows
    Points: 5 labels, 2 components (SM, JM, SE, JE, SC)
    >>> rows.principal[0].round(4)
    array([0.0658, 0.1937])
    """

    labels: np.ndarray
    mass: np.ndarray
    chi2_distance: np.ndarray
    inertia: np.ndarray
    standard: np.ndarray
    correlations: np.ndarray

    def __post_init__(self) -> None:
        read_only(self, "mass", "chi2_distance", "inertia", "standard", "correlations")

    @property
    def principal(self) -> np.ndarray:
        """Principal coordinates, which have variance lambda_i; distances between them are chi-square distances."""
        return self.standard * self.correlations

    @property
    def contributions(self) -> np.ndarray:
        """Shares of the labels in the inertia of each axis, which sum to 1."""
        return self.mass[:, None] * self.standard**2

    @property
    def cos2(self) -> np.ndarray:
        """Quality of representation: share of each axis in a label's squared distance from the centre."""
        squares = self.chi2_distance[:, None] ** 2
        is_centre = squares < MIN_CHI2_DISTANCE**2
        return np.where(is_centre, 0.0, self.principal**2 / np.where(is_centre, 1.0, squares))

    def _collect_columns(self) -> dict[str, np.ndarray]:
        columns = {"label": self.labels}
        columns |= {name: getattr(self, name) for name in ("mass", "chi2_distance", "inertia")}
        for name in ("principal", "standard", "contributions", "cos2"):
            columns |= number_columns(f"{name}_", getattr(self, name))
        return columns

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Points: {len(self)} labels, {len(self.correlations)} components ({list_names(self.labels, 6)})"
