"""Other tables and models, with the figures of R's vegan: factors, orders, collinear columns, gaps, few sites."""

import numpy as np
import pytest

import correspondence as co
from tests.estimators.constrained.reference import (
    MORE_MODELS,
    assert_near,
    fit_more,
    load_data,
    load_more_data,
    load_more_values,
    load_vegan,
    read_oracle,
)

pytestmark = pytest.mark.filterwarnings("ignore::correspondence.LeftOut")
model = pytest.mark.parametrize("model", list(MORE_MODELS))
KINDS = {"overall": None, "terms": "term", "margin": "margin", "axis": "axis"}


@model
def test_inertias(model):
    ca, wanted = fit_more(model), load_more_values()[model]
    assert_near(ca.pics_, wanted["constrained"])
    assert_near(ca.unconstrained_.pics, wanted["unconstrained"])
    parts = ca.partition_
    assert_near([parts.total, parts.conditioned, parts.constrained, parts.unconstrained], wanted["inertias"])
    assert_near(ca.axis_correlations_, wanted["spenvcor"])
    assert_near([ca.r2_], [wanted["r2"][0]])
    assert ca.adjusted_r2_ == pytest.approx(
        wanted["r2"][1], abs=0.01 if model == "few_sites" else 0.003
    )  # simulated there


@model
def test_inflation_of_columns_that_are_not_left_out(model):
    ca, wanted = fit_more(model), load_more_values()[model]["vif"]
    assert list(ca.vif_) == list(wanted)
    known = [name for name, value in wanted.items() if value is not None]
    assert set(ca.vif_) - set(known) == set(ca.aliased_)
    assert_near([ca.vif_[name] for name in known], [wanted[name] for name in known])


@pytest.mark.parametrize(("model", "hill"), [*((model, False) for model in MORE_MODELS), ("lichens_partial", True)])
def test_scores(model, hill):
    ca, wanted = fit_more(model), load_more_values()[model]["hill" if hill else "scores"]
    species = ca.scores("sp", "symmetric", hill=hill).to_frame("pandas").set_index("label")
    d = len(wanted["sp"]["values"][0])
    signs = np.sign(
        (species.loc[wanted["sp"]["names"]].iloc[:, :d] * np.array(wanted["sp"]["values"])).sum()
    ).to_numpy()
    assert {"wa", "lc", "sp", "bp"} <= set(wanted)
    for display, part in wanted.items():
        frame = ca.scores(display, 3, hill=hill).to_frame("pandas")
        frame.index = frame["label"].astype(str)
        names, values = [str(name) for name in part["names"]], np.array(part["values"], dtype=float)
        found = frame.loc[names].iloc[:, 1 : 1 + d]
        known = np.isfinite(values).all(axis=1)  # NaN are the coefficients of columns that are left out
        assert (found.isna().any(axis=1) == ~known).all()
        assert_near(found[known] * signs, values[known])
        # vegan has no centroids of some levels of terms that are left out, and no rows without values at all.
        extra = frame.drop(names)
        assert display == "cn" or not np.isfinite(extra.iloc[:, 1 : 1 + d].to_numpy()).any()


@model
@pytest.mark.parametrize("kind", list(KINDS))
def test_anova(model, kind):
    wanted = load_more_values()[model]["anova"][kind]
    groups = load_more_data(model)[1]["Management"] if model == "strata" else None
    found = fit_more(model).anova(KINDS[kind], 999, groups=groups)
    assert list(found.terms) == wanted["terms"]
    assert found.df.tolist() == wanted["df"]
    assert_near(found.chi_square, np.array(wanted["chi_square"], dtype=float))
    for ours, theirs in ((found.f, wanted["f"]), (found.pvalues, wanted["pvalues"])):
        known = np.isfinite(np.array(theirs, dtype=float))
        assert (np.isfinite(ours) == known).all()
    assert_near(found.f[known], np.array(wanted["f"], dtype=float)[known])
    p, theirs = found.pvalues[known], np.array(wanted["pvalues"], dtype=float)[known]
    if model == "few_sites":  # all permutations of both
        np.testing.assert_allclose(p, theirs, rtol=1e-10)
    else:
        spread = np.sqrt(np.maximum(theirs * (1 - theirs), 1e-3) * (1 / 999 + 1 / 9999))
        assert (np.abs(p - theirs) < 4.5 * spread).all()


def test_what_axes_and_parts_explain_of_each_species():
    ca, wanted = fit_more("lichens_partial"), load_more_values()["lichens_partial"]
    assert_near(ca.columns_.cos2.cumsum(axis=1), wanted["goodness"])
    conditioned, constrained, unconstrained = np.array(wanted["inertcomp"]).T
    assert_near((ca.columns_.principal**2).sum(axis=1) * ca.columns_.mass, constrained)
    assert_near(ca.columns_.inertia, conditioned + constrained + unconstrained)
    assert_near(ca.unconstrained_.columns.inertia, unconstrained)


def test_a_term_of_conditions_and_of_constraints_is_left_out_of_the_latter():
    dune, env = load_data()
    ca = co.CA().fit(dune, constraints=env[["A1", "Management"]], given=env[["Management"]])
    assert_near(ca.pics_, read_oracle("dune_pcca_eig").eigenvalue[:1])
    # Its levels have no difference left.
    np.testing.assert_allclose(ca.scores("cn").values, 0, atol=1e-12)


def test_pandas_categories_without_order_keep_their_own_order():
    mite, env = load_more_data("mite")
    assert len(mite) == len(load_vegan("mite")[1]) == 70
    ca = co.CA().fit(mite, constraints=env[["Substrate"]])
    assert ca.constraint_terms_["Substrate"][0] == "SubstrateSphagn2"
    reordered = (
        env["Substrate"].cat.reorder_categories(env["Substrate"].cat.categories[::-1]).cat.add_categories("Rock")
    )
    other = co.CA().fit(mite, constraints=reordered.to_frame())
    assert other.constraint_terms_["Substrate"][0] == "SubstrateBarepeat"  # after Interface, the first one
    assert_near(other.pics_, ca.pics_)
