"""A recorder as the callback of a library: the same steps under the names by which each library calls them."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from correspondence._util.text import short_repr

if TYPE_CHECKING:
    from correspondence.recording.recorder import TrainingRecorder

__all__ = ["RecorderCallback", "make_callback"]

UNITS = ("step", "epoch")
# Libraries that take only instances of a class of their own, by the module that has it.
BASES = {
    "xgboost": ("xgboost.callback", "TrainingCallback"),
    "lightning": ("lightning.pytorch.callbacks", "Callback"),
    "pytorch_lightning": ("pytorch_lightning.callbacks", "Callback"),
    "keras": ("keras.callbacks", "Callback"),
}


class _FalseHook:
    """A hook of xgboost that does nothing; it is false, because lightgbm takes its name for a flag."""

    def __call__(self, *_: Any, **__: Any) -> bool:
        """Go on with the training."""
        return False

    def __bool__(self) -> bool:
        return False


class RecorderCallback:
    """Hooks that count a step of a recorder, and give it the model that is trained.

    Each library calls some of these methods, and none calls two of them for the same step. What else it calls does
    nothing.

    Parameters
    ----------
    recorder : TrainingRecorder
        Record by this recorder.
    unit : {"step", "epoch"}
        What counts as a step where a library has both: a batch, or an epoch.
    """

    def __init__(self, recorder: TrainingRecorder, unit: str) -> None:
        for base in type(self).__bases__[1:]:  # of a library, which need not call the next one
            base.__init__(self)  # type: ignore[misc]
        self._recorder, self._unit = recorder, unit

    def __reduce__(self) -> tuple[Any, ...]:
        """Make a copy by what made this, because the class of the library is found anew; it has its own recorder."""
        return make_callback, (self._recorder, self._unit)

    def __getattr__(self, name: str) -> Any:
        """Return a hook that does nothing, for a loop that calls all hooks of all callbacks."""
        if name.startswith("on_"):
            return _ignore_event
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")

    def _count_step(self, model: Any = None) -> None:
        if model is not None:
            self._recorder.follow(model)
        self._recorder.step()

    # --- Keras: on_...(batch or epoch, logs), with the model set before; Lightning: on_...(trainer, module, ...)

    def set_model(self, model: Any) -> None:
        """Take the model of Keras."""
        self._recorder.follow(model)

    def set_params(self, params: Any) -> None:
        """Take the settings of Keras, which do not matter."""

    def on_train_start(self, trainer: Any, module: Any) -> None:
        """Record what a module of Lightning believes before the training."""
        self._recorder.follow(module)
        self._recorder.record()

    def on_train_begin(self, logs: Any = None) -> None:
        """Record what a model of Keras believes before the training."""
        self._recorder.record()

    def on_train_batch_end(self, _: Any, module: Any = None, *__: Any, **named: Any) -> None:
        """Count a batch."""
        if self._unit == "step":
            self._count_step(module if callable(module) else None)  # of Keras it is a dictionary of figures

    def on_train_epoch_end(self, trainer: Any, module: Any) -> None:
        """Count an epoch of Lightning."""
        if self._unit == "epoch":
            self._count_step(module)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Count an epoch of Keras."""
        if self._unit == "epoch":
            self._count_step()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        """Record the end, whatever step it is."""
        self._recorder.record()

    # --- xgboost, whose model is a booster that grows

    def before_training(self, model: Any) -> Any:
        """Leave the booster as it is."""
        return model

    before_iteration = _FalseHook()

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Count an iteration of xgboost, and go on."""
        self._count_step(model)
        return False

    def after_training(self, model: Any) -> Any:
        """Record the end of a training by xgboost."""
        self._recorder.record()
        return model

    # --- lightgbm, which calls a function

    def __call__(self, env: Any) -> None:
        """Count an iteration of lightgbm, and record the last one."""
        self._count_step(env.model)
        if env.iteration == env.end_iteration - 1:
            self._recorder.record()

    # --- scikit-learn 1.9, which tells of tasks within tasks

    def setup(self, *_: Any, **__: Any) -> None:
        """Do nothing before a fit."""

    def teardown(self, *_: Any, **__: Any) -> None:
        """Record the end of a fit, unless nothing was recorded."""
        if self._recorder.model is not None:
            self._recorder.record()

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing before a task."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> bool:
        """Count an iteration of an estimator of scikit-learn, and go on; the whole fit is not one."""
        if context.parent is not None and fitted_estimator is not None:
            self._count_step(fitted_estimator)
        return False


def _ignore_event(*_: Any, **__: Any) -> None:
    """Do nothing."""


def make_callback(recorder: TrainingRecorder, unit: str) -> RecorderCallback:
    """Make the callback, which is an instance of what the libraries that are imported ask for."""
    if not isinstance(unit, str) or unit not in UNITS:
        raise ValueError(f"unit must be one of {', '.join(UNITS)}, got {short_repr(unit)}.")
    found = [importlib.import_module(module) for library, (module, _) in BASES.items() if library in sys.modules]
    names = [name for library, (_, name) in BASES.items() if library in sys.modules]
    bases = tuple(dict.fromkeys(getattr(module, name) for module, name in zip(found, names, strict=True)))
    return type("RecorderCallback", (RecorderCallback, *bases), {})(recorder, unit)
