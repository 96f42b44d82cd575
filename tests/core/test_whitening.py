"""Whitening and signs."""

import numpy as np
import pytest

from correspondence import Moments
from correspondence.core.whitening import Spectrum, choose_signs, compute_whitening, find_scale


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


def test_a_constant_that_rounding_blurs_is_still_one(rng):
    m = Moments()
    for _ in range(300):
        w = rng.random(7)
        m.update(np.column_stack([np.full(7, 0.1), rng.normal(size=7)]), rng.normal(size=(7, 1)), w)
    assert m.decompose().f([[0.1, 0.0], [0.1 + 1e-9, 0.0]]).std() < 1e-6
    assert m.update([[1.0, 2.0]], [[3.0]], [0.0]).n == m.n


def test_whitened_features_are_uncorrelated_with_variance_one(rng):
    Z = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 5)) * 10.0 ** np.arange(5) + 7
    W = compute_whitening(np.cov(Z.T, bias=True), Z.mean(axis=0))
    assert W.shape == (5, 3)
    np.testing.assert_allclose(np.cov(((Z - Z.mean(axis=0)) @ W).T, bias=True), np.eye(3), atol=1e-8)


def test_constants_have_neither_a_scale_nor_a_direction(rng):
    Z = np.column_stack([rng.normal(size=100), np.full(100, 0.1)])
    cov, mean = np.cov(Z.T, bias=True), Z.mean(axis=0)
    assert (find_scale(cov, mean) > 0).tolist() == [True, False]
    assert Spectrum.from_covariance(cov, mean).vectors.shape == (2, 1)


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


def test_ties_are_decided_by_the_labels_and_not_by_their_order():
    loadings, labels = np.array([[0.5], [-0.5 - 1e-9], [0.1]]), np.array(["b", "a", "c"], dtype=object)
    assert choose_signs(loadings).tolist() == [1]
    assert choose_signs(loadings, labels).tolist() == choose_signs(loadings[::-1], labels[::-1]).tolist() == [-1]
    assert choose_signs(np.empty((0, 2))).tolist() == [1, 1]
