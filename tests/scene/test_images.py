"""Images in one form: channels last, from black to white."""

import numpy as np
import pytest

from correspondence.scene.images import choose_pictures, normalise_images


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
