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
from correspondence.data.copies import DUPLICATES
from correspondence.data.splits import select_groups
from correspondence.results.component_tests import PicIntervals
from correspondence.validation.fitting import check_pairs, fit_copy, order_by_groups, pad_columns, read_pairs, run_tasks

__all__ = ["pic_intervals", "with_chosen_settings"]

MIN_GROUPS_FOR_HALVES = 10
CHOSEN_SETTINGS = ("regularization", "smoothing")  # which estimators choose for themselves unless they are given
TIE_STANDARD_ERRORS = 2.0  # two PICs may be equal if they differ by no more standard errors


def pic_intervals(
    est: Any,
    X: Any,
    Y: Any = None,
    n_resamples: int = 50,
    *,
    level: float = 0.95,
    groups: Any = DUPLICATES,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    given: Any = None,
) -> PicIntervals:
    """Find confidence intervals of the PICs of the population, by resampling.

    The estimator is fitted to random halves of the pairs, with the settings that it has chosen for the whole. How much
    their PICs differ shows the spread, and how much they lie above those of the whole shows the bias, which is
    subtracted. The intervals of PICs that may be equal, within two standard errors, contain that of their mean.
    (Halves, not samples with replacement: a repeated pair would be on both sides of the splits that many estimators
    make.) The intervals are meant for real components; around one that is only chance they do not reach down to 0 as
    often as they should, so use `permutation_test` first. For `KernelCCA`, whose functions depend on the number of
    pairs, they are too narrow.

    Parameters
    ----------
    est : estimator
        Fit copies of this estimator, which is not changed.
    X, Y : array-like, frame, ...
        Fit to these pairs, of any kind that ``est.fit`` takes. For `CA`, X alone may be a
        table of whole counts in any form that it takes: the pairs that it counts are used, about 200,000 of them,
        drawn at random, if there are more.
    n_resamples : int
        Fit to this many halves.
    level : float
        The intervals have this confidence level.
    groups : array-like of shape (n,), "duplicates" or None
        Pairs of the same group are drawn together; by default copies are groups, as in `crossfit`.
    random_state : int
        The seed of the halves.
    n_jobs : int, optional
        Run this many fits in parallel.
    progress : bool or None
        Whether to show a progress bar; by default after two seconds.
    given : array-like or frame, optional
        The given variables of the pairs, for `CCA` and `ACE`: the PICs are those of what is left.

    Returns
    -------
    PicIntervals
        The PICs with their intervals, beside those of the training.

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
    X, Y = read_pairs(est, X, Y, groups, given)
    n, together = check_pairs(est, X, Y, groups, random_state, MIN_GROUPS_FOR_HALVES)
    if together is not None and together.max() < MIN_GROUPS_FOR_HALVES - 1:
        raise ValueError(
            f"groups must have at least {MIN_GROUPS_FOR_HALVES} different values to be drawn in halves, got "
            f"{int(together.max()) + 1}."
        )
    whole = fit_copy(est, X, Y, together)
    d, same = whole.decomposition_, with_chosen_settings(est, whole)
    rng = np.random.default_rng(random_state)
    rows = (np.sort(order_by_groups(n, together, rng)[0][: n // 2]) for _ in range(n_resamples))
    tasks = ((same, X, Y, half, together) for half in rows)
    fits = run_tasks(_fit_correlations, tasks, n_jobs, "halves", progress)
    halves = np.vstack([pad_columns(r[None], d.n_components) for r in fits])
    # Noise columns on both sides make a canonical correlation larger in proportion to the number of columns per pair
    # (Bao and others, 2019), so the line through whole and halves leads to no noise; the spread is that of Fisher's z.
    centre = np.arctanh(np.clip(2 * d.correlations - halves.mean(axis=0), 0, 1 - 1e-12))
    of_halves = np.arctanh(np.minimum(halves, 1 - 1e-12))
    error = np.maximum(of_halves.std(axis=0, ddof=1), _estimate_standard_error(d, X, Y))
    # Subtracting the bias magnifies the error, because noise moves a correlation less that it has made larger.
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
        The estimator is not changed.
    fit : estimator
        The fitted copy has its choices in attributes that end in an underscore.

    Returns
    -------
    estimator
        The unfitted copy.

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
    names = [name for name in CHOSEN_SETTINGS if name in est.get_params(deep=False) and hasattr(fit, f"{name}_")]
    return clone(est).set_params(**{name: getattr(fit, f"{name}_") for name in names})


def _widen_tied_intervals(
    centre: np.ndarray, error: np.ndarray, of_halves: np.ndarray, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Find the ends of the intervals on Fisher's z scale; those of PICs that may be equal contain that of their mean.

    Among equal PICs the largest is estimated too high and the smallest too low, by as much as they vary, and halves
    correct only a part of it. Their mean has no such error.
    """
    low, high = centre - reach * error, centre + reach * error
    apart = -np.diff(centre) > TIE_STANDARD_ERRORS * np.sqrt(error[1:] ** 2 + error[:-1] ** 2)
    for tied in np.split(np.arange(len(centre)), np.flatnonzero(apart) + 1):
        half = reach * max(of_halves[:, tied].mean(axis=1).std(ddof=1), np.sqrt((error[tied] ** 2).sum()) / len(tied))
        low[tied] = np.minimum(low[tied], centre[tied].mean() - half)
        high[tied] = np.maximum(high[tied], centre[tied].mean() + half)
    return low, high


def _fit_correlations(est: Any, X: Any, Y: Any, rows: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    fit = fit_copy(est, take_rows(X, rows), take_rows(Y, rows), select_groups(groups, rows))
    return fit.decomposition_.correlations


def _estimate_standard_error(d: Decomposition, X: Any, Y: Any) -> np.ndarray:
    """Estimate the standard error of arctanh of the correlations, for given functions."""
    F, G = np.nan_to_num(d.f(X)), np.nan_to_num(d.g(Y))
    intervals = score_pairs(F, G, d.correlations, level=0.6826894921370859).intervals  # one standard error to each side
    return np.arctanh(np.clip(intervals, -1 + 1e-12, 1 - 1e-12)) @ np.array([-0.5, 0.5])
