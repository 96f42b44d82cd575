"""Numbers as curves: as many as the held-out rows want, and none where straight lines do."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import correspondence as co
from correspondence.core.column_features import CurveColumn, NumberColumn
from correspondence.estimators.ca.constrained.curves import bend_column, find_curves
from tests.estimators.constrained.reference import assert_near, load_data

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import constraints as benchmark


def draw_sites(truth="unimodal", n=60, seed=0):
    counts, env = benchmark.draw_truth(truth, np.random.default_rng(seed))(n)
    return counts[:, counts.any(axis=0)], env


@pytest.fixture(scope="module")
def sites():
    return draw_sites()


@pytest.fixture(scope="module")
def ca(sites):
    return co.CA(constraints="smooth").fit(sites[0], constraints=sites[1])


def test_curves_have_no_slope_and_come_in_the_order_of_their_roughness():
    x = np.random.default_rng(0).gamma(2, size=80)
    column = bend_column(NumberColumn("x", float(x.mean())), x)
    assert isinstance(column, CurveColumn)
    straight, *curves = (column.expand(x) @ find_curves(column, x)).T
    assert np.corrcoef(straight, x)[0, 1] == pytest.approx(1)
    assert len(curves) == 6
    np.testing.assert_allclose([np.cov(straight, curve)[0, 1] for curve in curves], 0, atol=1e-9)
    # The first is nearly a parabola, and each turns once more often than the one before.
    parabola = np.polynomial.Polynomial.fit(x, curves[0], 2)(x)
    assert np.corrcoef(parabola, curves[0])[0, 1] > 0.95
    order = np.argsort(x)
    turns = [np.count_nonzero(np.diff(np.sign(np.diff(curve[order])))) for curve in curves[:3]]
    assert turns[0] <= turns[1] <= turns[2]


@pytest.mark.parametrize("values", [np.ones(30), np.arange(30) % 2])
def test_numbers_of_few_values_stay_straight(values):
    column = NumberColumn("x", float(np.mean(values)))
    assert bend_column(column, np.asarray(values, dtype=float)) is column


def test_a_unimodal_gradient_bends_and_nothing_else_does(ca, sites):
    assert ca.bends_["bent"] > 0
    assert ca.bends_["straight"] == ca.bends_["nothing"] == 0
    names = ca.constraint_terms_["bent"]
    assert names[:2] == ["bent", "bent (curve 1)"]
    test = ca.anova("margin", 99)
    assert test.df[:3].tolist() == [1 + ca.bends_["bent"], 1, 1]
    assert test.site_pvalues[0] == 0.01
    straight = co.CA().fit(sites[0], constraints=sites[1])
    assert ca.r2_ > straight.r2_


@pytest.mark.slow
def test_captured_of_other_sites_is_more_with_curves_and_not_less_where_all_is_straight():
    gains = {truth: benchmark.compare_curves(truth, 60, 1) for truth in benchmark.TRUTHS}
    for truth in ("unimodal", "both"):
        straight, smooth, was_bent = gains[truth]
        assert was_bent
        assert smooth > straight + 0.02
    for truth in ("linear", "noise"):
        straight, smooth, was_bent = gains[truth]
        assert not was_bent
        assert smooth == straight


@pytest.mark.slow
def test_captured_of_other_sites_in_the_mean():
    for truth, least in (("unimodal", 0.03), ("linear", -0.005), ("noise", -0.005)):
        found = np.array([benchmark.compare_curves(truth, 40, seed)[:2] for seed in range(20)])
        assert (found[:, 1] - found[:, 0]).mean() > least


@pytest.mark.slow
def test_new_sites_lie_on_the_curves(ca, sites, tmp_path):
    counts, env = sites
    assert_near(ca.transform(env[::-1]), ca.rows_.standard[::-1])
    path = tmp_path / "model"
    ca.decomposition_.save(path)
    assert_near(co.load(path).f(env), ca.rows_.standard)
    gaps = env.mask(env.index.to_numpy()[:, None] == [3, 4, 5])
    with pytest.warns(co.LeftOut, match="count as the mean"):
        other = co.CA(constraints="smooth").fit(counts, constraints=gaps)
    assert np.isfinite(other.transform(gaps)).all()
    held = co.crossfit(co.CA(2, constraints="smooth"), counts, constraints=env, cv=3)
    assert held.captured > 0.2


def test_a_condition_may_take_the_gradient_away(sites):
    counts, env = sites
    ca = co.CA(constraints="smooth").fit(counts, constraints=env[["straight"]], given=env[["bent"]])
    assert set(ca.bends_) == {"straight"}
    assert_near(ca.transform(env[["straight"]], given=env[["bent"]]), ca.rows_.standard)


def test_few_rows_and_categories_have_no_curves():
    dune, environment = load_data()
    few = co.CA(constraints="smooth").fit(dune.loc[:9, dune[:9].any()], constraints=environment[["A1"]][:9])
    assert few.bends_ == {"A1": 0}
    labels = co.CA(constraints="smooth").fit(dune, constraints=environment[["Management"]])
    assert labels.bends_ == {"Management": 0}
    assert not hasattr(co.CA(constraints="smooth").fit(dune), "bends_")
    assert not hasattr(labels.fit(dune, given=environment[["Management"]]), "bends_")


def test_the_number_of_curves_does_not_depend_on_the_order_of_sites_much(sites):
    counts, env = sites
    order = np.random.default_rng(1).permutation(len(counts))
    other = co.CA(constraints="smooth").fit(counts[order], constraints=env.iloc[order].reset_index(drop=True))
    assert other.bends_["bent"] > 0
    assert pd.Series(other.bends_).drop("bent").max() <= 1
