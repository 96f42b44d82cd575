"""Settings of a run, the part of the images that a quick run uses, and fits of one problem with many seeds."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
from joblib import parallel_config
from tqdm import tqdm

import correspondence as co
from correspondence.studies.problems import Problem

__all__ = ["Runs", "Settings", "limit_images", "measure_problem", "use_one_thread_each"]


def use_one_thread_each() -> AbstractContextManager[object]:
    """Give each process of joblib one thread, whatever OMP_NUM_THREADS says, so that none waits for another's."""
    return parallel_config("loky", inner_max_num_threads=1)


def limit_images(data: co.datasets.ImageClasses, n: int, n_test: int) -> co.datasets.ImageClasses:
    """Keep the first n training images and the first n_test test images."""
    return data._replace(
        train_images=data.train_images[:n],
        train_labels=data.train_labels[:n],
        test_images=data.test_images[:n_test],
        test_labels=data.test_labels[:n_test],
    )


@dataclass(frozen=True)
class Settings:
    """The number of seeds, and whether the run is a quick one on less data."""

    seeds: int
    quick: bool

    @classmethod
    def from_options(cls, seeds: int | None = None, quick: bool = False, default: int = 10) -> Settings:
        """Return settings with the default number of seeds unless another one is given."""
        if seeds is not None and seeds < 1:
            raise ValueError(f"seeds must be at least 1, got {seeds}.")
        return cls(seeds or (min(2, default) if quick else default), quick)

    @property
    def fresh(self) -> int:
        """Number of fresh pairs on which each fit is evaluated."""
        return 20_000 if self.quick else 200_000

    def count_training_pairs(self, problem: Problem) -> int:
        """Return the number of pairs that each fit uses."""
        return min(problem.n, 1_000) if self.quick else problem.n


@dataclass(frozen=True, eq=False)
class Runs:
    """Fits of one problem; rows of the arrays are seeds, columns components in training order."""

    problem: Problem
    n: int
    """Training pairs of each fit."""
    fresh: int
    """Pairs on which each fit was evaluated."""
    held_out: np.ndarray
    training: np.ndarray
    seconds: np.ndarray
    """Time of each fit."""
    decompositions: list[co.Decomposition]

    @property
    def errors(self) -> np.ndarray:
        """Distance of each held-out correlation from the exact one, averaged over the seeds."""
        return np.abs(self.held_out - self.problem.correlations).mean(axis=0)

    @property
    def seeds_in_words(self) -> str:
        """Number of seeds in words."""
        return "one seed" if len(self.held_out) == 1 else f"{len(self.held_out)} seeds"

    @property
    def optimism(self) -> float:
        """Mean difference of training and held-out correlations."""
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
