"""Folds, tests and the number of axes of many columns."""

import numpy as np
import pandas as pd
import pytest

import correspondence as co


def draw_survey(n, widths=(2, 3, 4, 3, 2, 5), classes=3, truth=0.7, seed=0):
    rng = np.random.default_rng(seed)
    hidden = rng.integers(classes, size=n)
    columns = {}
    for j, width in enumerate(widths):
        own = rng.integers(width, size=classes)
        said = np.where(rng.random(n) < truth, own[hidden], rng.integers(width, size=n))
        columns[f"q{j}"] = said.astype(str)
    return pd.DataFrame(columns)


def test_folds_are_pooled_by_their_rows():
    frame = draw_survey(203)
    order = np.random.default_rng(0).permutation(203)
    tests = np.array_split(order, 4)
    cv = [(np.setdiff1d(order, test), test) for test in tests]
    pooled = co.crossfit(co.MCA(2), frame, cv=cv)
    totals, errors = np.zeros(6), np.zeros((6, 2))
    for train, test in cv:
        held = co.MCA(2).fit(frame.iloc[train]).evaluate(frame.iloc[test])
        for j, name in enumerate(frame.columns):
            known = frame[name].iloc[train].value_counts(normalize=True)
            total = (1 / known[frame[name].iloc[test]].to_numpy() - 1).sum()  # chi-square distances from the mean
            totals[j] += total
            errors[j] += total * (1 - held.r2[j])
    np.testing.assert_allclose(pooled.r2, 1 - errors / totals[:, None], rtol=1e-9)
    assert pooled.n == 203
    assert pooled.n_splits == 4


def test_splits_that_overlap():
    frame = draw_survey(100)
    cv = [(np.arange(60), np.arange(60, 100)), (np.arange(40, 100), np.arange(20))]
    both = co.crossfit(co.MCA(1), frame, cv=cv)
    first = co.crossfit(co.MCA(1), frame, cv=cv[:1])
    np.testing.assert_allclose(first.r2, co.MCA(1).fit(frame[:60]).evaluate(frame[60:]).r2, rtol=1e-9)
    assert both.n == 60
    assert both.n_splits == 2


@pytest.mark.parametrize("correction", ["indicator", "burt", "adjusted", "joint"])
def test_answers_that_a_fold_has_alone(correction):
    frame = draw_survey(120)
    frame.loc[[3, 4], "q1"] = "rare"
    cv = [(np.arange(10, 120), np.arange(10))]
    held = co.crossfit(co.MCA(2, correction=correction), frame, cv=cv)
    # An unknown answer counts as an average one, as handle_unknown="missing" has it.
    expected = co.MCA(2, correction=correction, handle_unknown="missing").fit(frame[10:]).evaluate(frame[:10])
    np.testing.assert_allclose(held.r2, expected.r2, rtol=1e-9)
    assert np.isfinite(held.r2).all()


def test_held_out_rows_show_how_many_axes_help():
    frame = draw_survey(2000, widths=(4,) * 8, truth=0.6)
    held = co.crossfit(co.MCA(), frame)
    assert held.n_axes <= 6  # of 24; two are true
    assert held.mean[1] > held.mean[0] + 0.05
    assert held.mean[1] > held.mean[-1]
    noise = co.crossfit(co.MCA(3), draw_survey(500, truth=0))
    assert noise.n_axes == 0
    assert "none of 3" in repr(noise)


def test_dropped_rows_keep_their_folds():
    frame = draw_survey(200)
    frame.iloc[::10, 0] = None
    kept = np.flatnonzero(frame["q0"].notna())
    cv = [(np.arange(0, 150), np.arange(150, 200))]
    with pytest.warns(co.LeftOut, match="20 of 200"):
        held = co.crossfit(co.MCA(2, missing="drop"), frame, cv=cv)
    first = co.MCA(2).fit(frame.iloc[kept[kept < 150]])
    np.testing.assert_allclose(held.r2, first.evaluate(frame.iloc[kept[kept >= 150]]).r2, rtol=1e-9)
    assert held.n == 45


@pytest.mark.slow
def test_copies_of_rows_stay_together():
    rng = np.random.default_rng(0)
    noise = rng.integers(6, size=(150, 12)).astype(str)
    doubled = np.vstack([noise, noise])
    with pytest.warns(co.CorrespondenceWarning, match="300 of 300 rows are copies"):
        together = co.crossfit(co.MCA(5), doubled)
    split = co.crossfit(co.MCA(5), doubled, groups=None)
    assert together.mean.max() < 0.001 < split.mean.max()
    with pytest.warns(co.CorrespondenceWarning, match="copies"):
        assert co.latent_dimension(co.MCA(3), doubled, n_permutations=99).n_components == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(3))
def test_surveys_have_no_copies(seed):
    co.crossfit(co.MCA(2), draw_survey(400, seed=seed, widths=(2, 3, 4) * 4))


def test_groups_are_kept_together():
    frame, groups = draw_survey(100), np.repeat(np.arange(20), 5)
    one = co.crossfit(co.MCA(1), frame, groups=groups)
    assert one.n == 100
    with pytest.raises(ValueError, match="groups"):
        co.crossfit(co.MCA(1), frame, groups=groups[:50])
    with pytest.raises(ValueError, match="groups"):
        co.permutation_test(co.MCA(1), frame, groups=groups)


@pytest.mark.slow
def test_true_axes_are_found():
    for classes in (1, 2, 3):
        frame = draw_survey(1000, widths=(3, 4, 3, 5, 3, 4), classes=classes, truth=0.6, seed=4)
        found = co.latent_dimension(co.MCA(5), frame, n_permutations=199)
        assert found.n_components == classes - 1
        assert (found.pvalues[classes:] == 1).all()
        assert not found.at_least
        assert found.write_summary() in repr(found)
    assert co.latent_dimension(co.MCA(1), frame, n_permutations=99).write_summary().startswith("at least 1 axis")


def test_the_first_axis_is_tested_by_its_inertia():
    frame = draw_survey(200)
    test = co.permutation_test(co.MCA(2), frame, n_permutations=99)
    mca = co.MCA(2).fit(frame)
    np.testing.assert_allclose(test.statistics[:2], mca.inertias_, rtol=1e-9)
    np.testing.assert_allclose(test.correlations, mca.correlations_, rtol=1e-9)
    assert test.pvalues[0] == 0.01
    assert test.kind == "all rows"
    assert test.null.shape == (99, 2)
    assert test.null[:, 0].mean() > 1 / 6  # six independent columns have 1 / 6 and noise


@pytest.mark.slow
def test_two_columns_are_tested_by_their_largest_correlation():
    frame = draw_survey(150, widths=(4, 3), truth=0.3)
    test = co.permutation_test(co.MCA(1), frame, n_permutations=199)
    ca = co.CA().fit(frame["q0"], frame["q1"])
    assert test.statistics[0] == pytest.approx((1 + ca.correlations_[0]) / 2)
    rng, x, y = np.random.default_rng(5), frame["q0"].to_numpy(), frame["q1"].to_numpy()
    largest = [co.CA(1).fit(x, rng.permutation(y)).correlations_[0] for _ in range(199)]
    chance = np.mean(np.array(largest) >= ca.correlations_[0])
    assert abs(test.pvalues[0] - chance) < 0.12
    assert np.median(test.null[:, 0]) == pytest.approx((1 + np.median(largest)) / 2, rel=0.02)


@pytest.mark.slow
def test_gaps_stay_where_they_are():
    # Half of the people skip all questions but the first, the others answer at random: nothing to be found.
    rejected = 0
    for seed in range(40):
        frame = draw_survey(120, truth=0, seed=seed)
        frame.iloc[np.random.default_rng(seed).random(120) < 0.5, 1:] = None
        for missing in ("average", "passive"):
            test = co.permutation_test(co.MCA(1, missing=missing), frame, n_permutations=39, groups=None)
            rejected += test.pvalues[0] <= 0.05
    assert rejected <= 11  # 4 of 80 are expected; 12 have a probability of 0.001


def test_many_rows_are_sampled(monkeypatch):
    from correspondence.validation import many_columns

    monkeypatch.setattr(many_columns, "MAX_ROWS_FOR_TEST", 300)
    frame = draw_survey(2000)
    test = co.permutation_test(co.MCA(1), frame, n_permutations=49)
    assert test.pvalues[0] == 0.02
    assert test.statistics[0] != pytest.approx(co.MCA(1).fit(frame).inertias_[0], rel=1e-9)
    assert test.correlations[0] == pytest.approx(co.MCA(1).fit(frame).correlations_[0])


def test_bad_input_is_refused():
    frame = draw_survey(60)
    for call in (co.crossfit, co.permutation_test, co.latent_dimension):
        with pytest.raises(ValueError, match="Y must be None"):
            call(co.MCA(1), frame, frame["q0"])
        with pytest.raises(ValueError, match="random_state"):
            call(co.MCA(1), frame, random_state=-1)
        with pytest.raises(ValueError, match="at least four rows"):
            call(co.MCA(1), frame[:3])
        with pytest.raises(ValueError, match="n_components"):
            call(co.MCA(0), frame)
        with pytest.raises((TypeError, ValueError), match="est"):
            call(co.MCA, frame)
        with pytest.raises(ValueError, match="in memory"):
            call(co.MCA(1), "survey.csv")
    with pytest.raises(ValueError, match="refit"):
        co.permutation_test(co.MCA(1), frame, refit=True)
    with pytest.raises(ValueError, match="cv"):
        co.crossfit(co.MCA(1), frame, cv=1)
    with pytest.raises(ValueError, match="exclude"):
        co.crossfit(co.MCA(1, exclude=["q9:x"]), frame)
