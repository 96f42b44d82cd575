"""Summaries of pairs are sums: merged from parts, and as direct formulas have them."""

from itertools import pairwise

import numpy as np

from correspondence.core.pair_summary import PairSummary, prepend_constant, summarise_pairs
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
