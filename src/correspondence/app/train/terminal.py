"""Show a training run on the terminal."""

from __future__ import annotations

import sys
from typing import Any, Self

from tqdm import tqdm

from correspondence._util.progress import StageLine
from correspondence.app.analyze.job import format_components
from correspondence.app.messages import make_safe

__all__ = ["Progress", "format_summary"]

CHOSEN_MODEL_NOTE = (
    "The held-out pairs also chose the model and when to stop, so their figures may be a little too high."
)


def format_summary(summary: dict[str, Any]) -> str:
    """Format the components and paths of the summary of a run."""
    lines = [_format_heading(summary), "", *format_components(summary["components"])]
    if summary["held_out"] is not None:
        low, high = summary["held_out"]["captured_interval"]
        lines += [
            f"captured, held out: {summary['held_out']['captured']:.4f} [{low:.4f}, {high:.4f}]",
            CHOSEN_MODEL_NOTE,
        ]
    else:
        lines.append("No held-out figures: nothing was held out.")
    return "\n".join([*lines, "", f"Written to {make_safe(summary['folder'])}: {', '.join(summary['files'])}"])


def _format_heading(summary: dict[str, Any]) -> str:
    n = summary["processes"]
    speed = summary["samples_per_second"]
    parts = [
        f"{make_safe(summary['title'])}, {summary['n']:,} pairs",
        f"{summary['seconds']:.1f} s",
        f"{n} process{'es' if n > 1 else ''}",
        *([f"{summary['steps']} steps", f"{speed:,.0f} samples/s"] if speed else []),
        f"{summary['model']} model",
    ]
    return ", ".join(parts) + "."


class Progress:
    """Lines and progress of a run on standard error: a bar on a terminal, otherwise a line now and then.

    Until the first look at the held-out pairs, a line on a terminal says what is done.

    Parameters
    ----------
    steps : int
        The largest number of steps.
    is_shown : bool, optional
        Show the line until the first look always or never; by default only on a terminal.
    """

    def __init__(self, steps: int, is_shown: bool | None = None) -> None:
        self.steps, self._told = steps, 0
        self._stages = StageLine(is_shown)

    def __enter__(self) -> Self:
        self._stages.tell("starting, and reading the pairs")
        self._stages.__enter__()
        self._bar = tqdm(total=self.steps, desc="training", disable=None, delay=0.5)
        return self

    def __exit__(self, *error: object) -> None:
        self._stages.__exit__(*error)
        self._bar.close()

    def __call__(self, event: dict[str, Any]) -> None:
        """Show an event of `launch_processes`."""
        if "line" in event:
            self._stages.clear()
            tqdm.write(make_safe(event["line"]), file=sys.stderr)
            self._stages.tell("preparing the nets, and training until the first look at held-out pairs")
            return
        self._stages.__exit__()
        captured = "" if event["captured"] is None else f"captured, held out: {event['captured']:.4f}, "
        how = f"{captured}{event['samples_per_second']:,.0f} samples/s"
        self._bar.set_postfix_str(how, refresh=False)
        self._bar.update(event["step"] - self._bar.n)
        if self._bar.disable and event["step"] >= self._told + self.steps / 10:
            self._told = event["step"]
            tqdm.write(f"step {event['step']} of {self.steps}: {how}", file=sys.stderr)
