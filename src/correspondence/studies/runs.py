"""Fits of one problem with many seeds, each judged on fresh pairs."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
from joblib import parallel_config
from tqdm import tqdm

import correspondence as co
from correspondence.studies.problems import Problem

__all__ = ["Runs", "Settings", "measure_problem", "one_thread_each"]


def one_thread_each() -> AbstractContextManager[object]:
    """Processes of joblib that do not wait for each other's threads, whatever OMP_NUM_THREADS says."""
    return parallel_config("loky", inner_max_num_threads=1)


@dataclass(frozen=True)
class Settings:
    """How much is computed."""

    seeds: int
    quick: bool

    @classmethod
    def from_options(cls, seeds: int | None = None, quick: bool = False, default: int = 10) -> Settings:
        """Settings with the default number of seeds."""
        if seeds is not None and seeds < 1:
            raise ValueError(f"seeds must be at least 1, got {seeds}.")
        return cls(seeds or (min(2, default) if quick else default), quick)

    @property
    def fresh(self) -> int:
        """Number of fresh pairs that each fit is judged on."""
        return 20_000 if self.quick else 200_000

    def count_training_pairs(self, problem: Problem) -> int:
        """Number of pairs that each fit sees."""
        return min(problem.n, 1_000) if self.quick else problem.n


@dataclass(frozen=True, eq=False)
class Runs:
    """What the fits of one problem gave; rows of the arrays are seeds, columns components in training order."""

    problem: Problem
    n: int
    """Training pairs of each fit."""
    fresh: int
    """Pairs that each fit was judged on."""
    held_out: np.ndarray
    training: np.ndarray
    seconds: np.ndarray
    """Of each fit."""
    decompositions: list[co.Decomposition]

    @property
    def errors(self) -> np.ndarray:
        """Distance of each held-out correlation from the exact one, averaged over the seeds."""
        return np.abs(self.held_out - self.problem.correlations).mean(axis=0)

    @property
    def seeds_in_words(self) -> str:
        """How many seeds, in words."""
        return "one seed" if len(self.held_out) == 1 else f"{len(self.held_out)} seeds"

    @property
    def optimism(self) -> float:
        """How far training correlations are above held-out ones, on average."""
        return float((self.training - self.held_out).mean())


def measure_problem(problem: Problem, settings: Settings) -> Runs:
    """Fit PICE with its default settings to a new sample for each seed and evaluate it on fresh pairs."""
    n, fresh, fits = settings.count_training_pairs(problem), settings.fresh, []
    for seed in tqdm(range(settings.seeds), desc=problem.name, unit="seed", disable=None):
        rng = np.random.default_rng(seed)
        X, Y = problem.draw(n, rng)
        start = time.perf_counter()
        pice = co.PICE(n_components=len(problem.correlations), random_state=seed).fit(X, Y)
        seconds = time.perf_counter() - start
        held_out = pice.evaluate(*problem.draw(fresh, rng)).correlations
        fits.append((held_out, pice.correlations_, seconds, pice.decomposition_))
    held_out, training, times, decompositions = zip(*fits, strict=True)
    return Runs(problem, n, fresh, np.array(held_out), np.array(training), np.array(times), list(decompositions))
