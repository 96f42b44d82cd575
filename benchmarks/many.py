"""Many columns in one analysis, in one run: ``python benchmarks/many.py`` (some ten minutes).

Rows with 30 answers each, of five to a question, are analysed by MCA; floors are the bare table of all pairs of
answers, as a product of the sparse indicators (after the same encoding of the frame) and as the engines' group-bys.
Every figure is a ratio of two runs on this machine, each in a process of its own, so that its peak memory is its own.
Ratios are given by the clock and by the seconds of the cores, which others who use the machine hardly change.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import argparse
import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

import correspondence as co
from correspondence.data.answers import list_answers, split_columns

COLUMNS, ANSWERS, K = 30, 5, 5
PART = 1_000_000  # rows in a file
KINDS = ("polars", "pandas", "categorical")


# --- data


def write_part(path, seed, n=PART):
    """Write n rows of answers, of which some depend on one of two hidden numbers."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(2, n)).astype(np.float32)
    answers = pa.array([f"answer {i}" for i in range(ANSWERS)])
    columns = {}
    for j in range(COLUMNS):
        strength = (j % 3) / 2
        value = strength * hidden[j % 2] + rng.standard_normal(n, dtype=np.float32)
        codes = np.digitize(value, [-1.5, -0.5, 0.5, 1.5]).astype(np.int8)
        columns[f"question {j}"] = pa.DictionaryArray.from_arrays(codes, answers)
    pq.write_table(pa.table(columns), path, store_schema=False)
    return path


def read_frame(files, kind, rows=None):
    """Read rows into memory, as a frame of polars or of pandas with texts or categories."""
    frame = pl.read_parquet([str(file) for file in files], n_rows=rows)
    if kind == "polars":
        return frame
    frame = frame.to_pandas()
    return frame.astype("category") if kind == "categorical" else frame


# --- what is measured, each in a process of its own


class Stopwatch:
    """Seconds on the clock, and of the cores: others who use the machine lengthen the first, hardly the second."""

    def __init__(self):
        self.start = time.perf_counter(), time.process_time()

    def read(self):
        return {"timed": time.perf_counter() - self.start[0], "cores": time.process_time() - self.start[1]}


def fit(files, kind):
    frame = read_frame(files, kind)
    watch = Stopwatch()
    mca = co.MCA(K).fit(frame)
    return watch.read() | {"inertias": mca.inertias_.tolist()}


def product(files, kind):
    """Multiply the sparse indicators with themselves, after the encoding that MCA uses too."""
    frame = read_frame(files, kind)
    watch = Stopwatch()
    codes = np.column_stack([list_answers(column, key).codes for key, column in split_columns(frame, "X").items()])
    n, k = codes.shape
    places = (codes + np.arange(k, dtype=np.int32) * ANSWERS).ravel()
    indicators = sp.csr_array((np.ones(n * k), places, np.arange(0, n * k + 1, k)), shape=(n, k * ANSWERS))
    total = (indicators.T @ indicators).toarray().sum()
    return watch.read() | {"total": total}


def polars_pairs(files, kind):
    """Count the answers of all pairs of columns by polars, 435 group-bys."""
    frame = read_frame(files, "polars").lazy()
    watch = Stopwatch()
    queries = [frame.group_by(pair).len() for pair in itertools.combinations(frame.collect_schema().names(), 2)]
    cells = sum(len(cells) for cells in pl.collect_all(queries))
    return watch.read() | {"cells": cells}


def fit_prince(files, kind):
    import prince

    frame = read_frame(files, "pandas", 100_000)
    watch = Stopwatch()
    prince.MCA(n_components=K).fit(frame)
    return watch.read()


def fit_same(files, kind):
    frame = read_frame(files, "pandas", 100_000)
    watch = Stopwatch()
    co.MCA(K).fit(frame)
    return watch.read()


def fit_files(files, kind):
    watch = Stopwatch()
    mca = co.MCA(K).fit(co.Pairs(files, *_names()))
    return watch.read() | {"rows": mca.decomposition_.n, "inertias": mca.inertias_.tolist()}


def read_columns(files, kind):
    """Read the columns by DuckDB, batch by batch, with the settings that `co.Pairs` gives it."""
    watch = Stopwatch()
    rows = sum(len(x) for x, _ in co.Pairs(files, *_names()))
    return watch.read() | {"rows": rows}


def group_columns(files, kind):
    """Count the answers of each single column by DuckDB: 30 bare group-bys."""
    relation = co.Pairs(files, *_names()).frame.to_native()
    watch = Stopwatch()
    sets = ", ".join(f'("question {j}")' for j in range(COLUMNS))
    found = relation.query("rows", f"SELECT count(*) FROM rows GROUP BY GROUPING SETS ({sets})").fetchall()
    return watch.read() | {"cells": len(found)}


def _names():
    names = [f"question {j}" for j in range(COLUMNS)]
    return names[:1], names[1:]


STEPS = (fit, product, polars_pairs, fit_prince, fit_same, fit_files, read_columns, group_columns)


def run_step(function, files, kind="polars"):
    """Run a step in its own process and return its result, its seconds and its peak memory in GB."""
    command = [sys.executable, __file__, "--step", function.__name__, "--kind", kind, *map(str, files)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def step(name, files, kind):
    result = next(function for function in STEPS if function.__name__ == name)(files, kind)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(json.dumps({"peak": peak} | result))


def best_of(rounds, files, kind, *functions):
    """Find the fastest run of each step; they take turns in every round, so that load hits all alike."""
    runs = [[run_step(function, files, kind) for function in functions] for _ in range(rounds)]
    return [min(of_step, key=lambda run: run["cores"]) for of_step in zip(*runs, strict=True)]


# --- the ratios


def show(run):
    return f"{run['timed']:.2f} ({run['cores']:.2f} of the cores)"


def compare(text, ours, floor, bar=None):
    """Print the ratios of two runs by both clocks; that of the cores counts, because the machine is not ours alone."""
    ratio = ours["cores"] / floor["cores"]
    end = "" if bar is None else f" (at most {bar}: {'ok' if ratio <= bar else 'MISSED'})"
    print(f"  {text}: {ratio:.2f} by the cores{end}, {ours['timed'] / floor['timed']:.2f} by the clock", flush=True)


def verdict(text, ratio, bar):
    print(f"  {text}: {ratio:.2f} (at most {bar}: {'ok' if ratio <= bar else 'MISSED'})", flush=True)


def load():
    return f"load {os.getloadavg()[0]:.1f}"


def bench_memory(files, rounds):
    print(f"\n(1) {PART:,} rows x {COLUMNS} columns with {ANSWERS} answers each, in memory")
    theirs = None
    for kind in KINDS:
        ours, floor = best_of(rounds, files[:1], kind, fit, product)
        theirs = theirs or best_of(rounds, files[:1], kind, polars_pairs)[0]
        print(f"  {kind}, seconds: MCA {show(ours)}, sparse product {show(floor)}; {load()}")
        compare("MCA / encoding and sparse product", ours, floor, 2)
        compare(f"MCA / group-bys of all pairs by polars, {show(theirs)} s", ours, theirs, 2)
        verdict("peak memory in GB, frame included", ours["peak"], 2)
    prince, same = best_of(rounds, files[:1], "pandas", fit_prince, fit_same)
    print(f"  100,000 of these rows, seconds: prince {show(prince)}, {prince['peak']:.2f} GB; ", end="")
    print(f"MCA {show(same)}, {same['peak']:.2f} GB; {load()}")
    compare("MCA / prince", same, prince, 1)


def bench_tea(rounds=15):
    import prince

    folder = os.environ.get("CORRESPONDENCE_DATA")
    if not folder:
        return print("\n(2) left out: CORRESPONDENCE_DATA must name the folder with ca_tables/tea.csv")
    tea = pd.read_csv(Path(folder) / "ca_tables/tea.csv", dtype=str, index_col=0).iloc[:, :18]
    print(
        f"\n(2) the tea survey, {tea.shape[0]} rows x {tea.shape[1]} columns, with the coordinates of rows and columns"
    )

    def run_ours():
        mca = co.MCA(K).fit(tea)
        return mca.rows_.principal, mca.columns_.principal

    def run_prince():
        mca = prince.MCA(n_components=K).fit(tea)
        return mca.row_coordinates(tea), mca.column_coordinates(tea)

    seconds = {run_ours: [], run_prince: []}
    for _ in range(rounds):
        for function, taken in seconds.items():
            watch = Stopwatch()
            function()
            taken.append(watch.read()["timed"])
    ours, theirs = (float(np.median(taken)) for taken in seconds.values())
    print(f"  median of {rounds} runs, ms: MCA {1e3 * ours:.1f}, prince {1e3 * theirs:.1f}; {load()}")
    verdict("MCA / prince", ours / theirs, 1)


def bench_files(files, rounds):
    print(f"\n(3) {len(files) * PART:,} rows x {COLUMNS} columns in {len(files)} Parquet files")
    ours, reading, group = best_of(rounds, files, "polars", fit_files, read_columns, group_columns)
    assert ours["rows"] == reading["rows"] == len(files) * PART
    print(f"  seconds: MCA {show(ours)}, DuckDB's reading of the columns {show(reading)}, ", end="")
    print(f"its group-bys of the single columns {show(group)}; {load()}")
    compare("MCA / reading", ours, reading)
    compare("MCA / group-bys of the single columns", ours, group)
    verdict("peak memory in GB", ours["peak"], 4)


def bench_growth(files, rounds):
    print("\n(4) cost against the number of rows")
    sizes = [size for size in (1, 2, 4) if size <= len(files)]
    for text, function in (("in memory", fit), ("in files", fit_files)):
        runs = [best_of(rounds, files[:size], "polars", function)[0] for size in sizes]
        shown = ", ".join(f"{size} M rows {show(run)}" for size, run in zip(sizes, runs, strict=True))
        slope = np.polyfit(np.log(sizes), np.log([run["cores"] for run in runs]), 1)[0]
        print(f"  {text}, seconds: {shown}; {load()}")
        verdict("slope of log(seconds of the cores) against log(rows)", slope, 1.1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=20e6, help="rows of (3), in files of a million")
    parser.add_argument("--rounds", type=int, default=2, help="runs of each step, of which the fastest counts")
    parser.add_argument("--only", type=int, nargs="*", default=[1, 2, 3, 4], help="which of the four")
    parser.add_argument("--folder", type=Path, help="for the files, which are kept there; a temporary one by default")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--kind", help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        return step(options.step, options.files, options.kind)
    with tempfile.TemporaryDirectory() as temporary:
        bench(options.folder or Path(temporary), max(1, int(options.rows) // PART), options.only, options.rounds)


def bench(folder, n_files, only, rounds):
    folder.mkdir(parents=True, exist_ok=True)
    wanted = n_files if 3 in only else 4 if 4 in only else 1
    files = [folder / f"survey-{part:03d}.parquet" for part in range(wanted)]
    for part, file in enumerate(files):
        if not file.exists():
            write_part(file, part)
    if 1 in only:
        bench_memory(files, rounds)
    if 2 in only:
        bench_tea()
    if 3 in only:
        bench_files(files[:n_files], rounds)
    if 4 in only:
        bench_growth(files, rounds)


if __name__ == "__main__":
    main()
