"""Principal functions of one variable: callables that can be evaluated anywhere, cut, saved and loaded."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from correspondence import io
from correspondence.labels import as_labels

__all__ = ["FUNCTIONS", "LabelFunctions", "LinearFunctions", "PrincipalFunctions"]


class PrincipalFunctions(ABC):
    """The functions f_1, ..., f_d of one variable: ``functions(values)`` has shape (n, d)."""

    kind: ClassVar[str]

    @abstractmethod
    def __call__(self, values: Any) -> np.ndarray:
        """Evaluate all functions at each of the values."""

    @abstractmethod
    def truncate(self, k: int) -> PrincipalFunctions:
        """Return the first k functions."""

    @abstractmethod
    def expand(self, h: Any, sample: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values of h, these functions and the weights (sum 1) on a sample, by default the one of the fit."""

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return a JSON description and the arrays from which `from_state` makes the same object."""

    @classmethod
    @abstractmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> PrincipalFunctions:
        """Inverse of `state`."""


@dataclass(frozen=True, eq=False)
class LabelFunctions(PrincipalFunctions):
    """Functions of a discrete variable: one row of values for each label.

    Parameters
    ----------
    labels : ndarray of shape (m,)
        All different.
    values : ndarray of shape (m, d)
        NaN for a label that never occurred.
    mass : ndarray of shape (m,)
        Probabilities of the labels; they sum to 1 (to less for a subset).
    codes : ndarray of shape (n,), optional
        Which label each observation of the fit has, if it was fitted to observations and not to a table.
    unknown : {"error", "nan"}
        What a label outside of `labels` gets.
    """

    labels: np.ndarray
    values: np.ndarray
    mass: np.ndarray
    codes: np.ndarray | None = None
    unknown: str = "error"
    kind: ClassVar[str] = "labels"

    def __call__(self, values: Any) -> np.ndarray:  # noqa: D102
        wanted = as_labels(values, "the column of labels").tolist()
        try:
            found = np.fromiter((self._positions.get(label, -1) for label in wanted), np.intp, len(wanted))
        except TypeError as error:
            raise TypeError(f"A label cannot be hashed: {error}.") from None
        if self.unknown == "error" and (found < 0).any():
            unknown = wanted[int(np.argmax(found < 0))]
            raise ValueError(
                f"The label {unknown!r} was not in the data of the fit. Labels are looked up by type and value; "
                'use handle_unknown="nan" to get NaN instead.'
            )
        return np.where((found < 0)[:, None], np.nan, self.values[found])

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return {label: i for i, label in enumerate(self.labels.tolist())}

    def truncate(self, k: int) -> LabelFunctions:  # noqa: D102
        return replace(self, values=self.values[:, :k])

    def expand(self, h: Any, sample: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # noqa: D102
        if sample is not None:
            return _on_sample(h, self(sample), sample)
        used = self.mass > 0
        weights = self.mass[used] / self.mass[used].sum()
        if callable(h):
            h = h(self.labels)
        elif isinstance(h, Mapping):
            h = [h[label] for label in self.labels.tolist()]
        elif self.codes is not None and len(h) == len(self.codes):
            h = _means(_checked_values(h, len(self.codes)), self.codes, len(self.labels))
        return _checked_values(h, len(self.labels))[used], self.values[used], weights

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:  # noqa: D102
        arrays = {"values": self.values, "mass": self.mass}
        if self.labels.dtype == object:
            arrays["names"] = io.encode([_label_to_json(label) for label in self.labels.tolist()])
        else:
            arrays["numbers"] = self.labels
        if self.codes is not None:
            arrays["codes"] = self.codes
        return {"kind": self.kind, "unknown": self.unknown}, arrays

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> LabelFunctions:  # noqa: D102
        if "numbers" in arrays:
            labels = arrays["numbers"]
        else:
            names = [_label_from_json(label) for label in io.decode(arrays["names"])]
            labels = np.fromiter(names, dtype=object, count=len(names))
        return cls(labels, arrays["values"], arrays["mass"], arrays.get("codes"), description["unknown"])


@dataclass(frozen=True, eq=False)
class LinearFunctions(PrincipalFunctions):
    """Linear combinations of features: (features(x) - mean) @ weights.

    Parameters
    ----------
    mean : ndarray of shape (p,)
        Of the features, on the data of the fit.
    weights : ndarray of shape (p, d)
        The paper's whitening matrix A (or B), transposed.
    features : callable, optional
        From values of the variable to an array of shape (n, p); the values themselves by default.
    sample : array-like, optional
        The data of the fit, kept for conditional expectations.
    """

    mean: np.ndarray
    weights: np.ndarray
    features: Callable[[Any], np.ndarray] | None = None
    sample: Any = None
    kind: ClassVar[str] = "linear"

    def __call__(self, values: Any) -> np.ndarray:  # noqa: D102
        features = np.asarray(values if self.features is None else self.features(values), dtype=np.float64)
        if features.ndim != 2 or features.shape[1] != len(self.mean):
            raise ValueError(f"{len(self.mean)} features are needed for each value, got shape {features.shape}.")
        return (features - self.mean) @ self.weights

    def truncate(self, k: int) -> LinearFunctions:  # noqa: D102
        return replace(self, weights=self.weights[:, :k])

    def expand(self, h: Any, sample: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # noqa: D102
        sample = self.sample if sample is None else sample
        if sample is None:
            raise ValueError("Y is needed: this decomposition does not keep the data of its fit.")
        return _on_sample(h, self(sample), sample)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:  # noqa: D102
        if self.features is not None:
            raise TypeError(f"Features made by {self.features!r} cannot be saved.")
        arrays = {"mean": self.mean, "weights": self.weights}
        if self.sample is not None:
            arrays["sample"] = np.asarray(self.sample)
        return {"kind": self.kind}, arrays

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> LinearFunctions:  # noqa: D102
        return cls(arrays["mean"], arrays["weights"], None, arrays.get("sample"))


FUNCTIONS: dict[str, type[PrincipalFunctions]] = {cls.kind: cls for cls in (LabelFunctions, LinearFunctions)}


def _on_sample(h: Any, functions: np.ndarray, sample: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = len(functions)
    if isinstance(h, Mapping):
        values = [h[label] for label in as_labels(sample, "Y").tolist()]
    else:
        values = h(sample) if callable(h) else h
    return _checked_values(values, n), functions, np.full(n, 1 / n)


def _checked_values(values: Any, n: int) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim not in (1, 2) or len(array) != n:
        raise ValueError(f"h must give one value for each of the {n} values of Y, got shape {array.shape}.")
    return array


def _means(values: np.ndarray, codes: np.ndarray, m: int) -> np.ndarray:
    """Mean of the values by label; 0 for labels without any."""
    sums = np.zeros((m, *values.shape[1:]))
    np.add.at(sums, codes, values)
    return sums / np.maximum(np.bincount(codes, minlength=m), 1).reshape(-1, *[1] * (values.ndim - 1))


_TAGGED: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "datetime": (datetime.datetime, datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    "date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "seconds": (datetime.timedelta, datetime.timedelta.total_seconds, lambda s: datetime.timedelta(seconds=s)),
    "tuple": (tuple, lambda t: [_label_to_json(v) for v in t], lambda t: tuple(_label_from_json(v) for v in t)),
}


def _label_to_json(label: Any) -> Any:
    if isinstance(label, str | bool | int | float):
        return label
    if isinstance(label, np.generic):
        return label.item()
    for tag, (cls, encode, _) in _TAGGED.items():
        if isinstance(label, cls):
            return {tag: encode(label)}
    raise TypeError(f"The label {label!r} of type {type(label).__name__} cannot be saved: use strings or numbers.")


def _label_from_json(label: Any) -> Any:
    if isinstance(label, dict):
        ((tag, value),) = label.items()
        return _TAGGED[tag][2](value)
    return label
