"""Regression of many functions of a variable on others at once: sums of smooth functions, one smoothness for each.

Names and symbols: B are the centred features of z (n, m), P is the penalty, the mean squared third derivative, so that
parabolas are free. In the directions Q = B V both are diagonal, Q^T Q / n = 1 and V^T P V = d. A strength s leaves the
share w = 1 / (1 + s d) of each direction, and the leverage of a row is 1 / n + sum_j w_j Q_ij^2 / n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.files import State
from correspondence.core.penalised_coordinates import diagonalise_penalty
from correspondence.core.splines import AdditiveFunctions, SplineBasis

__all__ = ["SplineRegression", "SplineResiduals", "regress_on_splines"]

STRENGTHS = 10.0 ** np.arange(-8, 2.5, 0.5)
MAX_KNOTS_OF_GIVEN = 16
MIN_KNOTS_OF_GIVEN = 4  # with fewer, functions of a column are linear
ROWS_PER_KNOT = 5
MAX_KNOTS_IN_ALL = 240
ROWS_PER_COLUMN = 4  # with fewer rows for each feature of z, there is a ridge
RIDGE_ROWS = 0.1  # rows of an indicator or a linear column that count as having the mean
MAX_LEVERAGE = 1 - 1e-6
ROUGHER_BY = 2.0  # the roughest functions whose score is within this, divided by n, of the best: bias costs more


@dataclass(frozen=True, eq=False)
class SplineRegression:
    """Expectations given z: centre + (basis(z) - mean) @ weights.

    Attributes
    ----------
    functions : AdditiveFunctions
        Sums of smooth functions of z, with mean 0.
    centre : ndarray of shape (p,)
        The means of what is expected.
    """

    functions: AdditiveFunctions
    centre: np.ndarray

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Expect values, of shape (n, p), given encoded rows of z."""
        return self.centre + self.functions(rows)

    def state(self) -> State:
        """Return the arrays from which `from_state` makes the same regression, and an empty description."""
        return State({}, self.functions.state().arrays | {"centre": self.centre})

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> SplineRegression:
        """Put together what `state` took apart."""
        return cls(AdditiveFunctions.from_state({}, arrays), arrays["centre"])


@dataclass(frozen=True, eq=False)
class SplineResiduals:
    """What a regression leaves of the rows of its fit.

    Attributes
    ----------
    regression : SplineRegression
        The regression on all rows.
    own : ndarray of shape (n, p)
        What the regression on all rows leaves.
    held_out : ndarray of shape (n, p)
        What a regression without the row, or without the fold of its group, leaves.
    leverages : ndarray of shape (n, p)
        How much the expectation of a row depends on its own value, from 0 to 1.
    """

    regression: SplineRegression
    own: np.ndarray
    held_out: np.ndarray
    leverages: np.ndarray


def regress_on_splines(
    F: np.ndarray, rows: np.ndarray, is_number: np.ndarray, folds: list[tuple[np.ndarray, np.ndarray]] | None = None
) -> SplineResiduals:
    """Regress each column on sums of smooth functions of z.

    Parameters
    ----------
    F : ndarray of shape (n, p)
        These functions of another variable are expected.
    rows : ndarray of shape (n, q)
        The encoded rows of z.
    is_number : ndarray of bool of shape (q,)
        Functions of columns with true may bend.
    folds : list of pairs of ndarray, optional
        Hold out these rows together. By default, each row is held out on its own, exactly and at no cost.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(200, 1)); F = z**2 + 0.1 * rng.normal(size=(200, 1))
    >>> regress_on_splines(F, z, np.array([True])).held_out.std().round(2)
    np.float64(0.1)
    """
    basis = make_basis(rows, is_number)
    B = basis(rows)
    mean, centre = B.mean(axis=0), F.mean(axis=0)
    B, centred = B - mean, F - centre
    smoother = _Smoother.from_features(B, *penalise_features(basis, rows, B))
    strengths = smoother.choose_strengths(centred)
    weights = smoother.solve(centred, strengths)
    own = centred - B @ weights
    leverages = smoother.compute_leverages(strengths)
    regression = SplineRegression(AdditiveFunctions(basis, mean, weights), centre)
    if folds is None:
        return SplineResiduals(regression, own, own / (1 - np.minimum(leverages, MAX_LEVERAGE)), leverages)
    held_out = np.empty_like(F)
    for train, test in folds:
        middle, start = B[train].mean(axis=0), F[train].mean(axis=0)
        part = _Smoother.from_features(B[train] - middle, smoother.penalty, smoother.ridge * len(F) / len(train))
        held_out[test] = F[test] - start - (B[test] - middle) @ part.solve(F[train] - start, strengths)
    return SplineResiduals(regression, own, held_out, leverages)


def make_basis(rows: np.ndarray, is_number: np.ndarray) -> SplineBasis:
    """Place knots over the whole range of each number, so that parabolas are followed up to the last row."""
    share = min(MAX_KNOTS_IN_ALL, len(rows) // ROWS_PER_KNOT) // max(1, int(is_number.sum()))
    n_knots = min(MAX_KNOTS_OF_GIVEN, share) if share >= MIN_KNOTS_OF_GIVEN else 0
    return SplineBasis(
        [_place_knots(z, n_knots) if number else np.empty(0) for z, number in zip(rows.T, is_number, strict=True)]
    )


def _place_knots(z: np.ndarray, n_knots: int) -> np.ndarray:
    distinct = np.unique(z)
    if not n_knots or len(distinct) < 3:
        return np.empty(0)
    return distinct if len(distinct) <= n_knots else np.linspace(distinct[0], distinct[-1], n_knots)


def penalise_features(basis: SplineBasis, rows: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Write the roughness of functions of z as a quadratic form of their weights, and find a small ridge for the rest.

    Where the features are too many for the rows, the ridge is the penalty.
    """
    n, width = B.shape
    within = basis.indicate_intervals(rows)
    counts = within.T @ within + np.eye(within.shape[1])
    penalty = basis.third_derivatives.T @ (counts / n) @ basis.third_derivatives
    widths = [len(knots) if len(knots) > 2 else 1 for knots in basis.knots]
    is_column = np.repeat([len(knots) < 3 for knots in basis.knots], widths)
    ridge = np.where(is_column, RIDGE_ROWS / n, 0.0)
    if n >= ROWS_PER_COLUMN * width:
        return penalty, ridge
    return penalty + np.diag(B.var(axis=0)), ridge


@dataclass(frozen=True, eq=False)
class _Smoother:
    """Directions in which covariance and penalty are diagonal, and the rows there."""

    B: np.ndarray
    penalty: np.ndarray
    ridge: np.ndarray
    V: np.ndarray
    rough: np.ndarray
    Q: np.ndarray

    @classmethod
    def from_features(cls, B: np.ndarray, penalty: np.ndarray, ridge: np.ndarray) -> _Smoother:
        """Diagonalise the penalty."""
        V, rough = diagonalise_penalty(B.T @ B / len(B) + np.diag(ridge), penalty)
        return cls(B, penalty, ridge, V, rough, B @ V)

    def choose_strengths(self, F: np.ndarray) -> np.ndarray:
        """Choose the smoothness of each function by generalised cross-validation, and then the roughest as good."""
        n, grid = len(F), STRENGTHS if self.penalty.any() else STRENGTHS[:1]
        c2 = (self.Q.T @ F / n) ** 2
        W = 1 / (1 + grid[:, None] * self.rough)
        left = np.maximum((F**2).mean(axis=0) - (2 * W - W**2) @ c2, 0)
        free = np.maximum(1 - (1 + W.sum(axis=1)) / n, 1 / n)
        scores = left / free[:, None] ** 2
        is_good = scores <= scores.min(axis=0) * (1 + ROUGHER_BY / n)
        return grid[is_good.argmax(axis=0)]  # ascending, so the first is the roughest

    def solve(self, F: np.ndarray, strengths: np.ndarray) -> np.ndarray:
        """Find the weights of the features for centred functions, each with its own strength."""
        return self.V @ ((self.Q.T @ F / len(F)) / (1 + self.rough[:, None] * strengths))

    def compute_leverages(self, strengths: np.ndarray) -> np.ndarray:
        """Compute the leverage of each row for each function."""
        used, which = np.unique(strengths, return_inverse=True)
        W = 1 / (1 + self.rough[:, None] * used)
        return ((1 + self.Q**2 @ W) / len(self.Q))[:, which]
