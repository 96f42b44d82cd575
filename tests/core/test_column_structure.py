"""Correlations, means and paths of columns."""

import numpy as np
import pandas as pd
import pytest

import correspondence as co
from correspondence.core.column_structure import cut_at_quantiles, find_column_kinds, summarise_columns
from correspondence.data.readable_columns import read_columns


def summarise(F, **columns):
    found = summarise_columns(read_columns(pd.DataFrame(columns), "X"), F)
    return {one.column.name: one for one in found}


@pytest.fixture
def data(rng):
    n = 2000
    x, k = rng.normal(size=n), rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    F = np.column_stack([x + rng.normal(size=n), x**2 + 0.3 * rng.normal(size=n) + (k == "b")])
    return x, k, F


def test_numbers_have_correlations(data):
    x, k, F = data
    one = summarise(F, x=x, k=k)["x"]
    np.testing.assert_allclose(one.correlations, np.corrcoef(x, F, rowvar=False)[0, 1:])
    ranks = np.argsort(np.argsort(x))
    np.testing.assert_allclose(one.rank_correlations, np.corrcoef(ranks, F, rowvar=False)[0, 1:])
    assert one.n == 2000


def test_a_number_bends_where_a_straight_line_misses_it(data):
    x, k, F = data
    one = summarise(F, x=x, k=k)["x"]
    assert one.bends.tolist() == [False, True]
    assert one.explained[1] > 0.5 > 0.1 > one.correlations[1] ** 2
    assert one.path.shape == (10, 2)
    assert (np.diff(one.path[:, 0]) > 0).all()
    assert one.path[0, 1] > one.path[5, 1] < one.path[-1, 1]


def test_noise_does_not_bend(rng):
    for _ in range(20):
        one = summarise(rng.normal(size=(60, 3)), x=rng.normal(size=60), y=rng.normal(size=60))["x"]
        assert not one.bends.any()


def test_labels_have_means_and_a_correlation_ratio(data):
    x, k, F = data
    one = summarise(F, x=x, k=k)["k"]
    for j, label in enumerate("abc"):
        there = k == label
        np.testing.assert_allclose(one.means[j], F[there].mean(axis=0))
        np.testing.assert_allclose(one.category_correlations[j], [np.corrcoef(there, f)[0, 1] for f in F.T], atol=1e-12)
        assert one.counts[j] == there.sum()
    between = sum((k == label).mean() * (F[k == label].mean(axis=0) - F.mean(axis=0)) ** 2 for label in "abc")
    np.testing.assert_allclose(one.explained, between / F.var(axis=0))
    np.testing.assert_allclose(one.correlations, np.sqrt(one.explained))


def test_missing_numbers_are_left_out_of_their_column(data):
    x, k, F = data
    there = np.arange(len(x)) % 3 > 0
    one = summarise(F, x=np.where(there, x, np.nan), k=k)["x"]
    assert one.n == there.sum()
    np.testing.assert_allclose(one.correlations, np.corrcoef(x[there], F[there], rowvar=False)[0, 1:])


def test_rows_without_a_place_are_left_out(data):
    x, k, F = data
    F = np.where((np.arange(len(x)) < 5)[:, None], np.nan, F)
    found = summarise(F, x=x, k=k)
    assert found["x"].n == found["k"].n == 1995
    assert np.isfinite(found["k"].means).all()


def test_few_values_are_bins_of_their_own():
    codes, edges = cut_at_quantiles(np.array([1.0, 4, 9]), np.array([3, 2, 1]))
    assert codes.tolist() == [0, 1, 2]
    assert edges.tolist() == [1, 4, 9, 9]


def test_bins_have_about_as_many_rows():
    codes, edges = cut_at_quantiles(np.arange(1000.0), np.ones(1000, int))
    assert np.ptp(np.bincount(codes)) <= 2
    np.testing.assert_allclose(edges, np.linspace(0, 999, 11), atol=0.51)


def test_ties_leave_no_bin_empty():
    codes, edges = cut_at_quantiles(np.arange(30.0), np.array([90, *np.ones(29, int)]))
    assert np.bincount(codes).min() > 0
    assert len(edges) == codes.max() + 2


def test_huge_and_tiny_numbers_have_correlations(rng):
    f = rng.normal(size=(100, 1))
    for scale in (1e200, 1e-200):
        one = summarise(f, x=scale * f[:, 0], y=rng.normal(size=100))["x"]
        assert one.correlations == pytest.approx(1)


def test_kinds_of_a_fit_are_known(rng):
    X = pd.DataFrame({"code": rng.integers(0, 4, 200), "x": rng.normal(size=200)})
    y = X["x"].to_numpy() + rng.normal(size=200)
    assert find_column_kinds(co.ACE(1).fit(X, y).decomposition_.f)["code"].kind == "label"
    assert find_column_kinds(co.CCA(1).fit(X, y).decomposition_.f)["code"].kind == "number"
    labels = find_column_kinds(co.CA().fit(co.datasets.load_smoke()).decomposition_.f)
    assert [kind.kind for kind in labels.values()] == ["label"]
