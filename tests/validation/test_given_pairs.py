"""Cross-fitting, intervals and comparisons of what is left of pairs once others are given."""

import numpy as np
import pytest

import correspondence as co
from correspondence.data.beside_given import BesideGiven
from correspondence.data.copies import find_copies

pytestmark = pytest.mark.filterwarnings("ignore::correspondence.UncertainInterval")


@pytest.fixture(scope="module")
def linked():
    rng = np.random.default_rng(0)
    z, shared, a, b = rng.normal(size=(4, 400))
    return z**2 + shared + 0.5 * a, 2 * z + shared + 0.5 * b, z


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
