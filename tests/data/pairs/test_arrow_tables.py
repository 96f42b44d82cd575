"""Tables of pyarrow, from any engine."""

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from correspondence.data.pairs import arrow_tables
from correspondence.data.pairs.arrow_tables import cut_batches, read_tables, select_side, to_arrow

TABLE = pa.table({"a": range(10), "b": list("pqrstuvwxy")})


@pytest.mark.parametrize("sizes", [(10,), (1, 9), (4, 0, 6), (3, 3, 3, 1)])
def test_batches_are_full_but_the_last(sizes, monkeypatch):
    monkeypatch.setattr(arrow_tables, "ROWS_PER_BATCH", 4)
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    batches = list(cut_batches(TABLE.slice(start, size) for start, size in zip(starts, sizes, strict=True)))
    assert [batch.num_rows for batch in batches] == [4, 4, 2]
    assert pa.concat_tables(batches).equals(TABLE)


@pytest.mark.parametrize("native", [pl.from_arrow(TABLE).lazy(), pl.from_arrow(TABLE), TABLE])
def test_frames_are_read_in_batches(native, monkeypatch):
    monkeypatch.setattr(arrow_tables, "ROWS_PER_BATCH", 4)
    tables = list(read_tables(nw.from_native(native).lazy()))
    assert [table.num_rows for table in tables] == [4, 4, 2]
    assert pa.concat_tables(tables)["a"].to_pylist() == list(range(10))


def test_columns_of_several_kinds_are_refused():
    assert to_arrow(pd.DataFrame({"a": [1, 2]}))["a"].to_pylist() == [1, 2]
    with pytest.raises(ValueError, match="several kinds"):
        to_arrow(pd.DataFrame({"a": [1, "x"]}))


def test_one_name_is_a_column_and_several_are_a_table():
    assert select_side(TABLE, "a").to_pylist() == list(range(10))
    assert select_side(TABLE, ["b"]).column_names == ["b"]
