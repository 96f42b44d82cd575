"""What all estimators share: scikit-learn's conventions around one Decomposition."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from correspondence._util.arguments import as_frame, check_index, count_observations, find_user_stacklevel, take_rows
from correspondence._util.text import short_repr
from correspondence._util.user_warnings import FewerComponents, LeftOut, UncertainInterval
from correspondence.core.decomposition import Decomposition
from correspondence.core.dependence_views import View
from correspondence.data.beside_given import list_parts, strip_given
from correspondence.data.column_reading import find_missing_rows
from correspondence.data.pairs.pairs import Memory, Pairs, Parts, check_source
from correspondence.data.splits import encode_groups
from correspondence.data.table import to_frame
from correspondence.results.evidence import HeldOut

__all__ = ["MISSING_POLICIES", "Estimator", "PairsEstimator", "check_missing_policy", "treat_missing"]

MISSING_POLICIES = ("indicator", "drop", "error")


class Estimator(TransformerMixin, BaseEstimator, ABC):
    """Base of all estimators: `fit` sets ``decomposition_``, everything else reads it.

    Attributes
    ----------
    decomposition_ : Decomposition
        The result of the fit.
    pics_, correlations_ : ndarray of shape (d,)
        lambda_i and sqrt(lambda_i) on the training pairs.
    """

    decomposition_: Decomposition
    _takes_tables: ClassVar[bool] = False  # whether X alone may be a table of counts

    @abstractmethod
    def fit(self, X: Any, Y: Any = None) -> Self:
        """Learn the principal functions from pairs (x, y)."""

    @property
    def pics_(self) -> np.ndarray:
        """Principal inertia components (PICs) lambda_i on the training pairs, largest first."""
        check_is_fitted(self)
        return self.decomposition_.pics

    @property
    def correlations_(self) -> np.ndarray:
        """Correlations sqrt(lambda_i) on the training pairs."""
        check_is_fitted(self)
        return self.decomposition_.correlations

    def transform(self, X: Any, Y: Any = None) -> Any:
        """Evaluate f at X, and g at Y if it is given.

        Parameters
        ----------
        X : array-like
            The values of the first variable must be of the kind that was given to `fit`.
        Y : array-like, optional
            The values of the second variable need not be as many.

        Returns
        -------
        ndarray of shape (n, d), or a pair of them
            f(X), or (f(X), g(Y)), with variance 1 on the training pairs. They are frames if `set_output` asks for them.
        """
        return self._transform_both(X, Y)

    def _transform_both(self, X: Any, Y: Any) -> Any:
        check_is_fitted(self)
        if isinstance(X, Pairs):
            raise ValueError("X must be in memory, got Pairs. Call distributed.transform(est, pairs, folder).")
        F = self._evaluate_f(X)
        return F if Y is None else (F, self.transform_y(Y))

    def transform_y(self, Y: Any) -> Any:
        """Evaluate g at Y.

        Parameters
        ----------
        Y : array-like
            The values of the second variable must be of the kind that was given to `fit`.

        Returns
        -------
        ndarray of shape (n, d)
            g(Y), with variance 1 on the training pairs. It is a frame with columns g1, g2, ... if `set_output` asks for
            one.
        """
        check_is_fitted(self)
        G = self._evaluate_g(Y)
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        return G if wanted == "default" else _make_frame(G, wanted, getattr(strip_given(Y), "index", None))

    def _make_test_views(self, X: Any, Y: Any, groups: np.ndarray | None = None) -> list[View]:
        """Return views of pairs in which components can be tested without holding pairs out, if there are any.

        Parameters
        ----------
        X, Y : array-like, frame, ...
            The pairs, with or without given variables beside them.
        groups : ndarray of shape (n,), optional
            Pairs of the same group belong together. Only tests of what given variables leave can take any.
        """
        return []

    def _evaluate_f(self, X: Any) -> np.ndarray:
        return self.decomposition_.f(X)

    def _evaluate_g(self, Y: Any) -> np.ndarray:
        return self.decomposition_.g(Y)

    def evaluate(self, X: Any, Y: Any = None, sample_weight: Any = None) -> HeldOut:
        """Evaluate the functions on pairs, ideally pairs that were not used in the fit.

        Parameters
        ----------
        X, Y : array-like
            The pairs must be of the kind that was given to `fit`. X alone may be `Pairs`, which are read twice, where
            they are.
        sample_weight : array-like of shape (n,), optional
            The pairs have these weights; each is 1 by default.

        Returns
        -------
        HeldOut
            ``.correlations`` of each component, ``.captured``, their intervals and ``.n``.
        """
        check_is_fitted(self)
        if Y is None and not isinstance(X, Pairs):
            raise ValueError("Y must be given: an evaluation needs pairs (x, y).")
        return self.decomposition_.evaluate(X, Y, sample_weight)

    def score(self, X: Any, Y: Any = None, sample_weight: Any = None) -> float:
        """Return the dependence that the functions prove on the given pairs: ``evaluate(X, Y).captured``.

        Parameters
        ----------
        X, Y, sample_weight : array-like
            These are the arguments of `evaluate`.

        Returns
        -------
        float
            In the population at most the total inertia, and negative if the functions predict worse than no dependence
            at all.
        """
        with warnings.catch_warnings(action="ignore", category=UncertainInterval):  # no interval is returned
            return self.evaluate(X, Y, sample_weight).captured

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the columns of ``transform``: f1, f2, ...

        Parameters
        ----------
        input_features : None
            It is ignored; scikit-learn gives it.

        Returns
        -------
        ndarray of str
            One name for each component.
        """
        check_is_fitted(self)
        return np.array([f"f{i + 1}" for i in range(len(self.pics_))], dtype=object)

    def _remember_columns(self, X: Any) -> None:
        """Keep the number and the names of the columns of X, if it is a table."""
        for name in ("feature_names_in_", "n_features_in_"):
            self.__dict__.pop(name, None)
        if isinstance(X, Pairs):
            names = [] if isinstance(X.x, str) else list(X.x)
        else:
            frame = as_frame(X, "X")
            names = [] if frame is None else list(frame.columns)
        if names and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)
        if names or getattr(X, "ndim", 1) == 2:
            self.n_features_in_ = len(names) or X.shape[1]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "decomposition_")


class PairsEstimator(Estimator):
    """Base of the estimators that learn from pairs (x, y) of any kind."""

    n_components: int

    def _evaluate_f(self, X: Any) -> np.ndarray:
        self._check_missing(X, "X")
        f = self.decomposition_.f
        return (f.accept_unknown() if self._takes_unknown else f)(X)

    def _evaluate_g(self, Y: Any) -> np.ndarray:
        self._check_missing(Y, "Y")
        g = self.decomposition_.g
        return (g.accept_unknown() if self._takes_unknown else g)(Y)

    @property
    def _takes_unknown(self) -> bool:
        return getattr(self, "handle_unknown", "error") == "missing"

    @property
    def _missing_policy(self) -> str:
        return getattr(self, "missing", "indicator")  # estimators of users may have no such parameter

    def _check_missing(self, values: Any, name: str) -> None:
        """Raise an error for missing values, unless they have an indicator."""
        policy = self._missing_policy
        for part, called in list_parts(values, name):
            if policy != "indicator" and (n := int(find_missing_rows(part, called).sum())):
                raise ValueError(f"{called} has missing values in {n} row(s), and missing={policy!r}: leave them out.")

    def _open_pairs(self, X: Any, Y: Any, groups: Any = None) -> tuple[Parts, np.ndarray | None]:
        """Return the pairs, in memory or elsewhere, and the numbers of their groups."""
        if not isinstance(X, Pairs):
            n = self._check_pairs(X, Y)
            return Memory(X, Y, n), None if groups is None else encode_groups(groups, n, "groups")
        check_source(X, Y)
        if groups is not None:
            raise ValueError("groups must be None with Pairs. Collect the pairs, and give X, Y and groups.")
        self._check_n_components(X.layout.n)
        return X, None

    def _check_pairs(self, X: Any, Y: Any) -> int:
        """Return the number of pairs, which must be more than `n_components`."""
        if Y is None:
            raise ValueError(
                "Y is missing: fit needs both variables (requires y to be passed, but the target y is None)."
            )
        n, m = count_observations(X, "X"), count_observations(Y, "Y")
        if n != m:
            raise ValueError(f"X and Y must have the same length, got {n} and {m}.")
        check_index(X, Y)
        self._check_n_components(n)
        return n

    def _check_n_components(self, n: int) -> None:
        if n <= self.n_components:
            asked = short_repr(self.n_components)
            raise ValueError(f"n_components={asked} needs more than {asked} pairs, got {n} sample(s).")

    def _set_decomposition(self, d: Decomposition, X: Any = None) -> None:
        """Keep the result and the names of the columns of X; warn if there are fewer components than asked for."""
        if d.n_components < self.n_components:
            warnings.warn(
                f"There are only {d.n_components} components, fewer than n_components = {self.n_components}: "
                "one of the variables, or the model of it, allows no more.",
                FewerComponents,
                stacklevel=find_user_stacklevel(),
            )
        self.decomposition_ = d
        self._remember_columns(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._missing_policy == "indicator"
        return tags


def check_missing_policy(missing: Any) -> None:
    """Check the parameter `missing`."""
    if missing not in MISSING_POLICIES:
        raise ValueError(f"missing must be one of {', '.join(MISSING_POLICIES)}, got {short_repr(missing)}.")


def treat_missing(policy: str, X: Any, Y: Any, groups: Any = None) -> tuple[Any, Any, Any]:
    """Return the pairs, and their groups, as the parameter `missing` wants them.

    Parameters
    ----------
    policy : {"indicator", "drop", "error"}
        Leave missing values to the encoders, drop the pairs that have one, or raise an error.
    X, Y : array-like, frame, sparse matrix, list of texts or array of images
        One row for each pair; both may be beside given variables, whose missing values are treated alike.
    groups : array-like of shape (n,), optional
        The group of each pair.

    Examples
    --------
    >>> treat_missing("drop", [1.0, 2.0, 3.0], ["a", "b", "c"])
    ([1.0, 2.0, 3.0], ['a', 'b', 'c'], None)
    """
    if policy == "indicator" or Y is None or isinstance(X, Pairs):
        return X, Y, groups
    parts = {name: values for side in ((X, "X"), (Y, "Y")) for values, name in list_parts(*side)}
    is_missing = {name: find_missing_rows(values, name) for name, values in parts.items()}
    for name, gone in is_missing.items():
        if policy == "error" and gone.any():
            raise ValueError(
                f"{name} has missing values in {int(gone.sum())} row(s), and missing='error'. "
                "Fill them in, or choose missing='indicator' or 'drop'."
            )
    rows = list(is_missing.values())
    if len({len(gone) for gone in rows}) > 1 or not (gone := np.logical_or.reduce(rows)).any():
        return X, Y, groups
    kept = np.flatnonzero(~gone)
    warnings.warn(
        f"{len(gone) - len(kept):,} of {len(gone):,} pairs are left out: they have missing values.",
        LeftOut,
        stacklevel=find_user_stacklevel(),
    )
    if groups is not None and not isinstance(groups, str):
        groups = take_rows(groups, kept)
    return take_rows(X, kept), take_rows(Y, kept), groups


def _make_frame(G: np.ndarray, backend: Any, index: Any) -> Any:
    frame = to_frame({f"g{i + 1}": values for i, values in enumerate(G.T)}, backend)
    if backend == "pandas" and hasattr(index, "equals") and len(index) == len(frame):
        frame.index = index
    return frame
