"""Correspondence analysis of tables with missing cells."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import correspondence as co
from correspondence.estimators.ca.table_imputing import predict_cells


def make_table(rng, shape=(12, 8), axes=2, n=50_000):
    """Make expected counts with some axes."""
    r, c = rng.dirichlet(np.full(shape[0], 8.0)), rng.dirichlet(np.full(shape[1], 8.0))
    f, g = rng.normal(size=(shape[0], axes)), rng.normal(size=(shape[1], axes))
    f, g = f - r @ f, g - c @ g
    f, g = f / np.abs(f).max(axis=0), g / np.abs(g).max(axis=0)
    return n * np.outer(r, c) * (1 + f @ np.diag([0.5, 0.35][:axes]) @ g.T)


def mask(table, share, seed=0):
    is_gap = np.random.default_rng(seed).random(table.shape) < share
    return np.where(is_gap, np.nan, table), is_gap


@pytest.mark.parametrize("axes", [0, 1, 2])
def test_tables_of_few_axes_are_recovered(axes):
    table = make_table(np.random.default_rng(axes), axes=max(axes, 1))
    if axes == 0:
        table = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    gaps, _ = mask(table, 0.1)
    ca = co.CA(missing="impute").fit(gaps)
    assert ca.n_axes_imputed_ == axes
    np.testing.assert_allclose(ca.table_.counts, table, rtol=1e-4)
    np.testing.assert_allclose(ca.pics_, co.CA().fit(table).pics_, atol=1e-6)


def test_cells_hold_what_margins_and_axes_say():
    table = np.random.default_rng(1).poisson(make_table(np.random.default_rng(1), n=3000))
    gaps, is_gap = mask(table.astype(float), 0.1)
    ca = co.CA(missing="impute").fit(gaps)
    filled = ca.table_.counts
    np.testing.assert_array_equal(filled[~is_gap], table[~is_gap])
    np.testing.assert_allclose(filled[is_gap], predict_cells(filled, ca.n_axes_imputed_)[is_gap], rtol=1e-6)
    again = co.CA().fit(filled)
    np.testing.assert_allclose(ca.pics_, again.pics_)
    np.testing.assert_allclose(ca.rows_.principal, again.rows_.principal)


def test_prediction_by_all_axes_is_the_table():
    table = np.random.default_rng(0).poisson(20, (6, 5)).astype(float)
    np.testing.assert_allclose(predict_cells(table, 4), table, rtol=1e-10)


@pytest.mark.slow
def test_structure_is_used_and_noise_is_not():
    def compare_errors(expected, seed):
        table = np.random.default_rng(seed).poisson(expected).astype(float)
        gaps, is_gap = mask(table, 0.15, seed)
        filled = co.CA(missing="impute").fit(gaps)
        independent = gaps.copy()
        for _ in range(500):
            known = np.nan_to_num(independent, nan=1.0)
            independent = np.where(is_gap, np.outer(known.sum(1), known.sum(0)) / known.sum(), table)
        error = [
            ((values - expected)[is_gap] ** 2 / expected[is_gap]).mean()
            for values in (independent, filled.table_.counts)
        ]
        return *error, filled.n_axes_imputed_

    rng = np.random.default_rng(0)
    structured = [compare_errors(make_table(rng, (20, 10), n=20_000), seed) for seed in range(5)]
    assert np.mean([ours / plain for plain, ours, _ in structured]) < 0.5
    base = make_table(rng, (20, 10), n=2000)
    flat = np.outer(base.sum(axis=1), base.sum(axis=0)) / base.sum()
    noise = [compare_errors(flat, seed) for seed in range(8)]
    assert np.mean([axes == 0 for *_, axes in noise]) >= 0.75
    assert np.mean([ours for _, ours, _ in noise]) < 1.1 * np.mean([plain for plain, *_ in noise])


@pytest.mark.slow
def test_frames_with_gaps():
    counts = pd.DataFrame(make_table(np.random.default_rng(0)).round(), columns=list("abcdefgh"))
    counts = counts.set_axis([f"row {i}" for i in range(12)])
    counts.iloc[2, 3] = np.nan
    expected = co.CA(missing="impute").fit(counts)
    nulls = [None if value != value else int(value) for value in counts["d"]]
    whole = counts.astype("Int64")
    columns = {"label": counts.index.tolist(), **{name: counts[name].tolist() for name in counts}, "d": nulls}
    masked = np.ma.masked_invalid(counts.to_numpy())
    for table in (
        whole,
        pl.DataFrame(columns),
        pa.table(columns),
        counts.to_numpy(),
        masked,
        counts.to_numpy().tolist(),
    ):
        np.testing.assert_allclose(co.CA(missing="impute").fit(table).pics_, expected.pics_, rtol=1e-9)
    assert expected.table_.rows[2] == "row 2"


def test_a_table_without_gaps_is_analysed_as_always():
    table = co.datasets.load_housetasks()
    ca = co.CA(missing="impute").fit(table)
    np.testing.assert_array_equal(ca.pics_, co.CA().fit(table).pics_)
    assert ca.n_axes_imputed_ == 0
    assert len(ca.imputing_errors_) == 0
    assert not hasattr(ca.set_params(missing="error").fit(table), "n_axes_imputed_")


def test_bad_tables():
    table = np.array([[3.0, 4, 5], [np.nan, np.nan, np.nan], [6, 7, 9]])
    with pytest.raises(ValueError, match="row 1"):
        co.CA(missing="impute").fit(table)
    with pytest.raises(ValueError, match="column 1"):
        co.CA(missing="impute").fit(table.T)
    with pytest.raises(ValueError, match="NaN"):
        co.CA().fit([[3.0, np.nan], [4, 5]])
    with pytest.raises(ValueError, match="missing must be"):
        co.CA(missing="impute").fit(["a", "b", None], ["x", "y", "x"])
    with pytest.raises(ValueError, match="Negative"):
        co.CA(missing="impute").fit([[3.0, np.nan], [-4, 5]])
    with pytest.raises(ValueError, match="infinity"):
        co.CA(missing="impute").fit([[3.0, np.nan], [np.inf, 5]])
    with pytest.raises(ValueError, match="X"):
        co.CA(missing="impute").fit([[np.nan, np.nan], [np.nan, np.nan]])


def test_steps_that_do_not_converge_are_told(monkeypatch):
    gaps, _ = mask(make_table(np.random.default_rng(0)), 0.2)
    monkeypatch.setattr("correspondence.estimators.ca.table_imputing.MAX_STEPS", 1)
    with pytest.warns(co.Inexact, match="impute"):
        co.CA(missing="impute").fit(gaps)


def test_small_tables():
    assert np.isfinite(co.CA(missing="impute").fit([[3, 5], [np.nan, 6]]).table_.counts).all()
    ca = co.CA(missing="impute").fit([[3, 5], [np.nan, 6]])
    assert ca.table_.counts[1, 0] == pytest.approx(3 * 6 / 5)
