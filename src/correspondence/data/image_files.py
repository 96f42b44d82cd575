"""Folders of images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from correspondence._util.progress import make_progress_bar

__all__ = ["ReadImages", "image_files", "read_images", "read_pixels_of", "to_grey"]


class ReadImages(NamedTuple):
    """Pixels of the files that could be read."""

    pixels: np.ndarray
    """The type is uint8, the shape (n, channels, size, size); there are 3 channels, or 1 if all images are grey."""
    is_read: np.ndarray
    """Whether each file that was asked for could be read."""


def image_files(folder: str | Path) -> dict[str, Path]:
    """List the images of a folder and its sub-folders by their possible names in a table, with and without ending."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"There is no folder {folder}.")
    endings = Image.registered_extensions()
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in endings and path.is_file()]
    names: dict[str, Path] = {}
    for path in paths:
        inside = path.relative_to(folder)
        for name in (inside.as_posix(), inside.with_suffix("").as_posix(), path.name, path.stem):
            names.setdefault(name, path)
    for path in paths:
        if path.stem.isdecimal():  # a table that was read has 7 for 007
            names.setdefault(str(int(path.stem)), path)
    return names


def read_images(
    paths: Sequence[Path | None], size: int, colour: bool | None = None, progress: bool | None = None
) -> ReadImages:
    """Read images and bring them to a common size.

    Parameters
    ----------
    paths : sequence of Path or None
        None and damaged files are left out.
    size : int
        This is the height and the width of all images.
    colour : bool, optional
        Return three channels or one; by default one if all images are grey.
    progress : bool, optional
        Show a bar; by default after two seconds.
    """
    with make_progress_bar(len(paths), "images", progress) as done:
        pixels = []
        for path in paths:
            pixels.append(None if path is None else read_pixels_of(path, size))
            done.update()
    found = [image for image in pixels if image is not None]
    array = np.stack(found).transpose(0, 3, 1, 2) if found else np.empty((0, 3, size, size), np.uint8)
    if colour is None:
        colour = bool((array != array[:, :1]).any())
    return ReadImages(
        array if colour else to_grey(array), np.array([image is not None for image in pixels], dtype=bool)
    )


def read_pixels_of(path: Path, size: int) -> np.ndarray | None:
    """Read an image at this size; return None if it cannot be read."""
    try:
        with Image.open(path) as image:
            image.draft("RGB", (size, size))
            return np.asarray(image.convert("RGB").resize((size, size)))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None


def to_grey(array: np.ndarray) -> np.ndarray:
    """Compute the luminance, which for grey images is the values themselves."""
    weights = np.array([0.299, 0.587, 0.114])[:, None, None]
    return np.round((array * weights).sum(axis=1, keepdims=True)).astype(np.uint8)
