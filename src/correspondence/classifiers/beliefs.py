"""Beliefs P(y | x) of a black-box classifier: how any model is asked for them, and how its answer is checked."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError

from correspondence._util.arguments import check_whole, count_observations, is_number, to_array
from correspondence._util.files import NetError, State
from correspondence._util.labels import as_labels, label_from_json, label_to_json, to_object_array
from correspondence._util.text import short_repr
from correspondence.core.functions import FeatureMap

__all__ = ["OUTPUT_KINDS", "Beliefs", "apply_temperature", "check_beliefs", "is_stream"]

OUTPUT_KINDS = ("auto", "probabilities", "logits")
SUM_ERROR = 1e-3  # by which a row of beliefs may be off 1
SINGLE_SUM_ERROR = 1e-6  # the same, so small that single precision has no better
MIN_CLASSES_FOR_SINGLE_PRECISION = (
    100  # classes from which beliefs in single precision are left so: their products take half the time
)
HALF_SUM_ERROR = 1e-2  # the same in half precision, which has three digits
MIN_ROWS_FOR_MODULE = 64  # rows of numbers that a module is asked at least
MAX_BELIEFS_COPIED = 1 << 24  # beliefs that are copied from an array at a time


class Beliefs(FeatureMap):
    """Beliefs of a model as features of x: ``beliefs(X)`` has a row for each x and a column for each class.

    Parameters
    ----------
    model : classifier, torch module, callable, ONNX session or None
        Whom to ask; None if the X are beliefs already.
    outputs : {"auto", "probabilities", "logits"}
        What the model returns. "auto" tells logits from probabilities for torch modules and takes everything else for
        probabilities.
    temperature : float
        By which the logarithms of the beliefs are divided.
    batch_size : int
        How many x the model is asked at a time.
    classes : array-like, optional
        Names of the columns, instead of the model's own or 0, 1, ...; if they are the model's own in another order,
        that of the model counts.
    """

    kind = "beliefs"

    def __init__(
        self,
        model: Any = None,
        outputs: str = "auto",
        temperature: float = 1.0,
        batch_size: int = 1024,
        classes: Any = None,
    ) -> None:
        if not isinstance(outputs, str) or outputs not in OUTPUT_KINDS:
            raise ValueError(f"outputs must be one of {', '.join(OUTPUT_KINDS)}, got {short_repr(outputs)}.")
        if not is_number(temperature) or not 1e-3 <= temperature <= 1e3:
            raise ValueError(f"temperature must be a number from 0.001 to 1000, got {short_repr(temperature)}.")
        self.model, self.compute_outputs, self.temperature = model, outputs, float(temperature)
        self.batch_size = check_whole(batch_size, "batch_size", 1)
        self._ask = find_predict_function(model)
        self._are_logits = outputs == "logits" if outputs != "auto" or not _is_torch_module(model) else None
        self.given = _choose_class_names(classes, getattr(model, "classes_", None))

    def name_classes(self, k: int) -> np.ndarray:
        """Names of the k columns."""
        if self.given is None:
            return np.arange(k)
        if len(self.given) != k:
            raise ValueError(
                f"classes has {len(self.given)} names, but the beliefs have {k} columns: there must be one for each."
            )
        return self.given

    def iterate_batches(self, X: Any) -> Iterator[np.ndarray]:
        """Checked beliefs of some x at a time; X may also be an iterable of batches, such as a torch DataLoader."""
        width = None
        for rows in self._iterate_inputs(X):
            P = check_beliefs(self._ask_probabilities(rows), count_observations(rows, "X"))
            if width not in (None, P.shape[1]):
                raise ValueError(
                    f"The model returned {width} classes for earlier batches and {P.shape[1]} now; the number of "
                    "classes must not change."
                )
            width = P.shape[1]
            self.name_classes(width)
            yield P if self.temperature == 1 else apply_temperature(P, self.temperature)

    def _ask_probabilities(self, rows: Any) -> Any:
        """The model's probabilities; whether a torch module returns them or logits is seen from its first answer."""
        values = self._ask_model(rows)
        if self.compute_outputs != "auto" and _is_column(to_float_array(values)):
            return _expand_to_two_classes(to_float_array(values), self.compute_outputs == "logits")
        if self._are_logits is False:
            return values
        array = to_float_array(values)
        if array.ndim != 2 or not array.size:
            return array
        if self._are_logits is None:
            self._are_logits = bool(array.min() < 0 or np.abs(array.sum(axis=1) - 1).max() > _get_sum_tolerance(values))
            if self._are_logits and array.min() >= 0 and array.max() <= 1:
                raise ValueError(
                    "The module returns numbers from 0 to 1 that do not sum to 1: say outputs='logits' if they are "
                    "logits; probabilities that exclude each other are needed, not those of several labels."
                )
        return _apply_softmax(array) if self._are_logits else values

    def _ask_model(self, rows: Any) -> Any:
        try:
            return self._ask(convert_arrow_rows(rows, self.model))
        except (NotFittedError, MemoryError, _NoBeliefsError):
            raise
        except Exception as error:  # of any library; it is shown as the cause
            raise ValueError(f"X: the model has no answer for such inputs ({short_repr(str(error), 200)}).") from error

    def _iterate_inputs(self, X: Any) -> Iterator[Any]:
        if is_stream(X):
            for batch in X:
                yield batch[0] if isinstance(batch, tuple | list) else batch
            return
        n = count_observations(X, "X")
        if self.model is None:
            X = X if isinstance(X, np.ndarray) else to_float_array(X)
        size = self.batch_size if self.model is not None else max(1, MAX_BELIEFS_COPIED // max(1, X.shape[-1]))
        for start in range(0, n, size):
            yield slice_rows(X, start, min(start + size, n))
            _release_file_memory(X)

    def __call__(self, values: Any) -> np.ndarray:  # noqa: D102
        batches = list(self.iterate_batches(values))
        if not batches:
            raise ValueError("X is empty: beliefs need at least one input.")
        P = np.concatenate(batches)
        if P.dtype == np.float64:
            return P
        P = P.astype(np.float64)
        return P / P.sum(axis=1, keepdims=True)

    def __repr__(self) -> str:
        return "Beliefs()" if self.model is None else f"Beliefs({type(self.model).__name__})"

    def state(self) -> State:  # noqa: D102
        names = None if self.given is None else [label_to_json(label) for label in self.given.tolist()]
        settings = {"outputs": self.compute_outputs, "temperature": self.temperature, "batch_size": self.batch_size}
        return State({"has_model": self.model is not None, "classes": names, **settings}, {})

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> Beliefs:
        if description["has_model"] and net is None:
            raise NetError("The classifier is not in the file: give it again, load(path, x_net=model).")
        names = description["classes"]
        classes = None if names is None else to_object_array([label_from_json(name) for name in names])
        settings = {name: description[name] for name in ("outputs", "temperature", "batch_size")}
        try:
            return cls(net, classes=classes, **settings)
        except (TypeError, ValueError) as error:
            if net is None:
                raise
            raise NetError(f"x_net: {error}") from None


def check_beliefs(values: Any, n: int | None = None) -> np.ndarray:
    """Check beliefs, whose rows must sum to 1; float32 input with many columns stays float32.

    Parameters
    ----------
    values : array-like or tensor of shape (n, k)
        What a model returned.
    n : int, optional
        How many rows there must be.
    """
    P = to_float_array(values)
    if P.ndim != 2 or P.shape[1] < 2:
        raise ValueError(
            f"The beliefs must have a row for each input and a column for each of at least two classes, "
            f"got shape {P.shape}: for two classes return both, 1 - p and p, or say outputs='logits' or "
            "'probabilities' if it is that of the second."
        )
    if P.shape[1] < MIN_CLASSES_FOR_SINGLE_PRECISION:
        P = P.astype(np.float64, copy=False)
    if n is not None and len(P) != n:
        raise ValueError(f"The model returned {len(P)} rows of beliefs for {n} inputs: there must be one for each.")
    if not len(P):
        return P
    with np.errstate(invalid="ignore"):  # infinities that cancel each other
        low, sums = P.min(), P @ np.ones(P.shape[1], P.dtype)
    if not np.isfinite(sums).all():
        bad = np.flatnonzero(~np.isfinite(sums))
        raise ValueError(
            f"The beliefs contain NaN or infinity in {len(bad)} row(s), first in row {bad[0]}: "
            "leave these inputs out, or fix the model."
        )
    if low < -1e-6:
        raise ValueError(
            f"The beliefs contain negative numbers, down to {low:.3g}: if they are logits, say outputs='logits'."
        )
    worst = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[worst] - 1) > _get_sum_tolerance(values):
        raise ValueError(
            f"The beliefs must sum to 1 for each input, but those of row {worst} sum to {sums[worst]:.6g}: "
            "return probabilities (divide each row by its sum), or say outputs='logits' if they are logits."
        )
    if low < 0:
        P = np.maximum(P, 0)
        sums = P.sum(axis=1)
    if P.dtype == np.float32 and np.abs(sums - 1).max() < SINGLE_SUM_ERROR:
        return P
    return P / sums[:, None]


def _get_sum_tolerance(values: Any) -> float:
    """By how much rows may be off 1, of arrays and tensors."""
    return HALF_SUM_ERROR if str(getattr(values, "dtype", "")).endswith("float16") else SUM_ERROR


def apply_temperature(P: np.ndarray, temperature: float) -> np.ndarray:
    """Beliefs whose logarithms are divided by a temperature: above 1 they become more cautious."""
    with np.errstate(divide="ignore"):
        return _apply_softmax(np.log(P) / temperature)


def is_stream(X: Any) -> bool:
    """Whether it is an iterable of batches and not an array, a frame or a list of inputs."""
    return isinstance(X, Iterable) and not (hasattr(X, "__getitem__") or hasattr(X, "__array__") or sp.issparse(X))


def _apply_softmax(logits: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # NaN for an infinite logit, which `check_beliefs` refuses
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)


def _is_column(array: np.ndarray) -> bool:
    return array.ndim == 1 or array.shape[1:] == (1,)


def _expand_to_two_classes(column: np.ndarray, are_logits: bool) -> np.ndarray:
    """Beliefs in two classes, from the logit or the probability of the second."""
    p = column.reshape(-1)
    if are_logits:
        with np.errstate(invalid="ignore"):
            p = expit(p)
    return np.column_stack([1 - p, p])


def _choose_class_names(classes: Any, own: Any) -> np.ndarray | None:
    """Names of the columns: those given, unless they are the model's own, whose order then counts."""
    if own is None:
        return None if classes is None else check_classes(classes)
    known = check_classes(own)
    if classes is None:
        return known
    given = check_classes(classes)
    return known if set(given.tolist()) == set(known.tolist()) else given


def check_classes(classes: Any) -> np.ndarray:
    labels = as_labels(classes, "classes")
    try:
        distinct = set(labels.tolist())
    except TypeError:
        raise ValueError(
            "classes must be one label for each column. Analyse each target of a multi-output model separately."
        ) from None
    if len(distinct) < len(labels):
        raise ValueError("classes must be all different.")
    return labels


# --- asking a model


def find_predict_function(model: Any) -> Callable[[Any], Any]:
    """Function from inputs to what the model returns."""
    if model is None:
        return _return_inputs
    if isinstance(model, type):
        raise TypeError(f"model must be a fitted model, got the class {model.__name__}: make one and fit it.")
    if _is_torch_module(model):
        return partial(ask_torch_module, model)
    if hasattr(model, "predict_proba"):
        return model.predict_proba
    if hasattr(model, "run") and hasattr(model, "get_inputs"):
        return partial(ask_onnx_session, model)
    if hasattr(model, "predict") and is_regressor(model):
        raise TypeError(f"model must be a classifier, got the regressor {type(model).__name__}.")
    if hasattr(model, "predict"):
        raise TypeError(
            f"{type(model).__name__} has no predict_proba: switch it on, or wrap the model in scikit-learn's "
            "CalibratedClassifierCV."
        )
    if callable(model):
        return model
    raise TypeError(
        "model must be a fitted classifier with predict_proba, a torch module, an ONNX session or a function from "
        f"inputs to beliefs, got {type(model).__name__}."
    )


def _return_inputs(X: Any) -> Any:
    return X


def _is_torch_module(model: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def convert_arrow_rows(rows: Any, model: Any) -> Any:
    """Rows as models take them: an array of numbers, a list of labels, or a pandas frame."""
    if not type(rows).__module__.startswith("pyarrow"):
        return rows
    if not hasattr(rows, "column_names"):
        values = nw.from_native(rows, series_only=True, pass_through=True)
        is_number = isinstance(values, nw.Series) and values.dtype.is_numeric()
        return values.to_numpy() if is_number else rows.to_pylist()
    frame = nw.from_native(rows)
    if hasattr(model, "feature_names_in_") or not all(kind.is_numeric() for kind in frame.schema.values()):
        return rows.to_pandas()
    return np.column_stack([column.to_numpy() for column in frame.iter_columns()])


def ask_torch_module(module: Any, X: Any) -> Any:
    """Output of a module in evaluation mode; the mode is put back afterwards."""
    torch = sys.modules["torch"]
    first = next(module.parameters(), torch.empty(0))
    inputs = X if isinstance(X, torch.Tensor) else torch.from_numpy(np.array(X))
    inputs = inputs.to(first.device, first.dtype if inputs.is_floating_point() else inputs.dtype)
    modes = [(part, part.training) for part in module.modules()]
    n = len(inputs)
    is_short = (
        inputs.ndim == 2 and 0 < n < MIN_ROWS_FOR_MODULE
    )  # a few rows are multiplied in another way, with other rounding errors
    if is_short:
        inputs = inputs[torch.arange(MIN_ROWS_FOR_MODULE, device=inputs.device).clamp(max=n - 1)]
    try:
        module.eval()
        with torch.inference_mode():
            outputs = module(inputs)
            return outputs[:n] if is_short and isinstance(outputs, torch.Tensor) else outputs
    finally:
        for part, mode in modes:
            part.training = mode


class _NoBeliefsError(ValueError):
    """A session has answered, and none of its outputs are beliefs."""


def ask_onnx_session(session: Any, X: Any) -> np.ndarray:
    """Beliefs from a session of onnxruntime: of its outputs the one with a row for each input and several columns."""
    (entry, *_) = session.get_inputs()
    kinds = {"tensor(float)": np.float32, "tensor(double)": np.float64}
    returned = session.run(None, {entry.name: np.asarray(X, dtype=kinds.get(entry.type))})
    for values in reversed(returned):
        if isinstance(values, list) and values and isinstance(values[0], dict):  # what converters call a ZipMap
            return np.array([[row[key] for key in values[0]] for row in values])
        if np.ndim(values) == 2 and np.shape(values)[1] > 1:
            return np.asarray(values)
    raise _NoBeliefsError("None of the session's outputs has a column for each class: pass a function that picks it.")


# --- rows


def to_float_array(values: Any) -> np.ndarray:
    """Floats of single or double precision, from arrays, tensors, frames and lists."""
    if np.ma.is_masked(values):
        raise ValueError("The beliefs have masked entries: leave these inputs out.")
    try:
        array = to_array(values, "The beliefs")
        if array.dtype.kind not in "biuf":
            raise TypeError
        return array.astype(np.float32 if array.dtype in (np.float32, np.float16) else np.float64, copy=False)
    except (TypeError, ValueError):
        raise ValueError(
            f"The beliefs must be an array of numbers of shape (n, classes), got {_described(values)}: "
            "return probabilities, such as those of predict_proba."
        ) from None


def _described(values: Any) -> str:
    kind = getattr(values, "dtype", None)
    return type(values).__name__ if kind is None else f"{type(values).__name__} of {kind}"


def slice_rows(X: Any, start: int, stop: int) -> Any:
    frame = nw.from_native(X, pass_through=True, allow_series=True)
    if isinstance(frame, nw.DataFrame | nw.Series):
        return frame[start:stop].to_native()
    if sp.issparse(X):
        return sp.csr_array(X)[start:stop]
    try:
        return (X if hasattr(X, "__getitem__") else np.asarray(X))[start:stop]
    except Exception:  # of any library whose object it is
        raise TypeError(f"X must be an array, a frame, a list or batches of these, got {type(X).__name__}.") from None


def _release_file_memory(X: Any) -> None:
    """Give back the memory of the rows of a file that were read; the system still has them if they are needed again."""
    if isinstance(X, np.memmap) and X.mode == "r" and hasattr(mmap, "MADV_DONTNEED"):
        getattr(X, "_mmap").madvise(mmap.MADV_DONTNEED)  # noqa: B009 - NumPy has no public name for it
