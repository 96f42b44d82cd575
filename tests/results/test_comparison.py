"""The simplest method that is not clearly behind, and the table of all."""

import numpy as np

from correspondence.results.comparison import Comparison, MethodResult, pick_simplest
from correspondence.results.cross_fit import CrossFit


def make_cross_fit(captured, d=1, seed=0):
    terms = captured + 0.1 * np.random.default_rng(seed).normal(size=200)
    values, F = np.full(d, 0.5), np.zeros((200, d))
    nested = np.array([terms * (i + 1) / d for i in range(d)])
    ends = np.array([terms.mean() - 0.1, terms.mean() + 0.1])
    intervals = np.tile([0.4, 0.6], (d, 1))
    return CrossFit(values, intervals, float(terms.mean()), ends, values, F, F, [], 1.5, terms, nested)


def test_a_flexible_method_must_be_ahead_by_more_than_its_error():
    simple, equal, better = make_cross_fit(0.3), make_cross_fit(0.3, seed=1), make_cross_fit(0.5, seed=2)
    assert pick_simplest({"simple": simple, "flexible": better}) == "flexible"
    assert pick_simplest({"simple": equal if equal.captured < simple.captured else simple, "same": simple}) == "simple"


def test_a_table_has_gaps_where_there_are_fewer_components():
    comparison = Comparison({"one": make_cross_fit(0.3), "two": make_cross_fit(0.2, d=2)}, {})
    frame = comparison.to_frame("pandas")
    assert frame["method"].tolist() == ["one", "two"]
    assert np.isnan(frame["held_out_2"]).tolist() == [True, False]
    assert comparison.to_csv().splitlines()[0] == ",".join(frame.columns)
    assert repr(comparison).splitlines()[1].startswith("* one")


def test_a_result_has_the_components_that_capture_most():
    result = MethodResult.from_cross_fit("ace", make_cross_fit(0.4, d=3), None)
    assert (result.n_components, result.captured) == (3, result.crossfit.captured)
    assert MethodResult.from_cross_fit("ace", make_cross_fit(0.4, d=3), 1).n_components == 1
    assert result.format_captured() == f"{result.captured:.3g}"
