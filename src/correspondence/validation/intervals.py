"""Confidence intervals of PICs, from fits to random halves of the pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm
from sklearn.base import clone

from correspondence._util.arguments import check_whole, is_number, take_rows
from correspondence._util.text import short_repr
from correspondence.core.decomposition import Decomposition
from correspondence.core.scoring import score_pairs
from correspondence.data.splits import select_groups
from correspondence.results.pic_intervals import PicIntervals
from correspondence.validation.fitting import (
    check_pairs,
    fit_copy,
    order_by_groups,
    pad_columns,
    run_tasks,
)

__all__ = ["CHOSEN_SETTINGS", "MIN_GROUPS_FOR_HALVES", "TIE_STANDARD_ERRORS", "pic_intervals", "with_chosen_settings"]


MIN_GROUPS_FOR_HALVES = 10  # at least, to be drawn in halves
CHOSEN_SETTINGS = (
    "regularization",
    "smoothing",
)  # settings that estimators choose for themselves unless they are given
TIE_STANDARD_ERRORS = 2.0  # standard errors of their difference, up to which two PICs may be equal


def pic_intervals(
    est: Any,
    X: Any,
    Y: Any = None,
    n_resamples: int = 50,
    *,
    level: float = 0.95,
    groups: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> PicIntervals:
    """Confidence intervals of the PICs of the population, by resampling.

    The estimator is fitted to random halves of the pairs, with the settings that it has chosen for the whole. How much
    their PICs differ shows the spread, and how much they lie above that of the whole shows the bias, which is taken
    off. The intervals of PICs that may be equal, within two standard errors, contain that of their mean. (Halves, not
    samples with replacement: a repeated pair would be on both sides of the splits that many estimators make.) The
    intervals are meant for components that are there; around a component that is not, they do not reach down to 0
    as often as they should, so ask `permutation_test` first. For `KernelCCA`, whose functions depend on how many pairs
    there are, they are too narrow.

    Parameters
    ----------
    est : estimator
        Unfitted; copies are fitted.
    X, Y : array-like, frame, ...
        Pairs, as for its `fit`.
    n_resamples : int
        Number of halves.
    level : float
        Of the intervals.
    groups : array-like of shape (n,), optional
        Pairs of the same group are drawn together.
    random_state : int
        Seed.
    n_jobs : int, optional
        Number of fits to run in parallel.
    progress : bool or None
        Show a bar, by default from two seconds on.

    Returns
    -------
    PicIntervals

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3)); Y = X[:, 0] + rng.normal(size=500)       # the exact PIC is 0.5
    >>> co.pic_intervals(co.CCA(n_components=1), X, Y)
    PICs with 95 % intervals from 50 half-samples
      component  training     PIC
              1    0.4961  0.4980 [0.4318, 0.5602]
    """
    check_whole(n_resamples, "n_resamples", 5)
    if not is_number(level) or not 0 < level < 1:
        raise ValueError(f"level must be a number between 0 and 1, got {short_repr(level)}.")
    n, together = check_pairs(est, X, Y, groups, random_state)
    if together is not None and together.max() < MIN_GROUPS_FOR_HALVES - 1:
        raise ValueError(
            f"groups must have at least {MIN_GROUPS_FOR_HALVES} different values to be drawn in halves, got {int(together.max()) + 1}."
        )
    whole = fit_copy(est, X, Y, together)
    d, same = whole.decomposition_, with_chosen_settings(est, whole)
    rng = np.random.default_rng(random_state)
    tasks = ((same, X, Y, _half(n, together, rng), together) for _ in range(n_resamples))
    halves = np.array(
        [
            pad_columns(r[None], d.n_components)[0]
            for r in run_tasks(_fit_correlations, tasks, n_jobs, "halves", progress)
        ]
    )
    # Noise columns on both sides make a canonical correlation larger by as much as there are columns for each pair (Bao
    # and others, 2019), so that the line through whole and halves leads to no noise; the spread is that of Fisher's z.
    centre = np.arctanh(np.clip(2 * d.correlations - halves.mean(axis=0), 0, 1 - 1e-12))
    of_halves = np.arctanh(np.minimum(halves, 1 - 1e-12))
    error = np.maximum(of_halves.std(axis=0, ddof=1), _estimate_standard_error(d, X, Y))
    # Taking off the bias magnifies the error: noise moves a correlation that it has made larger by less.
    error *= np.clip(d.correlations / np.maximum(np.tanh(centre), 1e-12), 1, 2)
    reach = float(norm.ppf((1 + level) / 2))
    low, high = _widen_tied_intervals(centre, error, of_halves, reach)
    values = np.tanh(np.maximum(np.column_stack([centre, low, high]), 0)) ** 2
    return PicIntervals(values[:, 0], values[:, 1:], d.pics, level, n_resamples)


def with_chosen_settings(est: Any, fit: Any) -> Any:
    """Copy an estimator with what a fit of it has chosen, so that another fit does not choose otherwise.

    A fit to half of the pairs would choose a stronger penalty, and thus be another estimator.

    Parameters
    ----------
    est : estimator
        Unfitted estimator, which is not changed.
    fit : estimator
        Fitted copy of it, with its choices in attributes that end in an underscore.

    Returns
    -------
    estimator
        Unfitted estimator.

    Examples
    --------
    >>> import numpy as np
    >>> import correspondence as co
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)); Y = X + rng.normal(size=(300, 2))
    >>> est = co.CCA(n_components=1)
    >>> with_chosen_settings(est, co.CCA(n_components=1).fit(X, Y))
    CCA(n_components=1, regularization=array([0.]))
    """
    same, parameters = clone(est), est.get_params(deep=False)
    chosen = {
        name: getattr(fit, f"{name}_") for name in CHOSEN_SETTINGS if name in parameters and hasattr(fit, f"{name}_")
    }
    return same.set_params(**chosen)


def _widen_tied_intervals(
    centre: np.ndarray, error: np.ndarray, of_halves: np.ndarray, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the intervals on Fisher's z scale, which of PICs that may be equal contain that of their mean.

    Of equal PICs the largest is estimated too high and the smallest too low, by as much as they vary, and halves take
    off only a part of it. Their mean is free of that.
    """
    low, high = centre - reach * error, centre + reach * error
    apart = -np.diff(centre) > TIE_STANDARD_ERRORS * np.sqrt(error[1:] ** 2 + error[:-1] ** 2)
    for tied in np.split(np.arange(len(centre)), np.flatnonzero(apart) + 1):
        half = reach * max(of_halves[:, tied].mean(axis=1).std(ddof=1), np.sqrt((error[tied] ** 2).sum()) / len(tied))
        low[tied] = np.minimum(low[tied], centre[tied].mean() - half)
        high[tied] = np.maximum(high[tied], centre[tied].mean() + half)
    return low, high


def _half(n: int, groups: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    order, _ = order_by_groups(n, groups, rng)
    return np.sort(order[: n // 2])


def _fit_correlations(est: Any, X: Any, Y: Any, rows: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    return fit_copy(
        est, take_rows(X, rows), take_rows(Y, rows), select_groups(groups, rows)
    ).decomposition_.correlations


def _estimate_standard_error(d: Decomposition, X: Any, Y: Any) -> np.ndarray:
    """Standard error of arctanh of the correlations, for given functions."""
    F, G = np.nan_to_num(d.f(X)), np.nan_to_num(d.g(Y))
    intervals = score_pairs(F, G, d.correlations, level=0.6826894921370859).intervals  # one standard error to each side
    return np.arctanh(np.clip(intervals, -1 + 1e-12, 1 - 1e-12)) @ np.array([-0.5, 0.5])
