"""Whitening: principal directions of features, those that are rounding left out, and a warning of what is lost."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.text import list_names
from correspondence._util.user_warnings import NearlyCollinear

__all__ = ["FLOAT64_EPS", "Rounding", "Spectrum", "compute_whitening", "find_scale", "warn_of_lost"]

# Rounding changes the eigenvalues of a standardised covariance by about eps sqrt(p) / 2 times the largest, whatever n
# (measured: exact dependences of 3 to 300 features, 100 to 100,000 rows). In units of eps times the number of features:
MAX_NULL_EIGENVALUE = 3  # an eigenvalue up to here may be 0
MIN_SURE_EIGENVALUE = 50  # an eigenvalue from here on is right to one per cent
MAX_ROUNDING_ULPS = 4.0  # units in the last place of the features, up to which a direction may be made of rounding
FLOAT64_EPS = float(np.finfo(float).eps)
MIN_NAMED_WEIGHT_SHARE = 0.1  # of the largest weight, from which on a column is named as a part of a direction


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
        Of the features; the scale is 0 for constants.
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
        """Spectrum of features with a covariance and a mean."""
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
        """Centred features times this are uncorrelated with variance 1; only some of the directions are kept."""
        return self.vectors[:, keep] / np.sqrt(self.values[keep]) / self.unit

    def select_directions(self, tol: float | None, rounding: Rounding) -> np.ndarray:
        """Which directions are kept: those above `tol`, by default those that are neither unsure nor rounding."""
        largest = self.values.max(initial=0)
        if tol is not None:
            return self.values > tol * largest
        return (self.values > MIN_SURE_EIGENVALUE * rounding.sums * len(self.values) * largest) & ~self.may_be_rounding(
            rounding
        )

    def may_be_rounding(self, rounding: Rounding) -> np.ndarray:
        """Which directions vary no more than rounding of the sums, or of the features themselves, explains."""
        # A feature far from 0 has few digits for what varies: x and 1e9 - x add up to noise of 1e-7. But one that
        # varies at all, as whole numbers around 1e15 do, is no rounding for itself.
        off = np.minimum(MAX_ROUNDING_ULPS * rounding.features * np.hypot(self.mean, self.scale) / self.unit[:, 0], 0.1)
        of_data = np.sum((self.vectors * off[:, None]) ** 2, axis=0)
        return self.values <= np.maximum(
            of_data, MAX_NULL_EIGENVALUE * rounding.sums * len(self.values) * self.values.max(initial=0)
        )


def compute_whitening(
    cov: np.ndarray,
    mean: np.ndarray,
    tol: float | None = None,
    span: np.ndarray | None = None,
    rounding: Rounding = Rounding(),
) -> np.ndarray:
    """Matrix of shape (p, rank): centred features times this are uncorrelated with variance 1."""
    if span is not None:
        return span @ compute_whitening(span.T @ cov @ span, mean @ span, tol, rounding=rounding)
    spectrum = Spectrum.from_covariance(cov, mean)
    return spectrum.make_whitening(spectrum.select_directions(tol, rounding))


def warn_of_lost(directions: np.ndarray, names: Sequence[str], side: str) -> None:
    """Warn of directions that are dropped, by the names of the columns that take part in them.

    Parameters
    ----------
    directions : ndarray of shape (p, k)
        Weights of the standardised columns, one direction in each column.
    names : sequence of str
        Of the p columns; the indicators of a label have the name of its column.
    side : str
        What the columns are of.
    """
    if not directions.shape[1]:
        return
    weights = np.abs(directions)
    involved = (weights > MIN_NAMED_WEIGHT_SHARE * weights.max(axis=0)).any(axis=1)
    found = list(dict.fromkeys(name for name, is_part in zip(names, involved, strict=True) if is_part))
    warnings.warn(
        f"Nearly collinear: column(s) {list_names(found, 5)} of {side}. {directions.shape[1]} combination(s) of them vary too little "
        "for the digits at hand and are dropped: give what tells them apart, such as a difference, as a column.",
        NearlyCollinear,
        stacklevel=find_user_stacklevel(),
    )


def find_scale(cov: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Standard deviations of features, 0 for constants."""
    scale = np.sqrt(np.maximum(np.diag(cov), 0))
    return np.where(scale > 1e-14 * np.abs(mean), scale, 0)  # what rounding leaves of a constant
