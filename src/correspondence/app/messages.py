"""Texts for the terminal: safe to print, errors in a sentence, warnings as notes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from correspondence._util.text import one_line
from correspondence._util.user_warnings import CorrespondenceWarning

__all__ = ["collect_warnings", "explain_error", "make_safe"]


def make_safe(text: Any) -> str:
    """Return the text on one line, without characters that a terminal would obey."""
    return one_line(text, 10_000)


def explain_error(error: BaseException) -> str:
    """Say in a sentence what is wrong with data or files."""
    if isinstance(error, OSError) and error.strerror is not None:
        return make_safe(f"{error.filename} cannot be read: {error.strerror}.")
    if isinstance(error, MemoryError):
        return make_safe(f"There is not enough memory{f' for this ({error})' if str(error) else ''}.")
    return make_safe(error)


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Collect the texts of this package's warnings, each once; those of others say nothing to users."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", CorrespondenceWarning)
        try:
            yield notes
        finally:
            notes += dict.fromkeys(str(warning.message) for warning in caught)
