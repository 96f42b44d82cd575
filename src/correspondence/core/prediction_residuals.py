"""The matrix whose singular triples are the axes of a non-symmetric correspondence analysis, dense or sparse."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from correspondence.core.residual_svd import Residuals, iterate_residual_blocks

__all__ = ["PredictionResiduals"]


@dataclass(frozen=True)
class PredictionResiduals:
    """D_r^(1/2) Pi = Q D_c^(1/2), or with rows as the response D_r^(1/2) Q: a drop-in for `Residuals`.

    Parameters
    ----------
    base : Residuals
        The standardised residuals Q of the whole table.
    response : {"rows", "columns"}
        The side that is predicted. It has the usual metric, in which each label counts once.
    """

    base: Residuals
    response: str
    may_have_unit_axes: ClassVar[bool] = False

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.base.shape

    @property
    def counts(self) -> Any:
        """Counts of the table."""
        return self.base.counts

    @property
    def is_parallel(self) -> bool:
        """Whether products are computed in several threads."""
        return self.base.is_parallel

    @property
    def T(self) -> PredictionResiduals:  # noqa: N802 (as in NumPy)
        """The same with rows and columns exchanged."""
        return PredictionResiduals(self.base.T, "rows" if self.response == "columns" else "columns")

    @property
    def row_root(self) -> np.ndarray:
        """Direction of the rows to which the matrix is orthogonal: differences of probabilities sum to 0."""
        return np.ones(self.shape[0]) if self.response == "rows" else self.base.row_root

    @property
    def column_root(self) -> np.ndarray:
        """The same of the columns."""
        return np.ones(self.shape[1]) if self.response == "columns" else self.base.column_root

    @cached_property
    def row_inertia(self) -> np.ndarray:
        """Sums of squares by row."""
        if self.response == "rows":
            return self.base.row_root**2 * self.base.row_inertia
        return sum_weighted_squares(self.base)

    @cached_property
    def column_inertia(self) -> np.ndarray:
        """Sums of squares by column."""
        return self.T.row_inertia

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        if self.response == "columns":
            return self.base @ _scale_rows(V, self.base.column_root)
        return _scale_rows(self.base @ V, self.base.row_root)

    def multiply_gram(self, v: np.ndarray) -> np.ndarray:
        """Multiply by the matrix and then by its transpose."""
        return self.T @ (self @ v)

    def toarray(self) -> np.ndarray:
        """Return the matrix as a dense array."""
        if self.response == "columns":
            return self.base.toarray() * self.base.column_root
        return self.base.toarray() * self.base.row_root[:, None]


def _scale_rows(V: np.ndarray, factors: np.ndarray) -> np.ndarray:
    return V * (factors if V.ndim == 1 else factors[:, None])


def sum_weighted_squares(Q: Residuals) -> np.ndarray:
    """Sum the squares of Q by row, each column weighted by its mass."""
    r, c = Q.row_root**2, Q.column_root**2
    if not sp.issparse(Q.counts):
        parts = [part**2 @ c for _, part in iterate_residual_blocks(Q.counts, r, c, Q.total)]
        return np.concatenate(parts)
    cells = sp.coo_array(Q.counts)
    # A cell that is zero adds r_i c_j^2.
    beyond = (cells.data / Q.total - r[cells.row] * c[cells.col]) ** 2 / r[cells.row] - r[cells.row] * c[cells.col] ** 2
    return np.maximum(np.bincount(cells.row, beyond, len(r)) + r * (c @ c), 0)
