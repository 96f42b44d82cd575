"""Words at the two ends of an axis."""

from __future__ import annotations

from dataclasses import dataclass, replace

from correspondence._util.text import one_line

__all__ = ["OPPOSITE_WORDS", "Ends", "Word"]

OPPOSITE_WORDS = {"high": "low", "low": "high", "extreme": "middling", "middling": "extreme"}


@dataclass(frozen=True)
class Word:
    """A word at one end of an axis.

    Attributes
    ----------
    text : str
        The word, on one line and of bounded length.
    value : float
        Where the word lies: the standard coordinate of a label, the mean of f_i over the texts that have a word, or the
        correlation of a column with f_i, negative for "low" and "middling" where "high" and "extreme" are positive.
    weight : float
        The share of the variance of f_i that the word explains, from 0 to 1.
    """

    text: str
    value: float
    weight: float


@dataclass(frozen=True)
class Ends:
    """Words of one variable at the two ends of an axis, the strongest first.

    Attributes
    ----------
    negative, positive : tuple of Word
        The words at the two ends.
    of_variable : bool
        Whether the words are about the variable itself, as "high" and "low" are if it is one nameless column of
        numbers: `complete_words` adds its name.
    """

    negative: tuple[Word, ...]
    positive: tuple[Word, ...]
    of_variable: bool = False

    def complete_words(self, name: str) -> Ends:
        """Return the same with the name of the variable where it is missing: "high" becomes "high price"."""
        if not self.of_variable:
            return self
        negative, positive = (
            tuple(replace(w, text=f"{w.text} {one_line(name)}") for w in end) for end in self.both_ends
        )
        return Ends(negative, positive)

    @property
    def both_ends(self) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """The words at the negative and at the positive end."""
        return self.negative, self.positive
