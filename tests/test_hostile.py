"""Inputs that once gave a wrong number, a foreign error or a hang."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import correspondence as co

D = np.array([[3, 1, 2], [0, 2, 5], [4, 4, 1]])


# --- numbers


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool, np.int16, np.float32])
def test_duplicate_cells_of_small_types_do_not_overflow(dtype):
    rows, columns = np.repeat([0, 0, 1, 1], [300, 100, 100, 300]), np.repeat([0, 1, 0, 1], [300, 100, 100, 300])
    many = sp.coo_array((np.ones(800, dtype), (rows, columns)), shape=(2, 2))
    assert co.CA().fit(many).table_.toarray().tolist() == [[300, 100], [100, 300]]
    assert co.Table(many, ["a", "b"], ["c", "d"]).toarray().tolist() == [[300, 100], [100, 300]]


@pytest.mark.parametrize("format", ["coo", "csr", "csc", "bsr", "dia", "lil", "dok"])
def test_every_sparse_format(format):
    for table in (sp.coo_array(D).asformat(format), sp.coo_matrix(D).asformat(format)):
        np.testing.assert_allclose(co.CA().fit(table).pics_, co.CA().fit(D).pics_)


def test_sparse_cells_that_are_stored_zeros_or_unsorted():
    stored = sp.csr_array(
        (np.array([2, 3, 1, 5.0, 0, 2, 4, 4, 1]), [2, 0, 1, 2, 0, 1, 0, 1, 2], [0, 3, 6, 9]), shape=(3, 3)
    )
    before = stored.data.copy()
    np.testing.assert_allclose(co.CA().fit(stored).pics_, co.CA().fit(D).pics_)
    np.testing.assert_array_equal(stored.data, before)


@pytest.mark.parametrize("size", [1e4, 1e6, 1e8])
def test_sparse_rows_near_the_centre_keep_their_digits(rng, size):
    counts = np.zeros((200, 100))
    counts[0] = size
    counts[np.arange(1, 200), rng.integers(0, 100, 199)] = 1
    dense, sparse = co.CA().fit(counts), co.CA().fit(sp.csr_array(counts))
    assert not isinstance(sparse.table_.counts, np.ndarray)
    for a, b in ((dense.rows_, sparse.rows_), (dense.columns_, sparse.columns_)):
        np.testing.assert_allclose(b.inertia, a.inertia, rtol=1e-9, atol=1e-17)
        np.testing.assert_allclose(b.cos2.sum(axis=1), 1, rtol=1e-6)
    turned = co.CA().fit(sp.csr_array(counts.T))
    np.testing.assert_allclose(turned.columns_.inertia, dense.rows_.inertia, rtol=1e-9, atol=1e-17)
    new = np.vstack([counts.sum(axis=0) + np.eye(100)[0], np.eye(100)[1]])
    np.testing.assert_allclose(
        sparse.supplementary(rows=sp.csr_array(new)).chi2_distance,
        dense.supplementary(rows=new).chi2_distance,
        rtol=1e-6,
    )


def test_a_row_at_the_centre_has_no_cos2(rng):
    for _ in range(20):
        counts = rng.poisson(5, (6, 5)) + 1.0
        ca = co.CA().fit(np.vstack([counts, counts.sum(axis=0)]))
        np.testing.assert_array_equal(ca.rows_.cos2[-1], 0)
        np.testing.assert_array_equal(ca.supplementary(rows=counts.sum(axis=0)[None]).cos2, 0)


@pytest.mark.parametrize("factor", [1e300, 1e-300])
def test_totals_out_of_range(factor):
    with pytest.raises(ValueError, match="too far from 1"):
        co.CA().fit(D * factor)
    np.testing.assert_allclose(co.CA().fit(D * factor**0.5).pics_, co.CA().fit(D).pics_)


def test_numbers_in_object_columns_are_counts():
    expected = co.CA().fit(D).pics_
    as_decimals = [[Decimal(int(v)) for v in row] for row in D]
    for table in (
        pd.DataFrame(D.astype(object)),
        pd.DataFrame(as_decimals),
        pd.DataFrame.sparse.from_spmatrix(sp.csr_array(D)),
        pd.DataFrame(D).astype("Int64"),
        np.array(as_decimals, dtype=object),
        pl.DataFrame(as_decimals, schema=["a", "b", "c"], orient="row"),
    ):
        assert co.CA().fit(table).pics_ == pytest.approx(expected)


@pytest.mark.parametrize(
    "table",
    [
        np.array([["3", "1"], ["0", "5"]], dtype=object),
        pl.DataFrame({"x": ["1", "2"], "y": ["3", "4"], "z": ["5", "5"]}),
        pd.DataFrame({"a": pd.Categorical(["3", "1"]), "b": [1, 2]}, index=["x", "y"]),
        pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2021-01-01"]), "b": [1, 2]}, index=["x", "y"]),
        pl.DataFrame({"n": [1, 2], "day": [datetime.date(2020, 1, 1)] * 2}),
        np.array([["2020-01-01", "2021-01-01"]], dtype="datetime64[D]"),
        np.array([[10**400, 1], [1, 2]], dtype=object),
    ],
    ids=str,
)
def test_text_and_dates_are_not_counts(table):
    with pytest.raises(ValueError, match=r"must hold counts|array of numbers"):
        co.CA().fit(table)


def test_masked_entries_are_missing():
    mask = np.eye(3, dtype=bool)
    with pytest.raises(ValueError, match="masked"):
        co.CA().fit(np.ma.masked_array(D, mask))
    with pytest.raises(ValueError, match="masked"):
        co.Moments().update(np.ma.masked_array(D, mask), D)
    with pytest.raises(ValueError, match="masked"):
        co.count_pairs(np.ma.masked_array(D, mask), 0, 1)
    ca = co.CA().fit(np.ma.masked_array(["a", "b"], [True, False]), [1, 2])
    assert ca.rows_.labels.tolist() == ["(missing)", "b"]
    assert co.CA().fit(np.ma.masked_array(D)).pics_ == pytest.approx(co.CA().fit(D).pics_)


# --- labels


def test_tables_with_numbers_for_labels_are_matched_by_them(rng):
    x = rng.integers(0, 4, 400)
    y = (x + rng.integers(0, 2, 400)) % 4
    ca = co.CA().fit(x, y)
    table, order = ca.table_, [3, 1, 0, 2]
    shuffled = co.Table(table.toarray()[:, order], table.rows, table.columns[order])
    frame = pd.DataFrame(shuffled.toarray(), index=shuffled.rows, columns=shuffled.columns)
    for same in (table, shuffled, frame):
        assert ca.score(same) == pytest.approx(ca.decomposition_.chi2, abs=0.01)  # no pair counts with itself
        np.testing.assert_allclose(ca.transform(same), ca.rows_.standard, atol=1e-9)
    with pytest.raises(ValueError, match="label 10 is not among"):
        ca.score(co.count_pairs(np.column_stack([x + 10, y + 10]), 0, 1))


def test_a_frame_with_a_column_of_names_may_be_filtered():
    frame = pd.DataFrame({"name": list("stuvw"), "a": [1, 5, 2, 4, 3], "b": [4, 2, 3, 1, 9]})
    ca = co.CA().fit(frame)
    assert ca.rows_.labels.tolist() == list("stuvw")
    np.testing.assert_allclose(ca.transform(frame.iloc[[0, 3]]), ca.rows_.standard[[0, 3]], atol=1e-9)
    shuffled = co.CA().fit(frame.sample(frac=1, random_state=0))
    np.testing.assert_allclose(shuffled.transform(list("stuvw")), ca.rows_.standard, atol=1e-9)


def test_columns_and_rows_named_by_tuples():
    columns = pd.MultiIndex.from_product([["u", "v"], [1, 2]])
    frame = pd.DataFrame(np.arange(1, 9).reshape(2, 4), index=["a", "b"], columns=columns)
    assert co.CA().fit(frame).columns_.labels.tolist() == list(columns)
    assert co.CA().fit(frame.T).rows_.labels.tolist() == list(columns)


def test_labels_from_pyarrow_and_nested_lists():
    ca = co.CA().fit(pa.array(["a", "b", "a"]), pa.chunked_array([["u", "v", "v"]]))
    assert ca.transform(["a"]).shape == (1, 1)
    nested = co.CA().fit([["a"], ["b"], ["a"]], [["u"], ["v"], ["v"]])
    np.testing.assert_array_equal(nested.transform([["b"]]), ca.transform(["b"]))


def test_sets_are_sorted_the_same_however_they_come(rng):
    sets = [frozenset([1]), frozenset([2]), frozenset([3, 1])]
    first = co.CA().fit(sets, [1, 2, 2]).rows_.labels.tolist()
    for _ in range(5):
        order = rng.permutation(3)
        assert co.CA().fit([sets[i] for i in order], [1, 2, 2]).rows_.labels.tolist() == first


def test_bad_labels_of_tables():
    with pytest.raises(ValueError, match="rows have the label 'a' more than once"):
        co.Table(D, ["a", "a", "b"], list("xyz"))
    with pytest.raises(TypeError, match="rows have a label that cannot be hashed"):
        co.Table(D, [["a", 1], ["b", 2], ["c", 3]], list("xyz"))
    with pytest.raises(TypeError, match="cannot be hashed"):
        co.CA().fit(pl.DataFrame({"a": [[1], [2]], "b": [1, 2]})["a"], [1, 2])


def test_tables_that_cannot_be_frames():
    with pytest.raises(ValueError, match="not all different as text"):
        co.Table([[1, 2]], ["a"], [1, "1"]).to_frame()
    with pytest.raises(ValueError, match='one is called "label"'):
        co.Table([[1, 2]], ["a"], ["label", "b"]).to_frame()
    with pytest.raises(ValueError, match="backend must be"):
        co.CA().fit(D).rows_.to_frame("excel")


def test_odd_labels_and_files(tmp_path):
    lone = co.CA().fit(["\ud800", "b"], [1, 2]).decomposition_
    lone.save(tmp_path / "model")
    assert co.load(tmp_path / "model").f(["\ud800"]).shape == (1, 1)
    precise = co.CA().fit([pd.Timestamp(1), pd.Timestamp(2)], [1, 2]).decomposition_
    with pytest.raises(TypeError, match="microseconds"):
        precise.save(tmp_path / "other")
    features = co.Moments().update(np.eye(3), np.eye(3)).decompose(y_sample=np.array([{}, {}, {}], object))
    with pytest.raises(TypeError, match="cannot be saved"):
        features.save(tmp_path / "other")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


# --- uses


def test_subsets_are_lists_of_labels():
    for bad in (5, "ab", iter([0])):
        with pytest.raises(ValueError, match="subset_rows must be a list of labels"):
            co.CA(subset_rows=bad).fit(D)
    with pytest.raises(ValueError, match="subset_rows must be among"):
        co.CA(subset_rows=[["x", "y"]]).fit(D)


def test_a_subset_says_what_it_cannot_do():
    ca = co.CA(subset_columns=[0, 1]).fit(D)
    with pytest.raises(ValueError, match="A subset cannot be evaluated"):
        ca.score(D)
    with pytest.raises(ValueError, match="needs all labels"):
        ca.decomposition_.conditional_expectation([1, 1], [0])
    rows = co.CA(subset_rows=[0, 1]).fit(D).decomposition_
    np.testing.assert_allclose(rows.conditional_expectation([1, 0, 0], [0, 1]), [0.5, 0], atol=1e-12)


def test_a_rare_subset_can_be_resampled():
    ca = co.CA(subset_rows=[0]).fit([[1, 0, 0], [300, 200, 50], [100, 200, 300]])
    assert ca.bootstrap(50, n_components=1, random_state=0).row_covariance.shape == (1, 1, 1)


def test_weighted_observations_weigh_in_conditional_expectations(rng):
    x, y, w, h = rng.integers(0, 3, 200), rng.integers(0, 3, 200), rng.random(200), rng.normal(size=200)
    by_label = np.array([np.average(h[y == j], weights=w[y == j]) for j in range(3)])
    d = co.CA().fit(x, y, sample_weight=w).decomposition_
    np.testing.assert_allclose(d.conditional_expectation(h, [0, 1, 2]), d.conditional_expectation(by_label, [0, 1, 2]))


def test_weights_of_rows_count_in_the_score():
    ca, w = co.CA().fit(D), np.array([1.0, 2, 3])
    assert ca.score(D, sample_weight=w) == pytest.approx(ca.score(D * w[:, None]))
    with pytest.raises(ValueError, match="sample_weight must be an array of numbers"):
        ca.score(D, sample_weight="junk")


@pytest.mark.slow
def test_evaluation_of_a_table_with_many_cells(rng):
    counts = rng.poisson(3, (300, 300)) + 1
    ca = co.CA().fit(counts)
    assert ca.score(counts) == pytest.approx(ca.decomposition_.chi2, rel=1e-4)  # no pair counts with itself


@pytest.mark.parametrize(
    ("h", "message"),
    [
        ({"Wife": 1}, "h must have .* 'Alternating'"),
        (3, "one value for each of the 4"),
        (["a", "b", "c", "d"], "h must be an array of numbers"),
        ([1, np.nan, 2, 3], "h must be finite"),
        ({"Wife": 1, "Alternating": None, "Husband": 0, "Jointly": 0}, "h must be finite"),
        (lambda y: np.ones(3), "one value for each of the 4"),
    ],
)
def test_bad_h(h, message):
    d = co.CA().fit(co.datasets.load_housetasks()).decomposition_
    with pytest.raises(ValueError, match=message):
        d.conditional_expectation(h, ["Laundry"])


def test_expectation_over_nothing():
    d = co.CA().fit(co.datasets.load_housetasks()).decomposition_
    with pytest.raises(ValueError, match="Y must"):
        d.conditional_expectation(lambda y: y, ["Laundry"], Y=[])


@pytest.mark.parametrize("k", [1.5, "1", None, True])
def test_numbers_of_components_are_whole(k):
    d = co.CA().fit(D).decomposition_
    for use in (d.truncate, d.k_correlation):
        with pytest.raises(ValueError, match="k must be a whole number"):
            use(k)
    if k is not None:
        with pytest.raises(ValueError, match="n_components must"):
            co.CA(n_components=k).fit(D)
        with pytest.raises(ValueError, match="n_components must"):
            co.Moments().update(D, D).decompose(k)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: co.CA().fit(D, row_weights=["a", "b", "c"]), ValueError, "row_weights must be an array of numbers"),
        (lambda: co.CA().fit(D, column_weights={"a": 1}), ValueError, "column_weights must be an array of numbers"),
        (lambda: co.Moments().update([["a"]], [[1]]), ValueError, "F must be an array of numbers"),
        (lambda: co.Moments().update([[1], [1, 2]], [[1], [2]]), ValueError, "F must be an array of numbers"),
        (lambda: co.Moments().update(sp.eye_array(3), D), ValueError, "F must be an array of numbers"),
        (lambda: co.Moments().update(D * 1j, D), ValueError, "F must be an array of numbers"),
        (lambda: co.Moments().update(D * 1e160, D), ValueError, "F or G has values whose squares overflow"),
        (lambda: co.Moments().update(D, D, ["a", "b", "c"]), ValueError, "sample_weight must be an array of numbers"),
        (lambda: co.Moments().update(D, D).decompose(tol=2), ValueError, "tol must be"),
        (lambda: co.Moments().update(D, D).decompose().f([[1, 2, np.nan]]), ValueError, "NaN or infinity"),
        (lambda: co.count_pairs(pl.DataFrame({"x": [1]}), "x", None), ValueError, "y must be the name of a column"),
        (lambda: co.count_pairs(pl.DataFrame({"x": [1]}), "x", "x", [1]), ValueError, "weights must be the name"),
        (lambda: co.indicator_table(pl.LazyFrame({"x": [1]})), TypeError, r"lazy frame: collect it first, or .* Pairs"),
        (lambda: co.CCA().fit(pl.LazyFrame({"x": [1]}), [1]), TypeError, r"lazy frame: collect it first, or .* Pairs"),
        (lambda: co.CA().fit(pd.DataFrame(D, columns=list("aab")), [1, 2, 3]), ValueError, "column more than once"),
        (lambda: co.count_pairs(pd.DataFrame(D, columns=list("aab")), "a", "b"), ValueError, "column more than once"),
        (lambda: co.CA().fit(D).bootstrap(3.5), ValueError, "n_resamples must be a whole number"),
        (lambda: co.CA().fit(D).bootstrap(5, n=10**30), ValueError, "n must be a whole number from 1"),
    ],
)
def test_errors_name_the_argument(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_sums_of_moments():
    parts = [co.Moments().update(D, D), co.Moments().update(D, D)]
    assert sum(parts).n == 6
    assert sum(parts[:1]).n == 3


def test_columns_with_different_indexes_are_not_paired_by_position():
    x, y = pd.Series(["a", "b", "a"]), pd.Series(["u", "v", "u"])
    with pytest.raises(ValueError, match="x and y have different indexes"):
        co.CA().fit(x, y[::-1])
    assert co.CA().fit(x[::-1], y[::-1]).pics_ == pytest.approx(co.CA().fit(x, y).pics_)


def test_a_bare_categorical_keeps_its_order():
    sizes = pd.Categorical(["hi", "lo", "mid"], categories=["lo", "mid", "hi"], ordered=True)
    assert co.CA().fit(sizes, [1, 2, 2]).rows_.labels.tolist() == ["lo", "mid", "hi"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ca: ca.fit({"a": 1}), "got dict: read a file into a frame first"),
        (lambda ca: ca.fit([[1, 2], [3, np.nan]]), "X contains NaN .row 1, column 1."),
        (lambda ca: ca.fit(pd.DataFrame([[1, -2], [3, 4]], ["a", "b"], ["c", "d"])), "got -2 .row 'a', column 'd'."),
        (lambda ca: ca.supplementary(rows=[1, 2, 3]), "a single row is"),
        (lambda ca: co.CA().fit(["a", "b"], [1, 2]).evaluate(["a", "b"]), "Y is missing"),
        (lambda ca: ca.decomposition_.f("a"), r"must be a list of labels, got 'a': write .'a'. for one"),
    ],
)
def test_more_messages(call, message):
    with pytest.raises(ValueError, match=message):
        call(co.CA().fit(D))
