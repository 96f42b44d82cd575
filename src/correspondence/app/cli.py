"""The command line: ``correspondence analyze``, ``train``, ``embed``, ``compare``, ``demo`` and ``reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import matplotlib
import matplotlib.pyplot as plt

from correspondence import Comparison, __version__, compare, datasets, plot
from correspondence._util.files import new_file
from correspondence.app.analyze.inputs import Request, read
from correspondence.app.analyze.terminal import reason
from correspondence.app.commands import (
    Commands,
    analyze_command,
    check_usage,
    columns_option,
    completion_command,
    embed_command,
    groups_option,
    labels_option,
    methods_listed,
    names_of,
    one_sentence,
    seed_option,
    table_option,
    train_command,
    writing_to,
)
from correspondence.app.demo import demo as run_demo
from correspondence.data.file_formats import read_pairs
from correspondence.studies import STUDIES, reproduce, reproduce_all

__all__ = ["main"]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="correspondence")
def main() -> None:
    """Correspondence analysis: the maximally correlated functions of two variables, and a picture of them."""


@main.command(short_help="What a small net that reads digits confuses, with pictures and pages.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("correspondence-demo"),
    show_default=True,
    help="Folder for the pictures and pages.",
)
def demo(output: Path) -> None:
    """Train a small net on images of digits and see what it confuses; and a table: who does which task at home."""
    matplotlib.use("Agg")
    with writing_to(output):
        click.echo(run_demo(output))


for _command in (analyze_command, train_command, embed_command, completion_command):
    main.add_command(_command)


@main.command(
    "compare",
    short_help="Compare methods on a file by rows that they have not seen.",
    epilog=methods_listed,
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@columns_option("x", "Columns of X, with commas; all others if left out.")
@columns_option("y", "Columns of Y, with commas. Not needed for a table.")
@table_option
@labels_option
@groups_option
@click.option("--methods", multiple=True, callback=names_of, help="Which methods; by default those that suit the data.")
@click.option(
    "--components", type=click.IntRange(min=1), show_default="3, with labels up to 10", help="Of each method."
)
@click.option("--cv", type=click.IntRange(min=2), show_default="5, 3 from 2000 rows on", help="Number of folds.")
@seed_option
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("comparison"),
    show_default=True,
    help="Folder for the table (CSV) and the figure (PNG).",
)
def compare_command(
    file: Path,
    x: list[str],
    y: list[str],
    table: bool,
    labels: list[str],
    groups: str | None,
    methods: list[str],
    components: int | None,
    cv: int | None,
    seed: int,
    output: Path,
) -> None:
    """Compare methods on the columns of FILE (CSV, TSV, Parquet or JSON lines) by rows that they have not seen."""
    matplotlib.use("Agg")
    if table:
        check_usage(Request(file, x, y, labels, groups=groups, table=True))
    elif not y:
        raise click.UsageError("Missing option '--y': name the columns of Y, or say that FILE is a --table.")
    with one_sentence():
        X, Y, together = _read_table(file, x) if table else _read_columns(file, x, y, labels, groups)
        comparison = compare(X, Y, methods or None, components, cv, groups=together, random_state=seed, progress=None)
    click.echo(repr(comparison))
    figures, picture = output / "comparison.csv", output / "comparison.png"
    with writing_to(output):
        output.mkdir(parents=True, exist_ok=True)
        _write_comparison(comparison, figures, picture)
    click.echo(f"\nTable:  {figures.resolve()}\nFigure: {picture.resolve()}")


def _read_table(file: Path, x: list[str]) -> tuple[Any, None, None]:
    return read(Request(file, x, table=True)).table, None, None


def _read_columns(
    file: Path, x: list[str], y: list[str], labels: list[str], groups: str | None
) -> tuple[Any, Any, Any]:
    data = read_pairs(file, x, y, labels, groups)
    if data.n_missing:
        click.echo(f"{data.n_missing} row(s) with missing values left out.", err=True)
    return data.X, data.Y, data.groups


def _write_comparison(comparison: Comparison, table: Path, picture: Path) -> None:
    with new_file(table) as temporary:
        temporary.write_text(comparison.to_csv(), encoding="utf-8")
    try:
        plot.comparison(comparison)
        with new_file(picture) as temporary:
            plt.savefig(temporary, dpi=110)
    finally:
        plt.close()


# \b keeps the lines of a paragraph as they are.
@main.command(
    "reproduce",
    short_help="Compute a table or figure of the paper again.",
    epilog="\b\nStudies:\n"
    + "\n".join(f"  {name:<23}{study.title}" for name, study in STUDIES.items())
    + "\n  all                    All of them, one after the other, and one page of what they found",
)
@click.argument("name", metavar="NAME", type=click.Choice([*STUDIES, "all"]))
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    show_default="results/NAME; with all, results",
    help="Folder for the table (CSV), the figures (PNG) and the text (Markdown).",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    show_default="10, with --quick 2; 1 where a net is trained",
    help="How many data sets or splits are drawn, or nets trained.",
)
@click.option("--quick", is_flag=True, help="Less data: to see that it works, not for the numbers.")
@click.option("--again", is_flag=True, help="With all: also what has been finished before with the same settings.")
def reproduce_command(name: str, output: Path | None, seeds: int | None, quick: bool, again: bool) -> None:
    """Compute a table or figure of the paper again, beside the exact values and on data that the fit has not seen.

    With NAME all, all of them: it goes on where it was stopped, leaves out studies whose data are missing and says so,
    and writes a page with all results, index.md, which is there from the first study on.
    """
    folder = output or (Path("results") if name == "all" else Path("results", name))
    if name == "all":
        _reproduce_all(folder, seeds, quick, again)
        return
    if again:
        raise click.UsageError("--again goes with all: a single study is always run.")
    try:
        with writing_to(folder):
            files = reproduce(name, folder, seeds, quick)
    except (ImportError, datasets.DamagedDataError, datasets.MissingDataError) as error:
        raise click.ClickException(reason(error)) from None
    click.echo(f"Written to {folder.resolve()}: {', '.join(path.name for path in files)}")


def _reproduce_all(folder: Path, seeds: int | None, quick: bool, again: bool) -> None:
    with writing_to(folder):
        outcome = reproduce_all(folder, seeds, quick, again, click.echo)
    page, table = outcome.files
    click.echo(f"\nPage:  {page.resolve()}\nTable: {table.resolve()}")
    if outcome.missing:
        click.echo(f"Not run, for want of data or packages: {', '.join(outcome.missing)}.")
    if outcome.failed:
        raise click.ClickException(f"{', '.join(outcome.failed)} failed: the reason is above, and on the page.")
