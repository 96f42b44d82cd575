"""Ellipses of points from their covariance over resamples."""

import numpy as np
import pytest
from scipy.stats import f as f_distribution

from correspondence.results.bootstrap import Bootstrap


def test_ellipses_are_those_of_hotelling():
    covariance = np.array([np.diag([4.0, 1.0]), np.diag([1.0, 9.0]), np.full((2, 2), np.nan)])
    spread = Bootstrap(covariance, covariance[:1], 50, row_draws=np.array([50, 20, 2]))
    ellipses = spread.row_ellipses(level=0.9)
    quantiles = [2 * n / (n - 1) * f_distribution.ppf(0.9, 2, n - 1) for n in (50, 20)]
    np.testing.assert_allclose(ellipses.width, [4 * quantiles[0] ** 0.5, 6 * quantiles[1] ** 0.5, np.nan])
    np.testing.assert_allclose(ellipses.height, [2 * quantiles[0] ** 0.5, 2 * quantiles[1] ** 0.5, np.nan])
    np.testing.assert_allclose(np.abs(ellipses.angle[:2]) % 180, [0, 90], atol=1e-9)
    np.testing.assert_allclose(spread.column_ellipses(level=0.9).width, ellipses.width[:1])
    assert repr(spread) == "Bootstrap of 3 rows and 1 columns on 2 axes, 50 resamples"


@pytest.mark.parametrize("options", [{"axes": (1, 3)}, {"axes": (0, 1)}, {"level": 1}])
def test_bad_planes_and_levels(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must"):
        Bootstrap(np.eye(2)[None], np.eye(2)[None], 10).row_ellipses(**options)
