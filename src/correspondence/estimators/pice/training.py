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

from correspondence.core import pair_moments
from correspondence.core.decomposition import Decomposition
from correspondence.core.functions import LinearFunctions
from correspondence.core.moments import Moments
from correspondence.core.scoring import compute_captured_terms
from correspondence.data.pairs import pairs as sources
from correspondence.estimators.pice import checkpoint, processes
from correspondence.estimators.pice.data import Stream, TrainingArrays, TrainingPairs
from correspondence.estimators.pice.feature_net import Sides
from correspondence.estimators.pice.losses import LOSS_FUNCTIONS, Covariances
from correspondence.results.held_out import compute_gain

__all__ = [
    "SCHEDULE_NAMES",
    "HeldOutJudge",
    "Judgement",
    "Report",
    "Trainer",
    "TrainingSettings",
    "decompose_features",
    "limit_torch_threads",
]

RELATIVE_TOLERANCE = 1e-6  # nets compute in float32: what is smaller is rounding
MIN_STANDARD_ERRORS_TO_WIN = 2.0  # standard errors by which a more flexible model must win
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
    """How to train; the parameters of `PICE` of the same names."""

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


@dataclass(frozen=True, eq=False)
class Judgement:
    """Decomposition on the training pairs, and what it captures of each held-out pair (None without any)."""

    decomposition: Decomposition
    terms: np.ndarray | None

    @property
    def captured(self) -> float | None:
        """What the functions capture of the held-out pairs."""
        return None if self.terms is None else float(self.terms.mean())


@dataclass(frozen=True, eq=False)
class HeldOutJudge:
    """Whitens features on training pairs and tries them on held-out ones."""

    training: TrainingArrays
    validation: TrainingArrays | None
    n_components: int

    def __call__(self, sides: Sides) -> Judgement:
        """Judge the features of two sides."""
        d = decompose_features(sides, self.training, self.n_components)
        if self.validation is None:
            return Judgement(d, None)
        F, G = self.evaluate_functions(d, sides)
        return Judgement(d, processes.from_first(lambda: compute_captured_terms(F, G, d.correlations)))

    def evaluate_functions(self, d: Decomposition, sides: Sides) -> tuple[np.ndarray, np.ndarray]:
        """Values of f and g on the held-out pairs."""
        assert self.validation is not None
        assert isinstance(d.f, LinearFunctions)
        assert isinstance(d.g, LinearFunctions)
        values = [
            (d.f.of_features(sides[0].compute_features(x)), d.g.of_features(sides[1].compute_features(y)))
            for x, y in self.validation.iterate_blocks()
        ]
        F, G = zip(*(pair for part in processes.all_gather(values) for pair in part), strict=True)
        return np.vstack(F), np.vstack(G)


def decompose_features(sides: Sides, pairs: TrainingPairs, n_components: int, y_sample: Any = None) -> Decomposition:
    """One exact whitening (Algorithm 1) of the features over all pairs of all processes, a block at a time."""
    if processes.count_processes() == 1 and isinstance(pairs, Stream) and isinstance(pairs.source, sources.Pairs):
        moments = pair_moments.moments(pairs.source, sides[0].on_cpu(), sides[1].on_cpu())  # where they are
    else:
        moments = Moments()
        for x, y in pairs.iterate_blocks():
            moments.update(sides[0].compute_features(x), sides[1].compute_features(y))
        moments, *others = processes.all_gather(moments)
        moments = sum(others, start=moments)
    return moments.decompose(
        n_components, tol=RELATIVE_TOLERANCE, x_features=sides[0], y_features=sides[1], y_sample=y_sample
    )


class Trainer:
    """Trains the nets of two sides.

    Parameters
    ----------
    sides : pair of Side
        With nets, which are trained in place.
    pairs : Pairs
        To train on.
    judge : Judge
        Who says how good the nets are.
    baseline : Judgement or None
        What they have to beat.
    settings : Settings
        How to train.
    callbacks : list of callable
        Called with (step, Decomposition) after each evaluation; one that returns True ends the training.
    progress : bool or callable
        Whether to show a bar, if the output is a terminal; or a function of each new entry of the history and the
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
        processes.same_start(self.nets)
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
        """Pairs per second, of all processes, since training began or went on."""
        return self._samples / (time.perf_counter() - self._clock)

    def _make_sides(self, nets: nn.ModuleList) -> Sides:
        x, y = (replace(side, net=net) for side, net in zip(self.sides, nets, strict=True))
        return x, y

    def _make_optimizer(self) -> torch.optim.Optimizer:
        s = self.settings
        return torch.optim.AdamW(self.nets.parameters(), s.learning_rate, weight_decay=s.weight_decay, foreach=True)

    def _update_nets(self, x: Any, y: Any) -> float | None:
        """One step; None if it went wrong and the nets were set back."""
        # The same after a restart, whatever was drawn; another one in each process, whose rows are others.
        seed_generators(self.settings.seed + self.counts["step"] + processes.get_rank() * SEED_OFFSET_PER_PROCESS)
        for group in self.optimizer.param_groups:
            group["lr"] = self._compute_learning_rate()
        self.nets.train(x.shape[0] > 1 or processes.count_processes() > 1)  # batch norm has no variance of a single row
        with processes.joint_batch_norm(self.nets):
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
        """Whether the learning rate falls to 0 at the last step, come what may."""
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
        if self.counts["drops"] < MAX_RATE_DROPS and self._is_ahead():
            self.counts["drops"] += 1
            self.counts["bad"] = max(0, self.settings.patience - 2)
            self._quarter_the_step()
        else:
            self.counts["done"] = 1

    def _is_ahead(self) -> bool:
        baseline = None if self.baseline is None else self.baseline.terms
        return baseline is None or compute_gain(baseline, self.best_terms) > MIN_STANDARD_ERRORS_TO_WIN

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
    """Whether training has brought more than chance may, and more than a trifle."""
    return compute_gain(before, now) > 1 and now.mean() - before.mean() > MIN_RELATIVE_GAIN * abs(before.mean())


def seed_generators(seed: int) -> None:
    """``torch.manual_seed``, which on a machine without a GPU costs as much as a step of training."""
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
