"""Missing values in every estimator that encodes columns, and in the calls that choose one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import correspondence as co

ESTIMATORS = [co.CCA(1), co.ACE(1), co.KernelCCA(1, n_landmarks=60)]


@pytest.fixture
def pairs(rng):
    """Pairs whose y depends on a number and a label, both with gaps; the gaps of the label tell something too."""
    n = 400
    x, c = rng.normal(size=n), rng.choice(["a", "b"], n)
    y = x + (c == "a") + 0.3 * rng.normal(size=n)
    X = pd.DataFrame({"x": x, "c": c})
    X.loc[rng.random(n) < 0.3, "x"] = np.nan
    X.loc[rng.random(n) < 0.2, "c"] = None
    return X, y


@pytest.mark.parametrize("est", ESTIMATORS, ids=lambda est: type(est).__name__)
def test_rows_with_gaps_are_kept(est, pairs):
    X, y = pairs
    fitted = est.fit(X, y)
    assert fitted.decomposition_.n == len(y)
    assert fitted.correlations_[0] > 0.7
    assert np.isfinite(fitted.transform(X)).all()
    np.testing.assert_allclose(fitted.transform(pl.from_pandas(X)), fitted.transform(X))


@pytest.mark.parametrize("est", ESTIMATORS, ids=lambda est: type(est).__name__)
def test_gaps_of_new_rows_where_the_fit_had_none(est, pairs):
    X, y = pairs
    complete = X.notna().all(axis=1)
    fitted = est.fit(X[complete], y[complete])
    assert np.isfinite(fitted.transform(X)).all()


def test_gaps_that_tell_something_are_found(rng):
    x = rng.normal(size=500)
    y = np.where(rng.random(500) < 0.5, "present", "absent")
    x[y == "absent"] = np.nan
    assert co.ACE(1).fit(x, y).correlations_[0] > 0.99


def test_pairs_with_gaps_are_dropped_if_asked_for(pairs):
    X, y = pairs
    complete = X.notna().all(axis=1).to_numpy()
    with pytest.warns(co.LeftOut, match=f"{(~complete).sum()} of 400"):
        est = co.CCA(1, missing="drop").fit(X, y)
    np.testing.assert_allclose(est.pics_, co.CCA(1).fit(X[complete], y[complete]).pics_)
    with pytest.raises(ValueError, match="missing='drop'"):
        est.transform(X)


def test_gaps_are_refused_if_asked_for(pairs):
    X, y = pairs
    for call in (co.CCA(1, missing="error").fit, lambda *p: co.decompose(*p, missing="error")):
        with pytest.raises(ValueError, match="X has missing values"):
            call(X, y)
    with pytest.raises(ValueError, match="missing"):
        co.CCA(1, missing="no").fit(X, y)
    with pytest.raises(ValueError, match="missing must be"):
        co.decompose(X, y, missing="no")


def test_missing_labels_are_a_level_of_ca(rng):
    x = rng.choice(np.array(["p", "q", None]), 300)
    y = np.where(x == "p", "u", rng.choice(["u", "v"], 300))
    ca = co.CA().fit(x, y)
    assert ca.rows_.labels.tolist() == ["(missing)", "p", "q"]
    np.testing.assert_array_equal(ca.transform(["(missing)"]), ca.transform([None]))
    with pytest.warns(co.LeftOut, match="300 pairs"):
        dropped = co.CA(missing="drop").fit(x, y, sample_weight=np.ones(300))
    kept = [value is not None for value in x]
    np.testing.assert_allclose(dropped.pics_, co.CA().fit(x[kept], y[kept]).pics_)
    with pytest.raises(ValueError, match="missing"):
        co.CA(missing="error").fit(x, y)


@pytest.mark.slow
def test_decompose_and_compare_keep_all_rows(pairs):
    X, y = pairs
    d = co.decompose(X, y, method="cca", verbose=False)
    assert d.n == len(y)
    comparison = co.compare(X, y, ["cca", "ace"], n_components=1)
    assert comparison.results["cca"].captured > 0.4


def test_a_saved_model_takes_gaps(pairs, tmp_path):
    X, y = pairs
    est = co.ACE(1).fit(X, y)
    est.decomposition_.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(co.load(tmp_path / "model.safetensors").f(X), est.transform(X))


@pytest.mark.parametrize("est", ESTIMATORS, ids=lambda est: type(est).__name__)
def test_unknown_labels_are_like_missing_ones_on_request(est, pairs):
    X, y = pairs
    fitted = clone(est).fit(X, y)
    new, gap = X[:1].assign(c="new"), X[:1].assign(c=None)
    with pytest.raises(ValueError, match=r"label 'new'.*handle_unknown"):
        fitted.transform(new)
    fitted.set_params(handle_unknown="missing")
    np.testing.assert_array_equal(fitted.transform(new), fitted.transform(gap))


def test_unknown_labels_of_ca_are_like_missing_ones_on_request(tmp_path):
    x, y = ["a", "b", None, "a", "c"] * 4, ["u", "v", "v", "u", "u"] * 4
    ca = co.CA(handle_unknown="missing").fit(x, y)
    level = ca.rows_.standard[ca.rows_.labels.tolist().index("(missing)")]
    np.testing.assert_array_equal(ca.transform(["new", None]), [level, level])
    np.testing.assert_allclose(ca.transform_y(["new", None]), 0, atol=1e-12)  # the mean: no y was missing in the fit
    assert ca.score([*x, "new"], [*y, "v"]) == pytest.approx(ca.score([*x, None], [*y, "v"]))
    ca.decomposition_.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(co.load(tmp_path / "model.safetensors").f(["new"]), [level])


def test_unknown_labels_of_ca_and_of_indicators_mean_the_same(rng):
    x, y = rng.choice(list("abc"), 200), rng.choice(list("uv"), 200)
    ca = co.CA(1, handle_unknown="missing").fit(x, y)
    cca = co.CCA(1, handle_unknown="missing", regularization=0).fit(x, y)
    new = ["a", "new", None]
    np.testing.assert_allclose(np.abs(ca.transform(new)), np.abs(cca.transform(new)), atol=1e-8)


def test_ca_evaluates_pairs_with_missing_labels():
    x, y = ["a", "b", None, "a", "c"] * 4, ["u", "v", "v", "u", "u"] * 4
    ca = co.CA().fit(x, y)
    assert ca.score(x, y) == pytest.approx(ca.score([label or "(missing)" for label in x], y))
    assert np.isnan(co.CA(handle_unknown="nan").fit(y, x).transform([None])).all()


def test_gaps_of_more_rows_than_are_sampled(rng):
    gap = rng.random(120_000) < 0.9
    X = pd.DataFrame({"a": np.where(gap, np.nan, 1 + rng.random(len(gap))), "b": rng.normal(size=len(gap))})
    assert co.CCA(1).fit(X, gap + 0.1 * rng.normal(size=len(gap))).correlations_[0] > 0.9


def test_missing_texts_are_empty(rng):
    words = np.array(["red", "blue", "moon", "sun", "star", "sea"])
    texts = [" ".join(rng.choice(words, 4)) + f" {i}" for i in range(300)]
    y = np.array([text.count("red") for text in texts]) + 0.1 * rng.normal(size=300)
    texts[0] = None
    est = co.CCA(1).fit(texts, y)
    assert est.correlations_[0] < 0.999
    assert np.isfinite(est.transform(["red moon", None])).all()


def test_ids_with_gaps_are_labels_in_every_library(rng):
    ids = rng.integers(0, 30, 400).astype(float)
    y = rng.normal(size=30)[ids.astype(int)]
    ids[:20] = np.nan
    X = pd.DataFrame({"userId": ids, "z": rng.normal(size=400)})
    ours = co.CCA(1).fit(X, y).correlations_[0]
    assert ours > 0.9
    theirs = co.CCA(1).fit(pl.from_pandas(X).with_columns(pl.col("userId").cast(pl.Int64)), y).correlations_[0]
    assert theirs == pytest.approx(ours)


@pytest.mark.slow
def test_rare_labels_with_gaps_in_a_frame_of_one_column(rng):
    x = np.r_[rng.choice([f"L{i}" for i in range(8)], 340), [f"rare{i}" for i in range(60)]].astype(object)
    x[:40] = None
    d = co.decompose(pd.DataFrame({"x": x}), rng.choice(list("uvw"), 400), n_components=1, verbose=False)
    assert d.n == 400
