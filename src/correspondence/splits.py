"""Splits of pairs into parts to learn from and parts to judge on."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from correspondence.checks import check_whole

__all__ = ["Split", "splits"]

Split = tuple[np.ndarray, np.ndarray]


def splits(cv: Any, n: int, *, labels: Any = None, groups: Any = None, random_state: int = 0) -> list[Split]:
    """Positions of the pairs to fit and to judge on, for each split.

    Parameters
    ----------
    cv : int, splitter or iterable
        Number of folds, shuffled; or one of scikit-learn's splitters; or pairs of positions.
    n : int
        Number of pairs.
    labels : array-like of shape (n,), optional
        Spread evenly over the folds where each label occurs often enough.
    groups : array-like of shape (n,), optional
        Pairs of the same group stay together.
    random_state : int
        Seed of the folds.
    """
    groups = None if groups is None else _checked(groups, n)
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        most = n if groups is None else len(np.unique(groups))
        cv = _folds(check_whole(cv, "cv", 2, max(2, most)), labels, groups, random_state)
    if not hasattr(cv, "split") and not np.iterable(cv):
        raise ValueError(f"cv must be a number of folds, a splitter or pairs of positions, got {cv!r}.")
    stand_in = np.zeros(n) if labels is None else np.unique(np.asarray(labels), return_inverse=True)[1]
    parts = cv.split(np.zeros((n, 1)), stand_in, groups) if hasattr(cv, "split") else cv
    pairs = [(np.asarray(train), np.asarray(test)) for train, test in parts]
    if not pairs or any(not len(part) for pair in pairs for part in pair):
        raise ValueError("cv must give at least one split, with pairs to fit and pairs to judge on.")
    return pairs


def _checked(groups: Any, n: int) -> np.ndarray:
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    if codes.shape != (n,):
        raise ValueError(f"groups must have one value for each of the {n} pairs, got shape {np.shape(groups)}.")
    if codes.max() < 1:
        raise ValueError("groups must be at least two different ones, or there is nothing to hold out.")
    return codes


def _folds(k: int, labels: Any, groups: Any, random_state: int) -> Any:
    frequent = labels is not None and np.unique(np.asarray(labels), return_counts=True)[1].min() >= k
    if groups is not None:
        kind = StratifiedGroupKFold if frequent else GroupKFold
    else:
        kind = StratifiedKFold if frequent else KFold
    return kind(k, shuffle=True, random_state=random_state)
