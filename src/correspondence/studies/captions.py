"""Captions as counts of terms, and the two nets that relate photographs to them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from correspondence.studies.nets import functional, nn, torch

__all__ = ["CaptionNet", "PhotoNet", "Terms", "compute_colours_and_edges"]

FILLER_WORDS = (
    "coming does doing gets getting goes going like make making near nearby takes taking tries trying using whilst"
)
PIXEL_MEAN, PIXEL_DEVIATION = 115, 65  # approximate values for photographs
STOP_WORDS = ENGLISH_STOP_WORDS | set(FILLER_WORDS.split())


class Terms:
    """The commonest words of captions, without stop words; "dogs" counts as "dog".

    Parameters
    ----------
    n : int
        The number of words to keep.

    Attributes
    ----------
    names_ : list of str
        The words, commonest first.
    """

    def __init__(self, n: int = 500) -> None:
        self.n = n

    def fit(self, captions: Iterable[list[str]]) -> Terms:
        """Choose the terms from the captions of some photographs."""
        counts = Counter(word for each in captions for caption in each for word in _iterate_words(caption))
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
                found = {self._same.get(word, word) for word in _iterate_words(caption)}
                row[[column[word] for word in found if word in column]] += 1
        return counts


def _iterate_words(caption: str) -> Iterator[str]:
    return (word for word in re.findall("[a-z]{2,}", caption.lower()) if word not in STOP_WORDS)


class PhotoNet(nn.Module):
    """Net for photographs with values from 0 to 255: convolutions, and beside them a layer on colours and edges.

    In each step of training it sees another part of each photograph, in another light.

    Parameters
    ----------
    outputs : int
        The net has this number of outputs.
    width : int
        The first convolution has this number of channels.
    """

    SIZE, WHOLE = 48, 56  # pixels of the part that is seen in training, and of a whole photograph
    ZOOM, STRETCH, LIGHT = 0.35, 0.15, 0.3

    def __init__(self, outputs: int, width: int = 32) -> None:
        super().__init__()
        layers = [*_make_convolution(3, width, 5, stride=2)]
        for i in range(3):
            inside, outside = width * 2**i, width * 2 ** (i + 1)
            layers += [nn.MaxPool2d(2), *_make_convolution(inside, outside), *_make_convolution(outside, outside)]
        self.shapes = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.3))
        self.colours = nn.Sequential(
            nn.BatchNorm1d(N_FEATURES), nn.Dropout(0.5), nn.Linear(N_FEATURES, 8 * width), nn.SiLU(), nn.Dropout(0.3)
        )
        self.head = nn.Linear(16 * width, outputs)

    def forward(self, photos: torch.Tensor) -> torch.Tensor:
        """Compute outputs of shape (n, outputs); outside training, the mean over a photograph and its mirror image."""
        if self.training:
            return self._compute_outputs(self._vary_photos(photos))
        whole = functional.interpolate(photos, size=(self.WHOLE, self.WHOLE), mode="bilinear", antialias=True)
        return (self._compute_outputs(whole) + self._compute_outputs(whole.flip(3))) / 2

    def _compute_outputs(self, photos: torch.Tensor) -> torch.Tensor:
        x = (photos - PIXEL_MEAN) / PIXEL_DEVIATION
        x = x.contiguous(memory_format=torch.channels_last)  # faster for colours
        return self.head(torch.cat([self.shapes(x), self.colours(compute_colours_and_edges(photos))], dim=1))

    def _vary_photos(self, photos: torch.Tensor) -> torch.Tensor:
        """Cut a random part of each photograph, flip half of them, and change the light."""
        n = len(photos)
        scale, stretch = 1 - self.ZOOM * torch.rand(n), torch.exp(self.STRETCH * _draw_uniform(n))
        part = torch.stack([scale * stretch, scale / stretch], dim=1).clamp(max=1.1)
        place = torch.zeros(n, 2, 3)
        place[:, :, 2] = _draw_uniform(n, 2) * (1 - part).clamp(min=0.05)
        place[:, 0, 0] = part[:, 0] * torch.where(torch.rand(n) < 0.5, -1.0, 1.0)
        place[:, 1, 1] = part[:, 1]
        grid = functional.affine_grid(place, [n, 3, self.SIZE, self.SIZE], align_corners=False)
        x = functional.grid_sample(photos, grid, padding_mode="reflection", align_corners=False)
        contrast, light, tint = _draw_uniform(n, 1, 1, 1), _draw_uniform(n, 1, 1, 1), 0.5 * _draw_uniform(n, 3, 1, 1)
        shift = PIXEL_DEVIATION * self.LIGHT * (light + tint)
        return PIXEL_MEAN + (1 + self.LIGHT * contrast) * (x - PIXEL_MEAN) + shift


def _make_convolution(inside: int, outside: int, kernel: int = 3, stride: int = 1) -> list[nn.Module]:
    convolution = nn.Conv2d(inside, outside, kernel, stride, kernel // 2, bias=False)
    return [convolution, nn.BatchNorm2d(outside), nn.SiLU()]


def _draw_uniform(*shape: int) -> torch.Tensor:
    """Draw random numbers between -1 and 1."""
    return 2 * torch.rand(*shape) - 1


@torch.no_grad()
def compute_colours_and_edges(photos: torch.Tensor) -> torch.Tensor:
    """Compute histograms of colours and of directions of edges for photographs with values from 0 to 255.

    They are roots of the shares of 64 colours in each quarter, of 27 colours in each sixteenth, and of 9 directions in
    each of 36 cells, once relative to the edges of the whole photograph and once to those of the cell.
    """
    x = photos.clamp(0, 255) / 256
    grey = x.mean(1)
    down, across = torch.zeros_like(grey), torch.zeros_like(grey)
    down[:, 1:-1] = grey[:, 2:] - grey[:, :-2]
    across[:, :, 1:-1] = grey[:, :, 2:] - grey[:, :, :-2]
    turn = torch.atan2(down, across) % math.pi / math.pi
    edges = _average_by_kind((9 * turn).long().clamp(max=8), torch.hypot(across, down), 9, grid=6)
    parts = [
        _average_by_kind(_number_colours(x, 4), torch.ones_like(grey), 64, grid=2),
        _average_by_kind(_number_colours(x, 3), torch.ones_like(grey), 27, grid=4),
        edges / (edges.sum((1, 2, 3), keepdim=True) + 1e-3),
        edges / (edges.sum(1, keepdim=True) + 1e-2),
    ]
    return torch.cat([part.sqrt().flatten(1) for part in parts], dim=1)


N_FEATURES = 4 * 64 + 16 * 27 + 2 * 36 * 9


def _number_colours(x: torch.Tensor, levels: int) -> torch.Tensor:
    """Number the colour of each pixel, with this number of levels for each channel."""
    red, green, blue = (levels * x).long().unbind(1)
    return (red * levels + green) * levels + blue


def _average_by_kind(kinds: torch.Tensor, weights: torch.Tensor, n_kinds: int, grid: int) -> torch.Tensor:
    """Return the mean weight of the pixels of each kind in each cell of a grid: (n, n_kinds, grid, grid)."""
    n, height, width = kinds.shape
    spread = torch.zeros(n, n_kinds, height, width).scatter_(1, kinds[:, None], weights[:, None])
    return functional.adaptive_avg_pool2d(spread, grid)


class CaptionNet(nn.Module):
    """Linear functions of log counts of terms; in training each mention is kept with probability `HEARD`.

    Parameters
    ----------
    counts : ndarray of shape (n, terms)
        The counts of the training captions are used to standardise.
    outputs : int
        The net has this number of outputs.
    """

    HEARD = 0.6
    mean: torch.Tensor
    scale: torch.Tensor

    def __init__(self, counts: np.ndarray, outputs: int) -> None:
        super().__init__()
        logs = torch.log1p(torch.as_tensor(counts))
        self.register_buffer("mean", logs.mean(0))
        # The root of the deviation, not itself: a rare term would then say as much as a common one.
        self.register_buffer("scale", logs.std(0).sqrt().clamp(min=1e-3))
        self.linear = nn.Linear(logs.shape[1], outputs)

    def forward(self, counts: torch.Tensor) -> torch.Tensor:
        """Compute outputs of shape (n, outputs)."""
        if self.training:
            counts = torch.binomial(counts, torch.full_like(counts, self.HEARD)) / self.HEARD
        return self.linear((torch.log1p(counts) - self.mean) / self.scale)
