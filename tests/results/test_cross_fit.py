"""What a cross-fit says of its components."""

import numpy as np
import pytest

from correspondence.results.cross_fit import CrossFit


def make_cross_fit(**options):
    F = np.array([[0.1, 0.2], [0.3, np.nan], [0.5, 0.6]])
    intervals = np.array([[0.2, 0.6], [-0.1, 0.3]])
    numbers = np.array([0.4, 0.1])
    return CrossFit(numbers, intervals, 0.2, np.array([0.1, 0.3]), numbers, F, F, [], 1.0, np.ones(3), **options)


def test_pairs_held_out_and_components_that_hold():
    result = make_cross_fit()
    assert result.n_held_out == 2
    assert result.evidence.n_holding == 1
    assert repr(result).splitlines()[-1].split() == ["2", "0.1000", "0.1000", "[-0.1000,", "0.3000]"]


def test_the_first_components_alone():
    terms = np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]])
    assert make_cross_fit(nested_terms=terms).captured_first(1)[0] == 2
    with pytest.raises(ValueError, match="nested_terms must"):
        make_cross_fit().captured_first(1)
    with pytest.raises(ValueError, match="n_components"):
        make_cross_fit(nested_terms=terms).captured_first(3)
