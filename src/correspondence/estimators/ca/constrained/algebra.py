"""The algebra of canonical and partial correspondence analysis.

Names and the usual symbols: Q = D_r^(-1/2) (P - r c^T) D_c^(-1/2) are the residuals of the table, Z the design of the
conditions and X that of the constraints, both centred by the masses r and multiplied by D_r^(1/2). With the projection
H_Z on to Z and H on to Z and X together, H_Z Q is conditioned, (H - H_Z) Q = U diag(s) V^T is constrained, and Q - H Q
is not. The site scores are D_r^(-1/2) U (linear combinations of Z and X) and D_r^(-1/2) (Q - H_Z Q) V diag(1/s)
(weighted averages of the species), the species scores D_c^(-1/2) V.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular

from correspondence.core.whitening import choose_signs
from correspondence.estimators.ca.constrained.design import Design

__all__ = ["Axes", "ConstrainedTable", "DesignBasis"]

COLLINEAR_TOLERANCE = 1e-7  # of the norm of a column: less is left of a collinear one; that of R's qr
CONSTANT_TOLERANCE = 1e-12  # of the norm of a column: a smaller deviation from its mean is that of a constant
MIN_INERTIA = np.sqrt(np.finfo(np.float64).eps)  # of an axis, absolute or relative to the first; that of vegan


@dataclass(frozen=True, eq=False)
class DesignBasis:
    """Orthonormal basis of the columns of a design, in their order: collinear ones are left out as they come.

    Attributes
    ----------
    centred : ndarray of shape (n, p)
        The columns, centred and multiplied by the roots of the masses.
    mean : ndarray of shape (p,)
        Their means.
    vectors : ndarray of shape (n, k)
        The basis.
    kept : ndarray of int of shape (k,)
        The positions of the columns that are independent of those before.
    is_constant : ndarray of bool of shape (p,)
        Which columns do not vary.
    """

    centred: np.ndarray
    mean: np.ndarray
    vectors: np.ndarray
    kept: np.ndarray
    is_constant: np.ndarray

    @classmethod
    def from_matrix(cls, matrix: np.ndarray, mass: np.ndarray) -> DesignBasis:
        """Find the basis of a design, given the masses of its rows."""
        root = np.sqrt(mass)
        mean = mass @ matrix / mass.sum()
        centred = root[:, None] * (matrix - mean)
        norms = np.linalg.norm(centred, axis=0)
        is_constant = norms <= CONSTANT_TOLERANCE * np.linalg.norm(root[:, None] * matrix, axis=0)
        vectors = np.empty((len(mass), min(len(mass), matrix.shape[1])))
        kept: list[int] = []
        for j in np.flatnonzero(~is_constant).tolist():
            left = centred[:, j] / norms[j]
            for _ in range(2):  # the second time removes what rounding leaves
                basis = vectors[:, : len(kept)]
                left = left - basis @ (basis.T @ left)
            size = np.linalg.norm(left)
            if size > COLLINEAR_TOLERANCE and len(kept) < vectors.shape[1]:
                vectors[:, len(kept)] = left / size
                kept.append(j)
        return cls(centred, mean, vectors[:, : len(kept)], np.array(kept, dtype=np.intp), is_constant)

    @property
    def rank(self) -> int:
        """The number of independent columns."""
        return len(self.kept)

    @cached_property
    def _triangle(self) -> np.ndarray:
        return np.triu(self.vectors.T @ self.centred[:, self.kept])

    def find_coefficients(self, U: np.ndarray) -> np.ndarray:
        """Find the coefficients of vectors in the span, of shape (p, d); 0 for columns that are left out."""
        coefficients = np.zeros((self.centred.shape[1], U.shape[1]))
        coefficients[self.kept] = solve_triangular(self._triangle, self.vectors.T @ U)
        return coefficients

    def compute_inflation(self) -> np.ndarray:
        """Compute the variance inflation factor of each column, NaN for those that are left out."""
        inverse = solve_triangular(self._triangle, np.eye(self.rank))
        factors = np.full(self.centred.shape[1], np.nan)
        factors[self.kept] = (inverse**2).sum(axis=1) * (self.centred[:, self.kept] ** 2).sum(axis=0)
        return factors


@dataclass(frozen=True, eq=False)
class Axes:
    """Axes of a matrix: U diag(s) V^T."""

    U: np.ndarray
    s: np.ndarray
    V: np.ndarray

    @classmethod
    def from_matrix(cls, matrix: np.ndarray, basis: np.ndarray | None, labels: np.ndarray) -> Axes:
        """Find the axes of the projection of a matrix on to a basis, or of the matrix itself; the labels are for signs.

        Axes of nearly no inertia are left out.
        """
        U, s, Vt = np.linalg.svd(matrix if basis is None else basis.T @ matrix, full_matrices=False)
        inertia = s**2
        k = int((inertia >= max(MIN_INERTIA, MIN_INERTIA * inertia.max(initial=0))).sum())
        U, V = (U if basis is None else basis @ U)[:, :k], Vt[:k].T
        sign = choose_signs(V, labels)
        return cls(U * sign, s[:k], V * sign)

    def truncate(self, k: int) -> Axes:
        """Keep the first k axes."""
        return Axes(self.U[:, :k], self.s[:k], self.V[:, :k])


@dataclass(frozen=True, eq=False)
class ConstrainedTable:
    """A table with its conditions and constraints, and everything that follows from them.

    Attributes
    ----------
    rows, columns : ndarray of int
        The positions in the table of the rows and columns that take part; those of the arrays below.
    row_mass, column_mass : ndarray of shape (n,) and (m,)
        Their masses r and c, all positive.
    residuals : ndarray of shape (n, m)
        Q = (P - r c^T) / sqrt(r c^T).
    given, constraints : Design
        The designs Z and X: `matrix` holds the raw columns, `term_of_column` the variable of each column.
    column_labels : ndarray of shape (m,)
        The labels of the columns, for the signs of the axes.
    """

    rows: np.ndarray
    columns: np.ndarray
    row_mass: np.ndarray
    column_mass: np.ndarray
    residuals: np.ndarray
    given: Design
    constraints: Design
    column_labels: np.ndarray

    @cached_property
    def basis(self) -> DesignBasis:
        """The basis of the columns of the conditions, then of the constraints."""
        return DesignBasis.from_matrix(np.hstack([self.given.matrix, self.constraints.matrix]), self.row_mass)

    @property
    def n_given(self) -> int:
        """The number of columns of the conditions in the design."""
        return self.given.matrix.shape[1]

    @property
    def given_rank(self) -> int:
        """The number of independent columns of the conditions."""
        return int((self.basis.kept < self.n_given).sum())

    @property
    def given_basis(self) -> np.ndarray:
        """The orthonormal basis of the conditions."""
        return self.basis.vectors[:, : self.given_rank]

    @property
    def constraints_basis(self) -> np.ndarray:
        """The orthonormal basis of what the constraints add to the conditions."""
        return self.basis.vectors[:, self.given_rank :]

    @cached_property
    def partial_residuals(self) -> np.ndarray:
        """What the conditions leave of the residuals: Q - H_Z Q."""
        return self.residuals - self.given_basis @ (self.given_basis.T @ self.residuals)

    @cached_property
    def left_residuals(self) -> np.ndarray:
        """What conditions and constraints leave of the residuals: Q - H Q."""
        Q = self.partial_residuals
        return Q - self.constraints_basis @ (self.constraints_basis.T @ Q)

    @cached_property
    def constrained_axes(self) -> Axes:
        """All axes of what the constraints explain."""
        return Axes.from_matrix(self.partial_residuals, self.constraints_basis, self.column_labels)

    @cached_property
    def unconstrained_axes(self) -> Axes:
        """All axes of what is left."""
        return Axes.from_matrix(self.left_residuals, None, self.column_labels)
