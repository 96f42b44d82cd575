"""The most correlated pair in cones: against the exact search for tables, and against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from correspondence.core.order.conic_pairs import ConicSide, climb_to_conic_pair, find_conic_pair, project_on_cone
from correspondence.core.order.monotone import OrderedSide, find_monotone_pair


def make_problem(seed, rows, columns, n=6.0):
    """Make the standardised residuals of a table, and coordinates of functions of mean 0 of both sides."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(n, (rows, columns)) + 0.0
    counts[0] += 1
    counts[:, 0] += 1
    P = counts / counts.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    Q = P / np.sqrt(np.outer(r, c)) - np.sqrt(np.outer(r, c))
    W, V = (np.linalg.qr(np.column_stack([np.sqrt(m), np.eye(len(m))[:, 1:]]))[0][:, 1:] for m in (r, c))
    return Q, r, c, W, V


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(2, 6), st.booleans())
@settings(max_examples=40, deadline=None)
def test_labels_in_order_are_as_in_the_exact_search_of_tables(seed, rows, columns, both):
    Q, r, c, W, V = make_problem(seed, rows, columns)
    sides = OrderedSide(np.sqrt(r), np.arange(rows)), OrderedSide(np.sqrt(c), np.arange(columns) if both else None)
    expected = find_monotone_pair(Q, *sides)
    cones = [ConicSide.from_matrices([np.diff(B / np.sqrt(m)[:, None], axis=0)]) for B, m in ((W, r), (V, c))]
    (a, b), value = find_conic_pair(W.T @ Q @ V, cones[0], cones[1] if both else ConicSide([]))
    assert value == pytest.approx(expected.correlation, abs=1e-9)
    assert [np.linalg.norm(a), np.linalg.norm(b)] == pytest.approx([1, 1])
    steps = np.diff((W @ a) / np.sqrt(r))
    assert (steps >= -1e-9).all() or (steps <= 1e-9).all()


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 8))
@settings(max_examples=30, deadline=None)
def test_projections_are_nearest(seed, r, m):
    rng = np.random.default_rng(seed)
    G, z = rng.normal(size=(m, r)), rng.normal(size=r)
    G[:, 0] = np.abs(G[:, 0]) + 1  # so that there is something inside
    a = project_on_cone(z, G)
    if not a.any():
        return
    assert (G @ a >= -1e-8).all()
    inside = rng.normal(size=(2000, r)) * 3
    inside = inside[(inside @ G.T >= 0).all(axis=1)]
    length = np.linalg.norm(inside, axis=1)
    assert (inside @ z <= (a @ z) * length + 1e-8).all()  # of unit vectors in the cone none is nearer to z


def test_no_cones_give_the_first_singular_pair():
    K = np.random.default_rng(0).normal(size=(4, 3))
    _, value = find_conic_pair(K, ConicSide([]), ConicSide([]))
    assert value == pytest.approx(np.linalg.norm(K, 2))


@pytest.mark.slow
def test_signs_of_several_columns_are_found():
    """Six columns, each with its own cone: the best of all 64 choices of signs."""
    rng = np.random.default_rng(1)
    K = rng.normal(size=(12, 3))
    cones = []
    for j in range(6):
        G = np.zeros((2, 12))
        G[:, 2 * j : 2 * j + 2] = [[1, 0.2], [0.1, 1]]
        cones.append(G)
    x, y = ConicSide.from_matrices(cones), ConicSide([])
    _, value = find_conic_pair(K, x, y)
    best = 0.0
    for signs in np.ndindex(*(2,) * 6):
        joined = x.join_cones(tuple(1 - 2 * s for s in signs))
        for b in [*np.eye(3), *-np.eye(3), *np.linalg.svd(K)[2]]:
            for _ in range(50):
                a = project_on_cone(K @ b, joined)
                if not a.any():
                    break
                b = K.T @ a / np.linalg.norm(K.T @ a)
            best = max(best, a @ K @ b)
    assert value >= best - 1e-8


def test_without_dependence_the_pair_is_in_the_cones():
    side = ConicSide.from_matrices([np.eye(3)])
    (a, b), value = find_conic_pair(np.zeros((3, 2)), side, ConicSide([]))
    assert value == 0
    assert (a >= 0).all()
    assert [np.linalg.norm(a), np.linalg.norm(b)] == pytest.approx([1, 1])


def test_a_climb_from_a_pair_nearby_arrives_at_the_same_pair():
    Q, r, c, W, V = make_problem(3, 5, 5)
    cones = [ConicSide.from_matrices([np.diff(B / np.sqrt(m)[:, None], axis=0)]) for B, m in ((W, r), (V, c))]
    K = W.T @ Q @ V
    (a, b), value = find_conic_pair(K, *cones)
    moved = a + 0.05, b - 0.05
    assert climb_to_conic_pair(K, *cones, known=moved)[1] == pytest.approx(value, abs=1e-10)
