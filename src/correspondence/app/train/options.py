"""The job of a training run, and whether a folder holds its result already."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from correspondence._util.files import new_file
from correspondence.app.analyze.files import SUMMARY_FILE
from correspondence.data.pairs.opening import list_files

__all__ = ["CHECKPOINT_FOLDER", "LOGS_FOLDER", "Job"]

CHECKPOINT_FOLDER, LOGS_FOLDER, SETTINGS_FILE = "checkpoint", "logs", "settings.json"
MAX_BYTES_IN_MEMORY = 10**9  # bytes; larger files are read in blocks
STREAMABLE_SUFFIXES = (".parquet", ".pq", ".csv", ".tsv")  # files that can be read in blocks
CHANGEABLE_SETTINGS = ("folder", "nproc", "checkpoint_every")  # settings that may change when a run goes on

LATER_SETTINGS = ("decimal", "dates", "time_limit")  # not among the settings of earlier versions


@dataclass(frozen=True)
class Job:
    """The options of the command line; everything else has the defaults of `PICE`."""

    files: list[str]
    folder: str
    x: list[str]
    y: list[str]
    labels: list[str]
    components: int
    loss: str
    steps: int
    batch_size: int
    learning_rate: float
    schedule: str
    evaluate_every: int
    checkpoint_every: int
    held_out: float
    seed: int
    stream: bool
    nproc: int
    decimal: str | None = None
    dates: str | None = None
    time_limit: float | None = None

    @property
    def output(self) -> Path:
        """The folder of the results."""
        return Path(self.folder)

    @property
    def checkpoint(self) -> Path:
        """The folder of the checkpoint."""
        return self.output / CHECKPOINT_FOLDER

    @property
    def paths(self) -> list[Path]:
        """The files, which must exist and be different."""
        paths = [Path(file) for file in list_files(self.files, "FILE")]
        folder = next((path for path in paths if path.is_dir()), None)
        if folder is not None:
            raise ValueError(f"{folder} is a folder, not a file: name the files in it.")
        return paths

    @property
    def is_streamed(self) -> bool:
        """Whether the files are read in blocks, instead of into memory."""
        paths = self.paths
        is_large = (
            paths[0].suffix.lower() in STREAMABLE_SUFFIXES
            and sum(path.stat().st_size for path in paths) > MAX_BYTES_IN_MEMORY
        )
        return self.stream or len(paths) > 1 or is_large

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that must be the same for a run to go on, or to be done already."""
        given = {name: value for name, value in asdict(self).items() if name not in CHANGEABLE_SETTINGS}
        return {name: value for name, value in given.items() if name not in LATER_SETTINGS or value is not None}

    @property
    def data(self) -> list[list[Any]]:
        """Name, size and time of each file, which show whether it has changed."""
        return [[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in self.paths]

    @classmethod
    def read_json(cls, path: Path) -> Job:
        """Read a job that `write_json` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def write_json(self, path: Path) -> None:
        """Write the job to a file."""
        with new_file(path) as temporary:
            temporary.write_text(json.dumps(asdict(self)), encoding="utf-8")

    def prepare_folder(self, overwrite: bool = False) -> bool:
        """Make the folders, and return whether there is something to do: not if the result exists.

        The result of another command, or an unfinished run with other settings, is an error.
        """
        if overwrite:
            shutil.rmtree(self.checkpoint, ignore_errors=True)
        elif self._is_done():
            return False
        self.checkpoint.mkdir(parents=True, exist_ok=True)
        before = _load_json(self.checkpoint / SETTINGS_FILE)
        differs = _describe_difference(before, self.settings)
        if before is not None and differs:
            raise ValueError(
                f"--output: {self.folder} holds an unfinished run with other settings ({differs}): give the same ones, "
                "another folder, or --overwrite."
            )
        with new_file(self.checkpoint / SETTINGS_FILE) as temporary:
            temporary.write_text(json.dumps(self.settings), encoding="utf-8")
        return True

    def _is_done(self) -> bool:
        summary = _load_json(self.output / SUMMARY_FILE)
        if summary is None:
            return False
        if summary.get("settings") == self.settings and summary.get("data") == self.data:
            return True
        differs = _describe_difference(summary.get("settings"), self.settings)
        why = f" ({differs})" if differs else ", or of files that have changed since" if "settings" in summary else ""
        raise ValueError(
            f"--output: {self.folder} holds the result of another command{why}: give another folder, or --overwrite."
        )


def _load_json(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        content = {}
    return content if isinstance(content, dict) else {}


def _describe_difference(before: Any, now: dict[str, Any]) -> str:
    """Say which setting differs first."""
    if not isinstance(before, dict):
        return ""
    name = next((name for name, value in now.items() if before.get(name) != value), None)
    return "" if name is None else f"{name} {before.get(name)} instead of {now[name]}"
