"""How close functions learned from a Gaussian pair come to the Hermite polynomials, the exact ones."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

import numpy as np
from numpy.polynomial.hermite_e import hermevander
from scipy.stats import norm

__all__ = ["hermite_curves", "hermite_distance"]

Transform = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def hermite_curves(x: np.ndarray, d: int) -> np.ndarray:
    """Normalised Hermite polynomials He_k(x) / sqrt(k!), k = 1, ..., d, as columns.

    Parameters
    ----------
    x : ndarray of shape (n,)
        In units of the standard deviation.
    d : int
        Highest degree.

    Returns
    -------
    ndarray of shape (n, d)

    Examples
    --------
    >>> import numpy as np
    >>> hermite_curves(np.array([0.0, 1.0, 2.0]), 2).round(3)
    array([[ 0.   , -0.707],
           [ 1.   ,  0.   ],
           [ 2.   ,  2.121]])
    """
    return hermevander(x, d)[:, 1:] / np.sqrt([float(factorial(k)) for k in range(1, d + 1)])


def hermite_distance(transform: Transform, d: int = 4, noise: float = 1.0) -> np.ndarray:
    """L2 distances of learned functions to the exact ones of Y = X + noise N(0, 1), under the true margins.

    Parameters
    ----------
    transform : callable
        ``transform(X, Y)`` gives (f(X), g(Y)), of shape (n, d) each.
    d : int
        Number of components.
    noise : float
        Standard deviation of the noise.

    Returns
    -------
    ndarray of shape (2, d)
        Of f_1, ..., f_d and of g_1, ..., g_d. Each pair (f_k, g_k) has the sign that fits better.

    Examples
    --------
    >>> scale = 2**0.5
    >>> hermite_distance(lambda X, Y: (-X, -Y / scale), d=1).round(6)
    array([[0.],
           [0.]])
    """
    x = np.linspace(-8, 8, 4001)
    weights = norm.pdf(x) / norm.pdf(x).sum()
    exact = hermite_curves(x, d)
    found = transform(x[:, None], np.hypot(1, noise) * x[:, None])
    squares = np.array(
        [[weights @ (exact - sign * np.asarray(values)[:, :d]) ** 2 for values in found] for sign in (1, -1)]
    )
    better = squares.sum(axis=1).argmin(axis=0)
    return np.sqrt(np.take_along_axis(squares, better[None, None], axis=0)[0])
