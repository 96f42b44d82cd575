"""One call for any two variables: what it takes, what it keeps, and what it says."""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_wine

import correspondence as co
from correspondence.selection import component_count, decompose, race
from correspondence.selection.decompose import MIN_PAIRS, choose_decomposition
from correspondence.selection.dependence_test import N_DRAWS, SIGNIFICANCE_LEVEL
from correspondence.selection.method_registry import METHODS, PairsProfile


@pytest.fixture
def quick(monkeypatch):
    """Without the methods that take seconds; which of them suit is tested with the methods."""
    kept = {name: method for name, method in METHODS.items() if name not in ("forest", "pice")}
    monkeypatch.setattr("correspondence.selection.method_registry.METHODS", kept)


def gaussian(rng, n=500, rho=0.9):
    x = rng.normal(size=n)
    return x, rho * x + np.sqrt(1 - rho**2) * rng.normal(size=n)


def zipf(rng, n):
    """Unrelated labels, 100 and 30 of them, most of them rare."""
    weights = (1 / np.arange(1, k + 1) for k in (100, 30))
    return tuple(rng.choice(len(w), size=n, p=w / w.sum()).astype(str) for w in weights)


def count(x, y):
    """Table of how often each label occurs with each."""
    return co.CA().fit(x, y).table_


def linear(rng, n=400):
    X = rng.normal(size=(n, 3))
    return X, np.column_stack([X[:, 0] + rng.normal(size=n), rng.normal(size=n)])


def product(rng, n=400):
    """No function of one column alone is any use."""
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n)


def circular(rng, n=400):
    """Two angles, the second of which follows the first."""
    angle = rng.uniform(0, 2 * np.pi, size=n)
    return angle, (angle + 0.5 * rng.normal(size=n) + 2) % (2 * np.pi)


def mixture(rng, n=600):
    """Three classes that both sides show: two components."""
    centres = 4 * np.eye(3)[:, :2]
    w = rng.integers(3, size=n)
    return tuple(centres[w] + rng.normal(size=(n, 2)) for _ in range(2))


def unrelated(rng, n=200):
    return rng.normal(size=(n, 2)), rng.normal(size=(n, 2))


def labelled(rng, n=200):
    X = rng.normal(size=(n, 2))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.3 * rng.normal(size=n), [-0.5, 0.5])]


def assert_same(d, other, X, Y):
    np.testing.assert_array_equal(d.pics, other.pics)
    np.testing.assert_array_equal(d.f(X), other.f(X))
    np.testing.assert_array_equal(d.g(Y), other.g(Y))
    assert d.chi2 == other.chi2


# --- tables and labels


def related_labels(rng, n=300):
    x = rng.choice(["a", "b", "c"], size=n)
    return x, np.where(rng.random(n) < 0.7, x, "d")


@pytest.mark.parametrize("n_components", [None, 1])
@pytest.mark.parametrize("method", ["auto", "ca"])
def test_a_table_of_shares_is_fitted_exactly(n_components, method):
    table = co.Table(np.array([[0.5, 0.2, 0.1], [0.1, 0.9, 0.3], [0.2, 0.1, 0.4]]), list("abc"), list("xyz"))
    choice = choose_decomposition(table, n_components=n_components, method=method)
    assert_same(choice.decomposition, co.CA(n_components).fit(table).decomposition_, table.rows, table.columns)
    assert choice.found is None
    assert choice.dimension is None
    assert "whole" in choice.not_tested


def test_shares_cannot_choose_a_ridge():
    with pytest.raises(ValueError, match=r"method must .*whole"):
        choose_decomposition(np.array([[0.5, 0.2], [0.1, 0.9]]), method="ridge-ca")


@pytest.mark.parametrize(("counts", "key"), [([[3, 1, 2], [1, 3, 2], [0, 1, 5]], str(MIN_PAIRS))])
def test_why_the_components_of_a_table_are_not_tested(counts, key):
    choice = choose_decomposition(np.array(counts))
    assert choice.method == "ca"
    assert key in choice.not_tested
    assert not choice.is_nothing
    assert choice.decomposition.n_components == len(counts) - 1


@pytest.mark.parametrize("as_table", [False, True])
def test_labels_keep_the_components_that_are_significant(rng, as_table):
    x, y = related_labels(rng)
    choice = choose_decomposition(count(x, y)) if as_table else choose_decomposition(x, y)
    assert choice.found == choice.decomposition.n_components == 2
    assert choice.is_compared
    assert choice.method == "ca"
    assert_same(choice.decomposition, co.CA(n_components=2).fit(x, y).decomposition_, x, y)
    assert re.fullmatch(r"ca: captures \S+ on \d+ held-out pairs.*; 2 components significant\.", choice.origin)


def test_components_of_a_table_that_are_not_significant_are_left_out():
    table = co.datasets.load_smoke()
    choice = choose_decomposition(table, method="ca")
    assert choice.decomposition.n_components == max(1, choice.found) < co.CA().fit(table).decomposition_.n_components
    assert choice.decomposition.f(table.rows).shape == (len(table.rows), choice.decomposition.n_components)


@pytest.mark.slow
@pytest.mark.parametrize("as_table", [False, True])
def test_rare_labels_without_dependence_are_not_believed(as_table):
    rng = np.random.default_rng(0)
    x, y = zipf(rng, 2000)
    with pytest.warns(co.NothingFound, match="Nothing"):
        d = co.decompose(count(x, y), verbose=False) if as_table else co.decompose(x, y, verbose=False)
    assert d.n_components <= 1
    assert d.evaluate(*zipf(rng, 20_000)).captured >= -0.02


# --- a method that is named


@pytest.mark.parametrize(
    ("method", "est"),
    [
        ("cca", co.CCA(n_components=2)),
        ("ace", co.ACE(n_components=2)),
        ("kernel", co.KernelCCA(n_components=2, random_state=4)),
    ],
)
def test_a_method_that_is_named_is_taken(rng, method, est):
    X, Y = labelled(rng)
    d = co.decompose(X, Y, 2, method, random_state=4, verbose=False)
    assert_same(d, est.fit(X, Y).decomposition_, X, Y)
    assert d.origin == f"{method}: asked for."


def test_ca_that_is_named_is_taken_for_numbers(rng):
    x = rng.integers(3, size=200)
    y = (x + rng.integers(2, size=200)) % 3
    d = co.decompose(x, y, method="ca", verbose=False)
    assert_same(d, co.CA(n_components=2).fit(x, y).decomposition_, x, y)
    assert d.origin == "ca: asked for; 2 components significant."


def test_a_method_that_is_named_fits_what_is_significant_and_no_more(rng):
    X, Y = linear(rng)
    d = co.decompose(X, Y, method="cca", verbose=False)
    assert_same(d, co.CCA(n_components=1).fit(X, Y).decomposition_, X, Y)
    assert d.origin == "cca: asked for; 1 component significant."


@pytest.mark.slow
def test_more_components_do_not_spoil_the_first():
    x, y = gaussian(np.random.default_rng(0))
    d = co.decompose(x, y, method="ace", verbose=False)
    assert d.n_components >= 3
    assert_same(d, co.ACE(n_components=d.n_components).fit(x, y).decomposition_, x, y)
    assert d.correlations[0] == pytest.approx(0.9, abs=0.03)


# --- the choice


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("pairs", [product, circular])
def test_what_lines_cannot_see_is_found(pairs):
    X, Y = pairs(np.random.default_rng(0))
    new = pairs(np.random.default_rng(1), 2000)
    d = co.decompose(X, Y, 1, verbose=False)
    by_lines = co.CCA(n_components=1).fit(X, Y).evaluate(*new).captured
    assert not d.origin.startswith("cca")
    assert d.evaluate(*new).captured > max(by_lines, 0) + 0.3


@pytest.mark.slow
def test_what_is_captured_is_that_of_compare(rng):
    X, Y = linear(rng, 200)
    compared = co.compare(X, Y, ["cca", "ace"], 1, random_state=2)
    choice = choose_decomposition(X, Y, 1, among=("cca", "ace"), random_state=2)
    captured = {name: f"{result.captured:.3g}" for name, result in compared.results.items()}
    assert choice.method == compared.best == "cca"
    assert choice.reason == f"captures {captured['cca']} on 200 held-out pairs (ace {captured['ace']})"


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("pairs", [linear, product])
def test_never_much_worse_than_the_best_single_method(pairs):
    """On fresh pairs, at most 0.1 of the best behind it: about what the choice between equals costs."""
    X, Y = pairs(np.random.default_rng(0), 300)
    new = pairs(np.random.default_rng(1), 2000)
    captured = [co.decompose(X, Y, 1, name, verbose=False).evaluate(*new).captured for name in ("cca", "ace", "kernel")]
    best = max(captured)
    assert best > 0.3
    assert co.decompose(X, Y, 1, verbose=False).evaluate(*new).captured > 0.9 * best


@pytest.mark.slow
def test_three_classes_share_two_components(rng):
    d = co.decompose(*mixture(rng, 300), method="kernel", verbose=False)
    assert d.n_components == 2
    assert d.origin == "kernel: asked for; 2 components significant."


def test_unrelated_data_keep_one_component_with_a_warning():
    X, Y = unrelated(np.random.default_rng(1))
    with pytest.warns(co.NothingFound, match="Nothing") as caught:
        d = co.decompose(X, Y, method="cca", verbose=False)
    assert d.n_components == 1
    assert "; 0 components significant" in d.origin
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_the_race_warns_of_nothing_but_what_it_has_found():
    """Methods that lose may find nothing, or regularise, without a word."""
    x, y = gaussian(np.random.default_rng(0), 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        co.decompose(x, y, verbose=False)


@pytest.mark.slow
def test_unrelated_columns_are_rarely_related():
    """At 5 % more than 2 of 6 come about twice in a thousand times."""
    choices = [choose_decomposition(*np.random.default_rng(seed).normal(size=(2, 60))) for seed in range(6)]
    assert sum(choice.found > 0 for choice in choices) <= 2
    assert all(choice.decomposition.n_components == max(1, choice.found) for choice in choices)


def weak_line(rng):
    return gaussian(rng, 500, 0.15)


def weak_parabola(rng):
    x = rng.normal(size=500)
    return x, 0.15 * (x**2 - 1) + rng.normal(size=500)


def weak_column(rng):
    X = rng.normal(size=(500, 10))
    return X, 0.2 * X[:, 0] + rng.normal(size=500)


def weak_scale(rng):
    x = rng.normal(size=500)
    return x, np.exp(0.25 * x) * rng.normal(size=500)


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [weak_line, weak_parabola, weak_column, weak_scale])
def test_weak_dependence_is_found(pairs):
    """Where the best test of each kind has a power of 0.7 to 1; one of 0.8 finds fewer than two of four in 3 %."""
    found = [choose_decomposition(*pairs(np.random.default_rng(seed)), among=("cca", "ace")).found for seed in range(4)]
    assert sum(k > 0 for k in found) >= 2


@pytest.mark.slow
def test_columns_of_a_survey_are_found_to_be_related():
    path = Path(os.environ.get("CORRESPONDENCE_DATA", "data")) / "ca_tables" / "tea.csv"
    if not path.exists():
        pytest.skip("tea.csv is not there")
    tea = pl.read_csv(path, null_values="NA")
    assert choose_decomposition(tea[:, :12], tea[:, 12:18], among=("cca", "ace")).found >= 1


@pytest.mark.usefixtures("quick")
def test_so_many_components_as_asked_for():
    X, Y = unrelated(np.random.default_rng(1), 90)
    d = co.decompose(X, Y, 2, verbose=False)
    assert d.n_components == 2
    assert "significant" not in d.origin


def test_too_few_pairs_to_test(rng):
    X, Y = linear(rng, MIN_PAIRS - 1)
    choice = choose_decomposition(X, Y)
    assert choice.found is None
    assert not choice.is_nothing
    assert str(MIN_PAIRS) in choice.not_tested
    assert f"not tested, because {choice.not_tested}." in choice.origin
    assert choice.decomposition.n_components == 1


def test_few_pairs_are_left_to_the_simplest(rng):
    X, Y = linear(rng, 80)
    assert co.decompose(X, Y, verbose=False).origin.startswith("cca: captures ")


def test_the_only_sensible_method_is_taken(rng):
    X = np.column_stack([rng.normal(size=90), rng.normal(size=(90, 301))])
    d = co.decompose(X, X[:, 0] + 0.1 * rng.normal(size=90), 1, verbose=False)
    assert d.origin == "cca: nothing else suits."


def test_equal_seeds_give_equal_results(rng):
    X, Y = labelled(rng)
    first, second = (co.decompose(X, Y, method="kernel", random_state=3, verbose=False) for _ in range(2))
    assert_same(first, second, X, Y)
    assert first.origin == second.origin


def test_groups_are_never_on_both_sides():
    """Unrelated values, each pair five times: a method that remembers them finds a lot unless it knows the groups."""
    rng = np.random.default_rng(1)
    X, Y = np.repeat(rng.normal(size=(30, 4)), 5, axis=0), np.repeat(rng.normal(size=(30, 4)), 5, axis=0)
    assert choose_decomposition(X, Y, method="cca").found > 0
    with pytest.warns(co.NothingFound, match="Nothing"):
        d = co.decompose(X, Y, method="cca", groups=np.repeat(np.arange(30), 5), verbose=False)
    assert d.n_components == 1


# --- what it says


def test_one_line_on_the_error_output(rng, capsys):
    d = co.decompose(*linear(rng), method="cca")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == d.origin + "\n"
    assert err.count("\n") == 1
    assert d.origin in repr(d)


@pytest.mark.slow
@pytest.mark.parametrize("data", [linear, labelled])
def test_silence(rng, capsys, data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        co.decompose(*data(rng), method="ace", verbose=False)
    assert capsys.readouterr() == ("", "")


def test_origin_is_saved(rng, tmp_path):
    X, Y = linear(rng)
    d = co.decompose(X, Y, method="cca", verbose=False)
    d.save(tmp_path / "model")
    loaded = co.load(tmp_path / "model")
    assert loaded.origin == d.origin != ""
    assert_same(loaded, d, X, Y)


# --- errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "pca"}, "method .*pca"),
        ({"method": None}, "method must .*None"),
        ({"n_components": 0}, "n_components must .*0"),
        ({"n_components": 1.5}, "n_components must"),
        ({"method": "cca", "groups": [1]}, "groups must .*200"),
        ({"method": "cca", "groups": np.zeros(200)}, "groups must .*two"),
    ],
)
def test_wrong_arguments(rng, arguments, message, capsys):
    with pytest.raises(ValueError, match=message):
        co.decompose(*labelled(rng), **arguments)
    assert capsys.readouterr() == ("", "")


def test_wrong_data(rng):
    X, Y = labelled(rng)
    with pytest.raises(ValueError, match="same length"):
        co.decompose(X, Y[1:])
    with pytest.raises(ValueError, match="Negative values"):
        co.decompose(X)
    with pytest.raises(ValueError, match="Y is missing"):
        co.decompose(np.eye(3) + 1, method="cca")
    with pytest.raises(ValueError, match="constant"):
        co.decompose(X, ["a"] * 200)
    with pytest.raises(ValueError, match="X is empty"):
        co.decompose([], [])


@pytest.mark.slow
def test_few_texts_are_no_mistake_in_methods(rng):
    _, Y = labelled(rng, 60)
    texts = [f"this is {label} in row {i}" for i, label in enumerate(Y)]
    try:
        co.decompose(texts, Y, verbose=False)
    except ValueError as error:
        assert "methods must" not in str(error)  # noqa: PT017


def test_fewer_pairs_than_folds(rng):
    X = rng.normal(size=(4, 1))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", co.NothingFound)
            co.decompose(X, X + rng.normal(size=(4, 1)), method="cca", verbose=False)
    except ValueError as error:
        assert "cv must" not in str(error)  # noqa: PT017


def test_what_is_forgotten_is_said(rng):
    X, _ = linear(rng)
    with pytest.raises(ValueError, match="Y is missing"):
        co.decompose(X)
    with pytest.raises(ValueError, match=r"Y must .*grade"):
        co.decompose(X, "grade")


# --- what is learnt on the way


def test_the_choice_keeps_its_test(rng):
    X, Y = linear(rng)
    choice = choose_decomposition(X, Y, method="cca", test=True, random_state=2)
    tested = co.latent_dimension(co.CCA(n_components=2), X, Y, n_permutations=N_DRAWS, random_state=2)
    np.testing.assert_array_equal(choice.dimension.pvalues, tested.pvalues[: choice.found])
    np.testing.assert_array_equal(choice.dimension.correlations, tested.correlations[: choice.found])
    assert choice.found == choice.dimension.n_components == (choice.dimension.pvalues <= SIGNIFICANCE_LEVEL).sum()
    assert choice.method == "cca"
    assert choice.origin == choice.decomposition.origin == f"cca: {choice.reason}."
    assert not choice.is_nothing
    assert not choice.is_compared
    assert_same(choice.decomposition, co.decompose(X, Y, method="cca", random_state=2, verbose=False), X, Y)


@pytest.mark.parametrize("data", [linear, labelled])
def test_components_that_are_given_are_tested_if_asked_for(rng, data):
    X, Y = data(rng)
    assert choose_decomposition(X, Y, 1, "cca").dimension is None
    choice = choose_decomposition(X, Y, 1, "cca", test=True)
    assert len(choice.dimension.pvalues) == choice.decomposition.n_components == 1
    assert choice.reason == "asked for; 1 component significant"


@pytest.mark.slow
def test_labels_are_tested_if_asked_for(rng):
    x = rng.choice(["a", "b", "c"], size=300)
    y = np.where(rng.random(300) < 0.7, x, "d")
    choice = choose_decomposition(x, y, 2, test=True)
    assert choice.method == "ca"
    tested = co.latent_dimension(co.CA(n_components=2), x, y)
    np.testing.assert_array_equal(choice.dimension.correlations, tested.correlations)
    assert choose_decomposition(x[:30], y[:30], 2, test=True).dimension is None


def test_one_fit_is_enough_if_the_method_is_named(rng, monkeypatch):
    X, Y = linear(rng)
    sizes = []
    fit = co.CCA.fit
    monkeypatch.setattr(co.CCA, "fit", lambda self, X, Y, **o: sizes.append(len(X)) or fit(self, X, Y, **o))
    choose_decomposition(X, Y, method="cca")
    assert sizes == [len(X)]


@pytest.mark.usefixtures("quick")
def test_auto_chooses_among_those_allowed(rng):
    X, Y = labelled(rng)
    choice = choose_decomposition(X, Y, 1, among=("cca", "kernel"))
    assert choice.method in ("cca", "kernel")
    assert set(re.findall("cca|ace|kernel|logistic|mlp", choice.origin)) == {"cca", "kernel"}
    assert choose_decomposition(X, Y, 1, among=("ca",)).method == "kernel"


@pytest.mark.slow
def test_a_kernel_of_few_pairs_keeps_what_is_there():
    """A kernel with ten components of 178 wines holds nothing on new ones; with those that suit it, it does."""
    wines = load_wine(as_frame=True).frame
    wines["grape"] = np.array(["a", "b", "c"], dtype=object)[wines.target]
    X, Y = wines[["color_intensity", "grape"]], wines["flavanoids"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        choice = choose_decomposition(X, Y, among=("cca", "kernel"), progress=False)
    assert choice.method == "kernel"
    assert 1 <= choice.found <= 5
    assert co.crossfit(co.KernelCCA(n_components=choice.found), X, Y).captured > 0.5


@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_few_groups_are_not_tested(kind, quick):
    rng = np.random.default_rng(0)
    X, Y = gaussian(rng, n=200)
    if kind == "labels":
        X, Y = np.digitize(X, [-1, 0, 1]).astype(str), np.digitize(Y, [-1, 0, 1]).astype(str)
    choice = choose_decomposition(X, Y, groups=np.repeat([0, 1], 100), test=True)
    assert choice.found is None
    assert "2 groups" in choice.not_tested
    assert choice.decomposition.n_components == 1


def test_a_table_has_no_groups():
    with pytest.raises(ValueError, match=r"groups must be None .* table"):
        co.decompose([[30, 10], [5, 40]], groups=[0, 1], verbose=False)


@pytest.mark.parametrize("with_groups", [False, True])
def test_a_label_that_is_missing_in_a_part_is_no_error(monkeypatch, with_groups):
    """A classifier cannot be fitted to a block without it; dependence is tested on all pairs then."""

    def fail(*arguments, **options):
        raise ValueError("y must have two labels at least")

    monkeypatch.setattr(component_count, "latent_dimension", fail)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 1))
    y = np.where(x[:, 0] + rng.normal(size=200) > 0, "yes", "no")
    groups = np.arange(200) // 2 if with_groups else None
    choice = choose_decomposition(x, y, method="logistic", groups=groups)
    assert choice.found is None
    assert "not tested, because a part of the pairs has too few labels to be fitted." in choice.origin
    if not with_groups:
        monkeypatch.setattr(decompose, "pick_method", lambda *arguments, **options: (None, "logistic", "wins"))
        assert choose_decomposition(x, y).origin == "logistic: wins; 1 component significant."


@pytest.mark.slow
def test_a_line_does_not_win_where_a_curve_sees_a_second_component():
    """Held-out folds of 300 pairs cannot tell them apart, a test on all pairs can."""
    rng = np.random.default_rng([31, 1])
    x = rng.normal(size=(300, 1))
    y = 0.6 * x + 0.8 * rng.normal(size=(300, 1))
    contest = race.Contest(x, y, PairsProfile.from_data(x, y), random_state=3)
    assert race.run_race(contest, ["cca", "ace"]).winner.method == "cca"
    d = co.decompose(x, y, random_state=3, verbose=False)
    assert d.origin.startswith("ace")
    assert d.n_components >= 2
    assert co.decompose(x, y, 1, random_state=3, verbose=False).origin.startswith("cca")


@pytest.mark.slow
def test_a_race_for_nothing_is_short(monkeypatch):
    """Where no dependence is found, one fold decides."""
    lengths = []

    def count_folds(contest, name, n_components, parts):
        lengths.append(len(parts))
        return cross_fit(contest, name, n_components, parts)

    cross_fit = race.Contest.cross_fit
    monkeypatch.setattr(race.Contest, "cross_fit", count_folds)
    rng = np.random.default_rng(0)
    with pytest.warns(co.NothingFound):
        co.decompose(rng.normal(size=(300, 3)), rng.normal(size=(300, 3)), verbose=False)
    assert set(lengths) == {1}
    x = rng.normal(size=(300, 3))
    co.decompose(x, x + rng.normal(size=(300, 3)), verbose=False)
    assert max(lengths) == 5


@pytest.mark.parametrize("seed", [-1, 1.5, "a", None, 2**32])
def test_a_seed_must_be_a_whole_number(rng, seed):
    with pytest.raises((ValueError, TypeError), match="random_state"):
        co.decompose(*gaussian(rng, 60), random_state=seed)


@pytest.mark.slow
def test_components_beyond_the_functions_are_not_judged(rng):
    x = rng.integers(4, size=200).astype(float)
    choice = choose_decomposition(x, x + rng.normal(size=200), 9, "ace", test=True)
    assert len(choice.dimension.pvalues) == choice.decomposition.n_components < 9
    assert choice.dimension.interval[1] <= choice.decomposition.n_components


@pytest.mark.slow
def test_three_lines_do_not_win_where_curves_see_more():
    """A race judges three components, which is all that lines of three columns have; smooth functions have ten."""

    def draw(seed, n):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 3))
        return X, X + 0.4 * rng.normal(size=(n, 3))

    X, Y = draw(1, 300)
    d = co.decompose(X, Y, verbose=False, progress=False)
    lines = co.CCA(n_components=3).fit(X, Y)
    fresh = draw(101, 5000)
    assert d.n_components > 3
    assert d.evaluate(*fresh).captured > lines.evaluate(*fresh).captured + 1


@pytest.mark.parametrize("share", [1.0, 0.95])
def test_names_of_the_rows_are_refused_at_once(rng, monkeypatch, share):
    monkeypatch.setattr(decompose, "prepare_contest", None)  # nothing is tried
    names = [f"n{i}" if i < share * 200 else "other" for i in range(200)]
    y = rng.normal(size=200)
    with pytest.raises(ValueError, match=r"X must .* names of the rows"):
        co.decompose(names, y)
    with pytest.raises(ValueError, match=r"Y must .* names of the rows"):
        co.compare(y, names)


def test_a_method_may_be_asked_for_names_of_the_rows(rng):
    names = [f"n{i}" for i in range(60)]
    assert co.decompose(names, rng.integers(3, size=60).astype(str), 1, "ca", verbose=False).n_components == 1
