"""The number of components that two views share."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import correspondence as co
from correspondence.validation.latent_dimension import summarise_test


def draw_classes(rng, n, m, columns=8, separation=2.0):
    w = rng.integers(m, size=n)
    return tuple(separation * rng.normal(size=(m, columns))[w] + rng.normal(size=(n, columns)) for _ in range(2))


def draw_noisy_labels(rng, n, m, labels=20, errors=0.3):
    w = rng.integers(m, size=n)
    names = np.array([f"label {i}" for i in range(labels)], dtype=object)
    return tuple(names[np.where(rng.random(n) < errors, rng.integers(labels, size=n), w)] for _ in range(2))


def draw_linear_pairs(rng, n, k, columns=8):
    z = rng.normal(size=(n, k))
    return tuple(
        z @ np.linalg.qr(rng.normal(size=(columns, columns)))[0][:k] + rng.normal(size=(n, columns)) for _ in "xy"
    )


def count_quickly(est, X, Y, *arguments, **options):
    """Count with as many permutations as a level of 5 % needs: there are enough runs to tell it from others."""
    return co.latent_dimension(est, X, Y, *arguments, n_permutations=199, **options)


def count_components(est, draw, runs):
    numbers = []
    for seed in range(runs):
        numbers.append(count_quickly(est, *draw(np.random.default_rng(seed)), random_state=seed).n_components)
    return numbers


# --- level


@pytest.mark.slow
def test_level_of_unrelated_views():
    """A component is found with the probability alpha where there is none."""
    found = [
        count_quickly(co.CCA(2), *np.random.default_rng(seed).normal(size=(2, 60, 2)), 0.2, random_state=seed)
        for seed in range(100)
    ]
    rejected = sum(result.n_components > 0 for result in found)
    low, high = binom.ppf([0.001, 0.999], 100, 0.2)
    assert low <= rejected <= high


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["heavy tails", "labels", "counts"])
def test_nothing_in_unrelated_views(kind):
    def draw(rng):
        if kind == "labels":
            return rng.integers(9, size=(2, 400)).astype(str).astype(object)
        return rng.standard_t(2, size=(2, 400, 4)) if kind == "heavy tails" else rng.poisson(0.5, size=(2, 400, 4))

    found = count_components(co.CA(8) if kind == "labels" else co.CCA(4), draw, 40)
    assert 40 - found.count(0) <= binom.ppf(0.999, 40, 0.05)


@pytest.mark.slow
def test_remains_of_strong_components_do_not_count():
    """With rare labels a fit finds functions only roughly: the rest of them must not pass for further components."""
    assert sum(k > 7 for k in count_components(co.CA(15), lambda rng: draw_noisy_labels(rng, 500, 8), 15)) <= 2


@pytest.mark.slow
def test_both_tests_count_the_same():
    """Labels, on all pairs; and on held-out ones, by an estimator without views."""
    for seed in range(3):
        x, y = draw_noisy_labels(np.random.default_rng(seed), 500, 4)
        dimension = co.latent_dimension(co.CA(6), x, y, random_state=seed)
        test = co.permutation_test(co.CA(6), x, y, random_state=seed)
        assert dimension.n_components == (test.pvalues <= 0.05).sum()
        held = co.latent_dimension(co.CA(6), x, y, groups=np.arange(500), random_state=seed)
        assert (dimension.test.kind, held.test.kind) == ("all pairs", "held-out pairs")


# --- right answers


@pytest.mark.slow
@pytest.mark.parametrize("m", [2, 5, 9])
def test_classes_share_one_component_less(m):
    assert count_components(co.CCA(11), lambda rng: draw_classes(rng, 1500, m, columns=12), 12).count(m - 1) >= 11


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 3, 6])
def test_dimension_of_a_linear_latent(k):
    assert count_components(co.CCA(8), lambda rng: draw_linear_pairs(rng, 1000, k), 12).count(k) >= 11


@pytest.mark.slow
def test_nonlinear_views():
    def draw(rng):
        w = rng.integers(6, size=600)
        x = np.column_stack([np.cos(w), np.sin(w)]) * 6 + rng.normal(size=(600, 2))
        return x, 3.0 * rng.permutation(6)[w] + rng.normal(size=600)

    assert count_components(co.ACE(9), draw, 5).count(5) >= 4
    assert count_components(co.KernelCCA(9), draw, 1) == [5]


def test_a_component_whose_interval_is_a_point_does_not_count(rng):
    test = co.permutation_test(co.CCA(n_components=2), rng.normal(size=(50, 2)), rng.normal(size=(50, 2)), 19)
    test = replace(test, pvalues=np.array([0.001, 0.002]))
    intervals, zeros = np.array([[0.3, 0.5], [1.0, 1.0]]), np.zeros(2)
    found = summarise_test(test, np.array([0.4, 1.0]), intervals, zeros, zeros, co.CCA(2), 0.05, 0.1)
    assert found.n_components == 1
    assert found.pvalues.tolist() == [0.001, 1.0]
    assert "not judged" in repr(found)
    assert summarise_test(test, zeros, intervals[::-1], zeros, zeros, co.CCA(2), 0.05, 0.1).n_components == 0


def test_a_line_through_two_spots_is_not_judged(rng):
    """Three of 300 pairs have a label of their own, which a held-out block has once."""
    x = np.repeat(["a", "b"], [297, 3])
    found = co.latent_dimension(co.CA(n_components=1), x, np.char.upper(x))
    assert found.n_components == 1  # the test takes all pairs
    assert found.intervals.tolist() == [[-1, 1]]


def test_pairs_on_a_line_but_for_rounding_have_an_interval(rng):
    x = rng.normal(size=600).round(5)
    low, high = co.latent_dimension(co.CCA(n_components=1), x, (2 * x + 1e-7 * rng.normal(size=600))).intervals[0]
    assert low < 0.995 < 0.9999 < high


def test_groups_are_judged_once(rng):
    """Copies of unrelated pairs are one pair each: neither learned by heart nor counted several times."""
    X, Y = rng.normal(size=(2, 100, 4))
    copies, groups = (np.repeat(values, 6, axis=0) for values in (np.stack([X, Y], axis=1), np.arange(100)))
    result = co.latent_dimension(co.CCA(4), copies[:, 0], copies[:, 1], groups=groups)
    assert result.n_components == 0
    assert np.diff(result.intervals[0])[0] > 0.3  # of 60 judged pairs, not of 360
    related = co.latent_dimension(co.CCA(4), copies[:, 0], copies[:, 0] + 0.5 * copies[:, 1], groups=groups)
    assert related.n_components == 4


# --- the result


@pytest.mark.slow
def test_attributes(rng):
    X, Y = draw_classes(rng, 1000, 4)
    result = co.latent_dimension(co.CCA(6), X, Y)
    assert (result.n_components, result.n_classes, result.at_least) == (3, 4, False)
    assert result.write_summary() == "3 components (what a shared variable with 4 classes would give)"
    assert (result.pvalues[:3] <= 0.05).all()
    assert (result.pvalues[3:] > 0.05).all()
    tested = result.pvalues[:4]  # up to the first that fails
    np.testing.assert_allclose(tested, result.test.pvalues[:4])
    assert (result.pvalues[4:] == 1).all()
    assert (np.diff(result.pvalues) >= 0).all()
    assert result.test.null.shape == (999, 6)
    assert ((result.intervals[:, 0] < result.correlations) & (result.correlations < result.intervals[:, 1])).all()
    beaten = result.correlations > result.band
    assert beaten[:3].all()
    assert not beaten[3]
    assert (result.training > result.correlations)[3:].all()
    with pytest.raises(ValueError, match="read-only"):
        result.pvalues[0] = 0
    again = co.latent_dimension(co.CCA(6), X, Y)
    np.testing.assert_array_equal(again.pvalues, result.pvalues)


@pytest.mark.slow
def test_first_correlation_is_the_held_out_one(rng):
    """Nothing is taken off the first component; of the others, in large samples nearly nothing."""
    X, Y = draw_classes(rng, 4000, 4, separation=1)
    result, plain = co.latent_dimension(co.CCA(4), X, Y), co.permutation_test(co.CCA(4), X, Y, refit=False)
    assert result.correlations[0] == pytest.approx(plain.correlations[0], abs=1e-9)
    np.testing.assert_allclose(result.correlations[:3], plain.correlations[:3], atol=0.02)


@pytest.mark.slow
def test_repr(rng):
    text = repr(co.latent_dimension(co.CCA(6), *draw_classes(rng, 1000, 4)))
    first, second, header, *rows = text.splitlines()
    assert first == "LatentDimension: 3 components (what a shared variable with 4 classes would give)"
    assert re.fullmatch(r"  interval 3 to \d( or more)?, alpha 0.05, 999 permutations of all pairs", second)
    assert header.split() == ["component", "training", "held", "out", "p-value"]
    assert len(rows) == 6
    nothing = co.latent_dimension(co.CCA(2), *rng.normal(size=(2, 300, 2)))
    assert nothing.write_summary() == "0 components: none is more than chance"
    one = co.latent_dimension(co.CCA(3), *draw_classes(np.random.default_rng(1), 300, 2))
    assert one.write_summary() == "1 component (what a shared variable with 2 classes would give)"


def test_at_least(rng):
    result = co.latent_dimension(co.CCA(2), *draw_classes(rng, 1000, 4))
    assert result.at_least
    assert result.write_summary() == "at least 2 components, as many as were tested"
    assert result.interval == (2, 2)
    assert "interval 2 to 2 or more" in repr(result)


@pytest.mark.slow
def test_interval_reaches_further_the_less_is_known():
    widths = {n: [] for n in (200, 5000)}
    for n, found in widths.items():
        for seed in range(5):
            result = count_quickly(co.CCA(8), *draw_classes(np.random.default_rng(seed), n, 4))
            low, high = result.interval
            assert low <= result.n_components <= high
            found.append(high - low)
    assert np.mean(widths[200]) > 2
    assert max(widths[5000]) <= 1


@pytest.mark.slow
def test_interval_has_the_number_in_it_where_the_count_is_too_low():
    """Overlapping classes: the count misses some, the interval hardly ever."""
    results = [
        count_quickly(co.CCA(8), *draw_classes(np.random.default_rng(seed), 400, 6, separation=0.8), random_state=seed)
        for seed in range(30)
    ]
    assert np.mean([result.n_components == 5 for result in results]) < 0.5
    assert sum(low <= 5 <= high for low, high in (result.interval for result in results)) >= 28


@pytest.mark.slow
def test_negligible_decides_the_upper_end_only(rng):
    X, Y = draw_classes(rng, 400, 4)
    strict, loose = (co.latent_dimension(co.CCA(8), X, Y, negligible=value) for value in (0.01, 0.9))
    assert strict.n_components == loose.n_components == loose.interval[1]
    assert strict.interval[1] > loose.interval[1]


@pytest.mark.slow
def test_permutations_are_raised_where_they_are_too_few(rng):
    X, Y = draw_classes(rng, 300, 2)
    assert co.latent_dimension(co.CCA(2), X, Y, n_permutations=19).test.n_permutations == 79
    result = co.latent_dimension(co.CCA(2), X, Y, alpha=0.0005, n_permutations=19)
    assert result.test.n_permutations == 7999
    assert result.n_components >= 1
    assert co.latent_dimension(co.CCA(2), X, Y, n_permutations=1234).test.null.shape == (1234, 2)


def test_few_pairs(rng):
    x = rng.normal(size=(24, 1))
    assert co.latent_dimension(co.CCA(1), x, x + 0.1 * rng.normal(size=(24, 1))).at_least


def test_errors(rng):
    X, Y = rng.normal(size=(2, 100, 2))
    with pytest.raises(ValueError, match="alpha must"):
        co.latent_dimension(co.CCA(), X, Y, alpha=5)
    with pytest.raises(ValueError, match="negligible must"):
        co.latent_dimension(co.CCA(), X, Y, negligible=0)
    with pytest.raises(ValueError, match="n_permutations must"):
        co.latent_dimension(co.CCA(), X, Y, n_permutations=3)
    with pytest.raises(TypeError, match="est must"):
        co.latent_dimension(co.CCA, X, Y)
    with pytest.raises(ValueError, match=r"X must .* 15"):
        co.latent_dimension(co.CCA(), X[:8], Y[:8])


def test_a_copy_of_an_earlier_component_is_nothing_new():
    """Rare labels: on held-out pairs the second function is hardly more than a multiple of the first."""
    rng = np.random.default_rng(8)
    kind, rare = rng.integers(2, size=250), np.array([f"z{i}" for i in range(200)], dtype=object)
    both = np.array(["a", "b"], dtype=object)[kind]
    x, y = (np.where(rng.random(250) < 0.2, rare[rng.integers(200, size=250)], both) for _ in range(2))
    result = co.latent_dimension(co.CA(10), x, y, random_state=8)
    assert (result.correlations[: result.n_components] > 0.01).all()


def test_interval_counts_those_that_are_not_ruled_out():
    # The second is found at 0.05, but not at its half.
    pvalues, r = np.array([0.002, 0.04, 0.5, 0.6]), np.array([0.9, 0.3, 0.0, 0.2])
    test = co.PermutationTest(pvalues, r, r, np.zeros((99, 4)), 99, "held-out pairs")
    intervals = np.column_stack([r - 0.05, r + 0.05])
    for negligible, interval in ((0.1, (1, 3)), (0.04, (1, 4))):
        result = summarise_test(test, r, intervals, np.ones(4), np.ones(4), co.CCA(4), 0.05, negligible)
        assert result.interval == interval
        assert result.pvalues.tolist() == [0.002, 0.04, 0.5, 1]


def test_intervals_have_the_level_of_alpha(rng):
    X, Y = draw_classes(rng, 500, 2)
    wide, narrow = (co.latent_dimension(co.CCA(2), X, Y, alpha=alpha).intervals[0] for alpha in (0.05, 0.3173))
    assert np.ptp(wide) / np.ptp(narrow) == pytest.approx(1.96, abs=0.05)


def test_no_more_than_there_can_be(rng):
    X, Y = draw_classes(rng, 1000, 6)
    result = co.latent_dimension(co.CCA(9), X[:, :2], Y)  # two columns have two components
    assert (result.n_components, result.at_least) == (2, False)
    assert "or more" not in repr(result)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 1e-9}, "alpha must"),
        ({"n_permutations": 10**8}, "n_permutations must"),
    ],
)
def test_nothing_takes_for_ever(rng, options, message):
    with pytest.raises(ValueError, match=message):
        co.latent_dimension(co.CCA(2), *rng.normal(size=(2, 50, 2)), **options)


def test_the_first_components_of_a_result(rng):
    X = rng.normal(size=(300, 3))
    Y = np.column_stack([X[:, :2] + 0.5 * rng.normal(size=(300, 2)), rng.normal(size=300)])
    result = co.latent_dimension(co.CCA(n_components=3), X, Y)
    assert result.n_components == 2
    first = result.take_first(1)
    assert (first.n_components, first.interval[0], len(first.pvalues), len(first.test.pvalues)) == (1, 1, 1, 1)
    assert first.at_least  # there is a second
    np.testing.assert_array_equal(first.intervals, result.intervals[:1])
    both = result.take_first(2)
    assert (both.n_components, both.at_least) == (2, False)
    assert result.take_first(3) is result
    limited = result.limit(1)
    assert (limited.interval, limited.at_least) == ((1, 1), False)
    assert result.limit(0) is result
    for wrong in (0, -1, 1.5, "a"):
        with pytest.raises((ValueError, TypeError), match="n_components"):
            result.take_first(wrong)


@pytest.mark.slow
def test_a_rare_label_that_is_missing_in_a_part_leaves_the_test_on_all_pairs(rng):
    """A fit to such a part has a constant; the answer is that of the test on all pairs, with a warning."""
    x = np.array(["no"] * 98 + ["yes"] * 2)
    y = rng.normal(size=100) + 9.0 * (x == "yes")
    with pytest.warns(co.NotHeldOut, match="not judged"):
        results = [co.latent_dimension(co.ACE(1), x, y, random_state=seed, progress=False) for seed in range(4)]
    unjudged = [result for result in results if result.intervals[0].tolist() == [-1, 1]]
    assert unjudged
    assert all(result.n_components == 1 for result in results)
    assert all(result.interval == (1, 1) for result in unjudged)
