"""One rule for the sign of every component, so that the same data give the same picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from correspondence._util.labels import make_sort_key

__all__ = ["choose_signs"]

TIE_TOLERANCE = 1e-6


def choose_signs(loadings: np.ndarray, labels: np.ndarray | None = None) -> np.ndarray:
    """Choose the sign of each component that makes its largest loading, in absolute value, positive.

    Loadings that differ by less than one in a million are tied; the first of them decides, in the order of the
    labels if there are any (so that shuffled columns do not matter), otherwise in the order given.

    Parameters
    ----------
    loadings : ndarray of shape (p, d)
        These say how strongly each label or feature takes part in each component.
    labels : ndarray of shape (p,), optional
        The labels, if any, decide ties.

    Returns
    -------
    ndarray of shape (d,)
        Signs, each 1 or -1.

    Examples
    --------
    >>> choose_signs(np.array([[0.1, -3.0], [-0.5, 1.0]])).tolist()
    [-1.0, -1.0]
    """
    size = np.abs(loadings)
    tied = size >= (1 - TIE_TOLERANCE) * size.max(axis=0, initial=0)
    return np.array(
        [_choose_sign(loadings[:, i], np.flatnonzero(tied[:, i]), labels) for i in range(loadings.shape[1])]
    )


def _choose_sign(loading: np.ndarray, candidates: np.ndarray, labels: Any) -> float:
    if len(candidates) == 0:
        return 1.0
    first = candidates[0] if labels is None else min(candidates.tolist(), key=lambda i: make_sort_key(labels[i]))
    return -1.0 if loading[first] < 0 else 1.0
