"""How long labels may be written: in one line, in several, or shortened."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

from correspondence._util.text import one_line

__all__ = ["list_wordings"]

MAX_SHORT_LETTERS = 16  # of labels that are written in one line in any case
MAX_WHOLE_LETTERS = 72
PART_SHARE = 0.7  # of a text that is an answer, or in brackets, at most, if it has a line of its own
MAX_GROUP_LETTERS = 22  # of a line of the name of a group, which has large letters
LINE_COST_POINTS, SHORTENED_COST_POINTS = 6.0, 1000.0  # how much farther off a label would rather be


def list_wordings(labels: Sequence[Any], are_groups: Sequence[bool]) -> list[list[tuple[str, float]]]:
    r"""List how each label may be written, the best first, with costs in points farther off.

    A label is broken into lines where there is no room for one, and shortened where there is no room for these, unless
    two labels would then be the same.

    Examples
    --------
    >>> list_wordings(["yes", "Adelie (Pygoscelis)"], [False, False])
    [[('yes', 0.0)], [('Adelie (Pygoscelis)', 0.0), ('Adelie\n(Pygoscelis)', 6.0), ('Adelie (Pygosce…', 1000.0)]]
    """
    short = Counter(shorten(label) for label in labels)
    return [
        _list_own_wordings(label, is_group, can_shorten=short[shorten(label)] == 1)
        for label, is_group in zip(labels, are_groups, strict=True)
    ]


def _list_own_wordings(label: Any, is_group: bool, can_shorten: bool) -> list[tuple[str, float]]:
    line, whole = one_line(label), one_line(label, MAX_WHOLE_LETTERS)
    if len(whole) <= MAX_SHORT_LETTERS:
        return [(whole, 0.0)]
    broken = [text for n in (2, 3) if (text := break_into_lines(whole, n))]
    prefers_lines = broken and (len(whole) > len(line) or (is_group and len(whole) > MAX_GROUP_LETTERS))
    texts = [*broken, line] if prefers_lines else [line, *broken]
    wordings = [(text, LINE_COST_POINTS * rank) for rank, text in enumerate(texts)]
    return [*wordings, (shorten(label), SHORTENED_COST_POINTS)] if can_shorten else wordings


def shorten(label: Any) -> str:
    """Return a label, or its beginning."""
    whole = one_line(label, MAX_WHOLE_LETTERS)
    return whole if len(whole) <= MAX_SHORT_LETTERS else whole[: MAX_SHORT_LETTERS - 1].rstrip() + "…"


def break_into_lines(text: str, n: int) -> str:
    """Break a text at spaces and hyphens into n lines, as short as possible; empty if it has too few words."""
    for width in range(len(text) // n, len(text)):
        lines = textwrap.wrap(text, max(1, width), break_long_words=False)
        if len(lines) <= n:
            break
    for mark, broken in ((": ", ":\n"), (" (", "\n(")):  # an answer, and what is in brackets, stay together
        before, _, after = text.partition(mark)
        if n == 2 and after and max(len(before), len(after)) < PART_SHARE * len(text):
            return before + broken + after
    return "\n".join(lines) if len(lines) == n else ""
