"""Tests of components of what is left of two variables once others are given, on all pairs.

The features of both sides are regressed on the given variables. If x and y are independent given z, the products of
what is left have mean 0 in each pair, however much their spread depends on z. So chance is drawn by giving each pair,
or each group of pairs, a random sign, and not by exchanging partners, which would need residuals of equal spread.

A regression of leverage h leaves a share 1 - h of the variance of a row. Both sides have the same regression, so
products of residuals have the share (1 - h)^2 of the mean square, but their sum has the variance of 1 - h of each row:
what the regression removes from one side it removes from the other as well. Signs of the size 1 / sqrt(1 - h) make up
for the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from correspondence.core.dependence_views import (
    MAX_BLOCKS,
    MAX_FEATURES,
    MAX_MULTIPLICATIONS,
    MIN_EXCHANGES,
    MIN_PRODUCT_MEAN_SQUARE,
    FeatureView,
    find_singular_value,
    view_whitened,
)
from correspondence.core.given.regression import Given, GivenRegression
from correspondence.core.penalised_coordinates import diagonalise_penalty
from correspondence.core.splines import (
    VIEW_SMOOTHING,
    AdditiveSums,
    SplineBasis,
    compute_penalties,
    take_normal_scores,
)
from correspondence.results.component_tests import LEFT_OF_ALL_PAIRS

__all__ = ["LeaveGiven", "Leftover", "ResidualView", "view_left_columns", "view_left_splines"]

MIN_SHARE_LEFT = 1e-6  # a feature of which the given variables leave a smaller share of the variance is one of theirs
MAX_LEVERAGE = 0.9  # larger leverages count as this


@dataclass(frozen=True, eq=False)
class Leftover:
    """What is left of some features.

    Attributes
    ----------
    values : ndarray of shape (n, p)
        The residuals of the features of which something is left.
    leverages : ndarray of shape (n,)
        The leverage of each row.
    kept : ndarray of bool
        The features of which something is left.
    """

    values: np.ndarray
    leverages: np.ndarray
    kept: np.ndarray


@dataclass(frozen=True, eq=False)
class LeaveGiven:
    """Regressions on the given variables, for any features.

    Attributes
    ----------
    given : Given
        The encoded rows of the given variables.
    groups : ndarray of int of shape (n,) or None
        Pairs of the same group share a sign, and are held out together.
    regressor : regressor or None
        By default the regressions are splines.
    seed : int
        The folds of regressors are drawn with this seed.
    """

    given: Given
    groups: np.ndarray | None = None
    regressor: object = None
    seed: int = 0

    def __call__(self, F: np.ndarray, G: np.ndarray) -> tuple[Leftover, Leftover]:
        """Leave what the given variables do not say of features of x and of y.

        Both are regressed on the same functions of z: what z says of x, the regression of y may need as well.
        """
        features = np.hstack([F, G])
        spread = features.std(axis=0)
        # Of a row with a label of its own, the regression on all rows leaves 0, and one without the row all of it:
        # so what is tested is left by the regression on all rows. Regressors may follow noise and are cross-fitted.
        groups = None if self.regressor is None else self.groups
        fit = GivenRegression.fit(features, self.given, groups, self.regressor, self.seed, is_rough=True)
        kept = fit.own_residuals.var(axis=0) > MIN_SHARE_LEFT * spread**2
        width = F.shape[1]
        x, y = (
            Leftover(fit.own_residuals[:, side][:, kept[side]], fit.leverages[:, 0], kept[side])
            for side in (slice(None, width), slice(width, None))
        )
        return x, y

    @property
    def blocks(self) -> np.ndarray:
        """The number of the sign of each pair: at most `MAX_BLOCKS`, each of pairs drawn at random."""
        n = len(self.given)
        groups = np.arange(n) if self.groups is None else np.unique(self.groups, return_inverse=True)[1]
        n_groups = int(groups.max()) + 1
        if n_groups <= MAX_BLOCKS:
            return groups
        return (np.random.default_rng([self.seed, 11]).permutation(n_groups) % MAX_BLOCKS)[groups]


@dataclass(frozen=True, eq=False)
class ResidualView(FeatureView):
    """What is left of features of x and y, whose chance is drawn by random signs.

    Attributes
    ----------
    blocks : ndarray of int of shape (n,)
        The number of the sign of each pair.
    sizes : ndarray of shape (n,)
        The size of the sign of each pair.
    """

    blocks: np.ndarray
    sizes: np.ndarray
    kind: ClassVar[str] = LEFT_OF_ALL_PAIRS

    def take_rows(self, rows: np.ndarray) -> ResidualView:  # noqa: D102
        return replace(self, x=self.x[rows], y=self.y[rows], blocks=self.blocks[rows], sizes=self.sizes[rows])

    @classmethod
    def plan_chance(cls, views: Sequence[Any], n_draws: int, seed: int) -> tuple[int, Callable[[], np.ndarray]]:
        """Say how often chance can be drawn, and how: by the same random signs of the pairs in all views."""
        cost = max(view.x.shape[1] * view.y.shape[1] * (int(view.blocks.max()) + 1) for view in views)
        n_draws = max(min(n_draws, MIN_EXCHANGES), min(n_draws, int(MAX_MULTIPLICATIONS / cost)))
        return n_draws, lambda: np.hstack([view.flip_signs(n_draws, seed) for view in views])

    def flip_signs(self, n_draws: int, seed: int) -> np.ndarray:
        """Compute statistics of the first component for the pairs, and below for products with random signs."""
        K = self.x.T @ self.y / self.n
        error = np.sqrt(np.maximum((self.x**2).T @ self.y**2 / self.n, MIN_PRODUCT_MEAN_SQUARE))
        noise = self._draw_blocks(np.zeros_like(K), n_draws, np.random.default_rng([seed, 0]))
        drawn = np.concatenate([K[None], noise]) / error
        statistics = []
        for weights_x, weights_y in self.scales:
            M = weights_x[:, None] * drawn * weights_y
            statistics += [find_singular_value(M, 0), np.sqrt((M**2).sum(axis=(1, 2)))]
        return np.column_stack(statistics)

    def _draw_covariances(self, K: np.ndarray, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        return self._draw_blocks(K, n_draws, rng)

    def _draw_blocks(self, K: np.ndarray, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        """Draw sums of products around K, one sign for each block."""
        order = np.argsort(self.blocks, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(self.blocks[order])) + 1)
        x = self.x * self.sizes[:, None]
        sums = np.array([x[rows].T @ self.y[rows] - self.sizes[rows].sum() * K for rows in parts]) / self.n
        signs = rng.choice([-1.0, 1.0], (n_draws, len(parts)))
        return (signs @ sums.reshape(len(parts), -1)).reshape(n_draws, *K.shape)


def view_left_columns(F: np.ndarray, G: np.ndarray, leave: LeaveGiven) -> ResidualView | None:
    """Make a view of what is left of the columns of both sides; None if nothing is left of one of them.

    Parameters
    ----------
    F, G : ndarray of shape (n, p) and (n, q)
        These are the features of the two variables.
    leave : LeaveGiven
        Regressions on the given variables.
    """
    f, g = leave(F, G)
    view = view_whitened(f.values, g.values)
    return None if view is None else _add_signs(view, f.leverages, leave)


def view_left_splines(
    x: np.ndarray,
    y: np.ndarray,
    is_number_x: np.ndarray,
    is_number_y: np.ndarray,
    leave: LeaveGiven,
    n_knots: int | None = None,
) -> ResidualView | None:
    """Make a view of what is left of splines of the columns, at scales from parabolas to wavy functions.

    Parameters
    ----------
    x, y, is_number_x, is_number_y, n_knots
        These are parameters of `view_additive`.
    leave : LeaveGiven
        Regressions on the given variables.
    """
    x, y = take_normal_scores(x, is_number_x), take_normal_scores(y, is_number_y)
    bases = SplineBasis.for_columns(x, is_number_x, n_knots), SplineBasis.for_columns(y, is_number_y, n_knots)
    penalties = compute_penalties(AdditiveSums.from_batches([(x, y)], *bases), *bases)
    left = leave(*(basis(basis.temper_extremes(Z)) for basis, Z in zip(bases, (x, y), strict=True)))
    sides, roughness = [], []
    for part, penalty in zip(left, penalties, strict=True):
        if not part.kept.any():
            return None
        R = part.values - part.values.mean(axis=0)
        directions, rough = diagonalise_penalty(R.T @ R / len(R), penalty[np.ix_(part.kept, part.kept)])
        smoothest = np.argsort(rough, kind="stable")[:MAX_FEATURES]
        sides.append(R @ directions[:, smoothest])
        roughness.append(rough[smoothest])
    scales = [tuple(1 / np.sqrt(1 + strength * rough) for rough in roughness) for strength in VIEW_SMOOTHING]
    return _add_signs(FeatureView(sides[0], sides[1], [(a, b) for a, b in scales]), left[0].leverages, leave)


def _add_signs(view: FeatureView, leverages: np.ndarray, leave: LeaveGiven) -> ResidualView:
    if leave.groups is not None:
        # What a regression removes of an effect of the group is at most the sum of the leverages of its pairs.
        codes = np.unique(leave.groups, return_inverse=True)[1]
        leverages = np.bincount(codes, leverages)[codes]
    sizes = 1 / np.sqrt(1 - np.minimum(leverages, MAX_LEVERAGE))
    return ResidualView(view.x, view.y, view.scales, leave.blocks, sizes)
