"""Work on sparse tables in several threads: products and sorting release Python's lock."""

from __future__ import annotations

import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from threadpoolctl import ThreadpoolController

__all__ = ["RowBlocks", "count_threads", "limit_blas_threads", "run_in_threads"]

MIN_CELLS_FOR_THREADS = 1 << 20  # with fewer cells, a second thread costs more than it gains


def count_threads() -> int:
    """Return how many threads to use: ``OMP_NUM_THREADS``, as for NumPy, or one for each core."""
    given = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(int(given), joblib.cpu_count()) if given.isdigit() and int(given) else joblib.cpu_count()


def run_in_threads(function: Callable[[Any], Any], parts: Iterable[Any]) -> list[Any]:
    """Call a function with each part, in a thread each, and return the results in order."""
    parts = list(parts)
    if len(parts) < 2:
        return [function(part) for part in parts]
    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(function, parts))


def limit_blas_threads(is_wanted: bool) -> AbstractContextManager:
    """Keep BLAS to one thread inside the context, if that is wanted.

    Its threads would wait busily beside our own, and for many small matrices they cost more than they gain.
    """
    return _one_thread if is_wanted else nullcontext()


class _OneThread:
    """A limit of BLAS for the whole process: the first to enter sets it, the last to leave lifts it."""

    def __init__(self) -> None:
        self.lock, self.n_inside = threading.Lock(), 0
        self.n_modules = 0

    def __enter__(self) -> None:
        with self.lock:
            if not self.n_inside:
                self.limits = self._find_libraries().limit(limits=1, user_api="blas")
            self.n_inside += 1

    def _find_libraries(self) -> ThreadpoolController:
        """Find the libraries, again only if a module was imported since: looking takes longer than many a fit."""
        if self.n_modules != len(sys.modules):
            self.n_modules, self.libraries = len(sys.modules), ThreadpoolController()
        return self.libraries

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.n_inside -= 1
            if not self.n_inside:
                self.limits.restore_original_limits()


_one_thread = _OneThread()


class RowBlocks:
    """A sparse matrix as blocks of rows with about equally many cells, one for each thread, without copies.

    Parameters
    ----------
    A : CSR array (split by rows) or CSC array (split by columns)
    """

    def __init__(self, A: Any) -> None:
        self.is_transposed = A.format == "csc"
        base = A.T if self.is_transposed else A
        n = count_threads() if A.nnz >= MIN_CELLS_FOR_THREADS else 1
        cuts = np.searchsorted(base.indptr, np.linspace(0, base.nnz, n + 1)[1:-1]).tolist()
        bounds = np.unique([0, *cuts, base.shape[0]]).tolist()
        self.rows = [slice(start, stop) for start, stop in itertools.pairwise(bounds)]
        self.blocks = [_slice_rows(base, rows) for rows in self.rows]
        self._transposed = [
            _make_sparse_view(sp.csc_array, block.data, block.indices, block.indptr, block.shape[::-1])
            for block in self.blocks
        ]

    def matrix_times(self, v: np.ndarray) -> np.ndarray:
        """Compute A @ v."""
        return self._sum_products(v) if self.is_transposed else self._stack_products(v)

    def transposed_times(self, v: np.ndarray) -> np.ndarray:
        """Compute A.T @ v."""
        return self._stack_products(v) if self.is_transposed else self._sum_products(v)

    def _stack_products(self, v: np.ndarray) -> np.ndarray:
        return np.concatenate(run_in_threads(lambda block: block @ v, self.blocks))

    def _sum_products(self, v: np.ndarray) -> np.ndarray:
        parts = zip(self._transposed, self.rows, strict=True)
        return sum(run_in_threads(lambda part: part[0] @ v[part[1]], parts))

    def sort_cells(self) -> None:
        """Sort the cells of each row by their column, in place."""
        run_in_threads(lambda block: block.sort_indices(), self.blocks)


def _slice_rows(A: sp.csr_array, rows: slice) -> sp.csr_array:
    """Slice rows as a view."""
    first, last = A.indptr[rows.start], A.indptr[rows.stop]
    indptr = A.indptr[rows.start : rows.stop + 1] - first
    return _make_sparse_view(
        sp.csr_array, A.data[first:last], A.indices[first:last], indptr, (len(indptr) - 1, A.shape[1])
    )


def _make_sparse_view(
    kind: Any, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: tuple[int, ...]
) -> Any:
    """Make a sparse array of these very parts: the constructor copies views of less than half of an array."""
    A = kind(shape, dtype=data.dtype)
    A.data, A.indices, A.indptr = data, indices, indptr
    return A
