"""A group of classes alone: its axes, its inputs, and which classes are confused among themselves."""

import re

import numpy as np
import pyarrow as pa
import pytest
from scipy.cluster.hierarchy import fcluster
from scipy.special import softmax
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import correspondence as co
from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.classifiers.beliefs import Beliefs
from correspondence.results.class_similarity import ClassSimilarity


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    model = LogisticRegression(C=0.001, max_iter=200).fit(X[::2], y[::2])
    return model, X[1::2], y[1::2], co.ClassifierCA(model).fit(X[1::2])


def make_hundred_classes(n=6000, seed=0):
    """Return beliefs in 100 classes and labels drawn from them; 40 and 41 are nearly the same class."""
    rng = np.random.default_rng(seed)
    centres = 3.2 * rng.normal(size=(100, 30)) / np.sqrt(30) * 2
    centres[41] = centres[40] + 1.8 * rng.normal(size=30) / np.sqrt(30)
    X = centres[rng.integers(100, size=n)] + rng.normal(size=(n, 30))
    P = softmax(X @ centres.T - (centres**2).sum(axis=1) / 2, axis=1)
    labels = (P.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1)
    return P, np.minimum(labels, 99)


def measure_separation(F, is_second):
    """Return the share of the variance of a label of two that a regression on coordinates explains."""
    Z = np.column_stack([np.ones(len(F)), F])
    left = is_second - Z @ np.linalg.lstsq(Z, is_second.astype(float), rcond=None)[0]
    return 1 - left.var() / is_second.var()


# --- what is decomposed


def test_it_is_the_analysis_of_the_table_of_the_groups_columns(digits):
    """Inputs are rows, classes are columns: a group of columns, renormalised over each row, weighs rows by its mass."""
    _model, X, _y, cca = digits
    focused = cca.focus(X, [9, 4, 7])
    P = cca.beliefs(X)[:, [9, 4, 7]]
    by_hand = co.CA().fit(P)
    assert np.allclose(focused.pics_, by_hand.pics_[:2], atol=1e-12)
    assert focused.classes_.tolist() == [9, 4, 7]
    assert np.allclose(focused.prior_, P.sum(axis=0) / P.sum())
    assert np.allclose(np.abs(focused.transform(X)), np.abs(by_hand.rows_.standard[:, :2]), atol=1e-8)
    assert focused.decomposition_.n == pytest.approx(P.sum())
    mass = P.sum(axis=1)
    assert np.allclose(focused.beliefs(X), P / mass[:, None])
    assert np.allclose(focused.beliefs_at(focused.transform(X)), P / mass[:, None])
    assert np.array_equal(focused.find_members(X), mass > 0.5)


def test_streams_weights_and_repeated_rows_agree(digits):
    model, X, _y, cca = digits
    counts = np.arange(len(X)) % 3 + 1
    weighted = cca.focus(X, [4, 9], sample_weight=counts).pics_
    assert np.allclose(weighted, cca.focus(np.repeat(X, counts, axis=0), [4, 9]).pics_, atol=1e-12)
    whole = cca.focus(X, [4, 9]).pics_
    assert np.allclose(co.ClassifierCA(model, group=[4, 9]).fit(iter([X[:100], X[100:]])).pics_, whole, atol=1e-12)


def test_a_group_of_all_classes_is_the_whole(digits):
    _model, X, y, cca = digits
    focused = cca.focus(X, range(10), y)
    assert np.allclose(focused.pics_, cca.pics_, atol=1e-12)
    assert focused.held_out_.captured == pytest.approx(cca.evaluate(X, y).captured)


def test_focus_separates_a_pair_better_than_the_first_two_axes_of_all(digits):
    _model, X, y, cca = digits
    is_in = np.isin(y, [1, 8])
    focused = cca.focus(X)
    assert focused.classes_.tolist() == [1, 8]
    whole = measure_separation(cca.transform(X[is_in])[:, :2], y[is_in] == 8)
    assert measure_separation(focused.transform(X[is_in]), y[is_in] == 8) > whole + 0.1


def test_focus_separates_the_hardest_of_a_hundred_classes():
    P, labels = make_hundred_classes()
    cca = co.ClassifierCA.from_beliefs(P[::2])
    focused = cca.focus(P[::2])
    assert focused.classes_.tolist() == [40, 41]
    other, truth = P[1::2], labels[1::2]
    is_in = np.isin(truth, [40, 41])
    whole = measure_separation(cca.transform(other[is_in])[:, :2], truth[is_in] == 41)
    alone = measure_separation(focused.transform(other[is_in]), truth[is_in] == 41)
    assert whole < 0.1 < 0.4 < alone
    evaluated = focused.evaluate(other, truth)
    assert evaluated.n == is_in.sum()
    assert evaluated.correlations[0] == pytest.approx(focused.correlations_[0], abs=0.15)  # beliefs are calibrated here


# --- held-out labels


def test_labels_of_the_group_count_however_little_the_model_believes_in_it(digits):
    _model, X, y, cca = digits
    focused = cca.focus(X, [4, 9], y)
    is_in = np.isin(y, [4, 9])
    assert (is_in & ~focused.find_members(X)).any()
    f, g = focused.transform(X[is_in])[:, 0], focused.transform_y(y[is_in])[:, 0]
    assert focused.held_out_.n == is_in.sum()
    assert focused.held_out_.correlations[0] == pytest.approx(np.corrcoef(f, g)[0, 1])
    assert np.allclose(focused.pics_, cca.focus(X, [4, 9]).pics_)  # labels change nothing else
    assert focused.calibration(X, y).n == is_in.sum()


def test_an_input_without_belief_in_the_group_counts_as_the_mean():
    P = np.array([[0.8, 0.2, 0.0], [0.3, 0.7, 0.0], [0.6, 0.1, 0.3], [0.0, 0.0, 1.0]])
    focused = co.ClassifierCA.from_beliefs(P, list("abc")).focus(P, ["a", "b"])
    F = focused.transform(P)
    assert np.isnan(F[3]).all()
    assert np.isfinite(F[:3]).all()
    assert focused.predict(P).tolist() == ["a", "b", "a", None]
    assert focused.find_members(P).tolist() == [True, True, True, False]
    with_it = focused.evaluate(P, ["a", "b", "a", "b"])
    assert with_it.n == 4
    f, g = np.append(F[:3, 0], 0), focused.transform_y(["a", "b", "a", "b"])[:, 0]
    assert with_it.correlations[0] == pytest.approx(np.corrcoef(f, g)[0, 1])
    assert focused.evaluate(P, ["a", "b", "a", "c"]).n == 3


# --- everything that takes an analysis


def test_closest_calls_are_of_inputs_of_the_group():
    P = np.array([[0.05, 0.05, 0.9], [0.5, 0.4, 0.1], [0.1, 0.8, 0.1], [0.26, 0.25, 0.49]])
    focused = co.ClassifierCA.from_beliefs(P, list("abc")).focus(P, ["a", "b"])
    found = focused.confusing(P)  # row 0 is an even choice between a and b, but it is a c
    assert found.index.tolist() == [3, 1, 2]
    assert np.allclose(found.beliefs.sum(axis=1), 1)
    assert focused.boundary("a", "b", 2).shape == (2, 1)


def test_files_keep_the_group(digits, tmp_path):
    model, X, _y, cca = digits
    focused = cca.focus(X, [4, 9])
    focused.decomposition_.save(tmp_path / "pair.npz")
    assert np.array_equal(co.load(tmp_path / "pair.npz", x_net=model).f(X), focused.transform(X))
    P = cca.beliefs(X)
    assert np.allclose(focused.on_beliefs().transform(P), focused.transform(X))
    assert (
        np.isnan(focused.on_beliefs(members_only=True).transform(P)).any(axis=1).sum()
        == (~focused.find_members(X)).sum()
    )


def test_pictures_show_inputs_of_the_group_and_count_the_others(digits):
    _model, X, _y, cca = digits
    focused = cca.focus(X, [1, 8, 9])
    n = int(focused.find_members(X).sum())
    ax = co.plot.plane(focused, X=X, boundaries=True, confusing=X, thumbnails=X.reshape(-1, 8, 8))
    assert len(ax.collections[0].get_offsets()) == n
    (caption,) = (text.get_text() for text in ax.texts if text.get_gid() == "caption")
    assert f"not drawn: {len(X) - n} of {len(X)} inputs" in " ".join(caption.lower().split())


def test_inputs_of_a_likeliest_class_in_the_group_are_not_said_to_be_of_other_classes():
    P = np.vstack([np.eye(4) * 0.6 + 0.1, [[0.4, 0.0, 0.3, 0.3]] * 5])
    focused = co.ClassifierCA.from_beliefs(P).focus(P, [0, 1])
    assert focused.predict(P[4:]).tolist() == [0] * 5
    ax = co.plot.plane(focused, X=P)
    (caption,) = (text.get_text() for text in ax.texts if text.get_gid() == "caption")
    assert "7 of 9 inputs" in caption
    assert "half" in caption
    with pytest.raises(ValueError, match=r"X must .*of the group.*0, 1"):
        co.explore(focused, P[2:])


def test_a_page_of_a_group_counts_inputs(digits, tmp_path):
    _model, X, y, cca = digits
    focused = cca.focus(X, [1, 8, 9], y)
    co.explore(focused, X, y, tmp_path / "group.html", x_images=X.reshape(-1, 8, 8))
    page = (tmp_path / "group.html").read_text("utf-8")
    assert f"{int(focused.find_members(X).sum())} of {len(X)}" in page
    assert re.search(r"belief in the group</dt>\s*<dd>260.1", page)
    assert "drawn at random" not in page.split("<script", 1)[0]  # they were chosen by their beliefs
    with pytest.raises(ValueError, match=r"recorder must.*group"):
        co.explore(focused, X, recorder=co.TrainingRecorder(focused.model, X))


def test_a_loaded_group_counts_inputs_that_are_certainly_of_other_classes(tmp_path):
    P = np.vstack([np.eye(4) * 0.6 + 0.1, np.eye(4)[[2, 3, 2]]])
    co.ClassifierCA.from_beliefs(P).focus(P, [0, 1]).decomposition_.save(tmp_path / "group")
    loaded = co.load(tmp_path / "group")
    ax = co.plot.plane(loaded, X=P)
    assert any("3 of 7 rows, without a place" in text.get_text() for text in ax.texts + ax.figure.texts)


# --- hostile groups


def test_a_page_without_inputs_of_the_group_is_refused():
    cca = co.ClassifierCA.from_beliefs([[0.3, 0.1, 0.6], [0.1, 0.3, 0.6]], ["cat", "dog", "car"])
    focused = cca.focus([[0.3, 0.1, 0.6], [0.1, 0.3, 0.6]], ["cat", "dog"])
    with pytest.raises(ValueError, match=r"X must have .* group"):
        co.explore(focused, [[0.3, 0.1, 0.6], [0.1, 0.3, 0.6]])


def test_groups_that_are_none_are_refused(digits):
    _model, X, y, cca = digits
    with pytest.raises(ValueError, match=r"classes.*11 is not a class"):
        cca.focus(X, [4, 11])
    for group in ([4], [4, 4], []):
        with pytest.raises(ValueError, match="classes must be at least two different"):
            cca.focus(X, group)
    with pytest.raises(ValueError, match="n must"):
        cca.focus(X, n=1)
    with pytest.raises(ValueError, match="Y must have labels in the group"):
        cca.focus(X[y > 5], [4, 3], y[y > 5])
    with pytest.raises(ValueError, match="group: 'x' is not a class"):
        co.ClassifierCA(_model, group=["x", 4]).fit(X)
    with pytest.raises(ValueError, match="classes must be a list of labels"):
        cca.focus(X, "49")


def test_a_class_that_is_never_believed_has_no_place():
    P = np.array([[0.8, 0.2, 0.0, 0.0], [0.3, 0.7, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]])
    with pytest.warns(CorrespondenceWarning, match="never predicted"):
        cca = co.ClassifierCA.from_beliefs(P, list("abcd"))
    with pytest.warns(CorrespondenceWarning, match=r"never predicted.*c"):
        focused = cca.focus(P, ["a", "b", "c"])
    assert len(focused.pics_) == 1
    with pytest.raises(ValueError, match=r"group must.*all beliefs in it are 0"):
        cca.focus(P, ["c", "d"])
    similarity = cca.class_similarity()
    assert similarity.find_groups() == [["a", "b"]]
    assert np.array_equal(np.sort(similarity.order), range(4))
    with pytest.warns(CorrespondenceWarning, match="same beliefs"):  # one input says nothing of axes
        assert len(cca.focus(P[[2, 2]], ["a", "b"]).pics_) == 0
    with pytest.raises(ValueError, match="at least two inputs"):
        cca.focus(P[:1], ["a", "b"])


# --- similarity


def test_similarity_is_cosine_and_expected_confusion(digits):
    _model, X, _y, cca = digits
    similarity, P = cca.class_similarity(), cca.beliefs(X)
    second = P.T @ P / len(P)
    norms = np.sqrt(np.diag(second))
    assert np.allclose(similarity.overlap, second / norms / norms[:, None], atol=1e-12)
    assert np.allclose(similarity.confusion, second / P.mean(axis=0)[:, None], atol=1e-12)
    assert np.allclose(similarity.confusion.sum(axis=1), 1)
    # The same cosine from the points of the classes, whose principal coordinates stand beside the constant function 1.
    points = np.column_stack([np.ones(10), cca.transform_y(cca.classes_) * cca.correlations_])
    lengths = np.linalg.norm(points, axis=1)
    assert np.allclose(points @ points.T / lengths / lengths[:, None], similarity.overlap, atol=1e-9)


def test_pairs_are_ranked_and_groups_are_branches():
    P, _labels = make_hundred_classes()
    similarity = co.ClassifierCA.from_beliefs(P, [f"class {i}" for i in range(100)]).class_similarity()
    frame = similarity.to_frame("polars")
    assert frame.shape == (4950, 5)
    assert frame.row(0)[:2] == ("class 40", "class 41")
    assert frame["overlap"].is_sorted(descending=True)
    groups = similarity.find_groups()
    assert groups[0] == ["class 40", "class 41"]
    place = {name: i for i, name in enumerate(similarity.classes[similarity.order].tolist())}
    for group in similarity.find_groups(0.05):
        assert sorted(place[name] for name in group)[-1] - min(place[name] for name in group) == len(group) - 1
    codes = fcluster(similarity.linkage, 0.95, "distance")
    assert len(similarity.find_groups(0.05)) == (np.bincount(codes) > 1).sum()
    assert "class 40 and class 41" in repr(similarity)
    with pytest.raises(ValueError, match="min_overlap must"):
        similarity.find_groups(2)


def test_certain_beliefs_have_no_groups():
    similarity = co.ClassifierCA.from_beliefs(np.eye(3)[[0, 1, 2, 0]]).class_similarity()
    assert isinstance(similarity, ClassSimilarity)
    assert similarity.find_groups() == []
    assert "no two" in repr(similarity)
    with pytest.raises(ValueError, match=r"classes must be given.*no two"):
        co.ClassifierCA.from_beliefs(np.eye(3)).focus(np.eye(3))


def test_pairs_where_they_are_and_files_of_earlier_versions(digits):
    model, X, y, cca = digits
    names = [f"p{i}" for i in range(X.shape[1])]
    table = pa.table({name: X[:, i] for i, name in enumerate(names)} | {"digit": y})
    pairs = co.Pairs(table, x=names, y="digit")
    focused = co.ClassifierCA(model, group=[4, 9]).fit(pairs)
    whole = cca.focus(X, [4, 9])
    assert np.allclose(focused.pics_, whole.pics_, atol=1e-12)
    assert np.allclose(np.abs(focused.transform(X)), np.abs(whole.transform(X)))
    with pytest.raises(ValueError, match="X must be in memory"):
        focused.evaluate(pairs)
    state = whole._get_beliefs().state()
    assert state.description["group"] == [4, 9]
    older = {name: value for name, value in state.description.items() if name != "group"}
    assert Beliefs.from_state(older, {}, model).group is None
