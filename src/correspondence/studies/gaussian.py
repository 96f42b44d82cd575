"""Gaussian pair: the lower half of the paper's Table 1, and the figure of its Hermite polynomials."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

import correspondence as co
from correspondence.studies import problems
from correspondence.studies.catalogue import STUDY_TITLES
from correspondence.studies.hermite import hermite_curves
from correspondence.studies.problems import Problem
from correspondence.studies.report import Exhibit, Line, Report, correlation_lines, correlation_rows, markdown_table
from correspondence.studies.runs import Runs, Settings, measure_problem

__all__ = ["STUDY_TITLE", "run_study"]

STUDY_TITLE = STUDY_TITLES["gaussian"]
PAPER_CORRELATIONS = (0.7007, 0.4938, 0.3376, 0.2037)
PAPER_ANALYTIC_VALUES = (0.6977, 0.4675, 0.2979, 0.2113)
STANDARD_DEVIATIONS = {"f": 1.0, "g": sqrt(2)}
"""Standard deviations of X and of Y = X + N(0, 1)."""
GRID_POINTS = np.linspace(-8, 8, 3201)
"""Where functions are compared, in standard deviations: beyond lies a probability of 1e-15."""

ERRATA_SECTION = """\
## What it corrects

- The paper's "analytic values" 0.6977, 0.4675, 0.2979, 0.2113 are values of a sample. The exact correlation of
  X and Y = X + N(0, 1) is 1 / sqrt(2), and that of their i-th principal functions its i-th power, 2^(-i/2).
- What the table calls PICs are these correlations; the PICs are their squares, 2^(-i).
- The parameter of the Hermite polynomials is a variance: f_i = H_i^(1), g_i = H_i^(2), for Y has variance 2.
  The formula as printed gives H_i^(r) the norm r^(-i/2); here all are scaled to variance 1:
  f_i(x) = He_i(x) / sqrt(i!), g_i(y) = He_i(y / sqrt(2)) / sqrt(i!).
- "Held out" is on pairs drawn after the fit, "training" is what the fit itself reports."""

FUNCTIONS_CAPTION = """\
*Black: the exact functions. In colour: ours, a line for each seed, the sign of each pair (f_i, g_i) chosen to agree.
Grey: the density of the margin. Above each panel: the L2 distance under that margin, sqrt(E[(ours - exact)^2]),
averaged over the seeds; 0 is perfect, and a function that has nothing to do with the exact one is at sqrt(2).*"""


@dataclass(frozen=True, eq=False)
class _Curves:
    """Functions of one side on the grid."""

    x: np.ndarray
    exact: np.ndarray
    """Of shape (points, d)."""
    ours: np.ndarray
    """Of shape (seeds, points, d)."""

    @property
    def distances(self) -> np.ndarray:
        """L2 distances under the true margin, of shape (seeds, d)."""
        return np.sqrt(_average_over_margin((self.ours - self.exact) ** 2))


def run_study(settings: Settings) -> Report:
    """Fit, compare correlations with their exact values and functions with Hermite polynomials."""
    runs = measure_problem(problems.make_gaussian(), settings)
    curves = compute_curves(runs)
    rows = make_csv_rows(runs, curves)
    sections = [
        "X is standard normal and Y = X + N(0, 1).",
        make_correlation_section(runs, rows),
        f"## Principal functions\n\n![Principal functions over Hermite polynomials](gaussian.png)\n\n{FUNCTIONS_CAPTION}",
        _make_distance_table(curves),
        ERRATA_SECTION,
    ]
    exhibits = [_make_table_exhibit(runs), make_figure_exhibit(curves)]
    return Report(STUDY_TITLE, rows, "\n\n".join(sections), {"": draw_functions(curves)}, exhibits=exhibits)


def _make_table_exhibit(runs: Runs) -> Exhibit:
    held_out, training = (values.mean(axis=0) for values in (runs.held_out, runs.training))
    exact = runs.problem.correlations
    lines = correlation_lines(held_out, paper=PAPER_CORRELATIONS, training=training, exact=exact)
    return Exhibit("Table 1, lower half: Gaussian pair", lines, describe_findings(runs))


def make_figure_exhibit(curves: dict[str, _Curves]) -> Exhibit:
    lines = [
        Line(f"L2 distance of {side}{i + 1} from the Hermite polynomial", held_out=float(distance), exact=0)
        for side, of_side in curves.items()
        for i, distance in enumerate(of_side.distances.mean(axis=0))
    ]
    mean = np.mean([line.held_out for line in lines])
    sentence = (
        "Functions of variance 1 that have nothing in common are at a distance of 1.414; distances are under the exact "
        f"margin, not on any sample, and {mean:.3f} on average. The paper shows curves without a figure."
    )
    overall = Line("mean L2 distance of eight functions from the Hermite polynomials", held_out=float(mean), exact=0)
    return Exhibit("Figure 3: Hermite polynomials", [overall, *lines], sentence, "")


def compute_curves(runs: Runs) -> dict[str, _Curves]:
    exact = hermite_curves(GRID_POINTS, len(runs.problem.correlations))
    fitted = [_align_signs(_evaluate_on_grid(runs.problem, d), exact) for d in runs.decompositions]
    return {
        side: _Curves(STANDARD_DEVIATIONS[side] * GRID_POINTS, exact, np.array([values[side] for values in fitted]))
        for side in ("f", "g")
    }


def _evaluate_on_grid(problem: Problem, d: co.Decomposition) -> dict[str, np.ndarray]:
    x, y = problem.draw(1, np.random.default_rng(0))  # only to see how a value is shaped
    return {
        "f": d.f((STANDARD_DEVIATIONS["f"] * GRID_POINTS).reshape(-1, *np.shape(x)[1:])),
        "g": d.g((STANDARD_DEVIATIONS["g"] * GRID_POINTS).reshape(-1, *np.shape(y)[1:])),
    }


def _align_signs(values: dict[str, np.ndarray], exact: np.ndarray) -> dict[str, np.ndarray]:
    """The same functions, f_i and g_i turned together so that they agree best with the exact ones."""
    agreement = sum(_average_over_margin(side * exact) for side in values.values())
    return {name: side * np.where(agreement < 0, -1, 1) for name, side in values.items()}


def _average_over_margin(values: np.ndarray) -> np.ndarray:
    """Expectation under the margin of values on the grid, which are along the last axis but one."""
    density = np.exp(-(GRID_POINTS**2) / 2)
    return np.einsum("k,...ki->...i", density / density.sum(), values)


def make_csv_rows(runs: Runs, curves: dict[str, _Curves]) -> list[dict[str, Any]]:
    """Lines of the CSV file: correlations, then the distances of the functions; the last line has means."""
    rows = correlation_rows(runs, paper=PAPER_CORRELATIONS, paper_analytic=PAPER_ANALYTIC_VALUES)
    f, g = (curves[side].distances.mean(axis=0) for side in ("f", "g"))
    distances = [*zip(f, g, strict=True), (f.mean(), g.mean())]
    return [
        {**row, "f_distance": float(a), "g_distance": float(b), "distance": float((a + b) / 2)}
        for row, (a, b) in zip(rows, distances, strict=True)
    ]


def make_correlation_section(runs: Runs, rows: list[dict[str, Any]]) -> str:
    names = ("component", "paper", "paper_analytic", "exact", "held_out")
    header = [
        "component",
        "paper",
        'paper\'s "analytic"',
        "exact",
        "ours, held out",
        "range over seeds",
        "ours, training",
    ]
    lines = [
        [*(row[name] for name in names), f"{row['held_out_low']:.4f} to {row['held_out_high']:.4f}", row["training"]]
        for row in rows[:-1]
    ]
    return f"## Correlations\n\n{markdown_table(header, lines)}\n\n{describe_findings(runs)}"


def describe_findings(runs: Runs) -> str:
    exact = runs.problem.correlations
    paper, analytic = (np.abs(values - exact).mean() for values in (PAPER_CORRELATIONS, PAPER_ANALYTIC_VALUES))
    return (
        f"On {runs.fresh:,} fresh pairs our values are off the exact ones by {runs.errors.mean():.4f} on average over "
        f"{len(exact)} components and {runs.seeds_in_words}; the paper's values are off by {paper:.4f}, and what "
        f"it calls analytic by {analytic:.4f}. Training values are {runs.optimism:+.4f} from held-out ones on average. "
        f"Each fit saw {runs.n:,} pairs and took {runs.seconds.mean():.2f} seconds."
    )


def _make_distance_table(curves: dict[str, _Curves]) -> str:
    f, g = (curves[side].distances for side in ("f", "g"))
    header = ["component", "distance of f", "worst seed", "distance of g", "worst seed"]
    columns = [f.mean(axis=0), f.max(axis=0), g.mean(axis=0), g.max(axis=0)]
    lines = [[i, *map(float, line)] for i, line in enumerate(zip(*columns, strict=True), start=1)]
    return f"{markdown_table(header, lines)}\n\nAveraged over the eight functions: {np.mean([f, g]):.4f}."


def draw_functions(curves: dict[str, _Curves]) -> Figure:
    d = curves["f"].exact.shape[1]
    figure = Figure(figsize=(2.9 * d, 6), layout="constrained")
    panels = figure.subplots(2, d, squeeze=False)
    colours = {"f": co.plot.ROWS, "g": co.plot.COLUMNS}
    for line, (side, colour) in zip(panels, colours.items(), strict=True):
        for i, ax in enumerate(line):
            draw_panel(ax, curves[side], i, colour)
            ax.set_title(f"${side}_{i + 1}$: L2 distance {curves[side].distances[:, i].mean():.3f}", fontsize=11)
            ax.set_xlabel("x" if side == "f" else "y")
        line[0].set_ylabel("$f_i(x)$" if side == "f" else "$g_i(y)$")
    figure.legend(
        handles=_make_legend(colours, len(curves["f"].ours)), loc="outside upper center", ncols=4, frameon=False
    )
    return figure


def draw_panel(ax: Axes, curves: _Curves, i: int, colour: str) -> None:
    """Three standard deviations to each side: what lies beyond has hardly any data."""
    shown = np.abs(GRID_POINTS) <= 3
    x, exact, ours = curves.x[shown], curves.exact[shown, i], curves.ours[:, shown, i]
    density = 0.2 * np.exp(-(GRID_POINTS[shown] ** 2) / 2)
    ax.fill_between(x, 0, density, color="0.88", lw=0, transform=ax.get_xaxis_transform(), zorder=0)
    ax.plot(x, ours.T, color=colour, lw=1.8, alpha=max(0.35, 1 / len(ours)))
    ax.plot(x, exact, color="black", lw=0.9)
    low, high = exact.min(), exact.max()
    ax.set(xlim=(x[0], x[-1]), ylim=(low - 0.15 * (high - low), high + 0.15 * (high - low)))
    ax.spines[["top", "right"]].set_visible(False)


def _make_legend(colours: dict[str, str], seeds: int) -> list[Line2D | Patch]:
    each = "" if seeds == 1 else f", {seeds} seeds"
    return [
        Line2D([], [], color="black", lw=0.9, label="exact (Hermite polynomial)"),
        *(Line2D([], [], color=colour, label=f"ours: {side}{each}") for side, colour in colours.items()),
        Patch(color="0.88", label="density of the margin"),
    ]
