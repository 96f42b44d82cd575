"""Maps: the factors of each scaling, and which can be drawn."""

import numpy as np
import pytest

import correspondence as co
from correspondence.scene.maps import MAPS, check_axes, check_map, find_scale_factor, list_maps

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
