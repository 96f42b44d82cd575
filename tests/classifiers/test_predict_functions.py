"""Models of any kind are asked for their beliefs: boosters, and nets whose answers have names."""

import subprocess
import sys
from collections import OrderedDict
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy.special import expit, softmax

import correspondence as co
from correspondence.classifiers.beliefs import Beliefs

xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 3)).astype(np.float32)
Y3 = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
NAMES = ["u", "v", "w"]


def train_xgboost(objective, names=None):
    settings = {"objective": objective, "nthread": 1} | ({"num_class": 3} if "multi" in objective else {})
    data = xgboost.DMatrix(X, Y3 if "multi" in objective else Y3 > 0, feature_names=names)
    return xgboost.train(settings, data, 3)


def train_lightgbm(objective):
    is_multi = objective.startswith("multi")
    settings = {"objective": objective, "verbose": -1, "num_threads": 1} | ({"num_class": 3} if is_multi else {})
    return lightgbm.train(settings, lightgbm.Dataset(X, Y3 if is_multi else (Y3 > 0).astype(float)), 3)


@pytest.mark.parametrize("objective", ["multi:softprob", "multi:softmax", "binary:logistic", "binary:logitraw"])
@pytest.mark.parametrize("names", [None, NAMES])
def test_boosters_of_xgboost_return_beliefs_whatever_they_were_trained_to_return(objective, names):
    booster = train_xgboost(objective, names)
    margins = booster.predict(xgboost.DMatrix(X, feature_names=names), output_margin=True)
    expected = softmax(margins, axis=1) if margins.ndim == 2 else np.column_stack([expit(-margins), expit(margins)])
    values = pl.DataFrame(X, NAMES, orient="row") if names else X
    P = Beliefs(booster)(values)
    assert np.allclose(P, expected, atol=1e-6)
    assert np.array_equal(P, Beliefs(booster)(X))  # arrays as well as frames
    assert np.ptp(P[:, 0]) > 0.05


def test_boosters_of_xgboost_without_beliefs_are_refused():
    for objective in ("binary:hinge", "reg:squarederror"):
        with pytest.raises(TypeError, match=rf"model must.*objectives.*got {objective}"):
            co.ClassifierCA(train_xgboost(objective)).fit(X)


def test_boosters_of_lightgbm_return_beliefs():
    for objective in ("multiclass", "binary"):
        booster = train_lightgbm(objective)
        expected = booster.predict(X)
        expected = expected if expected.ndim == 2 else np.column_stack([1 - expected, expected])
        reloaded = lightgbm.Booster(model_str=booster.model_to_string())  # whose parameters are not those of training
        for values in (X, pl.DataFrame(X, NAMES, orient="row")):
            assert np.allclose(Beliefs(reloaded)(values), expected, atol=1e-12)
    for objective in ("multiclassova", "regression"):
        with pytest.raises(TypeError, match=rf"model must.*objective.*got {objective}"):
            co.ClassifierCA(train_lightgbm(objective)).fit(X)


def test_classes_of_boosters_are_numbers_unless_named():
    booster = train_xgboost("multi:softprob")
    assert co.ClassifierCA(booster).fit(X).classes_.tolist() == [0, 1, 2]
    cca = co.ClassifierCA(booster, classes=["low", "mid", "high"]).fit(X, np.array(["low", "mid", "high"])[Y3])
    assert set(cca.predict(X).tolist()) == {"low", "mid", "high"}
    assert cca.held_out_.correlations[0] > 0.7
    with pytest.raises(ValueError, match=r"classes.*2 names for 3 columns"):
        co.ClassifierCA(booster, classes=["low", "high"]).fit(X)


def test_a_booster_that_misses_columns_says_so():
    with pytest.raises(ValueError, match=r"X: the model has no answer.*(?i:feature)"):
        co.ClassifierCA(train_xgboost("multi:softprob")).fit(X[:, :2])


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_columns_of_a_frame_in_another_order_are_refused(library):
    """A booster that takes columns as they come would answer with other beliefs, without a word."""
    frame = pd.DataFrame(X, columns=["u", "v", "w w"])
    if library == "xgboost":
        settings = {"objective": "multi:softprob", "num_class": 3, "nthread": 1}
        booster = xgboost.train(settings, xgboost.DMatrix(frame, Y3), 3)
    else:
        settings = {"objective": "multiclass", "num_class": 3, "verbose": -1, "num_threads": 1}
        booster = lightgbm.train(settings, lightgbm.Dataset(frame, Y3), 3)
    expected = Beliefs(booster)(X)
    for convert in (lambda frame: frame, pl.from_pandas, pa.Table.from_pandas):  # the last is what `Pairs` give
        assert np.allclose(Beliefs(booster)(convert(frame)), expected)
        with pytest.raises(ValueError, match=r"X: the model has no answer.*feature.*u"):
            Beliefs(booster)(convert(frame[["v", "w w", "u"]]))


def test_boosters_of_several_labels_or_folds_are_refused():
    labels = np.column_stack([Y3 > 0, Y3 > 1])  # which do not exclude each other
    for objective in ("binary:logistic", "binary:logitraw"):
        booster = xgboost.train({"objective": objective, "nthread": 1}, xgboost.DMatrix(X, labels), 2)
        with pytest.raises(TypeError, match=r"model must.*one target"):
            Beliefs(booster)
    with pytest.raises(TypeError, match=r"model must.*CVBooster"):
        Beliefs(lightgbm.CVBooster())


@pytest.mark.slow
def test_libraries_are_not_imported_to_recognise_their_models():
    code = "import sys, numpy as np, correspondence as co; P = np.eye(2)[[0, 1, 0]] * 0.8 + 0.1;"
    code += "co.ClassifierCA(lambda X: P[: len(X)]).fit(np.ones((3, 1)));"
    code += "print(sorted({'xgboost', 'lightgbm', 'torch', 'keras'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class NamedNet(torch.nn.Module):
    """A net that answers as models of Hugging Face do."""

    def __init__(self, answer):
        super().__init__()
        self.layer, self.answer = torch.nn.Linear(3, 3), answer
        torch.nn.init.normal_(self.layer.weight, generator=torch.Generator().manual_seed(0))
        self.config = SimpleNamespace(id2label={2: "c", 0: "a", 1: "b"})

    def forward(self, inputs):
        hidden = torch.zeros(len(inputs), 4, 3)
        return self.answer(self.layer(inputs), hidden)


class ModelOutput(OrderedDict):
    logits = property(lambda self: self["logits"])


ANSWERS = {
    "object": lambda logits, hidden: SimpleNamespace(logits=logits, hidden_states=hidden),
    "dictionary": lambda logits, hidden: {"logits": logits, "hidden_states": hidden},
    "ModelOutput": lambda logits, hidden: ModelOutput(loss=None, logits=logits),
    "tuple": lambda logits, hidden: (torch.tensor(0.3), logits, hidden),
    "pair": lambda logits, hidden: (logits, hidden),
}


@pytest.mark.parametrize("n", [2, 90])  # a few inputs are asked among more
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_nets_whose_answers_hold_logits(answer, n):
    net = NamedNet(answer)
    with torch.no_grad():
        expected = softmax(net.layer(torch.from_numpy(X[:n])).numpy(), axis=1)
    beliefs = Beliefs(net)
    assert np.allclose(beliefs(X[:n]), expected, atol=1e-6)
    assert beliefs.name_classes(3).tolist() == ["a", "b", "c"]


def test_logits_by_name_of_a_function_need_no_setting():
    logits = torch.tensor(rng.normal(size=(5, 3)), requires_grad=True)  # a function that has not switched gradients off
    wanted = softmax(logits.detach().numpy(), axis=1)
    for answer in ("object", "dictionary", "ModelOutput"):
        model = lambda X, answer=answer: ANSWERS[answer](logits[: len(X)], None)  # noqa: E731
        assert np.allclose(Beliefs(model)(np.ones((4, 2))), wanted[:4])
    P = [(0.9, 0.1), (0.2, 0.8)]
    assert np.allclose(Beliefs(lambda X: tuple(P))(np.ones((2, 1))), P)  # rows of beliefs are no tuple of outputs


def test_a_tuple_of_arrays_of_different_widths_is_ambiguous():
    features = np.ones((4, 5)) / 5
    with pytest.raises(ValueError, match=r"several arrays.*5 and 3"):
        Beliefs(lambda X: (features[: len(X)], np.ones((len(X), 3)) / 3))(np.ones((4, 2)))


def test_logits_that_are_no_beliefs_are_refused():
    bad = np.array([[0.0, 1.0], [np.nan, 1.0]])
    with pytest.raises(ValueError, match=r"NaN.*row 1"):
        Beliefs(lambda X: {"logits": bad})(np.ones((2, 1)))
    with pytest.raises(ValueError, match=r"outputs must.*logits"):
        Beliefs(lambda X: {"logits": bad}, "probabilities")(np.ones((2, 1)))
    with pytest.raises(ValueError, match=r"model must return.*'logits', got score, loss"):
        Beliefs(lambda X: {"score": bad, "loss": 0})(np.ones((2, 1)))
    with pytest.raises(ValueError, match="two classes"):
        Beliefs(lambda X: {"logits": np.ones((2, 1))})(np.ones((2, 1)))


def test_models_of_keras_are_asked_outside_of_training():
    class Model:
        def predict(self, X):
            raise AssertionError("it draws a progress bar")

        def predict_on_batch(self, X):
            return softmax(X, axis=1)

        def __call__(self, X):
            raise AssertionError("it may be in training mode")

    assert np.allclose(Beliefs(Model())(X), softmax(X, axis=1))
