"""The beliefs of a classifier while it is being trained: recorded on fixed probes, then a timeline and a movie of them.

Names and the paper's symbols: frame t holds ``beliefs`` P_t (the rows of P_{Y|X} for the probes), p_t is their mean and
D_t = diag(p_t). The principal coordinates of the probes are F_t sqrt(Lambda_t) = (P_t - p_t) D_t^{-1/2} V_t, where
V_t = D_t^{1/2} G_t has orthonormal columns, all orthogonal to sqrt(p_t).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError

from correspondence._util.arguments import check_seed, check_whole, count_observations, find_user_stacklevel, take_rows
from correspondence._util.labels import as_labels, encode_labels, to_object_array
from correspondence._util.progress import make_progress_bar
from correspondence._util.user_warnings import LeftOut
from correspondence.classifiers.beliefs import Beliefs, is_stream
from correspondence.classifiers.estimator import label_codes
from correspondence.core.decomposition import Decomposition
from correspondence.recording.frames import (
    RecordedFrames,
    analyse_frame,
    find_axes,
    find_coordinates,
    measure_certainty,
)
from correspondence.recording.recording import Recording
from correspondence.results.timeline import Timeline

if TYPE_CHECKING:
    from correspondence.recording.movie import Film

__all__ = ["TrainingRecorder"]

MOST_PAIRS = 20_000  # of classes whose separation is followed: all pairs of 200 classes


class TrainingRecorder:
    """Record the beliefs of a classifier on fixed probes while it is being trained.

    Frames are kept on disk in half precision: n k numbers of two bytes each. When there are more than ``max_frames``,
    every second one is dropped and from then on half as many are recorded.

    Parameters
    ----------
    model : classifier, torch module or callable
        As for `ClassifierCA`: it is asked for its beliefs of the probes, a torch module in evaluation mode. One of
        scikit-learn that cannot answer yet is first asked after its first step.
    X_probe : array-like, tensor or frame
        Inputs, best such that the model is not trained on; a few hundred to a few thousand.
    y : array-like of shape (n,), optional
        Their labels, for the accuracy, the colours of the movie and the certainty of the classes.
    every : int
        How many calls of `step` lie between two frames; ``recorder.every`` doubles when frames are dropped.
    classes : array-like of shape (k,), optional
        Names of the columns of the beliefs; by default ``model.classes_``, or 0, 1, ...
    outputs : {"auto", "probabilities", "logits"}
        What the model returns. "auto" tells logits from probabilities for torch modules.
    batch_size : int
        How many probes the model is asked at a time.
    max_frames : int
        At most so many frames are kept.
    path : str or Path, optional
        Folder for the frames, to be loaded again by `load`; by default a temporary one, deleted with the recorder.

    Attributes
    ----------
    steps : ndarray of shape (T,)
        At which step each frame was recorded; 0 is before the training.
    frames : sequence of ndarray of shape (n, k)
        The beliefs of each frame, read when they are asked for.
    accuracy : ndarray of shape (T,) or None
        Of each frame, if there are labels.
    classes : ndarray of shape (k,) or None
        Names of the classes; None until the first frame.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SGDClassifier(loss="log_loss", alpha=0.01, random_state=0)
    >>> recorder = TrainingRecorder(model, X[1::2], y[1::2], every=5)
    >>> recorder.partial_fit(X[::2], y[::2], batch_size=5, epochs=4)        # 60 steps
    TrainingRecorder: 13 frames of 75 probes and 3 classes, steps 1 to 60
    >>> recorder.beliefs(-1).shape
    (75, 3)
    """

    def __init__(
        self,
        model: Any,
        X_probe: Any,
        y: Any = None,
        *,
        every: int = 10,
        classes: Any = None,
        outputs: str = "auto",
        batch_size: int = 1024,
        max_frames: int = 500,
        path: str | Path | None = None,
    ) -> None:
        if model is None:
            raise TypeError("model is missing: give the classifier that is trained.")
        if is_stream(X_probe):
            raise TypeError(
                "X_probe must be the inputs themselves, an array, a tensor or a frame, not batches of them."
            )
        n = count_observations(X_probe, "X_probe")
        if n < 2:
            raise ValueError(f"X_probe has {n} input(s): beliefs of at least two are needed.")
        every = check_whole(every, "every", 1)
        self.max_frames = check_whole(max_frames, "max_frames", 2)
        self.model, self.X_probe, self.outputs, self.batch_size = model, X_probe, outputs, batch_size
        self._given = classes
        self._labels = None if y is None else _check_labels(y, n)
        self._ask = self._make_beliefs()
        self._recording = Recording.create_empty(path, n, every)
        self._step = 0
        try:
            self.record()
        except NotFittedError:  # it can be asked after its first step
            pass
        except BaseException:
            self._recording.discard_folder()
            raise

    @classmethod
    def load(cls, path: str | Path) -> TrainingRecorder:
        """Recorder of an earlier run, for its movie, timeline and frames; it cannot record any more.

        Parameters
        ----------
        path : str or Path
            The folder that was given to the recorder.

        Returns
        -------
        TrainingRecorder
        """
        recorder = cls.__new__(cls)
        recorder._recording = Recording.read_folder(path)
        recorder.model = recorder.X_probe = None
        recorder.max_frames = len(recorder._recording.steps)
        return recorder

    # --- recording

    def step(self) -> None:
        """Count a step of the training; every ``every``-th time the beliefs are recorded."""
        self._check_live()
        self._step += 1
        if self._step % self.every == 0 or not len(self):
            self.record()

    def __call__(self, *_: Any, **__: Any) -> None:
        """Do the same as `step`, whatever the arguments: a callback for anything."""
        self.step()

    def record(self) -> None:
        """Record the beliefs now, unless those of this step are recorded already; for instance after the last step.

        Invalid beliefs (NaN after divergence, say) are skipped with a warning.
        """
        self._check_live()
        if self._recording.steps and self._recording.steps[-1] == self._step:
            return
        if self._recording.classes is None:
            self._ask = self._make_beliefs()  # only now a model of scikit-learn may know its classes
        try:
            P = self._ask(self.X_probe)
        except ValueError as error:
            if not len(self) or error.__cause__ is not None:  # the model itself has failed
                raise
            warnings.warn(f"Step {self._step} is not recorded: {error}", LeftOut, stacklevel=find_user_stacklevel())
            return
        if self._recording.classes is None:
            classes = self._ask.name_classes(P.shape[1])
            self._recording.set_classes(
                classes, None if self._labels is None else label_codes(self._labels, classes, name="y")
            )
        self._recording.append_frame(self._step, P)
        while len(self) > self.max_frames:
            self._recording.thin_frames()

    def partial_fit(
        self, X: Any, y: Any, *, batch_size: int = 100, epochs: int = 1, random_state: int = 0
    ) -> TrainingRecorder:
        """Train a model of scikit-learn in shuffled batches, each of which is a step, and record it; the end as well.

        Parameters
        ----------
        X, y : array-like
            Training data.
        batch_size : int
            How many rows ``model.partial_fit`` is given at a time.
        epochs : int
            How often it is given all rows.
        random_state : int
            Of the shuffling.

        Returns
        -------
        TrainingRecorder
            Itself.
        """
        self._check_live()
        if not hasattr(self.model, "partial_fit"):
            raise TypeError(f"{type(self.model).__name__} has no partial_fit: train it yourself and call step().")
        n = count_observations(X, "X")
        labels = _check_labels(y, n, "X")
        check_whole(batch_size, "batch_size", 1)
        rng = check_seed(random_state)
        first = {} if hasattr(self.model, "classes_") else {"classes": self._collect_training_classes(labels)}
        for _ in range(check_whole(epochs, "epochs", 1)):
            order = rng.permutation(n)
            for rows in np.split(order, range(batch_size, n, batch_size)):
                self.model.partial_fit(take_rows(X, rows), labels[rows], **first)
                first = {}
                self.step()
        self.record()
        return self

    def _collect_training_classes(self, labels: np.ndarray) -> np.ndarray:
        """Classes that a model must be told of before its first batch: those given, if they are labels, or all seen."""
        seen = set(labels.tolist())
        if self._given is not None:
            given = as_labels(self._given, "classes").tolist()
            more = given if seen <= set(given) else []
        else:
            more = [] if self._labels is None else self._labels.tolist()
        return np.array(encode_labels(to_object_array([*labels.tolist(), *more]), "y")[1].tolist())

    def _make_beliefs(self) -> Beliefs:
        return Beliefs(self.model, self.outputs, batch_size=self.batch_size, classes=self._given)

    def _check_live(self) -> None:
        if self.model is None:
            raise ValueError("This recording was loaded and cannot go on: make a new TrainingRecorder for the model.")

    # --- frames

    def __len__(self) -> int:
        return len(self._recording.steps)

    def __repr__(self) -> str:
        kept = self._recording
        if kept.classes is None:
            return f"TrainingRecorder: no frames yet of {kept.n} probes"
        return (
            f"TrainingRecorder: {len(self)} frames of {kept.n} probes and {len(kept.classes)} classes, "
            f"steps {kept.steps[0]} to {kept.steps[-1]}"
        )

    @property
    def every(self) -> int:
        """How many steps lie between two frames by now."""
        return self._recording.every

    @property
    def steps(self) -> np.ndarray:
        """Step of each frame."""
        return np.array(self._recording.steps, dtype=np.int64)

    @property
    def frames(self) -> Sequence[np.ndarray]:
        """Beliefs of each frame, read when they are asked for."""
        return RecordedFrames(self)

    @property
    def classes(self) -> np.ndarray | None:
        """Names of the classes."""
        return self._recording.classes

    @property
    def accuracy(self) -> np.ndarray | None:
        """Share of the probes of each frame whose likeliest class is their label."""
        codes = self._recording.codes
        return None if codes is None else np.array([np.mean(P.argmax(axis=1) == codes) for P in self.frames])

    def beliefs(self, i: int = -1) -> np.ndarray:
        """Beliefs of frame i, of shape (n, k), in float64; the rows sum to 1.

        Parameters
        ----------
        i : int
            Counted from 0, or from the end if negative.

        Returns
        -------
        ndarray of shape (n, k)
            In half precision on the disk, so they are rounded.
        """
        return self._recording.read_beliefs(self._check_frame(i))

    def decomposition(self, i: int = -1) -> Decomposition:
        """Decomposition of the beliefs of frame i, as `ClassifierCA.from_beliefs` finds it.

        Parameters
        ----------
        i : int
            Which frame.

        Returns
        -------
        Decomposition
            Of beliefs and classes.
        """
        return analyse_frame(self.beliefs(i), self._recording.get_classes()).decomposition_

    def coordinates(self, i: int = -1) -> tuple[np.ndarray, np.ndarray]:
        """Principal coordinates of the probes in frame i, and where the classes are, turned so that frames compare.

        They are those of frame i after a Procrustes rotation, in the space of the classes, onto the axes of the last
        frame: of all orthonormal bases of the complement of sqrt(p_i) the one closest to the last frame's. That one is
        the smallest rotation that takes sqrt(p_T) to sqrt(p_i), applied to V_T; it exists whatever the PICs are, and
        changes as little from frame to frame as the beliefs do. Distances between inputs are not changed by it.

        Parameters
        ----------
        i : int
            Which frame.

        Returns
        -------
        inputs : ndarray of shape (n, k - 1)
            Of the last frame f(x) sqrt(lambda).
        classes : ndarray of shape (k, k - 1)
            Where an input would be that is wholly believed to be of a class; NaN for a class that is never believed.
        """
        return find_coordinates(self.beliefs(i), *self._find_last_axes())

    def timeline(self, progress: bool | None = None) -> Timeline:
        """What was learnt when.

        Parameters
        ----------
        progress : bool, optional
            Whether a bar is shown; in a terminal, from two seconds on, by default.

        Returns
        -------
        Timeline
            PICs, accuracy, certainty of each class and separation of each pair over the steps, the order in which
            classes were learnt, sudden transitions. All pairs of up to 200 classes are followed; of more, the 20,000
            that overlap most at the end.
        """
        self._check_frame(-1)
        return self._measure_timeline(np.arange(len(self)), progress)

    def movie(
        self,
        path: str | Path,
        *,
        fps: float = 15,
        max_frames: int = 150,
        max_points: int = 2000,
        progress: bool | None = None,
    ) -> Path:
        """Write a movie of the plane of the last frame's first two axes, in which the inputs find their places.

        Parameters
        ----------
        path : str or Path
            Its ending decides: ``.mp4`` (needs ffmpeg), ``.gif``, or ``.html``, one page with a slider and without a
            network.
        fps : float
            Frames in a second.
        max_frames : int
            At most so many frames, at equal distances, the first and the last among them.
        max_points : int
            At most so many inputs, drawn at random.
        progress : bool, optional
            Whether a bar is shown; in a terminal, from two seconds on, by default.

        Returns
        -------
        Path
            Of the file.
        """
        from correspondence.recording.movie import (  # here, because recording must not need pictures
            check_movie,
            write_movie,
        )

        check_movie(path, fps)
        film = self.film(max_frames=max_frames, max_points=max_points, progress=progress)
        return write_movie(film, path, fps=fps, progress=progress)

    def film(self, *, max_frames: int = 150, max_points: int = 2000, progress: bool | None = None) -> Film:
        """What the movie shows, as arrays: for pictures of your own.

        Parameters
        ----------
        max_frames, max_points, progress
            As for `movie`.

        Returns
        -------
        Film
        """
        from correspondence.recording.movie import Film  # here, because recording must not need pictures

        self._check_frame(-1)
        check_whole(max_frames, "max_frames", 2)
        check_whole(max_points, "max_points", 1)
        shown = np.unique(np.linspace(0, len(self) - 1, min(max_frames, len(self))).round().astype(int))
        n, codes = self._recording.n, self._recording.codes
        points = np.sort(np.random.default_rng(0).permutation(n)[:max_points])
        pictures = [self._make_picture(i, points) for i in shown]
        inputs, positions, guesses, belief = (np.stack(parts) for parts in zip(*pictures, strict=True))
        return Film(
            timeline=self._measure_timeline(shown, progress),
            index=points,
            labels=None if codes is None else codes[points],
            inputs=inputs,
            positions=positions,
            guesses=guesses,
            belief=belief,
        )

    def _make_picture(self, i: int, points: np.ndarray) -> tuple[np.ndarray, ...]:
        """Frame i: where some of the inputs and the classes are in the plane, the likeliest classes and their beliefs.

        A class is at the mean of all its inputs: those with its label, or without labels those it is likeliest of.
        """
        P = self.beliefs(i)
        inputs = find_coordinates(P, *self._find_last_axes())[0][:, :2]
        if inputs.shape[1] == 1:  # two classes lie on a line: spread out across it, always in the same way
            inputs = np.column_stack([inputs, np.random.default_rng(0).uniform(-1, 1, len(inputs))])
        guesses = P.argmax(axis=1)
        k, codes = P.shape[1], self._recording.codes
        members = np.eye(k)[guesses if codes is None else codes]
        count = members.sum(axis=0)
        with np.errstate(invalid="ignore"):
            positions = (members.T @ inputs) / count[:, None]
        return inputs[points], positions, guesses[points], P.max(axis=1)[points]

    def _check_frame(self, i: int) -> int:
        size = len(self)
        if not size:
            raise ValueError("There are no frames yet: train the model and call step().")
        return check_whole(i, "i", -size, size - 1) % size

    def _find_last_axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Axes of the last frame: V_T, completed to k - 1 columns, and sqrt(p_T). Kept until there is another frame."""
        key = (self._recording.file, len(self))
        if getattr(self, "_axes_of", None) != key:
            self._axes_of, self._axes = key, find_axes(self.beliefs(-1), self._recording.get_classes())
        return self._axes

    def _measure_timeline(self, frames: np.ndarray, progress: bool | None) -> Timeline:
        """Timeline of some of the frames."""
        classes, codes = self._recording.get_classes(), self._recording.codes
        k = len(classes)
        pairs = self._choose_pairs()
        pics, certainty = np.zeros((len(frames), k - 1)), np.empty((len(frames), k))
        separation, accuracy = np.empty((len(frames), len(pairs))), np.empty(len(frames))
        told = np.empty(certainty.shape, dtype=bool)
        with make_progress_bar(len(frames), "timeline", progress) as shown:
            for t, i in enumerate(frames):
                P = self.beliefs(i)
                fit = analyse_frame(P, classes)
                pics[t, : len(fit.pics_)] = fit.pics_
                certainty[t], told[t] = measure_certainty(P, codes)
                believed = (fit.prior_ > 0)[pairs].all(axis=1)
                separation[t] = np.where(believed, 1 - fit.overlap_[tuple(pairs.T)], 0)
                accuracy[t] = np.nan if codes is None else np.mean(P.argmax(axis=1) == codes)
                shown.update()
        known = None if codes is None else accuracy
        return Timeline.of(self.steps[frames], pics, known, classes, certainty, told, pairs, separation)

    def _choose_pairs(self) -> np.ndarray:
        """Positions of the two classes of each pair that is followed."""
        k = len(self._recording.get_classes())
        pairs = np.column_stack(np.triu_indices(k, 1))
        if len(pairs) <= MOST_PAIRS:
            return pairs
        overlaps = analyse_frame(self.beliefs(-1), self._recording.get_classes()).overlap_[tuple(pairs.T)]
        return pairs[np.sort(np.argsort(-overlaps, kind="stable")[:MOST_PAIRS])]


# --- labels


def _check_labels(y: Any, n: int, inputs: str = "X_probe") -> np.ndarray:
    """One label for each input."""
    labels = as_labels(y, "y")
    if len(labels) != n:
        raise ValueError(f"y must have one label for each of the {n} inputs of {inputs}, got {len(labels)}.")
    return labels
