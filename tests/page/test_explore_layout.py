"""The first screen: of every kind of page it holds the heading, the controls and the plane with titles and legend."""

import numpy as np
import pytest
from browser import opened
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import correspondence as co

pytestmark = pytest.mark.slow

DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
BOXES = """() => Object.fromEntries(
    ["h1", "#plane", "#heat", "#roles", "#classes", "#note", ".timeline", "#first", "#more"]
    .map(name => [name, document.querySelector(name)?.getBoundingClientRect()])
    .filter(([name, box]) => box && box.height).map(([name, box]) => [name, box.toJSON()]))"""
# Text is written on the canvas: the lowest that is, from the top of the plane.
LOWEST = """() => {
    const own = CanvasRenderingContext2D.prototype.fillText;
    let lowest = 0;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const { e, f, d } = this.getTransform();
        lowest = Math.max(lowest, (f + y * d) / explorer.plane.ratio);
        own.call(this, text, x, y);
    };
    explorer.plane.paint();
    CanvasRenderingContext2D.prototype.fillText = own;
    return lowest;
}"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page of every kind, with more text than a screen can hold on one."""
    folder, rng = tmp_path_factory.mktemp("layout"), np.random.default_rng(0)
    counts, environment = co.datasets.load_dune()
    meadows = co.CA().fit(counts, constraints=environment[["A1", "Management"]])
    poison = co.datasets.load_poison()
    x = rng.normal(size=(300, 3))
    text = {"about": ["Something that was found out about the data at length. " * 9] * 6, "title": "A long title " * 9}
    X, y = load_digits(return_X_y=True)
    net = MLPClassifier((8,), random_state=0, learning_rate_init=0.01)
    recorder = co.TrainingRecorder(net, X[1::8], y[1::8], every=10)
    recorder.partial_fit(X[::8], y[::8], batch_size=50, epochs=5)
    groups = np.array(list("abcdefghijkl"))[np.arange(300) % 12]
    return {
        "table": co.explore(co.CA().fit(co.datasets.load_housetasks()), path=folder / "table.html"),
        "values": co.explore(co.CCA(2).fit(x, x), x, x, folder / "values.html", groups=groups, **text),
        "survey": co.explore(co.MCA().fit(poison[:, 4:]), path=folder / "survey.html", groups=poison["Sick"]),
        "triplot": co.explore(meadows, path=folder / "triplot.html"),
        "classifier": co.explore(
            co.ClassifierCA(net).fit(X[1::8], y[1::8]), X[1::8], path=folder / "net.html", recorder=recorder
        ),
        "associations": co.explore(co.associations(poison[:, :8]), path=folder / "associations.html"),
    }


@pytest.mark.parametrize("kind", ["table", "values", "survey", "triplot", "classifier", "associations"])
def test_nothing_is_cut_by_the_fold(pages, kind):
    with opened(pages[kind], **DESK) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        boxes = seen.page.evaluate(BOXES)
        assert max(box["bottom"] for box in boxes.values()) <= 800
        assert boxes["h1"]["top"] >= 0
        if kind == "associations":
            canvas = seen.page.locator("#heat canvas").bounding_box()
            assert canvas["height"] > 500
            assert canvas["y"] + canvas["height"] <= 800
        else:
            assert boxes["#plane"]["height"] > 400
            assert boxes["#plane"]["height"] - 20 < seen.page.evaluate(LOWEST) <= boxes["#plane"]["height"]
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 1280
        about = seen.page.locator("aside .about").bounding_box()
        assert about["y"] < 800, "the sentences stand beside"
    assert seen.problems == []


@pytest.mark.parametrize("kind", ["table", "values", "survey", "triplot", "classifier", "associations"])
def test_the_plane_is_on_the_first_screen_of_a_phone(pages, kind):
    with opened(pages[kind], **PHONE) as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        boxes = page.evaluate(BOXES)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert boxes["h1"]["height"] < 45, "one line"
        plane = boxes["#heat" if kind == "associations" else "#plane"]
        assert plane["top"] < 190
        assert plane["bottom"] <= 844
        assert plane["height"] > 300
        if kind != "associations":
            assert page.locator("#map").is_hidden()
            start = page.evaluate("explorer.plane.view.zoom")
            page.tap("#more")
            assert page.locator("#map").is_visible()
            assert page.locator("#search").is_visible()
            page.tap("#in")
            assert page.evaluate("explorer.plane.view.zoom") > start
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            page.tap("#more")
            assert page.locator("#map").is_hidden()
    assert seen.problems == []
