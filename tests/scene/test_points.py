"""Points of pictures and the maps that place them."""

import numpy as np
import pandas as pd
import pytest

import correspondence as co
from correspondence.core.decomposition import as_decomposition
from correspondence.scene.points import (
    MAPS,
    check_axes,
    check_map,
    check_names,
    choose_pictures,
    choose_values,
    find_scale_factor,
    list_maps,
    locate_fit_labels,
    locate_labels,
    locate_marks,
    locate_values,
    normalise_images,
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


S, MASS = np.array([0.8, 0.5]), np.array([0.1, 0.4, 0.5])


@pytest.mark.parametrize(
    ("scaling", "factor"),
    [
        ("principal", S[None]),
        ("standard", np.ones((1, 2))),
        ("symmetric", np.sqrt(S)[None]),
        ("mass", MASS[:, None]),
        ("root_mass", np.sqrt(MASS)[:, None]),
    ],
)
def test_what_standard_coordinates_are_multiplied_by(scaling, factor):
    np.testing.assert_array_equal(find_scale_factor(scaling, S, MASS), factor)


@pytest.mark.parametrize("scaling", ["mass", "root_mass"])
def test_some_scalings_need_masses(scaling):
    with pytest.raises(ValueError, match=r"map must .*mass"):
        find_scale_factor(scaling, S)


def test_maps_that_can_be_drawn():
    assert list_maps(True) == MAPS
    assert set(list_maps(False)) == {"symmetric", "rowprincipal", "colprincipal", "symbiplot"}
    assert check_map("rowgab") == ("principal", "mass")
    for name in ("triplot", None, ["symmetric"]):
        with pytest.raises(ValueError, match="map must"):
            check_map(name)


def test_axes_are_counted_from_one():
    two = co.CA(n_components=2).fit(co.datasets.load_smoke()).decomposition_
    assert check_axes(two, (2, 1)) == [1, 0]
    assert check_axes(two.truncate(1), (1, 2)) == [0]
    for axes in (3, "12", (1, 1), (1, 1.0), (0, 1), (1, 3), (1, 2, 1), ([1], 2), ()):
        with pytest.raises(ValueError, match="axes must"):
            check_axes(two, axes)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((2, 5, 6), (2, 5, 6)),
        ((2, 1, 5, 6), (2, 5, 6)),
        ((2, 5, 6, 1), (2, 5, 6)),
        ((2, 3, 5, 6), (2, 5, 6, 3)),
        ((2, 5, 6, 4), (2, 5, 6, 4)),
    ],
)
def test_channels_come_last(shape, expected):
    assert normalise_images(np.zeros(shape)).shape == expected


def test_values_go_from_0_to_1_and_bytes_stay():
    scaled = normalise_images(np.linspace(-3, 9, 8).reshape(2, 2, 2))
    assert (scaled.min(), scaled.max()) == (0, 1)
    raw = np.arange(8, dtype=np.uint8).reshape(2, 2, 2)
    assert normalise_images(raw) is raw


@pytest.mark.parametrize("shape", [(5, 6), (2, 5, 6, 7), (1, 2, 3, 4, 5)])
def test_what_is_not_an_image(shape):
    with pytest.raises(ValueError, match=r"x_images must .*shape"):
        normalise_images(np.zeros(shape), "x_images")


def test_without_thumbnails_there_are_no_pictures():
    assert choose_pictures(False, None, None) is None
    with pytest.raises(ValueError, match="thumbnails need confusing"):
        choose_pictures(True, None, None)
