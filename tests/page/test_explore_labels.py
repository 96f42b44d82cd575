"""Labels on the page: as one zooms in there are more; none covers another, or stands nearer to another point."""

import numpy as np
import pytest
from browser import opened

import correspondence as co

pytestmark = pytest.mark.slow

WIDE = {"viewport": {"width": 1280, "height": 800}}
# What is written on the canvas: texts and their boxes, and every point that has a label with its box on the screen.
WRITTEN = """() => {
    const texts = new Map(), own = CanvasRenderingContext2D.prototype.fillText, { model, plane, layer } = explorer;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const isLabel = this === plane.context && this.textAlign === "left";
        if (isLabel) texts.set(text, [x, y - 6, x + this.measureText(text).width, y + 6]);
        own.call(this, text, x, y);
    };
    plane.paint();
    CanvasRenderingContext2D.prototype.fillText = own;
    const points = [];
    for (const cloud of model.clouds.filter(one => one.labels)) for (let j = 0; j < cloud.n; j++) {
        const i = cloud.start + j, text = short(cloud.texts ? cloud.texts[j] : cloud.labels[j], 32);
        const isSeen = plane.isShown(i) && plane.isInside(plane.at(i));
        if (isSeen) points.push([text, ...plane.at(i), plane.looks[2 * i] / 2]);
    }
    const led = layer.placed.filter(one => one.isLed).map(({ point }) => {
        const [cloud, j] = model.find(point);
        return short(cloud.texts ? cloud.texts[j] : cloud.labels[j], 32);
    });
    return { texts: [...texts], points, led };
}"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("labels"), np.random.default_rng(1)
    counts = rng.poisson(3, (400, 30)) + rng.poisson(9, (400, 30)) * (rng.random((400, 30)) < 0.1)
    words = [np.array([f"{name}{i}" for i in range(n)], object) for name, n in (("word", 400), ("column ", 30))]
    meadows, environment = co.datasets.load_dune()
    made = {
        "words": co.CA(5).fit(co.Table(counts, *words)),
        "triplot": co.CA().fit(meadows, constraints=environment[["A1", "Management"]]),
        "survey": co.MCA().fit(co.datasets.load_poison()[:, 4:]),
    }
    return {name: co.explore(one, path=folder / f"{name}.html") for name, one in made.items()}


def distances(box, points):
    """How far the marks are from a box, in pixels."""
    left, top, right, bottom = box
    x, y, r = points.T
    return np.hypot(np.maximum(0, np.maximum(left - x, x - right)), np.maximum(0, np.maximum(top - y, y - bottom))) - r


def check_labels(written):
    """Compare boxes of texts with each other, and with the marks; return how many points have labels."""
    boxes = np.array([box for _, box in written["texts"]])
    left, top, right, bottom = boxes.T[:, :, None]
    meets = (left < boxes[:, 2]) & (boxes[:, 0] < right) & (top < boxes[:, 3]) & (boxes[:, 1] < bottom)
    assert meets.sum() == len(boxes), "every text meets itself only"
    names, places = [point[0] for point in written["points"]], np.array([point[1:] for point in written["points"]])
    labelled = 0
    for text, box in written["texts"]:
        if text not in names:
            continue
        labelled += 1
        away, own = distances(box, places), names.index(text)
        apart = np.hypot(*(places[:, :2] - places[own, :2]).T) >= 2  # points at one place cannot be told apart
        if text not in written["led"]:
            assert away[own] < 8
            assert (away[apart] > away[own]).all(), text
    return labelled


@pytest.mark.parametrize("name", ["words", "triplot", "survey"])
def test_more_labels_as_one_zooms_in_and_none_beside_another_point(pages, name):
    with opened(pages[name], **WIDE) as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        whole = page.evaluate(WRITTEN)
        assert check_labels(whole) >= 10
        assert whole["led"], "some are at the end of a line"
        page.evaluate("explorer.plane.zoomBy(3)")
        close = page.evaluate(WRITTEN)
        check_labels(close)
        in_view = {point[0] for point in close["points"]}
        before = in_view & {text for text, _ in whole["texts"]}
        after = in_view & {text for text, _ in close["texts"]}
        assert len(in_view) < len(whole["points"])
        assert len(after) > len(before)
        if name == "words":
            assert len(after) > 2 * len(before)
            page.evaluate("explorer.plane.zoomBy(5)")
            closer = page.evaluate(WRITTEN)
            check_labels(closer)
            shown = {text for text, _ in closer["texts"]} & {point[0] for point in closer["points"]}
            assert len(shown) > 0.8 * len(closer["points"]), "in the end nearly all have one"
    assert seen.problems == []
