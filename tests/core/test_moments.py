from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

from correspondence import CA, Moments
from correspondence.core.moments import check_features


def exact(F, G):
    """Covariances in exact arithmetic."""
    Z = [[Fraction(float(v)) for v in row] for row in np.hstack([F, G])]
    n, p = len(Z), len(Z[0])
    mean = [sum(row[j] for row in Z) / n for j in range(p)]
    cov = [[sum((r[i] - mean[i]) * (r[j] - mean[j]) for r in Z) / n for j in range(p)] for i in range(p)]
    return np.array(mean, float), np.array(cov, float)


def whole_covariance(m):
    return np.block([[m.cov_f, m.cov_fg], [m.cov_fg.T, m.cov_g]])


@pytest.mark.parametrize("shift", [0, 1e6, -1e9])
def test_large_means_lose_nothing(rng, shift):
    F = rng.normal(size=(300, 2)) + shift
    G = F[:, :1] - shift + rng.normal(size=(300, 1)) + 2 * shift
    mean, cov = exact(F, G)
    whole = Moments().update(F, G)
    batches = Moments()
    for i in range(0, 300, 7):
        batches.update(F[i : i + 7], G[i : i + 7])
    merged = sum((Moments().update(F[i : i + 50], G[i : i + 50]) for i in range(0, 300, 50)), Moments())
    for m in (whole, batches, merged):
        np.testing.assert_allclose(whole_covariance(m), cov, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(np.r_[m.mean_f, m.mean_g], mean, rtol=1e-14)


def test_shifted_data_gives_the_same_correlations(rng):
    F = rng.normal(size=(2000, 3))
    G = F @ rng.normal(size=(3, 2)) + rng.normal(size=(2000, 2))
    plain = Moments().update(F, G).decompose().correlations
    F_rounded, G_rounded = (F + 1e6) - 1e6, (G + 1e6) - 1e6  # what is left of the data itself after the shift
    np.testing.assert_allclose(
        Moments().update(F + 1e6, G + 1e6).decompose().correlations,
        Moments().update(F_rounded, G_rounded).decompose().correlations,
        rtol=1e-9,
    )
    np.testing.assert_allclose(Moments().update(F + 1e6, G + 1e6).decompose().correlations, plain, rtol=1e-8)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=8), st.integers(0, 100))
def test_any_partition_merges_to_the_same(sizes, seed):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    F, G, w = rng.normal(size=(n, 2)) * 100 + 1000, rng.normal(size=(n, 3)), rng.random(n)
    whole = Moments().update(F, G, w)
    parts = [Moments().update(F[i], G[i], w[i]) for i in np.split(np.arange(n), np.cumsum(sizes)[:-1])]
    rng.shuffle(parts)
    merged = sum(parts, Moments())
    assert merged.n == pytest.approx(whole.n)
    np.testing.assert_allclose(whole_covariance(merged), whole_covariance(whole), rtol=1e-10, atol=1e-10)


def test_weights_are_repetitions(rng):
    F, G, w = rng.normal(size=(30, 2)), rng.normal(size=(30, 2)), rng.integers(0, 5, 30)
    weighted = Moments().update(F, G, w)
    repeated = Moments().update(np.repeat(F, w, axis=0), np.repeat(G, w, axis=0))
    assert weighted.n == repeated.n
    np.testing.assert_allclose(whole_covariance(weighted), whole_covariance(repeated), atol=1e-14)


def test_merging_changes_neither_part(rng):
    a, b = (Moments().update(rng.normal(size=(5, 1)), rng.normal(size=(5, 1))) for _ in range(2))
    before = whole_covariance(a).copy()
    total = a + b
    total.update(np.ones((3, 1)), np.ones((3, 1)))
    np.testing.assert_array_equal(whole_covariance(a), before)
    assert (a.n, b.n, total.n) == (5, 5, 13)


@given(tables())
def test_one_hot_features_give_correspondence_analysis(counts):
    x, y = np.nonzero(counts)
    m = Moments().update(np.eye(counts.shape[0])[x], np.eye(counts.shape[1])[y], counts[x, y])
    d, ca = m.decompose(), CA().fit(counts)
    np.testing.assert_allclose(d.correlations, ca.correlations_, atol=1e-7)
    assert d.chi2 == pytest.approx(ca.decomposition_.chi2, abs=1e-10)


def test_decompose_is_algorithm_1(rng):
    F = rng.normal(size=(500, 4)) @ rng.normal(size=(4, 4))
    G = F[:, :3] + rng.normal(size=(500, 3))
    d = Moments().update(F, G).decompose()
    f, g = d.f(F), d.g(G)
    np.testing.assert_allclose(f.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(f.T @ f / 500, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(g.T @ g / 500, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(f.T @ g / 500, np.diag(d.correlations), atol=1e-10)
    assert Moments().update(F, G).decompose(2).pics == pytest.approx(d.pics[:2])


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_scale_of_a_feature_does_not_matter(rng, scale):
    F, G = rng.normal(size=(200, 3)), rng.normal(size=(200, 2))
    expected = Moments().update(F, G).decompose().correlations
    got = Moments().update(F * [1, scale, 1], G).decompose().correlations
    np.testing.assert_allclose(got, expected, rtol=1e-9)


def test_redundant_and_constant_features_are_dropped(rng):
    F, G = rng.normal(size=(200, 2)), rng.normal(size=(200, 2))
    expected = Moments().update(F, G).decompose()
    redundant = np.column_stack([F, F @ [1, 2], np.full(200, 1e6), np.zeros(200), F[:, 0]])
    got = Moments().update(redundant, G).decompose()
    np.testing.assert_allclose(got.correlations, expected.correlations, rtol=1e-9)
    assert np.isfinite(got.f(redundant)).all()
    np.testing.assert_allclose(np.var(got.f(redundant), axis=0), 1, rtol=1e-9)


def test_nothing_but_constants_has_no_components():
    d = Moments().update(np.ones((10, 2)), np.arange(10.0)[:, None]).decompose()
    assert d.n_components == 0
    assert d.chi2 == 0


def test_signs_do_not_depend_on_the_order_of_the_observations(rng):
    F = rng.normal(size=(300, 4))
    G = F @ rng.normal(size=(4, 3)) + rng.normal(size=(300, 3))
    d = Moments().update(F, G).decompose()
    order = rng.permutation(300)
    shuffled = Moments().update(F[order], G[order]).decompose()
    np.testing.assert_allclose(shuffled.f(F), d.f(F), atol=1e-9)
    loadings = d.g(G).T @ ((G - G.mean(0)) / G.std(0)) / 300
    assert (loadings[np.arange(3), np.abs(loadings).argmax(axis=1)] > 0).all()


def test_signs_go_by_correlation_not_by_scale(rng):
    z = rng.normal(size=(500, 2))
    G = np.column_stack([z[:, 0] * 1000, -z[:, 0] * 0.001 + 1e-4 * z[:, 1], z[:, 1]])
    d = Moments().update(z + 0.1 * rng.normal(size=(500, 2)), G).decompose()
    correlation = np.corrcoef(d.g(G).T, G.T)[:2, 2:]
    assert (correlation[[0, 1], np.abs(correlation).argmax(axis=1)] > 0).all()


def test_the_same_features_on_both_sides_have_correlation_one(rng):
    F = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4))
    d = Moments().update(F, F).decompose()
    assert (d.pics <= 1).all()
    np.testing.assert_allclose(d.pics, 1)


def test_a_constant_that_rounding_blurs_is_still_one(rng):
    m = Moments()
    for _ in range(300):
        w = rng.random(7)
        m.update(np.column_stack([np.full(7, 0.1), rng.normal(size=7)]), rng.normal(size=(7, 1)), w)
    assert m.decompose().f([[0.1, 0.0], [0.1 + 1e-9, 0.0]]).std() < 1e-6
    assert m.update([[1.0, 2.0]], [[3.0]], [0.0]).n == m.n


def test_conditional_expectation_is_weighted_regression(rng):
    X = rng.normal(size=(300, 1))
    Y = X**2 + X + rng.normal(size=(300, 1))
    w = np.where(X[:, 0] > 0, 1.0, 0.01)
    d = Moments().update(X, Y, w).decompose(y_sample=Y, y_weight=w)
    slope, intercept = np.polyfit(X[:, 0], Y[:, 0], 1, w=np.sqrt(w))
    np.testing.assert_allclose(d.conditional_expectation(Y[:, 0], [[0.0], [1.0]]), [intercept, intercept + slope])


@pytest.mark.parametrize(
    ("F", "G", "weight", "message"),
    [
        (np.ones(3), np.ones((3, 1)), None, "F must"),
        (np.ones((3, 1)), np.ones((2, 1)), None, "F and G must"),
        ([[1.0], [np.nan]], np.ones((2, 1)), None, "F contains NaN.* 0"),
        (np.ones((2, 1)), [[0, 1], [0, np.inf]], None, "G contains NaN.* 1"),
        (np.ones((2, 1)), np.ones((2, 1)), [1], "sample_weight must"),
        (np.ones((2, 1)), np.ones((2, 1)), [1, -1], "at least 0"),
    ],
)
def test_bad_batches(F, G, weight, message):
    with pytest.raises(ValueError, match=message):
        Moments().update(F, G, weight)


def test_other_bad_calls(rng):
    m = Moments()
    with pytest.raises(ValueError, match="must be observations"):
        m.decompose()
    m.update(np.ones((2, 1)), np.ones((2, 1)))
    with pytest.raises(ValueError, match="F and G must"):
        m.update(np.ones((2, 2)), np.ones((2, 1)))
    with pytest.raises(ValueError, match="same numbers"):
        m + Moments().update(np.ones((2, 2)), np.ones((2, 1)))
    with pytest.raises(TypeError):
        m + 1
    with pytest.raises(ValueError, match="n_components"):
        m.decompose(-1)
    assert repr(m) == "Moments of 1 and 1 features, n 2"
    assert m.update(np.empty((0, 1)), np.empty((0, 1))).n == 2


def test_values_with_the_wrong_number_of_features(rng):
    d = Moments().update(rng.normal(size=(9, 2)), rng.normal(size=(9, 1))).decompose()
    with pytest.raises(ValueError, match="must have 2 columns"):
        d.f(np.ones((3, 5)))
    with pytest.raises(ValueError, match="Y must"):
        d.conditional_expectation(np.ones(9), np.ones((3, 2)))


def test_raw_squares_and_single_precision_give_the_same_moments(rng):
    F, G = rng.dirichlet(np.ones(4), 500), rng.random((500, 2))
    weights = rng.integers(0, 4, 500)
    expected = Moments().update(F, G, weights)
    for dtype, centre, error in ((np.float64, False, 1e-13), (np.float32, True, 1e-6), (np.float32, False, 1e-6)):
        halves = [
            Moments(dtype, centre).update(F[part], G[part], weights[part]) for part in (slice(200), slice(200, 500))
        ]
        found = sum(halves)
        for name in ("n", "mean_f", "mean_g", "cov_f", "cov_g", "cov_fg"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=error, atol=error)
        assert found.cov_f.dtype == np.float64


@pytest.mark.parametrize("dtype", [int, "abc", "f4,(", {"a": 1}, [("a", "f4"), ("a", "f4")]])
def test_moments_are_of_floats(dtype):
    with pytest.raises(ValueError, match="dtype must"):
        Moments(dtype)


def test_files_are_not_copied_in_double_precision(tmp_path, rng):
    np.save(tmp_path / "F.npy", rng.normal(size=(50, 2)).astype(np.float32))
    F = np.load(tmp_path / "F.npy", mmap_mode="r")
    assert check_features(F, "F", np.dtype(np.float32)) is F
