"""Clouds without clusters, which those of the data are compared with."""

import numpy as np

from correspondence.describe.clusters.references import OneModeCloud


def test_no_point_is_repeated_by_chance():
    rng = np.random.default_rng(0)
    points = rng.standard_t(2, size=(200, 1))  # an outlier that is drawn several times is a cluster
    cloud = OneModeCloud.from_points(points, np.ones(200))
    drawn = cloud.draw_points(200, rng)
    np.testing.assert_allclose([drawn.mean(), drawn.std()], [points.mean(), points.std()], rtol=1e-9)
    assert np.abs(np.sort(drawn[:, 0]) - np.sort(points[:, 0])).max() < 5 * points.std() * cloud.bandwidths[0]


def test_weighted_points_are_drawn_as_often_as_they_weigh():
    points = np.array([[0.0], [1.0], [10.0]])
    cloud = OneModeCloud.from_points(np.repeat(points, 40, axis=0), np.repeat([3.0, 2.0, 1.0], 40))
    rows = np.sort(cloud.scores[:, 0])
    assert len(np.unique(rows.round(6))) == 3
    drawn = cloud.draw_points(600, np.random.default_rng(0))
    own = np.repeat(points[:, 0], [300, 200, 100])
    np.testing.assert_allclose([drawn.mean(), drawn.std()], [own.mean(), own.std()], rtol=1e-6)
