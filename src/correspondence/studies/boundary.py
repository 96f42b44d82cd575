"""Decision boundaries of an image classifier in its factoring plane, and the images that confuse it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import spearmanr

import correspondence as co
from correspondence.studies import markdown as md
from correspondence.studies.report import (
    Exhibit,
    Line,
    Report,
    draw_alone,
    make_claim_lines,
    make_component_rows,
    make_panels,
)
from correspondence.studies.runs import Settings, limit_images

__all__ = ["run_study"]

CLASS_NAMES = ("truck", "automobile", "ship")
PAPER_ACCURACIES = {"training": 0.9024, "test": 0.8683}
IMAGES_IN_PLANE = 12  # confusing images in the plane
IMAGES_PER_PAIR = 8  # confusing images of each pair of classes in the second figure

ERRATA_SECTION = """\
## What it corrects

- The paper's equation for the boundary lacks a root and a transpose; here it is F = P (diag(sqrt(lambda)) G^T
  diag(p_Y))^-1, exact to rounding.
- All images shown, and all figures but the training accuracy, are of test images. Settings of the net were chosen on a
  part of the training images."""


@dataclass(frozen=True, eq=False)
class _BoundaryRun:
    """A net and its beliefs about the test images."""

    seed: int
    cca: co.ClassifierCA
    """The analysis of the beliefs, which are its inputs."""
    held_out: co.HeldOut
    """What the labels of the test images show."""
    P: np.ndarray
    """Beliefs about the test images."""
    calibration: co.Calibration
    training: float
    test: float
    seconds: float


def run_study(settings: Settings) -> Report:
    """Train a small net for each seed, and draw the plane of the first."""
    data = co.datasets.fetch_cifar10().only(*CLASS_NAMES)
    data = limit_images(data, 1500, 400) if settings.quick else data
    runs = [train_and_judge(data, seed, settings.quick) for seed in range(settings.seeds)]
    first = runs[0]
    confusing = first.cca.confusing(first.P, IMAGES_IN_PLANE)
    sections = [
        f"A net of 3x3 convolutions, trained on {len(data.train_images)} images with flips and crops, and asked about "
        f"{len(data.test_images)} test images.",
        md.show_picture("Factoring plane", "boundary.png", PLANE_CAPTION),
        _make_accuracy_table(runs),
        make_component_table(first),
        md.show_picture("Confusing images", "boundary-confusing.png", CONFUSING_CAPTION),
        make_confusing_table(confusing, first.cca.correlations_, data.test_labels),
        describe_use_of_blue(first, data),
        md.make_section("Can its beliefs be trusted?", f"```\n{first.calibration}\n```"),
        ERRATA_SECTION,
    ]
    figures = {"": draw_plane(first, data), "-confusing": draw_confusing_images(first, data)}
    rows = [row for each in runs for row in make_csv_rows(each)]
    return Report(rows, sections, figures, exhibits=[make_exhibit(runs)])


def make_exhibit(runs: list[_BoundaryRun]) -> Exhibit:
    first, cca = runs[0], runs[0].cca
    training, test = (float(np.mean([getattr(each, part) for each in runs])) for part in ("training", "test"))
    G = cca.transform_y(list(CLASS_NAMES))[:, 0]
    ship_apart = np.sign(G[0]) == np.sign(G[1]) != np.sign(G[2])
    off = np.abs(cca.beliefs_at(cca.locate(first.P)) - first.P).max()
    lines = [
        Line("accuracy on test images", PAPER_ACCURACIES["test"], held_out=test),
        Line("accuracy on training images", PAPER_ACCURACIES["training"], training),
        *make_claim_lines(
            "correlation {}: claimed by the net on test images, and shown by their labels",
            cca.correlations_,
            first.held_out.correlations,
        ),
        Line("largest error of beliefs that are located and read back", held_out=f"{off:.0e}", exact=0),
    ]
    sentence = (
        f"The first function tells ships from the others, as in the paper{'' if ship_apart else ': not so here'}; the "
        "second trucks from automobiles. Boundaries are straight, by the corrected formula, and exact to rounding."
    )
    return Exhibit("Figure 6: decision boundaries of a classifier", lines, sentence, "")


PLANE_CAPTION = f"""\
*Test images in principal coordinates, in the colour of their true class; classes where an image that is certainly one
of them would lie; the three boundaries; the {IMAGES_IN_PLANE} most ambiguous images, framed in the colour of the
class that the net prefers.*"""
CONFUSING_CAPTION = """\
*The most ambiguous test images of each pair of classes: the two beliefs, and the truth where it is another class than
the one preferred.*"""


def train_and_judge(data: co.datasets.ImageClasses, seed: int, quick: bool) -> _BoundaryRun:
    from correspondence.studies import nets  # here, because they need torch
    from correspondence.studies.lesson import Lesson

    recipe = replace(nets.BOUNDARY, widths=(16, 32, 32, 64, 64)) if quick else nets.BOUNDARY
    lesson = Lesson.from_images(recipe, data, seed)
    start = time.perf_counter()
    lesson.train_net(epochs=2 if quick else None)
    seconds = time.perf_counter() - start
    P = co.ClassifierCA(lesson.net, classes=data.classes).fit(lesson.X_test).beliefs(lesson.X_test)
    cca = co.ClassifierCA(classes=data.classes).fit(P, data.test_labels)
    assert cca.held_out_ is not None  # it was fitted with labels
    calibration = cca.calibration(P, data.test_labels)
    return _BoundaryRun(seed, cca, cca.held_out_, P, calibration, *lesson.measure_accuracies(), seconds)


def make_csv_rows(each: _BoundaryRun) -> list[dict[str, Any]]:
    low, high = each.held_out.intervals.T
    columns = {"claimed": each.cca.correlations_, "on_labels": each.held_out.correlations, "low": low, "high": high}
    accuracies = {"training_accuracy": each.training, "test_accuracy": each.test}
    last = {**accuracies, "temperature": each.calibration.temperature, "seconds": each.seconds}
    return make_component_rows({"seed": each.seed}, columns, last)


def _make_accuracy_table(runs: list[_BoundaryRun]) -> str:
    lines = [[f"seed {each.seed}", each.training, each.test, f"{each.seconds:.0f}"] for each in runs]
    lines.append(["paper, VGG-16", *PAPER_ACCURACIES.values(), ""])
    return md.make_section("Accuracy", md.make_table(["", "training", "test", "seconds of training"], lines))


def make_component_table(each: _BoundaryRun) -> str:
    G = each.cca.transform_y(each.cca.classes_)
    columns = zip(each.cca.correlations_, each.held_out.correlations, *G, strict=True)
    lines = [[i, *line] for i, line in enumerate(columns, start=1)]
    header = ["component", "correlation claimed", "on labels", *(f"g({name})" for name in each.cca.classes_)]
    return md.make_section(
        "What it tells apart first",
        "The first function separates the classes with g of different sign most easily.",
        md.make_table(header, lines),
    )


def make_confusing_table(confusing: co.Confusing, scale: np.ndarray, truth: np.ndarray) -> str:
    lines = [
        [i, a, b, margin, truth[i], *at]
        for i, (a, b), margin, at in zip(
            confusing.index, confusing.pairs, confusing.margin, confusing.position * scale, strict=True
        )
    ]
    header = ["test image", "prefers", "to", "margin", "truth", "axis 1", "axis 2"]
    return md.make_section("The images in the plane", md.make_table(header, lines))


def describe_use_of_blue(each: _BoundaryRun, data: co.datasets.ImageClasses) -> str:
    """Say whether the net goes by the blue of an image, as the paper supposes."""
    is_car = data.test_labels != "ship"
    red, _, blue = data.test_images[is_car].reshape(int(is_car.sum()), 3, -1).mean(axis=2).T
    ship = each.P[is_car, data.classes.index("ship")]
    rho = spearmanr(blue - red, ship)
    low, high = np.quantile(blue - red, [0.25, 0.75])
    verdict = "here blue matters little" if abs(rho.statistic) < 0.2 else "here blue matters"
    pale, bluish = ship[blue - red <= low].mean(), ship[blue - red >= high].mean()
    return md.make_section(
        "Does it take blue for a ship?",
        f"The paper supposes so; {verdict}. Among the test images of automobiles and trucks, the rank correlation of "
        f"how much bluer than red an image is with the belief in a ship is {rho.statistic:.2f} (p {rho.pvalue:.1g}); "
        f"the mean belief in a ship is {bluish:.3f} for the bluest quarter and {pale:.3f} for the least blue quarter.",
    )


def draw_plane(each: _BoundaryRun, data: co.datasets.ImageClasses) -> Figure:
    return draw_alone(
        co.plot.plane,
        (10, 8),
        each.cca,
        map="rowprincipal",
        X=each.P,
        classes=data.test_labels,
        names=("test image", "class"),
        boundaries=True,
        confusing=each.P,
        thumbnails=data.test_images,
    )


def draw_confusing_images(each: _BoundaryRun, data: co.datasets.ImageClasses) -> Figure:
    """Draw images of each pair of classes, with beliefs."""
    names = each.cca.classes_.tolist()
    pairs = list(combinations(names, 2))
    figure, panels = make_panels((1.45 * IMAGES_PER_PAIR, 2.1 * len(pairs)), len(pairs), IMAGES_PER_PAIR)
    for row, (a, b) in zip(panels, pairs, strict=True):
        found = each.cca.confusing(each.P, IMAGES_PER_PAIR, between=(a, b))
        for ax in row:
            ax.axis("off")
        for ax, index, P in zip(row, found.index, found.beliefs, strict=False):
            ax.imshow(np.moveaxis(data.test_images[index], 0, -1))
            beliefs = "\n".join(f"{name} {P[names.index(name)]:.2f}" for name in (a, b))
            truth = str(data.test_labels[index])
            wrong = f"\n(is: {truth})" if truth != names[int(P.argmax())] else ""
            ax.set_title(beliefs + wrong, fontsize=8)
    return figure
