"""Data of a page as one text: a JSON description and typed arrays, compressed."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np

__all__ = ["few_bits", "pack_arrays"]

MANTISSA_BITS = 13  # of a mantissa that are kept: four digits


def pack_arrays(content: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    """Base64 of a gzip file, which has nothing in it that a browser could take for HTML.

    Parameters
    ----------
    content : dict
        Anything JSON can hold.
    arrays : dict of ndarray
        Little-endian in the file, each at a multiple of eight bytes. `content` names them as it likes.

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


def few_bits(values: np.ndarray, bits: int = MANTISSA_BITS) -> np.ndarray:
    """Numbers as float32 with a short mantissa, which compresses well."""
    words = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    unit = np.uint32(1 << (23 - bits))
    return ((words + unit // np.uint32(2)) & ~(unit - np.uint32(1))).view(np.float32)
