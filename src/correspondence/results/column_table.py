"""What each column of a table is taken for, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from correspondence.results.points import FrameResult

__all__ = ["ColumnFacts", "ColumnTable"]


@dataclass(frozen=True)
class ColumnFacts:
    """What one column is taken for.

    Attributes
    ----------
    column : str
        Its name, or its number in an array.
    kind : str
        "number", "label", "boolean", "date", "time", "duration", "text", "list", "id", "constant" or "empty".
    is_used : bool
        Whether it takes part: ids, constants and empty columns do not.
    n_missing : int
        The number of missing values.
    n_different : int
        The number of different values that are not missing.
    note : str
        What should be said about the decision, because others were possible.
    """

    column: str
    kind: str
    is_used: bool
    n_missing: int
    n_different: int
    note: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class ColumnTable(FrameResult):
    """What the columns of a table are taken for; print it, or see `to_frame`.

    Attributes
    ----------
    n : int
        The number of rows.
    facts : sequence of ColumnFacts
        One entry for each column.

    Examples
    --------
    >>> import correspondence as co
    >>> co.describe_columns(["red", "blue", "red", None]).facts[0].n_missing
    1
    """

    n: int
    facts: Sequence[ColumnFacts]

    def _collect_columns(self) -> dict[str, list[Any]]:
        names = list(ColumnFacts.__dataclass_fields__)
        return {name: [getattr(fact, name) for fact in self.facts] for name in names}

    def __repr__(self) -> str:
        width = max([6, *(len(fact.column) for fact in self.facts)])
        head = f"{'column':<{width}}  kind      missing  different  "
        lines = [f"{len(self.facts)} columns, {self.n:,} rows", head.rstrip()]
        for fact in self.facts:
            what = "" if fact.is_used else "left out"
            note = "; ".join(part for part in (what, fact.note) if part)
            line = f"{fact.column:<{width}}  {fact.kind:<8}  {fact.n_missing:>7,}  {fact.n_different:>9,}  {note}"
            lines.append(line.rstrip())
        return "\n".join(lines)
