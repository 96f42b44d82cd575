"""What columns say of each other on held-out rows, and the ellipses of answers."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import correspondence as co

CORRECTIONS = ("indicator", "burt", "adjusted", "joint")


def draw_survey(n, widths=(2, 3, 4, 3, 2), classes=3, truth=0.7, seed=0):
    """Columns of answers that depend on a hidden class, and nothing else."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(classes, size=n)
    columns = {}
    for j, width in enumerate(widths):
        said = np.where(rng.random(n) < truth, (hidden * (j + 1)) % width, rng.integers(width, size=n))
        columns[f"q{j}"] = [f"a{answer}" for answer in said]
    return pd.DataFrame(columns)


def predict_by_rows(train, test, d):
    """Leave out each column in turn with rows and least squares, as the definition says."""
    mca = co.MCA(n_components=d).fit(train)
    shares = []
    for name in train.columns:
        answers = sorted(train[name].unique())
        root = np.sqrt([(train[name] == answer).mean() for answer in answers])
        x, x_new = (
            np.column_stack([frame[name] == answer for answer in answers]) / root - root for frame in (train, test)
        )
        z, z_new = (score_without(mca, frame, train, name) for frame in (train, test))
        for j in range(1, d + 1):
            slopes = np.linalg.lstsq(z[:, :j], x, rcond=None)[0]
            shares.append(1 - ((x_new - z_new[:, :j] @ slopes) ** 2).sum() / (x_new**2).sum())
    return np.reshape(shares, (-1, d))


def score_without(mca, frame, train, name):
    scores = 0
    for column in train.columns:
        if column != name:
            labels = [f"{column}:{answer}" for answer in frame[column]]
            place = [mca.columns_.labels.tolist().index(label) for label in labels]
            scores = scores + mca.columns_.standard[place] / mca.correlations_ / len(train.columns)
    return scores


def test_each_column_is_predicted_from_the_scores_of_the_others():
    frame = draw_survey(500)
    train, test = frame[:300], frame[300:]
    held = co.MCA(n_components=3).fit(train).evaluate(test)
    np.testing.assert_allclose(held.r2, predict_by_rows(train, test, 3), rtol=1e-9)
    np.testing.assert_allclose(held.training, predict_by_rows(train, train, 3), rtol=1e-9)
    assert held.names.tolist() == frame.columns.tolist()
    assert held.n == 200


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_rows_of_the_fit_give_the_training_figures(correction):
    frame = draw_survey(300)
    held = co.MCA(n_components=2, correction=correction).fit(frame).evaluate(frame)
    np.testing.assert_allclose(held.r2, held.training, rtol=1e-9)
    assert (np.diff(held.training, axis=1) >= -1e-12).all()
    assert held.training.min() > 0


def test_two_columns_are_correspondence_analysis():
    frame = draw_survey(400, widths=(4, 3), truth=0.5)
    ca, mca = co.CA().fit(frame["q0"], frame["q1"]), co.MCA().fit(frame)
    explained = np.cumsum(ca.pics_)
    training = mca.evaluate(frame).r2
    np.testing.assert_allclose(training[0, :2], explained / 3, rtol=1e-9)
    np.testing.assert_allclose(training[1, :2], explained / 2, rtol=1e-9)
    # Later axes are mirror images of the first: nothing is added twice.
    np.testing.assert_allclose(training[:, 2:], np.tile(training[:, 1:2], training.shape[1] - 2), rtol=1e-7)


def test_weights_are_copies():
    frame = draw_survey(300)
    weights = 1 + np.arange(100) % 3
    mca = co.MCA(n_components=2).fit(frame[:200])
    weighted = mca.evaluate(frame[200:], sample_weight=weights)
    repeated = mca.evaluate(frame[200:].iloc[np.repeat(np.arange(100), weights)])
    np.testing.assert_allclose(weighted.r2, repeated.r2, rtol=1e-9)
    assert weighted.n == weights.sum()


def test_excluded_answers_take_no_part():
    frame = draw_survey(400)
    mca = co.MCA(n_components=2, exclude=["q1:a0", "q2:a3"]).fit(frame[:300])
    held = mca.evaluate(frame[300:])
    np.testing.assert_allclose(mca.evaluate(frame[:300]).r2, held.training, rtol=1e-9)
    assert np.isfinite(held.r2).all()


def test_unknown_answers():
    frame = draw_survey(300)
    new = frame[200:].copy()
    new.iloc[:10, 1] = "never heard of"
    with pytest.raises(ValueError, match=r"q1.*not in the fit"):
        co.MCA(2).fit(frame[:200]).evaluate(new)
    left_out = co.MCA(2, handle_unknown="nan").fit(frame[:200])
    with pytest.warns(co.LeftOut, match="10 of 100"):
        held = left_out.evaluate(new)
    np.testing.assert_allclose(held.r2, left_out.evaluate(new[10:]).r2, rtol=1e-12)
    as_missing = co.MCA(2, handle_unknown="missing").fit(frame[:200]).evaluate(new)
    assert as_missing.n == 100
    assert np.isfinite(as_missing.r2).all()


@pytest.mark.parametrize("missing", ["indicator", "average", "passive", "impute", "drop", "error"])
def test_missing_answers(missing):
    frame = draw_survey(400)
    gaps = frame.mask(np.random.default_rng(1).random(frame.shape) < 0.05)
    if missing == "error":
        with pytest.raises(ValueError, match="missing"):
            co.MCA(2, missing=missing).fit(frame[:300]).evaluate(gaps[300:])
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.LeftOut)
        mca = co.MCA(2, missing=missing).fit(gaps[:300])
        held, own = mca.evaluate(gaps[300:]), mca.evaluate(gaps[:300])
        crossed = co.crossfit(co.MCA(2, missing=missing), gaps)
    np.testing.assert_allclose(own.r2, held.training, rtol=1e-9)
    complete = int(gaps[300:].notna().all(axis=1).sum())
    if missing != "passive":  # whose rows weigh as much as they answered
        assert held.n == (complete if missing == "drop" else 100)
    assert 0.1 < crossed.mean[1] < 0.6


def test_bad_input_is_refused():
    mca = co.MCA(2).fit(draw_survey(100))
    with pytest.raises(ValueError, match="columns of the fit"):
        mca.evaluate(draw_survey(10)[["q0", "q1"]])
    with pytest.raises(ValueError, match="sample_weight"):
        mca.evaluate(draw_survey(10), sample_weight=[1, 2])
    with pytest.raises(ValueError, match="X must be in memory"):
        mca.evaluate("rows.csv")
    with pytest.raises(ValueError, match="n_resamples"):
        mca.bootstrap(1)
    with pytest.raises(ValueError, match="align"):
        mca.bootstrap(10, align="somehow")


def test_very_many_answers_are_refused():
    many = np.random.default_rng(0).integers(4000, size=(20_000, 2)).astype(str)
    with pytest.warns(co.LeftOut, match="very many answers"), pytest.raises(ValueError, match="3,000"):
        co.crossfit(co.MCA(2), many)


def test_the_result_is_a_table():
    held = co.MCA(n_components=2).fit(draw_survey(100)).evaluate(draw_survey(100, seed=1))
    frame = held.to_frame("polars")
    assert frame.columns == ["column", "r2_1", "r2_2", "training_1", "training_2"]
    np.testing.assert_allclose(frame["r2_2"].to_numpy(), held.r2[:, 1])
    assert repr(held).count("\n") == 2 + len(held)
    np.testing.assert_allclose(held.mean, held.r2.mean(axis=0))


def test_bootstrap_is_reproducible_and_can_be_drawn():
    frame = pl.DataFrame({name: own.tolist() for name, own in draw_survey(200).items()})
    mca = co.MCA(n_components=3).fit(frame)
    one, other = (mca.bootstrap(30, random_state=0) for _ in range(2))
    np.testing.assert_array_equal(one.column_covariance, other.column_covariance)
    assert one.column_covariance.shape == (14, 2, 2)
    assert one.row_covariance.shape == (0, 2, 2)
    assert (one.column_ellipses().width > 0).all()
    assert len(one.row_ellipses().width) == 0


@pytest.mark.slow
def test_ellipses_shrink_with_the_root_of_the_number_of_rows():
    small, large = (co.MCA(2).fit(draw_survey(n)).bootstrap(60, random_state=0) for n in (200, 3200))
    ratio = small.column_ellipses().width / large.column_ellipses().width
    assert 2.5 < np.median(ratio) < 6  # 4, with the noise of 60 resamples


def test_answers_that_are_not_drawn_have_no_place():
    frame = draw_survey(100)
    frame.loc[0, "q0"] = "rare"
    mca = co.MCA(2).fit(frame)
    spread = mca.bootstrap(60, random_state=0)
    rare = mca.columns_.labels.tolist().index("q0:rare")
    assert 20 < spread.column_draws[rare] < 55  # 63 % of the resamples have it
    assert (np.delete(spread.column_draws, rare) == 60).all()


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_bootstrap_by_all_conventions(correction):
    mca = co.MCA(2, correction=correction).fit(draw_survey(300))
    assert np.isfinite(mca.bootstrap(10, random_state=0).column_covariance).all()


# --- numbers and answers


def draw_mixed(n, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    frame = {"a": z + rng.normal(size=n), "b": 2 * z + rng.normal(size=n), "d": z**2 + 0.3 * rng.normal(size=n)}
    return pd.DataFrame(frame | {"c": np.where(z + rng.normal(size=n) > 0, "yes", "no")})


def test_two_numbers_predict_each_other_by_their_correlation():
    frame = draw_mixed(300)[["a", "b"]]
    held = co.MixedCA(1).fit(frame[:200]).evaluate(frame[200:])
    np.testing.assert_allclose(held.training[:, 0], frame[:200].corr().iloc[0, 1] ** 2, rtol=1e-9)
    slope, constant = np.polyfit(frame["b"][:200], frame["a"][:200], 1)
    left = frame["a"][200:] - constant - slope * frame["b"][200:]
    total = frame["a"][200:] - frame["a"][:200].mean()
    assert held.r2[0, 0] == pytest.approx(1 - (left**2).sum() / (total**2).sum())


@pytest.mark.parametrize(
    "parameters",
    [{}, {"numeric": "smooth"}, {"groups": {"one": ["a", "b"], "two": ["c", "d"]}}, {"standardize": False}],
)
def test_numbers_and_answers(parameters):
    frame = draw_mixed(300)
    mixed = co.MixedCA(2, **parameters).fit(frame)
    held = mixed.evaluate(frame)
    np.testing.assert_allclose(held.r2, held.training, rtol=1e-9, atol=1e-12)
    crossed = co.crossfit(co.MixedCA(2, **parameters), frame)
    assert crossed.names.tolist() == ["a", "b", "d", "c"]
    assert crossed.r2[1, 1] > 0.2
    assert (crossed.r2[2, 1] > 0.1) == ("numeric" in parameters)  # only a curve of d goes with the others
    spread = mixed.bootstrap(10, random_state=0)
    assert np.isfinite(spread.column_covariance).all()
    assert co.permutation_test(co.MixedCA(2, **parameters), frame, n_permutations=19).pvalues.shape == (2,)


def test_a_number_is_never_an_unknown_answer():
    frame = draw_mixed(100)
    frame.loc[3, "a"] = -2.0  # the code of unknown answers
    mixed = co.MixedCA(2).fit(frame)
    assert np.isfinite(mixed.transform(frame)).all()
    assert mixed.evaluate(frame).n == 100


def test_a_subpopulation_cannot_be_drawn_again():
    frame = draw_survey(100)
    with pytest.raises(ValueError, match="subpopulation"):
        co.MCA(2).fit(frame, subpopulation=np.arange(50)).bootstrap(10)


@pytest.mark.slow
def test_imputed_answers_are_not_judged():
    # Answers filled in by the others would be predicted by them all too well.
    frame = draw_survey(600, widths=(3,) * 8, truth=0.9)
    gaps = frame.mask((np.random.default_rng(2).random(frame.shape) < 0.4) & (frame.columns != "q0"))
    imputed, average = (co.MCA(2, missing=missing).fit(gaps[:300]) for missing in ("impute", "average"))
    assert imputed.inertias_[0] > 1.1 * average.inertias_[0]
    held = imputed.evaluate(gaps[300:])
    np.testing.assert_allclose(held.mean, average.evaluate(gaps[300:]).mean, atol=0.05)
    assert held.mean[1] < co.MCA(2).fit(frame[:300]).evaluate(frame[300:]).mean[1]
    np.testing.assert_allclose(imputed.evaluate(gaps[:300]).r2, held.training, rtol=1e-9)
