"""Canonical correlation analysis of columns, on the common base of penalised estimators."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import count_observations
from correspondence._util.constraints import Constraints, Whole, check_parameters
from correspondence.core.collinearity import Basis, Described, Resolved, describe_columns, resolve_collinearity
from correspondence.core.decomposition import Decomposition
from correspondence.core.dependence_views import View, view_whitened
from correspondence.core.estimator import MISSING_POLICIES, PairsEstimator, treat_missing
from correspondence.core.feature_maps import Encoded, fix_signs, iterate_blocks
from correspondence.core.functions import FeatureMap, LinearFunctions
from correspondence.core.given.conditional_views import view_left_columns
from correspondence.core.given.estimator_given import GivenEstimator
from correspondence.core.given.left_features import (
    Conditions,
    LeftFeatures,
    decompose_left,
    find_left_directions,
    sum_left,
)
from correspondence.core.given.regression import check_regressor
from correspondence.core.moments import Moments
from correspondence.core.regularised import (
    PenalisedFit,
    check_strengths,
    compute_fold_moments,
    fit_penalised,
    merge_folds,
)
from correspondence.core.scoring import score_moments
from correspondence.core.sparse_basis import find_sparse_basis, weigh_columns, weigh_words
from correspondence.data.beside_given import has_given, strip_given
from correspondence.data.encoders.choosing import encoders_for
from correspondence.data.encoders.columns import copy_for_expectations
from correspondence.data.pairs.pairs import Memory, Parts
from correspondence.results.evidence import compute_gain

__all__ = ["CCA", "PenalisedEstimator", "list_strengths", "sum_folds"]

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
        X, Y, groups = treat_missing(self.missing, X, Y, groups)
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

    def _make_test_views(self, X: Any, Y: Any, groups: np.ndarray | None = None) -> list[View]:
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


RIDGE_STRENGTHS = (0.0, *(10.0 ** np.arange(-3, 3.5, 0.5)).tolist())
MIN_PAIRS_PER_COLUMN = 4  # from which on nothing is regularised
Bases = tuple[Basis, Basis]


class CCA(GivenEstimator, PenalisedEstimator):
    """Canonical correlation analysis: the most correlated linear functions of the columns.

    Columns of numbers are taken as they are, labels as an indicator for each, images as pixels, text as a bag of words.
    Columns that repeat others do no harm. What distinguishes nearly collinear columns is found if it is more than
    rounding, down to about 1e-14 of their spread. If there are fewer than four pairs for each column, a ridge is added,
    whose strength is chosen by what the functions capture of held-out folds; more columns than pairs are fine.

    Texts, and sparse matrices of more than 1000 columns, are not made dense: their columns are weighted, words by their
    inverse document frequency, and reduced to the (at most 800) directions along which they vary most, by a randomised
    singular value decomposition with a fixed seed. Pass ``X.toarray()`` for all columns of a sparse matrix.

    Parameters
    ----------
    n_components : int
        The number of components, at most the number of columns of each side.
    regularization : "auto", float or array-like of shape (n_components,)
        The strength of the ridge in units of the variance of a column of numbers, the same for all components or one
        for each; 0 is no ridge.
    missing : {"indicator", "drop", "error"}
        "indicator" encodes a missing number as the middle of the others, with an indicator beside it, and a missing
        label as a level of its own; "drop" leaves pairs with missing values out of the fit; "error" refuses them.
    handle_unknown : {"error", "missing"}
        In new data, a label that was not in the fit is an error, or is treated like a missing one.
    given_regressor : regressor, optional
        It learns what is expected of the columns given z, where `fit` has given variables. The default is sums of
        smooth functions of the given columns, and a mean for each label.

    Attributes
    ----------
    decomposition_ : Decomposition
        The result; ``pics_`` and ``correlations_`` are those on the training pairs.
    regularization_ : ndarray of shape (n_components,)
        The strength of the ridge that was used for each component.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3)); Y = X[:, :2] + rng.normal(size=(2000, 2))
    >>> co.CCA(n_components=2).fit(X, Y).correlations_.round(1)      # exact: 0.71 twice
    array([0.7, 0.7])
    """

    _constraints: ClassVar[Constraints] = {
        "n_components": Whole(1),
        "regularization": ("auto", check_strengths),
        "missing": MISSING_POLICIES,
        "handle_unknown": ("error", "missing"),
        "given_regressor": (None, check_regressor),
    }

    def __init__(
        self,
        n_components: int = 2,
        regularization: Any = "auto",
        *,
        missing: str = "indicator",
        handle_unknown: str = "error",
        given_regressor: Any = None,
    ) -> None:
        self.n_components = n_components
        self.regularization = regularization
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.given_regressor = given_regressor

    def fit(self, X: Any, Y: Any = None, *, groups: Any = None, given: Any = None) -> Self:
        """Find the most correlated linear functions of X and Y, or of what is left of them once others are given.

        Parameters
        ----------
        X, Y : array-like, frame, sparse matrix, list of texts or array of images
            One row for each pair. Or X alone, as `Pairs`: moments are then computed where the pairs are.
        groups : array-like of shape (n,), optional
            Pairs of the same group, such as duplicates, are never on both sides of a split when the penalty is chosen,
            and are held out together from regressions on the given variables.
        given : array-like or frame, optional
            Leave what these variables explain, one row for each pair, out of both X and Y: the functions are f(x) minus
            what is expected of it given z, and likewise for g.

        Returns
        -------
        Self
            The estimator itself.

        Warns
        -----
        NearlyCollinear
            A combination of columns that is hardly more than rounding is dropped; the warning names the columns.
        LeftOut
            Columns that the given variables determine are dropped.
        """
        if not has_given(X, given):
            return super().fit(X, Y, groups=groups)
        check_parameters(self)
        pairs, conditions = self._take_given(X, Y, groups, given)
        d, self.regularization_ = self._decompose_left(pairs, conditions)
        self._set_decomposition(d, pairs.x)
        return self

    def _make_feature_maps(self, pairs: Parts) -> tuple[Encoded, Encoded]:
        x, y = encoders_for(pairs, linear=True)
        return Encoded("X", x), Encoded("Y", y)

    def _decompose_pairs(
        self, pairs: Parts, groups: np.ndarray | None, y_sample: Any
    ) -> tuple[Decomposition, np.ndarray]:
        x, y = self._make_feature_maps(pairs)
        known = describe_columns("X", x.encoder, pairs), describe_columns("Y", y.encoder, pairs)
        rows = pairs.through(x.map_rows_sparsely, y.map_rows_sparsely)
        found, strength = self._resolve_columns(rows, known, groups)
        return decompose_columns(found, x, y, self.n_components, y_sample), strength

    def _decompose_left(self, pairs: Memory, conditions: Conditions) -> tuple[Decomposition, np.ndarray]:
        """Decompose what the given variables leave; also return the strength of the ridge of each component."""
        x, y = self._make_feature_maps(pairs)
        known = describe_columns("X", x.encoder, pairs), describe_columns("Y", y.encoder, pairs)
        rows = pairs.through(x.map_rows_sparsely, y.map_rows_sparsely)
        bases = find_independent_bases(rows, known)
        left = []
        for basis, side, described in zip(bases, (rows.x, rows.y), known, strict=True):
            F = basis(side)
            found = find_left_directions(F, conditions.given)
            found.warn_of_determined(described.side, described.names if basis.matrix is None else [])
            left.append(conditions.leave_features(F, found.weights))
        folds = sum_left(left, conditions.groups)
        span, strength = self._fit_left_ridge(left, bases, folds)
        make = [partial(make_column_functions, *side) for side in zip((x, y), bases, strict=True)]
        columns = bases[1](rows.y) if sp.issparse(rows.y) else rows.y
        return decompose_left(left, sum(folds, start=Moments()), self.n_components, span, make, columns), strength

    def _fit_left_ridge(
        self, left: list[LeftFeatures], bases: Bases, folds: list[Moments]
    ) -> tuple[tuple[np.ndarray, np.ndarray] | None, np.ndarray]:
        """Find what a ridge leaves of what is left, None for all, and its strength for each component."""
        is_wide = min(side.n_left for side in left) < MIN_PAIRS_PER_COLUMN * sum(len(b.centre) for b in bases)
        ridge = list_strengths(self.regularization, "regularization", RIDGE_STRENGTHS if is_wide else (0.0,))
        if not np.any(ridge) or not all(side.width for side in left):
            return None, np.zeros(self.n_components)
        x, y = (basis.columns @ side.directions for basis, side in zip(bases, left, strict=True))
        fit = fit_penalised(folds, (x.T @ x, y.T @ y), self.n_components, ridge, is_rich=True)
        return ((fit.A, fit.B) if fit.strength.any() else None), fit.strength

    def _make_test_views(self, X: Any, Y: Any, groups: np.ndarray | None = None) -> list[View]:
        pairs = Memory(strip_given(X), strip_given(Y), count_observations(X, "X"))
        x, y = self._make_feature_maps(pairs)
        rows = pairs.through(x.map_rows_sparsely, y.map_rows_sparsely)
        is_sparse = sp.issparse(rows.x) or sp.issparse(rows.y)
        known = describe_columns("X", x.encoder, pairs), describe_columns("Y", y.encoder, pairs)
        F, G = (find_basis(F, k)(F) if sp.issparse(F) else F for F, k in zip((rows.x, rows.y), known, strict=True))
        view = (
            view_left_columns(F, G, self._leave_given(X, groups))
            if has_given(X)
            else view_whitened(F, G, by_variance=is_sparse)
        )
        return [] if view is None else [view]

    def _resolve_columns(
        self, rows: Parts, known: tuple[Described, Described], groups: np.ndarray | None
    ) -> tuple[Resolved, np.ndarray]:
        """Find the moments of the columns, or of combinations of them, what a ridge leaves, and its strengths."""
        bases = find_bases(rows, known)
        folds = sum_folds(rows, bases, groups)
        is_wide = rows.layout.n < MIN_PAIRS_PER_COLUMN * sum(len(b.centre) for b in bases)
        ridge = list_strengths(self.regularization, "regularization", RIDGE_STRENGTHS if is_wide else (0.0,))
        is_whole = all(basis.matrix is None for basis in bases)
        total = sum(folds, start=Moments())
        found = resolve_collinearity(rows, total, *known) if is_whole else Resolved(bases, total, None)
        none = np.zeros(self.n_components)
        if not np.any(ridge):
            return found, none
        fit = self._fit_ridge(folds, ridge)
        if np.ndim(ridge) == 1 and len(ridge) > 1 and any(small.size for small in found.small):
            # A ridge drops what distinguishes nearly collinear columns, unless it is a separate column.
            extended = bases[0].with_combinations(found.small[0]), bases[1].with_combinations(found.small[1])
            others = sum_folds(rows, extended, groups)
            other = self._fit_ridge(others, ridge)
            before = self._score_held_out_folds(folds, fit.strength)
            if compute_gain(before, self._score_held_out_folds(others, other.strength)) > 1:
                bases, fit = extended, other
        if is_whole and not fit.strength.any():
            return found, none
        return Resolved(bases, fit.moments, (fit.A, fit.B)), fit.strength

    def _fit_ridge(self, folds: Sequence[Moments], ridge: Sequence[float] | np.ndarray) -> PenalisedFit:
        """Fit functions with one of some ridges."""
        penalty = np.ones(len(folds[0].mean_f)), np.ones(len(folds[0].mean_g))
        return fit_penalised(folds, penalty, self.n_components, ridge, is_rich=True)

    def _score_held_out_folds(self, folds: Sequence[Moments], strength: np.ndarray) -> np.ndarray:
        """Compute what functions with a ridge, fitted to the other folds, capture of each fold."""
        scores = []
        for k, fold in enumerate(folds):
            fit = self._fit_ridge([*folds[:k], *folds[k + 1 :]], strength[:, None])
            means = fit.moments.mean_f, fit.moments.mean_g
            scores.append(score_moments(fold, means[0], fit.A, means[1], fit.B, fit.correlations))
        return np.array(scores)


def find_bases(rows: Parts, known: tuple[Described, Described]) -> Bases:
    """Find columns that span the centred rows of each side: all, or the principal axes if there are fewer of them."""
    if isinstance(rows, Memory):
        return find_basis(rows.x, known[0]), find_basis(rows.y, known[1])
    widths = [len(side.names) for side in known]
    if max(widths) >= rows.layout.n:
        raise ValueError(
            f"Pairs must be more than their columns, got {rows.layout.n} for {max(widths)} columns. Collect them first."
        )
    return Basis.make_identity(widths[0]), Basis.make_identity(widths[1])


def make_column_functions(features: Encoded, basis: Basis, mean: np.ndarray, weights: np.ndarray) -> LinearFunctions:
    """Make functions of columns, given the mean and weights of combinations of them."""
    return LinearFunctions(*basis.on_columns(mean, weights), features)


def find_independent_bases(rows: Memory, known: tuple[Described, Described]) -> Bases:
    """Find combinations of columns as `find_bases` does, but without those that are exact dependences."""
    bases = find_bases(rows, known)
    if any(basis.matrix is not None for basis in bases):
        return bases
    found = resolve_collinearity(rows, sum(sum_folds(rows, bases, None), start=Moments()), *known)
    if found.span is None:
        return found.bases
    x, y = (Basis(basis.centre, basis.columns @ span) for basis, span in zip(found.bases, found.span, strict=True))
    return x, y


def find_basis(F: Any, known: Described) -> Basis:
    """Find combinations that span the centred rows of one side, or most of what varies if the rows are sparse."""
    if sp.issparse(F):
        return find_sparse_basis(F, weigh_words(F) if known.are_words else weigh_columns(F))
    if F.shape[1] < len(F):
        return Basis.make_identity(F.shape[1])
    mean = F.mean(axis=0)
    centred = F - mean
    values, vectors = np.linalg.eigh(centred @ centred.T)
    keep = values > 1e-12 * values.max(initial=0)
    return Basis(mean, centred.T @ (vectors[:, keep] / np.sqrt(values[keep])))


def decompose_columns(result: Resolved, x: Encoded, y: Encoded, n_components: int, y_sample: Any) -> Decomposition:
    """Decompose the columns, given the moments of combinations of them."""
    moments, (in_x, in_y) = result.moments, result.bases
    d = moments.decompose(n_components, span=result.span, x_features=x, y_features=y, y_sample=y_sample)
    assert isinstance(d.f, LinearFunctions)
    assert isinstance(d.g, LinearFunctions)
    (x_mean, A), (y_mean, B) = in_x.on_columns(d.f.mean, d.f.weights), in_y.on_columns(d.g.mean, d.g.weights)
    f, g = replace(d.f, mean=x_mean, weights=A), replace(d.g, mean=y_mean, weights=B)
    covariance = in_y.inverse.T @ moments.cov_g
    variance = np.einsum("ij,ji->i", covariance, in_y.inverse)
    return fix_signs(replace(d, f=f, g=g), covariance @ d.g.weights, variance)
