"""Axes of many columns of which some have an order: along the first axis their answers ascend or descend.

The first score z and the quantifications q_k(x_k) of the columns maximise Var(sum of q_k) / sum of Var(q_k), as without
an order, but the q_k of ordered columns are monotone. In whitened coordinates v, with M = W' C W, that is the largest
v' M v of all unit vectors in a product of cones. Alternating between scores and conditional means with isotonic
regressions is the iteration v <- P(M v) / |P(M v)|, where P projects on to the cones; it never lowers v' M v. Both
directions of a column are cones of their own, and P takes the nearer one. The iteration stops at local maxima too, so
there are several starts, and the direction of each column is tried the other way round.

Later axes are free: they are the eigenvectors of M among the vectors that are orthogonal to v, so that quantifications
are uncorrelated, and to M v, so that scores are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.optimize import isotonic_regression

from correspondence.core.column_blocks import MIN_EIGENVALUE_SHARE, BlockAxes, ColumnBlock, FeatureMoments

__all__ = ["order_axes"]

MIN_ORDERED_ANSWERS = 3  # two answers are in order anyway
N_EIGENVECTORS = 6  # leading ones, from which the search starts
MAX_CUTS = 60  # splits of a column into lower and higher answers, from which it starts too
EXPLORING_STEPS = 4  # from each start
N_CLIMBS = 5  # from the best points that they reach
MAX_STEPS = 1000  # of one climb
STEPS_BEFORE_EXACT = 5  # after which it is tried whether the answers that share a value stay the same
STEP_TOLERANCE = 1e-13  # length of a step at which a climb has arrived
MIN_GAIN_SHARE = 1e-10  # of an eigenvalue; another direction that gains less is not better
ORDER_TOLERANCE = 1e-10  # steps against the order that are rounding, as a share of the largest coordinate


@dataclass(frozen=True, eq=False)
class _OrderedColumns:
    """The cones of ordered columns in whitened coordinates.

    Attributes
    ----------
    parts : list of ndarray
        The positions of the answers of each ordered column, in order.
    scale : ndarray of shape (p,)
        The factors by which coordinates become values of the answers; 0 for answers that take no part.
    """

    parts: list[np.ndarray]
    scale: np.ndarray

    @classmethod
    def from_blocks(cls, blocks: Sequence[ColumnBlock], scale: np.ndarray) -> _OrderedColumns:
        """Find the ordered columns with at least three answers that take part."""
        found = [block.features.start + block.order for block in blocks if block.order is not None]
        parts = [part[scale[part] > 0] for part in found]
        return cls([part for part in parts if len(part) >= MIN_ORDERED_ANSWERS], scale)

    def is_met(self, v: np.ndarray) -> bool:
        """Tell whether the values of each column ascend or descend."""
        slack = ORDER_TOLERANCE * np.abs(self.scale * v).max(initial=0)
        steps = [np.diff(self.scale[part] * v[part]) for part in self.parts]
        return all((own >= -slack).all() or (own <= slack).all() for own in steps)

    def project(self, x: np.ndarray, signs: Sequence[int] | None = None) -> np.ndarray:
        """Project on to the cones with these directions, or on to the nearer one of each column."""
        v = x.copy()
        for j, part in enumerate(self.parts):
            tried = (1, -1) if signs is None else (signs[j],)
            fits = [sign * self._fit_ascending(sign * x[part], self.scale[part]) for sign in tried]
            v[part] = max(fits, key=lambda own: float(own @ own))
        return v

    @staticmethod
    def _fit_ascending(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
        return np.asarray(isotonic_regression(x * scale, weights=scale**-2.0).x / scale)

    def find_signs(self, v: np.ndarray) -> list[int]:
        """Return 1 for each column that ascends, -1 for others."""
        return [1 if (self.scale * v)[part[-1]] >= (self.scale * v)[part[0]] else -1 for part in self.parts]

    def make_equal_steps(self, v: np.ndarray) -> np.ndarray:
        """Replace the values of each ordered column by equal steps in the direction that they have in v."""
        stepped = v.copy()
        for part in self.parts:
            mass = self.scale[part] ** -2.0
            steps = np.arange(len(part)) - np.average(np.arange(len(part)), weights=mass)
            steps = steps * np.sign(mass @ (steps * self.scale[part] * v[part]) or 1.0)
            own = steps / self.scale[part]
            stepped[part] = own * (np.linalg.norm(v[part]) / np.linalg.norm(own))
        return stepped

    def list_cuts(self) -> list[np.ndarray]:
        """List vectors that split one column into lower and higher answers: the edges of the cones."""
        cuts = []
        for part in self.parts:
            root = 1 / self.scale[part]
            for i in range(1, len(part)):
                cut = np.zeros(len(self.scale))
                cut[part] = root * (np.arange(len(part)) >= i)
                cut[part] -= root * (root @ cut[part]) / (root @ root)
                cuts.append(cut)
        return cuts

    def pool_answers(self, v: np.ndarray) -> np.ndarray:
        """Return orthonormal directions in which neighbours that share a value in v keep sharing one."""
        slack = ORDER_TOLERANCE * np.abs(self.scale * v).max(initial=0)
        group = np.arange(len(v))
        for part in self.parts:
            is_new = np.append(True, np.abs(np.diff(self.scale[part] * v[part])) > slack)
            group[part] = part[is_new][np.cumsum(is_new) - 1]
        used = np.flatnonzero(self.scale > 0)
        different, columns = np.unique(group[used], return_inverse=True)
        directions = np.zeros((len(v), len(different)))
        directions[used, columns] = 1 / self.scale[used]
        return np.asarray(directions / np.linalg.norm(directions, axis=0))


def order_axes(
    moments: FeatureMoments, whitening: sp.csr_array, blocks: Sequence[ColumnBlock], axes: BlockAxes
) -> BlockAxes:
    """Turn axes so that ordered columns are monotone along the first.

    Parameters
    ----------
    moments : FeatureMoments
        The moments of the rows that are analysed.
    whitening : scipy.sparse array of shape (p, p)
        The diagonal matrix that whitens the indicators.
    blocks : sequence of ColumnBlock
        The columns; those with an `order` are ordered.
    axes : BlockAxes
        The axes without an order.

    Returns
    -------
    BlockAxes
        The same axes if the first is in order already.

    Examples
    --------
    Of the answers a, b and c, the rarest, b, is out of order: it shares a value with its neighbour.

    >>> counts = np.array([[40.0, 10.0], [0.0, 6.0], [24.0, 20.0]]) / 100
    >>> joint = np.block([[np.diag(counts.sum(1)), counts], [counts.T, np.diag(counts.sum(0))]])
    >>> moments = FeatureMoments(100, (m := np.diag(joint)), joint - np.outer(m, m))
    >>> blocks = [ColumnBlock("x", "labels", slice(0, 3), order=np.arange(3)), ColumnBlock("y", "labels", slice(3, 5))]
    >>> from correspondence.core.column_blocks import find_block_axes, whiten_blocks
    >>> white = whiten_blocks(moments, blocks)
    >>> axes = order_axes(moments, white, blocks, find_block_axes(moments, white))
    >>> bool(np.isclose(axes.weights[1, 0], axes.weights[2, 0]))
    True
    """
    if not len(axes.eigenvalues) or all(block.order is None for block in blocks):
        return axes
    scale = whitening.diagonal()
    ordered = _OrderedColumns.from_blocks(blocks, scale)
    M = np.asarray(whitening.T @ (moments.cov @ whitening))
    M = (M + M.T) / 2
    root = np.where(scale > 0, 1 / np.where(scale > 0, scale, 1), 0)
    leading = (root[:, None] * axes.weights)[:, :N_EIGENVECTORS] * np.sqrt(axes.eigenvalues[:N_EIGENVECTORS])
    if ordered.is_met(leading[:, 0]):
        return axes
    return _deflate_first(moments, scale, axes, M, _find_best_direction(M, ordered, leading))


def _find_best_direction(M: np.ndarray, ordered: _OrderedColumns, leading: np.ndarray) -> np.ndarray:
    """Find the unit vector in the cones with the largest v' M v, from several starts."""
    starts = [*leading.T, ordered.make_equal_steps(leading[:, 0]), *ordered.list_cuts()[:MAX_CUTS]]
    explored = [_take_steps(M, ordered, v) for v in starts]
    explored.sort(key=lambda v: -float(v @ M @ v))
    best = max((_climb(M, ordered, v) for v in explored[:N_CLIMBS]), key=lambda v: float(v @ M @ v))
    is_better = True
    while is_better:
        is_better = False
        for j, part in enumerate(ordered.parts):
            signs = ordered.find_signs(best)
            signs[j] = -signs[j]
            turned = best.copy()
            turned[part] = -turned[part]
            found = _climb(M, ordered, ordered.project(turned, signs), signs)
            if found @ M @ found > (1 + MIN_GAIN_SHARE) * (best @ M @ best):
                best, is_better = _climb(M, ordered, found), True
    return best


def _take_steps(M: np.ndarray, ordered: _OrderedColumns, v: np.ndarray) -> np.ndarray:
    v = ordered.project(v)
    for _ in range(EXPLORING_STEPS):
        v = ordered.project(M @ v)
        v = v / max(float(np.linalg.norm(v)), 1e-300)
    return v


def _climb(M: np.ndarray, ordered: _OrderedColumns, v: np.ndarray, signs: Sequence[int] | None = None) -> np.ndarray:
    """Alternate between scores and monotone conditional means, until nothing moves."""
    v = v / max(float(np.linalg.norm(v)), 1e-300)
    for step in range(1, MAX_STEPS + 1):
        turned = ordered.project(M @ v, signs)
        length = float(np.linalg.norm(turned))
        if not length > 0:
            return v
        turned /= length
        is_still = np.linalg.norm(turned - v) < STEP_TOLERANCE
        v = turned
        if is_still:
            break
        if step % STEPS_BEFORE_EXACT == 0:
            exact = _solve_pooled(M, ordered, v, signs)
            if exact is not None:
                return exact
    return v


def _solve_pooled(
    M: np.ndarray, ordered: _OrderedColumns, v: np.ndarray, signs: Sequence[int] | None
) -> np.ndarray | None:
    """Find the best vector with the same answers pooled; None if it is not in order or not where the climb ends."""
    B = ordered.pool_answers(v)
    vector = B @ scipy.linalg.eigh(B.T @ M @ B, subset_by_index=[B.shape[1] - 1] * 2, check_finite=False)[1][:, 0]
    vector = vector * (1.0 if vector @ v >= 0 else -1.0)
    if not ordered.is_met(vector) or (signs is not None and ordered.find_signs(vector) != list(signs)):
        return None
    moved = ordered.project(M @ vector, signs)
    moved /= np.linalg.norm(moved)
    return vector if np.linalg.norm(moved - vector) < np.sqrt(STEP_TOLERANCE) else None


def _deflate_first(
    moments: FeatureMoments, scale: np.ndarray, axes: BlockAxes, M: np.ndarray, first: np.ndarray
) -> BlockAxes:
    """Put a vector in front, and find the axes of what is orthogonal to it."""
    value = float(first @ M @ first)
    used = np.flatnonzero(scale > 0)
    ruled_out = np.column_stack([first, M @ first / value])[used]
    # The two are parallel only if the first axis is one of those without an order.
    bend = np.linalg.norm(ruled_out[:, 1] - ruled_out[:, 0] * (ruled_out[:, 0] @ ruled_out[:, 1]))
    ruled_out = ruled_out if bend > ORDER_TOLERANCE else ruled_out[:, :1]
    free = scipy.linalg.qr(ruled_out, check_finite=False)[0][:, ruled_out.shape[1] :]
    values, vectors = scipy.linalg.eigh(free.T @ M[np.ix_(used, used)] @ free, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = int((values > MIN_EIGENVALUE_SHARE * value).sum())
    V = np.zeros((len(first), 1 + rank))
    V[:, 0], V[used, 1:] = first, free @ vectors[:, :rank]
    found = np.append(value, values[:rank])
    weights = scale[:, None] * V / np.sqrt(found)
    covariance = moments.cov @ weights
    root = np.where(scale > 0, 1 / np.where(scale > 0, scale, 1), 0)
    quantified = root[:, None] * V * np.sqrt(found)
    return replace(axes, eigenvalues=found, weights=weights, covariance=covariance, quantified=quantified)
