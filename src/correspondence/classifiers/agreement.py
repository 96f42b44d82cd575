"""Several classifiers of the same inputs in one factoring space, and where they disagree."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.classifiers.beliefs import Beliefs, is_stream
from correspondence.classifiers.calibration import measure_log_loss
from correspondence.classifiers.class_labels import find_classes
from correspondence.classifiers.estimator import ClassifierCA
from correspondence.results.comparison import ClassifierComparison

__all__ = ["compare_classifiers"]


def compare_classifiers(
    models: Sequence[Any] | Mapping[str, Any],
    X: Any,
    y: Any = None,
    *,
    classes: Any = None,
    outputs: str = "auto",
    batch_size: int = 1024,
) -> ClassifierComparison:
    """Put several classifiers into one factoring space, and see where they disagree.

    Parameters
    ----------
    models : list or dict
        There must be at least two models of the same classes, of any kind that `ClassifierCA` takes; a dictionary gives
        them names.
    X : array-like or frame
        Ask the models about these inputs, ideally inputs that none of them was trained on.
    y : array-like of shape (n,), optional
        The true labels of X give the ``scores``.
    classes : array-like of shape (k,), optional
        The classes have these names, in the order of the beliefs; by default each model's own, matched by name.
    outputs, batch_size : str, int
        These are parameters of `ClassifierCA`.

    Returns
    -------
    ClassifierComparison
        The comparison; print it for a summary, and ``co.plot.classifiers`` draws it.

    Examples
    --------
    >>> import correspondence as co
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"linear": LogisticRegression(max_iter=1000), "Bayes": GaussianNB()}
    >>> fitted = {name: model.fit(X[::2], y[::2]) for name, model in models.items()}
    >>> comparison = co.compare_classifiers(fitted, X[1::2], y[1::2])
    >>> comparison.agreement.round(2)
    array([[1.  , 0.97],
           [0.97, 1.  ]])
    >>> comparison.table().toarray().astype(int)
    array([[25,  0,  0],
           [ 0, 25,  1],
           [ 0,  1, 23]])
    """
    named = name_models(models)
    if is_stream(X):
        raise ValueError("X must be an array, a frame or a list, because every model is asked about all of it.")
    asked = {name: Beliefs(model, outputs, 1.0, batch_size, classes) for name, model in named.items()}
    beliefs = {name: ask(X) for name, ask in asked.items()}
    first = next(iter(named))
    labels = asked[first].name_classes(beliefs[first].shape[1])
    P = np.stack([_order_columns(name, beliefs[name], asked[name], labels) for name in named])
    with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):  # about classes never predicted
        analyses = {name: ClassifierCA.from_beliefs(P[i], labels) for i, name in enumerate(named)}
        common = ClassifierCA.from_beliefs(P.reshape(-1, len(labels)), labels)
    scores = {} if y is None else score_models(analyses, P, find_classes(y, labels, P.shape[1], "y"))
    # The mean total variation between two models, for each input.
    pairs = list(combinations(P, 2))
    disagreement = sum(np.abs(one - other).sum(axis=1) for one, other in pairs) / 2 / len(pairs)
    return ClassifierComparison(list(named), labels, P, analyses, common, disagreement, scores)


def name_models(models: Any) -> dict[str, Any]:
    if not isinstance(models, Mapping):
        if not isinstance(models, Sequence) or isinstance(models, str):
            raise TypeError(f"models must be a list or a dictionary of models, got {type(models).__name__}.")
        kinds = [type(model).__name__ for model in models]
        models = {
            kind if kinds.count(kind) == 1 else f"{kind} {i + 1}": model
            for i, (kind, model) in enumerate(zip(kinds, models, strict=True))
        }
    named = {str(name): model for name, model in models.items()}
    if len(named) < len(models):
        raise ValueError("models must have names that differ as texts.")
    if {"index", "disagreement"} & set(named):
        raise ValueError("models must not be called index or disagreement, which are columns of a result.")
    if len(named) < 2:
        raise ValueError(f"models must be at least two, got {len(named)}. Use ClassifierCA for one.")
    return named


def _order_columns(name: str, P: np.ndarray, asked: Beliefs, labels: np.ndarray) -> np.ndarray:
    """Return the beliefs with their columns in the order of the labels."""
    own = {label: i for i, label in enumerate(asked.name_classes(P.shape[1]).tolist())}
    if set(own) != set(labels.tolist()):
        raise ValueError(f"models must have the same classes, but those of {name} are not those of the first.")
    return P[:, [own[label] for label in labels.tolist()]]


def score_models(analyses: dict[str, ClassifierCA], P: np.ndarray, codes: np.ndarray) -> dict[str, dict[str, float]]:
    return {
        name: {
            "accuracy": float((P[i].argmax(axis=1) == codes).mean()),
            "log_loss": measure_log_loss(P[i], codes),
            "captured": analysis.evaluate(P[i], analysis.classes_[codes]).captured,
        }
        for i, (name, analysis) in enumerate(analyses.items())
    }
