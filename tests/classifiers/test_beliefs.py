"""Beliefs of any kind of model: asked as it wants to be, checked, and in the order in which they came."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import torch
from scipy.special import log_softmax, softmax
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import correspondence as co
from correspondence.classifiers.beliefs import Beliefs, apply_temperature, check_beliefs, is_stream

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
W = RNG.normal(size=(3, 4))
LOGITS = X @ W
P = softmax(LOGITS, axis=1)
Y = np.array(["low", "mid", "top"], object)[np.digitize(X[:, 0], [-0.5, 0.5])]
MODEL = LogisticRegression().fit(X, Y)


def believe(inputs):
    return softmax(np.asarray(inputs) @ W, axis=1)


class Calls:
    """A function that remembers what it was asked."""

    def __init__(self, function=believe):
        self.function, self.asked = function, []

    def __call__(self, inputs):
        self.asked.append(inputs)
        return self.function(inputs)


# --- scikit-learn


def test_a_classifier_of_scikit_learn():
    beliefs = Beliefs(MODEL)
    np.testing.assert_allclose(beliefs(X), MODEL.predict_proba(X), rtol=1e-12)
    assert beliefs.name_classes(3).tolist() == ["low", "mid", "top"]


def test_a_pipeline_names_its_classes():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    cca = co.ClassifierCA(model).fit(X)
    assert cca.classes_.tolist() == ["low", "mid", "top"]
    np.testing.assert_allclose(cca.beliefs(X), model.predict_proba(X), rtol=1e-12)


def test_texts_are_passed_as_they_are():
    texts = ["red red", "red blue", "blue", "green blue", "green", "red green"]
    model = make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts, [0, 0, 1, 1, 2, 2])
    for given in (texts, np.array(texts), pd.Series(texts), pl.Series(texts)):
        np.testing.assert_allclose(Beliefs(model, batch_size=4)(given), model.predict_proba(texts), rtol=1e-12)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_sparse_inputs(kind):
    np.testing.assert_allclose(Beliefs(MODEL, batch_size=7)(kind(X)), MODEL.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_reach_the_model_as_frames(frame):
    inputs = frame({name: X[:, i] for i, name in enumerate("abc")})
    model = LogisticRegression().fit(inputs, Y)  # it warns if it gets anything without names of columns
    ask = Calls(model.predict_proba)
    beliefs = Beliefs(ask, batch_size=25)(inputs)
    np.testing.assert_allclose(beliefs, model.predict_proba(inputs), rtol=1e-12)
    assert [type(batch) for batch in ask.asked] == [frame] * 3
    assert [len(batch) for batch in ask.asked] == [25, 25, 10]
    cca = co.ClassifierCA(model).fit(inputs)
    assert cca.feature_names_in_.tolist() == ["a", "b", "c"]
    assert cca.n_features_in_ == 3


def test_rows_of_a_frame_go_by_position():
    frame = pd.DataFrame(X, columns=list("abc"), index=np.arange(60)[::-1])
    np.testing.assert_array_equal(Beliefs(believe, batch_size=7)(frame), Beliefs(believe)(X))


# --- torch


class Answer(torch.nn.Module):
    """Logits that pass through a function."""

    def __init__(self, last=torch.nn.Identity(), dtype=torch.float64):  # noqa: B008
        super().__init__()
        self.weight = torch.nn.Parameter(torch.from_numpy(W).to(dtype))
        self.last = last

    def forward(self, inputs):
        return self.last((inputs[:, :, None] * self.weight).sum(1))


@pytest.mark.parametrize(
    "last", [torch.nn.Identity(), torch.nn.LogSoftmax(1), torch.nn.Softmax(1)], ids=["logits", "log", "probabilities"]
)
@pytest.mark.parametrize(
    "inputs", [X, torch.from_numpy(X), pd.DataFrame(X), X.tolist()], ids=lambda x: type(x).__name__
)
def test_what_a_module_returns_is_found_out(last, inputs):
    np.testing.assert_allclose(Beliefs(Answer(last), batch_size=16)(inputs), P, atol=1e-12)


def test_what_a_module_returns_can_be_said():
    np.testing.assert_allclose(Beliefs(Answer(), outputs="logits")(X), P, atol=1e-12)
    np.testing.assert_allclose(Beliefs(Answer(torch.nn.Softmax(1)), outputs="probabilities")(X), P, atol=1e-12)
    twice = softmax(P, axis=1)
    np.testing.assert_allclose(Beliefs(Answer(torch.nn.Softmax(1)), outputs="logits")(X), twice, atol=1e-12)
    with pytest.raises(ValueError, match="outputs='logits'"):
        Beliefs(Answer(), outputs="probabilities")(X)


def test_logits_are_found_out_once_for_all_batches():
    """Later logits that happen to look like probabilities are logits still."""
    logits = np.array([[3.0, -1.0], [0.25, 0.75]])
    module = torch.nn.Identity()
    np.testing.assert_allclose(Beliefs(module, batch_size=1)(logits), softmax(logits, axis=1), atol=1e-12)


def test_positive_logits_are_no_probabilities():
    logits = np.array([[0.2, 1.7], [0.5, 0.5]])
    np.testing.assert_allclose(Beliefs(torch.nn.Identity())(logits), softmax(logits, axis=1), atol=1e-12)


def test_numbers_that_may_be_probabilities_of_several_labels_are_refused():
    several = np.array([[0.2, 0.7], [0.5, 0.5]])
    with pytest.raises(ValueError, match="outputs='logits'"):
        Beliefs(torch.nn.Identity())(several)
    np.testing.assert_allclose(Beliefs(torch.nn.Identity(), "logits")(several), softmax(several, axis=1), atol=1e-12)


def test_masked_beliefs_are_refused():
    with pytest.raises(ValueError, match="masked"):
        check_beliefs(np.ma.masked_greater(np.array([[0.2, 0.8], [0.5, 0.5]]), 0.7))


def test_inputs_get_the_precision_of_the_module():
    module = Answer(dtype=torch.float32)
    np.testing.assert_allclose(Beliefs(module)(X), P, atol=1e-6)
    np.testing.assert_allclose(Beliefs(Answer())(X.astype(np.float32)), P, atol=1e-6)


def test_whole_numbers_stay_so_for_a_module():
    module = torch.nn.Sequential(torch.nn.Embedding(5, 3), torch.nn.Flatten())
    codes = np.arange(5)[:, None]
    expected = softmax(module(torch.from_numpy(codes)).detach().numpy().astype(float), axis=1)
    np.testing.assert_allclose(Beliefs(module)(codes), expected, atol=1e-6)


def test_half_precision_of_a_module():
    module = Answer(torch.nn.Softmax(1), torch.float16)
    np.testing.assert_allclose(Beliefs(module)(X), P, atol=5e-3)


@pytest.mark.parametrize("outputs", ["auto", "probabilities"])
def test_bfloat16_of_a_module(outputs):
    wide = torch.from_numpy(np.random.default_rng(0).normal(size=(200, 12)))
    module = torch.nn.Sequential(torch.nn.Softmax(1))
    module.register_parameter("unused", torch.nn.Parameter(torch.zeros(1, dtype=torch.bfloat16)))
    expected = softmax(wide.to(torch.bfloat16).double().numpy(), axis=1)
    np.testing.assert_allclose(Beliefs(module, outputs=outputs)(wide), expected, atol=2e-2)


def list_modes(module):
    return [part.training for part in module.modules()]


def test_modes_of_a_module_are_put_back_and_no_gradients_left():
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Linear(3, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 4)
    )
    module.train()
    module[1].eval()  # a frozen norm in a net that is trained
    before, running = list_modes(module), module[1].running_mean.clone()
    assert before == [True, True, False, True, True]
    first = Beliefs(module)(X)
    np.testing.assert_array_equal(Beliefs(module)(X), first)  # nothing is dropped
    assert list_modes(module) == before
    module[1].train()
    np.testing.assert_array_equal(Beliefs(module)(X), first)  # the norm is that of evaluation
    assert list_modes(module) == [True] * 5
    np.testing.assert_array_equal(module[1].running_mean, running)
    assert all(weight.grad is None for weight in module.parameters())
    module(torch.from_numpy(X).float()).sum().backward()  # it can still be trained
    assert module[0].weight.grad is not None


def test_a_module_is_asked_without_gradients():
    seen = []

    class Watched(Answer):
        def forward(self, inputs):
            seen.append((torch.is_grad_enabled(), self.training))
            return super().forward(inputs)

    module = Watched().train()
    Beliefs(module)(torch.from_numpy(X).requires_grad_())
    assert seen == [(False, False)]
    assert torch.is_grad_enabled()


def test_modes_are_put_back_after_an_error():
    module = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Dropout())
    module.train()
    module[1].eval()
    with pytest.raises(ValueError, match=r"X: .* no answer"):
        Beliefs(module)(X)
    assert list_modes(module) == [True, True, False]


def test_a_module_in_evaluation_stays_there():
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout()).eval()
    Beliefs(module)(X)
    assert list_modes(module) == [False] * 3


def test_a_data_loader():
    data = torch.utils.data.TensorDataset(torch.from_numpy(X), torch.zeros(60))
    loader = torch.utils.data.DataLoader(data, batch_size=13)
    np.testing.assert_allclose(Beliefs(Answer())(loader), P, atol=1e-12)
    cca = co.ClassifierCA(Answer()).fit(loader)
    np.testing.assert_allclose(cca.pics_, co.ClassifierCA(Answer()).fit(X).pics_, atol=1e-12)


# --- functions


@pytest.mark.parametrize(
    ("answer", "atol"),
    [
        (believe, 1e-15),
        (lambda x: believe(x).tolist(), 1e-15),
        (lambda x: pd.DataFrame(believe(x)), 1e-15),
        (lambda x: torch.from_numpy(believe(x)), 1e-15),
        (lambda x: torch.from_numpy(believe(x)).requires_grad_(), 1e-15),
        (lambda x: believe(x).astype(np.float32), 1e-6),
        (lambda x: believe(x).astype(np.float16), 2e-3),
        (lambda x: torch.from_numpy(believe(x)).half(), 2e-3),
        (lambda x: torch.from_numpy(believe(x)).bfloat16(), 1e-2),
    ],
    ids=["array", "list", "frame", "tensor", "with gradients", "single", "half", "half tensor", "bfloat16"],
)
def test_functions_may_return_anything_that_is_a_matrix(answer, atol):
    beliefs = Beliefs(answer, batch_size=25)(X)
    assert beliefs.dtype == np.float64
    np.testing.assert_allclose(beliefs, P, atol=atol)
    np.testing.assert_allclose(beliefs.sum(axis=1), 1, atol=1e-6)


def test_functions_return_probabilities_unless_told():
    np.testing.assert_allclose(Beliefs(lambda x: x @ W, outputs="logits")(X), P, atol=1e-12)
    np.testing.assert_allclose(Beliefs(lambda x: log_softmax(x @ W, axis=1), outputs="logits")(X), P, atol=1e-12)
    with pytest.raises(ValueError, match=r"negative .* outputs='logits'"):
        Beliefs(lambda x: x @ W)(X)


def test_logits_may_be_large_or_minus_infinity():
    logits = np.array([[1000.0, 0.0], [-np.inf, 3.0], [-1e4, -1e4]])
    beliefs = Beliefs(lambda x: logits, outputs="logits")(X[:3])
    np.testing.assert_array_equal(beliefs, [[1, 0], [0, 1], [0.5, 0.5]])


@pytest.mark.parametrize("size", [1, 7, 59, 60, 1000])
def test_batches(size):
    ask = Calls()
    np.testing.assert_allclose(Beliefs(ask, batch_size=size)(X), P, rtol=1e-12)
    assert [len(batch) for batch in ask.asked] == [min(size, 60 - start) for start in range(0, 60, size)]
    np.testing.assert_array_equal(np.concatenate(ask.asked), X)


def test_beliefs_themselves_are_taken_at_once():
    assert [len(batch) for batch in Beliefs(batch_size=7).iterate_batches(P)] == [60]
    np.testing.assert_allclose(Beliefs()(P.tolist()), P, rtol=1e-14)
    np.testing.assert_allclose(Beliefs()(pl.DataFrame(P)), P, rtol=1e-14)


# --- sessions of onnxruntime


class Entry:
    name = "input"

    def __init__(self, kind):
        self.type = kind


class Session:
    """What onnxruntime's sessions look like from outside."""

    def __init__(self, answer, kind="tensor(float)"):
        self.answer, self.kind, self.fed = answer, kind, []

    def get_inputs(self):
        return [Entry(self.kind), Entry("tensor(bool)")]

    def run(self, names, feed):
        assert names is None
        assert list(feed) == ["input"]
        self.fed.append(feed["input"])
        return self.answer(feed["input"])


def zip_beliefs(x):
    return [np.zeros(len(x)), [dict(zip("pqrs", row, strict=True)) for row in believe(x)]]


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: [believe(x)],
        lambda x: [np.zeros(len(x), np.int64), believe(x)],
        lambda x: [believe(x), np.zeros((len(x), 1))],
        zip_beliefs,
    ],
    ids=["array", "labels first", "labels last", "dictionaries"],
)
def test_sessions(answer):
    session = Session(answer)
    np.testing.assert_allclose(Beliefs(session, batch_size=32)(X), P, atol=1e-6)
    assert [array.shape for array in session.fed] == [(32, 3), (28, 3)]
    assert {array.dtype for array in session.fed} == {np.dtype(np.float32)}


def test_a_session_of_doubles_gets_doubles():
    session = Session(lambda x: [believe(x)], "tensor(double)")
    np.testing.assert_allclose(Beliefs(session)(X), P, atol=1e-12)
    assert session.fed[0].dtype == np.float64


def test_a_session_of_whole_numbers_gets_them():
    session = Session(lambda x: [believe(x)], "tensor(int64)")
    Beliefs(session)(np.arange(12).reshape(4, 3))
    assert session.fed[0].dtype == np.int64


def test_a_session_without_beliefs():
    with pytest.raises(ValueError, match="session's outputs"):
        Beliefs(Session(lambda x: [np.zeros(len(x)), np.zeros((len(x), 1))]))(X)


# --- streams and files


@pytest.mark.parametrize(
    "wrap", [lambda x: x, lambda x: (x, 0), lambda x: [x, 0]], ids=["arrays", "tuples", "lists as of a loader"]
)
def test_streams(wrap):
    ask = Calls()
    np.testing.assert_allclose(Beliefs(ask)(wrap(X[i : i + 11]) for i in range(0, 60, 11)), P, rtol=1e-12)
    assert len(ask.asked) == 6
    np.testing.assert_allclose(Beliefs()(wrap(P[i : i + 11]) for i in range(0, 60, 11)), P, rtol=1e-12)


def test_what_is_a_stream():
    assert is_stream(iter([X]))
    assert is_stream(torch.utils.data.DataLoader([1, 2]))
    assert not any(
        map(is_stream, [X, X.tolist(), pd.DataFrame(X), pl.DataFrame(X), torch.from_numpy(X), sp.csr_array(X)])
    )


@pytest.mark.parametrize("mode", ["r", "c", "r+"])
def test_files_are_read_row_by_row_and_not_changed(tmp_path, mode):
    np.save(tmp_path / "P.npy", P)
    np.save(tmp_path / "X.npy", X)
    stored = np.load(tmp_path / "P.npy", mmap_mode=mode)
    beliefs = Beliefs()(stored)
    np.testing.assert_allclose(beliefs, P, rtol=1e-14)
    np.testing.assert_array_equal(stored, P)
    inputs = np.load(tmp_path / "X.npy", mmap_mode=mode)
    np.testing.assert_allclose(Beliefs(believe, batch_size=9)(inputs), P, rtol=1e-14)
    np.testing.assert_array_equal(inputs, X)
    with_file = co.ClassifierCA.from_beliefs(np.load(tmp_path / "P.npy", mmap_mode=mode))
    np.testing.assert_array_equal(with_file.pics_, co.ClassifierCA.from_beliefs(P).pics_)


def test_changes_of_a_copy_on_write_array_are_kept(tmp_path):
    np.save(tmp_path / "P.npy", P)
    stored = np.load(tmp_path / "P.npy", mmap_mode="c")
    stored[:] = P[::-1]
    for _ in range(2):
        np.testing.assert_allclose(Beliefs()(stored), P[::-1], rtol=1e-14)


def test_a_large_file_is_taken_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("correspondence.classifiers.beliefs.MAX_BELIEFS_COPIED", 40)
    np.save(tmp_path / "P.npy", P)
    stored = np.load(tmp_path / "P.npy", mmap_mode="r")
    assert [len(batch) for batch in Beliefs().iterate_batches(stored)] == [10] * 6
    np.testing.assert_allclose(Beliefs()(stored[5:]), P[5:], rtol=1e-14)


# --- temperature


def test_temperature_divides_logarithms():
    np.testing.assert_allclose(apply_temperature(P, 2.5), softmax(LOGITS / 2.5, axis=1), rtol=1e-12)
    np.testing.assert_allclose(Beliefs(believe, temperature=0.5)(X), softmax(2 * LOGITS, axis=1), rtol=1e-12)
    np.testing.assert_allclose(
        Beliefs(MODEL, temperature=3)(X)[:, 0], apply_temperature(MODEL.predict_proba(X), 3)[:, 0]
    )
    np.testing.assert_allclose(Beliefs(temperature=4)(P), softmax(LOGITS / 4, axis=1), rtol=1e-12)


def test_temperature_keeps_what_is_impossible():
    sure = np.array([[1.0, 0, 0], [0, 0.9, 0.1]])
    hot = apply_temperature(sure, 2)
    np.testing.assert_array_equal(hot == 0, sure == 0)
    np.testing.assert_allclose(hot[1], [0, 0.75, 0.25])
    assert apply_temperature(P.astype(np.float32), 2.0).dtype == np.float32


# --- checks


def test_rows_are_made_to_sum_to_one():
    rough = P * np.linspace(0.9995, 1.0005, 60)[:, None]
    checked = check_beliefs(rough)
    np.testing.assert_allclose(checked, P, rtol=1e-12)
    np.testing.assert_allclose(checked.sum(axis=1), 1, rtol=1e-15)
    narrow, wide = P.astype(np.float32), np.full((3, 200), 1 / 200, np.float32)
    np.testing.assert_allclose(check_beliefs(narrow).sum(axis=1), 1, rtol=1e-15)
    assert check_beliefs(wide).dtype == np.float32
    assert Beliefs()(wide).dtype == np.float64
    np.testing.assert_array_equal(check_beliefs(np.eye(3, dtype=int)), np.eye(3))
    np.testing.assert_array_equal(check_beliefs([[True, False]]), [[1, 0]])


def test_negative_rounding_is_cut_off():
    checked = check_beliefs([[-1e-7, 0.5, 0.5 + 1e-7]])
    assert checked[0, 0] == 0
    np.testing.assert_allclose(checked.sum(), 1, rtol=1e-15)


def test_half_precision_may_be_further_off():
    third = np.full((1, 3), 0.3355)
    np.testing.assert_allclose(check_beliefs(third.astype(np.float16)), 1 / 3, rtol=1e-6)
    with pytest.raises(ValueError, match=r"row 0 sum to 1.0065"):
        check_beliefs(third)


def test_checking_leaves_the_array_alone():
    given = np.array([[-1e-8, 0.6, 0.4], [0.2, 0.3, 0.5001]])
    kept = given.copy()
    check_beliefs(given)
    np.testing.assert_array_equal(given, kept)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[0.5, np.nan], [0.5, 0.5]], r"NaN .* row 0"),
        ([[0.5, 0.5], [np.inf, 0]], r"NaN .* row 1"),
        ([[0.5, 0.5], [1.1, -0.1]], "negative numbers"),
        ([[0.5, 0.5], [0.5, 0.4]], r"beliefs must sum .* row 1"),
        (
            [[0.5, 0.5], [2.0, 3.0]],
            r"beliefs must sum .* row 1",
        ),
        ([[0.3], [0.7]], "beliefs must have"),
        ([0.3, 0.7], "beliefs must have"),
        ([[[0.3, 0.7]]], r"got shape \(1, 1, 2\)"),
        (
            [["a", "b"]],
            "beliefs must be an array",
        ),
        ([[0.5, 0.5], [1.0]], "beliefs must be an array"),
        ([[0.5, 0.5j]], "beliefs must be an array"),
        (None, "beliefs must be an array"),
    ],
)
def test_beliefs_that_are_none(values, message):
    with pytest.raises(ValueError, match=message):
        check_beliefs(values)


def test_as_many_beliefs_as_inputs():
    with pytest.raises(ValueError, match=r"59 rows .* 60 inputs"):
        Beliefs(lambda x: P[:-1])(X)
    with pytest.raises(ValueError, match=r"returned 4 classes .* 3 now"):
        Beliefs(lambda x: believe(x) if len(x) == 40 else MODEL.predict_proba(x), batch_size=40)(X)


@pytest.mark.parametrize("values", [np.inf, -np.inf])
def test_infinite_beliefs_are_an_error_and_no_warning(values):
    with pytest.raises(ValueError, match="NaN"):
        check_beliefs([[values, 1.0], [0.5, 0.5]])


@pytest.mark.parametrize("outputs", ["logits", "probabilities"])
def test_infinities_that_cancel_are_an_error_and_no_warning(outputs):
    with pytest.raises(ValueError, match="NaN"):
        Beliefs(lambda x: np.array([[np.inf, -np.inf], [0.5, 0.5]]), outputs)(X[:2])


@pytest.mark.parametrize("empty", [np.empty((0, 4)), [], iter([])], ids=["array", "list", "stream"])
def test_no_inputs(empty):
    with pytest.raises(ValueError, match="X is empty"):
        Beliefs(believe)(empty)


# --- arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"outputs": "odds"}, "outputs must"),
        ({"temperature": 0}, "temperature must"),
        ({"temperature": -1.5}, "temperature must"),
        ({"temperature": np.nan}, "temperature must"),
        ({"temperature": "hot"}, "temperature must"),
        ({"temperature": True}, "temperature must"),
        ({"batch_size": 0}, "batch_size must"),
        ({"batch_size": 2.5}, "batch_size must"),
        ({"classes": ["a", "b", "a"]}, "classes must"),
        ({"classes": ["a", None]}, "classes has 1"),
        ({"classes": "ab"}, "classes must"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        Beliefs(**arguments)
    with pytest.raises(ValueError, match=message):
        co.ClassifierCA(**arguments).fit(P)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            LinearSVC(),
            r"model must .* LinearSVC",
        ),
        (SVC(), r"model must .* SVC"),
        (
            LogisticRegression,
            "model must",
        ),
        (torch.nn.Linear, "model must"),
        (3, "model must"),
        ("model", "model must"),
    ],
)
def test_bad_models(model, message):
    with pytest.raises(TypeError, match=message):
        Beliefs(model)


def test_the_number_of_names():
    with pytest.raises(ValueError, match="classes has 3"):
        co.ClassifierCA(believe, classes=list("abc")).fit(X)
    assert Beliefs(believe).name_classes(4).tolist() == [0, 1, 2, 3]
    assert Beliefs(MODEL, classes=[7, 8, 9]).name_classes(3).tolist() == [7, 8, 9]


def test_a_model_of_several_targets_is_refused():
    model = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, np.column_stack([Y == "low", Y == "top"]))
    with pytest.raises(ValueError, match="classes"):
        co.ClassifierCA(model).fit(X)


# --- state


def test_state_and_back():
    beliefs = Beliefs(believe, "probabilities", 2.0, 5, ["a", "b", "c", "d"])
    description, arrays = beliefs.state()
    again = Beliefs.from_state(json.loads(json.dumps(description)), arrays, believe)
    np.testing.assert_array_equal(again(X), beliefs(X))
    assert again.name_classes(4).tolist() == ["a", "b", "c", "d"]
    assert (again.outputs, again.temperature, again.batch_size) == ("probabilities", 2.0, 5)
    with pytest.raises(ValueError, match="x_net=model"):
        Beliefs.from_state(description, arrays)
    assert repr(beliefs) == "Beliefs(function)"
    assert repr(Beliefs()) == "Beliefs()"


def test_state_of_beliefs_without_a_model():
    description, arrays = Beliefs(classes=[3, 1, 2, 0]).state()
    again = Beliefs.from_state(json.loads(json.dumps(description)), arrays)
    assert again.name_classes(4).tolist() == [3, 1, 2, 0]
    np.testing.assert_array_equal(again(P), Beliefs()(P))


def test_a_temperature_of_single_precision_can_be_saved(tmp_path):
    co.ClassifierCA(MODEL, temperature=np.float32(2)).fit(X).decomposition_.save(tmp_path / "model")
    assert (tmp_path / "model").is_file()


def test_the_models_own_names_in_another_order_do_not_rename_its_columns():
    own = MODEL.classes_.tolist()
    assert Beliefs(MODEL, classes=own[::-1]).name_classes(len(own)).tolist() == own
    other = [f"{name}!" for name in own]
    assert Beliefs(MODEL, classes=other).name_classes(len(own)).tolist() == other


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_one_column_is_the_second_of_two_classes_if_one_says_what_it_is(shape):
    logit = np.array([-2.0, 0.0, 3.0])
    p = 1 / (1 + np.exp(-logit))
    expected = np.column_stack([1 - p, p])
    for outputs, column in (("logits", logit), ("probabilities", p)):
        asked = Beliefs(lambda rows, column=column: column.reshape(shape), outputs)
        np.testing.assert_allclose(asked(np.arange(3)), expected, atol=1e-12)
    with pytest.raises(ValueError, match="outputs='logits'"):
        Beliefs(lambda rows: p.reshape(shape))(np.arange(3))


def test_a_regressor_is_no_classifier():
    from sklearn.linear_model import LinearRegression

    with pytest.raises(TypeError, match="model must"):
        Beliefs(LinearRegression())


def test_predictions_are_no_beliefs():
    with pytest.raises(ValueError, match="predict_proba"):
        Beliefs(MODEL.predict)(X)


def test_labels_may_be_tensors():
    whole = co.ClassifierCA(believe).fit(X)
    codes = np.random.default_rng(0).integers(0, 4, len(X))
    assert whole.evaluate(X, torch.from_numpy(codes)).captured == whole.evaluate(X, codes).captured
    one, two = torch.tensor([1, 2])
    np.testing.assert_array_equal(whole.boundary(one, two), whole.boundary(1, 2))


def test_a_model_for_which_memory_is_short_is_not_called_unable():
    def greedy(X):
        raise MemoryError("Unable to allocate 1 TiB")

    with pytest.raises(MemoryError, match="1 TiB"):
        co.ClassifierCA(greedy).fit(np.eye(3))
