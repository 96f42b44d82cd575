"""``correspondence completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["completion_command"]


@click.command(
    "completion",
    short_help="Print the completion script of a shell.",
    epilog="""\b
To have it in every new shell:
  bash:  correspondence completion bash >> ~/.bashrc
  zsh:   correspondence completion zsh >> ~/.zshrc
  fish:  correspondence completion fish > ~/.config/fish/completions/correspondence.fish""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the script by which SHELL completes commands, options, and the names of columns of a file."""
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "correspondence", "_CORRESPONDENCE_COMPLETE").source())
