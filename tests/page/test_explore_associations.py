"""The page of associations: heatmap, card and table of pairs, offline in a real browser."""

import base64
import gzip
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from browser import opened
from test_explore import HOSTILE

import correspondence as co

WIDE, PHONE = (
    {"viewport": {"width": 1300, "height": 1000}},
    {"viewport": {"width": 390, "height": 800}, "has_touch": True},
)
CENTRE = """([i, j]) => {
    const { cell, margin, canvas } = explorer, box = canvas.getBoundingClientRect();
    return [box.left + margin + (j + .5) * cell, box.top + (i + .5) * cell];
}"""


def make_table(n=200, k=6, seed=0):
    """Make columns of two blocks, the last with a hostile name."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    frame = pd.DataFrame({f"q{j}": z[:, j % 2] + 0.5 * rng.normal(size=n) for j in range(k)})
    return frame.assign(square=z[:, 0] ** 2).rename(columns={f"q{k - 1}": HOSTILE[0]})


def data_of(page):
    text = re.search(r'id="data">([^<]*)<', page.html).group(1)
    whole = gzip.decompress(base64.b64decode(text))
    size = int.from_bytes(whole[:4], "little")
    said = json.loads(whole[4 : 4 + size])
    kinds = {"f4": np.float32, "u1": np.uint8}
    arrays = {
        name: np.frombuffer(whole, kinds[kind], length, 4 + size + start)
        for name, (kind, start, length) in said["arrays"].items()
    }
    return said, arrays


@pytest.fixture(scope="module")
def a():
    return co.associations(make_table())


@pytest.fixture(scope="module")
def page(a, tmp_path_factory):
    return co.explore(a, path=tmp_path_factory.mktemp("heat") / "page.html", title="Two blocks")


def ready(seen):
    seen.page.wait_for_selector("html[data-ready=yes]")
    return seen.page


def assert_quiet(seen, path):
    assert seen.problems == []
    assert [url for url in seen.requests if not url.startswith("blob:")] == [Path(path).resolve().as_uri()]


def test_the_page_has_the_matrices_in_the_order_of_the_blocks(a, page):
    said, arrays = data_of(page)
    assert said["names"] == np.asarray(a.columns)[a.order].tolist()
    for name in ("correlations", "captured", "predicted", "pvalues", "n_pairs"):
        expected = np.asarray(getattr(a, name), dtype=float)[np.ix_(a.order, a.order)]
        np.testing.assert_allclose(arrays[name].reshape(7, 7), expected, rtol=2e-4)
    assert (arrays["found"].reshape(7, 7) == a.found[np.ix_(a.order, a.order)]).all()
    text = page.html
    assert text.count("<script") == 2
    assert a.write_summary().split("\n")[0] in text
    assert "pairs tested" in text


def test_of_very_many_columns_those_that_go_with_others_are_shown(tmp_path, monkeypatch):
    from correspondence.page import associations

    monkeypatch.setattr(associations, "MAX_COLUMNS", 5)
    frame = make_table().assign(noise=np.random.default_rng(1).normal(size=200))
    path = co.explore(co.associations(frame), path=tmp_path / "p.html")
    names = data_of(path)[0]["names"]
    assert len(names) == 5
    assert "noise" not in names
    assert "columns shown" in path.html
    told = co.explore(co.associations(frame, target="noise"))
    assert "noise" in data_of(told)[0]["names"]


def test_arguments_of_other_pages_are_refused(a, tmp_path):
    for name, value in {"Y": [1], "groups": ["a"], "names": ("x", "y"), "crossfit": 1, "words": []}.items():
        with pytest.raises(TypeError, match=name):
            co.explore(a, path=tmp_path / "p.html", **{name: value})
    with pytest.raises(TypeError, match="about"):
        co.explore(a, path=tmp_path / "p.html", about=3)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_hover_tells_a_pair_in_both_directions(a, page):
    order = np.asarray(a.order)
    with opened(page, **WIDE) as seen:
        tab = ready(seen)
        tab.mouse.move(*tab.evaluate(CENTRE, [0, 1]))
        text = tab.inner_text("#tip")
        tab.mouse.move(*tab.evaluate(CENTRE, [2, 2]))
        assert tab.locator("#tip").is_hidden()  # a column with itself
    i, j = order[:2]
    assert f"correlation\n{a.correlations[i, j]:.2f}" in text
    for one, other in ((i, j), (j, i)):
        assert f"{a.columns[other]} from {a.columns[one]}"[:20] in text
        assert f"{a.predicted[one, other]:.2f}".lstrip("-") in text
    assert "captured" in text
    assert "p-value" in text
    assert_quiet(seen, page)


@pytest.mark.slow
def test_a_click_on_a_cell_selects_the_pair_in_the_table(a, page):
    with opened(page, **WIDE) as seen:
        tab = ready(seen)
        assert tab.locator("#rows tr").count() == 21
        tab.mouse.click(*tab.evaluate(CENTRE, [3, 1]))
        cells = tab.locator("#rows tr.chosen td").all_inner_texts()
        assert set(cells[:2]) == {str(a.columns[a.order[k]]) for k in (3, 1)}
        assert cells[2] == f"{a.correlations[a.order[3], a.order[1]]:.2f}".replace("-", "\N{MINUS SIGN}")
        assert tab.locator("#card").is_visible()
        tab.focus("#heat")
        tab.keyboard.press("ArrowRight")  # from (3, 1) to (3, 2)
        chosen = tab.evaluate("explorer.ends(explorer.chosen)")
        tab.keyboard.press("Escape")
        assert tab.locator("#rows tr.chosen").count() == 0
        tab.locator("#rows button").nth(4).click()
        assert tab.locator("#rows tr.chosen").count() == 1
    assert chosen == [3, 2]
    assert_quiet(seen, page)


@pytest.mark.slow
def test_the_table_can_be_sorted_and_searched(a, page):
    with opened(page, **WIDE) as seen:
        tab = ready(seen)
        figures = [
            float(text.replace("\N{MINUS SIGN}", "-"))
            for text in tab.locator("#rows td:nth-child(3)").all_inner_texts()
        ]
        assert figures == sorted(figures, reverse=True)
        tab.locator("#heads button").nth(6).click()
        chances = tab.evaluate("explorer.seenPairs().map(pair => explorer.figure(pair, 'pvalues'))")
        assert chances == sorted(chances)
        tab.check("#sure")
        assert tab.locator("#rows tr").count() == int(np.triu(a.found, 1).sum())
        tab.fill("#search", "square")
        assert all("square" in text for text in tab.locator("#rows tr").all_inner_texts())
        tab.select_option("#values", "predicted")
        assert "predicted by the column at its left" in tab.inner_text("#note")
        tab.click("#theme")
        tab.click("#theme")
        assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
        tab.wait_for_timeout(100)
    assert_quiet(seen, page)


@pytest.mark.slow
def test_the_heatmap_fits_a_phone_and_is_read_by_touch(page):
    with opened(page, **PHONE) as seen:
        tab = ready(seen)
        box = tab.locator("#heat canvas").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        tab.locator("#heat canvas").scroll_into_view_if_needed()
        tab.touchscreen.tap(*tab.evaluate(CENTRE, [0, 3]))
        assert tab.locator("#card").is_visible()
        assert tab.locator("#tip").is_hidden()
    assert_quiet(seen, page)


@pytest.mark.slow
@pytest.mark.parametrize("target", [None, HOSTILE[1]])
def test_hostile_names_are_texts(tmp_path, target):
    frame = make_table(k=9)
    frame.columns = [*HOSTILE, *(f"q{j}" for j in range(len(HOSTILE), 10))]
    path = co.explore(co.associations(frame, target=target), path=tmp_path / "p.html")
    with opened(path, **WIDE) as seen:
        tab = ready(seen)
        tab.locator("#rows button").first.click()
        assert tab.locator("#rows tr").count() == (45 if target is None else 9)
        assert tab.locator("#heat").is_visible() == (target is None)
        for name in ("captured", "predicted"):
            tab.evaluate("name => { values.value = name; values.dispatchEvent(new Event('change')); }", name)
            tab.evaluate("explorer.paint()")
    assert_quiet(seen, path)


CHOOSE = """([x, y]) => {
    const { names } = explorer.data;
    explorer.choose(names.indexOf(x) * explorer.k + names.indexOf(y));
}"""
INKED = """document.querySelector("canvas.picture").getContext("2d").getImageData(0, 0, 900, 520).data
    .reduce((sum, value, k) => sum + (k % 4 === 3 && value > 0), 0)"""


@pytest.mark.slow
@pytest.mark.parametrize("form", ["polars", "pandas", "array"])
def test_a_click_shows_the_pair(form, tmp_path):
    n = 12_000 if form == "polars" else 300
    rng = np.random.default_rng(0)
    u = rng.normal(size=n)
    kinds = np.array(["ash", "birch", HOSTILE[0]], object)[np.digitize(u + rng.normal(size=n), [-0.7, 0.7])]
    columns = {"height": u, "weight": u + rng.normal(size=n), "kind": kinds, "wet": np.where(u > 0, "yes", "no")}
    columns["weight"][:7] = np.nan
    table = {"polars": lambda: pl.DataFrame({key: list(own) for key, own in columns.items()}, strict=False)}
    table |= {"pandas": lambda: pd.DataFrame(columns), "array": lambda: np.column_stack(list(columns.values())[:2])}
    X = table[form]()
    a = co.associations(X)
    names = [str(name) for name in a.columns]
    path = co.explore(a, X, path=tmp_path / "p.html")
    with opened(path, **WIDE) as seen:
        page = seen.page
        page.wait_for_selector("html[data-ready=yes]")
        page.evaluate(CHOOSE, names[:2])
        assert page.evaluate(INKED) > 3000
        if form == "polars":
            assert "10,000 of 12,000 rows, drawn at random" in page.inner_text("#card")
        else:
            assert "300 rows; 293 have both values" in page.inner_text("#card")
        if form == "pandas":
            page.evaluate(CHOOSE, ["kind", "wet"])
            cells = [row.split() for row in page.locator(".cross tbody tr").all_inner_texts()]
            counts = pd.crosstab(X["wet"], X["kind"])
            assert sorted(int(cell) for row in cells for cell in row[1:]) == sorted(counts.to_numpy().ravel().tolist())
            assert HOSTILE[0][:20] in page.inner_text(".cross thead")
            page.evaluate(CHOOSE, ["height", "kind"])
            assert page.evaluate(INKED) > 1000
            assert page.get_attribute("canvas.picture", "aria-label") == "height by kind"
    assert seen.problems == []


def test_a_table_that_is_not_that_of_the_associations_is_refused(tmp_path):
    poison = co.datasets.load_poison()
    a = co.associations(poison[:, 4:8])
    with pytest.raises(ValueError, match=r"X must.*without the column"):
        co.explore(a, poison[:, :5], path=tmp_path / "p.html")
    assert list(tmp_path.iterdir()) == []
