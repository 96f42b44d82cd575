"""``correspondence demo``."""

from __future__ import annotations

from pathlib import Path

import click

from correspondence.app.commands.options import output_option, writing_to

__all__ = ["demo_command"]


@click.command("demo", short_help="Show what a small net that reads digits confuses, with pictures and pages.")
@output_option("Folder for the pictures and pages.", default="correspondence-demo", file_okay=False)
def demo_command(output: Path) -> None:
    """Train a small net on images of digits and see what it confuses; then a table: who does which task at home."""
    import matplotlib

    from correspondence.app.demo import run_demo

    matplotlib.use("Agg")
    with writing_to(output):
        click.echo(run_demo(output))
