"""Is `decompose` ever much worse than the best single method? Captured of fresh pairs, auto beside every method.

    python benchmarks/auto.py            # all problems, about 15 minutes
    python benchmarks/auto.py --only gaussian
    python benchmarks/auto.py --only classes --movies movies.json    # from the npm package vega-datasets

The last column is auto divided by the best single method, chosen after the fact by the fresh pairs themselves.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import GroupShuffleSplit, train_test_split

import correspondence as co
from correspondence.selection.method_registry import PairsProfile, list_sensible_methods, make_estimator
from correspondence.studies import problems
from correspondence.validation.fitting import fit_copy

PROBLEMS = [
    problems.make_gaussian(),
    problems.make_gaussian(0.5),
    problems.make_bsc(),
    problems.make_bsc(p=0.1, d=5),
    problems.make_random_table(),
    problems.make_single_index(),
    problems.make_gaussian_vectors(),
    problems.make_mixture(),
    problems.make_circular(),
    problems.make_gamma_poisson(),
    problems.make_heavy_tails(),
    problems.make_unrelated(),
]


def draw_simulated(problem, seed=0):
    rng = np.random.default_rng(seed)
    return problem.draw(problem.n, rng), problem.draw(50_000, rng), problem.d, None


def split_wine(seed):
    data = co.datasets.fetch_wine()
    y = data.quality.astype(str).astype(object)
    train, test = next(GroupShuffleSplit(1, test_size=0.4, random_state=seed).split(data.X, y, data.groups))
    return (data.X[train], y[train]), (data.X[test], y[test]), 3, data.groups[train]


def load_classes(movies):
    """Tables with a column of classes: those that scikit-learn has, and movies with their genre."""
    for name, load in (("wine", load_wine), ("breast cancer", load_breast_cancer), ("digits", load_digits)):
        data = load()
        yield name, data.data, np.array([f"class {code}" for code in data.target])
    if movies:
        frame = pd.DataFrame(json.loads(Path(movies).read_text(encoding="utf-8"))).dropna(subset="Major Genre")
        labels = frame["Major Genre"].to_numpy(dtype=object)
        names = ["Title", "Release Date", "Director", "Distributor", "Major Genre"]
        yield "movies", fill_missing(frame.drop(columns=names)), labels


def fill_missing(frame):
    """Fill in the median, beside an indicator; a missing label, and labels of less than ten rows, are levels."""
    columns = {}
    for name, values in frame.items():
        is_number = pd.api.types.is_numeric_dtype(values)
        if is_number:
            columns[name] = values.fillna(values.median())
        else:
            labels = values.fillna("missing").astype(str)
            columns[name] = labels.where(labels.map(labels.value_counts()) >= 10, "other")
        if is_number and values.isna().any():
            columns[f"{name} is missing"] = np.where(values.isna(), "yes", "no")
    return pd.DataFrame(columns)


def split_classes(X, y, seed):
    train, test = train_test_split(np.arange(len(y)), test_size=1 / 3, random_state=seed)
    rows = (lambda part: X.iloc[part]) if hasattr(X, "iloc") else (lambda part: X[part])
    return (rows(train), y[train]), (rows(test), y[test]), min(3, len(set(y)) - 1), None


def measure_problem(name, training, fresh, d, groups):
    pairs = PairsProfile.from_data(*training)
    captured = {}
    for method in list_sensible_methods(pairs):
        captured[method] = (
            fit_copy(make_estimator(method, pairs, d), *training, groups).decomposition_.evaluate(*fresh).captured
        )
    start = time.perf_counter()
    auto = co.decompose(*training, d, groups=groups, verbose=False, progress=False)
    seconds = time.perf_counter() - start
    found = auto.evaluate(*fresh).captured
    best = max(captured, key=captured.get)
    singles = "  ".join(f"{method} {value:.3f}" for method, value in captured.items())
    ratio = f"{found / captured[best]:.3f}" if captured[best] > 0.02 else "nothing to find"
    chosen = auto.origin.split(":")[0]
    print(f"{name:34s} auto ({chosen}) {found:.3f} in {seconds:.0f} s | {singles} | auto / best: {ratio}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="problems whose name contains this")
    parser.add_argument("--movies", help="the file movies.json of vega-datasets")
    arguments = parser.parse_args()
    only = arguments.only.lower()
    warnings.simplefilter("ignore")
    print(f"load average {os.getloadavg()[0]:.1f}")
    for problem in PROBLEMS:
        if only in problem.name.lower():
            measure_problem(problem.name, *draw_simulated(problem))
    if only in "red wine":
        for seed in range(5):
            measure_problem(f"red wine, split {seed}", *split_wine(seed))
    for name, X, y in load_classes(arguments.movies):
        for seed in range(3) if only in f"classes of {name}" else ():
            measure_problem(f"classes of {name}, split {seed}", *split_classes(X, y, seed))


if __name__ == "__main__":
    main()
