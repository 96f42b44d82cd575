"""Number of shared components: how often `latent_dimension` is right where the number is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from tqdm import tqdm

import correspondence as co
from correspondence.studies.catalogue import STUDY_TITLES
from correspondence.studies.report import Exhibit, Line, Report, markdown_table
from correspondence.studies.runs import Settings

__all__ = ["STUDY_TITLE", "run_study"]

STUDY_TITLE = STUDY_TITLES["latent"]
CLASS_COUNTS = range(2, 13)
LATENT_DIMENSIONS = range(7)
CLASS_SEPARATIONS = (0.5, 0.7, 1.0, 1.5, 2.0)
PAIR_COUNTS = (300, 1000, 3000, 10000)
N_HARD_CLASSES = 6
"""Classes of the problem that is made harder and harder."""

Pair = tuple[Any, Any]


@dataclass(frozen=True, eq=False)
class _LatentProblem:
    """Pairs that share a known number of components."""

    kind: str
    setting: str
    """What distinguishes it from others of its kind, such as the number of classes."""
    true: int
    n: int
    est: Any
    draw: Callable[[int, np.random.Generator], Pair]


@dataclass(frozen=True, eq=False)
class _ProblemRuns:
    """What was found in all runs of a problem."""

    problem: _LatentProblem
    results: list[co.LatentDimension]

    @property
    def numbers(self) -> np.ndarray:
        return np.array([result.n_components for result in self.results])

    @property
    def right(self) -> float:
        return float((self.numbers == self.problem.true).mean())

    @property
    def coverage(self) -> float:
        """How often the interval has the true number in it."""
        return float(np.mean([low <= self.problem.true <= high for low, high in (r.interval for r in self.results)]))

    def make_csv_row(self) -> dict[str, Any]:
        """Line of the CSV file."""
        problem, true = self.problem, self.problem.true
        return {
            "problem": problem.kind,
            "setting": problem.setting,
            "estimator": type(problem.est).__name__,
            "pairs": problem.n,
            "true": true,
            "runs": len(self.results),
            "right": self.right,
            "too_few": float((self.numbers < true).mean()),
            "too_many": float((self.numbers > true).mean()),
            "mean_found": float(self.numbers.mean()),
            "interval_covers": self.coverage,
            "interval_width": float(np.mean([np.diff(result.interval)[0] for result in self.results])),
        }


def run_study(settings: Settings) -> Report:
    """Count components in many data sets, and see where the count begins to be too low."""
    known = [
        _measure_problem(problem, settings) for problem in choose_problems(list(iterate_known_problems()), settings)
    ]
    hard = [_measure_problem(problem, settings) for problem in choose_problems(list(iterate_hard_problems()), settings)]
    example = next(found for found in known if found.problem.true == N_HARD_CLASSES - 1)
    sections = [
        f"Each line: {settings.seeds} data sets, drawn anew, `alpha` 0.05. An estimator looks for four components more "
        "than there are if it can, and for ten in unrelated views.",
        f"![Found and true numbers](latent.png)\n\n{FIGURE_CAPTION}",
        make_known_table(known),
        f"## Where it finds too few\n\n{_hard_text()}\n\n{_make_hard_table(hard)}",
        f"## One of the answers\n\n![Correlations of one data set](latent-example.png)\n\n{EXAMPLE_CAPTION}",
        f"```\n{example.results[0]!r}\n```",
    ]
    figures = {"": _draw_figure(known, hard), "-example": _draw_example(example.results[0])}
    rows = [found.make_csv_row() for found in [*known, *hard]]
    return Report(STUDY_TITLE, rows, "\n\n".join(sections), figures, exhibits=[make_exhibit(known)])


def make_exhibit(known: list[_ProblemRuns]) -> Exhibit:
    right = [found.right for found in known]
    kinds = dict.fromkeys(found.problem.kind for found in known)
    lines = [
        Line("share of runs that find the right number", held_out=float(np.mean(right)), exact=1),
        *(
            Line(f"share of right runs, {kind}", held_out=float(np.mean(shares)), exact=1)
            for kind in kinds
            for shares in [[found.right for found in known if found.problem.kind == kind]]
        ),
    ]
    sentence = (
        "The paper looks for a drop of the PICs by eye; `co.latent_dimension` tests each component "
        f"against chance. On {sum(r >= 0.95 for r in right)} of {len(right)} problems at least "
        "95 % of the runs are right."
    )
    return Exhibit("Beyond the paper: the number of components, where it is known", lines, sentence, "")


FIGURE_CAPTION = """\
*Left: numbers found; the area of a circle is its share of the runs, and the line is the truth. Right: share
of right answers for six overlapping classes; the further apart they are and the more pairs there are, the better.*"""

EXAMPLE_CAPTION = """\
*Filled: held-out correlations with 95 % intervals. Hollow: those of the training, which never fall to zero. Grey: where
chance keeps them. The cut is before the first that chance explains.*"""


def choose_problems(problems: list[_LatentProblem], settings: Settings) -> list[_LatentProblem]:
    """All, or in a quick run the smaller ones."""
    return [p for p in problems if p.n <= 1000 and p.true in (0, 1, N_HARD_CLASSES - 1)] if settings.quick else problems


def _measure_problem(problem: _LatentProblem, settings: Settings) -> _ProblemRuns:
    results = []
    text = f"{problem.kind}, {problem.setting}"
    for seed in tqdm(range(settings.seeds), desc=text, unit="data set", disable=None):
        X, Y = problem.draw(problem.n, np.random.default_rng([seed, problem.true, problem.n]))
        results.append(co.latent_dimension(problem.est, X, Y, random_state=seed, progress=False))
    return _ProblemRuns(problem, results)


# --- problems


def iterate_known_problems() -> Iterator[_LatentProblem]:
    for m in CLASS_COUNTS:
        most = m + 3
        setting = f"{m} classes"
        yield _LatentProblem(
            "Gaussian classes, 20 columns", setting, m - 1, 1000, co.CCA(most), _make_gaussian_classes(m, 20, 1.5)
        )
        yield _LatentProblem("classes on a line, 1 column", setting, m - 1, 1000, co.ACE(most), _make_line_classes(m))
        yield _LatentProblem(
            "classes on a circle, 2 columns", setting, m - 1, 800, co.KernelCCA(most), _make_circle_classes(m)
        )
        yield _LatentProblem(
            "classes seen as labels, with errors", setting, m - 1, 1000, co.CA(most), _make_label_classes(m)
        )
    for k in LATENT_DIMENSIONS:
        yield _LatentProblem(
            "Gaussian latent, 15 columns", f"dimension {k}", k, 1000, co.CCA(k + 4), _make_latent_variables(k)
        )
    for setting, est, draw in (
        ("Gaussian", co.CCA(10), _make_independent_views(lambda rng, n: rng.normal(size=(n, 10)))),
        ("Gaussian", co.ACE(10), _make_independent_views(lambda rng, n: rng.normal(size=(n, 5)))),
        ("Gaussian", co.KernelCCA(10), _make_independent_views(lambda rng, n: rng.normal(size=(n, 5)))),
        ("heavy tails", co.CCA(10), _make_independent_views(lambda rng, n: rng.standard_t(2, size=(n, 10)))),
        ("counts", co.ACE(10), _make_independent_views(lambda rng, n: rng.poisson(0.5, size=(n, 5)).astype(float))),
        ("labels", co.CA(10), _make_independent_views(lambda rng, n: _to_labels(rng.integers(12, size=n)))),
    ):
        yield _LatentProblem("unrelated", setting, 0, 500, est, draw)


def iterate_hard_problems() -> Iterator[_LatentProblem]:
    for separation in CLASS_SEPARATIONS:
        for n in PAIR_COUNTS:
            draw = _make_gaussian_classes(N_HARD_CLASSES, 10, separation)
            yield _LatentProblem(
                "overlapping classes", f"separation {separation:g}", N_HARD_CLASSES - 1, n, co.CCA(10), draw
            )


def _make_gaussian_classes(m: int, columns: int, separation: float) -> Callable[[int, np.random.Generator], Pair]:
    """Each view is Gaussian around means that are drawn anew for the class."""

    def draw(n: int, rng: np.random.Generator) -> Pair:
        w = rng.integers(m, size=n)
        x, y = (separation * rng.normal(size=(m, columns))[w] + rng.normal(size=(n, columns)) for _ in range(2))
        return x, y

    return draw


def _make_line_classes(m: int) -> Callable[[int, np.random.Generator], Pair]:
    """Classes in another order in each view, three standard deviations apart."""

    def draw(n: int, rng: np.random.Generator) -> Pair:
        w = rng.integers(m, size=n)
        x, y = (3.0 * rng.permutation(m)[w][:, None] + rng.normal(size=(n, 1)) for _ in range(2))
        return x, y

    return draw


def _make_circle_classes(m: int) -> Callable[[int, np.random.Generator], Pair]:
    """Classes around a circle of radius 8, in another order in each view, with noise of variance 1."""

    def draw(n: int, rng: np.random.Generator) -> Pair:
        w = rng.integers(m, size=n)
        angles = [2 * np.pi / m * rng.permutation(m)[w] for _ in range(2)]
        x, y = (8 * np.column_stack([np.cos(a), np.sin(a)]) + rng.normal(size=(n, 2)) for a in angles)
        return x, y

    return draw


def _make_label_classes(m: int) -> Callable[[int, np.random.Generator], Pair]:
    """Each view sees the class, or in 30 % of the cases one of 16 labels at random."""

    def draw(n: int, rng: np.random.Generator) -> Pair:
        w = rng.integers(m, size=n)
        x, y = (_to_labels(np.where(rng.random(n) < 0.3, rng.integers(16, size=n), w)) for _ in range(2))
        return x, y

    return draw


def _to_labels(codes: np.ndarray) -> np.ndarray:
    return codes.astype(str).astype(object)


def _make_latent_variables(k: int) -> Callable[[int, np.random.Generator], Pair]:
    """Each view are 15 columns, k directions of which carry the latent variables, with noise of variance 1."""

    def draw(n: int, rng: np.random.Generator) -> Pair:
        z = rng.normal(size=(n, k))
        x, y = (z @ np.linalg.qr(rng.normal(size=(15, 15)))[0][:k] + rng.normal(size=(n, 15)) for _ in range(2))
        return x, y

    return draw


def _make_independent_views(
    side: Callable[[np.random.Generator, int], Any],
) -> Callable[[int, np.random.Generator], Pair]:
    return lambda n, rng: (side(rng, n), side(rng, n))


# --- report


def make_known_table(known: list[_ProblemRuns]) -> str:
    header = ["problem", "estimator", "pairs", "", "true", "right", "found on average", "interval covers"]
    lines = [
        [
            p.kind,
            type(p.est).__name__,
            p.n,
            p.setting,
            p.true,
            _format_share(f.right),
            f"{f.numbers.mean():.2f}",
            _format_share(f.coverage),
        ]
        for f in sorted(known, key=lambda found: found.problem.kind)
        for p in [f.problem]
    ]
    right = [found.right for found in known]
    return (
        f"## Right answers\n\nIn {sum(r >= 0.95 for r in right)} of {len(right)} problems at least 95 % of the runs "
        f"are right; over all, {100 * np.mean(right):.1f} %. Too many are found in "
        f"{100 * np.mean([found.make_csv_row()['too_many'] for found in known]):.1f} % of the runs.\n\n"
        f"{markdown_table(header, lines)}"
    )


def _hard_text() -> str:
    return (
        f"{N_HARD_CLASSES} classes in 10 columns, so {N_HARD_CLASSES - 1} components; their means are Gaussian with the standard deviation "
        "(separation) on the left, around noise of variance 1. Shares of right answers, and the mean number found."
    )


def _make_hard_table(hard: list[_ProblemRuns]) -> str:
    cells = {(found.problem.setting, found.problem.n): found for found in hard}
    pairs = sorted({n for _, n in cells})
    lines = [
        [setting, *(_format_cell(cells.get((setting, n))) for n in pairs)]
        for setting in dict.fromkeys(setting for setting, _ in cells)
    ]
    return markdown_table(["", *(f"{n:,} pairs" for n in pairs)], lines)


def _format_cell(found: _ProblemRuns | None) -> str | None:
    return None if found is None else f"{_format_share(found.right)} ({found.numbers.mean():.1f})"


def _format_share(value: float) -> str:
    return f"{100 * value:.0f} %"


def _draw_figure(known: list[_ProblemRuns], hard: list[_ProblemRuns]) -> Figure:
    figure = Figure(figsize=(12, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_known_problems(left, known)
    draw_hard_problems(right, hard)
    return figure


def _draw_example(result: co.LatentDimension) -> Figure:
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    co.plot.dimension(result, figure.subplots())
    return figure


def draw_known_problems(ax: Axes, known: list[_ProblemRuns]) -> None:
    kinds = dict.fromkeys(found.problem.kind for found in known)
    places = dict(zip(kinds, np.linspace(-0.3, 0.3, len(kinds)), strict=True))
    top = max(found.problem.true for found in known)
    ax.plot([-0.5, top + 0.5], [-0.5, top + 0.5], color=co.plot.GREY, lw=0.8, zorder=0)
    for kind, (colour, _) in zip(kinds, co.plot.STYLES, strict=False):
        points = _count_shares([found for found in known if found.problem.kind == kind])
        x, y = np.array(list(points)).T
        ax.scatter(x + places[kind], y, [60 * share for share in points.values()], color=colour, alpha=0.8, lw=0)
        ax.scatter([], [], 60, color=colour, alpha=0.8, lw=0, label=kind)
    ax.set_xticks(range(top + 1))
    ax.set_yticks(range(top + 2))
    ax.set_xlabel("True number of components")
    ax.set_ylabel("Number found")
    ax.legend(frameon=False, fontsize=8)
    ax.spines[["top", "right"]].set_visible(False)


def _count_shares(found: list[_ProblemRuns]) -> dict[tuple[int, int], float]:
    """Share of the runs with the same true number, for each true number and each number found."""
    runs = Counter((f.problem.true, int(number)) for f in found for number in f.numbers)
    of_true = Counter(f.problem.true for f in found for _ in f.numbers)
    return {(true, number): count / of_true[true] for (true, number), count in runs.items()}


def draw_hard_problems(ax: Axes, hard: list[_ProblemRuns]) -> None:
    for n, (colour, marker) in zip(sorted({found.problem.n for found in hard}), co.plot.STYLES, strict=False):
        of_n = [found for found in hard if found.problem.n == n]
        x = [float(found.problem.setting.split()[-1]) for found in of_n]
        ax.plot(x, [found.right for found in of_n], marker=marker, color=colour, label=f"{n:,} pairs")
    ax.axhline(0.95, color=co.plot.GREY, lw=0.8, ls="--")
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel("Separation of the classes")
    ax.set_ylabel("Share of right answers")
    ax.legend(frameon=False, fontsize=8)
    ax.spines[["top", "right"]].set_visible(False)
