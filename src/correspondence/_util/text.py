"""Texts for messages: short, on one line, without characters that a terminal would obey."""

from __future__ import annotations

from typing import Any

__all__ = ["one_line", "short_repr"]


def one_line(text: Any, most: int = 40) -> str:
    """Text of anything on one line and of bounded length."""
    shown = "".join(character if character.isprintable() else " " for character in str(text))
    shown = " ".join(shown.split()) or "''"
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def short_repr(value: Any, most: int = 60) -> str:
    """How a value is shown in a message: as Python writes it, on one line and of bounded length."""
    try:
        return one_line(repr(value), most)
    except Exception:  # repr() may fail: huge integers, or user classes with a broken __repr__
        return f"a {type(value).__name__}"
