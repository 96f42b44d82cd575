"""Data of a page as one text: a JSON description and typed arrays, compressed."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np

__all__ = ["pack_arrays", "shorten_mantissas"]

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


def shorten_mantissas(values: np.ndarray, bits: int = MANTISSA_BITS) -> np.ndarray:
    """Round numbers to float32 with a short mantissa, which compresses well."""
    words = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    unit = np.uint32(1 << (23 - bits))
    return ((words + unit // np.uint32(2)) & ~(unit - np.uint32(1))).view(np.float32)
