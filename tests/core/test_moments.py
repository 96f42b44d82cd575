"""Moments."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

import correspondence as co
from correspondence import CA, Moments
from correspondence.core.moments import check_features, check_is_pairs, moments, read_numbers


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


@pytest.mark.slow
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


def test_the_same_features_on_both_sides_have_correlation_one(rng):
    F = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4))
    d = Moments().update(F, F).decompose()
    assert (d.pics <= 1).all()
    np.testing.assert_allclose(d.pics, 1)


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


FRAME = pl.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "y": [0.0, 1.0, 4.0, 9.0], "label": list("abab")})


def test_moments_are_those_in_memory():
    found = moments(co.Pairs(FRAME.lazy(), x=["x", "y"], y="y"), y_features=lambda y: np.asarray(y)[:, None] ** 2)
    own = co.Moments().update(FRAME.select("x", "y").to_numpy(), FRAME.select("y").to_numpy() ** 2)
    assert found.n == 4
    np.testing.assert_allclose(found.cov_fg, own.cov_fg)
    np.testing.assert_allclose(found.mean_f, own.mean_f)


def test_columns_without_numbers_need_features():
    with pytest.raises(ValueError, match="x_features"):
        moments(co.Pairs(FRAME.lazy(), x="label", y="y"))
    with pytest.raises(ValueError, match="'label' of X"):
        read_numbers("X", FRAME.select("x", "label"))
    with pytest.raises(TypeError, match="pairs must"):
        check_is_pairs(FRAME)
