"""CPU seconds of decompose, beside those of the fit of the method that it takes."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from functools import cache, partial

import numpy as np

from correspondence.selection.method_registry import METHODS, PairsProfile, make_estimator
from correspondence.studies import problems
from correspondence.studies.problems import Problem
from correspondence.validation.fitting import fit_copy
from promises import calls, exact
from promises.ledger import Task, make_rng
from promises.verdicts import MET, MISSED, SHOWN, Line, Promise, Results

NAME = "speed"
SECONDS, FITS = 5.0, 4.0  # decompose may take so many seconds and so many times the fit of the winner
SHARE = 1 / 3  # of the total of the baseline
OF_STUDIES: dict[str, Callable[[], Problem]] = {  # those of benchmarks/auto.py
    "Gaussian, noise 1": problems.make_gaussian,
    "Gaussian, noise .5": partial(problems.make_gaussian, 0.5),
    "BSC, fair bits": problems.make_bsc,
    "BSC, p .1": partial(problems.make_bsc, p=0.1, d=5),
    "labels 30 x 20": problems.make_random_table,
    "single index": problems.make_single_index,
    "Gaussian vectors": problems.make_gaussian_vectors,
    "mixture": problems.make_mixture,
    "circular": problems.make_circular,
    "Gamma-Poisson": problems.make_gamma_poisson,
    "heavy tails": problems.make_heavy_tails,
    "unrelated": problems.make_unrelated,
}
MAKERS: dict[str, Callable[[], Problem]] = OF_STUDIES | {
    name: lambda name=name: exact.find_case(name).problem for name in exact.MAKERS
}
QUICK = "Gaussian .3, n 500"


def measure(name, seed):
    warm_up()
    problem = MAKERS[name]()
    X, Y = problem.draw(problem.n, make_rng(name, seed))
    start = time.process_time()
    d, _ = calls.decompose_quietly(X, Y, seed=seed)
    seconds = time.process_time() - start
    return {"seconds": seconds, "seconds of the winner's fit": time_winner(d, X, Y, seed)}


@cache
def warm_up() -> None:
    """Import what the first call would import."""
    if importlib.util.find_spec("torch"):
        importlib.import_module("correspondence.estimators.pice")
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    pairs = PairsProfile.from_data(x, x)
    for method in ("cca", "ace", "kernel", "forest"):
        fit_copy(make_estimator(method, pairs, 1), x, x + rng.normal(size=200))


def time_winner(d, X, Y, seed) -> float:
    """Measure the CPU seconds of one fit of the method taken, with the components kept; 0 if it is not known."""
    method = d.origin.split(":")[0].split()[0].strip(",")
    if method not in METHODS:
        return 0.0
    est = make_estimator(method, PairsProfile.from_data(X, Y), d.n_components, seed)
    start = time.process_time()
    fit_copy(est, X, Y)
    return time.process_time() - start


def make_tasks() -> list[Task]:
    return [Task(NAME, name, "decompose", partial(measure, name), 1, int(name == QUICK)) for name in MAKERS]


def judge(results: Results) -> list[Line]:
    lines = [line for design in results.designs for line in judge_problem(results, design)]
    return lines + judge_total(results)


def judge_problem(results: Results, design: str) -> list[Line]:
    figures = results.figures(design, "decompose")
    no_interval = (np.nan, np.nan)
    if not figures:
        return [results.line(design, "decompose", "seconds", np.nan, no_interval, 0, "no error", MISSED)]
    seconds, fit = (float(values.mean()) for values in figures.values())
    n, limit = len(figures["seconds"]), SECONDS + FITS * fit
    bar, verdict = f"<= {limit:.1f}", MET if seconds <= limit else MISSED
    return [
        results.line(design, "decompose", "CPU seconds", seconds, no_interval, n, bar, verdict),
        results.line(design, "decompose", "CPU seconds of the winner's fit", fit, no_interval, n, "", SHOWN),
    ]


def judge_total(results: Results) -> list[Line]:
    """Add up the problems that the baseline has as well."""
    before = results.baseline.get("seconds", {})
    now = {design: results.figures(design, "decompose").get("seconds") for design in results.designs}
    both = {design: float(values.mean()) for design, values in now.items() if values is not None and design in before}
    if not both:
        return []
    total, limit = sum(both.values()), SHARE * sum(before[design] for design in both)
    load = float(np.mean([results.load(design, "decompose") for design in both]))
    bar, verdict = f"<= {limit:.1f}", MET if total <= limit else MISSED
    no_interval = (np.nan, np.nan)
    figure = f"CPU seconds of {len(both)} problems"
    return [Line(NAME, "total", "decompose", figure, total, *no_interval, len(both), load, bar, verdict)]


def make_baseline(results: Results, note: str) -> dict:
    """Return the CPU seconds of this run, with which later ones are compared."""
    seconds = {
        design: round(float(figures["seconds"].mean()), 2)
        for design in results.designs
        if (figures := results.figures(design, "decompose"))
    }
    return {"note": note, "seconds": seconds}


SPEED = Promise(
    NAME,
    "CPU seconds of `decompose` on the problems of `benchmarks/auto.py` and on those of the errors: at most 5 s and"
    " four times the fit of the method that it takes, and in all at most a third of what it took before "
    "(`benchmarks/baseline.json`).",
    make_tasks,
    judge,
)
