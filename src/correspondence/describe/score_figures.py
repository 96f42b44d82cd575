"""What goes with scores of rows, such as axes or a number: numbers, columns of answers and categories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from correspondence.core.group_tests import adjust_pvalues, compute_anova, compute_correlation_pvalues
from correspondence.describe.tested_columns import TestedColumn
from correspondence.results.description_table import PARTS, DescriptionTable
from correspondence.results.score_descriptions import ScoresDescription

__all__ = ["compare_scores", "count_rows", "tabulate_scores"]

MIN_DEVIATION = 1e-300
ROUNDING = 1e-12  # of a sum of weights, as a share
CONSTANT_SHARE = 1e-13  # a standard deviation below this share of the largest number is the rounding error of 0
EFFECTS = {"numbers": "correlation", "variables": "eta2", "categories": "vtest"}
HELD_OUT_NAMES = ("n", "correlation", "eta2", "mean", "estimate", "vtest", "pvalue")

ScoreTables = dict[str, dict[str, Any]]


def compare_scores(
    tables: ScoreTables,
    names: Sequence[Any],
    alpha: float,
    adjustment: str,
    held_out: ScoreTables | None,
    **more: Any,
) -> ScoresDescription:
    """Adjust p-values for their number, sort the tables, and put those of held-out rows beside."""
    made = {}
    for kind, part in tables.items():
        part = dict(part)
        part["adjusted_pvalue"] = adjust_pvalues(part["pvalue"], adjustment)
        if held_out is not None:
            part |= {f"held_out_{name}": held_out[kind][name] for name in HELD_OUT_NAMES if name in part}
            part["held_out_adjusted_pvalue"] = adjust_pvalues(held_out[kind]["pvalue"], adjustment)
        axis = part.pop("position")
        effect = np.nan_to_num(part[EFFECTS[kind]], nan=-np.inf)
        made[kind] = DescriptionTable(part).take_rows(np.lexsort((-effect, axis)))
    return ScoresDescription(np.array(names, dtype=object), **made, alpha=alpha, adjustment=adjustment, **more)  # type: ignore[arg-type]


def tabulate_scores(
    columns: Sequence[TestedColumn],
    scores: np.ndarray | Callable[[int], np.ndarray],
    names: Sequence[Any],
    weights: np.ndarray,
    roles: Mapping[str, Sequence[Any]] | None = None,
) -> ScoreTables:
    """Test each column with each score.

    Parameters
    ----------
    columns : sequence of TestedColumn
        The columns of the rows.
    scores : ndarray of shape (n, d), or callable
        The scores of the rows, or a function that returns those for a column, given by its position; rows at NaN are
        left out.
    names : sequence of str or int
        What the scores are called: a name, or the numbers of axes.
    weights : ndarray of shape (n,)
        The weights of the rows.
    roles : mapping, optional
        More columns of the tables, by name, with a value for each column: such as whether it took part in the fit.

    Returns
    -------
    dict of dict of ndarray
        The tables of numbers, variables and categories, whose rows are in the order of the scores and the columns.
    """
    extra = dict(roles or {})
    parts: dict[str, list[dict[str, Any]]] = {name: [] for name in PARTS}
    for i, column in enumerate(columns):
        own_scores = scores(i) if callable(scores) else scores
        known = np.flatnonzero(np.isfinite(own_scores).all(axis=1) & (weights > 0))
        own, rows = column.take_rows(known), (own_scores[known], weights[known])
        head = {"column": column.name, "kind": column.kind.kind} | {name: values[i] for name, values in extra.items()}
        if own.numbers is not None:
            parts["numbers"].append(head | correlate_number(own.numbers, *rows))
            continue
        variable, categories = compare_answers(own, *rows)
        parts["categories"] += [head | category for category in categories]
        if variable is not None:
            parts["variables"].append(head | variable)
    return {kind: _flatten_scores(kind, parts[kind], names, list(extra)) for kind in PARTS}


def correlate_number(values: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Correlate a number with each score, where it is known."""
    known = np.isfinite(values)
    values, scores, weights = values[known], scores[known], weights[known]
    n, r = count_rows(weights), np.full(scores.shape[1], np.nan)
    if len(values):
        values, scores = values / (np.abs(values).max() or 1.0), scores / find_units(scores)
        values, centred = (
            values - np.average(values, weights=weights),
            scores - np.average(scores, axis=0, weights=weights),
        )
        size = np.sqrt(weights @ values**2)
        scale = size * np.sqrt(weights @ centred**2)
        is_flat = size <= CONSTANT_SHARE * np.sqrt(weights.sum())  # the largest value was 1
        r = np.clip((weights * values) @ centred / np.where((scale > 0) & ~is_flat, scale, np.nan), -1, 1)
    return {"n": n, "correlation": r, "pvalue": compute_correlation_pvalues(r, n)}


def count_rows(weights: np.ndarray) -> float:
    """Count rows with weights: whole weights are repetitions; those that sum to 1 do not say how many rows there are.

    Examples
    --------
    >>> count_rows(np.array([2.0, 1.0, 1.0])), count_rows(np.full(3, 1 / 3))
    (4.0, 3.0)
    """
    total = float(weights.sum())
    if total <= 1 + ROUNDING:
        return float(np.count_nonzero(weights))
    return float(round(total)) if abs(total - round(total)) < ROUNDING * total else total


def find_units(scores: np.ndarray) -> np.ndarray:
    """Return the largest absolute value of each score, so that squares of the others neither overflow nor vanish."""
    largest = np.abs(scores).max(axis=0, initial=0)
    return np.where(largest > 0, largest, 1.0)


def compare_answers(
    column: TestedColumn, scores: np.ndarray, weights: np.ndarray
) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """Compare the mean scores of the categories: figures of the column, and of each category.

    Words and items overlap: there is no figure of the column then, and an estimate is compared with all rows.
    """
    if column.codes is not None and (column.codes < 0).any():  # no answer, or one that is not among the categories
        known = np.flatnonzero(column.codes >= 0)
        column, scores, weights = column.take_rows(known), scores[known], weights[known]
    has = column.get_indicators()
    n, total, units = count_rows(weights), weights.sum(), find_units(scores)
    scores = scores / units
    overall = weights @ scores / total
    centred = scores - overall
    variance = weights @ centred**2 / total
    sizes, rows = np.asarray(weights @ has), np.asarray(has.sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.asarray(has.T @ (weights[:, None] * centred)) / sizes[:, None]
        share = (sizes / total)[:, None]
        # The correlation of an indicator: cov(1_A, f) = p E[f | A], var(1_A) = p (1 - p), for f with mean 0.
        r = np.clip(means * np.sqrt(share / (1 - share)) / np.sqrt(variance), -1, 1)
        eta2 = np.clip(np.nansum(share * means**2, axis=0) / variance, 0, 1)
    # Coefficients that sum to 0: the mean of a category minus the unweighted mean of all means.
    there = sizes > 0
    middle = means[there].mean(axis=0) if column.codes is not None and there.any() else 0.0
    vtests = r * np.sqrt(max(n - 1, 0))
    pvalues = compute_correlation_pvalues(r, n)
    categories = [
        {"category": name, "n": sizes[j], "mean": (overall + means[j]) * units, "vtest": vtests[j]}
        | {"estimate": (means[j] - middle) * units, "correlation": r[j], "pvalue": pvalues[j]}
        for j, name in enumerate(column.categories)
    ]
    if column.codes is None:
        return None, categories
    k = int((rows > 0).sum())
    statistic, pvalue = compute_anova(eta2, k, n)
    dofs = {"dof": float(k - 1), "residual_dof": float(n - k)}
    return {"n": n, "eta2": eta2, "F": statistic, **dofs, "pvalue": pvalue}, categories


def _flatten_scores(kind: str, parts: list[dict[str, Any]], names: Sequence[Any], extra: list[str]) -> dict[str, Any]:
    """Make columns with one row for each score and part."""
    figures = {
        "numbers": ("n", "correlation", "pvalue"),
        "variables": ("n", "eta2", "F", "dof", "residual_dof", "pvalue"),
        "categories": ("n", "mean", "estimate", "correlation", "vtest", "pvalue"),
    }[kind]
    texts = ("column", "kind", *(("category",) if kind == "categories" else ()), *extra)
    d, m = len(names), len(parts)
    made: dict[str, Any] = {"axis": np.repeat(np.array(names, dtype=None if isinstance(names[0], int) else object), m)}
    for name in texts:
        made[name] = np.tile(np.array([part[name] for part in parts], dtype=bool if name == "active" else object), d)
    for name in figures:
        values = [np.broadcast_to(part[name], d) for part in parts]
        made[name] = np.array(values, dtype=float).reshape(m, d).T.ravel()
    return made | {"position": np.repeat(np.arange(d), m)}
