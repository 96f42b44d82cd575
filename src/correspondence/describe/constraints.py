"""What constraints explain of a table, in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from correspondence.describe.sentences import spell_number

__all__ = ["measure_constraints", "write_constraint_sentences"]

MAX_PVALUE = 0.05
MAX_AXES_IN_WORDS, MAX_NAMED_CORRELATIONS = 2, 3
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
        Sentences; the first says how much is explained. Of the two p-values of a test the larger decides.

    Examples
    --------
    >>> import correspondence as co
    >>> from correspondence.describe.constraints import write_constraint_sentences
    >>> table = [[9, 2, 1], [5, 5, 3], [2, 6, 4], [1, 3, 8]]
    >>> ca = co.CA().fit(table, constraints={"dose": [1.0, 2.0, 3.0, 4.0]})
    >>> write_constraint_sentences(ca)[1]
    'CCA1 (82.0 % of the inertia) goes with dose (-1.00).'
    """
    by = {test.by: test for test in tests}
    sentences = [describe_explained(ca, by.get(None))]
    if not ca.constraint_terms_:
        return sentences
    sentences += describe_constrained_axes(ca, by.get("axis"))
    sentences += [describe_terms(by[kind], kind) for kind in ("margin", "term") if kind in by][:1]
    return list(dict.fromkeys(sentences)) + describe_held_out(ca, held_out)


NOTHING_TO_TEST_AGAINST = "The constraints explain all rows, so there is nothing left to test them against."


def describe_held_out(ca: Any, held_out: Any) -> list[str]:
    """Say how much of the inertia is captured on held-out rows, if that is known."""
    evidence = None if held_out is None else held_out.evidence
    if evidence is None or evidence.captured is None:
        return []
    n, captured = len(evidence.correlations), evidence.captured
    axes = "the axes capture" if n >= len(ca.pics_) else f"the first {spell_number(n)} axes capture"
    axes = "the first axis captures" if n == 1 else axes
    told = f"On held-out rows {axes} {captured:.3g} of the inertia, in the fit {float(np.sum(ca.pics_[:n])):.3g}"
    return [f"{told}{': do not trust them for new rows' if captured <= 0 else ''}."]


def describe_explained(ca: Any, test: Any) -> str:
    """Say how much of the inertia is explained, and whether it is more than chance."""
    partition = ca.partition_
    given, conditions = 100 * partition.shares["conditioned"], join_names(list(map(str, ca._explained.given.terms)))
    if not ca.constraint_terms_:
        return f"What is given ({conditions}) explains {given:.1f} % of the inertia; the axes are those of the rest."
    names = join_names(list(map(str, ca.constraint_terms_)))
    verb = "explains" if len(ca.constraint_terms_) == 1 else "explain"
    beyond = f", beyond the {given:.1f} % of what is given ({conditions})" if partition.ranks["conditioned"] else ""
    adjusted = ca.adjusted_r2_
    in_brackets = f" (adjusted {100 * adjusted:.1f} %)" if np.isfinite(adjusted) else ""
    share = 100 * partition.shares["constrained"]
    verdict = "".join(
        f", {judge_pvalue(pvalue)}" for _, pvalue in (_find_pvalues(test)[:1] if test is not None else [])
    )
    return f"{names} {verb} {share:.1f} % of the inertia{in_brackets}{beyond}{verdict}."


def judge_pvalue(pvalue: float) -> str:
    """Say whether something is more than chance."""
    return f"{'more' if pvalue <= MAX_PVALUE else 'not clearly more'} than chance (p = {pvalue:.2g})"


def _find_pvalues(test: Any) -> list[tuple[str, float]]:
    """Find the terms of a test with the larger of their two p-values; what is left has none."""
    larger = np.fmax(test.pvalues, test.site_pvalues).tolist()
    return [(str(term), p) for term, p in zip(test.terms, larger, strict=True) if np.isfinite(p)]


def describe_constrained_axes(ca: Any, test: Any) -> list[str]:
    """Say which axes are more than chance, and with which constraints the first go."""
    n, sentences, holding = len(ca.pics_), [], len(ca.pics_)
    if test is not None:
        pvalues = [pvalue for _, pvalue in _find_pvalues(test)][:n]
        if pvalues:
            holding = next((i for i, p in enumerate(pvalues) if p > MAX_PVALUE), len(pvalues))
        sentences.append(f"{count_axes(holding, n)} more than chance." if pvalues else NOTHING_TO_TEST_AGAINST)
    strengths = measure_constraints(ca)
    for i in range(min(n, holding, MAX_AXES_IN_WORDS)):
        order = sorted(strengths, key=lambda name: -abs(strengths[name][1][i]))
        strong = [name for name in order if abs(strengths[name][1][i]) >= MIN_NAMED_CORRELATION]
        told = [f"{name} ({strengths[name][1][i]:.2f})" for name in strong[:MAX_NAMED_CORRELATIONS]]
        share = 100 * ca.pics_[i] / ca.partition_.total
        if told:
            sentences.append(f"CCA{i + 1} ({share:.1f} % of the inertia) goes with {join_names(told)}.")
    return sentences


def count_axes(holding: int, n: int) -> str:
    """Say how many of the constrained axes hold, as the subject and verb of a sentence.

    Examples
    --------
    >>> count_axes(1, 4), count_axes(0, 1)
    ('One of four constrained axes is', 'The only constrained axis is not')
    """
    if n == 1:
        return f"The only constrained axis is{'' if holding else ' not'}"
    number = spell_number(holding).capitalize() if holding else "None"
    return f"{number} of {spell_number(n)} constrained axes {'is' if holding <= 1 else 'are'}"


def measure_constraints(ca: Any) -> dict[str, tuple[str, np.ndarray]]:
    """Measure how strongly each constraint goes with the constrained axes.

    Parameters
    ----------
    ca : fitted CA
        The analysis, fitted with constraints.

    Returns
    -------
    dict
        For each constraint "number" and its correlations with the linear combinations, or "category" or "curve" and
        its multiple correlations with them.
    """
    explained, found = ca._explained, {}
    design, root = explained.constraints, np.sqrt(explained.row_mass)[:, None]
    linear = root * ca.scores("lc", scaling="none").values[explained.rows][:, : len(ca.pics_)]  # of variance 1
    for t, (term, kind) in enumerate(zip(design.terms, design.kinds, strict=True)):
        is_own = (design.term_of_column == t) & ~explained.basis.is_constant[explained.n_given :]
        columns = design.matrix[:, is_own]
        centred = root * (columns - explained.row_mass @ columns / explained.row_mass.sum())
        fitted = centred @ np.linalg.lstsq(centred, linear, rcond=None)[0]
        values = np.sqrt((fitted**2).sum(axis=0))
        if kind == "number" and is_own.any():
            values *= np.sign(centred[:, 0] @ linear)
        found[str(term)] = kind, values
    return found


def join_names(names: Sequence[str], most: int = 5) -> str:
    """Join names as a sentence does.

    Examples
    --------
    >>> join_names(["A1", "Moisture", "Use"])
    'A1, Moisture and Use'
    """
    if not names:
        return ""
    shown = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def describe_terms(test: Any, kind: str) -> str:
    """Say which constraints explain more than chance after all others, or after those before them."""
    pvalues = _find_pvalues(test)
    if not pvalues:
        return NOTHING_TO_TEST_AGAINST
    holding = [f"{term} (p = {pvalue:.2g})" for term, pvalue in pvalues if pvalue <= MAX_PVALUE]
    beside = "After all others" if kind == "margin" else "Added one after the other"
    if not holding:
        return f"{beside}, no constraint explains clearly more than chance."
    verb = "explains" if len(holding) == 1 else "explain"
    others = [term for term, pvalue in pvalues if pvalue > MAX_PVALUE]
    rest = f"; for {join_names(others)} that is not clear" if others else ""
    return f"{beside}, {join_names(holding)} {verb} more than chance{rest}."
