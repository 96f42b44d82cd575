"""Gaps in columns of numbers and answers together, and the algebra that fills them."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from correspondence import LeftOut, MixedCA
from correspondence.core.column_blocks import find_block_axes, whiten_blocks
from correspondence.core.column_features import CurveColumn, ManyColumns, NumberColumn
from correspondence.core.feature_moments import compute_feature_moments, freeze_moments
from correspondence.core.gap_filling import choose_axes, make_gap_filler
from correspondence.core.splines import SplineBasis
from correspondence.estimators.many.completing import complete_table
from correspondence.estimators.many.imputing import fit_gap_filler
from correspondence.estimators.many.reading import read_mixed


@pytest.fixture(scope="module")
def mixed():
    """Three numbers and two questions that hang together by one hidden number."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=300)
    noise = rng.normal(size=(300, 5)) * 0.4
    frame = {f"x{j}": 10 * j + (hidden + noise[:, j]) for j in range(3)}
    frame |= {f"q{j}": np.where(hidden + noise[:, j] > 0, "high", "low") for j in (3, 4)}
    return pd.DataFrame(frame).round(6)


def mask(frame, share, seed=0):
    is_masked = np.random.default_rng(seed).random(frame.shape) < share
    return frame.mask(is_masked), is_masked


def split(frame):

    return {name: nw.from_native(frame, eager_only=True)[name] for name in frame.columns}


def fit_filler(frame):
    table = read_mixed(split(frame), "impute", "error")
    found = fit_gap_filler(table.features, table.arrays)
    return ManyColumns(table.features.columns, "error", found.filler), table, found


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_numbers_and_answers_are_filled_in_together(mixed, share):
    gaps, is_masked = mask(mixed, share)
    gaps = gaps[gaps.notna().any(axis=1)]
    is_masked = gaps.isna().to_numpy()
    features, _, found = fit_filler(gaps)
    filled = complete_table(features, gaps)
    truth = mixed.loc[gaps.index]
    assert filled.dtypes.tolist() == gaps.dtypes.tolist()
    assert found.filler.n_axes >= 1
    for name in ("x0", "x1", "x2"):
        own = is_masked[:, gaps.columns.get_loc(name)]
        error, mean_error = (((values - truth[name]) ** 2)[own].mean() for values in (filled[name], gaps[name].mean()))
        assert error < 0.4 * mean_error
    for name in ("q3", "q4"):
        own = is_masked[:, gaps.columns.get_loc(name)]
        wrong, mode_wrong = ((values != truth[name])[own].mean() for values in (filled[name], gaps[name].mode()[0]))
        assert wrong < 0.6 * mode_wrong


def test_gaps_hold_what_the_scores_predict(mixed):
    """One more step of the iteration of Josse and Husson moves nothing, and neither do the axes."""
    gaps, _ = mask(mixed, 0.2)
    gaps = gaps[gaps.notna().any(axis=1)]
    features, table, found = fit_filler(gaps)
    completed = features.expand(table.arrays)
    scores = (completed - found.filler.mean) @ found.filler.weights
    predicted = found.filler.mean + scores @ found.filler.loadings.T
    is_gap = np.repeat(features.find_gaps(table.arrays), [block.width for block in features.blocks], axis=1)
    inside = is_gap & (completed > 0) & (completed < 1)
    inside[:, :3] = is_gap[:, :3]
    clipped = is_gap[:, 3:] & ~inside[:, 3:]
    rows = ~clipped.any(axis=1)
    assert inside[rows].sum() > 100
    np.testing.assert_allclose(completed[rows][inside[rows]], predicted[rows][inside[rows]], atol=1e-9)
    moments = freeze_moments(compute_feature_moments(features, table.arrays))
    axes = find_block_axes(moments, whiten_blocks(moments, features.blocks))
    again = make_gap_filler(axes, found.filler.n_axes)
    np.testing.assert_allclose(
        again.loadings @ again.weights.T, found.filler.loadings @ found.filler.weights.T, atol=1e-6
    )


@pytest.mark.slow
def test_units_of_numbers_do_not_matter(mixed):
    gaps, _ = mask(mixed, 0.2)
    features, _, found = fit_filler(gaps.assign(x0=1e4 + 1e3 * gaps["x0"]))
    other, _, plain = fit_filler(gaps)
    np.testing.assert_allclose(found.errors, plain.errors, rtol=1e-6)
    filled, expected = complete_table(features, gaps.assign(x0=1e4 + 1e3 * gaps["x0"])), complete_table(other, gaps)
    np.testing.assert_allclose(filled["x0"], 1e4 + 1e3 * expected["x0"], rtol=1e-6)


def test_whole_numbers_are_rounded_and_keep_their_type(mixed):
    frame = mixed.assign(x0=(10 * mixed["x0"]).round().astype("Int64"))
    frame.loc[7, "x0"] = pd.NA
    features, _, _ = fit_filler(frame)
    filled = complete_table(features, frame)
    assert filled["x0"].dtype == frame["x0"].dtype
    assert abs(filled.loc[7, "x0"] - 10 * mixed.loc[7, "x0"]) < 15
    whole = pl.from_pandas(frame)
    assert complete_table(features, whole)["x0"].to_list() == filled["x0"].to_list()


def test_dates_stay_open_and_are_told(mixed):
    frame = pl.from_pandas(mixed).with_columns(
        day=pl.date(2020, 1, 1) + pl.duration(days=pl.col("x0").rank().cast(int))
    )
    frame = frame.with_columns(pl.when(pl.int_range(pl.len()) == 5).then(None).otherwise(pl.col("day")).alias("day"))
    features, _, _ = fit_filler(frame)
    with pytest.warns(LeftOut, match="day"):
        filled = complete_table(features, frame)
    assert filled["day"].null_count() == 1


def test_curves_give_back_their_numbers():
    values = np.random.default_rng(0).normal(size=100)
    curve = CurveColumn("x", 0.0, basis=SplineBasis.for_columns(values[:, None], np.array([True]), 6))
    np.testing.assert_allclose(curve.restore(curve.expand(values)), values, atol=1e-10)
    plain = NumberColumn("x", 0.0)
    np.testing.assert_array_equal(plain.restore(plain.expand(values)), values)


def test_choice_of_axes():
    assert choose_axes([[1.0, 0.99, 1.2], [1.0, 1.02, 1.1], [1.0, 0.98, 1.3]]) == 0  # no better than the shares
    assert choose_axes([[1.0, 0.8, 0.5], [1.0, 0.7, 0.6], [1.0, 0.8, 0.5]]) == 2
    assert choose_axes([[1.0, 0.5]]) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"numeric": "smooth"}, {"groups": {"a": ["x0", "q3"], "b": ["x1", "x2", "q4"]}}]
)
def test_mixed_analysis_of_the_completed_table(mixed, options):
    gaps, _ = mask(mixed, 0.2)
    gaps = gaps[gaps.notna().any(axis=1)]
    est = MixedCA(missing="impute", n_components=2, **options).fit(gaps)
    np.testing.assert_allclose(est.transform(gaps), est.rows_.standard, atol=1e-10)
    np.testing.assert_allclose(est.rows_.standard.T @ est.rows_.standard / len(gaps), np.eye(2), atol=1e-9)
    filled, truth = est.impute(gaps), mixed.loc[gaps.index]
    assert filled.notna().all(axis=None)
    for name in ("x0", "x1", "x2"):
        own = gaps[name].isna()
        assert ((filled[name] - truth[name])[own] ** 2).mean() < 0.5 * truth[name].var()


def test_a_number_of_minus_two_is_a_number(mixed):
    frame = mixed.assign(x0=np.where(np.arange(300) == 0, -2.0, mixed["x0"]))
    assert np.isfinite(MixedCA(n_components=1).fit(frame).rows_.standard).all()
