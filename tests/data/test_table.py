"""The table of counts."""

import numpy as np
import polars as pl
import pytest

import correspondence as co
from correspondence.data.table import as_table


def test_table_repr_and_frame():
    table = co.Table([[2, 1], [0, 2], [1, 0]], ["a", "b", "c"], ["no", "yes"])
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


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_numbers_of_rows_in_a_first_column_are_warned_of(name):
    frame = pl.DataFrame({name: [1, 2, 3], "a": [4, 0, 1], "b": [1, 5, 2]})
    with pytest.warns(co.CorrespondenceWarning, match="seems to name the rows"):
        assert as_table(frame).shape == (3, 3)
    assert as_table(frame.rename({name: "first"})).shape == (3, 3)
    assert as_table(frame.with_columns(pl.Series(name, [1, 1, 3]))).shape == (3, 3)
