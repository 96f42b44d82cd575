"""Results of tests of components."""

import numpy as np
import pytest

from correspondence.results.component_tests import LatentDimension, PermutationTest, PicIntervals


def make_test(kind="held-out pairs"):
    null = np.column_stack([np.linspace(0, 1, 101), np.linspace(0, 2, 101)])
    return PermutationTest(np.array([0.01, 0.4]), np.array([0.9, 0.1]), np.array([0.99, 0.1]), null, 101, kind)


def test_the_first_components_are_the_same_test():
    test = make_test()
    np.testing.assert_allclose(test.band, [0.95, 1.9])
    first = test.take_first(1)
    assert (first.pvalues.tolist(), first.null.shape, first.kind) == ([0.01], (101, 1), test.kind)
    np.testing.assert_array_equal(first.band, test.band[:1])


@pytest.mark.parametrize("kind", ["held-out pairs", "all pairs", "refitted"])
def test_evidence_is_held_out_only_if_pairs_were(kind):
    evidence = make_test(kind).evidence
    assert evidence.is_held_out == (kind == "held-out pairs")
    assert (evidence.band is not None) == evidence.is_held_out
    assert evidence.n_holding == 1
    assert ("refitted 101 times" in repr(make_test(kind))) == (kind == "refitted")


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
    assert result.write_summary() == sentence
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


def test_text_and_arrays_that_cannot_be_changed():
    result = PicIntervals(np.array([0.5]), np.array([[0.4, 0.6]]), np.array([0.55]), 0.9, 40)
    lines = repr(result).splitlines()
    assert lines[0] == "PICs with 90 % intervals from 40 half-samples"
    assert lines[-1].split() == ["1", "0.5500", "0.5000", "[0.4000,", "0.6000]"]
    with pytest.raises(ValueError, match="read-only"):
        result.pics[0] = 1
