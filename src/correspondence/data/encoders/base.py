"""What every encoder does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from correspondence._util.files import State

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
    def state(self) -> State:
        """Return the description from which `from_state` makes the same encoder; no encoder has arrays."""

    @classmethod
    @abstractmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> Encoder:
        """Put together what `state` took apart."""
