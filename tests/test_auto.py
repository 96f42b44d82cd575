"""One call for any two variables: what it takes, what it keeps, and what it says."""

import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine

import correspondence as co
from correspondence.auto import choose
from correspondence.methods import METHODS


@pytest.fixture
def quick(monkeypatch):
    """Without the methods that take seconds; which of them suit is tested with the methods."""
    kept = {name: method for name, method in METHODS.items() if name not in ("forest", "pice")}
    monkeypatch.setattr("correspondence.methods.METHODS", kept)


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


@pytest.mark.parametrize("n_components", [None, 1])
@pytest.mark.parametrize("method", ["auto", "ca"])
def test_a_table_goes_to_ca(n_components, method):
    table = co.datasets.load_smoke()
    d = co.decompose(table, n_components=n_components, method=method, verbose=False)
    assert_same(d, co.CA(n_components=n_components).fit(table).decomposition_, table.rows, table.columns)
    assert d.origin == "ca: X is a table of counts."


@pytest.mark.parametrize("n_components", [None, 1])
def test_columns_of_labels_go_to_ca(rng, n_components):
    x = rng.choice(["a", "b", "c"], size=300)
    y = np.where(rng.random(300) < 0.7, x, "d")
    d = co.decompose(x, y, n_components, verbose=False)
    assert_same(d, co.CA(n_components=n_components).fit(x, y).decomposition_, x, y)
    assert d.origin == "ca: X and Y are 3 and 4 labels."


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
    assert_same(d, co.CA().fit(x, y).decomposition_, x, y)
    assert d.origin == "ca: asked for."


def test_the_functions_that_were_tested_are_those_that_are_kept(rng):
    """A fit of fewer components may be another one: ACE chooses its smoothness by all of them."""
    x = rng.normal(size=(400, 1))
    y = np.sin(3 * x) + 0.1 * rng.normal(size=(400, 1))
    choice = choose(x, y, method="ace", random_state=1)
    most = co.ACE(n_components=len(choice.dimension.pvalues)).fit(x, y).decomposition_
    assert_same(choice.decomposition, most.truncate(choice.decomposition.n_components), x, y)
    assert choice.decomposition.n_components < most.n_components


def test_a_method_that_is_named_is_cut_to_what_holds(rng):
    X, Y = linear(rng)
    d = co.decompose(X, Y, method="cca", verbose=False)
    assert_same(d, co.CCA(n_components=2).fit(X, Y).decomposition_.truncate(1), X, Y)
    assert d.origin == "cca: asked for; 1 of 2 components significant on held-out pairs."


# --- the choice


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("pairs", [product, circular])
def test_what_lines_cannot_see_is_found(pairs):
    X, Y = pairs(np.random.default_rng(0))
    new = pairs(np.random.default_rng(1), 2000)
    d = co.decompose(X, Y, 1, verbose=False)
    by_lines = co.CCA(n_components=1).fit(X, Y).evaluate(*new).captured
    assert not d.origin.startswith("cca")
    assert d.evaluate(*new).captured > max(by_lines, 0) + 0.3


@pytest.mark.usefixtures("quick")
def test_the_choice_is_that_of_compare(rng):
    X, Y = labelled(rng)
    compared = co.compare(X, Y, random_state=2)
    d = co.decompose(X, Y, random_state=2, verbose=False)
    best = compared.estimators[compared.best].fit(X, Y).decomposition_
    assert_same(d, best.truncate(d.n_components), X, Y)
    assert d.origin.startswith(f"{compared.best}: captures {compared.results[compared.best].captured:.3g} on held-out")
    for name in set(compared.results) - {compared.best}:
        assert f"{name} {compared.results[name].captured:.3g}" in d.origin


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("pairs", [linear, product, mixture])
def test_never_much_worse_than_the_best_single_method(pairs):
    """On fresh pairs, at most 0.1 of the best behind it: about what the choice between equals costs."""
    X, Y = pairs(np.random.default_rng(0))
    new = pairs(np.random.default_rng(1), 2000)
    captured = {
        name: co.decompose(X, Y, 2, name, verbose=False).evaluate(*new).captured
        for name in ("ace", "kernel") + (("cca",) if np.ndim(Y) == 2 else ())
    }
    best = max(captured.values())
    assert best > 0.3
    assert co.decompose(X, Y, 2, verbose=False).evaluate(*new).captured > 0.9 * best


@pytest.mark.usefixtures("quick")
def test_three_classes_share_two_components(rng):
    d = co.decompose(*mixture(rng), verbose=False)
    assert d.n_components == 2
    assert "; 2 of 10 components significant on held-out pairs." in d.origin


@pytest.mark.usefixtures("quick")
def test_unrelated_data_keep_one_component_with_a_warning():
    X, Y = unrelated(np.random.default_rng(1))
    with pytest.warns(co.NothingFound, match="Nothing was found: no component") as caught:
        d = co.decompose(X, Y, verbose=False)
    assert d.n_components == 1
    assert "; 0 of" in d.origin
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.usefixtures("quick")
def test_so_many_components_as_asked_for():
    X, Y = unrelated(np.random.default_rng(1))
    d = co.decompose(X, Y, 2, verbose=False)
    assert d.n_components == 2
    assert "components above" not in d.origin


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
    X, Y = np.repeat(rng.normal(size=(60, 4)), 5, axis=0), np.repeat(rng.normal(size=(60, 4)), 5, axis=0)
    found = co.decompose(X, Y, method="kernel", verbose=False)
    assert "; 0 of" not in found.origin
    with pytest.warns(co.NothingFound, match="Nothing was found"):
        d = co.decompose(X, Y, method="kernel", groups=np.repeat(np.arange(60), 5), verbose=False)
    assert d.n_components == 1


# --- what it says


def test_one_line_on_the_error_output(rng, capsys):
    d = co.decompose(*linear(rng), method="cca")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == d.origin + "\n"
    assert err.count("\n") == 1
    assert d.origin in repr(d)


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
        ({"method": "pca"}, "method must be auto, ca, cca, .*, got 'pca'"),
        ({"method": None}, "method must be auto, .*, got None"),
        ({"n_components": 0}, "n_components must be a whole number of at least 1, got 0"),
        ({"n_components": 1.5}, "n_components must be a whole number"),
        ({"method": "cca", "groups": [1]}, "groups must have one value for each of the 200 pairs"),
        ({"method": "cca", "groups": np.zeros(200)}, "groups must be at least two"),
    ],
)
def test_wrong_arguments(rng, arguments, message, capsys):
    with pytest.raises(ValueError, match=message):
        co.decompose(*labelled(rng), **arguments)
    assert capsys.readouterr() == ("", "")


def test_wrong_data(rng):
    X, Y = labelled(rng)
    with pytest.raises(ValueError, match="same length, got 200 and 199"):
        co.decompose(X, Y[1:])
    with pytest.raises(ValueError, match="Negative values"):
        co.decompose(X)
    with pytest.raises(ValueError, match="Y is missing: method 'cca' needs pairs"):
        co.decompose(np.eye(3) + 1, method="cca")
    with pytest.raises(ValueError, match="constant"):
        co.decompose(X, ["a"] * 200)
    with pytest.raises(ValueError, match="X is empty"):
        co.decompose([], [])


def test_few_texts_are_no_mistake_in_methods(rng):
    _, Y = labelled(rng, 60)
    texts = [f"this is {label} in row {i}" for i, label in enumerate(Y)]
    try:
        co.decompose(texts, Y, verbose=False)
    except ValueError as error:
        assert "methods is empty" not in str(error)  # noqa: PT017


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
    with pytest.raises(ValueError, match="Y is missing, and without it X must be a table of counts"):
        co.decompose(X)
    with pytest.raises(ValueError, match="Y must be data, not the name of a column"):
        co.decompose(X, "grade")


# --- what is learnt on the way


def test_the_choice_keeps_its_test(rng):
    X, Y = linear(rng)
    choice = choose(X, Y, method="cca", random_state=2)
    tested = co.latent_dimension(co.CCA(n_components=2), X, Y, random_state=2)
    np.testing.assert_array_equal(choice.dimension.pvalues, tested.pvalues)
    assert choice.method == "cca"
    assert choice.origin == choice.decomposition.origin == f"cca: {choice.reason}."
    assert not choice.is_nothing
    assert_same(choice.decomposition, co.decompose(X, Y, method="cca", random_state=2, verbose=False), X, Y)


@pytest.mark.parametrize("data", [linear, labelled])
def test_components_that_are_given_are_tested_if_asked_for(rng, data):
    X, Y = data(rng)
    assert choose(X, Y, 1, "cca").dimension is None
    choice = choose(X, Y, 1, "cca", test=True)
    assert len(choice.dimension.pvalues) == choice.decomposition.n_components == 1
    assert choice.reason == "asked for; 1 of 1 components significant on held-out pairs"


def test_labels_are_tested_if_asked_for(rng):
    x = rng.choice(["a", "b", "c"], size=300)
    y = np.where(rng.random(300) < 0.7, x, "d")
    choice = choose(x, y, 2, test=True)
    assert choice.method == "ca"
    tested = co.latent_dimension(co.CA(n_components=2), x, y)
    np.testing.assert_array_equal(choice.dimension.correlations, tested.correlations)
    assert choose(x[:30], y[:30], 2, test=True).dimension is None


def test_nothing_is_fitted_twice(rng, monkeypatch):
    X, Y = linear(rng)
    sizes = []
    fit = co.CCA.fit
    monkeypatch.setattr(co.CCA, "fit", lambda self, X, Y, **o: sizes.append(len(X)) or fit(self, X, Y, **o))
    choose(X, Y, method="cca")
    assert sizes.count(len(X)) == 1
    assert len(sizes) == 4  # three fits of the test, and that of all pairs


@pytest.mark.usefixtures("quick")
def test_auto_chooses_among_those_allowed(rng):
    X, Y = labelled(rng)
    choice = choose(X, Y, 1, among=("cca", "kernel"))
    assert choice.method in ("cca", "kernel")
    assert set(re.findall("cca|ace|kernel|logistic|mlp", choice.origin)) == {"cca", "kernel"}
    assert choose(X, Y, 1, among=("ca",)).method == "kernel"


def test_ten_components_learned_by_heart_do_not_hide_three_that_are_there():
    """A kernel with ten components of 178 wines holds nothing on new ones; with three it does."""
    wines = load_wine(as_frame=True).frame
    wines["grape"] = np.array(["a", "b", "c"], dtype=object)[wines.target]
    X, Y = wines[["color_intensity", "grape"]], wines["flavanoids"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        choice = choose(X, Y, among=("cca", "kernel"), progress=False)
    assert choice.method == "kernel"
    assert 1 <= choice.decomposition.n_components <= 3
    assert not choice.is_nothing
    assert "of 3 components significant" in choice.reason
