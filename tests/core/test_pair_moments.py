"""Moments of pairs wherever they are: those of the numbers, or of any features."""

import numpy as np
import polars as pl
import pytest

import correspondence as co
from correspondence.core.pair_moments import check_is_pairs, moments, read_numbers

FRAME = pl.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "y": [0.0, 1.0, 4.0, 9.0], "label": list("abab")})


def test_moments_are_those_in_memory():
    found = moments(co.Pairs(FRAME.lazy(), x=["x", "y"], y="y"), y_features=lambda y: np.asarray(y)[:, None] ** 2)
    own = co.Moments().update(FRAME.select("x", "y").to_numpy(), FRAME.select("y").to_numpy() ** 2)
    assert found.n == 4
    np.testing.assert_allclose(found.cov_fg, own.cov_fg)
    np.testing.assert_allclose(found.mean_f, own.mean_f)


def test_columns_without_numbers_need_features():
    with pytest.raises(ValueError, match="x_features"):
        moments(co.Pairs(FRAME.lazy(), x="label", y="y"))
    with pytest.raises(ValueError, match="'label' of X"):
        read_numbers("X", FRAME.select("x", "label"))
    with pytest.raises(TypeError, match="pairs must"):
        check_is_pairs(FRAME)
