"""A model of scikit-learn that is trained in batches while it is recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

from correspondence._util.arguments import check_seed, check_whole, count_observations, take_rows
from correspondence._util.labels import as_labels, encode_labels, to_object_array

__all__ = ["check_labels", "train_in_batches"]


def train_in_batches(recorder: Any, X: Any, y: Any, batch_size: int, epochs: int, random_state: int) -> None:
    """Train the model of a recorder in shuffled batches, each of which is a step, and record the end as well."""
    model = recorder.model
    if not hasattr(model, "partial_fit"):
        raise TypeError(f"model must have partial_fit, got {type(model).__name__}. Train it and call step().")
    n = count_observations(X, "X")
    labels = check_labels(y, n, "X")
    check_whole(batch_size, "batch_size", 1)
    rng = check_seed(random_state)
    first = {} if hasattr(model, "classes_") else {"classes": collect_training_classes(recorder, labels)}
    for _ in range(check_whole(epochs, "epochs", 1)):
        order = rng.permutation(n)
        for rows in np.split(order, range(batch_size, n, batch_size)):
            model.partial_fit(take_rows(X, rows), labels[rows], **first)
            first = {}
            recorder.step()
    recorder.record()


def collect_training_classes(recorder: Any, labels: np.ndarray) -> np.ndarray:
    """Return the classes that a model must know before its first batch: those given, if they are labels, or all."""
    seen = set(labels.tolist())
    if recorder.given_classes is not None:
        given = as_labels(recorder.given_classes, "classes").tolist()
        more = given if seen <= set(given) else []
    else:
        more = [] if recorder.labels is None else recorder.labels.tolist()
    return np.array(encode_labels(to_object_array([*labels.tolist(), *more]), "y")[1].tolist())


def check_labels(y: Any, n: int, inputs: str = "X_probe") -> np.ndarray:
    """Check that there is one label for each input."""
    labels = as_labels(y, "y")
    if len(labels) != n:
        raise ValueError(f"y must have one label for each of the {n} inputs of {inputs}, got {len(labels)}.")
    return labels
