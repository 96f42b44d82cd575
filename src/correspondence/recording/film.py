"""What a movie of a training shows, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from correspondence._util.arguments import check_whole, read_only
from correspondence._util.text import one_line
from correspondence.recording.frames import find_axes, find_coordinates
from correspondence.recording.learning import measure_timeline
from correspondence.recording.recording import Recording
from correspondence.results.timeline import Timeline

__all__ = ["Film", "make_film"]


@dataclass(frozen=True, eq=False)
class Film:
    """What a movie of a training shows, frame by frame.

    Attributes
    ----------
    timeline : Timeline
        The timeline of the frames that are shown.
    index : ndarray of shape (m,)
        Which of the probes are shown.
    labels : ndarray of shape (m,) or None
        Positions of their labels among the classes.
    inputs : ndarray of shape (T, m, 2)
        Where they are.
    positions : ndarray of shape (T, k, 2)
        Means of the inputs of each class; NaN if there are none.
    guesses : ndarray of shape (T, m)
        The position of the likeliest class of each input.
    belief : ndarray of shape (T, m)
        How much it is believed.
    """

    timeline: Timeline
    index: np.ndarray
    labels: np.ndarray | None
    inputs: np.ndarray
    positions: np.ndarray
    guesses: np.ndarray
    belief: np.ndarray

    def __post_init__(self) -> None:
        read_only(self, "index", "inputs", "positions", "guesses", "belief")

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def is_line(self) -> bool:
        """Whether there is only one axis, as with two classes; the second coordinate is then meaningless."""
        return self.timeline.pics.shape[1] < 2

    def find_view(self) -> np.ndarray:
        """Find the middle and half-width of the part of the plane that is shown, the same for all frames.

        It contains all of the last frame, and 99 % of the inputs of all frames along each axis.
        """
        spread = np.quantile(self.inputs.reshape(-1, 2), [0.005, 0.995], axis=0)
        low = np.minimum(spread[0], self.inputs[-1].min(axis=0))
        high = np.maximum(spread[1], self.inputs[-1].max(axis=0))
        half = np.maximum(0.56 * (high - low), 1e-3 * np.max(high - low) + 1e-9)
        return np.stack([(low + high) / 2, half])

    def format_names(self) -> list[str]:
        """Return the classes as texts."""
        return [one_line(label, 24) for label in self.timeline.classes.tolist()]

    def format_title(self, t: int) -> str:
        """Return the text above frame t."""
        accuracy = self.timeline.accuracy
        return f"Step {self.timeline.steps[t]:,}" + ("" if accuracy is None else f", accuracy {accuracy[t]:.1%}")


def make_film(recording: Recording, max_frames: int, max_points: int, progress: bool | None) -> Film:
    """Make the film of a recording that has frames; the parameters are those of `TrainingRecorder.film`."""
    check_whole(max_frames, "max_frames", 2)
    check_whole(max_points, "max_points", 1)
    T, codes = len(recording.steps), recording.codes
    shown = np.unique(np.linspace(0, T - 1, min(max_frames, T)).round().astype(int))
    points = np.sort(np.random.default_rng(0).permutation(recording.n)[:max_points])
    axes = find_axes(recording.read_beliefs(T - 1), recording.get_classes())
    pictures = [_make_picture(recording.read_beliefs(i), codes, axes, points) for i in shown]
    inputs, positions, guesses, belief = (np.stack(parts) for parts in zip(*pictures, strict=True))
    timeline = measure_timeline(recording, shown, progress)
    return Film(timeline, points, None if codes is None else codes[points], inputs, positions, guesses, belief)


def _make_picture(
    P: np.ndarray, codes: np.ndarray | None, axes: tuple[np.ndarray, np.ndarray], points: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Find where some inputs and the classes are in the plane, the likeliest classes of these inputs and their beliefs.

    A class is at the mean of all its inputs: those with its label or, without labels, those it is likeliest of.
    """
    inputs = find_coordinates(P, *axes)[0][:, :2]
    if inputs.shape[1] == 1:  # two classes lie on a line: spread out across it, always in the same way
        inputs = np.column_stack([inputs, np.random.default_rng(0).uniform(-1, 1, len(inputs))])
    guesses = P.argmax(axis=1)
    members = np.eye(P.shape[1])[guesses if codes is None else codes]
    with np.errstate(invalid="ignore"):
        positions = (members.T @ inputs) / members.sum(axis=0)[:, None]
    return inputs[points], positions, guesses[points], P.max(axis=1)[points]
