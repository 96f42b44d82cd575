"""Tests of components on all pairs: exact for the first, hardly more than their level for later ones."""

import numpy as np
import pytest
from scipy.stats import binom, chi2

import correspondence as co
from correspondence.core import dependence_views, label_views
from correspondence.core.dependence_views import FeatureView, run_in_turn, view_whitened
from correspondence.core.label_views import LabelView, view_labels


def codes(values):
    return np.unique(values, return_inverse=True)[1]


def draw_independent(kind, rng):
    if kind == "Zipf labels":
        return [view_labels(*(codes(np.minimum(labels, 50)) for labels in rng.zipf(1.5, size=(2, 80))))]
    draw = rng.standard_cauchy if kind == "Cauchy columns" else rng.normal
    if kind == "wide":
        return [view_whitened(draw(size=(40, 30)), draw(size=(40, 20)))]
    if kind == "kernel":
        return [view_whitened(draw(size=(60, 6)) ** 3, draw(size=(60, 5)) ** 3, by_variance=True)]
    X, Y = draw(size=(60, 3)), draw(size=(60, 2))
    return [view_whitened(X, Y), view_whitened(X**2, Y**2)] if kind == "two views" else [view_whitened(X, Y)]


def correlated(rng, n, columns, correlations):
    """Draw normal columns with these canonical correlations."""
    X, Y = rng.normal(size=(2, n, columns))
    for i, r in enumerate(correlations):
        Y[:, i] = r * X[:, i] + np.sqrt(1 - r**2) * Y[:, i]
    return X, Y


def classes_as_labels(rng, n, n_classes=3, shape=(40, 25)):
    """Draw two labels given a hidden class: one component less than classes."""
    population = np.random.default_rng(5)
    hidden = rng.integers(n_classes, size=n)
    tables = [population.dirichlet(np.full(size, 0.3), size=n_classes) for size in shape]
    return tuple(codes((rng.random((n, 1)) > np.cumsum(table[hidden], axis=1)[:, :-1]).sum(axis=1)) for table in tables)


# --- level


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["columns", "Cauchy columns", "Zipf labels", "wide", "kernel", "two views"])
def test_first_component_is_tested_exactly(kind):
    """Of independent variables, a p-value of at most p has the probability p, however many exchanges there are."""
    pvalues = []
    for seed in range(300):
        views_drawn = draw_independent(kind, np.random.default_rng([1, seed]))
        pvalues.append(run_in_turn(views_drawn, 1, 39, seed).pvalues[0])
    for p in (0.05, 0.2, 0.5):
        low, high = binom.ppf([0.001, 0.999], 300, p)
        assert low <= np.sum(np.array(pvalues) <= p) <= high


@pytest.mark.slow
def test_level_of_cca_with_heavy_tails():
    rejected = 0
    for seed in range(150):
        X, Y = np.random.default_rng([2, seed]).standard_cauchy(size=(2, 100, 2))
        rejected += co.permutation_test(co.CCA(1), X, Y, 99, random_state=seed).pvalues[0] <= 0.05
    assert 1 <= rejected <= binom.ppf(0.999, 150, 0.05)


@pytest.mark.slow
def test_a_shared_scale_is_no_correlation():
    """Columns whose spread depends on the same variable are uncorrelated; the covariances are far from normal."""
    rejected = 0
    for seed in range(150):
        rng = np.random.default_rng([3, seed])
        scale = np.exp(rng.normal(size=(200, 1)))
        X, Y = scale * rng.normal(size=(2, 200, 2))
        rejected += run_in_turn([view_whitened(X, Y)], 1, 99, seed).pvalues[0] <= 0.05
    assert rejected <= 0.12 * 150


@pytest.mark.slow
@pytest.mark.parametrize("columns", [3, 6])
def test_no_third_component_after_two(columns):
    """Canonical correlations .8 and .5: the third is found in about 5 % of the data sets."""
    found = []
    for seed in range(80):
        X, Y = correlated(np.random.default_rng([4, seed]), 300, columns, (0.8, 0.5))
        found.append(run_in_turn([view_whitened(X, Y)], 3, 199, seed).pvalues <= 0.05)
    assert np.mean(found, axis=0)[:2].tolist() == [1, 1]
    assert np.mean(found, axis=0)[2] <= 0.12


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1000])
def test_three_classes_as_labels_share_two_components(n):
    found = []
    for seed in range(40):
        x, y = classes_as_labels(np.random.default_rng([5, seed]), n)
        found.append(int((run_in_turn([view_labels(x, y)], 5, 199, seed).pvalues <= 0.05).sum()))
    assert np.mean(np.array(found) > 2) <= 0.1
    assert np.mean(np.array(found) == 2) >= (0.8 if n == 1000 else 0.5)


@pytest.mark.slow
def test_no_sixth_component_of_six_classes():
    """A scale at which the fifth component is not seen must not be asked for the sixth."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng([9, seed])
        w = rng.integers(6, size=1000)
        X = 6 * np.column_stack([np.cos(w), np.sin(w)]) + rng.normal(size=(1000, 2))
        Y = 3.0 * rng.permutation(6)[w] + rng.normal(size=1000)
        views_drawn = co.ACE()._make_test_views(X, Y[:, None])
        found.append(int((run_in_turn(views_drawn, 6, 99, seed, stop_above=0.05).pvalues <= 0.05).sum()))
    assert np.mean(np.array(found) > 5) <= 0.1
    assert np.mean(np.array(found) == 5) >= 0.8


# --- power


def bartlett_rejects(X, Y):
    """Test normal columns by the likelihood ratio, which needs no draws."""
    Qx, Qy = (np.linalg.qr(Z - Z.mean(axis=0))[0] for Z in (X, Y))
    squares = np.linalg.svd(Qx.T @ Qy, compute_uv=False) ** 2
    p, q = X.shape[1], Y.shape[1]
    return -(len(X) - 1 - (p + q + 1) / 2) * np.log1p(-squares).sum() > chi2.ppf(0.95, p * q)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [1, 2, 4])
def test_weak_correlations_are_found_as_often_as_by_the_likelihood(columns):
    found = expected = 0
    for seed in range(60):
        X, Y = correlated(np.random.default_rng([6, seed]), 500, columns, (0.15,))
        found += run_in_turn([view_whitened(X, Y)], 1, 199, seed).pvalues[0] <= 0.05
        expected += bartlett_rejects(X, Y)
    assert found >= expected - 4
    assert found >= 0.6 * 60 or columns > 2


@pytest.mark.slow
def test_all_pairs_find_more_than_held_out_ones():
    found = {None: 0, False: 0}
    for seed in range(30):
        X, Y = correlated(np.random.default_rng([7, seed]), 150, 3, (0.3,))
        for refit in found:
            found[refit] += co.permutation_test(co.CCA(1), X, Y, 199, refit=refit).pvalues[0] <= 0.05
    assert found[None] >= found[False] + 5


def test_one_strange_pair_does_not_hide_the_others():
    """The statistics are in units of standard errors: a large pair makes a large error."""
    found = 0
    for seed in range(20):
        X, Y = correlated(np.random.default_rng([8, seed]), 300, 1, (0.4,))
        X[0], Y[0] = 30, -5
        found += run_in_turn([view_whitened(np.arctan(X), np.arctan(Y))], 1, 99, seed).pvalues[0] <= 0.05
    assert found >= 18


# --- one component after the other


def test_later_pvalues_are_never_smaller(rng):
    X, Y = correlated(rng, 200, 4, (0.7, 0.3, 0.3))
    result = run_in_turn([view_whitened(X, Y)], 4, 99, 0, stop_above=1.0)
    assert (np.diff(result.pvalues) >= 0).all()
    assert (result.statistics > 0).all()
    assert result.null.shape == (99, 4)


def test_tests_stop_after_a_failure(rng):
    X, Y = correlated(rng, 300, 4, (0.9,))
    result = run_in_turn([view_whitened(X, Y)], 4, 99, 0, stop_above=0.05)
    first = int((result.pvalues <= 0.05).sum())
    assert first == 1
    assert result.pvalues[2:].tolist() == [1, 1]
    assert result.statistics[2:].tolist() == [0, 0]


def test_the_seed_decides(rng):
    X, Y = correlated(rng, 100, 3, (0.5, 0.2))
    x, y = classes_as_labels(rng, 100)
    for view in (view_whitened(X, Y), view_labels(x, y)):
        one, again, other = (run_in_turn([view], 3, 99, seed, stop_above=1.0) for seed in (4, 4, 5))
        np.testing.assert_array_equal(one.null, again.null)
        np.testing.assert_array_equal(one.pvalues, again.pvalues)
        assert (one.null != other.null).any(axis=0)[:2].all()  # the third is tested only where the second is clear


def test_more_components_than_features(rng):
    """A matrix of rank 1 has no second singular value."""
    X, Y = correlated(rng, 100, 1, (0.8,))
    assert run_in_turn([view_whitened(X, Y)], 3, 99, 0).pvalues.tolist() == [0.01, 1, 1]


def test_a_view_of_noise_does_not_hide_another(rng):
    X, Y = correlated(rng, 300, 1, (0.4,))
    noise = view_whitened(*rng.normal(size=(2, 300, 20)))
    assert run_in_turn([noise, view_whitened(X, Y)], 1, 199, 0).pvalues[0] <= 0.05


# --- what it costs


def test_fewer_draws_and_then_fewer_rows(rng, monkeypatch):
    view = view_whitened(*rng.normal(size=(2, 5000, 2)))  # 8 multiplications for each row
    assert dependence_views.limit_work([view], 999, rng) == (999, None)
    monkeypatch.setattr(dependence_views, "MAX_MULTIPLICATIONS", 5000 * 8 * 500)
    assert dependence_views.limit_work([view], 999, rng) == (500, None)
    assert dependence_views.limit_work([view], 19, rng) == (19, None)
    monkeypatch.setattr(dependence_views, "MAX_MULTIPLICATIONS", 2000 * 8 * 199)
    n_draws, rows = dependence_views.limit_work([view], 999, rng)
    assert n_draws == 199
    assert len(np.unique(rows)) == 2000
    monkeypatch.setattr(dependence_views, "MAX_MULTIPLICATIONS", 1.0)
    assert len(dependence_views.limit_work([view], 999, rng)[1]) == 1000  # never fewer
    assert len(run_in_turn([view], 1, 999, 0).null) == 199


# --- views


def test_functions_of_a_view_are_uncorrelated(rng):
    F = rng.normal(size=(100, 4)) @ rng.normal(size=(4, 4)) + 7
    view = view_whitened(np.column_stack([F, F[:, 0], np.full(100, 3.0)]), F[:, :2])
    assert (view.x.shape, view.y.shape) == ((100, 4), (100, 2))  # neither copies nor constants
    for side in (view.x, view.y):
        np.testing.assert_allclose(side.T @ side / 100, np.eye(side.shape[1]), atol=1e-9)
        np.testing.assert_allclose(side.mean(axis=0), 0, atol=1e-9)
    assert view.take_rows(np.arange(30)).n == 30


def test_more_columns_than_rows(rng):
    view = view_whitened(*rng.normal(size=(2, 30, 200)))
    assert view.x.shape[1] <= min(29, dependence_views.MAX_FEATURES)
    np.testing.assert_allclose(view.x.T @ view.x / 30, np.eye(view.x.shape[1]), atol=1e-6)
    assert len(view.scales) == 2


def test_later_statistics_do_not_depend_on_units(rng):
    """Nor on the mean, or on linear combinations where all directions count alike."""
    X, Y = correlated(rng, 200, 3, (0.5, 0.3))
    mixed = X @ rng.normal(size=(3, 3)) * 1e-6 + 1
    one, other = (view_whitened(Z, Y).draw_noise(1, 9, 0) for Z in (X, mixed))
    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_sides_that_do_not_vary_have_no_view(rng):
    assert view_whitened(np.ones((50, 2)), rng.normal(size=(50, 2))) is None


def test_labels_one_of_which_is_everywhere(rng):
    """One label has nothing to be tested: the p-value is 1."""
    view = view_labels(np.zeros(50, dtype=int), rng.integers(3, size=50))
    assert sorted(view.shape) == [1, 3]
    assert run_in_turn([view], 2, 99, 0).pvalues.tolist() == [1, 1]


def test_tables_that_are_too_large_have_no_view():
    x = np.arange(600)
    assert view_labels(x, x) is None
    assert isinstance(view_labels(x, x % 400), LabelView)
    names = x.astype(str).astype(object)
    assert co.CA(1)._make_test_views(names, names) == []


def test_totals_of_the_longer_side_are_kept(rng):
    x, y = rng.integers(4, size=200), rng.integers(9, size=200)
    for view in (view_labels(x, y), view_labels(y, x)):
        assert view.shape == (9, 4)
    table = view._count_cells(view.y)
    assert table.sum() == 200
    totals, given_x = label_views.fit_rank_model(table, 1)
    np.testing.assert_array_equal(totals, np.bincount(y))
    np.testing.assert_allclose(given_x.sum(axis=1), 1)


def test_a_rank_that_has_everything_is_the_table(rng):
    """Up to the pseudo-counts, which only scale: they cancel where the rank is full."""
    x = rng.integers(5, size=300)
    y = np.where(rng.random(300) < 0.5, x % 3, rng.integers(3, size=300))
    table = view_labels(x, y)._count_cells(y)
    np.testing.assert_allclose(
        label_views.fit_rank_model(table, 3)[1], table / table.sum(axis=1, keepdims=True), atol=1e-12
    )


def test_views_of_estimators(rng):
    X, Y = rng.normal(size=(2, 100, 2))
    labels = rng.integers(3, size=100).astype(str).astype(object)
    assert [type(view) for view in co.CA()._make_test_views(labels, labels)] == [LabelView]
    assert [type(view) for view in co.CCA()._make_test_views(X, Y)] == [FeatureView]
    assert [type(view) for view in co.KernelCCA()._make_test_views(X, Y)] == [FeatureView]
    assert [type(view) for view in co.ACE()._make_test_views(X, labels)] == [FeatureView, FeatureView]


def test_the_additive_view_does_not_depend_on_the_units_of_numbers(rng):
    """Nor on any other increasing function of them: values far out must not decide a test."""
    X = rng.normal(size=(200, 2))
    labels = rng.integers(3, size=200).astype(str).astype(object)
    _, view = co.ACE()._make_test_views(X, labels)
    _, same = co.ACE()._make_test_views(np.sinh(6 * X) + 5, labels)
    for ours, theirs in zip((view.x, view.y), (same.x, same.y), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


@pytest.mark.slow
def test_a_wavy_second_component_is_found():
    """Smooth scales do not see it, so that fine ones must be asked as well."""
    found = []
    for seed in range(6):
        rng = np.random.default_rng([31, seed])
        x = rng.uniform(-3, 3, size=800)
        y = np.sin(3 * x) + 0.5 * rng.normal(size=800)
        found.append(int((run_in_turn(co.ACE()._make_test_views(x, y), 2, 199, seed).pvalues <= 0.05).sum()))
    assert np.mean(np.array(found) == 2) >= 0.8


def test_a_label_for_each_row_tells_nothing():
    """Whatever is exchanged, the table is the same: what differs is rounding."""
    for seed in range(3):
        view = view_labels(np.arange(60), np.random.default_rng(seed).integers(3, size=60))
        assert run_in_turn([view], 1, 99, seed).pvalues[0] == 1.0


def test_p_values_of_several_scales():
    S = np.zeros((100, 3))
    assert dependence_views.compare_each_statistic(S) == 1.0  # at no scale is there anything to test
    S[1:, :2] = np.linspace(0, 1, 99)[:, None]
    S[0] = 0.5, 0.97, 0.0
    assert dependence_views.compare_each_statistic(S) == pytest.approx(
        2 * 4 / 100
    )  # three draws reach the second, of two scales that vary
    S[0, :2] = 0.1
    assert dependence_views.compare_each_statistic(S) == 1.0
    S[0, :2] = 3.0  # no draw reaches it: the p-value is that of a hundred exchanges, not five times as large
    assert dependence_views.compare_each_statistic(S) == pytest.approx(1 / 100)


@pytest.mark.slow
def test_strong_components_are_found_at_any_level_of_few_draws(rng):
    X = rng.normal(size=(500, 3))
    views_drawn = co.ACE()._make_test_views(X, X + 0.3 * rng.normal(size=(500, 3)))
    np.testing.assert_allclose(run_in_turn(views_drawn, 3, 99, 0).pvalues, 1 / 100)


def test_blocks_of_pairs_vary_as_much_as_pairs(rng):
    x, y = rng.normal(size=(4000, 3)), rng.standard_t(3, size=(4000, 2))
    y[:, 0] += x[:, 0]
    view = view_whitened(x, y)
    K = view.x.T @ view.y / view.n
    by_pairs, by_blocks = (draw(K, 400, rng).std(axis=0) for draw in (view._draw_by_pairs, view._draw_by_blocks))
    np.testing.assert_allclose(by_blocks, by_pairs, rtol=0.25)


@pytest.mark.slow
def test_later_components_are_tested_on_all_of_many_pairs():
    """Though the first is tested on few of them, because exchanges of so many features cost much."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 6000, 60))
    Y[:, 0] += X[:, 0]
    Y[:, 1] += 0.25 * X[:, 1]
    view = view_whitened(X, Y)
    assert all(run_in_turn([view], 2, 199, seed).pvalues[1] <= 0.05 for seed in range(3))


def test_labels_that_occur_once_are_not_tested(rng):
    """Which of their many equal directions were taken would depend on how they are spelt."""
    y = rng.normal(size=(300, 1))
    one_hot = np.eye(300)[np.argsort(np.argsort(y[:, 0]))]
    assert view_whitened(one_hot, y) is None
    assert view_whitened(one_hot, y, by_variance=True) is None


@pytest.mark.slow
def test_a_label_for_each_row_says_nothing(rng):
    y = rng.normal(size=300)
    labels = [f"k{value:+.12f}" for value in y]
    for est in (co.CCA(n_components=1), co.KernelCCA(n_components=1)):
        assert co.permutation_test(est, labels, y, 99, progress=False).pvalues[0] > 0.05
