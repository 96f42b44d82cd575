"""The command line: ``correspondence analyze``, ``associations``, ``compare``, ``train``, ``embed`` and others."""

from __future__ import annotations

import errno
import os
import signal
import sys
from typing import Any

import click

from correspondence import __version__
from correspondence.app.command_line import note_arguments
from correspondence.app.commands.analyze import analyze_command
from correspondence.app.commands.associations import associations_command
from correspondence.app.commands.compare import compare_command
from correspondence.app.commands.completion import completion_command
from correspondence.app.commands.demo import demo_command
from correspondence.app.commands.embed import embed_command
from correspondence.app.commands.reproduce import reproduce_command
from correspondence.app.commands.train import train_command

__all__ = ["main"]

FULL_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)  # of the standard output


class Commands(click.Group):
    """Commands that end with exit code 130 on Ctrl-C, which click would make 1; `correspondence.__main__` says why."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note the arguments, which pages tell."""
        note_arguments(ctx, args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.exit(128 + signal.SIGINT)
        except OSError as error:
            if error.errno not in FULL_OUTPUT_ERRORS or error.filename is not None:
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python tries again when it ends
            raise click.ClickException(f"The output cannot be written: {error.strerror}.") from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, package_name="correspondence")
def main() -> None:
    """Correspondence analysis: the maximally correlated functions of two variables, and a picture of them."""


for _command in (
    analyze_command,
    associations_command,
    compare_command,
    completion_command,
    demo_command,
    embed_command,
    reproduce_command,
    train_command,
):
    main.add_command(_command)
