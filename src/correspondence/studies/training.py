"""How a net learns: its factoring plane during training as a movie, and a timeline of what was learnt when."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

import correspondence as co
from correspondence._util.ffmpeg import find_ffmpeg
from correspondence.studies import markdown as md
from correspondence.studies.report import Exhibit, Line, Report, make_panels
from correspondence.studies.runs import Settings, limit_images

__all__ = ["run_cifar", "run_mnist"]

N_PROBES = 1000  # test images whose beliefs are recorded
N_STAGES = 6  # frames shown in the figure
NAME_STYLE: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9, "fontweight": "bold"}

ERRATA_SECTION = """\
## What it corrects

- The accuracies and all pictures are of test images; settings of the net were chosen on a part of the training images.
- Planes of different steps are rotated on to the last one in the space of the classes (Procrustes), so that the movie
  neither flips nor jumps.
- Transitions are found by a rule (`co.Timeline.transitions`), not by eye."""

STAGES_CAPTION = """\
*Test images in the plane of the last step's first two axes while the net learns, in the colours of their classes.*"""
TIMELINE_CAPTION = """\
*Above: PICs of the beliefs at each step, with sudden transitions shaded. Below: how well each class is known.*"""


@dataclass(frozen=True)
class _TrainingCase:
    """A study: its net, and what the paper says about it."""

    name: str
    recipe: str
    """The name of the recipe in `nets`."""
    every: int
    """Beliefs are recorded at every such step."""
    accuracies: tuple[float, float]
    """The paper's, on training and test images."""
    transition: str | None
    """When the paper sees a sudden transition."""
    exhibit: str
    read: Callable[[co.Timeline], tuple[str, str]]
    """Checks what the paper reads off its video; gives a section of the report and a sentence."""


@dataclass(frozen=True, eq=False)
class _TrainingRun:
    """A net recorded during its training."""

    seed: int
    recorder: co.TrainingRecorder
    labels: np.ndarray
    """Classes of the images whose beliefs are recorded."""
    timeline: co.Timeline
    training: float
    test: float
    seconds: float


def run_mnist(settings: Settings) -> Report:
    """Train for one epoch on the digits."""
    title, accuracies = "Section 5.3, first video: a net learns MNIST", (0.9530, 0.9501)
    case = _TrainingCase("training-mnist", "MNIST", 4, accuracies, "after the 50th batch", title, read_mnist_timeline)
    return run_case(case, co.datasets.fetch_mnist(), settings)


def run_cifar(settings: Settings) -> Report:
    """Train for some epochs on photographs of ten classes."""
    title, accuracies = "Section 5.3, second video: a net learns CIFAR-10", (0.6835, 0.6168)
    case = _TrainingCase("training-cifar", "CIFAR", 15, accuracies, None, title, read_cifar_timeline)
    return run_case(case, co.datasets.fetch_cifar10(), settings)


def run_case(case: _TrainingCase, data: co.datasets.ImageClasses, settings: Settings) -> Report:
    find_ffmpeg()  # a missing ffmpeg is better found before the training than after it
    data = limit_images(data, 2500, 1000) if settings.quick else data
    runs = [train_and_record(case, data, seed, settings.quick) for seed in range(settings.seeds)]
    name, first = case.name, runs[0]
    section, sentence = case.read(first.timeline)
    sections = [
        f"{len(data.train_images)} training images; beliefs of {len(first.recorder.beliefs())} test images recorded at "
        f"{len(first.recorder)} steps.",
        md.show_picture("Stages of the training", f"{name}.png", STAGES_CAPTION),
        f"Movies: [{name}.mp4]({name}.mp4), and [{name}.html]({name}.html) with a slider.",
        make_accuracy_table(case, runs),
        md.show_picture("Timeline", f"{name}-timeline.png", TIMELINE_CAPTION),
        make_class_table(first.timeline),
        make_pair_table(first.timeline),
        make_transition_table(runs),
        section,
        ERRATA_SECTION,
    ]
    figures = {"": draw_stages(first), "-timeline": co.plot.timeline(first.timeline)}
    movies = {".mp4": first.recorder.movie, ".html": first.recorder.movie}
    rows = [row for each in runs for row in make_csv_rows(each)]
    return Report(rows, sections, figures, movies, [make_exhibit(case, runs, sentence)])


def train_and_record(case: _TrainingCase, data: co.datasets.ImageClasses, seed: int, quick: bool) -> _TrainingRun:
    from correspondence.studies import nets  # here, because they need torch
    from correspondence.studies.lesson import Lesson

    every, probes = (4, 300) if quick else (case.every, N_PROBES)
    lesson = Lesson.from_images(getattr(nets, case.recipe), data, seed)
    labels = data.test_labels[:probes]
    start = time.perf_counter()
    recorder = co.TrainingRecorder(
        lesson.net, lesson.X_test[:probes], labels, every=every, classes=data.classes, batch_size=128, max_frames=1000
    )
    lesson.train_net(epochs=1 if quick else None, after_step=recorder.step)
    recorder.record()
    seconds = time.perf_counter() - start
    return _TrainingRun(seed, recorder, labels, recorder.timeline(), *lesson.measure_accuracies(), seconds)


def make_exhibit(case: _TrainingCase, runs: list[_TrainingRun], sentence: str) -> Exhibit:
    training, test = (float(np.mean([getattr(each, part) for each in runs])) for part in ("training", "test"))
    timeline = runs[0].timeline
    order = np.argsort(timeline.learnt, kind="stable")
    transitions = [f"steps {t.start:.0f} to {t.end:.0f}" for t in timeline.transitions]
    lines = [
        Line("accuracy on test images", case.accuracies[1], held_out=test),
        Line("accuracy on training images", case.accuracies[0], training),
        Line("sudden transition", case.transition, held_out=", ".join(transitions) or "none"),
        Line("class that is learnt first, last", held_out=", ".join(map(str, timeline.classes[order[[0, -1]]]))),
    ]
    return Exhibit(case.exhibit, lines, sentence, "")


def make_csv_rows(each: _TrainingRun) -> list[dict[str, Any]]:
    timeline = each.timeline
    assert timeline.accuracy is not None
    return [
        {
            "seed": each.seed,
            "step": int(step),
            "accuracy_on_probes": float(timeline.accuracy[t]),
            "chi2": float(timeline.chi2[t]),
            **{f"pic_{i + 1}": float(value) for i, value in enumerate(timeline.pics[t])},
            **{f"certainty_{name}": float(timeline.certainty[t, i]) for i, name in enumerate(timeline.classes)},
        }
        for t, step in enumerate(timeline.steps)
    ]


def make_accuracy_table(case: _TrainingCase, runs: list[_TrainingRun]) -> str:
    lines = [[f"seed {each.seed}", each.training, each.test, f"{each.seconds:.0f}"] for each in runs]
    lines.append(["paper", *case.accuracies, ""])
    header = ["", "training (10 000 images)", "test", "seconds of training and recording"]
    return md.make_section("Accuracy", md.make_table(header, lines))


def make_class_table(timeline: co.Timeline) -> str:
    lines = [
        [str(timeline.classes[i]), _format_step(timeline.learnt[i]), float(timeline.certainty[-1, i])]
        for i in np.argsort(timeline.learnt, kind="stable")
    ]
    return md.make_section(
        "The order in which classes are learnt",
        "A class is learnt when, in nine of ten frames from then on, at least half of the belief goes to it where it "
        "is right, and at least half of the belief in it is right.",
        md.make_table(["class", "learnt at step", "certainty at the end"], lines),
    )


def make_pair_table(timeline: co.Timeline, most: int = 8) -> str:
    order = np.argsort(timeline.separated, kind="stable")
    lines: list[list[Any]] = [
        [
            f"{timeline.classes[a]} and {timeline.classes[b]}",
            _format_step(timeline.separated[i]),
            float(timeline.separation[-1, i]),
        ]
        for i in [*order[:most], *order[-most:]]
        for a, b in [timeline.pairs[i]]
    ]
    lines.insert(most, ["...", "", ""])
    return md.make_section(
        "The first and the last pairs to be separated",
        "Separation: 1 less the overlap (cosine) of the beliefs.",
        md.make_table(["pair", "separated (1/2) at step", "separation at the end"], lines),
    )


def make_transition_table(runs: list[_TrainingRun]) -> str:
    lines = [
        [f"seed {each.seed}", *(f"{step:.0f}" for step in t[:3]), float(t.rise / each.timeline.chi2[-1])]
        for each in runs
        for t in each.timeline.transitions
    ] or [["none", "", "", "", ""]]
    header = ["", "from", "middle", "to", "part of the final total inertia"]
    return md.make_section("Sudden transitions", md.make_table(header, lines))


def _format_step(step: float) -> str:
    return "never" if np.isnan(step) else f"{step:.0f}"


def read_mnist_timeline(timeline: co.Timeline) -> tuple[str, str]:
    assert timeline.accuracy is not None
    at = min(int(np.searchsorted(timeline.steps, 50)), len(timeline) - 1)
    half = int(np.argmax(timeline.accuracy >= 0.5))
    sentence = (
        "The paper sees a phase transition: hardly any classification before the 50th batch, then all classes "
        f"suddenly. Here the accuracy on test images at step {timeline.steps[at]} is {timeline.accuracy[at]:.3f} "
        f"(total inertia {timeline.chi2[at]:.2f} of {timeline.chi2[-1]:.2f} at the end), and passes one half at step "
        f"{timeline.steps[half]}."
    )
    return md.make_section("The paper's reading", sentence), sentence


def read_cifar_timeline(timeline: co.Timeline) -> tuple[str, str]:
    """Say when groups of classes are separated, and when the classes within them."""
    vehicles, craft = ("automobile", "truck"), ("airplane", "ship")
    animals = [c for c in timeline.classes.tolist() if c not in (*vehicles, *craft)]
    groups = {"airplane, ship": craft, "automobile, truck": vehicles, "animals": animals}
    between = {f"{a} against {b}": find_median_step(timeline, groups[a], groups[b]) for a, b in combinations(groups, 2)}
    within = {f"within {name}": find_median_step(timeline, group, group) for name, group in groups.items()}
    section = md.make_section(
        "The paper's reading",
        "The paper sees that ship and airplane, automobile and truck, and the rest are separated first, and the "
        "classes within these groups later. Median step at which pairs are separated (1/2):",
        md.make_table(
            ["classes", "separated at step"], [[name, _format_step(step)] for name, step in (between | within).items()]
        ),
    )
    first, later = (", ".join(map(_format_step, steps.values())) for steps in (between, within))
    sentence = (
        "The paper sees ship and airplane, automobile and truck, and the rest separated first, and the classes within "
        f"these groups later. Here half of the separation of the three pairs of groups is reached at steps {first}, "
        f"and within the three groups at steps {later}, as test images show."
    )
    return section, sentence


def find_median_step(timeline: co.Timeline, these: Collection[str], those: Collection[str]) -> float:
    """Return the median step at which classes of two groups are separated; NaN if most never are."""
    names = timeline.classes.tolist()
    chosen = [
        separated
        for (i, j), separated in zip(timeline.pairs.tolist(), timeline.separated.tolist(), strict=True)
        if (names[i] in these and names[j] in those) or (names[j] in these and names[i] in those)
    ]
    middle = float(np.median(np.nan_to_num(chosen, nan=np.inf)))
    return middle if np.isfinite(middle) else float("nan")


def draw_stages(each: _TrainingRun) -> Figure:
    """Draw some frames, at equal distances of total inertia: most of what happens is early."""
    timeline = each.timeline
    assert timeline.accuracy is not None
    rising = np.maximum.accumulate(timeline.chi2)
    frames = np.searchsorted(rising, np.linspace(rising[0], rising[-1], N_STAGES)).clip(0, len(timeline) - 1)
    frames[-1] = len(timeline) - 1
    figure, panels = make_panels((13, 8.6), 2, N_STAGES // 2, sharex=True, sharey=True)
    classes, outline = timeline.classes, [withStroke(linewidth=2, foreground="white")]
    for ax, frame in zip(panels.flat, frames, strict=True):
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
    handles, names = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(classes), frameon=False, markerscale=3)
    return figure
