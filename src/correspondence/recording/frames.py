"""Frames of a recording, and what is computed of each."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.classifiers.estimator import ClassifierCA
from correspondence.core.functions import LabelFunctions

if TYPE_CHECKING:
    pass

__all__ = ["MIN_BELIEF_EXCESS", "RecordedFrames", "analyse_frame", "find_axes", "find_coordinates", "measure_certainty"]


MIN_BELIEF_EXCESS = 0.1  # by which a class must be believed more of its own inputs than of others to count as known


class RecordedFrames(Sequence):
    """The beliefs of each frame, read one at a time."""

    def __init__(self, recorder: Any) -> None:
        self._recorder = recorder

    def __len__(self) -> int:
        return len(self._recorder)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self._recorder.beliefs(j) for j in range(len(self))[i]]
        if not -len(self) <= i < len(self):
            raise IndexError(f"There is no frame {i}: there are {len(self)}.")
        return self._recorder.beliefs(i)

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self._recorder.beliefs(i) for i in range(len(self)))


def analyse_frame(P: np.ndarray, classes: np.ndarray) -> ClassifierCA:
    """Decompose the beliefs of a frame."""
    with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):  # of classes not yet predicted
        return ClassifierCA.from_beliefs(P, classes, progress=False)


def find_axes(P: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """V = D^{1/2} G, completed to an orthonormal basis of the complement of sqrt(p), and sqrt(p)."""
    fit = analyse_frame(P, classes)
    root = np.sqrt(fit.prior_ / fit.prior_.sum())
    g = fit.decomposition_.g
    assert isinstance(g, LabelFunctions)
    V = root[:, None] * np.nan_to_num(g.values)
    d = V.shape[1]
    if d == len(root) - 1:
        return V, root
    basis = np.linalg.qr(np.column_stack([root, V, np.eye(len(root))]))[0]
    return np.column_stack([V, basis[:, d + 1 :]]), root


def find_coordinates(P: np.ndarray, V: np.ndarray, root: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal coordinates of the rows of P along axes V of another frame, and the positions of the classes.

    Of the bases of the complement of a = sqrt(p) the closest to V, whose complement is b = sqrt(p_T), is V polarised:
    (I - a a^T) V is V except in the direction of a, which it shortens, and the rotation in the plane of a and b does
    the same without shortening. That is V - (a + b) a^T V / (1 + a^T b), as V^T b = 0.
    """
    p = P.mean(axis=0)
    a = np.sqrt(p / p.sum())
    turned = V - np.outer(a + root, a @ V) / (1 + a @ root)
    with np.errstate(divide="ignore"):
        scale = np.where(a > 0, 1 / a, 0)
    inputs = ((P - p) * scale) @ turned
    classes = np.where(a[:, None] > 0, turned * scale[:, None], np.nan)
    return inputs, classes


def measure_certainty(P: np.ndarray, codes: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """How well each class is known, from 0 to 1, and whether it is told from others at all; see `Timeline`."""
    total = P.sum(axis=0)
    if codes is None:
        p = P.mean(axis=0)
        return P.var(axis=0) / np.where((p > 0) & (p < 1), p * (1 - p), 1), np.ones(len(p), dtype=bool)
    k = P.shape[1]
    count = np.bincount(codes, minlength=k)
    right = np.bincount(codes, P[np.arange(len(P)), codes], minlength=k)
    found, meant = right / np.maximum(count, 1), right / np.where(total > 0, total, 1)
    more = found - (total - right) / np.maximum(len(P) - count, 1)
    return np.where(count > 0, np.minimum(found, meant), np.nan), more >= MIN_BELIEF_EXCESS
