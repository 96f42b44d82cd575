"""How often all components are found, and how often too many."""

from __future__ import annotations

from functools import partial

import correspondence as co
from promises import calls, peers
from promises.designs import draw_canonical
from promises.ledger import Task, make_rng
from promises.verdicts import Bar, Promise, Results, judge_shares

NAME = "components"
COLUMNS = 5
CASES = {
    ".8 .5 .15, n 1000": ((0.8, 0.5, 0.15), 1000, 0.80),
    ".8 .5 .2, n 500": ((0.8, 0.5, 0.2), 500, 0.70),
    ".6 .3, n 200": ((0.6, 0.3), 200, 0.80),
}


def draw(design, seed):
    correlations, n, _ = CASES[design]
    return draw_canonical(correlations, COLUMNS, n, make_rng(design, seed))


def count_by_latent_dimension(X, Y, seed):
    return calls.count_by_latent_dimension(co.CCA(n_components=COLUMNS), X, Y, seed)


def count_by_permutation_test(X, Y, seed):
    return calls.count_by_permutation_test(co.CCA(n_components=COLUMNS), X, Y, seed)


def count_by_bartlett(X, Y, seed):
    return peers.count_by_bartlett(X, Y)


METHODS = {
    "decompose": calls.count_by_decompose,
    "latent_dimension CCA(5)": count_by_latent_dimension,
    "permutation_test CCA(5)": count_by_permutation_test,
    "Bartlett": count_by_bartlett,
}


def measure(count, design, seed):
    found, exact = count(*draw(design, seed), seed), len(CASES[design][0])
    return {"all found": found >= exact, "too many": found > exact}


def make_tasks() -> list[Task]:
    return [
        Task(NAME, design, name, partial(measure, count, design), *((120, 0) if name == "decompose" else (200, 3)))
        for design in CASES
        for name, count in METHODS.items()
    ]


def choose_bar(design: str, method: str, figure: str) -> Bar | None:
    is_linear = method == "latent_dimension CCA(5)"
    if figure == "all found" and (is_linear or method == "decompose"):
        return Bar(CASES[design][2])
    return Bar(high=0.07) if figure == "too many" and is_linear else None


def judge(results: Results):
    return judge_shares(results, choose_bar)


COMPONENTS = Promise(
    NAME,
    "How often all canonical correlations of Gaussian X and Y (five columns each) are found, and how often more. "
    "Squares and products of Gaussian variables are shared as well, so `decompose`, which is not linear, rightly "
    "finds more than the canonical ones: for it only the first is judged.",
    make_tasks,
    judge,
)
