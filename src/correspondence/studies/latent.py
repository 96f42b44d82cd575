"""Number of shared components: how often `latent_dimension` is right where the number is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from tqdm import tqdm

import correspondence as co
from correspondence.studies import markdown as md
from correspondence.studies.report import Exhibit, Line, Report, draw_alone, make_panels
from correspondence.studies.runs import Settings

__all__ = ["run_study"]

CLASS_COUNTS = range(2, 13)
LATENT_DIMENSIONS = range(7)
CLASS_SEPARATIONS = (0.5, 0.7, 1.0, 1.5, 2.0)
PAIR_COUNTS = (300, 1000, 3000, 10000)
N_HARD_CLASSES = 6
"""Classes of the problem that is made harder and harder."""

Draw = Callable[[int, np.random.Generator], tuple[Any, Any]]


@dataclass(frozen=True, eq=False)
class _LatentProblem:
    """Pairs that share a known number of components."""

    kind: str
    setting: str
    """What distinguishes it from others of its kind, such as the number of classes."""
    true: int
    n: int
    est: Any
    draw: Draw


@dataclass(frozen=True, eq=False)
class _ProblemRuns:
    """Numbers of components found in all runs of a problem."""

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
        """Share of the intervals that hold the true number."""
        return float(np.mean([low <= self.problem.true <= high for low, high in (r.interval for r in self.results)]))

    def make_csv_row(self) -> dict[str, Any]:
        """Return a line of the CSV file."""
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
    known, hard = (
        [_measure_problem(problem, settings) for problem in choose_problems(list(problems), settings)]
        for problems in (iterate_known_problems(), iterate_hard_problems())
    )
    example = next(found for found in known if found.problem.true == N_HARD_CLASSES - 1)
    hard_note = (
        f"{N_HARD_CLASSES} classes in 10 columns, so {N_HARD_CLASSES - 1} components; their means are Gaussian with "
        "the standard deviation (separation) on the left, around noise of variance 1. Shares of right answers, and the "
        "mean number found."
    )
    picture = md.show_picture("Correlations of one data set", "latent-example.png", EXAMPLE_CAPTION)
    sections = [
        f"Each line: {settings.seeds} new data sets, `alpha` 0.05. An estimator looks for four components more than "
        "there are if it can, and for ten in unrelated views.",
        md.show_picture("Found and true numbers", "latent.png", FIGURE_CAPTION),
        make_known_table(known),
        md.make_section("Where it finds too few", hard_note, make_hard_table(hard)),
        md.make_section("One of the answers", picture),
        f"```\n{example.results[0]!r}\n```",
    ]
    figure, (left, right) = make_panels((12, 5), 1, 2)
    draw_known_problems(left, known)
    draw_hard_problems(right, hard)
    one = draw_alone(co.plot.dimension, (8, 4.5), example.results[0])
    rows = [found.make_csv_row() for found in [*known, *hard]]
    return Report(rows, sections, {"": figure, "-example": one}, exhibits=[make_exhibit(known)])


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
    """Return all problems, or in a quick run the smaller ones."""
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
        for kind, n, method, draw in (
            ("Gaussian classes, 20 columns", 1000, co.CCA, make_gaussian_classes(m, 20, 1.5)),
            ("classes on a line, 1 column", 1000, co.ACE, make_line_classes(m)),
            ("classes on a circle, 2 columns", 800, co.KernelCCA, make_circle_classes(m)),
            ("classes seen as labels, with errors", 1000, co.CA, make_label_classes(m)),
        ):
            yield _LatentProblem(kind, f"{m} classes", m - 1, n, method(m + 3), draw)
    for k in LATENT_DIMENSIONS:
        setting, draw = f"dimension {k}", make_latent_variables(k)
        yield _LatentProblem("Gaussian latent, 15 columns", setting, k, 1000, co.CCA(k + 4), draw)
    for setting, est, side in (
        ("Gaussian", co.CCA(10), lambda rng, n: rng.normal(size=(n, 10))),
        ("Gaussian", co.ACE(10), lambda rng, n: rng.normal(size=(n, 5))),
        ("Gaussian", co.KernelCCA(10), lambda rng, n: rng.normal(size=(n, 5))),
        ("heavy tails", co.CCA(10), lambda rng, n: rng.standard_t(2, size=(n, 10))),
        ("counts", co.ACE(10), lambda rng, n: rng.poisson(0.5, size=(n, 5)).astype(float)),
        ("labels", co.CA(10), lambda rng, n: _to_labels(rng.integers(12, size=n))),
    ):
        draw = _see_twice(lambda rng, n: n, side)  # nothing is shared but the number of pairs
        yield _LatentProblem("unrelated", setting, 0, 500, est, draw)


def iterate_hard_problems() -> Iterator[_LatentProblem]:
    true, est = N_HARD_CLASSES - 1, co.CCA(10)
    for separation in CLASS_SEPARATIONS:
        draw = make_gaussian_classes(N_HARD_CLASSES, 10, separation)
        for n in PAIR_COUNTS:
            yield _LatentProblem("overlapping classes", f"separation {separation:g}", true, n, est, draw)


def _see_twice(
    share: Callable[[np.random.Generator, int], Any], see: Callable[[np.random.Generator, Any], Any]
) -> Draw:
    """Draw what both views share, and then each view of it."""

    def draw(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        shared = share(rng, n)
        return see(rng, shared), see(rng, shared)

    return draw


def _draw_classes(m: int) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda rng, n: rng.integers(m, size=n)


def make_gaussian_classes(m: int, columns: int, separation: float) -> Draw:
    """Make views that are Gaussian around means drawn for each class and view."""
    return _see_twice(
        _draw_classes(m),
        lambda rng, w: separation * rng.normal(size=(m, columns))[w] + rng.normal(size=(len(w), columns)),
    )


def make_line_classes(m: int) -> Draw:
    """Put classes on a line, in another order in each view, three standard deviations apart."""
    return _see_twice(
        _draw_classes(m), lambda rng, w: 3.0 * rng.permutation(m)[w][:, None] + rng.normal(size=(len(w), 1))
    )


def make_circle_classes(m: int) -> Draw:
    """Put classes on a circle of radius 8, in another order in each view, with noise of variance 1."""

    def draw(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        w = rng.integers(m, size=n)
        angles = [2 * np.pi / m * rng.permutation(m)[w] for _ in range(2)]
        x, y = (8 * np.column_stack([np.cos(a), np.sin(a)]) + rng.normal(size=(n, 2)) for a in angles)
        return x, y

    return draw


def make_label_classes(m: int) -> Draw:
    """Make views that show the class, or in 30 % of the cases one of 16 labels at random."""
    return _see_twice(
        _draw_classes(m),
        lambda rng, w: _to_labels(np.where(rng.random(len(w)) < 0.3, rng.integers(16, size=len(w)), w)),
    )


def make_latent_variables(k: int) -> Draw:
    """Make views of 15 columns; k of their directions carry the latent variables, with noise of variance 1."""
    return _see_twice(
        lambda rng, n: rng.normal(size=(n, k)),
        lambda rng, z: z @ np.linalg.qr(rng.normal(size=(15, 15)))[0][:k] + rng.normal(size=(len(z), 15)),
    )


def _to_labels(codes: np.ndarray) -> np.ndarray:
    return codes.astype(str).astype(object)


# --- report


def make_known_table(known: list[_ProblemRuns]) -> str:
    rows = [found.make_csv_row() for found in known]
    header = ["problem", "estimator", "pairs", "", "true", "right", "found on average", "interval covers"]
    lines = [
        [
            *(row[name] for name in ("problem", "estimator", "pairs", "setting", "true")),
            f"{100 * row['right']:.0f} %",
            f"{row['mean_found']:.2f}",
            f"{100 * row['interval_covers']:.0f} %",
        ]
        for row in sorted(rows, key=lambda row: row["problem"])
    ]
    right, too_many = ([row[name] for row in rows] for name in ("right", "too_many"))
    return md.make_section(
        "Right answers",
        f"In {sum(r >= 0.95 for r in right)} of {len(right)} problems at least 95 % of the runs are right; over all, "
        f"{100 * np.mean(right):.1f} %. Too many are found in {100 * np.mean(too_many):.1f} % of the runs.",
        md.make_table(header, lines),
    )


def make_hard_table(hard: list[_ProblemRuns]) -> str:
    cells = {
        (found.problem.setting, found.problem.n): f"{100 * found.right:.0f} % ({found.numbers.mean():.1f})"
        for found in hard
    }
    pairs = sorted({n for _, n in cells})
    settings = dict.fromkeys(setting for setting, _ in cells)
    lines = [[setting, *(cells.get((setting, n)) for n in pairs)] for setting in settings]
    return md.make_table(["", *(f"{n:,} pairs" for n in pairs)], lines)


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
    """Return the share of each number found among the runs with each true number."""
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
