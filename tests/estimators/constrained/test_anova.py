"""Permutation tests of constraints, beside a plain computation of every permutation."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import correspondence as co
from correspondence.estimators.ca.constrained.orders import COMPLETE_UP_TO, RowOrders, count_orders
from tests.estimators.constrained.reference import assert_near, fit_model, load_data

dune, environment = load_data()
KINDS = (None, "term", "margin", "axis")
TIE = 1 - 1.5e-8


def draw_sites(seed, n=6, m=5):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.7, 6.0, size=(n, m))) + 1
    return counts, pd.DataFrame(rng.normal(size=(n, 2)), columns=["u", "v"]), pd.DataFrame({"z": rng.normal(size=n)})


def explain(residuals, root, columns, *, constant=True):
    """Return what columns explain, each row weighted, as a matrix; with a constant, or centred."""
    first = np.ones((len(root), 1)) if constant else np.empty((len(root), 0))
    design = np.hstack([first, columns - (root.T**2) @ columns / (root**2).sum()]) * root
    return design @ np.linalg.lstsq(design, residuals, rcond=None)[0]


def inertia(matrix):
    return float((matrix**2).sum())


def residuals_of(counts):
    P = counts / counts.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    return (P - np.outer(r, c)) / np.sqrt(np.outer(r, c)), np.sqrt(r)[:, None]


def compute_plain_ratios(counts, blocks, order):
    """Return ratios proportional to F of both kinds; the blocks are before, tested, after, and the conditions."""
    Q, root = residuals_of(counts)
    before, tested, after, given = blocks
    full = np.hstack([before, tested, after])
    left = Q - explain(Q, root, given)
    # As in vegan, permuted residuals are not centred again.
    moved = left[order] - explain(left[order], root, given, constant=False)
    explained, less, everything = (
        explain(moved, root, columns, constant=False) for columns in (np.hstack([before, tested]), before, full)
    )
    own = inertia(explained) - inertia(less)
    by_residuals = own / (inertia(moved) - inertia(everything))
    # Sites: the tested variables, less what those before say of them, change places without weights.
    beyond = (tested * root - explain(tested * root, root, before)) / root
    design = np.hstack([before, beyond[order]])
    own = inertia(explain(Q, root, design)) - inertia(explain(Q, root, before))
    return by_residuals, own / (inertia(Q) - inertia(explain(Q, root, np.hstack([design, after]))))


def list_blocks(kind, X, Z):
    none, (u, v) = X[:, :0], (X[:, :1], X[:, 1:])
    if kind is None:
        return [(Z, X, none, Z)]
    if kind == "term":
        return [(Z, u, v, Z), (np.hstack([Z, u]), v, none, Z)]
    return [(np.hstack([Z, v]), u, none, Z), (np.hstack([Z, u]), v, none, Z)]


@pytest.mark.parametrize("kind", [None, "term", "margin"])
@pytest.mark.parametrize("conditions", [False, True])
@pytest.mark.parametrize("strata", [None, [0, 1, 0, 1, 0, 1]])
def test_pvalues_are_those_of_all_permutations(kind, conditions, strata):
    counts, X, Z = draw_sites(1)
    found = co.CA().fit(counts, constraints=X, given=Z if conditions else None).anova(kind, 99, groups=strata)
    orders = [np.array(order) for order in itertools.permutations(range(6))]
    if strata is not None:
        orders = [order for order in orders if (np.array(strata)[order] == strata).all()]
    assert found.is_complete
    assert found.n_permutations == len(orders) - 1
    given = Z.to_numpy() if conditions else np.empty((6, 0))
    for row, blocks in enumerate(list_blocks(kind, X.to_numpy(), given)):
        ratios = np.array([compute_plain_ratios(counts, blocks, order) for order in orders])
        wanted = (ratios >= TIE * ratios[0]).mean(axis=0)
        np.testing.assert_allclose([found.pvalues[row], found.site_pvalues[row]], wanted)


def test_of_one_constraint_all_kinds_are_the_same_test():
    counts, X, _ = draw_sites(3, n=12)
    ca = co.CA().fit(counts, constraints=X[["u"]])
    tests = [ca.anova(kind, 199) for kind in KINDS]
    for test in tests[1:]:
        assert_near(test.f[:1], tests[0].f[:1])
        assert test.pvalues[0] == tests[0].pvalues[0]
        assert test.site_pvalues[0] == tests[0].site_pvalues[0]


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_inertias_add_up_and_marginal_effects_are_those_of_the_last_term(seed):
    counts, X, Z = draw_sites(seed, n=9)
    ca = co.CA().fit(counts, constraints=X, given=Z)
    overall, terms, margins, axes = (ca.anova(kind, 3) for kind in KINDS)
    assert terms.chi_square.sum() == pytest.approx(overall.chi_square.sum())
    assert_near(axes.chi_square[:-1], ca.pics_)
    assert margins.chi_square[1] == pytest.approx(terms.chi_square[1])
    swapped = co.CA().fit(counts, constraints=X[["v", "u"]], given=Z).anova("term", 3)
    assert margins.chi_square[0] == pytest.approx(swapped.chi_square[1])
    f = overall.chi_square[0] / overall.df[0] / (overall.chi_square[1] / overall.df[1])
    assert overall.f[0] == pytest.approx(f)


def test_strata_within_which_nothing_varies_leave_one_arrangement():
    ca = co.CA().fit(dune, constraints=environment[["Management"]])
    test = ca.anova(n_permutations=49, groups=environment["Management"])
    assert test.site_pvalues[0] == 1  # every permutation is the same environment
    assert "within 4 strata" in repr(test)


def test_the_same_seed_draws_the_same_permutations():
    ca = fit_model("dune_cca")
    first, again, other = (ca.anova("axis", 99, random_state=seed).pvalues for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first[:-1] != other[:-1]).any()
    generator = np.random.default_rng(0)
    assert (ca.anova("axis", 99, random_state=generator).pvalues[:-1] > 0).all()


def test_orders_are_all_there_are_or_as_many_as_wanted():
    strata = np.array([0, 1, 0, 1, 1])
    orders = RowOrders.choose(strata, 999, 0)
    listed = np.vstack(list(orders.iterate_blocks(4)))
    assert len(listed) == len(np.unique(listed, axis=0)) == orders.n_orders == count_orders(strata) - 1 == 11
    assert (strata[listed] == strata).all()
    assert not (listed == np.arange(5)).all(axis=1).any()
    many = RowOrders.choose(np.repeat([0, 1], 12), 300, 0)
    drawn = np.vstack(list(many.iterate_blocks(128)))
    assert len(drawn) == many.n_orders == 300
    assert not many.is_complete
    assert (np.sort(drawn, axis=1) == np.arange(24)).all()
    assert (np.repeat([0, 1], 12)[drawn] == np.repeat([0, 1], 12)).all()
    assert COMPLETE_UP_TO == 5040 == count_orders(np.zeros(7))


@pytest.mark.parametrize("conditions", [False, True])
def test_adjusted_r2_is_the_share_less_its_mean_over_all_permutations(conditions):
    counts, X, Z = draw_sites(5)
    Q, root = residuals_of(counts)
    given = Z.to_numpy() if conditions else np.empty((6, 0))
    both = np.hstack([given, X.to_numpy()])
    orders = [list(order) for order in itertools.permutations(range(6))]

    def adjust(columns):
        explained = [inertia(explain(Q[order], root, columns, constant=False)) for order in orders]
        return 1 - (1 - explained[0] / inertia(Q)) / (1 - np.mean(explained) / inertia(Q))

    ca = co.CA().fit(counts, constraints=X, given=Z if conditions else None)
    assert ca.adjusted_r2_ == pytest.approx(adjust(both) - (adjust(given) if conditions else 0))


def test_adjusted_r2_is_nothing_for_noise_in_the_mean():
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        counts = rng.poisson(rng.gamma(2, 5, size=8), size=(15, 8)) + 1
        ca = co.CA().fit(counts, constraints=rng.normal(size=(15, 4)))
        found.append([ca.r2_, ca.adjusted_r2_])
    r2, adjusted = np.array(found).T
    assert r2.mean() > 0.2
    assert abs(adjusted.mean()) < 3 * adjusted.std() / np.sqrt(len(found))


def test_tables_in_files_and_frames(tmp_path):
    test = fit_model("dune_cca").anova("term", 19)
    frame = test.to_frame("pandas")
    assert list(frame.columns) == ["term", "df", "chi_square", "f", "pvalue", "site_pvalue"]
    frame.to_csv(tmp_path / "anova.csv", index=False)
    again = pd.read_csv(tmp_path / "anova.csv")
    assert_near(again["chi_square"], test.chi_square)
    assert again["term"].tolist() == ["A1", "Management", "Residual"]
    assert np.isnan(again["pvalue"].iloc[-1])
    assert test.to_frame("polars").shape == (3, 6)
    with pytest.raises(ValueError, match="read-only"):
        test.f[0] = 1
    assert len(test) == 3


def test_printed_tables_stay_in_their_columns():
    counts, X, _ = draw_sites(0, n=10)
    env = X.rename(columns={"u": "a very long name\nof a constraint <b>with marks</b> and more", "v": "日本"})
    lines = repr(co.CA().fit(counts, constraints=env).anova("term", 9)).splitlines()
    assert len(lines) == 6
    assert len({line.rfind("  ", 0, len(lines[2])) for line in lines[3:5]}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["all constraints", "after a condition", "margin"])
def test_sites_keep_the_level_where_totals_are_unequal_and_counts_scatter(kind):
    n, rejected = 300, np.zeros(2)
    for seed in range(n):
        rng = np.random.default_rng(seed)
        z, u = rng.normal(size=(2, 20))
        strength, related = (0, u) if kind == "all constraints" else (1, 0.7 * z + 0.7 * u)
        shares = np.exp(np.outer(z, strength * rng.normal(size=8)))
        means = rng.lognormal(4, 1, size=(20, 1)) * shares / shares.sum(axis=1, keepdims=True)
        counts = rng.poisson(means * rng.gamma(1, 1, means.shape))
        counts[:, 0] += 1
        constraints = {"z": z, "u": related} if kind == "margin" else {"u": related}
        ca = co.CA().fit(counts, constraints=constraints, given={"z": z} if kind == "after a condition" else None)
        test = ca.anova("margin", 99, random_state=seed)
        rejected += np.array([test.pvalues[-2], test.site_pvalues[-2]]) <= 0.05
    assert 0.015 < rejected[1] / n < 0.09
    assert rejected[0] / n > 0.1  # that of vegan's test
