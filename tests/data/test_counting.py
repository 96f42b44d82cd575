import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import correspondence as co
from correspondence._util.labels import encode_labels
from correspondence.data.counting import count_columns, find_obstacle, take_apart

X = ["tea", "tea", "beer", "tea", "beer", "milk"]
Y = ["yes", "no", "yes", "yes", "yes", "no"]
W = [1.0, 2.0, 0.5, 1.0, 0.0, 3.0]
COLUMNS = {"x": X, "y": Y, "w": W, "other": range(6)}
FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "polars": pl.DataFrame({**COLUMNS, "other": list(range(6))}),
    "pyarrow": pa.table({**COLUMNS, "other": list(range(6))}),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frames_of_every_library(frame):
    table = co.count_pairs(frame, "x", "y")
    assert table.rows.tolist() == ["beer", "milk", "tea"]
    assert table.columns.tolist() == ["no", "yes"]
    assert table.toarray().tolist() == [[0, 2], [1, 0], [1, 2]]
    weighted = co.count_pairs(frame, "x", "y", weights="w")
    assert weighted.toarray().tolist() == [[0, 0.5], [3, 0], [2, 2]]
    assert weighted.total == 7.5


def test_arrays():
    array = np.array([X, Y]).T
    assert co.count_pairs(array, 0, 1).toarray().tolist() == [[0, 2], [1, 0], [1, 2]]
    assert co.count_pairs(array, 1, -2).toarray().tolist() == [[0, 1, 1], [2, 0, 2]]
    numbers = np.array([[1, 5, 2], [1, 6, 3], [2, 5, 4]])
    assert co.count_pairs(numbers, 0, 1, weights=2).toarray().tolist() == [[2, 3], [4, 0]]
    assert co.count_pairs(numbers, 0, 1).rows.tolist() == [1, 2]


def test_columns_named_by_numbers():
    frame = pd.DataFrame({1: X, 0: Y, "w": W})
    assert co.count_pairs(frame, 1, 0).toarray().tolist() == [[0, 2], [1, 0], [1, 2]]
    assert co.count_pairs(frame, 1, 0, weights="w").total == 7.5


def test_a_column_against_itself():
    assert co.count_pairs(FRAMES["polars"], "x", "x").toarray().tolist() == [[2, 0, 0], [0, 1, 0], [0, 0, 3]]


def test_categories_keep_their_order():
    sizes = pd.Categorical(["M", "S", "L", "S"], categories=["XS", "S", "M", "L"], ordered=True)
    frame = pd.DataFrame({"size": sizes, "y": [1, 2, 1, 1]})
    assert co.count_pairs(frame, "size", "y").rows.tolist() == ["S", "M", "L"]
    enum = pl.Series(["M", "S", "L", "S"], dtype=pl.Enum(["XS", "S", "M", "L"]))
    assert co.count_pairs(pl.DataFrame({"size": enum, "y": [1, 2, 1, 1]}), "size", "y").rows.tolist() == ["S", "M", "L"]
    assert co.CA().fit(enum, [1, 2, 1, 1]).rows_.labels.tolist() == ["S", "M", "L"]


def test_dates_and_times():
    days = [datetime.date(2020, 1, 2), datetime.date(2020, 1, 1)]
    for frame in (pl.DataFrame({"day": days, "y": [1, 2]}), pa.table({"day": days, "y": [1, 2]})):
        assert co.count_pairs(frame, "day", "y").rows.tolist() == days[::-1]
    stamps = np.array(["2020-01-02", "2020-01-01"], dtype="datetime64[ns]")
    assert co.CA().fit(stamps, ["u", "v"]).rows_.labels[0] == datetime.datetime(2020, 1, 1)
    assert co.count_pairs(pd.DataFrame({"day": stamps, "y": [1, 2]}), "day", "y").rows[0] == pd.Timestamp("2020-01-01")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: co.count_pairs(f, "z", "y"), "x must be the name of a column"),
        (lambda f: co.count_pairs(f, "x", "y", weights="z"), "weights must be the name of a column"),
        (lambda f: co.count_pairs(f, "x", "y", weights="y"), "weights must be an array of numbers"),
        (lambda f: co.count_pairs(f.with_columns(w=-pl.col("w")), "x", "y", "w"), "at least 0"),
        (lambda f: co.count_pairs(f.with_columns(w=0.0), "x", "y", "w"), "not all zero"),
        (lambda f: co.count_pairs(f.with_columns(x=pl.lit(None)), "x", "y"), "column 'x' has 6 missing label"),
        (lambda f: co.count_pairs(f.head(0), "x", "y"), "empty"),
        (lambda f: co.count_pairs(np.ones(3), 0, 1), "rows and columns"),
        (lambda f: co.count_pairs(np.ones((3, 2)), 0, 2), "must be columns from 0 to 1"),
        (lambda f: co.count_pairs(np.ones((3, 2)), "x", "y"), "must be columns from 0 to 1"),
        (lambda f: co.CA().fit(X, Y, sample_weight=[1]), "sample_weight must have 6 numbers"),
    ],
)
def test_bad_calls(call, message):
    with pytest.raises(ValueError, match=message):
        call(FRAMES["polars"])


def test_mixed_labels_are_not_turned_into_text():
    codes, labels = encode_labels([1, "1", 1.0, True], "x")
    assert len(labels) == 2
    assert codes[0] == codes[2] == codes[3] != codes[1]


def test_order_of_labels_that_cannot_be_compared_is_that_of_no_shuffle(rng):
    values = [1, "a", ("t", 2), 2.5, "b", b"c", None]
    values.remove(None)
    first = [str(label) for label in encode_labels(values, "x")[1]]
    for _ in range(5):
        assert [str(label) for label in encode_labels([values[i] for i in rng.permutation(6)], "x")[1]] == first


def test_table_repr_and_frame():
    table = co.count_pairs(FRAMES["pandas"], "x", "y")
    assert repr(table) == "Table of 3 rows x 2 columns, 4 nonzero cells, total 6"
    assert table.to_frame().columns.tolist() == ["label", "no", "yes"]
    assert co.CA().fit(table.to_frame("polars")).pics_ == pytest.approx(co.CA().fit(table).pics_)
    assert table.T.shape == (2, 3)


def test_table_checks_its_labels():
    assert co.Table([[1, 2], [3, 4]], ["a", "b"], ["c", "d"]).shape == (2, 2)
    with pytest.raises(ValueError, match="counts must have"):
        co.Table([1, 2], ["a", "b"], ["c"])
    with pytest.raises(ValueError, match="rows has 1 labels"):
        co.Table(np.ones((2, 2)), ["a"], ["b", "c"])
    with pytest.raises(ValueError, match="missing label"):
        co.Table(np.ones((2, 2)), ["a", None], ["b", "c"])


# --- from a table back to pairs


def test_a_table_is_taken_apart_into_the_pairs_that_it_counts(rng):
    x, y = rng.choice(["c", "a", "b"], size=50), rng.choice(["z", "x"], size=50)
    again = count_columns(*take_apart(count_columns(x, y)))
    np.testing.assert_array_equal(again.toarray(), count_columns(x, y).toarray())


def test_counts_that_are_whole_up_to_rounding_lose_no_pair():
    table = co.Table(np.array([[30 - 4e-15, 10.0], [5.0, 0.1 * 3 * 10]]), ["a", "b"], ["x", "y"])
    assert table.counts[0, 0] < 30
    assert find_obstacle(table) == ""
    assert len(take_apart(table)[0]) == 48


@pytest.mark.parametrize("as_counts", [np.asarray, sp.csr_array])
def test_neither_order_nor_kind_of_a_table_changes_its_pairs(as_counts):
    table = co.datasets.load_smoke()
    turned = co.Table(as_counts(table.toarray()[::-1, ::-1].copy()), table.rows[::-1], table.columns[::-1])
    one, other = (take_apart(t) for t in (table, turned))
    np.testing.assert_array_equal(one, other)


def test_of_a_very_large_table_some_pairs_are_drawn(monkeypatch):
    monkeypatch.setattr("correspondence.data.counting.MAX_COUNTS", 1000)
    table = co.Table(np.array([[60_000, 20_000], [5_000, 15_000]]), rows=["a", "b"], columns=["no", "yes"])
    x, y = take_apart(table)
    assert 900 < len(x) == len(y) < 1100
    assert np.mean((x == "0") & (y == "0")) == pytest.approx(0.6, abs=0.06)
