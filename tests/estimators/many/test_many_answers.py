"""More answers than a matrix of moments has room for: the same analysis from sparse rows."""

import numpy as np
import pandas as pd
import pytest

import correspondence as co
from correspondence.estimators.many import base


def survey(n=600, widths=(7, 5, 40, 3), seed=0):
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    place = [np.clip((hidden + rng.normal(size=n) + 3) / 6, 0, 0.999) for _ in widths]
    return pd.DataFrame({f"q{j}": [f"a{int(p * width)}" for p in place[j]] for j, width in enumerate(widths)})


@pytest.fixture
def few_moments(monkeypatch):
    monkeypatch.setattr(base, "MAX_MOMENTS", 10)


def fit_both(monkeypatch, frame, sample_weight=None, **options):
    dense = co.MCA(3, **options).fit(frame, sample_weight=sample_weight)
    monkeypatch.setattr(base, "MAX_MOMENTS", 10)
    return dense, co.MCA(3, **options).fit(frame, sample_weight=sample_weight)


def assert_same(dense, sparse, frame):
    np.testing.assert_allclose(sparse.inertias_, dense.inertias_, rtol=1e-8)
    np.testing.assert_allclose(sparse.total_inertia_, dense.total_inertia_, rtol=1e-8)
    np.testing.assert_allclose(sparse.shares_, dense.shares_, rtol=1e-8)
    np.testing.assert_allclose(sparse.eta2_, dense.eta2_, atol=1e-8)
    assert sparse.columns_.labels.tolist() == dense.columns_.labels.tolist()
    for name in ("mass", "inertia", "principal", "contributions", "cos2", "chi2_distance"):
        np.testing.assert_allclose(getattr(sparse.columns_, name), getattr(dense.columns_, name), atol=1e-8)
        np.testing.assert_allclose(getattr(sparse.rows_, name), getattr(dense.rows_, name), atol=1e-8)
    np.testing.assert_allclose(sparse.transform(frame), dense.transform(frame), atol=1e-8)


@pytest.mark.parametrize("correction", ["indicator", "burt", "adjusted"])
def test_equals_the_analysis_of_moments(monkeypatch, correction):
    frame = survey()
    assert_same(*fit_both(monkeypatch, frame, correction=correction), frame)


@pytest.mark.parametrize("missing", ["indicator", "average", "passive"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_missing_answers_and_weights(monkeypatch, missing, is_weighted):
    rng = np.random.default_rng(1)
    frame = survey()
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    weights = rng.integers(0, 3, len(frame)) if is_weighted else None
    if is_weighted:
        frame.loc[weights == 0, "q2"] = "a0"  # so that no answer is unknown in transform
    keep = frame.notna().any(axis=1)
    frame, weights = frame[keep], None if weights is None else weights[keep]
    dense, sparse = fit_both(monkeypatch, frame, weights, missing=missing, handle_unknown="missing")
    assert_same(dense, sparse, frame)


@pytest.mark.parametrize("correction", ["indicator", "burt"])
def test_excluded_answers(monkeypatch, correction):
    frame = survey()
    dense, sparse = fit_both(monkeypatch, frame, correction=correction, exclude=["q0:a3", "q3:a1"], min_share=0.01)
    assert len(dense.columns_) < 50
    assert_same(dense, sparse, frame)


def test_ten_axes_unless_more_are_wanted(few_moments):
    frame = survey()
    assert co.MCA().fit(frame).pics_.shape == (10,)
    assert co.MCA(15).fit(frame).pics_.shape == (15,)


def test_more_axes_than_there_are(few_moments):
    frame = survey(widths=(5, 7))
    with pytest.warns(co.FewerComponents, match="n_components"):
        mca = co.MCA(50).fit(frame)
    ca = co.CA().fit(frame["q0"], frame["q1"])
    np.testing.assert_allclose(mca.pics_[:4], (1 + ca.correlations_) / 2, rtol=1e-8)


def test_conventions_that_need_the_whole_table_are_refused(few_moments):
    with pytest.raises(ValueError, match=r"correction.*joint"):
        co.MCA(correction="joint").fit(survey())
    with pytest.raises(ValueError, match=r"correction.*adjusted"):
        co.MCA(correction="adjusted", exclude=["q0:a3"]).fit(survey())


def test_ten_thousand_answers():
    rng = np.random.default_rng(0)
    n = 40_000
    town = rng.integers(0, 10_000, n)
    frame = pd.DataFrame({"town": town, "party": (town + rng.integers(0, 3, n)) % 5, "age": rng.integers(0, 4, n)})
    with pytest.warns(co.LeftOut, match="town"):
        mca = co.MCA(2).fit(frame)
    assert len(mca.columns_) == len(np.unique(town)) + 9
    scores = mca.transform(frame)
    np.testing.assert_allclose(scores.T @ scores / n, np.eye(2), atol=1e-8)
    for j, name in enumerate(frame):  # the definition: the mean of the squared correlation ratios
        explained = [pd.Series(z).groupby(frame[name]).transform("mean").var(ddof=0) for z in scores.T]
        np.testing.assert_allclose(mca.eta2_[j], explained, atol=1e-8)
    np.testing.assert_allclose(mca.pics_, mca.eta2_.mean(axis=0), rtol=1e-8)
    np.testing.assert_allclose(mca.decomposition_.f(frame), scores, atol=1e-10)
