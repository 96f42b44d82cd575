"""Reference values of R for analyses of many columns, and how they are compared (tests/oracle/many)."""

from pathlib import Path

import numpy as np
import pandas as pd

ORACLE = Path(__file__).parents[2] / "oracle" / "many"


def read(name, variant=None, **more):
    table = pd.read_csv(ORACLE / f"{name}.csv", dtype={"level": str, "name": str}, **more)
    if variant is not None:
        for column, value in variant.items():
            table = table[table[column] == value]
    return table


def data(name, **more):
    return pd.read_csv(ORACLE / f"{name}_data.csv", index_col=0, **more)


def numbered(table, prefix, d=5):
    return table[[f"{prefix}.{i}" for i in range(1, d + 1)]].to_numpy()


def assert_same(ours, theirs, rtol=1e-8):
    """Compare numbers, and columns up to sign, relative to the largest entry of the column."""
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    assert ours.shape == theirs.shape
    assert len(theirs) > 0
    if ours.ndim == 2:
        ours = ours * np.sign((ours * theirs).sum(axis=0))
    error = np.abs(ours - theirs).max(axis=0) / np.abs(theirs).max(axis=0)
    assert (error < rtol).all(), error


def places(labels, table):
    labels = list(labels)
    return [labels.index(f"{a}:{b}") for a, b in zip(table["variable"], table["level"], strict=True)]
