"""Read fitted models of scikit-learn, so that they can be saved.

A model is read by the names of its attributes, then asked at a few rows: one that answers differently from what was
read is not saved, so that a release of scikit-learn that keeps its models in another way does no harm.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from correspondence._util.text import short_repr
from correspondence.estimators.saved_models import AffineStep, ParallelStep, SavedModel, ScaleStep, check_activation
from correspondence.estimators.saved_trees import TreeNodes, join_trees

__all__ = ["read_fitted_model"]

N_PROBES = 32  # rows at which a model is compared with the one it was read from
MAX_DIFFERENCE = 1e-9  # of the two answers there; equal arithmetic differs by about 1e-15
SAVABLE_TEXT = "linear and logistic regressions, trees, forests, boosting and multilayer perceptrons of scikit-learn"


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

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> X = np.arange(6.0)[:, None]
    >>> model = read_fitted_model(Ridge(alpha=1e-9).fit(X, 2 * X[:, 0] + 1))
    >>> model.predict(X[:3]).round(3).ravel()
    array([1., 3., 5.])
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
