"""Correspondence analysis with a ridge: how rare labels are held back, and how strongly the counts say they should be.

With n_i observations of row i and m_j of column j, n in all, and a strength c in observations, the axes are singular
vectors of

    M = (D_r + c/n)^(-1/2) (P - r c^T) (D_c + c/n)^(-1/2) = A_r^(1/2) Q A_c^(1/2),   A_r = diag(n_i / (n_i + c)),

that is of the standardised residuals Q with every label shrunk by the root of n_i / (n_i + c): a label that was seen c
times counts half. One number means the same for tables of any size, since the noise of a label's profile depends on how
often the label was seen and on nothing else. The trivial axis is projected out of M, so f = D_r^(-1/2) U and
g = D_c^(-1/2) V have mean 0 and variance 1 and are uncorrelated under the margins of the table.

The strength is chosen by dealing the counts out to folds (`thin_counts`) and scoring the fit to all folds but one on
that one. The same folds say which correlations may be claimed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from correspondence._util.threads import limit_blas_threads
from correspondence.core.residual_svd import Residuals
from correspondence.data.counting import thin_counts

__all__ = ["Ridge", "RidgeResiduals", "choose_ridge", "shrink_labels"]

RIDGE_STRENGTHS = (0.0, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0)  # what is captured changes slowly
MAX_WORSE_STRENGTHS = 2  # strengths in a row that do not improve on the best one, before the search ends
N_FOLDS, LARGE_FOLDS = 5, 3
LARGE_CELLS = 400_000  # of a table for which dense algebra would take too long in the search
FOLD_OVERLAP_FACTOR = 2.0  # means over all folds vary so much more than over separate pairs: the fits share their pairs
SPARE_AXES = 6  # beyond those wanted, which makes the subspace iteration converge sooner
FIRST_STEPS, NEXT_STEPS = 8, 3  # of the subspace iteration: from random vectors, from the axes of the strength before
MIN_SINGULAR_VALUE_RATIO = 1e-7  # singular value, relative to the first, below which a Gram matrix knows nothing


def shrink_labels(counts: np.ndarray, strength: float) -> np.ndarray:
    """Compute the root of n / (n + strength) for labels that were seen n times; 1 without a ridge, 0 if never seen."""
    return np.sqrt(np.divide(counts, counts + strength, out=np.zeros(len(counts)), where=counts > 0))


@dataclass(frozen=True)
class RidgeResiduals:
    """The matrix M of a table: a drop-in for `Residuals` in `find_leading_axes`.

    Parameters
    ----------
    base : Residuals
        The standardised residuals Q.
    strength : float
        The strength of the ridge in observations.
    row_shrink, column_shrink : ndarray
        The roots of n / (n + strength) of the rows and columns.
    centred : (bool, bool)
        Whether the trivial axis is projected out of rows and columns, as it is but for a subset.
    """

    base: Residuals
    strength: float
    row_shrink: np.ndarray
    column_shrink: np.ndarray
    centred: tuple[bool, bool] = (True, True)
    may_have_unit_axes: ClassVar[bool] = False

    @classmethod
    def from_residuals(cls, base: Residuals, strength: float, centred: tuple[bool, bool]) -> RidgeResiduals:
        """Shrink the rows and columns of residuals by a ridge."""
        rows, columns = (shrink_labels(root**2 * base.total, strength) for root in (base.row_root, base.column_root))
        return cls(base, strength, rows, columns, centred)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.base.shape

    @property
    def counts(self) -> Any:
        """Counts of the table."""
        return self.base.counts

    @property
    def row_root(self) -> np.ndarray:
        """Square roots of the masses of the rows."""
        return self.base.row_root

    @property
    def column_root(self) -> np.ndarray:
        """Square roots of the masses of the columns."""
        return self.base.column_root

    @property
    def row_inertia(self) -> np.ndarray:
        """Sums of squares by row, before the columns are shrunk: an upper bound."""
        return self.base.row_inertia * self.row_shrink**2

    @property
    def is_parallel(self) -> bool:
        """Whether products are computed in several threads."""
        return self.base.is_parallel

    @property
    def T(self) -> RidgeResiduals:  # noqa: N802 (as in NumPy)
        """The same with rows and columns exchanged."""
        return RidgeResiduals(
            self.base.T, self.strength, self.column_shrink, self.row_shrink, (self.centred[1], self.centred[0])
        )

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        product = self.multiply_shrunk(V - self._project_on_trivial(V, self.column_root) if self.centred[1] else V)
        return product - self._project_on_trivial(product, self.row_root) if self.centred[0] else product

    def multiply_shrunk(self, V: np.ndarray) -> np.ndarray:
        """Multiply A_r^(1/2) Q A_c^(1/2) by V, without the projections."""
        return _scale_rows(self.base @ _scale_rows(V, self.column_shrink), self.row_shrink)

    @staticmethod
    def _project_on_trivial(V: np.ndarray, trivial: np.ndarray) -> np.ndarray:
        return np.multiply.outer(trivial, trivial @ V)

    def multiply_gram(self, v: np.ndarray) -> np.ndarray:
        """M^T M v."""
        return self.T @ (self @ v)

    def toarray(self) -> np.ndarray:
        """M as a dense array."""
        M = _scale_rows(self.base.toarray(), self.row_shrink) * self.column_shrink
        if self.centred[0]:
            M -= np.outer(self.row_root, self.row_root @ M)
        if self.centred[1]:
            M -= np.outer(M @ self.column_root, self.column_root)
        return M

    @cached_property
    def inertia(self) -> float:
        """Sum of squares of M: all PICs that the ridge leaves."""
        if not sp.issparse(self.counts):
            return float((self.toarray() ** 2).sum())
        a, b = (root * wanted for root, wanted in zip((self.row_root, self.column_root), self.centred, strict=True))
        # By Pythagoras: the squares before the projections, less those along the trivial axes.
        left, right = self.T.multiply_shrunk(a), self.multiply_shrunk(b)
        return self._sum_of_squares - float(left @ left) - float(right @ right) + float(a @ right) ** 2

    @property
    def _sum_of_squares(self) -> float:
        """Sum of squares before the projections; a cell that is zero has the square r c times its shrinkage."""
        cells = sp.coo_array(self.counts)
        r, c = self.row_root[cells.row] ** 2, self.column_root[cells.col] ** 2
        shrink = (self.row_shrink[cells.row] * self.column_shrink[cells.col]) ** 2
        above = (cells.data / self.base.total - r * c) ** 2 / (r * c) - r * c
        rest = (self.row_root * self.row_shrink) ** 2
        return float(shrink @ above + rest.sum() * ((self.column_root * self.column_shrink) ** 2).sum())


def _scale_rows(V: np.ndarray, factors: np.ndarray) -> np.ndarray:
    return V * (factors if V.ndim == 1 else factors[:, None])


@dataclass(frozen=True)
class Ridge:
    """A strength, and what thinned counts say about it.

    Attributes
    ----------
    strength : float
        The strength is in observations: a label that was seen as often counts half.
    claims : ndarray of shape (k,) or None
        The correlations that the folds support, descending; None if there were no folds.
    """

    strength: float
    claims: np.ndarray | None = None


def choose_ridge(counts: Any, k: int) -> Ridge:
    """Choose the strength of the ridge by what fits to thinned counts capture of the counts left out.

    Parameters
    ----------
    counts : ndarray or CSR array of shape (r, c)
        A table of whole numbers; every row and column has a count.
    k : int
        The number of components, at least 1.

    Returns
    -------
    Ridge
        The strength that captures most, the larger one of equals, and the correlations to claim with it.

    Examples
    --------
    >>> table = np.random.default_rng(1).multinomial(300, np.full(200, 1 / 200)).reshape(20, 10)     # independent
    >>> choose_ridge(table, 3).claims.round(1)
    array([0., 0., 0.])
    """
    counts = orient_table(counts)
    is_large = counts.shape[0] * counts.shape[1] > LARGE_CELLS
    folds = list(_make_folds(counts, k, is_large))
    if not folds:  # too few observations for any to be left out
        return Ridge(0.0, np.zeros(k))
    best, best_score, n_worse = Ridge(0.0, np.zeros(k)), -np.inf, 0
    for strength in RIDGE_STRENGTHS:
        # Beside products with sparse counts there are only matrices of a few columns: more threads would wait busily.
        with limit_blas_threads(sp.issparse(counts) and is_large):
            checks = [fold.check_strength(strength) for fold in folds]
        score, claims = judge_folds(checks, float(counts.sum()))
        n_worse = n_worse + 1 if score <= best_score else 0
        if score >= best_score:
            best, best_score = Ridge(strength, claims), score
        if n_worse == MAX_WORSE_STRENGTHS:
            break
    return best


def orient_table(counts: Any) -> Any:
    """Put the table into an order that its counts decide: exchanging labels, or x and y, gives the same folds.

    Rows and columns are sorted by their totals, those with equal ones by their squares and cubes, and the side of more
    labels, or else of larger sums, becomes the rows. Only labels whose counts are the same but for their order keep the
    order given.
    """
    rows, columns = (_sum_powers(counts, axis) for axis in (1, 0))
    counts = counts[np.lexsort(rows)][:, np.lexsort(columns)]
    if (rows.shape[1], *np.sort(rows[::-1]).ravel()) < (columns.shape[1], *np.sort(columns[::-1]).ravel()):
        counts = counts.T
    if not sp.issparse(counts):
        return counts
    counts = sp.csr_array(counts)
    counts.sort_indices()  # the folds are drawn cell by cell
    return counts


def _sum_powers(counts: Any, axis: int) -> np.ndarray:
    """Sum the cubes, the squares and the counts themselves along an axis, a row each."""
    values = counts.astype(np.float64)
    powers = [values.power(p) if sp.issparse(values) else values**p for p in (3, 2, 1)]
    return np.array([np.asarray(power.sum(axis=axis)).ravel() for power in powers])


def _make_folds(counts: Any, k: int, is_large: bool) -> Iterator[_Fold]:
    """Pair each fold that has pairs on both sides of the cut with all the others."""
    if not is_large and sp.issparse(counts):
        counts = counts.toarray()
    for part in thin_counts(counts, LARGE_FOLDS if is_large else N_FOLDS, np.random.default_rng(0)):
        rest = counts - part
        if part.sum() and rest.sum():
            yield (_LargeFold if is_large else _DenseFold)(rest, part, k)


def judge_folds(checks: list[_Check], n: float) -> tuple[float, np.ndarray]:
    """Compute what the folds capture with claims of the other folds, and the claims of all folds together."""
    products = np.array([check.products for check in checks])
    squares = np.mean([check.squares for check in checks], axis=0) - products.mean(axis=0) ** 2
    # The variance of f_i g_i if x and y were independent.
    noise = np.mean([np.diag(check.second_f) * np.diag(check.second_g) for check in checks], axis=0)
    noise = np.maximum(noise, squares) * FOLD_OVERLAP_FACTOR / n
    score = 0.0
    for i, check in enumerate(checks):
        others = np.delete(products, i, axis=0) if len(checks) > 1 else products
        score += check.compute_captured(claim_correlations(others.mean(axis=0), noise * len(checks) / len(others)))
    return score / len(checks), claim_correlations(products.mean(axis=0), noise)


def claim_correlations(products: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Claim correlations, from means of f_i g_i over pairs left out and the variance of these means.

    The square of a mean is too large by its variance. What is left after subtracting it (as James and Stein would)
    is 0 for components that are nothing but noise, and no component may claim more than the one before.
    """
    positive = np.maximum(products, 1e-300)
    return np.minimum.accumulate(np.clip(np.where(products > 0, products - noise / positive, 0), 0, 1))


@dataclass(frozen=True)
class _Check:
    """Moments of functions on the counts left out: all that `captured` needs.

    Attributes
    ----------
    products : ndarray of shape (k,)
        The means of f_i g_i.
    squares : ndarray of shape (k,)
        The means of their squares, which a few pairs of rare labels may dominate.
    mean_f, mean_g : ndarray of shape (k,)
        The means of the functions, which are 0 on the pairs of the fit.
    second_f, second_g : ndarray of shape (k, k)
        The means of f_i f_j and of g_i g_j.
    """

    products: np.ndarray
    squares: np.ndarray
    mean_f: np.ndarray
    mean_g: np.ndarray
    second_f: np.ndarray
    second_g: np.ndarray

    @classmethod
    def from_functions(cls, counts: Any, F: np.ndarray, G: np.ndarray) -> _Check:
        """Compute the moments of functions with values F and G at the labels."""
        p, q = (np.asarray(counts.sum(axis=axis)).ravel() for axis in (1, 0))
        n = p.sum()
        p, q = p / n, q / n
        products, squares = (np.einsum("ik,ik->k", F**a, counts @ G**a) / n for a in (1, 2))
        return cls(products, squares, p @ F, q @ G, (F.T * p) @ F, (G.T * q) @ G)

    def compute_captured(self, claims: np.ndarray) -> float:
        """Compute `captured` for the given correlations; the constant's own terms add up to 1."""
        crossed = 2 * claims @ (self.mean_f * self.mean_g)
        return float(2 * claims @ self.products - crossed - claims @ (self.second_f * self.second_g) @ claims)


class _Fold(ABC):
    """A fold of a table, whose labels may not all occur in the other folds."""

    part: Any
    rows: np.ndarray
    columns: np.ndarray
    k: int

    @abstractmethod
    def check_strength(self, strength: float) -> _Check:
        """Fit the other folds and compute the moments of the functions on this one."""

    def check_functions(self, F: np.ndarray, G: np.ndarray) -> _Check:
        """Compute the moments of functions; they are 0, the mean, at labels and on axes that the fit does not know."""
        whole_f, whole_g = (np.zeros((size, self.k)) for size in self.part.shape)
        whole_f[self.rows, : F.shape[1]] = F
        whole_g[self.columns, : G.shape[1]] = G
        return _Check.from_functions(self.part, whole_f, whole_g)


class _DenseFold(_Fold):
    """A fold of a table that fits into dense algebra, with the residuals of all other folds together."""

    def __init__(self, rest: np.ndarray, part: np.ndarray, k: int) -> None:
        if rest.shape[0] < rest.shape[1]:  # the Gram matrix is that of the shorter side
            rest, part = rest.T, part.T
        self.part, self.k = part, k
        self.rows, self.columns = (np.flatnonzero(rest.sum(axis=axis)) for axis in (1, 0))
        counts = rest[np.ix_(self.rows, self.columns)]
        self.n_r, self.n_c, total = counts.sum(axis=1), counts.sum(axis=0), float(counts.sum())
        self.base = Residuals.from_counts(counts, self.n_r / total, self.n_c / total, total)
        self.Q = self.base.toarray()

    def check_strength(self, strength: float) -> _Check:
        a, b = self.base.row_root, self.base.column_root
        M = self.Q * shrink_labels(self.n_r, strength)[:, None]
        M *= shrink_labels(self.n_c, strength)
        M -= np.outer(a, a @ M)
        M -= np.outer(M @ b, b)
        m = M.shape[1]
        values, V = scipy.linalg.eigh(M.T @ M, subset_by_index=(max(0, m - self.k), m - 1), check_finite=False)
        values, V = values[::-1], V[:, ::-1]
        known = values > max(MIN_SINGULAR_VALUE_RATIO**2 * values[0], 1e-300)
        U = (M @ V[:, known]) / np.sqrt(values[known])
        return self.check_functions(U / a[:, None], V[:, known] / b[:, None])


class _LargeFold(_Fold):
    """A fold of a large table, dense or sparse; the search for axes begins at those of the strength before."""

    def __init__(self, rest: Any, part: Any, k: int) -> None:
        self.part, self.k = part, k
        self.n_r, self.n_c = (np.asarray(rest.sum(axis=axis)).ravel() for axis in (1, 0))
        self.rows, self.columns = np.flatnonzero(self.n_r), np.flatnonzero(self.n_c)
        self.n_r, self.n_c = self.n_r[self.rows], self.n_c[self.columns]
        counts, total = rest[self.rows][:, self.columns], float(self.n_r.sum())
        self.S = standardise_counts(counts, self.n_r / total, self.n_c / total, total)
        self.a, self.b = np.sqrt(self.n_r / total), np.sqrt(self.n_c / total)
        self.start: np.ndarray | None = None

    def check_strength(self, strength: float) -> _Check:
        """Fit the other folds, not quite exactly, and compute the moments of the functions on this one."""
        shrink_r, shrink_c = shrink_labels(self.n_r, strength), shrink_labels(self.n_c, strength)
        V, n_steps = self.start, NEXT_STEPS
        if V is None:
            size = min(self.k + SPARE_AXES, *self.S.shape)
            V, n_steps = np.random.default_rng(0).standard_normal((len(self.b), size)), FIRST_STEPS
        for _ in range(n_steps):
            V = self._multiply_matrix(scipy.linalg.qr(V, mode="economic")[0], shrink_r, shrink_c)
            V = self._multiply_transposed(V, shrink_r, shrink_c)
        V = scipy.linalg.qr(V, mode="economic")[0]
        U, s, Vt = scipy.linalg.svd(self._multiply_matrix(V, shrink_r, shrink_c), full_matrices=False)
        self.start = V = V @ Vt.T
        known = s[: self.k] > MIN_SINGULAR_VALUE_RATIO * s[0]
        U, V = U[:, : self.k][:, known], V[:, : self.k][:, known]
        return self.check_functions(U / self.a[:, None], V / self.b[:, None])

    def _multiply_matrix(self, V: np.ndarray, shrink_r: np.ndarray, shrink_c: np.ndarray) -> np.ndarray:
        V = (V - np.outer(self.b, self.b @ V)) * shrink_c[:, None]
        W = (self.S @ V - np.outer(self.a, self.b @ V)) * shrink_r[:, None]
        return W - np.outer(self.a, self.a @ W)

    def _multiply_transposed(self, U: np.ndarray, shrink_r: np.ndarray, shrink_c: np.ndarray) -> np.ndarray:
        U = U * shrink_r[:, None]
        W = (self.S.T @ U - np.outer(self.b, self.a @ U)) * shrink_c[:, None]
        return W - np.outer(self.b, self.b @ W)


def standardise_counts(counts: Any, r: np.ndarray, c: np.ndarray, total: float) -> Any:
    """S = D_r^(-1/2) P D_c^(-1/2)."""
    if not sp.issparse(counts):
        return counts / (total * np.sqrt(r)[:, None]) / np.sqrt(c)
    rows = np.repeat(np.arange(len(r)), np.diff(counts.indptr))
    data = counts.data / (total * np.sqrt(r)[rows] * np.sqrt(c)[counts.indices])
    return sp.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
