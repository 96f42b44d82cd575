"""Tests of components by fits to permuted pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from correspondence._util.arguments import count_observations, take_rows
from correspondence.results.component_tests import PermutationTest
from correspondence.validation.fitting import fit_copy, run_tasks

__all__ = ["run_with_refits"]


def run_with_refits(
    est: Any, X: Any, Y: Any, n_permutations: int, groups: Any, seed: int, n_jobs: Any, progress: Any
) -> PermutationTest:
    """Compare training correlations with the largest of fits to pairs whose partners are exchanged."""
    if groups is not None:
        raise ValueError("groups cannot be kept together when partners are exchanged. Use refit=False.")
    observed = fit_copy(est, X, Y).decomposition_.correlations
    rng, n = np.random.default_rng(seed), count_observations(X, "X")
    tasks = ((est, X, Y, rng.permutation(n)) for _ in range(n_permutations))
    largest = np.array(run_tasks(_fit_permuted_pairs, tasks, n_jobs, "permutations", progress))
    exceeded = (largest[:, None] >= observed - 1e-12).sum(axis=0)
    null = np.tile(largest[:, None], (1, len(observed)))
    pvalues = np.maximum.accumulate((1 + exceeded) / (1 + n_permutations))
    return PermutationTest(pvalues, observed, observed, null, n_permutations, "refitted")


def _fit_permuted_pairs(est: Any, X: Any, Y: Any, order: np.ndarray) -> float:
    return fit_copy(est, X, take_rows(Y, order)).decomposition_.maximal_correlation
