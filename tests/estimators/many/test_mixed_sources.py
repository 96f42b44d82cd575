"""Numbers and answers of tables in files and engines: the same analysis as in memory."""

import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import correspondence as co

sys.path.insert(0, str(Path(__file__).parents[2]))
from engines import on_dask, on_spark

NAMES = ["age", "height", "when", "drink", "member"]


def customers(n=1500, seed=0, gaps=0.0):
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    frame = pl.DataFrame(
        {
            "age": np.rint(40 + 10 * hidden + 5 * rng.normal(size=n)).astype(int),
            "height": 1e6 + hidden + rng.normal(size=n),
            "when": pl.Series(rng.integers(0, 900, n) + 19000).cast(pl.Date),
            "drink": np.array(["tea", "coffee", "milk"])[np.digitize(hidden + rng.normal(size=n), [-0.5, 0.5])],
            "member": hidden + rng.normal(size=n) > 0,
            "name": [f"customer {i}" for i in range(n)],
        }
    )
    gone = rng.random((n, len(NAMES))) < gaps
    return frame.with_columns(
        pl.when(pl.Series(own)).then(None).otherwise(pl.col(name)).alias(name)
        for name, own in zip(NAMES, gone.T, strict=True)
    )


def assert_same(ours, expected, frame):
    np.testing.assert_allclose(ours.inertias_, expected.inertias_, rtol=1e-9)
    np.testing.assert_allclose(ours.shares_, expected.shares_, rtol=1e-9)
    np.testing.assert_allclose(ours.eta2_, expected.eta2_, atol=1e-8)
    assert ours.columns_.labels.tolist() == expected.columns_.labels.tolist()
    assert ours.numbers_.labels.tolist() == expected.numbers_.labels.tolist()
    np.testing.assert_allclose(ours.columns_.principal, expected.columns_.principal, atol=1e-8)
    np.testing.assert_allclose(ours.numbers_.correlations, expected.numbers_.correlations, atol=1e-8)
    np.testing.assert_allclose(ours.transform(frame), expected.transform(frame), atol=1e-7)


def write_parquet(frame, tmp_path):
    for i, part in enumerate((frame[:700], frame[700:701], frame[701:])):
        part.write_parquet(tmp_path / f"part{i}.parquet")
    return str(tmp_path / "*.parquet")


def write_csv(frame, tmp_path):
    frame.write_csv(tmp_path / "customers.csv")
    return tmp_path / "customers.csv"


SOURCES = {
    "parquet": write_parquet,
    "csv": write_csv,
    "polars": lambda frame, _: frame.lazy(),
    "pairs": lambda frame, _: co.Pairs(frame.lazy(), x=NAMES[:2], y=NAMES[2:]),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "csv" else name for name in SOURCES]
)
@pytest.mark.parametrize("missing", ["indicator", "average", "drop"])
def test_equals_the_fit_in_memory(name, missing, tmp_path):
    frame = customers(gaps=0.05)
    source = SOURCES[name](frame, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.LeftOut)
        expected = co.MixedCA(3, missing=missing).fit(frame.select(NAMES))
        ours = co.MixedCA(3, missing=missing).fit(source)
    assert_same(ours, expected, frame)


def test_groups_and_scales():
    frame = customers().select(NAMES)
    mixed = co.MixedCA(2, groups={"body": ["age", "height"], "rest": NAMES[2:]}, standardize=["age", "when"])
    expected = mixed.fit(frame)
    relations = expected.groups_.coordinates
    ours = co.MixedCA(**mixed.get_params()).fit(frame.lazy())
    np.testing.assert_allclose(ours.groups_.coordinates, relations, atol=1e-8)
    assert_same(ours, expected, frame)


def test_a_source_says_what_is_left_out_as_in_memory():
    frame = customers(200).with_columns(pl.lit("same").alias("constant"))
    told = []
    for table in (frame, frame.lazy()):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            co.MixedCA(2).fit(table)
        told.append({str(one.message) for one in caught if one.category is co.LeftOut})
    assert told[0] == told[1]
    assert any("name" in text for text in told[0])


def test_transform_of_a_source(tmp_path):
    frame = customers()
    mixed = co.MixedCA(2).fit(frame.select(NAMES))
    np.testing.assert_allclose(mixed.transform(write_parquet(frame, tmp_path)), mixed.transform(frame), atol=1e-12)


def test_bad_sources(monkeypatch):
    lazy = customers(200, gaps=0.1).select(NAMES).lazy()
    with pytest.raises(ValueError, match=r"numeric must be.*linear"):
        co.MixedCA(numeric="smooth").fit(lazy)
    with pytest.raises(ValueError, match="missing must be one of"):
        co.MixedCA(missing="impute").fit(lazy)
    with pytest.raises(ValueError, match=r"missing.*error"):
        co.MixedCA(missing="error").fit(lazy)
    with pytest.raises(ValueError, match="sample_weight"):
        co.MixedCA().fit(lazy, sample_weight=np.ones(200))
    with pytest.raises(ValueError, match="at least two rows"):
        co.MixedCA().fit(lazy.filter(pl.lit(False)))
    with pytest.raises(ValueError, match="two active columns"):
        co.MixedCA().fit(lazy.select("age"))
    with pytest.raises(ValueError, match="rows_"):
        _ = co.MixedCA(2).fit(lazy).rows_
    monkeypatch.setattr("correspondence.estimators.many.mixed_sources.MAX_ANSWERS", 4)
    with pytest.raises(ValueError, match="X must have at most 4 answers"):
        co.MixedCA().fit(lazy)


@pytest.mark.slow
@pytest.mark.xdist_group("engines")
def test_on_dask(dask_client):
    frame = customers(gaps=0.05).select(NAMES)
    ours = co.MixedCA(3).fit(on_dask(frame.to_arrow(), 4))
    expected = co.MixedCA(3).fit(frame)
    np.testing.assert_allclose(ours.inertias_, expected.inertias_, rtol=1e-9)
    np.testing.assert_allclose(ours.numbers_.correlations, expected.numbers_.correlations, atol=1e-8)
    assert ours.columns_.labels.tolist() == expected.columns_.labels.tolist()


@pytest.mark.slow
@pytest.mark.xdist_group("engines")
def test_on_spark(spark):
    frame = customers(gaps=0.05).select(NAMES)
    table = frame.with_columns(pl.Series("id", np.arange(len(frame)))).to_arrow()
    ours = co.MixedCA(3).fit(on_spark(spark, table, 3), supplementary=["id"])
    assert_same(ours, co.MixedCA(3).fit(frame), frame)
