"""Missing answers: as a category, as an average, passive, and filled in."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import correspondence as co

ORACLE = Path(__file__).parents[2] / "oracle"
TOLERANCE = 1e-8


def read_oracle(name, variant):
    table = pd.read_csv(ORACLE / f"poison_na_MCA_{name}.csv")
    return table[table["variant"] == variant]


@pytest.fixture(scope="module")
def poison():
    return pd.read_csv(ORACLE / "poison_na_data.csv", index_col=0).iloc[:, 4:]


@pytest.fixture(scope="module")
def survey():
    """Six questions, 200 rows; two hidden groups of people answer differently."""
    return simulate_answers(np.random.default_rng(3), n=200, k=6, strength=0.8)


def simulate_answers(rng, n, k, strength, levels=3):
    group = rng.integers(0, 2, n)
    usual = rng.integers(0, levels, (2, k))
    usual[1] = (usual[0] + 1 + rng.integers(0, levels - 1, k)) % levels
    codes = np.where(rng.random((n, k)) < strength, usual[group], rng.integers(0, levels, (n, k)))
    return pd.DataFrame({f"q{j}": np.array(["no", "so", "yes", "very"], dtype=object)[codes[:, j]] for j in range(k)})


def mask(frame, share, seed=0):
    is_masked = np.random.default_rng(seed).random(frame.shape) < share
    return frame.mask(is_masked), is_masked


def assert_up_to_sign(ours, theirs):
    assert ours.shape == theirs.shape
    for a, b in zip(ours.T, theirs.T, strict=True):
        np.testing.assert_allclose(a * np.sign(a @ b), b, rtol=0, atol=TOLERANCE * np.abs(b).max())


@pytest.mark.parametrize(("missing", "variant"), [("indicator", "na_as_category"), ("average", "na_average")])
def test_factominer(poison, missing, variant):
    mca = co.MCA(missing=missing).fit(poison)
    np.testing.assert_allclose(mca.inertias_, read_oracle("eig", variant)["eigenvalue"], rtol=TOLERANCE)
    answers, rows, eta2 = (read_oracle(name, variant) for name in ("var", "ind", "eta2"))
    names = [
        f"{column}:{'(missing)' if level == f'{column}.NA' else level}"
        for column, level in zip(answers["variable"], answers["level"], strict=True)
    ]
    place = [mca.columns_.labels.tolist().index(name) for name in names]
    assert len(place) == len(mca.columns_)
    for table, points, order in ((answers, mca.columns_, place), (rows, mca.rows_, slice(None))):
        for name, values in (
            ("coord", points.principal),
            ("contrib", 100 * points.contributions),
            ("cos2", points.cos2),
        ):
            assert_up_to_sign(values[order, :5], table.filter(regex=rf"^{name}\.").to_numpy())
    active = eta2[eta2["role"] == "active"].set_index("variable").loc[mca.variables_].filter(like="eta2")
    assert_up_to_sign(mca.eta2_[:, :5], active.to_numpy())
    assert mca.columns_.inertia.sum() == pytest.approx(mca.total_inertia_, rel=1e-12)


def make_table(frame):
    """Make the table of zeros and ones; a missing answer has none."""
    return np.column_stack([frame[c] == a for c in frame for a in sorted(frame[c].dropna().unique())]).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
def test_passive_is_correspondence_analysis_of_the_incomplete_table(poison, weighted):
    weights = 1 + np.arange(len(poison)) % 3 if weighted else None
    mca = co.MCA(missing="passive").fit(poison, sample_weight=weights)
    ca = co.CA().fit(make_table(poison), row_weights=weights)
    np.testing.assert_allclose(mca.inertias_, ca.pics_, rtol=TOLERANCE, atol=1e-14)
    for side in ("rows_", "columns_"):
        ours, theirs = getattr(mca, side), getattr(ca, side)
        for name in ("mass", "inertia", "chi2_distance"):
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=TOLERANCE)
        for name in ("principal", "contributions", "cos2"):
            assert_up_to_sign(getattr(ours, name)[:, :5], getattr(theirs, name)[:, :5])
    np.testing.assert_allclose(mca.transform(poison), mca.rows_.standard, atol=1e-10)


@pytest.mark.parametrize("missing", ["passive", "average", "impute"])
def test_complete_answers_are_analysed_as_always(survey, missing):
    plain, other = co.MCA().fit(survey), co.MCA(missing=missing).fit(survey)
    np.testing.assert_allclose(other.inertias_, plain.inertias_, rtol=1e-12)
    np.testing.assert_allclose(other.rows_.principal, plain.rows_.principal, atol=1e-10)
    np.testing.assert_allclose(other.columns_.principal, plain.columns_.principal, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["passive", "impute"])
def test_weights_are_copies_of_rows(survey, missing):
    gaps, _ = mask(survey, 0.15)
    weights = 1 + np.arange(len(gaps)) % 3
    weighted = co.MCA(missing=missing, n_components=3).fit(gaps, sample_weight=weights)
    copied = co.MCA(missing=missing, n_components=3).fit(gaps.loc[gaps.index.repeat(weights)])
    if missing == "impute":
        assert weighted.n_axes_imputed_ == copied.n_axes_imputed_
    np.testing.assert_allclose(weighted.inertias_, copied.inertias_, rtol=1e-6)


@pytest.mark.slow
def test_rows_and_axes_belong_to_the_completed_table(survey):
    gaps, _ = mask(survey, 0.2)
    mca = co.MCA(missing="impute", correction="indicator").fit(gaps)
    completed = mca.decomposition_.f.features(gaps)
    ca = co.CA(n_components=len(mca.inertias_)).fit(completed)
    np.testing.assert_allclose(mca.inertias_, ca.pics_, rtol=TOLERANCE)
    assert_up_to_sign(mca.rows_.principal[:, :4], ca.rows_.principal[:, :4])
    assert_up_to_sign(mca.columns_.principal[:, :4], ca.columns_.principal[:, :4])
    np.testing.assert_allclose(mca.transform(gaps), mca.rows_.standard, atol=1e-10)
    assert completed.min() >= 0
    np.testing.assert_allclose(completed.reshape(len(gaps), 6, 3).sum(axis=2), 1, rtol=1e-12)


@pytest.mark.slow
def test_given_answers_stay(survey):
    gaps, is_masked = mask(survey, 0.3)
    filled = co.MCA(missing="impute").fit(gaps).impute(gaps)
    assert not filled.isna().to_numpy().any()
    assert (filled.to_numpy() == survey.to_numpy())[~is_masked].all()


def measure_wrong(frame, share, seed):
    """Return the shares of masked answers that the mode and the imputation have wrong, and the number of axes."""
    gaps, is_masked = mask(frame, share, seed)
    mca = co.MCA(missing="impute").fit(gaps)
    wrong = [
        (guess.to_numpy() != frame.to_numpy())[is_masked].mean()
        for guess in (gaps.fillna(gaps.mode().iloc[0]), mca.impute(gaps))
    ]
    return *wrong, mca


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_with_structure_imputation_is_clearly_better_than_the_mode(share):
    frame = simulate_answers(np.random.default_rng(0), n=250, k=8, strength=0.7)
    mode, ours, mca = measure_wrong(frame, share, 1)
    assert ours < mode - 0.1
    assert mca.n_axes_imputed_ >= 1
    assert mca.imputing_errors_[0] == pytest.approx(1, abs=0.05)
    assert mca.imputing_errors_[mca.n_axes_imputed_] < 0.9


@pytest.mark.slow
def test_without_structure_imputation_is_the_mode():
    results = []
    for seed in range(4):
        frame = simulate_answers(np.random.default_rng(seed), n=200, k=6, strength=0)
        results.append(measure_wrong(frame, 0.2, seed))
    assert np.mean([ours - mode for mode, ours, _ in results]) < 0.01
    assert sorted(mca.n_axes_imputed_ for *_, mca in results)[:3] == [0, 0, 0]


def test_columns_that_repeat_each_other_are_recovered():
    column = np.array(["a", "b", "c"] * 20, dtype=object)
    frame = pd.DataFrame({"one": column, "two": column, "three": column})
    gaps, _ = mask(frame, 0.15, seed=2)
    gaps = gaps[gaps.notna().any(axis=1)]
    filled = co.MCA(missing="impute").fit(gaps).impute(gaps)
    assert (filled == frame.loc[gaps.index]).to_numpy().all()


def list_frames(survey):
    gaps, _ = mask(survey, 0.2)
    yield gaps
    yield gaps.set_axis([f"person {i}" for i in range(len(gaps))])
    yield gaps.astype("category")
    yield gaps.astype(pd.CategoricalDtype(["very", "yes", "so", "no"], ordered=True))
    yield gaps.set_axis(range(6), axis=1)
    yield pl.from_pandas(gaps)
    yield pl.from_pandas(gaps).cast(pl.Categorical)
    yield pl.from_pandas(gaps).cast(pl.Enum(["very", "yes", "so", "no"]))
    answers = {name: pa.array([None if value != value else value for value in gaps[name]]) for name in gaps}
    yield pa.table(answers)
    yield pa.table({name: values.dictionary_encode() for name, values in answers.items()})


@pytest.mark.slow
def test_imputed_frame_is_of_the_same_library_and_types(survey):
    expected = None
    for frame in list_frames(survey):
        filled = co.MCA(missing="impute").fit(frame).impute(frame)
        assert type(filled) is type(frame)
        if isinstance(frame, pd.DataFrame):
            pd.testing.assert_series_equal(filled.dtypes, frame.dtypes)
            pd.testing.assert_index_equal(filled.index, frame.index)
            assert filled.columns.tolist() == frame.columns.tolist()
        else:
            assert filled.schema == frame.schema
        values = filled.to_numpy() if hasattr(filled, "to_numpy") else filled.to_pandas().to_numpy()
        expected = values.astype(str) if expected is None else expected
        assert (values.astype(str) == expected).all()


@pytest.mark.slow
def test_impute_arrays_and_other_columns(survey):
    gaps, _ = mask(survey, 0.2)
    array = gaps.to_numpy()
    mca = co.MCA(missing="impute").fit(array)
    before = array.copy()
    filled = mca.impute(array)
    assert filled.shape == array.shape
    assert filled.dtype == object
    assert [value is None or value != value for value in filled.ravel()].count(True) == 0
    assert (pd.DataFrame(array).isna() == pd.DataFrame(before).isna()).all(axis=None)  # the input is not changed
    frame = gaps.assign(age=np.arange(len(gaps)))
    named = co.MCA(missing="impute").fit(frame, supplementary=["age"])
    assert named.impute(frame)["age"].tolist() == frame["age"].tolist()


def test_types_of_numbers_that_are_answers():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 60)
    frame = pd.DataFrame({"a": codes, "b": codes, "c": rng.integers(0, 3, 60)}).astype("Int64")
    frame.loc[3, "a"] = pd.NA
    filled = co.MCA(missing="impute").fit(frame).impute(frame)
    assert filled.dtypes.tolist() == frame.dtypes.tolist()
    assert filled.loc[3, "a"] == frame.loc[3, "b"]
    flags = pl.DataFrame({"a": [None, *map(bool, codes[1:])], "b": codes.astype(bool), "c": frame["c"].to_numpy()})
    assert co.MCA(missing="impute").fit(flags).impute(flags)["a"][0] == bool(codes[0])


def test_new_rows_are_filled_in_by_the_fit(survey):
    gaps, _ = mask(survey, 0.1)
    mca = co.MCA(missing="impute").fit(gaps)
    new = survey.iloc[[0]].assign(q0=None)
    assert mca.impute(new)["q0"].notna().all()
    assert np.isfinite(mca.transform(new)).all()
    nothing = pd.DataFrame({name: [None] for name in survey}, dtype=object)
    np.testing.assert_allclose(mca.transform(nothing), 0, atol=1e-6)
    shares = gaps["q0"].value_counts()
    assert mca.impute(nothing)["q0"].tolist() == [shares.index[0]]


def test_unknown_answers_stay_and_are_taken_as_missing(survey):
    mca = co.MCA(missing="impute", handle_unknown="missing").fit(survey)
    new = survey.iloc[[0]].assign(q0="perhaps")
    assert mca.impute(new)["q0"].tolist() == ["perhaps"]
    np.testing.assert_allclose(mca.transform(new), mca.transform(new.assign(q0=None)))


def test_rows_and_columns_without_any_answer(survey):
    gaps, _ = mask(survey, 0.1)
    gaps.iloc[5] = None
    gaps["empty"] = None
    with pytest.warns(co.LeftOut) as caught:
        mca = co.MCA(missing="impute").fit(gaps)
    texts = " ".join(str(warning.message) for warning in caught)
    assert "'empty'" in texts
    assert "1 of 200 rows" in texts
    assert len(mca.rows_) == 199
    with pytest.warns(co.LeftOut, match="empty"):
        filled = mca.impute(gaps)
    assert filled.drop(columns="empty").notna().all(axis=None)
    assert filled["empty"].isna().all()
    with pytest.raises(ValueError, match=r"X must have .* missing"):
        co.MCA(missing="impute").fit(pd.DataFrame({"a": [None] * 9, "b": [None] * 9}))


def test_impute_needs_the_policy(survey):
    with pytest.raises(ValueError, match="missing must be"):
        co.MCA(missing="average").fit(survey).impute(survey)


def test_steps_that_do_not_converge_are_told(survey, monkeypatch):
    gaps, _ = mask(survey, 0.3)
    monkeypatch.setattr("correspondence.estimators.many.imputing.MAX_STEPS", 2)
    with pytest.warns(co.Inexact, match="impute"):
        co.MCA(missing="impute").fit(gaps)


@pytest.mark.slow
def test_saved_decomposition_fills_gaps(survey, tmp_path):
    gaps, _ = mask(survey, 0.2)
    mca = co.MCA(missing="impute", n_components=2).fit(gaps)
    mca.decomposition_.save(tmp_path / "model")
    loaded = co.load(tmp_path / "model")
    np.testing.assert_allclose(loaded.f(gaps), mca.transform(gaps), atol=1e-12)


@pytest.mark.slow
def test_same_result_again(survey):
    gaps, _ = mask(survey, 0.2)
    first, second = (co.MCA(missing="impute").fit(gaps) for _ in range(2))
    np.testing.assert_array_equal(first.inertias_, second.inertias_)
    np.testing.assert_array_equal(first.imputing_errors_, second.imputing_errors_)


@pytest.mark.slow
def test_fit_is_silent(survey):
    gaps, _ = mask(survey, 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        co.MCA(missing="impute").fit(gaps).impute(gaps)
