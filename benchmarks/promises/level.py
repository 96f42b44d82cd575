"""How often a component is found that does not exist."""

from __future__ import annotations

from functools import partial

import numpy as np

from promises import calls, peers
from promises.designs import draw_classes, make_tested_estimator
from promises.ledger import Task, make_rng
from promises.verdicts import Bar, Promise, Results, judge_shares

NAME = "level"
INDEPENDENT = [
    ("normal", 60),
    ("normal", 1000),
    ("t2", 200),
    ("Cauchy", 200),
    ("Zipf labels", 60),
    ("Zipf labels", 200),
    ("Zipf labels", 1000),
    ("rare binary", 1000),
    ("rare binary, number", 200),
    ("mixed 3+2 columns", 200),
    ("20 columns", 200),
    ("zero-inflated", 200),
]
DEPENDENT = [
    ("normal", 200),
    ("t2", 1000),
    ("class labels", 200),
    ("class labels", 1000),
    ("mixed 3+2 columns", 200),
    ("20 columns", 1000),
    ("t2", 2000),
]
ANALYZED = [("normal", 60), ("Zipf labels", 200), ("mixed 3+2 columns", 200)]
COUNTED_BY_DECOMPOSE = [("normal", 200), ("class labels", 200), ("mixed 3+2 columns", 200)]
LABELS = ("Zipf labels", "rare binary")
ONE_COLUMN = ("normal", "t2", "Cauchy", "zero-inflated")
NUMBERS = (*ONE_COLUMN, "20 columns")
ENOUGH_FOUND = 0.9  # share of data sets in which the k components are found
OF_COMPONENTS = ("decompose", "analyze", "latent_dimension", "permutation_test")


def make_design(kind: str, n: int, k: int) -> str:
    return f"{kind}, n {n}, {k} component{'' if k == 1 else 's'}"


def draw(kind, n, k, seed):
    return draw_classes(kind, n, k, make_rng(make_design(kind, n, k), seed))


def compare_counts(found: int, k: int) -> dict[str, bool]:
    """Tell whether more than k components were found, and whether the k were: otherwise the next is not tested."""
    return {"too many": found > k} | ({"all found": found >= k} if k else {})


def measure_decompose(kind, n, k, seed):
    return compare_counts(calls.count_by_decompose(*draw(kind, n, k, seed), seed), k)


def measure_analyze(kind, n, k, seed):
    return compare_counts(calls.count_by_analyze(*draw(kind, n, k, seed), seed), k)


def measure_latent_dimension(kind, n, k, seed):
    est = make_tested_estimator(kind, k + 3)
    return compare_counts(calls.count_by_latent_dimension(est, *draw(kind, n, k, seed), seed), k)


def measure_permutation_test(kind, n, k, seed):
    est = make_tested_estimator(kind, k + 1)
    return compare_counts(calls.count_by_permutation_test(est, *draw(kind, n, k, seed), seed), k)


def measure_chi2(kind, n, k, seed):
    return calls.reject_by_chi2(*draw(kind, n, k, seed))


def measure_peer(reject, kind, n, k, seed):
    return {"rejected": reject(*draw(kind, n, k, seed))}


def make_tasks() -> list[Task]:
    tasks = [task for kind, n in INDEPENDENT for task in make_tasks_of_independence(kind, n)]
    tasks.append(_task("copied rows", 200, 0, "decompose", measure_decompose, 120))  # kept together by default
    for k in (1, 2):
        tasks += [task for kind, n in DEPENDENT for task in make_tasks_of_components(kind, n, k)]
    return tasks


def make_tasks_of_independence(kind: str, n: int) -> list[Task]:
    tasks = [_task(kind, n, 0, "decompose", measure_decompose, 120, quick=2 * (n == 60))]
    if (kind, n) in ANALYZED:
        tasks.append(_task(kind, n, 0, "analyze", measure_analyze, 40, quick=n == 60))
    tasks += make_tasks_of_tests(kind, n, 0)
    if kind in LABELS:
        tasks.append(_task(kind, n, 0, "chi2_test_", measure_chi2, 500, quick=20))
    if kind in NUMBERS:
        chosen = {"Pearson": peers.reject_by_pearson} if kind in ONE_COLUMN else {"Bartlett": reject_by_bartlett}
        if peers.is_installed("hyppo"):
            chosen |= {"dCor (hyppo)": peers.reject_by_dcor, "HSIC (hyppo)": peers.reject_by_hsic}
        tasks += [_task(kind, n, 0, name, partial(measure_peer, reject), 100, 2) for name, reject in chosen.items()]
    return tasks


def reject_by_bartlett(X, Y) -> bool:
    return peers.count_by_bartlett(X, Y) > 0


def make_tasks_of_components(kind: str, n: int, k: int) -> list[Task]:
    tasks = make_tasks_of_tests(kind, n, k)
    if (kind, n) in COUNTED_BY_DECOMPOSE:
        tasks.append(_task(kind, n, k, "decompose", measure_decompose, 80))
    return tasks


def make_tasks_of_tests(kind: str, n: int, k: int) -> list[Task]:
    return [
        _task(kind, n, k, "latent_dimension", measure_latent_dimension, 150, quick=2 * (n <= 200)),
        _task(kind, n, k, "permutation_test", measure_permutation_test, 300, quick=2 * (n <= 200)),
    ]


def _task(kind, n, k, method, measure, replications, quick=0) -> Task:
    return Task(NAME, make_design(kind, n, k), method, partial(measure, kind, n, k), replications, int(quick))


def choose_bar(results: Results, design: str, method: str, figure: str) -> Bar | None:
    """Where the k components are often missed, component k + 1 is seldom tested, and the level may be any lower."""
    if method in OF_COMPONENTS and figure == "too many":
        found = results.figures(design, method).get("all found", np.ones(1)).mean()
        return Bar(0.02, 0.07) if found >= ENOUGH_FOUND else Bar(high=0.07)
    return Bar(high=0.08) if figure == "chi2_test_.pvalue" else None


def judge(results: Results):
    return judge_shares(results, partial(choose_bar, results))


LEVEL = Promise(
    NAME,
    "How often a test at 5 % finds a component that is not there: the test of component k + 1 where X and Y have "
    "exactly k, because they are independent given a hidden class of k + 1. It must lie in .02-.07, or below where "
    "the k components are found in less than .90 of the data sets, so that the next is seldom tested; the "
    "chi-square test must not exceed .08. Peers and the classical chi-square test stand beside them.",
    make_tasks,
    judge,
)
