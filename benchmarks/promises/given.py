"""Whether a test finds that nothing is left of x and y once z is known, and that something is."""

from __future__ import annotations

from functools import partial

from promises import calls, peers
from promises.designs import CAUSES, draw_given
from promises.ledger import Task, make_rng
from promises.verdicts import Bar, Promise, Results, judge_shares

NAME = "given"
LEVEL_BAR = Bar(0.03, 0.08)
STRENGTHS = {"nothing left": 0.0, "line": 0.2, "curve": 0.5}  # correlation of what is left of y with a function of x's
SIZES = (200, 1000)
METHODS = {
    "permutation_test CCA(1)": partial(calls.reject_given, "cca"),
    "permutation_test ACE(1)": partial(calls.reject_given, "ace"),
    "decompose": calls.reject_by_decompose_given,
    "partial correlation": peers.reject_by_partial_correlation,
    "covariance measure": peers.reject_by_covariance_measure,
}


def make_design(cause: str, left: str, n: int) -> str:
    return f"{cause}, n {n}, {left}"


def measure(reject, cause, left, n, seed):
    rng = make_rng(make_design(cause, left, n), seed)
    return {"found": reject(*draw_given(cause, left, STRENGTHS[left], n, rng), seed)}


def make_tasks() -> list[Task]:
    return [
        Task(
            NAME,
            make_design(cause, left, n),
            method,
            partial(measure, reject, cause, left, n),
            count_replications(method, left, n),
            quick=2 * (n == 200 and method != "decompose"),
        )
        for left in STRENGTHS
        for n in SIZES
        for cause in CAUSES
        for method, reject in METHODS.items()
        if n == 200 or (left == "nothing left" and method != "decompose")  # of 1,000 pairs all of it is found
    ]


def count_replications(method: str, left: str, n: int) -> int:
    """Draw more data sets where a level is promised than where power is shown; a race takes long."""
    if method == "decompose":
        return 40
    return (400 if n == 200 else 250) if left == "nothing left" else 100


def choose_bar(design: str, method: str, figure: str) -> Bar | None:
    return LEVEL_BAR if design.endswith("nothing left") and method.startswith("permutation_test") else None


def judge(results: Results):
    return judge_shares(results, choose_bar)


GIVEN = Promise(
    NAME,
    "How often a test at 5 % finds that something is left of x and y once z is known. Where nothing is left, because z "
    "is their common cause, it must be .03-.08. Where something is, a line or a curve (of which correlations see "
    "nothing), it is the power. Beside it stand the partial correlation, which takes z as it is, and the generalised "
    "covariance measure (Shah and Peters 2020) with regressions on splines of each column of z, both the product of "
    "what is left of x and of y.",
    make_tasks,
    judge,
)
