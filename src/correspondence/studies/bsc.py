"""Binary symmetric channel: the upper half of the paper's Table 1, for fair bits and for bits with p = 0.1."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import correspondence as co
from correspondence.studies import markdown as md
from correspondence.studies import problems
from correspondence.studies.report import Report, make_panels
from correspondence.studies.runs import Runs, Settings, measure_problem
from correspondence.studies.simulated import describe_runs, make_correlation_rows, make_runs_exhibit, make_runs_table

__all__ = ["run_study"]

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
COLUMN_HEADINGS = {
    "component": "component",
    "paper": "paper",
    "exact": "exact",
    "exact_pic": "exact PIC",
    "held_out": "ours, held out",
}


def run_study(settings: Settings) -> Report:
    """Fit both channels and compare."""
    channels = {
        "Fair bits (p = 0.5)": measure_problem(problems.make_bsc(), settings),
        "Bits that are 1 with probability p = 0.1": measure_problem(problems.make_bsc(p=0.1, d=5), settings),
    }
    fair, rare = channels.values()
    rows = {title: make_correlation_rows(runs, paper=PAPER_CORRELATIONS) for title, runs in channels.items()}
    sections = [
        "X are five bits, Y the same bits after a channel that flips each of them with probability 0.1.",
        md.show_picture("Exact levels, and ours with the range over the seeds", "bsc.png", FIGURE_CAPTION),
        *(
            md.make_section(title, make_runs_table(rows[title], COLUMN_HEADINGS), describe_findings(runs))
            for title, runs in channels.items()
        ),
        ERRATA_SECTION,
    ]
    exhibits = [
        make_runs_exhibit(f"Table 1, upper half: {name}", runs, PAPER_CORRELATIONS, describe_findings(runs), "")
        for name, runs in (
            ("bits through a channel, fair bits as in the paper's code", fair),
            ("the same with p = 0.1 as in the paper's text", rare),
        )
    ]
    return Report([row for own in rows.values() for row in own], sections, {"": draw_figure(fair, rare)}, {}, exhibits)


def describe_findings(runs: Runs) -> str:
    off = np.abs(PAPER_CORRELATIONS - runs.problem.correlations[: len(PAPER_CORRELATIONS)]).mean()
    return describe_runs(runs, f"the paper's four values are off by {off:.4f}")


def draw_figure(fair: Runs, rare: Runs) -> Figure:
    figure, (left, right) = make_panels((10, 4.4), 1, 2, sharey=True, width_ratios=(15, 7))
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
    mean = runs.held_out.mean(axis=0)
    spread = [mean - runs.held_out.min(axis=0), runs.held_out.max(axis=0) - mean]
    seeds = len(runs.held_out)
    label = "ours, held out" if seeds == 1 else f"ours, held out (range of {seeds} seeds)"
    rings = component + 0.18, runs.training.mean(axis=0)
    crosses = component[: len(PAPER_CORRELATIONS)], PAPER_CORRELATIONS
    return [
        ax.stairs(exact, np.arange(len(exact) + 1) + 0.5, baseline=None, color="black", label="exact"),
        ax.errorbar(component - 0.18, mean, spread, fmt="o", color=co.plot.ROWS, ms=4.5, capsize=2.5, label=label),
        ax.scatter(*rings, s=24, facecolors="none", edgecolors=co.plot.COLUMNS, label="ours, training"),
        ax.scatter(*crosses, marker="x", s=26, color=co.plot.GREY, label="printed in the paper"),
    ]
