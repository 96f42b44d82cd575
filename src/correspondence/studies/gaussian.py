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
from correspondence.studies import markdown as md
from correspondence.studies import problems
from correspondence.studies.hermite import GRID_POINTS, align_signs, average_over_margin, compute_hermite_curves
from correspondence.studies.report import Exhibit, Line, Report, make_panels
from correspondence.studies.runs import Runs, Settings, measure_problem
from correspondence.studies.simulated import describe_runs, make_correlation_rows, make_runs_exhibit, make_runs_table

__all__ = ["run_study"]

PAPER_CORRELATIONS = (0.7007, 0.4938, 0.3376, 0.2037)
PAPER_ANALYTIC_VALUES = (0.6977, 0.4675, 0.2979, 0.2113)
STANDARD_DEVIATIONS = {"f": 1.0, "g": sqrt(2)}
"""Standard deviations of X and of Y = X + N(0, 1)."""
COLUMN_HEADINGS = {
    "component": "component",
    "paper": "paper",
    "paper_analytic": 'paper\'s "analytic"',
    "exact": "exact",
    "held_out": "ours, held out",
}

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
    """Shape (points, d)."""
    ours: np.ndarray
    """Shape (seeds, points, d)."""

    @property
    def distances(self) -> np.ndarray:
        """L2 distances under the true margin, of shape (seeds, d)."""
        return np.sqrt(average_over_margin((self.ours - self.exact) ** 2))


def run_study(settings: Settings) -> Report:
    """Fit, compare correlations with their exact values and functions with Hermite polynomials."""
    runs = measure_problem(problems.make_gaussian(), settings)
    curves = compute_curves(runs)
    rows = make_csv_rows(runs, curves)
    findings = describe_findings(runs)
    picture = md.show_picture("Principal functions over Hermite polynomials", "gaussian.png", FUNCTIONS_CAPTION)
    sections = [
        "X is standard normal and Y = X + N(0, 1).",
        md.make_section("Correlations", make_runs_table(rows, COLUMN_HEADINGS), findings),
        md.make_section("Principal functions", picture),
        make_distance_table(curves),
        ERRATA_SECTION,
    ]
    exhibits = [
        make_runs_exhibit("Table 1, lower half: Gaussian pair", runs, PAPER_CORRELATIONS, findings, None),
        make_figure_exhibit(curves),
    ]
    return Report(rows, sections, {"": draw_functions(curves)}, {}, exhibits)


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
    exact = compute_hermite_curves(GRID_POINTS, len(runs.problem.correlations))
    grids = {side: scale * GRID_POINTS for side, scale in STANDARD_DEVIATIONS.items()}
    fitted = np.array(
        [
            align_signs(np.array([d.f(grids["f"][:, None]), d.g(grids["g"][:, None])]), exact)
            for d in runs.decompositions
        ]
    )
    return {side: _Curves(grid, exact, fitted[:, i]) for i, (side, grid) in enumerate(grids.items())}


def make_csv_rows(runs: Runs, curves: dict[str, _Curves]) -> list[dict[str, Any]]:
    """Return the lines of the CSV file: correlations, then the distances of the functions; the last line has means."""
    rows = make_correlation_rows(runs, paper=PAPER_CORRELATIONS, paper_analytic=PAPER_ANALYTIC_VALUES)
    f, g = (curves[side].distances.mean(axis=0) for side in ("f", "g"))
    distances = [*zip(f, g, strict=True), (f.mean(), g.mean())]
    return [
        {**row, "f_distance": float(a), "g_distance": float(b), "distance": float((a + b) / 2)}
        for row, (a, b) in zip(rows, distances, strict=True)
    ]


def describe_findings(runs: Runs) -> str:
    exact = runs.problem.correlations
    paper, analytic = (np.abs(values - exact).mean() for values in (PAPER_CORRELATIONS, PAPER_ANALYTIC_VALUES))
    return describe_runs(
        runs, f"the paper's values are off by {paper:.4f}, and what it calls analytic by {analytic:.4f}"
    )


def make_distance_table(curves: dict[str, _Curves]) -> str:
    f, g = (curves[side].distances for side in ("f", "g"))
    header = ["component", "distance of f", "worst seed", "distance of g", "worst seed"]
    columns = zip(f.mean(axis=0), f.max(axis=0), g.mean(axis=0), g.max(axis=0), strict=True)
    table = md.make_table(header, [[i, *line] for i, line in enumerate(columns, start=1)])
    return f"{table}\n\nAveraged over the eight functions: {np.mean([f, g]):.4f}."


def draw_functions(curves: dict[str, _Curves]) -> Figure:
    d = curves["f"].exact.shape[1]
    figure, panels = make_panels((2.9 * d, 6), 2, d, squeeze=False)
    colours = {"f": co.plot.ROWS, "g": co.plot.COLUMNS}
    for line, (side, colour) in zip(panels, colours.items(), strict=True):
        for i, ax in enumerate(line):
            draw_panel(ax, curves[side], i, colour)
            ax.set_title(f"${side}_{i + 1}$: L2 distance {curves[side].distances[:, i].mean():.3f}", fontsize=11)
            ax.set_xlabel("x" if side == "f" else "y")
        line[0].set_ylabel("$f_i(x)$" if side == "f" else "$g_i(y)$")
    seeds = len(curves["f"].ours)
    each = "" if seeds == 1 else f", {seeds} seeds"
    handles = [
        Line2D([], [], color="black", lw=0.9, label="exact (Hermite polynomial)"),
        *(Line2D([], [], color=colour, label=f"ours: {side}{each}") for side, colour in colours.items()),
        Patch(color="0.88", label="density of the margin"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=4, frameon=False)
    return figure


def draw_panel(ax: Axes, curves: _Curves, i: int, colour: str) -> None:
    """Draw three standard deviations to each side: what lies beyond has hardly any data."""
    shown = np.abs(GRID_POINTS) <= 3
    x, exact, ours = curves.x[shown], curves.exact[shown, i], curves.ours[:, shown, i]
    density = 0.2 * np.exp(-(GRID_POINTS[shown] ** 2) / 2)
    ax.fill_between(x, 0, density, color="0.88", lw=0, transform=ax.get_xaxis_transform(), zorder=0)
    ax.plot(x, ours.T, color=colour, lw=1.8, alpha=max(0.35, 1 / len(ours)))
    ax.plot(x, exact, color="black", lw=0.9)
    low, high = exact.min(), exact.max()
    ax.set(xlim=(x[0], x[-1]), ylim=(low - 0.15 * (high - low), high + 0.15 * (high - low)))
    ax.spines[["top", "right"]].set_visible(False)
