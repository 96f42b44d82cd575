"""How many components two variables share.

The first k of them make the rest hard to judge: a fit to few pairs finds each function only roughly, and what it misses
of the first ones is left in the later ones, which are then correlated although there is no further component. So
what is tested is the rank of the matrix of correlations of all f_i with all g_j on held-out pairs. Let A be its first
k rows and columns, b the rest of row k + 1 and c that of column k + 1. It has rank k if the Schur complement
r - b A^-1 c is zero, and that is the covariance of what is left of f_{k+1} and g_{k+1} after A^-T b and A^-1 c times
the first k functions are taken off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.fft import irfft, rfft

from correspondence.checks import brief, check_whole, is_number, read_only
from correspondence.heldout import held_out
from correspondence.validation import Fit, PermutationTest, check_pairs, sequential

__all__ = ["LatentDimension", "latent_dimension"]

SHARE = 10  # each component is tested at alpha / SHARE, see latent_dimension
RESOLUTION = 4  # so many times finer than alpha / SHARE are p-values at least
TINY = 1e-6  # singular values, sums of squares and differences of statistics that are rounding
NOTHING = 0.1  # standard deviation below which what is left of a function, of 1, is nothing new


@dataclass(frozen=True, eq=False, repr=False)
class LatentDimension:
    """How many components two variables share.

    Attributes
    ----------
    n_components : int
        Leading components whose p-value is at most `alpha`.
    interval : tuple of int
        Least and largest number. The least are the components whose p-value is at most half of `alpha`; the largest is
        `n_components` and as many more as the data do not rule out, in whichever place: one is ruled out if its
        interval lies below `negligible`.
    pvalues : ndarray of shape (d,)
        Of each component tested, ten times those of `test` (at most 1); never smaller than that of the one before.
    correlations : ndarray of shape (d,)
        On held-out pairs, of f_i and g_i without what they have in common with the components found before.
    intervals : ndarray of shape (d, 2)
        Of the correlations, at the level 1 - `alpha`.
    training : ndarray of shape (d,)
        Correlations that the fits had on their own pairs, averaged over the fits.
    alpha, negligible : float
        As given.
    test : PermutationTest
        That decided: p-values of single tests, and the correlations of permuted pairs.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3)); Y = rng.normal(size=(300, 3)); Y[:, 0] += X[:, 0]
    >>> result = co.latent_dimension(co.CCA(n_components=3), X, Y)
    >>> result.summary()
    '1 component, as many as 2 classes share'
    >>> (result.pvalues <= result.alpha).tolist()
    [True, False, False]
    """

    n_components: int
    interval: tuple[int, int]
    pvalues: np.ndarray
    correlations: np.ndarray
    intervals: np.ndarray
    training: np.ndarray
    alpha: float
    negligible: float
    test: PermutationTest
    can_be_more: bool = True
    """Whether the estimator could have more components than were tested, if asked for more."""

    def __post_init__(self) -> None:
        read_only(self, "pvalues", "correlations", "intervals", "training")

    @property
    def at_least(self) -> bool:
        """Whether all that were tested are there, so that there may be more: ask again with more `n_components`."""
        return self.can_be_more and self.n_components == len(self.pvalues) > 0

    @property
    def n_classes(self) -> int:
        """Classes that two variables share if a class is all that they share: one more than components."""
        return self.n_components + 1

    @property
    def level(self) -> float:
        """At which each component is tested: a tenth of alpha."""
        return self.alpha / SHARE

    @property
    def band(self) -> np.ndarray:
        """What each correlation has to beat: chance exceeds it with the probability `level`."""
        return np.quantile(self.test.null, 1 - self.level, axis=0)

    def summary(self) -> str:
        """Put the answer into words.

        Returns
        -------
        str
            One line.
        """
        if self.at_least:
            return f"at least {_components(self.n_components)}, as many as were tested"
        if not self.n_components:
            return "0 components: none is more than chance"
        return f"{_components(self.n_components)}, as many as {self.n_classes} classes share"

    def __repr__(self) -> str:
        low, high = self.interval
        more = " or more" if self.can_be_more and high == len(self.pvalues) else ""
        lines = [
            f"LatentDimension: {self.summary()}",
            f"  interval {low} to {high}{more}, alpha {self.alpha:g}, "
            f"{self.test.n_permutations} permutations of held-out pairs",
            "  component  training  held out                    p-value",
        ]
        rows = zip(self.training, self.correlations, self.intervals, self.pvalues, strict=True)
        for i, (t, r, (a, b), p) in enumerate(rows, 1):
            lines.append(f"  {i:>9}  {t:>8.4f}  {f'{r:.4f} [{a:.4f}, {b:.4f}]':<26}  {p:>7.4f}")
        return "\n".join(lines)


def _components(n: int) -> str:
    return "1 component" if n == 1 else f"{n} components"


def latent_dimension(
    est: Any,
    X: Any,
    Y: Any = None,
    alpha: float = 0.05,
    *,
    n_permutations: int = 9999,
    negligible: float = 0.1,
    groups: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> LatentDimension:
    """Count the components that are more than chance on pairs that the fit has not seen.

    Two variables that share a class of M, and nothing else, share M - 1 components. Of a continuous latent variable,
    `CCA` finds as many components as it has dimensions; estimators of nonlinear functions rightly find more, since
    squares and products of it are shared as well.

    Three fits are made and judged as in `permutation_test`, and components are tested one after the other until one is
    not significant. From each, what it has in common with those before is taken off, or a fit that has found
    a strong component only roughly would find the rest of it again. For the first component the test is exact, for
    later ones a large-sample approximation; to have room for that, each is tested at a tenth of `alpha`.

    Parameters
    ----------
    est : estimator
        Unfitted; its n_components are the most that can be found. Take some more than you expect.
    X, Y : array-like, frame, ...
        Pairs, as for its `fit`.
    alpha : float
        How often too many components may be found. It is far less often, but for few pairs of many rare labels.
    n_permutations : int
        At least; raised where p-values would be too coarse for `alpha`. They are cheap.
    negligible : float
        Correlation that would not matter. It decides the upper end of the interval only.
    groups, random_state, n_jobs, progress : array-like, int, int, bool
        As for `permutation_test`.

    Returns
    -------
    LatentDimension
        The number, an interval, and the test; `plot.dimension` draws it.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.normal(size=(1000, 2))
    >>> X, Y = (np.hstack([shared + rng.normal(size=(1000, 2)), rng.normal(size=(1000, 2))]) for _ in range(2))
    >>> result = co.latent_dimension(co.CCA(n_components=4), X, Y)
    >>> result.n_components
    2
    >>> result.summary()
    '2 components, as many as 3 classes share'
    """
    if not is_number(alpha) or not 1e-4 <= alpha < 1:
        raise ValueError(f"alpha must be a number from 0.0001 to below 1, got {brief(alpha)}.")
    if not is_number(negligible) or not 0 < negligible < 1:
        raise ValueError(f"negligible must be a number between 0 and 1, got {brief(negligible)}.")
    check_whole(n_permutations, "n_permutations", 19, 10**6)
    n_permutations = max(n_permutations, round(RESOLUTION * SHARE / alpha) - 1)
    _, together = check_pairs(est, X, Y, groups, random_state)
    fits = sequential(est, X, Y, together, random_state, n_jobs, progress, later=True)
    size, d = min(size for _, size in fits), min(fit.d.n_components for fit, _ in fits)
    blocks = [_Block.of(fit, size, d) for fit, _ in fits]
    exchanges = _Exchanges(len(blocks), size, n_permutations, np.random.default_rng([random_state, 1]))
    result = _result(_one_after_the_other(blocks, exchanges, alpha), blocks, alpha, negligible, n_permutations)
    asked = getattr(est, "n_components", None)
    return replace(result, can_be_more=asked is not None and d >= asked)


class _Exchanges:
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

    def sums(self, pairs: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float, np.ndarray]:
        """Sum of f g over all blocks for the given pairs, and for those drawn."""
        total = np.sum([_moved(f, g[orders]) for (f, g), orders in zip(pairs, self.orders, strict=True)], axis=0)
        return float(total[0]), total[self.drawn]


def _moved(f: np.ndarray, G: np.ndarray) -> np.ndarray:
    """Sum of f_i g_{i + s} for each row g of G and each s, in a row."""
    return irfft(np.conj(rfft(f)) * rfft(G, axis=1), n=len(f), axis=1).ravel()


@dataclass(frozen=True, eq=False)
class _Block:
    """Functions of a fit on the pairs of its block, which come first, and of those after it, as the block's units."""

    F: np.ndarray
    G: np.ndarray
    size: int
    training: np.ndarray

    @classmethod
    def of(cls, fit: Fit, size: int, d: int) -> _Block:
        F, G = (_in_units(values[:, :d], size) for values in (fit.F, fit.G))
        return cls(F, G, size, fit.d.correlations[:d])

    def left(self, i: int, found: int) -> tuple[np.ndarray, np.ndarray]:
        """What the first components leave of f_i and g_i, on the block."""
        k = min(i, found)
        if k == 0:
            return self.F[: self.size, i], self.G[: self.size, i]
        C = self.F.T @ self.G / len(self.F)
        inverse = np.linalg.pinv(C[:k, :k], rcond=TINY)
        f = self.F[: self.size, i] - self.F[: self.size, :k] @ (C[i, :k] @ inverse)
        g = self.G[: self.size, i] - self.G[: self.size, :k] @ (inverse @ C[:k, i])
        return f, g


def _in_units(F: np.ndarray, size: int) -> np.ndarray:
    """Mean 0 and variance 1 on the block; what is constant there is 0 everywhere."""
    mean, scale = F[:size].mean(axis=0), F[:size].std(axis=0)
    return np.where(scale > 1e-12, (F - mean) / np.where(scale > 1e-12, scale, 1), 0)


@dataclass(frozen=True, eq=False)
class _Test:
    """Of one component."""

    pvalue: float
    correlation: float
    interval: np.ndarray
    null: np.ndarray


def _one_after_the_other(blocks: list[_Block], exchanges: _Exchanges, alpha: float) -> list[_Test]:
    """Tests of all components; after the first that fails, those found before it are taken off all others."""
    tests: list[_Test] = []
    found = 0
    for i in range(blocks[0].F.shape[1]):
        tests.append(_tested([block.left(i, found) for block in blocks], exchanges, alpha))
        found += found == i and tests[-1].pvalue <= alpha / SHARE
    return tests


def _tested(left: list[tuple[np.ndarray, np.ndarray]], exchanges: _Exchanges, alpha: float) -> _Test:
    """Studentised sum of products against that of pairs whose partners are exchanged."""
    units = [(_unit(f), _unit(g)) for f, g in left]
    total, totals = exchanges.sums(units)
    squares, null_squares = exchanges.sums([(f**2, g**2) for f, g in units])
    z, null = _studentised(total, squares), _studentised(totals, null_squares)
    pvalue = (1 + int((null >= z - TINY).sum())) / (1 + len(null))
    F, G = (np.concatenate(side)[:, None] for side in zip(*units, strict=True))
    # In units of f and g, not of what is left of them: noise of what was taken off would make the correlation smaller.
    scales = [f.std() * g.std() for f, g in left]
    weight = sum(len(left[0][0]) / scale for scale in scales if scale > NOTHING**2) or len(F)
    interval = held_out(F, G, np.zeros(1), level=1 - alpha).intervals[0] * len(F) / weight
    return _Test(pvalue, float(np.clip(total / weight, -1, 1)), np.clip(interval, -1, 1), totals / weight)


def _unit(f: np.ndarray) -> np.ndarray:
    scale = f.std()
    return f / scale if scale > NOTHING else np.zeros_like(f)


def _studentised(total: Any, squares: Any) -> Any:
    return total / np.sqrt(np.maximum(squares, TINY))


def _result(
    tests: list[_Test], blocks: list[_Block], alpha: float, negligible: float, n_permutations: int
) -> LatentDimension:
    single = np.maximum.accumulate(np.array([test.pvalue for test in tests]))
    correlations = np.array([test.correlation for test in tests])
    intervals = np.array([test.interval for test in tests]).reshape(-1, 2)
    null = np.array([test.null for test in tests]).reshape(-1, n_permutations).T
    pvalues = np.minimum(SHARE * single, 1)
    found = int((pvalues <= alpha).sum())
    not_ruled_out = int((intervals[found:, 1] >= negligible).sum())
    return LatentDimension(
        found,
        (int((pvalues <= alpha / 2).sum()), found + not_ruled_out),
        pvalues,
        correlations,
        intervals,
        np.mean([block.training for block in blocks], axis=0),
        alpha,
        negligible,
        PermutationTest(single, correlations, null, n_permutations, False),
    )
