"""What is left of two variables once others are given: CCA and ACE with fit(X, Y, given=Z)."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import correspondence as co
from correspondence.data.beside_given import BesideGiven

pytestmark = pytest.mark.filterwarnings("ignore::correspondence.UncertainInterval")
BOTH = pytest.mark.parametrize("est", [co.CCA(1), co.ACE(1)], ids=["CCA", "ACE"])


def draw_common_cause(n, curve, seed=0):
    """x and y that follow z and are independent given z."""
    rng = np.random.default_rng(seed)
    z, *noise = rng.normal(size=(3, n))
    return curve(z) + 0.7 * noise[0], curve(z) + 0.7 * noise[1], z


@pytest.fixture(scope="module")
def linked():
    """x and y that follow z and also each other."""
    rng = np.random.default_rng(0)
    z, shared, a, b = rng.normal(size=(4, 600))
    return z**2 + shared + 0.5 * a, z + shared + 0.5 * b, z


def partial_cca(X, Y, Z):
    """Canonical correlations of least-squares residuals."""
    Z = np.column_stack([np.ones(len(Z)), Z])
    x, y = (np.linalg.qr(A - Z @ np.linalg.lstsq(Z, A, rcond=None)[0])[0] for A in (X, Y))
    return np.linalg.svd(x.T @ y)[1]


@BOTH
@pytest.mark.parametrize("curve", [lambda z: z, lambda z: z**2, np.sin], ids=["line", "parabola", "sine"])
def test_nothing_is_left_of_a_common_cause_on_fresh_pairs(est, curve):
    x, y, z = draw_common_cause(1000, curve)
    fresh = draw_common_cause(2000, curve, seed=1)
    est = clone(est).fit(x, y, given=z)
    assert abs(est.evaluate(*fresh[:2], given=fresh[2]).correlations[0]) < 0.07
    assert abs(co.CCA(1).fit(x, y).evaluate(*fresh[:2]).correlations[0]) > 0.25


def test_five_causes_and_a_curve_of_their_sum():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(2000, 5))
    x, y = np.tanh(z.sum(axis=1)) + 0.5 * rng.normal(size=(2, 2000))
    est = co.ACE(1).fit(x[:1000], y[:1000], given=z[:1000])
    assert abs(est.evaluate(x[1000:], y[1000:], given=z[1000:]).correlations[0]) < 0.1
    assert co.ACE(1).fit(x[:1000], y[:1000]).correlations_[0] > 0.5


@BOTH
def test_what_is_left_is_found(est, linked):
    x, y, z = linked
    est = clone(est).fit(x[:400], y[:400], given=z[:400])
    held_out = est.evaluate(x[400:], y[400:], given=z[400:]).correlations[0]
    assert held_out == pytest.approx(0.8, abs=0.07)  # of shared + noise


@BOTH
def test_noise_explains_nothing(est, linked):
    x, y, _ = linked
    noise = np.random.default_rng(1).normal(size=len(x))
    np.testing.assert_allclose(
        clone(est).fit(x, y, given=noise).correlations_, clone(est).fit(x, y).correlations_, atol=0.06
    )


@pytest.mark.slow
def test_correlations_of_normal_variables_are_partial_canonical_correlations():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    data = rng.normal(size=(20_000, 6)) @ root
    X, Y, Z = data[:, :2], data[:, 2:4], data[:, 4:]
    S = root.T @ root
    C = S[:4, :4] - S[:4, 4:] @ np.linalg.solve(S[4:, 4:], S[4:, :4])
    x, y = (np.linalg.inv(np.linalg.cholesky(part)) for part in (C[:2, :2], C[2:, 2:]))
    exact = np.linalg.svd(x @ C[:2, 2:] @ y.T)[1]
    found = co.CCA(2).fit(X, Y, given=Z)
    np.testing.assert_allclose(found.correlations_, exact, atol=0.02)
    np.testing.assert_allclose(found.correlations_, partial_cca(X, Y, Z), atol=0.003)
    assert found.decomposition_.chi2 == pytest.approx(found.pics_.sum())


def test_labels_leave_deviations_from_their_means():
    rng = np.random.default_rng(0)
    label = rng.integers(0, 4, 800)
    X = rng.normal(size=(800, 2)) + label[:, None] ** 2
    Y = X[:, :1] + 2 * rng.normal(size=(800, 1)) - 5 * label[:, None]
    est = co.CCA(1).fit(X, Y, given=label.astype(str))
    np.testing.assert_allclose(est.correlations_, partial_cca(X, Y, np.eye(4)[label][:, 1:]), atol=1e-3)
    left = est.transform(X, given=label.astype(str))
    means = [left[label == k].mean() for k in range(4)]
    np.testing.assert_allclose(means, 0, atol=0.01)


@BOTH
def test_affine_maps_of_what_is_given_change_nothing(est, linked):
    x, y, z = linked
    Z = np.column_stack([z, x + np.random.default_rng(2).normal(size=len(z))])
    before, after = (clone(est).fit(x, y, given=g) for g in (Z, Z * [3.0, -0.2] + [100.0, 5.0]))
    np.testing.assert_allclose(before.correlations_, after.correlations_, atol=1e-3)


@BOTH
def test_scale_of_the_functions(est, linked):
    x, y, z = linked
    est = clone(est).fit(x, y, given=z)
    F, G = est.transform(x, y, given=z)
    np.testing.assert_array_equal(est.transform(x, given=z), F)
    np.testing.assert_array_equal(est.transform_y(y, given=z), G)
    np.testing.assert_array_equal(clone(est).fit_transform(x, y, given=z), F)
    np.testing.assert_array_equal(est.decomposition_.f(x, given=z), F)
    np.testing.assert_allclose([F.var(), G.var()], 1, atol=0.1)  # exactly 1 for cross-fitted regressions
    np.testing.assert_allclose(np.corrcoef(F[:, 0], G[:, 0])[0, 1], est.correlations_[0], atol=0.03)
    assert abs(np.corrcoef(F[:, 0], z**2)[0, 1]) < 0.05


@BOTH
def test_values_beside_the_given_ones_are_the_same_fit(est, linked):
    x, y, z = linked
    beside = BesideGiven(x, z), BesideGiven(y, z)
    one, other = clone(est).fit(*beside), clone(est).fit(x, y, given=z)
    np.testing.assert_array_equal(one.pics_, other.pics_)
    np.testing.assert_array_equal(one.transform(beside[0]), other.transform(x, given=z))
    assert one.evaluate(*beside).captured == other.evaluate(x, y, given=z).captured
    assert one.score(*beside) == other.score(x, y, given=z)


@BOTH
def test_frames_and_missing_values(est):
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame({"age": rng.normal(size=n), "town": rng.choice(["a", "b", "c"], n)})
    x, y = frame["age"].to_numpy() + rng.normal(size=(2, n))
    frame.loc[:19, "age"] = None
    fit = clone(est).fit(x, y, given=frame)
    assert np.isfinite(fit.transform(x, given=frame)).all()
    with pytest.raises(ValueError, match="given has missing"):
        clone(est).set_params(missing="error").fit(x, y, given=frame)
    with pytest.warns(co.LeftOut, match="20 of 300"):
        dropped = clone(est).set_params(missing="drop").fit(x, y, given=frame)
    whole = clone(est).fit(x[20:], y[20:], given=frame[20:])
    np.testing.assert_array_equal(dropped.pics_, whole.pics_)
    with pytest.raises(ValueError, match="given has missing"):
        dropped.transform(x, given=frame)


@BOTH
def test_unknown_labels_in_new_data(est):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 200))
    z = rng.choice(["a", "b"], 200)
    fit = clone(est).fit(x, y, given=z)
    with pytest.raises(ValueError, match="given has the label 'new'"):
        fit.transform(x[:1], given=["new"])
    tolerant = clone(est).set_params(handle_unknown="missing").fit(x, y, given=z)
    assert np.isfinite(tolerant.transform(x[:1], given=["new"])).all()


@BOTH
def test_what_is_determined_is_left_out(est, linked):
    x, y, z = linked
    labels = np.random.default_rng(0).integers(0, 40, len(z))
    for X, Z in (
        (z, 3 * z + 1),
        (np.column_stack([z, x]), np.column_stack([x, z])),
        (labels**2 % 7, labels.astype(str)),
    ):
        with pytest.warns(co.LeftOut, match="given determines"), pytest.warns(co.FewerComponents):
            fit = clone(est).fit(X, y, given=Z)
        assert fit.pics_.size == 0
        assert fit.transform(X, given=Z).shape == (len(y), 0)
    with pytest.warns(co.LeftOut, match="'z' of X"):
        some = clone(est).fit(pd.DataFrame({"x": x, "z": z}), y, given=z)
    np.testing.assert_allclose(some.correlations_, clone(est).fit(x, y, given=z).correlations_, atol=0.01)


@BOTH
def test_groups_are_held_out_together(est):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 5)
    z, x, y = (np.repeat(rng.normal(size=60), 5) + 0.01 * rng.normal(size=300) for _ in range(3))
    alone, together = (clone(est).fit(x, y, given=z, groups=g) for g in (None, groups))
    # A row alone is expected from its own copies, and little is left of it.
    assert together.transform(x, given=z).std() < alone.transform(x, given=z).std()


@BOTH
def test_any_regressor(est, linked):
    x, y, z = linked
    fit = clone(est).set_params(given_regressor=Ridge()).fit(x, z + y, given=z)
    assert fit.correlations_[0] > 0.4
    assert fit.transform(x[:3], given=z[:3]).shape == (3, 1)
    with pytest.raises(TypeError, match="given_regressor=None"):
        fit.decomposition_.state()
    for bad in (Ridge, "ridge", LogisticRegression()):
        with pytest.raises(ValueError, match="given_regressor must"):
            clone(est).set_params(given_regressor=bad).fit(x, y, given=z)


@pytest.mark.slow
@BOTH
def test_save_load_pickle_and_truncate(est, linked, tmp_path):
    x, y, z = linked
    frame = pd.DataFrame({"z": z, "sign": np.where(z > 0, "plus", "minus")})
    fit = clone(est).set_params(n_components=1).fit(x, y, given=frame)
    fit.decomposition_.save(tmp_path / "model")
    again = co.load(tmp_path / "model")
    np.testing.assert_allclose(again.f(x, given=frame), fit.transform(x, given=frame), atol=1e-12)
    np.testing.assert_allclose(again.g(y, given=frame), fit.transform_y(y, given=frame), atol=1e-12)
    assert again.evaluate(x, y, given=frame).captured == pytest.approx(fit.score(x, y, given=frame))
    same = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(same.transform(x, given=frame), fit.transform(x, given=frame))
    assert fit.decomposition_.truncate(0).f(x, given=frame).shape == (len(x), 0)


def test_scikit_learn_conventions(linked):
    x, y, z = linked
    X = pd.DataFrame({"x": x, "w": np.sin(x)}, index=np.arange(len(x)) + 7)
    est = co.CCA(1).set_output(transform="pandas").fit(X, y, given=z)
    frame = est.transform(X, given=z)
    assert frame.columns.tolist() == ["f1"]
    assert frame.index.equals(X.index)
    assert est.transform_y(y, given=z).columns.tolist() == ["g1"]
    assert clone(est).get_params() == est.get_params()
    pipe = make_pipeline(StandardScaler(), co.CCA(1)).fit(X.to_numpy(), y, cca__given=z)
    np.testing.assert_allclose(pipe[-1].correlations_, est.correlations_)


def test_wide_data_have_a_ridge():
    rng = np.random.default_rng(0)
    z, noise = rng.normal(size=(150, 1)), rng.normal(size=(150, 80))
    shared = rng.normal(size=(150, 1))
    X = z + np.hstack([shared + 0.3 * noise[:, :2], noise[:, 2:40]])
    Y = z**2 + np.hstack([shared + 0.3 * noise[:, 40:42], noise[:, 42:]])
    est = co.CCA(1).fit(X[:100], Y[:100], given=z[:100])
    assert est.regularization_[0] > 0
    assert est.evaluate(X[100:], Y[100:], given=z[100:]).correlations[0] > 0.6


def test_texts_and_sparse_columns():
    rng = np.random.default_rng(0)
    topic, place = rng.integers(0, 2, (2, 300))
    texts = [
        f"{'tea cup' if t else 'beer glass'} {'north hill' if p else 'south sea'}"
        for t, p in zip(topic, place, strict=True)
    ]
    y = topic + 3 * place + 0.5 * rng.normal(size=300)
    with pytest.warns(co.LeftOut, match="combination.*of X"):  # the words of the place
        est = co.CCA(1).fit(texts, y, given=place.astype(str))
    assert est.correlations_[0] == pytest.approx(0.7, abs=0.06)
    assert est.evaluate(texts, y, given=place.astype(str)).correlations[0] == pytest.approx(
        est.correlations_[0], abs=0.02
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"a": np.zeros(50), "b": np.zeros(49)},
            "given must hold columns of the same length, got 50.*49 of 'b'",
        ),
        ({"a": np.zeros((50, 2))}, "given must hold columns.*got 2 dimensions of 'a'"),
        ({"a": np.arange(50), "b": 3}, "given must hold columns.*got 0 dimensions of 'b'"),
    ],
)
def test_dictionaries_of_other_than_columns_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        co.CCA(1).fit(np.arange(50.0), np.arange(50.0), given=given)


def test_columns_of_a_dictionary_may_have_any_form(linked):
    x, y, z = linked
    expected = co.CCA(1).fit(x, y, given=z).correlations_
    for column in (list(z), pd.Series(z), z):
        np.testing.assert_allclose(co.CCA(1).fit(x, y, given={"z": column}).correlations_, expected)


@pytest.mark.slow
@pytest.mark.parametrize("est", [co.CCA(1), co.ACE(1)], ids=["CCA", "ACE"])
def test_nothing_can_be_tested_if_each_pair_has_a_label_of_its_own(est):
    x, y = np.random.default_rng(0).normal(size=(2, 80))
    with pytest.raises(ValueError, match="given must leave something"):
        co.permutation_test(est, x, x + y, 99, given=[f"id{i}" for i in range(80)])


@BOTH
def test_refusals(est, linked):
    x, y, z = linked
    with pytest.raises(ValueError, match="given must have one row for each of the 600"):
        clone(est).fit(x, y, given=z[:-1])
    with pytest.raises(ValueError, match="given has one value only"):
        clone(est).fit(x, y, given=np.ones(600))
    with pytest.raises(ValueError, match="Y is missing"):
        clone(est).fit(x, given=z)
    with pytest.raises(ValueError, match="same length"):
        clone(est).fit(x, y[:-1], given=z)
    with pytest.raises(ValueError, match="given must be None with Pairs"):
        clone(est).fit(co.Pairs(pd.DataFrame({"x": x, "y": y}), "x", "y"), given=z)
    fit = clone(est).fit(x, y, given=z)
    d = fit.decomposition_
    for evaluate in (fit.transform, fit.transform_y, d.f, d.g):
        with pytest.raises(ValueError, match="given must hold the given variables"):
            evaluate(x)
    for evaluate in (fit.evaluate, fit.score, d.evaluate):
        with pytest.raises(ValueError, match="given must hold the given variables"):
            evaluate(x, y)
    with pytest.raises(ValueError, match="given must have one row for each of the 3"):
        fit.transform(x[:3], given=z)
    with pytest.raises(ValueError, match="given must be None in the fit for a density ratio"):
        d.density_ratio(x, y)
    with pytest.raises(ValueError, match="given must be None in the fit for an expectation"):
        d.conditional_expectation(np.square, x)
    plain = clone(est).fit(x, y)
    for evaluate in (plain.transform, plain.evaluate, plain.decomposition_.evaluate):
        with pytest.raises(ValueError, match="given must be None, as in the fit"):
            evaluate(x, y, given=z)


def test_ace_takes_no_regressors_of_x_or_y_with_given_variables(linked):
    x, y, z = linked
    with pytest.raises(ValueError, match="x_regressor must be None if there are given variables"):
        co.ACE(1, x_regressor=Ridge()).fit(x, y, given=z)
