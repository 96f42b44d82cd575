"""A table with conditions and constraints as tests see it, and the hypotheses that there are about it.

Names and the usual symbols: Q = D_r^(-1/2) (P - r c^T) D_c^(-1/2) are the residuals of the table; the columns of F are
orthonormal: r^(1/2), then a basis of the conditions Z, then of what the constraints X add, all multiplied by the roots
of the masses. A hypothesis says that a block B of directions explains nothing beyond directions W. Blocks are
coefficients of F, so that everything after the first product with Q is as small as F is narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from correspondence.estimators.ca.constrained.algebra import COLLINEAR_TOLERANCE, MIN_INERTIA, DesignBasis

__all__ = ["Effect", "Hypothesis", "TestedModel", "extend_basis"]

MIN_LEFT_SHARE = 1e-12  # of the total inertia: less than that is left by a model that fits everything


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A block of directions explains nothing beyond others; all are coefficients of the directions of the model.

    Attributes
    ----------
    name : object
        The name of the term, or of the axis.
    tested : ndarray of shape (K, q)
        The directions that are tested.
    before : ndarray of shape (K, k)
        The directions beyond which they are tested, the constant among them.
    after : ndarray of shape (K, l)
        The directions that the model has besides, orthogonal to those before.
    reduced : ndarray of shape (K, j)
        The directions that are taken out before residuals are permuted.
    is_first : bool
        Whether the statistic is the largest axis of the block, instead of the sum of its axes.
    """

    name: object
    tested: np.ndarray
    before: np.ndarray
    after: np.ndarray
    reduced: np.ndarray
    is_first: bool = False


@dataclass(frozen=True, eq=False)
class Effect:
    """What a hypothesis is about: degrees of freedom, inertia and F of the block."""

    name: object
    dof: int
    chi_square: float
    f: float


@dataclass(frozen=True, eq=False)
class TestedModel:
    """A table with its conditions and constraints, in the form that tests need.

    Attributes
    ----------
    mass : ndarray of shape (n,)
        The masses of the rows, all positive.
    directions : ndarray of shape (n, K)
        F: the roots of the masses, then the basis of the conditions, then of the constraints.
    residuals : ndarray of shape (n, s)
        Q, in a basis of its columns if it has fewer rows than columns.
    given_rank : int
        The number of directions of the conditions.
    columns : ndarray of shape (K, p)
        All columns of the constraints as coefficients of the directions.
    term_of_column : ndarray of int of shape (p,)
        The position of the term of each column.
    kept : ndarray of int
        The positions of the columns that the directions of the constraints belong to.
    terms : sequence
        The names of the terms.
    """

    __test__ = False  # not a class of tests

    mass: np.ndarray
    directions: np.ndarray
    residuals: np.ndarray
    given_rank: int
    columns: np.ndarray
    term_of_column: np.ndarray
    kept: np.ndarray
    terms: Sequence[object]

    @classmethod
    def from_arrays(
        cls,
        mass: np.ndarray,
        residuals: np.ndarray,
        constraints: np.ndarray,
        given: np.ndarray,
        term_of_column: np.ndarray,
        terms: Sequence[object],
    ) -> TestedModel:
        """Make the model of a table from raw columns.

        Parameters
        ----------
        mass : ndarray of shape (n,)
            The masses of the rows, all positive.
        residuals : ndarray of shape (n, m)
            Q = (P - r c^T) / sqrt(r c^T).
        constraints, given : ndarray of shape (n, p) and (n, k)
            The columns of the designs, as numbers.
        term_of_column : ndarray of int of shape (p,)
            The position of the term of each column of the constraints.
        terms : sequence
            The names of the terms.
        """
        basis = DesignBasis.from_matrix(np.hstack([given, constraints]), mass)
        k, root = given.shape[1], np.sqrt(mass)[:, None]
        F = np.hstack([root / np.linalg.norm(root), basis.vectors])
        varies = ~basis.is_constant[k:]
        if residuals.shape[0] < residuals.shape[1]:  # sums of squares stay the same
            residuals = np.asarray(np.linalg.qr(residuals.T, mode="r")).T
        return cls(
            mass,
            F,
            np.ascontiguousarray(residuals),
            int((basis.kept < k).sum()),
            F.T @ (basis.centred[:, k:] * varies),
            term_of_column,
            basis.kept[basis.kept >= k] - k,
            terms,
        )

    @property
    def n_before(self) -> int:
        """The number of directions before those of the constraints: the constant, and the conditions."""
        return 1 + self.given_rank

    @property
    def rank(self) -> int:
        """The number of directions of the constraints."""
        return self.directions.shape[1] - self.n_before

    def count_residual_dof(self, n_axes: int | None = None) -> int:
        """Count the degrees of freedom of what is left; as vegan does, tests of axes use only as many as axes."""
        return len(self.mass) - self.n_before - (self.rank if n_axes is None else n_axes)

    @cached_property
    def total(self) -> float:
        """The inertia of the table."""
        return float((self.residuals**2).sum())

    @cached_property
    def loadings(self) -> np.ndarray:
        """F^T Q, which says what the directions explain."""
        return self.directions.T @ self.residuals

    @cached_property
    def products(self) -> np.ndarray:
        """The products (F^T Q) (F^T Q)^T."""
        return self.loadings @ self.loadings.T

    @cached_property
    def left_inertia(self) -> float:
        """The inertia that conditions and constraints leave; 0 if it is a rounding error."""
        left = float(((self.residuals - self.directions @ self.loadings) ** 2).sum())
        return left if left > MIN_LEFT_SHARE * self.total else 0.0

    def list_hypotheses(self, by: str | None) -> list[Hypothesis]:
        """List the hypotheses of a kind of test: all constraints (None), "term", "margin" or "axis"."""
        if by is None:
            return [self._make_hypothesis("Model", slice(self.n_before, self.directions.shape[1]))]
        return {"term": self._list_terms, "margin": self._list_margins, "axis": self._list_axes}[by]()

    def _make_hypothesis(self, name: object, block: slice) -> Hypothesis:
        """Test directions that follow each other, beyond those before them."""
        eye = np.eye(self.directions.shape[1])
        before, n_tested = eye[:, : block.start], block.stop - self.n_before
        later = self.columns[:, self.kept[n_tested:]]
        return Hypothesis(name, eye[:, block], before, extend_basis(before, later), eye[:, 1 : self.n_before])

    def _list_terms(self) -> list[Hypothesis]:
        counts = np.bincount(self.term_of_column[self.kept], minlength=len(self.terms))
        ends = self.n_before + np.cumsum(counts)
        return [
            self._make_hypothesis(self.terms[t], slice(int(end - count), int(end)))
            for t, (count, end) in enumerate(zip(counts, ends, strict=True))
            if count
        ]

    def _list_margins(self) -> list[Hypothesis]:
        eye = np.eye(self.directions.shape[1])
        given, found = eye[:, : self.n_before], []
        for t in range(len(self.terms)):
            is_own = self.term_of_column == t
            before = np.hstack([given, extend_basis(given, self.columns[:, ~is_own])])
            tested = extend_basis(before, self.columns[:, is_own])
            found.append(Hypothesis(self.terms[t], tested, before, eye[:, :0], given[:, 1:]))
        return found

    def _list_axes(self) -> list[Hypothesis]:
        eye, start = np.eye(self.directions.shape[1]), self.n_before
        inertia, vectors = np.linalg.eigh(self.products[start:, start:])
        inertia, axes = inertia[::-1], eye[:, start:] @ vectors[:, ::-1]
        d = int((inertia >= max(MIN_INERTIA, MIN_INERTIA * inertia.max(initial=0))).sum())
        found = []
        for k in range(d):
            before = np.hstack([eye[:, :start], axes[:, :k]])
            found.append(Hypothesis(f"CCA{k + 1}", axes[:, k:], before, eye[:, :0], before[:, 1:], is_first=True))
        return found

    def measure_effects(self, hypotheses: Sequence[Hypothesis]) -> list[Effect]:
        """Compute the degrees of freedom, the inertia and F of the blocks; F is NaN if nothing is left."""
        left, found = self.left_inertia, []
        axes = [hypothesis for hypothesis in hypotheses if hypothesis.is_first]
        left_dof = self.count_residual_dof(len(axes) if axes else None)
        for h in hypotheses:
            own = np.linalg.eigvalsh(h.tested.T @ self.products @ h.tested)
            dof, chi_square = (1, own[-1]) if h.is_first else (h.tested.shape[1], own.sum())
            is_defined = bool(dof) and left > 0 and left_dof > 0
            f = chi_square / dof / (left / left_dof) if is_defined else np.nan
            found.append(Effect(h.name, dof, max(float(chi_square), 0.0), max(float(f), 0.0) if is_defined else np.nan))
        return found


def extend_basis(basis: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Find the orthonormal directions that columns add to a basis, one after the other.

    Examples
    --------
    >>> extend_basis(np.eye(3)[:, :1], np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 3.0]]))
    array([[0., 0.],
           [1., 0.],
           [0., 1.]])
    """
    known = basis
    for column in columns.T:
        size = np.linalg.norm(column)
        left = column / size if size > 0 else column
        for _ in range(2):  # the second time removes what rounding leaves
            left = left - known @ (known.T @ left)
        if np.linalg.norm(left) > COLLINEAR_TOLERANCE and known.shape[1] < len(known):
            known = np.hstack([known, (left / np.linalg.norm(left))[:, None]])
    return known[:, basis.shape[1] :]
