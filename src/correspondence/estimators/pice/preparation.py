"""From what users give to what nets are trained on: pairs are encoded, and some of them held out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from correspondence._util.arguments import as_frame, count_observations
from correspondence.data.encoders.choosing import encoder_for
from correspondence.data.pairs.pairs import Pairs, check_source
from correspondence.estimators.pice import models, processes
from correspondence.estimators.pice.data import Stream, TrainingArrays, TrainingPairs
from correspondence.estimators.pice.feature_net import NetSide, Sides
from correspondence.estimators.pice.judging import MAX_PAIRS_JUDGED, MIN_PAIRS_FOR_VALIDATION, HeldOutJudge

__all__ = ["Preparation", "TrainingData", "check_stream"]

MIN_HELD_OUT_PAIRS = 20  # pairs at least; fewer cannot choose between models


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Pairs as training takes them."""

    sides: Sides
    """Encoders, with known functions if there are any, and without nets."""
    pairs: TrainingPairs
    """Pairs to train on."""
    judge: HeldOutJudge
    everything: TrainingArrays | None
    """All pairs in memory, including the held-out ones, without known functions; None for a stream."""


@dataclass(frozen=True, eq=False)
class Preparation:
    """How pairs are prepared; the parameters of `PICE`, but for `before`."""

    n_components: int
    nets: tuple[Any, Any]
    before: Sides | None
    """Sides of an earlier fit to go on from."""
    validation_fraction: float
    random_state: int

    def prepare_arrays(self, X: Any, Y: Any, n: int, validation: Any) -> TrainingData:
        """Prepare n pairs in memory; `validation`, if given, are pairs to hold out instead of some of them."""
        n_held = 0 if validation is not None else self._count_held_out(n)
        held, rest = np.split(np.random.default_rng(self.random_state).permutation(n), [n_held])
        if len(rest) <= self.n_components:
            raise ValueError(
                f"validation_fraction must leave more than {self.n_components} pairs to train on, got "
                f"{self.validation_fraction}, which leaves {len(rest)}."
            )
        if len(rest) < processes.count_processes():
            raise ValueError(
                f"There are {len(rest)} pairs to train on, fewer than the {processes.count_processes()} processes."
            )
        sides = self._make_sides(X, Y)
        everything = TrainingArrays.encode_pairs(sides, X, Y)
        pairs = everything.take_pairs(np.sort(rest))
        sides = self._add_known_functions(sides, pairs, pairs)
        pairs = pairs.append_known_functions(sides)
        tried = (
            everything.take_pairs(np.sort(held)).append_known_functions(sides)
            if len(held)
            else encode_validation_pairs(sides, validation)
        )
        judge = HeldOutJudge(pairs.take_first(MAX_PAIRS_JUDGED), tried, self.n_components)
        return TrainingData(sides, pairs, judge, everything)

    def prepare_stream(self, batches: Any, sample: tuple[Any, Any], validation: Any) -> TrainingData:
        """Prepare batches, whose first rows are `sample`."""
        sides = self._make_sides(*sample)
        some = TrainingArrays.encode_pairs(sides, *sample)
        sides = self._add_known_functions(sides, some, Stream(sides, batches))
        tried = encode_validation_pairs(sides, validation)
        judge = HeldOutJudge(some.append_known_functions(sides), tried, self.n_components)
        return TrainingData(sides, Stream(sides, batches), judge, None)

    def _count_held_out(self, n: int) -> int:
        is_split = self.validation_fraction and n >= MIN_PAIRS_FOR_VALIDATION
        return max(round(n * self.validation_fraction), MIN_HELD_OUT_PAIRS) if is_split else 0

    def _make_sides(self, X: Any, Y: Any) -> Sides:
        if self.before is not None:
            x, y = (NetSide(side.name, side.encoder) for side in self.before)
            return x, y
        x, y = (
            NetSide(name, encoder_for(values, name, plain=not isinstance(net, str)))
            for name, values, net in zip("XY", (X, Y), self.nets, strict=True)
        )
        return x, y

    def _add_known_functions(self, sides: Sides, sample: TrainingArrays, pairs: TrainingPairs) -> Sides:
        if self.before is not None:
            x, y = (replace(side, known=before.known) for side, before in zip(sides, self.before, strict=True))
            return x, y
        if not all(isinstance(net, str) for net in self.nets):
            return sides
        return models.with_additive(sides, sample, pairs, self.n_components)


def check_stream(batches: Any) -> None:
    """Check that X, which comes without Y, gives batches of pairs."""
    is_table = isinstance(batches, np.ndarray | str | torch.Tensor) or sp.issparse(batches)
    if is_table or not isinstance(batches, Iterable) or as_frame(batches, "X") is not None:
        raise ValueError(
            "Y is missing: requires y to be passed, but the target y is None; give Y, or batches (x, y) for X."
        )
    if isinstance(batches, Pairs):
        check_source(batches)


def encode_validation_pairs(sides: Sides, pair: Any) -> TrainingArrays | None:
    if pair is None:
        return None
    if (
        not isinstance(pair, tuple | list)
        or len(pair) != 2
        or count_observations(pair[0], "X") != count_observations(pair[1], "Y")
    ):
        raise ValueError("validation must be a pair (X, Y) of the same length.")
    return TrainingArrays.encode_pairs(sides, pair[0], pair[1])
