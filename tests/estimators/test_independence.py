import copy
import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

import correspondence as co
from correspondence.estimators.ca.independence import assess_independence, compute_permutation_moments


def pearson(counts):
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    return ((counts - expected) ** 2 / expected).sum()


def assess(counts):
    counts = np.asarray(counts, dtype=float)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    return assess_independence(pearson(counts), counts.sum(axis=1), counts.sum(axis=0), are_counts=True)


def permuted_statistics(r, c):
    """Chi-square of every permutation of the pairs, one after the other."""
    x, y = np.repeat(np.arange(len(r)), r), np.repeat(np.arange(len(c)), c)
    tables = np.zeros((len(r), len(c)))
    for order in itertools.permutations(range(len(y))):
        tables[:] = 0
        np.add.at(tables, (x, y[list(order)]), 1)
        yield pearson(tables)


@pytest.mark.parametrize(
    ("r", "c"), [([1, 2, 4], [3, 4]), ([2, 2, 2], [1, 1, 4]), ([1, 3], [2, 2]), ([1, 1, 1, 3], [1, 5])]
)
def test_moments_are_those_of_all_permutations(r, c):
    values = np.fromiter(permuted_statistics(r, c), float)
    mean, variance = compute_permutation_moments(np.array(r, float), np.array(c, float))
    assert mean == pytest.approx(values.mean())
    assert variance == pytest.approx(values.var(), abs=1e-9)


@pytest.mark.slow
def test_small_tables_have_the_pvalue_of_all_permutations():
    counts = np.array([[3, 0, 0], [0, 1, 1], [1, 0, 2]])
    values = np.fromiter(permuted_statistics(counts.sum(axis=1), counts.sum(axis=0)), float)
    exact = np.mean(values >= pearson(counts) - 1e-9)
    test = assess(counts)
    assert test.distribution == "permutations"
    assert test.pvalue == pytest.approx(exact, abs=4 * np.sqrt(exact / 9999))


def test_two_by_two_tables_are_enumerated():
    for counts in ([[3, 1], [1, 9]], [[0, 5], [7, 30]], [[1, 2], [2, 1]]):
        counts = np.array(counts)
        (r, s), (c, _) = counts.sum(axis=1), counts.sum(axis=0)
        cells = np.arange(max(0, c - s), min(r, c) + 1)
        values = [pearson(np.array([[a, r - a], [c - a, s - c + a]])) for a in cells]
        reached = np.array(values) >= pearson(counts) - 1e-9
        expected = stats.hypergeom.pmf(cells[reached], r + s, r, c).sum()
        test = assess(counts)
        assert test.distribution == "exact"
        assert test.pvalue == pytest.approx(expected, rel=1e-10)
    balanced = [[9, 3], [3, 9]]  # where chi-square and Fisher put the tables in the same order
    assert assess(balanced).pvalue == pytest.approx(stats.fisher_exact(balanced).pvalue, rel=1e-10)


def zipf(rng, n, m):
    p = 1 / np.arange(1, m + 1) ** 1.2
    return rng.choice(m, n, p=p / p.sum())


DESIGNS = {
    "frequent": lambda rng, n: (rng.integers(4, size=n), rng.integers(3, size=n)),
    "Zipf 6 x 5": lambda rng, n: (zipf(rng, n, 6), zipf(rng, n, 5)),
    "rare against rare": lambda rng, n: (rng.random(n) < 0.02, rng.random(n) < 0.02),
    "rare against many": lambda rng, n: (rng.random(n) < 0.02, rng.integers(20, size=n)),
    "Zipf 300 x 200": lambda rng, n: (zipf(rng, n, 300), zipf(rng, n, 200)),
}


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_level(design):
    """At most 16 of 150 independent tables at 5 %: more is less likely than one in a thousand if the level holds."""
    n_tables, n_rejected, n_classical = 150, 0, 0
    for seed in range(n_tables):
        rng = np.random.default_rng([seed, 11])
        counts = np.zeros((300, 200))
        x, y = DESIGNS[design](rng, 300 if "Zipf 300" in design else 100)
        np.add.at(counts, (x.astype(int), y.astype(int)), 1)
        test = assess(counts)
        n_rejected += test.pvalue <= 0.05
        n_classical += test.classical_pvalue <= 0.05
    assert n_rejected <= 16
    if "rare" not in design:
        assert n_rejected >= 2  # a test that never rejects has no power either
    if design == "Zipf 300 x 200":
        assert n_classical >= 0.2 * n_tables  # what the test is for


def test_dependence_is_found_in_a_sparse_table():
    rng = np.random.default_rng(0)
    x = zipf(rng, 400, 50)
    y = np.where(rng.random(400) < 0.4, x % 20, zipf(rng, 400, 20))
    assert co.CA(n_components=1).fit(x, y).chi2_test_.pvalue < 0.001


def test_strong_dependence_has_a_tiny_pvalue():
    assert co.CA().fit(co.datasets.load_housetasks()).chi2_test_.pvalue < 1e-100


def test_huge_totals_keep_their_digits():
    base = np.array([[30, 20, 11], [25, 31, 9], [10, 12, 5]])
    for factor in (10**7, 10**12):
        expected = np.outer(base.sum(axis=1), base.sum(axis=0)) * factor // base.sum()
        expected[0, 0] += 2 * int(np.sqrt(factor))
        test = assess(expected)
        assert test.distribution == "gamma"
        assert test.pvalue == pytest.approx(test.classical_pvalue, rel=1e-4)
        two = expected[:2, :2]
        assert assess(two).pvalue == pytest.approx(assess(two).classical_pvalue, rel=1e-2)
    rare = np.array([[10**15, 3], [10**9, 1]])
    expected = stats.binom.sf(0, 4, 1e9 / (1e15 + 1e9))
    assert assess(rare).distribution == "exact"
    assert assess(rare).pvalue == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_rare_labels_in_a_huge_table_do_not_mislead():
    """Two labels seen three and eight times make up the whole variance: the gamma distribution would always reject."""
    r, c = np.array([10**9, 10**9, 10**6, 3]), np.array([10**9, 10**9, 10**6 - 5, 8])
    drawn = stats.random_table(r, c).rvs(8, random_state=np.random.default_rng(5))
    pvalues = np.array([assess(counts).pvalue for counts in drawn])
    assert (pvalues < 0.05).sum() <= 3
    assert pvalues.max() > 0.5


@pytest.mark.parametrize(
    "counts", [[[1, 0], [0, 1]], [[1, 1], [1, 0]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[2, 0], [0, 2]]]
)
def test_tiny_totals(counts):
    test = co.CA().fit(counts).chi2_test_
    assert 0 < test.pvalue <= 1
    values = np.fromiter(permuted_statistics(np.sum(counts, axis=1), np.sum(counts, axis=0)), float)
    assert test.pvalue == pytest.approx(np.mean(values >= test.statistic - 1e-9), abs=0.02)


@pytest.mark.slow
def test_a_statistic_that_cannot_vary_has_pvalue_one():
    for counts in (np.eye(5), np.eye(100)):  # 10,000 cells: not drawn
        assert co.CA(n_components=1).fit(counts).chi2_test_.pvalue == 1


def test_the_order_of_labels_does_not_matter(rng):
    counts = rng.poisson(0.7, (8, 8))
    counts[0], counts[:, 0] = 1, 1
    first = co.CA().fit(counts).chi2_test_
    assert first.distribution == "permutations"
    shuffled = counts[rng.permutation(8)][:, rng.permutation(8)]
    for other in (shuffled, counts.T, sp.csr_array(counts)):
        assert co.CA().fit(other).chi2_test_.pvalue == first.pvalue


def test_weights_and_shares_have_the_classical_pvalue():
    table = co.datasets.load_smoke()
    weighted = co.CA().fit(table, row_weights=[2, 1, 1, 1, 1]).chi2_test_
    shares = co.CA().fit(table.toarray() / 10).chi2_test_
    for test in (weighted, shares):
        assert test.distribution == "chi2"
        assert test.pvalue == test.classical_pvalue == stats.chi2.sf(test.statistic, test.dof)
    with pytest.warns(UserWarning, match="zero"):
        without = co.CA().fit(table, row_weights=[0, 1, 1, 1, 1]).chi2_test_
    assert without.distribution == "permutations"
    assert without.pvalue == co.CA().fit(table.toarray()[1:]).chi2_test_.pvalue


def test_whole_sample_weights_are_repetitions(rng):
    x, y, weights = rng.integers(4, size=30), rng.integers(3, size=30), rng.integers(1, 4, size=30)
    weighted = co.CA().fit(x, y, sample_weight=weights).chi2_test_
    repeated = co.CA().fit(np.repeat(x, weights), np.repeat(y, weights)).chi2_test_
    assert weighted.pvalue == repeated.pvalue
    assert weighted.distribution == repeated.distribution == "permutations"


def test_a_tuple_of_three_with_names():
    test = co.CA().fit(co.datasets.load_smoke()).chi2_test_
    statistic, dof, pvalue = test
    assert (statistic, dof, pvalue) == (test.statistic, test.dof, test.pvalue)
    assert test._fields == ("statistic", "dof", "pvalue")
    for other in (pickle.loads(pickle.dumps(test)), copy.deepcopy(test)):
        assert other == test
        assert other.distribution == test.distribution
    assert "classical_pvalue" in repr(test)


def test_it_belongs_to_the_last_fit():
    ca = co.CA()
    with pytest.raises(AttributeError):
        ca.chi2_test_  # noqa: B018
    first = ca.fit(co.datasets.load_smoke()).chi2_test_
    second = ca.fit(co.datasets.load_housetasks()).chi2_test_
    assert first.statistic != second.statistic
    subset = co.CA(subset_rows=["SM", "JM"]).fit(co.datasets.load_smoke()).chi2_test_
    assert subset.pvalue == first.pvalue
