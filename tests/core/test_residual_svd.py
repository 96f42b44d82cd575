"""Products with residuals of a table, and its leading axes, are those of the dense matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from correspondence.core import residual_svd
from correspondence.core.residual_svd import Residuals, find_leading_axes, sum_absent_mass


def make_residuals(counts, form):
    r, c, total = counts.sum(axis=1) / counts.sum(), counts.sum(axis=0) / counts.sum(), counts.sum()
    Q = (counts / total - np.outer(r, c)) / np.sqrt(np.outer(r, c))
    return Residuals.from_counts(sp.csr_array(counts) if form == "sparse" else counts, r, c, total), Q


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_products_and_inertias_are_those_of_the_dense_matrix(rng, form):
    counts = rng.poisson(0.5, (40, 25)).astype(float) + np.eye(40, 25)
    counts[:, 0] += 1
    residuals, Q = make_residuals(counts, form)
    v, w = rng.normal(size=25), rng.normal(size=40)
    np.testing.assert_allclose(residuals @ v, Q @ v, atol=1e-12)
    np.testing.assert_allclose(residuals @ np.column_stack([v, v]), np.column_stack([Q @ v] * 2), atol=1e-12)
    np.testing.assert_allclose(residuals.T @ w, Q.T @ w, atol=1e-12)
    np.testing.assert_allclose(residuals.multiply_gram(v), Q.T @ (Q @ v), atol=1e-12)
    np.testing.assert_allclose(residuals.toarray(), Q, atol=1e-12)
    np.testing.assert_allclose(residuals.row_inertia, (Q**2).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(residuals.column_inertia, (Q**2).sum(axis=0), atol=1e-12)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("shape", [(150, 120), (120, 150)])
def test_an_iteration_finds_the_axes_of_lapack(rng, form, shape):
    counts = rng.poisson(0.3, shape).astype(float)
    counts[:, 0] += 1
    counts[0] += 1
    residuals, Q = make_residuals(counts, form)
    U, s, V = find_leading_axes(residuals, 4)
    np.testing.assert_allclose(s, np.linalg.svd(Q, compute_uv=False)[:4])
    np.testing.assert_allclose(Q @ V, U * s, atol=1e-9)
    np.testing.assert_allclose(U.T @ U, np.eye(4), atol=1e-10)


def test_axes_without_inertia_complete_the_others():
    residuals, Q = make_residuals(np.outer([1.0, 2, 3], [2.0, 1, 1, 4]), "dense")
    U, s, V = find_leading_axes(residuals, 2)
    np.testing.assert_allclose(s, 0, atol=1e-14)
    for vectors, root in ((U, residuals.row_root), (V, residuals.column_root)):
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(2), atol=1e-12)
        np.testing.assert_allclose(root @ vectors, 0, atol=1e-12)
    assert np.abs(Q).max() < 1e-12


def test_absent_mass_of_rows_with_few_and_with_many_cells(rng):
    counts, c = np.zeros((3, 10)), rng.random(10)
    counts[0, 0], counts[1, :9] = 1, 1
    np.testing.assert_allclose(sum_absent_mass(sp.csr_array(counts), c), (counts == 0) @ c)


def test_parts_without_a_connection_are_numbered():
    counts = sp.csr_array(np.array([[1.0, 0, 0], [0, 1, 1]]))
    rows, columns = np.split(residual_svd.find_connected_parts(counts), [2])
    assert rows.tolist() == columns[:2].tolist()
    assert columns[1] == columns[2] != columns[0]
