"""Pairs (x, y) for training: arrays in memory, or batches that are read again and again.

If several processes train, each is served its share: of arrays, which all of them have, some rows of each batch, so
that the joint batch is the one of a single process; of a stream, batches of its own, or its share of blocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import islice
from typing import Any, Protocol

import narwhals as nw
import numpy as np
import scipy.sparse as sp
import torch

from correspondence._util.arguments import as_frame, count_observations, take_rows, to_array
from correspondence.data.encoders.images import Images
from correspondence.data.pairs import pairs as sources
from correspondence.estimators.pice import processes
from correspondence.estimators.pice.feature_net import MAX_ROWS_PER_BLOCK, NetSide, Sides

__all__ = ["Blocks", "Stream", "TrainingArrays", "TrainingPairs", "first_rows"]

Batch = tuple[Any, Any]
Reader = Callable[[], Batch]


class TrainingPairs(Protocol):
    """What training asks of its data."""

    def iterate_blocks(self) -> Iterator[Batch]:
        """Iterate once over all pairs of this process, some rows at a time."""

    def iterate_batches(self, size: int, seed: int, skip: int = 0) -> Iterator[Batch]:
        """Iterate endlessly over this process's share of random batches, drawn by the seed; skip the first ones."""


class Blocks(ABC):
    """A source of many rows at a time, the same for all processes, which training shuffles and cuts into batches."""

    @abstractmethod
    def __iter__(self) -> Iterator[Batch]: ...


class TrainingArrays:
    """Pairs in memory.

    Parameters
    ----------
    x, y : array-like
        The rows are as `NetSide.encode_rows` makes them; images are encoded when they are needed.
    """

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y
        self.n = x.shape[0]

    @classmethod
    def encode_pairs(cls, sides: Sides, X: Any, Y: Any) -> TrainingArrays:
        """Encode the pairs of two data sets."""
        x, y = (encode_side_rows(side, values) for side, values in zip(sides, (X, Y), strict=True))
        return cls(x, y)

    def take_pairs(self, index: np.ndarray) -> TrainingArrays:
        """Take some of the pairs."""
        return TrainingArrays(_take_rows(self.x, index), _take_rows(self.y, index))

    def __len__(self) -> int:
        return self.n

    def append_known_functions(self, sides: Sides) -> TrainingArrays:
        """Append the known functions of the sides, found after encoding, to the rows."""
        x, y = (
            rows if side.known is None else np.hstack([rows, side.known(rows)])
            for side, rows in zip(sides, (self.x, self.y), strict=True)
        )
        return TrainingArrays(x, y)

    def iterate_blocks(self) -> Iterator[Batch]:  # noqa: D102
        return self._iterate_slice(processes.slice_own_rows(self.n))

    def iterate_all_blocks(self) -> Iterator[Batch]:
        """Iterate once over all pairs, for what must be the same to the last bit for any number of processes."""
        return self._iterate_slice(slice(0, self.n))

    def _iterate_slice(self, part: slice) -> Iterator[Batch]:
        for start in range(part.start, part.stop, MAX_ROWS_PER_BLOCK):
            rows = slice(start, min(start + MAX_ROWS_PER_BLOCK, part.stop))
            yield self.x[rows], self.y[rows]

    def take_first(self, n: int) -> TrainingArrays:
        """Take the first n pairs."""
        return self if n >= self.n else self.take_pairs(np.arange(n))

    def iterate_batches(self, size: int, seed: int, skip: int = 0) -> Iterator[Batch]:  # noqa: D102
        size = min(size, self.n)
        each = self.n // size
        step = skip
        while True:
            epoch, first = divmod(step, each)
            order = np.random.default_rng([seed, epoch]).permutation(self.n)
            for i in range(first, each):
                rows = order[i * size : (i + 1) * size][processes.slice_own_rows(size)]
                yield self.x[rows], self.y[rows]
                step += 1


class _EncodedRows:
    """Rows of images, encoded when they are asked for."""

    def __init__(self, side: NetSide, values: np.ndarray) -> None:
        self.side, self.values, self.shape = side, values, values.shape

    def __getitem__(self, rows: Any) -> np.ndarray:
        return self.side.encode_rows(self.values[rows])


def _take_rows(rows: Any, index: np.ndarray) -> Any:
    return _EncodedRows(rows.side, rows.values[index]) if isinstance(rows, _EncodedRows) else rows[index]


def encode_side_rows(side: NetSide, values: Any) -> Any:
    is_large = isinstance(side.encoder, Images)
    return _EncodedRows(side, to_array(values, side.name)) if is_large else side.encode_rows(values)


class Stream:
    """Pairs in batches (x, y) of an iterable that can be read again and again, such as a torch DataLoader.

    A joint batch consists of the batches that the processes read at the same time: the r-th of R processes reads the
    batches r, r + R, ... Fewer than R batches at the end are left out. `Blocks`, and `co.Pairs`, are shuffled and cut
    into batches of the size that is asked for, and each process computes its share: so the joint batch is that of a
    single process.
    """

    def __init__(self, sides: Sides, source: Iterable[Any]) -> None:
        self.sides, self.source = sides, source
        self.is_cut = isinstance(source, Blocks | sources.Pairs)

    def iterate_blocks(self) -> Iterator[Batch]:  # noqa: D102
        for x, y in self._read_batches():
            n = count_observations(x, "X")
            share = np.arange(n)[processes.slice_own_rows(n)]
            if not self.is_cut or processes.count_processes() == 1:
                yield self.encode_batch(x, y)
            elif len(share):
                yield self.encode_batch(x, y, share)

    def iterate_batches(self, size: int, seed: int, skip: int = 0) -> Iterator[Batch]:  # noqa: D102
        step, epoch = 0, 0
        while True:
            torch.manual_seed(seed + epoch)  # a DataLoader that shuffles takes its order from here
            batches = self._cut_batches(size, [seed, epoch]) if self.is_cut else self._iterate_whole_batches()
            before = step
            for read in batches:
                step += 1
                if step > skip:
                    yield read()
            if step == before:
                n = processes.count_processes()
                raise ValueError(f"X must give at least {n} batches, one for each process. Make them smaller.")
            epoch += 1

    def _read_batches(self) -> Iterator[Batch]:
        """Read the batches of this process."""
        batches = iterate_checked_batches(self.source)
        return batches if self.is_cut else islice(batches, processes.get_rank(), None, processes.count_processes())

    def _iterate_whole_batches(self) -> Iterator[Reader]:
        """Iterate over batches as they come, as long as each process has one; they are encoded when needed."""
        batches = self._read_batches()
        while processes.all_have((batch := next(batches, None)) is not None):
            assert batch is not None
            yield partial(self.encode_batch, *batch)

    def _cut_batches(self, size: int, seed: list[int]) -> Iterator[Reader]:
        """Cut batches of about a size from shuffled blocks."""
        for number, (x, y) in enumerate(self._read_batches()):
            n = count_observations(x, "X")
            order = np.random.default_rng([*seed, number]).permutation(n)
            parts = [
                part for part in np.array_split(order, max(1, n // size)) if len(part) >= processes.count_processes()
            ]
            shares = [part[processes.slice_own_rows(len(part))] for part in parts]
            if shares:
                # Rows are encoded when the first of their batches is needed: a run that is continued skips many.
                read = cache(partial(self.encode_batch, x, y, np.concatenate(shares)))
                ends = np.cumsum([len(share) for share in shares])
                yield from (
                    partial(_read_slice, read, slice(end - len(s), end)) for end, s in zip(ends, shares, strict=True)
                )

    def encode_batch(self, x: Any, y: Any, index: np.ndarray | None = None) -> Batch:
        """Encode both sides of a batch, or some rows of them."""
        if index is not None:
            x, y = take_rows(x, index), take_rows(y, index)
        return self.sides[0].encode_rows(x), self.sides[1].encode_rows(y)


def _read_slice(read: Reader, part: slice) -> Batch:
    x, y = read()
    return x[part], y[part]


def iterate_checked_batches(batches: Iterable[Any]) -> Iterator[Batch]:
    if iter(batches) is batches:
        raise ValueError(
            "X must be an iterable that can be read again and again, got an iterator, which can be read only once. "
            "Give a DataLoader or a list of batches."
        )
    empty = True
    for batch in batches:
        if not isinstance(batch, tuple | list) or len(batch) != 2:
            raise ValueError(
                f"X without Y must give batches (x, y), got {type(batch).__name__}. Pass Y, or pairs of batches."
            )
        n, m = count_observations(batch[0], "X"), count_observations(batch[1], "Y")
        if n != m:
            raise ValueError(f"x and y of a batch must have the same length, got {n} and {m}.")
        if n:
            empty = False
            yield batch[0], batch[1]
    if empty:
        raise ValueError("X must give batches with rows, got none.")


def first_rows(batches: Iterable[Any], limit: int) -> Batch:
    """Join the first rows of a stream in one batch."""
    xs, ys, n = [], [], 0
    for x, y in iterate_checked_batches(batches):
        xs.append(x)
        ys.append(y)
        n += count_observations(x, "X")
        if n >= limit:
            break
    return join_batches(xs), join_batches(ys)


def join_batches(parts: list[Any]) -> Any:
    first = parts[0]
    if as_frame(first, "X") is not None:
        return nw.concat([nw.from_native(part) for part in parts]).to_native()
    if isinstance(nw.from_native(first, series_only=True, pass_through=True), nw.Series):
        return join_batches(
            [nw.from_native(part, series_only=True).alias("value").to_frame().to_native() for part in parts]
        )
    if sp.issparse(first):
        return sp.vstack(parts, format="csr")
    if isinstance(first, list | tuple):
        return [value for part in parts for value in part]
    arrays = [to_array(part, "X") for part in parts]
    if not all(array.ndim for array in arrays) or len({array.shape[1:] for array in arrays}) > 1:
        raise ValueError("X must give batches of rows that have the same shape.")
    return np.concatenate(arrays)
