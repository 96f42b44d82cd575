"""Features of a column as a small table: one row for each different value, or bin of numbers, of the column.

A column is a code for each row and a table that leads from codes to features. So rows are read once, moments of one
column need only the counts of its codes, and labels and numbers are treated alike from here on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import eval_legendre, ndtri

__all__ = ["LevelFeatures", "choose_degree", "make_label_features", "make_number_features", "orthonormalise"]

MIN_RESIDUAL_VARIANCE = 1e-8  # of a feature given those before it, as a share of its own: less is rounding
ROWS_PER_DEGREE = ((200, 3), (1000, 4), (5000, 5), (50_000, 6), (np.inf, 8))  # fewer rows than this, this degree


@dataclass(frozen=True, eq=False)
class LevelFeatures:
    """Features of the levels of a column, with mean 0 and covariance I over its rows.

    Attributes
    ----------
    table : ndarray of shape (levels, width)
        The features of each level, the smoothest first.
    smoothness : ndarray of shape (width,)
        The weight of each feature in the test of dependence.
    target : ndarray of shape (width,)
        1 for the features that have to be predicted, 0 for the others: all of labels, the normal score of numbers.
    """

    table: np.ndarray
    smoothness: np.ndarray
    target: np.ndarray

    @property
    def width(self) -> int:
        """The number of features."""
        return self.table.shape[1]


def choose_degree(n: float) -> int:
    """Choose the number of smooth functions of a number, more for more rows.

    Examples
    --------
    >>> [choose_degree(n) for n in (50, 300, 20_000)]
    [3, 4, 6]
    """
    return next(degree for rows, degree in ROWS_PER_DEGREE if n < rows)


def make_label_features(counts: np.ndarray, is_missing: np.ndarray | None = None) -> LevelFeatures:
    """Make indicators of labels orthonormal.

    Parameters
    ----------
    counts : ndarray of shape (levels,)
        The weight of the rows with each label.
    is_missing : ndarray of bool, optional
        Levels that count as the average of the others.

    Examples
    --------
    >>> make_label_features(np.array([3, 1])).table.round(3).tolist()
    [[0.577], [-1.732]]
    """
    given = np.ones(len(counts), dtype=bool) if is_missing is None else ~is_missing
    order = [i for i in np.argsort(-counts, kind="stable") if given[i] and counts[i] > 0]
    table = orthonormalise(np.eye(len(counts))[:, order[:-1]], counts, given)
    ones = np.ones(table.shape[1])
    return LevelFeatures(table, ones, ones)


def make_number_features(
    counts: np.ndarray, degree: int, is_missing: np.ndarray | None = None, *, has_indicator: bool = True
) -> LevelFeatures:
    """Make smooth functions of the ranks of numbers: their normal score, then polynomials of higher and higher degree.

    Parameters
    ----------
    counts : ndarray of shape (levels,)
        The weight of the rows at each level, from the least number to the greatest.
    degree : int
        The number of functions, if there are enough levels.
    is_missing : ndarray of bool, optional
        Levels that stand for no number; the functions are 0 there.
    has_indicator : bool
        Whether an indicator of these levels is another feature.

    Examples
    --------
    >>> make_number_features(np.ones(4), 2).table.round(2).tolist()
    [[-1.36, 1.0], [-0.38, -1.0], [0.38, -1.0], [1.36, 1.0]]
    """
    given = np.ones(len(counts), dtype=bool) if is_missing is None else ~is_missing
    own = counts * given
    middle = (np.cumsum(own) - own / 2) / own.sum()
    score = ndtri(np.clip(middle, 1e-12, 1 - 1e-12))
    functions = [eval_legendre(k, 2 * middle - 1) for k in range(2, degree + 1)]
    functions += [score**k for k in range(2, degree - 3)][:2] if degree > 5 else []  # what happens in the tails
    smooth = orthonormalise(np.column_stack([score, *functions]), counts, given)
    weights = 1 / np.sqrt(np.arange(1.0, smooth.shape[1] + 1))
    target = (np.arange(smooth.shape[1]) == 0).astype(float)
    if has_indicator and not given.all() and counts[~given].sum() > 0:
        shown = orthonormalise((~given).astype(float)[:, None], counts, np.ones_like(given))
        return LevelFeatures(np.hstack([smooth, shown]), np.append(weights, 1.0), np.append(target, 0.0))
    return LevelFeatures(smooth, weights, target)


def orthonormalise(features: np.ndarray, counts: np.ndarray, given: np.ndarray | None = None) -> np.ndarray:
    """Make features of levels uncorrelated, each with mean 0 and variance 1, in their order (Gram and Schmidt).

    Parameters
    ----------
    features : ndarray of shape (levels, p)
        Those that are combinations of the ones before are left out.
    counts : ndarray of shape (levels,)
        The weight of the rows at each level.
    given : ndarray of bool, optional
        At other levels the features are 0.
    """
    given = np.ones(len(counts), dtype=bool) if given is None else given
    share = counts / counts.sum()
    own = share * given / (share * given).sum()
    basis = np.empty((len(counts), features.shape[1]))
    k = 0
    for column in features.T:
        centred = (column - own @ column) * given
        variance, rest = share @ centred**2, centred
        for _ in range(2):  # twice is enough against rounding
            rest = rest - basis[:, :k] @ ((share * rest) @ basis[:, :k])
        left = share @ rest**2
        if left > MIN_RESIDUAL_VARIANCE * max(variance, MIN_RESIDUAL_VARIANCE):
            basis[:, k] = rest / np.sqrt(left)
            k += 1
    return basis[:, :k].copy()
