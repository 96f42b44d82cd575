"""The gallery of the docs: its pictures are there and light, its commands exist, and photographs are not shown."""

import importlib.util
import re
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from correspondence.studies.reproducing import STUDIES

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "gallery.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def screenshots():
    spec = importlib.util.spec_from_file_location("screenshots", DOCS / "screenshots.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_has_its_picture(screenshots):
    shown = re.findall(r"!\[[^\]]+\]\(images/gallery-(\S+)\.png\)", TEXT)
    assert sorted(shown) == sorted(screenshots.PAGES)
    for name in shown:
        path = DOCS / "images" / f"gallery-{name}.png"
        assert path.stat().st_size <= screenshots.MOST
        assert Image.open(path).width == screenshots.WIDTH


def test_every_command_makes_its_page(screenshots):
    commands = re.findall(r"^(correspondence .+?) +# (\S+\.html)", TEXT, re.MULTILINE)
    assert sorted(path for _, path in commands) == sorted(path for path, _, _ in screenshots.PAGES.values())
    made = (DOCS.parent / "Makefile").read_text(encoding="utf-8").partition("\ngallery:")[2].partition("\n\n")[0]
    for command, path in commands:
        assert f"$(BIN)/{command}\n" in made
        kind, *options = command.split()[1:]
        if kind == "demo":
            assert path.startswith("correspondence-demo/")
        elif kind == "reproduce":
            assert options[0] in STUDIES
            assert path == f"results/{options[0]}/{options[0]}-explore.html"
        else:
            assert (DOCS.parent / options[0]).is_file()
            assert path == f"{options[-1]}/report.html"


def test_photographs_are_switched_off(screenshots):
    assert screenshots.PAGES["flickr"][2]["pictures"] is False


@pytest.mark.slow
def test_pictures_are_made_light(screenshots, tmp_path, monkeypatch):
    monkeypatch.setattr(screenshots, "MOST", 30_000)
    noise = np.random.default_rng(0).integers(0, 256, (200, 200, 3), dtype=np.uint8)
    buffer = BytesIO()
    Image.fromarray(noise).save(buffer, "png")
    said = screenshots._saved(buffer.getvalue(), tmp_path / "noise.png")
    assert (tmp_path / "noise.png").stat().st_size <= 30_000
    assert "200 x 200" in said
