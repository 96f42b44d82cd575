"""The page: one file, no network, labels that stay text, and a search that works in a real browser."""

import re
from html.parser import HTMLParser

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from browser import opened

import correspondence as co
from correspondence.explore import describe

HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "--><script>alert(1)</script>",
    "<svg/onload=alert(1)>",
    "]]><b>bold</b>",
    "{{ 7 * 7 }}",
    "&lt;kept&gt; \"quoted\" 'too'",
]


@pytest.fixture(scope="module")
def ca():
    return co.CA().fit(co.datasets.load_housetasks())


@pytest.fixture(scope="module")
def hostile():
    counts = np.random.default_rng(0).integers(1, 30, size=(len(HOSTILE), 4))
    return co.CA().fit(co.Table(counts, np.array(HOSTILE, object), np.array(["a", "b", "c", HOSTILE[0]], object)))


@pytest.fixture(scope="module")
def page(ca, tmp_path_factory):
    return co.explore(ca, tmp_path_factory.mktemp("page") / "page.html", title="Who does <what> & when?")


class Elements(HTMLParser):
    """All elements of a page, and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def links(html):
    """Everything that an element of the page, or its style, points to."""
    attributes = ("src", "srcset", "href", "xlink:href", "action", "data", "poster")
    of_tags = [attrs[name] for _, attrs in Elements(html).tags for name in attributes if name in attrs]
    return of_tags + re.findall(r"url\(([^)]*)\)", html) + re.findall(r"@import\s+(\S+)", html)


def test_the_page_points_to_nothing_outside(page):
    found = links(page.read_text(encoding="utf-8"))
    assert found, "nothing was looked at"
    assert [link for link in found if not link.startswith(("#", "data:"))] == []


def test_the_page_fetches_nothing(page):
    html = page.read_text(encoding="utf-8")
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|WebSocket|sendBeacon", html)
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}, "only names of XML, no links"


def test_the_page_has_all_numbers(page, ca):
    text = Elements(page.read_text(encoding="utf-8")).text
    for pic in ca.pics_:
        assert f"{pic:.4f}" in text
    for points in (ca.rows_, ca.columns_):
        for label, mass, x in zip(points.labels, points.mass, points.principal[:, 0], strict=True):
            assert label in text
            assert f"{mass:.3g}" in text
            assert f"{x:.3f}" in text
    assert "Total count 1,744, 13 rows and 4 columns" in text


def test_the_title_is_text(page):
    html = page.read_text(encoding="utf-8")
    assert "<h1>Who does &lt;what&gt; &amp; when?</h1>" in html


def test_the_path_comes_back_and_figures_are_closed(ca, tmp_path):
    before = plt.get_fignums()
    path = co.explore(ca, str(tmp_path / "a.html"))
    assert path == tmp_path / "a.html"
    assert plt.get_fignums() == before


def test_the_same_analysis_gives_the_same_page(ca, page, tmp_path):
    again = co.explore(ca.decomposition_, tmp_path / "again.html", title="Who does <what> & when?")
    assert again.read_bytes() == page.read_bytes()


def test_hostile_labels_are_text(hostile, tmp_path):
    html = co.explore(hostile, tmp_path / "page.html", title=HOSTILE[0]).read_text(encoding="utf-8")
    elements = Elements(html)
    assert {tag for tag, _ in elements.tags}.isdisjoint({"img", "b", "iframe", "object", "image"})
    assert [tag for tag, _ in elements.tags].count("script") == 1
    assert not [name for _, attrs in elements.tags for name in attrs if name.startswith("on")]
    for label in HOSTILE:
        assert label in elements.text


@pytest.mark.parametrize("existing", [False, True])
def test_a_failure_leaves_no_file_and_keeps_the_old_one(ca, tmp_path, monkeypatch, existing):
    path = tmp_path / "page.html"
    if existing:
        path.write_text("old")

    def fail(*args, **options):
        raise RuntimeError("out of ink")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
    before = plt.get_fignums()
    with pytest.raises(RuntimeError, match="out of ink"):
        co.explore(ca, path)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("page.html", "old")] * existing
    assert plt.get_fignums() == before


def test_a_failure_of_writing_keeps_the_old_file(ca, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def fail(self, text, **options):
        self.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.write_text", fail)
    with pytest.raises(OSError, match="disk full"):
        co.explore(ca, path)
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("page.html", b"old")]


def test_an_existing_file_is_replaced(ca, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    co.explore(ca, path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_missing_folder_is_named(ca, tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        co.explore(ca, tmp_path / "missing" / "page.html")


@pytest.mark.parametrize("what", [co.CA(), None, "page"])
def test_what_cannot_be_explored(what, tmp_path):
    with pytest.raises(TypeError, match="fitted estimator"):
        co.explore(what, tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_continuous_variables_have_no_page(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(TypeError, match="two discrete variables"):
        co.explore(co.Moments().update(X, X).decompose(), tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_no_components(tmp_path):
    ca = co.CA(n_components=0).fit(co.datasets.load_smoke())
    text = Elements(co.explore(ca, tmp_path / "page.html").read_text(encoding="utf-8")).text
    assert "There are no components" in text
    assert "single label" not in text


def test_one_component(tmp_path):
    html = co.explore(co.CA().fit([[10, 3], [4, 9], [2, 2]]), tmp_path / "page.html").read_text(encoding="utf-8")
    assert html.count("<svg") == 2


def test_numbers_are_written_for_people():
    with pytest.warns(UserWarning, match="all their counts are zero"):
        ca = co.CA().fit(1_000_000 * np.array([[9, 2, 3], [0, 0, 0], [2, 8, 4], [1, 5, 9]]))
    content = describe(ca.decomposition_)
    assert content["n"] == "Total count 43,000,000"
    shares = describe(co.CA().fit([[0.2, 0.3], [0.4, 0.25]]).decomposition_)
    assert shares["n"] == "Total 1.15"
    empty = content["sides"][0]["points"][-1]
    assert empty["axes"] == [("—", "—")] * 2
    independent = describe(co.CA().fit(np.outer([1, 2, 3], [4, 5, 6])).decomposition_)
    assert not re.search(r"-0\.0+\b", str(independent))


def test_long_tables_are_cut_to_what_contributes_most():
    rng = np.random.default_rng(0)
    ca = co.CA(n_components=2).fit(rng.integers(1, 50, size=(2100, 4)))
    rows = describe(ca.decomposition_)["sides"][0]
    assert rows["count"] == 2100
    most = np.argsort(-(ca.rows_.contributions @ ca.pics_), kind="stable")[:2000]
    assert [point["label"] for point in rows["points"]] == [str(label) for label in ca.rows_.labels[most]]


def test_labels_in_any_script(tmp_path):
    labels = np.array(["日本", "😀", "Ελλάδα", "half \ud800"], object)
    counts = np.array([[3, 9, 4], [8, 1, 2], [5, 5, 9], [1, 2, 7]])
    ca = co.CA().fit(co.Table(counts, labels, np.array(["x", "y", "z"], object)))
    text = Elements(co.explore(ca, tmp_path / "page.html").read_text(encoding="utf-8")).text
    assert text.count("日本") == 2, "not in both picture and table"
    assert "😀" in text
    assert "half ?" in text


# --- in a browser


def test_the_page_works_offline_in_a_browser(page):
    with opened(page, viewport={"width": 1200, "height": 900}) as seen:
        assert seen.page.title() == "Who does <what> & when?"
        assert seen.page.locator("figure svg").count() == 2
        rows = seen.page.locator(".points tbody tr:visible")
        assert rows.count() == 13 + 4
        seen.page.fill("#search", " DIN")
        assert [text.split("\t")[0] for text in rows.all_inner_texts()] == ["Dinner"]
        assert seen.page.inner_text("#found") == "1 found"
        seen.page.fill("#search", "zzz")
        assert rows.count() == 0
        assert seen.page.inner_text("#found") == "0 found"
        seen.page.fill("#search", "")
        assert rows.count() == 13 + 4
    assert seen.problems == []
    assert seen.requests == [page.resolve().as_uri()]


def test_hostile_labels_do_nothing_in_a_browser(hostile, tmp_path):
    path = co.explore(hostile, tmp_path / "page.html", title=HOSTILE[1])
    with opened(path) as seen:
        seen.page.wait_for_timeout(200)
        shown = seen.page.locator(".points td:first-child").all_inner_texts()
        drawn = seen.page.locator("#plane svg text").all_text_contents()
    assert seen.problems == []
    assert seen.requests == [path.resolve().as_uri()]
    assert set(HOSTILE) <= set(shown)
    assert set(HOSTILE) <= set(drawn)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_scrolls_tables_and_not_the_page(page, scheme):
    with opened(page, viewport={"width": 390, "height": 800}, color_scheme=scheme) as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth") == 390
        height = seen.page.locator(".points tbody tr").first.bounding_box()["height"]
        lightness = seen.page.evaluate(
            "['color', 'backgroundColor'].map(p => getComputedStyle(document.body)[p])"
            ".concat(matchMedia('(prefers-color-scheme: dark)').matches)"
        )
    assert height < 50, "labels are broken into letters"
    assert lightness[0] == {"light": "rgb(0, 0, 0)", "dark": "rgb(255, 255, 255)"}[scheme]
    assert seen.problems == []
