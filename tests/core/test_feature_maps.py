"""Features of encoded columns, their sums, and signs by the columns of y."""

import numpy as np
import pytest

import correspondence as co
from correspondence.core.feature_maps import Additive, Encoded, Loadings, fix_signs, iterate_blocks, to_dense
from correspondence.core.splines import AdditiveFunctions, SplineBasis
from correspondence.data.encoders.choosing import encoder_for


def test_features_are_restored_from_their_state(rng):
    x = rng.normal(size=(60, 2))
    encoder = encoder_for(x, "X")
    functions = AdditiveFunctions(SplineBasis([np.arange(4.0), np.empty(0)]), np.zeros(5), rng.normal(size=(5, 2)))
    for features in (Encoded("X", encoder), Additive("X", encoder, functions)):
        again = type(features).from_state(*features.state())
        np.testing.assert_array_equal(again(x), features(x))
        assert again.name == "X"


def test_loadings_are_covariances_however_rows_are_split(rng):
    G, Z = rng.normal(size=(50, 2)), rng.normal(size=(50, 3)) + 5
    loadings = Loadings.from_batches([(G[:20], Z[:20]), (G[20:], Z[20:])])
    np.testing.assert_allclose(loadings.covariance, (Z - Z.mean(axis=0)).T @ G / 50, atol=1e-12)
    np.testing.assert_allclose(loadings.variance, Z.var(axis=0))


def test_the_column_most_correlated_with_g_is_positively_so(rng):
    X = rng.normal(size=(100, 2))
    d = co.Moments().update(X, X).decompose()
    Z = np.column_stack([-d.g(X)[:, 0], 0.1 * d.g(X)[:, 1]])
    loadings = Loadings.from_batches([(d.g(X), Z)])
    signed = fix_signs(d, loadings.covariance, loadings.variance)
    np.testing.assert_allclose(signed.g(X), d.g(X) * [-1, 1], atol=1e-12)
    np.testing.assert_allclose(signed.f(X), d.f(X) * [-1, 1], atol=1e-12)


@pytest.mark.parametrize("n", [1, 4096, 5000])
def test_blocks_are_all_rows_once(n):
    blocks = [x for x, _ in iterate_blocks(np.arange(n), np.arange(n))]
    np.testing.assert_array_equal(np.concatenate(blocks), np.arange(n))
    assert max(map(len, blocks)) <= 4096
    assert to_dense(np.ones((2, 3, 4))).shape == (2, 12)
