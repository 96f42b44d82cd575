"""The interface of all encoders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from correspondence._util.files import State

__all__ = ["Encoder"]


class Encoder(ABC):
    """An encoder, which turns values of one variable into rows of numbers."""

    kind: ClassVar[str]

    @abstractmethod
    def __call__(self, values: Any, name: str) -> Any:
        """Encode the values as rows; errors call them `name`."""

    def accept_unknown(self) -> Encoder:
        """Return an encoder that encodes a label that was not in the fit as the mean of those that were."""
        return self

    @abstractmethod
    def state(self) -> State:
        """Return the description from which `from_state` makes the same encoder; no encoder has arrays."""

    @classmethod
    @abstractmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> Encoder:
        """Put together what `state` took apart."""
