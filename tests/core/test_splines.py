"""Additive functions in closed form."""

import numpy as np
import pytest

from correspondence import CA
from correspondence.core.splines import AdditiveFunctions, SplineBasis, fit_additive

NUMBER, LABELS = np.array([True]), np.zeros(5, dtype=bool)


def bases(*sides):
    return [SplineBasis.for_columns(Z, np.ones(Z.shape[1], dtype=bool)) for Z in sides]


def test_batches_do_not_matter(rng):
    x = rng.normal(size=(1000, 2))
    y = x[:, :1] ** 2 + rng.normal(size=(1000, 1))
    both = bases(x, y)
    whole = fit_additive([(x, y)], *both, n_components=2)
    parts = fit_additive([(x[i : i + 130], y[i : i + 130]) for i in range(0, 1000, 130)], *both, n_components=2)
    np.testing.assert_array_equal(parts.smoothing, whole.smoothing)
    np.testing.assert_allclose(parts.correlations, whole.correlations, atol=1e-9)


def test_indicators_give_correspondence_analysis(rng):
    a = rng.integers(5, size=800)
    b = (a + rng.integers(3, size=800)) % 5
    X, Y = np.eye(5)[a], np.eye(5)[b]
    basis = [SplineBasis.for_columns(Z, LABELS) for Z in (X, Y)]
    fit = fit_additive([(X, Y)], *basis, n_components=3)
    np.testing.assert_allclose(fit.correlations, CA(n_components=3).fit(a, b).correlations_, atol=1e-9)


def test_few_different_values_are_saturated(rng):
    """Splines through all values of a column of integers are as free as one indicator for each."""
    a = rng.integers(6, size=2000)
    b = np.where(rng.random(2000) < 0.7, (a * 5) % 6, rng.integers(6, size=2000))
    X, Y = a[:, None].astype(float), b[:, None].astype(float)
    fit = fit_additive([(X, Y)], *bases(X, Y), n_components=5)
    np.testing.assert_allclose(fit.correlations, CA(n_components=5).fit(a, b).correlations_, atol=0.01)


def test_smoothness_is_chosen_by_what_holds_on_other_data(rng):
    x = rng.uniform(-3, 3, size=(2000, 1))
    wavy = np.sin(4 * x) + 0.2 * rng.normal(size=x.shape)
    straight = x + rng.normal(size=x.shape)
    rough, smooth = (fit_additive([(x, y)], *bases(x, y), n_components=1).smoothing for y in (wavy, straight))
    assert rough < smooth / 100


def test_functions_are_linear_beyond_the_knots_constant_beyond_the_data_and_can_be_saved(rng):
    x, y = (rng.normal(size=(500, 1)) for _ in range(2))
    f = fit_additive([(x, y)], *bases(x, y), n_components=2).f
    end = x.max()
    outside = np.linspace(f.basis.knots[0][-1], end, 4)[:, None]
    np.testing.assert_allclose(np.diff(f(outside), 2, axis=0), 0, atol=1e-9)
    assert np.abs(np.diff(f(outside), axis=0)).max() > 1e-3
    np.testing.assert_array_equal(f(np.array([[end + 1], [1e6]])), f(np.array([[end], [end]])))
    again = AdditiveFunctions.from_state(*f.state())
    everywhere = np.linspace(-10, 10, 50)[:, None]
    np.testing.assert_array_equal(again(everywhere), f(everywhere))


def test_saved_functions_of_earlier_versions_go_on_straight(rng):
    x, y = (rng.normal(size=(500, 1)) for _ in range(2))
    f = fit_additive([(x, y)], *bases(x, y), n_components=2).f
    old = AdditiveFunctions.from_state(
        {}, {name: values for name, values in f.state().arrays.items() if name != "ends"}
    )
    np.testing.assert_array_equal(old(x), f(x))
    far = old(np.array([[10.0], [11.0], [12.0]]))
    np.testing.assert_allclose(np.diff(far, 2, axis=0), 0, atol=1e-9)
    assert np.abs(np.diff(far, axis=0)).max() > 1e-3


def test_functions_are_combinations_of_the_features(rng):
    Z, y = rng.normal(size=(500, 3)), rng.normal(size=(500, 1))
    Z[:, 1] = Z[:, 1] > 0
    basis = [SplineBasis.for_columns(Z, np.array([True, True, False])), *bases(y)]
    f = fit_additive([(Z, y)], *basis, n_components=2).f
    new = 5 * rng.normal(size=(50, 3))
    np.testing.assert_allclose(f(new), (f.basis(new) - f.mean) @ f.weights, atol=1e-9)


def test_roughness_is_the_third_derivative(rng):
    z = rng.normal(size=(300, 1))
    basis = SplineBasis.for_columns(z, NUMBER)
    at, h = np.array([[0.1], [0.7]]), 1e-3
    numeric = (basis(at + 2 * h) - 2 * basis(at + h) + 2 * basis(at - h) - basis(at - 2 * h)) / (2 * h**3)
    np.testing.assert_allclose(basis.indicate_intervals(at) @ basis.third_derivatives, numeric, atol=1e-4)


@pytest.mark.parametrize("n", [3, 5, 12])
def test_tiny_samples(rng, n):
    x, y = rng.normal(size=(n, 1)), rng.normal(size=(n, 1))
    fit = fit_additive([(x, y)], *bases(x, y), n_components=1)
    assert np.isfinite(fit.f(x)).all()
    assert 0 <= fit.correlations[0] <= 1


@pytest.mark.parametrize("seed", range(4))
def test_a_gap_does_not_set_functions_free(seed):
    """Of costs that are mostly 0, nothing is known about values between 0 and the smallest one."""
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(3000) < 0.97, 0, rng.normal(3, 0.5, 3000).clip(1.9))[:, None]
    Y = np.eye(12)[rng.integers(12, size=3000)]
    basis = SplineBasis.for_columns(x, NUMBER), SplineBasis.for_columns(Y, np.zeros(12, dtype=bool))
    f = fit_additive([(x, Y)], *basis, n_components=5).f
    gap = np.linspace(0, 1.9, 50)[:, None]
    assert np.abs(f(gap)).max() < 5 * np.abs(f(x)).max()
