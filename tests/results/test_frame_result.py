"""Results as data frames of any library."""

from dataclasses import dataclass

import numpy as np
import pytest

from correspondence.results.frame_result import FrameResult, number_columns


@dataclass
class Squares(FrameResult):
    n: int

    def _collect_columns(self):
        return {"label": np.array(list("abc")[: self.n], dtype=object)} | number_columns("x", np.eye(self.n))


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", None])
def test_columns_are_named_and_in_order(backend):
    frame = Squares(3).to_frame(backend)
    names = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert names == ["label", "x1", "x2", "x3"]
    assert len(frame) == 3
    with pytest.raises(ValueError, match="backend must"):
        Squares(3).to_frame("excel")
