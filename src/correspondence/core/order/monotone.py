"""Monotone functions of ordered labels: the best monotone pair of a matrix, and the axes of what it leaves.

Names and the usual symbols: Q = D_r^(-1/2) (P - r c^T) D_c^(-1/2) are the standardised residuals of a table (or what a
ridge leaves of them); u = D_r^(1/2) f and v = D_c^(1/2) g, so that E[f(x) g(y)] = u^T Q v and the variance of f is
u^T u. The best monotone pair maximises u^T Q v over unit vectors in the cone of monotone functions of each side.

The maximum is not concave: it is searched by alternating projections from several starts, each polished by the first
singular pair of the table whose equal neighbours are pooled, and for tables of few labels by all poolings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dgeqrf, dormqr
from scipy.optimize import isotonic_regression

from correspondence.core.order.poolings import MAX_WRONG_STEP, find_pooled_pair, search_poolings
from correspondence.core.residual_svd import MAX_CELLS_FOR_LAPACK, find_leading_axes

__all__ = ["MonotonePair", "OrderedSide", "find_monotone_pair", "find_ordered_axes", "project_monotone", "put_in_order"]

MAX_STEPS = 500  # alternating projections from one start; most need fewer than 20
MIN_RELATIVE_GAIN = 1e-13  # of a step of the alternation that continues
N_STARTING_AXES = 3  # unordered axes whose projections are starts
MAX_POOLED_LOSS = 1e-11  # relative, that rounding explains, of a pair that is exact
MAX_PARALLEL_SINE = 1e-8  # directions at an angle with a smaller sine differ by rounding only
ROUNDING = 1e-12  # steps of functions of variance 1 that are smaller have no direction, and smaller parts are nothing


def project_monotone(
    values: np.ndarray, weights: np.ndarray, order: np.ndarray | None = None, *, increasing: bool = True
) -> np.ndarray:
    """Find the monotone function that is closest to the values, in weighted least squares.

    Parameters
    ----------
    values : ndarray of shape (m,)
        The values of the labels.
    weights : ndarray of shape (m,)
        The weights of the labels must be positive.
    order : ndarray of int, optional
        These are the positions of the ordered labels, lowest first; the other labels keep their values. By default all
        labels are in order.
    increasing : bool
        False asks for a function that decreases.

    Returns
    -------
    ndarray of shape (m,)
        The projection has the weighted mean of the values.

    Examples
    --------
    >>> project_monotone(np.array([1.0, 3.0, 2.0, 4.0]), np.ones(4))
    array([1. , 2.5, 2.5, 4. ])
    """
    if order is None:
        return np.asarray(isotonic_regression(values, weights=weights, increasing=increasing).x)
    projected = np.array(values, dtype=np.float64)
    if len(order) > 1:
        projected[order] = isotonic_regression(values[order], weights=weights[order], increasing=increasing).x
    return projected


@dataclass(frozen=True, eq=False)
class OrderedSide:
    """One side of a matrix of residuals, and the order of its labels.

    Attributes
    ----------
    root : ndarray of shape (m,)
        The square roots of the masses.
    order : ndarray of int or None
        The positions of the ordered labels, lowest first; labels that it lacks are free. None means no order.
    """

    root: np.ndarray
    order: np.ndarray | None = None

    @property
    def is_ordered(self) -> bool:
        """Whether the order constrains anything: a single label has any order."""
        return self.order is not None and len(self.order) > 1

    def project_vector(self, u: np.ndarray, increasing: bool) -> np.ndarray:
        """Project u = sqrt(r) f on the cone of monotone f, and scale it to length 1; zeros if nothing is left."""
        if self.is_ordered:
            u = self.root * project_monotone(u / self.root, self.root**2, self.order, increasing=increasing)
        length = float(np.linalg.norm(u))
        return u / length if length > ROUNDING else np.zeros(len(u))

    def find_direction(self, u: np.ndarray, tolerance: float = ROUNDING) -> bool | None:
        """Say whether f = u / sqrt(r) increases (True) or decreases (False) with the order; None if neither."""
        if not self.is_ordered:
            return True
        steps = np.diff((u / self.root)[self.order])
        return True if (steps >= -tolerance).all() else False if (steps <= tolerance).all() else None

    def mark_ties(self, u: np.ndarray) -> np.ndarray:
        """Say which neighbours in the order have the same value."""
        if not self.is_ordered:
            return np.zeros(0, dtype=bool)
        return np.abs(np.diff((u / self.root)[self.order])) <= 1e-9

    def list_starts(self, axes: np.ndarray) -> Iterator[np.ndarray]:
        """List vectors to start from: unordered axes, and scores 1, 2, ... of the ordered labels."""
        yield from axes.T
        if self.is_ordered:
            scores = np.full(len(self.root), (len(self.order) - 1) / 2)  # type: ignore[arg-type]
            scores[self.order] = np.arange(len(self.order))  # type: ignore[arg-type]
            mass = self.root**2 / (self.root @ self.root)
            yield self.root * (scores - mass @ scores)


@dataclass(frozen=True, eq=False)
class MonotonePair:
    """The best monotone pair of functions of two sides.

    Attributes
    ----------
    u, v : ndarray
        The functions times the roots of the masses, of length 1.
    correlation : float
        E[f(x) g(y)].
    is_proven : bool
        Whether a search over all poolings of neighbours shows that no pair is better.
    """

    u: np.ndarray
    v: np.ndarray
    correlation: float
    is_proven: bool = False


def find_monotone_pair(Q: np.ndarray, rows: OrderedSide, columns: OrderedSide, *, prove: bool = True) -> MonotonePair:
    """Find the pair of functions, monotone on each ordered side, that is correlated most.

    Parameters
    ----------
    Q : ndarray of shape (r, c)
        The standardised residuals.
    rows, columns : OrderedSide
        The masses and orders of both sides. Without an order a side is free.
    prove : bool
        For few labels, search all poolings of neighbours that could be better than what the alternation found.

    Returns
    -------
    MonotonePair
        Each function increases or decreases with the order, whatever correlates more.

    Examples
    --------
    >>> P = np.array([[0.2, 0.1, 0.0], [0.1, 0.0, 0.2], [0.1, 0.1, 0.2]])
    >>> r, c = P.sum(axis=1), P.sum(axis=0)
    >>> Q = P / np.sqrt(np.outer(r, c)) - np.sqrt(np.outer(r, c))
    >>> pair = find_monotone_pair(Q, OrderedSide(np.sqrt(r), np.arange(3)), OrderedSide(np.sqrt(c), np.arange(3)))
    >>> (pair.u / np.sqrt(r)).round(2), round(pair.correlation, 4), pair.is_proven
    (array([-1.53,  0.65,  0.65]), 0.5345, True)
    """
    U, s, Vt = scipy.linalg.svd(Q, full_matrices=False, check_finite=False)
    if rows.find_direction(U[:, 0]) is not None and columns.find_direction(Vt[0]) is not None:
        return MonotonePair(U[:, 0], Vt[0], float(s[0]), True)
    best = _pair_scores(rows, columns, U[:, 0], Vt[0])
    # u^T Q v stays the same if both signs change, so the direction of one ordered side may be fixed.
    for right in (True, False) if rows.is_ordered and columns.is_ordered else (True,):
        for pair in _climb_from_starts(Q, rows, columns, right, (U[:, :N_STARTING_AXES], Vt[:N_STARTING_AXES].T)):
            if pair.correlation > best.correlation:
                best = pair
    if not prove:
        return best
    found, is_proven = search_poolings(Q, rows, columns, best.correlation)
    if found is None:
        return MonotonePair(best.u, best.v, best.correlation, is_proven)
    u, v = _clean_pair(rows, columns, *found)
    return MonotonePair(u, v, float(u @ Q @ v), is_proven)


def _pair_scores(rows: OrderedSide, columns: OrderedSide, u: np.ndarray, v: np.ndarray) -> MonotonePair:
    """Pair scores 1, 2, ... of ordered sides and axes of others: without any dependence all pairs are as good."""
    first = [list(side.list_starts(axis[:, None]))[-1] for side, axis in ((rows, u), (columns, v))]
    return MonotonePair(rows.project_vector(first[0], True), columns.project_vector(first[1], True), 0.0)


def _climb_from_starts(
    Q: np.ndarray, rows: OrderedSide, columns: OrderedSide, right: bool, axes: tuple[np.ndarray, np.ndarray]
) -> Iterator[MonotonePair]:
    """Climb from each start of each side, in both of its directions, to a local maximum."""
    for v in columns.list_starts(axes[1]):
        for sign in (1.0, -1.0):
            yield _climb(Q, rows, columns, right, columns.project_vector(sign * v, right))
    for u in rows.list_starts(axes[0]):
        for sign in (1.0, -1.0):
            yield _climb(
                Q, rows, columns, right, columns.project_vector(Q.T @ rows.project_vector(sign * u, True), right)
            )


def _climb(Q: np.ndarray, rows: OrderedSide, columns: OrderedSide, right: bool, v: np.ndarray) -> MonotonePair:
    """Alternate projections of the conditional expectations until nothing is gained, and polish what they find."""
    u, reached = np.zeros(len(Q)), 0.0
    for _ in range(MAX_STEPS):
        u = rows.project_vector(Q @ v, True)
        v = columns.project_vector(Q.T @ u, right)
        value = float(u @ Q @ v)
        if value <= reached * (1 + MIN_RELATIVE_GAIN):
            break
        reached = value
    # The alternation converges slowly where two singular values of the pooled table are close: take its pair at once.
    pooled = find_pooled_pair(Q, rows, columns, (rows.mark_ties(u), columns.mark_ties(v)))
    # It is exact, where the alternation has only half of the digits: that matters for what the pair leaves.
    if pooled is not None and pooled[2] > reached * (1 - MAX_POOLED_LOSS):
        u, v = _clean_pair(rows, columns, *pooled[:2])
        return MonotonePair(u, v, float(u @ Q @ v))
    return MonotonePair(u, v, reached)


def _clean_pair(rows: OrderedSide, columns: OrderedSide, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Make functions that are monotone up to rounding monotone."""
    cleaned = []
    for side, w in ((rows, u), (columns, v)):
        direction = side.find_direction(w, MAX_WRONG_STEP)
        cleaned.append(side.project_vector(w, direction is not False))
    return cleaned[0], cleaned[1]


def find_ordered_axes(
    Q: Any, k: int, rows: OrderedSide, columns: OrderedSide, *, centred: tuple[bool, bool] = (True, True)
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the best monotone pair and the leading axes of what it leaves, like `find_leading_axes`.

    Parameters
    ----------
    Q : Residuals or another matrix that `find_leading_axes` takes
        The standardised residuals.
    k : int
        The number of axes.
    rows, columns : OrderedSide
        The masses and orders of both sides.
    centred : (bool, bool)
        These say whether rows and columns are orthogonal to the trivial axis.

    Returns
    -------
    U, s, V : ndarray of shape (rows, d), (d,), (columns, d)
        At most k axes; see `put_in_order`.
    """
    return put_in_order(Q, find_leading_axes(Q, k, centred=centred), rows, columns, centred=centred)


def put_in_order(
    Q: Any,
    axes: tuple[np.ndarray, np.ndarray, np.ndarray],
    rows: OrderedSide,
    columns: OrderedSide,
    *,
    centred: tuple[bool, bool] = (True, True),
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Replace unordered axes by the best monotone pair and the leading axes of what it leaves.

    Later axes are orthogonal to the first pair, and E[f_i(x) g_j(y)] = 0 for i != j: they are singular triples of Q
    between the complements of {f_1, E[g_1 | x]} and of {g_1, E[f_1 | y]}.

    Parameters
    ----------
    Q : Residuals or another matrix that `find_leading_axes` takes
        The standardised residuals.
    axes : (U, s, V)
        Its leading axes.
    rows, columns : OrderedSide
        The masses and orders of both sides.
    centred : (bool, bool)
        These say whether rows and columns are orthogonal to the trivial axis.

    Returns
    -------
    U, s, V : ndarray of shape (rows, d), (d,), (columns, d)
        `axes` itself if its first pair is monotone. Otherwise at most as many axes: there may be one less than without
        the order. The first singular value may be smaller than later ones.
    """
    U, s, V = axes
    if not len(s) or all(side.find_direction(W[:, 0]) is not None for side, W in ((rows, U), (columns, V))):
        return axes
    matrix = _read_dense(Q)
    if s[0] > 0:
        pair = find_monotone_pair(matrix, rows, columns)
    else:  # what rounding leaves of such a matrix has axes that are not orthogonal to the trivial one
        matrix, pair = np.zeros_like(matrix), _pair_scores(rows, columns, U[:, 0], V[:, 0])
    trivial = rows.root if centred[0] else None, columns.root if centred[1] else None
    left = _span_known(pair.u, matrix @ pair.v, trivial[0]), _span_known(pair.v, matrix.T @ pair.u, trivial[1])
    rest = decompose_complement(matrix, *left, len(s) - 1)
    return (
        np.column_stack([pair.u, rest[0]]),
        np.concatenate([[pair.correlation], rest[1]]),
        np.column_stack([pair.v, rest[2]]),
    )


def _read_dense(Q: Any) -> np.ndarray:
    rows, columns = Q.shape
    if rows * columns > MAX_CELLS_FOR_LAPACK:
        raise ValueError(
            f"ordered must be None for a table of more than {MAX_CELLS_FOR_LAPACK:,} cells, got {rows} x {columns}."
        )
    return np.asarray(Q.toarray())


def _span_known(u: np.ndarray, image: np.ndarray, trivial: np.ndarray | None) -> np.ndarray:
    """Make an orthonormal basis of the trivial axis, u and the part of its partner's image that is not along them."""
    known = [u] if trivial is None else [u, trivial / np.linalg.norm(trivial)]
    basis = np.linalg.qr(np.column_stack(known))[0]
    whole = float(np.linalg.norm(image))
    for _ in range(2):  # twice is enough for orthogonality to machine precision
        image = image - basis @ (basis.T @ image)
    length = float(np.linalg.norm(image))
    return basis if length <= max(ROUNDING, MAX_PARALLEL_SINE * whole) else np.column_stack([basis, image / length])


def decompose_complement(
    Q: np.ndarray, left: np.ndarray, right: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find the leading singular triples of Q between the complements of two subspaces.

    Parameters
    ----------
    Q : ndarray of shape (r, c)
        The matrix.
    left, right : ndarray of shape (r, p) and (c, q)
        Orthonormal bases of the subspaces.
    k : int
        The number of triples.

    Returns
    -------
    U, s, V : ndarray
        At most k triples, as many as the complements have dimensions; orthonormal even where s is zero.
    """
    # Householder reflections take each subspace to the first coordinates, so the complement is all others.
    reflect_rows, reflect_columns = _make_reflection(left), _make_reflection(right)
    turned = reflect_columns(reflect_rows(Q, "T").T, "T").T
    inner = turned[left.shape[1] :, right.shape[1] :]
    U, s, Vt = scipy.linalg.svd(inner, full_matrices=False, check_finite=False)
    k = min(k, len(s))
    found = []
    for reflect, basis, axes in ((reflect_rows, left, U[:, :k]), (reflect_columns, right, Vt[:k].T)):
        found.append(reflect(np.vstack([np.zeros((basis.shape[1], k)), axes]), "N") if k else np.zeros((len(basis), 0)))
    return found[0], s[:k], found[1]


def _make_reflection(basis: np.ndarray) -> Any:
    """Make a function that multiplies by H or H^T, the product of reflections whose first columns span the basis."""
    raw, tau, _, _ = dgeqrf(basis)

    def reflect(matrix: np.ndarray, transposed: str) -> np.ndarray:
        work = dormqr("L", transposed, raw, tau, matrix, -1)[1]
        return dormqr("L", transposed, raw, tau, matrix, int(work[0]))[0]

    return reflect
