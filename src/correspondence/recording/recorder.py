"""The recorder of a training: beliefs of a classifier on fixed probes, and the timeline and movie of them.

Names and the paper's symbols: frame t holds ``beliefs`` P_t (the rows of P_{Y|X} for the probes), p_t is their mean and
D_t = diag(p_t). The principal coordinates of the probes are F_t sqrt(Lambda_t) = (P_t - p_t) D_t^{-1/2} V_t, where
V_t = D_t^{1/2} G_t has orthonormal columns, all orthogonal to sqrt(p_t).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from correspondence._util.arguments import check_whole, count_observations, find_user_stacklevel
from correspondence._util.user_warnings import LeftOut
from correspondence.classifiers.beliefs import Beliefs, is_stream
from correspondence.classifiers.class_labels import find_classes
from correspondence.core.decomposition import Decomposition
from correspondence.recording.batches import check_labels, train_in_batches
from correspondence.recording.callbacks import RecorderCallback, make_callback
from correspondence.recording.film import Film, make_film
from correspondence.recording.frames import RecordedFrames, analyse_frame, find_axes, find_coordinates
from correspondence.recording.learning import measure_timeline
from correspondence.recording.recording import Recording
from correspondence.results.timeline import Timeline

__all__ = ["TrainingRecorder"]


class TrainingRecorder:
    """Record the beliefs of a classifier on fixed probes while it is being trained.

    Frames are kept on disk in half precision: n k numbers of two bytes each. When there are more than ``max_frames``,
    every second one is dropped and from then on half as many are recorded.

    Parameters
    ----------
    model : classifier, torch module, callable or None
        The model is asked for its beliefs about the probes, as by `ClassifierCA`; a torch module in evaluation mode. A
        model of scikit-learn that cannot answer yet is first asked after its first step. It may be None if a library
        makes it and `callback` or `follow` brings it.
    X_probe : array-like, tensor or frame
        Record the beliefs about these inputs, ideally a few hundred to a few thousand that are not used in the
        training.
    y : array-like of shape (n,), optional
        The labels of the probes serve for the accuracy, the colours of the movie and the certainty of the classes.
    every : int
        Record a frame at every ``every``-th call of `step`; ``recorder.every`` doubles when frames are dropped.
    classes : array-like of shape (k,), optional
        The columns of the beliefs have these names; by default ``model.classes_``, or 0, 1, ...
    outputs : {"auto", "probabilities", "logits"}
        What the model returns. "auto" distinguishes logits from probabilities for torch modules.
    batch_size : int
        Ask the model about this many probes at a time.
    max_frames : int
        Keep at most this many frames.
    path : str or Path, optional
        Write the frames to this folder, from which `load` reads them; by default to a temporary one, deleted with the
        recorder.

    Attributes
    ----------
    steps : ndarray of shape (T,)
        The step at which each frame was recorded; 0 is before the training.
    frames : sequence of ndarray of shape (n, k)
        The beliefs of each frame, read when they are asked for.
    accuracy : ndarray of shape (T,) or None
        The accuracy of each frame, if there are labels.
    classes : ndarray of shape (k,) or None
        The names of the classes; None until the first frame.

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
        if is_stream(X_probe):
            raise TypeError("X_probe must be an array, a tensor or a frame of inputs, not batches of them.")
        n = count_observations(X_probe, "X_probe")
        if n < 2:
            raise ValueError(f"X_probe must have at least two inputs, got {n}.")
        every = check_whole(every, "every", 1)
        self.max_frames = check_whole(max_frames, "max_frames", 2)
        self.model, self.X_probe, self.outputs, self.batch_size = model, X_probe, outputs, batch_size
        self.given_classes = classes
        self.labels = None if y is None else check_labels(y, n)
        self._ask = self._make_beliefs()
        self._recording = Recording.create_empty(path, n, every)
        self._step, self._is_live = 0, True
        if model is None:
            return
        try:
            self.record()
        except NotFittedError:  # it can be asked after its first step
            pass
        except BaseException:
            self._recording.discard_folder()
            raise

    @classmethod
    def load(cls, path: str | Path) -> TrainingRecorder:
        """Load the recorder of an earlier run for its movie, timeline and frames; it cannot record any more.

        Parameters
        ----------
        path : str or Path
            Read the folder that was given to the recorder.

        Returns
        -------
        TrainingRecorder
        """
        recorder = cls.__new__(cls)
        recorder._recording = Recording.read_folder(path)
        recorder.model = recorder.X_probe = None
        recorder._is_live = False
        recorder.max_frames = len(recorder._recording.steps)
        return recorder

    # --- recording

    def step(self) -> None:
        """Count a step of the training, and record the beliefs every ``every``-th time."""
        self._check_model()
        self._step += 1
        if self._step % self.every == 0 or not len(self):
            self.record()

    def __call__(self, *_: Any, **__: Any) -> None:
        """Do the same as `step`, whatever the arguments: a callback for anything."""
        self.step()

    def follow(self, model: Any) -> None:
        """Ask this model from now on, one that a training has made or replaced; its classes must be the same.

        Parameters
        ----------
        model : classifier, torch module or callable
            The model is of any kind that the recorder takes.
        """
        if model is None:
            raise TypeError("model is missing. Pass the classifier that is trained.")
        self._check_live()
        if model is not self.model:
            self.model = model
            self._ask = self._make_beliefs()

    def callback(self, unit: str = "step") -> RecorderCallback:
        """Return this recorder as a callback of the library that trains.

        It is one of xgboost, lightgbm and Keras (``callbacks=[...]``), of Lightning (``Trainer(callbacks=[...])``), of
        estimators of scikit-learn that have `set_callbacks`, and of your own loops with hooks of these names. The
        library must have been imported before. A step is an iteration of boosting or of a solver, or a batch.

        It asks the model that the library trains: for a step of a pipeline, ``X_probe`` must be what that step gets.
        The last iteration is recorded as well, but not if lightgbm stops early; then call `record`. A copy of the
        callback, as scikit-learn makes one of the parameters of a model for each fold, has a recorder of its own, and
        this one gets no frames from it.

        Parameters
        ----------
        unit : {"step", "epoch"}
            Whether a batch or an epoch is a step, where there are both. Every ``every``-th step is recorded.

        Returns
        -------
        RecorderCallback
            The callback, which also brings the model if the recorder has none.

        Examples
        --------
        >>> import numpy as np
        >>> recorder = TrainingRecorder(None, np.eye(3), every=2)
        >>> callback = recorder.callback()                  # of lightgbm: train(..., callbacks=[callback])
        >>> callback.after_iteration(lambda X: 0.8 * X + 0.2 / 3, 0, {})        # what xgboost calls
        False
        >>> len(recorder)
        1
        """
        return make_callback(self, unit)

    def record(self) -> None:
        """Record the beliefs now, for instance after the last step, unless those of this step are recorded already.

        Invalid beliefs (NaN after divergence, say) are skipped with a warning.
        """
        self._check_model()
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
                classes, None if self.labels is None else find_classes(self.labels, classes, name="y")
            )
        self._recording.append_frame(self._step, P)
        while len(self) > self.max_frames:
            self._recording.thin_frames()

    def partial_fit(
        self, X: Any, y: Any, *, batch_size: int = 100, epochs: int = 1, random_state: int = 0
    ) -> TrainingRecorder:
        """Train a model of scikit-learn in shuffled batches, count each as a step, and record the end as well.

        Parameters
        ----------
        X, y : array-like
            Train the model on these inputs and labels.
        batch_size : int
            Pass this many rows to ``model.partial_fit`` at a time.
        epochs : int
            Pass all rows this many times.
        random_state : int
            The seed of the shuffling.

        Returns
        -------
        TrainingRecorder
            The recorder itself.
        """
        self._check_live()
        train_in_batches(self, X, y, batch_size, epochs, random_state)
        return self

    def _make_beliefs(self) -> Beliefs:
        return Beliefs(self.model, self.outputs, batch_size=self.batch_size, classes=self.given_classes)

    def _check_live(self) -> None:
        if not self._is_live:
            raise ValueError("This recording was loaded and cannot continue. Make a new TrainingRecorder.")

    def _check_model(self) -> None:
        self._check_live()
        if self.model is None:
            raise TypeError("model is missing. Pass the classifier that is trained, or call follow(model).")

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
        """The current number of steps between two frames."""
        return self._recording.every

    @property
    def steps(self) -> np.ndarray:
        """The step of each frame."""
        return np.array(self._recording.steps, dtype=np.int64)

    @property
    def frames(self) -> Sequence[np.ndarray]:
        """The beliefs of each frame, read when they are asked for."""
        return RecordedFrames(self._recording)

    @property
    def classes(self) -> np.ndarray | None:
        """The names of the classes."""
        return self._recording.classes

    @property
    def accuracy(self) -> np.ndarray | None:
        """The share of the probes, in each frame, whose likeliest class is their label."""
        codes = self._recording.codes
        return None if codes is None else np.array([np.mean(P.argmax(axis=1) == codes) for P in self.frames])

    def beliefs(self, i: int = -1) -> np.ndarray:
        """Return the beliefs of frame i, in float64; the rows sum to 1.

        Parameters
        ----------
        i : int
            Frames are counted from 0, or from the end if i is negative.

        Returns
        -------
        ndarray of shape (n, k)
            The beliefs, rounded to half precision, in which they are stored.
        """
        return self._recording.read_beliefs(self._check_frame(i))

    def decomposition(self, i: int = -1) -> Decomposition:
        """Decompose the beliefs of frame i, as `ClassifierCA.from_beliefs` does.

        Parameters
        ----------
        i : int
            The frame is counted as in `beliefs`.

        Returns
        -------
        Decomposition
            The decomposition of inputs and classes.
        """
        return analyse_frame(self.beliefs(i), self._recording.get_classes()).decomposition_

    def coordinates(self, i: int = -1) -> tuple[np.ndarray, np.ndarray]:
        """Return principal coordinates of the probes and classes in frame i, rotated so that frames can be compared.

        They are those of frame i after a Procrustes rotation, in the space of the classes, onto the axes of the last
        frame: of all orthonormal bases of the complement of sqrt(p_i), the one closest to the last frame's. That is
        V_T after the smallest rotation that takes sqrt(p_T) to sqrt(p_i). It exists whatever the PICs are, and changes
        as little from frame to frame as the beliefs do. Distances between inputs are not changed by it.

        Parameters
        ----------
        i : int
            The frame is counted as in `beliefs`.

        Returns
        -------
        inputs : ndarray of shape (n, k - 1)
            The coordinates of the probes; in the last frame f(x) sqrt(lambda).
        classes : ndarray of shape (k, k - 1)
            Where an input would be that certainly belongs to a class; NaN for a class that is never believed.
        """
        return find_coordinates(self.beliefs(i), *self._find_last_axes())

    def timeline(self, progress: bool | None = None) -> Timeline:
        """Measure what was learnt when.

        Parameters
        ----------
        progress : bool, optional
            Whether to show a progress bar; by default in a terminal, after two seconds.

        Returns
        -------
        Timeline
            The PICs, accuracy, certainty of each class and separation of each pair over the steps, the order in which
            classes were learnt, and sudden transitions. All pairs of up to 200 classes are followed; of more classes,
            the 20,000 pairs that overlap most at the end.
        """
        self._check_frame(-1)
        return measure_timeline(self._recording, np.arange(len(self)), progress)

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
            The ending of the file decides: ``.mp4`` (which needs ffmpeg) and ``.gif`` are movies; ``.html`` is the page
            of `explore` for the last frame, in which a slider and a button play the frames.
        fps : float
            Show this many frames per second. A page plays at its own pace.
        max_frames : int
            Show at most this many frames, equally spaced and including the first and the last. A page shows at
            most 40.
        max_points : int
            Show at most this many inputs, drawn at random.
        progress : bool, optional
            Whether to show a progress bar; by default in a terminal, after two seconds.

        Returns
        -------
        Path
            The file that was written.
        """
        # Here, because recording must not need pictures.
        from correspondence.recording.movie import check_movie, write_explorer, write_movie

        check_movie(path, fps)
        if Path(path).suffix.lower() == ".html":
            check_whole(max_frames, "max_frames", 2)
            codes = self._recording.codes
            labels = None if codes is None else self._recording.get_classes()[codes]
            return write_explorer(self, labels, path, max_points)
        film = self.film(max_frames=max_frames, max_points=max_points, progress=progress)
        return write_movie(film, path, fps=fps, progress=progress)

    def film(self, *, max_frames: int = 150, max_points: int = 2000, progress: bool | None = None) -> Film:
        """Return what the movie shows as arrays, for pictures of your own.

        Parameters
        ----------
        max_frames, max_points, progress
            These are the parameters of `movie`.

        Returns
        -------
        Film
            The frames, with their timeline.
        """
        self._check_frame(-1)
        return make_film(self._recording, max_frames, max_points, progress)

    def _check_frame(self, i: int) -> int:
        size = len(self)
        if not size:
            raise ValueError("There are no frames yet. Train the model and call step().")
        return check_whole(i, "i", -size, size - 1) % size

    def _find_last_axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Find V_T, completed to k - 1 columns, and sqrt(p_T) of the last frame; keep them until there is another."""
        key = (self._recording.file, len(self))
        if getattr(self, "_axes_of", None) != key:
            self._axes_of, self._axes = key, find_axes(self.beliefs(-1), self._recording.get_classes())
        return self._axes
