"""Cross-fitting, intervals and comparisons of what is left of pairs once others are given."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.ensemble import ExtraTreesRegressor

import correspondence as co
from correspondence.data.beside_given import BesideGiven
from correspondence.data.copies import find_copies

pytestmark = pytest.mark.filterwarnings("ignore::correspondence.UncertainInterval")


@pytest.fixture(scope="module")
def linked():
    rng = np.random.default_rng(0)
    z, shared, a, b = rng.normal(size=(4, 400))
    return z**2 + shared + 0.5 * a, 2 * z + shared + 0.5 * b, z


@pytest.mark.slow
@pytest.mark.parametrize("est", [co.CCA(1), co.ACE(1)], ids=["CCA", "ACE"])
def test_crossfit_judges_what_is_left(est, linked):
    x, y, z = linked
    found = co.crossfit(est, x, y, given=z)
    assert found.correlations[0] == pytest.approx(0.8, abs=0.08)
    assert co.crossfit(est, x, y).correlations[0] < 0.75
    beside = co.crossfit(est, BesideGiven(x, z), BesideGiven(y, z))
    np.testing.assert_array_equal(found.correlations, beside.correlations)


def test_expectations_are_learned_from_the_training_rows_of_each_fold(linked):
    x, y, z = linked
    train, test = np.arange(300), np.arange(300, 400)
    found = co.crossfit(co.CCA(1), x, y, [(train, test)], given=z)
    est = co.CCA(1).fit(x[train], y[train], given=z[train])
    alone = est.evaluate(x[test], y[test], given=z[test])
    np.testing.assert_allclose(found.correlations, alone.correlations, rtol=1e-12)


def test_labels_of_what_is_given_may_be_missing_from_a_fold():
    rng = np.random.default_rng(0)
    z = np.array(["a", "b"] * 100 + ["rare"])
    x, y = rng.normal(size=(2, 201))
    assert np.isfinite(co.crossfit(co.CCA(1), x, y, given=z).correlations).all()


def test_copies_are_equal_in_the_given_variables_too():
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(3, 300))
    again = np.r_[np.arange(300), np.arange(80)]
    other = np.r_[z, rng.normal(size=80)]
    assert find_copies(BesideGiven(x[again], z[again]), BesideGiven(y[again], z[again])).n_copies == 160
    assert find_copies(BesideGiven(x[again], other), BesideGiven(y[again], other)).n_copies == 0
    texts = [f"word{i} and{i} some{i} more{i} of{i} them{i} here{i} again{i}" for i in again]
    assert find_copies(BesideGiven(texts, z[again]), BesideGiven(y[again], z[again])).n_copies == 160
    assert find_copies(BesideGiven(texts, other), BesideGiven(y[again], other)).n_copies == 0
    with pytest.warns(co.CorrespondenceWarning, match="160 of 380 rows are copies"):
        co.crossfit(co.CCA(1), x[again], y[again], given=z[again])


def test_labels_on_all_sides_are_counts_and_have_no_copies():
    labels = np.random.default_rng(0).integers(0, 4, (3, 200)).astype(str)
    x, y = (BesideGiven(side, labels[2]) for side in labels[:2])
    assert find_copies(x, y).n_copies == 0


def test_groups_stay_together(linked):
    x, y, z = linked
    groups = np.arange(400) // 4
    assert co.crossfit(co.CCA(1), x, y, given=z, groups=groups).correlations[0] > 0.6


def test_pic_intervals(linked):
    x, y, z = linked
    low, high = co.pic_intervals(co.CCA(1), x, y, 20, given=z).intervals[0]
    assert low < 0.64 < high
    assert high - low < 0.3


@pytest.mark.slow
def test_compare(linked):
    x, y, z = linked
    comparison = co.compare(x, y, given=z, n_components=1)
    assert set(comparison.results) == {"cca", "ace"}
    assert comparison.results["cca"].correlations[0] > 0.7
    x = np.where(np.arange(400) < 30, np.nan, x)
    with pytest.warns(co.LeftOut, match="30 of 400"):
        co.compare(x, y, ["cca"], given=z, missing="drop")


@pytest.mark.parametrize("est", [co.KernelCCA(1), co.CA(), co.MCA()], ids=["KernelCCA", "CA", "MCA"])
def test_other_estimators_take_no_given_variables(est, linked):
    x, y, z = linked
    pairs = (x, y) if isinstance(est, co.KernelCCA) else ((x > 0).astype(str), (y > 0).astype(str))
    pairs = (np.column_stack(pairs),) if isinstance(est, co.MCA) else pairs
    with pytest.raises(ValueError, match="est must be a CCA or ACE if there are given"):
        co.crossfit(est, *pairs, given=z)


def test_refusals(linked):
    x, y, z = linked
    with pytest.raises(ValueError, match="given must have one row"):
        co.crossfit(co.CCA(1), x, y, given=z[1:])
    with pytest.raises(ValueError, match="Y is missing"):
        co.crossfit(co.CCA(1), x, given=z)
    with pytest.raises(ValueError, match="est must be a CCA or ACE"):
        co.compare(x, y, ["kernel"], given=z)
    with pytest.raises(ValueError, match="est must be a CCA or ACE"):
        co.pic_intervals(co.KernelCCA(1), x, y, given=z)


# --- tests of conditional independence


@pytest.mark.parametrize("est", [co.CCA(1), co.ACE(1)], ids=["CCA", "ACE"])
def test_dependence_is_found_given_a_cause_only_if_it_is_there(est):
    rng = np.random.default_rng(0)
    z, a, b = rng.normal(size=(3, 300))
    x, y = z + 0.7 * a, z**2 + 0.7 * b
    assert co.permutation_test(est, x, y, 199, given=z).pvalues[0] > 0.05
    found = co.permutation_test(est, x, y + 0.5 * a, 199, given=z)
    assert found.pvalues[0] <= 0.05
    assert "what is left of all pairs, 199 random signs" in repr(found)


@pytest.mark.slow
@pytest.mark.parametrize("n_columns", [1, 5])
def test_level_given_confounders(n_columns):
    """The quick version of `benchmarks/truth.py --only given`: no more than .08 of the data sets."""
    found = 0
    for seed in range(120):
        rng = np.random.default_rng([seed, n_columns])
        Z, (a, b) = rng.normal(size=(200, n_columns)), rng.normal(size=(2, 200))
        total = Z.sum(axis=1) / np.sqrt(n_columns)
        test = co.permutation_test(co.ACE(1), total + 0.7 * a, total**2 + 0.7 * b, 99, given=Z, groups=None)
        found += test.pvalues[0] <= 0.05
    assert binom.ppf(0.001, 120, 0.03) <= found <= binom.ppf(0.999, 120, 0.08)


def test_groups_share_a_sign():
    """Rows of a group are the same person: each counts once, however often it is there."""
    rng = np.random.default_rng(1)
    people = np.repeat(np.arange(40), 10)
    x, y, z = rng.normal(size=(3, 40)).round(3)[:, people] + 0.01 * rng.normal(size=(3, 400))
    alone = co.permutation_test(co.CCA(1), x, y, 199, given=z, groups=None).pvalues[0]
    together = co.permutation_test(co.CCA(1), x, y, 199, given=z, groups=people).pvalues[0]
    assert alone < 0.05 < together


@pytest.mark.slow
def test_level_of_groups_with_effects_of_their_own():
    """z and an effect in x and in y are the same for all pairs of a group; without groups all is dependence."""
    found, people = 0, np.repeat(np.arange(60), 5)
    for seed in range(80):
        rng = np.random.default_rng(seed)
        z, a, b = rng.normal(size=(3, 60))[:, people]
        x, y = z + a + 0.3 * rng.normal(size=300), z + b + 0.3 * rng.normal(size=300)
        found += co.permutation_test(co.ACE(1), x, y, 99, given=z, groups=people).pvalues[0] <= 0.05
    assert found <= binom.ppf(0.999, 80, 0.08)


@pytest.mark.slow
def test_given_regressor_is_used():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(400, 8))
    wave = np.sin(3 * z[:, 0]) * np.sin(3 * z[:, 1])  # neither a sum nor a product
    x, y = wave + 0.3 * rng.normal(size=(2, 400))
    trees = ExtraTreesRegressor(100, random_state=0)
    assert co.permutation_test(co.CCA(1), x, y, 199, given=z[:, :2]).pvalues[0] <= 0.05
    left = co.permutation_test(co.CCA(1, given_regressor=trees), x, y, 199, given=z[:, :2])
    assert left.correlations[0] < 0.6 * co.CCA(1).fit(x, y, given=z[:, :2]).correlations_[0]


def test_latent_dimension_counts_what_is_left(linked):
    x, y, z = linked
    found = co.latent_dimension(co.CCA(2), np.column_stack([x, z]), np.column_stack([y, np.sin(9 * z)]), given=z)
    assert found.n_components == 1
    assert found.correlations[0] == pytest.approx(0.8, abs=0.1)


def test_what_cannot_be_tested_is_one_sentence(linked):
    x, y, z = linked
    with pytest.raises(ValueError, match="refit must be None if there are given"):
        co.permutation_test(co.CCA(1), x, y, given=z, refit=True)
    with pytest.raises(ValueError, match="given must leave something"):
        co.permutation_test(co.ACE(1), x, y, given=x)
    with pytest.raises(ValueError, match="given must have one row"):
        co.permutation_test(co.ACE(1), x, y, given=z[:10])
    for test in (co.permutation_test, co.latent_dimension):
        with pytest.raises(ValueError, match="est must be a CCA or ACE"):
            test(co.KernelCCA(1), x, y, given=z)
        with pytest.raises(ValueError, match="est must be a CCA or ACE"):
            test(co.MCA(1), np.array([["a", "b"], ["b", "a"], ["a", "a"]]), given=z[:3])
    with pytest.raises(ValueError, match="x_regressor must be None"):
        co.permutation_test(co.ACE(1, x_regressor=ExtraTreesRegressor()), x, y, given=z)
