"""Interrupt work that takes too long, wherever it is: loops of other packages do not look at our clock."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["OutOfTimeError", "interrupt_after"]

REPEAT_SECONDS = 1.0  # an exception that came where Python drops it, such as `__del__`, is raised again
IMPORT_SECONDS = 0.05  # between looks at whether an import has ended
IMPORT_MARK = "importlib._bootstrap"  # in the names of the files of Python's import system


class OutOfTimeError(BaseException):
    """The time for a block has passed. Like KeyboardInterrupt it is no Exception, so that nobody else handles it."""


class _Watch:
    """A thread that raises OutOfTimeError in the thread that made it, until it is stopped."""

    def __init__(self, seconds: float) -> None:
        self.owner, self.stopped = threading.get_ident(), threading.Event()
        self.n_imports = self.count_imports()
        self.thread = threading.Thread(target=self.raise_often, args=(seconds,), daemon=True)
        self.thread.start()

    def count_imports(self) -> int:
        """Count the calls of the import system on the owner's stack."""
        frame, count = sys._current_frames().get(self.owner), 0
        while frame is not None:
            count += IMPORT_MARK in frame.f_code.co_filename
            frame = frame.f_back
        return count

    def raise_often(self, pause: float) -> None:
        """Raise the exception after a pause and then again and again, but never inside of an import.

        A module of C that is imported by half cannot be imported again in the same process.
        """
        while not self.stopped.wait(pause):
            is_free = self.count_imports() <= self.n_imports
            pause = REPEAT_SECONDS if is_free else IMPORT_SECONDS
            if is_free:
                _set_pending(self.owner, OutOfTimeError)

    def stop(self) -> None:
        """End the thread, and drop an exception that comes too late."""
        while True:
            try:
                self.stopped.set()
                self.thread.join()
                _set_pending(self.owner, None)
                return
            except OutOfTimeError:
                continue


def _set_pending(thread: int, error: type[BaseException] | None) -> None:
    """Let Python raise an error in a thread before its next step, or nothing."""
    pending = ctypes.py_object() if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), pending)


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """Raise OutOfTimeError inside the block if it takes longer than so many seconds.

    A single call of compiled code is not interrupted: the error comes when it returns.

    Parameters
    ----------
    seconds : float
        The time for the block; if it is not positive, the block is not even begun.

    Raises
    ------
    OutOfTimeError
        If the time has passed before the block ended.

    Examples
    --------
    >>> try:
    ...     with interrupt_after(0.1):
    ...         while True:
    ...             pass
    ... except OutOfTimeError:
    ...     print("ended")
    ended
    """
    if seconds <= 0:
        raise OutOfTimeError
    watch = _Watch(min(seconds, threading.TIMEOUT_MAX))
    try:
        try:
            yield
        finally:
            watch.stop()
    finally:  # again, because the error may have come between the lines above
        watch.stop()
