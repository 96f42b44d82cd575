"""Answers, names and rows that are easily confused with others, and what is saved of numbers."""

import numpy as np
import pandas as pd
import pytest

import correspondence as co


def survey(n=200, seed=0):
    rng = np.random.default_rng(seed)
    hidden = rng.integers(3, size=n)
    answers = {name: np.where(rng.random(n) < 0.6, hidden, rng.integers(3, size=n)) for name in "abcd"}
    return pd.DataFrame(answers).astype(object)


def measurements(n=200, seed=0):
    rng = np.random.default_rng(seed)
    frame = survey(n, seed)[["a", "b"]].astype(str)
    frame["x"] = frame["a"].astype(float) + rng.normal(size=n)
    frame["y"] = rng.normal(size=n)
    return frame


def load_again(fitted, path):
    fitted.decomposition_.save(path)
    return co.load(path)


# --- answers that look like missing ones


def with_written_gaps():
    frame = survey()
    frame.loc[:20, "a"] = "(missing)"
    frame.loc[30:60, "a"] = None
    return frame


@pytest.mark.parametrize("missing", ["indicator", "average", "passive", "impute"])
def test_rows_are_where_transform_places_them_if_an_answer_is_called_missing(missing):
    frame = with_written_gaps()
    fitted = co.MCA(missing=missing).fit(frame)
    np.testing.assert_allclose(fitted.transform(frame), fitted.rows_.standard, atol=1e-9)


def test_an_answer_called_missing_is_that_of_missing_ones_with_an_indicator(tmp_path):
    frame = with_written_gaps()
    written = frame.fillna({"a": "(missing)"})
    fitted = co.MCA().fit(frame)
    assert fitted.columns_.labels.tolist() == co.MCA().fit(written).columns_.labels.tolist()
    np.testing.assert_allclose(fitted.inertias_, co.MCA().fit(written).inertias_, atol=1e-12)
    frame.to_csv(tmp_path / "survey.csv", index=False)
    source = co.MCA().fit(tmp_path / "survey.csv")
    np.testing.assert_allclose(fitted.inertias_, source.inertias_, atol=1e-12)


def test_gaps_are_filled_in_beside_an_answer_called_missing():
    frame = with_written_gaps()
    completed = co.MCA(missing="impute").fit(frame).impute(frame)
    assert completed["a"].notna().all()


# --- answers and names that read alike


def test_every_answer_has_a_label_of_its_own():
    frame = survey()
    frame.loc[::2, "a"] = frame.loc[::2, "a"].astype(str)
    frame["b:c"] = frame["d"]
    frame["b"] = np.where(frame["b"] == 0, "c:0", frame["b"])
    fitted = co.MCA().fit(frame)
    labels = fitted.columns_.labels.tolist()
    assert len(set(labels)) == len(labels)
    assert "a:1" not in labels
    assert {"'a':1", "'a':'1'", "'b':'c:0'", "'b:c':0"} < set(labels)
    distances = np.abs(fitted.vtests_).max(axis=1)
    expected = [np.abs(_test_answer(fitted, frame["a"].map(repr) == own)).max() for own in ("1", "'1'")]
    np.testing.assert_allclose([distances[labels.index("'a':1")], distances[labels.index("'a':'1'")]], expected)


def _test_answer(fitted, is_given):
    n, own = len(is_given), is_given.sum()
    return fitted.rows_.standard[is_given].mean(axis=0) * np.sqrt(own * (n - 1) / (n - own))


def test_exclude_takes_one_of_two_answers_that_read_alike():
    frame = survey().rename(columns={"b": "a:b"})
    frame["a"] = np.where(frame["a"] == 0, "b:0", frame["a"])
    labels = co.MCA(exclude=["'a':'b:0'"]).fit(frame).columns_.labels.tolist()
    assert "'a:b':0" in labels
    assert "'a':'b:0'" not in labels


def test_names_of_several_levels_stay_names():
    frame = survey().set_axis(pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1), ("b", 2)]), axis=1)
    assert co.MCA(2).fit(frame).variables_.tolist() == frame.columns.tolist()
    assert co.MCA(2).fit(frame).evaluate(frame).names.tolist() == frame.columns.tolist()
    assert co.crossfit(co.MCA(2), frame, random_state=0).names.tolist() == frame.columns.tolist()


# --- rows


def test_vtests_of_a_subpopulation_are_those_of_its_rows():
    frame = survey()
    chosen = (frame["a"] != 0).to_numpy()
    fitted = co.MCA().fit(frame, subpopulation=chosen)
    labels = fitted.columns_.labels.tolist()
    own = (frame["b"][chosen] == 1).reset_index(drop=True)
    np.testing.assert_allclose(fitted.vtests_[labels.index("b:1")], _test_answer(fitted, own), atol=1e-9)
    assert np.isnan(fitted.vtests_[labels.index("a:0")]).all()


def test_a_number_that_varies_only_in_rows_of_weight_0_is_left_out():
    frame = measurements().assign(z=1.0)
    frame.loc[:20, "z"] = 5.0
    weights = (np.arange(len(frame)) > 20).astype(float)
    with pytest.warns(co.LeftOut, match="'z'"):
        fitted = co.MixedCA().fit(frame, sample_weight=weights)
    assert "z" not in fitted.variables_


def test_unknown_answers_have_no_distance():
    fitted = co.MCA(handle_unknown="nan").fit(survey())
    placed = fitted.supplementary(survey()[:2].assign(a=[7, 1]))
    assert np.isnan(placed.chi2_distance).tolist() == [True, False]


def test_no_supplementary_rows_are_an_empty_list():
    fitted = co.MCA().fit(survey(), supplementary_rows=[])
    assert len(fitted.rows_) == 200
    with pytest.raises(ValueError, match="subpopulation"):
        co.MCA().fit(survey(), subpopulation=[])


def test_names_that_can_be_read_once_are_refused():
    with pytest.raises(ValueError, match="exclude"):
        co.MCA(exclude=(label for label in ["a:0"])).fit(survey())


@pytest.mark.parametrize("empty", [None, np.nan])
def test_a_supplementary_column_without_values_is_left_out(empty):
    frame = survey().assign(e=empty)
    with pytest.warns(co.LeftOut, match="'e'"):
        fitted = co.MCA().fit(frame, supplementary=["e"])
    assert fitted.supplementary_columns_ is None
    assert fitted.supplementary_numbers_ is None


# --- saved numbers


def test_saved_functions_take_the_number_minus_2(tmp_path):
    frame = measurements()
    frame.loc[::9, "x"] = -2.0
    fitted = co.MixedCA().fit(frame)
    np.testing.assert_allclose(load_again(fitted, tmp_path / "m.npz").f(frame), fitted.transform(frame), atol=1e-9)


@pytest.mark.parametrize("numeric", ["linear", "smooth"])
@pytest.mark.parametrize("kind", ["numbers", "dates"])
def test_saved_functions_read_texts_as_the_fit_did(tmp_path, numeric, kind):
    frame, days = measurements(), pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(200) * 3, unit="D")
    frame["t"] = [f"{1000 + 17 * i:,}" for i in range(200)] if kind == "numbers" else days.strftime("%d.%m.%Y")
    fitted = co.MixedCA(2, numeric=numeric).fit(frame)
    assert "t" in fitted.variables_
    np.testing.assert_allclose(load_again(fitted, tmp_path / "m.npz").f(frame), fitted.transform(frame), atol=1e-9)
