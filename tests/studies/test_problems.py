import numpy as np
import pytest
from scipy.special import eval_genlaguerre, gammaln
from scipy.stats import gamma, nbinom, norm, poisson, vonmises

import correspondence as co
from correspondence.studies import problems
from correspondence.studies.hermite import compute_hermite_curves, measure_hermite_distance

ALL = [
    problems.make_gaussian,
    problems.make_bsc,
    problems.make_random_table,
    problems.make_single_index,
    problems.make_unrelated,
    problems.make_gamma_poisson,
    problems.make_circular,
    problems.make_mixture,
    problems.make_heavy_tails,
    problems.make_gaussian_vectors,
]


def compute_singular_values(joint, d):
    scale = np.sqrt(np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    return np.linalg.svd(joint / scale, compute_uv=False)[1 : d + 1]


def correlate_columns(F, G):
    return np.array([np.corrcoef(f, g)[0, 1] for f, g in zip(F.T, G.T, strict=True)])


def draw_sample(problem, n=400_000, seed=0):
    return problem.draw(n, np.random.default_rng(seed))


@pytest.mark.slow
@pytest.mark.parametrize("make", ALL)
def test_draws_are_pairs_and_repeat(make):
    problem = make()
    X, Y = draw_sample(problem, 50)
    again, _ = draw_sample(problem, 50)
    assert len(X) == len(Y) == 50
    np.testing.assert_array_equal(X, again)
    assert problem.correlations.shape == (problem.d,)
    assert np.all(np.diff(problem.correlations) <= 1e-12)
    assert np.all((problem.correlations >= 0) & (problem.correlations < 1))


@pytest.mark.parametrize("noise", [0.5, 1.0, 2.0])
def test_gaussian_on_a_grid(noise):
    x, y = np.linspace(-7, 7, 500), np.hypot(1, noise) * np.linspace(-7, 7, 500)
    joint = norm.pdf(x)[:, None] * norm.pdf(y, x[:, None], noise)
    np.testing.assert_allclose(
        compute_singular_values(joint / joint.sum(), 4), problems.make_gaussian(noise).correlations, atol=1e-6
    )


@pytest.mark.parametrize("noise", [0.5, 1.0])
def test_hermite_functions_reach_the_gaussian_values(noise):
    problem = problems.make_gaussian(noise)
    X, Y = draw_sample(problem)
    found = correlate_columns(
        compute_hermite_curves(X[:, 0], 4), compute_hermite_curves(Y[:, 0] / np.hypot(1, noise), 4)
    )
    np.testing.assert_allclose(found, problem.correlations, atol=0.02)


@pytest.mark.parametrize(("p", "delta"), [(0.5, 0.1), (0.1, 0.1), (0.3, 0.2)])
def test_bsc_from_its_whole_table(p, delta):
    bit = np.array([[(1 - p) * (1 - delta), (1 - p) * delta], [p * delta, p * (1 - delta)]])
    joint = np.ones((1, 1))
    for _ in range(5):
        joint = np.kron(joint, bit)
    np.testing.assert_allclose(
        compute_singular_values(joint, 31), problems.make_bsc(p, delta, d=31).correlations, atol=1e-12
    )


def test_bsc_draws_bits_of_these_probabilities():
    X, Y = draw_sample(problems.make_bsc(0.1, 0.2))
    np.testing.assert_allclose([X.mean(), Y.mean(), (X != Y).mean()], [0.1, 0.26, 0.2], atol=0.002)
    assert X.dtype.kind == Y.dtype.kind == "i"


def test_paper_values_of_the_channel():
    np.testing.assert_allclose(problems.make_bsc().correlations, [0.8] * 5 + [0.64] * 10)
    np.testing.assert_allclose(problems.make_bsc(0.1, d=6).correlations, [0.6247] * 5 + [0.3902], atol=5e-5)


@pytest.mark.slow
def test_random_table_by_correspondence_analysis_of_a_large_sample():
    problem = problems.make_random_table()
    X, Y = draw_sample(problem, 2_000_000)
    assert X.dtype.kind == "U"
    assert len(np.unique(X)) == 30
    assert len(np.unique(Y)) == 20
    np.testing.assert_allclose(co.CA(n_components=5).fit(X, Y).correlations_, problem.correlations, atol=0.002)


@pytest.mark.slow
@pytest.mark.parametrize(("reach", "values"), [(5, (0.973, 0.965)), (8, (0.980, 0.979)), (14, (0.985, 0.985))])
def test_single_index_depends_on_the_reach_as_documented(reach, values):
    np.testing.assert_allclose(problems.make_single_index(reach=reach).correlations, values, atol=6e-4)


@pytest.mark.slow
def test_single_index_masses_are_those_of_draws():
    X, Y = draw_sample(problems.make_single_index(), 1_000_000)
    h = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2]
    masses = problems.compute_index_masses(400, 0.02)
    below = np.cumsum(masses)
    edges = 0.02 * (np.arange(-400, 401) + 0.5)
    empirical = np.searchsorted(np.sort(h), edges) / len(h)
    np.testing.assert_allclose(below + (1 - masses.sum()) / 2, empirical, atol=0.003)
    assert 1 - masses.sum() == pytest.approx(1.1e-4, abs=1e-5)
    assert np.std(Y[:, 0] - h) == pytest.approx(0.3, abs=0.001)


@pytest.mark.slow
def test_single_index_by_binning_a_large_sample():
    X, Y = draw_sample(problems.make_single_index(), 2_000_000)
    h, y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2], Y[:, 0]
    inside = np.abs(h) < 5
    counts, _, _ = np.histogram2d(h[inside], y[inside], bins=[np.linspace(-5, 5, 101), np.linspace(-6, 6, 121)])
    counts = counts[counts.sum(axis=1) > 100][:, counts.sum(axis=0) > 100]
    np.testing.assert_allclose(compute_singular_values(counts / counts.sum(), 2), (0.973, 0.965), atol=0.01)


@pytest.mark.parametrize("rate", [0.2, 1.0])
def test_gamma_poisson_on_a_grid(rate):
    x = np.linspace(1e-3, 30 / rate, 2500)
    y = np.arange(int(35 / rate))
    joint = gamma.pdf(x, 2, scale=1 / rate)[:, None] * poisson.pmf(y, x[:, None])
    joint = joint[:, joint.sum(axis=0) > 0]
    found = compute_singular_values(joint / joint.sum(), 4)
    np.testing.assert_allclose(found, problems.make_gamma_poisson(rate=rate).correlations, atol=1e-3)


def test_gamma_poisson_margin_and_first_functions():
    problem = problems.make_gamma_poisson()
    X, Y = draw_sample(problem)
    assert np.mean(Y == 0) == pytest.approx(nbinom.pmf(0, 2, 0.5), abs=0.003)
    np.testing.assert_allclose(correlate_columns(X, Y), problem.correlations[:1], atol=0.005)
    f = eval_genlaguerre(2, 1, X[:, 0]) * np.exp(0.5 * (gammaln(3) - gammaln(4)))
    g = np.array([f[Y[:, 0] == y].mean() for y in np.unique(Y)])
    assert np.corrcoef(f, g[np.searchsorted(np.unique(Y), Y[:, 0])])[0, 1] == pytest.approx(0.5, abs=0.02)


def test_circular_on_a_grid():
    angle = np.linspace(-np.pi, np.pi, 400, endpoint=False)
    joint = vonmises.pdf(angle[:, None] - angle, 2.0)
    np.testing.assert_allclose(
        compute_singular_values(joint / joint.sum(), 4), problems.make_circular().correlations, atol=1e-9
    )


def test_circular_sines_and_cosines_reach_the_values():
    problem = problems.make_circular()
    X, Y = draw_sample(problem)
    assert np.abs(Y).max() <= np.pi
    waves = [np.hstack([np.cos(v), np.sin(v), np.cos(2 * v), np.sin(2 * v)]) for v in (X, Y)]
    np.testing.assert_allclose(correlate_columns(*waves), problem.correlations, atol=0.005)


@pytest.mark.slow
def test_mixture_by_binning_a_large_sample():

    problem = problems.make_mixture()
    X, Y = draw_sample(problem, 2_000_000)
    counts, _, _ = np.histogram2d(X[:, 0], Y[:, 0], bins=120)
    counts = counts[counts.sum(axis=1) > 50][:, counts.sum(axis=0) > 50]
    np.testing.assert_allclose(compute_singular_values(counts / counts.sum(), 3), problem.correlations, atol=0.006)


def test_heavy_tails_is_the_gaussian_in_disguise():
    problem = problems.make_heavy_tails()
    X, Y = draw_sample(problem)
    found = correlate_columns(
        compute_hermite_curves(np.arcsinh(X[:, 0]) / 2, 4), compute_hermite_curves(np.log(Y[:, 0]) / np.sqrt(2), 4)
    )
    np.testing.assert_allclose(found, problems.make_gaussian().correlations, atol=0.02)


def test_gaussian_vectors_have_these_canonical_correlations():
    problem = problems.make_gaussian_vectors(d=7)
    np.testing.assert_allclose(problem.correlations, [0.9, 0.81, 0.729, 0.6561, 0.6, 0.9**5, 0.54])
    found = co.Moments().update(*draw_sample(problem)).decompose()
    np.testing.assert_allclose(found.correlations, [0.9, 0.6, 0.3], atol=0.005)
    F, G = (
        functions(values) for functions, values in zip((found.f, found.g), draw_sample(problem, seed=1), strict=True)
    )
    mixed = [np.column_stack([compute_hermite_curves(v[:, 0], 2)[:, 1], v[:, 0] * v[:, 1]]) for v in (F, G)]
    np.testing.assert_allclose(correlate_columns(*mixed), [0.81, 0.54], atol=0.01)


def test_hermite_curves_are_orthonormal():
    x = np.linspace(-10, 10, 20_001)
    weights = norm.pdf(x) / norm.pdf(x).sum()
    curves = compute_hermite_curves(x, 4)
    np.testing.assert_allclose(curves.T @ (curves * weights[:, None]), np.eye(4), atol=1e-8)


def test_hermite_distance_of_exact_and_of_zero_functions():
    signs = np.array([1, -1, -1, 1])

    def exact(X, Y):
        return compute_hermite_curves(X[:, 0], 4) * signs, compute_hermite_curves(Y[:, 0] / np.sqrt(2), 4) * signs

    np.testing.assert_allclose(measure_hermite_distance(exact), 0, atol=1e-7)
    np.testing.assert_allclose(
        measure_hermite_distance(lambda X, Y: tuple(1.1 * v for v in exact(X, Y))), 0.1, atol=1e-6
    )
    nothing = measure_hermite_distance(lambda X, Y: (np.zeros((len(X), 4)), np.zeros((len(Y), 4))))
    np.testing.assert_allclose(nothing, 1, atol=1e-6)
