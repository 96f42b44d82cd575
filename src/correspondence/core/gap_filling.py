"""Gaps of rows filled in from what else the rows hold, by the axes of many columns.

The scores z of a row are linear functions of its features, ``z = (x - mean) @ weights``, and what d axes say about the
features is ``mean + z @ loadings.T``. With gaps in x, both hold at once: the features in the gaps are those that the
scores predict, and the scores are those of the features so completed. So z solves d linear equations,

    (I - B) z = sum of weights' (x - mean) over what is given,   B = sum over the gaps of weights' loadings.

The loadings are shrunk by (lambda - noise) / lambda, as in regularised iterative analysis (Josse and Husson), where the
noise is the mean of the eigenvalues left out. That iteration ends where these equations hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence.core.column_blocks import BlockAxes, ColumnBlock

__all__ = ["GapFiller", "choose_axes", "make_gap_filler", "measure_axes"]

MAX_AXES = 12  # numbers of axes that are tried
MAX_WORSE_AXES = 2  # numbers in a row that do not improve on the best one, before the search ends
MAX_SHRINKAGE = 1 - 1e-8  # exact axes must not make the equations of a nearly empty row singular
NEGLIGIBLE_ERROR = 1e-7  # difference of squared relative errors that the tolerance of the steps makes
SYSTEMS_PER_BATCH = 1 << 20  # cells of the matrices I - B that are solved at a time


@dataclass(frozen=True, eq=False)
class GapFiller:
    """What the axes say about missing features.

    Attributes
    ----------
    mean : ndarray of shape (p,)
        The means of the features.
    weights : ndarray of shape (p, d)
        ``(features - mean) @ weights`` are the scores; without axes the means fill the gaps.
    loadings : ndarray of shape (p, d)
        The features that the scores predict are ``mean + scores @ loadings.T``.
    """

    mean: np.ndarray
    weights: np.ndarray
    loadings: np.ndarray

    @property
    def n_axes(self) -> int:
        """The number of axes."""
        return self.weights.shape[1]

    def fill_gaps(self, features: np.ndarray, gaps: np.ndarray, blocks: Sequence[ColumnBlock]) -> np.ndarray:
        """Replace the features of missing values.

        Parameters
        ----------
        features : ndarray of shape (n, p)
            The features of rows, with anything in the gaps; those of the gaps are overwritten.
        gaps : ndarray of bool of shape (n, k)
            Which columns are missing in which rows.
        blocks : sequence of ColumnBlock
            The places of the columns among the features.

        Returns
        -------
        ndarray of shape (n, p)
            The same array. Indicators in a gap are at least 0 and sum to 1.

        Examples
        --------
        Two numbers that are nearly the same: one stands for the other.

        >>> filler = GapFiller(np.array([5.0, 5.0]), np.full((2, 1), 0.5), np.full((2, 1), 0.9))
        >>> blocks = [ColumnBlock(name, "number", slice(j, j + 1)) for j, name in enumerate("ab")]
        >>> filler.fill_gaps(np.array([[7.0, np.nan]]), np.array([[False, True]]), blocks).round(2)
        array([[7.  , 6.64]])
        """
        rows = np.flatnonzero(gaps.any(axis=1))
        if not len(rows):
            return features
        own = gaps[rows]
        is_gap = np.repeat(own, [block.width for block in blocks], axis=1)
        centred = np.where(is_gap, 0, features[rows] - self.mean)
        predicted = self.mean + self._solve_scores(centred @ self.weights, own, blocks) @ self.loadings.T
        for block in blocks:
            if block.kind == "labels":
                # They sum to 1 by themselves, but may be below 0.
                share = np.maximum(predicted[:, block.features], 0)
                predicted[:, block.features] = share / share.sum(axis=1, keepdims=True)
        features[rows] = np.where(is_gap, predicted, features[rows])
        return features

    def _solve_scores(self, given: np.ndarray, gaps: np.ndarray, blocks: Sequence[ColumnBlock]) -> np.ndarray:
        """Solve (I - B) z = given for each row, where B depends on its gaps."""
        d = self.n_axes
        if d == 0:
            return given
        parts = [self.weights[block.features].T @ self.loadings[block.features] for block in blocks]
        products = np.array(parts).reshape(len(blocks), d * d)
        scores, step = np.empty_like(given), max(1, SYSTEMS_PER_BATCH // (d * d))
        for start in range(0, len(given), step):
            rows = slice(start, start + step)
            systems = np.eye(d) - (gaps[rows] @ products).reshape(-1, d, d)
            scores[rows] = np.linalg.solve(systems, given[rows, :, None])[:, :, 0]
        return scores

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays to be saved."""
        return {f"filler.{name}": getattr(self, name) for name in ("mean", "weights", "loadings")}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> GapFiller | None:
        """Make the filler of arrays that were saved; None if there are none."""
        if "filler.mean" not in arrays:
            return None
        return cls(*(arrays[f"filler.{name}"] for name in ("mean", "weights", "loadings")))


def make_gap_filler(axes: BlockAxes, n_axes: int) -> GapFiller:
    """Make a filler of the leading axes, shrunk by the noise that the other axes show.

    Parameters
    ----------
    axes : BlockAxes
        All axes of the completed features.
    n_axes : int
        The number of axes that fill the gaps.

    Returns
    -------
    GapFiller
        It has fewer axes if there are not as many.
    """
    leading = axes.truncate(n_axes)
    rest = axes.eigenvalues[n_axes:]
    noise = float(rest.mean()) if len(rest) else 0.0
    shrinkage = np.minimum((leading.eigenvalues - noise) / leading.eigenvalues, MAX_SHRINKAGE)
    return GapFiller(axes.mean, leading.weights, leading.covariance * shrinkage)


def measure_axes(parts: Sequence[Callable[[int], float]], limit: int) -> np.ndarray:
    """Measure how well 0, 1, ... axes fill in values that are masked, until more axes only make it worse.

    Parameters
    ----------
    parts : sequence of callable
        Each fills in one set of masked values by a number of axes, one more in each call, and returns the error.
    limit : int
        The number of axes that there are at most.

    Returns
    -------
    ndarray of shape (m, d + 1)
        One row for each part.

    Examples
    --------
    >>> measure_axes([lambda d: (d - 1.0) ** 2, lambda d: abs(d - 2.0)], 9)
    array([[1., 0., 1., 4.],
           [2., 1., 0., 1.]])
    """
    errors = [[fill(0) for fill in parts]]
    for n_axes in range(1, min(limit, MAX_AXES) + 1):
        errors.append([fill(n_axes) for fill in parts])
        if n_axes - int(np.mean(errors, axis=1).argmin()) >= MAX_WORSE_AXES:
            break
    return np.transpose(errors)


def choose_axes(errors: Any) -> int:
    """Choose the number of axes by the errors of masked values.

    Parameters
    ----------
    errors : array-like of shape (m, d + 1)
        The squared relative errors of m sets of masked values that were filled in by 0, 1, ..., d axes.

    Returns
    -------
    int
        The smallest number whose mean error is within one standard error (of the difference) of the least.

    Examples
    --------
    >>> choose_axes([[1.0, 0.7, 0.69, 0.8], [1.0, 0.8, 0.81, 0.9], [1.0, 0.9, 0.89, 0.9]])
    1
    """
    values = np.asarray(errors, dtype=np.float64)
    excess = values - values[:, [int(values.mean(axis=0).argmin())]]
    spread = excess.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.zeros(values.shape[1])
    return int(np.argmax(excess.mean(axis=0) <= np.maximum(spread, NEGLIGIBLE_ERROR)))
