"""The Hermite polynomials, which are the exact functions of a Gaussian pair, and distances from them."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

import numpy as np
from numpy.polynomial.hermite_e import hermevander

__all__ = [
    "GRID_POINTS",
    "align_signs",
    "average_over_margin",
    "compute_hermite_curves",
    "measure_hermite_distance",
]

Transform = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

# In standard deviations of the margin; a probability of 1e-15 lies beyond.
GRID_POINTS = np.linspace(-8, 8, 3201)


def average_over_margin(values: np.ndarray) -> np.ndarray:
    """Return the expectation under the normal margin of values at `GRID_POINTS`, along the last axis but one."""
    density = np.exp(-(GRID_POINTS**2) / 2)
    return np.einsum("k,...ki->...i", density / density.sum(), values)


def align_signs(found: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Turn f_k and g_k, of shape (2, points, d), together so that they agree best with the exact functions.

    In units of its standard deviation each side has the same exact functions.
    """
    return found * np.where(average_over_margin(found * exact).sum(axis=0) < 0, -1, 1)


def compute_hermite_curves(x: np.ndarray, d: int) -> np.ndarray:
    """Return the normalised Hermite polynomials He_k(x) / sqrt(k!), k = 1, ..., d, as columns.

    Parameters
    ----------
    x : ndarray of shape (n,)
        The polynomials are evaluated at these multiples of the standard deviation.
    d : int
        This is the highest degree.

    Returns
    -------
    ndarray of shape (n, d)

    Examples
    --------
    >>> import numpy as np
    >>> compute_hermite_curves(np.array([0.0, 1.0, 2.0]), 2).round(3)
    array([[ 0.   , -0.707],
           [ 1.   ,  0.   ],
           [ 2.   ,  2.121]])
    """
    return hermevander(x, d)[:, 1:] / np.sqrt([float(factorial(k)) for k in range(1, d + 1)])


def measure_hermite_distance(transform: Transform, d: int = 4, noise: float = 1.0) -> np.ndarray:
    """Measure the L2 distances of learned functions from the exact ones of Y = X + noise N(0, 1), under the margins.

    Parameters
    ----------
    transform : callable
        ``transform(X, Y)`` must give (f(X), g(Y)), of shape (n, d) each.
    d : int
        The first d components are compared.
    noise : float
        The noise has this standard deviation.

    Returns
    -------
    ndarray of shape (2, d)
        Distances of f_1, ..., f_d and of g_1, ..., g_d. Each pair (f_k, g_k) has the sign that fits better.

    Examples
    --------
    >>> scale = 2**0.5
    >>> measure_hermite_distance(lambda X, Y: (-X, -Y / scale), d=1).round(6)
    array([[0.],
           [0.]])
    """
    x = GRID_POINTS[:, None]
    exact = compute_hermite_curves(GRID_POINTS, d)
    found = np.array([np.asarray(values)[:, :d] for values in transform(x, np.hypot(1, noise) * x)])
    return np.sqrt(average_over_margin((align_signs(found, exact) - exact) ** 2))
