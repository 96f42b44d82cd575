"""Several classifiers of the same inputs: their classes matched, their beliefs in one space, their disagreement."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.naive_bayes import GaussianNB

import correspondence as co
from correspondence.results.comparison import ClassifierComparison

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
NAMES = np.array(["ant", "bee", "cat"], object)
Y = NAMES[(2 * X @ RNG.normal(size=(3, 3)) + RNG.gumbel(size=(80, 3))).argmax(axis=1)]
LINEAR = LogisticRegression().fit(X, Y)
BAYES = GaussianNB().fit(X, Y)
MODELS = {"linear": LINEAR, "Bayes": BAYES}


class Shuffled:
    """A model with its classes in another order."""

    def __init__(self, model, order):
        self.model, self.order = model, order
        self.classes_ = model.classes_[order]

    def predict_proba(self, inputs):
        return self.model.predict_proba(inputs)[:, self.order]


@pytest.fixture(scope="module")
def comparison():
    return co.compare_classifiers(MODELS, X, Y)


def test_what_is_compared(comparison):
    assert isinstance(comparison, ClassifierComparison)
    assert comparison.names == ["linear", "Bayes"]
    assert comparison.classes.tolist() == NAMES.tolist()
    np.testing.assert_allclose(comparison.beliefs, [LINEAR.predict_proba(X), BAYES.predict_proba(X)], atol=1e-12)
    assert comparison.predictions.tolist() == [LINEAR.predict(X).tolist(), BAYES.predict(X).tolist()]
    for name, model in MODELS.items():
        alone = co.ClassifierCA(model).fit(X)
        np.testing.assert_allclose(comparison.models[name].pics_, alone.pics_, atol=1e-12)
    for name in ("beliefs", "disagreement"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(comparison, name)[0] = 0


def test_classes_in_another_order_are_matched_by_name(comparison):
    other = co.compare_classifiers({"linear": LINEAR, "Bayes": Shuffled(BAYES, [2, 0, 1])}, X, Y)
    np.testing.assert_allclose(other.beliefs, comparison.beliefs, atol=1e-15)
    for name in MODELS:
        assert other.scores[name] == pytest.approx(comparison.scores[name])
    first = co.compare_classifiers({"linear": Shuffled(LINEAR, [1, 2, 0]), "Bayes": BAYES}, X, Y)
    assert first.classes.tolist() == ["bee", "cat", "ant"]
    np.testing.assert_allclose(first.beliefs, comparison.beliefs[:, :, [1, 2, 0]], atol=1e-15)
    np.testing.assert_allclose(first.disagreement, comparison.disagreement, atol=1e-15)
    assert first.predictions.tolist() == comparison.predictions.tolist()
    np.testing.assert_allclose(first.common.transform_y(NAMES), comparison.common.transform_y(NAMES), atol=1e-9)


def test_positions_are_in_the_common_space(comparison):
    P = np.concatenate([LINEAR.predict_proba(X), BAYES.predict_proba(X)])
    common = co.ClassifierCA.from_beliefs(P, NAMES)
    np.testing.assert_allclose(comparison.common.pics_, common.pics_, atol=1e-12)
    for i, name in enumerate(MODELS):
        np.testing.assert_allclose(comparison.positions(name), common.transform(P[80 * i : 80 * i + 80]), atol=1e-9)
        np.testing.assert_allclose(
            comparison.common.beliefs_at(comparison.positions(name)), comparison.beliefs[i], atol=1e-9
        )
    both = np.concatenate([comparison.positions(name) for name in MODELS])
    np.testing.assert_allclose(both.T @ both / len(both), np.eye(2), atol=1e-9)


def test_positions_are_an_array_whatever_scikit_learn_is_set_to(comparison):
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(comparison.positions("linear"), np.ndarray)


def list_events(k):
    return np.array([[bit == "1" for bit in f"{i:0{k}b}"] for i in range(2**k)])


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 4))
def test_disagreement_is_the_mean_total_variation(seed, k, m):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(k, 0.5), (m, 12))
    models = [lambda rows, i=i: P[i][rows] for i in range(m)]
    comparison = co.compare_classifiers(models, np.arange(12))
    expected = np.zeros(12)
    for i in range(m):
        for j in range(i):
            largest = np.abs((P[i] - P[j]) @ list_events(k).T).max(axis=1)  # over all sets of classes
            expected += largest / (m * (m - 1) / 2)
    np.testing.assert_allclose(comparison.disagreement, expected, atol=1e-12)
    order = comparison.most_index(5)
    assert order.tolist() == np.argsort(-expected, kind="stable")[:5].tolist()
    same = [[(P[i].argmax(axis=1) == P[j].argmax(axis=1)).mean() for j in range(m)] for i in range(m)]
    np.testing.assert_allclose(comparison.agreement, same)


def test_disagreement_is_from_0_to_1():
    same = co.compare_classifiers([LINEAR, LINEAR], X)
    np.testing.assert_array_equal(same.disagreement, 0)
    rows = np.arange(4)
    yes, no = np.eye(2)[[0, 0, 1, 1]], np.eye(2)[[1, 0, 0, 1]]
    opposite = co.compare_classifiers([lambda r: yes[r], lambda r: no[r]], rows)
    np.testing.assert_array_equal(opposite.disagreement, [1, 0, 1, 0])
    assert opposite.most_index(3).tolist() == [0, 2, 1]


def test_table_counts_predictions(comparison):
    first, second = LINEAR.predict(X), BAYES.predict(X)
    expected = [[np.sum((first == a) & (second == b)) for b in NAMES] for a in NAMES]
    table = comparison.table()
    assert table.toarray().tolist() == expected
    assert table.toarray().sum() == 80
    assert comparison.table("Bayes", "linear").toarray().tolist() == np.transpose(expected).tolist()
    assert comparison.table("linear", "linear").toarray().tolist() == np.diag(np.sum(expected, axis=1)).tolist()
    assert co.CA().fit(table).rows_.labels.tolist() == NAMES.tolist()


def test_scores(comparison):
    for name, model in MODELS.items():
        P = model.predict_proba(X)
        scores = comparison.scores[name]
        assert list(scores) == ["accuracy", "log_loss", "captured"]
        assert scores["accuracy"] == pytest.approx(accuracy_score(Y, model.predict(X)))
        assert scores["log_loss"] == pytest.approx(log_loss(Y, P, labels=NAMES))
        assert scores["captured"] == pytest.approx(co.ClassifierCA(model).fit(X).score(X, Y))
    assert co.compare_classifiers(MODELS, X).scores == {}


def test_most_as_a_frame(comparison):
    rows = comparison.most_index(4)
    for backend, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        frame = comparison.most(4, backend)
        assert isinstance(frame, kind)
        assert list(frame.columns) == ["index", "disagreement", "linear", "Bayes"]
        assert frame["index"].to_list() == rows.tolist()
        assert frame["linear"].to_list() == LINEAR.predict(X)[rows].tolist()
        assert frame["Bayes"].to_list() == BAYES.predict(X)[rows].tolist()
        np.testing.assert_array_equal(frame["disagreement"].to_numpy(), np.sort(comparison.disagreement)[::-1][:4])
    assert len(comparison.most(1000)) == 80


def test_names_of_a_list():
    assert co.compare_classifiers([LINEAR, BAYES], X).names == ["LogisticRegression", "GaussianNB"]
    assert co.compare_classifiers((LINEAR, BAYES, LINEAR), X).names == [
        "LogisticRegression 1",
        "GaussianNB",
        "LogisticRegression 3",
    ]
    assert co.compare_classifiers({1: LINEAR, 2: BAYES}, X).names == ["1", "2"]


def test_models_of_different_kinds_and_frames():
    W = RNG.normal(size=(3, 3))
    net = torch.nn.Linear(3, 3, bias=False, dtype=torch.float64)
    with torch.no_grad():
        net.weight.copy_(torch.from_numpy(W.T))
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    function = lambda rows: softmax(rows.to_numpy() @ W, axis=1)  # noqa: E731
    comparison = co.compare_classifiers({"net": net, "function": function}, frame, batch_size=33)
    np.testing.assert_allclose(comparison.disagreement, 0, atol=1e-12)
    named = co.compare_classifiers([net, function], frame, classes=["u", "v", "w"])
    assert named.classes.tolist() == ["u", "v", "w"]
    logits = co.compare_classifiers([net, lambda rows: rows.to_numpy() @ W], frame, outputs="logits")
    np.testing.assert_allclose(logits.disagreement, 0, atol=1e-12)


def test_a_class_that_a_model_never_predicts():
    sure = np.array([[0.5, 0.5, 0], [0.2, 0.8, 0]])
    other = np.array([[0.5, 0.2, 0.3], [0.2, 0.6, 0.2]])
    comparison = co.compare_classifiers([lambda r: sure[r], lambda r: other[r]], np.arange(2), [2, 1])
    assert np.isfinite(comparison.common.transform_y([2])).all()
    assert np.isnan(next(iter(comparison.models.values())).transform_y([2])).all()
    assert comparison.scores["function 1"]["accuracy"] == 0.5
    np.testing.assert_allclose(comparison.disagreement, [0.3, 0.2])


def test_text(comparison):
    lines = repr(comparison).splitlines()
    assert lines[0] == "2 classifiers of 80 inputs, 3 classes"
    shown = " ".join(f"{r:.3f}" for r in comparison.models["linear"].correlations_)
    accuracy = comparison.scores["linear"]["accuracy"]
    assert lines[1].startswith(f"  linear: correlations {shown}, accuracy {accuracy:.4f}, log loss ")
    assert lines[3] == (
        f"  linear and Bayes predict the same class for {100 * comparison.agreement[0, 1]:.1f} % of the inputs"
    )
    assert lines[4].endswith(f"largest {comparison.disagreement.max():.4f}")
    assert "accuracy" not in repr(co.compare_classifiers(MODELS, X))


@pytest.mark.parametrize(
    ("models", "message", "kind"),
    [
        ({"one": LINEAR}, "models must", ValueError),
        ([], "models must", ValueError),
        (LINEAR, "models must", TypeError),
        ("models", "models must", TypeError),
        ([LINEAR, 3], "model must", TypeError),
        (
            {"one": LINEAR, "two": LogisticRegression().fit(X, np.where(Y == "cat", "dog", Y))},
            r"models must .* two",
            ValueError,
        ),
        (
            {"one": LINEAR, "two": LogisticRegression().fit(X, Y == "cat")},
            r"models must .* two",
            ValueError,
        ),
        ({"one": LINEAR, "two": LINEAR.predict_proba}, r"models must .* two", ValueError),
    ],
)
def test_bad_models(models, message, kind):
    with pytest.raises(kind, match=message):
        co.compare_classifiers(models, X)


def test_names_that_are_the_same_as_texts():
    with pytest.raises(ValueError, match="models"):
        co.compare_classifiers({1: LINEAR, "1": BAYES}, X)


def test_errors_name_the_argument_y():
    with pytest.raises(ValueError, match="y: 'dog'"):
        co.compare_classifiers(MODELS, X, ["dog"] * 80)


def test_other_bad_arguments(comparison):
    with pytest.raises(ValueError, match=r"^X must"):
        co.compare_classifiers(MODELS, iter([X]))
    with pytest.raises(ValueError, match="X and y must"):
        co.compare_classifiers(MODELS, X, Y[:-1])
    with pytest.raises(ValueError, match="y: 'dog'"):
        co.compare_classifiers(MODELS, X, np.where(Y == "cat", "dog", Y))
    with pytest.raises(ValueError, match="classes has 2"):
        co.compare_classifiers(MODELS, X, classes=["a", "b"])
    with pytest.raises(ValueError, match="outputs must"):
        co.compare_classifiers(MODELS, X, outputs="odds")
    for use in (comparison.positions, comparison.table):
        with pytest.raises(ValueError, match="'forest'"):
            use("forest")
    with pytest.raises(ValueError, match=r"^n must"):
        comparison.most(0)


def test_names_of_columns_are_no_names_of_models():
    with pytest.raises(ValueError, match="models must not"):
        co.compare_classifiers({"index": LINEAR, "b": BAYES}, X)


def test_a_table_of_one_model_and_the_first_other(comparison):
    a, b = comparison.names[:2]
    np.testing.assert_array_equal(comparison.table(b).toarray(), comparison.table(a, b).toarray().T)
