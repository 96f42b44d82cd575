"""Whether `decompose` keeps the order that labels declare, and says so."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import correspondence as co


def draw_ordered_pairs(missing_every=0):
    """Job satisfaction by income, five times as many people: the third bracket is above the fourth."""
    income, satisfied = (
        ["< 5", "5-15", "15-25", "> 25"],
        ["very dissatisfied", "a little", "moderately", "very satisfied"],
    )
    counts = 5 * np.array([[2, 4, 13, 3], [2, 6, 22, 4], [0, 1, 15, 8], [0, 3, 13, 8]])
    i, j = np.repeat(np.indices(counts.shape).reshape(2, -1), counts.ravel(), axis=1)
    x = [None if missing_every and k % missing_every == 0 else income[at] for k, at in enumerate(i)]
    table = pd.DataFrame(counts, pd.CategoricalIndex(income, income, ordered=True), satisfied)
    return pl.Series("income", x, pl.Enum(income)), pl.Series("job", np.array(satisfied)[j], pl.Enum(satisfied)), table


def rises(d):
    f = d.f(["< 5", "5-15", "15-25", "> 25"])[:, 0]
    return bool((np.diff(f) >= -1e-9).all() or (np.diff(f) <= 1e-9).all())


@pytest.mark.parametrize(
    ("method", "missing_every", "is_kept"), [("ca", 0, True), ("ace", 0, True), ("ca", 9, True), ("ridge-ca", 0, False)]
)
def test_origin_says_whether_declared_orders_are_kept(method, missing_every, is_kept):
    x, y, _ = draw_ordered_pairs(missing_every)
    d = co.decompose(x, y, method=method, verbose=False)
    assert rises(d) == is_kept
    assert ("in order: income, job" if is_kept else "the order of income, job is not used") in d.origin
    assert "order" not in co.decompose(x.cast(pl.String), y.cast(pl.String), method=method, verbose=False).origin


@pytest.mark.parametrize("factor", [1, 2])
def test_tables_keep_the_order_of_their_index(factor):
    table = draw_ordered_pairs()[2] * factor
    d = co.decompose(table, method="ca", verbose=False)
    assert rises(d)
    assert "in order: rows" in d.origin
    plain = co.decompose(table.set_axis(list(table.index)), method="ca", verbose=False)
    assert not rises(plain)
    assert "order" not in plain.origin
    merged = co.decompose(table, method="ca", min_count=105 * factor, verbose=False)
    assert "the order of rows is not used" in merged.origin


def test_a_table_of_weights_keeps_the_order():
    d = co.decompose(draw_ordered_pairs()[2] * 0.3, verbose=False)
    assert rises(d)
    assert d.origin == "ca: X is a table of counts; in order: rows."


@pytest.mark.filterwarnings("ignore")
def test_a_level_of_rare_labels_has_no_order():
    rng, levels = np.random.default_rng(0), [f"l{i}" for i in range(250)]
    X = pl.DataFrame({"x": pl.Series(np.array(levels)[rng.integers(0, 250, 1000)], dtype=pl.Enum(levels))})
    d = co.decompose(X.with_columns(z=rng.normal(size=1000)), rng.normal(size=1000), method="ace", verbose=False)
    assert "the order of x is not used" in d.origin
