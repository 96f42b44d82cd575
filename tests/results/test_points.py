"""Coordinates and shares of points."""

import numpy as np

from correspondence.results.points import Points


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
