"""Results of comparisons."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from correspondence.results.comparison import ClassifierComparison, Comparison, MethodResult, pick_simplest
from correspondence.results.evidence import CrossFit


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


def test_one_pair_far_out_does_not_excuse_a_method():
    """It costs the simple method everything, and makes its standard error just as large."""
    better = make_cross_fit(0.5)
    terms = better.terms.copy()
    terms[7] = -1e5
    exploded = replace(better, terms=terms, captured=float(terms.mean()))
    assert pick_simplest({"simple": exploded, "flexible": better}) == "flexible"
    less = replace(better, terms=better.terms - 0.501, captured=better.captured - 0.501)
    nothing = replace(better, terms=better.terms[::-1] - 0.5, captured=better.captured - 0.5)
    assert pick_simplest({"simple": less, "flexible": nothing}) == "simple"


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


@pytest.fixture
def comparison():
    beliefs = np.array([[[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]], [[0.8, 0.2], [0.1, 0.9], [0.3, 0.7]]])
    model = SimpleNamespace(correlations_=np.array([0.5]), locate=lambda P: P[:, :1])
    names, classes = ["one", "two"], np.array(["no", "yes"], dtype=object)
    scores = {"one": {"log_loss": 0.5}}
    models = dict.fromkeys(names, model)
    return ClassifierComparison(names, classes, beliefs, models, model, np.array([0.1, 0.5, 0.1]), scores)


def test_predictions_and_how_often_they_agree(comparison):
    assert comparison.predictions.tolist() == [["no", "no", "yes"], ["no", "yes", "yes"]]
    np.testing.assert_allclose(comparison.agreement, [[1, 2 / 3], [2 / 3, 1]])
    assert comparison.table().counts.tolist() == [[1, 1], [0, 1]]
    assert comparison.table("two").counts.tolist() == [[1, 0], [1, 1]]


def test_the_inputs_with_the_largest_disagreement(comparison):
    assert comparison.most_index(2).tolist() == [1, 0]
    assert comparison.most(1, "pandas").to_dict("records") == [
        {"index": 1, "disagreement": 0.5, "one": "no", "two": "yes"}
    ]


def test_names_and_text(comparison):
    np.testing.assert_allclose(comparison.positions("two"), [[0.8], [0.1], [0.3]])
    with pytest.raises(ValueError, match="name must"):
        comparison.positions("three")
    assert repr(comparison).splitlines()[1] == "  one: correlations 0.500, log loss 0.5000"
