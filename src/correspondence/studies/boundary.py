"""Decision boundaries of an image classifier in its factoring plane, and the images that confuse it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import spearmanr

import correspondence as co
from correspondence.studies.catalogue import STUDY_TITLES
from correspondence.studies.report import Exhibit, Line, Report, markdown_table
from correspondence.studies.runs import Settings

__all__ = ["STUDY_TITLE", "run_study"]

STUDY_TITLE = STUDY_TITLES["boundary"]
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
    """A net, and what it makes of the test images."""

    seed: int
    cca: co.ClassifierCA
    """Takes beliefs."""
    P: np.ndarray
    """Of the test images."""
    calibration: co.Calibration
    training: float
    test: float
    seconds: float


def run_study(settings: Settings) -> Report:
    """Train a small net for each seed, and draw the plane of the first."""
    data = load_images(settings.quick)
    runs = [train_and_judge(data, seed, settings.quick) for seed in range(settings.seeds)]
    first = runs[0]
    confusing = first.cca.confusing(first.P, IMAGES_IN_PLANE)
    sections = [
        f"A net of 3x3 convolutions, trained on {len(data.train_images)} images with flips and crops, and asked about "
        f"{len(data.test_images)} test images.",
        f"![Factoring plane](boundary.png)\n\n{PLANE_CAPTION}",
        _make_accuracy_table(runs),
        make_component_table(first),
        f"![Confusing images](boundary-confusing.png)\n\n{CONFUSING_CAPTION}",
        make_confusing_table(confusing, first.cca.correlations_, data.test_labels),
        describe_use_of_blue(first, data),
        f"## Can its beliefs be trusted?\n\n```\n{first.calibration}\n```",
        ERRATA_SECTION,
    ]
    figures = {"": draw_plane(first, data), "-confusing": draw_confusing_images(first, data)}
    rows = [row for each in runs for row in make_csv_rows(each)]
    return Report(STUDY_TITLE, rows, "\n\n".join(sections), figures, exhibits=[make_exhibit(runs)])


def make_exhibit(runs: list[_BoundaryRun]) -> Exhibit:
    first = runs[0]
    cca = first.cca
    assert cca.held_out_ is not None
    training, test = (float(np.mean([getattr(each, part) for each in runs])) for part in ("training", "test"))
    G = cca.transform_y(list(CLASS_NAMES))[:, 0]
    ship_apart = np.sign(G[0]) == np.sign(G[1]) != np.sign(G[2])
    off = np.abs(cca.beliefs_at(cca.locate(first.P)) - first.P).max()
    lines = [
        Line("accuracy on test images", PAPER_ACCURACIES["test"], held_out=test),
        Line("accuracy on training images", PAPER_ACCURACIES["training"], training),
        *(
            Line(f"correlation {i + 1}: claimed by the net on test images, and shown by their labels", None, None, text)
            for i, text in enumerate(
                f"{claimed:.3f} claimed, {shown:.3f} shown"
                for claimed, shown in zip(cca.correlations_, cca.held_out_.correlations, strict=True)
            )
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
of them would lie; the three boundaries; the {IMAGES_IN_PLANE} most ambiguous images, framed in the colour of the class that the
net prefers.*"""
CONFUSING_CAPTION = """\
*The most ambiguous test images of each pair of classes: the two beliefs, and the truth where it is another class than
the one preferred.*"""


def load_images(quick: bool) -> co.datasets.ImageClasses:
    data = co.datasets.fetch_cifar10().only(*CLASS_NAMES)
    if not quick:
        return data
    return data._replace(
        train_images=data.train_images[:1500],
        train_labels=data.train_labels[:1500],
        test_images=data.test_images[:400],
        test_labels=data.test_labels[:400],
    )


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
    return _BoundaryRun(seed, cca, P, cca.calibration(P, data.test_labels), *lesson.measure_accuracies(), seconds)


def make_csv_rows(each: _BoundaryRun) -> list[dict[str, Any]]:
    assert each.cca.held_out_ is not None
    return [
        {
            "seed": each.seed,
            "component": i + 1,
            "claimed": float(each.cca.correlations_[i]),
            "on_labels": float(each.cca.held_out_.correlations[i]),
            "low": float(each.cca.held_out_.intervals[i, 0]),
            "high": float(each.cca.held_out_.intervals[i, 1]),
            "training_accuracy": each.training,
            "test_accuracy": each.test,
            "temperature": each.calibration.temperature,
            "seconds": each.seconds,
        }
        for i in range(len(each.cca.correlations_))
    ]


def _make_accuracy_table(runs: list[_BoundaryRun]) -> str:
    lines = [[f"seed {each.seed}", each.training, each.test, f"{each.seconds:.0f}"] for each in runs]
    lines.append(["paper, VGG-16", PAPER_ACCURACIES["training"], PAPER_ACCURACIES["test"], ""])
    return "## Accuracy\n\n" + markdown_table(["", "training", "test", "seconds of training"], lines)


def make_component_table(each: _BoundaryRun) -> str:
    assert each.cca.held_out_ is not None
    G = each.cca.transform_y(each.cca.classes_)
    lines = [
        [i + 1, float(claimed), float(shown), *(float(value) for value in G[:, i])]
        for i, (claimed, shown) in enumerate(zip(each.cca.correlations_, each.cca.held_out_.correlations, strict=True))
    ]
    header = ["component", "correlation claimed", "on labels", *(f"g({name})" for name in each.cca.classes_)]
    return (
        "## What it tells apart first\n\nThe first function separates the classes with g of different sign most easily."
        f"\n\n{markdown_table(header, lines)}"
    )


def make_confusing_table(confusing: co.Confusing, scale: np.ndarray, truth: np.ndarray) -> str:
    lines = [
        [int(i), a, b, float(margin), truth[i], *(float(value) for value in at)]
        for i, (a, b), margin, at in zip(
            confusing.index, confusing.pairs, confusing.margin, confusing.position * scale, strict=True
        )
    ]
    header = ["test image", "prefers", "to", "margin", "truth", "axis 1", "axis 2"]
    return f"## The images in the plane\n\n{markdown_table(header, lines)}"


def describe_use_of_blue(each: _BoundaryRun, data: co.datasets.ImageClasses) -> str:
    """Whether it goes by the blue of an image, as the paper supposes."""
    is_car = data.test_labels != "ship"
    red, _, blue = data.test_images[is_car].reshape(int(is_car.sum()), 3, -1).mean(axis=2).T
    ship = each.P[is_car, data.classes.index("ship")]
    rho = spearmanr(blue - red, ship)
    low, high = np.quantile(blue - red, [0.25, 0.75])
    verdict = "here blue matters little" if abs(rho.statistic) < 0.2 else "here blue matters"
    pale, bluish = ship[blue - red <= low].mean(), ship[blue - red >= high].mean()
    return (
        f"## Does it take blue for a ship?\n\nThe paper supposes so; {verdict}. Among the test images of automobiles "
        f"and trucks, the rank correlation of how much bluer than red an image is with the belief in a ship is "
        f"{rho.statistic:.2f} (p {rho.pvalue:.1g}); the mean belief in a ship is {bluish:.3f} for the bluest quarter "
        f"and {pale:.3f} for the least blue quarter."
    )


def draw_plane(each: _BoundaryRun, data: co.datasets.ImageClasses) -> Figure:
    figure = Figure(figsize=(10, 8), layout="constrained")
    co.plot.plane(
        each.cca,
        map="rowprincipal",
        ax=figure.subplots(),
        X=each.P,
        classes=data.test_labels,
        names=("test image", "class"),
        boundaries=True,
        confusing=each.P,
        thumbnails=data.test_images,
    )
    return figure


def draw_confusing_images(each: _BoundaryRun, data: co.datasets.ImageClasses) -> Figure:
    """Images of each pair of classes, with beliefs."""
    names = each.cca.classes_.tolist()
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    figure = Figure(figsize=(1.45 * IMAGES_PER_PAIR, 2.1 * len(pairs)), layout="constrained")
    for row, (a, b) in zip(figure.subplots(len(pairs), IMAGES_PER_PAIR), pairs, strict=True):
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
