"""From one file to two workers, in one run: ``make bench`` or ``python benchmarks/scale.py`` (about ten minutes).

Pairs of Zipf-distributed labels are written to Parquet files, counted and analysed; floors are the same engine's bare
group-by and the bare products that ARPACK asks for. Every figure is a ratio of two runs on this machine, each in a
process of its own, so that its peak memory is its own too. At the end the rates are multiplied up to a cluster.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

import correspondence as co

ROWS, COLUMNS, CLASSES = 1_000_000, 50_000, 16
PART = 10_000_000  # pairs in a file
K = 10


# --- data


def zipf(rng, size, n):
    """Draw ranks from 0; rank r has a share in proportion to 1 / (r + 1)."""
    return np.minimum(np.exp(rng.random(size) * np.log(n + 1)).astype(np.int64) - 1, n - 1)


def draw(rng, size, rows=ROWS, columns=COLUMNS, x=None):
    """Draw pairs of labels: 30 to 80 % of the y are of the class of their x, in some classes more than in others."""
    x, y = zipf(rng, size, rows) if x is None else x, zipf(rng, size, columns)
    group = x * 7919 % CLASSES
    is_same = rng.random(size) < np.linspace(0.3, 0.8, CLASSES)[group]
    return x, np.where(is_same, np.minimum(y // CLASSES * CLASSES + group, columns - 1), y)


def labels(prefix, size, are_numbers):
    """Return the labels of one side, in no order."""
    numbers = np.random.default_rng(size).permutation(size)
    return pa.array(numbers if are_numbers else np.char.add(prefix, numbers.astype(str)))


def write_part(path, seed, n, are_numbers=False):
    """Write a Parquet file of n pairs of labels."""
    x, y = draw(np.random.default_rng(seed), n)
    columns = {
        "x": labels("user-", ROWS, are_numbers).take(pa.array(x)),
        "y": labels("page-", COLUMNS, are_numbers).take(pa.array(y)),
    }
    pq.write_table(pa.table(columns), path)
    return path


def write_pairs(folder, n, are_numbers):
    for part, start in enumerate(range(0, n, PART)):
        write_part(folder / f"pairs-{part:03d}.parquet", part, min(PART, n - start), are_numbers)


# --- what is measured, each in a process of its own


def bare_group_by(files):
    """Count the same cells by the engine itself, with the settings that `co.Pairs` gives it."""
    relation = co.Pairs(files, "x", "y").frame.to_native()
    cells = relation.query("pairs", "SELECT x, y, count(*) AS n FROM pairs GROUP BY ALL")
    return {"cells": sum(len(batch) for batch in cells.to_arrow_reader(1 << 20))}


def analysis(files):
    start = time.perf_counter()
    table = co.count_pairs(files, "x", "y")
    counted = time.perf_counter() - start
    ca = co.CA(n_components=K).fit(table)
    return {"counted": counted, "cells": table.counts.nnz, "correlations": ca.correlations_.round(4).tolist()}


def dask_count(files):
    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="6GB", dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        start = time.perf_counter()
        table = co.count_pairs(dd.read_parquet(files), "x", "y")
        return {"counted": time.perf_counter() - start, "cells": table.counts.nnz}


def cca(files):
    """Fit CCA to 32 and 32 columns in a file, by moments: two passes, in one process."""
    names = [[f"{side}{j}" for j in range(32)] for side in "xy"]
    return {"rows": int(co.CCA(n_components=8).fit(co.Pairs(files, *names)).decomposition_.n)}


def sparse_table(rows=1_000_000, columns=100_000, draws=66_000_000):
    """Draw a sparse table with about 50 million nonzero cells."""
    x = np.tile(np.arange(rows, dtype=np.int32), draws // rows)
    _, y = draw(np.random.default_rng(0), len(x), rows=rows, columns=columns, x=x)
    return sp.csr_array((np.ones(len(x)), (x, y.astype(np.int32))), shape=(rows, columns))


def product_seconds(table):
    """Measure the seconds of the bare products that ARPACK asks for, and count them."""
    P = table / table.sum()
    r, c = (np.asarray(P.sum(axis=axis)).ravel() for axis in (1, 0))
    row_root, column_root = np.sqrt(r), np.sqrt(c)
    S = sp.csr_array(sp.diags_array(1 / row_root) @ P @ sp.diags_array(1 / column_root))
    seconds = []

    def gram(v):
        along = column_root @ v
        start = time.perf_counter()
        product = S.T @ (S @ v)
        seconds.append(time.perf_counter() - start)
        return product - column_root * along  # S^T sqrt(r) is sqrt(c)

    values = eigsh(LinearOperator((len(c),) * 2, gram, dtype=np.float64), k=K, v0=np.ones(len(c)) + column_root)[0]
    return sum(seconds), len(seconds), np.sqrt(values[::-1])


def sparse_fit(_files):
    """Compare CA of a large sparse table with the bare products: the best of two runs each."""
    table = sparse_table()
    fits, products = [], []
    for _ in range(2):
        products.append(product_seconds(table))
        start = time.perf_counter()
        ca = co.CA(n_components=K).fit(table)
        fits.append(time.perf_counter() - start)
    floor, n, correlations = min(products, key=lambda run: run[0])
    difference = float(np.abs(ca.correlations_ - correlations).max())
    return {"cells": table.nnz, "fit": min(fits), "products": floor, "n": n, "difference": difference}


STEPS = {"bare": bare_group_by, "analysis": analysis, "dask": dask_count, "cca": cca, "sparse": sparse_fit}


def run_step(name, files):
    """Run a step in its own process and return its result, seconds (without imports) and peak memory in GB."""
    command = [sys.executable, __file__, "--step", name, *map(str, files)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def step(name, files):
    start = time.perf_counter()
    result = STEPS[name](files)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(json.dumps({"seconds": seconds, "peak": peak} | result))


# --- the ratios


def verdict(text, ratio, bar):
    print(f"  {text}: {ratio:.2f} (at most {bar}: {'ok' if ratio <= bar else 'MISSED'})", flush=True)


def load():
    return f"load {os.getloadavg()[0]:.1f}"


def best_of(rounds, files, *names):
    """Find the fastest run of each step; they take turns in every round, so that load hits all alike."""
    runs = [[run_step(name, files) for name in names] for _ in range(rounds)]
    return [min(of_step, key=lambda run: run["seconds"]) for of_step in zip(*runs, strict=True)]


def bench_pairs(files, n):
    print(f"\n(1) {n / 1e6:g} M pairs in {len(files)} Parquet files, up to {ROWS:,} x {COLUMNS:,} labels")
    bare, ours = best_of(2, files, "bare", "analysis")
    assert bare["cells"] == ours["cells"]
    print(
        f"  {ours['cells'] / 1e6:.1f} M cells; seconds: DuckDB's bare group-by {bare['seconds']:.1f}, "
        f"CA {ours['seconds']:.1f} (of which counting {ours['counted']:.1f}); {load()}"
    )
    print(f"  correlations: {' '.join(f'{r:.3f}' for r in ours['correlations'])}")
    verdict("CA with 10 components / bare group-by", ours["seconds"] / bare["seconds"], 1.5)
    verdict("peak memory in GB", ours["peak"], 4)
    return ours | {"bytes": sum(os.path.getsize(file) for file in files)}


def bench_growth(files, n, whole):
    print("\n(2) cost against the number of pairs")
    few = write_part(files[0].parent / "few.parquet", 999, PART // 10)
    sizes = [part for part in (1, 2, 5, 10) if part < len(files)]
    runs = {PART // 10: run_step("analysis", [few])}
    runs |= {part * PART: run_step("analysis", files[:part]) for part in sizes} | {n: whole}
    for size, run in runs.items():
        counted, rest = run["counted"], run["seconds"] - run["counted"]
        print(f"  {size / 1e6:6g} M pairs: {run['seconds']:6.1f} s, counting {counted:6.1f} s, axes {rest:6.1f} s")
    for what in ("seconds", "counted", "cells"):
        print(f"  slope of log({what}) against log(pairs): {growth(runs, what):.2f}")
    return {"growth": growth(runs, "cells")}


def growth(runs, what):
    return np.polyfit(np.log(list(runs)), np.log([run[what] for run in runs.values()]), 1)[0]


def bench_dask(files):
    print(f"\n(3) counting {PART * len(files) / 1e6:g} M pairs: Dask with 2 workers against DuckDB with 2 threads")
    theirs, ours = best_of(1, files, "dask", "analysis")
    assert theirs["cells"] == ours["cells"]
    print(f"  seconds: Dask {theirs['counted']:.1f}, DuckDB {ours['counted']:.1f}; {load()}")
    print(f"  Dask / DuckDB: {theirs['counted'] / ours['counted']:.1f}")


def bench_training(folder):
    print("\n(4) PICE: samples per second of the training loop")
    file = folder / "training.parquet"
    write_training(file)
    for size in (1024, 16_384):
        rates = {n: training_rate(file, folder / f"run-{size}-{n}", n, size) for n in (1, 2)}
        print(f"  batches of {size}: 1 process {rates[1]:,.0f}, 2 processes {rates[2]:,.0f}; {load()}")
        print(f"    2 processes / 1 process: {rates[2] / rates[1]:.2f}")
    cca = run_step("cca", [file])
    print(f"  CCA of the same {cca['rows']:,} rows by moments: {cca['rows'] / cca['seconds']:,.0f} rows a second")
    return {"moments": cca["rows"] / cca["seconds"]}


def write_training(file, n=200_000, width=32):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, width)).astype(np.float32)
    Y = np.tanh(X @ rng.normal(size=(width, width)) / 4) + 0.5 * rng.normal(size=(n, width))
    columns = {f"{side}{j}": pa.array(column) for side, Z in (("x", X), ("y", Y)) for j, column in enumerate(Z.T)}
    pq.write_table(pa.table(columns), file)


def training_rate(file, output, n_processes, batch_size):
    names = [",".join(f"{side}{j}" for j in range(32)) for side in "xy"]
    command = [sys.executable, "-m", "correspondence", "train", str(file), "--x", names[0], "--y", names[1]]
    command += ["--components", "8", "--batch-size", str(batch_size), "--steps", "100", "--overwrite"]
    command += ["--nproc", str(n_processes)]
    subprocess.run(
        [*command, "-o", str(output)], check=True, capture_output=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    return json.loads((output / "summary.json").read_text())["samples_per_second"]


def bench_sparse():
    run = run_step("sparse", [])
    print(f"\n(5) CA of a sparse table, 1,000,000 x 100,000, {run['cells'] / 1e6:.1f} M cells, {K} components")
    print(f"  seconds: ARPACK's {run['n']} bare products {run['products']:.1f}, CA {run['fit']:.1f}; {load()}")
    print(f"  largest difference of the correlations: {run['difference']:.1e}")
    verdict("CA / bare products", run["fit"] / run["products"], 1.3)
    return {"fit": run["fit"] / run["cells"]}


# --- a cluster, computed


PAIRS, NODES, CORES, NETWORK = 100e9, 50, 16, 1.25e9  # of each node: cores, and bytes a second
CELL = 12  # bytes of a cell in memory: a column and a count
MOVED = 24  # bytes of a cell on its way: two keys and a count


def reckon(n, measured):
    """Estimate what 100 billion such pairs would cost on a cluster: only the rates are measured."""
    cores, threads = NODES * CORES, 2
    cells = measured["cells"] * (PAIRS / n) ** measured["growth"]
    local = measured["cells"] * (PAIRS / NODES / n) ** measured["growth"]  # of the pairs of a node
    steps = {
        "read the files": PAIRS * measured["bytes"] / n / NODES / NETWORK,
        "count on each node": PAIRS / cores * (measured["counted"] * threads / n),
        "send cells to where they are added up": local * MOVED / NETWORK,
        "bring the cells to one machine": cells * MOVED / NETWORK,
        "axes there, with 16 cores": cells * measured["fit"] * threads / CORES,
    }
    print(f"\n{PAIRS / 1e9:g} billion pairs on {NODES} nodes of {CORES} cores and 10 Gbit/s: computed, not measured")
    print(f"  cells, if they go on growing with pairs to the {measured['growth']:.2f}: {cells / 1e9:.1f} billion")
    for step, seconds in steps.items():
        print(f"  {step:40} {seconds:8.0f} s")
    print(f"  {'together':40} {sum(steps.values()):8.0f} s, and {2 * CELL * cells / 1e9:.0f} GB on the one machine")
    passes = PAIRS / cores / measured["moments"]
    print(f"  CCA of 32 and 32 columns by moments instead: {passes:.0f} s, a few MB from each partition")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=float, default=200e6, help="pairs of (1) and (2)")
    parser.add_argument("--only", type=int, nargs="*", default=[1, 2, 3, 4, 5], help="which of the five")
    parser.add_argument("--numbers", action="store_true", help="labels are numbers instead of texts")
    parser.add_argument("--folder", type=Path, help="for the files, which are kept there; a temporary one by default")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        return step(options.step, options.files)
    with tempfile.TemporaryDirectory() as temporary:
        bench(options.folder or Path(temporary), int(options.pairs), options.only, options.numbers)


def bench(folder, n, only, are_numbers):
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(folder.glob("pairs-*.parquet"))
    if set(only) & {1, 2, 3} and len(files) != -(-n // PART):
        print(f"writing {n / 1e6:g} M pairs ...", flush=True)
        write_pairs(folder, n, are_numbers)
        files = sorted(folder.glob("pairs-*.parquet"))
    measured = bench_pairs(files, n) if {1, 2} & set(only) else {}
    if 2 in only:
        measured |= bench_growth(files, n, measured)
    if 3 in only:
        bench_dask(files[:2])
    if 4 in only:
        measured |= bench_training(folder)
    if 5 in only:
        measured |= bench_sparse()
    if {"growth", "moments", "fit"} <= set(measured):
        reckon(n, measured)


if __name__ == "__main__":
    main()
