"""What given variables leave of the features of two variables, and the decomposition of that.

The features of each side are regressed on z, and the most correlated combinations of the residuals are found as those
of any features. The regression of a combination is the combination of the regressions: where z has several columns,
the expectation of a single function would be harder to find than that of all features.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.text import list_names
from correspondence._util.user_warnings import LeftOut
from correspondence.core.decomposition import Decomposition
from correspondence.core.feature_maps import Loadings, fix_signs, iterate_blocks, to_dense
from correspondence.core.functions import LinearFunctions
from correspondence.core.given.functions_given import FunctionsGiven
from correspondence.core.given.regression import Given, GivenRegression
from correspondence.core.moments import Moments
from correspondence.core.regularised import compute_fold_moments
from correspondence.core.whitening import Rounding, Spectrum

__all__ = ["Conditions", "LeftDirections", "LeftFeatures", "decompose_left", "find_left_directions", "sum_left"]

MakeFunctions = Callable[[np.ndarray, np.ndarray], LinearFunctions]
MAX_MEAN_LEVERAGE = 0.9  # larger ones count as this
MIN_SHARE_LEFT = 1e-4  # what is less of a variance may be what splines cannot follow: z determines the function


@dataclass(frozen=True, eq=False)
class LeftFeatures:
    """What given variables leave of the features of one side.

    Attributes
    ----------
    regression : GivenRegression
        The regression of combinations of the features of which something is left.
    mean : ndarray of shape (p,)
        The means of the features, which are subtracted first.
    directions : ndarray of shape (p, k)
        The weights of the features in these combinations, whose variance is 1 before the regression.
    """

    regression: GivenRegression
    mean: np.ndarray
    directions: np.ndarray

    @property
    def values(self) -> np.ndarray:
        """What is left of the combinations, each row as uncertain as the others, of shape (n, k)."""
        return self.regression.even_residuals

    @property
    def width(self) -> int:
        """The number of combinations."""
        return self.directions.shape[1]

    @property
    def n_left(self) -> float:
        """The number of rows, less the number of parameters of the regression."""
        leverages = self.regression.leverages
        return len(leverages) - float(leverages.sum())

    def subtract_expectation(self, of_left: Any, make_functions: MakeFunctions) -> FunctionsGiven:
        """Make functions of one variable, given functions of what is left of the combinations.

        Parameters
        ----------
        of_left : LinearFunctions
            These are functions of `values`.
        make_functions : callable
            It makes functions of the variable of a mean and weights of the features.
        """
        functions = make_functions(self.mean, self.directions @ of_left.weights)
        expected = self.regression.combine_functions(of_left.weights, of_left.mean @ of_left.weights)
        return FunctionsGiven(functions, expected)


@dataclass(frozen=True, eq=False)
class Conditions:
    """The given variables of the pairs of a fit, and how functions are regressed on them.

    Attributes
    ----------
    given : Given
        The encoded rows.
    groups : ndarray of shape (n,) or None
        Pairs of the same group are held out together.
    regressor : regressor or None
        By default the regressions are splines.
    """

    given: Given
    groups: np.ndarray | None = None
    regressor: Any = None

    def leave_features(self, F: np.ndarray, directions: np.ndarray) -> LeftFeatures:
        """Regress combinations of features.

        Parameters
        ----------
        F : ndarray of shape (n, p)
            The features.
        directions : ndarray of shape (p, k)
            Their weights in the combinations of which something is left.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> z, noise = rng.normal(size=(2, 300, 1))
        >>> F, conditions = np.hstack([z, z + noise]), Conditions(Given.read(z))
        >>> found = find_left_directions(F, conditions.given)
        >>> found.is_determined.tolist(), found.n_lost
        ([True, False], 1)
        >>> left = conditions.leave_features(F, found.weights)
        >>> abs(np.corrcoef(left.values[:, 0], noise[:, 0])[0, 1]).round(1)
        np.float64(1.0)
        """
        mean = F.mean(axis=0)
        regressor = self.regressor if directions.shape[1] else None
        regression = GivenRegression.fit((F - mean) @ directions, self.given, self.groups, regressor)
        return LeftFeatures(regression, mean, directions)


def sum_left(left: Sequence[LeftFeatures], groups: np.ndarray | None) -> list[Moments]:
    """Compute the moments of what is left of both sides in each fold."""
    return compute_fold_moments(iterate_blocks(*(side.values for side in left)), groups)


def decompose_left(
    left: Sequence[LeftFeatures],
    moments: Moments,
    n_components: int,
    span: tuple[np.ndarray, np.ndarray] | None,
    make_functions: Sequence[MakeFunctions],
    columns: np.ndarray,
) -> Decomposition:
    """Decompose what is left of both sides.

    Parameters
    ----------
    left : pair of LeftFeatures
        What is left of the features of x and of y.
    moments : Moments
        The moments of their values.
    n_components : int
        Keep at most this many components.
    span : pair of ndarray, optional
        Make functions only of these combinations of the values.
    make_functions : pair of callables
        They make functions of x and of y of a mean and weights of the features.
    columns : ndarray of shape (n, q)
        The encoded rows of y, which decide the signs.
    """
    d = moments.decompose(n_components, span=span)
    assert isinstance(d.g, LinearFunctions)
    blocks = ((d.g.of_features(values), to_dense(rows)) for values, rows in iterate_blocks(left[1].values, columns))
    loadings = Loadings.from_batches(blocks)
    d = fix_signs(d, loadings.covariance, loadings.variance)
    x, y = (
        side.subtract_expectation(own, make) for side, own, make in zip(left, (d.f, d.g), make_functions, strict=True)
    )
    return replace(d, f=x, g=y)


@dataclass(frozen=True, eq=False)
class LeftDirections:
    """Combinations of features of which given variables leave something.

    Attributes
    ----------
    weights : ndarray of shape (p, k)
        The weights of the features in combinations of variance 1.
    shares_left : ndarray of shape (p,)
        The share of the variance of each feature that is left; it may exceed 1 by chance, and is 1 for constants.
    n_lost : int
        The number of combinations of which nothing is left.
    """

    weights: np.ndarray
    shares_left: np.ndarray
    n_lost: int

    @property
    def is_determined(self) -> np.ndarray:
        """The features of which nothing is left."""
        return self.shares_left <= MIN_SHARE_LEFT

    def warn_of_determined(self, side: str, names: Sequence[str]) -> None:
        """Warn of what the given variables determine.

        Parameters
        ----------
        side : str
            The warning calls the variable "X" or "Y".
        names : sequence of str
            The names of the columns, one for each feature; empty if features are not columns.
        """
        if not self.n_lost:
            return
        labels = np.array(names, dtype=object)
        found = [name for name in dict.fromkeys(names) if self.is_determined[labels == name].all()]
        what = f"column(s) {list_names(found, 5)}" if found else f"{self.n_lost} combination(s) of columns"
        message = f"Left out, because given determines them: {what} of {side}."
        warnings.warn(message, LeftOut, stacklevel=find_user_stacklevel())


def find_left_directions(F: np.ndarray, given: Given) -> LeftDirections:
    """Find combinations of features of which the given variables leave something.

    Parameters
    ----------
    F : ndarray of shape (n, p)
        The features.
    given : Given
        The given variables of the same rows.
    """
    mean = F.mean(axis=0)
    centred = F - mean
    cov = centred.T @ centred / len(F)
    spectrum = Spectrum.from_covariance(cov, mean)
    W = spectrum.make_whitening(spectrum.select_directions(None, Rounding()))
    left = centred @ W
    # A ridge leaves a little of what z determines: of the remainder, a second regression leaves far less.
    for _ in range(2):
        fit = GivenRegression.fit(left, given, is_rough=True)
        left = fit.own_residuals / (1 - min(fit.leverages.mean(), MAX_MEAN_LEVERAGE))
    S = left.T @ left / len(F)
    variance = np.diag(cov)
    of_features = np.einsum("jk,kl,jl->j", cov @ W, S, cov @ W)
    shares = np.divide(of_features, variance, out=np.ones_like(variance), where=variance > 0)
    values, vectors = np.linalg.eigh(S)
    is_left = values > MIN_SHARE_LEFT
    return LeftDirections(W @ vectors[:, is_left][:, ::-1], shares, int((~is_left).sum()))
