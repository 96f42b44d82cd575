"""Work on many rows part by part: how far it is, and until when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from correspondence._util.arguments import take_rows
from correspondence._util.interrupts import OutOfTimeError
from correspondence._util.progress import ProgressArgument, StageLine, make_progress_bar
from correspondence.core.functions import PrincipalFunctions
from correspondence.selection.time_budget import MIN_SECONDS_FOR_RESULT, TimeBudget

__all__ = ["Pace"]

ROWS_PER_PART = 20_000  # placed at a time, so that it can be told how far it is


@dataclass(frozen=True, eq=False)
class Pace:
    """How progress is shown, and the time that is left."""

    progress: ProgressArgument = None
    budget: TimeBudget = field(default_factory=TimeBudget)

    def tell(self, text: str) -> None:
        """Begin a stage."""
        if isinstance(self.progress, StageLine):
            self.progress.tell(text)

    def evaluate(self, functions: PrincipalFunctions, values: Any, share: float) -> np.ndarray:
        """Evaluate functions part by part, until a share of the time has passed: the places of the first rows."""
        n = len(values)
        places = []
        with make_progress_bar(-(-n // ROWS_PER_PART), "part", self.progress) as bar:
            for start in range(0, n, ROWS_PER_PART):
                try:
                    with self.budget.interrupt(share, 0.0 if start else MIN_SECONDS_FOR_RESULT):
                        part = np.arange(start, min(start + ROWS_PER_PART, n))
                        places.append(functions(take_rows(values, part) if len(part) < n else values))
                except OutOfTimeError:
                    break
                bar.update()
        if not places:
            raise ValueError(f"time_limit must leave time to place a row, got {self.budget.limit:g} seconds.")
        return np.concatenate(places)
