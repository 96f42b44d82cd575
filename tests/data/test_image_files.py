"""Images of a folder."""

import numpy as np
import pytest
from PIL import Image

from correspondence.data.image_files import image_files, read_images


def test_images_of_one_size(tmp_path):
    Image.new("RGB", (20, 10), (250, 0, 0)).save(tmp_path / "a.jpg")
    Image.new("L", (8, 8), 100).save(tmp_path / "b.png")
    (tmp_path / "c.png").write_bytes(b"damaged")
    names = image_files(tmp_path)
    assert {"a", "a.jpg", "b", "b.png", "c"} <= set(names)
    images = read_images([names["a"], None, names["b"], names["c"]], 4)
    assert images.is_read.tolist() == [True, False, True, False]
    assert images.pixels.shape == (2, 3, 4, 4)
    assert images.pixels.dtype == np.uint8
    np.testing.assert_allclose(images.pixels[0].mean(axis=(1, 2)), [250, 0, 0], atol=5)
    grey = read_images([names["b"]], 4).pixels
    np.testing.assert_array_equal(grey, np.full((1, 1, 4, 4), 100))
    np.testing.assert_allclose(read_images([names["a"]], 4, colour=False).pixels, 75, atol=3)


def test_names_of_image_files(tmp_path):
    (tmp_path / "sub").mkdir()
    for name in ("007.png", "sub/x.png", "7.png", "sub/012.png"):
        Image.new("L", (2, 2)).save(tmp_path / name)
    (tmp_path / "notes.txt").write_text("")
    names = image_files(tmp_path)
    assert names["7"] == tmp_path / "7.png"
    assert names["007"] == tmp_path / "007.png"
    assert names["12"] == names["sub/012"] == names["sub/012.png"] == tmp_path / "sub" / "012.png"
    assert "notes" not in names
    with pytest.raises(ValueError, match="no folder"):
        image_files(tmp_path / "none")
