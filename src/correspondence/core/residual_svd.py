"""Leading axes of a contingency table: singular triples of its standardised residuals, dense or sparse.

With P the table divided by its total, r and c its margins and S = D_r^(-1/2) P D_c^(-1/2), the residuals are
Q = S - sqrt(r) sqrt(c)^T (the paper's eq. (Q)). Subtracting the trivial axis, instead of skipping the first
singular triple of S, is what keeps tables right whose rows and columns fall into unconnected blocks: those have
further axes of inertia 1, and any mixture of them with the trivial one is a singular vector of S.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg.blas import ddot, dgemv  # ARPACK's: NumPy's has threads of its own
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.threads import RowBlocks, limit_blas_threads, run_in_threads
from correspondence._util.user_warnings import Inexact

__all__ = ["Residuals", "find_leading_axes", "sum_absent_mass"]

CELLS_PER_BLOCK = 1 << 16  # cells standardised at a time: few enough to stay in a core's cache
MAX_SIDE_FOR_LAPACK = 100  # up to this many rows or columns, LAPACK's complete decomposition costs nothing
MIN_SINGULAR_VALUE = 1e-14  # smaller singular values are rounding errors: the largest possible one is 1
MAX_CELLS_FOR_LAPACK = 25_000_000  # cells of a table that LAPACK decomposes when the iteration is not exact
LANCZOS_STEPS = 12  # Lanczos steps of the search for overlooked axes
MAX_RELATIVE_RESIDUAL = 1e-9  # of a singular triple, relative to the first singular value; a larger one gets a warning


@dataclass(frozen=True)
class Residuals:
    """Standardised residuals Q of a table, kept as the counts themselves: centring is part of every product.

    Parameters
    ----------
    counts : ndarray or CSR array
        The counts are not copied.
    total : float
        This is the sum of the counts of the whole table.
    row_root, column_root : ndarray
        These are the square roots of the masses r and c.
    row_inertia, column_inertia : ndarray
        These are the sums of squares of Q by row and by column.
    """

    counts: Any
    total: float
    row_root: np.ndarray
    column_root: np.ndarray
    row_inertia: np.ndarray
    column_inertia: np.ndarray
    may_have_unit_axes: ClassVar[bool] = True  # which tell unconnected parts of the table apart

    @classmethod
    def from_counts(cls, counts: Any, r: np.ndarray, c: np.ndarray, total: float) -> Residuals:
        """Make the residuals of counts with the given masses (those of the whole table for a subset)."""
        if sp.issparse(counts) and counts.nnz > counts.shape[0] * counts.shape[1] / 2:
            counts = counts.toarray()  # smaller and faster
        inertia = (sum_sparse_inertia if sp.issparse(counts) else sum_dense_inertia)(counts, r, c, total)
        return cls(counts, total, np.sqrt(r), np.sqrt(c), *inertia)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.counts.shape

    @property
    def T(self) -> Residuals:  # noqa: N802 (as in NumPy)
        """The residuals with rows and columns exchanged."""
        return Residuals(
            self.counts.T, self.total, self.column_root, self.row_root, self.column_inertia, self.row_inertia
        )

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        if V.ndim == 2:
            return _multiply_by_columns(self, V)
        product = self._multiply_counts(V / self.column_root)
        product /= self.row_root * self.total
        product -= self.row_root * ddot(self.column_root, V)
        return product

    def multiply_gram(self, v: np.ndarray) -> np.ndarray:
        """Compute Q^T Q v as S^T S v less terms of the shorter side, so that the longer side is read only once."""
        # Q = S - sqrt(r) sqrt(c)^T with S the counts, divided by the total and by the roots of both masses.
        product = self._multiply_counts(v / self.column_root)
        product *= self._row_metric
        product = self._multiply_transposed_counts(product)
        product /= self.column_root
        along = ddot(self.column_root, v)
        product -= self._image * along + self.column_root * (ddot(self._image, v) - self._row_mass * along)
        return product

    def _multiply_counts(self, v: np.ndarray) -> np.ndarray:
        return _multiply_dense(self.counts, v) if self._blocks is None else self._blocks.matrix_times(v)

    def _multiply_transposed_counts(self, v: np.ndarray) -> np.ndarray:
        return _multiply_dense(self.counts.T, v) if self._blocks is None else self._blocks.transposed_times(v)

    @property
    def is_parallel(self) -> bool:
        """Whether products are computed in several threads."""
        return self._blocks is not None and len(self._blocks.blocks) > 1

    @cached_property
    def _blocks(self) -> RowBlocks | None:
        return RowBlocks(self.counts) if sp.issparse(self.counts) else None

    @cached_property
    def _row_metric(self) -> np.ndarray:
        return (self.row_root * self.total) ** -2

    @cached_property
    def _row_mass(self) -> float:
        return float(self.row_root @ self.row_root)

    @cached_property
    def _image(self) -> np.ndarray:
        """S^T sqrt(r): sqrt(c) itself, but for a subset."""
        return self.counts.sum(axis=0) / self.total / self.column_root

    def toarray(self) -> np.ndarray:
        """Return Q as a dense array."""
        counts = self.counts.toarray() if sp.issparse(self.counts) else self.counts
        Q = np.empty(self.shape)
        for block, part in iterate_residual_blocks(counts, self.row_root**2, self.column_root**2, self.total):
            Q[block] = part
        return Q


def _multiply_by_columns(Q: Residuals, V: np.ndarray) -> np.ndarray:
    """Compute Q @ V column by column, which saves the copies that scipy makes of long thin matrices."""
    product = np.empty((Q.shape[0], V.shape[1]), order="F")
    for j in range(V.shape[1]):
        product[:, j] = Q @ V[:, j]
    return product


def _multiply_dense(A: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Compute A @ v by the BLAS that ARPACK uses, because its threads and those of NumPy's BLAS would compete."""
    by_columns = A.flags.f_contiguous
    return dgemv(1.0, A if by_columns else A.T, v, trans=not by_columns)


def split_rows(n_rows: int, n_columns: int) -> list[slice]:
    """Split rows into blocks."""
    step = max(1, CELLS_PER_BLOCK // n_columns)
    return [slice(start, start + step) for start in range(0, n_rows, step)]


def iterate_residual_blocks(
    counts: np.ndarray, r: np.ndarray, c: np.ndarray, total: float
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield some rows of Q at a time; the array is overwritten by the next rows."""
    row_root, column_root = np.sqrt(r), np.sqrt(c)
    row_scale, column_scale = 1 / (total * row_root), 1 / column_root
    blocks = split_rows(*counts.shape)
    room, trivial = (np.empty((min(blocks[0].stop, len(r)), len(c))) for _ in range(2))
    for block in blocks:
        n = len(row_root[block])
        part = np.multiply(counts[block], row_scale[block, None], out=room[:n])
        part *= column_scale
        part -= np.multiply.outer(row_root[block], column_root, out=trivial[:n])
        yield block, part


def sum_dense_inertia(counts: np.ndarray, r: np.ndarray, c: np.ndarray, total: float) -> tuple[np.ndarray, np.ndarray]:
    """Sum the squares of Q by row and by column."""
    row_inertia, column_inertia = np.empty(len(r)), np.zeros(len(c))
    for block, part in iterate_residual_blocks(counts, r, c, total):
        part *= part
        row_inertia[block] = part.sum(axis=1)
        column_inertia += part.sum(axis=0)
    return row_inertia, column_inertia


def sum_sparse_inertia(
    counts: sp.csr_array, r: np.ndarray, c: np.ndarray, total: float
) -> tuple[np.ndarray, np.ndarray]:
    """Sum the squares of Q by row and by column; a cell that is zero has the square r c."""
    blocks = RowBlocks(counts)
    parts = zip(blocks.blocks, blocks.rows, strict=True)
    sums = run_in_threads(lambda part: sum_present_cells(part[0], r[part[1]], c, total), parts)
    row_inertia, row_present = (np.concatenate([part[i] for part in sums]) for i in (0, 1))
    column_inertia, column_present, in_column = (sum(part[i] for part in sums) for i in (2, 3, 4))
    row_inertia += r * subtract_present_mass(counts, c, row_present)
    column_absent = r.sum() - column_present
    many = np.flatnonzero(in_column > len(r) / 2)
    if len(many):
        column_absent[many] = sum_absent_mass(sp.csr_array(counts[:, many].T), r)
    return row_inertia, column_inertia + c * column_absent


def sum_present_cells(counts: sp.csr_array, r: np.ndarray, c: np.ndarray, total: float) -> tuple[np.ndarray, ...]:
    """Sum squares and masses of the cells that are not zero, by row, and by column with their number."""
    row_inertia, row_present = np.zeros(len(r)), np.zeros(len(r))
    column_inertia, column_present, in_column = np.zeros(len(c)), np.zeros(len(c)), np.zeros(len(c), dtype=np.intp)
    for block, rows, columns, cells in iterate_cells(counts):
        own, other = r[block][rows], c[columns]
        squares = (counts.data[cells] / total - own * other) ** 2 / (own * other)
        row_inertia[block] = np.bincount(rows, squares, block.stop - block.start)
        row_present[block] = np.bincount(rows, other, block.stop - block.start)
        column_inertia += np.bincount(columns, squares, len(c))
        column_present += np.bincount(columns, own, len(c))
        in_column += np.bincount(columns, minlength=len(c))
    return row_inertia, row_present, column_inertia, column_present, in_column


def sum_absent_mass(counts: sp.csr_array, c: np.ndarray) -> np.ndarray:
    """Sum the masses of the columns in which a row has no cell."""
    present = np.zeros(counts.shape[0])
    for block, rows, columns, _ in iterate_cells(counts):
        present[block] = np.bincount(rows, c[columns], block.stop - block.start)
    return subtract_present_mass(counts, c, present)


def subtract_present_mass(counts: sp.csr_array, c: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Subtract the mass present in each row from the whole mass.

    In rows that lack few columns the absent masses are added up instead: the difference would be rounding errors only.
    """
    absent = c.sum() - present
    many = np.flatnonzero(np.diff(counts.indptr) > len(c) / 2)
    for block in split_rows(len(many), len(c)):
        part = counts[many[block]]
        missing = np.ones(part.shape, dtype=bool)
        missing[np.repeat(np.arange(part.shape[0]), np.diff(part.indptr)), part.indices] = False
        absent[many[block]] = missing @ c
    return absent


def iterate_cells(counts: sp.csr_array) -> Iterator[tuple[slice, np.ndarray, np.ndarray, slice]]:
    """Yield some rows at a time: their slice, the row (from 0) and column of each of their cells, and the cells."""
    indptr = counts.indptr
    size = max(CELLS_PER_BLOCK, counts.shape[1])
    cuts = np.searchsorted(indptr, np.arange(size, indptr[-1], size))
    for start, stop in itertools.pairwise(np.unique([0, *cuts, len(indptr) - 1]).tolist()):
        cells = slice(indptr[start], indptr[stop])
        rows = np.repeat(np.arange(stop - start), np.diff(indptr[start : stop + 1]))
        yield slice(start, stop), rows, counts.indices[cells].astype(np.intp), cells


def find_leading_axes(
    Q: Residuals, k: int, *, centred: tuple[bool, bool] = (True, True)
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the singular triples of Q with the k largest singular values.

    Parameters
    ----------
    Q : Residuals
        The residuals may have any shape.
    k : int
        The number must not exceed the shorter side, less one if it is centred.
    centred : (bool, bool)
        These say whether rows and columns are orthogonal to the trivial axis: they are, except for a subset.

    Returns
    -------
    U, s, V : ndarray of shape (rows, k), (k,), (columns, k)
        Singular triples; U and V have orthonormal columns, even where s is zero, and may be overwritten.

    Warns
    -----
    Inexact
        When the iteration stopped before the triples were exact to 1e-9; it states the residual.
    """
    if Q.shape[0] < Q.shape[1]:
        V, s, U = find_leading_axes(Q.T, k, centred=(centred[1], centred[0]))
        return U, s, V
    if Q.row_inertia.sum() < MIN_SINGULAR_VALUE**2 or k == 0:
        U, s, V = np.empty((Q.shape[0], 0)), np.empty(0), np.empty((Q.shape[1], 0))
    elif Q.shape[1] <= MAX_SIDE_FOR_LAPACK or 5 * k >= Q.shape[1] or _is_nearly_independent(Q):
        U, s, V = _find_all_axes(Q, k)
    else:
        with limit_blas_threads(Q.is_parallel):
            U, s, V = run_arpack(Q, k, find_unit_axes(Q, k) if all(centred) else None)
    return append_null_axes(Q, U, s, V, k, centred)


def _is_nearly_independent(Q: Residuals) -> bool:
    """Say whether products with the counts would lose Q in rounding errors, and Q fits into memory."""
    return bool(Q.row_inertia.sum() < 1e-4 and Q.shape[0] * Q.shape[1] <= MAX_CELLS_FOR_LAPACK)


def _find_all_axes(Q: Residuals, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    U, s, Vt = scipy.linalg.svd(Q.toarray(), full_matrices=False, check_finite=False)
    return U[:, :k].copy(), s[:k], Vt[:k].T.copy()


def run_arpack(Q: Residuals, k: int, known: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Run ARPACK, again without the axes found so far until none is missing: it may overlook equal ones."""
    V, residual = np.empty((Q.shape[1], 0)) if known is None else known, np.inf
    if V.shape[1] == k:  # their singular values are 1, as large as can be
        return Q @ V, np.ones(k), V
    while V.shape[1] + k < Q.shape[1]:
        V = _orthonormalise_columns(np.hstack([V, find_eigenvectors(Q, k, V)]))
        U, s, Vt = scipy.linalg.svd(Q @ V, full_matrices=False, overwrite_a=True, check_finite=False)
        V = V @ Vt.T
        if not has_overlooked_axes(Q, V, s[k - 1] ** 2 + MAX_RELATIVE_RESIDUAL * s[0] ** 2):
            U, s, V = U[:, :k].copy() if len(s) > k else U, s[:k], V[:, :k].copy()
            weights = np.random.default_rng(2).standard_normal(k)  # all triples in one product
            residual = float(np.linalg.norm(Q.T @ (U @ weights) - V @ (s * weights)) / s[0])
            if residual <= MAX_RELATIVE_RESIDUAL:
                return U, s, V
            break
    if Q.shape[0] * Q.shape[1] <= MAX_CELLS_FOR_LAPACK:
        return _find_all_axes(Q, k)
    warnings.warn(
        f"The axes are not exact: their relative residual is {residual:.1e}, more than {MAX_RELATIVE_RESIDUAL:.0e}. "
        "Ask for more or fewer n_components.",
        Inexact,
        stacklevel=find_user_stacklevel(),
    )
    return U, s, V


def find_unit_axes(Q: Residuals, k: int) -> np.ndarray | None:
    """Find at most k axes of inertia 1, which separate unconnected parts of a sparse table, the largest parts first.

    In a table of few pairs of many labels there may be thousands, one for each pair of labels that have no other
    partner, and an iteration finds equal axes one by one. Other tables are not searched: it would take too long.
    """
    if not (Q.may_have_unit_axes and sp.issparse(Q.counts)):
        return None
    is_transposed = Q.counts.format == "csc"
    base = Q.counts.T if is_transposed else Q.counts
    single = base.indices[base.indptr[:-1][np.diff(base.indptr) == 1]]
    if not (np.bincount(base.indices)[single] == 1).any():
        return None
    # Contrasts of the parts, orthogonal to the trivial axis: Householder's reflection of it on to the first part.
    parts = np.split(find_connected_parts(base), [base.shape[0]])[0 if is_transposed else 1]
    root = np.sqrt(np.bincount(parts, Q.column_root**2))
    order = np.argsort(-root, kind="stable")
    mirror = root + np.linalg.norm(root) * (np.arange(len(root)) == order[0])
    mirror /= np.linalg.norm(mirror)
    some = order[1 : k + 1]
    contrasts = -2 * np.outer(mirror, mirror[some])
    contrasts[some, np.arange(len(some))] += 1
    return (Q.column_root / root[parts])[:, None] * contrasts[parts]


def find_connected_parts(counts: sp.csr_array) -> np.ndarray:
    """Number the unconnected parts, and find the part of each row and, after them, of each column."""
    n, m = counts.shape
    indptr = np.concatenate([counts.indptr, np.full(m, counts.nnz, counts.indptr.dtype)])
    graph = sp.csr_array((counts.data, counts.indices + n, indptr), shape=(n + m, n + m))
    return connected_components(graph, directed=False)[1]


def _deflate_gram(Q: Residuals, V: np.ndarray) -> LinearOperator:
    """Restrict Q^T Q to the complement of V."""

    def matvec(v: np.ndarray) -> np.ndarray:
        w = Q.multiply_gram(v.ravel() - V @ (V.T @ v.ravel()))
        return w - V @ (V.T @ w)

    return LinearOperator((Q.shape[1],) * 2, matvec=matvec if V.size else Q.multiply_gram, dtype=np.float64)


def _draw_start_vector(Q: Residuals) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(Q.shape[1])


def find_eigenvectors(Q: Residuals, k: int, found: np.ndarray) -> np.ndarray:
    operator = _deflate_gram(Q, found)
    for ncv in (max(2 * k + 1, 20), max(4 * k, 100)):
        try:
            return eigsh(operator, k=k, ncv=min(ncv, Q.shape[1]), v0=_draw_start_vector(Q), maxiter=10 * Q.shape[1])[1]
        except ArpackNoConvergence as error:
            best = error.eigenvectors
        except ArpackError:  # fewer than k directions left: the others are found as null axes
            best = np.empty((Q.shape[1], 0))
    missing = np.random.default_rng(1).standard_normal((Q.shape[1], k - best.shape[1]))
    return _orthonormalise_columns(np.hstack([best, missing]))


def _orthonormalise_columns(vectors: np.ndarray) -> np.ndarray:
    return scipy.linalg.qr(vectors, mode="economic", check_finite=False)[0]


def has_overlooked_axes(Q: Residuals, V: np.ndarray, smallest: float) -> bool:
    """Say whether the complement of V holds a larger PIC than the smallest one wanted, by a short Lanczos run."""
    start, steps = _draw_start_vector(Q)[::-1], min(LANCZOS_STEPS, Q.shape[1])
    try:
        largest = eigsh(_deflate_gram(Q, V), k=1, ncv=steps, v0=start, tol=0.3)[0]
    except ArpackNoConvergence:  # there is something
        return True
    except ArpackError:  # there is nothing at all
        return False
    return bool(largest[-1] > smallest)


def append_null_axes(
    Q: Residuals, U: np.ndarray, s: np.ndarray, V: np.ndarray, k: int, centred: tuple[bool, bool]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Append axes without inertia if the table has fewer than k others: any orthonormal completion will do."""
    rank = int(np.count_nonzero(s > MIN_SINGULAR_VALUE))
    if rank == k:
        return U, s, V
    return (
        _complete_basis(U[:, :rank], Q.row_root if centred[0] else None, k),
        np.concatenate([s[:rank], np.zeros(k - rank)]),
        _complete_basis(V[:, :rank], Q.column_root if centred[1] else None, k),
    )


def _complete_basis(vectors: np.ndarray, trivial: np.ndarray | None, k: int) -> np.ndarray:
    n, rank = vectors.shape
    known = vectors if trivial is None else np.column_stack([vectors, trivial])
    random = np.random.default_rng(0).standard_normal((n, k - rank))
    for _ in range(2):  # twice is enough for orthogonality to machine precision
        random -= known @ (np.linalg.pinv(known) @ random)
    return np.column_stack([vectors, _orthonormalise_columns(random)])
