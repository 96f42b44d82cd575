"""Pictures that a reader keeps: the files are opened, and hold what is seen."""

import base64
import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from browser import opened
from PIL import Image

import correspondence as co

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"
DESK = {"viewport": {"width": 1280, "height": 800}}
HOSTILE = ["</text><script>alert(1)</script>", "a & b \x01 \"c\" 'd'", "<b>bold</b>", "plain"]


def save(page, kind):
    with page.expect_download() as download:
        page.click(f"#{kind}")
    return download.value.suggested_filename, download.value.path().read_bytes()


def count_colour(picture, colour):
    return int((np.abs(np.asarray(picture, dtype=int) - colour).max(axis=2) < 12).sum())


def colour_of(text):
    return [int(text[i : i + 2], 16) for i in (1, 3, 5)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_view_is_saved_as_png_and_svg(scheme, tmp_path):
    ca = co.CA().fit(co.datasets.load_housetasks())
    path = co.explore(ca, path=tmp_path / "page.html", names=("task", "who"), title="Household tasks!")
    with opened(path, keeps_policy=True, color_scheme=scheme, **DESK) as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        plane = page.locator("#plane").bounding_box()
        (png_name, png), (svg_name, svg) = save(page, "png"), save(page, "svg")
        page.locator(".chip.y").click()
        _, fewer = save(page, "svg")
    assert seen.problems == []
    assert (png_name, svg_name) == ("household-tasks.png", "household-tasks.svg")
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    paper, x, y = (
        colour_of(text)
        for text in {"light": ("#ffffff", "#0067a5", "#c1440e"), "dark": ("#171b22", "#62b5f0", "#ff9462")}[scheme]
    )
    assert picture.width == pytest.approx(2 * plane["width"], abs=2)
    assert picture.height > 2 * plane["height"], "and the legend below"
    assert list(picture.getpixel((picture.width - 3, 3))) == paper
    plot = picture.crop((0, 0, picture.width, round(2 * plane["height"])))
    legend = picture.crop((0, round(2 * plane["height"]), *picture.size))
    for part, least in ((plot, 300), (legend, 30)):
        assert count_colour(part, x) > least
        assert count_colour(part, y) > least
    root = ET.fromstring(svg)
    texts = ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]
    assert {"Laundry", "Repairs", "Wife", "Husband", "● task (13)", "▲ who (4)"} <= set(texts)
    assert [text for text in texts if text.startswith("Axis 1: correlation 0.74")]
    assert texts.count("Laundry") == 1, "a halo is no second text"
    assert len(root.findall(f".//{SVG}circle")) == len(ca.rows_.labels)
    assert "All points are shapes." in root.find(f"{SVG}desc").text
    assert "Wife" not in ["".join(one.itertext()) for one in ET.fromstring(fewer).iter(f"{SVG}text")]


def test_hostile_texts_and_many_points(tmp_path, rng):
    x = rng.normal(size=(6000, 2))
    labels = np.array(HOSTILE, object)[np.arange(6000) % 4]
    path = co.explore(co.CCA(2).fit(x, labels), x, labels, tmp_path / "p.html", title=HOSTILE[0])
    with opened(path, **DESK) as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        _, svg = save(page, "svg")
        told = page.inner_text("#told")
        _, png = save(page, "png")
    root = ET.fromstring(svg)
    assert not root.findall(f".//{SVG}script")
    assert "</text><script>alert(1)</script>" in {"".join(one.itertext()) for one in root.iter(f"{SVG}text")}
    assert "embedded picture" in root.find(f"{SVG}desc").text
    assert "embedded picture" in told
    (image,) = root.iter(f"{SVG}image")
    inside = Image.open(io.BytesIO(base64.b64decode(image.get("href").split(",")[1])))
    assert (np.asarray(inside)[..., 3] > 0).sum() > 6000
    shown = np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), dtype=int)
    assert (np.abs(shown - 255).max(axis=2) > 20).sum() > 6000, "points drawn by WebGL are in the picture"


def test_the_scale_of_a_number_and_filters_are_in_the_picture(tmp_path):
    tasks, data = co.datasets.load_housetasks(), pl.DataFrame({"length": range(13), "kind": list("aabbccddeeffg")})
    path = co.explore(co.CA().fit(tasks), path=tmp_path / "p.html", data=data)
    with opened(path, **DESK) as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        page.select_option("#paint", label="length")
        page.select_option("#split", label="kind")
        page.evaluate("explorer.filters.set([{ key: '1', keep: [0, 1] }])")
        page.wait_for_timeout(100)
        _, svg = save(page, "svg")
        assert "small planes are not in it" in page.inner_text("#told")
    root = ET.fromstring(svg)
    texts = ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]
    assert {"≤ 0.12", "≥ 11.88", "length", "kind: a, b", "4 of 13 shown"} <= set(texts)
    assert not [text for text in texts if "✕" in text]
    assert len({one.get("fill") for one in root.iter(f"{SVG}rect") if one.get("height") == "10"}) == 40


def test_a_page_within_another_saves_too(tmp_path):
    html = co.explore(co.CA().fit(co.datasets.load_housetasks())).html
    inner = html.replace("&", "&amp;").replace('"', "&quot;")
    outer = tmp_path / "outer.html"
    frame = f'<iframe sandbox="allow-scripts allow-downloads" width="1200" height="700" srcdoc="{inner}"></iframe>'
    outer.write_text(f"<!doctype html><body>{frame}", encoding="utf-8")
    with opened(outer, **DESK) as seen:
        frame = seen.page.frame_locator("iframe")
        frame.locator("html[data-ready=yes]").wait_for()
        for kind, start in (("png", b"\x89PNG"), ("svg", b"<svg ")):
            with seen.page.expect_download() as download:
                frame.locator(f"#{kind}").click()
            assert download.value.path().read_bytes().startswith(start)
            assert re.fullmatch(rf"[\w-]+\.{kind}", download.value.suggested_filename)
