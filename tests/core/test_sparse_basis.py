"""Leading directions of wide sparse columns."""

import numpy as np
import scipy.sparse as sp

from correspondence.core import sparse_basis
from correspondence.core.sparse_basis import find_sparse_basis, weigh_columns, weigh_words


def sparse_rows(rng, n=300, p=40):
    return sp.csr_array(rng.poisson(0.3, size=(n, p)).astype(float))


def test_few_columns_are_all_kept(rng):
    rows = sparse_rows(rng)
    basis = find_sparse_basis(rows, weigh_words(rows))
    dense = rows.toarray()
    centred = dense - dense.mean(axis=0)
    combined = basis(rows)
    assert basis.width == 40
    np.testing.assert_allclose(combined.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(combined @ np.linalg.lstsq(combined, centred, rcond=None)[0], centred, atol=1e-8)


def test_repeated_columns_are_not_directions(rng):
    rows = sparse_rows(rng, p=10)
    assert find_sparse_basis(sp.csr_array(sp.hstack([rows, rows])), np.ones(20)).width == 10


def test_leading_directions_are_those_of_the_dense_decomposition(rng, monkeypatch):
    monkeypatch.setattr(sparse_basis, "MAX_DIRECTIONS", 3)
    rows = sp.csr_array((rng.normal(size=(200, 3)) * [9, 5, 3]) @ rng.normal(size=(3, 60)))
    rows = rows + sp.csr_array(0.01 * rng.normal(size=(200, 60)))
    found = find_sparse_basis(sp.csr_array(rows), np.ones(60)).matrix
    exact = np.linalg.svd(rows.toarray(), full_matrices=False)[2][:3].T
    np.testing.assert_allclose(np.linalg.svd(found.T @ exact)[1], 1, atol=1e-6)


def test_same_directions_in_every_run(rng):
    rows = sparse_rows(rng)
    np.testing.assert_array_equal(*(find_sparse_basis(rows, np.ones(40)).matrix for _ in range(2)))


def test_rare_words_weigh_more():
    weights = weigh_words(sp.csr_array(np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0]])))
    assert weights[1] > weights[0] == 1


def test_weights_of_columns_free_them_of_their_units(rng):
    dense = rng.poisson(0.3, size=(300, 40)).astype(float)
    dense[:, 0] = 30 + rng.normal(size=300)  # not sparse: it varies by its standard deviation
    weights, units = weigh_columns(sp.csr_array(dense)), 10.0 ** rng.integers(-3, 4, size=40)
    np.testing.assert_allclose(weigh_columns(sp.csr_array(dense * units)) * units, weights)
    np.testing.assert_allclose(weights[0], 1 / dense[:, 0].std())


def test_columns_of_zeros_have_no_weight():
    assert weigh_columns(sp.csr_array(np.array([[0.0, 1.0], [0.0, 0.0]])))[0] == 0
