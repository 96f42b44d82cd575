"""Sums of smooth functions of columns: maximally correlated ones in closed form, as smooth as the data allow.

The features of a column of numbers are cubic splines with linear tails, which are constant beyond the data and linear
in its gaps. The feature of an indicator is the indicator. The penalty is the mean squared third derivative.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import block_diag
from scipy.special import ndtri
from scipy.stats import rankdata

from correspondence._util.files import State
from correspondence.core.dependence_views import MAX_FEATURES, FeatureView
from correspondence.core.moments import Moments
from correspondence.core.penalised_coordinates import Penalty, diagonalise_penalty
from correspondence.core.regularised import compute_fold_moments, fit_penalised, merge_folds

__all__ = ["AdditiveFunctions", "AdditiveSums", "SplineBasis", "fit_additive", "solve_additive", "view_additive"]

SMOOTHING_STRENGTHS = (10.0 ** np.arange(-8, 1.5, 0.5)).tolist()
VIEW_SMOOTHING = (10.0, 1e-2, 1e-4, 1e-6)  # from parabolas to about 16 functions of a column
MAX_KNOTS = 24  # knots of a column, if there are few columns
MAX_SPLINE_FEATURES = 200  # features that the columns of numbers of one side share
PER_FEATURE = 10  # smallest number of observations for each feature; with fewer the functions are linear
ROWS_BEYOND_KNOTS = 5  # observations beyond the outermost knots, where the functions are linear
MAX_STEPS_OF_CUBIC = 2  # smallest distances of knots; in the gap between knots further apart, functions are linear
UNBOUNDED_RANGE = (-np.inf, np.inf)
N_EXTREME_ROWS = 1  # observations at each end that count as half as far out: one outlier must not carry a function


class SplineBasis:
    """Features of the columns of an array: cubic splines with linear tails, or the column itself.

    Parameters
    ----------
    knots : sequence of ndarray
        The knots of each column must ascend; at least 3 make a spline, fewer the column itself.
    limits : ndarray of shape (columns, 2), optional
        In a fit, values beyond these limits count as half as far out.
    ends : ndarray of shape (columns, 2), optional
        The features are constant beyond these smallest and largest values: nothing is known of a steep function of few
        pairs further out, and one such value would decide what is captured.
    combinations : ndarray of shape (columns, k), optional
        Linear combinations of the columns with these weights are features too: what distinguishes nearly collinear
        columns is a sum of functions of them, but the moments of the splines lose it.
    straight : ndarray of bool of shape (columns,), optional
        Functions of these columns are straight between their knots, not cubic.

    Attributes
    ----------
    is_discrete : ndarray of bool of shape (columns,)
        Which columns had no other values than their knots where these were placed.
    """

    def __init__(
        self,
        knots: Sequence[np.ndarray],
        limits: np.ndarray | None = None,
        ends: np.ndarray | None = None,
        combinations: np.ndarray | None = None,
        straight: np.ndarray | None = None,
    ) -> None:
        self.knots, self.limits, self.ends = [np.asarray(k, dtype=np.float64) for k in knots], limits, ends
        self.combinations = np.empty((len(self.knots), 0)) if combinations is None else combinations
        self.straight = np.zeros(len(self.knots), dtype=bool) if straight is None else straight
        self.is_discrete = np.zeros(len(self.knots), dtype=bool)
        self._splines = [CubicSpline(k, np.eye(len(k))) if len(k) > 2 else None for k in self.knots]

    @classmethod
    def for_columns(cls, Z: np.ndarray, is_number: np.ndarray, n_knots: int | None = None) -> SplineBasis:
        """Place knots for an array, as many as the data allow or as given; columns that are not numbers have none."""
        share = min(MAX_SPLINE_FEATURES, len(Z) // PER_FEATURE) // max(1, int(is_number.sum()))
        n_knots = n_knots or (min(MAX_KNOTS, share) if share >= 4 else 0)
        knots = [place_knots(z, n_knots) if number else np.empty(0) for z, number in zip(Z.T, is_number, strict=True)]
        ordered = np.sort(Z, axis=0)
        extreme = N_EXTREME_ROWS if len(Z) >= 100 else 0
        limits = np.where(is_number[:, None], ordered[[extreme, -1 - extreme]].T, UNBOUNDED_RANGE)
        is_spline = np.array([len(k) > 2 for k in knots])
        basis = cls(knots, limits, np.where(is_spline[:, None], ordered[[0, -1]].T, UNBOUNDED_RANGE))
        n_values = 1 + np.count_nonzero(np.diff(ordered, axis=0), axis=0)
        basis.is_discrete = is_spline & (n_values == [len(k) for k in knots])
        return basis

    def with_combinations(self, combinations: np.ndarray) -> SplineBasis:
        """Add linear combinations of the columns to the features."""
        return self._copy_with(combinations, self.straight)

    def straighten(self, straight: np.ndarray) -> SplineBasis:
        """Make the functions of some columns straight between their knots."""
        return self._copy_with(self.combinations, straight)

    def _copy_with(self, combinations: np.ndarray, straight: np.ndarray) -> SplineBasis:
        basis = SplineBasis(self.knots, self.limits, self.ends, combinations, straight)
        basis.is_discrete = self.is_discrete
        return basis

    @property
    def width(self) -> int:
        """Number of features."""
        return self.feature_slices[-1].stop + self.combinations.shape[1]

    @property
    def feature_slices(self) -> list[slice]:
        """Where the features of each column are; those of linear combinations come after all of them."""
        stops = np.cumsum([len(k) if len(k) > 2 else 1 for k in self.knots]).tolist()
        return [slice(start, stop) for start, stop in zip([0, *stops], stops, strict=False)]

    def get_spline(self, column: int) -> CubicSpline:
        """Return the spline of a column, one function for each of its knots."""
        spline = self._splines[column]
        assert spline is not None
        return spline

    def find_gaps(self, column: int) -> np.ndarray:
        """Find the intervals between knots in which functions of a column are straight."""
        return find_straight_intervals(self.knots[column], bool(self.straight[column]))

    def __call__(self, Z: np.ndarray) -> np.ndarray:
        """Evaluate the features, of shape (n, width)."""
        Z = self.clip_to_ends(Z)
        columns = zip(Z.T, self._splines, self.knots, self.straight.tolist(), strict=True)
        features = [evaluate_spline(*column) for column in columns]
        return np.hstack([*features, Z @ self.combinations] if self.combinations.size else features)

    def clip_to_ends(self, Z: np.ndarray) -> np.ndarray:
        """Clip values to the ends."""
        return Z if self.ends is None else np.clip(Z, *self.ends.T)

    def temper_extremes(self, Z: np.ndarray) -> np.ndarray:
        """Return values for a fit, those beyond the limits half as far out."""
        return Z if self.limits is None else (Z + np.clip(Z, *self.limits.T)) / 2

    def indicate_intervals(self, Z: np.ndarray) -> np.ndarray:
        """Compute indicators of the intervals between knots: counting them is exact, however rows are split."""
        return np.hstack([_indicate_intervals_of_column(z, k) for z, k in zip(Z.T, self.knots, strict=True)])

    @cached_property
    def third_derivatives(self) -> np.ndarray:
        """Third derivatives of the features, which are constant in each interval: shape (intervals, width)."""
        parts = [
            np.empty((0, 1)) if spline is None else spline((knots[1:] + knots[:-1]) / 2, 3)
            for spline, knots in zip(self._splines, self.knots, strict=True)
        ]
        return block_diag(*parts, np.empty((0, self.combinations.shape[1])))

    def make_functions(self, mean: np.ndarray, weights: np.ndarray) -> AdditiveFunctions:
        """Make additive functions with weights of the features; linear combinations become parts of the splines."""
        linear = self._express_columns()
        n = len(linear)
        together = weights[:n] + linear @ (self.combinations @ weights[n:])
        basis = SplineBasis(self.knots, self.limits, self.ends, straight=self.straight)
        return AdditiveFunctions(basis, mean[:n], together)

    def spread_combinations(self) -> np.ndarray:
        """Make the matrix that turns weights of all features into those of the features of the columns."""
        linear = self._express_columns()
        return np.hstack([np.eye(len(linear)), linear @ self.combinations])

    def _express_columns(self) -> np.ndarray:
        # A spline with value k_j at knot k_j is the column itself: so the columns are combinations of their features.
        return block_diag(*(k[:, None] if len(k) > 2 else np.ones((1, 1)) for k in self.knots))


def place_knots(z: np.ndarray, n_knots: int) -> np.ndarray:
    distinct = np.unique(z)
    if len(distinct) <= n_knots:
        return distinct
    outside = min(ROWS_BEYOND_KNOTS / len(z), 0.1)
    low, high = np.quantile(z, [outside, 1 - outside])
    if not n_knots or not high > low:
        return np.empty(0)
    # In a gap, as between 0 and the smallest cost, nothing holds a spline that has knots there: a new value in the gap
    # could get any value and decide everything. So knots stay out of gaps: they are not the nearest one of any value.
    nearest = np.unique(np.rint(np.clip((distinct - low) / (high - low), 0, 1) * (n_knots - 1)).astype(np.intp))
    is_held = np.ones(n_knots, dtype=bool)
    for i in np.flatnonzero(np.diff(nearest) > MAX_STEPS_OF_CUBIC):
        is_held[nearest[i] + 1 : nearest[i + 1]] = False
    return np.linspace(low, high, n_knots)[is_held]


def find_straight_intervals(knots: np.ndarray, is_straight: bool) -> np.ndarray:
    width = np.diff(knots)
    return is_straight | (width > MAX_STEPS_OF_CUBIC * width.min())


def evaluate_spline(
    z: np.ndarray, spline: CubicSpline | None, knots: np.ndarray, is_straight: bool = False
) -> np.ndarray:
    if spline is None:
        return z[:, None]
    low, high = knots[0], knots[-1]
    below, above = np.minimum(z - low, 0)[:, None], np.maximum(z - high, 0)[:, None]
    values = spline(np.clip(z, low, high)) + below * spline(low, 1) + above * spline(high, 1)
    # A cubic swings out between knots that are far apart: in gaps the functions are linear.
    width = np.diff(knots)
    i = np.clip(np.searchsorted(knots, z, side="right") - 1, 0, len(width) - 1)
    gap = np.flatnonzero(find_straight_intervals(knots, is_straight)[i] & (z > low) & (z < high))
    if len(gap):
        i = i[gap]
        share = ((z[gap] - knots[i]) / width[i])[:, None]
        values[gap] = (1 - share) * spline(knots[i]) + share * spline(knots[i + 1])
    return values


def _indicate_intervals_of_column(z: np.ndarray, knots: np.ndarray) -> np.ndarray:
    if len(knots) < 3:
        return np.empty((len(z), 0))
    inside = np.flatnonzero((z >= knots[0]) & (z <= knots[-1]))
    indicators = np.zeros((len(z), len(knots) - 1))
    indicators[inside, np.minimum(np.searchsorted(knots, z[inside], side="right"), len(knots) - 1) - 1] = 1
    return indicators


@dataclass(frozen=True, eq=False)
class AdditiveFunctions:
    """Sums of functions of the columns: (basis(Z) - mean) @ weights."""

    basis: SplineBasis
    mean: np.ndarray
    weights: np.ndarray

    def __call__(self, Z: np.ndarray) -> np.ndarray:
        """Evaluate the functions, of shape (n, d), by summing one spline of each column instead of all features."""
        values = np.tile(-self.mean @ self.weights, (len(Z), 1))
        Z = self.basis.clip_to_ends(Z)
        columns = zip(Z.T, self._splines, self.basis.knots, self.basis.straight.tolist(), strict=True)
        for (z, spline, knots, straight), weights in zip(columns, self._column_weights, strict=True):
            values += z[:, None] * weights if spline is None else evaluate_spline(z, spline, knots, straight)
        return values

    @cached_property
    def _column_weights(self) -> list[np.ndarray]:
        """Weights of the features of each column."""
        widths = [len(k) if len(k) > 2 else 1 for k in self.basis.knots]
        return np.split(self.weights, np.cumsum(widths)[:-1])

    @cached_property
    def _splines(self) -> list[CubicSpline | None]:
        return [
            CubicSpline(k, weights) if len(k) > 2 else None
            for k, weights in zip(self.basis.knots, self._column_weights, strict=True)
        ]

    def state(self) -> State:
        """Return the arrays from which `from_state` makes the same functions, and an empty description."""
        arrays = {
            "knots": np.concatenate([*self.basis.knots, np.empty(0)]),
            "lengths": np.array([len(k) for k in self.basis.knots], dtype=np.int64),
            "mean": self.mean,
            "weights": self.weights,
        }
        more = {"ends": self.basis.ends, "straight": self.basis.straight if self.basis.straight.any() else None}
        return State({}, arrays | {name: values for name, values in more.items() if values is not None})

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> AdditiveFunctions:
        """Put together what `state` took apart."""
        knots = np.split(arrays["knots"], np.cumsum(arrays["lengths"])[:-1])
        ends = arrays.get("ends")  # functions of models from earlier versions are linear without end
        basis = SplineBasis(knots, ends=ends, straight=arrays.get("straight"))
        return cls(basis, arrays["mean"], arrays["weights"])


@dataclass(frozen=True, eq=False)
class AdditiveFit:
    """Additive functions of both sides with their correlations on the pairs of the fit."""

    f: AdditiveFunctions
    g: AdditiveFunctions
    correlations: np.ndarray
    smoothing: np.ndarray
    """Smoothing strength of each component."""


@dataclass(frozen=True, eq=False)
class AdditiveSums:
    """All that a fit needs of some rows: moments of the features in folds, and how often two intervals meet.

    The moments of the columns show which of them are nearly collinear.
    """

    folds: list[Moments]
    counts: tuple[np.ndarray, np.ndarray]
    columns: Moments

    @classmethod
    def from_batches(
        cls,
        batches: Iterable[tuple[np.ndarray, np.ndarray]],
        basis_x: SplineBasis,
        basis_y: SplineBasis,
        groups: np.ndarray | None = None,
        first: int = 0,
    ) -> AdditiveSums:
        """Sum over batches of rows, which are numbered from `first`."""
        x, y = (len(basis.third_derivatives) for basis in (basis_x, basis_y))
        counts, columns = (np.zeros((x, x)), np.zeros((y, y))), Moments()

        def features() -> Iterator[tuple[np.ndarray, np.ndarray]]:
            for Zx, Zy in batches:
                columns.update(Zx, Zy)
                Zx, Zy = basis_x.temper_extremes(Zx), basis_y.temper_extremes(Zy)
                for total, basis, Z in zip(counts, (basis_x, basis_y), (Zx, Zy), strict=True):
                    within = basis.indicate_intervals(Z)
                    total += within.T @ within
                yield basis_x(Zx), basis_y(Zy)

        return cls(compute_fold_moments(features(), groups, first), counts, columns)

    @classmethod
    def merge_parts(cls, parts: Sequence[AdditiveSums]) -> AdditiveSums:
        """Merge the sums over parts of the rows."""
        x, y = (np.sum([part.counts[side] for part in parts], axis=0) for side in (0, 1))
        columns = sum((part.columns for part in parts), start=Moments())
        return cls(merge_folds([part.folds for part in parts]), (x, y), columns)


def fit_additive(
    batches: Iterable[tuple[np.ndarray, np.ndarray]],
    basis_x: SplineBasis,
    basis_y: SplineBasis,
    n_components: int,
    groups: np.ndarray | None = None,
) -> AdditiveFit:
    """Find the most correlated additive functions of two arrays.

    Parameters
    ----------
    batches : iterable of pairs of ndarray
        The rows of the two arrays may come in any number of batches.
    basis_x, basis_y : SplineBasis
        These make the features of the two sides.
    n_components : int
        Find at most this many components; the rank of the features may be smaller.
    groups : ndarray of shape (n,), optional
        Rows with the same number are never on both sides of a split when the smoothness is chosen.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(2000, 1)); y = x**2 + 0.1 * rng.normal(size=(2000, 1))
    >>> number = np.array([True])
    >>> bases = [SplineBasis.for_columns(z, number) for z in (x, y)]
    >>> fit_additive([(x, y)], *bases, n_components=1).correlations.round(2)
    array([1.])
    """
    return solve_additive(AdditiveSums.from_batches(batches, basis_x, basis_y, groups), basis_x, basis_y, n_components)


def solve_additive(
    sums: AdditiveSums,
    basis_x: SplineBasis,
    basis_y: SplineBasis,
    n_components: int,
    smoothing: Sequence[float] | np.ndarray = SMOOTHING_STRENGTHS,
) -> AdditiveFit:
    """Find the most correlated additive functions from sums over all rows; `smoothing` is that of `fit_penalised`."""
    fit = fit_penalised(sums.folds, compute_penalties(sums, basis_x, basis_y), n_components, smoothing)
    f, g = basis_x.make_functions(fit.moments.mean_f, fit.A), basis_y.make_functions(fit.moments.mean_g, fit.B)
    return AdditiveFit(f, g, fit.correlations, fit.strength)


def compute_penalties(sums: AdditiveSums, *bases: SplineBasis) -> Penalty:
    """Write the mean squared third derivatives as quadratic forms of the weights of the features of x and of y."""
    # D^T (N + 1) D / n: D are derivatives in each interval, N counts rows; + 1 penalises intervals without data too.
    n = sum(fold.n for fold in sums.folds)
    x, y = (
        basis.third_derivatives.T @ ((counts + np.eye(len(counts))) / n) @ basis.third_derivatives
        for basis, counts in zip(bases, sums.counts, strict=True)
    )
    return x, y


def view_additive(
    x: np.ndarray, y: np.ndarray, is_number_x: np.ndarray, is_number_y: np.ndarray, n_knots: int | None = None
) -> FeatureView | None:
    """Make a view of splines of the columns, at scales from parabolas to wavy functions; None if a side is constant.

    Numbers enter by their normal scores: a test must not depend on a few values far out, whose features would be so
    large that the model of earlier components and noise with random signs no longer describes them.

    Parameters
    ----------
    x, y : ndarray of shape (n, p) and (n, q)
        These are the encoded rows.
    is_number_x, is_number_y : ndarray of bool of shape (p,) and (q,)
        Columns are numbers where this is true, and indicators elsewhere.
    n_knots : int, optional
        Each column of numbers has this many knots; by default as many as the data allow.
    """
    x, y = take_normal_scores(x, is_number_x), take_normal_scores(y, is_number_y)
    bases = SplineBasis.for_columns(x, is_number_x, n_knots), SplineBasis.for_columns(y, is_number_y, n_knots)
    sums = AdditiveSums.from_batches([(x, y)], *bases)
    total = sum(sums.folds, start=Moments())
    sides, roughness = [], []
    for Z, basis, mean, cov, penalty in zip(
        (x, y),
        bases,
        (total.mean_f, total.mean_g),
        (total.cov_f, total.cov_g),
        compute_penalties(sums, *bases),
        strict=True,
    ):
        directions, rough = diagonalise_penalty(cov, penalty)
        smoothest = np.argsort(rough, kind="stable")[:MAX_FEATURES]
        sides.append((basis(basis.temper_extremes(Z)) - mean) @ directions[:, smoothest])
        roughness.append(rough[smoothest])
    if not all(len(rough) for rough in roughness):
        return None
    scales = [tuple(1 / np.sqrt(1 + strength * rough) for rough in roughness) for strength in VIEW_SMOOTHING]
    return FeatureView(sides[0], sides[1], [(a, b) for a, b in scales])


def take_normal_scores(Z: np.ndarray, is_number: np.ndarray) -> np.ndarray:
    """Turn columns of numbers into normal quantiles of their ranks; equal values share the mean of their ranks."""
    scores = Z.astype(np.float64)
    scores[:, is_number] = ndtri(rankdata(Z[:, is_number], axis=0) / (len(Z) + 1))
    return scores
