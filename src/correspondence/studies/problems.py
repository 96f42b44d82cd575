"""Problems whose maximally correlated functions are known exactly, on which estimators are evaluated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import iti0k0, ive
from scipy.stats import norm

__all__ = [
    "Problem",
    "make_bsc",
    "make_circular",
    "make_gamma_poisson",
    "make_gaussian",
    "make_gaussian_vectors",
    "make_heavy_tails",
    "make_mixture",
    "make_random_table",
    "make_single_index",
    "make_unrelated",
]

Pair = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Problem:
    """Pairs (x, y) that can be drawn at will, and the correlations of their principal functions.

    Attributes
    ----------
    name : str
        A short name for tables.
    n : int
        Number of training pairs.
    correlations : ndarray of shape (d,)
        The exact sqrt(lambda_i), in descending order.
    draw : callable
        ``draw(n, rng)`` gives n fresh pairs (X, Y).

    Examples
    --------
    >>> import numpy as np
    >>> problem = make_gaussian()
    >>> problem.correlations.round(4)
    array([0.7071, 0.5   , 0.3536, 0.25  ])
    >>> X, Y = problem.draw(100, np.random.default_rng(0))
    >>> X.shape, Y.shape
    ((100, 1), (100, 1))
    """

    name: str
    n: int
    correlations: np.ndarray
    draw: Callable[[int, np.random.Generator], Pair]

    @property
    def d(self) -> int:
        """Number of components."""
        return len(self.correlations)


def make_gaussian(noise: float = 1.0, n: int = 5000, d: int = 4) -> Problem:
    """Make Y = X + noise N(0, 1) with X standard normal: powers of the correlation, Hermite polynomials."""

    def draw(size: int, rng: np.random.Generator) -> Pair:
        X = rng.normal(size=(size, 1))
        return X, X + noise * rng.normal(size=(size, 1))

    return Problem(f"Gaussian, noise {noise:g}", n, _list_powers(1 / np.hypot(1, noise), d), draw)


def make_bsc(p: float = 0.5, delta: float = 0.1, bits: int = 5, n: int = 15000, d: int = 15) -> Problem:
    """Make independent bits that are 1 with probability p, each flipped with probability delta.

    A bit and its copy have correlation r = (1 - 2 delta) sqrt(p (1 - p) / (q (1 - q))), q the probability of a 1 in
    the copy; the exact values are r^k, as many times as there are sets of k bits.
    """

    def draw(size: int, rng: np.random.Generator) -> Pair:
        X = (rng.random((size, bits)) < p).astype(np.int64)
        return X, X ^ (rng.random((size, bits)) < delta)

    q = p * (1 - delta) + (1 - p) * delta
    r = (1 - 2 * delta) * np.sqrt(p * (1 - p) / (q * (1 - q)))
    return Problem(f"BSC({delta:g}), {bits} bits, p {p:g}", n, _find_largest_products([r] * bits, 1, d), draw)


def make_random_table(
    rows: int = 30, columns: int = 20, alpha: float = 0.3, n: int = 50000, d: int = 5, seed: int = 0
) -> Problem:
    """Make two columns of labels; the probabilities of their pairs are drawn once from a Dirichlet distribution."""
    joint = np.random.default_rng(seed).dirichlet(np.full(rows * columns, alpha))
    row_names, column_names = (
        np.array([f"{letter}{i:02d}" for i in range(count)]) for letter, count in (("a", rows), ("b", columns))
    )

    def draw(size: int, rng: np.random.Generator) -> Pair:
        i, j = np.divmod(rng.choice(len(joint), size, p=joint), columns)
        return row_names[i], column_names[j]

    return Problem(f"labels, {rows} x {columns} table", n, _decompose_table(joint.reshape(rows, columns), d), draw)


def make_single_index(n: int = 20000, d: int = 2, reach: float = 8.0) -> Problem:
    """Make Y = h + 0.3 N(0, 1), where h = sin(3 X1) + X2 X3 and X has ten standard normal columns.

    X acts on Y only through h, so the exact values are those of the pair (h, Y). They are computed on a grid of step
    0.02 from the density of h, that of sin(3 X1) convolved with K0(|z|) / pi, that of a product of two normals.

    The tails of h are exponential, where the noise is ever smaller against the distance to the next points: the
    spectrum has no gap at its top, and the values depend on how far the grid goes. They are 0.973 and 0.965 for
    |h| <= 5, 0.980 and 0.979 for |h| <= 8, 0.985 and 0.985 for |h| <= 14. The default of 8 leaves out 1e-4 of h.
    """

    def draw(size: int, rng: np.random.Generator) -> Pair:
        X = rng.normal(size=(size, 10))
        h = np.sin(3 * X[:, :1]) + X[:, 1:2] * X[:, 2:3]
        return X, h + 0.3 * rng.normal(size=(size, 1))

    return Problem("single index of 10 inputs", n, _compute_index_correlations(reach, d), draw)


def make_unrelated(columns: int = 10, n: int = 5000, d: int = 5) -> Problem:
    """Make independent X and Y: every correlation is 0."""

    def draw(size: int, rng: np.random.Generator) -> Pair:
        return rng.normal(size=(size, columns)), rng.normal(size=(size, columns))

    return Problem("unrelated", n, np.zeros(d), draw)


def make_gamma_poisson(shape: float = 2.0, rate: float = 1.0, n: int = 5000, d: int = 4) -> Problem:
    """Make Y Poisson with a mean X of Gamma distribution: Laguerre and Meixner polynomials."""

    def draw(size: int, rng: np.random.Generator) -> Pair:
        X = rng.gamma(shape, 1 / rate, size=(size, 1))
        return X, rng.poisson(X)

    return Problem(f"Gamma-Poisson, rate {rate:g}", n, _list_powers((1 + rate) ** -0.5, d), draw)


def make_circular(kappa: float = 2.0, n: int = 5000, d: int = 4) -> Problem:
    """Make X a uniform angle and Y the same turned by von Mises noise, from -pi to pi: sines and cosines."""

    def draw(size: int, rng: np.random.Generator) -> Pair:
        X = rng.uniform(-np.pi, np.pi, size=(size, 1))
        turned = X + rng.vonmises(0, kappa, size=(size, 1))
        return X, (turned + np.pi) % (2 * np.pi) - np.pi

    # The k-th Fourier coefficient of the noise is I_k(kappa) / I_0(kappa), once for the sine and once for the cosine.
    orders = np.arange(d) // 2 + 1
    return Problem(f"circular, kappa {kappa:g}", n, ive(orders, kappa) / ive(0, kappa), draw)


def make_mixture(n: int = 5000) -> Problem:
    """Make four round clusters in the plane, within which x and y are independent: three components."""
    centres = np.array([[-3.0, 1.0], [-1.0, -3.0], [1.0, 3.0], [3.0, -1.0]])
    weights, spread = np.array([0.4, 0.3, 0.2, 0.1]), 0.8

    def draw(size: int, rng: np.random.Generator) -> Pair:
        points = centres[rng.choice(4, size, p=weights)] + spread * rng.normal(size=(size, 2))
        return points[:, :1], points[:, 1:]

    # x and y are independent given the cluster, so the joint density on the grid is sum_k w_k p_k(x) p_k(y).
    grid = np.linspace(-8, 8, 801)
    in_x, in_y = (norm.pdf(grid[:, None], column, spread) for column in centres.T)
    return Problem("mixture of 4 clusters", n, _decompose_table(in_x * weights @ in_y.T, 3), draw)


def make_heavy_tails(noise: float = 1.0, n: int = 5000, d: int = 4) -> Problem:
    """Make a Gaussian pair seen through sinh(2 x) and exp(y), which change only the margins."""
    plain = make_gaussian(noise, n, d)

    def draw(size: int, rng: np.random.Generator) -> Pair:
        X, Y = plain.draw(size, rng)
        return np.sinh(2 * X), np.exp(Y)

    return Problem(f"heavy tails, noise {noise:g}", n, plain.correlations, draw)


def make_gaussian_vectors(
    canonical: tuple[float, ...] = (0.9, 0.6, 0.3), n: int = 5000, d: int = 4, seed: int = 0
) -> Problem:
    """Make Gaussian vectors with these canonical correlations, mixed by random matrices: products of their powers."""
    k = len(canonical)
    mix_x, mix_y = np.random.default_rng(seed).normal(size=(2, k, k))

    def draw(size: int, rng: np.random.Generator) -> Pair:
        X, noise = rng.normal(size=(2, size, k))
        Y = X * canonical + noise * np.sqrt(1 - np.square(canonical))
        return X @ mix_x, Y @ mix_y

    return Problem(f"Gaussian vectors, {k} columns", n, _find_largest_products(canonical, d, d), draw)


def _list_powers(r: float, d: int) -> np.ndarray:
    return r ** np.arange(1, d + 1)


def _find_largest_products(factors: tuple[float, ...] | list[float], highest: int, d: int) -> np.ndarray:
    """Find the d largest products of powers of the factors up to the highest, except that of all zeroth powers."""
    powers = [np.power(r, np.arange(highest + 1)) for r in factors]
    return np.sort([np.prod(chosen) for chosen in product(*powers)])[::-1][1 : d + 1]


def _decompose_table(joint: np.ndarray, d: int) -> np.ndarray:
    """Return the singular values of a joint distribution after the trivial one."""
    joint = joint / joint.sum()
    # p(x, y) / sqrt(p(x) p(y)) has the singular values 1 (the constant), sqrt(lambda_1), sqrt(lambda_2), ...
    scale = np.sqrt(np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    return np.linalg.svd(joint / scale, compute_uv=False)[1 : d + 1]


def _compute_index_correlations(reach: float, d: int, step: float = 0.02) -> np.ndarray:
    h = step * np.arange(-round(reach / step), round(reach / step) + 1)
    margin = 1.5  # five times the noise
    y = step * np.arange(-round((reach + margin) / step), round((reach + margin) / step) + 1)
    joint = compute_index_masses(len(h) // 2, step)[:, None] * norm.pdf(y, h[:, None], 0.3)
    return _decompose_table(joint, d)


def compute_index_masses(half: int, step: float) -> np.ndarray:
    """Compute the masses of h = sin(3 X1) + X2 X3 in the cells around -half * step, ..., half * step."""
    sine = np.sin(3 * norm.ppf((np.arange(400_000) + 0.5) / 400_000))
    bound = round(1 / step)
    sine_masses = np.bincount(np.rint(sine / step).astype(int) + bound, minlength=2 * bound + 1) / len(sine)
    edges = step * (np.arange(-half - bound, half + bound + 2) - 0.5)
    below = np.sign(edges) * iti0k0(np.abs(edges))[1] / np.pi  # the integral of K0, which has a pole at 0
    return np.convolve(np.diff(below), sine_masses, mode="valid")
