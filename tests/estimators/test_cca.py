"""CCA: against scikit-learn and by hand, and what it does with columns of every kind."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import cross_decomposition

import correspondence as co
from correspondence.core import sparse_basis
from correspondence.estimators.cca import RIDGE_STRENGTHS


def number_pairs(rng, n=500):
    common = rng.normal(size=(n, 2))
    X = np.column_stack([common, rng.normal(size=(n, 2))]) @ rng.normal(size=(4, 4))
    Y = np.column_stack([common + [0.5, 1] * rng.normal(size=(n, 2)), rng.normal(size=(n, 1))]) @ rng.normal(
        size=(3, 3)
    )
    return X, Y


def label_pairs(rng, n=600):
    a = rng.integers(5, size=n)
    b = np.where(rng.random(n) < 0.6, a % 4, rng.integers(4, size=n))
    return np.array(list("abcde"))[a], np.array(list("PQRS"))[b]


def wide_pairs(rng, n, p=150, q=120):
    """Three causes in many noisy columns on both sides."""
    mix = np.random.default_rng(1).normal(size=(2, 3, 150))
    causes = rng.normal(size=(n, 3))
    return (causes @ mix[i, :, :k] + 4 * rng.normal(size=(n, k)) for i, k in enumerate((p, q)))


def whitened(Z):
    U, s, _ = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    return U[:, s > 1e-9 * s[0]]


def canonical_correlations(X, Y):
    return np.linalg.svd(whitened(X).T @ whitened(Y), compute_uv=False)


def on_columns(g, Y):
    return np.corrcoef(g.T, Y.T)[: g.shape[1], g.shape[1] :]


# --- against others


def test_equals_whitening_and_svd_by_hand(rng):
    X, Y = number_pairs(rng)
    est = co.CCA(n_components=3).fit(X, Y)
    np.testing.assert_allclose(est.correlations_, canonical_correlations(X, Y), atol=1e-12)
    assert est.decomposition_.chi2 == pytest.approx(np.sum(canonical_correlations(X, Y) ** 2))
    U, _, Vt = np.linalg.svd(whitened(X).T @ whitened(Y))
    F, G = est.transform(X, Y)
    for ours, by_hand in ((F, whitened(X) @ U[:, :3]), (G, whitened(Y) @ Vt.T)):
        np.testing.assert_allclose(np.abs((ours * by_hand).sum(axis=0)), np.sqrt(len(X)), rtol=1e-9)


def test_equals_scikit_learn(rng):
    X, Y = number_pairs(rng)
    est = co.CCA(n_components=2).fit(X, Y)
    theirs = cross_decomposition.CCA(n_components=2, max_iter=5000, tol=1e-14).fit(X, Y)
    for ours, other in zip(est.transform(X, Y), theirs.transform(X, Y), strict=True):
        np.testing.assert_allclose(np.abs(np.diag(on_columns(ours, other))), 1, atol=1e-6)


def test_labels_on_both_sides_give_correspondence_analysis(rng):
    x, y = label_pairs(rng)
    ca, cca = co.CA(n_components=3).fit(x, y), co.CCA(n_components=3).fit(x, y)
    np.testing.assert_allclose(cca.pics_, ca.pics_, atol=1e-12)
    assert cca.decomposition_.chi2 == pytest.approx(ca.decomposition_.chi2)
    F = cca.transform(np.array(list("abcde")))
    expected = ca.transform(np.array(list("abcde")))
    np.testing.assert_allclose(np.abs(F), np.abs(expected), atol=1e-9)
    np.testing.assert_allclose(F * F[0], expected * expected[0], atol=1e-9)


def test_linear_truth_of_a_conditional_expectation(rng):
    """Y = X A + noise: E[Y | x] is x A, and all components together give the least-squares fit."""
    X = rng.normal(size=(4000, 3))
    A = rng.normal(size=(3, 2))
    Y = X @ A + 0.3 * rng.normal(size=(4000, 2)) + [5, -100]
    d = co.CCA(n_components=2).fit(X, Y).decomposition_
    new = rng.normal(size=(50, 3))
    fitted, *_ = np.linalg.lstsq(np.column_stack([np.ones(4000), X]), Y, rcond=None)
    np.testing.assert_allclose(
        d.conditional_expectation(Y, new), np.column_stack([np.ones(50), new]) @ fitted, atol=1e-9
    )
    np.testing.assert_allclose(d.conditional_expectation(lambda y: y[:, 0], new), new @ A[:, 0] + 5, atol=0.05)


# --- what makes no difference


@pytest.mark.parametrize(
    ("scale", "shift"), [(1, 0), (1, 1e6), (1e-9, 0), (1e9, 0), (np.array([1e-9, 1, 1e9, 1e3]), [1, 1e6, -1e12, 0])]
)
def test_units_of_the_columns_do_not_matter(rng, scale, shift):
    X, Y = number_pairs(rng)
    est, other = co.CCA(n_components=3).fit(X, Y), co.CCA(n_components=3).fit(X * scale + shift, Y)
    np.testing.assert_allclose(other.correlations_, est.correlations_, atol=1e-7)
    np.testing.assert_allclose(other.transform(X * scale + shift), est.transform(X), atol=1e-5)
    turned = co.CCA(n_components=3).fit(Y, X * scale + shift)
    np.testing.assert_allclose(turned.correlations_, est.correlations_, atol=1e-7)


def test_invertible_maps_do_not_matter(rng):
    X, Y = number_pairs(rng)
    est = co.CCA(n_components=3).fit(X, Y)
    A, B = rng.normal(size=(4, 4)), rng.normal(size=(3, 3))
    mapped = co.CCA(n_components=3).fit(X @ A + 7, Y @ B - 3)
    np.testing.assert_allclose(mapped.correlations_, est.correlations_, atol=1e-10)
    G = mapped.transform_y(Y @ B - 3)
    np.testing.assert_allclose(np.abs(np.diag(on_columns(G, est.transform_y(Y)))), 1, atol=1e-9)


def test_columns_that_repeat_others_change_nothing(rng):
    X, Y = number_pairs(rng)
    est = co.CCA(n_components=3).fit(X, Y)
    more_x = np.column_stack([X, X[:, 0], X[:, 1] + 3 * X[:, 2], 1e6 - X[:, 3]])
    more_y = np.column_stack([Y, Y.sum(axis=1), Y])
    again = co.CCA(n_components=3).fit(more_x, more_y)
    np.testing.assert_allclose(again.correlations_, est.correlations_, atol=1e-9)
    np.testing.assert_allclose(again.transform(more_x), est.transform(X), atol=1e-6)
    assert again.decomposition_.chi2 == pytest.approx(est.decomposition_.chi2)


def test_all_indicators_of_a_label_are_as_good_as_all_but_one(rng):
    x, y = label_pairs(rng)
    X, Y = pd.get_dummies(x).to_numpy(float), pd.get_dummies(y).to_numpy(float)
    expected = co.CA(n_components=3).fit(x, y).pics_
    for a, b in ((X, Y), (X[:, 1:], Y), (X[:, 1:], Y[:, :-1]), (x, Y)):
        np.testing.assert_allclose(co.CCA(n_components=3).fit(a, b).pics_, expected, atol=1e-12)


def test_constant_columns_are_left_out_with_a_warning(rng):
    X, Y = number_pairs(rng)
    with pytest.warns(co.LeftOut, match=r"constant: column\(s\) 4 of X"):
        est = co.CCA(n_components=3).fit(np.column_stack([X, np.ones(len(X))]), Y)
    np.testing.assert_allclose(est.correlations_, co.CCA(n_components=3).fit(X, Y).correlations_, atol=1e-12)


# --- signs


def assert_largest_correlation_is_positive(g, columns):
    r = on_columns(g, columns)
    assert (r[np.arange(len(r)), np.abs(r).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scale", [1, [1e-9, 1e6, 1]])
def test_the_column_of_y_with_the_largest_correlation_is_positive(seed, scale):
    X, Y = number_pairs(np.random.default_rng(seed))
    est = co.CCA(n_components=3).fit(X, Y * scale)
    assert_largest_correlation_is_positive(est.transform_y(Y * scale), Y)
    turned = co.CCA(n_components=3).fit(-X, Y * scale)
    np.testing.assert_allclose(turned.transform_y(Y * scale), est.transform_y(Y * scale), atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_sign_for_more_columns_than_pairs(seed):
    X, Y = wide_pairs(np.random.default_rng(seed), n=80)
    g = co.CCA(n_components=2, regularization=1.0).fit(X, Y).transform_y(Y)
    assert_largest_correlation_is_positive(g, Y)


def test_sign_for_labels():
    """Frequent labels have the larger covariance, but not the larger correlation."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = rng.choice(list("PQRS"), 400, p=[0.5, 0.3, 0.15, 0.05])
        X = rng.normal(size=(400, 3)) + 2 * np.eye(4)[np.searchsorted(list("PQRS"), y)][:, :3]
        g = co.CCA(n_components=3).fit(X, y).transform_y(y)
        assert_largest_correlation_is_positive(g, pd.get_dummies(y).to_numpy(float))


# --- more columns than pairs


@pytest.mark.parametrize("seed", range(3))
def test_the_ridge_finds_what_is_lost_without_it(seed):
    rng = np.random.default_rng(seed)
    X, Y = wide_pairs(rng, n=100)
    new = tuple(wide_pairs(rng, n=5000))
    auto = co.CCA(n_components=2).fit(X, Y)
    none = co.CCA(n_components=2, regularization=0).fit(X, Y)
    assert none.correlations_[0] == pytest.approx(1)
    assert (auto.regularization_ > 0).all()
    assert none.regularization_.tolist() == [0, 0]
    assert auto.evaluate(*new).correlations[0] > none.evaluate(*new).correlations[0] + 0.2


def test_wide_on_one_side_only(rng):
    X, Y = wide_pairs(rng, n=300, p=150, q=2)
    new = tuple(wide_pairs(rng, n=5000, p=150, q=2))
    ridge = co.CCA(n_components=2).fit(X, Y)
    assert (ridge.regularization_ > 0).all()
    none = co.CCA(n_components=2, regularization=0).fit(X, Y)
    assert ridge.evaluate(*new).captured > none.evaluate(*new).captured


def test_ridge_by_hand(rng):
    """Shapes from the covariances plus a ridge on standardised columns, then standardised without it."""
    X, Y = wide_pairs(rng, n=60, p=90, q=30)
    est = co.CCA(n_components=1, regularization=0.5).fit(X, Y)
    Zx, Zy = ((Z - Z.mean(axis=0)) / Z.std(axis=0) for Z in (X, Y))
    roots = [np.linalg.inv(np.linalg.cholesky(Z.T @ Z / 60 + 0.5 * np.eye(Z.shape[1]))) for Z in (Zx, Zy)]
    U, _, Vt = np.linalg.svd(roots[0] @ Zx.T @ Zy / 60 @ roots[1].T)
    for ours, by_hand in zip(est.transform(X, Y), (Zx @ roots[0].T @ U[:, 0], Zy @ roots[1].T @ Vt[0]), strict=True):
        assert abs(np.corrcoef(ours[:, 0], by_hand)[0, 1]) == pytest.approx(1)
        assert ours.std() == pytest.approx(1)
    assert est.regularization_.tolist() == [0.5]


def test_a_ridge_for_each_component(rng):
    X, Y = wide_pairs(rng, n=60, p=90, q=30)
    est = co.CCA(n_components=2, regularization=[5.0, 0.5]).fit(X, Y)
    assert sorted(est.regularization_.tolist()) == [0.5, 5.0]
    again = co.CCA(n_components=2, regularization=est.regularization_).fit(X, Y)
    assert again.correlations_.shape == (2,)
    same = co.CCA(n_components=2, regularization=[5.0, 5.0]).fit(X, Y)
    one = co.CCA(n_components=2, regularization=5.0).fit(X, Y)
    np.testing.assert_allclose(same.correlations_, one.correlations_)


def test_the_ridge_is_one_of_the_list_and_none_where_there_are_enough_pairs(rng):
    X, Y = wide_pairs(rng, n=100)
    assert set(co.CCA().fit(X, Y).regularization_) <= set(RIDGE_STRENGTHS)
    X, Y = wide_pairs(rng, n=100, p=10, q=15)
    est = co.CCA().fit(X, Y)
    assert est.regularization_.tolist() == [0, 0]
    np.testing.assert_allclose(est.correlations_, canonical_correlations(X, Y)[:2], atol=1e-12)


# --- data of every kind


def test_sparse_is_the_same_as_dense(rng):
    X = rng.poisson(0.7, size=(400, 6)).astype(float)
    Y = X[:, :3] + rng.poisson(0.7, size=(400, 3))
    dense, sparse = co.CCA().fit(X, Y), co.CCA().fit(sp.csr_array(X), sp.coo_matrix(Y))
    np.testing.assert_allclose(sparse.correlations_, dense.correlations_, atol=1e-12)
    np.testing.assert_allclose(sparse.transform(sp.csc_array(X)), dense.transform(X), atol=1e-10)
    np.testing.assert_allclose(sparse.transform(X), dense.transform(X), atol=1e-10)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_of_numbers_and_labels_by_name(rng, frame):
    a, b = rng.normal(size=(2, 400))
    c = rng.choice(["u", "v", "w"], 400)
    y = a + (c == "u") + 0.5 * rng.normal(size=400)
    columns = {"a": a, "b": b, "c": c}
    est = co.CCA(n_components=1).fit(frame(columns), y)
    by_hand = np.column_stack([a, b, c == "u", c == "v"])
    np.testing.assert_allclose(est.correlations_, canonical_correlations(by_hand, y[:, None]), atol=1e-12)
    assert est.feature_names_in_.tolist() == ["a", "b", "c"]
    F = est.transform(frame(columns))
    np.testing.assert_array_equal(est.transform(frame({"c": c, "extra": b, "b": b, "a": a})), F)
    with pytest.raises(ValueError, match="give the same columns"):
        est.transform(frame({"a": a, "b": b, "other": c}))
    with pytest.raises(ValueError, match=r"Column 'c' of X has the label 'new'"):
        est.transform(frame({"a": [0.0], "b": [0.0], "c": ["new"]}))
    with pytest.raises(ValueError, match="Column 'a' of X must hold numbers"):
        est.transform(frame({"a": ["x"], "b": [0.0], "c": ["u"]}))


def test_text(rng):
    topics = rng.integers(2, size=300)
    words = [["ball", "goal", "team", "match"], ["oven", "flour", "sugar", "bread"]]
    texts = [" ".join(rng.choice(words[t] + ["the", "and", "with"], 8)) for t in topics]
    est = co.CCA(n_components=1).fit(texts, np.array(["sport", "food"])[topics])
    assert est.correlations_[0] > 0.9
    f = est.transform(["goal team", "flour sugar"])[:, 0]
    assert f[0] * f[1] < 0


def make_topic_texts(rng, n, n_words=1500):
    """Make texts of two topics, each with words of its own, among words that both share."""
    topics = rng.integers(2, size=n)
    words = np.array([f"w{i}" for i in range(n_words)])
    own = rng.integers(50, size=(n, 3)) + 50 * topics[:, None]
    shared = 100 + rng.integers(n_words - 100, size=(n, 12))
    return [" ".join(words[row]) for row in np.hstack([own, shared])], topics


def test_many_words_are_reduced(rng, monkeypatch):
    """Fewer directions than words, found without a look at y, hold what two texts share."""
    monkeypatch.setattr(sparse_basis, "MAX_DIRECTIONS", 50)
    texts, topics = make_topic_texts(rng, 1500)
    est = co.CCA(n_components=1).fit(texts[:1000], topics[:1000].astype(str))
    assert est.evaluate(texts[1000:], topics[1000:].astype(str)).correlations[0] > 0.6
    assert est.decomposition_.f.weights.shape[0] > 1000  # one weight for each word


def test_functions_of_sparse_rows_are_those_of_dense_ones(rng):
    texts, topics = make_topic_texts(rng, 300)
    f = co.CCA(n_components=1).fit(texts, topics.astype(str)).decomposition_.f
    np.testing.assert_allclose(f(texts), f.of_features(f.features(texts)), atol=1e-9)


def test_wide_sparse_matrix_of_few_rows_is_exact(rng):
    """Fewer rows than directions span all columns: the functions are as correlated as those of the dense matrix."""
    z = rng.normal(size=(100, 1))
    X = (rng.random((100, 1200)) < 0.05 + 0.2 * (z > 0)).astype(float)
    sparse, dense = (co.CCA(n_components=1, regularization=1e-9).fit(values, z) for values in (sp.csr_array(X), X))
    assert sparse.correlations_[0] == pytest.approx(dense.correlations_[0], abs=1e-6)


def test_images(rng):
    """The mean of the left half is what x and y share."""
    x = rng.normal(size=(600, 1, 4, 4))
    x[:, 0, :, :2] += rng.normal(size=(600, 1, 1))
    y = x[:, 0, :, :2].mean(axis=(1, 2)) + 0.1 * rng.normal(size=600)
    est = co.CCA(n_components=1).fit(x, y)
    assert est.correlations_[0] == pytest.approx(co.CCA(1).fit(x.reshape(600, -1), y).correlations_[0], abs=1e-6)
    left = est.decomposition_.f.weights.reshape(4, 4)[:, :2]
    np.testing.assert_allclose(left, left.mean(), rtol=0.3)


@pytest.mark.parametrize("kind", ["wide", "frame", "labels", "text", "sparse", "wide sparse"])
def test_saved_and_loaded_it_is_the_same(rng, tmp_path, kind):
    n = 120
    a = rng.normal(size=(n, 3))
    X = {
        "wide": rng.normal(size=(n, 200)),
        "frame": pd.DataFrame({"a": a[:, 0], "b": rng.choice(["u", "v"], n)}),
        "labels": rng.choice(["u", "v", "w"], n),
        "text": [" ".join(rng.choice(["one", "two", "three", "four", "five"], 6)) for _ in range(n)],
        "sparse": sp.random_array((n, 5), density=0.4, rng=rng, format="csr"),
        "wide sparse": sp.random_array((n, 1500), density=0.02, rng=rng, format="csr"),
    }[kind]
    est = co.CCA(n_components=1).fit(X, a)
    est.decomposition_.save(tmp_path / "model")
    again = co.load(tmp_path / "model")
    np.testing.assert_array_equal(again.f(X), est.transform(X))
    np.testing.assert_array_equal(again.g(a), est.transform_y(a))
    np.testing.assert_array_equal(
        again.conditional_expectation(a[:, 0], X), est.decomposition_.conditional_expectation(a[:, 0], X)
    )


# --- errors


@pytest.mark.parametrize("regularization", [-1, -1e-9, np.nan, np.inf, "none", None, True, [], [1, -1], [[1.0]]])
def test_bad_regularization(rng, regularization):
    with pytest.raises(ValueError, match="regularization must"):
        co.CCA(regularization=regularization).fit(*number_pairs(rng))


@pytest.mark.parametrize("n_components", [0, -1, 1.5, "two", True, None])
def test_bad_number_of_components(rng, n_components):
    with pytest.raises(ValueError, match="n_components must"):
        co.CCA(n_components=n_components).fit(*number_pairs(rng))


def test_more_components_than_there_are(rng):
    X, Y = number_pairs(rng)
    with pytest.warns(co.FewerComponents, match="3 components"):
        est = co.CCA(n_components=5).fit(X, Y)
    assert len(est.correlations_) == 3
    with pytest.raises(ValueError, match=r"n_components.* got 5"):
        co.CCA(n_components=5).fit(X[:5], Y[:5])


def test_a_failed_fit_leaves_the_earlier_one(rng):
    X, Y = number_pairs(rng)
    est = co.CCA(n_components=2).fit(X, Y)
    before, F = dict(vars(est)), est.transform(X)
    bad = X.copy()
    bad[3, 1] = np.inf
    for arguments, message in (
        ((bad, Y), "Column 1 of X contains infinity"),
        ((X, np.where(Y > 2, np.inf, Y)), "Y contains infinity"),
        ((X, Y[1:]), "X and Y must have the same length"),
        ((X, None), "Y is missing"),
        ((X, np.ones(500)), "Y has one value only"),
        ((X, ["same"] * 500), "Y has one class only"),
    ):
        with pytest.raises(ValueError, match=message):
            est.fit(*arguments)
        assert vars(est) == before
        np.testing.assert_array_equal(est.transform(X), F)


def test_changing_the_data_after_the_fit_changes_nothing(rng):
    X, Y = number_pairs(rng)
    d = co.CCA(n_components=2).fit(X, Y).decomposition_
    before = d.conditional_expectation(lambda y: y[:, 0], X[:5].copy())
    old = X[:5].copy()
    X[:], Y[:] = 0, 0
    np.testing.assert_array_equal(d.conditional_expectation(lambda y: y[:, 0], old), before)


@pytest.mark.parametrize("scale", [1e160, 1e-160, 1e-300])
def test_columns_of_any_size(scale, rng):
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200)
    expected = co.CCA(n_components=1).fit(X, y).correlations_
    np.testing.assert_allclose(co.CCA(n_components=1).fit(X * [scale, 1, 1], y).correlations_, expected, rtol=1e-6)


@pytest.mark.parametrize("as_kind", [list, pd.Series, lambda y: pd.DataFrame({"y": y})])
def test_changing_y_after_the_fit_changes_nothing(as_kind, rng):
    X = rng.normal(size=(100, 2))
    y = as_kind((X[:, 0] + rng.normal(size=100)).tolist())
    d = co.CCA(n_components=1).fit(X, y).decomposition_
    before = d.conditional_expectation(lambda values: np.asarray(values, dtype=float).ravel(), X[:3])
    if isinstance(y, list):
        y[0] = 1e6
    else:
        y.iloc[0] = 1e6
    after = d.conditional_expectation(lambda values: np.asarray(values, dtype=float).ravel(), X[:3])
    np.testing.assert_array_equal(before, after)
