"""Moments under permutations, and what follows from them for small p-values."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, fisher_exact

from correspondence.association.level_features import make_label_features, make_number_features, orthonormalise
from correspondence.association.permutation_moments import ColumnSums, compute_permutation_moments, compute_pvalues
from correspondence.association.tail_probabilities import (
    approximate_upper_tail,
    compute_two_answer_pvalues,
    correct_tails,
)


def make_column(rng, n, is_number):
    codes = rng.integers(3, size=n)
    codes[:3] = np.arange(3)
    counts = np.bincount(codes).astype(float)
    return codes, counts, (make_number_features(counts, 2) if is_number else make_label_features(counts))


@given(seed=st.integers(0, 1000), n=st.integers(6, 7), kinds=st.tuples(st.booleans(), st.booleans()))
@settings(max_examples=10, deadline=None)
def test_moments_are_those_of_all_permutations(seed, n, kinds):
    rng = np.random.default_rng(seed)
    (x, x_counts, one), (y, y_counts, other) = (make_column(rng, n, kind) for kind in kinds)
    X, Y = one.table[x] * np.sqrt(one.smoothness), other.table[y] * np.sqrt(other.smoothness)
    orders = np.array(list(itertools.permutations(range(n))))
    K = np.einsum("ia,pib->pab", X, Y[orders]) / n
    values = (K**2).sum(axis=(1, 2))
    sums = [ColumnSums.from_features(f.table, c, f.smoothness) for f, c in ((one, x_counts), (other, y_counts))]
    mean, variance, third = compute_permutation_moments(n, *sums)
    assert mean == pytest.approx(values.mean())
    assert variance == pytest.approx(values.var(), abs=1e-12)
    assert third == pytest.approx(((values - values.mean()) ** 3).mean(), abs=1e-10)


@given(seed=st.integers(0, 1000))
def test_features_are_orthonormal(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 9, size=8).astype(float)
    for table in (make_label_features(counts).table, make_number_features(counts, 5).table):
        share = counts / counts.sum()
        np.testing.assert_allclose(share @ table, 0, atol=1e-9)
        np.testing.assert_allclose(table.T @ (share[:, None] * table), np.eye(table.shape[1]), atol=1e-8)


def test_missing_levels_are_zero_or_have_an_indicator():
    counts, is_missing = np.array([3.0, 2, 4, 5]), np.array([False, False, False, True])
    average = make_number_features(counts, 3, is_missing, has_indicator=False)
    assert average.width == 2
    assert not average.table[3].any()
    shown = make_number_features(counts, 3, is_missing)
    assert shown.width == 3
    assert shown.table[3, 2] > 0 > shown.table[0, 2]
    assert not make_label_features(counts, is_missing).table[3].any()


def test_combinations_of_features_are_left_out():
    features = np.column_stack([np.arange(4.0), 2 * np.arange(4.0), np.ones(4), np.arange(4.0) ** 2])
    assert orthonormalise(features, np.ones(4)).shape == (4, 2)


def test_pvalues_of_equal_weights_are_those_of_chi_squares():
    labels, n = make_label_features(np.full(4, 5000.0)), 20_000.0
    sums = ColumnSums.from_features(labels.table, np.full(4, 5000.0), labels.smoothness)
    statistics = np.array([5.0, 20.0, 50.0])
    pvalues = compute_pvalues(statistics / n, n, sums, sums)
    np.testing.assert_allclose(pvalues, chi2.sf(statistics, 9), rtol=0.01)
    np.testing.assert_array_equal(correct_tails(pvalues[None], np.ones((1, 3)), np.ones((3, 3))), pvalues[None])


def test_tail_of_weighted_sum_of_squares():
    weights = np.array([1.0, 0.5, 0.5, 0.25])
    drawn = np.random.default_rng(0).chisquare(1, size=(400_000, 4)) @ weights
    for x in (8.0, 12.0):
        assert approximate_upper_tail(np.array([x]), weights)[0] == pytest.approx((drawn > x).mean(), rel=0.06)


def test_two_rare_answers_have_the_pvalue_of_fisher():
    n, a, b, both = 40, 4, 6, 3
    table = np.array([[both, a - both], [b - both, n - a - b + both]])
    correlation = (both - a * b / n) / np.sqrt(a * (n - a) / n * b * (n - b) / n)
    found = compute_two_answer_pvalues(np.array([[0.001]]), np.array([[correlation]]), n, np.array([a]), np.array([b]))
    assert found[0, 0] == pytest.approx(fisher_exact(table).pvalue)
