"""The best monotone pair, against an enumeration of all poolings, and the axes of what it leaves."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from correspondence.core.order.monotone import (
    OrderedSide,
    decompose_complement,
    find_monotone_pair,
    find_ordered_axes,
    project_monotone,
)
from correspondence.core.order.poolings import search_poolings
from correspondence.core.residual_svd import Residuals, find_leading_axes


def make_noise(seed, r, c, n=100):
    """Make a table without dependence, all of whose rows and columns have counts."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n, np.full(r * c, 1 / (r * c))).reshape(r, c).astype(float)
    counts[:, counts.sum(axis=0) == 0] += 1
    counts[counts.sum(axis=1) == 0] += 1
    return counts


def standardise(counts):
    P = counts / counts.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    return P / np.sqrt(np.outer(r, c)) - np.sqrt(np.outer(r, c)), r, c


def list_blocks(k):
    """List all ways to cut k labels in order into blocks of neighbours."""
    for cuts in itertools.product((0, 1), repeat=k - 1):
        yield np.concatenate([[0], np.cumsum(cuts)]).astype(int)


def is_monotone(values, tolerance=1e-9):
    steps = np.diff(values)
    return bool((steps >= -tolerance).all() or (steps <= tolerance).all())


def enumerate_best(counts, row_ordered=True, column_ordered=True):
    """Find the largest first correlation of a pooled table whose functions are monotone, by adding rows and columns."""
    best = 0.0
    rows = list(list_blocks(counts.shape[0])) if row_ordered else [np.arange(counts.shape[0])]
    columns = list(list_blocks(counts.shape[1])) if column_ordered else [np.arange(counts.shape[1])]
    for a, b in itertools.product(rows, columns):
        pooled = np.zeros((a.max() + 1, b.max() + 1))
        np.add.at(pooled, (a[:, None], b[None, :]), counts)
        Q, r, c = standardise(pooled)
        U, s, Vt = np.linalg.svd(Q)
        is_feasible = (not row_ordered or is_monotone(U[:, 0] / np.sqrt(r))) and (
            not column_ordered or is_monotone(Vt[0] / np.sqrt(c))
        )
        if is_feasible and s[0] > best:
            best = s[0]
    return best


def make_sides(r, c, row_order=True, column_order=True):
    return (
        OrderedSide(np.sqrt(r), np.arange(len(r)) if row_order else None),
        OrderedSide(np.sqrt(c), np.arange(len(c)) if column_order else None),
    )


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 5), st.sampled_from([(1, 1), (1, 0), (0, 1)]))
@settings(max_examples=40, deadline=None)
def test_pair_is_best_of_all_poolings(seed, n_rows, n_columns, ordered):
    counts = make_noise(seed, n_rows, n_columns)
    Q, r, c = standardise(counts)
    rows, columns = make_sides(r, c, *ordered)
    pair = find_monotone_pair(Q, rows, columns)
    assert pair.is_proven
    assert pair.correlation == pytest.approx(enumerate_best(counts, *ordered), abs=1e-9)
    assert pair.u @ Q @ pair.v == pytest.approx(pair.correlation, abs=1e-12)
    for u, mass, is_ordered in ((pair.u, r, ordered[0]), (pair.v, c, ordered[1])):
        assert np.linalg.norm(u) == pytest.approx(1)
        assert np.sqrt(mass) @ u == pytest.approx(0, abs=1e-10)
        assert not is_ordered or is_monotone(u / np.sqrt(mass), 1e-12)


@pytest.mark.slow
def test_alternation_alone_rarely_misses():
    """With its starts the alternation finds the best pair of noise in almost all tables."""
    n_missed = 0
    for seed in range(60):
        counts = make_noise(seed, 5, 5)
        Q, r, c = standardise(counts)
        alone = find_monotone_pair(Q, *make_sides(r, c), prove=False)
        assert not alone.is_proven or alone.correlation == pytest.approx(np.linalg.norm(Q, 2))
        n_missed += enumerate_best(counts) > alone.correlation + 1e-9
    assert n_missed <= 1


def test_search_finds_what_a_bad_start_misses():
    counts = make_noise(3, 5, 5)
    Q, r, c = standardise(counts)
    pair, is_proven = search_poolings(Q, *make_sides(r, c), known=0.0)
    assert is_proven
    assert pair[0] @ Q @ pair[1] == pytest.approx(enumerate_best(counts))


def test_search_gives_up_after_too_many_poolings():
    Q, r, c = standardise(make_noise(0, 6, 6))
    assert not search_poolings(Q, *make_sides(r, c), known=0.0, max_poolings=3)[1]


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(2, 6), st.sampled_from([(1, 1), (1, 0), (0, 1), (0, 0)]))
@settings(max_examples=60, deadline=None)
def test_axes_keep_the_contract(seed, n_rows, n_columns, ordered):
    counts = make_noise(seed, n_rows, n_columns, 60)
    Q, r, c = standardise(counts)
    residuals = Residuals.from_counts(counts, r, c, counts.sum())
    k = min(counts.shape) - 1
    U, s, V = find_ordered_axes(residuals, k, *make_sides(r, c, *ordered))
    d = len(s)
    assert k - 1 <= d <= k
    for W, mass in ((U, r), (V, c)):
        np.testing.assert_allclose(W.T @ W, np.eye(d), atol=1e-10)
        np.testing.assert_allclose(np.sqrt(mass) @ W, 0, atol=1e-10)
    np.testing.assert_allclose(U.T @ Q @ V, np.diag(s), atol=1e-10)
    assert (np.diff(s[1:]) <= 1e-12).all()
    plain = find_leading_axes(residuals, k)
    is_active = (ordered[0] and not is_monotone(plain[0][:, 0] / np.sqrt(r))) or (
        ordered[1] and not is_monotone(plain[2][:, 0] / np.sqrt(c))
    )
    if not is_active:
        for mine, theirs in zip((U, s, V), plain, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_labels_without_a_place_in_the_order_are_free():
    counts = make_noise(5, 5, 4)
    Q, r, c = standardise(counts)
    order = np.array([3, 0, 1])
    pair = find_monotone_pair(Q, OrderedSide(np.sqrt(r), order), OrderedSide(np.sqrt(c)))
    assert is_monotone((pair.u / np.sqrt(r))[order], 1e-12)
    whole = find_monotone_pair(Q, OrderedSide(np.sqrt(r), np.array([3, 0, 1, 2, 4])), OrderedSide(np.sqrt(c)))
    assert pair.correlation >= whole.correlation - 1e-12


def test_independence_gives_monotone_functions():
    counts = np.outer([2.0, 3, 4], [1.0, 5, 2])
    _, r, c = standardise(counts)
    U, s, V = find_ordered_axes(Residuals.from_counts(counts, r, c, counts.sum()), 2, *make_sides(r, c))
    np.testing.assert_allclose(s, 0, atol=1e-12)
    assert is_monotone(U[:, 0] / np.sqrt(r))
    assert is_monotone(V[:, 0] / np.sqrt(c))


def test_projection_is_isotonic_regression():
    from sklearn.isotonic import isotonic_regression

    rng = np.random.default_rng(0)
    y, w = rng.standard_normal(12), rng.uniform(0.1, 2, 12)
    for increasing in (True, False):
        expected = isotonic_regression(y, sample_weight=w, increasing=increasing)
        np.testing.assert_allclose(project_monotone(y, w, increasing=increasing), expected, atol=1e-12)
    order = np.array([4, 2, 0])
    projected = project_monotone(y, w, order)
    assert (np.diff(projected[order]) >= 0).all()
    free = np.setdiff1d(np.arange(12), order)
    np.testing.assert_array_equal(projected[free], y[free])


def test_complement_of_two_subspaces():
    rng = np.random.default_rng(1)
    Q = rng.standard_normal((7, 5))
    left, right = np.linalg.qr(rng.standard_normal((7, 2)))[0], np.linalg.qr(rng.standard_normal((5, 3)))[0]
    U, s, V = decompose_complement(Q, left, right, 5)
    projected = (np.eye(7) - left @ left.T) @ Q @ (np.eye(5) - right @ right.T)
    np.testing.assert_allclose(s, np.linalg.svd(projected, compute_uv=False)[:2], atol=1e-12)
    np.testing.assert_allclose((U * s) @ V.T, projected, atol=1e-12)
    np.testing.assert_allclose(left.T @ U, 0, atol=1e-12)


def test_too_large_a_table_is_refused():
    class Large:
        shape = (10**5, 10**5)

        def toarray(self):
            raise AssertionError

    from correspondence.core.order.monotone import _read_dense

    with pytest.raises(ValueError, match="ordered"):
        _read_dense(Large())


@pytest.mark.parametrize(
    "counts",
    [
        [[23, 4, 2, 2, 0], [11, 1, 2, 5, 4], [11, 5, 6, 5, 13], [3, 5, 3, 3, 13], [0, 7, 4, 3, 15]],
        [[14, 3, 4, 6, 0], [14, 5, 2, 8, 4], [5, 3, 6, 5, 10], [1, 6, 1, 7, 16], [0, 3, 6, 4, 17]],
    ],
)
def test_a_side_without_ties_is_exactly_what_the_other_one_expects(counts):
    """Half of the digits are not enough: later axes avoid what is expected beyond the function itself."""
    Q, r, c = standardise(np.array(counts, dtype=float))
    rows, columns = (OrderedSide(np.sqrt(m), np.arange(5)) for m in (r, c))
    pair = find_monotone_pair(Q, rows, columns)
    sides = [(pair.u, Q @ pair.v, rows.root), (pair.v, Q.T @ pair.u, columns.root)]
    free = [(own, image) for own, image, root in sides if np.abs(np.diff(own / root)).min() > 1e-6]
    assert len(free) == 1
    np.testing.assert_allclose(free[0][1], pair.correlation * free[0][0], rtol=0, atol=1e-12)
    assert (
        len(
            find_ordered_axes(
                Residuals.from_counts(np.array(counts, dtype=float), r, c, np.sum(counts)), 4, rows, columns
            )[1]
        )
        == 3
    )
