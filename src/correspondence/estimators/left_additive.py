"""Sums of smooth functions of columns, most correlated once others are given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from correspondence.core.decomposition import Decomposition
from correspondence.core.feature_maps import Additive, iterate_blocks, to_dense
from correspondence.core.functions import LinearFunctions
from correspondence.core.left_features import Conditions, LeftFeatures, warn_of_determined
from correspondence.core.regularised import compute_fold_moments, fit_penalised
from correspondence.core.splines import AdditiveSums, SplineBasis, compute_penalties
from correspondence.data.encoders.columns import Columns
from correspondence.data.pairs.pairs import Memory

__all__ = ["decompose_left_additive"]


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
    if all(side.width for side in left):
        folds = compute_fold_moments(iterate_blocks(*(side.values for side in left)), conditions.groups)
        penalties = compute_penalties(sums, *bases)
        x, y = (side.directions.T @ P @ side.directions for side, P in zip(left, penalties, strict=True))
        fit = fit_penalised(folds, (x, y), n_components, smoothing)
        weights, strength = (fit.A, fit.B), fit.strength
    else:
        weights, strength = (np.empty((left[0].width, 0)), np.empty((left[1].width, 0))), np.empty(0)
    functions, values = [], []
    for name, encoder, basis, side, W, Z in zip("XY", encoders, bases, left, weights, (rows.x, rows.y), strict=True):
        additive = basis.make_functions(np.zeros(basis.width), side.directions @ W)
        values.append(additive(to_dense(Z)))
        d = W.shape[1]
        functions.append(LinearFunctions(values[-1].mean(axis=0), np.eye(d), Additive(name, encoder, additive)))
    (f, g), (F, G) = functions, values
    return conditions.decompose_functions(f, F, g, G, to_dense(rows.y)), strength


def _leave_splines(
    name: str, encoder: Columns, basis: SplineBasis, Z: np.ndarray, conditions: Conditions
) -> LeftFeatures:
    """Find what is left of the splines of the columns that the given variables do not determine."""
    columns = conditions.leave_features(Z)
    widths = [column.width for column in encoder.columns.values()]
    warn_of_determined(columns, name, np.repeat([repr(key) for key in encoder.columns], widths).tolist())
    F = basis(basis.temper_extremes(Z))
    # Splines of z cannot follow narrow splines of a column that z determines: something would always be left.
    gone = np.repeat(columns.is_determined, [len(knots) if len(knots) > 2 else 1 for knots in basis.knots])
    F[:, : len(gone)][:, gone] = 0
    if not columns.width:
        F[:] = 0
    return conditions.leave_features(F)
