import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import correspondence as co
from correspondence.core.residual_svd import Residuals
from correspondence.estimators.ca import ridge as ridge_module
from correspondence.estimators.ca.ridge import RidgeResiduals, choose_ridge, shrink_labels


def zipf(m):
    p = 1 / np.arange(1, m + 1)
    return p / p.sum()


def low_rank_density(rng, p, q, correlations):
    """Joint distribution with about these correlations: a Lancaster density, made positive."""
    F, G = (rng.normal(size=(len(side), len(correlations))) for side in (p, q))
    F, G = ((H - side @ H) for H, side in ((F, p), (G, q)))
    F, G = (H @ np.linalg.inv(np.linalg.cholesky((H * side[:, None]).T @ H)).T for H, side in ((F, p), (G, q)))
    joint = np.maximum(1 + (F * correlations) @ G.T, 0.02) * np.outer(p, q)
    for _ in range(100):
        joint *= (p / joint.sum(axis=1))[:, None]
        joint *= q / joint.sum(axis=0)
    return joint


def draw(rng, joint, n):
    return rng.multinomial(n, joint.ravel()).reshape(joint.shape)


def evaluate(ca, joint):
    """Score on the whole population."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ca.evaluate(joint)


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(3)
    table = draw(rng, low_rank_density(rng, zipf(25), zipf(15), np.array([0.5, 0.3])), 800)
    return table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]


# --- the matrix and its axes


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("centred", [(True, True), (False, True), (False, False)])
def test_products_are_those_of_the_dense_matrix(form, centred, rng):
    table = rng.poisson(0.4, (30, 20)) + (np.arange(600).reshape(30, 20) % 37 == 0)
    table[0], table[:, 0] = 1, 1
    r, c, n = table.sum(axis=1), table.sum(axis=0), table.sum()
    Q = Residuals.from_counts(form(table.astype(float)), r / n, c / n, float(n))
    M = RidgeResiduals(Q, 3.0, shrink_labels(r, 3.0), shrink_labels(c, 3.0), centred)
    dense = M.toarray()
    residuals = (table / n - np.outer(r, c) / n**2) / np.sqrt(np.outer(r + 3, c + 3)) * n
    if centred == (False, False):
        np.testing.assert_allclose(dense, residuals, atol=1e-12)
    v, V = rng.normal(size=20), rng.normal(size=(20, 3))
    np.testing.assert_allclose(M @ v, dense @ v, atol=1e-12)
    np.testing.assert_allclose(M @ V, dense @ V, atol=1e-12)
    np.testing.assert_allclose(M.T.toarray(), dense.T, atol=1e-12)
    np.testing.assert_allclose(M.multiply_gram(v), dense.T @ dense @ v, atol=1e-12)
    assert M.inertia == pytest.approx((dense**2).sum())


@pytest.mark.parametrize("regularization", [0.5, 20, "auto"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_functions_are_centred_and_uncorrelated(counts, regularization, form):
    ca = co.CA(n_components=4, regularization=regularization).fit(form(counts))
    for points in (ca.rows_, ca.columns_):
        np.testing.assert_allclose(points.mass @ points.standard, 0, atol=1e-12)
        np.testing.assert_allclose((points.standard.T * points.mass) @ points.standard, np.eye(4), atol=1e-12)
        np.testing.assert_allclose(points.contributions.sum(axis=0), 1)
    trained = np.einsum("ik,ij,jk->k", ca.rows_.standard, counts / counts.sum(), ca.columns_.standard)
    assert (ca.correlations_ <= trained + 1e-12).all()
    assert (np.diff(ca.correlations_) <= 0).all()
    assert (ca.correlations_ >= 0).all()
    assert ca.pics_.sum() <= ca.decomposition_.chi2 * (1 + 1e-9)


def test_none_and_zero_are_the_exact_analysis(counts):
    exact, zero = co.CA().fit(counts), co.CA(regularization=0).fit(counts)
    assert exact.regularization_ == zero.regularization_ == 0
    np.testing.assert_array_equal(exact.rows_.standard, zero.rows_.standard)
    np.testing.assert_array_equal(exact.pics_, zero.pics_)
    nearly = co.CA(regularization=1e-9).fit(counts)
    np.testing.assert_allclose(nearly.pics_, exact.pics_, atol=1e-9)
    assert nearly.decomposition_.chi2 == pytest.approx(exact.decomposition_.chi2)


def test_a_stronger_ridge_claims_less_and_holds_rare_labels_back(counts):
    fits = [co.CA(n_components=2, regularization=c).fit(counts) for c in (0, 1, 10, 100, 1000)]
    claims = np.array([ca.correlations_ for ca in fits])
    assert (np.diff(claims, axis=0) < 0).all()
    shares = np.empty((5, 2))
    for seed in range(5):  # of the labels seen at most 5 times in the first axis of a table that is nothing but noise
        noise = draw(np.random.default_rng(seed), np.outer(zipf(50), zipf(20)), 500)
        noise = noise[noise.sum(axis=1) > 0][:, noise.sum(axis=0) > 0]
        rare = noise.sum(axis=1) <= 5
        fits = [co.CA(n_components=1, regularization=c).fit(noise) for c in (0, 100)]
        shares[seed] = [ca.rows_.contributions[rare].sum() for ca in fits]
    exact, held_back = shares.mean(axis=0)
    assert held_back < exact / 2


def test_the_unit_is_one_observation(counts):
    """Ten times the counts with ten times the ridge are the same axes, with the same claims."""
    a = co.CA(2, regularization=4).fit(counts)
    b = co.CA(2, regularization=40).fit(10 * counts)
    np.testing.assert_allclose(a.rows_.standard, b.rows_.standard, atol=1e-9)
    np.testing.assert_allclose(a.pics_, b.pics_, atol=1e-12)


@pytest.mark.slow
def test_the_iteration_finds_the_axes_of_the_dense_matrix(rng):
    table = sp.random_array((600, 500), density=0.05, rng=rng, data_sampler=lambda size: rng.integers(1, 9, size))
    table = sp.csr_array(table + sp.eye_array(600, 500) + sp.eye_array(600, 500, k=-100))
    sparse = co.CA(n_components=3, regularization=5).fit(table)
    dense = co.CA(regularization=5).fit(table.toarray())
    np.testing.assert_allclose(sparse.correlations_, dense.correlations_[:3], rtol=1e-9)
    assert sparse.decomposition_.chi2 == pytest.approx(dense.decomposition_.chi2)


def test_unconnected_parts_do_not_claim_everything():
    blocks = sp.block_diag([np.full((2, 2), 3.0)] * 120 + [[[1.0]]] * 10, format="csr")
    ca = co.CA(n_components=3, regularization=4).fit(blocks)
    assert (ca.correlations_ < 0.9).all()


# --- new points and everything else that reads a fit


@pytest.mark.parametrize("regularization", [2, "auto"])
def test_the_rows_of_the_table_are_placed_where_they_lie(counts, regularization):
    ca = co.CA(n_components=3, regularization=regularization).fit(counts)
    np.testing.assert_allclose(ca.transform(counts), ca.rows_.standard, atol=1e-9)
    np.testing.assert_allclose(ca.transform_y(counts), ca.columns_.standard, atol=1e-9)
    placed = ca.supplementary(rows=sp.csr_array(counts))
    np.testing.assert_allclose(placed.principal, ca.rows_.principal, atol=1e-9)


def test_a_row_of_few_counts_is_placed_closer_to_the_centre(counts):
    ca = co.CA(n_components=2, regularization=10).fit(counts)
    profile = counts[3]
    few, many = ca.supplementary(rows=[profile, 1000 * profile]).principal
    centre = ca.supplementary(rows=[np.round(1e6 * ca.columns_.mass)]).principal[0]
    assert np.linalg.norm(few - centre) < np.linalg.norm(many - centre)


def test_what_reads_a_fit(counts, tmp_path):
    ca = co.CA(n_components=2, regularization="auto").fit(counts)
    assert clone(ca).regularization == "auto"
    assert np.isfinite(ca.evaluate(counts).captured)
    spread = ca.bootstrap(20, random_state=0)
    assert np.isfinite(spread.row_covariance).all()
    ca.decomposition_.save(tmp_path / "model.safetensors")
    loaded = co.load(tmp_path / "model.safetensors")
    ratio = ca.decomposition_.density_ratio(ca.rows_.labels, ca.columns_.labels, pairwise=True)
    np.testing.assert_array_equal(
        ratio, loaded.density_ratio(np.arange(len(counts)), np.arange(counts.shape[1]), pairwise=True)
    )
    np.testing.assert_allclose(ca.rows_.mass @ ratio, 1, atol=1e-12)
    assert ca.chi2_test_ == co.CA().fit(counts).chi2_test_


def test_the_bootstrap_moves_points_on_the_scale_on_which_they_are_drawn(counts):
    """With "auto" the claims are those of the folds; the refits have a ridge of the same strength."""
    ca = co.CA(n_components=2, regularization="auto").fit(counts)
    assert ca.regularization_ > 0
    spread = ca.bootstrap(40, n=10**7, random_state=0)  # hardly any noise: all resamples are the table itself
    fixed = co.CA(n_components=2, regularization=ca.regularization_).fit(counts)
    np.testing.assert_allclose(ca._claimed_share, ca.correlations_ / fixed.correlations_)
    assert np.isfinite(spread.column_covariance).all()


def test_a_subset_can_have_a_ridge():
    table = co.datasets.load_housetasks()
    part = {"subset_rows": ["Laundry", "Repairs", "Driving"]}
    ca = co.CA(regularization=5, **part).fit(table)
    assert (ca.correlations_ < co.CA(**part).fit(table).correlations_).all()
    np.testing.assert_allclose(ca.transform(table.counts[[0, 8, 11]]), ca.rows_.standard, atol=1e-9)
    with pytest.raises(ValueError, match=r"regularization.*subset"):
        co.CA(regularization="auto", **part).fit(table)


# --- the choice


POPULATIONS = {
    "uniform 30 x 20": (np.full(30, 1 / 30), np.full(20, 1 / 20), [0.25, 0.15], 1000),
    "Zipf 100 x 30": (zipf(100), zipf(30), [0.3, 0.2, 0.1], 2000),
    "strong Zipf 40 x 40": (zipf(40), zipf(40), [0.7, 0.5, 0.3], 1000),
    "uniform 6 x 5": (np.full(6, 1 / 6), np.full(5, 1 / 5), [0.4, 0.2], 200),
}


@pytest.mark.parametrize("name", POPULATIONS)
def test_auto_captures_more_of_the_population(name):
    p, q, correlations, n = POPULATIONS[name]
    scores = []
    for seed in range(5):
        rng = np.random.default_rng([seed, 21])
        joint = low_rank_density(rng, p, q, np.array(correlations))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # labels that were not drawn
            fits = [co.CA(regularization=c).fit(draw(rng, joint, n)) for c in (None, "auto")]
        scores.append([evaluate(ca, joint).captured for ca in fits])
    plain, auto = np.mean(scores, axis=0)
    assert auto > plain - 0.005
    assert auto > 0
    assert np.min(scores, axis=0)[1] > -0.03


def test_auto_claims_next_to_nothing_of_independent_labels():
    claims = []
    for seed in range(20):
        table = draw(np.random.default_rng([seed, 5]), np.outer(zipf(50), zipf(20)), 500)
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        claims.append(co.CA(regularization="auto").fit(table).correlations_[0])
        assert co.CA(n_components=1).fit(table).correlations_[0] > 0.3
    assert np.median(claims) < 0.05
    assert np.mean(np.square(claims)) < 0.01


def test_components_that_the_folds_do_not_support_are_left_out():
    rng = np.random.default_rng(8)
    table = draw(rng, low_rank_density(rng, np.full(12, 1 / 12), np.full(10, 0.1), np.array([0.5, 0.3])), 3000)
    ca = co.CA(regularization="auto").fit(table)
    assert 2 <= len(ca.pics_) <= 4
    five = co.CA(n_components=5, regularization="auto").fit(table)
    assert len(five.pics_) == 5
    np.testing.assert_allclose(five.pics_[: len(ca.pics_)], ca.pics_)
    assert five.pics_[4] < 0.002
    assert five.decomposition_.chi2 == pytest.approx(ca.decomposition_.chi2)


@pytest.mark.slow
def test_dense_and_sparse_search_agree(rng, monkeypatch):
    table = draw(rng, low_rank_density(rng, zipf(60), zipf(40), np.array([0.6, 0.4])), 3000)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0].astype(float)
    dense = choose_ridge(table, 3)
    np.testing.assert_array_equal(choose_ridge(sp.csr_array(table), 3).claims, dense.claims)
    monkeypatch.setattr(ridge_module, "LARGE_CELLS", 0)
    monkeypatch.setattr(ridge_module, "LARGE_FOLDS", ridge_module.N_FOLDS)
    monkeypatch.setattr(ridge_module, "FIRST_STEPS", 60)
    monkeypatch.setattr(ridge_module, "NEXT_STEPS", 60)
    np.testing.assert_allclose(choose_ridge(table, 3).claims, dense.claims, atol=1e-6)
    sparse = choose_ridge(sp.csr_array(table), 3)
    assert sparse.strength > 0
    # The folds are others: a sparse table draws for its cells that are not zero.
    np.testing.assert_allclose(sparse.claims[:2], dense.claims[:2], atol=0.05)


def test_no_components_wanted(counts):
    assert len(co.CA(n_components=0, regularization="auto").fit(counts).pics_) == 0


def test_a_fit_that_found_nothing_can_be_drawn():
    table = draw(np.random.default_rng(0), np.full((30, 20), 1 / 600), 1000)
    ca = co.CA(n_components=2, regularization="auto").fit(table)
    assert not ca.pics_.any()
    assert ca.decomposition_.inertia_ratios.tolist() == [0, 0]
    co.plot.plane(ca)
    co.plot.scree(ca)
    assert ca.evaluate(table).captured == pytest.approx(0, abs=1e-12)


def test_the_same_choice_every_time(counts):
    a, b = (co.CA(regularization="auto").fit(counts) for _ in range(2))
    assert a.regularization_ == b.regularization_
    np.testing.assert_array_equal(a.pics_, b.pics_)


def test_pairs_and_table_agree(counts):
    x, y = (np.repeat(index, counts[np.nonzero(counts)]) for index in np.nonzero(counts))
    pairs, table = (co.CA(regularization="auto").fit(*data) for data in ((x, y), (counts,)))
    np.testing.assert_allclose(pairs.pics_, table.pics_, atol=1e-12)


@pytest.mark.parametrize("table", [[[1, 0], [0, 1]], [[1, 0], [1, 1]], np.eye(5), [[3, 1], [1, 2]]])
def test_tiny_tables(table):
    ca = co.CA(regularization="auto").fit(table)
    assert len(ca.pics_) == 1
    assert 0 <= ca.pics_[0] <= 1
    assert np.isfinite(ca.rows_.standard).all()


def test_one_row_has_no_components():
    with pytest.warns(UserWarning, match="one row"):
        ca = co.CA(regularization="auto").fit([[1, 2, 3]])
    assert len(ca.pics_) == 0
    with pytest.warns(UserWarning, match="one row"):
        assert len(co.CA(regularization=2.0).fit([[1, 2, 3]]).pics_) == 0


def test_labels_without_counts_lie_at_nan(counts):
    padded = np.vstack([counts, np.zeros(counts.shape[1], dtype=int)])
    with pytest.warns(UserWarning, match="zero"):
        ca = co.CA(n_components=2, regularization="auto").fit(padded)
    assert np.isnan(ca.rows_.standard[-1]).all()
    np.testing.assert_allclose(ca.pics_, co.CA(n_components=2, regularization="auto").fit(counts).pics_)


@pytest.mark.parametrize("value", [-1, np.nan, np.inf, "ridge", True, [1.0]])
def test_bad_strengths(value):
    with pytest.raises(ValueError, match="regularization must"):
        co.CA(regularization=value).fit([[1, 2], [3, 4]])


def test_auto_needs_whole_counts(counts):
    with pytest.raises(ValueError, match=r"regularization.*whole"):
        co.CA(regularization="auto").fit(counts / counts.sum())
    with pytest.raises(ValueError, match=r"regularization.*whole"):
        co.CA(regularization="auto").fit(counts, row_weights=np.full(len(counts), 2.0))
    assert co.CA(regularization=0.001).fit(counts / counts.sum()).regularization_ == 0.001


@pytest.mark.parametrize("shape", [(9, 4), (6, 6)])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_choice_is_that_of_the_transposed_table(shape, sparse):
    for seed in range(5):
        counts = np.random.default_rng(seed).poisson(0.7, size=shape) + np.eye(*shape, dtype=int)
        one, other = ((sp.csr_array(t) if sparse else t) for t in (counts, counts.T))
        fits = [co.CA(2, regularization="auto").fit(table) for table in (one, other)]
        assert fits[0].regularization_ == fits[1].regularization_
        np.testing.assert_allclose(fits[0].correlations_, fits[1].correlations_, atol=1e-10)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_the_order_of_labels_does_not_matter(rng, make):
    table = rng.poisson(rng.gamma(1, 4, size=(7, 5)))
    same = table[rng.permutation(7)][:, rng.permutation(5)]
    one, other = choose_ridge(make(table), 3), choose_ridge(make(same), 3)
    assert one.strength == other.strength
    np.testing.assert_allclose(one.claims, other.claims, atol=1e-12)


def test_a_square_table_with_equal_margins_and_its_transpose(rng):
    table = rng.poisson(2, size=(6, 6))
    table = table + table.T
    for i, j in ((0, 1), (1, 2), (2, 0)):  # a circle: the same margins, but not symmetric
        table[i, j] += 20
    one, other = (choose_ridge(np.asarray(t), 3) for t in (table, table.T))
    assert one.strength == other.strength
    np.testing.assert_allclose(one.claims, other.claims, atol=1e-12)


def test_large_sparse_tables_are_as_dense_ones(rng, monkeypatch):
    monkeypatch.setattr(ridge_module, "LARGE_CELLS", 100)
    table = rng.poisson(rng.gamma(0.3, 3, size=(40, 30)))
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    order = rng.permutation(len(table))
    results = [choose_ridge(t, 2) for t in (table, sp.csr_array(table), sp.csr_array(table[order]))]
    assert len({result.strength for result in results}) == 1
    np.testing.assert_allclose(results[0].claims, results[1].claims, atol=1e-8)
    np.testing.assert_allclose(results[0].claims, results[2].claims, atol=1e-8)
