"""Leading directions of wide sparse columns, such as bags of words: few combinations that keep most of what varies.

The moments of p columns cost p^2 for each row and p^3 for each strength of a ridge, so that 5000 words take minutes. A
truncated singular value decomposition of the weighted rows reads only the cells that are not zero. The directions do
not depend on the other side, so held-out folds and permutations of the pairs stay honest.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

from correspondence._util.threads import limit_blas_threads
from correspondence.core.collinearity import Basis

__all__ = ["MAX_DIRECTIONS", "find_sparse_basis", "weigh_columns", "weigh_words"]

MAX_DIRECTIONS = 800  # directions of one side; more hardly help (benchmarks/text.py), and cost their third power
N_POWER_ITERATIONS = 3  # of the randomised decomposition; more change the captured share in its fourth digit
N_OVERSAMPLES = 20
MIN_SINGULAR_RATIO = 1e-6  # directions with a smaller singular value, relative to the first, are rounding
MAX_SPARSE_SHARE = 0.5  # share of rows in which a column is not zero, above which it is not taken for sparse


def find_sparse_basis(rows: sp.csr_array, weights: np.ndarray) -> Basis:
    """Find the directions along which weighted sparse columns vary most.

    Parameters
    ----------
    rows : CSR array of shape (n, p)
        The encoded rows of one side.
    weights : ndarray of shape (p,)
        The columns are multiplied by these weights before the decomposition.

    Returns
    -------
    Basis
        At most `MAX_DIRECTIONS` combinations of the columns, the same in every run.

    Examples
    --------
    >>> rows = sp.csr_array(np.eye(4, 3))
    >>> find_sparse_basis(rows, np.ones(3)).width
    3
    """
    k = min(MAX_DIRECTIONS, *rows.shape)
    with limit_blas_threads(True):  # threads gain little here, and lose much where others use the same cores
        # Where directions are left out anyway, those that are kept need not be exact, and single precision is enough.
        weighted = sp.csr_array(rows * weights, dtype=np.float32 if k < min(rows.shape) else np.float64)
        _, s, Vt = randomized_svd(weighted, k, n_oversamples=N_OVERSAMPLES, n_iter=N_POWER_ITERATIONS, random_state=0)
    keep = s > MIN_SINGULAR_RATIO * s.max(initial=0)
    return Basis(np.asarray(rows.mean(axis=0)).ravel(), weights[:, None] * Vt[keep].T.astype(np.float64))


def weigh_words(rows: sp.csr_array) -> np.ndarray:
    """Compute the inverse document frequency of each column: rare words say more than those of most texts."""
    present = np.bincount(rows.indices, minlength=rows.shape[1])
    return np.log((1 + rows.shape[0]) / (1 + present)) + 1


def weigh_columns(rows: sp.csr_array) -> np.ndarray:
    """Compute weights that free columns of their units, and let rare ones count by their document frequency.

    A column that is mostly zero is divided by the root of its mean square where it is not zero, because its standard
    deviation would give a column that occurs once the largest weight of all; the others by their standard deviation.
    """
    n, p = rows.shape
    present = np.maximum(np.bincount(rows.indices[rows.data != 0], minlength=p), 1)
    square = np.asarray(rows.multiply(rows).sum(axis=0)).ravel()
    variance = np.maximum(square / n - np.asarray(rows.mean(axis=0)).ravel() ** 2, 0)
    is_sparse = present <= MAX_SPARSE_SHARE * n
    scale = np.sqrt(np.where(is_sparse, square / present, variance))
    unit = np.where(scale > 0, scale, np.inf)
    return np.where(is_sparse, weigh_words(rows), 1.0) / unit
