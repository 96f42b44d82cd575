"""The points of an estimator that are to be clustered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_is_fitted

from correspondence._util.arguments import check_weights
from correspondence.core.decomposition import Decomposition, as_decomposition, refuse_given
from correspondence.core.functions import LabelFunctions
from correspondence.results.points import Points

__all__ = ["SIDES", "LabelledPoints", "find_side", "place_values", "read_points"]

SIDES = {"rows": "x", "x": "x", "columns": "y", "y": "y"}  # the rows of a table are values of x, its columns of y


@dataclass(frozen=True, eq=False)
class LabelledPoints:
    """Points in principal coordinates.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        What the points are called.
    coordinates : ndarray of shape (n, d)
        The principal coordinates; NaN for labels without a mass.
    weights : ndarray of shape (n,)
        The masses, or the weights of the rows.
    """

    labels: np.ndarray
    coordinates: np.ndarray
    weights: np.ndarray

    def find_usable(self) -> np.ndarray:
        """Say which points have a place and a weight."""
        return np.isfinite(self.coordinates).all(axis=1) & (self.weights > 0)

    def take_points(self, chosen: np.ndarray) -> LabelledPoints:
        """Return the points that a mask chooses; all of a million are not copied."""
        if chosen.all():
            return self
        return LabelledPoints(self.labels[chosen], self.coordinates[chosen], self.weights[chosen])


def read_points(est: Any, of: str | None, X: Any, n_axes: int | None, sample_weight: Any) -> LabelledPoints:
    """Return the points of an estimator, or those of new values.

    Parameters
    ----------
    est : fitted estimator or Decomposition
        The analysis.
    of : {"rows", "columns", "x", "y"}, optional
        The side of the points.
    X : array-like or frame, optional
        The values to place, if the analysis has no points of its own.
    n_axes : int, optional
        The number of leading axes.
    sample_weight : array-like of shape (n,), optional
        The weights of the points; by default those of the analysis, or 1.
    """
    side = find_side(of)
    own = _find_own_points(est, side) if X is None else _place_named_values(est, side, X)
    d = own.coordinates.shape[1]
    if not d:
        raise ValueError("est must have at least one axis, got none.")
    if n_axes is not None and n_axes > d:
        raise ValueError(f"n_axes must be at most the {d} axes of est, got {n_axes}. Fit it with more n_components.")
    weights = own.weights if sample_weight is None else check_weights(sample_weight, len(own.labels), "sample_weight")
    return LabelledPoints(own.labels, own.coordinates[:, :n_axes], weights)


def find_side(of: str | None) -> str:
    """Return the variable, x or y, whose points are clustered."""
    return SIDES["rows" if of is None else of]


def _find_own_points(est: Any, side: str) -> LabelledPoints:
    d = _read_decomposition(est)
    name = {"x": "rows_", "y": "columns_"}[side]
    analysis = getattr(est, "_analysis", None)
    if side == "x" and analysis is not None and analysis.arrays is None:
        raise ValueError("X must be given, because the table of est is not in memory. Pass some rows: fit(est, X).")
    if name in vars(est) or hasattr(type(est), name):
        points: Points = getattr(est, name)
        return LabelledPoints(points.labels, points.principal, points.mass)
    functions = d.f if side == "x" else d.g
    if isinstance(functions, LabelFunctions):
        return LabelledPoints(functions.labels, functions.values * d.correlations, functions.mass)
    raise ValueError(
        "X must be given, because est keeps no points of its own. Pass the values to cluster: fit(est, X)."
    )


def _place_named_values(est: Any, side: str, X: Any) -> LabelledPoints:
    coordinates = place_values(est, side, X)
    native = nw.from_native(X, pass_through=True, allow_series=True)
    index = nw.maybe_get_index(native) if isinstance(native, nw.DataFrame | nw.Series) else None
    n = len(coordinates)
    labels = np.arange(n) if index is None or len(index) != n else np.asarray(index)
    return LabelledPoints(labels, coordinates, np.ones(n))


def place_values(est: Any, side: str, X: Any) -> np.ndarray:
    """Compute the principal coordinates of values: rows or columns of a table, or values of x or y."""
    d = _read_decomposition(est)
    refuse_given(d, "clusters of its points", "Cluster est.transform(X, given=Z) by a method for arrays of numbers.")
    if isinstance(est, Decomposition):
        return np.asarray((d.f if side == "x" else d.g)(X)) * d.correlations
    if side == "x":
        # The rows of an analysis of many columns have inertias of their own convention.
        return np.asarray(est.transform(X)) * getattr(est, "_row_correlations", d.correlations)
    if not hasattr(est, "transform_y"):
        raise ValueError("X must be rows: columns of an analysis of many columns have no values to place.")
    return np.asarray(est.transform_y(X)) * d.correlations


def _read_decomposition(est: Any) -> Decomposition:
    if hasattr(est, "fit") and not isinstance(est, type):
        check_is_fitted(est)
    return as_decomposition(est)
