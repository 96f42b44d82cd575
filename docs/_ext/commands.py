"""Write the help of each command where a page says `<!-- commands -->`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from sphinx.application import Sphinx

from correspondence.app import cli
from correspondence.app.commands import options

WIDTH = 88
MARK = "<!-- commands -->"


def commands(command: click.Command, path: str, parent: click.Context | None = None) -> Iterator[tuple[str, str]]:
    """Return name and help of a command and of those below it."""
    settings = {"terminal_width": WIDTH, "max_content_width": WIDTH, **command.context_settings}
    context = click.Context(command, parent, path, **settings)
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), name, context)


def _write(app: Sphinx, page: str, source: list[str]) -> None:
    if MARK not in source[0]:
        return
    for file in (Path(cli.__file__), *Path(options.__file__).parent.glob("*.py")):
        app.env.note_dependency(str(file))
    texts = [f"## {name}\n\n```text\n{text}\n```\n" for name, text in commands(cli.main, "correspondence")]
    source[0] = source[0].replace(MARK, "\n".join(texts))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("source-read", _write)
    return {"parallel_read_safe": True}
