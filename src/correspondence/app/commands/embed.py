"""``correspondence embed``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from correspondence.app.commands.options import (
    column_option,
    columns_option,
    dates_option,
    decimal_option,
    one_sentence,
    output_option,
    progress_option,
    tell_lines,
    time_limit_option,
    writing_to,
)
from correspondence.app.messages import make_safe

__all__ = ["embed_command"]


@click.command(
    "embed",
    short_help="Place new rows in the space of an analysis.",
    epilog="""\b
Examples:
  correspondence embed winequality-red-analysis winequality-white.csv
  correspondence embed model.safetensors new.csv --x age,height -o new-places.csv

Exit codes: as for analyze.""",
)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path))
@columns_option("x", "Columns of X, in the order of the analysis, if their names differ from those.")
@columns_option("y", "Columns of Y, in the same way.")
@column_option("id", "Column that names the rows; by default that of the analysis, or their number.")
@click.option("--images", type=click.Path(path_type=Path), help="Folder of the images that FILE lists.")
@decimal_option
@dates_option
@time_limit_option("Place no more rows after so many seconds; those that are left have empty coordinates.")
@progress_option
@output_option("A .parquet or .csv file.", show_default="the name of FILE with -embedded.parquet")
def embed_command(
    model: Path,
    file: Path,
    x: list[str],
    y: list[str],
    id: str | None,
    images: Path | None,
    decimal: Any,
    dates: Any,
    time_limit: float | None,
    progress: bool | None,
    output: Path | None,
) -> None:
    """Place the rows of FILE by MODEL, a folder that analyze has written, or the file of a model.

    If FILE has the columns of x, f_1, f_2, ... are written; if it has those of y, g_1, g_2, ...; if both, also the
    density ratio p(x, y) / (p(x) p(y)). A row with a label that the model does not know, or without a value, has empty
    coordinates. For a model of images, FILE may be a folder of images; for one of a table, new rows of counts.
    """
    from correspondence._util.progress import open_stages
    from correspondence.app.analyze.embedding import embed_file, load_model, write_columns
    from correspondence.selection.time_budget import TimeBudget

    budget = TimeBudget(time_limit)
    target = Path(f"{file.stem}-embedded.parquet") if output is None else output
    if target.suffix.lower() not in (".parquet", ".csv"):
        raise click.UsageError(f"--output must end in .parquet or .csv, got {target}.")
    with one_sentence(), open_stages(progress) as line:
        line.tell(f"reading {make_safe(model.name)}")
        loaded = load_model(model)
        readings = loaded.readings.choose(decimal, dates)
        found = embed_file(replace(loaded, readings=readings), file, x, y, id, images, line, budget)
    tell_lines(found.notes)
    with one_sentence(), writing_to(target.parent), open_stages(progress) as line:
        line.tell(f"writing {make_safe(target.name)}")
        write_columns(found.columns, target)
    rows = len(next(iter(found.columns.values())))
    click.echo(f"Written to {make_safe(target.resolve())}: {rows:,} rows, {', '.join(map(make_safe, found.columns))}")
