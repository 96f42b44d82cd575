"""What goes with what: figures on held-out rows, p-values, messages."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import correspondence as co


def make_frame(n=400, seed=0):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=n)
    return pd.DataFrame(
        {
            "u": u,
            "cos": np.cos(2 * u) + 0.3 * rng.normal(size=n),
            "label": np.where(u > 0.3, "high", "low"),
            "noise": rng.normal(size=n),
            "colour": rng.choice(["red", "green", "blue"], n),
        }
    )


def test_finds_dependence_of_all_kinds_and_its_direction():
    a = co.associations(make_frame())
    assert a.columns.tolist() == ["u", "cos", "label", "noise", "colour"]
    assert a.kinds.tolist() == ["number", "number", "label", "number", "label"]
    found = {(x, y) for x in range(5) for y in range(x) if a.found[x, y]}
    assert {(1, 0), (2, 0), (2, 1)} == found
    assert a.predicted[0, 1] > 0.5 > 0.1 > a.predicted[1, 0]
    np.testing.assert_array_equal(np.diag(a.correlations), 1)
    for matrix in (a.correlations, a.captured, a.pvalues, a.raw_pvalues, a.training_correlations):
        np.testing.assert_array_equal(matrix, matrix.T)


def test_correlation_and_captured_of_normal_variables():
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    a = co.associations(np.column_stack([x, 0.6 * x + 0.8 * rng.normal(size=20_000)]))
    assert a.correlations[0, 1] == pytest.approx(0.6, abs=0.015)
    assert a.captured[0, 1] == pytest.approx(0.36 / 0.64, abs=0.08)
    assert a.predicted[0, 1] == pytest.approx(0.36, abs=0.02)


def test_captured_of_labels_is_the_chi_square_of_the_population():
    rng = np.random.default_rng(0)
    x = rng.integers(3, size=30_000)
    y = np.where(rng.random(30_000) < 0.5, x, rng.integers(3, size=30_000))
    a = co.associations(pl.DataFrame({"x": x, "y": y}).cast(pl.String))
    assert a.correlations[0, 1] == pytest.approx(0.5, abs=0.02)
    assert a.captured[0, 1] == pytest.approx(2 * 0.25, abs=0.02)
    assert a.predicted[0, 1] == pytest.approx(0.25, abs=0.01)


def test_captured_is_not_too_high_where_there_is_nothing():
    rng = np.random.default_rng(3)
    a = co.associations(np.column_stack([rng.normal(size=(100, 12)), rng.integers(4, size=(100, 8))]))
    upper = np.triu_indices(20, 1)
    assert abs(np.mean(a.captured[upper])) < 0.02
    assert np.mean(a.correlations[upper]) < 0.05
    assert not a.found.any()


def test_equal_columns_have_correlation_one():
    x = np.random.default_rng(0).normal(size=500)
    a = co.associations(pd.DataFrame({"x": x, "y": x, "z": -x}))
    np.testing.assert_allclose(a.correlations, 1, atol=1e-3)
    assert (a.predicted > 0.95).all()


def test_target_ranks_the_other_columns_for_one():
    frame = make_frame()
    a, every = co.associations(frame, target="cos"), co.associations(frame)
    assert a.target == "cos"
    assert len(a.to_frame("pandas")) == 4
    assert set(a.to_frame("pandas")["y"]) == {"cos"}
    np.testing.assert_allclose(a.correlations[1], every.correlations[1])
    np.testing.assert_allclose(a.predicted[:, 1], every.predicted[:, 1])
    assert np.isnan(a.correlations[0, 2])
    assert a.order[0] == 1
    assert "with cos" in a.write_summary()


def test_tables():
    a = co.associations(make_frame())
    table = a.to_frame("pandas")
    assert list(table) == [
        "x", "y", "correlation", "captured", "y_from_x", "x_from_y", "pvalue", "adjusted_pvalue", "n",
    ]  # fmt: skip
    assert len(table) == 10
    assert table["correlation"].is_monotonic_decreasing
    assert len(a.strongest(2, "pandas")) == 2
    assert len(a.strongest(10, "pandas")) == 3
    matrix = a.to_matrix("polars", "pvalues")
    assert matrix.columns == ["column", *a.columns]
    assert sorted(a.order.tolist()) == list(range(5))
    assert "u goes with" in a.write_summary()
    assert repr(a).startswith("Associations of 5 columns")
    with pytest.raises(ValueError, match=r"^values must .*got"):
        a.to_matrix(values="colours")


@pytest.mark.parametrize("backend", [pd.DataFrame, pl.DataFrame, lambda data: pl.DataFrame(data).to_arrow()])
def test_frames_of_all_libraries_are_read_alike(backend):
    rng = np.random.default_rng(0)
    data = {"a": rng.normal(size=100), "b": rng.choice(["x", "y"], 100).tolist(), "c": rng.integers(9, size=100)}
    a, b = co.associations(backend(data)), co.associations(pd.DataFrame(data))
    np.testing.assert_allclose(a.correlations, b.correlations)


def test_numbers_count_by_their_ranks():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 300))
    y += x
    a, b = co.associations(np.column_stack([x, y])), co.associations(np.column_stack([np.exp(9 * x), y**3]))
    np.testing.assert_allclose(a.correlations, b.correlations)


def test_whole_weights_are_repetitions():
    frame = make_frame(150).drop(columns="noise")
    weights = np.random.default_rng(1).integers(0, 4, size=150)
    repeated = frame.iloc[np.repeat(np.arange(150), weights)]
    a = co.associations(frame, sample_weight=weights)
    b = co.associations(repeated, groups=None)
    np.testing.assert_allclose(a.correlations, b.correlations)
    np.testing.assert_allclose(a.raw_pvalues, b.raw_pvalues)
    assert a.n == weights.sum()
    halves = co.associations(frame, sample_weight=np.full(150, 0.5))
    np.testing.assert_allclose(halves.raw_pvalues, co.associations(frame).raw_pvalues, rtol=1e-6)


@pytest.mark.parametrize("scale", [1 / 300, 0.5, 1000.5])
@pytest.mark.parametrize("groups", [None, np.arange(150)])
def test_of_other_weights_only_the_proportions_count(scale, groups):
    frame = make_frame(150)
    a, b = co.associations(frame, groups=groups), co.associations(frame, sample_weight=[scale] * 150, groups=groups)
    for name in ("correlations", "captured", "predicted", "raw_pvalues"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-6, atol=1e-9)
    assert b.n == pytest.approx(150 * scale)
    assert b.n_pairs == pytest.approx(150 * scale)


def test_weights_on_few_rows_are_refused():
    with pytest.raises(ValueError, match=r"sample_weight.*rows"):
        co.associations(make_frame(50), sample_weight=np.r_[1e6, np.full(49, 0.5)])


def test_missing_values():
    frame = make_frame()
    gaps = np.random.default_rng(1).random(400) < 0.3
    frame.loc[gaps, ["u", "noise", "colour"]] = None
    together = co.associations(frame, missing="indicator")
    assert together.found[0, 3]  # missing together
    assert together.n_pairs[0, 1] == 400 - gaps.sum()
    average = co.associations(frame)
    assert not average.found[0, 3]
    assert average.found[0, 1]
    with pytest.warns(co.LeftOut, match="rows"):
        dropped = co.associations(frame, missing="drop")
    assert dropped.n == 400 - gaps.sum()
    with pytest.raises(ValueError, match=r"missing=.error"):
        co.associations(frame, missing="error")


def test_rows_without_values_are_no_association():
    X = np.random.default_rng(0).normal(size=(300, 4))
    X[:2] = np.nan  # two blank rows made all pairs of columns go together, with a correlation of 1
    assert not co.associations(X, groups=None).found.any()


def test_gaps_weaken_no_correlation():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=2000)
    X = np.column_stack([hidden + 0.5 * rng.normal(size=2000) for _ in range(2)])
    whole = co.associations(X).correlations[0, 1]
    X[rng.random(2000) < 0.5, 0] = np.nan
    X[rng.random(2000) < 0.3, 1] = np.nan
    assert co.associations(X).correlations[0, 1] == pytest.approx(whole, abs=0.06)


def test_a_box_that_is_ticked_or_empty_is_an_answer():
    ticked = np.where(np.random.default_rng(0).random(200) < 0.5, "x", None)
    a = co.associations(pd.DataFrame({"a": ticked, "b": ticked}), groups=None)
    assert a.correlations[0, 1] == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_columns_that_are_missing_together_keep_the_level(share):
    pvalues = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(rng.normal(size=(200, 5))).assign(label=rng.choice(list("xyz"), 200))
        a = co.associations(frame.mask(pd.Series(rng.random(200) < share)), groups=None)
        pvalues.extend(a.raw_pvalues[np.triu_indices(6, 1)])
    assert 0.02 < np.mean(np.array(pvalues) < 0.05) < 0.08


@pytest.mark.parametrize("rare", [None, "."])
@pytest.mark.filterwarnings("ignore::correspondence.LeftOut")
def test_one_rare_label_hides_nothing(rare):
    rng = np.random.default_rng(1)
    sex = np.where(rng.random(240) < 0.5, "F", "M").astype(object)
    frame = pd.DataFrame({"sex": sex, "height": rng.normal(size=240) + 1.2 * (sex == "M")})
    whole = co.associations(frame).predicted[1, 0]
    frame.loc[3, "sex"] = rare
    for missing in ("average", "indicator"):
        assert co.associations(frame, missing=missing).predicted[1, 0] == pytest.approx(whole, abs=0.05)


def test_labels_that_were_counted_are_not_rare():
    counts = pd.DataFrame({"x": list("abcdefgh"), "y": list("aabbccdd"), "n": 50})  # a row of the file each
    a = co.associations(counts[["x", "y"]], sample_weight=counts["n"])
    again = counts.loc[counts.index.repeat(counts["n"]), ["x", "y"]]
    np.testing.assert_allclose(a.correlations, co.associations(again, groups=None).correlations)


def test_copies_are_held_out_together_and_count_once():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    again = np.r_[np.arange(100), np.arange(100)]
    with pytest.warns(co.CorrespondenceWarning, match="copies"):
        a = co.associations(X[again])
    np.testing.assert_allclose(a.raw_pvalues, co.associations(X).raw_pvalues)
    assert a.correlations[0, 1] < 0.3
    b = co.associations(X[again], groups=again)
    np.testing.assert_allclose(a.raw_pvalues, b.raw_pvalues)


@pytest.mark.slow
def test_columns_that_say_nothing_are_left_out_and_named():
    frame = make_frame().assign(id=[f"person {i}" for i in range(400)], one="same", empty=None)
    with pytest.warns(co.LeftOut) as caught:
        a = co.associations(frame)
    said = " ".join(str(own.message) for own in caught)
    assert all(name in said for name in ("'id'", "'one'", "'empty'"))
    assert len(a) == 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=r"^target must .*left out"):
            co.associations(frame, target="id")


def test_rare_labels_share_a_level_and_that_is_said():
    rng = np.random.default_rng(0)
    town = [f"t{i}" for i in rng.zipf(1.7, 500)]
    frame = pd.DataFrame({"town": town, "x": rng.normal(size=500)})
    with pytest.warns(co.LeftOut, match="Rare labels"):
        assert not co.associations(frame).found[0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "nobody"}, r"^target must .*'nobody'"),
        ({"target": ["u"]}, r"^target must .*'u'"),
        ({"missing": "guess"}, r"^missing must .*'guess'"),
        ({"alpha": 2}, r"^alpha must .*2"),
        ({"cv": 1}, r"^cv must"),
        ({"groups": np.zeros(400)}, r"^groups must"),
        ({"sample_weight": [1.0]}, r"^sample_weight must"),
        ({"random_state": "a"}, r"^random_state must"),
    ],
)
def test_bad_arguments_are_told_in_a_sentence(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        co.associations(make_frame(), **options)


@pytest.mark.parametrize(
    "frame", [make_frame()[["u"]], pd.DataFrame({"a": [1.0] * 50, "b": ["x"] * 50}), make_frame(8)]
)
def test_tables_that_cannot_be_compared_are_refused(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=r"^frame must have at least"):
            co.associations(frame)


def simulate_null(rng, n):
    """Draw independent columns of mixed kinds, with ties, heavy tails, rare answers and a time series of weekdays."""
    return pd.DataFrame(
        {
            "normal": rng.normal(size=n),
            "heavy": rng.standard_cauchy(size=n),
            "zeros": np.where(rng.random(n) < 0.7, 0, rng.exponential(size=n)),
            "ties": rng.integers(6, size=n),
            "yes": rng.choice(["yes", "no"], n, p=[0.05, 0.95]),
            "rare": rng.choice(list("abcdef"), n, p=[0.7, 0.14, 0.06, 0.04, 0.03, 0.03]),
            "three": rng.choice(list("abc"), n),
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 400])
def test_false_discoveries_are_rare_on_independent_columns(n):
    rng = np.random.default_rng(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raw, any_found = [], []
        for _ in range(80):
            a = co.associations(simulate_null(rng, n))
            raw.append(a.raw_pvalues[np.triu_indices(len(a), 1)])
            any_found.append(a.found.any())
    assert np.mean(any_found) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 80)
    pooled = np.concatenate(raw)
    assert np.mean(pooled <= 0.05) < 0.06
    assert np.mean(pooled <= 0.01) < 0.015
