"""Several classifiers of the same inputs in one factoring space, and where they disagree."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from correspondence._util.arguments import brief, check_whole, read_only
from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.classifiers.beliefs import Beliefs, is_stream
from correspondence.classifiers.calibration import log_loss
from correspondence.classifiers.estimator import ClassifierCA, label_codes
from correspondence.data.table import Backend, Table, to_frame

__all__ = ["ClassifierComparison", "compare_classifiers"]


@dataclass(frozen=True, eq=False, repr=False)
class ClassifierComparison:
    """Beliefs of several classifiers of the same inputs; what `compare_classifiers` returns.

    Attributes
    ----------
    names : list of str
        Of the m models.
    classes : ndarray of shape (k,)
        In the order of the first model.
    beliefs : ndarray of shape (m, n, k)
        Of each model, input and class.
    models : dict from name to ClassifierCA
        Each model for itself; they take beliefs for X.
    common : ClassifierCA
        All models together, as if an input were given to one of them at random: a space in which the beliefs of all of
        them have a place, and the same boundaries.
    disagreement : ndarray of shape (n,)
        For each input the mean distance between two models: the largest difference between the probabilities that they
        give to any set of classes (total variation), from 0 to 1.
    scores : dict from name to dict
        If labels were given: ``accuracy``, ``log_loss`` and ``captured`` of each model.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> careful = lambda X: np.column_stack([1 - X[:, 0], X[:, 0]])
    >>> bold = lambda X: np.column_stack([X[:, 0] < 0.4, X[:, 0] >= 0.4]).astype(float)
    >>> X = np.linspace(0.05, 0.95, 10)[:, None]
    >>> comparison = co.compare_classifiers({"careful": careful, "bold": bold}, X)
    >>> comparison
    2 classifiers of 10 inputs, 2 classes
      careful: correlations 0.574
      bold: correlations 1.000
      careful and bold predict the same class for 90.0 % of the inputs
      mean disagreement of beliefs 0.2600, largest 0.5500
    >>> X[comparison.most_index(1)]
    array([[0.45]])
    """

    names: list[str]
    classes: np.ndarray
    beliefs: np.ndarray
    models: dict[str, ClassifierCA]
    common: ClassifierCA
    disagreement: np.ndarray
    scores: dict[str, dict[str, float]]

    def __post_init__(self) -> None:
        read_only(self, "beliefs", "disagreement")

    @property
    def predictions(self) -> np.ndarray:
        """The likeliest class of each input by each model, of shape (m, n)."""
        return self.classes[self.beliefs.argmax(axis=2)]

    @property
    def agreement(self) -> np.ndarray:
        """Share of the inputs for which two models predict the same class, of shape (m, m)."""
        top = self.beliefs.argmax(axis=2)
        return (top[:, None] == top[None]).mean(axis=2)

    def positions(self, name: str) -> np.ndarray:
        """Where one of the models sees the inputs: their f in the common space.

        Parameters
        ----------
        name : str
            Of the model.

        Returns
        -------
        ndarray of shape (n, d)
            In the order of the inputs.
        """
        return self.common.locate(self.beliefs[self._index(name)])

    def table(self, first: str | None = None, second: str | None = None) -> Table:
        """How often one model predicts a class and another a class: a table for `CA`.

        Parameters
        ----------
        first, second : str, optional
            Names of the models; the first two by default, or one and the first other.

        Returns
        -------
        Table
            Predictions of the first in the rows, of the second in the columns.
        """
        i = 0 if first is None else self._index(first)
        j = int(i == 0) if second is None else self._index(second)
        counts = np.zeros((len(self.classes),) * 2)
        top = self.beliefs.argmax(axis=2)
        np.add.at(counts, (top[i], top[j]), 1)
        return Table(counts, self.classes, self.classes)

    def most(self, n: int = 10, backend: Backend | None = None) -> Any:
        """Data frame of the inputs on which the models disagree most: index, disagreement, prediction of each model.

        Parameters
        ----------
        n : int
            At most so many.
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which library; one that is installed by default.

        Returns
        -------
        frame
            One row for each input, the largest disagreement first.
        """
        rows = self.most_index(n)
        predicted = {name: self.predictions[i, rows] for i, name in enumerate(self.names)}
        return to_frame({"index": rows, "disagreement": self.disagreement[rows], **predicted}, backend)

    def most_index(self, n: int = 10) -> np.ndarray:
        """Find the inputs on which the models disagree most.

        Parameters
        ----------
        n : int
            At most so many.

        Returns
        -------
        ndarray of int
            Their positions, the largest disagreement first.
        """
        return np.argsort(-self.disagreement, kind="stable")[: check_whole(n, "n", 1)]

    def _index(self, name: str) -> int:
        if not isinstance(name, str) or name not in self.names:
            raise ValueError(f"There is no model {brief(name)}: choose one of {', '.join(self.names)}.")
        return self.names.index(name)

    def __repr__(self) -> str:
        n = self.beliefs.shape[1]
        lines = [f"{len(self.names)} classifiers of {n:,} inputs, {len(self.classes)} classes"]
        for name in self.names:
            shown = " ".join(f"{r:.3f}" for r in self.models[name].correlations_[:5])
            scores = "".join(f", {_spaced(what)} {value:.4f}" for what, value in self.scores.get(name, {}).items())
            lines.append(f"  {name}: correlations {shown}{scores}")
        for i, j in combinations(range(len(self.names)), 2):
            same = 100 * self.agreement[i, j]
            lines.append(f"  {self.names[i]} and {self.names[j]} predict the same class for {same:.1f} % of the inputs")
        mean, largest = self.disagreement.mean(), self.disagreement.max()
        lines.append(f"  mean disagreement of beliefs {mean:.4f}, largest {largest:.4f}")
        return "\n".join(lines)


def _spaced(name: str) -> str:
    return name.replace("_", " ")


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
        At least two models of the same classes, each as `ClassifierCA` takes it; a dictionary gives them names.
    X : array-like or frame
        Inputs, best such that none of the models was trained on.
    y : array-like of shape (n,), optional
        Their true labels, for ``scores``.
    classes : array-like of shape (k,), optional
        Names of the classes, in the order of the beliefs; by default each model's own, matched by name.
    outputs, batch_size : str, int
        As for `ClassifierCA`.

    Returns
    -------
    ClassifierComparison
        Print it for a summary; ``co.plot.classifiers`` draws it.

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
    named = _named(models)
    if is_stream(X):
        raise ValueError("X must be an array, a frame or a list: every model is asked about all of it.")
    asked = {name: Beliefs(model, outputs, 1.0, batch_size, classes) for name, model in named.items()}
    beliefs = {name: ask(X) for name, ask in asked.items()}
    first = next(iter(named))
    labels = asked[first].classes(beliefs[first].shape[1])
    P = np.stack([_in_order(name, beliefs[name], asked[name], labels) for name in named])
    with warnings.catch_warnings(
        action="ignore", category=CorrespondenceWarning
    ):  # of classes that a model never predicts
        analyses = {name: ClassifierCA.from_beliefs(P[i], labels) for i, name in enumerate(named)}
        common = ClassifierCA.from_beliefs(P.reshape(-1, len(labels)), labels)
    scores = {} if y is None else _scores(analyses, P, label_codes(y, labels, P.shape[1], "y"))
    return ClassifierComparison(list(named), labels, P, analyses, common, _disagreement(P), scores)


def _named(models: Any) -> dict[str, Any]:
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
        raise ValueError(f"models must be at least two, got {len(named)}: use ClassifierCA for one.")
    return named


def _in_order(name: str, P: np.ndarray, asked: Beliefs, labels: np.ndarray) -> np.ndarray:
    """Beliefs with their columns in the order of the labels."""
    own = {label: i for i, label in enumerate(asked.classes(P.shape[1]).tolist())}
    if set(own) != set(labels.tolist()):
        raise ValueError(f"The classes of {name} are not those of the first model: all must have the same.")
    return P[:, [own[label] for label in labels.tolist()]]


def _disagreement(P: np.ndarray) -> np.ndarray:
    """Mean total variation between two models, for each input."""
    pairs = list(combinations(range(len(P)), 2))
    return sum(np.abs(P[i] - P[j]).sum(axis=1) for i, j in pairs) / 2 / len(pairs)


def _scores(analyses: dict[str, ClassifierCA], P: np.ndarray, codes: np.ndarray) -> dict[str, dict[str, float]]:
    return {
        name: {
            "accuracy": float((P[i].argmax(axis=1) == codes).mean()),
            "log_loss": log_loss(P[i], codes),
            "captured": analysis.evaluate(P[i], analysis.classes_[codes]).captured,
        }
        for i, (name, analysis) in enumerate(analyses.items())
    }
