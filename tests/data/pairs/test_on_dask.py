"""Functions applied to partitions by Dask."""

import pandas as pd
import pytest

from correspondence.data.pairs.on_dask import map_dask

dask_frames = pytest.importorskip("dask.dataframe")


@pytest.mark.slow
@pytest.mark.xdist_group("engines")
def test_partitions_are_numbered_and_empty_ones_left_out():
    frame = dask_frames.from_pandas(pd.DataFrame({"a": range(9)}), npartitions=3)
    frame = frame[frame["a"] > 2]  # the first partition is empty
    assert map_dask(frame, lambda table, number: (number, table["a"].to_pylist()), "parts") == [
        (1, [3, 4, 5]),
        (2, [6, 7, 8]),
    ]
