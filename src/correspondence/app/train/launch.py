"""The processes of a training run: started together, and ended together when one of them is gone."""

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
from typing import Any

from correspondence.app.train.options import LOGS_FOLDER, Job

__all__ = ["TrainingError", "check_torch", "is_first", "is_worker", "launch_processes", "work_as_one_of"]

POLL_SECONDS = 0.1  # seconds
GRACE_SECONDS = 10  # seconds that processes have to end
RESTORED_SIGNALS = (signal.SIGINT, signal.SIGTERM, *((signal.SIGHUP, signal.SIGQUIT) if os.name == "posix" else ()))
Tell = Callable[[dict[str, Any]], None]


class TrainingError(Exception):
    """A process is gone; what is left of the run, in a sentence."""


def is_worker() -> bool:
    """Whether torchrun has started this process, as one of several or alone."""
    return "TORCHELASTIC_RUN_ID" in os.environ and "RANK" in os.environ


def is_first() -> bool:
    """Whether this is the process that talks to the user."""
    return not is_worker() or os.environ["RANK"] == "0"


def work_as_one_of(job: Job, tell: Tell, overwrite: bool) -> None:
    """Train in this process, which torchrun has started."""
    check_torch()
    from correspondence.app.train.worker import train_job

    train_job(job, tell if is_first() else lambda event: None, overwrite)


def check_torch() -> None:
    """Complain if torch is missing, before anything is written."""
    if not find_spec("torch"):
        raise ImportError('Training needs torch: pip install "correspondence[neural]".')


def launch_processes(job: Job, tell: Tell) -> None:
    """Train by `job.nproc` processes, until all of them are done.

    Parameters
    ----------
    job : Job
        What is asked for.
    tell : callable
        Called with each event: a ``line`` for the user, or the progress (``step``, ``captured`` and
        ``samples_per_second``).

    Raises
    ------
    ValueError
        If the data cannot be used.
    TrainingError
        If a process is gone.
    """
    check_torch()
    from torch.distributed import TCPStore
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException, Std, start_processes

    logging.getLogger("torch.distributed.elastic").setLevel(logging.CRITICAL)  # it is told in a sentence
    logs = job.output / LOGS_FOLDER
    with restore_signal_handlers(), tempfile.TemporaryDirectory(prefix="correspondence-train-") as temporary:
        description, events = Path(temporary, "job.json"), Path(temporary, "events.jsonl")
        job.write_json(description)
        events.touch()
        store = TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
        ranks = range(job.nproc)
        specs = DefaultLogsSpecs(str(logs), redirects=Std.ALL)
        processes = start_processes(
            "train",
            sys.executable,
            {
                rank: ("-m", "correspondence.app.train.worker", str(description), str(events), str(os.getpid()))
                for rank in ranks
            },
            {rank: make_environment(rank, job.nproc, store.port) for rank in ranks},
            specs,
        )
        try:
            with events.open(encoding="utf-8") as file:
                while (result := processes.wait(0)) is None:
                    _pass_on_events(file, tell)
                    threading.Event().wait(POLL_SECONDS)
                _pass_on_events(file, tell)
        except (SignalException, KeyboardInterrupt) as stop:
            number = getattr(stop, "sigval", signal.SIGINT)
            processes.close(timeout=GRACE_SECONDS)
            tell({"line": describe_checkpoint(job)})
            if number == signal.SIGINT:
                raise KeyboardInterrupt from None
            raise SystemExit(128 + number) from None
        finally:
            processes.close(timeout=GRACE_SECONDS)
        if result.is_failed():
            error = _make_error(job, result.failures)
            if isinstance(error, ValueError):
                remove_run_files(job)
            raise error
        shutil.rmtree(logs, ignore_errors=True)


@contextmanager
def restore_signal_handlers() -> Iterator[None]:
    """Torch's launcher takes the handlers of signals for itself."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in RESTORED_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def make_environment(rank: int, size: int, port: int) -> dict[str, str]:
    numbers = {
        "RANK": rank,
        "LOCAL_RANK": rank,
        "WORLD_SIZE": size,
        "LOCAL_WORLD_SIZE": size,
        "MASTER_PORT": port,
    }
    threads = {} if size == 1 else {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
    return {name: str(value) for name, value in numbers.items()} | {
        "MASTER_ADDR": "localhost",
        "TORCHELASTIC_RUN_ID": "train",
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        **threads,
    }


def _pass_on_events(file: Any, tell: Tell) -> None:
    """Tell what has been written since."""
    while True:
        place = file.tell()
        line = file.readline()
        if not line.endswith("\n"):  # not yet written to its end
            file.seek(place)
            return
        tell(json.loads(line))


# --- what went wrong


def _make_error(job: Job, failures: dict[int, Any]) -> Exception:
    failure = min(failures.values(), key=_get_failure_order)
    if failure.error_file_data.get("kind") == "data":
        return ValueError(failure.message)
    return TrainingError(f"{explain_failure(job, failure)}. {describe_checkpoint(job)}")


def _get_failure_order(failure: Any) -> tuple[int, int]:
    """The first of these is the one that others have followed."""
    kind = failure.error_file_data.get("kind")
    was_ended = failure.exitcode == -signal.SIGTERM
    return (1 if was_ended else 2 if kind == "lost" else 0), failure.local_rank


def explain_failure(job: Job, failure: Any) -> str:
    who = f"Process {failure.local_rank} (of 0 to {job.nproc - 1}) of the training" if job.nproc > 1 else "The training"
    if failure.exitcode < 0:
        hint = ", perhaps because memory has run out" if failure.exitcode == -signal.SIGKILL else ""
        return f"{who} was killed ({failure.signal_name()}{hint})"
    if failure.error_file_data.get("kind"):
        return f"{who} failed: {failure.message.rstrip('.')} (all of it is in {job.output / LOGS_FOLDER})"
    return f"{who} ended with exit code {failure.exitcode} (what it said is in {job.output / LOGS_FOLDER})"


def remove_run_files(job: Job) -> None:
    """Remove what a run over unusable data has made, unless an earlier run has left a checkpoint."""
    from correspondence.estimators.pice.checkpoint import read_last_step

    with suppress(ValueError):  # a checkpoint that is damaged is for the user to look at
        if read_last_step(job.checkpoint) is None:
            shutil.rmtree(job.checkpoint, ignore_errors=True)
    shutil.rmtree(job.output / LOGS_FOLDER, ignore_errors=True)
    with suppress(OSError):  # it is not empty
        job.output.rmdir()


def describe_checkpoint(job: Job) -> str:
    from correspondence.estimators.pice.checkpoint import read_last_step

    try:
        step = read_last_step(job.checkpoint)
    except ValueError as error:
        return f"The checkpoint cannot be used: {error}"
    if step is None:
        return "There is no checkpoint yet: the same command begins anew."
    return f"The checkpoint in {job.checkpoint} holds step {step} of {job.steps}: the same command goes on from there."
