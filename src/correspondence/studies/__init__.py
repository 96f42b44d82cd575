"""Studies: the tables and figures of the paper, computed again and set beside the exact values.

Each study is one file with a function ``run(settings) -> Report`` that calls public names only; `reproduce` runs it and
writes its results folder. To add a study, write its file and enter it in `STUDIES`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from correspondence.studies import (
    boundary,
    brands,
    bsc,
    compas,
    cooking,
    flickr,
    gaussian,
    latent,
    multiview,
    training,
    wine,
)
from correspondence.studies.report import Report, provenance, write
from correspondence.studies.runs import Settings

__all__ = ["STUDIES", "Study", "reproduce"]


@dataclass(frozen=True)
class Study:
    """What `reproduce` can run."""

    title: str
    """One line, for the list of all studies."""
    run: Callable[[Settings], Report]
    seeds: str = ""
    """What each seed is for; empty if nothing is drawn."""
    default_seeds: int = 10


STUDIES: dict[str, Study] = {
    "bsc": Study(bsc.TITLE, bsc.run, "each for the data and for the start of its fit"),
    "gaussian": Study(gaussian.TITLE, gaussian.run, "each for the data and for the start of its fit"),
    "latent": Study(latent.TITLE, latent.run, "each for a data set of each problem and for its test", 20),
    "cooking": Study(cooking.TITLE, cooking.run, "each for a split and for the fits to it"),
    "wine": Study(wine.TITLE, wine.run, "each for the folds"),
    "brands": Study(brands.TITLE, brands.run),
    "boundary": Study(boundary.TITLE, boundary.run, "each for a net and its training", 1),
    "training-mnist": Study(training.MNIST_TITLE, training.run_mnist, "each for a net and its training", 1),
    "training-cifar": Study(training.CIFAR_TITLE, training.run_cifar, "each for a net and its training", 1),
    "multiview-mnist": Study(multiview.MNIST_TITLE, multiview.run_mnist, "each for nets and pairs", 1),
    "multiview-noisy-mnist": Study(multiview.NOISY_TITLE, multiview.run_noisy, "each for nets and pairs", 1),
    "multiview-cifar": Study(multiview.CIFAR_TITLE, multiview.run_cifar, "each for nets and pairs", 1),
    "flickr": Study(flickr.TITLE, flickr.run, "each for the nets and their training", 1),
    "compas": Study(compas.TITLE, compas.run, "each for both models", 1),
}


def reproduce(name: str, output: str | Path | None = None, seeds: int | None = None, quick: bool = False) -> list[Path]:
    """Run a study and write its table, figures and text to a folder.

    Parameters
    ----------
    name : str
        One of `STUDIES`.
    output : path, optional
        The folder, made if there is none; files of an earlier run are replaced. ``results/NAME`` by default.
    seeds : int, optional
        How many data sets are drawn and fitted, or nets trained; by default 10 (2 if `quick`), or 1 where that takes
        minutes.
    quick : bool
        Fewer training and fresh pairs: to see that it works, not for the numbers.

    Returns
    -------
    list of Path
        The files written.
    """
    if name not in STUDIES:
        raise ValueError(f"There is no study {name!r}: choose one of {', '.join(STUDIES)}.")
    folder = Path("results", name) if output is None else Path(output)
    settings = Settings.of(seeds, quick, STUDIES[name].default_seeds)
    is_new = not folder.exists()
    _check_folder(folder)
    start = time.perf_counter()
    try:
        report = STUDIES[name].run(settings)
    except BaseException:
        if is_new:
            folder.rmdir()
        raise
    origin = provenance(name, folder, settings, time.perf_counter() - start, STUDIES[name].seeds)
    return write(report, name, folder, origin)


def _check_folder(folder: Path) -> None:
    """Make the folder and see that it takes files: better now than after minutes of fitting."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass
