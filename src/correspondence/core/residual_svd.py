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

__all__ = ["Residuals", "absent_mass", "leading_axes"]

CELLS_PER_BLOCK = 1 << 16  # cells standardised at a time: few enough to stay in a core's cache
MAX_SIDE_FOR_LAPACK = 100  # up to this many rows or columns, LAPACK's complete decomposition costs nothing
MIN_SINGULAR_VALUE = 1e-14  # singular values below this are rounding errors of a table whose largest possible one is 1
MAX_CELLS_FOR_LAPACK = 25_000_000  # cells of a table for LAPACK's decomposition when the iteration is not exact
LANCZOS_STEPS = 12  # Lanczos steps for the search of overlooked axes
MAX_RELATIVE_RESIDUAL = (
    1e-9  # largest residual of a singular triple, relative to the first singular value, without a warning
)


@dataclass(frozen=True)
class Residuals:
    """Standardised residuals Q of a table, kept as the counts themselves: centring is part of every product.

    Parameters
    ----------
    counts : ndarray or CSR array
        Without a copy.
    total : float
        Sum of the counts of the whole table.
    row_root, column_root : ndarray
        Square roots of the masses.
    row_inertia, column_inertia : ndarray
        Sums of squares of Q by row and by column.
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
        """Residuals of counts whose rows and columns have the given masses (a subset's are those of the whole)."""
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
        """The same with rows and columns exchanged."""
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
        """Q^T Q v: S^T S v less terms of the shorter side alone, so that the longer one is gone through only once."""
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
        """Q as a dense array."""
        counts = self.counts.toarray() if sp.issparse(self.counts) else self.counts
        Q = np.empty(self.shape)
        for block, part in iterate_residual_blocks(counts, self.row_root**2, self.column_root**2, self.total):
            Q[block] = part
        return Q


def _multiply_by_columns(Q: Residuals, V: np.ndarray) -> np.ndarray:
    """Q @ V one column after the other, which saves the copies that scipy makes of long thin matrices."""
    product = np.empty((Q.shape[0], V.shape[1]), order="F")
    for j in range(V.shape[1]):
        product[:, j] = Q @ V[:, j]
    return product


def _multiply_dense(A: np.ndarray, v: np.ndarray) -> np.ndarray:
    """A @ v by the BLAS that ARPACK uses: its threads and those of NumPy's would get in each other's way."""
    by_columns = A.flags.f_contiguous
    return dgemv(1.0, A if by_columns else A.T, v, trans=not by_columns)


def split_rows(n_rows: int, n_columns: int) -> list[slice]:
    """Rows, some at a time."""
    step = max(1, CELLS_PER_BLOCK // n_columns)
    return [slice(start, start + step) for start in range(0, n_rows, step)]


def iterate_residual_blocks(
    counts: np.ndarray, r: np.ndarray, c: np.ndarray, total: float
) -> Iterator[tuple[slice, np.ndarray]]:
    """Q, some rows at a time; the array is overwritten by the next ones."""
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
    """Sums of squares of Q by row and by column."""
    row_inertia, column_inertia = np.empty(len(r)), np.zeros(len(c))
    for block, part in iterate_residual_blocks(counts, r, c, total):
        part *= part
        row_inertia[block] = part.sum(axis=1)
        column_inertia += part.sum(axis=0)
    return row_inertia, column_inertia


def sum_sparse_inertia(
    counts: sp.csr_array, r: np.ndarray, c: np.ndarray, total: float
) -> tuple[np.ndarray, np.ndarray]:
    """As `sum_dense_inertia`; a cell that is zero has the square r c."""
    blocks = RowBlocks(counts)
    parts = zip(blocks.blocks, blocks.rows, strict=True)
    sums = run_in_threads(lambda part: sum_present_cells(part[0], r[part[1]], c, total), parts)
    row_inertia, row_present = (np.concatenate([part[i] for part in sums]) for i in (0, 1))
    column_inertia, column_present, in_column = (sum(part[i] for part in sums) for i in (2, 3, 4))
    row_inertia += r * subtract_present_mass(counts, c, row_present)
    column_absent = r.sum() - column_present
    many = np.flatnonzero(in_column > len(r) / 2)
    if len(many):
        column_absent[many] = absent_mass(sp.csr_array(counts[:, many].T), r)
    return row_inertia, column_inertia + c * column_absent


def sum_present_cells(counts: sp.csr_array, r: np.ndarray, c: np.ndarray, total: float) -> tuple[np.ndarray, ...]:
    """Squares and masses of the cells that are not zero: sums of both by row, and by column with their number."""
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


def absent_mass(counts: sp.csr_array, c: np.ndarray) -> np.ndarray:
    """Mass of the columns in which a row has no cell."""
    present = np.zeros(counts.shape[0])
    for block, rows, columns, _ in iterate_cells(counts):
        present[block] = np.bincount(rows, c[columns], block.stop - block.start)
    return subtract_present_mass(counts, c, present)


def subtract_present_mass(counts: sp.csr_array, c: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Whole mass less the one present in each row; added up anew in rows that lack few columns.

    There the difference would be nothing but rounding errors.
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
    """Some rows at a time: which they are, row (from 0) and column of each of their cells, and which these are."""
    indptr = counts.indptr
    size = max(CELLS_PER_BLOCK, counts.shape[1])
    cuts = np.searchsorted(indptr, np.arange(size, indptr[-1], size))
    for start, stop in itertools.pairwise(np.unique([0, *cuts, len(indptr) - 1]).tolist()):
        cells = slice(indptr[start], indptr[stop])
        rows = np.repeat(np.arange(stop - start), np.diff(indptr[start : stop + 1]))
        yield slice(start, stop), rows, counts.indices[cells].astype(np.intp), cells


def leading_axes(
    Q: Residuals, k: int, *, centred: tuple[bool, bool] = (True, True)
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Singular triples of Q with the k largest singular values.

    Parameters
    ----------
    Q : Residuals
        Of any shape.
    k : int
        At most the shorter side, less one if it is centred.
    centred : (bool, bool)
        Whether rows and columns are orthogonal to the trivial axis: they are, but for a subset.

    Returns
    -------
    U, s, V : ndarray of shape (rows, k), (k,), (columns, k)
        With orthonormal columns, also where s is zero; the caller may overwrite them.

    Warns
    -----
    Inexact
        When the iteration stopped before the triples were exact to 1e-9; it states the residual.
    """
    if Q.shape[0] < Q.shape[1]:
        V, s, U = leading_axes(Q.T, k, centred=(centred[1], centred[0]))
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
    """Whether products with the counts would lose Q in rounding errors, and Q itself is small enough to be made."""
    return bool(Q.row_inertia.sum() < 1e-4 and Q.shape[0] * Q.shape[1] <= MAX_CELLS_FOR_LAPACK)


def _find_all_axes(Q: Residuals, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    U, s, Vt = scipy.linalg.svd(Q.toarray(), full_matrices=False, check_finite=False)
    return U[:, :k].copy(), s[:k], Vt[:k].T.copy()


def run_arpack(Q: Residuals, k: int, known: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ARPACK, repeated without the axes found so far until none is missing: it may overlook equal ones."""
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
        f"The axes are not exact: a relative residual of {residual:.1e} is left ({MAX_RELATIVE_RESIDUAL:.0e} is wanted). "
        "Ask for more or fewer n_components.",
        Inexact,
        stacklevel=find_user_stacklevel(),
    )
    return U, s, V


def find_unit_axes(Q: Residuals, k: int) -> np.ndarray | None:
    """At most k axes of inertia 1, which tell unconnected parts of a sparse table apart, the largest parts first.

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
    parts = (
        find_connected_parts(base)[: base.shape[0]] if is_transposed else find_connected_parts(base)[base.shape[0] :]
    )
    root = np.sqrt(np.bincount(parts, Q.column_root**2))
    order = np.argsort(-root, kind="stable")
    mirror = root + np.linalg.norm(root) * (np.arange(len(root)) == order[0])
    mirror /= np.linalg.norm(mirror)
    some = order[1 : k + 1]
    contrasts = -2 * np.outer(mirror, mirror[some])  # Householder's reflection of the trivial axis on to the first part
    contrasts[some, np.arange(len(some))] += 1
    return (Q.column_root / root[parts])[:, None] * contrasts[parts]


def find_connected_parts(counts: sp.csr_array) -> np.ndarray:
    """Number of the unconnected part that each row, and after them each column, belongs to."""
    n, m = counts.shape
    indptr = np.concatenate([counts.indptr, np.full(m, counts.nnz, counts.indptr.dtype)])
    graph = sp.csr_array((counts.data, counts.indices + n, indptr), shape=(n + m, n + m))
    return connected_components(graph, directed=False)[1]


def _deflate_gram(Q: Residuals, V: np.ndarray) -> LinearOperator:
    """Q^T Q on the complement of V."""

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
    return _pad(best, k)


def _pad(vectors: np.ndarray, k: int) -> np.ndarray:
    missing = np.random.default_rng(1).standard_normal((len(vectors), k - vectors.shape[1]))
    return _orthonormalise_columns(np.hstack([vectors, missing]))


def _orthonormalise_columns(vectors: np.ndarray) -> np.ndarray:
    return scipy.linalg.qr(vectors, mode="economic", check_finite=False)[0]


def has_overlooked_axes(Q: Residuals, V: np.ndarray, smallest: float) -> bool:
    """Whether the complement of V holds a larger PIC than the smallest one wanted, by a short Lanczos run."""
    try:
        largest = eigsh(
            _deflate_gram(Q, V), k=1, ncv=min(LANCZOS_STEPS, Q.shape[1]), v0=_draw_start_vector(Q)[::-1], tol=0.3
        )[0]
    except ArpackNoConvergence:  # something is there
        return True
    except ArpackError:  # nothing at all is there
        return False
    return bool(largest[-1] > smallest)


def append_null_axes(
    Q: Residuals, U: np.ndarray, s: np.ndarray, V: np.ndarray, k: int, centred: tuple[bool, bool]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Axes without inertia, where the table has fewer than k others: any orthonormal completion is one."""
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
