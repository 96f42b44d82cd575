"""``correspondence train``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from correspondence.app.commands.options import (
    dates_option,
    decimal_option,
    json_option,
    labels_option,
    one_sentence,
    output_option,
    progress_option,
    seed_option,
    tell_lines,
    time_limit_option,
    writing_to,
    x_option,
    y_option,
)
from correspondence.app.messages import make_safe

if TYPE_CHECKING:
    from correspondence.app.train.options import Job

__all__ = ["train_command"]

LOSS_NAMES = ("dcca", "lowrank", "pice")


@click.command(
    "train",
    short_help="Train nets on files of any size, in several processes.",
    epilog="""\b
Examples:
  correspondence train clicks.parquet --y product --labels product --nproc 4
  correspondence train 'day-*.parquet' --x age,country,hour --y product -o model
  torchrun --nnodes 2 --nproc-per-node 4 ... -m correspondence train ...   # several machines, with one folder for all

\b
If a process dies, or on Ctrl-C, the state of the training stays in the folder checkpoint of --output, and the same
command goes on from there, with any --nproc; at the end it is deleted. A command that is done already does nothing
but say so.
Exit codes: as for analyze.""",
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@x_option
@y_option
@labels_option
@decimal_option
@dates_option
@click.option("--components", type=click.IntRange(min=1), default=2, help="Number of functions.")
@click.option("--nproc", type=click.IntRange(1, 1024), default=1, help="Processes that train one model.")
@click.option("--steps", type=click.IntRange(min=1), default=3000, help="Largest number of steps.")
@click.option("--batch-size", type=click.IntRange(min=2), default=512, help="Pairs in a step, over all processes.")
@click.option("--loss", type=click.Choice(LOSS_NAMES), default="dcca", help="Loss to minimise.")
@click.option("--learning-rate", type=click.FloatRange(1e-12, 10), default=3e-3, help="First learning rate of AdamW.")
@click.option(
    "--schedule",
    type=click.Choice(["plateau", "anneal"]),
    default="plateau",
    help="plateau ends when nothing improves, anneal makes all steps.",
)
@click.option(
    "--held-out",
    type=click.FloatRange(0, 0.9),
    default=0.15,
    help="Share of the pairs to hold out; at most 20,000 pairs of files that are read in blocks.",
)
@click.option(
    "--evaluate-every",
    type=click.IntRange(min=1),
    default=100,
    help="Steps between looks at the held-out pairs.",
)
@click.option("--checkpoint-every", type=click.IntRange(min=1), default=100, help="Steps between checkpoints.")
@click.option(
    "--stream",
    is_flag=True,
    help="Read the file (Parquet or CSV) in blocks instead of into memory, as several files, and one of more than "
    "1 GB, always are.",
)
@seed_option
@time_limit_option("Stop at the first look at the held-out pairs after so many seconds of training, and keep the best.")
@progress_option
@click.option("--overwrite", is_flag=True, help="Start again, whatever is in the folder.")
@json_option
@output_option("Folder for the files.", show_default="the name of the first FILE with -training")
def train_command(
    files: tuple[str, ...],
    output: Path | None,
    overwrite: bool,
    as_json: bool,
    progress: bool | None,
    **options: Any,
) -> None:
    """Train `PICE`, two nets, on the pairs of FILE (any that analyze takes), or of several (CSV or Parquet).

    Several processes train the same model as one, but for rounding: each computes its share of every batch, in one
    thread unless OMP_NUM_THREADS says otherwise. The files are model.safetensors (for `correspondence embed` and
    co.load), history.csv (each look at the held-out pairs) and summary.json; and, if something goes wrong, logs.
    """
    from correspondence.app.analyze.files import SUMMARY_FILE, check_folder, to_json
    from correspondence.app.train.launch import check_torch, is_first, is_worker
    from correspondence.app.train.options import Job
    from correspondence.app.train.terminal import format_summary

    folder = Path(f"{Path(files[0]).stem.strip('*?-_.') or 'pairs'}-training") if output is None else output
    job = Job(files=list(files), folder=str(folder), **options)
    if job.nproc > job.batch_size:
        raise click.UsageError(f"--batch-size {job.batch_size} must be at least --nproc {job.nproc}.")
    with one_sentence():
        check_torch()
        job.paths  # noqa: B018 - whether there are any
    with one_sentence(), writing_to(folder):
        check_folder(folder)
        is_new = is_worker() or job.prepare_folder(overwrite)
    if is_new:
        run_training(job, overwrite, progress)
    else:
        tell_lines([f"{folder} holds the result of this command already: --overwrite would train again."])
    if is_first():
        summary = json.loads((folder / SUMMARY_FILE).read_text(encoding="utf-8"))
        click.echo(to_json(summary) if as_json else format_summary(summary))


def run_training(job: Job, overwrite: bool, is_shown: bool | None) -> None:
    """Train, in new processes or as one of torchrun's, and show the progress."""
    from correspondence.app.train.launch import TrainingError, is_first, is_worker, launch_processes, work_as_one_of
    from correspondence.app.train.terminal import Progress

    with one_sentence(), Progress(job.steps, is_shown if is_first() else False) as progress:
        try:
            if is_worker():
                work_as_one_of(job, progress, overwrite)
            else:
                launch_processes(job, progress)
        except TrainingError as error:
            raise click.ClickException(make_safe(error)) from None
