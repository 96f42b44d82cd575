"""Files that are never left half-written: models as safetensors with a JSON description, and text in CSV."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from correspondence._util.arguments import check_flag

__all__ = [
    "NetError",
    "State",
    "as_path",
    "check_new_file",
    "csv_text",
    "decode_json",
    "encode_json",
    "explain_damage",
    "find_format",
    "new_file",
    "read_safetensors",
    "strip_prefix",
    "write_safetensors",
]

FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\n")  # beginnings that spreadsheets may run
NUMBER_PATTERN = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?", re.ASCII)


class State(NamedTuple):
    """An object taken apart for a file: ``cls.from_state(*state)`` puts it together again."""

    description: dict[str, Any]
    """Plain values, for JSON."""
    arrays: dict[str, np.ndarray]

    def prefix_arrays(self, prefix: str) -> dict[str, np.ndarray]:
        """Return the arrays as a part of a larger object names them; `strip_prefix` is the inverse."""
        return {prefix + name: array for name, array in self.arrays.items()}

    @classmethod
    def join(cls, parts: Mapping[str, State]) -> State:
        """Join the parts of an object under their names."""
        arrays = {name: array for key, own in parts.items() for name, array in own.prefix_arrays(f"{key}.").items()}
        return cls({key: own.description for key, own in parts.items()}, arrays)


class NetError(ValueError):
    """A net or classifier that is not in a file, and was not given with it or does not fit: the file is all right."""


def as_path(path: Any, name: str = "path") -> Path:
    """Return the path of a file or folder; errors call the argument `name`."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name} must be a text or a Path, got {type(path).__name__}.")
    if "\0" in str(path):
        raise ValueError(f"{name} must be a name without NUL, got {str(path)!r}.")
    return Path(path)


def check_new_file(path: str | Path, overwrite: bool) -> Path:
    """Return the path of a file that can be written: its folder exists, and no file is replaced unasked."""
    target = as_path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent}: make it first.")
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder: give the name of a file.")
    if not check_flag(overwrite, "overwrite") and (target.exists() or target.is_symlink()):  # which leads nowhere
        raise FileExistsError(
            f"path must name a new file, got {target}, which exists. Pass overwrite=True to replace it."
        )
    return target


@contextmanager
def new_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside the target, renamed to it at the end, or removed if anything goes wrong."""
    target = check_new_file(path, overwrite=True)
    temporary = target.with_name(f".{secrets.token_hex(8)}{target.suffix}")
    temporary.touch(exist_ok=False)
    try:
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_safetensors(
    path: str | Path, arrays: dict[str, np.ndarray], description: dict, kind: str, version: int
) -> None:
    """Write arrays and a description (anything JSON can hold) to one file."""
    # safetensors takes contiguous arrays in the byte order of this machine
    tensors = {
        name: np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C") for name, array in arrays.items()
    }
    tensors["description"] = encode_json(description)
    metadata = {"format": kind, "version": str(version), "sha256": compute_digest(tensors)}
    with new_file(path) as temporary:
        try:
            temporary.write_bytes(to_bytes(tensors, metadata))
        except SafetensorError as error:
            raise TypeError(f"The data of the fit cannot be saved: {error}.") from None


def find_format(path: str | Path) -> str | None:
    """Find the format that a file says it has; None if it is not one of ours, which `read_safetensors` explains."""
    try:
        with safe_open(as_path(path), framework="numpy") as file:
            return (file.metadata() or {}).get("format")
    except (SafetensorError, UnicodeDecodeError, ValueError, OSError):
        return None


def read_safetensors(path: str | Path, kind: str, version: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what `write_safetensors` wrote; for anything else, a ValueError says what is wrong."""
    path = as_path(path)
    if not path.is_file():
        what = ": it is a folder, so give the file in it" if path.is_dir() else ""
        raise FileNotFoundError(f"There is no file '{path}'{what}.")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            found = metadata.get("format")
            tensors = {name: file.get_tensor(name) for name in file.keys()} if found == kind else {}  # noqa: SIM118
    except (SafetensorError, UnicodeDecodeError, ValueError) as error:
        raise ValueError(f"{path} is damaged, cut short, or was not written by this package.") from error
    if found != kind and str(found).startswith("correspondence."):
        raise ValueError(f"{path} holds a {found}, not a {kind}: read it with the function that goes with its kind.")
    if found != kind:
        raise ValueError(f"{path} was not written by this package: it holds {found or 'other tensors'}, not {kind}.")
    if metadata.get("version") != str(version):
        raise ValueError(
            f"{path} has version {metadata.get('version')} of the file format, this package reads {version}: "
            "use the release that wrote it, or save it again."
        )
    if metadata.get("sha256") != compute_digest(tensors):
        raise ValueError(f"{path} is damaged: its checksum does not match. Save the model again.")
    with explain_damage(path):
        return tensors, decode_json(tensors.pop("description"))


@contextmanager
def explain_damage(path: str | Path) -> Iterator[None]:
    """Say in one sentence that arrays and description do not fit together, although the checksum is right."""
    try:
        yield
    except (NetError, ImportError, MemoryError):  # nothing is wrong with the file
        raise
    except Exception as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else "its parts do not fit together"
        raise ValueError(f"{path} is damaged: {what}. Save the model again.") from error


def strip_prefix(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Select the arrays whose names start with a prefix, and remove it from their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def encode_json(value: Any) -> np.ndarray:
    """Return JSON text as an array of bytes, which unlike a safetensors header may have any length."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def decode_json(array: np.ndarray) -> Any:
    """Invert `encode_json`."""
    return json.loads(array.tobytes().decode())


def compute_digest(tensors: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape}".encode())
        digest.update(tensors[name].tobytes())
    return digest.hexdigest()


def csv_text(rows: Iterable[Iterable[Any]], floats: str = ".6g") -> str:
    r"""Write rows of cells as CSV, with LF at the end of lines; a spreadsheet that opens it will not run anything.

    Parameters
    ----------
    rows : iterable of iterables
        The cells are numbers, texts and other labels. None and NaN are left empty. Text that a spreadsheet would take
        for a formula gets an apostrophe in front, as spreadsheets themselves mark text; numbers stay numbers.
    floats : str
        Write numbers that are not whole in this format.

    Examples
    --------
    >>> csv_text([["label", "f"], ["=1+1", -0.5], ["a,b", 2]])
    'label,f\n\'=1+1,-0.5\n"a,b",2\n'
    """
    lines: list[str] = []
    keep = SimpleNamespace(write=lambda line: lines.append(line.removesuffix("\r\n") + "\n"))
    writer = csv.writer(keep, lineterminator="\r\n")  # so that cells with a CR or LF are quoted
    writer.writerows([_format_cell(value, floats) for value in row] for row in rows)
    return "".join(lines)


def _format_cell(value: Any, floats: str) -> str:
    if isinstance(value, float | np.floating):  # most cells; to ask for Real takes longer than the rest
        return format(value, floats) if value == value else ""
    if value is None or (isinstance(value, Real) and value != value):
        return ""
    text = str(value)
    is_safe = isinstance(value, Real) or not text.startswith(FORMULA_PREFIXES) or NUMBER_PATTERN.fullmatch(text)
    return text if is_safe else f"'{text}"
