"""Regressors and classifiers of scikit-learn as arrays and plain values, which predict without scikit-learn.

A model is a chain of steps: numbers are shifted and scaled, multiplied by weights, or dropped through trees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy.special import expit, softmax

from correspondence._util.files import State, strip_prefix
from correspondence.estimators.saved_trees import TreesStep

__all__ = ["AffineStep", "ParallelStep", "SavedModel", "ScaleStep", "check_activation", "number_states"]


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
    >>> line = AffineStep(np.array([[2.0]]), np.array([1.0]))
    >>> SavedModel((line,)).predict(np.array([[0.0], [1.0], [2.0]])).ravel()
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
