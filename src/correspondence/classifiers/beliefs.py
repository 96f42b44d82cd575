"""Beliefs P(y | x) of a black-box classifier: how any model is asked for them, and how its answer is checked."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.exceptions import NotFittedError

from correspondence._util.arguments import check_whole, count_observations, is_number, to_array
from correspondence._util.files import NetError, State
from correspondence._util.labels import as_labels, label_from_json, label_to_json, to_object_array
from correspondence._util.text import short_repr
from correspondence.classifiers.class_labels import check_group, find_classes
from correspondence.classifiers.predict_functions import (
    Logits,
    NoBeliefsError,
    convert_arrow_rows,
    find_class_names,
    find_predict_function,
    is_torch_module,
    pick_output,
)
from correspondence.core.functions import FeatureMap

__all__ = ["OUTPUT_KINDS", "Beliefs", "apply_temperature", "check_beliefs", "is_stream"]

OUTPUT_KINDS = ("auto", "probabilities", "logits")
SUM_ERROR = 1e-3  # by which a row of beliefs may be off 1
HALF_SUM_ERROR = 1e-2  # the same in half precision, which has three digits
SINGLE_SUM_ERROR = 1e-6  # the same in single precision, without rounding it further
MIN_CLASSES_FOR_SINGLE_PRECISION = 100  # from here on beliefs stay in single precision: products take half the time
MAX_BELIEFS_COPIED = 1 << 24  # beliefs that are copied from an array at a time


class Beliefs(FeatureMap):
    """Beliefs of a model as features of x: ``beliefs(X)`` has a row for each x and a column for each class.

    Parameters
    ----------
    model : classifier, booster, torch module, callable, ONNX session or None
        Ask this model; None if X contains beliefs already.
    outputs : {"auto", "probabilities", "logits"}
        What the model returns. "auto" distinguishes logits from probabilities for torch modules, knows those that are
        called logits, and takes everything else for probabilities.
    temperature : float
        Divide the logarithms of the beliefs by this number.
    batch_size : int
        Ask the model about this many x at a time.
    classes : array-like, optional
        The columns have these names instead of the model's own or 0, 1, ...; if they are the model's own in another
        order, the model's order counts.
    group : array-like, optional
        Only the beliefs in these classes are features, given that it is one of them: they are divided by their sum.

    Attributes
    ----------
    width : int or None
        The number of classes of the model; None until it is asked.
    min_mass : float
        Inputs with no more belief in the group than this have NaN.
    """

    kind = "beliefs"
    group: np.ndarray | None = None  # as in pickles of earlier versions
    width: int | None = None
    min_mass = 0.0

    def __init__(
        self,
        model: Any = None,
        outputs: str = "auto",
        temperature: float = 1.0,
        batch_size: int = 1024,
        classes: Any = None,
        group: Any = None,
    ) -> None:
        if not isinstance(outputs, str) or outputs not in OUTPUT_KINDS:
            raise ValueError(f"outputs must be one of {', '.join(OUTPUT_KINDS)}, got {short_repr(outputs)}.")
        if not is_number(temperature) or not 1e-3 <= temperature <= 1e3:
            raise ValueError(f"temperature must be a number from 0.001 to 1000, got {short_repr(temperature)}.")
        self.model, self.outputs, self.temperature = model, outputs, float(temperature)
        self.batch_size = check_whole(batch_size, "batch_size", 1)
        self._ask = find_predict_function(model)
        self._are_logits = outputs == "logits" if outputs != "auto" or not is_torch_module(model) else None
        self.group = None if group is None else check_group(group, "group")
        self.given = _choose_class_names(classes, find_class_names(model))

    def name_classes(self, k: int) -> np.ndarray:
        """Return the names of the k columns."""
        if self.given is None:
            return np.arange(k)
        if len(self.given) != k:
            raise ValueError(f"classes has {len(self.given)} names for {k} columns of beliefs; give one per column.")
        return self.given

    @property
    def names(self) -> np.ndarray:
        """The names of all classes, as they were given or as the model has them."""
        k = self.width if self.given is None else len(self.given)
        assert k is not None
        return self.name_classes(k)

    @property
    def names_of_features(self) -> np.ndarray:
        """The names of the classes that are features."""
        return self.names if self.group is None else self.names[self._locate_group()]

    @property
    def may_be_nan(self) -> bool:
        """Whether inputs may be without features: those that are certainly of no class of the group."""
        return self.group is not None

    def _locate_group(self) -> np.ndarray:
        return find_classes(self.group, self.names, name="group")

    def restrict(self, P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the beliefs given that it is a class of the group, NaN where that cannot be, and the belief in it."""
        if self.group is None:
            return P, np.ones(len(P))
        chosen = P[:, self._locate_group()].astype(np.float64, copy=False)
        mass = chosen.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where((mass > self.min_mass)[:, None], chosen / mass[:, None], np.nan), mass

    def iterate_batches(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the features of some x at a time; X may be an iterable of batches, such as a torch DataLoader."""
        for P in self.iterate_whole(X):
            yield self.restrict(P)[0]

    def iterate_whole(self, X: Any) -> Iterator[np.ndarray]:
        """Yield checked beliefs in all classes of the model about some x at a time."""
        width = None
        for rows in self._iterate_inputs(X):
            P = check_beliefs(self._ask_probabilities(rows), count_observations(rows, "X"))
            if width not in (None, P.shape[1]):
                raise ValueError(
                    f"The model returned {width} classes for earlier batches and {P.shape[1]} now; the number of "
                    "classes must not change."
                )
            self.width = width = P.shape[1]
            self.name_classes(width)
            yield P if self.temperature == 1 else apply_temperature(P, self.temperature)

    def _ask_probabilities(self, rows: Any) -> Any:
        """Ask for probabilities; the first answer of a torch module shows whether it returns them or logits."""
        try:
            values = pick_output(self._ask(convert_arrow_rows(rows, self.model)))
        except (NotFittedError, MemoryError):
            raise
        except NoBeliefsError as error:  # which says what to do
            raise ValueError(str(error)) from None
        except Exception as error:  # of any library; it is shown as the cause
            raise ValueError(f"X: the model has no answer for such inputs ({short_repr(str(error), 200)}).") from error
        if isinstance(values, Logits):
            if self.outputs == "probabilities":
                raise ValueError("outputs must be 'auto' or 'logits', got 'probabilities': the model returns logits.")
            values, self._are_logits = values.logits, True
        if self.outputs == "auto" and self._are_logits is False:
            return values
        array = to_float_array(values)
        if self.outputs != "auto" and (array.ndim == 1 or array.shape[1:] == (1,)):
            # One column is the logit or the probability of the second of two classes.
            with np.errstate(invalid="ignore"):
                p = expit(array.ravel()) if self._are_logits else array.ravel()
            return np.column_stack([1 - p, p])
        if self._are_logits is False:
            return values
        if array.ndim != 2 or not array.size:
            return array
        if self._are_logits is None:
            self._are_logits = bool(array.min() < 0 or np.abs(array.sum(axis=1) - 1).max() > _get_sum_tolerance(values))
            if self._are_logits and array.min() >= 0 and array.max() <= 1:
                raise ValueError(
                    "The module returns numbers from 0 to 1 that do not sum to 1. Pass outputs='logits' if they are "
                    "logits; probabilities must be those of classes that exclude each other, not of several labels."
                )
        return _apply_softmax(array) if self._are_logits else values

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
        return self.restrict(self.ask_whole(values))[0]

    def ask_whole(self, values: Any) -> np.ndarray:
        """Return the beliefs in all classes of the model, in double precision."""
        batches = list(self.iterate_whole(values))
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
        classes, group = (
            None if names is None else [label_to_json(label) for label in names.tolist()]
            for names in (self.given, self.group)
        )
        settings = {"outputs": self.outputs, "temperature": self.temperature, "batch_size": self.batch_size}
        return State({"has_model": self.model is not None, "classes": classes, "group": group, **settings}, {})

    @classmethod
    def from_state(  # noqa: D102
        cls, description: dict[str, Any], arrays: dict[str, np.ndarray], net: Any = None
    ) -> Beliefs:
        if description["has_model"] and net is None:
            raise NetError("The classifier is not in the file. Pass it again: load(path, x_net=model).")
        classes, group = (
            None if names is None else to_object_array([label_from_json(name) for name in names])
            for names in (description["classes"], description.get("group"))  # files of earlier versions have no group
        )
        settings = {name: description[name] for name in ("outputs", "temperature", "batch_size")}
        try:
            return cls(net, classes=classes, group=group, **settings)
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
        There must be n rows.
    """
    P = to_float_array(values)
    if P.ndim != 2 or P.shape[1] < 2:
        raise ValueError(
            f"The beliefs must have a row for each input and a column for each of at least two classes, got shape "
            f"{P.shape}. For two classes return both, 1 - p and p, or pass outputs='logits' or 'probabilities' if the "
            "column is that of the second."
        )
    if P.shape[1] < MIN_CLASSES_FOR_SINGLE_PRECISION:
        P = P.astype(np.float64, copy=False)
    if n is not None and len(P) != n:
        raise ValueError(f"The model returned {len(P)} rows of beliefs for {n} inputs; there must be one for each.")
    if not len(P):
        return P
    with np.errstate(invalid="ignore"):  # infinities that cancel each other
        low, sums = P.min(), P @ np.ones(P.shape[1], P.dtype)
    if not np.isfinite(sums).all():
        bad = np.flatnonzero(~np.isfinite(sums))
        raise ValueError(
            f"The beliefs contain NaN or infinity in {len(bad)} row(s), first in row {bad[0]}. "
            "Leave these inputs out, or fix the model."
        )
    if low < -1e-6:
        raise ValueError(
            f"The beliefs contain negative numbers, down to {low:.3g}. If they are logits, pass outputs='logits'."
        )
    worst = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[worst] - 1) > _get_sum_tolerance(values):
        raise ValueError(
            f"The beliefs must sum to 1 for each input, but those of row {worst} sum to {sums[worst]:.6g}. "
            "Return probabilities (divide each row by its sum), or pass outputs='logits' if they are logits."
        )
    if low < 0:
        P = np.maximum(P, 0)
        sums = P.sum(axis=1)
    if P.dtype == np.float32 and np.abs(sums - 1).max() < SINGLE_SUM_ERROR:
        return P
    return P / sums[:, None]


def _get_sum_tolerance(values: Any) -> float:
    """Return by how much the rows of an array or tensor may be off 1."""
    return HALF_SUM_ERROR if str(getattr(values, "dtype", "")).endswith("float16") else SUM_ERROR


def apply_temperature(P: np.ndarray, temperature: float) -> np.ndarray:
    """Divide the logarithms of beliefs by a temperature: above 1 they become more cautious."""
    with np.errstate(divide="ignore"):
        return _apply_softmax(np.log(P) / temperature)


def is_stream(X: Any) -> bool:
    """Return whether X is an iterable of batches and not an array, a frame or a list of inputs."""
    return isinstance(X, Iterable) and not (hasattr(X, "__getitem__") or hasattr(X, "__array__") or sp.issparse(X))


def _apply_softmax(logits: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # NaN for an infinite logit, which `check_beliefs` refuses
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)


def _choose_class_names(classes: Any, own: Any) -> np.ndarray | None:
    """Return the names of the columns: those given, unless they are the model's own, whose order then counts."""
    given, known = (None if names is None else check_classes(names) for names in (classes, own))
    if given is None or known is None:
        return known if given is None else given
    return known if set(given.tolist()) == set(known.tolist()) else given


def check_classes(classes: Any) -> np.ndarray:
    """Return the names of classes, which must be different."""
    labels = as_labels(classes, "classes")
    try:
        distinct = set(labels.tolist())
    except TypeError:
        raise ValueError(
            "classes must be one label for each column. Analyse each target of a multi-output model separately."
        ) from None
    if len(distinct) < len(labels):
        raise ValueError("classes must all be different.")
    return labels


# --- rows


def to_float_array(values: Any) -> np.ndarray:
    """Convert arrays, tensors, frames and lists to floats of single or double precision."""
    if np.ma.is_masked(values):
        raise ValueError("The beliefs have masked entries. Leave these inputs out.")
    try:
        array = to_array(values, "The beliefs")
        if array.dtype.kind not in "biuf":
            raise TypeError
        return array.astype(np.float32 if array.dtype in (np.float32, np.float16) else np.float64, copy=False)
    except (TypeError, ValueError):
        kind = f" of {values.dtype}" if hasattr(values, "dtype") else ""
        raise ValueError(
            f"The beliefs must be an array of numbers of shape (n, classes), got {type(values).__name__}{kind}. "
            "Return probabilities, such as those of predict_proba."
        ) from None


def slice_rows(X: Any, start: int, stop: int) -> Any:
    """Return rows start to stop of inputs of any kind."""
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
    """Release the memory of the rows of a file that were read; the system may keep them in its cache."""
    if isinstance(X, np.memmap) and X.mode == "r" and hasattr(mmap, "MADV_DONTNEED"):
        getattr(X, "_mmap").madvise(mmap.MADV_DONTNEED)  # noqa: B009 - NumPy has no public name for it
