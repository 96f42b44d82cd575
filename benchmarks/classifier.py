"""Beliefs of many inputs and classes, decomposed from a file, against the bare product P^T P: `make bench`.

The file is made first (4 GB for 1 M x 1000; ``--folder`` says where) and removed at the end. Each runner is a process
of its own, so that its peak memory, mapped pages of the file included, is its own. Interleaved; the best counts.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import correspondence as co

BLOCK = 1 << 14


def make_beliefs(path, n, k):
    """Write softmaxes of noise with a likely class each, as of a classifier of k classes: not all the same, never 0."""
    rng = np.random.default_rng(0)
    file = np.lib.format.open_memmap(path, "w+", np.float32, (n, k))
    for start in range(0, n, BLOCK):
        logits = rng.standard_normal((min(BLOCK, n - start), k), np.float32)
        logits[np.arange(len(logits)), rng.integers(k, size=len(logits))] += 8
        np.exp(logits, out=logits)
        file[start : start + BLOCK] = logits / logits.sum(axis=1, keepdims=True)
    file.flush()


def run_product(P):
    """Compute it all at once, as a user would write it: BLAS reads the mapped file."""
    return float((P.T @ P).sum())


def run_product_in_blocks(P):
    """Compute the same a block at a time, which takes little memory."""
    total = np.zeros((P.shape[1],) * 2)
    for start in range(0, len(P), BLOCK):
        block = np.array(P[start : start + BLOCK])
        total += block.T @ block
    return float(total.sum())


def run_ours(P):
    return float(co.ClassifierCA.from_beliefs(P).decomposition_.chi2)


def run_in_double(P):
    """Compute the inertia in double precision, by hand, to check ours."""
    mean, second = np.zeros(P.shape[1]), np.zeros((P.shape[1],) * 2)
    for start in range(0, len(P), BLOCK):
        block = np.array(P[start : start + BLOCK], dtype=np.float64)
        block /= block.sum(axis=1, keepdims=True)
        mean += block.sum(axis=0) / len(P)
        second += block.T @ block / len(P)
    return float(np.trace(second / mean) - 1)


RUNNERS = {"bare product": run_product, "bare product in blocks": run_product_in_blocks, "ClassifierCA": run_ours}
CHECK = {"in double": run_in_double}


def run_here(name, path):
    P = np.load(path, mmap_mode="r")
    start = time.perf_counter()
    value = (RUNNERS | CHECK)[name](P)
    seconds = time.perf_counter() - start
    status = Path("/proc/self/status").read_text()  # getrusage would count what the parent had
    peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
    print(json.dumps({"seconds": seconds, "peak": peak, "value": value}))


def run_apart(name, path):
    command = [sys.executable, __file__, "--runner", name, "--file", str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def print_report(n, k, rounds, folder):
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place, "beliefs.npy")
        make_beliefs(path, n, k)
        runs = {name: [] for name in RUNNERS}
        for _ in range(rounds):
            for name, results in runs.items():
                results.append(run_apart(name, path))
        exact = run_apart("in double", path)["value"]
    best = {name: min(r["seconds"] for r in results) for name, results in runs.items()}
    floor = min(best["bare product"], best["bare product in blocks"])
    print(f"{n:,} x {k} float32 beliefs ({4e-9 * n * k:.2f} GB), load average {os.getloadavg()[0]:.1f}")
    for name, results in runs.items():
        peak = max(r["peak"] for r in results)
        print(f"  {name:<24}{best[name]:8.2f} s   {floor / best[name]:5.2f} x the faster product   peak {peak:6.0f} MB")
    print(f"  chi2 {runs['ClassifierCA'][0]['value']:.6f}, in double precision {exact:.6f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="where the file of beliefs is made; the system's temporary folder by default")
    parser.add_argument("--runner", choices=[*RUNNERS, *CHECK], help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.runner:
        run_here(options.runner, options.file)
    else:
        print_report(options.n, options.classes, options.rounds, options.folder)
