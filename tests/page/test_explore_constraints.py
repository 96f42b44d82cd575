"""The page of a constrained analysis: what it says, what it draws, and that it draws it where scores say."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from browser import opened
from pages import Elements, data_of
from test_explore import HOSTILE

import correspondence as co

dune, environment = co.datasets.load_dune()
constraints = environment.select("A1", "Moisture", "Management")
WIDE = {"viewport": {"width": 1280, "height": 800}}


@pytest.fixture(scope="module")
def ca():
    return co.CA().fit(dune, constraints=constraints)


@pytest.fixture(scope="module")
def page(ca, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "dune.html"
    tests = [ca.anova(by, 99) for by in (None, "margin", "axis")]
    held_out = co.crossfit(co.CA(2), dune, constraints=constraints)
    return co.explore(ca, path=path, tests=tests, held_out=held_out, groups=environment["Use"], title="Meadows")


@pytest.fixture(scope="module")
def data(page):
    return data_of(page)


@pytest.mark.slow
def test_sites_species_and_categories_are_clouds(data):
    assert [(cloud["role"], cloud["name"], cloud["n"]) for cloud in data["clouds"]] == [
        ("x", "sites", 20),
        ("y", "species", 30),
        ("xc", "categories", 8),
    ]
    assert [number["name"] for number in data["numbers"]] == ["A1"]
    assert data["axis_names"][:8] == [*(f"CCA{i + 1}" for i in range(7)), "CA1"]
    assert data["joined"] == [[0, 1, 2, 3]]  # of Moisture
    assert data["classes"]["names"] == ["Hayfield", "Haypastu", "Pasture"]


def test_places_are_the_scores(ca, data):
    kept, arrays = data["kept"], data["arrays"]
    for name, display in (("0.places", "wa"), ("0.linear", "lc"), ("1.places", "sp"), ("2.places", "cn")):
        wanted = ca.scores(display, "none").values[:, :kept]
        np.testing.assert_allclose(arrays[name].reshape(-1, kept), wanted, rtol=2e-3, atol=1e-5)
    np.testing.assert_allclose(
        arrays["numbers.correlations"], ca.scores("bp", "none").values[0, :kept], rtol=2e-3, atol=1e-5
    )


def test_tables_say_what_partition_and_anova_say(ca, page):
    text = re.sub(r"\s+", " ", Elements(page.html).text)
    parts = ca.partition_
    for value in (
        f"{parts.constrained:.4f}",
        f"{100 * parts.shares['unconstrained']:.1f}",
        f"{100 * ca.adjusted_r2_:.1f} %",
    ):
        assert value in text
    for title in (
        "All constraints together",
        "Each constraint after all others",
        "How much do the constraints explain?",
    ):
        assert title in text
    assert f"{ca.anova('margin', 9).f[0]:.2f}" in text
    assert f"{ca.axis_correlations_[0]:.3f}" in text
    assert "On held-out rows the first two axes capture" in text


@pytest.mark.parametrize(
    "options",
    [
        {"given": environment.select("Management"), "constraints": environment.select("A1")},
        {"given": environment.select("Management")},
        {"constraints": environment.select("Management")},
    ],
)
def test_pages_of_other_models(options, tmp_path):
    path = co.explore(co.CA().fit(dune, **options), path=tmp_path / "page.html")
    content = data_of(path)
    assert content["axis_names"][0] == ("CCA1" if "constraints" in options else "CA1")
    assert len(content.get("numbers", [])) == (options.get("constraints", pl.DataFrame()).columns == ["A1"])


def test_a_number_that_bends_is_a_path(tmp_path):
    x = np.linspace(-2, 2, 40)
    optima = np.linspace(-2, 2, 12)
    counts = np.random.default_rng(0).poisson(20 * np.exp(-((x[:, None] - optima) ** 2))) + np.eye(40, 12)
    ca = co.CA(constraints="smooth").fit(counts, constraints={"water": x})
    assert ca.bends_["water"] > 0
    content = data_of(co.explore(ca, path=tmp_path / "page.html"))
    (water,) = content["numbers"]
    path = content["arrays"]["numbers.paths"].reshape(water["bins"], -1)
    assert water["bins"] > 5
    assert water["bends"][0]
    # With no other constraint, the path goes through the linear combinations.
    d = len(ca.pics_)
    np.testing.assert_allclose(path[[0, -1], :d], ca.scores("lc", "none").values[[0, -1], :d], rtol=2e-3, atol=1e-5)
    assert not path[:, d:].any()
    assert "curves" in Elements((tmp_path / "page.html").read_text(encoding="utf-8")).text


def test_tests_belong_to_analyses_with_constraints(ca, tmp_path):
    with pytest.raises(TypeError, match="tests must be what anova"):
        co.explore(ca, path=tmp_path / "page.html", tests=["margin"])
    with pytest.raises(ValueError, match="tests must be left out"):
        co.explore(co.CA().fit(dune), path=tmp_path / "page.html", tests=ca.anova(n_permutations=9))


def hostile_analysis():
    rng = np.random.default_rng(0)
    n = len(HOSTILE)
    rows = [f"{label}{i}" for i in (0, 1) for label in HOSTILE]
    table = pd.DataFrame(rng.poisson(5, (2 * n, n)) + 1, index=rows, columns=[f"{label}!" for label in HOSTILE])
    env = pd.DataFrame({HOSTILE[0]: rng.normal(size=2 * n), HOSTILE[1]: np.resize(HOSTILE[:3], 2 * n)}, index=rows)
    return co.CA().fit(table, constraints=env)


def test_hostile_names_stay_text(tmp_path):
    ca = hostile_analysis()
    path = co.explore(ca, path=tmp_path / "page.html", tests=ca.anova("term", 9), title=HOSTILE[0])
    html = path.html
    plain = Elements(co.explore(co.CA().fit(dune), path=tmp_path / "plain.html").html)
    assert {tag for tag, _ in Elements(html).tags} <= {tag for tag, _ in plain.tags} | {"h3", "article", "p", "em"}
    assert "<script>alert" not in html.lower()


def ready(seen):
    seen.page.wait_for_selector("html[data-ready=yes]")
    return seen.page


POSITIONS = """() => {
    const { model, plane } = explorer, at = {};
    for (let i = 0; i < model.size; i++) {
        const [cloud, j] = model.find(i), [x, y] = plane.toPlane(...plane.at(i));
        (at[cloud.role] ||= []).push([x, y]);
    }
    return { at, lines: explorer.numberLines.map(line => line.points), factor: model.arrowFactor };
}"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("map", "scaling"), [("colprincipal", "species"), ("rowprincipal", "sites"), ("symbiplot", "symmetric")]
)
@pytest.mark.parametrize("sites", ["wa", "lc"])
def test_everything_is_drawn_where_the_scores_of_the_scaling_are(ca, page, map, scaling, sites):
    with opened(page, **WIDE) as seen:
        shown = ready(seen)
        shown.select_option("#map", map)
        shown.select_option("#sites", sites)
        found = shown.evaluate(POSITIONS)
        assert seen.problems == []
    for role, display in (("x", sites), ("y", "sp"), ("xc", "cn")):
        wanted = ca.scores(display, scaling).values[:, :2]
        np.testing.assert_allclose(found["at"][role], wanted, rtol=3e-3, atol=3e-3)
    (line,) = found["lines"]
    arrow = ca.scores("bp", scaling).values[0, :2]
    np.testing.assert_allclose(line, [[0, 0], found["factor"] * arrow], rtol=3e-3, atol=3e-3)


@pytest.mark.slow
def test_categories_have_names_and_tables_fit(page):
    with opened(page, **WIDE) as seen:
        shown = ready(seen)
        told = shown.evaluate("[...explorer.layer.labelled].map(i => explorer.model.label(i))")
        assert len(told) == 8
        wide = shown.evaluate(
            "[...document.querySelectorAll('#strength .scroll')].map(box => box.scrollWidth - box.clientWidth)"
        )
        assert max(wide) <= 0
        assert shown.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.slow
def test_hostile_names_in_the_browser(tmp_path):
    ca = hostile_analysis()
    path = co.explore(
        ca, path=tmp_path / "page.html", tests=[ca.anova("axis", 9), ca.anova("term", 9)], title=HOSTILE[0]
    )
    with opened(path, **WIDE) as seen:
        shown = ready(seen)
        shown.select_option("#map", "rowprincipal")
        shown.mouse.move(500, 500)
        assert seen.problems == []
        assert shown.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.slow
def test_search_finds_constraints_and_categories_carry_their_variables(tmp_path):
    counts, environment = co.datasets.load_dune()
    ca = co.CA().fit(counts, constraints=environment[["A1", "Use", "Management"]])
    path = co.explore(ca, path=tmp_path / "page.html")
    with opened(path, **WIDE) as seen:
        shown = ready(seen)
        names = shown.evaluate("explorer.model.role('xc').labels")
        assert {"Use: Hayfield", "Management: BF"} <= set(names)
        assert all(name.startswith(("Use: ", "Management: ")) for name in names)
        shown.fill("#search", "a1")
        assert shown.locator("#found li").all_inner_texts()[0] == "A1 constraint"
        before = shown.evaluate("document.querySelector('.layer').toDataURL()")
        shown.press("#search", "Enter")
        shown.wait_for_timeout(100)
        card = shown.inner_text("#point")
        assert shown.evaluate("document.querySelector('.layer').toDataURL()") != before, "its arrow is marked"
        shown.fill("#search", "hayf")
        shown.press("#search", "Enter")
        assert shown.inner_text("#point strong") == "Use: Hayfield"
        wide = shown.evaluate(
            """[...document.querySelectorAll(".axes article")].reduce((rows, one) => {
                const { top, width } = one.getBoundingClientRect();
                rows[Math.round(top)] = (rows[Math.round(top)] || 0) + width;
                return rows; }, {})"""
        )
        room = shown.evaluate("document.querySelector('.axes').clientWidth")
        row = shown.locator("#structure tbody tr", has_text="A1").locator("td").all_inner_texts()
    first, second = (text.replace("\N{MINUS SIGN}", "-") for text in row[4:6])
    assert card == f"A1\nconstraint\nCCA1\ncorrelation {first}\nCCA2\ncorrelation {second}"
    assert min(wide.values()) > 0.9 * room, "no row of words is half empty"
    assert seen.problems == []


@pytest.mark.slow
def test_lines_join_ordered_labels(tmp_path):
    table = co.datasets.load_smoke()
    levels = ["none", "light", "medium", "heavy"]
    path = co.explore(co.CA(ordered={"columns": levels}).fit(table), path=tmp_path / "page.html")
    drawn = """() => {
        const lines = [], own = explorer.layer.stroke;
        explorer.layer.stroke = function (context, points, ...more) {
            lines.push(points);
            own.call(this, context, points, ...more);
        };
        explorer.plane.paint();
        explorer.layer.stroke = own;
        const { model, plane } = explorer, y = model.role("y");
        return [lines.filter(line => line.length === 4), %s.map(name => plane.at(y.start + y.labels.indexOf(name)))];
    }"""
    with opened(path, **WIDE) as seen:
        lines, places = ready(seen).evaluate(drawn % levels)
        note = seen.page.inner_text("#note")
    assert places in lines
    assert "Lines join labels in their order." in note
    assert seen.problems == []
