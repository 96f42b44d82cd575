"""Principal functions of one variable: callables that can be evaluated anywhere, cut, saved and loaded."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from correspondence._util import files
from correspondence._util.arguments import (
    count_observations,
    read_only,
    to_floats,
)
from correspondence._util.files import State
from correspondence._util.labels import as_labels, label_from_json, label_to_json, to_object_array
from correspondence._util.text import short_repr
from correspondence.data.encoders.columns import Category, Columns

__all__ = ["FUNCTION_CLASSES", "FeatureMap", "LabelFunctions", "LinearFunctions", "PrincipalFunctions", "label_shares"]

MAX_FUNCTION_VALUE = (
    1e35  # value of a function, whose eighth power does not overflow; on the data of the fit the variance is 1
)

FEATURE_MAPS = {  # by name, so that loading imports torch only if it must
    "additive": "correspondence.core.feature_maps:Additive",
    "beliefs": "correspondence.classifiers.beliefs:Beliefs",
    "encoded": "correspondence.core.feature_maps:Encoded",
    "kernel": "correspondence.estimators.kernel:KernelFeatures",
    "nets": "correspondence.estimators.pice.feature_net:NetSide",
}


class FeatureMap(ABC):
    """Features of one variable that can be saved: ``features(values)`` has shape (n, p)."""

    kind: ClassVar[str]

    @abstractmethod
    def __call__(self, values: Any) -> np.ndarray:
        """Evaluate the features at each of the values."""

    @abstractmethod
    def state(self) -> State:
        """Return a JSON description and the arrays from which `from_state` makes the same features."""

    @classmethod
    @abstractmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None) -> FeatureMap:
        """Inverse of `state`; a net that is the user's own has to be given."""


class PrincipalFunctions(ABC):
    """The functions f_1, ..., f_d of one variable: ``functions(values)`` has shape (n, d)."""

    kind: ClassVar[str]

    @abstractmethod
    def __call__(self, values: Any) -> np.ndarray:
        """Evaluate all functions at each of the values."""

    @abstractmethod
    def truncate(self, k: int) -> PrincipalFunctions:
        """Return the first k functions."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many functions there are."""

    @abstractmethod
    def without_sample(self) -> PrincipalFunctions:
        """Return the same functions without the data of the fit, to be sent somewhere else."""

    @abstractmethod
    def accept_unknown(self) -> PrincipalFunctions:
        """Return the same functions, for which a label outside of the fit is no error: it has no value, or the mean.

        Cross-validation needs it, because a rare label may be in the held-out part only.
        """

    @abstractmethod
    def evaluate_on_sample(self, h: Any, sample: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values of h, these functions and the weights (sum 1) on a sample, by default the one of the fit."""

    @abstractmethod
    def state(self) -> State:
        """Return a JSON description and the arrays from which `from_state` makes the same object."""

    @classmethod
    @abstractmethod
    def from_state(
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> PrincipalFunctions:
        """Inverse of `state`; a net that is the user's own has to be given."""


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
    code_weights : ndarray of shape (n,), optional
        Weights of these observations.
    unknown : {"error", "nan"}
        What a label outside of `labels` gets.
    """

    labels: np.ndarray
    values: np.ndarray
    mass: np.ndarray
    codes: np.ndarray | None = None
    code_weights: np.ndarray | None = None
    unknown: str = "error"
    kind: ClassVar[str] = "labels"

    def __post_init__(self) -> None:
        read_only(self, "values", "mass")

    def __call__(self, values: Any) -> np.ndarray:  # noqa: D102
        wanted = as_labels(values, "the column of labels").tolist()
        try:
            found = np.fromiter((self._positions.get(label, -1) for label in wanted), np.intp, len(wanted))
        except TypeError as error:
            raise TypeError(f"A label cannot be hashed: {error}.") from None
        if self.unknown == "error" and (found < 0).any():
            unknown = wanted[int(np.argmax(found < 0))]
            raise ValueError(
                f"The label {short_repr(unknown)} is not among those of the fit: give one that is, "
                'or use handle_unknown="nan" to get NaN instead.'
            )
        return np.where((found < 0)[:, None], np.nan, self.values[found])

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return {label: i for i, label in enumerate(self.labels.tolist())}

    @property
    def width(self) -> int:  # noqa: D102
        return self.values.shape[1]

    def without_sample(self) -> LabelFunctions:  # noqa: D102
        return replace(self, codes=None, code_weights=None)

    def accept_unknown(self) -> LabelFunctions:  # noqa: D102
        return replace(self, unknown="nan")

    def truncate(self, k: int) -> LabelFunctions:  # noqa: D102
        return replace(self, values=self.values[:, :k])

    def evaluate_on_sample(self, h: Any, sample: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # noqa: D102
        if sample is not None:
            return _evaluate_h_on_sample(h, self(sample), sample)
        if self.mass.sum() < 1 - 1e-9:
            raise ValueError(
                "The labels are a subset: an expectation over Y needs all of them, so fit the whole table."
            )
        if self.codes is not None and not callable(h) and not isinstance(h, Mapping):
            h = to_floats(h, "h")
            if h.shape[:1] == self.codes.shape:
                h = self._average_by_label(check_h_values(h, len(self.codes)))
        used = self.mass > 0
        return evaluate_h(h, self.labels)[used], self.values[used], self.mass[used] / self.mass[used].sum()

    def _average_by_label(self, values: np.ndarray) -> np.ndarray:
        """Mean by label of values given for each observation of the fit; 0 for labels without any."""
        assert self.codes is not None
        weights = np.ones(len(self.codes)) if self.code_weights is None else self.code_weights
        sums = np.zeros((len(self.labels), *values.shape[1:]))
        np.add.at(sums, self.codes, (values.T * weights).T)
        total = np.bincount(self.codes, weights, len(self.labels))
        return (sums.T / np.where(total > 0, total, 1)).T

    def state(self) -> State:  # noqa: D102
        arrays = {"values": self.values, "mass": self.mass}
        if self.labels.dtype == object:
            arrays["names"] = files.encode_json([label_to_json(label) for label in self.labels.tolist()])
        else:
            arrays["numbers"] = self.labels
        for name in ("codes", "code_weights"):
            if getattr(self, name) is not None:
                arrays[name] = getattr(self, name)
        return State({"kind": self.kind, "unknown": self.unknown}, arrays)

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> LabelFunctions:
        if "numbers" in arrays:
            labels = arrays["numbers"]
        else:
            names = [label_from_json(label) for label in files.decode_json(arrays["names"])]
            labels = to_object_array(names)
        observations = arrays.get("codes"), arrays.get("code_weights")
        values, mass = arrays["values"], arrays["mass"]
        fits = labels.shape == mass.shape == values.shape[:1] and values.ndim == 2
        if not fits or not np.isfinite(mass).all() or not np.isfinite(values[mass > 0]).all():
            raise TypeError("There must be a row of values, and a mass, for each label.")
        return cls(labels, values, mass, *observations, description["unknown"])


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
    sample_weight : ndarray of shape (n,), optional
        Weights of these.
    """

    mean: np.ndarray
    weights: np.ndarray
    features: Callable[[Any], np.ndarray] | None = None
    sample: Any = None
    sample_weight: np.ndarray | None = None
    kind: ClassVar[str] = "linear"

    def __post_init__(self) -> None:
        read_only(self, "mean", "weights")

    def __call__(self, values: Any) -> np.ndarray:  # noqa: D102
        features = to_floats(values if self.features is None else self.features(values), "The features")
        if features.ndim != 2 or features.shape[1] != len(self.mean):
            raise ValueError(f"{len(self.mean)} features are needed for each value, got shape {features.shape}.")
        if not np.isfinite(features).all():
            raise ValueError("The features contain NaN or infinity: leave those values out.")
        return self.of_features(features)

    def of_features(self, features: np.ndarray) -> np.ndarray:
        """Values of the functions, given the features."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = (features - self.mean) @ self.weights
        if values.size and not max(values.max(), -values.min()) < MAX_FUNCTION_VALUE:  # NaN included
            raise ValueError(
                "X or Y has values too far from those of the fit to compute with: leave out those that are "
                f"{MAX_FUNCTION_VALUE:g} and more standard deviations away."
            )
        return values

    @property
    def width(self) -> int:  # noqa: D102
        return self.weights.shape[1]

    def without_sample(self) -> LinearFunctions:  # noqa: D102
        return replace(self, sample=None, sample_weight=None)

    def accept_unknown(self) -> LinearFunctions:  # noqa: D102
        if not hasattr(self.features, "encoder"):
            return self
        features: Any = self.features
        return replace(self, features=replace(features, encoder=features.encoder.accept_unknown()))

    def truncate(self, k: int) -> LinearFunctions:  # noqa: D102
        return replace(self, weights=self.weights[:, :k])

    def evaluate_on_sample(self, h: Any, sample: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # noqa: D102
        if sample is not None:
            return _evaluate_h_on_sample(h, self(sample), sample)
        if self.sample is None:
            raise ValueError("Y is needed: this decomposition does not keep the data of its fit.")
        return _evaluate_h_on_sample(h, self(self.sample), self.sample, self.sample_weight)

    def state(self) -> State:  # noqa: D102
        arrays = {"mean": self.mean, "weights": self.weights} | self._pack_sample()
        if self.features is None:
            return State({"kind": self.kind}, arrays)
        if not isinstance(self.features, FeatureMap):
            raise TypeError(f"Features made by {short_repr(self.features)} cannot be saved.")
        features = self.features.state()
        description = {"kind": self.kind, "features": features.description | {"kind": self.features.kind}}
        return State(description, arrays | features.prefix_arrays("features."))

    def _pack_sample(self) -> dict[str, np.ndarray]:
        """The data of the fit, if they are numbers or labels; a loaded model needs Y again for anything else."""
        sample = None if self.sample is None else np.asarray(self.sample)
        arrays = {} if self.sample_weight is None else {"sample_weight": self.sample_weight}
        if sample is not None and sample.dtype.kind in "biuf" and sample.ndim <= 2:
            return arrays | {"sample": sample.astype(np.float64) if sample.dtype == np.longdouble else sample}
        if sample is not None and sample.dtype.kind in "OU" and sample.ndim == 1:
            return arrays | {"labels": files.encode_json([label_to_json(label) for label in sample.tolist()])}
        return {}

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> LinearFunctions:
        features = None
        if "features" in description:
            kind = _feature_map(description["features"]["kind"])
            features = kind.from_state(description["features"], files.strip_prefix(arrays, "features."), net)
        sample = arrays.get("sample")
        if "labels" in arrays:
            sample = to_object_array([label_from_json(label) for label in files.decode_json(arrays["labels"])])
        mean, weights = arrays["mean"], arrays["weights"]
        if (
            mean.shape != weights.shape[:1]
            or weights.ndim != 2
            or not np.isfinite(np.column_stack([mean, weights])).all()
        ):
            raise TypeError("There must be a mean, and a weight for each function, of each feature.")
        return cls(mean, weights, features, sample, arrays.get("sample_weight"))


def _feature_map(kind: str) -> type[FeatureMap]:
    module, name = FEATURE_MAPS[kind].split(":")
    return getattr(importlib.import_module(module), name)


FUNCTION_CLASSES: dict[str, type[PrincipalFunctions]] = {cls.kind: cls for cls in (LabelFunctions, LinearFunctions)}


def _evaluate_h_on_sample(
    h: Any, functions: np.ndarray, sample: Any, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = len(functions)
    if not n:
        raise ValueError("Y is empty: an expectation needs at least one value.")
    if not np.isfinite(functions).all():
        raise ValueError("Y has a value that does not occur in the fit: leave it out.")
    return evaluate_h(h, sample), functions, np.full(n, 1 / n) if weights is None else weights / weights.sum()


def evaluate_h(h: Any, values: Any) -> np.ndarray:
    """Values of h, given as a function, a dictionary or themselves."""
    n = count_observations(values, "Y")
    if isinstance(h, Mapping):
        labels = as_labels(values, "Y").tolist()
        missing = [label for label in labels if label not in h]
        if missing:
            raise ValueError(f"h has no value for the label {short_repr(missing[0])}.")
        return check_h_values([h[label] for label in labels], n)
    return check_h_values(h(values) if callable(h) else h, n)


def check_h_values(values: Any, n: int) -> np.ndarray:
    array = to_floats(values, "h")
    if array.ndim not in (1, 2) or len(array) != n:
        raise ValueError(f"h must give one value for each of the {n} values of Y, got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError("h must be finite, but it has NaN or infinity among its values.")
    if np.abs(array).max(initial=0) > 1e200:
        raise ValueError("h has values above 1e200, too large to compute with: divide it by a constant.")
    return array


def label_shares(functions: PrincipalFunctions) -> dict[Any, float] | None:
    """Share of each label in the fit, if the variable is one column of labels."""
    if isinstance(functions, LabelFunctions):
        return dict(zip(functions.labels.tolist(), functions.mass.tolist(), strict=True))
    encoder = getattr(getattr(functions, "features", None), "encoder", None)
    columns = list(encoder.columns.values()) if isinstance(encoder, Columns) else []
    if len(columns) != 1 or not isinstance(columns[0], Category):
        return None
    return dict(zip(columns[0].labels, columns[0].shares, strict=True))
