"""The command ``correspondence``, also as ``python -m correspondence``: Ctrl-C gives one word and exit code 130.

Only modules that Python itself has loaded are imported here, so that Ctrl-C is heard while the others are imported.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys

INTERRUPTED = 128 + signal.SIGINT  # exit code of shells after Ctrl-C
interrupts: list[int] = []


def main() -> None:
    """Run the command of the command line, and end the process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # otherwise it is ignored, as after nohup
        signal.signal(signal.SIGINT, interrupt)
    sys.unraisablehook = interrupt_again
    try:
        from correspondence.app.cli import main as run_command

        run_command(prog_name="correspondence")
    except BaseException as error:
        # What came of an interrupt may be another error, such as that of a module imported by halves.
        if interrupts or isinstance(error, KeyboardInterrupt) or getattr(error, "code", None) == INTERRUPTED:
            end_process(cleans_up=True)
        raise
    finally:
        if signal.getsignal(signal.SIGINT) is interrupt:
            signal.signal(signal.SIGINT, end_process)  # while Python shuts down


def interrupt(number: int, frame: object) -> None:
    """Raise KeyboardInterrupt, and remember it."""
    interrupts.append(number)
    raise KeyboardInterrupt


def interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """Repeat an interrupt that came where Python drops exceptions, such as ``__del__`` or a callback from C."""
    if not isinstance(lost.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    from _thread import interrupt_main
    from threading import Timer

    Timer(0.01, interrupt_main).start()  # not at once, which would be in here


def end_process(*_: object, cleans_up: bool = False) -> None:
    """Say that it was interrupted, and end this process.

    Not by `sys.exit`, after which Python waits for threads, and dies by the signal if the interrupt came in code that
    `exec` runs, such as the methods of a dataclass.
    """
    try:
        print("\nInterrupted.", file=sys.stderr, flush=True)
        if cleans_up:
            sys.stderr = None  # errors in what is cleaned up say nothing new
            atexit._run_exitfuncs()
    finally:
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
