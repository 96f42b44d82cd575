"""Where classifiers agree and disagree."""

from types import SimpleNamespace

import numpy as np
import pytest

from correspondence.results.classifier_comparison import ClassifierComparison


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
