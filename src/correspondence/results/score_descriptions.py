"""What goes with the axes of an analysis, or with a number: tables of tests, and sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from correspondence._util.arguments import read_only
from correspondence._util.summaries import WithSentences
from correspondence.results.description_table import DescriptionTable, list_rows, name_category
from correspondence.results.effect_texts import format_count
from correspondence.results.points import FrameResult

__all__ = ["ScoresDescription"]


@dataclass(frozen=True, eq=False, repr=False)
class ScoresDescription(WithSentences, FrameResult):
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

    _n_text_lines = None

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
        """Write what an axis, or a number, is called at the beginning of a sentence.

        Parameters
        ----------
        name : int or str
            The number of the axis, or the name of the number.

        Returns
        -------
        str
            Such as "Axis 1".
        """
        return name if isinstance(name, str) else f"Axis {name}"

    def write_predicate(self, name: Any, most: int = 3) -> str:
        """Write what goes with an axis, as part of a sentence.

        Parameters
        ----------
        name : int or str
            The number of the axis, or the name of the number.
        most : int
            Tell at most this many things of each side.

        Returns
        -------
        str
            The end of a sentence.
        """
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
        """Find the numbers and categories that go with an axis, the clearest first.

        Parameters
        ----------
        name : int or str
            The number of the axis, or the name of the number.

        Returns
        -------
        found : list of dict
            Rows of the tables, with their text.
        n_unconfirmed : int
            How many more are significant, but do not hold on held-out rows.
        """
        found = list_rows(self.categories, "axis", name, name_category)
        found += list_rows(self.numbers, "axis", name, lambda one: one["column"])
        told = [one for one in found if one["adjusted_pvalue"] <= self.alpha]
        told.sort(key=lambda one: -round(abs(one["correlation"]), 9))
        holding = [one for one in told if not self.n_held_out or self._holds(one)]
        return holding, len(told) - len(holding)

    def list_points(self, name: Any) -> list[dict[str, Any]]:
        """List the rows and columns of a table that contribute more than the average to an axis, and clearly.

        Parameters
        ----------
        name : int
            The number of the axis.

        Returns
        -------
        list of dict
            Rows of `points`, with their text.
        """
        if self.points is None:
            return []
        found = list_rows(self.points, "axis", name, lambda one: one["label"])
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
