"""What a colleague would say: how strong the dependence is, what the axes mean, how far to trust both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from correspondence.core.decomposition import Decomposition, as_decomposition
from correspondence.data.counting import MIN_PAIRS
from correspondence.describe.axis_words import AxisWords, check_names
from correspondence.describe.candidates import has_beliefs
from correspondence.results.evidence import Evidence

__all__ = ["write_sentences"]

STRENGTH_WORDS = ((0.1, "very weakly"), (0.3, "weakly"), (0.5, "moderately"), (0.8, "strongly"))
MIN_WRITTEN_AS_ONE = 0.99995
MIN_CLOSE_CORRELATION = 0.995  # from here on, two functions are all but the same
NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
OVERFIT_GAPS = 0.05, 0.15  # training less held-out correlation: up to the first little, up to the second some


def write_sentences(
    d: Any, words: Sequence[AxisWords], held_out: Any = None, names: Sequence[str] = ("x", "y")
) -> list[str]:
    """Say how strong the dependence is, what the axes mean, and how far to trust it.

    Parameters
    ----------
    d : Decomposition or fitted estimator
        The sentences are about this decomposition.
    words : sequence of AxisWords
        What `find_axis_words` found; the words of the first two axes are used, if these hold on held-out pairs.
    held_out : HeldOut, CrossFit, LatentDimension or PermutationTest, optional
        What is known of held-out pairs.
    names : pair of str
        The two variables are called by these names.

    Returns
    -------
    list of str
        Three sentences; fewer if there are no words or no components.

    Examples
    --------
    >>> import correspondence as co
    >>> from correspondence.describe.axis_words import find_axis_words
    >>> ca = co.CA().fit(co.datasets.load_smoke())
    >>> for sentence in write_sentences(ca, find_axis_words(ca), names=("staff", "smoking")):
    ...     print(sentence)
    staff and smoking depend on each other weakly: the first pair of functions has a correlation of 0.27 on the
    training pairs.
    Axis 1 separates medium (JE) from none (SE); axis 2 separates light (JE) from heavy (JM, SM).
    No single component was judged on held-out pairs, so these are training figures and optimistic.
    """
    d, called = as_decomposition(d), check_names(names)
    if not d.n_components:
        return [f"Nothing was found that {called[0]} and {called[1]} have in common."]
    verdict = _Verdict.from_held_out(d, held_out)
    named = [w for w in words[: min(2, verdict.evidence.n_holding)] if any(w.describe_ends(called))]
    meaning = "; ".join(f"axis {w.axis} {w.write_predicate(called)}" for w in named)
    # A sentence that begins with the name of a column leaves it as it is: "age" is not "Age".
    return [verdict.describe_strength(called), *([f"A{meaning[1:]}."] if named else []), verdict.describe_trust()]


@dataclass(frozen=True, eq=False)
class _Verdict:
    """A decomposition, and what is known of it on held-out pairs."""

    d: Decomposition
    evidence: Evidence

    @classmethod
    def from_held_out(cls, d: Decomposition, held_out: Any) -> _Verdict:
        """Take the evidence of a result, or the training figures where it has none."""
        evidence = None if held_out is None else held_out.evidence
        if evidence is None or not len(evidence.correlations):
            return cls(d, Evidence(d.correlations, is_held_out=False))
        if evidence.is_held_out and not evidence.is_judged[0]:  # held-out figures that say nothing are left out
            evidence = replace(evidence, correlations=d.correlations, is_held_out=False)
        return cls(d, evidence)

    @property
    def of_beliefs(self) -> bool:
        """Whether the fit is what a classifier believes, without known pairs."""
        return has_beliefs(self.d.f) and self.evidence.training is None

    @property
    def has_few_pairs(self) -> bool:
        """Whether training figures are all that is known, and of too few pairs to say anything; not of shares."""
        is_training = not self.evidence.is_held_out and self.evidence.pvalues is None and not self.of_beliefs
        return is_training and 1 < self.d.n < MIN_PAIRS

    @property
    def is_unconfirmed(self) -> bool:
        """Whether a test on all pairs has found a dependence that is not seen on the held-out ones alone."""
        evidence = self.evidence
        if not evidence.is_held_out or evidence.pvalues is None or evidence.intervals is None:
            return False
        return bool(evidence.n_holding and evidence.intervals[0, 0] <= 0)

    def describe_strength(self, names: tuple[str, str]) -> str:
        """Say how strongly two variables depend on each other."""
        r = float(self.evidence.correlations[0])
        believed = "as the classifier believes" if self.of_beliefs else "on the training pairs"
        where = "on held-out pairs" if self.evidence.is_held_out else believed
        figure = f"the first pair of functions has a correlation of {self._format_first_correlation()} {where}"
        if r >= MIN_CLOSE_CORRELATION and self.evidence.n_holding and not self.has_few_pairs:
            figure += ", so that some function of each is all but known from the other"
        x, y = names
        if self.has_few_pairs:
            few = f"There are too few pairs ({self.d.n:g}) to say how strongly {x} and {y} depend on each other"
            return f"{few}: {figure}."
        if not self.evidence.n_holding:
            return f"It is not clear that {x} and {y} depend on each other: {figure}."
        if self.is_unconfirmed:
            return f"{x} and {y} depend on each other, but it is not clear how strongly: {figure}."
        how = next((word for limit, word in STRENGTH_WORDS if r < limit), "very strongly")
        return f"{x} and {y} depend on each other {how}: {figure}."

    def _format_first_correlation(self) -> str:
        """Format the correlation of the first component, with its interval."""
        if self.evidence.intervals is None or not self.evidence.is_held_out:
            return format_correlations(self.evidence.correlations[0])[0]
        r, low, high = format_correlations(self.evidence.correlations[0], *self.evidence.intervals[0])
        return f"{r} ({100 * self.evidence.level:g} % {low} to {high})"

    def describe_trust(self) -> str:
        """Say how many components hold on new pairs, and how much the training flatters them."""
        if self.evidence.pvalues is None and not self.evidence.is_held_out:
            if self.of_beliefs:
                return "Nothing was compared with true classes, so these figures are what the classifier believes."
            return "No single component was judged on held-out pairs, so these are training figures and optimistic."
        parts = [self._describe_components()]
        if (self.evidence.captured or 0) < 0:
            parts.append("taken together, the components predict new pairs worse than no dependence would")
        elif self.evidence.is_held_out and self.evidence.n_holding:
            parts.append(self._describe_beliefs() if self.of_beliefs else self._describe_overfit())
        elif not self.evidence.is_held_out:
            parts.append("the correlations are training figures and optimistic")
        return "; ".join(parts) + "."

    def _describe_components(self) -> str:
        k, n = self.evidence.n_holding, len(self.evidence.correlations)
        if self.evidence.pvalues is not None:
            p = self.evidence.pvalues[max(k, 1) - 1]
            holds, why = "more than chance", f"p = {p:.2g}" if k < 2 else f"p at most {p:.2g}"
        else:
            hint = "" if self.evidence.training is None else ", a hint rather than a test"  # of a crossfit
            holds, why = "above 0 on new pairs", f"{100 * self.evidence.level:g} % intervals{hint}"
        if k == 0:
            none = {1: "The only component is not", 2: "Neither of the two components is"}
            subject = none.get(n, f"None of the {spell_number(n)} components is")
            intervals = self.evidence.intervals
            if self.evidence.pvalues is None and intervals is not None and (intervals[:, 0] > 0).any():
                subject = "The first component is not"
            return f"{subject} {holds} ({why}): do not read the axes"
        if k < n:
            others = "the other" if n - k == 1 else "the others"
            first = "first" if k == 1 else f"first {spell_number(k)}"
            is_are = "is" if k == 1 else "are"
            return f"Only the {first} of {spell_number(n)} components {is_are} {holds} ({why}): do not read {others}"
        one = "The first component is" if self.evidence.may_be_more else "The only component is"
        subject = {1: one, 2: "Both components are"}.get(n, f"All {spell_number(n)} components are")
        return f"{subject} {holds} ({why})" + (", and there may be more" if self.evidence.may_be_more else "")

    def _describe_beliefs(self) -> str:
        gap = float(self.d.correlations[0] - self.evidence.correlations[0])
        says = f"the classifier believes in {format_correlations(self.d.correlations[0])[0]} for the first"
        if abs(gap) <= OVERFIT_GAPS[0]:
            return f"{says}, about what is found"
        return f"{says}, so it is rather too {'sure of itself' if gap > 0 else 'cautious'}"

    def _describe_overfit(self) -> str:
        gap = float(self.d.correlations[0] - self.evidence.correlations[0])
        says = f"training says {format_correlations(self.d.correlations[0])[0]} for the first"
        if self.is_unconfirmed:
            return f"{says}, and too few pairs are held out to confirm it"
        if gap <= OVERFIT_GAPS[0]:
            return f"{says}, so there is little overfitting"
        if gap <= OVERFIT_GAPS[1]:
            return f"{says}, so there is some overfitting"
        return f"{says}, so there is strong overfitting: trust the held-out figures only"


def format_correlations(*values: float) -> list[str]:
    """Format correlations with two digits, or with as many as distinguish them from 1."""
    digits = next((k for k in (2, 3) if all(f"{abs(v):.{k}f}" < "1" or abs(v) > MIN_WRITTEN_AS_ONE for v in values)), 4)
    texts = [f"{v:.{0 if abs(v) > MIN_WRITTEN_AS_ONE else digits}f}" for v in values]
    return [text.removeprefix("-") if float(text) == 0 else text for text in texts]


def spell_number(n: int) -> str:
    """Spell out a small number."""
    return NUMBER_WORDS[n] if n < len(NUMBER_WORDS) else str(n)
