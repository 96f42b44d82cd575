"""Thumbnails: many small pictures on a few large ones."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from correspondence._util.arguments import take_rows
from correspondence.scene.images import normalise_images

__all__ = ["Sprites", "make_sprites"]

MAX_THUMBNAIL_PIXELS = 48  # of the longer side
SHEET_PIXELS = 2048  # of each side
MIN_JPEG_PIXELS = 24  # from this height on, coloured pictures are written as JPEG


@dataclass(frozen=True, eq=False)
class Sprites:
    """Sheets of thumbnails, all of one size, in rows."""

    sheets: list[bytes]
    kind: str
    """"png" or "jpeg"."""
    width: int
    height: int
    per_row: int
    per_sheet: int


def make_sprites(images: Any, rows: np.ndarray, name: str = "images") -> Sprites:
    """Make thumbnails of some images.

    Parameters
    ----------
    images : ndarray of shape (n, height, width), with channels before or after the last two
        Images of any type; other than whole numbers up to 255 are scaled to the range of them all.
    rows : ndarray of int
        Thumbnails are made of these images, in this order.
    name : str
        Errors call the images by this name.
    """
    pictures = check_images(take_rows(images, rows), name)
    if pictures.dtype != np.uint8:
        pictures = np.rint(255 * pictures).astype(np.uint8)
    scale = min(1.0, MAX_THUMBNAIL_PIXELS / max(pictures.shape[1:3]))
    height, width = (max(1, round(scale * pixels)) for pixels in pictures.shape[1:3])
    per_row = SHEET_PIXELS // width
    per_sheet = per_row * (SHEET_PIXELS // height)
    kind = "jpeg" if pictures.ndim == 4 and pictures.shape[3] == 3 and height >= MIN_JPEG_PIXELS else "png"
    sheets = [
        draw_sheet(pictures[start : start + per_sheet], height, width, per_row, kind)
        for start in range(0, len(pictures), per_sheet)
    ]
    return Sprites(sheets, kind, width, height, per_row, per_sheet)


def check_images(images: Any, name: str) -> np.ndarray:
    """Return images as an array, with channels last."""
    try:
        array = np.asarray(images)
    except ValueError:
        raise ValueError(f"{name} must all have one size. Resize them first.") from None
    if array.dtype.kind not in "biuf" or 0 in array.shape or not np.isfinite(array).all():
        raise ValueError(f"{name} must be an array of finite numbers, with pixels, got {array.dtype} {array.shape}.")
    return normalise_images(array, name)


def draw_sheet(pictures: np.ndarray, height: int, width: int, per_row: int, kind: str) -> bytes:
    """Draw pictures side by side, and return the file."""
    used = min(per_row, len(pictures))
    sheet = Image.new(Image.fromarray(pictures[0]).mode, (used * width, -(-len(pictures) // per_row) * height))
    for i, picture in enumerate(pictures):
        image = Image.fromarray(picture)
        if image.size != (width, height):
            image = image.resize((width, height), Image.Resampling.LANCZOS)
        sheet.paste(image, (i % per_row * width, i // per_row * height))
    buffer = io.BytesIO()
    sheet.save(buffer, kind, quality=82, optimize=True)
    return buffer.getvalue()
