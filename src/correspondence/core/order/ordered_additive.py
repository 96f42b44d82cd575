"""Additive functions of which the first pair is monotone in ordered columns, and the later ones are what it leaves.

Names: u_1, v_1 are the weights of the first pair, C_f, C_g, C_fg the covariances of the features. As in an ordered
table, later functions f_i are uncorrelated with f_1 and with E[g_1 | x], and g_i with g_1 and E[f_1 | y], so that
E[f_i g_j] = 0 for different i and j. The expectations are made of the same features and kept beside the functions, to
be ruled out on the rows themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from correspondence.core.decomposition import Decomposition
from correspondence.core.functions import LinearFunctions
from correspondence.core.moments import Moments
from correspondence.core.order.conic_pairs import ConicSide, climb_to_conic_pair, find_conic_pair
from correspondence.core.order.monotone import decompose_complement
from correspondence.core.order.monotone_columns import ColumnOrder, is_monotone, list_cones, straighten_discrete_columns
from correspondence.core.penalised_coordinates import (
    Penalty,
    diagonalise_penalty,
    whiten_covariance,
    whiten_with_penalty,
)
from correspondence.core.regularised import MAX_LOSS, N_FOLDS, find_strongest_penalty
from correspondence.core.scoring import score_moments
from correspondence.core.splines import AdditiveFit, AdditiveSums, SplineBasis, compute_penalties

__all__ = ["decompose_in_order", "is_in_order", "solve_in_order"]

SideOrders = tuple[Sequence[ColumnOrder], Sequence[ColumnOrder]]

STRENGTH_STRIDE = 2  # one in this many strengths is tried for a pair in order
MAX_PARALLEL_SINE = 1e-7  # directions at an angle with a smaller sine differ by rounding only


def is_in_order(fit: AdditiveFit, d: Decomposition, orders: SideOrders) -> bool:
    """Tell whether the first pair of functions is monotone in all ordered columns.

    Parameters
    ----------
    fit : AdditiveFit
        The additive functions.
    d : Decomposition
        The decomposition into linear combinations of these.
    orders : pair of sequence of ColumnOrder
        The ordered columns of both sides.
    """
    if not d.n_components:
        return True
    for functions, combined, own in zip((fit.f, fit.g), (d.f, d.g), orders, strict=True):
        assert isinstance(combined, LinearFunctions)
        if not is_monotone(functions.basis, own, functions.weights @ combined.weights[:, 0]):
            return False
    return True


def solve_in_order(
    sums: AdditiveSums,
    bases: tuple[SplineBasis, SplineBasis],
    orders: SideOrders,
    n_components: int,
    smoothing: np.ndarray,
    strengths: Sequence[float] | np.ndarray = (),
) -> AdditiveFit:
    """Find the most correlated pair of additive functions that is monotone in ordered columns, and later pairs.

    Parameters
    ----------
    sums : AdditiveSums
        The sums over all rows.
    bases : pair of SplineBasis
        The features of both sides.
    orders : pair of sequence of ColumnOrder
        The ordered columns of both sides.
    n_components : int
        Find at most this many pairs.
    smoothing : ndarray
        The strength of the penalty for each component without an order; the last one is for all others too.
    strengths : sequence of float, or ndarray of two dimensions
        Ascending strengths, one of which held-out folds choose for the first pair. An array with two dimensions fixes
        those of all components.

    Returns
    -------
    AdditiveFit
        On each side there may be one function more than components: what is expected of the other side's first one,
        as far as it is not along the own one.
    """
    bases = (straighten_discrete_columns(bases[0], orders[0]), straighten_discrete_columns(bases[1], orders[1]))
    problem = _OrderedProblem(
        sums.folds, compute_penalties(sums, *bases), [list_cones(*side) for side in zip(bases, orders, strict=True)]
    )
    chosen = [float(smoothing[min(i, len(smoothing) - 1)]) for i in range(n_components)]
    total, penalty = problem.total, problem.penalty
    u, v = problem.find_first_pair(chosen[0])
    better = problem.choose_strength(chosen[0], strengths, (u, v))
    if better != chosen[0]:
        chosen[0] = better
        u, v = problem.find_first_pair(better)
    U, V = u[:, None], v[:, None]
    for strength in chosen[1:]:
        pair = _find_next_pair(total, penalty, strength, U, V)
        if pair is None:
            break
        U, V = np.column_stack([U, pair[0]]), np.column_stack([V, pair[1]])
    found = np.einsum("ij,ij->j", U, total.cov_fg @ V)
    f = bases[0].make_functions(total.mean_f, np.hstack([U, _find_bend(total.cov_f, total.cov_fg @ v, u)]))
    g = bases[1].make_functions(total.mean_g, np.hstack([V, _find_bend(total.cov_g, total.cov_fg.T @ u, v)]))
    return AdditiveFit(f, g, found, np.array(chosen[: len(found)]))


class _OrderedProblem:
    """The search for the first pair, from moments of the features in folds.

    Parameters
    ----------
    folds : sequence of Moments
        The moments of different pairs.
    penalty : pair of ndarray
        The penalties of both sides.
    cones : pair of list of ndarray
        A matrix for each ordered column.
    """

    def __init__(self, folds: Sequence[Moments], penalty: Penalty, cones: Sequence[list[np.ndarray]]) -> None:
        self.folds = [fold for fold in folds if fold.n]
        self.total = sum(folds, start=Moments())
        self.penalty = penalty
        self.cones = [[cone for cone in side if len(cone)] for side in cones]

    def find_first_pair(self, strength: float) -> tuple[np.ndarray, np.ndarray]:
        """Find the weights of the most correlated pair that is monotone in ordered columns, of variance 1."""
        W, V = _whiten_features(self.total, self.penalty, strength)
        (a, b), _ = find_conic_pair(W.T @ self.total.cov_fg @ V, *self._take_cones(W, V))
        return _scale_pair(self.total, W @ a, V @ b)

    def _take_cones(self, W: np.ndarray, V: np.ndarray) -> tuple[ConicSide, ConicSide]:
        x, y = (
            ConicSide.from_matrices([cone @ own for cone in side]) for side, own in zip(self.cones, (W, V), strict=True)
        )
        return x, y

    def choose_strength(
        self, given: float, strengths: Sequence[float] | np.ndarray, pair: tuple[np.ndarray, np.ndarray]
    ) -> float:
        """Choose the penalty of the first pair by what the pair captures of held-out folds.

        Smooth functions that are monotone can do less than smooth ones, so the best penalty is another than without the
        order. Each fold's search begins at the pair of all folds.
        """
        can_choose = any(r.any() for r in self.penalty) and len(self.folds) > 1 and self.total.n >= N_FOLDS
        if np.ndim(strengths) != 1 or len(strengths) < 2 or not can_choose:
            return given
        tried = sorted({*np.asarray(strengths)[::-STRENGTH_STRIDE].tolist(), given})
        scores = np.array([self._score_fold(k, tried, pair) for k in range(len(self.folds))])
        return tried[find_strongest_penalty(scores, MAX_LOSS)]

    def _score_fold(self, k: int, strengths: list[float], pair: tuple[np.ndarray, np.ndarray]) -> list[float]:
        """Fit to all folds but one with each strength, and compute what is captured of that one."""
        rest = sum([*self.folds[:k], *self.folds[k + 1 :]], start=Moments())
        covs = rest.cov_f, rest.cov_g
        (A, x), (B, y) = (diagonalise_penalty(cov, own) for cov, own in zip(covs, self.penalty, strict=True))
        K, scores = A.T @ rest.cov_fg @ B, []
        sides = self._take_cones(A, B)
        known = A.T @ (covs[0] @ pair[0]), B.T @ (covs[1] @ pair[1])
        for strength in strengths[::-1]:
            p, q = 1 / np.sqrt(1 + strength * x), 1 / np.sqrt(1 + strength * y)
            cones = sides[0].rescale(p), sides[1].rescale(q)
            (a, b), _ = climb_to_conic_pair(p[:, None] * K * q, *cones, known=(known[0] / p, known[1] / q))
            if not (a.any() and b.any()):  # no functions in order are correlated, and none capture nothing
                scores.append(0.0)
                continue
            known = p * a / np.linalg.norm(p * a), q * b / np.linalg.norm(q * b)
            correlation = np.clip([known[0] @ K @ known[1]], 0, 1)
            weights = (A @ known[0])[:, None], (B @ known[1])[:, None]
            scores.append(score_moments(self.folds[k], rest.mean_f, weights[0], rest.mean_g, weights[1], correlation))
        return scores[::-1]


def _find_bend(cov: np.ndarray, image: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Find what is expected of the other side's first function beyond the own one, of variance 1, as a column.

    There is nothing if no order has changed the own function, which is proportional to this expectation then.
    """
    W = whiten_covariance(cov)
    expected = W.T @ image
    own = W.T @ (cov @ first)
    left = expected - own * (own @ expected) / (own @ own)
    length = float(np.linalg.norm(left))
    is_bent = length > MAX_PARALLEL_SINE * float(np.linalg.norm(expected))
    return (W @ left / length)[:, None] if is_bent else np.empty((len(cov), 0))


def _find_next_pair(
    total: Moments, penalty: Penalty, strength: float, U: np.ndarray, V: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Find the most correlated pair that avoids earlier ones and what is expected of them; None if nothing is left."""
    W, Z = _whiten_features(total, penalty, strength)
    left = _span_columns(W.T @ np.hstack([total.cov_f @ U, total.cov_fg @ V]))
    right = _span_columns(Z.T @ np.hstack([total.cov_g @ V, total.cov_fg.T @ U]))
    if min(len(left) - left.shape[1], len(right) - right.shape[1]) < 1:
        return None
    a, _, b = decompose_complement(W.T @ total.cov_fg @ Z, left, right, 1)
    return _scale_pair(total, W @ a[:, 0], Z @ b[:, 0])


def _whiten_features(total: Moments, penalty: Penalty, strength: float) -> tuple[np.ndarray, np.ndarray]:
    """Find directions of both sides in which covariance plus penalty is 1."""
    x, y = zip((total.cov_f, total.cov_g), penalty, strict=True)
    return whiten_with_penalty(*x, strength), whiten_with_penalty(*y, strength)


def _span_columns(columns: np.ndarray, tolerance: float = MAX_PARALLEL_SINE) -> np.ndarray:
    """Make an orthonormal basis of columns, some of which may be parallel."""
    length = np.linalg.norm(columns, axis=0)
    columns = columns[:, length > 0] / length[length > 0]
    if not columns.size:
        return np.empty((len(columns), 0))
    basis, s, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(basis[:, s > tolerance * s[0]])


def _scale_pair(total: Moments, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scale = [np.sqrt(max(float(z @ C @ z), np.finfo(float).tiny)) for z, C in ((u, total.cov_f), (v, total.cov_g))]
    return u / scale[0], v / scale[1]


def decompose_in_order(
    moments: Moments,
    n_components: int,
    x_features: Callable[[Any], np.ndarray] | None = None,
    y_features: Callable[[Any], np.ndarray] | None = None,
    y_sample: Any = None,
) -> Decomposition:
    """Decompose moments of functions, but keep the first pair as it is.

    Parameters
    ----------
    moments : Moments
        The moments of functions, first of all those of the pair to keep.
    n_components : int
        Keep at most this many components.
    x_features, y_features : callable, optional
        These make the functions from x and y.
    y_sample : array-like, optional
        Keep these y of the fit for conditional expectations.

    Returns
    -------
    Decomposition
        Later components may be more correlated than the first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> F = rng.normal(size=(1000, 4)); G = F + [3, 1, 1, 1] * rng.normal(size=(1000, 4))
    >>> d = decompose_in_order(Moments().update(F, G), 2)
    >>> d.correlations.round(2), d.f.weights[1:, 0]
    (array([0.27, 0.69]), array([0., 0., 0.]))
    """
    deviations = [np.sqrt(np.maximum(np.diag(cov), np.finfo(float).tiny)) for cov in (moments.cov_f, moments.cov_g)]
    first = float(moments.cov_fg[0, 0] / deviations[0][0] / deviations[1][0])
    span = (
        _avoid_first(moments.cov_f[:, 0], moments.cov_fg[:, 0], deviations[0]),
        _avoid_first(moments.cov_g[:, 0], moments.cov_fg[0], deviations[1]),
    )
    rest = moments.decompose(n_components - 1, span=span)
    assert isinstance(rest.f, LinearFunctions)
    assert isinstance(rest.g, LinearFunctions)
    pics = np.append(np.clip(first, 0, 1) ** 2, rest.pics)
    f, g = (
        np.column_stack([np.eye(len(deviation))[0] / deviation[0], functions.weights])
        for functions, deviation in ((rest.f, deviations[0]), (rest.g, deviations[1]))
    )
    return Decomposition(
        pics,
        LinearFunctions(moments.mean_f, f, x_features),
        LinearFunctions(moments.mean_g, g, y_features, y_sample),
        chi2=float(pics.sum()),
        n=moments.n,
    )


def _avoid_first(own: np.ndarray, cross: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Find the combinations of functions that are uncorrelated with the first one and with that of the other side."""
    known = _span_columns(np.column_stack([own, cross]) / deviation[:, None], MAX_PARALLEL_SINE / 10)
    free = np.linalg.qr(known, mode="complete")[0][:, known.shape[1] :]
    return np.asarray(free / deviation[:, None])
