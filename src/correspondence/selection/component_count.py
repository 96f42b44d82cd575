"""How many components the method that was chosen has."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.data.counting import MIN_PAIRS
from correspondence.results.component_tests import LatentDimension
from correspondence.results.evidence import find_points
from correspondence.selection.dependence_test import (
    N_DRAWS,
    SIGNIFICANCE_LEVEL,
    DependenceTest,
    list_views,
    run_component_tests,
)
from correspondence.selection.method_registry import PairsProfile, make_estimator
from correspondence.selection.race import Contest, Race, limit_components
from correspondence.selection.time_budget import NO_TIME_TEXT
from correspondence.selection.wanted import Wanted
from correspondence.validation.latent_dimension import assess_components, latent_dimension
from correspondence.validation.permutation import MIN_FOR_BLOCKS

__all__ = ["ComponentCount", "count_components", "describe_count"]


@dataclass(frozen=True, eq=False)
class ComponentCount:
    """How many components are more than chance, and how far they hold on held-out pairs."""

    found: int | None = None
    dimension: LatentDimension | None = None
    not_tested: str = ""


def count_components(
    contest: Contest, method: str, race: Race | None, dependence: DependenceTest, wanted: Wanted
) -> tuple[int, ComponentCount]:
    """Return the number of components to fit, and the test behind it, given that of the first."""
    if why := _find_why_not_tested(contest.pairs, wanted):
        return wanted.n_components or 1, ComponentCount(not_tested=why)
    if not wanted.tests_components:
        return wanted.n_components or 1, ComponentCount()
    if dependence.is_cut:
        return wanted.n_components or 1, ComponentCount(not_tested=NO_TIME_TEXT)
    views = dependence.views.get("ca" if method == "ridge-ca" else method, [])  # a ridge changes no label
    if not views and wanted.can_test_all:
        X, Y, groups = wanted.list_tested(*contest.data)
        views = list_views(X, Y, method, contest.pairs, groups)
    if not views:
        return _count_held_out(contest, method, dependence, wanted)
    limit = wanted.n_components or contest.pairs.max_components
    draws = wanted.random_state, wanted.budget.limit_draws(N_DRAWS)
    has_time = wanted.budget.affords_test(method)
    test = run_component_tests(views, dependence.pvalue, limit, *draws)
    found = int((test.pvalues <= SIGNIFICANCE_LEVEL).sum())
    k = wanted.n_components or max(1, found)
    if wanted.n_components is None and found > 1 and race is not None:
        with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):
            k = limit_components(contest, race.winner, found)
    if not wanted.test or not has_time:
        return k, ComponentCount(found, not_tested=NO_TIME_TEXT if wanted.test else "")
    est = make_estimator(method, contest.pairs, min(k + 1, limit), wanted.random_state)
    dimension = assess_components(est, *contest.data, test, SIGNIFICANCE_LEVEL, **wanted.options).take_first(k)
    points = np.flatnonzero(find_points(dimension.intervals))
    return k, ComponentCount(min([found, *points.tolist()]), dimension)


def _find_why_not_tested(pairs: PairsProfile, wanted: Wanted) -> str:
    """Say why components cannot be tested, because pairs or groups are too few; nothing if they can."""
    if (n := wanted.count_different(pairs)) < MIN_PAIRS:
        which = "pairs" if n == pairs.n else "different pairs"
        return f"there are only {n} {which}, and {MIN_PAIRS} are needed"
    n_groups = MIN_FOR_BLOCKS if wanted.groups is None else int(wanted.groups.max()) + 1
    if n_groups == 1:
        raise ValueError(
            "groups must contain two different values or more, got one. Leave them out to split all pairs."
        )
    return f"there are only {n_groups} groups, and {MIN_FOR_BLOCKS} are needed" if n_groups < MIN_FOR_BLOCKS else ""


def _count_held_out(
    contest: Contest, method: str, dependence: DependenceTest, wanted: Wanted
) -> tuple[int, ComponentCount]:
    """Count the components of a method that can be tested only on pairs not used in the fit."""
    is_first_found = dependence.pvalue <= SIGNIFICANCE_LEVEL
    if not wanted.budget.affords_test(method):
        first = int(is_first_found) if dependence.views else None
        return wanted.n_components or 1, ComponentCount(first, not_tested=NO_TIME_TEXT)
    limit = wanted.n_components or contest.pairs.max_components
    est, options = make_estimator(method, contest.pairs, limit, wanted.random_state), {"n_permutations": 999}
    try:
        with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):
            dimension = latent_dimension(est, *contest.data, SIGNIFICANCE_LEVEL, **options | wanted.options)
    except ValueError:  # a rare label may be missing in a part; what is wrong with all pairs is reported by the fit
        if dependence.pvalue < 1:
            return wanted.n_components or 1, ComponentCount(int(is_first_found))
        return wanted.n_components or 1, ComponentCount(
            not_tested="a part of the pairs has too few labels to be fitted"
        )
    if find_points(dimension.intervals)[:1].any():
        is_first_found = False
    found = max(dimension.n_components, int(is_first_found))
    k = wanted.n_components or max(1, found)
    return k, ComponentCount(found, replace(dimension, n_components=found).take_first(k))


def describe_count(found: int, kept: int) -> str:
    """Say how many components are significant, and how many of them are kept."""
    text = f"{found} component{'' if found == 1 else 's'} significant"
    if kept >= found:
        return text
    return f"{text}, the first {'' if kept == 1 else f'{kept} '}kept, because more capture less of held-out pairs"
