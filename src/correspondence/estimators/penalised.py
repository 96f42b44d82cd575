"""What CCA and KernelCCA share: combinations of features under a penalty, which held-out folds choose."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from correspondence._util.arguments import count_observations
from correspondence._util.constraints import check_parameters
from correspondence.core.decomposition import Decomposition
from correspondence.core.dependence_views import View, view_whitened
from correspondence.core.estimator import PairsEstimator
from correspondence.core.feature_maps import iterate_blocks
from correspondence.core.functions import FeatureMap
from correspondence.core.moments import Moments
from correspondence.core.regularised import check_strengths, compute_fold_moments, merge_folds
from correspondence.data.encoders.columns import copy_for_expectations
from correspondence.data.pairs.pairs import Memory, Parts

__all__ = ["PenalisedEstimator", "list_strengths", "sum_folds"]

SideFunction = Callable[[Any], np.ndarray]


class PenalisedEstimator(PairsEstimator):
    """Base of the estimators whose functions are linear in some features.

    Attributes
    ----------
    regularization_ : ndarray of shape (n_components,)
        The strength of the penalty that was used for each component.
    """

    regularization_: np.ndarray
    _is_penalised_by_variance: ClassVar[bool] = False

    def fit(self, X: Any, Y: Any = None, *, groups: Any = None) -> Self:
        """Find the most correlated functions of X and Y.

        Parameters
        ----------
        X, Y : array-like, frame, sparse matrix, list of texts or array of images
            One row for each pair. Or X alone, as `Pairs`: moments are then computed where the pairs are.
        groups : array-like of shape (n,), optional
            Pairs of the same group, such as duplicates, are never on both sides of a split when the penalty is chosen.

        Returns
        -------
        Self
            The estimator itself.

        Warns
        -----
        NearlyCollinear
            `CCA` drops a combination of columns that is hardly more than rounding; the warning names the columns.
        """
        check_parameters(self)
        pairs, codes = self._open_pairs(X, Y, groups)
        d, strength = self._decompose_pairs(pairs, codes, copy_for_expectations(Y))
        self._set_decomposition(d, X)
        self.regularization_ = strength
        return self

    @abstractmethod
    def _make_feature_maps(self, pairs: Parts) -> tuple[FeatureMap, FeatureMap]:
        """Features of x and of y."""

    @abstractmethod
    def _decompose_pairs(
        self, pairs: Parts, groups: np.ndarray | None, y_sample: Any
    ) -> tuple[Decomposition, np.ndarray]:
        """Decomposition, and the strength of the penalty of each component."""

    def _make_test_views(self, X: Any, Y: Any) -> list[View]:
        x, y = self._make_feature_maps(Memory(X, Y, count_observations(X, "X")))
        view = view_whitened(x(X), y(Y), by_variance=self._is_penalised_by_variance)
        return [] if view is None else [view]


def list_strengths(value: Any, name: str, if_auto: Sequence[float]) -> Sequence[float] | np.ndarray:
    """List the strengths of a penalty to choose from: those given, or others for "auto".

    One strength for each component comes as an array with one column.
    """
    return if_auto if isinstance(value, str) else check_strengths(value, name)


def sum_folds(rows: Parts, sides: tuple[SideFunction, SideFunction], groups: np.ndarray | None) -> list[Moments]:
    """Compute the moments of features of both sides, given as functions of their rows, in each fold."""
    return rows.sums(partial(_sum_part, sides, groups), merge_folds, "moments")


def _sum_part(
    sides: tuple[SideFunction, SideFunction], groups: np.ndarray | None, a: Any, b: Any, first: int
) -> list[Moments]:
    return compute_fold_moments(((sides[0](x), sides[1](y)) for x, y in iterate_blocks(a, b)), groups, first)
