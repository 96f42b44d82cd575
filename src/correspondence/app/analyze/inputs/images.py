"""Images of a folder with the labels, captions or numbers that a file gives them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from correspondence._util.progress import ProgressArgument
from correspondence.app.analyze.inputs.request import Data, Request, find_complete_frame_rows
from correspondence.app.analyze.variables import Roles, frame_values, image_roles, make_variable
from correspondence.data.file_formats import as_label_texts, read_file
from correspondence.data.image_files import image_files, read_images

__all__ = ["read_image_pairs"]


def read_image_pairs(request: Request, progress: ProgressArgument) -> Data:
    """Read the images that a file lists, and what it says about them."""
    assert request.images is not None
    if not request.images.exists():
        raise ValueError(f"--images: there is no folder or file {request.images}.")
    folder, listing = (request.images, request.file) if request.images.is_dir() else (request.file, request.images)
    files = image_files(folder)
    if not files:
        raise ValueError(f"There is no image in {folder}.")
    file = read_file(listing, request.readings)
    frame = nw.from_native(file.frame)
    request.check_columns(frame.columns, listing)
    roles = image_roles(frame, files, request.x, request.y, request.other_columns, folder, listing)
    complete = find_complete_frame_rows(frame, roles.x, listing) & request.find_rows(frame, roles.y)
    rows = join_captions(as_label_texts(frame.filter(complete.tolist()), request.labels), roles)
    names = as_label_texts(rows, roles.x)[roles.x[0]].to_list()
    found = read_listed_images(names, files, request.size, progress)
    if len(found.rows) < 2:
        what = "none" if not len(found.rows) else "only one"
        raise ValueError(f"Of the {len(names)} images of {listing}, {what} in {folder} can be read.")
    rows = rows[found.rows.tolist()]
    x, _ = make_variable("x", found.pixels, roles.x)
    y, notes = make_variable("y", frame_values(rows.select(roles.y)), roles.y)
    groups, together = _group_images(rows, [str(files[names[i]]) for i in found.rows], request.groups)
    return Data(
        "pairs",
        replace(x, name="image"),
        y,
        request.choose_ids(rows, [names[i] for i in found.rows]),
        request.id or roles.x[0],
        groups,
        notes=(*file.list_notes(roles.y), *roles.notes, *found.notes, *notes, *together),
        n_missing=int((~complete).sum()),
        size=request.size,
        readings=file.readings,
    )


def _group_images(rows: nw.DataFrame, paths: list[str], column: str | None) -> tuple[list[Any] | None, list[str]]:
    """Return groups and remarks: rows that name the same image must not be on both sides of a split."""
    if column is not None:
        return rows[column].to_list(), []
    n = len(set(paths))
    if n == len(paths):
        return None, []
    return paths, [f"{len(paths)} rows name {n} images: those of the same image are held out together."]


@dataclass(frozen=True, eq=False)
class _FoundImages:
    pixels: np.ndarray
    rows: np.ndarray
    notes: list[str]


def read_listed_images(names: list[str], files: dict[str, Path], size: int, progress: ProgressArgument) -> _FoundImages:
    """Read the image of each row that has one; a file that several rows name is read once."""
    paths = [files.get(name) for name in names]
    different = list(dict.fromkeys(path for path in paths if path is not None))
    images = read_images(different, size, progress=progress)
    position = {path: i for i, path in enumerate(np.array(different, dtype=object)[images.is_read])}
    rows = np.array([i for i, path in enumerate(paths) if path in position], dtype=np.intp)
    missing, broken = sum(path is None for path in paths), int((~images.is_read).sum())
    notes = [f"{missing} row(s) left out: there is no such image file."] if missing else []
    notes += [f"{broken} image file(s) cannot be read and are left out."] if broken else []
    return _FoundImages(images.pixels[[position[paths[i]] for i in rows]], rows, notes)


def join_captions(rows: nw.DataFrame, roles: Roles) -> nw.DataFrame:
    """Join the captions of each image to one row, if its rows are captions."""
    image, caption = roles.x[0], roles.y[0]
    texts = rows[caption].to_list() if len(roles.y) == 1 and rows[caption].dtype == nw.String else []
    is_caption = bool(texts) and np.mean([" " in text.strip() for text in texts]) > 0.5
    names = rows[image].to_list()
    if not is_caption or len(set(names)) == len(rows):
        return rows
    joined: dict[Any, list[str]] = {}
    for name, text in zip(names, texts, strict=True):
        joined.setdefault(name, []).append(text.strip())
    kept = rows[[names.index(name) for name in joined]]
    values = nw.new_series(
        caption, [" ".join(parts) for parts in joined.values()], nw.String, backend=kept.implementation
    )
    return kept.with_columns(values)
