"""The command line: ``correspondence demo``, ``compare`` and ``reproduce``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import matplotlib
import matplotlib.pyplot as plt

from correspondence import Comparison, __version__, compare, datasets, plot
from correspondence.demo import demo as run_demo
from correspondence.io import new_file
from correspondence.methods import METHODS
from correspondence.reading import read_pairs
from correspondence.studies import STUDIES, reproduce

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
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
    with _writing_to(output):
        click.echo(run_demo(output))


def _names(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> list[str]:
    """Names given one by one or separated by commas."""
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


@main.command(
    "compare",
    short_help="Compare methods on a file by rows that they have not seen.",
    epilog="\b\nMethods:\n" + "\n".join(f"  {name:<10}{m.text}" for name, m in METHODS.items()),
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--x", "x", multiple=True, callback=_names, help="Columns of X, with commas; all others if left out.")
@click.option("--y", "y", multiple=True, required=True, callback=_names, help="Columns of Y, with commas.")
@click.option("--labels", multiple=True, callback=_names, help="Columns of numbers that are labels, such as grades.")
@click.option("--groups", help="Column of groups that are never on both sides of a split.")
@click.option("--methods", multiple=True, callback=_names, help="Which methods; by default those that suit the data.")
@click.option(
    "--components", type=click.IntRange(min=1), show_default="3, with labels up to 10", help="Of each method."
)
@click.option("--cv", type=click.IntRange(min=2), show_default="5, 3 from 2000 rows on", help="Number of folds.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of folds and methods.")
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
    try:
        data = read_pairs(file, x, y, labels, groups)
        if data.n_missing:
            click.echo(f"{data.n_missing} row(s) with missing values left out.", err=True)
        comparison = compare(
            data.X, data.Y, methods or None, components, cv, groups=data.groups, random_state=seed, progress=None
        )
    except (ImportError, TypeError, ValueError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(repr(comparison))
    table, picture = output / "comparison.csv", output / "comparison.png"
    with _writing_to(output):
        output.mkdir(parents=True, exist_ok=True)
        _write_comparison(comparison, table, picture)
    click.echo(f"\nTable:  {table.resolve()}\nFigure: {picture.resolve()}")


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
    epilog="\b\nStudies:\n" + "\n".join(f"  {name:<23}{s.title}" for name, s in STUDIES.items()),
)
@click.argument("name", metavar="NAME", type=click.Choice(list(STUDIES)))
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    show_default="results/NAME",
    help="Folder for the table (CSV), the figures (PNG) and the text (Markdown).",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    show_default="10, with --quick 2; 1 where a net is trained",
    help="How many data sets or splits are drawn, or nets trained.",
)
@click.option("--quick", is_flag=True, help="Less data: to see that it works, not for the numbers.")
def reproduce_command(name: str, output: Path | None, seeds: int | None, quick: bool) -> None:
    """Compute a table or figure of the paper again, beside the exact values and on data that the fit has not seen."""
    folder = Path("results", name) if output is None else output
    try:
        with _writing_to(folder):
            files = reproduce(name, folder, seeds, quick)
    except (ImportError, datasets.MissingDataError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"Written to {folder.resolve()}: {', '.join(path.name for path in files)}")


@contextmanager
def _writing_to(folder: Path) -> Iterator[None]:
    """One sentence instead of a traceback where files cannot be written."""
    try:
        yield
    except datasets.MissingDataError:
        raise
    except OSError as error:
        reason = str(error.strerror or error).rstrip(".")
        raise click.ClickException(f"--output: cannot write to the folder {folder}: {reason}.") from None
