"""What goes with what once other columns are known: figures, p-values, messages."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import correspondence as co
from correspondence.association.coded_columns import CodedColumn
from correspondence.association.given_columns import follows_from, read_given

CAUSES = ("linear", "quadratic", "five", "label")


def make_people(n=400, seed=0):
    """Make columns that go together by age and sex only, and two that go together beyond it."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 80, n), rng.choice(["f", "m"], n)
    height = 165 + 12 * (sex == "m") + 6 * rng.normal(size=n)
    return pd.DataFrame(
        {
            "age": age,
            "sex": sex,
            "grey": np.where(age + 8 * rng.normal(size=n) > 55, "yes", "no"),
            "income": np.exp(0.03 * age + 0.4 * rng.normal(size=n)),
            "height": height,
            "shoe": height / 4 + rng.normal(size=n),
        }
    )


def find_pairs(a):
    return {(a.columns[i], a.columns[j]) for i, j in zip(*np.nonzero(np.triu(a.found, 1)), strict=True)}


@pytest.mark.slow
def test_an_association_by_a_common_cause_vanishes_and_others_stay():
    frame = make_people(seed=1)
    assert ("grey", "income") in find_pairs(co.associations(frame))
    a = co.associations(frame, given=["age", "sex"])
    assert a.columns.tolist() == ["grey", "income", "height", "shoe"]
    assert find_pairs(a) == {("height", "shoe")}
    assert a.given == ("age", "sex")
    assert a.correlations[0, 1] < 0.2
    # Of the height 6 are left, and 1 of 6 / 4 of the shoe.
    assert a.correlations[2, 3] == pytest.approx(1.5 / np.hypot(1.5, 1), abs=0.05)


@pytest.mark.slow
def test_what_is_given_is_said_everywhere():
    a = co.associations(make_people(), given=["age", "sex"])
    assert a.condition == "given age, sex"
    assert "given age, sex" in a.write_summary().split("\n")[0]
    assert "given age, sex" in repr(a).split("\n")[0]
    assert set(a.to_frame("pandas")["given"]) == {"age, sex"}
    assert co.associations(make_people()).condition == ""


@pytest.mark.parametrize("kind", [pd.DataFrame, lambda part: pl.from_pandas(part), lambda part: part.to_dict("list")])
def test_given_columns_may_be_inside_or_beside_the_table(kind):
    frame = make_people()
    inside = co.associations(frame, "shoe", given="sex")
    beside = co.associations(frame.drop(columns="sex"), "shoe", given=kind(frame[["sex"]]))
    np.testing.assert_allclose(inside.correlations, beside.correlations)
    np.testing.assert_allclose(inside.raw_pvalues, beside.raw_pvalues)
    assert beside.given == ("sex",)


def test_columns_of_arrays_have_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    a = co.associations(X, given=[1])
    assert a.columns.tolist() == [0, 2, 3]
    np.testing.assert_array_equal(a.raw_pvalues, co.associations(X[:, [0, 2, 3]], given=X[:, 1]).raw_pvalues)


def test_a_target_has_the_figures_of_all_pairs():
    frame = make_people(200)
    a, every = co.associations(frame, "shoe", given="sex"), co.associations(frame, given="sex")
    np.testing.assert_allclose(a.correlations[-1], every.correlations[-1])
    np.testing.assert_allclose(a.raw_pvalues[-1, :-1], every.raw_pvalues[-1, :-1])


def test_noise_that_is_given_changes_little():
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    X = np.column_stack([x, x + rng.normal(size=2000), rng.normal(size=2000)])
    a, plain = co.associations(X, given=rng.normal(size=2000)), co.associations(X)
    np.testing.assert_allclose(a.correlations, plain.correlations, atol=0.03)
    np.testing.assert_allclose(a.captured[0, 1], plain.captured[0, 1], atol=0.05)
    np.testing.assert_allclose(a.predicted, plain.predicted, atol=0.03)


@pytest.mark.slow
def test_columns_that_follow_from_what_is_given_are_named_and_not_tested():
    frame = make_people()
    frame["decade"] = frame["age"] // 10
    frame["old"] = np.where(frame["age"] > 60, "yes", "no")
    frame["log"] = np.log(frame["age"])
    with pytest.warns(co.LeftOut, match=r"given.*'decade', 'old', 'log'"):
        a = co.associations(frame, given=["age", "sex"])
    assert not {"decade", "old", "log"} & set(a.columns.tolist())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=r"^target must not follow from given"):
            co.associations(frame, "old", given="age")
        with pytest.raises(ValueError, match=r"^target must not follow from given"):
            co.associations(frame, "age", given=frame["age"])
        with pytest.raises(ValueError, match=r"two columns that vary.*given"):
            co.associations(frame[["age", "old", "shoe"]], given="age")


def test_a_label_that_is_fixed_in_each_cell_of_several_columns_follows_from_them():
    rng = np.random.default_rng(0)
    a, b = rng.integers(3, size=(2, 200))
    product = CodedColumn("product", "label", (a * b == 2).astype(int), 2)
    noise = CodedColumn("noise", "label", rng.integers(2, size=200), 2)
    given = {"a": a, "b": b}
    assert [follows_from(own, given) for own in (product, noise)] == [True, False]
    assert not follows_from(product, {"a": a})


def test_missing_values():
    frame = make_people()
    rng = np.random.default_rng(1)
    frame["shoe"] = frame["shoe"].where(rng.random(400) > 0.2)
    whole = co.associations(frame, given="sex")
    assert whole.n_pairs[-1, 0] == frame["shoe"].notna().sum()
    assert find_pairs(whole) >= {("height", "shoe"), ("age", "grey")}
    gaps = rng.random(400) < 0.1
    frame["sex"] = frame["sex"].where(~gaps, None)
    with pytest.warns(co.LeftOut, match=r"rows are left out.*sex"):
        a = co.associations(frame, given="sex")
    assert a.n == (~gaps).sum()
    assert "sex" in a.notes[-1]
    assert co.associations(frame, given="sex", missing="indicator").n == 400
    with pytest.raises(ValueError, match=r"missing=.error"):
        co.associations(frame.drop(columns="shoe"), given="sex", missing="error")
    with pytest.raises(ValueError, match=r"^given must have values"):
        co.associations(frame.assign(sex=None), given=["sex", "age"])


@pytest.mark.slow
def test_columns_that_are_missing_together_do_not_go_together():
    pvalues = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=200)
        frame = pd.DataFrame(z[:, None] + rng.normal(size=(200, 4))).mask(pd.Series(rng.random(200) < 0.4))
        a = co.associations(frame, groups=None, given=z)
        pvalues.extend(a.raw_pvalues[np.triu_indices(4, 1)])
    assert np.mean(np.array(pvalues) < 0.05) < 0.12


def test_copies_and_whole_weights():
    frame = make_people(150).round(3)
    weights = np.random.default_rng(1).integers(0, 3, size=150)
    repeated = frame.iloc[np.repeat(np.arange(150), weights)]
    a, b = (
        co.associations(frame, given="sex", sample_weight=weights),
        co.associations(repeated, given="sex", groups=None),
    )
    np.testing.assert_allclose(a.raw_pvalues, b.raw_pvalues)
    with pytest.warns(co.CorrespondenceWarning, match="copies"):
        once = co.associations(pd.concat([frame, frame]), given="sex")
    np.testing.assert_allclose(once.raw_pvalues, co.associations(frame, given="sex").raw_pvalues)
    with pytest.raises(ValueError, match=r"^sample_weight must be whole"):
        co.associations(frame, given="sex", sample_weight=np.linspace(0.5, 1.5, 150))


@pytest.mark.parametrize("repeat", ["weights", "copies"])
def test_repeated_rows_do_not_follow_from_a_number(repeat):
    rng = np.random.default_rng(0)
    z = rng.normal(size=150)
    frame = pd.DataFrame({"z": z, "a": z + rng.normal(size=150), "b": z + rng.normal(size=150)})
    if repeat == "weights":
        a = co.associations(frame, given="z", sample_weight=np.full(150, 2))
    else:
        with pytest.warns(co.CorrespondenceWarning, match="copies"):
            a = co.associations(pd.concat([frame, frame]), given="z")
    assert a.columns.tolist() == ["a", "b"]


def test_names_of_rows_cannot_be_given():
    frame = make_people(150).assign(name=[f"person {i}" for i in range(150)])
    with pytest.raises(ValueError, match=r"^given.*'name'.*own"):
        co.associations(frame, given=["sex", "name"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"given": "agee"}, r"^given must be columns.*'agee'"),
        ({"given": ["age", 3]}, r"^given must be columns.*3"),
        ({"given": []}, r"^given must name"),
        ({"given": np.zeros(399)}, r"^given must have one row.*400.*399"),
        ({"given": np.ones(400)}, r"^given"),
        ({"given": "age", "target": "age"}, r"^target must not be given"),
        ({"given": make_people()[["age"]].set_index(np.arange(400)[::-1])}, r"frame and given.*index"),
    ],
)
def test_bad_arguments_are_told_in_a_sentence(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        co.associations(make_people(), **options)


def test_sources_have_nothing_given():
    with pytest.raises(ValueError, match=r"^given must be None.*memory"):
        co.associations(pl.from_pandas(make_people()).lazy(), given="age")


def test_read_given_keeps_names():
    frame = make_people(20)
    assert read_given(("age", "age"), frame).names == ("age",)
    assert read_given(frame["age"], frame).names == ("age",)
    assert read_given(np.zeros((20, 2)), frame).names == ("z 0", "z 1")
    assert read_given(["age"], pl.from_pandas(frame)).inside == {"age"}


def draw_independent_given(kind, n, rng):
    z, label = rng.normal(size=(n, 5 if kind == "five" else 1)), rng.integers(4, size=n)
    cause = {"linear": z[:, 0], "quadratic": z[:, 0] ** 2, "five": z.sum(axis=1) / 2, "label": label % 3}[kind]
    given = pd.DataFrame({"z": list("abcd")}).loc[label].reset_index(drop=True) if kind == "label" else z
    follow = [cause + rng.normal(size=n) for _ in range(5)]
    edges = [np.quantile(own, shares) for own, shares in zip(follow[2:], ([0.5], [0.92], [0.2, 0.9]), strict=True)]
    labels = [np.array(list("abc"))[np.searchsorted(edge, own)] for edge, own in zip(edges, follow[2:], strict=True)]
    return pd.DataFrame(dict(zip("xyklm", [*follow[:2], *labels], strict=True))), given


def measure_level(kind, n, data_sets):
    rng, pvalues = np.random.default_rng(n), []
    for _ in range(data_sets):
        frame, given = draw_independent_given(kind, n, rng)
        pvalues.append(co.associations(frame, groups=None, given=given).raw_pvalues[np.triu_indices(5, 1)])
    return np.mean(np.array(pvalues) <= 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("kind", CAUSES)
def test_columns_with_a_common_cause_are_independent_given_it(kind):
    assert measure_level(kind, 200, 8) < 0.16  # of 80 p-values


@pytest.mark.slow
@pytest.mark.parametrize("kind", CAUSES)
def test_the_level_is_kept(kind):
    assert 0.025 < measure_level(kind, 200, 120) < 0.08


@pytest.mark.slow
def test_rare_answers_that_nothing_connects_keep_the_level():
    rng, pvalues = np.random.default_rng(0), []
    for _ in range(200):
        frame = pd.DataFrame(rng.random((1000, 3)) < 0.02, columns=list("abc")).astype(str)
        pvalues.append(
            co.associations(frame, groups=None, given=rng.normal(size=1000)).raw_pvalues[[0, 0, 1], [1, 2, 2]]
        )
    assert np.mean(np.array(pvalues) <= 0.05) < 0.08
