"""Texts for the terminal: safe to print, and errors in a sentence."""

from __future__ import annotations

from typing import Any

from correspondence._util.text import one_line

__all__ = ["explain_error", "make_safe"]


def make_safe(text: Any) -> str:
    """Text on one line without characters that a terminal would obey."""
    return one_line(text, 10_000)


def explain_error(error: BaseException) -> str:
    """What is wrong with data or files, in a sentence."""
    if isinstance(error, OSError) and error.strerror is not None:
        return make_safe(f"{error.filename} cannot be read: {error.strerror}.")
    if isinstance(error, MemoryError):
        return make_safe(
            f"There is not enough memory for this ({error})." if str(error) else "There is not enough memory."
        )
    return make_safe(error)
