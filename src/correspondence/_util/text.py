"""Texts for messages: short, on one line, without characters that a terminal would obey."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["list_names", "one_line", "short_repr", "to_valid_text"]


def one_line(text: Any, most: int = 40) -> str:
    """Return the text of anything on one line, cut to `most` characters."""
    shown = "".join(character if character.isprintable() else " " for character in str(text))
    shown = " ".join(shown.split()) or "''"
    return shown if len(shown) <= most else shown[: most - 1] + "…"


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
