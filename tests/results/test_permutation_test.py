"""Tests of components: bands, the first of them, and their text."""

import numpy as np
import pytest

from correspondence.results.permutation_test import PermutationTest


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
