"""The commands ``analyze``, ``train``, ``embed`` and ``completion``, and the options that commands share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import matplotlib
from click.shell_completion import CompletionItem, get_completion_class

from correspondence.app.analyze import Request, analyze, check_folder, embed, load_model, read, to_json, told, write
from correspondence.app.analyze import write_columns as write_file
from correspondence.app.analyze.files import SUMMARY
from correspondence.app.analyze.terminal import reason, safe
from correspondence.app.train import (
    Job,
    Progress,
    TrainingError,
    check_torch,
    is_first,
    is_worker,
    launch,
    work_as_one_of,
)
from correspondence.app.train import told as told_training
from correspondence.data.file_formats import column_names
from correspondence.datasets import MissingDataError
from correspondence.selection.method_registry import ENOUGH, METHODS

__all__ = [
    "Commands",
    "analyze_command",
    "check_usage",
    "column_option",
    "columns_option",
    "completion_command",
    "embed_command",
    "groups_option",
    "labels_option",
    "methods_listed",
    "names_of",
    "one_sentence",
    "seed_option",
    "table_option",
    "train_command",
    "writing_to",
]

INTERRUPTED = 130
NAME = re.compile(r'\s*"(?P<quoted>(?:[^"]|"")+)"\s*(?=,|$)|(?P<plain>[^,]+)')


class Commands(click.Group):
    """Commands that end with the exit code of shells, 130, on Ctrl-C."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("\nInterrupted.", err=True)
            ctx.exit(INTERRUPTED)


# --- options that commands share


def names_of(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> list[str]:
    """Names given one by one or separated by commas; one that has a comma in it stands in double quotes."""
    found = [match for value in values for match in NAME.finditer(value)]
    names = [m["plain"].strip() if m["quoted"] is None else m["quoted"].replace('""', '"') for m in found]
    names = [name for name in names if name]
    if values and not names:
        raise click.BadParameter("there is no name in it.", context, parameter)
    return names


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the columns of FILE."""
    before, comma, begin = incomplete.rpartition(",")
    known = [context.params.get("file"), *(context.params.get("files") or ())]
    given = [*context.args, *filter(None, known)]  # click leaves it among the arguments
    file = next((Path(path) for path in reversed(given) if Path(path).is_file()), None)
    try:
        names = [] if file is None else column_names(file)
    except Exception:
        names = []  # a shell that completes has no use for what is wrong
    return [CompletionItem(before + comma + name) for name in names if name and name.startswith(begin)]


def columns_option(name: str, help: str) -> Callable[[Any], Any]:
    """Option for the names of several columns."""
    return click.option(f"--{name}", name, multiple=True, callback=names_of, shell_complete=_complete, help=help)


def column_option(name: str, help: str) -> Callable[[Any], Any]:
    """Option for the name of one column."""
    return click.option(f"--{name}", name, shell_complete=_complete, help=help)


labels_option = columns_option("labels", "Columns of numbers that are labels, such as grades.")
groups_option = column_option("groups", "Column of groups that are never on both sides of a split.")
table_option = click.option(
    "--table", is_flag=True, help="FILE is a contingency table, whose first column may name the rows."
)
seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Of folds and methods."
)
methods_listed = "\b\nMethods:\n" + "\n".join(f"  {name:<10}{m.text}" for name, m in METHODS.items())


@contextmanager
def one_sentence() -> Iterator[None]:
    """What is wrong with data or files, in a sentence instead of a traceback."""
    try:
        yield
    except (ImportError, MemoryError, OSError, TypeError, ValueError) as error:
        raise click.ClickException(reason(error)) from None


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """One sentence instead of a traceback where files cannot be written."""
    try:
        yield
    except MissingDataError:
        raise
    except OSError as error:
        why = str(error.strerror or error).rstrip(".")
        raise click.ClickException(safe(f"--output: cannot write to the folder {folder}: {why}.")) from None


# --- analyze

EXAMPLES = """\b
Examples:
  correspondence analyze winequality-red.csv --y quality --labels quality
  correspondence analyze housetasks.csv --table -o tasks
  correspondence analyze captions.csv --images photos --size 64 --method kernel

\b
Exit codes: 0 done, 1 the data or files are no good, 2 wrong usage, 130 Ctrl-C.
Whatever goes wrong, nothing is left half-written, and an earlier result stays.

"""


@click.command(
    "analyze",
    short_help="Analyse a file: a page, tables, a model and three sentences.",
    epilog=EXAMPLES + methods_listed,
)
@click.argument("file", type=click.Path(path_type=Path))
@columns_option(
    "x", 'Columns of X, with commas ("a, b",c if one is in a name); all others if left out. Of NPZ files, an array.'
)
@columns_option("y", "Columns of Y, with commas. Not needed for a file of two columns.")
@labels_option
@column_option("id", "Column that names the rows in x.parquet; by default their number in the file, from 1.")
@groups_option
@column_option("weights", "Column that says how often each pair of labels was counted.")
@table_option
@click.option(
    "--images",
    type=click.Path(path_type=Path),
    help="Folder of images that FILE gives labels or captions to; or that file, if FILE is the folder.",
)
@click.option("--size", type=click.IntRange(4, 512), default=32, show_default=True, help="Of images: height and width.")
@click.option(
    "--beliefs", is_flag=True, help="FILE has the probabilities of a model, a column for each class (CSV, NPZ or NPY)."
)
@click.option(
    "--method",
    type=click.Choice(["auto", *METHODS]),
    default="auto",
    show_default=True,
    help="auto takes the simplest method that suits the columns and is not clearly behind the best on held-out pairs. "
    "Models of logistic, forest and mlp cannot be saved, so auto leaves them out; if you ask for one, everything but "
    "the model is written.",
)
@click.option(
    "--components",
    type=click.IntRange(min=1),
    show_default="those that are significant; of ca all up to 10",
    help="How many are kept.",
)
@seed_option
@click.option("--title", show_default="the name of FILE", help="Heading of the page.")
@click.option("--json", "as_json", is_flag=True, help="Print summary.json to the standard output, and nothing else.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    show_default="the name of FILE with -analysis",
    help="Folder for the files.",
)
def analyze_command(
    file: Path,
    method: str,
    components: int | None,
    seed: int,
    title: str | None,
    as_json: bool,
    output: Path | None,
    **options: Any,
) -> None:
    """Analyse two variables of FILE (CSV, TSV, Parquet, JSON lines or NPZ), and say how far it holds.

    What the columns hold is guessed and told. Written are: report.html (a page to explore, which needs no network),
    pics.csv (each component: PIC, training and held-out correlation, its interval, p-value), x.parquet and y.parquet
    (coordinates), model.safetensors (for `correspondence embed` and co.load) and summary.json.
    """
    matplotlib.use("Agg")
    request = Request(file=file, **options)
    check_usage(request)
    folder = Path(f"{file.stem or file.resolve().stem}-analysis") if output is None else output
    with one_sentence(), writing_to(folder):
        check_folder(folder)
    with one_sentence():
        data = read(request)
        _tell(data.lines)
        if data.x.kind == "images" and method == "auto" and len(data.ids) >= ENOUGH and find_spec("torch"):
            _tell(["Nets are tried on so many images, which takes minutes; --method kernel takes seconds."])
        analysis = analyze(data, method, components, random_state=seed)
    _tell(analysis.notes)
    if not analysis.is_saved:
        _tell(
            [f"The model of method {analysis.method} cannot be saved without pickle: model.safetensors is not written."]
        )
    with one_sentence(), writing_to(folder):
        summary = write(analysis, request, folder, title or file.stem, seed)
    click.echo(to_json(summary) if as_json else told(summary))


def _tell(lines: Sequence[str]) -> None:
    for line in lines:
        click.echo(safe(line), err=True)


def check_usage(request: Request) -> None:
    """Say which options exclude each other, or are of no use with others."""
    given = [
        name
        for name, value in (("--table", request.table), ("--beliefs", request.beliefs), ("--images", request.images))
        if value
    ]
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} and {given[1]} exclude each other.")
    unused = {
        "--table": ("y", "labels", "id", "groups", "weights"),
        "--beliefs": ("groups", "weights"),
        "--images": ("weights",),
    }
    for option in given:
        for name in unused[option]:
            if getattr(request, name):
                raise click.UsageError(f"--{name} is of no use with {option}.")


# --- train

LOSSES = ("dcca", "lowrank", "pice")


@click.command(
    "train",
    short_help="Train nets on files of any size, by several processes.",
    epilog="""\b
Examples:
  correspondence train clicks.parquet --y product --labels product --nproc 4
  correspondence train 'day-*.parquet' --x age,country,hour --y product -o model
  torchrun --nnodes 2 --nproc-per-node 4 ... -m correspondence train ...   # several machines, with one folder for all

\b
If a process dies, or on Ctrl-C, the state of the training stays in DIR/checkpoint, and the same command goes on from
there, with any --nproc; at the end it is deleted. A command that is done already does nothing but say so.
Exit codes: as for analyze.""",
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@columns_option(
    "x", 'Columns of X, with commas ("a, b",c if one is in a name); all others if left out. Of NPZ files, an array.'
)
@columns_option("y", "Columns of Y, with commas. Not needed for a file of two columns.")
@labels_option
@click.option("--components", type=click.IntRange(min=1), default=2, show_default=True, help="Number of functions.")
@click.option(
    "--nproc", type=click.IntRange(1, 1024), default=1, show_default=True, help="Processes that train one model."
)
@click.option("--steps", type=click.IntRange(min=1), default=3000, show_default=True, help="At most.")
@click.option(
    "--batch-size",
    type=click.IntRange(min=2),
    default=512,
    show_default=True,
    help="Pairs in a step, of all processes.",
)
@click.option("--loss", type=click.Choice(LOSSES), default="dcca", show_default=True, help="What is minimised.")
@click.option(
    "--learning-rate", type=click.FloatRange(1e-12, 10), default=3e-3, show_default=True, help="Of AdamW, at first."
)
@click.option(
    "--schedule",
    type=click.Choice(["plateau", "anneal"]),
    default="plateau",
    show_default=True,
    help="plateau ends when nothing improves any more, anneal makes all steps.",
)
@click.option(
    "--held-out",
    type=click.FloatRange(0, 0.9),
    default=0.15,
    show_default=True,
    help="Share of the pairs that is held out; of files read in blocks at most 20,000.",
)
@click.option(
    "--evaluate-every",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Steps between two looks at them.",
)
@click.option(
    "--checkpoint-every", type=click.IntRange(min=1), default=100, show_default=True, help="Steps between two writes."
)
@click.option(
    "--stream",
    is_flag=True,
    help="Read the file in blocks instead of into memory, as several files, and one of more than 1 GB, always are. "
    "For Parquet and CSV.",
)
@seed_option
@click.option("--overwrite", is_flag=True, help="Begin anew, whatever is in the folder.")
@click.option("--json", "as_json", is_flag=True, help="Print summary.json to the standard output, and nothing else.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    show_default="the name of the first FILE with -training",
    help="Folder for the files.",
)
def train_command(files: tuple[str, ...], output: Path | None, overwrite: bool, as_json: bool, **options: Any) -> None:
    """Train `PICE`, two nets, on the pairs of FILE (CSV, TSV, Parquet, JSON lines or NPZ), or of several.

    Several processes train the same model as one, but for rounding: each computes its share of every batch, with a
    thread of its own unless OMP_NUM_THREADS says otherwise. Written are: model.safetensors (for `correspondence embed`
    and co.load), history.csv (each look at the held-out pairs) and summary.json; and, if something goes wrong, logs.
    """
    folder = Path(f"{Path(files[0]).stem.strip('*?-_.') or 'pairs'}-training") if output is None else output
    job = Job(files=list(files), folder=str(folder), **options)
    if job.nproc > job.batch_size:
        raise click.UsageError(f"--batch-size {job.batch_size} must be at least --nproc {job.nproc}.")
    with one_sentence():
        check_torch()
        job.paths  # noqa: B018 - whether there are any
    with one_sentence(), writing_to(folder):
        check_folder(folder)
        is_new = is_worker() or job.prepare(overwrite)
    if is_new:
        _train(job, overwrite)
    else:
        _tell([f"{folder} holds the result of this command already: --overwrite would train anew."])
    if is_first():
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        click.echo(to_json(summary) if as_json else told_training(summary))


def _train(job: Job, overwrite: bool) -> None:
    with one_sentence(), Progress(job.steps) as progress:
        try:
            if is_worker():
                work_as_one_of(job, progress, overwrite)
            else:
                launch(job, progress)
        except TrainingError as error:
            raise click.ClickException(safe(error)) from None


# --- embed


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
@columns_option("x", "Columns of X, in the order of the analysis, if they have other names than there.")
@columns_option("y", "Columns of Y, likewise.")
@column_option("id", "Column that names the rows; by default that of the analysis, or their number.")
@click.option("--images", type=click.Path(path_type=Path), help="Folder of the images that FILE lists.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    show_default="the name of FILE with -embedded.parquet",
    help="A .parquet or .csv file.",
)
def embed_command(
    model: Path, file: Path, x: list[str], y: list[str], id: str | None, images: Path | None, output: Path | None
) -> None:
    """Place the rows of FILE by MODEL, a folder that analyze has written, or the file of a model.

    If the columns of x are there, f_1, f_2, ... are written; if those of y are, g_1, g_2, ...; if both, also the
    density ratio p(x, y) / (p(x) p(y)). A row with a label that the model does not know, or without a value, has empty
    coordinates. FILE may also be a folder of images, or new rows of a table of counts, if the model is of such.
    """
    target = Path(f"{file.stem}-embedded.parquet") if output is None else output
    if target.suffix.lower() not in (".parquet", ".csv"):
        raise click.UsageError(f"--output must end in .parquet or .csv, got {target}.")
    with one_sentence():
        found = embed(load_model(model), file, x, y, id, images)
    _tell(found.notes)
    with one_sentence(), writing_to(target.parent):
        write_file(found.columns, target)
    rows = len(next(iter(found.columns.values())))
    click.echo(f"Written to {safe(target.resolve())}: {rows:,} rows, {', '.join(map(safe, found.columns))}")


# --- completion


@click.command(
    "completion",
    short_help="Print the completion script of a shell.",
    epilog="""\b
To have it in every new shell:
  bash:  correspondence completion bash >> ~/.bashrc
  zsh:   correspondence completion zsh >> ~/.zshrc
  fish:  correspondence completion fish > ~/.config/fish/completions/correspondence.fish""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the script by which SHELL completes commands, options, and the names of columns of a file."""
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "correspondence", "_CORRESPONDENCE_COMPLETE").source())
