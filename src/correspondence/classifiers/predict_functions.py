"""How any model is asked: the function from inputs to what it returns, by the kind of the model."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from sklearn.base import is_regressor

from correspondence._util.text import list_names

__all__ = [
    "Logits",
    "NoBeliefsError",
    "convert_arrow_rows",
    "find_class_names",
    "find_predict_function",
    "is_torch_module",
    "pick_output",
]

MIN_ROWS_FOR_MODULE = 64  # fewer rows are multiplied in another way, with other rounding errors

# What a booster of xgboost returns for each objective; of labels (softmax) the margins are asked for.
XGBOOST_OUTPUTS = {
    "binary:logistic": "probabilities",
    "binary:logitraw": "margins",
    "multi:softprob": "probabilities",
    "multi:softmax": "margins",
}
LIGHTGBM_OBJECTIVES = ("binary", "multiclass")


class NoBeliefsError(ValueError):
    """A model has answered, but nothing in its answer is beliefs."""


class Logits(NamedTuple):
    """What a model returned under the name logits."""

    logits: Any


def find_predict_function(model: Any) -> Callable[[Any], Any]:
    """Return the function from inputs to what the model returns."""
    if model is None:
        return _return_inputs
    if isinstance(model, type):
        raise TypeError(f"model must be a fitted model, got the class {model.__name__}. Make an instance and fit it.")
    if is_torch_module(model):
        return partial(ask_torch_module, model)
    if _is_class_of("lightgbm", "CVBooster", model):  # which has any attribute
        raise TypeError("model must be one model, got the CVBooster of a cross-validation. Pass one of its .boosters.")
    if _is_class_of("xgboost", "Booster", model):
        return partial(ask_xgboost, model, _check_xgboost_objective(model))
    if _is_class_of("lightgbm", "Booster", model):
        _check_lightgbm_objective(model)
        return partial(ask_lightgbm, model)
    if hasattr(model, "predict_proba"):
        return model.predict_proba
    if hasattr(model, "run") and hasattr(model, "get_inputs"):
        return partial(ask_onnx_session, model)
    if hasattr(model, "predict_on_batch"):  # of Keras; in calls such a model may be in training mode
        return partial(ask_keras_model, model)
    if hasattr(model, "predict") and is_regressor(model):
        raise TypeError(f"model must be a classifier, got the regressor {type(model).__name__}.")
    if hasattr(model, "predict"):
        raise TypeError(
            f"model must have predict_proba, got {type(model).__name__}. Switch it on, or wrap the model in "
            "scikit-learn's CalibratedClassifierCV."
        )
    if callable(model):
        return model
    raise TypeError(
        "model must be a fitted classifier with predict_proba, a booster of xgboost or lightgbm, a torch module, an "
        f"ONNX session or a function from inputs to beliefs, got {type(model).__name__}."
    )


def _return_inputs(X: Any) -> Any:  # not a lambda, because a saved or distributed model is pickled
    return X


def find_class_names(model: Any) -> Any:
    """Return the names that a model itself has for its classes; None if it has none."""
    own = getattr(model, "classes_", None)
    names = getattr(getattr(model, "config", None), "id2label", None)  # of Hugging Face
    if own is not None or not isinstance(names, Mapping) or not names:
        return own
    return [names[key] for key in sorted(names, key=int)]


def pick_output(values: Any) -> Any:
    """Pick the beliefs or the logits out of what a model returned, such as an object with ``.logits`` or a tuple."""
    if isinstance(values, Logits):
        return values
    if isinstance(values, Mapping):
        if "logits" not in values:
            raise NoBeliefsError(
                f"The model must return an array or 'logits', got {list_names(values, 5)}. Pass a function that picks."
            )
        return Logits(values["logits"])
    if getattr(values, "logits", None) is not None:
        return Logits(values.logits)
    if isinstance(values, tuple):  # such as (loss, logits, hidden states); rows of numbers have no ndim of 2
        return _pick_from_tuple(values)
    return values


def _pick_from_tuple(values: tuple[Any, ...]) -> Any:
    """Pick the first matrix, unless another one has other columns: either might be the beliefs."""
    found = [part for part in values if getattr(part, "ndim", 0) == 2]
    widths = [part.shape[1] for part in found]
    if len(set(widths)) > 1:
        listed = " and ".join(map(str, widths))
        raise NoBeliefsError(f"The model returned several arrays, of {listed} columns. Pass a function that picks one.")
    return found[0] if found else values


# --- nets


def is_torch_module(model: Any) -> bool:
    """Tell whether the model is a torch module, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def ask_torch_module(module: Any, X: Any) -> Any:
    """Return the beliefs or logits of a module in evaluation mode, and restore its mode."""
    torch = sys.modules["torch"]
    first = next(module.parameters(), torch.empty(0))
    inputs = X if isinstance(X, torch.Tensor) else torch.from_numpy(np.array(X))
    inputs = inputs.to(first.device, first.dtype if inputs.is_floating_point() else inputs.dtype)
    modes = [(part, part.training) for part in module.modules()]
    n = len(inputs)
    is_short = inputs.ndim == 2 and 0 < n < MIN_ROWS_FOR_MODULE
    if is_short:
        inputs = inputs[torch.arange(MIN_ROWS_FOR_MODULE, device=inputs.device).clamp(max=n - 1)]
    try:
        module.eval()
        with torch.inference_mode():
            outputs = pick_output(module(inputs))
    finally:
        for part, mode in modes:
            part.training = mode
    if not is_short:
        return outputs
    if isinstance(outputs, Logits):
        return Logits(outputs.logits[:n])
    return outputs[:n] if isinstance(outputs, torch.Tensor) else outputs


def ask_keras_model(model: Any, X: Any) -> Any:
    """Return the output of a model of Keras; it is asked outside of training mode."""
    return model.predict_on_batch(np.asarray(X))


def ask_onnx_session(session: Any, X: Any) -> np.ndarray:
    """Return the output of an onnxruntime session that has a row for each input and several columns."""
    (entry, *_) = session.get_inputs()
    kinds = {"tensor(float)": np.float32, "tensor(double)": np.float64}
    returned = session.run(None, {entry.name: np.asarray(X, dtype=kinds.get(entry.type))})
    for values in reversed(returned):
        if isinstance(values, list) and values and isinstance(values[0], dict):  # what converters call a ZipMap
            return np.array([[row[key] for key in values[0]] for row in values])
        if np.ndim(values) == 2 and np.shape(values)[1] > 1:
            return np.asarray(values)
    raise NoBeliefsError("None of the session's outputs has a column for each class. Pass a function that picks it.")


# --- boosters


def _is_class_of(library: str, name: str, model: Any) -> bool:
    """Tell whether the model is of a class of a library, such as its booster, without importing the library."""
    found = getattr(sys.modules.get(library), name, None)
    return isinstance(found, type) and isinstance(model, found)


def _check_xgboost_objective(booster: Any) -> str:
    """Return what a booster of xgboost returns, if that says how likely each class is."""
    settings = json.loads(booster.save_config())["learner"]
    objective, n_targets = settings["objective"]["name"], int(settings["learner_model_param"]["num_target"])
    if n_targets > 1:
        raise TypeError(
            f"model must have one target, got a booster of {n_targets} labels that do not exclude each other. Analyse "
            "each of them separately: pass a function that returns its column, with outputs='probabilities'."
        )
    if objective not in XGBOOST_OUTPUTS:
        raise TypeError(
            f"model must be a booster with one of the objectives {', '.join(XGBOOST_OUTPUTS)}, got {objective}. "
            "If it is a classifier with an objective of your own, pass a function from inputs to beliefs."
        )
    return XGBOOST_OUTPUTS[objective]


def ask_xgboost(booster: Any, output: str, X: Any) -> Any:
    """Return the probabilities of a booster of xgboost, or the logits where it returns labels or margins."""
    names = None if hasattr(X, "columns") else booster.feature_names  # an array has no names to compare
    inputs = sys.modules["xgboost"].DMatrix(X, feature_names=names, enable_categorical=True)
    if inputs.num_col() != booster.num_features():  # it takes columns that are not there for missing values
        raise ValueError(f"the booster has {booster.num_features()} features, got {inputs.num_col()}")
    values = booster.predict(inputs, output_margin=output == "margins")
    if output == "probabilities":
        return _complete_binary(values)
    # The margin of two classes is the log odds of the second, as if the logit of the first were 0.
    return Logits(np.column_stack([np.zeros_like(values), values]) if values.ndim == 1 else values)


def _check_lightgbm_objective(booster: Any) -> None:
    """Refuse a booster of lightgbm that does not say how likely each class is."""
    name, *_ = str(booster.dump_model(num_iteration=1).get("objective", "none")).split() or ["none"]
    if name not in LIGHTGBM_OBJECTIVES:
        raise TypeError(
            f"model must be a booster with the objective {' or '.join(LIGHTGBM_OBJECTIVES)}, got {name}. If it is a "
            "classifier with another objective, pass a function from inputs to beliefs that sum to 1."
        )


def ask_lightgbm(booster: Any, X: Any) -> np.ndarray:
    """Return the probabilities of a booster of lightgbm."""
    names = find_feature_names(booster)
    if names is not None and hasattr(X, "columns"):  # it takes the columns of a frame as they come
        given = [str(name).replace(" ", "_") for name in X.columns]
        if given != names:
            raise ValueError(f"the booster has the features {list_names(names, 5)}, got {list_names(given, 5)}")
    return _complete_binary(booster.predict(X))


def _complete_binary(p: np.ndarray) -> np.ndarray:
    """Return both columns where there is only the probability of the second of two classes."""
    return np.column_stack([1 - p, p]) if p.ndim == 1 else p


def find_feature_names(model: Any) -> list[str] | None:
    """Return the names of the columns of the frame that a model was fitted to; None for an array, or if unknown."""
    if _is_class_of("lightgbm", "Booster", model):
        names: Any = list(model.feature_name())  # which are Column_0, ... of an array
        return None if names == [f"Column_{i}" for i in range(len(names))] else names
    is_xgboost = _is_class_of("xgboost", "Booster", model)
    names = model.feature_names if is_xgboost else getattr(model, "feature_names_in_", None)
    return None if names is None else list(names)


# --- rows


def convert_arrow_rows(rows: Any, model: Any) -> Any:
    """Convert rows to what models take: an array of numbers, a list of labels, or a pandas frame."""
    if not type(rows).__module__.startswith("pyarrow"):
        return rows
    if not hasattr(rows, "column_names"):
        values = nw.from_native(rows, series_only=True, pass_through=True)
        is_number = isinstance(values, nw.Series) and values.dtype.is_numeric()
        return values.to_numpy() if is_number else rows.to_pylist()
    frame = nw.from_native(rows)
    if find_feature_names(model) is not None or not all(kind.is_numeric() for kind in frame.schema.values()):
        return rows.to_pandas()
    return np.column_stack([column.to_numpy() for column in frame.iter_columns()])
