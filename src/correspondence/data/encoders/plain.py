"""Arrays of numbers as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from correspondence._util.arguments import to_array
from correspondence._util.files import State
from correspondence.data.column_reading import check_finite
from correspondence.data.encoders.base import Encoder

__all__ = ["Plain", "as_2d_floats"]


@dataclass(frozen=True)
class Plain(Encoder):
    """An encoder of numbers of any shape (n, ...), which only converts them to float32."""

    shape: tuple[int, ...]
    kind: ClassVar[str] = "plain"

    @classmethod
    def fit(cls, values: Any, name: str) -> Plain:  # noqa: D102
        return cls(as_2d_floats(values, name).shape[1:])

    def __call__(self, values: Any, name: str) -> np.ndarray:  # noqa: D102
        array = as_2d_floats(values, name)
        if array.shape[1:] != self.shape:
            raise ValueError(f"{name} must have shape (n, {', '.join(map(str, self.shape))}), got {array.shape}.")
        return array

    def state(self) -> State:  # noqa: D102
        return State({"kind": self.kind, "shape": list(self.shape)}, {})

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> Plain:  # noqa: D102
        return cls(tuple(description["shape"]))


def as_2d_floats(values: Any, name: str) -> np.ndarray:
    """Read numbers as rows, each of at least one column."""
    array = to_array(values, name)
    if array.dtype.kind not in "biuf" or not array.size or not array.ndim:
        raise ValueError(f"{name} must be a filled array of numbers, got {array.dtype} of shape {array.shape}.")
    with np.errstate(over="ignore"):
        single = array.astype(np.float32)
    if not np.isfinite(single).all():
        check_finite(array, name)
        raise ValueError(f"{name} has values beyond 3e38, which nets cannot compute with: divide it by a constant.")
    return single[:, None] if single.ndim == 1 else single
