"""ACE of columns in order: monotone first functions, what they leave, and where the order is read."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

import correspondence as co

LEVELS = ["never", "seldom", "a few times", "often", "always"]  # not in alphabetical order


def is_monotone(values, tolerance=1e-9):
    steps = np.diff(values)
    return bool((steps >= -tolerance).all() or (steps <= tolerance).all())


def make_labels(seed, n=120, spread=3):
    rng = np.random.default_rng(seed)
    i = np.r_[np.arange(5), rng.integers(0, 5, n)]
    j = np.r_[np.arange(5), np.clip(i[5:] + rng.integers(-spread, spread + 1, n), 0, 4)]
    return tuple(
        pd.Series(pd.Categorical.from_codes(codes, LEVELS, ordered=True), name=name)
        for codes, name in ((i, "income"), (j, "reading"))
    )


def make_numbers(seed=0, n=400):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, x**2 + 0.5 * x + rng.normal(size=n)


def assert_ordered_decomposition(ace, X, Y):
    """Later functions are uncorrelated with the first ones, and f_i goes with g_i only."""
    F, G = ace.transform(X, Y)
    np.testing.assert_allclose(F.T @ F / len(F), np.eye(F.shape[1]), atol=1e-9)
    np.testing.assert_allclose(G.T @ G / len(G), np.eye(G.shape[1]), atol=1e-9)
    np.testing.assert_allclose(F.T @ G / len(F), np.diag(ace.correlations_), atol=1e-9)


def assert_same_fit(a, b, X, Y):
    np.testing.assert_array_equal(a.pics_, b.pics_)
    for own, other in zip(a.transform(X, Y), b.transform(X, Y), strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.slow
@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_two_columns_of_labels_are_a_table_in_order(seed):
    x, y = make_labels(seed)
    with warnings.catch_warnings(action="ignore", category=co.FewerComponents):
        ace, ca = co.ACE(3).fit(x, y), co.CA(3).fit(x, y)
    assert len(ace.correlations_) == len(ca.correlations_)
    np.testing.assert_allclose(ace.correlations_, ca.correlations_, atol=1e-8)
    f = ace.transform(LEVELS)[:, 0]
    assert is_monotone(f)
    np.testing.assert_allclose(f * np.sign(f @ ca.transform(LEVELS)[:, 0]), ca.transform(LEVELS)[:, 0], atol=1e-6)


def test_functions_of_numbers_are_monotone_everywhere():
    x, y = make_numbers()
    ace = co.ACE(3, ordered=["X", "Y"]).fit(x, y)
    free = co.ACE(3).fit(x, y)
    assert not is_monotone(free.transform(np.linspace(-4, 4, 999))[:, 0], 1e-3)
    assert is_monotone(ace.transform(np.linspace(-4, 4, 999))[:, 0], 1e-12)
    assert is_monotone(ace.transform_y(np.linspace(-9, 20, 999))[:, 0], 1e-12)
    assert_ordered_decomposition(ace, x, y)
    assert 0.6 < ace.correlations_[0] < free.correlations_[0]
    # The second may bend, and is where the parabola is.
    assert not is_monotone(ace.transform(np.linspace(-2, 2, 99))[:, 1], 1e-3)
    assert ace.correlations_[1] > 0.6


def test_only_the_named_side_is_monotone():
    x, y = make_numbers()
    ace = co.ACE(1, ordered=["X"]).fit(x, y)
    assert is_monotone(ace.transform(np.linspace(-4, 4, 999))[:, 0], 1e-12)
    both = co.ACE(1, ordered=["X", "Y"], smoothing=ace.smoothing_[0]).fit(x, y)
    assert ace.correlations_[0] >= both.correlations_[0] - 1e-12


def test_a_first_pair_that_is_monotone_stays_as_it_is():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = np.tanh(x) + 0.3 * rng.normal(size=300)
    assert_same_fit(co.ACE(2, ordered=["X"]).fit(x, y), co.ACE(2, ordered=None).fit(x, y), x, y)


def test_without_an_order_in_the_data_nothing_changes():
    x, y = make_numbers()
    frame = pd.DataFrame({"x": x, "label": np.where(x > 0, "a", "b")})
    assert_same_fit(co.ACE(2).fit(frame, y), co.ACE(2, ordered=None).fit(frame, y), frame, y)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_several_columns_are_each_monotone(library):
    rng = np.random.default_rng(1)
    n = 600
    codes = rng.integers(0, 5, n)
    a, b = rng.normal(size=(2, n))
    y = np.tanh(2 * a) - 0.6 * a**2 + b**2 - np.array([0, 0.8, 0.3, 1.2, 1])[codes] + rng.normal(size=n)
    columns = {"a": a, "b": b, "kind": rng.choice(list("uvw"), n), "how often": [LEVELS[i] for i in codes]}
    X = pl.DataFrame(columns).with_columns(pl.col("how often").cast(pl.Enum(LEVELS)))
    if library == "pandas":
        X = pd.DataFrame(columns).astype({"how often": pd.CategoricalDtype(LEVELS, ordered=True)})
    ace = co.ACE(2, ordered=["a", "how often"]).fit(X, y)
    free = co.ACE(2, ordered=None).fit(X, y)

    def vary(name, values):
        frame = pl.DataFrame({key: [column[0]] * len(values) for key, column in columns.items()} | {name: values})
        return frame if library == "polars" else frame.to_pandas()

    for name, values in (("a", np.linspace(-4, 4, 99)), ("how often", LEVELS)):
        assert is_monotone(ace.transform(vary(name, values))[:, 0], 1e-12)
        assert not is_monotone(free.transform(vary(name, values))[:, 0], 1e-3)
    assert not is_monotone(ace.transform(vary("b", np.linspace(-2, 2, 99)))[:, 0], 1e-3)
    assert_ordered_decomposition(ace, X, y)
    declared = co.ACE(1).fit(X, y)
    assert is_monotone(declared.transform(vary("how often", LEVELS))[:, 0], 1e-12)


def test_few_different_numbers_may_take_steps():
    rng = np.random.default_rng(2)
    k = rng.integers(1, 8, 400) / 2
    y = np.array([0, 0, 0, 3, 2.9, 3, 3.1])[(2 * k - 1).astype(int)] + rng.normal(size=400)
    X = pd.DataFrame({"dose": k, "noise": rng.normal(size=400)})
    ace = co.ACE(1, ordered=["dose"], smoothing=1e-8).fit(X, y)
    grid = pd.DataFrame({"dose": np.linspace(0.5, 3.5, 301), "noise": 0.0})
    assert is_monotone(ace.transform(grid)[:, 0], 1e-12)
    assert_ordered_decomposition(ace, X, y)


def test_saving_and_new_data(tmp_path):
    rng = np.random.default_rng(3)
    dose = rng.integers(1, 8, 300) / 2
    X = pd.DataFrame({"dose": dose, "x": rng.normal(size=300)})
    y = np.sin(2 * dose) + X["x"] ** 2 + rng.normal(size=300)
    ace = co.ACE(2, ordered=["dose", "x"]).fit(X, y)
    ace.decomposition_.save(tmp_path / "model.safetensors")
    d = co.load(tmp_path / "model.safetensors")
    new = pd.DataFrame({"dose": rng.uniform(0, 4, 50), "x": 3 * rng.normal(size=50)})
    np.testing.assert_array_equal(d.f(new), ace.transform(new))
    assert np.isfinite(ace.evaluate(new, rng.normal(size=50)).captured)
    assert d.truncate(1).f(new).shape == (50, 1)


def test_missing_values_are_free():
    x, y = make_labels(4)
    holes = x.copy()
    holes.iloc[5:35] = None
    ace = co.ACE(1).fit(holes, y)
    assert is_monotone(ace.transform(pd.Series(LEVELS))[:, 0])
    number, target = make_numbers(5)
    number[::9] = np.nan
    fit = co.ACE(1, ordered=["X"]).fit(number, target)
    assert is_monotone(fit.transform(np.linspace(-3, 3, 99))[:, 0], 1e-12)


def test_pairs_that_are_not_in_memory():
    x, y = make_labels(7)
    frame = pl.DataFrame({s.name: pl.Series(s.astype(str).tolist(), dtype=pl.Enum(LEVELS)) for s in (x, y)})
    ace = co.ACE(1).fit(co.Pairs(frame.lazy(), x=["income"], y="reading"))
    other = co.ACE(1).fit(x, y)
    np.testing.assert_allclose(ace.correlations_, other.correlations_, atol=1e-12)
    unordered = co.ACE(1, ordered=None).fit(x, y)
    assert other.correlations_[0] < unordered.correlations_[0] - 1e-6


def test_every_way_to_name_the_order_gives_the_same():
    x, y = make_labels(7)
    expected = co.ACE(1).fit(x, y)
    texts = [s.astype(str).to_numpy() for s in (x, y)]
    ways = [
        co.ACE(1, ordered=["income", "reading"]).fit(x, y),
        co.ACE(1, ordered=["X", "Y"]).fit(x, y),
        co.ACE(1, ordered={"income": LEVELS, "Y": LEVELS}).fit(x, y),
        co.ACE(1, ordered={"X": LEVELS, "Y": LEVELS}).fit(*texts),
        co.ACE(1, ordered={"income": LEVELS, "reading": LEVELS}).fit(x.astype(str).to_frame(), y.astype(str)),
    ]
    for way in ways:
        np.testing.assert_allclose(way.correlations_, expected.correlations_, atol=1e-12)


def test_tests_of_components_do_not_use_the_unordered_shortcut():
    x, y = make_labels(8, n=60)
    assert co.ACE()._make_test_views(x, y) == []
    assert co.ACE(ordered=None)._make_test_views(x, y) != []


def test_held_out_evaluation():
    x, y = make_labels(9, n=300)
    result = co.crossfit(co.ACE(1), x, y)
    assert result.correlations[0] > 0.3


def test_regressors_have_no_order():
    x, y = make_numbers(n=60)
    with pytest.raises(ValueError, match=r"ordered .*regressors"):
        co.ACE(1, x_regressor=Ridge(), ordered=["X"]).fit(x, y)
    labels = make_labels(0, n=60)
    assert co.ACE(1, x_regressor=Ridge()).fit(*labels).correlations_[0] > 0  # "auto" does nothing then


def test_given_variables_have_no_order():
    x, y = make_numbers(n=80)
    with pytest.raises(ValueError, match=r"ordered .*given"):
        co.ACE(1, ordered=["X"]).fit(x, y, given=x**2)


BAD = {
    "a text": ({"ordered": "income"}, r"ordered must be .auto"),
    "no such column": ({"ordered": ["nosuch"]}, r"ordered must name columns such as .*nosuch"),
    "unknown levels": (
        {"ordered": {"income": LEVELS[:-1]}},
        r"all levels of column .income.*always",
    ),
    "a level twice": ({"ordered": {"income": [*LEVELS, "often"]}}, r"each level once.*often"),
    "one level": ({"ordered": {"income": ["never"]}}, r"at least two levels, got 1"),
    "levels of a number": ({"ordered": {"age": [1, 2, 3]}}, r"ordered must give levels of labels only.*age"),
    "levels that are a text": ({"ordered": {"income": "never"}}, r"list of levels"),
    "texts": ({"ordered": ["town"]}, r"ordered must give the levels of town"),
    "a column twice": ({"ordered": ["age", "age"]}, r"once.*age"),
    "a variable of several columns": ({"ordered": ["X"]}, r"ordered must name columns of X, which has 3"),
    "a list": ({"ordered": ["tags"]}, r"ordered must name columns of numbers or labels.*tags"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_orders_are_explained(name):
    options, message = BAD[name]
    x, y = make_labels(0)
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": x, "age": rng.normal(size=len(x)), "town": rng.choice(list("abc"), len(x))})
    if name == "a list":
        X["tags"] = [rng.choice(list("abc"), 2).tolist() for _ in range(len(x))]
    with pytest.raises(ValueError, match=message):
        co.ACE(1, **options).fit(X, y)


@pytest.mark.slow
def test_a_declared_order_of_rare_labels_is_left_out_with_a_warning():
    rng, levels = np.random.default_rng(0), [f"l{i}" for i in range(250)]
    labels = pl.Series("x", np.array(levels)[rng.integers(0, 250, 1000)], pl.Enum(levels))
    X, y = pl.DataFrame({"x": labels, "z": rng.normal(size=1000)}), rng.normal(size=1000)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        own = co.ACE(1).fit(X, y)
    assert any("order of column 'x'" in str(warning.message) for warning in told)
    with pytest.warns(co.LeftOut, match="many labels"):
        plain = co.ACE(1, ordered=None).fit(X, y)
    np.testing.assert_array_equal(own.correlations_, plain.correlations_)
    with pytest.raises(ValueError, match=r"^ordered.*'x'"), warnings.catch_warnings(action="ignore"):
        co.ACE(1, ordered=["x"]).fit(X, y)


def test_a_name_of_both_variables_is_refused():
    x, y = make_labels(0)
    with pytest.raises(ValueError, match=r"ordered .*both"):
        co.ACE(1, ordered=["income"]).fit(x.to_frame(), y.rename("income").to_frame())
    with pytest.raises(ValueError, match=r"ordered .*both"):
        co.ACE(1, ordered=[0]).fit(*make_numbers(n=60))


def test_levels_that_do_not_occur_are_told():
    x, y = make_labels(0)
    with pytest.warns(co.LeftOut, match="without a count"):
        co.ACE(1, ordered={"income": [*LEVELS, "more than always"]}).fit(x, y)


def test_dates_are_in_order_unless_they_have_seasons():
    rng = np.random.default_rng(0)
    days = np.datetime64("2020-01-01") + 365 * rng.integers(0, 30, 200).astype("m8[D]")
    first = days.astype("M8[Y]").astype("M8[D]")
    y = rng.normal(size=200) + (first.astype(int) / 2000) ** 2
    ace = co.ACE(1, ordered=["X"]).fit(pd.Series(first), y)
    grid = np.sort(first)
    assert is_monotone(ace.transform(pd.Series(grid))[:, 0], 1e-9)
    seasonal = np.datetime64("2020-01-01") + rng.integers(0, 2000, 200).astype("m8[D]")
    with pytest.raises(ValueError, match=r"ordered .*dates"):
        co.ACE(1, ordered=["X"]).fit(pd.Series(seasonal), y)
