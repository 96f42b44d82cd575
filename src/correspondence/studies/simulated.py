"""Tables and sentences for problems with exact values, fitted with many seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from correspondence.studies import markdown as md
from correspondence.studies.report import Exhibit, make_component_rows, make_correlation_lines
from correspondence.studies.runs import Runs

__all__ = ["describe_runs", "make_correlation_rows", "make_runs_exhibit", "make_runs_table"]


def make_correlation_rows(runs: Runs, **printed: Sequence[float]) -> list[dict[str, Any]]:
    """Return the lines of the CSV file for one problem: one for each component, and one for their mean error.

    Parameters
    ----------
    runs : Runs
        The lines are about these fits.
    **printed : sequences of float
        These columns hold the numbers that the paper prints for the first components.
    """
    exact = runs.problem.correlations
    columns: dict[str, Any] = {
        name: [*values, *[None] * (len(exact) - len(values))] for name, values in printed.items()
    }
    columns |= {"exact": exact, "exact_pic": exact**2}
    for name, values in (("held_out", runs.held_out), ("training", runs.training)):
        columns |= {name: values.mean(axis=0), f"{name}_low": values.min(axis=0), f"{name}_high": values.max(axis=0)}
    first = {"problem": runs.problem.name}
    rows = make_component_rows(first, columns | {"error": runs.errors}, {})
    return [*rows, dict.fromkeys(rows[0]) | first | {"component": "mean", "error": runs.errors.mean()}]


def make_runs_table(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> str:
    """Return a table of the lines of `make_correlation_rows`; `names` gives the headings of the columns shown."""
    lines = [
        [*(row[name] for name in names), f"{row['held_out_low']:.4f} to {row['held_out_high']:.4f}", row["training"]]
        for row in rows[:-1]
    ]
    return md.make_table([*names.values(), "range over seeds", "ours, training"], lines)


def make_runs_exhibit(name: str, runs: Runs, paper: Sequence[float], sentence: str, picture: str | None) -> Exhibit:
    """Return the mean correlations beside those of the paper and the exact ones."""
    held_out, training = (values.mean(axis=0) for values in (runs.held_out, runs.training))
    lines = make_correlation_lines(held_out, paper=paper, training=training, exact=runs.problem.correlations)
    return Exhibit(name, lines, sentence, picture)


def describe_runs(runs: Runs, paper: str) -> str:
    """Say how close the fits come to the exact values; `paper` says the same of the paper's."""
    return (
        f"On {runs.fresh:,} fresh pairs our values are off the exact ones by {runs.errors.mean():.4f} on average over "
        f"{len(runs.problem.correlations)} components and {runs.seeds_in_words}; {paper}. "
        f"Training values are {runs.optimism:+.4f} from held-out ones on average. "
        f"Each fit saw {runs.n:,} pairs and took {runs.seconds.mean():.2f} seconds."
    )
