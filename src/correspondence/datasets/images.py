"""Images with classes or captions."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import pickle
import tarfile
import zipfile
from collections.abc import Container, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from correspondence._util.labels import to_object_array
from correspondence._util.text import list_names, one_line
from correspondence.datasets.data_folder import (
    DamagedDataError,
    MissingDataError,
    check_content,
    explain_damaged_data,
    find_file,
    find_in_data_folder,
)

__all__ = ["CIFAR_BATCHES", "Flickr", "ImageClasses", "fetch_cifar10", "fetch_flickr8k", "fetch_mnist"]


CIFAR_BATCHES = [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]


class ImageClasses(NamedTuple):
    """Images with labels, from `fetch_mnist` or `fetch_cifar10`.

    Attributes
    ----------
    train_images, test_images : ndarray of uint8
        Their shape is (n, height, width), or (n, 3, height, width) with colours.
    train_labels, test_labels : ndarray of str
        The labels say what the images show.
    classes : list of str
        These are all labels.
    """

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray
    classes: list[str]

    def only(self, *classes: str) -> ImageClasses:
        """Select the images of some classes.

        Parameters
        ----------
        *classes : str
            Select these classes.

        Returns
        -------
        ImageClasses
            The classes stay in their order.
        """
        unknown = [name for name in classes if name not in self.classes]
        if unknown:
            raise ValueError(f"There is no class {unknown[0]!r}: choose among {list_names(self.classes)}.")
        train, test = (np.isin(labels.astype(str), classes) for labels in (self.train_labels, self.test_labels))
        return ImageClasses(
            self.train_images[train],
            self.train_labels[train],
            self.test_images[test],
            self.test_labels[test],
            [name for name in self.classes if name in classes],
        )


def fetch_mnist() -> ImageClasses:
    """Fetch MNIST: 60000 and 10000 handwritten digits, 28 x 28 (LeCun, Cortes and Burges).

    They are read from ``mnist/*-ubyte.gz`` in the folder named by the environment variable ``CORRESPONDENCE_DATA``, or
    downloaded (12 MB) and kept, which needs pooch.

    Returns
    -------
    ImageClasses
        The classes are "0" to "9".

    Examples
    --------
    >>> mnist = fetch_mnist()  # doctest: +SKIP
    >>> mnist.train_images.shape, mnist.train_labels[:3].tolist()  # doctest: +SKIP
    ((60000, 28, 28), ['5', '0', '4'])
    """
    digits = [str(i) for i in range(10)]

    def read_part(name: str) -> tuple[np.ndarray, np.ndarray]:
        paths = [find_file(f"mnist/{name}-{kind}-ubyte.gz") for kind in ("images-idx3", "labels-idx1")]
        images, labels = (_read_idx_array(path, axes) for path, axes in zip(paths, (3, 1), strict=True))
        with explain_damaged_data(paths[1]):
            check_content(len(labels) == len(images), f"{len(labels)} labels of {len(images)} images")
            return images, to_object_array(digits)[labels]

    return ImageClasses(*read_part("train"), *read_part("t10k"), digits)


def _read_idx_array(path: Path, axes: int) -> np.ndarray:
    """Read an array of MNIST's format: two zeros, the type (8 is uint8), the number of axes, their lengths, values."""
    with explain_damaged_data(path), gzip.open(path) as file:
        content = file.read()
        check_content(content[:4] == bytes([0, 0, 8, axes]), f"no array of bytes with {axes} axes")
        shape = np.frombuffer(content, ">i4", axes, 4)
        check_content(shape.min() > 0, "it is empty")
        return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)


def fetch_cifar10() -> ImageClasses:
    """Fetch CIFAR-10: photographs of ten classes, 32 x 32 with colours; 50000 and 10000 of them (Krizhevsky 2009).

    They are read from ``cifar10/data_batch_1.xz`` ... and ``test_batch.xz`` in the folder named by the environment
    variable ``CORRESPONDENCE_DATA`` (as many of the five batches of 10000 training images as are present), or
    downloaded (170 MB) and kept, which needs pooch.

    Returns
    -------
    ImageClasses
        The images have colours.

    Examples
    --------
    >>> cifar = fetch_cifar10()  # doctest: +SKIP
    >>> cifar.test_images.shape, cifar.classes[:2]  # doctest: +SKIP
    ((10000, 3, 32, 32), ['airplane', 'automobile'])
    """
    classes = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    batches = read_cifar_batches()
    *training, test = [batches[name] for name in CIFAR_BATCHES if name in batches]
    images, labels = (np.concatenate(parts) for parts in zip(*training, strict=True))
    return ImageClasses(images, to_object_array(classes)[labels], test[0], to_object_array(classes)[test[1]], classes)


def read_cifar_batches() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    here = {name: path for name in CIFAR_BATCHES if (path := find_in_data_folder(f"cifar10/{name}.xz")) is not None}
    if "data_batch_1" in here and "test_batch" in here:
        return {name: _read_cifar_file(path) for name, path in here.items()}
    archive = find_file("cifar10/cifar-10-python.tar.gz")
    batches = {}
    with explain_damaged_data(archive), tarfile.open(archive) as files:
        for member in files:
            content = files.extractfile(member)
            if content is not None and Path(member.name).name in CIFAR_BATCHES:
                batches[Path(member.name).name] = parse_cifar_batch(content)
        check_content("test_batch" in batches and len(batches) > 1, "it has no batches of images")
    return batches


def _read_cifar_file(path: Path) -> tuple[np.ndarray, np.ndarray]:
    with explain_damaged_data(path), lzma.open(path) as file:
        return parse_cifar_batch(file)


def parse_cifar_batch(file: IO[bytes]) -> tuple[np.ndarray, np.ndarray]:
    whole = io.BytesIO(file.read())  # so that a file cut short after the pickle is noticed
    batch = _ArraysOnly(whole, encoding="bytes").load()
    images, labels = batch[b"data"].reshape(-1, 3, 32, 32), np.array(batch[b"labels"])
    check_content(
        images.dtype == np.uint8 and labels.shape == (len(images),) and len(labels) > 0, "no labels of its images"
    )
    check_content(
        labels.dtype.kind in "iu" and bool(((labels >= 0) & (labels < 10)).all()), "labels from 0 to 9 are expected"
    )
    return images, labels


class _ArraysOnly(pickle.Unpickler):
    """An unpickler of arrays, which refuses everything else: a file may come from anywhere."""

    def find_class(self, module: str, name: str) -> Any:
        if (module.replace("numpy._core", "numpy.core"), name) in {
            ("numpy.core.multiarray", "_reconstruct"),
            ("numpy", "ndarray"),
            ("numpy", "dtype"),
            ("_codecs", "encode"),  # bytes, as Python 3 writes them for Python 2
        }:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"it holds {module}.{name}, not an array")


class Flickr(NamedTuple):
    """Photographs with captions, from `fetch_flickr8k`.

    Attributes
    ----------
    images : ndarray of uint8, shape (n, 3, 64, 64)
        The photographs have colours and are squeezed to a square.
    captions : list of lists of str
        Each photograph has five sentences by five people.
    split : ndarray of str
        Each is "train", "dev" or "test", or "" for the 91 photographs that the authors left out.
    names : list of str
        These are the names of the files.
    """

    images: np.ndarray
    captions: list[list[str]]
    split: np.ndarray
    names: list[str]

    def only(self, part: str) -> Flickr:
        """Select the photographs of one part of the split.

        Parameters
        ----------
        part : {"train", "dev", "test"}
            Select this part.

        Returns
        -------
        Flickr
            The photographs of this part.
        """
        if part not in ("train", "dev", "test"):
            raise ValueError(f'part must be "train", "dev" or "test", got {part!r}.')
        rows = np.flatnonzero(self.split == part)
        return Flickr(
            self.images[rows], [self.captions[i] for i in rows], self.split[rows], [self.names[i] for i in rows]
        )


def fetch_flickr8k() -> Flickr:
    """Fetch Flickr8k: 8091 photographs at 64 x 64, each with five captions (Hodosh, Young and Hockenmaier 2013).

    The authors give the files on request only, so put them by hand into ``flickr8k`` in the folder named by the
    environment variable ``CORRESPONDENCE_DATA``: ``Flickr8k.token.txt`` (or ``.gz``),
    ``Flickr_8k.trainImages.txt``, ``Flickr_8k.devImages.txt``, ``Flickr_8k.testImages.txt``, and the photographs,
    either in the folder ``Flicker8k_Dataset`` in their original sizes or in ``images64.zip`` at 64 x 64.

    Returns
    -------
    Flickr
        The photographs, their captions, and the part of the split that each belongs to.

    Examples
    --------
    >>> flickr = fetch_flickr8k()  # doctest: +SKIP
    >>> flickr.only("test").images.shape, flickr.captions[0][4]  # doctest: +SKIP
    ((1000, 3, 64, 64), 'A little girl in a pink dress going into a wooden cabin .')
    """
    part_of = {
        name: part for part in ("train", "dev", "test") for name in read_flickr_lines(f"Flickr_8k.{part}Images.txt")
    }
    captions: dict[str, list[str]] = {}
    for line in read_flickr_lines("Flickr8k.token.txt"):
        name, _, caption = line.partition("\t")
        captions.setdefault(name.rsplit("#", 1)[0], []).append(caption)
    try:
        photos = dict(iterate_flickr_photos(captions))
    except MissingDataError:
        raise
    except Exception as error:  # from zipfile, zlib or PIL
        raise DamagedDataError(
            f"The photographs of Flickr8k are damaged ({one_line(error, 200)}): get them again."
        ) from None
    missing = [name for name in part_of if name not in photos]
    if missing or not photos:
        such = f", such as {one_line(missing[0])}" if missing else ""
        raise DamagedDataError(f"{len(missing) or 'All'} photographs of Flickr8k are missing{such}: get them again.")
    names = sorted(photos)
    split = to_object_array([part_of.get(name, "") for name in names])
    return Flickr(np.stack([photos[name] for name in names]), [captions[name] for name in names], split, names)


def read_flickr_lines(name: str) -> list[str]:
    plain, packed = (find_in_data_folder(f"flickr8k/{file}") for file in (name, f"{name}.gz"))
    path = plain or packed
    if path is None:
        raise _make_flickr_error(name)
    with explain_damaged_data(path):
        content = gzip.decompress(path.read_bytes()) if path == packed else path.read_bytes()
        return [line.strip() for line in content.decode().split("\n") if line.strip()]


def iterate_flickr_photos(wanted: Container[str]) -> Iterator[tuple[str, np.ndarray]]:
    """Read the photographs with captions, with the names of their files."""
    archive = find_in_data_folder("flickr8k/images64.zip")
    if archive is not None:
        with zipfile.ZipFile(archive) as files:
            for member in files.namelist():
                if Path(member).name in wanted:
                    with files.open(member) as file:
                        yield Path(member).name, _read_photo(file)
        return
    folder = Path(os.environ.get("CORRESPONDENCE_DATA", ""), "flickr8k", "Flicker8k_Dataset")
    paths = [path for path in sorted(folder.glob("*.jpg")) if path.name in wanted]
    if not paths:
        raise _make_flickr_error("Flicker8k_Dataset")
    yield from ((path.name, _read_photo(path)) for path in paths)


def _read_photo(file: Any) -> np.ndarray:
    """Read a photograph as an array of shape (3, 64, 64)."""
    from PIL import Image  # comes with matplotlib

    with Image.open(file) as image:
        photo = image.convert("RGB")
    if photo.size != (64, 64):
        photo = photo.resize((64, 64), Image.Resampling.LANCZOS)
    return np.moveaxis(np.asarray(photo), -1, 0)


def _make_flickr_error(name: str) -> MissingDataError:
    folder = os.environ.get("CORRESPONDENCE_DATA", "CORRESPONDENCE_DATA")
    return MissingDataError(
        f"Flickr8k is given on request only, and {name} is missing: ask for it at "
        "https://hockenmaier.cs.illinois.edu/8k-pictures.html and put Flickr8k.token.txt, Flickr_8k.trainImages.txt, "
        "Flickr_8k.devImages.txt, Flickr_8k.testImages.txt and the folder Flicker8k_Dataset (or images64.zip) into "
        f"{Path(folder, 'flickr8k')}, where CORRESPONDENCE_DATA is an environment variable that names a folder."
    )
