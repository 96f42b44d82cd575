"""Start the processes of a training run, and end them together when one of them is gone."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from correspondence._util.extras import explain_missing_extra
from correspondence.app.train.options import LOGS_FOLDER, Job

__all__ = ["TrainingError", "check_torch", "is_first", "is_worker", "launch_processes", "work_as_one_of"]

POLL_SECONDS = 0.1  # seconds between two looks at the processes and at their events
RESTORED_SIGNALS = (signal.SIGINT, signal.SIGTERM, *((signal.SIGHUP, signal.SIGQUIT) if os.name == "posix" else ()))
Tell = Callable[[dict[str, Any]], None]


class TrainingError(Exception):
    """A process is gone; the message says what is left of the run."""


def is_worker() -> bool:
    """Say whether torchrun has started this process, as one of several or alone."""
    return "TORCHELASTIC_RUN_ID" in os.environ and "RANK" in os.environ


def is_first() -> bool:
    """Say whether this is the process that talks to the user."""
    return not is_worker() or os.environ["RANK"] == "0"


def work_as_one_of(job: Job, tell: Tell, overwrite: bool) -> None:
    """Train in this process, which torchrun has started."""
    check_torch()
    from correspondence.app.train.worker import train_job

    train_job(job, tell if is_first() else lambda event: None, overwrite)


def check_torch() -> None:
    """Raise an error if torch is missing, before anything is written."""
    if not find_spec("torch"):
        raise ImportError(explain_missing_extra("Training needs torch", "neural"))


def launch_processes(job: Job, tell: Tell) -> None:
    """Train in `job.nproc` processes, until all of them are done.

    Parameters
    ----------
    job : Job
        The job to do.
    tell : callable
        It is called with each event: a ``line`` for the user, or the progress (``step``, ``captured`` and
        ``samples_per_second``).

    Raises
    ------
    ValueError
        If the data cannot be used.
    TrainingError
        If a process is gone.
    """
    check_torch()
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException, Std
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    logs = job.output / LOGS_FOLDER
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=job.nproc,
        run_id="train",
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",  # any free port
        local_addr="localhost",
        max_restarts=0,
        monitor_interval=POLL_SECONDS,
        logs_specs=DefaultLogsSpecs(str(logs), redirects=Std.ALL),
    )
    with restore_process_state(), tempfile.TemporaryDirectory(prefix="correspondence-train-") as temporary:
        description, events = Path(temporary, "job.json"), Path(temporary, "events.jsonl")
        job.write_json(description)
        if job.nproc > 1:
            os.environ.setdefault("OMP_NUM_THREADS", "1")
        command = ("-m", "correspondence.app.train.worker", str(description), str(events), str(os.getpid()))
        try:
            with follow_events(events, tell):
                elastic_launch(config, sys.executable)(*command)
        except ChildFailedError as failed:
            raise_failure(job, failed.failures)
        except (SignalException, KeyboardInterrupt) as stop:
            tell({"line": describe_checkpoint(job)})
            number = getattr(stop, "sigval", signal.SIGINT)
            if number == signal.SIGINT:
                raise KeyboardInterrupt from None
            raise SystemExit(128 + number) from None
    shutil.rmtree(logs, ignore_errors=True)


@contextmanager
def restore_process_state() -> Iterator[None]:
    """Put back the environment and the signal handlers, which torch's launcher changes, and keep its log quiet."""
    is_main = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in RESTORED_SIGNALS if is_main}
    environment = dict(os.environ)
    logging.disable(logging.CRITICAL)  # whatever goes wrong is explained in a sentence
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        os.environ.clear()
        os.environ.update(environment)
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextmanager
def follow_events(path: Path, tell: Tell) -> Iterator[None]:
    """Pass on, in a thread, each event that the first process appends to a file."""
    path.touch()
    is_over = threading.Event()

    def follow() -> None:
        line = ""
        with path.open(encoding="utf-8") as file:
            while True:
                is_last = is_over.wait(POLL_SECONDS)
                while part := file.readline():
                    line += part
                    if line.endswith("\n"):  # otherwise the rest of it is still being written
                        tell(json.loads(line))
                        line = ""
                if is_last:
                    return

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


# --- what went wrong


def raise_failure(job: Job, failures: dict[int, Any]) -> NoReturn:
    """Raise the error of the process that failed first; what a run over unusable data has made is removed."""
    failure = min(failures.values(), key=_get_failure_order)
    if failure.error_file_data.get("kind") == "data":
        remove_run_files(job)
        raise ValueError(failure.message) from None
    raise TrainingError(f"{explain_failure(job, failure)}. {describe_checkpoint(job)}") from None


def _get_failure_order(failure: Any) -> tuple[int, int]:
    """Return a key by which the failure that others followed comes first."""
    kind = failure.error_file_data.get("kind")
    was_ended = failure.exitcode == -signal.SIGTERM
    return (1 if was_ended else 2 if kind == "lost" else 0), failure.local_rank


def explain_failure(job: Job, failure: Any) -> str:
    """Say which process failed, and how."""
    who = f"Process {failure.local_rank} (of 0 to {job.nproc - 1}) of the training" if job.nproc > 1 else "The training"
    if failure.exitcode < 0:
        hint = ", perhaps because memory has run out" if failure.exitcode == -signal.SIGKILL else ""
        return f"{who} was killed ({failure.signal_name()}{hint})"
    if failure.error_file_data.get("kind"):
        return f"{who} failed: {failure.message.rstrip('.')} (all of it is in {job.output / LOGS_FOLDER})"
    return f"{who} ended with exit code {failure.exitcode} (what it said is in {job.output / LOGS_FOLDER})"


def remove_run_files(job: Job) -> None:
    """Remove what a run over unusable data has made, unless an earlier run left a checkpoint."""
    from correspondence.estimators.pice.checkpoint import read_last_step

    with suppress(ValueError):  # a checkpoint that is damaged is for the user to look at
        if read_last_step(job.checkpoint) is None:
            shutil.rmtree(job.checkpoint, ignore_errors=True)
    shutil.rmtree(job.output / LOGS_FOLDER, ignore_errors=True)
    with suppress(OSError):  # it is not empty
        job.output.rmdir()


def describe_checkpoint(job: Job) -> str:
    """Say what the checkpoint holds, and what the same command would do."""
    from correspondence.estimators.pice.checkpoint import read_last_step

    try:
        step = read_last_step(job.checkpoint)
    except ValueError as error:
        return f"The checkpoint cannot be used: {error}"
    if step is None:
        return "There is no checkpoint yet: the same command starts again."
    return f"The checkpoint in {job.checkpoint} holds step {step} of {job.steps}: the same command goes on from there."
