"""Tables in files and engines: the same analysis as in memory, and the same words about what is left out."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import correspondence as co
from correspondence.estimators.many import sources

sys.path.insert(0, str(Path(__file__).parents[2]))
from engines import on_dask, on_spark

NAMES = ["drink", "size", "time", "place"]


def survey(n=1500, seed=0, gaps=0.0):
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    frame = pl.DataFrame({"id": np.arange(n)}).with_columns(
        pl.Series(name, np.digitize(hidden + rng.normal(size=n), np.linspace(-1, 1, j + 1)).tolist())
        for j, name in enumerate(NAMES)
    )
    drink = frame["drink"].replace_strict([0, 1], ["tea", "coffee"])
    frame = frame.with_columns(drink.alias("drink"), (pl.col("time") > 1).alias("time"))
    gone = rng.random((n, len(NAMES))) < gaps
    return frame.with_columns(
        pl.when(pl.Series(own)).then(None).otherwise(pl.col(name)).alias(name)
        for name, own in zip(NAMES, gone.T, strict=True)
    )


def assert_same(ours, expected, frame):
    np.testing.assert_allclose(ours.inertias_, expected.inertias_, rtol=1e-9)
    np.testing.assert_allclose(ours.shares_, expected.shares_, rtol=1e-9)
    np.testing.assert_allclose(ours.eta2_, expected.eta2_, atol=1e-9)
    assert ours.columns_.labels.tolist() == expected.columns_.labels.tolist()
    np.testing.assert_allclose(ours.columns_.mass, expected.columns_.mass, rtol=1e-9)
    np.testing.assert_allclose(ours.columns_.principal, expected.columns_.principal, atol=1e-9)
    assert ours.decomposition_.n == pytest.approx(expected.decomposition_.n)
    np.testing.assert_allclose(ours.transform(frame), expected.transform(frame), atol=1e-9)


def open_duckdb(frame, tmp_path):
    import duckdb

    table = frame.to_arrow()
    return duckdb.from_arrow(table)


def write_parquet(frame, tmp_path):
    for i, part in enumerate((frame[:700], frame[700:701], frame[701:])):
        part.write_parquet(tmp_path / f"part{i}.parquet")
    return str(tmp_path / "*.parquet")


def write_csv(frame, tmp_path):
    frame.write_csv(tmp_path / "survey.csv")
    return tmp_path / "survey.csv"


SOURCES = {
    "parquet": write_parquet,
    "csv": write_csv,
    "duckdb": open_duckdb,
    "polars": lambda frame, _: frame.lazy(),
    "pairs": lambda frame, _: co.Pairs(frame.lazy(), x=NAMES[:2], y=NAMES[2:]),
}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("missing", ["indicator", "average", "passive", "drop"])
def test_equals_the_fit_in_memory(name, missing, tmp_path):
    frame = survey(gaps=0.05)
    source = SOURCES[name](frame, tmp_path)
    supplementary = None if name == "pairs" else ["id"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.LeftOut)
        expected = co.MCA(3, missing=missing).fit(frame.select(NAMES))
        ours = co.MCA(3, missing=missing).fit(source, supplementary=supplementary)
    assert_same(ours, expected, frame)


@pytest.mark.parametrize("correction", ["burt", "adjusted", "joint"])
def test_conventions(correction):
    frame = survey().select(NAMES)
    assert_same(co.MCA(2, correction=correction).fit(frame.lazy()), co.MCA(2, correction=correction).fit(frame), frame)


@pytest.mark.slow
@pytest.mark.xdist_group("engines")
@pytest.mark.parametrize("missing", ["indicator", "passive"])
def test_on_dask(missing, dask_client):
    frame = survey(gaps=0.05)
    ours = co.MCA(3, missing=missing).fit(on_dask(frame.to_arrow(), 4), supplementary=["id"])
    scores = ours.transform(on_dask(frame.to_arrow(), 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.LeftOut)
        expected = co.MCA(3, missing=missing).fit(frame.select(NAMES))
    np.testing.assert_allclose(ours.inertias_, expected.inertias_, rtol=1e-9)
    np.testing.assert_allclose(scores, expected.transform(frame.to_arrow().to_pandas()), atol=1e-9)


@pytest.mark.slow
@pytest.mark.xdist_group("engines")
def test_on_spark(spark):
    frame = survey()
    ours = co.MCA(3).fit(on_spark(spark, frame.to_arrow(), 3), supplementary=["id"])
    assert_same(ours, co.MCA(3).fit(frame.select(NAMES)), frame)


def test_transform_of_a_source(tmp_path):
    frame = survey()
    mca = co.MCA(2).fit(frame.select(NAMES))
    np.testing.assert_allclose(mca.transform(write_parquet(frame, tmp_path)), mca.transform(frame), atol=1e-12)
    np.testing.assert_allclose(mca.transform(co.Pairs(frame.lazy(), NAMES, "id")), mca.transform(frame), atol=1e-12)


@pytest.mark.parametrize("missing", ["indicator", "passive"])
def test_constants_and_ids_are_told_as_in_memory(missing):
    frame = survey(1000, gaps=0.1).with_columns(pl.lit("same").alias("constant"))
    told = []
    fits = []
    for table in (frame, frame.lazy()):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fits.append(co.MCA(2, missing=missing).fit(table))
        texts = [str(w.message) for w in caught if w.category is co.LeftOut]
        told.append({text for text in texts if "column" in text})
    assert_same(fits[1], fits[0], frame)
    assert told[0] == told[1]
    assert len(told[0]) == 2


def test_columns_with_more_answers_than_memory_are_told(monkeypatch):
    monkeypatch.setattr(sources, "MAX_ANSWERS", 1100)
    frame = pl.concat([survey(), survey(seed=1)]).with_columns(pl.arange(3000).mod(1500).alias("id"))
    with pytest.warns(co.LeftOut, match="'id'"):
        ours = co.MCA(2).fit(frame.lazy())
    assert_same(ours, co.MCA(2).fit(frame.select(NAMES)), frame)


def test_too_many_answers_of_real_questions(monkeypatch):
    monkeypatch.setattr(sources, "MAX_ANSWERS", 10)
    with pytest.raises(ValueError, match="X must have at most 10 answers"):
        co.MCA().fit(survey().lazy(), supplementary=["id"])


def test_order_of_enumerations_is_kept():
    order = pl.Enum(["small", "medium", "large"])
    frame = pl.DataFrame({"size": ["large", "small", "medium", "small"] * 5, "a": ["u", "v", "v", "u"] * 5})
    frame = frame.with_columns(pl.col("size").cast(order))
    ours = co.MCA().fit(frame.lazy())
    assert ours.columns_.labels.tolist()[:3] == ["size:small", "size:medium", "size:large"]
    assert_same(ours, co.MCA().fit(frame), frame)


def test_bad_sources(tmp_path):
    lazy = survey(gaps=0.1).lazy()
    with pytest.raises(ValueError, match="supplementary must name columns"):
        co.MCA().fit(lazy, supplementary=["nothing"])
    with pytest.raises(ValueError, match="two active columns"):
        co.MCA().fit(lazy.select("drink"))
    with pytest.warns(co.LeftOut, match="constant"), pytest.raises(ValueError, match="two columns that vary"):
        co.MCA().fit(lazy.select("drink", pl.lit("a").alias("constant")))
    with pytest.raises(ValueError, match=r"missing.*error"):
        co.MCA(missing="error").fit(lazy)
    with pytest.raises(ValueError, match="missing must be one of"):
        co.MCA(missing="impute").fit(lazy)
    with pytest.raises(ValueError, match="sample_weight"):
        co.MCA().fit(lazy, sample_weight=np.ones(1500))
    with pytest.raises(FileNotFoundError, match="nothing"):
        co.MCA().fit(tmp_path / "nothing.parquet")
    with pytest.raises(ValueError, match="empty"):
        co.MCA().fit(lazy.filter(pl.lit(False)))
    with pytest.raises(ValueError, match="rows_"):
        _ = co.MCA(2).fit(lazy, supplementary=["id"]).rows_


def test_supplementary_columns_of_a_source_have_no_places():
    mca = co.MCA(2).fit(survey().lazy(), supplementary=["id"])
    assert mca.supplementary_columns_ is None
    assert mca.supplementary_numbers_ is None
    assert mca.supplementary_rows_ is None
    assert mca.supplementary_vtests_ is None
    assert mca.supplementary_eta2_ == {}


def test_pandas_and_pyarrow_frames_are_in_memory():
    frame = survey().select(NAMES)
    expected = co.MCA(2).fit(frame)
    for other in (frame.to_pandas(), frame.to_arrow(), pa.table(frame.to_pandas().astype({"drink": "category"}))):
        assert_same(co.MCA(2).fit(other), expected, frame)
    assert isinstance(frame.to_pandas(), pd.DataFrame)
