"""The folder of a recording: the beliefs of a training, frame by frame."""

from __future__ import annotations

import json
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from correspondence._util.files import new_file
from correspondence._util.labels import label_from_json, label_to_json, to_object_array

__all__ = ["Recording"]

FORMAT_NAME, FORMAT_VERSION = "correspondence recording", 1
INDEX_FILE = "recording.json"


class Recording:
    """Frames in a folder: half-precision numbers one after the other, and a JSON file that says what they are.

    A frame is written before the JSON file names it, and a file with fewer frames gets another name, so that the JSON
    file is right whenever the process is killed.
    """

    def __init__(self, folder: Path, description: dict[str, Any]) -> None:
        self.folder = folder
        self.file: str = description["file"]
        self.n: int = description["n"]
        self.every: int = description["every"]
        self.steps: list[int] = list(description["steps"])
        names, labels = description["classes"], description["labels"]
        self.classes = None if names is None else _restore_classes(names)
        self.codes = None if labels is None else np.array(labels, dtype=np.intp)
        self._is_new_folder = False

    @classmethod
    def create_empty(cls, path: str | Path | None, n: int, every: int) -> Recording:
        """Create an empty recording in a folder, or in a temporary one."""
        description = {"file": "frames-0.f16", "n": n, "every": every, "steps": [], "classes": None, "labels": None}
        if path is None:
            recording = cls(Path(), description)
            recording.folder, recording._is_new_folder = _make_temporary_folder(recording), True
            return recording
        folder = Path(path)
        if (folder / INDEX_FILE).exists():
            raise FileExistsError(f"path: there is a recording in {folder} already. Choose another folder.")
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"path must be a folder, got the file {folder}.")
        recording = cls(folder, description)
        recording._is_new_folder = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        return recording

    def __getstate__(self) -> dict[str, Any]:
        """Take the frames along: two recordings in one folder would overwrite each other's."""
        size = len(self.steps) * self._count_frame_bytes()
        return self.__dict__ | {"frames": (self.folder / self.file).read_bytes()[:size] if size else b""}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Put the frames of a copy into a temporary folder of its own."""
        frames = state.pop("frames")
        self.__dict__.update(state)
        self.folder, self._is_new_folder = _make_temporary_folder(self), True
        (self.folder / self.file).write_bytes(frames)

    @classmethod
    def read_folder(cls, path: str | Path) -> Recording:
        """Read the recording of an earlier run."""
        folder = Path(path)
        try:
            description = json.loads((folder / INDEX_FILE).read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            raise FileNotFoundError(f"path: there is no recording in {folder}. Pass the recorder's folder.") from None
        except ValueError as error:
            raise ValueError(f"path: {folder / INDEX_FILE} is damaged ({error}).") from None
        if not isinstance(description, dict) or description.get("format") != FORMAT_NAME:
            raise ValueError(f"path: {folder / INDEX_FILE} was not written by a TrainingRecorder.")
        if description.get("version") != FORMAT_VERSION:
            raise ValueError(
                f"path: the recording in {folder} has version {description.get('version')} of the format, but this "
                f"package reads {FORMAT_VERSION}. Use the release that wrote it."
            )
        try:
            recording = cls(folder, description)
            recording._check_consistency()
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"path: {folder / INDEX_FILE} is damaged ({error}).") from None
        frames = folder / recording.file
        if not frames.is_file() or frames.stat().st_size < len(recording.steps) * recording._count_frame_bytes():
            raise ValueError(f"path: {frames} is missing or cut short. Copy the whole folder of the recording.")
        return recording

    def _check_consistency(self) -> None:
        """Check that what was read fits together."""
        k, codes = len(self.classes) if self.classes is not None else 0, self.codes
        if k < 2 or not self.steps:
            raise ValueError("there are no classes or no frames")
        if codes is not None and (len(codes) != self.n or not set(codes.tolist()) <= set(range(k))):
            raise ValueError("the labels do not fit")

    def discard_folder(self) -> None:
        """Delete the folder if it was made for this recording."""
        if self._is_new_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def get_classes(self) -> np.ndarray:
        """Return the classes of a recording that has frames."""
        assert self.classes is not None
        return self.classes

    def set_classes(self, classes: np.ndarray, codes: np.ndarray | None) -> None:
        """Set the classes of the columns, and the positions among them of the labels of the rows."""
        for label in classes.tolist():
            label_to_json(label)  # an error now is better than after the first frame
        self.classes, self.codes = classes, codes

    def append_frame(self, step: int, P: np.ndarray) -> None:
        """Add a frame."""
        if P.shape != (self.n, len(self.get_classes())):
            raise ValueError(
                f"The model returned beliefs of shape {P.shape} after ({self.n}, {len(self.get_classes())}); "
                "neither the probes nor the classes may change during a recording."
            )
        with open(self.folder / self.file, "ab") as file:
            file.truncate(len(self.steps) * self._count_frame_bytes())  # an interrupted step may have left something
            P.astype("<f2").tofile(file)
        self.steps.append(step)
        self.write_index()

    def read_beliefs(self, i: int) -> np.ndarray:
        """Read frame i, counted from 0, and scale its rows, rounded to half precision, to a sum of 1."""
        size = self.n * len(self.get_classes())
        values = np.fromfile(self.folder / self.file, "<f2", size, offset=i * self._count_frame_bytes())
        P = values.reshape(self.n, -1).astype(np.float64)
        return P / P.sum(axis=1, keepdims=True)

    def thin_frames(self) -> None:
        """Drop every second frame, except the first and the newest, and record half as often from now on."""
        every, last = 2 * self.every, len(self.steps) - 1
        kept = [i for i, step in enumerate(self.steps) if step % every == 0 or i in (0, last)]
        if 2 * len(kept) < len(self.steps):  # recorded by hand, at steps of their own
            kept = [i for i in range(last + 1) if i % 2 == 0 or i == last]
        old, number = self.file, int(self.file.removeprefix("frames-").removesuffix(".f16"))
        new = f"frames-{number + 1}.f16"
        with (
            new_file(self.folder / new) as temporary,
            open(self.folder / old, "rb") as source,
            open(temporary, "wb") as target,
        ):
            for i in kept:
                source.seek(i * self._count_frame_bytes())
                target.write(source.read(self._count_frame_bytes()))
        self.file, self.every, self.steps = new, every, [self.steps[i] for i in kept]
        self.write_index()
        (self.folder / old).unlink()

    def _count_frame_bytes(self) -> int:
        return 2 * self.n * (0 if self.classes is None else len(self.classes))

    def write_index(self) -> None:
        """Write the JSON file that says what the frames are."""
        description = {
            "format": FORMAT_NAME,
            "version": FORMAT_VERSION,
            "file": self.file,
            "n": self.n,
            "k": len(self.get_classes()),
            "every": self.every,
            "steps": self.steps,
            "classes": [label_to_json(label) for label in self.get_classes().tolist()],
            "labels": None if self.codes is None else self.codes.tolist(),
        }
        with new_file(self.folder / INDEX_FILE) as temporary:
            temporary.write_text(json.dumps(description), encoding="utf-8")


def _make_temporary_folder(recording: Recording) -> Path:
    """Make a folder that is deleted with the recording."""
    folder = Path(tempfile.mkdtemp(prefix="correspondence-"))
    weakref.finalize(recording, shutil.rmtree, folder, ignore_errors=True)
    return folder


def _restore_classes(names: list[Any]) -> np.ndarray:
    """Restore classes as they were: numbers keep their type."""
    values = [label_from_json(name) for name in names]
    are_alike = {type(value) for value in values} in ({int}, {float}, {bool})
    return np.array(values) if are_alike else to_object_array(values)
