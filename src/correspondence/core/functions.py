"""Principal functions of one variable: callables that can be evaluated anywhere, cut, saved and loaded."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from correspondence._util import files
from correspondence._util.arguments import count_observations, read_only, to_floats
from correspondence._util.files import State
from correspondence._util.labels import (
    MISSING,
    as_labels,
    label_from_json,
    label_to_json,
    name_missing_labels,
    to_object_array,
)
from correspondence._util.text import short_repr
from correspondence.data.encoders.columns import Columns
from correspondence.data.encoders.single_column import Category

__all__ = [
    "FUNCTION_CLASSES",
    "FeatureMap",
    "LabelFunctions",
    "LinearFunctions",
    "PrincipalFunctions",
    "find_function_class",
    "find_label_shares",
]

MAX_FUNCTION_VALUE = 1e35  # its eighth power does not overflow; on the pairs of the fit the variance is 1

FEATURE_MAPS = {  # as names, so that loading a model imports torch only if it has nets
    "additive": "correspondence.core.feature_maps:Additive",
    "beliefs": "correspondence.classifiers.beliefs:Beliefs",
    "encoded": "correspondence.core.feature_maps:Encoded",
    "expectations": "correspondence.estimators.conditional_expectations:CrossFittedExpectation",
    "kernel": "correspondence.estimators.kernel:KernelFeatures",
    "many": "correspondence.core.column_features:ManyColumns",
    "nets": "correspondence.estimators.pice.feature_net:NetSide",
}


class FeatureMap(ABC):
    """Features of one variable that can be saved: ``features(values)`` has shape (n, p)."""

    kind: ClassVar[str]

    @abstractmethod
    def __call__(self, values: Any) -> np.ndarray:
        """Evaluate the features at each of the values."""

    def map_rows_sparsely(self, values: Any) -> Any:
        """Evaluate the features as a sparse array where they are one, otherwise as usual."""
        return self(values)

    @abstractmethod
    def state(self) -> State:
        """Return the description and the arrays from which `from_state` makes the same features."""

    @classmethod
    @abstractmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None) -> FeatureMap:
        """Put together what `state` took apart; a net of the user's own must be given."""


class PrincipalFunctions(ABC):
    """The functions f_1, ..., f_d of one variable: ``functions(values)`` has shape (n, d)."""

    kind: ClassVar[str]
    needs_given: ClassVar[bool] = False
    """Whether values must be beside given variables."""

    @abstractmethod
    def __call__(self, values: Any) -> np.ndarray:
        """Evaluate all functions at each of the values."""

    @abstractmethod
    def truncate(self, k: int) -> PrincipalFunctions:
        """Return the first k functions."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of functions."""

    @abstractmethod
    def without_sample(self) -> PrincipalFunctions:
        """Return the same functions without the data of the fit, to be sent to other processes."""

    @abstractmethod
    def accept_unknown(self) -> PrincipalFunctions:
        """Return the same functions, but with NaN or the mean, instead of an error, for labels not in the fit.

        Cross-validation needs them, because a rare label may be in the held-out part only.
        """

    @abstractmethod
    def evaluate_on_sample(self, h: Any, sample: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Evaluate h and these functions on a sample, by default that of the fit; the weights sum to 1."""

    @abstractmethod
    def state(self) -> State:
        """Return the description and the arrays from which `from_state` makes the same functions."""

    @classmethod
    @abstractmethod
    def from_state(
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> PrincipalFunctions:
        """Put together what `state` took apart; a net of the user's own must be given."""


@dataclass(frozen=True, eq=False)
class LabelFunctions(PrincipalFunctions):
    """Functions of a discrete variable: one row of values for each label.

    Parameters
    ----------
    labels : ndarray of shape (m,)
        The labels must all be different.
    values : ndarray of shape (m, d)
        The values of a label that never occurred are NaN.
    mass : ndarray of shape (m,)
        The probabilities of the labels sum to 1 (to less for a subset).
    codes : ndarray of shape (n,), optional
        These are the positions of the labels of the observations, unless the fit was to a table.
    code_weights : ndarray of shape (n,), optional
        The observations have these weights.
    unknown : {"error", "nan", "missing"}
        A label that is not in `labels` raises an error, gets NaN, or is treated like a missing one: it gets the values
        of the label "(missing)" if that is in `labels`, otherwise their mean.
    merged : tuple, optional
        The level that stands for rare labels, then these, which have its values.
    """

    labels: np.ndarray
    values: np.ndarray
    mass: np.ndarray
    codes: np.ndarray | None = None
    code_weights: np.ndarray | None = None
    unknown: str = "error"
    merged: tuple[Any, ...] = ()
    kind: ClassVar[str] = "labels"

    def __post_init__(self) -> None:
        read_only(self, "values", "mass")

    def __call__(self, values: Any) -> np.ndarray:  # noqa: D102
        if MISSING in self._positions or self.unknown != "error":
            values = name_missing_labels(values, "the column of labels")
        wanted = as_labels(values, "the column of labels").tolist()
        try:
            found = np.fromiter((self._positions.get(label, -1) for label in wanted), np.intp, len(wanted))
        except TypeError as error:
            raise TypeError(f"A label cannot be hashed: {error}.") from None
        if self.unknown == "error" and (found < 0).any():
            unknown = wanted[int(np.argmax(found < 0))]
            raise ValueError(
                f"The label {short_repr(unknown)} is not among those of the fit: give one that is, or use "
                'handle_unknown="missing" (as if missing) or "nan" (NaN).'
            )
        return np.where((found < 0)[:, None], self._find_unknown_values(), self.values[found])

    def _find_unknown_values(self) -> np.ndarray:
        """Return the values of a label that is not in the fit."""
        if self.unknown != "missing":
            return np.full(self.width, np.nan)
        if MISSING in self._positions:
            return self.values[self._positions[MISSING]]
        used = self.mass > 0
        return self.mass[used] @ self.values[used] / self.mass.sum()

    @cached_property
    def _positions(self) -> dict[Any, int]:
        positions = {label: i for i, label in enumerate(self.labels.tolist())}
        merged = dict.fromkeys(self.merged[1:], positions[self.merged[0]]) if self.merged else {}
        return merged | positions

    @property
    def width(self) -> int:  # noqa: D102
        return self.values.shape[1]

    def without_sample(self) -> LabelFunctions:  # noqa: D102
        return replace(self, codes=None, code_weights=None)

    def accept_unknown(self) -> LabelFunctions:  # noqa: D102
        return replace(self, unknown="nan") if self.unknown == "error" else self

    def truncate(self, k: int) -> LabelFunctions:  # noqa: D102
        return replace(self, values=self.values[:, :k])

    def evaluate_on_sample(self, h: Any, sample: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # noqa: D102
        if sample is not None:
            return _evaluate_h_on_sample(h, self(sample), sample)
        if self.mass.sum() < 1 - 1e-9:
            raise ValueError("An expectation over Y needs all labels, but these are a subset. Fit the whole table.")
        if self.codes is not None and not callable(h) and not isinstance(h, Mapping):
            h = to_floats(h, "h")
            if h.shape[:1] == self.codes.shape:
                h = self._average_by_label(check_h_values(h, len(self.codes)))
        used = self.mass > 0
        return evaluate_h(h, self.labels)[used], self.values[used], self.mass[used] / self.mass[used].sum()

    def _average_by_label(self, values: np.ndarray) -> np.ndarray:
        """Average values of the observations of the fit by label; 0 for labels without any."""
        assert self.codes is not None
        weights = np.ones(len(self.codes)) if self.code_weights is None else self.code_weights
        sums = np.zeros((len(self.labels), *values.shape[1:]))
        np.add.at(sums, self.codes, (values.T * weights).T)
        total = np.bincount(self.codes, weights, len(self.labels))
        return (sums.T / np.where(total > 0, total, 1)).T

    def state(self) -> State:  # noqa: D102
        is_text = self.labels.dtype == object
        labels = {"names": _encode_labels(self.labels)} if is_text else {"numbers": self.labels}
        kept = {"codes": self.codes, "code_weights": self.code_weights}
        arrays = {"values": self.values, "mass": self.mass, **labels}
        arrays |= {name: values for name, values in kept.items() if values is not None}
        if self.merged:
            arrays["merged"] = _encode_labels(to_object_array(self.merged))
        return State({"kind": self.kind, "unknown": self.unknown}, arrays)

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> LabelFunctions:
        labels = arrays["numbers"] if "numbers" in arrays else _decode_labels(arrays["names"])
        values, mass = arrays["values"], arrays["mass"]
        fits = labels.shape == mass.shape == values.shape[:1] and values.ndim == 2
        if not fits or not np.isfinite(mass).all() or not np.isfinite(values[mass > 0]).all():
            raise TypeError("values and mass must have one row for each label.")
        merged = tuple(_decode_labels(arrays["merged"]).tolist()) if "merged" in arrays else ()
        return cls(
            labels, values, mass, arrays.get("codes"), arrays.get("code_weights"), description["unknown"], merged
        )


@dataclass(frozen=True, eq=False)
class LinearFunctions(PrincipalFunctions):
    """Linear combinations of features: (features(x) - mean) @ weights.

    Parameters
    ----------
    mean : ndarray of shape (p,)
        These are the means of the features on the pairs of the fit.
    weights : ndarray of shape (p, d)
        This is the paper's whitening matrix A (or B), transposed.
    features : callable, optional
        It turns values of the variable into an array of shape (n, p); by default the values are the features.
    sample : array-like, optional
        Keep these values of the fit for conditional expectations.
    sample_weight : ndarray of shape (n,), optional
        The sample has these weights.
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
        features = self._find_features(values)
        if features.ndim != 2 or features.shape[1] != len(self.mean):
            raise ValueError(f"The features must have {len(self.mean)} columns, got shape {features.shape}.")
        if getattr(self.features, "may_be_nan", False):  # rows with labels that were not in the fit
            known = ~np.isnan(features).any(axis=1)
            values = np.full((len(features), self.weights.shape[1]), np.nan)
            values[known] = self.of_features(features[known])
            return values
        if not np.isfinite(features.data if sp.issparse(features) else features).all():
            raise ValueError("The features must be finite, but some are NaN or infinity. Leave those values out.")
        return self.of_features(features)

    def _find_features(self, values: Any) -> Any:
        """Return the features as an array of numbers, which is sparse only if a feature map has made it so."""
        if isinstance(self.features, FeatureMap):
            features = self.features.map_rows_sparsely(values)
            if sp.issparse(features):
                return features
        else:
            features = values if self.features is None else self.features(values)
        return to_floats(features, "The features")

    def of_features(self, features: Any) -> np.ndarray:
        """Evaluate the functions, given the features as an array, dense or sparse."""
        with np.errstate(over="ignore", invalid="ignore"):
            if sp.issparse(features):
                values = features @ self.weights - self.mean @ self.weights
            else:
                values = (features - self.mean) @ self.weights
        if values.size and not max(values.max(), -values.min()) < MAX_FUNCTION_VALUE:  # NaN included
            raise ValueError(
                "X and Y must be near the values of the fit. Leave out values that are "
                f"{MAX_FUNCTION_VALUE:g} or more standard deviations away."
            )
        return values

    @property
    def width(self) -> int:  # noqa: D102
        return self.weights.shape[1]

    def without_sample(self) -> LinearFunctions:  # noqa: D102
        return replace(self, sample=None, sample_weight=None)

    def accept_unknown(self) -> LinearFunctions:  # noqa: D102
        features: Any = self.features
        if hasattr(features, "accept_unknown"):
            return replace(self, features=features.accept_unknown())
        if not hasattr(features, "encoder"):
            return self
        return replace(self, features=replace(features, encoder=features.encoder.accept_unknown()))

    def truncate(self, k: int) -> LinearFunctions:  # noqa: D102
        return replace(self, weights=self.weights[:, :k])

    def evaluate_on_sample(self, h: Any, sample: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # noqa: D102
        if sample is not None:
            return _evaluate_h_on_sample(h, self(sample), sample)
        if self.sample is None:
            raise ValueError("Y must be given: this decomposition does not keep the data of its fit.")
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
        """Return the data of the fit, if they are numbers or labels; otherwise a loaded model needs Y again."""
        if self.sample is None:
            return {}
        sample = np.asarray(self.sample)
        arrays = {} if self.sample_weight is None else {"sample_weight": self.sample_weight}
        if sample.dtype.kind in "biuf" and sample.ndim <= 2:
            return arrays | {"sample": sample.astype(np.float64) if sample.dtype == np.longdouble else sample}
        if sample.dtype.kind in "OU" and sample.ndim == 1:
            return arrays | {"labels": _encode_labels(sample)}
        return {}

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> LinearFunctions:
        features = None
        if "features" in description:
            module, name = FEATURE_MAPS[description["features"]["kind"]].split(":")
            kind = getattr(importlib.import_module(module), name)
            features = kind.from_state(description["features"], files.strip_prefix(arrays, "features."), net)
        sample = _decode_labels(arrays["labels"]) if "labels" in arrays else arrays.get("sample")
        mean, weights = arrays["mean"], arrays["weights"]
        fits = weights.ndim == 2 and mean.shape == weights.shape[:1]
        if not fits or not np.isfinite(np.column_stack([mean, weights])).all():
            raise TypeError("mean and weights must be finite, with one row for each feature.")
        return cls(mean, weights, features, sample, arrays.get("sample_weight"))


def _encode_labels(labels: np.ndarray) -> np.ndarray:
    return files.encode_json([label_to_json(label) for label in labels.tolist()])


def _decode_labels(array: np.ndarray) -> np.ndarray:
    return to_object_array([label_from_json(label) for label in files.decode_json(array)])


FUNCTION_CLASSES: dict[str, type[PrincipalFunctions]] = {cls.kind: cls for cls in (LabelFunctions, LinearFunctions)}
OTHER_FUNCTION_CLASSES = {  # as names
    "given": "correspondence.core.given.functions_given:FunctionsGiven",
    "partial": "correspondence.estimators.ca.constrained.functions:PartialFunctions",
}


def find_function_class(kind: str) -> type[PrincipalFunctions]:
    """Find the class of saved functions of a kind."""
    if kind in FUNCTION_CLASSES:
        return FUNCTION_CLASSES[kind]
    module, name = OTHER_FUNCTION_CLASSES[kind].split(":")
    found: type[PrincipalFunctions] = getattr(importlib.import_module(module), name)
    return found


def _evaluate_h_on_sample(
    h: Any, functions: np.ndarray, sample: Any, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = len(functions)
    if not n:
        raise ValueError("Y must have at least one value for an expectation, got none.")
    if not np.isfinite(functions).all():
        raise ValueError("Y must have values that occur in the fit only. Leave the others out.")
    return evaluate_h(h, sample), functions, np.full(n, 1 / n) if weights is None else weights / weights.sum()


def evaluate_h(h: Any, values: Any) -> np.ndarray:
    """Evaluate h, given as a function, as a dictionary or by its values."""
    n = count_observations(values, "Y")
    if isinstance(h, Mapping):
        labels = as_labels(values, "Y").tolist()
        missing = [label for label in labels if label not in h]
        if missing:
            raise ValueError(f"h must have a value for each label, but {short_repr(missing[0])} has none.")
        return check_h_values([h[label] for label in labels], n)
    return check_h_values(h(values) if callable(h) else h, n)


def check_h_values(values: Any, n: int) -> np.ndarray:
    array = to_floats(values, "h")
    if array.ndim not in (1, 2) or len(array) != n:
        raise ValueError(f"h must give one value for each of the {n} values of Y, got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError("h must be finite, but some of its values are NaN or infinite.")
    if np.abs(array).max(initial=0) > 1e200:
        raise ValueError("h must be at most 1e200 in absolute value. Divide it by a constant.")
    return array


def find_label_shares(functions: PrincipalFunctions) -> dict[Any, float] | None:
    """Find the share of each label in the fit, if the variable is one column of labels."""
    if isinstance(functions, LabelFunctions):
        return dict(zip(functions.labels.tolist(), functions.mass.tolist(), strict=True))
    encoder = getattr(getattr(functions, "features", None), "encoder", None)
    columns = list(encoder.columns.values()) if isinstance(encoder, Columns) else []
    if len(columns) != 1 or not isinstance(columns[0], Category):
        return None
    return dict(zip(columns[0].labels, columns[0].shares, strict=True))
