"""Deal the counts of a table out to folds, so that parts of one table can check what was fitted to the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import check_whole

__all__ = ["are_whole", "thin_counts"]

ROUNDING_TOLERANCE = 1e-9  # relative distance from a whole number that sums and products of floats may leave
MAX_COUNT = 2.0**62  # limit of NumPy's binomial distribution


def are_whole(counts: Any) -> bool:
    """Say whether all counts are whole numbers, up to rounding.

    Parameters
    ----------
    counts : ndarray or scipy sparse array
        The counts of a table. A tiny proportion is not a whole number, although it is close to 0.

    Returns
    -------
    bool
        True if they are.

    Examples
    --------
    >>> are_whole(np.array([[3.0, 0.0], [1.0, 2.0]])), are_whole(np.array([[0.3, 1e-8]]))
    (True, False)
    """
    values = counts.data if sp.issparse(counts) else np.asarray(counts)
    if values.dtype.kind in "biu":
        return True
    return bool((np.abs(values - np.rint(values)) <= ROUNDING_TOLERANCE * values).all())


def thin_counts(counts: Any, n_folds: int, rng: np.random.Generator) -> list[Any]:
    """Deal every observation of a table out to one of several folds, each with the same probability.

    The folds add up to the table. Given the table's distribution they are what tables of as many separate
    observations would be: a fit to some folds can be checked on the others.

    Parameters
    ----------
    counts : ndarray or scipy sparse array of shape (r, c)
        Whole numbers of at least 0, such as 3.0.
    n_folds : int
        The number of folds, at least 1.
    rng : numpy.random.Generator
        The source of random numbers.

    Returns
    -------
    list of ndarray or of scipy sparse array
        One table of shape (r, c) for each fold, of the same kind and type as `counts`. Sparse ones do not store
        the zeros that arise.

    Examples
    --------
    >>> table = np.array([[10, 0], [4, 6]])
    >>> folds = thin_counts(table, 2, np.random.default_rng(0))
    >>> (folds[0] + folds[1]).tolist()
    [[10, 0], [4, 6]]
    """
    check_whole(n_folds, "n_folds", 1)
    if not are_whole(counts):
        raise ValueError("counts must be whole numbers, got others. Give the table of counts itself, not of shares.")
    if sp.issparse(counts):
        return thin_sparse(counts, n_folds, rng)
    cells = np.asarray(counts)
    return [part.reshape(cells.shape) for part in thin_cells(cells.ravel(), n_folds, rng)]


def thin_sparse(counts: Any, n_folds: int, rng: np.random.Generator) -> list[Any]:
    table = sp.csr_array(counts)
    folds = []
    for part in thin_cells(table.data, n_folds, rng):
        fold = sp.csr_array((part, table.indices.copy(), table.indptr.copy()), shape=table.shape)
        fold.eliminate_zeros()
        folds.append(fold.asformat(counts.format))
    return folds


def thin_cells(cells: np.ndarray, n_folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Deal each cell out as a multinomial over the folds: each takes a binomial share of what is left."""
    if cells.max(initial=0) > MAX_COUNT:
        raise ValueError(f"counts must be at most {MAX_COUNT:.0g}, got {cells.max():.3g}. Divide them first.")
    left = np.rint(cells).astype(np.int64)
    parts = []
    for remaining in range(n_folds, 1, -1):
        part = rng.binomial(left, 1 / remaining)
        left = left - part
        parts.append(part.astype(cells.dtype))
    return [*parts, left.astype(cells.dtype)]
