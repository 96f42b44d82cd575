"""How often imputed answers are wrong, beside the most frequent answer, and how far off imputed counts are.

Answers are masked at random, filled in by ``MCA(missing="impute")``, and compared with the truth. Simulated surveys
have hidden classes of people whose answers are typical of their class with a given probability (0: no structure); real
ones are read from CORRESPONDENCE_DATA. Cells of tables of counts are masked too, and filled in by
``CA(missing="impute")``: the figures are mean squared errors of their roots, of which chance alone makes about 0.25.

    python benchmarks/imputing.py [--seeds 5] [--only NAME]
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import correspondence as co
from correspondence.estimators.ca.table_imputing import fill_cells

SHARES = (0.1, 0.3)
STRENGTHS = {"none": 0.0, "weak": 0.4, "strong": 0.8}


def simulate_survey(strength: float, seed: int, n: int = 300, k: int = 10, levels: int = 4, classes: int = 3):
    """Simulate answers of people of hidden classes, each with a typical answer to each question."""
    rng = np.random.default_rng(seed)
    popular = rng.dirichlet(np.full(levels, 2.0), k)
    typical = rng.integers(0, levels, (classes, k))[rng.integers(0, classes, n)]
    others = np.column_stack([rng.choice(levels, n, p=share) for share in popular])
    codes = np.where(rng.random((n, k)) < strength, typical, others)
    return pd.DataFrame({f"q{j}": [f"a{code}" for code in codes[:, j]] for j in range(k)})


def read_tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Read the real tables; numbers with many values, such as an age in years, are left out."""
    folder = Path(os.environ.get("CORRESPONDENCE_DATA", ".")) / "ca_tables"
    for name in ("tea", "poison", "wg93"):
        path = folder / f"{name}.csv"
        if path.exists():
            frame = pd.read_csv(path, index_col=0)
            yield name, frame[[key for key in frame if frame[key].nunique() <= 10]].astype(str)


def mask_answers(frame: pd.DataFrame, share: float, seed: int) -> pd.DataFrame:
    """Mask answers at random; every row keeps one."""
    rng = np.random.default_rng(seed)
    is_masked = rng.random(frame.shape) < share
    is_masked[np.arange(len(frame)), rng.integers(0, frame.shape[1], len(frame))] = False
    return frame.mask(is_masked)


def measure(frame: pd.DataFrame, share: float, seed: int) -> dict[str, float]:
    """Return the shares of wrong answers by the mode and by the imputation, the number of axes and the seconds."""
    gaps = mask_answers(frame, share, 1000 + seed)
    is_masked = gaps.isna().to_numpy()
    start = time.perf_counter()
    mca = co.MCA(missing="impute").fit(gaps)
    filled = mca.impute(gaps)
    seconds = time.perf_counter() - start
    guesses = {"mode": gaps.fillna(gaps.mode().iloc[0]), "impute": filled}
    wrong = {name: float((guess != frame).to_numpy()[is_masked].mean()) for name, guess in guesses.items()}
    return wrong | {"axes": mca.n_axes_imputed_, "seconds": seconds}


def read_counts() -> Iterator[tuple[str, np.ndarray]]:
    """Read the real tables of counts."""
    folder = Path(os.environ.get("CORRESPONDENCE_DATA", ".")) / "ca_tables"
    for name in ("housetasks", "author", "caith", "mortality", "JO"):
        path = folder / f"{name}.csv"
        if path.exists():
            yield name, pd.read_csv(path, index_col=0).select_dtypes("number").dropna().to_numpy(dtype=float)


def measure_counts(counts: np.ndarray, share: float, seed: int) -> dict[str, float]:
    """Return the errors of masked cells by independence and by the imputation, the number of axes and the seconds."""
    is_masked = np.random.default_rng(2000 + seed).random(counts.shape) < share
    is_masked.flat[np.random.default_rng(seed).integers(is_masked.size)] = True
    left = np.where(is_masked, 0, counts)
    is_masked &= (left.sum(axis=1) > 0)[:, None] & (left.sum(axis=0) > 0)
    gaps = np.where(is_masked, np.nan, counts)
    start = time.perf_counter()
    ca = co.CA(missing="impute").fit(gaps)
    seconds = time.perf_counter() - start
    expected = fill_cells(np.where(is_masked, np.nanmean(gaps), counts), is_masked, 0, 1e-9).counts
    guesses = {"independence": expected, "impute": ca.table_.counts}
    roots = {name: (np.sqrt(own) - np.sqrt(counts))[is_masked] for name, own in guesses.items()}
    errors = {name: float((own**2).mean()) for name, own in roots.items()}
    return errors | {"axes": ca.n_axes_imputed_, "seconds": seconds}


def print_runs(name: str, share: float, runs: list[dict[str, float]], digits: int) -> None:
    """Print the means over the seeds."""
    plain, ours, axes, seconds = (np.array([run[key] for run in runs]) for key in runs[0])
    error = (ours - plain).std(ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else np.nan
    figures = f"{plain.mean():>7.{digits}f}  {ours.mean():>7.{digits}f}  {(ours - plain).mean():>+7.{digits}f}"
    listed = ",".join(str(int(d)) for d in axes)
    print(f"{name:<16}  {share:>5.0%}  {figures} ({error:.{digits}f})   {listed}   {seconds.mean():.1f}", flush=True)


def main() -> None:
    """Print tables of all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore", co.LeftOut)
    seeds = range(options.seeds)
    cases = [(f"classes, {name}", None, strength) for name, strength in STRENGTHS.items()]
    cases += [(name, frame, 0.0) for name, frame in read_tables()]
    print("share of wrong answers\ntable            masked     mode   impute  difference (se)   axes   seconds")
    for name, frame, strength in cases:
        for share in SHARES if options.only in name else ():
            tables = [simulate_survey(strength, seed) if frame is None else frame for seed in seeds]
            print_runs(name, share, [measure(own, share, seed) for seed, own in enumerate(tables)], 3)
    print("error of counts\ntable            masked   indep.   impute  difference (se)   axes   seconds")
    for name, counts in read_counts():
        for share in SHARES if options.only in name else ():
            print_runs(name, share, [measure_counts(counts, share, seed) for seed in seeds], 2)


if __name__ == "__main__":
    main()
