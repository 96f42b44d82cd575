"""What holds for every table: many columns are one idea."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import correspondence as co


@st.composite
def surveys(draw, max_columns=5):
    """Draw tables of answers that vary, with a few answers each."""
    n, k = draw(st.integers(8, 40)), draw(st.integers(2, max_columns))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    letters = np.array(list("abcd"), dtype=object)
    columns = {f"q{j}": letters[rng.integers(rng.integers(2, 5), size=n)] for j in range(k)}
    for values in columns.values():
        values[:2] = ["a", "b"]
    return pd.DataFrame(columns)


def draw_mixed(seed=0, n=60):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=n)
    return pd.DataFrame(
        {
            "a": u + rng.normal(size=n),
            "b": 3 - 2 * u + rng.normal(size=n),
            "c": np.where(u + rng.normal(size=n) > 0, "yes", "no"),
            "d": rng.choice(["x", "y", "z"], n),
        }
    )


@settings(max_examples=30, deadline=None)
@given(surveys())
def test_mca_is_correspondence_analysis_of_the_indicator_table(frame):
    ca, mca = co.CA().fit(co.indicator_table(frame)), co.MCA().fit(frame)
    d = len(mca.inertias_)
    np.testing.assert_allclose(mca.inertias_, ca.pics_[:d], atol=1e-12)
    np.testing.assert_allclose(ca.pics_[d:], 0, atol=1e-12)
    assert mca.total_inertia_ == pytest.approx(ca.decomposition_.chi2)
    answers = sum(frame[name].nunique() for name in frame)
    assert mca.total_inertia_ == pytest.approx((answers - frame.shape[1]) / frame.shape[1])
    for ours, theirs in ((mca.rows_, ca.rows_), (mca.columns_, ca.columns_)):
        np.testing.assert_allclose(ours.mass, theirs.mass, atol=1e-12)
        np.testing.assert_allclose(ours.chi2_distance, theirs.chi2_distance, atol=1e-9)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(surveys(max_columns=2))
def test_two_columns_are_correspondence_analysis(frame):
    ca, mca = co.CA().fit(frame["q0"], frame["q1"]), co.MCA().fit(frame)
    together = np.sort(np.r_[(1 + ca.correlations_) / 2, (1 - ca.correlations_) / 2])[::-1]
    d = len(ca.correlations_)
    np.testing.assert_allclose(mca.inertias_[:d], together[:d], atol=1e-10)
    joint = co.MCA(1, correction="joint").fit(frame)
    assert joint.inertias_[0] == pytest.approx(ca.pics_[0], abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(surveys())
def test_scores_maximise_the_mean_of_squared_correlation_ratios(frame):
    mca = co.MCA().fit(frame)
    scores = mca.transform(frame)
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(scores.T @ scores / len(scores), np.eye(scores.shape[1]), atol=1e-8)
    for j, name in enumerate(frame):
        means = pd.DataFrame(scores).groupby(frame[name].to_numpy()).transform("mean").to_numpy()
        np.testing.assert_allclose((means**2).mean(axis=0), mca.eta2_[j], atol=1e-9)
    np.testing.assert_allclose(mca.eta2_.mean(axis=0), mca.inertias_, atol=1e-10)
    np.testing.assert_allclose(mca.columns_.contributions.sum(axis=0), 1, atol=1e-9)
    np.testing.assert_allclose(mca.rows_.contributions.sum(axis=0), 1, atol=1e-9)
    np.testing.assert_allclose(mca.columns_.cos2.sum(axis=1), 1, atol=1e-8)


@settings(max_examples=20, deadline=None)
@given(surveys(), st.integers(0, 10**6))
def test_weights_are_repetitions_and_order_does_not_matter(frame, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, len(frame))
    weights[:2] = 1
    repeated = frame.iloc[np.repeat(np.arange(len(frame)), weights)]
    if (repeated.nunique() < 2).any():
        return
    a, b = co.MCA().fit(frame, sample_weight=weights), co.MCA().fit(repeated)
    np.testing.assert_allclose(a.inertias_, b.inertias_, atol=1e-10)
    assert a.columns_.labels.tolist() == b.columns_.labels.tolist()
    shuffled = co.MCA().fit(repeated.sample(frac=1, random_state=0).iloc[:, ::-1])
    np.testing.assert_allclose(shuffled.inertias_, b.inertias_, atol=1e-10)


def test_numbers_are_principal_components():
    frame = draw_mixed()[["a", "b"]]
    mixed = co.MixedCA().fit(frame)
    np.testing.assert_allclose(mixed.inertias_, np.linalg.eigvalsh(np.corrcoef(frame.T))[::-1])
    assert mixed.columns_.labels.size == 0


def test_answers_only_are_mca_times_the_number_of_columns():
    frame = draw_mixed()[["c", "d"]]
    mixed, mca = co.MixedCA().fit(frame), co.MCA().fit(frame)
    np.testing.assert_allclose(mixed.inertias_, 2 * mca.inertias_)
    np.testing.assert_allclose(mixed.pics_, mca.pics_)
    np.testing.assert_allclose(mixed.columns_.contributions, mca.columns_.contributions, atol=1e-12)
    np.testing.assert_allclose(mixed.transform(frame), mca.transform(frame), atol=1e-10)


def test_inertias_are_sums_of_squared_correlations():
    mixed = co.MixedCA().fit(draw_mixed())
    np.testing.assert_allclose(mixed.eta2_.sum(axis=0), mixed.inertias_)
    total = mixed.numbers_.contributions.sum(axis=0) + mixed.columns_.contributions.sum(axis=0)
    np.testing.assert_allclose(total, 1)
    np.testing.assert_allclose(mixed.eta2_[:2], mixed.numbers_.correlations**2)


@pytest.mark.parametrize("estimator", [co.MCA(2), co.MixedCA(2), co.MixedCA(2, numeric="smooth")])
def test_libraries_and_saved_models_agree(estimator, tmp_path):
    frame = draw_mixed()
    frame = frame[["c", "d"]] if isinstance(estimator, co.MCA) else frame
    expected = estimator.fit(frame).transform(frame)
    estimator.decomposition_.save(tmp_path / "model")
    np.testing.assert_allclose(co.load(tmp_path / "model").f(frame), expected)
    for other in (pl.from_pandas(frame), pl.from_pandas(frame).to_arrow(), frame.to_numpy()):
        np.testing.assert_allclose(estimator.fit(other).transform(other), expected, atol=1e-9)


def test_one_group_alone_changes_only_the_scale():
    frame = draw_mixed()
    plain, grouped = co.MixedCA().fit(frame), co.MixedCA(groups={"all": list(frame)}).fit(frame)
    np.testing.assert_allclose(grouped.inertias_, plain.inertias_ / plain.inertias_[0])
    np.testing.assert_allclose(grouped.groups_.RV, 1)
    with pytest.raises(ValueError, match="groups"):
        co.MixedCA(groups={"some": ["a", "b"]}).fit(frame)


class TestSubpopulation:
    def test_all_rows_are_the_plain_analysis(self):
        frame = draw_mixed()[["c", "d"]]
        whole = co.MCA().fit(frame, subpopulation=np.ones(60, dtype=bool))
        np.testing.assert_allclose(whole.inertias_, co.MCA().fit(frame).inertias_)

    def test_distances_are_those_of_all_rows(self):
        frame = draw_mixed()[["c", "d"]]
        mca = co.MCA().fit(frame, subpopulation=np.arange(30))
        indicators = pd.get_dummies(frame).to_numpy(float)
        rows = (indicators / np.sqrt(2 * indicators.mean(axis=0)))[:30]
        known = np.linalg.svd((rows - rows.mean(axis=0)) / np.sqrt(30), compute_uv=False) ** 2
        np.testing.assert_allclose(mca.inertias_, known[: len(mca.inertias_)])
        assert len(mca.rows_) == 30


class TestSmooth:
    def test_bends_are_found(self):
        rng = np.random.default_rng(0)
        u = rng.uniform(-2, 2, 500)
        frame = pd.DataFrame({"a": u, "b": u**2, "c": np.cos(2 * u)}) + 0.1 * rng.normal(size=(500, 3))
        smooth, linear = co.MixedCA(1, numeric="smooth").fit(frame), co.MixedCA(1).fit(frame)
        assert smooth.inertias_[0] > 2.8 > 2.2 > linear.inertias_[0]
        new = pd.DataFrame({"a": u[:5], "b": u[:5] ** 2, "c": np.cos(2 * u[:5])})
        assert np.isfinite(smooth.transform(new)).all()

    def test_straight_lines_stay_nearly_straight(self):
        rng = np.random.default_rng(1)
        frame = pd.DataFrame(rng.normal(size=(300, 1)) + rng.normal(size=(300, 4)), columns=list("abcd"))
        smooth = co.MixedCA(1, numeric="smooth").fit(frame)
        assert smooth.smoothing_ >= 1e-2
        assert (smooth.numbers_.correlations[:, 0] ** 2 / smooth.eta2_[:, 0] > 0.95).all()


@pytest.mark.parametrize("seed", range(3))
def test_joint_axes_of_noise_explain_no_more_than_there_is(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.choice(list("abc"), 200) for name in ("q1", "q2", "q3")})
    mca = co.MCA(2, correction="joint").fit(frame)
    assert (mca.inertias_ <= 1).all()
    assert 0 < mca.explained_share_ <= 1
