"""What an axis separates, in words.

Each variable has candidates: labels, words of texts, columns of tables. A candidate has a place on each axis and a
weight, the share of the variance of f_i (or g_i) that it explains. Those that weigh most are named at the two ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from correspondence._util.arguments import check_whole
from correspondence._util.text import one_line
from correspondence.core.decomposition import as_decomposition
from correspondence.data.readable_columns import is_bare_number
from correspondence.describe.candidates import OPPOSITE_WORDS, Ends, Items, collect_items, find_candidates

__all__ = ["AxisWords", "find_axis_words"]

MAX_WORDS_SHOWN = 3  # of each variable, at each end, in a sentence
OPPOSITE_PHRASE = "the opposite"
LIST_PATTERN = r"[,;]|\b(and|from)\b"  # a text that has these looks like several ones


@dataclass(frozen=True)
class AxisWords:
    """What an axis separates.

    Attributes
    ----------
    axis : int
        The number of the axis, from 1.
    x, y : Ends or None
        The words of each variable; None for a variable that words say nothing about, such as images.
    """

    axis: int
    x: Ends | None
    y: Ends | None

    def complete_words(self, names: Sequence[str] = ("x", "y")) -> AxisWords:
        """Return the same with the names of the variables where they are missing: see `Ends.complete_words`."""
        x, y = check_names(names)
        return replace(self, x=self.x and self.x.complete_words(x), y=self.y and self.y.complete_words(y))

    def write_sentence(self, names: Sequence[str] = ("x", "y")) -> str:
        """Write what lies at the negative end, then at the positive one: words of y, and in brackets words of x.

        Parameters
        ----------
        names : pair of str
            The two variables are called by these names.

        Returns
        -------
        str
            A sentence with at most three words of each variable at each end.
        """
        return f"Axis {self.axis} {self.write_predicate(names)}."

    def write_predicate(self, names: Sequence[str]) -> str:
        """Write the same sentence without its subject and its full stop."""
        negative, positive = self.describe_ends(names)
        if not (negative or positive):
            return "has no words at its ends"
        return f"separates {negative or positive} from {positive if negative and positive else 'the rest'}"

    def describe_ends(self, names: Sequence[str]) -> tuple[str, str]:
        """Describe what lies at the two ends; empty where there are no words."""
        words, (x, y) = self.complete_words(names), check_names(names)
        in_brackets, outside = _list_phrases(words.x, x), _list_phrases(words.y, y)
        return _format_group(outside[0], in_brackets[0]), _format_group(outside[1], in_brackets[1])


def find_axis_words(
    d: Any,
    X: Any = None,
    Y: Any = None,
    *,
    x_items: Items | None = None,
    y_items: Items | None = None,
    n_words: int = 6,
    max_axes: int = 10,
) -> list[AxisWords]:
    """Find the words for the two ends of each axis.

    Labels are named by their contributions, words of texts and indicators by the mean of f_i over those that have
    them, columns of numbers by the correlation of their ranks with f_i, or of the distances of the ranks from the
    middle one ("very low or very high", "medium") if that is clearly stronger. Words and indicators are named only at
    an end where they are more frequent than elsewhere, not if they merely lie on that side; copies of a text count once
    for that. Words such as "of", and hashes, are not named.
    Labels and words that contribute less than the average are left out unless they are the strongest of their end, with
    a fifth of the average at least, and columns with a correlation below 0.1 unless they are the strongest of all, so
    that a clear axis has few words. What may be chance is left out too.

    Parameters
    ----------
    d : Decomposition or fitted estimator
        Words are found for the axes of this decomposition.
    X, Y : array-like, frame, sparse matrix, list of texts, optional
        The values of the two variables. They are not needed for labels, nor for Y where the decomposition keeps it.
        Columns of arrays are called by their number, from 0; about more than 50 such columns nothing is said.
    x_items, y_items : tuple of labels, places of shape (m, d) and prior of shape (m,), optional
        These items replace a variable, for example the tags of a `CrossModalIndex`.
    n_words : int
        Find at most this many words for each end.
    max_axes : int
        Describe at most this many axes.

    Returns
    -------
    list of AxisWords
        The words of each axis.

    Examples
    --------
    >>> import correspondence as co
    >>> from correspondence.describe.axis_words import find_axis_words
    >>> ca = co.CA().fit(co.datasets.load_housetasks())
    >>> words = find_axis_words(ca)[0]
    >>> words.write_sentence(("task", "who does it"))
    'Axis 1 separates Wife (Laundry, Main_meal) from Husband (Repairs, Driving).'
    >>> words.y.positive
    (Word(text='Husband', value=1.576, weight=0.542),)
    """
    d = as_decomposition(d)
    check_whole(n_words, "n_words", 1)
    k = min(d.n_components, check_whole(max_axes, "max_axes", 1))
    sides = [
        find_candidates(functions.truncate(k), values, name)
        if items is None
        else collect_items(items, k, f"{name.lower()}_items")
        for functions, values, items, name in ((d.f, X, x_items, "X"), (d.g, Y, y_items, "Y"))
    ]
    x, y = ([None if side is None else side.find_ends(i, n_words) for i in range(k)] for side in sides)
    return [AxisWords(i + 1, x[i], y[i]) for i in range(k)]


def check_names(names: Sequence[str]) -> tuple[str, str]:
    """Return what the two variables are called, each on one line."""
    if isinstance(names, str) or len(names) != 2:
        raise ValueError(f"names must be two texts, for x and y, got {names!r}.")
    return one_line(names[0]), one_line(names[1])


def _format_group(outside: list[str], in_brackets: list[str]) -> str:
    if not (outside and in_brackets) or outside == in_brackets == [OPPOSITE_PHRASE]:
        return _join_with_and(_quote_ambiguous_texts(outside or in_brackets, LIST_PATTERN))
    main = _join_with_and(_quote_ambiguous_texts(outside, LIST_PATTERN + "|[()]"))
    return f"{main} ({', '.join(_quote_ambiguous_texts(in_brackets, '[,;]'))})"


def _list_phrases(ends: Ends | None, name: str) -> tuple[list[str], list[str]]:
    """List the first words of each end; "the opposite" stands for words that are the opposite of the first end's."""
    if ends is None:
        return [], []
    negative, positive = ([word.text for word in end[:MAX_WORDS_SHOWN]] for end in ends.both_ends)
    is_opposite = len(negative) > 1 and [_find_opposite(text) for text in negative] == positive
    positive = [OPPOSITE_PHRASE] if is_opposite else _prefix_bare_numbers(positive, name)
    return _prefix_bare_numbers(negative, name), positive


def _find_opposite(text: str) -> str | None:
    for word, opposite in OPPOSITE_WORDS.items():
        if f"{text} ".startswith(f"{word} "):
            return opposite + text.removeprefix(word)
    return None


def _prefix_bare_numbers(texts: list[str], name: str) -> list[str]:
    """Write the name of the variable before bare numbers."""
    if texts and all(map(is_bare_number, texts)):
        return [f"{name} {texts[0]}", *texts[1:]]
    return texts


def _join_with_and(texts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def _quote_ambiguous_texts(texts: list[str], mistakable: str) -> list[str]:
    """Put texts in quotes that would be mistaken for several words or for the end of a bracket."""
    is_clear = [not re.search(mistakable, text) and text.count("(") == text.count(")") for text in texts]
    return [text if clear else '"' + text.replace('"', "'") + '"' for text, clear in zip(texts, is_clear, strict=True)]
