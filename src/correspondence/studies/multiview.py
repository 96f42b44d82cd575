"""How much two views of an object share: pairs of images of the same digit, noisy ones, and of the same class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

import correspondence as co
from correspondence.studies import markdown as md
from correspondence.studies.multiview_runs import (
    FALSE_ALARM_RATE,
    LinearBaseline,
    ViewRun,
    fit_linear_baseline,
    measure_views,
)
from correspondence.studies.report import (
    Exhibit,
    Line,
    Report,
    make_component_rows,
    make_correlation_lines,
    make_panels,
)
from correspondence.studies.runs import Settings, limit_images

__all__ = ["run_cifar", "run_mnist", "run_noisy"]

IMAGES_IN_PLANE = 3000  # test images in the plane
OTHER_IMAGES_ON_PAGE = 1000  # images of the other view on the page
ANIMAL_CLASSES = {"bird", "cat", "deer", "dog", "frog", "horse"}
VEHICLE_CLASSES = {"airplane", "automobile", "ship", "truck"}


@dataclass(frozen=True)
class _Case:
    """A study: its data, and what is known about it."""

    name: str
    recipe: str
    """The name of the recipe in `views`."""
    views: str
    """What x and y are."""
    paper: str
    short: str
    """Its part of the paper's figure."""
    drop: str
    """Where the paper sees its PICs drop."""
    choice: str = ""
    """What was chosen with an eye on test images."""
    quoted: tuple[tuple[str, float | None, float | None], ...] = ()
    """Published elsewhere: error of a linear SVM and accuracy of k-means, in %."""


MNIST_CASE = _Case(
    "multiview-mnist",
    "MNIST",
    "x and y are two different images of the same digit",
    'The paper expects 10 significant PICs "due to 10 underlying digits" and sees a drop "precisely at 10".',
    "two images of the same digit (MNIST)",
    "10",
)
NOISY_CASE = _Case(
    "multiview-noisy-mnist",
    "NOISY",
    "x is an image turned by a uniform angle between -pi/4 and pi/4; y is another image of the same digit, turned in "
    "the same way, with uniform noise from 0 to 1 added to each pixel and cut off at 1 (after Wang et al. 2015)",
    "The paper sees a drop at 10 again, and smaller PICs than without rotation and noise.",
    "two views of a digit, turned and noisy (noisy MNIST)",
    "10",
    "Nets were compared on pairs of the last 10 000 training images, with six passes over the images; the study makes "
    "seven, after ten, tried once on the test images, had taken too long.",
    (("best deep CCA autoencoder (Wang et al. 2015)", 2.2, 97.5), ("the paper's notebook", None, 83.3)),
)
CIFAR_CASE = _Case(
    "multiview-cifar",
    "CIFAR",
    "x and y are two different photographs of the same class",
    'The paper sees a drop "at around 13" (its published code gives both nets the same photograph in the end) and '
    "supposes that the directions may tell other things than classes, such as dark and light backgrounds.",
    "two photographs of the same class (CIFAR-10)",
    "about 13",
)


def run_mnist(settings: Settings) -> Report:
    """Pair two images of the same digit."""
    return run_case(MNIST_CASE, co.datasets.fetch_mnist(), settings)


def run_noisy(settings: Settings) -> Report:
    """Pair two images of the same digit, rotated and with noise."""
    return run_case(NOISY_CASE, co.datasets.fetch_mnist(), settings)


def run_cifar(settings: Settings) -> Report:
    """Pair two photographs of the same class."""
    return run_case(CIFAR_CASE, co.datasets.fetch_cifar10(), settings)


def run_case(case: _Case, data: co.datasets.ImageClasses, settings: Settings) -> Report:
    from correspondence.studies import views  # here, because it needs torch

    recipe = getattr(views, case.recipe)
    if settings.quick:
        data = limit_images(data, 3000, 1000)
        recipe = replace(recipe, held_out=500, passes=4, batch_size=128, widths=tuple(w // 2 for w in recipe.widths))
    runs = [measure_views(recipe, data, seed) for seed in range(settings.seeds)]
    return make_report(case, data, runs, fit_linear_baseline(recipe, data, runs[0]))


# --- the report


def make_report(case: _Case, data: co.datasets.ImageClasses, runs: list[ViewRun], found: LinearBaseline) -> Report:
    first = runs[0]
    nets = "a convolutional net for each" if case.recipe == "NOISY" else "one convolutional net for both"
    explore = f" [A page to explore]({case.name}-explore.html)." if case is NOISY_CASE else ""
    sections = [
        f"Here {case.views}. PICE with {len(first.held.correlations)} components, {nets}, learns "
        f"from {first.n} images; each pass pairs them, and draws their views, again. Labels are used for the pairing "
        f"only. Pairs of {first.checked} other training images tell how many components are shared. All else is on "
        f"{len(first.labels)} test images, each paired with another one of its class. Training took "
        f"{' and '.join(f'{each.seconds:.0f}' for each in runs)} seconds.",
        md.show_picture("Correlations and plane", f"{case.name}.png", FIGURE_CAPTION + explore),
        describe_shared_components(case, data, first, found),
        make_correlation_table(runs, found),
        md.show_picture("Pairs", f"{case.name}-pairs.png", "*Pairs of test images: x above, y below.*"),
        *filter(None, [case.choice]),
        make_use_table(case, runs),
        make_end_table(first),
        ERRATA_SECTION,
    ]
    figure, (left, right) = make_panels((14, 6), 1, 2)
    draw_correlations(left, first)
    draw_plane(right, first)
    figures = {"": figure, "-pairs": draw_pairs(first)}
    page = {"-explore.html": lambda path: write_noisy_page(first, path)} if case is NOISY_CASE else {}
    rows = [row for each in runs for row in make_csv_rows(each, found)]
    return Report(rows, sections, figures, page, [make_exhibit(case, data, first)])


def make_exhibit(case: _Case, data: co.datasets.ImageClasses, first: ViewRun) -> Exhibit:
    most = len(data.classes) - 1
    held_out, training = first.held.correlations[: most + 1], first.pice.correlations_[: most + 1]
    errors, accuracies = (
        ", ".join(f"{values[i]} % ({name})" for name, *values in case.quoted if values[i]) or None for i in range(2)
    )
    lines = [
        Line("components shared", case.drop, held_out=first.n_found, exact=f"at most {most}"),
        *make_correlation_lines(held_out, training=training),
        Line("error of a linear SVM on f(x)", errors, held_out=f"{100 * first.svm_error:.2f} %"),
        Line("accuracy of k-means on f(x)", accuracies, held_out=f"{100 * first.cluster_accuracy:.2f} %"),
    ]
    sentence = (
        f"{len(data.classes)} classes can share {most} components and the constant, which the paper counts too. "
        f"On test pairs the number of those that are more than chance is {first.n_found}; the largest after {most} is "
        f"{first.held.correlations[most:].max():.3f}; on its training pairs the fit claims "
        f"{first.pice.correlations_[most]:.3f} for component {most + 1}."
    )
    return Exhibit(f"Figure 7: {case.short}", lines, f"{sentence} {case.choice}".strip(), "")


FIGURE_CAPTION = f"""\
*Left: correlations of all components on training pairs and on pairs of test images, with 95 % intervals; grey: what
the largest of them stays below in {100 * (1 - FALSE_ALARM_RATE):.0f} % of cases if partners are exchanged at random.
Right: test images x in the plane of the first two functions, in principal coordinates and in the colours of their
classes.*"""

ERRATA_SECTION = """\
## What it corrects

- Two views of an object with M classes share at most M - 1 components; the paper's M counts the constant as well.
- All figures but the training correlations are of test images. Settings were chosen on pairs of held-out training
  images, and so was the number of functions that SVM and k-means see."""


def make_csv_rows(each: ViewRun, found: LinearBaseline) -> list[dict[str, Any]]:
    columns = {
        "training": each.pice.correlations_,
        "held_out": each.held.correlations,
        "low": each.held.intervals[:, 0],
        "high": each.held.intervals[:, 1],
        "is_shared": each.shared.astype(int),
        "cca_training": found.training,
        "cca_held_out": found.held.correlations,
    }
    last = {
        "captured": each.held.captured,
        "cca_captured": found.held.captured,
        "svm_error": each.svm_error,
        "cluster_accuracy": each.cluster_accuracy,
        "seconds": each.seconds,
    }
    return make_component_rows({"seed": each.seed}, columns, last)


def describe_shared_components(
    case: _Case, data: co.datasets.ImageClasses, first: ViewRun, found: LinearBaseline
) -> str:
    classes = len(data.classes)
    return md.make_section(
        "How many components are shared",
        f"Pairs of held-out training images show {first.shared.sum()}, pairs of test images {first.n_found} "
        f"(correlation above {first.band:.3f}, which chance lets any of them exceed in "
        f"{100 * FALSE_ALARM_RATE:.0f} % of cases). So many need at least {first.n_found + 1} classes, as the "
        f"constant counts as one more; there are {classes}, which can share {classes - 1} components and no more. "
        f"{case.paper}",
        f"Of the total inertia, which is at most {classes - 1} here, the functions capture "
        f"{first.held.captured:.3f} on test pairs. Linear CCA, fitted to {found.n} pairs of {found.columns} values "
        f"(means of 2 x 2 pixels), captures {found.held.captured:.3f}; its largest correlation there is "
        f"{found.held.correlations.max():.3f}.",
    )


def make_correlation_table(runs: list[ViewRun], found: LinearBaseline) -> str:
    first = runs[0]
    shown = min(int(first.shared.sum()) + 3, len(first.held.correlations))
    lines: list[list[Any]] = [
        [
            i + 1,
            float(first.pice.correlations_[i]),
            float(first.held.correlations[i]),
            "{:.4f} to {:.4f}".format(*first.held.intervals[i]),
            *(float(each.held.correlations[i]) for each in runs[1:]),
            float(found.held.correlations[i]),
        ]
        for i in range(shown)
    ]
    rest = [each.held.correlations[shown:] for each in runs]
    if len(rest[0]):
        largest = [float(values.max()) for values in (first.pice.correlations_[shown:], *rest)]
        lines.append(["others, at most", *largest[:2], "", *largest[2:], float(found.held.correlations[shown:].max())])
    header = ["component", "training", "held out", "95 %", *(f"held out, seed {each.seed}" for each in runs[1:])]
    return md.make_section("Correlations", md.make_table([*header, "linear CCA, held out"], lines))


def make_use_table(case: _Case, runs: list[ViewRun]) -> str:
    lines = [
        [
            f"seed {each.seed}, functions used: {each.shared.sum()}",
            f"{100 * each.svm_error:.2f}",
            f"{100 * each.cluster_accuracy:.2f}",
        ]
        for each in runs
    ]
    lines += [[name, *("" if value is None else f"{value:.1f}" for value in values)] for name, *values in case.quoted]
    return md.make_section(
        "What the functions are good for",
        "Of the views x of test images: the error of a linear SVM that has learnt from f(x) of training images, and "
        "the share of images that k-means, which sees no labels, puts into the right cluster (as many clusters as "
        "classes, matched one to one).",
        md.make_table(["", "linear SVM, error %", "k-means, accuracy %"], lines),
    )


def make_end_table(each: ViewRun) -> str:
    names = sorted(set(each.labels.tolist()))
    means = np.array([each.F[each.labels == name].mean(axis=0) for name in names])
    lines = [[i + 1, *list_end_classes(names, means[:, i])] for i in np.flatnonzero(each.shared)]
    return md.make_section(
        "What the components tell apart",
        "Classes by the mean of f over their test images: at each end those that are at least half as far out as the "
        "last.",
        md.make_table(["component", "one end", "other end"], lines),
    )


def list_end_classes(names: Sequence[str], means: np.ndarray) -> list[str]:
    """List the classes at both ends of a function, the outermost first, with a word if they are all of a kind."""
    order = np.argsort(means)
    ends = [order[means[order] <= means.min() / 2], order[::-1][means[order[::-1]] >= means.max() / 2]]
    return [_describe_classes([names[i] for i in end]) for end in ends]


def _describe_classes(names: list[str]) -> str:
    listed = ", ".join(names)
    for word, kind in (("animals", ANIMAL_CLASSES), ("vehicles", VEHICLE_CLASSES)):
        if len(names) > 1 and set(names) <= kind:
            return f"{word}: {listed}"
    return listed


# --- pictures


def draw_correlations(ax: Axes, each: ViewRun) -> None:
    r, component = each.held.correlations, np.arange(1, len(each.held.correlations) + 1)
    ax.axhspan(0, each.band, color="0.85", lw=0, label="chance")
    ax.plot(component, each.pice.correlations_, "_", color="0.3", ms=9, mew=1.6, label="training pairs")
    bars = np.abs(each.held.intervals.T - r)
    ax.errorbar(component, r, bars, fmt="o", color=co.plot.ROWS, ms=5, capsize=2, label="test pairs, 95 %")
    ax.set(xlabel="Component", ylabel="Correlation of f(x) and g(y)", ylim=(each.held.intervals.min() - 0.02, 1.02))
    ax.set_xticks([1, *range(5, len(r) + 1, 5)])
    ax.legend(frameon=False, loc="upper right")
    ax.spines[["top", "right"]].set_visible(False)


def draw_plane(ax: Axes, each: ViewRun) -> None:
    """Draw test images in principal coordinates."""
    xy, labels = (each.F[:, :2] * each.pice.correlations_[:2])[:IMAGES_IN_PLANE], each.labels[:IMAGES_IN_PLANE]
    outline = [withStroke(linewidth=3, foreground="white")]
    written: list[np.ndarray] = []
    for i, name in enumerate(sorted(set(labels.tolist()))):
        own = xy[labels == name]
        ax.scatter(own[:, 0], own[:, 1], s=6, color=f"C{i}", alpha=0.6, linewidths=0, label=name)
        centre = np.median(own, axis=0)
        if all(np.abs(centre - other).max() > 0.05 * np.ptp(xy) for other in written):  # the legend has the others
            style: dict[str, Any] = {"color": f"C{i}", "fontsize": 12, "fontweight": "bold", "path_effects": outline}
            ax.text(centre[0], centre[1], name, ha="center", va="center", **style)
            written.append(centre)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, markerscale=3)
    first, second = (f"Axis {i + 1}, held-out correlation {each.held.correlations[i]:.3f}" for i in range(2))
    ax.set(xlabel=first, ylabel=second, aspect="equal")
    ax.spines[["top", "right"]].set_visible(False)


def draw_pairs(each: ViewRun, n: int = 10) -> Figure:
    """Draw pairs of test images, the first of each class."""
    chosen = [int(np.flatnonzero(each.labels == name)[0]) for name in sorted(set(each.labels.tolist()))][:n]
    figure, axes = make_panels((1.1 * len(chosen), 2.5), 2, len(chosen))
    for row, images in zip(axes, (each.X, each.Y), strict=True):
        for ax, i in zip(row, chosen, strict=True):
            ax.imshow(np.moveaxis(images[i], 0, -1).squeeze(), cmap="gray", vmin=0, vmax=1)
            ax.axis("off")
    for ax, i in zip(axes[0], chosen, strict=True):
        ax.set_title(str(each.labels[i]), fontsize=9)
    return figure


def write_noisy_page(each: ViewRun, path: Path) -> co.ExplorerPage:
    """Write a page with test images of both views; the page knows those of the other view by their classes."""
    digits = [f"digit {label}" for label in each.labels[:IMAGES_IN_PLANE]]  # bare numbers get ordered colours
    return co.explore(
        each.pice,
        each.X[:IMAGES_IN_PLANE],
        each.Y[:OTHER_IMAGES_ON_PAGE],
        path,
        overwrite=True,
        held_out=each.held,
        classes=digits,
        names=("turned digit", "noisy digit"),
        y_labels=digits[:OTHER_IMAGES_ON_PAGE],
        x_images=_invert_images(each.X[:IMAGES_IN_PLANE]),
        y_images=_invert_images(each.Y[:OTHER_IMAGES_ON_PAGE]),
        title="Noisy MNIST: what two views of a digit share",
    )


def _invert_images(images: np.ndarray) -> np.ndarray:
    return np.rint(255 * (1 - images)).astype(np.uint8)
