"""What `decompose` was asked for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from correspondence._util.progress import StageLine
from correspondence.data.copies import DUPLICATES, Copies, take_firsts
from correspondence.selection.method_registry import PairsProfile, list_methods_given, list_sensible_methods
from correspondence.selection.time_budget import TimeBudget

__all__ = ["Wanted"]


@dataclass(frozen=True, eq=False)
class Wanted:
    """What `choose_decomposition` was asked for."""

    n_components: int | None
    method: str
    among: Collection[str]
    test: bool
    groups: Any = DUPLICATES
    min_count: Any = "auto"
    missing: str = "indicator"
    random_state: int = 0
    n_jobs: int | None = None
    progress: StageLine = field(default_factory=lambda: StageLine(False))
    budget: TimeBudget = field(default_factory=TimeBudget)
    given: Any = None
    copies: Copies | None = None

    @property
    def can_test_all(self) -> bool:
        """Whether all pairs can be tested: the user's groups keep them from it, unless there are given variables."""
        return self.groups is None or self.copies is not None or self.given is not None

    @property
    def options(self) -> dict[str, Any]:
        """The arguments that races and tests share."""
        return {name: getattr(self, name) for name in ("groups", "random_state", "n_jobs", "progress")}

    @property
    def tests_components(self) -> bool:
        """Whether components are tested."""
        return self.test or self.n_components is None

    def list_names(self, pairs: PairsProfile) -> list[str]:
        """List the methods that may take part, from simple to flexible."""
        if self.method != "auto":
            return [self.method]
        if self.given is not None:
            return list_methods_given(pairs)
        return [name for name in list_sensible_methods(pairs) if name in self.among] or ["kernel"]

    def list_tested(self, X: Any, Y: Any) -> tuple[Any, Any, np.ndarray | None]:
        """Return the pairs that are tested, and their groups; of copies one is tested, and there are no groups then."""
        if self.groups is not None and self.copies is None:
            return X, Y, self.groups
        return (*take_firsts(X, Y, self.groups), None)

    def count_different(self, pairs: PairsProfile) -> int:
        """Count the pairs, copies of each other as one."""
        return pairs.n if self.copies is None or self.groups is None else self.copies.n_different
