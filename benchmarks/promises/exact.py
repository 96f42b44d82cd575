"""Problems with exact correlations, beside those of `correspondence.studies.problems`; ten or fewer of each are known.

Each comes with the number d of components by which methods are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import poch
from scipy.stats import norm, t

from correspondence.studies import problems
from correspondence.studies.problems import Problem

MOST = 10  # correlations that are known of each problem


@dataclass(frozen=True, eq=False)
class Case:
    """Problem, the number of components compared, and the number of data sets in a full run."""

    problem: Problem
    d: int
    seeds: int = 8

    def draw(self, n, rng):
        return self.problem.draw(n, rng)


def decompose_joint(joint: np.ndarray, d: int = MOST) -> np.ndarray:
    """Return the singular values after the first of a joint density on a grid, or of a table of probabilities."""
    joint = joint / joint.sum()
    scale = np.sqrt(np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    kept = scale > 0
    ratio = np.divide(joint, scale, out=np.zeros_like(joint), where=kept)
    return np.linalg.svd(ratio, compute_uv=False)[1 : d + 1]


def make_gaussian(rho: float, n: int) -> Problem:
    """X and Y have the correlation rho: its powers."""
    return problems.make_gaussian(np.sqrt(1 / rho**2 - 1), n, MOST)


def make_beta_binomial(a: float = 2.0, b: float = 3.0, trials: int = 20, n: int = 2000) -> Problem:
    """Y is the number of successes of several trials with probability X: Jacobi and Hahn polynomials."""

    def draw(size, rng):
        X = rng.beta(a, b, size=(size, 1))
        return X, rng.binomial(trials, X)

    i = np.arange(1, MOST + 1)
    falling = poch(trials - i + 1, i)
    return Problem("Beta-binomial", n, np.sqrt(falling / poch(a + b + trials, i)), draw)


def make_wrapped_normal(sigma: float = 0.8, n: int = 1000) -> Problem:
    """X is a uniform angle and Y is X turned by normal noise: sines and cosines of each order."""

    def draw(size, rng):
        X = rng.uniform(-np.pi, np.pi, size=(size, 1))
        turned = X + sigma * rng.normal(size=(size, 1))
        return X, (turned + np.pi) % (2 * np.pi) - np.pi

    orders = np.arange(MOST) // 2 + 1
    return Problem("wrapped normal", n, np.exp(-(sigma**2) * orders**2 / 2), draw)


def make_t2_copula(canonical=(0.8, 0.5), n: int = 1000) -> Problem:
    """Two pairs of columns with a Gaussian copula and t margins of two degrees of freedom."""
    r = np.array(canonical)

    def draw(size, rng):
        X, noise = rng.normal(size=(2, size, len(r)))
        return tuple(t.ppf(norm.cdf(z), 2) for z in (X, X * r + noise * np.sqrt(1 - r**2)))

    return Problem("copula, t2 margins", n, multiply_powers(canonical), draw)


def make_checkerboard(cells: int = 4, share: float = 0.8, n: int = 1000) -> Problem:
    """X and Y are uniform; a share of the pairs lies on squares of one colour. One component: odd or even square."""

    def draw(size, rng):
        x, y = rng.integers(cells, size=(2, size))
        moved = (rng.random(size) < share) & ((x + y) % 2 == 1)
        y = np.where(moved, (y + 1) % cells, y)
        return tuple((values + rng.random(size)) / cells for values in (x, y))

    return Problem(f"checkerboard {cells} x {cells}", n, np.pad([share], (0, MOST - 1)), draw)


def make_spiral(noise: float = 0.8, n: int = 2000) -> Problem:
    """Points of a spiral with normal noise: x and y are independent given the place on the spiral."""

    def draw(size, rng):
        place = rng.uniform(np.pi, 4 * np.pi, size)
        return tuple(place * turn(place) + noise * rng.normal(size=size) for turn in (np.cos, np.sin))

    return Problem("noisy spiral", n, _find_spiral_correlations(noise), draw)


def _find_spiral_correlations(noise: float) -> np.ndarray:
    place = np.linspace(np.pi, 4 * np.pi, 4001)
    grid = np.linspace(-17, 17, 681)
    in_x, in_y = (norm.pdf(grid[:, None], place * turn(place), noise) for turn in (np.cos, np.sin))
    return decompose_joint(in_x @ in_y.T)


def make_wide_gaussian(canonical=(0.8, 0.5, 0.3), columns: int = 20, n: int = 1000) -> Problem:
    """Gaussian X and Y, column by column correlated; the other columns are noise."""
    r = np.pad(canonical, (0, columns - len(canonical)))

    def draw(size, rng):
        X, noise = rng.normal(size=(2, size, columns))
        return X, X * r + noise * np.sqrt(1 - r**2)

    return Problem(f"Gaussian {columns}-D", n, multiply_powers(canonical), draw)


def make_xor(delta: float = 0.1, n: int = 1000) -> Problem:
    """Y says whether two columns have the same sign, wrongly with probability delta: one component."""

    def draw(size, rng):
        X = rng.normal(size=(size, 2))
        same = (X.prod(axis=1) > 0) ^ (rng.random(size) < delta)
        return X, np.where(same, "same", "different")

    return Problem("XOR of two columns", n, np.array([1 - 2 * delta]), draw)


def make_zipf_labels(rows: int = 100, columns: int = 30, share: float = 0.25, n: int = 2000, seed: int = 0) -> Problem:
    """Labels with probabilities 1, 1/2, 1/3, ...; a share of the pairs belongs to one of four classes of labels."""
    rng = np.random.default_rng(seed)
    p, q = (1 / np.arange(1, count + 1) / np.sum(1 / np.arange(1, count + 1)) for count in (rows, columns))
    row_class, column_class = rng.integers(4, size=rows), rng.integers(4, size=columns)
    joint = (1 - share) * np.outer(p, q)
    for c in range(4):
        inside = np.outer(p * (row_class == c), q * (column_class == c))
        joint += share / 4 * inside / inside.sum()
    names = [np.array([f"{letter}{i:03d}" for i in range(count)]) for letter, count in (("a", rows), ("b", columns))]

    def draw(size, rng):
        i, j = np.divmod(rng.choice(joint.size, size, p=joint.ravel()), columns)
        return names[0][i], names[1][j]

    return Problem(f"Zipf labels {rows} x {columns}", n, decompose_joint(joint), draw)


def multiply_powers(canonical) -> np.ndarray:
    """Find the largest products of powers of canonical correlations, except that of all zeroth powers."""
    products = np.ones(1)
    for r in canonical:
        products = np.outer(products, r ** np.arange(MOST + 1)).ravel()
    return np.sort(products)[::-1][1 : MOST + 1]


MAKERS: dict[str, Callable[[], Case]] = {
    "Gaussian .3, n 500": lambda: Case(make_gaussian(0.3, 500), 2),
    "Gaussian .9, n 500": lambda: Case(make_gaussian(0.9, 500), 3),
    "Gaussian .3, n 5000": lambda: Case(make_gaussian(0.3, 5000), 2),
    "Gaussian .9, n 5000": lambda: Case(make_gaussian(0.9, 5000), 3),
    "Gamma-Poisson, n 2000": lambda: Case(problems.make_gamma_poisson(n=2000, d=MOST), 3),
    "Beta-binomial, n 2000": lambda: Case(make_beta_binomial(), 3),
    "wrapped normal, n 1000": lambda: Case(make_wrapped_normal(), 4),
    "copula, t2 margins, n 1000": lambda: Case(make_t2_copula(), 3),
    "checkerboard 4 x 4, n 1000": lambda: Case(make_checkerboard(), 1),
    "noisy spiral, n 2000": lambda: Case(make_spiral(), 3),
    "Gaussian 20-D, n 1000": lambda: Case(make_wide_gaussian(), 3, seeds=4),
    "XOR of two columns, n 1000": lambda: Case(make_xor(), 1),
    "Zipf labels 100 x 30, n 2000": lambda: Case(make_zipf_labels(), 3),
}


@cache
def find_case(name: str) -> Case:
    return MAKERS[name]()
