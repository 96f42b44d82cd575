"""Tests of components on held-out blocks of pairs.

The first k of them make the rest hard to judge: a fit to few pairs finds each function only roughly, and what it misses
of the first ones is left in the later ones, which are then correlated although there is no further component. So
what is tested is the rank of the matrix of correlations of all f_i with all g_j on held-out pairs. Let A be its first
k rows and columns, b the rest of row k + 1 and c that of column k + 1. It has rank k if the Schur complement
r - b A^-1 c is zero, and that is the covariance of what is left of f_{k+1} and g_{k+1} after A^-T b and A^-1 c times
the first k functions are taken off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.fft import irfft, rfft

from correspondence.core.scoring import score_pairs

__all__ = ["Block", "BlockTest", "Exchanges", "run_on_blocks"]

ROUNDING_TOLERANCE = 1e-6  # singular values, sums of squares and differences of statistics that are rounding
MIN_RESIDUAL_DEVIATION = 0.1  # residual standard deviation (the function has 1) below which a component adds nothing


class Exchanges:
    """Random exchanges of partners, in all blocks at once.

    Partners are put in some random orders, and in each moved on by some places, counted around the end: a Fourier
    transform has the sums of products of all moves of an order. The test is as exact as with independent permutations:
    the given pairs are one move of one order, and if pairs are exchangeable, no move of any order is special.
    """

    def __init__(self, blocks: int, size: int, n: int, rng: np.random.Generator) -> None:
        self.n_orders = n // size + 1
        given = np.arange(size)
        self.orders = [
            np.vstack([given, *(rng.permutation(size) for _ in range(self.n_orders - 1))]) for _ in range(blocks)
        ]
        self.drawn = 1 + rng.choice(self.n_orders * size - 1, n, replace=False)  # the first of all are the given pairs

    def sum_products(self, pairs: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float, np.ndarray]:
        """Sum of f g over all blocks for the given pairs, and for those drawn."""
        total = np.sum([_moved(f, g[orders]) for (f, g), orders in zip(pairs, self.orders, strict=True)], axis=0)
        return float(total[0]), total[self.drawn]


def _moved(f: np.ndarray, G: np.ndarray) -> np.ndarray:
    """Sum of f_i g_{i + s} for each row g of G and each s, in a row."""
    return irfft(np.conj(rfft(f)) * rfft(G, axis=1), n=len(f), axis=1).ravel()


@dataclass(frozen=True, eq=False)
class Block:
    """Functions of a fit on the pairs of its block, which come first, and of those after it, as the block's units."""

    F: np.ndarray
    G: np.ndarray
    size: int
    training: np.ndarray

    @classmethod
    def from_functions(cls, F: np.ndarray, G: np.ndarray, size: int, training: np.ndarray) -> Block:
        """Functions in units of the block."""
        return cls(_standardise_on_block(F, size), _standardise_on_block(G, size), size, training)

    def pad_components(self, d: int) -> Block:
        """Return the same with d components, those that are missing 0."""
        more = max(0, d - self.F.shape[1])
        F, G = (np.pad(values, ((0, 0), (0, more))) for values in (self.F, self.G))
        return Block(F, G, self.size, np.pad(self.training, (0, more)))

    def find_residuals(self, i: int, found: int) -> tuple[np.ndarray, np.ndarray]:
        """What the first components leave of f_i and g_i, on the block."""
        k = min(i, found)
        if k == 0:
            return self.F[: self.size, i], self.G[: self.size, i]
        C = self.F.T @ self.G / len(self.F)
        inverse = np.linalg.pinv(C[:k, :k], rcond=ROUNDING_TOLERANCE)
        f = self.F[: self.size, i] - self.F[: self.size, :k] @ (C[i, :k] @ inverse)
        g = self.G[: self.size, i] - self.G[: self.size, :k] @ (inverse @ C[:k, i])
        return f, g


def _standardise_on_block(F: np.ndarray, size: int) -> np.ndarray:
    """Mean 0 and variance 1 on the block; what is constant there is 0 everywhere."""
    mean, scale = F[:size].mean(axis=0), F[:size].std(axis=0)
    return np.where(scale > 1e-12, (F - mean) / np.where(scale > 1e-12, scale, 1), 0)


@dataclass(frozen=True, eq=False)
class BlockTest:
    """Test of one component: p-value, held-out correlation with its interval, and the same with partners exchanged."""

    pvalue: float
    correlation: float
    interval: np.ndarray
    null: np.ndarray


def run_on_blocks(blocks: list[Block], exchanges: Exchanges, alpha: float, found: int | None = None) -> list[BlockTest]:
    """Test all components; after the first that fails, those found before it are taken off all others.

    Parameters
    ----------
    blocks : list of Block
        Functions on the held-out blocks.
    exchanges : Exchanges
        Random exchanges of partners.
    alpha : float
        Level of the tests and, as 1 - alpha, of the intervals.
    found : int, optional
        How many components there are, if another test has decided that.
    """
    tests: list[BlockTest] = []
    decided = 0 if found is None else found
    for i in range(blocks[0].F.shape[1]):
        tests.append(run_component_test([block.find_residuals(i, decided) for block in blocks], exchanges, alpha))
        decided += found is None and decided == i and tests[-1].pvalue <= alpha
    return tests


def run_component_test(left: list[tuple[np.ndarray, np.ndarray]], exchanges: Exchanges, alpha: float) -> BlockTest:
    """Studentised sum of products against that of pairs whose partners are exchanged."""
    units = [(_scale_to_unit(f), _scale_to_unit(g)) for f, g in left]
    total, totals = exchanges.sum_products(units)
    squares, null_squares = exchanges.sum_products([(f**2, g**2) for f, g in units])
    z, null = _studentise_sum(total, squares), _studentise_sum(totals, null_squares)
    pvalue = (1 + int((null >= z - ROUNDING_TOLERANCE).sum())) / (1 + len(null))
    F, G = (np.concatenate(side)[:, None] for side in zip(*units, strict=True))
    # In units of f and g, not of what is left of them: noise of what was taken off would make the correlation smaller.
    scales = [f.std() * g.std() for f, g in left]
    weight = sum(len(left[0][0]) / scale for scale in scales if scale > MIN_RESIDUAL_DEVIATION**2) or len(F)
    interval = score_pairs(F, G, np.zeros(1), level=1 - alpha).intervals[0] * len(F) / weight
    return BlockTest(pvalue, float(np.clip(total / weight, -1, 1)), np.clip(interval, -1, 1), totals / weight)


def _scale_to_unit(f: np.ndarray) -> np.ndarray:
    scale = f.std()
    return f / scale if scale > MIN_RESIDUAL_DEVIATION else np.zeros_like(f)


def _studentise_sum(total: Any, squares: Any) -> Any:
    return total / np.sqrt(np.maximum(squares, ROUNDING_TOLERANCE))
