"""Rows above the names of the columns: recognised only where no doubt is left."""

import pytest

from correspondence.data.title_rows import count_title_rows, describe_title_rows

TABLE = [["year", "shop", "sales"], ["2020", "a", "3"], ["2021", "b", ""]]


@pytest.mark.parametrize(
    ("above", "n"),
    [
        ([], 0),
        ([["Sales"]], 1),
        ([["Sales", None, ""]], 1),
        ([[], ["Sales"], ["by shop"], []], 4),
        ([["# made by", "me"]], 1),
        ([["Sales", "2020"]], 0),  # two cells may be names
    ],
)
def test_titles(above, n):
    assert count_title_rows([*above, *TABLE]) == n
    assert len(describe_title_rows(n)) == (n > 0)


@pytest.mark.parametrize(
    "rows",
    [
        [["text"], ["hello", "world"], ["foo", "bar"]],  # one column of texts with a separator in them
        [["a"], ["1", "x"], ["2", "y"]],  # values cannot be names
        [["a"], ["b", "b"], ["1", "2"]],  # nor can two equal ones
        [["a"], ["1"], ["2"]],
        [["a"], ["x", "y"]],  # nothing below
        [["a"]],
        [],
    ],
)
def test_first_rows_that_may_be_names(rows):
    assert count_title_rows(rows) == 0


def test_a_blank_row_leaves_no_doubt():
    assert count_title_rows([["A survey"], [], ["tea", "time"], ["green", "am"], ["black", "pm"]]) == 2


def test_the_first_column_may_have_no_name():
    assert count_title_rows([["Counts"], ["", "a", "b"], ["x", "1", "2"], ["y", "3", "4"]]) == 1
