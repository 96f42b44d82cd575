"""Several methods on the same pairs: the numbers of crossfit, the choice among them, and the table."""

import csv
import io
from collections import deque

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.model_selection import ShuffleSplit

import correspondence as co
from correspondence.results.comparison import MIN_STANDARD_ERRORS_AHEAD
from correspondence.selection import comparing


def smooth_pairs(rng, n=300):
    """Related by a parabola and nothing else: no linear function sees it."""
    x = rng.normal(size=(n, 1))
    return x, x**2 + 0.5 * rng.normal(size=(n, 1))


def labelled_pairs(rng, n=150):
    X = rng.normal(size=(n, 3))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.3 * rng.normal(size=n), [-0.5, 0.5])]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pa.array, memoryview, list, deque], ids=["arrow", "memoryview", "list", "deque"])
def test_whatever_holds_numbers(rng, kind):
    x, y = (column.ravel() for column in smooth_pairs(rng))
    found, expected = (co.compare(*pair, ["ace"], 1).results["ace"] for pair in ((kind(x), kind(y)), (x, y)))
    np.testing.assert_array_equal(found.correlations, expected.correlations)


def result(terms):
    """What a method with the given captured terms would have had from crossfit."""
    terms = np.asarray(terms, dtype=float)
    one, none = np.ones(1), np.full((len(terms), 1), np.nan)
    interval = np.array([0.0, 1.0])
    return co.CrossFit(one, interval[None], float(terms.mean()), interval, one, none, none, [], 1.0, terms)


def comparison(**terms):
    return co.Comparison({name: result(values) for name, values in terms.items()}, dict.fromkeys(terms))


def ahead(by, n=400):
    """Terms whose mean is so many standard errors above that of zeros."""
    noise = np.tile([-1.0, 1.0], n // 2)
    return noise + by / np.sqrt(n)


# --- results


@pytest.mark.parametrize("cv", [3, ShuffleSplit(2, test_size=0.3, random_state=1), [(range(100), range(100, 150))]])
def test_results_are_those_of_crossfit(rng, cv):
    X, Y = labelled_pairs(rng)
    compared = co.compare(X, Y, ["cca", "ace"], n_components=2, cv=cv, random_state=3)
    for name, est in (("cca", co.CCA(n_components=2)), ("ace", co.ACE(n_components=2))):
        alone = co.crossfit(est, X, Y, cv, random_state=3)
        for attribute in ("correlations", "intervals", "captured", "training", "F", "G", "terms"):
            np.testing.assert_array_equal(getattr(compared.results[name], attribute), getattr(alone, attribute))
        assert type(compared.estimators[name]) is type(est)


def test_estimators_are_not_fitted(rng):
    X, Y = labelled_pairs(rng)
    est = co.CCA(n_components=1)
    compared = co.compare(X, Y, {"mine": est}, cv=2)
    assert compared.estimators["mine"] is est
    assert not hasattr(est, "decomposition_")


def test_estimators_of_ones_own_keep_their_components(rng):
    X, Y = labelled_pairs(rng)
    compared = co.compare(X, Y, {"one": co.CCA(n_components=1), "two": co.ACE(n_components=2)}, n_components=7, cv=2)
    assert [len(r.correlations) for r in compared.results.values()] == [1, 2]


def test_order_is_that_of_the_caller(rng):
    X, Y = labelled_pairs(rng)
    assert list(co.compare(X, Y, ["ace", "cca"], n_components=1, cv=2).results) == ["ace", "cca"]


@pytest.mark.parametrize("as_methods", [tuple, iter, set])
def test_methods_may_be_any_iterable(rng, as_methods):
    X, Y = labelled_pairs(rng)
    assert list(co.compare(X, Y, as_methods(["cca"]), n_components=1, cv=2).results) == ["cca"]


def test_n_components_is_as_many_as_labels_allow(rng):
    X, Y = labelled_pairs(rng)
    assert len(co.compare(X, Y, ["ace"], cv=2).results["ace"].correlations) == 2


@pytest.mark.slow
def test_kernel_has_the_seed_that_was_given(rng):
    X, Y = labelled_pairs(rng)
    assert co.compare(X, Y, ["kernel"], cv=2, random_state=5).estimators["kernel"].random_state == 5


def test_columns_of_labels_are_compared_with_and_without_a_ridge(rng):
    x = rng.choice(["a", "b", "c"], size=200)
    y = np.where(rng.random(200) < 0.7, x, "a")
    compared = co.compare(x, y)
    assert list(compared.results) == ["ca", "ridge-ca"]
    assert compared.best == "ca"
    assert [est.regularization for est in compared.estimators.values()] == [None, "auto"]


# --- tables of counts


def zipf_table(rng, n=300):
    """Counts of unrelated labels, most of which are rare."""
    x, y = (rng.choice(k, size=n, p=1 / np.arange(1, k + 1) / (1 / np.arange(1, k + 1)).sum()) for k in (20, 10))
    return co.CA().fit(x.astype(str), y.astype(str)).table_


def test_a_table_is_compared_as_the_pairs_that_it_counts():
    table = co.datasets.load_smoke()
    compared = co.compare(table)
    counts = table.toarray().astype(int)
    order = np.argsort([str(label) for label in table.rows]), np.argsort([str(label) for label in table.columns])
    in_order = counts[order[0]][:, order[1]]
    x, y = (np.repeat(side.ravel(), in_order.ravel()).astype(str) for side in np.indices(counts.shape))
    assert list(compared.results) == ["ca", "ridge-ca"]
    for name, found in co.compare(x, y).results.items():
        np.testing.assert_allclose(compared.results[name].correlations, found.correlations)
        assert compared.results[name].captured == pytest.approx(found.captured)


def test_the_order_of_rows_and_columns_does_not_matter():
    table = co.datasets.load_smoke()
    turned = co.Table(table.toarray()[::-1, ::-1], rows=table.rows[::-1], columns=table.columns[::-1])
    one, other = (co.compare(t, methods=["ca"], n_components=1).results["ca"] for t in (table, turned))
    np.testing.assert_allclose(one.correlations, other.correlations)


@pytest.mark.parametrize("as_kind", [np.asarray, pd.DataFrame, sp.csr_array])
def test_tables_of_any_kind(as_kind):
    counts = np.array([[30, 5, 5], [5, 30, 5], [5, 5, 30]])
    assert co.compare(as_kind(counts), methods=["ca"]).results["ca"].correlations[0] > 0.4


def test_rare_labels_need_a_ridge(rng):
    assert co.compare(zipf_table(rng)).best == "ridge-ca"


@pytest.mark.parametrize(
    ("counts", "key"),
    [
        ([[0.5, 0.2], [0.1, 0.9]], "whole"),
        ([[3, 1], [1, 3]], "40"),
        ([[30, 20], [0, 0]], "one row"),
    ],
)
def test_tables_that_cannot_be_taken_apart(counts, key):
    with pytest.raises(ValueError, match=f"X must .*{key}"):
        co.compare(np.array(counts))


def test_frames_and_arrays_give_the_same(rng):
    X, Y = labelled_pairs(rng)
    from_arrays = co.compare(X, Y, ["cca"], n_components=2).results["cca"]
    frames = pl.DataFrame(X, schema=["a", "b", "c"]), pl.DataFrame({"y": Y})
    np.testing.assert_allclose(co.compare(*frames, ["cca"], n_components=2).results["cca"].F, from_arrays.F)


# --- folds and groups


@pytest.mark.parametrize(("n", "splits"), [(1999, 5), (2000, 3), (19_999, 3), (20_000, 1)])
def test_fewer_folds_of_more_pairs(rng, n, splits):
    X, Y = smooth_pairs(rng, n)
    found = co.compare(X, Y, ["cca"], n_components=1).results["cca"]
    assert len(found.splits) == splits
    assert np.isfinite(found.F).sum() == (n if splits > 1 else n // 4)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "splits"), [(999, 5), (1000, 1)])
def test_images_are_held_out_once(rng, n, splits):
    images = rng.random((n, 1, 4, 4))
    found = co.compare(images, images.mean(axis=(1, 2, 3)), ["kernel"], n_components=1).results["kernel"]
    assert len(found.splits) == splits


@pytest.mark.parametrize("n", [400, 20_000])
def test_groups_are_never_on_both_sides(rng, n):
    """Each x occurs five times with the same y: without groups it is enough to remember it."""
    x, y = rng.normal(size=(n // 5, 1)), rng.normal(size=(n // 5, 1))
    X, Y, groups = np.repeat(x, 5, axis=0), np.repeat(y, 5, axis=0), np.repeat(np.arange(n // 5), 5)
    found = co.compare(X, Y, ["cca"], n_components=1, groups=groups).results["cca"]
    held_out = np.isfinite(found.F[:, 0]).reshape(-1, 5)
    assert (held_out.all(axis=1) | ~held_out.any(axis=1)).all()
    if n == 400:
        memory = {"memory": co.KernelCCA(n_components=1, gamma=1000.0, regularization=1e-6)}
        assert co.compare(X, Y, memory, groups=None).results["memory"].correlations[0] > 0.7
        grouped = co.compare(X, Y, memory)  # by default copies are groups
        assert grouped.results["memory"].correlations[0] < 0.4
        assert "400 of 400 rows are copies" in repr(grouped)
        assert co.compare(X, Y, memory, groups=groups).results["memory"].correlations[0] < 0.4


def test_fewer_groups_than_default_folds(rng):
    X, Y = labelled_pairs(rng)
    found = co.compare(X, Y, ["cca"], n_components=1, groups=np.arange(150) % 3).results["cca"]
    assert len(found.splits) == 3


def test_a_splitter_without_a_seed_gives_all_methods_the_same_splits(rng):
    X, Y = labelled_pairs(rng)
    twins = {"one": co.CCA(n_components=1), "other": co.CCA(n_components=1)}
    one, other = co.compare(X, Y, twins, cv=ShuffleSplit(2, test_size=0.3)).results.values()
    np.testing.assert_array_equal(one.terms, other.terms)


def test_splits_may_come_from_a_generator(rng):
    X, Y = labelled_pairs(rng)
    halves = ((train, test) for train, test in [(range(75), range(75, 150))])
    assert len(co.compare(X, Y, ["cca", "ace"], n_components=1, cv=halves).results) == 2


# --- best


@pytest.mark.parametrize(
    ("terms", "best"),
    [
        ({"simple": np.zeros(400), "flexible": ahead(1.5 * MIN_STANDARD_ERRORS_AHEAD)}, "flexible"),
        ({"simple": np.zeros(400), "flexible": ahead(0.5 * MIN_STANDARD_ERRORS_AHEAD)}, "simple"),
        ({"simple": ahead(0.5 * MIN_STANDARD_ERRORS_AHEAD), "flexible": np.zeros(400)}, "simple"),
        ({"simple": ahead(5 * MIN_STANDARD_ERRORS_AHEAD), "flexible": np.zeros(400)}, "simple"),
        ({"simple": np.zeros(400), "middle": ahead(1.5), "flexible": ahead(1.5) + ahead(0.5)}, "middle"),
        ({"simple": np.zeros(400), "middle": ahead(-3), "flexible": ahead(2)}, "flexible"),
        ({"simple": np.zeros(400), "flexible": np.zeros(400)}, "simple"),
        ({"alone": np.full(400, -1.0)}, "alone"),
    ],
)
def test_best_is_the_simplest_not_clearly_behind(terms, best):
    assert comparison(**terms).best == best


def test_methods_are_compared_pair_by_pair():
    """A gain that is small beside the spread of the terms is clear if nearly every pair has it."""
    noise = 100 * np.random.default_rng(0).normal(size=400)
    assert comparison(simple=noise, flexible=noise + 0.1 * ahead(3)).best == "flexible"


def test_order_decides_between_equals(rng):
    X, Y = labelled_pairs(rng)
    twins = {"b": co.CCA(n_components=1), "a": co.CCA(n_components=1)}
    assert co.compare(X, Y, twins).best == "b"


def test_a_parabola_needs_more_than_lines(rng):
    compared = co.compare(*smooth_pairs(rng), ["cca", "ace"], n_components=1)
    assert compared.best == "ace"
    assert compared.results["cca"].captured < 0.1 < compared.results["ace"].captured


def test_a_line_needs_nothing_more(rng):
    x = rng.normal(size=(300, 1))
    assert co.compare(x, x + rng.normal(size=(300, 1)), ["cca", "ace"], n_components=1).best == "cca"


# --- table


@pytest.fixture(scope="module")
def uneven():
    """Two methods with one and with two components, and a name that tables dislike."""
    X, Y = labelled_pairs(np.random.default_rng(0))
    return co.compare(X, Y, {"one": co.CCA(n_components=1), 'a,b "c"\nd;é': co.ACE(n_components=2)}, cv=2)


def columns_of(frame):
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    return frame.to_dict("list") if isinstance(frame, pd.DataFrame) else frame.to_dict(as_series=False)


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_frame_has_the_numbers(uneven, backend, kind):
    frame = uneven.to_frame(backend)
    assert isinstance(frame, kind)
    columns = columns_of(frame)
    one, two = uneven.results.values()
    assert list(columns) == [
        *("method", "captured", "seconds", "held_out_1", "held_out_2", "low_1", "low_2", "high_1", "high_2"),
        *("training_1", "training_2"),
    ]
    assert columns["method"] == list(uneven.results)
    assert columns["captured"] == [one.captured, two.captured]
    assert columns["seconds"] == [one.seconds, two.seconds]
    for i in range(2):
        assert columns[f"held_out_{i + 1}"][1] == two.correlations[i]
        assert [columns[f"{name}_{i + 1}"][1] for name in ("low", "high")] == two.intervals[i].tolist()
        assert columns[f"training_{i + 1}"][1] == two.training[i]
    assert np.isnan([columns[f"{name}_2"][0] for name in ("held_out", "low", "high", "training")]).all()


def test_unknown_frame_library(uneven):
    with pytest.raises(ValueError, match="backend must"):
        uneven.to_frame("excel")


def test_csv_is_the_frame_as_text(uneven):
    head, *rows = csv.reader(io.StringIO(uneven.to_csv(), newline=""))
    columns = columns_of(uneven.to_frame("polars"))
    assert head == list(columns)
    for name, *values in zip(head, *rows, strict=True):
        if name == "method":
            assert values == columns[name]
        else:
            assert [value == "" for value in values] == [bool(np.isnan(value)) for value in columns[name]]
            numbers = [float(value or "nan") for value in values]
            np.testing.assert_allclose(numbers, columns[name], rtol=1e-5)


@pytest.mark.parametrize("read", [pd.read_csv, pl.read_csv])
def test_csv_is_read_by_others(uneven, read):
    columns = columns_of(read(io.BytesIO(uneven.to_csv().encode())))
    assert columns["method"] == list(uneven.results)
    np.testing.assert_allclose(columns["captured"], [r.captured for r in uneven.results.values()], rtol=1e-5)


@pytest.mark.parametrize("name", ["a,b", 'say "x"', '"', '""', "two\nlines", " spaces ", "1=1", "ünï", "semi;colon"])
def test_csv_keeps_the_names_of_methods(name):
    _, (found, *_) = csv.reader(io.StringIO(comparison(**{name: np.zeros(3)}).to_csv(), newline=""))
    assert found == name


def test_csv_does_not_run_the_name_of_a_method():
    _, (found, *_) = csv.reader(io.StringIO(comparison(**{"=1+1": np.zeros(3)}).to_csv(), newline=""))
    assert found == "'=1+1"


def test_csv_keeps_a_carriage_return():
    name = "two\rlines"
    rows = list(csv.reader(io.StringIO(comparison(**{name: np.zeros(3)}).to_csv(), newline="")))
    assert [row[0] for row in rows] == ["method", name]


def test_repr_marks_the_best_and_shows_training_below():
    held_out, training = np.array([0.5, 0.25]), np.array([0.75, 0.625])
    interval = np.array([0.0, 1.0])
    flexible = co.CrossFit(
        held_out, np.tile(interval, (2, 1)), 0.25, interval, training, *np.zeros((2, 400, 2)), [], 12.5, ahead(3)
    )
    simple = result(np.zeros(400))
    lines = repr(co.Comparison({"cca": simple, "pice": flexible}, {})).splitlines()
    assert lines[0].split() == ["captured", "seconds", "held-out", "correlations", "(training", "below)"]
    assert lines[1].split() == ["cca", "0.0000", "1.00", "1.000"]
    assert lines[3].split() == ["*", "pice", "0.2500", "12.50", "0.500", "0.250"]
    assert lines[4].split() == ["0.750", "0.625"]
    assert lines[5] == "* the simplest that is not clearly behind the best"
    assert lines[3].index("0.500") == lines[4].index("0.750")


def test_repr_is_not_too_wide():
    wide = co.CrossFit(
        *(np.zeros(30), np.zeros((30, 2)), 0.0, np.zeros(2), np.zeros(30), np.zeros((9, 30)), np.zeros((9, 30))),
        *([], 0.0, np.zeros(9)),
    )
    assert max(map(len, repr(co.Comparison({"cca": wide}, {})).splitlines())) < 120


# --- errors


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"methods": []}, ValueError, "methods must"),
        ({"methods": {}}, ValueError, "methods must"),
        ({"methods": ["pca"]}, ValueError, "method .*pca"),
        ({"methods": "cca"}, ValueError, "methods must .*cca"),
        ({"methods": {"mine": 3}}, TypeError, "est must .*3"),
        ({"methods": {"mine": co.CCA}}, TypeError, "est must"),
        ({"n_components": 0}, ValueError, "n_components must .*0"),
        ({"n_components": 1.5}, ValueError, "n_components must"),
        ({"methods": ["cca"], "groups": [1, 2]}, ValueError, "groups must .*150"),
        ({"methods": ["cca"], "cv": 1}, ValueError, "cv must"),
        ({"methods": ["cca"], "cv": "all"}, ValueError, "cv must"),
    ],
)
def test_wrong_arguments(rng, arguments, error, message):
    X, Y = labelled_pairs(rng)
    with pytest.raises(error, match=message):
        co.compare(X, Y, **arguments)


def test_wrong_data(rng):
    X, Y = labelled_pairs(rng)
    with pytest.raises(ValueError, match="same length"):
        co.compare(X, Y[1:], ["cca"])
    with pytest.raises(ValueError, match="Y is missing"):
        co.compare(X, None, ["cca"])
    with pytest.raises(ValueError, match="constant"):
        co.compare(X, np.zeros(150), ["cca"])
    with pytest.raises(ValueError, match="infinity"):
        co.compare(np.full((150, 2), np.inf), Y, ["cca"])


def test_methods_that_are_no_list(rng):
    X, Y = labelled_pairs(rng)
    with pytest.raises((TypeError, ValueError), match="methods must"):
        co.compare(X, Y, 3)


def test_names_of_methods_that_are_no_text(rng):
    X, Y = labelled_pairs(rng)
    try:
        compared = co.compare(X, Y, {1: co.CCA(n_components=1)}, cv=2)
    except ValueError:
        return
    assert "* 1" in repr(compared)
    assert "\n1," in compared.to_csv()


def test_nothing_is_said_to_be_nothing(rng):
    x, y = rng.normal(size=(2, 300, 1))
    assert repr(co.compare(x, y, ["cca"], n_components=1)).endswith("no method captures clearly more than 0.")
    assert "Nothing" not in repr(co.compare(x, x + y, ["cca"], n_components=1))


@pytest.mark.slow
def test_groups_of_two_values_are_compared(rng):
    """Of which a training part has but one, so that nothing in it must be kept apart."""
    x = rng.normal(size=(120, 1))
    y = x + 0.5 * rng.normal(size=(120, 1))
    comparison = co.compare(x, y, ["cca", "forest"], 1, groups=np.repeat(["A", "B"], 60), progress=False)
    assert set(comparison.results) == {"cca", "forest"}


def test_a_method_that_cannot_be_compared_is_named(rng, monkeypatch):
    x = rng.normal(size=(60, 1))

    def fail(est, *arguments, **options):
        if type(est).__name__ == "ACE":
            raise ValueError("It cannot.")
        return crossfit(est, *arguments, **options)

    crossfit = comparing.crossfit
    monkeypatch.setattr(comparing, "crossfit", fail)
    with pytest.warns(co.LeftOut, match="ace"):
        comparison = co.compare(x, x + rng.normal(size=(60, 1)), progress=False)
    assert list(comparison.results) == list(comparison.estimators) == ["cca"]
    with pytest.raises(ValueError, match="It cannot"):
        co.compare(x, x, ["ace"])
