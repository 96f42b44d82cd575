"""Pairs (x, y) for training: arrays in memory, or batches that are read again and again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import narwhals as nw
import numpy as np
import scipy.sparse as sp
import torch

from correspondence.checks import as_frame, length
from correspondence.encoding import Images, to_array
from correspondence.pice.sides import BLOCK, Side, Sides

__all__ = ["Arrays", "Pairs", "Stream", "first_rows"]

Batch = tuple[Any, Any]


class Pairs(Protocol):
    """What training asks of its data."""

    def blocks(self) -> Iterator[Batch]:
        """All pairs once, some rows at a time."""

    def shuffled(self, size: int, seed: int, skip: int = 0) -> Iterator[Batch]:
        """Endless random batches, the same for the same seed, without the first ones."""


class Arrays:
    """Pairs in memory.

    Parameters
    ----------
    x, y : array-like
        Rows as `Side.rows` makes them; images are encoded when they are needed.
    """

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y
        self.n = x.shape[0]

    @classmethod
    def encoded(cls, sides: Sides, X: Any, Y: Any) -> Arrays:
        """Pairs of two data sets."""
        x, y = (_rows(side, values) for side, values in zip(sides, (X, Y), strict=True))
        return cls(x, y)

    def take(self, index: np.ndarray) -> Arrays:
        """Some of the pairs."""
        return Arrays(_take(self.x, index), _take(self.y, index))

    def __len__(self) -> int:
        return self.n

    def extended(self, sides: Sides) -> Arrays:
        """The same pairs with the known functions of the sides, found since, behind the rows."""
        x, y = (
            rows if side.known is None else np.hstack([rows, side.known(rows)])
            for side, rows in zip(sides, (self.x, self.y), strict=True)
        )
        return Arrays(x, y)

    def blocks(self) -> Iterator[Batch]:  # noqa: D102
        for start in range(0, self.n, BLOCK):
            yield self.x[start : start + BLOCK], self.y[start : start + BLOCK]

    def first(self, n: int) -> Arrays:
        """The first n pairs."""
        return self if n >= self.n else self.take(np.arange(n))

    def shuffled(self, size: int, seed: int, skip: int = 0) -> Iterator[Batch]:  # noqa: D102
        size = min(size, self.n)
        each = self.n // size
        step = skip
        while True:
            epoch, first = divmod(step, each)
            order = np.random.default_rng([seed, epoch]).permutation(self.n)
            for i in range(first, each):
                rows = order[i * size : (i + 1) * size]
                yield self.x[rows], self.y[rows]
                step += 1


class _Encoded:
    """Rows of images, encoded when they are asked for."""

    def __init__(self, side: Side, values: np.ndarray) -> None:
        self.side, self.values, self.shape = side, values, values.shape

    def __getitem__(self, rows: Any) -> np.ndarray:
        return self.side.rows(self.values[rows])


def _take(rows: Any, index: np.ndarray) -> Any:
    return _Encoded(rows.side, rows.values[index]) if isinstance(rows, _Encoded) else rows[index]


def _rows(side: Side, values: Any) -> Any:
    return _Encoded(side, to_array(values, side.name)) if isinstance(side.encoder, Images) else side.rows(values)


class Stream:
    """Pairs in batches (x, y) that an iterable, such as a torch DataLoader, gives anew each time it is read."""

    def __init__(self, sides: Sides, batches: Iterable[Any]) -> None:
        self.sides, self.source = sides, batches

    def blocks(self) -> Iterator[Batch]:  # noqa: D102
        for x, y in _checked(self.source):
            yield self.sides[0].rows(x), self.sides[1].rows(y)

    def shuffled(self, size: int, seed: int, skip: int = 0) -> Iterator[Batch]:  # noqa: D102
        step, epoch = 0, 0
        while True:
            torch.manual_seed(seed + epoch)  # a DataLoader that shuffles takes its order from here
            for x, y in _checked(self.source):
                step += 1
                if step > skip:
                    yield self.sides[0].rows(x), self.sides[1].rows(y)
            epoch += 1


def _checked(batches: Iterable[Any]) -> Iterator[Batch]:
    if iter(batches) is batches:
        raise ValueError(
            "X is an iterator, which can be read only once: give a DataLoader, a list of batches or another iterable "
            "that starts anew each time."
        )
    empty = True
    for batch in batches:
        if not isinstance(batch, tuple | list) or len(batch) != 2:
            raise ValueError(
                f"X without Y must give batches (x, y), got {type(batch).__name__}: pass Y, or such batches."
            )
        if length(batch[0], "X") != length(batch[1], "Y"):
            raise ValueError(
                "x and y of a batch must have the same length, "
                f"got {length(batch[0], 'X')} and {length(batch[1], 'Y')}."
            )
        empty = False
        if length(batch[0], "X"):
            yield batch[0], batch[1]
    if empty:
        raise ValueError("X is empty: it gives no batches.")


def first_rows(batches: Iterable[Any], limit: int) -> Batch:
    """The first rows of a stream as one batch."""
    xs, ys, n = [], [], 0
    for x, y in _checked(batches):
        xs.append(x)
        ys.append(y)
        n += length(x, "X")
        if n >= limit:
            break
    return _joined(xs), _joined(ys)


def _joined(parts: list[Any]) -> Any:
    first = parts[0]
    if as_frame(first, "X") is not None:
        return nw.concat([nw.from_native(part) for part in parts]).to_native()
    if isinstance(nw.from_native(first, series_only=True, pass_through=True), nw.Series):
        return _joined([nw.from_native(part, series_only=True).alias("value").to_frame().to_native() for part in parts])
    if sp.issparse(first):
        return sp.vstack(parts, format="csr")
    if isinstance(first, list | tuple):
        return [value for part in parts for value in part]
    arrays = [to_array(part, "X") for part in parts]
    if len({array.shape[1:] for array in arrays}) > 1:
        raise ValueError("The batches must have rows of the same shape.")
    return np.concatenate(arrays)
