"""Arguments of any kind: checks, arrays, rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from correspondence._util.arguments import (
    check_flag,
    check_index,
    check_total,
    check_weights,
    check_whole,
    count_observations,
    is_number,
    take_rows,
    to_array,
    to_floats,
)


@pytest.mark.parametrize("value", [True, 1.0, "2", None, 0, 6])
def test_whole_numbers_have_bounds(value):
    with pytest.raises(ValueError, match=r"k must .* 1 to 5"):
        check_whole(value, "k", 1, 5)


def test_whole_numbers_of_numpy_are_python_s():
    assert type(check_whole(np.int64(3), "k", 1)) is int


def test_flags_are_not_words():
    assert check_flag(np.True_, "flag") is True
    with pytest.raises((TypeError, ValueError), match="flag must"):
        check_flag("no", "flag")


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, True), (np.float32(2), True), (True, False), (np.nan, False), (10**400, False), ("1", False)],
)
def test_numbers_are_finite(value, expected):
    assert is_number(value) is expected


@pytest.mark.parametrize("weights", [[1, -1], [0, 0], [1, np.inf], [1], ["a", "b"]])
def test_weights_are_finite_and_not_all_zero(weights):
    with pytest.raises(ValueError, match="w must"):
        check_weights(weights, 2, "w")


def test_totals_have_a_reciprocal():
    check_total(1e200, "w")
    with pytest.raises(ValueError, match="w has a total"):
        check_total(1e300, "w")


@pytest.mark.parametrize("values", [["a"], [b"a"], np.array(["2020-01-01"], "M8[D]"), np.ma.array([1.0], mask=[True])])
def test_texts_dates_and_masks_are_not_numbers(values):
    with pytest.raises(ValueError, match="X"):
        to_floats(values, "X")


def test_rows_of_numbers_and_texts_keep_their_types():
    assert to_array([[1, "a"]], "X").tolist() == [[1, "a"]]


@pytest.mark.parametrize(
    "values",
    [
        np.arange(6).reshape(3, 2),
        pd.DataFrame({"a": [0, 2, 4], "b": [1, 3, 5]}, index=[7, 7, 9]),
        pl.DataFrame({"a": [0, 2, 4], "b": [1, 3, 5]}),
        sp.csr_array(np.arange(6).reshape(3, 2)),
    ],
)
def test_rows_are_counted_and_taken_by_position(values):
    assert count_observations(values, "X") == 3
    some = take_rows(values, np.array([2, 0]))
    array = some.toarray() if sp.issparse(some) else np.asarray(some)
    assert array.tolist() == [[4, 5], [0, 1]]


def test_rows_of_lists_are_taken_too():
    assert list(take_rows(["a", "b", "c"], np.array([2, 0]))) == ["c", "a"]


def test_indices_of_pandas_must_agree():
    check_index(pd.Series([1, 2]), pd.Series([3, 4]))
    with pytest.raises(ValueError, match="X and Y"):
        check_index(pd.Series([1, 2], index=[0, 1]), pd.Series([3, 4], index=[1, 0]))
