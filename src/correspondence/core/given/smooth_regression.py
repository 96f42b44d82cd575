"""Regression of many functions of a variable on others at once: sums of smooth functions, all equally smooth.

A regression with a smoothness for each function would depend on the basis in which functions are written: what is left
of a sum of bumps would not be the sum of what is left of the bumps. So there is one smoothness, the roughest that any
combination of the functions needs which z clearly predicts.

If z has several columns, sums of functions of them do not suffice: where x is a sum and noise, the square of x depends
on products. But its expectation is then a function of the sum. So the combinations of the functions that z predicts
best are regressed first, and what is expected of them are further columns of z, the indices.

Names and symbols: B are the centred features of z (n, m), P is the penalty, the mean squared third derivative, so that
parabolas are free. In the directions Q = B V both are diagonal, Q^T Q / n = 1 and V^T P V = d. A strength s leaves the
share w = 1 / (1 + s d) of each direction, and the leverage of a row is 1 / n + sum_j w_j Q_ij^2 / n.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from correspondence._util.files import State, strip_prefix
from correspondence.core.penalised_coordinates import diagonalise_penalty
from correspondence.core.splines import AdditiveFunctions, SplineBasis, place_knots

__all__ = [
    "ROWS_PER_PRODUCT",
    "SplineFeatures",
    "SplineRegression",
    "SplineResiduals",
    "find_smooth_functions",
    "regress_on_splines",
]

STRENGTHS = 10.0 ** np.arange(-8, 2.5, 0.5)
MAX_KNOTS_OF_GIVEN = 24
MAX_KNOTS_TO_EXTREMES = 16
MIN_KNOTS_OF_GIVEN = 4  # with fewer, functions of a column are linear
ROWS_PER_KNOT = 5
MAX_KNOTS_IN_ALL = 240
ROWS_PER_COLUMN = 4  # with fewer rows for each feature of z, there is a ridge
RIDGE_ROWS = 0.1  # rows of an indicator or a linear column that count as having the mean
RIDGE_ROWS_OF_TEST = 1e-4  # of a row with a label of its own, a test must have nothing left
MAX_INDICES = 2
ROWS_PER_PRODUCT = 20  # of two columns of z
MAX_LEVERAGE = 1 - 1e-6
ROUGHER_BY = 4.0  # the roughest functions whose score is within this, divided by n, of the best: bias costs more
MIN_STANDARD_ERRORS_BETTER = 2.0  # by which indices must be better on held-out rows: they cost much where they are not
FEATURE_TOLERANCE = 1e-9  # combinations of functions with a smaller share of the largest variance are rounding


@dataclass(frozen=True, eq=False)
class SplineRegression:
    """Expectations given z: centre + (basis(z) - mean) @ weights.

    With indices, the expectations of a row beyond all others are those at the nearest values in the fit, and go on from
    there as the sums of functions of z alone do: a function of a function says anything out there.

    Attributes
    ----------
    functions : AdditiveFunctions
        Sums of smooth functions of z, and of the indices, with mean 0.
    centre : ndarray of shape (p,)
        The means of what is expected.
    indices : AdditiveFunctions or None
        Sums of smooth functions of z whose values are further columns of z.
    sums : AdditiveFunctions or None
        Sums of smooth functions of z alone, where there are indices.
    row_range : ndarray of shape (2, q) or None
        The smallest and the largest value of each column of z in the fit, where there are indices.
    """

    functions: AdditiveFunctions
    centre: np.ndarray
    indices: AdditiveFunctions | None = None
    sums: AdditiveFunctions | None = None
    row_range: np.ndarray | None = None

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Expect values, of shape (n, p), given encoded rows of z."""
        if self.indices is None or self.sums is None or self.row_range is None:
            return self.centre + self.functions(rows)
        inside = np.clip(rows, *self.row_range)
        expected = self.functions(np.hstack([inside, self.indices(inside)]))
        return self.centre + expected + self.sums(rows) - self.sums(inside)

    def combine_functions(self, weights: np.ndarray, shift: np.ndarray) -> SplineRegression:
        """Return the regression of linear combinations of what is expected; `shift` is added to them."""
        functions = replace(self.functions, weights=self.functions.weights @ weights)
        sums = self.sums and replace(self.sums, weights=self.sums.weights @ weights)
        return replace(self, functions=functions, sums=sums, centre=self.centre @ weights + shift)

    def state(self) -> State:
        """Return the arrays from which `from_state` makes the same regression, and an empty description."""
        arrays = self.functions.state().arrays | {"centre": self.centre}
        if self.indices is not None and self.sums is not None and self.row_range is not None:
            arrays |= self.indices.state().prefix_arrays("indices.") | self.sums.state().prefix_arrays("sums.")
            arrays["row_range"] = self.row_range
        return State({}, arrays)

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> SplineRegression:
        """Put together what `state` took apart."""
        functions = AdditiveFunctions.from_state({}, arrays)
        if "row_range" not in arrays:
            return cls(functions, arrays["centre"])
        indices, sums = (AdditiveFunctions.from_state({}, strip_prefix(arrays, part)) for part in ("indices.", "sums."))
        return cls(functions, arrays["centre"], indices, sums, arrays["row_range"])


@dataclass(frozen=True, eq=False)
class SplineResiduals:
    """What a regression leaves of the rows of its fit.

    Attributes
    ----------
    regression : SplineRegression
        The regression on all rows.
    own : ndarray of shape (n, p)
        What the regression on all rows leaves.
    held_out : ndarray of shape (n, p)
        What a regression without the row, or without the fold of its group, leaves.
    leverages : ndarray of shape (n, 1)
        How much the expectation of a row depends on its own value, from 0 to 1.
    """

    regression: SplineRegression
    own: np.ndarray
    held_out: np.ndarray
    leverages: np.ndarray


def regress_on_splines(
    F: np.ndarray,
    rows: np.ndarray,
    is_number: np.ndarray,
    folds: list[tuple[np.ndarray, np.ndarray]] | None = None,
    *,
    is_rough: bool = False,
    has_indices: bool = False,
    features: SplineFeatures | None = None,
) -> SplineResiduals:
    """Regress each column on sums of smooth functions of z.

    Parameters
    ----------
    F : ndarray of shape (n, p)
        These functions of another variable are expected.
    rows : ndarray of shape (n, q)
        The encoded rows of z.
    is_number : ndarray of bool of shape (q,)
        Functions of columns with true may bend.
    folds : list of pairs of ndarray, optional
        Hold out these rows together. By default, each row is held out on its own, exactly and at no cost.
    is_rough : bool
        If true, functions are as rough as the knots allow: a test must not mistake what smoothness leaves of the
        influence of z for dependence. Such a regression is for the rows of the fit alone.
    has_indices : bool
        Whether functions of what is expected first are added, as for several columns of z.
    features : SplineFeatures, optional
        The features of these rows, computed once for several regressions.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(200, 1)); F = z**2 + 0.1 * rng.normal(size=(200, 1))
    >>> regress_on_splines(F, z, np.array([True])).held_out.std().round(2)
    np.float64(0.1)
    """
    features = features or SplineFeatures.from_rows(rows, is_number, reach_extremes=is_rough)
    first = _fit_splines(F, features, folds, is_rough)
    if not has_indices:
        return first.residuals
    # A rough index would be full of noise, which a function of it turns into what the regression misses.
    smooth = _fit_splines(F, features, None, is_rough=False) if is_rough else first
    A = smooth.find_indices(F)
    if not A.shape[1]:
        return first.residuals
    # Without the row itself, the expectation would differ from that of the functions by a share of the noise, which the
    # second regression would then remove.
    indices = (F - smooth.residuals.own - F.mean(axis=0)) @ A
    both = _add_indices(rows, is_number, indices, with_products=is_rough)
    second = _fit_splines(F, SplineFeatures.from_rows(*both, reach_extremes=features.reach_extremes), folds, is_rough)
    held_out = first.residuals.held_out, second.residuals.held_out
    uncorrelated = features.smoother.predict_combinations(F - F.mean(axis=0))[0]
    if not is_rough and not any(_is_clearly_better(*(left @ W for left in held_out)) for W in (A, uncorrelated)):
        return first.residuals
    own = smooth.residuals.regression.functions
    regression = replace(
        second.residuals.regression,
        indices=replace(own, weights=own.weights @ A),
        sums=own,
        row_range=np.array([rows.min(axis=0), rows.max(axis=0)]),
    )
    return replace(second.residuals, regression=regression)


def _add_indices(
    rows: np.ndarray, is_number: np.ndarray, indices: np.ndarray, *, with_products: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of z with indices beside them, and which columns functions may bend.

    An index is known up to a combination of the columns. To first order, what that changes in a function of the index
    is a function of the index times a column, of which a test removes the products of both.
    """
    products = np.hstack([rows[:, is_number] * index[:, None] for index in indices.T])
    if not with_products or len(rows) < ROWS_PER_PRODUCT * products.shape[1]:
        products = products[:, :0]
    bends = [is_number, np.ones(indices.shape[1], dtype=bool), np.zeros(products.shape[1], dtype=bool)]
    return np.hstack([rows, indices, products]), np.concatenate(bends)


def _is_clearly_better(first: np.ndarray, second: np.ndarray) -> bool:
    """Tell whether the second regression leaves clearly less of rows that were not used in the fit."""
    gain = (first**2 - second**2).sum(axis=1)
    return bool(gain.mean() > MIN_STANDARD_ERRORS_BETTER * gain.std() / np.sqrt(len(gain)))


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A fit, and how z predicts combinations of the functions."""

    residuals: SplineResiduals
    smoother: _Smoother
    strength: float

    def find_indices(self, F: np.ndarray) -> np.ndarray:
        """Find the few combinations that z clearly predicts best, as columns of weights of the functions."""
        directions, C = self.smoother.predict_combinations(F - F.mean(axis=0))
        shrunk = 1 / (1 + self.strength * self.smoother.rough)
        _, s, Vt = np.linalg.svd(shrunk[:, None] * C, full_matrices=False)
        n_clear = count_clear(s, (float((shrunk**2).sum()), C.shape[1]), len(F))
        return directions @ Vt[: min(MAX_INDICES, n_clear)].T


@dataclass(frozen=True, eq=False)
class SplineFeatures:
    """The features of rows of z, and the directions in which their covariance and penalty are diagonal.

    Attributes
    ----------
    basis : SplineBasis
        It makes the features.
    mean : ndarray of shape (m,)
        Their means.
    smoother : _Smoother
        The directions, and the rows there.
    reach_extremes : bool
        Whether knots cover the whole range of each number.
    """

    basis: SplineBasis
    mean: np.ndarray
    smoother: _Smoother
    reach_extremes: bool

    @classmethod
    def from_rows(cls, rows: np.ndarray, is_number: np.ndarray, *, reach_extremes: bool = True) -> SplineFeatures:
        """Compute the features of encoded rows; the arguments are those of `make_basis`."""
        basis = make_basis(rows, is_number, reach_extremes=reach_extremes)
        B = basis(rows)
        mean = B.mean(axis=0)
        B = B - mean
        ridge_rows = RIDGE_ROWS_OF_TEST if reach_extremes else RIDGE_ROWS
        return cls(
            basis, mean, _Smoother.from_features(B, *penalise_features(basis, rows, B, ridge_rows)), reach_extremes
        )


def _fit_splines(
    F: np.ndarray, features: SplineFeatures, folds: list[tuple[np.ndarray, np.ndarray]] | None, is_rough: bool
) -> _Fitted:
    smoother, centre = features.smoother, F.mean(axis=0)
    B, centred = smoother.B, F - centre
    strength = float(STRENGTHS[0]) if is_rough else smoother.choose_strength(centred)
    weights = smoother.solve(centred, strength)
    own = centred - B @ weights
    leverages = smoother.compute_leverages(strength)[:, None]
    regression = SplineRegression(AdditiveFunctions(features.basis, features.mean, weights), centre)
    if folds is None:
        held_out = own / (1 - np.minimum(leverages, MAX_LEVERAGE))
        return _Fitted(SplineResiduals(regression, own, held_out, leverages), smoother, strength)
    held_out = np.empty_like(F)
    for train, test in folds:
        middle, start = B[train].mean(axis=0), F[train].mean(axis=0)
        part = _Smoother.from_features(B[train] - middle, smoother.penalty, smoother.ridge * len(F) / len(train))
        held_out[test] = F[test] - start - (B[test] - middle) @ part.solve(F[train] - start, strength)
    return _Fitted(SplineResiduals(regression, own, held_out, leverages), smoother, strength)


def make_basis(rows: np.ndarray, is_number: np.ndarray, *, reach_extremes: bool) -> SplineBasis:
    """Place knots for each number.

    Functions that are to be used on new rows must be straight where only a handful of rows are left: a cubic
    that ends at the last row follows it, and says anything of a row beyond it.

    Parameters
    ----------
    rows : ndarray of shape (n, q)
        The encoded rows of z.
    is_number : ndarray of bool of shape (q,)
        Functions of columns with true may bend.
    reach_extremes : bool
        If true, knots cover the whole range, so that parabolas are followed up to the last row, as a test needs it.
    """
    share = min(MAX_KNOTS_IN_ALL, len(rows) // ROWS_PER_KNOT) // max(1, int(is_number.sum()))
    most = MAX_KNOTS_TO_EXTREMES if reach_extremes else MAX_KNOTS_OF_GIVEN
    n_knots = min(most, share) if share >= MIN_KNOTS_OF_GIVEN else 0
    place = _spread_knots if reach_extremes else place_knots
    return SplineBasis(
        [place(z, n_knots) if number and n_knots else np.empty(0) for z, number in zip(rows.T, is_number, strict=True)]
    )


def _spread_knots(z: np.ndarray, n_knots: int) -> np.ndarray:
    distinct = np.unique(z)
    return distinct if len(distinct) <= n_knots else np.linspace(distinct[0], distinct[-1], n_knots)


def penalise_features(
    basis: SplineBasis, rows: np.ndarray, B: np.ndarray, ridge_rows: float = RIDGE_ROWS
) -> tuple[np.ndarray, np.ndarray]:
    """Write the roughness of functions of z as a quadratic form of their weights, and find a small ridge for the rest.

    Where the features are too many for the rows, the ridge is the penalty. In an indicator or a linear
    column, `ridge_rows` rows count as having the mean.
    """
    n, width = B.shape
    # Column by column: the derivative of a sum would depend on which end of an index is called the upper one.
    counts = basis.indicate_intervals(rows).sum(axis=0) + 1
    penalty = basis.third_derivatives.T @ (counts[:, None] / n * basis.third_derivatives)
    widths = [len(knots) if len(knots) > 2 else 1 for knots in basis.knots]
    is_column = np.repeat([len(knots) < 3 for knots in basis.knots], widths)
    ridge = np.where(is_column, ridge_rows / n, 0.0)
    return (penalty if n >= ROWS_PER_COLUMN * width else penalty + np.diag(B.var(axis=0))), ridge


def find_smooth_functions(rows: np.ndarray, is_number: np.ndarray, most: int) -> np.ndarray:
    """Find the smoothest functions of z, orthonormal over the rows, the constant first.

    Parameters
    ----------
    rows : ndarray of shape (n, q)
        The encoded rows of z.
    is_number : ndarray of bool of shape (q,)
        Functions of columns with true may bend.
    most : int
        Return at most this many functions.

    Examples
    --------
    >>> Q = find_smooth_functions(np.linspace(0, 1, 50)[:, None], np.array([True]), 3)
    >>> Q.shape, bool(np.allclose(Q.T @ Q, np.eye(3))), float(np.ptp(Q[:, 0]).round(9))
    ((50, 3), True, 0.0)
    """
    smoother = SplineFeatures.from_rows(rows, is_number).smoother
    smoothest = np.argsort(smoother.rough, kind="stable")[: most - 1]
    Q, R = np.linalg.qr(np.column_stack([np.ones(len(rows)), smoother.Q[:, smoothest]]))
    size = np.abs(np.diag(R))
    return Q[:, size > FEATURE_TOLERANCE * size.max()]


@dataclass(frozen=True, eq=False)
class _Smoother:
    """Directions in which covariance and penalty are diagonal, and the rows there."""

    B: np.ndarray
    penalty: np.ndarray
    ridge: np.ndarray
    V: np.ndarray
    rough: np.ndarray
    Q: np.ndarray

    @classmethod
    def from_features(cls, B: np.ndarray, penalty: np.ndarray, ridge: np.ndarray) -> _Smoother:
        """Diagonalise the penalty."""
        V, rough = diagonalise_penalty(B.T @ B / len(B) + np.diag(ridge), penalty)
        return cls(B, penalty, ridge, V, rough, B @ V)

    @property
    def is_wide(self) -> bool:
        """Whether there are so many features that functions without a penalty would follow the noise."""
        return len(self.B) < ROWS_PER_COLUMN * self.B.shape[1]

    def predict_combinations(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find combinations of functions of variance 1, and their covariances with the directions of z."""
        values, vectors = np.linalg.eigh(F.T @ F / len(F))
        keep = values > FEATURE_TOLERANCE * values.max(initial=0)
        whitening = vectors[:, keep] / np.sqrt(values[keep])
        return whitening, self.Q.T @ (F @ whitening) / len(F)

    def choose_strength(self, F: np.ndarray) -> float:
        """Choose the smoothness by generalised cross-validation of combinations of functions that z predicts best."""
        n, C = len(F), self.predict_combinations(F)[1]
        if not C.size:
            return float(STRENGTHS[-1])
        U, s, _ = np.linalg.svd(C, full_matrices=False)
        c2 = (U * s)[:, : max(1, count_clear(s, C.shape, n))] ** 2
        W = 1 / (1 + STRENGTHS[:, None] * self.rough)
        left = np.maximum(1 - (2 * W - W**2) @ c2, 0)
        free = np.maximum(1 - (1 + W.sum(axis=1)) / n, 1 / n)
        scores = left / free[:, None] ** 2
        is_good = scores <= scores.min(axis=0) * (1 + ROUGHER_BY / n)
        return float(STRENGTHS[is_good.argmax(axis=0).min()])  # ascending, so the first is the roughest

    def solve(self, F: np.ndarray, strength: float) -> np.ndarray:
        """Find the weights of the features for centred functions."""
        return self.V @ ((self.Q.T @ F / len(F)) / (1 + self.rough * strength)[:, None])

    def compute_leverages(self, strength: float) -> np.ndarray:
        """Compute the leverage of each row; rounding may make that of a row on its own larger than 1."""
        return np.minimum((1 + self.Q**2 @ (1 / (1 + self.rough * strength))) / len(self.Q), 1.0)


def count_clear(s: np.ndarray, shape: tuple[float, ...], n: int) -> int:
    """Count the canonical correlations larger than that of noise with the best function of noise."""
    return int((s > np.sqrt(shape[0] / n) + np.sqrt(shape[1] / n)).sum())
