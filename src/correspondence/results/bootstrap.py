"""The spread of points over resampled tables, and ellipses of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import f as f_distribution

__all__ = ["Bootstrap", "Ellipses"]


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


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap:
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
        """Compute confidence ellipses of the rows in the plane of two axes.

        Parameters
        ----------
        axes : (int, int)
            The two axes are counted from 1.
        level : float
            The confidence level must be between 0 and 1.

        Returns
        -------
        Ellipses
            One ellipse for each label.
        """
        return self._compute_ellipses(self.row_covariance, self.row_draws, axes, level)

    def column_ellipses(self, axes: tuple[int, int] = (1, 2), level: float = 0.95) -> Ellipses:
        """Compute confidence ellipses of the columns in the plane of two axes.

        Parameters
        ----------
        axes : (int, int)
            The two axes are counted from 1.
        level : float
            The confidence level must be between 0 and 1.

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
            raise ValueError(f"axes must be between 1 and {k}, got {axes}. Bootstrap with more n_components.")
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level}.")
        index = np.array(axes) - 1
        plane = covariance[:, index[:, None], index]
        known = np.isfinite(plane).all(axis=(1, 2))
        values, vectors = np.linalg.eigh(np.where(known[:, None, None], plane, 0))
        # Hotelling's T^2 of a point whose covariance was estimated from the draws, about a known centre.
        n = np.maximum(self.n_resamples if draws is None else draws, 3)
        quantile = 2 * n / (n - 1) * f_distribution.ppf(level, 2, n - 1)
        lengths = 2 * np.sqrt(np.maximum(values, 0) * np.reshape(quantile, (-1, 1)))
        lengths[~known] = np.nan
        angle = np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
        return Ellipses(lengths[:, 1], lengths[:, 0], angle)

    def __repr__(self) -> str:
        (m, k, _), columns = self.row_covariance.shape, len(self.column_covariance)
        return f"Bootstrap of {m} rows and {columns} columns on {k} axes, {self.n_resamples} resamples"
