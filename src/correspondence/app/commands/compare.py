"""``correspondence compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from correspondence.app.commands.options import (
    METHODS_LISTED,
    check_usage,
    columns_option,
    dates_option,
    decimal_option,
    groups_option,
    labels_option,
    min_count_option,
    missing_option,
    names_of,
    numbers_option,
    one_sentence,
    output_option,
    progress_option,
    seed_option,
    split_copies_option,
    table_option,
    tell_lines,
    time_limit_option,
    writing_to,
)
from correspondence.app.messages import collect_warnings, make_safe

if TYPE_CHECKING:
    from correspondence.results.comparison import Comparison

__all__ = ["compare_command"]


@click.command(
    "compare",
    short_help="Compare methods on a file by held-out rows.",
    epilog=METHODS_LISTED,
)
@click.argument("file", type=click.Path(path_type=Path))
@columns_option("x", "Columns of X, separated by commas; by default all others.")
@columns_option("y", "Columns of Y, separated by commas. Not needed for a table.")
@table_option
@labels_option
@numbers_option
@missing_option
@groups_option
@split_copies_option
@min_count_option
@decimal_option
@dates_option
@click.option(
    "--methods",
    multiple=True,
    callback=names_of,
    help="Methods, separated by commas; by default those that suit the data.",
)
@click.option(
    "--components",
    type=click.IntRange(min=1),
    show_default="3, with labels up to 10",
    help="Number of components of each method.",
)
@click.option("--cv", type=click.IntRange(min=2), show_default="5, 3 from 2000 rows on", help="Number of folds.")
@seed_option
@time_limit_option("Skip methods that would not finish in time; the first always runs.")
@progress_option
@output_option("Folder for the table (CSV) and the figure (PNG).", default="comparison", file_okay=False)
def compare_command(
    file: Path,
    x: list[str],
    y: list[str],
    table: bool,
    labels: list[str],
    numbers: list[str],
    missing: str,
    groups: str | None,
    split_copies: bool,
    min_count: int | None,
    decimal: Any,
    dates: Any,
    methods: list[str],
    components: int | None,
    cv: int | None,
    seed: int,
    time_limit: float | None,
    progress: bool | None,
    output: Path,
) -> None:
    """Compare methods on the columns of FILE (any table that analyze takes) by held-out rows."""
    import matplotlib

    import correspondence as co
    from correspondence._util.progress import open_stages
    from correspondence.app.analyze.inputs import Request, read_data
    from correspondence.selection.time_budget import TimeBudget

    matplotlib.use("Agg")
    budget = TimeBudget(time_limit)
    if table:
        check_usage(Request(file, x, y, labels, groups=groups, table=True))
    elif not y:
        raise click.UsageError("Missing option '--y': name the columns of Y, or say that FILE is a --table.")
    with one_sentence(), open_stages(progress) as line:
        line.tell(f"reading {make_safe(file.name)}")
        if table:
            data = read_data(Request(file, x, table=True, decimal=decimal, dates=dates))
            line.clear()
            tell_lines(data.notes)
            X, Y, together = data.table, None, None
        else:
            columns = Request(
                *(file, x, y, labels),
                groups=groups,
                numbers=numbers,
                missing=missing,
                decimal=decimal,
                dates=dates,
            )
            data = read_data(columns)
            line.clear()
            tell_lines(data.lines)
            X, Y, together = data.x.values, data.y.values, data.groups
        groups_or_copies = "duplicates" if together is None and not split_copies else together
        options: dict[str, Any] = {"groups": groups_or_copies, "min_count": min_count or "auto", "random_state": seed}
        options |= {"progress": line, "time_limit": budget}
        with collect_warnings() as notes:
            comparison = co.compare(X, Y, methods or None, components, cv, **options)
    tell_lines(notes)
    click.echo(repr(comparison))
    figures, picture = output / "comparison.csv", output / "comparison.png"
    with writing_to(output), open_stages(progress) as line:
        line.tell("writing the table and the figure")
        output.mkdir(parents=True, exist_ok=True)
        write_comparison(comparison, figures, picture)
    click.echo(f"\nTable:  {figures.resolve()}\nFigure: {picture.resolve()}")


def write_comparison(comparison: Comparison, table: Path, picture: Path) -> None:
    """Write the table and the figure, each replaced only once the new one is complete."""
    import matplotlib.pyplot as plt

    from correspondence import plot
    from correspondence._util.files import new_file

    with new_file(table) as temporary:
        temporary.write_text(comparison.to_csv(), encoding="utf-8")
    try:
        plot.comparison(comparison)
        with new_file(picture) as temporary:
            plt.savefig(temporary, dpi=110)
    finally:
        plt.close()
