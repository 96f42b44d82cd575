"""Options that commands share, and errors in one sentence.

Nothing here or in the modules of the commands imports more than click: the shell asks them for names and options each
time it completes a word. What a command needs is imported when it runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from correspondence.app.messages import explain_error, make_safe
from correspondence.selection.method_names import METHOD_TEXTS

if TYPE_CHECKING:
    from correspondence.app.analyze.inputs import Request

NAME_PATTERN = re.compile(r'\s*"(?P<quoted>(?:[^"]|"")+)"\s*(?=,|$)|(?P<plain>[^,]+)')


def names_of(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> list[str]:
    """Split names that are given one by one or with commas; one with a comma in it stands in double quotes."""
    found = [match for value in values for match in NAME_PATTERN.finditer(value)]
    names = [m["plain"].strip() if m["quoted"] is None else m["quoted"].replace('""', '"') for m in found]
    names = [name for name in names if name]
    if values and not names:
        raise click.BadParameter("there is no name in it.", context, parameter)
    return names


def complete_column_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the names of the columns of FILE."""
    before, comma, begin = incomplete.rpartition(",")
    known = [context.params.get("file"), *(context.params.get("files") or ())]
    given = [*context.args, *filter(None, known)]  # click leaves it among the arguments
    file = next((Path(path) for path in reversed(given) if Path(path).is_file()), None)
    from correspondence.data.file_formats import column_names

    try:
        names = [] if file is None else column_names(file)
    except Exception:
        names = []  # a shell that completes has no use for an error
    return [CompletionItem(before + comma + name) for name in names if name and name.startswith(begin)]


def read_orders(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, list[str] | None]:
    """Read names of columns in order, separated by commas, or one with its levels: name=low|mid|high."""
    orders: dict[str, list[str] | None] = {}
    for value in values:
        name, equals, levels = value.partition("=")
        found: dict[str, list[str] | None]
        if equals and "|" in levels:
            found = {name.strip(): [level.strip() for level in levels.split("|")]}
        else:
            found = dict.fromkeys(names_of(context, parameter, (value,)))
        twice = next((name for name in found if name in orders), None)
        if twice is not None:
            raise click.BadParameter(f"it must name each column once, got {twice} twice.", context, parameter)
        orders |= found
    return orders


def columns_option(name: str, help: str) -> Callable[[Any], Any]:
    """Make an option for the names of several columns."""
    return click.option(
        f"--{name}",
        name.replace("-", "_"),
        multiple=True,
        callback=names_of,
        shell_complete=complete_column_names,
        help=help,
    )


def column_option(name: str, help: str) -> Callable[[Any], Any]:
    """Make an option for the name of one column."""
    return click.option(f"--{name}", name, shell_complete=complete_column_names, help=help)


def output_option(help: str, file_okay: bool = True, **options: Any) -> Callable[[Any], Any]:
    """Make the option for the file or folder to write."""
    kind = click.Path(file_okay=file_okay, path_type=Path)
    return click.option("-o", "--output", type=kind, help=help, **options)


x_option = columns_option(
    "x",
    "Columns of X, separated by commas (a name with a comma in double quotes); by default all others. For an NPZ file, "
    "the name of an array.",
)
y_option = columns_option(
    "y",
    "Columns of Y, separated by commas. Not needed for a file of two columns; without it, analyze takes all columns "
    "of a larger file together.",
)
labels_option = columns_option("labels", "Columns of numbers that are labels, such as grades.")
numbers_option = columns_option("numbers", "Columns of few whole numbers that are numbers, not labels, such as counts.")
missing_option = click.option(
    "--missing",
    type=click.Choice(["indicator", "drop", "error"]),
    default="indicator",
    help="indicator keeps rows with missing values, and marks these as missing; drop leaves them out; error refuses.",
)
ordered_option = click.option(
    "--ordered",
    multiple=True,
    callback=read_orders,
    metavar="NAME[=LOW|...|HIGH]",
    shell_complete=complete_column_names,
    help="A column of labels in order, along which the first function rises or falls. Numbers and dates have their own "
    "order; texts need their levels, lowest first. Of a table: rows or columns, as they stand. May be repeated.",
)
groups_option = column_option("groups", "Column of groups that are never on both sides of a split.")
min_count_option = click.option(
    "--min-count",
    type=click.IntRange(min=1),
    show_default="5, 2 or 1, the largest that captures no less",
    help="Merge labels that occur fewer times into one level, in columns with many of them.",
)
split_copies_option = click.option(
    "--split-copies",
    is_flag=True,
    help="Let copies of a row be on both sides of a split; by default they stay together.",
)
table_option = click.option(
    "--table", is_flag=True, help="FILE is a contingency table, whose first column may name the rows."
)
decimal_option = click.option(
    "--decimal",
    type=click.Choice(["point", "comma"]),
    show_default="as the file suggests; embed: as in the analysis",
    help='Separator of decimals, where "1,234" or "1.234" may be a thousand or a fraction.',
)
dates_option = click.option(
    "--dates",
    type=click.Choice(["day-first", "month-first"]),
    show_default="as the file suggests; embed: as in the analysis",
    help="What comes first in dates such as 01/02/2020.",
)
seed_option = click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Seed of all that is random.")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print summary.json to the standard output, and nothing else."
)
progress_option = click.option(
    "--progress/--no-progress",
    default=None,
    show_default="from two seconds on, in a terminal",
    help="Say on the error output what is done now, and how long it may take.",
)


def time_limit_option(help: str) -> Callable[[Any], Any]:
    """Make the option for a limit of the time, in seconds."""
    kind = click.FloatRange(min=0, min_open=True)
    return click.option("--time-limit", type=kind, metavar="SECONDS", show_default="no limit", help=help)


METHODS_LISTED = "\b\nMethods:\n" + "\n".join(f"  {name:<10}{text}" for name, text in METHOD_TEXTS.items())


@contextmanager
def one_sentence() -> Iterator[None]:
    """Say in one sentence, without a traceback, what is wrong with data or files."""
    try:
        yield
    except (ImportError, MemoryError, OSError, TypeError, ValueError) as error:
        raise click.ClickException(explain_error(error)) from None


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Say in one sentence, without a traceback, why files cannot be written."""
    from correspondence.datasets import MissingDataError

    try:
        yield
    except MissingDataError:
        raise
    except OSError as error:
        why = str(error.strerror or error).rstrip(".")
        if not why.startswith("There is no folder"):
            why = f"cannot write to the folder {folder}: {why}"
        raise click.ClickException(make_safe(f"--output: {why}.")) from None


def tell_lines(lines: Sequence[str]) -> None:
    """Print lines to the error output."""
    for line in lines:
        click.echo(make_safe(line), err=True)


def check_usage(request: Request) -> None:
    """Raise an error for options that exclude each other, or are of no use with others."""
    given = [
        name
        for name, value in (("--table", request.table), ("--beliefs", request.beliefs), ("--images", request.images))
        if value
    ]
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} and {given[1]} exclude each other.")
    if request.constraints is not None and request.ordered:
        raise click.UsageError("--ordered must be left out with --constraints.")
    if request.constraints is not None and not request.table:
        raise click.UsageError("--constraints needs --table: they explain a table of counts.")
    if request.given and request.constraints is None and not request.table:
        raise click.UsageError(
            "--given needs --table and --constraints. What is left of columns of one file once others are known: "
            "correspondence associations FILE --given COLUMNS, or co.decompose(X, Y, given=Z) in Python."
        )
    of_constraints = {
        "--explained-by": request.explained_by,
        "--smooth": request.smooth,
        "--given": request.given,
    }
    for name, value in of_constraints.items():
        if value and request.constraints is None:
            raise click.UsageError(f"{name} needs --constraints, a file with variables of the rows of a table.")
    unused = {
        "--table": ("y", "weights") if request.constraints is not None else ("y", "labels", "groups", "weights"),
        "--beliefs": ("groups", "weights", "ordered"),
        "--images": ("weights", "ordered"),
    }
    for option in given:
        for name in unused[option]:
            if getattr(request, name):
                raise click.UsageError(f"--{name} is of no use with {option}.")
