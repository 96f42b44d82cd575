"""Results as small tables in notebooks: the first rows, escaped, in the colours of the notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from correspondence._util.text import one_line

__all__ = ["MAX_COLUMNS", "HtmlTable", "render_record", "render_table"]

MAX_ROWS, MAX_COLUMNS, MAX_LINES = 20, 10, 24
MAX_LETTERS, MAX_LINE_LETTERS = 40, 400
MIN_WITH_FOUR_DECIMALS, MAX_WITH_FOUR_DECIMALS, MAX_WHOLE = 5e-3, 1e5, 1e9  # the largest number of a column
PVALUE, MIN_PVALUE_WITH_FOUR_DECIMALS = "p-value", 1e-3
NOT_KNOWN = "\N{EN DASH}"
LINE = "1px solid color-mix(in srgb, currentColor 30%, transparent)"  # of the text's colour: light or dark
Columns = Mapping[Any, Sequence[Any] | np.ndarray]


class HtmlTable(ABC):
    """A result that a notebook shows as a table, below lines of its text."""

    _n_text_lines: ClassVar[int | None] = 1
    """How many lines of the text stand above the table; None for all of them."""

    def _repr_html_(self) -> str:
        columns, n = self._collect_preview(MAX_ROWS)
        return render_table(self._list_text_lines(), columns, n)

    def _list_text_lines(self) -> list[str]:
        return repr(self).split("\n")[: self._n_text_lines]

    def _collect_preview(self, n: int) -> tuple[Columns, int]:
        """Return the first n rows of all columns, and the number of all rows."""
        columns = self._collect_columns()
        return {name: values[:n] for name, values in columns.items()}, max(map(len, columns.values()), default=0)

    @abstractmethod
    def _collect_columns(self) -> Columns:
        """Return the columns by name."""


def render_table(lines: Sequence[str], columns: Columns, n_rows: int) -> str:
    """Write lines of text and a table below them as HTML.

    Parameters
    ----------
    lines : sequence of str
        The lines stand above the table.
    columns : dict of sequence
        The columns by name, with the rows that are shown; the key None is that of a column without a name.
    n_rows : int
        The table has this many rows in all.

    Examples
    --------
    >>> text = render_table(["Two <b>"], {"name": ["a"], "value": [0.5]}, 2)
    >>> "Two &lt;b&gt;" in text, "0.5000" in text, "… and 1 more row" in text
    (True, True, True)
    """
    shown = dict(list(columns.items())[:MAX_COLUMNS])
    parts = [f'<p style="margin: 0.3em 0">{_write_text(line, MAX_LINE_LETTERS)}</p>' for line in lines[:MAX_LINES]]
    if shown:
        cells = [[_write_head(name, values), *_write_cells(name, values)] for name, values in shown.items()]
        head, *rows = ("".join(row) for row in zip(*cells, strict=True))
        body = "\n".join(f"<tr>{row}</tr>" for row in rows)
        style = "border-collapse: collapse; font-variant-numeric: tabular-nums"
        parts.append(f'<table style="{style}">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>')
    hidden = n_rows - len(next(iter(shown.values()), ())), len(columns) - len(shown)
    more = [
        f"{number:,} more {noun}{'s' * (number != 1)}"
        for number, noun in zip(hidden, ("row", "column"), strict=True)
        if number > 0
    ]
    parts += [f'<p style="margin: 0.3em 0">… and {" and ".join(more)}</p>'] if more and shown else []
    return '<div style="overflow-x: auto">\n' + "\n".join(parts) + "\n</div>"


def render_record(record: Any, names: Sequence[str] | None = None) -> str:
    """Write a named tuple as a table with one row; of its fields, or of these attributes."""
    shown = record._fields if names is None else names
    return render_table([type(record).__name__], {name: [getattr(record, name)] for name in shown}, 1)


def _write_text(text: Any, most: int) -> str:
    return escape(one_line(text, most))


def _is_text(value: Any) -> bool:
    return not (value is None or isinstance(value, Real | np.number | np.bool_))


def _align_column(values: Sequence[Any] | np.ndarray) -> str:
    side = "left" if any(map(_is_text, values)) else "right"
    return f"text-align: {side}; white-space: nowrap; padding: 0.15em 0.6em"


def _write_head(name: Any, values: Sequence[Any] | np.ndarray) -> str:
    style = f"{_align_column(values)}; border-bottom: {LINE}"
    return f'<th scope="col" style="{style}">{"" if name is None else _write_text(name, MAX_LETTERS)}</th>'


def _write_cells(name: Any, values: Sequence[Any] | np.ndarray) -> list[str]:
    style, digits = _align_column(values), _choose_format(str(name), values)
    return [f'<td style="{style}">{_write_value(value, digits)}</td>' for value in values]


def _choose_format(name: str, values: Sequence[Any] | np.ndarray) -> str:
    """Choose four decimals, as most texts have; fewer for per cent, others for very small or large numbers."""
    numbers = [abs(float(value)) for value in values if isinstance(value, float | np.floating) and np.isfinite(value)]
    largest = max(numbers, default=0.0)
    if name.startswith("%"):
        return ".1f"
    if "pvalue" in name:
        return PVALUE
    if numbers and all(number.is_integer() for number in numbers) and largest < MAX_WHOLE:
        return ".0f" if largest > 1 else ".4f"
    return ".4f" if MIN_WITH_FOUR_DECIMALS <= largest < MAX_WITH_FOUR_DECIMALS else ".4g"


def _write_value(value: Any, digits: str) -> str:
    if value is None or (isinstance(value, Real) and value != value):
        return NOT_KNOWN
    if _is_text(value) or isinstance(value, bool | np.bool_):
        return _write_text(value, MAX_LETTERS) if str(value) else ""
    if digits == PVALUE:
        digits = ".4f" if value == 0 or value >= MIN_PVALUE_WITH_FOUR_DECIMALS else ".1e"
    text = str(int(value)) if isinstance(value, Integral) else format(float(value), digits)
    return text.replace("-", "\N{MINUS SIGN}")
