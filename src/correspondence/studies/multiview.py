"""How much two views of an object share: pairs of images of the same digit, noisy ones, and of the same class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.svm import LinearSVC

import correspondence as co
from correspondence.studies.report import Report, markdown_table
from correspondence.studies.runs import Settings

__all__ = ["CIFAR_TITLE", "MNIST_TITLE", "NOISY_TITLE", "run_cifar", "run_mnist", "run_noisy"]

MNIST_TITLE = "What two images of the same digit share: MNIST"
NOISY_TITLE = "What two views of a digit share, one turned, the other turned and noisy: noisy MNIST"
CIFAR_TITLE = "What two photographs of the same class share: CIFAR-10"
PERMUTATIONS = 999
CHANCE = 0.01  # that a component of nothing but noise is taken for one that the views share
LINEAR = 20_000  # pairs that linear CCA learns from
TEST_SEED = 10_000  # of the partners and views of test images
DRAWN = 3000  # test images in the plane
ANIMALS = {"bird", "cat", "deer", "dog", "frog", "horse"}
VEHICLES = {"airplane", "automobile", "ship", "truck"}


@dataclass(frozen=True)
class _Case:
    """A study: its data, and what is known about it."""

    name: str
    title: str
    recipe: str
    """In `views`."""
    views: str
    """What x and y are."""
    paper: str
    quoted: tuple[tuple[str, float | None, float | None], ...] = ()
    """From elsewhere: error of a linear SVM and accuracy of k-means, in %."""


MNIST = _Case(
    "multiview-mnist",
    MNIST_TITLE,
    "MNIST",
    "x and y are two different images of the same digit",
    'The paper expects 10 significant PICs "due to 10 underlying digits" and sees a drop "precisely at 10".',
)
NOISY = _Case(
    "multiview-noisy-mnist",
    NOISY_TITLE,
    "NOISY",
    "x is an image turned by a uniform angle between -pi/4 and pi/4; y is another image of the same digit, turned in "
    "the same way, with uniform noise from 0 to 1 added to each pixel and cut off at 1 (after Wang et al. 2015)",
    "The paper sees a drop at 10 again, and smaller PICs than without rotation and noise.",
    (("best deep CCA autoencoder (Wang et al. 2015)", 2.2, 97.5), ("the paper's notebook", None, 83.3)),
)
CIFAR = _Case(
    "multiview-cifar",
    CIFAR_TITLE,
    "CIFAR",
    "x and y are two different photographs of the same class",
    'The paper sees a drop "at around 13", on the data that the nets were trained on, and supposes that the '
    "directions may tell other things than classes, such as dark and light backgrounds.",
)


@dataclass(frozen=True, eq=False)
class _Run:
    """Functions of one seed, and what they are worth on test images."""

    seed: int
    pice: co.PICE
    seconds: float
    """Of the fit."""
    n: int
    """Images that it was trained on."""
    checked: int
    """Training images held out, whose pairs tell how many components are shared."""
    shared: int
    held: co.HeldOut
    """On pairs of test images."""
    band: float
    """What chance exceeds there in one of a hundred cases, with the largest of all components."""
    X: np.ndarray
    """Views of the test images."""
    Y: np.ndarray
    F: np.ndarray
    """Functions of X."""
    labels: np.ndarray
    svm_error: float
    cluster_accuracy: float

    @property
    def found(self) -> int:
        """Leading components that pairs of test images confirm."""
        return _leading(self.held.correlations, self.band)


def run_mnist(settings: Settings) -> Report:
    """Two images of the same digit."""
    return _run_case(MNIST, co.datasets.fetch_mnist(), settings)


def run_noisy(settings: Settings) -> Report:
    """The same with rotation and noise."""
    return _run_case(NOISY, co.datasets.fetch_mnist(), settings)


def run_cifar(settings: Settings) -> Report:
    """Two photographs of the same class."""
    return _run_case(CIFAR, co.datasets.fetch_cifar10(), settings)


def _run_case(case: _Case, data: co.datasets.ImageClasses, settings: Settings) -> Report:
    from correspondence.studies import views  # here, because it needs torch

    recipe = getattr(views, case.recipe)
    if settings.quick:
        data = _some(data)
        recipe = replace(recipe, held_out=500, passes=4)
    runs = [_run(recipe, data, seed) for seed in range(settings.seeds)]
    return _report(case, data, runs, _linear(recipe, data, runs[0]))


def _some(data: co.datasets.ImageClasses, n: int = 3000, n_test: int = 1000) -> co.datasets.ImageClasses:
    return data._replace(
        train_images=data.train_images[:n],
        train_labels=data.train_labels[:n],
        test_images=data.test_images[:n_test],
        test_labels=data.test_labels[:n_test],
    )


def _run(recipe: Any, data: co.datasets.ImageClasses, seed: int) -> _Run:
    from correspondence.studies import views

    pice, seconds = views.fit(recipe, data.train_images, data.train_labels, seed)
    rest = slice(len(data.train_labels) - recipe.held_out, None)
    checked = views.all_pairs(recipe, data.train_images[rest], data.train_labels[rest], seed)
    shared = _leading(pice.evaluate(*checked).correlations, _band(*pice.transform(*checked)))
    X, Y = views.all_pairs(recipe, data.test_images, data.test_labels, TEST_SEED)
    F, G = pice.transform(X, Y)
    seen, labels = data.train_images[: -recipe.held_out], data.train_labels[: -recipe.held_out]
    F_seen = pice.transform(views.all_pairs(recipe, seen, labels, seed)[0])
    use = slice(max(1, shared))
    return _Run(
        seed,
        pice,
        seconds,
        len(labels),
        recipe.held_out,
        shared,
        pice.evaluate(X, Y),
        _band(F, G),
        X,
        Y,
        F,
        data.test_labels,
        _svm_error(F_seen[:, use], labels, F[:, use], data.test_labels),
        _cluster_accuracy(F[:, use], data.test_labels, seed),
    )


def _leading(correlations: np.ndarray, band: float) -> int:
    """Number of components before the first that chance may explain."""
    above = correlations > band
    return len(above) if above.all() else int(np.argmin(above))


def _band(F: np.ndarray, G: np.ndarray) -> float:
    """What the largest correlation of all components exceeds with probability `CHANCE` if partners are exchanged."""
    rng = np.random.default_rng(0)
    f, g = ((values - values.mean(axis=0)) / values.std(axis=0) for values in (F, G))
    largest = [np.einsum("ij,ij->j", f, g[rng.permutation(len(g))]).max() / len(g) for _ in range(PERMUTATIONS)]
    return float(np.quantile(largest, 1 - CHANCE))


def _svm_error(F: np.ndarray, labels: np.ndarray, F_test: np.ndarray, truth: np.ndarray) -> float:
    """Share of test images that a linear SVM on the functions gets wrong."""
    guesses = LinearSVC(dual=False).fit(F, labels.astype(str)).predict(F_test)
    return float((guesses != truth.astype(str)).mean())


def _cluster_accuracy(F: np.ndarray, truth: np.ndarray, seed: int) -> float:
    """Share of images in the right one of as many clusters as there are classes, matched one to one."""
    names, classes = np.unique(truth.astype(str), return_inverse=True)
    clusters = KMeans(len(names), n_init=10, random_state=seed).fit_predict(F)
    table = np.zeros((len(names), len(names)), dtype=int)
    np.add.at(table, (clusters, classes), 1)
    return float(table[linear_sum_assignment(-table)].sum() / len(truth))


@dataclass(frozen=True, eq=False)
class _Linear:
    """What linear CCA finds in the same pairs."""

    n: int
    columns: int
    held: co.HeldOut
    training: np.ndarray
    found: int


def _linear(recipe: Any, data: co.datasets.ImageClasses, run: _Run) -> _Linear:
    from correspondence.studies import views

    n = min(LINEAR, run.n)
    X, Y = map(_pixels, views.all_pairs(recipe, data.train_images[:n], data.train_labels[:n], run.seed))
    cca = co.CCA(n_components=len(run.held.correlations)).fit(X, Y)
    X_test, Y_test = _pixels(run.X), _pixels(run.Y)
    held = cca.evaluate(X_test, Y_test)
    found = _leading(held.correlations, _band(*cca.transform(X_test, Y_test)))
    return _Linear(n, int(np.prod(X.shape[1:])), held, cca.correlations_, found)


def _pixels(images: np.ndarray) -> np.ndarray:
    """Images for CCA: means of 2 x 2 pixels, whose number is moderate also with colours."""
    n, channels, height, width = images.shape
    return images.reshape(n, channels, height // 2, 2, width // 2, 2).mean(axis=(3, 5))


# --- the report


def _report(case: _Case, data: co.datasets.ImageClasses, runs: list[_Run], linear: _Linear) -> Report:
    first = runs[0]
    nets = "one net of 3x3 convolutions for both" if case.recipe != "NOISY" else "a net of convolutions for each"
    sections = [
        f"{case.views[0].upper()}{case.views[1:]}. PICE with {len(first.held.correlations)} components, {nets}, learns "
        f"from {first.n} images, which are paired, and seen, anew in each pass; labels are used for the pairing "
        f"only. Pairs of {first.checked} other training images tell how many components are shared. All else is on "
        f"{len(first.labels)} test images, each paired with another one of its class. Training took "
        f"{' and '.join(f'{each.seconds:.0f}' for each in runs)} seconds.",
        f"![Correlations and plane]({case.name}.png)\n\n{CAPTION}",
        _shared(case, data, first, linear),
        _correlation_table(runs, linear),
        f"![Pairs]({case.name}-pairs.png)\n\n*Pairs of test images: x above, y below.*",
        _use_table(case, runs),
        _end_table(first),
        ERRATA,
    ]
    figures = {"": _figure(first), "-pairs": _pairs_figure(first)}
    return Report(case.title, [row for each in runs for row in _rows(each, linear)], "\n\n".join(sections), figures)


CAPTION = f"""\
*Left: correlations of all components on training pairs and on pairs of test images, with 95 % intervals; grey: what the
largest of them stays below in {1 - CHANCE:.0%} of cases if partners are exchanged at random. Right: test images x in the
plane of the first two functions, in the colours of their classes.*"""

ERRATA = """\
## What it corrects

- Two views of an object with M classes share at most M - 1 components; the paper's M counts the constant as well.
- All figures but the training correlations are of test images. Settings were chosen on pairs of held-out training
  images, and so was the number of functions that SVM and k-means see."""


def _rows(each: _Run, linear: _Linear) -> list[dict[str, Any]]:
    return [
        {
            "seed": each.seed,
            "component": i + 1,
            "training": float(each.pice.correlations_[i]),
            "held_out": float(each.held.correlations[i]),
            "low": float(each.held.intervals[i, 0]),
            "high": float(each.held.intervals[i, 1]),
            "is_shared": int(i < each.shared),
            "cca_training": float(linear.training[i]),
            "cca_held_out": float(linear.held.correlations[i]),
            "svm_error": each.svm_error,
            "cluster_accuracy": each.cluster_accuracy,
            "seconds": each.seconds,
        }
        for i in range(len(each.held.correlations))
    ]


def _shared(case: _Case, data: co.datasets.ImageClasses, first: _Run, linear: _Linear) -> str:
    most = len(data.classes) - 1
    return (
        f"## How many components are shared\n\nPairs of held-out training images show {first.shared}, pairs of test "
        f"images {first.found} (correlation above {first.band:.3f}, which chance exceeds in {CHANCE:.0%} of cases with "
        f"any of them): so the views have {first.found + 1} classes in common, as the constant counts as one more. There "
        f"are {most + 1}, and {most} components is the most that they can share. {case.paper}\n\nLinear CCA on "
        f"{linear.n} pairs of {linear.columns} values (means of 2 x 2 pixels) finds {linear.found}, the strongest with a "
        f"held-out correlation of {linear.held.correlations[0]:.3f}."
    )


def _correlation_table(runs: list[_Run], linear: _Linear) -> str:
    first = runs[0]
    shown = min(max(each.shared for each in runs) + 3, len(first.held.correlations))
    lines: list[list[Any]] = [
        [
            i + 1,
            float(first.pice.correlations_[i]),
            float(first.held.correlations[i]),
            "{:.4f} to {:.4f}".format(*first.held.intervals[i]),
            *(float(each.held.correlations[i]) for each in runs[1:]),
            float(linear.held.correlations[i]),
        ]
        for i in range(shown)
    ]
    rest = [each.held.correlations[shown:] for each in runs]
    if len(rest[0]):
        largest = [float(values.max()) for values in (first.pice.correlations_[shown:], *rest)]
        lines.append(["others, at most", *largest[:2], "", *largest[2:], float(linear.held.correlations[shown:].max())])
    header = ["component", "training", "held out", "95 %", *(f"held out, seed {each.seed}" for each in runs[1:])]
    return f"## Correlations\n\n{markdown_table([*header, 'linear CCA, held out'], lines)}"


def _use_table(case: _Case, runs: list[_Run]) -> str:
    lines = [
        [
            f"seed {each.seed}, {each.shared} functions",
            f"{100 * each.svm_error:.2f}",
            f"{100 * each.cluster_accuracy:.2f}",
        ]
        for each in runs
    ]
    lines += [[name, *("" if value is None else f"{value:.1f}" for value in values)] for name, *values in case.quoted]
    return (
        "## What the functions are good for\n\nOf the views x of test images: the error of a linear SVM that has learnt "
        "from f(x) of training images, and the share of images that k-means, which sees no labels, puts into the right "
        f"cluster (as many clusters as classes, matched one to one).\n\n"
        f"{markdown_table(['', 'linear SVM, error %', 'k-means, accuracy %'], lines)}"
    )


def _end_table(each: _Run) -> str:
    names = sorted(set(each.labels.tolist()))
    means = np.array([each.F[each.labels == name, : each.shared].mean(axis=0) for name in names])
    lines = [[i + 1, *_ends(names, column)] for i, column in enumerate(means.T)]
    return (
        "## What the components tell apart\n\nClasses by the mean of f over their test images: at each end those that "
        f"are at least half as far out as the last.\n\n{markdown_table(['component', 'one end', 'other end'], lines)}"
    )


def _ends(names: Sequence[str], means: np.ndarray) -> list[str]:
    """Classes at the two ends of a function, the outermost first; in a word where they are all of a kind."""
    order = np.argsort(means)
    ends = [order[means[order] <= means.min() / 2], order[::-1][means[order[::-1]] >= means.max() / 2]]
    return [_in_words([names[i] for i in end]) for end in ends]


def _in_words(names: list[str]) -> str:
    listed = ", ".join(names)
    for word, kind in (("animals", ANIMALS), ("vehicles", VEHICLES)):
        if len(names) > 1 and set(names) <= kind:
            return f"{word}: {listed}"
    return listed


# --- pictures


def _figure(each: _Run) -> Figure:
    figure = Figure(figsize=(14, 6), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_correlations(left, each)
    _draw_plane(right, each)
    return figure


def _draw_correlations(ax: Axes, each: _Run) -> None:
    r, component = each.held.correlations, np.arange(1, len(each.held.correlations) + 1)
    ax.axhspan(0, each.band, color="0.85", lw=0, label="chance")
    ax.plot(component, each.pice.correlations_, "_", color="0.3", ms=9, mew=1.6, label="training pairs")
    bars = np.abs(each.held.intervals.T - r)
    ax.errorbar(component, r, bars, fmt="o", color=co.plot.ROWS, ms=5, capsize=2, label="test pairs, 95 %")
    ax.set(xlabel="Component", ylabel="Correlation of f(x) and g(y)", ylim=(min(-0.1, r.min() - 0.05), 1.02))
    ax.set_xticks([1, *range(5, len(r) + 1, 5)])
    ax.legend(frameon=False, loc="upper right")
    ax.spines[["top", "right"]].set_visible(False)


def _draw_plane(ax: Axes, each: _Run) -> None:
    """Test images in principal coordinates."""
    xy, labels = (each.F[:, :2] * each.pice.correlations_[:2])[:DRAWN], each.labels[:DRAWN]
    outline = [withStroke(linewidth=3, foreground="white")]
    for i, name in enumerate(sorted(set(labels.tolist()))):
        own = xy[labels == name]
        ax.scatter(*own.T, s=6, color=f"C{i}", alpha=0.6, linewidths=0)
        style: dict[str, Any] = {"color": f"C{i}", "fontsize": 12, "fontweight": "bold", "path_effects": outline}
        ax.text(*np.median(own, axis=0), name, ha="center", va="center", **style)
    ax.set(xlabel="Axis 1", ylabel="Axis 2", aspect="equal")
    ax.spines[["top", "right"]].set_visible(False)


def _pairs_figure(each: _Run, n: int = 10) -> Figure:
    """Pairs of test images, the first of each class."""
    chosen = [int(np.flatnonzero(each.labels == name)[0]) for name in sorted(set(each.labels.tolist()))][:n]
    figure = Figure(figsize=(1.1 * len(chosen), 2.5), layout="constrained")
    axes = figure.subplots(2, len(chosen))
    for row, images in zip(axes, (each.X, each.Y), strict=True):
        for ax, i in zip(row, chosen, strict=True):
            ax.imshow(np.moveaxis(images[i], 0, -1).squeeze(), cmap="gray", vmin=0, vmax=1)
            ax.axis("off")
    for ax, i in zip(axes[0], chosen, strict=True):
        ax.set_title(str(each.labels[i]), fontsize=9)
    return figure
