"""The command line: ``correspondence demo``."""

from __future__ import annotations

from pathlib import Path

import click
import matplotlib
import matplotlib.pyplot as plt

from correspondence import CA, __version__, datasets, explore, plot
from correspondence.io import new_file

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, package_name="correspondence")
def main() -> None:
    """Correspondence analysis: the maximally correlated functions of two variables, and a picture of them."""


@main.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("correspondence-demo"),
    show_default=True,
    help="Folder for the picture and the page.",
)
def demo(output: Path) -> None:
    """Analyse a bundled table: who does which task in 1744 answers of couples."""
    matplotlib.use("Agg")
    ca = CA().fit(datasets.load_housetasks())
    picture, page = output / "plane.png", output / "page.html"
    try:
        output.mkdir(parents=True, exist_ok=True)
        _draw(ca, picture)
        explore(ca, page, title="Household tasks: who does what?")
    except OSError as error:
        reason = str(error.strerror or error).rstrip(".")
        raise click.ClickException(f"--output: cannot write to the folder {output}: {reason}.") from None
    _summarise(ca)
    click.echo(f"\nPicture: {picture.resolve()}\nPage:    {page.resolve().as_uri()}")


def _draw(ca: CA, path: Path) -> None:
    plot.plane(ca, names=("task", "who does it"), ellipses=ca.bootstrap(random_state=0))
    try:
        with new_file(path) as temporary:
            plt.savefig(temporary, dpi=110)
    finally:
        plt.close()


def _summarise(ca: CA) -> None:
    d, test = ca.decomposition_, ca.chi2_test_
    click.echo(f"Household tasks x who does them, {d.n:g} answers\n")
    click.echo("component     PIC  correlation  % of chi2")
    for i, (pic, r, share) in enumerate(zip(d.pics, d.correlations, d.inertia_ratios, strict=True), start=1):
        click.echo(f"{i:>9}  {pic:.4f}  {r:>11.4f}  {100 * share:>9.1f}")
    click.echo(f"\nTest of independence: chi2 {test.statistic:.1f} on {test.dof} dof, p {_p_value(test.pvalue)}")
    for axis in range(2):
        order = ca.columns_.standard[:, axis].argsort()
        low, high = ca.columns_.labels[order[[0, -1]]]
        click.echo(f"Axis {axis + 1} separates {low} from {high}.")


def _p_value(p: float) -> str:
    return "< 1e-300" if p < 1e-300 else f"= {p:.2g}"
