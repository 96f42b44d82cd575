"""What scores need of pairs, in two passes: moments of the functions, then the influence of each pair.

Both are sums over pairs, so they can be taken over parts, wherever these are, and merged. In both, r(x, y) stands for
sum_i s_i f_i(x) g_i(y) with s_i = sqrt(lambda_i) and the constant pair f_0 = g_0 = s_0 = 1 included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from correspondence.core.uncertainty import (
    MAX_PAIRS_WITHOUT_ERROR,
    compute_correlations,
    compute_jackknife_terms,
    sum_four_powers,
)

__all__ = ["PairSummary", "prepend_constant", "sum_influence_powers", "summarise_pairs"]

MAX_CACHED_VALUES = 1 << 18  # values of functions computed at a time: few enough to stay in a core's cache


@dataclass(frozen=True, eq=False)
class MarginSums:
    """Moments of the functions of one side: mean, sum of squared deviations, largest value, and raw second moments.

    The second moments are those of 1, f_1, f_2, ..., each times the fourth root of its PIC.
    """

    n: float
    mean: np.ndarray
    scatter: np.ndarray
    largest: np.ndarray
    second: np.ndarray

    @classmethod
    def from_values(cls, F: np.ndarray, weights: np.ndarray, correlations: np.ndarray) -> MarginSums:
        n, f = float(weights.sum()), prepend_constant(F, correlations)
        mean = weights @ F / n
        return cls(n, mean, weights @ (F - mean) ** 2, np.abs(F).max(axis=0, initial=0), (f.T * weights) @ f / n)

    @classmethod
    def merge_parts(cls, parts: Sequence[MarginSums]) -> MarginSums:
        n = sum(part.n for part in parts)
        mean, second = (sum(part.n / n * getattr(part, name) for part in parts) for name in ("mean", "second"))
        scatter = sum(part.scatter + part.n * (part.mean - mean) ** 2 for part in parts)
        return cls(n, mean, scatter, np.max([part.largest for part in parts], axis=0), second)

    @property
    def varies(self) -> np.ndarray:
        """Which functions vary by more than rounding errors."""
        return np.sqrt(self.scatter / self.n) > 1e-12 * self.largest

    def standardise_values(self, F: np.ndarray) -> np.ndarray:
        """Give the functions mean 0 and variance 1; a constant becomes 0."""
        scale = np.sqrt(self.scatter / self.n)
        return np.where(self.varies, (F - self.mean) / np.where(self.varies, scale, 1), 0)


@dataclass(frozen=True, eq=False)
class PairSummary:
    """What is known of pairs after the first pass."""

    x: MarginSums
    y: MarginSums
    cross: np.ndarray
    """Sums of products of the deviations of f_i and g_i from their means."""
    ratio: float
    """Mean of r."""
    square: float
    """Mean of r squared."""

    @classmethod
    def merge_parts(cls, parts: Sequence[PairSummary]) -> PairSummary:
        """Merge summaries of parts of the pairs."""
        x, y = MarginSums.merge_parts([part.x for part in parts]), MarginSums.merge_parts([part.y for part in parts])
        cross = sum(part.cross + part.n * (part.x.mean - x.mean) * (part.y.mean - y.mean) for part in parts)
        ratio, square = (sum(part.n / x.n * getattr(part, name) for part in parts) for name in ("ratio", "square"))
        return cls(x, y, np.asarray(cross), ratio, square)

    @property
    def n(self) -> float:
        """Number (total weight) of the pairs."""
        return self.x.n

    @property
    def is_defined(self) -> np.ndarray:
        """Whether both functions of a component vary."""
        return self.x.varies & self.y.varies

    @property
    def correlations(self) -> np.ndarray:
        """Pearson correlations, 0 where one of the functions is constant."""
        scale = np.sqrt(self.x.scatter) * np.sqrt(self.y.scatter)
        return np.where(self.is_defined, np.clip(self.cross / np.where(self.is_defined, scale, 1), -1, 1), 0.0)

    @property
    def least_variance(self) -> float:
        """Smallest variance of a function."""
        return float(min(np.min(side.scatter, initial=np.inf) for side in (self.x, self.y)) / self.n)

    @property
    def own(self) -> float:
        """Share of the double sum over x and y that pairs each x with its own y: 0 for a population."""
        return 1 / self.n if self.n > 1 + 1e-9 else 0.0

    @property
    def second(self) -> float:
        """Unbiased estimate of the mean of r(x, y)^2 over independent x and y.

        The product of second moments is the mean over all x_k and all y_l. It contains each pair with itself, whose x
        and y are dependent, and is therefore biased. Without these n of n^2 terms it is a U-statistic, without bias.
        """
        return (float(np.sum(self.x.second * self.y.second)) - self.own * self.square) / (1 - self.own)

    @property
    def captured(self) -> float:
        """2 E[sum_i s_i f_i g_i] - sum_ij s_i s_j E[f_i f_j] E[g_i g_j] - 1, with f_0 = g_0 = s_0 = 1."""
        return 2 * self.ratio - self.second - 1

    def expect_squares(self, f: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute E[r(x, Y)^2] for each x and E[r(X, y)^2] for each y, where X and Y are independent."""
        return ((f @ self.y.second) * f).sum(axis=1), ((g @ self.x.second) * g).sum(axis=1)

    def compute_influence(self, ratio: np.ndarray, of_x: np.ndarray, of_y: np.ndarray) -> np.ndarray:
        """Compute the influence of pairs on `captured`: n - 1 times its loss when one is left out; the mean is 0."""
        others = (of_x + of_y - 2 * self.own * ratio**2) / (1 - self.own)
        inflation = (self.n - 1) / (self.n - 2) if self.n > MAX_PAIRS_WITHOUT_ERROR else 1.0
        return inflation * (2 * (ratio - self.ratio) - (others - 2 * self.second))

    def leave_out(self, f: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Compute the influence of pairs on the correlations, on Fisher's z scale, from standardised values."""
        n, r = self.n, self.correlations
        times = n / (n - 1)
        f_left, g_left, cross_left = n - times * f**2, n - times * g**2, n * r - times * f * g
        return compute_jackknife_terms(r, compute_correlations(f_left, g_left, cross_left, 1e-9 * n), n)


def summarise_pairs(
    correlations: np.ndarray, F: np.ndarray, G: np.ndarray, joint: sp.csr_array | None = None
) -> PairSummary:
    """Summarise some pairs in the first pass."""
    joint = _fill_weights(F, joint)
    x = MarginSums.from_values(F, joint.sum(axis=1), correlations)
    y = MarginSums.from_values(G, joint.sum(axis=0), correlations)
    f, g = prepend_constant(F, correlations), prepend_constant(G, correlations)
    sums = np.zeros(2)
    for rows, columns, weights in _iterate_cells(joint, f.shape[1]):
        ratio = np.einsum("ki,ki->k", f[rows], g[columns])
        sums += weights @ ratio, weights @ ratio**2
    cross = np.einsum("ij,ij->j", F - x.mean, joint @ (G - y.mean))
    return PairSummary(x, y, cross, *(sums / x.n).tolist())


def sum_influence_powers(
    correlations: np.ndarray, summary: PairSummary, F: np.ndarray, G: np.ndarray, joint: sp.csr_array | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Sum the first four powers of the influences on the correlations and on `captured`, in the second pass."""
    joint = _fill_weights(F, joint)
    of_r, of_captured = np.zeros((4, F.shape[1])), np.zeros(4)
    if summary.n <= MAX_PAIRS_WITHOUT_ERROR:
        return of_r, of_captured
    unit_f, unit_g = summary.x.standardise_values(F), summary.y.standardise_values(G)
    f, g = prepend_constant(F, correlations), prepend_constant(G, correlations)
    of_x, of_y = summary.expect_squares(f, g)
    for rows, columns, weights in _iterate_cells(joint, f.shape[1]):
        terms = summary.leave_out(unit_f[rows], unit_g[columns])
        ratio = np.einsum("ki,ki->k", f[rows], g[columns])
        influence = summary.compute_influence(ratio, of_x[rows], of_y[columns])
        with np.errstate(over="ignore"):  # values so far out leave no interval, see `Spread`
            of_r += sum_four_powers(weights, terms)
            of_captured += sum_four_powers(weights, influence)
    return of_r, of_captured


def _fill_weights(F: np.ndarray, joint: sp.csr_array | None) -> sp.csr_array:
    return sp.csr_array(sp.diags_array(np.ones(len(F)))) if joint is None else joint


def prepend_constant(F: np.ndarray, correlations: np.ndarray) -> np.ndarray:
    """Return 1, f_1, f_2, ..., each times the fourth root of its PIC."""
    return np.column_stack([np.ones(len(F)), F]) * np.sqrt(np.concatenate([[1.0], correlations]))


def _iterate_cells(joint: sp.csr_array, width: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield rows, columns and weights of the pairs that occur, in blocks whose functions fit into the cache."""
    block = max(1, MAX_CACHED_VALUES // width)
    rows = np.repeat(np.arange(joint.shape[0]), np.diff(joint.indptr))
    for start in range(0, joint.nnz, block):
        cells = slice(start, start + block)
        yield rows[cells], joint.indices[cells], joint.data[cells]
