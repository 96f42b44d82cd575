"""The dune meadow data, and values of R's vegan (2.6-4) for them."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import correspondence as co

ORACLE = Path(__file__).parents[2] / "oracle" / "many"
MODELS = {"dune_cca": (["A1", "Management"], None), "dune_pcca": (["A1"], ["Management"])}


def read_oracle(name, **options):
    return pd.read_csv(ORACLE / f"{name}.csv", **options)


@cache
def load_data():
    return read_oracle("dune_data", index_col=0), read_oracle("dune_env_data", index_col=0)


@cache
def fit_model(model):
    dune, env = load_data()
    constraints, given = MODELS[model]
    return co.CA().fit(dune, constraints=env[constraints], given=None if given is None else env[given])


def assert_near(found, wanted, rtol=1e-8):
    """Compare relative to the largest entry of each column."""
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    assert found.shape == wanted.shape
    assert (np.abs(found - wanted) <= rtol * np.abs(wanted).max(axis=0)).all()
