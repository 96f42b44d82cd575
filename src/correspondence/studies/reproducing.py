"""Run a study and write its folder of results, or all of them and one page of what they found."""

from __future__ import annotations

import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import correspondence as co
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
from correspondence.studies.catalogue import STUDY_TITLES
from correspondence.studies.page import write_page
from correspondence.studies.record import Record
from correspondence.studies.report import Report, describe_provenance, write_report
from correspondence.studies.runs import Settings

__all__ = ["STUDIES", "Outcome", "Study", "reproduce_all", "reproduce_study"]


@dataclass(frozen=True)
class Study:
    """What `reproduce_study` can run."""

    title: str
    """One line, for the list of all studies and for the report."""
    run: Callable[[Settings], Report]
    seeds: str = ""
    """What each seed is for; empty if the study draws no random numbers."""
    default_seeds: int = 10


STUDIES: dict[str, Study] = {
    "brands": Study(STUDY_TITLES["brands"], brands.run_study, default_seeds=1),
    "bsc": Study(STUDY_TITLES["bsc"], bsc.run_study, "for the data and for the start of its fit"),
    "gaussian": Study(STUDY_TITLES["gaussian"], gaussian.run_study, "for the data and for the start of its fit"),
    "cooking": Study(STUDY_TITLES["cooking"], cooking.run_study, "for a split and for the fits to it"),
    "wine": Study(STUDY_TITLES["wine"], wine.run_study, "for the folds"),
    "boundary": Study(STUDY_TITLES["boundary"], boundary.run_study, "for a net and its training", 1),
    "training-mnist": Study(STUDY_TITLES["training-mnist"], training.run_mnist, "for a net and its training", 1),
    "training-cifar": Study(STUDY_TITLES["training-cifar"], training.run_cifar, "for a net and its training", 1),
    "multiview-mnist": Study(STUDY_TITLES["multiview-mnist"], multiview.run_mnist, "for nets and pairs", 1),
    "multiview-noisy-mnist": Study(STUDY_TITLES["multiview-noisy-mnist"], multiview.run_noisy, "for nets and pairs", 1),
    "multiview-cifar": Study(STUDY_TITLES["multiview-cifar"], multiview.run_cifar, "for nets and pairs", 1),
    "flickr": Study(STUDY_TITLES["flickr"], flickr.run_study, "for the nets and their training", 1),
    "compas": Study(STUDY_TITLES["compas"], compas.run_study, "for both models", 1),
    "latent": Study(STUDY_TITLES["latent"], latent.run_study, "for a data set of each problem and for its test", 20),
}


def reproduce_study(
    name: str, output: str | Path | None = None, seeds: int | None = None, quick: bool = False
) -> list[Path]:
    """Run a study and write its table, figures and text to a folder.

    Parameters
    ----------
    name : str
        The study must be one of `STUDIES`.
    output : path, optional
        Files go to this folder, which is made if necessary; those of an earlier run are replaced. The default is
        ``results/NAME``.
    seeds : int, optional
        Draw and fit so many data sets, or train so many nets; by default 10 (2 if `quick`), or 1 where that takes
        minutes.
    quick : bool
        Use fewer training and fresh pairs: to see that the study works, not for the numbers.

    Returns
    -------
    list of Path
        The files written.
    """
    if name not in STUDIES:
        raise ValueError(f"name must be one of {', '.join(STUDIES)}, got {name!r}.")
    study, folder = STUDIES[name], Path("results", name) if output is None else Path(output)
    settings = Settings.from_options(seeds, quick, study.default_seeds)
    is_new = not folder.exists()
    _check_folder(folder)
    start = time.perf_counter()
    try:
        report = study.run(settings)
    except BaseException:
        if is_new:
            folder.rmdir()
        raise
    seconds = time.perf_counter() - start
    Record.remove_json(folder, name)
    origin = describe_provenance(name, settings, seconds, study.seeds)
    files = write_report(report, name, study.title, folder, origin)
    return [*files, Record.from_run(name, study.title, settings, seconds, report.exhibits).write_json(folder)]


@dataclass(frozen=True)
class Outcome:
    """What `reproduce_all` did."""

    files: list[Path]
    """The page of all results and its table."""
    missing: dict[str, str]
    """Why studies were not run: data or packages that are missing."""
    failed: dict[str, str]
    """The errors of studies that failed."""
    skipped: tuple[str, ...] = ()
    """Studies that were not begun, because of the time limit."""


def reproduce_all(
    output: str | Path | None = None,
    seeds: int | None = None,
    quick: bool = False,
    again: bool = False,
    tell: Callable[[str], object] = print,
    time_limit: float | None = None,
) -> Outcome:
    """Run all studies one after the other, and write one page of what they found.

    A study that has been finished with the same settings is not run again, so that a run that was stopped goes on with
    the study that it had not finished. The page is written again after each study.

    Parameters
    ----------
    output : path, optional
        Each study gets a folder in this one, which is ``results`` by default.
    seeds, quick : optional
        They are passed to `reproduce_study` for all studies.
    again : bool
        Run finished studies too.
    tell : callable
        It is called with a line when a study begins and when it ends.
    time_limit : float, optional
        Begin no study after so many seconds, nor one that took longer than what is left of them when it was run before.

    Returns
    -------
    Outcome
        The files, and the studies that could not be run.
    """
    folder = Path("results") if output is None else Path(output)
    Settings.from_options(seeds, quick)  # an error now, not one for each study
    _check_folder(folder)
    command = "correspondence reproduce all" + (f" --seeds {seeds}" if seeds else "") + (" --quick" if quick else "")
    records = {} if again else _read_finished_records(folder, seeds, quick)
    earlier = {name: Record.read_json(folder / name, name) for name in STUDIES} if time_limit is not None else {}
    missing: dict[str, str] = {}
    failed: dict[str, str] = {}
    skipped: list[str] = []
    begin = time.monotonic()
    for number, (name, study) in enumerate(STUDIES.items(), start=1):
        tell(f"[{number}/{len(STUDIES)}] {name}: {study.title}")
        try:
            if name in records:
                tell("    finished before")
            elif time_limit is not None and _is_late(time_limit - (time.monotonic() - begin), earlier.get(name)):
                skipped.append(name)
                tell("    not run: what is left of the time limit is not enough")
            else:
                records[name] = _run_and_read_record(name, folder / name, seeds, quick)
                tell(f"    done in {records[name].seconds:.0f} seconds")
        except (ImportError, co.datasets.MissingDataError) as error:
            missing[name] = str(error)
            tell(f"    not run: {error}")
        except Exception as error:  # one study that fails must not cost the others
            failed[name] = f"{type(error).__name__}: {error}"
            tell(f"    failed: {failed[name]}")
            traceback.print_exc()
        ready = [records[each] for each in STUDIES if each in records]
        late = dict.fromkeys(skipped, "The time limit was reached.")
        files = write_page(folder, ready, {**missing, **failed, **late}, command)
    return Outcome(files, missing, failed, tuple(skipped))


def _is_late(left: float, earlier: Record | None) -> bool:
    """Say whether a study cannot finish in the seconds left, as far as an earlier run shows how long it takes."""
    return left <= (0.0 if earlier is None else earlier.seconds)


def _read_finished_records(folder: Path, seeds: int | None, quick: bool) -> dict[str, Record]:
    """Read the records of earlier runs with these settings."""
    found = {name: Record.read_json(folder / name, name) for name in STUDIES}
    return {
        name: record
        for name, record in found.items()
        if record is not None and record.is_of(Settings.from_options(seeds, quick, STUDIES[name].default_seeds))
    }


def _run_and_read_record(name: str, folder: Path, seeds: int | None, quick: bool) -> Record:
    reproduce_study(name, folder, seeds, quick)
    record = Record.read_json(folder, name)
    assert record is not None
    return record


def _check_folder(folder: Path) -> None:
    """Make the folder and check that it takes files: better now than after minutes of fitting."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass
