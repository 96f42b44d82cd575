import numpy as np
import pandas as pd
import polars as pl
import pytest

from correspondence.data.encoders.choosing import encoder_for
from correspondence.data.rare_labels import describe_merged, find_rare_labels, list_rare, merge_labels, merge_table
from correspondence.data.table import Table

COLUMN = ["tea"] * 9 + ["milk"] * 5 + ["beer", "wine", "wine", "rum"]


def find_in(values, min_count):
    return find_rare_labels(encoder_for(values, "X"), values, len(COLUMN), min_count)


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, lambda c: np.array(c, dtype=object)[:, None]])
def test_a_column(make):
    values = make(COLUMN)
    merged = merge_labels(values, find_in(values, 3), "X")
    assert merged.tolist() == COLUMN[:14] + ["other (3 labels)"] * 4


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_frame(make):
    frame = make({"drink": COLUMN, "price": np.arange(18.0), "cup": ["a", "b", "c"] * 6})
    if make is pd.DataFrame:
        frame.index = range(100, 118)
    merged = merge_labels(frame, find_in(frame, 2), "X")
    assert list(merged["drink"]) == [*COLUMN[:14], "other (2 labels)", "wine", "wine", "other (2 labels)"]
    assert list(merged["cup"]) == ["a", "b", "c"] * 6
    assert list(merged["price"]) == list(range(18))
    assert list(frame["drink"]) == COLUMN  # what the user gave is not changed


def test_an_array_of_several_columns():
    values = np.column_stack([np.array(COLUMN, dtype=object), np.array(["a", "b"] * 9, dtype=object)])
    merged = merge_labels(values, find_in(values, 2), "X")
    assert merged[14].tolist() == ["other (2 labels)", "a"]


def test_nothing_rare():
    values = ["a", "b"] * 9
    assert find_in(values, 5) == {}
    assert merge_labels(values, {}, "X") is values
    assert find_rare_labels(encoder_for(np.arange(18.0), "X"), np.arange(18.0), 18, 5) == {}


def test_a_table_keeps_its_total():
    table = Table([[9, 0, 1], [1, 0, 0], [0, 2, 0], [0, 0, 0]], rows=["a", "b", "c", "d"], columns=[1, 2, 3])
    merged = merge_table(table, list_rare({"a": 10, "b": 1, "c": 2, "d": 0}, 3), None)
    assert merged.rows.tolist() == ["a", "d", "other (2 labels)"]
    assert merged.toarray().tolist() == [[9, 0, 1], [0, 0, 0], [1, 2, 0]]


def test_sentences():
    rare = find_in(COLUMN, 3)
    assert (
        describe_merged(rare, 3, "x")
        == "3 labels of x that occur fewer than 3 times (4 rows) are merged into one level"
    )
    both = {"drink": rare[0], "cup": list_rare({"a": 1, "b": 9}, 3)}
    assert "columns drink, cup" in describe_merged(both, 3, "y")
