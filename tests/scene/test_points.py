"""Points of any picture: labels once each with their masses, values where the functions have them."""

import numpy as np
import pandas as pd
import pytest

import correspondence as co
from correspondence.core.decomposition import as_decomposition
from correspondence.scene.points import (
    check_names,
    choose_values,
    locate_fit_labels,
    locate_labels,
    locate_marks,
    locate_values,
)

X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.where(X[:, 0] > 0.5, "c", np.where(X[:, 0] > -0.5, "b", "a"))


@pytest.fixture(scope="module")
def tasks():
    return co.CA().fit(co.datasets.load_housetasks()).decomposition_


@pytest.fixture(scope="module")
def learned():
    return as_decomposition(co.CCA(n_components=2).fit(X, Y))


def test_labels_of_a_table_are_all_there_with_their_masses(tasks):
    points = locate_fit_labels(tasks.f, "X")
    assert points.labels.tolist() == tasks.f.labels.tolist()
    np.testing.assert_array_equal(points.places, tasks.f.values)
    np.testing.assert_array_equal(points.mass, tasks.f.mass)
    assert points.rows.tolist() == list(range(13))
    assert len(points) == points.total == points.given == 13


def test_labels_that_never_occur_have_no_place():
    with pytest.warns(co.LeftOut, match="zero"):
        d = co.CA().fit(pd.DataFrame([[5, 0, 2], [0, 0, 0], [1, 7, 1]], index=list("abc"))).decomposition_
    points = locate_fit_labels(d.f, "X")
    assert points.labels.tolist() == ["a", "c"]
    assert points.rows.tolist() == [0, 2]
    assert (points.total, points.given) == (2, 3)


def test_labels_of_a_column_have_the_shares_of_the_fit(learned):
    points = locate_fit_labels(learned.g, "Y")
    assert points.labels.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(points.mass, [np.mean(label == Y) for label in "abc"])
    np.testing.assert_allclose(points.places, learned.g(["a", "b", "c"]))


def test_each_label_of_a_column_once_in_the_order_of_the_data(tasks):
    shares = dict(zip(tasks.g.labels.tolist(), tasks.g.mass.tolist(), strict=True))
    points = locate_labels(tasks.g, ["Jointly", "nobody", "Wife", "Jointly"], shares, "Y")
    assert points.labels.tolist() == ["Jointly", "Wife"]
    assert points.rows.tolist() == [0, 2]
    assert (points.total, points.given) == (2, 4)
    assert points.mass.tolist() == [shares["Jointly"], shares["Wife"]]


def test_of_many_labels_those_of_the_largest_inertia(tasks):
    shares = dict(zip(tasks.f.labels.tolist(), tasks.f.mass.tolist(), strict=True))
    points = locate_labels(tasks.f, tasks.f.labels, shares, "X", most=4)
    inertia = tasks.f.mass * (tasks.f.values**2).sum(axis=1)
    assert points.rows.tolist() == sorted(np.argsort(-inertia)[:4].tolist())
    assert points.total == 13


def test_values_are_where_the_functions_have_them(learned):
    points = locate_values(learned.f, X, "X")
    np.testing.assert_array_equal(points.places, learned.f(X))
    assert points.labels is None
    assert points.mass is None
    some = locate_values(learned.f, X, "X", most=10)
    assert len(some) == 10
    assert (some.total, some.given) == (60, 60)
    np.testing.assert_allclose(some.places, points.places[some.rows])


def test_values_without_a_place_are_left_out(tasks):
    points = locate_values(tasks.g.accept_unknown(), ["Wife", "nobody", "Husband", "Wife"], "Y")
    assert points.labels.tolist() == ["Wife", "Husband", "Wife"]
    assert points.rows.tolist() == [0, 2, 3]


def test_texts_are_their_own_labels_even_if_the_functions_take_something_else(learned):
    texts = [f"text {i}" for i in range(60)]
    points = locate_values(learned.f, X, "X", most=5, shown=texts)
    assert points.labels.tolist() == [texts[i] for i in points.rows]
    for table in (pd.DataFrame({"a": texts}), np.array([texts, texts]).T):
        assert locate_values(learned.f, X, "X", shown=table).labels is None


def test_values_to_show(tasks, learned):
    assert choose_values(tasks.f, None, "X") is tasks.f.labels
    assert choose_values(tasks.f, ["Laundry"], "X") == ["Laundry"]
    assert list(choose_values(learned.g, None, "Y")) == ["a", "b", "c"]
    with pytest.raises(TypeError, match="X is needed"):
        choose_values(learned.f, None, "X")
    with pytest.raises(TypeError, match="X is needed"):
        locate_fit_labels(learned.f, "X")
    with pytest.raises(TypeError, match=r"X must .*path="):
        choose_values(tasks.f, "page.html", "X")


def test_marks_are_named_values_of_x(learned):
    points = locate_marks(learned, (["one", ("a", "pair")], X[:2]))
    assert points.labels.tolist() == ["one", ("a", "pair")]
    np.testing.assert_allclose(points.places, learned.f(X[:2]))
    for marks in (3, ["one"], (3, X[:1])):
        with pytest.raises(ValueError, match="marks must"):
            locate_marks(learned, marks)
    with pytest.raises(ValueError, match="marks has 1 labels for 2"):
        locate_marks(learned, (["one"], X[:2]))


def test_names_of_two_variables_and_marks():
    assert check_names(("a", 2)) == ("a", "2", "marked")
    assert check_names(["a", "b", "c"]) == ("a", "b", "c")
    for names in ("ab", ("a",), ("a", "b", "c", "d"), 5):
        with pytest.raises(ValueError, match="names must"):
            check_names(names)
