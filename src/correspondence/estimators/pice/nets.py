"""The nets that PICE builds itself, each from a small description, so that a saved one can be built again."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["BagNet", "ColumnNet", "ImageNet", "build_net"]

HIDDEN_WIDTH = 128
MAX_ABSOLUTE_COORDINATE = 4.0  # values of a column beyond this are the same to a net
DROPOUT_RATE = 0.2


class ColumnNet(nn.Module):
    """Two hidden layers on the columns, added to a linear map of functions that are known already.

    Parameters
    ----------
    inputs : int
        The number of columns.
    outputs : int
        The number of functions.
    known : int
        The number of known functions, given behind the columns; training starts from them.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, inputs: int, outputs: int, known: int = 0) -> None:
        super().__init__()
        self.config = {"type": "columns", "inputs": inputs, "outputs": outputs, "known": known}
        self.inputs = inputs
        self.body = nn.Sequential(
            nn.Linear(inputs, HIDDEN_WIDTH),
            nn.SiLU(),
            nn.Linear(HIDDEN_WIDTH, HIDDEN_WIDTH),
            nn.SiLU(),
            nn.Linear(HIDDEN_WIDTH, outputs),
        )
        self.skip = nn.Linear(known, outputs, bias=False) if known else None
        if self.skip is not None:
            last = self.body[-1]
            assert isinstance(last, nn.Linear)
            nn.init.eye_(self.skip.weight)
            with torch.no_grad():
                last.weight.mul_(0.3)
            nn.init.zeros_(last.bias)
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("scale", torch.ones(inputs))

    def standardise_columns(self, rows: Tensor) -> None:
        """Take mean and scale of the columns from a sample."""
        columns = self._clamp_columns(rows)
        self.mean.copy_(columns.mean(0))
        self.scale.copy_(columns.std(0).clamp_min(1e-3))

    def forward(self, rows: Tensor) -> Tensor:
        """Compute outputs of shape (n, outputs)."""
        learned = self.body((self._clamp_columns(rows) - self.mean) / self.scale)
        return learned if self.skip is None else learned + self.skip(rows[:, self.inputs :])

    def _clamp_columns(self, rows: Tensor) -> Tensor:
        return rows[:, : self.inputs].clamp(-MAX_ABSOLUTE_COORDINATE, MAX_ABSOLUTE_COORDINATE)


class BagNet(nn.Module):
    """Sum of a vector for each word and one hidden layer; it takes (indices, offsets, weights) of sparse rows."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.config = {"type": "bag", "inputs": inputs, "outputs": outputs}
        self.words = nn.EmbeddingBag(inputs, HIDDEN_WIDTH, mode="sum")
        nn.init.normal_(self.words.weight, std=0.3)
        self.body = nn.Sequential(
            nn.Dropout(DROPOUT_RATE),
            nn.SiLU(),
            nn.Linear(HIDDEN_WIDTH, HIDDEN_WIDTH),
            nn.SiLU(),
            nn.Linear(HIDDEN_WIDTH, outputs),
        )

    def forward(self, rows: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """Compute outputs of shape (n, outputs)."""
        indices, offsets, weights = rows
        return self.body(self.words(indices, offsets, per_sample_weights=weights))


class ImageNet(nn.Module):
    """Convolutions that halve the image until it is at most 4 pixels wide, batch norm, mean over what is left."""

    def __init__(self, shape: tuple[int, ...], outputs: int) -> None:
        super().__init__()
        self.config = {"type": "images", "shape": list(shape), "outputs": outputs}
        channels, size = shape[0], max(shape[1:])
        halvings = min(4, max(1, math.ceil(math.log2(size / 4)))) if size > 4 else 1
        layers: list[nn.Module] = []
        for i in range(halvings):
            width = min(32 * 2**i, HIDDEN_WIDTH)
            layers += [nn.Conv2d(channels, width, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(width), nn.SiLU()]
            channels = width
        self.body = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(4 * channels, HIDDEN_WIDTH))
        self.head = nn.Sequential(nn.BatchNorm1d(HIDDEN_WIDTH), nn.SiLU(), nn.Linear(HIDDEN_WIDTH, outputs))

    def forward(self, rows: Tensor) -> Tensor:
        """Compute outputs of shape (n, outputs)."""
        return self.head(self.body(rows.contiguous(memory_format=torch.channels_last)))


def build_net(config: dict[str, Any]) -> nn.Module:
    """Build a net from its ``config``."""
    kwargs = {name: value for name, value in config.items() if name != "type"}
    return {"columns": ColumnNet, "bag": BagNet, "images": ImageNet}[config["type"]](**kwargs)
