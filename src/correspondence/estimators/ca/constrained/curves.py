"""Numbers as curves: combinations of splines in the order of their roughness."""

from __future__ import annotations

import numpy as np

from correspondence.core.column_features import CurveColumn, NumberColumn
from correspondence.core.penalised_coordinates import diagonalise_penalty
from correspondence.core.splines import SplineBasis

__all__ = ["MAX_BENDS", "bend_column", "find_curves"]

MAX_BENDS = 6  # curves of a number, beside itself
MAX_CURVE_KNOTS = 12


def bend_column(column: NumberColumn, values: np.ndarray) -> NumberColumn:
    """Replace a column of numbers by splines of it; one with too few different values stays as it is."""
    scale = float(values.std())
    if not scale > 0:
        return column
    basis = SplineBasis.for_columns(((values - column.mean) / scale)[:, None], np.array([True]), MAX_CURVE_KNOTS)
    if len(basis.knots[0]) < 3:
        return column
    return CurveColumn(column.name, column.mean, column.reader, scale, basis)


def find_curves(column: CurveColumn, values: np.ndarray) -> np.ndarray:
    """Find combinations of the splines: the number itself, then curves without a slope in the order of their roughness.

    The roughness of a curve is its mean squared third derivative, relative to its variance over the rows: a parabola
    comes first.
    """
    features = column.expand(values)
    centred = features - features.mean(axis=0)
    straight = column.number_weights * column.scale
    line = centred @ straight
    covariance = centred.T @ centred / len(centred)
    # What is left of each spline once its slope is subtracted.
    left = np.eye(len(straight)) - np.outer(straight, line @ centred) / (line @ line)
    third = column.basis.third_derivatives @ left
    directions, roughness = diagonalise_penalty(left.T @ covariance @ left, third.T @ third / max(len(third), 1))
    order = np.argsort(roughness, kind="stable")[:MAX_BENDS]
    return np.column_stack([straight, left @ directions[:, order]])
