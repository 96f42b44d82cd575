"""Clusters of any analysis: their interface, their evidence, and input that cannot be clustered."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import correspondence as co
from correspondence.describe.clusters.evidence import find_best_number
from correspondence.describe.clusters.partition import DistinctPoints
from correspondence.describe.clusters.reading import read_points
from correspondence.describe.clusters.references import AnswersOfOneCloud, OneModeCloud, choose_reference
from correspondence.describe.clusters.sentences import explain_no_clusters
from correspondence.results.clusters import ClusterAgreement


def draw_groups(seed=0, n=80, d=3, distance=8.0):
    rng = np.random.default_rng(seed)
    corners = distance * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])[:, :d]
    return np.repeat(corners, n // 4, axis=0) + rng.normal(size=(n, d))


def fit_numbers(X, **options):
    return co.MixedCA(n_components=X.shape[1], standardize=False).fit(X, **options)


@pytest.fixture(scope="module")
def groups():
    return fit_numbers(draw_groups())


@pytest.fixture(scope="module")
def found(groups):
    return co.Clusters(n_resamples=20).fit(groups)


def adjusted(a, b):
    from sklearn.metrics import adjusted_rand_score

    return adjusted_rand_score(a, b)


# --- evidence


@pytest.mark.slow
def test_four_clusters_are_found(found):
    assert found.has_clusters_
    assert found.n_clusters_ == 4
    assert adjusted(found.labels_, np.repeat(range(4), 20)) == 1
    assert (found.stability_ > 0.95).all()
    assert found.chance_ < 0.9
    own = found.agreement_.n_clusters == 4
    assert found.agreement_.agreement[own] > 0.95
    assert "4 clusters" in found.write_summary()
    assert "no clusters" not in found.write_summary()


@pytest.mark.slow
def test_noise_has_no_clusters():
    differences = []
    for seed in range(3):
        est = fit_numbers(np.random.default_rng(seed).normal(size=(100, 5)))
        with pytest.warns(co.NothingFound, match="clusters"):
            clusters = co.Clusters(n_resamples=20, random_state=seed).fit(est)
        assert not clusters.has_clusters_
        assert "one cloud" in clusters.write_summary()
        gain = co.Clusters("gain", n_resamples=0).fit(est)
        np.testing.assert_array_equal(clusters.labels_, gain.labels_)
        differences.append(clusters.stability_.mean() - clusters.chance_)
    assert abs(np.mean(differences)) < 0.05


@pytest.mark.slow
def test_answers_that_are_independent_have_no_clusters():
    answers = np.random.default_rng(0).integers(3, size=(120, 8)).astype(str)
    clusters = co.Clusters(3, n_resamples=20).fit(co.MCA(n_components=3).fit(answers))
    assert not clusters.has_clusters_
    assert abs(clusters.stability_.mean() - clusters.chance_) < 0.15  # one table; benchmarks/clusters.py has the mean


@pytest.mark.slow
def test_two_clusters_of_which_one_is_small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    X[:10] = [15, 0] + 0.5 * rng.normal(size=(10, 2))
    clusters = co.Clusters(n_resamples=10).fit(fit_numbers(X))
    assert clusters.n_clusters_ == 2
    assert sorted(clusters.sizes_) == [10, 190]


@pytest.mark.slow
def test_classes_of_answers_are_found():
    rng = np.random.default_rng(0)
    hidden = rng.integers(3, size=100)
    own = np.where(rng.random((100, 9)) < 0.85, hidden[:, None], rng.integers(3, size=(100, 9)))
    clusters = co.Clusters(n_resamples=10).fit(co.MCA(n_components=2).fit(own.astype(str)))
    assert clusters.n_clusters_ == 3
    assert adjusted(clusters.labels_, hidden) > 0.9


def test_clouds_without_clusters_have_the_moments_of_the_data(groups):
    points = groups.rows_.principal
    cloud = OneModeCloud.from_points(points, np.ones(len(points)))
    drawn = cloud.draw_points(5000, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.mean(axis=0), points.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(np.cov(drawn.T, bias=True), np.cov(points.T, bias=True), atol=1e-8)


def test_answers_without_clusters_have_the_inertias_of_the_data():
    trait = np.random.default_rng(0).normal(size=(2000, 1)) + np.random.default_rng(1).normal(size=(2000, 6))
    mca = co.MCA(n_components=1).fit((trait > 0).astype(str))
    points = read_points(mca, None, None, None, None)
    cloud = choose_reference(mca, "x", points, points.find_usable())
    assert isinstance(cloud, AnswersOfOneCloud)
    drawn = cloud.draw_points(2000, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(drawn.var(axis=0), mca.pics_)
    assert len(DistinctPoints.from_rows(drawn, np.ones(2000)).points) <= 2**6  # no other answers than in the data


def test_ties_go_to_the_larger_number():
    chance, error = np.array([0.6, 0.5, 0.4]), np.full(3, 0.01)
    few = np.full(3, 0.05)
    numbers = np.array([2, 3, 4])
    assert find_best_number(ClusterAgreement(numbers, np.array([1.0, 0.99, 0.5]), chance, error, few)) == 3
    assert find_best_number(ClusterAgreement(numbers, np.array([1.0, 0.8, 0.5]), chance, error, few)) == 2
    assert find_best_number(ClusterAgreement(numbers, np.array([0.7, 0.7, 0.5]), chance, error, few)) is None
    assert find_best_number(ClusterAgreement(numbers, np.array([1.0, 1.0, 1.0]), chance, error, 10 * few)) is None


# --- interface


def test_predict_agrees_with_the_labels(groups, found):
    X = draw_groups()
    np.testing.assert_array_equal(found.predict(X), found.labels_)
    assert adjusted(found.predict(draw_groups(seed=1)), np.repeat(range(4), 20)) == 1


@pytest.mark.slow
def test_same_seed_same_result(groups, found):
    again = co.Clusters(n_resamples=20).fit(groups)
    np.testing.assert_array_equal(again.stability_, found.stability_)
    assert again.chance_ == found.chance_


def test_conventions(groups, found):
    parameters = found.get_params()
    assert clone(found).get_params() == parameters
    assert co.Clusters(4, n_resamples=0).fit_predict(groups).tolist() == found.labels_.tolist()
    assert "4 clusters" in repr(found)
    with pytest.raises(NotFittedError):
        co.Clusters().predict([[1, 2, 3]])
    frame = found.to_frame("polars")
    assert frame.columns == ["label", "cluster", "distance"]
    members = found.paragons_.to_frame("polars").filter(pl.col("rank") == 1)
    for cluster, position in zip(members["cluster"], members["position"], strict=True):
        own = frame.filter(pl.col("cluster") == cluster)["distance"]
        assert frame["distance"][position] == own.min()


def test_describe(groups, found):
    frame = pl.DataFrame(draw_groups(), schema=["a", "b", "c"])
    sentences = found.describe(frame).write_sentences()
    assert len(sentences) == 4
    assert "cluster 1" in sentences[0]
    with pytest.raises(ValueError, match="frame"):
        found.describe(frame[:50])


@given(seed=st.integers(0, 10**6), k=st.integers(2, 5))
@settings(max_examples=10)
def test_weights_are_repetitions(seed, k):
    """A whole weight is a repetition for the tree, and for k-means when the rows are repeated."""
    rng = np.random.default_rng(seed)
    X, times = rng.normal(size=(20, 2)), rng.integers(1, 4, 20)
    rows = np.repeat(np.arange(20), times)
    options = {"consolidate": False, "n_resamples": 0}
    weighted = co.Clusters(k, **options).fit(fit_numbers(X, sample_weight=times))
    repeated = co.Clusters(k, **options).fit(fit_numbers(X[rows]))
    assert adjusted(weighted.labels_[rows], repeated.labels_) == 1
    assert weighted.total_inertia_ == pytest.approx(repeated.total_inertia_)
    m = len(weighted.inertia_gains_)
    np.testing.assert_allclose(weighted.inertia_gains_, repeated.inertia_gains_[:m], atol=1e-9)


@given(seed=st.integers(0, 10**6))
def test_equal_rows_are_gathered(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(30, 2)) / 7
    data = DistinctPoints.from_rows(X, np.ones(30))
    assert len(data.points) == len(np.unique(X, axis=0))
    np.testing.assert_array_equal(data.points[data.owner], X)
    assert data.counts.sum() == 30


@pytest.mark.parametrize("of", ["rows", "columns", "x", "y"])
def test_sides_of_a_table(of):
    ca = co.CA(n_components=2).fit(co.datasets.load_housetasks())
    clusters = co.Clusters(2, of=of, n_resamples=0).fit(ca)
    points = ca.rows_ if of in ("rows", "x") else ca.columns_
    assert len(clusters.labels_) == len(points.labels)
    table = ca.table_.toarray()
    new = table if of in ("rows", "x") else table.T
    np.testing.assert_array_equal(clusters.predict(new if of in ("rows", "x") else table), clusters.labels_)


def test_other_analyses():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2)) + np.repeat([[0, 0], [9, 9]], 30, axis=0)
    for est in (co.CCA(n_components=1).fit(x, x[:, 0]), co.decompose(x, x, method="cca", verbose=False)):
        clusters = co.Clusters(2, n_resamples=0).fit(est, x)
        assert adjusted(clusters.labels_, np.repeat([0, 1], 30)) == 1
        np.testing.assert_array_equal(clusters.predict(x), clusters.labels_)
    with pytest.raises(ValueError, match=r"X must .* given"):
        co.Clusters(2, n_resamples=0).fit(co.CCA(n_components=1).fit(x, x[:, 0]))


def test_answers_of_an_analysis_of_many_columns():
    mca = co.MCA(n_components=2).fit(co.datasets.load_poison()[:, 4:])
    clusters = co.Clusters("gain", of="columns", n_resamples=0).fit(mca)
    assert len(clusters.labels_) == len(mca.columns_)
    with pytest.raises(ValueError, match="X must"):
        clusters.predict(["Fish:no"])


def test_names_of_pandas_rows():
    frame = pd.DataFrame(draw_groups(), index=[f"row {i}" for i in range(80)])
    clusters = co.Clusters(4, n_resamples=0).fit(fit_numbers(draw_groups()), frame)
    assert clusters.to_frame("pandas")["label"][0] == "row 0"


@pytest.mark.slow
def test_many_rows_by_centres():
    X = np.tile(draw_groups(n=2000), (6, 1)) + 0.1 * np.random.default_rng(1).normal(size=(12_000, 3))
    est = fit_numbers(X)
    clusters = co.Clusters(4, max_rows_for_tree=300, n_resamples=0).fit(est)
    assert adjusted(clusters.labels_, np.tile(np.repeat(range(4), 500), 6)) == 1
    assert len(clusters.linkage_) == 199
    assert clusters.within_[3] < 0.2 * clusters.total_inertia_
    tree = co.Clusters(4, max_rows_for_tree=300, consolidate=False, n_resamples=0).fit(est)
    assert adjusted(clusters.labels_, tree.labels_) == 1


# --- what cannot be clustered


@pytest.mark.parametrize("number", [0, 1, -1, 2.5, True, "many", None])
def test_wrong_numbers(groups, number):
    with pytest.raises(ValueError, match="n_clusters must"):
        co.Clusters(number).fit(groups)


def test_more_clusters_than_rows():
    est = fit_numbers(np.array([[0.0, 1], [1, 0], [2, 5]]))
    with pytest.raises(ValueError, match="n_clusters must be at most"):
        co.Clusters(4, n_resamples=0).fit(est)
    assert sorted(co.Clusters(3, n_resamples=0).fit_predict(est)) == [0, 1, 2]
    assert co.Clusters(3).fit(est).has_clusters_ is False


def test_equal_rows():
    ca = co.CA(n_components=1).fit([[10, 2], [3, 8]])
    with pytest.raises(ValueError, match="equal"):
        co.Clusters(2).fit(ca, [[5, 5], [10, 10], [1, 1]])


def test_not_fitted():
    with pytest.raises(NotFittedError):
        co.Clusters().fit(co.MCA())
    with pytest.raises(TypeError, match="est must"):
        co.Clusters().fit(np.ones((5, 2)))


def test_rows_without_a_place():
    with pytest.warns(co.LeftOut):
        ca = co.CA(n_components=2).fit([[10, 2, 1], [3, 8, 2], [0, 0, 0], [1, 2, 9], [10, 3, 1]])
    with pytest.warns(co.LeftOut, match="no cluster"):
        clusters = co.Clusters(2, n_resamples=0).fit(ca)
    assert clusters.labels_[2] == -1
    assert clusters.sizes_.sum() == 4
    assert np.isnan(clusters.to_frame("pandas")["distance"][2])
    with pytest.warns(co.LeftOut):
        assert clusters.predict([[1, 2, 3], [0, 0, 0]])[1] == -1


def test_rows_without_weight_are_assigned_afterwards():
    X = draw_groups()
    weights = np.ones(80)
    weights[::2] = 0
    clusters = co.Clusters(4, n_resamples=0).fit(fit_numbers(X), sample_weight=weights)
    assert adjusted(clusters.labels_, np.repeat(range(4), 20)) == 1
    assert len(clusters.linkage_) == 39


def test_wrong_options(groups):
    for options, name in (({"n_axes": 9}, "n_axes"), ({"of": "z"}, "of"), ({"consolidate": 1}, "consolidate")):
        with pytest.raises(ValueError, match=name):
            co.Clusters(2, **options).fit(groups)
    with pytest.raises(ValueError, match="n_resamples"):
        co.Clusters("auto", n_resamples=0).fit(groups)


def test_a_fit_that_fails_changes_nothing(groups):
    clusters = co.Clusters(3, n_resamples=0).fit(groups)
    before = clusters.labels_.copy()
    with pytest.raises(ValueError, match="n_clusters"):
        clusters.set_params(n_clusters=500).fit(groups)
    np.testing.assert_array_equal(clusters.labels_, before)


@pytest.mark.slow
def test_few_rows_are_said_to_be_too_few():
    ca = co.CA(n_components=2).fit(co.datasets.load_housetasks())
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a number that was given needs no warning
        clusters = co.Clusters(3, n_resamples=10).fit(ca)
    assert "few rows" in clusters.write_summary()


@pytest.mark.slow
def test_the_warning_about_few_rows_claims_no_more_than_the_summary():
    est = fit_numbers(np.random.default_rng(0).normal(size=(19, 3)))
    with pytest.warns(co.NothingFound, match=r"few rows \(19\)") as caught:
        summary = co.Clusters(n_resamples=5).fit(est).write_summary()
    assert "few rows (19)" in summary
    assert "one cloud" not in summary + str(caught[0].message)


@pytest.mark.slow
def test_the_figure_that_decides_is_told_with_yes_and_no(found):
    own = found.agreement_.n_clusters == found.n_clusters_
    assert f"{int(100 * found.agreement_.held_out[own][0])} % of the pairs" in found.write_summary()
    with pytest.warns(co.NothingFound, match="one cloud"):
        none = co.Clusters(n_resamples=5).fit(fit_numbers(np.random.default_rng(0).normal(size=(40, 3))))
    assert f"at best {int(100 * none.agreement_.held_out.max())} % (with" in none.write_summary()
    assert "80 % are needed" in none.write_summary()


@pytest.mark.parametrize(
    ("held_out", "chance", "pvalue", "words"),
    [
        ((0.61, 0.3), (0.6, 0.3), 0.5, ("at best 61 % (with 2 clusters)", "80 % are needed")),
        ((0.97, 0.85), (0.95, 0.8), 0.05, ("at best 97 % (with 2 clusters)", "95 % are in a cloud without clusters")),
        ((0.3, 0.97), (0.4, 0.4), 0.5, ("at best 97 % (with 3 clusters)", "some clouds without clusters")),
    ],
)
def test_why_there_are_no_clusters(held_out, chance, pvalue, words):
    values = [np.array(own) for own in (held_out, chance, (0.0, 0.0), (pvalue, pvalue))]
    agreement = ClusterAgreement(np.array([2, 3]), *values)
    assert find_best_number(agreement) is None
    assert all(part in explain_no_clusters(agreement) for part in words)


def test_tables_that_are_not_in_memory(tmp_path):
    survey = co.datasets.load_poison()[:, 4:]
    survey.write_parquet(tmp_path / "survey.parquet")
    mca = co.MCA(n_components=3).fit(tmp_path / "survey.parquet")
    with pytest.raises(ValueError, match="X must be given"):
        co.Clusters(3, n_resamples=0).fit(mca)
    here = co.Clusters(3, n_resamples=0).fit(co.MCA(n_components=3).fit(survey))
    assert adjusted(co.Clusters(3, n_resamples=0).fit(mca, survey).labels_, here.labels_) == 1


@pytest.mark.slow
def test_more_clusters_than_resamples_have_rows():
    mca = co.MCA(n_components=5).fit(co.datasets.load_poison()[:, 4:])
    clusters = co.Clusters(26, n_resamples=2).fit(mca)
    assert np.isnan(clusters.stability_).all()
    assert "too few different rows" in clusters.write_summary()


# --- more rows than a tree may have, at few places


@pytest.mark.parametrize("n", [40, 400])
@pytest.mark.parametrize("n_answers", [2, 3])
def test_the_rule_of_gains_is_the_same_for_rows_at_few_places(n, n_answers):
    rng = np.random.default_rng(0)
    mca = co.MCA(n_components=2).fit(pd.DataFrame({name: rng.choice(list("abc")[:n_answers], n) for name in "qr"}))
    whole, small = (co.Clusters("gain", n_resamples=0, max_rows_for_tree=size).fit(mca) for size in (n, 10))
    np.testing.assert_array_equal(small.gain_numbers_, whole.gain_numbers_)
    np.testing.assert_allclose(small.quotients_, whole.quotients_, atol=1e-12)
    np.testing.assert_array_equal(small.labels_, whole.labels_)


def test_the_tree_of_centres_has_as_many_leaves_as_gains():
    found = co.Clusters("gain", n_resamples=0, max_rows_for_tree=10).fit(fit_numbers(draw_groups()))
    assert found.gain_numbers_.max() <= 10
    assert found.n_clusters_ == 4


def test_there_are_more_centres_than_clusters():
    numbers = fit_numbers(np.random.default_rng(0).normal(size=(700, 2)))
    found = co.Clusters(250, n_resamples=0, max_rows_for_tree=600).fit(numbers)
    assert found.sizes_.min() >= 1
    assert found.sizes_.sum() == 700
    assert np.isfinite(found.centers_).all()
    with pytest.raises(ValueError, match=r"n_clusters .* leaves"):
        co.Clusters(250, n_resamples=0, max_rows_for_tree=100).fit(numbers)
