"""P-values of dependence between what is left of two columns, from moments that it has if they are independent given z.

With what is left of the features of both columns in row i, x_i and y_i, multiplied by the roots of their weights, the
statistic is a sum over all pairs of different rows: the sum of the squared covariances without what a row adds alone,

    U = sum over i != j of (x_i' x_j) (y_i' y_j) = |sum_i x_i y_i'|^2 - sum_i |x_i|^2 |y_i|^2.

Permutations would need a spread that does not depend on z. But if x and y are independent given z, U has mean 0, and

    variance   2 |sum_i V_i (x) W_i|^2              with V_i = E[x_i x_i' | z_i] and W_i = E[y_i y_i' | z_i],
    third      8 tr (sum_i V_i (x) W_i)^3 + 4 |S (x) T|^2 / n^2  with the third moments S of x and T of y.

V is a smooth function of z, V_i = sum_r q_ir V_r with a few orthonormal functions q_r. Then sum_i V_i (x) W_i is
sum_r V_r (x) W_r, and both moments are products of sums over each column alone, for all pairs at once. Random signs of
the rows have the same moments with x_i x_i' in the place of V_i. But where an answer is rare in both columns, the rows
that make for most of the variance often do not occur, and chance looks too small: two answers that each 2 % of 1,000
rows give, on their own, were said to go together at the 5 % level in more than half of all tables.

A regression of leverage h leaves the share 1 - h of the variance of a row, and if both columns have the same one, also
of that of the sum of their products. So squares of what is left are divided by the root of 1 - h on each side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from correspondence.association.permutation_moments import MIN_PVALUE, approximate_tail

__all__ = ["MAX_LEVERAGE", "LeftSums", "compute_left_pvalues"]

MAX_DIRECTIONS_FOR_SKEWNESS = 10  # functions of z for third moments, whose sums grow with their cube
MAX_LEVERAGE = 0.9  # larger ones count as this
CELLS_PER_BATCH = 1 << 22


@dataclass(frozen=True, eq=False)
class LeftSums:
    """What the moments need to know of each of some columns.

    Attributes
    ----------
    values : ndarray of shape (n, columns * width)
        What is left of the features, multiplied by the roots of their weights.
    norms : ndarray of shape (n, columns)
        The sum of their squares in each row, over the root of 1 - leverage.
    second : ndarray of shape (columns, r ** 2)
        The products tr V_r V_s.
    third : ndarray of shape (columns, s ** 3)
        The products tr V_r V_s V_t of the first functions.
    cubes : ndarray of shape (columns,)
        The squared norm of the third moments.
    """

    values: np.ndarray
    norms: np.ndarray
    second: np.ndarray
    third: np.ndarray
    cubes: np.ndarray

    @classmethod
    def from_values(cls, values: np.ndarray, weights: np.ndarray, leverages: np.ndarray, Q: np.ndarray) -> LeftSums:
        """Compute the sums of some columns.

        Parameters
        ----------
        values : ndarray of shape (n, columns, width)
            What is left of the features.
        weights : ndarray of shape (columns, width)
            The weights of the features.
        leverages : ndarray of shape (n, columns)
            The leverage of each row in the regression of each column.
        Q : ndarray of shape (n, r)
            Orthonormal functions of z, the first constant.
        """
        n, k, _ = values.shape
        A = values * np.sqrt(weights)
        scale = 1 / np.sqrt(1 - np.minimum(leverages, MAX_LEVERAGE))
        found = [_sum_column(A[:, j], scale[:, j], Q) for j in range(k)]
        second, third, cubes = (np.array(own) for own in zip(*found, strict=True))
        return cls(A.reshape(n, -1), np.einsum("nka,nka->nk", A, A) * scale, second, third, cubes)


def _sum_column(A: np.ndarray, scale: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    n, p = A.shape
    V, S = np.zeros((Q.shape[1], p * p)), np.zeros((p, p * p))
    step = max(1, CELLS_PER_BATCH // (p * p))
    for start in range(0, n, step):
        own = slice(start, start + step)
        squares = np.einsum("na,nb,n->nab", A[own], A[own], scale[own], optimize=True).reshape(-1, p * p)
        V += Q[own].T @ squares
        S += A[own].T @ squares
    first = V[:MAX_DIRECTIONS_FOR_SKEWNESS].reshape(-1, p, p)
    products = np.einsum("rab,sbc->rsac", first, first, optimize=True).reshape(-1, p * p)
    third = products @ first.transpose(0, 2, 1).reshape(-1, p * p).T
    return (V @ V.T).ravel(), third.ravel(), float((S**2).sum())


def compute_left_pvalues(n: int, x: LeftSums, y: LeftSums, inflation: np.ndarray) -> np.ndarray:
    """Compute how probable it is that columns which are independent given z depend as much.

    Parameters
    ----------
    n : int
        The number of rows.
    x, y : LeftSums
        The columns of both sides.
    inflation : ndarray of shape (columns of x, columns of y)
        How many more rows have values of both columns than if gaps were independent.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Q, weights = np.full((500, 1), 500**-0.5), np.ones((3, 1))
    >>> x, y, noise = rng.normal(size=(3, 500))
    >>> values = np.column_stack([x, x + 3 * y, noise])[:, :, None]
    >>> sums = LeftSums.from_values(values, weights, np.zeros((500, 3)), Q)
    >>> (compute_left_pvalues(500, sums, sums, np.ones((3, 3)))[0] < 0.05).tolist()
    [True, True, False]
    """
    shape = (x.norms.shape[1], y.norms.shape[1])
    K = (x.values.T @ y.values).reshape(shape[0], -1, shape[1], y.values.shape[1] // shape[1])
    U = (np.einsum("iajb,iajb->ij", K, K) - x.norms.T @ y.norms) / inflation
    deviation = np.sqrt(np.maximum(2 * x.second @ y.second.T, 0))
    third = 8 * x.third @ y.third.T + 4 * np.outer(x.cubes, y.cubes) / n**2
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(deviation > 0, U / deviation, 0.0)
        skewness = np.where(deviation > 0, third / deviation**3, 0.0)
    return np.where(deviation > 0, np.clip(approximate_tail(score, skewness), MIN_PVALUE, 1.0), 1.0)
