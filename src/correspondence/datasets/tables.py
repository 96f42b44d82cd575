"""Tables and texts from a data folder or the official source."""

from __future__ import annotations

import csv
import json
import os
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from correspondence._util.labels import to_object_array
from correspondence.data.table import Table
from correspondence.datasets.data_folder import (
    MissingDataError,
    check_content,
    explain_damaged_data,
    find_file,
    find_in_data_folder,
)

__all__ = [
    "Compas",
    "Recipes",
    "Wine",
    "fetch_brands",
    "fetch_compas",
    "fetch_newsgroups",
    "fetch_recipes",
    "fetch_wine",
]


def fetch_newsgroups() -> Table:
    """Fetch 20 Newsgroups: 18846 posts x 173762 words of two characters or more, sparse, 5.5 million counts.

    The posts are read from ``scale/20news-bydate.tar.xz`` in the folder named by the environment variable
    ``CORRESPONDENCE_DATA``, or downloaded (14 MB) and kept by scikit-learn.

    Returns
    -------
    Table
        The rows are posts, the columns words; the counts are sparse.

    Examples
    --------
    >>> posts = fetch_newsgroups()  # doctest: +SKIP
    >>> posts.shape  # doctest: +SKIP
    (18846, 173762)
    """
    archive = find_in_data_folder("scale/20news-bydate.tar.xz")
    if archive is None:
        return _count_words(iterate_sklearn_posts())
    with explain_damaged_data(archive):
        return _count_words(_iterate_archive_posts(archive))


def _count_words(posts: Iterable[tuple[str, str]]) -> Table:
    names, texts = zip(*posts, strict=True)
    vectorizer = CountVectorizer(dtype=np.float64)
    counts = vectorizer.fit_transform(texts)
    return Table(counts, np.array(names, object), vectorizer.get_feature_names_out())


def iterate_sklearn_posts() -> Iterator[tuple[str, str]]:
    from sklearn.datasets import fetch_20newsgroups

    try:
        data = fetch_20newsgroups(subset="all", shuffle=False)
    except OSError as error:  # no network, or a damaged download
        raise MissingDataError(
            f"The newsgroups could not be downloaded ({type(error).__name__}): put scale/20news-bydate.tar.xz into a "
            "folder named by the environment variable CORRESPONDENCE_DATA."
        ) from error
    yield from zip(map(str, data.filenames), data.data, strict=True)


def _iterate_archive_posts(archive: Path) -> Iterator[tuple[str, str]]:
    with tarfile.open(archive) as files:
        for member in files:
            content = files.extractfile(member)
            if content is not None:
                yield member.name, content.read().decode("latin-1")


class Wine(NamedTuple):
    """Wines, from `fetch_wine`.

    Attributes
    ----------
    X : ndarray of shape (n, 11)
        The columns are physical and chemical measurements.
    quality : ndarray of shape (n,)
        Tasters gave each wine a whole number.
    attributes : list of str
        These are the names of the columns of X.
    """

    X: np.ndarray
    quality: np.ndarray
    attributes: list[str]

    @property
    def groups(self) -> np.ndarray:
        """Whole numbers, equal for wines with the same measurements: the groups of a cross-validation."""
        return np.unique(self.X, axis=0, return_inverse=True)[1].reshape(-1)


def fetch_wine(color: Literal["red", "white"] = "red") -> Wine:
    """Fetch Wine Quality (Cortez et al. 2009): 11 measurements and the grade of 1599 red or 4898 white wines.

    The wines are in the order of the file; 240 of the red and 937 of the white wines repeat the measurements of an
    earlier one, so split them by `Wine.groups`. They are read from ``wine/winequality-red.csv`` (or ``-white``) in the
    folder named by the environment variable ``CORRESPONDENCE_DATA``, or downloaded from UCI and kept, which needs
    pooch.

    Parameters
    ----------
    color : {"red", "white"}
        Fetch these wines.

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
    path = find_file(f"wine/winequality-{color}.csv")
    with explain_damaged_data(path):
        (*attributes, _), *rows = read_csv(path, ";")
        values = parse_numbers(rows, 12)
    return Wine(values[:, :-1], values[:, -1].astype(np.intp), attributes)


def fetch_brands() -> Table:
    """Fetch brands x personality traits: 42 x 15, the share of 3173 Australians who see the trait in the brand (2005).

    The table is read from ``brands/brandassoc.csv`` in the folder named by the environment variable
    ``CORRESPONDENCE_DATA``, or downloaded from Displayr's flipExampleData and kept, which needs pooch.

    Returns
    -------
    Table
        The rows are brands, the columns traits; the cells are proportions, not counts.

    Examples
    --------
    >>> brands = fetch_brands()  # doctest: +SKIP
    >>> brands.shape  # doctest: +SKIP
    (42, 15)
    """
    path = find_file("brands/brandassoc.csv")
    with explain_damaged_data(path):
        (_, *traits), *rows = read_csv(path, ",")
        proportions = parse_numbers([cells for _, *cells in rows], len(traits))
        check_content(len(traits) > 1, "it has no table of brands and traits")
        return Table(proportions, to_object_array([brand for brand, *_ in rows]), to_object_array(traits))


class Recipes(NamedTuple):
    """Recipes, from `fetch_recipes`.

    Attributes
    ----------
    ingredients : list of lists of str
        Each recipe has a list of ingredients, spelled as in the file.
    cuisine : ndarray of shape (n,)
        Each recipe has one of 20 cuisines.
    """

    ingredients: list[list[str]]
    cuisine: np.ndarray


def fetch_recipes() -> Recipes:
    """Fetch What's Cooking: ingredients and cuisine of 39774 recipes, from Kaggle.

    Kaggle asks for a login, so put the file by hand: ``whats_cooking/train.json.zip`` in the folder named by the
    environment variable ``CORRESPONDENCE_DATA``. `correspondence.studies.ingredients.Ingredients` makes an array of it.

    Returns
    -------
    Recipes
        The lists of ingredients, and the cuisines.

    Examples
    --------
    >>> recipes = fetch_recipes()  # doctest: +SKIP
    >>> recipes.cuisine[0], recipes.ingredients[0][:2]  # doctest: +SKIP
    ('greek', ['romaine lettuce', 'black olives'])
    """
    archive = find_in_data_folder("whats_cooking/train.json.zip")
    if archive is None:
        folder = os.environ.get("CORRESPONDENCE_DATA", "CORRESPONDENCE_DATA")
        raise MissingDataError(
            "The recipes cannot be downloaded without a login: get train.json.zip from "
            "https://www.kaggle.com/c/whats-cooking/data and put it at "
            f"{Path(folder, 'whats_cooking', 'train.json.zip')}, where CORRESPONDENCE_DATA is an environment variable "
            "that names a folder."
        )
    with explain_damaged_data(archive), zipfile.ZipFile(archive) as files, files.open("train.json") as file:
        recipes = json.load(file)
        found = [[str(name) for name in recipe["ingredients"]] for recipe in recipes]
        check_content(len(found) > 0, "it has no recipes")
        return Recipes(found, to_object_array([str(recipe["cuisine"]) for recipe in recipes]))


class Compas(NamedTuple):
    """Defendants, from `fetch_compas`.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n, 5)
        The columns are: female, charged with a felony, age, number of priors, days in jail.
    y_train, y_test : ndarray of str
        The risk of recidivism by the score of COMPAS is "low" (deciles 1-2), "medium" (3-6) or "high" (7-10).
    features : list of str
        These are the names of the columns of X.
    """

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    features: list[str]


def fetch_compas() -> Compas:
    """Fetch COMPAS: five attributes and the risk score of 4320 and 1852 defendants, as the paper splits them.

    These are ProPublica's data (2016) with its usual filter. There is no official file of this split, so put it by
    hand: ``compas/compas_train.csv`` and ``compas_test.csv`` in the folder named by the environment variable
    ``CORRESPONDENCE_DATA``.

    Returns
    -------
    Compas
        The attributes and the risk, for training and for testing.

    Examples
    --------
    >>> compas = fetch_compas()  # doctest: +SKIP
    >>> compas.X_train.shape, compas.X_test.shape  # doctest: +SKIP
    ((4320, 5), (1852, 5))
    """
    features = ["sex_female", "charge_felony", "age", "priors_count", "length_of_stay_days"]
    risk = {"0": "low", "1": "medium", "2": "high"}

    def read_part(name: str) -> tuple[np.ndarray, np.ndarray]:
        path = find_in_data_folder(f"compas/compas_{name}.csv")
        if path is None:
            raise MissingDataError(
                "COMPAS needs compas/compas_train.csv and compas/compas_test.csv in the folder that the environment "
                f"variable CORRESPONDENCE_DATA names, with columns {', '.join(features)} and score_bin (0 for deciles "
                "1-2, 1 for 3-6, 2 for 7-10): make them from compas-scores-two-years.csv of "
                "https://github.com/propublica/compas-analysis."
            )
        with explain_damaged_data(path), open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
            X = parse_numbers([[row[column] for column in features] for row in rows], len(features))
            return X, to_object_array([risk[row["score_bin"]] for row in rows])

    return Compas(*read_part("train"), *read_part("test"), features)


def read_csv(path: Path, separator: str) -> list[list[str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=separator))


def parse_numbers(rows: list[list[str]], columns: int) -> np.ndarray:
    """Parse rows of finite numbers, which must all have the same length."""
    values = np.array(rows, dtype=np.float64)
    check_content(values.ndim == 2 and values.shape[1] == columns > 0, f"{columns} columns of numbers are expected")
    check_content(bool(np.isfinite(values).all()), "some of its cells are not numbers")
    return values
