"""What pictures show of a classifier."""

import numpy as np
import pytest

import correspondence as co
from correspondence.scene.classes import check_classes, choose_boundary_pairs, find_classes, make_scene
from correspondence.scene.points import ScenePoints


def points(n, mass=None):
    return ScenePoints(np.zeros((n, 1)), None, mass, np.arange(n), n, n)


def find(classes=None, Y=None, n=60, y_mass=None):
    return find_classes(points(n), points(3, y_mass), make_scene(object(), None, classes, None, False), Y)


def test_classes_are_those_given():
    found = find(["b", "a", None] * 20)
    assert found.names == ["a", "b"]
    assert found.codes.tolist() == [1, 0, -1] * 20
    assert len(set(found.colours)) == 2


def test_many_numbers_are_put_into_ranges():
    found = find(np.arange(60.0))
    assert len(found.names) == len(found.colours) == 7
    assert found.names[0].startswith("0 to ")
    assert (np.diff(found.codes) >= 0).all()
    assert find(np.arange(60) % 30).names == list(range(30))


def test_labels_or_numbers_of_pairs_are_classes():
    assert find(Y=["u", "v"] * 30, y_mass=np.full(3, 1 / 3)).names == ["u", "v"]
    assert len(find(Y=np.arange(60.0)).names) == 7
    assert find(Y=np.arange(60.0)[:, None]).names == find(Y=np.arange(60.0)).names
    for Y in (None, np.zeros((60, 2)), np.arange(59.0), ["u", "v"] * 30):
        assert find(Y=Y) is None


def test_too_many_classes():
    names = [f"c{i}" for i in range(600)]
    assert find(Y=names, n=600, y_mass=np.full(3, 1 / 3)) is None
    with pytest.raises(ValueError, match=r"classes must .*600"):
        find(names, n=600)


def test_too_many_predicted_classes_have_a_way_out():
    P = np.eye(600) * 0.9 + 0.1 / 600
    seen = make_scene(co.ClassifierCA.from_beliefs(P), P, None, None, None)
    with pytest.raises(ValueError, match=r"classes must .*500 .*600.*model predicts.*focus"):
        find_classes(points(600), points(600), seen, None)


def test_one_class_for_each_value():
    assert check_classes(["a"] * 4, points(4)).tolist() == ["a"] * 4
    for classes in (["a"] * 3, "aaaa", [["a"]] * 4):
        with pytest.raises(ValueError, match=r"classes must .*4"):
            check_classes(classes, points(4))


P = np.random.default_rng(0).dirichlet(np.ones(4), 40)


@pytest.fixture(scope="module")
def beliefs():
    return co.ClassifierCA.from_beliefs(P, ["ant", "bee", "cat", "dog"])


def test_a_scene_of_a_classifier_is_in_beliefs(beliefs):
    scene = make_scene(beliefs, None, None, P, False)
    np.testing.assert_allclose(scene.X, P)
    assert scene.classes.tolist() == [["ant", "bee", "cat", "dog"][i] for i in P.argmax(axis=1)]
    assert len(scene.confusing) == 12
    assert scene.names == ("inputs", "classes")
    assert list(scene.colours) == ["ant", "bee", "cat", "dog"]


def test_a_scene_of_anything_else_is_left_as_it_is():
    est = co.CA().fit(np.eye(3) + 1)
    scene = make_scene(est, [0], ["a"], None, False)
    assert (scene.est, scene.X, scene.classes, scene.confusing) == (est, [0], ["a"], None)
    assert scene.names == ("rows", "columns")
    with pytest.raises(TypeError, match="confusing needs"):
        make_scene(est, None, None, P, False)
    with pytest.raises(TypeError, match="thumbnails need"):
        make_scene(est, None, None, None, True)
    with pytest.raises(TypeError, match="not fitted"):
        make_scene(co.ClassifierCA(lambda x: x), P, None, None, False)


def test_pairs_of_classes_between_which_lines_are_drawn(beliefs):
    pairs = choose_boundary_pairs(beliefs, True)
    assert len(pairs) == 6
    position = {name: i for i, name in enumerate(beliefs.classes_.tolist())}
    overlap = [beliefs.overlap_[position[a], position[b]] for a, b in pairs]
    assert overlap == sorted(overlap, reverse=True)
    assert choose_boundary_pairs(beliefs, ("ant", "bee")) == choose_boundary_pairs(beliefs, [("ant", "bee")])
    with pytest.raises(ValueError, match="boundaries must"):
        choose_boundary_pairs(beliefs, "ab")
    with pytest.raises(TypeError, match="boundaries need"):
        choose_boundary_pairs(co.CA().fit(np.eye(3) + 1), True)
