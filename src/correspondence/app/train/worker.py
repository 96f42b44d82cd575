"""What each process of a training run does: ``python -m correspondence.app.train.worker JOB EVENTS PARENT``."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import torch
import torch.distributed as dist

from correspondence._util.files import csv_text
from correspondence.app.analyze.files import (
    HISTORY_FILE,
    MODEL_FILE,
    SUMMARY_FILE,
    SUMMARY_FORMAT,
    describe_variable,
    new_files,
    to_json,
)
from correspondence.app.messages import collect_warnings, explain_error
from correspondence.app.train.inputs import Input, read_input
from correspondence.app.train.options import Job
from correspondence.estimators.pice import PICE, processes
from correspondence.results.evidence import list_components

__all__ = ["train_job"]

Tell = Callable[[dict[str, Any]], None]
WATCH_SECONDS = 0.5  # seconds between two looks at the parent
DATA_ERRORS = (ImportError, MemoryError, OSError, TypeError, ValueError)


def train_job(job: Job, tell: Tell, overwrite: bool | None = None) -> None:
    """Train, unless that is done already, and write the files in the first process.

    Parameters
    ----------
    job : Job
        The job, which is the same in all processes.
    tell : callable
        The first process calls it with lines for the user and with the progress.
    overwrite : bool, optional
        Whether to start again whatever the folder holds; if left out, the folder is prepared already.
    """
    start = time.perf_counter()
    with join_process_group():
        if overwrite is not None and not processes.from_first(lambda: job.prepare_folder(overwrite)):
            return
        data = read_input(job)
        if processes.is_first():
            _tell_lines(data.lines, tell)
        est = make_pice_estimator(job, tell)
        with collect_warnings() as notes:
            est.fit(data.X, data.Y, validation=data.validation)
        if processes.is_first():
            _tell_lines(notes, tell)
            _write_results(job, data, est, notes, time.perf_counter() - start)
        processes.wait_for_all()


def _tell_lines(lines: Sequence[str], tell: Tell) -> None:
    for line in lines:
        tell({"line": line})


@contextmanager
def join_process_group() -> Iterator[None]:
    """Join the process group that torchrun's variables describe, unless this process is the only one."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if _has_gpus():
        torch.cuda.set_device(local)
    dist.init_process_group("nccl" if _has_gpus() else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def _has_gpus() -> bool:
    """Say whether each process of this machine has a GPU of its own."""
    return torch.cuda.is_available() and torch.cuda.device_count() >= int(os.environ.get("LOCAL_WORLD_SIZE", "1"))


def make_pice_estimator(job: Job, tell: Tell) -> PICE:
    """Make the estimator of a job, which reports its progress."""
    parent = os.getppid()

    def report(row: dict[str, Any], speed: float) -> None:
        if os.getppid() != parent:
            raise RuntimeError("The process that started this one is gone.")
        tell({"step": row["step"], "captured": row["captured"], "samples_per_second": speed})

    deadline = None if job.time_limit is None else time.monotonic() + job.time_limit

    def is_late(step: int, d: Any) -> bool:
        if deadline is None or time.monotonic() < deadline:
            return False
        tell({"line": f"Training was stopped at step {step}: the time limit is reached."})
        return True

    return PICE(
        job.components,
        loss=job.loss,
        batch_size=job.batch_size,
        learning_rate=job.learning_rate,
        max_steps=job.steps,
        evaluate_every=job.evaluate_every,
        schedule=job.schedule,
        validation_fraction=job.held_out,
        device="auto" if _has_gpus() else "cpu",
        random_state=job.seed,
        checkpoint=job.checkpoint,
        checkpoint_every=job.checkpoint_every,
        callbacks=None if deadline is None else [is_late],
        progress=report,
    )


# --- what is written


def _write_results(job: Job, data: Input, est: PICE, notes: list[str], seconds: float) -> None:
    with new_files(job.output) as temporary:
        est.decomposition_.save(temporary / MODEL_FILE)
        (temporary / HISTORY_FILE).write_text(_format_history(est, job.components), encoding="utf-8")
        content = summarise_training(job, data, est, notes, seconds)
        (temporary / SUMMARY_FILE).write_text(to_json(content) + "\n", encoding="utf-8")
    shutil.rmtree(job.checkpoint, ignore_errors=True)


def _format_history(est: PICE, k: int) -> str:
    names = ["step", "loss", "learning_rate", "captured"]
    head = [*names, *(f"correlation_{i + 1}" for i in range(k))]
    rows = [[*(row[name] for name in names), *(row["correlations"] + [None] * k)[:k]] for row in est.history_]
    return csv_text([head, *rows], floats=".10g")


def summarise_training(job: Job, data: Input, est: PICE, notes: list[str], seconds: float) -> dict[str, Any]:
    """Return everything that is said about a training, as plain values."""
    held = est.validation_
    return {
        "format": SUMMARY_FORMAT,
        "command": "train",
        "title": ", ".join(job.files),
        "file": ", ".join(job.files),
        "folder": str(job.output.resolve()),
        "files": [MODEL_FILE, HISTORY_FILE, SUMMARY_FILE],
        "form": "pairs",
        "x": describe_variable(data.x),
        "y": describe_variable(data.y),
        "id": None,
        "n": int(est.decomposition_.n),
        "n_missing": data.n_missing,
        "readings": data.readings.to_json(),
        "method": "pice",
        "model": est.model_,
        "seed": job.seed,
        "seconds": round(seconds, 2),
        "processes": processes.count_processes(),
        "threads": torch.get_num_threads(),
        "steps": est.history_[-1]["step"] if est.history_ else 0,
        "samples_per_second": est.samples_per_second_,
        "components": [
            component.to_record()
            for component in list_components(est.decomposition_, None if held is None else held.evidence)
        ],
        "held_out": None
        if held is None
        else {
            "n": held.n,
            "captured": held.captured,
            "captured_interval": held.captured_interval.tolist(),
            "level": held.level,
        },
        "settings": job.settings,
        "data": job.data,
        "notes": notes,
    }


# --- a process of `launch_processes`


def main(job: str, events: str, parent: str) -> None:
    """Train, and leave events and errors in files for the process that watches."""
    # Torch's launcher passes Ctrl-C on. A Python handler survives the one that polars puts over it; SIG_DFL does not.
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))
    threading.Thread(target=_watch_parent, args=(int(parent),), daemon=True).start()
    try:
        with Path(events).open("a", encoding="utf-8") as file:

            def tell(event: dict[str, Any]) -> None:
                file.write(json.dumps(event) + "\n")
                file.flush()

            train_job(Job.read_json(Path(job)), tell)
    except Exception as error:
        _write_error_file(error)
        traceback.print_exc()
        _end_process(1)
    _end_process(0)


def _end_process(code: int) -> NoReturn:
    """End this process without Python's shutdown, during which threads of torch now and then abort it."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _watch_parent(parent: int) -> None:
    """End this process, whatever it does, when the one that started it is gone."""
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(1)


def _write_error_file(error: Exception) -> None:
    """Write the error to the file that torch's launcher reads."""
    kind = (
        "data" if isinstance(error, DATA_ERRORS) else "lost" if isinstance(error, processes.LostProcessError) else "bug"
    )
    text = explain_error(error) if kind == "data" else f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if path:
        content = {"message": text, "timestamp": int(time.time()), "kind": kind}
        Path(path).write_text(json.dumps(content), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
