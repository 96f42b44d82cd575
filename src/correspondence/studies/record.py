"""What a study leaves for the page of all results: NAME.json, written last, so that it marks a finished run."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from correspondence._util.files import new_file
from correspondence.studies.report import Exhibit, Line, list_versions
from correspondence.studies.runs import Settings

__all__ = ["Record"]


@dataclass(frozen=True)
class Record:
    """A finished run of a study."""

    study: str
    title: str
    seeds: int
    quick: bool
    seconds: float
    load: float | None
    """Load average of the machine over the last five minutes of the run; 2 is one process for each of two cores."""
    versions: dict[str, str]
    exhibits: list[Exhibit]

    @classmethod
    def from_run(cls, study: str, title: str, settings: Settings, seconds: float, exhibits: list[Exhibit]) -> Record:
        """Return the record of a run that has just ended."""
        load = round(os.getloadavg()[1], 1) if hasattr(os, "getloadavg") else None
        return cls(study, title, settings.seeds, settings.quick, round(seconds, 1), load, list_versions(), exhibits)

    def write_json(self, folder: Path) -> Path:
        """Write the record to the folder of the study."""
        path = _make_path(folder, self.study)
        with new_file(path) as temporary:
            temporary.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return path

    @classmethod
    def read_json(cls, folder: Path, study: str) -> Record | None:
        """Read what `write_json` wrote; return None if the file is missing or was not written by it."""
        try:
            values = json.loads(_make_path(folder, study).read_text(encoding="utf-8"))
            exhibits = [
                Exhibit(**each | {"lines": [Line(**line) for line in each["lines"]]}) for each in values.pop("exhibits")
            ]
            return cls(**values, exhibits=exhibits)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    @staticmethod
    def remove_json(folder: Path, study: str) -> None:
        """Remove the record of an earlier run before its files are replaced."""
        _make_path(folder, study).unlink(missing_ok=True)

    def is_of(self, settings: Settings) -> bool:
        """Tell whether a run with these settings, by this version of the package, would be the same."""
        wanted = settings.seeds, settings.quick, list_versions()["correspondence"]
        return (self.seeds, self.quick, self.versions.get("correspondence")) == wanted


def _make_path(folder: Path, study: str) -> Path:
    return folder / f"{study}.json"
