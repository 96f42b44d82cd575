"""Folders of images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps

from correspondence._util.progress import ProgressArgument, make_progress_bar

__all__ = ["ReadImages", "image_files", "read_image", "read_images", "to_grey"]


FLOAT_LIMITS = [1.0, 255.0, 65535.0]  # what white may be in images of floats


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
    paths: Sequence[Path | None], size: int, colour: bool | None = None, progress: ProgressArgument = None
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
            pixels.append(None if path is None else read_image(path, size))
            done.update()
    found = [image for image in pixels if image is not None]
    array = np.stack(found).transpose(0, 3, 1, 2) if found else np.empty((0, 3, size, size), np.uint8)
    if colour is None:
        colour = bool((array != array[:, :1]).any())
    return ReadImages(
        array if colour else to_grey(array), np.array([image is not None for image in pixels], dtype=bool)
    )


def read_image(path: Path, size: int) -> np.ndarray | None:
    """Read an image at this size; return None if it cannot be read."""
    try:
        with Image.open(path) as image:
            image.draft("RGB", (size, size))
            upright = ImageOps.exif_transpose(image)  # as viewers show it
            return np.asarray(_to_rgb(upright).resize((size, size)))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None


def _to_rgb(image: Image.Image) -> Image.Image:
    """Convert to 8 bits per channel: deep grey values are scaled, not cut off, and what is transparent is white."""
    if image.mode.startswith("I") or image.mode == "F":
        return Image.fromarray(_to_bytes(np.asarray(image))).convert("RGB")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        drawn = image.convert("RGBA")
        ground = Image.new("RGBA", drawn.size, "white")
        return Image.alpha_composite(ground, drawn).convert("RGB")
    return image.convert("RGB")


def _to_bytes(values: np.ndarray) -> np.ndarray:
    """Scale deep grey values to bytes by the smallest range that holds them: 0 to 1 for floats, then 8, 16 or 32 bits.

    Raises
    ------
    ValueError
        If there is no such range, because values are negative or not finite.
    """
    is_deep = values.dtype.itemsize == 2  # 16 bits, even if the image is dark
    limits = [65535.0] if is_deep else [255.0, 65535.0, 2.0**32 - 1] if values.dtype.kind in "iu" else FLOAT_LIMITS
    low, high = float(values.min()), float(values.max())
    limit = next((limit for limit in limits if high <= limit), None)
    if limit is None or not low >= 0:
        raise ValueError(f"The grey values must be in 0 to {limits[-1]:g}, got {low:g} to {high:g}.")
    return np.round(values * (255.0 / limit)).astype(np.uint8)


def to_grey(array: np.ndarray) -> np.ndarray:
    """Compute the luminance, which for grey images is the values themselves."""
    weights = np.array([0.299, 0.587, 0.114])[:, None, None]
    return np.round((array * weights).sum(axis=1, keepdims=True)).astype(np.uint8)
