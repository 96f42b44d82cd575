"""``correspondence demo``."""

from __future__ import annotations

from pathlib import Path

import click

from correspondence.app.commands.options import writing_to

__all__ = ["demo_command"]


@click.command("demo", short_help="What a small net that reads digits confuses, with pictures and pages.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("correspondence-demo"),
    show_default=True,
    help="Folder for the pictures and pages.",
)
def demo_command(output: Path) -> None:
    """Train a small net on images of digits and see what it confuses; and a table: who does which task at home."""
    import matplotlib

    from correspondence.app.demo import run_demo

    matplotlib.use("Agg")
    with writing_to(output):
        click.echo(run_demo(output))
