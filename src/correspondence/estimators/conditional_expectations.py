"""Conditional expectations by a regressor or a classifier, and the functions made of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import get_tags

from correspondence._util.files import State, strip_prefix
from correspondence._util.text import short_repr
from correspondence._util.threads import limit_blas_threads
from correspondence.core.decomposition import Decomposition
from correspondence.core.feature_maps import Loadings, fix_signs, iterate_blocks, to_dense
from correspondence.core.functions import FeatureMap, LinearFunctions
from correspondence.core.moments import Moments
from correspondence.core.splines import SplineBasis
from correspondence.core.whitening import compute_whitening
from correspondence.data.encoders.base import Encoder
from correspondence.data.encoders.choosing import encoder_from_state
from correspondence.data.encoders.columns import Columns, copy_for_expectations
from correspondence.estimators.model_readers import read_fitted_model
from correspondence.estimators.saved_models import SavedModel, number_states

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
    "suit_rows",
]

MAX_START_FUNCTIONS = 40  # functions of y that the alternation starts from
MAX_NUMBERS_FOR_ONE_THREAD = 5_000_000  # numbers of the rows; for fewer, threads wait for each other
MAX_LABELS_REGRESSED = 50  # labels up to which all indicators are regressed at once
MAX_SHARE_FOR_SPARSE = 0.4  # of numbers that are not 0; with fewer, sparse rows are quicker to multiply


@dataclass(frozen=True, eq=False)
class ConditionalExpectation:
    """Encoded rows of one variable, and the model that learns expectations given them."""

    name: str
    encoder: Encoder
    rows: Any
    model: Any

    def fit_model(self, train: np.ndarray, targets: np.ndarray) -> ExpectationModel:
        """Learn the expectations of targets from some of the pairs."""
        model, width = clone(self.model), targets.shape[1]
        try:
            with limit_blas_threads(np.prod(self.rows.shape) <= MAX_NUMBERS_FOR_ONE_THREAD):
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
        """Evaluate the combinations at encoded rows."""
        if isinstance(self.model, SavedModel):
            values = self.model.predict(rows)
            values = values if self.model.classes is None else self._spread_beliefs(values, self.model.classes)
        elif is_classifier(self.model):
            values = self._spread_beliefs(self.model.predict_proba(rows), self.model.classes_)
        else:
            values = np.asarray(self.model.predict(rows), dtype=np.float64).reshape(rows.shape[0], -1)
            if values.shape[1] != self.width:
                raise ValueError(
                    f"{short_repr(self.model)} must predict {self.width} numbers for each row, got {values.shape[1]}."
                )
        return values if self.functions is None else self.functions.of_features(values)

    def _spread_beliefs(self, beliefs: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Give each belief the column of its class; classes that a part of the pairs does not have get none."""
        values = np.zeros((len(beliefs), self.width))
        values[:, classes] = beliefs
        return values

    def combine_predictions(self, functions: LinearFunctions) -> ExpectationModel:
        """Combine the predictions by linear functions."""
        return replace(self, functions=functions)

    def rotate_functions(self, first: ExpectationModel, rows: Any) -> ExpectationModel:
        """Rotate the functions on to those of another model."""
        assert self.functions is not None
        U, _, Vt = np.linalg.svd(self(rows).T @ first(rows))
        return self.combine_predictions(replace(self.functions, weights=self.functions.weights @ (U @ Vt)))

    def state(self) -> State:
        """Return the description and the arrays from which `from_state` makes the same model."""
        model = read_fitted_model(self.model).state()
        description, arrays = {"width": self.width, "model": model.description}, model.prefix_arrays("model.")
        if self.functions is None:
            return State(description, arrays)
        functions = self.functions.state()
        return State(description | {"functions": functions.description}, arrays | functions.prefix_arrays("functions."))

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> ExpectationModel:
        """Put together what `state` took apart."""
        model = SavedModel.from_state(description["model"], strip_prefix(arrays, "model."))
        width, classes = description["width"], model.classes
        is_fitting = model.n_outputs == width if classes is None else 0 <= min(classes) <= max(classes) < width
        if not is_fitting:
            raise TypeError("width must be the number of predictions.")
        if "functions" not in description:
            return cls(model, width)
        functions = LinearFunctions.from_state(description["functions"], strip_prefix(arrays, "functions."))
        if len(functions.mean) != width:
            raise TypeError("functions must take all predictions.")
        return cls(model, width, functions)


@dataclass(frozen=True, eq=False, repr=False)
class CrossFittedExpectation(FeatureMap):
    """Mean over the models of all folds."""

    name: str
    encoder: Encoder
    models: list[ExpectationModel]
    kind: ClassVar[str] = "expectations"

    def __call__(self, values: Any) -> np.ndarray:
        """Expect the functions at new values."""
        rows = encode_rows(self.encoder, values, self.name)
        return np.mean([model(rows) for model in self.models], axis=0)

    def state(self) -> State:  # noqa: D102
        try:
            models, arrays = number_states([model.state() for model in self.models])
        except TypeError as error:
            raise TypeError(f"Functions made by {self!r} cannot be saved: {error}.") from error
        description = {"name": self.name, "encoder": self.encoder.state().description, "models": models}
        return State(description, arrays)

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> CrossFittedExpectation:
        encoder = encoder_from_state(description["encoder"], arrays)
        models = [
            ExpectationModel.from_state(each, strip_prefix(arrays, f"{i}."))
            for i, each in enumerate(description["models"])
        ]
        width = getattr(encoder, "width", models[0].model.n_features)
        if {model.model.n_features for model in models} != {width}:
            raise TypeError("models must take the columns that the encoder makes.")
        return cls(description["name"], encoder, models)

    def __repr__(self) -> str:
        return f"the regressors of {self.name}, such as {self.models[0].model!r},"


class LabelMeans(RegressorMixin, BaseEstimator):
    """Mean of the targets for each label, given as indicators; for a label that did not occur, the mean over all."""

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
    """Find functions of y to start from: leading principal components of splines of its columns, or of its rows."""
    Z = to_dense(rows)
    if isinstance(encoder, Columns):
        Z = SplineBasis.for_columns(Z, encoder.coordinates, 8)(Z)
    Z = Z - Z.mean(axis=0)
    Z = Z / np.maximum(Z.std(axis=0), 1e-12)
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    return U[:, :MAX_START_FUNCTIONS][:, s[:MAX_START_FUNCTIONS] > 1e-6 * s[0]] * np.sqrt(len(Z))


def find_most_correlated(F: np.ndarray, G: np.ndarray, k: int) -> LinearFunctions:
    """Find the k uncorrelated combinations of the columns of F that are most correlated with those of G."""
    f = Moments().update(F, G).decompose(k, tol=1e-8).f
    assert isinstance(f, LinearFunctions)
    missing = k - f.weights.shape[1]
    return replace(f, weights=np.pad(f.weights, ((0, 0), (0, missing))))


def expect_span(F: np.ndarray, G: np.ndarray, known: str) -> np.ndarray:
    """Find the combinations to which functions and their expectations are both restricted.

    If F estimates E[G | X] then E[F G^T] estimates E[E[G | X] E[G | X]^T], which is symmetric and positive. Only
    directions with positive values are a result. A negative one arises when the mean of a fold is high, and so that of
    the other folds low.
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
    """Decompose cross-fitted values, within the first d columns of `span` if it is given."""
    within = None if span is None else (span[:, :d], span[:, :d])
    result = (
        Moments()
        .update(F, G)
        .decompose(d, span=within, x_features=x_features, y_features=y_features, y_sample=copy_for_expectations(Y))
    )
    loadings = Loadings.from_batches((g, to_dense(rows)) for g, rows in iterate_blocks(G, columns))
    assert isinstance(result.g, LinearFunctions)
    return fix_signs(result, loadings.covariance @ result.g.weights, loadings.variance)


def suit_rows(rows: Any, model: Any) -> Any:
    """Return sparse rows for a logistic regression if most numbers are 0, which makes its fit several times quicker.

    Parameters
    ----------
    rows : ndarray or sparse array of shape (n, p)
        Encoded rows of a variable.
    model : regressor or classifier
        The model that is to learn from them.

    Examples
    --------
    >>> rows = np.eye(3)
    >>> type(suit_rows(rows, LogisticRegression())).__name__, suit_rows(rows, None) is rows
    ('csr_array', True)
    """
    if not isinstance(model, LogisticRegression) or sp.issparse(rows):
        return rows
    return sp.csr_array(rows) if np.count_nonzero(rows) <= MAX_SHARE_FOR_SPARSE * rows.size else rows


def encode_rows(encoder: Encoder, values: Any, name: str) -> Any:
    """Encode values as scikit-learn takes them."""
    rows = encoder(values, name)
    return rows if rows.ndim == 2 else to_dense(rows)
