"""What characterises groups, axes and numbers: tables of tests, and sentences with effect sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import read_only
from correspondence._util.text import one_line
from correspondence.results.effect_texts import format_category, format_count, format_number, format_share
from correspondence.results.points import FrameResult

__all__ = ["PARTS", "DescriptionTable", "GroupsDescription", "ScoresDescription"]

MAX_ROWS_SHOWN = 10
NAME_WIDTH = 24  # characters of a name in a printed table
PARTS = ("variables", "categories", "numbers")


@dataclass(frozen=True, eq=False, repr=False)
class DescriptionTable(FrameResult):
    """A table of tests, sorted; `to_frame` has its columns.

    Attributes
    ----------
    columns : dict of ndarray
        The columns by name. ``table["pvalue"]`` is one of them.

    Examples
    --------
    >>> import correspondence as co
    >>> found = co.describe_groups(co.datasets.load_poison(), "Sick")
    >>> found.variables["column"][:3].tolist()
    ['Time', 'Abdominals', 'Fever']
    """

    columns: Mapping[str, np.ndarray]

    def __post_init__(self) -> None:
        for values in self.columns.values():
            values.flags.writeable = False

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def take_rows(self, rows: np.ndarray) -> DescriptionTable:
        """Return some of the rows, given by positions or a mask.

        Parameters
        ----------
        rows : ndarray of int or bool
            The rows to keep.

        Returns
        -------
        DescriptionTable
            The same columns.
        """
        return DescriptionTable({name: values[rows] for name, values in self.columns.items()})

    def _collect_columns(self) -> dict[str, Any]:
        return dict(self.columns)

    def __repr__(self) -> str:
        shown = self.take_rows(np.arange(min(len(self), MAX_ROWS_SHOWN))).columns
        cells = [[name, *map(_format_cell, values.tolist())] for name, values in shown.items()]
        widths = [max(map(len, column)) for column in cells]
        lines = [
            "  ".join(f"{text:>{w}}" for text, w in zip(row, widths, strict=True)) for row in zip(*cells, strict=True)
        ]
        return "\n".join([f"{len(self)} rows", *lines, *(["..."] if len(self) > MAX_ROWS_SHOWN else [])])


def _format_cell(value: Any) -> str:
    return one_line(value, NAME_WIDTH) if isinstance(value, str) else f"{value:.4g}"


@dataclass(frozen=True, eq=False, repr=False)
class GroupsDescription(FrameResult):
    """What characterises each group: which categories are more frequent in it than elsewhere, and which numbers larger.

    `to_frame` has one row for each test of a group: group, kind ("category" or "number"), column, category, n, value
    (the share of the group in the category, or its mean), overall, effect, vtest, pvalue and adjusted_pvalue; with
    held-out rows also held_out_value, held_out_vtest and held_out_pvalue. The tables have more.

    Attributes
    ----------
    by : str
        What the groups are called.
    groups : ndarray of str
        The names of the groups.
    sizes : ndarray
        The number of rows of each group, or their total weight.
    variables : DescriptionTable
        Whether the groups differ in a column: column, kind, n, statistic (chi-square of answers, F of numbers), dof,
        effect (Cramér's V of answers, eta2 of numbers), pvalue and adjusted_pvalue, the smallest p-value first.
    categories : DescriptionTable
        For each group and category: group, column, category, n (rows of the group in the category), share (of the
        group), overall (share of all rows), share_of_category (how much of the category is in the group), vtest, pvalue
        (hypergeometric, mid-p) and adjusted_pvalue, by group, and in it from the most over-represented category to the
        most under-represented one.
    numbers : DescriptionTable
        For each group and number: group, column, kind, n, mean, overall, sd, overall_sd, effect (the difference of the
        means in overall standard deviations), vtest, pvalue and adjusted_pvalue, sorted like the categories. Dates are
        days since 1970, times and durations seconds.
    alpha : float
        Sentences tell what has an adjusted p-value of at most this.
    adjustment : {"fdr", "holm"}
        How p-values are adjusted for the number of tests in their table.
    n_held_out : float
        The number of held-out rows, 0 if there are none. With them the tables have also held_out_n, held_out_share,
        held_out_mean, held_out_effect, held_out_vtest and held_out_pvalue.

    Examples
    --------
    >>> import correspondence as co
    >>> co.describe_groups(co.datasets.load_poison(), "Sick", alpha=0.001)
    GroupsDescription of 2 groups by Sick, 55 rows, 14 columns
      Sick = no (17 of 55 rows): Abdominals = no 100 % in this group, 33 % overall; Fever = no 100 %, 36 % overall;
      Diarrhoea = no 100 %, 36 % overall; and 2 more.
      Sick = yes (38 of 55 rows): Abdominals = yes 97 % in this group, 67 % overall; Fever = yes 92 %, 64 % overall;
      Diarrhoea = yes 92 %, 64 % overall; and 2 more.
    """

    by: str
    groups: np.ndarray
    sizes: np.ndarray
    variables: DescriptionTable
    categories: DescriptionTable
    numbers: DescriptionTable
    alpha: float = 0.05
    adjustment: str = "fdr"
    n_held_out: float = 0.0

    def __post_init__(self) -> None:
        read_only(self, "groups", "sizes")

    @property
    def n(self) -> float:
        """The number of rows that have a group, or their total weight."""
        return float(self.sizes.sum())

    def write_sentences(self, most: int = 3) -> list[str]:
        """Write for each group what characterises it, the clearest first, with effect sizes.

        Each column occurs once in a sentence. With held-out rows, only what holds there too is told: on the same
        side, with a p-value of at most `alpha`.

        Parameters
        ----------
        most : int
            Tell at most this many things of each group.

        Returns
        -------
        list of str
            One sentence for each group.

        Examples
        --------
        >>> import correspondence as co
        >>> found = co.describe_groups(co.datasets.load_poison(), "Sick")
        >>> print(found.write_sentences(2)[1])
        Sick = yes (38 of 55 rows): Abdominals = yes 97 % in this group, 67 % overall; Fever = yes 92 %, 64 % overall;
        and 6 more.
        """
        return [f"{self.write_name(i)}: {self.write_predicate(i, most)}." for i in range(len(self.groups))]

    def write_name(self, i: int) -> str:
        """Write what a group is called, and its size."""
        name = format_category(self.by, "label", str(self.groups[i]))
        return f"{name} ({format_count(self.sizes[i])} of {format_count(self.n)} rows)"

    def write_predicate(self, i: int, most: int = 3) -> str:
        """Write what characterises group number i, as part of a sentence."""
        told, n_unconfirmed = self.find_characteristics(str(self.groups[i]))
        if not told:
            return "nothing tells it from the others" + (" on held-out rows" if n_unconfirmed else "")
        shown = [one["text"] for one in told[:most]]
        # "in this group" is said once: the others are read in the same way.
        shown = [shown[0], *(text.replace(" in this group", "") for text in shown[1:])]
        more = [f"and {len(told) - most} more"] if len(told) > most else []
        lost = [f"{n_unconfirmed} more did not hold on the held-out rows"] if n_unconfirmed else []
        return "; ".join([*shown, *more, *lost])

    def find_characteristics(self, group: str) -> tuple[list[dict[str, Any]], int]:
        """Find what is significant of a group, once for each column, the clearest first; count what does not hold."""
        found = _list_rows(self.categories, "group", group, _tell_category)
        found += _list_rows(self.numbers, "group", group, _tell_number)
        found = [one for one in found if one["adjusted_pvalue"] <= self.alpha]
        found.sort(key=lambda one: (-round(abs(one["vtest"]), 9), one["vtest"] < 0))
        first = {one["column"]: one for one in reversed(found)}
        told = [one for one in found if first[one["column"]] is one]
        holding = [one for one in told if not self.n_held_out or self._holds(one)]
        return holding, len(told) - len(holding)

    def _holds(self, one: Mapping[str, Any]) -> bool:
        return bool(one["held_out_vtest"] * one["vtest"] > 0 and one["held_out_pvalue"] <= self.alpha)

    def _collect_columns(self) -> dict[str, Any]:
        parts = {"category": (self.categories, "share", "overall"), "number": (self.numbers, "mean", "overall")}
        columns: dict[str, list[Any]] = {}
        for kind, (table, value, overall) in parts.items():
            m = len(table)
            own: dict[str, Any] = {"group": table["group"], "kind": [kind] * m, "column": table["column"]}
            own |= {"category": table["category"] if kind == "category" else [None] * m}
            own |= {"n": table["n"], "value": table[value], "overall": table[overall]}
            own |= {"effect": table["effect"], "vtest": table["vtest"]}
            own |= {"pvalue": table["pvalue"], "adjusted_pvalue": table["adjusted_pvalue"]}
            if self.n_held_out:
                own |= {"held_out_value": table[f"held_out_{value}"], "held_out_vtest": table["held_out_vtest"]}
                own |= {"held_out_pvalue": table["held_out_pvalue"]}
            for name, values in own.items():
                columns.setdefault(name, []).extend(values)
        return columns

    def __repr__(self) -> str:
        what = f"{len(self.groups)} groups by {self.by}, {format_count(self.n)} rows, {len(self.variables)} columns"
        head = f"GroupsDescription of {what}"
        held = f" ({format_count(self.n_held_out)} rows held out)" if self.n_held_out else ""
        shown = self.write_sentences()[:MAX_ROWS_SHOWN]
        more = ["  ..."] if len(self.groups) > MAX_ROWS_SHOWN else []
        return "\n".join([head + held, *(f"  {line}" for line in shown), *more])


@dataclass(frozen=True, eq=False, repr=False)
class ScoresDescription(FrameResult):
    """What goes with the axes of an analysis, or with a number: numbers, columns of answers, and categories.

    `to_frame` has one row for each test: axis, kind ("number", "variable" or "category"), column, category, n, value
    (the correlation, eta2, or the estimate), vtest, pvalue and adjusted_pvalue; with held-out rows also
    held_out_value, held_out_pvalue and held_out_adjusted_pvalue. The tables have more.

    Attributes
    ----------
    names : ndarray of str
        The numbers of the axes, from 1, or the name of the number.
    numbers : DescriptionTable
        axis, column, kind, active or side, n, correlation, pvalue and adjusted_pvalue, by axis, and from the largest
        correlation to the smallest. `active` is whether a column took part in the fit, `side` the variable it is of.
    variables : DescriptionTable
        axis, column, kind, active or side, n, eta2 (the share of the variance of the axis between the answers), F, dof,
        residual_dof, pvalue and adjusted_pvalue, by axis, the largest eta2 first.
    categories : DescriptionTable
        axis, column, kind, category, active or side, n, mean (of the axis over its rows), estimate (that minus the
        unweighted mean of the means of all answers of the column), correlation (of the axis with the indicator), vtest
        (by how many standard deviations its mean differs from that of as many rows drawn at random), pvalue and
        adjusted_pvalue, by axis, and from the largest v-test to the smallest.
    alpha : float
        Sentences tell what has an adjusted p-value of at most this.
    adjustment : {"fdr", "holm"}
        How p-values are adjusted for the number of tests in their table.
    n : float
        The number of rows.
    n_held_out : float
        The number of held-out rows, 0 if there are none. With them the tables have also held_out_n and the other
        figures, beginning with ``held_out_``.
    points : DescriptionTable or None
        Of a table, its rows and columns: axis, side ("row" or "column"), label, n, coordinate, contribution, vtest,
        pvalue and adjusted_pvalue, by axis and side, and from the largest coordinate to the smallest.

    Examples
    --------
    >>> import correspondence as co
    >>> co.describe_groups(co.datasets.load_poison(), "Time")         # hours until a person fell sick
    ScoresDescription of Time, 55 rows
      Time rises with Sick = yes (0.88), Abdominals = yes (0.86), Fever = yes (0.80) and 5 more; falls with
      Sick = no (-0.88), Abdominals = no (-0.86), Fever = no (-0.80) and 5 more.
    """

    names: np.ndarray
    numbers: DescriptionTable
    variables: DescriptionTable
    categories: DescriptionTable
    n: float
    alpha: float = 0.05
    adjustment: str = "fdr"
    n_held_out: float = 0.0
    points: DescriptionTable | None = None

    def __post_init__(self) -> None:
        read_only(self, "names")

    def write_sentences(self, most: int = 3) -> list[str]:
        """Write what goes with each axis, the clearest first, with effect sizes.

        In brackets are correlations; those of rows and columns of a table are their coordinates, and these are told if
        they contribute more than the average.

        Parameters
        ----------
        most : int
            Tell at most this many things of each side.

        Returns
        -------
        list of str
            One sentence for each axis.
        """
        return [f"{self.write_name(name)} {self.write_predicate(name, most)}." for name in self.names.tolist()]

    def write_name(self, name: Any) -> str:
        """Write what an axis, or a number, is called at the beginning of a sentence."""
        return name if isinstance(name, str) else f"Axis {name}"

    def write_predicate(self, name: Any, most: int = 3) -> str:
        """Write what goes with one of the axes, as part of a sentence."""
        found, n_unconfirmed = self.find_characteristics(name)
        found = [*self.list_points(name), *found]
        ends = []
        for verb, sign in (("rises", 1), ("falls", -1)):
            own = [one for one in found if one["correlation"] * sign > 0]
            if own:
                listed = ", ".join(f"{one['text']} ({one['correlation']:.2f})" for one in own[:most])
                ends.append(f"{verb} with {listed}" + (f" and {len(own) - most} more" if len(own) > most else ""))
        if not ends:
            return "goes with nothing" + (" on held-out rows" if n_unconfirmed else " clearly")
        lost = [f"{n_unconfirmed} more did not hold on the held-out rows"] if n_unconfirmed else []
        return "; ".join([*ends, *lost])

    def find_characteristics(self, name: Any) -> tuple[list[dict[str, Any]], int]:
        """Find the numbers and categories that go with an axis, the clearest first; count what does not hold."""
        found = _list_rows(self.categories, "axis", name, _name_category)
        found += _list_rows(self.numbers, "axis", name, lambda one: one["column"])
        told = [one for one in found if one["adjusted_pvalue"] <= self.alpha]
        told.sort(key=lambda one: -round(abs(one["correlation"]), 9))
        holding = [one for one in told if not self.n_held_out or self._holds(one)]
        return holding, len(told) - len(holding)

    def list_points(self, name: Any) -> list[dict[str, Any]]:
        """List the rows and columns of a table that contribute more than the average to an axis, and clearly."""
        if self.points is None:
            return []
        found = _list_rows(self.points, "axis", name, lambda one: one["label"])
        counts = Counter(one["label"] for one in found)
        found = [one | {"text": f"{one['side']} {one['label']}"} if counts[one["label"]] > 1 else one for one in found]
        average = {side: 1 / max(1, sum(one["side"] == side for one in found)) for side in ("row", "column")}
        told = [one for one in found if one["contribution"] >= average[one["side"]]]
        told.sort(key=lambda one: -round(one["contribution"], 9))
        return [one | {"correlation": one["coordinate"]} for one in told if one["adjusted_pvalue"] <= self.alpha]

    def _holds(self, one: Mapping[str, Any]) -> bool:
        # Those rows were in the fit of the whole, so what is significant there has more than its share of chance here.
        is_clear = one["held_out_adjusted_pvalue"] <= self.alpha
        return bool(is_clear and one["held_out_correlation"] * one["correlation"] > 0)

    def _collect_columns(self) -> dict[str, Any]:
        parts = {"number": (self.numbers, "correlation"), "variable": (self.variables, "eta2")}
        parts |= {"category": (self.categories, "estimate")}
        columns: dict[str, list[Any]] = {}
        for kind, (table, value) in parts.items():
            m = len(table)
            own: dict[str, Any] = {"axis": table["axis"], "kind": [kind] * m, "column": table["column"]}
            own |= {"category": table["category"] if kind == "category" else [None] * m}
            own |= {"n": table["n"], "value": table[value]}
            own |= {"vtest": table["vtest"] if kind == "category" else np.full(m, np.nan)}
            own |= {"pvalue": table["pvalue"], "adjusted_pvalue": table["adjusted_pvalue"]}
            if self.n_held_out:
                own |= {"held_out_value": table[f"held_out_{value}"], "held_out_pvalue": table["held_out_pvalue"]}
                own |= {"held_out_adjusted_pvalue": table["held_out_adjusted_pvalue"]}
            for name, values in own.items():
                columns.setdefault(name, []).extend(values)
        return columns

    def __repr__(self) -> str:
        names = self.names.tolist()
        called = names[0] if isinstance(names[0], str) else "1 axis" if len(names) == 1 else f"{len(names)} axes"
        held = f" ({format_count(self.n_held_out)} rows held out)" if self.n_held_out else ""
        head = f"ScoresDescription of {called}, {format_count(self.n)} rows{held}"
        return "\n".join([head, *(f"  {line}" for line in self.write_sentences())])


def _list_rows(table: DescriptionTable, by: str, name: Any, tell: Any) -> list[dict[str, Any]]:
    """List the rows of a group, or of an axis, as dictionaries with a text."""
    rows = table.take_rows(np.flatnonzero(table[by] == name)).columns
    listed = [dict(zip(rows, values, strict=True)) for values in zip(*(v.tolist() for v in rows.values()), strict=True)]
    return [one | {"text": tell(one)} for one in listed]


def _tell_category(one: Mapping[str, Any]) -> str:
    share, overall = format_share(one["share"], one["overall"])
    return f"{_name_category(one)} {share} in this group, {overall} overall"


def _name_category(one: Mapping[str, Any]) -> str:
    return format_category(one["column"], one["kind"], one["category"])


def _tell_number(one: Mapping[str, Any]) -> str:
    mean, overall = (format_number(one[name], one["kind"]) for name in ("mean", "overall"))
    return f"{one['column']} {mean} on average, {overall} overall"
