"""What constraints explain of a table, in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from correspondence._util.text import list_names
from correspondence.describe.sentences import spell_number

__all__ = ["write_constraint_sentences"]

MAX_PVALUE = 0.05
MAX_AXES_IN_WORDS, MAX_NAMED_CONSTRAINTS = 2, 3
MIN_NAMED_CORRELATION = 0.3


def write_constraint_sentences(ca: Any, tests: Sequence[Any] = (), held_out: Any = None) -> list[str]:
    """Say how much constraints explain of a table, whether it is more than chance, and with what the axes go.

    Parameters
    ----------
    ca : fitted CA
        The analysis, fitted with constraints.
    tests : sequence of Anova
        What its `anova` returned, of any kinds.
    held_out : HeldOut or CrossFit, optional
        What is known of held-out rows of the table.

    Returns
    -------
    list of str
        Sentences; the first says how much is explained.

    Examples
    --------
    >>> import correspondence as co
    >>> from correspondence.describe.constraints import write_constraint_sentences
    >>> table = [[9, 2, 1], [5, 5, 3], [2, 6, 4], [1, 3, 8]]
    >>> ca = co.CA().fit(table, constraints={"dose": [1.0, 2.0, 3.0, 4.0]})
    >>> write_constraint_sentences(ca)[1]
    'CCA1 (78.4 % of the inertia) goes with dose (1.00).'
    """
    by = {test.by: test for test in tests}
    sentences = [describe_explained(ca, by.get(None))]
    if not ca.constraint_terms_:
        return sentences
    sentences += describe_constrained_axes(ca, by.get("axis"))
    sentences += [describe_terms(by[kind], kind) for kind in ("margin", "term") if kind in by][:1]
    captured = None if held_out is None else held_out.evidence.captured
    if captured is not None:
        fitted = float(np.sum(ca.pics_))
        told = f"On held-out rows the axes capture {captured:.3g} of the dependence, in the fit {fitted:.3g}"
        sentences.append(f"{told}{': do not trust them for new rows' if captured <= 0 else ''}.")
    return sentences


def describe_explained(ca: Any, test: Any) -> str:
    """Say how much of the inertia is explained, and whether it is more than chance."""
    partition = ca.partition_
    given = 100 * partition.shares["conditioned"]
    if not ca.constraint_terms_:
        return f"What is given explains {given:.1f} % of the inertia; the axes are those of the rest."
    names = list_names(list(map(str, ca.constraint_terms_)), MAX_NAMED_CONSTRAINTS, separator=" and ")
    verb = "explains" if len(ca.constraint_terms_) == 1 else "explain"
    beyond = f", beyond the {given:.1f} % of what is given" if partition.ranks["conditioned"] else ""
    adjusted = ca.adjusted_r2_
    in_brackets = f" (adjusted {100 * adjusted:.1f} %)" if adjusted is not None and np.isfinite(adjusted) else ""
    share = 100 * partition.shares["constrained"]
    verdict = "" if test is None else f", {judge_pvalue(_find_pvalues(test)[0][1])}"
    return f"{names} {verb} {share:.1f} % of the inertia{in_brackets}{beyond}{verdict}."


def judge_pvalue(pvalue: float) -> str:
    """Say whether something is more than chance."""
    return f"{'more' if pvalue <= MAX_PVALUE else 'not clearly more'} than chance (p = {pvalue:.2g})"


def _find_pvalues(test: Any) -> list[tuple[str, float]]:
    """Find the terms of a test with their p-values; what is left has none."""
    columns = test._collect_columns()
    pairs = zip(map(str, columns["term"]), columns["pvalue"].tolist(), strict=True)
    return [(term, pvalue) for term, pvalue in pairs if np.isfinite(pvalue)]


def describe_constrained_axes(ca: Any, test: Any) -> list[str]:
    """Say which axes are more than chance, and with which constraints the first go."""
    n, sentences, holding = len(ca.pics_), [], len(ca.pics_)
    if test is not None:
        pvalues = [pvalue for _, pvalue in _find_pvalues(test)][:n]
        holding = next((i for i, p in enumerate(pvalues) if p > MAX_PVALUE), len(pvalues))
        number = spell_number(holding).capitalize()
        axes = "axis is" if holding == 1 else "axes are"
        sentences.append(f"{number} of {spell_number(n)} constrained {axes} more than chance, tested one after the other.")
    biplot = ca.scores("bp", scaling="none")
    for i in range(min(n, holding, MAX_AXES_IN_WORDS)):
        values = np.nan_to_num(biplot.values[:, i])
        order = [j for j in np.argsort(-np.abs(values), kind="stable") if abs(values[j]) >= MIN_NAMED_CORRELATION]
        told = [f"{biplot.labels[j]} ({values[j]:.2f})" for j in order[:MAX_NAMED_CONSTRAINTS]]
        share = 100 * ca.pics_[i] / ca.partition_.total
        if told:
            sentences.append(f"CCA{i + 1} ({share:.1f} % of the inertia) goes with {list_names(told, separator=' and ')}.")
    return sentences


def describe_terms(test: Any, kind: str) -> str:
    """Say which constraints explain more than chance beside the others, or after those before them."""
    pvalues = _find_pvalues(test)
    holding = [f"{term} (p = {pvalue:.2g})" for term, pvalue in pvalues if pvalue <= MAX_PVALUE]
    beside = "Beside all others" if kind == "margin" else "Added one after the other"
    if not holding:
        return f"{beside}, no constraint explains clearly more than chance."
    verb = "explains" if len(holding) == 1 else "explain"
    others = [term for term, pvalue in pvalues if pvalue > MAX_PVALUE]
    rest = f"; not so clearly {list_names(others, 5)}" if others else ""
    return f"{beside}, {list_names(holding, 5)} {verb} more than chance{rest}."
