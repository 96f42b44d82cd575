"""What was learnt when: the timeline of a recording, measured frame by frame."""

from __future__ import annotations

import numpy as np

from correspondence._util.progress import make_progress_bar
from correspondence.recording.frames import analyse_frame
from correspondence.recording.recording import Recording
from correspondence.results.timeline import Timeline

__all__ = ["measure_timeline"]

MIN_BELIEF_EXCESS = 0.1  # by which a class must be believed more of its own inputs than of others to count as known
MOST_PAIRS = 20_000  # of classes whose separation is followed: all pairs of 200 classes


def measure_timeline(recording: Recording, frames: np.ndarray, progress: bool | None) -> Timeline:
    """Measure the timeline of some of the frames."""
    classes, codes = recording.get_classes(), recording.codes
    k, pairs = len(classes), _choose_pairs(recording)
    pics, certainty = np.zeros((len(frames), k - 1)), np.empty((len(frames), k))
    separation, accuracy = np.empty((len(frames), len(pairs))), np.empty(len(frames))
    is_known = np.empty(certainty.shape, dtype=bool)
    with make_progress_bar(len(frames), "timeline", progress) as shown:
        for t, i in enumerate(frames):
            P = recording.read_beliefs(i)
            fit = analyse_frame(P, classes)
            pics[t, : len(fit.pics_)] = fit.pics_
            certainty[t], is_known[t] = _measure_certainty(P, codes)
            believed = (fit.prior_ > 0)[pairs].all(axis=1)
            separation[t] = np.where(believed, 1 - fit.overlap_[tuple(pairs.T)], 0)
            accuracy[t] = np.nan if codes is None else np.mean(P.argmax(axis=1) == codes)
            shown.update()
    steps = np.array(recording.steps, dtype=np.int64)[frames]
    on_labels = None if codes is None else accuracy
    return Timeline.of(steps, pics, on_labels, classes, certainty, is_known, pairs, separation)


def _choose_pairs(recording: Recording) -> np.ndarray:
    """Return the positions of the two classes of each pair that is followed."""
    pairs = np.column_stack(np.triu_indices(len(recording.get_classes()), 1))
    if len(pairs) <= MOST_PAIRS:
        return pairs
    last = analyse_frame(recording.read_beliefs(len(recording.steps) - 1), recording.get_classes())
    return pairs[np.sort(np.argsort(-last.overlap_[tuple(pairs.T)], kind="stable")[:MOST_PAIRS])]


def _measure_certainty(P: np.ndarray, codes: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Measure how well each class is known, from 0 to 1, and whether it is distinguished at all; see `Timeline`."""
    total = P.sum(axis=0)
    if codes is None:
        p = P.mean(axis=0)
        return P.var(axis=0) / np.where((p > 0) & (p < 1), p * (1 - p), 1), np.ones(len(p), dtype=bool)
    k = P.shape[1]
    count = np.bincount(codes, minlength=k)
    right = np.bincount(codes, P[np.arange(len(P)), codes], minlength=k)
    # The mean belief in a class over its own inputs, and the share of all belief in it that goes to them.
    found, meant = right / np.maximum(count, 1), right / np.where(total > 0, total, 1)
    excess = found - (total - right) / np.maximum(len(P) - count, 1)
    return np.where(count > 0, np.minimum(found, meant), np.nan), excess >= MIN_BELIEF_EXCESS
