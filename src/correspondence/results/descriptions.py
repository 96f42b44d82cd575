"""What characterises groups of rows: tables of tests, and sentences with effect sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import read_only
from correspondence._util.summaries import WithSentences
from correspondence._util.text import one_line
from correspondence.data.readable_columns import is_bare_number
from correspondence.results.description_table import DescriptionTable, list_rows, name_category
from correspondence.results.effect_texts import format_category, format_count, format_number, format_share
from correspondence.results.points import FrameResult

__all__ = ["GroupsDescription"]

MAX_GROUPS_LISTED = 10
NAMELESS = "group"  # what labels without a name are called


@dataclass(frozen=True, eq=False, repr=False)
class GroupsDescription(WithSentences, FrameResult):
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

    _n_text_lines = None

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
        """Write what a group is called, and its size.

        Parameters
        ----------
        i : int
            The position of the group, from 0.

        Returns
        -------
        str
            The beginning of a sentence.
        """
        label = str(self.groups[i])
        # Labels without a name of their own, such as "cluster 1", say what they are, unless they are numbers.
        is_told = self.by == NAMELESS and not is_bare_number(label)
        name = one_line(label, 60) if is_told else format_category(self.by, "label", label)
        return f"{name} ({format_count(self.sizes[i])} of {format_count(self.n)} rows)"

    def write_predicate(self, i: int, most: int = 3) -> str:
        """Write what characterises a group, as part of a sentence.

        Parameters
        ----------
        i : int
            The position of the group, from 0.
        most : int
            Tell at most this many things.

        Returns
        -------
        str
            The end of a sentence.
        """
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
        """Find what is significant of a group, once for each column, the clearest first.

        Parameters
        ----------
        group : str
            The name of the group.

        Returns
        -------
        found : list of dict
            Rows of the tables, with their text.
        n_unconfirmed : int
            How many more are significant, but do not hold on the held-out rows.
        """
        found = list_rows(self.categories, "group", group, _tell_category)
        found += list_rows(self.numbers, "group", group, _tell_number)
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
        shown = self.write_sentences()[:MAX_GROUPS_LISTED]
        more = ["  ..."] if len(self.groups) > MAX_GROUPS_LISTED else []
        return "\n".join([head + held, *(f"  {line}" for line in shown), *more])


def _tell_category(one: Mapping[str, Any]) -> str:
    share, overall = format_share(one["share"], one["overall"])
    return f"{name_category(one)} {share} in this group, {overall} overall"


def _tell_number(one: Mapping[str, Any]) -> str:
    mean, overall = (format_number(one[name], one["kind"]) for name in ("mean", "overall"))
    return f"{one['column']} {mean} on average, {overall} overall"
