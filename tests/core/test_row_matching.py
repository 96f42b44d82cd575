"""Variables of the rows of a table find their rows by name, or by position where nothing has a name."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from correspondence.core.row_matching import read_row_variables

NAMES = np.array(["a", "b", "c", "d"], dtype=object)
NUMBERS = np.array([11, 12, 13, 14], dtype=object)
POSITIONS = np.arange(4).astype(object)
wet = pd.Series([1.0, 2.0, 3.0, 4.0], index=list("abcd"), name="wet")


def values_of(variables, rows=NAMES, **options):
    return [
        (name, np.asarray(column.to_list() if hasattr(column, "to_list") else column).tolist())
        for name, column in read_row_variables(variables, "constraints", rows, **options)
    ]


@pytest.mark.parametrize(
    "variables",
    [
        wet.sample(frac=1, random_state=1),
        wet.to_frame().sample(frac=1, random_state=1),
        {"wet": wet.sample(frac=1, random_state=1)},
        {"wet": [1.0, 2.0, 3.0, 4.0]},
        pl.DataFrame({"site": list("dcba"), "wet": [4.0, 3.0, 2.0, 1.0]}),
        pd.DataFrame({"site": list("dcba"), "wet": [4.0, 3.0, 2.0, 1.0]}),
        wet.reset_index(drop=True),
        wet.set_axis([7, 9, 11, 13]),  # numbers where the rows have names
    ],
)
def test_values_come_in_the_order_of_the_rows(variables):
    assert values_of(variables) == [("wet", [1.0, 2.0, 3.0, 4.0])]


def test_series_of_a_dictionary_are_joined_by_their_index():
    found = values_of({"wet": wet, "dry": -wet.sample(frac=1, random_state=2)})
    assert found == [("wet", [1.0, 2.0, 3.0, 4.0]), ("dry", [-1.0, -2.0, -3.0, -4.0])]
    with pytest.raises(ValueError, match=r"constraints .*rows"):
        read_row_variables({"wet": wet, "dry": np.arange(3)}, "constraints", NAMES)


@pytest.mark.parametrize("index", [list("wxyz"), [5, 6, 7, 8], list("abcd")])
def test_rows_that_are_only_numbered_go_by_position(index):
    assert values_of(wet.set_axis(index).to_frame(), POSITIONS)[0][1] == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("variables", "rows", "match"),
    [
        (wet.set_axis(list("abcx")), NAMES, "lacks d"),
        (wet[:3], NAMES, "lacks d"),
        (pd.concat([wet, wet[:1].set_axis(["e"])]), NAMES, "has also e"),
        (pd.concat([wet, wet[:1]]), NAMES, "more than once"),
        (wet.set_axis([11, 12, 13, 15]), NUMBERS, "lacks 14"),  # one row left out here, another there
        (wet.set_axis(["11", "12", "13", "14"]), NUMBERS, "str.*int"),
        (pl.DataFrame({"site": list("dcbx"), "wet": [4.0, 3.0, 2.0, 1.0]}), NAMES, "lacks a"),
        (np.arange(3), NAMES, "each of the 4 rows"),
        (np.zeros((4, 2, 2)), NAMES, "shape"),
        ("~ wet + dry", NAMES, "values of variables"),
    ],
)
def test_other_rows_are_refused(variables, rows, match):
    with pytest.raises(ValueError, match=f"constraints .*{match}"):
        read_row_variables(variables, "constraints", rows)


def test_a_column_of_texts_that_are_no_labels_is_a_variable():
    frame = pl.DataFrame({"use": ["a", "a", "b", "b"], "wet": [4.0, 3.0, 2.0, 1.0]})
    assert [name for name, _ in values_of(frame)] == ["use", "wet"]


def test_where_rows_have_no_positions_they_need_names():
    assert values_of(wet[::-1], have_positions=False) == values_of(wet)
    for variables in (np.arange(4), wet.reset_index(drop=True)):
        with pytest.raises(ValueError, match="which label of X"):
            read_row_variables(variables, "constraints", NAMES, have_positions=False)
