"""Sums of smooth functions of columns, most correlated once others are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from correspondence.core.decomposition import Decomposition
from correspondence.core.feature_maps import Additive, to_dense
from correspondence.core.functions import LinearFunctions
from correspondence.core.given.left_features import (
    Conditions,
    LeftDirections,
    LeftFeatures,
    decompose_left,
    find_left_directions,
    sum_left,
)
from correspondence.core.moments import Moments
from correspondence.core.regularised import fit_penalised
from correspondence.core.splines import AdditiveSums, SplineBasis, compute_penalties
from correspondence.data.encoders.columns import Columns

__all__ = ["LeftColumns", "decompose_left_columns"]

SHARE_AT_ENDS, ROWS_AT_ENDS, MAX_SHARE_AT_ENDS = 0.05, 10, 0.1  # at each end, where functions are constant
MAX_KNOTS_GIVEN = 12


@dataclass(frozen=True, eq=False)
class LeftColumns:
    """The columns of one side, and what the given variables leave of them.

    Attributes
    ----------
    name : str
        "X" or "Y".
    encoder : Columns
        It has encoded the rows.
    rows : ndarray of shape (n, p)
        The encoded rows.
    found : LeftDirections
        What is left of the encoded columns.
    basis : SplineBasis
        The splines of the columns.
    """

    name: str
    encoder: Columns
    rows: np.ndarray
    found: LeftDirections
    basis: SplineBasis

    @classmethod
    def from_rows(
        cls, name: str, encoder: Columns, rows: np.ndarray, conditions: Conditions, n_knots: int | None
    ) -> LeftColumns:
        """Find what is left of the columns, warn of those that are determined, and place knots."""
        found = find_left_directions(rows, conditions.given)
        widths = [column.width for column in encoder.columns.values()]
        found.warn_of_determined(name, np.repeat([repr(key) for key in encoder.columns], widths).tolist())
        basis = make_bounded_basis(rows, encoder.coordinates, found.shares_left, n_knots)
        return cls(name, encoder, to_dense(rows), found, basis)

    def with_basis(self, basis: SplineBasis) -> LeftColumns:
        """Return the same columns with other features."""
        return replace(self, basis=basis)

    def leave_splines(self, conditions: Conditions) -> LeftFeatures:
        """Find what is left of the splines of the columns that the given variables do not determine."""
        has_columns = self.found.weights.size > 0
        F = self.basis(self.rows) if has_columns else np.zeros((len(self.rows), self.basis.width))
        # Splines of z cannot follow narrow splines of a column that z determines: something would always be left.
        widths = [len(knots) if len(knots) > 2 else 1 for knots in self.basis.knots]
        F[:, np.flatnonzero(np.repeat(self.found.is_determined, widths))] = 0
        return conditions.leave_features(F, find_left_directions(F, conditions.given).weights)

    def make_functions(self, mean: np.ndarray, weights: np.ndarray) -> LinearFunctions:
        """Make sums of functions of the columns, given the mean and weights of the splines."""
        d, sums = weights.shape[1], self.basis.make_functions(mean, weights)
        return LinearFunctions(np.zeros(d), np.eye(d), Additive(self.name, self.encoder, sums))


def make_bounded_basis(
    rows: np.ndarray, is_number: np.ndarray, shares_left: np.ndarray, n_knots: int | None = None
) -> SplineBasis:
    """Place knots for columns, not too many, and let functions be constant where the smallest and largest values are.

    What z says of a function that is large for a handful of rows only, or changes faster than splines of z can follow,
    is not known, and would pass for what is left of it. The more of a column z explains, the more that would be.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
        The encoded rows.
    is_number : ndarray of bool of shape (p,)
        Columns are numbers where this is true.
    shares_left : ndarray of shape (p,)
        The share of the variance of each column that z leaves.
    n_knots : int, optional
        Each column of numbers has this many knots; by default as many as the data allow.
    """
    outside = min(max(SHARE_AT_ENDS, ROWS_AT_ENDS / len(rows)), MAX_SHARE_AT_ENDS)
    bounded = rows.copy()
    for j in np.flatnonzero(is_number & (shares_left < 1)):
        share = outside * (1 - shares_left[j])
        low, high = np.quantile(rows[:, j], [share, 1 - share])
        if low < high:
            bounded[:, j] = np.clip(rows[:, j], low, high)
    basis = SplineBasis.for_columns(bounded, is_number, n_knots)
    if n_knots is None and max((len(knots) for knots in basis.knots), default=0) > MAX_KNOTS_GIVEN:
        return SplineBasis.for_columns(bounded, is_number, MAX_KNOTS_GIVEN)
    return basis


def decompose_left_columns(
    sides: Sequence[LeftColumns],
    sums: AdditiveSums,
    conditions: Conditions,
    n_components: int,
    smoothing: Sequence[float] | np.ndarray,
) -> tuple[Decomposition, np.ndarray]:
    """Find the additive functions that are most correlated once others are given.

    Parameters
    ----------
    sides : pair of LeftColumns
        The columns of x and of y.
    sums : AdditiveSums
        The sums over all rows, which penalties are made of.
    conditions : Conditions
        The given variables.
    n_components : int
        Find at most this many components.
    smoothing : sequence of float or ndarray
        This is the parameter of `fit_penalised`.

    Returns
    -------
    Decomposition
        The result, whose functions need given variables.
    ndarray of shape (n_components,)
        The smoothing strength of each component.
    """
    left = [side.leave_splines(conditions) for side in sides]
    folds = sum_left(left, conditions.groups)
    span, strength = None, np.empty(0)
    if all(side.width for side in left):
        penalties = compute_penalties(sums, *(side.basis for side in sides))
        x, y = (side.directions.T @ P @ side.directions for side, P in zip(left, penalties, strict=True))
        fit = fit_penalised(folds, (x, y), n_components, smoothing)
        span, strength = (fit.A, fit.B), fit.strength
    make = [side.make_functions for side in sides]
    return decompose_left(left, sum(folds, start=Moments()), n_components, span, make, sides[1].rows), strength
