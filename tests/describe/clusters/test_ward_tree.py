"""The tree of weighted Ward."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, is_valid_linkage, linkage

from correspondence.describe.clusters.ward_tree import grow_tree


def draw_points(seed, n, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def are_same(a, b):
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


@given(seed=st.integers(0, 10**6), n=st.integers(2, 60))
def test_equal_weights_give_scipys_tree(seed, n):
    points = draw_points(seed, n)
    tree, known = grow_tree(points, np.full(n, 1 / n)), linkage(points, "ward")
    np.testing.assert_allclose(tree.losses, known[:, 2] ** 2 / (2 * n), rtol=1e-9, atol=1e-12)
    for k in {1, 2, min(5, n), n}:
        assert are_same(tree.cut_tree(k), fcluster(known, k, "maxclust"))


@given(seed=st.integers(0, 10**6), n=st.integers(2, 20))
def test_whole_weights_are_repetitions(seed, n):
    points, times = draw_points(seed, n), np.random.default_rng(seed).integers(1, 4, n)
    leaves = np.repeat(np.arange(n), times)
    tree, known = grow_tree(points, times / times.sum()), linkage(points[leaves], "ward")
    repeated = tree.repeat_leaves(leaves)
    np.testing.assert_allclose(repeated.losses, known[:, 2] ** 2 / (2 * len(leaves)), atol=1e-12)
    matrix = repeated.make_linkage()
    assert is_valid_linkage(matrix)
    assert matrix[-1, 3] == len(leaves)
    np.testing.assert_array_equal(fcluster(matrix, 1e-14, "distance").size, len(leaves))
    assert are_same(repeated.cut_tree(n), leaves)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 40))
def test_losses_sum_to_the_inertia(seed, n):
    points, weights = draw_points(seed, n), np.random.default_rng(seed).dirichlet(np.ones(n)) + 1e-6
    weights /= weights.sum()
    total = weights @ ((points - weights @ points) ** 2).sum(axis=1)
    assert grow_tree(points, weights).losses.sum() == pytest.approx(total)
    assert (np.diff(grow_tree(points, weights).losses) >= 0).all()


def test_points_on_a_lattice_tie_without_harm():
    points = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    tree = grow_tree(points, np.full(36, 1 / 36))
    assert is_valid_linkage(tree.make_linkage())
    assert tree.losses.sum() == pytest.approx(2 * 35 / 12)
    assert [len(set(tree.cut_tree(k))) for k in (1, 4, 36)] == [1, 4, 36]


def test_points_that_move_apart_are_merged_one_by_one():
    points = 1.5 ** np.arange(40.0)[:, None]
    np.testing.assert_allclose(
        grow_tree(points, np.full(40, 1 / 40)).losses, linkage(points, "ward")[:, 2] ** 2 / 80, rtol=1e-9
    )
