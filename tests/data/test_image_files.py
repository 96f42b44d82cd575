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


def save_kinds(folder, i, values):
    """Save one picture of grey values in 0 to 1 in several ways."""
    Image.fromarray((values * 255).astype(np.uint8)).save(folder / f"8bit-{i}.png")
    Image.fromarray((values * 65535).astype(np.uint16)).save(folder / f"16bit-{i}.png")
    Image.fromarray(values.astype(np.float32)).save(folder / f"float-{i}.tif")
    rgba = np.zeros((*values.shape, 4), np.uint8)
    rgba[..., 3] = 255 - (values * 255).astype(np.uint8)  # black where it is not transparent
    Image.fromarray(rgba).save(folder / f"alpha-{i}.png")


@pytest.mark.parametrize("kind", ["16bit-{}.png", "float-{}.tif", "alpha-{}.png"])
def test_deep_and_transparent_images_are_those_of_eight_bits(tmp_path, rng, kind):
    for i in range(3):
        save_kinds(tmp_path, i, rng.random((8, 8)) * (0.2 + 0.4 * i))
    plain, other = (
        read_images([tmp_path / name.format(i) for i in range(3)], 8).pixels for name in ("8bit-{}.png", kind)
    )
    assert other.shape == plain.shape
    np.testing.assert_allclose(other.astype(int), plain, atol=2)


@pytest.mark.parametrize("mode", ["LA", "P"])
def test_transparency_is_white(tmp_path, mode):
    image = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    image.putpixel((0, 0), (0, 0, 0, 255))
    image.convert(mode).save(tmp_path / "a.png", **({"transparency": 0} if mode == "P" else {}))
    pixels = read_images([tmp_path / "a.png"], 4, colour=True).pixels[0, 0]
    assert pixels[3, 3] == 255


def test_values_without_a_range_cannot_be_read(tmp_path):
    Image.fromarray(np.full((4, 4), -1.0, np.float32)).save(tmp_path / "a.tif")
    Image.fromarray(np.full((4, 4), np.nan, np.float32)).save(tmp_path / "b.tif")
    assert not read_images([tmp_path / "a.tif", tmp_path / "b.tif"], 4).is_read.any()


def test_photos_that_were_held_sideways_are_turned(tmp_path):
    values = np.zeros((16, 16), np.uint8)
    values[:8] = 200
    upright = Image.fromarray(values).convert("RGB")
    upright.save(tmp_path / "a.jpg", quality=95)
    exif = Image.Exif()
    exif[0x0112] = 6
    upright.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "b.jpg", exif=exif, quality=95)
    a, b = read_images([tmp_path / "a.jpg", tmp_path / "b.jpg"], 8).pixels.astype(int)
    np.testing.assert_allclose(a, b, atol=6)
