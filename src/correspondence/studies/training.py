"""How a net learns: its factoring plane during training as a movie, and a timeline of what was learnt when."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

import correspondence as co
from correspondence._util.ffmpeg import find_ffmpeg
from correspondence.studies.catalogue import STUDY_TITLES
from correspondence.studies.report import Exhibit, Line, Report, markdown_table
from correspondence.studies.runs import Settings

__all__ = ["CIFAR_TITLE", "MNIST_TITLE", "run_cifar", "run_mnist"]

MNIST_TITLE = STUDY_TITLES["training-mnist"]
CIFAR_TITLE = STUDY_TITLES["training-cifar"]
PAPER_ACCURACIES = {"training-mnist": (0.9530, 0.9501), "training-cifar": (0.6835, 0.6168)}
N_STAGES = 6  # frames shown in the figure
NAME_STYLE: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9, "fontweight": "bold"}

ERRATA_SECTION = """\
## What it corrects

- The accuracies and all pictures are of test images; settings of the net were chosen on a part of the training images.
- Planes of different steps are rotated on to the last one in the space of the classes (Procrustes), so that the movie
  neither flips nor jumps.
- Transitions are found by a rule (`co.Timeline.transitions`), not by eye."""


@dataclass(frozen=True, eq=False)
class _TrainingRun:
    """A net that was recorded while it learnt."""

    seed: int
    recorder: co.TrainingRecorder
    labels: np.ndarray
    """Of the images that are recorded."""
    timeline: co.Timeline
    training: float
    test: float
    seconds: float


def run_mnist(settings: Settings) -> Report:
    """One epoch over the digits."""
    data = co.datasets.fetch_mnist()
    data = _limit_images(data) if settings.quick else data
    runs = _train_nets(data, "MNIST", settings, every=4, probes=1000)
    return make_report("training-mnist", MNIST_TITLE, data, runs, _make_mnist_section)


def run_cifar(settings: Settings) -> Report:
    """Some epochs over photographs of ten classes."""
    data = co.datasets.fetch_cifar10()
    data = _limit_images(data) if settings.quick else data
    runs = _train_nets(data, "CIFAR", settings, every=15, probes=1000)
    return make_report("training-cifar", CIFAR_TITLE, data, runs, _make_cifar_section)


def _limit_images(data: co.datasets.ImageClasses, n: int = 2500, n_test: int = 1000) -> co.datasets.ImageClasses:
    return data._replace(
        train_images=data.train_images[:n],
        train_labels=data.train_labels[:n],
        test_images=data.test_images[:n_test],
        test_labels=data.test_labels[:n_test],
    )


def _train_nets(
    data: co.datasets.ImageClasses, recipe: str, settings: Settings, every: int, probes: int
) -> list[_TrainingRun]:
    find_ffmpeg()  # a missing ffmpeg is better found before the training than after it
    every, probes = (4, 300) if settings.quick else (every, probes)
    return [train_and_record(data, recipe, seed, every, probes, settings.quick) for seed in range(settings.seeds)]


def train_and_record(
    data: co.datasets.ImageClasses, name: str, seed: int, every: int, probes: int, quick: bool
) -> _TrainingRun:
    from correspondence.studies import nets  # here, because they need torch
    from correspondence.studies.lesson import Lesson

    lesson = Lesson.from_images(getattr(nets, name), data, seed)
    labels = data.test_labels[:probes]
    start = time.perf_counter()
    recorder = co.TrainingRecorder(
        lesson.net, lesson.X_test[:probes], labels, every=every, classes=data.classes, batch_size=128, max_frames=1000
    )
    lesson.train_net(epochs=1 if quick else None, after_step=recorder.step)
    recorder.record()
    seconds = time.perf_counter() - start
    return _TrainingRun(seed, recorder, labels, recorder.timeline(), *lesson.measure_accuracies(), seconds)


def make_report(
    name: str,
    title: str,
    data: co.datasets.ImageClasses,
    runs: list[_TrainingRun],
    reading: Callable[[co.Timeline], str],
) -> Report:
    first = runs[0]
    sections = [
        f"{len(data.train_images)} training images; beliefs of {len(first.recorder.beliefs())} test images recorded at "
        f"{len(first.recorder)} steps.",
        f"![Stages of the training]({name}.png)\n\n{STAGES_CAPTION}",
        f"Movies: [{name}.mp4]({name}.mp4), and [{name}.html]({name}.html) with a slider.",
        _make_accuracy_table(name, runs),
        f"![Timeline]({name}-timeline.png)\n\n{TIMELINE_CAPTION}",
        _make_class_table(first.timeline),
        make_pair_table(first.timeline),
        _make_transition_table(runs),
        reading(first.timeline),
        ERRATA_SECTION,
    ]
    figures = {"": draw_stages(first), "-timeline": co.plot.timeline(first.timeline)}
    movies = {".mp4": first.recorder.movie, ".html": first.recorder.movie}
    rows = [row for each in runs for row in make_csv_rows(each)]
    return Report(title, rows, "\n\n".join(sections), figures, movies, [make_exhibit(name, runs)])


def make_exhibit(name: str, runs: list[_TrainingRun]) -> Exhibit:
    training, test = (float(np.mean([getattr(each, part) for each in runs])) for part in ("training", "test"))
    timeline = runs[0].timeline
    order = np.argsort(timeline.learnt, kind="stable")
    first, last = (str(timeline.classes[i]) for i in (order[0], order[-1]))
    transitions = [f"steps {t.start:.0f} to {t.end:.0f}" for t in timeline.transitions]
    of_mnist = name == "training-mnist"
    lines = [
        Line("accuracy on test images", PAPER_ACCURACIES[name][1], held_out=test),
        Line("accuracy on training images", PAPER_ACCURACIES[name][0], training),
        Line(
            "sudden transition", "after the 50th batch" if of_mnist else None, held_out=", ".join(transitions) or "none"
        ),
        Line("class that is learnt first, last", held_out=f"{first}, {last}"),
    ]
    title = (
        f"Section 5.3, {'first' if of_mnist else 'second'} video: a net learns {'MNIST' if of_mnist else 'CIFAR-10'}"
    )
    return Exhibit(title, lines, make_mnist_sentence(timeline) if of_mnist else _make_cifar_sentence(timeline), "")


STAGES_CAPTION = """\
*Test images in the plane of the last step's first two axes while the net learns, in the colours of their classes.*"""
TIMELINE_CAPTION = """\
*Above: PICs of the beliefs at each step, with sudden transitions shaded. Below: how well each class is known.*"""


def make_csv_rows(each: _TrainingRun) -> list[dict[str, Any]]:
    assert each.timeline.accuracy is not None
    return [
        {
            "seed": each.seed,
            "step": int(step),
            "accuracy_on_probes": float(each.timeline.accuracy[t]),
            "chi2": float(each.timeline.chi2[t]),
            **{f"pic_{i + 1}": float(value) for i, value in enumerate(each.timeline.pics[t])},
            **{f"certainty_{c}": float(each.timeline.certainty[t, i]) for i, c in enumerate(each.timeline.classes)},
        }
        for t, step in enumerate(each.timeline.steps)
    ]


def _make_accuracy_table(name: str, runs: list[_TrainingRun]) -> str:
    lines = [[f"seed {each.seed}", each.training, each.test, f"{each.seconds:.0f}"] for each in runs]
    lines.append(["paper", *PAPER_ACCURACIES[name], ""])
    header = ["", "training (10 000 images)", "test", "seconds of training and recording"]
    return f"## Accuracy\n\n{markdown_table(header, lines)}"


def _make_class_table(timeline: co.Timeline) -> str:
    order = np.argsort(timeline.learnt, kind="stable")
    lines = [
        [str(timeline.classes[i]), _format_step(timeline.learnt[i]), float(timeline.certainty[-1, i])] for i in order
    ]
    return (
        "## The order in which classes are learnt\n\nA class is learnt when, in nine of ten frames from then on, at "
        "least half of the belief goes to it where it is right, and at least half of the belief in it is right.\n\n"
        f"{markdown_table(['class', 'learnt at step', 'certainty at the end'], lines)}"
    )


def make_pair_table(timeline: co.Timeline, most: int = 8) -> str:
    order = np.argsort(timeline.separated, kind="stable")
    half: list[list[Any]] = [
        [
            f"{timeline.classes[a]} and {timeline.classes[b]}",
            _format_step(timeline.separated[i]),
            float(timeline.separation[-1, i]),
        ]
        for i in [*order[:most], *order[-most:]]
        for a, b in [timeline.pairs[i]]
    ]
    lines = [*half[:most], ["...", "", ""], *half[most:]]
    return (
        "## The first and the last pairs to be separated\n\nSeparation: 1 less the overlap (cosine) of the beliefs.\n\n"
        f"{markdown_table(['pair', 'separated (1/2) at step', 'separation at the end'], lines)}"
    )


def _make_transition_table(runs: list[_TrainingRun]) -> str:
    lines = [
        [f"seed {each.seed}", *(f"{step:.0f}" for step in t[:3]), float(t.rise / each.timeline.chi2[-1])]
        for each in runs
        for t in each.timeline.transitions
    ] or [["none", "", "", "", ""]]
    return f"## Sudden transitions\n\n{markdown_table(['', 'from', 'middle', 'to', 'part of the final chi2'], lines)}"


def _format_step(step: float) -> str:
    return "never" if np.isnan(step) else f"{step:.0f}"


def _make_mnist_section(timeline: co.Timeline) -> str:
    return f"## The paper's reading\n\n{make_mnist_sentence(timeline)}"


def make_mnist_sentence(timeline: co.Timeline) -> str:
    assert timeline.accuracy is not None
    at = min(int(np.searchsorted(timeline.steps, 50)), len(timeline) - 1)
    half = int(np.argmax(timeline.accuracy >= 0.5))
    return (
        "The paper sees a phase transition: hardly any classification before the 50th batch, then all classes "
        f"suddenly. Here the accuracy on test images at step {timeline.steps[at]} is {timeline.accuracy[at]:.3f} "
        f"(chi2 {timeline.chi2[at]:.2f} of {timeline.chi2[-1]:.2f} at the end), and passes one half at step "
        f"{timeline.steps[half]}."
    )


def _make_cifar_section(timeline: co.Timeline) -> str:
    """When groups of classes are told apart, and when the classes within them."""
    between, within = _find_group_steps(timeline)
    lines = [[what, _format_step(step)] for what, step in {**between, **within}.items()]
    return (
        "## The paper's reading\n\nThe paper sees that ship and airplane, automobile and truck, and the rest are told "
        "apart first, and the classes within these groups later. Median step at which pairs are separated (1/2):\n\n"
        f"{markdown_table(['classes', 'separated at step'], lines)}"
    )


def _make_cifar_sentence(timeline: co.Timeline) -> str:
    between, within = (", ".join(map(_format_step, steps.values())) for steps in _find_group_steps(timeline))
    return (
        "The paper sees ship and airplane, automobile and truck, and the rest told apart first, and the classes within "
        f"these groups later. Here half of the separation of the three pairs of groups is there at steps {between}, "
        f"and within the three groups at steps {within}, as test images show."
    )


def _find_group_steps(timeline: co.Timeline) -> tuple[dict[str, float], dict[str, float]]:
    """Median steps at which groups of classes are told apart, and at which classes within each group are."""
    vehicles, craft = ("automobile", "truck"), ("airplane", "ship")
    animals = [c for c in timeline.classes.tolist() if c not in (*vehicles, *craft)]
    groups = {"airplane, ship": craft, "automobile, truck": vehicles, "animals": animals}
    between = {f"{a} against {b}": find_median_step(timeline, groups[a], groups[b]) for a, b in combinations(groups, 2)}
    return between, {f"within {name}": find_median_step(timeline, group, group) for name, group in groups.items()}


def find_median_step(timeline: co.Timeline, these: Any, those: Any) -> float:
    """Median step at which classes of one group are separated from those of another; NaN if most never are."""
    names = timeline.classes.tolist()
    chosen = [
        separated
        for (i, j), separated in zip(timeline.pairs.tolist(), timeline.separated.tolist(), strict=True)
        if (names[i] in these and names[j] in those) or (names[j] in these and names[i] in those)
    ]
    middle = float(np.median(np.nan_to_num(chosen, nan=np.inf)))
    return middle if np.isfinite(middle) else float("nan")


def draw_stages(each: _TrainingRun) -> Figure:
    """Some frames, at equal distances of chi2: most of what happens is early."""
    timeline = each.timeline
    assert timeline.accuracy is not None
    rising = np.maximum.accumulate(timeline.chi2)
    frames = np.searchsorted(rising, np.linspace(rising[0], rising[-1], N_STAGES)).clip(0, len(timeline) - 1)
    frames[-1] = len(timeline) - 1
    figure = Figure(figsize=(13, 8.6), layout="constrained")
    axes = figure.subplots(2, N_STAGES // 2, sharex=True, sharey=True).ravel()
    classes, outline = timeline.classes, [withStroke(linewidth=2, foreground="white")]
    for ax, frame in zip(axes, frames, strict=True):
        inputs, _ = each.recorder.coordinates(int(frame))
        for i, label in enumerate(classes):
            own = inputs[each.labels == label, :2]
            ax.scatter(own[:, 0], own[:, 1], s=5, color=f"C{i}", alpha=0.6, linewidths=0, label=str(label))
            if frame:
                ax.text(*own.mean(axis=0), str(label), color=f"C{i}", path_effects=outline, **NAME_STYLE)
        ax.set_title(f"step {timeline.steps[frame]}, accuracy {timeline.accuracy[frame]:.3f}", loc="left")
        ax.set(xlabel="Axis 1 of the last step", ylabel="Axis 2 of the last step")
        ax.label_outer()
        ax.set_aspect("equal")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(classes), frameon=False, markerscale=3)
    return figure
