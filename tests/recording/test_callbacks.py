"""A recorder as a callback: of libraries where they are installed, and of loops that follow what others publish."""

import pickle
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, SGDClassifier

import correspondence as co
from correspondence.recording.callbacks import RecorderCallback

X, y = load_iris(return_X_y=True)
X = X.astype(np.float32)
TRAIN, PROBES = (X[::2], y[::2]), (X[1::2], y[1::2])


def make_recorder(model=None, every=2, **options):
    return co.TrainingRecorder(model, *PROBES, every=every, **options)


# --- libraries that are installed


def test_xgboost_iterations_are_steps():
    xgboost = pytest.importorskip("xgboost")
    recorder = make_recorder()
    settings = {"objective": "multi:softprob", "num_class": 3, "nthread": 1}
    booster = xgboost.train(settings, xgboost.DMatrix(*TRAIN), 9, callbacks=[recorder.callback()])
    assert recorder.steps.tolist() == [1, 2, 4, 6, 8, 9]
    assert np.allclose(recorder.beliefs(-1), booster.predict(xgboost.DMatrix(PROBES[0])), atol=2e-3)
    early = booster.predict(xgboost.DMatrix(PROBES[0]), iteration_range=(0, 4))
    assert np.allclose(recorder.beliefs(2), early, atol=2e-3)  # the booster of that step, not the last one
    assert recorder.accuracy[-1] > 0.9
    assert recorder.timeline().pics.shape == (6, 2)


def test_copies_of_a_callback_record_for_themselves(tmp_path):
    """scikit-learn copies the callbacks among the parameters of a model for each fold, and pickles them for workers."""
    xgboost = pytest.importorskip("xgboost")
    recorder = make_recorder(every=1, max_frames=6, path=tmp_path / "kept")
    model = xgboost.XGBClassifier(n_estimators=5, n_jobs=1, callbacks=[recorder.callback()]).fit(*TRAIN)
    before = np.array(recorder.frames[:])
    copies = [clone(model), pickle.loads(pickle.dumps(model))]
    for copied in copies:
        copied.fit(*TRAIN)  # 10 frames, of which every second one is dropped
        own = copied.get_params()["callbacks"][0]._recorder
        assert own.every > 1
        assert own.steps[-1] == 10
        assert np.array_equal(own.beliefs(0), before[0])
        assert own._recording.folder != recorder._recording.folder
    for kept in (recorder, co.TrainingRecorder.load(tmp_path / "kept")):
        assert kept.steps.tolist() == [1, 2, 3, 4, 5]
        assert np.array_equal(kept.frames[:], before)


def test_lightgbm_iterations_are_steps():
    lightgbm = pytest.importorskip("lightgbm")
    recorder = make_recorder(every=3)
    settings = {"objective": "multiclass", "num_class": 3, "verbose": -1, "num_threads": 1}
    booster = lightgbm.train(settings, lightgbm.Dataset(*TRAIN), 8, callbacks=[recorder.callback()])
    assert recorder.steps.tolist() == [1, 3, 6, 8]
    assert np.allclose(recorder.beliefs(-1), booster.predict(PROBES[0]), atol=2e-3)
    assert np.allclose(recorder.beliefs(1), booster.predict(PROBES[0], num_iteration=3), atol=2e-3)


@pytest.mark.skipif(not hasattr(LogisticRegression, "set_callbacks"), reason="scikit-learn has no callbacks yet")
def test_iterations_of_scikit_learn_are_steps():
    recorder = make_recorder(every=5)
    model = LogisticRegression(max_iter=23, tol=0).set_callbacks(recorder.callback())
    with pytest.warns(match="converge"):
        model.fit(*TRAIN)
    assert recorder.steps.tolist() == [1, 5, 10, 15, 20, 23]
    assert np.allclose(recorder.beliefs(-1), model.predict_proba(PROBES[0]), atol=2e-3)
    assert np.all(np.diff(recorder.timeline().chi2) != 0)


# --- loops of others


class LightningLoop:
    """What Trainer.fit of Lightning calls: all hooks of all callbacks, each with the trainer and the module first."""

    def __init__(self, callbacks):
        self.callbacks = callbacks

    def call(self, hook, *arguments):
        for callback in self.callbacks:
            getattr(callback, hook)(self, *arguments)

    def fit(self, module, batches, epochs):
        self.call("setup", module, "fit")
        for hook in ("on_fit_start", "on_sanity_check_start", "on_train_start"):
            self.call(hook, module)
        for _ in range(epochs):
            self.call("on_train_epoch_start", module)
            for i, batch in enumerate(batches):
                self.call("on_train_batch_start", module, batch, i)
                loss = module.train_step(batch)
                self.call("on_train_batch_end", module, {"loss": loss}, batch, i)
            self.call("on_train_epoch_end", module)
        for hook in ("on_train_end", "on_fit_end"):
            self.call(hook, module)
        self.call("teardown", module, "fit")


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.net = torch.nn.Linear(4, 3)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=0.05)

    def forward(self, inputs):
        return self.net(inputs)

    def train_step(self, batch):
        self.optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(self(batch[0]), batch[1])
        loss.backward()
        self.optimizer.step()
        return loss


BATCHES = [(torch.from_numpy(TRAIN[0][i::5]), torch.from_numpy(TRAIN[1][i::5])) for i in range(5)]


@pytest.mark.parametrize(("unit", "steps"), [("step", [0, 4, 8, 12, 15]), ("epoch", [0, 3])])
def test_lightning_like_loops(unit, steps):
    recorder, module = make_recorder(every=4), Module()
    LightningLoop([recorder.callback(unit)]).fit(module, BATCHES, 3)
    assert recorder.steps.tolist() == steps
    with torch.no_grad():
        assert np.allclose(recorder.beliefs(-1), softmax(module(torch.from_numpy(PROBES[0])).numpy(), 1), atol=2e-3)
    assert recorder.accuracy[-1] > recorder.accuracy[0]
    assert module.training  # as Lightning left it


class KerasModel:
    """A model with the training loop of Keras: callbacks are told the model first, then of batches and epochs."""

    def __init__(self):
        self.model, self.calls = SGDClassifier(loss="log_loss", alpha=0.01, random_state=0), 0

    def predict_on_batch(self, inputs):
        if not hasattr(self.model, "classes_"):
            return np.full((len(inputs), 3), 1 / 3)
        return self.model.predict_proba(inputs)

    def fit(self, inputs, labels, epochs, callbacks):
        for callback in callbacks:
            callback.set_params({"epochs": epochs})
            callback.set_model(self)
            callback.on_train_begin(logs={})
        for epoch in range(epochs):
            for callback in callbacks:
                callback.on_epoch_begin(epoch, logs={})
            for batch in range(5):
                for callback in callbacks:
                    callback.on_train_batch_begin(batch, logs={})
                self.model.partial_fit(inputs[batch::5], labels[batch::5], classes=[0, 1, 2])
                for callback in callbacks:
                    callback.on_train_batch_end(batch, logs={"loss": 0.0})
            for callback in callbacks:
                callback.on_test_begin(logs={})
                callback.on_epoch_end(epoch, {"loss": 0.0})
        for callback in callbacks:
            callback.on_train_end(logs={})


@pytest.mark.parametrize(("unit", "steps"), [("step", [0, 4, 8, 10]), ("epoch", [0, 2])])
@pytest.mark.parametrize("is_given", [True, False])
def test_keras_like_fit(unit, steps, is_given):
    model = KerasModel()
    recorder = make_recorder(model if is_given else None, every=4)
    model.fit(*TRAIN, epochs=2, callbacks=[recorder.callback(unit)])
    assert recorder.steps.tolist() == steps
    assert np.allclose(recorder.beliefs(-1), model.predict_on_batch(PROBES[0]), atol=2e-3)


def test_callbacks_are_what_an_imported_library_asks_for(monkeypatch):
    """A library that is not installed here, with its own class of callbacks and a hook that its loop calls."""

    class Callback:
        def __init__(self):
            self.is_ready = True

        def on_something_of_its_own(self):
            return "its own"

    keras = ModuleType("keras")
    keras.callbacks = ModuleType("keras.callbacks")
    keras.callbacks.Callback = Callback
    monkeypatch.setitem(sys.modules, "keras", keras)
    monkeypatch.setitem(sys.modules, "keras.callbacks", keras.callbacks)
    callback = make_recorder().callback()
    assert isinstance(callback, Callback)
    assert isinstance(callback, RecorderCallback)
    assert callback.is_ready
    assert callback.on_something_of_its_own() == "its own"
    monkeypatch.delitem(sys.modules, "keras")
    plain = make_recorder().callback()
    assert not isinstance(plain, Callback)
    assert plain.on_something_of_its_own() is None
    assert not hasattr(plain, "state_dict")


# --- hostile use


def test_a_recorder_without_a_model_waits_for_one(tmp_path):
    recorder = make_recorder()
    assert repr(recorder) == "TrainingRecorder: no frames yet of 75 probes"
    for use in (recorder.step, recorder.record, lambda: recorder.follow(None)):
        with pytest.raises(TypeError, match="model is missing"):
            use()
    with pytest.raises(TypeError, match="model must have partial_fit"):
        recorder.partial_fit(*TRAIN)
    with pytest.raises(ValueError, match="unit must be"):
        recorder.callback("batch")
    model = LogisticRegression(max_iter=200).fit(*TRAIN)
    recorder.follow(model)
    recorder.step()
    assert len(recorder) == 1
    other = LogisticRegression(max_iter=200).fit(TRAIN[0], TRAIN[1] > 0)
    recorder.follow(other)
    with pytest.raises(ValueError, match="neither the probes nor the classes may change"):
        recorder.step()
    kept = make_recorder(model, path=tmp_path / "run")
    kept.record()
    with pytest.raises(ValueError, match="loaded and cannot continue"):
        co.TrainingRecorder.load(tmp_path / "run").follow(model)


def test_a_diverged_iteration_is_left_out():
    recorder = make_recorder(every=1)
    callback = recorder.callback()
    good = lambda inputs: np.full((len(inputs), 3), 1 / 3)  # noqa: E731
    bad = lambda inputs: np.full((len(inputs), 3), np.nan)  # noqa: E731
    for i, model in enumerate((good, bad, good)):
        env = SimpleNamespace(model=model, iteration=i, end_iteration=5)
        if model is bad:
            with pytest.warns(match="Step 2 is not recorded"):
                callback(env)
        else:
            callback(env)
    assert recorder.steps.tolist() == [1, 3]
