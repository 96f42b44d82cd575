"""What a classifier learnt, and when: the result of a recorded training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d, median_filter
from scipy.signal import find_peaks, peak_widths

from correspondence._util.arguments import read_only
from correspondence._util.html_tables import render_record
from correspondence.results.points import FrameResult, number_columns

__all__ = ["Timeline", "Transition", "find_lasting_steps", "find_transitions"]

MIN_KNOWN_CERTAINTY = 0.5  # certainty and separation from which a class is learnt and a pair separated
MIN_LASTING_SHARE = 0.9  # share of the later frames in which that must hold: a net that learns fast forgets for moments
MIN_PEAK_PROMINENCE = 0.25  # prominence of a peak of the speed, as a share of the greatest speed
MIN_RISE_SHARE = 0.1  # rise of the total inertia during a transition, as a share of its largest value
MIN_SUSTAINED_SHARE = 0.75  # share of the time with chi2 below (before) and above (after) the middle of its rise
LEAST_RISE = 0.01  # rise of the total inertia during a transition, above the rounding of what is recorded
MIN_SPEED_RATIO = 2.0  # speed of a transition, as a multiple of the mean speed of the whole recording
MOST_POINTS = 4000  # points of the grid on which the speed is taken


class Transition(NamedTuple):
    """A stretch of the training in which the total inertia suddenly rises above all its earlier values.

    It rises by at least a tenth of its largest value, and at least twice as fast as in the mean of the training, around
    a peak of its speed. What is only forgotten for a moment and learnt again does not count.

    Attributes
    ----------
    start, middle, end : float
        Steps at which the stretch begins, half of the rise is done, and the stretch ends.
    rise : float
        Rise of the total inertia from start to end.
    """

    start: float
    middle: float
    end: float
    rise: float

    def _repr_html_(self) -> str:
        return render_record(self)


@dataclass(frozen=True, eq=False, repr=False)
class Timeline(FrameResult):
    """What was learnt when, on the probes of a `TrainingRecorder`.

    `to_frame` has one row for each frame and the columns step, chi2, accuracy (if known), pic1, pic2, ..., and the
    certainty of each class.

    Attributes
    ----------
    steps : ndarray of shape (T,)
        Training steps at which beliefs were recorded.
    pics : ndarray of shape (T, k - 1)
        PICs of the beliefs of each frame, largest first; 0 where there are fewer.
    chi2 : ndarray of shape (T,)
        Sum of the PICs: 0 if the beliefs are the same for all inputs, k - 1 if each input is believed to be one class
        only.
    accuracy : ndarray of shape (T,) or None
        Share of the probes whose likeliest class is their label, if there are labels.
    classes : ndarray of shape (k,)
        Names of the classes.
    certainty : ndarray of shape (T, k)
        How well each class is known, from 0 to 1. With labels it is the mean belief in a class over the probes of that
        class, or the share of all belief in it that goes to them, whichever is smaller: a class that is believed of
        everything is not known. It is NaN if there are no probes of the class. Without labels it is the PIC of the
        class against all others: var(P) / (p (1 - p)) with P the beliefs in it and p their mean.
    learnt : ndarray of shape (k,)
        First recorded step from which on the certainty of a class is 1/2 or more, in at least nine of ten frames and at
        the end, and it is believed more of its own inputs than of others, by at least 0.1; NaN if there is none.
    pairs : ndarray of shape (m, 2)
        Positions of the two classes of each pair, the first before the second.
    separation : ndarray of shape (T, m)
        1 minus the overlap of two classes, which is the cosine between their beliefs: 0 if they are believed of the
        same inputs in the same proportion or one is never believed, 1 if they are never believed of the same input.
    separated : ndarray of shape (m,)
        First recorded step from which on the separation is 1/2 or more, in the same sense.
    transitions : list of Transition
        Stretches in which the total inertia rises suddenly; see `Transition`.

    Examples
    --------
    >>> import correspondence as co
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SGDClassifier(loss="log_loss", alpha=0.01, random_state=0)
    >>> recorder = co.TrainingRecorder(model, X[1::2], y[1::2], every=5)
    >>> timeline = recorder.partial_fit(X[::2], y[::2], batch_size=5, epochs=4).timeline()
    >>> len(timeline), timeline.order.tolist()[0]       # frames, and the class that was learnt first
    (13, 0)
    """

    steps: np.ndarray
    pics: np.ndarray
    chi2: np.ndarray
    accuracy: np.ndarray | None
    classes: np.ndarray
    certainty: np.ndarray
    learnt: np.ndarray
    pairs: np.ndarray
    separation: np.ndarray
    separated: np.ndarray
    transitions: list[Transition]

    def __post_init__(self) -> None:
        names = ["steps", "pics", "chi2", "certainty", "learnt", "pairs", "separation", "separated", "classes"]
        read_only(self, *names, *([] if self.accuracy is None else ["accuracy"]))

    @classmethod
    def of(
        cls,
        steps: np.ndarray,
        pics: np.ndarray,
        accuracy: np.ndarray | None,
        classes: np.ndarray,
        certainty: np.ndarray,
        told: np.ndarray,
        pairs: np.ndarray,
        separation: np.ndarray,
    ) -> Timeline:
        """Make the timeline of what was measured in each frame.

        Parameters
        ----------
        steps, pics, accuracy, classes, certainty : ndarray
            These become the attributes of the same name.
        told : ndarray of bool, shape (T, k)
            Says whether a class is believed more of its own inputs than of others, by at least 0.1.
        pairs, separation : ndarray
            These become attributes too; the other attributes follow from them.

        Returns
        -------
        Timeline
        """
        chi2 = pics.sum(axis=1)
        return cls(
            steps=steps,
            pics=pics,
            chi2=chi2,
            accuracy=accuracy,
            classes=classes,
            certainty=certainty,
            learnt=find_lasting_steps(steps, (certainty >= MIN_KNOWN_CERTAINTY) & told),
            pairs=pairs,
            separation=separation,
            separated=find_lasting_steps(steps, separation >= MIN_KNOWN_CERTAINTY),
            transitions=find_transitions(steps, chi2),
        )

    @property
    def order(self) -> np.ndarray:
        """Classes in the order in which they were learnt; those that never were come last."""
        return self.classes[np.argsort(self.learnt, kind="stable")]

    def __len__(self) -> int:
        return len(self.steps)

    def _collect_columns(self) -> dict[str, np.ndarray]:
        columns = {"step": self.steps, "chi2": self.chi2}
        if self.accuracy is not None:
            columns["accuracy"] = self.accuracy
        names = [f"certainty {label}" for label in self.classes.tolist()]
        if len(set(names)) < len(names):
            raise ValueError("classes must have names that differ as text. Record with other classes.")
        return columns | number_columns("pic", self.pics) | dict(zip(names, self.certainty.T, strict=True))

    def _collect_preview(self, n: int) -> tuple[dict[str, np.ndarray], int]:
        order = np.argsort(self.learnt, kind="stable")  # the classes, as in the text: frames are for pictures
        columns = {"class": self.classes, "learnt_at": self.learnt, "certainty at the end": self.certainty[-1]}
        return {name: values[order[:n]] for name, values in columns.items()}, len(order)

    def __repr__(self) -> str:
        sudden = [
            f"  transition: steps {t.start:.0f} to {t.end:.0f}, total inertia + {t.rise:.3g}" for t in self.transitions
        ]
        lines = [self._format_head(), *self._format_classes(), *self._format_pairs()]
        return "\n".join([*lines, *(sudden or ["  no sudden transition"])])

    def _format_head(self) -> str:
        end = "" if self.accuracy is None else f", accuracy {self.accuracy[0]:.3f} to {self.accuracy[-1]:.3f}"
        return (
            f"Timeline: {len(self)} frames, steps {self.steps[0]} to {self.steps[-1]}, {len(self.classes)} classes, "
            f"total inertia {self.chi2[0]:.3g} to {self.chi2[-1]:.3g}{end}"
        )

    def _format_classes(self, most: int = 20) -> list[str]:
        order = np.argsort(self.learnt, kind="stable")
        width = max([len(str(self.classes[i])) for i in order[:most]] + [5])
        lines = [f"  {'class':<{width}}  {'learnt at':>9}  certainty at the end"]
        lines += [
            f"  {self.classes[i]!s:<{width}}  {_format_step(self.learnt[i]):>9}  {self.certainty[-1, i]:.3f}"
            for i in order[:most]
        ]
        return lines + ([f"  ... and {len(order) - most} more"] if len(order) > most else [])

    def _format_pairs(self, most: int = 3) -> list[str]:
        order = np.argsort(self.separated, kind="stable")  # NaN last: never separated
        if not len(order):
            return []
        if np.isfinite(self.separated).all() and np.ptp(self.separated) == 0:
            return [f"  separated: all {len(order)} pairs at step {_format_step(self.separated[0])}"]
        if len(order) <= 2 * most:
            return [f"  separated: {', '.join(map(self._format_pair, order))}"]
        first, last = order[:most], order[-most:][::-1]
        return [
            f"  separated first: {', '.join(map(self._format_pair, first))}",
            f"  separated last: {', '.join(map(self._format_pair, last))}",
        ]

    def _format_pair(self, i: int) -> str:
        a, b = self.classes[self.pairs[i]].tolist()
        return f"{a} | {b} ({_format_step(self.separated[i])})"


def find_lasting_steps(steps: np.ndarray, holds: np.ndarray) -> np.ndarray:
    """Find the first step at which something holds, as it does in nine of ten later frames and at the end; else NaN.

    Parameters
    ----------
    steps : ndarray of shape (T,)
        The steps must ascend.
    holds : ndarray of shape (T, m) of bool
        Says whether each of m things holds at each step.

    Examples
    --------
    >>> find_lasting_steps(np.array([0, 10, 20]), np.array([[True, False], [False, True], [True, False]]))
    array([20., nan])
    """
    left = np.arange(len(steps), 0, -1)[:, None]
    share = np.cumsum(holds[::-1], axis=0)[::-1] / left
    lasts = holds & (share >= MIN_LASTING_SHARE) & holds[-1]
    return np.where(lasts.any(axis=0), np.asarray(steps, float)[lasts.argmax(axis=0)], np.nan)


def find_transitions(steps: np.ndarray, chi2: np.ndarray) -> list[Transition]:
    """Find the stretches of a training in which the total inertia suddenly rises above all its earlier values.

    What counts is the largest total inertia so far (of medians of three frames): learning again what was forgotten for
    a moment is not a transition. Its speed, smoothed over a few frames, has a peak whose prominence is at least 25 % of
    the greatest speed. The stretch is the width of that peak at half its height. In it the total inertia rises by at
    least 10 % of its largest value (and by 0.01), and at least twice as fast as in the mean of the recording: even
    growth is not a transition. The total inertia is below the middle of the rise for three quarters of the time before,
    and above it for three quarters of the time after: an oscillation is not a transition either.

    Parameters
    ----------
    steps : ndarray of shape (T,)
        The steps must ascend; they need not be equally spaced.
    chi2 : ndarray of shape (T,)
        The sum of the PICs at each step.

    Returns
    -------
    list of Transition
        Transitions in the order of the steps.

    Examples
    --------
    >>> steps = np.arange(0, 1000, 10)
    >>> [(t.middle, t.rise) for t in find_transitions(steps, np.where(steps < 400, 0.1, 1.1))]
    [(395.0, 1.0)]
    >>> find_transitions(steps, steps / 1000)
    []
    """
    if len(steps) < 4 or chi2.max() < LEAST_RISE:
        return []
    grid, now = resample_evenly(np.asarray(steps, float), chi2)
    values = resample_evenly(np.asarray(steps, float), np.maximum.accumulate(median_filter(chi2, 3, mode="nearest")))[1]
    frame = np.median(np.diff(steps)) / (grid[1] - grid[0])  # points of the grid between two frames
    smooth = gaussian_filter1d(values, max(1.0, 0.01 * len(steps)) * frame, mode="nearest")
    speed = np.concatenate([[0.0], np.gradient(smooth), [0.0]])  # so that a rise from the first step on is a peak too
    greatest = speed.max()
    if greatest <= 0:
        return []
    peaks, _ = find_peaks(speed, prominence=MIN_PEAK_PROMINENCE * greatest)
    _, _, left, right = peak_widths(speed, peaks, rel_height=0.5)
    spans = np.interp(np.array([left, right]) - 1, np.arange(len(grid)), grid).T
    found = [measure_transition(grid, values, *span) for span in spans]
    least = max(MIN_RISE_SHARE * chi2.max(), LEAST_RISE)
    mean = max(smooth.max() - smooth.min(), least) / (grid[-1] - grid[0])
    sudden = [t for t in found if t.rise >= max(least, MIN_SPEED_RATIO * mean * (t.end - t.start))]
    return [t for t in sudden if is_lasting(t, grid, now)]


def is_lasting(t: Transition, grid: np.ndarray, values: np.ndarray) -> bool:
    """Say whether the total inertia is on the whole lower before a transition and higher after it."""
    middle = np.interp(t.end, grid, values) - t.rise / 2
    is_low, is_high = values[grid < t.start] <= middle, values[grid > t.end] >= middle
    return all(np.mean(part) >= MIN_SUSTAINED_SHARE for part in (is_low, is_high) if len(part))


def resample_evenly(steps: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Interpolate values at equally spaced steps, as close as the closest two frames."""
    span = steps[-1] - steps[0]
    size = int(min(MOST_POINTS, np.ceil(span / np.diff(steps).min()) + 1))
    grid = np.linspace(steps[0], steps[-1], max(size, len(steps)))
    return grid, np.interp(grid, steps, values)


def measure_transition(grid: np.ndarray, values: np.ndarray, start: float, end: float) -> Transition:
    low, high = np.interp([start, end], grid, values)
    inside = np.linspace(start, end, 201)
    highest = np.maximum.accumulate(np.interp(inside, grid, values))
    return Transition(float(start), float(np.interp((low + high) / 2, highest, inside)), float(end), float(high - low))


def _format_step(step: float) -> str:
    return "never" if np.isnan(step) else f"{step:.0f}"
