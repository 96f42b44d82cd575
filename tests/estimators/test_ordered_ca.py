"""CA of labels in order: where the order is read, and that everything around it stays right."""

import functools
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import correspondence as co

LEVELS = ["never", "seldom", "a few times", "often", "always"]  # not in alphabetical order


def draw_pairs(seed=0, n=150, spread=4):
    rng = np.random.default_rng(seed)
    i = np.r_[np.arange(5), rng.integers(0, 5, n)]
    j = np.clip(i + rng.integers(-spread, spread + 1, len(i)), 0, 4)
    return i, np.r_[np.arange(5), j[5:]]


def make_columns(seed=0, **options):
    i, j = draw_pairs(seed, **options)
    return (
        pd.Series(pd.Categorical.from_codes(i, LEVELS, ordered=True), name="income"),
        pd.Series(pd.Categorical.from_codes(j, LEVELS, ordered=True), name="reading"),
    )


@functools.cache
def find_bent_table():
    """Find a table whose first functions are not monotone without the order."""
    for seed in range(100):
        x, y = make_columns(seed)
        plain = co.CA(ordered=None).fit(x, y)
        if not (is_monotone(plain.rows_.standard[:, 0]) or is_monotone(plain.columns_.standard[:, 0])):
            return pd.crosstab(x, y), x, y
    raise AssertionError


def is_monotone(values):
    steps = np.diff(values)
    return bool((steps >= -1e-12).all() or (steps <= 1e-12).all())


def assert_same_axes(a, b):
    np.testing.assert_allclose(a.correlations_, b.correlations_, atol=1e-12)
    np.testing.assert_allclose(a.rows_.standard, b.rows_.standard, atol=1e-10)
    np.testing.assert_allclose(a.columns_.standard, b.columns_.standard, atol=1e-10)


def test_every_way_to_declare_the_order_gives_the_same():
    table, x, y = find_bent_table()
    expected = co.CA().fit(x, y)
    assert expected.ordered_ == {"rows": LEVELS, "columns": LEVELS}
    enums = [pl.Series(s.name, s.astype(str).tolist(), dtype=pl.Enum(LEVELS)) for s in (x, y)]
    frame = pl.DataFrame(enums)
    named = pl.DataFrame(
        {"income": pl.Series(LEVELS, dtype=pl.Enum(LEVELS)), **{c: table[c].to_list() for c in LEVELS}}
    )
    texts = [s.astype(str).to_numpy() for s in (x, y)]
    fits = [
        co.CA().fit(*enums),
        co.CA().fit(table),
        co.CA().fit(co.Pairs(frame, x="income", y="reading")),
        co.CA().fit(frame.lazy()),
        co.CA(ordered=["income", "reading"]).fit(x, y),
        co.CA(ordered=["income", "columns"]).fit(named),
        co.CA(ordered=["rows", "columns"]).fit(table.to_numpy()),
        co.CA(ordered={"rows": LEVELS, "columns": LEVELS}).fit(co.count_pairs(frame, "income", "reading")),
    ]
    for fit in fits:
        assert_same_axes(fit, expected)
    # Texts are sorted in the table, so the points come in another order.
    by_text = co.CA(ordered={"rows": LEVELS, "columns": LEVELS}).fit(*texts)
    np.testing.assert_allclose(by_text.correlations_, expected.correlations_, atol=1e-12)
    np.testing.assert_allclose(by_text.decomposition_.f(LEVELS), expected.rows_.standard, atol=1e-10)
    # Only the rows of a frame of polars declare an order.
    assert co.CA().fit(named).ordered_ == {"rows": LEVELS}


@pytest.mark.slow
@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_identities(seed):
    x, y = make_columns(seed, n=60)
    table = pd.crosstab(x, y)
    ca, plain = co.CA().fit(table), co.CA(ordered=None).fit(table)
    f, g, s = ca.rows_.standard, ca.columns_.standard, ca.correlations_
    P = table.to_numpy() / table.to_numpy().sum()
    r, c = P.sum(axis=1), P.sum(axis=0)
    d = len(s)
    for own, mass in ((f, r), (g, c)):
        assert is_monotone(own[:, 0])
        np.testing.assert_allclose(mass @ own, 0, atol=1e-10)
        np.testing.assert_allclose(own.T @ (mass[:, None] * own), np.eye(d), atol=1e-10)
    np.testing.assert_allclose(f.T @ P @ g, np.diag(s), atol=1e-10)
    assert ca.decomposition_.chi2 == pytest.approx(plain.decomposition_.chi2)
    assert s[0] <= plain.correlations_[0] + 1e-12
    np.testing.assert_allclose(ca.rows_.contributions.sum(axis=0), 1)
    for points in (ca.rows_, ca.columns_):
        assert (points.quality <= 1 + 1e-9).all()
    # On the shares of its own table the functions capture exactly the PICs.
    assert ca.score(table / table.to_numpy().sum()) == pytest.approx(ca.pics_.sum(), abs=1e-9)
    if is_monotone(plain.rows_.standard[:, 0]) and is_monotone(plain.columns_.standard[:, 0]):
        np.testing.assert_array_equal(ca.rows_.standard, plain.rows_.standard)
        np.testing.assert_array_equal(ca.pics_, plain.pics_)


def test_cos2_is_of_the_profiles():
    table, _, _ = find_bent_table()
    ca = co.CA().fit(table)
    profiles = table.to_numpy() / table.to_numpy().sum(axis=1, keepdims=True)
    averages = profiles @ ca.columns_.standard
    np.testing.assert_allclose(ca.rows_.averages, averages, atol=1e-10)
    np.testing.assert_allclose(ca.rows_.cos2, averages**2 / ca.rows_.chi2_distance[:, None] ** 2, atol=1e-10)


@pytest.mark.parametrize("ordered", [["rows"], ["columns"], ["rows", "columns"]])
@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (5, 4)])
def test_exact_independence_leaves_standardised_functions_in_order(shape, ordered):
    counts = np.outer(np.arange(1, shape[0] + 1), np.full(shape[1], 3.0))
    ca = co.CA(ordered=ordered).fit(counts)
    assert ca.correlations_ == pytest.approx(0, abs=1e-12)
    for points, side in ((ca.rows_, "rows"), (ca.columns_, "columns")):
        f = points.standard
        assert points.mass @ f == pytest.approx(0, abs=1e-9)
        assert f.T @ (points.mass[:, None] * f) == pytest.approx(np.eye(f.shape[1]), abs=1e-9)
        assert side not in ordered or is_monotone(f[:, 0])


def test_without_an_order_nothing_changes():
    table = co.datasets.load_housetasks()
    ca, plain = co.CA().fit(table), co.CA(ordered=None).fit(table)
    assert ca.ordered_ == {}
    np.testing.assert_array_equal(ca.rows_.standard, plain.rows_.standard)
    np.testing.assert_array_equal(ca.pics_, plain.pics_)


def test_missing_labels_are_free():
    x, y = make_columns(3)
    x[[0, 7, 9]] = None
    ca = co.CA().fit(x, y)
    assert "(missing)" in ca.rows_.labels
    assert ca.ordered_["rows"] == LEVELS
    values = ca.decomposition_.f(LEVELS)[:, 0]
    assert is_monotone(values)
    with pytest.warns(co.LeftOut, match="3"):
        assert co.CA(missing="drop").fit(x, y).ordered_["rows"] == LEVELS


def test_numbers_have_their_own_order():
    i, j = draw_pairs(4)
    ca = co.CA(ordered=["rows", "columns"]).fit(i * 5, j)  # 10 is after 5, unlike as text
    assert ca.ordered_["rows"] == [0, 5, 10, 15, 20]
    assert is_monotone(ca.rows_.standard[:, 0])


def test_levels_that_do_not_occur():
    x, y = make_columns(5)
    x = x[x != "often"]
    y = y[x.index]
    assert co.CA().fit(x, y).ordered_["rows"] == [level for level in LEVELS if level != "often"]
    with pytest.warns(co.LeftOut, match="often"):
        co.CA(ordered={"rows": LEVELS}).fit(x.astype(str), y)


def test_subset_weights_and_ridge():
    table, _, _ = find_bent_table()
    subset = co.CA(subset_rows=LEVELS[:4]).fit(table)
    assert is_monotone(subset.rows_.standard[:, 0])
    assert subset.ordered_["rows"] == LEVELS[:4]
    with pytest.warns(co.LeftOut, match="often"):
        weighted = co.CA().fit(table, row_weights=[1, 2, 1, 0, 1])
    assert weighted.ordered_["rows"] == [LEVELS[k] for k in (0, 1, 2, 4)]
    assert is_monotone(weighted.rows_.standard[weighted.rows_.mass > 0, 0])
    ridge = co.CA(regularization=5.0).fit(table)
    assert is_monotone(ridge.rows_.standard[:, 0])
    assert is_monotone(ridge.columns_.standard[:, 0])
    mass = ridge.rows_.mass
    np.testing.assert_allclose(
        ridge.rows_.standard.T @ (mass[:, None] * ridge.rows_.standard), np.eye(len(ridge.pics_)), atol=1e-10
    )


def test_new_rows_are_averages_of_their_profiles():
    table, _, _ = find_bent_table()
    ca = co.CA().fit(table)
    new = np.array([[3.0, 1, 4, 1, 5]])
    placed = ca.supplementary(rows=pd.DataFrame(new, columns=LEVELS, index=["new"]))
    np.testing.assert_allclose(placed.principal, new / new.sum() @ ca.columns_.standard, atol=1e-12)


@pytest.mark.slow
def test_bootstrap_and_cross_fitting_keep_the_order():
    table, _, _ = find_bent_table()
    ca = co.CA(n_components=1).fit(table)
    by_name = co.CA(n_components=1, ordered=["rows", "columns"]).fit(table.to_numpy())
    spread = ca.bootstrap(20, random_state=0)
    np.testing.assert_allclose(spread.row_covariance, by_name.bootstrap(20, random_state=0).row_covariance, atol=1e-10)
    assert spread.row_covariance.shape == (5, 1, 1)
    # A table that is taken apart into pairs declares its order to every fold.
    ordered = co.crossfit(co.CA(n_components=1), table)
    by_dict = co.crossfit(co.CA(n_components=1, ordered={"rows": LEVELS, "reading": LEVELS}), table)
    plain = co.crossfit(co.CA(n_components=1, ordered=None), table)
    assert ordered.captured == pytest.approx(by_dict.captured)
    assert ordered.captured != pytest.approx(plain.captured, abs=1e-4)


def test_parameters_stay_and_models_are_saved(tmp_path):
    table, _, _ = find_bent_table()
    ordered = {"rows": LEVELS}
    ca = co.CA(ordered=ordered).fit(table)
    assert ca.ordered is ordered
    assert clone(ca).ordered == ordered
    ca.decomposition_.save(tmp_path / "model")
    np.testing.assert_array_equal(co.load(tmp_path / "model").f(LEVELS), ca.decomposition_.f(LEVELS))


def test_fewer_components_than_asked_for():
    table, _, _ = find_bent_table()
    assert len(co.CA().fit(table).pics_) == 3
    with pytest.warns(co.FewerComponents, match="order"):
        co.CA(n_components=4).fit(table)


@pytest.mark.parametrize(
    ("ordered", "word"),
    [
        ("rows", "list of names"),
        (3, "list of names"),
        (["wages"], "income"),
        (["rows", "income"], "twice"),
        (iter(["rows"]), "list of names"),
        (["rows"], "levels of rows"),
        ({"rows": LEVELS[:3]}, "often"),
        ({"rows": [*LEVELS, "often"]}, "once"),
        ({"rows": "never"}, "list of levels"),
        ({"rows": ["never"]}, "two levels"),
    ],
)
def test_errors_name_the_argument(ordered, word):
    x, y = make_columns()
    x = x.astype(str)
    with pytest.raises(ValueError, match="ordered") as error:
        co.CA(ordered=ordered).fit(x, y)
    assert word in str(error.value)


def test_a_name_of_both_sides_says_neither():
    x, y = pd.Series([1, 2, 3, 1], name="grade"), pd.Series([2, 2, 3, 1], name="grade")
    with pytest.raises(ValueError, match="both"):
        co.CA(ordered=["grade"]).fit(x, y)
    assert list(co.CA(ordered=["rows"]).fit(x, y).ordered_) == ["rows"]


def test_what_cannot_be_combined():
    table, _, _ = find_bent_table()
    with pytest.raises(ValueError, match="regularization"):
        co.CA(regularization="auto", ordered=["rows"]).fit(table)
    assert co.CA(regularization="auto").fit(table).ordered_ == {}
    with pytest.raises(ValueError, match="ordered"):
        co.CA(ordered=["rows"]).fit(table, constraints=np.arange(5.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert co.CA().fit(table, constraints=np.arange(5.0)).ordered_ == {}


def test_the_plane_joins_labels_in_order():
    table, _, _ = find_bent_table()
    for ordered, n_lines in ((["rows", "columns"], 2), (["columns"], 1), (None, 0)):
        ca = co.CA(ordered=ordered).fit(table)
        ax = co.plot.plane(ca)
        lines = [line for line in ax.lines if line.get_gid() == "ordered"]
        assert len(lines) == n_lines
        assert any("in their order" in text.get_text() for text in ax.texts) == bool(n_lines)
        if n_lines:
            np.testing.assert_allclose(lines[-1].get_xydata(), ca.columns_.principal[:, :2])
        plt.close(ax.figure)
