"""The table of PICs with their intervals."""

import numpy as np
import pytest

from correspondence.results.pic_intervals import PicIntervals


def test_text_and_arrays_that_cannot_be_changed():
    result = PicIntervals(np.array([0.5]), np.array([[0.4, 0.6]]), np.array([0.55]), 0.9, 40)
    lines = repr(result).splitlines()
    assert lines[0] == "PICs with 90 % intervals from 40 half-samples"
    assert lines[-1].split() == ["1", "0.5500", "0.5000", "[0.4000,", "0.6000]"]
    with pytest.raises(ValueError, match="read-only"):
        result.pics[0] = 1
