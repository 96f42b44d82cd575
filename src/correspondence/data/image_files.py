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
    """uint8, of shape (n, channels, size, size) with 3 channels, or 1 if all are grey."""
    is_read: np.ndarray
    """For each file that was asked for, whether it is among them."""


def image_files(folder: str | Path) -> dict[str, Path]:
    """Files of a folder and its sub-folders by the names that a list may have for them: with and without the ending."""
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
        if path.stem.isdecimal():  # 007 is 7 in a table that was read
            names.setdefault(str(int(path.stem)), path)
    return names


def read_images(
    paths: Sequence[Path | None], size: int, colour: bool | None = None, progress: bool | None = None
) -> ReadImages:
    """Read images and bring them to a common size.

    Parameters
    ----------
    paths : sequence of Path or None
        None, and files that are damaged, are left out.
    size : int
        Height and width.
    colour : bool, optional
        Three channels or one; by default one if all images are grey.
    progress : bool, optional
        Show a bar; by default from two seconds on.
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
    """Read an image at a size; None if it cannot be read."""
    try:
        with Image.open(path) as image:
            image.draft("RGB", (size, size))
            return np.asarray(image.convert("RGB").resize((size, size)))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None


def to_grey(array: np.ndarray) -> np.ndarray:
    """Luminance, which of grey images are the values themselves."""
    weights = np.array([0.299, 0.587, 0.114])[:, None, None]
    return np.round((array * weights).sum(axis=1, keepdims=True)).astype(np.uint8)
