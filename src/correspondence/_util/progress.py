"""Progress of work that takes a while: bars, and one line that says what is done now and how long it may take."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Self, TextIO

from tqdm import tqdm

__all__ = ["ProgressArgument", "StageLine", "describe_seconds", "make_progress_bar", "open_stages"]

DELAY_SECONDS = 2.0  # what takes less needs no word
REFRESH_SECONDS = 0.5
SECONDS_PER_MINUTE, SECONDS_PER_HOUR = 60, 3600


def describe_seconds(seconds: float) -> str:
    """Say how long something takes, in a rounded unit.

    Examples
    --------
    >>> describe_seconds(0.2), describe_seconds(42.3), describe_seconds(200), describe_seconds(9000)
    ('less than 1 s', '42 s', '3 min', '2.5 h')
    """
    if seconds < 1:
        return "less than 1 s"
    if round(seconds) < 2 * SECONDS_PER_MINUTE:
        return f"{seconds:.0f} s"
    minutes = seconds / SECONDS_PER_MINUTE
    return f"{minutes:.0f} min" if seconds < 2 * SECONDS_PER_HOUR else f"{seconds / SECONDS_PER_HOUR:.1f} h"


class _Count:
    """A number of tasks of a stage, of which some are done; it is used as a bar is."""

    def __init__(self, line: StageLine, text: str, total: int) -> None:
        self.line, self.text, self.total, self.done, self.begin = line, text, total, 0, line.clock()

    def update(self, n: int = 1) -> None:
        """Say that n more tasks are done."""
        self.done += n

    def __enter__(self) -> Self:
        self.line.counts.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        self.line.counts.remove(self)


class StageLine:
    r"""One line on the error output that says what is done now, for how long, and how long it may take.

    It appears two seconds after the beginning, and goes when the work is done. In a terminal it is one line that
    changes; elsewhere, if it was asked for, there is a line for each stage.

    Parameters
    ----------
    is_shown : bool, optional
        Show the line always or never; by default only if the stream is a terminal.
    stream : text file, optional
        Write to this stream; by default to the error output.
    clock : callable
        It returns the time in seconds.

    Examples
    --------
    >>> import io
    >>> seconds, stream = iter([0.0, 0.0, 5.0, 5.0]), io.StringIO()
    >>> line = StageLine(True, stream, clock=lambda: next(seconds))
    >>> line.tell("fitting forest", seconds=40)
    >>> line.refresh()
    >>> stream.getvalue()
    'fitting forest: 5 s so far, about 35 s left\n'
    """

    def __init__(
        self,
        is_shown: bool | None = None,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.is_terminal = bool(getattr(self.stream, "isatty", lambda: False)())
        self.is_shown = self.is_terminal if is_shown is None else bool(is_shown)
        self.clock, self.begin = clock, clock()
        self.text, self.stage_begin, self.seconds = "", self.begin, None
        self.counts: list[_Count] = []
        self._lock, self._stopped, self._last = threading.RLock(), threading.Event(), ""
        self._thread: threading.Thread | None = None

    seconds: float | None

    def tell(self, text: str, seconds: float | None = None) -> None:
        """Begin a stage, which may take about so many seconds."""
        self.text, self.seconds, self.stage_begin = text, seconds, self.clock()

    def count(self, text: str, total: int) -> _Count:
        """Count tasks of the stage."""
        return _Count(self, text, total)

    def __enter__(self) -> Self:
        if self.is_shown:
            self._thread = threading.Thread(target=self._refresh_often, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        self.clear()

    def _refresh_often(self) -> None:
        while not self._stopped.wait(REFRESH_SECONDS):
            self.refresh()

    def refresh(self) -> None:
        """Write the line, if it is time for it."""
        now = self.clock()
        if not self.is_shown or not self.text or now - self.begin < DELAY_SECONDS:
            return
        line = self.format_line(now)
        with self._lock:
            if self.is_terminal:
                width = shutil.get_terminal_size().columns - 1
                self.stream.write(f"\r\x1b[K{line[:width]}")
            elif self.text != self._last:  # a file or a log gets one line for each stage
                self.stream.write(f"{line}\n")
            self._last = self.text
            self.stream.flush()

    def format_line(self, now: float) -> str:
        """Say what is done at this time, for how long, and how long it may still take."""
        passed = now - self.stage_begin
        what, left = self.text, None if self.seconds is None else max(self.seconds - passed, 0.0)
        for count in self.counts[-1:]:
            if count.total > 1:
                what += f" ({count.text} {min(count.done + 1, count.total)} of {count.total})"
            if count.done and count.total > count.done:
                left = (now - count.begin) / count.done * (count.total - count.done)
        so_far = [f"{passed:.0f} s so far"] if passed >= 1 else []
        rest = [] if left is None else [f"about {describe_seconds(left)} left"]
        return ": ".join([what, *([", ".join(so_far + rest)] if so_far or rest else [])])

    def clear(self) -> None:
        """Take the line away, so that something else can be written."""
        with self._lock:
            if self._last and self.is_terminal:
                self.stream.write("\r\x1b[K")
                self.stream.flush()
            if self.is_terminal:
                self._last = ""


ProgressArgument = bool | StageLine | None
"""Show progress always (True), never (False), in a terminal from two seconds on (None), or on a line of its owner."""


@contextmanager
def open_stages(progress: ProgressArgument) -> Iterator[StageLine]:
    """Yield the line for stages: the one that was given, which its owner closes, or a new one."""
    with nullcontext(progress) if isinstance(progress, StageLine) else StageLine(progress) as line:
        yield line


def make_progress_bar(total: int, text: str, progress: ProgressArgument = None) -> Any:
    """Make a bar to ``update``: always shown (True), never (False), or in a terminal after two seconds (None).

    On a `StageLine` there is no bar: the line tells how many are done.
    """
    if isinstance(progress, StageLine):
        return progress.count(text, total)
    shown: dict[str, Any] = {"delay": DELAY_SECONDS, "disable": None} if progress is None else {"disable": not progress}
    return tqdm(total=total, desc=text, **shown)
