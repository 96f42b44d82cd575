"""Multiple correspondence analysis is correspondence analysis of the indicator table: reference values from R."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import correspondence as co

ORACLE = Path(__file__).parents[1] / "oracle"

Q = 4


def reference(name):
    return pd.read_csv(ORACLE / f"wg93_{name}.csv", index_col=0)


def inertia(version):
    table = reference("mca_inertia")
    return table[table["lambda"] == version]


@pytest.fixture(scope="module")
def indicator():
    return co.indicator_table(pd.read_csv(ORACLE / "wg93_answers.csv", dtype=str))


@pytest.fixture(scope="module")
def burt(indicator):
    return (indicator.counts.T @ indicator.counts).toarray()


def test_indicator_version(indicator):
    ca = co.CA().fit(indicator)
    known = inertia("indicator")
    np.testing.assert_allclose(ca.pics_[:8], known["principal_inertia"], rtol=1e-10)
    assert ca.decomposition_.chi2 == pytest.approx(known["total"].iloc[0], rel=1e-10)
    np.testing.assert_allclose(100 * ca.decomposition_.inertia_ratios[:8], known["pct"], rtol=1e-10)
    expected = reference("mca_indicator_cols")
    assert ca.columns_.labels.tolist() == expected["level"].tolist()
    np.testing.assert_allclose(ca.columns_.mass, expected["mass"], rtol=1e-10)
    for ours, theirs in ((ca.columns_.standard, "std"), (ca.columns_.principal, "principal")):
        values = expected[[f"{theirs}.1", f"{theirs}.2"]].to_numpy()
        np.testing.assert_allclose(ours[:, :2] * np.sign((ours[:, :2] * values).sum(0)), values, rtol=1e-10, atol=1e-11)


def test_factominer(indicator):
    ca = co.CA().fit(indicator)
    np.testing.assert_allclose(ca.pics_[:16], reference("FactoMineR_MCA_eig")["eigenvalue"], rtol=1e-10)
    np.testing.assert_allclose(ca.pics_[16:], 0, atol=1e-25)
    coordinates, contributions, cos2 = np.split(reference("FactoMineR_MCA_var").to_numpy(), 3, axis=1)
    np.testing.assert_allclose(np.abs(ca.columns_.principal[:, :2]), np.abs(coordinates), rtol=1e-10)
    np.testing.assert_allclose(100 * ca.columns_.contributions[:, :2], contributions, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(ca.columns_.cos2[:, :2], cos2, rtol=1e-10, atol=1e-13)


def test_burt_and_adjusted_versions(burt):
    ca = co.CA().fit(burt)
    np.testing.assert_allclose(ca.pics_[:8], inertia("Burt")["principal_inertia"], rtol=1e-10)
    assert ca.decomposition_.chi2 == pytest.approx(inertia("Burt")["total"].iloc[0], rel=1e-10)
    above = ca.correlations_[ca.correlations_ > 1 / Q]
    np.testing.assert_allclose(_adjusted(above), inertia("adjusted")["principal_inertia"], rtol=1e-10)
    total = Q / (Q - 1) * (ca.decomposition_.chi2 - (len(burt) - Q) / Q**2)
    assert total == pytest.approx(inertia("adjusted")["total"].iloc[0], rel=1e-10)


def test_joint_version(burt, indicator):
    """Diagonal blocks of the Burt table refitted from two axes until none of them moves by 1e-4, as R's mjca does."""
    variable = np.array([label.split(":")[0] for label in indicator.columns])
    own = variable[:, None] == variable
    ca, change = co.CA(n_components=2).fit(burt), np.inf
    weights = _adjusted(ca.correlations_)
    while change > 1e-4:
        F = ca.columns_.standard
        fitted = burt.sum() * np.outer(ca.columns_.mass, ca.columns_.mass) * (1 + (F * weights) @ F.T)
        change = np.abs(fitted - burt)[own].max()
        burt = np.where(own, fitted, burt)
        ca = co.CA(n_components=2).fit(burt)
        weights = ca.correlations_
    final = co.CA().fit(burt)
    positive = (final.rows_.standard * final.columns_.standard).sum(axis=0) > 0  # eigenvalues, which R lists alone
    np.testing.assert_allclose(final.pics_[positive][:6], inertia("JCA")["principal_inertia"], rtol=1e-10)
    assert final.decomposition_.chi2 == pytest.approx(inertia("JCA")["total"].iloc[0], rel=1e-10)


def _adjusted(correlations):
    return (Q / (Q - 1)) ** 2 * (correlations - 1 / Q) ** 2


def test_indicator_table_of_other_frames():
    columns = {"x": ["b", "a", "b"], "n": [1, 2, 1]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        table = co.indicator_table(frame)
        assert table.columns.tolist() == ["x:a", "x:b", "n:1", "n:2"]
        assert table.toarray().tolist() == [[0, 1, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0]]


def test_new_observations_find_their_place(indicator):
    answers = pd.read_csv(ORACLE / "wg93_answers.csv", dtype=str)
    ca = co.CA(n_components=2).fit(indicator)
    new = co.indicator_table(answers.iloc[[4]], columns=indicator.columns)
    np.testing.assert_allclose(ca.supplementary(rows=new).principal[0], ca.rows_.principal[4], atol=1e-9)
    with pytest.raises(ValueError, match=r"A:9.* columns"):
        co.indicator_table(answers.iloc[[4]].assign(A="9"), columns=indicator.columns)


def test_bad_indicator_tables():
    with pytest.raises(ValueError, match="frame is empty"):
        co.indicator_table(pl.DataFrame({"x": []}))
    with pytest.raises(ValueError, match=r"x.* has .*missing"):
        co.indicator_table(pl.DataFrame({"x": ["a", None]}))
    with pytest.raises(TypeError, match="frame must be a"):
        co.indicator_table([["a", "b"]])
