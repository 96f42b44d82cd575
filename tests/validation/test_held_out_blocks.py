"""Tests of components on held-out blocks: exact exchanges, and what earlier components leave of later ones."""

import numpy as np
import pytest
from scipy.stats import binom

from correspondence.validation import held_out_blocks
from correspondence.validation.held_out_blocks import Block, Exchanges, run_on_blocks

# --- exchanges


@pytest.mark.slow
@pytest.mark.parametrize("size", [4, 20, 150])
def test_exchanges_are_exact(size):
    """Three blocks of unrelated values with heavy tails: a p-value of at most p has the probability p."""
    rng = np.random.default_rng(0)
    pvalues = []
    for _ in range(400):
        exchanges = Exchanges(3, size, 99, rng)
        pairs = [(f - f.mean(), g - g.mean()) for f, g in rng.standard_t(2, size=(3, 2, size))]
        pvalues.append(held_out_blocks.run_component_test(pairs, exchanges, 0.05).pvalue)
    for p in (0.05, 0.2):
        assert np.sum(np.array(pvalues) <= p) <= binom.ppf(0.999, 400, p)
        assert np.sum(np.array(pvalues) <= p) >= binom.ppf(0.001, 400, p) or size == 4  # where values tie


def test_exchanges_are_sums_over_exchanged_pairs(rng):
    exchanges = Exchanges(2, 7, 20, rng)
    pairs = [tuple(rng.normal(size=(2, 7))) for _ in range(2)]
    given, exchanged = exchanges.sum_products(pairs)
    assert given == pytest.approx(sum(f @ g for f, g in pairs))
    order, move = np.divmod(exchanges.drawn, 7)
    direct = [
        sum(f @ np.roll(g[orders[k]], -s) for (f, g), orders in zip(pairs, exchanges.orders, strict=True))
        for k, s in zip(order, move, strict=True)
    ]
    np.testing.assert_allclose(exchanged, direct)
    assert len(set(exchanges.drawn.tolist())) == 20
    assert exchanges.drawn.min() > 0


# --- blocks


def test_constant_on_a_block(rng):
    """As of a label that only later pairs have: it says nothing, and does no harm."""
    F, G = rng.normal(size=(2, 90, 2))
    F[:30, 1] = 0.3
    parts = [Block.from_functions(F, G, 30, np.ones(2)) for _ in range(3)]
    assert (parts[0].F[:, 1] == 0).all()
    test = run_on_blocks(parts, Exchanges(3, 30, 99, rng), 0.05)[1]
    assert (test.pvalue, test.correlation) == (1, 0)


def test_functions_are_in_units_of_the_block(rng):
    F, G = 3 * rng.normal(size=(2, 90, 2)) + 5
    block = Block.from_functions(F, G, 30, np.ones(2))
    for values in (block.F, block.G):
        np.testing.assert_allclose(values[:30].mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(values[:30].std(axis=0), 1)


def test_missing_components_are_not_found(rng):
    F = rng.normal(size=(60, 1))
    G = F + 0.1 * rng.normal(size=(60, 1))
    block = Block.from_functions(F, G, 60, np.array([0.9])).pad_components(3)
    assert block.training.tolist() == [0.9, 0, 0]
    assert block.pad_components(2).F.shape == (60, 3)  # never fewer than there are
    tests = run_on_blocks([block], Exchanges(1, 60, 199, rng), 0.05)
    assert tests[0].pvalue <= 0.05
    assert [(test.pvalue, test.correlation) for test in tests[1:]] == [(1, 0), (1, 0)]


def test_what_is_taken_off_leaves_the_schur_complement(rng):
    """The mean product of what is left is that of the rank test, r - b A^-1 c, whatever the matrix."""
    F = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4))
    G = 0.5 * F @ rng.normal(size=(4, 4)) + rng.normal(size=(200, 4))
    block = Block.from_functions(F, G, 200, np.ones(4))
    C = block.F.T @ block.G / 200
    for i, found, k in ((2, 2, 2), (3, 2, 2), (1, 3, 1), (3, 3, 3)):
        f, g = block.find_residuals(i, found)
        expected = C[i, i] - C[i, :k] @ np.linalg.solve(C[:k, :k], C[:k, i])
        assert np.mean(f * g) == pytest.approx(expected, abs=1e-10)
        np.testing.assert_allclose(f @ block.G[:, :k] / 200, 0, atol=1e-10)
        np.testing.assert_allclose(block.F[:, :k].T @ g / 200, 0, atol=1e-10)


def test_only_components_found_are_taken_off_later_ones():
    """A number given by another test decides, whatever the p-values here."""
    rng = np.random.default_rng(2)  # a draw in which the second component fails, as it should
    F, G = rng.normal(size=(2, 150, 3))
    G[:, 0] += 3 * F[:, 0]
    F[:, 2] += F[:, 0]
    block, exchanges = Block.from_functions(F, G, 150, np.ones(3)), Exchanges(1, 150, 99, rng)
    own, given = (run_on_blocks([block], exchanges, 0.05, found) for found in (None, 2))
    assert own[1].pvalue > 0.05
    for tests, found in ((own, 1), (given, 2)):
        for i, test in enumerate(tests):
            f, g = block.find_residuals(i, found)
            assert test.correlation == pytest.approx(np.mean(f * g))  # in units of the functions, not of what is left
    assert own[2].correlation != pytest.approx(given[2].correlation)
