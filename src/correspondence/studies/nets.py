"""Small convolutional nets for images, and how they are trained in the studies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from correspondence._util.extras import explain_missing_extra

try:
    import torch
except ImportError as error:
    raise ImportError(explain_missing_extra("The nets of this study need torch", "neural")) from error
from torch import nn
from torch.nn import functional

from correspondence._util.progress import make_progress_bar

__all__ = [
    "BOUNDARY",
    "CIFAR",
    "MNIST",
    "NetRecipe",
    "make_cnn",
    "measure_accuracy",
    "shift_and_flip",
    "to_inputs",
    "train_net",
]

MAX_SHIFT_PIXELS = 4  # a crop moves an image by at most this


@dataclass(frozen=True)
class NetRecipe:
    """Settings of a net and its training, chosen on a validation part of the training images."""

    widths: tuple[int, ...]
    """Channels of the convolutions."""
    epochs: int
    batch_size: int
    lr: float
    """Highest learning rate."""
    weight_decay: float
    augment: bool
    """Whether the images are shifted and flipped at random."""

    @property
    def training(self) -> dict[str, Any]:
        """Arguments of `train_net`."""
        return {name: value for name, value in asdict(self).items() if name != "widths"}


BOUNDARY = NetRecipe(
    (32, 64, 64, 128, 128, 256, 256), epochs=12, batch_size=64, lr=3e-3, weight_decay=0.01, augment=True
)
CIFAR = NetRecipe((24, 48, 48, 96, 96, 192, 192), epochs=12, batch_size=128, lr=5e-3, weight_decay=0.05, augment=True)
MNIST = NetRecipe((16, 32, 32, 64, 64), epochs=1, batch_size=64, lr=5e-3, weight_decay=0.01, augment=False)


def make_cnn(in_channels: int, classes: int, widths: Sequence[int] = BOUNDARY.widths) -> nn.Module:
    """Make a net of 3x3 convolutions that gives logits; height and width are halved before every second one."""
    layers: list[nn.Module] = []
    for i, width in enumerate(widths):
        if i % 2:
            layers.append(nn.MaxPool2d(2))
        layers += [nn.Conv2d(in_channels, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
        in_channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(in_channels, classes))


def to_inputs(images: np.ndarray) -> torch.Tensor:
    """Turn images with values from 0 to 255, (n, h, w) or (n, channels, h, w), into inputs: (n, channels, h, w).

    The values become -2 to 2: constants that depend on no data treat the images of training and test alike.
    """
    X = torch.from_numpy(np.array(images, dtype=np.float32)).sub_(127.5).div_(63.75)
    return X.unsqueeze(1) if X.ndim == 3 else X


def train_net(
    net: nn.Module,
    X: torch.Tensor,
    y: np.ndarray,
    *,
    epochs: int,
    batch_size: int,
    lr: float,
    weight_decay: float,
    augment: bool,
    seed: int,
    after_step: Callable[[], None] | None = None,
    progress: bool | None = None,
) -> None:
    """Minimise the cross-entropy with AdamW, the learning rate going up to ``lr`` and down to zero.

    Parameters
    ----------
    net : torch.nn.Module
        The net must give logits (`make_cnn`). It is trained in place and left in evaluation mode.
    X : torch.Tensor
        The images must be inputs of the net (`to_inputs`).
    y : array of int, shape (n,)
        The classes are numbered from 0.
    epochs, batch_size, lr, weight_decay, augment
        They are explained in `NetRecipe`.
    seed : int
        It determines the order of the images and their augmentation, but not the weights at the start.
    after_step : callable, optional
        It is called after every step of the optimizer and may put the net in evaluation mode.
    progress : bool, optional
        Show a progress bar; the default shows it in a terminal.
    """
    torch.manual_seed(seed)
    rng = torch.Generator().manual_seed(seed)
    labels = _to_label_tensor(y)
    steps = epochs * -(-len(X) // batch_size)
    optimizer = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=lr, total_steps=steps)
    with make_progress_bar(steps, "training", progress) as shown:
        for _ in range(epochs):
            for batch in torch.randperm(len(X), generator=rng).split(batch_size):
                images = shift_and_flip(X[batch], rng) if augment else X[batch]
                _take_step(net, optimizer, images, labels[batch])
                schedule.step()
                shown.update()
                if after_step is not None:
                    after_step()
    net.eval()


def _to_label_tensor(y: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.array(y, dtype=np.int64))


def _take_step(net: nn.Module, optimizer: torch.optim.Optimizer, X: torch.Tensor, y: torch.Tensor) -> None:
    net.train()
    optimizer.zero_grad()
    functional.cross_entropy(net(X.to(memory_format=torch.channels_last)), y).backward()
    optimizer.step()


def shift_and_flip(X: torch.Tensor, rng: torch.Generator) -> torch.Tensor:
    """Shift each image by up to `MAX_SHIFT_PIXELS`, with its edge reflected, and flip half of them left to right."""
    n, channels, height, width = X.shape
    rows = torch.randint(2 * MAX_SHIFT_PIXELS + 1, (n, 1), generator=rng) + torch.arange(height)
    columns = torch.randint(2 * MAX_SHIFT_PIXELS + 1, (n, 1), generator=rng) + torch.arange(width)
    flipped = torch.rand(n, 1, generator=rng) < 0.5
    columns = torch.where(flipped, columns.flip(1), columns)
    padded = functional.pad(X, (MAX_SHIFT_PIXELS,) * 4, mode="reflect")
    each, channel = torch.arange(n)[:, None, None, None], torch.arange(channels)[:, None, None]
    return padded[each, channel, rows[:, None, :, None], columns[:, None, None, :]]


def measure_accuracy(net: nn.Module, X: torch.Tensor, y: np.ndarray) -> float:
    """Return the share of images whose class has the largest logit."""
    net.eval()
    with torch.inference_mode():
        guesses = torch.cat([net(batch).argmax(1) for batch in X.split(1000)])
    return float((guesses == _to_label_tensor(y)).double().mean())
