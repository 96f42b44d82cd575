"""Pages of many rows: what is drawn at random is said so, and what moves is a part of the points."""

import numpy as np
import pytest
from browser import opened

import correspondence as co

DESK = {"viewport": {"width": 1280, "height": 800}}
DRAWN = """([thin, isMoving]) => {
    const { plane } = explorer, { gl } = plane;
    Object.assign(plane, { thin, isMoving });
    plane.drawPoints();
    const pixels = new Uint8Array(4 * plane.points.width * plane.points.height);
    gl.readPixels(0, 0, plane.points.width, plane.points.height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    plane.isMoving = false;
    return pixels.reduce((sum, value, k) => sum + (k % 4 === 3 && value > 0), 0);
}"""


def test_a_page_says_what_is_drawn_at_random(rng):
    x = rng.normal(size=(3000, 2))
    labels = np.array(["a", "b", "c"], object)[rng.integers(3, size=3000)]
    html = co.explore(co.CCA(2).fit(x, labels), x, labels, max_points=500).html
    assert "<dt>x drawn at random</dt><dd>500 of 3,000</dd>" in html
    assert "<dt>y</dt><dd>3</dd>" in html
    frame = co.datasets.load_poison()[:, 4:]
    assert "<dt>rows drawn at random</dt><dd>20 of 55</dd>" in co.explore(co.MCA().fit(frame), max_points=20).html


@pytest.mark.slow
def test_a_part_of_very_many_points_is_moved(tmp_path, rng):
    x = rng.normal(size=(200_000, 2)).astype(np.float32)
    path = co.explore(co.CCA(2).fit(x, x), x, x[:3], tmp_path / "p.html", max_points=200_000)
    with opened(path, **DESK) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        thin = seen.page.evaluate("explorer.plane.thin")
        rest, moved, fewest = (seen.page.evaluate(DRAWN, how) for how in ([thin, False], [thin, True], [128, True]))
    assert thin >= 2
    assert rest > moved > fewest > 1000
    assert seen.problems == []
