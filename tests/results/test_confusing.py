"""Ambiguous inputs as text and as a frame."""

import numpy as np

from correspondence.results.confusing import Confusing


def make_confusing(n):
    beliefs = np.tile([0.6, 0.4], (n, 1))
    pairs = np.tile(np.array(["no", "yes"], dtype=object), (n, 1))
    return Confusing(np.arange(n), pairs, np.full(n, 0.2), np.zeros((n, 1)), beliefs, pairs[0])


def test_text_is_cut_after_twenty():
    lines = repr(make_confusing(25)).splitlines()
    assert lines[1].split() == ["0", "no", "0.600", "|", "yes,", "margin", "0.2"]
    assert (len(lines), lines[-1].strip()) == (22, "...")


def test_columns_of_the_frame():
    frame = make_confusing(3).to_frame("pandas")
    assert frame.columns.tolist() == ["index", "first", "second", "margin", "f1"]
    assert len(frame) == len(make_confusing(3)) == 3
