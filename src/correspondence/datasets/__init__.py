"""Tables to try things on: small ones in the package, larger ones from a data folder or the official source."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import os
import pickle
import tarfile
import zipfile
import zlib
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from correspondence._util.labels import objects
from correspondence._util.text import one_line
from correspondence.data.table import Table

__all__ = [
    "Children",
    "Compas",
    "DamagedDataError",
    "Flickr",
    "ImageClasses",
    "MissingDataError",
    "Recipes",
    "Wine",
    "fetch_brands",
    "fetch_cifar10",
    "fetch_compas",
    "fetch_flickr8k",
    "fetch_mnist",
    "fetch_newsgroups",
    "fetch_recipes",
    "fetch_wine",
    "load_children",
    "load_hair_eye",
    "load_housetasks",
    "load_smoke",
]


class MissingDataError(FileNotFoundError):
    """Data that are neither in the data folder nor could be downloaded; the message says where to put them."""


class DamagedDataError(ValueError):
    """A file of data that cannot be read, or holds something else; the message says which."""


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """One sentence for whatever is wrong with a file of data."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # of gzip, lzma, tarfile, zipfile, pickle, csv, json, NumPy
        said = str(error).rstrip(".") if isinstance(error, ValueError | OSError | pickle.UnpicklingError) else ""
        why = one_line(said or "its parts are not as they should be", 100)
        raise DamagedDataError(f"{path} is damaged, cut short, or something else ({why}): get it again.") from error


def _check(is_right: bool, what: str) -> None:
    if not is_right:
        raise ValueError(what)


MNIST = "https://storage.googleapis.com/cvdf-datasets/mnist"
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
DISPLAYR = "https://raw.githubusercontent.com/Displayr/flipExampleData/e9abd49971bfe64e054d8f0976852b796436d911"
SOURCES = {  # name in the data folder: address, sha256
    "wine/winequality-red.csv": (
        f"{UCI}/wine-quality/winequality-red.csv",
        "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
    ),
    "wine/winequality-white.csv": (
        f"{UCI}/wine-quality/winequality-white.csv",
        "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",
    ),
    "brands/brandassoc.csv": (
        f"{DISPLAYR}/inst/extdata/brandassoc.csv",
        "ffd90967ff84e2d6b6c2771b00c1a1f15b98af5b9fc0165549cdca71604de449",
    ),
    "mnist/train-images-idx3-ubyte.gz": (
        f"{MNIST}/train-images-idx3-ubyte.gz",
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    ),
    "mnist/train-labels-idx1-ubyte.gz": (
        f"{MNIST}/train-labels-idx1-ubyte.gz",
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    ),
    "mnist/t10k-images-idx3-ubyte.gz": (
        f"{MNIST}/t10k-images-idx3-ubyte.gz",
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    ),
    "mnist/t10k-labels-idx1-ubyte.gz": (
        f"{MNIST}/t10k-labels-idx1-ubyte.gz",
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    ),
    "cifar10/cifar-10-python.tar.gz": (
        "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
        "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    ),
}
CIFAR_BATCHES = [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]


def load_smoke() -> Table:
    """Staff groups x smoking habits of a firm: 5 x 4, n = 193 (Greenacre 1984).

    Rows are senior and junior managers, senior and junior employees, and secretaries.

    Returns
    -------
    Table
        Groups in the rows, habits in the columns.

    Examples
    --------
    >>> import correspondence as co
    >>> co.datasets.load_smoke()
    Table of 5 rows x 4 columns, 20 nonzero cells, total 193
    """
    return _table("""
              none light medium heavy
        SM       4     2      3     2
        JM       4     3      7     4
        SE      25    10     12     4
        JE      18    24     33    13
        SC      10     6      7     2
    """)


def load_housetasks() -> Table:
    """Household tasks x who does them in a couple: 13 x 4, n = 1744 (as in R's ade4 and factoextra).

    Returns
    -------
    Table
        Tasks in the rows, persons in the columns.

    Examples
    --------
    >>> import correspondence as co
    >>> co.datasets.load_housetasks().columns.tolist()
    ['Wife', 'Alternating', 'Husband', 'Jointly']
    """
    return _table("""
                   Wife Alternating Husband Jointly
        Laundry     156          14       2       4
        Main_meal   124          20       5       4
        Dinner       77          11       7      13
        Breakfeast   82          36      15       7
        Tidying      53          11       1      57
        Dishes       32          24       4      53
        Shopping     33          23       9      55
        Official     12          46      23      15
        Driving      10          51      75       3
        Finances     13          13      21      66
        Insurance     8           1      53      77
        Repairs       0           3     160       2
        Holidays      0           1       6     153
    """)


def load_hair_eye() -> Table:
    """Hair colour x eye colour of 592 statistics students: 4 x 4 (Snee 1974).

    Returns
    -------
    Table
        Hair in the rows, eyes in the columns.

    Examples
    --------
    >>> import correspondence as co
    >>> co.datasets.load_hair_eye()
    Table of 4 rows x 4 columns, 16 nonzero cells, total 592
    """
    return _table("""
              Brown Blue Hazel Green
        Black    68   20    15     5
        Brown   119   84    54    29
        Red      26   17    14    14
        Blond     7   94    10    16
    """)


class Children(NamedTuple):
    """The table of `load_children` and its supplementary parts.

    Attributes
    ----------
    table : Table
        Reasons x education.
    rows : Table
        More reasons.
    columns : Table
        Ages.
    """

    table: Table
    rows: Table
    columns: Table


def load_children() -> Children:
    """Reasons not to have children x level of education: 14 x 5, with 4 rows and 3 columns (age) to be placed.

    From Traversat and Roche, as in R's FactoMineR. The rows were given only by education.

    Returns
    -------
    Children
        ``table``, and ``rows`` and ``columns`` to be placed.

    Examples
    --------
    >>> import correspondence as co
    >>> children = co.datasets.load_children()
    >>> ca = co.CA(n_components=2).fit(children.table)
    >>> ca.supplementary(columns=children.columns).principal.shape
    (3, 2)
    """
    whole = _table("""
                      unqualified cep bepc high_school_diploma university thirty fifty more_fifty
        money                  51  64   32                  29         17     59    66         70
        future                 53  90   78                  75         22    115   117         86
        unemployment           71 111   50                  40         11     79    88        177
        circumstances           1   7    5                   5          4      9     8          5
        hard                    7  11    4                   3          2      2    17         18
        economic                7  13   12                  11         11     18    19         17
        egoism                 21  37   14                  26          9     14    34         61
        employment             12  35   19                   6          7     21    30         28
        finances               10   7    7                   3          1      8    12          8
        war                     4   7    7                   6          2      7     6         13
        housing                 8  22    7                  10          5     10    27         17
        fear                   25  45   38                  38         13     48    59         52
        health                 18  27   20                  19          9     13    29         53
        work                   35  61   29                  14         12     30    63         58
        comfort                 2   4    3                   1          4      0     0          0
        disagreement            2   8    2                   5          2      0     0          0
        world                   1   5    4                   6          3      0     0          0
        to_live                 3   3    1                   3          4      0     0          0
    """)

    def part(rows: slice, columns: slice) -> Table:
        return Table(whole.counts[rows, columns], whole.rows[rows], whole.columns[columns])

    return Children(part(slice(14), slice(5)), part(slice(14, None), slice(5)), part(slice(14), slice(5, None)))


def fetch_newsgroups() -> Table:
    """20 Newsgroups: 18846 posts x 173762 words of two characters or more, sparse, 5.5 million counts.

    Read from ``scale/20news-bydate.tar.xz`` in the folder named by the environment variable
    ``CORRESPONDENCE_DATA``, or downloaded (14 MB) and kept by scikit-learn.

    Returns
    -------
    Table
        Posts in the rows, words in the columns, sparse.

    Examples
    --------
    >>> posts = fetch_newsgroups()  # doctest: +SKIP
    >>> posts.shape  # doctest: +SKIP
    (18846, 173762)
    """
    archive = _in_data_folder("scale/20news-bydate.tar.xz")
    if archive is None:
        return _counted(_posts_of_sklearn())
    with _whole(archive):
        return _counted(_posts_in(archive))


def _counted(posts: Iterable[tuple[str, str]]) -> Table:
    names, texts = zip(*posts, strict=True)
    vectorizer = CountVectorizer(dtype=np.float64)
    counts = vectorizer.fit_transform(texts)
    return Table(counts, np.array(names, object), vectorizer.get_feature_names_out())


def _posts_of_sklearn() -> Iterator[tuple[str, str]]:
    from sklearn.datasets import fetch_20newsgroups

    try:
        data = fetch_20newsgroups(subset="all", shuffle=False)
    except OSError as error:  # no network, or a download that is damaged
        raise MissingDataError(
            f"The newsgroups could not be downloaded ({type(error).__name__}): put scale/20news-bydate.tar.xz into a "
            "folder named by the environment variable CORRESPONDENCE_DATA."
        ) from error
    yield from zip(map(str, data.filenames), data.data, strict=True)


def _posts_in(archive: Path) -> Iterator[tuple[str, str]]:
    with tarfile.open(archive) as files:
        for member in files:
            content = files.extractfile(member)
            if content is not None:
                yield member.name, content.read().decode("latin-1")


class Wine(NamedTuple):
    """Wines of `fetch_wine`.

    Attributes
    ----------
    X : ndarray of shape (n, 11)
        Physical and chemical measurements.
    quality : ndarray of shape (n,)
        Grade by tasters, a whole number.
    attributes : list of str
        Names of the columns of X.
    """

    X: np.ndarray
    quality: np.ndarray
    attributes: list[str]

    @property
    def groups(self) -> np.ndarray:
        """Whole numbers, equal for wines with the same measurements: the groups of a cross-validation."""
        return np.unique(self.X, axis=0, return_inverse=True)[1].reshape(-1)


def fetch_wine(color: Literal["red", "white"] = "red") -> Wine:
    """Wine Quality (Cortez et al. 2009): 11 measurements and the grade of 1599 red or 4898 white wines.

    In the order of the file; 240 of the red and 937 of the white wines repeat the measurements of an earlier one, so
    split them by `Wine.groups`. Read from ``wine/winequality-red.csv`` (or ``-white``) in the folder named by the
    environment variable ``CORRESPONDENCE_DATA``, or downloaded from UCI and kept; that needs pooch.

    Parameters
    ----------
    color : {"red", "white"}
        Which wines.

    Returns
    -------
    Wine
        The measurements, the grade (3 to 8 for red, 3 to 9 for white) and the names of the measurements.

    Examples
    --------
    >>> wine = fetch_wine()  # doctest: +SKIP
    >>> wine.X.shape, wine.attributes[:2]  # doctest: +SKIP
    ((1599, 11), ['fixed acidity', 'volatile acidity'])
    """
    if color not in ("red", "white"):
        raise ValueError(f'color must be "red" or "white", got {color!r}.')
    path = _path(f"wine/winequality-{color}.csv")
    with _whole(path):
        (*attributes, _), *rows = _csv(path, ";")
        values = _numbers(rows, 12)
    return Wine(values[:, :-1], values[:, -1].astype(np.intp), attributes)


def fetch_brands() -> Table:
    """Brands x personality traits: 42 x 15, the proportion of 3173 Australians who see the trait in the brand (2005).

    Read from ``brands/brandassoc.csv`` in the folder named by the environment variable ``CORRESPONDENCE_DATA``, or
    downloaded from Displayr's flipExampleData and kept; that needs pooch.

    Returns
    -------
    Table
        Brands in the rows, traits in the columns; proportions, not counts.

    Examples
    --------
    >>> brands = fetch_brands()  # doctest: +SKIP
    >>> brands.shape  # doctest: +SKIP
    (42, 15)
    """
    path = _path("brands/brandassoc.csv")
    with _whole(path):
        (_, *traits), *rows = _csv(path, ",")
        proportions = _numbers([cells for _, *cells in rows], len(traits))
        _check(len(traits) > 1, "it has no table of brands and traits")
        return Table(proportions, objects([brand for brand, *_ in rows]), objects(traits))


class Recipes(NamedTuple):
    """Recipes of `fetch_recipes`.

    Attributes
    ----------
    ingredients : list of lists of str
        Ingredients of each recipe as they are spelled there.
    cuisine : ndarray of shape (n,)
        Where it is from, one of 20 names.
    """

    ingredients: list[list[str]]
    cuisine: np.ndarray


def fetch_recipes() -> Recipes:
    """What's Cooking: ingredients and cuisine of 39774 recipes, from Kaggle.

    Kaggle asks for a login, so the file has to be put by hand: ``whats_cooking/train.json.zip`` in the folder named by
    the environment variable ``CORRESPONDENCE_DATA``. `correspondence.recipes.Ingredients` makes an array of it.

    Returns
    -------
    Recipes
        Lists of ingredients, and cuisines.

    Examples
    --------
    >>> recipes = fetch_recipes()  # doctest: +SKIP
    >>> recipes.cuisine[0], recipes.ingredients[0][:2]  # doctest: +SKIP
    ('greek', ['romaine lettuce', 'black olives'])
    """
    archive = _in_data_folder("whats_cooking/train.json.zip")
    if archive is None:
        folder = os.environ.get("CORRESPONDENCE_DATA", "CORRESPONDENCE_DATA")
        raise MissingDataError(
            "The recipes cannot be downloaded without a login: get train.json.zip from "
            "https://www.kaggle.com/c/whats-cooking/data and put it at "
            f"{Path(folder, 'whats_cooking', 'train.json.zip')}, where CORRESPONDENCE_DATA is an environment variable "
            "that names a folder."
        )
    with _whole(archive), zipfile.ZipFile(archive) as files, files.open("train.json") as file:
        recipes = json.load(file)
        found = [[str(name) for name in recipe["ingredients"]] for recipe in recipes]
        _check(len(found) > 0, "it has no recipes")
        return Recipes(found, objects([str(recipe["cuisine"]) for recipe in recipes]))


class ImageClasses(NamedTuple):
    """Images with labels, of `fetch_mnist` and `fetch_cifar10`.

    Attributes
    ----------
    train_images, test_images : ndarray of uint8
        Of shape (n, height, width), or (n, 3, height, width) with colours.
    train_labels, test_labels : ndarray of str
        What they show.
    classes : list of str
        All labels.
    """

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray
    classes: list[str]

    def only(self, *classes: str) -> ImageClasses:
        """The images of some classes.

        Parameters
        ----------
        *classes : str
            Which ones.

        Returns
        -------
        ImageClasses
            Of these only, in the order of all.
        """
        unknown = [name for name in classes if name not in self.classes]
        if unknown:
            raise ValueError(f"There is no class {unknown[0]!r}: choose among {', '.join(self.classes)}.")
        train, test = (np.isin(labels.astype(str), classes) for labels in (self.train_labels, self.test_labels))
        return ImageClasses(
            self.train_images[train],
            self.train_labels[train],
            self.test_images[test],
            self.test_labels[test],
            [name for name in self.classes if name in classes],
        )


def fetch_mnist() -> ImageClasses:
    """MNIST: 60000 and 10000 handwritten digits, 28 x 28 (LeCun, Cortes and Burges).

    Read from ``mnist/*-ubyte.gz`` in the folder named by the environment variable ``CORRESPONDENCE_DATA``, or
    downloaded (12 MB) and kept; that needs pooch.

    Returns
    -------
    ImageClasses
        Of the classes "0" to "9".

    Examples
    --------
    >>> mnist = fetch_mnist()  # doctest: +SKIP
    >>> mnist.train_images.shape, mnist.train_labels[:3].tolist()  # doctest: +SKIP
    ((60000, 28, 28), ['5', '0', '4'])
    """
    digits = [str(i) for i in range(10)]

    def part(name: str) -> tuple[np.ndarray, np.ndarray]:
        paths = [_path(f"mnist/{name}-{kind}-ubyte.gz") for kind in ("images-idx3", "labels-idx1")]
        images, labels = (_idx(path, axes) for path, axes in zip(paths, (3, 1), strict=True))
        with _whole(paths[1]):
            _check(len(labels) == len(images), f"{len(labels)} labels of {len(images)} images")
            return images, objects(digits)[labels]

    return ImageClasses(*part("train"), *part("t10k"), digits)


def _idx(path: Path, axes: int) -> np.ndarray:
    """Array from the format of MNIST: two zeros, the type (8 is uint8), the number of axes, their lengths, values."""
    with _whole(path), gzip.open(path) as file:
        content = file.read()
        _check(content[:4] == bytes([0, 0, 8, axes]), f"no array of bytes with {axes} axes")
        shape = np.frombuffer(content, ">i4", axes, 4)
        _check(shape.min() > 0, "it is empty")
        return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)


def fetch_cifar10() -> ImageClasses:
    """CIFAR-10: photographs of ten classes, 32 x 32 with colours; 50000 and 10000 of them (Krizhevsky 2009).

    Read from ``cifar10/data_batch_1.xz`` ... and ``test_batch.xz`` in the folder named by the environment variable
    ``CORRESPONDENCE_DATA`` (of the five batches of 10000 training images those that are there), or downloaded (170 MB)
    and kept; that needs pooch.

    Returns
    -------
    ImageClasses
        With colours.

    Examples
    --------
    >>> cifar = fetch_cifar10()  # doctest: +SKIP
    >>> cifar.test_images.shape, cifar.classes[:2]  # doctest: +SKIP
    ((10000, 3, 32, 32), ['airplane', 'automobile'])
    """
    classes = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
    batches = _cifar_batches()
    *training, test = [batches[name] for name in CIFAR_BATCHES if name in batches]
    images, labels = (np.concatenate(parts) for parts in zip(*training, strict=True))
    return ImageClasses(images, objects(classes)[labels], test[0], objects(classes)[test[1]], classes)


def _cifar_batches() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    here = {name: path for name in CIFAR_BATCHES if (path := _in_data_folder(f"cifar10/{name}.xz")) is not None}
    if "data_batch_1" in here and "test_batch" in here:
        return {name: _cifar_file(path) for name, path in here.items()}
    archive = _path("cifar10/cifar-10-python.tar.gz")
    batches = {}
    with _whole(archive), tarfile.open(archive) as files:
        for member in files:
            content = files.extractfile(member)
            if content is not None and Path(member.name).name in CIFAR_BATCHES:
                batches[Path(member.name).name] = _cifar_batch(content)
        _check("test_batch" in batches and len(batches) > 1, "it has no batches of images")
    return batches


def _cifar_file(path: Path) -> tuple[np.ndarray, np.ndarray]:
    with _whole(path), lzma.open(path) as file:
        return _cifar_batch(file)


def _cifar_batch(file: IO[bytes]) -> tuple[np.ndarray, np.ndarray]:
    whole = io.BytesIO(file.read())  # so that one that is cut short after the pickle is found out
    batch = _ArraysOnly(whole, encoding="bytes").load()
    images, labels = batch[b"data"].reshape(-1, 3, 32, 32), np.array(batch[b"labels"])
    _check(images.dtype == np.uint8 and labels.shape == (len(images),) and len(labels) > 0, "no labels of its images")
    _check(labels.dtype.kind in "iu" and bool(((labels >= 0) & (labels < 10)).all()), "labels from 0 to 9 are expected")
    return images, labels


class _ArraysOnly(pickle.Unpickler):
    """Reads pickles of arrays and refuses all others: a file may come from anywhere."""

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
    """Photographs of `fetch_flickr8k`.

    Attributes
    ----------
    images : ndarray of uint8, shape (n, 3, 64, 64)
        Photographs with colours, squeezed to a square.
    captions : list of lists of str
        Five sentences for each photograph, by five people.
    split : ndarray of str
        "train", "dev" or "test", or "" for the 91 photographs that the makers left out.
    names : list of str
        Names of the files.
    """

    images: np.ndarray
    captions: list[list[str]]
    split: np.ndarray
    names: list[str]

    def only(self, part: str) -> Flickr:
        """The photographs of one part of the split.

        Parameters
        ----------
        part : {"train", "dev", "test"}
            Which one.

        Returns
        -------
        Flickr
            These photographs only.
        """
        if part not in ("train", "dev", "test"):
            raise ValueError(f'part must be "train", "dev" or "test", got {part!r}.')
        rows = np.flatnonzero(self.split == part)
        return Flickr(
            self.images[rows], [self.captions[i] for i in rows], self.split[rows], [self.names[i] for i in rows]
        )


def fetch_flickr8k() -> Flickr:
    """Flickr8k: 8091 photographs at 64 x 64, each with five captions (Hodosh, Young and Hockenmaier 2013).

    The makers give the files on request only, so they have to be put by hand into ``flickr8k`` in the folder named by
    the environment variable ``CORRESPONDENCE_DATA``: ``Flickr8k.token.txt`` (or ``.gz``),
    ``Flickr_8k.trainImages.txt``, ``Flickr_8k.devImages.txt``, ``Flickr_8k.testImages.txt``, and the photographs,
    either in the folder ``Flicker8k_Dataset`` in their original sizes or in ``images64.zip`` at 64 x 64.

    Returns
    -------
    Flickr
        Photographs, captions, and which of them are for the training.

    Examples
    --------
    >>> flickr = fetch_flickr8k()  # doctest: +SKIP
    >>> flickr.only("test").images.shape, flickr.captions[0][4]  # doctest: +SKIP
    ((1000, 3, 64, 64), 'A little girl in a pink dress going into a wooden cabin .')
    """
    part_of = {name: part for part in ("train", "dev", "test") for name in _flickr_lines(f"Flickr_8k.{part}Images.txt")}
    captions: dict[str, list[str]] = {}
    for line in _flickr_lines("Flickr8k.token.txt"):
        name, _, caption = line.partition("\t")
        captions.setdefault(name.rsplit("#", 1)[0], []).append(caption)
    try:
        photos = dict(_flickr_photos(captions))
    except MissingDataError:
        raise
    except Exception as error:  # of zipfile, zlib and PIL
        raise DamagedDataError(
            f"The photographs of Flickr8k are damaged ({one_line(error, 200)}): get them again."
        ) from None
    missing = [name for name in part_of if name not in photos]
    if missing or not photos:
        such = f", such as {one_line(missing[0])}" if missing else ""
        raise DamagedDataError(f"{len(missing) or 'All'} photographs of Flickr8k are missing{such}: get them again.")
    names = sorted(photos)
    split = objects([part_of.get(name, "") for name in names])
    return Flickr(np.stack([photos[name] for name in names]), [captions[name] for name in names], split, names)


def _flickr_lines(name: str) -> list[str]:
    plain, packed = (_in_data_folder(f"flickr8k/{file}") for file in (name, f"{name}.gz"))
    path = plain or packed
    if path is None:
        raise _no_flickr(name)
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path == packed else open(path, encoding="utf-8") as file:
            return [line.strip() for line in file if line.strip()]
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise DamagedDataError(f"{path} is damaged ({one_line(error, 100)}): get it again.") from None


def _flickr_photos(wanted: Container[str]) -> Iterator[tuple[str, np.ndarray]]:
    """Photographs with captions, by the name of their file."""
    archive = _in_data_folder("flickr8k/images64.zip")
    if archive is not None:
        with zipfile.ZipFile(archive) as files:
            for member in files.namelist():
                if Path(member).name in wanted:
                    with files.open(member) as file:
                        yield Path(member).name, _squeezed(file)
        return
    folder = Path(os.environ.get("CORRESPONDENCE_DATA", ""), "flickr8k", "Flicker8k_Dataset")
    paths = [path for path in sorted(folder.glob("*.jpg")) if path.name in wanted]
    if not paths:
        raise _no_flickr("Flicker8k_Dataset")
    yield from ((path.name, _squeezed(path)) for path in paths)


def _squeezed(file: Any) -> np.ndarray:
    """Photograph of shape (3, 64, 64)."""
    from PIL import Image  # comes with matplotlib

    with Image.open(file) as image:
        photo = image.convert("RGB")
    if photo.size != (64, 64):
        photo = photo.resize((64, 64), Image.Resampling.LANCZOS)
    return np.moveaxis(np.asarray(photo), -1, 0)


def _no_flickr(name: str) -> MissingDataError:
    folder = os.environ.get("CORRESPONDENCE_DATA", "CORRESPONDENCE_DATA")
    return MissingDataError(
        f"Flickr8k is given on request only, and {name} is missing: ask for it at "
        "https://hockenmaier.cs.illinois.edu/8k-pictures.html and put Flickr8k.token.txt, Flickr_8k.trainImages.txt, "
        "Flickr_8k.devImages.txt, Flickr_8k.testImages.txt and the folder Flicker8k_Dataset (or images64.zip) into "
        f"{Path(folder, 'flickr8k')}, where CORRESPONDENCE_DATA is an environment variable that names a folder."
    )


class Compas(NamedTuple):
    """Defendants of `fetch_compas`.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n, 5)
        Female, charged with a felony, age, number of priors, days in jail.
    y_train, y_test : ndarray of str
        Risk of recidivism by the score of COMPAS: "low" (deciles 1-2), "medium" (3-6) or "high" (7-10).
    features : list of str
        Names of the columns of X.
    """

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    features: list[str]


def fetch_compas() -> Compas:
    """COMPAS: five attributes and the risk score of 4320 and 1852 defendants, as the paper splits them.

    ProPublica's data (2016) with its usual filter. There is no official file of this split, so it has to be put by
    hand: ``compas/compas_train.csv`` and ``compas_test.csv`` in the folder named by the environment variable
    ``CORRESPONDENCE_DATA``.

    Returns
    -------
    Compas
        Attributes and risk, to train on and to test on.

    Examples
    --------
    >>> compas = fetch_compas()  # doctest: +SKIP
    >>> compas.X_train.shape, compas.X_test.shape  # doctest: +SKIP
    ((4320, 5), (1852, 5))
    """
    features = ["sex_female", "charge_felony", "age", "priors_count", "length_of_stay_days"]
    risk = {"0": "low", "1": "medium", "2": "high"}

    def part(name: str) -> tuple[np.ndarray, np.ndarray]:
        path = _in_data_folder(f"compas/compas_{name}.csv")
        if path is None:
            raise MissingDataError(
                "COMPAS needs compas/compas_train.csv and compas/compas_test.csv in the folder that the environment "
                f"variable CORRESPONDENCE_DATA names, with columns {', '.join(features)} and score_bin (0 for deciles "
                "1-2, 1 for 3-6, 2 for 7-10): make them from compas-scores-two-years.csv of "
                "https://github.com/propublica/compas-analysis."
            )
        with _whole(path), open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
            X = _numbers([[row[column] for column in features] for row in rows], len(features))
            return X, objects([risk[row["score_bin"]] for row in rows])

    return Compas(*part("train"), *part("test"), features)


def _csv(path: Path, separator: str) -> list[list[str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=separator))


def _numbers(rows: list[list[str]], columns: int) -> np.ndarray:
    """Finite numbers of a file, of which each row has as many."""
    values = np.array(rows, dtype=np.float64)
    _check(values.ndim == 2 and values.shape[1] == columns > 0, f"{columns} columns of numbers are expected")
    _check(bool(np.isfinite(values).all()), "it has cells that are no numbers")
    return values


def _path(name: str) -> Path:
    """Path of a file of SOURCES: in the data folder, or downloaded and kept."""
    return _in_data_folder(name) or _downloaded(name)


def _downloaded(name: str) -> Path:
    try:
        import pooch
    except ImportError as error:
        raise ImportError('Downloading needs pooch: pip install "correspondence[data]".') from error
    address, sha256 = SOURCES[name]
    try:
        path = pooch.retrieve(address, f"sha256:{sha256}", Path(name).name, pooch.os_cache("correspondence"))
    except Exception as error:  # of any of the libraries through which pooch downloads
        reason = "its checksum is wrong" if "hash" in str(error) else type(error).__name__
        raise MissingDataError(
            f"{address} could not be downloaded ({reason}): put the file at {name} in a folder named by "
            "the environment variable CORRESPONDENCE_DATA."
        ) from error
    return Path(path)


def _in_data_folder(name: str) -> Path | None:
    """Path of a file in the folder CORRESPONDENCE_DATA, if there is one."""
    folder = os.environ.get("CORRESPONDENCE_DATA")
    path = Path(folder, name) if folder else None
    return path if path is not None and path.is_file() else None


def _table(text: str) -> Table:
    columns, *rows = (line.split() for line in text.strip().splitlines())
    counts = np.array([[int(cell) for cell in cells] for _, *cells in rows])
    return Table(counts, np.array([name for name, *_ in rows], object), np.array(columns, object))
