"""Data files: where they are, where they come from, and whether they are complete."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from correspondence._util.extras import explain_missing_extra
from correspondence._util.text import one_line

__all__ = [
    "DamagedDataError",
    "MissingDataError",
    "check_content",
    "explain_damaged_data",
    "find_file",
    "find_in_data_folder",
]


class MissingDataError(FileNotFoundError):
    """Data are neither in the data folder nor could be downloaded; the message says where to put them."""


class DamagedDataError(ValueError):
    """A data file cannot be read, or holds something else; the message says which."""


@contextmanager
def explain_damaged_data(path: Path) -> Iterator[None]:
    """Say in one sentence what is wrong with a data file."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # from gzip, lzma, tarfile, zipfile, pickle, csv, json or NumPy
        said = str(error).rstrip(".") if isinstance(error, ValueError | OSError | pickle.UnpicklingError) else ""
        why = one_line(said or "its parts are not as they should be", 100)
        raise DamagedDataError(f"{path} is damaged, cut short, or something else ({why}): get it again.") from error


def check_content(is_right: bool, what: str) -> None:
    """Raise an error if a file does not hold what it should."""
    if not is_right:
        raise ValueError(what)


MNIST_URL = "https://storage.googleapis.com/cvdf-datasets/mnist"
UCI_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases"
DISPLAYR_URL = "https://raw.githubusercontent.com/Displayr/flipExampleData/e9abd49971bfe64e054d8f0976852b796436d911"
FILE_SOURCES = {  # name in the data folder: address, sha256
    "wine/winequality-red.csv": (
        f"{UCI_URL}/wine-quality/winequality-red.csv",
        "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
    ),
    "wine/winequality-white.csv": (
        f"{UCI_URL}/wine-quality/winequality-white.csv",
        "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",
    ),
    "brands/brandassoc.csv": (
        f"{DISPLAYR_URL}/inst/extdata/brandassoc.csv",
        "ffd90967ff84e2d6b6c2771b00c1a1f15b98af5b9fc0165549cdca71604de449",
    ),
    "mnist/train-images-idx3-ubyte.gz": (
        f"{MNIST_URL}/train-images-idx3-ubyte.gz",
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    ),
    "mnist/train-labels-idx1-ubyte.gz": (
        f"{MNIST_URL}/train-labels-idx1-ubyte.gz",
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    ),
    "mnist/t10k-images-idx3-ubyte.gz": (
        f"{MNIST_URL}/t10k-images-idx3-ubyte.gz",
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    ),
    "mnist/t10k-labels-idx1-ubyte.gz": (
        f"{MNIST_URL}/t10k-labels-idx1-ubyte.gz",
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    ),
    "cifar10/cifar-10-python.tar.gz": (
        "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
        "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    ),
}


def find_file(name: str) -> Path:
    """Find a file of `FILE_SOURCES` in the data folder, or download and keep it."""
    return find_in_data_folder(name) or download_file(name)


def download_file(name: str) -> Path:
    try:
        import pooch
    except ImportError as error:
        raise ImportError(explain_missing_extra("Downloading needs pooch", "data")) from error
    address, sha256 = FILE_SOURCES[name]
    try:
        path = pooch.retrieve(address, f"sha256:{sha256}", Path(name).name, pooch.os_cache("correspondence"))
    except Exception as error:  # from any of the libraries through which pooch downloads
        reason = "its checksum is wrong" if "hash" in str(error) else type(error).__name__
        raise MissingDataError(
            f"{address} could not be downloaded ({reason}): put the file at {name} in a folder named by "
            "the environment variable CORRESPONDENCE_DATA."
        ) from error
    return Path(path)


def find_in_data_folder(name: str) -> Path | None:
    """Find a file in the folder CORRESPONDENCE_DATA; None if it is not there."""
    folder = os.environ.get("CORRESPONDENCE_DATA")
    path = Path(folder, name) if folder else None
    return path if path is not None and path.is_file() else None
