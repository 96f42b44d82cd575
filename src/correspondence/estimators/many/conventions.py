"""The conventions of multiple correspondence analysis: indicator, Burt, adjusted and joint.

With K columns, shares p of the answers and masses c = p / K, all of them decompose standardised residuals of the table
of all pairs of columns, S = D^-1/2 (P - c c') D^-1/2, or a part of it. Its blocks on the diagonal, of each column with
itself, are (I - sqrt(p) sqrt(p)') / K and say nothing of how columns go together.

- indicator: inertias are the eigenvalues of S.
- burt: their squares.
- adjusted: squares of the eigenvalues of K / (K - 1) (S - (I - r r') / K), with r = sqrt(c): the same axes, unless
  answers are excluded.
- joint: squares of the eigenvalues of S with blocks on the diagonal that the axes themselves predict.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.user_warnings import Inexact
from correspondence.core.column_blocks import BlockAxes, ColumnBlock, FeatureMoments, whiten_block
from correspondence.core.sparse_moments import SparseCovariance
from correspondence.results.points import JointAnswers, Points

__all__ = ["Convention", "apply_convention", "compute_eta2", "find_label_features"]

MAX_JOINT_STEPS = 1000
JOINT_TOLERANCE = 1e-12  # change of the largest cell of S in a step
MAX_JOINT_CHANGE = 1e-7  # in the last step; a larger one gets a warning
JOINT_COMPONENTS = 2  # axes of the joint analysis, if the user does not say


@dataclass(frozen=True, eq=False)
class Convention:
    """What one convention makes of the axes.

    Attributes
    ----------
    axes : BlockAxes
        The scores of rows: those of the indicator table along the axes of the convention.
    columns : Points
        The answers that are kept.
    shares : ndarray of shape (d,)
        The shares of the axes in the total inertia; NaN for "joint", whose axes explain it together.
    explained : float
        The share that all axes explain together.
    total : float
        The total inertia.
    """

    axes: BlockAxes
    columns: Points
    shares: np.ndarray
    explained: float
    total: float


def find_label_features(blocks: Sequence[ColumnBlock]) -> np.ndarray:
    """Return the positions of the indicators of answers that are kept."""
    parts = [np.empty(0, dtype=np.intp)]
    for block in blocks:
        if block.kind == "labels":
            own = np.arange(block.features.start, block.features.stop)
            parts.append(own if block.kept is None else own[block.kept])
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class _Burt:
    """The standardised residuals S of all answers, and which of them are kept."""

    cov: Any
    share: np.ndarray
    owner: np.ndarray
    kept: np.ndarray

    @classmethod
    def from_moments(cls, moments: FeatureMoments, blocks: Sequence[ColumnBlock]) -> _Burt:
        owner = np.repeat(np.arange(len(blocks)), [block.width for block in blocks])
        return cls(moments.cov, moments.mean, owner, find_label_features(blocks))

    @cached_property
    def S(self) -> np.ndarray:  # noqa: N802 (as in the formulas)
        """The standardised residuals."""
        root = np.sqrt(np.where(self.share > 0, self.share, 1))  # an answer that nobody gave has no residuals
        return np.asarray(self.cov / np.outer(root, root) / self.k)

    @property
    def is_sparse(self) -> bool:
        """Whether S is too large to be formed."""
        return isinstance(self.cov, SparseCovariance)

    @property
    def k(self) -> int:
        """The number of columns."""
        return int(self.owner[-1]) + 1

    @property
    def is_own(self) -> np.ndarray:
        """Which pairs of answers belong to the same column."""
        return self.owner[:, None] == self.owner

    @property
    def mass(self) -> np.ndarray:
        """The masses of the kept answers."""
        return self.share[self.kept] / self.k

    def select_kept(self, matrix: np.ndarray) -> np.ndarray:
        """Return the rows and columns of the kept answers."""
        return matrix[np.ix_(self.kept, self.kept)]

    def sum_squares(self, of_pairs: bool = False) -> np.ndarray:
        """Sum the squares of S over the kept answers, or over those of other columns only."""
        if not self.is_sparse:
            return np.asarray((self.select_kept(np.where(self.is_own, 0, self.S) if of_pairs else self.S) ** 2).sum(1))
        squares, is_kept = np.zeros(len(self.share)), np.isin(np.arange(len(self.share)), self.kept)
        for columns, cov in self.cov.iterate_columns():
            part = cov**2 / np.multiply.outer(self.share, self.share[columns])
            if of_pairs:
                part[self.owner[:, None] == self.owner[columns]] = 0
            squares += part @ is_kept[columns]
        return squares[self.kept] / self.k**2


def apply_convention(
    correction: str,
    axes: BlockAxes,
    moments: FeatureMoments,
    blocks: Sequence[ColumnBlock],
    labels: np.ndarray,
    n_components: int | None,
) -> Convention:
    """Compute inertias and coordinates by one convention.

    Parameters
    ----------
    correction : {"indicator", "burt", "adjusted", "joint"}
        The convention.
    axes : BlockAxes
        The axes of the indicator table.
    moments : FeatureMoments
        The moments of the indicators.
    blocks : sequence of ColumnBlock
        The columns.
    labels : ndarray of shape (p,)
        The names of all answers.
    n_components : int, optional
        The number of axes; by default all that the convention has.

    Returns
    -------
    Convention
        Inertias, axes and points.
    """
    burt = _Burt.from_moments(moments, blocks)
    names = labels[burt.kept]
    if correction in ("indicator", "burt"):
        return _take_plain_axes(correction, axes.truncate(n_components or len(axes.eigenvalues)), burt, names)
    if correction == "adjusted":
        squares = burt.k / (burt.k - 1) * burt.sum_squares(of_pairs=True)
        total = float(squares.sum())
        if axes.quantified is not None:
            return _adjust_ordered_axes(axes, burt, names, squares, total, n_components)
        values, V = _find_adjusted_axes(axes, burt, n_components)
        return _turn_axes(values, V, axes, moments, burt, names, squares, values**2 / total, total)
    if burt.is_sparse:
        raise ValueError(
            f'correction must not be "joint" for as many as {len(burt.share):,} answers. '
            'Choose "adjusted", or group the answers.'
        )
    return _find_joint_axes(n_components or JOINT_COMPONENTS, axes, moments, burt, names)


def _find_adjusted_axes(axes: BlockAxes, burt: _Burt, n_components: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Find eigenvalues and eigenvectors of S without what each column explains of itself."""
    k, r = burt.k, np.sqrt(burt.mass)
    if not burt.is_sparse:
        S = k / (k - 1) * (burt.select_kept(burt.S) - (np.eye(len(r)) - np.outer(r, r)) / k)
        return _find_positive(S, n_components)
    if len(burt.kept) < len(burt.share):
        raise ValueError(
            f'correction must not be "adjusted" with excluded answers for as many as {len(burt.share):,}. '
            'Choose "indicator" or "burt".'
        )
    # All answers are kept, so eigenvectors of S are orthogonal to r, and only the eigenvalues move.
    values = k / (k - 1) * (axes.eigenvalues / k - 1 / k)
    used = values > 1e-12 * max(values[0], 1e-300)
    V = axes.covariance[:, used] / burt.share[:, None] / np.sqrt(axes.eigenvalues[used] / k)
    return values[used], V * r[:, None]


def _adjust_ordered_axes(
    axes: BlockAxes, burt: _Burt, names: np.ndarray, squares: np.ndarray, total: float, n_components: int | None
) -> Convention:
    """Correct the inertias of axes in order; the axes stay, because all answers are kept."""
    values = burt.k / (burt.k - 1) * (axes.eigenvalues / burt.k - 1 / burt.k)
    used = np.flatnonzero(values > 1e-12 * max(values.max(initial=0), 1e-300))[:n_components]
    kept = axes.select(used)
    standard = kept.modelled_covariance[burt.kept] / burt.share[burt.kept][:, None]
    points = _make_points(names, burt.mass, squares, standard / np.sqrt(kept.eigenvalues / burt.k), values[used] ** 2)
    shares = values[used] ** 2 / total
    return Convention(kept, points, shares, float(shares.sum()), total)


def _take_plain_axes(correction: str, axes: BlockAxes, burt: _Burt, names: np.ndarray) -> Convention:
    """Keep the axes of the indicator table."""
    share, eigenvalues = burt.share[burt.kept], axes.eigenvalues / burt.k
    standard = axes.modelled_covariance[burt.kept] / share[:, None] / np.sqrt(eigenvalues)
    if correction == "indicator":
        # For 0 and 1 this is mass * (1 / share - 1), but shares that stand for missing answers vary less.
        squares = burt.cov.diagonal()[burt.kept] / share / burt.k
        inertias, total = eigenvalues, axes.total / burt.k
    else:
        squares = burt.sum_squares()
        inertias, total = eigenvalues**2, float(squares.sum())
    points = _make_points(names, burt.mass, squares, standard, inertias)
    shares = inertias / total
    return Convention(axes, points, shares, float(shares.sum()), total)


def _make_points(
    names: np.ndarray, mass: np.ndarray, squares: np.ndarray, standard: np.ndarray, inertias: np.ndarray
) -> Points:
    return Points(names, mass, np.sqrt(squares / mass), squares, standard, np.sqrt(inertias))


def _find_positive(S: np.ndarray, n_components: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Find the largest positive eigenvalues of a symmetric matrix, and their eigenvectors."""
    values, vectors = scipy.linalg.eigh(S, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    d = int((values > 1e-12 * max(values[0], 1e-300)).sum())
    d = d if n_components is None else min(d, n_components)
    return values[:d], vectors[:, :d]


def _turn_axes(
    values: np.ndarray,
    V: np.ndarray,
    axes: BlockAxes,
    moments: FeatureMoments,
    burt: _Burt,
    names: np.ndarray,
    squares: np.ndarray,
    shares: np.ndarray,
    total: float,
    explained: float | None = None,
) -> Convention:
    """Lay the scores of rows along the eigenvectors V of a part of S."""
    sign = np.sign(np.sum(V * (axes.covariance[burt.kept, : V.shape[1]] / np.sqrt(burt.mass)[:, None]), axis=0))
    V = V * np.where(sign == 0, 1, sign)
    raw = np.zeros((len(moments.mean), V.shape[1]))
    raw[burt.kept] = V / np.sqrt(burt.share[burt.kept])[:, None]
    covariance = moments.cov @ raw
    spread = np.einsum("ij,ij->j", raw, covariance)
    turned = BlockAxes(spread, axes.mean, raw / np.sqrt(spread), covariance / np.sqrt(spread), axes.total)
    points = _make_points(names, burt.mass, squares, V / np.sqrt(burt.mass)[:, None], values**2)
    return Convention(turned, points, shares, float(shares.sum()) if explained is None else explained, total)


def _find_joint_axes(d: int, axes: BlockAxes, moments: FeatureMoments, burt: _Burt, names: np.ndarray) -> Convention:
    """Fit the tables of different columns only: the blocks on the diagonal are replaced by what the axes predict."""
    values, V, fitted = _predict_own_blocks(burt, np.arange(len(burt.S)), d)
    own = burt.is_own
    other = float((fitted[~own] ** 2).sum())
    explained = (float((values**2).sum()) - float((fitted[own] ** 2).sum())) / other
    total = float((fitted**2).sum())
    if len(burt.kept) < len(burt.S):
        values, V, fitted = _predict_own_blocks(burt, burt.kept, d)
    squares, predicted = (fitted**2).sum(axis=1), (V**2) @ values**2
    is_other = ~own[np.ix_(burt.kept, burt.kept)]
    of_pairs = np.where(is_other, fitted**2, 0).sum(axis=1)
    none = np.full(len(values), np.nan)
    found = _turn_axes(values, V, axes, moments, burt, names, squares, none, total, explained)
    # Own blocks are what the axes predict, so that they are no evidence: they are taken off on both sides.
    return replace(
        found, columns=JointAnswers(**vars(found.columns), explained=predicted - squares + of_pairs, of_pairs=of_pairs)
    )


def _predict_own_blocks(burt: _Burt, kept: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Replace the blocks on the diagonal of S by what d axes predict, until nothing moves."""
    k, square = burt.k, np.ix_(kept, kept)
    own, r = burt.is_own[square], np.sqrt(burt.share[kept] / k)
    S = np.where(own, 0, burt.S[square])
    values, V = _find_positive(k / (k - 1) * (burt.S[square] - (np.eye(len(r)) - np.outer(r, r)) / k), d)

    columns = [np.flatnonzero(burt.owner[kept] == j) for j in range(k)]

    def predict(blocks: np.ndarray) -> np.ndarray:
        values, V = _find_positive(S + blocks, d)
        return _bound_blocks(np.where(own, (V * values) @ V.T, 0), columns, 1 / k)

    blocks = np.where(own, (V * values) @ V.T, 0)
    for _ in range(MAX_JOINT_STEPS):
        first = predict(blocks)
        second = predict(first)
        change = np.abs(second - first).max()
        if change < JOINT_TOLERANCE:
            break
        blocks = predict(_extrapolate(blocks, first, second))
    if change > MAX_JOINT_CHANGE:
        warnings.warn(
            f"The joint analysis still moved by {change:.1e} in its last step; too little goes together for its axes.",
            Inexact,
            stacklevel=find_user_stacklevel(),
        )
    fitted = S + second
    return *_find_positive(fitted, d), fitted


def _bound_blocks(blocks: np.ndarray, columns: Sequence[np.ndarray], most: float) -> np.ndarray:
    """Let axes explain no more of a column than there is: otherwise they explain one column alone, without end."""
    for own in columns:
        values, vectors = np.linalg.eigh(blocks[np.ix_(own, own)])
        if len(values) and values[-1] > most:
            blocks[np.ix_(own, own)] = (vectors * np.minimum(values, most)) @ vectors.T
    return blocks


def _extrapolate(start: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Go on along the last two steps, because steps shrink slowly (Varadhan and Roland's squared extrapolation)."""
    step = first - start
    bend = second - first - step
    size = np.linalg.norm(bend)
    if size == 0:
        return second
    length = max(1.0, float(np.linalg.norm(step) / size))
    return start + 2 * length * step + length**2 * bend


def compute_eta2(axes: BlockAxes, moments: FeatureMoments, blocks: Sequence[ColumnBlock]) -> np.ndarray:
    """Compute the squared multiple correlation of each column with each axis.

    Parameters
    ----------
    axes : BlockAxes
        The axes.
    moments : FeatureMoments
        The moments of the features.
    blocks : sequence of ColumnBlock
        The columns; of answers only those that are kept count.

    Returns
    -------
    ndarray of shape (k, d)
        Numbers from 0 to 1.
    """
    found = np.empty((len(blocks), len(axes.eigenvalues)))
    for j, block in enumerate(blocks):
        own = axes.modelled_covariance[block.features]
        if block.kind == "labels":
            share = moments.mean[block.features][:, None]
            kept = slice(None) if block.kept is None else block.kept
            found[j] = (own[kept] ** 2 / share[kept]).sum(axis=0)
        elif block.kind == "number":
            found[j] = own[0] ** 2 / moments.cov[block.features, block.features][0, 0]
        else:
            # The curve that the penalty allows: its squared correlation with the score.
            curve = (W := whiten_block(moments, block)) @ (W.T @ own)
            spread = np.einsum("ij,ij->j", curve, moments.cov[block.features, block.features] @ curve)
            found[j] = np.einsum("ij,ij->j", curve, own) ** 2 / np.where(spread > 0, spread, np.inf)
    return found
