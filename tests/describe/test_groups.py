"""Groups and numbers described: equal to catdes and condes of FactoMineR, and clear about bad input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom, mannwhitneyu, pearsonr

import correspondence as co
from correspondence.core.group_tests import compute_log_pvalues
from tests.estimators.many.reference import data, read


def frame_of(table):
    return table.to_frame("pandas")


def split_category(table):
    return table.assign(column=table["category"].str.split("=").str[0], answer=table["category"].str.split("=").str[1])


def assert_close(ours, theirs, rtol):
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    assert len(theirs) > 0
    some = theirs != 0
    assert np.abs(ours[some] / theirs[some] - 1).max() < rtol
    assert np.abs(ours[~some]).max(initial=0) < 1e-12


CASES = {
    "poison_Sick": ("poison", "Sick", None),
    "poison_Sick_roww": ("poison", "Sick", 1 + np.arange(55) % 3),
    "wine_Soil": ("wine", "Soil", None),
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    name, by, weights = CASES[request.param]
    frame = data(name)
    frame.columns = frame.columns.str.replace(" ", ".")
    return request.param, co.describe_groups(frame, by, sample_weight=weights)


def test_categories_are_those_of_catdes(case):
    name, found = case
    theirs = split_category(read(f"{name}_catdes_category")).set_index(["cluster", "column", "answer"])
    ours = frame_of(found.categories).set_index(["group", "column", "category"]).loc[theirs.index]
    assert len(found.categories) == len(theirs)
    assert_close(100 * ours["share"], theirs["Mod/Cla"], 1e-8)
    assert_close(100 * ours["share_of_category"], theirs["Cla/Mod"], 1e-8)
    assert_close(100 * ours["overall"], theirs["Global"], 1e-8)
    assert_close(ours["pvalue"], theirs["p.value"], 1e-6)
    assert_close(ours["vtest"], theirs["v.test"], 1e-8)


def test_numbers_are_those_of_catdes(case):
    name, found = case
    theirs = read(f"{name}_catdes_quanti").set_index(["cluster", "variable"])
    ours = frame_of(found.numbers).set_index(["group", "column"]).loc[theirs.index]
    assert len(found.numbers) == len(theirs)
    for own, other in {"mean": "Mean in category", "overall": "Overall mean", "sd": "sd in category"}.items():
        assert_close(ours[own], theirs[other], 1e-8)
    assert_close(ours["overall_sd"], theirs["Overall sd"], 1e-8)
    assert_close(ours["vtest"], theirs["v.test"], 1e-8)
    assert_close(ours["pvalue"], theirs["p.value"], 1e-6)


def test_variables_are_those_of_catdes(case):
    name, found = case
    ours = frame_of(found.variables).set_index("column")
    chi2 = read(f"{name}_catdes_test_chi2").set_index("variable")
    assert_close(ours.loc[chi2.index, "pvalue"], chi2["p.value"], 1e-6)
    assert ours.loc[chi2.index, "dof"].tolist() == chi2["df"].tolist()
    eta2 = read(f"{name}_catdes_quanti_var").set_index("variable")
    assert_close(ours.loc[eta2.index, "effect"], eta2["Eta2"], 1e-8)
    assert_close(ours.loc[eta2.index, "pvalue"], eta2["P-value"], 1e-6)
    assert len(ours) == len(chi2) + len(eta2)


@pytest.mark.parametrize(("name", "by"), [("poison", "Age"), ("wine", "Overall.quality")])
def test_a_number_is_described_as_by_condes(name, by):
    frame = data(name)
    frame.columns = frame.columns.str.replace(" ", ".")
    found, prefix = co.describe_groups(frame, by), f"{name}_{by.replace('.', '_')}_condes"
    theirs = read(f"{prefix}_quanti").set_index("variable")
    ours = frame_of(found.numbers).set_index("column").loc[theirs.index]
    assert_close(ours["correlation"], theirs["correlation"], 1e-8)
    assert_close(ours["pvalue"], theirs["p.value"], 1e-6)
    theirs = read(f"{prefix}_quali").set_index("variable")
    ours = frame_of(found.variables).set_index("column").loc[theirs.index]
    assert_close(ours["eta2"], theirs["R2"], 1e-8)
    assert_close(ours["pvalue"], theirs["p.value"], 1e-6)
    theirs = split_category(read(f"{prefix}_category")).set_index(["column", "answer"])
    ours = frame_of(found.categories).set_index(["column", "category"]).loc[theirs.index]
    assert_close(ours["estimate"], theirs["Estimate"], 1e-8)
    assert_close(ours["pvalue"], theirs["p.value"], 1e-6)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_mid_pvalues_are_those_of_the_hypergeometric_distribution(drawn):
    n = drawn.draw(st.integers(2, 300))
    group, category = drawn.draw(st.integers(0, n)), drawn.draw(st.integers(0, n))
    k = drawn.draw(st.integers(max(0, group + category - n), min(group, category)))
    law = hypergeom(n, category, group)
    expected = min(2 * law.cdf(k - 1) + law.pmf(k), 2 * law.sf(k) + law.pmf(k))
    assert np.exp(compute_log_pvalues(k, group, category, n)) == pytest.approx(expected, rel=1e-9)
    expected = min(2 * law.cdf(k), 2 * law.sf(k - 1), 1)
    assert np.exp(compute_log_pvalues(k, group, category, n, mid=False)) == pytest.approx(expected, rel=1e-9)


def test_vtests_stay_finite_where_pvalues_underflow():
    x = np.repeat(["a", "b"], 5000)
    found = co.describe_groups(pd.DataFrame({"x": x, "y": np.where(x == "a", "u", "v")}), "x")
    assert found.categories["pvalue"].max() == 0
    assert np.isfinite(found.categories["vtest"]).all()
    assert np.abs(found.categories["vtest"]).min() > 100


def test_repetitions_are_whole_weights():
    frame = co.datasets.load_poison()
    weights = 1 + np.arange(55) % 3
    once = co.describe_groups(frame, "Sick", sample_weight=weights)
    often = co.describe_groups(frame[np.repeat(np.arange(55), weights).tolist()], "Sick")
    for name in ("categories", "numbers"):
        a, b = getattr(once, name), getattr(often, name)
        assert np.abs(a["vtest"] - b["vtest"]).max() < 1e-9


CONDES_WEIGHTED = {"Soil": 1.11546964270693e-06, "Label": 1.90389427222371e-01}


def test_repetitions_are_whole_weights_where_by_is_a_number():
    frame, weights = data("wine"), 1 + np.arange(21) % 3
    weighted = co.describe_groups(frame, "Overall.quality", sample_weight=weights)
    repeated = co.describe_groups(frame.iloc[np.repeat(np.arange(21), weights)], "Overall.quality")
    for name in ("numbers", "variables", "categories"):
        ours, theirs = frame_of(getattr(weighted, name)), frame_of(getattr(repeated, name))
        assert ours["n"].tolist() == theirs["n"].tolist()
        assert_close(ours["pvalue"], theirs["pvalue"], 1e-9)
    # condes(wine, 30, weights = 1 + (0:20) %% 3, proba = 2)
    found = frame_of(weighted.variables).set_index("column")
    assert_close(found.loc[list(CONDES_WEIGHTED), "pvalue"], list(CONDES_WEIGHTED.values()), 1e-6)


def test_shares_of_rows_are_weights_whatever_their_sum_is_rounded_to():
    frame = data("poison")
    plain = frame_of(co.describe_groups(frame, "Age").categories)
    for total in (1, np.nextafter(1, 2), 1 + 1e-14):
        ours = frame_of(co.describe_groups(frame, "Age", sample_weight=np.full(55, total / 55)).categories)
        assert_close(ours["vtest"], plain["vtest"], 1e-9)


def test_weights_that_sum_to_one_are_scaled():
    frame = co.datasets.load_poison()
    plain = co.describe_groups(frame, "Sick")
    scaled = co.describe_groups(frame, "Sick", sample_weight=np.full(55, 1 / 55))
    assert scaled.categories["pvalue"] == pytest.approx(plain.categories["pvalue"], rel=1e-9)


def test_labels_of_clusters_are_groups_and_names_of_columns_too():
    frame = co.datasets.load_poison()
    by_name = co.describe_groups(frame, "Sick")
    codes = (frame["Sick"] == "yes").to_numpy().astype(int)
    by_label = co.describe_groups(frame.drop("Sick"), codes)
    assert by_label.groups.tolist() == ["0", "1"]
    assert by_label.categories["vtest"] == pytest.approx(by_name.categories["vtest"])
    many = co.describe_groups(frame, np.arange(55) % 20)  # more clusters than a fifth of the rows
    assert len(many.groups) == 20


@pytest.mark.slow
def test_a_series_of_the_frame_and_clusters_are_groups():
    frame = co.datasets.load_poison()
    assert "Sick" not in co.describe_groups(frame, frame["Sick"]).categories["column"]
    clusters = co.Clusters(n_clusters=2).fit(co.MCA(n_components=2).fit(frame.drop("Age", "Time", "Sex")))
    found = co.describe_groups(frame, clusters)
    assert found.groups.tolist() == ["0", "1"]
    assert found.sizes.tolist() == np.bincount(clusters.labels_).tolist()


def test_labels_without_a_name_say_what_they_are():
    frame = co.datasets.load_poison().drop("Sick", "Age", "Time")
    codes, names = np.arange(55) % 2, [f"cluster {i % 2 + 1}" for i in range(55)]
    assert co.describe_groups(frame, codes).write_name(0) == "group 0 (28 of 55 rows)"
    assert co.describe_groups(frame, names).write_name(0) == "cluster 1 (28 of 55 rows)"
    assert co.describe_groups(frame, pl.Series("part", names)).write_name(0).startswith("part = cluster 1")


def test_held_out_rows_stand_beside(rng):
    n = 400
    group = rng.integers(2, size=n)
    frame = pl.DataFrame({"group": np.array(["a", "b"])[group], "real": (group + rng.integers(2, size=n)).astype(str)})
    noise = pl.DataFrame({f"noise{i}": rng.integers(2, size=n).astype(str) for i in range(40)})
    whole = pl.concat([frame, noise], how="horizontal")
    found = co.describe_groups(whole, "group", held_out=0.5)
    assert found.n + found.n_held_out == n
    real = frame_of(found.categories).query("column == 'real'")
    assert (real["held_out_pvalue"] < 1e-3).sum() >= 4
    noise = frame_of(found.categories).query("column != 'real'")
    assert noise["held_out_pvalue"].mean() == pytest.approx(0.5, abs=0.1)
    half = whole[: n // 2], whole[n // 2 :]
    apart = co.describe_groups(half[0], "group", held_out=half[1])
    assert apart.n_held_out == n // 2
    other = frame_of(co.describe_groups(half[1], "group").categories).set_index(["group", "column", "category"])
    own = frame_of(apart.categories).set_index(["group", "column", "category"])
    assert own["held_out_vtest"].to_numpy() == pytest.approx(other.loc[own.index, "vtest"].to_numpy())


def test_what_does_not_hold_is_not_told():
    first = pl.DataFrame({"g": ["a"] * 30 + ["b"] * 30, "x": ["u"] * 25 + ["v"] * 5 + ["u"] * 5 + ["v"] * 25})
    other = first.with_columns(pl.Series("x", ["u", "v"] * 30))
    assert "x = u 83 % in this group, 50 % overall" in co.describe_groups(first, "g").write_sentences()[0]
    assert "nothing" in co.describe_groups(first, "g", held_out=other).write_sentences()[0]


def test_missing_answers_and_numbers():
    frame = pd.DataFrame(
        {"g": list("aabbab") * 5, "x": ["u", None, "v", "v", "u", "v"] * 5, "z": [1.0, 2, np.nan, 4, 1, 3] * 5}
    )
    found = co.describe_groups(frame, "g")
    assert "(missing)" in found.categories["category"]
    assert found.variables["n"][found.variables["column"].tolist().index("z")] == 25
    frame.loc[:4, "g"] = None
    with pytest.warns(co.LeftOut, match="by"):
        assert co.describe_groups(frame, "g").n == 25


def test_answers_that_begin_alike_are_not_the_same():
    long = [
        "I strongly agree that more should be spent on schools",
        "I strongly agree that more should be spent on roads",
    ]
    frame = pd.DataFrame({"opinion": np.repeat([*long, "I strongly agree that more should be spent"], 10)})
    found = frame_of(co.describe_groups(frame, np.repeat(["a", "b", "c"], 10)).categories)
    assert set(found["category"]) == set(frame["opinion"])
    assert (found["share"].isin([0, 1])).all()
    groups = co.describe_groups(frame.assign(n=np.arange(30)), "opinion").numbers
    assert set(frame_of(groups)["group"]) == set(frame["opinion"])
    alike = frame_of(co.describe_groups(pd.DataFrame({"n": [1, "1", 2, 3] * 9}), [0, 1, 1, 0] * 9).categories)
    assert set(alike["category"]) == {"1", "2", "3"}, "what reads alike as a whole is the same"


def test_words_and_items_are_tested(rng):
    words = {"sea": ["red", "sand", "sea", "boat"], "wood": ["green", "leaf", "tree", "bird"]}
    places = [list(words)[i] for i in rng.integers(2, size=60)]
    notes = [" ".join(rng.choice([*words[place], "house", "dog", "man"], 6)) for place in places]
    tags = ["|".join(rng.choice([*words[place], "x", "y"], 3, replace=False)) for place in places]
    found = co.describe_groups(pl.DataFrame({"place": places, "note": notes, "tags": tags}), "place")
    kinds = {one["kind"]: one["category"] for one in found.find_characteristics("sea")[0]}
    assert set(kinds) == {"text", "list"}
    assert set(kinds.values()) <= {*words["sea"], *words["wood"]}


def test_groups_of_one_row_are_described():
    frame = pd.DataFrame(
        {"g": ["a"] * 10 + ["b"] * 10 + ["c"], "x": [*np.arange(20.0), 99.0], "y": ["u", "v"] * 10 + ["w"]}
    )
    found = co.describe_groups(frame, "g")
    row = frame_of(found.numbers).query("group == 'c'").iloc[0]
    assert row["sd"] == 0
    assert row["pvalue"] < 0.001


@pytest.mark.slow
def test_adjusted_pvalues_keep_their_promise(rng):
    false = 0
    for _ in range(60):
        frame = pd.DataFrame({f"x{i}": rng.integers(3, size=80).astype(str) for i in range(8)})
        found = co.describe_groups(frame, rng.integers(3, size=80), adjustment="holm")
        false += (found.categories["adjusted_pvalue"] <= 0.05).any()
    assert false <= 8


@pytest.mark.parametrize(
    ("frame", "by", "options", "argument"),
    [
        ({"g": list("aabb"), "x": list("uvuv")}, "sex", {}, "by"),
        ({"g": list("aaaa"), "x": list("uvuv")}, "g", {}, "by"),
        ({"g": list("abcd"), "x": list("uvuv")}, "g", {}, "by"),
        ({"g": [None] * 4, "x": list("uvuv")}, "g", {}, "by"),
        ({"g": list("aabb"), "x": list("uuuu")}, "g", {}, "frame"),
        ({"g": list("aabb")}, "g", {}, "frame"),
        ({"g": list("aabb"), "x": list("uvuv")}, [1, 2], {}, "by"),
        ({"g": list("aabb"), "x": list("uvuv")}, "g", {"alpha": 2}, "alpha"),
        ({"g": list("aabb"), "x": list("uvuv")}, "g", {"adjustment": "none"}, "adjustment"),
        ({"g": list("aabb"), "x": list("uvuv")}, "g", {"held_out": 1.5}, "held_out"),
        ({"g": list("aabb"), "x": list("uvuv")}, "g", {"held_out": 0.01}, "held_out"),
        ({"g": list("aabb"), "x": list("uvuv")}, "g", {"sample_weight": [1, 2]}, "sample_weight"),
        ({"g": list("aabb"), "x": list("uvuv")}, list("aabb"), {"held_out": pd.DataFrame({"x": ["u"]})}, "held_out"),
        ({"g": list("aabb"), "x": list("uvuv")}, "g", {"held_out": pd.DataFrame({"g": ["a"]})}, "held_out"),
    ],
)
def test_bad_input_is_one_sentence(frame, by, options, argument):
    with pytest.raises(ValueError, match=rf"\b{argument}\b") as error:
        co.describe_groups(pd.DataFrame(frame), by, **options)
    assert "\n" not in str(error.value)


def test_ids_and_constants_are_left_out_with_a_warning():
    frame = pd.DataFrame(
        {"g": ["a", "b"] * 15, "who": [f"p{i}" for i in range(30)], "one": 1, "x": ["u", "v", "v"] * 10}
    )
    with pytest.warns(co.LeftOut, match=r"who.*describe_groups"):
        found = co.describe_groups(frame, "g")
    with pytest.raises(ValueError, match=r"frame.*describe_groups"):
        co.describe_groups(frame[["g", "who"]], "g")
    with pytest.warns(co.LeftOut, match=r"id \(names of rows\).$"):
        co.describe_groups(frame[["g", "x"]].assign(id=range(30)), "g")
    assert found.variables["column"].tolist() == ["x"]


def test_a_number_finds_what_scipy_finds(rng):
    x, z = rng.normal(size=(2, 50))
    frame = pl.DataFrame({"x": x, "z": z + x, "c": np.where(x > 0, "high", "low")})
    found = co.describe_groups(frame, "x", held_out=None)
    assert found.numbers["pvalue"][0] == pytest.approx(pearsonr(x, z + x).pvalue)
    assert found.categories["category"].tolist() == ["high", "low"]
    assert mannwhitneyu(x[x > 0], x[x <= 0]).pvalue < 1e-6


def test_groups_without_weight_are_no_groups():
    frame = co.datasets.load_poison()
    weights = (np.asarray(frame["Sick"].to_list()) == "yes").astype(float)
    with pytest.raises(ValueError, match=r"by must .*groups"):
        co.describe_groups(frame, "Sick", sample_weight=weights)
