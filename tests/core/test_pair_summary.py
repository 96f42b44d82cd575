"""Summaries of pairs and their uncertainty."""

from itertools import pairwise

import numpy as np
import pytest

import correspondence as co
from correspondence._util.user_warnings import UncertainInterval
from correspondence.core.pair_summary import (
    PairSummary,
    Spread,
    compute_correlations,
    compute_jackknife_terms,
    prepend_constant,
    summarise_pairs,
)
from correspondence.core.scoring import score_pairs, score_parts


def test_parts_are_merged_exactly(rng):
    F, G, s = 100 + rng.normal(size=(90, 2)), rng.normal(size=(90, 2)), np.array([0.9, 0.5])
    whole = score_pairs(F, G, s)
    ends = [0, 1, 30, 90]
    parts = score_parts(lambda f: [f(F[a:b], G[a:b]) for a, b in pairwise(ends)], s)
    for name in ("correlations", "intervals", "captured", "captured_interval"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-9)


def test_a_summary_knows_the_density_ratios(rng):
    F, G, s = rng.normal(size=(40, 2)), rng.normal(size=(40, 2)), np.array([0.8, 0.3])
    summary = summarise_pairs(s, F, G)
    ratios = 1 + (F * s) @ G.T
    np.testing.assert_allclose([summary.ratio, summary.square], [np.diag(ratios).mean(), (np.diag(ratios) ** 2).mean()])
    of_x, of_y = summary.expect_squares(prepend_constant(F, s), prepend_constant(G, s))
    np.testing.assert_allclose(of_x, (ratios**2).mean(axis=1))
    np.testing.assert_allclose(of_y, (ratios**2).mean(axis=0))
    halves = PairSummary.merge_parts([summarise_pairs(s, F[:9], G[:9]), summarise_pairs(s, F[9:], G[9:])])
    np.testing.assert_allclose(halves.correlations, summary.correlations)
    np.testing.assert_allclose(halves.second, summary.second)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_up_to_three_pairs_prove_nothing(n, rng):
    result = score_pairs(rng.normal(size=(n, 1)), rng.normal(size=(n, 1)), np.array([0.5]))
    assert np.isfinite(result.captured)
    assert result.captured_interval.tolist() == [-np.inf, np.inf]
    assert result.intervals.tolist() == [[-1, 1]]


def test_heavy_tails_have_a_warning(rng):
    x = rng.standard_t(2, size=(400, 1))
    y = x + rng.standard_t(2, size=(400, 1))
    est = co.CCA(n_components=1).fit(x[:200], y[:200])
    with pytest.warns(UncertainInterval, match="too narrow"):
        est.evaluate(x[200:], y[200:])


def test_rare_values_that_are_missing_have_a_warning(rng):
    x = np.r_[np.zeros(95), np.ones(5)]
    est = co.CCA(n_components=1).fit(x, x + 0.1 * rng.normal(size=100))
    with pytest.warns(UncertainInterval, match="missing"):
        est.evaluate(0.01 * rng.normal(size=100), rng.normal(size=100))


def test_degrees_of_freedom_follow_from_the_tails(rng):
    n = 10_000
    normal, heavy = Spread.from_terms(rng.normal(size=n)), Spread.from_terms(rng.standard_t(2, size=n))
    assert normal.error == pytest.approx(1 / np.sqrt(n), rel=0.05)
    assert normal.freedom == pytest.approx(n, rel=0.1)
    assert heavy.freedom < n / 50
    one = np.zeros(n)
    one[0] = 1
    assert Spread.from_terms(one).freedom == pytest.approx(2, abs=0.1)
    assert normal.scale_variance(4).error == pytest.approx(2 * normal.error)


def test_jackknife_terms_are_differences_of_fishers_z(rng):
    x, y = rng.normal(size=(2, 2000))
    y += x
    r = np.corrcoef(x, y)[0, 1]
    without = np.array([np.corrcoef(np.delete(x, i), np.delete(y, i))[0, 1] for i in range(50)])
    exact = (len(x) - 1) * (np.arctanh(r) - np.arctanh(without))
    np.testing.assert_allclose(compute_jackknife_terms(r, without, len(x)), exact, rtol=0.02, atol=0.01)
    assert compute_correlations(np.array([4.0, 0.0]), np.array([1.0, 1.0]), np.array([1.0, 0.0]), 1e-9).tolist() == [
        0.5,
        0,
    ]
