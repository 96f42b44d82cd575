"""Frames of a recording: their beliefs, read one at a time, and the axes along which frames are compared."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from correspondence._util.user_warnings import CorrespondenceWarning
from correspondence.classifiers.estimator import ClassifierCA
from correspondence.core.functions import LabelFunctions
from correspondence.recording.recording import Recording

__all__ = ["RecordedFrames", "analyse_frame", "find_axes", "find_coordinates"]


class RecordedFrames(Sequence):
    """The beliefs of each frame, read one at a time."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def __len__(self) -> int:
        return len(self._recording.steps)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[j] for j in range(len(self))[i]]
        if not -len(self) <= i < len(self):
            raise IndexError(f"There is no frame {i}: there are {len(self)}.")
        return self._recording.read_beliefs(i % len(self))


def analyse_frame(P: np.ndarray, classes: np.ndarray) -> ClassifierCA:
    """Decompose the beliefs of a frame."""
    with warnings.catch_warnings(action="ignore", category=CorrespondenceWarning):  # of classes not yet predicted
        return ClassifierCA.from_beliefs(P, classes, progress=False)


def find_axes(P: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find V = D^{1/2} G, completed to an orthonormal basis of the complement of sqrt(p), and sqrt(p)."""
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
    """Find principal coordinates of the rows of P along the axes V of another frame, and the positions of the classes.

    V is a basis of the complement of b = sqrt(p_T), the ``root``. Of the bases of the complement of a = sqrt(p), the
    one closest to V is V polarised: (I - a a^T) V is V except in the direction of a, which it shortens, and the
    rotation in the plane of a and b does the same without shortening. That is V - (a + b) a^T V / (1 + a^T b), because
    V^T b = 0.
    """
    p = P.mean(axis=0)
    a = np.sqrt(p / p.sum())
    turned = V - np.outer(a + root, a @ V) / (1 + a @ root)
    with np.errstate(divide="ignore"):
        scale = np.where(a > 0, 1 / a, 0)
    inputs = ((P - p) * scale) @ turned
    classes = np.where(a[:, None] > 0, turned * scale[:, None], np.nan)
    return inputs, classes
