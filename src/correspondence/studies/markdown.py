"""Pieces of a report in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["make_section", "make_table", "show_picture"]

NUMBER_PATTERN = re.compile(r"[-+]?\.?[0-9]")


def make_section(title: str, *parts: str) -> str:
    """Join a heading and the paragraphs and tables below it."""
    return "\n\n".join([f"## {title}", *parts])


def show_picture(text: str, file: str, caption: str) -> str:
    """Return a picture with its caption below."""
    return f"![{text}]({file})\n\n{caption}"


def make_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table: numbers with four decimals and on the right, None as an empty cell.

    Examples
    --------
    >>> print(make_table(["method", "correlation"], [["CA", 0.5], ["CCA", None]]))
    | method | correlation |
    | --- | ---: |
    | CA | 0.5000 |
    | CCA |  |
    """
    rows = [list(row) for row in rows]
    marks = ["---" if any(_is_text(row[i]) for row in rows) else "---:" for i in range(len(header))]
    lines = [header, marks, *rows]
    return "\n".join("| " + " | ".join(_format_cell(value) for value in line) + " |" for line in lines)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value) and not NUMBER_PATTERN.match(value)


def _format_cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
