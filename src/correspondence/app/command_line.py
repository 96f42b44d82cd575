"""The command line that is being run, as a text that can be run again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import click

__all__ = ["note_arguments", "write_command_line"]

KEY = "correspondence.arguments"


def note_arguments(context: click.Context, arguments: Sequence[str]) -> None:
    """Note the arguments of the command that is being run."""
    context.meta[KEY] = list(arguments)


def write_command_line() -> str | None:
    """Write the command that is being run, quoted for a shell; None outside a command."""
    context = click.get_current_context(silent=True)
    noted = None if context is None else context.meta.get(KEY)
    return None if noted is None else shlex.join(["correspondence", *noted])
