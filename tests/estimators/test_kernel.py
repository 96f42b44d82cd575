"""KernelCCA: exact for few pairs, by landmarks for many, and never a fit of noise."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

import correspondence as co
from correspondence.data.encoders.choosing import encoder_for
from correspondence.estimators.kernel import RIDGE_STRENGTHS


def curve_pairs(rng, n=60):
    """Two columns each, within the linear range of the encoder."""
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2]) + 0.3 * rng.normal(size=(n, 2))


def label_pairs(rng, n=600):
    a = rng.integers(5, size=n)
    b = np.where(rng.random(n) < 0.6, a % 4, rng.integers(4, size=n))
    return np.array(list("abcde"))[a], np.array(list("PQRS"))[b]


def encoded(values):
    return encoder_for(values, "X")(values, "X")


def dual(Kx, Ky, strength, d):
    """Values of the functions on the data, from the Gram matrices alone."""
    H = np.eye(len(Kx)) - 1 / len(Kx)
    roots = []
    for K in (Kx, Ky):
        values, U = np.linalg.eigh(H @ K @ H)
        values = np.maximum(values, 0)
        roots.append(U * np.sqrt(values / (values + strength * values.sum())) @ U.T)
    U, _, Vt = np.linalg.svd(roots[0] @ roots[1])
    F, G = (np.linalg.qr(root @ shapes)[0] for root, shapes in zip(roots, (U[:, :d], Vt[:d].T), strict=True))
    P, s, Qt = np.linalg.svd(F.T @ G)
    return F @ P * np.sqrt(len(Kx)), G @ Qt.T * np.sqrt(len(Kx)), s


# --- exactness


@pytest.mark.parametrize("strength", [1e-4, 1e-2, 1.0])
def test_equals_the_problem_in_the_gram_matrices(rng, strength):
    X, Y = curve_pairs(rng)
    est = co.KernelCCA(n_components=1, gamma=2.0, y_gamma=3.0, regularization=strength).fit(X, Y)
    F, G, s = dual(rbf_kernel(encoded(X), gamma=2.0), rbf_kernel(encoded(Y), gamma=3.0), strength, 1)
    np.testing.assert_allclose(est.correlations_, s, atol=1e-7)
    for ours, by_hand in zip(est.transform(X, Y), (F, G), strict=True):
        np.testing.assert_allclose(ours, by_hand * np.sign((ours * by_hand).sum(axis=0)), atol=1e-5)


def test_functions_of_new_data_are_sums_of_kernels_at_the_old(rng):
    X, Y = curve_pairs(rng, n=40)
    est = co.KernelCCA(n_components=2, gamma=3.0, regularization=0.01).fit(X, Y)
    far_from_all = est.transform(np.full((1, 2), 1e6))
    coefficients = np.linalg.solve(rbf_kernel(encoded(X), gamma=3.0), est.transform(X) - far_from_all)
    new = curve_pairs(rng, n=30)[0]
    at_new = rbf_kernel(encoder_for(X, "X")(new, "X"), encoded(X), gamma=3.0)
    np.testing.assert_allclose(est.transform(new), at_new @ coefficients + far_from_all, atol=1e-6)


@pytest.mark.slow
def test_random_state_does_not_matter_with_enough_landmarks(rng):
    X, Y = curve_pairs(rng, n=200)
    first, second = (co.KernelCCA(n_components=2, random_state=seed).fit(X, Y) for seed in (0, 1))
    np.testing.assert_allclose(second.correlations_, first.correlations_, atol=1e-9)
    np.testing.assert_allclose(second.transform(X), first.transform(X), atol=1e-6)
    few = [co.KernelCCA(n_components=2, n_landmarks=10, random_state=seed).fit(X, Y) for seed in (0, 1)]
    assert abs(few[0].correlations_[0] - few[1].correlations_[0]) > 1e-4


@pytest.mark.slow
def test_repeated_rows_need_no_landmarks_of_their_own(rng):
    values = rng.uniform(-2, 2, size=(40, 2))
    X = values[rng.integers(40, size=1500)]
    Y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=1500)
    options = {"regularization": 1e-3, "y_kernel": "linear", "n_components": 1}
    few, many = (co.KernelCCA(n_landmarks=m, **options).fit(X, Y) for m in (40, 500))
    assert len(few.decomposition_.f.features.landmarks) == 40
    np.testing.assert_allclose(few.correlations_, many.correlations_, atol=1e-9)


@pytest.mark.slow
def test_landmarks_come_close_to_all_rows(rng):
    X, Y = curve_pairs(rng, n=700)
    new = curve_pairs(rng, n=3000)
    few, all_rows = (co.KernelCCA(n_landmarks=m).fit(X, Y).evaluate(*new) for m in (100, 700))
    np.testing.assert_allclose(few.correlations, all_rows.correlations, atol=0.02)


def test_linear_kernel_is_cca(rng):
    X, Y = curve_pairs(rng, n=400)
    kernel = co.KernelCCA(n_components=2, kernel="linear", regularization=1e-10).fit(X, Y)
    cca = co.CCA(n_components=2).fit(X, Y)
    np.testing.assert_allclose(kernel.correlations_, cca.correlations_, atol=1e-7)
    r = np.corrcoef(kernel.transform(X).T, cca.transform(X).T)
    np.testing.assert_allclose(np.abs(np.diag(r[:2, 2:])), 1, atol=1e-7)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_labels_on_both_sides_give_correspondence_analysis(rng, kernel):
    x, y = label_pairs(rng)
    est = co.KernelCCA(n_components=3, kernel=kernel, regularization=1e-10).fit(x, y)
    np.testing.assert_allclose(est.pics_, co.CA(n_components=3).fit(x, y).pics_, atol=1e-6)


# --- kernels


def test_products_are_found_by_a_polynomial_of_degree_two(rng):
    X = rng.normal(size=(1500, 3))
    y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=1500)
    found = co.KernelCCA(n_components=1, kernel="poly", y_kernel="linear", degree=2).fit(X[:1000], y[:1000])
    assert found.evaluate(X[1000:], y[1000:]).correlations[0] > 0.97
    missed = co.KernelCCA(n_components=1, kernel="linear").fit(X[:1000], y[:1000])
    assert missed.evaluate(X[1000:], y[1000:]).correlations[0] < 0.3


def test_polynomial_by_hand(rng):
    X, Y = curve_pairs(rng, n=300)
    options = {"gamma": 0.7, "y_gamma": 0.7, "degree": 2, "coef0": 0.4, "regularization": 0.01}
    est = co.KernelCCA(n_components=1, kernel="poly", **options).fit(X, Y)
    *_, s = dual(*((0.7 * encoded(Z) @ encoded(Z).T + 0.4) ** 2 for Z in (X, Y)), 0.01, 1)
    np.testing.assert_allclose(est.correlations_, s, atol=1e-7)
    features = co.KernelCCA(kernel="poly").fit(X, Y).decomposition_.f.features
    assert features.options == {"gamma": 1 / 2, "degree": 3.0, "coef0": 1.0}


def test_a_function_of_your_own_is_as_good_as_a_name(rng):
    X, Y = curve_pairs(rng, n=200)
    named = co.KernelCCA(gamma=0.8, y_kernel="linear").fit(X, Y)
    own = co.KernelCCA(kernel=lambda a, b: rbf_kernel(a, b, gamma=0.8), y_kernel=lambda a, b: a @ b.T).fit(X, Y)
    np.testing.assert_array_equal(own.regularization_, named.regularization_)
    np.testing.assert_allclose(own.transform(X), named.transform(X), atol=1e-7)


def test_y_takes_the_kernel_of_x_unless_it_has_its_own(rng):
    X, Y = curve_pairs(rng)
    est = co.KernelCCA(kernel="linear").fit(X, Y)
    assert (est.decomposition_.f.features.kernel, est.decomposition_.g.features.kernel) == ("linear", "linear")
    est = co.KernelCCA(kernel="linear", y_kernel="rbf", gamma=5.0, y_gamma=0.5).fit(X, Y)
    assert est.decomposition_.f.features.options == {}
    assert est.decomposition_.g.features.options == {"gamma": 0.5}


@pytest.mark.slow
def test_median_rule(rng):
    X, Y = curve_pairs(rng, n=150)
    X[::3] = X[0]
    d = co.KernelCCA().fit(X, Y).decomposition_
    for features, values in ((d.f.features, X), (d.g.features, Y)):
        squared = euclidean_distances(encoded(values), squared=True)[np.triu_indices(150, 1)]
        assert features.options["gamma"] == pytest.approx(1 / np.median(squared[squared > 1e-9]))


def test_a_kernel_of_the_wrong_shape(rng):
    X, Y = curve_pairs(rng)
    est = co.KernelCCA().fit(X, Y)
    before = dict(vars(est))
    for kernel in (
        lambda a, b: np.ones(len(a)),
        lambda a, b: a,
        lambda a, b: np.full((len(a), len(b)), np.nan),
    ):
        with pytest.raises(ValueError, match="kernel must return finite"):
            est.set_params(kernel=kernel).fit(X, Y)
        assert vars(est) == before | {"kernel": kernel}
    with pytest.raises(ValueError, match="kernel must be positive on Y"):
        co.KernelCCA(y_kernel=lambda a, b: np.zeros((len(a), len(b)))).fit(X, Y)


def test_a_negative_kernel(rng):
    with pytest.raises(ValueError, match="kernel must be positive on X"):
        co.KernelCCA(kernel=lambda a, b: -a @ b.T).fit(*curve_pairs(rng))


def test_broken_degrees_are_refused_or_defined(rng):
    X, Y = curve_pairs(rng)
    with pytest.raises(ValueError, match="degree"):
        co.KernelCCA(kernel="poly", degree=2.5).fit(X, Y)


# --- regularization


@pytest.mark.slow
def test_nothing_is_found_where_there_is_nothing(rng):
    X, Y = rng.normal(size=(2, 500, 3))
    new = rng.normal(size=(2, 4000, 3))
    est = co.KernelCCA().fit(X, Y)
    assert np.abs(est.evaluate(*new).correlations).max() < 0.06
    free = co.KernelCCA(regularization=0).fit(X, Y)
    assert free.correlations_[0] > 0.999
    assert est.evaluate(*new).captured > free.evaluate(*new).captured


@pytest.mark.slow
def test_the_penalty_follows_the_data(rng):
    X, Y = curve_pairs(rng, n=500)
    clear = co.KernelCCA().fit(X, Y).regularization_
    blurred = co.KernelCCA().fit(X, Y + 2 * rng.normal(size=Y.shape)).regularization_
    assert set(clear) | set(blurred) <= set(RIDGE_STRENGTHS)
    assert (clear < blurred).all()
    assert co.KernelCCA(regularization=0.25).fit(X, Y).regularization_.tolist() == [0.25, 0.25]


# --- data of every kind


def counts_of_words(rng, n=400):
    topics = rng.integers(2, size=n)
    rates = np.array([[2, 2, 0.1, 0.1, 1, 1, 1, 1], [0.1, 0.1, 2, 2, 1, 1, 1, 1]])
    return rng.poisson(rates[topics]), np.array(["sport", "food"])[topics]


@pytest.mark.slow
def test_sparse(rng):
    counts, y = counts_of_words(rng)
    X = sp.csr_array(counts)
    est = co.KernelCCA(n_components=1).fit(X[:300], y[:300])
    assert est.evaluate(X[300:], y[300:]).correlations[0] > 0.9
    linear = co.KernelCCA(n_components=1, kernel="linear").fit(X, y)
    own = co.KernelCCA(n_components=1, kernel=lambda a, b: a @ b.T).fit(X, y)
    np.testing.assert_allclose(own.transform(X[:9]), linear.transform(X[:9]), atol=1e-7)
    with pytest.raises(ValueError, match="X must be a sparse"):
        est.transform(counts)


def test_text(rng):
    counts, y = counts_of_words(rng)
    words = np.array(["ball", "goal", "oven", "flour", "the", "and", "with", "from"])
    texts = [" ".join(rng.permutation(np.repeat(words, row))) for row in counts]
    est = co.KernelCCA(n_components=1).fit(texts[:300], y[:300])
    assert est.evaluate(texts[300:], y[300:]).correlations[0] > 0.9
    f = est.transform(["ball goal goal", "oven flour oven"])[:, 0]
    assert f[0] * f[1] < 0


def test_images(rng):
    bright = rng.normal(size=300)
    X = rng.normal(size=(300, 2, 3, 3)) + bright[:, None, None, None]
    est = co.KernelCCA(n_components=1).fit(X[:200], bright[:200] ** 2)
    assert est.evaluate(X[200:], bright[200:] ** 2).correlations[0] > 0.7


def test_frame_of_numbers_and_labels(rng):
    """The slope depends on the label, which no sum of functions of single columns tells."""
    slope = rng.choice(["up", "down"], 800)
    x = rng.normal(size=800)
    y = np.where(slope == "up", x, -x) + 0.2 * rng.normal(size=800)
    X = pd.DataFrame({"x": x, "slope": slope})
    found, missed = (co.KernelCCA(1, kernel, "linear").fit(X[:600], y[:600]) for kernel in ("rbf", "linear"))
    assert found.evaluate(X[600:], y[600:]).correlations[0] > 0.9
    assert missed.evaluate(X[600:], y[600:]).correlations[0] < 0.3
    np.testing.assert_array_equal(found.transform(X[["slope", "x"]]), found.transform(X))


def test_many_rows_at_once_are_the_same_as_few(rng):
    X, Y = curve_pairs(rng, n=300)
    est = co.KernelCCA().fit(X, Y)
    new = curve_pairs(rng, n=5000)[0]
    parts = np.vstack([est.transform(part) for part in np.array_split(new, 3)])
    np.testing.assert_allclose(est.transform(new), parts, atol=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_saved_and_loaded_it_is_the_same(rng, tmp_path, kernel):
    counts, y = counts_of_words(rng, n=200)
    X = sp.csr_array(counts)
    est = co.KernelCCA(n_components=1, kernel=kernel).fit(X, y)
    est.decomposition_.save(tmp_path / "model")
    again = co.load(tmp_path / "model")
    np.testing.assert_allclose(again.f(X), est.transform(X), atol=1e-9)
    np.testing.assert_allclose(again.g(y), est.transform_y(y), atol=1e-9)


def test_a_function_of_your_own_cannot_be_saved(rng, tmp_path):
    X, Y = curve_pairs(rng)
    est = co.KernelCCA(y_kernel=rbf_kernel).fit(X, Y)
    with pytest.raises(TypeError, match=r"kernel .*cannot be saved"):
        est.decomposition_.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_conditional_expectation(rng):
    X = rng.uniform(-2, 2, size=(1000, 1))
    Y = np.sin(2 * X) + 0.1 * rng.normal(size=X.shape)
    d = co.KernelCCA(n_components=4).fit(X, Y).decomposition_
    x = np.linspace(-1.8, 1.8, 20)[:, None]
    np.testing.assert_allclose(d.conditional_expectation(Y, x), np.sin(2 * x), atol=0.1)


# --- parameters


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kernel", "sigmoid"),
        ("kernel", None),
        ("y_kernel", 3),
        ("gamma", 0),
        ("gamma", "scale"),
        ("y_gamma", -1.0),
        ("y_gamma", np.inf),
        ("degree", -1),
        ("coef0", -1),
        ("n_landmarks", 1),
        ("regularization", -1),
        ("regularization", "cv"),
        ("random_state", -1),
        ("n_components", 0),
    ],
)
def test_bad_parameters(rng, name, value):
    with pytest.raises(ValueError, match=f"^{name} must"):
        co.KernelCCA(**{name: value}).fit(*curve_pairs(rng))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_later_components_are_smooth_too(seed):
    """What is held out lies between the pairs of the fit, where functions without a penalty may be anything."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=200)
    result = co.crossfit(co.KernelCCA(n_components=3), x, x + rng.normal(size=200))
    assert result.captured > 0.2
