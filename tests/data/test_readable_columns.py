"""Columns as people read them."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from correspondence.data.column_kinds import ColumnKind
from correspondence.data.readable_columns import read_columns


def by_name(values, **kwargs):
    return {column.name: column for column in read_columns(values, "X", **kwargs)}


def table(n=60):
    rng = np.random.default_rng(0)
    days = [datetime.date(1970, 1, 1) + datetime.timedelta(days=int(day)) for day in rng.integers(1, 5000, n)]
    return {
        "number": [None, *rng.normal(size=n - 1)],
        "label": [None, *rng.choice(["a", "b"], n - 1)],
        "yes": rng.random(n) < 0.5,
        "day": days,
        "text": [f"many words w{i}" for i in range(n)],
        "tags": [["x", "y"], [], *[["y"]] * (n - 2)],
        "key": [f"k{i}" for i in range(n)],
        "one": ["same"] * n,
    }


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_kinds_of_a_frame(library):
    found = by_name(library(table()))
    kinds = {name: column.kind for name, column in found.items()}
    assert kinds == {
        **{"number": "number", "label": "label", "yes": "boolean", "day": "date", "text": "text", "tags": "list"},
        **{"key": "id", "one": "constant"},
    }
    assert [name for name, column in found.items() if not column.is_told] == ["key", "one"]
    assert all(column.is_named for column in found.values())


def test_missing_values_stay_missing_or_become_a_category():
    found = by_name(pd.DataFrame(table()))
    assert np.isnan(found["number"].numbers[0])
    assert np.isfinite(found["number"].numbers[1:]).all()
    assert found["label"].categories == ("(missing)", "a", "b")
    assert found["label"].has[[0]].toarray().tolist() == [[1, 0, 0]]
    assert (found["label"].has.sum(axis=1) == 1).all()


def test_words_and_items_are_categories():
    found = by_name(pd.DataFrame(table()))
    assert {"many", "words", "w3"} <= set(found["text"].categories)
    assert found["tags"].categories == ("x", "y")
    assert found["tags"].has.sum(axis=0).tolist() == [1, 59]


def test_dates_are_days():
    dates = pd.DataFrame({"a": pd.to_datetime(["1970-01-03 00:00", "1970-01-01 12:00", None]), "b": [1.5, 2.5, 3.5]})
    np.testing.assert_allclose(by_name(dates)["a"].numbers, [2, 0.5, np.nan])


def test_columns_of_arrays_have_no_names():
    columns = read_columns(np.random.default_rng(0).normal(size=(30, 2)), "X")
    assert [(column.name, column.is_named) for column in columns] == [("column 0", False), ("column 1", False)]
    (column,) = read_columns(np.random.default_rng(0).normal(size=30), "wine")
    assert (column.name, column.is_named) == ("wine", False)
    (column,) = read_columns(pd.Series([0.5, 1.5, 2.5], name="price"), "X")
    assert (column.name, column.is_named) == ("price", True)


@pytest.mark.parametrize("values", [np.zeros((9, 51)), np.zeros((9, 2, 2)), sp.csr_array(np.zeros((9, 51)))])
def test_pixels_and_embeddings_are_not_read(values):
    assert read_columns(values, "X") == []


def test_the_decision_of_a_fit_counts():
    codes = pd.DataFrame({"code": np.tile([1, 2, 3], 40), "x": np.arange(120.0)})
    assert by_name(codes)["code"].kind == "label"
    assert by_name(codes, kinds={"code": ColumnKind("number")})["code"].numbers.tolist()[:3] == [1, 2, 3]


def test_ids_with_gaps_are_written_without_a_point():
    codes = pd.DataFrame({"userId": [*np.tile([1.0, 2.0, 3.0], 40), np.nan], "x": np.arange(121.0)})
    assert by_name(codes)["userId"].categories == ("(missing)", "1", "2", "3")


def test_rows_can_be_taken():
    found = by_name(pd.DataFrame(table()))
    taken = found["label"].take_rows(np.array([0, 5]))
    assert taken.has.shape == (2, 3)
    assert found["number"].take_rows(np.array([3])).numbers.shape == (1,)
