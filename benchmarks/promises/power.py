"""How often weak dependence is found."""

from __future__ import annotations

from functools import partial

import correspondence as co
from promises import calls, peers
from promises.designs import WEAK
from promises.ledger import Task, make_rng
from promises.verdicts import Bar, Promise, Results, judge_shares

NAME = "power"
N = 500
QUICK = "correlation .15"  # the design of a quick run of decompose
BARS = dict(zip(WEAK, (0.70, 0.70, 0.50, 0.95), strict=True))


def draw(design, seed):
    return WEAK[design](N, make_rng(design, seed))


def reject_by_decompose(X, Y, seed):
    return calls.count_by_decompose(X, Y, seed) > 0


def reject_by_latent_dimension(X, Y, seed):
    return calls.count_by_latent_dimension(co.ACE(n_components=1), X, Y, seed) > 0


def reject_by_permutation_test(X, Y, seed):
    return calls.count_by_permutation_test(co.ACE(n_components=1), X, Y, seed) > 0


def reject_by_line(X, Y, seed):
    """Run Pearson's test for one column, and Bartlett's, which is nearly the F test, for several."""
    return peers.reject_by_pearson(X, Y) if X.ndim == 1 else peers.count_by_bartlett(X, Y) > 0


def reject_by_dcor(X, Y, seed):
    return peers.reject_by_dcor(X, Y)


def reject_by_hsic(X, Y, seed):
    return peers.reject_by_hsic(X, Y)


METHODS = {
    "decompose": reject_by_decompose,
    "latent_dimension ACE(1)": reject_by_latent_dimension,
    "permutation_test ACE(1)": reject_by_permutation_test,
    "Pearson or Bartlett": reject_by_line,
    "dCor (hyppo)": reject_by_dcor,
    "HSIC (hyppo)": reject_by_hsic,
}


def measure(reject, design, seed):
    return {"found": reject(*draw(design, seed), seed)}


def make_tasks() -> list[Task]:
    return [
        Task(
            NAME,
            design,
            name,
            partial(measure, reject, design),
            100,
            quick=int(name != "decompose" or design == QUICK),
        )
        for design in WEAK
        for name, reject in METHODS.items()
        if "hyppo" not in name or peers.is_installed("hyppo")
    ]


def judge(results: Results):
    return judge_shares(results, lambda design, method, _: Bar(BARS[design]) if method == "decompose" else None)


POWER = Promise(
    NAME,
    f"How often weak dependence is found at 5 % with n = {N} pairs: by `decompose` as a whole, which chooses among all "
    "functions, beside tests that are made for less.",
    make_tasks,
    judge,
)
