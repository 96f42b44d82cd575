"""``correspondence reproduce``."""

from __future__ import annotations

from pathlib import Path

import click

from correspondence.app.commands.options import output_option, progress_option, time_limit_option, writing_to
from correspondence.app.messages import explain_error
from correspondence.studies.catalogue import STUDY_TITLES

__all__ = ["reproduce_command"]


# \b keeps the lines of a paragraph as they are.
@click.command(
    "reproduce",
    short_help="Compute a table or figure of the paper again.",
    epilog="\b\nStudies:\n"
    + "\n".join(f"  {name:<23}{title}" for name, title in STUDY_TITLES.items())
    + "\n  all                    All of them, one after the other, and one page of what they found",
)
@click.argument("name", metavar="NAME", type=click.Choice([*STUDY_TITLES, "all"]))
@output_option(
    "Folder for the table (CSV), the figures (PNG) and the text (Markdown).",
    show_default="results/NAME; with all, results",
    file_okay=False,
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    show_default="10, with --quick 2; 1 where a net is trained",
    help="Number of data sets or splits to draw, or nets to train.",
)
@click.option("--quick", is_flag=True, help="Less data: to see that it works, not for the numbers.")
@time_limit_option("With all: begin no study that would not finish in time; the same command goes on from there.")
@progress_option
@click.option("--again", is_flag=True, help="With all: also run studies that are finished with the same settings.")
def reproduce_command(
    name: str,
    output: Path | None,
    seeds: int | None,
    quick: bool,
    time_limit: float | None,
    progress: bool | None,
    again: bool,
) -> None:
    """Compute a table or figure of the paper again, beside the exact values and on held-out data.

    With NAME all, run all of them: the command goes on where it was stopped, leaves out studies whose data are missing
    and says so, and writes a page with all results, index.md, from the first study on.
    """
    from correspondence._util.progress import open_stages
    from correspondence.datasets import DamagedDataError, MissingDataError
    from correspondence.studies.reproducing import reproduce_study

    folder = output or (Path("results") if name == "all" else Path("results", name))
    if name == "all":
        run_all_studies(folder, seeds, quick, again, time_limit, progress)
        return
    if again:
        raise click.UsageError("--again goes with all: a single study is always run.")
    if time_limit is not None:
        raise click.UsageError("--time-limit goes with all: a single study is run to its end.")
    try:
        with writing_to(folder), open_stages(progress) as line:
            line.tell(f"running the study {name}")
            files = reproduce_study(name, folder, seeds, quick)
    except (ImportError, DamagedDataError, MissingDataError) as error:
        raise click.ClickException(explain_error(error)) from None
    click.echo(f"Written to {folder.resolve()}: {', '.join(path.name for path in files)}")


def run_all_studies(
    folder: Path, seeds: int | None, quick: bool, again: bool, time_limit: float | None, progress: bool | None
) -> None:
    """Run all studies, and say which were not run and which failed."""
    from correspondence._util.progress import open_stages
    from correspondence.studies.reproducing import reproduce_all

    with writing_to(folder), open_stages(progress) as line:

        def tell(text: str) -> None:
            line.clear()
            click.echo(text)
            line.tell(text.strip())

        outcome = reproduce_all(folder, seeds, quick, again, tell, time_limit)
    page, table = outcome.files
    click.echo(f"\nPage:  {page.resolve()}\nTable: {table.resolve()}")
    if outcome.missing:
        click.echo(f"Not run, for want of data or packages: {', '.join(outcome.missing)}.")
    if outcome.skipped:
        click.echo(f"Not run, because of the time limit: {', '.join(outcome.skipped)}.")
    if outcome.failed:
        raise click.ClickException(f"{', '.join(outcome.failed)} failed: the reason is above, and on the page.")
