"""Levels of ordered labels: how they are read, and what is wrong with them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import correspondence as co
from correspondence.data.label_order import check_levels, find_declared_levels, place_levels, sort_natural_levels


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ("low", "list of levels"),
        (5, "list of levels"),
        ([], "at least two levels, got 0"),
        (["low"], "at least two levels, got 1"),
        (["low", "high", "low"], "each level once.*low"),
        (["low", ["high"]], "labels as levels.*high"),
    ],
)
def test_bad_levels_are_explained(levels, message):
    with pytest.raises(ValueError, match=message):
        check_levels(levels, "income")
    x, y = ["low", "high", "low", "mid"], list("abab")
    with pytest.raises(ValueError, match=message):
        co.CA(ordered={"rows": levels}).fit(x, y)
    with pytest.raises(ValueError, match=message):
        co.MCA(ordered={"income": levels}).fit(pd.DataFrame({"income": x, "other": y}))


def test_levels_are_declared_by_ordered_categories():
    values, levels = ["b", "a", "b"], ["b", "c", "a"]
    ordered = pd.Series(pd.Categorical(values, levels, ordered=True))
    assert find_declared_levels(ordered) == levels
    assert find_declared_levels(pd.Index(ordered)) == levels
    assert find_declared_levels(pl.Series(values, dtype=pl.Enum(levels))) == levels
    assert find_declared_levels(pd.Series(pd.Categorical(values, levels))) is None
    assert find_declared_levels(pd.Series(pd.Categorical([2, 1], [2, 1], ordered=True))) == [2, 1]
    assert find_declared_levels(np.array(values)) is None


def test_places_of_levels():
    assert place_levels(["a", "(missing)", "b"], ["b", "a"], "x", is_given=True).tolist() == [2, 0]
    with pytest.raises(ValueError, match=r"all levels of x.*c"):
        place_levels(["a", "c"], ["b", "a"], "x", is_given=True)
    with pytest.warns(co.LeftOut, match="without a count"):
        place_levels(["a", "b"], ["b", "c", "a"], "x", is_given=True)


def test_texts_have_no_natural_order():
    assert sort_natural_levels([3.5, 1, "(missing)"], "x") == [1, 3.5]
    with pytest.raises(ValueError, match=r"levels of x.*no order"):
        sort_natural_levels(["b", "a"], "x")
