import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import ThreadpoolController, threadpool_info

import correspondence as co
from correspondence._util import threads
from correspondence._util.threads import RowBlocks, count_threads, limit_blas_threads, run_in_threads


@pytest.fixture(autouse=True)
def _many_threads(monkeypatch):
    monkeypatch.setattr(threads, "MIN_CELLS_FOR_THREADS", 1)
    monkeypatch.setattr(threads, "count_threads", lambda: 3)


def random_table(seed, rows=50, columns=8, density=0.3):
    rng = np.random.default_rng(seed)
    return sp.random_array((rows, columns), density=density, rng=rng, format="csr")


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 6), st.floats(0, 1), st.booleans())
def test_products_are_those_of_the_whole(seed, rows, columns, density, is_transposed):
    A = random_table(seed, rows, columns, density)
    A = A.T if is_transposed else A
    rng = np.random.default_rng(seed)
    v, u = rng.normal(size=A.shape[1]), rng.normal(size=A.shape[0])
    blocks = RowBlocks(A)
    np.testing.assert_allclose(blocks.matrix_times(v), A @ v, atol=1e-12)
    np.testing.assert_allclose(blocks.transposed_times(u), A.T @ u, atol=1e-12)


def test_blocks_are_views_of_about_equal_size():
    A = random_table(0, rows=3000)
    blocks = RowBlocks(A)
    assert len(blocks.blocks) == 3
    assert all(np.shares_memory(block.data, A.data) for block in (*blocks.blocks, *blocks._transposed))
    assert max(block.nnz for block in blocks.blocks) < 1.05 * A.nnz / 3
    assert sum(block.shape[0] for block in blocks.blocks) == 3000


def test_sorting_is_in_place():
    A = random_table(1, rows=300)
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(A.indptr[:-1], A.indptr[1:], strict=True)])
    B = sp.csr_array((A.data[order], A.indices[order], A.indptr), shape=A.shape)
    assert not B.has_sorted_indices
    RowBlocks(B).sort_cells()
    np.testing.assert_array_equal(B.indices, A.indices)
    np.testing.assert_array_equal(B.data, A.data)


def test_small_tables_stay_in_one_thread(monkeypatch):
    monkeypatch.setattr(threads, "MIN_CELLS_FOR_THREADS", 10**9)
    A = random_table(0)
    assert len(RowBlocks(A).blocks) == 1


def test_results_are_in_the_order_of_the_parts():
    assert run_in_threads(lambda n: n**2, [3, 1, 2]) == [9, 1, 4]
    with pytest.raises(ZeroDivisionError):
        run_in_threads(lambda n: 1 / n, [1, 0])


@pytest.mark.parametrize(
    ("given", "expected"), [("1", 1), ("1,2", 1), ("64", None), ("", None), ("0", None), ("many", None)]
)
def test_the_number_of_threads_is_that_of_numpy(monkeypatch, given, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    monkeypatch.setattr("joblib.cpu_count", lambda: 7)
    assert count_threads() == (expected or 7)


@pytest.mark.slow
def test_threads_change_nothing_in_ca(monkeypatch):
    A = sp.csr_array(np.round(20 * random_table(3, rows=3000, columns=400, density=0.1).toarray()))
    A = A[A.sum(axis=1) > 0]
    together = co.CA(n_components=5).fit(A)
    monkeypatch.setattr(threads, "MIN_CELLS_FOR_THREADS", 10**9)
    alone = co.CA(n_components=5).fit(A)
    np.testing.assert_allclose(together.pics_, alone.pics_, rtol=1e-12)
    np.testing.assert_allclose(together.rows_.principal, alone.rows_.principal, atol=1e-9)
    np.testing.assert_allclose(together.rows_.inertia, alone.rows_.inertia, rtol=1e-12)
    np.testing.assert_allclose(together.columns_.inertia, alone.columns_.inertia, rtol=1e-12)


def test_threads_that_overlap_leave_blas_as_it_was():
    """The last to leave takes the limit away, whichever entered first."""

    def stay_inside(entered, leave):
        with limit_blas_threads(True):
            entered.set()
            leave.wait(10)

    def list_limits():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = list_limits()
    events = [(threading.Event(), threading.Event()) for _ in range(2)]
    workers = [threading.Thread(target=stay_inside, args=pair, daemon=True) for pair in events]
    for worker, (entered, _) in zip(workers, events, strict=True):
        worker.start()
        assert entered.wait(10)
    for worker, (_, leave) in zip(workers, events, strict=True):
        leave.set()
        worker.join(10)
    assert list_limits() == before


def test_libraries_are_looked_for_once(monkeypatch):
    """Looking takes longer than many a fit; those of a module that is imported later are found all the same."""
    looks = []
    monkeypatch.setattr(threads, "ThreadpoolController", lambda: looks.append(1) or ThreadpoolController())
    for _ in range(3):
        with limit_blas_threads(True):
            assert {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} == {1}
    assert len(looks) <= 1
    monkeypatch.setitem(sys.modules, "a_new_one", threads)
    with limit_blas_threads(True):
        pass
    assert len(looks) >= 1
    for _ in range(3):
        with limit_blas_threads(True):
            pass
    assert len(looks) <= 2
