"""Titles and blank rows above the names of the columns, as spreadsheets have them."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["N_ROWS_LOOKED_AT", "count_title_rows", "describe_title_rows"]

N_ROWS_LOOKED_AT = 50
LIKE_NUMBER = re.compile(r"[^\w]*\d[\d.,:/ -]*\W*")  # a number, money, a date or a time

Row = Sequence[str | None]


def count_title_rows(rows: Sequence[Row]) -> int:
    """Count the rows above the names of the columns: blank ones, comments, and titles in a single cell.

    They are recognised only if no doubt is left: the next row must have a name for every column below (but perhaps the
    first), and a row above it must be blank or a comment, or a column below must hold numbers.

    Parameters
    ----------
    rows : sequence of rows
        The first rows of a file, each a list of cells; a row may have fewer cells than others.

    Examples
    --------
    >>> count_title_rows([["Sales of 2020"], [], ["year", "shop", "sales"], ["2020", "a", "3"]])
    2
    >>> count_title_rows([["year", "shop", "sales"], ["2020", "a", "3"]])
    0
    """
    cells = [[(cell or "").strip() for cell in row] for row in rows]
    n = next((i for i, row in enumerate(cells) if not _is_title(row)), len(cells))
    above, names, *below = [*cells[:n]], *(cells[n:] or [[]])
    below = [row for row in below if any(row)]
    width = max((len(_trim(row)) for row in below), default=0)
    if not n or not below or not _are_names(names, width):
        return 0
    is_clear = any(not any(row) or row[0].startswith("#") for row in above)
    return n if is_clear or any(_are_numbers([row[j] for row in below if j < len(row)]) for j in range(width)) else 0


def describe_title_rows(n: int) -> list[str]:
    """Say which rows are not part of the table."""
    skipped = "row 1 is" if n == 1 else f"rows 1 to {n} are"
    return [f"Row {n + 1} is read as the names of the columns: {skipped} not part of the table."] if n else []


def _trim(row: Sequence[str]) -> Sequence[str]:
    """Return a row without empty cells at its end."""
    return row[: max((i + 1 for i, cell in enumerate(row) if cell), default=0)]


def _is_title(row: Sequence[str]) -> bool:
    """Say whether a row is blank, a comment, or has a cell at its beginning only."""
    return len(_trim(row)) <= 1 or row[0].startswith("#")


def _are_names(row: Sequence[str], width: int) -> bool:
    """Say whether a row names so many columns: all different and not numbers; the first may have no name."""
    names = _trim(row)
    filled = [name for name in names if name]
    is_full = len(names) == width > 1 and all(names[1:])
    return is_full and len(set(filled)) == len(filled) and not any(map(LIKE_NUMBER.fullmatch, filled))


def _are_numbers(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(map(LIKE_NUMBER.fullmatch, filled))
