"""Colours: those of matplotlib's scales, the same for the same classes, different for different ones."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex

from correspondence.scene.colours import (
    PLASMA,
    TAB10,
    TURBO,
    choose_class_colours,
    choose_scene_colours,
    list_distinct_colours,
    pick_colour,
)


@pytest.mark.parametrize(("name", "scale"), [("plasma", PLASMA), ("turbo", TURBO), ("tab10", TAB10)])
def test_scales_are_those_of_matplotlib(name, scale):
    for share in np.linspace(0, 1, 300).tolist():
        assert pick_colour(scale, share) == to_hex(mpl.colormaps[name](share))


@pytest.mark.parametrize("k", [0, 1, 10, 11, 30, 31, 100])
def test_colours_are_distinct(k):
    assert len(set(list_distinct_colours(k))) == len(list_distinct_colours(k)) == k


def test_numbers_go_from_dark_to_light_unless_they_are_names():
    scale = choose_class_colours(np.array([10, 9, 2, 9]))
    assert list(scale) == [2, 9, 10]
    brightness = [sum(int(colour[i : i + 2], 16) for i in (1, 3, 5)) for colour in scale.values()]
    assert brightness == sorted(brightness)
    assert list(choose_class_colours(np.array([10, 9, 2]), nominal=True).values()) == list_distinct_colours(3)
    assert choose_class_colours(np.array(["b", "a"])) == dict(zip("ab", list_distinct_colours(2), strict=True))


def test_a_class_has_the_same_colour_whichever_others_occur():
    known = np.array(["ant", "bee", "cat"], dtype=object)
    assert choose_scene_colours(known, ["cat"]) == choose_scene_colours(known, ["ant", "bee"])
    assert set(choose_scene_colours(known, ["dog", "cat"])) == {"dog", "cat"}
    assert choose_scene_colours(known, None) == choose_scene_colours(known, [["ant"]]) == {}
