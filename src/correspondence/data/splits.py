"""Splits of pairs into those to fit and those to evaluate on."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold

from correspondence._util.arguments import as_frame, check_whole
from correspondence._util.labels import encode_labels, to_object_array
from correspondence._util.text import short_repr

__all__ = ["Split", "deal_out_rare", "encode_groups", "make_splits", "select_groups"]

Split = tuple[np.ndarray, np.ndarray]


def make_splits(cv: Any, n: int, *, labels: Any = None, groups: Any = None, random_state: int = 0) -> list[Split]:
    """List the positions of the pairs to fit and to evaluate on, for each split.

    Folds are drawn without regard to labels. If labels were spread evenly over the folds, held-out labels would not be
    independent, and what is captured, which leaves out each pair with itself, would come out too high.

    Parameters
    ----------
    cv : int, splitter or iterable
        Make this many shuffled folds, or take the splits of a scikit-learn splitter, or given pairs of positions.
    n : int
        There are n pairs.
    labels : array-like of shape (n,), optional
        Some splitters need labels.
    groups : array-like of shape (n,), optional
        Pairs of the same group stay together.
    random_state : int
        Draw the folds with this seed.
    """
    strata = None if labels is None else encode_groups(labels, n, "labels")
    together = None if groups is None else encode_groups(groups, n, "groups")
    if together is not None and together.max() < 1:
        raise ValueError("groups must contain at least two different values.")
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        most = n if together is None else int(together.max()) + 1
        if together is not None and check_whole(cv, "cv", 2) > most:
            raise ValueError(f"groups has only {most} different values for cv={cv} folds; use a smaller cv.")
        kind = KFold if together is None else GroupKFold
        cv = kind(check_whole(cv, "cv", 2, max(2, most)), shuffle=True, random_state=random_state)
    parts = cv
    if hasattr(cv, "split") and not isinstance(cv, str | bytes):
        parts = cv.split(np.zeros((n, 1)), np.zeros(n) if strata is None else strata, together)
    return check_splits(parts, cv, n)


def deal_out_rare(
    labels: np.ndarray, n_folds: int, min_rows: int, groups: np.ndarray | None = None, random_state: int = 0
) -> list[Split]:
    """Split pairs into folds that have about equally many pairs of each rare label, and others at random.

    Where a label has a handful of pairs, it is otherwise luck how many are held out together, and that may decide what
    is captured. Only rare labels are dealt out, because dealt-out labels are not independent (see `make_splits`); what
    is captured is too high by about their number divided by that of the pairs.

    Parameters
    ----------
    labels : ndarray of int of shape (n,)
        The number of each pair's label.
    n_folds : int
        Make this many folds.
    min_rows : int
        A label with fewer pairs is rare.
    groups : ndarray of int of shape (n,), optional
        Pairs of the same group stay together: groups are dealt out, by the rarest of their labels.
    random_state : int
        Draw the folds with this seed.

    Examples
    --------
    >>> folds = deal_out_rare(np.repeat([0, 1], [97, 3]), 3, min_rows=10)
    >>> [int((test >= 97).sum()) for _, test in folds]
    [1, 1, 1]
    """
    groups = np.arange(len(labels)) if groups is None else groups
    counts = np.bincount(labels)
    rarest = np.full(int(groups.max()) + 1, counts.max())
    np.minimum.at(rarest, groups, counts[labels])
    label = np.full(len(rarest), -1)
    is_rare = (counts[labels] < min_rows) & (counts[labels] == rarest[groups])
    label[groups[is_rare]] = labels[is_rare]
    # Sorted by label, the groups of a label are neighbours, and so get different folds in turn.
    order = np.lexsort((np.random.default_rng(random_state).random(len(label)), label))
    fold = np.empty(len(label), dtype=int)
    fold[order] = np.arange(len(label)) % n_folds
    of_pair = fold[groups]
    return [(np.flatnonzero(of_pair != k), np.flatnonzero(of_pair == k)) for k in range(n_folds)]


def encode_groups(values: Any, n: int, name: str) -> np.ndarray:
    """Encode values of any types as integers that are equal where the values are."""
    if not np.iterable(values) or isinstance(values, str):
        raise ValueError(f"{name} must have one value for each of the {n} pairs, got {short_repr(values)}.")
    is_column = hasattr(values, "dtype") or as_frame(values, name) is not None
    codes = encode_labels(values if is_column else to_object_array(list(values)), name)[0]
    if codes.shape != (n,):
        raise ValueError(f"{name} must have one value for each of the {n} pairs, got shape {codes.shape}.")
    return codes


def select_groups(groups: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    """Select the groups of some pairs; None if these are all in one group, which cannot be split."""
    if groups is None or (groups[rows] == groups[rows[0]]).all():
        return None
    return groups[rows]


def check_splits(parts: Any, cv: Any, n: int) -> list[Split]:
    """Return the splits as pairs of arrays of positions, which must be from 0 to n - 1."""
    try:
        pairs = [(np.asarray(train), np.asarray(test)) for train, test in parts]
    except (TypeError, ValueError):
        raise ValueError(
            f"cv must be a number of folds, a splitter or pairs of positions, got {short_repr(cv)}."
        ) from None
    if not pairs or any(not part.size for pair in pairs for part in pair):
        raise ValueError("cv must give at least one split, with pairs to fit and pairs to evaluate on.")
    if any(
        part.dtype.kind not in "iu" or part.ndim != 1 or part.min() < 0 or part.max() >= n for p in pairs for part in p
    ):
        raise ValueError(f"cv must give positions from 0 to {n - 1}, as arrays of whole numbers.")
    return pairs
