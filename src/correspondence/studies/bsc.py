"""Binary symmetric channel: the upper half of the paper's Table 1, for fair bits and for bits with p = 0.1."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import correspondence as co
from correspondence.studies import problems
from correspondence.studies.catalogue import STUDY_TITLES
from correspondence.studies.report import Exhibit, Report, correlation_lines, correlation_rows, markdown_table
from correspondence.studies.runs import Runs, Settings, measure_problem

__all__ = ["STUDY_TITLE", "run_study"]

STUDY_TITLE = STUDY_TITLES["bsc"]
PAPER_CORRELATIONS = (0.8011, 0.7942, 0.7918, 0.7883)

ERRATA_SECTION = """\
## What it corrects

- The paper's Table 1 calls its numbers PICs, but they are correlations, the square roots of PICs: a channel that flips
  a bit with probability 0.1 has correlation 1 - 2 x 0.1 = 0.8 and PIC 0.64. All columns here but "exact PIC" are
  correlations; in the code, `correlations` are the roots and `pics` the squares.
- The paper's text sets p = 0.1, but its exact values (1 - 2 delta)^k hold for fair bits only, which is also what
  its published code draws (4 of them, 1500 pairs). With p = 0.1 a single bit and its noisy copy have correlation
  (1 - 2 delta) sqrt(p (1 - p) / (q (1 - q))) = 0.6247, where q = p + delta - 2 p delta = 0.18 is the probability of a 1
  in Y; that occurs five times, followed by 0.6247^2 = 0.3902 ten times. So each case stands beside its own exact value.
- The paper's values come from the data that its networks were trained on. "Held out" is on pairs drawn after the fit,
  "training" is what the fit itself reports. Held out, two given functions show the correlation that they really have,
  so but for the noise of the fresh sample none exceeds the largest exact one."""

FIGURE_CAPTION = """\
*Lines are the exact correlations. Dots are ours on fresh pairs, the mean over the seeds, with bars from the smallest to
the largest; rings are the same functions on their training data; crosses are the row that the paper prints,
which its text says is for p = 0.1.*"""


def run_study(settings: Settings) -> Report:
    """Fit both channels and compare."""
    fair = measure_problem(problems.make_bsc(), settings)
    rare = measure_problem(problems.make_bsc(p=0.1, d=5), settings)
    sections = [
        "X are five bits, Y the same bits after a channel that flips each of them with probability 0.1.",
        f"![Exact levels, and ours with the range over the seeds](bsc.png)\n\n{FIGURE_CAPTION}",
        _make_section("Fair bits (p = 0.5)", fair),
        _make_section("Bits that are 1 with probability p = 0.1", rare),
        ERRATA_SECTION,
    ]
    rows = [row for runs in (fair, rare) for row in correlation_rows(runs, paper=PAPER_CORRELATIONS)]
    exhibits = [
        _make_exhibit("Table 1, upper half: bits through a channel, fair bits as in the paper's code", fair),
        _make_exhibit("Table 1, upper half: the same with p = 0.1 as in the paper's text", rare),
    ]
    return Report(STUDY_TITLE, rows, "\n\n".join(sections), {"": _draw_figure(fair, rare)}, exhibits=exhibits)


def _make_exhibit(name: str, runs: Runs) -> Exhibit:
    exact = runs.problem.correlations
    held_out, training = (values.mean(axis=0) for values in (runs.held_out, runs.training))
    return Exhibit(
        name,
        correlation_lines(held_out, paper=PAPER_CORRELATIONS, training=training, exact=exact),
        describe_findings(runs),
        "",
    )


def _make_section(title: str, runs: Runs) -> str:
    header = ["component", "paper", "exact", "exact PIC", "ours, held out", "range over seeds", "ours, training"]
    table = markdown_table(
        header, [_make_table_line(row) for row in correlation_rows(runs, paper=PAPER_CORRELATIONS)[:-1]]
    )
    return f"## {title}\n\n{table}\n\n{describe_findings(runs)}"


def _make_table_line(row: dict[str, Any]) -> list[Any]:
    spread = f"{row['held_out_low']:.4f} to {row['held_out_high']:.4f}"
    return [*(row[name] for name in ("component", "paper", "exact", "exact_pic", "held_out")), spread, row["training"]]


def describe_findings(runs: Runs) -> str:
    exact = runs.problem.correlations
    paper = np.abs(PAPER_CORRELATIONS - exact[: len(PAPER_CORRELATIONS)]).mean()
    return (
        f"On {runs.fresh:,} fresh pairs our values are off the exact ones by {runs.errors.mean():.4f} on average over "
        f"{len(exact)} components and {runs.seeds_in_words}; the paper's four values are off by {paper:.4f}. "
        f"Training values are {runs.optimism:+.4f} from held-out ones on average. "
        f"Each fit saw {runs.n:,} pairs and took {runs.seconds.mean():.2f} seconds."
    )


def _draw_figure(fair: Runs, rare: Runs) -> Figure:
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(15, 7))
    handles = draw_panel(left, fair, "Fair bits (p = 0.5)")
    draw_panel(right, rare, "Bits with p = 0.1")
    left.set_ylabel("Correlation, sqrt(PIC)")
    figure.legend(handles=handles, loc="outside upper center", ncols=4, frameon=False)
    return figure


def draw_panel(ax: Axes, runs: Runs, title: str) -> list[Any]:
    """Draw one panel and return what the legend is to show, in its order."""
    exact = runs.problem.correlations
    component = np.arange(1, len(exact) + 1)
    ax.set(title=title, xlabel="Component", xlim=(0.3, len(exact) + 0.7), xticks=component)
    ax.spines[["top", "right"]].set_visible(False)
    rings = component + 0.18, runs.training.mean(axis=0)
    return [
        ax.stairs(exact, np.arange(len(exact) + 1) + 0.5, baseline=None, color="black", label="exact"),
        _draw_held_out(ax, component - 0.18, runs.held_out),
        ax.scatter(*rings, s=24, facecolors="none", edgecolors=co.plot.COLUMNS, label="ours, training"),
        ax.scatter(
            component[: len(PAPER_CORRELATIONS)],
            PAPER_CORRELATIONS,
            marker="x",
            s=26,
            color=co.plot.GREY,
            label="printed in the paper",
        ),
    ]


def _draw_held_out(ax: Axes, x: np.ndarray, values: np.ndarray) -> Any:
    mean = values.mean(axis=0)
    spread = [mean - values.min(axis=0), values.max(axis=0) - mean]
    label = "ours, held out" if len(values) == 1 else f"ours, held out (range of {len(values)} seeds)"
    return ax.errorbar(x, mean, spread, fmt="o", color=co.plot.ROWS, ms=4.5, capsize=2.5, label=label)
