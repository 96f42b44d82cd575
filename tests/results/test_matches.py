"""Items found for queries, as text and as a frame."""

import numpy as np

from correspondence.results.matches import Matches


def as_rows(*rows):
    array = np.empty(len(rows), dtype=object)
    array[:] = [np.array(row) for row in rows]
    return array


def test_queries_may_have_different_numbers_of_matches():
    labels, numbers = as_rows(["a", "b"], []), as_rows([0.25, 0.5], [])
    found = Matches(labels, as_rows([3, 1], []), numbers, numbers, lambda: numbers)
    frame = found.to_frame("pandas")
    assert frame.columns.tolist() == ["query", "rank", "label", "index", "distance", "ratio", "probability"]
    assert frame["rank"].tolist() == [1, 2]
    assert frame["query"].tolist() == [0, 0]
    assert repr(found).splitlines()[1:] == ["  0: a (0.25), b (0.5)", "  1: none"]
