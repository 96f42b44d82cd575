"""The demo of the command line: a net that reads digits, from its training to a page, and a small table."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

from correspondence import datasets, plot
from correspondence._util.files import new_file
from correspondence._util.progress import make_progress_bar
from correspondence._util.text import list_names
from correspondence.classifiers.estimator import ClassifierCA
from correspondence.describe.axis_words import find_axis_words
from correspondence.describe.sentences import write_sentences
from correspondence.estimators.ca.estimator import CA
from correspondence.page import explore
from correspondence.page.explorer_page import ExplorerPage
from correspondence.recording.recorder import TrainingRecorder
from correspondence.results.evidence import HeldOut

__all__ = ["run_demo"]

N_TRAINING_IMAGES, N_PROBE_IMAGES = 600, 900  # images to learn from and to look at; the others are held out
N_HIDDEN_UNITS, LEARNING_RATE, WEIGHT_DECAY, N_EPOCHS, BATCH_SIZE = 32, 0.005, 0.5, 30, 50
# Chosen by three folds of the training images: right on 94.5 %, and cautious, so that the plane is not just ten dots.
STEPS_PER_FRAME = 5
N_CONFUSED_PAIRS = 5  # pairs of digits that are named as confused
N_HARDEST_DIGITS = 3  # digits that have a page of their own: two axes
DIGIT_VARIABLE_NAMES = "image", "digit"
TASK_VARIABLE_NAMES = "task", "person"


def run_demo(folder: Path) -> str:
    """Train a net on digits, analyse what it confuses, and a table of counts; write pictures and pages.

    Parameters
    ----------
    folder : Path
        Write to this folder, which is made if it does not exist. A file is replaced only once the new one is complete.

    Returns
    -------
    str
        What was found, and the paths of the files.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        digits, table = analyze_digits(), CA().fit(datasets.load_housetasks())
    except BaseException:
        if is_new:
            folder.rmdir()
        raise
    title, who = "Household tasks: who does what?", ("task", "who does it")
    pages = [
        digits.write_page(folder / "digits.html"),
        digits.write_hardest_page(folder / "hardest.html"),
        explore(table, path=folder / "tasks.html", overwrite=True, names=TASK_VARIABLE_NAMES, title=title),
    ]
    pictures = [
        digits.draw_picture(folder / "digits.png"),
        _save_plane(folder / "tasks.png", table, names=who, ellipses=table.bootstrap(random_state=0)),
    ]
    found = [
        *(f"Page:    {Path(page).resolve().as_uri()}" for page in pages),
        *(f"Picture: {path.resolve()}" for path in pictures),
    ]
    return f"{digits.format_text()}\n\n{_describe_table(table)}\n\n" + "\n".join(found)


# --- digits


@dataclass(frozen=True, eq=False)
class _Digits:
    """A trained net, and images that were not used in its training."""

    recorder: TrainingRecorder
    cca: ClassifierCA
    """The analysis of the probes."""
    images: np.ndarray
    """The probes, as they are shown."""
    X: np.ndarray
    labels: np.ndarray
    held_out: HeldOut
    """Figures on images that are neither probes nor training images."""
    unseen: int
    accuracy: float
    """The share of right answers on all images that were not used in the training."""

    @cached_property
    def sentences(self) -> list[str]:
        return write_sentences(self.cca, find_axis_words(self.cca), self.held_out, DIGIT_VARIABLE_NAMES)

    @property
    def introduction(self) -> str:
        return (
            f"A net with {N_HIDDEN_UNITS} hidden units has learned from {N_TRAINING_IMAGES} of scikit-learn's images "
            f"of handwritten digits, and is right on {100 * self.accuracy:.1f} % of {self.unseen:,} others."
        )

    def format_text(self) -> str:
        sentences = " ".join(self.sentences)
        paragraphs = [self.introduction, self._describe_confusion(), sentences]
        introduction, confusion, sentences = map(_wrap_text, paragraphs)
        return "\n\n".join([introduction, self._format_table(), confusion, sentences])

    def _format_table(self) -> str:
        lines = ["component  PIC claimed  on labels  tells apart"]
        G = self.cca.transform_y(self.cca.classes_)
        on_labels = np.maximum(self.held_out.correlations, 0) ** 2
        for i, (claimed, real) in enumerate(zip(self.cca.pics_, on_labels, strict=True)):
            low, high = self.cca.classes_[[G[:, i].argmin(), G[:, i].argmax()]]
            lines.append(f"{i + 1:>9}  {claimed:>11.3f}  {real:>9.3f}  {low} and {high}")
        lines.append(
            f"Claimed by its beliefs of {len(self.X)} of the others; on labels of the other {self.held_out.n:g}."
        )
        return "\n".join(lines)

    def _describe_confusion(self) -> str:
        overlap = np.triu(self.cca.overlap_, 1)
        first, second = np.unravel_index(np.argsort(-overlap, axis=None)[:N_CONFUSED_PAIRS], overlap.shape)
        names = self.cca.classes_
        listed = (f"{names[a]} and {names[b]} ({overlap[a, b]:.2f})" for a, b in zip(first, second, strict=True))
        return f"Most confused, with the overlap of beliefs: {', '.join(listed)}."

    def write_page(self, path: Path) -> ExplorerPage:
        return explore(
            self.cca,
            self.X,
            path=path,
            overwrite=True,
            held_out=self.held_out,
            classes=self.labels,
            names=DIGIT_VARIABLE_NAMES,
            x_images=self.images,
            recorder=self.recorder,
            title="Handwritten digits: what does a small net confuse?",
            about=[self.introduction, *self.sentences],
        )

    def write_hardest_page(self, path: Path) -> ExplorerPage:
        hardest = self.cca.focus(self.X, Y=self.labels, n=N_HARDEST_DIGITS)
        listed = list_names(hardest.classes_.tolist())
        introduction = (
            f"{listed} are the {N_HARDEST_DIGITS} digits that the net confuses most with each other. The axes separate "
            "just these: beliefs are divided by the belief in one of them, by which an image also counts."
        )
        return explore(
            hardest,
            self.X,
            path=path,
            overwrite=True,
            classes=self.labels,
            names=DIGIT_VARIABLE_NAMES,
            x_images=self.images,
            title=f"The hardest digits: {listed}",
            about=[introduction],
        )

    def draw_picture(self, path: Path) -> Path:
        calls = self.cca.confusing(self.X, 12)
        return _save_plane(
            path,
            self.cca,
            map="rowprincipal",
            X=self.X,
            classes=self.labels,
            boundaries=True,
            confusing=calls,
            thumbnails=self.images[calls.index],
            names=DIGIT_VARIABLE_NAMES,
        )


def analyze_digits() -> _Digits:
    """Train the net on some images, and analyse what it believes of others."""
    data = load_digits()
    X, y = data.data / data.data.max(), data.target.astype(str).astype(object)
    train, probes, test = np.split(
        np.random.default_rng(0).permutation(len(y)), [N_TRAINING_IMAGES, N_TRAINING_IMAGES + N_PROBE_IMAGES]
    )
    net = MLPClassifier((N_HIDDEN_UNITS,), learning_rate_init=LEARNING_RATE, alpha=WEIGHT_DECAY, random_state=0)
    recorder = TrainingRecorder(net, X[probes], y[probes], every=STEPS_PER_FRAME)
    with make_progress_bar(N_EPOCHS, "training") as shown:
        for epoch in range(N_EPOCHS):
            recorder.partial_fit(X[train], y[train], batch_size=BATCH_SIZE, random_state=epoch)
            shown.update()
    cca = ClassifierCA(net).fit(X[probes])
    unseen = np.concatenate([probes, test])
    return _Digits(
        recorder,
        cca,
        np.rint(255 * (1 - X[probes].reshape(-1, 8, 8))).astype(np.uint8),
        X[probes],
        y[probes],
        cca.evaluate(X[test], y[test]),
        len(unseen),
        float((cca.predict(X[unseen]) == y[unseen]).mean()),
    )


# --- the table


def _describe_table(ca: CA) -> str:
    d, said = ca.decomposition_, find_axis_words(ca)
    pics = ", ".join(f"{pic:.4f}" for pic in d.pics)
    meaning = " ".join(words.write_sentence(TASK_VARIABLE_NAMES) for words in said[:2])
    return _wrap_text(f"And a table, {d.n:g} answers on who does which task in a couple: PICs {pics}. {meaning}")


def _save_plane(path: Path, est: CA | ClassifierCA, **options: Any) -> Path:
    try:
        plot.plane(est, **options)
        with new_file(path) as temporary:
            plt.savefig(temporary, dpi=110)
    finally:
        plt.close()
    return path


def _wrap_text(text: str) -> str:
    return textwrap.fill(text, 100)
