"""Sums of smooth functions of columns, most correlated once others are given."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from correspondence.core.decomposition import Decomposition
from correspondence.core.feature_maps import Additive, to_dense
from correspondence.core.functions import LinearFunctions
from correspondence.core.left_features import Conditions, LeftFeatures, decompose_left, find_left_directions, sum_left
from correspondence.core.moments import Moments
from correspondence.core.regularised import fit_penalised
from correspondence.core.splines import AdditiveSums, SplineBasis, compute_penalties
from correspondence.data.encoders.columns import Columns
from correspondence.data.pairs.pairs import Memory

__all__ = ["decompose_left_additive", "make_bounded_basis"]

SHARE_AT_ENDS, ROWS_AT_ENDS, MAX_SHARE_AT_ENDS = 0.02, 10, 0.1  # at each end, where functions are constant
MAX_KNOTS_GIVEN = 12


def decompose_left_additive(
    rows: Memory,
    encoders: Sequence[Columns],
    bases: Sequence[SplineBasis],
    sums: AdditiveSums,
    conditions: Conditions,
    n_components: int,
    smoothing: Sequence[float] | np.ndarray,
) -> tuple[Decomposition, np.ndarray]:
    """Find the additive functions that are most correlated once others are given.

    Parameters
    ----------
    rows : Memory
        The encoded rows of both sides.
    encoders : pair of Columns
        They have encoded the rows.
    bases : pair of SplineBasis
        These make the features of both sides.
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
    sides = zip("XY", encoders, bases, (rows.x, rows.y), strict=True)
    left = [_leave_splines(name, encoder, basis, to_dense(Z), conditions) for name, encoder, basis, Z in sides]
    folds = sum_left(left, conditions.groups)
    span, strength = None, np.empty(0)
    if all(side.width for side in left):
        x, y = (
            side.directions.T @ penalty @ side.directions
            for side, penalty in zip(left, compute_penalties(sums, *bases), strict=True)
        )
        fit = fit_penalised(folds, (x, y), n_components, smoothing)
        span, strength = (fit.A, fit.B), fit.strength
    make = [partial(make_additive_functions, *side) for side in zip("XY", encoders, bases, strict=True)]
    return decompose_left(left, sum(folds, start=Moments()), n_components, span, make, rows.y), strength


def make_additive_functions(
    name: str, encoder: Columns, basis: SplineBasis, mean: np.ndarray, weights: np.ndarray
) -> LinearFunctions:
    """Make sums of functions of columns, given the mean and weights of splines."""
    d = weights.shape[1]
    return LinearFunctions(np.zeros(d), np.eye(d), Additive(name, encoder, basis.make_functions(mean, weights)))


def make_bounded_basis(rows: np.ndarray, is_number: np.ndarray, n_knots: int | None = None) -> SplineBasis:
    """Place knots for columns, not too many, and let functions be constant where the smallest and largest values are.

    What z says of a function that is large for a handful of rows only, or changes faster than splines of z can follow,
    is not known, and would pass for what is left of it.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
        The encoded rows.
    is_number : ndarray of bool of shape (p,)
        Columns are numbers where this is true.
    n_knots : int, optional
        Each column of numbers has this many knots; by default as many as the data allow.
    """
    outside = min(max(SHARE_AT_ENDS, ROWS_AT_ENDS / len(rows)), MAX_SHARE_AT_ENDS)
    low, high = np.quantile(rows, [outside, 1 - outside], axis=0)
    bounded = np.where(is_number & (low < high), np.clip(rows, low, high), rows)
    basis = SplineBasis.for_columns(bounded, is_number, n_knots)
    if n_knots is None and max((len(knots) for knots in basis.knots), default=0) > MAX_KNOTS_GIVEN:
        return SplineBasis.for_columns(bounded, is_number, MAX_KNOTS_GIVEN)
    return basis


def _leave_splines(
    name: str, encoder: Columns, basis: SplineBasis, Z: np.ndarray, conditions: Conditions
) -> LeftFeatures:
    """Find what is left of the splines of the columns that the given variables do not determine."""
    columns = find_left_directions(Z, conditions.given)
    widths = [column.width for column in encoder.columns.values()]
    columns.warn_of_determined(name, np.repeat([repr(key) for key in encoder.columns], widths).tolist())
    F = basis(Z) if columns.weights.size else np.zeros((len(Z), basis.width))
    # Splines of z cannot follow narrow splines of a column that z determines: something would always be left.
    gone = np.repeat(columns.is_determined, [len(knots) if len(knots) > 2 else 1 for knots in basis.knots])
    F[:, np.flatnonzero(gone)] = 0
    return conditions.leave_features(F, find_left_directions(F, conditions.given).weights)
