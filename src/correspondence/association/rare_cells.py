"""P-values of tables of labels with cells that are hardly ever expected, where one or two rows decide.

A cell with .05 expected rows and two found ones adds 76 to chi-square, which happens once in a thousand tables: no
distribution with a few moments has such a tail. So what such cells say is taken from their own, exact distribution, and
chi-square is taken of the other cells.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import hypergeom

from correspondence.association.fold_products import EqualWidths

__all__ = ["guard_rare_cells"]

MAX_EXPECTED_ROWS = 0.5  # of a rare cell
MAX_PVALUE = 0.02  # up to which a p-value is looked at again

Test = Callable[[float, int, int], float]


def guard_rare_cells(
    pvalues: np.ndarray, covariances: np.ndarray, n: float, x: EqualWidths, y: EqualWidths, test: Test
) -> np.ndarray:
    """Raise the p-values of two columns of labels to what is known without rare cells, or from one of them.

    Parameters
    ----------
    pvalues : ndarray of shape (k, l)
        P-values of the pairs, by moments.
    covariances : ndarray of shape (k, p, l, q)
        The covariances of their features.
    n : float
        The number of rows.
    x, y : EqualWidths
        The columns.
    test : callable
        It computes the p-value of another statistic for the pair at two positions.
    """
    shares = [_find_shares(own) for own in (x, y)]
    least = [np.array([np.inf if own is None else own.min() for own in side]) for side in shares]
    is_sparse = (np.outer(*least) * n < MAX_EXPECTED_ROWS) & (pvalues <= MAX_PVALUE)
    guarded = pvalues.copy()
    for i, j in zip(*np.nonzero(is_sparse), strict=True):
        one, other = shares[0][i], shares[1][j]
        if one is None or other is None or (len(one), len(other)) == (2, 2):
            continue
        K = covariances[i, : len(one) - 1, j, : len(other) - 1]
        excess = np.outer(one, other) * (_take_levels(x, i) @ K @ _take_levels(y, j).T)
        rest, of_cell = _split_evidence(excess, one, other, n)
        without = test(float((K**2).sum()) - rest, int(i), int(j))
        guarded[i, j] = max(pvalues[i, j], min(without, of_cell))
    return guarded


def _find_shares(block: EqualWidths) -> list[np.ndarray | None]:
    """Return the shares of the labels of each column; None for numbers, and if missing labels have no level."""
    found: list[np.ndarray | None] = []
    for features, counts in zip(block.features, block.counts, strict=True):
        own = counts.sum(axis=0)
        own = own[own > 0] / own.sum()
        is_labels = len(own) == features.width + 1 and features.target.all() and features.smoothness.all()
        found.append(own if is_labels and np.ptp(features.smoothness) == 0 else None)
    return found


def _take_levels(block: EqualWidths, j: int) -> np.ndarray:
    return block.features[j].table[block.counts[j].sum(axis=0) > 0]


def _split_evidence(excess: np.ndarray, one: np.ndarray, other: np.ndarray, n: float) -> tuple[float, float]:
    """Return what rare cells with too many rows add to chi-square / n, and the smallest p-value of any, adjusted."""
    expected = np.outer(one, other)
    rows, columns = np.nonzero((expected * n < MAX_EXPECTED_ROWS) & (excess > 0))
    own, share = excess[rows, columns], expected[rows, columns]
    if not len(own):
        return 0.0, 1.0
    observed = np.rint((own + share) * n)
    upper = hypergeom.sf(observed - 1, round(n), np.rint(one[rows] * n), np.rint(other[columns] * n))
    number = (expected * n < MAX_EXPECTED_ROWS).sum()
    return float((own**2 / share).sum()), float(min(1.0, number * upper.min()))
