"""Axes of a table: what takes part in the analysis, its residuals decomposed, and the correlations to claim.

Names and the usual symbols: the standardised residuals are Q = D_r^(-1/2) (P - r c^T) D_c^(-1/2) = U diag(s) V^T, the
functions f = D_r^(-1/2) U and g = D_c^(-1/2) V, the PICs lambda_i = s_i^2. With a ridge, M of `ridge` takes the place
of Q.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.user_warnings import FewerComponents
from correspondence.core.order.monotone import put_in_order
from correspondence.core.residual_svd import Residuals, find_leading_axes
from correspondence.core.whitening import choose_signs
from correspondence.data.counting import are_whole
from correspondence.data.table import Table
from correspondence.estimators.ca.ordered import TableOrder
from correspondence.estimators.ca.ridge import Ridge, RidgeResiduals, choose_ridge
from correspondence.estimators.ca.table_side import TableSide, TransitionFormula

__all__ = ["AnalysedTable", "TableAxes"]

ALL_UP_TO = 1000  # components that there may be for None to mean all of them
N_COMPONENTS_IF_LARGE = 10
JUDGED_UP_TO = 50  # components that the search for a ridge looks at, if there may be all of them


@dataclass(frozen=True, eq=False)
class TableAxes:
    """Axes of a table, largest first."""

    f: np.ndarray
    g: np.ndarray
    """Functions at the labels that take part."""
    row_inertia: np.ndarray
    column_inertia: np.ndarray
    """Inertias of these labels, without a ridge."""
    correlations: np.ndarray
    """Correlations to claim."""
    claimed_share: np.ndarray
    """Their ratios to the correlations that the ridge leaves; 1 unless the folds support less."""
    chi2: float
    """Sum of all PICs, including those not kept: of the table, what a ridge leaves, or what the folds support."""
    strength: float
    """Strength of the ridge; 0 without one."""
    to_rows: TransitionFormula
    to_columns: TransitionFormula
    """How new rows and columns are placed."""
    row_averages: np.ndarray | None = None
    column_averages: np.ndarray | None = None
    """What the functions of the other side average to over each profile, where an order makes that another value."""


@dataclass(frozen=True, eq=False)
class AnalysedTable:
    """A table and its two sides, which say what takes part in the analysis."""

    table: Table
    rows: TableSide
    columns: TableSide

    @property
    def is_whole(self) -> bool:
        """Whether all labels with a count take part."""
        return self.rows.is_whole and self.columns.is_whole

    @property
    def are_counts(self) -> bool:
        """Whether the cells count observations, which can be permuted and dealt out."""
        return are_whole(self.table.counts) and not (self.rows.is_weighted or self.columns.is_weighted)

    def measure_inertia(self) -> float:
        """Compute the inertia of the whole table, including labels that take no part."""
        positions = self.rows.occurring_positions, self.columns.occurring_positions
        return float(self.compute_residuals(*positions).row_inertia.sum())

    def weigh_observations(self, codes: tuple[np.ndarray, np.ndarray], sample_weight: Any) -> np.ndarray | None:
        """Multiply the weight of each pair of labels by those of its row and column; None without any weights."""
        sides = zip((self.rows, self.columns), codes, strict=True)
        factors = [side.weights[own] for side, own in sides if side.weights is not None]
        if sample_weight is not None:
            factors.append(np.asarray(sample_weight, dtype=np.float64))
        return np.prod(factors, axis=0) if factors else None

    def find_axes(
        self, n_components: int | None, regularization: float | str | None, order: TableOrder | None = None
    ) -> TableAxes:
        """Find the leading axes of the labels that take part; the first one keeps their order, if they have one."""
        rows, columns = self.rows, self.columns
        Q = self.compute_residuals(rows.kept, columns.kept)
        whole = (rows.is_whole, columns.is_whole)
        # The residuals of a whole side are orthogonal to the trivial axis, which takes one dimension.
        limit = min(len(rows.kept) - rows.is_whole, len(columns.kept) - columns.is_whole)
        k, ridge = count_components(n_components, limit), self._find_ridge(n_components, regularization, limit)
        if ridge.claims is not None and n_components is None:
            k = min(limit, max(1, int(np.count_nonzero(ridge.claims))))
        matrix: Any = RidgeResiduals.from_residuals(Q, ridge.strength, whole) if ridge.strength else Q
        plain = axes = find_leading_axes(matrix, k, centred=whole)
        if order is not None:
            axes = put_in_order(matrix, plain, *order.make_sides(Q.row_root, Q.column_root), centred=whole)
            warn_of_fewer_axes(n_components, k, len(axes[1]))
        U, s, V = axes
        s = np.minimum(s, 1.0)  # a correlation, but for rounding
        sign = choose_signs(V, columns.labels[columns.kept])
        U *= sign
        V *= sign
        to_rows, to_columns, trained = TransitionFormula(s), TransitionFormula(s), s
        if ridge.strength:
            to_rows, to_columns = _make_transition(matrix, s, V), _make_transition(matrix.T, s, U)
            # No claim is larger than the correlation of the functions on the table itself.
            trained = np.clip(np.einsum("ij,ij->j", U, Q @ V), 0, 1)
            free = slice(int(axes is not plain), None)  # a pair in order may be correlated less than later ones
            trained[free] = np.minimum.accumulate(trained[free])
        shrunk = np.minimum(s, trained)
        claims = shrunk if ridge.claims is None else np.minimum(ridge.claims[: len(s)], trained)
        share = np.divide(claims, shrunk, out=np.zeros(len(s)), where=shrunk > 0)
        averages: tuple[Any, Any] = (None, None)
        if axes is not plain:
            averages = (Q @ V) / Q.row_root[:, None], (Q.T @ U) / Q.column_root[:, None]
        # From here on U and V are f = D_r^(-1/2) U and g = D_c^(-1/2) V.
        U /= Q.row_root[:, None]
        V /= Q.column_root[:, None]
        chi2, inertias = _sum_pics(matrix, ridge), (Q.row_inertia, Q.column_inertia)
        return TableAxes(U, V, *inertias, claims, share, chi2, ridge.strength, to_rows, to_columns, *averages)

    def _find_ridge(self, n_components: int | None, regularization: float | str | None, limit: int) -> Ridge:
        """Find the strength of the ridge, and for "auto" what the thinned counts support."""
        if not isinstance(regularization, str):
            return Ridge(float(regularization or 0.0))
        if not self.is_whole:
            raise ValueError(
                'regularization must be None or a number for a subset, got "auto". Fit the whole table to choose one.'
            )
        if not self.are_counts:
            raise ValueError(
                'regularization must be None or a number for a table that does not hold whole counts, got "auto". '
                "Give the counts themselves, without weights."
            )
        if limit == 0:
            return Ridge(0.0)
        k = max(n_components or 0, JUDGED_UP_TO if limit <= ALL_UP_TO else N_COMPONENTS_IF_LARGE)
        return choose_ridge(self._select_counts(self.rows.kept, self.columns.kept), min(k, limit))

    def compute_residuals(self, rows: np.ndarray, columns: np.ndarray) -> Residuals:
        """Compute the standardised residuals of some rows and columns, with the masses of the whole table."""
        counts = self._select_counts(rows, columns)
        return Residuals.from_counts(counts, self.rows.mass[rows], self.columns.mass[columns], self.table.total)

    def _select_counts(self, rows: np.ndarray, columns: np.ndarray) -> Any:
        counts = self.table.counts
        return counts if (len(rows), len(columns)) == counts.shape else counts[rows][:, columns]


def count_components(n_components: int | None, limit: int) -> int:
    """Count the components to compute of the `limit` that there are."""
    if limit == 0:
        message = "The table has one row or one column: there are no components."
        warnings.warn(message, FewerComponents, stacklevel=find_user_stacklevel())
    if n_components is None:
        return limit if limit <= ALL_UP_TO else N_COMPONENTS_IF_LARGE
    if n_components > limit > 0:
        message = f"n_components={n_components} is more than the table has: {limit} are kept."
        warnings.warn(message, FewerComponents, stacklevel=find_user_stacklevel())
    return min(int(n_components), limit)


def warn_of_fewer_axes(n_components: int | None, k: int, n_found: int) -> None:
    """Warn if the order leaves fewer components than were asked for."""
    if n_components is not None and n_found < k:
        message = f"n_components={n_components} is more than the order of the labels leaves: {n_found} are kept."
        warnings.warn(message, FewerComponents, stacklevel=find_user_stacklevel())


def _sum_pics(matrix: Any, ridge: Ridge) -> float:
    if ridge.claims is not None:
        return float((ridge.claims**2).sum())
    return matrix.inertia if ridge.strength else float(matrix.row_inertia.sum())


def _make_transition(matrix: RidgeResiduals, s: np.ndarray, V: np.ndarray) -> TransitionFormula:
    """From the functions of the columns to those of the rows."""
    offset = matrix.row_root @ matrix.multiply_shrunk(V) if matrix.centred[0] else np.zeros(len(s))
    return TransitionFormula(s, matrix.strength, matrix.column_shrink, offset)
