"""Whitening of features, and the signs of components."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.labels import make_sort_key
from correspondence._util.text import list_names
from correspondence._util.user_warnings import NearlyCollinear

__all__ = ["FLOAT64_EPS", "Rounding", "Spectrum", "choose_signs", "compute_whitening", "find_scale", "warn_of_lost"]

# Rounding changes the eigenvalues of a standardised covariance by about eps sqrt(p) / 2 times the largest, whatever n
# (measured: exact dependences of 3 to 300 features, 100 to 100,000 rows). In units of eps times the number of features:
MAX_NULL_EIGENVALUE = 3  # a smaller eigenvalue may be 0
MIN_SURE_EIGENVALUE = 50  # a larger eigenvalue is right to one per cent
MAX_ROUNDING_ULPS = 4.0  # a direction within this many units in the last place of the features may be rounding
FLOAT64_EPS = float(np.finfo(float).eps)
MIN_NAMED_WEIGHT_SHARE = 0.1  # share of the largest weight from which on a warning names a column


@dataclass(frozen=True)
class Rounding:
    """Relative rounding of sums over rows, and of the features themselves."""

    sums: float = FLOAT64_EPS
    features: float = FLOAT64_EPS


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Principal directions of standardised features.

    Attributes
    ----------
    mean, scale : ndarray of shape (p,)
        Means and standard deviations of the features; the latter are 0 for constants.
    values : ndarray of shape (r,)
        Variances of the directions, ascending.
    vectors : ndarray of shape (p, r)
        Directions, in units of the standard deviations; 0 for constants.
    """

    mean: np.ndarray
    scale: np.ndarray
    values: np.ndarray
    vectors: np.ndarray

    @classmethod
    def from_covariance(cls, cov: np.ndarray, mean: np.ndarray) -> Spectrum:
        """Find the spectrum of features with this covariance and mean."""
        scale = find_scale(cov, mean)
        varies = np.flatnonzero(scale)
        values, directions = np.linalg.eigh(cov[np.ix_(varies, varies)] / np.outer(scale[varies], scale[varies]))
        vectors = np.zeros((len(cov), len(varies)))
        vectors[varies] = directions
        return cls(mean, scale, values, vectors)

    @property
    def unit(self) -> np.ndarray:
        """Standard deviations as a column to divide by, infinite for constants."""
        return np.where(self.scale > 0, self.scale, np.inf)[:, None]

    def make_whitening(self, keep: np.ndarray) -> np.ndarray:
        """Make the matrix that turns centred features into the kept directions, with variance 1."""
        return self.vectors[:, keep] / np.sqrt(self.values[keep]) / self.unit

    def select_directions(self, tol: float | None, rounding: Rounding) -> np.ndarray:
        """Say which directions to keep: those above `tol`, by default those that are neither unsure nor rounding."""
        largest = self.values.max(initial=0)
        if tol is not None:
            return self.values > tol * largest
        is_sure = self.values > MIN_SURE_EIGENVALUE * rounding.sums * len(self.values) * largest
        return is_sure & ~self.may_be_rounding(rounding)

    def may_be_rounding(self, rounding: Rounding) -> np.ndarray:
        """Say which directions vary no more than rounding of the sums, or of the features themselves, explains."""
        # A feature far from 0 has few digits for what varies: x and 1e9 - x add up to noise of 1e-7. But a feature
        # that varies at all, as whole numbers around 1e15 do, is not just its own rounding: hence at most 0.1.
        off = np.minimum(MAX_ROUNDING_ULPS * rounding.features * np.hypot(self.mean, self.scale) / self.unit[:, 0], 0.1)
        of_data = np.sum((self.vectors * off[:, None]) ** 2, axis=0)
        of_sums = MAX_NULL_EIGENVALUE * rounding.sums * len(self.values) * self.values.max(initial=0)
        return self.values <= np.maximum(of_data, of_sums)


def compute_whitening(
    cov: np.ndarray,
    mean: np.ndarray,
    tol: float | None = None,
    span: np.ndarray | None = None,
    rounding: Rounding = Rounding(),
) -> np.ndarray:
    """Compute the matrix of shape (p, rank) that makes centred features uncorrelated with variance 1."""
    if span is not None:
        return span @ compute_whitening(span.T @ cov @ span, mean @ span, tol, rounding=rounding)
    spectrum = Spectrum.from_covariance(cov, mean)
    return spectrum.make_whitening(spectrum.select_directions(tol, rounding))


def warn_of_lost(directions: np.ndarray, names: Sequence[str], side: str) -> None:
    """Warn of directions that are dropped, naming the columns that take part in them.

    Parameters
    ----------
    directions : ndarray of shape (p, k)
        Each column holds the weights of the standardised columns of the data in one direction.
    names : sequence of str
        The p columns have these names; all indicators of a label have the name of its column.
    side : str
        The warning says that the columns are part of this.
    """
    if not directions.shape[1]:
        return
    weights = np.abs(directions)
    involved = (weights > MIN_NAMED_WEIGHT_SHARE * weights.max(axis=0)).any(axis=1)
    found = list(dict.fromkeys(name for name, is_part in zip(names, involved, strict=True) if is_part))
    warnings.warn(
        f"Nearly collinear: column(s) {list_names(found, 5)} of {side}. "
        f"{directions.shape[1]} combination(s) of them vary too little "
        "for the digits at hand and are dropped: give what distinguishes them, such as a difference, as a column.",
        NearlyCollinear,
        stacklevel=find_user_stacklevel(),
    )


def find_scale(cov: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Find the standard deviations of features, 0 for constants."""
    scale = np.sqrt(np.maximum(np.diag(cov), 0))
    return np.where(scale > 1e-14 * np.abs(mean), scale, 0)  # what rounding leaves of a constant


TIE_TOLERANCE = 1e-6


def choose_signs(loadings: np.ndarray, labels: np.ndarray | None = None) -> np.ndarray:
    """Choose the sign of each component that makes its largest loading, in absolute value, positive.

    Loadings that differ by less than one in a million are tied; the first of them decides, in the order of the
    labels if there are any (so that shuffled columns do not matter), otherwise in the order given.

    Parameters
    ----------
    loadings : ndarray of shape (p, d)
        These say how strongly each label or feature takes part in each component.
    labels : ndarray of shape (p,), optional
        The labels, if any, decide ties.

    Returns
    -------
    ndarray of shape (d,)
        Signs, each 1 or -1.

    Examples
    --------
    >>> choose_signs(np.array([[0.1, -3.0], [-0.5, 1.0]])).tolist()
    [-1.0, -1.0]
    """
    size = np.abs(loadings)
    tied = size >= (1 - TIE_TOLERANCE) * size.max(axis=0, initial=0)
    return np.array(
        [_choose_sign(loadings[:, i], np.flatnonzero(tied[:, i]), labels) for i in range(loadings.shape[1])]
    )


def _choose_sign(loading: np.ndarray, candidates: np.ndarray, labels: Any) -> float:
    if len(candidates) == 0:
        return 1.0
    first = candidates[0] if labels is None else min(candidates.tolist(), key=lambda i: make_sort_key(labels[i]))
    return -1.0 if loading[first] < 0 else 1.0
