"""Conditional expectations by a regressor or a classifier, and the functions made of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_classifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import get_tags

from correspondence._util.text import short_repr
from correspondence.core.decomposition import Decomposition
from correspondence.core.feature_maps import Loadings, fix_signs, iterate_blocks, to_dense
from correspondence.core.functions import LinearFunctions
from correspondence.core.moments import Moments
from correspondence.core.splines import (
    SplineBasis,
)
from correspondence.core.whitening import compute_whitening
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.columns import Columns, copy_for_expectations

__all__ = [
    "MAX_LABELS_REGRESSED",
    "MAX_START_FUNCTIONS",
    "ConditionalExpectation",
    "CrossFittedExpectation",
    "ExpectationModel",
    "LabelMeans",
    "decompose_functions",
    "encode_rows",
    "expect_span",
    "find_most_correlated",
    "find_start",
]

MAX_START_FUNCTIONS = 40  # functions of y that the alternation starts from
MAX_LABELS_REGRESSED = 50  # up to so many, all indicators are regressed at once


@dataclass(frozen=True, eq=False)
class ConditionalExpectation:
    """How conditional expectations given one variable are learned."""

    name: str
    encoder: Encoder
    rows: Any
    model: Any

    def fit_model(self, train: np.ndarray, targets: np.ndarray) -> ExpectationModel:
        """Expectations of targets, learned from some of the pairs."""
        model, width = clone(self.model), targets.shape[1]
        try:
            if is_classifier(model):
                return ExpectationModel(model.fit(self.rows[train], targets.argmax(axis=1)), width)
            if width > 1 and not get_tags(model).target_tags.multi_output:
                model = MultiOutputRegressor(model)
            return ExpectationModel(model.fit(self.rows[train], targets if width > 1 else targets[:, 0]), width)
        except Exception as error:
            reason = " ".join(str(error).split())[:200].rstrip(".")
            raise ValueError(f"{short_repr(self.model)} could not be fitted to {self.name}: {reason}.") from error


@dataclass(frozen=True, eq=False)
class ExpectationModel:
    """Linear combinations of what a regressor predicts, or of the beliefs of a classifier."""

    model: Any
    width: int
    functions: LinearFunctions | None = None

    def __call__(self, rows: Any) -> np.ndarray:
        """Values at encoded rows."""
        if is_classifier(self.model):
            values = np.zeros((rows.shape[0], self.width))
            values[:, self.model.classes_] = self.model.predict_proba(rows)
        else:
            values = np.asarray(self.model.predict(rows), dtype=np.float64).reshape(rows.shape[0], -1)
            if values.shape[1] != self.width:
                raise ValueError(
                    f"{short_repr(self.model)} predicts {values.shape[1]} numbers for each row instead of {self.width}."
                )
        return values if self.functions is None else self.functions.of_features(values)

    def combine_predictions(self, functions: LinearFunctions) -> ExpectationModel:
        """Functions of the predictions."""
        return replace(self, functions=functions)

    def rotate_functions(self, first: ExpectationModel, rows: Any) -> ExpectationModel:
        """The same functions, rotated on to those of another model."""
        assert self.functions is not None
        U, _, Vt = np.linalg.svd(self(rows).T @ first(rows))
        return self.combine_predictions(replace(self.functions, weights=self.functions.weights @ (U @ Vt)))


@dataclass(frozen=True, eq=False, repr=False)
class CrossFittedExpectation:
    """Mean over some models."""

    name: str
    encoder: Encoder
    models: list[ExpectationModel]

    def __call__(self, values: Any) -> np.ndarray:
        """Expect the functions of new values: the mean over the models of all folds."""
        rows = encode_rows(self.encoder, values, self.name)
        return np.mean([model(rows) for model in self.models], axis=0)

    def __repr__(self) -> str:
        return f"the regressors of {self.name}, such as {self.models[0].model!r},"


class LabelMeans(RegressorMixin, BaseEstimator):
    """Mean of the targets for each label, given as indicators; the mean over all for one that did not occur."""

    def fit(self, rows: Any, targets: np.ndarray) -> Self:  # noqa: D102
        count, mean = np.asarray(rows.sum(axis=0)), targets.mean(axis=0)
        sums = np.asarray(rows.T @ targets).reshape(len(count), -1)
        self.means = np.where(count[:, None] > 0, sums / np.maximum(count, 1)[:, None], mean)
        return self

    def predict(self, rows: Any) -> np.ndarray:  # noqa: D102
        return np.asarray(rows @ self.means)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def find_start(encoder: Encoder, rows: Any) -> np.ndarray:
    """Functions of y to start from: splines of its columns, or all it has; the leading principal ones of them."""
    Z = to_dense(rows)
    if isinstance(encoder, Columns):
        Z = SplineBasis.for_columns(Z, encoder.coordinates, 8)(Z)
    Z = Z - Z.mean(axis=0)
    Z = Z / np.maximum(Z.std(axis=0), 1e-12)
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    return U[:, :MAX_START_FUNCTIONS][:, s[:MAX_START_FUNCTIONS] > 1e-6 * s[0]] * np.sqrt(len(Z))


def find_most_correlated(F: np.ndarray, G: np.ndarray, k: int) -> LinearFunctions:
    """The k uncorrelated combinations of the columns of F that are most correlated with those of G."""
    f = Moments().update(F, G).decompose(k, tol=1e-8).f
    assert isinstance(f, LinearFunctions)
    missing = k - f.weights.shape[1]
    return replace(f, weights=np.pad(f.weights, ((0, 0), (0, missing))))


def expect_span(F: np.ndarray, G: np.ndarray, known: str) -> np.ndarray:
    """Combinations to which expectations and the functions that they are of are both restricted.

    If F estimates E[G | X] then E[F G^T] estimates E[E[G | X] E[G | X]^T], which is symmetric and positive. Leading
    directions of that kind are a result; others, such as a negative one, which comes from the mean of a fold being low
    in the others when it is high in the fold, are not.
    """
    moments = Moments().update(F, G)
    W = compute_whitening(
        *((moments.cov_g, moments.mean_g) if known == "y" else (moments.cov_f, moments.mean_f)), 1e-10
    )
    C = W.T @ moments.cov_fg @ W
    values, vectors = np.linalg.eigh((C + C.T) / 2)
    return W @ vectors[:, values > 0][:, ::-1]


def decompose_functions(
    F: np.ndarray,
    x_features: Any,
    G: np.ndarray,
    y_features: Any,
    d: int,
    Y: Any,
    columns: Any,
    span: np.ndarray | None = None,
) -> Decomposition:
    """Decomposition of cross-fitted values; of `span` the first d columns, if it is given."""
    within = None if span is None else (span[:, :d], span[:, :d])
    result = (
        Moments()
        .update(F, G)
        .decompose(d, span=within, x_features=x_features, y_features=y_features, y_sample=copy_for_expectations(Y))
    )
    loadings = Loadings.from_batches((g, to_dense(rows)) for g, rows in iterate_blocks(G, columns))
    assert isinstance(result.g, LinearFunctions)
    return fix_signs(result, loadings.covariance @ result.g.weights, loadings.variance)


def encode_rows(encoder: Encoder, values: Any, name: str) -> Any:
    """Encoded rows as scikit-learn takes them."""
    rows = encoder(values, name)
    return rows if rows.ndim == 2 else to_dense(rows)
