"""How far the components found are from the exact ones: decompose beside every single method."""

from __future__ import annotations

from functools import partial

import numpy as np

from correspondence.selection.method_registry import PairsProfile, list_sensible_methods, make_estimator
from correspondence.validation.fitting import fit_copy
from promises import calls, peers
from promises.exact import MAKERS, Case, find_case
from promises.ledger import Task, make_rng
from promises.verdicts import MET, MISSED, SHOWN, Line, Promise, Results, show_number

NAME = "errors"
FRESH = 50_000  # pairs by which functions are judged
FACTOR, MARGIN, LEAST_CAPTURED = 1.15, 0.003, -0.02
GIVEN, OWN = "decompose, d given", "decompose, own number"
PEERS = {"cca-zoo CCA": "CCA", "cca-zoo KCCA": "KCCA"}
MOST_PAIRS_FOR_KERNEL_MATRIX = 1000  # of cca-zoo's KCCA
QUICK = "Gaussian .3, n 500"


def draw(name: str, seed: int):
    """Draw pairs for the fit and fresh pairs."""
    case, rng = find_case(name), make_rng(name, seed)
    return case.draw(case.problem.n, rng), case.draw(FRESH, rng)


def apply_functions(d, training, fresh):
    """Compute f and g on fresh pairs; a label that does not occur in the fit counts as average, as in cross-fitting."""
    return tuple(
        apply_to_known(function, seen, new) for function, seen, new in zip((d.f, d.g), training, fresh, strict=True)
    )


def apply_to_known(function, seen, new):
    if np.asarray(seen).dtype.kind not in "UO":
        return np.nan_to_num(function(new))
    known = np.isin(new, np.unique(seen))
    values = np.asarray(function(new[known]))
    full = np.zeros((len(new), values.shape[1]))
    full[known] = np.nan_to_num(values)
    return full


def correlate_columns(F, G) -> np.ndarray:
    F, G = (values - values.mean(axis=0) for values in (F, G))
    norms = np.sqrt((F**2).sum(axis=0) * (G**2).sum(axis=0))
    return np.divide((F * G).sum(axis=0), norms, out=np.zeros(F.shape[1]), where=norms > 0)


def measure_captured(F, G, correlations) -> float:
    """Compute 2 E[sum_i s_i f_i g_i] - sum_ij s_i s_j E[f_i f_j] E[g_i g_j] - 1, where f_0 = g_0 = s_0 = 1."""
    root = np.sqrt(np.concatenate([[1.0], correlations]))
    f, g = (np.column_stack([np.ones(len(values)), values]) * root for values in (F, G))
    return float(2 * np.mean((f * g).sum(axis=1)) - np.sum((f.T @ f) * (g.T @ g)) / len(f) ** 2 - 1)


def mean_error(found: np.ndarray, exact: np.ndarray) -> float:
    """Return the mean distance over the exact components; one that was not found counts as 0."""
    found = np.pad(found, (0, max(0, len(exact) - len(found))))[: len(exact)]
    return float(np.abs(found - exact).mean())


def judge_functions(d, training, fresh, exact: np.ndarray) -> dict[str, float]:
    F, G = apply_functions(d, training, fresh)
    return {
        "error": mean_error(correlate_columns(F, G), exact),
        "captured": measure_captured(F, G, d.correlations),
    }


def measure_single(name, method, seed):
    case = find_case(name)
    training, fresh = draw(name, seed)
    model = fit_copy(make_estimator(method, PairsProfile.from_data(*training), case.d, seed), *training)
    return judge_functions(model.decomposition_, training, fresh, case.problem.correlations[: case.d])


def measure_given(name, seed):
    case = find_case(name)
    training, fresh = draw(name, seed)
    d, _ = calls.decompose_quietly(*training, case.d, seed)
    return judge_functions(d, training, fresh, case.problem.correlations[: case.d])


def measure_own(name, seed):
    """Measure the errors of the components that are kept, as far as the exact ones are known."""
    case = find_case(name)
    training, fresh = draw(name, seed)
    d, _ = calls.decompose_quietly(*training, seed=seed)
    exact = case.problem.correlations[: d.n_components]
    return judge_functions(d, training, fresh, exact) | {"components kept": d.n_components}


def measure_peer(name, model, seed):
    case = find_case(name)
    training, fresh = draw(name, seed)
    transform = peers.fit_cca_zoo(model, *training, case.d)
    found = correlate_columns(*transform(*fresh))
    return {"error": mean_error(np.abs(found), case.problem.correlations[: case.d])}


def make_tasks() -> list[Task]:
    return [task for name in MAKERS for task in make_tasks_of_case(name)]


def make_tasks_of_case(name: str) -> list[Task]:
    case = find_case(name)
    X, Y = case.draw(case.problem.n, np.random.default_rng(0))
    measures = {GIVEN: partial(measure_given, name), OWN: partial(measure_own, name)}
    measures |= {
        method: partial(measure_single, name, method) for method in list_sensible_methods(PairsProfile.from_data(X, Y))
    }
    if all(np.asarray(values).dtype.kind in "if" for values in (X, Y)):
        measures |= {label: partial(measure_peer, name, peer) for label, peer in PEERS.items() if suits(peer, case)}
    return [Task(NAME, name, method, run, case.seeds, int(name == QUICK)) for method, run in measures.items()]


def suits(peer: str, case: Case) -> bool:
    if not peers.is_installed("cca-zoo"):
        return False
    return peer != "KCCA" or case.problem.n <= MOST_PAIRS_FOR_KERNEL_MATRIX


def judge(results: Results) -> list[Line]:
    return [line for design in results.designs for line in judge_design(results, design)]


def judge_design(results: Results, design: str) -> list[Line]:
    best = find_best_error(results, design)
    lines = []
    for method in results.methods(design):
        figures = results.figures(design, method)
        lines += [make_line(results, design, method, name, values, best) for name, values in figures.items()]
        if not figures:
            lines.append(results.line(design, method, "error", np.nan, (np.nan, np.nan), 0, "no error", MISSED))
    return lines


def find_best_error(results: Results, design: str) -> float:
    """Find the mean error of the best single method, chosen after the fact."""
    singles = [method for method in results.methods(design) if method not in (GIVEN, OWN, *PEERS)]
    errors = [results.figures(design, method).get("error", np.array([np.inf])).mean() for method in singles]
    return min(errors, default=np.inf)


def make_line(results: Results, design, method, figure, values, best) -> Line:
    """Make a line with the mean error, or with the least that decompose captures: never clearly negative."""
    value = float(values.min() if figure == "captured" and method in (GIVEN, OWN) else values.mean())
    bar, verdict = "", SHOWN
    if figure == "captured" and method in (GIVEN, OWN):
        figure, bar = "least captured", f">= {show_number(LEAST_CAPTURED)}"
        verdict = MET if value >= LEAST_CAPTURED else MISSED
    elif figure == "error" and method == GIVEN and np.isfinite(best):
        limit = FACTOR * best + MARGIN
        bar, verdict = f"<= {limit:.4f}".replace("0.", ".", 1), MET if value <= limit else MISSED
    return results.line(design, method, figure, value, (np.nan, np.nan), len(values), bar, verdict)


ERRORS = Promise(
    NAME,
    "Mean distance of the correlations on 50,000 fresh pairs from the exact ones, over the first d components; one "
    "that is missing counts as 0. `decompose` with the same d must be within 1.15 times the best single method, "
    "chosen after the fact, plus .003. What it captures must never be below -.02 on any data set, with d given or "
    "not (there errors are of the components that it keeps); of single methods the mean of captured is shown.",
    make_tasks,
    judge,
)
