import numpy as np
import pandas as pd
import polars as pl
import pytest

import correspondence as co
from correspondence.core import collinearity
from correspondence.core.collinearity import was_float32
from correspondence.core.splines import SplineBasis

EPS = np.finfo(float).eps


def orthonormal(Z):
    """Orthonormal basis of the centred columns, in extended precision."""
    Z = np.asarray(Z, dtype=np.longdouble)
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    Q = np.empty_like(Z)
    for j, z in enumerate(Z.T):
        for _ in range(3):  # again, because of rounding
            z = z - Q[:, :j] @ (Q[:, :j].T @ z)
        Q[:, j] = z / np.sqrt(z @ z)
    return Q


def exact_correlations(X, Y):
    return np.linalg.svd((orthonormal(X).T @ orthonormal(Y)).astype(float), compute_uv=False)


def correlations_by_qr(X, Y):
    Q, P = (np.linalg.qr((Z - Z.mean(axis=0)) / Z.std(axis=0))[0] for Z in (X, Y))
    return np.linalg.svd(Q.T @ P, compute_uv=False)


def rides(seed=0, n=2000, minutes=4.0):
    """Start and end of rides, in seconds of a year, and the fare, which goes by their difference."""
    rng = np.random.default_rng(seed)
    start, ride = 1.7e9 + rng.uniform(0, 365 * 86400, n), rng.gamma(4, 15 * minutes, n)
    return np.column_stack([start, start + ride]), 3 + 0.04 * ride / minutes + 0.3 * rng.normal(size=n)


def small_difference(rng, size, n=1000, p=5):
    """The last column is a combination of the others, but for something small that Y depends on."""
    Z, b = rng.normal(size=(n, p)), rng.normal(size=n)
    X = np.column_stack([Z, Z @ rng.normal(size=p) + size * b])
    return X, np.column_stack([b + 0.3 * rng.normal(size=n), Z[:, 1] + rng.normal(size=n)])


# --- as exact as QR


@pytest.mark.parametrize("p", [1, 5, 40])
@pytest.mark.parametrize("size", 10.0 ** -np.arange(3, 14))
def test_as_exact_as_qr_of_the_columns(rng, size, p):
    X, Y = small_difference(rng, size, p=max(p, 2))
    if p == 1:
        X = np.column_stack([X[:, 0], X[:, 0] + size * (Y[:, 0] - Y[:, 1])])
    exact = exact_correlations(X, Y)
    by_qr = np.abs(correlations_by_qr(X, Y) - exact).max()
    est = co.CCA(n_components=2).fit(X, Y)
    assert np.abs(est.correlations_ - exact).max() <= max(3 * by_qr, 2 * EPS / size)
    F = est.transform(X)
    np.testing.assert_allclose(F.T @ F / len(F), np.eye(2), atol=1e-12 + 20 * p * EPS / size)


def test_the_smallest_difference_that_has_digits_is_found(rng):
    start, ride = rng.normal(size=(2, 2000))
    X = np.column_stack([start, start + 1e-14 * ride])
    assert co.CCA(n_components=1).fit(X, ride).correlations_[0] > 0.99


@pytest.mark.parametrize("turned", [False, True])
def test_differences_of_several_sizes_on_both_sides(rng, turned):
    a, b, c, d = rng.normal(size=(4, 1500))
    X = np.column_stack([a, a + 1e-4 * b, a + 1e-9 * c, a + 1e-4 * b, 3 * a])
    Y = np.column_stack([d, d + 1e-6 * (b + rng.normal(size=1500)), d - 1e-11 * (c + 2 * rng.normal(size=1500))])
    found = co.CCA(n_components=3).fit(*((Y, X) if turned else (X, Y)))
    np.testing.assert_allclose(found.correlations_, exact_correlations(X[:, :3], Y), atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", [co.CCA, co.ACE])
@pytest.mark.parametrize("minutes", [4.0, 4e-4])
def test_the_length_of_a_ride_is_found_in_its_start_and_end(method, seed, minutes):
    X, fare = rides(seed, minutes=minutes)
    est = method(n_components=1).fit(X[:1500], fare[:1500])
    assert est.correlations_[0] > correlations_by_qr(X[:1500], fare[:1500, None])[0] - 1e-3
    assert est.evaluate(X[1500:], fare[1500:]).correlations[0] > 0.95
    turned = method(n_components=1).fit(fare, X)
    assert turned.correlations_[0] > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cca", "ace"])
def test_decompose_finds_it(method):
    X, fare = rides(n=600)
    d = co.decompose(X, fare, method=method, verbose=False)
    assert d.correlations[0] > 0.95


def test_a_ridge_does_not_drop_it(rng):
    X, fare = rides(n=120)
    X = np.column_stack([X, rng.normal(size=(120, 40))])
    est = co.CCA(n_components=1).fit(X, fare)
    assert est.regularization_ > 0
    assert est.correlations_[0] > 0.95
    others, fares = rides(seed=1)
    assert est.evaluate(np.column_stack([others, rng.normal(size=(2000, 40))]), fares).correlations[0] > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_small_directions_that_are_noise_stay_small_for_a_ridge(seed):
    """Neighbours in a spectrum are nearly collinear too, but what tells them apart is the noise of the instrument."""
    rng = np.random.default_rng(seed)
    peaks = np.exp(-((np.linspace(0, 1, 80) - np.linspace(0, 1, 6)[:, None]) ** 2) / 0.02)

    def spectra(n):
        causes = rng.normal(size=(n, 6))
        return causes @ peaks + 1e-5 * rng.normal(size=(n, 80)), causes[:, 2] + 0.5 * rng.normal(size=n)

    X, y = spectra(150)
    noise = np.random.default_rng(9).normal(size=X.shape)
    blurred = co.CCA(n_components=1).fit(X + 0.01 * noise, y)  # without small directions
    new = spectra(2000)
    est = co.CCA(n_components=1).fit(X, y)
    assert est.evaluate(*new).correlations[0] > blurred.evaluate(*new).correlations[0] - 0.02


@pytest.mark.slow
@pytest.mark.parametrize("method", [co.CCA, co.ACE])
def test_pairs_that_are_not_in_memory(method):
    X, fare = rides()
    frame = pl.LazyFrame({"start": X[:, 0], "end": X[:, 1], "fare": fare})
    streamed = method(n_components=1).fit(co.Pairs(frame, x=["start", "end"], y="fare"))
    np.testing.assert_allclose(streamed.correlations_, method(n_components=1).fit(X, fare).correlations_, rtol=1e-9)


@pytest.mark.parametrize("method", [co.CCA, co.ACE])
def test_saved_and_loaded_it_is_the_same(method, tmp_path):
    X, fare = rides(n=500)
    est = method(n_components=1).fit(X, fare)
    est.decomposition_.save(tmp_path / "model")
    np.testing.assert_array_equal(co.load(tmp_path / "model").f(X), est.transform(X))


# --- exact dependences: dropped without a word, and a warning is an error here


def dependent(rng, name, n=800, p=6, shift=0.0):
    Z, positive = rng.normal(size=(n, p)) + shift, rng.gamma(2, size=(n, p)) + shift
    if name == "axes":
        axes = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)[2]
        return np.column_stack([Z, (Z - Z.mean(axis=0)) @ axes.T]), p
    if "single" in name:
        single = Z.astype(np.float32)
        X = np.column_stack([single, single.sum(axis=1), single[:, 0] * np.float32(0.3)])
        return X.astype(np.float64) if name == "once single" else X, p
    return {
        "repeated": (np.column_stack([Z, Z[:, 0]]), p),
        "far from 0": (np.column_stack([Z, 1e6 - Z[:, 0]]), p),
        "sum": (np.column_stack([Z, Z.sum(axis=1)]), p),
        "combinations": (np.column_stack([Z, Z @ rng.normal(size=(p, 3)) + 7]), p),
        "other units": (np.column_stack([Z, 1.8 * Z + 32, Z / 3.6]), p),
        "standardised": (np.column_stack([Z, (Z - Z.mean(axis=0)) / Z.std(axis=0)]), p),
        "shares": (100 * positive / positive.sum(axis=1, keepdims=True), p - 1),
        "cumulative": (np.column_stack([Z, Z.cumsum(axis=1)]), p),
        "indicators": (np.eye(p)[rng.integers(p, size=n)], p - 1),
    }[name]


DEPENDENT = ["repeated", "far from 0", "sum", "combinations", "other units", "standardised", "shares", "cumulative"]
DEPENDENT += ["indicators", "axes", "single precision", "once single"]


@pytest.mark.parametrize("name", DEPENDENT)
@pytest.mark.parametrize("p", [3, 30])
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_exact_dependences_are_dropped_without_a_word(rng, name, p, shift):
    X, rank = dependent(rng, name, p=p, shift=shift)
    other = rng.normal(size=(len(X), X.shape[1]))
    d = co.CCA(n_components=1, regularization=0).fit(X, other).decomposition_
    moments = co.CCA(n_components=rank, regularization=0).fit(X, np.column_stack([X, other[:, :1]]))
    np.testing.assert_allclose(moments.correlations_, 1, atol=1e-6)  # as many as there are, and no warning of fewer
    assert d.chi2 < rank
    assert np.abs(d.f.weights).max() < 1e4


@pytest.mark.parametrize("name", [name for name in DEPENDENT if name != "once single"])
def test_moments_drop_exact_dependences_without_a_word(rng, name):
    X, rank = dependent(rng, name)
    d = co.Moments().update(X, X).decompose()
    assert d.n_components == rank


def test_labels_are_not_read_again(rng, monkeypatch):
    """That their indicators add up to 1 is known beforehand."""
    monkeypatch.setattr(collinearity, "turn_columns", None)
    frame = pd.DataFrame(
        {"a": rng.normal(size=300), "b": rng.choice(list("uvw"), 300), "c": rng.choice(list("pq"), 300)}
    )
    assert len(co.CCA(n_components=2).fit(frame, rng.choice(list("xyz"), 300)).correlations_) == 2


def test_a_column_that_varies_in_its_last_digit_is_not_rounding(rng):
    x = rng.integers(2, size=500)
    est = co.CCA(n_components=1).fit(np.column_stack([1e14 + x, rng.normal(size=500)]), x + 0.1 * rng.normal(size=500))
    assert est.correlations_[0] > 0.9


# --- what is lost is named


def lost(rng):
    start, other, ride = rng.normal(size=(3, 1000))
    return np.column_stack([start, other, start + 1.5e-15 * ride]), ride


def test_missing_numbers_say_nothing_about_the_precision(rng):
    values = rng.normal(size=9).astype(np.float32).astype(float)
    values[3] = np.nan
    assert was_float32(values)
    assert not was_float32(np.array([np.nan, 1e200]))  # no warning either


def test_columns_of_an_array_are_named_by_their_positions(rng):
    with pytest.warns(co.NearlyCollinear, match=r"column\(s\) 0, 2 of X") as caught:
        co.CCA(n_components=1).fit(*lost(rng))
    assert caught[0].filename == __file__


def test_columns_of_a_frame_are_named(rng):
    X, y = lost(rng)
    with pytest.warns(co.NearlyCollinear, match=r"'start', 'end' of Y"):
        co.CCA(n_components=1).fit(y, pd.DataFrame(X, columns=["start", "other", "end"]))
    with pytest.warns(co.NearlyCollinear, match="'end'"):
        co.ACE(n_components=1).fit(pd.DataFrame(X, columns=["start", "other", "end"]), y)


@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_moments_warn_of_what_they_drop(rng, shift):
    start, other, ride = rng.normal(size=(3, 1000)) + shift
    d = co.Moments().update(np.column_stack([start, start + 1e-5 * ride]), ride[:, None]).decompose()
    assert d.correlations[0] > 0.99
    X = np.column_stack([other, start, start + 2e-7 * ride])
    with pytest.warns(co.NearlyCollinear, match=r"column\(s\) 1, 2 of F"):
        co.Moments().update(X, ride[:, None]).decompose()
    with pytest.warns(co.NearlyCollinear, match=r"column\(s\) 1, 2 of G"):
        co.Moments().update(ride[:, None], X).decompose(tol=1e-6)


# --- features of additive functions


def test_combinations_become_parts_of_the_splines(rng):
    Z = rng.normal(size=(300, 3))
    plain = SplineBasis.for_columns(Z, np.array([True, True, False]))
    D = rng.normal(size=(3, 2))
    basis = plain.with_combinations(D)
    features = basis(Z)
    assert features.shape == (300, basis.width)
    assert basis.third_derivatives.shape[1] == basis.width
    np.testing.assert_array_equal(basis.third_derivatives[:, -2:], 0)
    weights, mean = rng.normal(size=(basis.width, 2)), features.mean(axis=0)
    new = 3 * rng.normal(size=(50, 3))
    np.testing.assert_allclose(basis.make_functions(mean, weights)(new), (basis(new) - mean) @ weights, atol=1e-9)
