"""What a picture shows of a classifier, which is asked once."""

import numpy as np
import pytest

import correspondence as co
from correspondence.scene.classifier_scene import choose_boundary_pairs, make_scene

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
