"""How good functions are: whitened on training pairs, and tried on held-out ones."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm, rankdata

from correspondence._util.arguments import find_user_stacklevel
from correspondence._util.user_warnings import NotHeldOut, NothingFound
from correspondence.core.decomposition import Decomposition
from correspondence.core.functions import LinearFunctions
from correspondence.core.moments import Moments
from correspondence.core.moments import moments as collect_moments
from correspondence.core.scoring import compute_captured_terms, score_pairs
from correspondence.data.pairs import pairs as sources
from correspondence.estimators.pice import processes
from correspondence.estimators.pice.data import Stream, TrainingArrays, TrainingPairs
from correspondence.estimators.pice.feature_net import Sides
from correspondence.results.evidence import HeldOut

__all__ = [
    "MAX_PAIRS_JUDGED",
    "MIN_PAIRS_FOR_VALIDATION",
    "MIN_STANDARD_ERRORS_TO_WIN",
    "HeldOutJudge",
    "Judgement",
    "decompose_features",
    "warn_if_nothing_found",
    "warn_of_nothing_held_out",
]

RELATIVE_TOLERANCE = 1e-6  # nets compute in float32: what is smaller is rounding
MIN_STANDARD_ERRORS_TO_WIN = 2.0  # standard errors by which a more flexible model must win
MAX_PAIRS_JUDGED = 20_000  # pairs on which nets are judged while they are trained
MIN_PAIRS_FOR_VALIDATION = 100  # pairs, from which on some are held out
MAX_FALSE_FINDING_RATE = 0.01  # how often held-out pairs may show something where there is nothing


@dataclass(frozen=True, eq=False)
class Judgement:
    """Decomposition on the training pairs, and what it captures of each held-out pair (None without any)."""

    decomposition: Decomposition
    terms: np.ndarray | None

    @property
    def captured(self) -> float | None:
        """Part of the total inertia that the functions capture on the held-out pairs."""
        return None if self.terms is None else float(self.terms.mean())


@dataclass(frozen=True, eq=False)
class HeldOutJudge:
    """Training pairs, on which features are whitened, and held-out pairs, on which they are tried."""

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
        """Evaluate f and g on the held-out pairs."""
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
    """Whiten the features exactly (Algorithm 1) over all pairs of all processes, a block at a time."""
    if processes.count_processes() == 1 and isinstance(pairs, Stream) and isinstance(pairs.source, sources.Pairs):
        moments = collect_moments(pairs.source, sides[0].copy_to_cpu(), sides[1].copy_to_cpu())  # where they are
    else:
        moments = Moments()
        for x, y in pairs.iterate_blocks():
            moments.update(sides[0].compute_features(x), sides[1].compute_features(y))
        moments, *others = processes.all_gather(moments)
        moments = sum(others, start=moments)
    return moments.decompose(
        n_components, tol=RELATIVE_TOLERANCE, x_features=sides[0], y_features=sides[1], y_sample=y_sample
    )


def warn_if_nothing_found(F: np.ndarray, G: np.ndarray, correlations: np.ndarray, result: HeldOut) -> None:
    """Warn if the held-out pairs, with the values F and G of the functions there, show no dependence."""
    if is_something_found(F, G, correlations):
        return
    low, high = result.captured_interval
    warnings.warn(
        f"Nothing was found: of {result.n:g} held-out pairs the functions capture {result.captured:.3g} "
        f"[{low:.3g}, {high:.3g}], which may be 0; the correlations on the training pairs may be chance.",
        NothingFound,
        stacklevel=find_user_stacklevel(),
    )


def warn_of_nothing_held_out() -> None:
    """Warn that there are too few pairs to hold some out."""
    warnings.warn(
        f"Nothing is held out of fewer than {MIN_PAIRS_FOR_VALIDATION} pairs, so the training correlations are "
        "optimistic: evaluate on other pairs, or give `validation`.",
        NotHeldOut,
        stacklevel=find_user_stacklevel(),
    )


def is_something_found(F: np.ndarray, G: np.ndarray, correlations: np.ndarray) -> bool:
    """Whether the score or a correlation is above 0, at a level that allows for the choices made."""
    level = 1 - MAX_FALSE_FINDING_RATE / max(1, F.shape[1])
    strict = score_pairs(F, G, correlations, level=level)
    if strict.captured_interval[0] > 0 or (strict.intervals[:, 0] > 0).any():
        return True
    # A single outlying pair makes the intervals as wide as can be, but it has only one rank.
    f, g = (rankdata(values, axis=0) - (len(values) + 1) / 2 for values in (F, G))
    scale = np.sqrt((f**2).sum(axis=0) * (g**2).sum(axis=0))
    agreement = (f * g).sum(axis=0) / np.where(scale > 0, scale, 1)
    return bool((agreement * np.sqrt(len(F) - 1) > norm.ppf(level)).any())
