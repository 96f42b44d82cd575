"""Files of text in any of the usual encodings, and packed or not."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import polars as pl

__all__ = ["NOT_UTF8", "PACKED_ENDINGS", "TextFile", "decode_other_text", "find_ending", "open_text_file"]

PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zip")
NOT_UTF8 = "it is not UTF-8 text; save it as UTF-8"
N_HEAD_BYTES = 4096  # bytes that show whether a file holds text with lines
BYTE_ORDER_MARKS = {
    b"\xff\xfe\0\0": "UTF-32",  # before the one that it begins with
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
REASONS_BY_FIRST_BYTES = {
    b"\x1f\x8b": "it is packed, so let its name end in .gz",
    b"PK\x03\x04": "it is packed, or a spreadsheet, so let its name end in .zip or .xlsx",
    b"BZh": "it is packed, so let its name end in .bz2",
    b"\xfd7zXZ\0": "it is packed, so let its name end in .xz",
    b"\x28\xb5\x2f\xfd": "it is packed, so let its name end in .zst",
}
MAX_RUN_OF_HIGH_BYTES = 2  # letters with accents stand alone in the languages that Windows-1252 is for
# A sign amid letters, such as Ma³gorzata, shows that the bytes mean letters of another alphabet.
SIGN_IN_WORD_PATTERN = re.compile(r"[A-Za-z][\u0080-\u00bf\u00d7\u00f7\u2020-\u2039\u02c6\u02dc][A-Za-z]")
SIGNS_OF_WORDS = "\u2019\u00b7\u00ad\u00b4\u2013\u2014\u00aa\u00ba\u00b5\u00b0\u2022\u00a0"


class TextFile(NamedTuple):
    """A file of UTF-8 text, or its text in memory."""

    path: Path
    content: bytes | None = None
    """The text, if the file is packed or in another encoding."""
    notes: tuple[str, ...] = ()

    @property
    def source(self) -> Path | io.BytesIO:
        """What polars reads."""
        return self.path if self.content is None else io.BytesIO(self.content)

    def read_bytes(self) -> bytes:
        """Read the text as bytes of UTF-8, without a byte order mark."""
        content = self.path.read_bytes() if self.content is None else self.content
        return content.removeprefix(codecs.BOM_UTF8)

    def open_text(self, errors: str = "strict") -> TextIO:
        """Open the text for the csv module."""
        stream = self.path.open("rb") if self.content is None else io.BytesIO(self.content)
        return io.TextIOWrapper(stream, encoding="utf-8-sig", errors=errors, newline="")


def find_ending(path: Path) -> str:
    """Return the ending that says what a file is, in lower case: .csv, or .csv.gz if it is packed."""
    last = path.suffix.lower()
    return (Path(path.stem).suffix.lower() + last) if last in PACKED_ENDINGS else last


def open_text_file(path: Path) -> TextFile:
    """Open a file of text; one that is packed, or in UTF-16, is read into memory.

    A file that is neither is not read: if it turns out not to be UTF-8, `decode_other_text` may still read it.
    """
    packed = _UNPACKERS_BY_ENDING.get(path.suffix.lower())
    content = packed(path) if packed else None
    if content is None and not _has_plain_name(path):
        content = path.read_bytes()
    head = _read_head(path) if content is None else content[:N_HEAD_BYTES]
    mark = next((name for begin, name in BYTE_ORDER_MARKS.items() if head.startswith(begin)), None)
    if mark is None:
        _check_head(head)
        return TextFile(path, content)
    text = (path.read_bytes() if content is None else content).decode(mark)
    return TextFile(path, text.encode(), (f"{path.name} is read as {mark}.",))


def decode_other_text(file: TextFile) -> TextFile | None:
    """Decode text that is not UTF-8 as Windows-1252; None if it is UTF-8 after all.

    Raises
    ------
    ValueError
        If the text may be in several encodings: there is no way to know which of them.
    """
    content = file.path.read_bytes() if file.content is None else file.content
    try:
        content.decode()
        return None
    except UnicodeDecodeError:
        pass
    is_strange = re.search(rb"[\x80-\xff]{%d}" % (MAX_RUN_OF_HIGH_BYTES + 1), content) is not None
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        is_strange = True
    if is_strange or any(match[0][1] not in SIGNS_OF_WORDS for match in SIGN_IN_WORD_PATTERN.finditer(text)):
        raise ValueError(f"{NOT_UTF8} (its encoding cannot be told from its bytes)")
    note = f"{file.path.name} is not UTF-8: it is read as Windows-1252; save it as UTF-8 if letters look wrong."
    return TextFile(file.path, text.encode(), (*file.notes, note))


def _has_plain_name(path: Path) -> bool:
    """Say whether the name of a file is text; polars cannot open other names."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(N_HEAD_BYTES)


def _check_head(head: bytes) -> None:
    """Refuse a file that is not text with lines: polars makes columns of anything."""
    for begin, reason in REASONS_BY_FIRST_BYTES.items():
        if head.startswith(begin):
            raise ValueError(reason)
    if b"\0" in head:
        raise ValueError(NOT_UTF8)
    if b"\r" in head[:-1] and b"\n" not in head:  # LF may be the first byte that was not read
        raise ValueError("its lines end in CR alone, so save it with LF, or CR and LF, at their ends")


def _unpack_gzip(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


def _unpack_bzip2(path: Path) -> bytes:
    return bz2.decompress(path.read_bytes())


def _unpack_xz(path: Path) -> bytes:
    return lzma.decompress(path.read_bytes())


def _unpack_zip(path: Path) -> bytes:
    """Unpack the only file of an archive."""
    with zipfile.ZipFile(path) as archive:
        files = [info for info in archive.infolist() if not info.is_dir() and not info.filename.startswith("__MACOSX/")]
        if len(files) != 1:
            raise ValueError(f"it holds {len(files)} files, so unpack it and give one of them")
        if files[0].flag_bits & 1:
            raise ValueError("it needs a password, so unpack it first")
        return archive.read(files[0])


def _unpack_zstandard(path: Path) -> bytes:
    """Unpack by polars, line by line: Python has no module for it before 3.14."""
    options: Any = {"has_header": False, "separator": "\x01", "quote_char": None, "infer_schema": False}
    lines = pl.read_csv(path.read_bytes(), new_columns=["line"], **options)["line"]
    return "\n".join(lines.fill_null("").to_list()).encode() + b"\n"


_UNPACKERS_BY_ENDING: dict[str, Callable[[Path], bytes]] = {
    ".gz": _unpack_gzip,
    ".bz2": _unpack_bzip2,
    ".xz": _unpack_xz,
    ".zip": _unpack_zip,
    ".zst": _unpack_zstandard,
}
