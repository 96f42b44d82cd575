"""Correspondence analysis of beliefs: the identities that hold exactly, and everything that is read from them."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import correspondence as co

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4))
W = RNG.normal(size=(4, 3))
NAMES = np.array(["ant", "bee", "cat"], object)
Y = NAMES[(X @ W + RNG.gumbel(size=(90, 3))).argmax(axis=1)]
MODEL = LogisticRegression().fit(X, Y)
EXAMPLES = settings(max_examples=80)


@st.composite
def draw_beliefs(draw, max_classes=8, max_rows=60, min_rows=2):
    """Beliefs in which every class occurs: with zeros, almost sure, spread out, and with repeated rows."""
    k, n = draw(st.integers(2, max_classes)), draw(st.integers(min_rows, max_rows))
    if draw(st.booleans()):
        weights = draw(arrays(np.int64, (n, k), elements=st.integers(0, 9))).astype(float)
    else:
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        weights = rng.dirichlet(np.full(k, draw(st.sampled_from([0.1, 0.5, 1, 5]))), n)
        weights *= rng.random((n, k)) > draw(st.sampled_from([0, 0.5]))
        weights = weights[rng.integers(0, n, n)] if draw(st.booleans()) else weights
    weights[weights.sum(axis=1) == 0, 0] = 1
    weights[0, weights.sum(axis=0) == 0] = 1
    return weights / weights.sum(axis=1, keepdims=True)


def fit_beliefs(P, classes=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.FewerComponents)
        return co.ClassifierCA.from_beliefs(P, classes, **parameters)


def get_g_values(cca):
    return cca.transform_y(cca.classes_)


def are_well_separated(pics):
    """Components that are far from each other and from nothing: their functions are determined up to a sign."""
    return len(pics) > 0 and pics[-1] > 1e-4 and (len(pics) == 1 or -np.diff(pics).max() > 1e-3)


# --- identities


@EXAMPLES
@given(draw_beliefs())
def test_beliefs_are_reconstituted(P):
    """Erratum 5 of the notes: P = F diag(sqrt(lambda)) G^T diag(p), constants included."""
    cca = fit_beliefs(P)
    F, G = cca.transform(P), get_g_values(cca)
    np.testing.assert_allclose(cca.prior_, P.mean(axis=0), atol=1e-14)
    with_constants = np.column_stack([np.ones(len(F)), F]) * np.sqrt([1, *cca.pics_])
    product = with_constants @ np.column_stack([np.ones(len(G)), G]).T * P.mean(axis=0)
    np.testing.assert_allclose(product, P, atol=1e-10)
    np.testing.assert_allclose(cca.beliefs_at(F), P, atol=1e-10)
    np.testing.assert_allclose(
        cca.decomposition_.density_ratio(P, cca.classes_, pairwise=True) * cca.prior_, P, atol=1e-10
    )


@EXAMPLES
@given(draw_beliefs())
def test_locate_is_the_inverse(P):
    cca = fit_beliefs(P)
    np.testing.assert_array_equal(cca.locate(P), cca.transform(P))
    if are_well_separated(cca.pics_):
        middle = cca.locate(P).mean(axis=0, keepdims=True) / 2 + cca.locate(P) / 2
        np.testing.assert_allclose(cca.locate(cca.beliefs_at(middle)), middle, atol=1e-9)


@EXAMPLES
@given(draw_beliefs())
def test_functions_are_orthonormal_in_the_belief_channel(P):
    cca = fit_beliefs(P)
    sure = cca.pics_ > 1e-6  # f of smaller ones has the rounding of the beliefs, divided by their root
    s = cca.correlations_[sure]
    F, G, p = cca.transform(P)[:, sure], get_g_values(cca), cca.prior_
    np.testing.assert_allclose(F.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(F.T @ F / len(F), np.eye(len(s)), atol=1e-8)
    np.testing.assert_allclose(p @ G, 0, atol=1e-9)
    np.testing.assert_allclose((G.T * p) @ G, np.eye(len(cca.pics_)), atol=1e-9)
    joint = P / len(P)
    np.testing.assert_allclose(F.T @ joint @ G[:, sure], np.diag(s), atol=1e-9)


@EXAMPLES
@given(draw_beliefs())
def test_the_table_of_beliefs_has_the_same_components(P):
    cca, ca = fit_beliefs(P), co.CA().fit(P / len(P))
    d = max(len(cca.pics_), len(ca.pics_))
    ours, theirs = (np.pad(pics, (0, d - len(pics))) for pics in (cca.pics_, ca.pics_))
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    np.testing.assert_allclose(cca.decomposition_.chi2, ca.decomposition_.chi2, atol=1e-12)
    if are_well_separated(cca.pics_):
        m = len(cca.pics_)
        same = np.sign((ca.columns_.standard[:, :m] * get_g_values(cca) * cca.prior_[:, None]).sum(axis=0))
        np.testing.assert_allclose(ca.columns_.standard[:, :m] * same, get_g_values(cca), atol=1e-7)
        np.testing.assert_allclose(ca.rows_.standard[:, :m] * same, cca.transform(P), atol=1e-7)


@EXAMPLES
@given(draw_beliefs())
def test_components_are_few_and_between_0_and_1(P):
    pics = fit_beliefs(P).pics_
    assert len(pics) <= min(P.shape[1], len(P), len(np.unique(P, axis=0))) - 1
    assert ((pics > 0) & (pics <= 1)).all()
    assert (np.diff(pics) <= 0).all()
    p = P.mean(axis=0)
    np.testing.assert_allclose(pics.sum(), (P**2 / p).sum() / len(P) - 1, atol=1e-12)


@EXAMPLES
@given(draw_beliefs(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(P, random):
    order = list(range(len(P)))
    random.shuffle(order)
    one, other = fit_beliefs(P), fit_beliefs(P[order])
    np.testing.assert_allclose(one.prior_, other.prior_, atol=1e-14)
    np.testing.assert_allclose(one.overlap_, other.overlap_, atol=1e-12)
    if len(one.pics_) == len(other.pics_) and are_well_separated(one.pics_):
        np.testing.assert_allclose(get_g_values(one), get_g_values(other), atol=1e-7)
    np.testing.assert_allclose(one.pics_.sum(), other.pics_.sum(), atol=1e-12)


@EXAMPLES
@given(draw_beliefs(), st.randoms(use_true_random=False))
def test_permuted_classes_are_permuted_and_nothing_else(P, random):
    order = list(range(P.shape[1]))
    random.shuffle(order)
    names = np.array(list("abcdefgh")[: P.shape[1]], object)
    one, other = fit_beliefs(P, names), fit_beliefs(P[:, order], names[order])
    np.testing.assert_allclose(one.prior_[order], other.prior_, atol=1e-14)
    np.testing.assert_allclose(one.overlap_[np.ix_(order, order)], other.overlap_, atol=1e-12)
    if are_well_separated(one.pics_):
        np.testing.assert_allclose(one.pics_, other.pics_, atol=1e-12)
        np.testing.assert_allclose(one.transform_y(names), other.transform_y(names), atol=1e-7)
        np.testing.assert_allclose(one.transform(P), other.transform(P[:, order]), atol=1e-7)


@pytest.mark.parametrize("names", [["a", "b", "c"], [0, 1, 2]])
def test_tied_classes_decide_the_sign_by_name(names):
    """As far from the middle as each other: of two such classes the first by name is on the positive side."""
    P = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.2, 0.2, 0.6]])
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        cca = fit_beliefs(P[:, order], [names[i] for i in order])
        g = cca.transform_y(names)
        assert g[0, 0] == pytest.approx(-g[1, 0])
        assert g[2, 0] == pytest.approx(0, abs=1e-9)
        assert g[0, 0] > 0
        assert g[2, 1] > 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::correspondence.FewerComponents")
@EXAMPLES
@given(draw_beliefs(), st.sampled_from([1, 7, 60]))
def test_batches_do_not_matter(P, size):
    whole = co.ClassifierCA(lambda rows: rows).fit(P)
    parts = co.ClassifierCA(lambda rows: rows, batch_size=size).fit(P)
    stream = co.ClassifierCA().fit(P[i : i + size] for i in range(0, len(P), size))
    for other in (parts, stream):
        np.testing.assert_allclose(other.prior_, whole.prior_, atol=1e-14)
        np.testing.assert_allclose(other.pics_.sum(), whole.pics_.sum(), atol=1e-12)
        np.testing.assert_allclose(other.overlap_, whole.overlap_, atol=1e-12)
        if are_well_separated(whole.pics_):
            np.testing.assert_allclose(other.transform(P), whole.transform(P), atol=1e-7)
            np.testing.assert_allclose(other.pics_, whole.pics_, atol=1e-12)
    assert parts.decomposition_.n == stream.decomposition_.n == len(P)


@pytest.mark.filterwarnings("ignore::correspondence.FewerComponents")
@EXAMPLES
@given(draw_beliefs(max_rows=20), st.randoms(use_true_random=False))
def test_weights_are_repetitions(P, random):
    weights = np.array([random.randint(1, 4) for _ in P])
    weighted, repeated = co.ClassifierCA().fit(P, sample_weight=weights), fit_beliefs(np.repeat(P, weights, axis=0))
    np.testing.assert_allclose(weighted.prior_, repeated.prior_, atol=1e-14)
    np.testing.assert_allclose(weighted.overlap_, repeated.overlap_, atol=1e-12)
    np.testing.assert_allclose(weighted.pics_.sum(), repeated.pics_.sum(), atol=1e-12)
    assert weighted.decomposition_.n == weights.sum()
    if are_well_separated(weighted.pics_):
        np.testing.assert_allclose(weighted.transform(P), repeated.transform(P), atol=1e-7)


def test_weights_in_batches_and_weights_of_0():
    weights = RNG.integers(0, 3, 90)
    batched = co.ClassifierCA(MODEL, batch_size=7).fit(X, sample_weight=weights)
    plain = co.ClassifierCA(MODEL).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(batched.transform(X), plain.transform(X), atol=1e-9)
    both = co.ClassifierCA(MODEL).fit(X, Y, sample_weight=weights)
    again = plain.evaluate(np.repeat(X, weights, axis=0), np.repeat(Y, weights))
    assert both.held_out_.captured == pytest.approx(again.captured, abs=1e-12)


@EXAMPLES
@given(draw_beliefs())
def test_merging_classes_never_raises_the_dependence(P):
    merged = np.column_stack([P[:, 0] + P[:, 1], P[:, 2:], np.zeros(len(P)) if P.shape[1] == 2 else P[:, :0]])
    with warnings.catch_warnings(action="ignore"):
        one, other = fit_beliefs(P), fit_beliefs(merged)
    assert other.decomposition_.chi2 <= one.decomposition_.chi2 + 1e-12
    pairs = min(len(one.pics_), len(other.pics_))
    assert (other.pics_[:pairs] <= one.pics_[:pairs] + 1e-12).all()


@EXAMPLES
@given(draw_beliefs())
def test_overlap_is_the_cosine_of_columns(P):
    norms = np.linalg.norm(P, axis=0)
    np.testing.assert_allclose(fit_beliefs(P).overlap_, P.T @ P / np.outer(norms, norms), atol=1e-12)


def test_fewer_components_are_the_first():
    P = RNG.dirichlet(np.ones(5), 40)
    whole, part = fit_beliefs(P), fit_beliefs(P, n_components=2)
    np.testing.assert_array_equal(part.pics_, whole.pics_[:2])
    np.testing.assert_array_equal(part.transform(P), whole.transform(P)[:, :2])
    np.testing.assert_array_equal(get_g_values(part), get_g_values(whole)[:, :2])
    assert part.decomposition_.chi2 == pytest.approx(whole.pics_.sum())
    assert part.get_feature_names_out().tolist() == ["f1", "f2"]
    expected = whole.prior_ * (1 + whole.transform(P)[:, :2] * whole.correlations_[:2] @ get_g_values(whole)[:, :2].T)
    np.testing.assert_allclose(part.beliefs_at(part.transform(P)), expected, atol=1e-12)


def test_more_components_than_there_are():
    with pytest.warns(co.FewerComponents, match="n_components = 5"):
        cca = co.ClassifierCA(MODEL, 5).fit(X)
    assert len(cca.pics_) == 2


def test_the_same_beliefs_everywhere_have_no_components():
    with pytest.warns(co.FewerComponents, match="same beliefs"):
        cca = co.ClassifierCA.from_beliefs([[0.3, 0.7]] * 5, ["no", "yes"])
    assert cca.transform([[0.1, 0.9]]).shape == (1, 0)
    assert cca.decomposition_.chi2 == 0
    np.testing.assert_allclose(cca.beliefs_at(np.empty((2, 0))), [[0.3, 0.7]] * 2)
    assert cca.boundary("no", "yes", 4).shape == (4, 0)
    assert cca.evaluate([[0.3, 0.7]] * 4, ["no", "yes", "yes", "no"]).captured == 0
    assert "2 classes, beliefs of 5 inputs" in cca.write_summary()


def test_one_hot_beliefs_have_all_components_1():
    cca = fit_beliefs(np.eye(4)[[0, 1, 2, 3, 3, 1]])
    np.testing.assert_allclose(cca.pics_, 1)
    np.testing.assert_allclose(cca.overlap_, np.eye(4), atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(3000, 120), (1500, 100)])
def test_single_precision_of_many_classes(shape):
    P = np.random.default_rng(1).dirichlet(np.full(shape[1], 0.3), shape[0])
    double, single = fit_beliefs(P), fit_beliefs(P.astype(np.float32))
    np.testing.assert_allclose(single.pics_, double.pics_, atol=2e-6)
    np.testing.assert_allclose(single.prior_, double.prior_, atol=1e-7)
    np.testing.assert_allclose(single.overlap_, double.overlap_, atol=2e-6)
    np.testing.assert_allclose(single.beliefs_at(single.transform(P)), P, atol=1e-4)
    G = get_g_values(single)
    np.testing.assert_allclose((G.T * single.prior_) @ G, np.eye(shape[1] - 1), atol=1e-5)


@pytest.mark.slow
def test_rounding_makes_no_components():
    """Of beliefs of rank 3, whatever the precision and the number of classes."""
    rng = np.random.default_rng(2)
    for k in (8, 60, 150):
        P = rng.dirichlet(np.ones(4), 400) @ rng.dirichlet(np.full(k, 0.3), 4)
        assert len(fit_beliefs(P).pics_) == len(fit_beliefs(P.astype(np.float32)).pics_) == 3


# --- models


def test_a_model_is_asked_for_beliefs_once_by_fit():
    asked = []

    def model(rows):
        asked.append(len(rows))
        return MODEL.predict_proba(rows)

    cca = co.ClassifierCA(model, batch_size=40).fit(X, np.zeros(90, int))
    assert asked == [40, 40, 10]
    assert cca.classes_.tolist() == [0, 1, 2]


def test_the_same_result_by_model_beliefs_and_on_beliefs():
    P = MODEL.predict_proba(X)
    cca, of_beliefs = co.ClassifierCA(MODEL).fit(X, Y), fit_beliefs(P, NAMES)
    again = cca.on_beliefs()
    for other in (of_beliefs, again):
        np.testing.assert_allclose(other.transform(P), cca.transform(X), atol=1e-12)
        np.testing.assert_allclose(other.beliefs(P), cca.beliefs(X), atol=1e-12)
        assert other.predict(P).tolist() == cca.predict(X).tolist() == MODEL.predict(X).tolist()
        assert other.classes_.tolist() == NAMES.tolist()
        assert other.score(P, Y) == pytest.approx(cca.score(X, Y))
        np.testing.assert_allclose(other.boundary("ant", "cat"), cca.boundary("ant", "cat"), atol=1e-12)
        np.testing.assert_allclose(other.overlap_, cca.overlap_, atol=1e-12)
        assert other.confusing(P).index.tolist() == cca.confusing(X).index.tolist()
    assert again.held_out_ is cca.held_out_
    assert cca.model is MODEL


def test_on_beliefs_does_not_temper_twice():
    cca = co.ClassifierCA(MODEL, temperature=3.0).fit(X)
    P = cca.beliefs(X)
    np.testing.assert_allclose(P, softmax(np.log(MODEL.predict_proba(X)) / 3, axis=1), atol=1e-12)
    np.testing.assert_allclose(cca.on_beliefs().transform(P), cca.transform(X), atol=1e-12)
    np.testing.assert_allclose(cca.locate(P), cca.transform(X), atol=1e-12)


def test_on_beliefs_takes_as_many_columns_as_classes():
    assert co.ClassifierCA(MODEL).fit(X).on_beliefs().n_features_in_ == 3


def test_clones_keep_the_fitted_model():
    cca = co.ClassifierCA(MODEL, 1, classes=NAMES, temperature=2.0, batch_size=9, progress=False).fit(X)
    copied = clone(cca.set_output(transform="pandas"))
    assert copied.model is MODEL
    assert not hasattr(copied, "decomposition_")
    names = ("n_components", "classes", "outputs", "temperature", "batch_size", "progress")
    assert all(getattr(copied, name) is getattr(cca, name) for name in names)
    assert isinstance(copied.fit(X).transform(X), pd.DataFrame)
    assert clone(co.ClassifierCA(torch.nn.Linear(4, 3))).model is not None
    scores = cross_val_score(co.ClassifierCA(MODEL), X, Y, cv=3)
    assert scores.shape == (3,)
    assert (scores > 0).all()


def test_copies_and_pickles():
    cca = co.ClassifierCA(MODEL).fit(X, Y)
    for other in (copy.deepcopy(cca), pickle.loads(pickle.dumps(cca))):
        np.testing.assert_array_equal(other.transform(X), cca.transform(X))
        np.testing.assert_array_equal(other.boundary("ant", "bee"), cca.boundary("ant", "bee"))


def test_frames_out():
    cca = co.ClassifierCA(MODEL).fit(X).set_output(transform="polars")
    assert cca.transform(X).columns == ["f1", "f2"]
    f, g = cca.transform(X, Y)
    assert isinstance(f, pl.DataFrame)
    assert isinstance(g, pl.DataFrame)
    np.testing.assert_allclose(cca.beliefs_at(cca.transform(X)), MODEL.predict_proba(X), atol=1e-10)
    with sklearn.config_context(transform_output="pandas"):
        assert co.ClassifierCA(MODEL).fit(X, Y).transform_y(Y).columns.tolist() == ["g1", "g2"]


def test_a_pipeline_on_the_factoring_space():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    model = make_pipeline(co.ClassifierCA(pipeline), LogisticRegression()).fit(X, Y)
    assert model.score(X, Y) > 0.6


# --- files


@pytest.mark.parametrize("classes", [None, ["x", "y", "z"], [3, 1, 2]], ids=["own", "texts", "numbers"])
def test_save_and_load(tmp_path, classes):
    cca = co.ClassifierCA(MODEL, classes=classes, temperature=1.5, batch_size=11).fit(X)
    d = cca.decomposition_
    d.save(tmp_path / "model")
    again = co.load(tmp_path / "model", x_net=MODEL)
    np.testing.assert_array_equal(again.f(X), d.f(X))
    np.testing.assert_array_equal(again.g(cca.classes_), d.g(cca.classes_))
    np.testing.assert_array_equal(again.pics, d.pics)
    assert (again.chi2, again.n) == (d.chi2, 90)
    assert again.g.labels.tolist() == cca.classes_.tolist()
    with pytest.raises(ValueError, match="x_net=model"):
        co.load(tmp_path / "model")


def test_save_and_load_of_beliefs_and_of_a_net(tmp_path):
    P = MODEL.predict_proba(X)
    d = fit_beliefs(P, NAMES).decomposition_
    d.save(tmp_path / "beliefs")
    np.testing.assert_array_equal(co.load(tmp_path / "beliefs").f(P), d.f(P))
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Dropout())
    d = co.ClassifierCA(net).fit(X).decomposition_
    d.save(tmp_path / "net")
    np.testing.assert_array_equal(co.load(tmp_path / "net", x_net=net).f(X), d.f(X))


@pytest.mark.parametrize("model", [LogisticRegression, LinearSVC()])
def test_loading_with_a_wrong_model_does_not_blame_the_file(tmp_path, model):
    co.ClassifierCA(MODEL).fit(X).decomposition_.save(tmp_path / "model")
    with pytest.raises((TypeError, ValueError), match=r"^(?!.*damaged)"):
        co.load(tmp_path / "model", x_net=model)


def test_loading_with_a_model_of_several_targets_does_not_blame_the_file(tmp_path):
    co.ClassifierCA(MODEL).fit(X).decomposition_.save(tmp_path / "model")
    several = copy.copy(MODEL)
    several.classes_ = [["a", "b"], ["c", "d"]]
    with pytest.raises(ValueError, match="x_net: classes must"):
        co.load(tmp_path / "model", x_net=several)


def test_conditional_expectations():
    """E[h(Y) | x] of the class that the model means is the mean of h under its beliefs."""
    cca = co.ClassifierCA(MODEL).fit(X)
    value = {"ant": 1.0, "bee": -2.0, "cat": 5.0}
    expected = MODEL.predict_proba(X) @ [1.0, -2.0, 5.0]
    np.testing.assert_allclose(cca.decomposition_.conditional_expectation(value, X), expected, atol=1e-10)


# --- evaluation


def test_labels_of_the_fit_change_nothing_but_the_evaluation():
    with_labels, without = co.ClassifierCA(MODEL, batch_size=20).fit(X, Y), co.ClassifierCA(MODEL).fit(X)
    np.testing.assert_allclose(with_labels.pics_, without.pics_, atol=1e-12)
    assert without.held_out_ is None
    held, again = with_labels.held_out_, with_labels.evaluate(X, Y)
    np.testing.assert_allclose(held.correlations, again.correlations, atol=1e-12)
    np.testing.assert_allclose(held.intervals, again.intervals, atol=1e-12)
    assert held.captured == pytest.approx(again.captured, abs=1e-12)
    assert held.n == again.n == 90
    assert with_labels.score(X, Y) == again.captured
    stream = co.ClassifierCA(MODEL).fit((X[i : i + 13] for i in range(0, 90, 13)), Y)
    assert stream.held_out_.captured == pytest.approx(held.captured, abs=1e-12)
    assert with_labels.fit(X).held_out_ is None


def test_correlations_on_labels_are_those_of_f_and_g():
    cca = co.ClassifierCA(MODEL).fit(X)
    held = cca.evaluate(X, Y)
    F, G = cca.transform(X, Y)
    expected = [np.corrcoef(F[:, i], G[:, i])[0, 1] for i in range(2)]
    np.testing.assert_allclose(held.correlations, expected, atol=1e-12)
    assert held.captured == pytest.approx(cca.decomposition_.evaluate(X, Y).captured)
    weights = RNG.integers(1, 4, 90)
    repeated = cca.evaluate(np.repeat(X, weights, axis=0), np.repeat(Y, weights))
    assert cca.evaluate(X, Y, weights).captured == pytest.approx(repeated.captured)
    for labels in (Y.tolist(), pd.Series(Y), pl.Series(Y.tolist()), Y[:, None]):
        assert cca.evaluate(X, labels).captured == held.captured


def test_classes_never_predicted():
    P = np.insert(MODEL.predict_proba(X), 1, 0.0, axis=1)
    names = ["ant", "asp", "bee", "cat"]
    with pytest.warns(co.LeftOut, match=r"never predicted.*: asp"):
        cca = fit_beliefs(P, names)
    usual = co.ClassifierCA(MODEL).fit(X)
    np.testing.assert_allclose(cca.pics_, usual.pics_, atol=1e-12)
    assert np.isnan(cca.transform_y(["asp"])).all()
    np.testing.assert_allclose(cca.transform_y(NAMES), usual.transform_y(NAMES), atol=1e-9)
    np.testing.assert_allclose(cca.transform(P), usual.transform(X), atol=1e-9)
    np.testing.assert_allclose(cca.beliefs_at(cca.transform(P)), P, atol=1e-10)
    np.testing.assert_allclose(cca.prior_, P.mean(axis=0))
    assert (cca.overlap_[1] == 0).all()
    assert (cca.overlap_[:, 1] == 0).all()
    assert np.isfinite(cca.boundary("ant", "bee")).all()
    np.testing.assert_allclose(cca.boundary("ant", "bee"), usual.boundary("ant", "bee"), atol=1e-9)
    assert cca.confusing(P, 5).index.tolist() == usual.confusing(X, 5).index.tolist()
    assert cca.evaluate(P, Y).captured == pytest.approx(usual.evaluate(X, Y).captured)
    assert "asp" not in cca.write_summary()
    assert np.isfinite(cca.calibration(P, Y).after.log_loss)
    for a, b in (("asp", "bee"), ("bee", "asp")):
        with pytest.raises(ValueError, match="'asp' is never"):
            cca.boundary(a, b)
    with pytest.raises(ValueError, match="'asp' is never"):
        cca.confusing(P, between=("asp", "ant"))


def test_labels_of_a_class_never_predicted_count_as_the_mean():
    P = np.insert(MODEL.predict_proba(X), 3, 0.0, axis=1)
    labels = np.where(np.arange(90) % 9 == 0, "dog", Y)
    names = [*NAMES, "dog"]
    with pytest.warns(co.LeftOut, match="dog"):
        cca = co.ClassifierCA(classes=names).fit(P, labels)
    G = np.where((labels == "dog")[:, None], 0, np.nan_to_num(cca.transform_y(labels)))
    expected = [np.corrcoef(cca.transform(P)[:, i], G[:, i])[0, 1] for i in range(2)]
    np.testing.assert_allclose(cca.evaluate(P, labels).correlations, expected, atol=1e-12)
    np.testing.assert_allclose(cca.held_out_.correlations, expected, atol=1e-12)


def test_many_classes_never_predicted():
    P = np.zeros((5, 9))
    P[:, :2] = RNG.dirichlet([1, 1], 5)
    with pytest.warns(co.LeftOut, match=r"7 .* never predicted.*: 2, 3, 4, 5, 6 and 2 more"):
        assert len(fit_beliefs(P).pics_) == 1


def test_summary():
    cca = co.ClassifierCA(MODEL).fit(X)
    lines = cca.write_summary().splitlines()
    assert lines[0] == "3 classes, beliefs of 90 inputs"
    assert "on labels" not in lines[1]
    G = get_g_values(cca)
    for i in range(2):
        low, high = NAMES[G[:, i].argmin()], NAMES[G[:, i].argmax()]
        assert lines[2 + i].split() == [str(i + 1), f"{cca.correlations_[i]:.4f}", low, "and", high]
    pairs = sorted(((cca.overlap_[i, j], NAMES[i], NAMES[j]) for i, j in ((0, 1), (0, 2), (1, 2))), reverse=True)
    assert lines[4:] == [f"  confused: {a} and {b}, overlap {value:.3f}" for value, a, b in pairs]
    with_labels = cca.fit(X, Y).write_summary().splitlines()
    assert "on labels" in with_labels[1]
    assert f"{cca.held_out_.correlations[1]:.4f}" in with_labels[3]


def test_classes_never_believed_of_the_same_input_are_not_confused():
    P = np.array([[1, 0, 0], [0, 1, 0], [2 / 3, 0, 1 / 3]])
    summary = fit_beliefs(P, NAMES).write_summary()
    assert summary.count("confused") == 1


# --- errors


def check_refused(message, use, kind=ValueError):
    with pytest.raises(kind, match=message) as caught:
        use()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("P", "message"),
    [
        ([[0.5, np.nan], [0.5, 0.5]], "NaN"),
        ([[1.5, -0.5], [0.5, 0.5]], "negative numbers"),
        ([[0.5, 0.6], [0.5, 0.5]], "beliefs must sum"),
        ([[1.0], [1.0]], "at least two classes"),
        (np.empty((0, 3)), r"at least two inputs .* got 0"),
        ([], r"at least two inputs .* got 0"),
        (iter([]), r"at least two inputs .* got 0"),
        ([[0.2, 0.8]], r"at least two inputs .* got 1"),
        (5, r"^X must"),
        ([["a", "b"]], "beliefs must be an array"),
    ],
)
def test_bad_beliefs_leave_a_fitted_estimator_as_it_was(P, message):
    cca = co.ClassifierCA(classes=["no", "yes"]).fit([[0.1, 0.9], [0.7, 0.3]], ["no", "yes"])
    before = dict(vars(cca))
    check_refused(message, lambda: cca.fit(P))
    assert vars(cca) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, Y[:-1]), "X and Y must"),
        ((X, np.where(Y == "cat", "dog", Y)), "Y: 'dog'"),
        ((X, [None] * 90), "Y has 90 missing"),
        ((X, None, [1.0] * 89), "sample_weight must"),
        ((X, None, [-1.0] * 90), "sample_weight must"),
        ((X, None, [0.0] * 90), "sample_weight must"),
        ((iter([X]), None, [1.0] * 90), "sample_weight cannot"),
    ],
)
def test_bad_labels_and_weights_leave_it_as_it_was(arguments, message):
    cca = co.ClassifierCA(MODEL).fit(X, Y)
    before = dict(vars(cca))
    check_refused(message, lambda: cca.fit(*arguments))
    assert vars(cca) == before


@pytest.mark.parametrize(
    ("parameters", "message", "kind"),
    [
        ({"n_components": 0}, "n_components must", ValueError),
        ({"n_components": 1.5}, "n_components must", ValueError),
        ({"temperature": 0.0}, "temperature must", ValueError),
        ({"outputs": None}, "outputs must", ValueError),
        ({"batch_size": -3}, "batch_size must", ValueError),
        ({"classes": ["a", "b"]}, "classes has 2", ValueError),
        ({"classes": ["a", "b", "b"]}, "classes must", ValueError),
        ({"model": LinearSVC()}, r"model must .* LinearSVC", TypeError),
        ({"model": LogisticRegression}, "model must", TypeError),
    ],
)
def test_bad_parameters_leave_it_as_it_was(parameters, message, kind):
    cca = co.ClassifierCA(MODEL).fit(X)
    before = dict(vars(cca))
    cca.set_params(**parameters)
    check_refused(message, lambda: cca.fit(X), kind)
    assert {**vars(cca), **dict.fromkeys(parameters)} == {**before, **dict.fromkeys(parameters)}
    np.testing.assert_allclose(cca.transform(X[:2]), co.ClassifierCA(MODEL).fit(X).transform(X[:2]))


@pytest.mark.parametrize(
    "use",
    [
        lambda c: c.transform(X),
        lambda c: c.transform_y(Y),
        lambda c: c.beliefs(X),
        lambda c: c.predict(X),
        lambda c: c.on_beliefs(),
        lambda c: c.locate(np.eye(3)),
        lambda c: c.beliefs_at(np.eye(2)),
        lambda c: c.boundary("ant", "bee"),
        lambda c: c.confusing(X),
        lambda c: c.calibration(X, Y),
        lambda c: c.evaluate(X, Y),
        lambda c: c.overlap_,
        lambda c: c.pics_,
        lambda c: c.summary(),
        lambda c: c.get_feature_names_out(),
    ],
)
def test_not_fitted(use):
    with pytest.raises(NotFittedError, match="not fitted"):
        use(co.ClassifierCA(MODEL))


def test_bad_questions():
    cca = co.ClassifierCA(MODEL).fit(X)
    check_refused("Y is missing", lambda: cca.evaluate(X))
    check_refused("X and Y must", lambda: cca.evaluate(X, Y[:2]))
    check_refused("Y: 'dog'", lambda: cca.evaluate(X[:1], ["dog"]))
    check_refused("sample_weight must", lambda: cca.evaluate(X, Y, [1.0]))
    check_refused("Y: 'dog'", lambda: cca.transform_y(["dog"]))
    check_refused("X is empty", lambda: cca.transform(X[:0]))
    check_refused("X is empty", lambda: cca.predict([]))
    check_refused(r"^P must", lambda: cca.locate([[0.5, 0.5]]))
    check_refused("beliefs must sum", lambda: cca.locate([[0.5, 0.5, 0.5]]))
    check_refused(r"^F must", lambda: cca.beliefs_at(np.eye(3)[:1]))
    check_refused(r"^F must", lambda: cca.beliefs_at([0, 0]))


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize(
    "use",
    [
        lambda c, P: c.transform(P),
        lambda c, P: c.predict(P),
        lambda c, P: c.beliefs(P),
        lambda c, P: c.confusing(P),
        lambda c, P: c.evaluate(P, ["ant"] * 6),
    ],
    ids=["transform", "predict", "beliefs", "confusing", "evaluate"],
)
@pytest.mark.parametrize("names", [NAMES, None], ids=["named", "unnamed"])
def test_the_number_of_columns_of_new_beliefs(use, k, names):
    cca = fit_beliefs(MODEL.predict_proba(X), names)
    with pytest.raises(ValueError, match=rf"classes has 3 .* {k}"):
        use(cca, np.random.default_rng(0).dirichlet(np.ones(k), 6))


def test_text_is_no_point():
    with pytest.raises(ValueError, match=r"^F "):
        co.ClassifierCA(MODEL).fit(X).beliefs_at([["a", "b"]])


def test_an_unknown_label_gets_advice_that_can_be_followed():
    with pytest.raises(ValueError, match=r"^(?!.*handle_unknown).*'dog'"):
        co.ClassifierCA(MODEL).fit(X).transform_y(["dog"])


def test_rare_classes_of_wide_beliefs_in_single_precision():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(120, 0.1), 400)
    P[:, :2] *= 1e-25
    P /= P.sum(axis=1, keepdims=True)
    single, double = (fit_beliefs(values).overlap_ for values in (P.astype(np.float32), P))
    assert single.max() <= 1
    np.testing.assert_allclose(single[:2, :2], double[:2, :2], atol=1e-4)
