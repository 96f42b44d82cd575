"""Columns as arrays, before anything is decided about them."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import correspondence as co
from correspondence.data.column_kinds import decide_column_kind
from correspondence.data.column_reading import ID_NAME, columns_of, find_missing, find_missing_rows, to_numbers
from correspondence.data.column_summary import Survey

WHEN = datetime.datetime(2020, 1, 2, 3, 4)


def test_types_of_a_frame():
    frame = pl.DataFrame(
        {
            "whole": [1, 2],
            "gap": [1, None],
            "decimal": [0.5, None],
            "date": [WHEN, None],
            "day": [WHEN.date(), None],
            "clock": [WHEN.time(), None],
            "took": [datetime.timedelta(hours=1), None],
            "label": ["a", None],
            "list": [["a", "b"], None],
            "userId": [7, 8],
        }
    )
    columns = columns_of(frame, "X")
    kinds = {name: values.dtype.kind for name, values in columns.items()}
    assert kinds == dict(zip(frame.columns, "iffMMmmOOO", strict=True))
    assert {name for name, values in columns.items() if find_missing(values).any()} == set(frame.columns) - {
        "whole",
        "userId",
    }
    assert columns["list"][0] == ("a", "b")


def test_pandas_and_polars_agree():
    frame = pd.DataFrame(
        {"n": [1.5, np.nan], "s": ["a", None], "t": pd.to_datetime(["2020-01-01", None]), "z": [WHEN, WHEN]}
    )
    frame["z"] = frame["z"].dt.tz_localize("Europe/Berlin")
    ours, theirs = columns_of(frame, "X"), columns_of(pl.from_pandas(frame), "X")
    for name, values in ours.items():
        np.testing.assert_array_equal(values, theirs[name])
    assert ours["z"][0] == np.datetime64("2020-01-02T03:04")  # the local time


def test_objects_by_their_type():
    assert columns_of(np.array([1, None, 2.5], dtype=object), "X")[0].dtype == np.float64
    assert columns_of(np.array([WHEN, None], dtype=object), "X")[0].dtype.kind == "M"
    assert columns_of(np.array([{"b", "a"}, None], dtype=object), "X")[0].tolist() == [("a", "b"), None]


@pytest.mark.parametrize("name", ["id", "userId", "user_id", "MOVIE_ID", "movieID", "zip", "zip code", "ids"])
def test_names_of_ids(name):
    assert ID_NAME.search(name)


@pytest.mark.parametrize("name", ["paid", "valid", "Madrid", "grade", "idea", "humid", "code"])
def test_names_of_other_columns(name):
    assert not ID_NAME.search(name)


def test_rows_with_gaps():
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": ["x", "y", None]})
    assert find_missing_rows(frame, "X").tolist() == [False, True, True]
    assert not find_missing_rows(np.zeros((3, 1, 4, 4)), "X").any()


def test_numbers_of_dates_are_days():
    assert to_numbers(np.array(["1970-01-02T12:00"], dtype="M8[us]")).tolist() == [1.5]
    assert to_numbers(np.array([90], dtype="m8[s]")).tolist() == [90.0]
    with pytest.raises(ValueError, match="numbers"):
        to_numbers(np.array(["a"], dtype=object))


@pytest.mark.parametrize("zone", ["America/New_York", "Etc/GMT+5", "Europe/Berlin"])
def test_dates_in_any_zone(zone):
    frame = pd.DataFrame({"d": pd.to_datetime(["2020-01-01 12:00", "2020-06-01 12:00"]).tz_localize(zone)})
    assert columns_of(frame, "X")["d"].tolist() == [
        datetime.datetime(2020, 1, 1, 12),
        datetime.datetime(2020, 6, 1, 12),
    ]


def test_categories_stand_for_themselves():
    texts = pd.DataFrame({"share": ["10%", "20%"] * 30, "z": np.arange(60.0)})
    assert co.describe_columns(texts).facts[0].kind == "number"
    assert co.describe_columns(texts.astype({"share": "category"})).facts[0].kind == "label"


GRADES = np.tile([1, 2, 3, 4], 50)


def hold_gaps(make):
    """Make a column of few whole numbers as a library holds it, with gaps."""
    return make([None if i % 7 == 0 else int(v) for i, v in enumerate(GRADES)])


@pytest.mark.parametrize(
    "make",
    [
        lambda v: pd.Series(v, dtype=float),
        lambda v: pd.Series(v, dtype="Int64"),
        lambda v: pl.Series(v, dtype=pl.Int64),
        lambda v: pa.chunked_array([pa.array(v[:50], pa.int64()), pa.array(v[50:], pa.int64())]),
        lambda v: np.array(v, dtype=float),
        lambda v: np.array(v, dtype=object),
        list,
    ],
    ids=["pandas", "nullable", "polars", "pyarrow", "floats", "objects", "list"],
)
def test_few_whole_numbers_are_labels_with_gaps_as_without(make):
    assert co.describe_columns(hold_gaps(make)).facts[0].kind == "label"
    assert co.describe_columns(make(GRADES.tolist())).facts[0].kind == ("number" if is_float(make) else "label")
    est = co.CCA(1).fit(hold_gaps(make), np.tile(list("abcd"), 50))
    np.testing.assert_allclose(est.transform(hold_gaps(make))[1:7], est.transform(make(GRADES.tolist()))[1:7])


def is_float(make):
    return getattr(make([1, 2]), "dtype", None) == np.float64


@pytest.mark.parametrize(
    "column",
    [
        pl.Series(hold_gaps(list), dtype=pl.Float64),
        pd.Series(hold_gaps(list), dtype="Float64"),
        pd.Series(hold_gaps(list), dtype=float) + 0.5,
        pd.Series([None, *range(100)], dtype=float),
    ],
    ids=["polars", "nullable", "decimals", "many"],
)
def test_other_numbers_with_gaps_stay_numbers(column):
    assert co.describe_columns(column).facts[0].kind == "number"


def test_partitions_decide_about_whole_numbers_together():
    """One part has gaps, the other none."""
    frame = pl.DataFrame({"g": [None] * 5 + GRADES.tolist(), "z": np.arange(205.0), "y": [*"abcda", *"abcd" * 50]})
    parts = [columns_of(frame[rows], "X") for rows in (slice(0, 100), slice(100, 205))]
    merged = Survey.merge_parts([Survey.from_columns(part) for part in parts], "X").columns["g"]
    assert merged == Survey.from_columns(columns_of(frame, "X")).columns["g"]
    assert decide_column_kind("g", merged, 205, is_alone=False).kind == "label"
