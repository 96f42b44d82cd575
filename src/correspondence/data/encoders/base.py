"""What every encoder does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

__all__ = ["Encoder"]


class Encoder(ABC):
    """Turns values of one variable into rows of numbers."""

    kind: ClassVar[str]

    @abstractmethod
    def __call__(self, values: Any, name: str) -> Any:
        """Rows for the values; errors call them `name`."""

    def accept_unknown(self) -> Encoder:
        """Return an encoder that takes a label outside of the fit as the mean of those in it."""
        return self

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return a description from which `encoder_from_state` makes the same encoder."""
