"""Data packed as text for the page's script: arrays, images as one sheet, the scree."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from correspondence._util.arguments import take_rows
from correspondence.results.evidence import Component
from correspondence.scene.points import normalise_images

__all__ = ["Sprites", "lay_out_scree", "make_sprites", "pack_arrays", "read_description", "shorten_mantissas"]

MANTISSA_BITS = 13  # enough for four decimal digits


def pack_arrays(content: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    """Pack a description and arrays as base64 of a gzip file, in which nothing looks like HTML.

    Parameters
    ----------
    content : dict
        The description; JSON must be able to hold it.
    arrays : dict of ndarray
        The arrays are written little-endian, each at a multiple of eight bytes.

    Returns
    -------
    str
        ``unpack.js`` reads it: the length of the JSON text as uint32, the text, the arrays.
    """
    places, parts, start = {}, [], 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        places[name] = [data.dtype.str[1:], start, data.size]
        parts.append(data.tobytes() + b"\0" * (-data.nbytes % 8))
        start += len(parts[-1])
    text = json.dumps(content | {"arrays": places}, allow_nan=False, separators=(",", ":")).encode()
    text += b" " * ((4 - len(text)) % 8)
    whole = len(text).to_bytes(4, "little") + text + b"".join(parts)
    return base64.b64encode(gzip.compress(whole, 6, mtime=0)).decode()


def read_description(page: str) -> dict[str, Any]:
    """Read the description in a page; there is none in a page without components."""
    found = re.search(r'id="data">([^<]+)<', page)
    if found is None:
        return {}
    with gzip.GzipFile(fileobj=io.BytesIO(base64.b64decode(found[1]))) as file:  # the arrays are not unpacked
        return json.loads(file.read(int.from_bytes(file.read(4), "little")))


def shorten_mantissas(values: np.ndarray, bits: int = MANTISSA_BITS) -> np.ndarray:
    """Round numbers to float32 with a short mantissa, which compresses well."""
    words = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    unit = np.uint32(1 << (23 - bits))
    return ((words + unit // np.uint32(2)) & ~(unit - np.uint32(1))).view(np.float32)


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


MAX_COMPONENTS_DRAWN = 20


def lay_out_scree(rows: list[Component]) -> dict[str, Any]:
    """Compute the lengths of a drawing of correlations, in units of its box.

    Parameters
    ----------
    rows : list of Component
        The components, as `list_components` returns them.

    Returns
    -------
    dict
        The size of the box, the height of the zero line, ticks, and for each component its place and heights.
    """
    shown = rows[:MAX_COMPONENTS_DRAWN]
    low_ends = [value for row in shown for value in (row.low, row.held_out, row.chance_low) if value is not None]
    lowest = max(-1.0, np.floor(10 * min([0.0, *low_ends])) / 10)
    left, top, height, step = 34, 12, 190, min(56, max(26, 520 // max(1, len(shown))))

    def y(value: float) -> float:
        return round(top + height * (1 - value) / (1 - lowest), 1)

    keys = ("training", "held_out", "low", "high", "chance_low", "chance_high")
    bars = [
        {"component": row.component, "at": left + step * (i + 0.5), "row": row}
        | {key: None if (value := getattr(row, key)) is None else y(max(value, lowest)) for key in keys}
        for i, row in enumerate(shown)
    ]
    ticks = [(y(value), f"{value:g}") for value in (-0.5, 0, 0.25, 0.5, 0.75, 1) if value >= lowest]
    size = (left + step * max(3, len(shown)) + 8, top + height + 34)
    layout = {
        "size": size,
        "zero": y(0),
        "left": left,
        "step": step,
        "ticks": ticks,
        "bars": bars,
        "base": top + height,
    }
    has = {"has_held_out": "held_out", "has_intervals": "low", "has_band": "chance_low"}
    return layout | {name: any(bar[key] is not None for bar in bars) for name, key in has.items()}
