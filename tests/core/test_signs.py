"""The sign of a component does not depend on order, scale or rounding."""

import numpy as np

from correspondence import Moments
from correspondence.core.signs import choose_signs


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
