"""Files and lazy frames give the figures of the table in memory."""

import warnings

import numpy as np
import polars as pl
import pytest

import correspondence as co


def make_frame(n=3000):
    rng = np.random.default_rng(0)
    u = rng.normal(size=n)
    return pl.DataFrame(
        {
            "u": u,
            "square": u**2 + rng.normal(size=n),
            "day": np.datetime64("2024-01-01") + rng.integers(300, size=n),
            "label": rng.choice(["a", "b", None], n),
            "code": np.where(rng.random(n) < 0.5, (u > 0).astype(int), rng.integers(2, size=n)),
            "gaps": [None if gone else float(value) for value, gone in zip(u, rng.random(n) < 0.1, strict=True)],
        }
    )


@pytest.mark.parametrize("kind", ["parquet", pytest.param("csv", marks=pytest.mark.slow), "lazy", "pairs"])
def test_sources_and_memory_agree(kind, tmp_path):
    frame = make_frame()
    if kind in ("parquet", "csv"):
        pytest.importorskip("duckdb")
        source = tmp_path / f"table.{kind}"
        getattr(frame, f"write_{kind}")(source)
        source = str(source)
    else:
        source = frame.lazy() if kind == "lazy" else co.Pairs(frame.lazy(), x=frame.columns[:5], y="gaps")
    a, b = co.associations(source), co.associations(frame)
    assert a.columns.tolist() == b.columns.tolist()
    assert a.kinds.tolist() == b.kinds.tolist()
    np.testing.assert_array_equal(a.n_pairs, b.n_pairs)
    np.testing.assert_array_equal(a.found, b.found)
    # The folds are drawn differently; p-values do not depend on them, but bins of numbers have other edges.
    np.testing.assert_allclose(a.correlations, b.correlations, atol=0.08)
    np.testing.assert_allclose(np.nan_to_num(a.raw_pvalues), np.nan_to_num(b.raw_pvalues), atol=0.03)
    c = co.associations(source, target="square")
    np.testing.assert_allclose(c.correlations[1], a.correlations[1])


def test_columns_that_say_nothing_are_left_out_of_sources_too():
    frame = make_frame(100).with_columns(one=pl.lit("x"), name=pl.Series([f"n{i}" for i in range(100)]))
    with pytest.warns(co.LeftOut) as caught:
        a = co.associations(frame.lazy())
    assert len(a) == 6
    assert {"one", "name"} <= {word for own in caught for word in str(own.message).replace("'", " ").split()}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "drop"}, "^missing must"),
        ({"groups": [1, 2]}, "^groups must"),
        ({"sample_weight": [1.0]}, "^sample_weight must"),
        ({"target": "nobody"}, "^target must"),
    ],
)
def test_what_sources_cannot_do_is_said(options, message):
    with pytest.raises(ValueError, match=message):
        co.associations(make_frame(50).lazy(), **options)


def test_few_rows_of_a_source():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=r"^frame must have at least"):
            co.associations(make_frame(8).lazy())
