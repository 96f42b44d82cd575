import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

import correspondence as co

ORACLE = Path(__file__).parents[1] / "oracle"

TIGHT = {"rtol": 1e-10, "atol": 1e-13}


def oracle(name, index_col=0):
    return pd.read_csv(ORACLE / f"{name}.csv", index_col=index_col)


def up_to_sign(actual, expected):
    actual, expected = np.asarray(actual), np.asarray(expected)
    sign = np.sign((actual * expected).sum(axis=0))
    np.testing.assert_allclose(actual * sign, expected, **TIGHT)


# --- reference values computed with R


@pytest.mark.parametrize("name", ["smoke", "haireye", "housetasks"])
def test_r_reference(name):
    ca = co.CA().fit(oracle(f"{name}_table"))
    inertia = oracle(f"{name}_inertia")
    np.testing.assert_allclose(ca.pics_, inertia["inertia_ca"], **TIGHT)
    np.testing.assert_allclose(ca.correlations_, inertia["sv"], **TIGHT)
    np.testing.assert_allclose(100 * ca.decomposition_.inertia_ratios, inertia["pct"], **TIGHT)
    known = oracle(f"{name}_global").iloc[0]
    test = ca.chi2_test_
    np.testing.assert_allclose((test.statistic, test.dof, test.classical_pvalue), known[["chi2", "df", "p"]], **TIGHT)
    assert ca.decomposition_.n == known["n"]
    for points, side in ((ca.rows_, "rows"), (ca.columns_, "cols")):
        expected = oracle(f"{name}_{side}")
        assert points.labels.tolist() == expected.index.tolist()
        np.testing.assert_allclose(points.mass, expected["mass"], **TIGHT)
        np.testing.assert_allclose(points.chi2_distance, expected["chi2dist"], **TIGHT)
        np.testing.assert_allclose(points.inertia, expected["inertia"], **TIGHT)
        up_to_sign(points.principal[:, :2], expected[["principal1", "principal2"]])
        up_to_sign(points.standard[:, :2], expected[["standard1", "standard2"]])
        np.testing.assert_allclose(points.contributions[:, :2], expected[["contrib1", "contrib2"]], **TIGHT)
        np.testing.assert_allclose(points.cos2[:, :2], expected[["cos2_1", "cos2_2"]], **TIGHT)


def test_row_weights_are_those_of_factominer():
    ca = co.CA().fit(oracle("housetasks_table"), row_weights=np.arange(1, 14))
    np.testing.assert_allclose(ca.pics_, oracle("housetasks_roww_1to13_inertia")["eigenvalue"], **TIGHT)
    up_to_sign(ca.rows_.principal[:, :2], oracle("housetasks_roww_1to13_rows"))


def test_supplementary_points_are_those_of_factominer():
    whole = oracle("children_table")
    active = whole.iloc[:14, :5]
    ca = co.CA().fit(active)
    np.testing.assert_allclose(ca.pics_, oracle("children_inertia")["eigenvalue"], **TIGHT)
    rows, columns = ca.supplementary(rows=whole.iloc[14:, :5], columns=whole.iloc[:14, 5:])
    for points, name in ((ca.rows_, "rows"), (ca.columns_, "cols"), (rows, "row_sup"), (columns, "col_sup")):
        expected = oracle(f"children_{name}")
        assert points.labels.tolist() == expected.index.tolist()
        up_to_sign(points.principal[:, :2], expected[["principal.Dim.1", "principal.Dim.2"]])
        np.testing.assert_allclose(points.cos2[:, :2], expected[["cos2.Dim.1", "cos2.Dim.2"]], **TIGHT)
    assert np.isnan(rows.mass).all()
    assert np.isnan(rows.contributions).all()


def test_the_bundled_tables_are_those_of_r():
    for load, name in ((co.datasets.load_smoke, "smoke"), (co.datasets.load_hair_eye, "haireye")):
        np.testing.assert_array_equal(load().counts, oracle(f"{name}_table"))
    np.testing.assert_array_equal(co.datasets.load_housetasks().counts, oracle("housetasks_table"))
    children, whole = co.datasets.load_children(), oracle("children_table")
    np.testing.assert_array_equal(children.table.counts, whole.iloc[:14, :5])
    np.testing.assert_array_equal(children.rows.counts, whole.iloc[14:, :5])
    np.testing.assert_array_equal(children.columns.counts, whole.iloc[:14, 5:])
    assert children.columns.columns.tolist() == list(whole.columns[5:])


# --- identities on any table


@pytest.mark.slow
@given(tables())
def test_inertias_contributions_and_cos2_add_up(counts):
    ca = co.CA().fit(counts)
    total = ca.decomposition_.chi2
    for points in (ca.rows_, ca.columns_):
        assert points.mass.sum() == pytest.approx(1)
        assert points.inertia.sum() == pytest.approx(total, abs=1e-12)
        np.testing.assert_allclose(points.contributions.sum(axis=0), 1, atol=1e-10)
        np.testing.assert_allclose(points.mass * points.chi2_distance**2, points.inertia, atol=1e-12)
        np.testing.assert_allclose((points.principal**2).sum(axis=1), points.chi2_distance**2, atol=1e-10)
        assert np.isfinite(points.cos2).all()
        far = points.chi2_distance > 1e-6
        np.testing.assert_allclose(points.cos2[far].sum(axis=1), 1, atol=1e-6)
    n, (r, c) = counts.sum(), counts.shape
    assert ca.chi2_test_.statistic == pytest.approx(n * total)
    assert ca.chi2_test_.dof == (r - 1) * (c - 1)


@pytest.mark.slow
@given(tables())
def test_transposed_table_exchanges_rows_and_columns(counts):
    a, b = co.CA().fit(counts), co.CA().fit(counts.T)
    np.testing.assert_allclose(a.pics_, b.pics_, atol=1e-12)
    np.testing.assert_allclose(a.rows_.inertia, b.columns_.inertia, atol=1e-12)


@pytest.mark.slow
@given(tables(min_side=3))
def test_new_rows_like_old_ones_lie_where_those_do(counts):
    ca = co.CA().fit(counts)
    strong = ca.correlations_ > 1e-3
    np.testing.assert_allclose(ca.transform(counts)[:, strong], ca.rows_.standard[:, strong], atol=1e-8)
    np.testing.assert_allclose(ca.transform_y(counts)[:, strong], ca.columns_.standard[:, strong], atol=1e-8)
    again = ca.supplementary(rows=3 * counts)
    np.testing.assert_allclose(again.chi2_distance, ca.rows_.chi2_distance, atol=1e-9)
    in_sparse = ca.supplementary(rows=sp.csr_array(counts))
    np.testing.assert_allclose(in_sparse.chi2_distance, again.chi2_distance, atol=1e-7)
    np.testing.assert_allclose(in_sparse.principal, again.principal, atol=1e-9)


@pytest.mark.slow
@given(tables(), st.randoms(use_true_random=False))
def test_same_result_for_every_form_of_the_same_data(counts, random):
    ca = co.CA().fit(counts)
    rows, columns = [f"r{i}" for i in range(counts.shape[0])], [f"c{j}" for j in range(counts.shape[1])]
    frame = pd.DataFrame(counts, index=rows, columns=columns)
    x, y = (np.repeat(index, counts[np.nonzero(counts)].astype(int)) for index in np.nonzero(counts))
    order = random.sample(range(len(x)), len(x))
    others = [
        co.CA().fit(sp.coo_array(counts)),
        co.CA().fit(frame),
        co.CA().fit(pl.DataFrame({"label": rows, **dict(zip(columns, counts.T, strict=True))})),
        co.CA().fit(pa.table({"label": rows, **dict(zip(columns, counts.T, strict=True))})),
        co.CA().fit(x[order], y[order]),
        co.CA().fit(pd.Series(x), pl.Series(y)),
        co.CA().fit(frame.to_numpy().tolist()),
    ]
    distinct = _distinct(ca.pics_)
    for other in others:
        np.testing.assert_allclose(other.pics_, ca.pics_, atol=1e-12)
        np.testing.assert_allclose(other.rows_.standard[:, distinct], ca.rows_.standard[:, distinct], atol=1e-6)
        np.testing.assert_allclose(other.columns_.standard[:, distinct], ca.columns_.standard[:, distinct], atol=1e-6)


@pytest.mark.slow
@given(tables(), st.integers(0, 1000))
def test_shuffled_rows_and_columns_give_the_same_signs(counts, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(counts, columns=[f"c{j}" for j in range(counts.shape[1])])
    frame.index = [f"r{i}" for i in range(counts.shape[0])]
    shuffled = frame.iloc[rng.permutation(len(frame)), rng.permutation(frame.shape[1])]
    a, b = co.CA().fit(frame), co.CA().fit(shuffled)
    distinct = _distinct(a.pics_)
    np.testing.assert_allclose(b.transform(frame.index)[:, distinct], a.rows_.standard[:, distinct], atol=1e-6)
    np.testing.assert_allclose(b.transform_y(frame.columns)[:, distinct], a.columns_.standard[:, distinct], atol=1e-6)


def _distinct(pics, gap=1e-4):
    """Components whose axes are determined: their PIC is not 0 and not shared by another one."""
    apart = np.abs(pics[:, None] - pics) + np.eye(len(pics)) > gap
    return apart.all(axis=1) & (pics > gap)


def test_the_largest_contribution_is_on_the_positive_side():
    for load in (co.datasets.load_smoke, co.datasets.load_housetasks, co.datasets.load_hair_eye):
        columns = co.CA().fit(load()).columns_
        top = columns.contributions.argmax(axis=0)
        assert (columns.standard[top, range(len(top))] > 0).all()


# --- sizes and kinds of tables that break others


def test_counts_of_five_billion_do_not_overflow():
    small = np.array([[1, 2, 3], [4, 5, 5], [9, 8, 1]], dtype=np.int64)
    big = small * 5_000_000_000
    np.testing.assert_allclose(co.CA().fit(big).pics_, co.CA().fit(small).pics_, rtol=1e-12)
    assert co.CA().fit(big).decomposition_.n == float(small.sum()) * 5e9
    assert co.CA().fit(sp.csr_array(big)).chi2_test_.statistic > 0


def test_independent_tables_have_no_inertia_and_no_nan():
    for counts in (np.outer([1, 2, 3], [4, 5, 6, 7]), np.ones((200, 150)), sp.csr_array(np.ones((300, 200)))):
        ca = co.CA(n_components=2).fit(counts)
        np.testing.assert_allclose(ca.pics_, 0, atol=1e-25)
        assert ca.decomposition_.chi2 == pytest.approx(0, abs=1e-25)
        assert ca.chi2_test_.pvalue == pytest.approx(1)
        for points in (ca.rows_, ca.columns_):
            for values in (points.principal, points.standard, points.contributions, points.cos2):
                assert np.isfinite(values).all()
        assert np.isfinite(ca.transform(counts)).all()
        F = ca.rows_.standard
        np.testing.assert_allclose(ca.rows_.mass @ F, 0, atol=1e-12)
        np.testing.assert_allclose((F * ca.rows_.mass[:, None]).T @ F, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("strength", [1e-3, 1e-6, 1e-9])
def test_nearly_independent_tables_keep_their_digits(rng, strength):
    r, c = rng.dirichlet(np.ones(400)), rng.dirichlet(np.ones(300))
    F, G = rng.normal(size=(400, 3)), rng.normal(size=(300, 3))
    P = np.outer(r, c) * (1 + strength * (F - r @ F) * [3, 2, 1] @ (G - c @ G).T / 100)
    ca = co.CA(n_components=3).fit(P)
    np.testing.assert_allclose(ca.correlations_, np.linalg.svd(_residuals(P), compute_uv=False)[:3], rtol=1e-5)
    assert (ca.correlations_ > strength / 100).all()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("sizes", [[(3, 4), (2, 2)], [(40, 60), (70, 50), (30, 30), (30, 30)]])
def test_unconnected_blocks(form, sizes, rng):
    blocks = [rng.poisson(3, size) + 1 for size in sizes]
    blocks[-1] = blocks[-2] if sizes[-1] == sizes[-2] else blocks[-1]  # equal PICs, within and between blocks
    counts = sp.block_diag(blocks).toarray()
    k = len(blocks) + 6 if len(blocks) > 2 else 3
    ca = co.CA(n_components=k).fit(form(counts))
    exact = np.linalg.svd(_residuals(counts), compute_uv=False)[:k] ** 2
    np.testing.assert_allclose(ca.pics_, exact, atol=1e-12)
    np.testing.assert_allclose(ca.pics_[: len(blocks) - 1], 1, atol=1e-12)
    assert ca.pics_[len(blocks) - 1] < 0.99
    F = ca.rows_.standard
    np.testing.assert_allclose(ca.rows_.mass @ F, 0, atol=1e-10)
    np.testing.assert_allclose((F * ca.rows_.mass[:, None]).T @ F, np.eye(k), atol=1e-8)


@pytest.mark.parametrize("bits", [7, 8, 9])
@pytest.mark.parametrize("delta", [0.02, 0.1, 0.25])
def test_equal_pics_are_all_found(bits, delta):
    """Bits through a symmetric channel: one bit each has the correlation 1 - 2 delta, two bits its square."""
    table = np.ones((1, 1))
    for _ in range(bits):
        table = np.kron(table, [[1 - delta, delta], [delta, 1 - delta]])
    for k in (bits - 2, bits, bits + 2):
        expected = ([1 - 2 * delta] * bits + [(1 - 2 * delta) ** 2] * 2)[:k]
        for form in (np.asarray, sp.csr_array):
            np.testing.assert_allclose(co.CA(n_components=k).fit(form(table)).correlations_, expected, atol=1e-8)


def test_what_arpack_overlooks_is_looked_for(rng, monkeypatch):
    """With a solver that misses the first axis in its first run."""
    from correspondence.core import residual_svd

    counts = rng.poisson(5.0, (400, 300)) + 20.0 * np.kron(np.eye(4), np.ones((100, 75)))
    expected = co.CA(n_components=3).fit(counts).pics_
    true_eigsh, calls = residual_svd.eigsh, []

    def forgetful(*args, k, **options):
        calls.append(k)
        values, vectors = true_eigsh(*args, k=k + 1 if len(calls) == 1 else k, **options)
        return (values[:-1], vectors[:, :-1]) if len(calls) == 1 else (values, vectors)

    monkeypatch.setattr(residual_svd, "eigsh", forgetful)
    np.testing.assert_allclose(co.CA(n_components=3).fit(counts).pics_, expected, rtol=1e-9)
    assert len(calls) > 2


def test_perfect_association():
    ca = co.CA(n_components=5).fit(sp.eye_array(2000))
    np.testing.assert_allclose(ca.pics_, 1, atol=1e-10)
    assert ca.decomposition_.chi2 == pytest.approx(1999)


def _residuals(counts):
    P = counts / counts.sum()
    expected = np.outer(P.sum(1), P.sum(0))
    return (P - expected) / np.sqrt(expected)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_flat_spectrum_is_exact(form, rng):
    counts = rng.poisson(0.5, (600, 600))
    ca = co.CA(n_components=5).fit(form(counts))
    _, s, Vt = np.linalg.svd(_residuals(counts))
    np.testing.assert_allclose(ca.pics_, s[:5] ** 2, rtol=1e-8)
    axes = ca.columns_.standard * np.sqrt(ca.columns_.mass)[:, None]
    assert (np.abs(np.einsum("ki,ik->k", Vt[:5], axes)) > 0.999).all()


def test_an_iteration_that_stops_early_says_so(rng, monkeypatch):
    from correspondence.core import residual_svd

    monkeypatch.setattr(
        residual_svd, "eigsh", lambda *a, k, **kw: (np.zeros(k), np.linalg.qr(rng.normal(size=(300, k)))[0])
    )
    counts = rng.poisson(2.0, (400, 300))
    exact = co.CA(n_components=3).fit(counts)  # small enough to start again with LAPACK
    np.testing.assert_allclose(exact.pics_, np.linalg.svd(_residuals(counts), compute_uv=False)[:3] ** 2)
    monkeypatch.setattr(residual_svd, "MAX_CELLS_FOR_LAPACK", 0)
    with pytest.warns(co.Inexact, match="not exact"):
        co.CA(n_components=3).fit(counts)


def test_wide_tall_and_rank_deficient_sparse_tables(rng):
    base = rng.poisson(1.0, (400, 3)) + 1
    counts = np.hstack([base] * 100)  # 300 columns, 2 components
    for table in (counts, counts.T):
        ca = co.CA(n_components=5).fit(sp.csr_array(table))
        np.testing.assert_allclose(ca.pics_[:2], co.CA().fit(base).pics_, rtol=1e-10)
        np.testing.assert_allclose(ca.pics_[2:], 0, atol=1e-12)
        F = ca.columns_.standard
        np.testing.assert_allclose((F * ca.columns_.mass[:, None]).T @ F, np.eye(5), atol=1e-8)


def test_large_tables_keep_ten_components_unless_told(rng):
    counts = (
        sp.random_array((1500, 1200), density=0.02, rng=rng)
        + sp.eye_array(1500, 1200)
        + sp.eye_array(1500, 1200, k=-300)
    )
    assert len(co.CA().fit(counts).pics_) == 10
    assert co.CA().fit(counts).decomposition_.chi2 > co.CA().fit(counts).pics_.sum()


# --- subsets, weights


def test_subset_keeps_the_margins_of_the_whole():
    table = oracle("housetasks_table")
    rows, columns = ["Laundry", "Repairs", "Driving", "Finances"], ["Wife", "Husband", "Jointly"]
    ca = co.CA(subset_rows=rows, subset_columns=columns).fit(table)
    Q = pd.DataFrame(_residuals(table.to_numpy()), table.index, table.columns).loc[table.index.isin(rows), columns]
    np.testing.assert_allclose(ca.pics_, np.linalg.svd(Q, compute_uv=False) ** 2, **TIGHT)
    assert ca.rows_.labels.tolist() == ["Laundry", "Driving", "Finances", "Repairs"]
    assert ca.decomposition_.chi2 == pytest.approx((Q**2).to_numpy().sum())
    np.testing.assert_allclose(ca.rows_.inertia, (Q**2).sum(axis=1), **TIGHT)
    whole = co.CA().fit(table)
    np.testing.assert_allclose(ca.rows_.mass, whole.rows_.mass[[0, 8, 9, 11]])
    assert ca.chi2_test_ == pytest.approx(whole.chi2_test_)
    np.testing.assert_allclose(ca.transform(table.loc[ca.rows_.labels]), ca.rows_.standard, atol=1e-9)
    np.testing.assert_allclose(ca.transform_y(table[columns]), ca.columns_.standard, atol=1e-9)


def test_subsets_share_out_the_inertia():
    table = oracle("housetasks_table")
    parts = [co.CA(subset_rows=table.index[i]).fit(table).decomposition_.chi2 for i in (slice(5), slice(5, None))]
    assert sum(parts) == pytest.approx(co.CA().fit(table).decomposition_.chi2)


def test_a_sparse_subset_is_iterated_as_a_dense_one(rng):
    counts = sp.random_array((600, 500), density=0.05, rng=rng, data_sampler=lambda size: rng.integers(1, 9, size))
    counts = sp.csr_array(counts + sp.eye_array(600, 500) + sp.eye_array(600, 500, k=-100))
    part = {"subset_rows": range(50, 400), "subset_columns": range(100, 450), "n_components": 5}
    sparse, dense = co.CA(**part).fit(counts), co.CA(**part).fit(counts.toarray())
    np.testing.assert_allclose(sparse.pics_, dense.pics_, rtol=1e-10)
    np.testing.assert_allclose(sparse.rows_.standard, dense.rows_.standard, atol=1e-7)
    np.testing.assert_allclose(sparse.columns_.inertia, dense.columns_.inertia, rtol=1e-10)


def test_a_mask_is_not_a_subset():
    with pytest.raises(ValueError, match=r"subset_rows must .*mask"):
        co.CA(subset_rows=[True, False]).fit(GOOD)


def test_a_fit_that_fails_leaves_everything_as_it_was():
    ca = co.CA().fit(oracle("housetasks_table"))
    before = ca.rows_, ca.table_, ca.n_features_in_
    ca.set_params(subset_rows=["nobody"])
    with pytest.raises(ValueError, match=r"subset_rows must .*nobody"):
        ca.fit(["a", "b"], [1, 2])
    assert (ca.rows_, ca.table_, ca.n_features_in_) == before
    assert ca.subset_rows == ["nobody"]
    assert ca.transform(oracle("housetasks_table")).shape == (13, 3)


def test_unknown_and_empty_subsets():
    with pytest.raises(ValueError, match=r"subset_rows must .*Ironing"):
        co.CA(subset_rows=["Ironing"]).fit(oracle("housetasks_table"))
    with pytest.raises(ValueError, match=r"subset_columns must .*count"):
        co.CA(subset_columns=[]).fit(oracle("housetasks_table"))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_weights_multiply_rows_and_columns(form, rng):
    counts, r, c = rng.poisson(5, (6, 4)) + 1, rng.random(6), rng.random(4)
    weighted = co.CA().fit(form(counts), row_weights=r, column_weights=c)
    direct = co.CA().fit(counts * r[:, None] * c)
    np.testing.assert_allclose(weighted.pics_, direct.pics_)
    np.testing.assert_allclose(weighted.transform(form(counts)), weighted.rows_.standard, atol=1e-8)
    np.testing.assert_allclose(weighted.transform_y(form(counts)), weighted.columns_.standard, atol=1e-8)


def test_sample_weights_are_repetitions(rng):
    x, y, w = rng.integers(0, 4, 99), rng.integers(0, 3, 99), rng.integers(1, 4, 99)
    np.testing.assert_allclose(
        co.CA().fit(x, y, sample_weight=w).pics_, co.CA().fit(np.repeat(x, w), np.repeat(y, w)).pics_
    )


# --- labels


def test_labels_of_any_type():
    values = [("a", 1), ("b", 2), ("a", 1), None]
    assert set(co.CA().fit(values, [1, 2, 1, 2]).rows_.labels) == {("a", 1), ("b", 2), "(missing)"}
    ca = co.CA().fit([*values[:3], "x"], [1, 2.5, "y", True])
    assert set(ca.rows_.labels) == {("a", 1), ("b", 2), "x"}
    assert ca.transform([("b", 2)]).shape == (1, 2)


def test_unseen_labels():
    ca = co.CA().fit(["a", "b", "a"], ["u", "v", "v"])
    with pytest.raises(ValueError, match="label 'c' is not"):
        ca.transform(["a", "c"])
    ca = co.CA(handle_unknown="nan").fit(["a", "b", "a"], ["u", "v", "v"])
    assert np.isnan(ca.transform(["a", "c"])).tolist() == [[False], [True]]
    assert np.isfinite(ca.score(["a", "c", "b"], ["u", "u", "v"]))


def test_frames_are_matched_by_name():
    table = oracle("housetasks_table")
    ca = co.CA().fit(table)
    mixed = table[["Jointly", "Wife", "Alternating", "Husband"]]
    np.testing.assert_allclose(ca.transform(mixed), ca.rows_.standard, atol=1e-9)
    np.testing.assert_allclose(ca.transform_y(table[::-1]), ca.columns_.standard, atol=1e-9)
    with pytest.raises(ValueError, match=r"X must .*lacks Wife"):
        ca.transform(mixed.drop(columns="Wife"))
    with pytest.raises(ValueError, match=r"X must have only .*Dog"):
        ca.transform(mixed.assign(Dog=1))
    with pytest.raises(ValueError, match=r"columns must .*lacks Laundry"):
        ca.supplementary(columns=table[1:])


# --- held out


def test_evaluate_on_pairs_and_on_a_table_agree(rng):
    x, y = rng.integers(0, 5, 400), rng.integers(0, 4, 400)
    y = np.where(rng.random(400) < 0.5, x % 4, y)
    ca = co.CA().fit(x[:300], y[:300])
    on_pairs = ca.evaluate(x[300:], y[300:])
    on_table = ca.evaluate(co.count_pairs(np.column_stack([x[300:], y[300:]]), 0, 1))
    np.testing.assert_allclose(on_pairs.correlations, on_table.correlations)
    np.testing.assert_allclose(on_pairs.intervals, on_table.intervals)
    assert on_pairs.captured == pytest.approx(on_table.captured) == pytest.approx(ca.score(x[300:], y[300:]))
    assert on_pairs.n == on_table.n == 100


def test_evaluate_on_a_table_goes_by_its_labels():
    fitted = co.CA(handle_unknown="nan").fit([0, 1, 2, 4] * 5, [0, 1, 1, 2] * 5)
    table = co.Table([[1, 2], [3, 0]], rows=[4, 3], columns=[2, 0])
    x, y = [4] * 3 + [3] * 3, [2, 0, 0, 2, 2, 2]
    assert fitted.score(table) == pytest.approx(fitted.score(x, y))
    with pytest.raises(ValueError, match="label 3 is not"):
        co.CA().fit([0, 1, 2, 4], [0, 1, 1, 2]).score(table)
    with pytest.raises(ValueError, match="X must have the shape"):
        co.CA().fit(GOOD).score([[1, 2], [3, 4]])


@pytest.mark.slow
@given(tables())
def test_on_its_own_data_it_captures_everything(counts):
    ca = co.CA().fit(counts)
    own = ca.evaluate(np.asarray(counts) / np.sum(counts))  # shares of a population
    assert own.captured == pytest.approx(ca.decomposition_.chi2, abs=1e-10)
    np.testing.assert_allclose(own.correlations, ca.correlations_, atol=1e-7)


# --- bad input


GOOD = [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1, -2], [3, 4]], "X must .*-2"),
        (sp.csr_array([[1, -2], [3, 4]]), "X must .*-2"),
        ([[1, np.nan], [3, 4]], "contains NaN"),
        (pd.DataFrame({"a": [1, None], "b": [3, 4]}), "contains NaN"),
        (pl.DataFrame({"a": [1, None], "b": [3, 4]}), "contains NaN"),
        ([[1, np.inf], [3, 4]], "contains infinity"),
        (np.empty((0, 3)), "is empty"),
        (np.empty((3, 0)), "is empty"),
        (pd.DataFrame(), "is empty"),
        (np.zeros((3, 3)), "only zeros"),
        (sp.csr_array((3, 3)), "only zeros"),
        ([1, 2, 3], "X must be a two-dimensional table"),
        (np.ones((2, 2, 2)), "X must be a two-dimensional table"),
        ([["a", "b"], ["c", "d"]], "X must hold counts"),
        (pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]}), "X must hold counts"),
        (pl.DataFrame({"n": [1, 2], "b": ["u", "v"]}), "column 'b' is String"),
        (np.array([[1 + 1j, 2], [3, 4]]), "X must hold counts"),
        ([[1, 2], [3]], "X has rows"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "X has a column more than once.*'a'"),
        (pd.DataFrame([[1, 2], [3, 4]], index=["a", "a"]), "rows have .*more than once"),
        (None, "X must be a two-dimensional table"),
    ],
)
def test_bad_tables(counts, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        co.CA().fit(counts)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2, 3], [1, 2], "x and y must have the same length"),
        ([], [], "empty"),
        (["a", None], ["u", "v"], "X has missing"),
        ([1.0, np.nan], ["u", "v"], "X has missing"),
        (pd.Series(["a", pd.NA]), ["u", "v"], "X has missing"),
        (["a", "b"], np.ones((2, 2)), "y must be one column"),
    ],
)
def test_bad_pairs(x, y, message):
    with pytest.raises(ValueError, match=message):
        co.CA(missing="error").fit(x, y)


def test_labels_that_cannot_be_hashed():
    with pytest.raises(TypeError, match="cannot be hashed"):
        co.CA().fit([{"a": 1}, {"b": 2}], [1, 2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"row_weights": [1]}, "row_weights must"),
        ({"column_weights": [1, -1, 1]}, "column_weights must"),
        ({"row_weights": [0, 0]}, "row_weights must .*zero"),
        ({"sample_weight": [1, 1], "row_weights": [1, 1]}, "sample_weight must"),
        ({"sample_weight": [1, 1, 1]}, "row_weights must"),
    ],
)
def test_bad_weights(arguments, message):
    with pytest.raises(ValueError, match=message):
        co.CA().fit(GOOD, **arguments)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": -1}, "n_components must"),
        ({"n_components": 1.5}, "n_components must"),
        ({"n_components": "two"}, "n_components must"),
        ({"handle_unknown": "ignore"}, "handle_unknown must"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        co.CA(**parameters).fit(GOOD)


@pytest.mark.parametrize("counts", [[[1, 2, 3]], [[1], [2], [3]], [[7]]])
def test_one_row_or_column_has_no_components(counts):
    with pytest.warns(co.FewerComponents, match="one row"):
        ca = co.CA(n_components=2).fit(counts)
    assert ca.pics_.shape == (0,)
    assert ca.decomposition_.chi2 == pytest.approx(0)
    assert ca.chi2_test_.pvalue == 1
    assert ca.rows_.principal.shape == (len(counts), 0)
    assert ca.transform(counts).shape == (len(counts), 0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_zero_rows_and_columns_are_named_and_lie_at_nan(form):
    counts = np.array([[5, 0, 2, 1], [0, 0, 0, 0], [1, 0, 4, 2], [2, 0, 1, 9]])
    with pytest.warns(co.LeftOut, match="zero: rows 1; columns 1") as caught:
        ca = co.CA().fit(form(counts))
    assert len(caught) == 1
    inner = co.CA().fit(np.delete(np.delete(counts, 1, 0), 1, 1))
    np.testing.assert_allclose(ca.pics_, inner.pics_)
    np.testing.assert_allclose(np.delete(ca.rows_.principal, 1, 0), inner.rows_.principal, atol=1e-12)
    for points in (ca.rows_, ca.columns_):
        assert np.isnan(points.principal[1]).all()
        assert np.isnan(points.cos2[1]).all()
        assert points.mass[1] == 0
    assert np.isnan(ca.transform([0, 1])).any(axis=1).tolist() == [False, True]
    assert ca.chi2_test_.dof == 4
    assert np.isfinite(ca.decomposition_.conditional_expectation(np.arange(4), [0, 2, 3])).all()
    assert ca.score(counts / counts.sum()) == pytest.approx(ca.decomposition_.chi2)


def test_names_of_many_zero_rows_are_cut_short():
    counts = np.zeros((50, 3))
    counts[:2] = [[1, 2, 3], [3, 2, 1]]
    with pytest.warns(co.LeftOut, match=r"rows 2, 3, .* and 38 more"):
        co.CA().fit(counts)


def test_too_many_components_are_clipped():
    with pytest.warns(co.FewerComponents, match="n_components=5"):
        assert len(co.CA(n_components=5).fit(GOOD).pics_) == 1


def test_empty_supplementary_rows_lie_at_nan():
    ca = co.CA().fit(GOOD)
    with pytest.warns(co.LeftOut, match=r"rows: .*NaN: 1"):
        points = ca.supplementary(rows=[[1, 2, 3], [0, 0, 0]])
    assert np.isnan(points.principal[:, 0]).tolist() == [False, True]
    assert np.isnan(points.cos2[:, 0]).tolist() == [False, True]
    with pytest.warns(co.LeftOut, match="NaN"):
        assert np.isnan(ca.supplementary(rows=np.zeros((1, 3))).principal).all()


def test_bad_supplementary_points():
    ca = co.CA().fit(GOOD)
    with pytest.raises(ValueError, match=r"rows, columns.* must"):
        ca.supplementary()
    with pytest.raises(ValueError, match="rows must have the 3 columns"):
        ca.supplementary(rows=[[1, 2]])
    with pytest.raises(ValueError, match="columns must have the 2 rows"):
        ca.supplementary(columns=[[1], [2], [3]])
    with pytest.raises(ValueError, match=r"must .*at least 0"):
        ca.supplementary(rows=[[1, -2, 3]])


def test_a_target_beside_a_table_is_ignored_aloud():
    with pytest.warns(co.LeftOut, match="Y is ignored"):
        ca = co.CA().fit(GOOD, [0, 1])
    assert ca.pics_ == pytest.approx(co.CA().fit(GOOD).pics_)


def test_a_good_fit_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        co.CA(n_components=2).fit(co.datasets.load_smoke()).bootstrap(3, random_state=0)


# --- frames out


@pytest.mark.parametrize("backend", [None, "pandas", "polars", "pyarrow"])
def test_points_to_frame(backend):
    frame = co.CA(n_components=2).fit(co.datasets.load_smoke()).rows_.to_frame(backend)
    kind = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}[backend or "pandas"]
    assert isinstance(frame, kind)
    columns = list(frame.columns if backend != "pyarrow" else frame.column_names)
    assert columns[:4] == ["label", "mass", "chi2_distance", "inertia"]
    assert columns[-2:] == ["cos2_1", "cos2_2"]


def test_points_to_a_frame_that_is_not_installed(monkeypatch):
    def missing(*args, **kwargs):
        raise ImportError

    monkeypatch.setattr("narwhals.from_dict", missing)
    with pytest.raises(ImportError, match="pip install"):
        co.CA().fit(GOOD).rows_.to_frame("polars")


@pytest.mark.parametrize("isolated", [1, 3, 40])
@pytest.mark.parametrize("is_transposed", [False, True])
def test_pairs_of_labels_that_have_no_other_partner(isolated, is_transposed, rng):
    """Each is an axis of inertia 1 of its own: those are told from the table, the others iterated."""
    crowd = rng.poisson(0.05, size=(400, 160)) + np.eye(400, 160) * rng.poisson(1, 400)[:, None]
    crowd = crowd[crowd.sum(axis=1) > 0][:, crowd.sum(axis=0) > 0]
    table = sp.csr_array(sp.block_diag([crowd, sp.diags_array(rng.integers(1, 9, isolated).astype(float))]))
    table = sp.csr_array(table[rng.permutation(table.shape[0])])
    ca = co.CA(n_components=10).fit(table.T if is_transposed else table)
    P = table.toarray() / table.sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    expected = np.linalg.svd((P - np.outer(r, c)) / np.sqrt(np.outer(r, c)), compute_uv=False)[:10]
    np.testing.assert_allclose(ca.correlations_, expected, atol=1e-12)
    assert (ca.correlations_ > 1 - 1e-9).sum() >= min(isolated, 10)
    for points in (ca.rows_, ca.columns_):
        gram = points.standard.T @ (points.standard * points.mass[:, None])
        np.testing.assert_allclose(gram, np.eye(10), atol=1e-9)
        np.testing.assert_allclose(points.mass @ points.standard, 0, atol=1e-9)
    F, G = ca.rows_.standard, ca.columns_.standard
    joint = (P.T if is_transposed else P)[:, :]
    np.testing.assert_allclose(F.T @ joint @ G, np.diag(ca.correlations_), atol=1e-9)


def test_the_largest_of_unconnected_parts_come_first():
    sizes = np.arange(300, 0, -1)
    ca = co.CA(n_components=3).fit(sp.csr_array(sp.diags_array(sizes.astype(float))))
    np.testing.assert_allclose(ca.pics_, 1)
    assert ca.columns_.contributions.argmax(axis=0).tolist() == [1, 2, 3]
