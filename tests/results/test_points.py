"""Points, their bootstrap and frames of results."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import f as f_distribution

from correspondence.results.points import Bootstrap, FrameResult, Points, number_columns


def make_points():
    standard, correlations = np.array([[1.0, 1.0], [-1.0, 0.0]]), np.array([0.5, 0.2])
    distance = np.array([np.sqrt(0.29), 0.0])
    return Points(
        np.array(["a", "b"], dtype=object), np.array([0.5, 0.5]), distance, 0.5 * distance**2, standard, correlations
    )


def test_coordinates_contributions_and_quality():
    points = make_points()
    np.testing.assert_allclose(points.principal, [[0.5, 0.2], [-0.5, 0]])
    np.testing.assert_allclose(points.contributions, [[0.5, 0.5], [0.5, 0]])
    np.testing.assert_allclose(points.cos2, [[0.25 / 0.29, 0.04 / 0.29], [0, 0]])
    assert repr(points) == "Points: 2 labels, 2 components (a, b)"


def test_a_frame_has_all_of_them():
    frame = make_points().to_frame("pandas")
    assert frame.columns.tolist()[:6] == ["label", "mass", "chi2_distance", "inertia", "principal_1", "principal_2"]
    assert frame.shape == (2, 12)


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


@dataclass
class Squares(FrameResult):
    n: int

    def _collect_columns(self):
        return {"label": np.array(list("abc")[: self.n], dtype=object)} | number_columns("x", np.eye(self.n))


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", None])
def test_columns_are_named_and_in_order(backend):
    frame = Squares(3).to_frame(backend)
    names = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert names == ["label", "x1", "x2", "x3"]
    assert len(frame) == 3
    with pytest.raises(ValueError, match="backend must"):
        Squares(3).to_frame("excel")
