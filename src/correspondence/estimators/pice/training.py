"""Minimising a loss of two nets: AdamW on random batches, averaged weights, judged by held-out pairs."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from correspondence.core.decomposition import Decomposition
from correspondence.estimators.pice import checkpoint, processes
from correspondence.estimators.pice.data import TrainingPairs
from correspondence.estimators.pice.feature_net import Sides
from correspondence.estimators.pice.judging import (
    MIN_STANDARD_ERRORS_TO_WIN,
    HeldOutJudge,
    Judgement,
    decompose_features,
)
from correspondence.estimators.pice.losses import LOSS_FUNCTIONS, Covariances
from correspondence.results.evidence import compute_gain

__all__ = [
    "SCHEDULE_NAMES",
    "Report",
    "Trainer",
    "TrainingSettings",
    "limit_torch_threads",
]

MAX_AVERAGING_DECAY = 0.98
WARM_UP = 50
MAX_RATE_DROPS = 2
MIN_RELATIVE_GAIN = 0.002
MAX_RESTARTS = 4
SEED_OFFSET_PER_PROCESS = 0x9E3779B1  # between the seeds of two processes, of which torch takes 32 bits
SCHEDULE_NAMES = ("plateau", "anneal")

Callback = Callable[[int, Decomposition], Any]
Report = Callable[[dict[str, Any], float], Any]


@dataclass(frozen=True)
class TrainingSettings:
    """How to train: parameters of `PICE` by the same names; `warm` goes on from trained nets."""

    n_components: int
    loss: str
    batch_size: int
    learning_rate: float
    weight_decay: float
    max_steps: int
    evaluate_every: int
    patience: int
    schedule: str
    seed: int
    checkpoint: Path | None
    checkpoint_every: int
    fingerprint: str
    warm: bool


class Trainer:
    """Trains the nets of two sides.

    Parameters
    ----------
    sides : pair of NetSide
        The nets of the sides are trained in place.
    pairs : TrainingPairs
        The pairs to train on.
    judge : HeldOutJudge
        It says how good the nets are.
    baseline : Judgement or None
        The nets have to beat it.
    settings : TrainingSettings
        They say how to train.
    callbacks : list of callable
        Each is called with (step, Decomposition) after each evaluation; one that returns True ends the training.
    progress : bool or callable
        Show a bar, if the output is a terminal; or call this function with each new entry of the history and the
        samples per second so far.
    """

    def __init__(
        self,
        sides: Sides,
        pairs: TrainingPairs,
        judge: HeldOutJudge,
        baseline: Judgement | None,
        settings: TrainingSettings,
        callbacks: list[Callback],
        progress: bool | Report,
    ) -> None:
        self.sides, self.pairs, self.judge, self.baseline = sides, pairs, judge, baseline
        self.settings, self.callbacks, self.progress = settings, callbacks, progress
        self.nets = nn.ModuleList([side.network for side in sides])
        processes.share_start(self.nets)
        self.averages = copy.deepcopy(self.nets)
        self.best = copy.deepcopy(self.nets)
        self._parameters: list[Tensor] = list(self.nets.parameters())
        self._averaged: list[Tensor] = list(self.averages.parameters())
        self._buffers = list(zip(self.averages.buffers(), self.nets.buffers(), strict=True))
        self.covariances = Covariances()
        self.optimizer = self._make_optimizer()
        self.history: list[dict[str, Any]] = []
        self.counts = {"step": 0, "bad": 0, "drops": 0, "restarts": 0, "done": 0}
        self.scale = 1.0
        self.best_terms, self.last_clear = np.empty(0), np.empty(0)
        self._calls = processes.from_first(lambda: bool(callbacks))
        self.samples_per_second: float | None = None
        self._clock, self._samples = 0.0, 0

    def train_nets(self) -> Sides:
        """Train to the end and return the sides with the best nets."""
        s, counts = self.settings, self.counts
        checkpoint.restore_trainer(self)
        batches = self.pairs.iterate_batches(s.batch_size, s.seed, skip=counts["step"])
        is_shown = self.progress is True and processes.is_first()
        self._clock, self._samples = time.perf_counter(), 0
        with tqdm(total=s.max_steps, initial=counts["step"], desc="PICE", disable=None if is_shown else True) as bar:
            while not counts["done"]:
                x, y = next(batches)
                counts["step"] += 1
                loss = self._update_nets(x, y)
                self._samples += self.covariances.n
                is_last = counts["step"] >= s.max_steps
                if loss is not None and (is_last or counts["step"] % s.evaluate_every == 0):
                    self._evaluate_nets(loss, bar)
                if is_last:
                    counts["done"] = 1
                if counts["step"] % s.checkpoint_every == 0 or counts["done"]:
                    checkpoint.save_trainer(self)
                bar.update()
        self.samples_per_second = self._measure_speed() if self._samples else None
        if not len(self.best_terms):
            self.best.load_state_dict(self.averages.state_dict())
        return self._make_sides(self.best)

    def _measure_speed(self) -> float:
        """Measure the pairs per second of all processes since training began or went on."""
        return self._samples / (time.perf_counter() - self._clock)

    def _make_sides(self, nets: nn.ModuleList) -> Sides:
        x, y = (replace(side, net=net) for side, net in zip(self.sides, nets, strict=True))
        return x, y

    def _make_optimizer(self) -> torch.optim.Optimizer:
        s = self.settings
        return torch.optim.AdamW(self.nets.parameters(), s.learning_rate, weight_decay=s.weight_decay, foreach=True)

    def _update_nets(self, x: Any, y: Any) -> float | None:
        """Take one step and return the loss; None if it went wrong and the nets were set back."""
        # The same seed after a restart, whatever was drawn; another one in each process, which has other rows.
        seed_generators(self.settings.seed + self.counts["step"] + processes.get_rank() * SEED_OFFSET_PER_PROCESS)
        for group in self.optimizer.param_groups:
            group["lr"] = self._compute_learning_rate()
        self.nets.train(x.shape[0] > 1 or processes.count_processes() > 1)  # batch norm has no variance of a single row
        with processes.join_batch_norm(self.nets):
            f, g = (side.network(side.to_tensors(rows)) for side, rows in zip(self.sides, (x, y), strict=True))
        at_fault = [
            s.argument for s, values in zip(self.sides, (f, g), strict=True) if not torch.isfinite(values).all()
        ]
        try:
            loss = LOSS_FUNCTIONS[self.settings.loss](*self.covariances(f, g))
        except torch.linalg.LinAlgError:
            self._set_nets_back(at_fault)
            return None
        self.optimizer.zero_grad()
        loss.backward()
        processes.sum_gradients(self._parameters)
        norm = nn.utils.clip_grad_norm_(self._parameters, 1e3)
        if not (torch.isfinite(loss) and torch.isfinite(norm)):
            self._set_nets_back(at_fault)
            return None
        self.optimizer.step()
        self._average_weights()
        return loss.item()

    def _compute_learning_rate(self) -> float:
        s, step = self.settings, self.counts["step"]
        rate = s.learning_rate * self.scale * min(1.0, step / WARM_UP)
        return rate * min(1.0, 2.5 * (1 - (step - 1) / s.max_steps)) if self._is_annealing else rate

    @property
    def _is_annealing(self) -> bool:
        """Whether the learning rate falls to 0 at the last step, whatever the score."""
        return self.judge.validation is None or self.settings.schedule == "anneal"

    @torch.no_grad()
    def _average_weights(self) -> None:
        step = self.counts["step"]
        weight = 1 - min(MAX_AVERAGING_DECAY, step / (step + 10))
        torch._foreach_lerp_(self._averaged, self._parameters, weight)
        for average, value in self._buffers:
            average.copy_(value)

    def _set_nets_back(self, at_fault: list[str]) -> None:
        """Go on from the best nets so far with a quarter of the step."""
        self.counts["restarts"] += 1
        if self.counts["restarts"] > MAX_RESTARTS:
            at_fault = sorted({name for part in processes.all_gather(at_fault) for name in part})
            why = f", and {' and '.join(at_fault)} returned NaN or infinity" if at_fault else ""
            raise RuntimeError(
                f"Training diverged {MAX_RESTARTS + 1} times, even with a learning rate of "
                f"{self.settings.learning_rate * self.scale:.1g}{why}: check the nets, or use a smaller learning_rate."
            )
        self._quarter_the_step()

    def _quarter_the_step(self) -> None:
        self.scale /= 4
        for nets in (self.nets, self.averages):
            nets.load_state_dict(self.best.state_dict())
        self.optimizer = self._make_optimizer()
        self.covariances = Covariances()

    def _evaluate_nets(self, loss: float, bar: Any) -> None:
        sides = self._make_sides(self.averages)
        judgement = self.judge(sides)
        captured = judgement.captured
        self.history.append(
            {
                "step": self.counts["step"],
                "loss": loss,
                "learning_rate": self._compute_learning_rate(),
                "correlations": judgement.decomposition.correlations.tolist(),
                "captured": captured,
            }
        )
        if callable(self.progress) and processes.is_first():
            self.progress(self.history[-1], self._measure_speed())
        if captured is not None:
            bar.set_postfix_str(f"captured, held out: {captured:.4f}")
            self._compare_with_best(judgement, captured)
        self._run_callbacks(sides)

    def _compare_with_best(self, judgement: Judgement, captured: float) -> None:
        terms = judgement.terms
        assert terms is not None
        if not len(self.best_terms) or captured > self.best_terms.mean():
            self.best_terms = terms
            self.best.load_state_dict(self.averages.state_dict())
        if self._is_annealing:
            return
        if not len(self.last_clear) or _is_worth_it(self.last_clear, terms):
            self.last_clear, self.counts["bad"] = terms, 0
            return
        self.counts["bad"] += 1
        if self.counts["bad"] < self.settings.patience:
            return
        baseline = None if self.baseline is None else self.baseline.terms
        is_ahead = baseline is None or compute_gain(baseline, self.best_terms) > MIN_STANDARD_ERRORS_TO_WIN
        if is_ahead and self.counts["drops"] < MAX_RATE_DROPS:
            self.counts["drops"] += 1
            self.counts["bad"] = max(0, self.settings.patience - 2)
            self._quarter_the_step()
        else:
            self.counts["done"] = 1

    def _run_callbacks(self, sides: Sides) -> None:
        if not self._calls:
            return
        frozen = (sides[0].copy_side(), sides[1].copy_side())
        decomposition = decompose_features(frozen, self.judge.training, self.settings.n_components)
        if processes.from_first(lambda: self._wants_to_end(decomposition)):
            self.counts["done"] = 1

    def _wants_to_end(self, decomposition: Decomposition) -> bool:
        answers = [callback(self.counts["step"], decomposition) for callback in self.callbacks]
        return any(isinstance(answer, bool | np.bool_) and bool(answer) for answer in answers)


def _is_worth_it(before: np.ndarray, now: np.ndarray) -> bool:
    """Whether the gain is more than chance may bring, and more than a trifle."""
    return compute_gain(before, now) > 1 and now.mean() - before.mean() > MIN_RELATIVE_GAIN * abs(before.mean())


def seed_generators(seed: int) -> None:
    """Seed as ``torch.manual_seed`` does, which on a machine without a GPU costs as much as a step of training."""
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)
    torch.default_generator.manual_seed(seed)


@contextmanager
def limit_torch_threads(n: int) -> Iterator[None]:
    """Limit torch to n threads for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(min(n, before))
    try:
        yield
    finally:
        torch.set_num_threads(before)
