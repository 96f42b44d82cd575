"""Regressors and classifiers of scikit-learn as arrays and plain values, which predict without scikit-learn.

A model is a chain of steps: numbers are shifted and scaled, multiplied by weights, or dropped through trees. It is read
from a fitted model by the names of its public attributes, then asked at a few rows: a model that answers differently
from the one it was read from is not saved.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy.special import expit, softmax

from correspondence._util.files import State, strip_prefix
from correspondence._util.text import short_repr
from correspondence.estimators.saved_trees import TreeNodes, TreesStep, join_trees

__all__ = ["SavedModel", "read_fitted_model"]

N_PROBES = 32  # rows at which a model is compared with the one it was read from
MAX_DIFFERENCE = 1e-9  # of the two answers there; equal arithmetic differs by about 1e-15
SAVABLE_TEXT = "linear and logistic regressions, trees, forests, boosting and multilayer perceptrons of scikit-learn"


def _relu(values: np.ndarray) -> np.ndarray:
    return np.maximum(values, 0)


def _one_against_rest(values: np.ndarray) -> np.ndarray:
    shares = expit(values)
    total = shares.sum(axis=1, keepdims=True)
    return np.where(total > 0, shares / np.where(total > 0, total, 1), 1 / shares.shape[1])


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "identity": lambda values: values,
    "relu": _relu,
    "tanh": np.tanh,
    "exp": np.exp,
    "logistic": expit,
    "softmax": lambda values: softmax(values, axis=1),
    "one-against-rest": _one_against_rest,
}


class PredictionStep(Protocol):
    """A step of a model: ``step(rows)`` has shape (n, n_outputs)."""

    kind: ClassVar[str]

    @property
    def n_features(self) -> int:
        """The number of columns of the rows."""

    @property
    def n_outputs(self) -> int:
        """The number of columns of the result."""

    def __call__(self, rows: Any) -> np.ndarray:
        """Evaluate the step."""

    def state(self) -> State:
        """Return the description and the arrays from which `from_state` makes the same step."""


@dataclass(frozen=True, eq=False, repr=False)
class ScaleStep:
    """Columns, each shifted and divided by its scale: (rows - mean) / scale."""

    mean: np.ndarray
    scale: np.ndarray
    kind: ClassVar[str] = "scale"

    @property
    def n_features(self) -> int:
        """The number of columns of the rows."""
        return len(self.mean)

    @property
    def n_outputs(self) -> int:
        """The number of columns of the result."""
        return len(self.mean)

    def __call__(self, rows: Any) -> np.ndarray:
        """Evaluate the step."""
        if not self.mean.any():  # so that sparse rows stay sparse
            return rows / self.scale if isinstance(rows, np.ndarray) else rows.multiply(1 / self.scale).tocsr()
        return (rows - self.mean) / self.scale

    def state(self) -> State:
        """Return the description and the arrays from which `from_state` makes the same step."""
        return State({"kind": self.kind, "n_features": self.n_features}, {"mean": self.mean, "scale": self.scale})

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> ScaleStep:
        """Put together what `state` took apart."""
        check_sizes(arrays, dict.fromkeys(("mean", "scale"), (description["n_features"],)))
        if not (arrays["scale"] > 0).all():
            raise TypeError("scale must be positive.")
        return cls(arrays["mean"], arrays["scale"])


@dataclass(frozen=True, eq=False, repr=False)
class AffineStep:
    """A layer: activation(rows @ weights + intercept)."""

    weights: np.ndarray
    intercept: np.ndarray
    activation: str = "identity"
    kind: ClassVar[str] = "affine"

    @property
    def n_features(self) -> int:
        """The number of columns of the rows."""
        return self.weights.shape[0]

    @property
    def n_outputs(self) -> int:
        """The number of columns of the result."""
        return self.weights.shape[1]

    def __call__(self, rows: Any) -> np.ndarray:
        """Evaluate the step."""
        return ACTIVATIONS[self.activation](np.asarray(rows @ self.weights) + self.intercept)

    def state(self) -> State:
        """Return the description and the arrays from which `from_state` makes the same step."""
        sizes = {name: getattr(self, name) for name in ("kind", "n_features", "n_outputs", "activation")}
        return State(sizes, {"weights": self.weights, "intercept": self.intercept})

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> AffineStep:
        """Put together what `state` took apart."""
        p, q = description["n_features"], description["n_outputs"]
        check_sizes(arrays, {"weights": (p, q), "intercept": (q,)})
        return cls(arrays["weights"], arrays["intercept"], check_activation(description["activation"]))


@dataclass(frozen=True, eq=False, repr=False)
class ParallelStep:
    """Several models of the same rows, one for each output."""

    models: tuple[SavedModel, ...]
    kind: ClassVar[str] = "parallel"

    @property
    def n_features(self) -> int:
        """The number of columns of the rows."""
        return self.models[0].n_features

    @property
    def n_outputs(self) -> int:
        """The number of columns of the result."""
        return len(self.models)

    def __call__(self, rows: Any) -> np.ndarray:
        """Evaluate the step."""
        return np.hstack([model.predict(rows) for model in self.models])

    def state(self) -> State:
        """Return the description and the arrays from which `from_state` makes the same step."""
        description, arrays = number_states([model.state() for model in self.models])
        return State({"kind": self.kind, "models": description}, arrays)

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> ParallelStep:
        """Put together what `state` took apart."""
        models = tuple(
            SavedModel.from_state(each, strip_prefix(arrays, f"{i}.")) for i, each in enumerate(description["models"])
        )
        if {(model.n_features, model.n_outputs) for model in models} != {(models[0].n_features, 1)}:
            raise TypeError("models must take the same columns and predict one number each.")
        return cls(models)


STEPS: dict[str, Any] = {cls.kind: cls for cls in (ScaleStep, AffineStep, TreesStep, ParallelStep)}


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A regressor or a classifier that was read from one of scikit-learn, or from a file.

    Attributes
    ----------
    steps : tuple of PredictionStep
        The result of a step is what the next one takes.
    activation : str
        The name of a function of what the last step gives.
    classes : ndarray, optional
        The classes of a classifier, in the order of its beliefs; a single belief is that in the second class.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> X = np.arange(6.0)[:, None]
    >>> model = read_fitted_model(Ridge(alpha=1e-9).fit(X, 2 * X[:, 0] + 1))
    >>> model.predict(X[:3]).round(3).ravel()
    array([1., 3., 5.])
    """

    steps: tuple[PredictionStep, ...]
    activation: str = "identity"
    classes: np.ndarray | None = None

    @property
    def n_features(self) -> int:
        """The number of columns of the rows."""
        return self.steps[0].n_features

    @property
    def n_outputs(self) -> int:
        """The number of columns of `predict`, or of beliefs."""
        return self.steps[-1].n_outputs if self.classes is None else len(self.classes)

    def predict(self, rows: Any) -> np.ndarray:
        """Predict the expectation of each output, or the probability of each class, with shape (n, n_outputs)."""
        if rows.shape[1] != self.n_features:
            raise ValueError(f"rows must have {self.n_features} columns, got {rows.shape[1]}.")
        for step in self.steps:
            rows = step(rows)
        values = ACTIVATIONS[self.activation](rows)
        if values.shape[1] == 1 and self.n_outputs == 2:
            return np.hstack([1 - values, values])
        return values

    def state(self) -> State:
        """Return the description and the arrays from which `from_state` makes the same model."""
        description, arrays = number_states([step.state() for step in self.steps])
        kept = {} if self.classes is None else {"classes": self.classes}
        whole = {"steps": description, "activation": self.activation, "is_classifier": self.classes is not None}
        return State(whole, arrays | kept)

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> SavedModel:
        """Put together what `state` took apart, if all sizes agree."""
        steps = tuple(
            STEPS[each["kind"]].from_state(each, strip_prefix(arrays, f"{i}."))
            for i, each in enumerate(description["steps"])
        )
        classes = arrays["classes"] if description["is_classifier"] else None
        model = cls(steps, check_activation(description["activation"]), classes)
        if any(a.n_outputs != b.n_features for a, b in pairwise(steps)):
            raise TypeError("steps must take what those before them give.")
        if classes is not None and not (
            classes.ndim == 1
            and classes.dtype.kind in "iu"
            and (len(classes), steps[-1].n_outputs) in ((2, 1), (len(classes), len(classes)))
        ):
            raise TypeError("classes must be a whole number for each belief.")
        return model

    def __repr__(self) -> str:
        kinds = " and ".join(step.kind for step in self.steps)
        return f"a saved model of {kinds}"


def number_states(states: list[State]) -> tuple[list[dict[str, Any]], dict[str, np.ndarray]]:
    """Put the states of several parts together, with their arrays under their numbers."""
    arrays = {name: array for i, state in enumerate(states) for name, array in state.prefix_arrays(f"{i}.").items()}
    return [state.description for state in states], arrays


def check_sizes(arrays: dict[str, np.ndarray], shapes: dict[str, tuple[int, ...]]) -> None:
    """Check that arrays of a file have the shapes that its description says, and are finite."""
    for name, shape in shapes.items():
        if arrays[name].shape != shape or arrays[name].dtype.kind != "f" or not np.isfinite(arrays[name]).all():
            raise TypeError(f"{name} must be finite numbers of shape {shape}.")


def check_activation(name: str) -> str:
    """Check that the name of a function is known."""
    if name not in ACTIVATIONS:
        raise TypeError(f"activation must be one of {', '.join(ACTIVATIONS)}.")
    return name


# --- reading models of scikit-learn


def read_fitted_model(model: Any) -> SavedModel:
    """Read a fitted model of scikit-learn.

    Parameters
    ----------
    model : regressor or classifier
        The model must be one of scikit-learn itself, because a class derived from it may predict otherwise.

    Raises
    ------
    TypeError
        If the model is of another kind, or does not answer as what was read from it.
    """
    if isinstance(model, SavedModel):
        return model
    name = type(model).__name__
    is_known = type(model).__module__.split(".")[0] in ("sklearn", "correspondence") and name in READERS
    if not is_known:
        raise TypeError(f"{name} is not among the {SAVABLE_TEXT}")
    try:
        saved = READERS[name](model)
        rows = np.random.default_rng(0).normal(scale=2.0, size=(N_PROBES, saved.n_features))
        with warnings.catch_warnings(action="ignore"):
            answer = model.predict(rows) if saved.classes is None else model.predict_proba(rows)
        is_same = np.allclose(saved.predict(rows).ravel(), np.ravel(answer), MAX_DIFFERENCE, MAX_DIFFERENCE)
    except (AttributeError, IndexError, KeyError, ValueError) as error:
        raise TypeError(f"this release of scikit-learn keeps {name} in another way ({error})") from error
    if not is_same:
        raise TypeError(f"{short_repr(model)} does not predict what its numbers say")
    return saved


def read_linear(model: Any) -> SavedModel:
    """Read coefficients."""
    weights = np.atleast_2d(np.asarray(model.coef_)).T
    return SavedModel((_make_affine(weights, model.intercept_),))


def read_label_means(model: Any) -> SavedModel:
    """Read the means of targets for each label."""
    return SavedModel((_make_affine(np.asarray(model.means), 0.0),))


def read_logistic(model: Any) -> SavedModel:
    """Read the coefficients of a logistic regression, of one class or of each."""
    coefficients = np.atleast_2d(np.asarray(model.coef_))
    is_against_rest = getattr(model, "solver", "") == "liblinear" or getattr(model, "multi_class", "") == "ovr"
    activation = "one-against-rest" if is_against_rest else "softmax"
    if len(coefficients) == 1:
        activation = "logistic"
        if getattr(model, "multi_class", "") == "multinomial":  # older releases: softmax of minus and plus the decision
            coefficients = 2 * coefficients
            return SavedModel((_make_affine(coefficients.T, 2 * model.intercept_),), activation, model.classes_)
    return SavedModel((_make_affine(coefficients.T, model.intercept_),), activation, model.classes_)


def read_net(model: Any) -> SavedModel:
    """Read the layers of a multilayer perceptron."""
    last = len(model.coefs_) - 1
    names = [model.activation] * last + [model.out_activation_]
    layers = zip(model.coefs_, model.intercepts_, names, strict=True)
    steps = tuple(AffineStep(np.asarray(w), np.asarray(b), check_activation(name)) for w, b, name in layers)
    return SavedModel(steps, classes=getattr(model, "classes_", None))


def read_forest(model: Any) -> SavedModel:
    """Read a tree, or trees whose predictions are averaged."""
    trees = getattr(model, "estimators_", [model])
    classes = getattr(model, "classes_", None)
    nodes = [_read_tree(tree) for tree in trees]
    k = nodes[0].values.shape[1]
    step = join_trees(nodes, model.n_features_in_, k, 1 / len(nodes), np.zeros(k), is_single=True)
    return SavedModel((step,), classes=classes)


def read_boosting(model: Any) -> SavedModel:
    """Read trees whose predictions are added to a constant, which follows from one prediction."""
    if model.init is not None:
        raise ValueError("init")
    trees = np.asarray(model.estimators_)
    nodes, p = [_read_tree(tree) for tree in trees.ravel()], model.n_features_in_
    return _add_start(model, nodes, p, trees.shape[1], model.learning_rate, is_single=True)


def read_histogram_boosting(model: Any) -> SavedModel:
    """Read the trees of boosting on histograms, which compares rows in double precision."""
    records = [np.asarray(tree.nodes) for stage in model._predictors for tree in stage]
    if any(record["is_categorical"].any() for record in records):
        raise ValueError("categorical_features")
    nodes = [_read_record(record) for record in records]
    return _add_start(model, nodes, model.n_features_in_, len(model._predictors[0]), 1.0, is_single=False)


def _add_start(model: Any, nodes: list[TreeNodes], p: int, k: int, factor: float, *, is_single: bool) -> SavedModel:
    classes, row = getattr(model, "classes_", None), np.zeros((1, p))
    answer = np.ravel(model.predict(row) if classes is None else model.decision_function(row))
    step = join_trees(nodes, p, k, factor, np.zeros(k), is_single=is_single)
    step = join_trees(nodes, p, k, factor, answer - step(row)[0], is_single=is_single)
    if classes is None:
        return SavedModel((step,))
    return SavedModel((step,), "logistic" if k == 1 else "softmax", classes)


def _read_tree(model: Any) -> TreeNodes:
    tree = model.tree_
    is_leaf = tree.children_left == -1
    missing = getattr(tree, "missing_go_to_left", np.zeros(len(is_leaf), dtype=np.uint8))
    values = tree.value.reshape(len(is_leaf), -1)  # one output with its classes, or outputs with one value each
    feature = np.where(is_leaf, -1, tree.feature)
    return TreeNodes(tree.children_left, tree.children_right, feature, tree.threshold, values, missing)


def _read_record(record: np.ndarray) -> TreeNodes:
    feature = np.where(record["is_leaf"].astype(bool), -1, record["feature_idx"])
    left, right = (record[name].astype(np.intp) for name in ("left", "right"))
    values, missing = record["value"][:, None], record["missing_go_to_left"]
    return TreeNodes(left, right, feature, record["num_threshold"], values, missing)


def read_chain(model: Any) -> SavedModel:
    """Read a pipeline of scalers and a last model."""
    scalers = [step for _, step in model.steps[:-1] if step is not None and step != "passthrough"]
    last = read_fitted_model(model.steps[-1][1])
    return SavedModel((*map(_read_scaler, scalers), *last.steps), last.activation, last.classes)


def _read_scaler(scaler: Any) -> ScaleStep:
    if type(scaler).__name__ != "StandardScaler":
        raise TypeError(f"{short_repr(scaler)} before a model is not a StandardScaler")
    p = scaler.n_features_in_
    mean = np.zeros(p) if scaler.mean_ is None or not scaler.with_mean else scaler.mean_
    return ScaleStep(np.asarray(mean), np.ones(p) if scaler.scale_ is None else np.asarray(scaler.scale_))


def read_outputs(model: Any) -> SavedModel:
    """Read one regressor for each output."""
    return SavedModel((ParallelStep(tuple(read_fitted_model(each) for each in model.estimators_)),))


def read_best(model: Any) -> SavedModel:
    """Read the model that a search found best."""
    return read_fitted_model(model.best_estimator_)


def _make_affine(weights: np.ndarray, intercept: Any) -> AffineStep:
    dtype = weights.dtype if weights.dtype.kind == "f" else np.dtype(np.float64)
    shift = np.broadcast_to(np.asarray(intercept, dtype=dtype).ravel(), weights.shape[1])
    return AffineStep(np.ascontiguousarray(weights, dtype=dtype), np.ascontiguousarray(shift))


READERS: dict[str, Callable[[Any], SavedModel]] = {
    name: reader
    for reader, names in {
        read_linear: "LinearRegression Ridge RidgeCV Lasso LassoCV ElasticNet ElasticNetCV MultiTaskLasso "
        "MultiTaskElasticNet BayesianRidge HuberRegressor SGDRegressor LinearSVR",
        read_label_means: "LabelMeans",
        read_logistic: "LogisticRegression LogisticRegressionCV",
        read_net: "MLPClassifier MLPRegressor",
        read_forest: "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor "
        "RandomForestClassifier RandomForestRegressor ExtraTreesClassifier ExtraTreesRegressor",
        read_boosting: "GradientBoostingClassifier GradientBoostingRegressor",
        read_histogram_boosting: "HistGradientBoostingClassifier HistGradientBoostingRegressor",
        read_chain: "Pipeline",
        read_outputs: "MultiOutputRegressor",
        read_best: "GridSearchCV RandomizedSearchCV",
    }.items()
    for name in names.split()
}
