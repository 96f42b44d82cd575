"""What `decompose` has decided and found."""

from __future__ import annotations

from dataclasses import dataclass, field

from correspondence.core.decomposition import Decomposition
from correspondence.data.copies import Copies
from correspondence.results.component_tests import LatentDimension
from correspondence.results.evidence import CrossFit
from correspondence.selection.preparing import PreparedLabels

__all__ = ["NOTHING_FOUND_TEXT", "Choice"]

NOTHING_FOUND_TEXT = "Nothing was found: no component is clearly more than chance, and what is kept may be chance."


@dataclass(frozen=True, eq=False)
class Choice:
    """What `choose_decomposition` has decided and found."""

    method: str
    reason: str
    """Why this method, and how many components are significant."""
    decomposition: Decomposition
    dimension: LatentDimension | None = None
    """Held-out correlations and p-values of the components, where they were asked for."""
    found: int | None = None
    """Number of components that are more than chance, where that was tested."""
    is_compared: bool = False
    """Whether the method was chosen by what it captures of the same pairs, which flatters held-out figures a bit."""
    not_tested: str = ""
    """Why components were not tested, if they were not."""
    count_text: str = ""
    """The part of the reason that says how many components are significant."""
    copies: Copies | None = None
    """Which pairs are copies of each other, where that was looked for."""
    prepared: PreparedLabels = field(default_factory=PreparedLabels)
    """Which rare labels were merged."""
    crossfit: CrossFit | None = None
    """Out-of-fold functions, where components were asked to be judged and that is quick."""
    order_text: str = ""
    """Which declared orders of labels are kept and which are not, as the end of the reason."""

    @property
    def origin(self) -> str:
        """The method and the reason in a sentence."""
        return f"{self.method}: {self.reason}{self.order_text}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done with copies and rare labels, in sentences."""
        copies = "" if self.copies is None else self.copies.describe()
        return (*([f"{copies}."] if copies else []), *self.prepared.notes)

    @property
    def is_nothing(self) -> bool:
        """Whether components were tested and none is significant."""
        return self.found == 0
