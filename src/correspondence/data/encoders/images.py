"""Images as standardised arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from correspondence._util.arguments import to_array
from correspondence._util.files import State
from correspondence.data.column_reading import check_finite
from correspondence.data.encoders.base import Encoder

__all__ = ["Images", "read_pixels"]

USUAL_CHANNELS = (1, 3, 4)  # grey, colour, colour with transparency


@dataclass(frozen=True)
class Images(Encoder):
    """An encoder of images of shape (n, channels, height, width), which standardises each channel."""

    shape: tuple[int, ...]
    mean: list[float]
    scale: list[float]
    kind: ClassVar[str] = "images"

    @classmethod
    def fit(cls, values: Any, name: str) -> Images:  # noqa: D102
        array = read_pixels(values, name)
        if array.shape[3] in USUAL_CHANNELS and array.shape[1] not in USUAL_CHANNELS:
            raise ValueError(
                f"{name} must have its channels before height and width, got images of shape {array.shape[1:]}. "
                f"Write np.moveaxis({name}, 3, 1)."
            )
        sample = array[: max(1, 10_000_000 // max(1, array[0].size))].astype(np.float64)
        check_finite(sample, name)
        with np.errstate(over="ignore", invalid="ignore"):
            scale = sample.std(axis=(0, 2, 3))
        if not np.isfinite(scale).all():
            raise ValueError(f"{name} has pixels whose squares overflow: divide it by a constant.")
        if not scale.any():
            raise ValueError(f"{name} has the same image in every row: nothing can be correlated with a constant.")
        return cls(array.shape[1:], sample.mean(axis=(0, 2, 3)).tolist(), np.where(scale > 0, scale, 1).tolist())

    def __call__(self, values: Any, name: str) -> np.ndarray:  # noqa: D102
        array = read_pixels(values, name)
        if array.shape[1:] != self.shape:
            raise ValueError(f"{name} must have images of shape {self.shape}, as in the fit, got {array.shape[1:]}.")
        channel = (slice(None), None, None)
        mean, scale = (np.asarray(v)[channel] for v in (self.mean, self.scale))
        with np.errstate(over="ignore"):
            return check_finite(((array - mean) / scale).astype(np.float32), name)

    def state(self) -> State:  # noqa: D102
        return State({"kind": self.kind, "shape": list(self.shape), "mean": self.mean, "scale": self.scale}, {})

    @classmethod
    def from_state(cls, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> Images:  # noqa: D102
        return cls(tuple(description["shape"]), description["mean"], description["scale"])


def read_pixels(values: Any, name: str) -> np.ndarray:
    """Check that values are images, numbers of shape (n, channels, height, width)."""
    array = to_array(values, name)
    if array.ndim != 4 or array.dtype.kind not in "biuf" or not array.size:
        raise ValueError(
            f"{name} must be numbers of shape (n, channels, height, width), got {array.dtype} of shape {array.shape}"
            + (": write X[:, None] for a single channel." if array.ndim == 3 else ".")
        )
    return array
