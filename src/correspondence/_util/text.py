"""Texts for messages: short, on one line, without characters that a terminal would obey."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["distinct_lines", "format_components", "list_names", "one_line", "short_repr", "to_valid_text"]

MAX_WHOLE_CHARACTERS = 1_000_000  # of a text that is not cut


def one_line(text: Any, most: int = 40) -> str:
    """Return the text of anything on one line, cut to `most` characters."""
    shown = "".join(character if character.isprintable() else " " for character in str(text))
    shown = " ".join(shown.split()) or "''"
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def distinct_lines(values: Iterable[Any]) -> list[str]:
    """Return each value on one line, cut as `one_line` does unless others would then read alike."""
    whole = [one_line(value, MAX_WHOLE_CHARACTERS) for value in values]
    times = Counter(one_line(text) for text in set(whole))
    return [one_line(text) if times[one_line(text)] == 1 else text for text in whole]


def to_valid_text(text: Any) -> str:
    """Return a text that UTF-8 can hold: bytes of the name of a file that are not text become question marks."""
    return str(text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def short_repr(value: Any, most: int = 60) -> str:
    """Return the value as Python writes it, on one line, cut to `most` characters."""
    try:
        return one_line(repr(value), most)
    except Exception:  # repr() may fail: huge integers, or user classes with a broken __repr__
        return f"a {type(value).__name__}"


def show_name(name: Any) -> str:
    """Return the name itself, cut to 40 characters; a name that cannot be seen is quoted as in Python."""
    text = str(name)
    text = text if text.strip() and text.isprintable() else repr(text)
    return text if len(text) <= 40 else text[:39] + "…"


def list_names(
    names: Iterable[Any], most: int = 10, separator: str = ", ", show: Callable[[Any], str] = show_name
) -> str:
    """Join the first names for a sentence, and say how many more there are.

    Parameters
    ----------
    names : iterable
        The names or labels to list.
    most : int
        List at most this many.
    separator : str
        Put this text between them.
    show : callable
        Turn each name into its text by this function.

    Returns
    -------
    str
        "none" if there are no names.
    """
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return separator.join(map(show, names[:most])) + more or "none"


def format_components(figures: Mapping[str, Any], n_components: int, most: int = 8) -> list[str]:
    """Lay out figures of components in lines, one for each kind of figure; there are none without components.

    Parameters
    ----------
    figures : dict of array-like
        The figures by their names. Those whose names begin with % are shares.
    n_components : int
        The number of components.
    most : int
        Show the first ones, at most so many.

    Examples
    --------
    >>> for line in format_components({"PIC": [0.5, 0.25], "% of inertia": [2 / 3, 1 / 3]}, 2):
    ...     print(line)
      component           1        2
      PIC            0.5000   0.2500
      % of inertia     66.7     33.3
    """
    shown = min(n_components, most)
    if not shown:
        return []
    rows = {"component": [str(i + 1) for i in range(shown)]} | {
        name: [f"{100 * value:.1f}" if name.startswith("%") else f"{value:.4f}" for value in values[:shown]]
        for name, values in figures.items()
    }
    more = " ..." if shown < n_components else ""
    width = max(11, *map(len, rows))
    return [f"  {name:<{width}}" + "".join(f"{value:>9}" for value in values) + more for name, values in rows.items()]
