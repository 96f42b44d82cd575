"""Correspondence analysis against floors and peers, in one run: ``make bench`` or ``python benchmarks/ca.py``.

Floors are the bare linear algebra a user would write by hand for the same table: ARPACK on the centred operator, and
the Gram matrix with a symmetric eigensolver. Times are the best of several interleaved runs, figures are ratios.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import argparse
import time
import tracemalloc

import numpy as np
import pandas as pd
import prince
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds

import correspondence as co

K = 5
PAUSE = 0.1  # seconds before each run: BLAS threads of the one before spin for a while


def run_arpack_floor(table):
    """Decompose the centred operator by scipy's svds, with the principal coordinates of both sides."""
    P = table / table.sum()
    r, c = (np.asarray(P.sum(axis=axis)).ravel() for axis in (1, 0))
    row_root, column_root = np.sqrt(r), np.sqrt(c)
    if sp.issparse(P):
        S = sp.csr_array(sp.diags_array(1 / row_root) @ P @ sp.diags_array(1 / column_root))
    else:
        S = P / row_root[:, None] / column_root
    operator = LinearOperator(
        S.shape,
        matvec=lambda v: S @ v.ravel() - row_root * (column_root @ v.ravel()),
        rmatvec=lambda u: S.T @ u.ravel() - column_root * (row_root @ u.ravel()),
        matmat=lambda V: S @ V - np.outer(row_root, column_root @ V),
        dtype=np.float64,
    )
    U, s, Vt = svds(operator, k=K, rng=np.random.default_rng(0))
    return U / row_root[:, None] * s, Vt.T / column_root[:, None] * s, np.sort(s**2)[::-1]


def run_gram_floor(table):
    """Decompose the Gram matrix of the residuals by numpy's eigh."""
    P = table / table.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    Q = (P - np.outer(r, c)) / np.sqrt(np.outer(r, c))
    values, V = np.linalg.eigh(Q.T @ Q)
    V, values = V[:, : -K - 1 : -1], values[: -K - 1 : -1]
    return (Q @ V) / np.sqrt(r)[:, None], V / np.sqrt(c)[:, None] * np.sqrt(values), values


def run_ours(table):
    ca = co.CA(n_components=K).fit(table)
    return ca.rows_.principal, ca.columns_.principal, ca.pics_


def run_prince(frame):
    ca = prince.CA(n_components=K).fit(frame)
    return ca.row_coordinates(frame), ca.column_coordinates(frame), ca.eigenvalues_


def race_runners(runners, rounds):
    """Find the best time of each runner; they take turns in every round, so that load hits all alike."""
    best = dict.fromkeys(runners, np.inf)
    for _ in range(rounds):
        for name, run in runners.items():
            time.sleep(PAUSE)
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def measure_peak_memory(run):
    tracemalloc.start()
    try:
        result = run()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


def measure_size(counts):
    arrays = (counts.data, counts.indices, counts.indptr) if sp.issparse(counts) else (counts,)
    return sum(array.nbytes for array in arrays)


def draw_sparse_table(rng, shape=(100_000, 5_000), cells=1_100_000, topics=20):
    """Draw documents of a few topics over words of Zipf frequencies, with this number of nonzero cells."""
    rows = np.concatenate([np.arange(shape[0]), rng.integers(0, shape[0], 2 * cells)])  # no row is empty
    topic = (rows * 2654435761) % topics
    frequency = 1 / np.arange(2, shape[1] + 2)
    columns = np.empty(len(rows), dtype=np.int64)
    for t in range(topics):
        p = rng.permutation(frequency) * rng.gamma(0.3, size=shape[1]) + frequency
        columns[topic == t] = rng.choice(shape[1], np.count_nonzero(topic == t), p=p / p.sum())
    _, first = np.unique(rows * shape[1] + columns, return_index=True)
    chosen = np.sort(first)[:cells]  # distinct cells in the order drawn, those that fill every row first
    counts = rng.poisson(1.5, cells) + 1.0
    table = sp.csr_array((counts, (rows[chosen].astype(np.int32), columns[chosen].astype(np.int32))), shape=shape)
    return table[:, table.sum(axis=0) > 0]


def draw_dense_table(rng, shape):
    mean = rng.gamma(0.5, size=(shape[0], 8)) @ rng.gamma(0.5, size=(8, shape[1]))
    return rng.poisson(mean + 0.05).astype(np.float64) + np.eye(*shape)


def print_verdict(text, ratio, bar, at_most=True):
    good = ratio <= bar if at_most else ratio >= bar
    print(f"  {text}: {ratio:.2f} ({'at most' if at_most else 'at least'} {bar}: {'ok' if good else 'MISSED'})")


def bench_sparse(rounds):
    table = draw_sparse_table(np.random.default_rng(0))
    print(f"\nsparse {table.shape[0]} x {table.shape[1]}, {table.nnz} nonzeros, {K} components")
    best = race_runners({"floor": lambda: run_arpack_floor(table), "ours": lambda: run_ours(table)}, rounds)
    print(f"  seconds: ARPACK floor {best['floor']:.3f}, correspondence {best['ours']:.3f}")
    print_verdict("time / floor", best["ours"] / best["floor"], 1.3)
    for kind in (np.float64, np.int64):  # integers have to be copied
        counts = table.astype(kind)
        peak, result = measure_peak_memory(lambda counts=counts: co.CA(n_components=K).fit(counts))
        fair = measure_size(counts) + result.rows_.standard.nbytes + result.columns_.standard.nbytes
        print(f"  MB: {kind.__name__} table and factors {fair / 1e6:.1f}, peak of the fit on top {peak / 1e6:.1f}")
        print_verdict("(table + peak) / (table + factors)", (measure_size(counts) + peak) / fair, 2.0)
    difference = np.abs(result.pics_ / run_arpack_floor(table)[2] - 1).max()
    print(f"  largest relative difference of the PICs from the floor's: {difference:.1e}")
    try:
        prince.CA(n_components=K).fit(table)
    except (TypeError, ValueError) as error:
        print(f"  prince: {error}")


def bench_dense(shape, rounds):
    table = draw_dense_table(np.random.default_rng(0), shape)
    frame = pd.DataFrame(table, [f"r{i}" for i in range(shape[0])], [f"c{j}" for j in range(shape[1])])
    print(f"\ndense {shape[0]} x {shape[1]}, {K} components")
    runners = {
        "ARPACK": lambda: run_arpack_floor(table),
        "Gram": lambda: run_gram_floor(table),
        "ours": lambda: run_ours(table),
        "prince": lambda: run_prince(frame),
    }
    best = race_runners(runners, rounds)
    print("  seconds: " + ", ".join(f"{name} {seconds:.4f}" for name, seconds in best.items()))
    return best["ours"] / min(best["ARPACK"], best["Gram"]), best["prince"] / best["ours"]


def bench_flat(size):
    """Decompose pure noise: the hardest spectrum, where a randomised method is silently wrong."""
    counts = np.random.default_rng(0).poisson(2.0, (size, size)).astype(np.float64)
    _, axes, pics = run_gram_floor(counts)
    print(f"\nPoisson noise {size} x {size}, against a complete eigendecomposition")
    for name, run in (("correspondence", run_ours), ("prince", lambda table: run_prince(pd.DataFrame(table)))):
        time.sleep(PAUSE)
        start = time.perf_counter()
        _, found, values = run(counts)
        seconds = time.perf_counter() - start
        error = np.abs(values / pics - 1).max()
        cosine = np.min(
            np.abs((axes * np.asarray(found) * counts.sum(axis=0)[:, None]).sum(axis=0)) / (counts.sum() * pics)
        )
        print(
            f"  {name}: {seconds:.1f} s, relative error of the PICs {error:.1e}, smallest |cos| of an axis {cosine:.6f}"
        )
        if run is run_ours:
            print_verdict("error of the PICs in 1e-8", error / 1e-8, 1.0)
            print_verdict("smallest |cos|", cosine, 0.999, at_most=False)


def bench_newsgroups():
    table = co.datasets.fetch_newsgroups()
    print(f"\n20 newsgroups: {table}")
    start = time.perf_counter()
    ca = co.CA(n_components=K).fit(table)
    seconds = time.perf_counter() - start
    peak, _ = measure_peak_memory(lambda: co.CA(n_components=K).fit(table))
    print(
        f"  {seconds:.1f} s; MB: table {measure_size(table.counts) / 1e6:.0f}, peak of the fit on top {peak / 1e6:.0f}"
    )
    print(f"  PICs {np.round(ca.pics_, 4)}, total inertia {ca.decomposition_.chi2:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="runs of each contender (default 7)")
    parser.add_argument("--skip-newsgroups", action="store_true", help="leave out the 20 newsgroups table")
    arguments = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    bench_sparse(arguments.rounds)
    floor, peer = bench_dense((5000, 1000), arguments.rounds)
    print_verdict("time / better floor", floor, 1.2)
    print_verdict("times faster than prince", peer, 3.0, at_most=False)
    _, peer = bench_dense((1000, 200), 3 * arguments.rounds)
    print_verdict("times faster than prince", peer, 1.0, at_most=False)
    bench_flat(3000)
    if not arguments.skip_newsgroups:
        bench_newsgroups()
    print(f"\nload average at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
