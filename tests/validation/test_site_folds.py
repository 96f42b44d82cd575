"""Rows of a table held out: folds, what is captured of them, and intervals by leaving out rows."""

import numpy as np
import pandas as pd
import pytest

import correspondence as co
from correspondence.core.site_scores import HeldOutRows, score_rows, sum_groups

dune, environment = co.datasets.load_dune()
constraints = environment.select("A1", "Management")
counts = dune.toarray()


def draw_sites(n=60, m=10, seed=0, strength=0.8):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    means = np.exp(strength * x[:, :1] * rng.normal(size=m) + rng.normal(size=m) / 2 + 1)
    return rng.poisson(means) + np.eye(n, m), x


def test_each_row_is_judged_by_a_fit_without_it():
    table, x = draw_sites()
    folds = [(np.setdiff1d(np.arange(60), test), test) for test in np.array_split(np.arange(60), 3)]
    found = co.crossfit(co.CA(1), table, constraints=x, cv=folds)
    for train, test in folds:
        ca = co.CA(1).fit(table[train], constraints=x[train])
        wanted = ca.transform(x[test])[:, 0]
        np.testing.assert_allclose(np.abs(found.F[test, 0]), np.abs(wanted), atol=1e-9)
        averages = table[test] @ ca.columns_.standard[:, 0] / table[test].sum(axis=1)
        np.testing.assert_allclose(np.abs(found.G[test, 0]), np.abs(averages), atol=1e-9)


def test_what_is_captured_is_near_that_of_new_rows_and_below_that_of_the_fit():
    gaps = []
    for seed in range(8):
        table, x = draw_sites(460, seed=seed)
        old, new = slice(0, 60), slice(60, None)
        ca = co.CA().fit(table[old], constraints=x[old])
        held = co.crossfit(co.CA(), table[old], constraints=x[old]).captured
        gaps.append([held - ca.evaluate(table[new], constraints=x[new]).captured, ca.pics_.sum() - held])
    gaps = np.array(gaps)
    assert abs(gaps[:, 0].mean()) < 3 * gaps[:, 0].std() / np.sqrt(8) + 0.02
    assert gaps[:, 1].mean() > 0


def test_nothing_is_captured_where_constraints_say_nothing():
    rng = np.random.default_rng(0)
    table, _ = draw_sites()
    found = co.crossfit(co.CA(1), table, constraints=rng.normal(size=(60, 3)))
    assert found.captured < 0.02
    assert found.captured_interval[0] < 0


def test_rows_are_found_by_name_and_order_does_not_matter():
    names = [f"s{i}" for i in range(20)]
    table = pd.DataFrame(counts, index=names, columns=dune.columns)
    env = environment.to_pandas().set_index(pd.Index(names))[["A1", "Management"]]
    found = co.crossfit(co.CA(2), table, constraints=env[::-1], cv=4)
    again = co.crossfit(co.CA(2), table, constraints=env, cv=4)
    np.testing.assert_allclose(found.correlations, again.correlations)
    assert found.captured == pytest.approx(again.captured)
    assert "rows held out" in repr(found)


def test_levels_and_species_that_only_held_out_rows_have_are_unknown_there():
    env = environment.select("A1", "Management").to_pandas()
    env.loc[0, "Management"] = "only here"
    assert np.isfinite(co.crossfit(co.CA(2), dune, constraints=env).captured)


def test_groups_of_rows_are_held_out_together():
    groups = np.arange(20) // 2
    found = co.crossfit(co.CA(1), dune, constraints=constraints, groups=groups, cv=5)
    assert len(found.terms) == 10
    with pytest.raises(ValueError, match="groups"):
        co.crossfit(co.CA(1), dune, constraints=constraints, groups=np.zeros(20))


def test_conditions_and_curves_are_fitted_in_each_fold():
    given = environment.select("Management")
    partial = co.crossfit(co.CA(1), dune, constraints=environment.select("A1"), given=given)
    assert partial.F.shape == (20, 1)
    table, x = draw_sites(90)
    smooth = co.crossfit(co.CA(constraints="smooth"), table, constraints=x, cv=3)
    assert smooth.captured > 0


@pytest.mark.parametrize(
    ("X", "Y", "options", "match"),
    [
        (dune, None, {"given": constraints}, "constraints must be given"),
        (["a", "b"] * 9, ["x", "y", "y"] * 6, {"constraints": constraints}, "constraints must be None"),
        (dune, None, {"constraints": constraints[:9]}, "constraints"),
        (dune, None, {"constraints": constraints, "cv": 30}, "cv"),
    ],
)
def test_what_cannot_be_held_out_is_refused(X, Y, options, match):
    with pytest.raises(ValueError, match=match):
        co.crossfit(co.CA(1), X, Y, **options)


def test_other_estimators_have_no_constraints():
    with pytest.raises(ValueError, match="constraints must be None"):
        co.crossfit(co.CCA(1), dune, constraints=constraints)


def test_intervals_come_from_rows_not_from_counts():
    table, x = draw_sites(80)
    ca = co.CA(1).fit(table, constraints=x)
    once, tenfold = (ca.evaluate(k * table, constraints=x) for k in (1, 10))
    np.testing.assert_allclose(once.captured_interval, tenfold.captured_interval)
    np.testing.assert_allclose(once.intervals, tenfold.intervals)
    table, x = np.vstack([table, table]), np.vstack([x, x])
    twice = ca.evaluate(table, constraints=x)  # as if twice as many rows were known
    assert 0.55 < np.diff(twice.captured_interval)[0] / np.diff(once.captured_interval)[0] < 0.8
    together = score_rows(
        HeldOutRows(ca.transform(x), ca.columns_.standard, ca.correlations_, table), np.arange(160) % 80
    )
    np.testing.assert_allclose(together.intervals, once.intervals, atol=0.01)


def test_the_score_of_rows_is_that_of_their_pairs():
    rng = np.random.default_rng(0)
    held = HeldOutRows(rng.normal(size=(6, 1)), rng.normal(size=(4, 1)), np.array([0.5]), rng.poisson(3, (6, 4)) + 1.0)
    P = held.counts / held.counts.sum()
    r, c, ratio = P.sum(axis=1), P.sum(axis=0), 1 + 0.5 * held.F @ held.G.T
    one = np.zeros(6, dtype=int)  # one group: nothing is left out of the means
    assert score_rows(held, one).captured == pytest.approx(2 * (P * ratio).sum() - r @ ratio**2 @ c - 1)
    f, g = held.F[:, 0] - r @ held.F[:, 0], held.G[:, 0] - c @ held.G[:, 0]
    wanted = (P * np.outer(f, g)).sum() / np.sqrt((r @ f**2) * (c @ g**2))
    assert score_rows(held).correlations[0] == pytest.approx(wanted)
    np.testing.assert_array_equal(sum_groups(np.arange(4.0), np.array([0, 1, 1, 0])), [3, 3])
