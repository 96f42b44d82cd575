"""Small planes of the groups of a column: which points are coloured where, and what a click does."""

import numpy as np
import polars as pl
import pytest
from browser import opened

import correspondence as co

pytestmark = pytest.mark.slow

DESK = {"viewport": {"width": 1280, "height": 800}}
SPLIT = """name => {
    const select = document.querySelector("#split");
    select.value = [...select.options].find(one => one.textContent === name).value;
    select.dispatchEvent(new Event("change"));
    if (name !== "nothing") explorer.multiples.paint();
}"""
# Of each panel how many pixels are coloured and grey, and the mean place of the coloured ones from left to right.
PIXELS = """() => explorer.multiples.panels.map(({ canvas }) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let coloured = 0, grey = 0, left = 0;
    for (let i = 0; i < data.length; i += 4) {
        const isColoured = data[i + 3] === 255 && data[i + 2] - data[i] > 60;
        if (isColoured) { coloured += 1; left += (i / 4) % canvas.width / canvas.width; }
        else if (data[i + 3] > 0 && data[i + 3] < 100) grey += 1;
    }
    return [coloured, grey, left / coloured];
})"""
SHOWN = """() => {
    const { model, plane } = explorer, { n, start } = model.role("x");
    return Array.from({ length: n }, (_, j) => plane.isShown(start + j)).filter(Boolean).length;
}"""


@pytest.mark.parametrize("n", [600, 100_000])
def test_each_group_has_a_small_plane(n, tmp_path):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 15, n)
    x = rng.normal(size=(n, 2))
    x[:, 0] += 0.5 * codes
    frame = pl.DataFrame(x, schema=["a", "b"]).with_columns(pl.Series("region", [f"r{code:02}" for code in codes]))
    est = co.CCA(2).fit(x, x + rng.normal(size=(n, 2)))
    path = co.explore(est, x, x[:3], tmp_path / "p.html", data=frame)
    with opened(path, **DESK) as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        assert page.locator("#multiples").is_hidden()
        page.evaluate(SPLIT, "region")
        panels = page.locator(".panel")
        assert panels.count() == 12
        counts = {f"r{code:02}": int((codes == code).sum()) for code in range(15)}
        names = [text.split("\n")[0] for text in panels.all_inner_texts()]
        assert [int(text.split("\n")[1].replace(",", "")) for text in panels.all_inner_texts()] == [
            counts[name] for name in names
        ]
        rest = sum(counts.values()) - sum(counts[name] for name in names)
        assert f"3 groups with {rest:,} points" in page.inner_text("#multiples p")
        pixels = np.array(page.evaluate(PIXELS))
        assert (pixels[:, :2] > 100).all(), "its own points and the others"
        sign = np.sign(np.corrcoef(range(12), pixels[:, 2])[0, 1])
        assert (sign * np.diff(pixels[:, 2]) > 0).mean() > 0.8, "each group where it is"
        box = page.locator("#multiples").bounding_box()
        assert box["y"] + box["height"] <= 800
        panels.nth(2).click()
        assert page.evaluate(SHOWN) == counts[names[2]]
        page.wait_for_function("document.querySelectorAll('.panel')[2].getAttribute('aria-pressed') === 'true'")
        state = page.evaluate("explorer.getState()")
        panels.nth(2).focus()
        page.keyboard.press("Enter")
        assert page.evaluate(SHOWN) == n
        page.evaluate(SPLIT, "a")
        assert panels.count() == 4, "quarters of a number"
        page.evaluate(SPLIT, "nothing")
        assert page.locator("#multiples").is_hidden()
        assert page.evaluate("state => explorer.setState(state)", state) == []
        assert panels.count() == 12
        assert page.evaluate(SHOWN) == counts[names[2]]
    assert seen.problems == []
