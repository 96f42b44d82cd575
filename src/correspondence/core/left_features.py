"""What given variables leave of the features of two variables, and the decomposition of that.

The features of each side are regressed on z, and the most correlated combinations of the residuals are found as those
of any features. The few functions found are then regressed on z themselves: that is quick, needs no more smoothness
than these few functions do, and gives the expectations that new rows are compared with.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.text import list_names
from correspondence._util.user_warnings import LeftOut
from correspondence.core.decomposition import Decomposition
from correspondence.core.feature_maps import Loadings, fix_signs
from correspondence.core.functions import LinearFunctions
from correspondence.core.functions_given import FunctionsGiven
from correspondence.core.given import Given, GivenRegression
from correspondence.core.moments import Moments
from correspondence.core.whitening import Rounding, Spectrum

__all__ = ["Conditions", "LeftFeatures", "find_left_directions", "warn_of_determined"]

MIN_SHARE_LEFT = 1e-4  # what is less of a variance may be what splines cannot follow: z determines the function


@dataclass(frozen=True, eq=False)
class LeftFeatures:
    """What given variables leave of the features of one side.

    Attributes
    ----------
    values : ndarray of shape (n, k)
        The residuals of combinations of the features of which something is left.
    directions : ndarray of shape (p, k)
        The weights of the features in these combinations, whose variance is 1 before the regression.
    is_determined : ndarray of bool of shape (p,)
        The features that the given variables determine.
    rank : int
        How many combinations of the features there are.
    n_left : float
        The number of rows, less the number of parameters of the regression.
    """

    values: np.ndarray
    directions: np.ndarray
    is_determined: np.ndarray
    rank: int
    n_left: float

    @property
    def width(self) -> int:
        """The number of combinations."""
        return self.directions.shape[1]


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

    def regress_functions(self, F: np.ndarray) -> GivenRegression:
        """Regress functions, one in each column."""
        return GivenRegression.fit(F, self.given, self.groups, self.regressor if F.shape[1] else None)

    def leave_features(self, F: np.ndarray) -> LeftFeatures:
        """Find what is left of features, one in each column.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> z, noise = rng.normal(size=(2, 300, 1))
        >>> left = Conditions(Given.read(z)).leave_features(np.hstack([z, z + noise]))
        >>> left.is_determined.tolist(), left.width, left.rank
        ([True, False], 1, 2)
        """
        directions, is_determined, rank = find_left_directions(F, self.given)
        regression = self.regress_functions((F - F.mean(axis=0)) @ directions)
        n_left = len(F) - float(regression.leverages.sum())
        return LeftFeatures(regression.even_residuals, directions, is_determined, rank, n_left)

    def decompose_functions(
        self, f: LinearFunctions, F: np.ndarray, g: LinearFunctions, G: np.ndarray, columns: np.ndarray
    ) -> Decomposition:
        """Decompose what is left of functions of both sides.

        Parameters
        ----------
        f, g : LinearFunctions
            The functions of x and of y.
        F, G : ndarray of shape (n, k)
            Their values at the pairs of the fit.
        columns : ndarray of shape (n, q)
            The encoded rows of y, which decide the signs.
        """
        x, y = self.regress_functions(F), self.regress_functions(G)
        d = Moments().update(x.even_residuals, y.even_residuals).decompose()
        assert isinstance(d.g, LinearFunctions)
        loadings = Loadings.from_batches([(G @ d.g.weights, columns)])
        d = fix_signs(d, loadings.covariance, loadings.variance)
        return replace(d, f=_subtract_expectation(f, x, d.f), g=_subtract_expectation(g, y, d.g))


def _subtract_expectation(functions: LinearFunctions, regression: GivenRegression, last: Any) -> FunctionsGiven:
    """Make functions of combinations of what is left: (residuals - mean) @ weights."""
    combined = replace(functions, weights=functions.weights @ last.weights)
    return FunctionsGiven(combined, regression.combine_functions(last.weights, last.mean @ last.weights))


def find_left_directions(F: np.ndarray, given: Given) -> tuple[np.ndarray, np.ndarray, int]:
    """Find combinations of features of which the given variables leave something.

    Parameters
    ----------
    F : ndarray of shape (n, p)
        The features.
    given : Given
        The given variables of the same rows.

    Returns
    -------
    directions : ndarray of shape (p, k)
        The weights of the features in combinations of variance 1.
    is_determined : ndarray of bool of shape (p,)
        The features of which nothing is left.
    rank : int
        The number of combinations before the regression.
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
        left = fit.own_residuals / (1 - min(fit.leverages.mean(), 0.9))
    S = left.T @ left / len(F)
    variance = np.diag(cov)
    of_features = np.einsum("jk,kl,jl->j", cov @ W, S, cov @ W)
    is_determined = (variance > 0) & (of_features <= MIN_SHARE_LEFT * variance)
    values, vectors = np.linalg.eigh(S)
    return W @ vectors[:, values > MIN_SHARE_LEFT][:, ::-1], is_determined, W.shape[1]


def warn_of_determined(left: LeftFeatures, side: str, names: Sequence[str]) -> None:
    """Warn of columns that the given variables determine.

    Parameters
    ----------
    left : LeftFeatures
        What is left of the columns.
    side : str
        The warning calls the variable "X" or "Y".
    names : sequence of str
        The names of the columns, one for each feature; empty if features are not columns.
    """
    if left.width == left.rank:
        return
    labels = np.array(names, dtype=object)
    found = [name for name in dict.fromkeys(names) if left.is_determined[labels == name].all()]
    what = f"column(s) {list_names(found, 5)}" if found else f"{left.rank - left.width} combination(s) of columns"
    warnings.warn(
        f"Left out, because given determines them: {what} of {side}.", LeftOut, stacklevel=find_user_stacklevel()
    )
