"""Canonical and partial CA give the figures of R's vegan."""

import numpy as np
import pytest

from tests.estimators.constrained.reference import MODELS, assert_near, fit_model, read_oracle

model = pytest.mark.parametrize("model", list(MODELS))


@model
def test_inertias_and_partition(model):
    ca = fit_model(model)
    assert_near(np.concatenate([ca.pics_, ca.unconstrained_.pics]), read_oracle(f"{model}_eig").eigenvalue)
    wanted = read_oracle(f"{model}_partition").set_index("part")
    found = ca.partition_.to_frame("pandas").set_index("part")
    assert list(found.index) == list(wanted.index)
    assert_near(found.inertia, wanted.inertia)
    assert_near(found.share, wanted.proportion)
    assert found["rank"].iloc[1:].tolist() == wanted["rank"].iloc[1:].tolist()
    assert ca.r2_ == pytest.approx(read_oracle(f"{model}_r2")["r.squared"][0], rel=1e-8)


@model
@pytest.mark.parametrize("scaling", range(4))
def test_scores(model, scaling):
    ca, wanted = fit_model(model), read_oracle(f"{model}_scores").query("scaling == @scaling")
    axes = [name for name in wanted if name.startswith("C")]
    signs = find_signs(ca, model, axes)
    assert set(wanted.display) >= {"wa", "lc", "sp", "bp", "reg"}
    for display, part in wanted.groupby("display"):
        frame = ca.scores(display, scaling).to_frame("pandas")
        frame.index = frame.label.astype(str)
        assert sorted(frame.index) == sorted(part.name.astype(str))
        assert_near(frame.loc[part.name.astype(str), axes] * signs, part[axes])


def find_signs(ca, model, axes):
    """One sign for each axis, the same for all displays and scalings."""
    species = read_oracle(f"{model}_scores").query("scaling == 0 and display == 'sp'")
    found = ca.scores("sp", 0).to_frame("pandas").set_index("label").loc[species.name, axes]
    return np.sign((found.to_numpy() * species[axes].to_numpy()).sum(axis=0))


@model
def test_inflation_correlations_and_masses(model):
    ca, wanted = fit_model(model), read_oracle(f"{model}_vif")
    assert list(ca.vif_) == wanted.term.tolist()
    assert_near(list(ca.vif_.values()), wanted.vif)
    assert_near(ca.axis_correlations_, read_oracle(f"{model}_spenvcor").iloc[:, 1])
    masses = read_oracle(f"{model}_masses").groupby("kind", sort=False).value.apply(list)
    assert_near(ca.rows_.mass, masses["row_mass"])
    assert_near(ca.columns_.mass, masses.drop("row_mass").iloc[0])


def test_linear_combinations_are_functions_of_the_constraints():
    for name, (constraints, given) in MODELS.items():
        ca = fit_model(name)
        env = read_oracle("dune_env_data", index_col=0)
        if given is None:
            assert_near(ca.transform(env[constraints]), ca.rows_.standard)
        else:
            assert_near(ca.transform(env[constraints], given=env[given]), ca.rows_.standard)
