"""Data sets: small tables that come with the package, and larger ones from a data folder or the official source."""

from correspondence.datasets.bundled import (
    Children,
    Dune,
    load_children,
    load_dune,
    load_hair_eye,
    load_housetasks,
    load_poison,
    load_smoke,
)
from correspondence.datasets.data_folder import DamagedDataError, MissingDataError
from correspondence.datasets.images import Flickr, ImageClasses, fetch_cifar10, fetch_flickr8k, fetch_mnist
from correspondence.datasets.tables import (
    Compas,
    Recipes,
    Wine,
    fetch_brands,
    fetch_compas,
    fetch_newsgroups,
    fetch_recipes,
    fetch_wine,
)

__all__ = [
    "Children",
    "Compas",
    "DamagedDataError",
    "Dune",
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
    "load_dune",
    "load_hair_eye",
    "load_housetasks",
    "load_poison",
    "load_smoke",
]
