"""The number of components, in words and cut to fewer."""

import numpy as np
import pytest

from correspondence.results.latent_dimension import LatentDimension
from correspondence.results.permutation_test import PermutationTest


def make_dimension(found, tested=3, can_be_more=True):
    pvalues = np.where(np.arange(tested) < found, 0.001, 1.0)
    values, null = np.full(tested, 0.5), np.zeros((19, tested))
    test = PermutationTest(pvalues, values, values, null, 19, "all pairs")
    intervals = np.tile([0.4, 0.6], (tested, 1))
    return LatentDimension(
        found, (found, tested), pvalues, values, intervals, values, values, 0.05, 0.1, test, can_be_more
    )


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (0, "0 components: none is more than chance"),
        (1, "1 component (what a shared variable with 2 classes would give)"),
        (2, "2 components (what a shared variable with 3 classes would give)"),
        (3, "at least 3 components, as many as were tested"),
    ],
)
def test_the_answer_in_words(found, sentence):
    result = make_dimension(found)
    assert result.summary() == sentence
    assert result.n_classes == found + 1
    assert result.evidence.may_be_more == result.at_least == (found == 3)
    assert result.evidence.n_holding == found


def test_what_is_known_of_fewer_components():
    result = make_dimension(2)
    first, limited = result.take_first(1), result.limit(1)
    assert (first.n_components, first.interval, first.at_least) == (1, (1, 3), True)
    assert (limited.n_components, limited.interval, limited.at_least) == (1, (1, 1), False)
    assert result.take_first(5) is result.limit(0) is result
    assert len(first.test.pvalues) == 1
