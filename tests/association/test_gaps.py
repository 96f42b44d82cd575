"""Figures of pairs of columns with gaps are those of the rows in which both are given, whatever rows these are."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import correspondence as co
from correspondence.association.column_rows import read_rows
from correspondence.association.fold_products import make_blocks


def make_frame(n=6000, seed=0):
    """Draw columns of which two are mostly missing, above all where the others have their frequent values."""
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(n) < 0.9, "often", "seldom")
    y = np.where((x == "often") ^ (rng.random(n) < 0.05), "c", "d").astype(object)
    u = rng.normal(size=n) + 2 * (x == "often")
    v = u + 0.3 * rng.normal(size=n)
    y[rng.random(n) < np.where(x == "often", 0.95, 0.2)] = None
    v[rng.random(n) < np.where(u > 0.5, 0.9, 0.1)] = np.nan
    return pd.DataFrame({"x": x, "y": y, "u": u, "v": v})


def read_figures(a):
    return {name: getattr(a, name) for name in ("correlations", "captured", "predicted")}


@pytest.mark.parametrize("kind", ["memory", "lazy", "weights", "given"])
def test_figures_are_those_of_the_rows_in_which_both_are_given(kind):
    frame = make_frame()
    noise = pd.DataFrame({"z": np.random.default_rng(1).normal(size=len(frame))})

    def compare(some):
        if kind == "lazy":
            columns = some.astype(object).where(some.notna(), None).to_dict("list")
            return co.associations(pl.LazyFrame(columns))
        if kind == "given":
            return co.associations(some, given=noise.loc[some.index])
        return co.associations(some, groups=None, sample_weight=np.full(len(some), 0.5) if kind == "weights" else None)

    every = read_figures(compare(frame))
    for i, one in enumerate(frame):
        for j, other in enumerate(frame):
            if i < j:
                for name, own in read_figures(compare(frame[[one, other]].dropna())).items():
                    found = every[name][np.ix_([i, j], [i, j])]
                    # The numbers that are always given have other ranks among these rows, and so other functions.
                    rtol, atol = (0.08, 0.04) if name == "captured" else (0, 0.04)
                    np.testing.assert_allclose(found, own, rtol=rtol, atol=atol, err_msg=f"{name} {one} {other}")


@pytest.mark.parametrize("n", [60, 400])
def test_nothing_tells_more_than_there_is(n):
    captured = []
    for seed in range(15):
        a = co.associations(make_frame(n, seed)[["x", "y"]], groups=None)
        captured.append(a.captured[0, 1])
        assert (a.predicted <= 1 + 1e-9).all()
    assert np.mean(captured) < 1  # each has noise; it was above 1 in nearly all tables


def test_moments_are_those_of_the_rows_in_which_both_are_given():
    frame = make_frame(300)
    frame.loc[frame["y"] == "d", "v"] = np.nan  # beside v, y is constant
    rows = read_rows(frame, None, np.linspace(0.5, 1.5, 300), 5, None, "average", 0)
    blocks = make_blocks(rows.features, rows.counts, rows.has_gaps)
    places = {j: (block, i) for block in blocks for i, j in enumerate(block.columns.tolist())}
    known = np.column_stack([own.codes != own.missing for own in rows.columns])
    for one, other in [(0, 1), (0, 3), (1, 3), (3, 1), (2, 3)]:
        (x, i), (y, j) = places[one], places[other]
        n, total, products = rows.sum_pairs(x, y)[0]
        n = np.broadcast_to(n, (10, len(x.columns), len(y.columns)))
        k = j if total.shape[2] > 1 else 0  # one place for all columns without gaps
        features = rows.features[one].table[rows.columns[one].codes]
        for half in range(10):
            some = known[:, one] & known[:, other] & (rows.parts == half)
            weighted, p = features[some] * rows.weights[some, None], features.shape[1]
            assert n[half, i, j] == pytest.approx(rows.weights[some].sum())
            np.testing.assert_allclose(total[half, i, k, :p], weighted.sum(axis=0), atol=1e-9)
            np.testing.assert_allclose(products[half, i, k, :p, :p], weighted.T @ features[some], atol=1e-9)
    a = co.associations(frame, groups=None)
    assert a.captured[1, 3] == a.predicted[1, 3] == a.predicted[3, 1] == 0


def test_columns_that_are_never_given_together_tell_nothing():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 200))
    x[:100], y[100:] = np.nan, np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a = co.associations(pd.DataFrame({"x": x, "y": y, "z": rng.normal(size=200)}), groups=None)
    for name in ("correlations", "captured", "predicted", "training_correlations"):
        assert getattr(a, name)[0, 1] == 0
    assert np.isfinite(a.raw_pvalues[0, 1])
