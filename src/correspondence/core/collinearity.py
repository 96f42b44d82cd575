"""Nearly collinear columns: what distinguishes them, if it is more than rounding, at full accuracy.

Moments square the spread of a direction, so that what varies by 1e-8 of the columns' own spread is lost in the rounding
of their covariance. If some directions are so small, the rows are read again, rotated to the principal directions and
divided by their spread: their moments then know the small ones as well as the others. A few such turns give what QR of
the rows gives (shifted Cholesky QR), on pairs in memory and elsewhere, a batch at a time.

A direction no larger than the rounding of the data is an exact dependence, such as a column that repeats another, and
is dropped silently. One that is little larger may be either: it is dropped with a warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular

from correspondence._util.arguments import take_rows
from correspondence.core.feature_maps import iterate_blocks
from correspondence.core.moments import Moments
from correspondence.core.whitening import Spectrum, warn_of_lost
from correspondence.data.column_reading import columns_of
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.columns import Columns
from correspondence.data.encoders.images import Images
from correspondence.data.encoders.single_column import Category, Linear, Number
from correspondence.data.encoders.text import Text
from correspondence.data.pairs.pairs import Memory, Pairs, Parts

__all__ = ["Basis", "Described", "Resolved", "describe_columns", "resolve_collinearity"]

FLOAT64_EPS, FLOAT32_EPS = float(np.finfo(float).eps), float(np.finfo(np.float32).eps)
MAX_ROWS_INSPECTED = 4096  # rows that show whether numbers were float32
DOUBTFUL_VARIANCE_RATIO = 1e-6  # below this share of the largest variance, moments have fewer than nine digits
CONSTANT_DIRECTION_TOLERANCE = 1e-6  # by which a direction of the moments may miss one that is constant by construction
MIN_EXACT_VARIANCE = 1e-2  # smallest variance of a direction whose moments are exact enough
MAX_FURTHER_TURNS = 5  # turns after the first; each turns a spread of 1e-7 into 1
KEPT_LIMIT_FACTOR = 4.0  # a direction is kept if it exceeds what may be rounding by this factor
MIN_SMALL_DIRECTION_WEIGHT = 1e3  # a direction of variance 1 with such weights of standardised columns is small


@dataclass(frozen=True, eq=False)
class Described:
    """Encoded columns of one side.

    Attributes
    ----------
    side : str
        "X" or "Y".
    names : list of str
        Names of the columns, for warnings.
    rounding : ndarray of shape (p,)
        Errors of the values by rounding, in units of the encoded columns.
    constant : ndarray of shape (p, m)
        Combinations that are constant by construction, as the sum of all indicators of a label is.
    are_words : bool
        Whether the columns are the words of a bag.
    """

    side: str
    names: list[str]
    rounding: np.ndarray
    constant: np.ndarray
    are_words: bool = False


@dataclass(frozen=True, eq=False)
class Basis:
    """Combinations of columns: (columns - centre) @ matrix, or the columns themselves if there is no matrix."""

    centre: np.ndarray
    matrix: np.ndarray | None = None

    @classmethod
    def make_identity(cls, width: int) -> Basis:
        """Take the columns themselves."""
        return cls(np.zeros(width))

    @property
    def width(self) -> int:
        """Number of combinations."""
        return len(self.centre) if self.matrix is None else self.matrix.shape[1]

    def __call__(self, columns: Any) -> np.ndarray:
        """Evaluate the combinations, of shape (n, width); sparse columns need a matrix."""
        if sp.issparse(columns):
            return columns @ self.matrix - self.centre @ self.matrix
        return columns if self.matrix is None else (columns - self.centre) @ self.matrix

    def on_columns(self, mean: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Turn the mean and weights of the combinations in some functions into those of the columns."""
        if self.matrix is None:
            return mean, weights
        return self.centre + mean @ self.inverse, self.matrix @ weights

    def with_combinations(self, combinations: np.ndarray) -> Basis:
        """Add other combinations of the columns."""
        return Basis(self.centre, np.hstack([self.columns, combinations]))

    @cached_property
    def inverse(self) -> np.ndarray:
        """Matrix from the combinations to the centred columns, of shape (width, p)."""
        return np.eye(self.width) if self.matrix is None else np.linalg.pinv(self.matrix)

    @property
    def columns(self) -> np.ndarray:
        """Weights of the columns, of shape (p, width)."""
        return np.eye(self.width) if self.matrix is None else self.matrix


@dataclass(frozen=True, eq=False)
class Resolved:
    """Combinations of columns whose moments are exact.

    Attributes
    ----------
    bases : pair of Basis
        Combinations of the two sides.
    moments : Moments
        Moments of the combinations.
    span : pair of ndarray, or None
        The part of the combinations that is neither an exact dependence nor lost; None for all.
    small : pair of ndarray of shape (p, k), or an empty tuple
        Combinations of the columns of each side, with variance 1, that are small against the columns themselves.
    """

    bases: tuple[Basis, Basis]
    moments: Moments
    span: tuple[np.ndarray, np.ndarray] | None
    small: tuple[np.ndarray, ...] = ()


# --- what is known of the columns


def describe_columns(side: str, encoder: Encoder, pairs: Parts) -> Described:
    """Describe what is known of the encoded columns of X or Y before they are read.

    Parameters
    ----------
    side : str
        The side is "X" or "Y".
    encoder : Encoder
        It encodes that side.
    pairs : Parts
        The data before they are encoded show how exact the numbers are.
    """
    if not isinstance(encoder, Columns):
        width = int(np.prod(encoder.shape)) if isinstance(encoder, Images) else int(encoder.width)  # type: ignore[attr-defined]
        off = FLOAT32_EPS if isinstance(encoder, Images) else FLOAT64_EPS
        names, are_words = [repr(j) for j in range(width)], isinstance(encoder, Text)
        return Described(side, names, np.full(width, off), np.empty((width, 0)), are_words)
    widths = [column.width for column in encoder.columns.values()]
    names = np.repeat(np.array([repr(key) for key in encoder.columns], dtype=object), widths).tolist()
    digits = dict(zip(encoder.names, find_precisions(side, pairs), strict=True))
    rounding = [_estimate_rounding(column, digits[key]) for key, column in encoder.columns.items()]
    last = np.cumsum(widths)
    constant = np.zeros((int(last[-1]), len(widths)))
    for k, (end, width) in enumerate(zip(last, widths, strict=True)):
        constant[end - width : end, k] = 1
    of_labels = [isinstance(column, Category) for column in encoder.columns.values()]
    return Described(side, names, np.repeat(rounding, widths), constant[:, of_labels])


def _estimate_rounding(column: Any, digits: float) -> float:
    if isinstance(column, Linear | Number):  # the values themselves may be far from 0
        return max(digits * float(np.hypot(column.center / column.scale, 1)), FLOAT64_EPS)
    return FLOAT64_EPS if isinstance(column, Category) else digits


def find_precisions(side: str, pairs: Parts) -> list[float]:
    """Find the relative rounding of the numbers of each column, before they were turned into float64."""
    if isinstance(pairs, Pairs):
        columns, schema = (pairs.x if side == "X" else pairs.y), pairs.frame.collect_schema()
        types = [str(schema[name]) for name in ([columns] if isinstance(columns, str) else columns)]
        return [FLOAT32_EPS if "Float32" in name else FLOAT64_EPS for name in types]
    assert isinstance(pairs, Memory)
    some = take_rows(pairs.x if side == "X" else pairs.y, np.arange(min(MAX_ROWS_INSPECTED, pairs.layout.n)))
    return [FLOAT32_EPS if was_float32(values) else FLOAT64_EPS for values in columns_of(some, side).values()]


def was_float32(values: np.ndarray) -> bool:
    """Say whether numbers were float32, whatever they are now; whole numbers are exact, missing ones say nothing."""
    if values.dtype == np.float64:
        values = values[~np.isnan(values)]
    if values.dtype != np.float64 or np.abs(values).max(initial=0) > np.finfo(np.float32).max:
        return False
    return bool((values == values.astype(np.float32)).all() and (values != np.rint(values)).any())


# --- small directions


def resolve_collinearity(rows: Parts, moments: Moments, x: Described, y: Described) -> Resolved:
    """Find combinations of the columns whose moments are exact, and warn of those that are lost.

    Parameters
    ----------
    rows : Parts
        The encoded rows are read again only if some directions are doubtful.
    moments : Moments
        These are the moments of the rows.
    x, y : Described
        These say what is known of the columns.

    Returns
    -------
    Resolved
        The columns themselves and the given moments, if nothing is small except exact dependences.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> start, ride = rng.normal(size=(2, 500, 1))
    >>> X = np.hstack([start, start + 1e-9 * ride])
    >>> x, y = Described("X", ["0", "1"], np.full(2, 2e-16), np.empty((2, 0))), Described(
    ...     "Y", ["0"], np.full(1, 2e-16), np.empty((1, 0)))
    >>> found = resolve_collinearity(Memory(X, ride, 500), Moments().update(X, ride), x, y)
    >>> found.moments.decompose(span=found.span).correlations.round(3)
    array([1.])
    """
    sides = (
        _PrincipalColumns.from_covariance(x, moments.cov_f, moments.mean_f),
        _PrincipalColumns.from_covariance(y, moments.cov_g, moments.mean_g),
    )
    if not any(side.is_doubtful for side in sides):
        return Resolved((Basis.make_identity(len(x.names)), Basis.make_identity(len(y.names))), moments, None)
    bases = sides[0].make_first_basis(), sides[1].make_first_basis()
    moments, turns = turn_columns(rows, sides, bases)
    for _ in range(MAX_FURTHER_TURNS):
        if all(turn.is_last for turn in turns):
            break
        bases = turns[0].basis, turns[1].basis
        moments, turns = turn_columns(rows, sides, bases)
    for side, turn in zip(sides, turns, strict=True):
        side.warn_of_lost(turn)
    small = sides[0].find_small_directions(turns[0]), sides[1].find_small_directions(turns[1])
    return Resolved(bases, moments, (turns[0].span, turns[1].span), small)


@dataclass(frozen=True, eq=False)
class _Turn:
    """A matrix that makes combinations of columns uncorrelated with variance 1.

    Attributes
    ----------
    matrix : ndarray of shape (width, r)
        Matrix that the combinations are multiplied with.
    basis : Basis
        Combinations of the columns after the multiplication.
    noise : ndarray of shape (r,)
        Spread that rounding gives to the result.
    is_last : bool
        Whether all variances were known well, so that no other turn is needed.
    limit : float
        Spread, in units of the noise, up to which a direction is lost.
    """

    matrix: np.ndarray
    basis: Basis
    noise: np.ndarray
    is_last: bool
    limit: float

    @property
    def is_lost(self) -> np.ndarray:
        """Which directions may be more than rounding, but not much more."""
        return self.noise * self.limit > 1

    @property
    def span(self) -> np.ndarray:
        """The matrix without the lost directions."""
        return self.matrix[:, ~self.is_lost]


@dataclass(frozen=True, eq=False)
class _PrincipalColumns:
    """Columns of one side with their principal directions."""

    known: Described
    spectrum: Spectrum

    @classmethod
    def from_covariance(cls, known: Described, cov: np.ndarray, mean: np.ndarray) -> _PrincipalColumns:
        return cls(known, Spectrum.from_covariance(cov, mean))

    @property
    def is_doubtful(self) -> bool:
        """Whether there are directions that moments do not know exactly, unless they are constant by construction."""
        s = self.spectrum
        small = s.vectors[:, s.values <= DOUBTFUL_VARIANCE_RATIO * s.values.max(initial=0)]
        constant = self.known.constant * s.scale[:, None]
        constant = constant / np.maximum(np.linalg.norm(constant, axis=0), np.finfo(float).tiny)
        left = small - constant @ (constant.T @ small)
        return small.shape[1] != constant.shape[1] or bool(np.abs(left).max(initial=0) > CONSTANT_DIRECTION_TOLERANCE)

    @property
    def _limit(self) -> float:
        """Spread, in units of the noise, that a direction must exceed to be more than rounding.

        A value is off by a third of a unit, and a sum of p products by a part of the root of p.
        """
        return 2 + float(np.sqrt(len(self.known.names))) / 2

    @property
    def _rounding(self) -> np.ndarray:
        """Errors of the columns by rounding; a column that varies at all is more than its own rounding."""
        off = np.maximum(self.known.rounding, FLOAT64_EPS * np.hypot(self.spectrum.mean, self.spectrum.scale))
        return np.minimum(off, self.spectrum.scale / 64)

    def make_first_basis(self) -> Basis:
        """Return the principal directions, the largest first, divided by their spread as far as it is known."""
        s = self.spectrum
        floor = 10 * FLOAT64_EPS * len(s.values) * float(s.values.max(initial=0))  # a smaller variance may be rounding
        matrix = s.vectors / np.sqrt(np.maximum(s.values, floor)) / s.unit
        return Basis(s.mean, matrix[:, ::-1])

    def decorrelate_basis(self, basis: Basis, cov: np.ndarray) -> _Turn:
        """Make combinations uncorrelated with variance 1, without those that are rounding.

        Each is made uncorrelated with the larger ones before it, which thus stay free of its rounding (Cholesky). What
        is then left of it is known only down to a share of it, and may be less.
        """
        scale = np.sqrt(np.maximum(np.diag(cov), 1e-60))  # 0 if a combination is constant to the last digit
        L, left = factor_correlations(cov / np.outer(scale, scale))
        matrix = solve_triangular(L, np.diag(1 / scale), lower=True).T
        combined = basis.columns @ matrix
        noise = np.sqrt(np.sum((combined * self._rounding[:, None]) ** 2, axis=0))
        keep = noise * self._limit < 1
        return _Turn(
            matrix[:, keep],
            Basis(basis.centre, combined[:, keep]),
            noise[keep],
            bool((left[keep] > MIN_EXACT_VARIANCE).all()),
            KEPT_LIMIT_FACTOR * self._limit,
        )

    def find_small_directions(self, turn: _Turn) -> np.ndarray:
        """Find the directions of variance 1 that are small against the columns."""
        directions = turn.basis.columns[:, ~turn.is_lost]
        weights = np.linalg.norm(self.spectrum.scale[:, None] * directions, axis=0)
        return directions[:, weights > MIN_SMALL_DIRECTION_WEIGHT]

    def warn_of_lost(self, turn: _Turn) -> None:
        """Name the columns of directions that are dropped though they may be more than rounding."""
        lost = self.spectrum.scale[:, None] * turn.basis.columns[:, turn.is_lost]
        warn_of_lost(lost, self.known.names, self.known.side)


def factor_correlations(R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the Cholesky factor of a correlation matrix, and the share of each variance left by those before it.

    A share that may be rounding counts as the largest share that may be.
    """
    L, left = np.zeros_like(R), np.ones(len(R))
    floor = 10 * FLOAT64_EPS * len(R)
    for j in range(len(R)):
        column = R[j:, j] - L[j:, :j] @ L[j, :j]
        left[j] = column[0]
        L[j:, j] = column / np.sqrt(max(column[0], floor))
        L[j, j] = np.sqrt(max(column[0], floor))
    return L, left


def turn_columns(
    rows: Parts, sides: tuple[_PrincipalColumns, _PrincipalColumns], bases: tuple[Basis, Basis]
) -> tuple[Moments, tuple[_Turn, _Turn]]:
    """Compute moments of combinations of the columns, and what makes these uncorrelated."""
    moments = rows.sums(partial(compute_moments, bases), partial(sum, start=Moments()), "moments", numbered=False)
    return moments, (
        sides[0].decorrelate_basis(bases[0], moments.cov_f),
        sides[1].decorrelate_basis(bases[1], moments.cov_g),
    )


def compute_moments(bases: Sequence[Basis], F: np.ndarray, G: np.ndarray, first: int) -> Moments:
    moments = Moments()
    for f, g in iterate_blocks(F, G):
        moments.update(bases[0](f), bases[1](g))
    return moments
