"""Results of searches."""

import numpy as np

from correspondence.results.matches import Confusing, Matches


def as_rows(*rows):
    array = np.empty(len(rows), dtype=object)
    array[:] = [np.array(row) for row in rows]
    return array


def test_queries_may_have_different_numbers_of_matches():
    labels, numbers = as_rows(["a", "b"], []), as_rows([0.25, 0.5], [])
    found = Matches(labels, as_rows([3, 1], []), numbers, numbers, lambda: numbers)
    frame = found.to_frame("pandas")
    assert frame.columns.tolist() == ["query", "rank", "label", "index", "distance", "ratio", "score"]
    assert frame["rank"].tolist() == [1, 2]
    assert frame["query"].tolist() == [0, 0]
    assert repr(found).splitlines()[1:] == ["  0: a (0.25), b (0.5)", "  1: none"]


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
