"""The page of sides of several columns: categories, arrows and paths over faint rows, and a table of correlations."""

import numpy as np
import pandas as pd
import pytest
from browser import opened
from pages import Elements, data_of
from test_explore import HOSTILE

import correspondence as co
from correspondence.page.column_marks import list_structure


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    n = 600
    dose, kind = rng.normal(size=n), rng.choice(["oak", "pine"], n)
    X = pd.DataFrame({"dose": dose, "noise": rng.normal(size=n), "kind": kind})
    Y = pd.DataFrame(
        {
            "price": dose**2 + 0.4 * rng.normal(size=n),
            "place": np.where(rng.random(n) < 0.95, np.char.add("near ", kind), "far"),
        }
    )
    return co.ACE(2).fit(X, Y), X, Y


@pytest.fixture(scope="module")
def page(tables, tmp_path_factory):
    est, X, Y = tables
    return co.explore(est, X, Y, tmp_path_factory.mktemp("columns") / "page.html", names=("tree", "sale"))


def cloud(content, role):
    c = next(i for i, one in enumerate(content["clouds"]) if one["role"] == role)
    described = content["clouds"][c]
    return described, content["arrays"][f"{c}.places"].reshape(described["n"], content["kept"])


def test_categories_are_clouds_of_their_own(tables, page):
    est, X, _ = tables
    content = data_of(page)
    categories, places = cloud(content, "xc")
    assert sorted(categories["labels"]) == ["oak", "pine"]
    assert (categories["named"], categories["mass"], categories["name"]) == (True, False, "categories of tree")
    f = est.transform(X)[(X["kind"] == "oak").to_numpy()].mean(axis=0)
    np.testing.assert_allclose(places[categories["labels"].index("oak")], f, rtol=1e-3, atol=1e-3)
    assert [one["role"] for one in content["clouds"]] == ["x", "y", "xc", "yc"]


def test_rows_with_columns_are_faint(page):
    content = data_of(page)
    assert [cloud(content, role)[0]["faint"] for role in ("x", "y", "xc", "yc")] == [True, True, False, False]


def test_numbers_are_packed_with_their_paths(tables, page):
    est, X, _ = tables
    content = data_of(page)
    assert {number["name"]: number["role"] for number in content["numbers"]} == {"dose": "x", "price": "y"}
    dose = next(number for number in content["numbers"] if number["name"] == "dose")
    assert any(dose["bends"])
    assert dose["bins"] == 10
    at = content["numbers"].index(dose)
    r = content["arrays"]["numbers.correlations"].reshape(-1, 2)[at]
    np.testing.assert_allclose(r, np.corrcoef(X["dose"].rank(), est.transform(X), rowvar=False)[0, 1:], atol=1e-3)


def test_the_table_of_columns(page):
    text = Elements(page.html).text
    assert "Which columns go with the axes?" in text
    for name in ("dose", "noise", "kind", "price", "place"):
        assert name in text


def test_arrays_and_labels_have_no_such_marks(rng, tmp_path):
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] > 0, "up", "down").astype(object)
    path = co.explore(co.CCA(1).fit(X, y), X, y, tmp_path / "page.html")
    content = data_of(path)
    assert [one["role"] for one in content["clouds"]] == ["x", "y"]
    assert "numbers" not in content
    assert not content["clouds"][0]["faint"]
    assert "Which columns" not in Elements(path.html).text


def test_rows_with_names_are_not_faint(tables, tmp_path):
    est, X, Y = tables
    names = [f"{'abcdefghij'[i % 10]}{'klmnopqrst'[i // 10]}" for i in range(50)]
    content = data_of(co.explore(est, X[:50], Y, tmp_path / "page.html", x_labels=names))
    assert not cloud(content, "x")[0]["faint"]
    assert cloud(content, "y")[0]["faint"]


def test_there_is_no_table_without_columns():
    assert list_structure({}, ("x", "y", "marked"), []) == []


def test_hostile_names_stay_text(rng, tmp_path):
    X = pd.DataFrame({HOSTILE[0]: rng.normal(size=200), HOSTILE[1]: rng.choice(HOSTILE[2:4], 200)})
    Y = pd.DataFrame({HOSTILE[4]: X[HOSTILE[0]] + (X[HOSTILE[1]] == HOSTILE[2]), "z": rng.normal(size=200)})
    path = co.explore(co.ACE(2).fit(X, Y), X, Y, tmp_path / "page.html")
    html = path.html
    assert "<img" not in html
    assert [tag for tag, _ in Elements(html).tags if tag in ("img", "b")] == []


# --- in a browser

WIDE = {"viewport": {"width": 1300, "height": 900}}


@pytest.mark.slow
def test_the_plane_draws_labels_arrows_and_paths(page):
    with opened(page, **WIDE) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        lines = seen.page.evaluate("explorer.numberLines.map(line => [line.name, line.points.length])")
        assert dict(lines)["dose"] == 10
        assert dict(lines)["price"] == 2
        texts = seen.page.evaluate(
            """() => {
                const context = explorer.plane.context, texts = [], fill = context.fillText.bind(context);
                context.fillText = (text, ...rest) => { texts.push(text); fill(text, ...rest); };
                explorer.plane.paint();
                return texts;
            }"""
        )
        assert {"oak", "pine", "near oak", "near pine", "dose", "price"} <= set(texts)
        assert "path" in seen.page.inner_text("#note").lower()
        assert seen.problems == []


@pytest.mark.slow
def test_rows_are_drawn_behind_categories_and_fainter(page):
    with opened(page, **WIDE) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        alphas = seen.page.evaluate(
            """() => Object.fromEntries(explorer.model.clouds.map(cloud =>
                [cloud.role, [cloud.start, explorer.plane.colours[4 * cloud.start + 3]]]))"""
        )
        assert max(alphas["x"][0], alphas["y"][0]) < min(alphas["xc"][0], alphas["yc"][0])
        assert max(alphas["x"][1], alphas["y"][1]) < 90 < min(alphas["xc"][1], alphas["yc"][1])


@pytest.mark.slow
def test_a_category_says_what_goes_with_it(page, tables):
    _, X, Y = tables
    with opened(page, **WIDE) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        seen.page.fill("#search", "oak")
        seen.page.keyboard.press("Enter")
        card = seen.page.inner_text("#point")
        assert "oak" in card
        assert "kind" in card
        assert f"{(X['kind'] == 'oak').sum()}" in card
        first = seen.page.locator("#matches .match").first.inner_text()
        assert "near oak" in first
        # The ratio of Lancaster's formula is that of the counts.
        both = ((X["kind"] == "oak") & (Y["place"] == "near oak")).mean()
        ratio = both / ((X["kind"] == "oak").mean() * (Y["place"] == "near oak").mean())
        told = float(first.split("\N{MULTIPLICATION SIGN}")[0].split()[-1])
        assert told == pytest.approx(ratio, rel=0.1)
        assert seen.problems == []


@pytest.mark.slow
def test_numbers_and_categories_can_be_hidden(page):
    with opened(page, **WIDE) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        chips = seen.page.locator("#roles .chip")
        assert "numbers of tree (1)" in " ".join(chips.all_inner_texts())
        for chip in chips.all():
            chip.click()
        shown = seen.page.evaluate(
            "Array.from({ length: explorer.model.size }, (_, i) => explorer.plane.isShown(i)).some(Boolean)"
        )
        assert not shown
        assert seen.page.evaluate("explorer.hidden.roles.has('xn') && explorer.hidden.roles.has('yn')")
        assert seen.problems == []


@pytest.mark.slow
def test_other_axes_and_maps(page):
    with opened(page, **WIDE) as seen:
        seen.page.wait_for_selector("html[data-ready=yes]")
        for value in ("-1", "1"):
            seen.page.select_option("#second", value)
        before = seen.page.evaluate("explorer.numberLines.find(line => line.role === 'x').points")
        seen.page.select_option("#map", "colprincipal")
        after = seen.page.evaluate("explorer.numberLines.find(line => line.role === 'x').points")
        s = seen.page.evaluate("explorer.model.correlations.slice(0, 2)")
        np.testing.assert_allclose(np.array(after) * s, before, atol=1e-6)
        assert seen.problems == []
