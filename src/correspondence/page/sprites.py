"""Thumbnails: many small pictures on a few large ones."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from correspondence._util.arguments import take_rows
from correspondence.scene.overlay import shown_images

__all__ = ["Sprites", "make_sprites"]

MAX_THUMBNAIL_PIXELS = 48  # pixels of the longer side of a thumbnail
SHEET_PIXELS = 2048  # and of a sheet
MIN_JPEG_HEIGHT = 24  # from this height on coloured pictures are written as JPEG


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
    """Thumbnails of some images.

    Parameters
    ----------
    images : ndarray of shape (n, height, width), with channels before or after the last two
        Of any type; other than whole numbers up to 255 are scaled to the range of them all.
    rows : ndarray of int
        Which of them, in this order.
    name : str
        How errors call them.
    """
    pictures = _bytes(check_images(take_rows(images, rows), name))
    height, width = _size(*pictures.shape[1:3])
    per_row = SHEET_PIXELS // width
    per_sheet = per_row * (SHEET_PIXELS // height)
    kind = "jpeg" if pictures.ndim == 4 and pictures.shape[3] == 3 and height >= MIN_JPEG_HEIGHT else "png"
    sheets = [
        draw_sheet(pictures[start : start + per_sheet], height, width, per_row, kind)
        for start in range(0, len(pictures), per_sheet)
    ]
    return Sprites(sheets, kind, width, height, per_row, per_sheet)


def check_images(images: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(images)
    except ValueError:
        raise ValueError(f"{name} must all have one size: resize them first.") from None
    if array.dtype.kind not in "biuf" or 0 in array.shape or not np.isfinite(array).all():
        raise ValueError(f"{name} must be an array of finite numbers, with pixels, got {array.dtype} {array.shape}.")
    return shown_images(array, name)


def _bytes(pictures: np.ndarray) -> np.ndarray:
    return pictures if pictures.dtype == np.uint8 else np.rint(255 * pictures).astype(np.uint8)


def _size(height: int, width: int) -> tuple[int, int]:
    scale = min(1.0, MAX_THUMBNAIL_PIXELS / max(height, width))
    return max(1, round(scale * height)), max(1, round(scale * width))


def draw_sheet(pictures: np.ndarray, height: int, width: int, per_row: int, kind: str) -> bytes:
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
