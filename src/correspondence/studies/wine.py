"""Red wine: the paper's factoring planes of attributes and quality, on wines that no fit has seen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import GroupShuffleSplit
from tqdm import tqdm

import correspondence as co
from correspondence.studies.catalogue import STUDY_TITLES
from correspondence.studies.report import Exhibit, Line, Report, correlation_lines, markdown_table, to_frame_or_array
from correspondence.studies.runs import Settings, one_thread_each

__all__ = ["STUDY_TITLE", "run_study"]

STUDY_TITLE = STUDY_TITLES["wine"]
N_COMPONENTS = 4
PAPER_CORRELATIONS = {"paper's code, training": (0.998, 0.994, 0.057), "paper's code, held out": (0.319, 0.152, 0.088)}
BEST_METHOD = "ACE, trees"
N_SAMPLE_WINES = 400  # wines over which the effect of an attribute is averaged
MAX_ATTRIBUTES_NAMED = 5  # attributes named in the figure
LOW_QUANTILE, HIGH_QUANTILE = 0.05, 0.95  # quantiles from which to which an attribute is moved

ERRATA_SECTION = """\
## What it corrects

- The red set has 1599 wines of quality 3 to 8; 4898 is the size of the white set.
- 240 of the wines are duplicates in all attributes. Spread over training and held-out part they are a leak, so here
  all copies of a wine are on the same side of every split, also of those that estimators make for themselves.
- The paper's published run has correlations 0.998, 0.994, 0.057 on the training part and 0.319, 0.152, 0.088 on the
  other part of its data: it memorised. Its picture is one of training wines."""


def compare_on_white_wines(quick: bool) -> co.Comparison:
    """Kinds of trees on the white wines, which are no part of what is judged here."""
    white = co.datasets.fetch_wine("white")
    rows = np.random.default_rng(0).permutation(len(white.X))[: 500 if quick else None]
    candidates = {
        f"{name} that see {share} attributes at a split": _with_trees(kind(20 if quick else 100, max_features=features))
        for name, kind in (("random forests", RandomForestClassifier), ("extra trees", ExtraTreesClassifier))
        for share, features in (("the root of all", "sqrt"), ("60 % of the", 0.6))
    }
    quality, cv = white.quality[rows].astype(str).astype(object), 2 if quick else 5
    return co.compare(white.X[rows], quality, candidates, cv=cv, groups=white.groups[rows], n_jobs=2, progress=False)


def _find_best_trees(white: co.Comparison) -> str:
    return max(white.results, key=lambda name: white.results[name].captured)


def _describe_choice(white: co.Comparison) -> str:
    captured = {name: f"{result.captured:.3f}" for name, result in white.results.items()}
    best = _find_best_trees(white)
    others = ", ".join(f"{name} {value}" for name, value in captured.items() if name != best)
    return (
        f"The trees of {BEST_METHOD} were chosen on the white wines, of which none is judged here: {best}, which capture "
        f"{captured[best]} of held-out white wines ({others}). The other methods have their default settings."
    )


def _with_trees(trees: Any) -> Any:
    return co.ACE(N_COMPONENTS, x_regressor=trees.set_params(random_state=0), progress=False)


def make_methods(trees: Any, quick: bool = False) -> dict[str, Any]:
    pice = co.PICE(N_COMPONENTS, progress=False)
    return {
        "CCA": co.CCA(N_COMPONENTS),
        "KernelCCA": co.KernelCCA(N_COMPONENTS),
        "ACE, additive": co.ACE(N_COMPONENTS),
        BEST_METHOD: trees,
        "PICE": pice.set_params(max_steps=100) if quick else pice,
    }


@dataclass(frozen=True, eq=False)
class _Planes:
    """A fit to a part of the wines, and the others."""

    d: co.Decomposition
    X: np.ndarray
    quality: np.ndarray
    sample: np.ndarray
    """Wines over which the effect of an attribute is averaged."""
    attributes: list[str]


def run_study(settings: Settings) -> Report:
    """Compare methods, count components, and draw the planes of the best method."""
    wine = co.datasets.fetch_wine("red")
    X, y, groups = wine.X, wine.quality.astype(str).astype(object), wine.groups
    folds = 3 if settings.quick else 10
    with one_thread_each():
        white = compare_on_white_wines(settings.quick)
        methods = make_methods(white.estimators[_find_best_trees(white)], settings.quick)
        comparisons = [
            co.compare(
                X,
                y,
                methods,
                cv=folds,
                groups=groups,
                random_state=seed,
                n_jobs=2,
                progress=False,
            )
            for seed in tqdm(range(settings.seeds), desc="wine, folds", unit="seed", disable=None)
        ]
        resamples = 5 if settings.quick else 20
        intervals = {
            name: co.pic_intervals(est, X, y, resamples, groups=groups, n_jobs=2, progress=False)
            for name, est in tqdm(methods.items(), desc="wine, intervals", unit="method", disable=None)
        }
        dimension = co.latent_dimension(methods[BEST_METHOD], X, y, groups=groups, n_jobs=2, progress=False)
    planes = _fit_planes(methods[BEST_METHOD], X, y, groups, wine.attributes)
    effects = compute_effects(planes)
    sections = [
        f"X are the 11 attributes of {len(X)} red wines, Y the quality from 3 to 8 as a label. "
        f"{folds} folds, {settings.seeds} times, copies of a wine always together.",
        f"![Factoring planes](wine.png)\n\n{_make_plane_caption(planes)} [A page to explore them](wine-explore.html).",
        make_correlation_table(comparisons, intervals, _describe_choice(white)),
        f"![Held-out and training correlations](wine-methods.png)\n\n{METHODS_CAPTION}",
        describe_dimension(dimension),
        make_effect_table(effects),
        ERRATA_SECTION,
    ]
    rows = [row for seed, c in enumerate(comparisons) for row in make_csv_rows(seed, c)]
    figures = {"": draw_figure(planes, effects), "-methods": _draw_comparison(comparisons[0])}
    page = {"-explore.html": lambda path: write_explorer_page(planes, dimension, path)}
    exhibits = [make_exhibit(comparisons, dimension, _describe_choice(white))]
    return Report(STUDY_TITLE, rows, "\n\n".join(sections), figures, page, exhibits)


def make_exhibit(comparisons: list[co.Comparison], dimension: co.LatentDimension, choice: str) -> Exhibit:
    results = [comparison.results[BEST_METHOD] for comparison in comparisons]
    held_out, training = (
        _average_arrays([r.correlations for r in results]),
        _average_arrays([r.training for r in results]),
    )
    paper, claimed = PAPER_CORRELATIONS["paper's code, held out"], PAPER_CORRELATIONS["paper's code, training"]
    lines = [
        *correlation_lines(
            held_out, paper=[f"{b} (training {a})" for a, b in zip(claimed, paper, strict=True)], training=training
        ),
        Line("components that are more than chance", 2, held_out=dimension.n_components),
        Line("wines", 4898, exact=1599),
    ]
    sentence = (
        f"The paper prints no correlations; those of its published run stand in its column. {BEST_METHOD} has a first "
        f"correlation of {held_out[0]:.3f} on wines that it has not seen, and "
        f"{dimension.n_components} components are real where the paper reads two off its picture of training wines. "
        f"{choice}"
    )
    return Exhibit("Figure 5: red wine", lines, sentence, "")


METHODS_CAPTION = """\
*Of the first seed. Filled: held-out wines with 95 % intervals. Hollow: the training.*"""


def _fit_planes(est: Any, X: np.ndarray, y: np.ndarray, groups: np.ndarray, attributes: list[str]) -> _Planes:
    train, test = next(GroupShuffleSplit(1, test_size=0.3, random_state=0).split(X, y, groups))
    d = est.fit(X[train], y[train], groups=groups[train]).decomposition_
    sample = np.random.default_rng(0).choice(train, N_SAMPLE_WINES, replace=False)
    return _Planes(d, X[test], y[test], X[sample], list(attributes))


def compute_effects(planes: _Planes) -> dict[str, np.ndarray]:
    """Mean position of wines of which one attribute is moved from low to high, in principal coordinates."""
    effects = {}
    for j, attribute in enumerate(planes.attributes):
        grid = np.quantile(planes.sample[:, j], np.linspace(LOW_QUANTILE, HIGH_QUANTILE, 10))
        moved = np.repeat(planes.sample, len(grid), axis=0)
        moved[:, j] = np.tile(grid, len(planes.sample))
        f = planes.d.f(moved) * planes.d.correlations
        effects[attribute] = f.reshape(len(planes.sample), len(grid), -1).mean(axis=0)
    return effects


def make_csv_rows(seed: int, comparison: co.Comparison) -> list[dict[str, Any]]:
    return [
        {
            "method": name,
            "seed": seed,
            "component": i + 1,
            "held_out": float(result.correlations[i]),
            "low": float(result.intervals[i, 0]),
            "high": float(result.intervals[i, 1]),
            "training": float(result.training[i]),
            "captured": float(result.captured),
            "seconds": float(result.seconds),
        }
        for name, result in comparison.results.items()
        for i in range(len(result.correlations))
    ]


def make_correlation_table(comparisons: list[co.Comparison], intervals: dict[str, co.PicIntervals], choice: str) -> str:
    header = ["method", "data", *(f"{i + 1}" for i in range(N_COMPONENTS)), "captured", "seconds"]
    lines: list[list[Any]] = []
    for name in comparisons[0].results:
        results = [comparison.results[name] for comparison in comparisons]
        held_out, low, high, training = (
            _average_arrays([values(r) for r in results])
            for values in (
                lambda r: r.correlations,
                lambda r: r.intervals[:, 0],
                lambda r: r.intervals[:, 1],
                lambda r: r.training,
            )
        )
        captured, seconds = (float(np.mean([getattr(r, what) for r in results])) for what in ("captured", "seconds"))
        cells = [f"{r:.3f} [{a:.3f}, {b:.3f}]" for r, a, b in zip(held_out, low, high, strict=True)]
        lines.append([f"**{name}**", "held out", *_pad_cells(cells), f"{captured:.3f}", f"{seconds:.1f}"])
        lines.append(["", "training", *_pad_cells([f"{r:.3f}" for r in training]), "", ""])
        pics = intervals[name]
        cells = [f"{p:.3f} [{a:.3f}, {b:.3f}]" for p, (a, b) in zip(pics.pics, pics.intervals, strict=True)]
        lines.append(["", "PIC", *_pad_cells(cells), "", ""])
    lines += [
        [name, "", *_pad_cells([f"{v:.3f}" for v in values]), "", ""] for name, values in PAPER_CORRELATIONS.items()
    ]
    return (
        "## Correlations and PICs\n\nHeld-out correlations with 95 % intervals, both averaged over the seeds; training "
        "correlations (with regressors, as for the trees, they are cross-fitted); PICs of the population with 95 % "
        f"intervals (`co.pic_intervals`). {choice}\n\n{markdown_table(header, lines)}"
    )


def _average_arrays(values: list[np.ndarray]) -> np.ndarray:
    d = min(map(len, values))
    return np.mean([v[:d] for v in values], axis=0)


def _pad_cells(cells: list[str]) -> list[str]:
    return [*cells, *[""] * (N_COMPONENTS - len(cells))]


def describe_dimension(dimension: co.LatentDimension) -> str:
    header = ["component", "held-out correlation", "p-value"]
    lines = [
        [i + 1, float(r), float(p)]
        for i, (r, p) in enumerate(zip(dimension.correlations, dimension.pvalues, strict=True))
    ]
    return (
        f"## How many components are real?\n\n{dimension.n_components}, at a level of {dimension.alpha:g} "
        f"(`co.latent_dimension`, {BEST_METHOD}: blocks of wines, each judged by a fit to the blocks before it, one copy of "
        f"each wine).\n\n{markdown_table(header, lines)}"
    )


def make_effect_table(effects: dict[str, np.ndarray]) -> str:
    header = ["attribute", "f1 low", "f1 high", "f2 low", "f2 high"]
    order = sorted(effects, key=lambda name: -abs(effects[name][-1, 0] - effects[name][0, 0]))
    lines = [[name, *(float(effects[name][end, axis]) for axis in (0, 1) for end in (0, -1))] for name in order]
    return (
        f"## What each attribute does\n\nMean position (in principal coordinates) of {N_SAMPLE_WINES} wines of which one "
        f"attribute is moved from its {100 * LOW_QUANTILE:.0f} % to its {100 * HIGH_QUANTILE:.0f} % quantile, largest effect on axis 1 "
        f"first.\n\n{markdown_table(header, lines)}"
    )


def _make_plane_caption(planes: _Planes) -> str:
    return (
        f"*{BEST_METHOD}, fitted to 70 % of the wines. Above: the {len(planes.X)} others in the first (left) and second "
        "(right) factoring plane, coloured by quality, whose labels stand at g(y). Below left: the path of the mean "
        "wine when one attribute is moved from low (dot) to high (arrow). Below right: the straight line from a bad "
        "to a good wine in the space of the attributes, drawn in the plane.*"
    )


def draw_figure(planes: _Planes, effects: dict[str, np.ndarray]) -> Figure:
    figure = Figure(figsize=(13, 11), layout="constrained")
    (first, second), (paths, way) = figure.subplots(2, 2)
    d = planes.d
    for ax, axes in ((first, (1, 2)), (second, (2, 3))):
        if max(axes) <= d.n_components:
            draw_plane(ax, planes, axes)
    draw_effects(paths, d, effects)
    draw_plane(way, planes, (1, 2))
    draw_quality_path(way, planes)
    for ax, title in (
        (first, "First plane"),
        (second, "Second plane"),
        (paths, "Attributes"),
        (way, "From bad to good"),
    ):
        ax.set_title(title, loc="right")
    return figure


def draw_plane(ax: Axes, planes: _Planes, axes: tuple[int, int]) -> None:
    co.plot.plane(
        planes.d,
        axes,
        X=planes.X,
        Y=np.unique(planes.quality),
        classes=planes.quality,
        names=("wine", "quality"),
        ax=ax,
    )


def draw_effects(ax: Axes, d: co.Decomposition, effects: dict[str, np.ndarray]) -> None:
    ax.axhline(0, color="0.75", lw=0.8, ls="--", zorder=0)
    ax.axvline(0, color="0.75", lw=0.8, ls="--", zorder=0)
    reach = {name: float(np.linalg.norm(np.ptp(path[:, :2], axis=0))) for name, path in effects.items()}
    largest = sorted(reach, key=lambda name: -reach[name])[:MAX_ATTRIBUTES_NAMED]
    for name in [name for name in effects if name not in largest]:
        ax.plot(effects[name][:, 0], effects[name][:, 1], color="0.8", lw=1, zorder=1)
    for name, (colour, _) in zip(largest, co.plot.STYLES, strict=False):
        path = effects[name]
        before, end = tuple(path[-2, :2]), tuple(path[-1, :2])
        ax.plot(path[:, 0], path[:, 1], color=colour, lw=1.5)
        ax.plot(*path[0, :2], "o", color=colour, ms=5, label=name)
        ax.annotate("", end, before, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.5})
    ax.plot([], [], color="0.8", label="other attributes")
    ax.set(xlabel=f"Axis 1: PIC {d.pics[0]:.4f}", ylabel=f"Axis 2: PIC {d.pics[1]:.4f}")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, frameon=False, fontsize=8)
    ax.margins(0.1)


def draw_quality_path(ax: Axes, planes: _Planes) -> None:
    """From the wine of the lowest to that of the highest quality, the first of each in the part not seen."""
    quality = planes.quality.astype(int)
    bad, good = planes.X[np.argmin(quality)], planes.X[np.argmax(quality)]
    steps = np.linspace(0, 1, 60)[:, None]
    way = planes.d.f(bad + steps * (good - bad)) * planes.d.correlations
    ax.plot(way[:, 0], way[:, 1], color="black", lw=1.5, zorder=3)
    for place, text in ((0, f"quality {quality.min()}"), (-1, f"quality {quality.max()}")):
        is_right = way[place, 0] >= way[:, 0].mean()
        ax.annotate(
            text,
            tuple(way[place, :2]),
            (8 if is_right else -8, 0),
            textcoords="offset points",
            ha="left" if is_right else "right",
            va="center",
            fontsize=9,
            fontweight="bold",
            path_effects=[withStroke(linewidth=3, foreground="white")],
            zorder=5,
        )
        ax.plot(*way[place, :2], "s", color="black", ms=6, zorder=4)


def _draw_comparison(comparison: co.Comparison) -> Figure:
    figure = Figure(figsize=(8, 5), layout="constrained")
    co.plot.comparison(comparison, ax=figure.subplots())
    return figure


def write_explorer_page(planes: _Planes, dimension: co.LatentDimension, path: Path) -> Path:
    return co.explore(
        planes.d,
        to_frame_or_array(planes.X, planes.attributes),
        np.unique(planes.quality),
        path,
        held_out=dimension,
        classes=planes.quality,
        names=("wine", "quality"),
        title="Red wine: what it is made of and how it is graded",
    )
