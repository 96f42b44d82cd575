"""Non-symmetric CA: reference numbers, the identities of its metric, and what refuses a response."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import correspondence as co

ORACLE = Path(__file__).parents[1] / "oracle"
SIDES = ("rows", "columns")


def read_oracle(name):
    return pd.read_csv(ORACLE / f"{name}.csv")


def load_table(name):
    return pd.read_csv(ORACLE / f"{name}_table.csv", index_col=0)


def take_axes(frame, prefix, d=3):
    return frame[[f"{prefix}.{i}" for i in range(1, d + 1)]].to_numpy()


def assert_same_up_to_sign(found, expected, rtol=1e-8):
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found * signs, expected, rtol=0, atol=rtol * np.abs(expected).max())


def test_smoke_has_the_numbers_of_r():
    ca = co.CA(response="columns").fit(load_table("smoke"))
    inertia, known = read_oracle("many/smoke_nsca_inertia"), read_oracle("many/smoke_nsca_global").iloc[0]
    np.testing.assert_allclose(ca.pics_, inertia["inertia"], rtol=1e-8)
    np.testing.assert_allclose(ca.decomposition_.inertia_ratios, inertia["share"], rtol=1e-8)
    assert ca.tau_ == pytest.approx(known["tau"], rel=1e-10)
    assert tuple(ca.tau_test_) == pytest.approx((known["C_statistic"], known["df"], known["p.value"]), rel=1e-8)
    for points, name in ((ca.rows_, "rows"), (ca.columns_, "cols")):
        expected = read_oracle(f"many/smoke_nsca_{name}")
        assert points.labels.tolist() == expected["name"].tolist()
        np.testing.assert_allclose(points.mass, expected["mass"], rtol=1e-10)
        for own, theirs in (
            ("standard", "std"),
            ("principal", "principal"),
            ("contributions", "ctr"),
            ("cos2", "cos2"),
        ):
            assert_same_up_to_sign(getattr(points, own), take_axes(expected, theirs))


# ade4::dudi.nsc 1.7-22: eigenvalues J d^2, the first row of l1 and the first row of c1 = sqrt(J) V.
ADE4 = {
    ("housetasks", "columns"): (
        [0.6321928811759187, 0.4662046250842727, 0.0851723987704482],
        [1.59107577616, -0.0705085537279, -0.785163444471],
        [1.5987648660625, 0.0924179794043, -0.65985590861],
    ),
    ("housetasks", "rows"): (
        [0.630388633995900, 0.500758739942546, 0.121514815352403],
        [1.115266476167, -0.586263925035, -0.56492651204],
        [1.61240912965, -0.971962954746, -1.203843189545],
    ),
    ("haireye", "columns"): (
        [0.29765682537077309, 0.01616477559377420, 0.00147045306021942],
        [1.116059528118, 1.523076284754, 0.957147450500],
        [1.34091187349, 1.060263157596, 0.278921824509],
    ),
    ("haireye", "rows"): (
        [0.18402679212681139, 0.01409776938295260, 0.00269794460463723],
        [-1.05377226530, 0.672757015022, -0.357590691324],
        [-0.848333975801, 1.426295215032, -0.495995388162],
    ),
}


@pytest.mark.parametrize(("name", "response"), ADE4)
def test_other_tables_have_the_numbers_of_ade4(name, response):
    eigenvalues, l1, c1 = ADE4[name, response]
    ca = co.CA(response=response).fit(load_table(name))
    predicted, predictor = (ca.rows_, ca.columns_) if response == "rows" else (ca.columns_, ca.rows_)
    J = len(predicted)
    np.testing.assert_allclose(J * ca.pics_, eigenvalues, rtol=1e-10)
    stacked = np.vstack([predictor.standard[0], np.sqrt(J) * predicted.standard[0]])
    assert_same_up_to_sign(stacked, np.array([l1, c1]))


def make_counts(seed, rows, columns):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(1.0, 6.0, (rows, 1)) * rng.dirichlet(np.full(columns, 0.7), rows)) + 0.0
    counts[:, 0] += 1
    counts[0] += 1
    return counts


TABLES = st.builds(make_counts, st.integers(0, 10**6), st.integers(2, 7), st.integers(2, 7))


@given(TABLES, st.sampled_from(SIDES))
@settings(max_examples=40, deadline=None)
def test_identities_of_the_metric(counts, response):
    ca = co.CA(response=response).fit(counts)
    d, P = ca.decomposition_, counts / counts.sum()
    P = P if response == "columns" else P.T
    r, c = P.sum(axis=1), P.sum(axis=0)
    predictor, predicted = (ca.rows_, ca.columns_) if response == "columns" else (ca.columns_, ca.rows_)
    F, V, s = predictor.standard, predicted.standard, d.singular_values
    # p(y | x) = p(y) + sum of s f(x) g(y), and the functions are normalised each in its own metric.
    np.testing.assert_allclose(c + (F * s) @ V.T, P / r[:, None], atol=1e-12)
    np.testing.assert_allclose(d.conditional_probabilities(predictor.labels), P / r[:, None], atol=1e-12)
    is_axis = s > 1e-9
    np.testing.assert_allclose((F.T * r @ F)[np.ix_(is_axis, is_axis)], np.eye(is_axis.sum()), atol=1e-10)
    np.testing.assert_allclose(V.T @ V, np.eye(len(s)), atol=1e-10)
    np.testing.assert_allclose(r @ F, 0, atol=1e-10)
    np.testing.assert_allclose(V.sum(axis=0), 0, atol=1e-10)
    # Only f_i and g_i of the same i go together; correlations_ are theirs.
    np.testing.assert_allclose(F.T @ P @ V, np.diag(s), atol=1e-12)
    centred = V - c @ V
    expected = np.diag(F.T @ P @ centred) / np.sqrt(np.maximum(c @ centred**2, 1e-300))
    np.testing.assert_allclose(ca.correlations_, expected, atol=1e-9)
    # Goodman and Kruskal's tau, from its definition; the inertias of both sides add up to its numerator.
    numerator = (P**2 / r[:, None]).sum() - (c**2).sum()
    assert ca.tau_ == pytest.approx(numerator / (1 - (c**2).sum()), abs=1e-12)
    assert predictor.inertia.sum() == pytest.approx(numerator, abs=1e-12)
    assert predicted.inertia.sum() == pytest.approx(numerator, abs=1e-12)
    np.testing.assert_allclose(predictor.distance, np.linalg.norm(P / r[:, None] - c, axis=1), atol=1e-12)
    for points in (predictor, predicted):
        np.testing.assert_allclose(points.contributions.sum(axis=0)[is_axis], 1, atol=1e-10)
        far = points.distance > 1e-6
        np.testing.assert_allclose(points.cos2.sum(axis=1)[far], 1, atol=1e-8)
    # On the pairs of the fit the share of the Brier score that is saved is tau.
    assert ca.evaluate(counts).tau == pytest.approx(ca.tau_, abs=1e-12)
    # The mean of the other side's standardised functions over the pairs of each label.
    np.testing.assert_allclose(predicted.averages, (P.T @ F) / c[:, None], atol=1e-10)
    means = (P @ centred) / r[:, None]
    np.testing.assert_allclose(predictor.averages[:, is_axis], (means / np.sqrt(c @ centred**2))[:, is_axis], atol=1e-9)


@given(TABLES)
@settings(max_examples=15, deadline=None)
def test_the_transposed_table_exchanges_the_sides(counts):
    a, b = co.CA(response="columns").fit(counts), co.CA(response="rows").fit(counts.T)
    np.testing.assert_allclose(a.pics_, b.pics_, atol=1e-13)
    np.testing.assert_allclose(a.correlations_, b.correlations_, atol=1e-9)
    assert a.tau_test_ == pytest.approx(b.tau_test_)
    np.testing.assert_allclose(a.rows_.distance, b.columns_.distance, atol=1e-12)
    np.testing.assert_allclose(a.rows_.cos2, b.columns_.cos2, atol=1e-7)


def test_without_a_response_nothing_changes():
    table = load_table("housetasks")
    a, b = co.CA().fit(table), co.CA(response=None).fit(table)
    np.testing.assert_array_equal(a.rows_.standard, b.rows_.standard)
    for name in ("tau_", "tau_test_"):
        with pytest.raises(AttributeError, match="response"):
            getattr(a, name)


def test_a_refit_without_the_response_is_symmetric():
    ca = co.CA(response="columns").fit(load_table("smoke")).set_params(response=None).fit(load_table("smoke"))
    assert isinstance(ca.decomposition_, co.Decomposition)
    assert not hasattr(ca, "tau_")
    assert ca.supplementary(columns=load_table("smoke").iloc[:, :1]).labels.tolist() == ["none"]


def test_sparse_and_large_tables_are_the_same():
    rng = np.random.default_rng(0)
    counts = sp.csr_array(np.where(rng.random((300, 120)) < 0.05, rng.integers(1, 9, (300, 120)), 0.0))
    counts = sp.csr_array(counts + sp.eye_array(300, 120, format="csr") + sp.csr_array(np.eye(300, 120, -180)))
    for response in SIDES:
        a, b = (co.CA(3, response=response).fit(t) for t in (counts, counts.toarray()))
        full = co.CA(response=response).fit(counts.toarray())
        for other in (b, full):
            np.testing.assert_allclose(a.pics_, other.pics_[:3], rtol=1e-10)
            assert a.tau_ == pytest.approx(other.tau_, rel=1e-12)
            assert_same_up_to_sign(a.rows_.standard, other.rows_.standard[:, :3], 1e-7)
            np.testing.assert_allclose(a.columns_.distance, other.columns_.distance, atol=1e-10)


def test_pairs_labels_without_counts_and_weights():
    x, y = list("aabbbccca"), list("uvuuvwwwu")
    ca = co.CA(response="columns").fit(x, y)
    table = co.count_pairs(pd.DataFrame({"x": x, "y": y}), "x", "y")
    np.testing.assert_allclose(ca.pics_, co.CA(response="columns").fit(table).pics_)
    weighted = co.CA(response="columns").fit(x, y, sample_weight=[2] * 9)
    assert weighted.tau_ == pytest.approx(ca.tau_)
    with pytest.warns(co.LeftOut, match="zero"):
        padded = co.CA(response="columns").fit(np.pad(table.toarray(), ((0, 1), (0, 1))))
    assert padded.tau_ == pytest.approx(ca.tau_)
    assert np.isnan(padded.columns_.standard[-1]).all()
    assert padded.tau_test_ == pytest.approx(ca.tau_test_)
    assert padded.decomposition_.conditional_probabilities([0])[0, -1] == 0
    np.testing.assert_allclose(padded.columns_.contributions[:-1], ca.columns_.contributions)


@pytest.mark.parametrize("response", ["rows", "columns"])
def test_tau_of_a_table_that_determines_the_response_is_one(response):
    for k in range(2, 9):
        assert 1 - 1e-12 < co.CA(response=response).fit(np.diag(np.arange(1.0, k + 1))).tau_ <= 1


def test_a_table_without_components():
    with pytest.warns(co.FewerComponents):
        ca = co.CA(response="columns").fit([[3.0], [4.0]])
    assert ca.tau_ == 0
    assert ca.tau_test_.pvalue == 1
    independent = co.CA(response="columns").fit(np.outer([1, 2, 3], [4, 5]))
    np.testing.assert_allclose(independent.pics_, 0, atol=1e-12)
    np.testing.assert_allclose(independent.correlations_, 0, atol=1e-12)


def test_expectations_of_the_response():
    ca = co.CA(response="columns").fit(load_table("smoke"))
    values = dict(zip(ca.columns_.labels, [0, 5, 15, 30], strict=True))
    P = load_table("smoke").to_numpy()
    np.testing.assert_allclose(
        ca.decomposition_.conditional_expectation(values, ca.rows_.labels), P @ [0, 5, 15, 30] / P.sum(axis=1)
    )
    one = ca.decomposition_.truncate(1)
    assert one.tau == pytest.approx(ca.tau_)
    np.testing.assert_allclose(one.conditional_probabilities(["SE"]).sum(), 1)


def test_evaluation_on_other_pairs():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, 3000)
    y = np.where(rng.random(3000) < 0.5, x, rng.integers(0, 4, 3000))
    train, test = slice(0, 1500), slice(1500, None)
    ca = co.CA(response="columns").fit(x[train], y[train])
    held = ca.evaluate(x[test], y[test])
    # The Brier scores themselves.
    probabilities, labels = ca.decomposition_.conditional_probabilities(x[test]), ca.columns_.labels
    wanted = (y[test][:, None] == labels).astype(float)
    score, base = ((wanted - probabilities) ** 2).sum(axis=1), ((wanted - ca.columns_.mass) ** 2).sum(axis=1)
    assert held.tau == pytest.approx(1 - score.sum() / base.sum(), rel=1e-10)
    assert held.tau_interval[0] < 0.25 < held.tau_interval[1]  # half of the pairs agree: (1/2)^2
    assert ca.score(x[test], y[test]) == held.tau
    f, g = ca.transform(x[test], y[test])
    np.testing.assert_allclose(held.correlations[0], np.corrcoef(f[:, 0], g[:, 0])[0, 1], rtol=1e-10)
    noise = co.CA(response="rows").fit(rng.integers(0, 9, 60), rng.integers(0, 9, 60))
    assert noise.evaluate(rng.integers(0, 9, 900), rng.integers(0, 9, 900)).tau < 0 < noise.tau_


def test_an_unknown_label_of_the_response_has_no_probability():
    ca = co.CA(response="columns", handle_unknown="nan").fit(list("aabb"), list("uuvv"))
    assert ca.tau_ == pytest.approx(1)
    held = ca.evaluate(list("aab?"), list("uwvu"))
    # Brier scores 0, 2, 0 and that of the overall .5, .5, against .5, 1.5, .5, .5.
    assert held.tau == pytest.approx(1 - 2.5 / 3)


def test_new_rows_lie_where_their_probabilities_are():
    table = load_table("housetasks")
    ca = co.CA(response="columns").fit(table)
    again = ca.supplementary(rows=table)
    for name in ("standard", "principal", "distance", "chi2_distance", "cos2", "averages"):
        np.testing.assert_allclose(getattr(again, name), getattr(ca.rows_, name), atol=1e-10)
    np.testing.assert_allclose(ca.transform(table), ca.rows_.standard, atol=1e-10)
    np.testing.assert_allclose(ca.transform(["Repairs"]), ca.rows_.standard[ca.rows_.labels == "Repairs"], atol=1e-12)
    sparse = ca.supplementary(rows=co.Table(sp.csr_array(table.to_numpy()), table.index, table.columns))
    np.testing.assert_allclose(sparse.distance, ca.rows_.distance, atol=1e-10)
    flipped = co.CA(response="rows").fit(table.T)
    np.testing.assert_allclose(flipped.supplementary(columns=table.T).distance, ca.rows_.distance, atol=1e-10)
    numbers = ca.supplementary(numbers=np.arange(13.0)).correlations
    np.testing.assert_allclose(numbers**2 <= 1, True)
    assert isinstance(ca.supplementary(categories=list("aaaabbbbccccc")), co.AsymmetricPoints)


def test_the_response_has_no_new_labels():
    table = load_table("housetasks")
    ca, flipped = co.CA(response="columns").fit(table), co.CA(response="rows").fit(table)
    with pytest.raises(ValueError, match=r"columns.*response"):
        ca.supplementary(columns=table.iloc[:, :1])
    with pytest.raises(ValueError, match=r"Y.*response"):
        ca.transform(table, table.iloc[:, :1])
    with pytest.raises(ValueError, match=r"rows.*response"):
        flipped.supplementary(rows=table)
    with pytest.raises(ValueError, match=r"categories.*response"):
        flipped.supplementary(categories=["a"] * 13)
    with pytest.raises(ValueError, match=r"numbers.*response"):
        flipped.supplementary(numbers=np.arange(13.0))


def test_saving(tmp_path):
    ca = co.CA(2, response="rows").fit(load_table("smoke"))
    ca.decomposition_.save(tmp_path / "nsca.safetensors")
    loaded = co.load(tmp_path / "nsca.safetensors")
    assert isinstance(loaded, co.AsymmetricDecomposition)
    assert repr(loaded) == repr(ca.decomposition_)
    np.testing.assert_array_equal(loaded.f(["SE"]), ca.decomposition_.f(["SE"]))
    assert loaded.tau == ca.tau_
    (tmp_path / "text").write_text("no model")
    with pytest.raises(ValueError, match="damaged"):
        co.load(tmp_path / "text")


def test_bootstrap_and_pictures(tmp_path):
    ca = co.CA(response="columns").fit(load_table("housetasks"))
    spread = ca.bootstrap(20, random_state=0)
    assert np.isfinite(spread.row_covariance).all()
    ax = co.plot.plane(ca, ellipses=spread, supplementary=ca.supplementary(rows=[[1, 1, 1, 1]]))
    assert ax.get_xlabel() == f"Axis 1: inertia {ca.pics_[0]:.4f}, 53.4 % of tau"
    caption = next(text.get_text() for text in ax.texts if text.get_gid() == "caption")
    assert "arrows" in caption
    assert "predict" in caption
    assert [t.get_text() for t in co.plot.scree(ca).texts] == ["53.4 %", "39.4 %", "7.2 %"]
    bars = co.plot.contributions(ca).patches
    np.testing.assert_allclose(sorted(p.get_width() for p in bars), 100 * np.sort(ca.columns_.contributions[:, 0]))
    assert co.plot.plane(co.CA(response="rows").fit(load_table("housetasks")), map="symmetric") is not None
    with pytest.raises(ValueError, match=r"map.*masses"):
        co.plot.plane(ca, map="rowgab")
    with pytest.raises(TypeError, match=r"groups.*response"):
        co.plot.plane(ca, groups=list("aaaabbbbccccc"))
    with pytest.raises(ValueError, match=r"ellipses.*bootstrap"):
        co.plot.plane(ca, ellipses="confidence")
    with pytest.raises(TypeError, match="supplementary"):
        co.plot.plane(ca, supplementary=co.CA().fit(load_table("housetasks")).rows_)
    plt.close("all")


def test_describing_the_axes():
    table = load_table("housetasks")
    ca = co.CA(response="columns").fit(table)
    points = co.describe_axes(ca, axes=1).points.to_frame("pandas").set_index("label")
    # The v-test is that of the mean of the other side's function over the pairs of a label.
    n, k = table.to_numpy().sum(), table.loc["Laundry"].sum()
    g = ca.columns_.standard[:, 0]
    overall = ca.columns_.mass @ g
    deviation = np.sqrt(ca.columns_.mass @ (g - overall) ** 2)
    mean = table.loc["Laundry"].to_numpy() @ g / k
    expected = (mean - overall) / deviation / np.sqrt((1 / k) * (n - k) / (n - 1))
    assert points.loc["Laundry", "vtest"] == pytest.approx(expected, rel=1e-10)
    assert points.loc["Wife", "coordinate"] == pytest.approx(ca.columns_.principal[0, 0])


REFUSING = {
    "explore": lambda ca: co.explore(ca, path="nowhere.html"),
    "structure": co.structure,
    "clusters": lambda ca: co.Clusters().fit(ca),
    "axis_tests": co.axis_tests,
    "multiples": lambda ca: co.plot.multiples(ca, ["a"] * 5),
    "index": lambda ca: co.CrossModalIndex(ca.decomposition_, ["none"], ["none"]),
    "crossfit": lambda ca: co.crossfit(clone(ca), load_table("smoke")),
    "permutation_test": lambda ca: co.permutation_test(clone(ca), load_table("smoke")),
    "latent_dimension": lambda ca: co.latent_dimension(clone(ca), load_table("smoke")),
    "pic_intervals": lambda ca: co.pic_intervals(clone(ca), load_table("smoke")),
    "axis_words": lambda ca: co.describe_axes(ca.decomposition_, ["SE"]),
}


@pytest.mark.parametrize("name", REFUSING)
def test_what_is_for_both_variables_alike_refuses_a_response(name):
    ca = co.CA(response="columns").fit(load_table("smoke"))
    with pytest.raises((TypeError, ValueError), match="response"):
        REFUSING[name](ca)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"regularization": 2.0}, "regularization"),
        ({"regularization": "auto"}, "regularization"),
        ({"subset_rows": ["SE", "SC"]}, "subset_rows"),
        ({"subset_columns": ["none"]}, "subset_columns"),
        ({"ordered": ["rows"]}, "ordered"),
        ({"missing": "impute"}, "missing"),
    ],
)
def test_parameters_that_have_no_meaning_with_a_response(options, name):
    with pytest.raises(ValueError, match=f"^{name} must .*response"):
        co.CA(response="columns", **options).fit(load_table("smoke"))


def test_bad_input():
    with pytest.raises(ValueError, match=r"response must be None, \"rows\" or \"columns\", got 'x'"):
        co.CA(response="x").fit(load_table("smoke"))
    with pytest.raises(ValueError, match=r"constraints.*response"):
        co.CA(response="columns").fit(load_table("smoke"), constraints=np.arange(5.0))
    with pytest.raises(ValueError, match="length"):
        co.CA(response="columns").fit(list("aabb"), list("uuvv")).decomposition_.evaluate(["a"], ["u", "v"])
