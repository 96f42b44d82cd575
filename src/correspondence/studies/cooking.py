"""What's Cooking: the paper's Table 2 and factoring plane, on held-out recipes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from sklearn.neural_network import MLPClassifier
from tqdm import tqdm

import correspondence as co
from correspondence.studies import markdown as md
from correspondence.studies.ingredients import Ingredients
from correspondence.studies.report import (
    Exhibit,
    Line,
    Report,
    draw_alone,
    make_correlation_lines,
    make_panels,
    to_frame_or_array,
)
from correspondence.studies.runs import Settings, use_one_thread_each

__all__ = ["run_study"]

N_COMPONENTS, N_INGREDIENTS, TEST_SHARE = 10, 146, 0.2
QUICK_RECIPES = 1000  # recipes of a quick run
PAPER_CORRELATIONS = {
    "paper: PICE": (0.9092, 0.8667, 0.8412, 0.7932, 0.7391, 0.6413, 0.6018, 0.4792, 0.4508, 0.2821),
    "paper: SVD": (0.4504, 0.3894, 0.3149, 0.2943, 0.2413, 0.1958, 0.1547, 0.1191, 0.1146, 0.1035),
    "paper: CCA": (0.1915, 0.1751, 0.1342, 0.1083, 0.1050, 0.0823, 0.0623, 0.0488, 0.0485, 0.0431),
    "paper: KCCA": (0.6585, 0.1223, 0.0860, 0.0636, 0.0320, 0.0131, 0.0090, 0.0089, 0.0051, 0.0011),
}
MAX_INGREDIENTS_SHOWN = 60  # ingredients in the plane

ERRATA_SECTION = """\
## What it corrects

- The paper's values are those of the recipes that its networks were trained on. Here every method is fitted to 80 % of
  the recipes and judged on the others; both figures stand side by side. The choice of the ingredients is a part of the
  fit: it is made from the training recipes, without their cuisines.
- What the paper calls PICs are correlations, their square roots.
- Its CCA row (0.19, ...) is far below what ordinary CCA reaches on the same kind of data, and so is its KCCA row.
- CA on the observed combinations of ingredients ("SVD") only memorises: nearly every combination occurs once, so its
  training correlations are close to 1 and say nothing, while of new recipes only those with a known combination can be
  placed at all (others are placed at the mean)."""


CHOICE_NOTE = (
    "Size and penalty of the net in ACE were chosen by us on one other split of the same recipes, and which names are "
    "variants of the same ingredient (`ingredient_rules.py`) was written by hand with an eye on another one, so both "
    "have seen some of what is held out here; the rest is default settings."
)

METHODS_CAPTION = """\
*Filled: held-out recipes, mean and standard deviation over the splits. Hollow: training recipes. Crosses: the paper's
PICE, on training recipes.*"""


METHODS: dict[str, tuple[str, Callable[[Any, np.ndarray, int], Any]]] = {
    "CA": (
        "of the observed combinations, as the paper's SVD",
        lambda X, y, seed: co.CA(N_COMPONENTS, handle_unknown="nan").fit(X, y),
    ),
    "CCA": ("co.CCA", lambda X, y, seed: co.CCA(N_COMPONENTS).fit(X, y)),
    "KernelCCA": (
        "1000 landmarks",
        lambda X, y, seed: co.KernelCCA(N_COMPONENTS, n_landmarks=1000, random_state=seed).fit(X, y),
    ),
    "ACE, additive": (
        "for columns of 0 and 1 the same as CCA, but for a penalty",
        lambda X, y, seed: co.ACE(N_COMPONENTS).fit(X, y),
    ),
    "ACE, net": (
        "E[g(Y) | X] by the beliefs of scikit-learn's MLPClassifier, cross-fitted",
        lambda X, y, seed: co.ACE(
            N_COMPONENTS,
            x_regressor=MLPClassifier((500,), alpha=0.01, early_stopping=True, n_iter_no_change=2, random_state=seed),
            random_state=seed,
            progress=False,
        ).fit(X, y),
    ),
    "PICE": (
        "default settings",
        lambda X, y, seed: co.PICE(N_COMPONENTS, random_state=seed, progress=False).fit(X, y),
    ),
    "auto": (
        "co.decompose, which chooses on the training recipes",
        lambda X, y, seed: co.decompose(X, y, N_COMPONENTS, random_state=seed, progress=False, verbose=False),
    ),
}
"""What each method is, and a function that fits it to recipes and cuisines with a seed."""


@dataclass(frozen=True, eq=False)
class _SplitResult:
    """One method on one split."""

    training: np.ndarray
    held_out: np.ndarray
    captured: float
    seconds: float
    origin: str


@dataclass(frozen=True, eq=False)
class _Plane:
    """What picture and page need: a decomposition and held-out recipes."""

    whole: co.Decomposition
    held_out: co.HeldOut
    X: np.ndarray
    cuisine: np.ndarray
    texts: list[str]
    """Ingredients of the recipes as they are spelled there."""
    names: list[str]
    counts: np.ndarray

    @property
    def d(self) -> co.Decomposition:
        """The first two components."""
        return self.whole.truncate(2)


def run_study(settings: Settings) -> Report:
    """Compare all methods on random splits, and draw the factoring plane of the best."""
    recipes = co.datasets.fetch_recipes()
    n = QUICK_RECIPES if settings.quick else len(recipes.cuisine)
    tasks = (delayed(run_split)(recipes, n, seed) for seed in range(settings.seeds))
    with use_one_thread_each():
        done = Parallel(n_jobs=2, return_as="generator")(tasks)
        splits = list(tqdm(done, desc="cooking", total=settings.seeds, unit="split", disable=None))
    results = {name: [results[name] for results, _ in splits] for name in METHODS}
    best = max((name for name in METHODS if name != "CA"), key=lambda name: _average_held_out_sum(results[name]))
    plane = splits[0][1]
    caption = (
        f'*First factoring plane of "ACE, net" on the first split. Dots: {len(plane.X):,} held-out recipes, in the '
        "colour of their cuisine. Triangles: the cuisines. Diamonds: ingredients, each as a recipe of nothing else.* "
        "[A page to explore it](cooking-explore.html) has all ten components and all ingredients."
    )
    rows = [row for name in METHODS for row in make_csv_rows(name, results[name])]
    sections = [
        f"X are {n:,} recipes as {N_INGREDIENTS} ingredients (0 or 1), Y their {len(set(recipes.cuisine))} cuisines; "
        f"{settings.seeds} random splits into 80 % to learn from and 20 % to judge on.",
        md.show_picture("Cuisines, recipes and ingredients in the first factoring plane", "cooking-plane.png", caption),
        make_correlation_table(results),
        describe_findings(results, best),
        md.show_picture("Held-out and training correlations of each method", "cooking.png", METHODS_CAPTION),
        describe_plane(plane),
        ERRATA_SECTION,
    ]
    figures = {"": draw_methods(results), "-plane": draw_plane(plane)}
    exhibits = [make_table_exhibit(results, best), make_plane_exhibit(plane)]
    page = {"-explore.html": lambda path: write_explorer_page(plane, path)}
    return Report(rows, sections, figures, page, exhibits)


def make_table_exhibit(results: dict[str, list[_SplitResult]], best: str) -> Exhibit:
    """Return sums for each method beside the paper's of the same kind, and the ten correlations of the best."""
    held_out, training = (
        {name: np.mean([getattr(r, data) for r in of_splits], axis=0) for name, of_splits in results.items()}
        for data in ("held_out", "training")
    )
    printed = {"CA": "paper: SVD", "CCA": "paper: CCA", "KernelCCA": "paper: KCCA", "PICE": "paper: PICE"}
    sums = [
        Line(
            f"sum of ten correlations, {name}",
            float(sum(PAPER_CORRELATIONS[printed[name]])) if name in printed else None,
            float(training[name].sum()),
            float(held_out[name].sum()),
        )
        for name in sorted(results, key=lambda name: name != "PICE")
    ]
    paper = PAPER_CORRELATIONS["paper: PICE"]
    single = make_correlation_lines(held_out[best], f"correlation {{}}, {best}", paper=paper, training=training[best])
    return Exhibit("Table 2: recipes and cuisines", [*sums, *single], describe_findings(results, best), "")


def make_plane_exhibit(plane: _Plane) -> Exhibit:
    """Return the places of groups of cuisines on the first axis beside those that the paper sees."""
    g = {name: float(plane.d.g([name])[0, 0]) for name in np.unique(plane.cuisine)}
    groups = {
        "East Asian": ("chinese", "japanese", "korean", "thai", "vietnamese"),
        "Filipino": ("filipino",),
        "Indian": ("indian",),
        "French, Italian": ("french", "italian"),
    }
    means = {name: np.mean([g[c] for c in members if c in g]) for name, members in groups.items()}
    sign = np.sign(means["East Asian"] - means["French, Italian"])
    paper = ("right", "between Indian and Asian", "in between", "left")
    lines = [
        Line(f"g1 of {name}", where, training=float(sign * value))
        for (name, value), where in zip(means.items(), paper, strict=True)
    ]
    order = [name for name, _ in sorted(means.items(), key=lambda item: -sign * item[1])]
    holds = order == list(groups)
    sentence = (
        f"The order on the first axis is {', '.join(order)}: {'as' if holds else 'not quite as'} the paper reads it. "
        "The functions are learned from 80 % of the recipes of the first split; the picture shows the others."
    )
    return Exhibit("Figure 4: recipes, cuisines and ingredients in the first plane", lines, sentence, "-plane")


def run_split(recipes: Any, n: int, seed: int) -> tuple[dict[str, _SplitResult], _Plane]:
    """Fit all methods to the training recipes of one split and evaluate them on the others."""
    order = np.random.default_rng(seed).permutation(len(recipes.cuisine))[:n]
    test, train = np.split(order, [round(TEST_SHARE * n)])
    ingredients = Ingredients(N_INGREDIENTS).fit([recipes.ingredients[i] for i in train])
    X, y = ingredients.transform(recipes.ingredients), recipes.cuisine
    results = {}
    # As labels, for CA: the numbers of the ingredients.
    combinations = np.array([" ".join(map(str, np.flatnonzero(row))) or "nothing" for row in X])
    for name, (_, fit) in METHODS.items():
        inputs = combinations if name == "CA" else X
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a quick run on few recipes has some to tell
            model = fit(inputs[train], y[train], seed)
        seconds = time.perf_counter() - start
        held_out = model.evaluate(inputs[test], y[test])
        d = getattr(model, "decomposition_", model)
        results[name] = _SplitResult(d.correlations, held_out.correlations, held_out.captured, seconds, d.origin)
        if name == "ACE, net":
            counts = X[train].sum(axis=0)
            texts = [", ".join(recipes.ingredients[i]) for i in test]
            plane = _Plane(d, held_out, X[test], y[test], texts, list(ingredients.names_), counts)
    return results, plane


def _average_held_out_sum(results: list[_SplitResult]) -> float:
    return float(np.mean([result.held_out.sum() for result in results]))


def make_csv_rows(name: str, results: list[_SplitResult]) -> list[dict[str, Any]]:
    """Return the lines of the CSV file: one for each split, held out and training, and their sums."""
    return [
        {
            "method": name,
            "split": split,
            "data": data,
            **{f"correlation_{i + 1}": float(value) for i, value in enumerate(values)},
            "sum": float(values.sum()),
            "captured": float(result.captured) if data == "held out" else None,
            "seconds": float(result.seconds),
            "origin": result.origin,
        }
        for split, result in enumerate(results)
        for data, values in (("held out", result.held_out), ("training", result.training))
    ]


def make_correlation_table(results: dict[str, list[_SplitResult]]) -> str:
    header = ["method", "data", *map(str, range(1, N_COMPONENTS + 1)), "sum", "captured", "seconds"]
    lines: list[list[Any]] = []
    for name, of_splits in results.items():
        held_out, training = (np.array([getattr(r, data) for r in of_splits]) for data in ("held_out", "training"))
        captured, seconds = ([getattr(r, data) for r in of_splits] for data in ("captured", "seconds"))
        means = training.mean(axis=0)
        lines += [
            [
                f"**{name}**",
                "held out",
                *(_format_spread(values, 3) for values in held_out.T),
                _format_spread(held_out.sum(axis=1), 2),
                _format_spread(captured, 2),
                f"{np.mean(seconds):.1f}",
            ],
            ["", "training", *(f"{v:.3f}" for v in means), f"{means.sum():.2f}", "", ""],
        ]
    lines += [
        [name, "training", *(f"{v:.3f}" for v in row), f"{sum(row):.2f}", "", ""]
        for name, row in PAPER_CORRELATIONS.items()
    ]
    notes = "\n".join(f"- {name}: {text}." for name, (text, _) in METHODS.items())
    return md.make_section(
        "Correlations of ten components",
        "Mean over the splits, with their standard deviation.",
        md.make_table(header, lines),
        notes,
    )


def _format_spread(values: Any, decimals: int) -> str:
    return f"{np.mean(values):.{decimals}f} ± {np.std(values):.{decimals}f}"


def describe_findings(results: dict[str, list[_SplitResult]], best: str) -> str:
    held_out = np.array([result.held_out for result in results[best]]).mean(axis=0)
    paper = np.array(PAPER_CORRELATIONS["paper: PICE"])
    above = int((held_out > paper).sum())
    chosen = [result.origin.split(":")[0] for result in results["auto"]]
    counts = ", ".join(f"{name} in {chosen.count(name)} of {len(chosen)} splits" for name in dict.fromkeys(chosen))
    pice, auto = (_average_held_out_sum(results[name]) for name in ("PICE", "auto"))
    return (
        f"The best row is {best}: held-out correlations sum to {held_out.sum():.2f} (PICE {pice:.2f}, auto "
        f"{auto:.2f}), where the paper's training values sum to {paper.sum():.2f}; {above} of {N_COMPONENTS} are above "
        f"the paper's. `co.decompose` chose {counts}. {CHOICE_NOTE}"
    )


def describe_plane(plane: _Plane) -> str:
    """Check what the paper reads off its picture in ours."""
    cuisines = np.unique(plane.cuisine)
    g = dict(zip(cuisines, plane.d.g(cuisines), strict=True))
    f = dict(zip(plane.names, plane.d.f(np.eye(len(plane.names))), strict=True))
    first, second = sorted(g, key=lambda name: g[name][0]), sorted(g, key=lambda name: g[name][1])
    lines = [
        f"- The first axis goes from {', '.join(first[:4])} to {', '.join(first[-4:])}; the second from "
        f"{', '.join(second[:3])} to {', '.join(second[-3:])}.",
    ]
    # Directions from the origin: in a symmetric map distances between the sides mean nothing.
    directions = {name: place / np.linalg.norm(place) for name, place in g.items()}
    nearest = {
        name: max(directions, key=lambda cuisine: float(f[name] @ directions[cuisine]))
        for name in SIGNATURE_INGREDIENTS
        if name in f
    }
    if nearest:
        listed = ", ".join(f"{name}: {cuisine.replace('_', ' ')}" for name, cuisine in nearest.items())
        lines.append(f"- Ingredients and the cuisine whose direction is nearest to theirs: {listed}.")
    return md.make_section("What the plane shows", "\n".join(lines))


SIGNATURE_INGREDIENTS = (
    "ginger",
    "soy sauce",
    "corn tortilla",
    "garam masala",
    "curry powder",
    "parmesan cheese",
    "feta cheese",
    "fish sauce",
)


def draw_methods(results: dict[str, list[_SplitResult]]) -> Figure:
    figure, ax = make_panels((11, 5))
    components = np.arange(1, N_COMPONENTS + 1)
    places = np.linspace(-0.36, 0.36, len(results))
    for place, (name, of_splits), (colour, marker) in zip(places, results.items(), co.plot.STYLES, strict=False):
        at = components + place
        held_out, training = (np.array([getattr(r, data) for r in of_splits]) for data in ("held_out", "training"))
        ax.errorbar(at, held_out.mean(0), held_out.std(0), fmt=marker, color=colour, ms=6, lw=1.2, label=name)
        ax.plot(at, training.mean(0), marker, mfc="none", mec=colour, ms=6, alpha=0.7)
    paper = PAPER_CORRELATIONS["paper: PICE"]
    ax.hlines(paper, components - 0.45, components + 0.45, color="0.6", lw=1, zorder=0)
    ax.plot(components, paper, "x", color="0.4", ms=7, label="paper: PICE, training")
    for boundary in components[:-1] + 0.5:
        ax.axvline(boundary, color="0.92", lw=0.8, zorder=0)
    ax.set(xlim=(0.5, N_COMPONENTS + 0.5), xticks=components, xlabel="Component", ylabel="Correlation")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def draw_plane(plane: _Plane) -> Figure:
    alone = np.eye(len(plane.names))  # each ingredient as a recipe of nothing else
    far = np.linalg.norm(plane.d.f(alone) * plane.d.correlations, axis=1)
    chosen = sorted(np.argsort(-plane.counts), key=lambda i: -far[i])[:MAX_INGREDIENTS_SHOWN]
    marks = [plane.names[i] for i in chosen], alone[chosen]
    return draw_alone(
        co.plot.plane,
        (11, 9),
        plane.d,
        X=plane.X,
        Y=np.unique(plane.cuisine),
        classes=plane.cuisine,
        marks=marks,
        names=("recipe", "cuisine", "ingredient"),
    )


def write_explorer_page(plane: _Plane, path: Path) -> co.ExplorerPage:
    return co.explore(
        plane.whole,
        to_frame_or_array(plane.X, plane.names),
        np.unique(plane.cuisine),
        path,
        overwrite=True,
        held_out=plane.held_out,
        classes=plane.cuisine,
        names=("recipe", "cuisine", "ingredient"),
        x_labels=plane.texts,
        marks=(plane.names, np.eye(len(plane.names))),
        title="What's Cooking: recipes and cuisines",
    )
