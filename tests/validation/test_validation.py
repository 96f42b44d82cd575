"""Cross-fitting, tests and intervals."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binom
from sklearn.model_selection import ShuffleSplit
from varying import Varying

import correspondence as co
from correspondence._util.user_warnings import UncertainInterval
from correspondence.core.estimator import Estimator
from correspondence.core.functions import LinearFunctions
from correspondence.core.scoring import score_pairs
from correspondence.validation import permutation
from correspondence.validation.intervals import with_chosen_settings


def draw_linear_pairs(rng, n=300, p=4, q=3, shared=1, noise=1.0):
    common = rng.normal(size=(n, shared))
    X, Y = rng.normal(size=(n, p)), rng.normal(size=(n, q))
    X[:, :shared] = common
    Y[:, :shared] = common + noise * Y[:, :shared]
    return X, Y


class Memory(Estimator):
    """Knows every training pair by heart, and nothing else."""

    def __init__(self, n_components=1):
        self.n_components = n_components

    def fit(self, X, Y=None):
        self.decomposition_ = co.CA(n_components=1, handle_unknown="nan").fit(X, Y).decomposition_
        return self


# --- crossfit


def test_out_of_fold_values_are_those_of_fits_without_the_fold(rng):
    X, Y = draw_linear_pairs(rng, shared=2)
    folds = [(np.arange(100, 300), np.arange(100)), (np.arange(100), np.arange(100, 300))]
    result = co.crossfit(co.CCA(n_components=2), X, Y, cv=folds)
    for train, test in folds:
        fit = co.CCA(n_components=2).fit(X[train], Y[train])
        F, G = fit.transform(X[test], Y[test])
        sign = np.sign((F * result.F[test]).sum(axis=0))
        np.testing.assert_allclose(result.F[test], F * sign)
        np.testing.assert_allclose(result.G[test], G * sign)
    assert [split.n for split in result.splits] == [100, 200]
    captured = np.array([split.captured for split in result.splits])
    assert result.captured == pytest.approx(captured @ [1 / 3, 2 / 3])
    assert result.terms.mean() == pytest.approx(result.captured)
    assert (result.training > result.correlations).any()


def test_an_outlier_in_a_small_fold_shows_in_the_interval(rng):
    x, y = rng.normal(size=(2, 200, 1))
    y += x
    x[0], y[0] = 12, 12
    with pytest.warns(UncertainInterval):
        result = co.crossfit(co.CCA(n_components=1), x, y)
    low, high = result.captured_interval
    assert low < 0.5 < high
    x[0], y[0] = 1, 1
    assert np.diff(co.crossfit(co.CCA(n_components=1), x, y).captured_interval)[0] < (high - low) / 2


def test_what_the_first_components_capture_alone(rng):
    X, Y = draw_linear_pairs(rng, shared=2)
    result = co.crossfit(co.CCA(n_components=3), X, Y, groups=np.arange(300) // 2)
    assert result.nested_terms.shape == (3, 150)
    np.testing.assert_array_equal(result.captured_first(3)[1], result.terms)
    for k in (1, 2):
        captured, terms = result.captured_first(k)
        assert captured == pytest.approx(terms.mean())
        alone = co.crossfit(co.CCA(n_components=k), X, Y, groups=np.arange(300) // 2)
        np.testing.assert_allclose(terms, alone.terms)
    for k in (0, 4, 1.5):
        with pytest.raises(ValueError, match="n_components must"):
            result.captured_first(k)


def test_pairs_of_a_group_are_not_taken_for_independent(rng):
    """The mean over x and y of different groups, one by one."""
    X, Y = draw_linear_pairs(rng, n=60, shared=2)
    groups = np.repeat(np.arange(20), 3)
    halves = [(np.arange(30, 60), np.arange(30)), (np.arange(30), np.arange(30, 60))]
    result, expected = co.crossfit(co.CCA(n_components=2), X, Y, cv=halves, groups=groups), []
    for train, test in halves:
        fit = co.CCA(n_components=2).fit(X[train], Y[train])
        ratio = 1 + (fit.transform(X[test]) * fit.correlations_) @ fit.transform_y(Y[test]).T
        apart = groups[test][:, None] != groups[test]
        expected.append(2 * np.diag(ratio).mean() - (ratio**2)[apart].mean() - 1)
    assert result.captured == pytest.approx(np.mean(expected))


@pytest.mark.slow
def test_crossfit_intervals_cover_what_the_fits_have_in_the_population():
    """Of two components, and of none: the truth is the mean over the fits of what they capture of other pairs."""
    for strength in (1.0, 0.0):
        covered = np.zeros(2)
        for seed in range(25):
            rng = np.random.default_rng(seed)
            X, Y = rng.normal(size=(2, 2000, 3))
            Y[:, :2] += strength * X[:, :2] * [1.0, 0.5]
            few, many = slice(0, 100), slice(100, None)
            folds = [(np.setdiff1d(np.arange(100), test), test) for test in np.arange(100).reshape(5, 20)]
            result = co.crossfit(co.CCA(n_components=1), X[few], Y[few], cv=folds)
            fits = [co.CCA(n_components=1).fit(X[few][train], Y[few][train]) for train, _ in folds]
            truth = [score_pairs(*fit.transform(X[many], Y[many]), fit.correlations_) for fit in fits]
            values = np.mean([[t.captured, t.correlations[0]] for t in truth], axis=0)
            ends = np.vstack([result.captured_interval, result.intervals])
            covered += (ends[:, 0] <= values) & (values <= ends[:, 1])
        assert (covered >= 20).all()  # 23.5 expected


def test_signs_agree_over_the_folds(rng):
    X, Y = draw_linear_pairs(rng, n=600, noise=0.3)
    result = co.crossfit(co.CCA(n_components=1), X, Y)
    assert abs(np.corrcoef(result.F[:, 0], X[:, 0])[0, 1]) > 0.95


def test_memorising_is_found_out(rng):
    x, y = np.arange(200), rng.integers(4, size=200)
    result = co.crossfit(Memory(), x, y)
    assert result.training[0] == pytest.approx(1)
    assert result.correlations[0] == 0
    assert result.captured <= 0


def test_groups_are_never_on_both_sides(rng):
    """Each x occurs five times with the same y: without groups an estimator only has to remember it."""
    x, y = rng.normal(size=(80, 1)), rng.normal(size=(80, 1))
    X, Y, groups = np.repeat(x, 5, axis=0), np.repeat(y, 5, axis=0), np.repeat(np.arange(80), 5)
    est = co.KernelCCA(n_components=1, gamma=1000.0, regularization=1e-6)
    assert co.crossfit(est, X, Y, groups=None).correlations[0] > 0.7
    assert co.crossfit(est, X, Y, groups=groups).correlations[0] < 0.4


def test_pairs_held_out_several_times_weigh_no_more(rng):
    X, Y = draw_linear_pairs(rng, n=200)
    result = co.crossfit(co.CCA(n_components=1), X, Y, cv=ShuffleSplit(20, test_size=0.2, random_state=0))
    once = co.crossfit(co.CCA(n_components=1), X, Y)
    assert len(result.splits) == 20
    assert np.diff(result.intervals[0])[0] == pytest.approx(np.diff(once.intervals[0])[0], rel=0.3)
    missing = co.crossfit(co.CCA(n_components=1), X, Y, cv=ShuffleSplit(1, test_size=0.2, random_state=0))
    assert np.isnan(missing.F).all(axis=1).sum() == 160


@pytest.mark.slow
def test_rare_labels_of_the_held_out_part_count_as_the_mean(rng):
    x = np.array(["a", "b", "c"])[rng.integers(3, size=200)].astype(object)
    y = np.where(rng.random(200) < 0.8, x, "a")
    x[7] = "only once"
    for est in (co.CA(n_components=2), co.CCA(n_components=2), co.ACE(n_components=2), co.KernelCCA(n_components=2)):
        result = co.crossfit(est, x, y)
        np.testing.assert_allclose(result.F[7], 0, atol=0.4)
        assert result.correlations[0] > 0.5
    with pytest.raises(ValueError, match="not in the fit"):
        co.CCA().fit(x[8:], y[8:]).transform(x)


@pytest.mark.slow
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, lambda d: {k: v.tolist() for k, v in d.items()}["a"]])
def test_data_of_any_kind(rng, frame):
    a = rng.normal(size=300)
    labels = np.where(a + rng.normal(size=300) > 0, "high", "low").tolist()
    result = co.crossfit(co.CCA(n_components=1), frame({"a": a}), labels, cv=3, n_jobs=2)
    assert result.correlations[0] > 0.4


def test_repr_and_errors(rng):
    X, Y = draw_linear_pairs(rng)
    text = repr(co.crossfit(co.CCA(n_components=2), X, Y))
    assert text.startswith("CrossFit with 5 splits, 300 pairs held out: captured ")
    assert "training  held out" in text
    with pytest.raises(TypeError, match="est must"):
        co.crossfit(co.CCA, X, Y)
    with pytest.raises(ValueError, match="X and Y must"):
        co.crossfit(co.CCA(), X, Y[1:])
    with pytest.raises(ValueError, match="Y is missing"):
        co.crossfit(co.CCA(), X, None)
    with pytest.raises(ValueError, match="cv must"):
        co.crossfit(co.CCA(), X, Y, cv=1)
    with pytest.raises(ValueError, match="cv must"):
        co.crossfit(co.CCA(), X, Y, cv=None)
    with pytest.raises(ValueError, match="groups must"):
        co.crossfit(co.CCA(), X, Y, groups=[1, 2])
    with pytest.raises(ValueError, match="groups must"):
        co.crossfit(co.CCA(), X, Y, groups=np.zeros(300))


# --- permutation test


@pytest.mark.slow
@pytest.mark.parametrize("refit", [None, False, True])
def test_type_one_error(refit):
    """Of independent pairs, a p-value of at most p has the probability p."""
    n_sets, n_permutations, pvalues = (60, 19, []) if refit else (150, 99, [])
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        X, Y = rng.standard_t(4, size=(80, 3)), rng.normal(size=(80, 2))
        est = co.CCA(n_components=1)
        test = co.permutation_test(est, X, Y, n_permutations, refit=refit, random_state=seed, progress=False)
        pvalues.append(test.pvalues[0])
    for p in (0.05, 0.2, 0.5):
        low, high = binom.ppf([0.001, 0.999], n_sets, p)
        assert low <= np.sum(np.array(pvalues) <= p) <= high


@pytest.mark.slow
def test_the_second_component_is_not_found_because_of_the_first():
    found = 0
    for seed in range(100):
        X, Y = draw_linear_pairs(np.random.default_rng(seed), n=200)
        found += co.permutation_test(co.CCA(n_components=2), X, Y, 99, random_state=seed).pvalues[1] <= 0.05
    assert found <= 11  # 5 % of 100, and two standard deviations and a half


@pytest.mark.slow
def test_power_and_order_of_pvalues(rng):
    X, Y = draw_linear_pairs(rng, n=400, shared=2)
    for refit in (None, False, True):
        test = co.permutation_test(co.CCA(n_components=3), X, Y, 99, refit=refit, n_jobs=2 if refit else None)
        assert test.pvalues[:2].max() == pytest.approx(0.01)
        assert (np.diff(test.pvalues) >= 0).all()
        assert test.null.shape == (99, 3)
        assert test.band[0] < test.statistics[0]
        assert (test.statistics != test.correlations).any() == (refit is None)


def test_memorising_is_not_significant(rng):
    x, y = np.arange(200), rng.integers(4, size=200)
    assert co.permutation_test(Memory(), x, y, 99).pvalues[0] > 0.05


@pytest.mark.slow
def test_groups_in_the_test(rng):
    """Twenty copies of each pair of unrelated values prove nothing."""
    significant = {True: 0, False: 0}
    for seed in range(20):
        r = np.random.default_rng(seed)
        X, Y = np.repeat(r.normal(size=(30, 2)), 20, axis=0), np.repeat(r.normal(size=(30, 2)), 20, axis=0)
        for grouped in significant:
            groups = np.repeat(np.arange(30), 20) if grouped else None
            test = co.permutation_test(co.CCA(n_components=1), X, Y, 99, groups=groups)
            significant[grouped] += test.pvalues[0] < 0.05
    assert significant[False] >= 15
    assert significant[True] <= 4


def test_permutation_errors(rng):
    X, Y = draw_linear_pairs(rng)
    with pytest.raises(ValueError, match="n_permutations must"):
        co.permutation_test(co.CCA(), X, Y, 5)
    with pytest.raises(ValueError, match=r"X must .* 15"):
        co.permutation_test(co.CCA(n_components=1), X[:6], Y[:6], refit=False)
    with pytest.raises(ValueError, match="refit=False"):
        co.permutation_test(co.CCA(), X, Y, refit=True, groups=np.arange(300))
    for refit, words in ((None, "all pairs"), (False, "held-out pairs"), (True, "refitted")):
        assert words in repr(co.permutation_test(co.CCA(), X, Y, 19, refit=refit))
    with pytest.raises(ValueError, match="refit"):
        co.permutation_test(co.CCA(), X, Y, 19, refit="yes")


def draw_rare_labels(rng, n=200):
    has = rng.random(n) < 0.02
    return np.where(has, "a", "b"), np.where(has | (rng.random(n) < 0.01), "u", "v")


@pytest.mark.slow
def test_labels_that_a_block_does_not_have():
    """A fit to 40 % of the pairs may know one label only: there is a p-value all the same."""
    missed = 0
    for seed in range(60):
        x, y = draw_rare_labels(np.random.default_rng(seed))
        if (x == "a").sum() < 3 or (y == "v").all():
            continue
        assert co.permutation_test(co.CA(1), x, y, 99).pvalues[0] <= 0.05
        assert co.latent_dimension(co.CA(1), x, y, n_permutations=99).n_components == 1
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            held = co.permutation_test(co.CA(1, handle_unknown="nan"), x, y, 99, refit=False)
        assert len(held.pvalues) == 1
        if any(issubclass(w.category, co.FewerComponents) for w in caught):
            missed += 1
            assert held.pvalues[0] == 1
    assert missed >= 3


@pytest.mark.slow
def test_no_third_component_of_three_classes_on_held_out_pairs():
    population, found = np.random.default_rng(5), 0
    tables = [population.dirichlet(np.full(size, 0.3), size=3) for size in (40, 25)]
    for seed in range(40):
        rng = np.random.default_rng([8, seed])
        hidden = rng.integers(3, size=500)
        x, y = ([str(rng.choice(table.shape[1], p=table[w])) for w in hidden] for table in tables)
        est = co.CA(n_components=5, handle_unknown="nan")
        found += (co.permutation_test(est, x, y, 199, refit=False, random_state=seed).pvalues <= 0.05).sum() > 2
    assert found <= 6  # held-out pairs are few for 25 and 40 labels; on all pairs it is at most 4


# --- intervals


@pytest.mark.slow
def test_intervals_cover_the_truth():
    """Two correlations, 0.71 and 0.45, and noise columns that bias the training values upward."""
    truth, inside = np.array([1 / 2, 1 / 5]), np.zeros(2)
    above = np.zeros(2)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 6))
        noise = rng.normal(size=(300, 5))
        Y = noise + np.column_stack([X[:, 0], X[:, 1] / 2, np.zeros((300, 3))])
        result = co.pic_intervals(co.CCA(n_components=2), X, Y, 20, random_state=seed)
        inside += (result.intervals[:, 0] <= truth) & (truth <= result.intervals[:, 1])
        above += result.training - result.pics
    assert (inside >= 25).all()  # 28.5 expected
    assert (above / 30 > 0.005).all()


def test_halves_are_fitted_with_the_settings_of_the_whole(rng):
    X, Y = draw_linear_pairs(rng, n=100, p=10, q=10)
    est = co.CCA(n_components=1)
    same = with_chosen_settings(est, est.fit(X, Y))
    # Five pairs for each column: no ridge; halves would get one.
    assert same.regularization.tolist() == est.regularization_.tolist() == [0]
    assert est.regularization == "auto"
    result = co.pic_intervals(co.CCA(n_components=1), X, Y, 10)
    fixed = co.pic_intervals(co.CCA(n_components=1, regularization=0.0), X, Y, 10)
    np.testing.assert_allclose(result.intervals, fixed.intervals)


@pytest.mark.slow
def test_intervals_of_equal_pics_cover_them():
    inside = np.zeros(5)
    for seed in range(50):
        X, Y = draw_linear_pairs(np.random.default_rng(seed), n=100, p=6, q=6, shared=5)
        result = co.pic_intervals(co.CCA(n_components=5), X, Y, 20, random_state=seed)
        inside += (result.intervals[:, 0] <= 0.5) & (result.intervals[:, 1] >= 0.5)
    assert (inside >= 43).all()  # without the interval of the mean about 39 of the largest and of the smallest


def test_fits_may_have_different_numbers_of_components(rng):
    X, Y = draw_linear_pairs(rng)
    assert co.pic_intervals(Varying(), X, Y, 10).pics.shape == (1,)
    with pytest.warns(co.FewerComponents, match="p-value"):
        pvalues = co.permutation_test(Varying(), X, Y, 19).pvalues
    assert (pvalues[0], pvalues[1]) == (0.05, 1)
    halves = [(np.arange(250), np.arange(250, 300)), (np.arange(150), np.arange(150, 300))]
    assert co.crossfit(Varying(), X, Y, cv=halves).F.shape == (300, 2)


def test_interval_errors_and_repr(rng):
    X, Y = draw_linear_pairs(rng)
    result = co.pic_intervals(co.CCA(n_components=2), X, Y, 10, groups=np.arange(300) // 2)
    assert "half-samples" in repr(result)
    assert (result.intervals[:, 0] <= result.pics).all()
    assert (result.pics <= result.intervals[:, 1]).all()
    with pytest.raises(ValueError, match="level must"):
        co.pic_intervals(co.CCA(), X, Y, level=2)
    with pytest.raises(ValueError, match="n_resamples"):
        co.pic_intervals(co.CCA(), X, Y, 2)


# --- what a hostile tester found


@pytest.mark.slow
@pytest.mark.parametrize("est", [co.KernelCCA(n_components=1), co.ACE(n_components=1), co.CCA(n_components=1)])
def test_copies_do_not_weaken_the_penalty(est, rng):
    """Five copies of each pair, one for each of the estimator's own folds, would choose no penalty at all."""
    X = rng.normal(size=(100, 30 if isinstance(est, co.CCA) else 4))
    Y = X[:, :1] * X[:, 1:2] + X[:, 2:3] + rng.normal(size=(100, 1))
    once = co.crossfit(est, X, Y).captured
    groups = np.repeat(np.arange(100), 5)
    copied = co.crossfit(est, np.repeat(X, 5, axis=0), np.repeat(Y, 5, axis=0), groups=groups).captured
    assert copied > once - 0.4


@pytest.mark.slow
def test_intervals_count_groups_not_copies():
    covered = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        common = rng.normal(size=(60, 1))
        X, Y = common + rng.normal(size=(60, 1)), common + rng.normal(size=(60, 1))
        groups = np.repeat(np.arange(60), 8)
        result = co.crossfit(co.CCA(n_components=1), np.repeat(X, 8, axis=0), np.repeat(Y, 8, axis=0), groups=groups)
        covered += result.intervals[0, 0] <= 0.5 <= result.intervals[0, 1]
        assert result.terms.shape == (60,)
        assert result.terms.mean() == pytest.approx(result.captured)
    assert 85 <= covered <= 99  # without groups 50


def test_small_folds(rng):
    X = rng.normal(size=(40, 1))
    Y = X + 0.5 * rng.normal(size=(40, 1))
    five, each = (co.crossfit(co.CCA(n_components=1), X, Y, cv=cv).correlations[0] for cv in (5, 40))
    assert each == pytest.approx(five, abs=0.05)
    assert each > 0.8


def test_rows_of_different_indexes_are_no_pairs(rng):
    frame = pd.DataFrame({"a": rng.normal(size=50), "b": rng.normal(size=50)})
    shuffled = frame["b"].sample(frac=1, random_state=0)
    for use in (
        lambda: co.CCA(n_components=1).fit(frame[["a"]], shuffled),
        lambda: co.crossfit(co.CCA(n_components=1), frame[["a"]], shuffled),
        lambda: co.decompose(frame[["a"]], shuffled),
    ):
        with pytest.raises(ValueError, match="different indexes"):
            use()


@pytest.mark.parametrize("groups", [[None] * 300, [float("nan")] * 300, [1, "a"] * 150, np.ones((300, 1)), 7])
@pytest.mark.parametrize("tool", [co.crossfit, co.permutation_test, co.pic_intervals])
def test_groups_are_read_in_one_way(tool, groups, rng):
    X, Y = draw_linear_pairs(rng)
    with pytest.raises((ValueError, TypeError), match="groups"):
        tool(co.CCA(n_components=1), X, Y, groups=groups)


def test_seeds_and_levels(rng):
    X, Y = draw_linear_pairs(rng)
    for tool in (co.crossfit, co.permutation_test, co.pic_intervals):
        with pytest.raises(ValueError, match="random_state must"):
            tool(co.CCA(), X, Y, random_state=-1)
    with pytest.raises(ValueError, match="level must"):
        co.pic_intervals(co.CCA(), X, Y, level="a")
    with pytest.raises(ValueError, match="sample_weight must"):
        co.CCA().fit(X, Y).evaluate(X, Y, sample_weight=np.ones((300, 300)))


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("tool", [co.crossfit, co.permutation_test, co.pic_intervals, co.latent_dimension])
def test_of_one_pair_nothing_can_be_held_out(tool, n):
    with pytest.raises(ValueError, match="X and Y must"):
        tool(co.CCA(n_components=1), np.zeros((n, 2)), np.zeros((n, 2)))


def test_whole_numbers_of_128_bits(rng):
    column = pl.Series([2**100 + int(i) * 2**80 for i in rng.integers(1000, size=50)], dtype=pl.Int128).to_frame("y")
    assert np.isfinite(co.crossfit(co.CCA(n_components=1), np.arange(50.0), column).captured)


def test_values_that_no_interval_can_be_computed_of():
    values = np.logspace(-300, 300, 24)
    with pytest.raises(ValueError, match="X and Y must"):
        co.crossfit(co.CCA(n_components=1), values, values, cv=2)


@pytest.mark.slow
def test_what_labels_capture_is_not_biased_by_the_folds():
    """Ten labels with much noise; with folds over which labels are spread evenly, the mean was 4.4 of 3.4."""
    rng = np.random.default_rng(0)
    fresh = draw_noisy_copies(rng, 20_000)
    found, exact = [], []
    for seed in range(12):
        x, y = draw_noisy_copies(rng, 200)
        found.append(co.crossfit(co.CA(n_components=9), x, y, random_state=seed).captured)
        exact.append(co.CA(n_components=9).fit(x[:160], y[:160]).evaluate(*fresh).captured)
    difference = np.array(found) - exact
    assert abs(difference.mean()) < 3 * difference.std(ddof=1) / np.sqrt(12)


def draw_noisy_copies(rng, n):
    x = rng.choice(list("abcdefghij"), n)
    return x, np.where(rng.random(n) < 0.7, x, rng.choice(list("abcdefghij"), n))


def test_one_fit_judges_very_many_pairs(monkeypatch):
    monkeypatch.setattr(permutation, "MIN_PAIRS_FOR_ONE_BLOCK", 400)
    X, Y = np.random.default_rng(0).normal(size=(2, 400, 1))
    for n, fits in ((399, 3), (400, 1)):
        blocks = permutation.fit_sequential_blocks(co.CCA(n_components=1), X[:n], Y[:n], None, 0, None, False)
        assert len(blocks) == fits
    ((fit, size),) = blocks
    assert (fit.d.n, size) == (240, 160)
    related = co.permutation_test(co.CCA(n_components=1), X, X + Y, refit=False)
    assert related.pvalues[0] < 0.01
    assert co.permutation_test(co.CCA(n_components=1), X, Y, refit=False).pvalues[0] > 0.01


def test_blocks_hold_as_many_groups_each():
    """One group is half of the pairs: wherever it falls, no block goes without pairs to judge."""
    rng = np.random.default_rng(1)
    X, Y = draw_linear_pairs(rng, n=200)
    groups = np.r_[np.zeros(100, dtype=int), np.arange(1, 101)]
    for seed in range(5):
        blocks = permutation.fit_sequential_blocks(co.CCA(n_components=1), X, Y, groups, seed, None, False)
        assert {size for _, size in blocks} <= {20, 21}
    assert co.permutation_test(co.CCA(n_components=1), X, Y, groups=groups).pvalues[0] < 0.05


@pytest.mark.parametrize("n", range(15, 20))
def test_fifteen_pairs_are_enough_for_a_test_on_held_out_ones(n):
    X, Y = draw_linear_pairs(np.random.default_rng(0), n=n)
    assert co.permutation_test(co.CCA(n_components=1), X, Y, 19, refit=False).pvalues.shape == (1,)
    with pytest.raises(ValueError, match=r"groups must .* 15 .* got 14"):
        co.permutation_test(co.CCA(n_components=1), X, Y, 19, groups=np.arange(n) % 14)


@pytest.mark.parametrize(("n_splits", "n_evaluated"), [(1, 2), (3, 12)])
def test_functions_are_evaluated_once_on_held_out_pairs_and_once_to_compare_fits(
    rng, monkeypatch, n_splits, n_evaluated
):
    rows = []
    evaluate = LinearFunctions.__call__
    monkeypatch.setattr(
        LinearFunctions, "__call__", lambda self, values: rows.append(len(values)) or evaluate(self, values)
    )
    X, Y = draw_linear_pairs(rng, n=300)
    co.crossfit(co.CCA(n_components=1), X, Y, cv=ShuffleSplit(n_splits, test_size=0.25, random_state=0))
    assert len(rows) == n_evaluated  # f and g of each fit; a single fit has none to be compared with
