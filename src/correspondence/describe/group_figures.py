"""What characterises groups of rows: the categories that are more frequent in them, the numbers that are larger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from correspondence.core.group_tests import (
    adjust_pvalues,
    compute_anova,
    compute_chi_square,
    compute_log_pvalues,
    compute_normal_pvalues,
    compute_vtests,
)
from correspondence.describe.tested_columns import TestedColumn
from correspondence.results.description_table import DescriptionTable
from correspondence.results.descriptions import GroupsDescription

__all__ = ["GroupedRows", "compare_groups"]

HELD_OUT_NAMES = ("n", "share", "mean", "statistic", "effect", "vtest", "pvalue")
CONSTANT_SHARE = 1e-13  # a standard deviation below this share of the largest number is the rounding error of 0


class GroupedRows(NamedTuple):
    """Groups of rows.

    Attributes
    ----------
    name : str
        What the groups are called.
    groups : list of str
        The name of each group.
    codes : ndarray of shape (n,)
        The group of each row.
    weights : ndarray of shape (n,)
        The weights of the rows.
    """

    name: str
    groups: Sequence[str]
    codes: np.ndarray
    weights: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """The total weight of each group."""
        return self.add_up(self.weights)

    def add_up(self, values: np.ndarray) -> np.ndarray:
        """Add up values of the rows in each group."""
        return np.bincount(self.codes, values, len(self.groups))

    def take_rows(self, rows: np.ndarray) -> GroupedRows:
        """Return the groups of some rows."""
        return self._replace(codes=self.codes[rows], weights=self.weights[rows])

    def count_categories(self, column: TestedColumn) -> np.ndarray:
        """Return the weight of each category in each group."""
        k, m = len(self.groups), len(column.categories)
        if column.codes is not None:
            there = column.codes >= 0
            cells = self.codes[there] * m + column.codes[there]
            return np.bincount(cells, self.weights[there], k * m).reshape(k, m)
        n = len(self.codes)
        membership = sp.csr_array((self.weights, (self.codes, np.arange(n))), shape=(k, n))
        return np.asarray((membership @ column.has).toarray())


def compare_groups(
    columns: Sequence[TestedColumn],
    grouping: GroupedRows,
    alpha: float,
    adjustment: str,
    held_out: tuple[Sequence[TestedColumn], GroupedRows] | None = None,
) -> GroupsDescription:
    """Test each column in each group.

    Parameters
    ----------
    columns : sequence of TestedColumn
        The columns of the rows.
    grouping : GroupedRows
        The groups of the rows.
    alpha, adjustment : float, str
        See `GroupsDescription`.
    held_out : (sequence of TestedColumn, GroupedRows), optional
        The same columns, with the same categories, and the same groups of other rows.
    """
    variables, categories, numbers = _tabulate(columns, grouping)
    if held_out is not None:
        others = _tabulate(*held_out)
        for own, other in zip((variables, categories, numbers), others, strict=True):
            own |= {f"held_out_{name}": other[name] for name in HELD_OUT_NAMES if name in own}
    tables = {"variables": variables, "categories": categories, "numbers": numbers}
    made = {name: _finish_table(part, adjustment) for name, part in tables.items()}
    n_held_out = 0.0 if held_out is None else float(held_out[1].sizes.sum())
    names = np.array(grouping.groups, dtype=object)
    return GroupsDescription(
        grouping.name, names, grouping.sizes, **made, alpha=alpha, adjustment=adjustment, n_held_out=n_held_out
    )


def _finish_table(part: dict[str, Any], adjustment: str) -> DescriptionTable:
    """Adjust the p-values of a table, sort it, and leave out categories that do not occur."""
    occurs, order = part.pop("occurs", np.ones(len(part["pvalue"]), dtype=bool)), part.pop("order")
    part["adjusted_pvalue"] = adjust_pvalues(np.where(occurs, part["pvalue"], np.nan), adjustment)
    listed = sorted(part, key=lambda name: name.startswith("held_out"))  # what held-out rows say comes last
    return DescriptionTable({name: np.asarray(part[name])[order[occurs[order]]] for name in listed})


def _tabulate(columns: Sequence[TestedColumn], grouping: GroupedRows) -> tuple[dict[str, Any], ...]:
    """Return the tables of variables, categories and numbers, not yet sorted."""
    answers = [column for column in columns if column.numbers is None]
    numbers = [column for column in columns if column.numbers is not None]
    counts = [grouping.count_categories(column) for column in answers]
    means = [compare_means(column.numbers, grouping) for column in numbers]  # type: ignore[arg-type]
    tests = {column.name: _test_counts(column, own) for column, own in zip(answers, counts, strict=True)}
    tests |= {column.name: own[1] for column, own in zip(numbers, means, strict=True)}
    names = ("n", "statistic", "dof", "effect", "pvalue")
    variables: dict[str, Any] = {"column": [c.name for c in columns], "kind": [c.kind.kind for c in columns]}
    variables |= {name: np.array([tests[column.name][name] for column in columns], dtype=float) for name in names}
    variables["order"] = np.lexsort((-np.nan_to_num(variables["effect"]), np.nan_to_num(variables["pvalue"], nan=2.0)))
    return (
        variables,
        _tabulate_categories(answers, counts, grouping),
        _tabulate_numbers(numbers, [own[0] for own in means], grouping),
    )


def _test_counts(column: TestedColumn, counts: np.ndarray) -> dict[str, float]:
    """Test answers by chi-square; words and items overlap, so that there is no such test of them together."""
    names = ("statistic", "dof", "pvalue", "effect")
    figures = compute_chi_square(counts) if column.codes is not None else (np.nan, 0, np.nan, np.nan)
    return {"n": float(counts.sum())} | dict(zip(names, figures, strict=True))


def compare_means(values: np.ndarray, grouping: GroupedRows) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Compare the means of a number in the groups, where it is known: figures of each group, and of the column."""
    known = np.isfinite(values) & (grouping.weights > 0)
    own, values = grouping.take_rows(np.flatnonzero(known)), values[known]
    unit = float(np.abs(values).max(initial=0)) or 1.0  # so that squares neither overflow nor vanish
    values = values / unit
    sizes, n = own.sizes, own.weights.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        overall = own.weights @ values / n
        means = own.add_up(own.weights * values) / sizes
        sds = np.sqrt(own.add_up(own.weights * (values - means[own.codes]) ** 2) / sizes)
        sd = np.sqrt(own.weights @ (values - overall) ** 2 / n)
        sd = sd if sd > CONSTANT_SHARE * np.abs(values).max(initial=0) else np.nan
        effects = (means - overall) / sd
        # The mean of so many values drawn at random without replacement has variance sd^2 / n_j (n - n_j) / (n - 1).
        vtests = effects * np.sqrt(sizes) * np.sqrt((n - 1) / (n - sizes))
        eta2 = np.clip(np.nansum(sizes * effects**2) / n, 0, 1) if sd == sd else np.nan
    there = int((np.bincount(own.codes, minlength=len(sizes)) > 0).sum())
    statistic, pvalue = compute_anova(np.array(eta2), there, len(values))
    of_groups = {"n": sizes, "mean": means * unit, "overall": np.full(len(sizes), overall * unit), "sd": sds * unit}
    of_groups |= {"overall_sd": np.full(len(sizes), sd * unit), "effect": effects, "vtest": vtests}
    of_groups["pvalue"] = compute_normal_pvalues(vtests)
    of_column = {
        "n": n,
        "statistic": float(statistic),
        "dof": there - 1,
        "effect": float(eta2),
        "pvalue": float(pvalue),
    }
    return of_groups, of_column


def _tabulate_categories(
    columns: Sequence[TestedColumn], counts: Sequence[np.ndarray], grouping: GroupedRows
) -> dict[str, Any]:
    """Test each category in each group; the arrays go through the groups first."""
    k, sizes, n = len(grouping.groups), grouping.sizes, grouping.sizes.sum()
    cells = np.hstack([np.empty((k, 0)), *counts])
    totals = cells.sum(axis=0)
    whole = [np.rint(part) for part in np.broadcast_arrays(cells, sizes[:, None], totals, n)]
    log_p = compute_log_pvalues(*whole)
    with np.errstate(divide="ignore", invalid="ignore"):
        share, overall, of_category = cells / sizes[:, None], totals / n, cells / totals
    vtests = compute_vtests(log_p, share > overall)
    owners = [column for column in columns for _ in column.categories]
    part = {"column": [column.name for column in owners], "kind": [column.kind.kind for column in owners]}
    part |= {"category": [category for column in columns for category in column.categories]}
    figures = {"n": cells, "share": share, "overall": overall, "share_of_category": of_category}
    figures |= {"effect": share - overall, "vtest": vtests, "pvalue": np.exp(log_p), "occurs": totals > 0}
    return _flatten_groups(grouping, part, figures)


def _tabulate_numbers(
    columns: Sequence[TestedColumn], figures: Sequence[dict[str, np.ndarray]], grouping: GroupedRows
) -> dict[str, Any]:
    """Put the figures of all numbers beside each other; the arrays go through the groups first."""
    part = {"column": [column.name for column in columns], "kind": [column.kind.kind for column in columns]}
    names = ("n", "mean", "overall", "sd", "overall_sd", "effect", "vtest", "pvalue")
    nothing = np.empty((len(grouping.groups), 0))
    stacked = {name: np.column_stack([nothing, *(own[name] for own in figures)]) for name in names}
    return _flatten_groups(grouping, part, stacked)


def _flatten_groups(
    grouping: GroupedRows, part: dict[str, list[str]], figures: dict[str, np.ndarray]
) -> dict[str, Any]:
    """Make columns of arrays with one row for each group, sorted by group and from large to small v-tests."""
    shape = figures["vtest"].shape
    made: dict[str, Any] = {"group": np.repeat(np.array(grouping.groups, dtype=object), shape[1])}
    made |= {name: np.tile(np.array(values, dtype=object), shape[0]) for name, values in part.items()}
    made |= {name: np.broadcast_to(values, shape).ravel() for name, values in figures.items()}
    position = np.repeat(np.arange(shape[0]), shape[1])
    made["order"] = np.lexsort((-np.nan_to_num(made["vtest"]), position))
    return made
