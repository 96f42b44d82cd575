"""What estimators share that can be fitted to what is left of both variables once others are given."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from correspondence._util.user_warnings import UncertainInterval
from correspondence.core.estimator import PairsEstimator, treat_missing
from correspondence.core.given.conditional_views import LeaveGiven
from correspondence.core.given.left_features import Conditions
from correspondence.core.given.regression import Given
from correspondence.data.beside_given import BesideGiven, match_given, put_beside_given
from correspondence.data.pairs.pairs import Memory, Pairs
from correspondence.data.splits import encode_groups
from correspondence.results.evidence import HeldOut

__all__ = ["GivenEstimator"]


class GivenEstimator(PairsEstimator):
    """Base of the estimators whose `fit` takes given variables, and with it all that evaluates the functions."""

    given_regressor: Any

    def _take_given(self, X: Any, Y: Any, groups: Any, given: Any) -> tuple[Memory, Conditions]:
        """Return the pairs of a fit, without the given variables, and how functions are regressed on these."""
        if isinstance(X, Pairs):
            raise ValueError("given must be None with Pairs. Collect the pairs, and give X, Y and given.")
        if given is not None:
            self._check_pairs(X, Y)
            X, Y = put_beside_given(X, Y, given)
        X, Y, groups = treat_missing(self._missing_policy, X, Y, groups)
        n = self._check_pairs(X.values, Y.values)
        together = None if groups is None else encode_groups(groups, n, "groups")
        return Memory(X.values, Y.values, n), Conditions(Given.read(X.given), together, self.given_regressor)

    def _leave_given(self, X: BesideGiven, groups: np.ndarray | None) -> LeaveGiven:
        """Return the regressions by which a test leaves the given variables out of features."""
        return LeaveGiven(Given.read(X.given), groups, self.given_regressor)

    def transform(self, X: Any, Y: Any = None, *, given: Any = None) -> Any:
        """Evaluate f at X, and g at Y if it is given.

        Parameters
        ----------
        X : array-like
            The values of the first variable must be of the kind that was given to `fit`.
        Y : array-like, optional
            The values of the second variable need not be as many, unless there are given variables.
        given : array-like or frame, optional
            The given variables of the same rows, if `fit` had some.

        Returns
        -------
        ndarray of shape (n, d), or a pair of them
            f(X), or (f(X), g(Y)), with variance 1 on the training pairs; with given variables, f(X) minus what is
            expected of it, and likewise for g. They are frames if `set_output` asks for them.
        """
        check_is_fitted(self)
        if not isinstance(X, Pairs):
            X, Y = self._match_given(X, Y, given)
        return self._transform_both(X, Y)

    def fit_transform(self, X: Any, y: Any = None, *, given: Any = None, **fit_params: Any) -> Any:
        """Fit to pairs, and evaluate f at X.

        Parameters
        ----------
        X, y : array-like, frame, ...
            One row for each pair.
        given : array-like or frame, optional
            The given variables of the pairs.
        **fit_params
            Further arguments of `fit`, such as `groups`.

        Returns
        -------
        ndarray of shape (n, d)
            f(X), as `transform` returns it.
        """
        if given is None:
            return super().fit_transform(X, y, **fit_params)
        return self.fit(X, y, given=given, **fit_params).transform(X, given=given)  # type: ignore[call-arg]

    def transform_y(self, Y: Any, *, given: Any = None) -> Any:
        """Evaluate g at Y.

        Parameters
        ----------
        Y : array-like
            The values of the second variable must be of the kind that was given to `fit`.
        given : array-like or frame, optional
            The given variables of the same rows, if `fit` had some.

        Returns
        -------
        ndarray of shape (n, d)
            g(Y), with variance 1 on the training pairs; with given variables, g(Y) minus what is expected of it. It is
            a frame with columns g1, g2, ... if `set_output` asks for one.
        """
        check_is_fitted(self)
        return super().transform_y(self._match_given(Y, None, given)[0])

    def evaluate(self, X: Any, Y: Any = None, sample_weight: Any = None, *, given: Any = None) -> HeldOut:
        """Evaluate the functions on pairs, ideally pairs that were not used in the fit.

        Parameters
        ----------
        X, Y : array-like
            The pairs must be of the kind that was given to `fit`. X alone may be `Pairs`, which are read twice, where
            they are.
        sample_weight : array-like of shape (n,), optional
            The pairs have these weights; each is 1 by default.
        given : array-like or frame, optional
            The given variables of the pairs, if `fit` had some. The figures are then those of what is left.

        Returns
        -------
        HeldOut
            ``.correlations`` of each component, ``.captured``, their intervals and ``.n``.
        """
        check_is_fitted(self)
        if Y is None and not isinstance(X, Pairs):
            raise ValueError("Y must be given: an evaluation needs pairs (x, y).")
        return self.decomposition_.evaluate(X, Y, sample_weight, given=given)

    def score(self, X: Any, Y: Any = None, sample_weight: Any = None, *, given: Any = None) -> float:
        """Return the dependence that the functions prove on the given pairs: ``evaluate(X, Y).captured``.

        Parameters
        ----------
        X, Y, sample_weight, given : array-like
            These are the arguments of `evaluate`.

        Returns
        -------
        float
            In the population at most the total inertia, and negative if the functions predict worse than no dependence
            at all.
        """
        with warnings.catch_warnings(action="ignore", category=UncertainInterval):  # no interval is returned
            return self.evaluate(X, Y, sample_weight, given=given).captured

    def _match_given(self, X: Any, Y: Any, given: Any) -> tuple[Any, Any]:
        return match_given(X, Y, given, is_needed=self.decomposition_.f.needs_given)
