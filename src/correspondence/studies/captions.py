"""Captions as counts of terms, and the two nets that relate photographs to them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

try:
    import torch
except ImportError as error:
    raise ImportError('The nets of this study need torch: pip install "correspondence[neural]".') from error
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["CaptionNet", "PhotoNet", "Terms"]

FILLERS = (
    "coming does doing gets getting goes going like make making near nearby takes taking tries trying using whilst"
)
STOP_WORDS = ENGLISH_STOP_WORDS | set(FILLERS.split())


class Terms:
    """The commonest words of captions, without stop words; "dogs" counts as "dog".

    Parameters
    ----------
    n : int
        How many.

    Attributes
    ----------
    names_ : list of str
        Commonest first.
    """

    def __init__(self, n: int = 500) -> None:
        self.n = n

    def fit(self, captions: Iterable[list[str]]) -> Terms:
        """Choose the terms from the captions of some photographs."""
        counts = Counter(word for each in captions for caption in each for word in _words(caption))
        # A word in -s is the same as the one without, unless that is rare beside it: "shorts" are not "short".
        self._same = {word: word[:-1] for word in counts if word[-1] == "s" and 4 * counts[word[:-1]] >= counts[word]}
        merged: Counter[str] = Counter()
        for word, count in counts.items():
            merged[self._same.get(word, word)] += count
        self.names_ = [word for word, _ in merged.most_common(self.n)]
        return self

    def transform(self, captions: list[list[str]]) -> np.ndarray:
        """Count in how many of its captions each photograph has each term: array of shape (n, terms)."""
        column = {name: i for i, name in enumerate(self.names_)}
        counts = np.zeros((len(captions), len(column)), np.float32)
        for row, each in zip(counts, captions, strict=True):
            for caption in each:
                found = {self._same.get(word, word) for word in _words(caption)}
                row[[column[word] for word in found if word in column]] += 1
        return counts


def _words(caption: str) -> Iterator[str]:
    return (word for word in re.findall("[a-z]{2,}", caption.lower()) if word not in STOP_WORDS)


class PhotoNet(nn.Module):
    """Convolutions for photographs with values from 0 to 255; sees another part of them in each step of training.

    Parameters
    ----------
    outputs : int
        Number of outputs.
    width : int
        Channels of the first convolution.
    size : int
        Height and width of what is seen in training; whole photographs are seen at a size of `WHOLE`.
    """

    WHOLE = 56
    ZOOM, STRETCH, LIGHT = 0.35, 0.15, 0.3

    def __init__(self, outputs: int, width: int = 32, size: int = 48, dropout: float = 0.3) -> None:
        super().__init__()
        self.size = size
        layers: list[nn.Module] = [*_convolution(3, width, 5, stride=2)]
        for i in range(3):
            inside, outside = width * 2**i, width * 2 ** (i + 1)
            layers += [nn.MaxPool2d(2), *_convolution(inside, outside), *_convolution(outside, outside)]
        layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(dropout), nn.Linear(8 * width, outputs)]
        self.body = nn.Sequential(*layers)

    def forward(self, photos: Tensor) -> Tensor:
        """Outputs of shape (n, outputs); without training the mean of those for a photograph and its mirror image."""
        x = (photos - 115) / 65
        if self.training:
            return self._outputs(self._varied(x))
        x = functional.interpolate(x, size=(self.WHOLE, self.WHOLE), mode="bilinear", antialias=True)
        return (self._outputs(x) + self._outputs(x.flip(3))) / 2

    def _outputs(self, x: Tensor) -> Tensor:
        return self.body(x.contiguous(memory_format=torch.channels_last))

    def _varied(self, x: Tensor) -> Tensor:
        """A random part of each photograph, half of them flipped, in another light."""
        n = len(x)
        scale, stretch = 1 - self.ZOOM * torch.rand(n), torch.exp(self.STRETCH * _sides(n))
        part = torch.stack([scale * stretch, scale / stretch], dim=1).clamp(max=1.1)
        place = torch.zeros(n, 2, 3)
        place[:, :, 2] = _sides(n, 2) * (1 - part).clamp(min=0.05)
        place[:, 0, 0] = part[:, 0] * torch.where(torch.rand(n) < 0.5, -1.0, 1.0)
        place[:, 1, 1] = part[:, 1]
        grid = functional.affine_grid(place, [n, 3, self.size, self.size], align_corners=False)
        x = functional.grid_sample(x, grid, padding_mode="reflection", align_corners=False)
        contrast, light, tint = _sides(n, 1, 1, 1), _sides(n, 1, 1, 1), 0.5 * _sides(n, 3, 1, 1)
        return x * (1 + self.LIGHT * contrast) + self.LIGHT * (light + tint)


def _convolution(inside: int, outside: int, kernel: int = 3, stride: int = 1) -> list[nn.Module]:
    convolution = nn.Conv2d(inside, outside, kernel, stride, kernel // 2, bias=False)
    return [convolution, nn.BatchNorm2d(outside), nn.SiLU()]


def _sides(*shape: int) -> Tensor:
    """Random numbers between -1 and 1."""
    return 2 * torch.rand(*shape) - 1


class CaptionNet(nn.Module):
    """Linear functions of log counts of terms; in training it hears each mention with probability `HEARD`.

    Parameters
    ----------
    counts : ndarray of shape (n, terms)
        Of the training captions, to standardise.
    outputs : int
        Number of outputs.
    """

    HEARD = 0.6
    mean: Tensor
    scale: Tensor

    def __init__(self, counts: np.ndarray, outputs: int) -> None:
        super().__init__()
        logs = torch.log1p(torch.as_tensor(counts))
        self.register_buffer("mean", logs.mean(0))
        # The root of the deviation, not itself: a rare term would then say as much as a common one.
        self.register_buffer("scale", logs.std(0).sqrt().clamp(min=1e-3))
        self.linear = nn.Linear(logs.shape[1], outputs)

    def forward(self, counts: Tensor) -> Tensor:
        """Outputs of shape (n, outputs)."""
        if self.training:
            counts = torch.binomial(counts, torch.full_like(counts, self.HEARD)) / self.HEARD
        return self.linear((torch.log1p(counts) - self.mean) / self.scale)
