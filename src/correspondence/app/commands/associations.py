"""``correspondence associations``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from correspondence.app.commands.options import (
    column_option,
    columns_option,
    dates_option,
    decimal_option,
    groups_option,
    json_option,
    one_sentence,
    output_option,
    progress_option,
    seed_option,
    tell_lines,
    writing_to,
)
from correspondence.app.messages import make_safe

__all__ = ["associations_command"]


@click.command(
    "associations",
    short_help="Tell which columns of a file go together.",
    epilog="""\b
Examples:
  correspondence associations survey.csv
  correspondence associations winequality-red.csv --target quality -o quality
  correspondence associations survey.csv --given age,sex -o beyond-age

Exit codes: as for analyze.""",
)
@click.argument("file", type=click.Path(path_type=Path))
@column_option("target", "Compare the other columns with this one only.")
@columns_option("x", "Columns to compare, separated by commas; by default all.")
@columns_option(
    "given",
    "Columns that are known, separated by commas: what goes together beyond what they explain. They are not compared.",
)
@column_option("weights", "Column that says how often each row was counted.")
@groups_option
@click.option(
    "--missing",
    type=click.Choice(["average", "indicator", "drop", "error"]),
    default="average",
    help="indicator takes a missing value for an answer of its own; with average it says nothing; drop leaves rows "
    "with one out; error refuses.",
)
@click.option(
    "--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, help="False discovery rate."
)
@decimal_option
@dates_option
@seed_option
@click.option("--title", show_default="the name of FILE", help="Heading of the page.")
@progress_option
@json_option
@output_option("Folder for the files.", show_default="the name of FILE with -associations")
def associations_command(
    file: Path,
    decimal: Any,
    dates: Any,
    title: str | None,
    progress: bool | None,
    as_json: bool,
    output: Path | None,
    **options: Any,
) -> None:
    """Compare all pairs of columns of FILE, of any kind, and tell which go together more than chance.

    The files are associations.csv (a row for each pair: correlation and captured dependence on held-out rows, how much
    each column tells of the other, p-values), correlations.csv (a matrix), associations.png, report.html and
    summary.json.
    """
    import matplotlib

    from correspondence._util.progress import open_stages
    from correspondence._util.text import to_valid_text
    from correspondence.app.analyze.associations import compare_file, format_associations, write_associations
    from correspondence.app.analyze.files import check_folder, to_json
    from correspondence.data.text_columns import Readings

    matplotlib.use("Agg")
    folder = Path(f"{file.stem or file.resolve().stem}-associations") if output is None else output
    with one_sentence(), writing_to(folder):
        check_folder(folder)
    with one_sentence(), open_stages(progress) as line:
        line.tell(f"reading {make_safe(file.name)}")
        found = compare_file(file, Readings(decimal, dates), line, **options)
    tell_lines(found.notes)
    with one_sentence(), writing_to(folder), open_stages(progress) as line:
        line.tell("writing the tables")
        summary = write_associations(found, folder, title or to_valid_text(file.stem))
    click.echo(to_json(summary) if as_json else format_associations(summary))
