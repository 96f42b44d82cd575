"""Times with a zone or an offset are read as the local time that is written, wherever they come from."""

import datetime
import zoneinfo

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

import correspondence as co
from correspondence.data.column_reading import columns_of
from correspondence.data.file_formats import read_file, read_frame
from correspondence.data.text_readers import find_text_reader

ZONE = "America/New_York"
LOCAL = [
    datetime.datetime(2021, 1, 5, 23, 30),
    datetime.datetime(2021, 7, 5, 8, 15),
    datetime.datetime(2021, 3, 1, 1, 0),
]
AWARE = [time.replace(tzinfo=zoneinfo.ZoneInfo(ZONE)) for time in LOCAL]
WANTED = np.array(LOCAL, dtype="M8[us]")


@pytest.fixture
def parquet(tmp_path):
    make_polars().with_columns(y=pl.Series(["a", "b", "a"])).write_parquet(tmp_path / "d.parquet")
    return tmp_path / "d.parquet"


def make_polars():
    return pl.DataFrame({"t": pl.Series(LOCAL).dt.replace_time_zone(ZONE)})


def make_pandas():
    return pd.DataFrame({"t": pd.Series(LOCAL).dt.tz_localize(ZONE)})


def read_column(values):
    (column,) = columns_of(values, "X").values()
    if column.dtype == object:
        reader = find_text_reader(column.tolist())
        column = reader(column)
    return column


@pytest.mark.parametrize(
    "make",
    [
        make_polars,
        make_pandas,
        lambda: make_pandas().convert_dtypes(dtype_backend="pyarrow"),
        lambda: make_polars().to_arrow(),
        lambda: AWARE,
        lambda: np.array(AWARE, dtype=object),
        lambda: [time.isoformat() for time in AWARE],  # two offsets: summer and winter
        lambda: [time.isoformat(" ") for time in AWARE],
        lambda: [time.isoformat()[:-3] for time in AWARE],
        lambda: [time.strftime("%b %d %Y %H:%M UTC") for time in LOCAL],
    ],
    ids=["polars", "pandas", "arrow in pandas", "arrow", "list", "objects", "texts", "spaces", "hours", "words"],
)
def test_in_memory(make):
    np.testing.assert_array_equal(read_column(make()), WANTED)


@pytest.mark.parametrize("write", [str, datetime.datetime.isoformat, lambda t: t.isoformat()[:-3]])
def test_csv(tmp_path, write):
    path = tmp_path / "d.csv"
    path.write_text("t,y\n" + "".join(f"{write(time)},{y}\n" for time, y in zip(AWARE, "aba", strict=True)))
    np.testing.assert_array_equal(read_column(read_frame(path).select("t")), WANTED)
    np.testing.assert_array_equal(read_column(next(iter(pairs_of(str(path))))[0]), WANTED)


def test_several_offsets_are_told(tmp_path):
    (tmp_path / "d.csv").write_text("t,y\n2020-01-01T12:00+01:00,a\n2020-01-02T09:00-05:00,b\n")
    assert any("t: " in note and "local time" in note for note in read_file(tmp_path / "d.csv").list_notes())
    (tmp_path / "d.csv").write_text("t,y\n2020-01-01T12:00Z,a\n2020-01-02T09:00Z,b\n")
    assert not read_file(tmp_path / "d.csv").list_notes()


def test_parquet_file(parquet):
    np.testing.assert_array_equal(read_column(read_frame(parquet).select("t")), WANTED)


def pairs_of(source):
    return co.Pairs(source, x=["t"], y="y")


@pytest.mark.parametrize("engine", ["files", "several files", "polars", "eager", "pandas", "arrow"])
def test_pairs(parquet, tmp_path, engine):
    frame = pl.read_parquet(parquet)
    frame[1:].write_parquet(tmp_path / "part2.parquet")
    frame[:1].write_parquet(tmp_path / "part1.parquet")
    source = {
        "files": str(parquet),
        "several files": str(tmp_path / "part*.parquet"),
        "polars": pl.scan_parquet(parquet),
        "eager": frame,
        "pandas": frame.to_pandas(),
        "arrow": frame.to_arrow(),
    }[engine]
    read = [read_column(nw.from_native(x, eager_only=True)) for x, _ in pairs_of(source)]
    np.testing.assert_array_equal(np.concatenate(read), WANTED)


def test_engines_that_keep_no_zone_give_universal_time(parquet):
    """DuckDB holds instants only, and shows them in the zone of the session, which says nothing about the data."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'Asia/Tokyo'")
    read = [read_column(x) for x, _ in pairs_of(connection.read_parquet(str(parquet)))]
    universal = np.array([t.astimezone(datetime.UTC).replace(tzinfo=None) for t in AWARE], dtype="M8[us]")
    np.testing.assert_array_equal(np.concatenate(read), universal)


@pytest.mark.parametrize("offset", ["+05:00", "-03:00"])
def test_an_offset_for_the_whole_column_of_a_parquet_file(tmp_path, offset):
    texts = [f"{time}{offset}" for time in LOCAL]
    frame = pd.DataFrame({"t": pd.to_datetime(texts), "y": list("aba")})
    frame.to_parquet(tmp_path / "d.parquet")
    for values in (frame[["t"]], read_frame(tmp_path / "d.parquet").select("t"), texts):
        np.testing.assert_array_equal(read_column(values), WANTED)
    np.testing.assert_array_equal(read_column(next(iter(pairs_of(str(tmp_path / "d.parquet"))))[0]), WANTED)


@pytest.mark.slow
def test_the_same_numbers_from_all(rng, tmp_path):
    """Whether y happens in the morning shows only in local time."""
    hours = pd.date_range("2021-02-01", periods=400, freq="7h", tz=ZONE)
    frame = pd.DataFrame({"t": hours, "y": np.where(hours.hour < 12, "am", "pm")})
    frame.to_parquet(tmp_path / "d.parquet")
    frame.to_csv(tmp_path / "d.csv", index=False)
    texts = frame.assign(t=frame["t"].map(str))
    found = [
        co.ACE(1).fit(source[["t"]], source["y"]).correlations_
        for source in (frame, pl.from_pandas(frame), texts, read_frame(tmp_path / "d.csv").to_native())
    ]
    found += [co.ACE(1).fit(pairs_of(str(tmp_path / f"d.{end}"))).correlations_ for end in ("csv", "parquet")]
    np.testing.assert_allclose(found, np.broadcast_to(found[0], (6, 1)), rtol=1e-6)


def test_an_offset_that_polars_does_not_know_is_said(tmp_path):
    frame = pd.DataFrame({"t": pd.to_datetime([f"{time}+05:30" for time in LOCAL]), "y": list("aba")})
    frame.to_parquet(tmp_path / "d.parquet")
    with pytest.raises(ValueError, match=r"d\.parquet .*zone"):
        read_frame(tmp_path / "d.parquet")
    np.testing.assert_array_equal(read_column(next(iter(pairs_of(str(tmp_path / "d.parquet"))))[0]), WANTED)


@pytest.mark.slow
@pytest.mark.xdist_group("engines")
def test_spark_gives_universal_time(spark):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        frame = spark.sql("SELECT timestamp'2021-01-06 04:30:00 UTC' AS t, 'a' AS y")
        ((x, _),) = list(pairs_of(frame))
        on_workers = pairs_of(frame).map(lambda x, y, number: str(columns_of(x, "X")["t"][0]))
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert str(read_column(x)[0]) == on_workers[0] == "2021-01-06T04:30:00.000000"


def test_dask_keeps_the_zone(parquet):
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(pd.read_parquet(parquet), npartitions=2)
    np.testing.assert_array_equal(np.concatenate([read_column(x) for x, _ in pairs_of(frame)]), WANTED)
