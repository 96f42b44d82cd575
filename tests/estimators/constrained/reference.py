"""Tables of ecologists, and values of R's vegan (2.6-4) for them; tests/oracle/vegan/models.R has the calls."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import correspondence as co

ORACLE = Path(__file__).parents[2] / "oracle"
MODELS = {"dune_cca": (["A1", "Management"], None), "dune_pcca": (["A1"], ["Management"])}
LEVELS = {
    "Moisture": ("1", "2", "4", "5"),
    "Use": ("Hayfield", "Haypastu", "Pasture"),
    "Manure": ("0", "1", "2", "3", "4"),
    "Shrub": ("None", "Few", "Many"),
    "Substrate": ("Sphagn1", "Sphagn2", "Sphagn3", "Sphagn4", "Litter", "Barepeat", "Interface"),
}
NOT_ORDERED = ("Substrate",)
CHEMISTRY = ["N", "P", "K", "Ca", "Mg", "S", "Al", "Fe", "Mn", "Zn", "Mo", "Baresoil", "Humdepth", "pH"]
MORE_MODELS = {  # table, constraints, conditions
    "mite": ("mite", ["SubsDens", "WatrCont", "Substrate", "Shrub", "Topo"], None),
    "mite_partial": ("mite", ["WatrCont", "Shrub"], ["Substrate", "SubsDens"]),
    "ordered": ("dune", ["Moisture", "A1", "Use"], None),
    "strata": ("dune", ["A1", "Moisture"], None),
    "collinear": ("dune", ["A1", "A1b", "Management", "SF", "A1sq"], None),
    "collinear_given": ("dune", ["A1", "Management", "A1sq"], ["SF", "A1b"]),
    "gaps": ("dune", ["A1", "Management"], None),
    "few_sites": ("dune", ["A1", "Moisture", "Management", "Manure"], None),
    "lichens": ("vare", CHEMISTRY, None),
    "lichens_partial": ("vare", ["Al", "P", "K"], ["Baresoil", "pH"]),
}


def read_oracle(name, **options):
    return pd.read_csv(ORACLE / "many" / f"{name}.csv", **options)


@cache
def load_data():
    return read_oracle("dune_data", index_col=0), read_oracle("dune_env_data", index_col=0)


@cache
def fit_model(model):
    dune, env = load_data()
    constraints, given = MODELS[model]
    return co.CA().fit(dune, constraints=env[constraints], given=None if given is None else env[given])


@cache
def load_more_values():
    return json.loads((ORACLE / "vegan" / "models.json").read_text(encoding="utf-8"))


def load_vegan(name):
    """Load a table and its environment, of mites or lichens; "None" is a level of shrubs, not a missing value."""
    read = {"index_col": 0, "keep_default_na": False}
    return tuple(pd.read_csv(ORACLE / "vegan" / f"{part}_data.csv", **read) for part in (name, f"{name}_env"))


def load_more_data(model):
    """Load the table and the environment of a model, with the factors that R has."""
    name = MORE_MODELS[model][0]
    table, env = load_data() if name == "dune" else load_vegan(name)
    if "A1" in env:
        env = env.assign(A1b=2 * env["A1"] + 3, A1sq=env["A1"] ** 2, SF=np.where(env["Management"] == "SF", "y", "n"))
    for name in LEVELS.keys() & set(env):
        env[name] = pd.Categorical(env[name].astype(str), LEVELS[name], ordered=name not in NOT_ORDERED)
    if model == "gaps":
        env = env.astype({"Management": object})
        env.iloc[[2, 6], env.columns.get_loc("A1")] = np.nan
        env.iloc[9, env.columns.get_loc("Management")] = None
    return (table[:6], env[:6]) if model == "few_sites" else (table, env)


@cache
def fit_more(model):
    table, env = load_more_data(model)
    _, constraints, given = MORE_MODELS[model]
    ca = co.CA(missing="drop")
    return ca.fit(table, constraints=env[constraints], given=None if given is None else env[given])


def assert_near(found, wanted, rtol=1e-8):
    """Compare relative to the largest entry of each column."""
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    assert found.shape == wanted.shape
    if found.size:
        assert (np.abs(found - wanted) <= rtol * np.nanmax(np.abs(wanted), axis=0)).all()
