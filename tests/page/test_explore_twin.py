"""The second plane: other axes of the same points, linked with the first in all that a hand can do."""

import numpy as np
import pytest
from browser import opened

import correspondence as co

pytestmark = pytest.mark.slow

DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
# Where a point is on the screen, in one of the planes.
AT = """([name, label]) => {
    const { model, twin } = explorer, plane = name === "other" ? twin.view.plane : explorer.plane;
    const i = Array.from({ length: model.size }, (_, k) => k).find(k => model.label(k) === label);
    const box = document.getElementById(name).getBoundingClientRect(), [x, y] = plane.at(i);
    return [x + box.left, y + box.top]; }"""
PLACES = """() => { const { plane } = explorer.twin.view, y = explorer.model.role("y");
    return Array.from({ length: y.n }, (_, j) => [0, 1].map(k => plane.xy[2 * (y.start + j) + k])); }"""


@pytest.fixture(scope="module")
def ca():
    return co.CA().fit(co.datasets.load_housetasks())


@pytest.fixture(scope="module")
def tasks(ca, tmp_path_factory):
    return co.explore(ca, path=tmp_path_factory.mktemp("twin") / "page.html", names=("task", "who"))


def test_two_planes_are_linked(ca, tasks):
    with opened(tasks, **DESK) as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        assert page.locator("#other").is_hidden()
        page.check("#twin")
        first, second = (page.locator(f"#{name}").bounding_box() for name in ("plane", "other"))
        assert first["x"] + first["width"] <= second["x"], "side by side"
        assert abs(first["width"] - second["width"]) < 2
        assert page.evaluate("explorer.twin.axes") == [0, 2]
        np.testing.assert_allclose(page.evaluate(PLACES), ca.columns_.principal[:, [0, 2]], rtol=2e-3)
        page.mouse.move(*page.evaluate(AT, ["other", "Repairs"]))
        tip = page.locator("#tip")
        assert tip.inner_text().startswith("Repairs")
        assert tip.bounding_box()["x"] > first["x"] + first["width"] / 2, "beside the point of the second plane"
        hovered = page.evaluate("[explorer.hovered, explorer.twin.view.hovered]")
        assert hovered[0] == hovered[1] >= 0
        page.mouse.click(*page.evaluate(AT, ["other", "Wife"]))
        assert page.inner_text("#point strong") == "Wife"
        page.locator(".chip.x").click()
        shown = "plane => plane.colours.filter((value, k) => k % 4 === 3 && value > 0).length"
        both = [page.evaluate(f"({shown})({name})") for name in ("explorer.plane", "explorer.twin.view.plane")]
        assert both == [4, 4]
        page.locator(".chip.x").click()
        page.click("#select")
        page.mouse.move(second["x"] + 50, second["y"] + 10)
        page.mouse.down()
        page.mouse.move(second["x"] + second["width"] - 10, second["y"] + second["height"] - 45, steps=4)
        page.mouse.up()
        assert page.evaluate("explorer.selection.length") == 17, "a box in the second plane selects for both"
        page.focus("#other")
        start = page.evaluate("[explorer.plane.view.zoom, explorer.twin.view.plane.view.zoom]")
        page.keyboard.press("+")
        after = page.evaluate("[explorer.plane.view.zoom, explorer.twin.view.plane.view.zoom]")
        assert (after[0], after[1] > start[1]) == (start[0], True)
        page.select_option("#third", "1")
        state = page.evaluate("explorer.getState()")
        assert state["twin"] == [1, 2]
        page.uncheck("#twin")
        assert page.evaluate("explorer.getState().twin") is None
        assert page.evaluate("state => explorer.setState(state)", state) == []
        assert page.evaluate("explorer.getState()") == state
        np.testing.assert_allclose(page.evaluate(PLACES), ca.columns_.principal[:, [1, 2]], rtol=2e-3)
        assert page.evaluate("explorer.setState({ twin: [0, 99] })") == ["twin"]
        with page.expect_download() as download:
            page.click("#svg")
        svg = download.value.path().read_text(encoding="utf-8")
    assert seen.problems == []
    assert svg.count(">Repairs</text>") == 2, "both planes are in the picture"


def test_below_each_other_on_a_phone_and_missing_where_there_are_two_axes(tasks, tmp_path):
    with opened(tasks, **PHONE) as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        page.tap("#more")
        page.check("#twin")
        first, second = (page.locator(f"#{name}").bounding_box() for name in ("plane", "other"))
        assert first["y"] + first["height"] <= second["y"]
        assert min(first["height"], second["height"]) > 300
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert seen.problems == []
    two = co.explore(co.CA(2).fit(co.datasets.load_housetasks()), path=tmp_path / "two.html")
    with opened(two, **DESK) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        assert seen.page.locator("#twin").is_hidden()
    assert seen.problems == []
