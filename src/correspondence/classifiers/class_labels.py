"""Labels as positions among the classes of a classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from correspondence._util.arguments import to_floats
from correspondence._util.labels import as_labels
from correspondence._util.text import list_names, short_repr

__all__ = [
    "check_group",
    "find_class",
    "find_class_pair",
    "find_classes",
    "find_group_classes",
    "is_column",
    "look_up_values",
    "parse_shares",
]


def check_group(group: Any, name: str) -> np.ndarray:
    """Return the names of the classes of a group: at least two, all different."""
    labels = as_labels(list(group) if isinstance(group, set | frozenset | tuple) else group, name)
    if len(labels) < 2 or len(set(labels.tolist())) < len(labels):
        raise ValueError(f"{name} must be at least two different classes, got {list_names(labels, show=short_repr)}.")
    return labels


def find_class(classes: np.ndarray | Mapping[Any, int], label: Any, name: str) -> int:
    """Return the position of a label among the classes, or in a mapping from each of them to its position."""
    position = classes if isinstance(classes, Mapping) else _number_classes(classes)
    try:
        return position[label.item() if hasattr(label, "detach") else label]
    except (KeyError, TypeError, ValueError, RuntimeError):  # a tensor of several labels, or what cannot be hashed
        shown = list_names(position, show=short_repr)
        raise ValueError(f"{name}: {short_repr(label)} is not a class. Choose among {shown}.") from None


def find_classes(Y: Any, classes: np.ndarray, n: int | None = None, name: str = "Y") -> np.ndarray:
    """Return the position of each label among the classes; there must be n labels."""
    labels = as_labels(Y, name).tolist()
    if n is not None and len(labels) != n:
        raise ValueError(f"X and {name} must have the same length, got {n} and {len(labels)}.")
    position = _number_classes(classes)
    return np.array([find_class(position, label, name) for label in labels], dtype=np.intp)


def find_group_classes(Y: Any, names: np.ndarray, classes: np.ndarray, n: int) -> np.ndarray:
    """Return the position of each label among the classes of a group; -1 for the other classes of the model."""
    position = np.full(len(names), -1)
    position[find_classes(classes, names)] = np.arange(len(classes))
    return position[find_classes(Y, names, n)]


def find_class_pair(pair: Any, classes: np.ndarray, prior: np.ndarray, name: str | None = None) -> tuple[int, int]:
    """Return the positions of two different classes, both of which must be predicted."""
    if not (isinstance(pair, tuple) or is_column(pair)) or len(pair) != 2:
        raise ValueError(f"{name} must be a pair of classes, got {short_repr(pair)}.")
    a, b = pair
    i, j = find_class(classes, a, name or "a"), find_class(classes, b, name or "b")
    if i == j:
        raise ValueError(f"a and b must be two different classes, got {short_repr(a)} twice.")
    for index, label in ((i, a), (j, b)):
        if prior[index] == 0:
            raise ValueError(f"The class {short_repr(label)} is never predicted, so it has no boundary.")
    return i, j


def look_up_values(classes: np.ndarray, values: np.ndarray, Y: Any) -> np.ndarray:
    """Return the row of values of each label."""
    return values[find_classes(Y, classes)]


def parse_shares(others: Any, classes: np.ndarray) -> np.ndarray:
    """Return a share for each class, from a class, a mapping from class to share, or the shares themselves."""
    k = len(classes)
    shares = np.zeros(k)
    if isinstance(others, Mapping):
        values = to_floats(list(others.values()), "others")
        if values.ndim != 1:
            raise ValueError("others must be a class, or a share of at least 0 for each class.")
        for label, share in zip(others, values, strict=True):
            shares[find_class(classes, label, "others")] = share
    elif is_column(others):
        shares = to_floats(others, "others")
    else:
        shares[find_class(classes, others, "others")] = 1
    if shares.shape != (k,) or not np.isfinite(shares).all() or (shares < 0).any():
        raise ValueError(f"others must be a class, or a share of at least 0 for each of the {k} classes.")
    return shares


def is_column(values: Any) -> bool:
    """Return whether it is a list, an array, a tensor or a series of any library; a class may be a tuple."""
    if isinstance(values, list) or (getattr(values, "ndim", 0) == 1 and not sp.issparse(values)):
        return True
    return isinstance(nw.from_native(values, series_only=True, pass_through=True), nw.Series)


def _number_classes(classes: np.ndarray) -> dict[Any, int]:
    return {label: i for i, label in enumerate(classes.tolist())}
