"""``correspondence analyze``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from correspondence.app.commands.options import (
    METHODS_LISTED,
    check_usage,
    column_option,
    columns_option,
    dates_option,
    decimal_option,
    groups_option,
    json_option,
    labels_option,
    min_count_option,
    missing_option,
    numbers_option,
    one_sentence,
    ordered_option,
    output_option,
    progress_option,
    seed_option,
    split_copies_option,
    table_option,
    tell_lines,
    time_limit_option,
    writing_to,
    x_option,
    y_option,
)
from correspondence.app.messages import make_safe
from correspondence.selection.method_names import METHOD_TEXTS

__all__ = ["analyze_command"]

EXAMPLES_TEXT = """\b
Examples:
  correspondence analyze winequality-red.csv --y quality --labels quality
  correspondence analyze housetasks.csv --table -o tasks
  correspondence analyze dune.csv --table --constraints dune_env.csv --given Moisture
  correspondence analyze survey.csv
  correspondence analyze captions.csv --images photos --size 64 --method kernel

\b
Exit codes: 0 done, 1 the data or files cannot be used, 2 wrong usage, 130 Ctrl-C.
Whatever goes wrong, nothing is left half-written, and an earlier result stays.

"""


def read_cluster_number(context: click.Context, parameter: click.Parameter, value: str | None) -> str | int | None:
    """Read the number of clusters."""
    if value is None or value in ("auto", "gain"):
        return value
    if not value.isdecimal() or int(value) < 2:
        hint = " Put FILE first, or write --clusters=auto." if Path(value).exists() else ""
        raise click.BadParameter(f"must be auto, gain or a number from 2 on, got {value}.{hint}", context, parameter)
    return int(value)


@click.command(
    "analyze",
    short_help="Analyse a file: a page, tables, a model and three sentences.",
    epilog=EXAMPLES_TEXT + METHODS_LISTED,
)
@click.argument("file", type=click.Path(path_type=Path))
@x_option
@y_option
@labels_option
@numbers_option
@ordered_option
@missing_option
@column_option("id", "Column that names the rows, also of a table; by default their number in the file, from 1.")
@groups_option
@split_copies_option
@min_count_option
@column_option("weights", "Column that says how often each pair of labels was counted.")
@table_option
@click.option(
    "--constraints",
    type=click.Path(path_type=Path),
    help="File of variables of the rows of a table, which are to explain it (canonical correspondence analysis). Its "
    "first column may name the rows. --labels and --groups (rows are permuted within these) are columns of it.",
)
@columns_option(
    "explained-by",
    "Columns of --constraints that are to explain the table, separated by commas; by default all others.",
)
@columns_option("given", "Columns of --constraints whose influence is taken away before, separated by commas.")
@click.option(
    "--smooth",
    is_flag=True,
    help="Let numbers of --constraints enter as curves, if held-out rows are then predicted better.",
)
@decimal_option
@dates_option
@click.option(
    "--images",
    type=click.Path(path_type=Path),
    help="Folder of the images whose labels or captions are in FILE. If FILE is that folder, the file of labels.",
)
@click.option("--size", type=click.IntRange(4, 512), default=32, help="Height and width of images.")
@click.option(
    "--beliefs", is_flag=True, help="FILE has the probabilities of a model, a column for each class (CSV, NPZ or NPY)."
)
@click.option(
    "--method",
    type=click.Choice(["auto", *METHOD_TEXTS]),
    default="auto",
    help="auto takes the simplest method that suits the columns and is not clearly behind the best on held-out pairs.",
)
@click.option(
    "--components",
    type=click.IntRange(min=1),
    show_default="the significant ones; with ca, all up to 10",
    help="Number of components to keep.",
)
@click.option(
    "--clusters",
    is_flag=False,
    flag_value="auto",  # without a value
    callback=read_cluster_number,
    metavar="[auto|gain|INTEGER]",
    help="Cluster the rows (or the labels of x): auto finds how many hold out, gain is the rule of HCPC.",
)
@click.option(
    "--format",
    type=click.Choice(["csv", "excel", "parquet"]),
    show_default="csv, if there are at most a million coordinates",
    help="Format of the coordinates beside x.parquet and y.parquet: x.csv and y.csv, coordinates.xlsx, or none.",
)
@seed_option
@click.option("--title", show_default="the name of FILE", help="Heading of the page.")
@click.option("--columns", "show_columns", is_flag=True, help="Show what each column is taken for, and stop.")
@time_limit_option(
    "Skip methods that would not finish in time, and shorten or leave out tests; the simplest method always runs."
)
@progress_option
@json_option
@output_option("Folder for the files.", show_default="the name of FILE with -analysis")
def analyze_command(
    file: Path,
    method: str,
    components: int | None,
    clusters: str | int | None,
    seed: int,
    title: str | None,
    show_columns: bool,
    format: str | None,
    time_limit: float | None,
    progress: bool | None,
    as_json: bool,
    min_count: int | None,
    split_copies: bool,
    output: Path | None,
    **options: Any,
) -> None:
    """Analyse two variables of FILE, or without --y all its columns, and say how far the result holds.

    FILE may be CSV or TSV (also packed: .csv.gz), Excel, Parquet, JSON, JSON lines, SPSS, Stata, SAS, ARFF or NPZ.

    The kind of each column is guessed, and printed. The files are report.html (a page to explore, which needs no
    network), pics.csv (each component: PIC, training and held-out correlation, its interval, p-value), x.parquet and
    y.parquet (coordinates, also as CSV), model.safetensors (for `correspondence embed` and co.load), summary.json and
    structure.csv (the correlation of each column with each axis). Of all columns they are report.html, axes.csv,
    columns.csv (answers and numbers), description.csv (what goes with each axis, with tests), rows.csv,
    model.safetensors and summary.json. With --clusters the rows have a column cluster, and clusters.csv says how stable
    each cluster is and what characterises it. Of a table with --constraints they are report.html (the triplot),
    partition.csv, scores.csv (of sites, species and constraints, as vegan has them), anova.csv (permutation tests),
    model.safetensors and summary.json.
    """
    import matplotlib

    from correspondence._util.progress import open_stages
    from correspondence._util.text import to_valid_text
    from correspondence.app.analyze.clusters import add_clusters
    from correspondence.app.analyze.files import check_folder, check_format, to_json, write_analysis
    from correspondence.app.analyze.inputs import Request, describe_file, read_data
    from correspondence.app.analyze.job import analyze_data, format_summary
    from correspondence.app.analyze.survey import read_survey
    from correspondence.selection.method_registry import MIN_PAIRS_FOR_NET
    from correspondence.selection.time_budget import TimeBudget

    matplotlib.use("Agg")
    budget = TimeBudget(time_limit)
    request = Request(file=file, **options)
    check_usage(request)
    if show_columns:
        with one_sentence():
            table, notes = describe_file(request)
        tell_lines(notes)
        click.echo(repr(table))
        return
    folder = Path(f"{file.stem or file.resolve().stem}-analysis") if output is None else output
    with one_sentence(), writing_to(folder):
        check_folder(folder)
    with one_sentence(), open_stages(progress) as line:
        check_format(format)
        line.tell(f"reading {make_safe(file.name)}")
        survey = read_survey(request) if method == "auto" and request.constraints is None else None
    heading = title or to_valid_text(file.stem)
    if request.constraints is not None:
        unused = {"--min-count": min_count, "--format": format, "--clusters": clusters}
        tell_lines([f"{name} says nothing about constraints." for name in unused if unused[name] is not None])
        if method not in ("auto", "ca"):
            raise click.ClickException(f"--method must be ca with --constraints, got {method}.")
        _analyze_constraints(request, components, seed, progress, as_json, folder, heading, budget)
        return
    if survey is not None:
        unused = {"--min-count": min_count, "--format": format}
        tell_lines(
            [f"{name} says nothing about an analysis of all columns." for name in unused if unused[name] is not None]
        )
        _analyze_all_columns(survey, request, components, clusters, seed, progress, as_json, folder, heading, budget)
        return
    with one_sentence(), open_stages(progress) as line:
        line.tell(f"reading {make_safe(file.name)}")
        data = read_data(request, line)
        line.clear()
        tell_lines(data.lines)
        if data.ordered and min_count is not None:
            raise ValueError("--min-count must be left out with --ordered: labels that are merged have no place.")
        if data.x.kind == "images" and method == "auto" and len(data.ids) >= MIN_PAIRS_FOR_NET and find_spec("torch"):
            tell_lines(["Nets are tried too, which takes minutes for this many images; --method kernel takes seconds."])
        guards: dict[str, Any] = {"min_count": min_count or "auto", "splits_copies": split_copies}
        guards |= {"progress": line, "time_limit": budget}
        analysis = analyze_data(data, method, components, random_state=seed, **guards)
        if clusters is not None:
            line.tell("clustering the rows, and clouds without clusters")
            analysis = add_clusters(analysis, clusters, seed)
    tell_lines(analysis.notes)
    with one_sentence(), writing_to(folder), open_stages(progress) as line:
        line.tell("writing the page and the tables")
        summary = write_analysis(analysis, request, folder, heading, seed, format)
    click.echo(to_json(summary) if as_json else format_summary(summary))


def _analyze_all_columns(
    survey: Any,
    request: Any,
    components: int | None,
    clusters: str | int | None,
    seed: int,
    progress: bool | None,
    as_json: bool,
    folder: Path,
    heading: str,
    budget: Any,
) -> None:
    """Analyse all columns of a file together, write the files and print the result."""
    from correspondence._util.progress import open_stages
    from correspondence.app.analyze.clusters import add_survey_clusters
    from correspondence.app.analyze.files import to_json
    from correspondence.app.analyze.survey import analyze_survey, format_survey, write_survey

    tell_lines(survey.lines)
    with one_sentence(), open_stages(progress) as line:
        found = analyze_survey(survey, components, seed, line, budget)
        if clusters is not None:
            line.tell("clustering the rows, and clouds without clusters")
            found = add_survey_clusters(found, clusters, seed, budget)
    tell_lines(found.notes)
    with one_sentence(), writing_to(folder), open_stages(progress) as line:
        line.tell("writing the page and the tables")
        summary = write_survey(found, request, folder, heading, seed)
    click.echo(to_json(summary) if as_json else format_survey(summary))


def _analyze_constraints(
    request: Any,
    components: int | None,
    seed: int,
    progress: bool | None,
    as_json: bool,
    folder: Path,
    heading: str,
    budget: Any,
) -> None:
    """Explain a table of counts by variables of its rows, write the files and print the result."""
    from correspondence._util.progress import open_stages
    from correspondence.app.analyze.constrained import (
        analyze_constraints,
        format_constrained,
        read_row_facts,
        write_constrained,
    )
    from correspondence.app.analyze.files import to_json
    from correspondence.app.analyze.inputs import read_data

    with one_sentence(), open_stages(progress) as line:
        line.tell(f"reading {make_safe(request.file.name)}")
        data = read_data(request, line)
        facts = read_row_facts(request, data.x.values.tolist())
        line.clear()
        tell_lines([*data.lines, *facts.notes])
        found = analyze_constraints(data, facts, request, components, seed, line, budget)
    tell_lines(found.notes)
    with one_sentence(), writing_to(folder), open_stages(progress) as line:
        line.tell("writing the page and the tables")
        summary = write_constrained(found, request, folder, heading, seed)
    click.echo(to_json(summary) if as_json else format_constrained(summary))
