"""Tests of components on held-out blocks of pairs, within which partners are exchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.fft import irfft, rfft

from correspondence.core.pair_summary import count_deciding
from correspondence.core.scoring import score_pairs

__all__ = ["Block", "BlockTest", "Exchanges", "run_on_blocks"]

ROUNDING_TOLERANCE = 1e-6  # smaller singular values, sums of squares and differences of statistics are rounding errors
MAX_INEXACT_CORRELATION = 1 - 1e-9  # beyond it all pairs lie on a line
MIN_DECIDING_PAIRS = 5  # a line through fewer pairs, all others being at one spot, is not judged
MIN_RESIDUAL_DEVIATION = 0.1  # residual standard deviation (the function has 1) below which a component adds nothing


class Exchanges:
    """Random exchanges of partners, in all blocks at once.

    Partners are put in some random orders, and in each shifted cyclically: a Fourier transform gives the sums of
    products of all shifts of an order. The test is as exact as with independent permutations: the given pairs are one
    shift of one order, and if pairs are exchangeable, no shift of any order is special.
    """

    def __init__(self, blocks: int, size: int, n: int, rng: np.random.Generator) -> None:
        self.n_orders = n // size + 1
        given = np.arange(size)
        self.orders = [
            np.vstack([given, *(rng.permutation(size) for _ in range(self.n_orders - 1))]) for _ in range(blocks)
        ]
        self.drawn = 1 + rng.choice(self.n_orders * size - 1, n, replace=False)  # the first of all are the given pairs

    def sum_products(self, pairs: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float, np.ndarray]:
        """Sum f g over all blocks for the given pairs, and for those drawn."""
        # The sums of f_i g_{i + s} for each order of g and each shift s, one after the other.
        sums = [
            irfft(np.conj(rfft(f)) * rfft(g[orders], axis=1), n=len(f), axis=1).ravel()
            for (f, g), orders in zip(pairs, self.orders, strict=True)
        ]
        total = np.sum(sums, axis=0)
        return float(total[0]), total[self.drawn]


@dataclass(frozen=True, eq=False)
class Block:
    """Functions of a fit, in units of its block, on the pairs of the block, which come first, and on later ones."""

    F: np.ndarray
    G: np.ndarray
    size: int
    training: np.ndarray

    @classmethod
    def from_functions(cls, F: np.ndarray, G: np.ndarray, size: int, training: np.ndarray) -> Block:
        """Scale functions to units of the block."""
        return cls(_standardise_on_block(F, size), _standardise_on_block(G, size), size, training)

    def pad_components(self, d: int) -> Block:
        """Return the same block with at least d components, the missing ones 0."""
        more = max(0, d - self.F.shape[1])
        F, G = (np.pad(values, ((0, 0), (0, more))) for values in (self.F, self.G))
        return Block(F, G, self.size, np.pad(self.training, (0, more)))

    def find_residuals(self, i: int, found: int) -> tuple[np.ndarray, np.ndarray]:
        """Find what the first components leave of f_i and g_i on the block."""
        k = min(i, found)
        if k == 0:
            return self.F[: self.size, i], self.G[: self.size, i]
        # A = C[:k, :k]; subtract A^-T b times the first f, and A^-1 c times the first g.
        C = self.F.T @ self.G / len(self.F)
        inverse = np.linalg.pinv(C[:k, :k], rcond=ROUNDING_TOLERANCE)
        f = self.F[: self.size, i] - self.F[: self.size, :k] @ (C[i, :k] @ inverse)
        g = self.G[: self.size, i] - self.G[: self.size, :k] @ (inverse @ C[:k, i])
        return f, g


def _standardise_on_block(F: np.ndarray, size: int) -> np.ndarray:
    """Scale columns to mean 0 and variance 1 on the block; those constant there become 0 everywhere."""
    mean, scale = F[:size].mean(axis=0), F[:size].std(axis=0)
    return np.where(scale > 1e-12, (F - mean) / np.where(scale > 1e-12, scale, 1), 0)


@dataclass(frozen=True, eq=False)
class BlockTest:
    """Test of one component: p-value, held-out correlation with interval, and correlations of exchanged partners."""

    pvalue: float
    correlation: float
    interval: np.ndarray
    null: np.ndarray


def run_on_blocks(blocks: list[Block], exchanges: Exchanges, alpha: float, found: int | None = None) -> list[BlockTest]:
    """Test all components; after the first that fails, those found before it are subtracted from all others.

    Parameters
    ----------
    blocks : list of Block
        The functions on the held-out blocks.
    exchanges : Exchanges
        Exchange partners in these ways.
    alpha : float
        The tests have the level alpha, and the intervals 1 - alpha.
    found : int, optional
        The number of components, if another test has decided it.
    """
    tests: list[BlockTest] = []
    decided = 0 if found is None else found
    for i in range(blocks[0].F.shape[1]):
        tests.append(run_component_test([block.find_residuals(i, decided) for block in blocks], exchanges, alpha))
        decided += found is None and decided == i and tests[-1].pvalue <= alpha
    return tests


def run_component_test(left: list[tuple[np.ndarray, np.ndarray]], exchanges: Exchanges, alpha: float) -> BlockTest:
    """Compare the studentised sum of products with that of pairs whose partners are exchanged."""
    units = [(_scale_to_unit(f), _scale_to_unit(g)) for f, g in left]
    total, totals = exchanges.sum_products(units)
    squares, null_squares = exchanges.sum_products([(f**2, g**2) for f, g in units])
    z, null = _studentise_sum(total, squares), _studentise_sum(totals, null_squares)
    pvalue = (1 + int((null >= z - ROUNDING_TOLERANCE).sum())) / (1 + len(null))
    F, G = (np.concatenate(side)[:, None] for side in zip(*units, strict=True))
    # In units of f and g, not of what remains of them: noise of what was subtracted would make the correlation smaller.
    scales = [f.std() * g.std() for f, g in left]
    weight = sum(len(left[0][0]) / scale for scale in scales if scale > MIN_RESIDUAL_DEVIATION**2) or len(F)
    scored = score_pairs(F, G, np.zeros(1), level=1 - alpha)
    interval = scored.intervals[0] * len(F) / weight
    if abs(scored.correlations[0]) > MAX_INEXACT_CORRELATION and count_deciding(F * G) < MIN_DECIDING_PAIRS:
        interval = np.array([-1.0, 1.0])  # a line through so few pairs says nothing
    return BlockTest(pvalue, float(np.clip(total / weight, -1, 1)), np.clip(interval, -1, 1), totals / weight)


def _scale_to_unit(f: np.ndarray) -> np.ndarray:
    scale = f.std()
    return f / scale if scale > MIN_RESIDUAL_DEVIATION else np.zeros_like(f)


def _studentise_sum(total: Any, squares: Any) -> Any:
    return total / np.sqrt(np.maximum(squares, ROUNDING_TOLERANCE))
