"""The rows or columns of a table as points, their spread over bootstrap samples, and frames of results."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.stats import f as f_distribution

from correspondence._util.arguments import read_only
from correspondence._util.html_tables import HtmlTable
from correspondence._util.text import list_names
from correspondence.data.table import Backend, to_frame

__all__ = [
    "ActiveNumbers",
    "Bootstrap",
    "CategoryMeans",
    "Ellipses",
    "FrameResult",
    "JointAnswers",
    "Points",
    "SupplementaryNumbers",
    "number_columns",
]


@dataclass(frozen=True)
class Ellipses:
    """Ellipses in a plane, one for each point.

    Attributes
    ----------
    width, height : ndarray of shape (m,)
        Full lengths of the longer and the shorter axis.
    angle : ndarray of shape (m,)
        Angle of the longer axis in degrees, counter-clockwise from the first axis of the plane.
    """

    width: np.ndarray
    height: np.ndarray
    angle: np.ndarray

    @classmethod
    def from_covariances(cls, covariances: np.ndarray, quantiles: np.ndarray) -> Ellipses:
        """Make the ellipses whose points are, in units of their covariances, as far from the centre as a quantile.

        Parameters
        ----------
        covariances : ndarray of shape (m, 2, 2)
            A covariance in the plane for each point; the ellipse of one that is not finite is NaN.
        quantiles : ndarray of shape (m,) or (1,)
            Squared distances from the centres.
        """
        known = np.isfinite(covariances).all(axis=(1, 2))
        values, vectors = np.linalg.eigh(np.where(known[:, None, None], covariances, 0))
        lengths = 2 * np.sqrt(np.maximum(values, 0) * quantiles[:, None])
        lengths[~known] = np.nan
        angle = np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
        return cls(lengths[:, 1], lengths[:, 0], angle)


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(HtmlTable):
    """Spread of the points over resampled tables, in principal coordinates.

    Attributes
    ----------
    row_covariance, column_covariance : ndarray of shape (m, k, k)
        Mean products of the deviations from the points drawn; NaN for labels that were drawn fewer than three times.
    n_resamples : int
        Number of tables drawn.
    row_draws, column_draws : ndarray of shape (m,), optional
        Number of these tables in which each label occurs; all of them by default.
    align : {"signs", "rotation"}
        How the resampled points were aligned with the points.

    Examples
    --------
    >>> import correspondence as co
    >>> spread = co.CA().fit(co.datasets.load_smoke()).bootstrap(100, n_components=2, random_state=0)
    >>> spread
    Bootstrap of 5 rows and 4 columns on 2 axes, 100 resamples
    >>> spread.column_ellipses().width.round(1)         # none, light, medium, heavy
    array([0.7, 0.9, 0.7, 1.4])
    """

    row_covariance: np.ndarray
    column_covariance: np.ndarray
    n_resamples: int
    row_draws: np.ndarray | None = None
    column_draws: np.ndarray | None = None
    align: str = "signs"

    def row_ellipses(self, axes: tuple[int, int] = (1, 2), level: float = 0.95) -> Ellipses:
        """Compute the confidence ellipses of the rows in the plane of two axes.

        Parameters
        ----------
        axes : (int, int)
            The axes are counted from 1.
        level : float
            The ellipses have this confidence level.

        Returns
        -------
        Ellipses
            One ellipse for each label.
        """
        return self._compute_ellipses(self.row_covariance, self.row_draws, axes, level)

    def column_ellipses(self, axes: tuple[int, int] = (1, 2), level: float = 0.95) -> Ellipses:
        """Compute the confidence ellipses of the columns in the plane of two axes.

        Parameters
        ----------
        axes, level : (int, int), float
            See `row_ellipses`.

        Returns
        -------
        Ellipses
            One ellipse for each label.
        """
        return self._compute_ellipses(self.column_covariance, self.column_draws, axes, level)

    def _compute_ellipses(
        self, covariance: np.ndarray, draws: np.ndarray | None, axes: tuple[int, int], level: float
    ) -> Ellipses:
        k = covariance.shape[1]
        if not all(1 <= axis <= k for axis in axes):
            raise ValueError(f"axes must be among the {k} of this bootstrap, got {axes}. Ask for more n_components.")
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level}.")
        index = np.array(axes) - 1
        plane = covariance[:, index[:, None], index]
        # Hotelling's quantile, about a known centre.
        n = np.maximum(np.array([self.n_resamples]) if draws is None else draws, 3)
        return Ellipses.from_covariances(plane, 2 * n / (n - 1) * f_distribution.ppf(level, 2, n - 1))

    def _collect_columns(self) -> dict[str, np.ndarray]:
        sides = {"row": self.row_covariance, "column": self.column_covariance}
        spread = np.concatenate([np.sqrt(each.diagonal(axis1=1, axis2=2)) for each in sides.values()])
        columns = {"side": np.repeat(list(sides), list(map(len, sides.values())))}
        columns["position"] = np.concatenate([np.arange(len(each)) for each in sides.values()])
        return columns | number_columns("deviation_", spread)

    def __repr__(self) -> str:
        (m, k, _), columns = self.row_covariance.shape, len(self.column_covariance)
        return f"Bootstrap of {m} rows and {columns} columns on {k} axes, {self.n_resamples} resamples"


class FrameResult(HtmlTable):
    """A result that can be read as a data frame, whose columns its class lists."""

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the result as a data frame with the columns that its class lists.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Make a frame of this library; by default it is the first of these that is installed.

        Returns
        -------
        frame
            A native frame of that library.
        """
        return to_frame(dict(self._collect_columns()), backend)


def number_columns(prefix: str, values: np.ndarray) -> dict[str, np.ndarray]:
    """Name the columns of an array by a prefix and their numbers, from 1.

    Examples
    --------
    >>> number_columns("f", np.array([[1, 2], [3, 4]]))
    {'f1': array([1, 3]), 'f2': array([2, 4])}
    """
    return {f"{prefix}{i}": column for i, column in enumerate(values.T, start=1)}


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
    side : {"rows", "columns", ""}
        On which side of the table supplementary points lie; empty where that is not said.

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
    side: str = field(default="", kw_only=True)

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

    @property
    def quality(self) -> np.ndarray:
        """Share of the squared distance from the centre that all axes explain together: the sum of the cos2."""
        return np.asarray(self.cos2.sum(axis=1))

    def _collect_columns(self) -> dict[str, np.ndarray]:
        columns = {"label": self.labels}
        columns |= {name: getattr(self, name) for name in ("mass", "chi2_distance", "inertia")}
        for name in ("principal", "standard", "contributions", "cos2"):
            columns |= number_columns(f"{name}_", getattr(self, name))
        return columns

    def _collect_preview(self, n: int) -> tuple[Any, int]:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "correlations"}
        first: dict[str, Any] = {name: own[:n] for name, own in fields.items() if isinstance(own, np.ndarray)}
        return replace(self, **first)._collect_columns(), len(self)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Points: {len(self)} labels, {len(self.correlations)} components ({list_names(self.labels, 6)})"


@dataclass(frozen=True, eq=False, repr=False)
class SupplementaryNumbers(FrameResult):
    """Numbers of the rows of a table that were not used in the fit, placed by their correlations with the axes.

    In a map of the rows each is an arrow from the centre to its correlations. `to_frame` has one row for each number
    and the columns label, correlation_1, ..., cos2_1, ...

    Attributes
    ----------
    labels : ndarray of shape (m,)
        Names of the numbers: those of the columns, positions in an array, "values" for a single list.
    correlations : ndarray of shape (m, d)
        Correlation of each number with each axis, each row weighted by its mass.

    Examples
    --------
    >>> import correspondence as co
    >>> ca = co.CA(n_components=2).fit(co.datasets.load_smoke())
    >>> ca.supplementary(numbers=[51, 38, 49, 33, 29])                      # mean age of each group of staff
    SupplementaryNumbers: correlations with 2 axes
      values          0.6665    0.4994
    """

    labels: np.ndarray
    correlations: np.ndarray

    def __post_init__(self) -> None:
        read_only(self, "labels", "correlations")

    @property
    def cos2(self) -> np.ndarray:
        """Quality of representation: squared correlations."""
        return self.correlations**2

    def _collect_columns(self) -> dict[str, np.ndarray]:
        columns = {"label": self.labels} | number_columns("correlation_", self.correlations)
        return columns | number_columns("cos2_", self.cos2)

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        lines = [f"SupplementaryNumbers: correlations with {self.correlations.shape[1]} axes"]
        for label, values in list(zip(self.labels, self.correlations, strict=True))[:20]:
            lines.append(f"  {label!s:<12}" + "".join(f"{value:>10.4f}" for value in values[:8]))
        return "\n".join([*lines, *(["  ..."] if len(self) > 20 else [])])


@dataclass(frozen=True, eq=False, repr=False)
class CategoryMeans(Points):
    """Answers at the mean of their rows, in an analysis of numbers and answers.

    In `Points` they lie at the mean of the standard scores divided by the correlations; here at the mean itself.

    Attributes
    ----------
    labels : ndarray of shape (m,)
        The names of the answers, such as ``column:answer``.
    mass : ndarray of shape (m,)
        The share of the rows that gave each answer, times the weight of its column.
    chi2_distance : ndarray of shape (m,)
        The distance of the mean of these rows from the centre.
    inertia : ndarray of shape (m,)
        The part of the total inertia that comes from the indicator of the answer.
    standard : ndarray of shape (m, d)
        The mean of the standard scores of these rows; `principal` is that of their principal coordinates.
    correlations : ndarray of shape (d,)
        The roots of the inertias of the axes.
    side : str
        See `Points`.

    Examples
    --------
    >>> import polars as pl
    >>> import correspondence as co
    >>> frame = pl.DataFrame({"height": [1.6, 1.7, 1.8, 1.9], "weight": [50, 64, 70, 85], "sex": ["f", "f", "m", "m"]})
    >>> co.MixedCA(n_components=1).fit(frame).columns_.principal.round(2)
    array([[-1.56],
           [ 1.56]])
    """

    @property
    def contributions(self) -> np.ndarray:
        """Shares of the answers in the inertia of each axis; those of numbers and answers together sum to 1."""
        return self.mass[:, None] * self.standard**2 / self.correlations**2


@dataclass(frozen=True, eq=False, repr=False)
class JointAnswers(Points):
    """Answers in a joint analysis, whose axes explain together how each goes with those of other columns.

    `to_frame` has also the columns quality and joint_contribution.

    Attributes
    ----------
    labels, mass, chi2_distance, inertia, standard, correlations, side
        See `Points`; distances and inertias are those of the fitted table.
    explained : ndarray of shape (m,)
        The part of the inertia of each answer in the tables with other columns that the axes explain.
    of_pairs : ndarray of shape (m,)
        The inertia of each answer in the tables with other columns.

    Examples
    --------
    >>> import correspondence as co
    >>> answers = co.datasets.load_poison().drop("Age", "Time", "Sick", "Sex")
    >>> mca = co.MCA(n_components=2, correction="joint").fit(answers)
    >>> mca.columns_.labels[4:6].tolist(), mca.columns_.quality[4:6].round(2)
    (['Abdominals:no', 'Abdominals:yes'], array([1., 1.]))
    """

    explained: np.ndarray
    of_pairs: np.ndarray

    def __post_init__(self) -> None:
        super().__post_init__()
        read_only(self, "explained", "of_pairs")

    @property
    def quality(self) -> np.ndarray:
        """Share of the inertia in the tables with other columns that all axes explain together."""
        return np.asarray(self.explained / np.where(self.of_pairs > 0, self.of_pairs, np.inf))

    @property
    def joint_contributions(self) -> np.ndarray:
        """Shares of the answers in all that the axes explain."""
        return np.asarray(self.explained / self.explained.sum())

    def _collect_preview(self, n: int) -> tuple[Any, int]:
        return FrameResult._collect_preview(self, n)  # shares in all that the axes explain need all answers

    def _collect_columns(self) -> dict[str, np.ndarray]:
        return super()._collect_columns() | {
            "quality": self.quality,
            "joint_contribution": self.joint_contributions,
        }


@dataclass(frozen=True, eq=False, repr=False)
class ActiveNumbers(SupplementaryNumbers):
    """Numbers that took part in an analysis of many columns.

    `to_frame` has one row for each number, with its correlations, cos2 and contributions.

    Attributes
    ----------
    labels, correlations
        The names of the numbers, and their correlations with the axes.
    contributions : ndarray of shape (m, d)
        Shares of the numbers in the inertia of each axis.
    deviations : ndarray of shape (m,)
        Standard deviations by which numbers that are not standardised are multiplied; 1 for the others.

    Examples
    --------
    >>> import polars as pl
    >>> import correspondence as co
    >>> frame = pl.DataFrame({"height": [1.6, 1.7, 1.8, 1.9], "weight": [50, 64, 70, 85], "sex": ["f", "f", "m", "m"]})
    >>> co.MixedCA(n_components=1).fit(frame).numbers_.correlations.round(3)
    array([[0.995],
           [0.969]])
    """

    contributions: np.ndarray
    deviations: np.ndarray

    def __post_init__(self) -> None:
        read_only(self, "labels", "correlations", "contributions", "deviations")

    @property
    def coordinates(self) -> np.ndarray:
        """Correlations times the deviations: where an arrow ends in a map of numbers that are not standardised."""
        return self.correlations * self.deviations[:, None]

    def _collect_columns(self) -> dict[str, np.ndarray]:
        return super()._collect_columns() | number_columns("contribution_", self.contributions)
