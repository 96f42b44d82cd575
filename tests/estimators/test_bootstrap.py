import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

import correspondence as co
from correspondence.estimators.ca.bootstrap import PointSpread, reflect_points, rotate_points


@pytest.fixture(scope="module")
def ca():
    return co.CA().fit(co.datasets.load_housetasks())


def test_same_seed_same_result(ca):
    a, b, c = (ca.bootstrap(20, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(a.row_covariance, b.row_covariance)
    assert not np.array_equal(a.row_covariance, c.row_covariance)
    assert a.row_covariance.shape == (13, 2, 2)
    assert repr(a) == "Bootstrap of 13 rows and 4 columns on 2 axes, 20 resamples"


def test_dense_and_sparse_agree(ca):
    table = co.datasets.load_housetasks()
    other = co.CA().fit(co.Table(sp.csr_array(table.counts), table.rows, table.columns))
    a, b = ca.bootstrap(20, random_state=0), other.bootstrap(20, random_state=0)
    np.testing.assert_allclose(a.row_covariance, b.row_covariance, atol=1e-9)


@pytest.mark.slow
def test_spread_is_that_of_new_samples(rng):
    """Twice the information halves the variance, and the ellipses hold about as many true points as they say."""
    P = rng.dirichlet(np.full(20, 4.0)).reshape(5, 4)
    truth = co.CA(2).fit(P)
    inside = []
    for _ in range(30):
        sample = co.CA(2).fit(rng.multinomial(5000, P.ravel()).reshape(5, 4))
        spread = sample.bootstrap(60, align="rotation", random_state=rng)
        target = np.vstack([truth.rows_.principal, truth.columns_.principal])
        points = np.vstack([sample.rows_.principal, sample.columns_.principal])
        mass = np.r_[truth.rows_.mass, truth.columns_.mass]
        U, _, Vt = np.linalg.svd((target * mass[:, None]).T @ points)
        difference = points - target @ (U @ Vt)
        covariance = np.concatenate([spread.row_covariance, spread.column_covariance])
        inside.append(np.einsum("ki,kij,kj->k", difference, np.linalg.inv(covariance), difference) < 5.99)
    assert 0.85 < np.mean(inside) <= 1
    few = truth.bootstrap(100, n=1000, random_state=0).row_covariance
    many = truth.bootstrap(100, n=4000, random_state=0).row_covariance
    ratio = np.trace(few, axis1=1, axis2=2) / np.trace(many, axis1=1, axis2=2)
    assert 3 < np.median(ratio) < 5.5


def test_ellipses_have_the_axes_of_the_covariance(ca):
    spread = ca.bootstrap(50, random_state=0)
    ellipses = spread.row_ellipses(level=0.95)
    covariance = spread.row_covariance[0]
    long, short, angle = ellipses.width[0] / 2, ellipses.height[0] / 2, np.radians(ellipses.angle[0])
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    hotelling = 2 * 50 / 49 * stats.f.ppf(0.95, 2, 49)
    np.testing.assert_allclose(turn @ np.diag([long**2, short**2]) @ turn.T / hotelling, covariance, rtol=1e-6)
    assert (ellipses.width >= ellipses.height).all()
    turned = spread.row_ellipses(axes=(2, 1))
    np.testing.assert_allclose(turned.width, ellipses.width)


def test_labels_that_are_hardly_ever_drawn_have_no_ellipse():
    counts = np.array([[500, 400, 1], [300, 700, 0], [1, 0, 0]])
    spread = co.CA().fit(counts).bootstrap(30, n=20, random_state=0)
    assert np.isnan(spread.row_ellipses().width).tolist() == [False, False, True]


def test_rotation_is_found_from_the_heavy_points(rng):
    cloud, mass = rng.normal(size=(50, 2)), rng.random(50)
    turn = np.array([[0.6, -0.8], [-0.8, -0.6]])
    np.testing.assert_allclose(rotate_points(cloud @ turn, cloud, mass), cloud, atol=1e-12)
    moved = cloud @ turn
    moved[0] += 100  # a point without mass has no say
    np.testing.assert_allclose(
        rotate_points(moved, cloud, np.where(np.arange(50) == 0, 0, mass))[1:], cloud[1:], atol=1e-12
    )
    assert np.linalg.norm(rotate_points(2 * moved, cloud, mass), axis=1) == pytest.approx(
        np.linalg.norm(2 * moved, axis=1)
    )


def test_spread_is_about_the_points_drawn(rng):
    points, target = rng.normal(size=(30, 4, 2)) + 1000, np.full((4, 2), 999.0)
    points[5, 2] = np.nan
    spread = PointSpread(target)
    for values in points:
        spread.add_points(values)
    for j in range(4):
        seen = points[np.isfinite(points[:, j]).all(axis=1), j]
        bias = seen.mean(axis=0) - 999
        expected = np.cov(seen.T, bias=True) + np.outer(bias, bias)
        np.testing.assert_allclose(spread.compute_covariance()[j], expected, rtol=1e-8)
    assert spread.count.tolist() == [30, 30, 29, 30]


def test_signs_are_those_of_the_heavy_points(rng):
    cloud, mass = rng.normal(size=(50, 3)), rng.random(50)
    np.testing.assert_array_equal(reflect_points(cloud * [-1, 1, -1], cloud, mass), cloud)
    exchanged = reflect_points(
        cloud[:, [1, 0, 2]], cloud, mass
    )  # axes are not exchanged: they are drawn by their inertia
    np.testing.assert_array_equal(np.abs(exchanged), np.abs(cloud[:, [1, 0, 2]]))


def covered(ca, spread, target):
    """Whether each population point lies in the ellipse of its estimate, the signs of the axes put right."""
    inside = []
    for points, other, ellipses in (
        (ca.rows_, target.rows_, spread.row_ellipses()),
        (ca.columns_, target.columns_, spread.column_ellipses()),
    ):
        along = np.sign((other.mass[:, None] * points.principal[:, :2] * other.principal[:, :2]).sum(axis=0))
        x, y = (other.principal[:, :2] * along - points.principal[:, :2]).T
        cos, sin = np.cos(np.radians(ellipses.angle)), np.sin(np.radians(ellipses.angle))
        long, short = (cos * x + sin * y) / ellipses.width, (cos * y - sin * x) / ellipses.height
        inside.append(4 * (long**2 + short**2) <= 1)
    return np.concatenate(inside)


@pytest.mark.slow
def test_ellipses_hold_on_the_axes_as_drawn():
    """Two axes of nearly the same inertia: new data turn them, which rotated resamples do not show."""
    table = co.datasets.load_housetasks()
    P = table.counts / table.total
    truth, hits = co.CA().fit(P), {"signs": [], "rotation": []}
    for seed in range(15):
        rng = np.random.default_rng([seed, 1744])
        sample = co.CA().fit(rng.multinomial(1744, P.ravel()).reshape(P.shape))
        for align, inside in hits.items():
            inside.append(covered(sample, sample.bootstrap(40, align=align, random_state=seed), truth))
    assert np.mean(hits["signs"]) > 0.85
    assert np.mean(hits["rotation"]) < 0.75


def test_weights_do_not_make_more_observations():
    table = co.datasets.load_housetasks()
    plain = co.CA().fit(table).bootstrap(20, random_state=0).row_covariance
    tenfold = co.CA().fit(table, row_weights=np.full(13, 10.0)).bootstrap(20, random_state=0).row_covariance
    np.testing.assert_allclose(tenfold, plain, rtol=1e-6)
    half = co.CA().fit(table, column_weights=[0.5, 1, 1, 1]).bootstrap(20, random_state=0)
    assert np.isfinite(half.row_covariance).all()


def test_subsets_are_kept(ca):
    table = co.datasets.load_housetasks()
    part = co.CA(subset_rows=["Laundry", "Repairs", "Driving"]).fit(table)
    assert part.bootstrap(10, random_state=0).row_covariance.shape == (3, 2, 2)


def test_progress_bar(ca, capsys):
    ca.bootstrap(3, random_state=0, progress=True)
    assert "bootstrap" in capsys.readouterr().err
    ca.bootstrap(3, random_state=0)
    assert capsys.readouterr().err == ""


def test_bad_calls(ca):
    with pytest.raises(ValueError, match="n_resamples must"):
        ca.bootstrap(1)
    with pytest.raises(ValueError, match=r"axes .*n_components"):
        ca.bootstrap(3, random_state=0).row_ellipses(axes=(1, 3))
    with pytest.raises(ValueError, match="level must"):
        ca.bootstrap(3, random_state=0).row_ellipses(level=95)
    with pytest.raises(ValueError, match="align must"):
        ca.bootstrap(3, align="procrustes")
    with pytest.raises(ValueError, match="n must be given"):
        co.CA().fit([[0.1, 0.2], [0.3, 0.4]]).bootstrap(3)
    with pytest.raises(ValueError, match="n must be a whole"):
        ca.bootstrap(3, n=0)
    assert co.CA().fit([[0.1, 0.2], [0.3, 0.4]]).bootstrap(3, n=100, random_state=0).n_resamples == 3
    with pytest.warns(co.FewerComponents, match="one row"):
        line = co.CA().fit([[1, 2, 3]])
    with pytest.raises(ValueError, match="no components"):
        line.bootstrap(3)
