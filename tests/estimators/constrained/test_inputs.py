"""What is given as constraints, conditions and strata: what is left out is told, what cannot be used is refused."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import correspondence as co
from tests.estimators.constrained.reference import assert_near, fit_model, load_data

dune, environment = load_data()
env = environment[["A1", "Management"]]


def fit(constraints=env, table=dune, given=None, **parameters):
    return co.CA(**parameters).fit(table, constraints=constraints, given=given)


def test_frames_and_arrays_of_any_kind_give_the_same():
    wanted = fit_model("dune_cca").pics_
    text = dune.reset_index(names="site").astype({"site": str})
    labelled = env.reset_index(names="site").astype({"site": str})
    for table, constraints in (
        (dune.to_numpy(), env),
        (sp.csr_array(dune.to_numpy()), env.reset_index(drop=True)),
        (dune, env.sample(frac=1, random_state=0)),
        (dune, env.to_numpy()),
        (dune, {"A1": env["A1"], "Management": env["Management"][::-1]}),
        (pl.from_pandas(text), pl.from_pandas(labelled[::-1])),
    ):
        assert_near(fit(constraints, table).pics_, wanted)


def test_numbers_in_the_first_column_are_names_if_only_these_have_them():
    """As read_csv leaves the names that R has written, without a heading."""
    wanted = fit_model("dune_cca").pics_
    shuffled = env.sample(frac=1, random_state=0)
    for heading in ("", "Unnamed: 0"):
        assert_near(fit(shuffled.reset_index(names=heading)).pics_, wanted)
    plots = np.arange(20) * 7 + 103
    named = shuffled.set_axis(plots[shuffled.index - 1]).reset_index(names="plot")
    assert_near(fit(named, dune.set_axis(plots)).pics_, wanted)
    visits = env.assign(visit=np.random.default_rng(0).permutation(20) + 1)[["visit", "A1"]].reset_index(drop=True)
    assert list(fit(visits).constraint_terms_) == ["visit", "A1"]  # numbers from 1 on may be anything


@pytest.mark.parametrize(
    ("more", "reason", "name"),
    [
        ({"c": 1.0}, "do not vary", "c"),
        ({"c": "x"}, "do not vary", "c"),
        ({"c": 2 * env["A1"] + 3}, "others determine", "c"),
        ({"c": env["Management"].str.lower()}, "others determine", "chf, cnm, csf"),
        ({"c": np.nan}, "empty", "c"),
        ({"c": [f"plot {i}" for i in range(20)]}, "text", "c"),
    ],
)
def test_what_says_nothing_more_is_left_out_and_named(more, reason, name):
    with pytest.warns(co.LeftOut, match=f"{reason}.*{name}"):
        ca = fit(env.assign(**more))
    assert_near(ca.pics_, fit_model("dune_cca").pics_)
    assert_near(ca.transform(env.assign(**more)), ca.rows_.standard)


def test_constraints_that_say_nothing_at_all_leave_no_constrained_axis():
    with pytest.warns(co.LeftOut, match="do not vary"), pytest.warns(co.FewerComponents, match="explain nothing"):
        ca = fit(pd.DataFrame({"c": np.ones(20)}))
    assert ca.partition_.ranks["constrained"] == len(ca.pics_) == 0
    assert_near(ca.unconstrained_.pics, co.CA().fit(dune).pics_)
    assert np.isnan(ca.anova().pvalues).all()
    with warnings.catch_warnings(action="error"):
        assert not len(fit(n_components=0).pics_)  # as was asked for


def test_more_constraints_than_rows_explain_everything():
    many = np.random.default_rng(0).normal(size=(20, 25))
    with pytest.warns(co.LeftOut, match="others determine them: 19, 20"):
        ca = fit(many)
    assert_near(ca.pics_, co.CA().fit(dune).pics_)
    assert len(ca.aliased_) == 6
    assert ca.r2_ == pytest.approx(1)
    assert np.isnan(ca.adjusted_r2_)
    for by in (None, "term", "margin", "axis"):
        test = ca.anova(by)
        assert np.isnan(test.pvalues).all()
        assert "not defined" in repr(test)


def test_missing_values_are_a_level_or_the_mean_or_leave_out_their_rows():
    gaps = env.copy()
    gaps.iloc[3, 0], gaps.iloc[5, 1] = np.nan, None
    with pytest.warns(co.LeftOut, match="Missing numbers of A1 count as the mean"):
        ca = fit(gaps)
    assert ca.constraint_terms_["Management"][-1] == "Management(missing)"
    with pytest.warns(co.LeftOut) as record:
        dropped = fit(gaps, missing="drop")
    texts = [str(warning.message) for warning in record]
    assert any("2 of 20 rows are left out" in text and "A1, Management" in text for text in texts)
    assert not any("rows 4" in text for text in texts)  # their counts are not zero
    kept = gaps.notna().all(axis=1)
    with pytest.warns(co.LeftOut, match="Cirsarve"):
        assert_near(dropped.pics_, fit(env[kept], dune[kept]).pics_)
    assert np.isnan(dropped.scores("wa").values[~kept]).all()
    assert np.isfinite(dropped.scores("wa").values[kept]).all()
    for missing in ("error", "impute"):
        with pytest.raises(ValueError, match=r"missing=.*A1, Management.*drop"):
            fit(gaps, missing=missing)
    with pytest.raises(ValueError, match="given must have no missing values"):
        fit(env[["A1"]], given=gaps[["Management"]], missing="error")


def test_rows_and_columns_without_counts_are_left_out():
    table = dune.copy()
    table.iloc[2] = 0
    table["none"] = 0
    with pytest.warns(co.LeftOut, match=r"rows 3; columns none"):
        ca = fit(table=table)
    assert_near(ca.pics_, fit(env.drop(index=3), dune.drop(index=3)).pics_)
    assert np.isnan(ca.scores("wa").values[2]).all()
    assert np.isnan(ca.scores("sp").values[-1]).all()
    assert len(ca.anova("term", 99).terms) == 3


def test_weights_of_rows_and_columns_multiply_the_table():
    rows, columns = np.arange(1, 21), np.arange(1, 31)
    weighted = co.CA().fit(dune, constraints=env, row_weights=rows, column_weights=columns)
    product = fit(table=dune.mul(rows, axis=0).mul(columns, axis=1))
    assert_near(weighted.pics_, product.pics_)
    assert_near(weighted.anova("margin", 9).f[:2], product.anova("margin", 9).f[:2])


def test_pairs_are_counted_and_find_their_constraints_by_label(tmp_path):
    counts = dune.iloc[:8, :6] + 1
    pairs = counts.stack().index.repeat(counts.stack()).to_frame(index=False, name=["site", "species"])
    pairs["site"] = "s" + pairs["site"].astype(str)
    named = env[:8].set_axis([f"s{i}" for i in env.index[:8]])[["A1"]]
    wanted = fit(env[["A1"]][:8], counts)
    found = co.CA().fit(pairs["site"], pairs["species"], constraints=named[::-1])
    assert_near(found.pics_, wanted.pics_)
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    source = co.Pairs(str(tmp_path / "pairs.csv"), "site", "species")
    assert_near(co.CA().fit(source, constraints=named).pics_, wanted.pics_)
    for X, Y in ((pairs["site"], pairs["species"]), (source, None)):
        with pytest.raises(ValueError, match="constraints must say which label of X"):
            co.CA().fit(X, Y, constraints=np.arange(len(pairs)))
    with pytest.raises(ValueError, match=r"constraints must have each row .*lacks s8"):
        co.CA().fit(source, constraints=named[:7])
    with pytest.raises(ValueError, match="X must hold counts"):
        co.CA().fit(pairs, constraints=np.arange(len(pairs)))


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"regularization": 3}, "regularization"),
        ({"regularization": "auto"}, "regularization"),
        ({"subset_rows": [1, 2, 3]}, "subset_rows"),
        ({"subset_columns": ["Achimill"]}, "subset_columns"),
        ({"ordered": ["rows"]}, "ordered"),
        ({"constraints": "quadratic"}, 'constraints must be "linear" or "smooth"'),
        ({"constraints": env}, r"fit\(table, constraints"),
    ],
)
def test_parameters_that_do_not_go_with_constraints_are_refused(parameters, match):
    with pytest.raises(ValueError, match=match):
        co.CA(**parameters).fit(dune, constraints=env)


@pytest.mark.parametrize(
    ("constraints", "match"),
    [
        (env[:15], "each of the 20 rows|lacks"),
        (env["A1"].to_numpy()[:15], "each of the 20 rows"),
        (env.set_axis(env.index.astype(str)), "str.*int"),
        (env[[]], "at least one column"),
        (pd.concat([env, env], axis=1), "more than once"),
        (env.assign(c=[np.inf, *range(19)]), "infinity"),
        ({"A1": [1.0, 2.0], "c": range(20)}, "same number of values.*2 and 20"),
        (env[["A1"]].set_axis([f"s{i}" for i in range(20)]), "rows are named s0"),
        (pd.DataFrame({"notes": [f"a note on plot {i}" for i in range(20)]}), "numbers, categories or dates.*notes"),
        ("A1 + Management", "values of variables"),
    ],
)
def test_constraints_that_cannot_be_read_are_refused(constraints, match):
    with pytest.raises(ValueError, match=f"constraints.*({match})"):
        fit(constraints)


@pytest.mark.parametrize(
    ("groups", "match"),
    [
        (np.arange(20), "at least two rows"),
        ([None, *[1] * 10, *[2] * 9], "missing"),
        ([1] * 10, "each of the 20 rows"),
        (environment[["Use", "Manure"]], "one column"),
    ],
)
def test_strata_that_cannot_be_used_are_refused(groups, match):
    with pytest.raises(ValueError, match=f"groups.*{match}"):
        fit_model("dune_cca").anova(groups=groups)


def test_conditions_without_anything_to_use_are_refused():
    with pytest.raises(ValueError, match=r"given must .*numbers, categories or dates"):
        fit(given={"c": np.full(20, np.nan)})


def test_a_stratum_of_one_row_stays_and_is_told():
    test = fit_model("dune_cca").anova(n_permutations=19, groups=["alone", *["x"] * 10, *["y"] * 9])
    assert "1 of which have one row" in repr(test)
    assert "within 1 stratum" in repr(fit_model("dune_cca").anova(n_permutations=19, groups=[1] * 20))


@pytest.mark.parametrize(
    ("options", "match"),
    [({"by": "terms"}, "by must"), ({"n_permutations": 0}, "n_permutations"), ({"random_state": "x"}, "random_state")],
)
def test_options_of_anova_are_checked(options, match):
    with pytest.raises((ValueError, TypeError), match=match):
        fit_model("dune_cca").anova(**options)


@pytest.mark.parametrize("name", ["anova", "scores", "partition_", "r2_", "adjusted_r2_", "vif_", "axis_correlations_"])
def test_without_constraints_there_is_nothing_to_say(name):
    ca = co.CA().fit(dune)
    with pytest.raises(AttributeError, match="needs constraints"):
        getattr(ca, name)()
    with pytest.raises(ValueError, match="only conditions"):
        co.CA().fit(dune, given=env).anova()


@pytest.mark.parametrize(
    ("display", "scaling"), [("site", 2), (["wa", "sp"], 2), ("wa", 4), ("wa", "both"), ("wa", True)]
)
def test_unknown_scores_are_refused(display, scaling):
    with pytest.raises(ValueError, match=r"display|scaling"):
        fit_model("dune_cca").scores(display, scaling)


def test_a_fit_that_fails_leaves_everything_as_it_was():
    ca = fit()
    wanted = ca.pics_.copy()
    with pytest.raises(ValueError, match="constraints"):
        ca.fit(dune, constraints=env[:3])
    assert_near(ca.pics_, wanted)
    assert ca.anova(n_permutations=9).df.tolist() == [4, 15]
    ca.fit(dune)
    assert not hasattr(ca, "unconstrained_")
    with pytest.raises(AttributeError, match="needs constraints"):
        _ = ca.partition_
